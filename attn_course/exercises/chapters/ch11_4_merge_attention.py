"""Chapter 11, `merge_attention`: two parts of the keys put together, and the ways to get it wrong."""

import numpy as np

from attn.reference import merge_attention, partial_attention, softmax
from attn_course.exercises.spec import Exercise


def cases(seed):
    """Return pairs of parts: either may hold the largest score, or hold no key for a query.

    Parameters
    ----------
    seed : int
        Seed of the random numbers; the shapes are always the same.

    Returns
    -------
    list of dict
        With the keys ``peak_a``, ``total_a``, ``output_a``, ``peak_b``, ``total_b`` and
        ``output_b``.
    """
    rng = np.random.default_rng(seed)

    def draw(tgt_len, lengths, d_v, lifts, *, batch=(), blind=()):
        """Return a case; ``lifts[i]`` is added to the scores of query i in the second part."""
        case = {}
        query = np.concatenate(
            [rng.uniform(0.5, 1.5, (*batch, tgt_len, 2)), np.ones((*batch, tgt_len, 1))], axis=-1
        )
        lifts = np.resize(lifts, tgt_len)
        for part, length in zip("ab", lengths, strict=True):
            key = rng.uniform(-1, 1, (*batch, length, 3))
            value = rng.uniform(0.5, 2, (*batch, length, d_v)) * rng.choice((-1, 1), (length, 1))
            seen = np.ones((tgt_len, length), dtype=bool)
            seen[[row for row, parts in blind if part in parts]] = False
            peak, total, output = partial_attention(query, key, value, seen)
            lift = lifts[:, None] if part == "b" else 0
            case |= {f"peak_{part}": peak + lift, f"total_{part}": total, f"output_{part}": output}
        return case

    return [
        draw(1, (2, 2), 2, [1.5]),
        draw(2, (3, 2), 2, [-1.5, 2.0]),
        draw(3, (2, 4), 2, [2.5, -1.0, 0.7]),
        draw(3, (3, 3), 4, [-2.0, 1.0, -0.6], batch=(2,)),
        draw(4, (2, 5), 3, [1.2, -2.2, 0.8, -0.5], batch=(2, 2)),
        draw(3, (4, 3), 2, [1.4, -1.3, 2.1], blind=[(1, "a"), (2, "b")]),
        draw(3, (3, 4), 3, [-1.1, 1.7, 0.9], blind=[(0, "ab")]),
    ]


def _scaled(peak, scale_a, scale_b, answer=lambda peak, total, output: (peak, total, output)):
    """Return a merge with another peak, other factors, or another use of the three results."""

    def merge(peak_a, total_a, output_a, peak_b, total_b, output_b):
        m = peak(peak_a, peak_b)
        a, b = scale_a(peak_a, peak_b, m), scale_b(peak_a, peak_b, m)
        return answer(m, a * total_a + b * total_b, a * output_a + b * output_b)

    return merge


def _larger(peak_a, peak_b):
    return np.maximum(peak_a, peak_b)


def _finite(m):
    return np.where(m == -np.inf, 0, m)


def _down_a(peak_a, peak_b, m):
    return np.exp(peak_a - _finite(m))


def _down_b(peak_a, peak_b, m):
    return np.exp(peak_b - _finite(m))


def _up(peak, m):
    return np.where(peak == -np.inf, 0, np.exp(m - np.where(peak == -np.inf, m, peak)))


def _one(peak_a, peak_b, m):
    return 1.0


def _right(answer):
    """Return a merge whose three results are right, but are returned in another form."""
    return _scaled(_larger, _down_a, _down_b, answer)


def _totals_only(peak_a, total_a, output_a, peak_b, total_b, output_b):
    peak, total, _ = merge_attention(peak_a, total_a, output_a, peak_b, total_b, output_b)
    return peak, total, output_a + output_b


def _outputs_only(peak_a, total_a, output_a, peak_b, total_b, output_b):
    peak, _, output = merge_attention(peak_a, total_a, output_a, peak_b, total_b, output_b)
    return peak, total_a + total_b, output


def _weighed_twice(peak_a, total_a, output_a, peak_b, total_b, output_b):
    return merge_attention(peak_a, total_a, total_a * output_a, peak_b, total_b, total_b * output_b)


def _mean_of_the_two(peak_a, total_a, output_a, peak_b, total_b, output_b):
    peak, total, _ = merge_attention(peak_a, total_a, output_a, peak_b, total_b, output_b)
    return peak, total, (output_a / total_a + output_b / total_b) / 2


def _half_the_sum(peak_a, total_a, output_a, peak_b, total_b, output_b):
    peak, total, output = merge_attention(peak_a, total_a, output_a, peak_b, total_b, output_b)
    return peak, total / 2, output / 2


def _shares(peak_a, total_a, output_a, peak_b, total_b, output_b):
    peak, total, _ = merge_attention(peak_a, total_a, output_a, peak_b, total_b, output_b)
    a, b = np.moveaxis(softmax(np.concatenate([peak_a, peak_b], axis=-1)), -1, 0)[..., None]
    return peak, total, a * output_a + b * output_b


