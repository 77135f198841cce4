"""Problem set 8, `cached_step`: one word more with a cache, and the ways to get it wrong."""

import numpy as np

from attn.reference import scaled_dot_product_attention, softmax
from attn_course.exercises.spec import Exercise


def cached_step(x, w_q, w_k, w_v, keys, values, lengths):
    """Return the output of one new token per sentence, and both caches with it written in."""
    return _step(x, w_q, w_k, w_v, keys, values, lengths)


def cases(seed):
    """Return caches: equally full, unequally full, empty, and of large numbers.

    Parameters
    ----------
    seed : int
        Seed of the random numbers, and of the sizes of some inputs.

    Returns
    -------
    list of dict
        With the keys ``x``, ``w_q``, ``w_k``, ``w_v``, ``keys``, ``values`` and ``lengths``.
    """
    rng = np.random.default_rng(seed)

    def draw(d_model, d_k, d_v, capacity, lengths, size=1):
        batch_size = len(lengths)
        sizes = {"w_q": d_k, "w_k": d_k, "w_v": d_v}
        case = {"x": rng.normal(size=(batch_size, d_model))}
        case |= {name: rng.normal(size=(d_model, d)) / 2 for name, d in sizes.items()}
        # Places not yet in use hold what an earlier sentence left there.
        case["keys"] = rng.normal(size=(batch_size, capacity, d_k))
        case["values"] = rng.normal(size=(batch_size, capacity, d_v))
        case["x"] *= size
        return case | {"lengths": np.array(lengths)}

    def far_below(d_model, d_k, d_v, capacity, lengths):
        """Let all scores of the first sentence be less than many a number that stands for -inf."""
        while True:
            case = draw(d_model, d_k, d_v, capacity, lengths, size=9000)
            query, new = (case["x"][0] @ case[name] for name in ("w_q", "w_k"))
            if query @ new < 0:
                scores = rng.uniform(-7001, -6999, (lengths[0], 1))
                case["keys"][0, : lengths[0]] = scores * np.sqrt(d_k) * query / (query @ query)
                return case

    return [
        draw(3, 2, 4, 5, [2]),
        draw(4, 3, 2, 6, [3, 3]),
        draw(5, 2, 3, 7, [1, 1]),
        draw(4, 3, 2, 5, [2, 4]),
        draw(3, 4, 2, 6, [5, 1, 3]),
        draw(5, 3, 4, 7, [2, 3, 6, 1]),
        draw(4, 2, 3, 5, [0]),
        draw(3, 4, 2, 6, [2, 0, 4]),
        draw(4, 3, 2, 5, [2, 4], size=9000),
        far_below(3, 2, 4, 6, [3, 2, 1]),
        draw(*rng.integers((2, 2, 2, 8), (6, 6, 6, 11)), [rng.integers(2, 8)] * 2),
    ]


def _attend(query, keys, values, allowed):
    return scaled_dot_product_attention(query[:, None], keys, values, allowed[:, None])[0][:, 0]


def _step(
    x,
    w_q,
    w_k,
    w_v,
    keys,
    values,
    lengths,
    *,
    seen=1,
    place=0,
    attend=_attend,
    halves="kv",
    late=False,
    everything=False,
):
    """Take one step, with the given parts replaced."""
    rows, capacity = np.arange(len(x)), keys.shape[1]
    before = keys, values
    keys, values = keys.copy(), values.copy()
    if "k" in halves:
        keys[rows, lengths + place] = x @ w_k
    if "v" in halves:
        values[rows, lengths + place] = x @ w_v
    allowed = np.arange(capacity) < (lengths + seen)[:, None]
    used = before if late else (keys, values)
    output = attend(x @ w_q, *used, allowed | everything)
    return output, keys, values


def _wrong(**how):
    return lambda *arguments: _step(*arguments, **how)


def _returns_old(x, w_q, w_k, w_v, keys, values, lengths):
    return cached_step(x, w_q, w_k, w_v, keys, values, lengths)[0], keys, values


def _without_new(x, w_q, w_k, w_v, keys, values, lengths):
    return _step(x, w_q, w_k, w_v, keys, values, lengths, seen=0)[0], keys, values


