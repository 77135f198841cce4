"""The sandbox: honest work runs as on the student's machine, and limits end everything else."""

import errno
import os
import re
import stat
import subprocess
import sys
import tempfile
from dataclasses import replace
from pathlib import Path

import numpy as np
import psutil
import pytest

from grader import sandbox, syscalls
from grader.sandbox import Limits, NoSandbox
from tests.grader.probes import (
    FULL,
    RIGHT_ATTENTION,
    RIGHT_SOFTMAX,
    SET,
    answer,
    errors,
    graded,
    look,
    points,
)

pytestmark = pytest.mark.usefixtures("sandbox")

ROOT = Path(__file__).parents[2]
both_modes = pytest.mark.parametrize("unsafe", [False, True], ids=["walls", "unsafe"])


# --- Honest work


@both_modes
def test_right_answers_get_full_marks_each_time(tmp_path, unsafe):
    first = graded(tmp_path, RIGHT_SOFTMAX, RIGHT_ATTENTION, unsafe=unsafe)
    assert points(first) == FULL
    assert first.broken_cells == {}
    assert first == graded(tmp_path, RIGHT_SOFTMAX, RIGHT_ATTENTION, unsafe=unsafe)


def test_marks_are_the_same_with_and_without_the_sandbox(tmp_path):
    cells = (
        "import numpy as np\ndef softmax(x): return np.exp(x) / np.exp(x).sum(-1, keepdims=True)",
        RIGHT_ATTENTION,
    )
    walls, unsafe = (graded(tmp_path, *cells, unsafe=unsafe) for unsafe in (False, True))
    assert walls == unsafe
    assert walls.marks[0].status == "partial"


