"""Correct solutions of the exercises of chapter 7, each written in another way."""

import math

import numpy as np
import torch

from attn.positions import ALiBiPositions, rotary
from attn.positions import sinusoidal_positions as positions_in_torch
from attn.reference import sinusoidal_positions as table_of_the_course

SINUSOIDAL, ROTATE, ALIBI = "sinusoidal_positions", "rotate", "alibi_bias"


def sinusoidal_loops(seq_len, d_model, base):
    table = np.zeros((seq_len, d_model))
    for p in range(seq_len):
        for i in range(d_model // 2):
            angle = p / base ** (2 * i / d_model)
            table[p, 2 * i], table[p, 2 * i + 1] = math.sin(angle), math.cos(angle)
    return table


def sinusoidal_vectorised(seq_len, d_model, base):
    columns = np.arange(d_model)
    angles = np.arange(seq_len)[:, None] / base ** (columns // 2 * 2 / d_model)
    return np.where(columns % 2, np.cos(angles), np.sin(angles))


def sinusoidal_complex(seq_len, d_model, base):
    speeds = np.exp(-np.arange(0, d_model, 2) * np.log(base) / d_model)
    waves = np.exp(1j * np.einsum("p,i->pi", np.arange(seq_len), speeds))
    return np.stack([waves.imag, waves.real], axis=-1).reshape(seq_len, d_model)


def sinusoidal_torch(seq_len, d_model, base):
    table = torch.zeros(int(seq_len), int(d_model))
    position = torch.arange(int(seq_len)).float()[:, None]
    div_term = torch.exp(torch.arange(0, int(d_model), 2) * (-math.log(base) / d_model))
    table[:, 0::2], table[:, 1::2] = torch.sin(position * div_term), torch.cos(position * div_term)
    return table


def rotate_slices(x, positions, base):
    d_k = x.shape[-1]
    angles = positions[:, None] / base ** (np.arange(0, d_k, 2) / d_k)
    out = np.empty_like(x)
    out[..., 0::2] = x[..., 0::2] * np.cos(angles) - x[..., 1::2] * np.sin(angles)
    out[..., 1::2] = x[..., 0::2] * np.sin(angles) + x[..., 1::2] * np.cos(angles)
    return out


def rotate_complex(x, positions, base):
    angles = positions[:, None] * base ** (-np.arange(0, x.shape[-1], 2) / x.shape[-1])
    turned = (x[..., 0::2] + 1j * x[..., 1::2]) * np.exp(1j * angles)
    return np.stack([turned.real, turned.imag], axis=-1).reshape(x.shape)


def rotate_matrices(x, positions, base):
    d_k = x.shape[-1]
    turns = np.zeros((len(positions), d_k, d_k))
    for number, position in enumerate(positions):
        for i in range(0, d_k, 2):
            c, s = math.cos(position / base ** (i / d_k)), math.sin(position / base ** (i / d_k))
            turns[number, i : i + 2, i : i + 2] = [[c, -s], [s, c]]
    return np.einsum("sij,...sj->...si", turns, x)


def rotate_torch(x, positions, base):
    return rotary(torch.tensor(x), torch.tensor(positions), float(base))


def alibi_broadcast(slopes, tgt_len, src_len):
    queries = np.arange(src_len)[-tgt_len:]
    return -slopes[:, None, None] * np.abs(queries[:, None] - np.arange(src_len)[None, :])


def alibi_loops(slopes, tgt_len, src_len):
    bias = np.zeros((len(slopes), tgt_len, src_len))
    for h, slope in enumerate(slopes):
        for i in range(tgt_len):
            for j in range(src_len):
                bias[h, i, j] = -slope * abs(src_len - tgt_len + i - j)
    return bias


def alibi_einsum(slopes, tgt_len, src_len):
    behind = np.subtract.outer(np.arange(src_len - tgt_len, src_len), np.arange(src_len))
    return np.einsum("h,qk->hqk", slopes, np.minimum(behind, -behind))


def alibi_torch(slopes, tgt_len, src_len):
    module = ALiBiPositions(len(slopes))
    module.slopes = lambda: list(slopes)
    keys = torch.arange(int(src_len))
    return module.bias(keys[int(src_len - tgt_len) :], keys, torch.float64)


CORRECT = [
    (SINUSOIDAL, table_of_the_course),
    (SINUSOIDAL, sinusoidal_loops),
    (SINUSOIDAL, sinusoidal_vectorised),
    (SINUSOIDAL, sinusoidal_complex),
    (SINUSOIDAL, sinusoidal_torch),
    (SINUSOIDAL, lambda n, d, base: positions_in_torch(int(n), int(d), float(base))),
    (ROTATE, rotate_slices),
    (ROTATE, rotate_complex),
    (ROTATE, rotate_matrices),
    (ROTATE, rotate_torch),
    (ALIBI, alibi_broadcast),
    (ALIBI, alibi_loops),
    (ALIBI, alibi_einsum),
    (ALIBI, alibi_torch),
]
