"""Chapter 7, `sinusoidal_positions`: the table of sines and cosines, and how to get it wrong."""

import numpy as np

from attn import reference
from attn.exercises.spec import Exercise, Misconception


def sinusoidal_positions(seq_len, d_model, base):
    """Return the encodings of the first positions, under the names the exercise uses."""
    return reference.sinusoidal_positions(seq_len, d_model, base)


def cases(seed):
    """Return sizes and bases: few and many positions, narrow and wide.

    Bases are small enough for every wave to move, so that each exponent shows.

    Parameters
    ----------
    seed : int
        Seed of the random bases; the sizes are always the same.

    Returns
    -------
    list of dict
        With the keys ``seq_len``, ``d_model`` and ``base``.
    """
    rng = np.random.default_rng(seed)
    sizes = [(2, 4), (3, 6), (5, 4), (4, 10), (7, 2), (9, 8), (25, 12)]
    return [
        {"seq_len": np.int64(n), "d_model": np.int64(d), "base": np.float64(rng.uniform(30, 300))}
        for n, d in sizes
    ]


def _table(angles, even=np.sin, odd=np.cos):
    return np.stack([even(angles), odd(angles)], axis=-1).reshape(len(angles), -1)


def _with(
    exponents=lambda d: np.arange(0, d, 2) / d,
    positions=np.arange,
    base=lambda base: base,
    even=np.sin,
    odd=np.cos,
    turn=1.0,
):
    """Return the table with one of its ingredients exchanged for another."""

    def table(seq_len, d_model, given):
        speeds = base(given) ** -exponents(d_model)
        return _table(turn * positions(seq_len)[:, None] * speeds, even, odd)

    return table


def _an_exponent_for_each_column(factor):
    def table(seq_len, d_model, base):
        columns = np.arange(d_model)
        angles = np.arange(seq_len)[:, None] / base ** (factor * columns / d_model)
        return np.where(columns % 2 == 0, np.sin(angles), np.cos(angles))

    return table


def _halves(first, second):
    def table(seq_len, d_model, base):
        angles = np.arange(seq_len)[:, None] / base ** (np.arange(0, d_model, 2) / d_model)
        return np.hstack([first(angles), second(angles)])

    return table


def _changed(change):
    return lambda seq_len, d_model, base: change(sinusoidal_positions(seq_len, d_model, base))


