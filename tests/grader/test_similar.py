"""Copies are listed, independent answers are not, and no mark depends on it."""

import ast
import itertools

import pytest

from assignments.problem_sets import PUBLIC
from grader import similar as module
from grader.__main__ import main
from grader.similar import COPIED, INDEPENDENT, SHARED, USUAL, compare
from notebooks.build import split
from tests.grader.test_feedback import INERT_TAGS, Tags
from tests.test_assignments.proofs import STUB, Answers

ATTACK = "</pre><script>alert(1)</script><img src=x>"
CORRECT = Answers("ps2").CORRECT
SETS = [f"ps{number}" for number in range(1, 14)]


def given(name):
    """Return the code that students are given, cell by cell."""
    cells = [c for lang in ("es", "en") for c in split(PUBLIC / name / "master.md", lang).cells]
    return [STUB.sub(r"\1...  # your code", c.source) for c in cells if c.cell_type == "code"]


def notebooks(name):
    """Return the code of notebooks in which every task is answered in a different way."""
    answers = Answers(name).CORRECT
    # There are as many notebooks as the task with the fewest different answers allows.
    ways = zip(*(answers[task].values() for task in answers), strict=False)
    return ["\n".join(one) for one in ways]


def disguised(code):
    """Return a copy with renamed variables, reordered, without comments and reformatted."""
    tree = ast.parse(code)
    stored = {
        n.id for n in ast.walk(tree) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)
    }
    stored |= {n.arg for n in ast.walk(tree) if isinstance(n, ast.arg)}
    for node in ast.walk(tree):
        if isinstance(node, ast.Name) and node.id in stored:
            node.id = f"my_{node.id}_{len(node.id)}"
        elif isinstance(node, ast.arg):
            node.arg = f"my_{node.arg}_{len(node.arg)}"
    tree.body.reverse()
    return ast.unparse(tree)


def shares(students, handed_out, monkeypatch):
    monkeypatch.setattr(module, "SHARED", 0)
    return {frozenset(pair.names): pair.share for pair in compare(students, {}, handed_out)}


def test_the_gap_between_copies_and_independent_answers_is_as_documented(monkeypatch):
    independent, copied = [], []
    for name in SETS:
        handed_out, ways = given(name), dict(enumerate(notebooks(name)))
        found = shares(ways, handed_out, monkeypatch)
        independent += [found.get(frozenset(pair), 0) for pair in itertools.combinations(ways, 2)]
        for code in ways.values():
            copied += shares({"a": code, "b": disguised(code)}, handed_out, monkeypatch).values()
    assert (len(independent), len(copied)) == (48, 42)
    assert (round(max(independent), 2), round(min(copied), 2)) == (INDEPENDENT, COPIED)
    assert INDEPENDENT + 0.1 < SHARED < COPIED - 0.1


def answers(way):
    """Return a submission of ps2 with the answer of the given number for each task."""
    return {
        f"{task.replace('_', '-')}-answer": list(ways.values())[way]
        for task, ways in CORRECT.items()
    }


def test_copies_of_a_student_a_model_answer_or_a_public_source_are_listed(
    course, hand_in, tmp_path, capsys
):
    attack = f"\nodd = '{ATTACK}'\n"
    ana = answers(1) | {
        "packed-self-attention-answer": answers(1)["packed-self-attention-answer"] + attack
    }
    hand_in("ana", ana)
    hand_in("bob", {name: disguised(code) for name, code in ana.items()}, language="en")
    hand_in("eve")
    hand_in("zoe", answers(3))
    hand_in("unanswered", step="release")
    hand_in("unreadable").write_text("{")
    (tmp_path / "forum").mkdir()
    (tmp_path / "forum" / "post.py").write_text("\n".join(answers(3).values()))
    (tmp_path / "forum" / "broken.ipynb").write_text("{")
    before = sorted(course.folder.rglob("*"))
    command = ["similar", str(course.folder), "ps2", "--archive", str(tmp_path / "forum")]
    assert main(command) == 0
    said = capsys.readouterr().out
    listed = [
        line.split(maxsplit=2) for line in said.splitlines() if line[:4].strip().endswith("%")
    ]
    assert sorted((a, b) for _, a, b in listed) == [
        ("ana", "bob"),
        ("eve", "model answers (en)"),
        ("eve", "model answers (es)"),
        ("zoe", "forum/post.py"),
    ]
    assert "unreadable: not compared, since it cannot be read." in said
    assert "forum/broken.ipynb: not compared, since it cannot be read." in said
    path = course.folder / "grading" / "ps2-similar.html"
    html = path.read_text()
    assert "Similarity proves nothing by itself." in html
    assert f"at most {INDEPENDENT:.0%} of one is in the other" in html
    assert f"at least {COPIED:.0%}" in html
    assert html.count("<mark>") == html.count("</mark>") > 8
    assert {tag for tag, _ in Tags(html).tags} <= INERT_TAGS
    assert ATTACK[:20] in Tags(html).text
    assert sorted(set(course.folder.rglob("*")) - set(before)) == [path.parent, path]


def test_code_that_many_wrote_counts_only_against_public_sources():
    code = notebooks("ps2")[0]
    class_of = {str(number): code for number in range(USUAL + 1)}
    assert compare(class_of, {}, []) == []
    pairs = compare(class_of, {"a forum": code}, [])
    assert {pair.names for pair in pairs} == {(name, "a forum") for name in class_of}
    ring = {str(number): code for number in range(USUAL)}
    assert len(compare(ring, {}, [])) == USUAL * (USUAL - 1) / 2


def test_released_code_and_short_code_are_not_compared():
    code = notebooks("ps2")[0]
    own = "\ndef f(x):\n    return x + 1\n"
    assert len(compare({"a": code + own, "b": code + own}, {}, [])) == 1
    assert compare({"a": code + own, "b": code + own}, {}, [code]) == []


@pytest.mark.parametrize(
    "code",
    ["", "\0" * 99, "'''" * 9999, "(" * 50_000, "x" * 10**6, "%%bash\nls\n" * 99, "\u202e" * 99],
)
def test_any_text_can_be_compared(code):
    assert isinstance(compare({"a": code, "b": code + "\nx = 1"}, {}, [code]), list)


def test_a_missing_folder_is_reported(course, hand_in, capsys):
    hand_in("ana")
    assert main(["similar", str(course.folder), "ps2", "--archive", "nowhere"]) == 1
    assert capsys.readouterr().err == "There is no folder nowhere.\n"
