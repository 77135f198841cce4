"""Chapter 8, `adam_step`: two numbers for each weight, and the ways to mix them up."""

import numpy as np

from attn.reference import adam_step
from attn_course.exercises.spec import Exercise

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


MISTAKES = {
    "no_correction": (_adam(correct=lambda x, beta, t: x),),
    "half_a_correction": (
        _adam(correct=lambda x, beta, t: x / (1 - beta**t) if beta == BETA_1 else x),
        _adam(correct=lambda x, beta, t: x / (1 - beta**t) if beta == BETA_2 else x),
    ),
    "counted_from_zero": (_adam(correct=lambda x, beta, t: x / (1 - beta ** (t - 1))),),
    "counted_from_two": (_adam(correct=lambda x, beta, t: x / (1 - beta ** (t + 1))),),
    "correction_without_power": (_adam(correct=lambda x, beta, t: x / (1 - beta)),),
    "epsilon_inside_the_root": (_adam(step=lambda m_hat, v_hat: m_hat / np.sqrt(v_hat + EPSILON)),),
    "no_root": (_adam(step=lambda m_hat, v_hat: m_hat / (v_hat + EPSILON)),),
    "betas_exchanged": (
        _adam(
            mean=lambda m, v, g: BETA_2 * m + (1 - BETA_2) * g,
            square=lambda m, v, g: BETA_1 * v + (1 - BETA_1) * g**2,
            betas=(BETA_2, BETA_1),
        ),
    ),
    "shares_exchanged": (
        _adam(
            mean=lambda m, v, g: (1 - BETA_1) * m + BETA_1 * g,
            square=lambda m, v, g: (1 - BETA_2) * v + BETA_2 * g**2,
        ),
    ),
    "not_squared": (_adam(square=lambda m, v, g: BETA_2 * v + (1 - BETA_2) * np.abs(g)),),
    "square_of_the_mean": (_from_mean,),
    "uphill": (_with(lambda new, m, v, old, *rest: (2 * old - new, m, v)),),
    "old_means": (_with(_old_means),),
    "gradient_for_mean": (_with(_gradient_in_front),),
    "plain_descent": (_with(lambda new, m, v, old, g, om, ov, t, lr: (old - lr * g, m, v)),),
    "corrected_means_kept": (_with(_corrected_kept),),
    "one_square_for_all": (
        _adam(square=lambda m, v, g: BETA_2 * v + (1 - BETA_2) * (g**2).mean()),
    ),
    "default_beta": (
        _adam(square=lambda m, v, g: 0.999 * v + 0.001 * g**2, betas=(BETA_1, 0.999)),
    ),
    "both_defaults": (
        _adam(
            square=lambda m, v, g: 0.999 * v + 0.001 * g**2,
            step=lambda m_hat, v_hat: m_hat / (np.sqrt(v_hat) + 1e-8),
            betas=(BETA_1, 0.999),
        ),
    ),
    "other_epsilon": (
        _adam(step=lambda m_hat, v_hat: m_hat / (np.sqrt(v_hat) + 1e-8)),
        _adam(step=lambda m_hat, v_hat: m_hat / np.sqrt(v_hat)),
        _adam(step=lambda m_hat, v_hat: m_hat / (np.sqrt(v_hat) + 1e-7)),
        _adam(step=lambda m_hat, v_hat: m_hat / (np.sqrt(v_hat) + 1e-6)),
    ),
    "step_returned": (_with(lambda new, m, v, old, *rest: (new - old, m, v)),),
    "rate_forgotten": (
        _with(lambda new, m, v, old, g, om, ov, t, lr: (old + (new - old) / lr, m, v)),
    ),
    "correction_multiplied": (_adam(correct=lambda x, beta, t: x * (1 - beta**t)),),
    "gradient_added_whole": (
        _adam(mean=lambda m, v, g: BETA_1 * m + g, square=lambda m, v, g: BETA_2 * v + g**2),
    ),
}

EXERCISE = Exercise.from_file(__file__, ("theta", "m", "v"), adam_step, cases, MISTAKES)
