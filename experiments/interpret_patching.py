"""Activation patching in SmolLM2: how much of the answer an activation of another text brings.

The effect is the share of the way from the corrupted text's score to the clean one's: 0 if nothing
changes, 1 if the model answers as on the clean text. The score is the logit of the word that is
right after the clean text minus the logit of the other word. The controls take the activation from
the texts of another pair: ``same_answer`` from one whose answer is the clean text's; ``no_answer``
from one whose answer is the corrupted text's, so that only the noun differs. ``random`` is a random
vector of the length of the difference. The heads with the largest effect on their own are then
patched together, and the effect is compared with the sum of their single effects, pair by pair.
"""

from contextlib import ExitStack

import numpy as np
import torch

from attn_course.contrasts import agreement, ids_of, pronouns
from attn_course.interpret import (
    gathered,
    go_on,
    heads_changed,
    patch_heads,
    patch_streams,
    streams,
)
from experiments.interpret import interval, rounded
from experiments.modern_tasks import smollm2

KINDS = {"agreement": agreement, "pronouns": pronouns}
# The controls are measured at every third layer.
EVERY = 3
# The number of heads that are patched together.
TOGETHER = 3


def prepared(kind):
    """Return the model and, for all pairs, both streams, the clean heads' outputs and scores."""
    model, tokenizer = smollm2()
    clean, corrupted, due, other = ids_of(tokenizer, KINDS[kind]())
    both = [streams(model, torch.tensor(texts)).transpose(0, 1) for texts in (clean, corrupted)]
    heads = gathered(model, torch.tensor(clean)).transpose(0, 1)
    scores = [
        lambda logits, a=a, b=b: logits[:, a] - logits[:, b]
        for a, b in zip(due, other, strict=True)
    ]
    return model, *both, heads, scores


def effects(patched, ends):
    """Return the effects of `patched` scores: 0 at the corrupted text's, 1 at the clean one's."""
    clean, corrupted = ends
    return (patched - corrupted) / (clean - corrupted)


def both_ends(model, clean, corrupted, score):
    """Return the scores of the two texts without a patch, from their streams."""
    logits = go_on(model, torch.stack([clean[-1], corrupted[-1]]), len(clean) - 1)
    return score(logits)


def patch_group(model, corrupted, clean_heads, score, group):
    """Return a corrupted text's score with some heads' outputs at the last token from a clean one.

    Parameters
    ----------
    group : list of (layer, head)
        A later head reads what an earlier one has changed.
    """
    with ExitStack() as changes:
        for layer in {layer for layer, _ in group}:
            mine = [head for at, head in group if at == layer]

            def exchanged(heads, layer=layer, mine=mine):
                heads[:, -1, mine] = clean_heads[layer, -1, mine]
                return heads

            changes.enter_context(heads_changed(model, layer, exchanged))
        return score(go_on(model, corrupted[:1], 0))[0]


def measure(told, keep):
    """Patch each position at each layer, each head at the last token, groups, and the controls."""
    for kind in KINDS:
        mine = told.setdefault(kind, {})
        if {"streams", "controls", "heads", "together"} <= set(mine):
            continue
        model, clean, corrupted, heads, scores = prepared(kind)
        n = len(scores)
        ends = [both_ends(model, clean[i], corrupted[i], scores[i]) for i in range(n)]
        if "streams" not in mine:
            found = [
                effects(patch_streams(model, clean[i], corrupted[i], scores[i]), ends[i])
                for i in range(n)
            ]
            mine["ends"] = rounded(torch.stack(ends), 2)
            mine["streams"] = rounded(interval(torch.stack(found)))
            mine["n"] = n
            keep(told)
        if "controls" not in mine:
            layers = range(0, len(clean[0]), EVERY)
            mine["controls"] = {"layers": list(layers)}
            for name, donors in _donors(clean, corrupted).items():
                found = [
                    effects(
                        patch_streams(model, donors[i], corrupted[i], scores[i], layers), ends[i]
                    )
                    for i in range(n)
                ]
                mine["controls"][name] = rounded(interval(torch.stack(found)))
            keep(told)
        if "heads" not in mine:
            found = torch.stack(
                [
                    effects(patch_heads(model, corrupted[i], heads[i], scores[i]), ends[i])
                    for i in range(n)
                ]
            )
            mine["heads"] = rounded(interval(found))
            mine["halves"] = rounded([found[0::2].mean(0), found[1::2].mean(0)])
            keep(told)
        if "together" not in mine:
            most = np.argsort(-np.ravel(mine["heads"][0]))[:TOGETHER]
            group = [divmod(int(i), heads.shape[-2]) for i in most]
            found = torch.tensor(
                [
                    [
                        effects(
                            patch_group(model, corrupted[i], heads[i], scores[i], part), ends[i]
                        )
                        for part in (group, *([head] for head in group))
                    ]
                    for i in range(n)
                ]
            )
            together, one_by_one = found[:, 0], found[:, 1:].sum(dim=1)
            mine["together"] = {
                "heads": group,
                "effect": rounded(interval(together)),
                "sum": rounded(interval(one_by_one)),
                "difference": rounded(interval(one_by_one - together)),
            }
            keep(told)


def _donors(clean, corrupted):
    """Return, for every control, the streams that its activations are taken from, pair by pair."""
    n = len(clean)
    # Pairs at a distance of two have their plural on the same side, and therefore the same answer.
    other = [(i + 4) % n for i in range(n)]
    draws = torch.Generator().manual_seed(0)
    noise = torch.randn(clean.shape, generator=draws)
    difference = (clean - corrupted).norm(dim=-1, keepdim=True)
    return {
        "same_answer": clean[other],
        "no_answer": corrupted[other],
        "random": corrupted + noise / noise.norm(dim=-1, keepdim=True) * difference,
    }
