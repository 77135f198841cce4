"""Translation: the whole Transformer at work, and what it has learned, measured.

=============  ====================================================================
`translator`   ``Translator``: fit, translate, look inside, measure, save, load
`facts`        alignments, pronouns, meanings, agreement, heads: is it so?
=============  ====================================================================
"""

from attn.applications.translation.translator import (
    SIZES,
    TRAINING,
    TranslationAttention,
    Translator,
    UnknownWordError,
)

__all__ = ["SIZES", "TRAINING", "TranslationAttention", "Translator", "UnknownWordError"]
