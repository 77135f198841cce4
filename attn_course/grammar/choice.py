"""The choices of a derivation: at random, or to find a given sentence."""

import random


class Impossible(Exception):
    """Raised if there is nothing to choose from, so that the derivation starts again."""


class Dice:
    """Choose at random, with a seed.

    Parameters
    ----------
    seed : int
    """

    def __init__(self, seed):
        self._random = random.Random(seed)

    def one(self, options):
        """Return one of a sequence of options."""
        if not options:
            raise Impossible
        return options[int(self._random.random() * len(options))]

    def weighted(self, weights):
        """Return one key of a dictionary of weights."""
        if not weights:
            raise Impossible
        left = self._random.random() * sum(weights.values())
        for option, weight in weights.items():
            left -= weight
            if left < 0:
                return option
        return option

    def chance(self, probability, says=None):
        """Return True with a probability. True means that the sentence contains the word `says`."""
        return self._random.random() < probability


class Search:
    """Try every possibility once, derivation after derivation, to find one sentence.

    Entries of the lexicon with words that are not in the sentence are skipped.

    Parameters
    ----------
    source : str
        The English sentence.
    """

    def __init__(self, source):
        self._words = set(source.split())
        # The choices of this derivation, as (index, number of options).
        self._path = []
        self._depth = 0

    def one(self, options):
        return self._choose([option for option in options if self._sayable(option)])

    def weighted(self, weights):
        return self.one([option for option, weight in weights.items() if weight])

    def chance(self, probability, says=None):
        possible = [False] if probability < 1 else []
        if probability > 0 and (says is None or says in self._words):
            possible.append(True)
        return self._choose(possible)

    def advance(self):
        """Begin the next derivation; return False when there is none."""
        del self._path[self._depth :]
        while self._path and self._path[-1][0] + 1 == self._path[-1][1]:
            self._path.pop()
        if not self._path:
            return False
        which, of = self._path[-1]
        self._path[-1] = (which + 1, of)
        self._depth = 0
        return True

    def _choose(self, options):
        if not options:
            raise Impossible
        if self._depth == len(self._path):
            self._path.append((0, len(options)))
        which, _ = self._path[self._depth]
        self._depth += 1
        return options[which]

    def _sayable(self, option):
        forms = getattr(option, "forms", None)
        return forms is None or any(self._words.issuperset(form.split()) for form in forms)
