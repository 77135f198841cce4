"""Problem set 7, `adamw_step`: weights that shrink by themselves, and how to mix that up."""

import numpy as np

from attn.exercises.spec import Exercise, Misconception
from attn.reference import adam_step
from attn.reference.optimiser import BETA_1, BETA_2, EPSILON


def adamw_step(theta, gradient, m, v, t, learning_rate, weight_decay):
    """Return the weights and both means after a step of AdamW, which shrinks matrices only."""
    stepped, m, v = adam_step(theta, gradient, m, v, t, learning_rate)
    if theta.ndim > 1:
        stepped = stepped - learning_rate * weight_decay * theta
    return stepped, m, v


def cases(seed):
    """Return states of a training: matrices and vectors, first and later steps, no gradient.

    Parameters
    ----------
    seed : int
        Seed of the random numbers; the shapes are always the same.

    Returns
    -------
    list of dict
        With the keys ``theta``, ``gradient``, ``m``, ``v``, ``t``, ``learning_rate`` and
        ``weight_decay``.
    """
    rng = np.random.default_rng(seed)

    def draw(*shape, t, learning_rate=0.2, weight_decay=0.3, scale=1.0):
        start = np.zeros(shape)
        signs = rng.choice([-1, 1], shape)
        return {
            "theta": signs * rng.uniform(0.5, 2, shape),
            # Some gradients agree with the weights in sign and some do not, whatever the seed.
            "gradient": np.resize([1, -1], shape) * signs * rng.uniform(0.5, 2, shape) * scale,
            "m": start if t == 1 else rng.uniform(-0.5, 0.5, shape) * scale,
            "v": start if t == 1 else rng.uniform(0.3, 1, shape) * scale**2,
            "t": np.array(t),
            "learning_rate": np.array(learning_rate),
            "weight_decay": np.array(weight_decay),
        }

    unseen = draw(3, 2, t=1)  # the embedding of a word that is not in the batch
    unseen["gradient"][1] = 0
    return [
        draw(2, 3, t=1),
        draw(3, 2, t=4, learning_rate=0.1),
        draw(4, 3, t=9, weight_decay=0.5),
        draw(2, 2, 3, t=3),
        draw(3, t=1),
        draw(4, t=6, weight_decay=0.6),
        unseen,
        draw(4, 2, t=3, scale=1e-8),  # no larger than ten times epsilon
    ]


def _means(g, m, v):
    return BETA_1 * m + (1 - BETA_1) * g, BETA_2 * v + (1 - BETA_2) * g**2


def _direction(m, v, t):
    return m / (1 - BETA_1**t) / (np.sqrt(v / (1 - BETA_2**t)) + EPSILON)


def _shrinking(shrink):
    """Return a right step of Adam with another decay of matrices, given what it needs."""

    def wrong(theta, gradient, m, v, t, learning_rate, weight_decay):
        stepped, m, v = adam_step(theta, gradient, m, v, t, learning_rate)
        if theta.ndim > 1:
            stepped = shrink(theta, stepped, learning_rate, weight_decay)
        return stepped, m, v

    return wrong


def _stepping(means=_means, direction=_direction):
    """Return a step with right decay and another Adam."""

    def wrong(theta, gradient, m, v, t, learning_rate, weight_decay):
        m, v = means(gradient, m, v)
        decay = weight_decay * theta if theta.ndim > 1 else 0
        return theta - learning_rate * (direction(m, v, t) + decay), m, v

    return wrong


def _decaying_if(condition):
    def wrong(theta, gradient, m, v, t, learning_rate, weight_decay):
        stepped, m, v = adam_step(theta, gradient, m, v, t, learning_rate)
        return stepped - condition(theta) * learning_rate * weight_decay * theta, m, v

    return wrong


def _inside(into_square, fewest_axes=2):
    def wrong(theta, gradient, m, v, t, learning_rate, weight_decay):
        pulled = gradient + weight_decay * theta if theta.ndim >= fewest_axes else gradient
        m = BETA_1 * m + (1 - BETA_1) * pulled
        v = BETA_2 * v + (1 - BETA_2) * (pulled if into_square else gradient) ** 2
        return theta - learning_rate * _direction(m, v, t), m, v

    return wrong


def _rescaled(theta, gradient, m, v, t, learning_rate, weight_decay):
    m, v = _means(gradient, m, v)
    decay = weight_decay * theta if theta.ndim > 1 else 0
    root = np.sqrt(v / (1 - BETA_2**t)) + EPSILON
    return theta - learning_rate * (m / (1 - BETA_1**t) + decay) / root, m, v


def _old_means(theta, gradient, m, v, t, learning_rate, weight_decay):
    decay = weight_decay * theta if theta.ndim > 1 else 0
    return theta - learning_rate * (_direction(m, v, t) + decay), *_means(gradient, m, v)


def _corrected_kept(theta, gradient, m, v, t, learning_rate, weight_decay):
    theta, m, v = adamw_step(theta, gradient, m, v, t, learning_rate, weight_decay)
    return theta, m / (1 - BETA_1**t), v / (1 - BETA_2**t)


