"""What a function refuses: a test from a table."""

import pytest


def refusals(*rows, of=None):
    """Return a parametrised test; each row is a call, and how its ValueError begins.

    With a function `of`, each row has its arguments in place of the call.
    """

    @pytest.mark.parametrize("row", rows, ids=[message for *_, message in rows])
    def test(row):
        *arguments, message = row
        with pytest.raises(ValueError, match=f"^{message}"):
            of(*arguments) if of else arguments[0]()

    return test
