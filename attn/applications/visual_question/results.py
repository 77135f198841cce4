"""What the answerer of questions about images tells: an answer, and where it looked."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray


class Answer(NamedTuple):
    """The answer, and how probable the model holds it to be."""

    text: str
    probability: float


class VisualAttention(NamedTuple):
    """What the tokens of a question look at.

    Attributes
    ----------
    tokens : list of str
        Those of the question after ``<sos>``, from whose position the answer is read.
    weights : array, shape (n_layers, n_heads, n_tokens, n_rows, n_columns)
        For each layer, head and token a map of the patches, which sums to 1.
    """

    tokens: list[str]
    weights: NDArray[np.floating]
