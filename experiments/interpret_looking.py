"""Where the heads of SmolLM2 attend when a verb comes next, and the verb without them.

A head *attends* by the weight that the last token gives to the subject; in texts about people, to
*and* and the second name, where `interpret_patching` measures which heads carry something. A head
*matters* by how much the logit difference of the right verb falls when the head's output at every
token is its mean over all texts, which says nothing about the text at hand. Heads are removed one
by one on the clean texts of the first ten pairs. Groups are chosen there and tested on all texts of
the other ten pairs, so that no group is the best by luck. Heads in both lists are also removed on
their own, and so are the rest of each list. The random groups are other heads of the same layers as
those that matter.
"""

from contextlib import ExitStack

import numpy as np
import torch

from attn.metrics.intervals import wilson_interval
from attn_course.contrasts import agreement, ids_of, pronouns
from attn_course.interpret import gathered, go_on, heads_changed, streams
from experiments.interpret import interval, rounded
from experiments.modern_tasks import smollm2

LAST = -1
# The texts of each kind, and the positions of the tokens that the next word depends on.
KINDS = {"agreement": (agreement, [1]), "pronouns": (pronouns, [1, 2])}
# Texts come in pairs with the clean one first, so a step of 2 takes the clean ones.
CHOOSING, JUDGING = slice(0, 20, 2), slice(20, None)
GROUP = 10
DRAWS = 10


def asked(kind="agreement"):
    """Return the ids of all texts, and a function from logits to the lead of the right word."""
    clean, corrupted, due, other = ids_of(smollm2()[1], KINDS[kind][0]())
    ids = torch.tensor([row for pair in zip(clean, corrupted, strict=True) for row in pair])
    right = torch.tensor([word for pair in zip(due, other, strict=True) for word in pair])
    wrong = torch.tensor([word for pair in zip(other, due, strict=True) for word in pair])

    def score(logits, rows=slice(None)):
        lead = logits.gather(1, right[rows, None]) - logits.gather(1, wrong[rows, None])
        return lead[:, 0]

    return ids, score


def looks(model, ids, kind="agreement"):
    """Return the mean weight of each head from the last token to the tokens listed in `KINDS`."""
    _, weights = model.stack(model.embedding(ids), is_causal=True, need_weights=True)
    places = KINDS[kind][1]
    return torch.stack([each[:, :, LAST, places].sum(dim=-1).mean(dim=0) for each in weights])


def without(model, ids, group, means):
    """Return the next-token logits of each text with the output of some heads at its mean.

    Parameters
    ----------
    group : iterable of (layer, head)
    means : Tensor, shape (n_layers, n_heads, d_v)
    """
    with ExitStack() as changes:
        for layer in sorted({layer for layer, _ in group}):
            mine = [head for at, head in group if at == layer]

            def exchanged(heads, layer=layer, mine=mine):
                heads[:, :, mine] = means[layer, mine]
                return heads

            changes.enter_context(heads_changed(model, layer, exchanged))
        return go_on(model, model.embedding(ids), 0)


def cut_one_by_one(model, ids, score, means):
    """Return the score of every text without each head, shape (n_layers, n_heads, n_texts)."""
    x, found = streams(model, ids), []
    for layer in range(model.config.n_layers):
        row = []
        for head in range(model.config.n_heads):

            def exchanged(heads, layer=layer, head=head):
                heads[:, :, head] = means[layer, head]
                return heads

            with heads_changed(model, layer, exchanged):
                row.append(score(go_on(model, x[layer], layer)))
        found.append(torch.stack(row))
    return torch.stack(found)


def places(flat, n_heads=9):
    """Return (layer, head) for each index in a flat list of heads."""
    return [divmod(int(i), n_heads) for i in flat]


def measure(told, keep):
    """Measure attention and effect of heads and groups; for people, the attention alone."""
    model, _ = smollm2()
    if "looks" not in told.setdefault("pronouns", {}):
        told["pronouns"]["looks"] = rounded(looks(model, asked("pronouns")[0], "pronouns"))
        keep(told)
    if "groups" not in told.setdefault("agreement", {}):
        _measure(told["agreement"], model)
        keep(told)


def _measure(told, model):
    ids, score = asked()
    means = gathered(model, ids).mean(dim=(1, 2))
    looking, chosen = looks(model, ids), ids[CHOOSING]
    whole = score(go_on(model, model.embedding(chosen), 0), CHOOSING)
    cut = cut_one_by_one(model, chosen, lambda logits: score(logits, CHOOSING), means)
    falls = whole - cut
    told["n"] = len(chosen)
    told["looks"] = rounded(looking)
    told["matters"] = rounded(interval(falls.permute(2, 0, 1)))
    told["rank_correlation"] = rounded(_rank_correlation(looking, falls.mean(dim=-1)))
    told["groups"] = _groups(model, ids[JUDGING], lambda x: score(x, JUDGING), means, told)


def _rank_correlation(a, b):
    ranks = [each.flatten().argsort().argsort().double() for each in (a, b)]
    return float(torch.corrcoef(torch.stack(ranks))[0, 1])


def _groups(model, ids, score, means, told):
    """Return the score of the texts, and how many get the right verb, without groups of heads."""
    chosen = {
        name: places(np.argsort(-np.ravel(values))[:GROUP])
        for name, values in (("look", told["looks"]), ("matter", told["matters"][0]))
    }
    look, matter = chosen["look"], chosen["matter"]
    chosen["look_only"] = [head for head in look if head not in matter]
    chosen["matter_only"] = [head for head in matter if head not in look]
    chosen["shared"] = [head for head in look if head in matter]
    found = {
        "n": len(ids),
        "heads": GROUP,
        "whole": _told_of(score(without(model, ids, [], means))),
    }
    for name, group in chosen.items():
        found[name] = _told_of(score(without(model, ids, group, means))) | {"heads": len(group)}
    rng, drawn = np.random.default_rng(0), []
    for _ in range(DRAWS):
        group = []
        for layer, _ in chosen["matter"]:
            rest = [(layer, h) for h in range(9) if (layer, h) not in (*chosen["matter"], *group)]
            group.append(rest[rng.integers(len(rest))])
        drawn.append(score(without(model, ids, group, means)))
    found["random"] = _told_of(torch.stack(drawn).mean(dim=0))
    found["random"]["right"] = sorted(int((each > 0).sum()) for each in drawn)
    return found


def _told_of(scores):
    n_right, n = int((scores > 0).sum()), len(scores)
    return {
        "lead": rounded(interval(scores), 2),
        "right": n_right,
        "share": rounded(wilson_interval(n_right, n)),
    }
