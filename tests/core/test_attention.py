"""attn.attention against PyTorch's unfused attention, the NumPy reference and closed forms."""

import math

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch.nn import functional as F
from torch.nn.attention import SDPBackend, sdpa_kernel

from attn import reference
from attn.attention import SelfAttention, scaled_dot_product_attention
from attn.masks import causal_mask, padding_mask
from tests.core.helpers import assert_close, gradients, random

both_paths = pytest.mark.parametrize("need_weights", [False, True], ids=["fused", "explicit"])
LENGTHS = {"square": (5, 5), "cache": (3, 6), "more queries": (6, 3)}
BATCHES = [(), (2,), (2, 3), (2, 1, 3)]
OVERFLOW = "^query, key, value: expected products that fit in torch.float32, got an overflow$"


def inputs(batch=(), tgt_len=5, src_len=5, d_k=8, d_v=8, dtype=torch.float64):
    """Return unsaturated inputs: scores have variance one, so that a missing scale shows."""
    sizes = ((tgt_len, d_k), (src_len, d_k), (src_len, d_v))
    return [
        random(*batch, *size, dtype=dtype, seed=seed).requires_grad_()
        for seed, size in enumerate(sizes)
    ]


def visible(tgt_len, src_len):
    """Return a causal mask, by counting positions from the end, without `attn.masks`."""
    back_i, back_j = torch.arange(tgt_len).flip(0), torch.arange(src_len).flip(0)
    return back_i[:, None] <= back_j[None, :]


def mask_of_kind(kind, batch, tgt_len, src_len):
    full = (*batch, tgt_len, src_len)
    return {
        "none": None,
        "random": random(*full, seed=3) > -0.5,
        "shared": random(tgt_len, src_len, seed=4) > -0.5,
        "padding": random(*batch, 1, src_len, seed=5) > 0,
        "one row": random(src_len, seed=6) > 0,
        "dead rows": (random(*full, seed=7) > -0.5) & (random(tgt_len, 1, seed=8) > 0),
        "all dead": torch.zeros(full, dtype=torch.bool),
    }[kind]


@pytest.mark.pairwise
@both_paths
@pytest.mark.parametrize("is_causal", [False, True])
@pytest.mark.parametrize("lengths", LENGTHS)
@pytest.mark.parametrize("batch", BATCHES)
@pytest.mark.parametrize(
    "kind", ["none", "random", "shared", "padding", "one row", "dead rows", "all dead"]
)
def test_outputs_and_gradients_equal_torch(kind, batch, lengths, is_causal, need_weights):
    tgt_len, src_len = LENGTHS[lengths]
    tensors = inputs(batch, tgt_len, src_len, d_v=8 if batch else 3)
    mask = mask_of_kind(kind, batch, tgt_len, src_len)
    output, weights = scaled_dot_product_attention(
        *tensors, mask, is_causal=is_causal, need_weights=need_weights
    )

    allowed = torch.ones(tgt_len, src_len, dtype=torch.bool) if mask is None else mask
    if is_causal:
        allowed = allowed & visible(tgt_len, src_len)
    allowed = allowed.expand(*batch, tgt_len, src_len)
    with sdpa_kernel(SDPBackend.MATH):
        expected = F.scaled_dot_product_attention(*tensors, attn_mask=allowed)
    assert_close(output, expected)
    actual = gradients(output, tensors)
    for got, wanted in zip(actual, gradients(expected, tensors), strict=True):
        assert_close(got, wanted)

    dead = ~allowed.any(dim=-1)
    assert (output[dead] == 0).all()
    assert (actual[0][dead] == 0).all()
    if need_weights:
        assert weights.shape == (*batch, tgt_len, src_len)
        assert (weights[~allowed] == 0).all()
        assert_close(weights.sum(dim=-1), (~dead).double())
    else:
        assert weights is None


@given(data=st.data())
def test_torch_equals_numpy(attention_inputs, data):
    *qkv, mask = data.draw(attention_inputs)
    expected = reference.scaled_dot_product_attention(*qkv, mask)
    tensors = [torch.from_numpy(a) for a in qkv]
    mask = None if mask is None else torch.from_numpy(np.asarray(mask))
    output, weights = scaled_dot_product_attention(*tensors, mask, need_weights=True)
    fused, _ = scaled_dot_product_attention(*tensors, mask)
    for actual, wanted in ((output, expected[0]), (weights, expected[1]), (fused, expected[0])):
        assert_close(actual, torch.from_numpy(wanted))


