"""The answers that the tests of a set run on, and the fixtures of the grader's tests."""

from tests.grader.conftest import browser, course, hand_in, postgresql, pristine  # noqa: F401


def pytest_generate_tests(metafunc):
    """Let the tests that every set shares run on the answers of each."""
    if hasattr(metafunc.cls, "answers"):
        from tests.test_assignments.proofs import parametrize  # once its asserts are rewritten

        parametrize(metafunc)
