"""Correct solutions of chapter 9's exercises, each written in another way."""

import heapq
import math
from collections import Counter

import numpy as np
import torch

from attn import decoding, reference


def beam_sorted(log_probabilities, scores, beam_width):
    totals = scores[:, None] + log_probabilities
    best = totals.argsort(axis=None)[::-1][:beam_width]
    parents, tokens = np.unravel_index(best, totals.shape)
    return parents, tokens, totals.ravel()[best]


def beam_loops(log_probabilities, scores, beam_width):
    candidates = [
        (scores[i] + log_probabilities[i, j], i, j)
        for i in range(len(scores))
        for j in range(log_probabilities.shape[1])
    ]
    best = heapq.nlargest(int(beam_width), candidates)
    totals, parents, tokens = zip(*best, strict=True)
    return np.array(parents), np.array(tokens), np.array(totals)


def beam_torch(log_probabilities, scores, beam_width):
    totals = torch.tensor(scores)[:, None] + torch.tensor(log_probabilities)
    best = totals.flatten().topk(int(beam_width))
    n_tokens = totals.shape[1]
    return best.indices // n_tokens, best.indices % n_tokens, best.values


def beam_products(log_probabilities, scores, beam_width):
    chances = np.einsum("i,ij->ij", np.exp(scores), np.exp(log_probabilities)).ravel()
    chosen = np.argpartition(-chances, int(beam_width) - 1)[: int(beam_width)]
    chosen = chosen[np.argsort(-chances[chosen])]
    parents, tokens = np.divmod(chosen, log_probabilities.shape[1])
    return parents, tokens, np.log(chances[chosen])


def top_p_torch(logits, p):
    return decoding.next_token_probabilities(torch.tensor(logits), top_p=float(p))


def top_p_loops(logits, p):
    if logits.ndim > 1:
        return np.stack([top_p_loops(row, p) for row in logits])
    chances = [math.exp(logit) for logit in logits]
    chances = [chance / sum(chances) for chance in chances]
    kept, total = set(), 0.0
    for token in sorted(range(len(chances)), key=lambda token: -chances[token]):
        if total >= p:
            break
        kept.add(token)
        total += chances[token]
    kept_only = [chance if token in kept else 0.0 for token, chance in enumerate(chances)]
    return np.array(kept_only) / total


def top_p_inverse(logits, p):
    chances = reference.softmax(logits)
    order = np.argsort(-chances, axis=-1)
    best = np.take_along_axis(chances, order, axis=-1)
    before = np.concatenate([np.zeros((*best.shape[:-1], 1)), best.cumsum(-1)[..., :-1]], axis=-1)
    keep = np.take_along_axis(before < p, order.argsort(axis=-1), axis=-1)
    return reference.softmax(np.where(keep, logits, -np.inf))


def top_p_pairwise(logits, p):
    chances = reference.softmax(logits)
    ahead = np.einsum("...j,...ij->...i", chances, chances[..., None, :] > chances[..., :, None])
    kept = chances * (ahead < p)
    return kept / kept.sum(axis=-1, keepdims=True)


def grams(tokens, n):
    return Counter(zip(*(tokens[i:] for i in range(n)), strict=False))


def bleu_counters(candidate, reference, max_n):
    candidate, reference = candidate.tolist(), reference.tolist()
    precisions = []
    for n in range(1, max_n + 1):
        own, there = grams(candidate, n), grams(reference, n)
        precisions.append(sum((own & there).values()) / max(1, sum(own.values())))
    penalty = 1.0
    if len(candidate) < len(reference):
        penalty = math.exp(1 - len(reference) / len(candidate))
    return precisions, penalty, penalty * math.prod(precisions) ** (1 / max_n)


def bleu_loops(candidate, reference, max_n):
    precisions = np.zeros(max_n)
    for n in range(1, max_n + 1):
        left = [tuple(reference[i : i + n]) for i in range(len(reference) - n + 1)]
        total = len(candidate) - n + 1
        for i in range(total):
            if (gram := tuple(candidate[i : i + n])) in left:
                left.remove(gram)
                precisions[n - 1] += 1 / total
    penalty = np.exp(min(0, 1 - len(reference) / len(candidate)))
    return precisions, penalty, penalty * precisions.prod() ** (1 / max_n)


def bleu_windows(candidate, reference, max_n):
    precisions = []
    for n in range(1, int(max_n) + 1):
        own, there = (
            np.lib.stride_tricks.sliding_window_view(tokens, n) for tokens in (candidate, reference)
        )
        kinds, counts = np.unique(own, axis=0, return_counts=True)
        known = (kinds[:, None] == there[None]).all(axis=-1).sum(axis=1)
        precisions.append(np.minimum(counts, known).sum() / len(own))
    penalty = torch.exp(torch.tensor(1 - len(reference) / len(candidate))).clamp(max=1.0).item()
    precisions = torch.tensor(precisions, dtype=torch.float64)
    return precisions, penalty, penalty * precisions.log().mean().exp()


def error_counts(predicted, sure, possible):
    good = np.count_nonzero(predicted & sure) + np.count_nonzero(predicted & (sure | possible))
    return 1 - good / (np.count_nonzero(predicted) + np.count_nonzero(sure))


def error_sets(predicted, sure, possible):
    a, s, p = (
        {tuple(link) for link in np.argwhere(links)} for links in (predicted, sure, possible)
    )
    return 1 - (len(a & s) + len(a & (s | p))) / (len(a) + len(s))


def error_einsum(predicted, sure, possible):
    a, s, p = (links.astype(float) for links in (predicted, sure, sure | possible))
    good = np.einsum("bij,bij->", a, s) + np.einsum("bij,bij->", a, p)
    return 1 - good / (np.einsum("bij->", a) + np.einsum("bij->", s))


def error_torch(predicted, sure, possible):
    a, s, p = (torch.tensor(links) for links in (predicted, sure, possible))
    return 1 - ((a & s).sum() + (a & (s | p)).sum()) / (a.sum() + s.sum())


CORRECT = [
    ("beam_step", reference.beam_step),
    ("beam_step", beam_sorted),
    ("beam_step", beam_loops),
    ("beam_step", beam_torch),
    ("beam_step", beam_products),
    ("top_p_filter", reference.top_p_filter),
    ("top_p_filter", top_p_torch),
    ("top_p_filter", top_p_loops),
    ("top_p_filter", top_p_inverse),
    ("top_p_filter", top_p_pairwise),
    ("bleu", reference.sentence_bleu),
    ("bleu", bleu_counters),
    ("bleu", bleu_loops),
    ("bleu", bleu_windows),
    ("alignment_error", reference.alignment_error),
    ("alignment_error", error_counts),
    ("alignment_error", error_sets),
    ("alignment_error", error_einsum),
    ("alignment_error", error_torch),
]
