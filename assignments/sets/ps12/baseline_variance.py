"""Problem set 12, `baseline_variance`: the spread of an estimate of the gradient, computed exactly."""

import numpy as np

from attn.reference import softmax
from attn_course.exercises.spec import Exercise


def baseline_variance(logits, chance, baseline):
    """Return mean and variance of the estimate that one answer gives, and the baseline that is best.

    Parameters
    ----------
    logits : array, shape (n_answers,)
    chance : array, shape (n_answers,)
        With which probability the verifier pays 1 for each answer; it pays 0 otherwise.
    baseline : float

    Returns
    -------
    gradient : array, shape (n_answers,)
        The mean of the estimate ``(reward - baseline) * grad log policy``.
    variance : float
        The sum of the variances of its components.
    best : float
        The baseline with which that variance is least.

    References
    ----------
    Greensmith, Bartlett and Baxter (2004), Variance Reduction Techniques for Gradient Estimates in
    Reinforcement Learning: the best constant weighs rewards by squared lengths of the score.
    """
    return _moments(logits, chance, baseline)


def _moments(
    logits,
    chance,
    baseline,
    *,
    policy=softmax,
    square=lambda p, c, b: c - 2 * b * c + b**2,
    length=lambda p: 1 - 2 * p + p @ p,
    less=lambda gradient: gradient @ gradient,
    best=lambda p, c, m: p * m @ c / (p @ m),
    gradient=lambda p, c, b: p * (c - p @ c),
    spread=lambda variance, n: variance,
):
    """Compute the moments, with the given parts replaced."""
    p = policy(logits)
    m, mean = length(p), gradient(p, chance, baseline)
    variance = p @ (m * square(p, chance, baseline)) - less(p * (chance - p @ chance))
    return mean, spread(variance, len(p)), best(p, chance, m)


def cases(seed):
    """Return small bandits with noisy verifiers, and logits that `exp` cannot take.

    Parameters
    ----------
    seed : int
        Seed of the random numbers, and of the sizes of some inputs.

    Returns
    -------
    list of dict
        With the keys ``logits``, ``chance`` and ``baseline``.
    """
    rng = np.random.default_rng(seed)

    def case(n_answers, offset=0.0):
        return {
            "logits": offset + rng.normal(size=n_answers),
            "chance": rng.permutation(np.linspace(0.1, 0.9, n_answers))
            + rng.uniform(-0.05, 0.05, n_answers),
            "baseline": np.array(rng.uniform(0.2, 0.7)),
        }

    return [case(3), case(3), case(4), case(rng.integers(5, 9)), case(3, 1000.0), case(5, 2000.0)]


def _wrong(**how):
    return lambda logits, chance, baseline: _moments(logits, chance, baseline, **how)


def _variance_at_the_best(logits, chance, baseline):
    mean, _, best = _moments(logits, chance, baseline)
    return mean, _moments(logits, chance, best)[1], best


MISTAKES = {
    "noise_forgotten": (_wrong(square=lambda p, c, b: (c - b) ** 2),),
    "mean_not_taken_away": (_wrong(less=lambda gradient: 0.0),),
    "lengths_left_out": (_wrong(length=lambda p: np.ones(len(p))),),
    "length_of_the_word_alone": (_wrong(length=lambda p: (1 - p) ** 2),),
    "baseline_not_used": (_wrong(square=lambda p, c, b: c),),
    "variance_at_the_best": (_variance_at_the_best,),
    "best_is_the_mean_reward": (_wrong(best=lambda p, c, m: p @ c),),
    "best_of_all_alike": (
        _wrong(best=lambda p, c, m: c.mean()),
        _wrong(best=lambda p, c, m: m @ c / m.sum()),
    ),
    "best_not_divided": (_wrong(best=lambda p, c, m: p * m @ c),),
    "gradient_with_the_baseline": (_wrong(gradient=lambda p, c, b: p * (c - b)),),
    "gradient_of_the_chances": (_wrong(gradient=lambda p, c, b: c - p @ c),),
    "downhill": (_wrong(gradient=lambda p, c, b: -p * (c - p @ c)),),
    "mean_of_the_variances": (_wrong(spread=lambda variance, n: variance / n),),
    "deviation": (_wrong(spread=lambda variance, n: np.sqrt(variance)),),
    "overflow": (_wrong(policy=lambda logits: np.exp(logits) / np.exp(logits).sum()),),
    "exchanged": (
        lambda *arguments: tuple(baseline_variance(*arguments)[which] for which in (0, 2, 1)),
    ),
}

EXERCISE = Exercise.from_file(
    __file__, ("gradient", "variance", "best"), baseline_variance, cases, MISTAKES
)