@both_paths
def test_no_step_of_the_gradient_is_nan(need_weights):
    """The anomaly mode of autograd stops at a NaN even if a later step would remove it."""
    tensors = inputs((2,))
    with torch.autograd.set_detect_anomaly(True):
        output, _ = scaled_dot_product_attention(
            *tensors, mask_of_kind("dead rows", (2,), 5, 5), need_weights=need_weights
        )
        gradients(output, tensors)


@pytest.mark.pairwise
@pytest.mark.parametrize("batch", [*BATCHES, (2, 2, 1, 2)])
@pytest.mark.parametrize("kind", ["none", "random", "shared", "padding", "one row"])
@pytest.mark.parametrize("is_causal", [False, True])
def test_without_weights_the_fused_kernel_runs(batch, kind, is_causal):
    """All other kernels are forbidden, so PyTorch raises RuntimeError unless the fused one runs."""
    tensors, mask = inputs(batch), mask_of_kind(kind, batch, 5, 5)
    tensors[1] = tensors[1][(0,) * len(batch)]
    with sdpa_kernel(SDPBackend.FLASH_ATTENTION):
        scaled_dot_product_attention(*tensors, mask, is_causal=is_causal)


@pytest.mark.parametrize(
    "shape, copies",
    [
        ((), 1),
        ((5,), 1),
        ((5, 5), 1),
        ((3, 5, 5), 1),
        ((1, 3, 1, 5), 1),
        ((1, 1, 3, 5, 5), 1),
        ((3, 1, 5, 5), 6),
        ((1, 3, 3, 1, 5), 6),
        ((2, 1, 1, 5, 5), 6),
    ],
    ids=str,
)
def test_a_mask_is_copied_for_each_sequence_only_where_they_differ(shape, copies, monkeypatch):
    kernel = F.scaled_dot_product_attention

    def watched(query, key, value, mask, **options):
        assert query.shape[:2] == (6, 3) and len(mask) == copies
        return kernel(query, key, value, mask, **options)

    monkeypatch.setattr(F, "scaled_dot_product_attention", watched)
    mask = torch.ones(shape, dtype=torch.bool)
    scaled_dot_product_attention(*inputs((2, 3, 3)), mask)
    scaled_dot_product_attention(*inputs((2, 3, 3)), bias=mask.double())


@both_paths
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64, torch.bfloat16])
@pytest.mark.parametrize("d_v", [16, 5])
def test_what_is_masked_changes_nothing_to_the_bit(dtype, d_v, need_weights):
    # 600 keys are two blocks of the fused kernel; in sequence 1 the whole first block is masked.
    query, key, value = inputs((2,), 40, 600, 16, d_v, dtype)
    mask = torch.ones(2, 40, 600, dtype=torch.bool)
    mask[0, :, 500:] = mask[1, :, :550] = mask[:, 7] = False

    def attend(key, value):
        output, weights = scaled_dot_product_attention(
            query, key, value, mask, need_weights=need_weights
        )
        return output, weights, *gradients(output, (query, key, value))

    before = attend(key, value)
    changed_key, changed_value = key.detach().clone(), value.detach().clone()
    for hidden in ((0, slice(500, None)), (1, slice(None, 550))):
        changed_key[hidden], changed_value[hidden] = 50, -1e20
        assert (before[3][hidden] == 0).all() and (before[4][hidden] == 0).all()
    after = attend(changed_key.requires_grad_(), changed_value.requires_grad_())
    for old, new in zip(before, after, strict=True):
        assert old is new is None or torch.equal(old, new)
    assert (before[0][:, 7] == 0).all() and (before[2][:, 7] == 0).all()


@both_paths
def test_the_future_changes_nothing_to_the_bit(need_weights):
    x = random(2, 700, 16, dtype=torch.float32)
    changed = x.clone()
    changed[:, 350:] = 9.0
    before, after = (
        scaled_dot_product_attention(q, q, q, is_causal=True, need_weights=need_weights)[0]
        for q in (x, changed)
    )
    assert torch.equal(before[:, :350], after[:, :350])
    assert not torch.equal(before[:, 350:], after[:, 350:])


@both_paths
def test_no_visible_score_is_lower_than_a_masked_one(need_weights):
    """A mask of a finite number such as -1e9 would exceed the visible score of -1e12."""
    query, key, value = torch.tensor([[1e6]]), torch.tensor([[-1e6], [0.0]]), torch.eye(2)[:, :1]
    mask = torch.tensor([True, False])
    output, _ = scaled_dot_product_attention(query, key, value, mask, need_weights=need_weights)
    assert output.tolist() == [[1.0]]


@both_paths
def test_large_scores_do_not_overflow(need_weights):
    x = 1e3 * torch.eye(4)
    output, _ = scaled_dot_product_attention(x, x, x, need_weights=need_weights)
    assert torch.equal(output, x)


