"""attn.reference's layers against PyTorch, part by part, and the arguments they refuse."""

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from torch import nn
from torch.nn import functional as F

from attn.reference import (
    decoder_layer,
    encoder_layer,
    feed_forward,
    layer_norm,
    multi_head_attention,
)
from tests.core.helpers import assert_close_arrays as close
from tests.core.helpers import random_array as random
from tests.core.helpers import refuses

D_MODEL, D_FF = 8, 20


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
    """The variance is so small, 1e-6, that another eps would show."""
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
def test_layer_norm_refuses_invalid_arguments(arguments, message):
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
def test_feed_forward_refuses_wrong_shapes(name, shape, message):
    shapes = {"x": (3, 4), "w_1": (4, 6), "b_1": (6,), "w_2": (6, 4), "b_2": (4,)}
    arrays = {n: random(*s) for n, s in (shapes | {name: shape}).items()}
    with pytest.raises(ValueError, match=f"^{name}: expected {message}$"):
        feed_forward(**arrays)


@pytest.mark.parametrize("name", ["x", "w_1", "b_1", "w_2", "b_2"])
def test_feed_forward_names_an_array_with_nan_or_infinity(name):
    arrays = {"x": [1.0], "w_1": [[1.0]], "b_1": [1.0], "w_2": [[1.0]], "b_2": [1.0]}
    arrays[name] = np.asarray(arrays[name]) * np.nan
    with pytest.raises(
        ValueError, match=f"^{name}: expected finite numbers, got 1 NaN or infinite$"
    ):
        feed_forward(**arrays)


@pytest.mark.filterwarnings("ignore:overflow encountered in matmul:RuntimeWarning")
@pytest.mark.parametrize("huge, blamed", [("w_1", "x, w_1"), ("w_2", "hidden, w_2")])
def test_feed_forward_refuses_products_that_overflow(huge, blamed):
    arrays = {"x": [1e200], "w_1": [[1.0]], "b_1": [0.0], "w_2": [[1.0]], "b_2": [0.0]}
    arrays[huge] = [[1e200]]
    message = f"^{blamed}: expected products that fit in float64, got an overflow$"
    with pytest.raises(ValueError, match=message):
        feed_forward(**arrays)


# layers; `test_layers` compares these with the layers in PyTorch, under masks, in any batch


def encoder_parameters():
    parameters = {"self_attention": attention_parameters(1)}
    parameters["feed_forward"] = {
        "w_1": random(D_MODEL, D_FF) / 3,
        "b_1": random(D_FF),
        "w_2": random(D_FF, D_MODEL) / 4,
        "b_2": random(D_MODEL),
    }
    return parameters | {
        name: norm_parameters(seed) for seed, name in enumerate(("norm_1", "norm_2"))
    }


def decoder_parameters():
    parameters = encoder_parameters() | {"cross_attention": attention_parameters(2)}
    return parameters | {"norm_3": norm_parameters(3)}


def attention_parameters(seed):
    square, size = (D_MODEL, D_MODEL), (D_MODEL,)
    return {
        f"{kind}_{name}": random(*(square if kind == "w" else size), seed=10 * seed + i) / 2
        for i, name in enumerate("qkvo")
        for kind in "wb"
    }


def norm_parameters(seed):
    return {"gain": 1 + 0.3 * random(D_MODEL, seed=seed), "bias": random(D_MODEL, seed=seed + 5)}


def test_the_paper_normalises_after_the_sum():
    """Post-norm is the paper's choice, and the default of both layers."""
    encoder, decoder = encoder_parameters(), decoder_parameters()
    x, memory = random(4, 8), random(5, 8)
    layers = (
        lambda **norm: encoder_layer(x, encoder, 2, **norm),
        lambda **norm: decoder_layer(x, memory, decoder, 2, **norm),
    )
    for layer in layers:
        assert np.array_equal(layer(), layer(norm="post"))
        assert abs(layer() - layer(norm="pre")).max() > 0.1


