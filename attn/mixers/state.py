"""One recurrence with three ways to compute it, behind linear attention, retention and both delta rules.

A *state* of shape (..., d_k, d_v) stands for all tokens so far. At each step

    state = decay * state
    state = state + key^T (beta * (value - key @ state))    with beta, a delta rule
    state = state + key^T value                             without
    output = query @ state

`recurrent` does this token by token, which is how a model decodes. `chunked` gives the same in products of
matrices, as training needs it: within a chunk every token looks at every earlier one, and only from chunk to
chunk a state is passed on. `state_weights` is one chunk as long as the text, and so the matrix by which the
values are multiplied. An exported graph has one chunk, too, and reads at most `LONGEST_EXPORTED` tokens under a
delta rule. All are computed in float32 at least: the errors of a rounded state would add up.
"""

from contextlib import AbstractContextManager, nullcontext
from typing import Any, TypeAlias

import torch
from torch import Tensor
from torch.nn import functional as F

from attn._checks import argument_error, broadcast_shapes, check_shape, check_size
from attn.attention.scaled_dot_product import autocasts

# The output, and the state after the last token.
Read: TypeAlias = tuple[Tensor, Tensor]
# The most tokens of the triangular system that an exported graph solves in blocks.
LONGEST_EXPORTED = 4096
_is_exporting = getattr(torch.compiler, "is_exporting", lambda: False)  # PyTorch 2.6 lacks it.


def exporting() -> bool:
    """Return whether a graph is being exported, which some versions also say of ``torch.compile``."""
    return bool(_is_exporting()) and not torch.compiler.is_dynamo_compiling()


def recurrent(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    *,
    log_decay: Tensor | None = None,
    beta: Tensor | None = None,
    state: Tensor | None = None,
) -> Read:
    """Read the tokens one by one, as the recurrence is written.

    Parameters
    ----------
    query, key : Tensor, shape (..., seq_len, d_k)
    value : Tensor, shape (..., seq_len, d_v)
    log_decay : Tensor, broadcastable to (..., seq_len), optional
        The logarithm, at most 0, of what is left of the state before each step. Without it nothing fades.
    beta : Tensor, broadcastable to (..., seq_len), optional
        How much of the error each step corrects. Without it values are added.
    state : Tensor, shape (..., d_k, d_v), optional
        What earlier tokens have left; zero if not given.

    Returns
    -------
    output : Tensor, shape (..., seq_len, d_v)
        Of the type of `value`.
    state : Tensor, shape (..., d_k, d_v)
        Behind the last token, in float32 or, for inputs in float64, in float64.

    Raises
    ------
    ValueError
        If shapes do not fit.

    References
    ----------
    Katharopoulos et al. (2020), section 3.4. Sun et al. (2023), Retentive Network, section 2.1. Schlag et al.
    (2021), section 4.2. Yang, Kautz and Hatamizadeh (2024), Gated Delta Networks, Eq. 10.

    Examples
    --------
    >>> key, value = torch.tensor([[1.0], [1.0]]), torch.tensor([[8.0], [3.0]])
    >>> added, _ = recurrent(key, key, value)
    >>> corrected, _ = recurrent(key, key, value, beta=torch.ones(2))
    >>> added.mT, corrected.mT
    (tensor([[ 8., 11.]]), tensor([[8., 3.]]))
    """
    dtype = value.dtype
    query, key, value, log_decay, beta, state = _prepared(query, key, value, log_decay, beta, state)
    outputs: list[Tensor] = []
    with _exactly(query.device):
        for n in range(query.shape[-2]):
            q, k, v = (x[..., n : n + 1, :] for x in (query, key, value))
            if log_decay is not None:
                state = log_decay[..., n, None, None].exp() * state
            if beta is not None:
                v = beta[..., n, None, None] * (v - k @ state)
            state = state + k.mT @ v
            outputs.append(q @ state)
    output = torch.cat(outputs, dim=-2) if outputs else torch.zeros_like(value)
    return output.to(dtype), state


