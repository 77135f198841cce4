"""attn.reference's layers against PyTorch's own, with the same weights, in float64."""

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from torch import nn
from torch.nn import functional as F

from attn.reference import (
    causal_mask,
    decoder_layer,
    encoder_layer,
    feed_forward,
    layer_norm,
    multi_head_attention,
    padding_mask,
)
from tests.core.helpers import refuses

D_MODEL, D_FF, N_HEADS, TGT_LEN, SRC_LEN = 8, 20, 2, 4, 5


def random(*shape, seed=0):
    return np.random.default_rng([seed, *shape]).standard_normal(shape)


def close(actual, expected, tolerance=1e-10):
    np.testing.assert_allclose(actual, expected, rtol=tolerance, atol=tolerance, strict=True)


# layer norm


@given(
    shape=hnp.array_shapes(min_dims=1, max_dims=4, min_side=0, max_side=6).filter(lambda s: s[-1]),
    scale=st.sampled_from([1e-3, 1.0, 1e3]),
    eps=st.sampled_from([1e-12, 1e-5, 0.1]),
    has_gain=st.booleans(),
    has_bias=st.booleans(),
)
def test_layer_norm_equals_torch(shape, scale, eps, has_gain, has_bias):
    x = scale * (random(*shape) + 3)
    gain = random(shape[-1], seed=1) if has_gain else None
    bias = random(shape[-1], seed=2) if has_bias else None
    theirs = (None if a is None else torch.tensor(a) for a in (gain, bias))
    expected = F.layer_norm(torch.tensor(x), shape[-1:], *theirs, eps)
    close(layer_norm(x, gain, bias, eps), expected.numpy(), 1e-9)


def test_layer_norm_with_its_defaults():
    """So small a variance, 1e-6, that another eps would show."""
    x = np.array([[1e-3, -1e-3], [2.0, 2.0]])
    close(layer_norm(x), np.array([[1, -1], [0, 0]]) * 1e-3 / np.sqrt(1.1e-5), 1e-14)
    module = nn.LayerNorm(2, dtype=torch.float64)
    close(layer_norm(x), module(torch.tensor(x)).detach().numpy(), 1e-14)


def test_layer_norm_keeps_float32_and_computes_integers_in_float64():
    for dtype, expected in ((int, np.float64), (np.float32, np.float32), (np.float16, np.float16)):
        x = np.array([[1, 2], [3, 5]], dtype)
        assert layer_norm(x).dtype == layer_norm(x, x[0], x[1]).dtype == expected
    assert layer_norm([1, 3]).round(3).tolist() == [-1, 1]


@pytest.mark.parametrize(
    "arguments, message",
    [
        ({"x": 1.0}, r"x: expected shape \(..., d_model\) with d_model of at least 1, got \(\)"),
        ({"x": np.ones((3, 0))}, r"x: .* with d_model of at least 1, got \(3, 0\)"),
        ({"x": [1.0, np.nan]}, "x: expected finite numbers, got 1 NaN or infinite"),
        ({"x": [True, False]}, "x: expected real numbers, got dtype bool"),
        ({"x": [1e200, -1e200]}, "x: expected products that fit in float64, got an overflow"),
        ({"x": [1.0, 2.0], "gain": [1.0]}, r"gain: expected shape \(2,\) to match x, got \(1,\)"),
        ({"x": [1.0, 2.0], "bias": [[0.0, 0.0]]}, r"bias: .* \(2,\) to match x, got \(1, 2\)"),
        (
            {"x": [1.0, 2.0], "gain": [1.0, np.inf]},
            "gain: expected finite numbers, got 1 NaN or .*",
        ),
        (
            {"x": [1.0, 2.0], "bias": [np.nan, 1.0]},
            "bias: expected finite numbers, got 1 NaN or .*",
        ),
        ({"x": [1.0, 2.0], "eps": 0}, "eps: expected a positive number, got 0"),
        ({"x": [1.0, 2.0], "eps": -1e-5}, "eps: expected a positive number, got -1e-05"),
        ({"x": [1.0, 2.0], "eps": np.inf}, "eps: expected a positive number, got inf"),
        ({"x": [1.0, 2.0], "eps": np.nan}, "eps: expected a positive number, got nan"),
    ],
)
@pytest.mark.filterwarnings("ignore:overflow encountered in square:RuntimeWarning")
def test_layer_norm_refuses(arguments, message):
    with pytest.raises(ValueError, match=f"^{message}$"):
        layer_norm(**arguments)


# feed-forward


