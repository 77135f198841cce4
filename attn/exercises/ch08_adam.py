"""Chapter 8, `adam_step`: two numbers for each weight, and the ways to mix them up."""

import numpy as np

from attn.exercises.spec import Exercise, Misconception
from attn.reference import adam_step

BETA_1, BETA_2, EPSILON = 0.9, 0.98, 1e-9


def cases(seed):
    """Return states of a training: the first step, later ones, tiny and uneven gradients.

    Parameters
    ----------
    seed : int
        Seed of the random numbers; the shapes are always the same.

    Returns
    -------
    list of dict
        With the keys ``theta``, ``gradient``, ``m``, ``v``, ``t`` and ``learning_rate``.
    """
    rng = np.random.default_rng(seed)

    def draw(*shape, t, scale=1.0, learning_rate=0.1):
        gradient = scale * rng.choice([-1, 1], shape) * rng.uniform(0.5, 2, shape)
        start = np.zeros(shape)
        return {
            "theta": rng.normal(size=shape),
            "gradient": gradient,
            "m": start if t == 1 else scale * rng.uniform(-0.5, 0.5, shape),
            "v": start if t == 1 else scale**2 * rng.uniform(0.2, 1, shape),
            "t": np.array(t),
            "learning_rate": np.array(learning_rate),
        }

    return [
        draw(3, t=1),
        draw(4, t=2, learning_rate=0.3),
        draw(2, 3, t=5),
        draw(5, t=40, learning_rate=0.02),
        draw(3, 4, t=7, scale=1e-5),
    ]


def _adam(
    mean=lambda m, v, g: BETA_1 * m + (1 - BETA_1) * g,
    square=lambda m, v, g: BETA_2 * v + (1 - BETA_2) * g**2,
    correct=lambda x, beta, t: x / (1 - beta**t),
    step=lambda m_hat, v_hat: m_hat / (np.sqrt(v_hat) + EPSILON),
    betas=(BETA_1, BETA_2),
):
    """Return a step with one of its parts replaced."""

    def wrong(theta, gradient, m, v, t, learning_rate):
        m, v = mean(m, v, gradient), square(m, v, gradient)
        m_hat, v_hat = correct(m, betas[0], t), correct(v, betas[1], t)
        return theta - learning_rate * step(m_hat, v_hat), m, v

    return wrong


def _from_mean(theta, gradient, m, v, t, learning_rate):
    mean = BETA_1 * m + (1 - BETA_1) * gradient
    square = BETA_2 * v + (1 - BETA_2) * mean**2
    m_hat, v_hat = mean / (1 - BETA_1**t), square / (1 - BETA_2**t)
    return theta - learning_rate * m_hat / (np.sqrt(v_hat) + EPSILON), mean, square


def _with(change):
    def wrong(theta, gradient, m, v, t, learning_rate):
        new = adam_step(theta, gradient, m, v, t, learning_rate)
        return change(*new, theta, gradient, m, v, t, learning_rate)

    return wrong


def _old_means(theta, m, v, old, gradient, old_m, old_v, t, learning_rate):
    m_hat, v_hat = old_m / (1 - BETA_1**t), old_v / (1 - BETA_2**t)
    return old - learning_rate * m_hat / (np.sqrt(v_hat) + EPSILON), m, v


def _gradient_in_front(theta, m, v, old, gradient, old_m, old_v, t, learning_rate):
    return old - learning_rate * gradient / (np.sqrt(v / (1 - BETA_2**t)) + EPSILON), m, v


def _corrected_kept(theta, m, v, *rest):
    t = rest[4]
    return theta, m / (1 - BETA_1**t), v / (1 - BETA_2**t)


