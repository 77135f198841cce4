"""The course of one set in the grader's README works, also without the rest of the course."""

import json
import re
import subprocess
import sys
from pathlib import Path

import nbformat
import pytest
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook

import grader
from grader.__main__ import main
from grader.release import main as release

FOLDER = Path(grader.__file__).parent
README = (FOLDER / "README.md").read_text(encoding="utf-8")
(TOY,) = re.findall(r"```python\n(.*?)```", README, re.DOTALL)
ANSWERS = {
    "right": "def mean(x):\n    return sum(x) / len(x)",
    "not_divided": "def mean(x):\n    total = 0\n    for one in x:\n        total += one\n    return total",
    "unknown": "def mean(x):\n    return x[0]",
    "unwritten": "def mean(x):\n    ...",
}


def cells(answer):
    mine = {"schema_version": 3, "locked": False, "solution": False, "grade": False}
    solution = mine | {"grade_id": "mean-answer", "solution": True}
    graded = mine | {"grade_id": "mean", "grade": True, "locked": True, "points": 10}
    return [
        new_markdown_cell("# One task\n\nWrite `mean(x)`."),
        new_code_cell(answer, metadata={"nbgrader": solution}),
        new_code_cell("# 10 points", metadata={"nbgrader": graded}),
    ]


def notebook(path, answer):
    path.parent.mkdir(parents=True, exist_ok=True)
    nbformat.write(new_notebook(cells=cells(answer)), path)
    return path


@pytest.fixture
def toy(tmp_path):
    """The folder of the sets."""
    folder = tmp_path / "sets" / "mean1"
    stub = "    ### BEGIN SOLUTION\n    return x.mean()\n    ### END SOLUTION"
    notebook(folder / "en.ipynb", f"def mean(x):\n{stub}")
    (folder / "__init__.py").write_text(TOY)
    return folder.parent


@pytest.mark.usefixtures("sandbox")
def test_without_the_course_right_answers_get_full_marks_and_mistakes_are_named(toy, tmp_path):
    paths = [str(notebook(tmp_path / f"{n}.ipynb", code)) for n, code in ANSWERS.items()]
    code = """if True:
        import json, sys
        course = ("attn", "attn_course", "assignments", "notebooks", "tests")
        sys.modules.update(dict.fromkeys(course))  # Whoever imports one of them is refused.
        from pathlib import Path
        from grader.grade import grade
        from grader.problem_sets import problem_set
        SET = problem_set("mean1", sys.argv[1])
        marks = [grade(Path(path), SET, b"secret").marks[0] for path in sys.argv[2:]]
        print(json.dumps([[mark.points, mark.status, mark.misconception] for mark in marks]))
    """
    done = subprocess.run(
        [sys.executable, "-c", code, str(toy), *paths],
        cwd=FOLDER.parent,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout) == [
        [10, "passed", None],
        [0, "wrong", "not_divided"],
        [0, "wrong", None],
        [0, "unanswered", None],
    ]


@pytest.mark.grader
@pytest.mark.usefixtures("sandbox")
def test_the_commands_grade_a_course_in_one_language(toy, tmp_path, capsys):
    course, class_ = tmp_path / "course", tmp_path / "class"
    assert release([str(course), "--sets", str(toy)]) == 0
    for student, code in ANSWERS.items():
        notebook(class_ / student / "mean1.ipynb", code)
    assert main(["collect", str(course), "mean1", "--from", str(class_)]) == 0
    assert main(["grade", str(course), "mean1", "--jobs", "2"]) == 0
    assert "4 graded" in capsys.readouterr().out
    page = (course / "en" / "feedback" / "not_divided" / "mean1" / "mean1.html").read_text()
    assert "divide it by <code>len(x)</code>" in page and "ordinary inputs: 0 / 10" in page
    assert main(["stats", str(course), "mean1"]) == 0
    assert "mean: 1 right" in capsys.readouterr().out
    assert main(["stats", str(course), "mean1", "--language", "es"]) == 1
    assert capsys.readouterr().err.endswith("has no edition in 'es'. It has: en.\n")
    assert not (course / "es").exists()


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ('{"en": "', '{"fr": "', "mean1: the mistake not_divided of mean has no hint in en."),
        ('{"base": 10}', '{"base": 9}', "mean1: expected 9 points for mean, .* got 10 in"),
        (
            'Task("mean", MEAN',
            'Task("other", MEAN',
            "mean1: expected 10 points for other, .* got None",
        ),
        ("SET = ", "TES = ", "The set in .*mean1 cannot be read: AttributeError"),
    ],
)
def test_a_set_that_contradicts_itself_is_refused_before_anything_is_written(
    toy, tmp_path, capsys, old, new, said
):
    assert old in TOY
    (toy / "mean1" / "__init__.py").write_text(TOY.replace(old, new))
    assert release([str(tmp_path / "course"), "--sets", str(toy)]) == 1
    assert re.match(said, capsys.readouterr().out)
    assert not (tmp_path / "course").exists()


def test_the_grader_does_not_name_the_course():
    named = r"attn|attention|\btransformers?\b|softmax|embedding|translator|\bps\d"
    for path in sorted(FOLDER.rglob("*")):
        if path.suffix not in {".py", ".md", ".css", ".j2"}:
            continue
        text = path.read_text(encoding="utf-8")
        assert not re.findall(rf".*(?:{named}).*", text, re.IGNORECASE), path


def test_every_file_is_on_the_map_of_its_readme():
    files = {path.name for path in FOLDER.glob("*.py")} - {"__init__.py"}
    assert set(re.findall(r"^\| `(\w+\.py)` \|", README, re.MULTILINE)) == files
