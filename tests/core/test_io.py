"""attn.io: a file is always the old or the new one, and a lock admits one process at a time."""

import errno
import os
import resource
import signal
import stat
import subprocess
import sys
import time

import pytest
import torch

from attn.io import files, locked, locks, whole_file, write_whole
from attn.io.locks import beside


def refuses(path, reason, name="path"):
    message = f"{name}: expected a place that can be written, got {path}: {reason}"
    return pytest.raises(ValueError, check=lambda error: str(error) == message)


def fail_with(error):
    def fail(*_):
        raise error

    return fail


FULL = OSError(errno.ENOSPC, "No space left on device")


@pytest.mark.parametrize("event", ["write", "fsync", "replace"])
@pytest.mark.parametrize("is_new", [True, False])
def test_a_full_disk_leaves_the_old_file_and_nothing_else(event, is_new, tmp_path, monkeypatch):
    path = tmp_path / "a"
    if not is_new:
        path.write_text("old")
    monkeypatch.setattr(
        *((files._Scratch, "write") if event == "write" else (os, event)), fail_with(FULL)
    )
    with refuses(path, "No space left on device"):
        write_whole(path, "new" * 10_000)
    assert os.listdir(tmp_path) == ([] if is_new else ["a"])
    assert is_new or path.read_text() == "old"


def test_a_file_is_synced_to_disk_before_it_replaces_the_old_one(tmp_path, monkeypatch):
    """Otherwise a power cut could leave an empty file under the final name."""
    path, events, replace = tmp_path / "a", [], os.replace

    def fsync(descriptor):
        (unfinished,) = tmp_path.glob(".a.*.part")
        events.append(unfinished.read_text())

    monkeypatch.setattr(os, "fsync", fsync)
    monkeypatch.setattr(
        os, "replace", lambda old, new: events.append(str(new)) or replace(old, new)
    )
    write_whole(path, "new")
    assert events == ["new", str(path)]


def test_the_error_of_the_system_is_reported_even_if_the_writer_hides_it(tmp_path):
    """PyTorch raises a RuntimeError of its own when it closes its archive on a full disk."""
    path, limits = tmp_path / "a", resource.getrlimit(resource.RLIMIT_FSIZE)
    path.write_text("old")
    resource.setrlimit(resource.RLIMIT_FSIZE, (10_000, limits[1]))
    try:
        with refuses(path, "File too large", "mine"), whole_file(path, "mine") as file:
            torch.save(torch.ones(10_000), file)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
    assert os.listdir(tmp_path) == ["a"] and path.read_text() == "old"


def test_partial_writes_are_continued(tmp_path, monkeypatch):
    write = files._Scratch.write
    monkeypatch.setattr(files._Scratch, "write", lambda self, data: write(self, bytes(data[:7])))
    content = bytes(range(256)) * 100
    write_whole(tmp_path / "a", content)
    assert (tmp_path / "a").read_bytes() == content


@pytest.mark.parametrize("error", [KeyboardInterrupt(), RuntimeError("mine"), ValueError("mine")])
def test_an_error_of_the_writer_is_raised_and_leaves_no_file(error, tmp_path):
    with pytest.raises(type(error)) as caught, whole_file(tmp_path / "a") as file:
        file.write(b"half")
        raise error
    assert caught.value is error and not os.listdir(tmp_path)


def test_the_mode_is_kept_and_the_target_of_a_link_is_replaced(tmp_path):
    (tmp_path / "a").write_text("old")
    (tmp_path / "a").chmod(0o600)
    (tmp_path / "b").symlink_to("a")
    (tmp_path / "link").symlink_to("b")
    (tmp_path / "nowhere").symlink_to("c")
    for name in ("link", "nowhere"):
        write_whole(tmp_path / name, "ñ")
    assert (tmp_path / "a").read_bytes() == (tmp_path / "c").read_bytes() == "ñ".encode()
    assert stat.S_IMODE((tmp_path / "a").stat().st_mode) == 0o600
    mask = os.umask(0)
    os.umask(mask)
    assert stat.S_IMODE((tmp_path / "c").stat().st_mode) == 0o666 & ~mask
    assert [os.readlink(tmp_path / name) for name in ("b", "link", "nowhere")] == ["a", "b", "c"]
    assert len(os.listdir(tmp_path)) == 5


@pytest.mark.parametrize(
    "name, reason",
    [
        ("folder", "Is a directory"),
        ("no/a", "No such file or directory"),
        ("file/a", "Not a directory"),
        ("x" * 256, "File name too long"),
        ("loop", "Too many levels of symbolic links"),
        ("fifo", "no regular file"),
    ],
)
def test_an_invalid_path_raises_a_readable_error(name, reason, tmp_path):
    (tmp_path / "folder").mkdir()
    (tmp_path / "file").write_text("")
    (tmp_path / "loop").symlink_to("loop")
    os.mkfifo(tmp_path / "fifo")
    before = sorted(os.listdir(tmp_path))
    with refuses(tmp_path / name, reason):
        write_whole(tmp_path / name, "")
    for none in (None, b"a", "a\0b"):
        with pytest.raises(ValueError, match="^path: expected a place that can be written, got "):
            write_whole(none, "")
    assert sorted(os.listdir(tmp_path)) == before


