"""Span corruption: inputs and targets of a text-to-text model without labels."""

import numpy as np

from attn._checks import argument_error
from attn.reference._types import ArrayLike, Ints


def corrupt_spans(tokens: ArrayLike, hidden: ArrayLike, first_sentinel: int) -> tuple[Ints, Ints]:
    """Replace runs of hidden tokens by sentinels; the targets are the runs after their sentinels.

    Parameters
    ----------
    tokens : array_like of int, shape (seq_len,)
    hidden : array_like of bool, shape (seq_len,)
    first_sentinel : int
        The sentinel of the first run; each next run has the next id. One more sentinel ends
        the targets.

    Returns
    -------
    inputs, targets : ndarray of int
        Together they hold every token once and every sentinel but the last twice.

    Raises
    ------
    ValueError
        If the arguments are not as above.

    References
    ----------
    Raffel et al. (2020), section 3.1.4 and Figure 2.

    Examples
    --------
    >>> inputs, targets = corrupt_spans([5, 6, 7, 8, 9], [0, 1, 1, 0, 1], first_sentinel=100)
    >>> inputs.tolist(), targets.tolist()
    ([5, 100, 8, 101], [100, 6, 7, 101, 9, 102])
    """
    tokens, hidden = np.asarray(tokens), np.asarray(hidden).astype(bool)
    if tokens.ndim != 1 or tokens.dtype.kind not in "iu":
        raise argument_error(
            "tokens", "integers of shape (seq_len,)", f"{tokens.dtype} of {tokens.shape}"
        )
    if hidden.shape != tokens.shape:
        raise argument_error("hidden", f"shape {tokens.shape} to match tokens", hidden.shape)
    inputs, targets, sentinel = [], [], int(first_sentinel)
    for i, (token, is_hidden) in enumerate(zip(tokens.tolist(), hidden, strict=True)):
        if not is_hidden:
            inputs.append(token)
            continue
        if i == 0 or not hidden[i - 1]:
            inputs.append(sentinel)
            targets.append(sentinel)
            sentinel += 1
        targets.append(token)
    return np.array(inputs, dtype=int), np.array([*targets, sentinel], dtype=int)
