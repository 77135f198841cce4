"""Problem set 5, `prefix_mask`: a question read whole, and an answer written word by word."""

import numpy as np

from attn.exercises.spec import Exercise, Misconception
from attn.reference import causal_mask


def prefix_mask(real, prefix):
    """Let everybody see the question, and the rest only from where it is written on."""
    return _rule()(real, prefix)


def _question(real, prefix):
    """Return which tokens are of the question: the first `prefix` real ones of each row."""
    return real & (real.cumsum(axis=-1) <= prefix[:, None])


def _rule(
    question=_question,
    allowed=lambda order, question: order | question[:, None, :],
    keys=lambda real: real[:, None, :],
):
    """Return the function, or one with one of its ingredients exchanged for another."""

    def mask(real, prefix):
        order = causal_mask(real.shape[-1])
        return allowed(order, question(real, prefix)) & keys(real)

    return mask


def cases(seed):
    """Return rows without padding, with it at the end, and with it in front.

    Parameters
    ----------
    seed : int
        Seed of the random numbers; the shapes are always the same.

    Returns
    -------
    list of dict
        With the keys ``real``, boolean, and ``prefix``.
    """
    rng = np.random.default_rng(seed)

    def draw(seq_len, lengths, left=()):
        """Return rows of so many real tokens; those named in `left` have their pads in front."""
        real = np.arange(seq_len) < np.array(lengths)[:, None]
        for row in left:
            real[row] = real[row, ::-1]
        # At least two of the question and two of the answer; those of neighbours differ.
        prefix = [2 + (b + rng.integers(2)) % max(1, n - 3) for b, n in enumerate(lengths)]
        prefix[0] = 2 if prefix[-1] != 2 or len(prefix) == 1 else 3
        return {"real": real, "prefix": np.array(prefix)}

    return [
        draw(5, [5]),
        draw(6, [6, 6]),
        draw(7, [7, 7, 7]),
        draw(6, [5]),
        draw(7, [7, 5, 6]),
        draw(6, [5], left=[0]),
        draw(7, [7, 5, 6], left=[1, 2]),
        draw(8, [5, 6], left=[0]),
    ]


def _apart(order, question):
    same = question[:, :, None] == question[:, None, :]
    return (order & same) | (question[:, :, None] & question[:, None, :])


MISCONCEPTIONS = (
    Misconception(
        "prefix_ignored",
        (_rule(allowed=lambda order, question: order | (0 * question[:, None, :] > 0)),),
        {
            "es": "Es causal de principio a fin: la primera palabra de la pregunta no ve la "
            "segunda. La pregunta ya está entera cuando se lee, y todos pueden verla toda.",
            "en": "It is causal from beginning to end: the first word of the question does not see "
            "the second. The question is complete when it is read, and all may see all of it.",
        },
    ),
    Misconception(
        "everything_allowed",
        (_rule(allowed=lambda order, question: np.ones_like(question)[:, None, :] | order),),
        {
            "es": "La respuesta ve sus propias palabras futuras. Solo la pregunta se lee entera; "
            "la respuesta es causal.",
            "en": "The answer sees its own future words. Only the question is read whole; the "
            "answer is causal.",
        },
    ),
    Misconception(
        "padding_counted",
        (_rule(lambda real, prefix: np.arange(real.shape[-1]) < prefix[:, None]),),
        {
            "es": "Cuentas las palabras de la pregunta desde el borde de la fila. Con relleno "
            "delante, la pregunta empieza después: cuenta los tokens reales.",
            "en": "You count the words of the question from the edge of the row. With padding in "
            "front the question starts later: count the real tokens.",
        },
    ),
    Misconception(
        "one_too_many",
        (_rule(lambda real, prefix: _question(real, prefix + 1)),),
        {
            "es": "Toda la pregunta ve también la primera palabra de la respuesta, que es lo "
            "primero que habrá que adivinar. Mira si comparas con ≤ algo que cuenta desde 0.",
            "en": "The whole question sees the first word of the answer as well, the very first "
            "one to be guessed. See whether you compare by ≤ something that counts from 0.",
        },
    ),
    Misconception(
        "one_too_few",
        (_rule(lambda real, prefix: _question(real, prefix - 1)),),
        {
            "es": "La última palabra de la pregunta queda fuera de ella. `cumsum` cuenta el token "
            "en que está: con él, la comparación es ≤.",
            "en": "The last word of the question is left out of it. `cumsum` counts the token it "
            "stands at: with it, the comparison is ≤.",
        },
    ),
    Misconception(
        "answer_blind",
        (_rule(allowed=_apart),),
        {
            "es": "La respuesta no ve la pregunta: las separaste en dos bloques. Solo hay que "
            "separar en un sentido, que la pregunta no vea la respuesta.",
            "en": "The answer does not see the question: you split them into two blocks. The split "
            "goes one way only, that the question should not see the answer.",
        },
    ),
    Misconception(
        "answer_forgets_itself",
        (_rule(allowed=lambda order, question: (order & False) | question[:, None, :]),),
        {
            "es": "Cada palabra de la respuesta ve la pregunta y nada de lo ya respondido. A la "
            "pregunta se le *suma* lo causal.",
            "en": "Each word of the answer sees the question and nothing of what was answered. "
            "The causal rule is *added* to the question.",
        },
    ),
    Misconception(
        "asked_instead_of_seen",
        (_rule(allowed=lambda order, question: order | question[:, :, None]),),
        {
            "es": "Das el permiso a las queries de la pregunta, y así ven la respuesta entera. Lo "
            "que todos pueden ver son sus *keys*: el eje nuevo va en el otro lado.",
            "en": "You allow the queries of the question, so they see the whole answer. "
            "What all may see is its *keys*: the new axis goes on the other side.",
        },
    ),
    Misconception(
        "padding_visible",
        (_rule(keys=lambda real: np.ones_like(real)[:, None, :]),),
        {
            "es": "El relleno se ve. Ninguna query, de pregunta o de respuesta, puede atender a "
            "una key que no es real.",
            "en": "The padding is seen. No query, of question or answer, may attend to a key that "
            "is not real.",
        },
    ),
    Misconception(
        "padding_on_the_queries",
        (
            _rule(keys=lambda real: real[:, :, None]),
            _rule(keys=lambda real: real[:, :, None] & real[:, None, :]),
        ),
        {
            "es": "Vacías las filas del relleno. Esas filas no las lee nadie y aquí siguen la "
            "regla de todas; lo que se esconde son sus columnas.",
            "en": "You empty the rows of the padding. Nobody reads those rows, and here they follow "
            "the rule of all; what is hidden is its columns.",
        },
    ),
    Misconception(
        "first_for_all",
        (_rule(lambda real, prefix: _question(real, 0 * prefix + prefix[0])),),
        {
            "es": "Usas para todo el lote lo que mide la primera pregunta. Cada fila trae su "
            "`prefix`: `prefix[:, None]`.",
            "en": "You use the length of the first question for the whole batch. Each row has "
            "its own `prefix`: `prefix[:, None]`.",
        },
    ),
    Misconception(
        "marked_as_forbidden",
        (lambda real, prefix: ~prefix_mask(real, prefix),),
        {
            "es": "Está todo al revés: True donde debería haber False. `True` permite.",
            "en": "Everything is the wrong way round: True where False should be. `True` allows.",
        },
    ),
)

EXERCISE = Exercise(
    "prefix_mask", 6, ("mask",), prefix_mask, cases, MISCONCEPTIONS, problem_set="ps5"
)
