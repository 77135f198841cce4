"""attn.transformer.quantised: int8 to the bit, and files that any reader of safetensors reads."""

import json
import math
import re
import zlib

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from attn.transformer import DecoderOnly, EncoderOnly, Transformer, TransformerConfig
from attn.transformer.checkpoint import pack, unpack
from attn.transformer.quantised import dequantise, packed, quantise

SIZES = {"vocab_size": 11, "d_model": 12, "n_heads": 3, "n_layers": 2, "d_ff": 20, "max_len": 9}
SIZE = st.floats(2.0**-60, 2.0**60, width=32)
NUMBERS = st.just(0.0) | SIZE | SIZE.map(lambda x: -x)

all_models = pytest.mark.parametrize("model_class", [Transformer, EncoderOnly, DecoderOnly])


def make(model_class, seed=0, **changes):
    """Return a model with random parameters, since biases of zero would hide mistakes."""
    torch.manual_seed(seed)
    model = model_class(TransformerConfig(**SIZES | changes)).eval()
    for parameter in model.parameters():
        torch.nn.init.normal_(parameter, std=0.3)
    return model


def logits_of(model):
    ids = torch.arange(8)[None]
    return (model(ids, ids) if isinstance(model, Transformer) else model(ids))[0]


# the numbers


@given(matrix=hnp.arrays(np.float32, hnp.array_shapes(min_dims=2, max_dims=2), elements=NUMBERS))
def test_each_row_is_integers_and_a_scale(matrix):
    tensors = quantise({"w": torch.from_numpy(matrix)})
    assert list(tensors) == ["w", "w.scale"]
    steps, scale = tensors["w"], tensors["w.scale"]
    assert steps.dtype == torch.int8 and steps.shape == matrix.shape
    assert scale.dtype == torch.float32 and scale.shape == matrix.shape[:1]
    for row, row_steps, row_scale in zip(matrix, steps.tolist(), scale.tolist(), strict=True):
        largest = max(abs(float(x)) for x in row)
        assert math.isclose(row_scale, largest / 127, rel_tol=1e-6)
        assert max(map(abs, row_steps)) == (127 if largest else 0)
        for x, step in zip(row, row_steps, strict=True):
            assert abs(float(x) - step * row_scale) <= 0.50001 * row_scale


def test_steps_stay_within_a_byte_where_the_scale_is_rounded_most():
    """A scale of 1.5 times the smallest float is rounded to that float, the largest relative error."""
    smallest = 2.0**-149
    tensors = quantise({"w": torch.tensor([[190 * smallest, -190 * smallest]])})
    assert tensors["w.scale"].tolist() == [smallest] and tensors["w"].tolist() == [[127, -127]]


@pytest.mark.parametrize(
    "row, steps",
    [
        ([1.27, -0.02, 0.0, 0.63], [127, -2, 0, 63]),
        ([-254.0, 127.0, 3.0, 1.0], [-127, 64, 2, 0]),  # halves are rounded to the even number
        ([0.0, 0.0, 0.0, -0.0], [0, 0, 0, 0]),
        ([1e-45, 0.0, 0.0, 0.0], [0, 0, 0, 0]),  # its scale is too small for a float32
        ([3e38, -3e38, 1e38, 0.0], [127, -127, 42, 0]),
    ],
)
def test_rows_by_hand(row, steps):
    # The row above has a larger scale, which must not affect the row under test.
    tensors = quantise({"w": torch.tensor([[99.0, 1.0, 1.0, 1.0], row], dtype=torch.float64)})
    assert tensors["w"][1].tolist() == steps


@pytest.mark.parametrize("dtype", [torch.float64, torch.float32, torch.bfloat16])
def test_vectors_are_not_rounded_and_all_tensors_become_float32(dtype):
    state_dict = {"w": torch.randn(3, 4).to(dtype), "b": torch.randn(5).to(dtype)}
    tensors = quantise(state_dict)
    assert list(tensors) == ["w", "w.scale", "b"]
    assert tensors["b"].dtype == torch.float32 and tensors["b"].equal(state_dict["b"].float().cpu())
    restored = dequantise(tensors)
    assert list(restored) == ["w", "b"]
    assert all(tensor.dtype == torch.float32 for tensor in restored.values())
    assert restored["b"].equal(tensors["b"])


