"""What students may hand in to the exercises of chapter 16, written from their statements alone."""

import numpy as np


class step_intensity:
    def right_plain(n_parameters, n_layers, d_model, d_kv, bits, context, batches):
        flops = batches * (2 * n_parameters + 4 * n_layers * context * d_model)
        moved = n_parameters * bits / 8 + batches * context * n_layers * 2 * d_kv * 2
        return flops / moved

    right_plain.slips = r"""
    bytes_per_flop: flops / moved ==> moved / flops
    in_bits: / 8 + ==> + && 2\n    return ==> 16\n    return
    """

    def right_loop(n_parameters, n_layers, d_model, d_kv, bits, context, batches):
        out = []
        for b in batches:
            kv_bytes = 16 / 8 * 2 * d_kv * n_layers * context * b
            f = b * 2 * n_parameters + b * n_layers * 2 * (2 * context * d_model)
            out.append(f / (n_parameters * bits / 8 + kv_bytes))
        return np.array(out)

    def weights_read_by_each(n_parameters, n_layers, d_model, d_kv, bits, context, batches):
        flops = batches * (2 * n_parameters + 4 * n_layers * context * d_model)
        moved = batches * (n_parameters * bits / 8 + context * n_layers * 2 * d_kv * 2)
        return flops / moved

    def flops_of_one(n_parameters, n_layers, d_model, d_kv, bits, context, batches):
        flops = 2 * n_parameters + 4 * n_layers * context * d_model
        moved = n_parameters * bits / 8 + batches * context * n_layers * 2 * d_kv * 2
        return flops / moved

    def cache_rounded_too(n_parameters, n_layers, d_model, d_kv, bits, context, batches):
        flops = batches * (2 * n_parameters + 4 * n_layers * context * d_model)
        moved = (n_parameters + batches * context * n_layers * 2 * d_kv) * bits / 8
        return flops / moved

    def right_too(n_parameters, n_layers, d_model, d_kv, bits, context, batches):
        flops = batches * (2 * n_parameters + 4 * n_layers * context * d_model)
        return flops / (n_parameters * bits / 8 + batches * context * n_layers * 4 * d_kv)

    right_too.slips = """
    one_cache: batches * context * n_layers * 4 * d_kv ==> context * n_layers * 2 * d_kv * 2
    cache_of_a_token: batches * context * n_layers * 4 * d_kv ==> batches * n_layers * 2 * d_kv * 2
    multiplications_alone: 2 * n_parameters ==> n_parameters && 4 * n_layers ==> 2 * n_layers
    narrow_attention: 4 * n_layers * context * d_model ==> 4 * n_layers * context * d_kv
    weights_alone: n_parameters * bits / 8 + batches * context * n_layers * 4 * d_kv ==> n_parameters * bits / 8
    keys_without_values: batches * context * n_layers * 4 * d_kv ==> batches * context * n_layers * d_kv * 2
    one_byte_each: batches * context * n_layers * 4 * d_kv ==> batches * context * n_layers * d_kv * 2
    cache_of_a_layer: batches * context * n_layers * 4 * d_kv ==> batches * context * 2 * d_kv * 2
    cache_of_queries: batches * context * n_layers * 4 * d_kv ==> batches * context * n_layers * 4 * d_model
    weights_in_bits: n_parameters * bits / 8 ==> n_parameters * bits
    two_bytes_a_weight: n_parameters * bits / 8 ==> 2 * n_parameters
    six: 2 * n_parameters ==> 6 * n_parameters
    no_attention: batches * (2 * n_parameters + 4 * n_layers * context * d_model) ==> 2 * n_parameters * batches
    scores_alone: 4 * n_layers ==> 2 * n_layers
    """


