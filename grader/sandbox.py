"""Run a submission where it can do no harm, and bring back what it computed.

bubblewrap gives the submission a system of its own: no network, no other processes, nothing to read
but Python and the packages of the set, nothing to write but a small folder in memory. Inside, a
filter of system calls restricts it to one process with one thread, so that the kernel's limits on a
process bound everything; from outside, only the time and the output are watched.
"""

import contextlib
import importlib.util
import inspect
import json
import marshal
import os
import select
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from grader import checks as own_checks
from grader import nobody, syscalls
from grader.wire import asks_for_inputs, claimed_end, end_of_frames, read_frames

HERE = Path(__file__).resolve().parent
START_S = 30  # seconds until the first frame, which do not count as the student's
GRACE_S = 2


class NoSandbox(RuntimeError):
    """There is no sandbox on this machine; the message says why."""


@dataclass(frozen=True)
class Limits:
    """The limits of one run.

    Attributes
    ----------
    step_wall_s, step_cpu_s : float
        Seconds on the clock, and of a processor, for each cell, and for each function on all
        its inputs. A busy machine must not cost marks, so the first is by far the longer; but a
        step gets no more than a quarter of what is left of the whole, so that whatever comes
        after it has time as well.
    wall_s, cpu_s : float
        For the whole.
    memory_bytes : int
        Address space.
    file_bytes : int
        All the files that are written.
    output_bytes : int
        What may come out.
    """

    step_wall_s: float = 15
    step_cpu_s: float = 5
    wall_s: float = 60
    cpu_s: int = 60
    memory_bytes: int = 2**30
    file_bytes: int = 32 * 2**20
    output_bytes: int = 16 * 2**20


@dataclass(frozen=True)
class Outcome:
    """The outcome of one run.

    Attributes
    ----------
    frames : list of (dict, dict of str to ndarray)
        The frames that `grader.wire.read_frames` found.
    stopped : str or None
        The limit that ended it: "time" or "output"; None if none did. One on memory raises
        an exception inside.
    """

    frames: list = field(default_factory=list)
    stopped: str | None = None


def available():
    """Raise `NoSandbox`, with the reason, unless a submission can be run here."""
    run([], [], {})


def run(
    cells,
    tasks,
    inputs,
    *,
    checks=own_checks,
    packages=("numpy",),
    stand_ins=(),
    limits=None,
    unsafe=False,
):
    """Execute a student's cells, call the functions that they define, and return the answers.

    Parameters
    ----------
    cells : list of (int, str)
        Code cells in order, each with its number in the notebook.
    tasks : list of dict
        Each with ``id``, ``function`` (its name) and ``outputs`` (their names).
    inputs : dict of str to list of dict of str to ndarray
        The arguments of each call, by task. They go in when all cells have run.
    checks : module, default grader.checks
        The module whose ``run`` calls the functions. The file that defines ``run`` is copied in.
    packages : tuple of str, default ("numpy",)
        What the student may import besides the standard library.
    stand_ins : tuple of str, default ()
        Packages that can be imported and do nothing, besides those that show things.
    limits : Limits, optional
    unsafe : bool, default False
        Run without walls: same limits, but files can be read and written.

    Returns
    -------
    Outcome

    Raises
    ------
    NoSandbox
        If the run did not get as far as the student's code.
    """
    limits = limits or Limits()
    if not unsafe:
        _refuse_without_bubblewrap()
    with job_folder() as job:
        _furnish(job, HERE / "inside.py", HERE / "standins.py")
        shutil.copy(inspect.getfile(checks.run), job / "checks.py")
        _lend_ipython(job)
        text = json.dumps(
            {
                "cells": cells,
                "tasks": tasks,
                "packages": packages,
                "stand_ins": stand_ins,
                "limits": _of_process(limits),
                "clock": [limits.step_wall_s, limits.step_cpu_s, limits.wall_s],
                "sealed": not unsafe or syscalls.is_known(),
            }
        )
        (job / "job.json").write_text(text, encoding="utf-8")
        if unsafe:
            (job / "packages").mkdir()
            for folder in _folders(packages):
                (job / "packages" / folder.name).symlink_to(folder)
            (job / "tmp").mkdir()
            command = [sys.executable, *_script(job, job / "packages")]
            return _watch(command, job / "tmp", limits, _packed(inputs))
        command = [*_walls(limits, job, packages), *_script("/job", "/packages")]
        return _watch(command, job, limits, _packed(inputs))


@contextlib.contextmanager
def job_folder():
    """Give a folder for one run; it is removed even if a signal comes during the removal."""
    folder = tempfile.TemporaryDirectory(prefix="grader-job-")
    try:
        yield Path(folder.name)
    finally:
        try:
            folder.cleanup()
        except KeyboardInterrupt:
            folder.cleanup()
            raise


