"""Mixers whose memory of the text is a state of fixed size, so that a step costs the same at any length.

Each is a short description; `StateAttention` is the module that all four share. How they compute
with a state is in `attn.mixers.state`.
"""

from dataclasses import dataclass
from typing import Any, ClassVar

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from attn._checks import (
    argument_error,
    broadcast_shapes,
    check_mask,
    check_shape,
    check_size,
    check_tensor,
    holds,
)
from attn._registry import ModelConfig
from attn.attention import Attended
from attn.attention.multi_head import Linear
from attn.cache import LayerCache, Place, check_all_or_none, restored_on_error
from attn.mixers.base import Mixer, register
from attn.mixers.state import Read, chunked, exporting, recurrent, state_weights
from attn.positions import SCHEMES, RelativePositions


@dataclass(frozen=True)
class StateMixer(Mixer):
    """The base class of the recurrent mixers.

    Parameters
    ----------
    d_k, d_v : int, optional
        Size of the queries and keys, and of the values, of each head: the state of a head has ``d_k * d_v``
        numbers. ``d_model / n_heads`` if not given.
    convolution : int, default 0
        How many tokens, itself included, each query, key and value is mixed of, channel by channel, and then
        goes through SiLU. 0 mixes none; the delta rules' papers take 4, those of the others none.
    """

    d_k: int | None = None
    d_v: int | None = None
    convolution: int = 0

    # The class of the module of a layer, which is set below, after it is defined.
    _module: ClassVar[type["StateAttention"]]
    # How many numbers, such as beta, each head computes from each token.
    n_rates: ClassVar[int] = 0

    def __post_init__(self) -> None:
        for name in ("d_k", "d_v"):
            if getattr(self, name) is not None:
                object.__setattr__(self, name, check_size(name, getattr(self, name), least=1))
        object.__setattr__(self, "convolution", check_size("convolution", self.convolution))
        if self.convolution == 1:
            raise argument_error("convolution", "0, or at least 2 tokens", 1)
        for name in ("gate", "negative_eigenvalues"):
            if not isinstance(getattr(self, name, False), bool):
                raise argument_error(name, "True or False", repr(getattr(self, name)))

    def sizes(self, config: ModelConfig) -> tuple[int, int, int]:
        """Return the number of heads, d_k and d_v."""
        size = config.d_model // config.n_heads
        return config.n_heads, self.d_k or size, self.d_v or size

    def new_module(
        self, config: ModelConfig, relative: RelativePositions | None
    ) -> "StateAttention":
        """Return the module of one layer."""
        return self._module(self, config, relative if "positions" in self.uses else None)

    def cache_bytes(
        self, config: ModelConfig, length: int, dtype: torch.dtype = torch.float32
    ) -> int:
        """Return the bytes of the state, in float32, and of the inputs that the convolution keeps.

        They are the same for any `length` of at least 1.
        """
        n_heads, d_k, d_v = self.sizes(config)
        state = d_k * self._columns(d_v) * torch.promote_types(dtype, torch.float32).itemsize
        window = max(0, self.convolution - 1) * (2 * d_k + d_v) * dtype.itemsize
        return n_heads * (state + window)

    def step_flops(self, config: ModelConfig, length: int) -> int:
        """Return the operations of the projections and of the state, the same for any `length`."""
        n_heads, d_k, d_v = self.sizes(config)
        projected = 2 * d_k + d_v * (3 if getattr(self, "gate", False) else 2) + self.n_rates
        touched = (3 if self.n_rates else 2) * d_k * self._columns(d_v)
        return 2 * n_heads * (config.d_model * projected + touched)

    def _columns(self, d_v: int) -> int:
        """Return how many columns the state of a head has."""
        return d_v


