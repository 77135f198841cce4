"""Damaged files of published models: each loads, or is refused with its path.

`ATTN_DAMAGED` says how many damaged copies of each file are tried, in place of 150; 10,000 take
some minutes.
"""

import copy
import json
import os
import random
import resource
import struct
import time

import pytest
import torch
import transformers
from safetensors.torch import load_file, save_file

from attn.pretrained import gguf, load
from tests.core.test_pretrained import LLAMA, write_gguf
from tests.core.test_tokenizer_pretrained import byte_pairs

N_COPIES = int(os.environ.get("ATTN_DAMAGED", "150"))
NUMBERS = (0, 1, 2, 7, 255, 2**16, 2**31 - 1, 2**31, 2**32 - 1, 2**53, 2**62, 2**63, 2**64 - 1)
VALUES = (
    *(None, True, False, -1, 0, 1, 3, 2**31, 2**63, 10**30, 10**400, 0.5, -0.0, 1e308),
    *(float("inf"), float("nan"), "", "1", "a" * 10_000, "\ud800"),
    *([], [1], [[1, 2], [3, 4]], {}, {"a": 1}, [None] * 1000),
)


def flipped(content, dice, within):
    """Return the bytes with random changes, cuts or copies among the first `within`."""
    content = bytearray(content)
    for _ in range(dice.choice((1, 1, 2, 5))):
        at = dice.randrange(min(within, len(content)) or 1)
        kind = dice.randrange(6)
        if kind == 0:
            content[at : at + 1] = bytes([content[at] ^ 1 << dice.randrange(8)])
        elif kind == 1:
            content[at : at + 1] = bytes([dice.randrange(256)])
        elif kind == 2:
            # These bytes hold a count, a length or a type.
            size = dice.choice("IQ")
            number = dice.choice((*NUMBERS, dice.randrange(2**32))) % 2 ** (
                32 if size == "I" else 64
            )
            content[at : at + struct.calcsize(size)] = struct.pack(f"<{size}", number)
        elif kind == 3:
            del content[at : at + dice.randrange(1, 40)]
        elif kind == 4:
            content[at:at] = content[max(0, at - dice.randrange(40)) : at]
        else:
            del content[dice.randrange(len(content)) :]
        if not content:
            break
    return bytes(content)


def places(part):
    """Return all pairs of a list or dictionary and an index or key of it, at any depth."""
    if isinstance(part, dict | list):
        for place in part if isinstance(part, dict) else range(len(part)):
            yield part, place
            yield from places(part[place])


def rewritten(text, dice):
    """Return JSON with an entry changed, removed, renamed or deeply nested; or damaged as bytes."""
    if dice.random() < 0.25:
        return flipped(text, dice, len(text))
    content = json.loads(text)
    for _ in range(dice.choice((1, 1, 2))):
        found = list(places(content))
        if not found:
            break
        part, place = dice.choice(found)
        kind = dice.randrange(5)
        if kind < 3:
            part[place] = copy.deepcopy(dice.choice(VALUES))
        elif kind == 3:
            other, elsewhere = dice.choice(found)
            part[place] = json.loads(json.dumps(other[elsewhere]))
        elif isinstance(part, dict):
            value = part.pop(place)
            if dice.random() < 0.5:
                part[dice.choice((place.upper(), "new_entry", "", "rope_scaling", "x" * 5000))] = (
                    value
                )
        else:
            del part[place]
    text = json.dumps(content)
    if dice.random() < 0.1:
        depth = dice.choice((20, 300, 900, 3000, 100_000))
        text = text.replace(
            dice.choice(("32", "null", '"llama"', "1", "0.")), "[" * depth + "]" * depth, 1
        )
    return text.encode("utf-8", "surrogatepass")


def header_rewritten(content, dice):
    """Return a safetensors file with its header, or the header's length, damaged."""
    length = int.from_bytes(content[:8], "little")
    if dice.random() < 0.3:
        return flipped(content, dice, 8 + length)
    header = rewritten(content[8 : 8 + length], dice)
    length = len(header) if dice.random() < 0.9 else dice.choice(NUMBERS)
    return struct.pack("<Q", length) + header + content[8 + int.from_bytes(content[:8], "little") :]


def text(string):
    return struct.pack("<Q", len(string)) + string.encode()


def tensor(name, *shape, at=0, kind=0):
    return text(name) + struct.pack(f"<I{len(shape)}QIQ", len(shape), *shape, kind, at)


def number(name, value, kind="I"):
    return text(name) + struct.pack(f"<I{kind}", {"I": 4, "f": 6}[kind], value)


