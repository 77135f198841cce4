"""attn.positions against the NumPy reference, closed forms, and the properties of each scheme."""

import copy
import math
import re
from types import SimpleNamespace
from unittest.mock import patch

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch import nn
from torch._subclasses.fake_tensor import FakeTensorMode

from attn import reference
from attn.positions import (
    SCHEMES,
    ALiBiPositions,
    LearnedPositions,
    RotaryPositions,
    SinusoidalPositions,
    Waves,
    rotary,
    sinusoidal_positions,
)
from tests.core.helpers import assert_close, random
from tests.core.no_float64 import NoFloat64
from tests.refusals import refusals

PUBLISHED_SLOPES = {
    # Press et al. (2022), section 3: 1/2, 1/4, ..., 1/256; for 16 heads the values half-way
    # between, too.
    8: [2.0**-e for e in range(1, 9)],
    16: [2.0 ** -(e / 2) for e in range(1, 17)],
    # Their published code for 12 heads: the slopes of 8, then every second one of those of 16.
    12: [2.0**-e for e in range(1, 9)] + [2.0**-0.5, 2.0**-1.5, 2.0**-2.5, 2.0**-3.5],
}


def block_rotation(angles):
    """Return the matrix that rotates each pair of components by its angle."""
    blocks = [
        torch.tensor([[math.cos(a), -math.sin(a)], [math.sin(a), math.cos(a)]], dtype=torch.float64)
        for a in angles
    ]
    return torch.block_diag(*blocks)


# sinusoidal


@given(
    n_positions=st.integers(0, 300),
    pairs=st.integers(1, 40),
    base=st.sampled_from([1.0, 2.0, 100.0, 10000.0, 5e5]),
)
def test_sinusoidal_equals_numpy(n_positions, pairs, base):
    table = sinusoidal_positions(n_positions, 2 * pairs, base)
    assert table.dtype == torch.float64 and table.shape == (n_positions, 2 * pairs)
    expected = reference.sinusoidal_positions(n_positions, 2 * pairs, base)
    # Two libraries may round a power differently in the last bit, and the position multiplies this
    # error.
    np.testing.assert_allclose(table.numpy(), expected, rtol=0, atol=300 * 2.0**-52)


@pytest.mark.pairwise
@pytest.mark.parametrize("dtype", [torch.float64, torch.float32, torch.bfloat16])
@pytest.mark.parametrize("start", [0, 3])
@pytest.mark.parametrize("batch", [(), (2,), (2, 3)])
def test_the_encoding_is_added_to_the_vectors(batch, start, dtype):
    module, x = SinusoidalPositions(8), random(*batch, 5, 8, dtype=dtype)
    expected = x + sinusoidal_positions(8, 8, dtype=dtype)[start : start + 5]
    output = module(x, start)
    assert output.dtype == dtype
    assert torch.equal(output, expected)


def test_sinusoidal_positions_with_another_base():
    expected = sinusoidal_positions(3, 8, 100.0, dtype=torch.float32)
    assert torch.equal(SinusoidalPositions(8, base=100.0)(torch.zeros(3, 8)), expected)
    assert not torch.equal(SinusoidalPositions(8)(torch.zeros(3, 8)), expected)


def test_sinusoidal_positions_have_no_limit():
    """The encoding of a position does not depend on the earlier calls."""
    module = SinusoidalPositions(8)
    table = sinusoidal_positions(2000, 8, dtype=torch.float32)
    for start, seq_len in [(0, 4), (4, 1), (0, 3), (100, 7), (107, 1), (0, 0), (1500, 500)]:
        output = module(torch.zeros(seq_len, 8), positions=start)
        assert torch.equal(output, table[start : start + seq_len])


