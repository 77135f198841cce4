"""`AnswerExplorer` without a page: what it takes, refuses and shows on paper; its JavaScript."""

import itertools
import re

import numpy as np
import pytest

from attn_course.widgets import AnswerExplorer
from attn_course.widgets.answer_explorer import ADVANTAGES, REWARDS, _generator
from tests.refusals import refusals

ANSWERS = [
    *(("la casa rojo", 0.4, 0, 0), ("la casa", 0.2, 0, 1), ("la casa roja", 0.15, 1, 1)),
    *(("el casa roja", 0.1, 0, 0), ("", 0.05, 0, 1), ("las casa roja", 0.1, 0, 0)),
]


def explorer(**options):
    return AnswerExplorer("the red house", ANSWERS, **{"language": "en"} | options)


def test_the_random_numbers_are_the_same_in_python_and_javascript(javascript):
    for seed in (1, 2, 999):
        found = javascript(f"((r) => Array.from({{ length: 50 }}, () => r()))(generator({seed}))")
        assert found == list(itertools.islice(_generator(seed), 50))
    assert abs(np.mean(list(itertools.islice(_generator(3), 4000))) - 0.5) < 0.02


@pytest.mark.parametrize("advantage", ADVANTAGES)
def test_the_pages_policy_equals_pythons(javascript, advantage):
    assert javascript("[REWARDS, ADVANTAGES]") == [list(REWARDS), list(ADVANTAGES)]
    for reward, leash, steps, seed in [("verifier", 0, 30, 1), ("hole", 0.3, 60, 7)]:
        shown = explorer(reward=reward, advantage=advantage, leash=leash, steps=steps, seed=seed)
        paid = shown.verified if reward == "verifier" else shown.holed
        settings = {"advantage": advantage, "leash": leash, "steps": steps, "seed": seed}
        found = javascript(
            "history(input.reference, input.paid, input.settings).at(-1).policy",
            {"reference": shown.probabilities, "paid": paid, "settings": settings},
        )
        np.testing.assert_allclose(found, shown.policy, rtol=1e-9, atol=1e-12)


def test_a_step_follows_the_gradient_of_the_drawn_answers(javascript):
    """The mean of (reward - mean) (one-hot - policy), and the slope of the divergence, by differences."""
    p, paid, leash = np.array([0.5, 0.25, 0.25]), np.array([0.5, 1, 0]), 0.7
    told = javascript(
        "history(input.p, input.paid, { advantage: 'baseline', leash: 0.7, steps: 4, seed: 4 })",
        {"p": p.tolist(), "paid": paid.tolist()},
    )

    def divergence(logits):
        policy = np.exp(logits) / np.exp(logits).sum()
        return policy @ np.log(policy / p)

    for before, after in itertools.pairwise(told):
        rewards = paid[after["answers"]]
        np.testing.assert_allclose(after["gained"], rewards - rewards.mean(), atol=1e-12)
        ways = np.eye(3)[after["answers"]] - before["policy"]
        gradient = ((rewards - rewards.mean())[:, None] * ways).mean(axis=0)
        logits, small = np.log(before["policy"]), np.eye(3) * 1e-5
        slope = [(divergence(logits + s) - divergence(logits - s)) / 2e-5 for s in small]
        moved = np.exp(logits + gradient - leash * np.array(slope))
        np.testing.assert_allclose(after["policy"], moved / moved.sum(), rtol=1e-7)
    found = javascript("divergence(input, [0.5, 0.25, 0.25])", told[-1]["policy"])
    assert found == pytest.approx(divergence(np.log(told[-1]["policy"]))) and found > 0.001


def test_the_advantages_of_a_group(javascript):
    rewards = [1, 0, 0, 1, 0, 0, 0, 0]
    assert javascript(f"advantages('reward', {rewards})") == rewards
    np.testing.assert_allclose(
        javascript(f"advantages('baseline', {rewards})"), np.array(rewards) - 0.25
    )
    grouped = javascript(f"advantages('group', {rewards})")
    np.testing.assert_allclose([grouped[0], grouped[1]], [3**0.5, -(3**-0.5)])
    assert javascript("advantages('group', [1, 1, 1])") == [0, 0, 0]


