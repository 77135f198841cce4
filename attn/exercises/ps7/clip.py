"""Problem set 7, `clip_gradients`: one norm for all, and the ways to take it wrong."""

import numpy as np

from attn.exercises.spec import Exercise, Misconception


def clip_gradients(w_gradient, b_gradient, max_norm):
    """Return both gradients scaled to a joint norm of at most ``max_norm``, and that norm."""
    norm = np.sqrt((w_gradient**2).sum() + (b_gradient**2).sum())
    scale = max_norm / norm if norm > max_norm else 1.0
    return scale * w_gradient, scale * b_gradient, norm


def cases(seed):
    """Return gradients of a matrix and its bias: above the limit, below it, and zeros.

    Parameters
    ----------
    seed : int
        Seed of the random numbers; the shapes are always the same.

    Returns
    -------
    list of dict
        With the keys ``w_gradient``, ``b_gradient`` and ``max_norm``.
    """
    rng = np.random.default_rng(seed)

    def draw(d_in, d_out, norms, max_norm):
        w, b = rng.uniform(0.4, 1, (d_in, d_out)), rng.uniform(0.4, 1, d_out)
        w, b = (array * rng.choice([-1, 1], array.shape) for array in (w, b))
        w, b = (
            array * norm / np.linalg.norm(array) for array, norm in zip((w, b), norms, strict=True)
        )
        return {"w_gradient": w, "b_gradient": b, "max_norm": np.array(max_norm)}

    return [
        draw(2, 3, (3, 1.5), 1.0),
        draw(3, 2, (2.5, 4), 2.0),
        draw(4, 3, (5, 0.8), 1.5),
        draw(3, 4, (0.9, 0.9), 1.0),  # each below the limit, both together above it
        draw(2, 4, (0.3, 0.4), 1.0),
        draw(4, 2, (1.5, 0.6), 2.5),
        {"w_gradient": np.zeros((3, 2)), "b_gradient": np.zeros(2), "max_norm": np.array(1.0)},
    ]


def _norm(*gradients):
    return np.sqrt(sum((gradient**2).sum() for gradient in gradients))


def _scale(norm, max_norm):
    return max_norm / norm if norm > max_norm else 1.0


def _measured_by(measure, told=None):
    """Return a clipping by another size than the norm."""

    def wrong(w, b, max_norm):
        size = measure(w, b)
        scale = _scale(size, max_norm)
        return w * scale, b * scale, size if told is None else told(w, b)

    return wrong


def _scaled_by(scale):
    def wrong(w, b, max_norm):
        norm = _norm(w, b)
        factor = scale(norm, max_norm)
        return w * factor, b * factor, norm

    return wrong


def _each_alone(told):
    def wrong(w, b, max_norm):
        return w * _scale(_norm(w), max_norm), b * _scale(_norm(b), max_norm), told(w, b)

    return wrong


def _by_value(w, b, max_norm):
    return np.clip(w, -max_norm, max_norm), np.clip(b, -max_norm, max_norm), _norm(w, b)


def _bias_untouched(measure):
    def wrong(w, b, max_norm):
        norm = measure(w, b)
        return w * _scale(norm, max_norm), b.copy(), norm

    return wrong


def _norm_afterwards(w, b, max_norm):
    norm = _norm(w, b)
    scale = _scale(norm, max_norm)
    return w * scale, b * scale, norm * scale


def _rows(w, b, max_norm):
    sizes = np.sqrt((w**2).sum(axis=-1, keepdims=True))
    scales = np.where(sizes > max_norm, max_norm / sizes, 1)
    return w * scales, b * _scale(_norm(b), max_norm), _norm(w, b)


