"""Files of the format GGUF: metadata and tensors, as llama.cpp stores them.

Nothing in such a file can be run. Tensors may be *quantised*: 32 neighbouring numbers of a row
share a scale, and perhaps an offset, and each is a whole number of four or eight bits.
"""

import math
import struct
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from attn._checks import wrong

Bytes: TypeAlias = NDArray[np.uint8]
Numbers: TypeAlias = NDArray[np.float32]

BLOCK = 32  # how many numbers share a scale
STRING, ARRAY = 8, 9
# The types of single values, by the number that stands for each.
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
    """Return the number of 16 bits that stands at this byte of every block, shape (n_blocks, 1)."""
    return blocks[:, start : start + 2].copy().view(np.float16).astype(np.float32)


def _q4_1(blocks: Bytes) -> Numbers:
    # The first sixteen numbers are the lower halves of the bytes, the others the upper ones.
    steps = np.concatenate([blocks[:, 4:] & 15, blocks[:, 4:] >> 4], axis=1).astype(np.float32)
    return _halves(blocks, 0) * steps + _halves(blocks, 2)


def _q8_0(blocks: Bytes) -> Numbers:
    return _halves(blocks, 0) * blocks[:, 2:].view(np.int8).astype(np.float32)


@dataclass(frozen=True)
class Kind:
    """A type of tensors: `n_bytes` hold `n_numbers`, and `unpack` makes the former the latter."""

    name: str
    n_numbers: int
    n_bytes: int
    unpack: Callable[[Bytes], Numbers]


KINDS = {
    0: Kind("F32", 1, 4, lambda blocks: blocks.view(np.float32).copy()),
    1: Kind("F16", 1, 2, lambda blocks: blocks.view(np.float16).astype(np.float32)),
    3: Kind("Q4_1", BLOCK, 20, _q4_1),
    8: Kind("Q8_0", BLOCK, 34, _q8_0),
}


def read(path: Path) -> tuple[dict[str, Any], dict[str, Numbers]]:
    """Return the metadata and the tensors of a file, all of them in float32.

    Parameters
    ----------
    path : Path

    Returns
    -------
    metadata : dict
        Strings, numbers, and lists of them.
    tensors : dict of str to array
        A matrix has the shape (n_out, n_in), as PyTorch's have.

    Raises
    ------
    ValueError
        If it is no such file, is damaged, or holds tensors of another type than F32, F16, Q4_1
        and Q8_0.

    References
    ----------
    The format: docs/gguf.md of ggml-org/ggml; the blocks: ggml-quants.c there.
    """
    try:
        with open(path, "rb") as file:
            kind = file.read(4)
    except OSError as error:
        raise wrong(str(path), "a file that can be read", error.strerror) from None
    if kind != b"GGUF":
        raise wrong(str(path), "a file of the format GGUF", "another kind of file")
    try:
        return _Reader(np.memmap(path, np.uint8, mode="r")).all()
    except (struct.error, UnicodeDecodeError, KeyError, IndexError, OverflowError, MemoryError):
        raise wrong(str(path), "a whole file of the format GGUF", "one that is damaged") from None
    except ValueError as error:
        raise ValueError(f"{path}: {error}") from None


class _Reader:
    """A place in a file that moves on as values are read."""

    def __init__(self, content: Bytes) -> None:
        self.content = content.data
        self.at = len(b"GGUF")

    def all(self) -> tuple[dict[str, Any], dict[str, Numbers]]:
        version, n_tensors, n_values = self.values("IQQ")
        if version not in (2, 3):
            raise wrong("version", "2 or 3", version)
        metadata = {self.string(): self.value(*self.values("I")) for _ in range(n_values)}
        entries = [self.entry() for _ in range(n_tensors)]
        alignment = metadata.get("general.alignment", 32)
        self.at += -self.at % alignment
        return metadata, {entry[0]: self.tensor(*entry) for entry in entries}

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
        if kind in SCALARS:
            return list(self.values(f"{length}{SCALARS[kind]}"))
        return [self.value(kind) for _ in range(length)]

    def entry(self) -> tuple[str, tuple[int, ...], int, int]:
        """Return the name, the shape, the type and the place of a tensor."""
        name, (n_axes,) = self.string(), self.values("I")
        shape = self.values(f"{n_axes}Q")[::-1]  # the axis that moves fastest stands first
        return (name, shape, *self.values("IQ"))

    def tensor(self, name: str, shape: tuple[int, ...], number: int, offset: int) -> Numbers:
        if number not in KINDS:
            known = ", ".join(kind.name for kind in KINDS.values())
            raise wrong(name, f"one of the types {known}", f"type {number} of ggml")
        kind, size = KINDS[number], math.prod(shape)
        start, n_blocks = self.at + offset, size // kind.n_numbers
        stored = self.content[start : start + n_blocks * kind.n_bytes]
        blocks = np.frombuffer(stored, np.uint8)
        if size % kind.n_numbers or len(blocks) != n_blocks * kind.n_bytes:
            raise wrong(name, f"{size} numbers of type {kind.name}", "fewer: the file is damaged")
        return kind.unpack(blocks.reshape(n_blocks, kind.n_bytes)).reshape(shape)
