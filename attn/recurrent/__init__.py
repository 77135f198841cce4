"""Recurrent networks, which came before the Transformer, without and with attention.

The encoder of `RecurrentEncoderDecoder` reads one token after another into a state of fixed
size, and the decoder starts from the last state. Without attention that vector is all that the
decoder knows of the source. With attention, every step of the decoder attends to all states of
the encoder.

`BidirectionalRecurrent` reads a text twice, once from each end, and has no decoder.

=================  ====================================================================
`encoder_decoder`  ``RecurrentEncoderDecoder``
`cache`            ``RecurrentCache``: the state of its decoder, to write step by step
`additive`         ``AdditiveAttention``: a state is compared with others by a network
`bidirectional`    ``BidirectionalRecurrent``
=================  ====================================================================
"""

from attn.recurrent.additive import AdditiveAttention
from attn.recurrent.bidirectional import BidirectionalRecurrent
from attn.recurrent.cache import RecurrentCache
from attn.recurrent.encoder_decoder import RecurrentEncoderDecoder

__all__ = [
    "AdditiveAttention",
    "BidirectionalRecurrent",
    "RecurrentCache",
    "RecurrentEncoderDecoder",
]