MISCONCEPTIONS = (
    Misconception(
        "each_alone",
        (
            _each_alone(_norm),
            _each_alone(lambda w, b: _norm(w)),
            _each_alone(lambda w, b: _norm(w) + _norm(b)),
            _rows,
        ),
        {
            "es": "Mides y recortas cada gradiente por su lado. Así cambia la dirección del paso: "
            "uno se acorta y el otro no. La norma es una sola, la de todos los números juntos.",
            "en": "You measure and clip each gradient on its own. That changes the direction of "
            "the step: one is shortened and the other is not. There is a single norm, that of all "
            "the numbers together.",
        },
    ),
    Misconception(
        "by_value",
        (_by_value,),
        {
            "es": "Recortas número por número con un tope. El gradiente cambia de dirección, y su "
            "norma puede seguir por encima del límite: multiplícalos todos por el mismo factor.",
            "en": "You cap the numbers one by one. The gradient changes direction, and its norm may "
            "still be above the limit: multiply them all by the same factor.",
        },
    ),
    Misconception(
        "always_scaled",
        (_scaled_by(lambda norm, most: most / norm),),
        {
            "es": "Llevas todo gradiente a la norma `max_norm`, también los pequeños, que crecen. "
            "Es un límite, no una medida fija: por debajo no se toca nada.",
            "en": "You bring every gradient to the norm `max_norm`, the small ones too, which grow. "
            "It is a limit, not a fixed size: below it nothing is touched.",
        },
    ),
    Misconception(
        "stretched_only",
        (_scaled_by(lambda norm, most: most / norm if norm < most else 1.0),),
        {
            "es": "La condición está al revés: alargas los gradientes pequeños y dejas pasar los "
            "grandes. Hay que actuar cuando la norma supera el límite.",
            "en": "The condition is the wrong way round: you stretch small gradients and let the "
            "large ones through. Something is to be done when the norm exceeds the limit.",
        },
    ),
    Misconception(
        "inverted",
        (_scaled_by(lambda norm, most: norm / most if norm > most else 1.0),),
        {
            "es": "El factor está invertido: un gradiente que se pasa del doble sale con el "
            "cuádruple. Multiplicado por él, la norma debe quedar en `max_norm`.",
            "en": "The factor is upside down: a gradient at twice the limit comes out at four "
            "times. Multiplied by it, the norm should end at `max_norm`.",
        },
    ),
    Misconception(
        "dropped",
        (_scaled_by(lambda norm, most: 0.0 if norm > most else 1.0),),
        {
            "es": "Descartas el gradiente que se pasa, y con él lo que decía. Recortar conserva su "
            "dirección y acorta su longitud.",
            "en": "You throw away a gradient that exceeds the limit, and what it said with it. "
            "Clipping keeps its direction and shortens its length.",
        },
    ),
    Misconception(
        "never_clipped",
        (_scaled_by(lambda norm, most: 1.0),),
        {
            "es": "Mides la norma y devuelves los gradientes como llegaron. Cuando supera "
            "`max_norm`, los dos se multiplican por un factor menor que 1.",
            "en": "You measure the norm and return the gradients as they came. When it exceeds "
            "`max_norm`, both are multiplied by a factor below 1.",
        },
    ),
    Misconception(
        "no_square_root",
        (
            _measured_by(lambda w, b: _norm(w, b) ** 2),
            _measured_by(lambda w, b: _norm(w, b) ** 2, told=_norm),
        ),
        {
            "es": "Comparas la suma de los cuadrados, que es la norma al cuadrado, con un límite "
            "que está en la escala de los gradientes. Falta la raíz.",
            "en": "You compare the sum of squares, which is the norm squared, with a limit that is "
            "on the scale of the gradients. The root is missing.",
        },
    ),
    Misconception(
        "norms_summed",
        (
            _measured_by(lambda w, b: _norm(w) + _norm(b)),
            _measured_by(lambda w, b: _norm(w) + _norm(b), told=_norm),
        ),
        {
            "es": "Sumas las dos normas. Se suman los cuadrados, como en Pitágoras, y la raíz viene "
            "al final: 3 y 4 dan 5, no 7.",
            "en": "You sum the two norms. It is the squares that are summed, as in Pythagoras, and "
            "the root comes last: 3 and 4 make 5, not 7.",
        },
    ),
    Misconception(
        "larger_norm",
        (
            _measured_by(lambda w, b: max(_norm(w), _norm(b))),
            _measured_by(lambda w, b: max(_norm(w), _norm(b)), told=_norm),
        ),
        {
            "es": "Tomas la mayor de las dos normas. La de los dos juntos es mayor que cualquiera "
            "de ellas: 0.9 y 0.9 pasan de 1.",
            "en": "You take the larger of the two norms. That of both together is larger than "
            "either: 0.9 and 0.9 exceed 1.",
        },
    ),
    Misconception(
        "absolute_values",
        (_measured_by(lambda w, b: np.abs(w).sum() + np.abs(b).sum()),),
        {
            "es": "Sumas valores absolutos: es otra norma, y crece mucho más deprisa con el número "
            "de pesos. La que se pide es la raíz de la suma de los cuadrados.",
            "en": "You sum absolute values: that is another norm, and grows much faster with the "
            "number of weights. The one asked for is the root of the sum of squares.",
        },
    ),
    Misconception(
        "largest_number",
        (_measured_by(lambda w, b: max(np.abs(w).max(), np.abs(b).max())),),
        {
            "es": "Mides por el número más grande. Muchos gradientes medianos también hacen un paso "
            "enorme: todos entran en la norma, con su cuadrado.",
            "en": "You measure by the largest number. Many middling gradients make a huge step too: "
            "all of them enter the norm, squared.",
        },
    ),
    Misconception(
        "mean_square",
        (
            _measured_by(lambda w, b: _norm(w, b) / np.sqrt(w.size + b.size)),
            _measured_by(lambda w, b: _norm(w, b) / np.sqrt(w.size + b.size), told=_norm),
        ),
        {
            "es": "Divides entre el número de pesos antes de la raíz. Eso da el tamaño típico de un "
            "número; la norma es la longitud del paso entero, y usa la suma.",
            "en": "You divide by the number of weights before the root. That gives the typical size "
            "of one number; the norm is the length of the whole step, and uses the sum.",
        },
    ),
    Misconception(
        "matrix_alone",
        (
            _measured_by(lambda w, b: _norm(w)),
            _measured_by(lambda w, b: _norm(w), told=_norm),
            _bias_untouched(_norm),
            _bias_untouched(lambda w, b: _norm(w)),
        ),
        {
            "es": "El gradiente del sesgo queda fuera: o no entra en la norma, o no se recorta. Los "
            "dos forman un solo paso: se miden juntos y se acortan juntos.",
            "en": "The gradient of the bias is left out: it does not enter the norm, or it is not "
            "clipped. Both form one step: they are measured together and shortened together.",
        },
    ),
    Misconception(
        "spectral",
        (
            _measured_by(lambda w, b: np.hypot(np.linalg.norm(w, 2), np.linalg.norm(b))),
            _measured_by(
                lambda w, b: np.hypot(np.linalg.norm(w, 2), np.linalg.norm(b)), told=_norm
            ),
        ),
        {
            "es": "`np.linalg.norm(w, 2)` de una matriz es su mayor valor singular, no la raíz de "
            "la suma de los cuadrados. Para esa, quita el 2 o aplana la matriz.",
            "en": "`np.linalg.norm(w, 2)` of a matrix is its largest singular value, not the root "
            "of the sum of squares. For that one, drop the 2 or flatten the matrix.",
        },
    ),
    Misconception(
        "norm_afterwards",
        (_norm_afterwards,),
        {
            "es": "Devuelves la norma de lo ya recortado, que nunca pasa del límite y no avisa de "
            "nada. La que interesa vigilar es la de antes.",
            "en": "You return the norm of what is already clipped, which never exceeds the limit "
            "and warns of nothing. The one worth watching is that of before.",
        },
    ),
    Misconception(
        "zero_over_zero",
        (_scaled_by(lambda norm, most: np.minimum(norm, most) / norm),),
        {
            "es": "Cuando todos los gradientes son 0 divides 0 entre 0, y un NaN llega a los pesos "
            "para quedarse. Divide solo si la norma supera el límite.",
            "en": "When all the gradients are 0 you divide 0 by 0, and a NaN reaches the weights "
            "for good. Divide only if the norm exceeds the limit.",
        },
    ),
)

EXERCISE = Exercise(
    "clip_gradients",
    8,
    ("w_gradient", "b_gradient", "norm"),
    clip_gradients,
    cases,
    MISCONCEPTIONS,
    problem_set="ps7",
)
