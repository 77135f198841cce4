"""The benchmarks: ratios, equal work for all contenders, and pages that agree with the results.

Nothing here depends on how fast anything is.
"""

import dataclasses
import doctest
import importlib
import inspect
import json
import re
import time
from unittest.mock import patch

import numpy as np
import pytest
import torch
from torch.nn import functional as F
from torch.utils.flop_counter import FlopCounterMode

from attn.metrics import bleu
from attn.transformer import DecoderOnly, TransformerConfig
from attn.transformer.quantised import packed
from benchmarks import __main__ as command
from benchmarks import (
    attention_layer,
    attention_memory,
    decoding,
    gemm_share,
    import_time,
    report,
    timing,
    training_step,
    translate_file,
    writing,
)
from benchmarks.gpu import SMOLLM2
from benchmarks.peers import ExplicitAttention

RESULTS = json.loads(report.RESULTS.read_text(encoding="utf-8"))
TINY = {"repeats": 2, "least": 0}
TINY_SIZE = {"batch_size": 2, "seq_len": 4, "vocab_size": 20, "d_model": 8, "n_heads": 2}
TINY_CONFIG = TransformerConfig(
    vocab_size=20, d_model=8, n_heads=2, n_layers=2, d_ff=32, dropout=0.0, norm="pre"
)
TINY_LLAMA = dataclasses.replace(
    SMOLLM2, vocab_size=32, d_model=64, n_heads=4, n_kv_heads=2, n_layers=2, d_ff=96
)
TINY_TEXT = torch.arange(9)[None]
masks = pytest.mark.parametrize("mask", ["none", "causal", "padding"])
weights = pytest.mark.parametrize("need_weights", [False, True])


@pytest.mark.parametrize("name", ["report", "timing", "peers", "__main__", *command.TABLES])
def test_examples_in_docstrings(name):
    assert doctest.testmod(importlib.import_module(f"benchmarks.{name}")).failed == 0


# arithmetic


class Clock:
    """A clock that advances only when a run is called, and records the names of the runs."""

    def __init__(self):
        self.now, self.calls = 0.0, []

    def __call__(self):
        return self.now

    def runs(self, seconds):
        def run(name):
            self.now += seconds[name]
            self.calls.append(name)

        return {name: lambda name=name: run(name) for name in seconds}


def test_contenders_take_turns_in_alternating_order():
    clock = Clock()
    runs = clock.runs({"a": 2.0, "b": 3.0, "c": 5.0})
    seconds = timing.interleave(runs, repeats=3, least=1, clock=clock)
    assert seconds == {"a": [2.0] * 3, "b": [3.0] * 3, "c": [5.0] * 3}
    # Each contender is called twice before the first turn: a warm-up and a trial.
    assert "".join(clock.calls) == "aabbcc" + "abc" + "cba" + "abc"


@pytest.mark.parametrize("least, calls", [(0, 1), (1.0, 1), (1.1, 2), (2.0, 2), (2.1, 4), (5, 8)])
def test_a_quick_contender_is_called_until_its_turn_is_long_enough(least, calls):
    clock = Clock()
    seconds = timing.interleave(clock.runs({"a": 1.0}), repeats=2, least=least, clock=clock)
    assert seconds == {"a": [1.0, 1.0]}
    tried = sum(2**i for i in range(calls.bit_length()))
    assert len(clock.calls) == 1 + tried + 2 * calls


def test_the_default_is_nine_turns_of_at_least_a_twentieth_of_a_second():
    clock = Clock()
    assert timing.interleave(clock.runs({"a": 0.0625}), clock=clock) == {"a": [0.0625] * 9}
    assert len(clock.calls) == 1 + 1 + 9
    clock = Clock()
    assert timing.interleave(clock.runs({"a": 0.046875}), clock=clock) == {"a": [0.046875] * 9}
    assert len(clock.calls) == 1 + 1 + 2 + 9 * 2


def test_the_default_clock_counts_processor_time():
    clock = inspect.signature(timing.interleave).parameters["clock"].default
    assert clock is time.process_time


def test_ratios_are_taken_within_each_turn():
    """The ratio of the medians, 3 and 2, is 1.5; the median of the ratios by turn is 2."""
    own, peer = [1.0, 3.0, 40.0], [2.0, 1.0, 20.0]
    assert timing.ratio(own, peer) == {"median": 2.0, "low": 1.25, "high": 2.5}
    with pytest.raises(ValueError):
        timing.ratio(own, peer[:2])


