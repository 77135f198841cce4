"""Chapter 15, `group_advantages`: rewards against those of the group, and ways to miss them."""

import numpy as np

from attn_course.exercises.spec import Exercise


def group_advantages(rewards):
    """Return how much better each answer is than the others drawn for the same prompt.

    Parameters
    ----------
    rewards : array, shape (n_prompts, n_answers)

    Returns
    -------
    array, shape (n_prompts, n_answers)
        Less the mean of its row and over the standard deviation of the row: zeros in a row whose
        rewards are all equal.

    References
    ----------
    Shao et al. (2024), DeepSeekMath, section 4.1.2.
    """
    return _over(_centred(rewards), rewards.std(axis=1, keepdims=True))


def cases(seed):
    """Return few prompts and many, rewards of 0 and 1, and others; rows without differences.

    Parameters
    ----------
    seed : int
        Seed of the random numbers; the shapes are always the same.

    Returns
    -------
    list of dict
        With the key ``rewards``.
    """
    rng = np.random.default_rng(seed)

    def draw(n_prompts, n_answers, binary=False, flat=False):
        rewards = rng.uniform(0, 5, (n_prompts, n_answers))
        if binary:
            rewards = (rewards > 3).astype(float)
            rewards[:, 0], rewards[:, 1] = 1, 0
        if flat:
            rewards[-1] = rewards[-1, 0]
        return {"rewards": rewards}

    return [
        draw(1, 4),
        draw(3, 5),
        draw(4, 4),
        draw(2, 8, binary=True),
        draw(4, 8, binary=True, flat=True),
        draw(5, 3, flat=True),
    ]


def _centred(rewards):
    return rewards - rewards.mean(axis=1, keepdims=True)


def _over(x, deviation):
    """Return x / deviation, and zeros where there is no deviation."""
    flat = deviation < 1e-12
    return np.where(flat, 0.0, x / np.where(flat, 1.0, deviation))


def _against(level):
    def advantages(rewards):
        away = rewards - level(rewards)
        return _over(away, rewards.std(axis=1, keepdims=True))

    return advantages


def _divided_by_zero(rewards):
    with np.errstate(all="ignore"):
        return _centred(rewards) / rewards.std(axis=1, keepdims=True)


def _the_others(rewards):
    n = rewards.shape[1]
    return n / (n - 1) * _centred(rewards)


def _with_more(epsilon):
    return lambda rewards: _centred(rewards) / (rewards.std(axis=1, keepdims=True) + epsilon)


MISTAKES = {
    "divided_by_zero": (_divided_by_zero,),
    "not_divided": (_centred,),
    "not_centred": (_against(lambda rewards: 0),),
    "whole_batch": (
        lambda rewards: _over(rewards - rewards.mean(), rewards.std()),
        lambda rewards: _over(_centred(rewards), rewards.std()),
        lambda rewards: _over(rewards - rewards.mean(), rewards.std(axis=1, keepdims=True)),
    ),
    "over_prompts": (lambda rewards: _over(rewards - rewards.mean(axis=0), rewards.std(axis=0)),),
    "axis_lost": (
        lambda rewards: _over(rewards - rewards.mean(axis=1), rewards.std(axis=1)),
        lambda rewards: _over(_centred(rewards), rewards.std(axis=1)),
    ),
    "variance": (lambda rewards: _over(_centred(rewards), rewards.var(axis=1, keepdims=True)),),
    "one_answer_less": (
        lambda rewards: _over(_centred(rewards), rewards.std(axis=1, ddof=1, keepdims=True)),
    ),
    "something_added": (_with_more(1e-4), _with_more(1e-2), _with_more(1.0)),
    "sign": (lambda rewards: -group_advantages(rewards),),
    "against_the_best": (
        _against(lambda rewards: rewards.max(axis=1, keepdims=True)),
        lambda rewards: rewards - rewards.max(axis=1, keepdims=True),
    ),
    "against_the_worst": (
        _against(lambda rewards: rewards.min(axis=1, keepdims=True)),
        lambda rewards: _over(
            rewards - rewards.min(axis=1, keepdims=True),
            np.ptp(rewards, axis=1, keepdims=True),
        ),
    ),
    "median": (_against(lambda rewards: np.median(rewards, axis=1, keepdims=True)),),
    "against_the_others": (
        _the_others,
        lambda rewards: _over(_the_others(rewards), rewards.std(axis=1, keepdims=True)),
    ),
    "shares": (lambda rewards: _over(rewards, rewards.sum(axis=1, keepdims=True)),),
}

EXERCISE = Exercise.from_file(__file__, ("advantages",), group_advantages, cases, MISTAKES)