def _product_of_totals(peak_a, total_a, output_a, peak_b, total_b, output_b):
    peak, _, output = merge_attention(peak_a, total_a, output_a, peak_b, total_b, output_b)
    return peak, total_a * total_b, output


def _stacked(peak_a, total_a, output_a, peak_b, total_b, output_b):
    return (
        np.maximum(peak_a, peak_b),
        np.concatenate([total_a, total_b], axis=-1),
        np.concatenate([output_a, output_b], axis=-1),
    )


def _larger_only(peak_a, total_a, output_a, peak_b, total_b, output_b):
    first = peak_a >= peak_b
    total = np.where(first, total_a, total_b)
    return np.maximum(peak_a, peak_b), total, np.where(first, output_a, output_b)


def _on_the_scale_of_the_first(peak_a, total_a, output_a, peak_b, total_b, output_b):
    factor = np.exp(peak_b - _finite(peak_a))
    total, output = total_a + factor * total_b, output_a + factor * output_b
    return np.maximum(peak_a, peak_b), total, output


def _joined(peak_a, total_a, output_a, peak_b, total_b, output_b):
    parts = (peak_a, peak_b), (total_a, total_b), (output_a, output_b)
    return tuple(np.concatenate(pair, axis=-1) for pair in parts)


MISTAKES = {
    "no_correction": (_scaled(_larger, _one, _one),),
    "output_left_behind": (_totals_only,),
    "total_left_behind": (_outputs_only,),
    "sign_reversed": (
        _scaled(
            _larger,
            lambda peak_a, peak_b, m: np.exp(m - peak_a),
            lambda peak_a, peak_b, m: np.exp(m - peak_b),
        ),
        _scaled(
            _larger,
            lambda peak_a, peak_b, m: _up(peak_a, _finite(m)),
            lambda peak_a, peak_b, m: _up(peak_b, _finite(m)),
        ),
    ),
    "only_the_first": (_scaled(_larger, _down_a, _one),),
    "only_the_second": (_scaled(_larger, _one, _down_b),),
    "factors_swapped": (_scaled(_larger, _down_b, _down_a),),
    "divided_already": (
        _right(lambda m, total, output: (m, total, output / np.where(total == 0, 1, total))),
    ),
    "weighed_twice": (_weighed_twice,),
    "parts_alike": (_mean_of_the_two, _half_the_sum),
    "softmax_of_the_peaks": (_shares,),
    "smaller_peak": (_scaled(np.minimum, _down_a, _down_b),),
    "one_peak_for_all": (
        _scaled(
            lambda peak_a, peak_b: np.full_like(peak_a, max(peak_a.max(), peak_b.max())),
            _down_a,
            _down_b,
        ),
    ),
    "peaks_summed": (_scaled(lambda peak_a, peak_b: peak_a + peak_b, _down_a, _down_b),),
    "peak_not_updated": (
        lambda *parts: (parts[0], *merge_attention(*parts)[1:]),
        lambda *parts: (parts[3], *merge_attention(*parts)[1:]),
    ),
    "log_of_the_sum": (_right(lambda m, total, output: (m + np.log(total), total, output)),),
    "no_exponential": (
        _scaled(
            _larger,
            lambda peak_a, peak_b, m: peak_a - m,
            lambda peak_a, peak_b, m: peak_b - m,
        ),
        _scaled(
            _larger,
            lambda peak_a, peak_b, m: peak_a / m,
            lambda peak_a, peak_b, m: peak_b / m,
        ),
    ),
    "totals_multiplied": (_product_of_totals,),
    "side_by_side": (
        _joined,
        _stacked,
    ),
    "nothing_minus_nothing": (
        _scaled(
            _larger,
            lambda peak_a, peak_b, m: np.exp(peak_a - m),
            lambda peak_a, peak_b, m: np.exp(peak_b - m),
        ),
    ),
    "larger_part_only": (_larger_only,),
    "scale_of_the_first": (_on_the_scale_of_the_first,),
    "no_maximum_subtracted": (
        _scaled(
            _larger,
            lambda peak_a, peak_b, m: np.exp(peak_a),
            lambda peak_a, peak_b, m: np.exp(peak_b),
        ),
    ),
    "peak_made_finite": (
        lambda *parts: (_finite(merge_attention(*parts)[0]), *merge_attention(*parts)[1:]),
        lambda *parts: (np.nan_to_num(merge_attention(*parts)[0]), *merge_attention(*parts)[1:]),
    ),
    "base_two": (
        _scaled(
            _larger,
            lambda peak_a, peak_b, m: 2.0 ** (peak_a - _finite(m)),
            lambda peak_a, peak_b, m: 2.0 ** (peak_b - _finite(m)),
        ),
    ),
    "log_of_both_peaks": (_scaled(np.logaddexp, _down_a, _down_b),),
    "peaks_divided": (
        _scaled(
            _larger,
            lambda peak_a, peak_b, m: np.exp(peak_a / m),
            lambda peak_a, peak_b, m: np.exp(peak_b / m),
        ),
    ),
}

EXERCISE = Exercise.from_file(
    __file__, ("peak", "total", "output"), merge_attention, cases, MISTAKES
)
