"""A pre-norm decoder layer of which any part can be replaced by a faulty one."""

import numpy as np


def masked(scores, mask):
    return scores if mask is None else np.where(mask, scores, -np.inf)


def share(scores):
    """Take the softmax, NaN or not; a row without anybody gives zeros."""
    peak = scores.max(-1, keepdims=True)
    exponentials = np.exp(scores - np.where(peak == -np.inf, 0, peak))
    total = exponentials.sum(-1, keepdims=True)
    return exponentials / np.where(total == 0, 1, total)


def attend(query, memory, weights, mask, *, weigh=share, hide=masked, scale=True, out=True):
    w_q, w_k, w_v, w_o = weights
    scores = (query @ w_q) @ (memory @ w_k).mT
    if scale:
        scores = scores / np.sqrt(w_q.shape[1])
    found = weigh(hide(scores, mask)) @ (memory @ w_v)
    return found @ w_o if out else found


def fed(x, w_1, w_2):
    return np.maximum(0, x @ w_1) @ w_2


def norm(x, eps=1e-5, axis=-1):
    """Normalise, NaN or not: the norm of the course takes only numbers."""
    centred = x - x.mean(axis, keepdims=True)
    return centred / np.sqrt((centred * centred).mean(axis, keepdims=True) + eps)


def pre(x, step):
    return x + step(norm(x))


def post(x, step):
    return norm(x + step(x))


def with_eps(eps):
    def join(x, step):
        return x + step(norm(x, eps))

    return join


def no_sum(x, step):
    return step(norm(x))


def no_norm(x, step):
    return x + step(x)


def norm_of_the_answer(x, step):
    return x + norm(step(x))


def normed_path(x, step):
    return norm(x) + step(norm(x))


def over_tokens(x, step):
    return x + step(norm(x, axis=-2))


def causal(shape):
    return np.tri(*shape, dtype=bool)


def source(real, shape):
    return None if real is None else real[..., None, :]


def layer_with(
    joins=(pre, pre, pre),
    own=causal,
    source=source,
    attend=attend,
    look_up=attend,
    feed=fed,
    memory_of=lambda memory, x: memory,
    order=(0, 1, 2),
    last=lambda x: x,
):
    """Return the layer with one of its parts replaced."""

    def layer(x, memory, w_self, w_cross, w_1, w_2, real=None):
        def see_own(y):
            return attend(y, y, w_self, own((y.shape[-2], y.shape[-2])))

        def see_source(y):
            shape = y.shape[-2], memory.shape[-2]
            return look_up(y, memory_of(memory, y), w_cross, source(real, shape))

        def think(y):
            return feed(y, w_1, w_2)

        steps = see_own, see_source, think
        for i in order:
            x = joins[i](x, steps[i])
        return last(x)

    return layer
