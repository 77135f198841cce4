"""Attention in PyTorch: the function, one head as a module, and many.

=======================  ==========================================================
`scaled_dot_product`     the function: softmax(QK^T / sqrt(d_k)) V, fused or explicit, where heads
                         may share keys and values; as a module ``ScaledDotProduct``, and
                         ``register``: others, by name; typed, they need ``ModelConfig``,
                         ``Options`` and ``Attended``
`self_attention`         ``SelfAttention``: one head with its three projections
`multi_head`             ``MultiHeadAttention``: many heads, self or cross, with a cache
=======================  ==========================================================

The conventions are those of `attn.reference`: leading batch dimensions broadcast; a mask is
boolean, True = *may attend*; a query that may attend to nothing gets a zero output. All
return ``(output, weights)``, and weights is None unless ``need_weights=True``.
"""

from attn._registry import ModelConfig
from attn.attention.multi_head import MultiHeadAttention
from attn.attention.scaled_dot_product import (
    VARIANTS,
    Attended,
    Options,
    ScaledDotProduct,
    register,
    scaled_dot_product_attention,
)
from attn.attention.self_attention import SelfAttention

__all__ = [
    "VARIANTS",
    "Attended",
    "ModelConfig",
    "MultiHeadAttention",
    "Options",
    "ScaledDotProduct",
    "SelfAttention",
    "register",
    "scaled_dot_product_attention",
]
