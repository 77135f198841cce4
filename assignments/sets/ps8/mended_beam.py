"""Problem set 8, `mended_beam`: a beam search that stops too early, and wrong repairs."""

from functools import lru_cache
from itertools import combinations

import numpy as np

from attn_course.exercises.spec import Exercise

from .greedy_decode import log_softmax

PAD = 0


def mended_beam(log_probabilities, start, end, width, max_new_tokens):
    """Return the best sentence that a beam finds and its log-probability; those ended first."""
    beam = search(log_probabilities, start, end, width, max_new_tokens)
    return _answer(beam, end, max_new_tokens)


@lru_cache(maxsize=8)  # drawn by trial, and asked for twice when it is marked
def cases(seed):
    """Return tables: where stopping early loses, where the limit comes first, a beam of one.

    Parameters
    ----------
    seed : int
        Seed of the random numbers, and of the sizes of some inputs.

    Returns
    -------
    list of dict
        With the keys ``log_probabilities``, ``start``, ``end``, ``width``, ``max_new_tokens``.
    """
    rng = np.random.default_rng(seed)

    def draw(vocab_size, width, limit, *tells_apart, accept=lambda beam, end: True):
        """Draw until these wrong functions differ from the right one and from each other."""
        while True:
            logits = rng.normal(size=(vocab_size, vocab_size))
            logits[:, PAD] -= 6
            start, end = rng.permutation(np.arange(1, vocab_size))[:2]
            case = {
                "log_probabilities": log_softmax(logits),
                "start": np.array(start),
                "end": np.array(end),
                "width": np.array(width),
                "max_new_tokens": np.array(limit),
            }
            if accept(search(**case), end):
                found = [function(**case) for function in (mended_beam, *tells_apart)]
                if all(_differ(*pair) for pair in combinations(found, 2)):
                    return case

    def all_end(beam, end):
        return all(ids[-1] == end for _, ids in beam)

    def none_ends(beam, end):
        return not any(ids[-1] == end for _, ids in beam)

    def best_goes_on(beam, end):
        ended = [ids for _, ids in beam if ids[-1] == end]
        return ended and beam[0][1][-1] != end and [end] not in ended

    early = _wrong(stop=any)
    return [
        draw(5, 2, 6, early, accept=all_end),
        draw(6, 3, 5, early, accept=all_end),
        draw(5, 2, 7, _greedy, accept=all_end),
        draw(6, 2, 5, _set_aside, accept=all_end),
        draw(8, 2, 6, _each, accept=all_end),
        draw(6, 3, 7, _mean_at_the_end, accept=all_end),
        draw(8, 2, 6, _mean_throughout, _greedy, accept=all_end),
        draw(6, 2, 2, accept=none_ends),
        draw(7, 3, 4, accept=best_goes_on),
        draw(6, 1, 5, accept=all_end),
        draw(7, 1, 6, accept=all_end),
        draw(*rng.integers((5, 2, 5), (9, 4, 8)), accept=all_end),
    ]


def _differ(one, other):
    return abs(one[1] - other[1]) > 1e-3 or not np.array_equal(one[0], other[0])


def _by_score(hypothesis):
    return hypothesis[0]


def _mean(hypothesis):
    return hypothesis[0] / len(hypothesis[1])


def search(
    log_probabilities,
    start,
    end,
    width,
    max_new_tokens,
    *,
    stop=all,
    grow=False,
    keep=True,
    best=_by_score,
    add=float.__add__,
    each=False,
):
    """Search with a beam, wrong in what is asked for; return what is kept, the best first."""
    rows, start, end = log_probabilities.tolist(), int(start), int(end)
    beam = [(0.0, [])]
    for _ in range(int(max_new_tokens)):
        grown = []
        for score, ids in beam:
            if ids and ids[-1] == end and not grow:
                grown += [(score, ids)] * keep
                continue
            row = rows[ids[-1] if ids else start]
            own = [(add(score, log_p), [*ids, token]) for token, log_p in enumerate(row)]
            grown += sorted(own, key=best, reverse=True)[: int(width)] if each else own
        beam = sorted(grown, key=best, reverse=True)[: None if each else int(width)]
        if stop(ids[-1] == end for _, ids in beam):
            break
    return beam


