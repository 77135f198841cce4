"""What students may hand in to the exercises of chapter 06, written from their statements alone."""

import numpy as np


class causal_mask:
    def right_compare(tgt_len, src_len):
        rows = np.arange(tgt_len)[:, None] + src_len - tgt_len
        return np.arange(src_len) <= rows

    def right_tri(tgt_len, src_len):
        return np.tri(src_len, dtype=bool)[src_len - tgt_len :]

    def aligned_at_the_start(tgt_len, src_len):
        return np.tril(np.ones((tgt_len, src_len), dtype=bool))

    def ones_and_zeros(tgt_len, src_len):
        return np.tril(np.ones((tgt_len, src_len)), k=src_len - tgt_len)

    def integers(tgt_len, src_len):
        return np.tril(np.ones((tgt_len, src_len), dtype=int), k=src_len - tgt_len)

    def inverted(tgt_len, src_len):
        return np.triu(np.ones((tgt_len, src_len), dtype=bool), k=src_len - tgt_len + 1)

    def upper(tgt_len, src_len):
        return np.triu(np.ones((tgt_len, src_len), dtype=bool))

    def upper_with_offset(tgt_len, src_len):
        return np.triu(np.ones((tgt_len, src_len), dtype=bool), k=src_len - tgt_len)

    def strict(tgt_len, src_len):
        return np.tril(np.ones((tgt_len, src_len), dtype=bool), k=src_len - tgt_len - 1)

    def one_too_many(tgt_len, src_len):
        return np.tril(np.ones((tgt_len, src_len), dtype=bool), k=src_len - tgt_len + 1)

    def transposed(tgt_len, src_len):
        return np.tril(np.ones((src_len, tgt_len), dtype=bool), k=tgt_len - src_len)

    def offset_reversed(tgt_len, src_len):
        return np.tril(np.ones((tgt_len, src_len), dtype=bool), k=tgt_len - src_len)

    def minus_infinity(tgt_len, src_len):
        allowed = np.tril(np.ones((tgt_len, src_len), dtype=bool), k=src_len - tgt_len)
        return np.where(allowed, 0.0, -np.inf)

    def square_of_the_source(tgt_len, src_len):
        return np.tril(np.ones((src_len, src_len), dtype=bool))

    def square_of_the_target(tgt_len, src_len):
        return np.tril(np.ones((tgt_len, tgt_len), dtype=bool))

    def first_rows(tgt_len, src_len):
        return np.tril(np.ones((src_len, src_len), dtype=bool))[:tgt_len]

    def last_columns(tgt_len, src_len):
        return np.tri(src_len, dtype=bool)[:, src_len - tgt_len :]

    def ones_as_arguments(tgt_len, src_len):
        return np.tril(np.ones(tgt_len, src_len), k=src_len - tgt_len).astype(bool)

    def loop_off_by_one(tgt_len, src_len):
        mask = np.zeros((tgt_len, src_len), dtype=bool)
        for i in range(tgt_len):
            for j in range(i):
                mask[i, j] = True
        return mask

    def loop_at_the_start(tgt_len, src_len):
        mask = np.zeros((tgt_len, src_len), dtype=bool)
        for i in range(tgt_len):
            mask[i, : i + 1] = True
        return mask

    def list_of_lists(tgt_len, src_len):
        return [
            [1 if j <= i + src_len - tgt_len else 0 for j in range(src_len)] for i in range(tgt_len)
        ]

    def everything(tgt_len, src_len):
        return np.ones((tgt_len, src_len), dtype=bool)

    def diagonal(tgt_len, src_len):
        return np.eye(tgt_len, src_len, k=src_len - tgt_len, dtype=bool)

    def strings(tgt_len, src_len):
        return np.array(
            [["True"] * (i + 1) + ["False"] * (src_len - i - 1) for i in range(tgt_len)]
        )

    def batch_axis(tgt_len, src_len):
        return np.tril(np.ones((1, tgt_len, src_len), dtype=bool), k=src_len - tgt_len)

    def memory_only(tgt_len, src_len):
        past = np.ones((tgt_len, src_len - tgt_len), dtype=bool)
        return np.hstack([past, np.ones((tgt_len, tgt_len), dtype=bool)])

    def triangle_before_the_past(tgt_len, src_len):
        past = np.ones((tgt_len, src_len - tgt_len), dtype=bool)
        return np.hstack([np.tri(tgt_len, dtype=bool), past])

    def past_forbidden(tgt_len, src_len):
        past = np.zeros((tgt_len, src_len - tgt_len), dtype=bool)
        return np.hstack([past, np.tri(tgt_len, dtype=bool)])

    def floats_inverted(tgt_len, src_len):
        return 1 - np.tril(np.ones((tgt_len, src_len)), k=src_len - tgt_len)

    def prints(tgt_len, src_len):
        mask = np.tril(np.ones((tgt_len, src_len), dtype=bool), k=src_len - tgt_len)
        str(mask)