@register("linear_attention")
@dataclass(frozen=True)
class LinearAttention(StateMixer):
    """Linear attention: weights proportional to ``(elu(q) + 1) . (elu(k) + 1)``, in place of a softmax.

    The state adds up products of keys and values; one more column adds up the keys, for the
    division of the output by the sum of the weights.

    References
    ----------
    Katharopoulos et al. (2020), Transformers are RNNs, sections 3.2 to 3.4.

    Examples
    --------
    >>> from attn.transformer import DecoderOnly, TransformerConfig
    >>> sizes = {"vocab_size": 10, "d_model": 8, "n_heads": 2, "n_layers": 2}
    >>> model = DecoderOnly(TransformerConfig(**sizes, mixers=(LinearAttention(),)))
    >>> model(torch.tensor([[5, 6, 7]]))[0].shape
    torch.Size([1, 3, 10])
    """

    def _columns(self, d_v: int) -> int:
        return d_v + 1


@register("retention")
@dataclass(frozen=True)
class Retention(StateMixer):
    """Retention: a state that decays, in each head by another factor, ``1 - 2**(-5 - head)`` a
    token.

    With ``positions="rotary"`` in the configuration, queries and keys are turned, as in the paper.
    The output of each head is divided by its root mean square, as the authors' code does in place
    of the paper's GroupNorm.

    Parameters
    ----------
    gate : bool, default True
        Whether the outputs are multiplied by ``silu(x W_g)``.

    References
    ----------
    Sun et al. (2023), Retentive Network: A Successor to Transformer for Large Language Models, sections 2.1
    and 2.2.

    Examples
    --------
    >>> from attn.transformer import DecoderOnly, TransformerConfig
    >>> sizes = {"vocab_size": 10, "d_model": 8, "n_heads": 2, "n_layers": 2}
    >>> config = TransformerConfig(**sizes, positions="rotary", mixers=(Retention(d_v=8),))
    >>> cache = DecoderOnly(config).new_cache()
    >>> DecoderOnly(config)(torch.tensor([[5, 6, 7]]), cache=cache)[0].shape, cache.nbytes
    (torch.Size([1, 3, 10]), 512)
    """

    gate: bool = True
    uses: ClassVar[tuple[str, ...]] = ("positions",)

    def check(self, config: ModelConfig) -> None:
        """Raise ``ValueError`` if positions add a bias to scores, or cannot turn keys of this size."""
        scheme = SCHEMES[config.positions]
        if not issubclass(scheme, RelativePositions):
            return
        if scheme.bias is not RelativePositions.bias:
            wanted = "a kind that adds nothing to scores, since retention has none"
            raise argument_error("positions", wanted, repr(config.positions))
        if self.sizes(config)[1] != config.d_model // config.n_heads:
            wanted = f"{config.d_model // config.n_heads}, as positions turn it"
            raise argument_error("d_k", wanted, self.d_k)


@register("delta_rule")
@dataclass(frozen=True)
class DeltaRule(StateMixer):
    """The delta rule: a state that learns, token by token, to answer each key with its value.

    Queries and keys have length 1. The rate at which an error is corrected, beta, is a sigmoid of the token.

    Parameters
    ----------
    gate : bool, default False
        Whether the outputs, divided by their root mean square, are multiplied by ``silu(x W_g)``.
    negative_eigenvalues : bool, default False
        Whether beta goes up to 2 instead of 1, where a key can turn round what the state answers to it.

    References
    ----------
    Schlag et al. (2021), Linear Transformers Are Secretly Fast Weight Programmers, section 4.2. Yang et al.
    (2024), Parallelizing Linear Transformers with the Delta Rule over Sequence Length. Grazzi et al. (2024),
    Unlocking State-Tracking in Linear RNNs Through Negative Eigenvalues.

    Examples
    --------
    >>> from attn.transformer import DecoderOnly, TransformerConfig
    >>> sizes = {"vocab_size": 10, "d_model": 8, "n_heads": 2, "n_layers": 2}
    >>> config = TransformerConfig(**sizes, positions="none", mixers=(DeltaRule(convolution=4),))
    >>> DecoderOnly(config)(torch.tensor([[5, 6, 7]]))[0].shape
    torch.Size([1, 3, 10])
    """

    gate: bool = False
    negative_eigenvalues: bool = False
    n_rates: ClassVar[int] = 1