def chunked(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    *,
    log_decay: Tensor | None = None,
    beta: Tensor | None = None,
    state: Tensor | None = None,
    chunk_size: int = 32,
) -> Read:
    """Read the tokens chunk by chunk: the result of `recurrent`, in products of matrices.

    What the tokens of a chunk write under a delta rule depends on what those before them wrote,
    which is a triangular system: its solution says how each chunk's values change the state, and
    how much of the state its keys remove first. (Products of the matrices ``1 - beta key^T key``
    have this short form, which is called WY.)

    Parameters
    ----------
    query, key, value, log_decay, beta, state
        As in `recurrent`.
    chunk_size : int, default 32
        Number of tokens in a chunk; no other result, only other work.

    Returns
    -------
    output : Tensor, shape (..., seq_len, d_v)
    state : Tensor, shape (..., d_k, d_v)

    Raises
    ------
    ValueError
        If shapes do not fit, or `chunk_size` is below 1.

    References
    ----------
    Sun et al. (2023), section 2.1: the chunkwise representation. Yang et al. (2024), Parallelizing Linear
    Transformers with the Delta Rule over Sequence Length, section 3. Yang, Kautz and Hatamizadeh (2024),
    Eqs. 6 to 9 and section 3.3.

    Examples
    --------
    >>> query, key, value = torch.randn(3, 2, 50, 8)
    >>> beta, log_decay = torch.rand(2, 50), -torch.rand(2, 50)
    >>> one, _ = recurrent(query, key / 3, value, beta=beta, log_decay=log_decay)
    >>> other, _ = chunked(query, key / 3, value, beta=beta, log_decay=log_decay, chunk_size=16)
    >>> torch.allclose(one, other, rtol=1e-4, atol=1e-4)
    True
    """
    dtype, length = value.dtype, query.shape[-2]
    chunk_size = check_size("chunk_size", chunk_size, least=1)
    query, key, value, log_decay, beta, state = _prepared(query, key, value, log_decay, beta, state)
    if exporting():
        # A graph for texts of any length cannot go from chunk to chunk.
        chunk_size = length
    elif length == 0:
        return torch.zeros_like(value).to(dtype), state
    else:
        chunk_size = min(chunk_size, length)
    with _exactly(query.device):
        query, key, value = (_chunks(x, chunk_size) for x in (query, key, value))
        log_decay, beta = (
            None if x is None else _chunks(x.unsqueeze(-1), chunk_size) for x in (log_decay, beta)
        )
        scores, erased = _pairs(query, key, log_decay, beta)
        taken, kept = key, None
        if log_decay is not None:
            # The log of the decay of the state from the beginning of the chunk up to each token.
            total = log_decay.cumsum(dim=-2)
            query, taken = query * total.exp(), key * total.exp()
            key = key * (total[..., -1:, :] - total).exp()
            kept = total[..., -1:, :].exp()
        if beta is not None and erased is not None:
            both = torch.cat((beta * value, beta * taken), dim=-1)
            both = _solved(erased, both)
            value, taken = both.split((value.shape[-1], taken.shape[-1]), dim=-1)
        states, written = [], []
        for i in range(key.shape[-3]):
            states.append(state)
            values = value[..., i, :, :]
            if beta is not None:
                values = values - taken[..., i, :, :] @ state
            written.append(values)
            if kept is not None:
                state = kept[..., i, :, :] * state
            state = state + key[..., i, :, :].mT @ values
        output = scores @ torch.stack(written, dim=-3) + query @ torch.stack(states, dim=-3)
    output = output.flatten(-3, -2)[..., :length, :]
    return output.to(dtype), state


def state_weights(
    query: Tensor,
    key: Tensor,
    *,
    log_decay: Tensor | None = None,
    beta: Tensor | None = None,
) -> Tensor:
    """Return the matrix that, times the values, gives what `recurrent` reads from an empty state.

    Rows need not sum to 1, and under a delta rule weights may be negative.

    Parameters
    ----------
    query, key, log_decay, beta
        As in `recurrent`.

    Returns
    -------
    Tensor, shape (..., seq_len, seq_len)
        Zero where the value stands behind the query.

    Raises
    ------
    ValueError
        If shapes do not fit.

    References
    ----------
    Sun et al. (2023), section 2.1: the parallel representation. Yang, Kautz and Hatamizadeh (2024), Eq. 6.

    Examples
    --------
    The key of the third token is that of the first, whose value it replaces:

    >>> key = torch.tensor([[1.0, 0.0], [0.0, 1.0], [1.0, 0.0]])
    >>> state_weights(key, key, beta=torch.ones(3))[2]
    tensor([0., 0., 1.])
    """
    dtype = query.dtype
    query, key, _, log_decay, beta, _ = _prepared(query, key, key, log_decay, beta, None)
    with _exactly(query.device):
        log_decay, beta = (None if x is None else x.unsqueeze(-1) for x in (log_decay, beta))
        weights, erased = _pairs(query, key, log_decay, beta)
        if beta is not None and erased is not None:
            weights = torch.linalg.solve_triangular(
                erased, weights, upper=False, left=False, unitriangular=True
            )
            weights = weights * beta.mT
    return weights.to(dtype)


