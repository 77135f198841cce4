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

from attn.exercises import (
    a1_epoch_loss,
    a1_most_attended,
    a1_written,
    ch01_alignment,
    ch01_paths,
    ch01_pooling,
    ch02_cosine,
    ch02_embed,
    ch02_rating_gradients,
    ch03_attention,
    ch03_self_attention,
    ch03_softmax,
    ch04_contributions,
    ch04_multi_head,
    ch04_split_heads,
    ch05_cross_attention,
    ch05_encoder_layer,
    ch05_feed_forward,
    ch05_layer_norm,
    ch06_causal_mask,
    ch06_padding_mask,
    ch06_reachable,
    ch07_alibi_bias,
    ch07_rotate,
    ch07_sinusoidal_positions,
    ch08_adam,
    ch08_cross_entropy,
    ch08_teacher_forcing,
    ch08_warmup,
    ch09_alignment_error,
    ch09_beam_step,
    ch09_bleu,
    ch09_top_p_filter,
    ch10_best_span,
    ch10_question_match,
    ch10_sentence_attention,
    ch11_contrastive,
    ch11_mask_tokens,
    ch11_merge_attention,
    ch11_spans,
    ps1,
    ps2,
    ps3,
    ps4,
    ps5,
    ps6,
    ps7,
    ps8,
)
from attn.exercises.compare import run
from attn.exercises.diagnose import misconception, smallest_first, wrong_on
from attn.exercises.explain import compared, problem, raised
from attn.language import text

SPECS = (
    *(ch01_pooling, ch01_alignment, ch01_paths),
    *(ch02_embed, ch02_cosine, ch02_rating_gradients),
    *(ch03_softmax, ch03_attention, ch03_self_attention),
    *(ch04_split_heads, ch04_multi_head, ch04_contributions),
    *(ch05_layer_norm, ch05_feed_forward, ch05_encoder_layer, ch05_cross_attention),
    *(ch06_causal_mask, ch06_padding_mask, ch06_reachable),
    *(ch07_sinusoidal_positions, ch07_rotate, ch07_alibi_bias),
    *(ch08_teacher_forcing, ch08_cross_entropy, ch08_adam, ch08_warmup),
    *(ch09_beam_step, ch09_top_p_filter, ch09_bleu, ch09_alignment_error),
    *(ch10_best_span, ch10_question_match, ch10_sentence_attention),
    *(ch11_mask_tokens, ch11_spans, ch11_contrastive, ch11_merge_attention),
    *(a1_most_attended, a1_written, a1_epoch_loss),
    *ps1.SPECS,
    *ps2.SPECS,
    *ps3.SPECS,
    *ps4.SPECS,
    *ps5.SPECS,
    *ps6.SPECS,
    *ps7.SPECS,
    *ps8.SPECS,
)
EXERCISES = {spec.EXERCISE.id: spec.EXERCISE for spec in SPECS}

SEED = 0
EMPHASIS = re.compile(r"(?<![\w*])\*([^\s*][^*\n]*)\*(?![\w*])")  # and no product
MARKS = re.compile(rf"`([^`]+)`|{EMPHASIS.pattern}")


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
        body = MARKS.sub(_marked, "".join(parts))
        return f'<div class="attn-check attn-check-{kind}" role="status">{body}</div>'


def _marked(found):
    code, emphasis = found.groups()
    return f"<code>{code}</code>" if code else f"<em>{emphasis}</em>"


def exercises():
    """Return the ids of the exercises of each chapter, without those of problem sets.

    Returns
    -------
    dict of int or str to tuple of str
        Ids by chapter, in the order of the course; "A1" is the appendix.
    """
    own = [exercise for exercise in EXERCISES.values() if exercise.problem_set is None]
    chapters = dict.fromkeys(exercise.chapter for exercise in own)
    return {c: tuple(e.id for e in own if e.chapter == c) for c in chapters}