@given(
    batch=hnp.array_shapes(min_dims=0, max_dims=3, min_side=0, max_side=4),
    sizes=st.tuples(*[st.integers(1, 6)] * 3),
)
def test_feed_forward_equals_torch(batch, sizes):
    d_in, d_ff, d_out = sizes
    arrays = [random(*batch, d_in), random(d_in, d_ff), random(d_ff), random(d_ff, d_out)]
    arrays.append(random(d_out, seed=1))
    x, w_1, b_1, w_2, b_2 = map(torch.tensor, arrays)
    expected = F.linear(F.relu(F.linear(x, w_1.T, b_1)), w_2.T, b_2)
    close(feed_forward(*arrays), expected.numpy())


def test_feed_forward_without_bias_and_its_dtypes():
    x, w_1, w_2 = random(3, 4), random(4, 6), random(6, 4)
    close(feed_forward(x, w_1, None, w_2, None), np.maximum(x @ w_1, 0) @ w_2)
    x, w_1, w_2 = (a.astype(np.float32) for a in (x, w_1, w_2))
    assert feed_forward(x, w_1, w_1[0], w_2, w_2[0]).dtype == np.float32


@pytest.mark.parametrize(
    "name, shape, message",
    [
        ("x", (), r"shape \(..., d_in\), got \(\)"),
        ("w_1", (5, 6), r"shape \(4, d_out\) to match x, got \(5, 6\)"),
        ("b_1", (4,), r"shape \(6,\) to match w_1, got \(4,\)"),
        ("w_2", (5, 4), r"shape \(6, d_out\) to match hidden, got \(5, 4\)"),
        ("b_2", (1, 4), r"shape \(4,\) to match w_2, got \(1, 4\)"),
    ],
)
def test_feed_forward_shapes_that_do_not_fit(name, shape, message):
    shapes = {"x": (3, 4), "w_1": (4, 6), "b_1": (6,), "w_2": (6, 4), "b_2": (4,)}
    arrays = {n: random(*s) for n, s in (shapes | {name: shape}).items()}
    with pytest.raises(ValueError, match=f"^{name}: expected {message}$"):
        feed_forward(**arrays)


@pytest.mark.parametrize("name", ["x", "w_1", "b_1", "w_2", "b_2"])
def test_feed_forward_names_what_is_not_finite(name):
    arrays = {"x": [1.0], "w_1": [[1.0]], "b_1": [1.0], "w_2": [[1.0]], "b_2": [1.0]}
    arrays[name] = np.asarray(arrays[name]) * np.nan
    with pytest.raises(
        ValueError, match=f"^{name}: expected finite numbers, got 1 NaN or infinite$"
    ):
        feed_forward(**arrays)


@pytest.mark.filterwarnings("ignore:overflow encountered in matmul:RuntimeWarning")
@pytest.mark.parametrize("huge, blamed", [("w_1", "x, w_1"), ("w_2", "hidden, w_2")])
def test_feed_forward_refuses_what_overflows(huge, blamed):
    arrays = {"x": [1e200], "w_1": [[1.0]], "b_1": [0.0], "w_2": [[1.0]], "b_2": [0.0]}
    arrays[huge] = [[1e200]]
    message = f"^{blamed}: expected products that fit in float64, got an overflow$"
    with pytest.raises(ValueError, match=message):
        feed_forward(**arrays)


# layers


def attention_arrays(module):
    weights = (*module.in_proj_weight.chunk(3), module.out_proj.weight)
    biases = (*module.in_proj_bias.chunk(3), module.out_proj.bias)
    names = "qkvo"
    arrays = {f"w_{n}": w.detach().numpy().T for n, w in zip(names, weights, strict=True)}
    return arrays | {f"b_{n}": b.detach().numpy() for n, b in zip(names, biases, strict=True)}


def linear_arrays(module, n):
    return {f"w_{n}": module.weight.detach().numpy().T, f"b_{n}": module.bias.detach().numpy()}


def parameters_of(layer):
    parameters = {
        "self_attention": attention_arrays(layer.self_attn),
        "feed_forward": linear_arrays(layer.linear1, 1) | linear_arrays(layer.linear2, 2),
    }
    norms = [layer.norm1, layer.norm2]
    if isinstance(layer, nn.TransformerDecoderLayer):
        parameters["cross_attention"] = attention_arrays(layer.multihead_attn)
        norms.append(layer.norm3)
    for number, norm in enumerate(norms, start=1):
        arrays = {"gain": norm.weight.detach().numpy(), "bias": norm.bias.detach().numpy()}
        parameters[f"norm_{number}"] = arrays
    return parameters


