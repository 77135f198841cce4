"""Problem set 6, `position_gradient`: what reaches each row of a learned table."""

import numpy as np

from attn.exercises.spec import Exercise, Misconception


def position_gradient(gradient, positions, n_positions):
    """Return the gradient of a table whose rows were added to tokens; -1 marks padding."""
    chosen = positions[..., None] == np.arange(n_positions)
    return np.einsum("bnp,bnd->pd", chosen.astype(float), gradient)


def cases(seed):
    """Return gradients and positions: whole sentences, and padding wherever it may be.

    Parameters
    ----------
    seed : int
        Seed of the random numbers; the shapes are always the same.

    Returns
    -------
    list of dict
        With the keys ``gradient``, ``positions`` and ``n_positions``.
    """
    rng = np.random.default_rng(seed)

    def draw(positions, d_model, n_positions):
        positions = np.array(positions)
        return {
            "gradient": rng.uniform(-1, 1, (*positions.shape, d_model)),
            "positions": positions,
            "n_positions": np.int64(n_positions),
        }

    return [
        draw([[0, 1], [0, 1], [1, 0]], 5, 2),
        draw([[0, 1, 2], [2, 0, 1]], 4, 3),
        draw([[0, 1, 2, 3], [3, 4, 5, 6]], 3, 9),
        draw([[0, 1, 0, 1, 2], [0, 1, 2, 0, 1]], 2, 3),
        draw([[0, 1, -1], [0, 1, 2]], 2, 3),
        draw([[-1, 0, 1, 2], [-1, -1, 0, 1], [0, 1, 2, 3]], 2, 4),
        draw([[-1, 0, 1, -1, 0], [0, 1, 2, 3, -1]], 3, 6),
    ]


def _scattered(combine=lambda rows: rows.sum(axis=0), position=lambda given: given):
    """Return the table when something else is done with the rows that meet."""

    def table(gradient, positions, n_positions):
        result = np.zeros((n_positions, gradient.shape[-1]))
        for row in range(n_positions):
            met = gradient[position(positions) == row]
            if len(met):
                result[row] = combine(met)
        return result

    return table


def _padding_at_the_end(gradient, positions, n_positions):
    return position_gradient(gradient, positions % n_positions, n_positions)


def _padding_dropped_with_its_sentence(gradient, positions, n_positions):
    whole = (positions >= 0).all(axis=1)
    return position_gradient(gradient[whole], positions[whole], n_positions)


def _by_place(gradient, positions, n_positions):
    place = np.broadcast_to(np.arange(positions.shape[1]), positions.shape)
    return position_gradient(gradient, place, n_positions)


def _by_place_without_padding(gradient, positions, n_positions):
    place = np.broadcast_to(np.arange(positions.shape[1]), positions.shape)
    return position_gradient(gradient, np.where(positions < 0, -1, place), n_positions)


def _as_long_as_needed(gradient, positions, n_positions):
    return position_gradient(gradient, positions, positions.max() + 1)


def _changed(change):
    return lambda gradient, positions, n_positions: change(
        position_gradient(gradient, positions, n_positions), positions
    )


def _one_sentence(gradient, positions, n_positions):
    return position_gradient(gradient[:1], positions[:1], n_positions)


def _each_sentence(gradient, positions, n_positions):
    chosen = positions[..., None] == np.arange(n_positions)
    return np.einsum("bnp,bnd->bpd", chosen.astype(float), gradient)


def _gathered(gradient, positions, n_positions):
    return gradient.sum(axis=0)[:n_positions]


