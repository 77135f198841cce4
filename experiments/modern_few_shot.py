"""Examples in the prompt: none, one, two, four, eight, and eight with swapped labels."""

import random

from attn_course.tasks import LABELS, Opinion, opinions
from experiments.modern_tasks import asked, smollm2

NUMBERS = {"en": (0, 1, 2, 4, 8), "es": (0, 1, 2, 4, 8)}
# The chapter's conclusions depend on which examples these are, so they are drawn more often.
DRAWS, MANY_DRAWS, DRAWN_OFTEN = range(3), range(20), (("en", 4), ("en", 8))
EXCHANGED = 8


def drawn(n, draw, language, exchanged=False):
    """Return examples in random order, as many of each label if the number is even."""
    rng = random.Random(draw)
    given = opinions("to_learn_from", language)
    pools = [[o for o in given if o.label == label] for label in LABELS]
    rng.shuffle(pools)
    examples = [o for i, pool in enumerate(pools) for o in rng.sample(pool, (n + 1 - i) // 2)]
    rng.shuffle(examples)
    if exchanged:
        other = dict(zip(LABELS, reversed(LABELS), strict=True))
        examples = [Opinion(o.text, other[o.label]) for o in examples]
    return examples


def queue():
    """Yield the language, the number of examples, whether exchanged, and the draw of each run."""
    for language, numbers in NUMBERS.items():
        for n in numbers:
            for draw in (MANY_DRAWS if (language, n) in DRAWN_OFTEN else DRAWS) if n else DRAWS[:1]:
                yield language, n, False, draw
        for draw in DRAWS:
            yield language, EXCHANGED, True, draw


def measure(told, keep):
    """Measure the runs that have no result yet."""
    model, tokenizer = smollm2()
    rows = told.setdefault("rows", [])

    def key(row):
        return row["language"], row["examples"], row["exchanged"], row["draw"]

    order = list(queue())
    done = set(map(key, rows))
    for language, n, exchanged, draw in order:
        if (language, n, exchanged, draw) in done:
            continue
        examples = drawn(n, draw, language, exchanged)
        said = {"language": language, "examples": n, "exchanged": exchanged, "draw": draw}
        rows.append(said | asked(model, tokenizer, language, examples))
        rows.sort(key=lambda row: order.index(key(row)))
        keep(told)
    if "tokens_per_line" not in told:
        told["tokens_per_line"] = {
            language: round(
                sum(len(tokenizer.encode(o.text)) for o in opinions("to_be_asked", language))
                / len(opinions("to_be_asked", language)),
                1,
            )
            for language in NUMBERS
        }
        keep(told)
