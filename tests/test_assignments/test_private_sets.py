"""Sets outside the repository: begun, released, graded, and tested like those inside.

``make prove SETS=folder`` runs the proofs on the sets of that folder, or on the one named ``ONLY``.
"""

import ast
import json
import os
import re
from pathlib import Path

import nbformat
import pytest

import attn_course
from assignments.new_set import main as new_set
from assignments.problem_sets import PUBLIC, folders
from assignments.release import main as release
from grader import variants
from grader.batch import Batch
from grader.course import Course, CourseError
from grader.problem_sets import load
from tests.test_assignments.proofs import Answers, Proofs

for name in folders(os.environ["SETS"]) if "SETS" in os.environ else ():
    if os.environ.get("ONLY") in (None, "", name):
        answers = Answers(name, Path(os.environ["SETS"]).resolve())
        globals()[f"Test_{name}"] = type(f"Test_{name}", (Proofs,), {"answers": answers})

PAST = "causal_mask(ids.shape[-1])"
OURS = """
def causal_padding_mask(ids):
    length = ids.shape[-1]
    backwards = np.triu(np.ones((length, length), dtype=bool))
    return backwards & (ids != 0)[:, None, :]
"""


@pytest.fixture(scope="module")
def sets(tmp_path_factory):
    """A folder with one set, whose third task asks for the causal mask."""
    sets = tmp_path_factory.mktemp("my sets")
    assert new_set([str(sets), "quiz1", "--template", "ps2"]) == 0
    for file, old, new in (
        ("causal_padding_mask.py", f"return {PAST}", f"return {PAST}.T"),
        ("master.md", "np.tril", "np.triu"),
    ):
        path = sets / "quiz1" / file
        text = path.read_text(encoding="utf-8")
        assert old in text
        path.write_text(text.replace(old, new), encoding="utf-8")
    return sets


@pytest.fixture(scope="module")
def course(sets, tmp_path_factory):
    folder = tmp_path_factory.mktemp("course")
    assert release([str(folder), "--sets", str(sets)]) == 0
    return Course(folder)


def hand_in(course, name, answers):
    """Hand in the model answers, some of them replaced, and return the marks by task."""
    notebook = nbformat.read(course.path("en", "source", ".", name), as_version=4)
    for cell in notebook.cells:
        grade_id = cell.metadata.get("nbgrader", {}).get("grade_id")
        cell.source = answers.get(grade_id, cell.source)
    path = course.path("en", "submitted", "ana", name)
    path.parent.mkdir(parents=True, exist_ok=True)
    nbformat.write(notebook, path)
    batch = Batch(course, name)
    list(batch.work())
    result = json.loads((batch.folder / "ana.json").read_text(encoding="utf-8"))
    return {mark["grade_id"]: mark["points"] for mark in result["graded"]["marks"]}


@pytest.mark.usefixtures("sandbox")
def test_a_private_set_is_graded_by_its_own_answers(course):
    marks = hand_in(course, "quiz1", {"causal-padding-mask-answer": OURS})
    assert sum(marks.values()) == 85
    public = Answers("ps2").CORRECT["causal_padding_mask"]["triangle"]
    marks = hand_in(course, "quiz1", {"causal-padding-mask-answer": public})
    assert marks["causal-padding-mask"] == 0 and sum(marks.values()) == 70


@pytest.mark.usefixtures("sandbox")
def test_later_changes_of_the_set_do_not_change_the_course(course, sets):
    answer = {"causal-padding-mask-answer": OURS}
    before = hand_in(course, "quiz1", answer)
    spec = sets / "quiz1" / "causal_padding_mask.py"
    text = spec.read_text(encoding="utf-8")
    try:
        spec.write_text("raise RuntimeError", encoding="utf-8")
        assert hand_in(course, "quiz1", answer) == before
    finally:
        spec.write_text(text, encoding="utf-8")


def lines_of(folder):
    """Return the statements of the Python files in a folder, except for short common ones."""
    found = set()
    for path in folder.rglob("*.py"):
        tree = ast.parse(path.read_text(encoding="utf-8"))
        found |= {ast.unparse(node) for node in ast.walk(tree) if isinstance(node, ast.stmt)}
    return {line for line in found if len(line) > 25}


def test_nothing_that_students_get_holds_an_answer(course, sets):
    installed = lines_of(Path(attn_course.__file__).parent)
    answers = lines_of(sets / "quiz1") - installed
    assert len(answers) > 200
    given = [path for path in (course.folder / "en" / "release").rglob("*") if path.is_file()]
    assert {path.name for path in given} == {"quiz1.ipynb", "quiz1_check.npz"}
    for path in given:
        text = path.read_bytes().decode("utf-8", errors="replace")
        text = (
            text
            if path.suffix == ".npz"
            else "\n".join(cell["source"] for cell in nbformat.read(path, as_version=4).cells)
        )
        assert {line for line in answers if line in text} <= lines_of_what_is_to_mend(text)