@both_paths
@pytest.mark.parametrize("dtype, tolerance", [(torch.bfloat16, 0.02), (torch.float32, 1e-5)])
def test_low_precision_is_close_and_keeps_its_dtype(dtype, tolerance, need_weights):
    """bfloat16 has 8 bits of mantissa: a rounding errs by 0.4%, and values are near 1."""
    low = inputs((2, 3), 40, 60, 16, 16, dtype)
    high = [t.detach().double().requires_grad_() for t in low]
    mask = mask_of_kind("dead rows", (2, 3), 40, 60)
    output, weights = scaled_dot_product_attention(*low, mask, need_weights=need_weights)
    expected, _ = scaled_dot_product_attention(*high, mask, need_weights=True)
    assert output.dtype == dtype and (weights is None or weights.dtype == dtype)
    assert_close(output.double(), expected, tolerance)
    for actual, wanted in zip(gradients(output, low), gradients(expected, high), strict=True):
        assert_close(actual.double(), wanted, 2 * tolerance)


@pytest.mark.pairwise
@both_paths
@pytest.mark.parametrize("sizes", [(0, 4), (4, 0), (0, 0)])
@pytest.mark.parametrize("batch", [(), (0,), (2, 3)])
def test_empty_sequences_give_zeros_or_empty_outputs(sizes, batch, need_weights):
    output, weights = scaled_dot_product_attention(
        *inputs(batch, *sizes), is_causal=True, need_weights=need_weights
    )
    assert output.shape == (*batch, sizes[0], 8) and (output == 0).all()
    assert weights is None or weights.shape == (*batch, *sizes)


# a bias


BIASES = {
    "one number": (),
    "a number a key": (5,),
    "a number a query": (5, 1),
    "shared": (5, 5),
    "a batch of one": (1, 1, 5, 5),
    "a head": (3, 5, 5),
    "full": (2, 3, 5, 5),
}


def with_bias_by_hand(query, key, value, bias, allowed):
    scores = (query @ key.mT) / math.sqrt(query.shape[-1]) + bias
    exponentials = torch.where(allowed, scores, -math.inf).exp()
    total = exponentials.sum(dim=-1, keepdim=True)
    weights = exponentials / torch.where(total == 0, 1, total)
    return weights @ value, weights


@pytest.mark.pairwise
@both_paths
@pytest.mark.parametrize("is_causal", [False, True])
@pytest.mark.parametrize("kind", ["none", "random", "shared", "padding", "dead rows", "all dead"])
@pytest.mark.parametrize("shape", BIASES)
@pytest.mark.parametrize("learned", [False, True])
def test_a_bias_is_added_to_the_scores(learned, shape, kind, is_causal, need_weights):
    tensors, mask = inputs((2, 3)), mask_of_kind(kind, (2, 3), 5, 5)
    bias = random(*BIASES[shape], seed=10).requires_grad_(learned)
    output, weights = scaled_dot_product_attention(
        *tensors, mask, bias=bias, is_causal=is_causal, need_weights=need_weights
    )

    allowed = torch.ones(5, 5, dtype=torch.bool) if mask is None else mask
    allowed = allowed & visible(5, 5) if is_causal else allowed
    expected = with_bias_by_hand(*tensors, bias, allowed)
    assert_close(output, expected[0])
    if need_weights:
        assert_close(weights, expected[1])
    of = [*tensors, bias] if learned else tensors
    for got, wanted in zip(gradients(output, of), gradients(expected[0], of), strict=True):
        assert got.isfinite().all()
        assert_close(got, wanted)
    dead = ~allowed.expand(2, 3, 5, 5).any(dim=-1)
    assert (output[dead] == 0).all()


@both_paths
@pytest.mark.parametrize(
    "of_inputs, of_bias, tolerance",
    [
        (torch.float64, torch.float32, 1e-12),
        (torch.float32, torch.float64, 1e-6),
        (torch.bfloat16, torch.float32, 2e-2),
    ],
    ids=str,
)
def test_a_bias_may_have_another_precision(of_inputs, of_bias, tolerance, need_weights):
    """The output has the precision of the inputs, and is computed in the better of the two."""
    tensors = [x.detach().to(of_inputs) for x in inputs((2, 3))]
    bias = random(3, 5, 5, seed=10).to(of_bias)
    output, _ = scaled_dot_product_attention(*tensors, bias=bias, need_weights=need_weights)
    everything = torch.ones(5, 5, dtype=torch.bool)
    expected, _ = with_bias_by_hand(*(x.double() for x in (*tensors, bias)), everything)
    assert output.dtype == of_inputs
    torch.testing.assert_close(output.double(), expected, rtol=tolerance, atol=tolerance)


