"""The format of the data that leave the sandbox: frames of JSON and arrays of numbers, no objects.

A frame is two lengths, a JSON text, and the bytes of its arrays one after another; the text tells
their names, types and shapes. `write_frame` runs inside, where the student's code may have changed
anything; `read_frames` runs outside and trusts nothing.
"""

import json
import math
import re
import struct

import numpy as np

LENGTHS = struct.Struct(">II")
# Once read, JSON takes thirty times its size in memory. The limit is for all frames together.
MOST_TEXT = 4 * 2**20
MOST_AXES = 8
_ASKS = b'[{"inputs": true}, []]'
ASKS = LENGTHS.pack(len(_ASKS), 0) + _ASKS  # the frame that asks for the inputs
NUMBER = re.compile(r"[<>|](b1|[iu][1248]|f[248])")


def write_frame(stream, header, arrays=None):
    """Write one frame and flush it.

    Parameters
    ----------
    stream : binary file
    header : dict
        What JSON can hold.
    arrays : dict of str to ndarray, optional
        Numbers and booleans only. What is wider than eight bytes becomes float64.
    """
    # The layout of floats wider than eight bytes depends on the machine.
    arrays = {name: a.astype(float) if a.itemsize > 8 else a for name, a in (arrays or {}).items()}
    described = [[name, array.dtype.str, array.shape] for name, array in arrays.items()]
    text = json.dumps([header, described]).encode()
    packed = b"".join(array.tobytes() for array in arrays.values())
    stream.write(LENGTHS.pack(len(text), len(packed)) + text + packed)
    stream.flush()


def end_of_frames(data, start=0):
    """Return the end of the last complete frame from `start` on; only the lengths are read."""
    while start < (end := claimed_end(data, start)) <= len(data):
        start = end
    return start


def claimed_end(data, start):
    """Return where the frame at `start` ends by its lengths, or `start` if these are missing."""
    if start + LENGTHS.size > len(data):
        return start
    return start + LENGTHS.size + sum(LENGTHS.unpack_from(data, start))


def asks_for_inputs(data, start, end):
    """Return whether one of the whole frames between `start` and `end` is `ASKS`."""
    while start < end:
        next_start = claimed_end(data, start)
        if next_start - start == len(ASKS) and data.startswith(ASKS, start):
            return True
        start = next_start
    return False


def read_frames(data):
    """Return the frames at the beginning of `data`, up to the first bytes that form no frame.

    Parameters
    ----------
    data : bytes
        All that came out of the sandbox.

    Returns
    -------
    list of tuple (dict, dict of str to ndarray)
        Headers and arrays.
    """
    frames, start, text_left = [], 0, MOST_TEXT
    while start + LENGTHS.size <= len(data):
        text_size, packed_size = LENGTHS.unpack_from(data, start)
        middle = start + LENGTHS.size + text_size
        end = middle + packed_size
        text_left -= text_size
        if end > len(data) or text_left < 0:
            break
        try:
            header, described = json.loads(data[start + LENGTHS.size : middle])
            arrays = dict(_arrays(described, data[middle:end]))
        except (ValueError, TypeError, RecursionError):
            break
        if not isinstance(header, dict):
            break
        frames.append((header, arrays))
        start = end
    return frames


def _arrays(described, packed):
    start = 0
    for name, kind, shape in described:
        if not isinstance(name, str) or not NUMBER.fullmatch(kind):
            raise ValueError("a type that is none of numbers")
        sizes_fit = all(type(size) is int and 0 <= size < 2**31 for size in shape)
        if len(shape) > MOST_AXES or not sizes_fit:
            raise ValueError("a shape that is none")
        dtype = np.dtype(kind)
        end = start + math.prod(shape) * dtype.itemsize
        # At the end of the data there may be too few bytes, and `reshape` raises.
        yield name, np.frombuffer(packed[start:end], dtype).reshape(shape)
        start = end
    if start != len(packed):
        raise ValueError("bytes that belong to no array")