def lines_of_what_is_to_mend(text):
    """Return the lines of the function that students are to correct, which they may see."""
    given = re.search(r"^def faulty_\w+.*?(?=^\S)", text, re.MULTILINE | re.DOTALL)
    return {line.strip() for line in given[0].splitlines()} if given else set()


def test_a_new_set_is_written_outside_the_repository_and_replaces_none(sets, capsys):
    (sets / "quiz1" / "mine.txt").write_text("mine")
    refused = {
        (str(sets), "quiz1"): "There is a .*quiz1 already",
        (str(sets), "ps3"): "ps3 is a practice set already",
        (str(sets), "../x"): "A set cannot be called '../x'",
        (str(PUBLIC), "quiz2"): "lies in this repository",
        (str(sets), "quiz3", "--template", "ps99"): "There is no set 'ps99'",
        ("/proc/nowhere", "quiz4"): "cannot be written",
    }
    for arguments, said in refused.items():
        assert new_set(list(arguments)) == 1
        assert re.search(said, capsys.readouterr().out), arguments
    assert (sets / "quiz1" / "mine.txt").read_text() == "mine"


def test_a_set_that_cannot_be_released_gives_an_error_of_one_line(sets, tmp_path, capsys):
    spec = sets / "quiz1" / "__init__.py"
    text = spec.read_text(encoding="utf-8")
    broken = {
        "SET = 1 +": "cannot be read: SyntaxError",
        text.replace(
            '"base": 6,', '"base": 7,', 1
        ): "expected 16 points for .*, got 15 in its master",
    }
    try:
        for source, said in broken.items():
            spec.write_text(source, encoding="utf-8")
            assert release([str(tmp_path / "course"), "quiz1", "--sets", str(sets)]) == 1
            out = capsys.readouterr().out
            assert re.search(said, out) and out.count("\n") == 1
            assert not (tmp_path / "course").exists()
    finally:
        spec.write_text(text, encoding="utf-8")
    assert release([str(tmp_path / "course"), "--sets", str(tmp_path)]) == 1
    assert "no folder there has a file __init__.py" in capsys.readouterr().out


# Variants -------------------------------------------------------------------------------

VARIANTS = f"""
[causal-padding-mask.future]
edits = [["causal_padding_mask.py", "return {PAST}", "return {PAST}.T"]]

[causal-padding-mask.all]
edits = [["causal_padding_mask.py", "return {PAST}", "return True"]]
"""


@pytest.fixture
def varied(sets, tmp_path):
    """A set with two variants of a task."""
    assert new_set([str(tmp_path), "quiz", "--template", "ps2"]) == 0
    (tmp_path / "quiz" / "variants.toml").write_text(VARIANTS)
    return tmp_path / "quiz"


def test_only_the_secret_chooses_the_variant(varied, tmp_path):
    def chosen(n):
        return variants.choose(varied, bytes([n]) * 32)

    names, text = set(), (varied / "causal_padding_mask.py").read_text()
    for n in range(20):
        (varied / "causal_padding_mask.py").write_text(text)
        first = chosen(n)
        (varied / "causal_padding_mask.py").write_text(text)
        assert chosen(n) == first
        names.add(first["causal-padding-mask"])
    assert names == {"future", "all"}


def test_releasing_again_keeps_the_variant(varied, tmp_path):
    course = tmp_path / "course"
    released = [str(course), "--sets", str(tmp_path)]
    assert release([*released, "--variant"]) == 0
    copy = Course(course).set_folder("quiz")
    task = load(copy).tasks[2].exercise
    assert release(released) == 0
    assert variants.is_one(copy) and load(copy).tasks[2].exercise is task
    assert not variants.is_one(varied)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("x = [", "variants.toml cannot be read: TOMLDecodeError"),
        ("[a.b]\nabout = 'x'", "cannot be read: KeyError"),
        (VARIANTS.replace("return causal", "return no"), r"does not say 'return no_mask"),
    ],
)
def test_a_bad_file_of_variants_gives_an_error_of_one_line(varied, text, said, tmp_path, capsys):
    (varied / "variants.toml").write_text(text)
    assert release([str(tmp_path / "course"), "--sets", str(tmp_path), "--variant"]) == 1
    assert re.search(said, capsys.readouterr().out)


def test_a_set_without_variants_says_so(sets, tmp_path):
    with pytest.raises(CourseError, match="There is no variant of quiz1"):
        variants.choose(sets / "quiz1", b"secret")