@pytest.mark.parametrize("shape", [(2, 3, 4), (3, 3, 3)])
def test_each_matrix_of_a_stack_is_rounded_separately(shape):
    several = torch.randn(shape, generator=torch.Generator().manual_seed(0))
    together = dequantise(quantise({"w": several}))["w"]
    for one, matrix in zip(together, several, strict=True):
        assert torch.equal(one, dequantise(quantise({"w": matrix}))["w"])


def test_restored_numbers_are_scale_times_step_in_float32():
    tensors = quantise({"w": torch.randn(5, 7)})
    steps, scale = tensors["w"].numpy(), tensors["w.scale"].numpy()
    for i, j in np.ndindex(5, 7):
        # The product of a float32 and an integer below 128 is exact in float64.
        exact = float(scale[i]) * int(steps[i, j])
        assert dequantise(tensors)["w"][i, j].item() == np.float32(exact)


def test_rounding_twice_is_rounding_once():
    once = quantise({"w": torch.randn(50, 40)})
    twice = quantise(dequantise(once))
    assert torch.equal(once["w"], twice["w"])
    torch.testing.assert_close(once["w.scale"], twice["w.scale"], rtol=2e-7, atol=0)


def test_parameters_are_left_alone():
    weight = torch.nn.Parameter(torch.randn(2, 3))
    before = weight.detach().clone()
    tensors = quantise({"w": weight, "b": torch.nn.Parameter(torch.ones(2))})
    assert not any(tensor.requires_grad for tensor in tensors.values())
    assert torch.equal(weight, before)


@pytest.mark.parametrize("shape", [(2, 3), (3,)])
@pytest.mark.parametrize("bad", [math.nan, math.inf, -math.inf])
def test_numbers_that_are_not_finite_are_refused(shape, bad):
    tensor = torch.ones(shape)
    tensor.flatten()[1:3] = bad
    with pytest.raises(ValueError, match="^layer.w: expected finite numbers, got 2 NaN or inf"):
        quantise({"layer.w": tensor})


def test_numbers_too_large_for_float32_are_refused():
    with pytest.raises(ValueError, match="^w: expected finite numbers, got 1 NaN or infinite$"):
        quantise({"w": torch.tensor([[1e300, 1.0]], dtype=torch.float64)})


# loading


CONFIGS = [
    {},
    {"positions": "learned", "norm": "pre", "dropout": 0.5},
    {"positions": "rotary", "d_model": 18, "n_kv_heads": 1, "scale_embeddings": False},
    {"positions": "alibi", "tie_embeddings": False, "tgt_vocab_size": 13},
    {"positions": "none", "tgt_vocab_size": 13},
]


@all_models
@pytest.mark.parametrize("changes", CONFIGS)
def test_a_model_is_loaded_with_rounded_weights(model_class, changes, tmp_path):
    # Only Transformer has a target vocabulary.
    if model_class is not Transformer:
        changes = {name: value for name, value in changes.items() if name != "tgt_vocab_size"}
    model, path = make(model_class, **changes), tmp_path / "model.safetensors"
    expected = dequantise(quantise(model.state_dict()))
    model.train().save(path, quantised=True)
    torch.manual_seed(1)
    loaded = model_class.load(path)
    assert type(loaded) is model_class and loaded.config == model.config and not loaded.training
    assert loaded.state_dict().keys() == model.state_dict().keys()
    for name, tensor in loaded.state_dict().items():
        assert torch.equal(tensor.cpu(), expected[name]), name
    assert all(parameter.requires_grad for parameter in loaded.parameters())
    assert len(list(loaded.parameters())) == len(list(model.parameters()))
    logits = logits_of(model.eval())
    assert 0 < (logits_of(loaded) - logits).abs().max() < 0.1 * logits.std()


@all_models
def test_a_rounded_model_saves_to_the_same_file(model_class, tmp_path):
    first, second = tmp_path / "1", tmp_path / "2"
    make(model_class).save(first, quantised=True)
    model_class.load(first).save(second)
    model_class.load(second).save(second, quantised=True)
    contents = [unpack(path.read_bytes()) for path in (first, second)]
    assert contents[0][1] == contents[1][1]
    for name, tensor in contents[0][0].items():
        torch.testing.assert_close(tensor, contents[1][0][name], rtol=2e-7, atol=0)
    assert [len(path.read_bytes()) for path in (first, second)] == 2 * [first.stat().st_size]


