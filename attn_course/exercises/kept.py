"""What a learner has solved and answered: the code of exercises, for later chapters, and the answers to questions.

In JupyterLab `check` and `Quiz` keep it in a folder of the user's; a page of the site keeps it in the
browser and hands the code over. Wherever else code runs, in tests and while notebooks are built, nothing
is kept and nothing is read.
"""

import ast
import contextlib
import io
import json
import linecache
import os
import shutil
import sys
from pathlib import Path

from attn_course._statements import names, needed
from attn_course.exercises.catalogue import load, modules
from attn_course.language import text

# The exercises whose functions the machine of chapter 9 calls, in the order of the course, and the
# part of its drawing that each one stands for. No other exercise is kept.
USED = {
    "embed": ("source", "target", "embeddings"),
    "softmax": ("weights", "softmax"),
    "scaled_dot_product_attention": ("scores", "mean"),
    "split_heads": ("heads",),
    "multi_head_attention": ("self_attention", "causal_attention"),
    "head_contributions": ("output",),
    "layer_norm": ("norm",),
    "feed_forward": ("feed_forward",),
    "cross_attention": ("cross_attention",),
    "causal_mask": ("mask",),
    "padding_mask": ("mask",),
    "rotate": ("positions",),
    "beam_step": ("next_word", "loop"),
}
ANSWERS = "answers.json"  # to the questions, beside the exercises
_handed = None  # what a page has handed over


def folder():
    """Return where solved exercises are kept, or None where they are not.

    The folder that ``ATTN_SOLVED`` names; else one of the user's data, if JupyterLab runs this.
    """
    if named := os.environ.get("ATTN_SOLVED"):
        return Path(named)
    if "JPY_SESSION_NAME" not in os.environ:  # Jupyter's server sets it, for its own kernels alone
        return None
    base = os.environ.get("XDG_DATA_HOME")
    return (Path(base) if base else Path.home() / ".local" / "share") / "attn" / "solved"


def solved():
    """Return the code of the exercises that the learner has solved.

    Returns
    -------
    dict of str to str
    """
    if _handed is not None:
        return dict(_handed)
    where = folder()
    if where is None:
        return {}
    return {path.stem: path.read_text(encoding="utf-8") for path in sorted(where.glob("*.py"))}


def answered():
    """Return the option that the learner last chose for each question.

    Returns
    -------
    dict of str to str
        The text of the option by that of the question, both in Spanish whatever the edition.
    """
    where = folder()
    if where is None or not (where / ANSWERS).exists():
        return {}
    try:
        return dict(json.loads((where / ANSWERS).read_text(encoding="utf-8")))
    except (ValueError, TypeError):  # no file of ours: questions are asked as if for the first time
        return {}


def keep_answers(answers):
    """Keep answers to questions, as `answered` returns them, if there is a place for them.

    Parameters
    ----------
    answers : dict of str to str
    """
    where = folder()
    if where is None:
        return
    from attn.io import write_whole

    where.mkdir(parents=True, exist_ok=True)
    whole = json.dumps(answered() | answers, ensure_ascii=False, indent=1)
    write_whole(where / ANSWERS, f"{whole}\n")


def hand_over(codes):
    """Let `solved` return these codes, which a page has kept.

    Parameters
    ----------
    codes : dict of str to str, or None
        None to ask the folder again.
    """
    global _handed
    _handed = codes


def forget():
    """Erase what was kept in the folder."""
    where = folder()
    if where is not None:
        shutil.rmtree(where, ignore_errors=True)


