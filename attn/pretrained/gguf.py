"""Files of the format GGUF: metadata and tensors, as llama.cpp stores them.

Nothing in such a file can be run. Tensors may be *quantised*: 32 neighbouring numbers of a row
share a scale, and perhaps an offset, and each is a whole number of four to eight bits. The types
whose names end in K put 256 numbers into a block, whose scales are themselves such whole numbers.
"""

import math
import struct
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from attn._checks import argument_error

Bytes: TypeAlias = NDArray[np.uint8]
Numbers: TypeAlias = NDArray[np.float32]

STRING, ARRAY = 8, 9
MOST_AXES = 4
# The types of single values, by their numbers in a file.
SCALARS = {
    0: "B",
    1: "b",
    2: "H",
    3: "h",
    4: "I",
    5: "i",
    6: "f",
    7: "?",
    10: "Q",
    11: "q",
    12: "d",
}


def _halves(blocks: Bytes, start: int) -> Numbers:
    """Return the float16 number at byte `start` of every block, shape (n_blocks, 1)."""
    return blocks[:, start : start + 2].copy().view(np.float16).astype(np.float32)


def _parts(packed: Bytes, run: int, n_bits: int) -> Bytes:
    """Return the whole numbers of `n_bits` that every byte of a run holds, the lowest bits first.

    The result holds the lowest number of every byte of a run, then the next number of every byte.
    """
    shifts = np.arange(0, 8, n_bits, dtype=np.uint8)[:, None]
    parts = packed.reshape(len(packed), -1, 1, run) >> shifts & np.uint8(2**n_bits - 1)
    return parts.reshape(len(packed), -1)


def _q4_0(blocks: Bytes) -> Numbers:
    return _halves(blocks, 0) * (_parts(blocks[:, 2:], 16, 4).astype(np.float32) - 8)


def _q4_1(blocks: Bytes) -> Numbers:
    steps = _parts(blocks[:, 4:], 16, 4).astype(np.float32)
    return _halves(blocks, 0) * steps + _halves(blocks, 2)


def _fives(blocks: Bytes, start: int) -> Numbers:
    """Return whole numbers of five bits: all fifth bits come first, then the lower four of each."""
    fifth = np.unpackbits(blocks[:, start : start + 4], axis=1, bitorder="little")
    return (_parts(blocks[:, start + 4 :], 16, 4) | fifth << 4).astype(np.float32)


def _q5_0(blocks: Bytes) -> Numbers:
    return _halves(blocks, 0) * (_fives(blocks, 2) - 16)


def _q5_1(blocks: Bytes) -> Numbers:
    return _halves(blocks, 0) * _fives(blocks, 4) + _halves(blocks, 2)


def _q8_0(blocks: Bytes) -> Numbers:
    return _halves(blocks, 0) * blocks[:, 2:].view(np.int8).astype(np.float32)


def _q4_k(blocks: Bytes) -> Numbers:
    # Eight scales and eight offsets of six bits lie in twelve bytes. The last four scales and
    # offsets have their lower four bits in the last four bytes, and their upper two bits in the
    # first eight bytes, above the first four scales and offsets.
    first, second, lower = (blocks[:, start : start + 4] for start in (4, 8, 12))
    scales = np.concatenate([first & 63, lower & 15 | first >> 2 & 48], axis=1)
    offsets = np.concatenate([second & 63, lower >> 4 | second >> 2 & 48], axis=1)
    steps = _parts(blocks[:, 16:], 32, 4).astype(np.float32).reshape(len(blocks), 8, 32)
    scale = _halves(blocks, 0) * scales.astype(np.float32)
    offset = _halves(blocks, 2) * offsets.astype(np.float32)
    return scale[..., None] * steps - offset[..., None]


def _q6_k(blocks: Bytes) -> Numbers:
    packed = _parts(blocks[:, :128], 64, 4) | _parts(blocks[:, 128:192], 32, 2) << 4
    steps = (packed.astype(np.float32) - 32).reshape(len(blocks), 16, 16)
    scale = _halves(blocks, 208) * blocks[:, 192:208].view(np.int8).astype(np.float32)
    return scale[..., None] * steps


@dataclass(frozen=True)
class Kind:
    """A type of tensors: `unpack` turns each block of `n_bytes` into `n_numbers`."""

    name: str
    n_numbers: int
    n_bytes: int
    unpack: Callable[[Bytes], Numbers]


def _bf16(blocks: Bytes) -> Numbers:
    return (blocks.view(np.uint16).astype(np.uint32) << 16).view(np.float32)


KINDS = {
    0: Kind("F32", 1, 4, lambda blocks: blocks.view(np.float32).copy()),
    1: Kind("F16", 1, 2, lambda blocks: blocks.view(np.float16).astype(np.float32)),
    2: Kind("Q4_0", 32, 18, _q4_0),
    3: Kind("Q4_1", 32, 20, _q4_1),
    6: Kind("Q5_0", 32, 22, _q5_0),
    7: Kind("Q5_1", 32, 24, _q5_1),
    8: Kind("Q8_0", 32, 34, _q8_0),
    12: Kind("Q4_K", 256, 144, _q4_k),
    14: Kind("Q6_K", 256, 210, _q6_k),
    30: Kind("BF16", 1, 2, _bf16),
}


