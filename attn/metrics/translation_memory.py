"""A baseline for translation: the stored translation of the most similar sentence."""

from collections import defaultdict
from collections.abc import Sequence
from typing import Protocol

import numpy as np

from attn._checks import argument_error


class PairLike(Protocol):
    """Anything with a source and a target, as `attn.corpus.Pair`."""

    @property
    def source(self) -> str: ...

    @property
    def target(self) -> str: ...


def translation_memory(
    pairs: Sequence[PairLike], sources: Sequence[str]
) -> tuple[list[str], list[float]]:
    """Translate each sentence by looking up the most similar one among known pairs.

    It does not translate, but shows how much of a test set can be answered from the training set.
    The similarity of two sentences is the share of their distinct words that both contain, from 0
    to 1. Words are separated by spaces. Ties go to the first pair.

    Returns
    -------
    targets : list of str
        The translation of the most similar source.
    similarity : list of float

    Raises
    ------
    ValueError
        If there are no pairs.

    References
    ----------
    Jaccard (1912), The Distribution of the Flora in the Alpine Zone, for the measure.

    Examples
    --------
    >>> from attn.corpus import Pair
    >>> known = [Pair("the red house", "la casa roja"), Pair("a cat", "un gato")]
    >>> translation_memory(known, ["the red door", "a cat"])
    (['la casa roja', 'un gato'], [0.5, 1.0])
    """
    if not len(pairs):
        raise argument_error("pairs", "at least one pair of sentences", "none")
    words = [set(pair.source.split()) for pair in pairs]
    sizes = np.array([len(known) for known in words])
    numbers_with: defaultdict[str, list[int]] = defaultdict(list)
    for number, known in enumerate(words):
        for word in known:
            numbers_with[word].append(number)
    where = {word: np.array(numbers) for word, numbers in numbers_with.items()}
    targets, similarity = [], []
    for source in sources:
        asked = set(source.split())
        shared = np.zeros(len(pairs))
        for word in asked & where.keys():
            shared[where[word]] += 1
        ratio = shared / np.maximum(len(asked) + sizes - shared, 1)
        best = int(ratio.argmax())
        targets.append(pairs[best].target)
        similarity.append(float(ratio[best]))
    return targets, similarity
