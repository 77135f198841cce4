"""MiniLM for the pages: its published folder as one packed file, a quarter of the size.

The file is in the format GGUF, which the pages read anyway for the language model. Matrices are packed
in the type Q8_0: eight bits a number, and a scale for each 32 neighbours. Vectors stay in float32. The
tensors keep the names of the folder, without those that no vector depends on.
"""

import hashlib
import json
import struct
from array import array
from pathlib import Path

from vendor import VENDOR, write_whole

BLOCK = 32
ALIGNMENT = 32
F32, Q8_0 = 0, 8
STRING, ARRAY = 8, 9
UNUSED = ("pooler.", "embeddings.position_ids")


def packed(folder):
    """Return the path of the packed file; it is made on the first call and kept.

    Parameters
    ----------
    folder : Path
        The published folder: config.json, model.safetensors and tokenizer.json, already checked.

    Returns
    -------
    Path
    """
    weights = folder / "model.safetensors"
    mark = hashlib.sha256(weights.read_bytes() + Path(__file__).read_bytes()).hexdigest()[:12]
    kept = VENDOR / f"minilm-{mark}.gguf"
    if not kept.exists():
        print(f"Making {kept.name} ...", flush=True)
        config = json.loads((folder / "config.json").read_text(encoding="utf-8"))
        said = json.loads((folder / "tokenizer.json").read_text(encoding="utf-8"))["model"]["vocab"]
        about = {
            "general.architecture": "bert",
            "config": json.dumps(config),
            "tokenizer.ggml.tokens": sorted(said, key=said.get),
        }
        VENDOR.mkdir(parents=True, exist_ok=True)
        write_whole(kept, gguf(about, tensors(weights)))
    return kept


def tensors(path):
    """Yield the name, the shape and the numbers of each tensor that vectors depend on."""
    content = path.read_bytes()
    start = 8 + struct.unpack_from("<Q", content)[0]
    for name, entry in sorted(json.loads(content[8:start]).items()):
        if name == "__metadata__" or name.startswith(UNUSED):
            continue
        begin, end = entry["data_offsets"]
        yield name, entry["shape"], array("f", content[start + begin : start + end])


def gguf(about, found):
    """Return the bytes of a file of version 3 with some metadata, strings or lists of strings, and tensors."""

    def text(said):
        said = said.encode()
        return struct.pack("<Q", len(said)) + said

    entries = b""
    for name, said in about.items():
        if isinstance(said, str):
            entries += text(name) + struct.pack("<I", STRING) + text(said)
        else:
            entries += text(name) + struct.pack("<IIQ", ARRAY, STRING, len(said))
            entries += b"".join(map(text, said))
    heads, data, n = b"", bytearray(), 0
    for name, shape, numbers in found:
        kind = Q8_0 if len(shape) > 1 else F32
        # The format names the length of a row first.
        heads += text(name) + struct.pack(f"<I{len(shape)}Q", len(shape), *reversed(shape))
        heads += struct.pack("<IQ", kind, len(data))
        data += in_blocks(numbers) if kind == Q8_0 else numbers.tobytes()
        data += bytes(-len(data) % ALIGNMENT)
        n += 1
    head = b"GGUF" + struct.pack("<IQQ", 3, n, len(about)) + entries + heads
    return head + bytes(-len(head) % ALIGNMENT) + data


def in_blocks(numbers):
    """Pack numbers: of each 32, a scale of 16 bits and 32 steps of eight bits."""
    out = bytearray()
    for start in range(0, len(numbers), BLOCK):
        block = numbers[start : start + BLOCK]
        scale = max(max(block), -min(block)) / 127
        steps = [round(x / scale) for x in block] if scale else [0] * BLOCK
        out += struct.pack("<e", scale) + array("b", steps).tobytes()
    return out
