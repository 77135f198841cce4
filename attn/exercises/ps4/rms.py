"""Problem set 4, `rms_norm`: a norm that only looks at the size, and the ways to miss it."""

import numpy as np

from attn.exercises.spec import Exercise, Misconception

EPS = 1e-5


def rms_norm(x, gain):
    """Divide each vector by the root of the mean of its squares, then stretch its components.

    Parameters
    ----------
    x : ndarray, shape (..., d_model)
    gain : ndarray, shape (d_model,)

    Returns
    -------
    ndarray, shape (..., d_model)

    References
    ----------
    Zhang and Sennrich (2019), Root Mean Square Layer Normalization.

    Examples
    --------
    >>> rms_norm(np.array([3.0, 4.0, 0.0, 0.0]), np.ones(4)).round(2)
    array([1.2, 1.6, 0. , 0. ])
    """
    return gain * x / np.sqrt((x**2).mean(axis=-1, keepdims=True) + EPS)


def cases(seed):
    """Return sentences, vectors of thousandths, a vector of zeros, lone vectors and batches.

    Parameters
    ----------
    seed : int
        Seed of the random numbers; the shapes are always the same.

    Returns
    -------
    list of dict
        With the keys ``x`` and ``gain``.
    """
    rng = np.random.default_rng(seed)

    # Ordinary vectors are so long that ε does not show in them: it has inputs of its own.
    def draw(*shape, scale=40.0):
        sizes = rng.uniform(0.7, 1.8, (*shape[:-1], 1))  # no two vectors alike
        return {
            "x": scale * sizes * (rng.uniform(-1, 1, shape) + 0.4),
            "gain": rng.uniform(0.5, 1.5, shape[-1]),
        }

    empty = draw(3, 5)
    empty["x"][1] = 0
    return [
        draw(2, 3),
        draw(3, 4),
        draw(4, 4),
        draw(5, 3),
        draw(3, 6, scale=200.0),
        draw(2, 4, scale=0.004),
        empty,
        draw(6),
        draw(2, 3, 4),
        draw(2, 3, 2, 5),
    ]


def _divided(divisor, top=lambda x: x, eps=EPS):
    """Return the norm with another divisor, or another numerator."""

    def rms_norm(x, gain):
        return gain * top(x) / divisor(x, eps)

    return rms_norm


def _root(x, eps, axis=-1):
    return np.sqrt((x**2).mean(axis=axis, keepdims=True) + eps)


def _centred(x):
    return x - x.mean(axis=-1, keepdims=True)


def _over(axis):
    return _divided(lambda x, eps: _root(x, eps, axis))


def _squares_without_mean(x, eps):
    return np.sqrt((x**2).sum(axis=-1, keepdims=True) + eps)


def _matrix_only(x, gain):
    _seq_len, _d_model = x.shape
    return rms_norm(x, gain)


