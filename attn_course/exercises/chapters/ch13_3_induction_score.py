"""Chapter 13, `induction_score`: attention to the token that followed last time, and mistakes."""

import numpy as np

from attn_course.exercises.spec import Exercise


def induction_score(weights, period):
    """Return the mean weight of each head on the token that followed the query's token last time.

    Parameters
    ----------
    weights : array, shape (..., seq_len, seq_len)
        Weights of heads on a text whose first `period` tokens come again and again; rows are queries.
    period : int
        Less than seq_len.

    Returns
    -------
    array, shape (...)
        The mean, over the queries from `period` on, of the weight on the key one place after the
        token's last occurrence.

    References
    ----------
    Olsson et al. (2022), In-context Learning and Induction Heads, on prefix matching.
    """
    queries = np.arange(period, weights.shape[-1])
    return weights[..., queries, queries - period + 1].mean(axis=-1)


def cases(seed):
    """Return causal weights of one head and of several, of texts with two copies, more copies, or
    an incomplete last copy.

    Parameters
    ----------
    seed : int
        Seed of the random numbers; the shapes are always the same.

    Returns
    -------
    list of dict
        With the keys ``weights`` and ``period``.
    """
    rng = np.random.default_rng(seed)

    def draw(*heads, seq_len, period):
        weights = np.tril(rng.uniform(0.05, 1, (*heads, seq_len, seq_len)) ** 3)
        return {
            "weights": weights / weights.sum(axis=-1, keepdims=True),
            "period": np.array(period),
        }

    return [
        draw(seq_len=8, period=4),
        draw(3, seq_len=10, period=5),
        draw(4, seq_len=12, period=4),
        draw(2, 3, seq_len=9, period=6),
        draw(2, 2, 2, seq_len=11, period=3),
    ]


def _at(offset, first=None):
    def score(weights, period):
        queries = np.arange(period if first is None else first(period), weights.shape[-1])
        return weights[..., queries, queries - offset(period)].mean(axis=-1)

    return score


def _sum(weights, period):
    return induction_score(weights, period) * (weights.shape[-1] - period)


def _over_all_queries(weights, period):
    return _sum(weights, period) / weights.shape[-1]


def _mean_of_heads(weights, period):
    score = induction_score(weights, period)
    return np.broadcast_to(score.mean(), score.shape)


def _highest(weights, period):
    queries = np.arange(period, weights.shape[-1])
    return (weights[..., queries, :].argmax(axis=-1) == queries - period + 1).mean(axis=-1)


def _last_query(weights, period):
    return weights[..., -1, weights.shape[-1] - period]


def _second_copy_alone(weights, period):
    queries = np.arange(period, min(2 * period, weights.shape[-1]))
    return weights[..., queries, queries - period + 1].mean(axis=-1)


def _first_copy(weights, period):
    queries = np.arange(period, weights.shape[-1])
    return weights[..., queries, queries % period + 1].mean(axis=-1)


def _all_copies(weights, period):
    places = _places_of_all_copies(weights, period)
    return sum(weights[..., i, j] for i, j in places) / (weights.shape[-1] - period)


def _mean_of_all_copies(weights, period):
    places = _places_of_all_copies(weights, period)
    return sum(weights[..., i, j] for i, j in places) / len(places)


def _all_keys_of_the_next_token(weights, period):
    return _on_the_next_token(weights, period)[0].sum(axis=-1).mean(axis=-1)


def _mean_key_of_the_next_token(weights, period):
    hits, are_next = _on_the_next_token(weights, period)
    return (hits.sum(axis=-1) / are_next.sum(axis=-1)).mean(axis=-1)


def _on_the_next_token(weights, period):
    # Key 0 counts as well where it holds the next token, although no occurrence of the query's
    # token precedes it; `_places_of_all_copies` leaves it out.
    queries, keys = np.arange(period, weights.shape[-1])[:, None], np.arange(weights.shape[-1])
    are_next = ((queries + 1 - keys) % period == 0) & (keys < queries)
    return weights[..., int(period) :, :] * are_next, are_next


def _places_of_all_copies(weights, period):
    period = int(period)
    queries = range(period, weights.shape[-1])
    return [(i, j) for i in queries for j in range(i - period + 1, 0, -period)]


def _within_the_copy(weights, period):
    queries = np.arange(period, weights.shape[-1])
    keys = (queries // period - 1) * period + (queries + 1) % period
    return weights[..., queries, keys].mean(axis=-1)


def _last_copy_alone(weights, period):
    n = weights.shape[-1]
    queries = np.arange(n - period, n)
    return weights[..., queries, queries - period + 1].mean(axis=-1)


def _among(take):
    def score(weights, period):
        queries = np.arange(period, weights.shape[-1])
        return take(weights[..., queries, queries - period + 1])

    return score


def _half(weights, period):
    return induction_score(weights, weights.shape[-1] // 2)


def _with_zeros(weights, period):
    return (weights * np.eye(weights.shape[-1], k=1 - period)).mean(axis=(-2, -1))


def _block(weights, period):
    return weights[..., period:, :-period].mean(axis=(-2, -1))


def _block_after(weights, period):
    n_repeated = weights.shape[-1] - period
    return weights[..., period:, 1 : n_repeated + 1].mean(axis=(-2, -1))


def _token_and_next(weights, period):
    same_token = MISTAKES["same_token"][0]
    return same_token(weights, period) + induction_score(weights, period)


MISTAKES = {
    "same_token": (_at(lambda period: period),),
    "before_it": (
        _at(lambda period: period + 1, lambda period: period + 1),
        _at(lambda period: period + 1),
    ),
    "token_and_next": (_token_and_next,),
    "previous_token": (_at(lambda period: 1),),
    "itself": (_at(lambda period: 0),),
    "too_early": (_at(lambda period: period - 1, lambda period: period - 1),),
    "too_late": (_at(lambda period: period - 1, lambda period: period + 1),),
    "without_the_last": (_among(lambda hits: hits[..., :-1].mean(axis=-1)),),
    "transposed": (lambda weights, period: induction_score(np.swapaxes(weights, -1, -2), period),),
    "summed": (_sum,),
    "over_all_queries": (_over_all_queries,),
    "mean_of_heads": (_mean_of_heads,),
    "highest_only": (_highest,),
    "last_query": (_last_query,),
    "second_copy_alone": (_second_copy_alone,),
    "last_copy": (_last_copy_alone,),
    "half_of_the_text": (_half,),
    "first_copy": (_first_copy,),
    "all_copies": (
        _all_copies,
        _mean_of_all_copies,
        _all_keys_of_the_next_token,
        _mean_key_of_the_next_token,
    ),
    "within_the_copy": (_within_the_copy,),
    "largest": (_among(lambda hits: hits.max(axis=-1)),),
    "with_zeros": (_with_zeros,),
    "block": (_block, _block_after),
}

EXERCISE = Exercise.from_file(__file__, ("output",), induction_score, cases, MISTAKES)
