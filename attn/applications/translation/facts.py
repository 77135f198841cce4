"""What a translator has learned, measured: alignments, references, meanings, agreement, heads.

Each function takes a translator and annotated pairs of the grammar, and refuses a list in which no
pair has what it measures. The decoder reads the right words so far (teacher forcing), so that one
mistake does not cause the next.
"""

from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence, Sized
from contextlib import contextmanager
from typing import Any, cast

import numpy as np
import torch
from numpy.typing import NDArray

from attn._checks import argument_error, check_choice
from attn.applications._sequences import collate, placed, predict
from attn.applications.translation.translator import Translator
from attn.applications.translation.vocabularies import checked_pairs
from attn.attention import MultiHeadAttention
from attn.corpus import Pair
from attn.metrics import (
    align,
    alignment_error_rate,
    diagonal_alignment,
    ibm_model_1,
    uniform_alignment,
)
from attn.transformer import Transformer

STACKS = ("encoder", "decoder", "cross")


def alignment_errors(
    translator: Translator,
    pairs: Sequence[Pair],
    learn_from: Sequence[Pair] | None = None,
    *,
    rate: Callable[..., Any] = alignment_error_rate,
) -> dict[str, Any]:
    """Compare alignments read off the cross-attention with the right links.

    Target token i is linked to the source token with the largest weight of the query that
    *predicts* it.

    Parameters
    ----------
    learn_from : sequence of attn.corpus.Pair, optional
        The pairs from which IBM model 1 learns; by default `pairs`, which are usually too few.
    rate : callable, default attn.metrics.alignment_error_rate
        A function of the same arguments, which may also return an interval.

    Returns
    -------
    dict
        Error rates, from 0 to 1: ``heads``, an array of shape (n_layers, n_heads); ``layers``, of
        the mean over the heads of each; ``average``, of the mean over all; and those of three
        alignments without a network, ``diagonal``, ``uniform`` (at random) and ``ibm_model_1``.
        Each is what `rate` returns.
    """
    pairs = checked_pairs(pairs)
    if learn_from is not None:
        learn_from = checked_pairs(learn_from, "learn_from")
    attention = [translator.attention(pair.source, pair.target) for pair in pairs]
    # The query of the last row predicts <eos>, which translates no word.
    cross = [a.cross[..., :-1, :] for a in attention]
    sure, possible = ([getattr(p, name) for p in pairs] for name in ("sure", "possible"))

    def rate_of(weights: list[NDArray[np.floating]]) -> Any:
        return rate([align(w) for w in weights], sure, possible)

    n_layers, n_heads = cross[0].shape[:2]
    lengths = [(len(a.source), len(a.target) - 1) for a in attention]
    rng = np.random.default_rng(0)
    tokens = [(a.source, a.target[:-1]) for a in attention]
    if learn_from is not None:
        tokens = [(pair.source.split(), pair.target.split()) for pair in learn_from]
    model_1 = ibm_model_1(tokens)
    baselines = {
        "diagonal": [diagonal_alignment(*length) for length in lengths],
        "uniform": [uniform_alignment(*length, rng) for length in lengths],
        "ibm_model_1": [model_1.align(a.source, a.target[:-1]) for a in attention],
    }
    return {
        "heads": np.array(
            [[rate_of([c[i, h] for c in cross]) for h in range(n_heads)] for i in range(n_layers)]
        ),
        "layers": np.array([rate_of([c[i].mean(axis=0) for c in cross]) for i in range(n_layers)]),
        "average": rate_of([c.mean(axis=(0, 1)) for c in cross]),
        **{name: rate(links, sure, possible) for name, links in baselines.items()},
    }


def coreference(translator: Translator, pairs: Sequence[Pair]) -> dict[str, Any]:
    """Measure how much each head attends to the noun that a pronoun stands for.

    Two queries may need this noun: the pronoun in the encoder, and in the cross-attention the word
    whose form depends on it, such as the adjective in "it was tired". Pairs without a pronoun are
    skipped.

    Returns
    -------
    dict
        ``weight``, an array of shape (n_layers, n_heads): the mean weight of the pronoun on its
        antecedents; ``points``, of the same shape: how often an antecedent has the largest weight
        of the row; ``word_points``, as ``points``, for the word that depends on the antecedent;
        ``chance``, the mean weight if all weights were equal; ``right``, how often that word is
        predicted right; ``n``, the number of cases.
    """
    cases = []
    for pair in checked_pairs(pairs):
        if not pair.coreferences:
            continue
        attention = translator.attention(pair.source, pair.target)
        predicted = predictions(translator, pair)
        for reference in pair.coreferences:
            antecedents = list(reference.antecedents)
            rows = attention.encoder[..., reference.pronoun, :]
            of_word = attention.cross[..., reference.decides, :]
            case = {
                "weight": rows[..., antecedents].sum(axis=-1),
                "points": np.isin(rows.argmax(axis=-1), antecedents),
                "word_points": np.isin(of_word.argmax(axis=-1), antecedents),
                "chance": len(antecedents) / rows.shape[-1],
                "right": predicted[reference.decides],
            }
            cases.append(case)
    _refuse_none(cases, "a pronoun")
    means: dict[str, Any] = {
        name: np.mean([case[name] for case in cases], axis=0) for name in cases[0]
    }
    return means | {name: float(means[name]) for name in ("chance", "right")} | {"n": len(cases)}