HONEST = {
    "warnings as errors": ["import warnings\nwarnings.simplefilter('error')"],
    "floating point as errors": ["import numpy as np\nnp.seterr(all='raise')"],
    "prints": ["print('a' * 10**6)\nimport sys\nsys.stderr.write('b')\nprint(1, flush=True)"],
    "magics": ["%matplotlib inline\n%load_ext autoreload\n%autoreload 2\nhalf = 1 / 2\nhalf"],
    "shell": ["!pip install numpy\n!ls\nimport numpy as np\nnp.ones?\nnp.ones??\n?np.zeros"],
    "other languages": ["%%bash\nrm -rf x", "%%html\n<b>x</b>", "%%javascript\nalert(1)"],
    "timed": ["%%time\nimport numpy as np", "%time a = 1\nassert a == 1", "%%timeit\n1 + 1"],
    "captured": ["%%capture out\nimport numpy as np\nb = 2", "assert b == 2"],
    "figures": [
        (
            "import matplotlib.pyplot as plt\nfrom matplotlib import cm\nimport seaborn as sns\n"
            "fig, axes = plt.subplots(1, 2, figsize=(4, 2))\nfor ax in axes.flat:\n"
            "    ax.imshow([[1]], cmap=cm.viridis)\nwith plt.style.context('x'):\n    plt.show()\n"
            "plt.rcParams['figure.dpi'] = 90"
        )
    ],
    "widgets": [
        (
            "from ipywidgets import interact\n@interact(x=(0, 1))\ndef show(x): pass\n"
            "from IPython.display import HTML, display\ndisplay(HTML('a'))\nget_ipython().magic('x')"
        )
    ],
    "check": [
        (
            "import attn\nfrom attn_course.exercises import check\ncheck('softmax', len)\n"
            "from attn_course.widgets import AttentionMatrix as Matrix\nMatrix()"
        )
    ],
    "bars": [
        (
            "from tqdm import tqdm, trange\nfrom tqdm.auto import tqdm as other\n"
            "assert [i for i in tqdm(range(3), desc='x')] == [0, 1, 2] == list(trange(3))\n"
            "bar = other(total=3)\nbar.update(1)\nbar.close()\nwith tqdm([5]) as b: b.set_postfix(a=1)"
        )
    ],
    "a way out where a package is not there": [
        (
            "import importlib.util\nassert importlib.util.find_spec('torch') is None\n"
            "try:\n    import scipy.special\nexcept ImportError:\n    erf = None\nassert erf is None"
        )
    ],
    "notebook functions": ["help(len)\nexit()\nquit()"],
    "files": [
        "import numpy as np\nnp.save('a.npy', np.eye(3))\nassert np.load('a.npy').sum() == 3"
    ],
    "files of one's own to import": [
        "%%writefile own.py\nthirteen = 13",
        "%%writefile -a own.py\nfourteen = 14",
        "import own\nassert (own.thirteen, own.fourteen) == (13, 14)",
        "%%file 'random.py'\nfifteen = 15",
        "import random\nrandom.random()",
    ],
    "types": [
        (
            "from __future__ import annotations\nfrom typing import Optional, NamedTuple\n"
            "from dataclasses import dataclass\n@dataclass\nclass Point:\n    x: float\nPoint(1.0)"
        )
    ],
    "two lines with a percent sign": ["a = (7\n     % 4)\nassert a == 3"],
    "questions in comments": ["a = 5  # right?\nb = 6  # surely!", "assert (a, b) == (5, 6)"],
    "text like a magic": ["s = '''\n%time x\n!ls\n'''", "assert s == '\\n%time x\\n!ls\\n'"],
    "questions beside a magic": [
        "%matplotlib inline\nc = 5  # right?\nd = '''\n!ls\n'''  # surely!\nassert c == 5",
        "assert d == '\\n!ls\\n'",
    ],
    "what magics give": [
        "files = !ls\nassert files == []\ntwo = %time 1 + 1\nassert two == 2",
        "%time three = 3\n%prun -l 5 -s cumtime four = 4\nassert (three, four) == (3, 4)",
        "%%prun -s cumtime\nfive = 5\n%time six = 6",
        "from IPython import get_ipython\nassert (five, six) == (5, 6)\nimport IPython.display",
        "%%time\nseven = 7",
        "assert seven == 7\nbest = %timeit -o 1 + 1\nbest.average\nout.show()",
    ],
    "a prompt that was pasted": [">>> eight = 8\n... nine = 9", "assert (eight, nine) == (8, 9)"],
    "awaits": [
        (
            "import asyncio\nasync def eleven():\n    await asyncio.sleep(0)\n    return 11\n"
            "assert await eleven() == 11\ntwelve = 12"
        ),
        "x = %time await eleven()\nassert (x, twelve) == (11, 12)",
    ],
    "figures unpacked": [
        (
            "import matplotlib.pyplot as plt\nn, bins, patches = plt.hist([1])\n"
            "fig, ((a, b, c), *more, last) = plt.subplots(2, 3)\nassert more == []\n"
            "for line, text, point in [plt.plot([1])]:\n    line.remove()"
        )
    ],
}


@both_modes
def test_common_code_of_notebooks_breaks_no_cell(tmp_path, unsafe):
    cells = [cell for several in HONEST.values() for cell in several]
    result = graded(tmp_path, *cells, RIGHT_SOFTMAX, RIGHT_ATTENTION, unsafe=unsafe)
    assert result.broken_cells == {}
    assert points(result) == FULL


BROKEN = {
    "1 / 0": "ZeroDivisionError",
    "raise SystemExit": "Exception",
    "raise KeyboardInterrupt": "Exception",
    "def broken(:": "SyntaxError",
    "undefined": "NameError",
    "input()": "EOFError",
    "class Own(Exception): pass\nraise Own": "Exception",
    "assert False": "AssertionError",
    "def f(): f()\nf()": "RecursionError",
    "bytearray(10**11)": "MemoryError",
    "open('/new', 'w')": "OSError",
    "import subprocess\nsubprocess.run(['ls'])": "PermissionError",
    "import pandas": "ModuleNotFoundError (pandas)",
    "%%time\n1 / 0": "ZeroDivisionError",
    "import asyncio\nawait asyncio.sleep(1)": "RuntimeError",
    (
        "import types\n@types.coroutine\ndef needs_a_loop():\n    yield 1\nawait needs_a_loop()"
    ): "RuntimeError",
    (
        "from concurrent.futures import ThreadPoolExecutor\nwith ThreadPoolExecutor(4) as pool:\n"
        "    list(pool.map(abs, range(9)))"
    ): "RuntimeError",
}


