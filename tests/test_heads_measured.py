"""The numbers on heads that chapters 4 and 5 state are those of the shipped translator."""

import json

import numpy as np
import pytest
import torch

from attn.applications.translation import Translator, facts
from experiments import heads, two_places

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def measured():
    return json.loads(heads.RESULTS.read_text(encoding="utf-8"))


@pytest.fixture(scope="module")
def parts(corpus):
    return corpus


@pytest.fixture(scope="module")
def translator():
    return Translator.pretrained("grammar")


@pytest.mark.parametrize("name", ["adjective_noun", "coreference", "copula", "polysemes"])
def test_cuts_agree_with_the_shipped_translator(name, measured, translator, parts):
    pairs, measure = heads.measures(parts)[name]
    found = measured["cuts"][name]
    assert found["pairs"] == len(pairs)
    assert found["whole"] == pytest.approx(measure(translator, pairs), abs=6e-4)
    with facts.without_head(translator.model, "cross", 1, 1):
        assert found["cross"][1][1] == pytest.approx(measure(translator, pairs), abs=6e-4)


def test_heads_at_their_mean_agree_with_the_shipped_translator(measured, translator, parts):
    pairs, measure = heads.measures(parts)["coreference"]
    mean = heads.mean_outputs(translator, pairs, "cross", 1)[1]
    projection = translator.model.decoder.layers[1].cross_attention.out_proj
    handed = []

    def replace(_, inputs):
        apart = inputs[0].unflatten(-1, (translator.model.config.n_heads, -1)).clone()
        handed.append(apart[..., 1, :].flatten(0, -2))
        apart[..., 1, :] = mean
        return apart.flatten(-2)

    hook = projection.register_forward_pre_hook(replace)
    right = measure(translator, pairs)
    torch.testing.assert_close(mean, torch.cat(handed).mean(dim=0), atol=1e-4, rtol=0)
    assert measured["means"]["coreference"]["cross"][1][1] == pytest.approx(right, abs=6e-4)
    heads_of_three = torch.ones(3, projection.in_features)
    replaced = projection(heads_of_three)
    hook.remove()
    whole = projection(heads_of_three)
    with heads.at_its_mean(translator.model, "cross", 1, 1, mean):
        torch.testing.assert_close(projection(heads_of_three), replaced)
    assert torch.equal(projection(heads_of_three), whole) and not torch.equal(whole, replaced)


def test_nouns_and_adjectives_of_a_reversed_pair_are_found(parts):
    pair = next(p for p in parts.test if p.source == "the rotten apples")
    words = pair.target.split()
    assert {words[j] for j in heads.swapped(pair)} == {"manzanas", "podridas"}


def test_one_head_cannot_attend_to_two_places_and_two_heads_can(measured):
    both = [seed[2] for seed in measured["two_places"]["seeds"][0]]
    assert max(both) < 0.3
    assert heads.two_places(1, seed=0, steps=250)[2] < 0.3
    assert heads.two_places(2, seed=0, steps=250)[2] > 0.9


def test_the_laboratorys_claims_on_widths_hold_for_every_seed():
    right = json.loads(two_places.RESULTS.read_text(encoding="utf-8"))["right"]
    both = {name: np.array(runs)[:, 2] for name, runs in right.items()}
    for name in ("wide queries and keys", "wide values"):
        assert (both[name] - both["narrow"]).min() > 0.2
    for name in ("two heads", "one head, hidden layer"):
        assert (both[name] - both["one head"]).min() > 0.88
    assert two_places.right("two heads", seed=0, steps=250)[2] > 0.9
    assert two_places.right("one head", seed=0, steps=250)[2] < 0.3


def test_a_frozen_heads_information_depends_on_training_and_readout(measured):
    """A head trained with a hidden layer hands over both; one trained without may not."""
    assert min(seed[2] for seed in measured["two_places"]["hidden"]) > 0.99
    with_linear, with_hidden = measured["two_places"]["read_again"].values()
    assert min(run["hidden"][2] for run in with_hidden) > 0.99
    assert max(run["linear"][2] for run in with_hidden) < 0.1
    assert [run["hidden"][2] > 0.9 for run in with_linear] == [False, False, True]
    again = heads.read_again(1, hidden=heads.HIDDEN, steps=200)
    assert again["linear"][2] < 0.1 and again["hidden"][2] > 0.9


