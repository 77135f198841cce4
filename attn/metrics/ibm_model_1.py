"""IBM Model 1: word translation probabilities, learned from pairs of sentences by EM."""

from collections.abc import Hashable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from attn._checks import argument_error, check_size
from attn.metrics.alignment import Links, align


@dataclass(frozen=True)
class IBMModel1:
    """What `ibm_model_1` learned.

    Most pairs of words never occur in the same sentence pair, so only the probabilities of pairs
    that do are stored.

    Attributes
    ----------
    starts : array of int, shape (n_source_words + 1,)
        The index of the first entry of each source word, and finally the number of entries.
    columns : array of int, shape (n_entries,)
        The target word of each entry, in ascending order for each source word.
    values : array, shape (n_entries,)
        The probability of each entry.
    rest : float
        The probability of two words that never occurred together.
    source_ids, target_ids : dict
        The number of each word, by its first occurrence.
    log_likelihoods : list of float
        That of the corpus before each iteration and after the last. It never falls.
    """

    starts: NDArray[np.int64]
    columns: NDArray[np.int64]
    values: NDArray[np.float64]
    rest: float
    source_ids: dict[Hashable, int]
    target_ids: dict[Hashable, int]
    log_likelihoods: list[float]

    @property
    def probabilities(self) -> NDArray[np.float64]:
        """The full matrix, shape (n_source_words, n_target_words), for small vocabularies.

        Entry [i, j] is the probability of target word j given source word i. Rows sum to 1.
        """
        dense = np.full((len(self.source_ids), len(self.target_ids)), self.rest)
        rows = np.repeat(np.arange(len(self.source_ids)), np.diff(self.starts))
        dense[rows, self.columns] = self.values
        return dense

    def align(self, source: Sequence[Hashable], target: Sequence[Hashable]) -> Links:
        """Link each word of `target` to the word of `source` that most probably caused it.

        A word that training did not see has no probability. Ties go to the first word. A `source`
        without words is refused.
        """
        weights = np.zeros((len(target), len(source)))
        for i, target_word in enumerate(target):
            for j, source_word in enumerate(source):
                if source_word in self.source_ids and target_word in self.target_ids:
                    row, column = self.source_ids[source_word], self.target_ids[target_word]
                    start, end = self.starts[row], self.starts[row + 1]
                    place = start + np.searchsorted(self.columns[start:end], column)
                    met = place < end and self.columns[place] == column
                    weights[i, j] = self.values[place] if met else self.rest
        return align(weights)

    def translate(self, source: Sequence[Hashable]) -> list[Hashable]:
        """Replace each source word by its most probable target word.

        This baseline ignores order and context. A word that training did not see stays as it is.
        Ties go to the first word.

        Examples
        --------
        >>> pairs = [(["la", "casa"], ["the", "house"]), (["la", "flor"], ["the", "flower"])]
        >>> ibm_model_1(pairs).translate(["la", "flor", "roja"])
        ['the', 'flower', 'roja']
        """
        words = list(self.target_ids)
        translated = []
        for word in source:
            if word in self.source_ids:
                start, end = self.starts[self.source_ids[word] :][:2]
                word = words[self.columns[start + self.values[start:end].argmax()]]
            translated.append(word)
        return translated


def ibm_model_1(
    pairs: Sequence[tuple[Sequence[Hashable], Sequence[Hashable]]], iterations: int = 10
) -> IBMModel1:
    """Learn the probability that a source word becomes a target word.

    The data do not say which source word became which target word. So each iteration distributes
    every target word over the source words of its sentence in proportion to the current
    probabilities, adds these shares up as counts, and normalises the counts to new probabilities.
    Words that often occur together gain with each iteration. There is no empty source word, because
    attention has none either.

    Parameters
    ----------
    pairs : list of (list of words, list of words)
        The source and the target of each sentence, in words of any hashable kind.

    Raises
    ------
    ValueError
        If there are no pairs, a sentence is empty, or `iterations` is below 0.

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
            raise argument_error("pairs", "at least one word in every sentence", (source, target))
    if not len(pairs):
        raise argument_error("pairs", "at least one", "none")

    source_ids: dict[Hashable, int] = {}
    target_ids: dict[Hashable, int] = {}
    rows = [[source_ids.setdefault(w, len(source_ids)) for w in source] for source, _ in pairs]
    columns = [[target_ids.setdefault(w, len(target_ids)) for w in target] for _, target in pairs]
    # The arrays have one entry for each source word that a target word of the same pair may come
    # from.
    n_ways = np.repeat([len(row) for row in rows], [len(column) for column in columns])
    words = np.repeat(np.arange(len(n_ways)), n_ways)
    targets = np.repeat(np.concatenate(columns), n_ways)
    sources = np.concatenate([row * len(c) for row, c in zip(rows, columns, strict=True)])
    log_ways = np.log(n_ways).sum()

    # The table has one cell for each two words that occur in the same pair of sentences, as most
    # never do.
    cells, places = np.unique(sources * len(target_ids) + targets, return_inverse=True)
    rows_of_cells, columns_of_cells = np.divmod(cells, len(target_ids))
    starts = np.searchsorted(rows_of_cells, np.arange(len(source_ids) + 1))
    rest = 1 / len(target_ids)
    probabilities = np.full(len(cells), rest)
    log_likelihoods = []
    while True:
        shares = probabilities[places]
        totals = np.bincount(words, weights=shares)
        log_likelihoods.append(float(np.log(totals).sum() - log_ways))
        if len(log_likelihoods) > iterations:
            return IBMModel1(
                starts,
                columns_of_cells,
                probabilities,
                rest,
                source_ids,
                target_ids,
                log_likelihoods,
            )
        counts = np.bincount(places, weights=shares / totals[words], minlength=len(cells))
        probabilities = counts / np.bincount(rows_of_cells, weights=counts)[rows_of_cells]
        rest = 0.0
