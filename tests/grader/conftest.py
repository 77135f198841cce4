"""A released course, ways to hand in, and a PostgreSQL server of our own."""

import os
import re
import shutil
import subprocess
import tempfile

import pytest

from tests.test_site.conftest import browser  # noqa: F401 - a fixture

# pytest reads this file before it looks for tests anywhere, so nbgrader and nbformat, which take
# seconds to import, are imported by the fixtures that need them.

SET = "ps2"


@pytest.fixture(scope="session")
def pristine(tmp_path_factory):
    """A course just released, shared by all tests: none may write into it."""
    from assignments.release import release

    folder = tmp_path_factory.mktemp("pristine")
    release(folder, [SET])
    return folder


@pytest.fixture
def course(pristine, tmp_path, monkeypatch):
    """A copy of the released course, which a test may write into."""
    from grader.course import Course

    monkeypatch.delenv("ATTN_GRADEBOOK", raising=False)
    folder = tmp_path / "course"
    shutil.copytree(pristine, folder)
    return Course(folder)


@pytest.fixture
def hand_in(course):
    """Write a submission; return the path of its notebook.

    ``answers`` says what stands in answer cells, by grade id, in place of the model answer;
    ``step="release"`` starts from the set as given out.
    """
    import nbformat

    def hand_in(student, answers=(), language="es", when="2026-03-05 18:30:00", step="source"):
        notebook = nbformat.read(course.path(language, step, ".", SET), as_version=4)
        for cell in notebook.cells:
            cell.source = re.sub(r"(?m)^ *### (BEGIN|END) SOLUTION\n?", "", cell.source)
            grade_id = cell.metadata.get("nbgrader", {}).get("grade_id")
            cell.source = dict(answers).get(grade_id, cell.source)
        path = course.path(language, "submitted", student, SET)
        path.parent.mkdir(parents=True, exist_ok=True)
        nbformat.write(notebook, path)
        if when:
            (path.parent / "timestamp.txt").write_text(f"{when}.000000 UTC")
        return path

    return hand_in


@pytest.fixture(scope="session")
def postgresql(needed):
    """The URL of an empty database on a real server, started for these tests."""
    programs = needed("postgresql")
    # Not pytest's own folder: the path of a socket must be short.
    with tempfile.TemporaryDirectory(prefix="attn-") as folder:
        as_user = []
        if os.geteuid() == 0:
            # The server refuses to run as root.
            as_user = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"]
            os.chown(folder, 65534, 65534)

        def run(program, *arguments):
            command = [*as_user, programs / program, "-D", f"{folder}/data", *arguments]
            with open(f"{folder}/log", "a") as log:
                subprocess.run(command, check=True, stdout=log, stderr=log, cwd="/", timeout=120)

        run("initdb", "-U", "attn", "-A", "trust", "--no-sync")
        options = f"-c listen_addresses='' -c unix_socket_directories={folder} -c fsync=off"
        run("pg_ctl", "-o", options, "-l", f"{folder}/server.log", "-w", "start")
        yield f"postgresql+psycopg://attn@/postgres?host={folder}"
        run("pg_ctl", "-m", "immediate", "-w", "stop")
