"""Correct solutions of chapter 16's exercises, each written in another way."""

import numpy as np
import torch

from attn_course.exercises.catalogue import load


def intensity_loop(n_parameters, n_layers, d_model, d_kv, bits, context, batches):
    found = []
    for batch in batches:
        flops = moved = 0.0
        moved += n_parameters * (bits / 8)
        for _ in range(batch):
            flops += 2 * n_parameters
            for _ in range(n_layers):
                flops += 2 * context * d_model + 2 * context * d_model
                moved += 2 * (context * d_kv) * 2
        found.append(flops / moved)
    return np.array(found)


def intensity_inverse(n_parameters, n_layers, d_model, d_kv, bits, context, batches):
    each = 2.0 * n_parameters + 4.0 * n_layers * context * d_model
    return 1 / ((n_parameters * bits / 8 / batches + 4.0 * n_layers * d_kv * context) / each)


def tile_logaddexp(peak, total, output, scores, values):
    new = max(float(peak), float(scores.max()))
    old = np.log(total) + peak if total > 0 else -np.inf
    total = np.exp(np.logaddexp.reduce([old, *scores]) - new)
    return new, total, output * np.exp(peak - new) + np.exp(scores - new) @ values


def tile_one_by_one(peak, total, output, scores, values):
    for s, v in zip(scores, values, strict=True):
        new = max(peak, s)
        total = total * np.exp(peak - new) + np.exp(s - new)
        output = output * np.exp(peak - new) + np.exp(s - new) * v
        peak = new
    return peak, total, output


def tile_torch(peak, total, output, scores, values):
    stack = torch.from_numpy(np.append(scores, peak))
    new = stack.max()
    powers = (stack - new).exp()
    rows = torch.from_numpy(np.vstack([values, output]))
    sums = torch.cat([torch.ones(len(scores)), torch.tensor([float(total)])]).double()
    return new, powers @ sums, powers @ rows


def quantised_loop(row, bits, group):
    steps, scales = [], []
    for i in range(0, len(row), int(group)):
        part = row[i : i + int(group)]
        scale = max(abs(x) for x in part) / (2 ** (int(bits) - 1) - 1)
        scales.append(scale)
        steps.extend(round(x / scale) for x in part)
    return np.array(steps), np.array(scales)


def quantised_torch(row, bits, group):
    groups = torch.from_numpy(row).unflatten(0, (-1, int(group)))
    scales = groups.abs().amax(dim=1) / (2 ** (int(bits) - 1) - 1)
    return (groups / scales[:, None]).round().flatten().to(torch.int64), scales


CORRECT = [
    ("step_intensity", load("step_intensity").oracle),
    ("step_intensity", intensity_loop),
    ("step_intensity", intensity_inverse),
    ("online_tile", load("online_tile").oracle),
    ("online_tile", tile_logaddexp),
    ("online_tile", tile_one_by_one),
    ("online_tile", tile_torch),
    ("quantise_row", load("quantise_row").oracle),
    ("quantise_row", quantised_loop),
    ("quantise_row", quantised_torch),
]