def _uphill(theta, gradient, m, v, t, learning_rate, weight_decay):
    m, v = _means(gradient, m, v)
    decay = weight_decay * theta if theta.ndim > 1 else 0
    return theta + learning_rate * (_direction(m, v, t) - decay), m, v


MISCONCEPTIONS = (
    Misconception(
        "inside_the_gradient",
        (_inside(True), _inside(False), _inside(True, fewest_axes=1)),
        {
            "es": "Metes el decaimiento en el gradiente, y pasa por las medias y por la división. "
            "Eso es Adam con L2. En AdamW `m` y `v` solo conocen el gradiente de la pérdida, y el "
            "decaimiento se resta aparte.",
            "en": "You put the decay into the gradient, and it goes through the means and the "
            "division. That is Adam with L2. In AdamW `m` and `v` know only the gradient of the "
            "loss, and the decay is subtracted apart.",
        },
    ),
    Misconception(
        "divided_by_the_root",
        (_rescaled,),
        {
            "es": "El decaimiento queda dentro de la fracción, dividido entre la raíz de `v`. Esa "
            "raíz mide los gradientes y nada tiene que decir de cuánto se encoge un peso: sácalo "
            "fuera.",
            "en": "The decay is left inside the fraction, divided by the root of `v`. That root "
            "measures the gradients and has no say in how much a weight shrinks: take it out.",
        },
    ),
    Misconception(
        "no_learning_rate",
        (_shrinking(lambda old, new, rate, decay: new - decay * old),),
        {
            "es": "El decaimiento no lleva el tamaño de paso. Durante el calentamiento los pasos son "
            "mínimos, y el peso se encogería igual: multiplica por los dos.",
            "en": "The decay comes without the step size. During the warm-up the steps are tiny, "
            "and the weight would shrink all the same: multiply by both.",
        },
    ),
    Misconception(
        "no_weight_decay",
        (_shrinking(lambda old, new, rate, decay: new - rate * old),),
        {
            "es": "Encoges con el tamaño de paso solo. Cuánto se encoge lo decide `weight_decay`: la "
            "parte del peso que se quita es el producto de los dos.",
            "en": "You shrink by the step size alone. How much is decided by `weight_decay`: the "
            "part of the weight that is taken away is the product of both.",
        },
    ),
    Misconception(
        "after_the_step",
        (_shrinking(lambda old, new, rate, decay: new * (1 - rate * decay)),),
        {
            "es": "Encoges el peso que ya dio el paso, y así también se encoge el paso. La fórmula "
            "usa el peso de antes en los dos términos.",
            "en": "You shrink the weight that has taken the step already, and so shrink the step "
            "too. The formula uses the weight of before in both terms.",
        },
    ),
    Misconception(
        "decay_everywhere",
        (_decaying_if(lambda theta: True),),
        {
            "es": "Encoges también los vectores. Llevar a 0 la ganancia de una normalización apaga "
            "la capa: aquí solo decaen los parámetros con dos ejes o más.",
            "en": "You shrink vectors too. Pulling the gain of a normalisation towards 0 switches "
            "its layer off: here only parameters with two axes or more decay.",
        },
    ),
    Misconception(
        "two_axes_only",
        (_decaying_if(lambda theta: theta.ndim == 2),),
        {
            "es": "Con exactamente dos ejes aciertas; con tres no encoges nada. Las matrices de "
            "varias cabezas pueden venir en un solo arreglo: la condición es *dos o más*.",
            "en": "With exactly two axes you are right; with three you shrink nothing. The matrices "
            "of several heads may come in one array: the condition is *two or more*.",
        },
    ),
    Misconception(
        "decay_of_vectors",
        (_decaying_if(lambda theta: theta.ndim == 1),),
        {
            "es": "La condición está invertida: decaen los vectores y las matrices no. Cambia la "
            "comparación de `theta.ndim`.",
            "en": "The condition is inverted: vectors decay and matrices do not. Turn the "
            "comparison of `theta.ndim` round.",
        },
    ),
    Misconception(
        "no_decay",
        (_shrinking(lambda old, new, rate, decay: new),),
        {
            "es": "Es un paso de Adam correcto, y `weight_decay` no cambia nada. Falta restar a "
            "cada matriz una pequeña parte de sí misma.",
            "en": "It is a right step of Adam, and `weight_decay` changes nothing. A small part of "
            "each matrix is still to be subtracted from it.",
        },
    ),
    Misconception(
        "grows",
        (_shrinking(lambda old, new, rate, decay: new + rate * decay * old),),
        {
            "es": "Tus pesos crecen en proporción a su tamaño, y un peso que crece así no se "
            "detiene. El decaimiento los acerca a 0: réstalo.",
            "en": "Your weights grow in proportion to their size, and a weight that grows like "
            "that never stops. Decay brings them nearer to 0: subtract it.",
        },
    ),
    Misconception(
        "constant_pull",
        (_shrinking(lambda old, new, rate, decay: new - rate * decay * np.sign(old)),),
        {
            "es": "Quitas lo mismo a todos los pesos, grandes y pequeños. Es la derivada del valor "
            "absoluto, L1; la que se pide es proporcional al peso.",
            "en": "You take the same from every weight, large or small. That is the derivative of "
            "the absolute value, L1; the one asked for is proportional to the weight.",
        },
    ),
    Misconception(
        "not_corrected",
        (_stepping(direction=lambda m, v, t: m / (np.sqrt(v) + EPSILON)),),
        {
            "es": "Las dos medias entran en el paso sin corregir. En el paso `t` les falta llenarse "
            "en una parte β elevada a `t`: divídelas entre lo que ya está lleno.",
            "en": "Both means enter the step uncorrected. At step `t` a part β to the power `t` of "
            "them is still to be filled: divide them by what is full already.",
        },
    ),
    Misconception(
        "one_step_behind",
        (
            _stepping(direction=lambda m, v, t: _direction(m, v, t - 1)),
            _stepping(direction=lambda m, v, t: _direction(m, v, t + 1)),
        ),
        {
            "es": "El exponente de la corrección es `t` más o menos uno. `t` es el número de este "
            "paso, y el primero es el 1: ya está bien como llega.",
            "en": "The exponent of the correction is off by one. `t` is the number of this step, "
            "and the first is 1: it is right as it comes.",
        },
    ),
    Misconception(
        "root_missing",
        (
            _stepping(
                direction=lambda m, v, t: m / (1 - BETA_1**t) / (v / (1 - BETA_2**t) + EPSILON)
            ),
        ),
        {
            "es": "Divides entre `v` corregida, que es un cuadrado. La unidad del paso sale mal: "
            "con gradientes el doble de grandes andarías la mitad.",
            "en": "You divide by the corrected `v`, which is a square. The unit of the step comes "
            "out wrong: with gradients twice as large you would move half as far.",
        },
    ),
    Misconception(
        "no_epsilon",
        (_stepping(direction=lambda m, v, t: m / (1 - BETA_1**t) / np.sqrt(v / (1 - BETA_2**t))),),
        {
            "es": "Sin ε, un peso que aún no tuvo gradiente divide 0 entre 0. Le pasa al embedding "
            "de toda palabra que no sale en el primer lote: suma 1e-9 a la raíz.",
            "en": "Without ε, a weight that has had no gradient yet divides 0 by 0. It happens to "
            "the embedding of every word missing from the first batch: add 1e-9 to the root.",
        },
    ),
    Misconception(
        "epsilon_under_the_root",
        (
            _stepping(
                direction=lambda m, v, t: (
                    m / (1 - BETA_1**t) / np.sqrt(v / (1 - BETA_2**t) + EPSILON)
                )
            ),
        ),
        {
            "es": "ε está bajo la raíz, y allí pesa mucho más: su raíz es 3e-5. Un gradiente de "
            "1e-8 apenas movería nada; súmalo después de tomarla.",
            "en": "ε is under the root, where it weighs far more: its root is 3e-5. A gradient of "
            "1e-8 would hardly move anything; add it once the root is taken.",
        },
    ),
    Misconception(
        "adam_uphill",
        (_uphill,),
        {
            "es": "El decaimiento se resta, pero el paso de Adam se suma, y la pérdida crece. Los "
            "dos se restan.",
            "en": "The decay is subtracted, but the step of Adam is added, and the loss grows. Both "
            "are subtracted.",
        },
    ),
    Misconception(
        "stale_means",
        (_old_means,),
        {
            "es": "El paso usa las medias que llegaron y no las que devuelves. El gradiente de "
            "ahora debe contar ya en este paso.",
            "en": "The step uses the means that came in and not those you return. The gradient of "
            "now should count in this very step.",
        },
    ),
    Misconception(
        "returns_corrected",
        (_corrected_kept,),
        {
            "es": "Las medias que devuelves están corregidas, y el paso siguiente las corregirá de "
            "nuevo. Guarda las que no lo están.",
            "en": "The means you return are corrected, and the next step will correct them again. "
            "Keep the ones that are not.",
        },
    ),
    Misconception(
        "rates_swapped",
        (
            _stepping(
                means=lambda g, m, v: (
                    BETA_2 * m + (1 - BETA_2) * g,
                    BETA_1 * v + (1 - BETA_1) * g**2,
                ),
                direction=lambda m, v, t: (
                    m / (1 - BETA_2**t) / (np.sqrt(v / (1 - BETA_1**t)) + EPSILON)
                ),
            ),
        ),
        {
            "es": "Usas 0.98 para `m` y 0.9 para `v`. Es al revés: la media de los cuadrados es la "
            "que recuerda más tiempo.",
            "en": "You use 0.98 for `m` and 0.9 for `v`. It is the other way round: the mean of the "
            "squares is the one that remembers longer.",
        },
    ),
)

EXERCISE = Exercise(
    "adamw_step",
    8,
    ("theta", "m", "v"),
    adamw_step,
    cases,
    MISCONCEPTIONS,
    problem_set="ps7",
)
