"""Problem set 7, `clip_gradients`: one norm for all, and the ways to take it wrong."""

import numpy as np

from attn_course.exercises.spec import Exercise


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
        Seed of the random numbers, and of the sizes of some inputs.

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
        draw(*rng.integers(2, 6, 2), rng.uniform(1.5, 4, 2), rng.uniform(0.7, 1.4)),
    ]


def _norm(*gradients):
    return np.sqrt(sum((gradient**2).sum() for gradient in gradients))


def _scale(norm, max_norm):
    return max_norm / norm if norm > max_norm else 1.0


def _measured_by(measure, told=None):
    """Return a clipping that measures the gradients with `measure` and not with their norm."""

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


MISTAKES = {
    "each_alone": (
        _each_alone(_norm),
        _each_alone(lambda w, b: _norm(w)),
        _each_alone(lambda w, b: _norm(w) + _norm(b)),
        _rows,
    ),
    "by_value": (_by_value,),
    "always_scaled": (_scaled_by(lambda norm, most: most / norm),),
    "stretched_only": (_scaled_by(lambda norm, most: most / norm if norm < most else 1.0),),
    "inverted": (_scaled_by(lambda norm, most: norm / most if norm > most else 1.0),),
    "dropped": (_scaled_by(lambda norm, most: 0.0 if norm > most else 1.0),),
    "never_clipped": (_scaled_by(lambda norm, most: 1.0),),
    "no_square_root": (
        _measured_by(lambda w, b: _norm(w, b) ** 2),
        _measured_by(lambda w, b: _norm(w, b) ** 2, told=_norm),
    ),
    "norms_summed": (
        _measured_by(lambda w, b: _norm(w) + _norm(b)),
        _measured_by(lambda w, b: _norm(w) + _norm(b), told=_norm),
    ),
    "larger_norm": (
        _measured_by(lambda w, b: max(_norm(w), _norm(b))),
        _measured_by(lambda w, b: max(_norm(w), _norm(b)), told=_norm),
    ),
    "absolute_values": (_measured_by(lambda w, b: np.abs(w).sum() + np.abs(b).sum()),),
    "largest_number": (_measured_by(lambda w, b: max(np.abs(w).max(), np.abs(b).max())),),
    "mean_square": (
        _measured_by(lambda w, b: _norm(w, b) / np.sqrt(w.size + b.size)),
        _measured_by(lambda w, b: _norm(w, b) / np.sqrt(w.size + b.size), told=_norm),
    ),
    "matrix_alone": (
        _measured_by(lambda w, b: _norm(w)),
        _measured_by(lambda w, b: _norm(w), told=_norm),
        _bias_untouched(_norm),
        _bias_untouched(lambda w, b: _norm(w)),
    ),
    "spectral": (
        _measured_by(lambda w, b: np.hypot(np.linalg.norm(w, 2), np.linalg.norm(b))),
        _measured_by(lambda w, b: np.hypot(np.linalg.norm(w, 2), np.linalg.norm(b)), told=_norm),
    ),
    "norm_afterwards": (_norm_afterwards,),
    "zero_over_zero": (_scaled_by(lambda norm, most: np.minimum(norm, most) / norm),),
}

EXERCISE = Exercise.from_file(
    __file__, ("w_gradient", "b_gradient", "norm"), clip_gradients, cases, MISTAKES
)
