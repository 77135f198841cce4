"""Chapter 4, `multi_head_attention`: every head at once, and the ways to get it wrong."""

import numpy as np

from attn.reference import join_heads, softmax, split_heads
from attn.reference import multi_head_attention as reference
from attn_course.exercises import masked_too_late, wrong_attention
from attn_course.exercises.spec import Exercise


def cases(seed):
    """Return inputs for multi-head self-attention, alone, in batches and with masks.

    Parameters
    ----------
    seed : int
        Seed of the random numbers; the shapes are always the same.

    Returns
    -------
    list of dict
        With the keys ``x``, ``w_q``, ``w_k``, ``w_v``, ``w_o``, ``n_heads`` and, in some, ``mask``.
    """
    rng = np.random.default_rng(seed)

    def draw(seq_len, d_model, n_heads, batch=(), mask=None):
        case = {"x": rng.uniform(-1, 1, (*batch, seq_len, d_model))}
        for name in ("w_q", "w_k", "w_v", "w_o"):
            case[name] = rng.uniform(-0.6, 0.6, (d_model, d_model))
        case["n_heads"] = np.array(n_heads)
        return case if mask is None else case | {"mask": mask}

    causal = np.tri(3, dtype=bool)
    one_empty_row = np.array([[True, True, False], [False, False, False], [True, False, True]])
    padding = np.arange(4) < np.array([2, 3])[:, None, None]
    found = [
        draw(3, 4, 2),
        draw(2, 10, 2),
        draw(3, 6, 3),
        draw(3, 4, 2, mask=causal),
        draw(3, 6, 2, mask=one_empty_row),
        draw(4, 6, 3, batch=(2,)),
        draw(4, 6, 2, batch=(2,), mask=np.broadcast_to(padding, (2, 4, 4)).copy()),
        draw(4, 6, 3, batch=(2,), mask=np.tri(4, dtype=bool)),
    ]
    masked_too_late.make_padding_attractive(found[-2], padding)
    return found


def _oracle(x, w_q, w_k, w_v, w_o, n_heads, mask=None):
    return reference(x, x, x, w_q, w_k, w_v, w_o, int(n_heads), mask)


def _for_heads(mask):
    """Return a mask with an axis for the heads."""
    return mask[..., None, :, :]


def _with(
    split=split_heads,
    join=join_heads,
    size=None,
    scores=None,
    axis=-1,
    to_heads=_for_heads,
    project=lambda joined, w_o: joined @ w_o,
    fill=-np.inf,
):
    """Return multi-head attention with one of its parts replaced."""

    def attention(x, w_q, w_k, w_v, w_o, n_heads, mask=None):
        n_heads = int(n_heads)
        query, key, value = (split(x @ w, n_heads) for w in (w_q, w_k, w_v))
        d_k = size(x, n_heads) if size else query.shape[-1]
        found = query @ key.mT / np.sqrt(d_k)
        found = scores(found) if scores else found
        if mask is not None:
            found = np.where(to_heads(mask), found, fill if axis == -1 else -1e9)
        weights = softmax(found, axis=axis)
        return project(join(weights @ value), w_o), weights

    return attention


