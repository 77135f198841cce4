"""The numbers of a class as a table, in Markdown and in CSV."""

import csv
import hmac
import io

COLUMNS = (
    "translator",
    "exact",
    "BLEU",
    "memory",
    "above it",
    "AER",
    "pairs",
    "seen",
    "parameters",
)
RULE = (
    "First the tests of which no source is in training. Among them, and among the rest, by how far "
    "BLEU lies above that of a memory, which copies the translation of the most similar sentence "
    "trained on. Each row has a test of its own: compare it with its memory, not with its "
    "neighbours."
)
WHY = {
    "files": "a file is missing or is not a plain file: model/, train.tsv and test.tsv are needed",
    "large": "a file is larger than the limit",
    "pairs": "test.tsv needs between 30 and 1000 pairs, and train.tsv at least one",
    "lines": "a line has no source, tab and translation",
    "links": "a link is not of the form 0-0, or points to a word that is not there",
    "model": "model/ holds no translator that `train --quantised` wrote, or a damaged one",
    "run": "the translator cannot read this test",
    "stopped": "it took too much time or memory",
}


def code(secret, student):
    """Return the name of a student in the table: always the same, and anonymous.

    >>> code(b"secret", "ana") == code(b"secret", "ana") != code(b"secret", "tom")
    True
    """
    return hmac.new(secret, f"leaderboard {student}".encode(), "sha256").hexdigest()[:6]


def ordered(scores):
    """Return scores, pairs of a name and its numbers, in the order that `RULE` states."""
    return sorted(scores, key=lambda s: (s[1]["seen"] > 0, s[1]["memory"] - s[1]["bleu"], s[0]))


def row(name, numbers):
    """Return the cells of a line."""
    aer = numbers["aer"]
    return [
        name,
        f"{numbers['exact']:.3f}",
        f"{numbers['bleu']:.1f}",
        f"{numbers['memory']:.1f}",
        f"{numbers['bleu'] - numbers['memory']:.1f}",
        "" if aer is None else f"{aer:.3f}",
        f"{numbers['n_pairs']:.0f}",
        f"{numbers['seen']:.3f}",
        f"{numbers['parameters']:.0f}",
    ]


def markdown(scores, unfit):
    """Return the table and a sentence for each submission without a score.

    Parameters
    ----------
    scores : list of (str, dict)
    unfit : list of (str, str)
        A name and a key of `WHY`.

    Returns
    -------
    str
    """
    lines = [" | ".join(COLUMNS), " | ".join(["---"] + ["---:"] * (len(COLUMNS) - 1))]
    # A name in backticks is plain text, since names hold neither backticks nor pipes.
    lines += [" | ".join(row(f"`{name}`", numbers)) for name, numbers in ordered(scores)]
    text = RULE + "\n\n" + "\n".join(f"| {line} |" for line in lines) + "\n"
    for name, why in sorted(unfit):
        text += f"\n`{name}` has no score: {WHY.get(why, WHY['stopped'])}.\n"
    return text


def table(scores):
    """Return the scores as CSV."""
    written = io.StringIO()
    writer = csv.writer(written, lineterminator="\n")
    writer.writerows([COLUMNS, *(row(name, numbers) for name, numbers in ordered(scores))])
    return written.getvalue()
