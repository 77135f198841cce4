"""Tests that every problem set shares: right answers get full marks however written, wrong ones do
not, and are told why; the master says the same in both languages.

A set's own file, ``test_psN.py``, derives from `Proofs` and adds what holds for it alone. The
answers that students hand in are texts of cells, in the ``proofs.py`` of the set.
"""

import contextlib
import dataclasses
import functools
import importlib
import io
import re
import tempfile
import warnings
from pathlib import Path

import numpy as np
import pytest

import attn_course
from assignments.problem_sets import CONVENTIONS, PUBLIC, folders
from attn_course.exercises.check import verdict
from attn_course.exercises.compare import run
from attn_course.exercises.diagnose import wrong_on
from attn_course.exercises.record import read_record, record_of, write_records
from grader.judge import draw, judge
from grader.problem_sets import load, module_name
from grader.words import GROUPS
from notebooks.build import LANGUAGES, split
from tests.test_assignments.lookup import Table
from tests.test_assignments.mutants import mutants

SECRETS = [bytes([n]) * 32 for n in range(40)]  # secrets of courses
FEW = SECRETS[:3]
STUB = re.compile(r"( *)### BEGIN SOLUTION\n.*?### END SOLUTION", re.DOTALL)


class Answers:
    """The ``proofs.py`` of a set, whose names are attributes here.

    Its ``CORRECT`` holds, by exercise and name, the text of a right answer; ``SLIPS``, by
    exercise, the name of one of them and a list of slips: name; known mistake, or None for a
    mistake that no hint names; and the edit, as an old and a new text or a list of such pairs.
    ``WORTH`` says by exercise and name of a slip which points it leaves and which status, worked
    out by hand from the text of the set; ``EQUIVALENT`` says by exercise and changed line why a
    mutant changes no value; ``FAULTY`` names the function that the set gives to mend, the exercise
    that asks for it, and the known mistake that it makes.

    Parameters
    ----------
    name : str
        The set.
    sets : Path, default PUBLIC
        The folder where it lies.
    """

    def __init__(self, name, sets=PUBLIC):
        self.name, self.folder = name, folders(sets)[name]
        self.set = load(self.folder)
        self.tasks = {task.exercise.id: task for task in self.set.tasks}
        self._proofs = importlib.import_module(f"{module_name(self.folder)}.proofs")

    def __getattr__(self, name):
        return getattr(self._proofs, name)

    @functools.cached_property
    def WRONG(self):
        """By exercise, edits of right answers: name, known mistake, text of the cell."""
        return {
            exercise: [
                (name, known, _edited(self.CORRECT[exercise][right], edit))
                for name, known, *edit in listed
            ]
            for exercise, (right, listed) in self.SLIPS.items()
        }

    @functools.cached_property
    def records(self):
        """The bytes of the released file, and the live and released record of each exercise."""
        # A released file holds answers but no oracle, which `altered` would run.
        live = [
            dataclasses.replace(record_of(task.exercise), oracle=None) for task in self.set.tasks
        ]
        file = io.BytesIO()
        write_records(file, live)
        released = {one.id: read_record(io.BytesIO(file.getvalue()), one.id) for one in live}
        return file.getvalue(), {one.id: (one, released[one.id]) for one in live}

    def checked(self, exercise, attempt):
        """Return the result of `check`, and test that the live exercise gives the same."""
        live, released = self.records[1][exercise]
        result = verdict(released, attempt)
        assert result == verdict(live, attempt), f"{exercise}: the released file says otherwise"
        return result


def _edited(source, edit):
    for old, new in edit[0] if len(edit) == 1 else [edit]:
        assert old in source, old
        source = source.replace(old, new)
    return source


def function(exercise, source):
    """Return the function that a cell defines, as the sandbox would."""
    namespace = {"np": np}
    exec(source, namespace)  # noqa: S102 - our own source
    return namespace.get(exercise, ...)


