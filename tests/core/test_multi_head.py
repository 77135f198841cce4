"""attn.attention.multi_head against the NumPy reference and the equation.

`test_torch_weights` compares it with PyTorch's own module.
"""

import math

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from torch import nn
from torch.nn import functional as F

from attn import reference
from attn.attention import MultiHeadAttention
from attn.masks import padding_mask
from attn.positions import ALiBiPositions, RotaryPositions
from tests.core.helpers import assert_close, gradients, random
from tests.refusals import refusals

both_paths = pytest.mark.parametrize("need_weights", [False, True], ids=["fused", "explicit"])
precisions = pytest.mark.parametrize(
    "dtype, tolerance", [(torch.float64, 1e-10), (torch.float32, 1e-5)], ids=["float64", "float32"]
)
PROJECTIONS = ("q_proj", "k_proj", "v_proj", "out_proj")
RELATIVE = {
    "none": lambda n_heads: None,
    "rotary": lambda n_heads: RotaryPositions(),
    "alibi": lambda n_heads: ALiBiPositions(n_heads),
}
relatives = pytest.mark.parametrize("relative", RELATIVE)


def heads_of(d_model=12, n_heads=3, dtype=torch.float64, relative="none", **options):
    """Return a module whose biases are not zero, so that a missing bias would show."""
    torch.manual_seed(0)
    module = MultiHeadAttention(d_model, n_heads, relative=RELATIVE[relative](n_heads), **options)
    for name, parameter in module.named_parameters():
        if name.endswith("bias"):
            nn.init.normal_(parameter)
    return module.to(dtype)


def mask_of_kind(kind, n_heads, length):
    """Return a mask and is_causal; every query sees a key."""
    per_head = random(2, n_heads, length, length, seed=5) > 0
    per_head[..., 0] = True
    padding = padding_mask([length, 2], length)
    masks = {"padding": padding, "both": padding, "per head": per_head}
    return masks.get(kind), kind in ("causal", "both")


# the NumPy reference


@st.composite
def any_call(draw):
    """Draw arguments: any lengths, heads and sizes, broadcasting batches, every shape of mask."""
    leads = draw(hnp.mutually_broadcastable_shapes(num_shapes=3, max_dims=2, max_side=3))
    tgt_len, src_len = draw(st.integers(0, 4)), draw(st.integers(0, 4))
    n_kv_heads, group, d_k = (draw(st.integers(1, 3)) for _ in range(3))
    n_heads, batch = n_kv_heads * group, leads.result_shape
    rng = np.random.default_rng(draw(st.integers(0, 10**6)))
    tensors = [
        torch.from_numpy(rng.standard_normal((*lead, length, n_heads * d_k)))
        for lead, length in zip(leads.input_shapes, (tgt_len, src_len, src_len), strict=True)
    ]
    of_each_head = draw(st.booleans())
    full = (*batch, n_heads, tgt_len, src_len) if of_each_head else (*batch, tgt_len, src_len)
    shape = [1 if draw(st.booleans()) else size for size in full]
    dropped = 0 if of_each_head else draw(st.integers(0, len(full) - 1))
    density = draw(st.sampled_from([0.0, 0.4, 0.8]))
    mask = rng.random(shape[dropped:]) < density if draw(st.booleans()) else None
    options = {"n_kv_heads": n_kv_heads, "bias": draw(st.booleans())}
    return tensors, n_heads, mask, options


@given(call=any_call(), need_weights=st.booleans())
def test_it_equals_numpy(call, need_weights):
    tensors, n_heads, mask, options = call
    module = heads_of(tensors[0].shape[-1], n_heads, **options)
    projections = [getattr(module, name) for name in PROJECTIONS]
    matrices = [p.weight.detach().numpy().T for p in projections]
    biases = [None if p.bias is None else p.bias.detach().numpy() for p in projections]
    named = dict(zip(("b_q", "b_k", "b_v", "b_o"), biases, strict=True))
    expected = reference.multi_head_attention(
        *(t.numpy() for t in tensors), *matrices, n_heads, mask, **named
    )
    mask = None if mask is None else torch.from_numpy(np.asarray(mask))
    output, weights = module(*tensors, mask, need_weights=need_weights)
    assert_close(output, torch.from_numpy(expected[0]))
    if need_weights:
        assert_close(weights, torch.from_numpy(expected[1]))
    else:
        assert weights is None


