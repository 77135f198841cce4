"""What students may hand in to the exercises of chapter 16, written from their statements alone."""

import numpy as np


class step_intensity:
    def right_plain(n_parameters, n_layers, d_model, d_kv, bits, context, batches):
        flops = batches * (2 * n_parameters + 4 * n_layers * context * d_model)
        moved = n_parameters * bits / 8 + batches * context * n_layers * 2 * d_kv * 2
        return flops / moved

    def right_loop(n_parameters, n_layers, d_model, d_kv, bits, context, batches):
        out = []
        for b in batches:
            kv_bytes = 16 / 8 * 2 * d_kv * n_layers * context * b
            f = b * 2 * n_parameters + b * n_layers * 2 * (2 * context * d_model)
            out.append(f / (n_parameters * bits / 8 + kv_bytes))
        return np.array(out)

    def bytes_per_flop(n_parameters, n_layers, d_model, d_kv, bits, context, batches):
        flops = batches * (2 * n_parameters + 4 * n_layers * context * d_model)
        moved = n_parameters * bits / 8 + batches * context * n_layers * 2 * d_kv * 2
        return moved / flops

    def weights_read_by_each(n_parameters, n_layers, d_model, d_kv, bits, context, batches):
        flops = batches * (2 * n_parameters + 4 * n_layers * context * d_model)
        moved = batches * (n_parameters * bits / 8 + context * n_layers * 2 * d_kv * 2)
        return flops / moved

    def one_cache(n_parameters, n_layers, d_model, d_kv, bits, context, batches):
        flops = batches * (2 * n_parameters + 4 * n_layers * context * d_model)
        return flops / (n_parameters * bits / 8 + context * n_layers * 2 * d_kv * 2)

    def weights_alone(n_parameters, n_layers, d_model, d_kv, bits, context, batches):
        flops = batches * (2 * n_parameters + 4 * n_layers * context * d_model)
        return flops / (n_parameters * bits / 8)

    def flops_of_one(n_parameters, n_layers, d_model, d_kv, bits, context, batches):
        flops = 2 * n_parameters + 4 * n_layers * context * d_model
        moved = n_parameters * bits / 8 + batches * context * n_layers * 2 * d_kv * 2
        return flops / moved

    def keys_without_values(n_parameters, n_layers, d_model, d_kv, bits, context, batches):
        flops = batches * (2 * n_parameters + 4 * n_layers * context * d_model)
        return flops / (n_parameters * bits / 8 + batches * context * n_layers * d_kv * 2)

    def one_byte_each(n_parameters, n_layers, d_model, d_kv, bits, context, batches):
        flops = batches * (2 * n_parameters + 4 * n_layers * context * d_model)
        return flops / (n_parameters * bits / 8 + batches * context * n_layers * d_kv * 2)

    def cache_of_a_layer(n_parameters, n_layers, d_model, d_kv, bits, context, batches):
        flops = batches * (2 * n_parameters + 4 * n_layers * context * d_model)
        return flops / (n_parameters * bits / 8 + batches * context * 2 * d_kv * 2)

    def cache_of_a_token(n_parameters, n_layers, d_model, d_kv, bits, context, batches):
        flops = batches * (2 * n_parameters + 4 * n_layers * context * d_model)
        return flops / (n_parameters * bits / 8 + batches * n_layers * 2 * d_kv * 2)

    def cache_of_queries(n_parameters, n_layers, d_model, d_kv, bits, context, batches):
        flops = batches * (2 * n_parameters + 4 * n_layers * context * d_model)
        return flops / (n_parameters * bits / 8 + batches * context * n_layers * 4 * d_model)

    def in_bits(n_parameters, n_layers, d_model, d_kv, bits, context, batches):
        flops = batches * (2 * n_parameters + 4 * n_layers * context * d_model)
        moved = n_parameters * bits + batches * context * n_layers * 2 * d_kv * 16
        return flops / moved

    def weights_in_bits(n_parameters, n_layers, d_model, d_kv, bits, context, batches):
        flops = batches * (2 * n_parameters + 4 * n_layers * context * d_model)
        return flops / (n_parameters * bits + batches * context * n_layers * 4 * d_kv)

    def cache_rounded_too(n_parameters, n_layers, d_model, d_kv, bits, context, batches):
        flops = batches * (2 * n_parameters + 4 * n_layers * context * d_model)
        moved = (n_parameters + batches * context * n_layers * 2 * d_kv) * bits / 8
        return flops / moved

    def two_bytes_a_weight(n_parameters, n_layers, d_model, d_kv, bits, context, batches):
        flops = batches * (2 * n_parameters + 4 * n_layers * context * d_model)
        return flops / (2 * n_parameters + batches * context * n_layers * 4 * d_kv)

    def multiplications_alone(n_parameters, n_layers, d_model, d_kv, bits, context, batches):
        flops = batches * (n_parameters + 2 * n_layers * context * d_model)
        return flops / (n_parameters * bits / 8 + batches * context * n_layers * 4 * d_kv)

    def six(n_parameters, n_layers, d_model, d_kv, bits, context, batches):
        flops = batches * (6 * n_parameters + 4 * n_layers * context * d_model)
        return flops / (n_parameters * bits / 8 + batches * context * n_layers * 4 * d_kv)

    def no_attention(n_parameters, n_layers, d_model, d_kv, bits, context, batches):
        flops = 2 * n_parameters * batches
        return flops / (n_parameters * bits / 8 + batches * context * n_layers * 4 * d_kv)

    def scores_alone(n_parameters, n_layers, d_model, d_kv, bits, context, batches):
        flops = batches * (2 * n_parameters + 2 * n_layers * context * d_model)
        return flops / (n_parameters * bits / 8 + batches * context * n_layers * 4 * d_kv)

    def narrow_attention(n_parameters, n_layers, d_model, d_kv, bits, context, batches):
        flops = batches * (2 * n_parameters + 4 * n_layers * context * d_kv)
        return flops / (n_parameters * bits / 8 + batches * context * n_layers * 4 * d_kv)