def check(exercise_id, attempt):
    """Compare a function with the oracle of its exercise and explain the difference.

    Parameters
    ----------
    exercise_id : str
        One of `exercises`, or of a problem set.
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
que no quede ningún `...`, que termine con `return` y que ninguna función a la que llama \
devuelva todavía `None`.
    """
    if not isinstance(exercise_id, str) or exercise_id not in EXERCISES:
        ids = ", ".join(map(repr, EXERCISES))
        got = repr(exercise_id) if isinstance(exercise_id, str) else type(exercise_id).__name__
        raise ValueError(
            text(
                es=f"exercise_id: se esperaba uno de {ids}, y después tu función; llegó {got}",
                en=f"exercise_id: expected one of {ids}, and then your function; got {got}",
            )
        )
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
    cases = smallest_first(exercise.cases(SEED))
    expected = [run(exercise.oracle, case, exercise) for case in cases]
    answers = [run(attempt, case, exercise) for case in cases]
    if all(answer.missing for answer in answers):
        error = answers[0].error
        return _unanswered(exercise, f"\n\n{raised(attempt, error)}" if error else "")
    failing = wrong_on(answers, expected)
    modified = next((answer.modified for answer in answers if answer.modified), None)
    if failing:
        explanation, known = _explain(exercise, attempt, cases, answers, expected, failing)
    elif modified:
        known = None
        explanation = text(
            es="Por lo demás, los valores son correctos.", en="Otherwise, the values are right."
        )
    else:
        n = len(cases)
        message = text(
            es=f"Correcto. `{exercise.id}` coincide con la referencia en las {n} entradas.",
            en=f"Correct. `{exercise.id}` agrees with the reference on all {n} inputs.",
        )
        return Result(exercise.id, "passed", message)
    if modified:
        # First, since no advice about an input holds once it has been overwritten.
        explanation = f"{_overwritten(modified)}\n\n{explanation}"
    return _failed(exercise, explanation, known)


def _overwritten(name):
    return text(
        es=f"Tu función modifica `{name}`, un arreglo de quien la llama: a partir de ahí "
        f"`{name}` ya no contiene lo que recibió. `+=`, `-=`, `out=` y `x[...] = ...` escriben "
        "en el original: crea un arreglo nuevo o trabaja con una copia.",
        en=f"Your function modifies `{name}`, an array that belongs to its caller: from then on "
        f"`{name}` no longer holds what it was given. `+=`, `-=`, `out=` and `x[...] = ...` "
        "write into the original: make a new array or work on a copy.",
    )


def _failed(exercise, message, misconception=None):
    return Result(
        exercise.id, "failed", text(es="Todavía no. ", en="Not yet. ") + message, misconception
    )


def _unanswered(exercise, why=""):
    message = text(
        es=f"Sin responder. `{exercise.id}` todavía no devuelve un resultado. Si ya la "
        "escribiste, revisa que no quede ningún `...`, que termine con `return` y que ninguna "
        "función a la que llama devuelva todavía `None`.",
        en=f"Not answered yet. `{exercise.id}` does not return a result yet. If you have "
        "written it, check that no `...` is left, that it ends with `return`, and that no "
        "function it calls still returns `None`.",
    )
    return Result(exercise.id, "unanswered", message + why)


def _explain(exercise, attempt, cases, answers, expected, failing):
    """Return the explanation of a wrong attempt, and the id of the known mistake or None."""
    first = failing[0]
    what = problem(exercise, attempt, cases[first], answers[first], expected[first])
    known = misconception(exercise, cases, answers, expected, failing)
    if known:
        message = text(**known.hint)
        if answers[first].error:
            message += "\n\n" + what
        return message, known.id
    where = text(
        es=f"Falla en {len(failing)} de {len(cases)} entradas; la más pequeña:",
        en=f"It fails on {len(failing)} of {len(cases)} inputs; the smallest:",
    )
    evidence = compared(exercise, cases[first], answers[first], expected[first])
    return f"{what} {where}\n\n{textwrap.indent(evidence, '    ')}", None
