"""Problem set 11: the rule that its tasks share, and the inputs on which they are tried."""

import numpy as np


def use(key):
    """Return how much a key uses each of its components."""
    return key**2


def other_use(key):
    """Return another measure of use, with which `use` can be confused."""
    return np.abs(key)


def kept(key, beta):
    """Return the share of each row of the state that is kept at each token."""
    return 1 - beta[:, None] * use(key)


def unit(x):
    """Return vectors of length 1 in the direction of others."""
    return x / np.linalg.norm(x, axis=-1, keepdims=True)


def draw(rng, n, d_k, d_v, *, wiped=0):
    """Draw queries, keys, values and rates; `wiped` tokens write into one row and empty it."""
    # Components of both signs, none of them small, so that each way to forget shows.
    signs = rng.permuted(np.tile((-1.0) ** np.arange(d_k), (n, 1)), axis=1)
    key = unit(signs * (abs(unit(rng.normal(size=(n, d_k)))) + 0.3))
    beta = rng.uniform(0.3, 0.9, n)
    for token in rng.permutation(np.arange(1, n - 1))[:wiped]:
        key[token], beta[token] = np.eye(d_k)[rng.integers(d_k)], 1.0
    query, value = rng.normal(size=(n, d_k)), rng.normal(size=(n, d_v))
    return {"query": query, "key": key, "value": value, "beta": beta}
