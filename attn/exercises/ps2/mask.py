"""Problem set 2, `causal_padding_mask`: order and padding at once, and how to get them wrong."""

import numpy as np

from attn.exercises.spec import Exercise, Misconception
from attn.reference import causal_mask


def causal_padding_mask(ids):
    """Return a mask: True where the key is no padding and stands no later than the query."""
    return causal_mask(ids.shape[-1]) & (ids != 0)[..., None, :]


def cases(seed):
    """Return token ids: without padding, with padding at the end, and with it anywhere.

    Parameters
    ----------
    seed : int
        Seed of the random numbers; the shapes are always the same.

    Returns
    -------
    list of dict
        With the key ``ids``; 0 is padding.
    """
    rng = np.random.default_rng(seed)

    def draw(*real):
        """Return ids where each row of `real` has a 1, and 0 elsewhere."""
        return {"ids": np.array(real) * rng.integers(1, 9, (len(real), len(real[0])))}

    return [
        draw([1, 1, 1], [1, 1, 1]),
        draw([1, 1, 1, 1], [1, 1, 1, 1], [1, 1, 1, 1]),
        draw([1, 1, 0], [1, 1, 1], [1, 0, 0]),
        draw([1, 1, 1, 1], [1, 1, 0, 0]),
        draw([1, 1, 1, 1, 1], [1, 1, 1, 1, 0], [1, 0, 0, 0, 0]),
        draw([0, 1, 1, 1], [1, 1, 1, 1]),
        draw([0, 0, 1, 1, 1], [0, 1, 0, 1, 1], [1, 1, 0, 0, 1]),
    ]


def _combined(order=causal_mask, real=lambda ids: (ids != 0)[..., None, :]):
    return lambda ids: np.full((*ids.shape, ids.shape[-1]), order(ids.shape[-1]) & real(ids))


def _everything(ids):
    return np.ones((1, 1, 1), dtype=bool)


def _contiguous(ids):
    real = np.arange(ids.shape[-1]) < (ids != 0).sum(axis=-1, keepdims=True)
    return real[..., None, :]


