"""What students may hand in to the exercises of chapter 06, written from their statements alone."""

import numpy as np


class causal_mask:
    def right_compare(tgt_len, src_len):
        rows = np.arange(tgt_len)[:, None] + src_len - tgt_len
        return np.arange(src_len) <= rows

    def right_tri(tgt_len, src_len):
        return np.tri(src_len, dtype=bool)[src_len - tgt_len :]

    right_tri.slips = """
    last_columns: src_len - tgt_len : ==> :, src_len - tgt_len :
    everything: np.tri(src_len, dtype=bool)[src_len - tgt_len :] ==> np.ones((tgt_len, src_len), dtype=bool)
    diagonal: np.tri(src_len, dtype=bool)[src_len - tgt_len :] ==> np.eye(tgt_len, src_len, k=src_len - tgt_len, dtype=bool)
    """

    def minus_infinity(tgt_len, src_len):
        allowed = np.tril(np.ones((tgt_len, src_len), dtype=bool), k=src_len - tgt_len)
        return np.where(allowed, 0.0, -np.inf)

    def first_rows(tgt_len, src_len):
        return np.tril(np.ones((src_len, src_len), dtype=bool))[:tgt_len]

    def ones_as_arguments(tgt_len, src_len):
        return np.tril(np.ones(tgt_len, src_len), k=src_len - tgt_len).astype(bool)

    def loop_at_the_start(tgt_len, src_len):
        mask = np.zeros((tgt_len, src_len), dtype=bool)
        for i in range(tgt_len):
            mask[i, : i + 1] = True
        return mask

    loop_at_the_start.slips = r"""
    loop_off_by_one: mask[i, : i + 1] = True ==> for j in range(i):\n            mask[i, j] = True
    """

    def list_of_lists(tgt_len, src_len):
        return [
            [1 if j <= i + src_len - tgt_len else 0 for j in range(src_len)] for i in range(tgt_len)
        ]

    def strings(tgt_len, src_len):
        return np.array(
            [["True"] * (i + 1) + ["False"] * (src_len - i - 1) for i in range(tgt_len)]
        )

    def right_plain(tgt_len, src_len):
        return np.tril(np.ones((tgt_len, src_len), dtype=bool), k=src_len - tgt_len)

    right_plain.slips = """
    inverted: np.tril ==> np.triu && k=src_len - tgt_len ==> k=src_len - tgt_len + 1
    batch_axis: np.ones((tgt_len, src_len), dtype=bool) ==> np.ones((1, tgt_len, src_len), dtype=bool)
    aligned_at_the_start: np.tril(np.ones((tgt_len, src_len), dtype=bool), k=src_len - tgt_len) ==> np.tril(np.ones((tgt_len, src_len), dtype=bool))
    ones_and_zeros: np.ones((tgt_len, src_len), dtype=bool) ==> np.ones((tgt_len, src_len))
    integers: bool ==> int
    upper: np.tril(np.ones((tgt_len, src_len), dtype=bool), k=src_len - tgt_len) ==> np.triu(np.ones((tgt_len, src_len), dtype=bool))
    upper_with_offset: np.tril ==> np.triu
    strict: k=src_len - tgt_len ==> k=src_len - tgt_len - 1
    one_too_many: k=src_len - tgt_len ==> k=src_len - tgt_len + 1
    transposed: np.ones((tgt_len, src_len), dtype=bool) ==> np.ones((src_len, tgt_len), dtype=bool) && k=src_len - tgt_len ==> k=tgt_len - src_len
    offset_reversed: k=src_len - tgt_len ==> k=tgt_len - src_len
    square_of_the_source: np.tril(np.ones((tgt_len, src_len), dtype=bool), k=src_len - tgt_len) ==> np.tril(np.ones((src_len, src_len), dtype=bool))
    square_of_the_target: np.tril(np.ones((tgt_len, src_len), dtype=bool), k=src_len - tgt_len) ==> np.tril(np.ones((tgt_len, tgt_len), dtype=bool))
    floats_inverted: return ==> return 1 - && , dtype=bool ==>
    """

    def triangle_before_the_past(tgt_len, src_len):
        past = np.ones((tgt_len, src_len - tgt_len), dtype=bool)
        return np.hstack([np.tri(tgt_len, dtype=bool), past])

    triangle_before_the_past.slips = """
    memory_only: [np.tri(tgt_len, dtype=bool), past] ==> [past, np.ones((tgt_len, tgt_len), dtype=bool)]
    past_forbidden: np.ones ==> np.zeros && [np.tri(tgt_len, dtype=bool), past] ==> [past, np.tri(tgt_len, dtype=bool)]
    """

    def prints(tgt_len, src_len):
        mask = np.tril(np.ones((tgt_len, src_len), dtype=bool), k=src_len - tgt_len)
        str(mask)


