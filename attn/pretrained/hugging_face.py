"""Folders as Hugging Face publishes them: ``config.json``, ``model.safetensors``, ``tokenizer.json``."""

import json
from collections.abc import Container
from pathlib import Path

from safetensors.torch import load_file
from torch import Tensor

from attn._checks import wrong
from attn.pretrained.families import FAMILIES, Family, said_sizes
from attn.pretrained.tokenizers import Said, of_folder
from attn.tokenizer import ByteLevelTokenizer, WordPieceTokenizer
from attn.transformer import TransformerConfig


def read(
    folder: Path,
) -> tuple[Family, TransformerConfig, dict[str, Tensor], ByteLevelTokenizer | WordPieceTokenizer]:
    """Return the family, the configuration, the weights and the tokenizer of a folder.

    Raises
    ------
    ValueError
        If a file is missing or damaged, the model is none of a known family, or the tokenizer is
        neither a byte-level BPE nor BERT's WordPiece.
    """
    said = _json(folder / "config.json")
    family = _family(folder / "config.json", said)
    weights = _weights(folder / "model.safetensors")
    config = _config(folder / "config.json", said, family, weights)
    return family, config, weights, of_folder(folder, said)


def _json(path: Path) -> Said:
    try:
        content = json.loads(path.read_bytes().decode())
    except OSError as error:
        raise wrong(str(path), "a file that can be read", error.strerror) from None
    except (ValueError, RecursionError):
        raise wrong(str(path), "JSON in UTF-8", "something else") from None
    if not isinstance(content, dict):
        raise wrong(str(path), "an object of JSON", type(content).__name__)
    return content


def _family(path: Path, said: Said) -> Family:
    kind = said.get("model_type")
    if not isinstance(kind, str) or kind not in FAMILIES:
        raise wrong(str(path), f"a model_type among {', '.join(FAMILIES)}", repr(kind))
    family = FAMILIES[kind]
    for name, wanted in family.required.items():
        if said.get(name, wanted) != wanted:
            raise wrong(str(path), f"{name} = {wanted!r}", repr(said[name]))
    return family


def _weights(path: Path) -> dict[str, Tensor]:
    try:
        return load_file(path)
    except OSError:
        raise wrong(str(path), "all weights in one safetensors file", "no such file") from None
    except Exception:  # noqa: BLE001 - the library's error for damage derives from Exception alone
        raise wrong(str(path), "a whole safetensors file", "one that is damaged") from None


def _config(path: Path, said: Said, family: Family, names: Container[str]) -> TransformerConfig:
    try:
        # In version 5 of `transformers` what concerns rotary positions moved into one entry.
        rotary = said.get("rope_parameters") or {"rope_theta": said.get("rope_theta", 10000.0)}
        if (kind := rotary.get("rope_type", rotary.get("type", "default"))) != "default":
            raise wrong("rope_type", "'default'", repr(kind))
        known = {name: value for name, value in said.items() if value is not None}
        sizes = said_sizes(known, family.sizes)
        config = TransformerConfig(
            vocab_size=said["vocab_size"], dropout=0.0, rotary_base=rotary["rope_theta"],
            tie_embeddings=said.get("tie_word_embeddings", family.tied),
            prediction_head="cls.predictions.bias" in names,
            **{"d_ff": 4 * sizes["d_model"], **sizes, **family.always},
        )  # fmt: skip
        d_k = config.d_model // config.n_heads
        if said.get("head_dim") not in (None, d_k):
            raise wrong("head_dim", str(d_k), said["head_dim"])
        return config
    except ValueError as error:
        raise ValueError(f"{path}: {error}") from None
    except (KeyError, TypeError, AttributeError) as error:
        raise wrong(str(path), "the sizes of a model", f"not so: {error}") from None
