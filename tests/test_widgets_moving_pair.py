"""`MovingPair` without a page: its checks and what it shows on paper; its JavaScript."""

import numpy as np
import pytest

from attn_course.widgets import MovingPair
from tests.refusals import refusals

SCORES = {"none": np.full((4, 4), 2.0), "distance": -abs(np.subtract.outer(range(4), range(4)))}


def test_together_two_words_keep_their_distance_and_stay_in_the_row(node):
    asked = [
        ([1, 0], 0, 3, True, [3, 2]),
        ([1, 0], 0, 0, True, [1, 0]),
        ([1, 0], 1, 3, True, [3, 2]),
        ([0, 2], 0, 3, True, [1, 3]),
        ([1, 0], 0, 3, False, [3, 0]),
        ([1, 0], 1, 3, False, [1, 3]),
    ]
    script = """import { move } from "./moving_pair.mjs";
    console.log(JSON.stringify(input.map(([places, which, to, together]) =>
      move(places, which, to, together, 4))));"""
    assert node(script, asked) == [wanted for *_, wanted in asked]


def test_rounding_does_not_count_as_a_changed_score(node):
    script = """import { changes } from "./moving_pair.mjs";
    console.log(JSON.stringify(changes(input, [1, 0], [2, 0])));"""
    tables = [SCORES["none"], SCORES["distance"], SCORES["none"]]
    tables = [np.array(table, dtype=float).tolist() for table in tables]
    tables[2][2][0] += 1e-12
    assert node(script, tables) == [0, -1, 0]


def test_the_fallback_tells_the_scores_of_the_places():
    html = MovingPair(["bites", "dog"], SCORES, (3, 1), language="en")._html()
    assert "“bites” at 3 asks, “dog” at 1 answers: distance −2." in html
    assert '<th scope="row">distance</th><td>−2.00</td>' in html


test_invalid_constructor_arguments_are_refused = refusals(
    ({"words": ["a"]}, "words: expected two words"),
    ({"scores": {}}, "scores: expected a list of one or more non-empty strings"),
    ({"scores": {"a": [[1, 2]]}}, r"scores\['a'\]: expected shape \(1, 1\), got \(1, 2\)"),
    ({"places": (0, 4)}, "places: expected a whole number from 0 to 3, got 4"),
    ({"places": 1}, "places: expected two positions, got 1"),
    ({"together": "no"}, "together: expected True or False, got 'no'"),
    of=lambda bad: MovingPair(**{"words": ["a", "b"], "scores": SCORES, "places": (1, 0), **bad}),
)


def test_places_can_be_set_within_the_row():
    pair = MovingPair(["a", "b"], SCORES, (1, 0))
    pair.places = [3, 3]
    with pytest.raises(ValueError, match="places: expected a whole number from 0 to 3, got 9"):
        pair.places = [9, 0]
