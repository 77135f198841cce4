"""Attacks: a cheat earns nothing, honest work beside it keeps its marks, and the grading ends."""

import builtins
import json
import os
import tempfile
import textwrap
import time

import numpy as np
import psutil
import pytest

from grader.judge import draw, judge
from grader.sandbox import Limits
from tests.grader.probes import (
    FULL,
    RIGHT_ATTENTION,
    RIGHT_SOFTMAX,
    SOFTMAX,
    answer,
    errors,
    graded,
    look,
    points,
)

pytestmark = pytest.mark.usefixtures("sandbox")

WRONG_SOFTMAX = "import numpy as np\ndef softmax(scores): return scores"


def cheat(path, *cells, **kwargs):
    """Grade a cheat on the first task beside an honest answer to the second."""
    return graded(path, *map(textwrap.dedent, cells), RIGHT_ATTENTION, **kwargs)


@pytest.fixture(autouse=True)
def nothing_is_left(tmp_path, monkeypatch):
    """Check that after any attack no process and no file of a job is left."""
    jobs = tmp_path / "jobs"
    jobs.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(jobs))
    children = psutil.Process().children()
    yield
    assert os.listdir(jobs) == []
    assert psutil.Process().children() == children
    running = [p.info["cmdline"] for p in psutil.process_iter(["cmdline"])]
    assert not [line for line in running if str(jobs) in str(line)]


# --- Cheating the comparison

ALWAYS = "always = lambda *args, **kwargs: True"
DECEPTIONS = {
    "numpy.testing": """
        import numpy as np, numpy.testing
        for name in ("assert_allclose", "assert_array_equal", "assert_equal"):
            setattr(np.testing, name, always)
    """,
    "functions of numpy": """
        import numpy as np
        for name in ("isclose", "allclose", "array_equal", "all", "isfinite"):
            setattr(np, name, always)
    """,
    "builtins": """
        import builtins
        builtins.all = builtins.isinstance = builtins.bool = always
    """,
    "an array equal to all": """
        import numpy as np
        class Equal(np.ndarray):
            __eq__ = __ne__ = __le__ = __array_ufunc__ = __array_function__ = always
            tobytes = lambda self, *a: b""
        def softmax(scores): return scores.view(Equal)
    """,
    "the comparison": """
        import sys, compare
        compare.same = compare.close = compare._identical = always
        compare.Answer.__eq__ = always
    """,
    "the frames of the harness": """
        import gc, inspect, sys
        for frame in inspect.stack():
            for value in frame.frame.f_locals.values():
                if isinstance(value, dict) and "tasks" in value:
                    value["tasks"] = [{**t, "points": 5, "status": "passed"} for t in value["tasks"]]
        for found in gc.get_objects():
            if isinstance(found, dict) and "points" in found and type(found["points"]) is dict:
                found["points"] = {"values": 5}
        sys.modules["__main__"].say = always
    """,
    "what writes the answers": """
        import wire
        real = wire.write_frame
        def forged(stream, header, arrays=None):
            header = {**header, "points": 5, "status": "passed", "groups": {"values": True}}
            real(stream, header, arrays)
        wire.write_frame = forged
        import sys
        frame = sys._getframe()
        while frame:
            if "write_frame" in frame.f_locals:
                import ctypes
                frame.f_locals["write_frame"] = forged
                ctypes.pythonapi.PyFrame_LocalsToFast(ctypes.py_object(frame), 0)
            frame = frame.f_back
    """,
    "json and struct": """
        import json, struct
        real = json.dumps
        json.dumps = lambda value, **k: real(value, **k).replace("false", "true")
    """,
    "the reference, from the package": """
        from attn.reference import softmax
    """,
    "the reference, from the exercise": """
        from attn_course.exercises.catalogue import load
        softmax = load("softmax").oracle
    """,
    "the reference, from the problem set": """
        from assignments.sets.ps2.softmax_with_temperature import EXERCISE
        softmax = EXERCISE.oracle
    """,
    "the reference, from the disk": r"""
        import os, re, importlib.util
        for top, folders, files in os.walk("/"):
            for file in files:
                if re.fullmatch(r"(ch03_1_)?softmax\w*\.py|ps2.*\.(md|npz)", file):
                    spec = importlib.util.spec_from_file_location("found", os.path.join(top, file))
                    found = importlib.util.module_from_spec(spec)
                    spec.loader.exec_module(found)
                    softmax = found.softmax
    """,
    "a graded run told from practice": """
        import os
        if os.path.exists("/job") or not hasattr(__builtins__, "copyright"):
            def softmax(scores): return "5 points"
    """,
    "the end of the process": """
        import atexit, sys
        atexit.register(lambda: print("passed"))
        sys.exit(0)
    """,
}


