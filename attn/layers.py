"""The layers of the Transformer: attention and a feed-forward network, each with a residual.

Every sub-layer takes three steps: compute, add, normalise. In *post-norm*, the paper's order, the
sum is normalised: ``norm(x + f(x))``. In *pre-norm* the input is normalised: ``x + f(norm(x))``.
This leaves an unbroken path from the first layer to the last, and deep stacks train more readily.
Dropout applies, as in section 5.4 of the paper, to the output of a sub-layer, before it is added.
"""

from collections.abc import Callable
from functools import partial
from typing import Any, TypeAlias

from torch import Tensor, nn
from torch.nn import functional as F

from attn._checks import (
    argument_error,
    broadcast_shapes,
    check_choice,
    check_fraction,
    check_mask,
    check_shape,
    check_size,
    shown,
)
from attn.attention import Attended, MultiHeadAttention
from attn.attention.multi_head import Linear
from attn.cache import LayerCache, MemoryCache, restored_on_error

# The nonlinearity between the two linear layers. The output of a gated one is multiplied by that of
# a third linear layer.
ACTIVATIONS: dict[str, Callable[[Tensor], Tensor]] = {
    "relu": F.relu,
    "gelu": F.gelu,
    "gelu_tanh": partial(F.gelu, approximate="tanh"),
    "swiglu": F.silu,
    "geglu": F.gelu,
}
GATED = ("swiglu", "geglu")
NORMS = ("layer", "rms")
Norm: TypeAlias = nn.LayerNorm | nn.RMSNorm


class _Layer(nn.Module):
    """The base of both layers: their parts, where they normalise, and how they add."""

    # Whether there is a cross-attention.
    looks_at_memory = False

    def __init__(
        self,
        d_model: int,
        n_heads: int,
        d_ff: int,
        dropout: float = 0.0,
        norm: str = "post",
        *,
        mixer: nn.Module | None = None,
        cross_attention: MultiHeadAttention | None = None,
        feed_forward: nn.Module | None = None,
        new_norm: Callable[[], Norm] | None = None,
    ) -> None:
        super().__init__()
        check_choice("norm", norm, ("pre", "post"))
        check_fraction("dropout", dropout)
        parts = {"mixer": mixer, "cross_attention": cross_attention, "feed_forward": feed_forward}
        for name, part in parts.items():
            if part is not None and not isinstance(part, nn.Module):
                raise argument_error(name, "a Module", shown(part))
            size = getattr(part, "d_model", d_model)
            if size != d_model:
                raise argument_error(f"{name}.d_model", f"{d_model} as in the layer", size)
        if new_norm is not None and not callable(new_norm):
            wanted = "a function without arguments that makes a norm"
            raise argument_error("new_norm", wanted, shown(new_norm))
        self.d_model, self.norm, self.dropout = d_model, norm, nn.Dropout(dropout)
        heads = partial(MultiHeadAttention, d_model, n_heads)
        # `attn.mixers.MultiHead`, the default of a model, makes a MultiHeadAttention as well; the
        # other mixers make modules that are called in the same way.
        self.self_attention: Any = heads() if mixer is None else mixer
        if self.looks_at_memory:
            self.cross_attention = heads() if cross_attention is None else cross_attention
        elif cross_attention is not None:
            raise argument_error("cross_attention", "None in a layer without a memory", "one")
        feed_forward = FeedForward(d_model, d_ff) if feed_forward is None else feed_forward
        self.feed_forward: Any = feed_forward
        new_norm = partial(nn.LayerNorm, d_model) if new_norm is None else new_norm
        self.norm_1, self.norm_2 = new_norm(), new_norm()
        if self.looks_at_memory:
            self.norm_3 = new_norm()

    def _before(self, norm: Norm, x: Tensor) -> Tensor:
        return norm(x) if self.norm == "pre" else x

    def _add(self, norm: Norm, x: Tensor, computed: Tensor) -> Tensor:
        x = x + self.dropout(computed)
        return norm(x) if self.norm == "post" else x


