"""Counts, paged caches and rounding of chapter 16, against PyTorch's counts and plain caches."""

import json
import os
import re
import subprocess
import sys
import textwrap
from dataclasses import replace

import numpy as np
import pytest
import torch
from torch.nn.attention import SDPBackend, sdpa_kernel
from torch.utils.flop_counter import FlopCounterMode

from attn.experts import MixtureOfExperts
from attn.transformer import DecoderOnly, TransformerConfig, quantised
from attn_course.serving import (
    PagedCache,
    dequantise,
    matrix_numbers,
    prefill_and_decode,
    quantise,
    read_on,
    roofline,
)
from benchmarks import kernel_speed
from benchmarks.gpu import SMOLLM2
from experiments import serving as bench
from experiments.runner import read
from tests.core.helpers import random as normal
from tests.core.helpers import refuses

ROOT = bench.DATA.parents[1]
STORED = read(bench.RESULTS)
CONFIGS = {
    "paper": TransformerConfig(
        vocab_size=50, d_model=16, n_heads=4, n_layers=3, d_ff=24, bias=False
    ),
    "llama": replace(
        SMOLLM2, vocab_size=30, d_model=24, n_heads=6, n_kv_heads=2, n_layers=2, d_ff=40
    ),
}


@pytest.fixture(params=CONFIGS)
def model(request):
    torch.manual_seed(3)
    return DecoderOnly(CONFIGS[request.param]).eval()


# The counts.


def counted(function):
    """Return the operations that PyTorch itself counts."""
    with FlopCounterMode(display=False) as counter, sdpa_kernel(SDPBackend.MATH), torch.no_grad():
        function()
    return counter.get_total_flops()


@pytest.mark.parametrize("batch, context", [(1, 1), (3, 7)])
def test_a_step_takes_the_operations_that_pytorch_counts(model, batch, context):
    cache = model.new_cache()
    ids = torch.arange(context).expand(batch, -1)
    if context > 1:
        with torch.no_grad():
            model(ids[:, :-1], cache=cache)
    decode = prefill_and_decode(model.config, batch, context)[1]
    assert decode.flops == counted(lambda: model(ids[:, -1:], cache=cache))


def test_prefill_takes_the_operations_of_decoding_the_same_tokens(model):
    prefill, last = prefill_and_decode(model.config, 2, 9)
    steps = [prefill_and_decode(model.config, 2, n)[1] for n in range(1, 10)]
    assert prefill.flops == sum(step.flops for step in steps)
    assert prefill.bytes == last.bytes < sum(step.bytes for step in steps) / 8


def test_the_bytes_are_those_of_the_matrices_and_of_the_cache(model):
    matrices = sum(p.numel() for p in model.parameters() if p.dim() == 2)
    assert matrix_numbers(model.config) == matrices
    cache = model.new_cache()
    with torch.no_grad():
        model(torch.arange(7).expand(3, -1), cache=cache)
    assert prefill_and_decode(model.config, 3, 7)[1].bytes == 4 * matrices + cache.nbytes
    found = prefill_and_decode(model.config, 3, 7, weight_bits=4, cache_bits=8)[1].bytes
    assert found == matrices / 2 + cache.nbytes / 4


def test_the_roofline_is_the_lower_of_both_limits():
    intensities = np.array([0.1, 2.0, 5.0, 9.0])
    assert roofline(intensities, 10.0, 2.0).tolist() == pytest.approx([0.2, 4.0, 10.0, 10.0])


def test_models_with_experts_and_empty_batches_are_refused():
    config = TransformerConfig(8, d_model=8, n_heads=2, experts=MixtureOfExperts(4, 2, 8))
    with refuses(
        "config: expected attention and one feed-forward network in each layer, "
        "got mixers or experts"
    ):
        prefill_and_decode(config, 1, 4)
    config = CONFIGS["paper"]
    with refuses("batch: expected at least 1, got 0"):
        prefill_and_decode(config, 0, 4)
    with refuses("context: expected at least 1, got 0"):
        prefill_and_decode(config, 1, 0)
    with refuses("weight_bits: expected a number above 0, got 0"):
        prefill_and_decode(config, 1, 4, weight_bits=0)
    with refuses("cache_bits: expected a number above 0, got '16'"):
        prefill_and_decode(config, 1, 4, cache_bits="16")
    with refuses("page_size: expected at least 1, got 0"):
        PagedCache(4, 0, n_layers=1, n_kv_heads=1, d_k=1)


