"""The comparison of translators on real sentences: its parts, runner and stored results."""

import doctest
import json
import math
import re
from functools import partial

import numpy as np
import pytest
import torch

from attn.applications import _sequences
from attn.corpus import Pair
from attn.tokenizer.base import Tokenizer
from attn.transformer import Transformer, TransformerConfig
from benchmarks.report import PAGES, QUALITY
from experiments import charts, translators, translators_systems, translators_tables
from experiments.runner import Experiment
from experiments.translators_systems import TRAINED, UNTRAINED, System

STORED = json.loads(translators.RESULTS.read_text(encoding="utf-8"))
PAIRS = [
    Pair(f"{who} {verb} {what}.", f"{quien} {verbo} {que}.")
    for who, quien in (("Tom", "Tom"), ("The cat", "El gato"), ("She", "Ella"))
    for verb, verbo in (("saw", "vio"), ("wants", "quiere"), ("bought", "compró"))
    for what, que in (("the house", "la casa"), ("a dog", "un perro"), ("it", "eso"))
]
PARTS = {
    "train": PAIRS[:18],
    "validation": PAIRS[18:21],
    "clusters": PAIRS[21:24],
    "plain": PAIRS[24:],
}


@pytest.mark.parametrize("module", [charts, translators_systems, translators_tables])
def test_examples_in_docstrings(module):
    assert doctest.testmod(module).failed == 0


# Batches -----------------------------------------------------------------------------------


@pytest.fixture
def examples():
    rng = np.random.default_rng(0)
    return [([7] * n, [8] * (n + i % 3)) for i, n in enumerate(rng.integers(1, 20, 300))]


def test_an_epoch_has_every_example_once_in_batches_of_about_as_many_tokens(examples):
    batches = translators.Batches(examples, 100, seed=0)
    places = [batches.places(step) for step in range(batches.n_batches)]
    assert sorted(np.concatenate(places).tolist()) == list(range(300))
    tokens = [sum(len(examples[i][1]) + 1 for i in some) for some in places]
    # One more batch holds the remaining sentences.
    assert max(tokens) < 125 and sorted(tokens)[1] > 75
    spread = [
        max(len(examples[i][0]) for i in some) - min(len(examples[i][0]) for i in some)
        for some in places
    ]
    assert max(spread) <= 4


def test_a_batch_depends_on_seed_and_step_alone(examples):
    one, other = (translators.Batches(examples, 100, seed=3) for _ in range(2))
    last = 2 * one.n_batches
    assert one.places(last).tolist() == other.places(last).tolist()
    assert one.places(0).tolist() != one.places(one.n_batches).tolist()
    assert one.places(0).tolist() != translators.Batches(examples, 100, seed=4).places(0).tolist()


# Systems -----------------------------------------------------------------------------------


def test_compared_systems_have_about_the_same_number_of_parameters():
    sizes = {
        name: sum(p.numel() for p in TRAINED[name].make().parameters())
        for name in ("transformer", "gru_attention", "gru", "torch")
    }
    assert max(sizes.values()) < 1.01 * min(sizes.values())
    for name, run in STORED["runs"].items():
        if (system := name.split()[0]) in sizes:
            assert run["parameters"] == sizes[system]


@pytest.mark.parametrize("name", TRAINED)
def test_each_system_writes_its_most_probable_tokens(name):
    """Each token that a system writes is the most probable in a pass over the whole sequence."""
    torch.manual_seed(0)
    system = TRAINED[name]
    model = system.make().eval()
    sources = [[5, 9, 300], [17], [40, 41, 42, 43, 44, 8]]
    written = system.write(model, sources, 6)
    for source, ids in zip(sources, written, strict=True):
        target = ids[:-1] if ids[-1] == Tokenizer.eos_id else ids
        with torch.no_grad():
            logits, _ = system.predict(model, _sequences.collate([(source, target)]))
        assert logits[0].argmax(-1).tolist()[: len(ids)] == ids


def test_word_tokens_are_those_of_the_tutorial():
    words = translators_systems.StrippedWords([Pair("No, no!", "¿No? ¡No!")])
    # The tutorial's list of punctuation marks lacks ¡.
    assert words.words[1][4:] == ["no", "¡no"]
    long = Pair("no " * 30, "no " * 30)
    source, target = words.example(long)
    assert len(source) == 20 and len(target) == 19


def test_dropout_is_not_applied_twice():
    """PyTorch's layers also drop attention weights and inner units; ours do not."""
    torch.manual_seed(0)
    core = translators_systems.make_torch().core.model.train()
    layer, x = core.encoder.layers[0], torch.randn(2, 3, 128)
    assert torch.equal(layer.self_attn(x, x, x)[0], layer.self_attn(x, x, x)[0])
    assert layer.dropout.p == 0 and layer.dropout1.p == layer.dropout2.p == 0.1


