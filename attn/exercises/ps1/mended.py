"""Problem set 1, `mended_similarities`: the fault of a given function, and other ones."""

import numpy as np

from attn.exercises.ps1.nearest import lengths_of
from attn.exercises.spec import Exercise, Misconception
from attn.reference import cosine_similarity


def mended_similarities(x):
    """Return the cosine of every pair of rows."""
    return cosine_similarity(x, x)


def cases(seed):
    """Return words to compare: some, batches of them, and one that is all zeros.

    Parameters
    ----------
    seed : int
        Seed of the random numbers; the shapes are always the same.

    Returns
    -------
    list of dict
        With the key ``x``, rows of lengths that differ.
    """
    rng = np.random.default_rng(seed)

    def draw(n, d, *batch):
        lengths = rng.permuted(np.broadcast_to(np.geomspace(0.4, 4, n), (*batch, n)), axis=-1)
        x = rng.normal(size=(*batch, n, d))
        return {"x": x / lengths_of(x) * lengths[..., None]}

    empty = draw(4, 3)
    empty["x"][2] = 0
    return [
        draw(2, 3), draw(3, 4), draw(4, 2), draw(5, 5), empty,
        draw(3, 4, 2), draw(4, 3, 3), draw(2, 3, 2, 2),
    ]  # fmt: skip


# The wrong functions.


def _over(length):
    """Return a function that divides the products by this of the lengths of row and column."""

    def wrong(x):
        row = np.sqrt((x * x).sum(axis=-1, keepdims=True))
        lengths = length(row, row.mT, x)
        return x @ x.mT / np.where(lengths == 0, 1, lengths)

    return wrong


def _columns(x):
    unit = x / lengths_of(x, axis=-2)
    return unit @ unit.mT


def _symmetric(x):
    given = _over(lambda row, column, x: row * row)(x)
    return (given + given.mT) / 2


def _all_axes(x):
    product = x @ x.T
    length = np.sqrt((x * x).sum(axis=-1, keepdims=True))
    lengths = length * length.T
    return product / np.where(lengths == 0, 1, lengths)


def _nan_for_zeros(x):
    with np.errstate(all="ignore"):
        length = np.sqrt((x * x).sum(axis=-1, keepdims=True))
        return x @ x.mT / (length * length.mT)


def _matrix_only(x):
    _n, _d = x.shape
    return cosine_similarity(x, x)


MISCONCEPTIONS = (
    Misconception(
        "own_length_twice",
        (_over(lambda row, column, x: row * row),),
        {
            "es": "El fallo sigue ahí: cada fila se divide dos veces entre su propia longitud y "
            "ninguna entre la de la otra palabra. Compara un número con su simétrico.",
            "en": "The fault is still there: each row is divided twice by its own length and never "
            "by that of the other word. Compare a number with its mirror image.",
        },
    ),
    Misconception(
        "other_length_twice",
        (_over(lambda row, column, x: column * column),),
        {
            "es": "Ahora divides dos veces entre la longitud de la columna. Es el mismo fallo, "
            "traspuesto: hace falta una vez cada una.",
            "en": "Now you divide twice by the length of the column. It is the same fault, "
            "transposed: each is needed once.",
        },
    ),
    Misconception(
        "symmetric_mean",
        (_symmetric,),
        {
            "es": "La media con la traspuesta lo hace simétrico y sigue mal: la media de dos "
            "números equivocados. Corrige entre qué se dividen.",
            "en": "Averaging with the transpose makes it symmetric and leaves it wrong: the mean "
            "of two wrong numbers. Mend what they are divided by.",
        },
    ),
    Misconception(
        "once",
        (_over(lambda row, column, x: row), _over(lambda row, column, x: column)),
        {
            "es": "Divides una sola vez. El producto crece con las dos longitudes, así que se "
            "divide entre las dos.",
            "en": "You divide only once. The product grows with both lengths, so it is divided by "
            "both.",
        },
    ),
    Misconception(
        "not_divided",
        (_over(lambda row, column, x: 1), _over(lambda row, column, x: np.linalg.norm(x) ** 2)),
        {
            "es": "Esto es el producto punto, o el producto entre un solo número para todos: la "
            "diagonal ya no vale 1.",
            "en": "This is the dot product, or that over one number for all: the diagonal is no "
            "longer 1.",
        },
    ),
    Misconception(
        "root_of_lengths",
        (_over(lambda row, column, x: np.sqrt(row * column)),),
        {
            "es": "Te sobra una raíz: se divide entre el producto de las longitudes.",
            "en": "You have one root too many: divide by the product of the lengths.",
        },
    ),
    Misconception(
        "squared_lengths",
        (_over(lambda row, column, x: (row * column) ** 2),),
        {
            "es": "Divides entre las longitudes al cuadrado, las dos: falta una raíz.",
            "en": "You divide by both lengths squared: a root is missing.",
        },
    ),
    Misconception(
        "columns",
        (_columns,),
        {
            "es": "Las longitudes son de los rasgos y no de las palabras: el eje es el último.",
            "en": "The lengths are of the features and not of the words: the axis is the last.",
        },
    ),
    Misconception(
        "distance",
        (lambda x: 1 - cosine_similarity(x, x),),
        {
            "es": "Devuelves la distancia, 1 menos el coseno. Se pide la similitud.",
            "en": "You return the distance, 1 less the cosine. The similarity is asked for.",
        },
    ),
    Misconception(
        "zero_row",
        (_nan_for_zeros,),
        {
            "es": "Se perdió por el camino lo que protegía a la fila de ceros, y 0/0 no es un "
            "número.",
            "en": "What protected the row of zeros was lost along the way, and 0/0 is not a "
            "number.",
        },
    ),
    Misconception(
        "matrix_only",
        (_matrix_only, _all_axes),
        {
            "es": "Funciona con una lista de palabras y no con un lote. `.T` da la vuelta a todos "
            "los ejes; `.mT`, solo a los dos últimos.",
            "en": "It works on one list of words and not on a batch. `.T` turns all axes round; "
            "`.mT`, only the last two.",
        },
    ),
)

EXERCISE = Exercise(
    "mended_similarities",
    2,
    ("similarities",),
    mended_similarities,
    cases,
    MISCONCEPTIONS,
    problem_set="ps1",
)