@both_paths
@pytest.mark.parametrize("lengths", ["cache", "more queries"])
def test_a_bias_and_a_causal_mask_of_unequal_lengths(lengths, need_weights):
    tgt_len, src_len = LENGTHS[lengths]
    tensors, bias = inputs((2,), tgt_len, src_len), random(2, tgt_len, src_len, seed=10)
    output, _ = scaled_dot_product_attention(
        *tensors, bias=bias, is_causal=True, need_weights=need_weights
    )
    assert_close(output, with_bias_by_hand(*tensors, bias, visible(tgt_len, src_len))[0])


@pytest.mark.parametrize("need_weights", [False, True])
@pytest.mark.parametrize("precision", [torch.bfloat16, torch.float32])
def test_autocast_rounds_no_bias(precision, need_weights):
    """Above 256, as ALiBi gives distant tokens, bfloat16 holds only every other integer."""
    tensors = [x.to(precision) for x in inputs((2, 3), 6, 6)]
    bias = 300 + random(3, 6, 6, seed=10).float()
    with torch.autocast(torch.get_default_device().type, torch.bfloat16):
        output, _ = scaled_dot_product_attention(*tensors, bias=bias, need_weights=need_weights)
    everything = torch.ones(6, 6, dtype=torch.bool)
    expected, _ = with_bias_by_hand(*(x.double() for x in (*tensors, bias)), everything)
    assert_close(output.double(), expected, tolerance=2e-2)


def test_autocast_takes_inputs_of_several_types():
    query, key, value = (x.float() for x in inputs((2,)))
    with torch.autocast(torch.get_default_device().type, torch.bfloat16):
        for need_weights in (False, True):
            output, _ = scaled_dot_product_attention(
                query.bfloat16(), key, value, need_weights=need_weights
            )
            expected, _ = scaled_dot_product_attention(query, key, value)
            assert_close(output.float(), expected.float(), tolerance=5e-2)


@pytest.mark.parametrize("device", ["cpu", "meta"])
@pytest.mark.parametrize("name", ["key", "value"])
def test_inputs_of_another_dtype_are_refused(name, device):
    tensors = dict(zip(("query", "key", "value"), inputs((2,)), strict=True))
    tensors = {n: t.to(device, torch.float32 if n == name else None) for n, t in tensors.items()}
    wanted = "dtype torch.float64 to match query, got dtype torch.float32"
    for need_weights in (False, True):
        with pytest.raises(ValueError, match=f"^{name}: expected {wanted}$"):
            scaled_dot_product_attention(**tensors, need_weights=need_weights)


@pytest.mark.pairwise
@pytest.mark.parametrize("shape", BIASES)
@pytest.mark.parametrize("kind", ["none", "random", "dead rows"])
@pytest.mark.parametrize("is_causal", [False, True])
def test_with_a_bias_the_fused_kernel_runs(is_causal, kind, shape):
    tensors, mask = inputs((2, 3)), mask_of_kind(kind, (2, 3), 5, 5)
    bias = random(*BIASES[shape], seed=10)
    with sdpa_kernel(SDPBackend.FLASH_ATTENTION):
        scaled_dot_product_attention(*tensors, mask, bias=bias, is_causal=is_causal)


def test_a_bias_that_needs_a_gradient_is_not_fused():
    """PyTorch's kernel computes no gradient of the bias, so the explicit path is taken."""
    bias = random(5, 5).requires_grad_()
    with (
        sdpa_kernel(SDPBackend.FLASH_ATTENTION),
        pytest.warns(UserWarning, match="not used"),
        pytest.raises(RuntimeError, match="No available kernel"),
    ):
        scaled_dot_product_attention(*inputs(), bias=bias)


@both_paths
def test_a_bias_of_masked_scores_changes_nothing(need_weights):
    tensors, mask = inputs((2,)), mask_of_kind("random", (2,), 5, 5)
    bias = random(2, 5, 5, seed=10)
    outputs = [
        scaled_dot_product_attention(*tensors, mask, bias=b, need_weights=need_weights)[0]
        for b in (bias, torch.where(mask, bias, 1e300))
    ]
    assert torch.equal(*outputs)