def test_apertium_may_be_missing(monkeypatch):
    monkeypatch.setattr(translators_systems.shutil, "which", lambda name: None)
    assert UNTRAINED["apertium"](PARTS, ["a cat"]) is None


# The runner ---------------------------------------------------------------------------------


@pytest.fixture
def small(monkeypatch, tmp_path):
    """A tiny corpus and two tiny systems; return a function that makes a bench in a new folder."""
    monkeypatch.setattr(
        translators, "tatoeba", lambda n=None: PARTS | {"train": PARTS["train"][:n]}
    )
    ours = {"predict": _sequences.predict, "write": _sequences.write}
    words = translators_systems.StrippedWords
    bpe, n_words = (
        translators_systems.BytePairs(PARTS["train"]).tokenizer.vocab_size,
        len(words(PARTS["train"]).words[1]),
    )
    sizes = {"d_model": 8, "n_heads": 2, "n_layers": 1, "d_ff": 16}
    config, other = (TransformerConfig(vocab_size=n, **sizes) for n in (bpe, n_words))
    one = System((1e-3, 1e-2), partial(Transformer, config), **ours)
    words = System((1e-3,), partial(Transformer, other), **ours, text=words)
    monkeypatch.setattr(translators, "TRAINED", {"transformer": one, "keras": words})
    monkeypatch.setattr(
        translators, "UNTRAINED", {"memory": UNTRAINED["memory"], "apertium": lambda *_: None}
    )
    monkeypatch.setattr(translators, "SIZES", config)
    monkeypatch.setattr(translators, "SEEDS", (0, 1))
    # sacrebleu gives no interval for texts so wrong that some resamples match nothing.
    monkeypatch.setattr(translators, "N_RESAMPLES", 0)
    monkeypatch.setattr(translators, "PAIRED", (("keras", "transformer"),))
    monkeypatch.setattr(translators, "N_PAIRS", (5, 10))
    monkeypatch.setattr(translators, "D_MODELS", (4,))
    monkeypatch.setattr(
        translators, "timed", lambda systems, examples: dict.fromkeys(systems, 0.25)
    )
    return partial(translators.Bench, tmp_path / "kept", 4.0)


def run(bench, file, only=None):
    """Measure the rows of a bench, and return the content of its file."""
    Experiment("?", file, bench.rows, 1, lambda: {"budget": bench.budget}).run(only=only)
    return json.loads(file.read_text(encoding="utf-8"))


def test_an_interrupted_queue_continues_where_it_stopped(small, capsys, tmp_path):
    before = run(small(), tmp_path / "t.json", only=5)  # one of them is left out
    assert [*before] == ["budget", "setting", "runs", "rates"]
    assert list(before["rates"]) == ["transformer 0.001"]
    told = run(small(), tmp_path / "t.json")
    assert list(told["runs"]) == [
        "memory",
        "transformer 0",
        "keras 0",
        "transformer 1",
        "keras 1",
    ]
    assert list(told["paired"]) == ["keras transformer 0", "keras transformer 1"]
    assert list(told["curve_pairs"]) == ["5", "10"] and list(told["curve_sizes"]) == ["4"]
    assert told["runs"]["memory"] == before["runs"]["memory"]
    capsys.readouterr()
    run(small(), tmp_path / "t.json")
    assert capsys.readouterr().out == (
        "Apertium with the pair eng-spa is not installed: apt install apertium-eng-spa\n"
        "runs apertium: left out, for something is missing on this machine\n"
    )


def test_steps_follow_from_the_budget_and_the_rate_from_validation(small, tmp_path):
    told = run(small(), tmp_path / "t.json")
    best = min(told["rates"], key=lambda n: told["rates"][n] if "transf" in n else math.inf)
    for one in (told["runs"]["transformer 0"], told["curve_pairs"]["5"]):
        assert one["steps"] == 16 and one["learning_rate"] == float(best.split()[1])


def test_equal_seeds_give_equal_results_and_others_do_not(small):
    losses = [[], []]
    for again in range(2):
        bench = small()
        for seed in (0, 1):
            system = translators.TRAINED["transformer"]
            told = bench._fit(system, 3, 1e-2, seed)[1]
            losses[again].append(told["validation_loss"])
    assert losses[0] == losses[1] and losses[0][0] != losses[0][1]
    one, other = (translators.new_run(system, 3, 1e-2, seed).model for seed in (0, 1))
    assert not torch.equal(one.output.weight, other.output.weight)