class online_tile:
    def right_plain(peak, total, output, scores, values):
        m = max(peak, scores.max())
        p = np.exp(scores - m)
        c = np.exp(peak - m)
        return m, c * total + p.sum(), c * output + p @ values

    def right_where(peak, total, output, scores, values):
        m = np.maximum(peak, np.max(scores))
        c = np.where(np.isinf(peak), 0.0, np.exp(peak - m))
        w = np.exp(scores - m)
        return m, total * c + np.sum(w), output * c + (w[:, None] * values).sum(0)

    def no_correction(peak, total, output, scores, values):
        m = max(peak, scores.max())
        p = np.exp(scores - m)
        return m, total + p.sum(), output + p @ values

    def output_left(peak, total, output, scores, values):
        m = max(peak, scores.max())
        p, c = np.exp(scores - m), np.exp(peak - m)
        return m, c * total + p.sum(), output + p @ values

    def sum_left(peak, total, output, scores, values):
        m = max(peak, scores.max())
        p, c = np.exp(scores - m), np.exp(peak - m)
        return m, total + p.sum(), c * output + p @ values

    def wrong_way(peak, total, output, scores, values):
        m = max(peak, scores.max())
        p, c = np.exp(scores - m), np.exp(m - peak)
        return m, c * total + p.sum(), c * output + p @ values

    def maximum_of_the_tile(peak, total, output, scores, values):
        m = scores.max()
        p, c = np.exp(scores - m), np.exp(peak - m)
        return m, c * total + p.sum(), c * output + p @ values

    def returns_the_old(peak, total, output, scores, values):
        m = max(peak, scores.max())
        p, c = np.exp(scores - m), np.exp(peak - m)
        return peak, c * total + p.sum(), c * output + p @ values

    def minus_the_old(peak, total, output, scores, values):
        m = max(peak, scores.max())
        p, c = np.exp(scores - peak), np.exp(peak - m)
        return m, c * total + p.sum(), c * output + p @ values

    def each_its_own_maximum(peak, total, output, scores, values):
        m = max(peak, scores.max())
        p, c = np.exp(scores - scores.max()), np.exp(peak - m)
        return m, c * total + p.sum(), c * output + p @ values

    def no_maximum(peak, total, output, scores, values):
        m = max(peak, scores.max())
        p, c = np.exp(scores), np.exp(peak - m)
        return m, c * total + p.sum(), c * output + p @ values

    def no_maximum_no_correction(peak, total, output, scores, values):
        p = np.exp(scores)
        return max(peak, scores.max()), total + p.sum(), output + p @ values

    def this_tile_only(peak, total, output, scores, values):
        m = max(peak, scores.max())
        p = np.exp(scores - m)
        return m, p.sum(), p @ values

    def all_corrected(peak, total, output, scores, values):
        m = max(peak, scores.max())
        p, c = np.exp(scores - m), np.exp(peak - m)
        return m, c * (total + p.sum()), c * (output + p @ values)

    def divides(peak, total, output, scores, values):
        m = max(peak, scores.max())
        p, c = np.exp(scores - m), np.exp(peak - m)
        total = c * total + p.sum()
        return m, total, (c * output + p @ values) / total

    def softmax_of_the_tile(peak, total, output, scores, values):
        m = max(peak, scores.max())
        p, c = np.exp(scores - m), np.exp(peak - m)
        p = p / p.sum()
        return m, c * total + p.sum(), c * output + p @ values

    def adds_scores(peak, total, output, scores, values):
        m = max(peak, scores.max())
        c = np.exp(peak - m)
        return m, c * total + scores.sum(), c * output + scores @ values

    def plain_values(peak, total, output, scores, values):
        m = max(peak, scores.max())
        p, c = np.exp(scores - m), np.exp(peak - m)
        return m, c * total + p.sum(), c * output + values.sum(0)

    def base_two(peak, total, output, scores, values):
        m = max(peak, scores.max())
        p, c = 2.0 ** (scores - m), 2.0 ** (peak - m)
        return m, c * total + p.sum(), c * output + p @ values


