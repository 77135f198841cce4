"""What came before the Transformer: recurrent networks, without and with attention.

The encoder of `RecurrentEncoderDecoder` reads one token after another into a state of fixed
size, and the decoder starts from the last one. Without attention that vector is all the decoder
ever knows of the source. With it, every step of the decoder looks at all the states of the
encoder.

`BidirectionalRecurrent` reads a text twice, once from each end, and writes nothing.

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
