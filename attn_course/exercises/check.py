"""Is my function right, and if not, which mistake did I make?

`check` calls the learner's function with copies of every input of the exercise, compares
what it returns with the oracle, and if it is wrong looks for a known misconception that
gives the same values. The verdict depends on values alone; the explanation of a wrong attempt
may also read its code, to find the change that corrects it.

An attempt runs in the learner's own process. One that never ends cannot be stopped from here:
interrupt the kernel (the stop button, or I twice), correct the loop and run the cell again. Nothing
here protects against a malicious attempt.
"""

import ast
import functools
import inspect
import textwrap
from dataclasses import replace
from functools import partial
from pathlib import Path

from attn_course.exercises.altered import altered, unused
from attn_course.exercises.catalogue import load, modules
from attn_course.exercises.compare import family, run
from attn_course.exercises.diagnose import misconception, proves, wrong_on
from attn_course.exercises.explain import (
    compared,
    falls_short,
    has_large_numbers,
    problem,
    raised,
    shows,
    wrong_total,
)
from attn_course.exercises.kept import folder, keep
from attn_course.exercises.patterns import pattern
from attn_course.exercises.record import read_record, record_of
from attn_course.exercises.relations import mistake_on_fewest_axes, upon_a_mistake
from attn_course.exercises.repaired import deadline, repaired
from attn_course.exercises.result import Result
from attn_course.exercises.slips import two_mistakes
from attn_course.language import text

# The statements of these exercises ask for numbers, a pair or rows of ids, not for an array.
MAY_BE_LISTS = {
    "best_span",
    "bleu",
    "corrupt_spans",
    "most_attended",
    "sentence_attention",
    "warmup_schedule",
    "written",
}


def check(exercise_id, attempt):
    """Compare a function with the oracle of its exercise and explain the difference.

    Parameters
    ----------
    exercise_id : str
        The id of an exercise, one of those that `exercises` lists or one of a problem set.
    attempt : callable
        The learner's function. It receives NumPy arrays, by position, and may return
        NumPy arrays or PyTorch tensors.

    Returns
    -------
    Result or None
        The verdict. Nothing is printed: a notebook displays the verdict if the call is the last
        line of a cell. Where solved exercises are kept, as in JupyterLab, it is None for a function
        whose body is still ``...``, so that *Run All* reports nothing on exercises not yet begun.

    Raises
    ------
    ValueError
        If there is no such exercise. A wrong attempt raises nothing.

    Examples
    --------
    >>> check("softmax", ...)
    Sin responder. `softmax` todavía no devuelve un resultado. Si ya la escribiste, revisa \
que no quede ningún `...`, que termine con `return` y que ninguna función a la que llama \
devuelva todavía `None`.
    """
    result = verdict(_find(exercise_id), attempt)
    if result.status == "unanswered" and folder() and _is_untouched(attempt):
        return None
    if result and exercise_id in modules():
        said = keep(exercise_id, attempt, partial(verdict, record_of_chapter(exercise_id)))
        result = replace(result, message="\n\n".join(filter(None, (result.message, said))))
    return result


def _is_untouched(attempt):
    """Return whether the body of a function is `...` alone, as in the statement of an exercise."""
    try:
        (tree,) = ast.parse(textwrap.dedent(inspect.getsource(attempt))).body
    except (OSError, TypeError, SyntaxError, ValueError):
        return False
    return [ast.unparse(line) for line in getattr(tree, "body", ())] == ["..."]


def _find(exercise_id):
    """Return the record of an exercise: of a chapter, or of a problem set in the working folder."""
    if isinstance(exercise_id, str):
        if exercise_id in modules():
            return record_of_chapter(exercise_id)
        for file in sorted(Path().glob("*_check.npz")):
            if found := read_record(file, exercise_id):
                return found
    ids = ", ".join(map(repr, modules()))
    got = repr(exercise_id) if isinstance(exercise_id, str) else type(exercise_id).__name__
    raise ValueError(
        text(
            es=f"exercise_id: se esperaba uno de {ids}, y después tu función; llegó {got}. Los "
            "ejercicios calificados necesitan el archivo `..._check.npz` que vino con su cuaderno, "
            "en la misma carpeta",
            en=f"exercise_id: expected one of {ids}, and then your function; got {got}. Graded "
            "exercises need the file `..._check.npz` that came with their notebook, in the same "
            "folder",
        )
    )


