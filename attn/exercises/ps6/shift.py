"""Problem set 6, `shift_encoding`: to move on without knowing where one stands."""

import numpy as np

from attn.exercises.ps6.encode import encode_positions
from attn.exercises.spec import Exercise, Misconception
from attn.reference import rotary


def shift_encoding(encoding, steps, base):
    """Return the encodings so many steps further on.

    It is the turn of the rotary positions, the other way round, since the sine comes first.
    """
    return rotary(encoding[..., None, :], -steps[..., None], base)[..., 0, :]


def cases(seed):
    """Return encodings and steps: forwards and back, of mixtures of positions, with other axes.

    Parameters
    ----------
    seed : int
        Seed of the random numbers; the shapes are always the same.

    Returns
    -------
    list of dict
        With the keys ``encoding``, ``steps`` and ``base``.
    """
    rng = np.random.default_rng(seed)

    def draw(batch, d_model, back=False, mixed=False):
        base = np.float64(rng.uniform(30, 300))
        size = np.prod(batch, dtype=int)
        # All steps differ, and none is 0.
        steps = rng.permutation(np.arange(1, 8))[:size].reshape(batch)
        encoding = encode_positions(rng.integers(3, 30, batch), d_model, base)
        if mixed:
            other = encode_positions(rng.integers(31, 60, batch), d_model, base)
            encoding = 0.75 * encoding + 0.25 * other
        return {"encoding": encoding, "steps": -steps if back else steps, "base": base}

    return [
        draw((2,), 4),
        draw((3,), 6),
        draw((5,), 8),
        draw((2,), 4, back=True),
        draw((3,), 8, back=True),
        draw((2,), 4, mixed=True),
        draw((4,), 6, mixed=True),
        draw((), 4),
        draw((2, 3), 8),
    ]


def _turned(sine, cosine, c, s):
    return sine * c + cosine * s, cosine * c - sine * s


def _with(
    turn=_turned,
    exponents=lambda d: np.arange(0, d, 2) / d,
    steps=lambda given: given,
    base=lambda base: base,
    scale=1.0,
):
    """Return the shift with one of its ingredients exchanged for another."""

    def shifted(encoding, given, number):
        speeds = base(number) ** -exponents(encoding.shape[-1])
        angles = scale * np.asarray(steps(given))[..., None] * speeds
        parts = turn(encoding[..., 0::2], encoding[..., 1::2], np.cos(angles), np.sin(angles))
        return np.stack(np.broadcast_arrays(*parts), axis=-1).reshape(encoding.shape)

    return shifted


def _joined_in_blocks(encoding, steps, base):
    shifted = shift_encoding(encoding, steps, base)
    return np.concatenate([shifted[..., 0::2], shifted[..., 1::2]], axis=-1)


def _split_in_blocks(encoding, steps, base):
    d_model = encoding.shape[-1]
    angles = steps[..., None] / base ** (np.arange(0, d_model, 2) / d_model)
    parts = np.split(encoding, 2, axis=-1)
    return np.concatenate(_turned(*parts, np.cos(angles), np.sin(angles)), axis=-1)


def _overwritten(sine, cosine, c, s):
    sine = sine * c + cosine * s
    return sine, cosine * c - sine * s


def _added(encoding, steps, base):
    return encoding + encode_positions(steps, encoding.shape[-1], base)


def _restarted(encoding, steps, base):
    return encode_positions(steps, encoding.shape[-1], base)


def _on_the_circle(sine, cosine, c, s):
    length = np.hypot(sine, cosine)
    return _turned(sine / length, cosine / length, c, s)


def _arc_of_the_sine(sine, cosine, c, s):
    # The angle from the sine alone is right only in half of the turn.
    angle = np.arcsin(np.clip(sine, -1, 1)) + np.arctan2(s, c)
    return np.sin(angle), np.cos(angle)


def _arc_of_the_quotient(sine, cosine, c, s):
    angle = np.arctan(sine / cosine) + np.arctan2(s, c)
    return np.sin(angle), np.cos(angle)


def _matrix_only(encoding, steps, base):
    _rows, _d_model = encoding.shape
    return shift_encoding(encoding, steps, base)


