"""The number of heads, and the effect of each head of the trained translator.

Writes ``notebooks/data/heads.json``, which chapters 04 and 05 draw. Five measurements, on sentences
the translators have never seen: ``cuts``, the accuracy without each head; ``means``, the accuracy
with the mean output of a head in place of its output; ``points``, how often the largest weight of a
head is where a person would point, compared with untrained heads and with fixed positions;
``two_places``, one layer of attention that must fetch two things at once, and what a new readout
finds in its head; ``translators``, the course's translator trained for a minute with other numbers
of heads.
"""

from contextlib import contextmanager
from functools import cache

import numpy as np
import torch
from torch import nn
from torch.nn.functional import cross_entropy

from attn.applications.translation import Translator, facts
from attn.attention import MultiHeadAttention
from attn.transformer import Transformer
from attn_course.grammar import splits
from experiments.runner import DATA, Experiment, Row

RESULTS = DATA / "heads.json"
N_HEADS = (1, 2, 4, 8, 16, 32)
TRANSLATORS = (1, 2, 4, 8)
SEEDS = 3
# Each kind of pointing, and the measure of `cuts` whose sentences it is counted on.
POINTS = {
    "coreference": "coreference",
    "decided": "coreference",
    "polysemes": "polysemes",
    "agreement": "agreement",
    "adjective_noun": "adjective_noun",
}
# The largest distance of a fixed position from either end and from the query.
NEAR = 8
# The smallest distance in tokens between a word and the word that it agrees with.
FAR = 4
COPULAS = frozenset(["es", "son", "era", "eran", "está", "están", "estaba", "estaban"])
# The sizes of the task of two places.
D_MODEL, N_NAMES, LENGTH, BATCH, STEPS = 32, 16, 6, 128, 1000
HIDDEN, LONGER = 128, 3000


def share(found):
    """Return the share of right cases over all kinds that `facts` counted."""
    return sum(right * n for right, n in found.values()) / sum(n for _, n in found.values())


def exact(translator, pairs):
    """Return the share of sentences whose translation equals the reference."""
    return translator.evaluate(pairs)["exact_match"]


def far_agreement(translator, pairs):
    """Return how often a word agrees with one at least `FAR` tokens away."""
    found = facts.agreement(translator, pairs)
    return share({distance: known for distance, known in found.items() if distance >= FAR})


def copula(translator, pairs):
    """Return how often the model predicts the right form of *ser* or *estar*."""
    right = []
    for pair in pairs:
        found = facts.predictions(translator, pair)
        right += [found[j] for j, word in enumerate(pair.target.split()) if word in COPULAS]
    return float(np.mean(right))


def measures(parts):
    """Return, by name, a part of the corpus and what is measured on it."""
    seen = parts.test + parts.validation
    far = [p for p in seen if any(a.distance >= FAR for a in p.agreements)]
    pronouns = [p for p in seen if p.coreferences]
    return {
        "exact": (parts.test, exact),
        "adjective_noun": (parts.adjective_noun, exact),
        "agreement": (far, far_agreement),
        "coreference": (pronouns, lambda t, pairs: facts.coreference(t, pairs)["right"]),
        "copula": ([p for p in seen if COPULAS & {*p.target.split()}], copula),
        "polysemes": (parts.polysemes, lambda t, pairs: share(facts.polysemy(t, pairs))),
    }


def cuts(translator, parts):
    """Return each measure of the whole translator, and of the translator without each head."""
    return {
        name: {"whole": rounded(measure(translator, pairs)), "pairs": len(pairs)}
        | {k: rounded(v) for k, v in facts.ablation(translator, pairs, measure).items()}
        for name, (pairs, measure) in measures(parts).items()
    }


def output_projection(model, stack, layer):
    """Return the matrix and bias that mix the heads of one attention."""
    layers = model.encoder.layers if stack == "encoder" else model.decoder.layers
    name = "cross_attention" if stack == "cross" else "self_attention"
    return layers[layer].get_submodule(name).out_proj


def mean_outputs(translator, pairs, stack, layer):
    """Return, for each head of one attention, the mean of its output over all tokens.

    The translator reads the right translation of each pair, one pair at a time, so that no
    padding is counted. The shape is (n_heads, d_v).
    """
    handed = []
    projection = output_projection(translator.model, stack, layer)
    watching = projection.register_forward_pre_hook(lambda _, x: handed.append(x[0].flatten(0, -2)))
    try:
        for pair in pairs:
            facts.predictions(translator, pair)
    finally:
        watching.remove()
    return torch.cat(handed).mean(dim=0).view(translator.model.config.n_heads, -1)


