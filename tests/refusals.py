"""What a function refuses: a test from a table."""

import pytest


def refusals(*rows, of=None):
    """Return a parametrised test; each row is a call, and how its ValueError begins.

    With a function `of`, each row has its argument in place of the call.
    """

    @pytest.mark.parametrize("refused, message", rows)
    def test(refused, message):
        with pytest.raises(ValueError, match=f"^{message}"):
            of(refused) if of else refused()

    return test