def test_a_failing_cell_costs_no_points(tmp_path):
    result = graded(tmp_path, *BROKEN, RIGHT_SOFTMAX, RIGHT_ATTENTION)
    assert result.broken_cells == dict(enumerate(BROKEN.values()))
    assert points(result) == FULL


@pytest.mark.parametrize(
    "last",
    [
        (
            "answer = softmax\ndef softmax(scores: np.ndarray, /, axis=-1) -> list:\n"
            "    return answer(scores).tolist()"
        ),
        "answer = softmax\ndef softmax(scores): return answer(scores).astype(np.float32)",
        "answer = softmax\nsoftmax = lambda scores: answer(scores).astype(np.longdouble)",
        "answer = softmax\ndef softmax(scores): return np.asfortranarray(answer(scores))",
        "answer = softmax\nclass Softmax:\n    __call__ = staticmethod(answer)\nsoftmax = Softmax()",
        "import functools\nsoftmax = functools.partial(softmax)",
        "def softmax(scores): return 1\ndef softmax(scores): return own_softmax(scores)",
        "def softmax(scores):\n    print(scores)\n    return own_softmax(scores)",
    ],
)
def test_a_right_answer_may_take_any_form(tmp_path, last):
    assert points(graded(tmp_path, RIGHT_SOFTMAX, RIGHT_ATTENTION, last)) == FULL


def test_manual_and_markdown_cells_do_not_run(tmp_path):
    by_hand = {"source": "1 / 0", "metadata": {"nbgrader": {"grade_id": "by-hand"}}}
    text = {"source": "1 / 0", "cell_type": "markdown"}
    assert graded(tmp_path, by_hand, text).broken_cells == {}


def test_tasks_without_an_answer_are_told_apart(tmp_path):
    result = graded(tmp_path, RIGHT_SOFTMAX)
    assert points(result) == (5.0, 0.0)
    assert [mark.status for mark in result.marks] == ["passed", "unanswered"]
    empty = graded(tmp_path)
    assert [mark.status for mark in empty.marks] == ["unanswered"] * 2


def test_equal_notebooks_get_equal_marks_whatever_the_rest_of_the_file(tmp_path):
    """The wrong answer is a guess, so its marks would differ with other inputs."""
    guess = "import numpy as np\ndef softmax(x): return np.full(x.shape, x.flat[0] > 0.1)"
    cells = (guess, RIGHT_ATTENTION)
    seen = []
    with pytest.MonkeyPatch.context() as patch:
        real = sandbox.run
        patch.setattr(sandbox, "run", lambda *a, **k: seen.append(a[2]) or real(*a, **k))
        first = graded(tmp_path, *cells)
        again = graded(tmp_path, *cells, {"source": "", "metadata": {"name": "leo"}})
    assert first.digest != again.digest
    assert first.marks == again.marks
    assert seen[0].keys() == seen[1].keys()
    for name, cases in seen[0].items():
        for case, again in zip(cases, seen[1][name], strict=True):
            np.testing.assert_equal(case, again)


# --- What is inside


def test_inside_are_only_python_and_the_packages():
    seen = look(
        "sorted(os.listdir('/'))",
        "sorted(os.listdir('/packages'))",
        "sorted(os.listdir('/job'))",
        "sorted(os.listdir('/dev'))",
        "os.listdir('/tmp')",
        "sorted(os.environ)",
        "os.getcwd(), os.path.expanduser('~'), os.uname().nodename, os.getuid(), os.getgid()",
        "sys.path[1:]",
        "sys.argv",
        "sys.flags.hash_randomization, hash('a') == hash('a')",
        "[p for p, d, f in os.walk('/') if d + f and "
        "re.fullmatch('(/usr|/python)?/lib(64)?/python[^/]*/[^/]*-packages', p)]",
        "[n for _, d, f in os.walk('/') for n in d + f "
        "if re.search(r'^(attn|assignments|nbgrader|torch|ps[0-9]([.](py|ipynb|toml|json)|$))', n) "
        "or n.endswith('_check.npz')]",
        "os.path.exists('/proc') or os.path.exists('/sys') or os.path.exists('/home')",
    )
    shown = list(seen.values())
    roots = {"dev", "etc", "job", "lib", "lib64", "packages", "python", "tmp", "usr"}
    assert set(eval(shown[0])) <= roots
    assert set(eval(shown[1])) <= {"numpy", "numpy.libs"}
    assert shown[2] == str(
        ["IPython", "checks.py", "empty", "inside.py", "job.json"]
        + ["standins.py", "syscalls.py", "wire.py"]
    )
    assert shown[3] == "['null', 'urandom']"
    assert shown[4] == "[]"
    # bubblewrap itself sets PWD.
    assert set(eval(shown[5])) <= {*sandbox._ENVIRONMENT, "PWD"}
    assert shown[6] == "('/tmp', '/tmp', 'sandbox', 65534, 65534)"
    assert all(path.startswith(("/python/", "/packages", "/tmp")) for path in eval(shown[7]))
    assert shown[8] == "['/job/inside.py', '/job', '/packages']"
    assert shown[9] == "(0, True)"
    assert shown[10:] == ["[]", "[]", "False"]