def torch_layer(kind, norm):
    torch.manual_seed(0)
    layer = kind(
        D_MODEL,
        N_HEADS,
        D_FF,
        dropout=0.0,
        batch_first=True,
        norm_first=norm == "pre",
        dtype=torch.float64,
    )
    # Different numbers everywhere: PyTorch starts with ones and zeros that would hide mistakes.
    with torch.no_grad():
        for parameter in layer.parameters():
            parameter += 0.3 * torch.randn_like(parameter)
    return layer


SELF_MASKS = {
    "none": None,
    "causal": causal_mask(TGT_LEN),
    "padding": padding_mask([4, 2], TGT_LEN),
    "padding and causal": padding_mask([4, 2], TGT_LEN) & causal_mask(TGT_LEN),
    "per head": (random(2, N_HEADS, TGT_LEN, TGT_LEN) > 0) | np.eye(TGT_LEN, dtype=bool),
}
MEMORY_MASKS = {
    "none": None,
    "padding": padding_mask([3, 5], SRC_LEN),
    "per head": random(2, N_HEADS, TGT_LEN, SRC_LEN, seed=2) > -0.6,
}


def for_torch(mask, shape):
    """Turn a mask into PyTorch's: one for each head of each sequence, True = ignore."""
    if mask is None:
        return None
    mask = mask if mask.ndim == 4 else np.expand_dims(mask, -3)
    full = np.broadcast_to(mask, (2, N_HEADS, *shape))
    assert full.any(axis=-1).all(), "PyTorch would answer NaN"
    return ~torch.tensor(full).flatten(0, 1)


@pytest.mark.parametrize("norm", ["post", "pre"])
@pytest.mark.parametrize("kind", SELF_MASKS)
def test_the_encoder_layer_equals_torch(kind, norm):
    layer, x = torch_layer(nn.TransformerEncoderLayer, norm), random(2, 4, 8)
    mask = SELF_MASKS[kind]
    expected = layer(torch.tensor(x), src_mask=for_torch(mask, (TGT_LEN, TGT_LEN)))
    actual = encoder_layer(x, parameters_of(layer), N_HEADS, mask, norm)
    close(actual, expected.detach().numpy())


@pytest.mark.pairwise
@pytest.mark.parametrize("norm", ["post", "pre"])
@pytest.mark.parametrize("memory_kind", MEMORY_MASKS)
@pytest.mark.parametrize("kind", SELF_MASKS)
def test_the_decoder_layer_equals_torch(kind, memory_kind, norm):
    layer = torch_layer(nn.TransformerDecoderLayer, norm)
    x, memory = random(2, TGT_LEN, D_MODEL), random(2, SRC_LEN, D_MODEL)
    mask, memory_mask = SELF_MASKS[kind], MEMORY_MASKS[memory_kind]
    expected = layer(
        torch.tensor(x),
        torch.tensor(memory),
        tgt_mask=for_torch(mask, (TGT_LEN, TGT_LEN)),
        memory_mask=for_torch(memory_mask, (TGT_LEN, SRC_LEN)),
    )
    actual = decoder_layer(x, memory, parameters_of(layer), N_HEADS, mask, memory_mask, norm)
    close(actual, expected.detach().numpy())


def test_the_paper_normalises_after_the_sum():
    """The default is the paper's, in both layers."""
    encoder = parameters_of(torch_layer(nn.TransformerEncoderLayer, "post"))
    decoder = parameters_of(torch_layer(nn.TransformerDecoderLayer, "post"))
    x, memory = random(4, 8), random(5, 8)
    layers = (
        lambda **norm: encoder_layer(x, encoder, 2, **norm),
        lambda **norm: decoder_layer(x, memory, decoder, 2, **norm),
    )
    for layer in layers:
        assert np.array_equal(layer(), layer(norm="post"))
        assert abs(layer() - layer(norm="pre")).max() > 0.1


def test_layers_share_their_parameters_over_any_batch():
    encoder = parameters_of(torch_layer(nn.TransformerEncoderLayer, "pre"))
    decoder = parameters_of(torch_layer(nn.TransformerDecoderLayer, "pre"))
    x, memory = random(2, 3, 4, 8), random(2, 3, 5, 8)
    encoded, decoded = encoder_layer(x, encoder, 2), decoder_layer(x, memory, decoder, 2)
    for i in np.ndindex(2, 3):
        close(encoded[i], encoder_layer(x[i], encoder, 2), 1e-12)
        close(decoded[i], decoder_layer(x[i], memory[i], decoder, 2), 1e-12)


