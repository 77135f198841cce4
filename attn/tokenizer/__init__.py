"""Tokenizers: text to ids, and ids back to text.

============================  ====================================================================
`attn.tokenizer.base`         the interface: ``encode``, ``decode``, ``save``, ``load``
`attn.tokenizer.words`        ``WordTokenizer``: one id per word, unknown words share one
`attn.tokenizer.byte_pair`    ``BytePairTokenizer``: pieces of words, no text is unknown
`attn.tokenizer.pretrained`   ``PretrainedTokenizer``: what the two below share
`attn.tokenizer.added`        ``AddedToken``: a string that those find whole, wherever it stands
`attn.tokenizer.byte_level`   ``ByteLevelTokenizer``: byte pairs in the vocabulary of a GPT-2 or Llama
`attn.tokenizer.word_piece`   ``WordPieceTokenizer``: the pieces of words of a BERT
============================  ====================================================================

The word and byte-pair tokenizers keep the ids 0 to 3 for ``<pad>``, ``<unk>``, ``<sos>`` and
``<eos>``, so a model can use either. The byte-level and WordPiece tokenizers have the ids of
the model they came with. No tokenizer needs NumPy or PyTorch.
"""

from attn.tokenizer.added import AddedToken
from attn.tokenizer.byte_level import ByteLevelTokenizer
from attn.tokenizer.byte_pair import BytePairTokenizer
from attn.tokenizer.word_piece import WordPieceTokenizer
from attn.tokenizer.words import WordTokenizer

__all__ = [
    "AddedToken",
    "ByteLevelTokenizer",
    "BytePairTokenizer",
    "WordPieceTokenizer",
    "WordTokenizer",
]
