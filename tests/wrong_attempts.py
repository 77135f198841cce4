"""The mistakes of the exercises in other words: wrong answers as learners write them."""

import math

import numpy as np
import torch

from attn.reference import scaled_dot_product_attention, softmax
from tests.solutions.ch03 import attention_torch, attention_vectorised


def softmax_columns_in_a_loop(scores):
    if scores.ndim == 1:
        return softmax(scores)
    exponentials = np.exp(scores - scores.max(axis=0))
    return exponentials / sum(exponentials)


def softmax_textbook(scores):
    exponentials = np.exp(scores - np.max(scores, axis=-1)[..., None])
    return exponentials / np.sum(exponentials, axis=-1)[..., None]


def softmax_without_maximum(scores):
    return np.exp(scores) / np.exp(scores).sum(axis=-1, keepdims=True)


def softmax_without_maximum_in_math(scores):
    if scores.ndim > 1:
        return np.stack([softmax_without_maximum_in_math(row) for row in scores])
    exponentials = [math.exp(score) for score in scores]
    return [e / sum(exponentials) for e in exponentials]


def softmax_axis_one_in_torch(scores):
    return torch.softmax(torch.tensor(scores), dim=1)


def softmax_unpacking_two(scores):
    result = np.empty_like(scores)
    rows, columns = scores.shape
    for i in range(rows):
        total = sum(math.exp(scores[i, j] - scores[i].max()) for j in range(columns))
        for j in range(columns):
            result[i, j] = math.exp(scores[i, j] - scores[i].max()) / total
    return result


def attention_unscaled(query, key, value, mask=None):
    scores = np.einsum("...qd,...kd->...qk", query, key)
    if mask is not None:
        scores = np.where(mask, scores, -1e9)
    weights = softmax_textbook(scores)
    return weights @ value, weights


def attention_unscaled_in_torch(query, key, value, mask=None):
    return attention_torch(query * math.sqrt(query.shape[-1]), key, value, mask)


def attention_over_queries(query, key, value, mask=None):
    scores = query @ key.swapaxes(-1, -2) / np.sqrt(query.shape[-1])
    if mask is not None:
        scores = np.where(mask, scores, -np.inf)
    exponentials = np.exp(scores - scores.max(axis=-2, keepdims=True))
    weights = exponentials / exponentials.sum(axis=-2, keepdims=True)
    return weights @ value, weights


def attention_inverted_in_torch(query, key, value, mask=None):
    scores = torch.tensor(query @ key.swapaxes(-1, -2) / np.sqrt(query.shape[-1]))
    if mask is not None:
        scores = scores.masked_fill(torch.tensor(mask), -1e9)
    weights = scores.softmax(-1)
    return weights @ torch.tensor(value), weights


def attention_scores_times_mask(query, key, value, mask=1):
    weights = softmax(query @ key.swapaxes(-1, -2) / np.sqrt(query.shape[-1]) * mask)
    return weights @ value, weights


def attention_scores_times_mask_minus(query, key, value, mask=None):
    scores = query @ key.swapaxes(-1, -2) / np.sqrt(query.shape[-1])
    if mask is not None:
        scores = scores * mask + -1e9 * (1 - mask)
    weights = softmax(scores)
    return weights @ value, weights


def attention_added_minus(query, key, value, mask=None):
    scores = query @ key.swapaxes(-1, -2) / np.sqrt(query.shape[-1])
    if mask is not None:
        scores += (1 - mask) * -1e9
    weights = softmax(scores)
    return weights @ value, weights


def attention_transposed_by_hand(query, key, value, mask=None):
    scores = np.dot(query, np.transpose(key)) / np.sqrt(query.shape[-1])
    scores = scores if mask is None else np.where(mask, scores, -np.inf)
    weights = softmax(scores)
    return np.dot(weights, value), weights


def attention_with_nan(query, key, value, mask=None):
    scores = query @ key.swapaxes(-1, -2) / np.sqrt(query.shape[-1])
    scores = scores if mask is None else np.where(mask, scores, -np.inf)
    weights = torch.softmax(torch.tensor(scores), dim=-1)
    return weights @ torch.tensor(value), weights