def test_only_the_readout_is_trained_again(monkeypatch):
    before, after, fit = [], [], heads.fit

    def spy(model, part, generator, steps):
        if part is not model:
            before.append(model.attention.q_proj.weight.clone())
        found = fit(model, part, generator, min(steps, 3))
        if part is not model:
            after.append(model.attention.q_proj.weight.clone())
        return found

    monkeypatch.setattr(heads, "fit", spy)
    heads.read_again(0, hidden=0)
    assert len(before) == 2 and all(map(torch.equal, before, after))


def test_a_chosen_guessing_head_is_at_chance_on_held_out_data():
    hits = np.random.default_rng(0).random((400, 50)) < 0.2
    assert hits.mean(axis=0).max() > 0.24
    assert heads.chosen(hits) == pytest.approx(0.2, abs=0.03)
    hits[:, 7] = True
    assert heads.chosen(hits) == 1


def test_fixed_places_count_from_both_ends_and_from_the_query():
    places = heads.fixed_places(query=2, length=5)
    assert len(places) == 4 * heads.NEAR + 1
    assert places[:6].tolist() == [0, 1, 2, 3, 4, 4]
    assert places[heads.NEAR :][:6].tolist() == [4, 3, 2, 1, 0, 0]
    assert places[2 * heads.NEAR :].tolist() == [0] * 7 + [1, 2, 3, 4] + [4] * 6


def test_the_chapters_claims_on_the_best_head_hold_in_the_data(measured):
    points = measured["points"]
    best = {name: np.max(found["heads"]) for name, found in points.items()}
    for name in ("coreference", "adjective_noun"):
        found = points[name]
        assert found["chosen"] > 1.9 * max(*found["untrained"], found["fixed"])
    assert points["polysemes"]["chosen"] < best["polysemes"] - 0.05
    assert points["agreement"]["fixed"] > best["agreement"] + 0.3


def test_longer_training_recovers_part_of_the_loss_from_too_many_heads(measured):
    short, longer = measured["two_places"]["seeds"][-1], measured["two_places"]["longer"]
    assert max(seed[2] for seed in short) < min(seed[2] for seed in longer) < 0.9


def test_heads_are_scored_on_the_correct_source_words(parts):
    pair = next(p for p in parts.test if p.source == "the rotten apples")
    found = {query: right for _, query, right in heads.places(pair, "adjective_noun")}
    words, source = pair.target.split(), pair.source.split()
    assert {words[j]: source[i] for j, (i,) in found.items()} == {
        "manzanas": "apples",
        "podridas": "rotten",
    }


def test_pointing_scores_agree_with_the_shipped_translator(measured, translator, parts):
    pairs = [p for p in parts.test + parts.validation if p.coreferences]
    found = facts.coreference(translator, pairs)
    stored = measured["points"]["coreference"]
    assert stored["n"] == found["n"]
    assert stored["chance"] == pytest.approx(found["chance"], abs=6e-4)
    assert stored["heads"] == pytest.approx(found["points"], abs=6e-4)
    hits, fixed, _ = heads.pointing(translator, pairs, "coreference")
    assert stored["chosen"] == pytest.approx(heads.chosen(hits), abs=6e-4)
    assert stored["fixed"] == pytest.approx(heads.chosen(fixed), abs=6e-4)


def test_the_stored_results_are_complete(measured, parts):
    assert measured["cuts"].keys() == measured["means"].keys() == heads.measures(parts).keys()
    assert measured["points"].keys() == {*heads.POINTS}
    assert measured["two_places"]["n_heads"] == [*heads.N_HEADS]
    assert [int(h) for h in measured["translators"]] == [*heads.TRANSLATORS]