@pytest.mark.parametrize(
    "bias, message",
    [
        (torch.ones(5, 5).int(), "a floating-point tensor, got Tensor of dtype torch.int32"),
        (torch.ones(5, 5).bool(), "a floating-point tensor, got Tensor of dtype torch.bool"),
        (1.0, "a floating-point tensor, got float of dtype None"),
        (torch.ones(4), r"a shape that broadcasts to \(2, 5, 5\), got \(4,\)"),
        (torch.ones(3, 1, 1), r"a shape that broadcasts to \(2, 5, 5\), got \(3, 1, 1\)"),
        (torch.ones(2, 2, 5, 5), r"a shape that broadcasts to \(2, 5, 5\), got \(2, 2, 5, 5\)"),
    ],
)
def test_a_bias_of_a_wrong_shape_is_refused(bias, message):
    with pytest.raises(ValueError, match=f"^bias: expected {message}$"):
        scaled_dot_product_attention(*inputs((2,)), bias=bias)


# dropout


@pytest.mark.pairwise
@both_paths
@pytest.mark.parametrize("kind", ["none", "random", "dead rows"])
@pytest.mark.parametrize("is_causal", [False, True])
@pytest.mark.parametrize("with_bias", [False, True])
def test_dropout_drops_weights(with_bias, is_causal, kind, need_weights):
    tensors, mask = inputs((2, 3)), mask_of_kind(kind, (2, 3), 5, 5)
    options = {"bias": random(3, 5, 5, seed=10) if with_bias else None, "is_causal": is_causal}
    _, weights = scaled_dot_product_attention(*tensors, mask, **options, need_weights=True)
    torch.manual_seed(0)
    dropped = F.dropout(weights, 0.4)
    assert (dropped == 0).sum() > (weights == 0).sum()
    expected = dropped @ tensors[2]

    torch.manual_seed(0)
    output, returned = scaled_dot_product_attention(
        *tensors, mask, **options, need_weights=need_weights, dropout=0.4
    )
    assert_close(output, expected)
    for got, wanted in zip(gradients(output, tensors), gradients(expected, tensors), strict=True):
        assert_close(got, wanted)
    assert returned is None or torch.equal(returned, weights)


@both_paths
@pytest.mark.parametrize("dropout", [0.1, 0.7])
def test_dropout_drops_its_share_of_the_weights_and_keeps_the_mean(dropout, need_weights):
    """Weights are equal, and each value is one for one key only: the output shows the weights."""
    n = 64
    query, value = torch.zeros(20, n, n), torch.eye(n).expand(20, n, n)
    torch.manual_seed(0)
    output, _ = scaled_dot_product_attention(
        query, query, value, need_weights=need_weights, dropout=dropout
    )
    kept = output != 0
    assert_close(kept.float().mean().item(), 1 - dropout, 0.01)
    assert_close(output[kept], torch.tensor(1 / n / (1 - dropout)).expand(kept.sum()), 1e-5)


@both_paths
@pytest.mark.parametrize("dropout", [1, 1.0, -0.1, math.nan, "0.1", None])
def test_dropout_outside_zero_to_one_is_refused(dropout, need_weights):
    with pytest.raises(ValueError) as error:
        scaled_dot_product_attention(*inputs(), need_weights=need_weights, dropout=dropout)
    assert str(error.value) == f"dropout: expected a number in [0, 1), got {dropout!r}"


# errors


@pytest.mark.pairwise
@both_paths
@pytest.mark.parametrize("src_len", [1, 4, 5, 16, 600])
@pytest.mark.parametrize("name", ["query", "key", "value", "bias"])
@pytest.mark.parametrize("bad", [math.nan, math.inf, -math.inf])
@pytest.mark.parametrize("dtype", [torch.float64, torch.bfloat16])
@pytest.mark.parametrize("masked", [False, True])
def test_an_input_with_nan_or_infinity_is_named_at_any_length(
    masked, dtype, bad, name, src_len, need_weights
):
    """PyTorch's kernel treats some NaN scores as masked, so its output can be finite."""
    mask = torch.arange(src_len) > 0 if masked else None
    tensors = [t.detach() for t in inputs((2,), 3, src_len, dtype=dtype)]
    named = dict(zip(("query", "key", "value"), tensors, strict=True))
    named["bias"] = random(3, src_len, seed=10).to(dtype)
    named[name].view(-1)[0] = bad
    with pytest.raises(ValueError, match=f"^{name}: expected finite numbers, got 1 NaN or infin"):
        scaled_dot_product_attention(**named, mask=mask, need_weights=need_weights)


@both_paths
def test_overflow_is_not_blamed_on_an_input(need_weights):
    x = torch.full((2, 4), 1e30)
    with pytest.raises(ValueError, match=OVERFLOW):
        scaled_dot_product_attention(x, x, x, need_weights=need_weights)


