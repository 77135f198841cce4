"""Chapter 10, `best_span`: one answer out of two rows of scores, and the ways to lose it."""

import numpy as np

from attn.reference import best_span
from attn_course.exercises.spec import Exercise


def cases(seed):
    """Return inputs: scores whose best start and best end often do not belong together.

    Parameters
    ----------
    seed : int
        Seed of the random numbers; the shapes are always the same.

    Returns
    -------
    list of dict
        With the keys ``start``, ``end`` and ``max_words``.
    """
    rng = np.random.default_rng(seed)

    def draw(seq_len, max_words):
        # All different, so that no two spans tie.
        start, end = rng.permutation(2 * seq_len).reshape(2, -1) + rng.uniform(0, 0.4, (2, seq_len))
        return {"start": start - seq_len, "end": end - seq_len, "max_words": np.array(max_words)}

    # The best end comes before the best start; the longest allowed span wins; a too long span would
    # win without the limit; one word.
    backwards = {"start": [1.0, 4.0, 2.5, 0.0], "end": [3.5, 0.5, 1.1, 2.0], "max_words": 3}
    far = {"start": [4.0, 1.0, 0.2, 2.2, 0.1], "end": [0.3, 1.5, 0.4, 1.1, 4.0], "max_words": 2}
    long = {"start": [3.0, 0.5, 1.0, 0.0], "end": [0.2, 1.0, 4.0, 0.1], "max_words": 2}
    fixed = [{name: np.array(x) for name, x in case.items()} for case in (backwards, far, long)]
    sizes = [(1, 1), (4, 1), (5, 3), (6, 2), (7, 4), (8, 8), (9, 3), (12, 5), (12, 2), (15, 4)]
    drawn = [draw(*size) for size in sizes]
    # All logits are negative, as those of an unsure reader are.
    low = {name: x - 20 * (name != "max_words") for name, x in drawn[2].items()}
    return [*fixed, low, *drawn]


def _table(start, end):
    return start[:, None] + end


def _best(totals):
    return np.array(np.unravel_index(np.argmax(totals), totals.shape))


def _shape(n):
    return np.indices((n, n))


def _within(lowest, highest):
    """Choose among the spans whose last minus first token lies between two numbers."""

    def span(start, end, max_words):
        first, last = _shape(len(start))
        low, high = lowest(max_words), highest(max_words)
        allowed = (last - first >= low) & (last - first <= high)
        return _best(np.where(allowed, _table(start, end), -np.inf))

    return span


def _apart(start, end, max_words):
    return np.array([start.argmax(), end.argmax()])


def _start_first(start, end, max_words):
    first = start.argmax()
    return np.array([first, first + end[first : first + max_words].argmax()])


def _start_first_far(start, end, max_words):
    first = start.argmax()
    return np.array([first, first + end[first:].argmax()])


def _end_first(start, end, max_words):
    last = end.argmax()
    low = max(0, last - max_words + 1)
    return np.array([low + start[low : last + 1].argmax(), last])


def _sorted_apart(start, end, max_words):
    return np.sort([start.argmax(), end.argmax()])


def _masked_with_zero(start, end, max_words):
    first, last = _shape(len(start))
    allowed = (last >= first) & (last - first < max_words)
    return _best(np.where(allowed, _table(start, end), 0.0))


def _product(start, end, max_words):
    first, last = _shape(len(start))
    allowed = (last >= first) & (last - first < max_words)
    return _best(np.where(allowed, start[:, None] * end, -np.inf))


def _of_result(change):
    def span(start, end, max_words):
        return change(best_span(start, end, max_words))

    return span


def _relative(start, end, max_words):
    first, last = best_span(start, end, max_words)
    return np.array([first, last - first])


def _transposed(start, end, max_words):
    first, last = _shape(len(start))
    allowed = (last >= first) & (last - first < max_words)
    return _best(np.where(allowed, end[:, None] + start, -np.inf))


def _worst(start, end, max_words):
    return best_span(-start, -end, max_words)


def _fixed_length(start, end, max_words):
    totals = start[: len(start) - max_words + 1] + end[max_words - 1 :]
    return np.array([totals.argmax(), totals.argmax() + max_words - 1])


def _last_starts_skipped(start, end, max_words):
    first, last = _shape(len(start))
    allowed = (last >= first) & (last - first < max_words) & (first < len(start) - max_words)
    return (
        _best(np.where(allowed, _table(start, end), -np.inf)) if allowed.any() else np.zeros(2, int)
    )


def _all_the_scores(start, end, max_words):
    running = np.concatenate([[0], np.cumsum(start + end)])
    first, last = _shape(len(start))
    allowed = (last >= first) & (last - first < max_words)
    return _best(np.where(allowed, running[last + 1] - running[first], -np.inf))


def _repaired(start, end, max_words):
    first, last = np.sort([start.argmax(), end.argmax()])
    return np.array([first, min(last, first + max_words - 1)])


def _longer_than_one(start, end, max_words):
    first, last = _shape(len(start))
    allowed = (last > first) & (last - first < max_words)
    return (
        _best(np.where(allowed, _table(start, end), -np.inf)) if allowed.any() else np.zeros(2, int)
    )


def _start_first_relative(start, end, max_words):
    first = start.argmax()
    return np.array([first, end[first : first + max_words].argmax()])


def _never_below_zero(start, end, max_words):
    first, last = best_span(start, end, max_words)
    return np.array([first, last]) if start[first] + end[last] > 0 else np.zeros(2, int)


MISTAKES = {
    "apart": (_apart,),
    "start_first": (_start_first, _start_first_far),
    "end_first": (_end_first,),
    "sorted_apart": (
        _repaired,
        _sorted_apart,
    ),
    "no_limit": (_within(lambda m: 0, lambda m: np.inf),),
    "one_too_many": (_within(lambda m: 0, lambda m: m),),
    "one_too_few": (_within(lambda m: 0, lambda m: max(m - 2, 0)),),
    "any_order": (_within(lambda m: 1 - m, lambda m: m - 1),),
    "no_single_words": (
        _longer_than_one,
        _within(lambda m: min(1, m - 1), lambda m: m - 1),
    ),
    "zero_for_forbidden": (_masked_with_zero,),
    "product": (_product,),
    "past_the_end": (_of_result(lambda span: span + np.array([0, 1])),),
    "length_instead_of_end": (
        _relative,
        _of_result(lambda span: np.array([span[0], span[1] - span[0] + 1])),
    ),
    "reversed_pair": (_of_result(lambda span: span[::-1]), _transposed),
    "worst": (_worst,),
    "end_before_start": (
        lambda start, end, max_words: _best(
            np.where(np.tri(len(start), dtype=bool), _table(start, end), -np.inf)
        ),
    ),
    "fixed_length": (_fixed_length,),
    "last_starts_skipped": (_last_starts_skipped,),
    "all_the_scores": (_all_the_scores,),
    "one_token": (lambda start, end, max_words: np.array([(start + end).argmax()] * 2),),
    "start_first_relative": (_start_first_relative,),
    "never_below_zero": (_never_below_zero,),
}

EXERCISE = Exercise.from_file(__file__, ("span",), best_span, cases, MISTAKES)
