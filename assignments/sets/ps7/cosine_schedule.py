"""Problem set 7, `cosine_schedule`: up in a line, down in a wave, and the ways to miss an end."""

import numpy as np

from attn_course.exercises.spec import Exercise


def cosine_schedule(t, peak, floor, warmup, n_steps):
    """Return the learning rate of each step: warm-up, half a wave of the cosine, floor."""
    fallen = np.clip((t - warmup) / (n_steps - warmup), 0, 1)
    wave = floor + (peak - floor) * _fall(fallen)
    return np.where(t <= warmup, peak * t / np.maximum(warmup, 1), wave)


def _fall(x):
    """Return how much of the fall is left where a part `x` of its steps is done."""
    return (1 + np.cos(np.pi * x)) / 2


def cases(seed):
    """Return steps of several schedules: with a floor, without warm-up, after the end.

    Parameters
    ----------
    seed : int
        Seed of the random numbers, and of the sizes of some inputs.

    Returns
    -------
    list of dict
        With the keys ``t``, ``peak``, ``floor``, ``warmup`` and ``n_steps``.
    """
    rng = np.random.default_rng(seed)

    def draw(warmup, n_steps, n_before, n_after, floor=0.0, n_beyond=0, shuffled=False):
        peak = rng.uniform(0.4, 0.9)
        # The ends, where a schedule goes wrong, are always among the steps.
        before = 2 + rng.permutation(max(warmup - 2, 0))[:n_before]
        after = warmup + 2 + rng.permutation(n_steps - warmup - 2)[:n_after]
        beyond = n_steps + 1 + rng.permutation(n_steps - warmup)[:n_beyond]
        ends = [1, warmup, warmup + 1, n_steps] if warmup else [1, n_steps]
        t = np.sort(np.concatenate([before, ends, after, beyond]).astype(int))
        if shuffled:
            t = np.concatenate([t[1::2][::-1], t[::2]])
        return {
            "t": t,
            "peak": np.array(peak),
            "floor": np.array(floor * peak),
            "warmup": np.array(warmup),
            "n_steps": np.array(n_steps),
        }

    return [
        draw(3, rng.integers(8, 12), 1, 1),
        draw(5, rng.integers(11, 16), 2, 3),
        draw(4, rng.integers(17, 24), 2, 5),
        draw(3, rng.integers(9, 13), 1, 2, floor=0.1),
        draw(6, 15, 2, 4, floor=0.3, shuffled=True),
        draw(3, 8, 1, 2, n_beyond=2),
        draw(4, 11, 2, 2, floor=0.2, n_beyond=3),
        draw(0, 7, 0, 2),
        draw(0, 10, 0, 3, floor=0.2),
        *(draw(w, w + more, 2, 3) for w, more in rng.integers((3, 7), (10, 40), (2, 2))),
    ]


def _variant(
    climb=lambda t, peak, floor, warmup: peak * t / warmup,
    progress=lambda t, warmup, n_steps: (t - warmup) / (n_steps - warmup),
    wave=lambda x, peak, floor: floor + (peak - floor) * _fall(x),
    after=lambda x, peak, floor: floor,
    moved=0,
):
    """Return a schedule with one of its parts replaced."""

    def wrong(t, peak, floor, warmup, n_steps):
        t = t + moved
        x = progress(t, warmup, n_steps)
        falling = np.where(t > n_steps, after(x, peak, floor), wave(x, peak, floor))
        return np.where(t <= warmup, climb(t, peak, floor, warmup), falling)

    return wrong


def _going_on(wave):
    """Return a schedule whose wave is not stopped at the end."""
    return _variant(wave=wave, after=lambda x, peak, floor: wave(x, peak, floor))


def _stopping(wave):
    """Return a schedule whose wave is stopped at the end, wherever it then is."""
    return _variant(wave=wave, after=lambda x, peak, floor: wave(1, peak, floor))


