"""The effects of decoding on translations: beams, errors, hard constructions, the cache.

Writes ``notebooks/data/decoding_choices.json``, which chapter 09 reads. Everything is counted on
sentences that no training has seen; the times are those of ``python -m benchmarks decoding``.
"""

import functools
from functools import partial
from statistics import fmean, median

import torch

from attn.applications._sequences import by_length, collate, predict
from attn.applications.translation import Translator, facts
from attn.decoding import beam_search
from attn.masks import padding_mask
from attn.training import TrainingConfig, pad
from attn_course.everyday import everyday
from attn_course.grammar import splits
from benchmarks import report
from experiments.runner import DATA, Experiment, Row

PARTS = ("test", "adjective_noun", "verb_object", "polysemes", "longer")
WIDTHS = (2, 4, 8)
# The longest right translation has 19 words, so this limit only cuts translations that do not end.
MAX_NEW_TOKENS = 60
# The width of the beam that searches for more probable translations.
WIDE = 8
YOUNG_STEPS, YOUNG_PAIRS, YOUNG_WIDTHS = 250, 100, (1, 2, 4, 8, 16, 32)
YOUNG_SEEDS = (0, 1, 2)
# Width and length penalty of each search on real sentences.
SEARCHES = ((1, 0.0), (2, 0.0), (4, 0.0), (8, 0.0), (2, 1.0), (4, 1.0))
RESULTS = DATA / "decoding_choices.json"


@torch.no_grad()
def search(translator, pairs, width, alpha=0.0):
    """Translate pairs of any length: `Translator.translate` refuses those longer than in training.

    Returns for each the text, its score and whether it was cut before its end token.
    """
    model, target = translator.model, translator.target
    sources = [translator.source.encode(pair.source) for pair in pairs]
    found = [None] * len(pairs)
    for some in by_length(sources):
        src, lengths = pad([sources[i] for i in some], translator.source.pad_id)
        src_mask = padding_mask(lengths, src.shape[1])
        memory, _ = model.encode(src, src_mask)
        ids, scores = beam_search(
            partial(model.step, memory=memory, src_mask=src_mask),
            torch.full((len(some), 1), target.sos_id),
            width=width,
            end_id=target.eos_id,
            max_new_tokens=MAX_NEW_TOKENS,
            length_penalty=alpha,
            cache=model.new_cache(),
        )
        for i, row, score in zip(some, ids[:, 0], scores[:, 0].tolist(), strict=True):
            cut = not bool((row == target.eos_id).any())
            found[i] = target.decode(row), round(score, 2), cut
    return found


def decode(translator, pairs, width, alpha=0.0):
    """Return the texts of `search` alone."""
    return [text for text, _, _ in search(translator, pairs, width, alpha)]


@torch.no_grad()
def log_probability(translator, source, target, digits=2):
    """Return the log-probability of a whole translation, ``<eos>`` included."""
    example = translator.source.encode(source), translator.target.encode(target)
    logits, targets = predict(translator.model, collate([example]))
    chosen = logits.double().log_softmax(dim=-1).gather(-1, targets[..., None])
    return round(float(chosen.sum()), digits)


def beams(translator, parts):
    """Return, by part and width, how many outputs a beam changes, corrects and makes wrong."""
    rows = []
    for part in PARTS:
        pairs = getattr(parts, part)
        greedy = decode(translator, pairs, 1)
        right = [pair.target for pair in pairs]
        row = {"part": part, "n": len(pairs), "greedy": sum(map(str.__eq__, greedy, right))}
        for width in WIDTHS:
            found = list(zip(greedy, decode(translator, pairs, width), right, strict=True))
            row[str(width)] = {
                "changed": sum(g != b for g, b, _ in found),
                "mended": sum(g != r and b == r for g, b, r in found),
                "spoiled": sum(g == r and b != r for g, b, r in found),
            }
        rows.append(row)
    return rows


