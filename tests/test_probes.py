"""The probes ask a GRU the same questions as a Transformer; tables of the results."""

import itertools
from dataclasses import replace

import pytest
import torch

from attn.applications import _sequences
from attn.applications.translation import TRAINING
from attn.corpus import Pair
from attn_course.grammar import translate
from experiments import probes, probes_tables, rates

SENTENCES = (
    "the red house",
    "the cat sleeps",
    "my brother was very tired",
    "the animal did not cross the street because it was too wide",
    "tom is blue",
)
PAIRS = tuple(map(translate, SENTENCES))


@pytest.fixture(scope="module")
def translators():
    """Return each system after a few training steps; the tests do not depend on what it learned."""
    training = replace(TRAINING, steps=3, warmup_steps=1, device="cpu")
    return {name: probes.fit(name, PAIRS, training) for name in probes.SYSTEMS}


@pytest.mark.parametrize("name", probes.SYSTEMS)
def test_greedy_decoding_with_a_cache_equals_one_whole_pass(translators, name):
    """Greedy decoding with a cache takes the largest logit of the whole pass, also in a batch."""
    translator = translators[name]
    sources = [translator.source_ids(pair.source) for pair in PAIRS]
    written = _sequences.write(translator.model, sources, 9)
    for source, row in zip(sources, written, strict=True):
        inputs = torch.tensor([[translator.target.sos_id, *row[:-1]]])
        logits, _ = translator.model(torch.tensor([source]), inputs)
        assert logits.shape[-1] == translator.target.vocab_size
        assert logits.argmax(dim=-1)[0].tolist() == row


def test_a_gru_has_separate_embeddings_for_each_language(translators):
    """The same id has separate vectors in the source's and in the target's vocabulary."""
    model = translators["gru"].model
    src, tgt = torch.tensor([[5, 6]]), torch.tensor([[2, 7]])
    before, _ = model(src, tgt)
    with torch.no_grad():
        # Token 7 does not occur in the source, whose embedding of it therefore does not matter.
        model.core.embedding.weight[7] += 1.0
    after, _ = model(src, tgt)
    assert torch.equal(before, after)


def test_the_systems_have_about_the_same_size():
    sizes = [
        sum(p.numel() for p in make(510, 690).parameters()) for make in probes.SYSTEMS.values()
    ]
    assert max(sizes) / min(sizes) < 1.05


@pytest.mark.parametrize("shift, low, high", [(0, 0.0, 0.0), (1, 0.4, 1.0)])
def test_alignments_are_read_in_the_row_that_predicts_the_word(
    translators, monkeypatch, shift, low, high
):
    """Row i predicts word i: weights on the right links have no errors only in those rows."""
    pairs = [Pair("a b c", "x y z", *[frozenset({(0, 0), (1, 1), (2, 2)})] * 2)]
    translator = translators["gru_attention"]
    weights = torch.eye(4)[:, :3].roll(shift, dims=0)[None]
    monkeypatch.setattr(translator.model, "forward", lambda *given, **asked: (None, weights))
    assert low <= probes._alignments(translator, pairs)[0] <= high
    assert probes._alignments(translators["gru"], pairs) is None


def test_measurements_become_table_rows(translators):
    names = ("test", "validation", *probes_tables.PARTS)
    parts = type("Parts", (), dict.fromkeys(names, PAIRS))
    told = {"runs": {}, "setting": {"baselines": {"alignments": {"diagonal": [0.5, 0.4, 0.6]}}}}
    told["setting"]["baselines"]["commonest forms"] = [1, 2]
    about = {"seconds": 1.0, "parameters": 10, "learning_rate": 0.1, "steps": 3}
    for name, translator in translators.items():
        told["runs"][f"{name} 1"] = about | probes.measured(translator, parts)
    rows = probes_tables.translations(told)
    assert len(rows) == 6 * 3 and {row["number"] for row in rows} == {len(PAIRS)}
    assert all(list(row)[3:] == ["seed 1"] and "%" in row["seed 1"] for row in rows)
    n_agreeing = sum(len(pair.agreements) for pair in PAIRS)
    of_one = [row for row in probes_tables.agreements(told) if row["system"] == "Transformer"]
    assert sum(row["number"] for row in of_one) == 2 * n_agreeing  # in test and in longer
    assert [row["number"] for row in probes_tables.references(told)] == [2] * 7
    of_meanings = probes_tables.meanings(told)
    assert len(of_meanings) == 4 * 3 and {row["number"] for row in of_meanings} == {2 * 1, 1}
    assert [row["links from"] for row in probes_tables.alignments(told)] == [
        "Transformer",
        "GRU with attention",
        "diagonal",
    ]


@pytest.mark.parametrize("only_one, only_other", [(0, 0), (0, 6), (1, 8), (4, 5), (7, 2)])
def test_the_exact_test_counts_the_coins_that_fall_at_least_as_unevenly(only_one, only_other):
    n, apart = only_one + only_other, abs(only_one - only_other)
    falls = [abs(2 * sum(coins) - n) for coins in itertools.product((0, 1), repeat=n)]
    expected = sum(fall >= apart for fall in falls) / len(falls)
    assert rates.mcnemar(only_one, only_other) == pytest.approx(expected)


def test_a_paired_comparison_counts_what_only_one_gets_right():
    """Of five sentences, three are right only with the Transformer and one only with the GRU."""
    hits = {"transformer": (1, 1, 1, 0, 0), "gru_attention": (0, 0, 0, 1, 0), "gru": (0,) * 5}
    own = {"meanings": dict.fromkeys(("drawn alike", "new, in vocabulary"), rates.packed((0, 1)))}
    told = {"runs": {}}
    for name, some in hits.items():
        exact = dict.fromkeys(probes_tables.PARTS, rates.packed(some))
        run = {"exact": exact, "own": own | {"references": rates.packed((1,))}}
        told["runs"][f"{name} 2"] = run
    rows = probes_tables.differences(told)
    assert rows[0] == {"asked": "drawn alike", "number": 5, "seed 2": "3 : 1 (0.625)"}
    assert rows[-1] == {"asked": "pronouns", "number": 1, "seed 2": "0 : 0 (1.000)"}
    with pytest.raises(ValueError, match="other"):
        rates.apart(rates.packed((0, 1)), rates.packed((0,)))


def test_a_grus_learning_rate_is_chosen_by_validation(monkeypatch):
    asked = []
    monkeypatch.setattr(probes, "trained", lambda *given: asked.append(given[:3]))
    monkeypatch.setattr(probes, "corpus", lambda: None)
    told = {"rates": {"gru 0.0025": 0.3, "gru 0.005": 0.1, "gru 0.01": 0.2}}
    probes.with_best_rate("gru", 1, told)
    probes.with_best_rate("transformer", 2, told)
    assert asked == [("gru", 0.005, 1), ("transformer", TRAINING.learning_rate, 2)]


@pytest.mark.slow
def test_results_without_training_are_as_stored_and_stated():
    parts, told = probes.corpus(), probes_tables.stored()["setting"]["baselines"]
    assert probes_tables.baselines(parts) == told
    assert set(told["one word apart"].values()) == {0} and told["pairs"] == 20_000
    # The prose says that eleven references hold an unknown word, eight of them in one part.
    known = {word for pair in parts.train for word in pair.target.split()}
    unknown = {
        name: sum(not known.issuperset(pair.target.split()) for pair in getattr(parts, name))
        for name in probes_tables.PARTS
    }
    assert sum(unknown.values()) == 11 and unknown["polysemes"] == 8
