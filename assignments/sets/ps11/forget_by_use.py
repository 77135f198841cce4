"""Problem set 11, `forget_by_use`: the rule token by token, and the ways to get it wrong."""

import numpy as np

from attn_course.exercises.spec import Exercise

from .rule import draw, other_use, use


def forget_by_use(query, key, value, beta, state):
    """Return what a memory answers whose rows forget as much as a key uses them.

    Parameters
    ----------
    query, key : array, shape (n, d_k)
    value : array, shape (n, d_v)
    beta : array, shape (n,)
        How strongly each token writes, and forgets.
    state : array, shape (d_k, d_v)
        What an earlier text left behind.

    Returns
    -------
    output : array, shape (n, d_v)
    state : array, shape (d_k, d_v)

    References
    ----------
    Yang et al. (2024), Gated Linear Attention Transformers with Hardware-Efficient Training, Eq. 3:
    here the gate is computed from the key and the rate. It is the diagonal of the delta rule.
    """
    return _scan(query, key, value, beta, state)


def _step(state, q, k, v, b):
    return (1 - b * use(k))[:, None] * state + b * np.outer(k, v)


def _delta(state, q, k, v, b):
    return state + b * np.outer(k, v - k @ state)


def _keeping(keep):
    """Return the step that keeps other parts of the rows."""
    return lambda state, q, k, v, b: keep(q, k, b) * state + b * np.outer(k, v)


def _scan(query, key, value, beta, state, *, step=_step, early=False, size=1.0):
    """Read the state after each step, or before it."""
    outputs = []
    for q, k, v, b in zip(query, key, value, beta, strict=True):
        after = step(state, q, k, v, b)
        outputs.append(q @ (state if early else after) / size)
        state = after
    return np.array(outputs), state


def cases(seed):
    """Return texts that begin empty, that go on from a state, and that wipe a row of it.

    Parameters
    ----------
    seed : int
        Seed of the random numbers, and of the sizes of some inputs.

    Returns
    -------
    list of dict
        With the keys ``query``, ``key``, ``value``, ``beta`` and ``state``.
    """
    rng = np.random.default_rng(seed)

    def case(n, d_k, d_v, *, kept=False, wiped=0):
        state = rng.normal(size=(d_k, d_v)) if kept else np.zeros((d_k, d_v))
        return draw(rng, n, d_k, d_v, wiped=wiped) | {"state": state}

    return [
        case(2, 2, 1),
        case(3, 2, 3),
        case(4, 3, 2),
        case(*rng.integers((4, 3, 2), (8, 6, 5))),
        case(2, 2, 3, kept=True),
        case(4, 4, 2, kept=True),
        case(4, 2, 3, wiped=1),
        case(6, 3, 2, wiped=2),
    ]


def _wrong(**how):
    return lambda *arguments: _scan(*arguments, **how)


MISTAKES = {
    "nothing_forgotten": (_wrong(step=_keeping(lambda q, k, b: 1)),),
    "delta_rule": (_wrong(step=_delta),),
    "one_decay_for_all_rows": (
        _wrong(step=_keeping(lambda q, k, b: 1 - b * use(k).sum())),
        _wrong(step=_keeping(lambda q, k, b: 1 - b * use(k).mean())),
        _wrong(step=_keeping(lambda q, k, b: 1 - b)),
    ),
    "other_measure_of_use": (
        _wrong(step=_keeping(lambda q, k, b: (1 - b * other_use(k))[:, None])),
    ),
    "plain_key": (_wrong(step=_keeping(lambda q, k, b: (1 - b * k)[:, None])),),
    "use_of_the_query": (_wrong(step=_keeping(lambda q, k, b: (1 - b * use(q))[:, None])),),
    "keeps_what_is_used": (_wrong(step=_keeping(lambda q, k, b: (b * use(k))[:, None])),),
    "rate_missing_in_the_decay": (_wrong(step=_keeping(lambda q, k, b: (1 - use(k))[:, None])),),
    "rate_missing_in_the_write": (
        _wrong(step=lambda state, q, k, v, b: (1 - b * use(k))[:, None] * state + np.outer(k, v)),
    ),
    "decays_what_it_writes": (
        _wrong(
            step=lambda state, q, k, v, b: (1 - b * use(k))[:, None] * (state + b * np.outer(k, v))
        ),
    ),
    "state_replaced": (_wrong(step=lambda state, q, k, v, b: b * np.outer(k, v)),),
    "read_too_early": (_wrong(early=True),),
    "scaled": (lambda query, *rest: _scan(query, *rest, size=np.sqrt(query.shape[1])),),
    "state_not_given": (
        lambda query, key, value, beta, state: _scan(query, key, value, beta, 0 * state),
    ),
    "state_of_the_beginning": (lambda *arguments: (forget_by_use(*arguments)[0], arguments[-1]),),
    "exchanged": (lambda *arguments: forget_by_use(*arguments)[::-1],),
}

EXERCISE = Exercise.from_file(__file__, ("output", "state"), forget_by_use, cases, MISTAKES)
