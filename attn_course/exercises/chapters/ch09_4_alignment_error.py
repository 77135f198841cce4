"""Chapter 9, `alignment_error`: found, sure and possible links, and the ways to count wrong."""

import numpy as np

from attn.reference import alignment_error
from attn_course.exercises.spec import Exercise


def cases(seed):
    """Return inputs: alignments with and without possible links, one and several sentences.

    Parameters
    ----------
    seed : int
        Seed of the random numbers; the shapes are always the same.

    Returns
    -------
    list of dict
        With the keys ``predicted``, ``sure`` and ``possible``.
    """
    rng = np.random.default_rng(seed)

    def draw(n_sentences, tgt_len, src_len):
        # One link a row, of which some are wrong; S and the other possible links are disjoint.
        place = rng.integers(src_len, size=(n_sentences, tgt_len))
        gold = np.arange(src_len) == place[..., None]
        sure = gold & (np.arange(tgt_len) % 3 != 1)[:, None]
        possible = (gold & ~sure) | (np.arange(src_len) == (place[..., None] + 1) % src_len)
        moved = place.copy()
        moved[:, 0] = (place[:, 0] + src_len - 1) % src_len
        predicted = np.arange(src_len) == moved[..., None]
        predicted[:, -1] = possible[:, -1] & ~sure[:, -1]
        predicted[0, 1] |= sure[0].any(axis=0)
        predicted[0, 2] = False  # a sure link that nobody found
        return {"predicted": predicted, "sure": sure, "possible": possible & ~sure}

    return [draw(1, 3, 4), draw(1, 4, 5), draw(2, 5, 4), draw(3, 6, 5), draw(2, 7, 9)]


def _counting(rate):
    """Return an error rate from the five counts |A|, |S|, |P|, |A and S|, |A and P|."""

    def error(predicted, sure, possible):
        union = sure | possible
        counts = (
            predicted.sum(),
            sure.sum(),
            union.sum(),
            (predicted & sure).sum(),
            (predicted & union).sum(),
        )
        return np.float64(rate(*(float(n) for n in counts)))

    return error


def _without_sure(predicted, sure, possible):
    shared = (predicted & sure).sum() + (predicted & possible).sum()
    return 1 - shared / (predicted.sum() + sure.sum())


def _mean_of_sentences(predicted, sure, possible):
    rates = [alignment_error(*links) for links in zip(predicted, sure, possible, strict=True)]
    return np.mean(rates)


def _per_sentence(predicted, sure, possible):
    return np.array(
        [alignment_error(*links) for links in zip(predicted, sure, possible, strict=True)]
    )


def _cells(predicted, sure, possible):
    return (predicted != (sure | possible)).mean()


def _either(predicted, sure, possible):
    shared = (predicted & sure).sum() + (predicted & (sure | possible)).sum()
    return 1 - shared / (predicted | sure).sum()


def _means(predicted, sure, possible):
    shared = (predicted & sure).mean() + (predicted & (sure | possible)).mean()
    return 1 - shared / (predicted.sum() + sure.sum())


MISTAKES = {
    "sure_not_possible": (_without_sure,),
    "accuracy": (_counting(lambda a, s, p, both, fine: (both + fine) / (a + s)),),
    "precision_only": (
        _counting(lambda a, s, p, both, fine: 1 - fine / a),
        _counting(lambda a, s, p, both, fine: 1 - both / a),
    ),
    "recall_only": (_counting(lambda a, s, p, both, fine: 1 - both / s),),
    "only_sure": (_counting(lambda a, s, p, both, fine: 1 - 2 * both / (a + s)),),
    "only_possible": (_counting(lambda a, s, p, both, fine: 1 - 2 * fine / (a + s)),),
    "divided_by_possible": (
        _counting(lambda a, s, p, both, fine: 1 - (both + fine) / (a + p)),
        _counting(lambda a, s, p, both, fine: 1 - 2 * fine / (a + p)),
    ),
    "union": (
        _counting(lambda a, s, p, both, fine: 1 - fine / (a + p - fine)),
        _counting(lambda a, s, p, both, fine: 1 - both / (a + s - both)),
    ),
    "not_doubled": (_counting(lambda a, s, p, both, fine: 1 - both / (a + s)),),
    "mean_of_sentences": (_mean_of_sentences,),
    "one_rate_each": (_per_sentence,),
    "cells_compared": (
        lambda predicted, sure, possible: (predicted != sure).mean(),
        _cells,
    ),
    "f_score": (
        _counting(
            lambda a, s, p, both, fine: 1 - 2 * (fine / a) * (both / s) / (fine / a + both / s)
        ),
    ),
    "parenthesis_missing": (
        _counting(lambda a, s, p, both, fine: 1 - (both + fine) / a + s),
        _counting(lambda a, s, p, both, fine: 1 - both + fine / (a + s)),
    ),
    "counted_together": (_either,),
    "means_for_sums": (_means,),
}

EXERCISE = Exercise.from_file(__file__, ("rate",), alignment_error, cases, MISTAKES)
