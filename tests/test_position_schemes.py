"""The position schemes of the course, and the comparison of all schemes on real sentences."""

import json
import math
from dataclasses import replace

import numpy as np
import pytest
import torch
from x_transformers.x_transformers import RelativePositionBias

from attn.attention import MultiHeadAttention
from attn.corpus import Pair
from attn.positions import ALiBiPositions
from attn.transformer import DecoderOnly
from attn_course.everyday import everyday
from attn_course.position_schemes import SignedALiBiPositions, T5Positions, t5_buckets
from experiments import real_positions as bench
from experiments.runner import Experiment
from tests.core.no_float64 import NoFloat64

SHORT_PAIRS = everyday()
# Any words will do, as long as there are enough.
LONG_PAIRS = [
    Pair(f"{a.source} {b.source} {c.source}", f"{a.target} {b.target} {c.target}")
    for a, b, c in zip(SHORT_PAIRS, SHORT_PAIRS[70:], SHORT_PAIRS[140:], strict=False)
]


@pytest.mark.parametrize("n_buckets, farthest", [(32, 128), (8, 20)])
def test_buckets_equal_those_of_another_library(n_buckets, farthest):
    distances = torch.arange(-3 * farthest, 3 * farthest + 1)
    expected = RelativePositionBias._relative_position_bucket(
        distances, causal=False, num_buckets=n_buckets, max_distance=farthest
    )
    assert torch.equal(t5_buckets(distances, n_buckets, farthest), expected)


@pytest.mark.parametrize("n_buckets, farthest", [(32, 128), (8, 20), (64, 256), (6, 100)])
def test_buckets_are_those_of_the_formula_in_float64(n_buckets, farthest):
    distances = torch.arange(-10_000, 10_001)
    half, far = n_buckets // 2, distances.abs()
    exact = half // 2
    grown = torch.log(far.clamp(min=exact).double() / exact) / math.log(farthest / exact)
    wide = (exact + (grown * (half - exact)).long()).clamp(max=half - 1)
    expected = torch.where(far < exact, far, wide) + half * (distances > 0)
    assert torch.equal(t5_buckets(distances, n_buckets, farthest), expected)


@pytest.mark.parametrize("scheme", [T5Positions, SignedALiBiPositions])
def test_no_scheme_needs_float64(scheme):
    places = torch.arange(200)
    with NoFloat64():
        assert scheme(2).bias(places, places, torch.float32).dtype == torch.float32


def test_t5_adds_the_number_of_the_bucket():
    scheme = T5Positions(2)
    torch.nn.init.normal_(scheme.weight)
    queries, keys = torch.tensor([[3], [40]]), torch.tensor([[0, 3, 90], [1, 2, 3]])
    bias = scheme.bias(queries, keys, torch.float32)
    assert bias.shape == (2, 2, 1, 3)
    for row, head, key in np.ndindex(2, 2, 3):
        bucket = t5_buckets(keys[row, key] - queries[row, 0])
        assert bias[row, head, 0, key] == scheme.weight[bucket, head]


@pytest.mark.parametrize("n_heads", [1, 4, 6])
def test_signed_alibi_charges_by_the_side(n_heads):
    slopes = ALiBiPositions(n_heads).slopes()
    bias = SignedALiBiPositions(n_heads).bias(torch.arange(2, 6), torch.arange(7), torch.float64)
    for head, i, j in np.ndindex(n_heads, 4, 7):
        query, side = i + 2, slopes if j <= i + 2 else slopes[::-1]
        assert bias[head, i, j].item() == pytest.approx(-side[head] * abs(query - j))


@pytest.mark.parametrize("scheme, blind", [(ALiBiPositions, True), (SignedALiBiPositions, False)])
def test_only_unsigned_alibi_is_symmetric_under_reversal(scheme, blind):
    torch.manual_seed(0)
    layer = MultiHeadAttention(8, 2, relative=scheme(2)).double().eval()
    x = torch.randn(1, 5, 8, dtype=torch.float64)
    forwards, backwards = layer(x)[0], layer(x.flip(1))[0].flip(1)
    assert torch.allclose(forwards, backwards, atol=1e-12) == blind


