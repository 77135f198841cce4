"""Parametrise the tests of each set, and import the fixtures of the grader's tests."""

from tests.grader.conftest import browser, course, hand_in, postgresql, pristine  # noqa: F401 - fixtures


def pytest_generate_tests(metafunc):
    """Parametrise the tests that all sets share with the answers of each set."""
    if hasattr(metafunc.cls, "answers"):
        from tests.test_assignments.proofs import parametrize  # once its asserts are rewritten

        parametrize(metafunc)
