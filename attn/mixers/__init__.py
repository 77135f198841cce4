"""What a layer does with the tokens before each, chosen for every layer by its description.

A mixer is a small frozen dataclass in ``TransformerConfig(mixers=(...))``; `DecoderOnly` then has its
module in the place of self-attention.

=============  ======================================================================
`base`         ``Mixer``, from which each derives, and ``register``: others, by name
`multi_head`   ``MultiHead``: softmax attention
`latent`       ``MultiHeadLatent``: the same, of which the cache keeps a small vector a token
`recurrent`    ``LinearAttention``, ``Retention``, ``DeltaRule``, ``GatedDeltaRule``: a memory
               of fixed size
`state`        what these do with their memory, token by token and in chunks
=============  ======================================================================

Each has its cache, growing or of fixed room, which decodes to what the parallel form computes, and tells
its costs: ``cache_bytes`` and ``step_flops``. Each compiles and leaves PyTorch through ``torch.export`` and
ONNX. ONNX solves no triangular systems, so a graph of a delta rule has limits: it gives no weights, needs
PyTorch 2.7, and reads at most 4,096 tokens. ``torch.export`` refuses a longer text; in ONNX every output
of a longer text is NaN.
"""

from attn.mixers.base import MIXERS, Mixer, check_mixers, described, mixer_from, register
from attn.mixers.latent import LatentAttention, MultiHeadLatent
from attn.mixers.multi_head import MultiHead
from attn.mixers.recurrent import (
    DeltaRule,
    GatedDeltaRule,
    LinearAttention,
    Retention,
    StateCache,
    StateMixer,
)
from attn.mixers.state import chunked, recurrent, state_weights

__all__ = [
    "MIXERS",
    "DeltaRule",
    "GatedDeltaRule",
    "LatentAttention",
    "LinearAttention",
    "Mixer",
    "MultiHead",
    "MultiHeadLatent",
    "Retention",
    "StateCache",
    "StateMixer",
    "check_mixers",
    "chunked",
    "described",
    "mixer_from",
    "recurrent",
    "register",
    "state_weights",
]
