"""Pairs of sentences to learn from, and where they come from.

============  ===================================================================
`pair`        ``Pair``: two sentences, their links and annotations
`pairs_file`  ``read_pairs``: pairs from a user's own file
`named`       ``named``: a corpus that an installed package offers by name
============  ===================================================================
"""

from attn.corpus.named import named
from attn.corpus.pair import Agreement, Coreference, Pair, Polyseme
from attn.corpus.pairs_file import read_pairs

__all__ = ["Agreement", "Coreference", "Pair", "Polyseme", "named", "read_pairs"]
