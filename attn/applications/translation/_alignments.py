"""Alignments read off the cross-attention, compared with the right ones."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from attn.applications.translation.translator import Translator
from attn.applications.translation.vocabularies import checked_pairs
from attn.corpus import Pair
from attn.metrics import (
    align,
    alignment_error_rate,
    diagonal_alignment,
    ibm_model_1,
    uniform_alignment,
)


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
    translator : Translator
    pairs : sequence of attn.corpus.Pair
    learn_from : sequence of attn.corpus.Pair, optional
        The pairs from which IBM model 1 learns; by default `pairs`, which are usually too few.
    rate : callable, default attn.metrics.alignment_error_rate
        A function of the same arguments, which may also return an interval.

    Returns
    -------
    dict
        Error rates, from 0 to 1: ``heads``, an array of shape (n_layers, n_heads); ``layers``,
        of the mean over the heads of each; ``average``, of the mean over all; and those of
        three alignments without a network, ``diagonal``, ``uniform`` (at random) and
        ``ibm_model_1``. Each is what `rate` returns.

    References
    ----------
    Och and Ney (2003) for the rate.
    """
    pairs = checked_pairs(pairs)
    if learn_from is not None:
        learn_from = checked_pairs(learn_from, "learn_from")
    attention = [translator.attention(pair.source, pair.target) for pair in pairs]
    # The last row predicts <eos>, which translates no word.
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
