"""Classification of texts by a pretrained model, from the logits of two words.

`experiments.modern_few_shot` and `experiments.modern_lora`, which use the same questions, use it.
"""

from functools import cache

import numpy as np
import torch

from attn.metrics.intervals import wilson_interval
from attn.pretrained import fetched, load
from attn_course.tasks import FORMS, LABELS, opinions, prompt

# The number of questions in a batch.
AT_ONCE = 12
# The text of a question without content, for calibration.
NOTHING = "N/A"


@cache
def smollm2():
    """Return the model and its tokenizer; nothing is downloaded."""
    return load(fetched("smollm2", download=False))


def label_ids(tokenizer, form):
    """Return the first token of the word for each label."""
    words = FORMS[form].words
    return [tokenizer.encode(words[label])[0] for label in LABELS]


def last_logits(model, rows, start=None):
    """Return the next-token logits of each text, shape (n_texts, vocab_size).

    Parameters
    ----------
    model : DecoderOnly
    rows : list of list of int
        The ids of each text. They are padded on the right, which a causal model cannot see.
    start : DecoderCache, optional
        The cache of a text with which all of them begin. It is longer afterwards; the caller
        truncates it.
    """
    longest = max(map(len, rows))
    ids = torch.tensor([[*row, *[0] * (longest - len(row))] for row in rows])
    first = 0 if start is None else start.length
    x, _ = model.stack(model.embedding(ids, first), is_causal=True, cache=start)
    return model.output(x[range(len(rows)), [len(row) - 1 for row in rows]])


@torch.inference_mode()
def leanings(model, tokenizer, questions, form, examples=()):
    """Return by how much the logit of the first of `LABELS` exceeds that of the second.

    Parameters
    ----------
    questions : list of str
    examples : sequence of Opinion
        Shown before each question.

    Returns
    -------
    array, shape (n_questions,)
    """
    whole = [tokenizer.encode(prompt(list(examples), text, form)) for text in questions]
    # The number of tokens that all prompts share at the start.
    shared = 0
    while examples and len({tuple(ids[: shared + 1]) for ids in whole}) == 1:
        shared += 1
    read = model.new_cache()
    if shared:
        model.stack(model.embedding(torch.tensor([whole[0][:shared]])), is_causal=True, cache=read)
    first, second = label_ids(tokenizer, form)
    found = np.zeros(len(whole))
    # Prompts of similar length form a batch, so that there is little padding.
    order = sorted(range(len(whole)), key=lambda place: len(whole[place]))
    for some in (order[i : i + AT_ONCE] for i in range(0, len(order), AT_ONCE)):
        start = model.new_cache() if shared else None
        for ours, theirs in zip(
            start.self_attention if shared else (), read.self_attention, strict=False
        ):
            shape = (len(some), -1, -1, -1)
            ours.append(theirs.key.expand(shape), theirs.value.expand(shape))
        logits = last_logits(model, [whole[place][shared:] for place in some], start)
        found[some] = (logits[:, first] - logits[:, second]).numpy()
    return found


def asked(model, tokenizer, form, examples=()):
    """Put all the questions in one form; return how well they were answered.

    Returns
    -------
    dict
        ``right``, ``asked``, ``accuracy`` and its 95% ``interval``; ``said_positive``, the
        number of positive answers; ``calibrated``, the number of right answers after
        subtracting the answer to an empty text; ``ordered``, the share of pairs of a positive
        and a negative line in which the positive line has the more positive answer, which a
        constant bias cannot change.
    """
    questions = opinions("to_be_asked", FORMS[form].language)
    texts = [*(question.text for question in questions), NOTHING]
    *found, to_nothing = leanings(model, tokenizer, texts, form, examples)
    found, is_positive = np.array(found), np.array([q.label == LABELS[0] for q in questions])
    n_right, n = int(((found > 0) == is_positive).sum()), len(questions)
    pairs = found[is_positive][:, None] > found[~is_positive]
    return {
        "right": n_right,
        "asked": n,
        "accuracy": round(n_right / n, 3),
        "interval": [round(end, 3) for end in wilson_interval(n_right, n)],
        "said_positive": int((found > 0).sum()),
        "calibrated": int(((found > to_nothing) == is_positive).sum()),
        "ordered": round(float(pairs.mean()), 3),
    }