def test_the_table_grows_only_by_doubling(monkeypatch):
    """Token by token to n, it is computed log n times; another dtype lengthens no table."""
    lengths, compute = [], Waves.at

    def counted(self, positions, *args):
        lengths.append(len(positions))
        return compute(self, positions, *args)

    monkeypatch.setattr(Waves, "at", counted)
    module = SinusoidalPositions(8)
    for start in range(20):
        module(torch.zeros(1, 8), start)
    assert lengths == [1, 2, 4, 8, 16, 32]
    for _ in range(3):
        module(torch.zeros(32, 8).double())
        module(torch.zeros(1, 8))
    assert lengths[6:] == [32] * 6
    module(torch.zeros(100, 8))
    assert lengths[12:] == [100]


def test_far_positions_are_right_in_float32_without_float64():
    """The angle 100,000 in float32 has an error of .004, and so would its sine."""
    start, d_model = 100_000, 64
    expected = reference.sinusoidal_positions(start + 8, d_model)[start:]
    compiled = torch.compile(SinusoidalPositions(d_model), backend="eager")
    with NoFloat64():
        for module in (SinusoidalPositions(d_model), compiled):
            output = module(torch.zeros(8, d_model, dtype=torch.float32), start)
            np.testing.assert_allclose(output.numpy(), expected, rtol=0, atol=4e-7)


def test_the_table_follows_the_dtype_and_the_device():
    module, table = SinusoidalPositions(8), sinusoidal_positions(6, 8)
    for dtype in (torch.float32, torch.bfloat16, torch.float64, torch.float16, torch.float32):
        # Casting the module must not round the table: each table has the precision of its dtype.
        output = module.to(dtype)(torch.zeros(6, 8, dtype=dtype))
        assert_close(output.double(), table, 1.5 * torch.finfo(dtype).eps)
        shapeless = module(torch.zeros(6, 8, dtype=dtype, device="meta"))
        assert shapeless.is_meta and shapeless.dtype == dtype and shapeless.shape == (6, 8)
    assert sinusoidal_positions(6, 8, device="meta").is_meta


def test_one_module_turns_heads_of_any_size():
    module = RotaryPositions()
    for d_k in (2, 16, 8, 4):
        x = random(3, d_k)
        for turned in module.rotate(x, x):
            assert torch.equal(turned, rotary(x, torch.arange(3)))


def test_in_a_graph_the_encoding_is_computed_on_the_device_of_the_tokens():
    with patch("torch.compiler.is_compiling", return_value=True):
        assert SinusoidalPositions(8)(torch.zeros(6, 8, device="meta")).is_meta


def test_a_fake_tensor_of_a_trace_is_not_cached():
    module, x = SinusoidalPositions(8), torch.zeros(6, 8)
    with FakeTensorMode(allow_non_fake_inputs=True) as mode:
        module(mode.from_tensor(x))
    assert torch.equal(module(x), sinusoidal_positions(6, 8, dtype=torch.float32))


def test_a_tensor_of_functionalize_is_not_cached():
    module, x = SinusoidalPositions(8), torch.zeros(6, 8)
    expected = torch.func.functionalize(module)(x)
    found = module(x)
    assert not torch._is_functional_tensor(found) and torch.equal(found, expected)


def test_sinusoidal_positions_have_no_parameters_and_no_state():
    module = SinusoidalPositions(8)
    expected = module(torch.zeros(9, 8))
    assert not module.state_dict() and not list(module.parameters())
    copied = copy.deepcopy(module)
    assert torch.equal(copied(torch.zeros(9, 8)), expected)
    x = random(2, 5, 8).requires_grad_()
    (gradient,) = torch.autograd.grad(module(x).sum(), x)
    assert torch.equal(gradient, torch.ones_like(x))


def test_a_table_made_in_inference_mode_can_be_used_with_gradients():
    module = SinusoidalPositions(8)
    with torch.inference_mode():
        module(torch.zeros(5, 8))
    x = random(5, 8, dtype=torch.float32).requires_grad_()
    (gradient,) = torch.autograd.grad((module(x) ** 2).sum(), x)
    assert_close(gradient, 2 * (x + sinusoidal_positions(5, 8).float()), 1e-6)