@register("gated_delta_rule")
@dataclass(frozen=True)
class GatedDeltaRule(DeltaRule):
    """The gated delta rule: before each correction the state decays, by a factor computed from the
    token.

    Parameters
    ----------
    gate : bool, default True
        As in `DeltaRule`.

    References
    ----------
    Yang, Kautz and Hatamizadeh (2024), Gated Delta Networks: Improving Mamba2 with Delta Rule, Eq. 10 and
    section 3.4.

    Examples
    --------
    Three layers with a state, one with softmax attention, as in Qwen3-Next:

    >>> from attn.mixers import MultiHead
    >>> from attn.transformer import DecoderOnly, TransformerConfig
    >>> sizes = {"vocab_size": 10, "d_model": 8, "n_heads": 2, "n_layers": 4}
    >>> config = TransformerConfig(**sizes, mixers=(GatedDeltaRule(),) * 3 + (MultiHead(),))
    >>> DecoderOnly(config)(torch.tensor([[5, 6, 7]]))[0].shape
    torch.Size([1, 3, 10])
    """

    gate: bool = True
    n_rates: ClassVar[int] = 2


class StateCache(LayerCache):
    """The state of one layer, and the inputs that its convolution needs again.

    Attributes
    ----------
    state : Tensor, shape (batch_size, n_heads, d_k, d_v), or None
        None while no token has been seen. Linear attention has one more column.
    window : Tensor, shape (batch_size, convolution - 1, n_channels), or None
        None while no token has been seen, and without a convolution.

    Examples
    --------
    >>> cache = StateCache()
    >>> cache.keep(3, torch.zeros(1, 2, 4, 4), None, None)
    >>> cache.length, cache.nbytes
    (3, 128)
    >>> cache.truncate(2)
    Traceback (most recent call last):
    ValueError: length: expected 0 or 3, since a state cannot forget its last tokens, got 2
    """

    def __init__(self) -> None:
        super().__init__()
        self.state: Tensor | None = None
        self.window: Tensor | None = None

    @property
    def nbytes(self) -> int:
        """Size of what is kept, in bytes."""
        return sum(kept.nbytes for kept in (self.state, self.window) if kept is not None)

    def keep(
        self, n_new: int, state: Tensor, window: Tensor | None, positions: Tensor | None
    ) -> None:
        """Replace the state and the window after a step of `n_new` tokens.

        `positions`, shape (batch_size, n_new), are those of the new tokens, if they do not follow
        the old ones.
        """
        if positions is None and self.positions is not None:
            positions = self.positions + n_new
        self.positions = None if positions is None else positions[..., -1:]
        self.state, self.window = state, window
        self._length += n_new

    def truncate(self, length: int) -> None:
        """Forget all tokens or none; ``ValueError`` otherwise, as earlier states are not kept."""
        reason = "a state cannot forget its last tokens"
        if check_all_or_none(length, self.length, reason) == 0:
            self.state, self.window, self.positions, self._length = None, None, None, 0

    def reorder(self, rows: Tensor) -> None:
        """Let row i of the batch become a copy of what row ``rows[i]`` was."""
        kept = {name: getattr(self, name) for name in ("state", "window", "positions")}
        for name, tensor in kept.items():
            if tensor is not None:
                setattr(self, name, tensor[rows])