@functools.cache
def record_of_chapter(exercise_id):
    """Return the record of an exercise of a chapter; its inputs are the same for all learners."""
    return record_of(load(exercise_id))


def verdict(record, attempt):
    """Compare a function with the right answers of a record, as `check` does.

    Parameters
    ----------
    record : attn_course.exercises.record.Record
    attempt : callable

    Returns
    -------
    Result
    """
    if attempt is None or attempt is Ellipsis:
        return _unanswered(record)
    if not callable(attempt):
        kind = type(attempt).__name__
        return _failed(
            record,
            text(
                es=f"`check` necesita la función misma y recibió `{kind}`. Escribe solo su "
                "nombre, sin paréntesis ni argumentos.",
                en=f"`check` needs the function itself and was given `{kind}`. Write only its "
                "name, without parentheses or arguments.",
            ),
        )
    answers = [run(attempt, case, record) for case in record.cases]
    if all(answer.missing for answer in answers):
        error = answers[0].error
        return _unanswered(record, f"\n\n{raised(attempt, error)}" if error else "")
    failing = wrong_on(answers, record.expected)
    modified = next((answer.modified for answer in answers if answer.modified), None)
    if failing:
        explanation, known = _explain(record, attempt, answers, failing)
    elif modified:
        known = None
        explanation = text(
            es="Por lo demás, los valores son correctos.", en="Otherwise, the values are right."
        )
    elif not_quite := _lists(record, answers) or _short_of_one(record, answers):
        return _failed(record, not_quite)
    else:
        n = len(record.cases)
        message = text(
            es=f"Correcto. `{record.id}` coincide con la referencia en las {n} entradas.",
            en=f"Correct. `{record.id}` agrees with the reference on all {n} inputs.",
        )
        if "Tensor[" in answers[0].returned:
            message += text(
                es=" Devuelve tensores de PyTorch, que aquí valen como arreglos.",
                en=" It returns tensors of PyTorch, which count as arrays here.",
            )
        return Result(record.id, "passed", message)
    if modified:
        # First, since no advice about an input holds once it has been overwritten.
        explanation = f"{_overwritten(modified)}\n\n{explanation}"
    return _failed(record, explanation, known)


def _lists(record, answers):
    """Return a sentence on lists where an exercise of a chapter asks for arrays, or an empty text."""
    listed = {k for answer in answers for k in answer.lists}
    if not listed or record.id in MAY_BE_LISTS or record.id not in modules():
        return ""
    name = record.outputs[min(listed)]
    return text(
        es=f"Los valores son correctos, pero `{name}` es una lista o una tupla de Python y se pide un arreglo de "
        "NumPy: una lista no se compara, no se multiplica ni se indexa como él. Termina con "
        f"`np.array({name})`.",
        en=f"The values are right, but `{name}` is a Python list or tuple, and an array of NumPy is asked for: a "
        "list is not compared, multiplied or indexed like one. End with "
        f"`np.array({name})`.",
    )


def _short_of_one(record, answers):
    """Return a sentence if an ε in a divisor makes weights sum to less than 1, or an empty text."""
    for k, name in enumerate(record.outputs):
        pairs = [
            (answer.values[k], right.values[k])
            for answer, right, case in zip(answers, record.expected, record.cases, strict=True)
            if not has_large_numbers(case)
        ]
        if pairs and all(falls_short(got, wanted) for got, wanted in pairs):
            return text(
                es=f"Las filas de `{name}` no llegan a sumar 1: parece que sumas un número pequeño, un ε, "
                "al total entre el que divides. Una fila con pesos ya tiene un total mayor que 0; si "
                "temes por la que no tiene ninguno, divide entre `np.where(total == 0, 1, total)`.",
                en=f"The rows of `{name}` fall short of summing to 1: it seems that you add a small number, "
                "an ε, to the total that you divide by. A row with weights has a total above 0 already; "
                "if you fear for one without any, divide by `np.where(total == 0, 1, total)`.",
            )
    return ""


