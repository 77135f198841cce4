"""What each part of the training of the translators brings, and what else might help.

``python -m experiments ingredients`` trains the translator from English for a twentieth of its steps,
and again for each of `VARIANTS`, which differs from it in one thing. Everything is measured on
validation, on the sentences with words of the documents, and on sentences with names and numbers
that nobody has read; the tests are not used. The last two rows train nothing: there the translators
that ship choose among the hypotheses of a beam together.
"""

import json
import math
import random
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from itertools import pairwise
from pathlib import Path
from statistics import mean

import torch
from sacrebleu.metrics import BLEU, CHRF
from sacrebleu.significance import PairedTest
from torch import nn

from attn.applications import _sequences
from attn.applications._application import configured
from attn.applications.translation import SIZES, Translator, vocabularies
from attn.corpus import Pair
from attn.decoding import beam_search
from attn.masks import padding_mask
from attn.tokenizer.byte_pair import FIRST_MERGE, split, to_bytes
from attn.training import pad, train
from attn.transformer import Transformer
from attn.transformer.stacks import Decoder, Encoder
from attn_course.mixture import mixture
from benchmarks.report import QUALITY, publish, read
from experiments import directions
from experiments.directions import corpus
from experiments.recipes import BEAM, LENGTH_PENALTY, RECIPE, Mean, measured
from experiments.runner import MISSING, Experiment, Row, get

RESULTS = Path(__file__).with_name("ingredients.json")
# A short training learns more without dropout and at twice the rate: `experiments.recipes`.
SHARE = 20
TRAINING = replace(
    RECIPE.training,
    steps=RECIPE.training.steps // SHARE,
    warmup_steps=RECIPE.training.warmup_steps // 4,
    learning_rate=2 * RECIPE.training.learning_rate,
)
AVERAGED = 5
N_JOINED, DROPPED = 6000, 0.1
# The sources of the other direction begin with this mark, which no sentence has.
MARK = "¶ "
WEIGHTS = (0.0, 0.25, 0.5, 0.75, 1.0)


class Pointer(Transformer):
    """A Transformer that may also copy a token of the source.

    The probability of a token is ``(1 - g) * softmax + g * copied``: `g` is a gate, and ``copied``
    the attention of one more head to the source (See et al., 2017, Eq. 9). The memory has one more
    column, the ids of the source.
    """

    def __init__(self, config):
        super().__init__(config)
        # The decoder returns its vectors; `decode` applies the embeddings that were its last layer.
        self.output = nn.Identity()
        self.query, self.key = (nn.Linear(config.d_model, config.d_model) for _ in range(2))
        self.gate = nn.Linear(config.d_model, 1)
        nn.init.constant_(self.gate.bias, -2.0)

    def encode(self, src, src_mask=None, **options):
        memory, weights = super().encode(src, src_mask, **options)
        return torch.cat((memory, src[..., None].to(memory.dtype)), dim=-1), weights

    def decode(self, tgt, memory, src_mask=None, tgt_mask=None, **options):
        memory, src = memory[..., :-1], memory[..., -1].long()
        x, weights = super().decode(tgt, memory, src_mask, tgt_mask, **options)
        scores = self.query(x) @ self.key(memory).mT / math.sqrt(x.shape[-1])
        if src_mask is not None:
            scores = scores.masked_fill(~src_mask, -math.inf)
        gate = self.gate(x).sigmoid()
        written = (1 - gate) * (x @ self.tgt_embedding.tokens.weight.mT).softmax(dim=-1)
        src = src[:, None].expand(scores.shape)
        return written.scatter_add(-1, src, gate * scores.softmax(dim=-1)).log(), weights

    def step(self, ids, cache, memory, src_mask=None):
        repeats = len(ids) // len(memory)
        memory, src_mask = (x.repeat_interleave(repeats, dim=0) for x in (memory, src_mask))
        logits, _ = self.decode(ids[:, cache.length :], memory, src_mask, cache=cache)
        return logits[:, -1]


class Uneven(Transformer):
    """A Transformer whose encoder and decoder differ in size."""

    def __init__(self, config, encoder, decoder):
        super().__init__(config)
        self.encoder = Encoder(replace(config, **encoder))
        self.decoder = Decoder(replace(config, **decoder))


def joined(pairs):
    """Return the pairs, and some made of two sentences."""
    drawn = random.Random(0)
    two = (drawn.sample(pairs, 2) for _ in range(N_JOINED))
    return pairs + [following(*both) for both in two]