class EncoderLayer(_Layer):
    """One layer of the encoder, in six steps; causal, it is one of a decoder-only model.

    ============================  ====  ====
    step                          post  pre
    ============================  ====  ====
    self-attention                1     2
    add                           2     3
    normalise                     3     1
    feed-forward                  4     5
    add                           5     6
    normalise                     6     4
    ============================  ====  ====

    The sizes alone make the paper's layer. Other parts are arguments: an attention with rotary
    positions is ``mixer=MultiHeadAttention(d_model, n_heads, relative=RotaryPositions())``.

    Parameters
    ----------
    d_model, n_heads, d_ff : int
        Sizes, as in `MultiHeadAttention` and `FeedForward`.
    dropout : float, default 0.0
        Probability with which each number that a sub-layer computed is dropped in training.
    norm : {"post", "pre"}, default "post"
        Whether to normalise the sums or what goes into the sub-layers.
    mixer : Module, optional
        The self-attention: a `MultiHeadAttention`, or the module that ``new_module`` of a
        description in `attn.mixers` returns.
    cross_attention : MultiHeadAttention, optional
        The attention to the source, in a `DecoderLayer`.
    feed_forward : Module, optional
        The feed-forward network: a `FeedForward`, an `attn.experts.Experts`, or another module
        that returns a tensor of the shape of its input.
    new_norm : callable, optional
        Makes each norm, as ``partial(new_norm, "rms", d_model)`` does.

    References
    ----------
    Vaswani et al. (2017), sections 3.1 and 5.4. Xiong et al. (2020), On Layer Normalization in
    the Transformer Architecture.

    Examples
    --------
    >>> import torch
    >>> x, weights = EncoderLayer(d_model=8, n_heads=2, d_ff=32)(torch.ones(3, 5, 8))
    >>> x.shape
    torch.Size([3, 5, 8])
    """

    def forward(
        self,
        x: Tensor,
        mask: Tensor | None = None,
        *,
        positions: Tensor | None = None,
        is_causal: bool = False,
        need_weights: bool = False,
        cache: LayerCache | None = None,
    ) -> Attended:
        """Let the positions attend to each other, then transform each by itself.

        Parameters
        ----------
        x : Tensor, shape (..., seq_len, d_model)
        mask, positions, is_causal, need_weights, cache
            As in `MultiHeadAttention`.

        Returns
        -------
        x : Tensor, shape (..., seq_len, d_model)
        weights : Tensor, shape (..., n_heads, seq_len, seq_len), or None
        """
        check_shape("x", x, (..., "seq_len", self.d_model))
        with restored_on_error(cache):
            attended, weights = self.self_attention(
                self._before(self.norm_1, x),
                mask=mask,
                positions=positions,
                is_causal=is_causal,
                need_weights=need_weights,
                cache=cache,
            )
            x = self._add(self.norm_1, x, attended)
            transformed = self.feed_forward(self._before(self.norm_2, x))
            return self._add(self.norm_2, x, transformed), weights


class DecoderLayer(_Layer):
    """One layer of the decoder, in nine steps: those of the encoder, and cross-attention.

    ============================  ====  ====
    step                          post  pre
    ============================  ====  ====
    causal self-attention         1     2
    add                           2     3
    normalise                     3     1
    cross-attention               4     5
    add                           5     6
    normalise                     6     4
    feed-forward                  7     8
    add                           8     9
    normalise                     9     7
    ============================  ====  ====

    The parameters are those of `EncoderLayer`.

    References
    ----------
    Vaswani et al. (2017), section 3.1.

    Examples
    --------
    >>> import torch
    >>> layer = DecoderLayer(d_model=8, n_heads=2, d_ff=32)
    >>> x, (own, cross) = layer(torch.ones(3, 4, 8), torch.ones(3, 6, 8), need_weights=True)
    >>> own.shape, cross.shape
    (torch.Size([3, 2, 4, 4]), torch.Size([3, 2, 4, 6]))
    """

    looks_at_memory = True

    def forward(
        self,
        x: Tensor,
        memory: Tensor | None,
        mask: Tensor | None = None,
        memory_mask: Tensor | None = None,
        *,
        positions: Tensor | None = None,
        is_causal: bool = True,
        need_weights: bool = False,
        cache: tuple[LayerCache | None, MemoryCache | None] = (None, None),
    ) -> tuple[Tensor, tuple[Tensor, Tensor] | None]:
        """Let the target attend to its past, then to the source; then transform each position.

        Parameters
        ----------
        x : Tensor, shape (..., tgt_len, d_model)
        memory : Tensor, shape (..., src_len, d_model), or None
            What the encoder made of the source; None if the cache knows it.
        mask, positions, is_causal, need_weights
            As in `MultiHeadAttention`, of the self-attention, which is causal if not told otherwise.
        memory_mask : Tensor of bool, broadcastable to (..., tgt_len, src_len), optional
            Which source positions may be attended to.
        cache : pair of attn.cache.LayerCache and attn.cache.MemoryCache, or of None
            For self-attention and for cross-attention; see `MultiHeadAttention`.

        Returns
        -------
        x : Tensor, shape (..., tgt_len, d_model)
        weights : pair of Tensor, or None
            Those of self-attention and of cross-attention; None unless `need_weights`.
        """
        check_shape("x", x, (..., "tgt_len", self.d_model))
        own_cache, cross_cache = cache
        self._check_memory(x, memory, memory_mask, cross_cache)
        with restored_on_error(cache):
            attended, own_weights = self.self_attention(
                self._before(self.norm_1, x),
                mask=mask,
                positions=positions,
                is_causal=is_causal,
                need_weights=need_weights,
                cache=own_cache,
            )
            x = self._add(self.norm_1, x, attended)
            attended, cross_weights = self.cross_attention(
                self._before(self.norm_2, x),
                memory,
                mask=memory_mask,
                need_weights=need_weights,
                cache=cross_cache,
            )
            x = self._add(self.norm_2, x, attended)
            transformed = self.feed_forward(self._before(self.norm_3, x))
            x = self._add(self.norm_3, x, transformed)
        return x, (own_weights, cross_weights) if need_weights else None

    def _check_memory(
        self, x: Tensor, memory: Tensor | None, mask: Tensor | None, cache: MemoryCache | None
    ) -> None:
        if memory is not None:
            check_shape("memory", memory, (..., "src_len", self.d_model))
            *rows, src_len, _ = memory.shape
        if cache is not None and cache.key is not None:
            if memory is not None:
                cache.check(memory, memory)
            *rows, _, src_len, _ = cache.key.shape
        elif memory is None:
            raise argument_error("memory", "a tensor, which the cache does not know yet", None)
        batch = broadcast_shapes(x.shape[:-2], tuple(rows))
        if batch is None:
            raise argument_error(
                "memory", f"rows that broadcast with {tuple(x.shape[:-2])}", tuple(rows)
            )
        if mask is not None:
            has_heads = getattr(mask, "ndim", 0) > len(batch) + 2
            heads = (self.cross_attention.n_heads,) if has_heads else ()
            check_mask("memory_mask", mask, (*batch, *heads, x.shape[-2], src_len))


