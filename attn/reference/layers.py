"""The layers of the Transformer: steps whose output is added to their input and normalised."""

from collections.abc import Callable, Collection, Mapping
from typing import Literal

import numpy as np

from attn._checks import argument_error, check_choice, check_shape
from attn.reference._numbers import (
    ArrayLike,
    Floats,
    check_overflow,
    finite_numbers,
    finite_vector,
    linear,
)
from attn.reference.multi_head import multi_head_attention

_Parameters = Mapping[str, Mapping[str, ArrayLike]]
_Norm = Literal["post", "pre"]
_Step = Callable[..., Floats]
_Names = tuple[str, ...]
_Kind = tuple[_Step, _Names, _Names]


def layer_norm(
    x: ArrayLike, gain: ArrayLike | None = None, bias: ArrayLike | None = None, eps: float = 1e-5
) -> Floats:
    """Give each vector mean zero and variance one, then stretch and shift its components.

    Parameters
    ----------
    x : array_like, shape (..., d_model)
    gain, bias : array_like, shape (d_model,), optional
        Factors and summands of the components; ones and zeros if not given.
    eps : float, default 1e-5
        A number above 0, added to the variance, which may be zero.

    Returns
    -------
    ndarray, shape (..., d_model)
        ``gain * (x - mean) / sqrt(variance + eps) + bias``. Mean and variance are those of
        each vector on its own; the variance divides by d_model, not by one less.

    References
    ----------
    Ba, Kiros and Hinton (2016), Layer Normalization, section 3.

    Examples
    --------
    >>> layer_norm([1.0, 3.0, 1.0, 3.0]).round(3)
    array([-1.,  1., -1.,  1.])
    """
    (x,) = finite_numbers(x=x)
    if x.ndim == 0 or x.shape[-1] == 0:
        raise argument_error("x", "shape (..., d_model) with d_model of at least 1", x.shape)
    if not 0 < eps < np.inf:
        raise argument_error("eps", "a positive number", eps)
    gain = 1 if gain is None else finite_vector("gain", gain, x.shape[-1], "x")
    bias = 0 if bias is None else finite_vector("bias", bias, x.shape[-1], "x")
    deviation = x - x.mean(axis=-1, keepdims=True)
    variance = (deviation**2).mean(axis=-1, keepdims=True)
    check_overflow("x", variance)
    normal: Floats = gain * deviation / np.sqrt(variance + eps) + bias
    return normal


def feed_forward(
    x: ArrayLike, w_1: ArrayLike, b_1: ArrayLike, w_2: ArrayLike, b_2: ArrayLike
) -> Floats:
    """Transform each vector on its own: out to d_ff, negative components to zero, and back.

    Parameters
    ----------
    x : array_like, shape (..., d_model)
    w_1 : array_like, shape (d_model, d_ff)
    b_1 : array_like, shape (d_ff,)
    w_2 : array_like, shape (d_ff, d_model)
    b_2 : array_like, shape (d_model,)

    Returns
    -------
    ndarray, shape (..., d_model)
        ``max(0, x @ w_1 + b_1) @ w_2 + b_2``.

    References
    ----------
    Vaswani et al. (2017), Eq. 2.

    Examples
    --------
    >>> feed_forward([2.0], w_1=[[1.0, -1.0]], b_1=[0.0, 1.0], w_2=[[3.0], [5.0]], b_2=[0.5])
    array([6.5])
    """
    hidden = np.maximum(0, linear(x=x, w_1=w_1, b_1=b_1))
    return linear(hidden=hidden, w_2=w_2, b_2=b_2)


def encoder_layer(
    x: ArrayLike,
    parameters: _Parameters,
    n_heads: int,
    mask: ArrayLike | None = None,
    norm: _Norm = "post",
) -> Floats:
    """Let the tokens attend to each other, then transform each: one layer of the encoder.

    Both steps f are added to their input. ``norm="post"`` normalises the sum, ``norm(x +
    f(x))``, as in the paper; ``norm="pre"`` normalises the input, ``x + f(norm(x))``,
    which trains more easily and leaves the last sum of a stack to be normalised once.

    Parameters
    ----------
    x : array_like, shape (..., seq_len, d_model)
        One vector per token.
    parameters : dict of dict of array_like
        ``self_attention`` holds the matrices w_q, w_k, w_v, w_o of `multi_head_attention`,
        and its biases if wanted; ``feed_forward`` holds w_1, b_1, w_2, b_2; ``norm_1`` and
        ``norm_2`` hold gain and bias.
    n_heads : int
    mask : array_like of bool, optional
        As in `multi_head_attention`.
    norm : {"post", "pre"}

    Returns
    -------
    ndarray, shape (..., seq_len, d_model)

    Raises
    ------
    ValueError
        If `norm` is neither word, a name in `parameters` is missing or unknown, or anything
        does not fit; the message then starts with the step, as in ``feed_forward.w_1``.

    References
    ----------
    Vaswani et al. (2017), section 3.1; for "pre", Xiong et al. (2020), On Layer Normalization
    in the Transformer Architecture.

    Examples
    --------
    >>> import numpy as np
    >>> eye, zeros = np.eye(2), np.zeros(2)
    >>> attention = {"w_q": eye, "w_k": eye, "w_v": eye, "w_o": eye}
    >>> feed = {"w_1": eye, "b_1": zeros, "w_2": eye, "b_2": zeros}
    >>> same = {"gain": zeros + 1, "bias": zeros}
    >>> parameters = {"self_attention": attention, "feed_forward": feed}
    >>> parameters |= {"norm_1": same, "norm_2": same}
    >>> encoder_layer([[3.0, 1.0], [0.0, 2.0]], parameters, n_heads=1).round(3)
    array([[ 1., -1.],
           [-1.,  1.]])
    """
    (x,) = finite_numbers(x=x)
    check_shape("x", x, (..., "seq_len", "d_model"))
    attend, feed, norm_1, norm_2 = _steps(parameters, _ENCODER, norm)
    x = _add_and_norm(x, lambda y: attend(y, y, y, n_heads, mask), norm_1, norm)
    return _add_and_norm(x, feed, norm_2, norm)