class FixedStateCache(StateCache):
    """A `StateCache` in an `attn.cache.FixedCache`, whose tensors never change their place.

    Parameters
    ----------
    place : attn.cache.Place
    state, window : tuple of int
        Their shapes without the rows; an empty `window` without a convolution.
    """

    def __init__(self, place: Place, state: tuple[int, ...], window: tuple[int, ...]) -> None:
        super().__init__()
        self._place = place
        self.state = place.zeros(*state, dtype=torch.promote_types(place.dtype, torch.float32))
        self.window = place.zeros(*window) if window else None
        self.replaced = [kept for kept in (self.state, self.window) if kept is not None]
        self.next: list[Tensor] = []

    @property
    def length(self) -> int:
        """Number of tokens seen."""
        return self._place.length

    def following(self, n_new: int) -> Tensor:
        """Return the slots of the tokens of this step."""
        assert self._place.slots is not None
        return self._place.slots

    def keep(
        self, n_new: int, state: Tensor, window: Tensor | None, positions: Tensor | None
    ) -> None:
        """Store the new tensors until `attn.cache.FixedCache.settle` writes them."""
        self.next = [state] if window is None else [state, window]

    def truncate(self, length: int) -> None:
        """Forget all tokens, or none."""
        if check_all_or_none(length, self.length, "a state cannot forget its last tokens") == 0:
            for kept in self.replaced:
                kept.zero_()

    def reorder(self, rows: Tensor) -> None:
        """Let row i of the batch become a copy of what row ``rows[i]`` was."""
        self._place.reorder(self.replaced, rows)


