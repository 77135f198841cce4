"""What a translator has learned, measured: alignments, references, meanings, agreement, heads.

Each function takes a translator and annotated pairs of the grammar. The decoder reads the
right words so far (teacher forcing), so that one mistake does not cause the next.
"""

from collections import defaultdict
from collections.abc import Callable, Sequence, Sized
from typing import TypedDict

import numpy as np
import torch
from numpy.typing import NDArray

from attn._checks import wrong
from attn.applications._sequences import collate, placed, predict
from attn.applications.translation._alignments import alignment_errors
from attn.applications.translation._heads import STACKS, make_uniform, without_head
from attn.applications.translation.translator import Translator
from attn.applications.translation.vocabularies import checked_pairs
from attn.corpus import Pair

__all__ = [
    "STACKS",
    "ablation",
    "agreement",
    "alignment_errors",
    "coreference",
    "make_uniform",
    "polysemy",
    "predictions",
    "without_head",
]


class CoreferenceFacts(TypedDict):
    """What `coreference` returns."""

    weight: NDArray[np.floating]
    points: NDArray[np.floating]
    word_points: NDArray[np.floating]
    chance: float
    right: float
    n: int


def coreference(translator: Translator, pairs: Sequence[Pair]) -> CoreferenceFacts:
    """Measure how much each head attends to the noun that a pronoun stands for.

    Two queries may need that noun: the pronoun in the encoder, and in the cross-attention the
    word whose form depends on it, such as the adjective in "it was tired".

    Parameters
    ----------
    translator : Translator
    pairs : sequence of attn.corpus.Pair
        Pairs without a pronoun are skipped.

    Returns
    -------
    dict
        ``weight``, an array of shape (n_layers, n_heads): the mean weight of the pronoun on
        its antecedents; ``points``, of the same shape: how often an antecedent has the largest
        weight of the row; ``word_points``, as ``points``, for the word that depends on the
        antecedent; ``chance``, the mean weight if all weights were equal; ``right``, how often
        that word is predicted right; ``n``, the number of cases.

    Raises
    ------
    ValueError
        If no pair has a pronoun.
    """
    weight: list[NDArray[np.floating]] = []
    points: list[NDArray[np.bool_]] = []
    word_points: list[NDArray[np.bool_]] = []
    chance: list[float] = []
    right: list[bool] = []
    for pair in checked_pairs(pairs):
        if not pair.coreferences:
            continue
        attention = translator.attention(pair.source, pair.target)
        predicted = predictions(translator, pair)
        for reference in pair.coreferences:
            antecedents = list(reference.antecedents)
            rows = attention.encoder[..., reference.pronoun, :]
            of_word = attention.cross[..., reference.decides, :]
            weight.append(rows[..., antecedents].sum(axis=-1))
            points.append(np.isin(rows.argmax(axis=-1), antecedents))
            word_points.append(np.isin(of_word.argmax(axis=-1), antecedents))
            chance.append(len(antecedents) / rows.shape[-1])
            right.append(bool(predicted[reference.decides]))
    _refuse_none(right, "a pronoun")
    return {
        "weight": np.mean(weight, axis=0),
        "points": np.mean(points, axis=0),
        "word_points": np.mean(word_points, axis=0),
        "chance": float(np.mean(chance)),
        "right": float(np.mean(right)),
        "n": len(right),
    }


def polysemy(
    translator: Translator, pairs: Sequence[Pair]
) -> dict[tuple[str, str], tuple[float, int]]:
    """Measure how often a word with several meanings is translated by the right one.

    Parameters
    ----------
    translator : Translator
    pairs : sequence of attn.corpus.Pair

    Returns
    -------
    dict of (str, str) to (float, int)
        For each word and meaning, the fraction that is right and the number of cases. A case
        is right if every target token with a sure link to the word is predicted.

    Raises
    ------
    ValueError
        If no pair has such a word.
    """
    found: dict[tuple[str, str], list[bool]] = defaultdict(list)
    for pair in checked_pairs(pairs):
        if pair.polysemes:
            predicted = predictions(translator, pair)
            for known in pair.polysemes:
                places = [j for i, j in pair.sure if i == known.position]
                found[known.word, known.sense].append(bool(predicted[places].all()))
    _refuse_none(found, "a word of several meanings")
    return {key: (float(np.mean(right)), len(right)) for key, right in sorted(found.items())}


def agreement(translator: Translator, pairs: Sequence[Pair]) -> dict[int, tuple[float, int]]:
    """Measure how often a word agrees with another, by the distance between them.

    Parameters
    ----------
    translator : Translator
    pairs : sequence of attn.corpus.Pair

    Returns
    -------
    dict of int to (float, int)
        For each distance in target tokens, the fraction that is right and the number of cases.

    Raises
    ------
    ValueError
        If no pair has a word that agrees.
    """
    found: dict[int, list[bool]] = defaultdict(list)
    for pair in checked_pairs(pairs):
        if pair.agreements:
            predicted = predictions(translator, pair)
            for agreeing in pair.agreements:
                found[agreeing.distance].append(bool(predicted[agreeing.position]))
    _refuse_none(found, "a word that agrees")
    return {distance: (float(np.mean(r)), len(r)) for distance, r in sorted(found.items())}


def ablation(
    translator: Translator,
    pairs: Sequence[Pair],
    measure: Callable[[Translator, Sequence[Pair]], float],
) -> dict[str, NDArray[np.float64]]:
    """Return a measure of the translator with each head cut, one at a time.

    Parameters
    ----------
    translator : Translator
    pairs : sequence of attn.corpus.Pair
    measure : callable, (translator, pairs) -> float

    Returns
    -------
    dict of str to array, shape (n_layers, n_heads)
        For the heads of the "encoder", and of the "decoder" and the "cross"-attention of the
        decoder.

    References
    ----------
    Michel, Levy and Neubig (2019), Are Sixteen Heads Really Better than One?, section 3.2.
    """
    config = translator.model.config
    results = {name: np.zeros((config.n_layers, config.n_heads)) for name in STACKS}
    for name, numbers in results.items():
        for layer, head in np.ndindex(*numbers.shape):
            with without_head(translator.model, name, layer, head):
                numbers[layer, head] = measure(translator, pairs)
    return results


@torch.no_grad()
def predictions(translator: Translator, pair: Pair) -> NDArray[np.bool_]:
    """Return for each token of the translation whether the model predicts it.

    Returns
    -------
    array of bool, shape (tgt_len + 1,)
        The last entry is that of ``<eos>``.
    """
    src, lengths, tgt = placed(translator.model, *collate(translator._examples([pair])))
    logits, targets = predict(translator.model, (src, lengths, tgt))
    return (logits.argmax(dim=-1) == targets)[0].cpu().numpy()


def _refuse_none(found: Sized, what: str) -> None:
    if not found:
        raise wrong("pairs", f"at least one with {what}", "none")
