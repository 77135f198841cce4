"""Results of a translator: attention weights and scores."""

from collections.abc import Sequence
from typing import NamedTuple, TypedDict

import numpy as np
from numpy.typing import NDArray

from attn.metrics import bleu, chrf, exact_match


class TranslationAttention(NamedTuple):
    """The attention weights while a sentence is translated.

    Attributes
    ----------
    source, target : list of str
        The tokens. Row i of `decoder` and `cross` belongs to the query that *predicts*
        ``target[i]``, the last of which is ``<eos>``; what it can read begins with ``<sos>``.
    encoder : array, shape (n_layers, n_heads, src_len, src_len)
    decoder : array, shape (n_layers, n_heads, tgt_len, tgt_len)
    cross : array, shape (n_layers, n_heads, tgt_len, src_len)
    """

    source: list[str]
    target: list[str]
    encoder: NDArray[np.floating]
    decoder: NDArray[np.floating]
    cross: NDArray[np.floating]


class TranslationScores(TypedDict):
    """What `Translator.evaluate` returns."""

    exact_match: float
    token_accuracy: float
    bleu: float
    bleu_signature: str
    chrf: float
    chrf_signature: str
    n_pairs: int


def compare(found: Sequence[str], right: Sequence[str], token_accuracy: float) -> TranslationScores:
    """Return the scores of translations, compared with the right ones."""
    by_words, by_characters = bleu(found, right), chrf(found, right)
    return {
        "exact_match": exact_match(found, right),
        "token_accuracy": token_accuracy,
        "bleu": by_words.score,
        "bleu_signature": by_words.signature,
        "chrf": by_characters.score,
        "chrf_signature": by_characters.signature,
        "n_pairs": len(right),
    }
