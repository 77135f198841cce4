"""The mathematics in NumPy, one short function per equation: the oracle of the course.

===============  ======================================================
`attention`      softmax, scaled dot-product attention, self-attention
`masks`          causal and padding masks
`multi_head`     several heads side by side
`positions`      sinusoidal, rotary and ALiBi
`position_wise`  layer normalisation and the feed-forward network
`layers`         the encoder layer and the decoder layer
`online`         attention in blocks, without the matrix of weights
===============  ======================================================

Read them in that order. The functions are clear before fast, and strict about what they are
given. Three conventions hold in all of them, and in the PyTorch modules of the same names:

- any leading batch dimensions are allowed, and broadcast;
- a mask is boolean, True = *may attend*, and broadcasts to (..., tgt_len, src_len);
- a query that may attend to nothing gets zero weights and a zero output, never NaN. An
  empty sequence is the same case: with ``src_len = 0`` every output is zero, with
  ``tgt_len = 0`` there is none.

Floating-point inputs keep their dtype; integers are computed in float64.
"""

from attn.reference.attention import scaled_dot_product_attention, self_attention, softmax
from attn.reference.layers import decoder_layer, encoder_layer
from attn.reference.masks import causal_mask, padding_mask
from attn.reference.multi_head import multi_head_attention
from attn.reference.online import online_attention
from attn.reference.position_wise import feed_forward, layer_norm
from attn.reference.positions import alibi_bias, alibi_slopes, rotary, sinusoidal_positions

__all__ = [
    "alibi_bias",
    "alibi_slopes",
    "causal_mask",
    "decoder_layer",
    "encoder_layer",
    "feed_forward",
    "layer_norm",
    "multi_head_attention",
    "online_attention",
    "padding_mask",
    "rotary",
    "scaled_dot_product_attention",
    "self_attention",
    "sinusoidal_positions",
    "softmax",
]
