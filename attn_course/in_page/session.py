"""What runs code in the page, as a kernel would, and remembers what it has set."""

import ast
import builtins
import contextlib
import io
import linecache
import os
import re
import traceback
from dataclasses import dataclass, field

from attn_course.exercises import catalogue, check
from attn_course.exercises.kept import hand_over
from attn_course.in_page.plan import DRAWING, PACKAGES, importable, names, take
from attn_course.language import set_language

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
    n_run: int = 0

    def __post_init__(self):
        set_language(self.language)
        if self.drawing:
            os.environ["MPLBACKEND"] = "agg"
            from matplotlib import pyplot

            # What is shown are the figures that a cell leaves, as in a notebook.
            pyplot.show = lambda *args, **kwargs: None
        self.run("import numpy as np\nfrom attn import reference\n"
                 "from attn_course.exercises import check")  # fmt: skip

    def run(self, source):
        """Run code; return what its last line shows, or None.

        What is not there is passed over only where a cell imports: the cells that need it are
        not offered in the page.

        Parameters
        ----------
        source : str

        Returns
        -------
        object or None
        """
        self.n_run += 1
        filename = f"<cell {self.n_run}>"
        linecache.cache[filename] = (len(source), None, source.splitlines(keepends=True), filename)
        tree = ast.parse(source, filename)
        if any(isinstance(s, ast.Import | ast.ImportFrom) for s in tree.body):
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
            the code of those before it that have not run yet; for an exercise ``exercise``, and
            ``check``, whether to check it.

        Returns
        -------
        dict
            ``error``, what Python says; or ``html`` or ``text``, what the last line shows, and
            ``figures``, the drawings as SVG, if there are any; for an exercise ``lent`` and ``used`` too, and ``status`` if it was checked.
        """
        exercise_id, solved = request.get("exercise"), request.get("solved", {})
        hand_over(solved)
        told = {}
        try:
            with contextlib.redirect_stdout(io.StringIO()):
                for code in request.get("before", ()):
                    self.run(code)
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
                shown = check(exercise_id, self.namespace[exercise_id])
                told["status"] = shown.status
            else:
                shown = self.run(request["code"])
            if drawn := self.figures():
                told["figures"] = drawn
        except BaseException as error:  # noqa: BLE001 - a learner's code may raise anything
            self.close()
            return told | {"error": report(error)}
        if hasattr(shown, "_repr_html_"):
            return told | {"html": shown._repr_html_()}
        return told | {"text": "" if shown is None else repr(shown)[:MOST]}


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


def report(error):
    """Return what went wrong as Python tells it, from the learner's own lines only.

    Parameters
    ----------
    error : BaseException

    Returns
    -------
    str
    """
    told = traceback.TracebackException.from_exception(error)
    told.stack = traceback.StackSummary.from_list(
        [frame for frame in told.stack if frame.filename.startswith("<cell ")]
    )
    return re.sub(r'File "<cell \d+>", line', "line", "".join(told.format(chain=False))).strip()
