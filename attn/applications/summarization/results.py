"""Results of a summarizer: attention weights and scores."""

from typing import NamedTuple, TypedDict

import numpy as np
from numpy.typing import NDArray


class SummaryAttention(NamedTuple):
    """The attention weights while a headline is written.

    Attributes
    ----------
    story, headline : list of str
        The tokens. Row i of `decoder` and `cross` belongs to the query that *predicts*
        ``headline[i]``, the last of which is ``<eos>``; what it reads begins with ``<sos>``.
    encoder : array, shape (n_layers, n_heads, src_len, src_len)
    decoder : array, shape (n_layers, n_heads, tgt_len, tgt_len)
    cross : array, shape (n_layers, n_heads, tgt_len, src_len)
    """

    story: list[str]
    headline: list[str]
    encoder: NDArray[np.floating]
    decoder: NDArray[np.floating]
    cross: NDArray[np.floating]


class SummaryScores(TypedDict):
    """What `Summarizer.evaluate` returns."""

    exact_match: float
    generate: dict[str, float]
    extract: dict[str, float]
    lead: dict[str, float]
    n_stories: int