MISCONCEPTIONS = (
    Misconception(
        "repeats_lost",
        (_scattered(lambda rows: rows[-1]),),
        {
            "es": "Cuando una posición se repite, queda solo la última. `table[positions] += ...` "
            "lee la fila una vez, suma y escribe encima: usa `np.add.at`, un bucle o una matriz "
            "de ceros y unos.",
            "en": "When a position repeats, only the last is left. `table[positions] += ...` reads "
            "the row once, adds and writes over it: use `np.add.at`, a loop or a matrix of zeros "
            "and ones.",
        },
    ),
    Misconception(
        "first_kept",
        (_scattered(lambda rows: rows[0]),),
        {
            "es": "Te quedas con la primera aparición de cada posición. La fila se sumó a todas "
            "las que la usan, y de todas le llega algo.",
            "en": "You keep the first occurrence of each position. The row was added to every "
            "token that uses it, and something comes back from each.",
        },
    ),
    Misconception(
        "mean",
        (_scattered(lambda rows: rows.mean(axis=0)),),
        {
            "es": "Divides entre las veces que se usó la posición. Si de una fila salen varias "
            "sumas, su gradiente es la suma de todos; la división, si la hay, ya viene en la "
            "pérdida.",
            "en": "You divide by how often the position was used. If several sums start from one "
            "row, its gradient is the sum of theirs; any division is in the loss already.",
        },
    ),
    Misconception(
        "mean_over_the_batch",
        (_changed(lambda table, positions: table / len(positions)),),
        {
            "es": "Divides entre el número de oraciones. `gradient` ya es la derivada de la "
            "pérdida del lote entero, con la media que tuviera dentro: suma sin dividir.",
            "en": "You divide by the number of sentences. `gradient` is already the derivative of "
            "the loss of the whole batch, with whatever mean it holds: sum without dividing.",
        },
    ),
    Misconception(
        "padding_in_the_last_row",
        (_padding_at_the_end,),
        {
            "es": "El relleno acaba en la última fila: para NumPy el índice −1 es el último. Deja "
            "fuera esas posiciones antes de indexar: `positions >= 0`.",
            "en": "Padding ends up in the last row: to NumPy index −1 is the last. Leave those "
            "positions out before you index: `positions >= 0`.",
        },
    ),
    Misconception(
        "padding_in_the_first_row",
        (_scattered(position=lambda positions: np.maximum(positions, 0)),),
        {
            "es": "El gradiente del relleno cae en la fila 0, la de la primera palabra. No "
            "pertenece a ninguna fila: no lo sumes.",
            "en": "The gradient of the padding falls into row 0, that of the first word. It "
            "belongs to no row: do not add it.",
        },
    ),
    Misconception(
        "sentence_dropped",
        (_padding_dropped_with_its_sentence,),
        {
            "es": "Descartas enteras las oraciones que llevan relleno, y sus palabras de verdad "
            "también enseñan algo a la tabla. Quita posiciones, no oraciones.",
            "en": "You drop whole sentences that hold padding, and their real words have something "
            "to say to the table too. Take out positions, not sentences.",
        },
    ),
    Misconception(
        "place_instead_of_position",
        (_by_place, _by_place_without_padding),
        {
            "es": "Repartes según la columna y no según `positions`. Con relleno delante, o con "
            "dos oraciones en una fila, la columna 3 no es la posición 3.",
            "en": "You hand out by column and not by `positions`. With padding in front, or two "
            "sentences in one row, column 3 is not position 3.",
        },
    ),
    Misconception(
        "sum_over_sentences",
        (_gathered,),
        {
            "es": "Sumas las oraciones columna por columna y no miras las posiciones. El resultado "
            "tiene una fila por columna del lote, no una por fila de la tabla.",
            "en": "You sum the sentences column by column and never look at the positions. The "
            "result has a row per column of the batch, not one per row of the table.",
        },
    ),
    Misconception(
        "shorter_table",
        (_as_long_as_needed,),
        {
            "es": "Devuelves solo las filas hasta la última posición usada. La tabla tiene "
            "`n_positions`, y las que nadie usó reciben un gradiente de ceros.",
            "en": "You return only the rows up to the last position used. The table has "
            "`n_positions`, and those nobody used get a gradient of zeros.",
        },
    ),
    Misconception(
        "sign_of_the_step",
        (_changed(lambda table, positions: -table),),
        {
            "es": "El signo está cambiado. El menos pertenece al paso de descenso, "
            "`table - rate * gradient`; aquí se pide el gradiente.",
            "en": "The sign is flipped. The minus belongs to the descent step, "
            "`table - rate * gradient`; what is asked for here is the gradient.",
        },
    ),
    Misconception(
        "first_sentence_only",
        (_one_sentence,),
        {
            "es": "Solo cuentas la primera oración. La tabla es la misma para todo el lote, y de "
            "cada oración le llega su parte.",
            "en": "You count the first sentence only. The table is the same for the whole batch, "
            "and each sentence sends it a share.",
        },
    ),
    Misconception(
        "one_table_each",
        (_each_sentence,),
        {
            "es": "Devuelves una tabla por oración. Hay una sola para todas: suma también sobre el "
            "eje del lote.",
            "en": "You return a table for each sentence. There is a single one for all: sum over "
            "the batch axis as well.",
        },
    ),
    Misconception(
        "transposed",
        (_changed(lambda table, positions: table.T.copy()),),
        {
            "es": "Tu resultado tiene las componentes en las filas. El gradiente de una tabla "
            "tiene la forma de la tabla: una fila por posición.",
            "en": "Your result has the components in its rows. The gradient of a table has the "
            "shape of the table: a row per position.",
        },
    ),
)

EXERCISE = Exercise(
    "position_gradient",
    7,
    ("table_gradient",),
    position_gradient,
    cases,
    MISCONCEPTIONS,
    problem_set="ps6",
)
