"""Problem set 7, `cosine_schedule`: up in a line, down in a wave, and the ways to miss an end."""

import numpy as np

from attn.exercises.spec import Exercise, Misconception


def cosine_schedule(t, peak, floor, warmup, n_steps):
    """Return the learning rate of each step: warm-up, half a wave of the cosine, floor."""
    fallen = np.clip((t - warmup) / (n_steps - warmup), 0, 1)
    wave = floor + (peak - floor) * (1 + np.cos(np.pi * fallen)) / 2
    return np.where(t <= warmup, peak * t / np.maximum(warmup, 1), wave)


def cases(seed):
    """Return steps of several schedules: with a floor, without warm-up, after the end.

    Parameters
    ----------
    seed : int
        Seed of the random numbers; the shapes are always the same.

    Returns
    -------
    list of dict
        With the keys ``t``, ``peak``, ``floor``, ``warmup`` and ``n_steps``.
    """
    rng = np.random.default_rng(seed)

    def draw(warmup, n_steps, n_before, n_after, floor=0.0, n_beyond=0):
        peak = rng.uniform(0.4, 0.9)
        # The ends, where a schedule goes wrong, are always among the steps.
        before = 2 + rng.permutation(max(warmup - 2, 0))[:n_before]
        after = warmup + 2 + rng.permutation(n_steps - warmup - 2)[:n_after]
        beyond = n_steps + 1 + rng.permutation(n_steps - warmup)[:n_beyond]
        ends = [1, warmup, warmup + 1, n_steps] if warmup else [1, n_steps]
        return {
            "t": np.sort(np.concatenate([before, ends, after, beyond]).astype(int)),
            "peak": np.array(peak),
            "floor": np.array(floor * peak),
            "warmup": np.array(warmup),
            "n_steps": np.array(n_steps),
        }

    return [
        draw(3, 9, 1, 1),
        draw(5, 12, 2, 3),
        draw(4, 20, 2, 5),
        draw(3, 10, 1, 2, floor=0.1),
        draw(6, 15, 2, 4, floor=0.3),
        draw(3, 8, 1, 2, n_beyond=2),
        draw(4, 11, 2, 2, floor=0.2, n_beyond=3),
        draw(0, 7, 0, 2),
        draw(0, 10, 0, 3, floor=0.2),
    ]