def test_spread_equals_numpys_quartiles():
    values = np.random.default_rng(0).lognormal(size=9)
    low, median, high = np.quantile(values, [0.25, 0.5, 0.75])
    spread = timing.spread(values)
    assert list(spread) == ["median", "low", "high"]
    for name, value in {"low": low, "median": median, "high": high}.items():
        assert spread[name] == float(f"{value:.3e}")


@pytest.mark.parametrize(
    "target, worst, met",
    [
        ({"at_most": 1}, 1.5, "no"),
        ({"at_most": 1.5}, 1.5, "yes"),
        ({"at_most": 1.49}, 1.5, "no"),
        ({"at_least": 0.7}, 0.7, "yes"),
        ({"at_least": 0.71}, 0.7, "no"),
        ({"at_most": 1, "where": {"mask": "none"}}, 0.7, "yes"),
        ({"at_least": 1, "where": {"mask": "causal"}}, 0.9, "no"),
        ({"at_most": 2, "where": {"mask": "causal", "tokens": 8}}, 1.5, "yes"),
    ],
)
def test_a_target_is_judged_by_the_worst_row(target, worst, met):
    rows = [
        {"mask": "none", "tokens": 4, "x": {"median": 0.7, "low": 0.1, "high": 9.0}},
        {"mask": "causal", "tokens": 4, "x": 0.9},
        {"mask": "causal", "tokens": 8, "x": {"median": 1.5, "low": 0.1, "high": 9.0}},
    ]
    verdict = report.Target("x", **target).judge(rows)
    assert (verdict["worst"], verdict["met"]) == (worst, met)


def test_a_verdict_names_the_target_and_the_rows_it_judges():
    row = {"mask": "none", "tokens": 4, "x": 2.0}
    everywhere = report.Target("x", at_least=15).judge([row])
    assert everywhere == {
        "column": "x",
        "where": "every row",
        "target": "≥ 15",
        "worst": 2.0,
        "met": "no",
    }
    there = report.Target("x", at_most=0.25, where={"mask": "none", "tokens": 4}).judge([row])
    assert (there["where"], there["target"]) == ("none, 4", "≤ 0.25")


@pytest.mark.parametrize("median, met", [(1.004, "yes"), (1.006, "no")])
def test_a_target_is_judged_at_the_decimals_shown(median, met):
    assert report.Target("x", at_most=1).judge([{"x": median}])["met"] == met


@pytest.mark.parametrize(
    "target, x, met",
    [
        ({"at_most": 1}, 1.03, "tie"),
        ({"at_most": 1}, 1.04, "no"),
        ({"at_most": 1}, 0.99, "yes"),
        ({"at_least": 2}, 1.97, "tie"),
        ({"at_least": 2}, 1.96, "no"),
    ],
)
def test_the_ratio_to_an_identical_copy_decides_what_is_a_tie(target, x, met):
    better = 0.5 if "at_most" in target else 9
    copy = {"median": 0.97, "low": 0.9, "high": 1.2}
    rows = [{"x": x, "copy": copy}, {"x": better, "copy": 1.01}]
    assert report.Target("x", **target, control="copy").judge(rows)["met"] == met


def test_counted_operations_equal_pytorchs():
    shape = (3, 10, 8)
    x, layer = torch.randn(shape, requires_grad=True), ExplicitAttention(8, 2, bias=False)
    with FlopCounterMode(display=False) as counter:
        layer(x)[0].sum().backward()
    assert gemm_share.operations(*shape) == counter.get_total_flops()


def test_the_numpy_peak_counts_arrays_held_at_once():
    def run():
        first = np.zeros(250_000)
        del first
        second = np.zeros(250_000)
        return second + 1

    assert attention_memory.numpy_peak(run) == pytest.approx(4.0, rel=0.01)


def test_the_pytorch_peak_counts_tensors_held_at_once():
    held = torch.zeros(10**6)

    def run():
        first = torch.zeros(500_000)
        del first
        second = torch.zeros(500_000)
        return second + held[:500_000]

    assert attention_memory.torch_peak(run) == pytest.approx(4.0, rel=0.01)


# the same work


