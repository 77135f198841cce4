"""Linear probes in SmolLM2's residual stream, for the number of the subject and for random labels.

The texts are like "The cat that chased the mouse": every subject is combined with the verbs and
objects of other pairs, and both nouns take both numbers. A probe reads the vector of the subject or
of the last token, and predicts whether the subject is singular or plural. In the control task of
Hewitt and Liang (2019) each subject has a random label, with *cat* and *cats* as two subjects, so a
probe that predicts it has memorised a list. ``unseen`` tests the probe for number on nouns that it
was not trained on. ``untrained`` reads a SmolLM2 with random weights. The vector of a subject is
the same in all texts that begin with it, because the model is causal, so the intervals resample the
twenty nouns and not the texts.

`people` probes texts like "John and Paul wrote several songs when" and "John without Paul wrote…":
does the last token's vector tell whether one or several people wrote? ``names`` are pairs of names
that the probe was not trained on, and ``boys`` texts like "The boys wrote…" and "The boy wrote…",
which contain neither *and* nor *without*. In its control task each pair has a random label.

`used` measures how the verb changes when the vector is reflected at the decision boundary of
the probe, or moved by the same distance in another direction.
"""

import itertools

import torch

from attn.transformer import DecoderOnly
from attn_course.contrasts import chases, pronouns
from attn_course.interpret import go_on, streams
from experiments.interpret import interval, rounded
from experiments.modern_tasks import smollm2

# The number of other pairs whose verbs and objects each subject is combined with.
OTHERS = 6
SEEDS = 3
# The ridge penalty, for vectors whose components have variance 1.
RIDGE = 1.0
PLACES = {"subject": 1, "last": -1}
# `used` measures every third layer.
EVERY = 3
# The number of texts in a batch.
AT_ONCE = 80


def texts():
    """Return the texts, and for each its noun, whether it is plural, and the pair of its object.

    Returns
    -------
    texts : list of str
    nouns, plural, others : Tensor of int64, shape (n_texts,)
    """
    pairs, found = chases(), []
    ways = itertools.product(range(len(pairs)), range(1, OTHERS + 1), (0, 1), (0, 1))
    for noun, step, plural, near in ways:
        other = (noun + step) % len(pairs)
        _, _, verb, *objects = pairs[other]
        found.append(
            (f"The {pairs[noun][plural]} that {verb} the {objects[near]}", noun, plural, step)
        )
    written, *facts = zip(*found, strict=True)
    return list(written), *map(torch.tensor, facts)


def untrained(model):
    """Return a model of the same sizes with random weights."""
    torch.manual_seed(0)
    return DecoderOnly(model.config).eval()


def fitted(x, labels):
    """Return the direction and offset of a ridge regression on labels of -1 and 1.

    Parameters
    ----------
    x : Tensor, shape (n, d_model)
    labels : Tensor, shape (n, ...)
        Further axes hold several sets of labels.

    Returns
    -------
    direction : Tensor, shape (d_model, ...)
    offset : Tensor, shape (...)
        A vector is labelled by the sign of ``x @ direction + offset``.
    """
    x, labels = x.double(), labels.double()
    mean, spread = x.mean(dim=0), x.std(dim=0) + 1e-6
    z = (x - mean) / spread
    inner = z @ z.T + RIDGE * torch.eye(len(z), dtype=z.dtype)
    direction = z.T @ torch.linalg.solve(inner, labels - labels.mean(dim=0))
    direction = direction / spread.reshape(-1, *[1] * (direction.ndim - 1))
    return direction, labels.mean(dim=0) - mean @ direction


def right(x, labels, probe):
    """Return for each vector whether the probe predicts its label."""
    direction, offset = probe
    return (x.double() @ direction + offset).sign() == labels


def shared(found, units):
    """Return the share of right answers and its interval, from resampling the units.

    Parameters
    ----------
    found : Tensor of bool, shape (n, ...)
    units : Tensor of int64, shape (n,)
        The noun, or the pair of names, of each.
    """
    found = found.double().reshape(len(found), -1).mean(dim=1)
    return rounded(interval([float(found[units == i].mean()) for i in units.unique()]))


def told_of(x, nouns, plural, others):
    """Return the accuracy of probes on texts with held-out objects or held-out nouns.

    Parameters
    ----------
    x : Tensor, shape (n_texts, d_model)
    """
    number = 2 * plural - 1
    # The last two objects of each subject are held out.
    learnt = others <= OTHERS - 2
    forms = 2 * nouns + plural
    draws = torch.Generator().manual_seed(0)
    # Half of the forms get each label, just as half of them are plural.
    labels = torch.stack(
        [
            (torch.randperm(int(forms.max()) + 1, generator=draws) % 2 * 2 - 1)[forms]
            for _ in range(SEEDS)
        ],
        dim=1,
    )
    told = nouns[~learnt]
    found = {
        "number": shared(
            right(x[~learnt], number[~learnt], fitted(x[learnt], number[learnt])), told
        ),
        "control": shared(
            right(x[~learnt], labels[~learnt], fitted(x[learnt], labels[learnt])), told
        ),
    }
    unseen = torch.zeros(len(x), dtype=torch.bool)
    for fold in range(4):
        away = nouns % 4 == fold
        unseen[away] = right(x[away], number[away], fitted(x[~away], number[~away]))
    return found | {"unseen": shared(unseen, nouns)}


