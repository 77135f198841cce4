"""Argument checks shared by the NumPy and the PyTorch functions.

They read ``.shape`` and ``.dtype``, which arrays of both libraries have, so neither is
imported. Every error has one pattern: the argument, what was expected, what came.
"""

import operator


def wrong(name, expected, got):
    """Return the ``ValueError`` for one bad argument.

    Examples
    --------
    >>> wrong("mask", "a boolean array", "dtype float64")
    ValueError('mask: expected a boolean array, got dtype float64')
    """
    return ValueError(f"{name}: expected {expected}, got {got}")


def check_size(name, size, least=0):
    """Return `size` as an int of at least `least`; otherwise raise ``ValueError``."""
    try:
        size = operator.index(size)
    except TypeError:
        raise wrong(name, "an integer", repr(size)) from None
    if size < least:
        raise wrong(name, f"at least {least}", size)
    return size


def check_fraction(name, fraction):
    """Raise ``ValueError`` unless `fraction` is a number from 0 up to, but not including, 1."""
    if not isinstance(fraction, (int, float)) or not 0 <= fraction < 1:
        raise wrong(name, "a number in [0, 1)", repr(fraction))


def check_choice(name, choice, choices):
    """Raise ``ValueError`` unless `choice` is one of `choices`."""
    if choice not in choices:
        raise wrong(name, " or ".join(map(repr, choices)), repr(choice))


def check_divides(name, size, divisor_name, divisor):
    """Raise ``ValueError`` unless `size` is a multiple of `divisor`."""
    if size % divisor:
        raise wrong(name, f"a multiple of {divisor_name} = {divisor}", size)


def check_finite(name, is_finite):
    """Raise ``ValueError`` unless every element of the boolean array `is_finite` is True.

    One NaN or infinity reaches every output that looks at it, and then every gradient;
    refusing it here tells where it came from.
    """
    if not is_finite.all():
        raise wrong(name, "finite numbers", f"{int((~is_finite).sum())} NaN or infinite")


def check_shape(name, array, expected, like=None):
    """Raise ``ValueError`` unless `array` has the `expected` shape.

    Parameters
    ----------
    name : str
        The argument, for the message.
    array : array
        Anything with a shape.
    expected : tuple of int or str
        The size of each axis, or the name of one that may have any size. A leading ``...``
        allows any number of axes before them.
    like : str, optional
        The argument that these sizes come from.

    Raises
    ------
    ValueError
        If the shape differs.

    Examples
    --------
    >>> import numpy as np
    >>> check_shape("x", np.ones((2, 5, 8)), (..., "seq_len", 8))
    >>> check_shape("w_q", np.ones((8, 4)), (6, "d_k"), like="x")
    Traceback (most recent call last):
    ValueError: w_q: expected shape (6, d_k) to match x, got (8, 4)
    """
    sizes = expected[1:] if expected[0] is ... else expected
    shape = tuple(array.shape)
    last = shape[-len(sizes) :] if expected[0] is ... else shape
    fits = len(last) == len(sizes) and all(
        isinstance(wanted, str) or wanted == size for wanted, size in zip(sizes, last, strict=True)
    )
    if not fits:
        names = ", ".join("..." if size is ... else str(size) for size in expected)
        names += "," if len(expected) == 1 else ""
        source = f" to match {like}" if like else ""
        raise wrong(name, f"shape ({names}){source}", shape)


def check_lengths(lengths, seq_len):
    """Raise ``ValueError`` unless every one of `lengths` is between 0 and `seq_len`."""
    outside = lengths[(lengths < 0) | (lengths > seq_len)]
    if len(outside):
        raise wrong("lengths", f"values between 0 and seq_len = {seq_len}", int(outside[0]))


def check_attention(query, key, value, mask=None):
    """Check that the arguments of attention fit together.

    Parameters
    ----------
    query : array, shape (..., tgt_len, d_k)
    key : array, shape (..., src_len, d_k)
    value : array, shape (..., src_len, d_v)
    mask : boolean array, broadcastable to (..., tgt_len, src_len), optional

    Returns
    -------
    tuple of int
        The batch shape that query, key and value broadcast to.

    Raises
    ------
    ValueError
        If they do not fit. Lengths of zero are fine; ``d_k = 0`` is not, since the scores
        are divided by its root.

    Examples
    --------
    >>> import numpy as np
    >>> check_attention(np.ones((2, 1, 3, 8)), np.ones((4, 5, 8)), np.ones((5, 6)))
    (2, 4)
    >>> check_attention(np.ones((3, 8)), np.ones((2, 5, 4)), np.ones((5, 6)))
    Traceback (most recent call last):
    ValueError: key: expected shape (..., src_len, 8) to match query, got (2, 5, 4)
    """
    shapes = {"query": query.shape, "key": key.shape, "value": value.shape}
    axes = {"query": "tgt_len, d_k", "key": "src_len, d_k", "value": "src_len, d_v"}
    for name, shape in shapes.items():
        if len(shape) < 2:
            raise wrong(name, f"shape (..., {axes[name]})", tuple(shape))

    tgt_len, d_k = query.shape[-2:]
    src_len = key.shape[-2]
    if d_k == 0:
        raise wrong("query", "d_k of at least 1", f"shape {tuple(query.shape)}")
    if key.shape[-1] != d_k:
        raise wrong("key", f"shape (..., src_len, {d_k}) to match query", tuple(key.shape))
    if value.shape[-2] != src_len:
        raise wrong("value", f"shape (..., {src_len}, d_v) to match key", tuple(value.shape))

    batch = ()
    for name, shape in shapes.items():
        joined = broadcast_shapes(batch, shape[:-2])
        if joined is None:
            raise wrong(name, f"batch dimensions that broadcast with {batch}", tuple(shape[:-2]))
        batch = joined
    if mask is not None:
        check_mask("mask", mask, (*batch, tgt_len, src_len))
    return batch


def check_mask(name, mask, shape=None):
    """Raise ``ValueError`` unless `mask` is boolean and broadcasts to `shape`, if given.

    It may not *add* dimensions: a mask (batch_size, 1, seq_len, seq_len) beside inputs
    (batch_size, seq_len, d_k) would pair every sequence with the mask of every other.
    """
    dtype = getattr(mask, "dtype", type(mask).__name__)
    if str(dtype).removeprefix("torch.") != "bool":
        raise wrong(name, "a boolean array (True = may attend)", f"dtype {dtype}")
    if shape is not None and broadcast_shapes(mask.shape, shape) != shape:
        raise wrong(name, f"a shape that broadcasts to {shape}", tuple(mask.shape))


def broadcast_shapes(*shapes):
    """Return the shape that `shapes` broadcast to, or None if they do not.

    NumPy and PyTorch have this function too, but a compiled PyTorch graph can follow only
    its own, and NumPy lessons have no PyTorch.

    Examples
    --------
    >>> broadcast_shapes((5, 1), (2, 1, 3))
    (2, 5, 3)
    >>> broadcast_shapes((2,), (3,)) is None
    True
    """
    if all(shape == shapes[0] for shape in shapes):  # as nearly always
        return tuple(shapes[0])
    rank = max(len(shape) for shape in shapes)
    padded = [(1,) * (rank - len(shape)) + tuple(shape) for shape in shapes]
    joined = []
    for sizes in zip(*padded, strict=True):
        size = next((n for n in sizes if n != 1), 1)
        if any(n != 1 and n != size for n in sizes):
            return None
        joined.append(size)
    return tuple(joined)
