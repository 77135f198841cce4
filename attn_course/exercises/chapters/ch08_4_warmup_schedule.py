"""Chapter 8, `warmup_schedule`: the learning rate of each step."""

import numpy as np

from attn.reference import warmup_schedule
from attn_course.exercises.spec import Exercise


def cases(seed):
    """Return steps before, at and after the peak, for several widths and warm-ups.

    Parameters
    ----------
    seed : int
        Seed of the random numbers; the shapes are always the same.

    Returns
    -------
    list of dict
        With the keys ``t``, ``d_model`` and ``warmup``.
    """
    rng = np.random.default_rng(seed)

    def draw(n_before, n_after, d_model, warmup):
        before = 1 + rng.permutation(warmup - 1)[:n_before]
        after = warmup + 1 + rng.permutation(3 * warmup)[:n_after]
        t = np.sort(np.concatenate([before, [warmup], after]))
        return {"t": t, "d_model": np.array(d_model), "warmup": np.array(warmup)}

    return [draw(1, 1, 4, 4), draw(2, 1, 8, 6), draw(2, 3, 5, 9), draw(4, 4, 16, 12)]


def _schedule(
    width=lambda d: d**-0.5,
    up=lambda t, w: t * w**-1.5,
    down=lambda t, w: t**-0.5,
    choose=np.minimum,
):
    """Return a schedule with one of its parts replaced."""

    def wrong(t, d_model, warmup):
        t, d_model, warmup = t.astype(float), float(d_model), float(warmup)
        return width(d_model) * choose(up(t, warmup), down(t, warmup))

    return wrong


def _moved(by):
    def wrong(t, d_model, warmup):
        with np.errstate(all="ignore"):
            t = t.astype(float) + by
            return float(d_model) ** -0.5 * np.minimum(t**-0.5, t * float(warmup) ** -1.5)

    return wrong


def _exchanged(t, d_model, warmup):
    t, d_model, warmup = t.astype(float), float(d_model), float(warmup)
    return warmup**-0.5 * np.minimum(t**-0.5, t * d_model**-1.5)


def _width_in_one(t, d_model, warmup):
    t, d_model, warmup = t.astype(float), float(d_model), float(warmup)
    return np.minimum(d_model**-0.5 * t**-0.5, t * warmup**-1.5)


def _own_steps(t, d_model, warmup):
    return warmup_schedule(np.arange(1, len(t) + 1), int(d_model), int(warmup))


MISTAKES = {
    "larger_of_the_two": (_schedule(choose=np.maximum),),
    "no_width": (_schedule(width=lambda d: 1.0),),
    "width_upwards": (_schedule(width=lambda d: d**0.5),),
    "width_without_root": (_schedule(width=lambda d: 1 / d),),
    "counted_from_zero": (_moved(-1),),
    "one_step_ahead": (_moved(1),),
    "only_the_line": (_schedule(choose=lambda up, down: up),),
    "only_the_root": (_schedule(choose=lambda up, down: down),),
    "exponent_of_warmup": (
        _schedule(up=lambda t, w: t * w**-0.5),
        _schedule(up=lambda t, w: t / w),
    ),
    "falls_too_fast": (
        _schedule(down=lambda t, w: 1 / t),
        _schedule(down=lambda t, w: w**0.5 / t),
    ),
    "never_falls": (_schedule(down=lambda t, w: np.full_like(t, w**-0.5)),),
    "peak_of_one": (
        _schedule(width=lambda d: 1.0, up=lambda t, w: t / w, down=lambda t, w: (w / t) ** 0.5),
    ),
    "starts_again": (_schedule(down=lambda t, w: np.maximum(t - w, 1) ** -0.5),),
    "width_and_warmup_exchanged": (_exchanged,),
    "width_in_one_part": (_width_in_one,),
    "both_added": (_schedule(choose=np.add),),
    "own_steps": (_own_steps,),
}

EXERCISE = Exercise.from_file(__file__, ("learning_rate",), warmup_schedule, cases, MISTAKES)
