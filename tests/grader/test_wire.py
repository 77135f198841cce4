"""Frames: they are read back as written, and damaged bytes give no frame and no exception."""

import io
import json
import pickle
import struct

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from grader import wire
from grader.wire import end_of_frames, read_frames, write_frame

NUMBERS = st.one_of(
    hnp.boolean_dtypes(), hnp.integer_dtypes(), hnp.unsigned_integer_dtypes(), hnp.floating_dtypes()
)
ARRAYS = NUMBERS.flatmap(
    lambda dtype: hnp.arrays(dtype, hnp.array_shapes(min_dims=0, max_dims=4, min_side=0))
)


def written(*frames):
    stream = io.BytesIO()
    for header, arrays in frames:
        write_frame(stream, header, arrays)
    return stream.getvalue()


def raw(text, packed=b""):
    """Return a frame from given bytes of JSON and data."""
    text = text if isinstance(text, bytes) else json.dumps(text).encode()
    return struct.pack(">II", len(text), len(packed)) + text + packed


GOOD = written(({"good": 1}, {}))


@given(st.lists(st.dictionaries(st.text(), ARRAYS, max_size=3), max_size=3))
def test_frames_are_read_back_as_written(bundles):
    frames = [({"number": n}, arrays) for n, arrays in enumerate(bundles)]
    back = read_frames(written(*frames))
    assert [header for header, _ in back] == [header for header, _ in frames]
    for (_, arrays), (_, sent) in zip(back, frames, strict=True):
        assert list(arrays) == list(sent)
        for name, array in sent.items():
            assert arrays[name].dtype == array.dtype
            np.testing.assert_array_equal(arrays[name], array)
            assert arrays[name].shape == array.shape


def test_a_frame_is_flushed_and_needs_no_arrays():
    stream = io.BufferedWriter(io.BytesIO())
    write_frame(stream, {"a": [1, None, "ñ"]})
    assert read_frames(stream.raw.getvalue()) == [({"a": [1, None, "ñ"]}, {})]


def test_memory_order_and_strides_do_not_matter():
    grid = np.arange(12.0).reshape(3, 4)
    sent = {"columns": grid.T, "some": grid[:, ::2], "back": grid[::-1]}
    [(_, back)] = read_frames(written(({}, sent)))
    for name, array in sent.items():
        np.testing.assert_array_equal(back[name], array)


def test_an_extended_float_becomes_float64():
    [(_, back)] = read_frames(written(({}, {"x": np.array([1.5, np.inf], np.longdouble)})))
    assert back["x"].dtype == np.float64
    assert back["x"].tolist() == [1.5, np.inf]


@given(st.binary(max_size=200))
def test_any_bytes_are_read_without_an_exception(data):
    assert isinstance(read_frames(data), list)
    [*frames] = read_frames(GOOD + data)
    assert frames[0] == ({"good": 1}, {})


@given(st.data())
def test_damaged_frames_are_read_without_an_exception(data):
    frame = bytearray(written(({"a": 1}, {"x": np.arange(3.0), "y": np.eye(2, dtype=bool)})))
    for _ in range(data.draw(st.integers(1, 4))):
        frame[data.draw(st.integers(0, len(frame) - 1))] = data.draw(st.integers(0, 255))
    for header, arrays in read_frames(bytes(frame)):
        assert isinstance(header, dict)
        assert all(a.dtype.kind in "fiub" for a in arrays.values())


@pytest.mark.parametrize("cut", range(1, len(GOOD) + 1))
def test_a_truncated_frame_is_not_read(cut):
    assert read_frames(GOOD + GOOD[:-cut]) == [({"good": 1}, {})]


class Harm:
    def __reduce__(self):
        return (pytest.fail, ("unpickled",))


BOMB = pickle.dumps(Harm())