def following(first, second):
    """Return a pair of two sentences."""
    return Pair(f"{first.source} {second.source}", f"{first.target} {second.target}")


def noisy(pairs):
    """Return the pairs, one in four with a typing error in its source."""
    return [Pair(typo(p.source), p.target) if i % 4 == 0 else p for i, p in enumerate(pairs)]


def typo(text):
    """Return a text with one letter of a word left out, doubled, exchanged or out of its place.

    >>> typo("The house is red."), typo("Where is the library?")
    ('The house is rd.', 'Where is the libfary?')
    """
    drawn = random.Random(text)
    places = [i for i in range(1, len(text) - 1) if text[i - 1 : i + 2].isalpha()]
    if not places:
        return text
    i = drawn.choice(places)
    letter, after = text[i], text[i + 1]
    kinds = ("", letter * 2, drawn.choice("abcdefghijklmnopqrstuvwxyz"))
    kind = drawn.randrange(4)
    return text[:i] + (after + letter if kind == 3 else kinds[kind] + after) + text[i + 2 :]


def both_directions(pairs):
    """Return the pairs in both directions; from Spanish, the source begins with a mark."""
    return pairs + [Pair(MARK + pair.target, pair.source) for pair in pairs]


def bpe_dropout(tokenizer, drawn):
    """Return a function that cuts a text's ids otherwise: merges are left out by chance.

    Provilkov et al. (2020), algorithm 1.
    """
    merges = {pair: FIRST_MERGE + n for n, pair in enumerate(tokenizer.merges)}

    def cut(word):
        parts = to_bytes(word)
        while possible := [
            (merges[pair], i)
            for i, pair in enumerate(pairwise(parts))
            if pair in merges and drawn.random() >= DROPPED
        ]:
            token, i = min(possible)
            parts[i : i + 2] = [token]
        return parts

    return lambda ids: [i for word in split(tokenizer.decode(ids)) for i in cut(word)]


@dataclass(frozen=True)
class Variant:
    """What differs from the translator that ships: its pairs, its model, how it cuts words."""

    label: str
    pairs: Callable = mixture
    changed: Callable = list
    model: Callable = Transformer
    has_dropout: bool = False


WIDE = {"encoder": {"d_ff": 1152}, "decoder": {"d_ff": 384}}
VARIANTS = {
    "mixture": Variant("nothing"),
    "alone": Variant(
        "the pairs alone", partial(mixture, n_grammar=0, other_names=False, other_digits=False)
    ),
    "no names": Variant("without exchanged names", partial(mixture, other_names=False)),
    "no numbers": Variant("without exchanged numbers", partial(mixture, other_digits=False)),
    "no grammar": Variant("without sentences of the grammar", partial(mixture, n_grammar=0)),
    "pointer": Variant("a pointer to the source", model=Pointer),
    "dropout": Variant("BPE-dropout", has_dropout=True),
    "wide": Variant("a wider encoder, a thinner decoder", model=partial(Uneven, **WIDE)),
    "joined": Variant("with two sentences joined", changed=joined),
    "noise": Variant("with typing errors", changed=noisy),
    "both": Variant("both directions in one model", changed=both_directions),
}

# The row that the others are compared with, and the one that keeps most names, have three seeds.
SEEDS = dict.fromkeys(VARIANTS, 1) | {"mixture": 3, "pointer": 3}


