"""Everyday sentences and their translations, written for this course.

They are in no corpus that a model here was trained on, and need no download. Each has one
translation, in a Spanish that most of Latin America would say; often another is as good.
"""

from pathlib import Path

from attn.corpus import read_pairs

_FILE = Path(__file__).with_suffix(".tsv")


def everyday():
    """Return the sentences.

    Returns
    -------
    list of attn.corpus.Pair

    Examples
    --------
    >>> pairs = everyday()
    >>> len(pairs)
    215
    >>> pairs[9].source, pairs[9].target
    ("I can't find my other sock.", 'No encuentro mi otro calcetín.')
    """
    return list(read_pairs(_FILE))