@pytest.fixture
def same_weights(monkeypatch):
    """Make each matrix depend only on its shape, and each bias zero.

    A matrix that packs three projections then holds the same block three times.
    """

    def fill(tensor, *args, **kwargs):
        rows, columns = tensor.shape
        generator = torch.Generator().manual_seed(columns)
        square = torch.randn(columns, columns, generator=generator) / columns**0.5
        with torch.no_grad():
            return tensor.copy_(square[torch.arange(rows) % columns])

    for place in ("torch.nn.init", "torch.nn.modules.activation", "torch.nn.modules.transformer"):
        monkeypatch.setattr(f"{place}.xavier_uniform_", fill)
    monkeypatch.setattr("torch.nn.init.kaiming_uniform_", fill)
    monkeypatch.setattr("torch.nn.init.normal_", fill)
    monkeypatch.setattr("torch.nn.init.uniform_", lambda tensor, *args: tensor.data.zero_())


@weights
@masks
@pytest.mark.parametrize("shape", [(3, 6, 8), (1, 5, 12)])
def test_all_layers_give_the_same_outputs_and_gradients(same_weights, shape, mask, need_weights):
    runs = attention_layer.contenders(shape, mask, need_weights)
    assert list(runs) == ["own", *attention_layer.PEERS, attention_layer.CONTROL]
    output, gradient, *_ = runs["own"]()
    assert output.shape == gradient.shape == shape
    for run in runs.values():
        other, its_gradient, *parameters = run()
        torch.testing.assert_close(other, output, rtol=1e-4, atol=1e-5)
        torch.testing.assert_close(its_gradient, gradient, rtol=1e-4, atol=1e-5)
        assert sum(p.numel() for p in parameters) == 4 * shape[2] ** 2


@weights
def test_masks_change_the_output_only_where_they_hide_keys(same_weights, need_weights):
    outputs = [
        attention_layer.contenders((3, 6, 8), mask, need_weights)["own"]()[0]
        for mask in ("none", "causal", "padding")
    ]
    none, causal, padding = outputs
    assert not torch.allclose(none, causal) and not torch.allclose(none, padding)
    assert torch.allclose(none[:, -1], causal[:, -1], atol=1e-5)
    assert torch.allclose(none[-1], padding[-1], atol=1e-5)


def test_every_model_starts_with_the_same_loss_and_learns(same_weights):
    steps = training_step.contenders(**TINY_SIZE)
    assert list(steps) == ["own", *training_step.CORES]
    losses = {name: [step() for _ in range(4)] for name, step in steps.items()}
    for first, *_, last in losses.values():
        assert first == pytest.approx(losses["own"][0], rel=1e-4)
        assert last < first


@pytest.mark.parametrize("core", training_step.CORES.values())
def test_peers_attend_to_neither_padding_nor_later_tokens(core):
    torch.manual_seed(0)
    core = core(TINY_CONFIG).eval()
    source, target = torch.randn(2, 5, 8), torch.randn(2, 4, 8)
    visible = torch.tensor([[[True] * 3 + [False] * 2], [[True] * 5]])

    def decode(source, target):
        return core.decode(target, core.encode(source, visible), visible)

    before = decode(source, target)
    other_source, other_target = source.clone(), target.clone()
    other_source[0, 3:] = 9.0
    other_target[:, 2:] = 9.0
    after = decode(other_source, other_target)
    torch.testing.assert_close(after[:, :2], before[:, :2])
    other_source[0, 2] = 9.0
    assert not torch.allclose(decode(other_source, target)[0], before[0])


def test_all_decoders_write_the_same_tokens(same_weights):
    written = {name: run() for name, run in decoding.contenders(6, TINY_CONFIG).items()}
    assert list(written) == ["own", *decoding.PEERS]
    for ids in written.values():
        assert torch.equal(ids, written["own"]) and ids.shape == (1, 7)


def test_methods_of_attention_agree():
    outputs = {name: run() for name, run in attention_memory.contenders(40).items()}
    whole = outputs["NumPy whole"][0]
    assert whole.shape == (40, 64) and whole.dtype == np.float32
    for output in outputs.values():
        output = output[0] if isinstance(output, tuple) else output
        np.testing.assert_allclose(output, whole, rtol=1e-4, atol=1e-5)
    assert outputs["PyTorch explicit"][1] is not None and outputs["PyTorch fused"][1] is None


