"""TwoHeads: what its heads hand over, what it says of that, and its checks."""

import numpy as np

from attn_course.widgets import TwoHeads
from tests.refusals import refusals

WORDS = ["Ruth", "gives", "books", "to", "Omar"]
# By the weight of each head on the giver.
SAID = [
    ([0.5], "same"),
    ([0.7], "amounts"),
    ([1.0], "lost"),
    ([1.0, 0.0], "pure"),
    ([0.7, 0.2], "mixed"),
    ([0.5, 0.5], "alike"),
]


def test_the_output_of_a_head_is_the_weighted_mean_of_the_names():
    giver, receiver = np.eye(3)[:2]
    for look in (0, 0.3, 0.5, 1):
        here, exchanged = TwoHeads(WORDS).handed(look)
        np.testing.assert_allclose(here, look * giver + (1 - look) * receiver)
        np.testing.assert_allclose(exchanged, look * receiver + (1 - look) * giver)


def test_javascript_hands_over_the_same_and_says_what_can_be_told_from_it(node):
    amounts, said = node(
        """
        import { handed, verdict } from "./two_heads.mjs";
        console.log(JSON.stringify([input.map(([looks]) => looks.map(handed)), input.map(([looks]) => verdict(looks))]));
        """,
        SAID,
    )
    for (looks, kind), found, told in zip(SAID, amounts, said, strict=True):
        np.testing.assert_allclose(found, [TwoHeads(WORDS).handed(look) for look in looks])
        assert told == kind
        # Both people can be solved for where the shares of the heads make a matrix with an inverse.
        solvable = len(looks) == 2 and abs(np.linalg.det([[a, 1 - a] for a in looks])) > 1e-9
        assert (told in {"pure", "mixed"}) == solvable


def test_the_fallback_tells_both_sentences():
    html = TwoHeads(WORDS, n_heads=2, looks=(0.7, 0.2), language="en")._html()
    assert '<th scope="row">Omar gives books to Ruth</th><td>0.30</td><td>0.70</td>' in html
    assert "0.70 and 0.20" in html


test_invalid_constructor_arguments_are_refused = refusals(
    ({"words": []}, "words: expected"),
    ({"receiver": 5}, "receiver: expected a whole number from 0 to 4, got 5"),
    ({"receiver": 0}, "giver, verb, thing, receiver: expected four different places"),
    ({"n_heads": 3}, "n_heads: expected a whole number from 1 to 2, got 3"),
    ({"looks": [0.5]}, r"looks: expected shape \(2,\), got \(1,\)"),
    ({"looks": 0.5}, r"looks: expected shape \(2,\), got \(\)"),
    ({"looks": ["x", 0]}, "looks: expected a finite number, got 'x'"),
    ({"looks": [0.5, 1.5]}, "looks: expected weights from 0 to 1"),
    of=lambda bad: TwoHeads(**{"words": WORDS, **bad}),
)
