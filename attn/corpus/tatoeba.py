"""Sentences that people wrote: English and Spanish, collected and translated by volunteers.

The file is the one that the tutorials of Keras and TensorFlow use. It is not part of this package:
it comes from the folder ``ATTN_DATA``, from the cache or over the network, on request.
"""

import re
import tempfile
import zipfile
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

from attn._checks import check_size
from attn._fetch import Remote, fetched
from attn.corpus.pair import Pair
from attn.corpus.pairs_file import read_pairs
from attn.corpus.splits import drawn, hold_out, near_duplicates, one_for_each_source

FILE = Remote(
    name="tatoeba/spa-eng.zip",
    address="https://storage.googleapis.com/download.tensorflow.org/data/spa-eng.zip",
    sha256="f80e581ae291aa34dd3aba7bd98b5e9505234da4318e2f3295df70a1520c7f61",
    n_bytes=2_767_131,
)
MEMBER = "spa-eng/spa.txt"
MOST_WORDS = 20
# The number of English sentences in each test set, and in each half of the validation set.
N_TEST, N_VALIDATION = 1000, 500

# Letters of other scripts show a name that was not transcribed, or another language.
FOREIGN = re.compile(r"[^\W\d_\u0000-\u024f₂]")


def tatoeba(n_train: int | None = None) -> dict[str, Sequence[Pair]]:
    """Return the parts of the corpus of real sentences: train, validation, clusters and plain.

    No English sentence is in two parts. The sentences of the test *clusters* have no near-duplicate
    in any other part, so every sentence of another part differs from each of them in at least two
    words. The sentences of *plain* are drawn at random, and most of them have a near-duplicate in
    training. Half of the validation sentences come from held-out clusters, like *clusters*, and
    half are drawn at random, like *plain*. Tests and validation hold one translation of each
    sentence.

    Parameters
    ----------
    n_train : int, optional
        The number of training pairs, drawn by chance; by default all. A larger number contains the
        pairs of a smaller one.

    Raises
    ------
    ValueError
        If the file cannot be obtained or has another checksum, or `n_train` is not a size.

    References
    ----------
    tatoeba.org, by way of manythings.org/anki, CC BY 2.0.
    """
    pairs, _ = cleaned(read())
    cluster = near_duplicates(pair.source for pair in pairs)
    rest, apart = hold_out(pairs, N_TEST + N_VALIDATION, lambda pair: cluster[pair.source])
    rest, alike = hold_out(rest, N_TEST + N_VALIDATION)
    clusters, few_apart = hold_out(apart, N_VALIDATION, lambda pair: cluster[pair.source])
    plain, few_alike = hold_out(alike, N_VALIDATION)
    if n_train is not None:
        rest = sorted(rest, key=drawn)[: check_size("n_train", n_train, least=0)]
    return {
        "train": rest,
        "validation": one_for_each_source(few_apart + few_alike),
        "clusters": one_for_each_source(clusters),
        "plain": one_for_each_source(plain),
    }


def read() -> list[Pair]:
    """Return all pairs of the file, unchanged."""
    with zipfile.ZipFile(fetched(FILE)) as archive, tempfile.TemporaryDirectory() as folder:
        return list(read_pairs(Path(archive.extract(MEMBER, folder))))


def cleaned(pairs: Sequence[Pair]) -> tuple[list[Pair], Counter[str]]:
    """Leave out pairs that a translator should not learn from, and count them by reason.

    The reasons are ``"not translated"``, both sides being equal; ``"another script"``, with letters
    that neither language has; ``"too long"``, of more than 20 words on a side. Equal pairs are left
    out by `read_pairs`.
    """
    kept, left_out = [], Counter[str]()
    for pair in pairs:
        if pair.source == pair.target:
            left_out["not translated"] += 1
        elif FOREIGN.search(pair.source + pair.target):
            left_out["another script"] += 1
        elif max(len(side.split()) for side in (pair.source, pair.target)) > MOST_WORDS:
            left_out["too long"] += 1
        else:
            kept.append(pair)
    return kept, left_out
