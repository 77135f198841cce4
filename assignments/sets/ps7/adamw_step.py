"""Problem set 7, `adamw_step`: weights that shrink by themselves, and how to mix that up."""

import numpy as np

from attn.reference import adam_step
from attn.reference.training import BETA_1, BETA_2, EPSILON
from attn_course.exercises.spec import Exercise


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
        Seed of the random numbers, and of the sizes of some inputs.

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
    seen_before = draw(3, 2, t=5)  # the means of what has no gradient now go on shrinking
    seen_before["gradient"][1] = 0
    return [
        draw(2, 3, t=1),
        draw(3, 2, t=4, learning_rate=0.1),
        draw(4, 3, t=9, weight_decay=0.5),
        draw(2, 2, 3, t=3),
        draw(1, 4, 1, t=2),  # axes of size 1 are axes
        draw(3, t=1),
        draw(4, t=6, weight_decay=0.6),
        unseen,
        seen_before,
        draw(4, 2, t=3, scale=1e-8),  # no larger than ten times epsilon
        draw(*rng.integers(2, 6, 2), t=rng.integers(2, 12)),
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


MISTAKES = {
    "inside_the_gradient": (_inside(True), _inside(False), _inside(True, fewest_axes=1)),
    "divided_by_the_root": (_rescaled,),
    "no_learning_rate": (_shrinking(lambda old, new, rate, decay: new - decay * old),),
    "no_weight_decay": (_shrinking(lambda old, new, rate, decay: new - rate * old),),
    "after_the_step": (_shrinking(lambda old, new, rate, decay: new * (1 - rate * decay)),),
    "decay_everywhere": (_decaying_if(lambda theta: True),),
    "two_axes_only": (_decaying_if(lambda theta: theta.ndim == 2),),
    "decay_of_vectors": (_decaying_if(lambda theta: theta.ndim == 1),),
    "no_decay": (_shrinking(lambda old, new, rate, decay: new),),
    "grows": (_shrinking(lambda old, new, rate, decay: new + rate * decay * old),),
    "constant_pull": (_shrinking(lambda old, new, rate, decay: new - rate * decay * np.sign(old)),),
    "not_corrected": (_stepping(direction=lambda m, v, t: m / (np.sqrt(v) + EPSILON)),),
    "one_step_behind": (
        _stepping(direction=lambda m, v, t: _direction(m, v, t - 1)),
        _stepping(direction=lambda m, v, t: _direction(m, v, t + 1)),
    ),
    "root_missing": (
        _stepping(direction=lambda m, v, t: m / (1 - BETA_1**t) / (v / (1 - BETA_2**t) + EPSILON)),
    ),
    "no_epsilon": (
        _stepping(direction=lambda m, v, t: m / (1 - BETA_1**t) / np.sqrt(v / (1 - BETA_2**t))),
    ),
    "epsilon_under_the_root": (
        _stepping(
            direction=lambda m, v, t: m / (1 - BETA_1**t) / np.sqrt(v / (1 - BETA_2**t) + EPSILON)
        ),
    ),
    "adam_uphill": (_uphill,),
    "stale_means": (_old_means,),
    "returns_corrected": (_corrected_kept,),
    "rates_swapped": (
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
}

EXERCISE = Exercise.from_file(__file__, ("theta", "m", "v"), adamw_step, cases, MISTAKES)