MISCONCEPTIONS = (
    Misconception(
        "doubled_exponent",
        (_with(lambda d: 2 * np.arange(0, d, 2) / d),),
        {
            "es": "El exponente es el doble del que toca: si `i` ya recorre 0, 2, 4..., `2 * i` lo "
            "dobla otra vez. Los relojes se frenan tanto que la mitad apenas se mueve: usa "
            "`i / d_model`, o `2 * i / d_model` con `i` = 0, 1, 2...",
            "en": "The exponent is twice what it should be: if `i` already runs over 0, 2, 4..., "
            "`2 * i` doubles it again. The clocks get so slow that half of them hardly move: use "
            "`i / d_model`, or `2 * i / d_model` with `i` = 0, 1, 2...",
        },
    ),
    Misconception(
        "halved_exponent",
        (_with(lambda d: np.arange(d // 2) / d),),
        {
            "es": "El exponente es la mitad del que toca: con el par `i` = 0, 1, 2... es "
            "`2 * i / d_model`. Sin el 2 el último reloj no llega a ser ni la mitad de lento "
            "de lo que la base pide.",
            "en": "The exponent is half of what it should be: for the pair `i` = 0, 1, 2... it is "
            "`2 * i / d_model`. Without the 2 the last clock falls far short of being as slow "
            "as the base asks.",
        },
    ),
    Misconception(
        "exponent_of_each_column",
        (_an_exponent_for_each_column(1), _an_exponent_for_each_column(2)),
        {
            "es": "Cada columna lleva su propio exponente, y seno y coseno de un par giran a "
            "velocidades distintas: ya no son un reloj. Las columnas 2i y 2i + 1 comparten el "
            "ángulo: `columns // 2 * 2 / d_model`.",
            "en": "Each column has an exponent of its own, so the sine and the cosine of a pair "
            "turn at different speeds: they are no clock any more. Columns 2i and 2i + 1 share "
            "the angle: `columns // 2 * 2 / d_model`.",
        },
    ),
    Misconception(
        "exponent_to_the_end",
        (_with(lambda d: np.arange(d // 2) / max(d // 2 - 1, 1)),),
        {
            "es": "Repartes los exponentes de 0 a 1 con los dos extremos dentro. Así lo hace "
            "algún programa, pero en la fórmula el último par tiene exponente 1 − 2/d_model: "
            "divide entre `d_model`, no entre el número de pares menos uno.",
            "en": "You spread the exponents from 0 to 1 with both ends included. Some programs "
            "do, but in the formula the last pair has exponent 1 − 2/d_model: divide by "
            "`d_model`, not by the number of pairs minus one.",
        },
    ),
    Misconception(
        "exponent_positive",
        (_with(lambda d: -np.arange(0, d, 2) / d),),
        {
            "es": "Multiplicas por la potencia de la base en vez de dividir. Los relojes se "
            "aceleran de un par al siguiente y dan muchas vueltas por paso: la posición se "
            "divide, `position / base ** exponent`.",
            "en": "You multiply by the power of the base instead of dividing. The clocks get "
            "faster from pair to pair and make many turns a step: the position is divided, "
            "`position / base ** exponent`.",
        },
    ),
    Misconception(
        "base_fixed",
        (_with(base=lambda base: 10000.0),),
        {
            "es": "Usas 10000 diga lo que diga `base`. Es el valor del artículo, pero aquí es un "
            "argumento: escribe `base ** ...` y la misma función servirá para estudiar qué "
            "cambia con otra.",
            "en": "You use 10000 whatever `base` says. It is the paper's value, but here it is an "
            "argument: write `base ** ...` and the same function will serve to study what "
            "another one changes.",
        },
    ),
    Misconception(
        "swapped",
        (_with(even=np.cos, odd=np.sin),),
        {
            "es": "El coseno va en las columnas pares y el seno en las impares, al revés que en "
            "la fórmula. La posición 0 debe ser 0, 1, 0, 1...: seno en `0::2` y coseno en `1::2`.",
            "en": "The cosine is in the even columns and the sine in the odd ones, the reverse of "
            "the formula. Position 0 should read 0, 1, 0, 1...: sine in `0::2`, cosine in `1::2`.",
        },
    ),
    Misconception(
        "blocked",
        (_halves(np.sin, np.cos), _halves(np.cos, np.sin)),
        {
            "es": "Pones todos los senos en una mitad y los cosenos en la otra. Contiene los "
            "mismos números en otras columnas; la fórmula los alterna: seno en las columnas "
            "`0::2` y coseno en las `1::2`.",
            "en": "You put all the sines in one half and the cosines in the other. It holds the "
            "same numbers in other columns; the formula takes them in turn: sine in columns "
            "`0::2` and cosine in `1::2`.",
        },
    ),
    Misconception(
        "only_sines",
        (_with(odd=np.sin), _with(even=np.cos)),
        {
            "es": "Las dos columnas de cada par llevan la misma función. Con un seno solo no se "
            "sabe en qué mitad de la vuelta está el reloj: hacen falta los dos, seno en la "
            "columna par y coseno en la impar.",
            "en": "Both columns of each pair hold the same function. A sine alone does not tell "
            "which half of its turn the clock is in: it takes two, the sine in the even column "
            "and the cosine in the odd one.",
        },
    ),
    Misconception(
        "from_one",
        (_with(positions=lambda n: np.arange(1, n + 1)),),
        {
            "es": "Cuentas las posiciones desde 1. La primera palabra está en la 0, y su fila es "
            "0, 1, 0, 1...: empieza en 0, como hace `np.arange`.",
            "en": "You count positions from 1. The first word stands at 0, and its row is "
            "0, 1, 0, 1...: start at 0, as `np.arange` does.",
        },
    ),
    Misconception(
        "share_of_length",
        (
            _with(positions=lambda n: np.arange(n) / n),
            _with(positions=lambda n: np.arange(n) / max(n - 1, 1)),
        ),
        {
            "es": "Divides la posición entre la longitud de la oración. Así la misma posición "
            "tiene un vector distinto en cada oración, y el paso a la palabra siguiente "
            "también: usa la posición tal cual.",
            "en": "You divide the position by the length of the sentence. The same position then "
            "has another vector in each sentence, and so does the step to the next word: use "
            "the position as it is.",
        },
    ),
    Misconception(
        "degrees",
        (_with(turn=np.pi / 180),),
        {
            "es": "Conviertes los ángulos de grados a radianes, pero ya están en radianes: el "
            "primer reloj gira 1 radián por posición. Quita `deg2rad` y pasa el ángulo directo "
            "a `np.sin`.",
            "en": "You convert the angles from degrees to radians, but they are radians already: "
            "the first clock turns 1 radian a position. Drop `deg2rad` and hand the angle "
            "straight to `np.sin`.",
        },
    ),
    Misconception(
        "whole_turns",
        (_with(turn=2 * np.pi),),
        {
            "es": "Multiplicas el ángulo por 2π. El primer reloj da entonces una vuelta entera por "
            "posición y siempre marca lo mismo: en la fórmula el ángulo es la posición dividida "
            "entre la potencia, sin más.",
            "en": "You multiply the angle by 2π. The first clock then makes a whole turn a "
            "position and always reads the same: in the formula the angle is the position "
            "divided by the power, and nothing else.",
        },
    ),
    Misconception(
        "truncated",
        (_changed(lambda table: np.trunc(table).astype(int)),),
        {
            "es": "Guardas los valores en un arreglo de enteros, y los decimales se pierden: casi "
            "todo queda en 0. Crea la tabla con `np.zeros`, que es de reales, sin `dtype=int`.",
            "en": "You store the values in an array of integers, and their decimals are lost: "
            "nearly everything becomes 0. Create the table with `np.zeros`, which holds real "
            "numbers, without `dtype=int`.",
        },
    ),
    Misconception(
        "transposed",
        (_changed(np.transpose),),
        {
            "es": "Tu tabla tiene las posiciones en las columnas. Se suma a los embeddings, que "
            "llevan una palabra por fila: una fila por posición y una columna por componente.",
            "en": "Your table has the positions in its columns. It is added to the embeddings, "
            "which have a word per row: one row per position and one column per component.",
        },
    ),
    Misconception(
        "unit_length",
        (_changed(lambda table: table / np.linalg.norm(table, axis=-1, keepdims=True)),),
        {
            "es": "Divides cada fila entre su norma. Cada par está ya en la circunferencia de "
            "radio 1, así que todas las filas miden √(d_model/2) y no hay nada que normalizar.",
            "en": "You divide each row by its norm. Each pair already lies on the circle of "
            "radius 1, so all rows have length √(d_model/2) and there is nothing to normalise.",
        },
    ),
)

EXERCISE = Exercise(
    "sinusoidal_positions", 7, ("positions",), sinusoidal_positions, cases, MISCONCEPTIONS
)
