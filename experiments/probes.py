"""What a Transformer and two GRUs have learned of the grammar, on splits without neighbours.

``python -m experiments probes`` trains what is not yet in ``probes.json``, writes each result at
once and sets the tables of the page of results again: it can be stopped and started again. Every
translator is trained on the same 20,000 pairs, none of which is one word away from a sentence of a
test (`attn_course.grammar.without_neighbours`), in the same number of batches, on one thread. All
have about equal numbers of parameters, and each is trained with three seeds. The learning rate of a
GRU is the best of three on validation.
"""

import time
from dataclasses import replace
from functools import cache, partial
from pathlib import Path

import torch
from torch import nn

from attn.applications import _sequences
from attn.applications.translation import SIZES, TRAINING, Translator, facts, vocabularies
from attn.metrics import align
from attn.recurrent import RecurrentCache, RecurrentEncoderDecoder
from attn.transformer import Transformer, TransformerConfig
from attn_course.grammar import splits, without_neighbours
from experiments import own_words, probes_tables
from experiments.rates import error_rate, packed
from experiments.runner import Experiment, Row

RESULTS = Path(__file__).with_name("probes.json")
# The number of pairs drawn; training uses those without neighbours in the tests.
DRAWN = 30_000
DROPOUT = 0.05
STEPS = 1_000
# The learning rates tried for a GRU. The Transformer has the rate of its recipe.
RATES = (2.5e-3, 5e-3, 1e-2)
# A learning rate is tried with this fraction of the batches.
SWEEP = 4


class Recurrent(nn.Module):
    """A GRU with the interface of a Transformer that `attn.applications.translation` uses.

    Source and target have their own vocabularies, as with the Transformer: in the GRU's single
    table the target's ids follow the source's, and no logits are computed for the source's.
    """

    def __init__(self, n_source, n_target, d_model, attention):
        super().__init__()
        self.n_source = n_source
        # The translator only checks whether positions are limited; those of a GRU are not.
        self.config = TransformerConfig(n_source, n_target, positions="none")
        self.core = RecurrentEncoderDecoder(
            n_source + n_target,
            d_model,
            attention=attention,
            bidirectional=True,
            tie_embeddings=True,
            dropout=DROPOUT,
        )

    def forward(self, src, tgt, src_mask=None, *, need_weights=False):
        """Return logits over the target's vocabulary, and the weights if `need_weights`."""
        lengths = None if src_mask is None else src_mask.sum(dim=-1).flatten()
        logits, weights = self.core(src, tgt + self.n_source, lengths, need_weights=need_weights)
        return logits[..., self.n_source :], weights

    def encode(self, src, src_mask):
        """Return what `step` takes as its `memory`."""
        lengths = src_mask.sum(dim=-1).flatten()
        return (*self.core.encode(src, lengths), lengths), None

    def step(self, ids, cache, memory, src_mask):
        """Score the next token of each row."""
        return self.core.step(ids + self.n_source, cache, *memory)[:, self.n_source :]

    def new_cache(self):
        """Return the state of a decoding that has not begun."""
        return RecurrentCache()


def transformer(n_source, n_target):
    """Return the Transformer of the first minute."""
    return Transformer(TransformerConfig(n_source, n_target, **SIZES | {"dropout": DROPOUT}))


# The widths give all three systems about the same number of parameters.
SYSTEMS = {
    "transformer": transformer,
    "gru_attention": partial(Recurrent, d_model=102, attention="additive"),
    "gru": partial(Recurrent, d_model=120, attention=None),
}


def fit(system, pairs, training):
    """Return a translator of this system trained on pairs."""
    source, target = vocabularies.learn(pairs, "words", None)
    examples = vocabularies.encoded(source, target, pairs)
    model, history = Translator._train(
        partial(SYSTEMS[system], source.vocab_size, target.vocab_size),
        _sequences.sequence_loss,
        examples,
        _sequences.collate,
        training,
        length=lambda pair: len(pair[0]) + len(pair[1]),
    )
    return Translator(model, source, target, max_len=64, history=history)


@torch.no_grad()
def loss_on(translator, pairs):
    """Return the loss per token, without label smoothing."""
    total = count = 0.0
    examples = vocabularies.encoded(translator.source, translator.target, pairs)
    for some in _sequences.by_length(examples, lambda pair: len(pair[0])):
        batch = _sequences.collate([examples[i] for i in some])
        of_batch, n = _sequences.sequence_loss(translator.model, batch)
        total, count = total + of_batch.item(), count + n.item()
    return total / count


def tried(system, rate, parts):
    """Return the validation loss after a short training."""
    steps = STEPS // SWEEP
    training = replace(
        TRAINING, learning_rate=rate, steps=steps, warmup_steps=steps // 5, device="cpu"
    )
    return round(loss_on(fit(system, parts.train, training), parts.validation), 4)


