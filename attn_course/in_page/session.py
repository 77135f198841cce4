"""What runs code in the page, as a kernel would, and remembers what it has set."""

import ast
import builtins
import contextlib
import io
import linecache
import os
import re
import sys
import traceback
import warnings
from dataclasses import dataclass, field, replace
from functools import partial

import numpy as np

from attn_course._statements import names
from attn_course.exercises import catalogue, check
from attn_course.exercises.check import record_of_chapter, verdict
from attn_course.exercises.kept import USED, alone, hand_over, needs_more
from attn_course.in_page.plan import DRAWING, PACKAGES, importable, take
from attn_course.language import set_language, text

MOST = 20_000  # characters of what a last line shows


@dataclass
class Session:
    """What a page remembers of the code that ran in it.

    Parameters
    ----------
    language : {"es", "en"}
    drawing : bool, default False
        Whether matplotlib is there: then a cell may draw, on no window.

    Attributes
    ----------
    namespace : dict
        What the cells have set.
    """

    language: str
    drawing: bool = False
    namespace: dict = field(default_factory=lambda: {"__name__": "__main__"})
    cells: list = field(default_factory=list)

    def __post_init__(self):
        set_language(self.language)
        if self.drawing:
            os.environ["MPLBACKEND"] = "agg"
            from matplotlib import pyplot

            # What is shown are the figures that a cell leaves, as in a notebook.
            pyplot.show = lambda *args, **kwargs: None
        self.namespace["input"] = _no_input
        self.run(
            "import numpy as np\nfrom attn import reference\nfrom attn_course.exercises import check"
        )

    def run(self, source, stored=False):
        """Run code; return what its last line shows, or None.

        Parameters
        ----------
        source : str
        stored : bool, default False
            Whether this is a cell of the book as the book has it. Of a stored cell that imports, the
            statements that need a package which the page lacks are passed over, and the cells that
            need them are not offered. What a reader wrote is run as written.

        Returns
        -------
        object or None
        """
        self.cells.append(source)
        filename = f"<cell {len(self.cells)}>"
        linecache.cache[filename] = (len(source), None, source.splitlines(keepends=True), filename)
        tree = ast.parse(source, filename)
        if stored and any(isinstance(s, ast.Import | ast.ImportFrom) for s in tree.body):
            tree.body = [*self._without_the_missing(tree.body)]
        last = tree.body.pop() if tree.body and isinstance(tree.body[-1], ast.Expr) else None
        exec(compile(tree, filename, "exec"), self.namespace)  # noqa: S102 - it is the reader's own
        if last is None:
            return None
        return eval(compile(ast.Expression(last.value), filename, "eval"), self.namespace)

    def _without_the_missing(self, statements):
        there = set(dir(builtins)) | self.namespace.keys()
        for statement in statements:
            kept = statement
            if isinstance(statement, ast.Import | ast.ImportFrom):
                kept = importable(statement, self.packages)
            if kept is None or not take(kept, there, self.packages):
                continue
            yield ast.copy_location(kept, statement)

    @property
    def packages(self):
        """What a cell may import."""
        return PACKAGES + DRAWING if self.drawing else PACKAGES

    def figures(self):
        """Return the figures that are open as SVG, and close them."""
        if not self.drawing:
            return []
        from matplotlib import pyplot

        drawn = []
        for number in pyplot.get_fignums():
            file = io.StringIO()
            pyplot.figure(number).savefig(file, format="svg", bbox_inches="tight")
            drawn.append(file.getvalue())
        pyplot.close("all")
        return drawn

    def close(self):
        """Close the figures that are open: nobody sees what an earlier cell has drawn."""
        if self.drawing:
            from matplotlib import pyplot

            pyplot.close("all")

    def prepare(self, exercise_id, code, solved):
        """Set the functions of other exercises that some code uses; return which are lent."""
        lent, asked = [], _used(code) - {exercise_id}
        while asked:
            name = asked.pop()
            if name in solved:
                self.run(solved[name])
                asked |= _used(solved[name]) - {name}
            else:
                self.namespace[name] = catalogue.load(name).oracle
                lent.append(name)
        return sorted(lent)

    def answer(self, request):
        """Do what the page asks for.

        Parameters
        ----------
        request : dict
            ``code``; ``solved``, the code of the exercises that are solved; for a cell ``before``,
            those before it that have not run yet, each with its ``code`` and whether it stands as it
            is ``stored``; for an exercise ``exercise``, and ``check``, whether to check it.

        Returns
        -------
        dict
            ``error``, what Python says; or ``html`` or ``text``, what the last line shows, and
            ``figures``, the drawings as SVG, if there are any; for an exercise ``lent`` and ``used``
            too, and if it was checked ``status`` and ``keep``, the code that later chapters may run.
        """
        exercise_id, solved = request.get("exercise"), request.get("solved", {})
        hand_over(solved)
        told = {}
        try:
            with contextlib.redirect_stdout(io.StringIO()):
                for cell in request.get("before", ()):
                    self.run(cell["code"], stored=cell["stored"])
                    self.close()
            if exercise_id:
                lent = self.prepare(exercise_id, request["code"], solved)
                told["lent"] = lent
                told["used"] = sorted(_used(request["code"]) - {exercise_id, *lent})
            if request.get("check"):
                self.namespace.pop(exercise_id, None)
                self.run(request["code"])
                if exercise_id not in self.namespace:
                    raise NameError(f"name '{exercise_id}' is not defined")
                # A filter that an earlier cell has set must not make the check itself raise.
                with warnings.catch_warnings(), np.errstate(all="warn"):
                    warnings.simplefilter("default")
                    shown = check(exercise_id, self.namespace[exercise_id])
                    if shown:
                        told["keep"], shown = self._kept(exercise_id, shown)
                told["status"] = shown.status
            else:
                shown = self.run(request["code"])
            if drawn := self.figures():
                told["figures"] = drawn
        except BaseException as error:  # noqa: BLE001 - a learner's code may raise anything
            self.close()
            return told | {"error": report(error, request["code"])}
        finally:
            sys.stdout.flush()  # What was printed without an end of line belongs to this run.
        if hasattr(shown, "_repr_html_"):
            return told | {"html": shown._repr_html_()}
        return told | {"text": "" if shown is None else repr(shown)[:MOST]}

    def _kept(self, exercise_id, passed):
        """Return the code to keep of an exercise that is solved, and what to say of it."""
        code = alone(exercise_id, self.cells, partial(verdict, record_of_chapter(exercise_id)))
        if code is None and exercise_id in USED:
            message = f"{passed.message}\n\n{needs_more(exercise_id)}"
            passed = replace(passed, message=message)
        return code or self.cells[-1], passed


