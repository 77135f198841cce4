"""Translation: the whole Transformer at work, and what it has learned, measured.

==============  ====================================================================
`vocabularies`  one for each language: words, or byte pairs
`recipes`       how the translators that come with the course are trained
`translator`    ``Translator``: fit, translate, look inside, measure, save, load
`cutting`       a text in pieces that a translator can read, and together again
`lines`         a file of any length, line by line
`certainty`     the probability that each word is right
`recogniser`    is a text English, Spanish, or neither?
`facts`         alignments, pronouns, meanings, agreement, heads: is it so?
==============  ====================================================================
"""

from attn.applications.translation.certainty import Translation
from attn.applications.translation.lines import TranslatedLine, translate_lines
from attn.applications.translation.recipes import PRETRAINED, RECIPES, SIZES, TRAINING, Recipe
from attn.applications.translation.recogniser import language_of
from attn.applications.translation.translator import TranslationAttention, Translator
from attn.applications.translation.vocabularies import UnknownWordError

__all__ = [
    "PRETRAINED",
    "RECIPES",
    "SIZES",
    "TRAINING",
    "Recipe",
    "TranslatedLine",
    "Translation",
    "TranslationAttention",
    "Translator",
    "UnknownWordError",
    "language_of",
    "translate_lines",
]