@pytest.fixture
def small(monkeypatch, tmp_path):
    """A comparison that is small enough to be run completely."""
    monkeypatch.setattr(bench, "VOCAB_SIZE", 400)
    tiny = {"d_model": 16, "n_layers": 1, "d_ff": 16, "vocab_size": 400}
    sizes = bench.sizes
    monkeypatch.setattr(bench, "sizes", lambda kind: replace(sizes(kind), **tiny))
    monkeypatch.setattr(bench, "LENGTHS", {"1–8": (1, 8), "9+": (9, math.inf)})
    monkeypatch.setattr(bench, "KINDS", ("rotary", "t5"))
    monkeypatch.setattr(bench, "REACHED", ("rotary",))
    tasks = {name: (make, ("rotary", "t5")) for name, (make, _) in bench.TASKS.items()}
    monkeypatch.setattr(bench, "TASKS", tasks)
    monkeypatch.setattr(bench, "SEEDS", (0, 1))
    monkeypatch.setattr(bench, "RATES", dict.fromkeys(bench.TASKS, (1e-3, 1e-2)))
    pairs = SHORT_PAIRS + LONG_PAIRS
    parts = {"train": pairs, "validation": SHORT_PAIRS[:30], "clusters": SHORT_PAIRS[30:60]}
    return bench.Material(parts, 20), tmp_path / "r.json"


def test_long_sentences_are_only_in_the_tests(small):
    material, _ = small
    assert max(map(bench.n_words, material.train)) <= bench.SHORT
    long = [pair for name, some in material.tests.items() if name != "1–8" for pair in some]
    assert len(long) >= 20 and min(map(bench.n_words, long)) > bench.SHORT
    assert not {p.source for p in long} & {p.source for p in material.everything}
    assert max(map(bench.n_words, material.everything)) > bench.SHORT


def test_measured_rows_are_not_measured_again(small, capsys):
    material, results = small
    steps = {"translation": 6, "language": 6}
    whole = Experiment("?", results, bench.Bench(lambda: material, steps).rows, 1)
    whole.run(only=4)
    before = json.loads(results.read_text(encoding="utf-8"))
    whole.run()
    told = json.loads(results.read_text(encoding="utf-8"))
    assert told["translation"]["rotary 0"] == before["translation"]["rotary 0"]
    assert {*told["translation"]} == {*told["language"]} == {"rotary 0", "t5 0", "rotary 1", "t5 1"}
    for task, runs in ((n, told[n]) for n in bench.TASKS):
        for name, run in runs.items():
            rates = {
                r: told[f"{task} rates"][f"{name.split()[0]} {r:g}"] for r in bench.RATES[task]
            }
            assert run["learning_rate"] == min(rates, key=rates.get)
            assert run["steps"] == 6
    capsys.readouterr()
    whole.run()
    assert capsys.readouterr().out == ""


def test_the_loss_at_each_place_is_that_of_the_token_there(small):
    material, _ = small
    torch.manual_seed(0)
    model = DecoderOnly(bench.sizes("t5")).eval()
    ids = material.stream("train")[:25]
    by_place = bench.losses_by_place(model, ids, 8)
    expected = np.zeros(8)
    for first in (0, 8, 16):
        logits = model(ids[None, first : first + 8])[0][0].log_softmax(dim=-1)
        expected += [-logits[i, ids[first + i + 1]].item() / 3 for i in range(8)]
    assert np.allclose(by_place, expected, atol=1e-5)
    alone = bench.losses_by_place(model, ids, 8, reach=1)
    scores = model(ids[:-1, None])[0][:, 0].log_softmax(dim=-1)
    expected = -scores[torch.arange(24), ids[1:]].reshape(3, 8).mean(dim=0)
    assert np.allclose(alone, expected.tolist(), atol=1e-5)
    assert not math.isclose(by_place[0], by_place[7], abs_tol=1e-3)
