"""Runs inside the sandbox: loads the translator of a student, and measures it on their test.

Only data are read: safetensors, JSON and text. One frame leaves the sandbox, with the numbers or
with one of a few reasons why there are none.
"""

import json
import os
import resource
import sys
import unicodedata
from pathlib import Path

LEAST, MOST = 30, 1000  # pairs of a test


class Unfit(Exception):
    """A submission without a score; its text is a key of `assignments.leaderboard.table.WHY`."""


def score(folder):
    """Return the numbers of a submission.

    Parameters
    ----------
    folder : Path
        The folder with ``model``, ``train.tsv`` and ``test.tsv``.

    Returns
    -------
    dict of str to (float or None)
        ``exact``, ``bleu``, ``aer``, None if fewer than 30 pairs have links; ``n_pairs``;
        ``seen``, the share of the test whose source is in training; ``memory``, the BLEU of
        `attn.metrics.translation_memory`; ``parameters``.

    Raises
    ------
    Unfit
        If it cannot be scored.
    """
    from attn.applications.translation import Translator
    from attn.applications.translation.facts import alignment_errors
    from attn.metrics import bleu, translation_memory

    train, test = read(folder / "train.tsv"), read(folder / "test.tsv")
    if not train or not LEAST <= len(test) <= MOST:
        raise Unfit("pairs")
    try:
        translator = Translator.load(folder / "model")
    except Exception as error:  # a damaged file fails in many ways
        raise Unfit("model") from error
    try:
        found = translator.evaluate(test)
        linked = [pair for pair in test if pair.sure and by_words(translator, pair)]
        aer = alignment_errors(translator, linked)["average"] if len(linked) >= LEAST else None
    except (ValueError, RuntimeError, IndexError, MemoryError) as error:
        raise Unfit("run") from error
    known = {pair.source for pair in train}
    copied, _ = translation_memory(train, [pair.source for pair in test])
    return {
        "exact": found["exact_match"],
        "bleu": found["bleu"],
        "aer": aer,
        "n_pairs": len(test),
        "seen": sum(pair.source in known for pair in test) / len(test),
        "memory": bleu(copied, [pair.target for pair in test]).score,
        "parameters": sum(p.numel() for p in translator.model.parameters()),
    }


def read(path):
    """Return the pairs of a file, with the links of the third column where it has one."""
    from attn.corpus import Pair

    try:
        lines = path.read_text(encoding="utf-8-sig").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise Unfit("files") from error
    pairs = {}
    for line in filter(str.strip, lines):
        cells = [" ".join(unicodedata.normalize("NFC", c).split()) for c in line.split("\t")]
        if len(cells) < 2 or not all(cells[:2]):
            raise Unfit("lines")
        sizes = [len(cell.split()) for cell in cells[:2]]
        sure = links(cells[2], sizes) if len(cells) > 2 else frozenset()
        pairs[cells[0], cells[1]] = Pair(cells[0], cells[1], sure)
    return list(pairs.values())


def links(text, sizes):
    """Return the links of a text such as ``0-0 1-2``, between sentences of so many words."""
    try:
        found = {tuple(map(int, link.split("-"))) for link in text.split()}
    except ValueError as error:
        raise Unfit("links") from error
    if not all(len(link) == 2 and link[0] < sizes[0] and link[1] < sizes[1] for link in found):
        raise Unfit("links")
    return frozenset(found)


def by_words(translator, pair):
    """Return whether the model's tokens are the words of a pair, which the links count."""
    try:
        attention = translator.attention(pair.source, pair.target)
    except ValueError:  # The model does not know a word, or the sentence is too long.
        return False
    lengths = len(attention.source), len(attention.target) - 1
    return lengths == (len(pair.source.split()), len(pair.target.split()))


def main():
    """Write a frame when all is ready, and one with the numbers."""
    job = Path(sys.argv[1])
    sys.path[:0] = ["/course"]
    sys.path.append(sys.argv[2])
    from syscalls import forbid
    from wire import write_frame

    out = os.fdopen(os.dup(1), "wb")
    import torch

    # Modules are imported first, since some make system calls that are then forbidden.
    import attn.applications.translation.facts
    import attn.corpus  # noqa: F401 - likewise

    torch.set_num_threads(1)
    for name, values in json.loads((job / "job.json").read_text())["limits"].items():
        resource.setrlimit(getattr(resource, f"RLIMIT_{name}"), values)
    forbid()
    nowhere = os.open(os.devnull, os.O_RDWR)
    for descriptor in (0, 1, 2):
        os.dup2(nowhere, descriptor)
    write_frame(out, {"ready": True})
    try:
        write_frame(out, {"score": score(job)})
    except Unfit as reason:
        write_frame(out, {"unfit": str(reason)})
    except (MemoryError, RecursionError):
        write_frame(out, {"unfit": "run"})
    os._exit(0)


if __name__ == "__main__":
    main()