def _overwritten(name):
    return text(
        es=f"Tu función modifica `{name}`, un arreglo de quien la llama: a partir de ahí "
        f"`{name}` ya no contiene lo que recibió. `+=`, `-=`, `out=` y `x[...] = ...` escriben "
        "en el original: crea un arreglo nuevo o trabaja con una copia.",
        en=f"Your function modifies `{name}`, an array that belongs to its caller: from then on "
        f"`{name}` no longer holds what it was given. `+=`, `-=`, `out=` and `x[...] = ...` "
        "write into the original: make a new array or work on a copy.",
    )


def _failed(record, message, misconception=None):
    return Result(
        record.id, "failed", text(es="Todavía no. ", en="Not yet. ") + message, misconception
    )


def _unanswered(record, why=""):
    message = text(
        es=f"Sin responder. `{record.id}` todavía no devuelve un resultado. Si ya la "
        "escribiste, revisa que no quede ningún `...`, que termine con `return` y que ninguna "
        "función a la que llama devuelva todavía `None`.",
        en=f"Not answered yet. `{record.id}` does not return a result yet. If you have "
        "written it, check that no `...` is left, that it ends with `return`, and that no "
        "function it calls still returns `None`.",
    )
    return Result(record.id, "unanswered", message + why)


def _explain(record, attempt, answers, failing):
    """Return the explanation of a wrong attempt, and the id of the known mistake or None."""
    first = failing[0]
    case, answer, expected = record.cases[first], answers[first], record.expected[first]
    others = [(answers[i], record.expected[i]) for i in failing[1:]]
    what = problem(record, attempt, case, answer, expected, others)
    known = misconception(record, answers, failing)
    repair = nearer = both = ""
    if not (known and proves(known, answers, failing)):
        until = deadline()
        both = two_mistakes(record, answers, failing, until, known)
        if not both:
            may_be_lists = record.id in MAY_BE_LISTS
            repair, nearer = repaired(
                record, attempt, answers, failing, may_be_lists, bool(known), until
            )
    if known and not (repair or both):
        message = text(**known.hint)
        if answer.error:
            message += "\n\n" + what
        return message, known.id
    n = len(record.cases)
    where = text(
        es=f"Falla en {len(failing)} de {n} entradas; la más pequeña:",
        en=f"It fails on {len(failing)} of {n} inputs; the smallest:",
    )
    shown = next((i for i in failing if _shows(record, answers[i], i)), first)
    if shown != first:
        where = text(
            es=f"Falla en {len(failing)} de {n} entradas; la más pequeña en la que se ve:",
            en=f"It fails on {len(failing)} of {n} inputs; the smallest on which it shows:",
        )
    if answer.error and family(answer.error):
        # What the exception means is more helpful than a change that corrects only a part.
        nearer = ""
    if is_total := bool(wrong_total(record, case, answer, expected, others)):
        nearer = ""  # Only the division by a sum is missing, and `what` says so.
    if both or repair or nearer:
        what = raised(attempt, answer.error, False) if answer.error else ""
        common = both or repair or nearer
    elif common := altered(record, attempt, answers, failing):
        what = raised(attempt, answer.error, False) if answer.error else what
    else:
        found = pattern(record, answers, failing), unused(record, attempt, answers, failing)
        common = " ".join(filter(None, found))
        if not (common or is_total):
            common = upon_a_mistake(record, answers, failing) or mistake_on_fewest_axes(
                record, answers, failing
            )
    what = f"{what} {common}".strip()
    evidence = compared(record, record.cases[shown], answers[shown], record.expected[shown])
    return (
        f"{what} {where}\n\n{textwrap.indent(evidence, '    ')}",
        known.id if known and both else None,
    )


def _shows(record, answer, i):
    return shows(record, answer, record.expected[i])