class online_tile:
    def right_plain(peak, total, output, scores, values):
        m = max(peak, scores.max())
        p = np.exp(scores - m)
        c = np.exp(peak - m)
        return m, c * total + p.sum(), c * output + p @ values

    right_plain.slips = r"""
    returns_the_old: \n    p ==> \n    p, c && \n    c = ==> , && return m ==> return peak
    adds_scores: \n    p = np.exp(scores - m) ==> && p.sum() ==> scores.sum() && p @ values ==> scores @ values
    """

    def right_where(peak, total, output, scores, values):
        m = np.maximum(peak, np.max(scores))
        c = np.where(np.isinf(peak), 0.0, np.exp(peak - m))
        w = np.exp(scores - m)
        return m, total * c + np.sum(w), output * c + (w[:, None] * values).sum(0)

    def right_too(peak, total, output, scores, values):
        m = max(peak, scores.max())
        p, c = np.exp(scores - m), np.exp(peak - m)
        return m, c * total + p.sum(), c * output + p @ values

    right_too.slips = r"""
    sum_left: c * total ==> total
    base_two: np.exp(scores - m), np.exp(peak - m) ==> 2.0 ** (scores - m), 2.0 ** (peak - m)
    output_left: c * output ==> output
    no_correction: p, c = np.exp(scores - m), np.exp(peak - m) ==> p = np.exp(scores - m) && c * total ==> total && c * output ==> output
    wrong_way: peak - m ==> m - peak
    maximum_of_the_tile: max(peak, scores.max()) ==> scores.max()
    minus_the_old: scores - m ==> scores - peak
    each_its_own_maximum: scores - m ==> scores - scores.max()
    no_maximum: scores - m ==> scores
    all_corrected: m, c * total + p.sum(), c * output + p @ values ==> m, c * (total + p.sum()), c * (output + p @ values)
    softmax_of_the_tile: return ==> p = p / p.sum()\n    return
    plain_values: p @ values ==> values.sum(0)
    """

    def this_tile_only(peak, total, output, scores, values):
        m = max(peak, scores.max())
        p = np.exp(scores - m)
        return m, p.sum(), p @ values

    def no_maximum_no_correction(peak, total, output, scores, values):
        p = np.exp(scores)
        return max(peak, scores.max()), total + p.sum(), output + p @ values

    def divides(peak, total, output, scores, values):
        m = max(peak, scores.max())
        p, c = np.exp(scores - m), np.exp(peak - m)
        total = c * total + p.sum()
        return m, total, (c * output + p @ values) / total


class quantise_row:
    def right_plain(row, bits, group):
        g = row.reshape(-1, group)
        s = np.abs(g).max(axis=1) / (2 ** (bits - 1) - 1)
        return np.round(g / s[:, None]).ravel(), s

    right_plain.slips = """
    unrounded: np.round(g / s[:, None]) ==> (g / s[:, None])
    as_type: np.round(g / s[:, None]) ==> (g / s[:, None]).astype(int)
    floored: np.round ==> np.floor
    eight_for_seven: 2 ** (bits - 1) - 1 ==> 2 ** (bits - 1)
    unsigned: bits - 1 ==> bits
    int8: 2 ** (bits - 1) - 1 ==> 127
    divided_by_bits: 2 ** (bits - 1) - 1 ==> bits
    plain_max: np.abs(g) ==> g
    mean_magnitude: np.abs(g).max ==> np.abs(g).mean
    max_minus_min: np.abs(g).max(axis=1) ==> (g.max(axis=1) - g.min(axis=1))
    dequantised: np.round(g / s[:, None]) ==> (np.round(g / s[:, None]) * s[:, None])
    times_the_scale: g / s[:, None] ==> g * s[:, None]
    between_one_and_minus_one: np.abs(g).max(axis=1) / (2 ** (bits - 1) - 1) ==> np.abs(g).max(axis=1)
    columns: row.reshape(-1, group) ==> row.reshape(group, -1) && axis=1 ==> axis=0 && s[:, None] ==> s
    number_of_groups: row.reshape(-1, group) ==> row.reshape(group, -1)
    without_sign: row.reshape(-1, group) ==> np.abs(row.reshape(-1, group)) && np.abs(g) ==> g
    """

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

    def min_max(row, bits, group):
        g = row.reshape(-1, group)
        low = g.min(axis=1)
        s = (g.max(axis=1) - low) / (2**bits - 1)
        return np.round((g - low[:, None]) / s[:, None]).ravel(), s

    def inverse_scale(row, bits, group):
        g = row.reshape(-1, group)
        s = (2 ** (bits - 1) - 1) / np.abs(g).max(axis=1)
        return np.round(g * s[:, None]).ravel(), s

    def returns_the_largest(row, bits, group):
        g = row.reshape(-1, group)
        top = np.abs(g).max(axis=1)
        return np.round(g / (top / (2 ** (bits - 1) - 1))[:, None]).ravel(), top
