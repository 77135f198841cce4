"""The probability that each word of a translation is right, so that a guess can be marked."""

import json
from collections.abc import Sequence
from functools import cache
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import regex
import torch
from numpy.typing import NDArray

from attn.applications import models
from attn.applications._sequences import Ids, collate, placed, predict

if TYPE_CHECKING:
    from attn.applications.translation.translator import Translator

FITTED = models.folder("languages") / "calibrated.json"
# A word that is less probable than this is a guess; this mark is put after it.
GUESSED, MARK = 0.5, "[?]"
_WORD = regex.compile(r"[\p{L}\p{N}][\p{L}\p{M}\p{N}'’-]*")


class Translation(NamedTuple):
    """A translation, and the probability that each of its `words` is right."""

    text: str
    word_probabilities: list[float]

    @property
    def words(self) -> list[str]:
        """The words of the text, and its numbers, without marks."""
        return words_of(self.text)

    def marked(self, below: float = GUESSED) -> str:
        """Return the text with `MARK` after each word that is less probable than `below`.

        Examples
        --------
        >>> Translation("El gato ladró.", [0.9, 0.8, 0.2]).marked()
        'El gato ladró[?].'
        """
        probabilities = iter(self.word_probabilities)
        return str(_WORD.sub(lambda m: m[0] + MARK * (next(probabilities) < below), self.text))


def words_of(text: str) -> list[str]:
    """Return the words of a text, and its numbers, without marks."""
    return list(_WORD.findall(text))


@torch.no_grad()
def word_chances(
    translator: "Translator", sources: Sequence[Ids], written: Sequence[Ids]
) -> list[NDArray[np.floating]]:
    """Return the probability that the model gave each word of a translation, given the words
    before.

    `sources` is what the encoder read and `written` what the decoder wrote. The probability of a
    word is the product of the probabilities of its tokens.
    """
    target, model = translator.target, translator.model

    def chances(some: list[tuple[Ids, Ids]]) -> list[NDArray[np.floating]]:
        # `placed` returns as many tensors as it gets, which its type annotation does not say.
        logits, targets = predict(model, placed(model, *collate(some)))  # type: ignore[arg-type]
        log_p = logits.double().log_softmax(-1).gather(-1, targets[..., None])[..., 0].cpu().numpy()
        return [_of_words(target, ids, row) for (_, ids), row in zip(some, log_p, strict=True)]

    said = [[i for i in ids if i != target.eos_id] for ids in written]
    pairs = list(zip(sources, said, strict=True))
    return translator._in_batches(pairs, chances, lambda pair: len(pair[0]))


def _of_words(target: Any, ids: Ids, log_p: NDArray[np.floating]) -> NDArray[np.floating]:
    """Return the probabilities of words, each the product of those of its tokens."""
    of = [log_p[: len(ids)][is_its].sum() for is_its in _tokens_of_words(target, ids)]
    chances: NDArray[np.floating] = np.exp(np.array(of, dtype=float))
    return chances


def _tokens_of_words(target: Any, ids: Ids) -> list[NDArray[np.bool_]]:
    """Return for each word which tokens have a letter of it; a token may belong to two words."""
    ends = np.array([len(target.decode(ids[: i + 1])) for i in range(len(ids))], dtype=int)
    begins = np.concatenate(([0], ends[:-1])).astype(int)
    return [(begins < m.end()) & (ends > m.start()) for m in _WORD.finditer(target.decode(ids))]


def of_tokens(
    target: Any, ids: Ids, logits: torch.Tensor, calibration: tuple[float, float]
) -> NDArray[np.floating]:
    """Return for each token and ``<eos>`` the probability that its word is right; 1 without a word.

    `logits`, of shape (n, vocab_size), are those with which the tokens and ``<eos>`` were predicted.
    """
    written = torch.tensor(ids, dtype=torch.int64, device=logits.device)[:, None]
    log_p = logits[: len(ids)].double().log_softmax(-1).gather(-1, written)[:, 0].numpy()
    words = calibrated(_of_words(target, ids, log_p), *calibration)
    found = np.ones(len(ids) + 1)
    for is_its, probability in zip(_tokens_of_words(target, ids), words, strict=True):
        found[:-1][is_its] = np.minimum(found[:-1][is_its], probability)
    return found


@cache
def fitted() -> dict[str, tuple[float, float]]:
    """Return the slope and the offset with which chances are calibrated, by the translator's name.

    The name of a translator from Spanish ends in ``_es``.
    """
    stored = json.loads(FITTED.read_text(encoding="utf-8"))["fitted"]
    return {name: (slope, offset) for name, (slope, offset) in stored.items()}


def calibrated(chances: NDArray[np.floating], slope: float, offset: float) -> NDArray[np.floating]:
    """Return the probabilities that words are right: ``sigmoid(slope * logit(chance) + offset)``.

    References
    ----------
    Platt (1999), Probabilistic Outputs for Support Vector Machines; Guo et al. (2017), On
    Calibration of Modern Neural Networks, section 4.

    Examples
    --------
    >>> calibrated(np.array([0.5, 0.9]), 1.0, 0.0).round(3).tolist()
    [0.5, 0.9]
    """
    probabilities: NDArray[np.floating] = 1 / (1 + np.exp(-slope * logit(chances) - offset))
    return probabilities


def logit(chances: NDArray[np.floating]) -> NDArray[np.floating]:
    """Return the logarithm of the odds, of chances clipped away from 0 and 1."""
    kept = np.clip(chances, 1e-6, 1 - 1e-6)
    odds: NDArray[np.floating] = np.log(kept / (1 - kept))
    return odds
