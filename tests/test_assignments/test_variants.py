"""The variants of tasks: each passes the tests of its set, and needs a different answer."""

import inspect
import itertools

import pytest

from assignments.problem_sets import folders
from grader import variants
from grader.problem_sets import load
from notebooks.build import LANGUAGES
from tests.exercise_proofs import QUICK
from tests.test_assignments.proofs import SECRETS, Answers, Proofs, choices, function, marked

VERSIONS = [
    (name, task, version)
    for name, folder in folders().items()
    for task, named in variants.versions(folder).items()
    for version in named
]
PROOFS = [name for name in dir(Proofs) if name.startswith("test_")]


class Light(Proofs):
    """The tests of a set with a variant, for few courses: the practice set is tested with many."""

    secrets, few = SECRETS[:8], SECRETS[:1]

    def __init__(self, answers):
        self.answers, self._executed = answers, {}

    def executed(self, language="en", *, released=False, capsys):
        if (language, released) not in self._executed:
            found = super().executed(language, released=released, capsys=capsys)
            self._executed[language, released] = found
        return self._executed[language, released]


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """Return a function that makes the tests of a set with a variant, and names its exercise."""
    found = {}

    def made(name, task, version):
        if (name, task, version) not in found:
            sets = tmp_path_factory.mktemp(f"{name}-{task}-{version}")
            variants.copy_of(folders()[name], sets, {task: version})
            answers = Answers(name, sets)
            (exercise,) = [one.exercise.id for one in answers.set.tasks if one.grade_id == task]
            found[name, task, version] = Light(answers), exercise
        return found[name, task, version]

    return made


def calls(proof, answers, exercise):
    """Yield the arguments of each run of a shared test that concerns an exercise."""
    found = {"edition": LANGUAGES, "language": LANGUAGES}
    for argument, named in choices(answers).items():
        found[argument] = [one for one in named.values() if exercise in (one, one[0])]
    wanted = [name for name in inspect.signature(proof).parameters if name in found]
    for values in itertools.product(*(found[name] for name in wanted)):
        yield dict(zip(wanted, values, strict=True))


@pytest.mark.grader
@pytest.mark.parametrize(
    ("version", "name"),
    [
        pytest.param(version, name, id="-".join([*version, name.removeprefix("test_")]))
        for version, name in itertools.product(VERSIONS, PROOFS)
    ],
)
def test_a_variant_passes_the_tests_of_its_set(version, name, made, capsys):
    proofs, exercise = made(*version)
    proof = getattr(proofs, name)
    also = {"capsys": capsys} if "capsys" in inspect.signature(proof).parameters else {}
    for arguments in calls(proof, proofs.answers, exercise):
        try:
            proof(**arguments, **also)
        except AssertionError as error:
            error.add_note(f"with {arguments}")
            raise


@pytest.mark.grader
@pytest.mark.parametrize("proof", QUICK)
@pytest.mark.parametrize("version", VERSIONS, ids="-".join)
def test_the_exercise_of_a_variant_passes_the_tests_of_exercises(version, proof, made):
    proofs, exercise = made(*version)
    proof(proofs.tasks[exercise].exercise)


@pytest.mark.grader
@pytest.mark.parametrize("version", VERSIONS, ids="-".join)
def test_answers_to_a_variant_get_at_most_half_the_points_in_the_practice_set_and_vice_versa(
    version, made
):
    practice = Answers(version[0])
    proofs, exercise = made(*version)
    for mine, other in ((practice, proofs.answers), (proofs.answers, practice)):
        task = other.tasks[exercise]
        for source in mine.CORRECT[exercise].values():
            assert marked(task, function(exercise, source)).points <= task.max_points / 2, source


@pytest.mark.parametrize("name", sorted({name for name, _, _ in VERSIONS}))
def test_a_combination_of_variants_does_not_depend_on_their_order(name, tmp_path):
    found = variants.versions(folders()[name])
    tasks = {task.grade_id for task in load(folders()[name]).tasks}
    assert len(found) >= 2 and set(found) <= tasks
    for number, chosen in enumerate(itertools.product(*found.values())):
        pairs, texts = list(zip(found, chosen, strict=True)), []
        for order in (pairs, pairs[::-1]):
            place = tmp_path / f"{number}-{len(texts)}"
            folder = variants.copy_of(folders()[name], place, dict(order))
            (folder / variants.CHOSEN).unlink()  # it lists them in the order given
            texts.append({path.name: path.read_text("utf-8") for path in folder.glob("*.*")})
        assert texts[0] == texts[1]
        assert {task.grade_id for task in load(folder).tasks} == tasks