def _answer(beam, end, max_new_tokens, best=_by_score, choose=max, ended_first=True):
    """Return the best of a beam, those ended before the others, padded."""
    ended = [(score, ids) for score, ids in beam if ids[-1] == end]
    score, ids = choose(ended if ended and ended_first else beam, key=best)
    padded = np.full(int(max_new_tokens), PAD)
    padded[: len(ids)] = ids
    return padded, np.float64(score)


def _wrong(at_the_end=None, **how):
    def wrong(log_probabilities, start, end, width, max_new_tokens):
        beam = search(log_probabilities, start, end, width, max_new_tokens, **how)
        return _answer(beam, end, max_new_tokens, **(at_the_end or {}))

    return wrong


_each = _wrong(each=True)
_lost = _wrong(keep=False)
_mean_at_the_end = _wrong({"best": _mean})
_mean_throughout = _wrong({"best": _mean}, best=_mean)


def _greedy(log_probabilities, start, end, width, max_new_tokens):
    return mended_beam(log_probabilities, start, end, 1, max_new_tokens)


def _one_short(log_probabilities, start, end, width, max_new_tokens):
    beam = search(log_probabilities, start, end, width, max_new_tokens - 1)
    return _answer(beam, end, max_new_tokens)


def _set_aside(log_probabilities, start, end, width, max_new_tokens):
    beam, ended = [(0.0, [])], []
    for _ in range(int(max_new_tokens)):
        grown = [
            (score + row[token], [*ids, token])
            for score, ids in beam
            for row in [log_probabilities[ids[-1] if ids else start]]
            for token in range(len(row))
        ]
        ended += [hypothesis for hypothesis in grown if hypothesis[1][-1] == end]
        live = [hypothesis for hypothesis in grown if hypothesis[1][-1] != end]
        beam = sorted(live, key=_by_score, reverse=True)[: int(width)]
    return _answer(ended or beam, end, max_new_tokens)


def _needs_an_end(log_probabilities, start, end, width, max_new_tokens):
    ids, score = mended_beam(log_probabilities, start, end, width, max_new_tokens)
    return (ids, score) if (ids == end).any() else (np.zeros_like(ids), -np.inf)


def _needs_an_end_or_stops(log_probabilities, start, end, width, max_new_tokens):
    ids, score = mended_beam(log_probabilities, start, end, width, max_new_tokens)
    if not (ids == end).any():
        raise ValueError("max() iterable argument is empty")
    return ids, score


def _after(change):
    """Return a function that spoils the right answer."""

    def wrong(log_probabilities, start, end, width, max_new_tokens):
        ids, score = mended_beam(log_probabilities, start, end, width, max_new_tokens)
        return change(ids, score, start, end)

    return wrong


MISTAKES = {
    "first_to_end": (_wrong(stop=any), _wrong({"ended_first": False}, stop=any)),
    "ended_grow": (_wrong(stop=lambda ended: False, grow=True), _wrong(grow=True)),
    "ended_lost": (_lost,),
    "ended_set_aside": (_set_aside,),
    "unfinished_wins": (_wrong({"ended_first": False}),),
    "needs_an_end": (_needs_an_end, _needs_an_end_or_stops),
    "greedy": (_greedy,),
    "width_for_each": (_each,),
    "last_logarithm": (_wrong(add=lambda score, new: new),),
    "mean_logarithm": (_mean_at_the_end, _mean_throughout),
    "worst_of_the_beam": (_wrong({"choose": min}),),
    "start_kept": (
        _after(lambda ids, score, start, end: (np.array([start, *ids[:-1]]), score)),
        _after(lambda ids, score, start, end: (np.array([start, *ids]), score)),
    ),
    "end_dropped": (
        _after(lambda ids, score, start, end: (np.where(ids == end, PAD, ids), score)),
    ),
    "one_token_short": (_one_short,),
}

EXERCISE = Exercise.from_file(__file__, ("ids", "score"), mended_beam, cases, MISTAKES)