MISCONCEPTIONS = (
    Misconception(
        "backwards",
        (_with(scale=-1.0),),
        {
            "es": "Retrocedes en vez de avanzar. Aquí cada par es (seno, coseno), al revés que en "
            "las rotatorias, y el signo menos cambia de sitio: va en el coseno, "
            "`cosine * c - sine * s`.",
            "en": "You go back instead of on. Here each pair is (sine, cosine), the reverse of "
            "rotary positions, and the minus sign changes place: it goes with the cosine, "
            "`cosine * c - sine * s`.",
        },
    ),
    Misconception(
        "no_minus",
        (_with(lambda x, y, c, s: (x * c + y * s, y * c + x * s)),),
        {
            "es": "Los dos signos son más, y los pares se salen de su circunferencia. El coseno "
            "de una suma lleva un menos: cos(a + b) = cos a cos b − sen a sen b.",
            "en": "Both signs are plus, and the pairs leave their circle. The cosine of a sum has "
            "a minus: cos(a + b) = cos a cos b − sin a sin b.",
        },
    ),
    Misconception(
        "overwritten",
        (_with(_overwritten),),
        {
            "es": "El coseno nuevo sale del seno ya movido. Guarda el seno de antes, o calcula los "
            "dos en una línea: cada uno necesita los dos valores viejos.",
            "en": "The new cosine is computed from the sine already moved. Keep the sine from "
            "before, or compute both in one line: each needs the two old values.",
        },
    ),
    Misconception(
        "added",
        (_added,),
        {
            "es": "Sumas la codificación de los pasos a la de la posición. Se suman los ángulos, "
            "no sus senos: el seno de una suma tiene dos productos.",
            "en": "You add the encoding of the steps to that of the position. It is the angles "
            "that add, not their sines: the sine of a sum has two products.",
        },
    ),
    Misconception(
        "restarted",
        (_restarted,),
        {
            "es": "Devuelves la codificación de los pasos mismos, como si todo empezara en la "
            "posición 0. Lo que se mueve es `encoding`, esté donde esté.",
            "en": "You return the encoding of the steps themselves, as if all began at position 0. "
            "What moves is `encoding`, wherever it stands.",
        },
    ),
    Misconception(
        "doubled_exponent",
        (_with(exponents=lambda d: 2 * np.arange(0, d, 2) / d),),
        {
            "es": "El giro de cada par no es el de su reloj: el exponente está doblado, y solo el "
            "primer par acierta. Usa la misma velocidad que en la tarea 1.",
            "en": "The turn of each pair is not that of its clock: the exponent is doubled, and "
            "only the first pair comes out right. Use the same speed as in task 1.",
        },
    ),
    Misconception(
        "halved_exponent",
        (_with(exponents=lambda d: np.arange(d // 2) / d),),
        {
            "es": "Giras los pares lentos demasiado: el exponente del par i es 2i/d_model, y tú lo "
            "dejas en la mitad. El primer par, de exponente 0, no lo nota.",
            "en": "You turn the slow pairs too far: the exponent of pair i is 2i/d_model, and you "
            "leave it at half. The first pair, of exponent 0, does not notice.",
        },
    ),
    Misconception(
        "one_speed",
        (_with(exponents=lambda d: np.zeros(d // 2)),),
        {
            "es": "Giras todos los pares el mismo ángulo, `steps`. Eso vale para el primer reloj; "
            "los demás avanzan menos en los mismos pasos, cada uno según su velocidad.",
            "en": "You turn all pairs by the same angle, `steps`. That holds for the first clock; "
            "the others move less in as many steps, each by its own speed.",
        },
    ),
    Misconception(
        "base_fixed",
        (_with(base=lambda base: 10000.0),),
        {
            "es": "Giras con base 10000 unos relojes que se hicieron con otra, la que llega en "
            "`base`. El giro y la tabla tienen que compartirla.",
            "en": "You turn by base 10000 clocks that were made with another, the one in `base`. "
            "The turn and the table have to share it.",
        },
    ),
    Misconception(
        "one_step_count",
        (
            _with(steps=lambda given: given.flat[0] * np.ones(given.shape)),
            _with(steps=lambda given: given.mean() * np.ones(given.shape)),
        ),
        {
            "es": "Avanzas todas las filas los mismos pasos. Cada una trae los suyos: la fila `r` "
            "se mueve `steps[r]`.",
            "en": "You move every row by the same number of steps. Each comes with its own: row "
            "`r` moves by `steps[r]`.",
        },
    ),
    Misconception(
        "only_forwards",
        (_with(steps=np.abs),),
        {
            "es": "Con pasos negativos avanzas igual: el signo se pierde. Tres pasos hacia atrás "
            "son el giro contrario; el coseno es el mismo, el seno cambia de signo.",
            "en": "On negative steps you still move forwards: you have lost the sign. Three steps "
            "back are the opposite turn; the cosine is the same, the sine changes sign.",
        },
    ),
    Misconception(
        "in_blocks",
        (_split_in_blocks, _joined_in_blocks),
        {
            "es": "Partes o juntas las columnas por mitades. El seno y el coseno de un reloj son "
            "vecinos: tómalos con `0::2` y `1::2`, y devuélvelos a su sitio del mismo modo.",
            "en": "You split or join the columns by halves. The sine and the cosine of a clock are "
            "neighbours: take them with `0::2` and `1::2`, and put them back the same way.",
        },
    ),
    Misconception(
        "back_on_the_circle",
        (_with(_on_the_circle),),
        {
            "es": "Una mezcla de posiciones no está en la circunferencia, y tú la devuelves a "
            "ella: recuperas el ángulo y pierdes la longitud. Girar no cambia longitudes; no hace "
            "falta hallar el ángulo.",
            "en": "A mixture of positions does not lie on the circle, and you put it back there: "
            "you recover the angle and lose the length. Turning changes no length; there is no "
            "need to find the angle.",
        },
    ),
    Misconception(
        "half_of_the_turn",
        (_with(_arc_of_the_sine), _with(_arc_of_the_quotient)),
        {
            "es": "Sacas el ángulo de `arcsin` o de `arctan`, que solo conocen media vuelta. Hacen "
            "falta el seno y el coseno a la vez, o mejor, ningún ángulo: gira el par.",
            "en": "You get the angle from `arcsin` or `arctan`, which know only half a turn. It "
            "takes the sine and the cosine together, or better, no angle at all: turn the pair.",
        },
    ),
    Misconception(
        "matrix_only",
        (_matrix_only,),
        {
            "es": "Una matriz de filas te sale; un vector suelto o un lote, no. Cuenta los ejes "
            "desde el final y da a `steps` uno más detrás.",
            "en": "A matrix of rows comes out right; a single vector or a batch does not. Count the "
            "axes from the end and give `steps` one more behind.",
        },
    ),
)

EXERCISE = Exercise(
    "shift_encoding",
    7,
    ("shifted",),
    shift_encoding,
    cases,
    MISCONCEPTIONS,
    problem_set="ps6",
)
