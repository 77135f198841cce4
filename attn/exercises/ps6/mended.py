"""Problem set 6, `mended_rotary_scores`: the fault of a given function, and other ones."""

import numpy as np

from attn.exercises.spec import Exercise, Misconception
from attn.reference import rotary


def mended_rotary_scores(query, key, base):
    """Return the scaled scores of queries and keys, each turned by its position."""
    return _scores(rotary(query, base=base), rotary(key, base=base))


def cases(seed):
    """Return queries and keys: one sentence, and several.

    Parameters
    ----------
    seed : int
        Seed of the random numbers; the shapes are always the same.

    Returns
    -------
    list of dict
        With the keys ``query``, ``key`` and ``base``.
    """
    rng = np.random.default_rng(seed)
    shapes = [(3, 4), (4, 6), (6, 4), (5, 8), (2, 3, 4), (3, 3, 6), (2, 3, 5, 4)]
    return [
        {
            "query": rng.uniform(-1, 1, shape),
            "key": rng.uniform(-1, 1, shape),
            "base": np.float64(rng.uniform(30, 300)),
        }
        for shape in shapes
    ]


def _scores(query, key):
    return query @ key.mT / np.sqrt(query.shape[-1])


def _turned(x, speeds, positions):
    angles = positions[:, None] * speeds
    even, odd, cos, sin = x[..., 0::2], x[..., 1::2], np.cos(angles), np.sin(angles)
    return np.concatenate([even * cos - odd * sin, even * sin + odd * cos], axis=-1)


def _with(
    exponents=lambda d: np.arange(0, d, 2) / d,
    base=lambda base: base,
    query_sign=1,
    key_sign=1,
    score=_scores,
    scale=1.0,
):
    """Return the scores with one of their ingredients exchanged for another."""

    def scores(query, key, number):
        speeds = scale * base(number) ** -exponents(query.shape[-1])
        place = np.arange(query.shape[-2])
        turned = (
            _turned(x, speeds, sign * place) for x, sign in ((query, query_sign), (key, key_sign))
        )
        return score(*turned)

    return scores


def _no_minus(query, key, base):
    def stretched(x):
        angles = np.arange(x.shape[-2])[:, None] * base ** -(
            np.arange(0, x.shape[-1], 2) / x.shape[-1]
        )
        even, odd, cos, sin = x[..., 0::2], x[..., 1::2], np.cos(angles), np.sin(angles)
        return np.concatenate([even * cos + odd * sin, even * sin + odd * cos], axis=-1)

    return _scores(stretched(query), stretched(key))


def _in_halves(query, key, base):
    def halves(x):
        return np.stack(np.split(x, 2, axis=-1), axis=-1).reshape(x.shape)

    return mended_rotary_scores(halves(query), halves(key), base)


def _all_axes(query, key, base):
    query, key = rotary(query, base=base), rotary(key, base=base)
    return query @ key.T / np.sqrt(query.shape[-1])


def _matrix_only(query, key, base):
    _seq_len, _d_k = query.shape
    return mended_rotary_scores(query, key, base)


def _sentences_numbered(query, key, base):
    turned = (
        _turned(x, base ** (-np.arange(0, x.shape[-1], 2) / x.shape[-1]), np.arange(len(x)))
        for x in (query, key)
    )
    return _scores(*turned)


