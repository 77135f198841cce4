"""Softmax attention as a mixer."""

from dataclasses import dataclass

import torch

from attn._checks import argument_error, check_number, check_size, shown
from attn._registry import ModelConfig
from attn.attention import VARIANTS, MultiHeadAttention
from attn.mixers.base import Mixer, register
from attn.positions import SCHEMES, RelativePositions


@register("multi_head")
@dataclass(frozen=True)
class MultiHead(Mixer):
    """Multi-head attention, `attn.attention.MultiHeadAttention`: the default of every layer.

    Parameters
    ----------
    qk_norm : bool, default False
        Whether an RMS norm scales each query and each key, so that no score grows with their length.
    sink : bool, default False
        Whether each head learns the score of a key without a value: gpt-oss's attention sink.
    gate : bool, default False
        Whether a sigmoid of the token decides how much of each number that its heads gathered passes.
    soft_cap : float, optional
        What no score exceeds: s becomes ``soft_cap * tanh(s / soft_cap)``, as in Gemma 2.
    window : int, optional
        How many tokens each sees, itself and those before it; the cache keeps no more than these.
    positions : {"none"}, optional
        "none" for a layer that does without the relative positions of the model.

    Raises
    ------
    ValueError
        If an option is not one of those described, or the model has nothing for it to act on.

    References
    ----------
    Vaswani et al. (2017), section 3.2.2. The Qwen team (2025), Qwen3 Technical Report, section 2.
    OpenAI (2025), gpt-oss-120b & gpt-oss-20b Model Card. Qiu et al. (2025), Gated Attention for Large
    Language Models: Non-linearity, Sparsity, and Attention-Sink-Free. The Gemma team (2024),
    Gemma 2, section 2. Beltagy et al. (2020), Longformer, section 3.1. Yang et al. (2025), RoPE to NoPE
    and Back Again, for layers without positions.

    Examples
    --------
    >>> from attn.transformer import DecoderOnly, TransformerConfig
    >>> sizes = {"vocab_size": 10, "d_model": 8, "n_heads": 2, "n_layers": 2}
    >>> model = DecoderOnly(TransformerConfig(**sizes, mixers=(MultiHead(),)))
    >>> model(torch.tensor([[5, 6, 7]]))[0].shape
    torch.Size([1, 3, 10])
    """

    qk_norm: bool = False
    sink: bool = False
    gate: bool = False
    soft_cap: float | None = None
    window: int | None = None
    positions: str | None = None

    def __post_init__(self) -> None:
        for name in ("qk_norm", "sink", "gate"):
            if not isinstance(getattr(self, name), bool):
                raise argument_error(name, "True or False", repr(getattr(self, name)))
        if self.soft_cap is not None:
            object.__setattr__(self, "soft_cap", check_number("soft_cap", self.soft_cap))
        if self.window is not None:
            object.__setattr__(self, "window", check_size("window", self.window, least=1))
        if self.positions not in (None, "none"):
            raise argument_error("positions", "'none' or None", shown(self.positions))

    @property
    def uses(self) -> tuple[str, ...]:
        """Every option; positions only if the mixer does not set its own."""
        options = "n_kv_heads", "attention", "attention_dropout"
        return (*options, "positions") if self.positions is None else options

    def check(self, config: ModelConfig) -> None:
        """Raise ``ValueError`` if the model's attention or positions cannot serve the options."""
        if config.attention != "scaled_dot_product" and (self.sink or self.soft_cap or self.window):
            wanted = "'scaled_dot_product' beside sink, soft_cap or window"
            raise argument_error("attention", wanted, repr(config.attention))
        is_relative = issubclass(SCHEMES[config.positions], RelativePositions)
        if self.positions is not None and not is_relative:
            wanted = "None, since the model has no relative positions"
            raise argument_error("mixers.positions", wanted, repr(self.positions))

    def new_module(
        self, config: ModelConfig, relative: RelativePositions | None
    ) -> MultiHeadAttention:
        """Return the attention of one layer."""
        return MultiHeadAttention(
            config.d_model,
            config.n_heads,
            config.attention_dropout,
            config.bias,
            n_kv_heads=config.n_kv_heads,
            relative=relative if self.positions is None else None,
            attention=VARIANTS[config.attention].from_config(config),
            qk_norm_eps=config.norm_eps if self.qk_norm else None,
            sink=self.sink,
            gate=self.gate,
            soft_cap=self.soft_cap,
            window=self.window,
        )

    def cache_bytes(
        self, config: ModelConfig, length: int, dtype: torch.dtype = torch.float32
    ) -> int:
        """Return the bytes of the keys and values of `length` tokens, or of the window without one."""
        length = length if self.window is None else min(length, self.window - 1)
        n_kv_heads = config.n_kv_heads or config.n_heads
        return 2 * length * n_kv_heads * (config.d_model // config.n_heads) * dtype.itemsize

    def step_flops(self, config: ModelConfig, length: int) -> int:
        """Return the operations of the projections, of the scores and of the weighted mean."""
        length = length if self.window is None else min(length, self.window)
        d_kv = config.d_model // config.n_heads * (config.n_kv_heads or config.n_heads)
        projected = (2 + self.gate) * config.d_model + 2 * d_kv
        return 2 * config.d_model * (projected + 2 * length)