MISCONCEPTIONS = (
    Misconception(
        "layer_norm",
        (_divided(lambda x, eps: _root(_centred(x), eps), _centred),),
        {
            "es": "Esa es la normalización de capa: restas la media y divides entre la desviación "
            "típica. Aquí nadie resta nada; el tamaño se mide desde el cero.",
            "en": "That is layer normalisation: you subtract the mean and divide by the standard "
            "deviation. Nothing is subtracted here; size is measured from zero.",
        },
    ),
    Misconception(
        "deviation_as_size",
        (_divided(lambda x, eps: _root(_centred(x), eps)),),
        {
            "es": "Divides entre la desviación típica, que mide distancias a la media. La raíz de "
            "la media de los cuadrados usa los cuadrados de las componentes mismas.",
            "en": "You divide by the standard deviation, which measures distances to the mean. The "
            "root mean square uses the squares of the components themselves.",
        },
    ),
    Misconception(
        "centred_afterwards",
        (_divided(_root, _centred),),
        {
            "es": "El divisor es el correcto y el numerador no: le restas la media al vector. Esta "
            "norma lo conserva entero y solo cambia su longitud.",
            "en": "The divisor is right and the numerator is not: you subtract the mean from the "
            "vector. This norm keeps all of it and changes only its length.",
        },
    ),
    Misconception(
        "unit_length",
        (_divided(_squares_without_mean),),
        {
            "es": "Sumas los cuadrados y no haces su media: los vectores salen con longitud 1. "
            "Deben salir con longitud cercana a √d_model.",
            "en": "You sum the squares and do not take their mean: the vectors come out with "
            "length 1. They should come out with a length near √d_model.",
        },
    ),
    Misconception(
        "no_root",
        (_divided(lambda x, eps: _root(x, eps) ** 2),),
        {
            "es": "Al divisor le falta la raíz. Prueba con x y con 10 x: el resultado debería ser "
            "casi el mismo, y el tuyo se divide entre 10.",
            "en": "The divisor lacks its root. Try x and 10 x: the result should be nearly the "
            "same, and yours is divided by 10.",
        },
    ),
    Misconception(
        "mean_of_sizes",
        (_divided(lambda x, eps: np.abs(x).mean(axis=-1, keepdims=True) + eps),),
        {
            "es": "Tu divisor es la media de los valores absolutos. La de los cuadrados, con su "
            "raíz, cuenta más las componentes grandes.",
            "en": "Your divisor is the mean of the absolute values. That of the squares, with its "
            "root, counts large components for more.",
        },
    ),
    Misconception(
        "root_of_the_mean",
        (_divided(lambda x, eps: np.sqrt(x.mean(axis=-1, keepdims=True) ** 2 + eps)),),
        {
            "es": "Elevas al cuadrado la media, en vez de hacer la media de los cuadrados. Con "
            "(1, −1) tu divisor es casi 0 y debería ser 1.",
            "en": "You square the mean instead of taking the mean of the squares. With (1, −1) your "
            "divisor is nearly 0 and it should be 1.",
        },
    ),
    Misconception(
        "whole_array",
        (_over(None),),
        {
            "es": "Un solo divisor sirve para todos los vectores, y los largos encogen a los "
            "cortos. Cada vector se divide entre su propio tamaño.",
            "en": "A single divisor serves all the vectors, and the long ones shrink the short. "
            "Each vector is divided by its own size.",
        },
    ),
    Misconception(
        "over_tokens",
        (_over(-2), _over(0)),
        {
            "es": "Tu media recorre los tokens: lo que le pasa a uno depende de los otros. Los "
            "cuadrados que entran en la media son los de un mismo vector.",
            "en": "Your mean runs along the tokens: what happens to one depends on the others. The "
            "squares to average are those of one vector.",
        },
    ),
    Misconception(
        "axis_lost",
        (_divided(lambda x, eps: np.sqrt((x**2).mean(axis=-1) + eps)),),
        {
            "es": "Al hacer la media pierdes un eje, y al dividir los tamaños se emparejan con "
            "las componentes, no con los tokens. `keepdims=True` lo conserva.",
            "en": "Taking the mean you lose an axis, and in the division the sizes pair up with "
            "components, not tokens. `keepdims=True` keeps it.",
        },
    ),
    Misconception(
        "no_eps",
        (_divided(_root, eps=0.0),),
        {
            "es": "Falta ε. Un vector de ceros da 0/0, y los pequeñísimos salen más grandes de lo "
            "que deben: súmalo antes de la raíz.",
            "en": "ε is missing. A vector of zeros gives 0/0, and the tiniest come out larger than "
            "they should: add it before the root.",
        },
    ),
    Misconception(
        "eps_outside",
        (_divided(lambda x, eps: _root(x, 0.0) + eps),),
        {
            "es": "ε va dentro de la raíz, y tú lo sumas fuera. Con componentes de milésimas la "
            "diferencia se ve: √(10⁻⁵) es 0.003, no 0.00001.",
            "en": "ε goes inside the root, and you add it outside. With components of thousandths "
            "the difference shows: √(10⁻⁵) is 0.003, not 0.00001.",
        },
    ),
    Misconception(
        "other_eps",
        tuple(_divided(_root, eps=eps) for eps in (1e-6, 1e-8, 1e-12, 1e-3)),
        {
            "es": "Usas otro ε, y se pide 1e-5. Los vectores ordinarios no lo notan; los pequeños, "
            "mucho.",
            "en": "You use another ε, and 1e-5 is asked for. Ordinary vectors do not notice; small "
            "ones do, a lot.",
        },
    ),
    Misconception(
        "gain_missing",
        (lambda x, gain: x / _root(x, EPS),),
        {
            "es": "`gain` no interviene en tu resultado. Cada componente se multiplica por la suya "
            "al final.",
            "en": "`gain` takes no part in your result. Each component is multiplied by its own at "
            "the end.",
        },
    ),
    Misconception(
        "gain_before",
        (lambda x, gain: gain * x / _root(gain * x, EPS),),
        {
            "es": "Multiplicas por `gain` antes de medir, y la norma deshace en parte lo que la "
            "ganancia quería. El tamaño es el de `x`.",
            "en": "You multiply by `gain` before measuring, and the norm undoes part of what the "
            "gain wanted. The size is that of `x`.",
        },
    ),
    Misconception(
        "gain_added",
        (lambda x, gain: x / _root(x, EPS) + gain,),
        {
            "es": "Sumas `gain`; es un factor. Con ganancia 1, la norma no debería mover ningún "
            "vector de sitio, solo alargarlo o encogerlo.",
            "en": "You add `gain`; it is a factor. With gain 1 the norm should shift no vector, "
            "only stretch or shrink it.",
        },
    ),
    Misconception(
        "matrix_only",
        (_matrix_only, _over(1)),
        {
            "es": "Con dos ejes va bien y con otro número no. Cuenta desde el final: el eje de las "
            "componentes es siempre el último.",
            "en": "It works with two axes and with no other number. Count from the end: the axis "
            "of the components is always the last.",
        },
    ),
)

EXERCISE = Exercise("rms_norm", 5, ("output",), rms_norm, cases, MISCONCEPTIONS, problem_set="ps4")
