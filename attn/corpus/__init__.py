"""Pairs of sentences to learn from, and where they come from.

============  ===================================================================
`pair`        ``Pair``: two sentences, their links and annotations
`pairs_file`  ``read_pairs``: pairs from a user's own file
`named`       ``named``: a corpus that an installed package offers by name
`splits`      ``hold_out`` and ``near_duplicates``: parts that share no sentence
`tatoeba`     ``tatoeba``: sentences that people wrote, fetched on request
============  ===================================================================
"""

from attn.corpus.named import named
from attn.corpus.pair import Agreement, Coreference, Pair, Polyseme
from attn.corpus.pairs_file import read_pairs
from attn.corpus.splits import hold_out, near_duplicates
from attn.corpus.tatoeba import tatoeba

__all__ = [
    "Agreement",
    "Coreference",
    "Pair",
    "Polyseme",
    "hold_out",
    "named",
    "near_duplicates",
    "read_pairs",
    "tatoeba",
]
