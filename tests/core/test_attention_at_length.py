"""The measurements of `benchmarks.attention_at_length` are complete and comparable."""

import json

import numpy as np
import pytest
import torch

from attn import reference
from benchmarks import attention_at_length as benchmark
from benchmarks.attention_memory import numpy_peak

STORED = json.loads(benchmark.RESULTS.read_text(encoding="utf-8"))
NAMES = set(benchmark.contenders(16))


def test_every_method_and_length_was_measured():
    assert STORED["lengths"] == list(benchmark.LENGTHS)
    assert STORED["window"] == benchmark.WINDOW and STORED["d_k"] == benchmark.D_K
    for quantity in ("relative_time", "time_over_whole", "peak_mb"):
        assert set(STORED[quantity]) == NAMES
        assert {len(row) for row in STORED[quantity].values()} == {len(benchmark.LENGTHS)}
    assert STORED["short_lengths"] == list(benchmark.SHORT)
    assert list(STORED["linear_over_fused"]) == [str(size) for size in benchmark.SIZES]


def test_each_contender_computes_its_kind_of_attention():
    runs = benchmark.contenders(300)
    whole, weights = runs["whole"]()
    for name in ("online", "fused"):
        output = runs[name]()
        np.testing.assert_allclose(output[0] if name == "fused" else output, whole, atol=1e-5)
    assert not weights[0, 1:].any() and weights[299, 0] > 0
    masked, weights = runs["window_mask"]()
    assert ((weights > 0).sum(axis=-1) == np.minimum(np.arange(300) + 1, benchmark.WINDOW)).all()
    np.testing.assert_allclose(runs["windowed"](), masked, atol=1e-5)
    assert runs["linear"]().shape == whole.shape and not np.allclose(runs["linear"](), whole)


def test_linear_attention_in_pytorch_equals_that_of_the_course():
    query, key, value = torch.randn(3, 2, 7, 4, dtype=torch.float64)
    expected = reference.linear_attention(query.numpy(), key.numpy(), value.numpy())
    np.testing.assert_allclose(benchmark.linear(query, key, value), expected, atol=1e-12)


@pytest.mark.parametrize("name", sorted(NAMES - {"fused"}))
def test_memory_is_as_stored(name):
    found = numpy_peak(benchmark.contenders(1024)[name])
    assert found == pytest.approx(STORED["peak_mb"][name][2], rel=0.05, abs=0.02)


def test_a_short_measurement_has_every_row():
    found = benchmark.measure(lengths=(16, 32), repeats=2, least=0)
    assert found["relative_time"]["whole"][0] == 1.0
    assert {len(row) for row in found["peak_mb"].values()} == {2}
    crossing = benchmark.measure_crossing(lengths=(16,), sizes=(8,), repeats=2, least=0)
    assert crossing["8"][0]["median"] > 0
