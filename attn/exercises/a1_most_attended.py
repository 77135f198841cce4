"""Appendix A1, `most_attended`: a summary of each text, made of the tokens it attends to most."""

import numpy as np

from attn.exercises.spec import Exercise, Misconception


def most_attended(ids, weights, n_tokens):
    """Return the `n_tokens` ids of each text that receive most attention, in their order."""
    return np.take_along_axis(ids, _chosen(weights.sum(axis=1), n_tokens), axis=1)


def _chosen(received, n_tokens):
    """Return the positions of the largest numbers of each row, in increasing order."""
    return np.sort(np.argsort(-received, axis=1, kind="stable")[:, : int(n_tokens)], axis=1)


# Other scores of a token, which must not choose the same tokens by chance.
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
    """Return something else of the right positions."""
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


MISCONCEPTIONS = (
    Misconception(
        "all_from_the_first",
        (_of(lambda ids, chosen: ids[0][chosen]),),
        {
            "es": "Todos los resúmenes salen del primer texto: `ids[0, ...]` fija el lote. Con un solo "
            "texto no se nota. Toma de cada fila sus propias posiciones, con `np.take_along_axis`.",
            "en": "All summaries come from the first text: `ids[0, ...]` fixes the batch. With a single "
            "text it does not show. Take from each row its own positions, with `np.take_along_axis`.",
        },
    ),
    Misconception(
        "same_places_in_all",
        (_by(lambda w: np.broadcast_to(w.sum(axis=(0, 1)), w.shape[::2])),),
        {
            "es": "Sumas también sobre el lote, y eliges en todos los textos las mismas posiciones. "
            "Cada texto tiene sus pesos: suma solo sobre sus queries, `axis=1`.",
            "en": "You sum over the batch too, and choose the same positions in every text. Each text "
            "has its own weights: sum only over its queries, `axis=1`.",
        },
    ),
    Misconception(
        "given_not_received",
        (_by(OTHER_SCORES["given"]),),
        {
            "es": "Sumas cada fila, lo que un token *reparte*: siempre 1, así que eliges los primeros. "
            "Lo que un token *recibe* está en su columna: `weights.sum(axis=1)`.",
            "en": "You sum each row, what a token *gives out*: always 1, so you choose the first "
            "ones. What a token *receives* is in its column: `weights.sum(axis=1)`.",
        },
    ),
    Misconception(
        "least_attended",
        (_by(OTHER_SCORES["least"]),),
        {
            "es": "Son los tokens que *menos* atención reciben: `argsort` ordena de menor a mayor. "
            "Toma los últimos, o cambia el signo.",
            "en": "These are the tokens that receive *least* attention: `argsort` goes from smallest to "
            "largest. Take the last ones, or change the sign.",
        },
    ),
    Misconception(
        "by_weight",
        (_by_weight, lambda *case: _by_weight(*case)[:, ::-1]),
        {
            "es": "Los tokens son los buenos, pero van por orden de atención. El resumen conserva el "
            "orden del texto: ordena las posiciones antes de tomarlas.",
            "en": "The tokens are right, but they go in order of attention. The summary keeps the order "
            "of the text: sort the positions before you take them.",
        },
    ),
    Misconception(
        "sorted_ids",
        (_of(lambda ids, chosen: np.sort(np.take_along_axis(ids, chosen, axis=1), axis=1)),),
        {
            "es": "Ordenas los ids, y el texto sale en el orden del vocabulario. Lo que hay que ordenar "
            "son las posiciones.",
            "en": "You sort the ids, and the text comes out in the order of the vocabulary. What must be "
            "sorted is the positions.",
        },
    ),
    Misconception(
        "positions",
        (_of(lambda ids, chosen: chosen),),
        {
            "es": "Devuelves posiciones, no tokens. Falta el último paso: leer en `ids` lo que hay en "
            "ellas.",
            "en": "You return positions, not tokens. The last step is missing: read in `ids` what "
            "stands at them.",
        },
    ),
    Misconception(
        "one_query",
        (_by(OTHER_SCORES["first"]), _by(OTHER_SCORES["last"])),
        {
            "es": "Miras una sola fila: lo que atiende el primer token, o el último. Un token recibe "
            "atención de todas las queries de su texto, así que hay que sumar la columna entera.",
            "en": "You look at one row alone: what the first token attends to, or the last. A token "
            "receives attention from every query of its text, so the whole column must be added.",
        },
    ),
    Misconception(
        "itself",
        (_by(OTHER_SCORES["own"]),),
        {
            "es": "Tomas la diagonal, lo que cada token se atiende a sí mismo. Lo que recibe viene de "
            "toda su columna.",
            "en": "You take the diagonal, what each token attends to itself. What it receives comes from "
            "its whole column.",
        },
    ),
    Misconception(
        "others_only",
        (_by(OTHER_SCORES["others"]),),
        {
            "es": "Dejas fuera la diagonal. Lo que un token se atiende a sí mismo también cuenta aquí: "
            "suma la columna completa.",
            "en": "You leave the diagonal out. What a token attends to itself counts here too: sum "
            "the whole column.",
        },
    ),
    Misconception(
        "largest_not_total",
        (_by(OTHER_SCORES["largest"]),),
        {
            "es": "Eliges por el mayor peso que llega a cada token. Se pide lo que recibe en total, la "
            "suma de su columna: muchas queries que lo atienden un poco pueden más que una sola.",
            "en": "You choose by the largest weight that reaches each token. What it receives in all is "
            "asked for, the sum of its column: many queries that attend a little may outdo a single one.",
        },
    ),
    Misconception(
        "one_more_or_less",
        (_more(1), _more(-1)),
        {
            "es": "El número de tokens no es el pedido: sobra o falta uno. Son `n_tokens`, o todos si el "
            "texto tiene menos.",
            "en": "The number of tokens is not the one asked for: there is one too many or one too few. "
            "It is `n_tokens`, or all of them if the text has fewer.",
        },
    ),
    Misconception(
        "zeros_between",
        (_of(_in_place),),
        {
            "es": "Dejas los elegidos en su sitio y ceros en los demás. El resumen tiene `n_tokens` "
            "columnas, sin huecos.",
            "en": "You leave the chosen ones in place and zeros elsewhere. The summary has `n_tokens` "
            "columns, without gaps.",
        },
    ),
)

EXERCISE = Exercise("most_attended", "A1", ("summary",), most_attended, cases, MISCONCEPTIONS)
