"""The tokenizers of other people's models: ``tokenizer.json``, and what a GGUF file says of one.

Every entry that changes an id is followed or refused by its name; unknown entries are refused. The
following cannot change what our `encode` returns and are not read:

- ``truncation`` and ``padding``: how long a batch is, which its caller decides;
- ``post_processor``, ``add_bos_token``, ``add_eos_token``, ``add_sep_token``: what stands around
  a text. `encode` puts one start and one end there, where it is asked to with `sos` and `eos`;
- ``trim_offsets`` and ``cleanup``: where tokens stood, and how a decoded text is spaced;
- ``scores`` of byte pairs, chat templates, names of files and classes;
- ``vocab.txt``, ``vocab.json``, ``merges.txt``, ``added_tokens.json``, ``special_tokens_map.json``,
  which say again what ``tokenizer.json`` says;
- in ``generation_config.json`` all but the ids of the start, of the ends and of padding: a
  temperature, say, is an argument of whoever decodes. Ids that it leaves out are those of
  ``config.json``.
"""

import re
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, TypeAlias

from attn._checks import argument_error, shown
from attn.tokenizer import AddedToken, ByteLevelTokenizer, WordPieceTokenizer
from attn.tokenizer._json import read_json
from attn.tokenizer.byte_level import GPT2_WORDS, NUMBER, byte_letters

# An object of JSON.
Said: TypeAlias = dict[str, Any]
# The most bytes of a configuration.
LARGEST_JSON = 2**26
# What an entry may be: a type, one of some values, or anything (None).
Wanted: TypeAlias = Mapping[str, type | tuple[Any, ...] | None]

TOKENIZER: Wanted = {
    "version": (None, "1.0"),
    "truncation": dict,
    "padding": dict,
    "added_tokens": list,
    "normalizer": dict,
    "pre_tokenizer": dict,
    "post_processor": dict,
    "decoder": dict,
    "model": dict,
}
BOOL = (None, True, False)
ADDED: Wanted = {
    "id": int,
    "content": str,
    "single_word": bool,
    "lstrip": bool,
    "rstrip": bool,
    "normalized": bool,
    "special": bool,
}
WORD_PIECE: Wanted = {
    "type": ("WordPiece",),
    "unk_token": ("[UNK]",),
    "continuing_subword_prefix": ("##",),
    "max_input_chars_per_word": (100,),
    "vocab": dict,
}
NORMALIZER: Wanted = {
    "type": ("BertNormalizer",),
    "clean_text": (True,),
    "handle_chinese_chars": (True,),
    "strip_accents": BOOL,
    "lowercase": bool,
}
BYTE_PAIRS: Wanted = {
    "type": ("BPE",),
    "dropout": (None, 0.0, 0),
    "unk_token": str,
    "fuse_unk": BOOL,
    "continuing_subword_prefix": (None, ""),
    "end_of_word_suffix": (None, ""),
    "byte_fallback": BOOL,
    "ignore_merges": BOOL,
    "vocab": dict,
    "merges": list,
}
BYTE_LEVEL: Wanted = {
    "type": ("ByteLevel",),
    "add_prefix_space": (False,),
    "trim_offsets": BOOL,
    "use_regex": BOOL,
}
DECODERS: dict[str, Wanted] = {
    "WordPiece": {"type": ("WordPiece",), "prefix": ("##",), "cleanup": BOOL},
    "BPE": {**BYTE_LEVEL, "add_prefix_space": BOOL},
}
POST_PROCESSORS = (
    *("BertProcessing", "ByteLevel", "RobertaProcessing", "Sequence", "TemplateProcessing"),
)
# The entries that `tokenizer_config.json` may hold: names of tokens, which must be among the added
# ones; entries that must agree with ``tokenizer.json``; and entries without effect.
NAMED = re.findall(
    r"\w+",
    """
    additional_special_tokens bos_token cls_token eos_token extra_special_tokens mask_token
    model_specific_special_tokens pad_token sep_token unk_token
    """,
)
NO_MATTER = re.findall(
    r"\w+",
    """
    _commit_hash add_bos_token add_eos_token auto_map backend chat_template
    clean_up_tokenization_spaces errors fast_tokenizer_files from_slow is_local legacy
    local_files_only max_len max_length merges_file model_input_names model_max_length name_or_path
    never_split pad_to_multiple_of pad_token_type_id padding_side processor_class response_schema
    sp_model_kwargs spaces_between_special_tokens special_tokens_map_file stride tokenizer_class
    tokenizer_file truncation_side truncation_strategy use_default_system_prompt use_fast
    vocab_file vocab_size
    """,
)
CONFIG: Wanted = {
    "add_prefix_space": (None, False),
    "split_special_tokens": (None, False),
    "tokenize_chinese_chars": (None, True),
    "do_basic_tokenize": (None, True),
    "do_lower_case": BOOL,
    "strip_accents": BOOL,
    "added_tokens_decoder": None,
    **dict.fromkeys([*NAMED, *NO_MATTER]),
}