def polysemy(
    translator: Translator, pairs: Sequence[Pair]
) -> dict[tuple[str, str], tuple[float, int]]:
    """Measure how often a word with several meanings is translated in the right meaning.

    Returns, for each word and meaning, the fraction that is right and the number of cases. A case
    is right if every target token with a sure link to the word is predicted.
    """
    found: dict[tuple[str, str], list[bool]] = defaultdict(list)
    for pair in checked_pairs(pairs):
        if pair.polysemes:
            predicted = predictions(translator, pair)
            for known in pair.polysemes:
                places = [j for i, j in pair.sure if i == known.position]
                found[known.word, known.sense].append(bool(predicted[places].all()))
    return _fractions(found, "a word of several meanings")


def agreement(translator: Translator, pairs: Sequence[Pair]) -> dict[int, tuple[float, int]]:
    """Measure how often a word agrees with another word, by their distance in target tokens.

    Returns, for each distance, the fraction that is right and the number of cases.
    """
    found: dict[int, list[bool]] = defaultdict(list)
    for pair in checked_pairs(pairs):
        if pair.agreements:
            predicted = predictions(translator, pair)
            for agreeing in pair.agreements:
                found[agreeing.distance].append(bool(predicted[agreeing.position]))
    return _fractions(found, "a word that agrees")


def ablation(
    translator: Translator,
    pairs: Sequence[Pair],
    measure: Callable[[Translator, Sequence[Pair]], float],
) -> dict[str, NDArray[np.float64]]:
    """Return a measure of the translator with each head ablated, one at a time.

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


@contextmanager
def without_head(model: Transformer, stack: str, layer: int, head: int) -> Iterator[None]:
    """Ablate a head of one of `STACKS` in a ``with`` block: zeros replace its output."""
    weight = _attention(model, stack)[layer].out_proj.weight
    kept = weight.detach().clone()
    d_v = weight.shape[1] // model.config.n_heads
    try:
        with torch.no_grad():
            weight[:, head * d_v : (head + 1) * d_v] = 0
        yield
    finally:
        with torch.no_grad():
            weight.copy_(kept)


def make_uniform(model: Transformer, stacks: Sequence[str] = STACKS) -> None:
    """Make all attention weights of a query equal, for good, in some of `STACKS`.

    The query projections become zero and are not trained, so every score is zero and attention is
    the mean of the allowed values. This is a control that shows what the weights contribute.

    Examples
    --------
    >>> from attn.transformer import Transformer, TransformerConfig
    >>> model = Transformer(TransformerConfig(vocab_size=9, d_model=8, n_heads=1, n_layers=1))
    >>> make_uniform(model, ["decoder"])
    >>> _, weights = model(torch.tensor([[5, 6]]), torch.tensor([[2, 7]]), need_weights=True)
    >>> weights.decoder[0][0, 0].tolist()
    [[1.0, 0.0], [0.5, 0.5]]
    """
    for stack in stacks:
        check_choice("stacks", stack, STACKS)
        for attention in _attention(model, stack):
            for parameter in attention.q_proj.parameters():
                torch.nn.init.zeros_(parameter).requires_grad_(False)


def _attention(model: Transformer, stack: str) -> list[MultiHeadAttention]:
    """Return the attention module of each layer."""
    layers = model.encoder.layers if stack == "encoder" else model.decoder.layers
    name = "cross_attention" if stack == "cross" else "self_attention"
    # The type of a ModuleList does not name the class of its modules.
    return [cast(MultiHeadAttention, layer.get_submodule(name)) for layer in layers]


@torch.no_grad()
def predictions(translator: Translator, pair: Pair) -> NDArray[np.bool_]:
    """Return whether the model predicts each token of the translation, and ``<eos>``."""
    src, lengths, tgt = placed(translator.model, *collate(translator._examples([pair])))
    logits, targets = predict(translator.model, (src, lengths, tgt))
    return (logits.argmax(dim=-1) == targets)[0].cpu().numpy()


def _fractions(found: dict[Any, list[bool]], what: str) -> dict[Any, tuple[float, int]]:
    _refuse_none(found, what)
    return {key: (float(np.mean(right)), len(right)) for key, right in sorted(found.items())}


def _refuse_none(found: Sized, what: str) -> None:
    if not found:
        raise argument_error("pairs", f"at least one with {what}", "none")
