"""The mathematics in NumPy, one short function per equation: the oracle of the course.

===============  ======================================================
`similarity`     the cosine of the angle between two vectors
`attention`      softmax, scaled dot-product attention, self-attention
`scores`         scores that stay below a cap; a softmax that may give to nothing
`masks`          causal, window and padding masks; what reaches what
`pooling`        one query for a whole input
`multi_head`     several heads side by side
`positions`      sinusoidal, rotary and ALiBi
`position_wise`  layer normalisation and the feed-forward network
`layers`         the encoder layer and the decoder layer
`online`         attention in blocks, without the matrix of weights
`partial`        attention over some of the keys, and how the parts are put together
`windowed`       attention to the last few positions, without the others
`linear`         attention without a softmax, in time that grows with the length
`state`          attention whose memory has a fixed size: retention and the delta rule
`paths`          how many layers there are between two positions
`decoding`       a step of a beam search, the nucleus of a distribution
`evaluation`     BLEU, the error rate of an alignment
`loss`           what a model is asked for, and what its answers cost
`optimiser`      a step of Adam, and how large steps may be
`answers`        the best span, words that question and text share, sentences by attention
`masking`        what a masked language model reads and is asked for
`spans`          text with holes, and what was in them
`contrastive`    which caption belongs to which image
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

from attn.reference.answers import best_span, question_match, sentence_attention
from attn.reference.attention import scaled_dot_product_attention, self_attention, softmax
from attn.reference.contrastive import contrastive_loss
from attn.reference.decoding import beam_step, top_p_filter
from attn.reference.evaluation import alignment_error, sentence_bleu
from attn.reference.layers import decoder_layer, encoder_layer
from attn.reference.linear import feature_map, linear_attention
from attn.reference.loss import smoothed_cross_entropy, teacher_forcing
from attn.reference.masking import mask_tokens
from attn.reference.masks import causal_mask, padding_mask, reachable, window_mask
from attn.reference.multi_head import join_heads, multi_head_attention, split_heads
from attn.reference.online import online_attention
from attn.reference.optimiser import adam_step, warmup_schedule
from attn.reference.partial import merge_attention, partial_attention
from attn.reference.paths import path_lengths
from attn.reference.pooling import attention_pooling
from attn.reference.position_wise import feed_forward, layer_norm
from attn.reference.positions import alibi_bias, alibi_slopes, rotary, sinusoidal_positions
from attn.reference.scores import soft_capped, softmax_with_sink
from attn.reference.similarity import cosine_similarity
from attn.reference.spans import corrupt_spans
from attn.reference.state import delta_rule, retention, state_weights
from attn.reference.windowed import windowed_attention

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