@pytest.mark.parametrize(
    ("text", "packed"),
    {
        "no JSON": (b"{", b""),
        "not UTF-8": (b'[{"a": "\xff"}, []]', b""),
        "nested": (b"[" * 10**6, b""),
        "nested in the header": (b'[{"a": ' + b"[" * 10**5 + b"]" * 10**5 + b"}, []]", b""),
        "digits": (b'[{"a": ' + b"9" * 10**5 + b"}, []]", b""),
        "a number": (b"1", b""),
        "nothing": (b"null", b""),
        "one part": ([{}], b""),
        "three parts": ([{}, [], []], b""),
        "a header that is a list": ([[], []], b""),
        "a header that is text": (["ab", []], b""),
        "arrays that are a number": ([{}, 1], b""),
        "arrays that are text": ([{}, "abc"], b""),
        "an array of two parts": ([{}, [["x", "<f8"]]], b""),
        "a name that is a list": ([{}, [[[], "<f8", [0]]]], b""),
        "a name that is a number": ([{}, [[1, "<f8", [0]]]], b""),
        "objects": ([{}, [["x", "|O", [1]]]], b"12345678"),
        "a pickle as objects": ([{}, [["x", "|O8", [len(BOMB) // 8]]]], BOMB),
        "text": ([{}, [["x", "<U2", [1]]]], b"12345678"),
        "bytes": ([{}, [["x", "|S8", [1]]]], b"12345678"),
        "void": ([{}, [["x", "|V8", [1]]]], b"12345678"),
        "dates": ([{}, [["x", "<M8[s]", [1]]]], b"12345678"),
        "complex": ([{}, [["x", "<c16", [1]]]], b"1234567812345678"),
        "extended": ([{}, [["x", "<f16", [1]]]], b"1234567812345678"),
        "fields": ([{}, [["x", [["a", "<f8"]], [1]]]], b"12345678"),
        "fields in text": ([{}, [["x", "f8,O", [1]]]], b"1234567812345678"),
        "a type after a type": ([{}, [["x", "<f8,<f8", [1]]]], b"1234567812345678"),
        "no byte order": ([{}, [["x", "f8", [1]]]], b"12345678"),
        "a type that is a number": ([{}, [["x", 8, [1]]]], b"12345678"),
        "a negative size": ([{}, [["x", "<f8", [-1]]]], b"12345678"),
        "two negative sizes": ([{}, [["x", "<f8", [-1, -1]]]], b"12345678"),
        "a true size": ([{}, [["x", "<f8", [True]]]], b"12345678"),
        "half a size": ([{}, [["x", "<f8", [1.0]]]], b"12345678"),
        "a size in text": ([{}, [["x", "<f8", ["1"]]]], b"12345678"),
        "no shape": ([{}, [["x", "<f8", None]]], b"12345678"),
        "a shape that is a number": ([{}, [["x", "<f8", 1]]], b"12345678"),
        "too few bytes": ([{}, [["x", "<f8", [2]]]], b"12345678"),
        "part of a number": ([{}, [["x", "<f8", [1]]]], b"1234567"),
        "too many bytes": ([{}, [["x", "<f8", [1]]]], b"123456789"),
        "bytes of no array": ([{}, []], b"1"),
        "a second array without bytes": (
            [{}, [["x", "<f8", [1]], ["y", "<f8", [1]]]],
            b"12345678",
        ),
        "huge": ([{}, [["x", "<f8", [10**30]]]], b"12345678"),
        "huge and empty": ([{}, [["x", "<f8", [0, 10**30]]]], b"12345678"),
        "huge, each axis apart, and empty": ([{}, [["x", "<f8", [0] + [2**31 - 1] * 7]]], b""),
        "an axis of 2**31": ([{}, [["x", "<f8", [0, 2**31]]]], b""),
        "nine axes": ([{}, [["x", "<f8", [1] * 9]]], b"12345678"),
        "many axes": ([{}, [["x", "|b1", [9] * 10**6]]], b"1" * 9),
    }.values(),
)
def test_reading_ends_at_an_invalid_frame(text, packed):
    assert read_frames(GOOD + raw(text, packed) + GOOD) == [({"good": 1}, {})]


def test_an_empty_array_keeps_its_shape():
    [(_, arrays)] = read_frames(raw([{}, [["x", "<f8", [0, 2**31 - 1]]]]))
    assert arrays["x"].shape == (0, 2**31 - 1)


def test_eight_axes_are_allowed():
    [(_, arrays)] = read_frames(raw([{}, [["x", "<f8", [1] * 8]]], b"12345678"))
    assert arrays["x"].shape == (1,) * 8


def test_several_arrays_share_the_bytes_in_order():
    frame = raw([{}, [["x", "|u1", [2]], ["y", "<u2", []]]], b"\1\2\3\0")
    [(_, arrays)] = read_frames(frame)
    assert arrays["x"].tolist() == [1, 2]
    assert arrays["y"].tolist() == 3


def test_json_in_all_frames_together_is_bounded(monkeypatch):
    assert wire.MOST_TEXT == 4 * 2**20
    size = len(GOOD) - wire.LENGTHS.size
    monkeypatch.setattr(wire, "MOST_TEXT", 3 * size)
    assert len(read_frames(GOOD * 3)) == 3
    assert len(read_frames(GOOD * 4)) == 3
    monkeypatch.setattr(wire, "MOST_TEXT", 3 * size - 1)
    assert len(read_frames(GOOD * 3)) == 2


def test_nan_and_repeated_keys_of_json_are_read():
    [(header, _)] = read_frames(raw(b'[{"a": NaN, "b": 1, "b": 2}, []]'))
    assert header["b"] == 2


def test_the_end_of_the_complete_frames_is_found():
    stream = io.BytesIO()
    write_frame(stream, {"a": 1}, {"x": np.zeros(3)})
    first = len(stream.getvalue())
    write_frame(stream, {})
    data = stream.getvalue()
    found = [end_of_frames(data[:size]) for size in range(len(data) + 1)]
    assert found == [0] * first + [first] * (len(data) - first) + [len(data)]
    assert end_of_frames(data, first) == len(data)


def test_only_the_exact_request_frame_asks_for_the_inputs():
    asks = written(({"inputs": True}, {}))
    assert asks == wire.ASKS

    def found(data):
        return wire.asks_for_inputs(data, 0, end_of_frames(data))

    assert found(GOOD + asks) and found(asks + GOOD)
    inside = raw([{"text": asks.decode("latin-1")}, []])
    others = (GOOD, asks[:-1], inside, written(({"inputs": True, "a": 1}, {})), raw(b"", asks))
    assert not any(map(found, others))