def _same_place(which):
    def wrong(x, w_q, w_k, w_v, keys, values, lengths):
        keys, values, place = keys.copy(), values.copy(), which(lengths)
        keys[:, place], values[:, place] = x @ w_k, x @ w_v
        allowed = np.arange(keys.shape[1]) <= lengths[:, None]
        return _attend(x @ w_q, keys, values, allowed), keys, values

    return wrong


def _every_place(x, w_q, w_k, w_v, keys, values, lengths):
    keys, values = keys.copy(), values.copy()
    keys[:, lengths], values[:, lengths] = (x @ w_k)[:, None], (x @ w_v)[:, None]
    allowed = np.arange(keys.shape[1]) <= lengths[:, None]
    return _attend(x @ w_q, keys, values, allowed), keys, values


def _cut(x, w_q, w_k, w_v, keys, values, lengths):
    output, keys, values = cached_step(x, w_q, w_k, w_v, keys, values, lengths)
    n = lengths.max() + 1
    return output, keys[:, :n], values[:, :n]


def _concatenated(x, w_q, w_k, w_v, keys, values, lengths):
    output = cached_step(x, w_q, w_k, w_v, keys, values, lengths)[0]
    new = ((x @ w)[:, None] for w in (w_k, w_v))
    return output, *(np.concatenate(pair, axis=1) for pair in zip((keys, values), new, strict=True))


def _first_length(x, w_q, w_k, w_v, keys, values, lengths):
    same = np.full_like(lengths, lengths[0])
    return cached_step(x, w_q, w_k, w_v, keys, values, same)


def _weighing(weigh, scale=None):
    """Return an attention over the allowed places with another softmax or scale."""

    def attend(query, keys, values, allowed):
        size = query.shape[-1] ** -0.5 if scale is None else scale(query, allowed)
        scores = (keys @ query[..., None])[..., 0] * size
        weights = weigh(np.where(allowed, scores, -np.inf))
        return (weights[:, None] @ values)[:, 0]

    return attend


def _unstable(scores):
    exponentials = np.exp(scores)
    return exponentials / exponentials.sum(axis=-1, keepdims=True)


def _one_peak(scores):
    exponentials = np.exp(scores - scores.max())
    return exponentials / exponentials.sum(axis=-1, keepdims=True)


def _zero_fill(query, keys, values, allowed):
    scores = (keys @ query[..., None])[..., 0] * query.shape[-1] ** -0.5
    return (softmax(np.where(allowed, scores, 0))[:, None] @ values)[:, 0]


MISTAKES = {
    "not_appended": (_without_new, _returns_old),
    "written_too_late": (_wrong(seen=0), _wrong(late=True)),
    "attends_to_leftovers": (_wrong(everything=True),),
    "one_place_too_many": (_wrong(seen=2),),
    "overwrites_the_last": (_wrong(place=-1),),
    "written_further_on": (
        _wrong(place=1, seen=2, attend=_attend),
        _same_place(lambda lengths: -1),
    ),
    "same_place_for_all": (
        _same_place(lambda lengths: lengths[0]),
        _same_place(lambda lengths: lengths.max()),
        _first_length,
    ),
    "every_place": (_every_place,),
    "concatenated": (_concatenated, _cut),
    "half_written": (_wrong(halves="k"), _wrong(halves="v")),
    "query_and_key_swapped": (lambda x, w_q, w_k, w_v, *cache: _step(x, w_k, w_q, w_v, *cache),),
    "unscaled": (
        _wrong(attend=_weighing(softmax, lambda query, allowed: 1)),
        _wrong(attend=_weighing(softmax, lambda query, allowed: 1 / query.shape[-1])),
        _wrong(attend=_weighing(softmax, lambda query, allowed: allowed.shape[-1] ** -0.5)),
    ),
    "zero_instead_of_infinity": (_wrong(attend=_zero_fill),),
    "overflow": (_wrong(attend=_weighing(_unstable)), _wrong(attend=_weighing(_one_peak))),
}

EXERCISE = Exercise.from_file(__file__, ("output", "keys", "values"), cached_step, cases, MISTAKES)
