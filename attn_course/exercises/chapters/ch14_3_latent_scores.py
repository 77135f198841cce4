"""Chapter 14, `latent_scores`: scores straight from the latent cache, and ways to miss them."""

import numpy as np

from attn.reference import softmax
from attn_course.exercises.spec import Exercise


def latent_scores(query, latent, w_k):
    """Return the scaled scores of each head, whose keys are ``latent @ w_k[h]``.

    Parameters
    ----------
    query : array, shape (n_heads, n_queries, d_k)
    latent : array, shape (n_tokens, d_latent)
    w_k : array, shape (n_heads, d_latent, d_k)

    Returns
    -------
    array, shape (n_heads, n_queries, n_tokens)

    References
    ----------
    DeepSeek-AI (2024), DeepSeek-V2, section 2.1.2.
    """
    return query @ w_k.mT @ latent.T / np.sqrt(query.shape[-1])


def cases(seed):
    """Return few heads and many, latents smaller and larger than keys, and of their size.

    Parameters
    ----------
    seed : int
        Seed of the random numbers; the shapes are always the same.

    Returns
    -------
    list of dict
        With the keys ``query``, ``latent`` and ``w_k``.
    """
    rng = np.random.default_rng(seed)

    def draw(n_heads, n, m, d_latent, d_k):
        return {
            "query": rng.normal(size=(n_heads, n, d_k)) + 0.3,
            "latent": rng.normal(size=(m, d_latent)) + 0.3,
            "w_k": rng.normal(size=(n_heads, d_latent, d_k)),
        }

    return [
        draw(2, 2, 3, 3, 4),
        draw(3, 3, 4, 2, 5),
        draw(1, 4, 2, 5, 3),
        draw(2, 3, 3, 3, 3),
        draw(4, 2, 5, 4, 2),
        draw(3, 1, 6, 4, 4),
    ]


def _changed(change):
    return lambda query, latent, w_k: change(latent_scores(query, latent, w_k))


def _scaled_by(divisor):
    def scores(query, latent, w_k):
        return query @ w_k.mT @ latent.T / divisor(query, latent, w_k)

    return scores


def _transposed(query, latent, w_k):
    return query @ w_k @ latent.T / np.sqrt(query.shape[-1])


def _without_matrix(query, latent, w_k):
    return query @ latent.T / np.sqrt(query.shape[-1])


MISTAKES = {
    "unscaled": (_scaled_by(lambda q, c, w: 1),),
    "scaled_by_d_k": (_scaled_by(lambda q, c, w: q.shape[-1]),),
    "scaled_by_d_latent": (
        _scaled_by(lambda q, c, w: np.sqrt(c.shape[-1])),
        _scaled_by(lambda q, c, w: c.shape[-1]),
    ),
    "scaled_by_heads": (
        _scaled_by(lambda q, c, w: np.sqrt(len(q))),
        _scaled_by(lambda q, c, w: np.sqrt(len(q) * q.shape[-1])),
    ),
    "multiplied_by_root": (_scaled_by(lambda q, c, w: 1 / np.sqrt(q.shape[-1])),),
    "softmax_applied": (_changed(lambda scores: softmax(scores)),),
    "keys_by_queries": (_changed(lambda scores: scores.mT.copy()),),
    "heads_merged": (
        _changed(lambda scores: scores.sum(axis=0)),
        _changed(lambda scores: scores.mean(axis=0)),
    ),
    "first_matrix": (
        lambda query, latent, w_k: latent_scores(query, latent, np.repeat(w_k[:1], len(w_k), 0)),
        lambda query, latent, w_k: latent_scores(
            query, latent, np.repeat(w_k.mean(axis=0, keepdims=True), len(w_k), 0)
        ),
    ),
    "matrix_transposed": (_transposed,),
    "matrix_left_out": (_without_matrix,),
    "heads_in_the_middle": (_changed(lambda scores: scores.swapaxes(0, 1).copy()),),
    "heads_last": (_changed(lambda scores: np.moveaxis(scores, 0, -1).copy()),),
    "keys_returned": (lambda query, latent, w_k: latent @ w_k,),
    "absorbed_only": (
        lambda query, latent, w_k: query @ w_k.mT,
        lambda query, latent, w_k: query @ w_k.mT / np.sqrt(query.shape[-1]),
    ),
}

EXERCISE = Exercise.from_file(__file__, ("scores",), latent_scores, cases, MISTAKES)