MISCONCEPTIONS = (
    Misconception(
        "no_correction",
        (_adam(correct=lambda x, beta, t: x),),
        {
            "es": "Falta corregir las medias. Empiezan en cero y al principio se quedan cortas, "
            "`v` más que `m`, así que los primeros pasos salen mal medidos: divide `m` entre "
            "`1 - 0.9**t` y `v` entre `1 - 0.98**t`.",
            "en": "The means are not corrected. They start at zero and fall short at first, `v` "
            "more than `m`, so the first steps come out wrong: divide `m` by `1 - 0.9**t` and `v` "
            "by `1 - 0.98**t`.",
        },
    ),
    Misconception(
        "half_a_correction",
        (
            _adam(correct=lambda x, beta, t: x / (1 - beta**t) if beta == BETA_1 else x),
            _adam(correct=lambda x, beta, t: x / (1 - beta**t) if beta == BETA_2 else x),
        ),
        {
            "es": "Corriges una de las dos medias y la otra no. Las dos empiezan en cero, cada una "
            "con su β: `m / (1 - 0.9**t)` y `v / (1 - 0.98**t)`.",
            "en": "You correct one of the two means and leave the other. Both start at zero, each "
            "with its own β: `m / (1 - 0.9**t)` and `v / (1 - 0.98**t)`.",
        },
    ),
    Misconception(
        "counted_from_zero",
        (_adam(correct=lambda x, beta, t: x / (1 - beta ** (t - 1))),),
        {
            "es": "Usas `t - 1` en la corrección. `t` ya cuenta desde 1, y en el primer paso "
            "dividirías entre 1 − β⁰ = 0: eleva β a `t`.",
            "en": "You use `t - 1` in the correction. `t` counts from 1 already, and in the first "
            "step you would divide by 1 − β⁰ = 0: raise β to `t`.",
        },
    ),
    Misconception(
        "counted_from_two",
        (_adam(correct=lambda x, beta, t: x / (1 - beta ** (t + 1))),),
        {
            "es": "Usas `t + 1` en la corrección. Tras `t` gradientes, los pesos de la media suman "
            "1 − β elevado a `t`; con el primero, 0.1 para `m`.",
            "en": "You use `t + 1` in the correction. After `t` gradients the shares in the mean "
            "sum to 1 − β to the power `t`; with the first one, 0.1 for `m`.",
        },
    ),
    Misconception(
        "correction_without_power",
        (_adam(correct=lambda x, beta, t: x / (1 - beta)),),
        {
            "es": "Divides entre 1 − β en todos los pasos. Solo vale en el primero: lo que falta en "
            "la media se va llenando, y la corrección debe desaparecer. Es `1 - beta**t`.",
            "en": "You divide by 1 − β at every step. That holds in the first one only: what is "
            "missing in the mean fills up, and the correction must fade. It is `1 - beta**t`.",
        },
    ),
    Misconception(
        "epsilon_inside_the_root",
        (_adam(step=lambda m_hat, v_hat: m_hat / np.sqrt(v_hat + EPSILON)),),
        {
            "es": "Sumas ε dentro de la raíz, donde 1e-9 equivale a 3e-5. Con gradientes así de "
            "pequeños, el paso se encoge: `np.sqrt(v_hat) + 1e-9`.",
            "en": "You add ε inside the root, where 1e-9 amounts to 3e-5. With gradients as small "
            "as that the step shrinks: `np.sqrt(v_hat) + 1e-9`.",
        },
    ),
    Misconception(
        "no_root",
        (_adam(step=lambda m_hat, v_hat: m_hat / (v_hat + EPSILON)),),
        {
            "es": "Divides entre `v_hat` sin la raíz. `v` es una media de *cuadrados*: sin la raíz "
            "el paso sería mayor cuanto menor el gradiente, y Adam debe dar el mismo.",
            "en": "You divide by `v_hat` without the root. `v` is a mean of *squares*: without the "
            "root the step would grow as the gradient shrinks, and Adam's should stay the same.",
        },
    ),
    Misconception(
        "betas_exchanged",
        (
            _adam(
                mean=lambda m, v, g: BETA_2 * m + (1 - BETA_2) * g,
                square=lambda m, v, g: BETA_1 * v + (1 - BETA_1) * g**2,
                betas=(BETA_2, BETA_1),
            ),
        ),
        {
            "es": "Las dos β están cambiadas. `m` olvida pronto (0.9, unos diez gradientes) y `v` "
            "tarda más (0.98, unos cincuenta).",
            "en": "The two β are exchanged. `m` forgets soon (0.9, some ten gradients) and `v` "
            "takes longer (0.98, some fifty).",
        },
    ),
    Misconception(
        "shares_exchanged",
        (
            _adam(
                mean=lambda m, v, g: (1 - BETA_1) * m + BETA_1 * g,
                square=lambda m, v, g: (1 - BETA_2) * v + BETA_2 * g**2,
            ),
        ),
        {
            "es": "Das β al gradiente nuevo y 1 − β a la media. Así la media casi no recuerda nada: "
            "β, el número cercano a 1, es lo que se conserva.",
            "en": "You give β to the new gradient and 1 − β to the mean. The mean then remembers "
            "next to nothing: β, the number close to 1, is what is kept.",
        },
    ),
    Misconception(
        "not_squared",
        (_adam(square=lambda m, v, g: BETA_2 * v + (1 - BETA_2) * np.abs(g)),),
        {
            "es": "En `v` entra el tamaño del gradiente, y debe entrar su cuadrado: después viene "
            "una raíz, que lo devuelve a su escala. Usa `gradient**2`.",
            "en": "What enters `v` is the size of the gradient, and it should be its square: a root "
            "follows, which brings it back to scale. Use `gradient**2`.",
        },
    ),
    Misconception(
        "square_of_the_mean",
        (_from_mean,),
        {
            "es": "En `v` entra el cuadrado de `m`. Si los gradientes cambian de signo, `m` es "
            "pequeña y el paso, enorme, justo donde hay que ir despacio: usa `gradient**2`.",
            "en": "What enters `v` is the square of `m`. Where gradients change sign `m` is small "
            "and the step huge, just where one must go slowly: use `gradient**2`.",
        },
    ),
    Misconception(
        "uphill",
        (_with(lambda new, m, v, old, *rest: (2 * old - new, m, v)),),
        {
            "es": "El paso va cuesta arriba: el gradiente señala hacia donde la pérdida crece. "
            "Réstalo de `theta`.",
            "en": "The step goes uphill: the gradient points to where the loss grows. Subtract it "
            "from `theta`.",
        },
    ),
    Misconception(
        "old_means",
        (_with(_old_means),),
        {
            "es": "Das el paso con las medias de antes, sin el gradiente de ahora; en el primero no "
            "te mueves. Actualiza `m` y `v`, y después `theta`.",
            "en": "You step with the means from before, without the gradient of now; in the first "
            "step nothing moves. Update `m` and `v`, and then `theta`.",
        },
    ),
    Misconception(
        "gradient_for_mean",
        (_with(_gradient_in_front),),
        {
            "es": "Arriba de la fracción va la media `m_hat`, y pones el gradiente de este paso. "
            "Eso es RMSProp: sin la media, un gradiente ruidoso cambia el rumbo cada vez.",
            "en": "On top of the fraction goes the mean `m_hat`, and you put the gradient of this "
            "step. That is RMSProp: without the mean, a noisy gradient changes course every time.",
        },
    ),
    Misconception(
        "plain_descent",
        (_with(lambda new, m, v, old, g, om, ov, t, lr: (old - lr * g, m, v)),),
        {
            "es": "Calculas las medias y no las usas: el paso es el del descenso por el gradiente. "
            "El de Adam es `m_hat / (np.sqrt(v_hat) + 1e-9)`.",
            "en": "You compute the means and do not use them: the step is that of gradient descent. "
            "Adam's is `m_hat / (np.sqrt(v_hat) + 1e-9)`.",
        },
    ),
    Misconception(
        "corrected_means_kept",
        (_with(_corrected_kept),),
        {
            "es": "Devuelves las medias corregidas. La corrección es solo para dar el paso: si la "
            "guardas, el siguiente corregirá otra vez lo ya corregido. Devuelve `m` y `v`.",
            "en": "You return the corrected means. The correction is for the step alone: if you "
            "keep it, the next step corrects once more what is corrected. Return `m` and `v`.",
        },
    ),
    Misconception(
        "one_square_for_all",
        (_adam(square=lambda m, v, g: BETA_2 * v + (1 - BETA_2) * (g**2).mean()),),
        {
            "es": "Usas un solo cuadrado, la media de todos los pesos. Adam mide cada peso con sus "
            "propios gradientes: `gradient**2`, elemento por elemento, sin `mean` ni `sum`.",
            "en": "You use a single square, the mean over all weights. Adam measures each weight by "
            "its own gradients: `gradient**2`, element by element, without `mean` or `sum`.",
        },
    ),
)

EXERCISE = Exercise("adam_step", 8, ("theta", "m", "v"), adam_step, cases, MISCONCEPTIONS)
