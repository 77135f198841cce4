"""What stands, inside the sandbox, for what a notebook has and a graded run does without.

Figures, widgets and `check` are there in name, and do nothing. A shell reads cells as IPython
does, by the very code of IPython, and runs of its magics those that run Python.
"""

import ast
import dis
import importlib
import importlib.machinery
import inspect
import re
import sys
import types

# Packages that show things, and the course's own. Any other is there or is not, as at home.
DISPLAY = {
    *("matplotlib", "mpl_toolkits", "seaborn", "plotly", "bokeh", "altair", "rich", "tqdm"),
    *("IPython", "ipywidgets", "attn", "attn_course"),
}


class Nothing:
    """Stands for what a graded run has no use for: figures, widgets, `check`."""

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

    Whatever else goes through `Nothing`, a loop say, finds two in it.
    """
    for step in dis.get_instructions(frame.f_code):
        if step.offset == frame.f_lasti:
            if step.opname == "UNPACK_SEQUENCE":
                return step.arg
            if step.opname == "UNPACK_EX":  # names before the star, and after it
                return step.arg % 256 + step.arg // 256
    return 2


class Bar(Nothing):
    """A progress bar that shows nothing, and goes through the items all the same."""

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
    """Finds a `Stub` for every module of the packages of `DISPLAY`, but for those of the set."""

    def __init__(self, packages):
        self.names = DISPLAY - set(packages)

    def find_spec(self, name, path=None, target=None):
        if name.split(".")[0] not in self.names:
            return None
        return importlib.machinery.ModuleSpec(name, self, is_package=True)

    def create_module(self, spec):
        return Stub(spec.name)

    def exec_module(self, module):
        pass


def ipython_transform():
    """Return what makes Python of a cell: IPython's own, or nothing where it is not to be had.

    Whoever imports IPython later finds none, or a stub.
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

    Parameters
    ----------
    namespace : dict
        Where they run.
    transform : callable
        Makes Python of a cell that is none.
    """

    def __init__(self, namespace, transform):
        self.namespace = namespace
        self.transform = transform

    def run_cell(self, source, name="<cell>", **kwargs):
        """Run a cell as a notebook does, ``await`` included."""
        self._run(self._compiled(source, name, "exec"))

    def run_line_magic(self, name, line, *args, **kwargs):
        """Run what ``%time`` and ``%prun`` are given; other magics give nothing."""
        if name == "prun":
            line = re.sub(r"^\s*(-[DlsT]\s*\S+\s*|-[rq]+\s+)+", "", line)
        if name not in ("time", "prun"):
            return Nothing()
        try:
            code = self._compiled(line.strip(), "<magic>", "eval")
        except SyntaxError:
            code = self._compiled(line, "<magic>", "exec")
        return self._run(code)

    def run_cell_magic(self, name, line, cell):
        """Run the cells that are Python in this process, and write those that are a file's text.

        Others are of another language.
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
            importlib.invalidate_caches()  # of the next cell, which may import it at once

    def getoutput(self, *args, **kwargs):
        """Return the lines that a command wrote: none, there are no commands."""
        return []

    def _compiled(self, source, name, mode):
        def to_code(source):
            flags = ast.PyCF_ALLOW_TOP_LEVEL_AWAIT
            return compile(source, name, mode, flags, dont_inherit=True)

        try:
            return to_code(source)
        except SyntaxError:
            return to_code(self.transform(source))

    def _run(self, code):
        value = eval(code, self.namespace)  # what a sandbox is for
        if not code.co_flags & inspect.CO_COROUTINE:
            return value
        try:
            while value.send(None) is None:
                pass
        except StopIteration as end:
            return end.value
        raise RuntimeError("what is awaited here needs an event loop, and none is running")
