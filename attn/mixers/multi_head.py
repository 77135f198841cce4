"""Softmax attention as a mixer."""

from dataclasses import dataclass
from typing import ClassVar

import torch

from attn._checks import argument_error, check_number
from attn._registry import ModelConfig
from attn.attention import VARIANTS, MultiHeadAttention
from attn.mixers.base import Mixer, register
from attn.positions import RelativePositions


@register("multi_head")
@dataclass(frozen=True)
class MultiHead(Mixer):
    """Multi-head attention, `attn.attention.MultiHeadAttention`: what a layer has if nothing is said.

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

    Raises
    ------
    ValueError
        If an option is not one of those described, or the model has nothing for it to act on.

    References
    ----------
    Vaswani et al. (2017), section 3.2.2. The Qwen team (2025), Qwen3 Technical Report, section 2.
    OpenAI (2025), gpt-oss-120b & gpt-oss-20b Model Card. Qiu et al. (2025), Gated Attention for Large
    Language Models: Non-linearity, Sparsity, and Attention-Sink-Free. The Gemma team (2024),
    Gemma 2, section 2.

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

    uses: ClassVar[tuple[str, ...]] = (
        "positions",
        "n_kv_heads",
        "attention",
        "attention_dropout",
    )

    def __post_init__(self) -> None:
        for name in ("qk_norm", "sink", "gate"):
            if not isinstance(getattr(self, name), bool):
                raise argument_error(name, "True or False", repr(getattr(self, name)))
        if self.soft_cap is not None:
            object.__setattr__(self, "soft_cap", check_number("soft_cap", self.soft_cap))

    def check(self, config: ModelConfig) -> None:
        """Raise ``ValueError`` if another attention in the heads would leave an option out."""
        if config.attention != "scaled_dot_product" and (self.sink or self.soft_cap):
            wanted = "'scaled_dot_product' beside sink or soft_cap"
            raise argument_error("attention", wanted, repr(config.attention))

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
            relative=relative,
            attention=VARIANTS[config.attention].from_config(config),
            qk_norm_eps=config.norm_eps if self.qk_norm else None,
            sink=self.sink,
            gate=self.gate,
            soft_cap=self.soft_cap,
        )

    def cache_bytes(
        self, config: ModelConfig, length: int, dtype: torch.dtype = torch.float32
    ) -> int:
        """Return the bytes of the keys and values of `length` tokens."""
        n_kv_heads = config.n_kv_heads or config.n_heads
        return 2 * length * n_kv_heads * (config.d_model // config.n_heads) * dtype.itemsize

    def step_flops(self, config: ModelConfig, length: int) -> int:
        """Return the operations of the projections, of the scores and of the weighted mean."""
        d_kv = config.d_model // config.n_heads * (config.n_kv_heads or config.n_heads)
        projected = (2 + self.gate) * config.d_model + 2 * d_kv
        return 2 * config.d_model * (projected + 2 * length)