def read(path: Path) -> tuple[dict[str, Any], dict[str, Numbers]]:
    """Return the metadata and the tensors of a file, all of them in float32.

    A matrix has the shape (n_out, n_in), as PyTorch's have. A file of another kind, a damaged one,
    and one with a type of tensor that is not in `KINDS` are refused.

    References
    ----------
    The format: docs/gguf.md of ggml-org/ggml; the blocks: ggml-quants.c there.
    """
    try:
        with open(path, "rb") as file:
            kind = file.read(4)
    except OSError as error:
        raise argument_error(str(path), "a file that can be read", error.strerror) from None
    if kind != b"GGUF":
        raise argument_error(str(path), "a file of the format GGUF", "another kind of file")
    try:
        return _Reader(np.memmap(path, np.uint8, mode="r")).all()
    except (struct.error, UnicodeDecodeError, KeyError, IndexError, OverflowError, MemoryError):
        raise argument_error(
            str(path), "a whole file of the format GGUF", "one that is damaged"
        ) from None
    except ValueError as error:
        raise ValueError(f"{path}: {error}") from None


class _Reader:
    """A position in a file, which advances as values are read."""

    def __init__(self, content: Bytes) -> None:
        self.content = content.data
        self.at = len(b"GGUF")

    def all(self) -> tuple[dict[str, Any], dict[str, Numbers]]:
        version, n_tensors, n_values = self.values("IQQ")
        if version not in (2, 3):
            raise argument_error("version", "2 or 3", version)
        metadata: dict[str, Any] = {}
        for _ in range(n_values):
            name = self.string()
            if name in metadata:
                raise argument_error(name, "one value", "two")
            metadata[name] = self.value(*self.values("I"))
        entries = [self.entry() for _ in range(n_tensors)]
        alignment = metadata.get("general.alignment", 32)
        if type(alignment) is not int or alignment < 1 or alignment & (alignment - 1):
            raise argument_error("general.alignment", "a power of two", repr(alignment)[:80])
        self.at += -self.at % alignment
        return metadata, self.tensors(entries)

    def values(self, format: str) -> tuple[Any, ...]:
        found = struct.unpack_from(f"<{format}", self.content, self.at)
        self.at += struct.calcsize(f"<{format}")
        return found

    def string(self) -> str:
        (length,) = self.values("Q")
        (text,) = self.values(f"{length}s")
        return str(text, "utf-8")

    def value(self, kind: int) -> Any:
        if kind == STRING:
            return self.string()
        if kind != ARRAY:
            return self.values(SCALARS[kind])[0]
        kind, length = self.values("IQ")
        if kind == STRING:
            return [self.string() for _ in range(length)]
        return list(self.values(f"{length}{SCALARS[kind]}"))

    def entry(self) -> "_Entry":
        name, (n_axes,) = self.string(), self.values("I")
        if n_axes > MOST_AXES:
            raise argument_error(name, f"at most {MOST_AXES} axes", n_axes)
        # GGUF lists the axes in reverse order: the one whose neighbours are adjacent comes first.
        shape = self.values(f"{n_axes}Q")[::-1]
        number, offset = self.values("IQ")
        if number not in KINDS:
            known = ", ".join(kind.name for kind in KINDS.values())
            raise argument_error(name, f"one of the types {known}", f"type {number} of ggml")
        if 0 in shape or math.prod(shape[-1:]) % KINDS[number].n_numbers:
            raise argument_error(
                name, f"rows of whole blocks of {KINDS[number].name}", f"shape {shape}"
            )
        return _Entry(name, shape, KINDS[number], offset)

    def tensors(self, entries: "list[_Entry]") -> dict[str, Numbers]:
        stop = 0
        # No byte may serve two tensors, or a small file could need any amount of memory.
        for entry in sorted(entries, key=lambda entry: entry.start):
            if entry.start < stop:
                raise argument_error(entry.name, "bytes of its own", "some of another tensor")
            stop = entry.stop
            if stop > len(self.content) - self.at:
                wanted = f"{math.prod(entry.shape)} numbers of type {entry.kind.name}"
                raise argument_error(entry.name, wanted, "fewer: the file is damaged")
        found: dict[str, Numbers] = {}
        for entry in entries:
            if entry.name in found:
                raise argument_error(entry.name, "one tensor of this name", "two")
            stored = self.content[self.at + entry.start : self.at + entry.stop]
            blocks = np.frombuffer(stored, np.uint8).reshape(-1, entry.kind.n_bytes)
            # A damaged file may hold infinite scales and offsets. NumPy would warn where infinity
            # is multiplied by 0 or subtracted from infinity.
            with np.errstate(all="ignore"):
                found[entry.name] = entry.kind.unpack(blocks).reshape(entry.shape)
        return found


@dataclass(frozen=True)
class _Entry:
    """The entry of a tensor in the header; its bytes are counted from the end of the header."""

    name: str
    shape: tuple[int, ...]
    kind: Kind
    start: int

    @property
    def stop(self) -> int:
        return self.start + math.prod(self.shape) // self.kind.n_numbers * self.kind.n_bytes
