"""Problem set 11, `matched_differences`: rules compared fairly, and the ways to favour one."""

import numpy as np

from attn_course.exercises.spec import Exercise


def matched_differences(validation, test):
    """Return how much the first rule gains over each other, all with their best rates.

    Parameters
    ----------
    validation, test : array, shape (n_rules, n_rates, n_seeds)
        The share recalled by each rule with each rate and seed. Seed j of the test is the same
        text for every rule.

    Returns
    -------
    rate : array of int, shape (n_rules,)
        The rate with the best mean in validation; of equals the first.
    difference, error : array, shape (n_rules - 1,)
        Mean of the paired differences in the test, and its standard error.

    References
    ----------
    Student (1908), The Probable Error of a Mean, section 9: pairs under the same conditions.
    """
    return _compare(validation, test)


def _each(validation, test):
    return validation.mean(axis=-1).argmax(axis=-1)


def _taken(test, rate):
    return test[np.arange(len(test)), rate]


def _standard_error(gained, scores):
    return gained.std(axis=-1, ddof=1) / np.sqrt(gained.shape[-1])


def _compare(
    validation,
    test,
    *,
    choose=_each,
    take=_taken,
    centre=lambda gained: gained.mean(axis=-1),
    error=_standard_error,
    against=lambda scores: scores[0] - scores[1:],
):
    """Choose, measure and compare, with the given parts replaced."""
    rate = choose(validation, test)
    scores = take(test, rate)
    gained = against(scores)
    return rate, centre(gained), error(gained, scores)


def cases(seed):
    """Return experiments in which the best rates differ, and some with two that are equal.

    Parameters
    ----------
    seed : int
        Seed of the random numbers, and of the sizes of some inputs.

    Returns
    -------
    list of dict
        With the keys ``validation`` and ``test``.
    """
    rng = np.random.default_rng(seed)

    def case(n_rules, n_rates, n_validation, n_test, *, ties=False):
        while True:
            best = rng.permuted(np.tile(np.arange(n_rates), (n_rules, 1)), axis=1)
            level = 64 - 6 * best + rng.integers(-2, 3, (n_rules, n_rates))
            validation, test = (
                level[..., None] + rng.integers(-9, 10, (n_rules, n_rates, n))
                for n in (n_validation, n_test)
            )
            # Whole sixty-fourths add without rounding, so equal means are equal numbers.
            test = test + rng.integers(-16, 17, n_test)
            if ties:
                order = validation.sum(-1).argsort(axis=-1)
                one = rng.integers(n_rules)
                validation[one, order[one, -2]] = validation[one, order[one, -1]][::-1]
            case = {"validation": validation / 128, "test": test / 128}
            means = validation.sum(axis=-1)
            equal = (means == means.max(axis=-1, keepdims=True)).sum(axis=-1).max()
            apart = len({tuple(choose(**case)) for choose in CHOICES}) == len(CHOICES)
            if apart and (equal == 2) == ties:
                return case

    return [
        case(2, 3, 4, 3),
        case(3, 3, 4, 4),
        case(3, 4, 4, 6),
        case(*rng.integers((3, 3, 4, 4), (6, 6, 7, 9))),
        case(3, 3, 4, 4, ties=True),
        case(4, 4, 4, 5, ties=True),
    ]


def _on_the_test(validation, test):
    return _each(test, None)


def _worst(validation, test):
    return validation.mean(axis=-1).argmin(axis=-1)


def _one_for_all(validation, test):
    return np.full(len(validation), validation.mean(axis=(0, 2)).argmax())


def _of_the_first(validation, test):
    return np.full(len(validation), _each(validation, test)[0])


def _luckiest_seed(validation, test):
    return validation.max(axis=-1).argmax(axis=-1)


def _last(validation, test):
    means = validation.mean(axis=-1)
    return means.shape[-1] - 1 - means[:, ::-1].argmax(axis=-1)


CHOICES = (_each, _on_the_test, _worst, _luckiest_seed)


def _wrong(**how):
    return lambda validation, test: _compare(validation, test, **how)


def _unpaired(gained, scores):
    variance = scores.var(axis=-1, ddof=1) / scores.shape[-1]
    return np.sqrt(variance[0] + variance[1:])


def _measured_in_validation(validation, test):
    return _compare(validation, validation)


def _swapped(validation, test):
    return _compare(test, validation)


MISTAKES = {
    "chosen_on_the_test": (_wrong(choose=_on_the_test),),
    "measured_in_validation": (_measured_in_validation,),
    "exchanged_inputs": (_swapped,),
    "one_rate_for_all": (_wrong(choose=_one_for_all), _wrong(choose=_of_the_first)),
    "worst_rate": (_wrong(choose=_worst),),
    "luckiest_seed": (_wrong(choose=_luckiest_seed),),
    "last_of_equals": (_wrong(choose=_last),),
    "unpaired": (_wrong(error=_unpaired),),
    "deviation_for_error": (_wrong(error=lambda gained, scores: gained.std(axis=-1, ddof=1)),),
    "divided_by_n": (
        _wrong(error=lambda gained, scores: gained.std(axis=-1) / np.sqrt(gained.shape[-1])),
    ),
    "variance": (
        _wrong(error=lambda gained, scores: gained.var(axis=-1, ddof=1) / gained.shape[-1]),
    ),
    "other_way_round": (_wrong(against=lambda scores: scores[1:] - scores[0]),),
    "against_the_last": (_wrong(against=lambda scores: scores[:-1] - scores[-1]),),
    "over_the_mean_of_the_others": (
        _wrong(against=lambda scores: scores[:1] - scores[1:].mean(axis=0)),
    ),
    "median": (_wrong(centre=lambda gained: np.median(gained, axis=-1)),),
    "ratio": (_wrong(against=lambda scores: scores[0] / scores[1:]),),
}

EXERCISE = Exercise.from_file(
    __file__, ("rate", "difference", "error"), matched_differences, cases, MISTAKES
)