def _exactly(device: torch.device) -> AbstractContextManager[Any]:
    """Return a context manager in which autocast does not round the state."""
    return torch.autocast(device.type, enabled=False) if autocasts(device) else nullcontext()


def _pairs(
    query: Tensor, key: Tensor, log_decay: Tensor | None, beta: Tensor | None
) -> tuple[Tensor, Tensor | None]:
    """Return how much each query reads of each key, and how much each key erases of each earlier
    one.

    The first is lower triangular, shape (..., length, length); of the second, only the part below
    the diagonal is used. `log_decay` and `beta` are columns, shape (..., length, 1).
    """
    scores = query @ key.mT
    erased = None if beta is None else beta * (key @ key.mT)
    if log_decay is not None:
        total = log_decay.cumsum(dim=-2)
        hidden = torch.ones_like(scores, dtype=torch.bool).triu(1)
        # Above the diagonal the exponential could overflow, and infinity times zero is NaN.
        fade = (total - total.mT).masked_fill(hidden, 0.0).exp()
        scores = scores * fade
        erased = None if erased is None else erased * fade
    return scores.tril(), erased


def _solved(erased: Tensor, both: Tensor) -> Tensor:
    """Return what the unit lower triangular matrix, of which `erased` is the lower half, maps to `both`."""
    if not exporting():
        solved: Tensor = torch.linalg.solve_triangular(
            erased, both, upper=False, unitriangular=True
        )
        return solved
    # ONNX solves no triangular systems. From the inverses of two neighbouring diagonal blocks
    # follows the inverse of the block of both: the part below the diagonal is multiplied by both
    # inverses.
    length = erased.shape[-1]
    wanted = (
        f"seq_len: expected at most {LONGEST_EXPORTED} tokens in an exported graph of a delta rule"
    )
    torch._check(length <= LONGEST_EXPORTED, lambda: wanted)
    n = torch.arange(length, device=erased.device)
    size, inverse = 1, (n[:, None] == n).to(erased.dtype).expand_as(erased)
    while size < (length if isinstance(length, int) else LONGEST_EXPORTED):
        row, column = n[:, None] // size, n // size
        beneath = (row == column + 1) & (column % 2 == 0)
        inverse = inverse - inverse @ erased.masked_fill(~beneath, 0.0) @ inverse
        size *= 2
    # ONNX drops the check above. A text that is too long then gets NaN everywhere, since what a token reads
    # multiplies the later ones by zero, instead of wrong numbers.
    solved = (inverse @ both).masked_fill((n >= LONGEST_EXPORTED)[:, None], torch.nan)
    return solved


def _chunks(x: Tensor, chunk_size: int) -> Tensor:
    """Split (..., length, d) into (..., n_chunks, chunk_size, d), with zeros at the end."""
    if exporting():
        return x.unsqueeze(-3)
    padded = F.pad(x, (0, 0, 0, -x.shape[-2] % chunk_size))
    chunks: Tensor = padded.unflatten(-2, (-1, chunk_size))
    return chunks


def _prepared(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    log_decay: Tensor | None,
    beta: Tensor | None,
    state: Tensor | None,
) -> tuple[Tensor, Tensor, Tensor, Tensor | None, Tensor | None, Tensor]:
    """Return the arguments of `recurrent` in one type and batch shape; ``ValueError`` if they do not fit."""
    check_shape("query", query, (..., "seq_len", "d_k"))
    check_shape("key", key, (..., *query.shape[-2:]), like="query")
    check_shape("value", value, (..., query.shape[-2], "d_v"), like="query")
    batch = tuple(query.shape[:-2])
    for name, other in (("key", key), ("value", value)):
        joined = broadcast_shapes(batch, tuple(other.shape[:-2]))
        if joined is None:
            wanted = f"batch dimensions that broadcast with {batch}"
            raise argument_error(name, wanted, tuple(other.shape[:-2]))
        batch = joined
    dtype = torch.promote_types(value.dtype, torch.float32)
    query, key, value = (x.to(dtype).expand(*batch, *x.shape[-2:]) for x in (query, key, value))
    per_token = (*batch, query.shape[-2])
    numbers = {"log_decay": log_decay, "beta": beta}
    for name, given in numbers.items():
        if given is not None:
            if broadcast_shapes(tuple(given.shape), per_token) != per_token:
                wanted = f"a shape that broadcasts to {per_token}"
                raise argument_error(name, wanted, tuple(given.shape))
            numbers[name] = given.to(dtype).expand(per_token)
    shape = (*batch, query.shape[-1], value.shape[-1])
    if state is None:
        state = value.new_zeros(shape)
    else:
        check_shape("state", state, shape)
    return query, key, value, numbers["log_decay"], numbers["beta"], state.to(dtype)
