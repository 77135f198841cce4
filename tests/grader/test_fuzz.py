"""No submission, timestamp or answer raises, warns, hangs or opens files beyond its folder."""

import shutil

import pytest

from tests.grader.fuzz import Fuzz

MANY = 2000


@pytest.mark.parametrize(
    "numbers",
    [range(0, MANY, 8), pytest.param(range(MANY), marks=pytest.mark.grader)],
    ids=["a few", "all"],
)
def test_no_submission_crashes_the_code_outside_the_sandbox(pristine, tmp_path, numbers):
    fuzz, found = Fuzz(shutil.copytree(pristine, tmp_path / "course")), {}
    for number in numbers:
        try:
            fuzz.try_one(number)
        except BaseException as error:  # noqa: BLE001 - every failure is collected under its number
            found[number] = f"{type(error).__name__}: {error}"
    assert not found