def errors(translator, parts):
    """Return every sentence that greedy search gets wrong, and how probable each output is.

    ``best`` is what a wide beam finds. The error is one of search if that is the right translation,
    and of the model if it is a wrong one that the model gives a higher probability. Where the right
    translation has words that the vocabulary lacks, they are listed as unknown, and ``<unk>`` takes
    their place in its log-probability.
    """
    rows = []
    for part in PARTS:
        pairs = getattr(parts, part)
        for pair, (found, score, cut) in zip(pairs, search(translator, pairs, 1), strict=True):
            if found != pair.target:
                best, best_score, best_cut = search(translator, [pair], WIDE)[0]
                rows.append(
                    {
                        "part": part,
                        "source": pair.source,
                        "right": pair.target,
                        "log_right": log_probability(translator, pair.source, pair.target),
                        "found": found,
                        "log_found": score,
                        "found_cut": cut,
                        "best": best,
                        "log_best": best_score,
                        "best_cut": best_cut,
                        "unknown": translator.target.unknown(pair.target),
                        "kind": kind(translator, pair, best),
                    }
                )
    return rows


def kind(translator, pair, best):
    """Return the kind of an error (search, model or vocabulary), given what a wide beam finds."""
    if translator.target.unknown(pair.target):
        return "vocabulary"
    return "search" if best == pair.target else "model"


def young(parts):
    """Return the scores of each beam width for translators after little training, by seed."""
    pairs = parts.test[:YOUNG_PAIRS]
    reference = fmean(len(pair.target.split()) for pair in pairs)
    return {
        "n_train": len(parts.train),
        "steps": YOUNG_STEPS,
        "n": len(pairs),
        "reference_words": round(reference, 2),
        "seeds": [{"seed": seed, "rows": young_rows(parts, pairs, seed)} for seed in YOUNG_SEEDS],
    }


def young_rows(parts, pairs, seed):
    """Return a row for each penalty and width, of one training."""
    training = TrainingConfig(steps=YOUNG_STEPS, learning_rate=5e-3, seed=seed)
    translator = Translator.fit(parts.train, training=training)
    rows = []
    for alpha in (0.0, 1.0):
        for width in YOUNG_WIDTHS:
            found = search(translator, pairs, width, alpha)
            exact = sum(text == pair.target for (text, *_), pair in zip(found, pairs, strict=True))
            lengths = [len(text.split()) for text, _, _ in found]
            rows.append(
                {
                    "alpha": alpha,
                    "width": width,
                    "exact": round(exact / len(pairs), 3),
                    "words": round(fmean(lengths), 2),
                    "median": median(lengths),
                    "cut": sum(cut for _, _, cut in found),
                    "score": round(fmean(score for _, score, _ in found), 2),
                }
            )
    return rows


def real(pairs):
    """Return each search's texts for real sentences, and their log-probability and the reference's.

    The searches are named by width and length penalty. The model computes in float64, since
    a few of these log-probabilities differ by only a hundredth.
    """
    translator = Translator.pretrained("tatoeba")
    translator.model.double()
    sources = [pair.source for pair in pairs]
    found = {
        f"{width}, {alpha:g}": translator.translate(sources, beam_width=width, length_penalty=alpha)
        for width, alpha in SEARCHES
    }
    return [
        {
            "source": pair.source,
            "right": pair.target,
            "log_right": log_probability(translator, pair.source, pair.target, 4),
            "found": {name: texts[i] for name, texts in found.items()},
            "log_found": {
                name: log_probability(translator, pair.source, texts[i], 4)
                for name, texts in found.items()
            },
        }
        for i, pair in enumerate(pairs)
    ]


