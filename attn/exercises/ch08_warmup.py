"""Chapter 8, `warmup_schedule`: the learning rate of each step."""

import numpy as np

from attn.exercises.spec import Exercise, Misconception
from attn.reference import warmup_schedule


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


def _schedule(width=lambda d: d**-0.5, up=lambda t, w: t * w**-1.5, down=lambda t, w: t**-0.5,
              choose=np.minimum):  # fmt: skip
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


MISCONCEPTIONS = (
    Misconception(
        "larger_of_the_two",
        (_schedule(choose=np.maximum),),
        {
            "es": "Tomas la mayor de las dos partes: empieza en lo más alto, baja y vuelve a subir "
            "sin fin. La menor es la recta antes de `warmup` y la raíz después: `np.minimum`.",
            "en": "You take the larger of the two parts: it starts at the top, falls, and climbs "
            "again for ever. The smaller is the line before `warmup` and the root after it: "
            "`np.minimum`.",
        },
    ),
    Misconception(
        "no_width",
        (_schedule(width=lambda d: 1.0),),
        {
            "es": "Falta el factor de `d_model`. Cuanto más ancho el modelo, menores los pasos: "
            "multiplica por `d_model**-0.5`.",
            "en": "The factor of `d_model` is missing. The wider the model, the smaller the steps: "
            "multiply by `d_model**-0.5`.",
        },
    ),
    Misconception(
        "width_upwards",
        (_schedule(width=lambda d: d**0.5),),
        {
            "es": "Multiplicas por √d_model y hay que dividir: el exponente es −0.5. Un modelo más "
            "ancho necesita pasos menores.",
            "en": "You multiply by √d_model where you should divide: the exponent is −0.5. A wider "
            "model needs smaller steps.",
        },
    ),
    Misconception(
        "width_without_root",
        (_schedule(width=lambda d: 1 / d),),
        {
            "es": "Divides entre `d_model`, sin la raíz. Con 512 los pasos serían más de veinte "
            "veces menores que los del artículo: el exponente es −0.5, no −1.",
            "en": "You divide by `d_model`, without the root. At 512 the steps would be over twenty "
            "times smaller than the paper's: the exponent is −0.5, not −1.",
        },
    ),
    Misconception(
        "counted_from_zero",
        (_moved(-1),),
        {
            "es": "Cuentas los pasos desde 0. El primero no movería nada, y 0 elevado a −0.5 es "
            "infinito: `t` ya cuenta desde 1, úsalo tal cual.",
            "en": "You count the steps from 0. The first would move nothing, and 0 to the power "
            "−0.5 is infinite: `t` counts from 1 already, use it as it is.",
        },
    ),
    Misconception(
        "one_step_ahead",
        (_moved(1),),
        {
            "es": "Vas un paso por delante: sumas 1 a `t`, que ya cuenta desde 1. El máximo debe "
            "caer exactamente en `t = warmup`.",
            "en": "You are one step ahead: you add 1 to `t`, which counts from 1 already. The peak "
            "must fall exactly at `t = warmup`.",
        },
    ),
    Misconception(
        "only_the_line",
        (_schedule(choose=lambda up, down: up),),
        {
            "es": "Solo está la recta: el paso crece sin fin. Después de `warmup` manda la otra "
            "parte, `t**-0.5`: toma la menor de las dos.",
            "en": "There is only the line: the step grows for ever. After `warmup` the other part "
            "rules, `t**-0.5`: take the smaller of the two.",
        },
    ),
    Misconception(
        "only_the_root",
        (_schedule(choose=lambda up, down: down),),
        {
            "es": "Solo está la raíz: el primer paso es el mayor de todos, y falta el "
            "calentamiento. Antes de `warmup` manda la recta, `t * warmup**-1.5`.",
            "en": "There is only the root: the first step is the largest of all, and the warm-up is "
            "missing. Before `warmup` the line rules, `t * warmup**-1.5`.",
        },
    ),
    Misconception(
        "exponent_of_warmup",
        (
            _schedule(up=lambda t, w: t * w**-0.5),
            _schedule(up=lambda t, w: t / w),
        ),
        {
            "es": "El exponente de `warmup` no es ese. Las dos partes deben valer lo mismo en "
            "`t = warmup`: como allí la raíz es `warmup**-0.5`, la recta es `t * warmup**-1.5`.",
            "en": "That is not the exponent of `warmup`. Both parts must be equal at `t = warmup`: "
            "since the root is `warmup**-0.5` there, the line is `t * warmup**-1.5`.",
        },
    ),
    Misconception(
        "falls_too_fast",
        (
            _schedule(down=lambda t, w: 1 / t),
            _schedule(down=lambda t, w: w**0.5 / t),
        ),
        {
            "es": "Después del máximo bajas como 1/t, y el artículo baja como 1/√t: el exponente de "
            "`t` es −0.5. Con 1/t el entrenamiento se frena mucho antes.",
            "en": "After the peak you fall as 1/t, and the paper falls as 1/√t: the exponent of `t` "
            "is −0.5. With 1/t the training slows down far sooner.",
        },
    ),
    Misconception(
        "never_falls",
        (_schedule(down=lambda t, w: np.full_like(t, w**-0.5)),),
        {
            "es": "Después de `warmup` el paso se queda en su máximo. Tiene que bajar, con la raíz "
            "del número de paso: `t**-0.5`.",
            "en": "After `warmup` the step stays at its peak. It has to fall, with the root of the "
            "number of the step: `t**-0.5`.",
        },
    ),
    Misconception(
        "peak_of_one",
        (_schedule(width=lambda d: 1.0, up=lambda t, w: t / w, down=lambda t, w: (w / t) ** 0.5),),
        {
            "es": "La forma es la buena, pero el máximo vale 1. En el artículo vale "
            "1/√(d_model · warmup): multiplica por `(d_model * warmup)**-0.5`.",
            "en": "The shape is right, but the peak is 1. In the paper it is "
            "1/√(d_model · warmup): multiply by `(d_model * warmup)**-0.5`.",
        },
    ),
    Misconception(
        "starts_again",
        (_schedule(down=lambda t, w: np.maximum(t - w, 1) ** -0.5),),
        {
            "es": "Cuentas los pasos de la bajada desde `warmup`. `t` es siempre el número de paso "
            "desde el principio; así las dos partes se encuentran en `warmup`.",
            "en": "You count the steps of the fall from `warmup`. `t` is always the number of the "
            "step from the beginning; that is how the two parts meet at `warmup`.",
        },
    ),
)

EXERCISE = Exercise(
    "warmup_schedule", 8, ("learning_rate",), warmup_schedule, cases, MISCONCEPTIONS
)