def crowds():
    """Return texts about two people or one, and about boys or a boy, with the facts of each.

    Returns
    -------
    texts : list of str
    facts : Tensor of int64, shape (n_texts, 4)
        Whether the text names people, its pair or noun, whether it is about several, and
        what they do.
    """
    pairs = [contrast.clean.split() for contrast in pronouns()]
    does = list(dict.fromkeys(" ".join(words[3:]) for words in pairs))
    found = []
    for i, (one, _, other, *_) in enumerate(pairs):
        noun = chases()[i][:2]
        for k, done in enumerate(does):
            for several, word in enumerate(("without", "and")):
                found.append((f"{one} {word} {other} {done}", (1, i, several, k)))
                found.append((f"The {noun[several]} {done}", (0, i, several, k)))
    written, facts = zip(*found, strict=True)
    return list(written), torch.tensor(facts)


def people(x, facts):
    """Return the accuracy of probes at one layer for whether a text is about one or several.

    Parameters
    ----------
    x : Tensor, shape (n_texts, d_model)
    facts : Tensor of int64
        As `crowds` returns them.
    """
    named = facts[:, 0] == 1
    boys, units = x[~named], facts[~named, 1]
    several, (_, pair, number, done) = 2 * facts[~named, 2] - 1, facts[named].T
    x, number = x[named], 2 * number - 1
    draws = torch.Generator().manual_seed(0)
    label = torch.stack([torch.randperm(40, generator=draws) % 2 * 2 - 1 for _ in range(SEEDS)], 1)
    label = label[2 * pair + (number > 0)]
    # The last two predicates of the texts are held out.
    kept = done < done.max() - 1
    unread = torch.zeros(len(x), dtype=torch.bool)
    for fold in range(4):
        away = pair % 4 == fold
        unread[away] = right(x[away], number[away], fitted(x[~away], number[~away]))
    return {
        "number": shared(
            right(x[~kept], number[~kept], fitted(x[kept], number[kept])), pair[~kept]
        ),
        "control": shared(right(x[~kept], label[~kept], fitted(x[kept], label[kept])), pair[~kept]),
        "names": shared(unread, pair),
        "boys": shared(right(boys, several, fitted(x, number)), units),
    }


def last_of(model, tokenizer, written):
    """Return the last token's residual stream for texts of different lengths."""
    ids = [tokenizer.encode(text) for text in written]
    found = torch.empty(model.config.n_layers + 1, len(ids), model.config.d_model)
    for length in {len(each) for each in ids}:
        mine = [i for i, each in enumerate(ids) if len(each) == length]
        found[:, mine] = batched(model, torch.tensor([ids[i] for i in mine]))[:, :, -1]
    return found


def moved(x, probe, way):
    """Reflect vectors at the decision boundary, or shift them as far in another direction.

    Parameters
    ----------
    x : Tensor, shape (n, d_model)
    probe : pair
    way : Tensor, shape (d_model,), or None
        The other direction; the probe's own if None.
    """
    direction, offset = probe
    distance = (x.double() @ direction + offset) / direction.norm()
    own = direction / direction.norm()
    side = own if way is None else way / way.norm() * own.new_ones(1)
    return (x.double() - 2 * distance[:, None] * side).float()


def used(model, tokenizer):
    """Return for each layer the mean score of the verb, and how often the wrong verb is preferred.

    The score is the logit of the right verb minus that of the wrong one. The probe was not
    trained on the nouns of these texts.
    """
    written, nouns, plural, others = texts()
    was, were = (tokenizer.encode(word)[0] for word in (" was", " were"))
    ids = torch.tensor([tokenizer.encode(text) for text in written])
    x, number = batched(model, ids), 2 * plural - 1
    asked = torch.nonzero((nouns % 4 == 0) & (others == OTHERS)).flatten()
    fitting = nouns % 4 != 0
    draws = torch.Generator().manual_seed(0)
    found = {"layers": list(range(0, len(x), EVERY)), "n": len(asked)}
    for place, at in PLACES.items():
        rows = []
        for layer in found["layers"]:
            probe = fitted(x[layer, fitting, at], number[fitting])
            other = torch.randn(x.shape[-1], generator=draws, dtype=torch.float64)
            scores = []
            for way in ("as it is", None, other):
                state = x[layer, asked].clone()
                if not isinstance(way, str):
                    state[:, at] = moved(state[:, at], probe, way)
                logits = go_on(model, state, layer)
                scores.append((logits[:, was] - logits[:, were]) * -number[asked])
            rows.append(torch.stack(scores))
        # The axes are layers, ways and texts.
        rows = torch.stack(rows)
        found[place] = {
            "score": rounded(interval(rows.permute(2, 0, 1)), 2),
            "wrong": (rows < 0).sum(dim=-1).tolist(),
        }
    return found


def batched(model, ids):
    """Return the residual streams of many texts, computed in batches."""
    return torch.cat([streams(model, some) for some in ids.split(AT_ONCE)], dim=1)


def measure(told, keep):
    """Measure the probes at every layer of both models, and the effect of their direction."""
    model, tokenizer = smollm2()
    written, nouns, plural, others = texts()
    ids = torch.tensor([tokenizer.encode(text) for text in written])
    for name in ("trained", "untrained"):
        if name in told:
            continue
        x = batched(model if name == "trained" else untrained(model), ids)
        told[name] = {
            place: [told_of(layer, nouns, plural, others) for layer in x[:, :, at]]
            for place, at in PLACES.items()
        }
        keep(told)
    for name in ("trained", "untrained"):
        asked = told.setdefault("people", {})
        if name in asked:
            continue
        written, facts = crowds()
        x = last_of(model if name == "trained" else untrained(model), tokenizer, written)
        asked[name] = [people(layer, facts) for layer in x]
        keep(told)
    if "used" not in told:
        told["used"] = used(model, tokenizer)
        keep(told)