class FeedForward(nn.Module):
    """Transform each position by itself: ``max(0, x W1 + b1) W2 + b2``.

    Parameters
    ----------
    d_model : int
        Size of the token vectors.
    d_ff : int
        Size in between; four times `d_model` in the paper.
    activation : {"relu", "gelu", "gelu_tanh", "swiglu", "geglu"}, default "relu"
        The nonlinearity f in between. The paper's is relu; GELU comes exact, as in BERT, and
        with the tanh that GPT-2 approximates it by. The last two are gated, with a third matrix:
        ``(f(x W1 + b1) * (x W3 + b3)) W2 + b2``, where f is SiLU, ``z sigmoid(z)``, in SwiGLU
        and GELU in GEGLU.
    bias : bool, default True
        Whether the linear layers add a learned bias.

    References
    ----------
    Vaswani et al. (2017), Eq. 2. Hendrycks and Gimpel (2016), Gaussian Error Linear Units.
    Shazeer (2020), GLU Variants Improve Transformer, Eqs. 5 and 6.

    Examples
    --------
    >>> import torch
    >>> FeedForward(d_model=8, d_ff=32)(torch.ones(2, 5, 8)).shape
    torch.Size([2, 5, 8])
    >>> [name for name, _ in FeedForward(8, 32, "swiglu", bias=False).named_parameters()]
    ['linear_1.weight', 'linear_2.weight', 'linear_3.weight']
    """

    def __init__(
        self, d_model: int, d_ff: int, activation: str = "relu", bias: bool = True
    ) -> None:
        super().__init__()
        check_choice("activation", activation, ACTIVATIONS)
        self.d_model = check_size("d_model", d_model, least=1)
        self.activation = activation
        self.linear_1 = Linear(d_model, check_size("d_ff", d_ff, least=1), bias)
        self.linear_2 = Linear(d_ff, d_model, bias)
        self.linear_3 = Linear(d_model, d_ff, bias) if activation in GATED else None
        for linear in filter(None, (self.linear_1, self.linear_2, self.linear_3)):
            nn.init.xavier_uniform_(linear.weight)
            if bias:
                nn.init.zeros_(linear.bias)

    def forward(self, x: Tensor) -> Tensor:
        """Return a Tensor of the shape of `x`, (..., d_model)."""
        check_shape("x", x, (..., self.d_model))
        hidden = ACTIVATIONS[self.activation](self.linear_1(x))
        if self.linear_3 is not None:
            hidden = hidden * self.linear_3(x)
        x = self.linear_2(hidden)
        return x


def new_norm(normalization: str, d_model: int, eps: float = 1e-5, bias: bool = True) -> Norm:
    """Return a norm of vectors: to mean 0 and variance 1, or only to a mean square of 1.

    Parameters
    ----------
    normalization : {"layer", "rms"}
        LayerNorm, or RMSNorm, which neither subtracts the mean nor adds a bias.
    d_model : int
    eps : float, default 1e-5
        What is added to the variance, or to the mean square.
    bias : bool, default True
        Whether LayerNorm adds a learned bias.

    References
    ----------
    Ba et al. (2016), Layer Normalization. Zhang and Sennrich (2019), Root Mean Square Layer
    Normalization.

    Examples
    --------
    >>> import torch
    >>> new_norm("rms", 2)(torch.tensor([1.0, 7.0])).detach()
    tensor([0.2000, 1.4000])
    """
    check_choice("normalization", normalization, NORMS)
    return (
        nn.RMSNorm(d_model, eps)
        if normalization == "rms"
        else nn.LayerNorm(d_model, eps, bias=bias)
    )