def trained(system, rate, seed, parts):
    """Return the results of a translator after its training, and the cost of the training."""
    began = time.process_time()
    training = replace(TRAINING, learning_rate=rate, steps=STEPS, seed=seed, device="cpu")
    translator = fit(system, parts.train, training)
    return {
        "learning_rate": rate,
        "steps": training.steps,
        "seconds": round(time.process_time() - began, 1),
        "parameters": sum(p.numel() for p in translator.model.parameters()),
    } | measured(translator, parts)


def measured(translator, parts):
    """Return the accuracy of a translator, on the questions that all systems answer.

    Returns
    -------
    dict
        ``exact``, whole sentences by part; ``meanings``, words of several meanings by part;
        ``references``, words whose form a pronoun decides; ``own``, these last two again in the
        translation that it writes by itself: each as `experiments.rates.packed` gives them.
        ``agreements``, words by their distance, as the number right and the number of all;
        ``alignments``, where there is attention, the number right and of all links of each
        sentence.
    """
    exact = {}
    for name in probes_tables.PARTS:
        pairs = getattr(parts, name)
        found = translator.translate([pair.source for pair in pairs])
        exact[name] = packed(a == pair.target for a, pair in zip(found, pairs, strict=True))
    known = [p for p in parts.polysemes if not translator.target.unknown(p.target)]
    alike = parts.test + parts.validation
    places = {"drawn alike": alike, "new, in vocabulary": known}
    return {
        "exact": exact,
        "agreements": {
            str(distance): [round(share * n), n]
            for distance, (share, n) in facts.agreement(
                translator, parts.test + parts.longer
            ).items()
        },
        "meanings": {name: packed(_meanings(translator, some)) for name, some in places.items()},
        "references": packed(_references(translator, alike)),
        "own": {
            "meanings": {
                name: packed(own_words.meanings(translator, some)) for name, some in places.items()
            },
            "references": packed(own_words.references(translator, alike)),
        },
        "alignments": _alignments(translator, parts.test),
    }


def _meanings(translator, pairs):
    """Yield, for each word of several meanings, whether it is predicted after the right words."""
    for pair in pairs:
        predicted = facts.predictions(translator, pair) if pair.polysemes else None
        for known in pair.polysemes:
            yield predicted[[j for i, j in pair.sure if i == known.position]].all()


def _references(translator, pairs):
    """Yield, for each word that a pronoun decides, whether it is predicted after right words."""
    for pair in pairs:
        predicted = facts.predictions(translator, pair) if pair.coreferences else None
        for known in pair.coreferences:
            yield predicted[known.decides]


@torch.no_grad()
def _alignments(translator, pairs):
    """Return the error rate of the attention weights' mean, and its interval."""
    model, links = translator.model, []
    if isinstance(model, Recurrent) and not model.core.attention:
        return None
    for example in vocabularies.encoded(translator.source, translator.target, pairs):
        src, _, tgt = _sequences.collate([example])
        _, found = model(src, tgt[:, :-1], need_weights=True)
        weights = found[0] if isinstance(model, Recurrent) else torch.cat(found.cross).mean((0, 1))
        # The last row predicts <eos>, which translates no word.
        links.append(align(weights[:-1].numpy()))
    sure, possible = ([getattr(pair, name) for pair in pairs] for name in ("sure", "possible"))
    return [round(float(number), 4) for number in error_rate(links, sure, possible)]


def rows():
    """Return what is measured: what needs no training, learning rates, and every system by seed."""
    found = {
        "setting": Row(lambda: probes_tables.baselines(corpus()), ("setting", "baselines")),
    }
    for system in SYSTEMS:
        for rate in RATES if system != "transformer" else ():
            name = f"{system} {rate:g}"
            run = partial(lambda system, rate: tried(system, rate, corpus()), system, rate)
            found[f"rate, {name}"] = Row(run, ("rates", name))
    for seed in probes_tables.SEEDS:
        for system in SYSTEMS:
            run = partial(with_best_rate, system, seed)
            found[f"{system} {seed}"] = Row(run, ("runs", f"{system} {seed}"), reads=True)
    return found


def with_best_rate(system, seed, told):
    """Train with the learning rate of the smallest loss, or with that of the recipe."""
    names = {rate: f"{system} {rate:g}" for rate in RATES}
    losses = {rate: told["rates"][name] for rate, name in names.items() if name in told["rates"]}
    rate = min(losses, key=losses.get) if losses else TRAINING.learning_rate
    return trained(system, rate, seed, corpus())


@cache
def corpus():
    """Return the parts that all systems are trained and tested on."""
    return without_neighbours(splits(n_train=DRAWN))


EXPERIMENT = Experiment(
    "What have a Transformer and two GRUs learnt of the grammar, with honest splits?",
    RESULTS,
    rows,
    minutes=90,
    publish=probes_tables.set_tables,
)
