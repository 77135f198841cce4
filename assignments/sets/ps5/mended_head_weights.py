"""Problem set 5, `mended_head_weights`: masks that go to other sentences, and wrong repairs."""

import numpy as np

from attn.reference import softmax
from attn_course.exercises.spec import Exercise


def mended_head_weights(query, key, real):
    """Return the weights of every head, which sees the real keys of its own sentence."""
    return _weigh(_scores(query, key), real[:, None, None, :])


def cases(seed):
    """Return queries and keys of several sentences and heads, and which keys are real.

    Parameters
    ----------
    seed : int
        Seed of the random numbers, and of the sizes of some inputs.

    Returns
    -------
    list of dict
        With the keys ``query``, ``key`` and ``real``, the last boolean.
    """
    rng = np.random.default_rng(seed)

    def draw(lengths, n_heads, tgt_len, src_len, d_k, padded_in_front=(), height=0.0):
        # With a height, the scores of even rows are far above 0, and those of odd rows far below.
        query, key = (
            rng.uniform(-1, 1, (len(lengths), n_heads, n, d_k)) for n in (tgt_len, src_len)
        )
        query[..., 0] += np.resize([height, -height], tgt_len)
        key[..., 0] = np.where(height, 1, key[..., 0])
        real = np.arange(src_len) < np.array(lengths)[:, None]
        for row in padded_in_front:
            real[row] = real[row, ::-1]
        return {"query": query, "key": key, "real": real}

    return [
        draw([3, 4], 2, 2, 5, 3),
        draw([5, 3], 3, 4, 5, 2),
        draw([4, 6, 3], 2, 3, 6, 5, padded_in_front=[2]),
        draw([3, 5, 4, 6], 3, 2, 7, 3),
        draw([5, 3], 2, 3, 6, 4, padded_in_front=[0], height=20000.0),
        draw(rng.integers(3, 7, 3), *rng.integers((2, 2, 6, 2), (5, 5, 9, 5))),
    ]


def _scores(query, key):
    return query @ key.mT / np.sqrt(query.shape[-1])


def _mask(real, query):
    return np.broadcast_to(real[:, None, None, :], (*query.shape[:-1], real.shape[-1]))


def _weigh(scores, mask):
    return softmax(np.where(mask, scores, -np.inf))


def _with(mask=_mask, scores=_scores, weigh=_weigh):
    """Return the function with one of its parts replaced."""
    return lambda query, key, real: weigh(scores(query, key), mask(real, query))


def _tiled(real, query):
    batch_size, n_heads = query.shape[:2]
    return np.tile(real, (n_heads, 1)).reshape(batch_size, n_heads, 1, -1)


def _reordered(query, key, real):
    """Mend the order of the result and not that of the mask."""
    batch_size, n_heads, *rest = query.shape[:-1]
    weights = _with(_tiled)(query, key, real)
    return weights.reshape(n_heads, batch_size, *rest, -1).swapaxes(0, 1)


def _naive(scores, mask):
    exponentials = np.exp(np.where(mask, scores, -np.inf))
    return exponentials / exponentials.sum(axis=-1, keepdims=True)


MISTAKES = {
    "masks_of_other_sentences": (_with(_tiled),),
    "reordered_result": (_reordered,),
    "no_mask": (_with(lambda real, query: np.ones_like(_mask(real, query))),),
    "mask_inverted": (_with(lambda real, query: ~_mask(real, query)),),
    "first_sentence_for_all": (
        _with(lambda real, query: _mask(real[:1].repeat(len(real), axis=0), query)),
    ),
    "common_to_all": (
        _with(lambda real, query: _mask(0 * real + real.all(axis=0) > 0, query)),
        _with(lambda real, query: _mask(0 * real + real.any(axis=0) > 0, query)),
    ),
    "multiplied": (_with(weigh=lambda scores, mask: softmax(scores * mask)),),
    "after_the_softmax": (_with(weigh=lambda scores, mask: softmax(scores) * mask),),
    "unscaled": (_with(scores=lambda query, key: query @ key.mT),),
    "scaled_by_all_heads": (
        _with(scores=lambda query, key: query @ key.mT / np.sqrt(query.shape[1] * query.shape[-1])),
    ),
    "overflow": (_with(weigh=_naive),),
}

EXERCISE = Exercise.from_file(__file__, ("weights",), mended_head_weights, cases, MISTAKES)