def test_layers_share_their_parameters_over_any_batch():
    encoder, decoder = encoder_parameters(), decoder_parameters()
    x, memory = random(2, 3, 4, 8), random(2, 3, 5, 8)
    encoded, decoded = encoder_layer(x, encoder, 2), decoder_layer(x, memory, decoder, 2)
    for i in np.ndindex(2, 3):
        close(encoded[i], encoder_layer(x[i], encoder, 2))
        close(decoded[i], decoder_layer(x[i], memory[i], decoder, 2))


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


def test_layers_keep_float32():
    encoder, decoder = encoder_parameters(), decoder_parameters()
    for parameters in (encoder, decoder):
        for arrays in parameters.values():
            arrays |= {name: array.astype(np.float32) for name, array in arrays.items()}
    x = random(3, 8).astype(np.float32)
    assert encoder_layer(x, encoder, 2).dtype == decoder_layer(x, x, decoder, 2).dtype == np.float32


# errors of layers


@pytest.mark.parametrize("norm", ["Post", None, True])
def test_norm_is_pre_or_post(norm):
    x, message = random(3, 8), f"norm: expected 'post' or 'pre', got {norm!r}"
    with refuses(message):
        encoder_layer(x, encoder_parameters(), 2, norm=norm)
    with refuses(message):
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
def test_missing_and_unknown_steps_are_refused(layer):
    for step in STEPS[layer].split(", "):
        parameters = parameters_for(layer)
        del parameters[step]
        rest = ", ".join(parameters)
        with refuses(f"parameters: expected the names {STEPS[layer]}, got {rest}"):
            call(layer, parameters)
    parameters = parameters_for(layer) | {7: {}}
    every = ", ".join(map(str, parameters))
    with refuses(f"parameters: expected the names {STEPS[layer]}, got {every}"):
        call(layer, parameters)
    with refuses("parameters: expected a dict, got list"):
        call(layer, [1.0])
    with refuses(f"parameters: expected the names {STEPS[layer]}, got none"):
        call(layer, {})


@pytest.mark.parametrize(
    "layer, step", [(layer, step) for layer in STEPS for step in STEPS[layer].split(", ")]
)
def test_missing_and_unknown_parameters_are_refused(layer, step):
    for name in NAMES[step].replace(" and perhaps ", ", ").split(", "):
        parameters = parameters_for(layer)
        del parameters[step][name]
        if name in ("b_q", "b_k", "b_v", "b_o"):
            assert call(layer, parameters).shape == (3, 8)
            continue
        rest = ", ".join(parameters[step])
        with refuses(f"{step}: expected the names {NAMES[step]}, got {rest}"):
            call(layer, parameters)
    parameters = parameters_for(layer)
    parameters[step]["gamma"] = random(8)
    rest = ", ".join(parameters[step])
    with refuses(f"{step}: expected the names {NAMES[step]}, got {rest}"):
        call(layer, parameters)
    with refuses(f"{step}: expected a dict, got NoneType"):
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
def test_errors_name_their_step(layer, step, name, array, message, norm):
    parameters = parameters_for(layer)
    parameters[step][name] = array
    with refuses(f"{step}.{name}: expected {message}"):
        call(layer, parameters, norm=norm)


@pytest.mark.parametrize("norm", ["post", "pre"])
@pytest.mark.parametrize("size", [1, 7])
def test_each_step_returns_vectors_that_can_be_added(size, norm):
    """A step of size 1 would broadcast in the sum, which would have the right shape."""
    attention = {"w_o": random(8, size), "b_o": random(size)}
    feed = {"w_2": random(20, size), "b_2": random(size)}
    for step, changes in (
        ("self_attention", attention),
        ("cross_attention", attention),
        ("feed_forward", feed),
    ):
        parameters = decoder_parameters()
        parameters[step] |= changes
        with refuses(f"{step}: expected output of the size of its input, 8, got {size}"):
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
def test_invalid_arguments_are_refused(layer, name, changes, message):
    with refuses(f"{name}: expected {message}"):
        call(layer, parameters_for(layer), **changes)
