"""Problem set 5, `packed_mask`: several texts in one row, each blind to the others."""

import numpy as np

from attn.exercises.spec import Exercise, Misconception
from attn.reference import causal_mask


def packed_mask(ids, start_id):
    """Return who may attend to whom, and the place of each token in its own text."""
    return _packed()(ids, start_id)


def _texts(ids, start_id):
    """Number the texts of each row; what comes before the first start is text 0."""
    return (ids == start_id).cumsum(axis=-1)


def _places(starts):
    """Count from the last start at or before each token; a row starts a text too."""
    place = np.arange(starts.shape[-1])
    return place - np.maximum.accumulate(np.where(starts, place, 0), axis=-1)


def _packed(
    texts=_texts,
    order=lambda n: causal_mask(n),
    hidden=lambda real: real[:, :, None] & real[:, None, :],
    places=lambda ids, start_id: _places(ids == start_id) * (ids != 0),
    mask=lambda mask, ids, start_id: mask,
):
    """Return the function, or one with one of its ingredients exchanged for another."""

    def packed(ids, start_id):
        text = texts(ids, start_id)
        same = text[:, :, None] == text[:, None, :]
        allowed = order(ids.shape[-1]) & same & hidden(ids != 0)
        return mask(allowed, ids, start_id), places(ids, start_id)

    return packed


def cases(seed):
    """Return rows of several texts: whole, with padding at the end, and cut at the beginning.

    Parameters
    ----------
    seed : int
        Seed of the random numbers; the shapes are always the same.

    Returns
    -------
    list of dict
        With the keys ``ids`` and ``start_id``, the second an array without axes.
    """
    rng = np.random.default_rng(seed)

    def draw(*rows):
        """Return rows from the lengths of their texts; 0 is a cut text before, -1 a pad."""
        start_id = rng.integers(1, 4)
        ids = [[token for text in row for token in _text(rng, start_id, *text)] for row in rows]
        return {"ids": np.array(ids), "start_id": np.array(start_id)}

    return [
        draw([(2,), (3,)]),
        draw([(3,), (1,), (2,)], [(2,), (4,)]),
        draw([(4,), (3,)], [(2,), (5,)], [(7,)]),
        draw([(2,), (2,), (2, "pad")]),
        draw([(3,), (2,), (3, "pad")], [(5,), (3,)], [(2,), (4,), (2, "pad")]),
        draw([(2, "cut"), (3,)]),
        draw([(3, "cut"), (2,), (2,)], [(1,), (6,)]),
        draw([(2, "cut"), (4,), (2, "pad")], [(4, "cut"), (2,), (2,)], [(3,), (4,), (1, "pad")]),
    ]


def _text(rng, start_id, length, kind="whole"):
    if kind == "pad":
        return [0] * length
    words = rng.integers(4, 20, length)
    return [start_id, *words[1:]] if kind == "whole" else words


def _shifted(ids, start_id):
    """Count a start with the text that it ends."""
    return _texts(ids, start_id) - (ids == start_id)


def _without_the_cut(mask, ids, start_id):
    inside = _texts(ids, start_id) > 0
    return mask & inside[:, None, :] & inside[:, :, None]


def _dropped(ids, start_id):
    mask, places = packed_mask(ids, start_id)
    return (
        _without_the_cut(mask, ids, start_id),
        places * (_texts(ids, start_id) > 0),
    )


def _joined(ids, start_id):
    starts = (ids == start_id) & (_texts(ids, start_id) > 1)
    places = _places(starts) * (ids != 0)
    mask, _ = _packed(lambda ids, start_id: np.maximum(_texts(ids, start_id), 1))(ids, start_id)
    return mask, places


def _from_the_position_before(ids, start_id):
    """Measure from the last start, taken to be at -1 where there is none."""
    place, starts = np.arange(ids.shape[-1]), ids == start_id
    last = np.maximum.accumulate(np.where(starts, place, -1), axis=-1)
    return (place - last) * (ids != 0)