def test_every_public_module_is_imported_and_no_private_one():
    imported = (
        import_time.STATEMENTS["all of `attn` and `attn_course`"]
        .removeprefix("import ")
        .split(", ")
    )
    assert {"attn.reference", "attn.transformer", "attn_course.widgets"} <= set(imported)
    assert not [name for name in imported if "._" in name]
    assert set(import_time.MODULES) - set(imported) == {
        name for name in import_time.MODULES if "._" in name
    }


@torch.inference_mode()
def test_each_decoder_reads_the_prompt_and_then_one_token():
    prompt, lengths = torch.randint(32, (1, 6)), []
    own, peer = DecoderOnly(TINY_LLAMA).eval(), writing.peer(TINY_LLAMA)
    for module in (own.stack.layers[0], peer.model.layers[0]):
        module.register_forward_pre_hook(lambda _, args: lengths.append(args[0].shape[1]))
    sizes = {p.shape for p in own.parameters()}, {p.shape for p in peer.parameters()}
    assert sizes[0] == sizes[1]
    for calls, model in ((writing.own_calls, own), (writing.peer_calls, peer)):
        read, write = calls(model, prompt)
        attended = patch.object(
            F, "scaled_dot_product_attention", wraps=F.scaled_dot_product_attention
        )
        with attended as f:
            outputs = [write() for _ in range(3)]
        assert {call.args[1].shape[-2] for call in f.call_args_list} == {7}
        assert all(torch.equal(output, outputs[0]) for output in outputs)
        assert outputs[0].shape == (1, 1, 32) and read().shape == (1, 6, 32)
    assert lengths == 2 * [6, 1, 1, 1, 6]


def test_the_bytes_that_a_token_reads():
    model = DecoderOnly(TINY_LLAMA)
    body, head = 2 * (2 * 64 * 64 + 2 * 64 * 32 + 3 * 64 * 96), 64 * 32
    assert writing.read_bytes(model, model) == 4 * (body + head)
    assert writing.read_bytes(model, packed(model)) == 2 * (body + head)
    # A group of 32 weights has two more numbers, of two bytes each.
    assert writing.read_bytes(model, packed(model, 4)) == body // 2 + body // 32 * 4 + 2 * head


# tiny runs


def columns(rows):
    assert len({tuple(row) for row in rows}) == 1
    return list(rows[0])


@pytest.mark.parametrize(
    "name, arguments, n_rows",
    [
        ("attention_layer", {"shapes": [(2, 4, 8)]}, 6),
        ("training_step", {"sizes": {"translator": TINY_SIZE}}, 1),
        ("decoding", {"lengths": (2, 3), "config": TINY_CONFIG}, 2),
        ("attention_memory", {"lengths": (8, 16, 32)}, 3),
        ("gemm_share", {"shapes": [(2, 4, 8), (1, 4, 8)], "sides": (4, 8)}, 2),
        ("writing", {"model": DecoderOnly(TINY_LLAMA).eval(), "text": TINY_TEXT, "large": 9}, 3),
        (
            "gpu",
            {"config": TINY_LLAMA, "device": "cpu", "prompt_len": 4, "room": 8, "batch": (2, 5)},
            3,
        ),
        ("gpu_step", {"device": "cpu", "n_keys": 5}, 6),
    ],
)
def test_a_tiny_run_gives_the_columns_of_the_results(name, arguments, n_rows):
    rows = command.TABLES[name].measure(**arguments, **TINY)
    assert len(rows) == n_rows
    assert columns(rows) == columns(RESULTS[name])
    for row in rows:
        for cell in row.values():
            if isinstance(cell, dict):
                assert 0 < cell["low"] <= cell["median"] <= cell["high"]


def test_without_a_gpu_its_benchmark_is_refused(monkeypatch):
    monkeypatch.setattr(command.torch.cuda, "is_available", lambda: False)
    with pytest.raises(SystemExit, match="gpu: expected a GPU that PyTorch can use, got none"):
        command.main(["gpu"])


def test_the_time_of_an_empty_program_is_subtracted_from_imports(monkeypatch):
    clock, started = Clock(), []
    seconds = {"pass": 1.0, "import attn": 3.5}

    def run(command, cwd, check):
        assert command[1] == "-c" and cwd == report.ROOT and check is True
        started.append(command[2])
        clock.now += seconds[command[2]]

    monkeypatch.setattr(import_time.subprocess, "run", run)
    monkeypatch.setattr(import_time, "children_seconds", clock)
    rows = import_time.measure({"attn": "import attn"}, repeats=2)
    assert rows == [{"import": "attn", "seconds": {"median": 2.5, "low": 2.5, "high": 2.5}}]
    assert columns(rows) == columns(RESULTS["import_time"])


