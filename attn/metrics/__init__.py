"""Scores for texts and for alignments, in NumPy.

====================  ===================================================================
`text`                ``exact_match``, ``token_accuracy``, ``bleu``, ``chrf``, ``rouge``
`alignment`           ``align`` attention weights, ``alignment_error_rate``, and two
                      alignments that ignore the words, to compare with
`ibm_model_1`         the alignments of 1993: word probabilities by EM, no order, no network
`translation_memory`  the most similar known sentence, a baseline to beat
`overlap`             ``one_word_apart``: how near a test set is to the training set
`intervals`           ``wilson_interval`` of a share, ``bootstrap_interval`` of a mean
====================  ===================================================================
"""

from attn.metrics.alignment import (
    align,
    alignment_error_rate,
    diagonal_alignment,
    uniform_alignment,
)
from attn.metrics.ibm_model_1 import IBMModel1, ibm_model_1
from attn.metrics.intervals import bootstrap_interval, wilson_interval
from attn.metrics.overlap import one_word_apart
from attn.metrics.text import bleu, chrf, exact_match, rouge, token_accuracy
from attn.metrics.translation_memory import translation_memory

__all__ = [
    "IBMModel1",
    "align",
    "alignment_error_rate",
    "bleu",
    "bootstrap_interval",
    "chrf",
    "diagonal_alignment",
    "exact_match",
    "ibm_model_1",
    "one_word_apart",
    "rouge",
    "token_accuracy",
    "translation_memory",
    "uniform_alignment",
    "wilson_interval",
]