# A pattern is written for another library, Oniguruma. This accepts the part of its syntax that
# means the same in `regex`. It excludes \w and \b, which match other letters there; ^ and $, which
# match at each line; and letters in any case, except those with exactly two forms in Unicode.
_ESCAPE = r"\\(?:[pP]\{\^?(?:[A-Z][a-z]?|Han)\}|[sSdDrnt]|[^\w\s])"
_IN_CLASS = rf"(?:{_ESCAPE}|[^\[\]\\&]|&(?!&))"
_ANY_CASE = r"\(\?i:(?:(?!(?i:ss|ff|fl|st))['a-hj-zA-HJ-Z|])*\)"
PATTERN = re.compile(
    rf"(?:{_ESCAPE}|\[\^?{_IN_CLASS}+\]|{_ANY_CASE}|\(\?(?:<?[=!]|[:>])"
    r"|\{\d+(?:,\d*)?\}(?!\+)|[^\\\[\](){}^$]|\))*"
)

# The word patterns of the tokenizers that GGUF names.
SPLITS = {"gpt-2": [GPT2_WORDS], "smollm": [NUMBER, GPT2_WORDS]}
# GGUF's types of tokens, as llama.cpp reads those of byte pairs: unknown and control tokens are
# special; a user-defined token is found in any text; unused ones and bytes are never shown. Of two
# tokens that overlap in a text, the one that begins first is found, as in the library `tokenizers`.
NORMAL, UNKNOWN, CONTROL, USER_DEFINED, UNUSED, BYTE = range(1, 7)
GGUF_IDS = re.findall(
    r"\w+",
    """
    bos eos eot eom unknown seperator padding cls mask prefix suffix middle fim_pre fim_suf fim_mid
    fim_pad fim_rep fim_sep
    """,
)
GGUF: Wanted = {
    "ggml.model": str,
    "ggml.pre": str,
    "ggml.tokens": list,
    "ggml.token_type": list,
    "ggml.merges": list,
    "ggml.add_space_prefix": (None, False),
    "ggml.remove_extra_whitespaces": (None, False),
    **dict.fromkeys(["chat_template", "chat_templates", "huggingface.json", "ggml.scores"]),
    **dict.fromkeys(f"ggml.add_{name}_token" for name in ("bos", "eos", "sep")),
    **dict.fromkeys(f"ggml.{name}_token_id" for name in GGUF_IDS),
    "ggml.token_type_count": None,
}


def of_folder(folder: Path, config: Said) -> ByteLevelTokenizer | WordPieceTokenizer:
    """Return the tokenizer of a folder of Hugging Face, whose ``config.json`` says `config`."""
    path = folder / "tokenizer.json"
    said = read_json(path)
    try:
        _entries("tokenizer", said, TOKENIZER, optional=TOKENIZER.keys() - {"model"})
        kind, after = said["model"].get("type"), said.get("post_processor")
        if kind not in ("WordPiece", "BPE"):
            raise argument_error("model.type", "'WordPiece' or 'BPE'", shown(kind))
        if said.get("decoder") is not None:
            _entries("decoder", said["decoder"], DECODERS[kind])
        if after is not None and after.get("type") not in POST_PROCESSORS:
            wanted = f"one of {', '.join(POST_PROCESSORS)}"
            raise argument_error("post_processor.type", wanted, shown(after.get("type")))
        if kind == "WordPiece":
            tokenizer: ByteLevelTokenizer | WordPieceTokenizer = _word_pieces(said)
        else:
            tokenizer = _byte_pairs(said)
    except ValueError as error:
        raise ValueError(f"{path}: {error}") from None
    _check_config(folder / "tokenizer_config.json", tokenizer)
    if isinstance(tokenizer, WordPieceTokenizer):
        # A WordPiece tokenizer finds [PAD], [CLS] and [SEP] by their names.
        return tokenizer
    ends = _ends(folder, config, tokenizer.vocab_size)
    return ByteLevelTokenizer(
        tokenizer.vocabulary,
        tokenizer.merges,
        tokenizer.added,
        tokenizer.patterns,
        whole_words=tokenizer.whole_words,
        **ends,
    )