def _variant(
    climb=lambda t, peak, floor, warmup: peak * t / warmup,
    progress=lambda t, warmup, n_steps: (t - warmup) / (n_steps - warmup),
    wave=lambda x, peak, floor: floor + (peak - floor) * (1 + np.cos(np.pi * x)) / 2,
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


def _half(x):
    return (1 + np.cos(np.pi * x)) / 2


def _past_end(progress):
    return _variant(
        progress=lambda t, warmup, n_steps: np.clip(progress(t, warmup, n_steps), 0, 1),
        after=lambda x, peak, floor: floor + (peak - floor) * _half(x),
    )


def _late_peak(t, peak, floor, warmup, n_steps):
    x = np.clip((t - warmup - 1) / (n_steps - warmup - 1), 0, 1)
    wave = floor + (peak - floor) * _half(x)
    return np.where(t <= warmup + 1, peak * t / (warmup + 1), wave)


def _minimum(t, peak, floor, warmup, n_steps):
    x = np.clip(t / n_steps, 0, 1)
    return np.minimum(peak * t / np.maximum(warmup, 1), floor + (peak - floor) * _half(x))


MISCONCEPTIONS = (
    Misconception(
        "from_zero",
        (_variant(moved=-1),),
        {
            "es": "Cuentas los pasos desde 0, y el primero no mueve ningún peso. Aquí el primero es "
            "`t = 1`, y el máximo cae en `t = warmup`.",
            "en": "You count the steps from 0, and the first moves no weight. Here the first is "
            "`t = 1`, and the peak falls at `t = warmup`.",
        },
    ),
    Misconception(
        "one_ahead",
        (_variant(moved=1), _variant(moved=1, climb=lambda t, p, f, w: p * (t - 1) / w)),
        {
            "es": "Vas adelantado un paso. El número que llega ya es el del paso que se va a dar: "
            "no le sumes nada.",
            "en": "You are ahead by one step. The number that comes in is already that of the step "
            "to be taken: add nothing to it.",
        },
    ),
    Misconception(
        "late_peak",
        (_late_peak, _variant(climb=lambda t, peak, floor, warmup: peak * t / (warmup + 1))),
        {
            "es": "Divides la subida entre `warmup + 1`, y el paso `warmup` se queda por debajo del "
            "máximo. Son `warmup` escalones iguales, y el último llega arriba.",
            "en": "You divide the climb by `warmup + 1`, and step `warmup` stays below the peak. "
            "There are `warmup` equal rungs, and the last one reaches the top.",
        },
    ),
    Misconception(
        "late_end",
        (_past_end(lambda t, warmup, n_steps: (t - warmup) / (n_steps + 1 - warmup)),),
        {
            "es": "Tu bajada termina un paso después del último. Es una elección posible, la del "
            "paquete del curso, pero aquí `t = n_steps` debe dar exactamente `floor`.",
            "en": "Your fall ends one step after the last. That is a possible choice, the one of "
            "the course's package, but here `t = n_steps` must give exactly `floor`.",
        },
    ),
    Misconception(
        "falls_from_the_start",
        (_variant(progress=lambda t, warmup, n_steps: t / n_steps), _minimum),
        {
            "es": "La onda empieza en el paso 0, y cuando acaba el calentamiento ya va por debajo "
            "del máximo: hay un salto. Su recorrido va de `warmup` a `n_steps`.",
            "en": "The wave starts at step 0, and when the warm-up is over it is below the peak "
            "already: there is a jump. It runs from `warmup` to `n_steps`.",
        },
    ),
    Misconception(
        "falls_too_slowly",
        (_past_end(lambda t, warmup, n_steps: (t - warmup) / n_steps),),
        {
            "es": "Divides el avance entre `n_steps`, pero la bajada dura menos: los pasos que "
            "quedan tras el calentamiento. Así no llega al suelo.",
            "en": "You divide the progress by `n_steps`, but the fall is shorter: the steps that "
            "are left after the warm-up. This way it never reaches the floor.",
        },
    ),
    Misconception(
        "floor_ignored",
        (
            _variant(wave=lambda x, peak, floor: peak * _half(x), after=lambda x, p, f: 0.0),
            _variant(wave=lambda x, peak, floor: peak * _half(x)),
        ),
        {
            "es": "Tu onda baja hasta 0. Debe quedarse en `floor`: los últimos pasos aún mueven "
            "algo.",
            "en": "Your wave falls to 0. It should stop at `floor`: the last steps still move "
            "something.",
        },
    ),
    Misconception(
        "floor_on_top",
        (
            _variant(
                wave=lambda x, peak, floor: floor + peak * _half(x),
            ),
        ),
        {
            "es": "Sumas el suelo a una onda que ya mide `peak` de alto, y empieza por encima del "
            "máximo. Lo que baja es la diferencia entre los dos.",
            "en": "You add the floor to a wave that is `peak` high already, and it starts above the "
            "peak. What falls is the difference of the two.",
        },
    ),
    Misconception(
        "floor_cuts",
        (_variant(wave=lambda x, peak, floor: np.maximum(floor, peak * _half(x))),),
        {
            "es": "Bajas hacia 0 y cortas en el suelo con un máximo: la curva llega con un codo y "
            "antes de tiempo. La onda entera cabe entre `peak` y `floor`.",
            "en": "You fall towards 0 and cut at the floor with a maximum: the curve arrives with a "
            "kink, and too early. The whole wave fits between `peak` and `floor`.",
        },
    ),
    Misconception(
        "floor_everywhere",
        (
            lambda t, peak, floor, warmup, n_steps: np.maximum(
                floor, cosine_schedule(t, peak, floor, warmup, n_steps)
            ),
        ),
        {
            "es": "Impones el suelo también a la subida. Los primeros pasos son pequeños a "
            "propósito: su recta empieza en 0, por debajo de `floor` si hace falta.",
            "en": "You impose the floor on the climb too. The first steps are small on purpose: "
            "their line starts at 0, below `floor` if need be.",
        },
    ),
    Misconception(
        "climbs_again",
        (_going_on(lambda x, peak, floor: floor + (peak - floor) * _half(x)),),
        {
            "es": "Después de `n_steps` el coseno vuelve a subir, y con él los pasos. Quien alarga "
            "un entrenamiento lo nota tarde: detén el avance en 1.",
            "en": "After `n_steps` the cosine climbs again, and the steps with it. Whoever prolongs "
            "a training run notices late: stop the progress at 1.",
        },
    ),
    Misconception(
        "nothing_after_the_end",
        (_variant(after=lambda x, peak, floor: 0.0),),
        {
            "es": "Después de `n_steps` das 0. El suelo es suelo también ahí: cualquier paso "
            "posterior vale `floor`.",
            "en": "After `n_steps` you give 0. The floor is a floor there too: any later step is "
            "worth `floor`.",
        },
    ),
    Misconception(
        "climbs_from_the_floor",
        (_variant(climb=lambda t, peak, floor, warmup: floor + (peak - floor) * t / warmup),),
        {
            "es": "Tu calentamiento arranca en el suelo. El suelo es solo de la bajada: la recta "
            "sube desde 0.",
            "en": "Your warm-up starts at the floor. The floor belongs to the fall alone: the line "
            "climbs from 0.",
        },
    ),
    Misconception(
        "quarter_of_a_wave",
        (_variant(wave=lambda x, peak, floor: floor + (peak - floor) * np.cos(np.pi * x / 2)),),
        {
            "es": "Usas un cuarto de onda, que llega abajo con toda su pendiente. La media onda sale "
            "y llega despacio: un medio de uno más el coseno de π por el avance.",
            "en": "You use a quarter of a wave, which arrives at the bottom at full slope. Half a "
            "wave leaves and arrives slowly: half of one plus the cosine of π times the progress.",
        },
    ),
    Misconception(
        "whole_wave",
        (
            _variant(
                wave=lambda x, peak, floor: floor + (peak - floor) * (1 + np.cos(2 * np.pi * x)) / 2
            ),
            _stopping(
                lambda x, peak, floor: floor + (peak - floor) * (1 + np.cos(2 * np.pi * x)) / 2
            ),
        ),
        {
            "es": "Das la vuelta entera: la onda baja hasta la mitad del recorrido y vuelve a subir. "
            "Sobra un 2 junto a π.",
            "en": "You go all the way round: the wave falls to half of its run and climbs back. "
            "There is a 2 too many beside π.",
        },
    ),
    Misconception(
        "straight_fall",
        (_variant(wave=lambda x, peak, floor: peak + (floor - peak) * x),),
        {
            "es": "Bajas en línea recta. Los extremos son los debidos, y lo de en medio no: falta "
            "el coseno.",
            "en": "You fall in a straight line. The ends are right and what lies between them is "
            "not: the cosine is missing.",
        },
    ),
    Misconception(
        "upside_down",
        (
            _variant(
                wave=lambda x, peak, floor: floor + (peak - floor) * (1 - np.cos(np.pi * x)) / 2
            ),
            _stopping(lambda x, peak, floor: floor + (peak - floor) * (1 - np.cos(np.pi * x)) / 2),
        ),
        {
            "es": "La onda está boca abajo: tras el calentamiento cae al suelo de golpe y sube hasta "
            "el final. El coseno va con signo más.",
            "en": "The wave is upside down: after the warm-up it drops to the floor and climbs to "
            "the end. The cosine has a plus sign.",
        },
    ),
    Misconception(
        "half_forgotten",
        (_variant(wave=lambda x, peak, floor: floor + (peak - floor) * (1 + np.cos(np.pi * x))),),
        {
            "es": "Uno más el coseno va de 2 a 0, y tu bajada empieza al doble de la altura. Falta "
            "dividir entre 2.",
            "en": "One plus the cosine runs from 2 to 0, and your fall starts at twice the height. "
            "Divide by 2.",
        },
    ),
    Misconception(
        "whole_numbers",
        (lambda *case: cosine_schedule(*case).astype(int),),
        {
            "es": "Guardas los tamaños en un arreglo de enteros, y todos se truncan a 0. `t` es de "
            "enteros, y `np.zeros_like(t)` o `np.piecewise` también: pide `float`.",
            "en": "You store the sizes in an array of integers, and all are cut to 0. `t` holds "
            "integers, and so do `np.zeros_like(t)` and `np.piecewise`: ask for `float`.",
        },
    ),
    Misconception(
        "no_warmup",
        (_variant(climb=lambda t, peak, floor, warmup: peak),),
        {
            "es": "Falta la recta: todos los pasos hasta `warmup` valen `peak`. El primero debe "
            "valer `peak / warmup`.",
            "en": "The line is missing: all the steps up to `warmup` are worth `peak`. The first "
            "should be worth `peak / warmup`.",
        },
    ),
    Misconception(
        "no_fall",
        (_variant(wave=lambda x, peak, floor: peak, after=lambda x, peak, floor: peak),),
        {
            "es": "Tras el calentamiento te quedas en el máximo. Queda la mitad del trabajo: bajar "
            "hasta `floor`.",
            "en": "After the warm-up you stay at the peak. Half of the work is left: to fall to "
            "`floor`.",
        },
    ),
)

EXERCISE = Exercise(
    "cosine_schedule",
    8,
    ("learning_rate",),
    cosine_schedule,
    cases,
    MISCONCEPTIONS,
    problem_set="ps7",
)
