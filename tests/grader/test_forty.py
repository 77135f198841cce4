"""A simulated class of forty with all kinds of submissions, from release to returned feedback."""

import csv
import io
import json
import os
import re
import time
import unicodedata
import zipfile

import pytest

from grader.__main__ import main

FULL = 85  # the most points that the tests of ps2 give
FRIDAY = time.mktime((2026, 3, 6, 18, 30, 0, 0, 0, -1))
SETUP, HELPER, LAST = "setup", "softmax-with-temperature-answer", "mended-self-attention-answer"


class Student:
    """Makes what one student hands in."""

    def __init__(self, course, box):
        self.course, self.box = course, box

    def notebook(self, language="es", step="source"):
        """Return the set, answered or as it was handed out."""
        path = self.course.path(language, step, ".", "ps2")
        found = json.loads(path.read_text(encoding="utf-8"))
        for cell in found["cells"]:
            source = "".join(cell["source"])
            cell["source"] = re.sub(r"(?m)^ *### (BEGIN|END) SOLUTION\n?", "", source)
        return found

    def put(self, path, content, language="es"):
        """Write a notebook or bytes to a file."""
        content = self.notebook(language) if content is None else content
        data = content if isinstance(content, bytes) else json.dumps(content).encode()
        path = self.box / path
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)
        os.utime(path, (FRIDAY, FRIDAY))

    def changed(self, name, change, language="es"):
        """Return the answered set with the source of one cell changed."""
        found = self.notebook(language)
        cell = cell_of(found, name)
        cell["source"] = change(cell["source"])
        return found


def cell_of(notebook, name):
    """Return a cell by its grade id."""
    return next(c for c in notebook["cells"] if name_of(c) == name)


def name_of(cell):
    return cell["metadata"].get("nbgrader", {}).get("grade_id")


def packed(*members):
    """Return the bytes of a zip of (name, notebook)."""
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as archive:
        for name, content in members:
            archive.writestr(name, content if isinstance(content, bytes) else json.dumps(content))
    return file.getvalue()


def bare(notebook):
    """Return the bytes of a notebook from a program that drops metadata."""
    for cell in notebook["cells"]:
        cell["metadata"] = {}
    return notebook | {"metadata": {}}


def before(text):
    """Return a change that writes a text above the source of a cell."""
    return lambda source: f"{text}\n{source}"


def below(text):
    """Return a change that writes a text below the source of a cell."""
    return lambda source: f"{source}\n{text}\n"


# These edits leave right answers all their points: the cell, the edit, and what the line of the
# student names.
AROUND = {
    "torch": (SETUP, before("import torch"), "ModuleNotFoundError (torch)"),
    "pandas": (HELPER, before("import pandas as pd, numpy as np"), "ModuleNotFoundError (pandas)"),
    "colab": (
        SETUP,
        before(
            "from google.colab import drive\ndrive.mount('/content')\n%cd /content\nimport os\n"
            "os.chdir('/content')"
        ),
        "ModuleNotFoundError (google), NameError, FileNotFoundError",
    ),
    "star": (SETUP, before("from torch.nn import *\nfrom math import *"), "(torch)"),
    "magic": (SETUP, before("%matplotlib inline\n!pip install einops\n%load_ext autoreload"), ""),
    "plot": (HELPER, below("import matplotlib.pyplot as plt\nplt.plot([1, 2])\nplt.show()"), ""),
    "input": (HELPER, before("name = input('Your name: ')"), "EOFError"),
    "tested": (LAST, below("assert mended_self_attention(1, 2) == 3"), "TypeError"),
    "drawn": (HELPER, before("from numba import njit\n@njit"), "ModuleNotFoundError (numba)"),
    "prose": (HELPER, below("this is my answer, I hope that it is right"), "SyntaxError"),
    "conflict": (HELPER, below("<<<<<<< HEAD\n=======\n>>>>>>> theirs"), "SyntaxError"),
    "endless": (HELPER, below("while True:\n    pass"), "time"),
    "leaves": (HELPER, below("import os\nos._exit(0)"), "process"),
}


