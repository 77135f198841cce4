"""The plan of a course: what the page says of the problem sets agrees with the sets."""

import re
from pathlib import Path

import pytest

from assignments.problem_sets import PUBLIC, problem_set
from notebooks.build import split

ROOT = Path(__file__).resolve().parents[1]
SETS = sorted(path.name for path in PUBLIC.glob("ps*"))
PAGES = {
    language: (ROOT / "book" / language / "teaching.md").read_text(encoding="utf-8")
    for language in ("es", "en")
}
each_language = pytest.mark.parametrize("language", PAGES)


def difficulties(language, name):
    """Return the mistakes that the page names for a set, as pairs of task and misconception."""
    section = re.search(
        rf"^### `{name}`:.*?(?=^### |^\()", PAGES[language], re.MULTILINE | re.DOTALL
    )
    return re.findall(r"^- `([\w-]+)`: `(\w+)`\. .*\*(?:Show|Enseña)\*: ", section[0], re.MULTILINE)


def rows(language):
    """Return what the page says of each set: chapter, minutes, points by machine and by hand."""
    found = re.findall(
        r"^\| `(ps\d+)` \| (\d\d) \| (\d+) \| (\d+) \| (\d+) \|$", PAGES[language], re.MULTILINE
    )
    return {name: tuple(map(int, numbers)) for name, *numbers in found}


@each_language
@pytest.mark.parametrize("name", SETS)
def test_every_mistake_of_the_page_is_one_that_the_set_knows(name, language):
    named = difficulties(language, name)
    assert 3 <= len(named) == len(set(named))
    known = {
        task.grade_id: {m.id for m in task.exercise.misconceptions}
        for task in problem_set(name).tasks
    }
    assert [pair for pair in named if pair[1] not in known.get(pair[0], ())] == []


@each_language
@pytest.mark.parametrize("name", SETS)
def test_time_and_points_are_those_of_the_set(name, language):
    asked = problem_set(name)
    opening = split(PUBLIC / name / "master.md", language).cells
    text = "\n".join(cell.source for cell in opening)
    tasks = re.findall(r"^\| \d\. .* \| (\d+) \| (\d+) \|$", text, re.MULTILINE)
    machine = sum(task.max_points for task in asked.tasks)
    chapter, *said = rows(language)[name]
    assert said == [sum(int(m) for _, m in tasks), machine, sum(int(p) for p, _ in tasks) - machine]
    named = {int(number) for number in re.findall(r"(?:chapter|capítulo) (\d+)", text)}
    assert named <= {chapter, chapter - 1}


def test_both_editions_give_the_same_plan():
    assert rows("es") == rows("en") and len(rows("en")) == 13
    for name in rows("en"):
        assert difficulties("es", name) == difficulties("en", name)
    week = r"^\| \d+ \| .*? \| (.*?) *\|"
    calendars = [
        re.findall(r"`(ps\d+)`", "".join(re.findall(week, PAGES[key], re.MULTILINE)))
        for key in PAGES
    ]
    assert calendars[0] == calendars[1] == [*rows("en"), "ps2", "ps5", "ps6", "ps7"]
    links = [sorted(re.findall(r"\]\(#([\w-]+)\)", PAGES[language])) for language in PAGES]
    assert links[0] == links[1]


@each_language
@pytest.mark.parametrize("column", [2, 3])
def test_the_parts_of_the_proposed_mark_sum_to_a_hundred(language, column):
    section = re.search(
        r"^### (?:The final mark|La nota final)$.*?^## ", PAGES[language], re.MULTILINE | re.DOTALL
    )
    cells = [line.split("|")[column] for line in section[0].splitlines() if line.startswith("|")]
    points = [int(found[0]) for cell in cells if (found := re.match(r" (\d+)", cell))]
    assert len(points) > 2 and sum(points) == 100


@pytest.mark.slow
@each_language
def test_every_verdict_without_a_hint_is_explained(language):
    from grader.stats import WITHOUT_HINT  # which imports nbgrader

    advice = PAGES[language].partition("(from-statistics)=")[2].partition("(answer-key)=")[0]
    for verdict in {*WITHOUT_HINT, "not recognised", "raises …"} - {"modified"}:
        assert f"`{verdict}`.**" in advice
