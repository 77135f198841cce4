"""Runs code in the page, as a kernel would, and keeps the names that it has set."""

import ast
import builtins
import contextlib
import inspect
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
from attn_course.exercises.compare import said
from attn_course.exercises.kept import USED, alone, hand_over, needs_more
from attn_course.in_page.plan import DRAWING, PACKAGES, importable, take
from attn_course.language import set_language, text

MOST = 20_000  # characters of what a last line shows
BOM = "\ufeff"  # the mark that some editors put before a text


@dataclass
class Session:
    """The state of the code that ran in a page.

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

            # The figures that are open after a cell are shown, as in a notebook.
            pyplot.show = lambda *args, **kwargs: None
        self.namespace["input"] = _no_input
        self.run(
            "import numpy as np\nfrom attn import reference\nfrom attn_course.exercises import check"
        )
        self._given = dict(self.namespace)

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
        source = source.removeprefix(BOM)
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
        shown = eval(compile(ast.Expression(last.value), filename, "eval"), self.namespace)
        return None if source.rstrip().endswith(";") else shown  # as in a notebook

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
        """The packages that a cell may import."""
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
        """Close the open figures, which an earlier cell has drawn and nobody sees."""
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
        """Answer a request of the page.

        Parameters
        ----------
        request : dict
            ``code``; ``solved``, the code of the exercises that are solved; for a cell ``before``,
            those before it that have not run yet, each with its ``code`` and whether it stands as it
            is ``stored``; for an exercise ``exercise``, and ``check``, whether to check it.

        Returns
        -------
        dict
            ``error``, what Python says; or ``html`` or ``text``, what the last line shows, ``cut`` if
            that was too long to show, and ``figures``, the drawings as SVG, if there are any; for an exercise ``lent`` and ``used``
            too, and if it was checked ``status`` and ``keep``, the code that later chapters may run.
        """
        hand_over(request.get("solved", {}))
        told, code = {}, request["code"]
        with _own_streams():
            try:
                shown = self._done(request, told)
                if drawn := self.figures():
                    told["figures"] = drawn
                told |= _shown(shown)
            except BaseException as error:  # noqa: BLE001 - a learner's code may raise anything
                self.close()
                is_own = self.cells[-1] == code.removeprefix(BOM)
                own = f"<cell {len(self.cells)}>" if is_own else "none"
                told["error"] = report(error, code, own)
                if advice := self._changed(code):
                    told["error"] += f"\n\n{advice}"
        return told

    def _done(self, request, told):
        """Run a request, add the messages about an exercise, and return what the cell shows."""
        exercise_id, solved = request.get("exercise"), request.get("solved", {})
        with contextlib.redirect_stdout(io.StringIO()):
            for cell in request.get("before", ()):
                self.run(cell["code"], stored=cell["stored"])
                self.close()
        if exercise_id:
            lent = self.prepare(exercise_id, request["code"], solved)
            told["lent"] = lent
            told["used"] = sorted(_used(request["code"]) - {exercise_id, *lent})
        if not request.get("check"):
            return self.run(request["code"])
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
        return shown

    def _changed(self, code):
        """Return the message about built-in names that the reader has overwritten."""
        read, written = _names_in(code)
        came = vars(builtins) | self._given
        changed = [
            name
            for name in sorted(read & came.keys() - written)
            if self.namespace.get(name, vars(builtins).get(name)) is not came[name]
        ]
        if not changed:
            return ""
        listed = ", ".join(changed)
        return text(
            es=f"Una ejecución anterior cambió o borró {listed}. El botón «Empezar de nuevo» devuelve a Python su estado inicial.",
            en=f"An earlier run has changed or deleted {listed}. The button “Start over” gives Python its first state back.",
        )

    def _kept(self, exercise_id, passed):
        """Return the code to keep of a solved exercise, and the message about it."""
        code = alone(exercise_id, self.cells, partial(verdict, record_of_chapter(exercise_id)))
        if code is None and exercise_id in USED:
            message = f"{passed.message}\n\n{needs_more(exercise_id)}"
            passed = replace(passed, message=message)
        return code or self.cells[-1], passed


def _used(code):
    """Return the exercises whose functions a text calls and does not define itself."""
    read, written = _names_in(code)
    return (read - written) & catalogue.modules().keys()


def _names_in(code):
    """Return the names that a text reads and sets, none if it is empty or no Python."""
    try:
        found = [*map(names, ast.parse(code).body)]
    except (SyntaxError, ValueError):  # the second of a zero byte
        found = []
    return tuple(set().union(*(pair[part] for pair in found)) for part in (0, 1))


def _no_input(prompt=""):
    raise EOFError(
        text(
            es="esta página no tiene teclado para el programa: escribe el valor en el código, en lugar de input()",
            en="this page has no keyboard for the program: write the value into the code instead of input()",
        )
    )


class _NoKeyboard(io.StringIO):
    """An empty standard input, for code that would wait for one."""

    def readline(self, *args):
        return _no_input()

    read = __next__ = readline

    def close(self):
        """Stay open: ``exit()`` closes it, and others ask it whether it is a terminal."""


@contextlib.contextmanager
def _own_streams():
    """Give code the streams of the page, and restore the old ones whatever the code does."""
    kept = sys.stdin, sys.stdout, sys.stderr, warnings.formatwarning, sys.breakpointhook
    sys.stdin, warnings.formatwarning, sys.breakpointhook = _NoKeyboard(), _warned, _no_debugger
    try:
        yield
    finally:
        sys.stdin, sys.stdout, sys.stderr, warnings.formatwarning, sys.breakpointhook = kept
        for number, name in ((1, "stdout"), (2, "stderr")):
            if getattr(sys, name).closed:
                again = os.fdopen(number, "w", buffering=1, encoding="utf-8", closefd=False)
                setattr(sys, name, again)
        sys.stdout.flush()  # What was printed without an end of line belongs to this run.


def _warned(message, category, filename, lineno, line=None):
    """Return a warning as it is printed, without names of internal files."""
    where = f"line {lineno}: " if filename.startswith("<cell ") else ""
    return f"{where}{category.__name__}: {message}\n"


def _no_debugger(*args, **keywords):
    raise RuntimeError(_said_of_debugger())


def _said_of_debugger():
    return text(
        es="esta página no tiene depurador: muestra los valores con print()",
        en="this page has no debugger: show the values with print()",
    )


def _shown(value):
    """Return what the last line of a cell shows: its HTML if it has some, else its text."""
    if value is None:
        return {"text": ""}
    render = getattr(type(value), "_repr_html_", None)  # A class is shown by its name.
    html = render(value) if render else None
    if isinstance(html, str):
        return {"html": html}
    written = repr(value)
    if inspect.iscoroutine(value):
        value.close()  # Nobody awaits it, and Python would warn of it in the next run.
    return {"text": written[:MOST]} | ({"cut": True} if len(written) > MOST else {})


def report(error, source="", cell=""):
    """Return the traceback of an error, with the learner's own lines only.

    Parameters
    ----------
    error : BaseException
    source : str, default ""
        The code, of which a line may be meant for a notebook and not for Python.
    cell : str, default ""
        The name under which the code ran. Lines of other cells are told apart.

    Returns
    -------
    str
    """
    told = traceback.TracebackException.from_exception(error)
    _keep_own_lines(told)
    earlier = text(es="de una celda anterior", en="of an earlier cell")
    shown = re.sub(
        r'File "(<cell \d+>)", line (\d+)',
        lambda found: f"line {found[2]}" + (f" {earlier}" if cell and found[1] != cell else ""),
        "".join(told.format()),
    )
    shown = re.sub(r" \(/[^()]*\.py\)", "", shown).strip()  # where a module lies
    advice = _advice(error, source)
    return f"{shown}\n\n{advice}" if advice else shown


def _keep_own_lines(told):
    """Keep only the learner's lines in a traceback, and in those of the exceptions before it."""
    for before in ("__cause__", "__context__"):
        inner = getattr(told, before)
        if inner and not (inner.stack and inner.stack[-1].filename.startswith("<cell ")):
            setattr(told, before, None)
        elif inner:
            _keep_own_lines(inner)
    for inner in told.exceptions or ():
        _keep_own_lines(inner)
    own = [frame for frame in told.stack if frame.filename.startswith("<cell ")]
    told.stack = traceback.StackSummary.from_list(own)