def test_grouped_queries_and_no_biases_in_a_layer():
    parameters = encoder_parameters()
    attention = {"w_q": random(8, 8), "w_k": random(8, 4), "w_v": random(8, 4), "w_o": random(8, 8)}
    parameters["self_attention"] = attention
    x = random(3, 8)
    attended = multi_head_attention(x, x, x, **attention, n_heads=2)[0]
    x_1 = layer_norm(x + attended, **parameters["norm_1"])
    expected = layer_norm(
        x_1 + feed_forward(x_1, **parameters["feed_forward"]), **parameters["norm_2"]
    )
    close(encoder_layer(x, parameters, 2), expected, 1e-12)


@pytest.mark.parametrize("norm", ["post", "pre"])
@pytest.mark.parametrize("batch", [(), (0,), (2,)])
def test_empty_sequences(batch, norm):
    encoder, decoder = encoder_parameters(), decoder_parameters()
    nothing, x = random(*batch, 0, 8), random(*batch, 3, 8)
    assert encoder_layer(nothing, encoder, 2, norm=norm).shape == (*batch, 0, 8)
    assert decoder_layer(nothing, x, decoder, 2, norm=norm).shape == (*batch, 0, 8)
    hidden = np.zeros((3, 1), bool)
    close(
        decoder_layer(x, nothing, decoder, 2, norm=norm),
        decoder_layer(x, x, decoder, 2, memory_mask=hidden, norm=norm),
    )


def test_float32_stays():
    encoder, decoder = encoder_parameters(), decoder_parameters()
    for parameters in (encoder, decoder):
        for arrays in parameters.values():
            arrays |= {name: array.astype(np.float32) for name, array in arrays.items()}
    x = random(3, 8).astype(np.float32)
    assert encoder_layer(x, encoder, 2).dtype == decoder_layer(x, x, decoder, 2).dtype == np.float32


# errors of layers


def encoder_parameters():
    return parameters_of(torch_layer(nn.TransformerEncoderLayer, "post"))


def decoder_parameters():
    return parameters_of(torch_layer(nn.TransformerDecoderLayer, "post"))


def refused(message):
    return refuses(message)


@pytest.mark.parametrize("norm", ["Post", None, True])
def test_norm_is_one_of_two_words(norm):
    x, message = random(3, 8), f"norm: expected 'post' or 'pre', got {norm!r}"
    with refused(message):
        encoder_layer(x, encoder_parameters(), 2, norm=norm)
    with refused(message):
        decoder_layer(x, x, decoder_parameters(), 2, norm=norm)


STEPS = {
    "encoder": "self_attention, feed_forward, norm_1, norm_2",
    "decoder": "self_attention, cross_attention, feed_forward, norm_1, norm_2, norm_3",
}
NAMES = {
    "self_attention": "w_q, w_k, w_v, w_o and perhaps b_q, b_k, b_v, b_o",
    "cross_attention": "w_q, w_k, w_v, w_o and perhaps b_q, b_k, b_v, b_o",
    "feed_forward": "w_1, b_1, w_2, b_2",
    "norm_1": "gain, bias",
    "norm_2": "gain, bias",
    "norm_3": "gain, bias",
}


def call(layer, parameters, **changes):
    x = random(3, 8)
    if layer == "encoder":
        return encoder_layer(**{"x": x, "parameters": parameters, "n_heads": 2} | changes)
    arguments = {"x": x, "memory": x, "parameters": parameters, "n_heads": 2}
    return decoder_layer(**arguments | changes)


def parameters_for(layer):
    return encoder_parameters() if layer == "encoder" else decoder_parameters()


@pytest.mark.parametrize("layer", STEPS)
def test_steps_that_are_missing_or_unknown(layer):
    for step in STEPS[layer].split(", "):
        parameters = parameters_for(layer)
        del parameters[step]
        rest = ", ".join(parameters)
        with refused(f"parameters: expected the names {STEPS[layer]}, got {rest}"):
            call(layer, parameters)
    parameters = parameters_for(layer) | {7: {}}
    every = ", ".join(map(str, parameters))
    with refused(f"parameters: expected the names {STEPS[layer]}, got {every}"):
        call(layer, parameters)
    with refused("parameters: expected a dict, got list"):
        call(layer, [1.0])
    with refused(f"parameters: expected the names {STEPS[layer]}, got none"):
        call(layer, {})