@contextmanager
def at_its_mean(model, stack, layer, head, mean):
    """Return a context in which the output of a head is `mean` at every token."""
    projection = output_projection(model, stack, layer)
    kept = projection.bias.detach().clone()
    mine = slice(head * len(mean), (head + 1) * len(mean))
    always = (projection.weight[:, mine] @ mean).detach()
    with facts.without_head(model, stack, layer, head):
        try:
            projection.bias.data += always
            yield
        finally:
            projection.bias.data.copy_(kept)


def means(translator, parts):
    """Return each measure with each head fixed at its mean over the measured sentences.

    A head fixed at its mean says as little about the sentence as a removed one, but the mean is the
    constant vector closest to the inputs that the next layers were trained on.
    """
    results, model = {}, translator.model
    for name, (pairs, measure) in measures(parts).items():
        found = {}
        for stack in facts.STACKS:
            found[stack] = np.zeros((model.config.n_layers, model.config.n_heads))
            for layer in range(model.config.n_layers):
                outputs = mean_outputs(translator, pairs, stack, layer)
                for head, mean in enumerate(outputs):
                    with at_its_mean(model, stack, layer, head, mean):
                        found[stack][layer, head] = measure(translator, pairs)
        results[name] = {stack: rounded(right) for stack, right in found.items()}
    return results


def swapped(pair):
    """Return the target positions of nouns and adjectives whose order English reverses."""
    sure = sorted(pair.sure)
    return {
        j for i, j in sure for k, l in sure if (l - j) * (k - i) == -1 or (j - l) * (i - k) == -1
    }


def places(pair, name):
    """Return where a person would point: triples of stack, query and the right keys.

    "coreference": in the encoder, from a pronoun to what it stands for. "polysemes": in the
    encoder, from a word of several meanings to the word that decides between them. "agreement": in
    the decoder, from the query that predicts a word to the word, at least `FAR` tokens back, that
    it agrees with. "adjective_noun": in the cross-attention, from the query that predicts a noun or
    adjective of a reversed pair to the word it translates. "decided": in the cross-attention, from
    the query that predicts the word whose form follows from a pronoun to what the pronoun stands
    for.
    """
    if name == "coreference":
        return [("encoder", c.pronoun, c.antecedents) for c in pair.coreferences]
    if name == "decided":
        return [("cross", c.decides, c.antecedents) for c in pair.coreferences]
    if name == "polysemes":
        return [("encoder", p.position, [p.decided_by]) for p in pair.polysemes]
    if name == "adjective_noun":
        return [("cross", j, [i for i, k in pair.sure if k == j]) for j in swapped(pair)]
    far = [a for a in pair.agreements if a.distance >= FAR]
    # The decoder reads <sos> first, which shifts every position by one.
    before = [(a, [c + 1 for c in a.controllers if c < a.position]) for a in far]
    return [("decoder", a.position, controllers) for a, controllers in before if controllers]


def fixed_places(query, length):
    """Return the keys at fixed positions: each depends only on the query's and on the length.

    They are the first keys, the last ones and those around the query.
    """
    first = np.arange(NEAR)
    around = query + np.arange(-NEAR, NEAR + 1)
    return np.concatenate([first, length - 1 - first, around]).clip(0, length - 1)


def chosen(hits):
    """Return how often the best candidate is right on cases that had no part in choosing it.

    `hits` has a row for each case and a column for each candidate. The best column on every other
    case is tested on the remaining cases, then the other way round; the mean of both is returned.
    """
    halves = hits[::2], hits[1::2]
    pairs = (halves, halves[::-1])
    return np.mean([judged.mean(0)[chosen_by.mean(0).argmax()] for chosen_by, judged in pairs])