@both_paths
def test_dropout_that_makes_values_overflow_is_not_blamed_on_an_input(need_weights):
    query, value = torch.zeros(8, 4), torch.full((1, 4), 3e38)
    torch.manual_seed(0)
    with pytest.raises(ValueError, match=OVERFLOW):
        scaled_dot_product_attention(
            query, query[:1], value, need_weights=need_weights, dropout=0.5
        )


def test_a_score_of_minus_infinity_counts_as_masked_unless_weights_are_needed():
    query, key = torch.tensor([[1e30, 0.0]]), torch.tensor([[-1e30, 0.0], [1.0, 0.0]])
    value = torch.tensor([[5.0, 5.0], [6.0, 7.0]])
    assert scaled_dot_product_attention(query, key, value)[0].tolist() == [[6.0, 7.0]]
    with pytest.raises(ValueError, match=OVERFLOW):
        scaled_dot_product_attention(query, key, value, need_weights=True)


@both_paths
def test_zero_outputs_and_large_inputs_without_overflow_are_allowed(need_weights):
    query, key = torch.full((2, 4), 1e25), torch.full((3, 4), 1e-25)
    output, _ = scaled_dot_product_attention(query, key, key * 0, need_weights=need_weights)
    assert torch.equal(output, torch.zeros(2, 4))


def test_float16_overflows_in_the_explicit_path_only():
    query, value = torch.full((2, 4), 300.0).half(), random(2, 4).half()
    output, _ = scaled_dot_product_attention(query, -query, value)
    assert_close(output, value.mean(dim=0).expand(2, 4), 1e-3)
    with pytest.raises(ValueError, match="^query, key, value: .* fit in torch.float16, got an ov"):
        scaled_dot_product_attention(query, -query, value, need_weights=True)


def test_finite_outputs_with_an_infinite_sum_are_allowed():
    x = torch.full((2, 4), 1e38)
    output, _ = scaled_dot_product_attention(torch.zeros(2, 4), torch.zeros(2, 4), x)
    assert_close(output, x, 1e-6)


@pytest.mark.parametrize(
    "change, message",
    [
        ({"query": np.ones((2, 3))}, "query: expected a floating-point tensor, got ndarray of"),
        ({"key": torch.ones(2, 3).int()}, "key: .* tensor, got Tensor of dtype torch.int32"),
        ({"value": [[1.0]]}, "value: expected a floating-point tensor, got list of dtype None"),
        ({"mask": torch.ones(2, 2)}, r"mask: .*\(True = may attend\), got dtype torch.float32"),
        ({"mask": [[True]]}, "mask: expected a boolean array .*, got dtype list"),
        ({"mask": np.array([[True]])}, "mask: expected a tensor of bool, got ndarray"),
        (
            {"mask": torch.ones(3, 2).bool()},
            r"mask: expected a shape that broadcasts to \(2, 2\), got \(3, 2\)",
        ),
        (
            {"mask": torch.ones(2, 1, 2, 2).bool()},
            r"mask: expected a shape that broadcasts to \(2, 2\), got \(2, 1, 2, 2\)",
        ),
        (
            {"key": torch.ones(4, 2, 5)},
            r"key: expected shape \(..., src_len, 3\) to match query, got \(4, 2, 5\)",
        ),
        ({"value": torch.ones(3, 3)}, r"value: expected shape \(..., 2, d_v\) to match key"),
    ],
)
def test_arguments_of_wrong_shapes_are_refused(change, message):
    fit = {name: torch.ones(2, 3) for name in ("query", "key", "value")}
    with pytest.raises(ValueError, match=f"^{message}"):
        scaled_dot_product_attention(**(fit | change))


@pytest.mark.parametrize(
    "change, message",
    [
        *(
            ({name: shape[1:]}, rf"{name}: .* \(..., n_heads, length, d_k\) for enable_gqa, got")
            for name, shape in {"query": (4, 5, 8), "key": (2, 6, 8), "value": (2, 6, 3)}.items()
        ),
        ({"query": (3, 5, 8)}, "n_heads: expected a multiple of n_kv_heads = 2, got 3$"),
        ({"key": (0, 6, 8), "value": (0, 6, 8)}, "n_kv_heads: expected at least 1, got 0$"),
    ],
)
def test_grouped_queries_need_a_divisible_number_of_heads(change, message):
    shapes = {"query": (4, 5, 8), "key": (2, 6, 8), "value": (2, 6, 3)} | change
    with pytest.raises(ValueError, match=f"^{message}"):
        scaled_dot_product_attention(
            **{name: torch.ones(shape) for name, shape in shapes.items()}, enable_gqa=True
        )


# rows whose keys are all masked


