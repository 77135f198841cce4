"""How near a test set is to the training set."""

from collections.abc import Iterable, Iterator, Sequence

import numpy as np
from numpy.typing import NDArray


def one_word_apart(sources: Sequence[str], known: Iterable[str]) -> NDArray[np.bool_]:
    """Return for each sentence whether it differs from a known one in exactly one word.

    Such a sentence tests little, because a model that knows the known sentence by heart has only
    one word left to translate. Words are separated by spaces, and both sentences have the same
    number of them.

    Examples
    --------
    >>> one_word_apart(["the red house", "the house", "a cat"], ["the blue house", "a cat"])
    array([ True, False, False])
    """
    # Maps a sentence with one word left out to the indices of such sentences and that word.
    asked: dict[tuple[str | None, ...], list[tuple[int, str]]] = {}
    for number, source in enumerate(sources):
        for gapped, word in _gaps(source):
            asked.setdefault(gapped, []).append((number, word))
    found = np.zeros(len(sources), bool)
    for sentence in known:
        for gapped, word in _gaps(sentence):
            for number, other in asked.get(gapped, ()):
                found[number] |= word != other
    return found


def _gaps(sentence: str) -> Iterator[tuple[tuple[str | None, ...], str]]:
    words = sentence.split()
    for i, word in enumerate(words):
        yield (*words[:i], None, *words[i + 1 :]), word
