"""Models without part of their attention: one head cut, or all weights made equal."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import cast

import torch

from attn._checks import check_choice
from attn.attention import MultiHeadAttention
from attn.transformer import Transformer

STACKS = ("encoder", "decoder", "cross")


@contextmanager
def without_head(model: Transformer, stack: str, layer: int, head: int) -> Iterator[None]:
    """Cut a head within a ``with`` block: its output is replaced by zeros.

    Parameters
    ----------
    model : Transformer
    stack : {"encoder", "decoder", "cross"}
    layer, head : int
    """
    weight = _attention(model, stack)[layer].out_proj.weight
    kept = weight.detach().clone()
    d_v = weight.shape[1] // model.config.n_heads
    try:
        with torch.no_grad():
            weight[:, head * d_v : (head + 1) * d_v] = 0
        yield
    finally:
        with torch.no_grad():
            weight.copy_(kept)


def make_uniform(model: Transformer, stacks: Sequence[str] = STACKS) -> None:
    """Make all attention weights of a query equal, for good.

    The query projections become zero and are not trained, so every score is zero and attention
    is the mean of the allowed values. This is a control that shows what the weights
    contribute.

    Parameters
    ----------
    model : Transformer
    stacks : sequence of {"encoder", "decoder", "cross"}
        The self-attention of the encoder, that of the decoder, and the cross-attention.

    Examples
    --------
    >>> from attn.transformer import Transformer, TransformerConfig
    >>> model = Transformer(TransformerConfig(vocab_size=9, d_model=8, n_heads=1, n_layers=1))
    >>> make_uniform(model, ["decoder"])
    >>> _, weights = model(torch.tensor([[5, 6]]), torch.tensor([[2, 7]]), need_weights=True)
    >>> weights.decoder[0][0, 0].tolist()
    [[1.0, 0.0], [0.5, 0.5]]
    """
    for stack in stacks:
        check_choice("stacks", stack, STACKS)
        for attention in _attention(model, stack):
            for parameter in attention.q_proj.parameters():
                torch.nn.init.zeros_(parameter).requires_grad_(False)


def _attention(model: Transformer, stack: str) -> list[MultiHeadAttention]:
    """Return the attention module of each layer."""
    layers = model.encoder.layers if stack == "encoder" else model.decoder.layers
    name = "cross_attention" if stack == "cross" else "self_attention"
    # The type of a ModuleList does not name the class of its modules.
    return [cast(MultiHeadAttention, layer.get_submodule(name)) for layer in layers]