def constructions(translator, parts):
    """Return how often the words of hard constructions are predicted right, and their number."""
    found = {}

    def count(kind, right):
        total = found.setdefault(kind, [0, 0])
        total[0] += bool(right)
        total[1] += 1

    for pair in (p for part in PARTS for p in getattr(parts, part)):
        right = facts.predictions(translator, pair)
        source, target = pair.source.split(), pair.target.split()
        of_source = {i: j for i, j in pair.sure}
        sources = [[i for i, k in pair.sure if k == j] for j in range(len(target))]
        for j, mine in enumerate(sources):
            if len(mine) == 2:
                count("two_into_one", right[j])
            elif not mine:
                count("not_in_english", right[j])
        for i in range(len(source) - 1):
            if {i, i + 1} <= of_source.keys() and of_source[i] == of_source[i + 1] + 1:
                kind = "clitic" if source[i + 1] in CLITICS else "adjective_after_noun"
                count(kind, right[of_source[i]] and right[of_source[i + 1]])
        if any(word in ("it", "they") and i not in of_source for i, word in enumerate(source)):
            count("subject_left_out", right.all())
    return {kind: {"right": a, "n": n} for kind, (a, n) in sorted(found.items())}


CLITICS = ("it", "them", "him", "her", "me", "us", "you")


def language(translator, parts):
    """Return how many agreements by distance, meanings and pronouns are right, and their number."""
    everything = [pair for part in PARTS for pair in getattr(parts, part)]
    groups = {"1": (1, 1), "2-3": (2, 3), "4-6": (4, 6), "7-9": (7, 9), "10+": (10, 99)}
    agreement = facts.agreement(translator, everything)
    rows = {
        name: [
            sum(round(share * n) for d, (share, n) in agreement.items() if low <= d <= high),
            sum(n for d, (_, n) in agreement.items() if low <= d <= high),
        ]
        for name, (low, high) in groups.items()
    }
    known = [pair for pair in parts.polysemes if not translator.target.unknown(pair.target)]
    meanings = {
        name: [sum(round(share * n) for share, n in d.values()), sum(n for _, n in d.values())]
        for name, d in (
            ("seen", facts.polysemy(translator, parts.test)),
            ("new", facts.polysemy(translator, parts.polysemes)),
            ("new_in_vocabulary", facts.polysemy(translator, known)),
        )
    }
    return {
        "constructions": constructions(translator, parts),
        "agreement": rows,
        "meanings": meanings,
        "pronouns": pronouns(translator, everything),
    }


def pronouns(translator, pairs):
    """Return how many words whose form a pronoun decides are right, and their number.

    `attn.applications.translation.facts.coreference` also reads the attention weights, which the
    translator returns only for sentences as long as those of its training.
    """
    right = [
        bool(facts.predictions(translator, pair)[reference.decides])
        for pair in pairs
        if pair.coreferences
        for reference in pair.coreferences
    ]
    return [sum(right), len(right)]


def alignment(translator, parts):
    """Return alignment error rates, with IBM model 1 trained on as many pairs as the translator."""
    pairs = [pair for pair in parts.test if not translator.target.unknown(pair.target)]
    rates = facts.alignment_errors(translator, pairs, parts.train)
    return {"n_train": len(parts.train), "n": len(pairs)} | {
        name: round(float(rates[name]), 3) for name in ("average", "diagonal", "ibm_model_1")
    }


def cache():
    """Return the ratio of decoding times without and with the cache, as `decoding` measured it."""
    rows = report.read(report.RESULTS)["decoding"]
    ratios = [round(row["without cache"]["median"], 1) for row in rows]
    return {"tokens": [row["tokens"] for row in rows], "ratio": ratios}


def rows():
    """Return what is measured, by its name in the file."""

    def ask(measure, *material):
        return lambda: measure(*(get() for get in material))

    return {
        name: Row(measured, (name,))
        for name, measured in {
            "beams": ask(beams, translator, corpus),
            "errors": ask(errors, translator, corpus),
            "language": ask(language, translator, corpus),
            "young": ask(young, corpus),
            "real": ask(real, everyday),
            "alignment": ask(alignment, translator, corpus),
            "cache": cache,
        }.items()
    }


@functools.cache
def translator():
    """Return the translator of the grammar."""
    return Translator.pretrained("grammar")


@functools.cache
def corpus():
    """Return the parts of the grammar's corpus."""
    return splits(n_train=8000)


EXPERIMENT = Experiment(
    "What does the choice of words do to translations: beams, errors, constructions, the cache?",
    RESULTS,
    rows,
    minutes=15,
)
