"""How a layer mixes tokens, chosen for every layer by a description, the mixer.

A mixer is a small frozen dataclass in ``TransformerConfig(mixers=(...))``; `DecoderOnly` then has
the module of the mixer in place of self-attention.

=============  ======================================================================
`base`         ``Mixer``, from which each derives, and ``register``: others, by name
`multi_head`   ``MultiHead``: softmax attention
`latent`       ``MultiHeadLatent``: the same, but the cache keeps one small vector per token
`recurrent`    ``LinearAttention``, ``Retention``, ``DeltaRule``, ``GatedDeltaRule``: a memory
               of fixed size
`state`        how these compute with their memory, token by token and in chunks
=============  ======================================================================

Each has a cache, growing or of fixed room, with which decoding gives the result of the parallel
form, and states its costs: ``cache_bytes`` and ``step_flops``. Each can be compiled, and exported
through ``torch.export`` and ONNX. ONNX solves no triangular systems, so a graph of a delta rule has
limits: it gives no weights, needs PyTorch 2.7, and reads at most 4,096 tokens. ``torch.export``
refuses a longer text; in ONNX every output of a longer text is NaN.
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
