"""Corpora that installed packages offer, found by name.

The course registers its grammar this way, so that ``python -m attn train`` can learn from it and
nothing here depends on the course.
"""

from collections.abc import Sequence
from importlib.metadata import entry_points
from typing import Protocol

from attn._checks import argument_error
from attn.corpus.pair import Pair

GROUP = "attn.corpora"


class Corpus(Protocol):
    """A function that gives the parts of a corpus by name, each a sequence of pairs."""

    def __call__(self, n_train: int = ...) -> dict[str, Sequence[Pair]]: ...


def named(name: str) -> Corpus:
    """Return the corpus of that name: ``corpus(n_train=...)`` gives the pairs of each part.

    The parts *train* and *validation* are for training; every other one is a test. A package offers
    a corpus in its ``pyproject.toml``, under ``[project.entry-points."attn.corpora"]``: a function that
    takes ``n_train`` and returns a dict from the name of a part to its pairs.

    Raises
    ------
    ValueError
        If no installed package offers it.

    Examples
    --------
    >>> named("the moon")
    Traceback (most recent call last):
    ValueError: corpus: expected 'grammar' or 'mixture' or 'tatoeba', got 'the moon'
    """
    offered = {entry.name: entry for entry in entry_points(group=GROUP)}
    if name not in offered:
        expected = " or ".join(map(repr, sorted(offered))) or "an installed corpus (attn[course])"
        raise argument_error("corpus", expected, repr(name))
    corpus: Corpus = offered[name].load()
    return corpus