class quantise_row:
    def right_plain(row, bits, group):
        g = row.reshape(-1, group)
        s = np.abs(g).max(axis=1) / (2 ** (bits - 1) - 1)
        return np.round(g / s[:, None]).ravel(), s

    def right_loop(row, bits, group):
        q, s = np.zeros(len(row), dtype=int), []
        for i in range(0, len(row), group):
            part = row[i : i + group]
            s.append(np.max(np.abs(part)) / (2 ** (bits - 1) - 1))
            q[i : i + group] = np.rint(part / s[-1]).astype(int)
        return q, np.array(s)

    def right_repeat(row, bits, group):
        s = np.abs(row.reshape(-1, group)).max(-1) / (2 ** (bits - 1) - 1)
        return np.round(row / np.repeat(s, group)), s

    def no_groups(row, bits, group):
        s = np.abs(row).max() / (2 ** (bits - 1) - 1)
        return np.round(row / s), np.full(len(row) // group, s)

    def no_groups_one_scale(row, bits, group):
        s = np.abs(row).max() / (2 ** (bits - 1) - 1)
        return np.round(row / s), np.array([s])

    def unrounded(row, bits, group):
        g = row.reshape(-1, group)
        s = np.abs(g).max(axis=1) / (2 ** (bits - 1) - 1)
        return (g / s[:, None]).ravel(), s

    def as_type(row, bits, group):
        g = row.reshape(-1, group)
        s = np.abs(g).max(axis=1) / (2 ** (bits - 1) - 1)
        return (g / s[:, None]).astype(int).ravel(), s

    def floored(row, bits, group):
        g = row.reshape(-1, group)
        s = np.abs(g).max(axis=1) / (2 ** (bits - 1) - 1)
        return np.floor(g / s[:, None]).ravel(), s

    def eight_for_seven(row, bits, group):
        g = row.reshape(-1, group)
        s = np.abs(g).max(axis=1) / 2 ** (bits - 1)
        return np.round(g / s[:, None]).ravel(), s

    def unsigned(row, bits, group):
        g = row.reshape(-1, group)
        s = np.abs(g).max(axis=1) / (2**bits - 1)
        return np.round(g / s[:, None]).ravel(), s

    def int8(row, bits, group):
        g = row.reshape(-1, group)
        s = np.abs(g).max(axis=1) / 127
        return np.round(g / s[:, None]).ravel(), s

    def divided_by_bits(row, bits, group):
        g = row.reshape(-1, group)
        s = np.abs(g).max(axis=1) / bits
        return np.round(g / s[:, None]).ravel(), s

    def plain_max(row, bits, group):
        g = row.reshape(-1, group)
        s = g.max(axis=1) / (2 ** (bits - 1) - 1)
        return np.round(g / s[:, None]).ravel(), s

    def mean_magnitude(row, bits, group):
        g = row.reshape(-1, group)
        s = np.abs(g).mean(axis=1) / (2 ** (bits - 1) - 1)
        return np.round(g / s[:, None]).ravel(), s

    def max_minus_min(row, bits, group):
        g = row.reshape(-1, group)
        s = (g.max(axis=1) - g.min(axis=1)) / (2 ** (bits - 1) - 1)
        return np.round(g / s[:, None]).ravel(), s

    def min_max(row, bits, group):
        g = row.reshape(-1, group)
        low = g.min(axis=1)
        s = (g.max(axis=1) - low) / (2**bits - 1)
        return np.round((g - low[:, None]) / s[:, None]).ravel(), s

    def dequantised(row, bits, group):
        g = row.reshape(-1, group)
        s = np.abs(g).max(axis=1) / (2 ** (bits - 1) - 1)
        return (np.round(g / s[:, None]) * s[:, None]).ravel(), s

    def inverse_scale(row, bits, group):
        g = row.reshape(-1, group)
        s = (2 ** (bits - 1) - 1) / np.abs(g).max(axis=1)
        return np.round(g * s[:, None]).ravel(), s

    def times_the_scale(row, bits, group):
        g = row.reshape(-1, group)
        s = np.abs(g).max(axis=1) / (2 ** (bits - 1) - 1)
        return np.round(g * s[:, None]).ravel(), s

    def between_one_and_minus_one(row, bits, group):
        g = row.reshape(-1, group)
        s = np.abs(g).max(axis=1)
        return np.round(g / s[:, None]).ravel(), s

    def returns_the_largest(row, bits, group):
        g = row.reshape(-1, group)
        top = np.abs(g).max(axis=1)
        return np.round(g / (top / (2 ** (bits - 1) - 1))[:, None]).ravel(), top

    def columns(row, bits, group):
        g = row.reshape(group, -1)
        s = np.abs(g).max(axis=0) / (2 ** (bits - 1) - 1)
        return np.round(g / s).ravel(), s

    def number_of_groups(row, bits, group):
        g = row.reshape(group, -1)
        s = np.abs(g).max(axis=1) / (2 ** (bits - 1) - 1)
        return np.round(g / s[:, None]).ravel(), s

    def without_sign(row, bits, group):
        g = np.abs(row.reshape(-1, group))
        s = g.max(axis=1) / (2 ** (bits - 1) - 1)
        return np.round(g / s[:, None]).ravel(), s