def test_namespaces_protect_without_the_filter_of_system_calls(tmp_path):
    """Each of the two defences is tested alone, so that neither hides a fault of the other."""
    code = """
import os, socket
print([name for _, name in socket.if_nameindex()], os.getpid() < 5, sorted(os.environ))
for place in ("/job/new", "/new", "/python/lib/new", "/tmp/new"):
    try:
        open(place, "w").close()
        print(place)
    except OSError:
        pass
"""
    sandbox._furnish(tmp_path, Path(sandbox.HERE, "inside.py"))
    walls = sandbox._walls(Limits(), tmp_path, ())
    command = [*walls, "-S", "-s", "-B", "-c", code]
    said = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    assert said == f"['lo'] True {sorted({*sandbox._ENVIRONMENT, 'PWD'})}\n/tmp/new\n"


# Student code may call these on its own process, the machine's devices and its folder.
WHO = (
    "os.getresuid() + os.getresgid()",
    "os.getgroups()",
    "libc.prctl(39, 0, 0, 0, 0)",  # no_new_privs
    "os.chmod('/dev/null', 0)",
    "os.utime('/dev/urandom', (0, 0))",
    "[open(f'/tmp/{n}', 'w').close() for n in range(5000)]",
)


def test_student_code_is_an_unprivileged_user_whoever_grades():
    before = os.stat("/dev/null").st_mode
    ids, groups, sealed, chmod, utime, files = look(*WHO).values()
    assert ids == str((65534,) * 6)
    # A user namespace shows groups that it does not know as 65534.
    assert eval(groups) in ([], [65534])
    assert sealed == "1"
    assert chmod.startswith("PermissionError") and utime.startswith("PermissionError")
    assert files.startswith("OSError: [Errno 28]")
    assert os.stat("/dev/null").st_mode == before


def rights(pid):
    """Return the capabilities of a process as bits, without the bounding set."""
    found = re.findall(r"(Cap(?!Bnd)\w+):\t(\w+)", Path(f"/proc/{pid}/status").read_text())
    return {name: int(bits, 16) for name, bits in found}


def test_student_code_runs_as_nobody_and_never_as_root(monkeypatch, tmp_path):
    """The credentials are read from outside the sandbox, while the process runs."""
    seen = []
    real = sandbox._read

    def read(process, limits, *inputs):
        found = real(process, replace(limits, step_wall_s=0, wall_s=1), *inputs)
        for child in psutil.Process().children(recursive=True):
            if "/job/inside.py" in child.cmdline() and child.name().startswith("python"):
                seen.append((child.uids(), child.gids(), rights(child.pid)))
        return found

    monkeypatch.setattr(sandbox, "_read", read)
    answer("import time\ntime.sleep(9)")
    assert seen
    assert {*seen[0][0]} == {os.geteuid() or 65534}
    assert {*seen[0][1]} == {os.getegid() or 65534}
    assert seen[0][2] == {f"Cap{kind}": 0 for kind in ("Inh", "Prm", "Eff", "Amb")}


