"""What a recurrent decoder remembers between steps: far less than a Transformer's cache."""

from torch import Tensor


class RecurrentCache:
    """What the decoder of `RecurrentEncoderDecoder` remembers between steps: its state.

    Attributes
    ----------
    state : Tensor, shape (1, n_rows, d_model), or None
        None before the first step.
    length : int
        How many target tokens it has seen.
    """

    def __init__(self) -> None:
        self.state: Tensor | None = None
        self.length = 0

    def reorder(self, rows: Tensor) -> None:
        """Let row i of the batch become a copy of what row ``rows[i]`` was."""
        if self.state is not None:
            self.state = self.state[:, rows]
