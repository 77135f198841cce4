"""Tokenizers: text to ids, and ids back to text.

===========================  ====================================================
`attn.tokenizer.base`        the interface: ``encode``, ``decode``, ``save``, ``load``
`attn.tokenizer.words`       ``WordTokenizer``: one id per word, unknown words share one
`attn.tokenizer.byte_pair`   ``BytePairTokenizer``: pieces of words, no text is unknown
===========================  ====================================================

Both keep the ids 0 to 3 for ``<pad>``, ``<unk>``, ``<sos>`` and ``<eos>``, so a model can use
either. Neither needs NumPy or PyTorch.
"""

from attn.tokenizer.byte_pair import BytePairTokenizer
from attn.tokenizer.words import WordTokenizer

__all__ = ["BytePairTokenizer", "WordTokenizer"]