def marked(task, attempt, secret=SECRETS[0]):
    """Judge an attempt that ran in this process, from the reports that the sandbox would write."""
    record = draw(task, secret)
    reports, arrays = [], {}
    for number, case in enumerate(record.cases):
        answer = run(attempt, case, task.exercise)
        error = answer.error and {"type": type(answer.error).__name__, "message": str(answer.error)}
        reports.append(
            {
                "n_values": None if answer.values is None else len(answer.values),
                "missing": attempt is ... or answer.missing,
                "modified": answer.modified,
                "error": error,
            }
        )
        arrays |= {f"{number}/{i}": value for i, value in enumerate(answer.values or ())}
    return judge(task, record, reports, arrays)


def given_away(record, attempt, first=0):
    """Return the number of an input on which an attempt is wrong, or None; try `first` first."""

    def is_wrong(number):
        answer = run(attempt, record.cases[number], record)
        return bool(answer.modified or wrong_on([answer], [record.expected[number]]))

    numbers = sorted(range(len(record.cases)), key=lambda number: number != first)
    return next(filter(is_wrong, numbers), None)


@pytest.mark.grader
class Proofs:
    """The tests of one set.

    Attributes
    ----------
    answers : Answers
        Of the set.
    secrets, few : list of bytes
        Of the courses that no wrong answer may deceive, and of those for everything else.
    """

    answers: Answers
    secrets, few = SECRETS, FEW

    @property
    def set(self):
        return self.answers.set

    @property
    def tasks(self):
        return self.answers.tasks

    def cells(self, language="en"):
        return split(self.answers.folder / "master.md", language).cells

    def executed(self, language="en", *, released=False, capsys):
        """Run the code of an edition in order; return its namespace and each cell's output."""
        namespace, printed = {}, []
        # The print options of the first cell must not outlast this run.
        with tempfile.TemporaryDirectory() as folder, contextlib.chdir(folder), np.printoptions():
            Path(f"{self.set.name}_check.npz").write_bytes(self.answers.records[0])
            for cell in self.cells(language):
                if cell.cell_type == "code":
                    stubbed = STUB.sub(r"\1...  # your code", cell.source)
                    exec(stubbed if released else cell.source, namespace)  # noqa: S102 - our own
                    printed.append(capsys.readouterr().out)
        attn_course.set_language("es")
        return namespace, printed

    def oracle_and_cases(self, exercise, seeds=5):
        """Yield the right result for each input of an exercise, and the input."""
        exercise = self.tasks[exercise].exercise
        for seed in range(seeds):
            for case in exercise.cases(seed):
                yield exercise.oracle(*case.values()), case

    def points(self, language):
        """Return the points of each graded cell, by grade id."""
        marks = [cell.metadata.get("nbgrader", {}) for cell in self.cells(language)]
        return {mark["grade_id"]: mark["points"] for mark in marks if mark.get("grade")}

    # Right answers ----------------------------------------------------------------------

    def test_every_task_has_right_answers_written_in_at_least_three_ways(self):
        assert set(self.answers.CORRECT) == set(self.tasks)
        assert all(len(sources) >= 3 for sources in self.answers.CORRECT.values())

    def test_a_right_answer_gets_full_marks_whatever_the_secret(self, right):
        exercise, source = right
        attempt, task = function(exercise, source), self.tasks[exercise]
        for secret in self.few:
            mark = marked(task, attempt, secret)
            assert mark.points == mark.max_points == task.max_points, mark
            assert mark.status == "passed" and mark.misconception is None

    def test_a_right_answer_passes_check(self, right):
        exercise, source = right
        result = self.answers.checked(exercise, function(exercise, source))
        assert result and result.misconception is None, result

    # Wrong answers ----------------------------------------------------------------------

    def test_every_task_has_a_catalogue_of_at_least_eight_known_mistakes_and_one_unknown(self):
        for exercise in self.tasks:
            known = [known for _, known, _ in self.answers.WRONG[exercise]]
            assert len({*known} - {None}) >= 8
            assert None in known

    def test_every_known_mistake_is_in_the_catalogue(self, exercise):
        known = {known.id for known in self.tasks[exercise].exercise.misconceptions}
        assert known == {known for _, known, _ in self.answers.WRONG[exercise]} - {None}

    def test_no_wrong_answer_gets_full_marks_whatever_the_secret(self, exercise):
        task, listed = self.tasks[exercise], self.answers.WRONG[exercise]
        attempts = {name: function(exercise, source) for name, _, source in listed}
        for known in task.exercise.misconceptions:
            attempts |= {f"{known.id} {n}": way for n, way in enumerate(known.functions)}
        shows = dict.fromkeys(attempts, 0)  # often wrong on the same input again
        for secret in self.secrets:
            record = draw.__wrapped__(task, secret)  # not cached: there are many secrets
            for name, attempt in attempts.items():
                shows[name] = given_away(record, attempt, shows[name])
                assert shows[name] is not None, f"{name} gets full marks with {secret}"

    def test_a_wrong_answer_gets_less_than_full_marks_and_is_named(self, wrong):
        exercise, _, known, source = wrong
        attempt = function(exercise, source)
        for secret in self.few:
            mark = marked(self.tasks[exercise], attempt, secret)
            assert mark.points < mark.max_points
            assert mark.status in ("partial", "wrong")
            assert mark.misconception == known, mark

    @pytest.mark.parametrize("language", LANGUAGES)
    def test_check_gives_a_wrong_answer_its_hint(self, wrong, language):
        exercise, _, known, source = wrong
        attn_course.set_language(language)
        try:
            result = self.answers.checked(exercise, function(exercise, source))
        finally:
            attn_course.set_language("es")
        assert result.status == "failed" and result.misconception == known
        mistakes = self.tasks[exercise].exercise.misconceptions
        hints = {known.id: known.hint[language] for known in mistakes}
        assert known is None or hints[known] in result.message

    def test_a_slip_costs_the_points_worked_out_by_hand(self, priced):
        exercise, slip = priced
        (source,) = [text for name, _, text in self.answers.WRONG[exercise] if name == slip]
        mark = marked(self.tasks[exercise], function(exercise, source))
        assert (mark.points, mark.status) == self.answers.WORTH[priced], mark

    def test_the_worth_of_slips_is_worked_out_for_every_task(self):
        for exercise in self.tasks:
            assert len([slip for slip in self.answers.WORTH if slip[0] == exercise]) >= 3

    def test_a_constant_function_earns_no_points(self, exercise):
        names = self.tasks[exercise].exercise.outputs

        def constant(first, *rest):
            return np.zeros(first.shape) if len(names) == 1 else (first,) * len(names)

        assert marked(self.tasks[exercise], constant).points == 0

    def test_a_table_of_known_inputs_and_answers_earns_no_points(self, exercise):
        task = self.tasks[exercise]
        first = next(iter(task.points))  # a wrong first group earns no points at all
        for number, secret in enumerate(self.few):
            seen = [self.answers.records[1][exercise][1], draw(task, SECRETS[-1 - number])]
            table, hidden = Table(seen), draw(task, secret)
            pairs = zip(hidden.cases, hidden.expected, strict=True)
            asked = [pair for pair in pairs if task.group(pair[0]) == first]
            assert not all(table.has(*pair) for pair in asked), f"with {secret}"

    # Mutants ----------------------------------------------------------------------------

    def test_all_mutants_of_right_answers_are_rejected_but_the_equivalent_ones(self, exercise):
        changes = [
            (change, source)
            for right in self.answers.CORRECT[exercise].values()
            for change, source in mutants(right).items()
        ]

        def accepted(record):
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                return {
                    change.partition(" -> ")[2]
                    for change, source in changes
                    if given_away(record, function(exercise, source)) is None
                }

        survivors = accepted(draw(self.tasks[exercise], SECRETS[1]))
        assert survivors == {change for name, change in self.answers.EQUIVALENT if name == exercise}
        # An attempt that `check` accepts is accepted by the grader too.
        assert accepted(self.answers.records[1][exercise][1]) == survivors
        assert len(changes) > 40 and len(survivors) <= 0.05 * len(changes)

    # The inputs -------------------------------------------------------------------------

    def test_every_group_has_inputs_and_every_input_a_group(self, exercise):
        task = self.tasks[exercise]
        for secret in self.few:
            groups = {task.group(case) for case in draw(task, secret).cases}
            assert groups == set(task.points) - {"arguments"}

    def test_every_group_has_a_name_in_both_languages(self, exercise):
        for name in self.tasks[exercise].points:
            assert set((GROUPS | CONVENTIONS.groups | self.set.groups)[name]) == set(LANGUAGES), (
                name
            )

    # The master -------------------------------------------------------------------------

    @pytest.mark.parametrize("edition", LANGUAGES)
    def test_the_graded_cells_are_the_tasks_and_their_points_add_up_to_100(self, edition):
        points = self.points(edition)
        tasks = {task.grade_id: task.max_points for task in self.set.tasks}
        assert 3 <= len(tasks) <= 5
        assert list(points) == [*tasks, *self.set.manual]
        assert {name: points[name] for name in tasks} == tasks
        assert sum(points.values()) == 100

    @pytest.mark.parametrize("edition", LANGUAGES)
    def test_the_metadata_of_the_cells_are_valid_for_nbgrader(self, edition):
        named = []
        for cell in self.cells(edition):
            mark = cell.metadata.get("nbgrader")
            if mark is None:
                assert "SOLUTION" not in cell.source
                continue
            named.append(mark["grade_id"])
            assert mark["schema_version"] == 3 and mark["task"] is False
            assert mark["cell_type"] == cell.cell_type
            assert mark["solution"] == bool(STUB.search(cell.source))
            assert mark["locked"] == (not mark["solution"])
            if mark["grade"] and cell.cell_type == "code":
                task = self.tasks[re.search(r'"(\w+)"', cell.source)[1]]
                assert cell.source == f'check("{task.exercise.id}", {task.exercise.id})'
                assert task.grade_id == mark["grade_id"]
        answers = {f"{task.grade_id}-answer" for task in self.set.tasks}
        assert {"setup", self.answers.FAULTY[0].replace("_", "-"), *answers} <= set(named)
        assert len(named) == len(set(named))

    @pytest.mark.parametrize("edition", LANGUAGES)
    def test_the_points_in_the_text_are_those_of_the_tasks(self, edition):
        prose = [cell.source for cell in self.cells(edition) if cell.cell_type == "markdown"]
        said = [
            re.findall(r", (\d+)", text[text.rindex("\n\n") :])
            for text in prose
            if "\n\nPuntos: " in text or "\n\nPoints: " in text
        ]
        assert [sorted(map(int, points)) for points in said] == [
            sorted(task.points.values()) for task in self.set.tasks
        ]
        rows = re.findall(r"^\| \d\. .+ \| (\d+) \| (\d+) \|$", prose[0], flags=re.MULTILINE)
        assert [int(points) for points, _ in rows] == list(self.points(edition).values())
        assert 60 <= sum(int(minutes) for _, minutes in rows) <= 120
        by_hand = re.findall(r"^\d\. \((\d+) ", prose[-2], flags=re.MULTILINE)
        (report,) = self.set.manual
        assert sum(map(int, by_hand)) == self.points(edition)[report]

    def test_the_solutions_of_the_master_get_full_marks(self, capsys):
        namespace, _ = self.executed(capsys=capsys)
        for exercise, task in self.tasks.items():
            for secret in self.few:
                assert marked(task, namespace[exercise], secret).status == "passed"

    @pytest.mark.parametrize("edition", LANGUAGES)
    def test_the_starting_code_is_unanswered_and_earns_nothing(self, edition, capsys):
        namespace, _ = self.executed(edition, released=True, capsys=capsys)
        for exercise, task in self.tasks.items():
            mark = marked(task, namespace[exercise])
            assert (mark.points, mark.status) == (0, "unanswered")
            assert self.answers.checked(exercise, namespace[exercise]).status == "unanswered"
            assert marked(task, ...).status == "unanswered"

    def test_the_function_to_correct_is_wrong_and_its_mistake_is_named(self, capsys):
        name, exercise, fault = self.answers.FAULTY
        namespace, _ = self.executed(released=True, capsys=capsys)
        for secret in self.few:
            mark = marked(self.tasks[exercise], namespace[name], secret)
            assert (mark.points, mark.misconception) == (0, fault)

    @pytest.mark.parametrize("edition", LANGUAGES)
    def test_every_number_in_the_text_is_printed_by_a_cell(self, edition, capsys):
        _, printed = self.executed(edition, capsys=capsys)
        shown = {round(float(number), 3) for number in re.findall(r"\d+\.?\d*", " ".join(printed))}
        shown |= {round(number, 2) for number in shown}
        code = " ".join(cell.source for cell in self.cells(edition) if cell.cell_type == "code")
        given = {float(number) for number in re.findall(r"\d+\.\d+", code)}
        for cell in self.cells(edition)[:-1]:
            if cell.cell_type == "markdown":
                for number in re.findall(r"\d+\.\d+", cell.source):
                    assert float(number) in shown | given, number

    def test_both_editions_have_the_same_code_and_texts_of_similar_length(self):
        spanish, english = (self.cells(language) for language in ("es", "en"))
        kinds = [[cell.cell_type for cell in edition] for edition in (spanish, english)]
        assert kinds[0] == kinds[1]
        for one, other in zip(spanish, english, strict=True):
            if one.cell_type == "code":
                assert one.source.replace('language("es")', 'language("en")') == other.source
            else:
                assert one.source != other.source
                assert 0.7 < len(one.source) / len(other.source) < 1.5
                for part in (r"`[^`\n]+`", r"\$[^$\n]+\$", r"^(#+|-|\d\.) ", r"\d+\.\d+"):
                    found = [
                        re.findall(part, text, flags=re.MULTILINE)
                        for text in (one.source, other.source)
                    ]
                    assert sorted(found[0]) == sorted(found[1])

    # The demonstration class ------------------------------------------------------------

    def test_the_slips_of_the_demonstration_make_their_known_mistakes(self):
        solutions = {
            cell.metadata.nbgrader.grade_id: cell.source
            for cell in self.cells()
            if cell.metadata.get("nbgrader", {}).get("solution") and cell.cell_type == "code"
        }
        whole = "\n".join(solutions.values())
        tasks = {task.grade_id: task for task in self.set.tasks}
        assert len(self.set.slips) == 5
        for slip in self.set.slips:
            task, right = tasks[slip.grade_id], solutions[f"{slip.grade_id}-answer"]
            assert slip.right in right
            source = whole.replace(right, right.replace(slip.right, slip.wrong))
            mark = marked(task, function(task.exercise.id, source))
            assert mark.misconception == slip.misconception and mark.points < mark.max_points


def choices(answers):
    """Return the parameters for the tests of a set: by argument, names and values."""
    return {
        "right": {
            f"{exercise}-{name}": (exercise, source)
            for exercise, sources in answers.CORRECT.items()
            for name, source in sources.items()
        },
        "wrong": {
            f"{exercise}-{name}": (exercise, name, known, source)
            for exercise, listed in answers.WRONG.items()
            for name, known, source in listed
        },
        "priced": {": ".join(priced): priced for priced in answers.WORTH},
        "exercise": {exercise: exercise for exercise in answers.CORRECT},
    }


def parametrize(metafunc):
    """Parametrise each test of a set by its arguments; ``conftest.py`` calls this."""
    for argument, found in choices(metafunc.cls.answers).items():
        if argument in metafunc.fixturenames:
            metafunc.parametrize(argument, found.values(), ids=found)
