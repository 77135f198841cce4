"""Tensors as bytes in the safetensors format, with a checksum, which the format does not have.

Nothing in such a file can be run, and a page can read it in ten lines.
"""

import json
import zlib
from collections.abc import Mapping
from typing import Any, TypeAlias

import torch
from safetensors.torch import load, save
from torch import Tensor

# What JSON holds, which is known only once it was read.
Metadata: TypeAlias = dict[str, Any]


def pack(tensors: Mapping[str, Tensor], metadata: Metadata) -> bytes:
    """Return the bytes of named tensors and of what is said about them, as JSON can hold it.

    All of it is one entry of the file's metadata: the library writes several in any order.
    """
    # Copies, since the library refuses tensors that share memory.
    tensors = {
        name: tensor.cpu().clone(memory_format=torch.contiguous_format)
        for name, tensor in tensors.items()
    }
    about = metadata | {"crc32": _checksum(tensors, metadata)}
    return save(tensors, {"attn": json.dumps(about, sort_keys=True)})


def unpack(content: bytes) -> tuple[dict[str, Tensor], Metadata]:
    """Return the tensors and the metadata of `pack`; any error means that they are damaged."""
    tensors = load(content)
    header_len = int.from_bytes(content[:8], "little")
    metadata = json.loads(json.loads(content[8 : 8 + header_len])["__metadata__"]["attn"])
    if metadata.pop("crc32") != _checksum(tensors, metadata):
        raise ValueError
    return tensors, metadata


def _checksum(tensors: Mapping[str, Tensor], metadata: Metadata) -> str:
    crc = zlib.crc32(json.dumps(metadata, sort_keys=True).encode())
    for name, tensor in sorted(tensors.items()):
        crc = zlib.crc32(f"{name} {tuple(tensor.shape)}".encode(), crc)
        crc = zlib.crc32(tensor.reshape(-1).view(torch.uint8).numpy().data, crc)
    return f"{crc:08x}"
