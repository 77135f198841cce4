"""Chapter 7, `rotate`: rotary positions, and how to turn the wrong thing the wrong way."""

import numpy as np

from attn import reference
from attn.exercises.spec import Exercise, Misconception


def rotate(x, positions, base):
    """Return the turned vectors, under the name the exercise uses."""
    return reference.rotary(x, positions, base)


def cases(seed):
    """Return vectors, where they stand and a base: one sequence, batches, heads.

    Positions are not 0, 1, 2, ..., and bases small enough for every pair to turn.

    Parameters
    ----------
    seed : int
        Seed of the random numbers; the shapes are always the same.

    Returns
    -------
    list of dict
        With the keys ``x``, ``positions`` and ``base``.
    """
    rng = np.random.default_rng(seed)
    shapes = [(2, 4), (3, 6), (5, 4), (4, 2), (2, 3, 8), (2, 3, 5, 4)]
    return [
        {
            "x": rng.uniform(-1, 1, shape),
            "positions": np.sort(rng.choice(np.arange(1, 12), shape[-2], replace=False)),
            "base": np.float64(rng.uniform(30, 300)),
        }
        for shape in shapes
    ]


def _exponents(d_k):
    return np.arange(0, d_k, 2) / d_k


def _joined(even, odd):
    return np.stack([even, odd], axis=-1).reshape(*even.shape[:-1], -1)


def _turned(even, odd, cos, sin):
    return even * cos - odd * sin, even * sin + odd * cos


def _with(
    turn=_turned,
    exponents=_exponents,
    positions=lambda given, x: given,
    base=lambda base: base,
    scale=1.0,
    join=_joined,
):
    """Return the rotation with one of its ingredients exchanged for another."""

    def rotated(x, given, number):
        speeds = base(number) ** -exponents(x.shape[-1])
        angles = scale * positions(given, x)[:, None] * speeds
        return join(*turn(x[..., 0::2], x[..., 1::2], np.cos(angles), np.sin(angles)))

    return rotated


def _halves(x, positions, base):
    angles = positions[:, None] * base ** -_exponents(x.shape[-1])
    first, second = np.split(x, 2, axis=-1)
    return np.concatenate(_turned(first, second, np.cos(angles), np.sin(angles)), axis=-1)


def _overwritten(even, odd, cos, sin):
    even = even * cos - odd * sin
    return even, even * sin + odd * cos


def _added(x, positions, base):
    return x + reference.sinusoidal_positions(positions.max() + 1, x.shape[-1], base)[positions]


def _every_axis(x, positions, base):
    if x.ndim != 2:
        raise ValueError("positions along the first axis do not broadcast")
    return rotate(x, positions, base)


