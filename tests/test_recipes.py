"""Each change of the recipe changes one setting, and its results are stored and shown."""

import json
from dataclasses import replace

import pytest
import torch

from attn_course.everyday import everyday
from experiments import recipes
from experiments.translators_tables import choices


@pytest.mark.parametrize("name", recipes.CHANGES)
def test_each_change_changes_one_setting(name):
    def settings(recipe):
        training = {f"training {n}": value for n, value in vars(recipe.training).items()}
        return {**vars(recipe), **recipe.sizes, **training, "sizes": None, "training": None}

    before, after = settings(recipes.RECIPE), settings(recipes.CHANGES[name](recipes.RECIPE))
    changed = {n for n in before | after if before.get(n) != after.get(n)}
    # With narrower vectors, d_ff changes as well as d_model.
    assert len(changed) == {"none": 0, "vectors of 128": 2}.get(name, 1)


def test_each_change_is_trained_measured_and_shown():
    tiny = replace(
        recipes.RECIPE,
        vocab_size=300,
        sizes={"d_model": 16, "n_heads": 2, "n_layers": 1, "d_ff": 16},
        training=replace(recipes.RECIPE.training, steps=60, batch_tokens=700),
    )
    pairs = everyday()
    told = recipes.tried(tiny, {"train": pairs[20:], "validation": pairs[:20]})
    assert told["steps"] == 6 and told["seconds"] > 0
    assert 2000 < told["parameters"] < told["bytes"]
    for search in ("greedy", "beam", "averaged"):
        assert all(0 <= score <= 100 for score in told[search])
    (row,) = choices({"recipes": {"search": {}, "none": told}})
    assert row["changed"] == "nothing" and row["steps"] == 6


def test_the_mean_of_weights_is_that_of_the_last_steps():
    model, mean = torch.nn.Linear(1, 1, bias=False), recipes.Mean(first=3)
    mean.watch(model)
    for step, weight in enumerate((9.0, 9.0, 1.0, 2.0, 6.0), 1):
        torch.nn.init.constant_(model.weight, weight)
        mean.add(type("Now", (), {"step": step}))
    mean.put()
    assert model.weight.item() == 3.0


def test_every_listed_change_was_tried():
    told = json.loads(recipes.RESULTS.read_text(encoding="utf-8"))
    assert told.keys() == {"search", *recipes.CHANGES}