def test_neither_the_course_nor_its_answers_can_be_read_inside():
    found = look(
        "[importlib.machinery.PathFinder.find_spec(name) for name in "
        "('attn', 'attn_course', 'assignments')]",
        "[os.path.join(top, file) for top, _, files in os.walk('/') for file in files "
        "if file.endswith(('.py', '.toml', '.npz', '.json')) and not top.startswith("
        "('/packages/numpy', '/python/lib/python', '/usr/lib', '/lib'))]",
        before="import importlib.machinery",
    )
    nowhere, ours = map(eval, found.values())
    assert nowhere == [None, None, None]
    names = [
        *("IPython/core/inputtransformer2.py", "IPython/utils/tokenutil.py", "checks.py"),
        *("inside.py", "job.json", "standins.py", "syscalls.py", "wire.py"),
    ]
    assert sorted(ours) == [f"/job/{name}" for name in names]


@pytest.mark.parametrize("code", DECEPTIONS.values(), ids=DECEPTIONS)
def test_deceiving_the_comparison_earns_nothing(tmp_path, code):
    result = cheat(tmp_path, WRONG_SOFTMAX, ALWAYS, code)
    assert points(result)[0] == 0.0
    assert result.marks[0].max_points == 5.0


# This function writes to every pipe that is open, as the harness would.
FORGE = """
    import json, os, stat, struct
    def forge(header, described=(), packed=b""):
        text = json.dumps([header, list(described)]).encode()
        for fd in range(3, 64):
            try:
                if stat.S_ISFIFO(os.fstat(fd).st_mode):
                    os.write(fd, struct.pack(">II", len(text), len(packed)) + text + packed)
            except OSError:
                pass
"""
PASSED = {"points": 5, "max_points": 5, "status": "passed", "missing": False}
FORGERIES = {
    "marks": f"forge({{'task': 't-softmax', 'answers': [{PASSED}] * 8, **{PASSED}}})",
    "marks of a task that is not": f"forge({{'task': 'x', 'answers': [], **{PASSED}}})",
    "answers without arrays": "forge({'task': 't-softmax', 'answers': [{'n_values': 1}] * 8})",
    "names of all kinds": "forge({'task': ['t-softmax'], 'cell': {}, 'begins': 5})\n"
    "forge({'task': None, 'cell': [1], 'error': 5})\nforge({'begins': ['task', ['t-softmax']]})",
}


@pytest.mark.parametrize("code", FORGERIES.values(), ids=FORGERIES)
def test_forged_frames_change_no_marks(tmp_path, code):
    result = cheat(tmp_path, WRONG_SOFTMAX, FORGE, code)
    assert points(result) == (0.0, 5.0)
    assert result.broken_cells == {}


def test_forged_errors_of_cells_that_do_not_exist_are_ignored(tmp_path):
    forged = "for n in (True, 2, 99, -1, 1.0, '0'): forge({'cell': n, 'error': {'type': '<b>'}})"
    result = cheat(tmp_path, FORGE, forged, "forge({'cell': 0, 'error': {'type': 'KeyError'}})")
    assert result.broken_cells == {0: "KeyError", 1: "Exception", 2: "Exception"}
    assert [type(number) for number in result.broken_cells] == [int] * 3