def test_the_smallest_sinusoidal_table():
    assert sinusoidal_positions(0, 2).shape == (0, 2)
    assert sinusoidal_positions(1, 2).tolist() == [[0.0, 1.0]]


# learned


@pytest.mark.parametrize("start", [0, 2])
@pytest.mark.parametrize("batch", [(), (2,), (2, 3)])
def test_the_learned_vector_is_added(batch, start):
    torch.manual_seed(0)
    module, x = LearnedPositions(7, 4).double(), random(*batch, 5, 4)
    assert torch.equal(module(x, start), x + module.weight[start : start + 5])


def test_only_positions_that_occur_get_a_gradient():
    module, x = LearnedPositions(9, 4).double(), random(3, 5, 4)
    upstream = random(3, 5, 4, seed=1)
    (gradient,) = torch.autograd.grad(module(x, positions=2), module.weight, upstream)
    expected = torch.zeros(9, 4).double()
    expected[2:7] = upstream.sum(dim=0)
    assert_close(gradient, expected)


def test_learned_positions_have_small_initial_values():
    torch.manual_seed(0)
    module = LearnedPositions(500, 400)
    assert isinstance(module.weight, nn.Parameter) and module.weight.shape == (500, 400)
    assert module.weight.std().item() == pytest.approx(1 / 20, rel=0.01)
    assert module.weight.mean().item() == pytest.approx(0, abs=0.001)
    assert list(module.state_dict()) == ["weight"]


@pytest.mark.parametrize("start, seq_len, last", [(0, 9, 8), (4, 5, 8), (8, 1, 8), (100, 3, 102)])
def test_a_position_beyond_the_learned_ones_is_refused(start, seq_len, last):
    message = f"^x: expected positions below n_positions = 8, all that were learned, got {last}$"
    with pytest.raises(ValueError, match=message):
        LearnedPositions(8, 4)(torch.zeros(2, seq_len, 4), start)


def test_given_positions_beyond_the_learned_ones_are_refused():
    module, x = LearnedPositions(8, 4), torch.zeros(2, 4)
    assert torch.equal(module(x, torch.tensor([7, 0])), module.weight[[7, 0]])
    message = "^positions: expected positions below n_positions = 8, all that were learned, got 8$"
    with pytest.raises(ValueError, match=message):
        module(x, torch.tensor([8, 0]))


def test_every_learned_position_can_be_reached():
    module = LearnedPositions(8, 4)
    assert module(torch.zeros(8, 4)).shape == (8, 4)
    assert torch.equal(module(torch.zeros(1, 4), positions=7)[0], module.weight[7])
    assert module(torch.zeros(0, 4), positions=8).shape == (0, 4)
    assert LearnedPositions(1, 1)(torch.zeros(1, 1)).shape == (1, 1)


@pytest.mark.parametrize("module", [SinusoidalPositions(4), LearnedPositions(8, 4)], ids=repr)
def test_absolute_positions_refuse_inputs_of_wrong_shape(module):
    for shape, got in (((4,), r"\(4,\)"), ((2, 3, 5), r"\(2, 3, 5\)")):
        message = rf"^x: expected shape \(..., seq_len, 4\), got {got}$"
        with pytest.raises(ValueError, match=message):
            module(torch.zeros(shape))
    message = "^x: expected a floating-point tensor, got dtype torch.int64$"
    with pytest.raises(ValueError, match=message):
        module(torch.zeros(3, 4, dtype=torch.int64))
    with pytest.raises(ValueError, match="^positions: expected at least 0, got -1$"):
        module(torch.zeros(3, 4), -1)
    with pytest.raises(ValueError, match="^positions: expected an integer, got 0.5$"):
        module(torch.zeros(3, 4), 0.5)


# rotary


