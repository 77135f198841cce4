"""The masks of both libraries: positions counted by hand, polarity, alignment and errors."""

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from attn import masks, reference

both = pytest.mark.parametrize("library", [masks, reference], ids=["torch", "numpy"])


@both
@given(tgt_len=st.integers(0, 7), src_len=st.integers(0, 7))
def test_causal_counts_positions_from_the_end(library, tgt_len, src_len):
    mask = library.causal_mask(tgt_len, src_len)
    assert mask.shape == (tgt_len, src_len)
    assert str(mask.dtype).endswith("bool")
    for i in range(tgt_len):
        for j in range(src_len):
            assert bool(mask[i, j]) == (tgt_len - i <= src_len - j)


@both
@pytest.mark.parametrize(
    "arguments, message",
    [
        ((-1,), "tgt_len: expected at least 0, got -1"),
        ((2, -3), "src_len: expected at least 0, got -3"),
        ((2.0,), "tgt_len: expected an integer, got 2.0"),
        ((2, "3"), "src_len: expected an integer, got '3'"),
    ],
)
def test_causal_mask_refuses_invalid_lengths(library, arguments, message):
    with pytest.raises(ValueError, match=f"^{message}$"):
        library.causal_mask(*arguments)


@both
@given(seq_len=st.integers(0, 5), data=st.data())
def test_padding_mask_allows_the_first_positions(library, seq_len, data):
    lengths = data.draw(st.lists(st.integers(0, seq_len), max_size=4))
    mask = library.padding_mask(lengths, seq_len)
    assert mask.shape == (len(lengths), 1, seq_len)
    expected = [[[True] * n + [False] * (seq_len - n)] for n in lengths]
    assert mask.tolist() == expected


@both
def test_padding_keeps_the_shape_of_the_lengths(library):
    array = torch.tensor if library is masks else np.array
    assert library.padding_mask(array([[1, 2, 3], [4, 0, 1]]), 4).shape == (2, 3, 1, 4)
    assert library.padding_mask(array(2), 4).tolist() == [[True, True, False, False]]


@both
@pytest.mark.parametrize(
    "lengths, seq_len, message",
    [
        ([1, 6], 5, "lengths: expected values between 0 and seq_len = 5, got 6"),
        ([[0], [-1]], 5, "lengths: expected values between 0 and seq_len = 5, got -1"),
        ([1.0], 5, r"lengths: expected integers, got dtype (torch\.)?float(32|64)"),
        ([True], 5, r"lengths: expected integers, got dtype (torch\.)?bool"),
        (["a"], 5, r"lengths: expected integers, got (\['a'\]|dtype .*)"),
        ([1], -1, "seq_len: expected at least 0, got -1"),
        ([1], 1.5, "seq_len: expected an integer, got 1.5"),
    ],
)
def test_padding_mask_refuses_invalid_lengths(library, lengths, seq_len, message):
    with pytest.raises(ValueError, match=f"^{message}$"):
        library.padding_mask(lengths, seq_len)


def test_combined_mask_allows_what_all_allow():
    causal, padding = masks.causal_mask(3), masks.padding_mask([2, 3], 3)
    combined = masks.combine_masks(None, causal, padding)
    for b, i, j in np.ndindex(2, 3, 3):
        assert combined[b, i, j] == (causal[i, j] and padding[b, 0, j])
    assert combined.shape == (2, 3, 3)


def test_combining_one_mask_or_none():
    mask = masks.causal_mask(2)
    assert masks.combine_masks(None, mask) is mask
    assert masks.combine_masks() is None
    assert masks.combine_masks(None, None) is None


def test_combine_refuses_invalid_masks():
    wanted = r"^masks: expected a boolean array \(True = may attend\), got dtype torch.float32$"
    with pytest.raises(ValueError, match=wanted):
        masks.combine_masks(torch.ones(2, 2), None)
    with pytest.raises(ValueError, match="^masks: expected a boolean array"):
        # True is a boolean, but has no shape.
        masks.combine_masks(True)
    for numpy in (np.ones((2, 2), bool), None), (masks.causal_mask(2), np.ones((2, 2), bool)):
        with pytest.raises(ValueError, match="^masks: expected tensors of bool, got ndarray$"):
            masks.combine_masks(*numpy)
    wanted = r"^masks: expected a shape that broadcasts with \(2, 2\), got \(3,\)$"
    with pytest.raises(ValueError, match=wanted):
        masks.combine_masks(masks.causal_mask(2), torch.ones(3, dtype=torch.bool))


def test_masks_are_made_on_the_device_that_is_given():
    assert masks.causal_mask(2, device="meta").device.type == "meta"
    assert masks.padding_mask(torch.tensor([1]), 2).device.type == "cpu"


def test_padding_compiles_without_a_look_at_the_lengths():
    """On the meta device there are no values to read, so a mask is made without them."""
    compiled = torch.compile(masks.padding_mask, fullgraph=True, backend="eager")
    lengths = torch.tensor([1, 2])
    assert torch.equal(compiled(lengths, 3), masks.padding_mask(lengths, 3))
    assert compiled(lengths.to("meta"), 3).device.type == "meta"


@pytest.mark.parametrize("dtype", [torch.uint8, torch.int8, torch.int16, torch.int32])
def test_lengths_may_have_a_small_integer_type(dtype):
    lengths = torch.tensor([100, 0, 3], dtype=dtype)
    assert masks.padding_mask(lengths, 40_000).sum(dim=-1).flatten().tolist() == [100, 0, 3]


def test_padding_mask_under_vmap():
    lengths = torch.tensor([[1, 2], [5, 0]])
    mapped = torch.vmap(lambda row: masks.padding_mask(row, 5))(lengths)
    assert torch.equal(mapped, masks.padding_mask(lengths, 5))
