"""Translators with five kinds of positions, trained alike and compared by length.

Writes ``notebooks/data/positions.json``, which chapter 07 draws. Training never sees a source of
more than 12 words; all sources of the part ``longer`` have more. A kind takes about a minute of one
processor for each seed.
"""

import itertools
from collections import Counter
from dataclasses import replace
from functools import cache

import torch

from attn.applications.translation import Translator
from attn.applications.translation.translator import TRAINING
from attn_course.grammar import splits, translate
from experiments.runner import DATA, Experiment, Row

POSITIONS = ("sinusoidal", "learned", "rotary", "alibi", "none")
SEEDS = (0, 1)
# The most words of a source; longer sentences are too few.
LONGEST = 16
# The number of rows of the learned table, more than training uses.
MAX_LEN = 64
PEOPLE = ("man", "woman", "boy", "girl", "king", "queen", "doctor", "teacher")
VERBS = ("saw", "helped", "called", "visited")
RESULTS = DATA / "positions.json"


@cache
def material():
    """Return the parts of the corpus, with more test sentences than usual."""
    return splits(n_test=2000, n_held_out=1000)


def swapped_pairs():
    """Return pairs of sentence pairs with the same words, but subject and object exchanged."""
    return [
        [translate(f"the {a} {verb} the {b}") for a, b in ((one, other), (other, one))]
        for verb, (one, other) in itertools.product(VERBS, itertools.combinations(PEOPLE, 2))
    ]


def reversible(pairs):
    """Return the sources of three words that, read backwards, are another sentence."""
    found = []
    for source in (pair.source for pair in pairs if len(pair.source.split()) == 3):
        try:
            translate(" ".join(reversed(source.split())))
        except ValueError:
            continue
        found.append(source)
    return found


def share_with_and(pairs, lengths):
    """Return the share of the sources of these lengths that contain "and"."""
    sources = [pair.source.split() for pair in pairs if len(pair.source.split()) in lengths]
    return round(sum("and" in words for words in sources) / max(len(sources), 1), 3)


def measure(kind, seed, parts, steps=TRAINING.steps):
    """Return the accuracy of one translator: in all, by length, and with two words exchanged."""
    torch.set_num_threads(1)
    translator = Translator.fit(
        parts.train,
        sizes={"positions": kind, "max_len": MAX_LEN},
        training=replace(TRAINING, steps=steps, seed=seed),
    )
    # The translator was trained on up to 12 words. The limit is raised, because the test is about
    # longer sentences.
    translator.max_len = MAX_LEN
    shares = {}
    right, total = Counter(), Counter()
    for name in ("test", "longer"):
        pairs = getattr(parts, name)
        found = translator.translate([pair.source for pair in pairs])
        hits = [text == pair.target for text, pair in zip(found, pairs, strict=True)]
        shares[name] = round(sum(hits) / len(hits), 3)
        for hit, pair in zip(hits, pairs, strict=True):
            words = len(pair.source.split())
            total[words] += 1
            right[words] += hit
        if name == "test" and kind == "alibi":
            # Without a mask ALiBi cannot tell a sentence from its reverse, so the wrong short
            # sentences are stored.
            shares["wrong_of_three"] = [
                [pair.source, text]
                for text, hit, pair in zip(found, hits, pairs, strict=True)
                if not hit and len(pair.source.split()) == 3
            ]
    lengths = [words for words in sorted(total) if words <= LONGEST]
    both = swapped_pairs()
    said = [translator.translate([pair.source for pair in two]) for two in both]
    same = [one == other for one, other in said]
    hits = [
        text == pair.target
        for texts, two in zip(said, both, strict=True)
        for text, pair in zip(texts, two, strict=True)
    ]
    return shares | {
        "by_length": [round(right[words] / total[words], 3) for words in lengths],
        "same_for_both_orders": round(sum(same) / len(same), 3),
        "who_to_whom": round(sum(hits) / len(hits), 3),
    }


def sizes(parts):
    """Return the sizes of the tests, and how similar they are to the training."""
    total = Counter(len(p.source.split()) for p in (*parts.test, *parts.longer))
    counted = {words: total[words] for words in sorted(total) if words <= LONGEST}
    longest = max(len(p.source.split()) for p in parts.train)
    return {
        "lengths": list(counted),
        "n_sentences": list(counted.values()),
        "n_train": len(parts.train),
        "n_test": len(parts.test),
        "n_longer": len(parts.longer),
        "n_swapped": len(swapped_pairs()),
        "longest_in_training": longest,
        "reversible": reversible(parts.test),
        "with_and": {
            "train": share_with_and(parts.train, (longest - 1, longest)),
            "longer": share_with_and(parts.longer, range(longest + 1, 100)),
        },
        "steps": TRAINING.steps,
        "seeds": len(SEEDS),
    }


def rows():
    """Return what is measured: every kind of position from each seed."""
    return {
        f"{kind}, seed {seed}": Row(
            lambda kind=kind, seed=seed: measure(kind, seed, material()), ("kinds", kind, seed)
        )
        for kind in POSITIONS
        for seed in SEEDS
    }


EXPERIMENT = Experiment(
    "Five ways to tell positions: what does a translator get right, by length?",
    RESULTS,
    rows,
    minutes=40,
    constants=cache(lambda: sizes(material())),
)