def run_script(script, job, limits, package):
    """Run a program of a course on files of a student: data only, and behind the same walls.

    Parameters
    ----------
    script : Path
        The program. It is started like the program of `run`, with every package installed here and, in ``/course``, one of
        the course's own. It sets the limits that ``job.json`` holds on itself, forbids itself the
        rest, and writes frames.
    job : Path
        A folder with what it may read; the script and the sandbox's own program are added.
    limits : Limits
    package : Path
        The folder of that package.

    Returns
    -------
    Outcome

    Raises
    ------
    NoSandbox
        If the run did not get as far as its first frame.
    """
    _refuse_without_bubblewrap()
    _furnish(job, script)
    (job / "job.json").write_text(json.dumps({"limits": _of_process(limits)}), encoding="utf-8")
    shared = ((_site(), "/packages"), (package, f"/course/{package.name}"))
    return _watch([*_walls(limits, job, (), shared), *_script("/job", "/packages")], job, limits)


def _furnish(job, script, *more):
    """Copy into a job the program that runs there, and the files that it uses."""
    shutil.copy(script, job / "inside.py")
    for source in (*more, HERE / "syscalls.py", HERE / "wire.py"):
        shutil.copy(source, job)
    (job / "empty").mkdir()


def _lend_ipython(job):
    """Copy into a job the two files of IPython that translate a cell with magics to Python.

    They need no other file of IPython, and none of the packages that IPython needs.
    """
    found = importlib.util.find_spec("IPython")
    if found is None:
        return
    for name in ("core/inputtransformer2.py", "utils/tokenutil.py"):
        place = job / "IPython" / name
        place.parent.mkdir(parents=True)
        shutil.copy(Path(found.origin).parent / name, place)


def _refuse_without_bubblewrap():
    if sys.platform != "linux":
        raise NoSandbox(f"bubblewrap needs Linux, and this is {sys.platform}")
    if shutil.which("bwrap") is None:
        raise NoSandbox("bubblewrap is not installed (Debian and Ubuntu: apt install bubblewrap)")


def _of_process(limits):
    """Return the limits that a process sets on itself, by the system's names for them."""
    return {
        "AS": (limits.memory_bytes, limits.memory_bytes),
        # The soft limit sends SIGXCPU, which can be reported; the hard limit kills.
        "CPU": (limits.cpu_s, limits.cpu_s + 1),
        "FSIZE": (limits.file_bytes, limits.file_bytes),
        "NOFILE": (64, 64),
        "CORE": (0, 0),
    }


_ENVIRONMENT = {
    "HOME": "/tmp",
    "LANG": "C.UTF-8",
    "LD_LIBRARY_PATH": "/python/lib",
    "OMP_NUM_THREADS": "1",
    "OPENBLAS_NUM_THREADS": "1",
    "PYTHONHASHSEED": "0",
}


_OPTIONS = ("-S", "-s", "-B")  # Python imports no site packages, and writes no bytecode.


def _script(job, packages):
    return [*_OPTIONS, f"{job}/inside.py", str(job), str(packages)]


def _site():
    return Path(np.__file__).parents[1]


def _folders(packages):
    """Return where packages are installed, each with the libraries that came with it."""
    folders = [_site() / name for package in packages for name in (package, f"{package}.libs")]
    return [folder for folder in folders if folder.exists()]


def _walls(limits, job, packages, shared=()):
    """Return bubblewrap's command, up to the script that Python runs.

    There is no /proc, since it shows paths of this machine.
    """
    base, version = Path(sys.base_prefix), f"python3.{sys.version_info.minor}"
    first = (HERE / "nobody.py").read_text(encoding="utf-8")
    python = [f"/python/bin/{version}", *_OPTIONS, "-c", first]
    arguments = [shutil.which("bwrap"), "--unshare-ipc", "--unshare-pid", "--unshare-net"]
    arguments += ["--unshare-uts", "--unshare-cgroup-try", "--die-with-parent", "--new-session"]
    arguments += ["--cap-drop", "ALL", "--cap-add", "CAP_SYS_ADMIN"]
    arguments += ["--hostname", "sandbox", "--clearenv"]
    if os.geteuid() == 0:
        arguments += ["--cap-add", "CAP_SETUID", "--cap-add", "CAP_SETGID"]
        try:
            for path in (job, *job.rglob("*")):
                os.chown(path, nobody.NOBODY, nobody.NOBODY, follow_symlinks=False)
        except OSError as error:
            reason = f"root cannot become an unprivileged user here: {error.strerror}"
            raise NoSandbox(reason) from None
    else:
        user = str(nobody.NOBODY)
        arguments += ["--unshare-user", "--uid", user, "--gid", user]
    for name, value in _ENVIRONMENT.items():
        arguments += ["--setenv", name, value]
    # Folders that bubblewrap makes by itself, above what it binds, can be read by their owner alone.
    for folder in ("/dev", "/etc", "/usr", "/python", "/python/bin", "/packages"):
        arguments += ["--dir", folder]
    for device in ("/dev/null", "/dev/urandom"):
        arguments += ["--dev-bind", device, device]
    arguments += ["--perms", "1777", "--size", str(limits.file_bytes), "--tmpfs", "/tmp"]
    arguments += ["--chdir", "/tmp"]

    libraries = {"/etc/ld.so.cache": "/etc/ld.so.cache"}
    for name in ("lib", "lib64"):
        libraries |= {f"/{name}": f"/{name}", f"/usr/{name}": f"/usr/{name}"}
        libraries[str(base / name)] = f"/python/{name}"
    for source, place in libraries.items():
        if os.path.islink(source):
            arguments += ["--symlink", os.readlink(source), place]
        elif os.path.exists(source):
            arguments += ["--ro-bind", source, place]
            # The packages installed on this machine stay outside, since the course may be one of
            # them.
            for installed in sorted(Path(source).glob("python*/*-packages")):
                hidden = f"{place}/{installed.relative_to(source)}"
                arguments += ["--ro-bind", str(job / "empty"), hidden]
    arguments += ["--ro-bind", str(base / "bin" / version), python[0]]
    for folder in _folders(packages):
        arguments += ["--ro-bind", str(folder), f"/packages/{folder.name}"]
    for source, place in shared:
        arguments += ["--dir", os.path.dirname(place), "--ro-bind", str(source), place]
    arguments += ["--ro-bind", str(job), "/job", "--remount-ro", "/"]
    return [*arguments, "--", *python]


