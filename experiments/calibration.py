"""How often is a translator's word right, compared with the probability it gives that word?

``python -m experiments calibration`` translates validation sentences, fits the two numbers with
which `attn.applications.translation.certainty` turns each translator's token probabilities into the
probability of being right, and measures that on both tests. A word counts as right if the reference
has it.
"""

from collections import Counter
from functools import cache, partial

import numpy as np

from attn.applications import models
from attn.applications.translation import Translator
from attn.applications.translation.certainty import (
    FITTED,
    GUESSED,
    calibrated,
    logit,
    word_chances,
    words_of,
)
from attn.corpus import tatoeba
from experiments.runner import Experiment, Row

SEARCHES = {"beam": {"beam_width": 4, "length_penalty": 1.0}, "greedy": {}}
# Every n-th sentence of a part is translated.
EVERY = {"validation": 1, "clusters": 2, "plain": 2}
N_BINS = 10
# The translators by the language that they read, as `certainty.fitted` names them.
NAMES = {"en": "tatoeba", "es": "tatoeba_es"}
corpus = cache(tatoeba)


def judged(language, part, search="beam"):
    """Return the probability of each word that is written for a part, and whether it is right."""
    # A translator read from its folder does not need the numbers that are fitted here.
    translator = Translator.load(models.translator_folder("tatoeba", language))
    pairs = corpus()[part][:: EVERY[part]]
    if language != "en":
        pairs = [pair.turned() for pair in pairs]
    sources = [source for source, _ in translator._examples(pairs)]
    written = translator._write(sources, **SEARCHES[search])
    chances, right = [], []
    for pair, ids, some in zip(
        pairs, written, word_chances(translator, sources, written), strict=True
    ):
        left = Counter(word.lower() for word in words_of(pair.target))
        for word in words_of(translator.target.decode(ids)):
            right.append(left[word.lower()] > 0)
            left[word.lower()] -= 1
        chances += some.tolist()
    return np.array(chances), np.array(right, dtype=float)


def fitted(language):
    """Return the slope and the offset that maximise the likelihood of validation."""
    chances, right = judged(language, "validation")
    x = np.stack((logit(chances), np.ones(len(chances))), axis=1)
    weights = np.array([1.0, 0.0])
    for _ in range(30):
        p = 1 / (1 + np.exp(-x @ weights))
        weights += np.linalg.solve(x.T @ (x * (p * (1 - p))[:, None]), x.T @ (right - p))
    return np.round(weights, 3).tolist()


def error(probabilities, right):
    """Return the expected calibration error: the mean distance of the bins from the diagonal."""
    bins = np.minimum((probabilities * N_BINS).astype(int), N_BINS - 1)
    gaps = [(probabilities[bins == b] - right[bins == b]).sum() for b in range(N_BINS)]
    return float(np.abs(gaps).sum() / len(right))


def measured(language, stored):
    """Return, for each test, the errors before and after, and the accuracy of the marked words."""
    told = {}
    for name, search in (("clusters", "beam"), ("plain", "beam"), ("clusters", "greedy")):
        chances, right = judged(language, name, search)
        after = calibrated(chances, *stored["fitted"][NAMES[language]])
        marked = after < GUESSED
        told[f"{name}, {search}"] = {
            "words": len(right),
            "right": round(right.mean(), 3),
            "error before": round(error(chances, right), 3),
            "error": round(error(after, right), 3),
            "marked": round(marked.mean(), 3),
            "marked and right": round(right[marked].mean(), 3),
            "unmarked and right": round(right[~marked].mean(), 3),
        }
    return told


def rows():
    """Return what is measured: the fit of each translator, and its errors."""
    found = {}
    for language, name in NAMES.items():
        found[f"fitted {name}"] = Row(partial(fitted, language), ("fitted", name))
    for language, name in NAMES.items():
        found[f"measured {name}"] = Row(partial(measured, language), ("measured", name), reads=True)
    return found


EXPERIMENT = Experiment(
    "Is a translator as sure of a word as it is often right?", FITTED, rows, minutes=4
)
