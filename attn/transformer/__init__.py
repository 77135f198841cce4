"""The Transformer, and the two halves that became models of their own.

==================  ===================================================================
`config`            ``TransformerConfig``: every size and choice, checked
`stacks`            ``TokenEmbedding``: ids to vectors with positions; ``Encoder``,
                    ``Decoder``: N layers, one after the other
`encoder_decoder`   ``Transformer``: both, for translation and the like
`encoder_only`      ``EncoderOnly``: reads a text, a prediction for every token
`decoder_only`      ``DecoderOnly``: writes a text, one token after another
`captured`          ``Captured``: its step, recorded once and replayed by a GPU
`checkpoint`        ``save`` and ``load``, which all three models have
`torch_weights`     ``from_torch``, ``to_torch``: the same weights in PyTorch's own modules
==================  ===================================================================
"""

from attn.transformer.captured import Captured
from attn.transformer.config import TransformerConfig
from attn.transformer.decoder_only import DecoderOnly
from attn.transformer.encoder_decoder import Transformer, TransformerWeights
from attn.transformer.encoder_only import EncoderOnly
from attn.transformer.stacks import Decoder, Encoder
from attn.transformer.torch_weights import from_torch, to_torch

__all__ = [
    "Captured",
    "Decoder",
    "DecoderOnly",
    "Encoder",
    "EncoderOnly",
    "Transformer",
    "TransformerConfig",
    "TransformerWeights",
    "from_torch",
    "to_torch",
]