@given(data=st.data())
def test_rotate_equals_numpy(data):
    lead = data.draw(st.sampled_from([(), (2,), (2, 3)]))
    seq_len, pairs = data.draw(st.integers(0, 6)), data.draw(st.integers(1, 5))
    positions = data.draw(st.lists(st.integers(-1000, 1000), min_size=seq_len, max_size=seq_len))
    base = data.draw(st.sampled_from([1.0, 10.0, 10000.0]))
    x = random(*lead, seq_len, 2 * pairs, seed=data.draw(st.integers(0, 10**6)))
    expected = reference.rotary(x.numpy(), np.array(positions, dtype=int), base)
    turned = rotary(x, torch.tensor(positions, dtype=torch.int64), base)
    assert turned.dtype == torch.float64 and turned.shape == x.shape
    np.testing.assert_allclose(turned.numpy(), expected, rtol=0, atol=1e-11)


@pytest.mark.parametrize("dtype, tolerance", [(torch.float64, 1e-12), (torch.float32, 1e-6)])
def test_rotate_takes_positions_between_the_integers(dtype, tolerance):
    x, positions = random(3, 8), torch.tensor([0.25, 1.5, 50.125], dtype=dtype)
    turned = rotary(x.to(dtype), positions)
    assert turned.dtype == dtype
    for i, position in enumerate(positions.tolist()):
        matrix = block_rotation([position * 10000 ** (-2 * j / 8) for j in range(4)])
        assert_close(turned[i].double(), matrix @ x[i], tolerance)


@pytest.mark.parametrize("dtype, tolerance", [(torch.float32, 1e-6), (torch.bfloat16, 0.03)])
def test_rotation_of_far_positions_is_precise(dtype, tolerance):
    """Neither float32 nor bfloat16 represents the angle 100,001 to a tenth of a turn."""
    x, positions = random(3, 8, dtype=dtype), torch.tensor([100_001, 65_537, 257])
    turned = rotary(x, positions)
    assert turned.dtype == dtype
    assert_close(turned.double(), rotary(x.double(), positions), tolerance)


@pytest.mark.parametrize("start", [0, 3])
@pytest.mark.parametrize("seq_len", [5, 1, 0])
def test_rotary_turns_queries_and_keys_by_their_positions(seq_len, start):
    query, key = random(2, 4, seq_len, 8), random(2, 2, seq_len, 8, seed=1)
    positions = torch.arange(start, start + seq_len)
    # Angles are taken from the table or computed for positions, given once or for each row.
    for places in (start, positions, positions.expand(2, -1)):
        turned_query, turned_key = RotaryPositions().rotate(query, key, places)
        assert torch.equal(turned_query, rotary(query, positions))
        assert torch.equal(turned_key, rotary(key, positions))


def test_every_row_can_have_its_own_positions():
    query, positions = random(2, 4, 3, 8), torch.tensor([[0, 1, 2], [0, 0, 7]])
    turned, _ = RotaryPositions().rotate(query, query, positions)
    for row in range(2):
        assert_close(turned[row], rotary(query[row], positions[row]))
    # For queries of one head, each row has its own positions.
    first = rotary(query[:, 0], positions)
    assert_close(first, turned[:, 0])


def test_rotary_with_another_base():
    query, module = random(3, 8), RotaryPositions(base=10.0)
    turned, also_turned = module.rotate(query, query)
    assert module.base == 10.0
    assert torch.equal(turned, rotary(query, torch.arange(3), 10.0))
    assert torch.equal(also_turned, turned)
    assert not torch.equal(turned, RotaryPositions().rotate(query, query)[0])


# ALiBi


