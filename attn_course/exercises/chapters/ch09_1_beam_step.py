"""Chapter 9, `beam_step`: every hypothesis by every token, and the ways to get it wrong."""

import numpy as np

from attn.reference import beam_step, softmax
from attn_course.exercises.spec import Exercise


def cases(seed):
    """Return inputs: one hypothesis and several, beams narrower and wider than their number.

    Parameters
    ----------
    seed : int
        Seed of the random numbers; the shapes are always the same.

    Returns
    -------
    list of dict
        With the keys ``log_probabilities``, ``scores`` and ``beam_width``.
    """
    rng = np.random.default_rng(seed)

    def draw(n_hypotheses, vocab_size, beam_width):
        rows = np.log(softmax(rng.uniform(-1, 1, (n_hypotheses, vocab_size))))
        # One row has two likely tokens, so that more than one of its continuations is among the
        # best.
        peaked = [1.5, 1.2] + (vocab_size - 2) * [-1.0]
        rows[-1] = np.log(softmax(rng.permutation(peaked) + rng.uniform(-0.1, 0.1, vocab_size)))
        scores = rng.uniform(-1.6, -1.0, n_hypotheses)
        return {
            "log_probabilities": rows,
            "scores": scores,
            "beam_width": np.array(beam_width),
        }

    shapes = ((1, 4, 2), (2, 5, 2), (3, 6, 3), (3, 7, 5), (4, 6, 2), (2, 9, 4), (4, 5, 3))
    return [draw(*shape) for shape in shapes]


def _best_of(combine, report=lambda totals, log_probabilities, scores: totals):
    """Return a beam step that ranks by one number and returns another."""

    def step(log_probabilities, scores, beam_width):
        totals = combine(log_probabilities, scores)
        best = np.argsort(-totals, axis=None)[:beam_width]
        parents, tokens = np.divmod(best, totals.shape[1])
        return parents, tokens, report(totals, log_probabilities, scores)[parents, tokens]

    return step


def _sum(log_probabilities, scores):
    return scores[:, None] + log_probabilities


def _from_flat(places, returns):
    """Return a beam step with wrong flat indices, or with a wrong answer from the right ones."""

    def step(log_probabilities, scores, beam_width):
        totals = _sum(log_probabilities, scores)
        best = places(totals, int(beam_width))
        return returns(best, totals, log_probabilities.shape)

    return step


def _largest(totals, beam_width):
    return np.argsort(-totals, axis=None)[:beam_width]


def _usual(best, totals, shape):
    parents, tokens = np.divmod(best, shape[1])
    return parents, tokens, totals[parents, tokens]


def _by_rows(best, totals, shape):
    parents, tokens = np.divmod(best, shape[0])
    return parents, tokens, totals.ravel()[best]


def _by_width(best, totals, shape):
    parents, tokens = np.divmod(best, len(best))
    return parents, tokens, totals.ravel()[best]


def _by_columns(best, totals, shape):
    tokens, parents = np.divmod(best, shape[0])
    return parents, tokens, totals.ravel()[best]


def _one_child_each(log_probabilities, scores, beam_width):
    totals = _sum(log_probabilities, scores)
    tokens = totals.argmax(axis=1)
    parents = np.argsort(-totals.max(axis=1))[:beam_width]
    return parents, tokens[parents], totals[parents, tokens[parents]]


def _only_the_leader(log_probabilities, scores, beam_width):
    parent = scores.argmax()
    tokens = np.argsort(-log_probabilities[parent])[:beam_width]
    return np.full_like(tokens, parent), tokens, scores[parent] + log_probabilities[parent][tokens]


def _triples(order):
    """Return a beam step that gives a list of triples, in this order, in place of three arrays."""

    def step(log_probabilities, scores, beam_width):
        arrays = beam_step(log_probabilities, scores, beam_width)
        return [tuple(triple[i] for i in order) for triple in zip(*arrays, strict=True)]

    return step


def _share_alike(totals, log_probabilities, scores):
    return totals - np.log(np.exp(totals).sum())


MISTAKES = {
    "parent_forgotten": (
        _best_of(lambda rows, scores: rows, lambda totals, rows, scores: _sum(rows, scores)),
        _best_of(lambda rows, scores: rows),
    ),
    "multiplied": (
        _best_of(lambda rows, scores: scores[:, None] * rows),
        _best_of(lambda rows, scores: -scores[:, None] * rows),
    ),
    "mixed_scales": (
        _best_of(lambda rows, scores: scores[:, None] * np.exp(rows)),
        _best_of(lambda rows, scores: scores[:, None] + np.exp(rows)),
    ),
    "triples_returned": (_triples((0, 1, 2)), _triples((2, 0, 1))),
    "subtracted": (_best_of(lambda rows, scores: rows - scores[:, None]),),
    "probabilities_returned": (_best_of(_sum, lambda totals, rows, scores: np.exp(totals)),),
    "token_score_returned": (_best_of(_sum, lambda totals, rows, scores: rows),),
    "parent_score_returned": (
        _best_of(_sum, lambda totals, rows, scores: scores[:, None] + 0 * rows),
    ),
    "worst_kept": (_from_flat(lambda totals, k: np.argsort(totals, axis=None)[:k], _usual),),
    "worst_first": (_from_flat(lambda totals, k: np.argsort(totals, axis=None)[-k:], _usual),),
    "unordered": (_from_flat(lambda totals, k: np.sort(_largest(totals, k)), _usual),),
    "one_child_each": (_one_child_each,),
    "only_the_leader": (_only_the_leader,),
    "flat_place_as_token": (
        _from_flat(
            _largest, lambda best, totals, shape: (best // shape[1], best, totals.ravel()[best])
        ),
    ),
    "divided_by_the_beam": (
        _from_flat(_largest, _by_width),
        _from_flat(_largest, _by_rows),
    ),
    "by_columns": (_from_flat(_largest, _by_columns),),
    "swapped": (
        _from_flat(
            _largest,
            lambda best, totals, shape: (
                best % shape[1],
                best // shape[1],
                totals.ravel()[best],
            ),
        ),
    ),
    "width_ignored": (_from_flat(lambda totals, k: _largest(totals, len(totals)), _usual),),
    "halved": (_best_of(_sum, lambda totals, rows, scores: totals / 2),),
    "renormalised": (_best_of(_sum, _share_alike),),
    "probabilities_added": (
        _best_of(lambda rows, scores: np.log(np.exp(rows) + np.exp(scores)[:, None])),
    ),
}

EXERCISE = Exercise.from_file(__file__, ("parents", "tokens", "scores"), beam_step, cases, MISTAKES)
