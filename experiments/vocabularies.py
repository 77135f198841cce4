"""How byte-level BPE splits real sentences, by vocabulary size; only the merges are learned.

``python -m experiments vocabularies`` learns the merges from the training sentences of Tatoeba,
splits the validation sentences, writes ``vocabularies.json`` and updates the table of the page of
results. It takes a minute.
"""

import json
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory

from attn.corpus import tatoeba
from attn.tokenizer import BytePairTokenizer
from attn.tokenizer.byte_pair import FIRST_MERGE, split
from benchmarks.report import QUALITY, publish, read
from experiments.rates import rate
from experiments.runner import Experiment, Row

RESULTS = Path(__file__).with_name("vocabularies.json")
SIZES = (2000, 3300, 4000, 8000)
KINDS = ("joint", "one for each")
SIDES = {"English": "source", "Spanish": "target"}


def learned(pairs, vocab_size):
    """Return tokenizers of both languages: a joint one, and one for each language.

    Returns
    -------
    dict of str to dict of str to BytePairTokenizer
        By kind, and by language.
    """
    texts = {name: [getattr(pair, side) for pair in pairs] for name, side in SIDES.items()}
    both = BytePairTokenizer.train([text for some in texts.values() for text in some], vocab_size)
    return {
        "joint": dict.fromkeys(SIDES, both),
        "one for each": {n: BytePairTokenizer.train(t, vocab_size) for n, t in texts.items()},
    }


def smaller(tokenizer, vocab_size):
    """Return a tokenizer with a smaller vocabulary: it keeps only the first merges.

    Examples
    --------
    >>> large = BytePairTokenizer.train(["cantar cantando", "saltar saltando"], 1000)
    >>> smaller(large, 262).tokens[260:]
    ['an', 'al']
    """
    return BytePairTokenizer(tokenizer.merges[: vocab_size - FIRST_MERGE])


def cut(tokenizer, texts):
    """Return the number of words, of their tokens, and of words that are a single token.

    A word is a run of letters; punctuation and digits are left out.

    Examples
    --------
    >>> cut(BytePairTokenizer.train(["ja, ja"], 1000), ["¡ja, jaja 2!"])
    [2, 4, 1]
    """
    lengths = [
        len(tokenizer.encode(word))
        for text in texts
        for word in split(text)
        if word.strip().isalpha()
    ]
    return [len(lengths), sum(lengths), lengths.count(1)]


def size_of(tokenizers):
    """Return the size of some tokenizers' files, in bytes; a tokenizer given twice counts once."""
    with TemporaryDirectory() as folder:
        for number, tokenizer in enumerate({id(t): t for t in tokenizers}.values()):
            tokenizer.save(Path(folder) / f"{number}.json")
        return sum(path.stat().st_size for path in Path(folder).iterdir())


def measured(parts, sizes=SIZES):
    """Return the results of each vocabulary on validation.

    Returns
    -------
    dict of str to dict
        By kind and size: ``bytes``, and for each language what `cut` returns.
    """
    told = {}
    for kind, largest in learned(parts["train"], max(sizes)).items():
        for size in sizes:
            some = {id(t): smaller(t, size) for t in largest.values()}
            of = {name: some[id(t)] for name, t in largest.items()}
            told[f"{kind} {size}"] = {"bytes": size_of(of.values())} | {
                name: cut(of[name], [getattr(pair, side) for pair in parts["validation"]])
                for name, side in SIDES.items()
            }
    return told


def stored():
    """Return the stored results."""
    return json.loads(RESULTS.read_text(encoding="utf-8"))


def vocabularies(told):
    """Return tokens per word and shares of whole words, by kind and size of the vocabulary."""
    rows = []
    for name, row in told.items():
        kind, _, size = name.rpartition(" ")
        cells = {"vocabulary": kind, "tokens": f"{int(size):,}"}
        for side in SIDES:
            words, tokens, _ = row[side]
            cells[f"tokens per word, {side}"] = f"{tokens / words:.2f}"
        for side in SIDES:
            words, _, whole = row[side]
            cells[f"whole words, {side}"] = rate(whole, words)
        rows.append(cells | {"KB": round(row["bytes"] / 1000)})
    return rows


TABLES = {"real_vocabularies": vocabularies}


def rows():
    """Return what is measured: vocabularies of each kind and size."""

    @cache
    def all_of_them():
        return measured(tatoeba())

    return {
        name: Row(lambda name=name: all_of_them()[name], (name,))
        for name in (f"{kind} {size}" for kind in KINDS for size in SIZES)
    }


def set_tables():
    """Set the table into the page of results."""
    told = stored()
    publish(read(QUALITY) | {name: make(told) for name, make in TABLES.items()}, QUALITY)


EXPERIMENT = Experiment(
    "How does byte-level BPE cut real sentences, by the size of the vocabulary?",
    RESULTS,
    rows,
    minutes=1,
    publish=set_tables,
)