@pytest.mark.slow
@pytest.mark.parametrize(
    "scaling",
    [
        {
            "rope_type": "llama3",
            "factor": 8.0,
            "low_freq_factor": 1.0,
            "high_freq_factor": 4.0,
            "original_max_position_embeddings": 32,
        },
        {"rope_type": "yarn", "factor": 4.0, "original_max_position_embeddings": 16},
    ],
    ids=lambda scaling: scaling["rope_type"],
)
def test_scaled_positions_compile_into_one_graph_for_every_length(scaling):
    torch.compiler.reset()
    scheme = RotaryPositions(100.0, scaling)
    compiled = torch.compile(scheme.rotate, dynamic=True, backend="aot_eager", fullgraph=True)
    for seq_len in (6, 9):
        x = random(2, 1, seq_len, 8)
        found, expected = compiled(x, x, 3)[0], scheme.rotate(x, x, 3)[0]
        torch.testing.assert_close(found, expected, rtol=0.0, atol=1e-12)


@pytest.mark.parametrize("n_heads", PUBLISHED_SLOPES)
def test_slopes_are_those_published(n_heads):
    slopes = ALiBiPositions(n_heads).slopes()
    assert slopes == pytest.approx(PUBLISHED_SLOPES[n_heads], rel=1e-15)


def test_slopes_of_any_number_of_heads_equal_numpy():
    for n_heads in range(1, 70):
        slopes = ALiBiPositions(n_heads).slopes()
        assert slopes == pytest.approx(reference.alibi_slopes(n_heads), rel=1e-15)
        assert len(slopes) == len(set(slopes)) == n_heads


@given(n_heads=st.integers(1, 12), n_new=st.integers(0, 6), n_old=st.integers(0, 6))
def test_the_bias_equals_numpy(n_heads, n_new, n_old):
    module, keys = ALiBiPositions(n_heads), torch.arange(n_old + n_new)
    query = random(2, n_heads, n_new, 4)
    assert module.rotate(query, query) == (query, query)
    bias = module.bias(keys[n_old:], keys, torch.float64)
    assert bias.shape == (n_heads, n_new, n_old + n_new) and bias.dtype == torch.float64
    expected = reference.alibi_bias(n_heads, n_new, n_old + n_new)
    np.testing.assert_array_equal(bias.numpy(), expected)


def test_the_bias_of_each_row_is_that_of_its_positions():
    positions = torch.tensor([[0, 1, 2], [0, 0, 7]])
    bias = ALiBiPositions(3).bias(positions[:, 1:], positions, torch.float64)
    assert bias.shape == (2, 3, 2, 3)
    for row in range(2):
        alone = ALiBiPositions(3).bias(positions[row, 1:], positions[row], torch.float64)
        assert torch.equal(bias[row], alone)


def test_the_bias_of_consecutive_tokens_is_that_of_their_positions():
    """Earlier calls and the precision do not matter; keys may follow the query."""
    module = ALiBiPositions(3)
    for start, tgt_len, src_len in [
        (4, 1, 5),
        (0, 1, 1),
        (6, 1, 7),
        (90, 1, 91),
        (7, 1, 8),
        (4, 3, 7),
        (0, 5, 5),
        (2, 1, 9),
        (3, 0, 3),
    ]:
        for dtype in (torch.float32, torch.float64, torch.bfloat16):
            keys = torch.arange(src_len)
            bias = module.bias_in_a_row(start, tgt_len, src_len, dtype, keys.device)
            assert torch.equal(bias, module.bias(keys[start : start + tgt_len], keys, dtype))
            assert bias.dtype == torch.promote_types(dtype, torch.float32)
    assert module.bias_in_a_row(1, 1, 2, torch.float32, torch.device("meta")).is_meta