def test_a_name_may_have_the_greatest_length_of_the_file_system(tmp_path):
    for name in ("x" * 255, "ñ" * 127):
        for content in ("old", "new"):
            with locked(tmp_path / name):
                write_whole(tmp_path / name, content)
        assert (tmp_path / name).read_text() == "new"
    assert len(os.listdir(tmp_path)) == 2


def forked(function):
    """Run a function in a child process; return its exit code."""
    if pid := os.fork():
        return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
    function()
    os._exit(0)


def die(*_):
    os.kill(os.getpid(), signal.SIGKILL)


def test_a_write_removes_files_left_by_a_kill_and_none_in_progress(tmp_path):
    path = tmp_path / "a"

    def killed():
        with whole_file(path) as file:
            file.write(b"half")
            file.flush()
            die()

    (tmp_path / ".a.notes.part").write_text("of a user")
    for _ in range(2):
        assert forked(killed) == -signal.SIGKILL
        assert len(os.listdir(tmp_path)) == 2
    with whole_file(path) as first:
        first.write(b"first")
        assert forked(lambda: write_whole(path, "second")) == 0
        assert path.read_text() == "second"
    assert path.read_text() == "first"
    assert sorted(os.listdir(tmp_path)) == [".a.notes.part", "a"]


def test_the_lock_of_a_killed_process_is_free_even_if_its_child_lives(tmp_path):
    reader, writer = os.pipe()

    def holder():
        with locked(tmp_path / "a"):
            if os.fork() == 0:
                os.write(writer, b"%d" % os.getpid())
                time.sleep(100)
            time.sleep(0.1)
            die()

    assert forked(holder) == -signal.SIGKILL
    child = int(os.read(reader, 20))
    try:
        with locked(tmp_path / "a"):
            assert os.listdir(tmp_path) == [".a.lock"]
    finally:
        os.kill(child, signal.SIGKILL)
        os.close(reader)
        os.close(writer)
    assert not os.listdir(tmp_path)


def test_a_child_that_leaves_the_block_does_not_release_its_parents_lock(tmp_path):
    turn = locked(tmp_path / "a")

    def leave():
        turn.__exit__(None, None, None)
        os._exit(os.listdir(tmp_path) != [".a.lock"])

    with turn:
        assert forked(leave) == 0
        holder = f"which process {os.getpid()} is using$"
        with pytest.raises(ValueError, match=holder), locked(tmp_path / "a"):
            pass
    assert not os.listdir(tmp_path)


def test_a_lock_is_taken_again_if_its_file_was_just_removed(tmp_path, monkeypatch):
    left = iter([tmp_path / ".a.lock"])

    def late(descriptor, original=locks.try_lock):
        for place in left:
            place.unlink()
        return original(descriptor)

    monkeypatch.setattr(locks, "try_lock", late)
    with locked(tmp_path / "a"):
        assert os.listdir(tmp_path) == [".a.lock"]


COUNT = """
import sys
from pathlib import Path
from attn.io import locked
path = Path(sys.argv[1])
for _ in range(100):
    with locked(path, wait=True):
        path.write_text(str(int(path.read_text()) + 1))
"""


@pytest.mark.slow
def test_a_waiting_process_names_the_holder_and_only_one_works_at_a_time(tmp_path, capfd):
    path = tmp_path / "count"
    path.write_text("0")
    with locked(path):
        workers = [subprocess.Popen([sys.executable, "-c", COUNT, path]) for _ in range(3)]
        time.sleep(1.5)
        assert path.read_text() == "0"
    assert [worker.wait(timeout=60) for worker in workers] == [0, 0, 0]
    assert path.read_text() == "300" and os.listdir(tmp_path) == ["count"]
    assert (
        f"{path}: waiting for process {os.getpid()}, which is using it\n" in capfd.readouterr().err
    )


def test_a_file_system_without_locks_does_not_prevent_writing(tmp_path, monkeypatch):
    monkeypatch.setattr("fcntl.flock", fail_with(OSError(errno.ENOLCK, "No locks available")))
    with locked(tmp_path / "a"):
        write_whole(tmp_path / "a", "new")
    assert os.listdir(tmp_path) == ["a"]


def test_a_lock_in_a_missing_folder_is_refused(tmp_path):
    path = tmp_path / "no" / "a"
    with refuses(path, "No such file or directory", "run"), locked(path, "run"):
        pass
    assert beside(path, ".lock") == tmp_path / "no" / ".a.lock"


def test_many_processes_may_write_one_file(tmp_path):
    """Each process removes files left by killed ones, and none that another is about to rename."""
    path = tmp_path / "file"
    code = (
        "import sys; from attn.io import write_whole\n"
        "for n in range(200): write_whole(sys.argv[1], sys.argv[2] * 1000)"
    )
    run = [[sys.executable, "-c", code, str(path), str(n)] for n in range(3)]
    processes = [subprocess.Popen(one, stderr=subprocess.PIPE, text=True) for one in run]
    assert [process.communicate()[1] for process in processes] == ["", "", ""]
    assert path.read_text() in {str(n) * 1000 for n in range(3)}
    assert [one.name for one in tmp_path.iterdir()] == ["file"]