def _used(code):
    """Return which exercises' functions a text calls that it does not define itself."""
    try:
        statements = ast.parse(code).body
    except SyntaxError:
        return set()
    if not statements:  # an empty editor, or one with comments alone
        return set()
    read, written = (set().union(*part) for part in zip(*map(names, statements), strict=True))
    return (read - written) & catalogue.modules().keys()


def _no_input(prompt=""):
    raise EOFError(
        text(
            es="esta página no tiene teclado para el programa: escribe el valor en el código, en lugar de input()",
            en="this page has no keyboard for the program: write the value into the code instead of input()",
        )
    )


def report(error, source=""):
    """Return what went wrong as Python tells it, from the learner's own lines only.

    Parameters
    ----------
    error : BaseException
    source : str, default ""
        The code, of which a line may be meant for a notebook and not for Python.

    Returns
    -------
    str
    """
    told = traceback.TracebackException.from_exception(error)
    told.stack = traceback.StackSummary.from_list(
        [frame for frame in told.stack if frame.filename.startswith("<cell ")]
    )
    said = re.sub(r'File "<cell \d+>", line', "line", "".join(told.format(chain=False))).strip()
    advice = _advice(error, source)
    return f"{said}\n\n{advice}" if advice else said


def _advice(error, source):
    """Return what to do where the page is no notebook: commands of IPython, packages it lacks."""
    if isinstance(error, SyntaxError):
        lines = source.splitlines()
        line = lines[error.lineno - 1].strip() if 0 < (error.lineno or 0) <= len(lines) else ""
        if re.match(r"!|%+(pip|conda|sh|bash|cd|ls)\b", line):
            return text(
                es="Las líneas con ! o %pip son de JupyterLab. En esta página no hay terminal ni se instala nada: NumPy y matplotlib ya están; quita la línea.",
                en="Lines with ! or %pip belong to JupyterLab. This page has no terminal and installs nothing: NumPy and matplotlib are there; delete the line.",
            )
        if line.startswith("%"):
            return text(
                es="Las líneas que empiezan con % son de JupyterLab. Aquí las figuras aparecen solas: quita la línea.",
                en="Lines that begin with % belong to JupyterLab. Here figures appear by themselves: delete the line.",
            )
        if line.startswith("?") or line.endswith("?"):
            return text(
                es="El signo ? es de JupyterLab. Aquí: help(nombre).",
                en="The ? belongs to JupyterLab. Here: help(name).",
            )
    if isinstance(error, ModuleNotFoundError):
        return text(
            es="En esta página hay Python, NumPy y, si la celda dibuja, matplotlib. Para otros paquetes, abre el cuaderno en tu máquina: make lab.",
            en="This page has Python, NumPy and, where a cell draws, matplotlib. For other packages open the notebook on your machine: make lab.",
        )
    return ""