def bounded(hidden):
    """Return a stand-in for PyTorch's function that sets masked scores to `hidden`.

    Of the lowest number, a row that sees nothing becomes a mean of all values, as in cuDNN; of
    minus infinity, NaN, as in an exported graph.
    """

    def kernel(query, key, value, mask=None, *, dropout_p, is_causal, enable_gqa):
        assert not dropout_p and not enable_gqa
        scores = query @ key.mT / math.sqrt(query.shape[-1])
        if is_causal:
            mask = torch.ones(scores.shape[-2:], dtype=torch.bool).tril()
        if mask is not None and mask.dtype == torch.bool:
            scores = scores.masked_fill(~mask, hidden)
        elif mask is not None:
            scores = (scores + mask).clamp(min=hidden)
        return scores.softmax(dim=-1) @ value

    return kernel


BLIND = {
    "no key for some": lambda: random(3, 6, 6, seed=3) > 1,
    "padding on the left": lambda: padding_mask([6, 4, 0], 6).flip(-1),
    "one row for all": lambda: torch.zeros(6, dtype=torch.bool),
    "more queries than keys": lambda: None,
}


@pytest.mark.pairwise
@pytest.mark.parametrize("hidden", [-1e300, -math.inf], ids=["mean", "nan"])
@pytest.mark.parametrize("run", ["eager", "compiled", "vmap"])
@pytest.mark.parametrize("with_bias", [False, True])
@pytest.mark.parametrize("kind", BLIND)
def test_a_row_that_sees_nothing_is_zero_whatever_the_kernel(
    kind, with_bias, run, hidden, monkeypatch
):
    """The output of such a row and its contribution to the gradients are zero."""
    tensors = inputs((3,), 6, 4 if kind == "more queries than keys" else 6)
    mask = BLIND[kind]()
    bias = random(6, tensors[1].shape[-2], seed=5) if with_bias else None
    may_see = visible(6, tensors[1].shape[-2]) & (True if mask is None else mask)

    def attend(query, key, value, mask, need_weights=False):
        return scaled_dot_product_attention(
            query, key, value, mask, bias=bias, is_causal=True, need_weights=need_weights
        )[0]

    expected = attend(*tensors, mask, need_weights=True)
    monkeypatch.setattr(F, "scaled_dot_product_attention", bounded(hidden))
    if run == "compiled":
        torch.compiler.reset()
        output = torch.compile(attend, backend="eager", fullgraph=True)(*tensors, mask)
    elif run == "vmap":
        of_all = mask is None or mask.ndim < 3
        output = torch.vmap(attend, in_dims=(0, 0, 0, None if of_all else 0))(*tensors, mask)
    else:
        output = attend(*tensors, mask)
    blind = ~may_see.any(dim=-1).expand(3, 6)
    assert blind.any() and not output[blind].any()
    assert_close(output, expected)
    found = gradients(output, tensors)
    assert not found[0][blind].any()
    assert_close(found, gradients(expected, tensors))


def test_where_every_row_sees_something_the_output_is_the_kernel_s_own(monkeypatch):
    outputs, kernel = [], F.scaled_dot_product_attention

    def kept(*args, **options):
        outputs.append(kernel(*args, **options))
        return outputs[-1]

    monkeypatch.setattr(F, "scaled_dot_product_attention", kept)
    for mask in (None, visible(5, 5), padding_mask([5, 2], 5)[:, None]):
        output, _ = scaled_dot_product_attention(*inputs((2, 3)), mask, is_causal=True)
        assert output.data_ptr() == outputs.pop().data_ptr()


# contexts in which values cannot be read


@pytest.mark.slow
@both_paths
def test_it_compiles_into_one_graph(need_weights):
    compiled = torch.compile(scaled_dot_product_attention, fullgraph=True, backend="eager")
    query, key, value = inputs((2,), 3, 6)
    mask = padding_mask([6, 4], 6)
    # In the last case, values and mask differ between sequences and the scores do not.
    for arguments in (
        (query, key, value, mask),
        (query, key, value),
        (query[0], key[0], value, mask),
    ):
        options = {"is_causal": True, "need_weights": need_weights}
        expected, _ = scaled_dot_product_attention(*arguments, **options)
        assert torch.equal(compiled(*arguments, **options)[0], expected)


