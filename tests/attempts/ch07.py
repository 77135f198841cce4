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

    def right_complex(seq_len, d_model, base):
        rates = np.exp(-math.log(base) * np.arange(0, d_model, 2) / d_model)
        turns = np.exp(1j * np.outer(np.arange(seq_len), rates))
        return np.stack([turns.imag, turns.real], -1).reshape(seq_len, d_model)

    def halves(seq_len, d_model, base):
        angles = np.arange(seq_len)[:, None] / base ** (np.arange(0, d_model, 2) / d_model)
        return np.concatenate([np.sin(angles), np.cos(angles)], -1)

    def cosine_first(seq_len, d_model, base):
        angles = np.arange(seq_len)[:, None] / base ** (np.arange(0, d_model, 2) / d_model)
        table = np.empty((seq_len, d_model))
        table[:, 0::2] = np.cos(angles)
        table[:, 1::2] = np.sin(angles)
        return table

    def an_angle_for_each_column(seq_len, d_model, base):
        angles = np.arange(seq_len)[:, None] / base ** (np.arange(d_model) / d_model)
        return np.where(np.arange(d_model) % 2 == 0, np.sin(angles), np.cos(angles))

    def twice_the_column(seq_len, d_model, base):
        angles = np.arange(seq_len)[:, None] / base ** (2 * np.arange(d_model) / d_model)
        return np.where(np.arange(d_model) % 2 == 0, np.sin(angles), np.cos(angles))

    def i_without_the_2(seq_len, d_model, base):
        angles = np.arange(seq_len)[:, None] / base ** (np.arange(d_model // 2) / d_model)
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

    def counts_from_1(seq_len, d_model, base):
        angles = np.arange(1, seq_len + 1)[:, None] / base ** (np.arange(0, d_model, 2) / d_model)
        table = np.empty((seq_len, d_model))
        table[:, 0::2] = np.sin(angles)
        table[:, 1::2] = np.cos(angles)
        return table

    def only_sines(seq_len, d_model, base):
        angles = np.arange(seq_len)[:, None] / base ** (np.arange(0, d_model, 2) / d_model)
        return np.repeat(np.sin(angles), 2, axis=-1)

    def multiplied(seq_len, d_model, base):
        angles = np.arange(seq_len)[:, None] * base ** (np.arange(0, d_model, 2) / d_model)
        table = np.empty((seq_len, d_model))
        table[:, 0::2] = np.sin(angles)
        table[:, 1::2] = np.cos(angles)
        return table

    def transposed(seq_len, d_model, base):
        angles = np.arange(seq_len)[:, None] / base ** (np.arange(0, d_model, 2) / d_model)
        table = np.empty((seq_len, d_model))
        table[:, 0::2] = np.sin(angles)
        table[:, 1::2] = np.cos(angles)
        return table.T

    def degrees(seq_len, d_model, base):
        angles = np.arange(seq_len)[:, None] / base ** (np.arange(0, d_model, 2) / d_model)
        table = np.empty((seq_len, d_model))
        table[:, 0::2] = np.sin(np.deg2rad(angles))
        table[:, 1::2] = np.cos(np.deg2rad(angles))
        return table

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

    def precedence(seq_len, d_model, base):
        table = np.zeros((seq_len, d_model))
        for pos in range(seq_len):
            for i in range(d_model // 2):
                angle = pos / base**2 * i / d_model
                table[pos, 2 * i] = np.sin(angle)
                table[pos, 2 * i + 1] = np.cos(angle)
        return table

    def math_sin(seq_len, d_model, base):
        angles = np.arange(seq_len)[:, None] / base ** (np.arange(0, d_model, 2) / d_model)
        table = np.empty((seq_len, d_model))
        table[:, 0::2] = math.sin(angles)
        table[:, 1::2] = math.cos(angles)
        return table

    def no_new_axis(seq_len, d_model, base):
        angles = np.arange(seq_len) / base ** (np.arange(0, d_model, 2) / d_model)
        table = np.empty((seq_len, d_model))
        table[:, 0::2] = np.sin(angles)
        table[:, 1::2] = np.cos(angles)
        return table

    def half_the_width(seq_len, d_model, base):
        angles = np.arange(seq_len)[:, None] / base ** (np.arange(0, d_model, 2) / (d_model // 2))
        table = np.empty((seq_len, d_model))
        table[:, 0::2] = np.sin(angles)
        table[:, 1::2] = np.cos(angles)
        return table

    def overwritten_columns(seq_len, d_model, base):
        table = np.zeros((seq_len, d_model))
        for pos in range(seq_len):
            for i in range(d_model // 2):
                angle = pos / base ** (2 * i / d_model)
                table[pos, i] = np.sin(angle)
                table[pos, i + 1] = np.cos(angle)
        return table

    def loop_past_the_end(seq_len, d_model, base):
        table = np.zeros((seq_len, d_model))
        for pos in range(seq_len):
            for i in range(d_model):
                angle = pos / base ** (2 * i / d_model)
                table[pos, 2 * i] = np.sin(angle)
                table[pos, 2 * i + 1] = np.cos(angle)
        return table

    def returns_angles(seq_len, d_model, base):
        angles = np.arange(seq_len)[:, None] / base ** (np.arange(0, d_model, 2) / d_model)
        return np.repeat(angles, 2, -1)

    def only_half_the_columns(seq_len, d_model, base):
        angles = np.arange(seq_len)[:, None] / base ** (np.arange(0, d_model, 2) / d_model)
        return np.sin(angles)

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

    def columns_start_at_1(seq_len, d_model, base):
        angles = np.arange(seq_len)[:, None] / base ** (np.arange(2, d_model + 2, 2) / d_model)
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

    def tutorial_doubling(seq_len, d_model, base):
        table = np.zeros((seq_len, d_model))
        for pos in range(seq_len):
            for i in range(0, d_model, 2):
                table[pos, i] = np.sin(pos / base ** (2 * i / d_model))
                table[pos, i + 1] = np.cos(pos / base ** (2 * i / d_model))
        return table


def _angles(x, positions, base):
    d = x.shape[-1]
    return positions[:, None] / base ** (np.arange(0, d, 2) / d)


class rotate:
    def right_stack(x, positions, base):
        angle = _angles(x, positions, base)
        even, odd = x[..., 0::2], x[..., 1::2]
        c, s = np.cos(angle), np.sin(angle)
        return np.stack([even * c - odd * s, even * s + odd * c], -1).reshape(x.shape)

    def right_complex(x, positions, base):
        z = (x[..., 0::2] + 1j * x[..., 1::2]) * np.exp(1j * _angles(x, positions, base))
        out = np.empty(x.shape)
        out[..., 0::2], out[..., 1::2] = z.real, z.imag
        return out

    def clockwise(x, positions, base):
        angle = _angles(x, positions, base)
        even, odd = x[..., 0::2], x[..., 1::2]
        c, s = np.cos(angle), np.sin(angle)
        return np.stack([even * c + odd * s, odd * c - even * s], -1).reshape(x.shape)

    def halves(x, positions, base):
        angle = _angles(x, positions, base)
        half = x.shape[-1] // 2
        first, second = x[..., :half], x[..., half:]
        c, s = np.cos(angle), np.sin(angle)
        return np.concatenate([first * c - second * s, first * s + second * c], -1)

    def joined_in_halves(x, positions, base):
        angle = _angles(x, positions, base)
        even, odd = x[..., 0::2], x[..., 1::2]
        c, s = np.cos(angle), np.sin(angle)
        return np.concatenate([even * c - odd * s, even * s + odd * c], -1)

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

    def base_10000(x, positions, base):
        angle = _angles(x, positions, 10000)
        even, odd = x[..., 0::2], x[..., 1::2]
        c, s = np.cos(angle), np.sin(angle)
        return np.stack([even * c - odd * s, even * s + odd * c], -1).reshape(x.shape)

    def i_without_the_2(x, positions, base):
        d = x.shape[-1]
        angle = positions[:, None] / base ** (np.arange(d // 2) / d)
        even, odd = x[..., 0::2], x[..., 1::2]
        c, s = np.cos(angle), np.sin(angle)
        return np.stack([even * c - odd * s, even * s + odd * c], -1).reshape(x.shape)

    def counted_positions(x, positions, base):
        angle = _angles(x, np.arange(x.shape[-2]), base)
        even, odd = x[..., 0::2], x[..., 1::2]
        c, s = np.cos(angle), np.sin(angle)
        return np.stack([even * c - odd * s, even * s + odd * c], -1).reshape(x.shape)

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

    def no_axis(x, positions, base):
        d = x.shape[-1]
        angle = positions / base ** (np.arange(0, d, 2) / d)
        even, odd = x[..., 0::2], x[..., 1::2]
        c, s = np.cos(angle), np.sin(angle)
        return np.stack([even * c - odd * s, even * s + odd * c], -1).reshape(x.shape)

    def both_signs_minus(x, positions, base):
        angle = _angles(x, positions, base)
        even, odd = x[..., 0::2], x[..., 1::2]
        c, s = np.cos(angle), np.sin(angle)
        return np.stack([even * c - odd * s, even * s - odd * c], -1).reshape(x.shape)

    def both_signs_plus(x, positions, base):
        angle = _angles(x, positions, base)
        even, odd = x[..., 0::2], x[..., 1::2]
        c, s = np.cos(angle), np.sin(angle)
        return np.stack([even * c + odd * s, even * s + odd * c], -1).reshape(x.shape)

    def sine_and_cosine_exchanged(x, positions, base):
        angle = _angles(x, positions, base)
        even, odd = x[..., 0::2], x[..., 1::2]
        s, c = np.cos(angle), np.sin(angle)
        return np.stack([even * c - odd * s, even * s + odd * c], -1).reshape(x.shape)

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

    def stacked_on_the_wrong_axis(x, positions, base):
        angle = _angles(x, positions, base)
        even, odd = x[..., 0::2], x[..., 1::2]
        c, s = np.cos(angle), np.sin(angle)
        return np.stack([even * c - odd * s, even * s + odd * c], -2).reshape(x.shape)

    def not_reshaped(x, positions, base):
        angle = _angles(x, positions, base)
        even, odd = x[..., 0::2], x[..., 1::2]
        c, s = np.cos(angle), np.sin(angle)
        return np.stack([even * c - odd * s, even * s + odd * c], -1)

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

    def slices_without_dots(x, positions, base):
        angle = _angles(x, positions, base)
        even, odd = x[:, 0::2], x[:, 1::2]
        c, s = np.cos(angle), np.sin(angle)
        return np.stack([even * c - odd * s, even * s + odd * c], -1).reshape(x.shape)

    def integer_copy(x, positions, base):
        angle = _angles(x, positions, base)
        out = np.zeros(x.shape, dtype=int)
        out[..., 0::2] = x[..., 0::2] * np.cos(angle) - x[..., 1::2] * np.sin(angle)
        out[..., 1::2] = x[..., 0::2] * np.sin(angle) + x[..., 1::2] * np.cos(angle)
        return out

    def positions_from_1(x, positions, base):
        angle = _angles(x, positions + 1, base)
        even, odd = x[..., 0::2], x[..., 1::2]
        c, s = np.cos(angle), np.sin(angle)
        return np.stack([even * c - odd * s, even * s + odd * c], -1).reshape(x.shape)

    def complex_returned(x, positions, base):
        z = x[..., 0::2] + 1j * x[..., 1::2]
        return z * np.exp(1j * _angles(x, positions, base))

    def one_angle(x, positions, base):
        even, odd = x[..., 0::2], x[..., 1::2]
        c, s = np.cos(positions)[:, None], np.sin(positions)[:, None]
        return np.stack([even * c - odd * s, even * s + odd * c], -1).reshape(x.shape)

    def half_the_width(x, positions, base):
        d = x.shape[-1]
        angle = positions[:, None] / base ** (2 * np.arange(d // 2) / (d // 2))
        even, odd = x[..., 0::2], x[..., 1::2]
        c, s = np.cos(angle), np.sin(angle)
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

    def aligned_at_the_start(slopes, tgt_len, src_len):
        d = np.abs(np.arange(tgt_len)[:, None] - np.arange(src_len))
        return -slopes[:, None, None] * d

    def positive(slopes, tgt_len, src_len):
        d = np.abs(np.arange(src_len - tgt_len, src_len)[:, None] - np.arange(src_len))
        return slopes[:, None, None] * d

    def signed(slopes, tgt_len, src_len):
        d = np.arange(src_len - tgt_len, src_len)[:, None] - np.arange(src_len)
        return -slopes[:, None, None] * d

    def signed_other_way(slopes, tgt_len, src_len):
        d = np.arange(src_len) - np.arange(src_len - tgt_len, src_len)[:, None]
        return -slopes[:, None, None] * d

    def past_only(slopes, tgt_len, src_len):
        d = np.arange(src_len - tgt_len, src_len)[:, None] - np.arange(src_len)
        return -slopes[:, None, None] * np.maximum(d, 0)

    def causal(slopes, tgt_len, src_len):
        d = np.arange(src_len - tgt_len, src_len)[:, None] - np.arange(src_len)
        return np.where(d >= 0, -slopes[:, None, None] * d, -np.inf)

    def first_slope(slopes, tgt_len, src_len):
        d = np.abs(np.arange(src_len - tgt_len, src_len)[:, None] - np.arange(src_len))
        return np.repeat((-slopes[0] * d)[None], len(slopes), axis=0)

    def heads_last(slopes, tgt_len, src_len):
        d = np.abs(np.arange(src_len - tgt_len, src_len)[:, None] - np.arange(src_len))
        return -d[..., None] * slopes

    def no_axes(slopes, tgt_len, src_len):
        d = np.abs(np.arange(src_len - tgt_len, src_len)[:, None] - np.arange(src_len))
        return -slopes * d

    def one_axis_missing(slopes, tgt_len, src_len):
        d = np.abs(np.arange(src_len - tgt_len, src_len)[:, None] - np.arange(src_len))
        return -slopes[:, None] * d

    def transposed(slopes, tgt_len, src_len):
        d = np.abs(np.arange(src_len - tgt_len, src_len)[:, None] - np.arange(src_len))
        return -slopes[:, None, None] * d.T

    def squared(slopes, tgt_len, src_len):
        d = np.arange(src_len - tgt_len, src_len)[:, None] - np.arange(src_len)
        return -slopes[:, None, None] * d**2

    def own_slopes(slopes, tgt_len, src_len):
        n = len(slopes)
        slopes = 2.0 ** (-8 * np.arange(1, n + 1) / n)
        d = np.abs(np.arange(src_len - tgt_len, src_len)[:, None] - np.arange(src_len))
        return -slopes[:, None, None] * d

    def powers_of_the_slopes(slopes, tgt_len, src_len):
        d = np.abs(np.arange(src_len - tgt_len, src_len)[:, None] - np.arange(src_len))
        return -(slopes[:, None, None] ** d)

    def divided(slopes, tgt_len, src_len):
        d = np.abs(np.arange(src_len - tgt_len, src_len)[:, None] - np.arange(src_len))
        return -d / slopes[:, None, None]

    def offset_reversed(slopes, tgt_len, src_len):
        d = np.abs(np.arange(tgt_len)[:, None] - (np.arange(src_len) + src_len - tgt_len))
        return -slopes[:, None, None] * d

    def off_by_one(slopes, tgt_len, src_len):
        d = np.abs(np.arange(tgt_len)[:, None] + src_len - tgt_len + 1 - np.arange(src_len))
        return -slopes[:, None, None] * d

    def distance_plus_1(slopes, tgt_len, src_len):
        d = np.abs(np.arange(src_len - tgt_len, src_len)[:, None] - np.arange(src_len)) + 1
        return -slopes[:, None, None] * d

    def square_only(slopes, tgt_len, src_len):
        d = np.abs(np.arange(src_len)[:, None] - np.arange(src_len))
        return -slopes[:, None, None] * d

    def square_of_the_target(slopes, tgt_len, src_len):
        d = np.abs(np.arange(tgt_len)[:, None] - np.arange(tgt_len))
        return -slopes[:, None, None] * d

    def first_rows(slopes, tgt_len, src_len):
        d = np.abs(np.arange(src_len)[:, None] - np.arange(src_len))[:tgt_len]
        return -slopes[:, None, None] * d

    def integers(slopes, tgt_len, src_len):
        out = np.zeros((len(slopes), tgt_len, src_len), dtype=int)
        for h, m in enumerate(slopes):
            for i in range(tgt_len):
                for j in range(src_len):
                    out[h, i, j] = -m * abs(i + src_len - tgt_len - j)
        return out

    def distance_only(slopes, tgt_len, src_len):
        d = np.abs(np.arange(src_len - tgt_len, src_len)[:, None] - np.arange(src_len))
        return np.repeat(-d[None], len(slopes), axis=0)

    def summed_heads(slopes, tgt_len, src_len):
        d = np.abs(np.arange(src_len - tgt_len, src_len)[:, None] - np.arange(src_len))
        return (-slopes[:, None, None] * d).sum(0)

    def exponential(slopes, tgt_len, src_len):
        d = np.abs(np.arange(src_len - tgt_len, src_len)[:, None] - np.arange(src_len))
        return np.exp(-slopes[:, None, None] * d)

    def from_the_end(slopes, tgt_len, src_len):
        return -slopes[:, None, None] * np.abs(np.arange(src_len)[::-1])[None, None, :]

    def list_product(slopes, tgt_len, src_len):
        return [-m * [abs(i - j) for j in range(src_len)] for m in slopes for i in range(tgt_len)]

    def normalised_distance(slopes, tgt_len, src_len):
        d = np.abs(np.arange(src_len - tgt_len, src_len)[:, None] - np.arange(src_len)) / src_len
        return -slopes[:, None, None] * d
