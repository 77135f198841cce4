"""Linear probes in the stream of SmolLM2, for the number of the subject and for random labels.

The texts are like "The cat that chased the mouse": every subject is combined with the verbs
and objects of other pairs, and both nouns are in both numbers. A probe reads the vector of the
subject or of the last token, and predicts whether the subject is singular or plural. In the
control task of Hewitt and Liang (2019) each subject has a random label, with *cat* and *cats*
as two subjects, so a probe that predicts it has memorised a list. ``unseen`` tests the probe
for number on nouns that it was not trained on. ``untrained`` reads a SmolLM2 with random
weights.

`used` measures how the verb changes when the vector is reflected at the decision boundary of
the probe, or moved by the same distance in another direction.
"""

import itertools

import torch

from attn.metrics.intervals import wilson_interval
from attn.transformer import DecoderOnly
from attn_course.contrasts import chases
from attn_course.interpret import go_on, streams
from experiments.interpret import interval, rounded
from experiments.modern_tasks import smollm2

# Each subject is combined with the verbs and objects of this number of other pairs.
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
    """Return the texts, and for each its noun, the number of the noun and the pair of its object.

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
        Further axes hold several labels.

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


def counted(found):
    """Return the number right, the number of all, and Wilson's interval of the share."""
    n_right, n = int(found.sum()), found.numel()
    return [n_right, n, *rounded(wilson_interval(n_right, n))]


def told_of(x, nouns, plural, others):
    """Return the accuracy of probes on texts with unseen objects or unseen nouns.

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
    found = {
        "number": counted(right(x[~learnt], number[~learnt], fitted(x[learnt], number[learnt]))),
        "control": counted(right(x[~learnt], labels[~learnt], fitted(x[learnt], labels[learnt]))),
    }
    folds = []
    for fold in range(4):
        away = nouns % 4 == fold
        folds.append(right(x[away], number[away], fitted(x[~away], number[~away])))
    return found | {"unseen": counted(torch.cat(folds))}


def moved(x, probe, way):
    """Reflect vectors at the decision boundary, or move them as far in another direction.

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
    """Return for each layer the mean score of the verb, and how often it is wrong.

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
    """Return the streams of many texts."""
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
    if "used" not in told:
        told["used"] = used(model, tokenizer)
        keep(told)