MISCONCEPTIONS = (
    Misconception(
        "causal_only",
        (_combined(real=_everything), lambda ids: causal_mask(ids.shape[-1])),
        {
            "es": "Cuidas el orden, pero no miras qué posiciones son relleno: la máscara sale "
            "igual para toda oración. Quita las keys cuyo id es 0 con `(ids != 0)[:, None, :]`.",
            "en": "You mind the order, but do not look at which positions are padding: the mask "
            "comes out the same for any sentence. Drop the keys whose id is 0 with "
            "`(ids != 0)[:, None, :]`.",
        },
    ),
    Misconception(
        "padding_only",
        (
            _combined(order=lambda n: np.ones((n, n), dtype=bool)),
            lambda ids: (ids != 0)[:, None, :],
            lambda ids: ids != 0,
        ),
        {
            "es": "Quitas el relleno, pero un token todavía puede mirar a los que vienen después. "
            "Combínalo con un triángulo: `np.tril` de una matriz de True.",
            "en": "You drop the padding, but a token may still look at those that come after it. "
            "Combine it with a triangle: `np.tril` of a matrix of True.",
        },
    ),
    Misconception(
        "future",
        (_combined(order=lambda n: causal_mask(n).T),),
        {
            "es": "Cada token ve lo que viene después y no lo que ya pasó: es el triángulo "
            "superior. La fila es quien pregunta; quédate con el inferior, `np.tril`.",
            "en": "Each token sees what comes after it and not what came before: that is the upper "
            "triangle. The row is the one who asks; keep the lower one, `np.tril`.",
        },
    ),
    Misconception(
        "itself_excluded",
        (_combined(order=lambda n: np.tril(np.ones((n, n), dtype=bool), -1)),),
        {
            "es": "Ningún token puede mirarse a sí mismo, y el primero se queda sin nada. La "
            "diagonal está permitida: la condición es j ≤ i, no j < i.",
            "en": "No token may look at itself, and the first is left with nothing. The diagonal "
            "is allowed: the condition is j ≤ i, not j < i.",
        },
    ),
    Misconception(
        "inverted",
        (
            lambda ids: ~causal_padding_mask(ids),
            _combined(order=lambda n: ~causal_mask(n), real=lambda ids: (ids == 0)[:, None, :]),
        ),
        {
            "es": "Marcas con True lo que está prohibido, como hacen otras bibliotecas. Aquí es al "
            "revés: True donde sí se puede atender.",
            "en": "You mark with True what is forbidden, as other libraries do. Here it is the "
            "other way round: True where attending is allowed.",
        },
    ),
    Misconception(
        "padding_inverted",
        (_combined(real=lambda ids: (ids == 0)[:, None, :]),),
        {
            "es": "El triángulo está bien, pero con el relleno haces lo contrario: permites los "
            "ids que son 0 y prohíbes los demás. Compara con `!=`.",
            "en": "The triangle is right, but you do the opposite with the padding: you allow the "
            "ids that are 0 and forbid the rest. Compare with `!=`.",
        },
    ),
    Misconception(
        "either_instead_of_both",
        (lambda ids: causal_mask(ids.shape[-1]) | (ids != 0)[:, None, :],),
        {
            "es": "Permites lo que cumple una de las dos condiciones. Hacen falta las dos a la "
            "vez: no es relleno *y* no está después. Combina con `&`, no con `|`.",
            "en": "You allow whatever meets one of the two conditions. Both are needed at once: "
            "not padding *and* not later. Combine with `&`, not with `|`.",
        },
    ),
    Misconception(
        "padding_on_the_rows",
        (_combined(real=lambda ids: (ids != 0)[:, :, None]),),
        {
            "es": "Borras las filas del relleno, y son las columnas. Las columnas son las keys, a "
            "quien se mira: el eje nuevo va antes de ellas, `(ids != 0)[:, None, :]`.",
            "en": "You clear the rows of the padding, and it should be the columns. The columns "
            "are the keys, those looked at: the new axis goes before them, "
            "`(ids != 0)[:, None, :]`.",
        },
    ),
    Misconception(
        "padding_both_ways",
        (_combined(real=lambda ids: (ids != 0)[:, None, :] & (ids != 0)[:, :, None]),),
        {
            "es": "También dejas al relleno sin nada a lo que mirar. El enunciado solo prohíbe "
            "mirarlo: la fila de un token de relleno sigue la misma regla que las demás.",
            "en": "You also leave the padding with nothing to look at. The task only forbids "
            "looking at it: the row of a padding token follows the same rule as the others.",
        },
    ),
    Misconception(
        "padding_at_the_end",
        (_combined(real=_contiguous),),
        {
            "es": "Cuentas cuántos tokens son reales y permites los primeros. Vale si el relleno "
            "está al final, y puede estar delante o en medio: mira cada id, no cuántos hay.",
            "en": "You count the real tokens and allow the first ones. That holds if the padding "
            "is at the end, and it may be in front or in between: look at each id, not at how "
            "many there are.",
        },
    ),
    Misconception(
        "transposed",
        (lambda ids: causal_padding_mask(ids).mT,),
        {
            "es": "La máscara está traspuesta: en tus filas están las keys y en tus columnas las "
            "queries. La posición `[b, i, j]` dice si `i` puede mirar a `j`.",
            "en": "The mask is transposed: your rows are the keys and your columns the queries. "
            "Position `[b, i, j]` says whether `i` may look at `j`.",
        },
    ),
    Misconception(
        "padding_sees_itself",
        (lambda ids: causal_padding_mask(ids) | np.eye(ids.shape[-1], dtype=bool),),
        {
            "es": "Dejas que todo token se mire a sí mismo, también el relleno. La diagonal está "
            "permitida solo donde el id no es 0; una fila sin nada permitido no es un error.",
            "en": "You let every token look at itself, padding included. The diagonal is allowed "
            "only where the id is not 0; a row with nothing allowed is no error.",
        },
    ),
    Misconception(
        "first_sentence_for_all",
        (
            lambda ids: np.repeat(causal_padding_mask(ids[:1]), len(ids), axis=0),
            lambda ids: causal_padding_mask(ids[0]),
        ),
        {
            "es": "Usas el relleno de la primera oración para todo el lote. Cada oración tiene el "
            "suyo: el resultado es una matriz por oración, con el lote como primer eje.",
            "en": "You use the padding of the first sentence for the whole batch. Each sentence "
            "has its own: the result is one matrix per sentence, with the batch as first axis.",
        },
    ),
    Misconception(
        "numbers_to_add",
        (lambda ids: np.where(causal_padding_mask(ids), 0, -1e9),),
        {
            "es": "Devuelves números para sumar a los puntajes. La máscara de este curso es "
            "booleana y dice quién puede atender a quién: True o False.",
            "en": "You return numbers to add to the scores. The mask of this course is boolean and "
            "says who may attend to whom: True or False.",
        },
    ),
)

EXERCISE = Exercise(
    "causal_padding_mask",
    3,
    ("mask",),
    causal_padding_mask,
    cases,
    MISCONCEPTIONS,
    problem_set="ps2",
)
