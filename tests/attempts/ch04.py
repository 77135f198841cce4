# ruff: noqa: B905, RUF059 (what students write)
"""What students may hand in to the exercises of chapter 04, written from their statements alone."""

import numpy as np

from attn import reference


def _split(x, n_heads):
    """Return the heads, right, for mistakes in what follows."""
    return np.moveaxis(x.reshape(*x.shape[:-1], n_heads, -1), -2, -3)


def _mask(mask):
    return mask[..., None, :, :] if mask.ndim > 2 else mask


class split_heads:
    def right_stack(x, n_heads):
        return np.stack(np.split(x, n_heads, axis=-1), axis=-3)

    def right_slices(x, n_heads):
        d_k = x.shape[-1] // n_heads
        out = np.empty(x.shape[:-2] + (n_heads, x.shape[-2], d_k))
        for h in range(n_heads):
            out[..., h, :, :] = x[..., h * d_k : (h + 1) * d_k]
        return out

    def only_reshape(x, n_heads):
        *batch, n, d = x.shape
        return x.reshape(*batch, n_heads, n, d // n_heads)

    def no_transpose(x, n_heads):
        *batch, n, d = x.shape
        return x.reshape(*batch, n, n_heads, d // n_heads)

    def assumes_batch(x, n_heads):
        b, n, d = x.shape
        return x.reshape(b, n, n_heads, d // n_heads).transpose(0, 2, 1, 3)

    def assumes_no_batch(x, n_heads):
        n, d = x.shape
        return x.reshape(n, n_heads, d // n_heads).transpose(1, 0, 2)

    def interleaved(x, n_heads):
        *batch, n, d = x.shape
        return np.moveaxis(x.reshape(*batch, n, d // n_heads, n_heads), -1, -3)

    def heads_and_size_exchanged(x, n_heads):
        *batch, n, d = x.shape
        return x.reshape(*batch, n, n_heads, d // n_heads).mT

    def splits_the_tokens(x, n_heads):
        return np.stack(np.split(x, n_heads, axis=-2), axis=-3)

    def stacks_in_front(x, n_heads):
        return np.stack(np.split(x, n_heads, axis=-1))

    def true_division(x, n_heads):
        *batch, n, d = x.shape
        return x.reshape(*batch, n, n_heads, d / n_heads).swapaxes(-2, -3)

    def heads_last(x, n_heads):
        *batch, n, d = x.shape
        return np.moveaxis(x.reshape(*batch, n, n_heads, d // n_heads), -2, -1)

    def copies(x, n_heads):
        return np.stack([x] * n_heads, axis=-3)

    def split_only(x, n_heads):
        return np.split(x, n_heads, axis=-1)

    def concatenated(x, n_heads):
        return np.concatenate(np.split(x, n_heads, axis=-1), axis=-2)

    def reversed_heads(x, n_heads):
        return np.stack(np.split(x, n_heads, axis=-1)[::-1], axis=-3)

    def swaps_0_and_1(x, n_heads):
        *batch, n, d = x.shape
        return x.reshape(*batch, n, n_heads, d // n_heads).swapaxes(0, 1)

    def size_for_number(x, n_heads):
        *batch, n, d = x.shape
        return np.moveaxis(x.reshape(*batch, n, d // n_heads, n_heads), -2, -3)

    def rows_in_place_of_columns(x, n_heads):
        d_k = x.shape[-1] // n_heads
        return np.stack([x[h * d_k : (h + 1) * d_k] for h in range(n_heads)])

    def slices_without_dots(x, n_heads):
        d_k = x.shape[-1] // n_heads
        return np.stack([x[:, h * d_k : (h + 1) * d_k] for h in range(n_heads)])

    def off_by_one(x, n_heads):
        d_k = x.shape[-1] // n_heads
        return np.stack([x[..., h * d_k : (h + 1) * d_k - 1] for h in range(n_heads)], axis=-3)

    def overlapping(x, n_heads):
        d_k = x.shape[-1] // n_heads
        return np.stack([x[..., h : h + d_k] for h in range(n_heads)], axis=-3)

    def resizes_in_place(x, n_heads):
        *batch, n, d = x.shape
        x.shape = (*batch, n, n_heads, d // n_heads)
        return x.swapaxes(-2, -3)

    def head_means(x, n_heads):
        *batch, n, d = x.shape
        return x.reshape(*batch, n, n_heads, d // n_heads).mean(-1).mT[..., None]

    def all_axes_reversed(x, n_heads):
        *batch, n, d = x.shape
        return x.reshape(*batch, n, n_heads, d // n_heads).T


class multi_head_attention:
    def right_loop(x, w_q, w_k, w_v, w_o, n_heads, mask=None):
        outputs, all_weights = [], []
        for q, k, v in zip(*(np.split(x @ w, n_heads, axis=-1) for w in (w_q, w_k, w_v))):
            scores = q @ k.mT / np.sqrt(q.shape[-1])
            if mask is not None:
                scores = np.where(mask, scores, -np.inf)
            weights = reference.softmax(scores)
            outputs.append(weights @ v)
            all_weights.append(weights)
        return np.concatenate(outputs, -1) @ w_o, np.stack(all_weights, -3)

    def right_einsum(x, w_q, w_k, w_v, w_o, n_heads, mask=None):
        q, k, v = (_split(x @ w, n_heads) for w in (w_q, w_k, w_v))
        scores = np.einsum("...hqd,...hkd->...hqk", q, k) / np.sqrt(q.shape[-1])
        if mask is not None:
            scores = np.where(_mask(mask), scores, -np.inf)
        weights = reference.softmax(scores)
        parts = w_o.reshape(n_heads, -1, w_o.shape[-1])
        return np.einsum("...hqk,...hkd,hdm->...qm", weights, v, parts), weights

    def root_of_d_model(x, w_q, w_k, w_v, w_o, n_heads, mask=None):
        q, k, v = (_split(x @ w, n_heads) for w in (w_q, w_k, w_v))
        scores = q @ k.mT / np.sqrt(x.shape[-1])
        if mask is not None:
            scores = np.where(_mask(mask), scores, -np.inf)
        weights = reference.softmax(scores)
        heads = np.moveaxis(weights @ v, -3, -2)
        return heads.reshape(*x.shape[:-1], -1) @ w_o, weights

    def root_of_heads(x, w_q, w_k, w_v, w_o, n_heads, mask=None):
        q, k, v = (_split(x @ w, n_heads) for w in (w_q, w_k, w_v))
        scores = q @ k.mT / np.sqrt(n_heads)
        if mask is not None:
            scores = np.where(_mask(mask), scores, -np.inf)
        weights = reference.softmax(scores)
        heads = np.moveaxis(weights @ v, -3, -2)
        return heads.reshape(*x.shape[:-1], -1) @ w_o, weights

    def no_scale(x, w_q, w_k, w_v, w_o, n_heads, mask=None):
        q, k, v = (_split(x @ w, n_heads) for w in (w_q, w_k, w_v))
        scores = q @ k.mT
        if mask is not None:
            scores = np.where(_mask(mask), scores, -np.inf)
        weights = reference.softmax(scores)
        heads = np.moveaxis(weights @ v, -3, -2)
        return heads.reshape(*x.shape[:-1], -1) @ w_o, weights

    def joined_without_transposing(x, w_q, w_k, w_v, w_o, n_heads, mask=None):
        q, k, v = (_split(x @ w, n_heads) for w in (w_q, w_k, w_v))
        scores = q @ k.mT / np.sqrt(q.shape[-1])
        if mask is not None:
            scores = np.where(_mask(mask), scores, -np.inf)
        weights = reference.softmax(scores)
        return (weights @ v).reshape(*x.shape[:-1], -1) @ w_o, weights

    def no_w_o(x, w_q, w_k, w_v, w_o, n_heads, mask=None):
        q, k, v = (_split(x @ w, n_heads) for w in (w_q, w_k, w_v))
        scores = q @ k.mT / np.sqrt(q.shape[-1])
        if mask is not None:
            scores = np.where(_mask(mask), scores, -np.inf)
        weights = reference.softmax(scores)
        return np.moveaxis(weights @ v, -3, -2).reshape(*x.shape[:-1], -1), weights

    def mask_without_head_axis(x, w_q, w_k, w_v, w_o, n_heads, mask=None):
        q, k, v = (_split(x @ w, n_heads) for w in (w_q, w_k, w_v))
        scores = q @ k.mT / np.sqrt(q.shape[-1])
        if mask is not None:
            scores = np.where(mask, scores, -np.inf)
        weights = reference.softmax(scores)
        heads = np.moveaxis(weights @ v, -3, -2)
        return heads.reshape(*x.shape[:-1], -1) @ w_o, weights

    def mask_ignored(x, w_q, w_k, w_v, w_o, n_heads, mask=None):
        q, k, v = (_split(x @ w, n_heads) for w in (w_q, w_k, w_v))
        weights = reference.softmax(q @ k.mT / np.sqrt(q.shape[-1]))
        heads = np.moveaxis(weights @ v, -3, -2)
        return heads.reshape(*x.shape[:-1], -1) @ w_o, weights

    def mask_inverted(x, w_q, w_k, w_v, w_o, n_heads, mask=None):
        q, k, v = (_split(x @ w, n_heads) for w in (w_q, w_k, w_v))
        scores = q @ k.mT / np.sqrt(q.shape[-1])
        if mask is not None:
            scores = np.where(_mask(mask), -np.inf, scores)
        weights = reference.softmax(scores)
        heads = np.moveaxis(weights @ v, -3, -2)
        return heads.reshape(*x.shape[:-1], -1) @ w_o, weights

    def masked_after(x, w_q, w_k, w_v, w_o, n_heads, mask=None):
        q, k, v = (_split(x @ w, n_heads) for w in (w_q, w_k, w_v))
        weights = reference.softmax(q @ k.mT / np.sqrt(q.shape[-1]))
        if mask is not None:
            weights = weights * _mask(mask)
        heads = np.moveaxis(weights @ v, -3, -2)
        return heads.reshape(*x.shape[:-1], -1) @ w_o, weights

    def minus_a_billion(x, w_q, w_k, w_v, w_o, n_heads, mask=None):
        q, k, v = (_split(x @ w, n_heads) for w in (w_q, w_k, w_v))
        scores = q @ k.mT / np.sqrt(q.shape[-1])
        if mask is not None:
            scores = np.where(_mask(mask), scores, -1e9)
        weights = reference.softmax(scores)
        heads = np.moveaxis(weights @ v, -3, -2)
        return heads.reshape(*x.shape[:-1], -1) @ w_o, weights

    def one_head(x, w_q, w_k, w_v, w_o, n_heads, mask=None):
        q, k, v = x @ w_q, x @ w_k, x @ w_v
        scores = q @ k.mT / np.sqrt(q.shape[-1])
        if mask is not None:
            scores = np.where(mask, scores, -np.inf)
        weights = reference.softmax(scores)
        return weights @ v @ w_o, weights

    def mean_weights(x, w_q, w_k, w_v, w_o, n_heads, mask=None):
        q, k, v = (_split(x @ w, n_heads) for w in (w_q, w_k, w_v))
        scores = q @ k.mT / np.sqrt(q.shape[-1])
        if mask is not None:
            scores = np.where(_mask(mask), scores, -np.inf)
        weights = reference.softmax(scores)
        heads = np.moveaxis(weights @ v, -3, -2)
        return heads.reshape(*x.shape[:-1], -1) @ w_o, weights.mean(-3)

    def weights_stacked_in_front(x, w_q, w_k, w_v, w_o, n_heads, mask=None):
        outputs, all_weights = [], []
        for q, k, v in zip(*(np.split(x @ w, n_heads, axis=-1) for w in (w_q, w_k, w_v))):
            scores = q @ k.mT / np.sqrt(q.shape[-1])
            if mask is not None:
                scores = np.where(mask, scores, -np.inf)
            weights = reference.softmax(scores)
            outputs.append(weights @ v)
            all_weights.append(weights)
        return np.concatenate(outputs, -1) @ w_o, np.stack(all_weights)

    def rows_of_w(x, w_q, w_k, w_v, w_o, n_heads, mask=None):
        outputs, all_weights = [], []
        for wq, wk, wv in zip(*(np.split(w, n_heads, axis=0) for w in (w_q, w_k, w_v))):
            q, k, v = x @ wq.T, x @ wk.T, x @ wv.T
            scores = q @ k.mT / np.sqrt(q.shape[-1])
            if mask is not None:
                scores = np.where(mask, scores, -np.inf)
            weights = reference.softmax(scores)
            outputs.append(weights @ v)
            all_weights.append(weights)
        return np.concatenate(outputs, -1) @ w_o, np.stack(all_weights, -3)

    def rows_of_w_not_transposed(x, w_q, w_k, w_v, w_o, n_heads, mask=None):
        d_k = w_q.shape[-1] // n_heads
        outputs, all_weights = [], []
        for h in range(n_heads):
            part = slice(h * d_k, (h + 1) * d_k)
            q, k, v = x @ w_q[part], x @ w_k[part], x @ w_v[part]
            weights = reference.softmax(q @ k.mT / np.sqrt(d_k))
            outputs.append(weights @ v)
            all_weights.append(weights)
        return np.concatenate(outputs, -1) @ w_o, np.stack(all_weights, -3)

    def heads_summed(x, w_q, w_k, w_v, w_o, n_heads, mask=None):
        q, k, v = (_split(x @ w, n_heads) for w in (w_q, w_k, w_v))
        scores = q @ k.mT / np.sqrt(q.shape[-1])
        if mask is not None:
            scores = np.where(_mask(mask), scores, -np.inf)
        weights = reference.softmax(scores)
        return (weights @ v).sum(-3) @ w_o, weights

    def heads_averaged_through_w_o(x, w_q, w_k, w_v, w_o, n_heads, mask=None):
        q, k, v = (_split(x @ w, n_heads) for w in (w_q, w_k, w_v))
        scores = q @ k.mT / np.sqrt(q.shape[-1])
        if mask is not None:
            scores = np.where(_mask(mask), scores, -np.inf)
        weights = reference.softmax(scores)
        parts = w_o.reshape(n_heads, -1, w_o.shape[-1])
        return (weights @ v @ parts).mean(-3), weights

    def swapped(x, w_q, w_k, w_v, w_o, n_heads, mask=None):
        q, k, v = (_split(x @ w, n_heads) for w in (w_q, w_k, w_v))
        scores = q @ k.mT / np.sqrt(q.shape[-1])
        if mask is not None:
            scores = np.where(_mask(mask), scores, -np.inf)
        weights = reference.softmax(scores)
        heads = np.moveaxis(weights @ v, -3, -2)
        return weights, heads.reshape(*x.shape[:-1], -1) @ w_o

    def w_o_transposed(x, w_q, w_k, w_v, w_o, n_heads, mask=None):
        q, k, v = (_split(x @ w, n_heads) for w in (w_q, w_k, w_v))
        scores = q @ k.mT / np.sqrt(q.shape[-1])
        if mask is not None:
            scores = np.where(_mask(mask), scores, -np.inf)
        weights = reference.softmax(scores)
        heads = np.moveaxis(weights @ v, -3, -2)
        return heads.reshape(*x.shape[:-1], -1) @ w_o.T, weights

    def values_not_projected(x, w_q, w_k, w_v, w_o, n_heads, mask=None):
        q, k, v = _split(x @ w_q, n_heads), _split(x @ w_k, n_heads), _split(x, n_heads)
        scores = q @ k.mT / np.sqrt(q.shape[-1])
        if mask is not None:
            scores = np.where(_mask(mask), scores, -np.inf)
        weights = reference.softmax(scores)
        heads = np.moveaxis(weights @ v, -3, -2)
        return heads.reshape(*x.shape[:-1], -1) @ w_o, weights

    def splits_x_before_projecting(x, w_q, w_k, w_v, w_o, n_heads, mask=None):
        parts = _split(x, n_heads)
        q, k, v = parts @ w_q, parts @ w_k, parts @ w_v
        weights = reference.softmax(q @ k.mT / np.sqrt(q.shape[-1]))
        return np.moveaxis(weights @ v, -3, -2).reshape(*x.shape[:-1], -1) @ w_o, weights

    def interleaved_heads(x, w_q, w_k, w_v, w_o, n_heads, mask=None):
        def split(z):
            return np.moveaxis(z.reshape(*z.shape[:-1], -1, n_heads), -1, -3)

        q, k, v = split(x @ w_q), split(x @ w_k), split(x @ w_v)
        scores = q @ k.mT / np.sqrt(q.shape[-1])
        if mask is not None:
            scores = np.where(_mask(mask), scores, -np.inf)
        weights = reference.softmax(scores)
        heads = np.moveaxis(weights @ v, -3, -2)
        return heads.reshape(*x.shape[:-1], -1) @ w_o, weights

    def reshape_only_split(x, w_q, w_k, w_v, w_o, n_heads, mask=None):
        def split(z):
            *batch, n, d = z.shape
            return z.reshape(*batch, n_heads, n, d // n_heads)

        q, k, v = split(x @ w_q), split(x @ w_k), split(x @ w_v)
        scores = q @ k.mT / np.sqrt(q.shape[-1])
        if mask is not None:
            scores = np.where(_mask(mask), scores, -np.inf)
        weights = reference.softmax(scores)
        heads = np.moveaxis(weights @ v, -3, -2)
        return heads.reshape(*x.shape[:-1], -1) @ w_o, weights

    def attention_among_heads(x, w_q, w_k, w_v, w_o, n_heads, mask=None):
        def split(z):
            return z.reshape(*z.shape[:-1], n_heads, -1)

        q, k, v = split(x @ w_q), split(x @ w_k), split(x @ w_v)
        weights = reference.softmax(q @ k.mT / np.sqrt(q.shape[-1]))
        return (weights @ v).reshape(*x.shape[:-1], -1) @ w_o, weights

    def forbids_nan(x, w_q, w_k, w_v, w_o, n_heads, mask=None):
        q, k, v = (_split(x @ w, n_heads) for w in (w_q, w_k, w_v))
        scores = q @ k.mT / np.sqrt(q.shape[-1])
        if mask is not None:
            scores = np.where(_mask(mask), scores, -np.inf)
        e = np.exp(scores - scores.max(-1, keepdims=True))
        weights = e / e.sum(-1, keepdims=True)
        heads = np.moveaxis(weights @ v, -3, -2)
        return heads.reshape(*x.shape[:-1], -1) @ w_o, weights

    def exchanged_queries_and_keys(x, w_q, w_k, w_v, w_o, n_heads, mask=None):
        q, k, v = (_split(x @ w, n_heads) for w in (w_k, w_q, w_v))
        scores = q @ k.mT / np.sqrt(q.shape[-1])
        if mask is not None:
            scores = np.where(_mask(mask), scores, -np.inf)
        weights = reference.softmax(scores)
        heads = np.moveaxis(weights @ v, -3, -2)
        return heads.reshape(*x.shape[:-1], -1) @ w_o, weights

    def assumes_batch(x, w_q, w_k, w_v, w_o, n_heads, mask=None):
        b, n, d = x.shape
        q, k, v = (
            (x @ w).reshape(b, n, n_heads, -1).transpose(0, 2, 1, 3) for w in (w_q, w_k, w_v)
        )
        scores = q @ k.mT / np.sqrt(q.shape[-1])
        if mask is not None:
            scores = np.where(_mask(mask), scores, -np.inf)
        weights = reference.softmax(scores)
        return (weights @ v).transpose(0, 2, 1, 3).reshape(b, n, -1) @ w_o, weights


class head_contributions:
    def right_reshape(heads, w_o):
        return heads @ w_o.reshape(heads.shape[-3], heads.shape[-1], -1)

    def right_pad(heads, w_o):
        *batch, n_heads, n, d_v = heads.shape
        out = np.zeros((*batch, n_heads, n, w_o.shape[1]))
        for h in range(n_heads):
            whole = np.zeros((*batch, n, n_heads * d_v))
            whole[..., h * d_v : (h + 1) * d_v] = heads[..., h, :, :]
            out[..., h, :, :] = whole @ w_o
        return out

    def the_sum(heads, w_o):
        return (heads @ w_o.reshape(heads.shape[-3], heads.shape[-1], -1)).sum(-3)

    def whole_output(heads, w_o):
        joined = np.moveaxis(heads, -3, -2)
        return joined.reshape(*joined.shape[:-2], -1) @ w_o

    def columns_of_w_o(heads, w_o):
        parts = np.split(w_o, heads.shape[-3], axis=1)
        return np.stack([heads[..., h, :, :] @ p.T for h, p in enumerate(parts)], -3)

    def columns_not_transposed(heads, w_o):
        d_v = heads.shape[-1]
        return np.stack(
            [heads[..., h, :, :] @ w_o[:, h * d_v : (h + 1) * d_v] for h in range(heads.shape[-3])],
            -3,
        )

    def whole_w_o(heads, w_o):
        return heads @ w_o

    def stacked_in_front(heads, w_o):
        parts = np.split(w_o, heads.shape[-3])
        return np.stack([heads[..., h, :, :] @ p for h, p in enumerate(parts)])

    def indexes_the_first_axis(heads, w_o):
        parts = np.split(w_o, heads.shape[-3])
        return np.stack([heads[h] @ p for h, p in enumerate(parts)])

    def counts_heads_with_len(heads, w_o):
        n_heads = len(heads)
        return heads @ w_o.reshape(n_heads, -1, w_o.shape[-1])

    def first_part_for_all(heads, w_o):
        return heads @ w_o[: heads.shape[-1]]

    def interleaved_rows(heads, w_o):
        n_heads = heads.shape[-3]
        return np.stack([heads[..., h, :, :] @ w_o[h::n_heads] for h in range(n_heads)], -3)

    def w_o_transposed(heads, w_o):
        return heads @ w_o.T.reshape(heads.shape[-3], heads.shape[-1], -1)

    def reshaped_transposed(heads, w_o):
        n_heads, d_v = heads.shape[-3], heads.shape[-1]
        return heads @ np.moveaxis(w_o.reshape(d_v, n_heads, -1), 1, 0)

    def without_the_head(heads, w_o):
        terms = heads @ w_o.reshape(heads.shape[-3], heads.shape[-1], -1)
        return terms.sum(-3, keepdims=True) - terms

    def divided_by_heads(heads, w_o):
        terms = heads @ w_o.reshape(heads.shape[-3], heads.shape[-1], -1)
        return terms / heads.shape[-3]

    def in_shares(heads, w_o):
        terms = heads @ w_o.reshape(heads.shape[-3], heads.shape[-1], -1)
        return terms / terms.sum(-3, keepdims=True)

    def norms(heads, w_o):
        terms = heads @ w_o.reshape(heads.shape[-3], heads.shape[-1], -1)
        return np.linalg.norm(terms, axis=-1)

    def absolute(heads, w_o):
        return np.abs(heads @ w_o.reshape(heads.shape[-3], heads.shape[-1], -1))

    def cumulative(heads, w_o):
        return np.cumsum(heads @ w_o.reshape(heads.shape[-3], heads.shape[-1], -1), axis=-3)

    def reversed_parts(heads, w_o):
        return heads @ w_o.reshape(heads.shape[-3], heads.shape[-1], -1)[::-1]

    def einsum_with_batch_summed(heads, w_o):
        parts = w_o.reshape(heads.shape[-3], heads.shape[-1], -1)
        return np.einsum("...hnd,hdm->hnm", heads, parts)

    def tokens_first(heads, w_o):
        parts = w_o.reshape(heads.shape[-3], heads.shape[-1], -1)
        return np.einsum("...hnd,hdm->...nhm", heads, parts)

    def without_batch(heads, w_o):
        n_heads, n, d_v = heads.shape
        return np.stack([heads[h] @ w_o[h * d_v : (h + 1) * d_v] for h in range(n_heads)])

    def off_by_one_rows(heads, w_o):
        d_v = heads.shape[-1]
        return np.stack(
            [heads[..., h, :, :] @ w_o[h : h + d_v] for h in range(heads.shape[-3])], -3
        )

    def list_of_arrays(heads, w_o):
        d_v = heads.shape[-1]
        out = []
        for h in range(heads.shape[0]):
            out += [heads[..., h, :, :] @ w_o[h * d_v : (h + 1) * d_v]]
        return out
