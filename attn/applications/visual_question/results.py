"""Results of the visual answerer: an answer, and attention weights."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray


class Answer(NamedTuple):
    """An answer and its probability."""

    text: str
    probability: float


class VisualAttention(NamedTuple):
    """The weights with which the tokens of a question attend to the patches.

    Attributes
    ----------
    tokens : list of str
        ``<sos>``, at whose position the answer is read, and the tokens of the question.
    weights : array, shape (n_layers, n_heads, n_tokens, n_rows, n_columns)
        For each layer, head and token a map over the patches that sums to 1.
    """

    tokens: list[str]
    weights: NDArray[np.floating]
