"""The exercises of the problem sets: the tests of the chapters' exercises, and any seed."""

import numpy as np
import pytest

from assignments.problem_sets import folders, problem_set
from attn_course.exercises import exercises
from tests import exercise_proofs
from tests.exercise_proofs import in_each_language

SETS = [name for name in folders() if name != "project"]
EXERCISES = {task.exercise.id: task.exercise for name in SETS for task in problem_set(name).tasks}


@pytest.mark.parametrize(("proof", "exercise"), **exercise_proofs.of_each(EXERCISES.values()))
def test_every_exercise(proof, exercise):
    proof(exercise)


@pytest.mark.grader
@pytest.mark.parametrize("exercise", EXERCISES.values(), ids=EXERCISES)
def test_inputs_tell_every_mistake_from_the_oracle_whatever_the_seed(exercise):
    # Each course draws its own seed.
    exercise_proofs.inputs_tell_every_mistake_from_the_oracle(exercise, seeds=range(1, 10))


def test_names_of_exercises_are_unique_and_not_in_the_package():
    names = [task.exercise.id for name in SETS for task in problem_set(name).tasks]
    names += [name for ids in exercises().values() for name in ids]
    assert len(names) == len(set(names))
    assert len(EXERCISES) == 64


def test_a_division_by_zero_is_not_called_a_mask_where_there_is_none():
    def attempt(vectors, query, k):
        with np.errstate(invalid="ignore"):
            lengths = np.linalg.norm(vectors, axis=1) * np.linalg.norm(query, axis=-1)[..., None]
            similarity = query @ vectors.T / lengths
        ids = np.argsort(similarity, axis=-1)[..., ::-1][..., :k]
        return ids, np.take_along_axis(similarity, ids, axis=-1)

    said = {"es": "0 entre 0 no es un número", "en": "0 over 0 is not a number"}
    unsaid = {"es": "nada está permitido", "en": "nothing is allowed"}
    for language, result in in_each_language(EXERCISES["nearest"], attempt):
        assert said[language] in result.message and unsaid[language] not in result.message


def test_several_wrong_outputs_are_listed():
    attempt = lambda w, b, max_norm: (w + 7, b + 7, np.float64(-7))
    listed = {
        "es": "`w_gradient`, `b_gradient` y `norm`",
        "en": "`w_gradient`, `b_gradient` and `norm`",
    }
    for language, result in in_each_language(EXERCISES["clip_gradients"], attempt):
        assert listed[language] in result.message
