"""The sizes and choices of a model, checked once, in one place."""

from dataclasses import dataclass, field
from typing import Any

from torch import nn

from attn._checks import (
    argument_error,
    check_choice,
    check_divides,
    check_fraction,
    check_number,
    check_size,
    shown,
)
from attn.attention import VARIANTS, MultiHeadAttention
from attn.experts import MixtureOfExperts
from attn.layers import ACTIVATIONS, NORMS, FeedForward, Norm, new_norm
from attn.mixers import Mixer, MultiHead, check_mixers
from attn.positions import SCHEMES, checked_scaling


@dataclass(frozen=True)
class TransformerConfig:
    """Everything that determines a model, except its weights. The defaults are the paper's.

    One configuration serves all models. Each model refuses the options that have no effect in it,
    and a value that is not one of those described is refused here.

    Parameters
    ----------
    vocab_size : int
        Number of tokens of the source, and of the target if it has no vocabulary of its own.
    tgt_vocab_size : int, optional
        Number of tokens of the target's own vocabulary, in a model that has a target.
    d_model : int, default 512
        Size of the token vectors.
    n_heads : int, default 8
        Heads of every attention; a divisor of `d_model`.
    n_layers : int, default 6
        Layers of the encoder, and of the decoder.
    d_ff : int, default 2048
        Inner size of the feed-forward networks.
    dropout : float, default 0.1
        Probability of dropping what enters the first layer and what each sub-layer computed.
    norm : {"post", "pre"}, default "post"
        Where layers normalise; see `attn.layers`. A pre-norm stack ends with one more norm.
    positions : {"sinusoidal", "learned", "rotary", "alibi", "none"}, default "sinusoidal"
        How order is told; see `attn.positions`, also for other names.
    max_len : int, default 512
        How many positions can be learned. The other kinds have no such limit.
    n_kv_heads : int, optional
        Heads of keys and values, if fewer; a divisor of `n_heads`.
    tie_embeddings : bool, default True
        Whether the last linear layer uses the matrix of the target's embeddings; and, with
        one vocabulary, the source does too.
    scale_embeddings : bool, default True
        Whether embeddings are multiplied by the root of `d_model` before positions are added.
    attention : str, default "scaled_dot_product"
        What self-attention does in its heads; see `attn.attention.ScaledDotProduct`.
    attention_dropout : float, default 0.0
        Probability of dropping an attention weight; the paper drops none.
    activation : {"relu", "gelu", "gelu_tanh", "swiglu", "geglu"}, default "relu"
        Of the feed-forward networks; see `attn.layers.FeedForward`.
    normalization : {"layer", "rms"}, default "layer"
        What a norm does; see `attn.layers.new_norm`.
    norm_eps : float, default 1e-5
        What a norm adds to what it divides by.
    bias : bool, default True
        Whether linear layers and norms add a learned bias.
    rotary_base : float, default 10000.0
        Base of rotary positions: the larger, the slower they turn. Others have none.
    n_token_types : int, default 0
        Of how many kinds the tokens may be, each with a vector of its own that is added to
        theirs: BERT tells its two texts apart so.
    embedding_norm : bool, default False
        Whether the sum of token, position and kind is normalised, as in BERT.
    prediction_head : bool, default False
        Whether `EncoderOnly` transforms its vectors once more before it scores them, as BERT.
    rotary_scaling : dict, optional
        How rotary positions are slowed down for longer texts; see
        `attn.positions.RotaryPositions`.
    mixers : tuple of attn.mixers.Mixer, default ()
        What the layers of `DecoderOnly` do with the tokens before each: layer i has number
        ``i % len(mixers)``. Multi-head attention if there are none.
    experts : attn.experts.MixtureOfExperts, optional
        What the layers of `DecoderOnly` have in the place of feed-forward networks of size `d_ff`.

    References
    ----------
    Vaswani et al. (2017), Table 3 (the base model) and section 3.4.

    Examples
    --------
    >>> config = TransformerConfig(vocab_size=100, d_model=64, n_heads=4, n_layers=2, d_ff=256)
    >>> config.positions
    'sinusoidal'
    >>> TransformerConfig(vocab_size=100, d_model=64, n_heads=5)
    Traceback (most recent call last):
    ValueError: d_model: expected a multiple of n_heads = 5, got 64

    With other choices `DecoderOnly` is a Llama, here one of two layers:

    >>> llama = TransformerConfig(
    ...     vocab_size=100, d_model=64, n_heads=4, n_layers=2, d_ff=256, norm="pre", bias=False,
    ...     normalization="rms", activation="swiglu", positions="rotary", n_kv_heads=2,
    ... )
    """

    vocab_size: int
    tgt_vocab_size: int | None = None
    d_model: int = 512
    n_heads: int = 8
    n_layers: int = 6
    d_ff: int = 2048
    dropout: float = 0.1
    norm: str = "post"
    positions: str = "sinusoidal"
    max_len: int = 512
    n_kv_heads: int | None = None
    tie_embeddings: bool = True
    scale_embeddings: bool = True
    attention: str = "scaled_dot_product"
    attention_dropout: float = 0.0
    activation: str = "relu"
    normalization: str = "layer"
    norm_eps: float = 1e-5
    bias: bool = True
    rotary_base: float = 10000.0
    n_token_types: int = 0
    embedding_norm: bool = False
    prediction_head: bool = False
    rotary_scaling: dict[str, Any] | None = field(default=None, hash=False)
    mixers: tuple[Mixer, ...] = ()
    experts: MixtureOfExperts | None = None

    def __post_init__(self) -> None:
        sizes = ["vocab_size", "d_model", "n_heads", "n_layers", "d_ff", "max_len"]
        sizes += [n for n in ("tgt_vocab_size", "n_kv_heads") if getattr(self, n) is not None]
        for name in sizes:
            # Sizes become Python's ints: JSON, and so a checkpoint, cannot hold NumPy's.
            object.__setattr__(self, name, check_size(name, getattr(self, name), least=1))
        object.__setattr__(self, "n_token_types", check_size("n_token_types", self.n_token_types))
        check_divides("d_model", self.d_model, "n_heads", self.n_heads)
        if self.n_kv_heads is not None:
            check_divides("n_heads", self.n_heads, "n_kv_heads", self.n_kv_heads)
        for name in ("dropout", "attention_dropout"):
            check_fraction(name, getattr(self, name))
            object.__setattr__(self, name, float(getattr(self, name)))
        for name, least in (("norm_eps", 0), ("rotary_base", 1)):
            object.__setattr__(self, name, check_number(name, getattr(self, name), least))
        check_choice("norm", self.norm, ("post", "pre"))
        check_choice("normalization", self.normalization, NORMS)
        check_choice("activation", self.activation, ACTIVATIONS)
        check_choice("positions", self.positions, SCHEMES)
        # The dictionary is copied, so that nobody else changes it.
        scaling = checked_scaling("rotary_scaling", self.rotary_scaling)
        object.__setattr__(self, "rotary_scaling", scaling)
        if self.positions != "rotary" and self.rotary_base != 10000:
            raise argument_error(
                "rotary_base", "10000 unless positions are rotary", self.rotary_base
            )
        if self.positions != "rotary" and scaling:
            kind = repr(scaling["rope_type"])
            raise argument_error("rotary_scaling", "None unless positions are rotary", kind)
        SCHEMES[self.positions].check(self)
        check_choice("attention", self.attention, VARIANTS)
        flags = ("tie_embeddings", "scale_embeddings", "bias", "embedding_norm", "prediction_head")
        for name in flags:
            if not isinstance(getattr(self, name), bool):
                raise argument_error(name, "True or False", repr(getattr(self, name)))
        object.__setattr__(self, "mixers", check_mixers(self.mixers, self))
        if not isinstance(self.experts, MixtureOfExperts | None):
            raise argument_error("experts", "a MixtureOfExperts or None", shown(self.experts))
        if self.experts and self.d_ff != 2048:
            raise argument_error("d_ff", "2048, since experts have a size of their own", self.d_ff)

    @property
    def layer_mixers(self) -> tuple[Mixer, ...]:
        """The mixer of each layer."""
        mixers = self.mixers or (MultiHead(),)
        return tuple(mixers[i % len(mixers)] for i in range(self.n_layers))

    def new_norm(self) -> Norm:
        """Return a norm of vectors of `d_model`, of the kind that this configuration sets."""
        return new_norm(self.normalization, self.d_model, self.norm_eps, self.bias)

    def new_attention(self) -> MultiHeadAttention:
        """Return an attention with the heads of this configuration, without positions."""
        sizes = self.d_model, self.n_heads, self.attention_dropout, self.bias
        return MultiHeadAttention(*sizes, n_kv_heads=self.n_kv_heads)

    def new_feed_forward(self) -> nn.Module:
        """Return the feed-forward network of a layer, or its experts."""
        if self.experts:
            return self.experts.new_module(self)
        return FeedForward(self.d_model, self.d_ff, self.activation, self.bias)
