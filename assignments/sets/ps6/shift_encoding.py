"""Problem set 6, `shift_encoding`: to move on without knowing where one stands."""

import numpy as np

from attn.reference import rotary
from attn_course.exercises.spec import Exercise


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
        Seed of the random numbers, and of the sizes of some inputs.

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
        encoding = _encoded(rng.integers(3, 30, batch), d_model, base)
        if mixed:
            other = _encoded(rng.integers(31, 60, batch), d_model, base)
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
        draw((rng.integers(2, 7),), 2 * rng.integers(2, 6)),
    ]


def _encoded(positions, d_model, base):
    angles = positions[..., None] / base ** (np.arange(0, d_model, 2) / d_model)
    pairs = np.stack([np.sin(angles), np.cos(angles)], axis=-1)
    return pairs.reshape(*positions.shape, d_model)


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
    return encoding + _encoded(steps, encoding.shape[-1], base)


def _restarted(encoding, steps, base):
    return _encoded(steps, encoding.shape[-1], base)


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


MISTAKES = {
    "backwards": (_with(scale=-1.0),),
    "no_minus": (_with(lambda x, y, c, s: (x * c + y * s, y * c + x * s)),),
    "overwritten": (_with(_overwritten),),
    "added": (_added,),
    "restarted": (_restarted,),
    "doubled_exponent": (_with(exponents=lambda d: 2 * np.arange(0, d, 2) / d),),
    "halved_exponent": (_with(exponents=lambda d: np.arange(d // 2) / d),),
    "one_speed": (_with(exponents=lambda d: np.zeros(d // 2)),),
    "base_fixed": (_with(base=lambda base: 10000.0),),
    "one_step_count": (
        _with(steps=lambda given: given.flat[0] * np.ones(given.shape)),
        _with(steps=lambda given: given.mean() * np.ones(given.shape)),
    ),
    "only_forwards": (_with(steps=np.abs),),
    "in_blocks": (_split_in_blocks, _joined_in_blocks),
    "back_on_the_circle": (_with(_on_the_circle),),
    "half_of_the_turn": (_with(_arc_of_the_sine), _with(_arc_of_the_quotient)),
    "matrix_only": (_matrix_only,),
}

EXERCISE = Exercise.from_file(__file__, ("shifted",), shift_encoding, cases, MISTAKES)