# Characters that code copied from a text has in place of others.
_ALIKE = {
    "“”„«»": '"',
    "‘’‚´`": "'",
    "−–—": "-",
    "×": "*",
    "÷": "/",
    "≤": "<=",
    "≥": ">=",
    "≠": "!=",
}
_PROMPT = re.compile(r"^\s*(>>>|\.\.\.:?\s|(In|Out) ?\[\d*\]:)", re.MULTILINE)


def _advice(error, source):
    """Return advice on the page's limits: no commands of IPython, no packages that it lacks."""
    is_of_console = isinstance(error, NameError) and error.name in ("In", "Out")
    if (is_of_console or isinstance(error, SyntaxError)) and _PROMPT.search(source):
        return text(
            es="Los signos >>>, ... e In [1]: no son de Python: los escribe la consola delante de cada línea. Bórralos, y también lo que la consola respondió.",
            en="The signs >>>, ... and In [1]: are not Python: a console writes them before each line. Delete them, and what the console answered as well.",
        )
    if isinstance(error, SyntaxError):
        return _advice_on_syntax(error, source)
    if isinstance(error, NameError) and error.name in ("display", "get_ipython"):
        return text(
            es=f"{error.name} es de JupyterLab. Aquí se muestra el valor de la última línea, y todo lo que pases a print().",
            en=f"{error.name} belongs to JupyterLab. Here the value of the last line is shown, and all that you give to print().",
        )
    message = f"{type(error).__name__}: {said(error)}"
    module = getattr(error, "obj", None) if isinstance(error, AttributeError) else None
    asked = getattr(module, "__name__", None) or getattr(error, "name", None) or ""
    if isinstance(error, ImportError | AttributeError) and re.match(r"attn(_course)?\b", asked):
        return text(
            es="De attn, en esta página solo está lo que se basta con NumPy: attn.reference y los ejercicios. El resto necesita PyTorch: abre el cuaderno en tu máquina, con make lab.",
            en="Of attn this page has what NumPy is enough for: attn.reference and the exercises. The rest needs PyTorch: open the notebook on your machine, with make lab.",
        )
    if type(error).__name__ == "BdbQuit":
        return _said_of_debugger().capitalize() + "."
    if re.search(r"stack switch|event loop", message):
        return _no_await()
    if re.search(r"start new thread|_multiprocessing|does not support processes|URLError", message):
        return text(
            es="El Python de esta página no tiene otros procesos, ni hilos, ni acceso a la red. Para eso, abre el cuaderno en tu máquina: make lab.",
            en="The Python of this page has no other processes, no threads and no network. For those open the notebook on your machine: make lab.",
        )
    if isinstance(error, ModuleNotFoundError):
        return text(
            es="En esta página hay Python, NumPy y, si la celda dibuja, matplotlib. Para otros paquetes, abre el cuaderno en tu máquina: make lab.",
            en="This page has Python, NumPy and, where a cell draws, matplotlib. For other packages open the notebook on your machine: make lab.",
        )
    return ""