def attention_with_naive_softmax(query, key, value, mask=None):
    scores = query @ key.swapaxes(-1, -2) / np.sqrt(query.shape[-1])
    exponentials = np.exp(scores if mask is None else np.where(mask, scores, -np.inf))
    weights = exponentials / exponentials.sum(axis=-1)[..., np.newaxis]
    return weights @ value, weights


def attention_indexing_the_mask(query, key, value, mask=None):
    scores = query @ key.swapaxes(-1, -2) / np.sqrt(query.shape[-1])
    if mask is not None:
        scores[mask == False] = -np.inf
    weights = softmax(scores)
    return weights @ value, weights


def masking(mask_scores, weigh=softmax):
    def attention(query, key, value, mask=None):
        scores = query @ key.mT / np.sqrt(query.shape[-1])
        weights = weigh(mask_scores(scores, mask))
        return weights @ value, weights

    return attention


def if_not_none(scores, mask):
    return scores if mask is None else np.where(mask, scores, -np.inf)


def if_mask(scores, mask):
    if mask:
        scores = np.where(mask, scores, -np.inf)
    return scores


def if_not_equal_none(scores, mask):
    if mask != None:
        scores = scores.copy()
        scores[~mask] = -np.inf
    return scores


def mask_or_all(scores, mask):
    return np.where(mask or np.ones_like(scores, dtype=bool), scores, -np.inf)


def if_mask_in_torch(scores, mask):
    mask = None if mask is None else torch.tensor(mask)
    scores = torch.tensor(scores)
    return (scores.masked_fill(~mask, -torch.inf) if mask else scores).numpy()


def assigned_without_if(scores, mask):
    scores[~mask] = -np.inf
    return scores


def subtracted_without_if(scores, mask):
    return scores - 1e9 * (1 - mask)


def infinity_added(scores, mask):
    return scores if mask is None else scores + (1 - mask) * -np.inf


def infinity_and_factor(scores, mask):
    return scores if mask is None else scores * mask - np.inf * ~mask


def mask_added_in_place(scores, mask):
    if mask is not None:
        scores += mask
    return scores


def scoring(score):
    def attention(query, key, value, mask=None):
        scores = score(query, key)
        weights = softmax(scores if mask is None else np.where(mask, scores, -np.inf))
        return weights @ value, weights

    return attention


def score_with_precedence_in_a_variable(query, key):
    scale = query.shape[-1] ** 1 / 2
    return query @ key.mT / scale


def score_with_batched_product(query, key):
    return torch.bmm(torch.tensor(query), torch.tensor(key).mT).numpy() / query.shape[-1] ** 0.5


def attention_scaled_at_the_end(query, key, value, mask=None):
    scores = query @ key.mT
    weights = softmax_textbook(scores if mask is None else np.where(mask, scores, -1e9))
    weights = weights / query.shape[-1] ** 0.5
    return weights @ value, weights


def attention_first_only(query, key, value, mask=None):
    output, _ = scaled_dot_product_attention(query, key, value, mask)
    return torch.tensor(output)


def self_attention_unscaled(x, w_q, w_k, w_v, mask=None):
    return attention_unscaled(x @ w_q, x @ w_k, x @ w_v, mask)


def self_attention_asking_with_keys(x, w_q, w_k, w_v, mask=None):
    scores = x @ w_k @ (x @ w_q).swapaxes(-1, -2) / np.sqrt(w_k.shape[-1])
    weights = softmax_textbook(scores if mask is None else np.where(mask, scores, -np.inf))
    return weights @ (x @ w_v), weights


def self_attention_on_the_left(x, w_q, w_k, w_v, mask=None):
    return attention_vectorised(np.dot(w_q, x), np.dot(w_k, x), np.dot(w_v, x), mask)


def self_attention_for_a_batch(x, w_q, w_k, w_v, mask=None):
    batched_score = scoring(lambda q, k: q @ k.transpose(0, 2, 1) / np.sqrt(q.shape[-1]))
    return batched_score(x @ w_q, x @ w_k, x @ w_v, mask)


def self_attention_for_one_sentence(x, w_q, w_k, w_v, mask=None):
    return attention_transposed_by_hand(x.dot(w_q), x.dot(w_k), x.dot(w_v), mask)