def test_models_are_not_rounded_by_default(tmp_path):
    model = make(DecoderOnly)
    model.save(tmp_path / "model")
    assert torch.equal(logits_of(DecoderOnly.load(tmp_path / "model")), logits_of(model))
    with pytest.raises(TypeError):
        model.save(tmp_path / "other", True)


def test_a_model_in_float64_is_loaded_as_float32(tmp_path):
    make(Transformer).double().save(tmp_path / "model", quantised=True)
    assert logits_of(Transformer.load(tmp_path / "model")).dtype == torch.float32


# what a file holds, read with nothing but its specification


def read(content):
    """Return the metadata and the tensors as NumPy arrays; check the rules of the format."""
    length = int.from_bytes(content[:8], "little")
    text, data = content[8 : 8 + length], content[8 + length :]
    assert text[:1] == b"{" and text.rstrip(b" ").endswith(b"}") and length % 8 == 0
    header = json.loads(text)
    about = header.pop("__metadata__")
    # There is only one entry, because the library would write several in any order.
    assert list(about) == ["attn"]
    metadata = json.loads(about["attn"])
    arrays, covered = {}, 0
    for name, entry in header.items():
        assert entry.keys() == {"dtype", "shape", "data_offsets"}
        dtype = np.dtype({"F32": "<f4", "I8": "i1"}[entry["dtype"]])
        begin, end = entry["data_offsets"]
        assert begin == covered and begin % dtype.itemsize == 0
        covered = end
        arrays[name] = np.frombuffer(data[begin:end], dtype).reshape(entry["shape"])
    assert covered == len(data)
    return metadata, arrays


@pytest.mark.parametrize(
    "changes, tied",
    [
        ({}, {"tgt_embedding.tokens.weight", "output.weight"}),
        ({"tgt_vocab_size": 13}, {"output.weight"}),
        ({"tie_embeddings": False}, set()),
        ({"positions": "learned", "norm": "pre"}, {"tgt_embedding.tokens.weight", "output.weight"}),
    ],
)
def test_the_contents_of_a_file(changes, tied, tmp_path):
    model = make(Transformer, **changes)
    model.save(tmp_path / "model", quantised=True)
    metadata, arrays = read((tmp_path / "model").read_bytes())
    first = "tgt_embedding.tokens.weight" if changes.get("tgt_vocab_size") else None
    first = first or "src_embedding.tokens.weight"
    assert metadata.pop("tied") == dict.fromkeys(tied, first)
    assert metadata.pop("config")["d_model"] == 12
    assert re.fullmatch("[0-9a-f]{8}", metadata.pop("crc32"))
    assert metadata == {"format": "attn checkpoint 1", "model": "Transformer"}
    expected = quantise({n: t for n, t in model.state_dict().items() if n not in tied})
    assert arrays.keys() == expected.keys()
    for name, array in arrays.items():
        assert np.array_equal(array, expected[name].numpy()), name
        assert array.dtype == (np.int8 if name + ".scale" in arrays else np.float32)


def test_the_checksum_covers_all_but_itself():
    content = pack({"w": torch.tensor([[1, -2]], dtype=torch.int8)}, {"b": 1, "a": ["é"]})
    metadata, arrays = read(content)
    assert arrays["w"].tolist() == [[1, -2]]
    told = json.dumps({"a": ["é"], "b": 1}).encode()
    assert metadata.pop("crc32") == f"{zlib.crc32(told + b'w (1, 2)' + bytes([1, 254])):08x}"
    assert metadata == {"a": ["é"], "b": 1}
    assert unpack(content)[1] == metadata


def test_tensors_are_aligned_to_the_size_of_their_numbers():
    tensors = {"steps": torch.ones(1, 3, dtype=torch.int8), "scale": torch.tensor([2.5])}
    _, arrays = read(pack(tensors, {}))
    assert arrays["scale"].tolist() == [2.5] and arrays["steps"].tolist() == [[1, 1, 1]]