def test_it_is_not_causal_and_returns_no_weights_by_default():
    module, x = heads_of(), random(2, 5, 12)
    output, weights = module(x)
    assert weights is None
    assert_close(output, module(x, mask=torch.ones(5, 5, dtype=torch.bool))[0])
    assert not torch.allclose(output, module(x, is_causal=True)[0])


# grouped queries


def by_hand(module, query, key, value, *, bias=None, seen=None, turn=lambda x: x):
    """Compute the heads with PyTorch's attention, which itself groups the queries."""

    def split(x):
        return x.unflatten(-1, (-1, module.d_model // module.n_heads)).transpose(1, 2)

    query, key, value = (
        split(getattr(module, name)(x))
        for name, x in zip(PROJECTIONS, (query, key, value), strict=False)
    )
    added = None if bias is None else bias.to(query.dtype)
    if seen is not None:
        added = torch.zeros(seen.shape, dtype=query.dtype) if added is None else added
        added = added.masked_fill(~seen, -math.inf)
    attended = F.scaled_dot_product_attention(
        turn(query), turn(key), value, attn_mask=added, enable_gqa=True
    )
    return module.out_proj(attended.transpose(1, 2).flatten(-2))


@pytest.mark.pairwise
@both_paths
@precisions
@pytest.mark.parametrize("n_kv_heads", [1, 2, 4])
@pytest.mark.parametrize("is_causal", [False, True])
def test_neighbouring_heads_share_keys_and_values(
    is_causal, n_kv_heads, dtype, tolerance, need_weights
):
    module = heads_of(8, 4, dtype, n_kv_heads=n_kv_heads)
    tensors = [random(2, n, 8, dtype=dtype, seed=n).requires_grad_() for n in (5, 6, 6)]
    seen = random(2, 1, 5, 6, seed=3) > -1
    output, weights = module(*tensors, seen[:, 0], is_causal=is_causal, need_weights=need_weights)
    seen = seen & torch.ones(5, 6).tril(1).bool() if is_causal else seen
    expected = by_hand(module, *tensors, seen=seen)
    assert_close(output, expected, tolerance)
    of = [*tensors, *module.parameters()]
    for got, wanted in zip(gradients(output, of), gradients(expected, of), strict=True):
        assert_close(got, wanted, tolerance)
    assert weights is None or weights.shape == (2, 4, 5, 6)


def test_n_kv_heads_determines_the_size_of_the_projections():
    shapes = {
        n: [tuple(getattr(heads_of(12, 6, n_kv_heads=n), p).weight.shape) for p in PROJECTIONS]
        for n in (None, 6, 2, 1)
    }
    assert shapes[None] == shapes[6] == [(12, 12)] * 4
    assert shapes[2] == [(12, 12), (4, 12), (4, 12), (12, 12)]
    assert shapes[1] == [(12, 12), (2, 12), (2, 12), (12, 12)]
    assert heads_of(12, 6).n_kv_heads == 6 and heads_of(12, 6, n_kv_heads=2).n_kv_heads == 2


# positions


def turned(x, start=0):
    """Apply rotary positions as products of complex numbers."""
    seq_len, d_k = x.shape[-2:]
    speeds = 10000.0 ** (-torch.arange(0, d_k, 2, dtype=torch.float64) / d_k)
    angles = (torch.arange(seq_len, dtype=torch.float64) + start)[:, None] * speeds
    pairs = torch.view_as_complex(x.double().unflatten(-1, (-1, 2)).contiguous())
    return torch.view_as_real(pairs * torch.polar(torch.ones_like(angles), angles)).flatten(-2)


def distances(n_heads, tgt_len, src_len):
    """Compute ALiBi's bias for a power of two heads from the definition, one number at a time."""
    return torch.tensor(
        [
            [
                [
                    -(2.0 ** (-8 * (h + 1) / n_heads)) * abs(src_len - tgt_len + i - j)
                    for j in range(src_len)
                ]
                for i in range(tgt_len)
            ]
            for h in range(n_heads)
        ],
        dtype=torch.float64,
    )


@pytest.mark.pairwise
@both_paths
@precisions
@pytest.mark.parametrize("n_kv_heads", [4, 2])
@pytest.mark.parametrize("kind", ["none", "causal", "padding", "per head"])
@pytest.mark.parametrize("relative", ["rotary", "alibi"])
def test_relative_positions_equal_the_equation(
    relative, kind, n_kv_heads, dtype, tolerance, need_weights
):
    module = heads_of(16, 4, dtype, relative, n_kv_heads=n_kv_heads)
    x = random(2, 6, 16, dtype=dtype).requires_grad_()
    mask, is_causal = mask_of_kind(kind, 4, 6)
    output, _ = module(x, mask=mask, is_causal=is_causal, need_weights=need_weights)

    seen = torch.ones(2, 4, 6, 6, dtype=torch.bool)
    if mask is not None:
        seen = seen & (mask if kind == "per head" else mask[:, None])
    if is_causal:
        seen = seen.tril()
    if relative == "rotary":
        expected = by_hand(module, x, x, x, seen=seen, turn=lambda h: turned(h).to(dtype))
    else:
        bias = distances(4, 6, 6).expand(2, 4, 6, 6)
        expected = by_hand(module, x, x, x, bias=bias, seen=seen)
    assert_close(output, expected, tolerance)
    of = [x, *module.parameters()]
    for got, wanted in zip(gradients(output, of), gradients(expected, of), strict=True):
        assert_close(got, wanted, tolerance)


# a query whose keys are all masked


@both_paths
@relatives
def test_a_query_whose_keys_are_masked_gets_only_the_output_bias(relative, need_weights):
    module, x = heads_of(relative=relative), random(2, 4, 12).requires_grad_()
    mask = torch.ones(2, 4, 4, dtype=torch.bool)
    mask[0, 1] = mask[1] = False
    with torch.autograd.set_detect_anomaly(True):
        output, weights = module(x, mask=mask, need_weights=need_weights)
        dead = ~mask.any(dim=-1)
        assert torch.equal(output[dead], module.out_proj.bias.expand(5, 12))
        assert weights is None or not weights.transpose(1, 2)[dead].any()
        upstream = random(2, 4, 12, seed=9) * dead[..., None]
        of = [x, *module.q_proj.parameters(), *module.v_proj.parameters()]
        for gradient in torch.autograd.grad(output, of, upstream):
            assert not gradient.any()


@both_paths
def test_a_mask_of_as_many_axes_as_the_query_is_shared_by_all_heads(need_weights):
    """With three heads and three sequences only the number of axes distinguishes the two masks."""
    module, x = heads_of(), random(3, 4, 12)
    mask = random(3, 4, 4, seed=1) > -0.5
    shared, _ = module(x, mask=mask, need_weights=need_weights)
    assert_close(shared, module(x, mask=mask[:, None].expand(3, 3, 4, 4))[0])
    each, _ = module(x, mask=mask[None], need_weights=need_weights)
    assert_close(each, module(x, mask=mask.expand(3, 3, 4, 4))[0])
    assert (shared - each).abs().max() > 1e-2
    one, _ = module(x[0], mask=mask, need_weights=need_weights)
    assert_close(one, each[0])


# shapes


@both_paths
@relatives
def test_one_sequence_gives_the_same_output_as_in_a_batch(relative, need_weights):
    module, x = heads_of(relative=relative), random(2, 3, 4, 12)
    together, weights = module(x, is_causal=True, need_weights=need_weights)
    assert together.shape == (2, 3, 4, 12)
    assert weights is None or weights.shape == (2, 3, 3, 4, 4)
    for i, j in np.ndindex(2, 3):
        alone, alone_weights = module(x[i, j], is_causal=True, need_weights=need_weights)
        assert_close(alone, together[i, j])
        if need_weights:
            assert_close(alone_weights, weights[i, j])


@pytest.mark.pairwise
@both_paths
@relatives
@pytest.mark.parametrize("shape", [(0, 4, 12), (2, 0, 12), (0, 0, 12), (0, 12), (2, 0, 4, 12)])
def test_empty_batches_and_sequences_give_empty_outputs(shape, relative, need_weights):
    module = heads_of(relative=relative, n_kv_heads=1)
    output, weights = module(torch.ones(shape).double(), is_causal=True, need_weights=need_weights)
    assert output.shape == shape
    assert weights is None or weights.shape == (*shape[:-2], 3, shape[-2], shape[-2])


# dropout


@both_paths
@pytest.mark.parametrize("kind", ["none", "causal", "per head"])
def test_training_applies_dropout_to_the_weights_only(kind, need_weights):
    module, x = heads_of(8, 2, dropout=0.4, n_kv_heads=1), random(2, 5, 8)
    mask, is_causal = mask_of_kind(kind, 2, 5)
    options = {"mask": mask, "is_causal": is_causal}
    torch.manual_seed(3)
    output, returned = module(x, **options, need_weights=need_weights)

    weights = module.eval()(x, **options, need_weights=True)[1]
    torch.manual_seed(3)
    dropped = F.dropout(weights, 0.4)
    assert (dropped == 0).sum() > (weights == 0).sum()
    value = module.v_proj(x)[:, None]
    expected = module.out_proj((dropped @ value).transpose(1, 2).flatten(-2))
    assert_close(output, expected)
    if need_weights:
        assert torch.equal(returned, weights)


@both_paths
def test_evaluation_applies_no_dropout(need_weights):
    x = random(2, 5, 12)
    expected, _ = heads_of()(x, need_weights=need_weights)
    module = heads_of(dropout=0.9)
    assert not torch.equal(module(x, need_weights=need_weights)[0], expected)
    assert torch.equal(module.eval()(x, need_weights=need_weights)[0], expected)


# the module


def test_initialisation_and_number_of_parameters():
    torch.manual_seed(0)
    module = MultiHeadAttention(512, 8, n_kv_heads=2)
    for name in PROJECTIONS:
        projection = getattr(module, name)
        bound = math.sqrt(6 / sum(projection.weight.shape))
        assert bound * 0.999 < projection.weight.abs().max() <= bound
        assert_close(projection.weight.var().item(), bound**2 / 3, 0.02)
        assert not projection.bias.any()
    assert sum(p.numel() for p in module.parameters()) == 2 * 513 * 512 + 2 * 513 * 128
    # 512 x 64 for each of Q, K and V of eight heads, and W_O.
    without_bias = MultiHeadAttention(512, 8, bias=False)
    assert [p.numel() for p in without_bias.parameters()] == [262_144] * 4
    assert all(getattr(without_bias, name).bias is None for name in PROJECTIONS)
    assert {name for name, _ in without_bias.named_children()} == {*PROJECTIONS, "attention"}
    assert not list(without_bias.attention.parameters())


def test_it_runs_on_the_meta_device_and_under_vmap():
    x = random(3, 2, 5, 12)
    for relative in RELATIVE:
        module = heads_of(relative=relative)
        mapped = torch.vmap(lambda t, module=module: module(t, is_causal=True)[0])(x)
        assert_close(mapped, module(x, is_causal=True)[0])
        output, _ = module.to("meta")(torch.empty(2, 5, 12, device="meta"))
        assert output.shape == (2, 5, 12) and output.is_meta


@pytest.mark.slow
def test_it_compiles_with_memory_and_dropout():
    torch.compiler.reset()
    module, x, memory = heads_of(dropout=0.5), random(2, 5, 12), random(2, 6, 12, seed=1)
    outputs = []
    for run in (module, torch.compile(module, fullgraph=True, backend="eager")):
        torch.manual_seed(0)
        outputs.append(run(x, memory, memory * 2, padding_mask([6, 2], 6))[0])
    assert torch.equal(*outputs)


# errors


test_invalid_sizes_are_refused = refusals(
    ({"d_model": 0}, "d_model: expected at least 1, got 0$"),
    ({"d_model": 12.0}, "d_model: expected an integer, got 12.0$"),
    ({"n_heads": 0}, "n_heads: expected at least 1, got 0$"),
    ({"n_heads": "4"}, "n_heads: expected an integer, got '4'$"),
    ({"n_heads": 5}, "d_model: expected a multiple of n_heads = 5, got 12$"),
    ({"n_kv_heads": 0}, "n_kv_heads: expected at least 1, got 0$"),
    ({"n_kv_heads": 1.5}, "n_kv_heads: expected an integer, got 1.5$"),
    ({"n_kv_heads": 3}, "n_heads: expected a multiple of n_kv_heads = 3, got 4$"),
    ({"n_kv_heads": 8}, "n_heads: expected a multiple of n_kv_heads = 8, got 4$"),
    ({"dropout": 1}, r"dropout: expected a number in \[0, 1\), got 1$"),
    ({"dropout": -0.1}, r"dropout: expected a number in \[0, 1\), got -0.1$"),
    ({"dropout": "0.1"}, r"dropout: expected a number in \[0, 1\), got '0.1'$"),
    of=lambda change: MultiHeadAttention(**({"d_model": 12, "n_heads": 4} | change)),
)


def test_the_smallest_sizes_are_allowed():
    assert MultiHeadAttention(1, 1, n_kv_heads=1)(torch.ones(1, 1))[0].shape == (1, 1)


@both_paths
@pytest.mark.parametrize(
    "change, message",
    [
        ({"key": None}, "key: expected a tensor, since value is given, got None"),
        ({"query": (12,)}, r"query: expected shape \(..., length, 12\), got \(12,\)"),
        ({"key": (2, 6, 11)}, r"key: expected shape \(..., length, 12\), got \(2, 6, 11\)"),
        ({"value": (2, 6, 24)}, r"value: expected shape \(..., length, 12\), got \(2, 6, 24\)"),
        (
            {"value": (2, 5, 12)},
            r"value: expected shape \(..., 6, d_v\) to match key, got \(2, 5, 12\)",
        ),
        (
            {"key": (3, 6, 12)},
            r"key: expected batch dimensions that broadcast with \(2,\), got \(3,\)",
        ),
        ({"mask": (6,)}, r"mask: .* boolean array \(True = may attend\), got dtype torch.float32"),
        ({"mask": [[True] * 6] * 5}, r"mask: .* \(True = may attend\), got dtype list"),
    ],
)
def test_arguments_of_wrong_shapes_are_refused(change, message, need_weights):
    shapes = {"query": (2, 5, 12), "key": (2, 6, 12), "value": (2, 6, 12)} | change
    fit = {
        name: torch.ones(shape) if isinstance(shape, tuple) else shape
        for name, shape in shapes.items()
    }
    with pytest.raises(ValueError, match=f"^{message}$"):
        MultiHeadAttention(12, 3)(**fit, need_weights=need_weights)


@both_paths
@pytest.mark.parametrize(
    "shape, expected",
    [
        ((5,), (2, 4, 6)),
        ((3, 6), (2, 4, 6)),
        ((3, 4, 6), (2, 4, 6)),
        ((2, 2, 4, 6), (2, 3, 4, 6)),
        ((3, 1, 1, 6), (2, 3, 4, 6)),
        ((1, 2, 1, 4, 6), (2, 3, 4, 6)),
    ],
)
def test_masks_of_wrong_shapes_are_refused(shape, expected, need_weights):
    mask, got = torch.ones(shape, dtype=torch.bool), ", ".join(map(str, shape))
    message = (
        f"mask: expected a shape that broadcasts to {expected}, got ({got}{',' * (len(shape) < 2)})"
    )
    with pytest.raises(ValueError) as error:
        MultiHeadAttention(12, 3)(
            torch.ones(2, 4, 12), torch.ones(2, 6, 12), mask=mask, need_weights=need_weights
        )
    assert str(error.value) == message


@both_paths
@pytest.mark.parametrize("name", ["query", "key", "value"])
def test_an_input_with_nan_or_infinity_is_named(name, need_weights):
    tensors = {n: random(2, 4, 12) for n in ("query", "key", "value")}
    tensors[name][0, 0, 0] = math.nan
    with pytest.raises(ValueError, match=f"^{name}: expected finite numbers, got 12 NaN or infin"):
        heads_of()(**tensors, need_weights=need_weights)