class padding_mask:
    def added_and_one_too_many(lengths, seq_len):
        return np.where(np.arange(seq_len) <= lengths[:, None, None], 0, -np.inf)

    def lists_of_one_for_padding(lengths, seq_len):
        return [[[int(i >= length) for i in range(seq_len)]] for length in lengths]

    def right_compare(lengths, seq_len):
        return np.arange(seq_len)[None, None, :] < lengths[:, None, None]

    def right_loop(lengths, seq_len):
        mask = np.zeros((len(lengths), 1, seq_len), dtype=bool)
        for i, n in enumerate(lengths):
            mask[i, 0, :n] = True
        return mask

    right_loop.slips = r"""
    slice_by_an_array: for i, n in enumerate(lengths):\n        mask[i, 0, :n] = True ==> mask[:, 0, :lengths] = True
    loop_to_length_excluded: mask[i, 0, :n] = True ==> for j in range(1, n):\n            mask[i, 0, j] = True
    """

    def range_of_an_array(lengths, seq_len):
        mask = np.zeros((len(lengths), 1, seq_len), dtype=bool)
        for i in range(lengths):
            mask[i, 0, : lengths[i]] = True
        return mask

    def floats(lengths, seq_len):
        mask = np.zeros((len(lengths), 1, seq_len))
        for i, n in enumerate(lengths):
            mask[i, 0, :n] = 1
        return mask

    def repeated_for_queries(lengths, seq_len):
        real = np.arange(seq_len) < lengths[:, None]
        return np.repeat(real[:, None], seq_len, axis=1)

    def right_plain(lengths, seq_len):
        return (np.arange(seq_len) < lengths[:, None])[:, None]

    right_plain.slips = """
    one_and_infinity: (np.arange(seq_len) < lengths[:, None])[:, None] ==> np.where(np.arange(seq_len) < lengths[:, None, None], 1, -np.inf)
    zero_and_minus_one: (np.arange(seq_len) < lengths[:, None])[:, None] ==> (np.arange(seq_len) < lengths[:, None, None]) - 1.0
    inverted_integers: (np.arange(seq_len) < lengths[:, None])[:, None] ==> ~(np.arange(seq_len) < lengths[:, None, None]).astype(int)
    nested_lists: (np.arange(seq_len) < lengths[:, None])[:, None] ==> [[[i < length for i in range(seq_len)]] for length in lengths]
    tuples: (np.arange(seq_len) < lengths[:, None])[:, None] ==> tuple((tuple(i < length for i in range(seq_len)),) for length in lengths)
    no_query_axis: (np.arange(seq_len) < lengths[:, None])[:, None] ==> np.arange(seq_len) < lengths[:, None]
    axis_last: (np.arange(seq_len) < lengths[:, None])[:, None] ==> (np.arange(seq_len) < lengths[:, None])[..., None]
    axis_first: (np.arange(seq_len) < lengths[:, None])[:, None] ==> (np.arange(seq_len) < lengths[:, None])[None]
    inverted: np.arange(seq_len) < lengths[:, None] ==> np.arange(seq_len) >= lengths[:, None]
    one_too_many: np.arange(seq_len) < lengths[:, None] ==> np.arange(seq_len) <= lengths[:, None]
    one_too_few: lengths[:, None] ==> lengths[:, None] - 1
    counts_from_1: np.arange(seq_len) ==> np.arange(1, seq_len + 1)
    padding_in_front: np.arange(seq_len) < lengths[:, None] ==> np.arange(seq_len) >= seq_len - lengths[:, None]
    integers: (np.arange(seq_len) < lengths[:, None])[:, None] ==> (np.arange(seq_len) < lengths[:, None])[:, None].astype(int)
    transposed: np.arange(seq_len) < lengths[:, None] ==> np.arange(seq_len)[:, None] < lengths
    longest_as_width: np.arange(seq_len) ==> np.arange(lengths.max())
    only_the_last: np.arange(seq_len) < lengths[:, None] ==> np.arange(seq_len) == lengths[:, None] - 1
    first_padding: np.arange(seq_len) < lengths[:, None] ==> np.arange(seq_len) != lengths[:, None]
    minus_infinity: (np.arange(seq_len) < lengths[:, None])[:, None] ==> np.where((np.arange(seq_len) < lengths[:, None])[:, None], 0, -np.inf)
    ragged: (np.arange(seq_len) < lengths[:, None])[:, None] ==> np.array([[[True] * n] for n in lengths])
    ids_compared: (np.arange(seq_len) < lengths[:, None])[:, None] ==> np.broadcast_to(lengths != 0, (len(lengths), 1, seq_len))
    """

    def no_new_axis(lengths, seq_len):
        return np.arange(seq_len) < lengths

    no_new_axis.slips = r"""
    square: return ==> real = && lengths\n ==> lengths[:, None]\n    return real[:, None, :] & real[:, :, None]\n
    """

    def reshape_mixed(lengths, seq_len):
        return (np.arange(seq_len)[:, None] < lengths).reshape(len(lengths), 1, seq_len)

    def shortest_for_all(lengths, seq_len):
        return np.ones((len(lengths), 1, seq_len), dtype=bool) & (np.arange(seq_len) < min(lengths))

    shortest_for_all.slips = """
    longest_for_all: min(lengths) ==> lengths.max()
    """

    def causal(lengths, seq_len):
        real = (np.arange(seq_len) < lengths[:, None])[:, None]
        return real & np.tri(seq_len, dtype=bool)


