"""The tokenizers of other people's models: ``tokenizer.json``, and what a GGUF file says of one."""

from pathlib import Path
from typing import Any, TypeAlias

from attn._checks import wrong
from attn.tokenizer import ByteLevelTokenizer, WordPieceTokenizer
from attn.tokenizer._json import read_json
from attn.tokenizer.byte_level import GPT2_WORDS, NUMBER

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
# How the tokenizers that GGUF has names for cut words.
SPLITS = {"gpt-2": [GPT2_WORDS], "smollm": [NUMBER, GPT2_WORDS]}
WRITTEN = 1  # GGUF's type of an ordinary token; others are control tokens, such as ends of texts


def of_folder(folder: Path, config: Said) -> ByteLevelTokenizer | WordPieceTokenizer:
    """Return the tokenizer of a folder of Hugging Face, whose ``config.json`` says `config`."""
    path = folder / "tokenizer.json"
    said = read_json(path)
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


def of_gguf(path: Path, metadata: dict[str, Any]) -> ByteLevelTokenizer:
    """Return the tokenizer that the `metadata` of the GGUF file at `path` describe."""
    said = {name.removeprefix("tokenizer.ggml."): value for name, value in metadata.items()}
    if said["model"] != "gpt2" or said.get("pre") not in SPLITS:
        wanted = f"a byte-level BPE that splits as {' or '.join(SPLITS)}"
        raise wrong(str(path), wanted, f"{said['model']!r} that splits as {said.get('pre')!r}")
    kinds = zip(said["tokens"], said["token_type"], strict=True)
    return ByteLevelTokenizer(
        said["tokens"], [tuple(merge.split(" ")) for merge in said["merges"]],
        [token for token, kind in kinds if kind != WRITTEN], SPLITS[said["pre"]],
        sos_id=said.get("bos_token_id"), eos_id=said.get("eos_token_id"),
        pad_id=said.get("padding_token_id"),
    )  # fmt: skip
