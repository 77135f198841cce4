"""Which language a text is in, by its words and letters: the tables, and their accuracy.

``python -m experiments languages`` counts words and pairs of letters in the training sentences of the
real corpus, writes the tables that `attn.applications.translation.recogniser` reads, and measures it on
sentences of the tests. It takes a minute.
"""

import math
import random
from collections import Counter
from functools import cache, partial

import numpy as np

from attn.applications.translation.recogniser import _WORD, SIGNS, TABLES, language_of, places
from attn.corpus import tatoeba
from attn_course.everyday import everyday
from experiments.runner import Experiment, Row

# The weight of the prior, the overall frequency of each letter, in the counts after a letter.
PRIOR = 20
# The number of words in the table, and the largest entry of a word, in tenths of a nat.
N_WORDS, MOST = 200, 60
N_EACH = 500
EMOJI = [*map(chr, (*range(0x1F300, 0x1F650), *range(0x1F680, 0x1F6C6), *range(0x1F910, 0x1F970)))]
LETTERS = "abcdefghijklmnopqrstuvwxyz"
corpus = cache(tatoeba)


def counted(side):
    """Return how often each word, in lower case, occurs in the training sentences."""
    words = Counter()
    for pair in corpus()["train"]:
        words.update(_WORD.findall(getattr(pair, side).lower().replace("’", "'")))
    return words


def letters(side):
    """Return the surprisal of each character after each other one, in tenths of a nat."""
    counts = np.zeros((len(SIGNS), len(SIGNS)))
    for word, n in counted(side).items():
        ids = places(word)
        np.add.at(counts, (ids[:-1], ids[1:]), n)
    alone = (counts.sum(axis=0) + 1) / (counts.sum() + len(SIGNS))
    chances = (counts + PRIOR * alone) / (counts.sum(axis=1, keepdims=True) + PRIOR)
    return np.round(-10 * np.log(chances)).astype(int).tolist()


def words():
    """Return, in tenths of a nat, how much more probable each frequent word is in Spanish."""
    english, spanish = counted("source"), counted("target")
    said = sorted(english | spanish, key=lambda word: (-english[word] - spanish[word], word))
    totals = english.total(), spanish.total()

    def ratio(word):
        chances = [(c[word] + 0.5) / n for c, n in zip((english, spanish), totals, strict=True)]
        return max(-MOST, min(MOST, round(10 * math.log(chances[1] / chances[0]))))

    return {word: ratio(word) for word in said[:N_WORDS]}


def kinds(seed=0):
    """Return texts to recognise, by kind, with their expected and their true language."""
    parts, rng = corpus(), random.Random(seed)
    tests = [*parts["validation"], *parts["clusters"], *parts["plain"]]
    emoji = ["".join(rng.choices(EMOJI, k=rng.randint(1, 5))) for _ in range(N_EACH)]
    sizes = [[rng.randint(3, 9) for _ in range(rng.randint(1, 6))] for _ in range(N_EACH)]
    noise = [" ".join("".join(rng.choices(LETTERS, k=n)) for n in some) for some in sizes]
    few = parts["clusters"][:N_EACH]
    return {
        "English": ([pair.source for pair in tests], "en", "en"),
        "everyday English": ([pair.source for pair in everyday()], "en", "en"),
        "Spanish for English": ([pair.target for pair in few], "en", "es"),
        "Spanish": ([pair.target for pair in tests], "es", "es"),
        "English for Spanish": ([pair.source for pair in few], "es", "en"),
        "emoji": (emoji, "en", ""),
        "letters at random": (noise, "en", ""),
    }


def rates():
    """Return, for each kind, how many texts are recognised correctly, and their number."""
    return {
        name: [sum(language_of(text, expected) == right for text in texts), len(texts)]
        for name, (texts, expected, right) in kinds().items()
    }


def rows():
    """Return what is measured: the tables, and the rates."""
    return {
        "words": Row(words, ("words",)),
        "en": Row(partial(letters, "source"), ("en",)),
        "es": Row(partial(letters, "target"), ("es",)),
        "rates": Row(rates, ("rates",)),
    }


EXPERIMENT = Experiment(
    "Which language a text is in, told by words and letters: how often is that right?",
    TABLES,
    rows,
    minutes=1,
)