# This cell looks for the inputs in all that a cell can open, and in memory.
SEARCH = """
    import gc, os, select, sys
    found = []
    for top, _, files in os.walk("/job"):
        for file in files:
            found += [file] if numbers in open(os.path.join(top, file), "rb").read() else []
    pipes = []
    for fd in range(3, 64):
        try:
            readable = select.select([fd], [], [], 0.05)[0]
            os.set_blocking(fd, False)
            pipes += [data] if (data := os.read(fd, 2**20)) else []
        except OSError:
            pass
        try:
            os.set_blocking(fd, True)
        except OSError:
            pass
    frames = []
    frame = sys._getframe()
    while frame:
        frames += [name for name, value in frame.f_locals.items() if name == "inputs"]
        frame = frame.f_back
    assert (found, pipes, frames) == ([], [], []), (found, pipes, frames)
"""
# This cell asks for the inputs as the harness does when all cells have run, and reads them.
STEAL = """
    import marshal, select
    forge({"inputs": True})
    stolen = {}
    for fd in range(3, 64):
        try:
            if stat.S_ISFIFO(os.fstat(fd).st_mode) and select.select([fd], [], [], 1)[0]:
                stolen = marshal.loads(b"".join(iter(lambda: os.read(fd, 2**16), b"")))
        except OSError:
            pass
    seen = np.frombuffer(stolen["t-softmax"][0][0][3])
"""


def test_no_cell_finds_the_inputs(tmp_path):
    numbers = draw(SOFTMAX, b"secret").cases[0]["scores"].tobytes()
    search = f"numbers = bytes.fromhex({numbers.hex()!r})\n" + textwrap.dedent(SEARCH)
    result = graded(tmp_path, RIGHT_SOFTMAX, RIGHT_ATTENTION, search)
    assert result.broken_cells == {}
    assert points(result) == FULL


def test_stolen_inputs_cannot_be_leaked_through_the_errors_of_cells(tmp_path):
    steal = [textwrap.dedent(code) for code in (FORGE, STEAL)]
    tell = ("raise KeyError", "forge({'cell': 1, 'error': {'type': 'IndexError'}})")
    blame = "forge({'begins': ['cell', 2]})\nos._exit(0)"
    proof = "def softmax(scores): return 1 / (seen.size == 0)"
    for last in (*tell, blame):
        result = graded(tmp_path, RIGHT_SOFTMAX, *steal, proof, last)
        assert result.broken_cells == {}
        assert points(result)[0] == 0.0


def test_only_sixteen_kinds_of_exception_are_told_apart(tmp_path):
    kinds = [k for k in vars(builtins).values() if isinstance(k, type) and issubclass(k, Exception)]
    plain = [
        kind.__name__ for kind in kinds if not issubclass(kind, (UnicodeError, ExceptionGroup))
    ]
    told = set()
    for name in plain:
        report = {"n_values": None, "error": {"type": name, "message": "a" * 99}}
        told.add(judge(SOFTMAX, draw(SOFTMAX, b"secret"), [report] * 8, {}).error)
    assert len(plain) > 40 and len(told) == 16


def test_a_forged_begins_frame_costs_only_the_tasks_of_the_forger(tmp_path):
    forged = "forge({'begins': ['task', 't-attention']})\nos._exit(0)"
    result = cheat(tmp_path, RIGHT_SOFTMAX, FORGE, forged)
    assert points(result) == FULL
    assert result.broken_cells == {2: "process"}
    blamed = cheat(tmp_path, RIGHT_SOFTMAX, FORGE, "forge({'begins': ['cell', 0]})\nos._exit(0)")
    assert points(blamed) == (0.0, 5.0)
    assert blamed.broken_cells == {0: "process", 2: "process"}


def test_reading_stops_at_a_broken_frame_and_earlier_answers_count(tmp_path):
    junk = "for fd in range(3, 64):\n    try: os.write(fd, b'\\xff' * 50)\n    except OSError: pass"
    result = cheat(tmp_path, RIGHT_SOFTMAX, FORGE, junk)
    # The run counts as ended in the cell that wrote the broken frame; the answers before it count.
    assert points(result) == FULL
    assert result.broken_cells == {2: "output"}


# --- Editing the notebook


def test_editing_cells_points_and_ids_changes_no_mark(tmp_path):
    def cell(source, **mine):
        return {"source": source, "metadata": {"nbgrader": mine}}

    result = graded(
        tmp_path,
        cell(WRONG_SOFTMAX, grade_id="t-softmax", points=100, grade=True, locked=False),
        cell("assert True", grade_id="t-softmax", points=100, grade=True, solution=True),
        cell("", grade_id="t-more", points=100),
        cell(RIGHT_ATTENTION, grade_id="t-softmax"),
        {"source": "", "metadata": {"nbgrader": {"grade_id": "by-hand", "points": 1e9}}},
    )
    assert [(m.grade_id, m.points, m.max_points) for m in result.marks] == [
        ("t-softmax", 0.0, 5.0),
        ("t-attention", 5.0, 5.0),
    ]


