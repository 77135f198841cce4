"""Problem set 9, `decode_step`: one token more with shared keys and a cache, and how to get it wrong."""

import numpy as np

from attn.reference import softmax
from attn_course.exercises.spec import Exercise

from . import rotate_halves as rotary


def _turned(x, position, base):
    """Turn vectors, all of them at one position."""
    return rotary.rotate_halves(x[..., None, :], np.array([position]), base)[..., 0, :]


def _alone(x, position, base):
    return x


def decode_step(x, w_q, w_k, w_v, base, keys, values):
    """Return what the heads find for a new token, and the cache with it.

    Parameters
    ----------
    x : array, shape (d_model,)
    w_q : array, shape (n_heads, d_model, d_k)
    w_k, w_v : array, shape (n_kv_heads, d_model, d_k)
    base : float
    keys, values : array, shape (n_kv_heads, n, d_k)
        The keys turned already by their positions, 0 to n - 1.

    Returns
    -------
    output : array, shape (n_heads, d_k)
    keys, values : array, shape (n_kv_heads, n + 1, d_k)

    References
    ----------
    Ainslie et al. (2023), GQA: Training Generalized Multi-Query Transformer Models.
    """
    return _step(x, w_q, w_k, w_v, base, keys, values)


def _step(
    x,
    w_q,
    w_k,
    w_v,
    base,
    keys,
    values,
    *,
    query=_turned,
    key=_turned,
    value=_alone,
    place=0,
    seen=lambda keys, base: keys,
    spread=lambda a, group: np.repeat(a, group, axis=0),
    weigh=softmax,
    scale=lambda d_model, d_k, n: d_k**-0.5,
    itself=True,
    join=None,
):
    """Take one step, with the given parts replaced."""
    n, (n_heads, d_model, d_k) = keys.shape[1] + place, w_q.shape
    join = join or (lambda cache, new: np.concatenate([cache, new[:, None]], axis=1))
    q = query(x @ w_q, n, base)
    keys = join(keys, key(x @ w_k, n, base))
    values = join(values, value(x @ w_v, n, base))
    used = keys if itself else keys[:, :-1], values if itself else values[:, :-1]
    k, v = (spread(part, n_heads // len(part)) for part in (seen(used[0], base), used[1]))
    scores = (k @ q[..., None])[..., 0] * scale(d_model, d_k, n)
    return (weigh(scores)[:, None] @ v)[:, 0], keys, values


def cases(seed):
    """Return steps with as many keys as queries, with shared keys, without a cache, of large numbers.

    Parameters
    ----------
    seed : int
        Seed of the random numbers, and of the sizes of some inputs.

    Returns
    -------
    list of dict
        With the keys ``x``, ``w_q``, ``w_k``, ``w_v``, ``base``, ``keys`` and ``values``.
    """
    rng = np.random.default_rng(seed)

    def draw(n_heads, n_kv_heads, n, d_model, d_k, size=1.0):
        shapes = {"w_q": (n_heads, d_model, d_k), "w_k": (n_kv_heads, d_model, d_k)}
        case = {"x": size * rng.normal(size=d_model)}
        case |= {name: rng.normal(size=shape) for name, shape in shapes.items()}
        case |= {"w_v": rng.normal(size=shapes["w_k"]), "base": np.float64(rng.uniform(30, 300))}
        cache = (n_kv_heads, n, d_k)
        return case | {"keys": rng.normal(size=cache), "values": rng.normal(size=cache)}

    return [
        draw(2, 2, 3, 3, 4),
        draw(3, 3, 4, 3, 4),
        draw(1, 1, 5, 5, 6),
        draw(4, 2, 3, 4, 4),
        draw(4, 2, 5, 3, 6),
        draw(6, 3, 2, 2, 4),
        draw(3, 1, 4, 4, 4),
        draw(2, 2, 0, 4, 4),
        draw(3, 3, 0, 5, 4),
        draw(2, 2, 4, 3, 4, size=3000.0),
        draw(5, 5, 3, 3, 4, size=3000.0),
        draw(*[rng.integers(2, 5)] * 2, *rng.integers(2, 6, 2), 2 * rng.integers(2, 4)),
    ]


def _wrong(**how):
    return lambda *arguments: _step(*arguments, **how)


def _old_cache(x, w_q, w_k, w_v, base, keys, values):
    return decode_step(x, w_q, w_k, w_v, base, keys, values)[0], keys, values


def _in_front(cache, new):
    return np.concatenate([new[:, None], cache], axis=1)


def _neighbours(x, position, base):
    angles = position * base ** (-np.arange(0, x.shape[-1], 2) / x.shape[-1])
    even, odd, cos, sin = x[..., 0::2], x[..., 1::2], np.cos(angles), np.sin(angles)
    return np.stack([even * cos - odd * sin, odd * cos + even * sin], axis=-1).reshape(x.shape)


def _again(keys, base):
    return rotary.rotate_halves(keys, np.arange(keys.shape[1]), base)


def _unstable(scores):
    exponentials = np.exp(scores)
    return exponentials / exponentials.sum(axis=-1, keepdims=True)


def _unnormalised(scores):
    return np.exp(scores - scores.max(axis=-1, keepdims=True))


MISTAKES = {
    "query_not_turned": (_wrong(query=_alone),),
    "key_not_turned": (_wrong(key=_alone),),
    "nothing_turned": (_wrong(query=_alone, key=_alone),),
    "position_off_by_one": (_wrong(place=-1), _wrong(place=1)),
    "cache_turned_again": (_wrong(seen=_again),),
    "value_turned": (_wrong(value=_turned),),
    "pairs_of_neighbours": (_wrong(query=_neighbours, key=_neighbours),),
    "not_itself": (_wrong(itself=False),),
    "old_cache_returned": (_old_cache,),
    "in_front": (_wrong(join=_in_front),),
    "groups_interleaved": (_wrong(spread=lambda a, group: np.tile(a, (group, 1, 1))),),
    "first_group_for_all": (_wrong(spread=lambda a, group: np.repeat(a[:1], group * len(a), 0)),),
    "query_and_key_swapped": (
        lambda x, w_q, w_k, w_v, *rest: decode_step(x, w_k, w_q, w_v, *rest),
    ),
    "unscaled": (_wrong(scale=lambda d_model, d_k, n: 1.0),),
    "scaled_by_another": (
        _wrong(scale=lambda d_model, d_k, n: d_model**-0.5),
        _wrong(scale=lambda d_model, d_k, n: 1 / d_k),
    ),
    "over_the_heads": (_wrong(weigh=lambda scores: softmax(scores, axis=0)),),
    "not_normalised": (_wrong(weigh=_unnormalised),),
    "overflow": (_wrong(weigh=_unstable),),
}

EXERCISE = Exercise.from_file(__file__, ("output", "keys", "values"), decode_step, cases, MISTAKES)
