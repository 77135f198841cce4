"""Problem set 11, `use_in_chunks`: matrices within chunks and a state between them."""

import numpy as np

from attn_course.exercises.spec import Exercise

from .rule import draw, kept, other_use
from .use_matrix import products_after


def use_in_chunks(query, key, value, beta, size):
    """Return what the memory answers, chunk by chunk, and its state after each chunk.

    Parameters
    ----------
    query, key : array, shape (n, d_k)
    value : array, shape (n, d_v)
    beta : array, shape (n,)
    size : int
        Tokens of a chunk; the last one may have fewer.

    Returns
    -------
    output : array, shape (n, d_v)
    states : array, shape (n_chunks, d_k, d_v)

    References
    ----------
    Yang et al. (2024), Gated Linear Attention Transformers with Hardware-Efficient Training,
    section 4.2: the chunkwise form.
    """
    return _chunks(query, key, value, beta, size)


def _since(keep):
    """Return what is left at each token of what stood there before the chunk."""
    return np.cumprod(keep, axis=0)


def _until(keep):
    """Return what is left at the end of the chunk of what each token wrote."""
    return products_after(keep)[-1]


def _carried(state, written, keep):
    return keep.prod(axis=0)[:, None] * state + written


def _chunks(
    query,
    key,
    value,
    beta,
    size,
    *,
    keep=kept,
    since=_since,
    until=_until,
    carry=_carried,
    inside=products_after,
    forget=False,
):
    """Go from chunk to chunk, with the given parts replaced."""
    state, outputs, states = np.zeros((key.shape[1], value.shape[1])), [], []
    for start in range(0, len(key), int(size)):
        q, k, v, b = (x[start : start + int(size)] for x in (query, key, value, beta))
        left = keep(k, b)
        matrix = np.einsum("ti,si,tsi->ts", q, k, inside(left)) * b
        outputs.append(matrix @ v + (q * since(left)) @ state * (not forget))
        state = carry(state, (until(left) * b[:, None] * k).T @ v, left)
        states.append(state)
    return np.concatenate(outputs), np.array(states)


def cases(seed):
    """Return texts in chunks of equal length, with a shorter last one, and with a row wiped.

    Parameters
    ----------
    seed : int
        Seed of the random numbers, and of the sizes of some inputs.

    Returns
    -------
    list of dict
        With the keys ``query``, ``key``, ``value``, ``beta`` and ``size``.
    """
    rng = np.random.default_rng(seed)

    def case(n_chunks, size, d_k, d_v, *, fewer=0, wiped=0):
        drawn = draw(rng, n_chunks * size - fewer, d_k, d_v, wiped=wiped)
        return drawn | {"size": np.array(size)}

    return [
        case(2, 2, 2, 3),
        case(3, 2, 3, 2),
        case(3, 3, 2, 4),
        case(*rng.integers(3, 6, 4)),
        case(3, 3, 2, 3, fewer=1),
        case(4, 4, 3, 2, fewer=2),
        case(3, 3, 2, 3, wiped=3),
    ]


def _wrong(**how):
    return lambda *arguments: _chunks(*arguments, **how)


def _shifted(query, key, value, beta, size):
    output, states = use_in_chunks(query, key, value, beta, size)
    return output, np.concatenate([0 * states[:1], states[:-1]])


def _written_alone(query, key, value, beta, size):
    output, _ = use_in_chunks(query, key, value, beta, size)
    return output, _chunks(query, key, value, beta, size, carry=lambda state, new, keep: new)[1]


MISTAKES = {
    "chunks_alone": (
        _wrong(forget=True),
        _wrong(carry=lambda state, written, keep: written, forget=True),
    ),
    "one_chunk_remembered": (_wrong(carry=lambda state, written, keep: written),),
    "state_read_undecayed": (_wrong(since=np.ones_like),),
    "own_decay_missing_in_the_reading": (
        _wrong(since=lambda keep: np.cumprod(keep, axis=0) / keep),
        _wrong(since=lambda keep: np.concatenate([0 * keep[:1] + 1, np.cumprod(keep, 0)[:-1]])),
    ),
    "whole_chunk_in_the_reading": (
        _wrong(since=lambda keep: np.broadcast_to(keep.prod(axis=0), keep.shape)),
    ),
    "own_decay_in_the_reading": (_wrong(since=lambda keep: keep),),
    "state_carried_undecayed": (_wrong(carry=lambda state, written, keep: state + written),),
    "state_decayed_once": (
        _wrong(carry=lambda state, written, keep: keep[-1][:, None] * state + written),
    ),
    "written_undecayed": (_wrong(until=np.ones_like),),
    "written_decayed_by_all": (
        _wrong(until=lambda keep: np.broadcast_to(keep.prod(axis=0), keep.shape)),
    ),
    "own_decay_in_the_writing": (_wrong(until=lambda keep: products_after(keep)[-1] * keep),),
    "matrix_undecayed": (
        _wrong(inside=lambda keep: np.tri(len(keep))[..., None] * np.ones(keep.shape)),
    ),
    "nothing_forgotten": (_wrong(keep=lambda key, beta: np.ones_like(key)),),
    "other_measure_of_use": (_wrong(keep=lambda key, beta: 1 - beta[:, None] * other_use(key)),),
    "states_at_the_beginning": (_shifted,),
    "states_of_the_chunks_alone": (_written_alone,),
}

EXERCISE = Exercise.from_file(__file__, ("output", "states"), use_in_chunks, cases, MISTAKES)
