"""The state of a recurrent decoder between steps."""

from torch import Tensor


class RecurrentCache:
    """The state of the decoder of `RecurrentEncoderDecoder` between steps.

    Attributes
    ----------
    state : Tensor, shape (1, n_rows, d_model), or None
        None before the first step.
    length : int
        The number of target tokens it has read.
    """

    def __init__(self) -> None:
        self.state: Tensor | None = None
        self.length = 0

    def reorder(self, rows: Tensor) -> None:
        """Make row i of the batch a copy of the old row ``rows[i]``."""
        if self.state is not None:
            self.state = self.state[:, rows]