def _entries(name: str, said: object, wanted: Wanted, optional: Iterable[str] = ()) -> Said:
    """Return an object of JSON; refuse unknown entries, and values that are not wanted."""
    if not isinstance(said, dict):
        raise argument_error(name, "an object of JSON", shown(said))
    for key in said:
        if key not in wanted:
            named = key if re.fullmatch(r"[\w.]{1,60}", key) else shown(key)
            raise argument_error(f"{name}.{named}", "no entry of this name", shown(said[key]))
    for key, allowed in wanted.items():
        value = said.get(key)
        if allowed is None or key in optional and value is None:
            continue
        if isinstance(allowed, type):
            if type(value) is not allowed:
                kind = {list: "a list", dict: "an object", str: "a text", int: "an integer"}
                raise argument_error(
                    f"{name}.{key}", kind.get(allowed, "true or false"), shown(value)
                )
        elif not any(type(value) is type(one) and value == one for one in allowed):
            raise argument_error(f"{name}.{key}", " or ".join(map(repr, allowed)), shown(value))
    return said


def _vocabulary(said: Said) -> tuple[list[str], list[AddedToken]]:
    """Return the tokens in the order of their ids, and the added ones among them."""
    ids = dict(said["model"]["vocab"])
    if not all(type(i) is int for i in ids.values()):
        raise argument_error("model.vocab", "integers as ids", "others")
    vocabulary = sorted(ids, key=ids.__getitem__)
    for i, token in enumerate(vocabulary):
        if ids[token] != i:
            raise argument_error(
                "model.vocab", "the ids 0, 1, 2, ..., each once", f"{ids[token]} in place of {i}"
            )
    added = []
    for entry in said.get("added_tokens") or ():
        token = {**_entries("added_tokens", entry, ADDED)}
        given, content = token.pop("id"), token["content"]
        added.append(AddedToken(**token))
        if content not in ids:
            ids[content] = len(vocabulary)
            vocabulary.append(content)
        if given != ids[content]:
            raise argument_error(
                "added_tokens", f"the id {ids[content]} for {shown(content)}", given
            )
    return vocabulary, added


def _word_pieces(said: Said) -> WordPieceTokenizer:
    model = _entries("model", said["model"], WORD_PIECE)
    normalizer = _entries("normalizer", said.get("normalizer"), NORMALIZER)
    _entries("pre_tokenizer", said.get("pre_tokenizer"), {"type": ("BertPreTokenizer",)})
    lowercase = normalizer["lowercase"]
    if normalizer.get("strip_accents") not in (None, lowercase):
        got = repr(normalizer["strip_accents"])
        raise argument_error(
            "normalizer.strip_accents", f"None or {lowercase}, as lowercase is", got
        )
    vocabulary, added = _vocabulary(said)
    return WordPieceTokenizer(vocabulary, lowercase, added, len(model["vocab"]))


def _byte_pairs(said: Said) -> ByteLevelTokenizer:
    model = _entries("model", said["model"], BYTE_PAIRS, optional={"unk_token"})
    if said.get("normalizer") is not None:
        raise argument_error("normalizer", "none for byte pairs", shown(said["normalizer"]))
    patterns = _patterns(said.get("pre_tokenizer"))
    vocabulary, added = _vocabulary(said)
    # Where every byte has a token, no text is unknown, and these entries have no effect.
    if not model["vocab"].keys() >= set(byte_letters().values()):
        for name in ("unk_token", "byte_fallback"):
            if model.get(name):
                lacking = "nothing, since bytes lack a token"
                raise argument_error(f"model.{name}", lacking, shown(model[name]))
    merges = [merge.split(" ") if isinstance(merge, str) else merge for merge in model["merges"]]
    for merge in merges:
        is_pair = isinstance(merge, list) and all(isinstance(part, str) for part in merge)
        if not is_pair or not model["vocab"].keys() >= {*merge, "".join(merge)}:
            raise argument_error("model.merges", "pairs of tokens that make a token", shown(merge))
    whole_words = bool(model.get("ignore_merges"))
    return ByteLevelTokenizer(vocabulary, merges, added, patterns, whole_words=whole_words)