def _packed(inputs):
    """Return inputs as `grader.inside.receive` reads them."""
    return marshal.dumps(
        {
            task: [[(k, a.dtype.str, a.shape, a.tobytes()) for k, a in c.items()] for c in cases]
            for task, cases in inputs.items()
        }
    )


def _watch(command, folder, limits, inputs=b""):
    """Start the process; end it with all its children when it has written all or too much."""
    with (
        tempfile.TemporaryFile() as said,
        subprocess.Popen(
            command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=said,
            cwd=folder,
            env=_ENVIRONMENT,
            start_new_session=True,
        ) as process,
    ):
        try:
            data, stopped = _read(process, limits, memoryview(inputs))
        finally:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
        # bubblewrap dies with all that it started. The pipe ends when the last process is gone.
        _read(process, limits)
        said.seek(0)
        reason = said.read(2000).decode(errors="replace").strip().rpartition("\n")[2]
    frames = read_frames(data)
    if not frames:
        raise NoSandbox(f"nothing can be run here: {reason or 'it does not start'}")
    return Outcome(frames, stopped)


def _read(process, limits, inputs=b""):
    """Return the output of the process, and the limit it exceeded; send the inputs if it asks."""
    data, whole = bytearray(), 0
    end = step_ends = time.monotonic() + START_S
    poll = select.poll()
    poll.register(process.stdout, select.POLLIN)
    out, into, is_asked = process.stdout.fileno(), None, False
    while len(data) <= limits.output_bytes:
        left = min(end, step_ends) - time.monotonic()
        ready = dict(poll.poll(1000 * left) if left > 0 else ())
        if not ready:
            return bytes(data), "time"
        if into in ready:
            inputs = _sent(process, inputs)
            if not inputs:
                poll.unregister(into)
                process.stdin.close()
        if out not in ready:
            continue
        chunk = os.read(out, 2**16)
        if not chunk:
            return bytes(data), _why(process)
        data += chunk
        before, whole = whole, end_of_frames(data, whole)
        if claimed_end(data, whole) - whole > limits.output_bytes:
            return bytes(data), "output"  # This frame is too large to be read to its end.
        if whole > before:
            # Each step begins and ends with a frame. The clock inside ends a step earlier, unless
            # the student has stopped it.
            step_ends = time.monotonic() + limits.step_wall_s + GRACE_S
            if before == 0:
                end = time.monotonic() + limits.wall_s
            if inputs and not is_asked and asks_for_inputs(data, before, whole):
                into, is_asked = process.stdin.fileno(), True
                os.set_blocking(into, False)
                poll.register(into, select.POLLOUT)
    return bytes(data), "output"


def _sent(process, inputs):
    """Send some of the inputs; return the rest."""
    try:
        return inputs[os.write(process.stdin.fileno(), inputs[: 2**16]) :]
    except BlockingIOError:
        return inputs
    except BrokenPipeError:
        return b""  # The process has closed its end.


def _why(process):
    """Return "time" if the process met its limit of processor time; it has closed its output."""
    with contextlib.suppress(subprocess.TimeoutExpired):
        code = process.wait(timeout=1)
        # bubblewrap adds 128 to the signal.
        return "time" if code in (-signal.SIGXCPU, 128 + signal.SIGXCPU) else None
    return None
