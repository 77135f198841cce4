"""Appendix A1, `most_attended`: a summary of each text, made of the tokens it attends to most."""

import numpy as np

from attn_course.exercises.spec import Exercise


def most_attended(ids, weights, n_tokens):
    """Return the `n_tokens` ids of each text that receive most attention, in their order."""
    return np.take_along_axis(ids, _chosen(weights.sum(axis=1), n_tokens), axis=1)


def _chosen(received, n_tokens):
    """Return the positions of the largest numbers of each row, in increasing order."""
    return np.sort(np.argsort(-received, axis=1, kind="stable")[:, : int(n_tokens)], axis=1)


# Wrong scores of a token; the inputs are drawn so that these choose other tokens.
OTHER_SCORES = {
    "given": lambda w: w.sum(axis=2),
    "least": lambda w: -w.sum(axis=1),
    "first": lambda w: w[:, 0],
    "last": lambda w: w[:, -1],
    "own": lambda w: np.einsum("bii->bi", w),
    "others": lambda w: w.sum(axis=1) - np.einsum("bii->bi", w),
    "largest": lambda w: w.max(axis=1),
}


def cases(seed):
    """Return texts and their attention weights, each row of which sums to 1.

    Parameters
    ----------
    seed : int
        Seed of the random numbers; the shapes are always the same.

    Returns
    -------
    list of dict
        With the keys ``ids``, of shape (batch_size, seq_len), ``weights``, of shape (batch_size,
        seq_len, seq_len) with a row for each query, and ``n_tokens``. No token receives exactly
        as much as another of its text, and most ids come more than once.
    """
    rng = np.random.default_rng(seed)

    def weigh(seq_len, n_tokens):
        while True:
            # In 64ths, so that sums are exact whatever the order of the terms.
            shares = rng.dirichlet(np.full(seq_len, 0.6), seq_len)
            weights = np.stack([rng.multinomial(64, row) for row in shares])[None] / 64
            received = weights.sum(axis=1)
            other = [_chosen(score(weights), n_tokens).tolist() for score in OTHER_SCORES.values()]
            distinct = len(set(received[0])) == seq_len
            if distinct and (
                n_tokens >= seq_len or _chosen(received, n_tokens).tolist() not in other
            ):
                return weights[0]

    def texts(batch_size, seq_len, n_tokens):
        ids = np.stack([rng.permutation(seq_len) // 2 + 3 for _ in range(batch_size)])
        weights = np.stack([weigh(seq_len, n_tokens) for _ in range(batch_size)])
        return {
            "ids": ids + 20 * np.arange(batch_size)[:, None],
            "weights": weights,
            "n_tokens": np.array(n_tokens),
        }

    return [
        texts(1, 4, 2),
        texts(2, 5, 2),
        texts(3, 6, 3),
        texts(2, 4, 7),
        texts(4, 8, 4),
        texts(2, 9, 1),
    ]


def _by(score):
    """Return the summary made with other scores, computed from the weights."""

    def wrong(ids, weights, n_tokens):
        return np.take_along_axis(ids, _chosen(score(weights), n_tokens), axis=1)

    return wrong


def _of(select):
    """Return another result computed from the right positions."""
    return lambda ids, weights, n_tokens: select(ids, _chosen(weights.sum(axis=1), n_tokens))


def _more(extra):
    return lambda ids, weights, n_tokens: most_attended(ids, weights, max(n_tokens + extra, 0))


def _by_weight(ids, weights, n_tokens):
    order = np.argsort(-weights.sum(axis=1), axis=1)[:, : int(n_tokens)]
    return np.take_along_axis(ids, order, axis=1)


def _in_place(ids, chosen):
    kept = np.zeros_like(ids)
    np.put_along_axis(kept, chosen, np.take_along_axis(ids, chosen, axis=1), axis=1)
    return kept


MISTAKES = {
    "all_from_the_first": (_of(lambda ids, chosen: ids[0][chosen]),),
    "every_text_for_each": (_of(lambda ids, chosen: ids[:, chosen]),),
    "same_places_in_all": (_by(lambda w: np.broadcast_to(w.sum(axis=(0, 1)), w.shape[::2])),),
    "given_not_received": (_by(OTHER_SCORES["given"]),),
    "least_attended": (_by(OTHER_SCORES["least"]),),
    "by_weight": (_by_weight, lambda *case: _by_weight(*case)[:, ::-1]),
    "sorted_ids": (
        _of(lambda ids, chosen: np.sort(np.take_along_axis(ids, chosen, axis=1), axis=1)),
    ),
    "positions": (_of(lambda ids, chosen: chosen),),
    "one_query": (_by(OTHER_SCORES["first"]), _by(OTHER_SCORES["last"])),
    "itself": (_by(OTHER_SCORES["own"]),),
    "others_only": (_by(OTHER_SCORES["others"]),),
    "largest_not_total": (_by(OTHER_SCORES["largest"]),),
    "one_more_or_less": (_more(1), _more(-1)),
    "zeros_between": (_of(_in_place),),
}

EXERCISE = Exercise.from_file(__file__, ("summary",), most_attended, cases, MISTAKES)