def _advice_on_syntax(error, source):
    lines = source.splitlines()
    line = lines[error.lineno - 1].strip() if 0 < (error.lineno or 0) <= len(lines) else ""
    command = re.match(r"(?:[\w, ]+= *)?(!|%+\w+)", line)
    if command and re.match(r"!|%+(pip|conda|sh|bash|cd|ls)\b", command[1]):
        return text(
            es="Las líneas con ! o %pip son de JupyterLab. En esta página no hay terminal ni se instala nada: NumPy y matplotlib ya están; quita la línea.",
            en="Lines with ! or %pip belong to JupyterLab. This page has no terminal and installs nothing: NumPy and matplotlib are there; delete the line.",
        )
    if command and command[1] == "%matplotlib":
        return text(
            es="Las líneas que empiezan con % son de JupyterLab. Aquí las figuras aparecen solas: quita la línea.",
            en="Lines that begin with % belong to JupyterLab. Here figures appear by themselves: delete the line.",
        )
    if command:
        return text(
            es=f"{command[1]} es un comando de JupyterLab, no de Python: quítalo.",
            en=f"{command[1]} is a command of JupyterLab and not of Python: delete it.",
        )
    if line.startswith("?") or line.endswith("?"):
        return text(
            es="El signo ? es de JupyterLab. Aquí: help(nombre).",
            en="The ? belongs to JupyterLab. Here: help(name).",
        )
    if "'await'" in error.msg or "'async" in error.msg:
        return _no_await()
    found = re.search(r"invalid (?:non-printable )?character .*U\+(\w+)", error.msg)
    if not found:
        return ""
    character = chr(int(found[1], 16))
    alike = next((usual for odd, usual in _ALIKE.items() if character in odd), None)
    if alike:
        return text(
            es=f"Python no entiende {character}, que suele venir de un texto copiado: escribe {alike}",
            en=f"Python does not know {character}, which often comes with copied text: write {alike}",
        )
    if character.isprintable() and not character.isspace():
        return ""
    return text(
        es="Hay un carácter que no se ve, de los que vienen con un texto copiado: borra lo que hay en ese lugar y, si era un espacio, escríbelo de nuevo.",
        en="There is a character that cannot be seen, as comes with copied text: delete what is in that place and, if it was a blank, type it again.",
    )


def _no_await():
    return text(
        es="Esta página ejecuta el código de principio a fin, sin await ni asyncio. Para eso, abre el cuaderno en tu máquina: make lab.",
        en="This page runs code from beginning to end, without await and asyncio. For those open the notebook on your machine: make lab.",
    )
