"""Is my function right, and if not, which mistake did I make?

`check` calls the learner's function with copies of every input of the exercise, compares
what it returns with the oracle, and if it is wrong looks for a known misconception that
gives the same values. Only values are compared, never code.

An attempt runs in the learner's own process. One that never ends cannot be stopped from
here: interrupt the kernel (the stop button, or I twice), mend the loop and run the cell
again. Nothing here protects against an attempt that means harm.
"""

import html
import re
import textwrap
from dataclasses import dataclass

from attn.exercises import ch03_attention, ch03_self_attention, ch03_softmax
from attn.exercises.compare import run, same
from attn.exercises.explain import compared, problem
from attn.language import text

EXERCISES = {
    spec.EXERCISE.id: spec.EXERCISE for spec in (ch03_softmax, ch03_attention, ch03_self_attention)
}

SEED = 0


@dataclass(frozen=True, repr=False)
class Result:
    """What `check` found. It is true if the attempt is right, and shows itself.

    As the last line of a cell it is a box in a notebook and its message in a terminal;
    anywhere else, ``print`` it.

    Attributes
    ----------
    exercise : str
        Id of the exercise.
    status : {"passed", "failed", "unanswered"}
        The verdict.
    message : str
        The explanation, in the language that was in use.
    misconception : str or None
        Id of the known mistake that the attempt makes.
    """

    exercise: str
    status: str
    message: str
    misconception: str | None = None

    def __bool__(self):
        return self.status == "passed"

    def __repr__(self):
        return self.message

    def _repr_html_(self):
        kind = {"passed": "pass", "failed": "fail", "unanswered": "todo"}[self.status]
        verdict, explanation = html.escape(self.message, quote=False).split(". ", 1)
        first, *rest = explanation.split("\n\n")
        parts = [f"<p><strong>{verdict}.</strong> {first}</p>"]
        for part in rest:
            block = textwrap.dedent(part)
            parts.append(f"<p>{part}</p>" if block == part else f'<pre tabindex="0">{block}</pre>')
        body = re.sub(r"`([^`]+)`", r"<code>\1</code>", "".join(parts))
        return f'<div class="attn-check attn-check-{kind}" role="status">{body}</div>'


def exercises():
    """Return the ids of the exercises of each chapter.

    Returns
    -------
    dict of int to tuple of str
        Ids by chapter, in the order of the course.
    """
    chapters = sorted({exercise.chapter for exercise in EXERCISES.values()})
    return {c: tuple(e.id for e in EXERCISES.values() if e.chapter == c) for c in chapters}


def check(exercise_id, attempt):
    """Compare a function with the oracle of its exercise and explain the difference.

    Parameters
    ----------
    exercise_id : str
        One of `exercises`.
    attempt : callable
        The learner's function. It receives NumPy arrays, by position, and may return
        NumPy arrays, PyTorch tensors or nested lists.

    Returns
    -------
    Result
        The verdict. It shows itself as the last line of a cell; nothing is printed.

    Raises
    ------
    ValueError
        If there is no such exercise. A wrong attempt raises nothing.

    Examples
    --------
    >>> check("softmax", ...)
    Sin responder. `softmax` todavía no devuelve un resultado. Si ya la escribiste, revisa \
que no quede ningún `...` y que termine con `return`.
    """
    if exercise_id not in list(EXERCISES):
        raise ValueError(f"exercise_id: expected one of {list(EXERCISES)}, got {exercise_id!r}")
    exercise = EXERCISES[exercise_id]
    if attempt is None or attempt is Ellipsis:
        return _unanswered(exercise)
    if not callable(attempt):
        kind = type(attempt).__name__
        return _failed(
            exercise,
            text(
                es=f"`check` necesita la función misma y recibió `{kind}`. Escribe solo su "
                "nombre, sin paréntesis ni argumentos.",
                en=f"`check` needs the function itself and was given `{kind}`. Write only its "
                "name, without parentheses or arguments.",
            ),
        )
    cases = sorted(exercise.cases(SEED), key=_size)
    expected = [run(exercise.oracle, case, exercise) for case in cases]
    answers = [run(attempt, case, exercise) for case in cases]
    if all(answer.missing for answer in answers):
        return _unanswered(exercise)
    failing = [i for i in range(len(cases)) if not same(answers[i], expected[i])]
    if failing:
        return _explain(exercise, attempt, cases, answers, expected, failing)
    modified = next((answer.modified for answer in answers if answer.modified), None)
    if modified:
        return _failed(
            exercise,
            text(
                es=f"Los valores son correctos, pero tu función modifica `{modified}`, un "
                "arreglo de quien la llama. `+=`, `-=`, `out=` y `x[...] = ...` escriben en el "
                "original: crea un arreglo nuevo o trabaja con una copia.",
                en=f"The values are right, but your function modifies `{modified}`, an array "
                "that belongs to its caller. `+=`, `-=`, `out=` and `x[...] = ...` write into "
                "the original: make a new array or work on a copy.",
            ),
        )
    message = text(
        es=f"Correcto. `{exercise.id}` coincide con la referencia en las {len(cases)} entradas.",
        en=f"Correct. `{exercise.id}` agrees with the reference on all {len(cases)} inputs.",
    )
    return Result(exercise.id, "passed", message)


def _size(case):
    return sum(array.size for array in case.values())


def _failed(exercise, message, misconception=None):
    return Result(
        exercise.id, "failed", text(es="Todavía no. ", en="Not yet. ") + message, misconception
    )


def _unanswered(exercise):
    message = text(
        es=f"Sin responder. `{exercise.id}` todavía no devuelve un resultado. Si ya la "
        "escribiste, revisa que no quede ningún `...` y que termine con `return`.",
        en=f"Not answered yet. `{exercise.id}` does not return a result so far. If you have "
        "written it, check that no `...` is left and that it ends with `return`.",
    )
    return Result(exercise.id, "unanswered", message)


def _explain(exercise, attempt, cases, answers, expected, failing):
    first = failing[0]
    what = problem(exercise, attempt, cases[first], answers[first], expected[first])
    known = _misconception(exercise, cases, answers, expected, first)
    if known:
        message = text(**known.hint)
        if answers[first].error:
            message += "\n\n" + what
        return _failed(exercise, message, known.id)
    where = text(
        es=f"Falla en {len(failing)} de {len(cases)} entradas; la más pequeña:",
        en=f"It fails on {len(failing)} of {len(cases)} inputs; the smallest:",
    )
    evidence = compared(exercise, cases[first], answers[first], expected[first])
    return _failed(exercise, f"{what} {where}\n\n{textwrap.indent(evidence, '    ')}")


def _misconception(exercise, cases, answers, expected, first):
    """Return the first known mistake that explains the attempt, or None.

    The wrong function must answer like the attempt on the smallest failing input, on at
    least one input that gives finite numbers, and on all the others but those where a
    second mistake shows by itself: inputs with more arguments than the smallest failing one
    (a mask), inputs with an empty row, whose weights should be zero, and inputs on which
    the attempt breaks down (an exception, NaN).
    """
    excused = [
        len(case) > len(cases[first]) or not right.values[-1].any(axis=-1).all() or answer.broken
        for case, answer, right in zip(cases, answers, expected, strict=True)
    ]
    for known in exercise.misconceptions:
        for function in known.functions:
            wrong = [run(function, case, exercise) for case in cases]
            equal = [same(answer, other) for answer, other in zip(answers, wrong, strict=True)]
            finite = any(e and not answer.broken for e, answer in zip(equal, answers, strict=True))
            if equal[first] and finite and all(e or x for e, x in zip(equal, excused, strict=True)):
                return known
    return None
