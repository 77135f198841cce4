"""Replacements, inside the sandbox, for parts of a notebook that a graded run does not need.

Figures, widgets and `check` exist and do nothing. A shell reads cells with the code of IPython, and
runs only those magics that run Python.
"""

import __future__

import ast
import copy
import dis
import importlib
import importlib.machinery
import inspect
import re
import sys
import types

# Packages that display something get a stand-in. Any other package can be imported if it is
# installed.
DISPLAY = {
    *("matplotlib", "mpl_toolkits", "seaborn", "plotly", "bokeh", "altair", "rich", "tqdm"),
    *("IPython", "ipywidgets"),
}


MOST_FAULTS = 20  # blocks of a cell that are not Python; with more, nothing of the cell is run
DEFINITIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Import, ast.ImportFrom)


class Nothing:
    """The stand-in for objects without use in a graded run: figures, widgets, `check`."""

    def __call__(self, *args, **kwargs):
        return self

    def __getattr__(self, name):
        if name.startswith("__") and name.endswith("__"):
            raise AttributeError(name)
        return self

    def __iter__(self):
        return iter([self] * _unpacked(sys._getframe(1)))

    def __getitem__(self, key):
        return self

    def __setitem__(self, key, value):
        pass

    def __enter__(self):
        return self

    def __exit__(self, *error):
        return False

    def __instancecheck__(self, instance):
        return False

    def __repr__(self):
        return ""


def _unpacked(frame):
    """Return how many names a frame is filling: ``n, bins, patches = plt.hist(x)`` fills three.

    Any other iteration over `Nothing`, as in a loop, gives two items.
    """
    for step in dis.get_instructions(frame.f_code):
        if step.offset == frame.f_lasti:
            if step.opname == "UNPACK_SEQUENCE":
                return step.arg
            if (
                step.opname == "UNPACK_EX"
            ):  # Its argument packs the names before and after the star.
                return step.arg % 256 + step.arg // 256
    return 2


class Bar(Nothing):
    """A progress bar that shows nothing and yields its items."""

    def __init__(self, items=(), *args, **kwargs):
        self.items = range(items) if isinstance(items, int) else items

    def __iter__(self):
        return iter(self.items)


class Stub(types.ModuleType):
    """A module of `Nothing`."""

    __path__ = ()

    def __getattr__(self, name):
        if name.startswith("__"):
            raise AttributeError(name)
        return Bar if name in ("tqdm", "trange") else Nothing()


class StubFinder:
    """Finds a `Stub` for every module of some packages and of `DISPLAY`, but for those of the set."""

    def __init__(self, stand_ins, packages):
        self.names = DISPLAY.union(stand_ins) - set(packages)

    def find_spec(self, name, path=None, target=None):
        if name.split(".")[0] not in self.names:
            return None
        return importlib.machinery.ModuleSpec(name, self, is_package=True)

    def create_module(self, spec):
        return Stub(spec.name)

    def exec_module(self, module):
        pass


def ipython_transform():
    """Return IPython's function that translates a cell to Python; `str` if there is no IPython.

    A later import of IPython finds none, or a stub.
    """
    try:
        from IPython.core.inputtransformer2 import TransformerManager

        transform = TransformerManager().transform_cell
    except ImportError:
        transform = str
    for name in [name for name in sys.modules if name.split(".")[0] == "IPython"]:
        del sys.modules[name]
    return transform