def keep(exercise_id, attempt, passes):
    """Keep the code of a function that passed its check, if there is a place for it.

    Parameters
    ----------
    exercise_id : str
    attempt : callable
    passes : callable, (callable) -> bool
        Whether a function passes the check.

    Returns
    -------
    str
        What the learner should know; nothing, most of the time.
    """
    where = folder()
    if where is None or exercise_id not in USED:
        return ""
    cells = _executed() or _cell_of(attempt)
    if not cells:  # The function is from a file, and was not written here.
        return ""
    from attn.io import write_whole

    source = alone(exercise_id, cells, passes)
    if source is None:
        return needs_more(exercise_id)
    is_first = not any(where.glob("*.py"))
    where.mkdir(parents=True, exist_ok=True)
    write_whole(where / f"{exercise_id}.py", source)
    if not is_first:
        return ""
    return text(
        es=f"Tu función queda guardada en `{where}`, como las que resuelvas después, y la máquina del capítulo 9 las "
        "usará. Si borras la carpeta, se olvidan.",
        en=f"Your function is kept in `{where}`, as will be those that you solve later, and the machine of chapter 9 "
        "will use them. Delete the folder and they are forgotten.",
    )


def needs_more(exercise_id):
    """Return the message for a right function whose code does not run by itself."""
    return text(
        es=f"Para que la máquina del capítulo 9 pueda usar tu `{exercise_id}`, pon en la misma celda todo lo que "
        "necesita, también sus `import`.",
        en=f"For the machine of chapter 9 to use your `{exercise_id}`, put all that it needs into the same cell, "
        "its imports as well.",
    )


def alone(exercise_id, cells, passes):
    """Return code that defines the function of an exercise by itself, without the notebook.

    Parameters
    ----------
    exercise_id : str
    cells : sequence of str
        What has been executed, in that order. The function is defined in the last cell, and may
        use what earlier ones have set.
    passes : callable, (callable) -> bool
        Whether a function passes the check.

    Returns
    -------
    str or None
        None if no such code passes the check.
    """
    import numpy as np

    from attn import reference

    *earlier, source = cells
    there = {"np": np, "reference": reference}
    own = needed(_statements(source), {exercise_id})
    asked = set().union(*(names(one)[0] for one in own)) if own else {exercise_id}
    lent = {*modules(), *there} - (set() if own else {exercise_id})
    earlier = [statement for cell in earlier for statement in _statements(cell)]
    before = needed(earlier, asked - lent, lent)
    joined = "\n".join([*map(ast.unparse, before), "", source])
    with contextlib.redirect_stdout(io.StringIO()):
        for code in [source, joined] if before else [source]:
            others = {name: load(name).oracle for name in modules() if name in code}
            # A cell may raise anything where others have not run.
            with contextlib.suppress(Exception):
                if passes(function_of(exercise_id, code, others | there)):
                    return code
    return None


def function_of(exercise_id, source, namespace):
    """Execute the code of an exercise and return its function.

    Parameters
    ----------
    exercise_id : str
    source : str
        A cell. Only what the function needs of it is executed: what tries the function out, draws
        or checks may ask for things that are not there.
    namespace : dict
        What is there already; it gets what the code sets.

    Returns
    -------
    callable

    Raises
    ------
    Exception
        Whatever the code raises; ``NameError`` if it does not define the function.

    Examples
    --------
    >>> function_of("double", "def double(x):\\n    return 2 * x\\ncheck('double', double)", {})(4)
    8
    """
    tree = ast.parse(source)
    filename = f"<solved {exercise_id}>"
    linecache.cache[filename] = (len(source), None, source.splitlines(keepends=True), filename)
    namespace.pop(exercise_id, None)
    tree.body = needed(tree.body, {exercise_id}) or tree.body
    exec(compile(tree, filename, "exec"), namespace)  # noqa: S102 - it is the learner's own
    if exercise_id not in namespace:
        raise NameError(f"name {exercise_id!r} is not defined")
    return namespace[exercise_id]


def _statements(cell):
    try:
        return ast.parse(cell).body
    except SyntaxError:
        return []


def _executed():
    """Return the cells that IPython has executed, the one that runs being the last."""
    shell = sys.modules["IPython"].get_ipython() if "IPython" in sys.modules else None
    return [cell for cell in getattr(shell, "user_ns", {}).get("In", ()) if cell]


def _cell_of(attempt):
    """Return the cell that defines a function, where no IPython remembers cells."""
    filename = getattr(getattr(attempt, "__code__", None), "co_filename", "")
    # The content of a file is not a cell.
    return (
        ["".join(linecache.getlines(filename))] if filename and not Path(filename).is_file() else []
    )