# Rounding.


@pytest.mark.parametrize("bits", [8, 4, 2])
@pytest.mark.parametrize("group", [None, 16, 4])
def test_no_weight_moves_by_more_than_half_a_step_of_its_group(bits, group):
    weights = normal(5, 32) * torch.logspace(-3, 3, 5)[:, None]
    steps, scales = quantise(weights, bits, group)
    size = group or 32
    groups = weights.view(5, 32 // size, size)
    step = groups.abs().amax(dim=-1) / (2 ** (bits - 1) - 1)
    moved = (dequantise(steps, scales) - weights).view_as(groups).abs().amax(dim=-1)
    assert (moved <= 0.5001 * step).all()
    # The largest weight of a group is unchanged, and uses the largest step.
    assert (steps.view_as(groups).abs().amax(dim=-1) == 2 ** (bits - 1) - 1).all()
    assert len(steps.unique()) <= 2**bits - 1


def test_eight_bit_rows_equal_those_of_the_package():
    weights = normal(6, 10, dtype=torch.float32)
    weights[2] = 0
    theirs = quantised.quantise({"weight": weights})
    steps, scales = quantise(weights, 8)
    assert torch.equal(steps, theirs["weight"])
    assert torch.equal(scales[:, 0], theirs["weight.scale"])
    assert torch.equal(dequantise(steps, scales), quantised.dequantise(theirs)["weight"])


def test_invalid_bits_and_groups_are_refused():
    with refuses("bits: expected a whole number from 2 to 8, got 1"):
        quantise(torch.ones(4), 1)
    with refuses("group: expected a divisor of the 10 columns, got 4"):
        quantise(torch.ones(10), 4, 4)


# Pages.


def paged(model, n_pages=40, page_size=4):
    config = model.config
    d_k = config.d_model // config.n_heads
    return PagedCache(n_pages, page_size, config.n_layers, config.n_kv_heads or config.n_heads, d_k)


class Plain:
    """A service without pages: each request has a cache of its own."""

    def __init__(self, model):
        self.model, self.caches = model, {}

    @torch.no_grad()
    def read_on(self, request, ids):
        cache = self.caches.setdefault(request, self.model.new_cache())
        return self.model(torch.tensor([ids]), cache=cache)[0][0, -1]

    def read(self, request):
        layers = self.caches[request].self_attention
        return torch.stack(
            [torch.stack([getattr(x, name)[0] for x in layers]) for name in ("key", "value")]
        )


def test_paged_caches_equal_plain_caches(model):
    """Four requests take turns: two with a common prefix, one forked, on pages used before."""
    cache, plain, generator = paged(model), Plain(model), torch.Generator().manual_seed(1)

    def ids(n):
        return torch.randint(30, (n,), generator=generator).tolist()

    def step(request, new):
        torch.testing.assert_close(
            read_on(model, cache, request, new), plain.read_on(request, new), atol=1e-5, rtol=1e-5
        )

    beginning = ids(10)
    step("gone", ids(9))
    cache.finish("gone")
    step("a", [*beginning, *ids(3)])
    step("b", ids(5))
    step("c", [*beginning, *ids(6)])
    assert cache.tables["c"][:2] == cache.tables["a"][:2]
    cache.fork("a", "d")
    plain.caches["d"] = model.new_cache()
    plain.read_on("d", cache.ids["a"])
    for _ in range(6):
        for request in "abcd":
            step(request, ids(1))
    for request in "abcd":
        torch.testing.assert_close(cache.read(request), plain.read(request), atol=1e-5, rtol=1e-5)
    # c shares two pages with a; d, forked from a after 13 tokens, shares its three full pages.
    assert [len(cache.ids[request]) for request in "abcd"] == [19, 11, 22, 19]
    assert cache.n_used == 5 + 3 + (6 - 2) + (5 - 3)
    for request in "abcd":
        cache.finish(request)
    assert cache.n_used == 0 and not cache.tables


def numbers(ids):
    """Return keys and values that are the id of each token."""
    return torch.tensor(ids, dtype=torch.float32).expand(2, 1, 1, -1)[..., None]


def test_a_shared_page_is_copied_before_a_write():
    cache = PagedCache(n_pages=4, page_size=4, n_layers=1, n_kv_heads=1, d_k=1)
    cache.start("a", [1, 2, 3])
    cache.append("a", [1, 2, 3], numbers([1, 2, 3]))
    cache.fork("a", "b")
    assert cache.n_used == 1
    cache.append("b", [7], numbers([7]))
    cache.append("a", [4, 5], numbers([4, 5]))
    assert cache.read("a")[0].flatten().tolist() == [1, 2, 3, 4, 5]
    assert cache.read("b")[0].flatten().tolist() == [1, 2, 3, 7]
    assert cache.n_used == 3


def test_only_equal_pages_after_an_equal_prefix_are_shared():
    cache = PagedCache(n_pages=9, page_size=2, n_layers=1, n_kv_heads=1, d_k=1)
    cache.start("a", [1, 2, 3, 4])
    cache.append("a", [1, 2, 3, 4], numbers([1, 2, 3, 4]))
    assert cache.start("other beginning", [9, 2, 3, 4, 5]) == 0
    assert cache.start("one page", [1, 2, 3, 9, 5]) == 2
    # The last token is read again, since its logits are needed.
    assert cache.start("the same", [1, 2, 3, 4]) == 2
    assert cache.start("longer", [1, 2, 3, 4, 5]) == 4
    # The page of the other request has the same tokens after another prefix, so its keys differ.
    cache.start("b", [9, 9, 3, 4])
    cache.append("b", [9, 9, 3, 4], numbers([9, 9, 3, 4]))
    assert cache.start("like b", [9, 9, 3, 4, 5]) == 4
    assert cache.tables["like b"] == cache.tables["b"]
    for request in ("a", "one page", "the same", "longer"):
        cache.finish(request)
    assert cache.start("later", [1, 2, 3, 4, 5]) == 0


def test_a_page_behind_one_that_is_gone_is_not_shared():
    cache = PagedCache(n_pages=9, page_size=2, n_layers=1, n_kv_heads=1, d_k=1)
    for request, ids in {"short": [1, 2], "long": [1, 2, 3, 4]}.items():
        cache.start(request, [])
        cache.append(request, ids, numbers(ids))
    cache.finish("short")
    # The page with 1 and 2 of the long request was never offered to others; that of the short one is free.
    assert cache.start("later", [1, 2, 3, 4, 5]) == 0


def test_a_full_cache_raises_and_keeps_nothing(model):
    cache = paged(model, n_pages=3)
    read_on(model, cache, "a", [1, 2, 3, 4, 5])
    with refuses("n_pages: expected 2 free pages, got 1"):
        read_on(model, cache, "b", [6, 7, 8, 9, 1])
    assert [*cache.tables] == ["a"] and cache.n_used == 2
    before = cache.read("a").clone()
    with refuses("n_pages: expected 2 free pages, got 1"):
        read_on(model, cache, "a", [1] * 8)
    assert torch.equal(cache.read("a"), before)
    with refuses("request: expected one that was started, got 'b'"):
        cache.read("b")
    with refuses("request: expected a new one, got 'a'"):
        cache.start("a", [1])
    shape = (*cache.pages.shape[1:4], 2, cache.pages.shape[-1])
    with refuses(f"key_value: expected shape {shape}, got shape (2, 1)"):
        cache.append("a", [1, 2], torch.zeros(2, 1))
    with refuses("ids: expected at least one token, got none"):
        read_on(model, cache, "a", [])


# What is stored.


@pytest.mark.parametrize(
    "mix, size, shares", [("nothing in common", 16, False), ("a common beginning", 16, True)]
)
def test_simulated_services_keep_the_stored_numbers_of_tokens(mix, size, shares):
    row = STORED["pages"][mix][f"pages of {size}" + (", shared" if shares else "")]["0"]
    assert bench.pages(0, bench.MIXES[mix], size, shares) == row


def test_the_operations_and_bytes_of_stored_speeds_are_the_models():
    read_at_once = {n: prefill_and_decode(SMOLLM2, 1, int(n))[0] for n in STORED["prefill"]}
    written = {b: prefill_and_decode(SMOLLM2, int(b), bench.CONTEXT)[1] for b in STORED["decode"]}
    for name, counted_anew in {"prefill": read_at_once, "decode": written}.items():
        for n, work in counted_anew.items():
            assert (work.flops, work.bytes) == (STORED[name][n]["flops"], STORED[name][n]["bytes"])


@pytest.mark.slow
def test_the_loss_after_rounding_is_as_stored(needed):
    needed("smollm2")
    stored = STORED["bits"]["an outlier"]["4 bits, 32"]
    found = bench.rounding(True, 4, 32, n_texts=2)
    assert found["tokens"] == stored["tokens"][:2]
    assert found["losses"] == pytest.approx(stored["losses"][:2], rel=1e-3)
    assert found["weights"] == pytest.approx(stored["weights"], abs=2e-4)


def test_an_outlier_compensated_by_the_norm_does_not_change_logits():
    torch.manual_seed(0)
    model, ids = DecoderOnly(CONFIGS["llama"]).eval(), torch.arange(9)[None]
    other = bench.with_an_outlier(model)
    assert not torch.equal(
        *(m.stack.layers[0].self_attention.q_proj.weight for m in (model, other))
    )
    torch.testing.assert_close(other(ids)[0], model(ids)[0], atol=1e-5, rtol=1e-5)


def test_the_lines_that_the_laboratory_reads_are_those_of_the_kernel():
    page = (ROOT / "notebooks/src/L16_size_and_speed.md").read_text(encoding="utf-8")
    kernel = (ROOT / "experiments/kernels.py").read_text(encoding="utf-8")
    of_kernel = page[: page.index("(l16-parallel)=")]
    blocks = re.findall(r"^```python\n(.*?)^```", of_kernel, re.MULTILINE | re.DOTALL)
    assert len(blocks) == 2 * 4 and blocks[:4] == blocks[4:]
    for block in blocks:
        assert any(textwrap.indent(block, " " * depth) in kernel for depth in (4, 8)), block


KERNEL = """
import json, torch
from benchmarks import kernel_speed
from experiments import serving
from experiments.kernels import attention

x, refused = torch.ones(3, 16), {}
for name, call in {
    "d_k": lambda: attention(*[torch.ones(3, 24)] * 3),
    "key": lambda: attention(torch.ones(4, 16), x, x, is_causal=True),
    "value": lambda: attention(x, x, x.double()),
}.items():
    try:
        call()
    except ValueError as error:
        refused[name] = str(error)
kernel_speed.TILE = 16
speeds = kernel_speed.measure("cpu", ((2, 32),), repeats=2, least=0)
print(json.dumps([{name: serving.kernel(name) for name in serving.SHAPES}, refused, speeds]))
"""


def test_the_kernel_is_as_exact_as_pytorchs_own(needed):
    """It runs in a process of its own, since PyTorch would use any Triton that it finds."""
    environment = {
        **os.environ,
        "PYTHONPATH": os.pathsep.join((str(ROOT), str(needed("triton")))),
    }
    command = [sys.executable, "-c", KERNEL]
    done = subprocess.run(command, env=environment, check=True, capture_output=True, text=True)
    found, refused, speeds = json.loads(done.stdout)
    assert found.keys() == STORED["kernel"].keys()
    for name, row in found.items():
        assert row["kernel"] < 4 * STORED["kernel"][name]["torch"], name
    assert refused == {
        "d_k": "d_k: expected a power of two, at least 16, got 24",
        "key": "key: expected at least 4 keys, got 3",
        "value": "value: expected float32 of shape (3, 16), got torch.float64 of (3, 16)",
    }
    assert [(row["numbers"], row["causal"]) for row in speeds] == [
        ("float32", False),
        ("float32", True),
        ("float16", False),
        ("float16", True),
    ]
    for row in speeds:
        # The fraction of a number has 24 bits, and of a short one 11.
        assert row["difference"] < (2e-6 if row["numbers"] == "float32" else 4e-3)


def test_the_operations_of_attention_are_pytorchs():
    query = torch.zeros(1, 3, 8, kernel_speed.D_K)
    with FlopCounterMode(display=False) as counter, sdpa_kernel(SDPBackend.MATH):
        torch.nn.functional.scaled_dot_product_attention(query, query, query)
    assert counter.get_total_flops() == kernel_speed.flops(3, 8, is_causal=False)
    assert kernel_speed.flops(3, 8, is_causal=True) == counter.get_total_flops() / 2