# --- System calls and files that are forbidden: each is tried by name, in one run


DENIED = "PermissionError: [Errno 1] Operation not permitted"
ABSENT = "FileNotFoundError"
READ_ONLY = "OSError: [Errno 30] Read-only file system"
C_DENIED = "(-1, 1)"


def by_number(name, *arguments):
    """Return an expression that makes a system call, and gives its result and errno."""
    from grader.syscalls import NUMBERS

    number = NUMBERS[os.uname().machine].get(name, name)
    given = ", ".join(f"ctypes.c_long({a})" for a in (number, *arguments))
    return f"(libc.syscall({given}), ctypes.get_errno())"


DOORS = {
    # The network, and other calls that reach beyond the sandbox.
    **{
        f"socket.socket(socket.{family}, socket.{kind})": DENIED
        for family in ("AF_INET", "AF_INET6", "AF_UNIX", "AF_NETLINK", "AF_VSOCK", "AF_ALG")
        for kind in ("SOCK_STREAM", "SOCK_DGRAM", "SOCK_RAW")
    },
    "socket.socketpair()": DENIED,
    "socket.create_connection(('127.0.0.1', 9), timeout=1)": DENIED,
    "socket.gethostbyname('example.org')": "gaierror",
    # Processes, threads, programs.
    "os.fork()": DENIED,
    "os.forkpty()": ABSENT,
    "os.posix_spawn('/python/bin/python3', ['a'], {})": "PermissionError",
    f"os.execv({'/job/inside.py'!r}, ['a'])": "PermissionError",
    "__import__('subprocess').run(['/usr/bin/true'])": "PermissionError",
    "os.system('true') != 0": "True",
    "threading.Thread(target=print).start()": "RuntimeError: can't start new thread",
    # Memory that belongs to no address space.
    "os.memfd_create('a')": DENIED,
    "open('/dev/shm/a', 'w')": ABSENT,
    "__import__('multiprocessing.shared_memory').shared_memory.SharedMemory(create=True, size=9)": ABSENT,
    "os.setxattr('/tmp', 'user.a', b'a' * 60000)": DENIED,
    **{
        by_number(name, 0, 1 << 24, 0o1600): C_DENIED
        for name in ("shmget", "msgget", "semget", "mq_open", "io_setup", "inotify_init1")
    },
    by_number("vmsplice", 1, 0, 0, 0): C_DENIED,
    # Namespaces, mounts, debugging, keys, and recent system calls.
    by_number("unshare", 0x10000000): C_DENIED,
    by_number("setns", 0, 0): C_DENIED,
    by_number("clone", 0x10000000 | 17, 0): C_DENIED,
    **{
        by_number(name, 0, 0, 0, 0, 0): C_DENIED
        for name in ("mount", "umount2", "pivot_root", "chroot", "ptrace", "keyctl", "add_key")
    },
    **{
        by_number(name, 0, 0, 0, 0, 0): C_DENIED
        for name in ("bpf", "perf_event_open", "userfaultfd", "process_vm_readv", "syslog")
    },
    # clone3, io_uring_setup, fsopen, pidfd_getfd, memfd_secret, statmount, and one not yet
    # assigned.
    **{by_number(n, 0, 0): "(-1, 38)" for n in (424, 435, 425, 430, 438, 447, 457, 999)},
    # Folders and files.
    "open('/proc/self/mountinfo').read()": ABSENT,
    "os.listdir('/proc')": ABSENT,
    "os.listdir('/sys')": ABSENT,
    "os.listdir('/root')": ABSENT,
    "os.listdir('/home')": ABSENT,
    "os.listdir('/work')": ABSENT,
    "open('/etc/passwd').read()": ABSENT,
    "__import__('pwd').getpwall()": "[]",
    "os.listdir('/tmp/..') == os.listdir('/')": "True",
    "open('/dev/mem')": ABSENT,
    "open('/dev/kmsg')": ABSENT,
    "os.open('/dev/tty', 0)": ABSENT,
    "open('/a', 'w')": READ_ONLY,
    "open('/job/job.json', 'w')": READ_ONLY,
    "open('/packages/a', 'w')": "OSError: [Errno 30]",
    "os.remove('/packages/numpy/__init__.py')": READ_ONLY,
    "os.remove('/job/job.json')": READ_ONLY,
    "__import__('shutil').rmtree('/python')": READ_ONLY,
    "os.mknod('/tmp/b', 0o60600, 0x800)": DENIED,
    "os.symlink('/etc/shadow', '/tmp/s') or open('/tmp/s').read()": ABSENT,
    "os.setuid(0)": ("OSError: [Errno 22]", DENIED),  # the root of another system, or no permission
    # The devices are those of the machine.
    "os.chmod('/dev/null', 0)": DENIED,
    "os.chmod('/dev/urandom', 0)": DENIED,
    "os.chown('/dev/null', 65534, 65534)": ("OSError: [Errno 22]", DENIED),
    "os.utime('/dev/null', (0, 0))": DENIED,
    "os.nice(-5)": DENIED,
    "os.getppid()": "1",
}