class reachable:
    def right_power(mask, n_layers):
        step = mask.astype(int) + np.eye(len(mask), dtype=int)
        return np.linalg.matrix_power((step > 0).astype(float), n_layers) > 0

    def right_sets(mask, n_layers):
        n = len(mask)
        seen = [{i} for i in range(n)]
        for _ in range(n_layers):
            seen = [s | {j for k in s for j in range(n) if mask[k, j]} for s in seen]
        return np.array([[j in s for j in range(n)] for s in seen])

    def one_layer_more(mask, n_layers):
        step = (mask | np.eye(len(mask), dtype=bool)).astype(int)
        out = step
        for _ in range(n_layers):
            out = (out @ step > 0).astype(int)
        return out > 0

    def residual_once(mask, n_layers):
        out = np.linalg.matrix_power(mask.astype(int), n_layers)
        return (out > 0) | np.eye(len(mask), dtype=bool)

    def element_product(mask, n_layers):
        step = mask | np.eye(len(mask), dtype=bool)
        out = step
        for _ in range(n_layers - 1):
            out = out * step
        return out

    element_product.slips = r"""
    squared_each_time: step = ==> out = && \n    out = step ==> && * step ==> @ out
    """

    def two_layers(mask, n_layers):
        step = mask | np.eye(len(mask), dtype=bool)
        return step @ step

    two_layers.slips = r"""
    one_layer: step = ==> return && \n    return step @ step ==>
    only_the_mask: step = mask | np.eye(len(mask), dtype=bool)\n    return step @ step ==> return mask
    fixed_point: return step @ step ==> for _ in range(len(mask)):\n        step = step @ step\n    return step
    layers_times_mask: step @ step ==> (n_layers * step).astype(bool)
    matrix_power_of_booleans: step @ step ==> np.linalg.matrix_power(step, n_layers)[0]
    or_in_place_of_and: step @ step ==> step[:, :, None].any(1) | step[None].any(1)
    """

    def adds_the_identity_to_booleans(mask, n_layers):
        step = mask + np.eye(len(mask))
        return np.linalg.matrix_power(step, n_layers) >= 1.5

    def widened_band(mask, n_layers):
        out = mask.copy()
        for _ in range(n_layers - 1):
            out = out | np.roll(out, -1, axis=1)
        return out | np.eye(len(mask), dtype=bool)

    def writes_into_the_mask(mask, n_layers):
        np.fill_diagonal(mask, True)
        out = np.eye(len(mask), dtype=bool)
        for _ in range(n_layers):
            out = out @ mask
        return out

    def right_plain(mask, n_layers):
        step = (mask | np.eye(len(mask), dtype=bool)).astype(int)
        return np.linalg.matrix_power(step, n_layers) > 0

    right_plain.slips = """
    ones_and_zeros: np.linalg.matrix_power(step, n_layers) > 0 ==> (np.linalg.matrix_power(step, n_layers) > 0).astype(int)
    symmetric: mask | np.eye(len(mask), dtype=bool) ==> mask | mask.T | np.eye(len(mask), dtype=bool)
    one_layer_fewer: np.linalg.matrix_power(step, n_layers) ==> np.linalg.matrix_power(step, max(n_layers - 1, 0))
    transposed: mask | np.eye(len(mask), dtype=bool) ==> mask.T | np.eye(len(mask), dtype=bool)
    element_power: np.linalg.matrix_power(step, n_layers) ==> step**n_layers
    counts: np.linalg.matrix_power(step, n_layers) > 0 ==> np.linalg.matrix_power(step, n_layers)
    exclusive_or: mask | np.eye(len(mask), dtype=bool) ==> mask ^ np.eye(len(mask), dtype=bool)
    and_keyword: (mask | np.eye(len(mask), dtype=bool)).astype(int) ==> mask or np.eye(len(mask), dtype=bool)
    causal_by_habit: np.linalg.matrix_power(step, n_layers) > 0 ==> np.tril(np.linalg.matrix_power(step, n_layers) > 0)
    """

    def any_of_the_powers(mask, n_layers):
        m = mask.astype(int)
        return sum(np.linalg.matrix_power(m, k) for k in range(1, n_layers + 1)) > 0

    def in_place_while_walking(mask, n_layers):
        out = mask | np.eye(len(mask), dtype=bool)
        for _ in range(n_layers - 1):
            for i in range(len(mask)):
                for k in range(len(mask)):
                    if out[i, k]:
                        out[i] |= out[k]
        return out

    def threshold(mask, n_layers):
        step = (mask | np.eye(len(mask), dtype=bool)).astype(float)
        step = step / step.sum(-1, keepdims=True)
        return np.linalg.matrix_power(step, n_layers) > 0.1

    def forgotten_return(mask, n_layers):
        out = np.eye(len(mask), dtype=bool)
        for _ in range(n_layers):
            out = out | (out @ mask)

    def no_residual(mask, n_layers):
        out = np.eye(len(mask), dtype=int)
        for _ in range(n_layers):
            out = out @ mask.astype(int)
        return out > 0
