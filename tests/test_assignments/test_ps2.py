"""Problem set 2: right answers get full marks however written, wrong ones do not, and why."""

import importlib.util
import re
import warnings
from pathlib import Path

import numpy as np
import pytest

import attn
from assignments.grader import judge as judging
from assignments.grader.judge import judge, request
from assignments.sets.ps2 import PS2
from attn.exercises import check
from attn.exercises.check import EXERCISES
from attn.exercises.compare import run
from notebooks.build import LANGUAGES, split


def load(name):
    """Import a file that lies beside this one."""
    path = Path(__file__).with_name(f"{name}.py")
    spec = importlib.util.spec_from_file_location(name, path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


answers, mutants = load("ps2_solutions"), load("mutants").mutants

MASTER = Path(__file__).parents[2] / "assignments" / "src" / "ps2.md"
TASKS = {task.exercise.id: task for task in PS2.tasks}
SEEDS = range(5)
RIGHT = [
    pytest.param(exercise, source, id=f"{exercise}-{name}")
    for exercise, sources in answers.CORRECT.items()
    for name, source in sources.items()
]
SLIPS = [
    pytest.param(exercise, known, source, id=f"{exercise}-{name}")
    for exercise, slips in answers.WRONG.items()
    for name, known, source in slips
]


def function(exercise, source):
    """Return what a cell defines, as the sandbox does."""
    namespace = {"np": np}
    exec(source, namespace)  # noqa: S102 - our own source
    return namespace.get(exercise, ...)


def marked(exercise, attempt, seed=0):
    """Judge an attempt that ran right here, from the reports that the sandbox would write."""
    task = TASKS[exercise]
    description, inputs = request(task, seed)
    reports, arrays = [], {}
    for number, names in enumerate(description["cases"]):
        case = {name: inputs[f"{task.grade_id}/{number}/{name}"] for name in names}
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
    return judge(task, seed, reports, arrays)


@pytest.fixture(params=LANGUAGES)
def language(request):
    attn.set_language(request.param)
    yield request.param
    attn.set_language("es")


# Right answers --------------------------------------------------------------------------


def test_every_task_has_right_answers_written_in_at_least_three_ways():
    assert set(answers.CORRECT) == set(TASKS)
    assert all(len(sources) >= 3 for sources in answers.CORRECT.values())


@pytest.mark.parametrize("exercise, source", RIGHT)
def test_a_right_answer_gets_full_marks_whatever_the_seed(exercise, source):
    attempt = function(exercise, source)
    for seed in SEEDS:
        mark = marked(exercise, attempt, seed)
        assert mark.points == mark.max_points == TASKS[exercise].max_points, mark
        assert mark.status == "passed" and mark.misconception is None


@pytest.mark.parametrize("exercise, source", RIGHT)
def test_a_right_answer_passes_check(exercise, source):
    result = check(exercise, function(exercise, source))
    assert result and result.misconception is None, result


# Wrong answers --------------------------------------------------------------------------


def test_every_task_has_a_catalogue_of_at_least_eight_known_mistakes_and_one_unknown():
    for exercise in TASKS:
        known = [known for _, known, _ in answers.WRONG[exercise]]
        assert len({*known} - {None}) >= 8
        assert None in known


@pytest.mark.parametrize("exercise", TASKS)
def test_every_known_mistake_is_in_the_catalogue(exercise):
    known = {misconception.id for misconception in EXERCISES[exercise].misconceptions}
    assert known == {known for _, known, _ in answers.WRONG[exercise]} - {None}


@pytest.mark.parametrize("exercise, known, source", SLIPS)
def test_a_wrong_answer_gets_less_than_full_marks_and_is_named_whatever_the_seed(
    exercise, known, source
):
    attempt = function(exercise, source)
    for seed in SEEDS:
        mark = marked(exercise, attempt, seed)
        assert mark.points < mark.max_points
        assert mark.status in ("partial", "wrong")
        assert mark.misconception == known, mark


@pytest.mark.parametrize("exercise, known, source", SLIPS)
def test_check_gives_a_wrong_answer_its_hint(exercise, known, source, language):
    result = check(exercise, function(exercise, source))
    assert result.status == "failed" and result.misconception == known
    hints = {m.id: m.hint[language] for m in EXERCISES[exercise].misconceptions}
    assert known is None or hints[known] in result.message


# What a slip costs, worked out by hand from the points in the text of the set.
WORTH = {
    (answers.SOFTMAX, "no maximum"): (12, "partial"),
    (answers.SOFTMAX, "maximum too early"): (12, "partial"),
    (answers.SOFTMAX, "NaN on an empty row"): (12, "partial"),
    (answers.SOFTMAX, "second axis"): (13, "partial"),
    (answers.SOFTMAX, "writes into scores"): (14, "partial"),
    (answers.SOFTMAX, "no temperature"): (0, "wrong"),
    (answers.ONCE, "no scale"): (0, "wrong"),
    (answers.ONCE, "mask ignored"): (8 + 1, "partial"),
    (answers.ONCE, "mask without if"): (0, "wrong"),
    (answers.ONCE, "finite fill"): (18, "partial"),
    (answers.ONCE, "maximum before the mask"): (18, "partial"),
    (answers.ONCE, "one batch axis only"): (18, "partial"),
    (answers.ONCE, "writes into the mask"): (19, "partial"),
    (answers.MASK, "counted"): (12, "partial"),
    (answers.MASK, "order only"): (6 + 1, "partial"),
    (answers.MASK, "padding only"): (0, "wrong"),
    (answers.MASK, "writes into ids"): (14, "partial"),
    (answers.PACKED, "unbatched only"): (18, "partial"),
    (answers.PACKED, "NaN if nothing is allowed"): (18, "partial"),
    (answers.PACKED, "swapped query and key"): (0, "wrong"),
    (answers.MENDED, "as given"): (0, "wrong"),
    (answers.MENDED, "unbatched only"): (12, "partial"),
    (answers.MENDED, "maximum lost"): (13, "partial"),
    (answers.MENDED, "batches only"): (0, "wrong"),
    (answers.MENDED, "writes into w_k"): (14, "partial"),
}


@pytest.mark.parametrize("exercise, slip", WORTH)
def test_a_slip_costs_what_the_set_says(exercise, slip):
    (source,) = [source for name, _, source in answers.WRONG[exercise] if name == slip]
    mark = marked(exercise, function(exercise, source))
    assert (mark.points, mark.status) == WORTH[exercise, slip], mark


def test_an_argument_that_was_written_into_is_named():
    (source,) = [s for name, _, s in answers.WRONG[answers.MASK] if name == "writes into ids"]
    assert marked(answers.MASK, function(answers.MASK, source)).modified == "ids"


@pytest.mark.parametrize("exercise", TASKS)
def test_a_constant_earns_nothing(exercise):
    names = TASKS[exercise].exercise.outputs

    def constant(first, *rest):
        return np.zeros(first.shape) if len(names) == 1 else (first, first)

    assert marked(exercise, constant).points == 0


# Mutants --------------------------------------------------------------------------------

# Those that change no value of the function, by exercise, and why.
PEAK = "stands for the maximum of an empty row: any finite number will do"
ONE_AXIS = "the axis has size 1: its first place is its last"
EQUIVALENT = {
    (answers.SOFTMAX, "peak = np.where(peak == -np.inf, 1, peak)"): PEAK,
    (answers.SOFTMAX, "peak = np.where(peak == -np.inf, -1, peak)"): PEAK,
    (answers.ONCE, "exponentials = np.exp(scores - np.where(peak == -np.inf, 1, peak))"): PEAK,
    (answers.ONCE, "exponentials = np.exp(scores - np.where(peak == -np.inf, -1, peak))"): PEAK,
    (answers.ONCE, "output = (weights[..., None, :] @ value)[..., -1, :]"): ONE_AXIS,
    (
        answers.ONCE,
        "scores = (key @ query[..., None])[..., -1] / np.sqrt(query.shape[-1])",
    ): ONE_AXIS,
    (
        answers.ONCE,
        "allowed = np.ones(key.shape[:-0], dtype=bool) if mask is None else mask",
    ): "key.shape[:-0] is (): a single True broadcasts to the same mask",
    (answers.MASK, "length = ids.shape[1]"): "ids have two axes: the second is the last",
    (
        answers.MASK,
        "mask = np.zeros((batch, n, n))",
    ): "ones and zeros instead of True and False: values are compared, not their dtype",
    (answers.PACKED, "exponentials = np.exp(scores - np.where(peak == -np.inf, 1, peak))"): PEAK,
    (answers.PACKED, "exponentials = np.exp(scores - np.where(peak == -np.inf, -1, peak))"): PEAK,
    (
        answers.PACKED,
        "w = w_qkv.reshape(w_qkv.shape[0], 3, -2)",
    ): "NumPy takes any negative size for the one to work out",
    (
        answers.PACKED,
        "scores = scores + np.where(mask, 1, -np.inf)",
    ): "adding the same to every allowed score changes no weight",
    (
        answers.PACKED,
        "scores = scores + np.where(mask, -1, -np.inf)",
    ): "adding the same to every allowed score changes no weight",
}


@pytest.mark.parametrize("exercise", TASKS)
def test_mutants_of_right_answers_are_rejected_but_for_those_that_change_nothing(
    exercise, monkeypatch
):
    monkeypatch.setattr(judging, "misconception", lambda *arguments: None)  # the name is no matter
    changes = [
        (change, source)
        for right in answers.CORRECT[exercise].values()
        for change, source in mutants(right).items()
    ]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        survivors = {
            change.partition(" -> ")[2]
            for change, source in changes
            if marked(exercise, function(exercise, source), seed=1).status == "passed"
        }
    assert survivors == {change for name, change in EQUIVALENT if name == exercise}
    assert len(changes) > 40 and len(survivors) <= 0.05 * len(changes)


# The inputs -----------------------------------------------------------------------------


@pytest.mark.parametrize("exercise", TASKS)
@pytest.mark.parametrize("seed", SEEDS)
def test_every_group_has_inputs_and_every_input_a_group(exercise, seed):
    task = TASKS[exercise]
    groups = {task.group(case) for case in task.exercise.cases(seed)}
    assert groups == set(task.points) - {"arguments"}


def test_the_groups_of_rows_are_what_they_are_called():
    group = TASKS[answers.SOFTMAX].group
    rows, holes, empty = np.zeros((2, 3)), np.zeros((2, 3)), np.zeros((2, 3))
    holes[0, 1], empty[1] = -np.inf, -np.inf
    assert [group({"scores": s}) for s in (rows, holes, rows + 21, rows[None], empty)] == [
        "base", "base", "large numbers", "batches", "empty rows",
    ]  # fmt: skip
    assert group({"scores": rows + 20}) == "base"


# The master -----------------------------------------------------------------------------

STUB = re.compile(r"( *)### BEGIN SOLUTION\n.*?### END SOLUTION", re.DOTALL)


def cells(language="en"):
    return split(MASTER, language).cells


def graded(language):
    marks = [cell.metadata.get("nbgrader", {}) for cell in cells(language)]
    return {mark["grade_id"]: mark["points"] for mark in marks if mark.get("grade")}


def executed(language="en", *, released=False, capsys):
    """Run the code of an edition in order; return its namespace and what each cell printed."""
    namespace, printed = {}, []
    with np.printoptions():  # what the first cell sets must not outlive it
        for cell in cells(language):
            if cell.cell_type == "code":
                source = STUB.sub(r"\1...  # your code", cell.source) if released else cell.source
                exec(source, namespace)  # noqa: S102 - our own source
                printed.append(capsys.readouterr().out)
    attn.set_language("es")
    return namespace, printed


@pytest.mark.parametrize("edition", LANGUAGES)
def test_the_graded_cells_are_the_tasks_and_their_points_add_up_to_100(edition):
    points = graded(edition)
    tasks = {task.grade_id: task.max_points for task in PS2.tasks}
    assert list(points) == [*tasks, *PS2.manual]
    assert {name: points[name] for name in tasks} == tasks
    assert sum(points.values()) == 100
    assert MASTER.stem == PS2.name


@pytest.mark.parametrize("edition", LANGUAGES)
def test_what_the_cells_are_to_nbgrader(edition):
    for cell in cells(edition):
        mark = cell.metadata.get("nbgrader")
        if mark is None:
            assert "SOLUTION" not in cell.source
            continue
        assert mark["schema_version"] == 3 and mark["task"] is False
        assert mark["cell_type"] == cell.cell_type
        assert mark["solution"] == bool(STUB.search(cell.source))
        assert mark["locked"] == (not mark["solution"])
        if mark["grade"] and cell.cell_type == "code":
            task = TASKS[re.search(r'"(\w+)"', cell.source)[1]]
            assert cell.source == f'check("{task.exercise.id}", {task.exercise.id})'
            assert task.grade_id == mark["grade_id"]
    named = [cell.metadata.nbgrader.grade_id for cell in cells(edition) if cell.metadata]
    assert len(named) == len({*named}) == 13


@pytest.mark.parametrize("edition", LANGUAGES)
def test_the_points_in_the_text_are_those_of_the_tasks(edition):
    prose = [cell.source for cell in cells(edition) if cell.cell_type == "markdown"]
    said = [re.findall(r", (\d+)", text[text.rindex("\n\n") :]) for text in prose
            if "\n\nPuntos: " in text or "\n\nPoints: " in text]  # fmt: skip
    assert [sorted(map(int, points)) for points in said] == [
        sorted(task.points.values()) for task in PS2.tasks
    ]
    rows = re.findall(r"^\| \d\. .+ \| (\d+) \| (\d+) \|$", prose[0], flags=re.MULTILINE)
    assert [int(points) for points, _ in rows] == list(graded(edition).values())
    assert 60 <= sum(int(minutes) for _, minutes in rows) <= 120
    by_hand = re.findall(r"^\d\. \((\d+) ", prose[-2], flags=re.MULTILINE)
    assert sum(map(int, by_hand)) == graded(edition)["same-projection"]


def test_the_solutions_of_the_master_get_full_marks(capsys):
    namespace, _ = executed(capsys=capsys)
    for exercise in TASKS:
        for seed in SEEDS:
            assert marked(exercise, namespace[exercise], seed).status == "passed"


@pytest.mark.parametrize("edition", LANGUAGES)
def test_the_starting_code_is_unanswered_and_earns_nothing(edition, capsys):
    namespace, _ = executed(edition, released=True, capsys=capsys)
    for exercise in TASKS:
        mark = marked(exercise, namespace[exercise])
        assert (mark.points, mark.status) == (0, "unanswered")
        assert check(exercise, namespace[exercise]).status == "unanswered"
        assert marked(exercise, ...).status == "unanswered"


def test_the_function_to_mend_is_wrong_in_one_way_and_it_is_named(capsys):
    namespace, _ = executed(released=True, capsys=capsys)
    mark = marked(answers.MENDED, namespace["faulty_self_attention"])
    assert (mark.points, mark.misconception) == (0, "key_asks")

    def swapped(x, w_q, w_k, w_v):
        return namespace["faulty_self_attention"](x, w_k, w_q, w_v)

    assert marked(answers.MENDED, swapped).status == "passed"


def test_the_mask_shown_in_the_text_is_the_right_one(capsys):
    namespace, _ = executed(capsys=capsys)
    mask = namespace["causal_padding_mask"](namespace["ids"])
    shown = [["".join(map(str, row.astype(int))) for row in sentence] for sentence in mask]
    assert shown == namespace["expected"]


def test_the_experiment_measures_what_the_rubric_says(capsys):
    names, _ = executed(capsys=capsys)
    scores, keys, soft = (names[n] for n in ("random_scores", "effective_keys", "plain_softmax"))
    alone = np.eye(16, dtype=bool)
    one, other = (scores(d_k, shared=True) / np.sqrt(d_k) for d_k in (4, 256))
    measured = [
        *(keys(soft(scores(d_k, shared=False))) for d_k in (4, 256)),
        *(keys(soft(scores(d_k, shared=False) / np.sqrt(d_k))) for d_k in (4, 256)),
        keys(soft(one)),
        keys(soft(other)),
        keys(soft(np.where(alone, -np.inf, other))),
        keys(soft(other / 16)),
    ]
    for language in LANGUAGES:
        rubric = cells(language)[-1].source
        said = re.findall(r"\d+\.\d", rubric)
        assert said == [f"{number:.1f}" for number in measured]
    assert other[:, alone].mean().round() == 16
    assert abs(other[:, ~alone].mean()) < 0.05 and 1 < other[:, ~alone].std() < 1.3


@pytest.mark.parametrize("edition", LANGUAGES)
def test_every_number_in_the_text_is_printed_by_a_cell(edition, capsys):
    _, printed = executed(edition, capsys=capsys)
    shown = {round(float(number), 2) for number in re.findall(r"\d+\.?\d*", " ".join(printed))}
    code = " ".join(cell.source for cell in cells(edition) if cell.cell_type == "code")
    given = {float(number) for number in re.findall(r"\d+\.\d+", code)}
    for cell in cells(edition)[:-1]:
        if cell.cell_type == "markdown":
            for number in re.findall(r"\d+\.\d+", cell.source):
                assert float(number) in shown | given, number


def test_both_editions_say_as_much_with_the_same_code():
    spanish, english = (cells(language) for language in ("es", "en"))
    kinds = [[cell.cell_type for cell in edition] for edition in (spanish, english)]
    assert kinds[0] == kinds[1]
    for one, other in zip(spanish, english, strict=True):
        if one.cell_type == "code":
            assert one.source.replace('language("es")', 'language("en")') == other.source
        else:
            assert one.source != other.source
            assert 0.7 < len(one.source) / len(other.source) < 1.5
            for part in (r"`[^`\n]+`", r"\$[^$\n]+\$", r"^(#+|-|\d\.) ", r"\d+\.\d+"):
                found = [re.findall(part, text, flags=re.MULTILINE)
                         for text in (one.source, other.source)]  # fmt: skip
                assert sorted(found[0]) == sorted(found[1])