@pytest.mark.parametrize(
    ("n_tensors", "n_values", "rest", "message"),
    [
        (1, 0, tensor("a", 8), None),
        (2, 0, tensor("a", 8) + tensor("b", 4, at=16), "b: expected bytes of its own"),
        (2, 0, tensor("a", 4) + tensor("a", 4, at=16), "a: expected one tensor of this name"),
        (1, 0, tensor("a", 9), "a: expected 9 numbers of type F32, got fewer"),
        (1, 0, tensor("a", 2**63, 2**63), "a: expected 8507.* numbers of type F32, got fewer"),
        (1, 0, tensor("a", 0, 2**63), "a: expected rows of whole blocks of F32, got shape"),
        (1, 0, tensor("a", 8, 4, kind=2), r"a: .* whole blocks of Q4_0, got shape \(4, 8"),
        (1, 0, tensor("a", *[1] * 5), "a: expected at most 4 axes, got 5"),
        (1, 0, text("a") + b"\xff" * 12, "a: expected at most 4 axes, got 4294967295"),
        (1, 0, tensor("a", 8, kind=10), "a: .* the types F32, F16, Q4_0, .*, got type 10"),
        (2**60, 0, tensor("a", 8), "got one that is damaged"),
        (0, 2**60, b"", "expected one value, got two"),
        (0, 1, struct.pack("<Q", 2**63), "got one that is damaged"),
        (0, 1, text("a") + struct.pack("<IIQ", 9, 0, 2**62), "got one that is damaged"),
        (0, 1, text("a") + struct.pack("<IIQ", 9, 8, 2**62), "got one that is damaged"),
        (0, 1, text("a") + struct.pack("<IIQ", 9, 9, 1) * 9, "got one that is damaged"),
        (0, 1, text("a") + struct.pack("<I", 99), "got one that is damaged"),
        (0, 2, number("a", 1) * 2, "a: expected one value, got two"),
        *(
            (1, 1, number("general.alignment", value, kind) + tensor("a", 8), message)
            for value, kind, message in (
                (0, "I", "general.alignment: expected a power of two, got 0"),
                (3, "I", "general.alignment: expected a power of two, got 3"),
                (32.0, "f", "general.alignment: expected a power of two, got 32.0"),
                (2**31, "I", "a: expected 8 numbers of type F32, got fewer"),
                (8, "I", None),
            )
        ),
    ],
)
def test_an_invalid_header_is_refused(tmp_path, n_tensors, n_values, rest, message):
    header = b"GGUF" + struct.pack("<IQQ", 3, n_tensors, n_values) + rest
    alignment = 8 if b"alignment" in rest else 32
    path = tmp_path / "model.gguf"
    path.write_bytes(header + bytes(-len(header) % alignment) + bytes(32))
    if message is None:
        assert gguf.read(path)[1]["a"].tolist() == [0.0] * 8
        return
    with pytest.raises(ValueError, match=f"^{path}: .*{message}"):
        gguf.read(path)


@pytest.fixture(scope="module")
def originals(tmp_path_factory):
    """For each format: the path to load, the file to damage, and the functions that damage it."""
    folder = tmp_path_factory.mktemp("whole")
    torch.manual_seed(0)
    config = transformers.LlamaConfig(**LLAMA)
    model = transformers.LlamaForCausalLM(config).eval()
    model.save_pretrained(folder)
    byte_pairs().save(str(folder / "tokenizer.json"))
    sharded = tmp_path_factory.mktemp("sharded")
    for name in ("config.json", "tokenizer.json"):
        (sharded / name).write_bytes((folder / name).read_bytes())
    shard(load_file(folder / "model.safetensors"), sharded)
    gguf = tmp_path_factory.mktemp("gguf") / "model.gguf"
    write_gguf(gguf, folder)
    header = gguf.stat().st_size - sum(4 * p.numel() for p in model.parameters())
    return {
        "gguf": (gguf, gguf, lambda content, dice: flipped(content, dice, header)),
        "safetensors": (folder, folder / "model.safetensors", header_rewritten),
        "config": (folder, folder / "config.json", rewritten),
        "index": (sharded, sharded / "model.safetensors.index.json", rewritten),
    }


def shard(state, folder, n=3):
    """Write tensors to a folder in several files with an index; return the content of the index."""
    names = [f"model-{i + 1:05}-of-{n:05}.safetensors" for i in range(n)]
    index = {"metadata": {"total_size": 1}, "weight_map": {}}
    for i, name in enumerate(names):
        part = {tensor: state[tensor] for tensor in sorted(state)[i::n]}
        save_file(part, folder / name, {"format": "pt"})
        index["weight_map"] |= dict.fromkeys(part, name)
    (folder / "model.safetensors.index.json").write_text(json.dumps(index))
    return index


@pytest.mark.parametrize("kind", ["gguf", "safetensors", "config", "index"])
def test_a_damaged_file_loads_or_is_refused_with_its_path(originals, kind):
    path, file, damage = originals[kind]
    whole, dice = file.read_bytes(), random.Random(kind)
    load(path)
    before, refused, slowest = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss, 0, 0.0
    try:
        for i in range(N_COPIES):
            file.write_bytes(damage(whole, dice))
            start = time.perf_counter()
            try:
                load(path)
            except ValueError as error:
                message = str(error)
                assert message.startswith(str(path)) and "expected" in message, message
                assert len(message) < 1000, message
                refused += 1
            except BaseException as error:
                file.with_name("damaged").write_bytes(file.read_bytes())
                raise AssertionError(f"copy {i}, kept as {file.with_name('damaged')}") from error
            slowest = max(slowest, time.perf_counter() - start)
    finally:
        file.write_bytes(whole)
    assert refused > N_COPIES / 2
    grown = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before
    assert grown < 300_000, f"{grown} kB more"
    assert slowest < 5
