"""Problem set 12, `longest_leash`: how loosely a policy may be held, and ways to hold it wrongly."""

import numpy as np

from attn_course.exercises.spec import Exercise


def longest_leash(reference, paid, right, limit):
    """Return the smallest beta that keeps hacks rare, what the policy becomes, and how far it goes.

    The best policy is proportional to ``reference * exp(reward / beta)``.

    Parameters
    ----------
    reference : array, shape (n_answers,)
        Probabilities.
    paid : array of bool, shape (n_answers,)
        Answers for which the verifier pays.
    right : array of bool, shape (n_answers,)
        A paid answer that is not right is a hack.
    limit : float
        The greatest probability that hacks may have together; more than they have in the reference.

    Returns
    -------
    beta : float
        0 if hacks stay within the limit on any leash.
    policy : array, shape (n_answers,)
    divergence : float
        KL(policy || reference), in nats.

    References
    ----------
    Rafailov et al. (2023), Direct Preference Optimization, equation 4.
    """
    return _hold(reference, paid, right, limit)


# An answer that is not paid costs this much.
FINE = 0.0


def _hacks(paid, right):
    return paid & ~right


def _boost(hacked, all_paid, limit):
    """Return exp(1 / beta) for rewards of 1 and 0: by how much the paid answers grow."""
    return limit * (1 - all_paid) / (hacked - limit * all_paid)


def _beta(factor):
    return (1 + FINE) / np.log(factor)


def _lifted(reference, paid, right, factor, beta):
    return reference * np.where(paid, factor, 1.0)


def _normalised(weights):
    return weights / weights.sum()


def _nats(policy, reference):
    some = policy > 0
    return policy[some] @ np.log(policy[some] / reference[some])


def _without(reference, paid, right):
    return reference * paid


def _hold(
    reference,
    paid,
    right,
    limit,
    *,
    hacks=_hacks,
    boost=_boost,
    beta=_beta,
    lifted=_lifted,
    normalised=_normalised,
    divergence=_nats,
    without=_without,
    always=False,
):
    """Hold the policy, with the given parts replaced."""
    hacked, all_paid = reference[hacks(paid, right)].sum(), reference[paid].sum()
    if not always and hacked <= limit * all_paid:
        held, leash = normalised(without(reference, paid, right)), 0.0
    else:
        factor = boost(hacked, all_paid, limit)
        leash = beta(factor)
        held = normalised(lifted(reference, paid, right, factor, leash))
    return leash, held, divergence(held, reference)


def cases(seed):
    """Return answers of which some are right, some hacks, and some right but not paid.

    Parameters
    ----------
    seed : int
        Seed of the random numbers, and of the sizes of some inputs.

    Returns
    -------
    list of dict
        With the keys ``reference``, ``paid``, ``right`` and ``limit``.
    """
    rng = np.random.default_rng(seed)

    def case(n_answers, *, slack=False):
        # Two hacks at least, something right that is paid, something right that is not, something neither.
        kinds = rng.permutation([0, 0, 1, 2, 3, *rng.integers(4, size=n_answers - 5)])
        paid, right = np.isin(kinds, (0, 1)), np.isin(kinds, (1, 2))
        reference = rng.uniform(0.5, 2, n_answers)
        reference /= reference.sum()
        hacked = reference[paid & ~right].sum()
        most = hacked / reference[paid].sum()
        limit = most + rng.uniform(0.2, 0.8) * ((1 - most) if slack else (hacked - most))
        return {"reference": reference, "paid": paid, "right": right, "limit": np.array(limit)}

    return [
        case(5),
        case(6),
        case(7),
        case(rng.integers(8, 12)),
        case(5, slack=True),
        case(7, slack=True),
    ]


def _wrong(**how):
    return lambda *arguments: _hold(*arguments, **how)


def _other_way(policy, reference):
    with np.errstate(divide="ignore"):
        return reference @ np.log(reference / policy)


def _uniform(reference, paid, right, factor, beta):
    return np.where(paid, factor, 1.0)


def _reward_times_beta(reference, paid, right, factor, beta):
    return reference * np.exp(beta * np.where(paid, 1.0, -FINE))


MISTAKES = {
    "beta_upside_down": (_wrong(beta=lambda factor: np.log(factor) / (1 + FINE)),),
    "boost_for_beta": (_wrong(beta=lambda factor: factor),),
    "other_fine": (_wrong(beta=lambda factor: (2 - FINE) / np.log(factor)),),
    "all_wrong_answers": (_wrong(hacks=lambda paid, right: ~right),),
    "right_ones_limited": (_wrong(hacks=lambda paid, right: paid & right),),
    "rest_forgotten": (
        _wrong(boost=lambda hacked, all_paid, limit: limit / hacked),
        _wrong(boost=lambda hacked, all_paid, limit: limit / (hacked - limit * all_paid)),
    ),
    "odds_against_all": (
        _wrong(boost=lambda hacked, all_paid, limit: limit * (1 - hacked) / (hacked * (1 - limit))),
    ),
    "right_ones_lifted": (
        _wrong(lifted=lambda ref, paid, right, factor, beta: ref * np.where(right, factor, 1.0)),
    ),
    "hacks_not_lifted": (
        _wrong(
            lifted=lambda ref, paid, right, factor, beta: ref * np.where(paid & right, factor, 1.0)
        ),
    ),
    "reference_left_out": (_wrong(lifted=_uniform),),
    "reward_times_beta": (_wrong(lifted=_reward_times_beta),),
    "not_normalised": (_wrong(normalised=lambda weights: weights),),
    "leash_without_need": (_wrong(always=True),),
    "reference_without_a_leash": (_wrong(without=lambda reference, paid, right: reference),),
    "all_paid_alike": (_wrong(without=lambda reference, paid, right: 1.0 * paid),),
    "other_way_round": (_wrong(divergence=_other_way),),
    "bits": (_wrong(divergence=lambda *two: _nats(*two) / np.log(2)),),
    "exchanged": (lambda *arguments: longest_leash(*arguments)[::-1],),
}

EXERCISE = Exercise.from_file(
    __file__, ("beta", "policy", "divergence"), longest_leash, cases, MISTAKES
)