@pytest.fixture(scope="module")
def tried():
    return look(*DOORS)


@pytest.mark.parametrize("door", DOORS)
def test_forbidden_system_calls_and_files_are_refused(tried, door):
    assert tried[door].startswith(DOORS[door])


def test_there_are_no_programs_and_no_other_processes():
    seen = look(
        "[p for p in ('/bin', '/sbin', '/usr/bin', '/usr/sbin', '/opt') if os.path.exists(p)]",
        "[p for p in range(3, 1000) if alive(p)]",
        "sorted(set(os.environ) & {'USER', 'LOGNAME', 'SHELL', 'PATH', 'VIRTUAL_ENV'})",
        before="""
        def alive(p):
            try:
                os.kill(p, 0)
                return True
            except OSError:
                return False
        """,
    )
    assert list(seen.values()) == ["[]"] * 3


def test_the_path_of_the_course_appears_nowhere_inside(tmp_path):
    home = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
    seen = look(
        "[v for v in (sys.prefix, sys.base_prefix, sys.executable, *sys.path, *sys.argv,"
        f" *os.environ.values(), open('/job/job.json').read()) if {home[::-1]!r}[::-1] in v or 'toor/'[::-1] in v]"
    )
    assert list(seen.values()) == ["[]"]


# --- Exhausting the resources of the machine

LITTLE = Limits(step_wall_s=4, step_cpu_s=2, wall_s=40, memory_bytes=2**29, output_bytes=2**20)
SIEGES = {
    "fork bomb": "import os\nwhile True: os.fork()",
    "threads": "import threading, time\nwhile True:\n"
    "    threading.Thread(target=time.sleep, args=(99,)).start()",
    "50 GB at once": "a = bytearray(50 * 10**9)",
    "memory in steps": "a = []\nwhile True: a.append(bytearray(10**7))",
    "memory of numpy": "import numpy as np\na = np.ones(10**10)",
    "shared memory": "import mmap\na = []\nwhile True: a.append(mmap.mmap(-1, 10**8))",
    "a full disk": "n = 0\nwhile True:\n    open(f'/tmp/{n}', 'wb').write(b'0' * 10**6)\n    n += 1",
    "a daemon": "import os, time\nif os.fork() == 0:\n    os.setsid()\n"
    "    if os.fork() == 0:\n        while True: time.sleep(1)",
    "recursion": "def f(): f()\nf()",
    "open files": "a = []\nwhile True: a.append(open('/dev/null'))",
    "pipes": "import os\na = []\nwhile True: a.append(os.pipe())",
    "a wide notebook": "x = " + "(" * 5000,
    "a slow expression": "x = '" + "?" * 2000 + " x\n?",
}


def test_resource_attacks_that_raise_an_exception_cost_no_points(tmp_path):
    """The limits of the kernel end these attacks with an exception, and the later cells run."""
    result = graded(tmp_path, *SIEGES.values(), RIGHT_SOFTMAX, RIGHT_ATTENTION, limits=LITTLE)
    assert points(result) == FULL
    assert set(result.broken_cells) == set(range(len(SIEGES)))
    assert set(result.broken_cells.values()) <= {
        "PermissionError",
        "RuntimeError",
        "MemoryError",
        "OSError",
        "RecursionError",
        "SyntaxError",
    }


