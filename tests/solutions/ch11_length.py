"""Correct solutions of the exercise on attention at length, each written in another way."""

import math

import numpy as np
import torch

from attn import reference


def merge_with_where(peak_a, total_a, output_a, peak_b, total_b, output_b):
    peak = np.maximum(peak_a, peak_b)
    base = np.where(peak == -np.inf, 0, peak)
    a, b = np.exp(peak_a - base), np.exp(peak_b - base)
    return peak, a * total_a + b * total_b, a * output_a + b * output_b


def merge_by_the_gap(peak_a, total_a, output_a, peak_b, total_b, output_b):
    """Shrink whichever part is lower by the distance between the two, and leave the other."""
    a_wins = peak_a >= peak_b
    lower, higher = np.minimum(peak_a, peak_b), np.maximum(peak_a, peak_b)
    gap = np.zeros_like(lower)
    np.subtract(lower, higher, out=gap, where=higher > -np.inf)
    shrink = np.exp(gap)
    total = np.where(a_wins, total_a + shrink * total_b, shrink * total_a + total_b)
    output = np.where(a_wins, output_a + shrink * output_b, shrink * output_a + output_b)
    return higher, total, output


def merge_rows(peak_a, total_a, output_a, peak_b, total_b, output_b):
    if peak_a.ndim > 2:
        parts = (peak_a, total_a, output_a, peak_b, total_b, output_b)
        merged = [merge_rows(*arrays) for arrays in zip(*parts, strict=True)]
        return tuple(np.stack(arrays) for arrays in zip(*merged, strict=True))
    peaks, totals, outputs = [], [], []
    for i in range(len(peak_a)):
        peak = max(peak_a[i, 0], peak_b[i, 0])
        total, output = 0.0, 0.0 * output_a[i]
        for p, t, o in ((peak_a, total_a, output_a), (peak_b, total_b, output_b)):
            if p[i, 0] > -math.inf:
                scale = math.exp(p[i, 0] - peak)
                total, output = total + scale * t[i, 0], output + scale * o[i]
        peaks.append([peak])
        totals.append([total])
        outputs.append(output)
    return np.array(peaks), np.array(totals), np.array(outputs)


def merge_torch(*arrays):
    peaks, totals, outputs = (
        torch.stack([torch.tensor(arrays[i]), torch.tensor(arrays[i + 3])]) for i in range(3)
    )
    peak = peaks.amax(dim=0)
    scales = (peaks - peak.nan_to_num(neginf=0.0)).exp()
    return peak, (scales * totals).sum(dim=0), (scales * outputs).sum(dim=0)


def merge_logarithms(peak_a, total_a, output_a, peak_b, total_b, output_b):
    """Keep the sums as logarithms, and the outputs as means, as FlashAttention's variants do."""
    log_a, log_b = peak_a + np.log(total_a), peak_b + np.log(total_b)
    both = np.logaddexp(log_a, log_b)
    peak = np.maximum(peak_a, peak_b)
    seen = peak > -np.inf
    base = np.where(seen, both, 0)
    mean = np.zeros_like(output_a)
    for log, total, output in ((log_a, total_a, output_a), (log_b, total_b, output_b)):
        mean += np.exp(log - base) * output / np.where(total == 0, 1, total)
    total = np.exp(base - np.where(seen, peak, 0)) * seen
    return peak, total, mean * total


CORRECT = [
    ("merge_attention", reference.merge_attention),
    ("merge_attention", merge_with_where),
    ("merge_attention", merge_by_the_gap),
    ("merge_attention", merge_rows),
    ("merge_attention", merge_torch),
    ("merge_attention", merge_logarithms),
]
