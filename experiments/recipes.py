"""The choices behind the translator of real sentences, each tested alone.

``python -m experiments recipes`` trains the recipe of `attn.applications.translation.RECIPES` for a
tenth of its steps, and then a variant for each of `CHANGES`, which differs from it in one thing.
What is in ``recipes.json`` is not measured again, so the run can be stopped and started again.
Everything is compared on validation; the tests are not used.
"""

import time
from dataclasses import replace
from functools import cache, partial
from pathlib import Path
from tempfile import TemporaryDirectory

import torch

from attn.applications.translation import RECIPES, Translator
from attn.corpus import tatoeba
from experiments.runner import Experiment, Row

RESULTS = Path(__file__).with_name("recipes.json")
RECIPE = RECIPES["tatoeba"]
# Each recipe is trained for 1 / SHARE of its steps.
SHARE = 10
# The weights are averaged over the last 1 / AVERAGED of the steps.
AVERAGED = 5
BEAM, LENGTH_PENALTY = 4, 1.0
WIDTHS, PENALTIES = (1, 2, 4, 8), (0.0, 0.6, 1.0, 1.4)


def sizes(**changed):
    """Return a change of the model's configuration."""
    return lambda recipe: replace(recipe, sizes=recipe.sizes | changed)


def training(**changed):
    """Return a change of the training configuration."""
    return lambda recipe: replace(recipe, training=replace(recipe.training, **changed))


CHANGES = {
    "none": lambda recipe: recipe,
    "vectors of 128": sizes(d_model=128, d_ff=512),
    "no dropout": sizes(dropout=0.0),
    "two layers": sizes(n_layers=2),
    "no label smoothing": training(label_smoothing=0.0),
    "AdamW for all weights": training(optimizer="adamw"),
    "vocabulary of 8,000": lambda recipe: replace(recipe, vocab_size=8000),
    "a vocabulary for each language": lambda recipe: replace(recipe, joint_vocabulary=False),
    "last layer not tied": sizes(tie_embeddings=False),
    "twice the learning rate": training(learning_rate=RECIPE.training.learning_rate * 2),
    "half the learning rate": training(learning_rate=RECIPE.training.learning_rate / 2),
}


class Mean:
    """The mean of a model's weights over the last steps of its training."""

    def __init__(self, first):
        self.first, self.model, self.sums, self.n = first, None, None, 0

    def watch(self, model):
        """Start with the model before its training."""
        self.model = model

    def add(self, now):
        """Add its weights after a step to the mean, if the step counts."""
        if now.step < self.first:
            return
        weights = [p.detach() for p in self.model.parameters()]
        self.sums = self.sums or [torch.zeros_like(p) for p in weights]
        torch._foreach_add_(self.sums, weights)
        self.n += 1

    @torch.no_grad()
    def put(self):
        """Give the model the mean weights."""
        for parameter, total in zip(self.model.parameters(), self.sums, strict=True):
            parameter.copy_(total / self.n)


def tried(recipe, parts):
    """Return the results of a recipe after a tenth of its steps.

    Returns
    -------
    dict
        ``parameters``; ``bytes`` of the rounded model with its vocabularies; ``steps`` and CPU
        ``seconds``; BLEU and chrF on validation, ``greedy``, with a ``beam``, and with the
        ``averaged`` weights and a beam.
    """
    recipe = training(steps=max(1, recipe.training.steps // SHARE))(recipe)
    recipe = training(warmup_steps=min(recipe.training.warmup_steps, recipe.training.steps // 5))(
        recipe
    )
    steps = recipe.training.steps
    mean, began = Mean(steps - steps // AVERAGED), time.process_time()
    translator = Translator.fit(parts["train"], **vars(recipe), prepare=mean.watch, report=mean.add)
    told = {
        "parameters": sum(p.numel() for p in translator.model.parameters()),
        "bytes": size(translator),
        "steps": steps,
        "seconds": round(time.process_time() - began, 1),
        "greedy": measured(translator, parts),
        "beam": measured(translator, parts, BEAM, LENGTH_PENALTY),
    }
    mean.put()
    return told | {"averaged": measured(translator, parts, BEAM, LENGTH_PENALTY)}


def size(translator):
    """Return the bytes of a translator on disk, its weights rounded."""
    with TemporaryDirectory() as folder:
        translator.save(f"{folder}/model", quantised=True)
        return sum(path.stat().st_size for path in Path(folder, "model").iterdir())


def measured(translator, parts, width=1, penalty=0.0):
    """Return BLEU and chrF on validation."""
    told = translator.evaluate(
        parts["validation"], beam_width=width, **({"length_penalty": penalty} if width > 1 else {})
    )
    return [round(told["bleu"], 2), round(told["chrf"], 2)]


def searched(parts):
    """Return BLEU and chrF of the translator that ships, by beam and length penalty."""
    translator = Translator.pretrained("tatoeba")
    return {
        f"{width} {penalty:g}": measured(translator, parts, width, penalty)
        for width in WIDTHS
        for penalty in (PENALTIES if width > 1 else PENALTIES[:1])
    }


corpus = cache(tatoeba)


def rows():
    """Return what is measured: the search of the translator that ships, and each change."""
    found = {"search": Row(lambda: searched(corpus()), ("search",))}
    for name, change in CHANGES.items():
        run = partial(lambda change: tried(change(RECIPE), corpus()), change)
        found[name] = Row(run, (name,))
    return found


EXPERIMENT = Experiment(
    "The choices behind the translator of real sentences, each tried alone: what does each bring?",
    RESULTS,
    rows,
    minutes=120,
)