def _reshaped(x, n_heads):
    *batch, seq_len, width = x.shape
    return x.reshape(*batch, n_heads, seq_len, width // n_heads)


def _joined_as_they_are(heads):
    *batch, n_heads, seq_len, width = heads.shape
    return heads.reshape(*batch, seq_len, n_heads * width)


def _summed(heads):
    return heads.sum(axis=-3)


def _mean(heads):
    return heads.mean(axis=-3)


def _first_rows(joined, w_o):
    return joined @ w_o[: joined.shape[-1]]


def _attending(attention):
    def multi_head(x, w_q, w_k, w_v, w_o, n_heads, mask=None):
        query, key, value = (split_heads(x @ w, int(n_heads)) for w in (w_q, w_k, w_v))
        joint = None if mask is None else _for_heads(mask)
        output, weights = attention(query, key, value, joint)
        return join_heads(output) @ w_o, weights

    return multi_head


def _renamed(order):
    def attention(x, w_q, w_k, w_v, w_o, n_heads, mask=None):
        return _oracle(x, *order(w_q, w_k, w_v, w_o), n_heads, mask)

    return attention


def _returning(result):
    def attention(x, w_q, w_k, w_v, w_o, n_heads, mask=None):
        return result(*_oracle(x, w_q, w_k, w_v, w_o, n_heads, mask), x)

    return attention


def _one_head(x, w_q, w_k, w_v, w_o, n_heads, mask=None):
    return _oracle(x, w_q, w_k, w_v, w_o, 1, mask)


def _mask_dropped(x, w_q, w_k, w_v, w_o, n_heads, mask=None):
    return _oracle(x, w_q, w_k, w_v, w_o, n_heads)


def _one_sentence(x, w_q, w_k, w_v, w_o, n_heads, mask=None):
    _seq_len, _d_model = x.shape
    return _oracle(x, w_q, w_k, w_v, w_o, n_heads, mask)


def _input_split(x, w_q, w_k, w_v, w_o, n_heads, mask=None):
    """Give head i only its own piece of x, and the diagonal block of each matrix."""
    parts = np.split(np.arange(x.shape[-1]), int(n_heads))

    def project(w):
        return np.stack([x[..., part] @ w[np.ix_(part, part)] for part in parts], axis=-3)

    query, key, value = (project(w) for w in (w_q, w_k, w_v))
    scores = query @ key.mT / np.sqrt(query.shape[-1])
    if mask is not None:
        scores = np.where(mask[..., None, :, :], scores, -np.inf)
    weights = softmax(scores)
    return join_heads(weights @ value) @ w_o, weights


def _all_heads_mean(scores):
    return np.broadcast_to(scores.mean(axis=-3, keepdims=True), scores.shape)


def _values_not_projected(x, w_q, w_k, w_v, w_o, n_heads, mask=None):
    return _oracle(x, w_q, w_k, np.eye(x.shape[-1]), w_o, n_heads, mask)


def _interleaved(x, n_heads):
    return np.moveaxis(x.reshape(*x.shape[:-1], -1, n_heads), -1, -3)


def _tokens_apart(x, w_q, w_k, w_v, w_o, n_heads, mask=None):
    """Leave the axis of the heads after that of the tokens, so that heads attend to heads."""
    query, key, value = ((x @ w).reshape(*x.shape[:-1], n_heads, -1) for w in (w_q, w_k, w_v))
    weights = softmax(query @ key.mT / np.sqrt(query.shape[-1]))
    return (weights @ value).reshape(*x.shape[:-1], -1) @ w_o, weights


def _one_head_without_its_axis(x, w_q, w_k, w_v, w_o, n_heads, mask=None):
    output, weights = _oracle(x, w_q, w_k, w_v, w_o, 1, mask)
    return output, weights[..., 0, :, :]


def _causal(x, w_q, w_k, w_v, w_o, n_heads, mask=None):
    causal = np.tri(x.shape[-2], dtype=bool)
    return _oracle(x, w_q, w_k, w_v, w_o, n_heads, causal if mask is None else causal & mask)


MISTAKES = {
    "root_of_d_model": (_with(size=lambda x, n_heads: x.shape[-1]),),
    "no_root": (_with(size=lambda x, n_heads: 1),),
    "root_of_n_heads": (_with(size=lambda x, n_heads: n_heads),),
    "no_root_taken": (_with(size=lambda x, n_heads: (x.shape[-1] // n_heads) ** 2),),
    "matrices_transposed": (
        _renamed(lambda w_q, w_k, w_v, w_o: (w_q.T, w_k.T, w_v.T, w_o)),
        _renamed(lambda w_q, w_k, w_v, w_o: (w_q.T, w_k.T, w_v.T, w_o.T)),
    ),
    "split_by_reshape": (_with(split=_reshaped), _with(split=_reshaped, join=_joined_as_they_are)),
    "joined_by_reshape": (_with(join=_joined_as_they_are),),
    "heads_added": (
        _with(join=_summed, project=_first_rows),
        _with(join=_mean, project=_first_rows),
    ),
    "no_output_projection": (_with(project=lambda joined, w_o: joined),),
    "output_projection_transposed": (_with(project=lambda joined, w_o: joined @ w_o.T),),
    "single_head": (
        _one_head_without_its_axis,
        _one_head,
    ),
    "scores_shared": (_with(scores=_all_heads_mean),),
    "weights_averaged": (
        _returning(lambda output, weights, x: (output, weights.mean(axis=-3))),
        _returning(lambda o, w, x: (o, np.broadcast_to(w.mean(-3, keepdims=True), w.shape).copy())),
    ),
    "heads_before_the_batch": (
        _returning(lambda output, weights, x: (output, np.moveaxis(weights, -3, 0))),
    ),
    "wrong_axis": (_with(axis=-2), _with(axis=-3)),
    "mask_ignored": (_mask_dropped,),
    "forbidden_takes_it_all": (
        _attending(masked_too_late.mask_and_share_again),
        _attending(masked_too_late.penalty_too_small),
    ),
    "mask_without_heads": (_with(to_heads=lambda mask: mask),),
    "mask_opened_behind_the_first_axis": (_with(to_heads=lambda mask: mask[:, None]),),
    "mask_backwards": (_with(to_heads=lambda mask: ~mask[..., None, :, :]),),
    "large_number_for_infinity": (_with(fill=-1e9),),
    "input_split": (_input_split,),
    "query_key_exchanged": (_renamed(lambda w_q, w_k, w_v, w_o: (w_k, w_q, w_v, w_o)),),
    "input_added": (_returning(lambda output, weights, x: (x + output, weights)),),
    "one_sentence_only": (_one_sentence,),
    "values_not_projected": (_values_not_projected,),
    "interleaved": (_with(split=_interleaved),),
    "heads_attend_to_heads": (_tokens_apart,),
    "mask_after_softmax": (_attending(masked_too_late.mask_afterwards),),
    "key_value_swapped": (_renamed(lambda w_q, w_k, w_v, w_o: (w_q, w_v, w_k, w_o)),),
    "scaled_by_length": (
        _with(size=lambda x, n_heads: x.shape[-2]),
        _with(size=lambda x, n_heads: len(x)),
        _with(size=lambda x, n_heads: len(x) if x.ndim > 2 else n_heads),
    ),
    "causal": (_causal,),
    **wrong_attention.in_each(_attending),
}

EXERCISE = Exercise.from_file(__file__, ("output", "weights"), _oracle, cases, MISTAKES)
