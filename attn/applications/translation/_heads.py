"""Attention taken out of a model: one head for a while, or the choice of all heads for good."""

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
    """Cut a head of a Transformer, and mend it at the end: what it computes reaches nothing.

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
    """Take the choice out of attention, for good: every weight is one over how many are allowed.

    Queries become zero and learn no more, so every score is zero. What is left is the mean of the
    values in view, with its projections; a control for what the weights bring.

    Parameters
    ----------
    model : Transformer
    stacks : sequence of {"encoder", "decoder", "cross"}
        Whose attention: the self-attention of both stacks, and the decoder's to the source.

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
    """Return the attention of each layer."""
    layers = model.encoder.layers if stack == "encoder" else model.decoder.layers
    name = "cross_attention" if stack == "cross" else "self_attention"
    # The type of a ModuleList does not name the class of its modules.
    return [cast(MultiHeadAttention, layer.get_submodule(name)) for layer in layers]