def test_token_by_token_the_bias_is_computed_a_few_times(monkeypatch):
    module, cpu, lengths, compute = ALiBiPositions(3), torch.device("cpu"), [], ALiBiPositions.bias

    def counted(self, queries, keys, dtype):
        lengths.append(len(keys))
        return compute(self, queries, keys, dtype)

    monkeypatch.setattr(ALiBiPositions, "bias", counted)
    with torch.inference_mode():
        for start in range(20):
            module.bias_in_a_row(start, 1, start + 1, torch.float32, cpu)
    assert lengths == [2, 6, 14, 30]
    assert not module.bias_in_a_row(3, 1, 4, torch.float32, cpu).is_inference()
    assert len(lengths) == 4
    traced = ALiBiPositions(3)
    bias = torch.func.functionalize(lambda: traced.bias_in_a_row(3, 1, 4, torch.float32, cpu))()
    assert torch.equal(traced.bias_in_a_row(3, 1, 4, torch.float32, cpu), bias)
    assert not torch._is_functional_tensor(traced.bias_in_a_row(3, 1, 4, torch.float32, cpu))


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16, torch.float16])
def test_the_bias_distinguishes_far_distances(dtype):
    """In bfloat16, 3,000 distances would be rounded to 700 different numbers."""
    bias = ALiBiPositions(3).bias(torch.tensor([2999]), torch.arange(3000), dtype)
    assert bias.dtype == torch.float32
    assert all(len(of_head.unique()) == 3000 for of_head in bias)
    assert_close(bias.double(), torch.from_numpy(reference.alibi_bias(3, 1, 3000)), 1e-6)


def test_relative_positions_are_computed_on_the_device_of_the_query():
    query, places = torch.zeros(3, 5, 4, device="meta"), torch.arange(5, device="meta")
    assert ALiBiPositions(3).bias(places, places, torch.float32).is_meta
    for positions in (0, places):
        assert all(x.is_meta for x in RotaryPositions().rotate(query, query, positions))


def test_relative_positions_have_no_parameters():
    for module in (RotaryPositions(), ALiBiPositions(4)):
        assert not module.state_dict() and not list(module.parameters())


# Positions given for each token -------------------------------------------------------


@pytest.mark.parametrize("shape", [(1,), (4,), (3, 5), (2, 1), (1, 2, 5)])
@pytest.mark.parametrize("scheme", [SinusoidalPositions(4), LearnedPositions(9, 4)])
def test_positions_of_tokens_of_wrong_shape_are_refused(scheme, shape):
    message = (
        r"^positions: expected a shape \(..., 5\) that broadcasts to \(2, 5\), "
        rf"got {re.escape(str(shape))}$"
    )
    with pytest.raises(ValueError, match=message):
        scheme(torch.ones(2, 5, 4), torch.zeros(shape, dtype=torch.int64))


@pytest.mark.parametrize("dtype", [torch.float64, torch.float32, torch.bfloat16, torch.float16])
@pytest.mark.parametrize("view", ["whole", "odd start", "odd rows", "every second", "heads"])
def test_rotation_does_not_depend_on_the_memory_layout(view, dtype):
    """PyTorch can view only pairs that are adjacent, at an even offset, as complex numbers."""
    numbers = torch.randn(3, 5, 18, generator=torch.Generator().manual_seed(0), dtype=torch.float64)
    x = {
        "whole": numbers[..., :8].contiguous(),
        "odd start": numbers[..., 1:9],
        "odd rows": numbers.flatten()[: 3 * 5 * 9].view(3, 5, 9)[..., :8],
        "every second": numbers[..., 1:17:2],
        "heads": numbers[..., :16].unflatten(-1, (2, 8)).transpose(1, 2)[:, 0],
    }[view].to(dtype)
    positions = torch.tensor([0, 1, 5, 1000, 70000])
    angles = positions[:, None].double() / 10000.0 ** (torch.arange(4).double() / 4)
    even, odd = x[..., 0::2].double(), x[..., 1::2].double()
    halves = even * angles.cos() - odd * angles.sin(), even * angles.sin() + odd * angles.cos()
    expected = torch.stack(halves, dim=-1).flatten(-2)
    tolerance = {torch.float64: 1e-10, torch.float32: 1e-6}.get(dtype, torch.finfo(dtype).eps)
    turned = rotary(x, positions)
    assert turned.dtype == dtype
    torch.testing.assert_close(turned.double(), expected, rtol=tolerance, atol=tolerance)