class padding_mask:
    def added_and_one_too_many(lengths, seq_len):
        return np.where(np.arange(seq_len) <= lengths[:, None, None], 0, -np.inf)

    def one_and_infinity(lengths, seq_len):
        return np.where(np.arange(seq_len) < lengths[:, None, None], 1, -np.inf)

    def zero_and_minus_one(lengths, seq_len):
        return (np.arange(seq_len) < lengths[:, None, None]) - 1.0

    def inverted_integers(lengths, seq_len):
        return ~(np.arange(seq_len) < lengths[:, None, None]).astype(int)

    def nested_lists(lengths, seq_len):
        return [[[i < length for i in range(seq_len)]] for length in lengths]

    def lists_of_one_for_padding(lengths, seq_len):
        return [[[int(i >= length) for i in range(seq_len)]] for length in lengths]

    def tuples(lengths, seq_len):
        return tuple((tuple(i < length for i in range(seq_len)),) for length in lengths)

    def right_compare(lengths, seq_len):
        return np.arange(seq_len)[None, None, :] < lengths[:, None, None]

    def right_loop(lengths, seq_len):
        mask = np.zeros((len(lengths), 1, seq_len), dtype=bool)
        for i, n in enumerate(lengths):
            mask[i, 0, :n] = True
        return mask

    def no_query_axis(lengths, seq_len):
        return np.arange(seq_len) < lengths[:, None]

    def axis_last(lengths, seq_len):
        return (np.arange(seq_len) < lengths[:, None])[..., None]

    def axis_first(lengths, seq_len):
        return (np.arange(seq_len) < lengths[:, None])[None]

    def inverted(lengths, seq_len):
        return (np.arange(seq_len) >= lengths[:, None])[:, None]

    def one_too_many(lengths, seq_len):
        return (np.arange(seq_len) <= lengths[:, None])[:, None]

    def one_too_few(lengths, seq_len):
        return (np.arange(seq_len) < lengths[:, None] - 1)[:, None]

    def counts_from_1(lengths, seq_len):
        return (np.arange(1, seq_len + 1) < lengths[:, None])[:, None]

    def padding_in_front(lengths, seq_len):
        return (np.arange(seq_len) >= seq_len - lengths[:, None])[:, None]

    def integers(lengths, seq_len):
        return (np.arange(seq_len) < lengths[:, None])[:, None].astype(int)

    def floats(lengths, seq_len):
        mask = np.zeros((len(lengths), 1, seq_len))
        for i, n in enumerate(lengths):
            mask[i, 0, :n] = 1
        return mask

    def square(lengths, seq_len):
        real = np.arange(seq_len) < lengths[:, None]
        return real[:, None, :] & real[:, :, None]

    def repeated_for_queries(lengths, seq_len):
        real = np.arange(seq_len) < lengths[:, None]
        return np.repeat(real[:, None], seq_len, axis=1)

    def no_new_axis(lengths, seq_len):
        return np.arange(seq_len) < lengths

    def reshape_mixed(lengths, seq_len):
        return (np.arange(seq_len)[:, None] < lengths).reshape(len(lengths), 1, seq_len)

    def transposed(lengths, seq_len):
        return (np.arange(seq_len)[:, None] < lengths)[:, None]

    def longest_for_all(lengths, seq_len):
        return np.ones((len(lengths), 1, seq_len), dtype=bool) & (
            np.arange(seq_len) < lengths.max()
        )

    def shortest_for_all(lengths, seq_len):
        return np.ones((len(lengths), 1, seq_len), dtype=bool) & (np.arange(seq_len) < min(lengths))

    def longest_as_width(lengths, seq_len):
        return (np.arange(lengths.max()) < lengths[:, None])[:, None]

    def only_the_last(lengths, seq_len):
        return (np.arange(seq_len) == lengths[:, None] - 1)[:, None]

    def first_padding(lengths, seq_len):
        return (np.arange(seq_len) != lengths[:, None])[:, None]

    def causal(lengths, seq_len):
        real = (np.arange(seq_len) < lengths[:, None])[:, None]
        return real & np.tri(seq_len, dtype=bool)

    def slice_by_an_array(lengths, seq_len):
        mask = np.zeros((len(lengths), 1, seq_len), dtype=bool)
        mask[:, 0, :lengths] = True
        return mask

    def range_of_an_array(lengths, seq_len):
        mask = np.zeros((len(lengths), 1, seq_len), dtype=bool)
        for i in range(lengths):
            mask[i, 0, : lengths[i]] = True
        return mask

    def minus_infinity(lengths, seq_len):
        return np.where((np.arange(seq_len) < lengths[:, None])[:, None], 0, -np.inf)

    def ragged(lengths, seq_len):
        return np.array([[[True] * n] for n in lengths])

    def loop_to_length_excluded(lengths, seq_len):
        mask = np.zeros((len(lengths), 1, seq_len), dtype=bool)
        for i, n in enumerate(lengths):
            for j in range(1, n):
                mask[i, 0, j] = True
        return mask

    def ids_compared(lengths, seq_len):
        return np.broadcast_to(lengths != 0, (len(lengths), 1, seq_len))


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

    def no_residual(mask, n_layers):
        out = np.eye(len(mask), dtype=int)
        for _ in range(n_layers):
            out = out @ mask.astype(int)
        return out > 0

    def one_layer(mask, n_layers):
        return mask | np.eye(len(mask), dtype=bool)

    def only_the_mask(mask, n_layers):
        return mask

    def one_layer_more(mask, n_layers):
        step = (mask | np.eye(len(mask), dtype=bool)).astype(int)
        out = step
        for _ in range(n_layers):
            out = (out @ step > 0).astype(int)
        return out > 0

    def one_layer_fewer(mask, n_layers):
        step = (mask | np.eye(len(mask), dtype=bool)).astype(int)
        return np.linalg.matrix_power(step, max(n_layers - 1, 0)) > 0

    def transposed(mask, n_layers):
        step = (mask.T | np.eye(len(mask), dtype=bool)).astype(int)
        return np.linalg.matrix_power(step, n_layers) > 0

    def residual_once(mask, n_layers):
        out = np.linalg.matrix_power(mask.astype(int), n_layers)
        return (out > 0) | np.eye(len(mask), dtype=bool)

    def element_power(mask, n_layers):
        step = (mask | np.eye(len(mask), dtype=bool)).astype(int)
        return step**n_layers > 0

    def element_product(mask, n_layers):
        step = mask | np.eye(len(mask), dtype=bool)
        out = step
        for _ in range(n_layers - 1):
            out = out * step
        return out

    def counts(mask, n_layers):
        step = (mask | np.eye(len(mask), dtype=bool)).astype(int)
        return np.linalg.matrix_power(step, n_layers)

    def ones_and_zeros(mask, n_layers):
        step = (mask | np.eye(len(mask), dtype=bool)).astype(int)
        return (np.linalg.matrix_power(step, n_layers) > 0).astype(int)

    def fixed_point(mask, n_layers):
        step = mask | np.eye(len(mask), dtype=bool)
        for _ in range(len(mask)):
            step = step @ step
        return step

    def squared_each_time(mask, n_layers):
        out = mask | np.eye(len(mask), dtype=bool)
        for _ in range(n_layers - 1):
            out = out @ out
        return out

    def two_layers(mask, n_layers):
        step = mask | np.eye(len(mask), dtype=bool)
        return step @ step

    def adds_the_identity_to_booleans(mask, n_layers):
        step = mask + np.eye(len(mask))
        return np.linalg.matrix_power(step, n_layers) >= 1.5

    def layers_times_mask(mask, n_layers):
        step = mask | np.eye(len(mask), dtype=bool)
        return (n_layers * step).astype(bool)

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

    def matrix_power_of_booleans(mask, n_layers):
        step = mask | np.eye(len(mask), dtype=bool)
        return np.linalg.matrix_power(step, n_layers)[0]

    def symmetric(mask, n_layers):
        step = (mask | mask.T | np.eye(len(mask), dtype=bool)).astype(int)
        return np.linalg.matrix_power(step, n_layers) > 0

    def causal_by_habit(mask, n_layers):
        step = (mask | np.eye(len(mask), dtype=bool)).astype(int)
        return np.tril(np.linalg.matrix_power(step, n_layers) > 0)

    def or_in_place_of_and(mask, n_layers):
        step = mask | np.eye(len(mask), dtype=bool)
        return step[:, :, None].any(1) | step[None].any(1)

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

    def exclusive_or(mask, n_layers):
        step = (mask ^ np.eye(len(mask), dtype=bool)).astype(int)
        return np.linalg.matrix_power(step, n_layers) > 0

    def and_keyword(mask, n_layers):
        step = mask or np.eye(len(mask), dtype=bool)
        return np.linalg.matrix_power(step, n_layers) > 0

    def forgotten_return(mask, n_layers):
        out = np.eye(len(mask), dtype=bool)
        for _ in range(n_layers):
            out = out | (out @ mask)
