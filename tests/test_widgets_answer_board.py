"""`AnswerBoard` without a page: its checks and what it shows on paper; its JavaScript."""

import pytest

from attn_course.widgets import AnswerBoard
from tests.refusals import refusals

HIT = {"text": "The red house.", "said": "La casa roja.", "right": "La casa roja."}
MISS = {"text": "The mat.", "asked": "Where?", "said": "", "right": "mat", "note": "Ours."}
SEEN = {"things": [("ball", "red", 1, 4)], "asked": "Colour?", "said": "red", "right": "red"}
SYSTEMS = {"translates": [[HIT, HIT], [MISS]], "looks": [[SEEN], [SEEN]]}


def board(**options):
    given = {"groups": ["of its kind", "other"], "systems": SYSTEMS, "language": "en", **options}
    return AnswerBoard(**given)


def test_the_score_counts_right_answers():
    assert board().score() == [[(2, 2), (0, 1)], [(1, 1), (1, 1)]]


def test_javascript_judges_as_python_does(node):
    script = """import { all, isRight } from "./answer_board.mjs";
    console.log(JSON.stringify(all(input).map(({ places, found }) => [...places, isRight(found)])));"""
    found = node(script, board().cases)
    assert found == [
        [0, 0, 0, True],
        [0, 0, 1, True],
        [0, 1, 0, False],
        [1, 0, 0, True],
        [1, 1, 0, True],
    ]


def test_the_fallback_tells_every_case_with_its_verdict():
    html = board()._html()
    assert html.count("<caption>") == 2
    assert '<th scope="row">✗ other</th><td>The mat. Where?</td><td>(no answer)</td>' in html
    assert '<th scope="row">✓ of its kind</th><td>Colour?</td><td>red</td><td>red</td>' in html


test_invalid_constructor_arguments_are_refused = refusals(
    ({"groups": []}, "groups: expected a list of one or more non-empty strings"),
    ({"systems": {}}, "systems: expected a list of one or more non-empty strings"),
    ({"systems": {"a": [[HIT]]}}, ".*one or more cases for each of 2 groups"),
    ({"systems": {"a": [[HIT], []]}}, ".*one or more cases for each of 2 groups"),
    ({"systems": {"a": [[HIT], [{"said": "x"}]]}}, r"systems\['a'\]\[1\]\[0\]: expected a dict"),
    ({"systems": {"a": [[HIT], [HIT | {"other": "x"}]]}}, ".*expected a dict of said, right"),
    ({"systems": {"a": [[HIT], [HIT | {"said": 3}]]}}, ".*expected strings"),
    ({"systems": {"a": [[HIT], [HIT | {"text": ""}]]}}, ".*expected a text or things"),
    ({"systems": {"a": [[HIT], [SEEN | {"things": [("cat", "red", 0, 0)]}]]}}, ".*one of ball"),
    ({"systems": {"a": [[HIT], 3]}}, r"systems\['a'\]\[1\]: expected a list of cases, got 3"),
    ({"systems": {"a": [[HIT], [SEEN | {"things": 3}]]}}, ".*expected a list of things, got 3"),
    ({"systems": {"a": [[HIT], [SEEN | {"things": [3]}]]}}, ".*a shape, a colour, a row"),
    ({"chosen": 0}, "chosen: expected the places of a system, a group and a case, got 0"),
    ({"chosen": (0, 0)}, "chosen: expected the places of a system, a group and a case"),
    ({"chosen": (0, 1, 1)}, r"chosen\[2\]: expected a whole number from 0 to 0, got 1"),
    of=lambda bad: board(**bad),
)


def test_another_case_can_be_chosen():
    shown = board()
    shown.chosen = [1, 1, 0]
    with pytest.raises(
        ValueError, match=r"chosen\[0\]: expected a whole number from 0 to 1, got 2"
    ):
        shown.chosen = [2, 0, 0]