MISCONCEPTIONS = (
    Misconception(
        "doubled_exponent",
        (_with(lambda d: 2 * np.arange(0, d, 2) / d),),
        {
            "es": "El fallo sigue ahí. Con base 100 y cuatro componentes escribe a mano la "
            "velocidad del segundo par, imprime la del programa y compara los exponentes.",
            "en": "The fault is still there. With base 100 and four components write down the "
            "speed of the second pair by hand, print that of the program and compare the exponents.",
        },
    ),
    Misconception(
        "halved_exponent",
        (_with(lambda d: np.arange(d // 2) / d),),
        {
            "es": "Quitaste un 2 de más: el exponente pasa del doble a la mitad. O los pares van "
            "de dos en dos, `0, 2, 4`, o van de uno en uno y se multiplican por 2.",
            "en": "You took out one 2 too many: the exponent goes from twice to half. Either the "
            "pairs go in twos, `0, 2, 4`, or in ones and are multiplied by 2.",
        },
    ),
    Misconception(
        "one_speed",
        (_with(lambda d: np.zeros(d // 2)),),
        {
            "es": "Ahora todos los pares giran igual de deprisa: el exponente se fue entero. Las "
            "velocidades bajan de par en par.",
            "en": "Now all pairs turn equally fast: the exponent has gone altogether. Speeds go "
            "down from pair to pair.",
        },
    ),
    Misconception(
        "exponent_positive",
        (_with(lambda d: -np.arange(0, d, 2) / d),),
        {
            "es": "Por el camino se perdió el signo menos del exponente, y los pares se aceleran "
            "en vez de frenarse. El código dado lo llevaba.",
            "en": "The minus sign of the exponent got lost along the way, and the pairs speed up "
            "instead of slowing down. The given code had it.",
        },
    ),
    Misconception(
        "base_fixed",
        (_with(base=lambda base: 10000.0),),
        {
            "es": "Cambiaste `base` por 10000. No era ese el fallo: la base la elige quien llama.",
            "en": "You put 10000 in place of `base`. That was not the fault: whoever calls chooses "
            "the base.",
        },
    ),
    Misconception(
        "unscaled",
        (_with(score=lambda query, key: query @ key.mT),),
        {
            "es": "Las velocidades están arregladas y falta la raíz que traía la última línea: los "
            "puntajes salen √d_k veces mayores.",
            "en": "The speeds are mended and the root of the last line is missing: the scores come "
            "out √d_k times too large.",
        },
    ),
    Misconception(
        "scaled_by_d_k",
        (_with(score=lambda query, key: query @ key.mT / query.shape[-1]),),
        {
            "es": "Divides entre la anchura entera, y el código dado dividía entre su raíz. "
            "Deshaz ese cambio.",
            "en": "You divide by the whole width, and the given code divided by its root. Undo "
            "that change.",
        },
    ),
    Misconception(
        "query_only",
        (_with(key_sign=0), _with(query_sign=0)),
        {
            "es": "Giras solo una de las dos. Entonces el puntaje depende del lugar de esa palabra "
            "y no de la distancia: la query y la key giran, cada una según su posición.",
            "en": "You turn only one of the two. The score then depends on the place of that word "
            "and not on the distance: query and key both turn, each by its position.",
        },
    ),
    Misconception(
        "turned_apart",
        (_with(key_sign=-1), _with(query_sign=-1)),
        {
            "es": "Una gira en un sentido y la otra en el contrario: sus ángulos se suman, y el "
            "puntaje ve la suma de las posiciones. Deben girar en el mismo.",
            "en": "One turns one way and the other the opposite way: their angles add, and the "
            "score sees the sum of the positions. They must turn the same way.",
        },
    ),
    Misconception(
        "both_backwards",
        (_with(query_sign=-1, key_sign=-1),),
        {
            "es": "Cambiaste el sentido de los dos giros, o el seno por el coseno. La distancia "
            "sigue contando, pero con antes y después intercambiados; el giro estaba bien.",
            "en": "You changed the sense of both turns, or the sine for the cosine. Distance still "
            "counts, but with before and after exchanged; the turn was right.",
        },
    ),
    Misconception(
        "no_minus",
        (_no_minus,),
        {
            "es": "El menos del giro desapareció, y los vectores cambian de longitud según donde "
            "estén. Esa línea no tenía ningún fallo.",
            "en": "The minus of the turn has gone, and vectors change length depending on where "
            "they stand. There was no fault in that line.",
        },
    ),
    Misconception(
        "in_halves",
        (_in_halves,),
        {
            "es": "Cambiaste las parejas: la componente i con la que está media anchura más allá. "
            "En el código dado iban juntas las vecinas, y así es en este curso.",
            "en": "You changed the pairs: component i with the one half a width further on. In the "
            "given code neighbours went together, as they do in this course.",
        },
    ),
    Misconception(
        "degrees",
        (_with(scale=np.pi / 180),),
        {
            "es": "Metiste una conversión de grados a radianes que no hacía falta: los ángulos ya "
            "estaban en radianes.",
            "en": "You brought in a conversion from degrees to radians that was not needed: the "
            "angles were in radians already.",
        },
    ),
    Misconception(
        "matrix_only",
        (_all_axes, _matrix_only),
        {
            "es": "El arreglo vale para una oración, pero no para un lote. El código dado servía "
            "para los dos: `.mT` y los ejes contados desde el final.",
            "en": "The repair holds for one sentence but not for a batch. The given code served "
            "both: `.mT`, and axes counted from the end.",
        },
    ),
    Misconception(
        "sentences_numbered",
        (_sentences_numbered,),
        {
            "es": "Cuentas posiciones con `len`, que en un lote es el número de oraciones. Las "
            "palabras están en el penúltimo eje: `query.shape[-2]`.",
            "en": "You count positions with `len`, which for a batch is the number of sentences. "
            "Words lie along the last axis but one: `query.shape[-2]`.",
        },
    ),
)

EXERCISE = Exercise(
    "mended_rotary_scores",
    7,
    ("scores",),
    mended_rotary_scores,
    cases,
    MISCONCEPTIONS,
    problem_set="ps6",
)
