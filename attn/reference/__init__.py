"""The mathematics in NumPy, one short function per equation: the oracle of the course.

============  ==========================================================================
`attention`   how alike two vectors are, softmax, scaled dot-product attention, self-attention;
              one query for a whole input; a cap on scores, and a sink
`masks`       causal, window and padding masks; what reaches what, and in how many layers
`multi_head`  several heads side by side
`positions`   sinusoidal, rotary and ALiBi
`layers`      layer normalisation, the feed-forward network, the encoder and the decoder layer
`online`      attention without the matrix of weights: in blocks, in parts, in a window
`linear`      attention without a softmax, whose memory has a fixed size
`training`    targets and losses, a step of Adam and its learning rate
`answers`     a step of a beam search, a nucleus, a span; BLEU, the error rate of an alignment
============  ==========================================================================

Read them in that order. The functions are clear before fast, and strict about what they are
given. Three conventions hold in all of them, and in the PyTorch modules of the same names:

- any leading batch dimensions are allowed, and broadcast;
- a mask is boolean, True = *may attend*, and broadcasts to (..., tgt_len, src_len);
- a query that may attend to nothing gets zero weights and a zero output, never NaN. An
  empty sequence is the same case: with ``src_len = 0`` every output is zero, with
  ``tgt_len = 0`` there is none.

Floating-point inputs keep their dtype; integers are computed in float64. Invalid arguments raise
``ValueError``, which names the argument, what was expected and what came: a shape or a type, a
number that is NaN, infinite or outside of the range that a docstring gives, and a product that
overflows.
"""

from attn.reference.answers import (
    alignment_error,
    beam_step,
    best_span,
    question_match,
    sentence_attention,
    sentence_bleu,
    top_p_filter,
)
from attn.reference.attention import (
    attention_pooling,
    cosine_similarity,
    scaled_dot_product_attention,
    self_attention,
    soft_capped,
    softmax,
    softmax_with_sink,
)
from attn.reference.layers import decoder_layer, encoder_layer, feed_forward, layer_norm
from attn.reference.linear import (
    delta_rule,
    feature_map,
    linear_attention,
    retention,
    state_weights,
)
from attn.reference.masks import causal_mask, padding_mask, path_lengths, reachable, window_mask
from attn.reference.multi_head import join_heads, multi_head_attention, split_heads
from attn.reference.online import (
    merge_attention,
    online_attention,
    partial_attention,
    windowed_attention,
)
from attn.reference.positions import alibi_bias, alibi_slopes, rotary, sinusoidal_positions
from attn.reference.training import (
    adam_step,
    contrastive_loss,
    corrupt_spans,
    mask_tokens,
    smoothed_cross_entropy,
    teacher_forcing,
    warmup_schedule,
)

__all__ = [
    "adam_step",
    "alibi_bias",
    "alibi_slopes",
    "alignment_error",
    "attention_pooling",
    "beam_step",
    "best_span",
    "causal_mask",
    "contrastive_loss",
    "corrupt_spans",
    "cosine_similarity",
    "decoder_layer",
    "delta_rule",
    "encoder_layer",
    "feature_map",
    "feed_forward",
    "join_heads",
    "layer_norm",
    "linear_attention",
    "mask_tokens",
    "merge_attention",
    "multi_head_attention",
    "online_attention",
    "padding_mask",
    "partial_attention",
    "path_lengths",
    "question_match",
    "reachable",
    "retention",
    "rotary",
    "scaled_dot_product_attention",
    "self_attention",
    "sentence_attention",
    "sentence_bleu",
    "sinusoidal_positions",
    "smoothed_cross_entropy",
    "soft_capped",
    "softmax",
    "softmax_with_sink",
    "split_heads",
    "state_weights",
    "teacher_forcing",
    "top_p_filter",
    "warmup_schedule",
    "window_mask",
    "windowed_attention",
]