@pytest.mark.parametrize(
    "layer, step", [(layer, step) for layer in STEPS for step in STEPS[layer].split(", ")]
)
def test_parameters_that_are_missing_or_unknown(layer, step):
    for name in NAMES[step].replace(" and perhaps ", ", ").split(", "):
        parameters = parameters_for(layer)
        del parameters[step][name]
        if name in ("b_q", "b_k", "b_v", "b_o"):
            assert call(layer, parameters).shape == (3, 8)
            continue
        rest = ", ".join(parameters[step])
        with refused(f"{step}: expected the names {NAMES[step]}, got {rest}"):
            call(layer, parameters)
    parameters = parameters_for(layer)
    parameters[step]["gamma"] = random(8)
    rest = ", ".join(parameters[step])
    with refused(f"{step}: expected the names {NAMES[step]}, got {rest}"):
        call(layer, parameters)
    with refused(f"{step}: expected a dict, got NoneType"):
        call(layer, parameters | {step: None})


@pytest.mark.parametrize("norm", ["post", "pre"])
@pytest.mark.parametrize(
    "layer, step, name, array, message",
    [
        ("encoder", "norm_2", "gain", random(7), "shape (8,) to match x, got (7,)"),
        ("decoder", "norm_3", "bias", random(7), "shape (8,) to match x, got (7,)"),
        ("encoder", "feed_forward", "b_1", random(8), "shape (20,) to match w_1, got (8,)"),
        (
            "decoder",
            "cross_attention",
            "w_k",
            random(6, 8),
            "shape (8, d_out) to match key, got (6, 8)",
        ),
        (
            "decoder",
            "self_attention",
            "w_v",
            random(8, 8) * np.nan,
            "finite numbers, got 64 NaN or infinite",
        ),
    ],
)
def test_errors_say_in_which_step(layer, step, name, array, message, norm):
    parameters = parameters_for(layer)
    parameters[step][name] = array
    with refused(f"{step}.{name}: expected {message}"):
        call(layer, parameters, norm=norm)


@pytest.mark.parametrize("norm", ["post", "pre"])
@pytest.mark.parametrize("size", [1, 7])
def test_each_step_returns_vectors_that_can_be_added(size, norm):
    """A step of size 1 would broadcast, and the sum have the right shape."""
    attention = {"w_o": random(8, size), "b_o": random(size)}
    feed = {"w_2": random(20, size), "b_2": random(size)}
    for step, changes in (
        ("self_attention", attention),
        ("cross_attention", attention),
        ("feed_forward", feed),
    ):
        parameters = decoder_parameters()
        parameters[step] |= changes
        with refused(f"{step}: expected output of the size of its input, 8, got {size}"):
            call("decoder", parameters, norm=norm)


BATCHES = "batch dimensions that broadcast, got [(2,), (3,), (3,)]"
BOOLEAN = "a boolean array (True = may attend), got dtype float64"
REFUSED = [
    ("x", {"x": [[np.inf] * 8]}, "finite numbers, got 8 NaN or infinite"),
    ("self_attention.n_heads", {"n_heads": 0}, "at least 1, got 0"),
    ("self_attention.columns of w_q", {"n_heads": 3}, "a multiple of n_heads = 3, got 8"),
    ("self_attention.mask", {"mask": np.ones((3, 3))}, BOOLEAN),
]
REFUSED_OF_MEMORY = [
    ("memory", {"memory": random(8)}, "shape (..., src_len, d_model), got (8,)"),
    ("memory", {"memory": [[np.nan] * 8]}, "finite numbers, got 8 NaN or infinite"),
    (
        "cross_attention.mask",
        {"memory_mask": np.ones((3, 4), bool)},
        "a shape that broadcasts to (3, 3), got (3, 4)",
    ),
    (
        "cross_attention.query, key, value",
        {"x": random(2, 3, 8), "memory": random(3, 3, 8)},
        BATCHES,
    ),
]


@pytest.mark.parametrize(
    "layer, name, changes, message",
    [
        ("encoder", "x", {"x": random(8)}, "shape (..., seq_len, d_model), got (8,)"),
        ("decoder", "x", {"x": random(8)}, "shape (..., tgt_len, d_model), got (8,)"),
        *((layer, *row) for layer in STEPS for row in REFUSED),
        *(("decoder", *row) for row in REFUSED_OF_MEMORY),
    ],
)
def test_arguments_that_are_refused(layer, name, changes, message):
    with refused(f"{name}: expected {message}"):
        call(layer, parameters_for(layer), **changes)