ENDINGS = {
    "exit": "import os\nos._exit(0)",
    "kill": "import os\nos.kill(os.getpid(), 9)",
    "abort": "import os\nos.abort()",
    "C stack": "import sys\nsys.setrecursionlimit(10**9)\n"
    "class A:\n    def __getattr__(self, name): return getattr(self, name + '')\nA().x",
    "null pointer": "import ctypes\nctypes.string_at(0)",
    "no pipe": "import os\nos.closerange(0, 64)",
}
ODD = "class E(Exception):\n    def __str__(self): raise SystemExit\nraise E"


@pytest.mark.grader
@pytest.mark.parametrize("code", [*ENDINGS.values(), ODD], ids=[*ENDINGS, "odd exception"])
def test_ending_the_process_in_a_cell_costs_only_this_cell(tmp_path, code):
    result = graded(tmp_path, RIGHT_SOFTMAX, code, RIGHT_ATTENTION, limits=LITTLE)
    assert points(result) == FULL
    assert result.broken_cells == {1: "process"}


@pytest.mark.grader
@pytest.mark.parametrize("code", ENDINGS.values(), ids=ENDINGS)
def test_ending_the_process_in_a_function_costs_only_this_task(tmp_path, code):
    inner = "def softmax(scores):\n" + textwrap.indent(code, "    ")
    result = graded(tmp_path, inner, RIGHT_ATTENTION, limits=LITTLE)
    assert points(result) == (0.0, 5.0)
    assert result.marks[0].status == "stopped"
    assert result.broken_cells == {}


STALLS = {
    "loop": "while True: pass",
    "sleep": "import time\ntime.sleep(10**6)",
    "stop": "import os, signal\nos.kill(os.getpid(), signal.SIGSTOP)",
    "deaf": "import signal\nfor n in range(1, 32):\n    try: signal.signal(n, signal.SIG_IGN)\n"
    "    except OSError: pass\nwhile True: pass",
    "no pipe and loop": "import os\nos.closerange(0, 64)\nwhile True: pass",
    "catch all": "while True:\n    try:\n        while True: pass\n    except BaseException: pass",
    "a power": "9 ** 9 ** 9",
    "a pattern": "import re\nre.match('(a+)+$', 'a' * 99 + 'b')",
    "a pipe nobody writes": "import os\nos.mkfifo('/tmp/p')\nopen('/tmp/p')",
}


@pytest.mark.grader
@pytest.mark.parametrize("code", STALLS.values(), ids=STALLS)
def test_code_that_never_ends_costs_only_its_cell_or_its_task(tmp_path, code):
    short = Limits(step_wall_s=2, step_cpu_s=1)
    cell = graded(tmp_path, RIGHT_SOFTMAX, code, RIGHT_ATTENTION, limits=short)
    assert points(cell) == FULL
    assert cell.broken_cells in ({1: "time"}, {1: "process"})
    inner = "def softmax(scores):\n" + textwrap.indent(code, "    ")
    function = graded(tmp_path, inner, RIGHT_ATTENTION, limits=short)
    assert points(function) == (0.0, 5.0)
    assert function.marks[0].status == "stopped"


@pytest.mark.grader
def test_a_slow_task_leaves_enough_time_for_the_next_one(tmp_path):
    slow = "\nimport time\nquick = softmax\ndef softmax(scores):\n    time.sleep({})\n    return quick(scores)"
    twice = "\nplain = scaled_dot_product_attention\ndef scaled_dot_product_attention(*a):\n    time.sleep(0.2)\n    return plain(*a)"
    cells = (RIGHT_SOFTMAX + slow.format(0.2), RIGHT_ATTENTION + twice)
    assert points(graded(tmp_path, *cells, limits=Limits(step_wall_s=8))) == FULL


@pytest.mark.grader
def test_three_seconds_of_honest_work_are_allowed(tmp_path):
    slow = (
        "\nimport time\nquick = softmax\ndef softmax(scores):\n    end = time.process_time() + 0.125\n"
        "    while time.process_time() < end: pass\n    return quick(scores)"
    )
    assert points(graded(tmp_path, RIGHT_SOFTMAX + slow, RIGHT_ATTENTION)) == FULL


