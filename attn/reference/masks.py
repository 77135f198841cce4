"""Masks: who may attend to whom, and who reaches whom in the end. True = *may attend*."""

import numpy as np

from attn._checks import argument_error, check_lengths, check_mask, check_shape, check_size
from attn.reference._numbers import ArrayLike, Bools, Ints


def causal_mask(tgt_len: int, src_len: int | None = None) -> Bools:
    """Let each query attend to its own position and to those before it.

    The last query stands at the last key. So with more keys than queries (new tokens after
    a cache of old keys) query i has the absolute position ``src_len - tgt_len + i``; with
    fewer, the first queries stand before every key and see none.

    Parameters
    ----------
    tgt_len : int
        Number of queries, at least 0.
    src_len : int, optional
        Number of keys; by default `tgt_len`.

    Returns
    -------
    ndarray of bool, shape (tgt_len, src_len)
        True where query i may attend to key j.

    References
    ----------
    Vaswani et al. (2017), section 3.2.3.

    Examples
    --------
    >>> causal_mask(3).astype(int)
    array([[1, 0, 0],
           [1, 1, 0],
           [1, 1, 1]])
    >>> causal_mask(2, 4).astype(int)
    array([[1, 1, 1, 0],
           [1, 1, 1, 1]])
    """
    tgt_len = check_size("tgt_len", tgt_len)
    src_len = tgt_len if src_len is None else check_size("src_len", src_len)
    return np.tri(tgt_len, src_len, k=src_len - tgt_len, dtype=bool)


def window_mask(tgt_len: int, window: int, src_len: int | None = None) -> Bools:
    """Let each query attend to its own position and to the few just before it.

    A causal mask of limited reach: a query sees only the last `window` positions, its own included.
    As in `causal_mask`, the last query stands at the last key. For a window that looks both ways,
    take ``mask | mask.T``.

    Parameters
    ----------
    tgt_len, src_len
        As in `causal_mask`.
    window : int
        How many positions each query may see, at least 1.

    Returns
    -------
    ndarray of bool, shape (tgt_len, src_len)

    References
    ----------
    Child et al. (2019), Generating long sequences with sparse Transformers. Beltagy et al.
    (2020), Longformer, section 3.1.

    Examples
    --------
    >>> window_mask(4, 2).astype(int)
    array([[1, 0, 0, 0],
           [1, 1, 0, 0],
           [0, 1, 1, 0],
           [0, 0, 1, 1]])
    """
    tgt_len, window = check_size("tgt_len", tgt_len), check_size("window", window, least=1)
    src_len = tgt_len if src_len is None else check_size("src_len", src_len)
    # The last query stands at the last key, so query i stands at key i + src_len - tgt_len.
    last = src_len - tgt_len
    seen: Bools = np.tri(tgt_len, src_len, k=last, dtype=bool)
    too_old: Bools = np.tri(tgt_len, src_len, k=last - window, dtype=bool)
    return seen & ~too_old


def padding_mask(lengths: ArrayLike, seq_len: int) -> Bools:
    """Hide the positions that pad short sequences to the common length.

    PyTorch's ``key_padding_mask`` is the opposite: there True marks the padding.

    Parameters
    ----------
    lengths : array_like of int, shape (...)
        The number of real tokens of each sequence, from 0 to `seq_len`.
    seq_len : int
        The common length.

    Returns
    -------
    ndarray of bool, shape (..., 1, seq_len)
        True at real tokens. The axis of size 1 broadcasts over the queries; multi-head
        attention lets it hold for every head.

    Examples
    --------
    >>> padding_mask([2, 3], 3).astype(int)
    array([[[1, 1, 0]],
    <BLANKLINE>
           [[1, 1, 1]]])
    """
    counts: Ints = np.asarray(lengths)
    seq_len = check_size("seq_len", seq_len)
    if counts.size and counts.dtype.kind not in "iu":
        raise argument_error("lengths", "integers", f"dtype {counts.dtype}")
    check_lengths(counts, seq_len)
    real: Bools = np.arange(seq_len) < counts[..., None, None]
    return real


def reachable(mask: ArrayLike, n_layers: int) -> Bools:
    """Find what each output depends on after a stack of layers under one mask.

    What a position receives in one layer is in its vector, which others receive in the next layer.
    The residual connection lets every position keep its own vector, whatever the mask says. So the
    rule is ``reached = (mask | identity) ** n_layers``, with boolean products.

    Parameters
    ----------
    mask : array_like of bool, shape (..., seq_len, seq_len)
        True = may attend, the same in every layer.
    n_layers : int

    Returns
    -------
    ndarray of bool, shape (..., seq_len, seq_len)
        True at [i, j] if output i depends on input j.

    References
    ----------
    Vaswani et al. (2017), section 3.2.3; its table 1 counts such steps as the path length.

    Examples
    --------
    >>> chain = np.eye(4, k=-1, dtype=bool)
    >>> reachable(chain, 2).astype(int)
    array([[1, 0, 0, 0],
           [1, 1, 0, 0],
           [1, 1, 1, 0],
           [0, 1, 1, 1]])
    """
    mask, n_layers = np.asarray(mask), check_size("n_layers", n_layers)
    check_mask("mask", mask)
    if mask.ndim < 2 or mask.shape[-1] != mask.shape[-2]:
        raise argument_error("mask", "shape (..., seq_len, seq_len)", mask.shape)
    own = np.eye(mask.shape[-1], dtype=bool)
    reached = np.broadcast_to(own, mask.shape)
    for _ in range(n_layers):
        reached = (mask | own) @ reached
    return reached


def path_lengths(mask: ArrayLike) -> Ints:
    """Count the layers that information needs between every two positions under a mask.

    In each layer a position receives from those that it may attend to. So the input at j reaches i
    after as many layers as the shortest path from i to j has edges.

    Parameters
    ----------
    mask : array_like of bool, shape (seq_len, seq_len)
        True where position i may attend to position j. A position always keeps what it has,
        whatever the diagonal says.

    Returns
    -------
    ndarray of int, shape (seq_len, seq_len)
        The fewest layers that bring j to i: 0 from a position to itself, -1 where no number
        of layers is enough.

    References
    ----------
    Vaswani et al. (2017), Table 1, "Maximum Path Length".

    Examples
    --------
    Each position hears of the one before, as in a recurrent network:

    >>> path_lengths(np.eye(3, k=-1, dtype=bool))
    array([[ 0, -1, -1],
           [ 1,  0, -1],
           [ 2,  1,  0]])
    """
    mask = np.asarray(mask)
    check_mask("mask", mask)
    check_shape("mask", mask, (len(mask) if mask.ndim else "seq_len",) * 2)
    heard = np.eye(len(mask), dtype=bool)
    lengths = np.where(heard, 0, -1)
    for layer in range(1, len(mask)):
        heard = heard | (mask @ heard)
        lengths[heard & (lengths < 0)] = layer
    return lengths
