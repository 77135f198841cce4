"""`StateExplorer` without a page: what it takes, refuses and shows on paper; its JavaScript."""

import re

import numpy as np
import pytest

from attn_course.widgets import StateExplorer
from attn_course.widgets.state_explorer import RULES
from tests.refusals import refusals

NAMES, KEY = ["cup", "book", "lamp"], [[0.6, 0.8], [0.8, -0.6], [1, 0]]
FACTS = [(0, 2, 1), (1, -1, 2), (0, 1, -2), (2, 3, 0)]


def explorer(**options):
    return StateExplorer(NAMES, **{"key": KEY, "facts": FACTS, "language": "en"} | options)


@pytest.mark.parametrize("decay", [0.5, 0.9, 1.0])
def test_the_page_recalls_what_the_reference_computes(javascript, decay):
    assert javascript("RULES") == list(RULES)
    random = np.random.default_rng(0)
    key = random.normal(size=(4, 2)).round(3).tolist()
    places = random.integers(-3, 4, size=(9, 2))
    longer = [[int(random.integers(4)), *map(int, place)] for place in places]
    for keys, facts in ((KEY, [list(fact) for fact in FACTS]), (key, longer), (key, longer[:1])):
        names = list("abcd")[: len(keys)]
        for rule in RULES:
            shown = StateExplorer(names, keys, facts, rule, decay, sharpness=7.0)
            found = javascript(
                "recall(input.rule, input.facts, input.keys, { decay: input.decay, sharpness: 7 })",
                {"rule": rule, "facts": facts, "keys": keys, "decay": decay},
            )
            np.testing.assert_allclose(found, shown.recalled, rtol=1e-9, atol=1e-12)


def test_on_paper_delta_overwrites_and_the_sum_adds():
    moved = FACTS[:3]
    places = {rule: explorer(facts=moved, rule=rule).recalled for rule in RULES}
    np.testing.assert_allclose(places["linear"][:2], [[3, -1], [-1, 2]], atol=1e-12)
    np.testing.assert_allclose(places["delta"][:2], [[1, -2], [-1, 2]], atol=1e-12)
    np.testing.assert_allclose(places["gated"][:2], [[1, -2], [-0.5, 1]], atol=1e-12)
    np.testing.assert_allclose(places["retention"][:2], [[1.5, -1.75], [-0.5, 1]], atol=1e-12)
    # Softmax keeps both places of the cup, and gives their mean.
    np.testing.assert_allclose(places["softmax"][0], [1.5, -0.5], atol=0.1)


def test_only_the_cache_of_softmax_grows(javascript):
    sizes = javascript("[1, 2, 9].map((n) => RULES.map((rule) => numbers(rule, n)))")
    assert sizes == [[4 * n, 4, 4, 4, 4] for n in (1, 2, 9)]
    assert javascript("recall('delta', [], [[1, 0]], {})") == [None]


def test_texts_have_the_same_placeholders_in_both_languages(javascript):
    strings = javascript("STRINGS")
    assert strings["es"].keys() == strings["en"].keys()
    for name, text in strings["es"].items():
        pairs = [str(said) for said in (text, strings["en"][name])]
        holes = [sorted(re.findall(r"\{\w+\}", said)) for said in pairs]
        assert holes[0] == holes[1], name


def test_the_fallback_holds_all_the_rules():
    shown = explorer()._fallback()
    cup, *_ = re.findall(r'<th scope="row">cup</th>(.*?)</tr>', shown)
    assert re.findall(r"<td>(.*?)</td>", cup)[:3] == ["(1, −2)", "(1.50, −0.50)", "(4.80, −1.00)"]
    assert "<td>16 × 4</td><td>16</td>" in shown
    empty = explorer(facts=[])
    assert empty.recalled == [[], [], []] and "cup" not in empty._fallback()


test_invalid_constructor_arguments_are_refused = refusals(
    ({"key": KEY[:2]}, r"key: expected shape \(3, 2\), got \(2, 2\)"),
    ({"rule": "hebb"}, "rule: expected 'softmax' or"),
    ({"decay": 0}, "decay: expected a finite number above 0"),
    ({"decay": 1.5}, "decay: expected at most 1, got 1.5"),
    ({"sharpness": -1}, "sharpness: expected a finite number above 0"),
    ({"facts": [(0, 1)]}, "facts: expected a thing and its place, three whole numbers"),
    ({"facts": [(3, 0, 0)]}, "facts: expected a whole number from 0 to 2, got 3"),
    ({"facts": [(0, 4, 0)]}, "facts: expected a whole number from -3 to 3, got 4"),
    ({"facts": [(0, 0, 0)] * 10}, "facts: expected at most 9, got 10"),
    of=lambda options: explorer(**options),
)


def test_facts_and_rule_can_be_set():
    shown = explorer()
    shown.facts, shown.rule = [[0, 1, 1]], "delta"
    np.testing.assert_allclose(shown.recalled[0], [1, 1])
    with pytest.raises(ValueError, match="rule: expected"):
        shown.rule = "sum"
    with pytest.raises(ValueError, match="facts: expected"):
        shown.facts = [[0, 9, 9]]
    with pytest.raises(ValueError, match="thing: expected a whole number from 0 to 2, got 3"):
        shown.thing = 3
    assert repr(shown) == f"StateExplorer({NAMES!r}, rule='delta', language='en')"