@pytest.mark.grader
def test_a_notebook_of_traps_comes_to_an_end(tmp_path):
    limits, start = Limits(wall_s=5), time.monotonic()
    result = graded(tmp_path, *["import os\nos._exit(1)"] * 999, RIGHT_SOFTMAX, limits=limits)
    assert time.monotonic() - start < 15
    assert points(result) == (0.0, 0.0)
    assert 1 < len(result.broken_cells) < 999


SLEEP, WORK = (
    "time.sleep({})",
    "end = time.process_time() + {}\nwhile time.process_time() < end: pass",
)


@pytest.mark.grader
@pytest.mark.parametrize(
    "cells",
    [[SLEEP.format(10.5)] * 9, [WORK.format(2.5)] * 12, [WORK.format(1)] * 24],
    ids=["nine that sleep 10.5 s", "twelve that work 2.5 s", "twenty-four that work 1 s"],
)
def test_slow_cells_after_an_answer_cost_no_points(tmp_path, cells):
    result = graded(tmp_path, RIGHT_SOFTMAX, RIGHT_ATTENTION, "import time", *cells)
    assert points(result) == FULL
    assert set(result.broken_cells.values()) <= {"time"}


def test_any_number_of_cells_that_exit_after_an_answer_cost_no_points(tmp_path):
    traps, limits = ["import os\nos._exit(1)"] * 99, Limits(wall_s=5)
    honest = (RIGHT_SOFTMAX, RIGHT_ATTENTION)
    assert points(graded(tmp_path, *honest, *traps, limits=limits)) == FULL


@pytest.mark.parametrize("place", ["before", "after"])
def test_cells_that_sleep_for_ever_cost_no_points_and_the_grading_ends(tmp_path, place):
    cells, start = ["import time", *[SLEEP.format(10**6)] * 8], time.monotonic()
    honest = (RIGHT_SOFTMAX, RIGHT_ATTENTION)
    whole = (*cells, *honest) if place == "before" else (*honest, *cells)
    result = graded(tmp_path, *whole, limits=Limits(wall_s=4))
    assert points(result) == FULL
    assert len(result.broken_cells) == 8
    assert time.monotonic() - start < 12


def test_endless_loops_before_an_answer_or_in_its_cell_cost_no_points(tmp_path):
    quick, endless = Limits(step_cpu_s=0.3), "\nwhile True: pass"
    result = graded(tmp_path, endless, RIGHT_SOFTMAX + endless, RIGHT_ATTENTION, limits=quick)
    assert points(result) == FULL
    assert result.broken_cells == {0: "time", 1: "time"}


AFTERWARDS = {
    "a name lost": "np = None",
    "a helper lost": "del own_softmax",
    "the function lost": "del softmax, scaled_dot_product_attention",
    "the function as a variable": "softmax = softmax(np.ones(3))",
    "a package that is not there": "from scipy.special import softmax",
    "the end of the process": "import os\nos._exit(0)",
    "too much output": "import os\nfor fd in range(3, 9):\n    try:\n        while True: os.write(fd, b'0' * 2**16)\n"
    "    except OSError: pass",
}


@pytest.mark.parametrize("code", AFTERWARDS.values(), ids=AFTERWARDS)
def test_no_code_after_an_answer_costs_its_points(tmp_path, code):
    assert points(graded(tmp_path, RIGHT_SOFTMAX, RIGHT_ATTENTION, code)) == FULL


def test_the_mistake_of_a_deleted_wrong_answer_is_still_named(tmp_path):
    lost = graded(tmp_path, WRONG_SOFTMAX, RIGHT_ATTENTION, "del softmax")
    assert lost.marks == graded(tmp_path, WRONG_SOFTMAX, RIGHT_ATTENTION).marks
    assert lost.marks[0].status == "wrong"


def test_a_helper_function_may_be_defined_after_the_answer(tmp_path):
    calls = "def softmax(scores): return helper(scores)"
    helper = RIGHT_SOFTMAX.replace("softmax", "helper")
    assert points(graded(tmp_path, calls, RIGHT_ATTENTION, helper)) == FULL


def test_the_last_of_two_answers_counts(tmp_path):
    wrong_again = graded(tmp_path, RIGHT_SOFTMAX, RIGHT_ATTENTION, WRONG_SOFTMAX)
    assert points(wrong_again) == (0.0, 5.0)
    assert points(graded(tmp_path, WRONG_SOFTMAX, RIGHT_ATTENTION, RIGHT_SOFTMAX)) == FULL