MISCONCEPTIONS = (
    Misconception(
        "halves",
        (_halves,),
        {
            "es": "Emparejas la componente i con la i + d_k/2. Muchos modelos publicados lo hacen "
            "así, y es otra convención; en este curso, como en el artículo, van juntas las "
            "componentes vecinas: `x[..., 0::2]` y `x[..., 1::2]`.",
            "en": "You pair component i with i + d_k/2. Many published models do, and it is "
            "another convention; in this course, as in the paper, neighbours go together: "
            "`x[..., 0::2]` and `x[..., 1::2]`.",
        },
    ),
    Misconception(
        "backwards",
        (_with(scale=-1.0),),
        {
            "es": "Giras en sentido contrario. Entre una query y una key da lo mismo si las dos "
            "lo hacen, pero la rotación de ángulo positivo es `even * cos - odd * sin` arriba y "
            "`even * sin + odd * cos` abajo.",
            "en": "You turn the other way round. Between a query and a key it makes no difference "
            "if both do, but the turn by a positive angle is `even * cos - odd * sin` on top and "
            "`even * sin + odd * cos` below.",
        },
    ),
    Misconception(
        "no_minus",
        (_with(lambda e, o, c, s: (e * c + o * s, e * s + o * c)),),
        {
            "es": "Falta el signo menos de la primera componente. Sin él no es una rotación: el "
            "vector cambia de longitud, y los puntajes con él. Es `even * cos - odd * sin`.",
            "en": "The minus sign of the first component is missing. Without it this is no "
            "rotation: the vector changes length, and the scores with it. It is "
            "`even * cos - odd * sin`.",
        },
    ),
    Misconception(
        "reflection",
        (_with(lambda e, o, c, s: (e * c + o * s, e * s - o * c)),),
        {
            "es": "Eso es una reflexión: conserva la longitud, pero da la vuelta al plano, y ya en "
            "la posición 0 cambia el vector. El signo menos va en la primera componente y el más "
            "en la segunda.",
            "en": "That is a reflection: it keeps the length but flips the plane over, and changes "
            "the vector already at position 0. The minus belongs in the first component and the "
            "plus in the second.",
        },
    ),
    Misconception(
        "overwritten",
        (_with(_overwritten),),
        {
            "es": "Calculas la segunda componente con la primera ya girada. Las dos salen de los "
            "valores de antes: guarda el resultado en variables nuevas, o calcula las dos en "
            "una sola línea.",
            "en": "You compute the second component from the first one already turned. Both come "
            "from the values before: keep the results in new variables, or compute the two in "
            "a single line.",
        },
    ),
    Misconception(
        "doubled_exponent",
        (_with(exponents=lambda d: 2 * np.arange(0, d, 2) / d),),
        {
            "es": "El exponente está doblado: `np.arange(0, d_k, 2)` ya avanza de dos en dos, y "
            "multiplicarlo por 2 frena cada par de más. El ángulo es "
            "`position / base ** (np.arange(0, d_k, 2) / d_k)`.",
            "en": "The exponent is doubled: `np.arange(0, d_k, 2)` already goes in twos, and "
            "multiplying it by 2 slows each pair too much. The angle is "
            "`position / base ** (np.arange(0, d_k, 2) / d_k)`.",
        },
    ),
    Misconception(
        "halved_exponent",
        (_with(exponents=lambda d: np.arange(d // 2) / d),),
        {
            "es": "El exponente se queda en la mitad: el par número i gira con 2i/d_k, no con "
            "i/d_k. Escribe `np.arange(0, d_k, 2) / d_k`, que vale 0, 2/d_k, 4/d_k...",
            "en": "The exponent is only half: pair number i turns with 2i/d_k, not with i/d_k. "
            "Write `np.arange(0, d_k, 2) / d_k`, which gives 0, 2/d_k, 4/d_k...",
        },
    ),
    Misconception(
        "exponent_positive",
        (_with(exponents=lambda d: -np.arange(0, d, 2) / d),),
        {
            "es": "Cada par gira más deprisa que el anterior, porque multiplicas por la potencia "
            "de la base. Es al revés: `base ** (-np.arange(0, d_k, 2) / d_k)`, con el signo menos.",
            "en": "Each pair turns faster than the one before, because you multiply by the power "
            "of the base. It is the reverse: `base ** (-np.arange(0, d_k, 2) / d_k)`, with the "
            "minus sign.",
        },
    ),
    Misconception(
        "one_speed",
        (_with(exponents=lambda d: np.zeros(d // 2)),),
        {
            "es": "Todos los pares giran el mismo ángulo, `position`. Con un solo reloj las "
            "posiciones separadas unas 6.28 se confunden: cada par lleva su velocidad, "
            "`base ** (-2 * i / d_k)`.",
            "en": "All the pairs turn by the same angle, `position`. With a single clock, "
            "positions about 6.28 apart look the same: each pair has its own speed, "
            "`base ** (-2 * i / d_k)`.",
        },
    ),
    Misconception(
        "positions_ignored",
        (_with(positions=lambda given, x: np.arange(x.shape[-2])),),
        {
            "es": "Giras según el orden de las filas, 0, 1, 2..., y no según `positions`. Al "
            "generar palabra a palabra, la fila única que llega está en la posición 7, no en la "
            "0: usa el argumento.",
            "en": "You turn by the order of the rows, 0, 1, 2..., and not by `positions`. When "
            "generating word by word, the single row that arrives stands at position 7, not at "
            "0: use the argument.",
        },
    ),
    Misconception(
        "one_too_far",
        (_with(positions=lambda given, x: given + 1),),
        {
            "es": "Giras una posición de más. Como solo cuenta la distancia, los puntajes de un "
            "modelo no lo notarían; aun así, lo que está en la posición 0 debe quedar igual: "
            "quita el `+ 1`.",
            "en": "You turn one position too far. As only distance counts, the scores of a model "
            "would not notice; even so, what stands at position 0 should stay as it is: drop "
            "the `+ 1`.",
        },
    ),
    Misconception(
        "base_fixed",
        (_with(base=lambda base: 10000.0),),
        {
            "es": "Tomas siempre 10000 en lugar de `base`. Los modelos de contexto largo cambian "
            "justamente ese número, para que el reloj más lento no termine su vuelta.",
            "en": "You always take 10000 in place of `base`. Models with a long context change "
            "exactly that number, so that the slowest clock does not complete its turn.",
        },
    ),
    Misconception(
        "degrees",
        (_with(scale=np.pi / 180),),
        {
            "es": "Pasas los ángulos de grados a radianes, y ya eran radianes. El primer par gira "
            "1 radián, unos 57 grados, por cada posición: no conviertas nada.",
            "en": "You turn degrees into radians, and they were radians already. The first pair "
            "turns 1 radian, about 57 degrees, for each position: convert nothing.",
        },
    ),
    Misconception(
        "not_interleaved",
        (_with(join=lambda even, odd: np.concatenate([even, odd], axis=-1)),),
        {
            "es": "Los valores son correctos, pero dejas las componentes pares en la primera "
            "mitad y las impares en la segunda. Devuélvelas a su sitio, alternadas: "
            "`out[..., 0::2] = ...` y `out[..., 1::2] = ...`.",
            "en": "The values are right, but you leave the even components in the first half and "
            "the odd ones in the second. Put them back in their places, in turn: "
            "`out[..., 0::2] = ...` and `out[..., 1::2] = ...`.",
        },
    ),
    Misconception(
        "added",
        (_added,),
        {
            "es": "Sumas senos y cosenos a los vectores: eso es la codificación sinusoidal. La "
            "rotatoria no suma nada: mezcla las dos componentes de cada par, y la longitud del "
            "vector no cambia.",
            "en": "You add sines and cosines to the vectors: that is the sinusoidal encoding. The "
            "rotary one adds nothing: it mixes the two components of each pair, and the length "
            "of the vector stays the same.",
        },
    ),
    Misconception(
        "only_cosine",
        (_with(lambda e, o, c, s: (e * c, o * c)), _with(lambda e, o, c, s: (e * c, o * s))),
        {
            "es": "Multiplicas cada componente por un número, sin mezclarla con su vecina: eso "
            "encoge el vector en vez de girarlo. Cada salida necesita las dos: "
            "`even * cos - odd * sin` y `even * sin + odd * cos`.",
            "en": "You multiply each component by a number without mixing in its neighbour: that "
            "shrinks the vector instead of turning it. Each output needs both: "
            "`even * cos - odd * sin` and `even * sin + odd * cos`.",
        },
    ),
    Misconception(
        "one_sequence_only",
        (_every_axis,),
        {
            "es": "Tu función sirve para una oración suelta, pero no para un lote ni para varias "
            "cabezas. Cuenta los ejes desde el final: las componentes son `x[..., 0::2]` y las "
            "posiciones van en el penúltimo eje.",
            "en": "Your function handles a single sentence, but not a batch or several heads. "
            "Count the axes from the end: components are `x[..., 0::2]` and the positions go "
            "along the last axis but one.",
        },
    ),
)

EXERCISE = Exercise("rotate", 7, ("turned",), rotate, cases, MISCONCEPTIONS)
