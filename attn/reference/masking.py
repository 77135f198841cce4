"""Inputs and labels of a masked language model."""

import numpy as np

from attn._checks import argument_error
from attn.reference._numbers import finite_numbers
from attn.reference._types import ArrayLike, Ints

# The first ids are <pad>, <unk>, <sos> and <eos>. They are never masked.
N_SPECIAL = 4
# The share of tokens that are chosen, and the shares of these that are masked and replaced.
CHOSEN, MASKED, REPLACED = 0.15, 0.8, 0.1


def mask_tokens(
    tokens: ArrayLike,
    chance: ArrayLike,
    dice: ArrayLike,
    others: ArrayLike,
    mask_id: int,
    ignore_id: int,
) -> tuple[Ints, Ints]:
    """Choose 15% of the tokens; mask most of them, replace some, leave some unchanged.

    Parameters
    ----------
    tokens : array_like of int, shape (..., seq_len)
        The ids 0 to 3 are special.
    chance, dice : array_like, shape (..., seq_len)
        Random numbers in [0, 1): a token that is not special is chosen where `chance` is below
        0.15. Of the chosen, `dice` below 0.8 hides one, from 0.8 to 0.9 changes it, and from
        0.9 leaves it.
    others : array_like of int, shape (..., seq_len)
        Random tokens, which replace the tokens that are changed.
    mask_id : int
        The id of the mask token.
    ignore_id : int
        The label of tokens that are not predicted.

    Returns
    -------
    inputs : ndarray of int, shape (..., seq_len)
    labels : ndarray of int, shape (..., seq_len)
        The tokens, where chosen; `ignore_id` elsewhere.

    Raises
    ------
    ValueError
        If shapes differ, or tokens are not integers.

    References
    ----------
    Devlin et al. (2019), section 3.1.

    Examples
    --------
    >>> inputs, labels = mask_tokens(
    ...     [2, 7, 8, 9, 6, 3], [0.0, 0.1, 0.1, 0.1, 0.9, 0.1], [0.1, 0.1, 0.85, 0.95, 0.1, 0.1],
    ...     [5, 5, 5, 5, 5, 5], mask_id=10, ignore_id=-100)
    >>> inputs.tolist(), labels.tolist()
    ([2, 10, 5, 9, 6, 3], [-100, 7, 8, 9, -100, -100])
    """
    tokens, others = np.asarray(tokens), np.asarray(others)
    chance, dice = finite_numbers(chance=chance, dice=dice)
    for name, array in (("chance", chance), ("dice", dice), ("others", others)):
        if array.shape != tokens.shape:
            raise argument_error(name, f"shape {tokens.shape} to match tokens", array.shape)
    for name, array in (("tokens", tokens), ("others", others)):
        if array.dtype.kind not in "iu":
            raise argument_error(name, "integers", array.dtype)
    for name, value in (("mask_id", mask_id), ("ignore_id", ignore_id)):
        if np.asarray(value).dtype.kind not in "iu" or np.ndim(value):
            raise argument_error(name, "an integer", repr(value))
    # A narrow integer type of the tokens may not be able to hold `ignore_id`.
    tokens, others = tokens.astype(np.int64), others.astype(np.int64)
    chosen = (chance < CHOSEN) & (tokens >= N_SPECIAL)
    changed = np.where(dice < MASKED, mask_id, others)
    touched = chosen & (dice < MASKED + REPLACED)
    return np.where(touched, changed, tokens), np.where(chosen, tokens, ignore_id)
