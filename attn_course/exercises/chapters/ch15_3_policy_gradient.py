"""Chapter 15, `policy_gradient`: REINFORCE with a baseline, and ways to miss it."""

import numpy as np

from attn.reference import softmax
from attn_course.exercises.spec import Exercise


def policy_gradient(logits, actions, rewards, baseline):
    """Return the estimate of the gradient of the expected reward from some draws.

    Parameters
    ----------
    logits : array, shape (n_answers,)
    actions : array of int, shape (n_draws,)
        Which answer was drawn.
    rewards : array, shape (n_draws,)
        What it was paid.
    baseline : float
        What is subtracted from each reward.

    Returns
    -------
    array, shape (n_answers,)
        The mean over draws, with respect to the logits.

    References
    ----------
    Williams (1992), Simple Statistical Gradient-Following Algorithms, section 4.
    """
    return _mean(logits, actions, rewards - baseline)


def cases(seed):
    """Return few draws and many, answers that are drawn twice and others never.

    Parameters
    ----------
    seed : int
        Seed of the random numbers; the shapes are always the same.

    Returns
    -------
    list of dict
        With the keys ``logits``, ``actions``, ``rewards`` and ``baseline``.
    """
    rng = np.random.default_rng(seed)

    def draw(n_answers, n_draws):
        actions = rng.integers(n_answers, size=n_draws)
        # The first answer comes up twice, so that a draw that overwrites another shows.
        actions[: n_draws // 2] = actions[0]
        return {
            "logits": rng.normal(size=n_answers),
            "actions": actions,
            "rewards": rng.uniform(0, 4, n_draws),
            "baseline": np.array(rng.uniform(0.5, 1.5)),
        }

    return [draw(3, 1), draw(3, 4), draw(4, 6), draw(2, 5), draw(5, 5), draw(6, 12)]


def _ways(logits, actions):
    return np.eye(len(logits))[actions] - softmax(logits)


def _mean(logits, actions, gained):
    return gained @ _ways(logits, actions) / len(actions)


def _hot(logits, actions):
    return np.eye(len(logits))[actions]


def _drawn_alone(logits, actions, rewards, baseline):
    ways = _ways(logits, actions) * _hot(logits, actions)
    return (rewards - baseline) @ ways / len(actions)


def _repeats_lost(logits, actions, rewards, baseline):
    gained, out = rewards - baseline, np.zeros(len(logits))
    out[actions] += gained
    return (out - gained.sum() * softmax(logits)) / len(actions)


def _of_the_probability(logits, actions, rewards, baseline):
    return _mean(logits, actions, (rewards - baseline) * softmax(logits)[actions])


def _over_the_probability(logits, actions, rewards, baseline):
    gained = (rewards - baseline) / softmax(logits)[actions]
    return gained @ _hot(logits, actions) / len(actions)


MISTAKES = {
    "baseline_forgotten": (lambda logits, a, r, b: _mean(logits, a, r),),
    "baseline_added": (lambda logits, a, r, b: _mean(logits, a, r + b),),
    "own_mean": (lambda logits, a, r, b: _mean(logits, a, r - r.mean()),),
    "deviation": (
        lambda logits, a, r, b: _mean(logits, a, (r - b) / max(r.std(), 1e-9)),
        lambda logits, a, r, b: _mean(logits, a, (r - b) / max((r - b).std(ddof=0), 1e-9) ** 2),
    ),
    "rewards_ignored": (lambda logits, a, r, b: _mean(logits, a, np.ones_like(r)),),
    "sign": (lambda logits, a, r, b: -policy_gradient(logits, a, r, b),),
    "summed": (lambda logits, a, r, b: len(a) * policy_gradient(logits, a, r, b),),
    "over_answers": (
        lambda logits, a, r, b: len(a) / len(logits) * policy_gradient(logits, a, r, b),
    ),
    "policy_forgotten": (lambda logits, a, r, b: (r - b) @ _hot(logits, a) / len(a),),
    "logits_for_the_policy": (
        lambda logits, a, r, b: (r - b) @ (_hot(logits, a) - logits) / len(a),
    ),
    "of_the_probability": (_of_the_probability,),
    "over_the_probability": (_over_the_probability,),
    "drawn_alone": (_drawn_alone,),
    "repeats_lost": (_repeats_lost,),
    "means_first": (lambda logits, a, r, b: (r.mean() - b) * _ways(logits, a).mean(axis=0),),
    "each_draw": (lambda logits, a, r, b: (r - b)[:, None] * _ways(logits, a),),
    "a_step": (lambda logits, a, r, b: logits + policy_gradient(logits, a, r, b),),
}

EXERCISE = Exercise.from_file(__file__, ("gradient",), policy_gradient, cases, MISTAKES)