def _patterns(splitter: Said | None) -> list[str]:
    """Return the patterns with which the steps of a splitter cut words; its last step is bytes."""
    steps: list[Any] = []
    waiting: list[Any] = [splitter]
    while waiting:
        step = waiting.pop()
        if isinstance(step, dict) and step.get("type") == "Sequence":
            sequence: Wanted = {"type": ("Sequence",), "pretokenizers": list}
            waiting += _entries("pre_tokenizer", step, sequence)["pretokenizers"][::-1]
        else:
            steps.append(step)
    found = []
    for n, step in enumerate(steps, start=1):
        kind = step.get("type") if isinstance(step, dict) else None
        if (kind == "ByteLevel") != (n == len(steps)):
            wanted = "a ByteLevel as the last step, and there alone"
            raise argument_error("pre_tokenizer", wanted, shown(kind or step))
        if kind == "ByteLevel":
            by_bytes = _entries("pre_tokenizer", step, BYTE_LEVEL)
            found += [GPT2_WORDS] if by_bytes.get("use_regex") is not False else []
        elif kind == "Digits":
            digits: Wanted = {"type": ("Digits",), "individual_digits": (True,)}
            _entries("pre_tokenizer", step, digits)
            found.append(NUMBER)
        elif kind == "Split":
            split: Wanted = {
                "type": ("Split",),
                "pattern": dict,
                "behavior": ("Isolated",),
                "invert": (False,),
            }
            pattern = _entries("pre_tokenizer", step, split)["pattern"]
            regex = _entries("pre_tokenizer.pattern", pattern, {"Regex": str})["Regex"]
            if not regex or not PATTERN.fullmatch(regex):
                wanted = "a Regex that means the same in Python"
                raise argument_error("pre_tokenizer.pattern", wanted, shown(regex))
            found.append(regex)
        else:
            raise argument_error("pre_tokenizer", "Split, Digits or ByteLevel", shown(kind or step))
    if not found:
        raise argument_error(
            "pre_tokenizer", "something that cuts words", "a ByteLevel without its regex"
        )
    return found


def _check_config(path: Path, tokenizer: ByteLevelTokenizer | WordPieceTokenizer) -> None:
    """Raise ``ValueError`` if a ``tokenizer_config.json`` would give a text other ids."""
    if not path.exists():
        return
    try:
        said = _entries("tokenizer_config", read_object(path), CONFIG)
        lowercase = isinstance(tokenizer, WordPieceTokenizer) and tokenizer.lowercase
        for name in ("do_lower_case", "strip_accents"):
            if said.get(name) not in (None, lowercase):
                raise argument_error(name, f"{lowercase}, as in tokenizer.json", said[name])
        added = {token.content: token for token in tokenizer.added}
        by_id = said.get("added_tokens_decoder") or {}
        if not isinstance(by_id, dict):
            raise argument_error("added_tokens_decoder", "an object", shown(by_id))
        for i, entry in by_id.items():
            token = {**_entries("added_tokens_decoder", entry, {**ADDED, "id": None})}
            content, same = token["content"], added.get(token["content"])
            if same != AddedToken(**token) or i != str(tokenizer._ids[content]):
                raise argument_error(
                    "added_tokens_decoder", "the tokens of tokenizer.json", shown(content)
                )
        for name in NAMED:
            given = said.get(name)
            given = (
                list(given.values())
                if isinstance(given, dict) and "content" not in given
                else given
            )
            for one in given if isinstance(given, list) else [given]:
                one = one.get("content") if isinstance(one, dict) else one
                if one is not None and (not isinstance(one, str) or one not in added):
                    raise argument_error(name, "added tokens of tokenizer.json", shown(one))
    except ValueError as error:
        prefix = "" if str(error).startswith(str(path)) else f"{path}: "
        raise ValueError(f"{prefix}{error}") from None