class StateAttention(nn.Module):
    """A layer's heads with their states, in place of self-attention.

    Parameters
    ----------
    mixer : StateMixer
    config : attn.transformer.TransformerConfig
    relative : attn.positions.RelativePositions, optional
        What turns queries and keys.
    """

    # Whether queries, keys and values go through SiLU even without a convolution.
    has_silu = False
    # Whether the outputs of each head are divided by their root mean square.
    has_norm = True

    def __init__(
        self,
        mixer: StateMixer,
        config: ModelConfig,
        relative: RelativePositions | None = None,
    ) -> None:
        super().__init__()
        self.d_model = config.d_model
        self.n_heads, self.d_k, self.d_v = mixer.sizes(config)
        self.columns = mixer._columns(self.d_v)
        self.relative = relative
        d_keys, d_values = self.n_heads * self.d_k, self.n_heads * self.d_v
        self.q_proj = Linear(self.d_model, d_keys, bias=config.bias)
        self.k_proj = Linear(self.d_model, d_keys, bias=config.bias)
        self.v_proj = Linear(self.d_model, d_values, bias=config.bias)
        self.out_proj = Linear(d_values, self.d_model, bias=config.bias)
        self.gate_proj: Linear | None = None
        if getattr(mixer, "gate", False):
            self.gate_proj = Linear(self.d_model, d_values, bias=config.bias)
        self.norm = nn.RMSNorm(self.d_v, config.norm_eps) if self.has_norm else None
        self.convolution: nn.Parameter | None = None
        if mixer.convolution:
            taps = torch.empty(2 * d_keys + d_values, mixer.convolution)
            bound = mixer.convolution**-0.5
            self.convolution = nn.Parameter(nn.init.uniform_(taps, -bound, bound))
        for projection in (self.q_proj, self.k_proj, self.v_proj, self.out_proj, self.gate_proj):
            if projection is not None:
                _initialise(projection)

    def new_cache(self) -> StateCache:
        """Return an empty cache."""
        return StateCache()

    def new_fixed_cache(self, place: Place) -> FixedStateCache:
        """Return an empty cache for an `attn.cache.FixedCache`."""
        window: tuple[int, ...] = ()
        if self.convolution is not None:
            n_channels, n_taps = self.convolution.shape
            window = n_taps - 1, n_channels
        return FixedStateCache(place, (self.n_heads, self.d_k, self.columns), window)

    def forward(
        self,
        x: Tensor,
        mask: Tensor | None = None,
        *,
        positions: Tensor | None = None,
        is_causal: bool = False,
        need_weights: bool = False,
        cache: StateCache | None = None,
    ) -> Attended:
        """Let every token read the state that contains the tokens up to itself.

        Parameters
        ----------
        x : Tensor, shape (..., seq_len, d_model)
        mask : Tensor of bool, broadcastable to (..., 1, src_len), optional
            True = a real token; padding leaves the state as it is. A state cannot hide from one token what it
            shows to another, so there are no other masks. src_len counts the tokens in the cache, too.
        positions : Tensor of int64, broadcastable to (..., seq_len), optional
            Where the tokens stand, for positions that turn queries and keys.
        is_causal : bool
            Must be True.
        need_weights : bool, default False
            Also return what the values are multiplied by. These weights do not come from a softmax: but for
            linear attention, rows do not sum to 1, and weights may be negative. Only without earlier tokens.
        cache : StateCache, optional
            From `new_cache`; then `x` holds only the new tokens.

        Returns
        -------
        output : Tensor, shape (..., seq_len, d_model)
        weights : Tensor, shape (..., n_heads, seq_len, seq_len), or None

        Raises
        ------
        ValueError
            If shapes do not fit, `is_causal` is False, the mask hides more than padding, weights are wanted of
            tokens that a state has taken up, or the cache is of another layer.
        """
        check_shape("x", x, (..., "seq_len", self.d_model))
        if not is_causal:
            raise argument_error("is_causal", "True, since a state reads from left to right", False)
        self._check_cache(x, cache, need_weights)
        padding = self._padding(x, mask, cache)
        if positions is not None:
            positions = self._each_position(x, positions)
        with restored_on_error(cache):
            query, key, value, window = self._projected(x, padding, cache)
            query, key = self.features(query, key)
            if self.relative is not None:
                stand: int | Tensor | None = positions
                if stand is None:
                    stand = 0 if cache is None else cache.following(x.shape[-2])
                query, key = self.relative.rotate(query, key, stand)
            rates = self.rates(x)
            if padding is not None:
                key = key.masked_fill(padding[..., None, :, None], 0.0)
                if rates.get("log_decay") is not None:
                    rates["log_decay"] = rates["log_decay"].masked_fill(padding[..., None, :], 0.0)
            weights = self.weights(query, key, rates) if need_weights else None
            state = None if cache is None else cache.state
            output, state = self.read(query, key, value, rates, state)
            if cache is not None:
                cache.keep(x.shape[-2], state, window, positions)
            if self.norm is not None:
                output = self.norm(output)
            output = output.transpose(-2, -3).flatten(-2)
            if self.gate_proj is not None:
                output = output * F.silu(self.gate_proj(x))
            return self.out_proj(output), weights

    def features(self, query: Tensor, key: Tensor) -> tuple[Tensor, Tensor]:
        """Return queries and keys in the form that enters the state."""
        return query, key

    def rates(self, x: Tensor) -> dict[str, Tensor]:
        """Return those of ``log_decay`` and ``beta`` that exist, shape (..., n_heads, seq_len)."""
        return {}

    def read(
        self,
        query: Tensor,
        key: Tensor,
        value: Tensor,
        rates: dict[str, Tensor],
        state: Tensor | None,
    ) -> Read:
        """Return what the queries read, and the state after the last token."""
        is_step = not exporting() and query.shape[-2] == 1
        way = recurrent if is_step else chunked
        return way(query, key, value, **rates, state=state)

    def weights(self, query: Tensor, key: Tensor, rates: dict[str, Tensor]) -> Tensor:
        """Return the weights by which the values are multiplied."""
        return state_weights(query, key, **rates)

    def _projected(
        self, x: Tensor, padding: Tensor | None, cache: StateCache | None
    ) -> tuple[Tensor, Tensor, Tensor, Tensor | None]:
        """Return queries, keys and values, split into heads, and the window of the next step."""
        mixed = torch.cat((self.q_proj(x), self.k_proj(x), self.v_proj(x)), dim=-1)
        window = None
        if self.convolution is not None:
            if padding is not None:
                mixed = mixed.masked_fill(padding[..., None], 0.0)
            n_taps, length = self.convolution.shape[-1], x.shape[-2]
            before = None if cache is None else cache.window
            if before is None:
                before = mixed.new_zeros(*mixed.shape[:-2], n_taps - 1, mixed.shape[-1])
            mixed = torch.cat((before, mixed), dim=-2)
            window = mixed[..., length:, :].clone()
            taps = self.convolution.unbind(dim=-1)
            mixed = sum(
                (tap * mixed[..., i : i + length, :] for i, tap in enumerate(taps)),
                start=mixed.new_zeros(()),
            )
        if self.convolution is not None or self.has_silu:
            mixed = F.silu(mixed)
        sizes = [self.n_heads * size for size in (self.d_k, self.d_k, self.d_v)]
        query, key, value = (
            part.unflatten(-1, (self.n_heads, -1)).transpose(-2, -3)
            for part in mixed.split(sizes, dim=-1)
        )
        return query, key, value, window

    def _padding(self, x: Tensor, mask: Tensor | None, cache: StateCache | None) -> Tensor | None:
        """Return which of the new tokens are padding, shape (..., seq_len), or None if none is."""
        if mask is None:
            return None
        check_tensor("mask", mask, "a tensor of bool")
        check_mask("mask", mask)
        *batch, length, _ = x.shape
        src_len = length + (0 if cache is None else cache.length)
        shape = (*batch, 1, src_len)
        if mask.ndim > len(shape) and mask.shape[-3] == 1:
            mask = mask.squeeze(-3)
        if broadcast_shapes(tuple(mask.shape), shape) != shape:
            wanted = f"padding, a shape that broadcasts to {shape}, since a state hides no token from another"
            raise argument_error("mask", wanted, tuple(mask.shape))
        real = mask.expand(shape)[..., 0, :]
        if self.convolution is not None and not holds(
            lambda: (real[..., 1:] & ~real[..., :-1]).sum(-1).add(real[..., 0]).le(1).all(),
            otherwise=True,
        ):
            wanted = "real tokens side by side, since the convolution looks at those beside each"
            raise argument_error("mask", wanted, "padding among them")
        return ~real[..., src_len - length :]

    def _check_cache(self, x: Tensor, cache: object, need_weights: bool) -> None:
        if cache is None:
            return
        if not isinstance(cache, StateCache):
            raise argument_error("cache", "a StateCache, from new_cache()", type(cache).__name__)
        if cache.state is None:
            return
        fits = (*x.shape[:-2], self.n_heads, self.d_k, self.columns)
        check_shape("cache", cache.state, fits)
        if (cache.window is None) != (self.convolution is None):
            raise argument_error("cache", "that of this layer", "one of another convolution")
        if need_weights and cache.length:
            wanted = "False, since the tokens in the cache have no keys any more"
            raise argument_error("need_weights", wanted, True)

    @staticmethod
    def _each_position(x: Tensor, positions: Tensor) -> Tensor:
        check_tensor("positions", positions, "a tensor of int64")
        shape = tuple(x.shape[:-1])
        if broadcast_shapes(tuple(positions.shape), shape) != shape:
            wanted = f"a shape that broadcasts to {shape}"
            raise argument_error("positions", wanted, tuple(positions.shape))
        return positions.expand(shape)