def pointing(translator, pairs, name):
    """Return for each case of one kind which heads have their largest weight on a right key.

    Returns
    -------
    heads : array of bool, shape (n, n_layers * n_heads)
    fixed : array of bool, shape (n, 4 * NEAR + 1)
        The same for `fixed_places`.
    chance : float
        The mean share of the visible keys that are right.
    """
    heads, fixed, chance = [], [], []
    for pair in pairs:
        found = places(pair, name)
        # Pairs without a case, or with a form that the training lacks, are skipped.
        if not found or translator.target.unknown(pair.target):
            continue
        attention = translator.attention(pair.source, pair.target)
        for stack, query, right in found:
            weights = getattr(attention, stack)[..., query, :]
            in_view = query + 1 if stack == "decoder" else weights.shape[-1]
            heads.append(np.isin(weights.argmax(axis=-1).ravel(), right))
            fixed.append(np.isin(fixed_places(query, in_view), right))
            chance.append(len(right) / in_view)
    return np.array(heads), np.array(fixed), np.mean(chance)


def untrained(translator, seed):
    """Return the translator as it was before training, from this seed."""
    torch.manual_seed(seed)
    model = Transformer(translator.model.config)
    return Translator(model, translator.source, translator.target, translator.max_len)


def points(translator, parts):
    """Return how often the largest weight of a head is on the word that decides.

    The best of several heads is right more often than chance even if all of them guess. So there is
    also "chosen", the accuracy of the best head on sentences that had no part in choosing it;
    "untrained", the best head of models from three seeds; "fixed", the best fixed position, chosen
    and tested as the heads are; and "chance", the share of the visible keys that are right.
    """
    known, results = measures(parts), {}
    before = [untrained(translator, seed) for seed in range(SEEDS)]
    shape = translator.model.config.n_layers, translator.model.config.n_heads
    for name, measure in POINTS.items():
        pairs = known[measure][0]
        heads, fixed, chance = pointing(translator, pairs, name)
        guesses = [pointing(model, pairs, name)[0].mean(axis=0).max() for model in before]
        found = {"chosen": chosen(heads), "untrained": guesses, "fixed": chosen(fixed)}
        found |= {"heads": heads.mean(axis=0).reshape(shape), "chance": chance}
        results[name] = {k: rounded(v) for k, v in found.items()} | {"n": len(heads)}
    return results


def readout(hidden=0):
    """Return a readout of two answers: a linear layer, or two with a ReLU between them."""
    deeper = [nn.Linear(D_MODEL, hidden), nn.ReLU()] if hidden else []
    return nn.Sequential(*deeper, nn.Linear(hidden or D_MODEL, 2 * N_NAMES))


class TwoPlaces(nn.Module):
    """One layer of attention that must fetch two things at once, with a readout.

    The readout is linear, or has so many `hidden` units with a ReLU.
    """

    def __init__(self, n_heads, hidden=0):
        super().__init__()
        self.names, self.gifts, self.first, self.second = (
            nn.Embedding(N_NAMES, D_MODEL) for _ in range(4)
        )
        self.attention = MultiHeadAttention(D_MODEL, n_heads)
        self.answers = readout(hidden)

    def attend(self, names, gifts, asked, need_weights=False):
        """Return the output of attention and, if needed, its weights."""
        x = self.names(names) + self.gifts(gifts)
        one, two = names.gather(1, asked).unbind(1)
        query = (self.first(one) + self.second(two))[:, None]
        return self.attention(query, x, need_weights=need_weights)

    def forward(self, names, gifts, asked):
        """Return logits of shape (batch_size, 2, N_NAMES): the gifts of two queried names."""
        output, _ = self.attend(names, gifts, asked)
        return self.answers(output[:, 0]).view(-1, 2, N_NAMES)


def draw(n, generator):
    """Return `n` sentences: names, the gift of each, and the positions of the two queried names."""
    names = torch.rand(n, N_NAMES, generator=generator).argsort(dim=1)[:, :LENGTH]
    gifts = torch.randint(N_NAMES, (n, LENGTH), generator=generator)
    asked = torch.rand(n, LENGTH, generator=generator).argsort(dim=1)[:, :2]
    return names, gifts, asked


def fit(model, part, generator, steps):
    """Train a part of `TwoPlaces`, the rest frozen; return the accuracy, as in `two_places`."""
    optimizer = torch.optim.Adam(part.parameters())
    schedule = torch.optim.lr_scheduler.OneCycleLR(optimizer, 9e-3, total_steps=steps)
    for _ in range(steps):
        names, gifts, asked = draw(BATCH, generator)
        logits = model(names, gifts, asked)
        loss = cross_entropy(logits.flatten(0, 1), gifts.gather(1, asked).flatten())
        model.zero_grad()
        loss.backward()
        optimizer.step()
        schedule.step()
    with torch.no_grad():
        names, gifts, asked = draw(4000, generator)
        right = model(names, gifts, asked).argmax(dim=-1) == gifts.gather(1, asked)
    return [*right.float().mean(dim=0).tolist(), right.all(dim=1).float().mean().item()]


