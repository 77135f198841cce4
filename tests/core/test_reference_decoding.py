"""Beam search, nucleus, BLEU and alignment error in NumPy, against those of the package."""

import numpy as np
import pytest
import torch
from sacrebleu.metrics import BLEU

from attn import decoding, metrics, reference
from tests.refusals import refusals

ZEROS = np.zeros((2, 3))


@pytest.fixture
def rng():
    return np.random.default_rng(0)


@pytest.mark.parametrize("width", [1, 2, 3, 5])
def test_repeated_beam_steps_equal_beam_search(width, rng):
    # The axes are step, last token and next token. If every step had the same table, two orders of
    # the same pairs of tokens would have the same score, and rounding would decide between them.
    table = torch.tensor(rng.normal(size=(4, 6, 6)))
    # No row ends, so all hypotheses grow.
    table[..., 0] = -np.inf
    table = table.log_softmax(dim=-1)
    ids, scores = decoding.beam_search(
        lambda ids, cache: table[ids.shape[1] - 1, ids[:, -1]],
        torch.tensor([[1]]),
        width=width,
        end_id=None,
        max_new_tokens=4,
    )
    written, totals = np.array([[1]]), np.zeros(1)
    for step in table.numpy():
        parents, tokens, totals = reference.beam_step(
            step[written[:, -1]], totals, min(width, 5 * len(written))
        )
        written = np.column_stack([written[parents], tokens])
    np.testing.assert_array_equal(ids[0], written)
    np.testing.assert_allclose(scores[0], totals, atol=1e-12)


def test_the_first_of_equal_candidates_are_kept():
    """Beyond sixteen elements, NumPy's sort reorders equal ones unless it is stable."""
    # Every second token is the best of its hypothesis.
    totals = np.tile([0.0, 1.0], (4, 20))
    parents, tokens, _ = reference.beam_step(totals, np.zeros(4), 50)
    assert parents.tolist() == [0] * 20 + [1] * 20 + [2] * 10
    assert tokens.tolist() == [*range(1, 40, 2)] * 2 + [*range(1, 20, 2)]
    kept = reference.top_p_filter(np.tile([0.0, 1.0], 20), 0.3)
    np.testing.assert_array_equal(
        np.flatnonzero(kept), np.arange(1, 2 * len(np.flatnonzero(kept)), 2)
    )


@pytest.mark.parametrize("p", [0.05, 0.3, 0.6, 0.9, 0.999, 1.0])
@pytest.mark.parametrize("shape", [(7,), (3, 5), (2, 3, 4)])
def test_the_nucleus_equals_that_of_sampling(p, shape, rng):
    logits = rng.normal(size=shape)
    wanted = decoding.next_token_probabilities(torch.tensor(logits), top_p=p)
    np.testing.assert_allclose(reference.top_p_filter(logits, p), wanted, atol=1e-12)


def test_bleu_is_that_of_sacrebleu(rng):
    judge = BLEU(tokenize="none", smooth_method="none", max_ngram_order=3)
    for _ in range(50):
        candidate, right = rng.integers(4, size=rng.integers(3, 9)), rng.integers(4, size=6)
        _, penalty, score = reference.sentence_bleu(candidate, right, max_n=3)
        texts = (" ".join(map(str, tokens)) for tokens in (candidate, right))
        wanted = judge.sentence_score(next(texts), [next(texts)])
        assert 100 * score == pytest.approx(wanted.score, abs=1e-9)
        assert penalty == pytest.approx(wanted.bp)


def test_bleu_clips_and_has_no_ngrams_longer_than_the_sentence():
    precisions, penalty, score = reference.sentence_bleu([7, 7, 7], [7, 8, 9], max_n=4)
    assert precisions.tolist() == [1 / 3, 0, 0, 0] and (penalty, score) == (1, 0)


def test_the_error_rate_equals_that_computed_from_sets_of_links(rng):
    for _ in range(30):
        predicted, sure, possible = rng.random((3, 4, 5)) < 0.4
        sets = [[{(j, i) for i, j in np.argwhere(a)}] for a in (predicted, sure, possible)]
        wanted = metrics.alignment_error_rate(*sets)
        assert reference.alignment_error(predicted, sure, possible) == pytest.approx(wanted)


test_what_does_not_fit_is_refused = refusals(
    (lambda: reference.beam_step(ZEROS[0], np.zeros(1), 1), "log_probabilities: expected"),
    (lambda: reference.beam_step(ZEROS, np.zeros(3), 1), "scores: expected shape"),
    (lambda: reference.beam_step(ZEROS, np.zeros(2), 7), "beam_width: expected at most 6 cand"),
    (lambda: reference.beam_step(ZEROS, np.zeros(2), 0), "beam_width: expected at least 1"),
    (lambda: reference.top_p_filter([0.0, 1.0], 0), "p: expected a number above 0"),
    (lambda: reference.top_p_filter([0.0, np.nan], 0.5), "scores: expected numbers below"),
    (lambda: reference.top_p_filter([-np.inf] * 2, 0.5), "logits: expected a number above"),
    (lambda: reference.top_p_filter(0.0, 0.5), "logits: expected shape"),
    (lambda: reference.sentence_bleu([], [1], 2), "candidate: expected at least one token"),
    (lambda: reference.sentence_bleu([1], [1], 0), "max_n: expected at least 1"),
    (lambda: reference.alignment_error(*np.zeros((3, 2, 2))), "predicted, sure: expected"),
    (lambda: reference.alignment_error([[1]], [[1, 0]], [[1]]), "sure: expected shape"),
)
