"""Problem set 8, `greedy_decode`: several sentences at once, and the ways to get them wrong."""

from functools import lru_cache
from itertools import permutations

import numpy as np

from attn_course.exercises.spec import Exercise

PAD = 0


def log_softmax(logits, axis=-1):
    """Return the logarithm of the softmax, which no large number breaks."""
    shifted = logits - logits.max(axis=axis, keepdims=True)
    return shifted - np.log(np.exp(shifted).sum(axis=axis, keepdims=True))


def greedy_decode(logits, start, end, max_new_tokens):
    """Return the tokens that greedy search writes, end included, and their log-probabilities."""
    return _search(logits, start, end, max_new_tokens)


@lru_cache(maxsize=8)  # drawn by trial, and asked for twice when it is marked
def cases(seed):
    """Return tables of logits: one sentence, several, some that never end, large numbers.

    Parameters
    ----------
    seed : int
        Seed of the random numbers, and of the sizes of some inputs.

    Returns
    -------
    list of dict
        With the keys ``logits``, ``start``, ``end`` and ``max_new_tokens``.
    """
    rng = np.random.default_rng(seed)

    def draw(vocab_size, lengths, limit, offset=0, asks=None):
        """Draw until sentences have these lengths, end included; 0: they do not end in time.

        Sentence number `asks` starts from the end token.
        """
        while True:
            logits = rng.normal(size=(vocab_size, vocab_size))
            logits[:, PAD] -= 6
            logits += offset * (-1) ** np.arange(vocab_size)[:, None]
            follows = logits.argmax(axis=1).tolist()
            tokens = rng.permutation(np.arange(1, vocab_size)).tolist()
            for end, *start in permutations(tokens, 1 + len(lengths)):
                if asks is not None:
                    start[asks] = end
                written = [_until(end, token, follows, limit) for token in start]
                found = [len(ids) if ids[-1] == end else 0 for ids in written]
                # What follows the end must not be the end again, or nobody sees who goes on.
                again = follows[end] == end or any(start[0] in ids for ids in written)
                if found == lengths and not again:
                    return {
                        "logits": logits,
                        "start": np.array(start),
                        "end": np.array(end),
                        "max_new_tokens": np.array(limit),
                    }

    return [
        draw(5, [2], 4),
        draw(6, [3], 5),
        draw(7, [2], 3),
        draw(8, [3], 6),
        draw(7, [2, 3], 4),
        draw(8, [3, 1], 5),
        draw(9, [1, 3, 2], 4),
        draw(8, [2, 3], 4, asks=1),
        draw(6, [0, 2], 4),
        draw(7, [0], 3),
        draw(8, [3, 2], 3, 900),
        draw(6, [3], 4, 900),
        draw(rng.integers(6, 10), [rng.integers(2, 4)], rng.integers(4, 7)),
    ]


def _until(end, token, follows, limit):
    """Return what is written after a token, given which follows which."""
    ids = []
    while len(ids) < limit and end not in ids:
        token = follows[token]
        ids.append(token)
    return ids


def _search(
    logits,
    start,
    end,
    max_new_tokens,
    *,
    log=log_softmax,
    stops=True,
    pays=True,
    together=False,
    fill=PAD,
    follow=True,
    choose=np.argmax,
    steps=0,
):
    """Search greedily, with the given parts replaced."""
    log_p, limit = log(logits), int(max_new_tokens)
    ids, scores = np.full((len(start), limit), fill), np.zeros(len(start))
    last, running = start.copy(), np.ones(len(start), dtype=bool)
    for step in range(limit + steps):
        token = np.array([choose(logits[row]) for row in last])
        gained = log_p[last, token]
        scores += gained * (running | (stops == "ids only")) * (pays | (token != end))
        ids[running, step] = token[running]
        last = token if follow else last
        running &= (token != end) | (not stops)
        if (not running.any() or (together and not running.all())) and stops != "ids only":
            break
    return ids, scores


def _wrong(**how):
    return lambda logits, start, end, limit: _search(logits, start, end, limit, **how)


def _after(change):
    """Return a function that spoils the right answer."""

    def wrong(logits, start, end, max_new_tokens):
        ids, scores = greedy_decode(logits, start, end, max_new_tokens)
        return change(ids, scores, start, end)

    return wrong


def _mean(ids, scores, start, end):
    return ids, scores / (ids != PAD).sum(axis=1)


def _with_start(ids, scores, start, end):
    return np.column_stack([start, ids[:, :-1]]), scores


def _with_start_longer(ids, scores, start, end):
    return np.column_stack([start, ids]), scores


def _plain_logarithm(logits):
    exponentials = np.exp(logits)
    return np.log(exponentials / exponentials.sum(axis=-1, keepdims=True))


def _columns(logits, start, end, max_new_tokens):
    return greedy_decode(logits.T, start, end, max_new_tokens)


def _one_sentence(logits, start, end, max_new_tokens):
    ids, score = greedy_decode(logits, start[:1], end, max_new_tokens)
    if len(start) > 1:
        raise ValueError("The truth value of an array with more than one element is ambiguous.")
    return ids, score


MISTAKES = {
    "end_ignored": (_wrong(stops=False),),
    "paid_after_the_end": (_wrong(stops="ids only"),),
    "end_left_out": (
        _after(lambda ids, scores, start, end: (np.where(ids == end, PAD, ids), scores)),
    ),
    "end_not_paid": (_wrong(pays=False),),
    "start_left_in": (_after(_with_start), _after(_with_start_longer)),
    "raw_logits": (_wrong(log=lambda logits: logits),),
    "probability": (_after(lambda ids, scores, start, end: (ids, np.exp(scores))),),
    "sum_of_probabilities": (_wrong(log=lambda logits: np.exp(log_softmax(logits))),),
    "mean_per_token": (_after(_mean),),
    "columns": (_columns, _wrong(log=lambda logits: log_softmax(logits, axis=0))),
    "always_the_start": (_wrong(follow=False),),
    "least_probable": (_wrong(choose=np.argmin),),
    "stops_together": (_wrong(together=True),),
    "filled_with_end": (
        lambda logits, start, end, limit: _search(logits, start, end, limit, fill=int(end)),
        _wrong(fill=-1),
    ),
    "one_step_short": (_wrong(steps=-1),),
    "overflow": (
        _wrong(log=_plain_logarithm),
        _wrong(log=lambda x: x - np.log(np.exp(x).sum(axis=1)[:, None])),
    ),
    "one_sentence_only": (_one_sentence,),
}

EXERCISE = Exercise.from_file(__file__, ("ids", "scores"), greedy_decode, cases, MISTAKES)
