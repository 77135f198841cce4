"""Folders as Hugging Face publishes them: ``config.json``, ``model.safetensors``, ``tokenizer.json``."""

import re
from pathlib import Path
from typing import Any

from safetensors import safe_open
from torch import Tensor

from attn._checks import argument_error, check_number, shown
from attn.positions import Scaling, checked_scaling
from attn.pretrained.families import (
    FAMILIES,
    Family,
    Found,
    check_entries,
    head_size,
    read_sizes,
)
from attn.pretrained.tokenizers import Said, of_folder, read_object

ROTARY = {
    "head_dim",
    "original_max_position_embeddings",
    "partial_rotary_factor",
    "rope_parameters",
    "rope_scaling",
    "rope_theta",
}
SCALED = ("default", "linear", "llama3", "yarn")
SHARD = re.compile(r"model-\d+-of-\d+\.safetensors")


def read(folder: Path) -> Found:
    """Return what a folder holds.

    A missing or damaged file, a model of no known family, and a tokenizer that is neither a
    byte-level BPE nor BERT's WordPiece are refused.
    """
    path = folder / "config.json"
    said = read_object(path)
    kind = said.get("model_type")
    if not isinstance(kind, str) or kind not in FAMILIES:
        raise argument_error(str(path), f"a model_type among {', '.join(FAMILIES)}", shown(kind))
    if (folder / "adapter_config.json").exists():
        raise argument_error(str(folder), "a model without adapters", "adapter_config.json")
    state = _weights(folder)
    try:
        options, tied = _options(said, FAMILIES[kind], len(state))
    except ValueError as error:
        raise ValueError(f"{path}: {error}") from None
    return Found(
        FAMILIES[kind], FAMILIES[kind].names, options, tied, state, of_folder(folder, said)
    )


def _options(said: Said, family: Family, n_tensors: int) -> tuple[dict[str, Any], bool]:
    """Return the options of `TransformerConfig`, and whether the file ties the embeddings."""
    is_rotary = family.always["positions"] == "rotary"
    read = {"model_type", "tie_word_embeddings", *family.sizes.values()}
    check_entries(said, read | ROTARY if is_rotary else read, family.must, family.free)
    sizes = read_sizes(said, family.sizes, family.defaults, n_tensors)
    options = {**sizes, **family.always}
    tied = said.get("tie_word_embeddings")
    if not isinstance(tied, bool | None):
        raise argument_error("tie_word_embeddings", "true or false", shown(tied))
    if is_rotary:
        d_k = head_size(options, family.sizes)
        if said.get("head_dim") not in (None, d_k):
            raise argument_error("head_dim", str(d_k), shown(said["head_dim"]))
        options["rotary_base"], options["rotary_scaling"] = _rotary(said, options["max_len"])
    return options, family.tied if tied is None else tied


def _rotary(said: Said, max_len: int) -> tuple[float, Scaling | None]:
    """Return the base and the scaling of rotary positions, which files give in one of two forms."""
    # In version 5 of `transformers` `rope_scaling` and `rope_theta` moved into `rope_parameters`.
    name = "rope_scaling" if said.get("rope_scaling") else "rope_parameters"
    parameters = said.get(name)
    if name == "rope_scaling" and said.get("rope_parameters") not in (None, {}, parameters):
        raise argument_error(name, "what rope_parameters says", shown(parameters))
    if not isinstance(parameters, dict | None):
        raise argument_error(name, "an object of JSON", shown(parameters))
    rest = {entry: value for entry, value in (parameters or {}).items() if value is not None}
    kind = rest.pop("type", "default")
    kind = rest.pop("rope_type", kind)
    if kind not in SCALED:
        raise argument_error(f"{name}.rope_type", " or ".join(map(repr, SCALED)), shown(kind))
    part = rest.pop("partial_rotary_factor", said.get("partial_rotary_factor"))
    if part not in (None, 1):
        raise argument_error("partial_rotary_factor", "1", shown(part))
    base = rest.pop("rope_theta", said.get("rope_theta"))
    base = 10000.0 if base is None else check_number("rope_theta", base, least=1)
    if kind in ("llama3", "yarn"):
        rest.setdefault("original_max_position_embeddings", max_len)
        if said.get("original_max_position_embeddings") is not None:
            rest["original_max_position_embeddings"] = said["original_max_position_embeddings"]
    scaling = checked_scaling(name, {"rope_type": kind, **rest})
    if scaling and scaling["rope_type"] == "yarn" and base == 1:
        raise argument_error("rope_theta", "more than 1 for 'yarn'", base)
    return base, scaling


def _weights(folder: Path) -> dict[str, Tensor]:
    """Return all tensors, from one file or from those that an index names."""
    whole, index = folder / "model.safetensors", folder / "model.safetensors.index.json"
    if not index.exists():
        return _tensors(whole)
    if whole.exists():
        raise argument_error(str(folder), f"one of {whole.name} and {index.name}", "both")
    places = read_object(index).get("weight_map")
    if not isinstance(places, dict) or not places:
        raise argument_error(str(index), "a weight_map", shown(places))
    for tensor, shard in places.items():
        # It must be the name of a file in this folder, not a path that leads out of it.
        if not isinstance(shard, str) or not re.fullmatch(r"[\w.-]+\.safetensors", shard):
            raise argument_error(
                f"{index}: {tensor[:80]}", "the name of a safetensors file", shown(shard)
            )
    shards = set(places.values())
    for path in sorted(folder.iterdir()):
        if SHARD.fullmatch(path.name) and path.name not in shards:
            raise argument_error(
                str(path), f"a file that {index.name} names", "one that it does not"
            )
    found: dict[str, Tensor] = {}
    for shard in sorted(shards):
        tensors = _tensors(folder / shard)
        for tensor in tensors:
            if places.get(tensor) != shard:
                wanted = f"tensors that {index.name} places here"
                raise argument_error(str(folder / shard), wanted, tensor[:80])
        found |= tensors
    for tensor, shard in places.items():
        if tensor not in found:
            raise argument_error(
                f"{folder / shard}: {tensor[:80]}", "a tensor of this name", "none"
            )
    return found


def _tensors(path: Path) -> dict[str, Tensor]:
    if not path.is_file():
        raise argument_error(str(path), "weights in a safetensors file", "no such file")
    try:
        with safe_open(path, framework="pt") as file:
            layout = (file.metadata() or {}).get("format", "pt")
            tensors = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118 - no dict
    except OSError as error:
        raise argument_error(
            str(path), "a file that can be read", error.strerror or error
        ) from None
    except Exception:  # noqa: BLE001 - the library's error for damage derives from Exception alone
        raise argument_error(str(path), "a whole safetensors file", "one that is damaged") from None
    if layout not in ("pt", "mlx"):
        raise argument_error(str(path), "tensors in the format 'pt'", shown(layout))
    return tensors
