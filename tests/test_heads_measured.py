"""What chapter 4 says of heads: the stored numbers are those of the shipped translator."""

import json

import pytest

from attn.applications.translation import Translator, facts
from attn.corpus import splits
from benchmarks import heads


@pytest.fixture(scope="module")
def measured():
    return json.loads(heads.RESULTS.read_text(encoding="utf-8"))


@pytest.fixture(scope="module")
def parts():
    return splits()


@pytest.fixture(scope="module")
def translator():
    return Translator.pretrained()


@pytest.mark.parametrize("name", ["adjective_noun", "coreference", "copula", "polysemes"])
def test_cuts_agree_with_the_shipped_translator(name, measured, translator, parts):
    pairs, measure = heads.measures(parts)[name]
    found = measured["cuts"][name]
    assert found["pairs"] == len(pairs)
    assert found["whole"] == pytest.approx(measure(translator, pairs), abs=6e-4)
    with facts.without_head(translator.model, "cross", 1, 1):
        assert found["cross"][1][1] == pytest.approx(measure(translator, pairs), abs=6e-4)


def test_nouns_and_adjectives_of_a_reversed_pair_are_found(parts):
    pair = next(p for p in parts.test if p.source == "the rotten apples")
    words = pair.target.split()
    assert {words[j] for j in heads.swapped(pair)} == {"manzanas", "podridas"}


def test_one_head_cannot_look_at_two_places_and_two_can(measured):
    both = [seed[2] for seed in measured["two_places"]["seeds"][0]]
    assert max(both) < 0.3
    assert heads.two_places(1, seed=0, steps=250)[2] < 0.3
    assert heads.two_places(2, seed=0, steps=250)[2] > 0.9


def test_a_hidden_layer_reads_both_from_one_mean(measured):
    assert min(seed[2] for seed in measured["two_places"]["hidden"]) > 0.99
    assert heads.two_places(1, seed=0, steps=500, hidden=heads.HIDDEN)[2] > 0.9


def test_longer_training_mends_part_of_what_is_lost_with_too_many_heads(measured):
    short, longer = measured["two_places"]["seeds"][-1], measured["two_places"]["longer"]
    assert max(seed[2] for seed in short) < min(seed[2] for seed in longer) < 0.9


def test_what_is_pointed_at_is_what_a_person_would_point_at(parts):
    pair = next(p for p in parts.test if p.source == "the rotten apples")
    found = {query: right for _, query, right in heads.places(pair, "adjective_noun")}
    words, source = pair.target.split(), pair.source.split()
    assert {words[j]: source[i] for j, (i,) in found.items()} == {
        "manzanas": "apples",
        "podridas": "rotten",
    }


def test_pointing_agrees_with_the_shipped_translator(measured, translator, parts):
    pairs = [p for p in parts.test + parts.validation if p.coreferences]
    found = facts.coreference(translator, pairs)
    stored = measured["points"]["coreference"]
    assert stored["n"] == found["n"]
    assert stored["chance"] == pytest.approx(found["chance"], abs=6e-4)
    assert stored["heads"] == pytest.approx(found["points"], abs=6e-4)


def test_what_is_stored_is_all_that_is_measured(measured, parts):
    assert measured["cuts"].keys() == heads.measures(parts).keys()
    assert measured["points"].keys() == {*heads.POINTS}
    assert measured["two_places"]["n_heads"] == [*heads.N_HEADS]
    assert [int(h) for h in measured["translators"]] == [*heads.TRANSLATORS]