def trained(n_heads, seed, steps=STEPS, hidden=0):
    """Train `TwoPlaces`; return it, its accuracy and the generator of its sentences."""
    torch.manual_seed(seed)
    generator = torch.Generator().manual_seed(seed + 100)
    model = TwoPlaces(n_heads, hidden)
    return model, fit(model, model, generator, steps), generator


def two_places(n_heads, seed, steps=STEPS, hidden=0):
    """Train `TwoPlaces`; return how often the first, the second and both answers are right."""
    return trained(n_heads, seed, steps, hidden)[1]


def read_again(seed, hidden, steps=LONGER):
    """Train one head with a readout; then freeze the head and train two new readouts.

    Returns
    -------
    dict
        ``weights``, the mean weight of the head on the first and on the second queried name;
        ``linear`` and ``hidden``, the accuracy of each new readout on the first, the second and
        both answers. These two differ only in the readout.
    """
    model, _, generator = trained(1, seed, hidden=hidden)
    model.requires_grad_(False)
    names, gifts, asked = draw(4000, generator)
    _, weights = model.attend(names, gifts, asked, need_weights=True)
    found = {"weights": weights[:, 0, 0].gather(1, asked).mean(dim=0).tolist()}
    for name, width in (("linear", 0), ("hidden", HIDDEN)):
        model.answers = readout(width)
        found[name] = fit(model, model.answers, generator, steps)
    return found


def translator_with(n_heads, parts):
    """Train the translator for a minute with so many heads; return its accuracy."""
    translator = Translator.fit(parts.train, sizes={"dropout": 0.05, "n_heads": n_heads})
    found = {
        "exact": exact(translator, parts.test),
        "adjective_noun": exact(translator, parts.adjective_noun),
        "longer": exact(translator, parts.longer),
        "polysemes": share(facts.polysemy(translator, parts.polysemes)),
        "coreference": facts.coreference(translator, parts.test + parts.validation)["right"],
    }
    blue = translator.translate("Tom was crying because he was blue")
    return {name: rounded(x) for name, x in found.items()} | {"blue": blue}


def rounded(x):
    return np.round(x, 3).tolist()


@cache
def translator():
    """Return the translator of the grammar."""
    return Translator.pretrained("grammar")


corpus = cache(splits)


def rows():
    """Return what is measured, by its name in the file."""
    seeds = range(SEEDS)
    return {
        "cuts": Row(lambda: cuts(translator(), corpus()), ("cuts",)),
        "means": Row(lambda: means(translator(), corpus()), ("means",)),
        "points": Row(lambda: points(translator(), corpus()), ("points",)),
        **{
            f"two places, {h} heads": Row(
                lambda h=h: rounded([two_places(h, seed) for seed in seeds]),
                ("two_places", "seeds", at),
            )
            for at, h in enumerate(N_HEADS)
        },
        "two places, one head and a hidden layer": Row(
            lambda: rounded([two_places(1, seed, hidden=HIDDEN) for seed in seeds]),
            ("two_places", "hidden"),
        ),
        "two places, trained longer": Row(
            lambda: rounded([two_places(N_HEADS[-1], seed, steps=LONGER) for seed in seeds]),
            ("two_places", "longer"),
        ),
        **{
            f"two places, read again by a {name} layer": Row(
                lambda width=width: [
                    {k: rounded(v) for k, v in read_again(seed, width).items()} for seed in seeds
                ],
                ("two_places", "read_again", name),
            )
            for name, width in (("linear", 0), ("hidden", HIDDEN))
        },
        **{
            f"translator with {h} heads": Row(
                lambda h=h: translator_with(h, corpus()), ("translators", str(h))
            )
            for h in TRANSLATORS
        },
    }


EXPERIMENT = Experiment(
    "How many heads, and what becomes of a translator without each of its own?",
    RESULTS,
    rows,
    minutes=30,
    constants=lambda: {"two_places": {"n_heads": N_HEADS}},
)
