"""Chapter 5, `layer_norm`: a vector of mean zero and variance one, and the ways to miss it."""

import numpy as np

from attn.exercises.spec import Exercise, Misconception
from attn.reference import layer_norm

EPS = 1e-5


def cases(seed):
    """Return vectors alone, in sentences and in batches; constant, tiny and far from zero.

    Parameters
    ----------
    seed : int
        Seed of the random numbers; the shapes are always the same.

    Returns
    -------
    list of dict
        With the keys ``x``, ``gain`` and ``bias``.
    """
    rng = np.random.default_rng(seed)

    def draw(*shape, scale=1.0, shift=0.5):
        return {
            "x": scale * (rng.normal(size=shape) + shift),
            "gain": rng.uniform(0.5, 1.5, shape[-1]),
            "bias": rng.uniform(-1, 1, shape[-1]),
        }

    constant = draw(3, 4)
    constant["x"][1] = 2.0
    return [
        draw(4),
        draw(3, 5),
        draw(4, 4),
        draw(3, 6, scale=0.004),
        draw(2, 5, scale=30.0, shift=3.0),
        constant,
        draw(2, 3, 4),
        draw(2, 3, 2, 5),
    ]


def _normalised(x, axis=-1, *, centre=True, ddof=0, inside=EPS, outside=0.0):
    mean = x.mean(axis=axis, keepdims=True)
    root = np.sqrt(x.var(axis=axis, ddof=ddof, keepdims=True) + inside) + outside
    return (x - mean if centre else x) / root


def _with(**options):
    def layer_norm(x, gain, bias):
        return gain * _normalised(x, **options) + bias

    return layer_norm


def _over_tokens(x, gain, bias):
    return gain * _normalised(x, axis=-2) + bias


def _over_everything(x, gain, bias):
    return gain * _normalised(x, axis=None) + bias


def _over_batch(x, gain, bias):
    return gain * _normalised(x, axis=0) + bias


def _by_variance(x, gain, bias):
    return gain * (x - x.mean(-1, keepdims=True)) / (x.var(-1, keepdims=True) + EPS) + bias


def _rms(x, gain, bias):
    return gain * x / np.sqrt((x**2).mean(-1, keepdims=True) + EPS) + bias


def _only_centred(x, gain, bias):
    return gain * (x - x.mean(-1, keepdims=True)) + bias


def _unit_length(x, gain, bias):
    centred = x - x.mean(-1, keepdims=True)
    return gain * centred / np.sqrt((centred**2).sum(-1, keepdims=True) + EPS) + bias


def _second_axis(x, gain, bias):
    return gain * _normalised(x, axis=1) + bias


def _matrix_only(x, gain, bias):
    _seq_len, _d_model = x.shape
    return layer_norm(x, gain, bias)


def _rows_lost(x, gain, bias):
    return gain * (x - x.mean(-1)) / np.sqrt(x.var(-1) + EPS) + bias


