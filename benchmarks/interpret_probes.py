"""What a linear probe finds in the stream of SmolLM2: the number of the subject, and labels drawn at random.

The texts are "The cat that chased the mouse" and its like: every subject with the verbs and objects of
other pairs, both nouns in both numbers. A probe reads the vector of the subject or of the last token and
says whether the subject is singular or plural. In the control task of Hewitt and Liang (2019) each of the
subjects, *cat* and *cats* apart, has a label drawn once and at random: whoever tells that has learnt a
list by heart. ``unseen`` asks the probe of number about nouns that it has not read, of which there is no
list to learn; ``untrained`` reads a SmolLM2 with random weights.

`used` tells what becomes of the verb when the probe's direction is what is changed: the vector is
reflected in the plane where the probe cannot decide, or moved as far in another direction.
"""

import itertools

import torch

from attn.metrics.intervals import wilson_interval
from attn.transformer import DecoderOnly
from attn_course.contrasts import chases
from attn_course.interpret import go_on, streams
from benchmarks.interpret import interval, rounded
from benchmarks.modern_tasks import smollm2

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
    """Return the texts and, of each, its noun, the number of it and the pair of its object.

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
        Several at once, in columns, if there are more axes.

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
    """Return, of each vector, whether the probe gives it its label."""
    direction, offset = probe
    return (x.double() @ direction + offset).sign() == labels


def counted(found):
    """Return how many are right, of how many, and Wilson's interval of the share."""
    n_right, n = int(found.sum()), found.numel()
    return [n_right, n, *rounded(wilson_interval(n_right, n))]


def told_of(x, nouns, plural, others):
    """Return how often probes are right on texts with objects, or with nouns, that they have not read.

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
    """Return vectors beyond the plane where the probe cannot decide, or moved as far another way.

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
    """Return, layer by layer, how far the verb's score moves, and how often it changes sides.

    The score is that of the right verb over the wrong one; the probe has not read the nouns of the
    texts that are changed.
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
    """Measure what is found at every layer, in both models, and whether it is used."""
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