def test_weights_that_are_not_finite_leave_the_old_file(tmp_path):
    path = tmp_path / "model"
    model = make(DecoderOnly)
    model.save(path, quantised=True)
    content = path.read_bytes()
    torch.nn.init.constant_(model.output.weight, math.nan)
    message = "^embedding.tokens.weight: expected finite numbers, got 132 NaN or infinite$"
    with pytest.raises(ValueError, match=message):
        model.save(path, quantised=True)
    assert path.read_bytes() == content and list(tmp_path.iterdir()) == [path]


# packed for the matrix products


@all_models
@pytest.mark.parametrize("changes", [{}, {"positions": "rotary", "n_kv_heads": 1, "bias": False}])
def test_in_halves_a_model_computes_what_its_rounded_weights_say(model_class, changes):
    model = make(model_class, **changes)
    rounded = make(model_class, **changes)
    for module in rounded.modules():
        if isinstance(module, torch.nn.Linear):
            module.weight = torch.nn.Parameter(module.weight.detach().half().float())
    before = {name: tensor.clone() for name, tensor in model.state_dict().items()}
    small = packed(model.train())
    assert type(small) is model_class and not small.training and model.training
    torch.testing.assert_close(logits_of(small), logits_of(rounded), rtol=1e-4, atol=1e-4)
    assert not any(isinstance(module, torch.nn.Linear) for module in small.modules())
    assert all(torch.equal(tensor, before[name]) for name, tensor in model.state_dict().items())


def test_in_four_bits_each_group_has_its_steps():
    """The rounded weights are computed by hand; the tolerance is that of the bfloat16 output."""
    torch.manual_seed(0)
    linear = torch.nn.Linear(64, 48)
    linear.weight.data[3, :32], linear.weight.data[4, 32:] = 0.5, 0.0
    x = torch.randn(2, 3, 64).bfloat16().float()
    weight = torch.empty(48, 64)
    for row in range(48):
        for start in (0, 32):
            group = linear.weight[row, start : start + 32].detach()
            low, step = group.min(), (group.max() - group.min()) / 15
            steps = ((group - low) / step).round() if step else torch.zeros(32)
            middle = (low + 8 * step).bfloat16().float()
            weight[row, start : start + 32] = middle + (steps - 8) * step.bfloat16().float()
    small = packed(torch.nn.Sequential(linear), bits=4)
    expected = (x @ weight.T + linear.bias).detach()
    torch.testing.assert_close(small(x), expected, rtol=2**-7, atol=2**-7)
    # The original weights differ more from the output than the rounded ones.
    assert ((linear(x) - expected).abs() > 2**-6).any()


@pytest.mark.parametrize("bits", [16, 4])
@torch.no_grad()
def test_a_packed_model_decodes_step_by_step_as_at_once(bits):
    model = packed(make(DecoderOnly, d_model=32, n_heads=2, d_ff=64, positions="rotary"), bits)
    ids, cache = torch.arange(9)[None], model.new_cache()
    full, _ = model(ids)
    for length in (3, 4, 5, 9):
        logits = model.step(ids[:, :length], cache)
        tolerance = {16: 1e-4, 4: 5e-2}[bits]
        torch.testing.assert_close(logits, full[:, length - 1], rtol=tolerance, atol=tolerance)


def test_what_cannot_be_packed(tmp_path):
    model = make(DecoderOnly)
    with pytest.raises(ValueError, match="^bits: expected 16 or 4, got 8$"):
        packed(model, 8)
    with pytest.raises(ValueError, match="^embedding.tokens.weight: expected float32 on the CPU, "):
        packed(make(DecoderOnly).double())
    small = packed(model)
    with pytest.raises(ValueError, match="^model: expected one whose weights are not packed"):
        small.save(tmp_path / "model")
    assert not [*tmp_path.iterdir()]
    with pytest.raises(ValueError, match=r"^x: expected float32 of shape \(..., 12\) on the CPU"):
        small.output(torch.ones(1, 13))
    with pytest.raises(ValueError, match=r"^x: expected float32 of shape .*, got torch.float64"):
        small.output(torch.ones(1, 12).double())
    model.output.weight.data[3, 4] = 1e6
    with pytest.raises(ValueError, match="^output.weight: expected finite numbers, got 1 NaN or i"):
        packed(model)
