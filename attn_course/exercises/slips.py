"""Two known mistakes at once, composed of edits of a right answer.

The hints of an exercise begin with a right answer, and with the edits that spoil it: each makes one
known mistake. Two edits, one after the other, make two mistakes at once, and their answers can be
compared with an attempt's. As everywhere, only values are compared: an attempt may be written in
any way.
"""

import functools
import re
import time
import warnings

import numpy as np

from attn_course.exercises.compare import run, same
from attn_course.language import text

ENOUGH = 4  # different numbers that must agree, over all the inputs that fail
BETWEEN = "\n--\n"  # the right answer and its edits

BOTH = {
    "es": "Hay dos errores a la vez. {0} Y el otro: {1}",
    "en": "There are two mistakes at once. {0} And the other: {1}",
}
# If several other pairs give the same numbers, none is reported.
ONE_OF_BOTH = {
    "es": "Hay dos errores a la vez. Uno de ellos: {0}",
    "en": "There are two mistakes at once. One of them: {0}",
}
# What a hint says is right may be wrong when there is another mistake.
ALONE = re.compile(
    r"(?:The [\w ]+ (?:is|are) right,? but |You choose rightly, but |Nearly\. "
    r"|(?:El|La|Los|Las) [\w ]+ (?:es|son|está|están|van?) (?:correct[oa]s?|(?:l[ao]s? )?buen[oa]s?|bien), pero "
    r"|Eliges bien, pero |Casi\. )"
)


def slips_of(written):
    """Return the right answer of an exercise and the edits that spoil it.

    Parameters
    ----------
    written : str
        The code, a line ``--``, and a line for each edit: ``mistake: old ==> new``. Several
        replacements are joined by ``&&``; ``\\n`` stands for a new line.

    Returns
    -------
    code : str
    slips : list of tuple of str and list
        The id of a mistake, and what is replaced by what, wherever it stands.
    """
    if not written:
        return "", []
    code, lines = written.split(BETWEEN)
    slips = []
    for line in lines.strip("\n").split("\n"):
        known, edits = line.split(": ", 1)
        pairs = (f"{edit} ".split(" ==> ") for edit in edits.split(" && "))
        slips.append((known, [(_unfolded(old), _unfolded(new[:-1])) for old, new in pairs]))
    return f"{code}\n", slips


def _unfolded(code):
    return code.replace("\\n", "\n")


def spoilt(code, edits):
    """Return code after edits, or None if an edit finds nothing to replace."""
    for old, new in edits:
        if old not in code:
            return None
        code = code.replace(old, new)
    return code


def function_of(code, name):
    """Return the function that code defines, with NumPy alone in scope and without warnings."""
    names = {"np": np}
    exec(code, names)  # noqa: S102 - The code is that of the course.

    def wrong(*arguments):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return names[name](*arguments)

    return wrong


@functools.cache
def _pairs(exercise_id, written):
    """Return the ids of each two mistakes that can be made together, and a function that makes both."""
    code, slips = slips_of(written)
    pairs = []
    for number, (first, edits) in enumerate(slips):
        for second, others in slips[number + 1 :]:
            if first == second:
                continue
            both = spoilt(code, [*edits, *others]) or spoilt(code, [*others, *edits])
            if both:
                make = functools.cache(functools.partial(function_of, both, exercise_id))
                pairs.append((first, second, make))
    return pairs


def two_mistakes(record, answers, failing, until, known=None):
    """Return the hints of two known mistakes that together give an attempt's answers, or an empty
    text.

    Parameters
    ----------
    record : Record
    answers : list of Answer
        What the attempt gave for each input.
    failing : list of int
        Where that is wrong, the smallest input first.
    until : float
        When to stop looking for them, by the clock of `time.perf_counter`.
    known : Mistake, optional
        One that explains most of the attempt, and so is one of the two.

    Returns
    -------
    str
        In the language in use.
    """
    if all(same(answers[i], record.expected[i]) for i in failing):
        return ""  # right numbers of another kind
    numbers = [v.ravel() for i in failing if answers[i].numbers for v in answers[i].values]
    if not numbers or not _tell(np.concatenate(numbers)):
        return ""
    # A third mistake shows on inputs of its own: with an empty row, and where the attempt breaks down.
    whole = [
        i in failing and not answer.broken and bool(right.values[-1].any(axis=-1).all())
        for i, (answer, right) in enumerate(zip(answers, record.expected, strict=True))
    ]
    others = [i for i in failing if not whole[i]] if sum(whole) > 1 else []
    telling = [i for i in range(len(answers)) if i not in others]
    order = sorted(telling, key=lambda i: (i not in failing, -i))  # The largest tells most apart.
    hints = {known.id: known.hint for known in record.mistakes}
    alike = {known.id: known.answers for known in record.mistakes}

    def alone(one, inputs):
        """Return whether one mistake suffices to explain some inputs, so that they show no second."""
        return any(all(same(answers[i], wrong[i]) for i in inputs) for wrong in alike[one])

    exact, nearly = [], []
    for first, second, make in _pairs(record.id, record.slips):
        if time.perf_counter() > until:
            break
        if known and known.id not in (first, second):
            continue
        try:
            function = make()
        except SyntaxError:  # Two edits may not be compatible.
            continue

        def agrees(inputs, function=function):
            return all(same(answers[i], run(function, record.cases[i], record)) for i in inputs)

        if agrees(order):
            if agrees(others):
                exact.append((first, second))
            elif not any(alone(one, telling) for one in (first, second)):
                nearly.append((first, second))
    found = exact or nearly
    sure = [one for one in found[0] if all(one in pair for pair in found)] if found else []
    if not sure:
        return ""
    said = [_capital(ALONE.sub("", text(**hints[one]), count=1)) for one in sure]
    return text(**(ONE_OF_BOTH if len(sure) == 1 else BOTH)).format(*said)


def _capital(sentence):
    return sentence if sentence[0] == "ε" else sentence[0].upper() + sentence[1:]


def _tell(numbers):
    """Return whether there are enough numbers to exclude chance."""
    return np.unique(numbers).size >= (2 if numbers.size >= 4 * ENOUGH else ENOUGH)
