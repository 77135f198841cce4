"""Problem set 12, `mended_step`: one step of learning from rewards, whose leash must pull."""

import numpy as np

from attn.reference import softmax
from attn_course.exercises.spec import Exercise


def mended_step(logits, reference, answers, rewards, beta, rate):
    """Return the logits after one step up the gradient of ``reward - beta * KL(policy || reference)``.

    The mean of the step over all draws is exactly that gradient, times the rate.

    Parameters
    ----------
    logits : array, shape (n_answers,)
    reference : array, shape (n_answers,)
        Probabilities.
    answers : array of int, shape (n_draws,)
        Which answers the policy has drawn; at least two.
    rewards : array, shape (n_draws,)
    beta, rate : float

    Returns
    -------
    array, shape (n_answers,)

    References
    ----------
    Kool, van Hoof and Welling (2019), Buy 4 REINFORCE Samples, Get a Baseline for Free!: the
    mean of the others; Ziegler et al. (2019), Fine-Tuning Language Models from Human Preferences,
    equation 2: the leash is part of the reward.
    """
    return _step(logits, reference, answers, rewards, beta, rate)


def _less_the_others(earned):
    return earned - (earned.sum() - earned) / (len(earned) - 1)


def _leash(policy, reference):
    return np.log(policy / reference)


def _score(policy, answers):
    return np.eye(len(policy))[answers] - policy


def _step(
    logits,
    reference,
    answers,
    rewards,
    beta,
    rate,
    *,
    leash=_leash,
    compare=_less_the_others,
    policy=softmax,
    after=0.0,
    total=False,
    sign=1.0,
):
    """Take the step, with the given parts replaced."""
    p = policy(logits)
    earned = rewards - beta * leash(p, reference)[answers]
    gradient = (compare(earned) - after * beta) @ _score(p, answers)
    return logits + sign * rate * gradient / (1 if total else len(answers))


def cases(seed):
    """Return groups of draws, some of them from logits that `exp` cannot take.

    Parameters
    ----------
    seed : int
        Seed of the random numbers, and of the sizes of some inputs.

    Returns
    -------
    list of dict
        With the keys ``logits``, ``reference``, ``answers``, ``rewards``, ``beta`` and ``rate``.
    """
    rng = np.random.default_rng(seed)

    def case(n_answers, n_draws, offset=0.0):
        reference = rng.uniform(0.3, 2, n_answers)
        answers = rng.permutation([0, 0, 1, *rng.integers(n_answers, size=n_draws - 3)])
        return {
            "logits": offset + rng.permutation(np.linspace(-1, 1, n_answers)),
            "reference": reference / reference.sum(),
            "answers": answers,
            "rewards": rng.permutation(np.linspace(0, 1, n_draws)) + rng.uniform(0, 0.5, n_draws),
            "beta": np.array(rng.uniform(0.2, 0.8)),
            "rate": np.array(rng.uniform(0.5, 2)),
        }

    return [
        case(3, 3),
        case(4, 3),
        case(4, 5),
        case(rng.integers(5, 9), rng.integers(6, 9)),
        case(3, 4, 1000.0),
        case(5, 5, 2000.0),
    ]


def _wrong(**how):
    return lambda *arguments: _step(*arguments, **how)


def _unpulled(policy, reference):
    return np.zeros(len(policy))


def _leash_alone_unshared(logits, reference, answers, rewards, beta, rate):
    """Compare the rewards with those of the others, and the leash with nothing."""
    p = softmax(logits)
    earned = _less_the_others(rewards) - beta * _leash(p, reference)[answers]
    return logits + rate * earned @ _score(p, answers) / len(answers)


def _k3(policy, reference):
    d = np.log(reference / policy)
    return np.exp(d) - d - 1


MISTAKES = {
    "leash_differentiated": (_wrong(leash=_unpulled, after=1.0),),
    "leash_missing": (_wrong(leash=_unpulled),),
    "pushed_away": (_wrong(leash=lambda p, reference: np.log(reference / p)),),
    "reference_forgotten": (_wrong(leash=lambda p, reference: np.log(p)),),
    "policy_forgotten": (_wrong(leash=lambda p, reference: -np.log(reference)),),
    "ratio_without_logarithm": (_wrong(leash=lambda p, reference: p / reference),),
    "never_negative_estimate": (_wrong(leash=_k3),),
    "leash_not_compared": (_leash_alone_unshared,),
    "own_reward_in_the_mean": (_wrong(compare=lambda earned: earned - earned.mean()),),
    "no_baseline": (_wrong(compare=lambda earned: earned),),
    "divided_by_the_deviation": (
        _wrong(compare=lambda earned: (earned - earned.mean()) / earned.std()),
        _wrong(compare=lambda earned: _less_the_others(earned) / earned.std()),
    ),
    "sum_over_the_draws": (_wrong(total=True),),
    "downhill": (_wrong(sign=-1.0),),
    "overflow": (_wrong(policy=lambda logits: np.exp(logits) / np.exp(logits).sum()),),
}

EXERCISE = Exercise.from_file(__file__, ("logits",), mended_step, cases, MISTAKES)