def _past_end(progress):
    return _variant(
        progress=lambda t, warmup, n_steps: np.clip(progress(t, warmup, n_steps), 0, 1),
        after=lambda x, peak, floor: floor + (peak - floor) * _fall(x),
    )


def _late_peak(t, peak, floor, warmup, n_steps):
    x = np.clip((t - warmup - 1) / (n_steps - warmup - 1), 0, 1)
    wave = floor + (peak - floor) * _fall(x)
    return np.where(t <= warmup + 1, peak * t / (warmup + 1), wave)


def _minimum(t, peak, floor, warmup, n_steps):
    x = np.clip(t / n_steps, 0, 1)
    return np.minimum(peak * t / np.maximum(warmup, 1), floor + (peak - floor) * _fall(x))


MISTAKES = {
    "from_zero": (_variant(moved=-1),),
    "one_ahead": (_variant(moved=1), _variant(moved=1, climb=lambda t, p, f, w: p * (t - 1) / w)),
    "late_peak": (
        _late_peak,
        _variant(climb=lambda t, peak, floor, warmup: peak * t / (warmup + 1)),
    ),
    "late_end": (_past_end(lambda t, warmup, n_steps: (t - warmup) / (n_steps + 1 - warmup)),),
    "falls_from_the_start": (_variant(progress=lambda t, warmup, n_steps: t / n_steps), _minimum),
    "falls_too_slowly": (_past_end(lambda t, warmup, n_steps: (t - warmup) / n_steps),),
    "floor_ignored": (
        _variant(wave=lambda x, peak, floor: peak * _fall(x), after=lambda x, p, f: 0.0),
        _variant(wave=lambda x, peak, floor: peak * _fall(x)),
    ),
    "floor_on_top": (
        _variant(
            wave=lambda x, peak, floor: floor + peak * _fall(x),
        ),
    ),
    "floor_cuts": (_variant(wave=lambda x, peak, floor: np.maximum(floor, peak * _fall(x))),),
    "floor_everywhere": (
        lambda t, peak, floor, warmup, n_steps: np.maximum(
            floor, cosine_schedule(t, peak, floor, warmup, n_steps)
        ),
    ),
    "climbs_again": (_going_on(lambda x, peak, floor: floor + (peak - floor) * _fall(x)),),
    "nothing_after_the_end": (_variant(after=lambda x, peak, floor: 0.0),),
    "climbs_from_the_floor": (
        _variant(climb=lambda t, peak, floor, warmup: floor + (peak - floor) * t / warmup),
    ),
    "quarter_of_a_wave": (
        _variant(wave=lambda x, peak, floor: floor + (peak - floor) * np.cos(np.pi * x / 2)),
    ),
    "whole_wave": (
        _variant(
            wave=lambda x, peak, floor: floor + (peak - floor) * (1 + np.cos(2 * np.pi * x)) / 2
        ),
        _stopping(lambda x, peak, floor: floor + (peak - floor) * (1 + np.cos(2 * np.pi * x)) / 2),
    ),
    "straight_fall": (_variant(wave=lambda x, peak, floor: peak + (floor - peak) * x),),
    "upside_down": (
        _variant(wave=lambda x, peak, floor: floor + (peak - floor) * (1 - np.cos(np.pi * x)) / 2),
        _stopping(lambda x, peak, floor: floor + (peak - floor) * (1 - np.cos(np.pi * x)) / 2),
    ),
    "half_forgotten": (
        _variant(wave=lambda x, peak, floor: floor + (peak - floor) * (1 + np.cos(np.pi * x))),
    ),
    "whole_numbers": (lambda *case: cosine_schedule(*case).astype(int),),
    "no_warmup": (_variant(climb=lambda t, peak, floor, warmup: peak),),
    "no_fall": (_variant(wave=lambda x, peak, floor: peak, after=lambda x, peak, floor: peak),),
}

EXERCISE = Exercise.from_file(__file__, ("learning_rate",), cosine_schedule, cases, MISTAKES)