class _Linear(StateAttention):
    has_norm = False

    def features(self, query: Tensor, key: Tensor) -> tuple[Tensor, Tensor]:
        return _positive(query), _positive(key)

    def read(
        self,
        query: Tensor,
        key: Tensor,
        value: Tensor,
        rates: dict[str, Tensor],
        state: Tensor | None,
    ) -> Read:
        # The column of ones adds up the weights, by which the weighted sum is divided.
        value = torch.cat((value, torch.ones_like(value[..., :1])), dim=-1)
        output, state = super().read(query, key, value, rates, state)
        return _divided(output[..., :-1], output[..., -1:]), state

    def weights(self, query: Tensor, key: Tensor, rates: dict[str, Tensor]) -> Tensor:
        weights = super().weights(query, key, rates)
        return _divided(weights, weights.sum(dim=-1, keepdim=True))


class _Retention(StateAttention):
    def features(self, query: Tensor, key: Tensor) -> tuple[Tensor, Tensor]:
        return query, key * self.d_k**-0.5

    def rates(self, x: Tensor) -> dict[str, Tensor]:
        heads = torch.arange(self.n_heads, dtype=_precise(x), device=x.device)
        shape = (*x.shape[:-2], self.n_heads, x.shape[-2])
        return {"log_decay": torch.log1p(-(2.0 ** (-5 - heads)))[:, None].expand(shape)}