def as_ordinary_user(code):
    """Run Python as an ordinary user, with everything that the grader needs readable."""
    places = [Path(sys.base_prefix), Path(sys.prefix), ROOT]
    # Parent folders that are closed to others, such as a home, are opened.
    above = {place: place.parents[::-1] for place in places}
    closed = {next((f for f in above[place] if not f.stat().st_mode & 1), None) for place in places}
    outer = ["bwrap", "--dev-bind", "/", "/"]
    for folder in closed - {None}:
        outer += ["--perms", "0755", "--tmpfs", str(folder)]
    for place in places:
        if closed & set(above[place]):
            for folder in above[place]:
                outer += ["--dir", str(folder)] if closed & set(folder.parents) else []
            outer += ["--ro-bind", str(place), str(place)]
    user = ["--", "setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"]
    return subprocess.run(
        [*(outer + user if os.geteuid() == 0 else []), sys.executable, "-B", "-c", code],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
        env=os.environ | {"TMPDIR": "/tmp", "HOME": "/tmp"},
    )


def test_an_ordinary_user_can_grade():
    done = as_ordinary_user(
        "import os, sys, tempfile\nfrom pathlib import Path\n"
        "sys.path.insert(0, 'tests/grader')\nfrom probes import *\n"
        "with tempfile.TemporaryDirectory() as place:\n"
        f"    print(os.geteuid() != 0, *look(*{WHO!r}).values(), sep=';')\n"
        "    print(points(graded(Path(place), RIGHT_SOFTMAX, RIGHT_ATTENTION)))"
    )
    assert done.returncode == 0, done.stderr
    who, marks = done.stdout.splitlines()
    nobody, sealed, *doors = re.fullmatch(
        r"True;(\(.*?\));\[.*?\];(\d);(.*);(.*);(.*)", who
    ).groups()
    assert (nobody, sealed) == (str((65534,) * 6), "1")
    assert [door[:15] for door in doors] == ["PermissionError"] * 2 + ["OSError: [Errno"]
    assert marks == str(FULL)


@pytest.mark.skipif(os.geteuid() != 0, reason="only root becomes another user")
def test_root_refuses_where_user_nobody_cannot_read_a_package(tmp_path, monkeypatch):
    # A strict umask leaves these permissions.
    (tmp_path / "numpy").mkdir(mode=0o700)
    monkeypatch.setattr(sandbox, "_site", lambda: tmp_path)
    with pytest.raises(NoSandbox, match="^nothing .* cannot read numpy, which must be .* by all$"):
        sandbox.available()


