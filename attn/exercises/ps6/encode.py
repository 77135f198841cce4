"""Problem set 6, `encode_positions`: sines and cosines of any position, at any width."""

import numpy as np

from attn.exercises.spec import Exercise, Misconception


def encode_positions(positions, d_model, base):
    """Return the encoding of each position; an odd width ends with a sine alone."""
    columns = np.arange(d_model)
    angles = positions[..., None] / base ** (columns // 2 * 2 / d_model)
    return np.where(columns % 2 == 0, np.sin(angles), np.cos(angles))


def cases(seed):
    """Return positions and widths: even and odd, whole and not, with other axes.

    Bases are small enough for every clock to move, so that each exponent shows.

    Parameters
    ----------
    seed : int
        Seed of the random numbers; the shapes are always the same.

    Returns
    -------
    list of dict
        With the keys ``positions``, ``d_model`` and ``base``.
    """
    rng = np.random.default_rng(seed)

    def draw(shape, d_model, fractional=False):
        # Never 0, 1, 2, ...: whoever numbers the rows instead must show.
        positions = rng.permutation(np.arange(3, 25))[: np.prod(shape, dtype=int)].reshape(shape)
        return {
            "positions": positions + rng.uniform(0.3, 0.7, shape) if fractional else positions,
            "d_model": np.int64(d_model),
            "base": np.float64(rng.uniform(30, 300)),
        }

    return [
        draw((2,), 4),
        draw((3,), 6),
        draw((5,), 10),
        draw((3,), 5),
        draw((4,), 7),
        draw((2,), 4, fractional=True),
        draw((3,), 6, fractional=True),
        draw((2, 3), 4),
        draw((2, 2, 3), 8),
        draw((), 4),
    ]


def _with(
    exponents=lambda columns, d: columns // 2 * 2 / d,
    positions=lambda given: given,
    base=lambda base: base,
    even=np.sin,
    odd=np.cos,
    scale=1.0,
):
    """Return the encoding with one of its ingredients exchanged for another."""

    def encoded(given, d_model, number):
        columns = np.arange(d_model)
        angles = scale * positions(given)[..., None] / base(number) ** exponents(columns, d_model)
        return np.where(columns % 2 == 0, even(angles), odd(angles))

    return encoded


def _blocked(first, second):
    def encoded(positions, d_model, base):
        exponents = np.arange(0, d_model, 2) / d_model
        angles = positions[..., None] / base**exponents
        return np.concatenate([first(angles), second(angles)[..., : d_model // 2]], axis=-1)

    return encoded


def _pairs_only(positions, d_model, base):
    encoded = encode_positions(positions, d_model, base)
    return encoded[..., : d_model // 2 * 2]


def _last_clock_whole(positions, d_model, base):
    columns = np.arange(d_model + d_model % 2)
    angles = positions[..., None] / base ** (columns // 2 * 2 / d_model)
    return np.where(columns % 2 == 0, np.sin(angles), np.cos(angles))


def _wider_and_cut(positions, d_model, base):
    return encode_positions(positions, d_model + d_model % 2, base)[..., :d_model]


def _shares_the_even_width(positions, d_model, base):
    columns, even_width = np.arange(d_model), max(d_model // 2 * 2, 2)
    angles = positions[..., None] / base ** (columns // 2 * 2 / even_width)
    return np.where(columns % 2 == 0, np.sin(angles), np.cos(angles))


def _cosine_at_the_end(positions, d_model, base):
    encoded = encode_positions(positions, d_model, base)
    if d_model % 2:
        encoded[..., -1] = np.cos(positions / base ** ((d_model - 1) / d_model))
    return encoded


def _silent_at_the_end(positions, d_model, base):
    encoded = encode_positions(positions, d_model, base)
    if d_model % 2:
        encoded[..., -1] = 0
    return encoded


def _one_axis(positions, d_model, base):
    columns = np.arange(d_model)
    angles = positions[:, None] / base ** (columns // 2 * 2 / d_model)
    return np.where(columns % 2 == 0, np.sin(angles), np.cos(angles))


def _counts_rows(positions, d_model, base):
    rows = np.broadcast_to(np.arange(positions.shape[-1]), positions.shape)
    return encode_positions(rows, d_model, base)


def _from_the_table(positions, d_model, base):
    return encode_positions(np.arange(positions.max() + 1), d_model, base)[positions]


MISCONCEPTIONS = (
    Misconception(
        "doubled_exponent",
        (_with(lambda c, d: 2 * (c // 2 * 2) / d),),
        {
            "es": "La base lleva el doble de exponente: el 2 de 2i está contado dos veces. El "
            "segundo reloj va a la velocidad del tercero. La columna 2 debe llevar `2 / d_model`, "
            "y tú le das `4 / d_model`.",
            "en": "The base carries twice the exponent: the 2 of 2i is counted two times over. The "
            "second clock runs at the speed of the third. Column 2 should carry `2 / d_model`, and "
            "you give it `4 / d_model`.",
        },
    ),
    Misconception(
        "halved_exponent",
        (_with(lambda c, d: c // 2 / d),),
        {
            "es": "Al exponente le falta el 2: el reloj número i lleva 2i/d_model, y tú pones "
            "i/d_model. Comprueba la columna 2, cuyo exponente es `2 / d_model`.",
            "en": "The exponent lacks its 2: clock number i carries 2i/d_model, and you put "
            "i/d_model. Check column 2, whose exponent is `2 / d_model`.",
        },
    ),
    Misconception(
        "exponent_of_each_column",
        (_with(lambda c, d: c / d), _with(lambda c, d: 2 * c / d)),
        {
            "es": "El coseno de cada par gira a otra velocidad que su seno, porque el exponente "
            "sale del número de columna. Sale del número de reloj: `columns // 2`.",
            "en": "The cosine of each pair turns at another speed than its sine, because the "
            "exponent comes from the column number. It comes from the clock number: "
            "`columns // 2`.",
        },
    ),
    Misconception(
        "exponent_positive",
        (_with(lambda c, d: -(c // 2 * 2) / d),),
        {
            "es": "Tus relojes se aceleran de izquierda a derecha: la potencia de la base "
            "multiplica a la posición. Tiene que dividirla, o llevar un signo menos.",
            "en": "Your clocks get faster from left to right: the power of the base multiplies "
            "the position. It has to divide it, or carry a minus sign.",
        },
    ),
    Misconception(
        "base_fixed",
        (_with(base=lambda base: 10000.0),),
        {
            "es": "En tu código está escrito 10000, y la base llega como tercer argumento. Con otra base "
            "todos los relojes, menos el primero, cambian de velocidad.",
            "en": "You left 10000 written in, and the base comes as the third argument. With "
            "another base every clock but the first changes speed.",
        },
    ),
    Misconception(
        "swapped",
        (_with(even=np.cos, odd=np.sin),),
        {
            "es": "Seno y coseno están intercambiados. Pruébalo con la posición 0: la columna 0 "
            "lleva sen 0 = 0, y la columna 1, cos 0 = 1.",
            "en": "Sine and cosine are exchanged. Try it on position 0: column 0 holds sin 0 = 0, "
            "and column 1, cos 0 = 1.",
        },
    ),
    Misconception(
        "blocked",
        (_blocked(np.sin, np.cos), _blocked(np.cos, np.sin)),
        {
            "es": "Juntas todas las columnas de una función y después las de la otra. En este "
            "curso cada coseno va pegado a su seno, en la columna siguiente.",
            "en": "You put all the columns of one function together and then those of the other. "
            "In this course each cosine sits beside its sine, in the next column.",
        },
    ),
    Misconception(
        "only_sines",
        (_with(odd=np.sin),),
        {
            "es": "Pones senos también en las columnas impares, y la misma cifra sale dos veces. "
            "Dos ángulos distintos tienen el mismo seno; el coseno de al lado dice cuál es.",
            "en": "You put sines in the odd columns too, so the same figure comes out twice. Two "
            "different angles have the same sine; the cosine beside it says which one it is.",
        },
    ),
    Misconception(
        "degrees",
        (_with(scale=np.pi / 180),),
        {
            "es": "Tratas la posición como si fueran grados. La posición 1 adelanta el primer "
            "reloj 1 radián: `np.sin` ya recibe radianes.",
            "en": "You treat the position as if it were degrees. Position 1 moves the first clock "
            "on by 1 radian: `np.sin` takes radians already.",
        },
    ),
    Misconception(
        "rows_instead_of_positions",
        (_counts_rows,),
        {
            "es": "Codificas 0, 1, 2..., el orden en que llegan, y no lo que dice `positions`. Con "
            "relleno delante la primera palabra no está en la primera fila.",
            "en": "You encode 0, 1, 2..., the order in which they come, and not what `positions` "
            "says. With padding in front the first word is not in the first row.",
        },
    ),
    Misconception(
        "whole_positions_only",
        (_with(positions=np.trunc), _with(positions=np.round), _from_the_table),
        {
            "es": "Con posiciones enteras aciertas; entre dos enteros, no. Si las redondeas, o las "
            "buscas en una tabla, 4.5 se pierde: el seno de la fórmula admite cualquier número.",
            "en": "You are right on whole positions and not between them. Round them, or look them "
            "up in a table, and 4.5 is lost: the sine in the formula takes any number.",
        },
    ),
    Misconception(
        "last_column_lost",
        (_pairs_only, _last_clock_whole),
        {
            "es": "Con anchura impar sobra o falta una columna, porque cuentas por pares. Al "
            "último reloj solo le cabe el seno: hacen falta exactamente `d_model` columnas.",
            "en": "At an odd width a column is missing or left over, because you count in pairs. "
            "The last clock has room for its sine only: it takes exactly `d_model` columns.",
        },
    ),
    Misconception(
        "another_width",
        (_wider_and_cut, _shares_the_even_width),
        {
            "es": "Con anchura impar divides el exponente entre el número par de al lado, quizá "
            "porque haces una tabla más ancha y la recortas. El divisor es siempre `d_model`.",
            "en": "At an odd width you divide the exponent by the even number next to it, perhaps "
            "because you make a wider table and cut it. The divisor is always `d_model`.",
        },
    ),
    Misconception(
        "last_column_changed",
        (_cosine_at_the_end, _silent_at_the_end),
        {
            "es": "Con anchura impar la última columna no es lo que se pide. Es par, porque se "
            "cuenta desde 0, así que lleva el seno de su reloj.",
            "en": "At an odd width the last column is not what is asked for. It is even, since we "
            "count from 0, so it holds the sine of its clock.",
        },
    ),
    Misconception(
        "one_axis_only",
        (_one_axis,),
        {
            "es": "Una fila de posiciones te sale; un lote de ellas, o una sola, no. El eje nuevo "
            "va al final, haya los que haya: `positions[..., None]`.",
            "en": "A row of positions comes out right; a batch of them, or a single one, does not. "
            "The new axis goes last, however many there are: `positions[..., None]`.",
        },
    ),
)

EXERCISE = Exercise(
    "encode_positions",
    7,
    ("encoding",),
    encode_positions,
    cases,
    MISCONCEPTIONS,
    problem_set="ps6",
)