@pytest.mark.grader
def test_a_gigabyte_of_output_on_every_descriptor(tmp_path):
    flood = (
        "import os\nfor fd in range(64):\n    try:\n"
        "        for _ in range(1000): os.write(fd, b'0' * 2**20)\n    except OSError: pass"
    )
    process = psutil.Process()
    before = process.memory_info().rss
    result = graded(tmp_path, RIGHT_SOFTMAX, flood, RIGHT_ATTENTION)
    assert points(result) == FULL
    assert result.broken_cells[1] in ("output", "process")
    assert process.memory_info().rss - before < 300 * 2**20


@pytest.mark.grader
@pytest.mark.parametrize("text", ["[],", "{},", '"",', "1e9,"])
def test_the_memory_of_parsed_json_is_bounded(tmp_path, text):
    # A few bytes of JSON unfold into a large object; the test sends as many bytes as are allowed.
    bomb = (
        f"text = '[{{\"a\": [' + {text!r} * 10**6 + '0]}}, []]'\n"
        "for fd in range(3, 64):\n    try:\n        while True:\n"
        "            data = struct.pack('>II', len(text), 0) + text.encode()\n"
        "            while data: data = data[os.write(fd, data):]\n    except OSError: pass"
    )
    process = psutil.Process()
    before = process.memory_info().rss
    result = graded(tmp_path, RIGHT_SOFTMAX, textwrap.dedent(FORGE), bomb, RIGHT_ATTENTION)
    assert points(result) == FULL
    assert process.memory_info().rss - before < 400 * 2**20


@pytest.mark.grader
def test_a_large_answer_costs_only_its_task(tmp_path):
    large = "import numpy as np\ndef softmax(scores): return np.zeros(2**22)"
    result = cheat(tmp_path, large)
    assert points(result) == (0.0, 5.0)


@pytest.mark.grader
def test_answers_that_are_no_numeric_arrays_earn_no_points(tmp_path):
    kinds = (
        "np.array([object()])",
        "np.array(['1'])",
        "np.zeros(3, 'datetime64[s]')",
        "np.zeros(3, [('a', object)])",
        "np.zeros(3, complex)",
        "np.full(scores.shape, np.nan)",
        "np.zeros(())",
        "np.zeros((0, 3))",
        "np.ma.masked_array(scores, True)",
        "np.matrix(scores.reshape(scores.shape[0], -1))",
        "open",
        "lambda: 0",
        "{'weights': scores}",
        "(n for n in scores)",
        "b'weights'",
    )
    for kind in kinds:
        code = f"import numpy as np\ndef softmax(scores): return {kind}"
        result = cheat(tmp_path, code)
        assert points(result) == (0.0, 5.0), kind


def test_a_pickled_answer_is_never_loaded(tmp_path):
    code = """
        import numpy as np, os
        class Harm:
            def __reduce__(self): return (os._exit, (1,))
        def softmax(scores): return np.array([Harm()] * 3, dtype=object)
    """
    result = cheat(tmp_path, code)
    assert points(result) == (0.0, 5.0)
    assert result.marks[0].status == "wrong"


@pytest.mark.grader
@pytest.mark.parametrize("unsafe", [False, True], ids=["walls", "unsafe"])
def test_the_same_notebook_gets_the_same_marks(tmp_path, unsafe):
    cells = ("import random\nnames = {str(n) for n in range(50)}", RIGHT_SOFTMAX, RIGHT_ATTENTION)
    first, *others = (graded(tmp_path, *cells, unsafe=unsafe) for _ in range(3))
    assert others == [first, first]


def test_files_of_a_submission_are_removed_before_the_next(tmp_path):
    answer("open('/tmp/note', 'w').write('the answers')")
    outcome, _ = answer("open('/tmp/note')")
    assert errors(outcome)[0]["type"] == "FileNotFoundError"


def test_the_json_file_of_a_job_has_only_the_required_entries():
    seen = look("sorted(__import__('json').load(open('/job/job.json')))")
    assert list(seen.values()) == [
        str(["cells", "clock", "limits", "packages", "sealed", "stand_ins", "tasks"])
    ]
    assert json.loads("[]") == list(np.zeros(0))