class Shell(Nothing):
    """Runs cells, and answers to `get_ipython()` in them.

    A cell runs one statement at a time, and one that raises does not stop the others: an unused
    import, a plot or a student's own test cannot cost the points of a right answer.

    Parameters
    ----------
    namespace : dict
        Where they run.
    transform : callable
        Makes Python of a cell that is none.
    time_up : type
        What is raised when a cell has had its time, which ends it.

    Attributes
    ----------
    errors : list of BaseException
        What the statements of the last cell raised.
    definitions : list of code
        What is left to define and to import in a cell that has had its time.
    """

    def __init__(self, namespace, transform, time_up):
        self.namespace, self.transform, self.time_up = namespace, transform, time_up
        self.errors, self.definitions, self.flags = [], [], ast.PyCF_ALLOW_TOP_LEVEL_AWAIT

    def run_cell(self, source, name="<cell>", definitions_only=False, **kwargs):
        """Run a cell as a notebook does, ``await`` included."""
        statements = self._statements(source)
        if definitions_only:
            statements = [node for node in statements if isinstance(node, DEFINITIONS)]
        for place, node in enumerate(statements):
            try:
                self._run_statement(node, name)
            except self.time_up:
                left = statements[place + 1 :]
                self.definitions += [(n, name) for n in left if isinstance(n, DEFINITIONS)]
                raise
            except BaseException as error:  # noqa: BLE001 - a statement may also raise SystemExit
                self.errors.append(error)

    def run_definitions(self):
        """Run the definitions and imports below the statement that used up the time of a cell."""
        waiting, self.definitions = self.definitions, []
        for node, name in waiting:
            try:
                self._run_statement(node, name)
            except self.time_up:
                raise
            except BaseException as error:  # noqa: BLE001 - a statement may also raise SystemExit
                self.errors.append(error)

    def run_line_magic(self, name, line, *args, **kwargs):
        """Run the statement of ``%time`` or ``%prun``; other magics do nothing."""
        if name == "prun":
            line = re.sub(r"^\s*(-[DlsT]\s*\S+\s*|-[rq]+\s+)+", "", line)
        if name not in ("time", "prun"):
            return Nothing()
        try:
            code = compile(line.strip(), "<magic>", "eval", self.flags, dont_inherit=True)
        except SyntaxError:
            return self.run_cell(line, "<magic>")
        return self._run(code)

    def run_cell_magic(self, name, line, cell):
        """Run the cells of magics that run Python here, and write those of ``%%writefile``.

        Cells of other magics are ignored.
        """
        if name == "capture":
            names = [word for word in line.split() if not word.startswith("-")]
            self.namespace.update(dict.fromkeys(names, Nothing()))
        if name in ("time", "prun", "capture"):
            self.run_cell(cell)
        if name in ("writefile", "file"):
            *options, path = line.split()
            mode = "a" if {"-a", "--append"} & set(options) else "w"
            with open(path.strip("\"'"), mode, encoding="utf-8") as file:
                file.write(cell)
            importlib.invalidate_caches()  # The next cell may import the file.

    def getoutput(self, *args, **kwargs):
        """Return the lines that a command wrote: none, since no command is run."""
        return []

    def _statements(self, source):
        """Return the statements of a cell; if parts of the cell are not Python, those of the rest.

        An import of several names is one statement for each.
        """
        try:
            body = self._parsed(source)
        except SyntaxError:
            body = self._parsed_in_part(self.transform(source))
        apart = []
        for node in body:
            if isinstance(node, ast.Import | ast.ImportFrom):
                parts = [copy.copy(node) for _ in node.names]
                for part, alias in zip(parts, node.names, strict=True):
                    part.names = [alias]
                apart += parts
            else:
                apart.append(node)
        return apart

    def _parsed(self, source):
        return compile(source, "<cell>", "exec", self.flags | ast.PyCF_ONLY_AST, True).body

    def _parsed_in_part(self, source):
        for attempt in range(MOST_FAULTS):
            try:
                return self._parsed(source)
            except SyntaxError as error:
                self.errors += [error] * (attempt == 0)
                source = _without_block(source, error.lineno)
                if source is None:
                    break
        return []

    def _run_statement(self, node, name):
        if isinstance(node, ast.ImportFrom) and node.module == "__future__" and not node.level:
            feature = getattr(__future__, node.names[0].name, None)
            self.flags |= getattr(feature, "compiler_flag", 0)
        try:
            self._run(self._compiled(node, name, self.flags))
        except (NameError, AttributeError):
            if not isinstance(node, ast.FunctionDef):
                raise
            # A decorator or an annotation may name a missing package. The function may be right
            # without it.
            bare = copy.copy(node)
            bare.decorator_list = []
            flags = self.flags | __future__.annotations.compiler_flag
            self._run(self._compiled(bare, name, flags))
            raise

    @staticmethod
    def _compiled(node, name, flags):
        return compile(ast.Module([node], []), name, "exec", flags, dont_inherit=True)

    def _run(self, code):
        value = eval(code, self.namespace)  # the sandbox exists for this
        if not code.co_flags & inspect.CO_COROUTINE:
            return value
        try:
            while value.send(None) is None:
                pass
        except StopIteration as end:
            return end.value
        raise RuntimeError("what is awaited here needs an event loop, and none is running")


def _without_block(source, line):
    """Return a cell with the block of a line emptied, from margin to margin; None if it has none."""
    lines = source.split("\n")
    if line is None or not 1 <= line <= len(lines):
        return None
    at_margin = [n for n, text in enumerate(lines) if text[:1].strip(" \t)]}#")]
    begin = max((n for n in at_margin if n < line), default=0)
    end = min((n for n in at_margin if n >= line), default=len(lines))
    if not any(text.strip() for text in lines[begin:end]):
        return None
    # A decorator goes with what it decorates.
    while begin > 0 and lines[begin - 1].startswith("@"):
        begin -= 1
    return "\n".join([*lines[:begin], *[""] * (end - begin), *lines[end:]])