def test_children_take_processor_time():
    before = import_time.children_seconds()
    import_time.subprocess.run([import_time.sys.executable, "-c", "sum(range(10**6))"], check=True)
    assert import_time.children_seconds() > before


@pytest.mark.slow
def test_the_memory_for_an_empty_file_is_subtracted(monkeypatch):
    asked = []

    def peak(model, path):
        assert model.is_dir()
        asked.append(path.read_text(encoding="utf-8").split())
        return 100.0 + len(set(asked[-1]))

    monkeypatch.setattr(translate_file, "peak", peak)
    texts = {"few words, MB": lambda n: n % 2, "new words, MB": lambda n: n}
    rows = translate_file.measure((3, 5), texts)
    assert asked == [[], ["0", "1", "0"], [*"012"], [*"01010"], [*"01234"]]
    assert rows == [
        {"lines": 3, "few words, MB": 2.0, "new words, MB": 3.0},
        {"lines": 5, "few words, MB": 2.0, "new words, MB": 5.0},
    ]
    assert columns(rows) == columns(RESULTS["translate_file"])


@pytest.mark.slow
def test_peak_memory_excludes_that_of_the_parent_process(tmp_path):
    """The 600 MB that this process holds must not be counted."""
    translate_file.tiny_translator(steps=1).save(tmp_path / "model")
    (tmp_path / "lines.txt").write_text("1\n", encoding="utf-8")
    ballast = np.ones(6 * 10**8, dtype=np.uint8)
    held = translate_file.peak(tmp_path / "model", tmp_path / "lines.txt")
    assert 50 < held < ballast.nbytes / 1e6


def test_the_share_is_relative_to_the_fastest_product_of_each_turn(monkeypatch):
    operations = gemm_share.operations(2, 4, 8)
    seconds = {
        "layer": [operations / 1e9, operations / 1e9, operations / 2e9],
        10: [2000 / 2e9, 2000 / 4e9, 2000 / 4e9],
        20: [16000 / 8e9, 16000 / 1e9, 16000 / 1e9],
    }
    monkeypatch.setattr(gemm_share, "interleave", lambda runs: {n: seconds[n] for n in runs})
    (row,) = gemm_share.measure([(2, 4, 8)], sides=(10, 20))
    assert row["shape"] == "(2, 4, 8)"
    assert row["layer, GFLOP/s"] == {"median": 1.0, "low": 1.0, "high": 1.5}
    assert row["product, GFLOP/s"] == {"median": 4.0, "low": 4.0, "high": 6.0}
    assert row["share"] == {"median": 0.25, "low": 0.1875, "high": 0.375}


@pytest.mark.parametrize(
    "name, arguments, column, wanted",
    [
        ("attention_layer", {"shapes": [(2, 4, 8)]}, "`x-transformers`", 0.25),
        ("attention_layer", {"shapes": [(2, 4, 8)]}, "ms", 2000),
        ("training_step", {"sizes": {"t": TINY_SIZE}}, "`nn.Transformer`", 0.5),
        ("training_step", {"sizes": {"t": TINY_SIZE}}, "ms", 2000),
        ("decoding", {"lengths": (4,), "config": TINY_CONFIG}, "without cache", 2),
        ("decoding", {"lengths": (4,), "config": TINY_CONFIG}, "ms per token", 500),
        ("attention_memory", {"lengths": (8,)}, "time in blocks / whole", 2),
        # Writing with float32 is the third contender, and writing with the peer is the ninth, so
        # their ratio is 8 s / 512 s.
        (
            "writing",
            {"model": DecoderOnly(TINY_LLAMA).eval(), "text": TINY_TEXT, "large": 9},
            "writing",
            0.01562,
        ),
    ],
)
def test_each_ratio_divides_the_right_times(monkeypatch, name, arguments, column, wanted):
    """The first contender takes 2 s, the second 4, the third 8, ..."""

    def interleave(runs):
        return {run: [2.0 ** (i + 1)] * 2 for i, run in enumerate(runs)}

    monkeypatch.setattr(command.TABLES[name], "interleave", interleave)
    row = command.TABLES[name].measure(**arguments)[0]
    assert row[column] == {"median": wanted, "low": wanted, "high": wanted}


