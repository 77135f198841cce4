"""What students may hand in to the exercises of chapter 07, written from their statements alone."""

import math

import numpy as np


class sinusoidal_positions:
    def right_columns(seq_len, d_model, base):
        angles = np.arange(seq_len)[:, None] / base ** (np.arange(0, d_model, 2) / d_model)
        table = np.empty((seq_len, d_model))
        table[:, 0::2] = np.sin(angles)
        table[:, 1::2] = np.cos(angles)
        return table

    right_columns.slips = """
    i_without_the_2: np.arange(0, d_model, 2) ==> np.arange(d_model // 2)
    counts_from_1: np.arange(seq_len) ==> np.arange(1, seq_len + 1)
    transposed: return table ==> return table.T
    degrees: np.sin(angles) ==> np.sin(np.deg2rad(angles)) && np.cos(angles) ==> np.cos(np.deg2rad(angles))
    no_new_axis: np.arange(seq_len)[:, None] ==> np.arange(seq_len)
    half_the_width: np.arange(0, d_model, 2) / d_model ==> np.arange(0, d_model, 2) / (d_model // 2)
    columns_start_at_1: np.arange(0, d_model, 2) ==> np.arange(2, d_model + 2, 2)
    """

    def right_complex(seq_len, d_model, base):
        rates = np.exp(-math.log(base) * np.arange(0, d_model, 2) / d_model)
        turns = np.exp(1j * np.outer(np.arange(seq_len), rates))
        return np.stack([turns.imag, turns.real], -1).reshape(seq_len, d_model)

    def halves(seq_len, d_model, base):
        angles = np.arange(seq_len)[:, None] / base ** (np.arange(0, d_model, 2) / d_model)
        return np.concatenate([np.sin(angles), np.cos(angles)], -1)

    halves.slips = """
    only_sines: np.concatenate([np.sin(angles), np.cos(angles)], -1) ==> np.repeat(np.sin(angles), 2, axis=-1)
    returns_angles: np.concatenate([np.sin(angles), np.cos(angles)], -1) ==> np.repeat(angles, 2, -1)
    only_half_the_columns: np.concatenate([np.sin(angles), np.cos(angles)], -1) ==> np.sin(angles)
    """

    def an_angle_for_each_column(seq_len, d_model, base):
        angles = np.arange(seq_len)[:, None] / base ** (np.arange(d_model) / d_model)
        return np.where(np.arange(d_model) % 2 == 0, np.sin(angles), np.cos(angles))

    def twice_the_column(seq_len, d_model, base):
        angles = np.arange(seq_len)[:, None] / base ** (2 * np.arange(d_model) / d_model)
        return np.where(np.arange(d_model) % 2 == 0, np.sin(angles), np.cos(angles))

    def rows_alternate(seq_len, d_model, base):
        angles = np.arange(seq_len)[:, None] / base ** (np.arange(0, d_model, 2) / d_model)
        table = np.zeros((seq_len, d_model))
        table[0::2] = np.sin(np.repeat(angles, 2, -1))[0::2]
        table[1::2] = np.cos(np.repeat(angles, 2, -1))[1::2]
        return table

    def integer_table(seq_len, d_model, base):
        table = np.zeros((seq_len, d_model), dtype=int)
        for pos in range(seq_len):
            for i in range(d_model // 2):
                angle = pos / base ** (2 * i / d_model)
                table[pos, 2 * i] = np.sin(angle)
                table[pos, 2 * i + 1] = np.cos(angle)
        return table

    def whole_division(seq_len, d_model, base):
        table = np.zeros((seq_len, d_model))
        for pos in range(seq_len):
            for i in range(d_model // 2):
                angle = pos / base ** (2 * i // d_model)
                table[pos, 2 * i] = np.sin(angle)
                table[pos, 2 * i + 1] = np.cos(angle)
        return table

    whole_division.slips = """
    precedence: pos / base ** (2 * i // d_model) ==> pos / base**2 * i / d_model
    overwritten_columns: 2 * i // d_model ==> 2 * i / d_model && table[pos, 2 * i] ==> table[pos, i] && 2 * i + 1 ==> i + 1
    loop_past_the_end: d_model // 2 ==> d_model && 2 * i // d_model ==> 2 * i / d_model
    """

    def math_sin(seq_len, d_model, base):
        angles = np.arange(seq_len)[:, None] / base ** (np.arange(0, d_model, 2) / d_model)
        table = np.empty((seq_len, d_model))
        table[:, 0::2] = math.sin(angles)
        table[:, 1::2] = math.cos(angles)
        return table

    math_sin.slips = """
    cosine_first: math.sin ==> np.cos && math.cos ==> np.sin
    """

    def multiplied(seq_len, d_model, base):
        angles = np.arange(seq_len)[:, None] * base ** (np.arange(0, d_model, 2) / d_model)
        table = np.empty((seq_len, d_model))
        table[:, 0::2] = np.sin(angles)
        table[:, 1::2] = np.cos(angles)
        return table

    def base_10000(seq_len, d_model, base):
        angles = np.arange(seq_len)[:, None] / 10000 ** (np.arange(0, d_model, 2) / d_model)
        table = np.empty((seq_len, d_model))
        table[:, 0::2] = np.sin(angles)
        table[:, 1::2] = np.cos(angles)
        return table

    def frequency_by_linspace(seq_len, d_model, base):
        rates = base ** -np.linspace(0, 1, d_model // 2)
        angles = np.arange(seq_len)[:, None] * rates
        table = np.empty((seq_len, d_model))
        table[:, 0::2] = np.sin(angles)
        table[:, 1::2] = np.cos(angles)
        return table

    def two_pi(seq_len, d_model, base):
        rates = base ** (np.arange(0, d_model, 2) / d_model)
        angles = 2 * np.pi * np.arange(seq_len)[:, None] / rates
        table = np.empty((seq_len, d_model))
        table[:, 0::2] = np.sin(angles)
        table[:, 1::2] = np.cos(angles)
        return table

    def paper_exponent_of_the_cosine(seq_len, d_model, base):
        table = np.zeros((seq_len, d_model))
        for pos in range(seq_len):
            for i in range(0, d_model, 2):
                table[pos, i] = np.sin(pos / base ** (i / d_model))
                table[pos, i + 1] = np.cos(pos / base ** ((i + 1) / d_model))
        return table

    paper_exponent_of_the_cosine.slips = """
    tutorial_doubling: i / d_model ==> 2 * i / d_model && (i + 1) / d_model ==> 2 * i / d_model
    """


def _angles(x, positions, base):
    d = x.shape[-1]
    return positions[:, None] / base ** (np.arange(0, d, 2) / d)


class rotate:
    def right_stack(x, positions, base):
        angle = _angles(x, positions, base)
        even, odd = x[..., 0::2], x[..., 1::2]
        c, s = np.cos(angle), np.sin(angle)
        return np.stack([even * c - odd * s, even * s + odd * c], -1).reshape(x.shape)

    right_stack.slips = """
    clockwise: [even * c - odd * s, even * s + odd * c] ==> [even * c + odd * s, odd * c - even * s]
    joined_in_halves: stack ==> concatenate && .reshape(x.shape) ==>
    counted_positions: _angles(x, positions, base) ==> _angles(x, np.arange(x.shape[-2]), base)
    both_signs_minus: even * s + odd * c ==> even * s - odd * c
    both_signs_plus: even * c - odd * s ==> even * c + odd * s
    sine_and_cosine_exchanged: c, s ==> s, c
    stacked_on_the_wrong_axis: -1 ==> -2
    not_reshaped: .reshape(x.shape) ==>
    slices_without_dots: ..., 0::2 ==> :, 0::2 && ..., 1::2 ==> :, 1::2
    positions_from_1: _angles(x, positions, base) ==> _angles(x, positions + 1, base)
    """

    def base_10000(x, positions, base):
        angle = _angles(x, positions, 10000)
        even, odd = x[..., 0::2], x[..., 1::2]
        c, s = np.cos(angle), np.sin(angle)
        return np.stack([even * c - odd * s, even * s + odd * c], -1).reshape(x.shape)

    def right_complex(x, positions, base):
        z = (x[..., 0::2] + 1j * x[..., 1::2]) * np.exp(1j * _angles(x, positions, base))
        out = np.empty(x.shape)
        out[..., 0::2], out[..., 1::2] = z.real, z.imag
        return out

    def halves(x, positions, base):
        angle = _angles(x, positions, base)
        half = x.shape[-1] // 2
        first, second = x[..., :half], x[..., half:]
        c, s = np.cos(angle), np.sin(angle)
        return np.concatenate([first * c - second * s, first * s + second * c], -1)

    def second_uses_the_new_first(x, positions, base):
        angle = _angles(x, positions, base)
        out = x.copy()
        c, s = np.cos(angle), np.sin(angle)
        out[..., 0::2] = out[..., 0::2] * c - out[..., 1::2] * s
        out[..., 1::2] = out[..., 0::2] * s + out[..., 1::2] * c
        return out

    def in_place(x, positions, base):
        angle = _angles(x, positions, base)
        even, odd = x[..., 0::2].copy(), x[..., 1::2].copy()
        c, s = np.cos(angle), np.sin(angle)
        x[..., 0::2] = even * c - odd * s
        x[..., 1::2] = even * s + odd * c
        return x

    def i_without_the_2(x, positions, base):
        d = x.shape[-1]
        angle = positions[:, None] / base ** (np.arange(d // 2) / d)
        even, odd = x[..., 0::2], x[..., 1::2]
        c, s = np.cos(angle), np.sin(angle)
        return np.stack([even * c - odd * s, even * s + odd * c], -1).reshape(x.shape)

    i_without_the_2.slips = """
    no_axis: positions[:, None] ==> positions && np.arange(d // 2) ==> np.arange(0, d, 2)
    half_the_width: np.arange(d // 2) / d ==> 2 * np.arange(d // 2) / (d // 2)
    """

    def multiplied(x, positions, base):
        d = x.shape[-1]
        angle = positions[:, None] * base ** (np.arange(0, d, 2) / d)
        even, odd = x[..., 0::2], x[..., 1::2]
        c, s = np.cos(angle), np.sin(angle)
        return np.stack([even * c - odd * s, even * s + odd * c], -1).reshape(x.shape)

    def added(x, positions, base):
        angle = _angles(x, positions, base)
        table = np.empty((len(positions), x.shape[-1]))
        table[:, 0::2] = np.sin(angle)
        table[:, 1::2] = np.cos(angle)
        return x + table

    def an_angle_for_each_component(x, positions, base):
        d = x.shape[-1]
        angle = positions[:, None] / base ** (np.arange(d) / d)
        turned = np.empty(x.shape)
        turned[..., 0::2], turned[..., 1::2] = -x[..., 1::2], x[..., 0::2]
        return x * np.cos(angle) + turned * np.sin(angle)

    def wrong_swap(x, positions, base):
        angle = np.repeat(_angles(x, positions, base), 2, -1)
        turned = np.empty(x.shape)
        turned[..., 0::2], turned[..., 1::2] = x[..., 1::2], x[..., 0::2]
        return x * np.cos(angle) + turned * np.sin(angle)

    def tiled_angles(x, positions, base):
        angle = np.tile(_angles(x, positions, base), 2)
        turned = np.empty(x.shape)
        turned[..., 0::2], turned[..., 1::2] = -x[..., 1::2], x[..., 0::2]
        return x * np.cos(angle) + turned * np.sin(angle)

    def two_axes_only(x, positions, base):
        n, d = x.shape
        out = np.zeros((n, d))
        for p in range(n):
            for i in range(d // 2):
                a = positions[p] / base ** (2 * i / d)
                out[p, 2 * i] = x[p, 2 * i] * np.cos(a) - x[p, 2 * i + 1] * np.sin(a)
                out[p, 2 * i + 1] = x[p, 2 * i] * np.sin(a) + x[p, 2 * i + 1] * np.cos(a)
        return out

    def position_by_the_first_axis(x, positions, base):
        out = np.zeros(x.shape)
        d = x.shape[-1]
        for p in range(len(x)):
            a = positions[p] / base ** (np.arange(0, d, 2) / d)
            even, odd = x[p, ..., 0::2], x[p, ..., 1::2]
            out[p, ..., 0::2] = even * np.cos(a) - odd * np.sin(a)
            out[p, ..., 1::2] = even * np.sin(a) + odd * np.cos(a)
        return out

    def integer_copy(x, positions, base):
        angle = _angles(x, positions, base)
        out = np.zeros(x.shape, dtype=int)
        out[..., 0::2] = x[..., 0::2] * np.cos(angle) - x[..., 1::2] * np.sin(angle)
        out[..., 1::2] = x[..., 0::2] * np.sin(angle) + x[..., 1::2] * np.cos(angle)
        return out

    def complex_returned(x, positions, base):
        z = x[..., 0::2] + 1j * x[..., 1::2]
        return z * np.exp(1j * _angles(x, positions, base))

    def one_angle(x, positions, base):
        even, odd = x[..., 0::2], x[..., 1::2]
        c, s = np.cos(positions)[:, None], np.sin(positions)[:, None]
        return np.stack([even * c - odd * s, even * s + odd * c], -1).reshape(x.shape)


class alibi_bias:
    def right_outer(slopes, tgt_len, src_len):
        rows = np.arange(src_len - tgt_len, src_len)
        return -np.multiply.outer(slopes, np.abs(np.subtract.outer(rows, np.arange(src_len))))

    def right_loop(slopes, tgt_len, src_len):
        out = np.zeros((len(slopes), tgt_len, src_len))
        for h, m in enumerate(slopes):
            for i in range(tgt_len):
                for j in range(src_len):
                    out[h, i, j] = -m * abs(i + src_len - tgt_len - j)
        return out

    right_loop.slips = """
    integers: np.zeros((len(slopes), tgt_len, src_len)) ==> np.zeros((len(slopes), tgt_len, src_len), dtype=int)
    """

    def aligned_at_the_start(slopes, tgt_len, src_len):
        d = np.abs(np.arange(tgt_len)[:, None] - np.arange(src_len))
        return -slopes[:, None, None] * d

    aligned_at_the_start.slips = """
    offset_reversed: np.arange(src_len) ==> (np.arange(src_len) + src_len - tgt_len)
    square_of_the_target: np.arange(src_len) ==> np.arange(tgt_len)
    """

    def signed(slopes, tgt_len, src_len):
        d = np.arange(src_len - tgt_len, src_len)[:, None] - np.arange(src_len)
        return -slopes[:, None, None] * d

    signed.slips = """
    past_only: -slopes[:, None, None] * d ==> -slopes[:, None, None] * np.maximum(d, 0)
    causal: -slopes[:, None, None] * d ==> np.where(d >= 0, -slopes[:, None, None] * d, -np.inf)
    squared: -slopes[:, None, None] * d ==> -slopes[:, None, None] * d**2
    """

    def signed_other_way(slopes, tgt_len, src_len):
        d = np.arange(src_len) - np.arange(src_len - tgt_len, src_len)[:, None]
        return -slopes[:, None, None] * d

    def right_plain(slopes, tgt_len, src_len):
        d = np.abs(np.arange(src_len - tgt_len, src_len)[:, None] - np.arange(src_len))
        return -slopes[:, None, None] * d

    right_plain.slips = """
    off_by_one: np.arange(src_len - tgt_len, src_len)[:, None] ==> np.arange(tgt_len)[:, None] + src_len - tgt_len + 1
    square_only: np.arange(src_len - tgt_len, src_len) ==> np.arange(src_len)
    no_axes: -slopes[:, None, None] ==> -slopes
    positive: -slopes[:, None, None] ==> slopes[:, None, None]
    first_slope: -slopes[:, None, None] * d ==> np.repeat((-slopes[0] * d)[None], len(slopes), axis=0)
    heads_last: -slopes[:, None, None] * d ==> -d[..., None] * slopes
    one_axis_missing: :, None, None ==> :, None
    transposed: -slopes[:, None, None] * d ==> -slopes[:, None, None] * d.T
    powers_of_the_slopes: -slopes[:, None, None] * d ==> -(slopes[:, None, None] ** d)
    divided: -slopes[:, None, None] * d ==> -d / slopes[:, None, None]
    distance_only: -slopes[:, None, None] * d ==> np.repeat(-d[None], len(slopes), axis=0)
    summed_heads: -slopes[:, None, None] * d ==> (-slopes[:, None, None] * d).sum(0)
    exponential: -slopes[:, None, None] * d ==> np.exp(-slopes[:, None, None] * d)
    """

    def own_slopes(slopes, tgt_len, src_len):
        n = len(slopes)
        slopes = 2.0 ** (-8 * np.arange(1, n + 1) / n)
        d = np.abs(np.arange(src_len - tgt_len, src_len)[:, None] - np.arange(src_len))
        return -slopes[:, None, None] * d

    def distance_plus_1(slopes, tgt_len, src_len):
        d = np.abs(np.arange(src_len - tgt_len, src_len)[:, None] - np.arange(src_len)) + 1
        return -slopes[:, None, None] * d

    def first_rows(slopes, tgt_len, src_len):
        d = np.abs(np.arange(src_len)[:, None] - np.arange(src_len))[:tgt_len]
        return -slopes[:, None, None] * d

    def from_the_end(slopes, tgt_len, src_len):
        return -slopes[:, None, None] * np.abs(np.arange(src_len)[::-1])[None, None, :]

    def list_product(slopes, tgt_len, src_len):
        return [-m * [abs(i - j) for j in range(src_len)] for m in slopes for i in range(tgt_len)]

    def normalised_distance(slopes, tgt_len, src_len):
        d = np.abs(np.arange(src_len - tgt_len, src_len)[:, None] - np.arange(src_len)) / src_len
        return -slopes[:, None, None] * d