MISCONCEPTIONS = (
    Misconception(
        "over_tokens",
        (_over_tokens,),
        {
            "es": "Normalizas cada componente a lo largo de los tokens. Entonces un vector depende "
            "de sus vecinos y del relleno. La media y la varianza son las de cada vector: "
            "`axis=-1`.",
            "en": "You normalise each component along the tokens. A vector then depends on its "
            "neighbours and on the padding. Mean and variance are those of each vector: "
            "`axis=-1`.",
        },
    ),
    Misconception(
        "over_batch",
        (_over_batch,),
        {
            "es": "Normalizas sobre el primer eje, el del lote: eso es *batch norm*. El resultado "
            "de una oración cambiaría con las que la acompañan. Aquí cada vector se normaliza "
            "solo, con `axis=-1`.",
            "en": "You normalise over the first axis, that of the batch: that is batch norm. The "
            "result for a sentence would change with its company. Here each vector is normalised "
            "on its own, with `axis=-1`.",
        },
    ),
    Misconception(
        "over_everything",
        (_over_everything,),
        {
            "es": "Usas una sola media y una sola varianza para todo el arreglo. Un vector grande "
            "aplasta entonces a los demás: pide una por vector, con `axis=-1` y "
            "`keepdims=True`.",
            "en": "You use one mean and one variance for the whole array. A large vector then "
            "flattens the others: ask for one per vector, with `axis=-1` and `keepdims=True`.",
        },
    ),
    Misconception(
        "keepdims_missing",
        (_rows_lost,),
        {
            "es": "A tu media y a tu varianza les falta el último eje, y al restar se alinean con "
            "las componentes en vez de con los vectores. Añade `keepdims=True`.",
            "en": "Your mean and your variance have lost the last axis, so that the subtraction "
            "lines them up with the components instead of the vectors. Add `keepdims=True`.",
        },
    ),
    Misconception(
        "sample_variance",
        (_with(ddof=1),),
        {
            "es": "Divides la suma de cuadrados entre d_model − 1, como para estimar la varianza "
            "de una muestra. La normalización de capa divide entre d_model: en NumPy, `ddof=0`, y "
            "en torch, `correction=0`.",
            "en": "You divide the sum of squares by d_model − 1, as if to estimate the variance "
            "from a sample. Layer normalisation divides by d_model: `ddof=0` in NumPy, "
            "`correction=0` in torch.",
        },
    ),
    Misconception(
        "no_eps",
        (_with(inside=0.0),),
        {
            "es": "Falta ε. Un vector cuyas componentes son todas iguales tiene varianza 0 y te da "
            "NaN: suma 1e-5 a la varianza antes de la raíz.",
            "en": "ε is missing. A vector whose components are all equal has variance 0 and gives "
            "you NaN: add 1e-5 to the variance before the root.",
        },
    ),
    Misconception(
        "eps_outside",
        (_with(inside=0.0, outside=EPS),),
        {
            "es": "Sumas ε fuera de la raíz, a la desviación típica. Con vectores pequeños se nota: "
            "√(var + 1e-5) nunca baja de 0.003, y tu divisor sí. Pon ε dentro.",
            "en": "You add ε outside the root, to the standard deviation. With small vectors it "
            "shows: √(var + 1e-5) never falls below 0.003, and your divisor does. Put ε inside.",
        },
    ),
    Misconception(
        "other_eps",
        (_with(inside=1e-6), _with(inside=1e-8), _with(inside=1e-12), _with(inside=1e-3)),
        {
            "es": "Tu ε no es 1e-5. Con vectores corrientes apenas cambia el cuarto decimal; con "
            "uno cuyas componentes difieren en milésimas, ε pesa tanto como la varianza.",
            "en": "Your ε is not 1e-5. With ordinary vectors it hardly changes the fourth decimal; "
            "with one whose components differ by thousandths, ε weighs as much as the variance.",
        },
    ),
    Misconception(
        "variance_as_divisor",
        (_by_variance,),
        {
            "es": "Divides entre la varianza y no entre su raíz. Así la varianza del resultado es "
            "1/var, no 1: usa `np.sqrt(var + 1e-5)`.",
            "en": "You divide by the variance and not by its root. The variance of the result is "
            "then 1/var, not 1: use `np.sqrt(var + 1e-5)`.",
        },
    ),
    Misconception(
        "not_centred",
        (_with(centre=False),),
        {
            "es": "Divides entre la desviación típica, pero no restas la media: tus vectores "
            "conservan su desplazamiento. Calcula `x - mean` antes de dividir.",
            "en": "You divide by the standard deviation but do not subtract the mean: your vectors "
            "keep their shift. Compute `x - mean` before you divide.",
        },
    ),
    Misconception(
        "rms",
        (_rms,),
        {
            "es": "Divides entre la raíz de la media de los cuadrados, sin restar la media. Eso es "
            "RMSNorm, que usan modelos posteriores; la normalización de capa resta primero la "
            "media.",
            "en": "You divide by the root of the mean square, without subtracting the mean. That is "
            "RMSNorm, which later models use; layer normalisation subtracts the mean first.",
        },
    ),
    Misconception(
        "only_centred",
        (_only_centred,),
        {
            "es": "Restas la media y ahí te quedas: el tamaño de cada vector sigue siendo el que "
            "era. Divide además entre `np.sqrt(var + 1e-5)`.",
            "en": "You subtract the mean and stop there: each vector keeps the size it had. Divide "
            "by `np.sqrt(var + 1e-5)` as well.",
        },
    ),
    Misconception(
        "unit_length",
        (_unit_length,),
        {
            "es": "Divides entre la longitud del vector, así que sus cuadrados suman 1 en vez de "
            "tener media 1. La varianza es una media: divide la suma entre d_model.",
            "en": "You divide by the length of the vector, so that its squares sum to 1 instead of "
            "having mean 1. The variance is a mean: divide the sum by d_model.",
        },
    ),
    Misconception(
        "gain_dropped",
        (lambda x, gain, bias: _normalised(x) + bias,),
        {
            "es": "No multiplicas por `gain`. Sin ese factor, todas las componentes de todas las "
            "capas tendrían la misma amplitud para siempre.",
            "en": "You do not multiply by `gain`. Without that factor, every component of every "
            "layer would have the same spread for ever.",
        },
    ),
    Misconception(
        "bias_dropped",
        (lambda x, gain, bias: gain * _normalised(x),),
        {
            "es": "No sumas `bias`. El resultado queda clavado en media 0, aunque a la capa "
            "siguiente le convenga otra.",
            "en": "You do not add `bias`. The result stays pinned to mean 0, even where the next "
            "layer would do better with another.",
        },
    ),
    Misconception(
        "gain_and_bias_dropped",
        (lambda x, gain, bias: _normalised(x),),
        {
            "es": "Normalizas bien, pero no usas `gain` ni `bias`. Son lo único que se entrena en "
            "esta capa: multiplica por el primero y suma el segundo.",
            "en": "You normalise well but use neither `gain` nor `bias`. They are all that is "
            "trained in this layer: multiply by the first and add the second.",
        },
    ),
    Misconception(
        "gain_of_everything",
        (lambda x, gain, bias: gain * (_normalised(x) + bias),),
        {
            "es": "Sumas `bias` antes de multiplicar por `gain`, que así escala también al sesgo. "
            "Primero el factor y después la suma: `gain * z + bias`.",
            "en": "You add `bias` before you multiply by `gain`, which then scales the bias too. "
            "First the factor, then the sum: `gain * z + bias`.",
        },
    ),
    Misconception(
        "matrix_only",
        (_matrix_only, _second_axis),
        {
            "es": "Tu función cuenta con dos ejes exactos. Puede llegar un vector suelto o un lote "
            "de oraciones: trabaja siempre sobre el último eje y deja que los demás pasen.",
            "en": "Your function counts on exactly two axes. A lone vector may come, or a batch of "
            "sentences: always work on the last axis and let the others pass.",
        },
    ),
)

EXERCISE = Exercise("layer_norm", 5, ("output",), layer_norm, cases, MISCONCEPTIONS)
