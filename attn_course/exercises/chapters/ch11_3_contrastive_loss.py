"""Chapter 11, `contrastive_loss`: which caption belongs to which image; and mistakes."""

import numpy as np

from attn.reference import contrastive_loss
from attn_course.exercises.spec import Exercise


def cases(seed):
    """Return inputs: batches of pairs, vectors of other lengths, a very low temperature.

    Parameters
    ----------
    seed : int
        Seed of the random numbers; the shapes are always the same.

    Returns
    -------
    list of dict
        With the keys ``images``, ``texts`` and ``temperature``.
    """
    rng = np.random.default_rng(seed)

    def draw(batch_size, d_model, temperature):
        lengths = rng.uniform(0.5, 2.0, size=(2, batch_size, 1))
        images, noise = rng.normal(size=(2, batch_size, d_model))
        # One vector is much longer than the others, so an answer without normalisation is far off.
        lengths[:, 0] = 3.0
        texts = 0.5 * images + noise
        return {
            "images": images * lengths[0],
            "texts": texts * lengths[1],
            "temperature": np.array(temperature),
        }

    shapes = ((2, 3, 0.5), (3, 2, 0.7), (4, 5, 0.2), (5, 8, 1.5), (6, 4, 0.07), (7, 16, 0.3))
    # Each image is nearest to the text of another image, and the temperature makes its logits about
    # 1000; the last image is far from all texts, so that one maximum does not serve every row.
    images = 2 * np.eye(4) + rng.uniform(-0.1, 0.1, size=(4, 4))
    texts = np.roll(images, 1, axis=0) * 0.7
    images[-1] = -texts.sum(axis=0)
    cold = {
        "images": images,
        "texts": texts,
        "temperature": np.array(0.001),
    }
    return [*(draw(*shape) for shape in shapes), cold]


def _unit(x, axis=-1):
    return x / np.linalg.norm(x, axis=axis, keepdims=True)


def _log_softmax(z, axis=-1):
    z = z - z.max(axis=axis, keepdims=True)
    return z - np.log(np.exp(z).sum(axis=axis, keepdims=True))


def _both(logits, log_softmax=_log_softmax, reduce=np.mean):
    rows, columns = (reduce(-np.diagonal(log_softmax(z))) for z in (logits, logits.T))
    return (rows + columns) / 2


def _logits(images, texts, temperature):
    return _unit(images) @ _unit(texts).T / temperature


def _loss(logits=_logits, loss=_both):
    """Return the right function with the given parts replaced."""
    return lambda images, texts, temperature: loss(logits(images, texts, temperature))


def _cosines(images, texts):
    return _unit(images) @ _unit(texts).T


def _without_partner(z):
    kept = np.where(np.eye(len(z), dtype=bool), -np.inf, z)
    top = kept.max(axis=-1, keepdims=True)
    return z - top - np.log(np.exp(kept - top).sum(axis=-1, keepdims=True))


def _unshifted(z):
    return z - np.log(np.exp(z).sum(axis=-1, keepdims=True))


def _log_of_softmax(z):
    powers = np.exp(z - z.max(axis=-1, keepdims=True))
    return np.log(powers / powers.sum(axis=-1, keepdims=True))


def _flat(z):
    return -np.diagonal(_log_softmax(z.ravel()).reshape(z.shape)).mean()


def _log_of_mean(z):
    chances = [np.diagonal(np.exp(_log_softmax(m))).mean() for m in (z, z.T)]
    return -np.log(chances).mean()


def _unit_squared(x):
    return x / (x**2).sum(axis=-1, keepdims=True)


def _over(loss):
    """Return a loss that is divided by the temperature, instead of the logits."""
    return lambda images, texts, temperature: loss(_cosines(images, texts)) / temperature


def _log_plus(least):
    return lambda z: np.log(np.exp(_log_softmax(z)) + least)


MISTAKES = {
    "not_normalised": (
        _loss(lambda i, t, s: i @ t.T / s),
        _loss(lambda i, t, s: _unit(i) @ t.T / s),
        _loss(lambda i, t, s: i @ _unit(t).T / s),
    ),
    "normalised_over_the_batch": (_loss(lambda i, t, s: _unit(i, 0) @ _unit(t, 0).T / s),),
    "images_only": (_loss(loss=lambda z: -np.diagonal(_log_softmax(z)).mean()),),
    "texts_only": (_loss(loss=lambda z: -np.diagonal(_log_softmax(z.T)).mean()),),
    "not_halved": (_loss(loss=lambda z: 2 * _both(z)),),
    "summed_over_the_batch": (_loss(loss=lambda z: _both(z, reduce=np.sum)),),
    "temperature_multiplied": (_loss(lambda i, t, s: _cosines(i, t) * s),),
    "temperature_forgotten": (_loss(lambda i, t, s: _cosines(i, t)),),
    "temperature_rooted": (_loss(lambda i, t, s: _cosines(i, t) / np.sqrt(s)),),
    "one_softmax_for_the_matrix": (_loss(loss=_flat),),
    "partner_left_out": (_loss(loss=lambda z: _both(z, _without_partner)),),
    "only_pulled": (
        lambda i, t, s: ((_unit(i) - _unit(t)) ** 2).sum(axis=-1).mean() / s,
        _loss(loss=lambda z: -np.diagonal(z).mean()),
        lambda i, t, s: 1 - np.diagonal(_cosines(i, t)).mean(),
        lambda i, t, s: -np.diagonal(_cosines(i, t)).mean(),
    ),
    "sign": (_loss(loss=lambda z: -_both(z)),),
    "bits": (_loss(loss=lambda z: _both(z) / np.log(2)),),
    "log_of_the_mean": (_loss(loss=_log_of_mean),),
    "overflow": (
        _loss(loss=lambda z: _both(z, _log_plus(1e-9))),
        _loss(loss=lambda z: _both(z, _log_plus(1e-8))),
        _loss(loss=lambda z: _both(z, _log_plus(1e-12))),
        _loss(loss=lambda z: _both(z, _unshifted)),
        _loss(loss=lambda z: _both(z, _log_of_softmax)),
    ),
    "whole_table": (_loss(loss=lambda z: -(_log_softmax(z) + _log_softmax(z.T)).mean() / 2),),
    "norm_of_the_batch": (
        _loss(lambda i, t, s: (i / np.linalg.norm(i)) @ (t / np.linalg.norm(t)).T / s),
    ),
    "squared_norms": (_loss(lambda i, t, s: _unit_squared(i) @ _unit_squared(t).T / s),),
    "temperature_outside": (_over(_both),),
    "texts_unused": (
        _loss(lambda i, t, s: _unit(i) @ _unit(i).T / s),
        _loss(lambda i, t, s: _unit(t) @ _unit(t).T / s),
    ),
    "clipped": (
        _loss(lambda i, t, s: np.clip(_logits(i, t, s), -50, 50)),
        _loss(lambda i, t, s: np.clip(_logits(i, t, s), -100, 100)),
        _loss(lambda i, t, s: np.clip(_logits(i, t, s), -700, 700)),
    ),
    "probability_for_logarithm": (
        _loss(
            loss=lambda z: (
                1 - np.mean([np.diagonal(np.exp(_log_softmax(m))).mean() for m in (z, z.T)])
            )
        ),
    ),
    "one_pair_only": (
        _loss(loss=lambda z: -(_log_softmax(z)[0, 0] + _log_softmax(z.T)[0, 0]) / 2),
    ),
}

EXERCISE = Exercise.from_file(__file__, ("loss",), contrastive_loss, cases, MISTAKES)