def self_attention_like_linear(x, w_q, w_k, w_v, mask=None):
    x, *matrices = (torch.tensor(array) for array in (x, w_q, w_k, w_v))
    projected = (torch.nn.functional.linear(x, w).numpy() for w in matrices)
    return attention_torch(*projected, mask)


def masked_afterwards(renormalise):
    def attention(query, key, value, mask=None):
        weights = softmax(query @ key.mT / np.sqrt(query.shape[-1]))
        if mask is not None:
            weights = weights * mask
            weights = renormalise(weights, weights.sum(axis=-1, keepdims=True))
        return weights @ value, weights

    return attention


def penalised(penalise, *, removed=True):
    def attention(query, key, value, mask=None):
        weights = softmax(
            penalise(query @ key.mT / np.sqrt(query.shape[-1]), True if mask is None else mask)
        )
        weights = weights if mask is None or not removed else weights * mask
        return weights @ value, weights

    return attention


def infinite_weights(query, key, value, mask=None):
    weights = softmax(query @ key.mT / np.sqrt(query.shape[-1]))
    if mask is not None:
        weights[~np.broadcast_to(mask, weights.shape)] = -np.inf
    return weights @ value, weights


def mask_read_by_element(query, key, value, mask=None):
    scores = query @ key.mT / np.sqrt(query.shape[-1])
    if mask is not None:
        for i in range(len(mask)):
            for j in range(len(mask[i])):
                if mask[i][j] == False:
                    scores[i][j] = -np.inf
    weights = softmax(scores)
    return weights @ value, weights


def centred(scores):
    exponentials = np.exp(scores - scores.mean(-1, keepdims=True))
    return exponentials / exponentials.sum(-1, keepdims=True)


def clipped(scores, limit=500):
    exponentials = np.exp(np.clip(scores, -limit, limit))
    return exponentials / exponentials.sum(-1, keepdims=True)


def without_nan(scores):
    return np.nan_to_num(softmax_without_maximum(scores))


def total_of_everything(scores):
    exponentials = np.exp(scores - scores.max(-1, keepdims=True))
    return exponentials / exponentials.sum()


def heads_one_by_one(cut=lambda w, part: w[:, part], stack=lambda ws: np.stack(ws, -3), root=None):
    def multi_head(x, w_q, w_k, w_v, w_o, n_heads, mask=None):
        d_k = x.shape[-1] // n_heads
        outputs, weights = [], []
        for part in np.split(np.arange(x.shape[-1]), n_heads):
            query, key, value = (x @ cut(w, part) for w in (w_q, w_k, w_v))
            scale = np.sqrt(d_k) / root(n_heads, d_k) if root else 1
            head = scaled_dot_product_attention(query * scale, key, value, mask)
            outputs.append(head[0])
            weights.append(head[1])
        return np.concatenate(outputs, -1) @ w_o, stack(weights)

    return multi_head


def split_with_a_batch(x, n_heads):
    batch_size, seq_len, d_model = x.shape
    return x.reshape(batch_size, seq_len, n_heads, d_model // n_heads).transpose(0, 2, 1, 3)


def activated(function):
    return lambda x, w_1, b_1, w_2, b_2: function(x @ w_1 + b_1) @ w_2 + b_2


def norm(combine):
    def layer_norm(x, gain, bias):
        mean, variance = x.mean(-1, keepdims=True), x.var(-1, keepdims=True)
        return combine(x, mean, np.sqrt(variance + 1e-5), gain, bias)

    return layer_norm


def cosine_plus(number):
    def cosine(a, b):
        lengths = np.linalg.norm(a, axis=-1)[..., None] * np.linalg.norm(b, axis=-1)[..., None, :]
        return a @ b.mT / (lengths + number)

    return cosine


def embed_one_sentence(tokens, vocabulary, table):
    vectors = []
    for token in tokens:
        if token == "<pad>":
            vectors.append(np.zeros(table.shape[1]))
        else:
            places = np.where(vocabulary == token)[0]
            vectors.append(table[places[0] if len(places) else 1])
    return np.stack(vectors)


def users_first(ratings, known, users, films):
    error = np.where(known, users @ films.T - ratings, 0)
    by_users = error @ films
    users = users - 0.05 * by_users
    error = np.where(known, users @ films.T - ratings, 0)
    return by_users, error.T @ users
