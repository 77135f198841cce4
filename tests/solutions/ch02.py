"""Correct solutions of the exercises of chapter 2, each written in another way."""

import math

import numpy as np
import torch

from attn.reference import cosine_similarity


def embed_dictionary(tokens, vocabulary, table):
    ids = {word: i for i, word in enumerate(vocabulary)}
    rows = [ids.get(token, ids["<unk>"]) for token in tokens.ravel()]
    vectors = table[rows]
    vectors[tokens.ravel() == "<pad>"] = 0
    return vectors.reshape(*tokens.shape, -1)


def embed_comparing(tokens, vocabulary, table):
    same = tokens[..., None] == vocabulary
    same[..., 1] |= ~same.any(axis=-1)
    same[..., 0] = False
    return same.astype(float) @ table


def embed_loops(tokens, vocabulary, table):
    if tokens.ndim > 1:
        return np.stack([embed_loops(row, vocabulary, table) for row in tokens])
    words, result = list(vocabulary), []
    for token in tokens:
        if token == "<pad>":
            result.append([0.0] * table.shape[1])
        else:
            result.append(list(table[words.index(token if token in words else "<unk>")]))
    return np.array(result)


def embed_torch(tokens, vocabulary, table):
    words = vocabulary.tolist()
    ids = [words.index(t) if t in words else 1 for t in tokens.ravel().tolist()]
    weights = torch.tensor(table)
    weights[0] = 0
    return torch.nn.functional.embedding(torch.tensor(ids).view(tokens.shape), weights)


def cosine_units(a, b):
    def unit(x):
        length = np.linalg.norm(x, axis=-1, keepdims=True)
        return x / np.where(length == 0, 1, length)

    return unit(a) @ unit(b).swapaxes(-1, -2)


def cosine_loops(a, b):
    if a.ndim > 2:
        return np.stack([cosine_loops(x, y) for x, y in zip(a, b, strict=True)])
    result = np.zeros((len(a), len(b)))
    for i, x in enumerate(a):
        for j, y in enumerate(b):
            lengths = math.sqrt(sum(v * v for v in x)) * math.sqrt(sum(v * v for v in y))
            if lengths > 0:
                result[i, j] = sum(v * w for v, w in zip(x, y, strict=True)) / lengths
    return result


def cosine_einsum(a, b):
    dots = np.einsum("...id,...jd->...ij", a, b)
    lengths = np.sqrt(np.einsum("...id,...id->...i", a, a)[..., :, None])
    lengths = lengths * np.sqrt(np.einsum("...jd,...jd->...j", b, b)[..., None, :])
    return dots / np.maximum(lengths, 1e-12)


def cosine_torch(a, b):
    a, b = torch.tensor(a), torch.tensor(b)
    return torch.cosine_similarity(a.unsqueeze(-2), b.unsqueeze(-3), dim=-1)


def gradients_matrices(ratings, known, users, films):
    error = np.zeros(ratings.shape)
    error[known] = (users @ films.T - ratings)[known]
    return error @ films, error.T @ users


def gradients_loops(ratings, known, users, films):
    by_users, by_films = np.zeros_like(users), np.zeros_like(films)
    for i, j in zip(*np.nonzero(known), strict=True):
        error = users[i] @ films[j] - ratings[i, j]
        by_users[i] += error * films[j]
        by_films[j] += error * users[i]
    return by_users, by_films


def gradients_einsum(ratings, known, users, films):
    error = np.nan_to_num(np.einsum("ud,fd->uf", users, films) - ratings) * known
    return np.einsum("uf,fd->ud", error, films), np.einsum("uf,ud->fd", error, users)


def gradients_autograd(ratings, known, users, films):
    users, films = (torch.tensor(x, requires_grad=True) for x in (users, films))
    error = (users @ films.T - torch.tensor(ratings))[torch.tensor(known)]
    (error**2).sum().div(2).backward()
    return users.grad, films.grad


CORRECT = [
    ("embed", embed_dictionary),
    ("embed", embed_comparing),
    ("embed", embed_loops),
    ("embed", embed_torch),
    ("cosine_similarity", cosine_similarity),
    ("cosine_similarity", cosine_units),
    ("cosine_similarity", cosine_loops),
    ("cosine_similarity", cosine_einsum),
    ("cosine_similarity", cosine_torch),
    ("rating_gradients", gradients_matrices),
    ("rating_gradients", gradients_loops),
    ("rating_gradients", gradients_einsum),
    ("rating_gradients", gradients_autograd),
]
