"""Scores of texts against references: exact match, token accuracy, BLEU, chrF and ROUGE."""

import operator
import unicodedata
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import regex
from numpy.typing import ArrayLike, NDArray

from attn._checks import argument_error
from attn._letters import LETTERS

# The functions import sacrebleu when they run, because loading it is slow.
if TYPE_CHECKING:
    from sacrebleu.metrics.base import Metric


_WORD = regex.compile(LETTERS)


class CorpusScore(NamedTuple):
    """A score of all texts together, from 0 to 100, and how it was computed: report both."""

    score: float
    signature: str


def exact_match(predictions: Sequence[Any], references: Sequence[Any]) -> float:
    """Return the fraction of predictions, texts or lists of ids, that are right as a whole.

    Raises
    ------
    ValueError
        If they are not lists of equal length, or are empty.

    Examples
    --------
    >>> exact_match(["la casa roja", "el gato"], ["la casa roja", "un gato"])
    0.5
    """
    for name, given in (("predictions", predictions), ("references", references)):
        if isinstance(given, str):
            raise argument_error(name, "a list", "one text")
    _check_pairs(predictions, references)
    n_right: int = sum(map(operator.eq, map(_plain, predictions), map(_plain, references)))
    return n_right / len(references)


def _plain(one: Any) -> Any:
    """Return a row of an array as a list, so that == compares it as a whole."""
    return one.tolist() if hasattr(one, "tolist") else one


def as_array(x: Any) -> NDArray[Any]:
    """Return numbers, or a tensor on any device, as an array of at least 32 bits."""
    if hasattr(x, "detach"):
        x = x.detach().cpu()
        x = x.float() if x.is_floating_point() and x.dtype.itemsize < 4 else x
    return np.asarray(x)


def token_accuracy(predictions: ArrayLike, targets: ArrayLike, pad_id: int = 0) -> float:
    """Return the fraction of positions with the right token, padding left out.

    Parameters
    ----------
    predictions, targets : array of int, shape (...)
        The token predicted at each position, given the right ones before it, and the right one.
    pad_id : int, default 0
        Positions with this target do not count.

    Raises
    ------
    ValueError
        If the shapes differ, or no position counts.

    Examples
    --------
    >>> token_accuracy([[5, 6, 9], [7, 4, 4]], [[5, 6, 3], [7, 3, 0]])
    0.6
    """
    predictions, targets = as_array(predictions), as_array(targets)
    if predictions.shape != targets.shape:
        raise argument_error(
            "predictions", f"shape {targets.shape} to match targets", predictions.shape
        )
    counts = targets != pad_id
    if not counts.any():
        raise argument_error("targets", "a token other than padding", "none")
    return float((predictions == targets)[counts].mean())


def bleu(predictions: Sequence[str], references: Sequence[str]) -> CorpusScore:
    """Return the BLEU score: the n-grams of up to four tokens that texts share with references.

    It is computed over all texts together, which is not the mean over texts. Texts are as people
    write them: sacrebleu splits them into tokens itself.

    Raises
    ------
    ValueError
        If they are not texts, are empty, or differ in number.

    References
    ----------
    Papineni et al. (2002). Post (2018), A Call for Clarity in Reporting BLEU Scores, for the
    signature. Vaswani et al. (2017), Table 2.

    Examples
    --------
    >>> score, signature = bleu(["el gato come pescado hoy"], ["el gato come pescado hoy ."])
    >>> round(score, 2), signature.rpartition("|")[0]
    (81.87, 'nrefs:1|case:mixed|eff:no|tok:13a|smooth:exp')
    """
    from sacrebleu.metrics.bleu import BLEU

    return _by_sacrebleu(BLEU(), predictions, references)


def chrf(predictions: Sequence[str], references: Sequence[str]) -> CorpusScore:
    """Return the chrF score: the character n-grams that texts share with references.

    It is the F score of n-grams of up to six characters, in which recall counts twice as much as
    precision, computed over all texts together. A word in the wrong gender or number is wrong for
    `bleu`, but here its stem still counts. White space does not count. Errors are those of `bleu`.

    References
    ----------
    Popović (2015), chrF: character n-gram F-score for automatic MT evaluation. Post (2018) for the
    signature.

    Examples
    --------
    >>> score, signature = chrf(["la casa rojo"], ["la casa roja"])
    >>> round(score, 2), signature.rpartition("|")[0]
    (85.91, 'nrefs:1|case:mixed|eff:yes|nc:6|nw:0|space:no')
    """
    from sacrebleu.metrics.chrf import CHRF

    return _by_sacrebleu(CHRF(), predictions, references)


def rouge(predictions: Sequence[str], references: Sequence[str]) -> dict[str, float]:
    """Return the ROUGE scores of texts against references. Errors are those of `bleu`.

    Returns
    -------
    dict of str to float
        The F1 of "rouge1" (words), "rouge2" (pairs of neighbours) and "rougeL" (the longest common
        subsequence), from 0 to 1: means over the texts.

    References
    ----------
    Lin (2004), ROUGE: A Package for Automatic Evaluation of Summaries.

    Examples
    --------
    >>> scores = rouge(["el niño está aquí"], ["Aquí está el niño."])
    >>> {name: round(score, 2) for name, score in scores.items()}
    {'rouge1': 1.0, 'rouge2': 0.33, 'rougeL': 0.5}
    """
    from rouge_score.rouge_scorer import RougeScorer

    _check_texts(predictions, references)
    kinds = ("rouge1", "rouge2", "rougeL")
    scorer = RougeScorer(kinds, tokenizer=_Words())
    scores = [scorer.score(r, p) for p, r in zip(predictions, references, strict=True)]
    return {kind: float(np.mean([score[kind].fmeasure for score in scores])) for kind in kinds}


class _Words:
    """Splits a text into words in lower case; the library's own tokenizer drops accents."""

    def tokenize(self, text: str) -> list[str]:
        text = unicodedata.normalize("NFC", text.lower())
        return [match[0] for match in _WORD.finditer(text)]


def _by_sacrebleu(
    metric: "Metric", predictions: Sequence[str], references: Sequence[str]
) -> CorpusScore:
    _check_texts(predictions, references)
    score = metric.corpus_score(list(predictions), [list(references)]).score
    return CorpusScore(score, str(metric.get_signature()))


def _check_pairs(predictions: Sequence[Any], references: Sequence[Any]) -> None:
    if len(predictions) != len(references):
        raise argument_error(
            "predictions", f"{len(references)}, as many as references", len(predictions)
        )
    if not len(references):
        raise argument_error("references", "at least one", "none")


def _check_texts(predictions: Sequence[str], references: Sequence[str]) -> None:
    for name, texts in (("predictions", predictions), ("references", references)):
        if isinstance(texts, str):
            raise argument_error(name, "a list of texts", "one text")
        for text in texts:
            if not isinstance(text, str):
                raise argument_error(name, "texts", type(text).__name__)
    _check_pairs(predictions, references)