def trained(variant, seed, training=TRAINING, sizes=RECIPE.sizes):
    """Return a translator that learnt as a variant says, its mean weights, and the seconds."""
    pairs = variant.changed(list(variant.pairs()["train"]))
    tokenizer, _ = vocabularies.learn(pairs, "bpe", RECIPE.vocab_size, joint=True)
    config = configured(SIZES, {**sizes, "dropout": 0.0}, tokenizer.vocab_size)
    torch.manual_seed(seed)
    model, average = variant.model(config), Mean(training.steps - training.steps // AVERAGED)
    average.watch(model)
    cut = bpe_dropout(tokenizer, random.Random(seed)) if variant.has_dropout else list
    examples, began = vocabularies.encoded(tokenizer, tokenizer, pairs), time.process_time()
    train(
        model,
        partial(_sequences.sequence_loss, label_smoothing=training.label_smoothing),
        examples,
        lambda some: _sequences.collate([(cut(source), cut(target)) for source, target in some]),
        replace(training, seed=seed),
        length=lambda pair: len(pair[0]) + len(pair[1]),
        report=average.add,
    )
    longest = max(len(source) for source, _ in examples)
    seconds = round(time.process_time() - began, 1)
    return Translator(model, tokenizer, tokenizer, longest, punctuated=True), average, seconds


def tried(variant, seed, **settings):
    """Return what a translator that is trained as a variant says can do, and what it cost."""
    translator, average, seconds = trained(variant, seed, **settings)
    told = {"parameters": sum(p.numel() for p in translator.model.parameters())}
    told |= {"seconds": seconds} | asked(translator)
    if variant.changed is both_directions:
        turned = [Pair(MARK + pair.target, pair.source) for pair in corpus()["validation"]]
        told["turned"] = measured(translator, {"validation": turned}, BEAM, LENGTH_PENALTY)
    if variant is VARIANTS["mixture"] and seed == 0:
        average.put()
        told["averaged"] = measured(translator, corpus(), BEAM, LENGTH_PENALTY)
    return told


def asked(translator):
    """Return the scores of a translator on validation, and what it keeps and gets right."""
    pairs = corpus()["validation"]
    sets = {
        "validation": pairs,
        "typing errors": [Pair(typo(p.source), p.target) for p in pairs[::4]],
        "joined": [following(*both) for both in zip(pairs[::4], pairs[2::4], strict=True)],
    }
    told = {
        name: measured(translator, {"validation": some}, BEAM, LENGTH_PENALTY)
        for name, some in sets.items()
    }
    told["names"] = directions.kept_words(translator, directions.named(pairs))
    told["numbers"] = directions.kept_words(translator, directions.familiar("en"))
    return told | {"neighbours": directions.right_neighbours(translator)["right"]}


def reranked(language, width):
    """Return what the choice among hypotheses gains on validation, by the other direction's weight.

    A hypothesis has the score ``(1 - w) * log P(target | source) + w * log P(source | target)``, both
    divided by the length penalty (Li and Jurafsky, 2016, section 3).
    """
    there, back = (
        Translator.pretrained("tatoeba", source_language=one)
        for one in (language, "es" if language == "en" else "en")
    )
    pairs = directions.pairs_of(language, "validation")
    chosen = {weight: [""] * len(pairs) for weight in WEIGHTS}
    sources = [there.source.encode(pair.source) for pair in pairs]
    for places in _sequences.by_length(sources):
        some = [sources[i] for i in places]
        texts, scores = hypotheses(there, some, width)
        asked = [pairs[i].source for i in places for _ in range(width)]
        returned = back_scores(back, texts, asked).view_as(scores)
        for weight, found in chosen.items():
            best = ((1 - weight) * scores + weight * returned).argmax(dim=1).tolist()
            for row, (place, which) in enumerate(zip(places, best, strict=True)):
                found[place] = texts[row * width + which]
    return compared(chosen, [pair.target for pair in pairs])


def compared(chosen, right):
    """Return BLEU and chrF of translations by their name, and p-values against the first of them.

    Sentences are drawn again in pairs: sacrebleu's paired bootstrap.
    """
    systems = [(f"{name:g}", texts) for name, texts in chosen.items()]
    metrics = {"BLEU": BLEU(), "chrF": CHRF()}
    _, results = PairedTest(systems, metrics, [right], "bs", n_samples=1000)()
    told = {}
    for name, *each in zip(results.pop("System"), *results.values(), strict=True):
        told[name] = [round(one.score, 2) for one in each]
        told[name] += [round(one.p_value, 4) for one in each if one.p_value is not None]
    return told


@torch.no_grad()
def hypotheses(translator, sources, beam_width):
    """Return the texts that a beam search finds, source by source, and their scores, a row each."""
    model = translator.model
    src, lengths = pad(sources, translator.source.pad_id)
    src_mask = padding_mask(lengths, src.shape[1])
    memory, _ = model.encode(src, src_mask)
    ids, scores = beam_search(
        partial(model.step, memory=memory, src_mask=src_mask),
        src.new_full((len(src), 1), translator.target.sos_id),
        width=beam_width,
        end_id=translator.target.eos_id,
        max_new_tokens=2 * src.shape[1] + 10,
        length_penalty=LENGTH_PENALTY,
        cache=model.new_cache(),
    )
    rows = ids.flatten(0, 1)[:, 1:].tolist()
    return [translator.target.decode(row) for row in rows], scores


@torch.no_grad()
def back_scores(translator, sources, targets):
    """Return the score that a beam search would give each target as translation of its source."""
    # An empty hypothesis is read as a full stop.
    pairs = [Pair(source or ".", target) for source, target in zip(sources, targets, strict=True)]
    examples = vocabularies.encoded(translator.source, translator.target, pairs)
    logits, wanted = _sequences.predict(translator.model, _sequences.collate(examples))
    log_p = logits.double().log_softmax(dim=-1).gather(-1, wanted[..., None])[..., 0]
    counts = wanted != translator.target.pad_id
    totals = log_p.where(counts, 0.0).sum(dim=-1)
    return totals / ((5 + counts.sum(dim=-1)) / 6) ** LENGTH_PENALTY


def stored():
    """Return what was measured."""
    return json.loads(RESULTS.read_text(encoding="utf-8"))


BROKEN = {"typing errors": "BLEU, typing errors", "joined": "BLEU, two at once"}
KEPT = {
    "names": "invented names kept",
    "numbers": "other numbers kept",
    "neighbours": "words of the documents",
}


def ingredients(told):
    """Return how good each variant is after a short training, and how far from the mixture."""
    usual, found = told["mixture"], []
    averaged = {"0": {**usual["0"], "validation": usual["0"]["averaged"]}}
    labelled = [(variant.label, told[name]) for name, variant in VARIANTS.items()]
    for label, runs in (*labelled, ("the mean of the last weights", averaged)):
        cells = {"changed": label, "seeds": len(runs)}
        cells["seconds of processor"] = round(mean(run["seconds"] for run in runs.values()))
        for place, metric in enumerate(("BLEU", "chrF")):
            cells[metric] = spread([run["validation"][place] for run in runs.values()])
        apart = [run["validation"][0] - usual[seed]["validation"][0] for seed, run in runs.items()]
        found.append(cells | {"difference, BLEU": "–" if runs is usual else spread(apart, "+")})
    return found


def broken_and_kept(told):
    """Return what each variant makes of wrong letters and two sentences, and what it keeps."""
    found = []
    for name, variant in VARIANTS.items():
        runs, cells = told[name].values(), {"changed": variant.label}
        for part, heading in BROKEN.items():
            cells[heading] = spread([run[part][0] for run in runs])
        for part, heading in KEPT.items():
            right, asked = (sum(run[part][i] for run in runs) for i in (0, 1))
            cells[heading] = f"{right} / {asked}"
        found.append(cells)
    return found


def spread(values, sign="-"):
    """Return the mean of some values and, of several, the lowest and the highest."""
    some = (mean(values), min(values), max(values))
    # Adding 0 makes of a rounded −0.0 a 0.0.
    middle, low, high = (f"{round(x, 1) + 0:{sign}.1f}" for x in some)
    text = middle if len(values) == 1 else f"{middle} ({low} … {high})"
    return text.replace("-", "−")


def second_opinion(told):
    """Return BLEU and chrF by the weight of the other direction, from either language."""
    return [
        {"direction": label}
        | {
            f"w = {w}": f"{bleu:.1f} / {chrf:.1f}" + (f" ({max(p):.3f})" if p else "")
            for w, (bleu, chrf, *p) in told["rerank"][one].items()
        }
        for one, label in (("en", "English to Spanish"), ("es", "Spanish to English"))
    ]


TABLES = {
    "real_ingredients": ingredients,
    "real_ingredients_kept": broken_and_kept,
    "real_reranking": second_opinion,
}


def rows():
    """Return what is measured: each variant by its seeds, and the choice with both translators."""
    found = {}
    for name, seeds in SEEDS.items():
        for seed in range(seeds):
            run = partial(tried, VARIANTS[name], seed)
            found[f"{name} {seed}"] = Row(run, (name, str(seed)))
    for language in ("en", "es"):
        found[f"rerank {language}"] = Row(partial(reranked, language, 8), ("rerank", language))
    return found


def set_tables():
    """Set the tables into the page of results, when all is measured."""
    if all(get(stored(), row.places[0]) is not MISSING for row in rows().values()):
        publish(read(QUALITY) | {name: make(stored()) for name, make in TABLES.items()}, QUALITY)


EXPERIMENT = Experiment(
    "What does each part of the translators' training bring, and what else might help?",
    RESULTS,
    rows,
    minutes=65,
    publish=set_tables,
)
