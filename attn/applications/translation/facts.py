"""What a translator has learned, measured: alignments, references, meanings, agreement, heads.

Each function takes a translator and pairs of the grammar, which say what is right, and returns
numbers. The decoder reads the right words so far, so that each question is asked by itself.
"""

from collections import defaultdict
from contextlib import contextmanager

import numpy as np
import torch

from attn._checks import wrong
from attn.applications._sequences import collate, predict
from attn.metrics import (
    align,
    alignment_error_rate,
    diagonal_alignment,
    ibm_model_1,
    uniform_alignment,
)

STACKS = ("encoder", "decoder", "cross")


def alignment_errors(translator, pairs):
    """Compare alignments read off the cross-attention with the right links.

    Target token i is linked to the source token with the largest weight of the query that
    *predicts* it.

    Parameters
    ----------
    translator : Translator
    pairs : sequence of attn.corpus.Pair

    Returns
    -------
    dict
        Error rates, from 0 to 1: ``heads``, an array of shape (n_layers, n_heads); ``layers``,
        of the mean over the heads of each; ``average``, of the mean over all; and those of
        three alignments without a network, ``diagonal``, ``uniform`` (at random) and
        ``ibm_model_1`` (learned from these pairs).

    References
    ----------
    Och and Ney (2003) for the rate.
    """
    attention = [translator.attention(pair.source, pair.target) for pair in pairs]
    # The last row predicts <eos>, which translates nothing.
    cross = [a.cross[..., :-1, :] for a in attention]
    sure, possible = ([getattr(p, name) for p in pairs] for name in ("sure", "possible"))

    def rate(weights):
        return alignment_error_rate([align(w) for w in weights], sure, possible)

    n_layers, n_heads = cross[0].shape[:2]
    lengths = [(len(a.source), len(a.target) - 1) for a in attention]
    rng = np.random.default_rng(0)
    model_1 = ibm_model_1([(a.source, a.target[:-1]) for a in attention])
    baselines = {
        "diagonal": [diagonal_alignment(*length) for length in lengths],
        "uniform": [uniform_alignment(*length, rng) for length in lengths],
        "ibm_model_1": [model_1.align(a.source, a.target[:-1]) for a in attention],
    }
    return {
        "heads": np.array(
            [[rate([c[i, h] for c in cross]) for h in range(n_heads)] for i in range(n_layers)]
        ),
        "layers": np.array([rate([c[i].mean(axis=0) for c in cross]) for i in range(n_layers)]),
        "average": rate([c.mean(axis=(0, 1)) for c in cross]),
        **{name: alignment_error_rate(links, sure, possible) for name, links in baselines.items()},
    }


def coreference(translator, pairs):
    """Tell how much each head looks at what a pronoun stands for.

    Two may look there: in the encoder the pronoun itself, and in the cross-attention of the
    decoder the word whose form follows from it, such as the adjective in "it was tired".

    Parameters
    ----------
    translator : Translator
    pairs : sequence of attn.corpus.Pair
        Those without a pronoun are passed over.

    Returns
    -------
    dict
        ``weight`` and ``points``, arrays of shape (n_layers, n_heads): the mean weight of the
        pronoun on the antecedents, and how often one of them has the largest weight of the
        whole row; ``word_points``, the same as the latter for the word that depends on it;
        ``chance``, the mean weight if all tokens got the same; ``right``, how often the word
        whose form the antecedent decides is predicted right; ``n``, of how many.

    Raises
    ------
    ValueError
        If no pair has a pronoun.
    """
    weight, points, word_points, chance, right = [], [], [], [], []
    for pair in pairs:
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
            right.append(predicted[reference.decides])
    _refuse_none(right, "a pronoun")
    return {
        "weight": np.mean(weight, axis=0),
        "points": np.mean(points, axis=0),
        "word_points": np.mean(word_points, axis=0),
        "chance": float(np.mean(chance)),
        "right": float(np.mean(right)),
        "n": len(right),
    }


def polysemy(translator, pairs):
    """Tell how often a word of several meanings is translated by the right one.

    Parameters
    ----------
    translator : Translator
    pairs : sequence of attn.corpus.Pair

    Returns
    -------
    dict of (str, str) to (float, int)
        For each word and meaning, the share that is right, and of how many. Right is every
        target token that is linked to the word for sure.

    Raises
    ------
    ValueError
        If no pair has such a word.
    """
    found = defaultdict(list)
    for pair in pairs:
        if pair.polysemes:
            predicted = predictions(translator, pair)
            for known in pair.polysemes:
                places = [j for i, j in pair.sure if i == known.position]
                found[known.word, known.sense].append(bool(predicted[places].all()))
    _refuse_none(found, "a word of several meanings")
    return {key: (float(np.mean(right)), len(right)) for key, right in sorted(found.items())}


def agreement(translator, pairs):
    """Tell how often a word agrees with another, by the distance between them.

    Parameters
    ----------
    translator : Translator
    pairs : sequence of attn.corpus.Pair

    Returns
    -------
    dict of int to (float, int)
        For each distance in target tokens, the share that is right, and of how many.

    Raises
    ------
    ValueError
        If no pair has a word that agrees.
    """
    found = defaultdict(list)
    for pair in pairs:
        if pair.agreements:
            predicted = predictions(translator, pair)
            for agreeing in pair.agreements:
                found[agreeing.distance].append(bool(predicted[agreeing.position]))
    _refuse_none(found, "a word that agrees")
    return {distance: (float(np.mean(r)), len(r)) for distance, r in sorted(found.items())}


def ablation(translator, pairs, measure):
    """Tell what becomes of a number when each head is cut, one at a time.

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


@contextmanager
def without_head(model, stack, layer, head):
    """Cut a head of a Transformer, and mend it at the end: what it computes reaches nothing.

    Parameters
    ----------
    model : Transformer
    stack : {"encoder", "decoder", "cross"}
    layer, head : int
    """
    layers = model.encoder.layers if stack == "encoder" else model.decoder.layers
    attention = layers[layer].cross_attention if stack == "cross" else layers[layer].self_attention
    weight = attention.out_proj.weight
    kept = weight.detach().clone()
    d_v = weight.shape[1] // model.config.n_heads
    try:
        with torch.no_grad():
            weight[:, head * d_v : (head + 1) * d_v] = 0
        yield
    finally:
        with torch.no_grad():
            weight.copy_(kept)


@torch.no_grad()
def predictions(translator, pair):
    """Return, for each token of the translation, whether it is what the model would say there.

    Returns
    -------
    array of bool, shape (tgt_len + 1,)
        The last stands for ``<eos>``.
    """
    batch = collate(translator._examples([pair]))
    logits, targets = predict(translator.model, batch)
    return (logits.argmax(dim=-1) == targets)[0].numpy()


def _refuse_none(found, what):
    if not found:
        raise wrong("pairs", f"at least one with {what}", "none")