def read_object(path: Path) -> Said:
    """Return the object in a JSON file that is not too large for a configuration."""
    if path.is_file() and path.stat().st_size > LARGEST_JSON:
        raise argument_error(str(path), f"at most {LARGEST_JSON} bytes", path.stat().st_size)
    said = read_json(path)
    if not isinstance(said, dict):
        raise argument_error(str(path), "an object of JSON", shown(said))
    return said


def _ends(folder: Path, config: Said, vocab_size: int) -> Said:
    """Return the ids of padding, start and ends; ``generation_config.json`` has the last word."""
    path = folder / "generation_config.json"
    generation = read_object(path) if path.exists() else {}
    found: Said = {}
    for name, theirs in {"pad": "pad", "sos": "bos", "eos": "eos"}.items():
        key = f"{theirs}_token_id"
        file = path if generation.get(key) is not None else folder / "config.json"
        given = config.get(key) if generation.get(key) is None else generation[key]
        ids = given if isinstance(given, list) and name == "eos" else [given]
        for i in ids:
            if i is not None and (type(i) is not int or not 0 <= i < vocab_size):
                raise argument_error(
                    f"{file}: {key}", f"an id below vocab_size = {vocab_size}", shown(i)
                )
        found[f"{name}_id"] = [i for i in ids if i is not None] if name == "eos" else given
    return found


def of_gguf(path: Path, metadata: dict[str, Any]) -> ByteLevelTokenizer:
    """Return the tokenizer that the `metadata` of the GGUF file at `path` describe."""
    try:
        return _of_gguf(
            {
                name.removeprefix("tokenizer."): value
                for name, value in metadata.items()
                if name.startswith("tokenizer.") and not name.startswith("tokenizer.chat_template.")
            }
        )
    except ValueError as error:
        raise ValueError(f"{path}: {error}") from None


def _of_gguf(metadata: Said) -> ByteLevelTokenizer:
    if metadata.get("ggml.model") != "gpt2":
        wanted = "'gpt2', a byte-level BPE"
        raise argument_error("tokenizer.ggml.model", wanted, shown(metadata.get("ggml.model")))
    pre = metadata.get("ggml.pre")
    if not isinstance(pre, str) or pre not in SPLITS:
        raise argument_error("tokenizer.ggml.pre", " or ".join(map(repr, SPLITS)), shown(pre))
    _entries("tokenizer", metadata, GGUF)
    said = {name.removeprefix("ggml."): value for name, value in metadata.items()}
    for name, kind in {"tokens": str, "token_type": int, "merges": str}.items():
        if not all(type(value) is kind for value in said[name]):
            raise argument_error(
                f"tokenizer.ggml.{name}", f"values of the type {kind.__name__}", "others"
            )
    tokens, kinds = said["tokens"], said["token_type"]
    if len(kinds) != len(tokens):
        raise argument_error("tokenizer.ggml.token_type", f"{len(tokens)} types", len(kinds))
    for token, kind in zip(tokens, kinds, strict=True):
        if not NORMAL <= kind <= BYTE:
            raise argument_error(
                "tokenizer.ggml.token_type", "1 to 6", f"{kind} for {shown(token)}"
            )
    ids = {name: said.get(f"{name}_token_id") for name in ("bos", "padding", "eos", "eot", "eom")}
    for name, i in ids.items():
        if i is not None and (type(i) is not int or not 0 <= i < len(tokens)):
            wanted = f"an id below {len(tokens)}"
            raise argument_error(f"tokenizer.ggml.{name}_token_id", wanted, shown(i))
    ends = (ids[name] for name in ("eos", "eot", "eom"))
    both = list(zip(tokens, kinds, strict=True))
    added = [
        AddedToken(token, special=kind != USER_DEFINED)
        for token, kind in both
        if kind in (UNKNOWN, CONTROL, USER_DEFINED)
    ]
    return ByteLevelTokenizer(
        tokens,
        [merge.split(" ") for merge in said["merges"]],
        added,
        SPLITS[pre],
        unused=[token for token, kind in both if kind in (UNUSED, BYTE)],
        sos_id=ids["bos"],
        eos_id=list(dict.fromkeys(i for i in ends if i is not None)),
        pad_id=ids["padding"],
    )