# results and pages


@pytest.mark.parametrize("file", report.PAGES, ids=lambda file: file.stem)
@pytest.mark.parametrize("language", ["es", "en"])
def test_the_page_shows_the_results(file, language):
    page, results = report.PAGES[file][language].read_text(encoding="utf-8"), report.read(file)
    assert report.refresh(page, results, language) == page
    assert re.findall(r"^\((\w+)\)=$", page, flags=re.MULTILINE) == list(results)


@pytest.mark.parametrize("language", ["es", "en"])
def test_the_page_of_results_gives_the_signature_of_bleu(language):
    page = report.PAGES[report.QUALITY][language].read_text(encoding="utf-8")
    assert f"BLEU (`{bleu(['a b c d'], ['a b c d']).signature}`)" in page


def test_the_stored_results_have_every_row():
    assert list(RESULTS) == ["targets", "machine", *command.TABLES]
    assert [row["shape"] for row in RESULTS["attention_layer"][::6]] == [
        str(shape) for shape in attention_layer.SHAPES
    ]
    assert [row["tokens"] for row in RESULTS["decoding"]] == list(decoding.LENGTHS)
    assert [row["tokens"] for row in RESULTS["attention_memory"]] == list(attention_memory.LENGTHS)
    assert [row["size"] for row in RESULTS["training_step"]] == list(training_step.SIZES)
    assert [row["import"] for row in RESULTS["import_time"]] == list(import_time.STATEMENTS)
    assert [row["lines"] for row in RESULTS["translate_file"]] == list(translate_file.N_LINES)


def test_the_verdicts_are_those_of_the_rows():
    assert RESULTS["targets"] == command.verdicts(RESULTS)
    assert {row["benchmark"] for row in RESULTS["targets"]} == {
        f"({letter})" for letter in "abcdefghijkm"
    }


def test_letters_follow_the_pages():
    letters = [module.__doc__[:4] for module in command.TABLES.values()]
    assert letters == [f"({letter}) " for letter in "abcdefghijklm"]


SAME_IN_BOTH = {
    "diagonal",
    "BLEU",
    "",
    "no",
    "causal",
    "ms",
    "tokens",
    "Python",
    "PyTorch",
    "NumPy",
    "Apertium",
    "Transformer",
    "BPEdropout",
    "w=",
    "chrF",
    "SEO",
    "nbconvert",
    "JupyterBook",
    "p",
    "M",
    "MB",
    "KB",
    "α=",
    "bits",
}


def test_every_word_of_the_tables_is_translated():
    spanish = report.SPANISH | report.SPANISH_REAL
    for rows in (*RESULTS.values(), *report.read(report.QUALITY).values()):
        for row in rows:
            for text in (*row, *(cell for cell in row.values() if isinstance(cell, str))):
                named = re.sub(r"`[^`]*`|\*[^*]*\*|[≤≥<±/():\d.,…\s%+–−-]|\([a-m]\)", "", text)
                assert not named or text in spanish or named in SAME_IN_BOTH | set("abcdefghijklm")


def test_every_translated_word_is_used():
    used = json.dumps([RESULTS, report.read(report.QUALITY)], ensure_ascii=False)
    assert [word for word in report.SPANISH if f'"{word}"' not in used] == []


PAGE = """# Title

(first)=
## One

| old |
|:----|
| 1   |

Text | with a bar.

(second)=

| old |
|:----|

| not | this |
|:----|:-----|
"""


def test_a_table_replaces_the_first_one_after_its_label():
    rows = {"second": [{"weights": "no"}], "first": [{"mask": "none", "ms": 2.5}, {"a": 1, "b": 2}]}
    fresh = report.refresh(PAGE, rows, "es")
    assert fresh == (
        PAGE.replace(
            "| old |\n|:----|\n| 1   |\n",
            "| máscara |  ms |\n|:--------|----:|\n| ninguna | 2.5 |\n| 1       |   2 |\n",
        ).replace("| old |\n|:----|\n", "| pesos |\n|:------|\n| no    |\n")
    )
    assert report.refresh(fresh, rows, "es") == fresh
    assert "| mask |  ms |" in report.refresh(PAGE, rows, "en")