def test_the_weights_of_the_best_validation_are_kept(small, monkeypatch):
    seen, losses = [], iter([3.0, 1.0, 2.0, 4.0])

    def held_out_loss(system, model, examples):
        seen.append(model.output.weight.detach().clone())
        return next(losses)

    monkeypatch.setattr(translators, "held_out_loss", held_out_loss)
    model, told = small()._fit(translators.TRAINED["transformer"], 12, 1e-2, 0, looks=4)
    assert (told["validation_loss"], told["last_loss"]) == (1.0, 4.0)
    assert torch.equal(model.output.weight, seen[1]) and not torch.equal(seen[1], seen[3])


def test_results_of_another_budget_are_refused(small, tmp_path):
    run(small(), tmp_path / "t.json", only=1)
    with pytest.raises(ValueError, match=r"t\.json: expected budget 5\.0, got 4\.0$"):
        run(translators.Bench(small.args[0], 5.0), tmp_path / "t.json")


# Scores ------------------------------------------------------------------------------------


def test_sentences_are_counted_by_length_and_by_their_rarest_word():
    train = [Pair("the cat saw the cat", "")] * 7 + [Pair("The dog.", "")] * 3
    tests = [
        Pair("the cat", ""),
        Pair("The cat saw a dog", ""),
        Pair("Cat!", ""),
        Pair("the the the the the dog?", ""),
    ]
    groups = translators.Groups({"train": train, "clusters": tests, "plain": []}).of["clusters"]
    assert groups["length"] == {"1–4": [0, 2], "5–6": [1, 3], "7–9": [], "10+": []}
    assert groups["rarest"] == {"0": [1], "1–4": [3], "5–19": [0, 2], "20–99": [], "100+": []}


def test_translations_are_scored_as_a_whole_and_in_groups():
    pairs = [
        Pair("", text)
        for text in (
            "el gato come pescado hoy .",
            "la casa es roja .",
            "un perro corre por la calle",
            "no sé nada de eso",
        )
    ]
    found = [pair.target for pair in pairs[:3]] + ["No sé nada de eso!"]
    told = translators.scores(found, pairs, {"length": {"1–4": [0, 1], "5–6": [3]}})
    assert told["exact"] == 3 and told["n"] == 4 and 80 < told["bleu"][0] < 100
    assert told["bleu_stripped"] == [100.0, 0.0]
    assert told["length"]["1–4"]["bleu"] == 100 and told["length"]["5–6"]["exact"] == 0


def test_the_better_of_two_systems_is_significantly_better():
    right = [f"la casa número {n} es muy grande y roja" for n in range(30)]
    worse = [text.replace("grande", "alta") if i % 2 else text for i, text in enumerate(right)]
    pairs = [Pair("", text) for text in right]
    told = translators.compared(worse, right, pairs, {"length": {"1–4": [1], "5–6": range(10)}})
    n, one, other, p = told["all"]["all"]
    assert n == 30 and one < other == 100 and p < 0.01
    # A bootstrap over a single sentence has no interval.
    assert list(told["length"]) == ["5–6"]
    alike = [text if i % 2 else text.replace("grande", "alta") for i, text in enumerate(right)]
    assert translators.compared(worse, alike, pairs, {})["all"]["all"][3] > 0.05


# Tables ------------------------------------------------------------------------------------


def scored(bleu):
    group = {"n": 10, "bleu": bleu, "chrf": 40.0, "exact": 1}
    return {
        "n": 1000,
        "bleu": [bleu, 1.0],
        "chrf": [bleu + 20, 0.5],
        "exact": 125,
        "bleu_stripped": [bleu, 1.0],
        "length": {"1–4": group},
        "rarest": {"0": group},
    }


def a_run(bleu):
    both = {test: scored(bleu) for test in translators.TESTS}
    return {"parameters": 1_900_000, "steps": 10, "seconds": 9.6, "validation_loss": 3.0} | both


def test_systems_without_a_run_have_no_row_and_seeds_are_averaged():
    told = {
        "runs": {
            "memory": {"seconds": 1.0} | {t: scored(16.0) for t in translators.TESTS},
            "gru 0": a_run(20.0),
            "gru 1": a_run(22.0),
        }
    }
    rows = translators_tables.clusters(told)
    assert [row["system"] for row in rows] == ["translation memory", "GRU without attention"]
    assert rows[0]["seeds"] == "–" and rows[0]["BLEU"] == "16.0 ± 1.0"
    assert rows[1]["seeds"] == 2 and rows[1]["BLEU"] == "21.0 ± 1.0 (20.0–22.0)"
    assert rows[1]["exact match"] == "12.5\N{NO-BREAK SPACE}% (10.6–14.7)"
    assert translators_tables.lengths(told)[0] == {"system": "number", "1–4": 10}
    for empty in (make({}) for make in translators_tables.TABLES.values()):
        assert empty == []


