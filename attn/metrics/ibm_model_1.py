"""IBM Model 1: which words translate which, learned from pairs of sentences by EM."""

from collections.abc import Hashable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from attn._checks import check_size, wrong
from attn.metrics.alignment import Links, align


@dataclass(frozen=True)
class IBMModel1:
    """What `ibm_model_1` learned.

    Attributes
    ----------
    probabilities : array, shape (n_source_words, n_target_words)
        Row for a source word, column for a target word: the probability of the one, given
        the other. Rows sum to 1.
    source_ids, target_ids : dict
        The row of each source word, the column of each target word.
    log_likelihoods : list of float
        Of the corpus, before each iteration and after the last. They never fall.
    """

    probabilities: NDArray[np.float64]
    source_ids: dict[Hashable, int]
    target_ids: dict[Hashable, int]
    log_likelihoods: list[float]

    def align(self, source: Sequence[Hashable], target: Sequence[Hashable]) -> Links:
        """Link each word of `target` to the word of `source` that most probably caused it.

        Parameters
        ----------
        source, target : list of words
            A word that was not learned from has no probability; of equals the first wins.

        Returns
        -------
        set of (int, int)
            As `attn.metrics.align`.

        Raises
        ------
        ValueError
            If `source` has no words.
        """
        weights = np.zeros((len(target), len(source)))
        for i, target_word in enumerate(target):
            for j, source_word in enumerate(source):
                if source_word in self.source_ids and target_word in self.target_ids:
                    pair = self.source_ids[source_word], self.target_ids[target_word]
                    weights[i, j] = self.probabilities[pair]
        return align(weights)


def ibm_model_1(
    pairs: Sequence[tuple[Sequence[Hashable], Sequence[Hashable]]], iterations: int = 10
) -> IBMModel1:
    """Learn the probability that a source word becomes a target word.

    Nothing says which word of a sentence became which. So each target word is first shared
    out among all source words of its sentence by the probabilities so far, then the shares
    are counted as if they had been seen, and the probabilities are those counts, made to sum
    to 1. Words that often meet take more of each other each time.

    Here every target word comes from a source word: there is no empty word, as there is none
    for attention.

    Parameters
    ----------
    pairs : list of (list of words, list of words)
        The source and the target of each sentence, in words of any hashable kind.
    iterations : int, default 10

    Returns
    -------
    IBMModel1

    Raises
    ------
    ValueError
        If there are no pairs, a sentence is empty, or `iterations` is not an integer of at
        least 0.

    References
    ----------
    Brown et al. (1993), The Mathematics of Statistical Machine Translation, section 4.1.

    Examples
    --------
    >>> pairs = [(["la", "casa"], ["the", "house"]), (["la", "flor"], ["the", "flower"])]
    >>> model = ibm_model_1(pairs)
    >>> sorted(model.align(["la", "flor"], ["the", "flower"]))
    [(0, 0), (1, 1)]
    """
    iterations = check_size("iterations", iterations)
    for source, target in pairs:
        if not len(source) or not len(target):
            raise wrong("pairs", "at least one word in every sentence", (source, target))
    if not len(pairs):
        raise wrong("pairs", "at least one", "none")

    # One entry for each way in which a target word may come from a source word.
    source_ids: dict[Hashable, int] = {}
    target_ids: dict[Hashable, int] = {}
    places: list[tuple[int, int, int]] = []  # of the two words, and of the target word's place
    n_words, log_ways = 0, 0.0
    for source, target in pairs:
        rows = [source_ids.setdefault(word, len(source_ids)) for word in source]
        for word in target:
            column = target_ids.setdefault(word, len(target_ids))
            places += [(row, column, n_words) for row in rows]
            n_words += 1
        log_ways += len(target) * np.log(len(source))
    sources, targets, words = np.array(places).T

    shape = len(source_ids), len(target_ids)
    probabilities = np.full(shape, 1 / shape[1])
    log_likelihoods = []
    while True:
        shares = probabilities[sources, targets]
        totals = np.bincount(words, weights=shares)
        log_likelihoods.append(float(np.log(totals).sum() - log_ways))
        if len(log_likelihoods) > iterations:
            return IBMModel1(probabilities, source_ids, target_ids, log_likelihoods)
        shares = shares / totals[words]
        cells = np.ravel_multi_index((sources, targets), shape)
        counts = np.bincount(cells, weights=shares, minlength=shape[0] * shape[1]).reshape(shape)
        probabilities = counts / counts.sum(axis=1, keepdims=True)