def test_a_page_without_the_table_to_replace_is_refused():
    with pytest.raises(ValueError, match=r"^page: expected a table after \(third\)=, got none$"):
        report.refresh(PAGE, {"third": [{"a": 1}]}, "en")


@pytest.fixture
def elsewhere(monkeypatch, tmp_path):
    """Results and pages in an empty folder, and benchmarks that measure nothing."""

    class Benchmark:
        """(x) Nothing at all."""

        TARGETS = (report.Target("ms", at_most=3),)
        rows = ({"mask": "none", "ms": 2.0},)

        @classmethod
        def measure(cls):
            return list(cls.rows)

        main = staticmethod(lambda: print("another"))

    paths = {language: tmp_path / f"{language}.md" for language in ("es", "en")}
    for path in paths.values():
        names = ("targets", "machine", "one", "two")
        path.write_text("\n".join(f"({name})=\n\n| |\n|:-|\n" for name in names))
    for module in (report, command):
        monkeypatch.setattr(module, "RESULTS", tmp_path / "results.json")
    monkeypatch.setattr(report, "PAGES", {tmp_path / "results.json": paths})
    other = type("Other", (Benchmark,), {"__doc__": "(y) Nothing either."})
    monkeypatch.setattr(command, "TABLES", {"one": Benchmark, "two": other})
    monkeypatch.setattr(command, "OTHERS", {"three": Benchmark})
    return Benchmark


def test_the_command_measures_prints_writes_and_publishes(elsewhere, capsys):
    command.main([])
    printed = capsys.readouterr().out
    for said in ("(x) Nothing at all.", "(y) Nothing either."):
        assert f"{said}\n\n| mask |  ms |" in printed
    assert "another" in printed and "| (x)       | ms     | every row | ≤ 3    |   2.0 |" in printed
    results = json.loads(report.RESULTS.read_text(encoding="utf-8"))
    assert list(results) == ["targets", "machine", "one", "two"]
    assert results["one"] == results["two"] == list(elsewhere.rows)
    spanish, english = (
        path.read_text(encoding="utf-8") for path in report.PAGES[report.RESULTS].values()
    )
    assert spanish.count("| ninguna | 2.0 |") == english.count("| none | 2.0 |") == 2
    assert sorted(path.name for path in report.RESULTS.parent.iterdir()) == [
        "en.md",
        "es.md",
        "results.json",
    ]


def test_the_command_keeps_the_results_of_other_benchmarks(elsewhere, capsys, monkeypatch):
    command.main([])
    elsewhere.rows = [{"mask": "none", "ms": 4.0}]
    capsys.readouterr()
    monkeypatch.setattr(command.platform, "python_version", lambda: "4.0.0")
    command.main(["two"])
    results = json.loads(report.RESULTS.read_text(encoding="utf-8"))
    assert [results[name][0]["ms"] for name in ("one", "two")] == [2.0, 4.0]
    assert [row["met"] for row in results["targets"]] == ["yes", "no"]
    assert [row["Python"] == "4.0.0" for row in results["machine"]] == [False, True]
    assert "another" not in capsys.readouterr().out
    before = report.RESULTS.read_bytes()
    command.main(["three"])
    assert report.RESULTS.read_bytes() == before


def test_the_command_refuses_unknown_names(elsewhere):
    with pytest.raises(SystemExit, match="^names: expected some of one, two, three, got four$"):
        command.main(["one", "four"])
    assert not report.RESULTS.exists()


def test_nothing_is_written_if_a_page_lacks_a_table(elsewhere):
    path = report.PAGES[report.RESULTS]["en"]
    path.write_text("(one)=\n", encoding="utf-8")
    before = report.PAGES[report.RESULTS]["es"].read_bytes()
    with pytest.raises(ValueError, match="^page: expected a table after"):
        command.main([])
    assert not report.RESULTS.exists() and report.PAGES[report.RESULTS]["es"].read_bytes() == before


def test_the_machine_is_described_by_its_versions_and_processor():
    row = command.machine("decoding")
    assert row["benchmark"] == "(c)"
    assert (
        f"{torch.__version__}+".startswith(row["PyTorch"] + "+") and row["NumPy"] == np.__version__
    )
    assert re.fullmatch(r"`[^`]+`", row["processor"]) and row["Python"].count(".") == 2
    assert list(row) == columns(RESULTS["machine"])
