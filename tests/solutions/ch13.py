"""Correct solutions of chapter 13's exercises, each written in another way."""

import numpy as np
import torch

from attn_course.exercises.catalogue import load


def lens_loops(stream, gain, table, token):
    ranks = np.zeros(stream.shape[:-1], dtype=int)
    for place in np.ndindex(ranks.shape):
        x = stream[place] / np.sqrt(np.mean(stream[place] ** 2) + 1e-5) * gain
        scores = [float(row @ x) for row in table]
        ranks[place] = 1 + sum(score > scores[token] for score in scores)
    return ranks


def lens_torch(stream, gain, table, token):
    stream, gain, table = map(torch.tensor, (stream, gain, table))
    x = torch.nn.functional.rms_norm(stream, gain.shape, gain, eps=1e-5)
    order = (x @ table.T).argsort(dim=-1, descending=True)
    return (order == token).int().argmax(dim=-1) + 1


def lens_without_norm(stream, gain, table, token):
    # Dividing a vector by a number does not change the ranks.
    logits = np.einsum("...d,d,vd->...v", stream, gain, table)
    return np.argsort(np.argsort(-logits, axis=-1), axis=-1)[..., token] + 1


def effect_means(clean, corrupted, patched):
    start = corrupted.mean()
    return (patched.mean(axis=0) - start) / (clean.mean() - start)


def effect_loops(clean, corrupted, patched):
    gained = np.zeros(patched.shape[1:])
    whole = 0.0
    for top, bottom, found in zip(clean, corrupted, patched, strict=True):
        gained = gained + (found - bottom)
        whole += top - bottom
    return gained / whole


def effect_weighted(clean, corrupted, patched):
    gaps = clean - corrupted
    shares = ((patched.T - corrupted) / gaps).T
    return np.average(shares, axis=0, weights=gaps)


def induction_diagonal(weights, period):
    return np.diagonal(weights, 1 - period, axis1=-2, axis2=-1)[..., 1:].mean(axis=-1)


def induction_loops(weights, period):
    score = np.zeros(weights.shape[:-2])
    for head in np.ndindex(score.shape):
        kept = [weights[head][i, i - period + 1] for i in range(period, weights.shape[-1])]
        score[head] = sum(kept) / len(kept)
    return score


def induction_mask(weights, period):
    query, key = np.indices(weights.shape[-2:])
    mine = (query - key == period - 1) & (query >= period)
    return (weights * mine).sum(axis=(-2, -1)) / mine.sum()


CORRECT = [
    ("logit_lens", load("logit_lens").oracle),
    ("logit_lens", lens_loops),
    ("logit_lens", lens_torch),
    ("logit_lens", lens_without_norm),
    ("patch_effect", load("patch_effect").oracle),
    ("patch_effect", effect_means),
    ("patch_effect", effect_loops),
    ("patch_effect", effect_weighted),
    ("induction_score", load("induction_score").oracle),
    ("induction_score", induction_diagonal),
    ("induction_score", induction_loops),
    ("induction_score", induction_mask),
]