class _DeltaRule(StateAttention):
    has_silu = True

    def __init__(self, mixer: StateMixer, config: ModelConfig, *rest: Any) -> None:
        super().__init__(mixer, config, *rest)
        self.largest_beta = 2.0 if getattr(mixer, "negative_eigenvalues", False) else 1.0
        self.beta_proj = _initialise(Linear(self.d_model, self.n_heads, bias=config.bias))

    def features(self, query: Tensor, key: Tensor) -> tuple[Tensor, Tensor]:
        return _unit(query) * self.d_k**-0.5, _unit(key)

    def rates(self, x: Tensor) -> dict[str, Tensor]:
        return {"beta": self.largest_beta * self.beta_proj(x).mT.sigmoid()}


class _GatedDeltaRule(_DeltaRule):
    def __init__(self, mixer: StateMixer, config: ModelConfig, *rest: Any) -> None:
        super().__init__(mixer, config, *rest)
        self.decay_proj = _initialise(Linear(self.d_model, self.n_heads, bias=False))
        # This is the decay of Mamba-2, initialised as there: rates of up to 16, steps of .001 to
        # .1.
        self.log_rate = nn.Parameter(torch.empty(self.n_heads).uniform_(0.01, 16.0).log())
        step = 10 ** torch.empty(self.n_heads).uniform_(-3.0, -1.0)
        self.decay_bias = nn.Parameter(step.expm1().log())

    def rates(self, x: Tensor) -> dict[str, Tensor]:
        # The axes are exchanged before softplus: after it, its gradient fails in a compiled graph.
        asked = self.decay_proj(x).mT.contiguous().to(_precise(x))
        step = F.softplus(asked + self.decay_bias[:, None])
        decay = -self.log_rate.to(asked.dtype).exp()[:, None] * step
        return super().rates(x) | {"log_decay": decay}


LinearAttention._module, Retention._module = _Linear, _Retention
DeltaRule._module, GatedDeltaRule._module = _DeltaRule, _GatedDeltaRule


def _initialise(linear: Linear) -> Linear:
    nn.init.xavier_uniform_(linear.weight)
    if linear.bias is not None:
        nn.init.zeros_(linear.bias)
    return linear


def _positive(x: Tensor) -> Tensor:
    """Return ``elu(x) + 1``. (The gradient of PyTorch's own fails in a compiled graph.)"""
    return torch.where(x > 0, x + 1, x.clamp(max=0).exp())


def _unit(x: Tensor) -> Tensor:
    """Return vectors of length 1, or a little less, so that those near zero have a gradient."""
    return x * (x.square().sum(dim=-1, keepdim=True) + 1e-6).rsqrt()


def _divided(x: Tensor, total: Tensor) -> Tensor:
    """Return ``x / total``, or zero where `total` is zero."""
    return x / total.masked_fill(total == 0, 1.0)


def _precise(x: Tensor) -> torch.dtype:
    return torch.promote_types(x.dtype, torch.float32)
