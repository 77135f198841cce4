"""Folders as Hugging Face publishes them: ``config.json``, ``model.safetensors``, ``tokenizer.json``."""

import json
from collections.abc import Container
from pathlib import Path
from typing import Any, TypeAlias

from safetensors.torch import load_file
from torch import Tensor

from attn._checks import wrong
from attn.pretrained.families import FAMILIES, Family, said_sizes
from attn.tokenizer import ByteLevelTokenizer, WordPieceTokenizer
from attn.tokenizer.byte_level import GPT2_WORDS, NUMBER
from attn.transformer import TransformerConfig

Said: TypeAlias = dict[str, Any]  # an object of JSON

# What each part of a tokenizer has to say, where it says anything of these things.
NORMALIZER = {
    "type": "BertNormalizer", "clean_text": True, "handle_chinese_chars": True,
    "strip_accents": None,
}  # fmt: skip
WORD_PIECE = {
    "type": "WordPiece", "unk_token": "[UNK]", "continuing_subword_prefix": "##",
    "max_input_chars_per_word": 100,
}  # fmt: skip
BYTE_PAIRS = {"type": "BPE", "byte_fallback": False, "ignore_merges": False, "dropout": None}


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
    return family, config, weights, _tokenizer(folder / "tokenizer.json", said)


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


def _tokenizer(path: Path, config: Said) -> ByteLevelTokenizer | WordPieceTokenizer:
    said = _json(path)
    try:
        model, normalizer, splitter = said["model"], said["normalizer"], said["pre_tokenizer"]
        special = {token["content"]: token["id"] for token in said["added_tokens"]}
        if not all(token["special"] for token in said["added_tokens"]):
            raise wrong("added_tokens", "marks, which no text becomes", "words as well")
        if model.get("end_of_word_suffix"):
            raise wrong("end_of_word_suffix", "none", repr(model["end_of_word_suffix"]))
        ids = model["vocab"] | special
        vocabulary = sorted(ids, key=ids.__getitem__)
        if [ids[token] for token in vocabulary] != list(range(len(vocabulary))):
            raise wrong("vocab", "the ids 0, 1, 2, ..., each once", "others")
        if _fits(normalizer, NORMALIZER) and _fits(splitter, {"type": "BertPreTokenizer"}):
            if _fits(model, WORD_PIECE):
                return WordPieceTokenizer(vocabulary, normalizer["lowercase"])
        elif normalizer is None and _fits(model, BYTE_PAIRS) and (patterns := _patterns(splitter)):
            merges = [m.split(" ") if isinstance(m, str) else m for m in model["merges"]]
            ends = {f"{name}_id": _first(config.get(f"{theirs}_token_id"))
                    for name, theirs in {"pad": "pad", "sos": "bos", "eos": "eos"}.items()}  # fmt: skip
            return ByteLevelTokenizer(vocabulary, merges, list(special), patterns, **ends)
    except ValueError as error:
        raise ValueError(f"{path}: {error}") from None
    except (KeyError, TypeError, AttributeError) as error:
        raise wrong(str(path), "a description of a tokenizer", f"not so: {error}") from None
    raise wrong(str(path), "a byte-level BPE as GPT-2's, or BERT's WordPiece", "another kind")


def _fits(part: Said | None, wanted: Said) -> bool:
    return part is not None and all(
        part.get(name, value) == value for name, value in wanted.items()
    )


def _patterns(splitter: Said | None) -> list[str]:
    """Return the patterns that a splitter cuts words by; none if it is not one that we have."""
    if splitter is None:
        return []
    if splitter["type"] == "Sequence":
        *before, last = splitter["pretokenizers"]
        found = [_patterns(part) for part in before]
        by_bytes = last["type"] == "ByteLevel" and not last["add_prefix_space"]
        if not by_bytes or not all(found):
            return []
        if last.get("use_regex", True):
            found.append([GPT2_WORDS])
        return [pattern for part in found for pattern in part]
    if splitter["type"] == "ByteLevel":
        fits = not splitter["add_prefix_space"] and splitter.get("use_regex", True)
        return [GPT2_WORDS] if fits else []
    if splitter["type"] == "Digits" and splitter["individual_digits"]:
        return [NUMBER]
    if _fits(splitter, {"type": "Split", "behavior": "Isolated", "invert": False}):
        return [pattern] if (pattern := splitter["pattern"].get("Regex")) else []
    return []


def _first(ids: list[int] | int | None) -> int | None:
    return next(iter(ids), None) if isinstance(ids, list) else ids
