"""Chapter 14, `delta_states`: a memory that corrects its values, and common mistakes."""

import numpy as np

from attn_course.exercises.spec import Exercise


def delta_states(key, value, beta):
    """Return the state of the delta rule after each token.

    Parameters
    ----------
    key : array, shape (seq_len, d_k)
    value : array, shape (seq_len, d_v)
    beta : array, shape (seq_len,)

    Returns
    -------
    array, shape (seq_len, d_k, d_v)

    References
    ----------
    Schlag et al. (2021), Linear Transformers Are Secretly Fast Weight Programmers, section 4.2.
    """
    return _states(lambda state, k, v, rate: state + rate * np.outer(k, v - k @ state))(
        key, value, beta
    )


def cases(seed):
    """Return few tokens and many, states that are square and not, keys of several lengths.

    Parameters
    ----------
    seed : int
        Seed of the random numbers; the shapes are always the same.

    Returns
    -------
    list of dict
        With the keys ``key``, ``value`` and ``beta``.
    """
    rng = np.random.default_rng(seed)

    def draw(seq_len, d_k, d_v):
        key = rng.normal(size=(seq_len, d_k))
        key *= rng.uniform(0.6, 1.1, (seq_len, 1)) / np.linalg.norm(key, axis=-1, keepdims=True)
        return {
            "key": key,
            "value": rng.normal(size=(seq_len, d_v)) + 0.5,
            "beta": rng.uniform(0.3, 0.9, seq_len),
        }

    return [
        draw(2, 2, 2),
        draw(4, 3, 2),
        draw(5, 2, 4),
        draw(3, 3, 3),
        draw(4, 4, 4),
        draw(7, 5, 3),
    ]


def _states(step):
    """Return a function that gives the state after each step, from zeros."""

    def states(key, value, beta):
        state, after = np.zeros((key.shape[1], value.shape[1])), []
        for k, v, rate in zip(key, value, beta, strict=True):
            state = step(state, k, v, rate)
            after.append(state)
        return np.array(after)

    return states


def _before(key, value, beta):
    states = delta_states(key, value, beta)
    return np.concatenate((np.zeros_like(states[:1]), states[:-1]))


def _against_an_empty_state(key, value, beta):
    written = beta[:, None, None] * key[:, :, None] * value[:, None, :]
    return written.cumsum(axis=0)


def _all_the_last(key, value, beta):
    return np.repeat(delta_states(key, value, beta)[-1:], len(key), axis=0)


def _all_betas(key, value, beta):
    return _states(lambda s, k, v, b: s + beta * np.outer(k, v - k @ s))(key, value, beta)


def _unit(key, value, beta):
    return delta_states(key / np.linalg.norm(key, axis=-1, keepdims=True), value, beta)


MISTAKES = {
    "nothing_asked": (
        _against_an_empty_state,
        _states(lambda s, k, v, b: s + np.outer(k, v)),
    ),
    "beta_forgotten": (_states(lambda s, k, v, b: s + np.outer(k, v - k @ s)),),
    "beta_on_the_value": (_states(lambda s, k, v, b: s + np.outer(k, b * v - k @ s)),),
    "beta_on_the_answer": (_states(lambda s, k, v, b: s + np.outer(k, v - b * (k @ s))),),
    "beta_twice": (_states(lambda s, k, v, b: s + b * np.outer(k, b * (v - k @ s))),),
    "all_of_it_fades": (
        _states(lambda s, k, v, b: (1 - b) * s + b * np.outer(k, v)),
        _states(lambda s, k, v, b: (1 - b) * s + np.outer(k, v)),
    ),
    "sign_of_the_error": (_states(lambda s, k, v, b: s + b * np.outer(k, k @ s - v)),),
    "answer_added": (_states(lambda s, k, v, b: s + b * np.outer(k, v + k @ s)),),
    "overwritten": (_states(lambda s, k, v, b: b * np.outer(k, v - k @ s)),),
    "before_each_token": (_before,),
    "values_by_keys": (
        lambda key, value, beta: delta_states(key, value, beta).swapaxes(1, 2).copy(),
    ),
    "all_the_last": (_all_the_last,),
    "all_betas": (_all_betas,),
    "dot_product": (_states(lambda s, k, v, b: s + b * (k @ (v - k @ s))),),
    "last_only": (lambda key, value, beta: delta_states(key, value, beta)[-1],),
    "keys_normalised": (_unit,),
    "read_out": (
        lambda key, value, beta: np.einsum("nk,nkv->nv", key, delta_states(key, value, beta)),
    ),
    "one_beta": (
        lambda key, value, beta: delta_states(key, value, np.full_like(beta, beta[0])),
        lambda key, value, beta: delta_states(key, value, np.full_like(beta, beta.mean())),
    ),
}

EXERCISE = Exercise.from_file(__file__, ("states",), delta_states, cases, MISTAKES)