def test_differences_are_taken_within_each_seed():
    groups = {"all": {"all": [1000, 20.0, 24.0, 0.001]}}
    other = {"all": {"all": [1000, 21.0, 23.0, 0.04]}}
    told = {
        "paired": {
            "gru gru_attention 0": {t: groups for t in translators.TESTS},
            "gru gru_attention 1": {t: other for t in translators.TESTS},
        }
    }
    row = translators_tables.attention(told)[0]
    assert row["without"] == "20.5" and row["with"] == "23.5" and row["p"] == "0.040"
    assert row["difference"] == "+3.0 (+2.0 … +4.0)"
    assert translators_tables.differences(told)[0]["against"] == "GRU without attention"


def test_a_power_law_and_its_residuals_are_found():
    x = np.array([1e3, 3e3, 1e4, 3e4, 1e5])
    a, b, c = translators_tables.power_law(x, 1.5 + 40 * x**-0.3)
    assert (a, b, c) == pytest.approx((1.5, 40, 0.3), rel=0.01)
    rising = translators_tables.power_law(x, [1, 2, 3, 4, 5])
    assert rising[1] == 0 and rising[0] == 3
    told = {
        "curve_pairs": {
            str(int(n)): a_run(1) | {"validation_loss": 2 + 30 * n**-0.4, "last_loss": 3.0}
            for n in x
        }
    }
    rows = translators_tables.more_pairs(told)
    assert [row["residual"] for row in rows] == pytest.approx(["+0.000"] * 5)
    with pytest.raises(ValueError, match="^x: expected at least 4 points, got 3$"):
        translators_tables.power_law(x[:3], x[:3])


def test_the_charts_of_the_pages_are_those_of_their_tables():
    """Versions of matplotlib may move marks a little; the text of a chart must be the same."""
    assert {path.name for path in charts.FIGURES.iterdir()} == {
        f"{name}.{language}.svg" for name in charts.CHARTS for language in PAGES[QUALITY]
    }
    for path in charts.FIGURES.iterdir():
        name, language, _ = path.name.split(".")
        stored, drawn = path.read_text(encoding="utf-8"), charts.draw(name, language)
        said, marks = r"<text[^>]*>([^<]*)<", r'<use [^>]*x="([\d.]+)" y="([\d.]+)"'
        assert re.findall(said, drawn) == re.findall(said, stored), path
        places = [np.array(re.findall(marks, text), float) for text in (drawn, stored)]
        assert np.allclose(*places, atol=1), path
        assert drawn == charts.draw(name, language)


# The stored results ------------------------------------------------------------------------


def test_the_file_is_small_and_every_run_has_its_fields():
    assert translators.RESULTS.stat().st_size < 200_000
    assert STORED["budget"] == translators.BUDGET
    for name, run in STORED["runs"].items():
        assert (name.split()[0] in TRAINED) == ("steps" in run)
        for test in translators.TESTS:
            assert run[test]["n"] == 1000
            assert sum(g["n"] for g in run[test]["length"].values()) == 1000
            assert sum(g["n"] for g in run[test]["rarest"].values()) == 1000
        if "steps" in run:
            assert math.isfinite(run["validation_loss"])
            seconds = STORED["setting"]["step_seconds"][name.split()[0]]
            assert run["steps"] == int(translators.BUDGET / seconds)


@pytest.mark.slow
def test_the_corpus_and_the_translation_memory_are_as_stored(needed):
    needed("tatoeba")
    bench = translators.Bench()
    parts = {name: len(pairs) for name, pairs in bench.parts.items()}
    assert parts.items() <= STORED["setting"]["corpus"].items()
    for test in translators.TESTS:
        pairs = bench.parts[test]
        found = UNTRAINED["memory"](bench.parts, [pair.source for pair in pairs])
        told = translators.scores(found, pairs, bench.groups.of[test])
        assert told == STORED["runs"]["memory"][test]


@pytest.mark.slow
def test_a_few_steps_on_the_corpus_give_the_stored_fields(needed, tmp_path):
    """The fields are those that are stored, and the loss is lower than at the first step."""
    needed("tatoeba")
    parts = translators.tatoeba(3000)
    system = TRAINED["gru_attention"]
    text = system.text(parts["train"])
    examples = [*map(text.example, parts["train"])]
    held_out = [*map(text.example, parts["validation"][:100])]
    model, told = translators.fit(system, examples, held_out, 8, 3e-3, 0)
    assert told["validation_loss"] < math.log(text.tokenizer.vocab_size)
    wanted = next(run for run in STORED["runs"].values() if "steps" in run)
    assert told.keys() | set(translators.TESTS) == wanted.keys()
    found = translators.translate(system, text, model, [p.source for p in parts["plain"][:5]])
    assert len(found) == 5