# what is refused


def turns(x, positions=(0,), base=1e4):
    return rotary(x, torch.tensor(positions), base)


def of_odd_size(name):
    """Check a configuration in which the sizes of vectors and of heads are odd."""
    return SCHEMES[name].check(SimpleNamespace(d_model=9, n_heads=3, max_len=4, positions=name))


WAVES = [
    ((0,), "d_model: expected at least 2, got 0$"),
    ((1,), "d_model: expected at least 2, got 1$"),
    ((4.0,), "d_model: expected an integer, got 4.0$"),
    ((5,), "d_model: expected an even number, two components a wave, got 5$"),
    ((4, 0.99), "base: expected a number of at least 1, got 0.99$"),
    ((4, -1), "base: expected a number of at least 1, got -1$"),
    ((4, math.nan), "base: expected a number of at least 1, got nan$"),
    ((4, math.inf), "base: expected a number of at least 1, got inf$"),
]
ONE = torch.ones(1, 4)
YARN = {"rope_type": "yarn", "factor": 4.0, "original_max_position_embeddings": 16}
test_what_is_refused = refusals(
    (lambda: sinusoidal_positions(-1, 4), "n_positions: expected at least 0, got -1$"),
    (lambda: sinusoidal_positions(3.0, 4), "n_positions: expected an integer, got 3.0$"),
    *((lambda sizes=sizes: sinusoidal_positions(2, *sizes), said) for sizes, said in WAVES),
    *((lambda sizes=sizes: SinusoidalPositions(*sizes), said) for sizes, said in WAVES),
    (lambda: LearnedPositions(0, 4), "n_positions: expected at least 1, got 0$"),
    (lambda: LearnedPositions(8, 0), "d_model: expected at least 1, got 0$"),
    (lambda: LearnedPositions("8", 4), "n_positions: expected an integer, got '8'$"),
    (lambda: LearnedPositions(8, 4.0), "d_model: expected an integer, got 4.0$"),
    (lambda: turns(ONE[0]), r"x: expected shape \(..., seq_len, d_k\), got \(4,\)$"),
    (
        lambda: turns(torch.ones(2, 4)),
        r"positions: .* \(..., 2\) that broadcasts to \(2,\), got \(1,\)$",
    ),
    (
        lambda: turns(ONE, [[0]]),
        r"positions: .* \(..., 1\) that broadcasts to \(1,\), got \(1, 1\)$",
    ),
    (lambda: turns(ONE[:, :3]), "d_k: expected an even number, two components a wave, got 3$"),
    (lambda: turns(ONE[:, :0]), "d_k: expected at least 2, got 0$"),
    (lambda: turns(ONE, base=0.5), "base: expected a number of at least 1, got 0.5$"),
    (lambda: turns(ONE.int()), "x: expected a floating-point tensor, got dtype torch.int32$"),
    (lambda: RotaryPositions().rotate(ONE[:, :3], ONE[:, :3], 0), "d_k: expected an even number"),
    *(
        (
            lambda options=options: RotaryPositions(scaling=YARN | options),
            rf"^scaling: .*, got {got}$",
        )
        for options, got in (
            ({"mscale": 0.7}, "mscale"),
            ({"mscale_all_dim": 0.7}, "mscale_all_dim"),
            ({"attention_factor": 1.3, "mscale": 0.7}, "attention_factor with mscale"),
        )
    ),
    (lambda: ALiBiPositions(0), "n_heads: expected at least 1, got 0$"),
    (lambda: ALiBiPositions(8.0), "n_heads: expected an integer, got 8.0$"),
    (
        lambda: of_odd_size("sinusoidal"),
        r"positions: expected a kind for an odd size \(9\), got 'sinusoidal'$",
    ),
    (
        lambda: of_odd_size("rotary"),
        r"positions: expected a kind for an odd size \(3\), got 'rotary'$",
    ),
)