def test_the_policy_exploits_a_hole_unless_the_divergence_is_penalised():
    """The probabilities of this test are made up; those of the page are a model's."""
    right = ANSWERS.index(ANSWERS[2])
    learned = explorer(steps=60).policy
    assert learned[right] > 0.9
    holed = explorer(reward="hole", steps=60).policy
    assert holed[1] + holed[2] + holed[4] > 0.9 and holed[right] < 0.6
    held = explorer(reward="hole", steps=60, leash=2).policy
    assert np.abs(np.subtract(held, explorer().policy)).max() < 0.15


def test_the_query_string_restores_the_settings(javascript):
    start = {
        "reward": "verifier",
        "hand": [0, 0, 1],
        "advantage": "baseline",
        "leash": 0,
        "steps": 0,
        "seed": 1,
    }
    changed = start | {"reward": "hand", "hand": [1, 0, 1], "leash": 0.25, "steps": 12, "seed": 3}
    there = "addressOf('https://a.example/x.html?highlight=b', input[0], input[1])"
    address = javascript(there, [changed, start])
    assert address == (
        "https://a.example/x.html?highlight=b&reward=hand&hand=101&leash=0.25&steps=12&seed=3"
    )
    back = "settingsIn(new URL(input[0]).search, input[1])"
    assert javascript(back, [address, start]) == changed
    assert javascript(there, [start, start]) == "https://a.example/x.html?highlight=b"
    for bad in (
        "reward=luck",
        "steps=-1",
        "steps=1e9",
        "leash=x",
        "hand=12",
        "hand=1111",
        "seed=0",
    ):
        assert javascript(back, [f"https://a.example/?{bad}", start]) == start, bad


def test_the_fallback_holds_both_rewards():
    shown = explorer()._fallback()
    right = re.search(r'<th scope="row">la casa roja</th>(.*?)</tr>', shown)[1]
    cells = re.findall(r"<td>(.*?)</td>", right)
    assert cells[:3] == ["yes", "15%", "1"] and int(cells[3][:-1]) > 80
    assert '<th scope="row">(nothing)</th>' in shown


test_invalid_settings_are_refused = refusals(
    ({"reward": "luck"}, "reward: expected 'verifier' or"),
    ({"advantage": "none"}, "advantage: expected 'reward' or"),
    ({"leash": 3}, "leash: expected from 0 to 2, got 3"),
    ({"steps": 201}, "steps: expected a whole number from 0 to 200, got 201"),
    ({"seed": 0}, "seed: expected a whole number from 1 to 999, got 0"),
    ({"hand": [1]}, "hand: expected one reward, 0 or 1, for each answer"),
    ({"hand": [2, 0, 0, 0, 0, 0]}, "hand: expected a whole number from 0 to 1, got 2"),
    of=lambda options: explorer(**options),
)


def test_invalid_answers_are_refused():
    for answers, message in [
        (ANSWERS[:1], "answers: expected from 2 to 12"),
        ([("a", 0.5, 1)] * 2, "answers: expected from 2 to 12"),
        ([("a", 0, 1, 1), ("b", 1, 0, 0)], "answers: expected a finite number above 0"),
        ([("a", 1, 2, 1), ("b", 1, 0, 0)], "answers: expected rewards from 0 to 1, got 2"),
    ]:
        with pytest.raises(ValueError, match=message):
            AnswerExplorer("the red house", answers)


def test_settings_can_be_set():
    shown = explorer()
    before = shown.policy
    shown.reward, shown.steps = "hole", 10
    assert shown.policy != before
    with pytest.raises(ValueError, match="steps: expected"):
        shown.steps = 999
    with pytest.raises(ValueError, match="hand: expected"):
        shown.hand = [1]
    assert repr(shown) == "AnswerExplorer('the red house', reward='hole', language='en')"