def decoder_layer(
    x: ArrayLike,
    memory: ArrayLike,
    parameters: _Parameters,
    n_heads: int,
    mask: ArrayLike | None = None,
    memory_mask: ArrayLike | None = None,
    norm: _Norm = "post",
) -> Floats:
    """Attend to the target so far, then to the source, then transform: a decoder layer.

    Parameters
    ----------
    x : array_like, shape (..., tgt_len, d_model)
        One vector per token written.
    memory : array_like, shape (..., src_len, d_model)
        The output of the encoder, which is not normalised again.
    parameters : dict of dict of array_like
        As in `encoder_layer`, with ``cross_attention`` and ``norm_3`` besides: ``norm_1``
        belongs to self-attention, ``norm_2`` to cross-attention, ``norm_3`` to the last step.
    n_heads, norm
        As in `encoder_layer`.
    mask : array_like of bool, optional
        The mask of self-attention, usually `causal_mask`. It is not added automatically.
    memory_mask : array_like of bool, optional
        The mask of cross-attention, usually `padding_mask`.

    Returns
    -------
    ndarray, shape (..., tgt_len, d_model)

    Examples
    --------
    >>> import numpy as np
    >>> eye, zeros = np.eye(2), np.zeros(2)
    >>> attention = {"w_q": eye, "w_k": eye, "w_v": eye, "w_o": eye}
    >>> parameters = {"self_attention": attention, "cross_attention": attention}
    >>> parameters["feed_forward"] = {"w_1": eye, "b_1": zeros, "w_2": eye, "b_2": zeros}
    >>> parameters |= {f"norm_{i}": {"gain": zeros + 1, "bias": zeros} for i in (1, 2, 3)}
    >>> decoder_layer([[0.0, 1.0]], [[5.0, 0.0]], parameters, n_heads=1).round(3)
    array([[ 1., -1.]])
    """
    x, memory = finite_numbers(x=x, memory=memory)
    check_shape("x", x, (..., "tgt_len", "d_model"))
    check_shape("memory", memory, (..., "src_len", "d_model"))
    attend, look_up, feed, norm_1, norm_2, norm_3 = _steps(parameters, _DECODER, norm)
    x = _add_and_norm(x, lambda y: attend(y, y, y, n_heads, mask), norm_1, norm)
    x = _add_and_norm(x, lambda y: look_up(y, memory, memory, n_heads, memory_mask), norm_2, norm)
    return _add_and_norm(x, feed, norm_3, norm)


def _add_and_norm(x: Floats, step: _Step, normalise: _Step, norm: _Norm) -> Floats:
    return normalise(x + step(x)) if norm == "post" else x + step(normalise(x))


def _attend(
    query: Floats,
    key: Floats,
    value: Floats,
    n_heads: int,
    mask: ArrayLike | None,
    **matrices: ArrayLike,
) -> Floats:
    return multi_head_attention(query, key, value, n_heads=n_heads, mask=mask, **matrices)[0]


# The kinds of step: a function, the parameters that it needs, and the optional ones.
_ATTENTION: _Kind = _attend, ("w_q", "w_k", "w_v", "w_o"), ("b_q", "b_k", "b_v", "b_o")
_FEED_FORWARD: _Kind = feed_forward, ("w_1", "b_1", "w_2", "b_2"), ()


_NORM: _Kind = layer_norm, ("gain", "bias"), ()
_ENCODER = {
    "self_attention": _ATTENTION,
    "feed_forward": _FEED_FORWARD,
    "norm_1": _NORM,
    "norm_2": _NORM,
}


_DECODER = {
    "self_attention": _ATTENTION,
    "cross_attention": _ATTENTION,
    "feed_forward": _FEED_FORWARD,
    "norm_1": _NORM,
    "norm_2": _NORM,
    "norm_3": _NORM,
}


def _steps(parameters: _Parameters, kinds: Mapping[str, _Kind], norm: _Norm) -> list[_Step]:
    """Return the steps of a layer, each a function of vectors alone."""
    check_choice("norm", norm, ("post", "pre"))
    _check_names("parameters", parameters, kinds)
    return [_step(name, parameters[name], *kind) for name, kind in kinds.items()]


def _step(
    name: str, arrays: Mapping[str, ArrayLike], function: _Step, needed: _Names, optional: _Names
) -> _Step:
    _check_names(name, arrays, needed, optional)

    def step(x: Floats, *others: object) -> Floats:
        try:
            output = function(x, *others, **arrays)
        except ValueError as error:
            raise ValueError(f"{name}.{error}") from None
        if output.shape[-1] != x.shape[-1]:
            raise argument_error(
                name, f"output of the size of its input, {x.shape[-1]}", output.shape[-1]
            )
        return output

    return step


def _check_names(
    what: str, mapping: object, needed: Collection[str], optional: Collection[str] = ()
) -> None:
    if not isinstance(mapping, Mapping):
        raise argument_error(what, "a dict", type(mapping).__name__)
    if not set(needed) <= set(mapping) <= {*needed, *optional}:
        names = ", ".join(needed) + (f" and perhaps {', '.join(optional)}" if optional else "")
        raise argument_error(what, f"the names {names}", ", ".join(map(str, mapping)) or "none")