def test_root_refuses_where_it_cannot_become_another_user():
    # Inside the user namespace, the code is root and the only user.
    alone = ["--unshare-user", "--uid", "0", "--gid", "0", "--cap-add", "ALL"]
    code = "from grader import sandbox\nsandbox.available()"
    done = subprocess.run(
        ["bwrap", "--dev-bind", "/", "/", *alone, "--", sys.executable, "-c", code],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert "NoSandbox: root cannot become an unprivileged user here: " in done.stderr


def test_limits_are_set_and_cannot_be_raised():
    names = ("AS", "CPU", "FSIZE", "NOFILE", "CORE")
    seen = look(
        *(f"__import__('resource').getrlimit(__import__('resource').RLIMIT_{n})" for n in names),
        "__import__('resource').setrlimit(__import__('resource').RLIMIT_AS, (2**33, 2**33))",
        limits=Limits(cpu_s=7, memory_bytes=2**29, file_bytes=2**20),
    )
    assert list(seen.values()) == [
        f"({2**29}, {2**29})",
        "(7, 8)",
        f"({2**20}, {2**20})",
        "(64, 64)",
        "(0, 0)",
        "ValueError: not allowed to raise maximum limit",
    ]


def test_the_default_limits():
    assert Limits() == Limits(15, 5, 60, 60, 2**30, 2**25, 2**24)


def test_the_outcome_of_no_cells_and_no_tasks():
    outcome = sandbox.run([], [], {})
    said = [({name: True}, {}) for name in ("ready", "inputs", "done")]
    assert outcome == sandbox.Outcome(said, None)


# --- Limits


QUICK = Limits(step_wall_s=2, step_cpu_s=0.5)
SLEEP = "import time\ntime.sleep(10**6)"
LOOP = "while True:\n    try:\n        while True: pass\n    except Exception: pass"
DEAF = (
    "import signal\nfor n in (signal.SIGALRM, signal.SIGPROF, signal.SIGXCPU):\n"
    "    signal.signal(n, signal.SIG_IGN)\n"
)


@both_modes
@pytest.mark.parametrize("endless", [SLEEP, LOOP], ids=["sleep", "loop"])
def test_a_step_that_takes_too_long_is_interrupted_and_the_next_ones_run(unsafe, endless):
    inner = "\n    ".join(["def f(x):", *endless.splitlines()])
    outcome, seen = answer(
        "a = 1\n" + endless, inner, "f = lambda x: x + a", unsafe=unsafe, limits=QUICK
    )
    assert outcome.stopped is None
    late = [(h.get("cell"), h.get("late")) for h, _ in outcome.frames if "cell" in h]
    assert late == [(0, True)]
    tried = [h["answers"] is None for h, _ in outcome.frames if "task" in h]
    # The last definition counts.
    assert tried == [False]
    assert seen.tolist() == [1, 2, 3]


def test_a_task_that_took_too_long_is_not_run_again():
    outcome, _ = answer("def f(x):\n    while True: pass", limits=QUICK)
    assert sum("task" in header for header, _ in outcome.frames) == 1


def test_code_that_ignores_interrupts_is_ended_from_outside():
    outcome, seen = answer(DEAF + SLEEP, limits=replace(QUICK, step_wall_s=0.5))
    assert (outcome.stopped, seen) == ("time", None)
    assert outcome.frames[-1][0] == {"begins": ["cell", 0]}


def test_no_step_takes_more_than_a_quarter_of_the_time_left():
    outcome, seen = answer(*[SLEEP] * 4, "f = lambda x: x", limits=Limits(wall_s=2))
    assert len(errors(outcome)) == 4 and outcome.stopped is None
    assert seen.tolist() == [0, 1, 2]


def test_the_time_limit_ends_a_run_that_ignores_interrupts():
    deaf = DEAF + SLEEP
    outcome, _ = answer(deaf, limits=Limits(wall_s=1))
    assert outcome.stopped == "time"


def test_functions_registered_with_atexit_do_not_run():
    cell = "import atexit, time\natexit.register(time.sleep, 99)"
    outcome, _ = answer(cell, limits=Limits(wall_s=3))
    assert outcome.stopped is None


@both_modes
@pytest.mark.parametrize("byte", ["a", "\\0"], ids=["no frame", "frames of nothing"])
def test_a_trickle_of_output_does_not_stop_the_clock(unsafe, byte):
    cell = f"import os, time\nwhile True:\n    os.write(fd, b'{byte}' * 8)\n    time.sleep(0.01)"
    drip = DEAF + "fd = next(fd for fd in range(3, 64) if is_pipe(fd))\n"
    helper = (
        "import os, stat\ndef is_pipe(fd):\n    try: return stat.S_ISFIFO(os.fstat(fd).st_mode)\n"
        "    except OSError: return False\n"
    )
    outcome, _ = answer(helper + drip + cell, unsafe=unsafe, limits=Limits(wall_s=1))
    # Read as the lengths of a frame, these letters are more bytes than are allowed.
    assert outcome.stopped == {"a": "output", "\\0": "time"}[byte]


@pytest.mark.grader
@both_modes
def test_processor_time_ends_a_run(unsafe):
    limits = Limits(cpu_s=1, step_cpu_s=20)
    outcome, _ = answer("while True: pass", unsafe=unsafe, limits=limits)
    assert outcome.stopped == "time"
    assert outcome.frames[-1][0] == {"begins": ["cell", 0]}


@pytest.mark.grader
def test_code_that_ignores_the_signal_of_the_cpu_limit_is_killed():
    outcome, seen = answer(DEAF + "while True: pass", limits=Limits(cpu_s=1))
    assert (outcome.stopped, seen) == (None, None)


@both_modes
def test_too_much_output_ends_a_run(unsafe):
    limits = Limits(output_bytes=2**20)
    outcome, _ = answer("def f(x): return [0.5] * 2**18", unsafe=unsafe, limits=limits)
    assert outcome.stopped == "output"
    outcome, seen = answer("def f(x): return [0.5] * 2**15", unsafe=unsafe, limits=limits)
    assert (outcome.stopped, len(seen)) == (None, 2**15)


@both_modes
def test_too_much_memory_is_an_exception_inside(unsafe):
    limits = Limits(memory_bytes=2**29)
    outcome, seen = answer(
        "a = bytearray(2**29)", "def f(x): return x", unsafe=unsafe, limits=limits
    )
    assert errors(outcome)[0]["type"] == "MemoryError"
    assert seen.tolist() == [0, 1, 2]


def test_too_large_a_file_is_an_exception_inside():
    outcome, _ = answer(
        "open('/tmp/a', 'wb').write(b'0' * 2**20)",
        "open('/tmp/b', 'wb').write(b'0' * 2**20)",
        limits=Limits(file_bytes=2**20),
    )
    assert list(errors(outcome)) == [1]


@pytest.mark.parametrize(
    "make", ["open(name, 'w').close()", "os.mkdir(name)", "os.link('/tmp/one', name)"]
)
def test_the_number_of_files_is_limited(make):
    """Each open file takes memory of the kernel, which no limit on a process counts."""
    before = f"""
        import os
        open('/tmp/one', 'w').close()

        def fill():
            for number in range(10_000):
                name = f'/tmp/{{number:0250}}'
                try:
                    {make}
                except OSError as error:
                    return number, error.errno
    """
    (said,) = look("fill()", before=before).values()
    made, reason = eval(said)
    assert 4000 < made < 4096
    assert reason == errno.ENOSPC


# --- After a run


def leftovers(folder):
    """Return the files of jobs, and the processes that have such a file on their command line."""
    running = [p for p in psutil.process_iter(["cmdline"]) if str(folder) in str(p.info["cmdline"])]
    return [*os.listdir(folder), *running]


@pytest.mark.parametrize(
    "cell", ["", "while True: pass", "import os, signal\nos.kill(os.getpid(), signal.SIGSTOP)"]
)
@both_modes
def test_nothing_is_left(tmp_path, monkeypatch, cell, unsafe):
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    children = psutil.Process().children()
    answer("open('a', 'w').write('b')", cell, limits=Limits(wall_s=1), unsafe=unsafe)
    assert leftovers(tmp_path) == []
    assert psutil.Process().children() == children


def test_open_files_do_not_pile_up():
    def opened():
        return len(os.listdir("/proc/self/fd"))

    answer("")
    before = opened()
    for _ in range(3):
        answer("")
    assert opened() == before


# --- Where there is no sandbox


def test_the_sandbox_is_available_here():
    sandbox.available()


def with_bubblewrap(folder, monkeypatch, script):
    """Put a bubblewrap of our own first on the path, or none."""
    if script:
        program = folder / "bwrap"
        program.write_text(f"#!/bin/sh\n{script}\n")
        program.chmod(program.stat().st_mode | stat.S_IXUSR)
    monkeypatch.setenv("PATH", str(folder))


@pytest.mark.parametrize(
    "script, message",
    [
        ("", "bubblewrap is not installed .*apt install bubblewrap"),
        ("echo 'bwrap: No permissions' >&2; exit 1", "nothing can be run here: bwrap: No perm"),
        ("exit 0", "nothing can be run here: it does not start$"),
    ],
)
def test_where_no_sandbox_starts_the_error_says_why(script, message, tmp_path, monkeypatch):
    with_bubblewrap(tmp_path, monkeypatch, script)
    with pytest.raises(NoSandbox, match=f"^{message}"):
        sandbox.available()


def test_a_failure_of_the_machine_is_not_a_mark_of_zero(tmp_path, monkeypatch):
    with_bubblewrap(tmp_path, monkeypatch, "exit 1")
    with pytest.raises(NoSandbox):
        graded(tmp_path, RIGHT_SOFTMAX)


def test_other_systems_are_refused(monkeypatch):
    monkeypatch.setattr(sys, "platform", "darwin")
    with pytest.raises(NoSandbox, match="^bubblewrap needs Linux, and this is darwin$"):
        sandbox.available()


def test_a_kernel_without_user_namespaces_is_refused(tmp_path):
    # The grader runs where a real bubblewrap forbids another one inside.
    outer = [
        "bwrap",
        "--dev-bind",
        "/",
        "/",
        "--unshare-user",
        "--disable-userns",
        "--uid",
        "1000",
        "--",
    ]
    code = "from grader import sandbox\nsandbox.available()"
    found = __import__("subprocess").run(
        [*outer, sys.executable, "-c", code],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert found.returncode
    assert "NoSandbox: nothing can be run here: bwrap: " in found.stderr


@both_modes
def test_without_a_sandbox_limits_hold_but_files_can_be_read(tmp_path, unsafe):
    secret = tmp_path / "secret"
    secret.write_text("a secret")
    seen = look(f"open({str(secret)!r}).read()", "os.fork()", unsafe=unsafe)
    read, forked = seen.values()
    assert (read == "a secret") is unsafe
    assert forked.startswith("PermissionError")


def test_code_runs_without_a_sandbox_only_with_unsafe(tmp_path, monkeypatch):
    with_bubblewrap(tmp_path, monkeypatch, "exit 1")
    graded(tmp_path, RIGHT_SOFTMAX, unsafe=True)
    with pytest.raises(NoSandbox):
        sandbox.run([], [], {})


# --- The filter


@pytest.mark.parametrize("machine", syscalls.NUMBERS)
def test_the_filter_of_each_machine_decides_as_its_table_says(machine):
    numbers = syscalls.NUMBERS[machine]
    kill, allow, error = 0x80000000, 0x7FFF0000, 0x00050000
    here = syscalls.ARCHITECTURES[machine]
    for number in range(1000):
        wanted = error | 1 if number in numbers.values() else error | 38 if number > 423 else allow
        assert decide(syscalls.program(machine), here, number) == wanted
        assert decide(syscalls.program(machine), 0x40000003, number) == kill  # 32 bits
    assert decide(syscalls.program(machine), here, 0x40000039) == error | 38  # x32


def decide(program, architecture, number):
    """Run a filter by interpreting the four instructions that it is made of."""
    at, loaded = 0, None
    while True:
        code, if_true, if_false, value = np.frombuffer(
            program, [("code", "<u2"), ("jt", "u1"), ("jf", "u1"), ("k", "<u4")]
        )[at].tolist()
        at += 1
        if code == 0x20:
            loaded = {0: number, 4: architecture}[value]
        elif code == 0x06:
            return value
        else:
            holds = loaded == value if code == 0x15 else loaded >= value
            at += if_true if holds else if_false


def test_the_tables_are_those_of_the_kernel(needed):
    x86, arm = (syscalls.NUMBERS[machine] for machine in ("x86_64", "aarch64"))
    # These system calls are older than the ARM machine, which lacks them.
    assert set(x86) - set(arm) == {"fork", "vfork", "inotify_init"}
    assert set(arm) <= set(x86)
    header = needed("kernel_headers").read_text()
    lines = [line.split() for line in header.splitlines() if "__NR_" in line]
    listed = {
        name.removeprefix("__NR_"): int(n) for _, name, n in (x for x in lines if len(x) == 3)
    }
    assert x86 == {name: listed[name] for name in x86}


def test_a_machine_without_a_filter_is_refused(monkeypatch):
    assert syscalls.is_known()
    monkeypatch.setattr(syscalls.platform, "machine", lambda: "s390x")
    assert not syscalls.is_known()
    with pytest.raises(OSError, match="^no filter of system calls for Linux on s390x$"):
        syscalls.forbid()
    monkeypatch.undo()
    monkeypatch.setattr(syscalls.platform, "system", lambda: "Darwin")
    assert not syscalls.is_known()


def test_each_task_of_the_small_set_has_five_points():
    assert [task.max_points for task in SET.tasks] == [5, 5]


def test_a_signal_while_a_job_is_removed_leaves_nothing(monkeypatch):
    remove, calls = tempfile.TemporaryDirectory._rmtree.__func__, []

    def interrupted(cls, *args, **kwargs):
        calls.append(args)
        if len(calls) == 1:
            raise KeyboardInterrupt
        remove(cls, *args, **kwargs)

    monkeypatch.setattr(tempfile.TemporaryDirectory, "_rmtree", classmethod(interrupted))
    with pytest.raises(KeyboardInterrupt), sandbox.job_folder() as job:
        (job / "file").touch()
    assert len(calls) == 2 and not job.exists()
