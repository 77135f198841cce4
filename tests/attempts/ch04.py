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

    right_stack.slips = """
    splits_the_tokens: -1 ==> -2
    stacks_in_front: np.stack(np.split(x, n_heads, axis=-1), axis=-3) ==> np.stack(np.split(x, n_heads, axis=-1))
    copies: np.split(x, n_heads, axis=-1) ==> [x] * n_heads
    split_only: np.stack(np.split(x, n_heads, axis=-1), axis=-3) ==> np.split(x, n_heads, axis=-1)
    reversed_heads: np.split(x, n_heads, axis=-1) ==> np.split(x, n_heads, axis=-1)[::-1]
    """

    def concatenated(x, n_heads):
        return np.concatenate(np.split(x, n_heads, axis=-1), axis=-2)

    def right_slices(x, n_heads):
        d_k = x.shape[-1] // n_heads
        out = np.empty(x.shape[:-2] + (n_heads, x.shape[-2], d_k))
        for h in range(n_heads):
            out[..., h, :, :] = x[..., h * d_k : (h + 1) * d_k]
        return out

    def interleaved(x, n_heads):
        *batch, n, d = x.shape
        return np.moveaxis(x.reshape(*batch, n, d // n_heads, n_heads), -1, -3)

    interleaved.slips = """
    heads_last: d // n_heads, ==> n_heads, d // && 1, -3 ==> 2, -1
    size_for_number: -1 ==> -2
    """

    def true_division(x, n_heads):
        *batch, n, d = x.shape
        return x.reshape(*batch, n, n_heads, d / n_heads).swapaxes(-2, -3)

    def slices_without_dots(x, n_heads):
        d_k = x.shape[-1] // n_heads
        return np.stack([x[:, h * d_k : (h + 1) * d_k] for h in range(n_heads)])

    def overlapping(x, n_heads):
        d_k = x.shape[-1] // n_heads
        return np.stack([x[..., h : h + d_k] for h in range(n_heads)], axis=-3)

    overlapping.slips = """
    rows_in_place_of_columns: ..., h : h + ==> h * d_k : (h + 1) * && , axis=-3 ==>
    off_by_one: h : h + d_k ==> h * d_k : (h + 1) * d_k - 1
    """

    def resizes_in_place(x, n_heads):
        *batch, n, d = x.shape
        x.shape = (*batch, n, n_heads, d // n_heads)
        return x.swapaxes(-2, -3)

    def head_means(x, n_heads):
        *batch, n, d = x.shape
        return x.reshape(*batch, n, n_heads, d // n_heads).mean(-1).mT[..., None]

    head_means.slips = r"""
    only_reshape: n, n_heads ==> n_heads, n && .mean(-1).mT[..., None] ==>
    no_transpose: .mean(-1).mT[..., None] ==>
    assumes_batch: \n    *batch ==> \n    b && *batch ==> b && mean(-1).mT[..., None] ==> transpose(0, 2, 1, 3)
    assumes_no_batch: *batch, n, d ==> n, d && *batch, n ==> n && mean(-1).mT[..., None] ==> transpose(1, 0, 2)
    heads_and_size_exchanged: mean(-1).mT[..., None] ==> mT
    swaps_0_and_1: mean(-1).mT[..., None] ==> swapaxes(0, 1)
    all_axes_reversed: mean(-1).mT[..., None] ==> T
    """


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

    right_loop.slips = """
    weights_stacked_in_front: np.stack(all_weights, -3) ==> np.stack(all_weights)
    """

    def right_einsum(x, w_q, w_k, w_v, w_o, n_heads, mask=None):
        q, k, v = (_split(x @ w, n_heads) for w in (w_q, w_k, w_v))
        scores = np.einsum("...hqd,...hkd->...hqk", q, k) / np.sqrt(q.shape[-1])
        if mask is not None:
            scores = np.where(_mask(mask), scores, -np.inf)
        weights = reference.softmax(scores)
        parts = w_o.reshape(n_heads, -1, w_o.shape[-1])
        return np.einsum("...hqk,...hkd,hdm->...qm", weights, v, parts), weights

    def joined_without_transposing(x, w_q, w_k, w_v, w_o, n_heads, mask=None):
        q, k, v = (_split(x @ w, n_heads) for w in (w_q, w_k, w_v))
        scores = q @ k.mT / np.sqrt(q.shape[-1])
        if mask is not None:
            scores = np.where(_mask(mask), scores, -np.inf)
        weights = reference.softmax(scores)
        return (weights @ v).reshape(*x.shape[:-1], -1) @ w_o, weights

    joined_without_transposing.slips = """
    no_w_o: (weights @ v).reshape(*x.shape[:-1], -1) @ w_o ==> np.moveaxis(weights @ v, -3, -2).reshape(*x.shape[:-1], -1)
    heads_summed: (weights @ v).reshape(*x.shape[:-1], -1) ==> (weights @ v).sum(-3)
    """

    def mask_ignored(x, w_q, w_k, w_v, w_o, n_heads, mask=None):
        q, k, v = (_split(x @ w, n_heads) for w in (w_q, w_k, w_v))
        weights = reference.softmax(q @ k.mT / np.sqrt(q.shape[-1]))
        heads = np.moveaxis(weights @ v, -3, -2)
        return heads.reshape(*x.shape[:-1], -1) @ w_o, weights

    mask_ignored.slips = r"""
    masked_after: heads = ==> if mask is not None:\n        weights = weights * _mask(mask)\n    heads =
    """

    def one_head(x, w_q, w_k, w_v, w_o, n_heads, mask=None):
        q, k, v = x @ w_q, x @ w_k, x @ w_v
        scores = q @ k.mT / np.sqrt(q.shape[-1])
        if mask is not None:
            scores = np.where(mask, scores, -np.inf)
        weights = reference.softmax(scores)
        return weights @ v @ w_o, weights

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

    def heads_averaged_through_w_o(x, w_q, w_k, w_v, w_o, n_heads, mask=None):
        q, k, v = (_split(x @ w, n_heads) for w in (w_q, w_k, w_v))
        scores = q @ k.mT / np.sqrt(q.shape[-1])
        if mask is not None:
            scores = np.where(_mask(mask), scores, -np.inf)
        weights = reference.softmax(scores)
        parts = w_o.reshape(n_heads, -1, w_o.shape[-1])
        return (weights @ v @ parts).mean(-3), weights

    def right_plain(x, w_q, w_k, w_v, w_o, n_heads, mask=None):
        q, k, v = (_split(x @ w, n_heads) for w in (w_q, w_k, w_v))
        scores = q @ k.mT / np.sqrt(q.shape[-1])
        if mask is not None:
            scores = np.where(_mask(mask), scores, -np.inf)
        weights = reference.softmax(scores)
        heads = np.moveaxis(weights @ v, -3, -2)
        return heads.reshape(*x.shape[:-1], -1) @ w_o, weights

    right_plain.slips = """
    root_of_d_model: q.shape ==> x.shape
    root_of_heads: q.shape[-1] ==> n_heads
    no_scale: q @ k.mT / np.sqrt(q.shape[-1]) ==> q @ k.mT
    mask_without_head_axis: _mask(mask) ==> mask
    mask_inverted: np.where(_mask(mask), scores, -np.inf) ==> np.where(_mask(mask), -np.inf, scores)
    minus_a_billion: -np.inf ==> -1e9
    mean_weights: heads.reshape(*x.shape[:-1], -1) @ w_o, weights ==> heads.reshape(*x.shape[:-1], -1) @ w_o, weights.mean(-3)
    swapped: heads.reshape(*x.shape[:-1], -1) @ w_o, weights ==> weights, heads.reshape(*x.shape[:-1], -1) @ w_o
    exchanged_queries_and_keys: (w_q, w_k, w_v) ==> (w_k, w_q, w_v)
    """

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

    def columns_of_w_o(heads, w_o):
        parts = np.split(w_o, heads.shape[-3], axis=1)
        return np.stack([heads[..., h, :, :] @ p.T for h, p in enumerate(parts)], -3)

    def whole_w_o(heads, w_o):
        return heads @ w_o

    whole_w_o.slips = r"""
    the_sum: heads @ w_o ==> (heads @ w_o.reshape(heads.shape[-3], heads.shape[-1], -1)).sum(-3)
    whole_output: return heads ==> joined = np.moveaxis(heads, -3, -2)\n    return joined.reshape(*joined.shape[:-2], -1)
    absolute: heads @ w_o ==> np.abs(heads @ w_o.reshape(heads.shape[-3], heads.shape[-1], -1))
    cumulative: heads @ w_o ==> np.cumsum(heads @ w_o.reshape(heads.shape[-3], heads.shape[-1], -1), axis=-3)
    first_part_for_all: heads @ w_o ==> heads @ w_o[: heads.shape[-1]]
    """

    def stacked_in_front(heads, w_o):
        parts = np.split(w_o, heads.shape[-3])
        return np.stack([heads[..., h, :, :] @ p for h, p in enumerate(parts)])

    def indexes_the_first_axis(heads, w_o):
        parts = np.split(w_o, heads.shape[-3])
        return np.stack([heads[h] @ p for h, p in enumerate(parts)])

    def counts_heads_with_len(heads, w_o):
        n_heads = len(heads)
        return heads @ w_o.reshape(n_heads, -1, w_o.shape[-1])

    def interleaved_rows(heads, w_o):
        n_heads = heads.shape[-3]
        return np.stack([heads[..., h, :, :] @ w_o[h::n_heads] for h in range(n_heads)], -3)

    def reshaped_transposed(heads, w_o):
        n_heads, d_v = heads.shape[-3], heads.shape[-1]
        return heads @ np.moveaxis(w_o.reshape(d_v, n_heads, -1), 1, 0)

    def right_plain(heads, w_o):
        return heads @ w_o.reshape(heads.shape[-3], heads.shape[-1], -1)

    def w_o_transposed(heads, w_o):
        return heads @ w_o.T.reshape(heads.shape[-3], heads.shape[-1], -1)

    def divided_by_heads(heads, w_o):
        terms = heads @ w_o.reshape(heads.shape[-3], heads.shape[-1], -1)
        return terms / heads.shape[-3]

    def reversed_parts(heads, w_o):
        return heads @ w_o.reshape(heads.shape[-3], heads.shape[-1], -1)[::-1]

    reversed_parts.slips = r"""
    in_shares: return ==> terms = && [::-1] ==> \n    return terms / terms.sum(-3, keepdims=True)
    tokens_first: return heads @ ==> parts = && [::-1] ==> \n    return np.einsum("...hnd,hdm->...nhm", heads, parts)
    norms: return ==> terms = && [::-1] ==> \n    return np.linalg.norm(terms, axis=-1)
    without_the_head: return ==> terms = && [::-1] ==> \n    return terms.sum(-3, keepdims=True) - terms
    """

    def einsum_with_batch_summed(heads, w_o):
        parts = w_o.reshape(heads.shape[-3], heads.shape[-1], -1)
        return np.einsum("...hnd,hdm->hnm", heads, parts)

    def without_batch(heads, w_o):
        n_heads, n, d_v = heads.shape
        return np.stack([heads[h] @ w_o[h * d_v : (h + 1) * d_v] for h in range(n_heads)])

    def off_by_one_rows(heads, w_o):
        d_v = heads.shape[-1]
        return np.stack(
            [heads[..., h, :, :] @ w_o[h : h + d_v] for h in range(heads.shape[-3])], -3
        )

    off_by_one_rows.slips = """
    columns_not_transposed: h : h + d_v ==> :, h * d_v : (h + 1) * d_v
    """

    def list_of_arrays(heads, w_o):
        d_v = heads.shape[-1]
        out = []
        for h in range(heads.shape[0]):
            out += [heads[..., h, :, :] @ w_o[h * d_v : (h + 1) * d_v]]
        return out