MISCONCEPTIONS = (
    Misconception(
        "texts_ignored",
        (_packed(lambda ids, start_id: np.zeros(ids.shape)),),
        {
            "es": "Tu máscara es causal y nada más: cada texto lee los que van delante en la misma "
            "fila. Numera los textos y exige que los dos tokens tengan el mismo número.",
            "en": "Your mask is causal and no more: each text reads those before it in the same "
            "row. Number the texts and ask for the same number at both tokens.",
        },
    ),
    Misconception(
        "not_causal",
        (_packed(order=lambda n: np.ones((n, n), dtype=bool)),),
        {
            "es": "Dentro de un mismo texto dejas ver lo que viene después. A la condición de los "
            "textos le falta la del orden.",
            "en": "Within a text you let what comes later be seen. The condition on texts needs the "
            "one on order as well.",
        },
    ),
    Misconception(
        "not_itself",
        (_packed(order=lambda n: causal_mask(n) & ~np.eye(n, dtype=bool)),),
        {
            "es": "Ningún token se ve a sí mismo, y los que abren un texto se quedan sin nada. El "
            "orden es ≤, con la diagonal.",
            "en": "No token sees itself, and those that open a text are left with nothing. The "
            "order is ≤, diagonal included.",
        },
    ),
    Misconception(
        "positions_go_on",
        (
            _packed(places=lambda ids, start_id: np.arange(ids.shape[-1]) * (ids != 0)),
            _packed(places=lambda ids, start_id: np.arange(ids.shape[-1]) + 0 * ids),
        ),
        {
            "es": "La máscara es correcta, pero las posiciones no vuelven a 0 con cada texto. Cada "
            "uno debe recibir las que tendría si estuviera solo en la fila.",
            "en": "The mask is right, but positions do not go back to 0 with each text. Each one "
            "must get those it would have if it were alone in the row.",
        },
    ),
    Misconception(
        "positions_from_one",
        (_packed(places=lambda ids, s: (_places(ids == s) + 1) * (ids != 0)),),
        {
            "es": "Tus posiciones empiezan en 1. El token que abre un texto está en la 0.",
            "en": "Your positions start at 1. The token that opens a text is at 0.",
        },
    ),
    Misconception(
        "start_with_the_text_before",
        (_packed(_shifted),),
        {
            "es": "El token de inicio se queda con el texto que termina, y el suyo no lo ve. El "
            "número de texto sube *en* ese token, no después.",
            "en": "The start token stays with the text that ends, and its own does not see it. The "
            "number of the text goes up *at* that token, not after it.",
        },
    ),
    Misconception(
        "start_hidden",
        (_packed(mask=lambda mask, ids, start_id: mask & (ids != start_id)[:, None, :]),),
        {
            "es": "Escondes el token de inicio como si fuera relleno. Es el primer token de su "
            "texto y se puede atender a él.",
            "en": "You hide the start token as if it were padding. It is the first token of its "
            "text and may be attended to.",
        },
    ),
    Misconception(
        "padding_asks",
        (
            _packed(hidden=lambda real: real[:, None, :]),
            _packed(hidden=lambda real: np.ones((1, 1, 1), dtype=bool)),
            _packed(
                lambda ids, s: np.where(ids == 0, -1, _texts(ids, s)),
                hidden=lambda real: np.ones((1, 1, 1), dtype=bool),
            ),
        ),
        {
            "es": "El relleno atiende a algo. Aquí no es de ningún texto: sus filas, igual que sus "
            "columnas, son todas False.",
            "en": "The padding attends to something. Here it belongs to no text: its rows, like "
            "its columns, are all False.",
        },
    ),
    Misconception(
        "padding_has_positions",
        (_packed(places=lambda ids, start_id: _places(ids == start_id)),),
        {
            "es": "Sigues contando posiciones por el relleno. Ahí se pide un 0.",
            "en": "You go on counting positions through the padding. There a 0 is asked for.",
        },
    ),
    Misconception(
        "cut_text_dropped",
        (_dropped, _packed(mask=_without_the_cut)),
        {
            "es": "Lo que hay antes del primer inicio desaparece. Es el final de un texto que "
            "empezó en otra fila: sus tokens se ven entre sí como los de cualquiera.",
            "en": "What comes before the first start disappears. It is the end of a text that "
            "began in another row: its tokens see one another like those of any text.",
        },
    ),
    Misconception(
        "cut_text_joined",
        (_joined, _packed(lambda ids, s: np.maximum(_texts(ids, s), 1))),
        {
            "es": "Juntas el texto cortado con el primero que empieza. Son dos: el primer inicio "
            "de la fila también separa.",
            "en": "You join the cut text to the first one that starts. There are two: the first "
            "start of the row separates as well.",
        },
    ),
    Misconception(
        "cut_text_from_one",
        (_packed(places=_from_the_position_before),),
        {
            "es": "En el texto cortado cuentas desde un inicio imaginario antes de la fila, y su "
            "primer token sale en la 1. El que abre la fila está en la 0, sea inicio o no.",
            "en": "In the cut text you count from an imaginary start before the row, and its first "
            "token comes out at 1. The one that opens the row is at 0, start or not.",
        },
    ),
    Misconception(
        "marked_as_forbidden",
        (_packed(mask=lambda mask, ids, start_id: ~mask),),
        {
            "es": "Tu máscara está al revés: marca con True lo que separa. Aquí True significa "
            "que se puede atender.",
            "en": "Your mask is the wrong way round: it marks with True what is kept apart. Here "
            "True means that attention is allowed.",
        },
    ),
)

EXERCISE = Exercise(
    "packed_mask", 6, ("mask", "positions"), packed_mask, cases, MISCONCEPTIONS, problem_set="ps5"
)