@both_paths
@pytest.mark.parametrize("with_mask", [False, True])
@pytest.mark.parametrize("with_bias", [False, True])
def test_it_runs_on_the_meta_device(with_bias, with_mask, need_weights):
    """Tensors that attention makes are on the inputs' device, so a mask or bias cannot differ."""
    x = torch.empty(2, 5, 8, device="meta")
    output, weights = scaled_dot_product_attention(
        x,
        x,
        x,
        torch.empty(5, 5, dtype=torch.bool, device="meta") if with_mask else None,
        bias=torch.empty(5, 5, device="meta") if with_bias else None,
        is_causal=True,
        need_weights=need_weights,
    )
    assert output.is_meta and output.shape == (2, 5, 8)
    assert weights is None or weights.is_meta and weights.shape == (2, 5, 5)


@both_paths
@pytest.mark.parametrize("mapped", ["mask", "query", "bias", "mask and value"])
def test_vmap_over_any_single_argument(mapped, need_weights):
    given = {name: random(2, 5, 8, seed=i) for i, name in enumerate(("query", "key", "value"))}
    given |= {"mask": random(5, 5, seed=4) > 0, "bias": random(5, 5, seed=5)}
    several = {
        name: torch.stack((given[name], given[name].flip(-2))) for name in mapped.split(" and ")
    }

    def attend(several):
        return scaled_dot_product_attention(**given | several, need_weights=need_weights)[0]

    expected = [attend({name: x[i] for name, x in several.items()}) for i in range(2)]
    assert_close(torch.vmap(attend)(several), torch.stack(expected))


# the module SelfAttention


@both_paths
def test_self_attention_equals_the_reference_with_the_same_matrices(need_weights):
    torch.manual_seed(0)
    module, x = SelfAttention(6, d_k=4, d_v=3).double(), random(2, 5, 6)
    mask = padding_mask([5, 2], 5) & causal_mask(5)
    matrices = [p.weight.detach().numpy().T for p in (module.q_proj, module.k_proj, module.v_proj)]
    expected = reference.self_attention(x.numpy(), *matrices, mask.numpy())
    output, weights = module(x, mask, need_weights=need_weights)
    assert_close(output, torch.from_numpy(expected[0]))
    if need_weights:
        assert_close(weights, torch.from_numpy(expected[1]))
    padding_only, _ = module(x, padding_mask([5, 2], 5), is_causal=True)
    assert_close(padding_only, output)


def test_self_attention_is_not_causal_and_returns_no_weights_by_default():
    module, x = SelfAttention(6).double(), random(2, 5, 6)
    output, weights = module(x)
    assert weights is None
    assert_close(output, module(x, visible(5, 5) | True)[0])
    assert not torch.allclose(output, module(x, is_causal=True)[0])


def test_self_attention_sizes_and_bias():
    names = {name: tuple(p.shape) for name, p in SelfAttention(6, 4, bias=True).named_parameters()}
    assert names["q_proj.weight"] == names["k_proj.weight"] == names["v_proj.weight"] == (4, 6)
    assert names["q_proj.bias"] == names["k_proj.bias"] == names["v_proj.bias"] == (4,)
    assert [tuple(p.shape) for p in SelfAttention(6).parameters()] == [(6, 6)] * 3
    assert SelfAttention(6, 4, 2).v_proj.weight.shape == (2, 6)


@pytest.mark.parametrize("name", ["d_model", "d_k", "d_v"])
def test_self_attention_refuses_sizes(name):
    with pytest.raises(ValueError, match=f"^{name}: expected at least 1, got 0$"):
        SelfAttention(**({"d_model": 4} | {name: 0}))
    with pytest.raises(ValueError, match=f"^{name}: expected an integer, got 2.0$"):
        SelfAttention(**({"d_model": 4} | {name: 2.0}))


@pytest.mark.parametrize("shape", [(5,), (2, 5, 7)])
def test_self_attention_refuses_wrong_shapes(shape):
    with pytest.raises(ValueError, match=r"^x: expected shape \(..., seq_len, 6\), got \("):
        SelfAttention(6)(torch.ones(shape))


@pytest.mark.parametrize("start, moved", [(0, False), (16, False), (1, True), (7, True)])
def test_an_unaligned_view_of_a_bias_is_copied_off_the_cpu(monkeypatch, start, moved):
    """A GPU reads the bias 16 bytes at a time, and fails at an unaligned address."""
    seen = []

    def kernel(query, key, value, mask, **options):
        seen.append(mask)
        return query

    monkeypatch.setattr("attn.attention.scaled_dot_product.F.scaled_dot_product_attention", kernel)
    query = torch.zeros(1, 2, 4, 8, device="meta")
    bias = torch.zeros(1, 2, 4, 32, device="meta")[..., start : start + 4]
    scaled_dot_product_attention(query, query, query, bias=bias)
    assert seen[0].storage_offset() == (0 if moved else start)
    assert seen[0].shape == bias.shape