def hand_in(one):
    """Hand in for the whole class; return points by student, and sentences on those left out."""
    points, left_out = {}, {}
    for student, (name, change, _) in AROUND.items():
        one.put(f"{student}/ps2.ipynb", one.changed(name, change))
        points[student] = FULL

    def right(student, *files):
        points[student] = FULL
        for name, content in files:
            one.put(f"{student}/{name}", content)

    def refused(student, sentence, *files):
        left_out[student] = sentence
        for name, content in files:
            one.put(f"{student}/{name}", content)

    untouched, answered = one.notebook(step="release"), one.notebook()
    lost = one.notebook()
    lost["cells"] = [cell for cell in lost["cells"] if name_of(cell) != SETUP]
    as_text = one.notebook()
    cell_of(as_text, HELPER)["cell_type"] = "markdown"
    other = one.changed(HELPER, below("# another attempt"))
    windows = one.notebook(step="release")  # its report is unchanged
    for cell in windows["cells"]:
        if (name_of(cell) or "").endswith("-answer"):
            cell["source"] = cell_of(answered, name_of(cell))["source"]
        cell["source"] = cell["source"].replace("\n", "  \r\n")

    right("plain", ("ps2.ipynb", answered))
    right("lost", ("ps2.ipynb", lost))
    right("astext", ("ps2.ipynb", as_text))
    right("stripped", ("ps2.ipynb", bare(one.notebook())))
    right("renamed", ("tarea final.ipynb", bare(one.notebook())))
    right("folder", ("entrega/ps2.ipynb", answered))
    right("deep", ("PS2/última/entrega/ps2.ipynb", answered))
    right("copied", ("ps2.ipynb", untouched), ("ps2-Copy1.ipynb", answered))
    right("copied2", ("ps2.ipynb", untouched), ("final/ps2_final.ipynb", answered))
    right("zipped", ("ps2.zip", packed(("ps2.ipynb", answered))))
    right(
        "apple",
        (
            "ps2.zip",
            packed(("entrega/ps2.ipynb", answered), ("__MACOSX/entrega/._ps2.ipynb", b"\0")),
        ),
    )
    right("saved", ("ps2.ipynb", answered), (".ipynb_checkpoints/ps2-checkpoint.ipynb", untouched))
    right("wide", ("ps2.ipynb", json.dumps(answered).encode("utf-16")))
    right("marked", ("ps2.ipynb", b"\xef\xbb\xbf" + json.dumps(answered).encode()))
    right("windows", ("ps2.ipynb", windows))
    right("phone", ("ps2.ipynb.txt", answered))
    right("counted", ("ps2 (1).ipynb", answered))
    right("twice", ("ps2.ipynb", answered), ("ps2 (1).ipynb", answered))
    right("editions", ("ps2.ipynb", one.notebook("en")), ("es/ps2.ipynb", untouched))
    points["inigo"] = FULL
    one.put(f"{unicodedata.normalize('NFD', 'Iñigo Peña')}/ps2.ipynb", answered)
    one.put("wrong/ps2.ipynb", one.changed(LAST, lambda source: f"{source}\n    return None"))
    wrong = "\ndef attend_once(query, key, value, mask=None):\n    return 1"
    one.put("wrong/ps2.ipynb", one.changed("attend-once-answer", lambda source: wrong))
    points["wrong"] = FULL - 20
    one.put("untouched/ps2.ipynb", untouched)
    points["untouched"] = 0

    half = json.dumps(answered).encode()[:5000]
    refused("torn", "it is damaged", ("ps2.ipynb", half))
    refused("empty", "it is empty", ("ps2.ipynb", b""))
    refused("web", "it is a web page", ("ps2.ipynb", b"<!doctype html><title>Log in</title>"))
    refused(
        "paper", "there is no notebook among what paper handed in (ps2.pdf)", ("ps2.pdf", b"%PDF")
    )
    refused("torn zip", "it is no zip that can be read", ("ps2.zip", packed(("a", b""))[:20]))
    refused("undecided", "nothing says which counts", ("ps2.ipynb", answered), ("b.ipynb", other))
    refused(
        "automatic",
        "it is a copy that JupyterLab made by itself",
        (".ipynb_checkpoints/ps2-checkpoint.ipynb", answered),
    )
    left_out["nothing"] = "the folder is empty"
    (one.box / "nothing").mkdir()
    return points, left_out


@pytest.mark.grader
@pytest.mark.usefixtures("sandbox")
def test_a_class_with_all_kinds_of_submissions_gets_the_expected_marks(course, tmp_path, capsys):
    one = Student(course, tmp_path / "box" / "ps2")
    points, left_out = hand_in(one)
    one.put("stranger/ps2.ipynb", None)
    everyone = [*points, *left_out]
    assert len(everyone) >= 40
    names = {"inigo": ("Peña", "Iñigo")}
    rows = [";".join((*names.get(who, ("Núñez", who.title())), who)) for who in everyone]
    table = tmp_path / "lista.csv"
    table.write_bytes("\r\n".join(["Apellidos;Nombre;Usuario", *rows]).encode("cp1252"))
    (tmp_path / "box" / "leeme.txt").write_text("ps2")

    def run(command, *arguments):
        status = main([command, str(course.folder), *arguments])
        return status, "".join(capsys.readouterr())

    assert run("roster", "--from", str(table))[0] == 0
    said = run("due", "ps2", "6 de marzo de 2026, 11:59 p. m. CET")[1]
    assert said.startswith("ps2 is due 2026-03-06 22:59 UTC")
    status, said = run("collect", "ps2", "--from", str(tmp_path / "box"))
    assert status == 1 and f"{len(points)} in the course: {len(points)} new" in said
    lines = said.splitlines()
    for student, sentence in (left_out | {"stranger": "nobody in the roster"}).items():
        (line,) = (
            line
            for line in lines
            if line.startswith("Left out") and re.search(f"/ps2/{student}[:/]", line)
        )
        assert sentence in line
    assert sum(line.startswith("Left out") for line in lines) == len(left_out) + 1
    for student, counts in (("copied", "ps2-Copy1.ipynb"), ("copied2", "final/ps2_final.ipynb")):
        assert any(f"{student}: " in line and f"{counts} counts" in line for line in lines)

    status, said = run("grade", "ps2", "--jobs", "2")
    assert status == 0, said
    with open(course.folder / "grading" / "ps2.csv", newline="", encoding="utf-8-sig") as file:
        marks = {row["student"]: row for row in csv.DictReader(file)}
    assert set(marks) == set(everyone)
    machine = {who: row["score"] and float(row["score"]) for who, row in marks.items()}
    assert machine == points | dict.fromkeys(left_out, "")
    assert marks["inigo"]["last_name"] == "Peña"
    assert [marks[who]["needs_manual_grade"] for who in ("plain", "windows")] == ["yes", "no"]
    assert {row["late_penalty"] for who, row in marks.items() if who in points} == {"0"}
    for student, (*_, broken) in AROUND.items():
        (line,) = (line for line in said.splitlines() if f"] {student} " in line)
        assert f"broke: {broken}" in line if broken.isalpha() else broken in line
    for student in points:
        language = "en" if student == "editions" else "es"
        page = course.path(language, "feedback", student, "ps2", ".html")
        shown = page.read_text(encoding="utf-8")
        if broken := AROUND.get(student, ("", "", ""))[2]:
            assert "Celdas que se detuvieron" in shown
