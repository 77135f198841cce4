"""Published tokenizer files against the library `tokenizers`: the same ids, or a refusal."""

import copy
import json
import random
import re
from contextlib import suppress

import pytest
import tokenizers
from tokenizers import Regex, decoders, models, normalizers, pre_tokenizers, processors

from attn.pretrained.tokenizers import of_folder, of_gguf
from attn.tokenizer import AddedToken, ByteLevelTokenizer, WordPieceTokenizer
from attn.tokenizer.byte_level import byte_letters
from attn.tokenizer.word_piece import MARKS
from tests.core.helpers import refuses
from tests.core.test_tokenizer_pretrained import HARD, TEXTS, places

LETTERS = list(byte_letters().values())
MERGES = [("t", "h"), ("th", "e"), ("Ġ", "the"), ("Ġ", "t"), ("Ġt", "h"), ("Ġ", "Ġ"), ("Ã", "©")]
PIECES = [
    *(*MARKS, "[MASK]"),
    *("the", "house", "##1", "##e", "##b", "##a", "##s", "##2"),
    *"[]eabs1<>éÉE日t#-_ß",
]
FLAGS = ("special", "lstrip", "rstrip", "single_word", "normalized")
# These tokens are prefixes of others, differ only in case, are white space, or are words as well.
CONTENTS = [
    *("[E1]", "[E1]x", "<a>", "<a>b", "a", "ab", "the", "The", "<|im_end|>", "<|im", "日本"),
    *("[MASK]", "##s", "12", "'s", *"É日_ñİßς"),
    *("é x", "  ", " t", "t ", "\n", "x\u0301", "\u00ad-", " [A] ", "\u200d", "\u3000"),
]
NEAR = [
    *("a", "B", "_", "1", "é", "É", "क", "ी", "-", "<", "[", "🙂", "Ⓐ", "½", "‿"),
    *("", " ", "  ", "\n", "\t", "\u3000", "\u00a0", "\u2028", "\x1c", "\x85", "\u200b"),
    *("\u200d", "\u0301", "the house", "THE", "\ufffd", "\x00"),
]
LLAMA_WORDS = (
    r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*"
    r"|\s*[\r\n]+|\s+(?!\S)|\s+"
)


def word_pieces(lowercase=True):
    theirs = tokenizers.Tokenizer(
        models.WordPiece({token: i for i, token in enumerate(PIECES)}, unk_token="[UNK]")
    )
    theirs.normalizer = normalizers.BertNormalizer(lowercase=lowercase)
    theirs.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    theirs.decoder = decoders.WordPiece(cleanup=False)
    return theirs


def byte_pairs():
    vocabulary = [*LETTERS, *map("".join, MERGES)]
    theirs = tokenizers.Tokenizer(models.BPE({t: i for i, t in enumerate(vocabulary)}, MERGES))
    theirs.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    theirs.decoder = decoders.ByteLevel()
    return theirs


def read(folder, theirs, config=()):
    """Return our tokenizer for a folder that holds one of `tokenizers`, or the given JSON."""
    content = theirs if isinstance(theirs, dict) else json.loads(theirs.to_str())
    (folder / "tokenizer.json").write_text(json.dumps(content), "utf-8")
    return of_folder(folder, dict(config))


def assert_same_ids(ours, theirs, lines):
    """`encode_marked` finds all added tokens, as `tokenizers`; `encode` the ordinary ones."""
    for line in lines:
        theirs.encode_special_tokens = False
        assert ours.encode_marked(line) == theirs.encode(line, add_special_tokens=False).ids, line
        theirs.encode_special_tokens = True
        assert ours.encode(line) == theirs.encode(line, add_special_tokens=False).ids, line


def text_of(rng, contents):
    parts = []
    for _ in range(rng.randint(1, 8)):
        part = rng.choice(contents)
        part = rng.choice([part, part, part, part[: rng.randint(1, len(part))], part.swapcase()])
        parts += [part, rng.choice(NEAR), rng.choice(["", "", rng.choice(NEAR)])]
    return "".join(parts)


@pytest.mark.parametrize("kind", ["pieces", "pieces with capitals", "byte pairs"])
def test_added_tokens_of_all_flags_have_the_ids_of_tokenizers(tmp_path, kind):
    n_read = 0
    for seed in range(60):
        rng = random.Random(f"{kind} {seed}")
        theirs = byte_pairs() if kind == "byte pairs" else word_pieces(kind == "pieces")
        contents = rng.sample(CONTENTS, rng.randint(1, 7))
        for content in contents:
            flags = {flag: rng.random() < 0.4 for flag in FLAGS}
            # The other library may panic here.
            flags["lstrip"] &= content[0].strip() != ""
            theirs.add_tokens([tokenizers.AddedToken(content, **flags)])
        try:
            ours = read(tmp_path, theirs)
        except ValueError as error:
            # The other library takes one of two equal tokens, and not always the same one.
            assert "added: expected tokens that differ once normalised" in str(error) or (
                "added: expected tokens of which something is left" in str(error)
            )
            continue
        n_read += 1
        lines = [text_of(rng, contents) for _ in range(25)]
        assert_same_ids(ours, theirs, lines)
        special = set(ours.special.values()) - {ours.unk_id}
        ids = [i for i in ours.encode_marked(" ".join(lines)) if i not in special]
        assert ours.decode(ours.encode_marked(" ".join(lines))) == ours.decode(ids)
        # The other library shows the normalised form of a token.
        if kind != "byte pairs":
            normalised = {
                ours.tokens.index(token.content) for token in ours.added if token.normalized
            }
            ids = [i for i in ids if i not in normalised]
            assert ours.decode(ids) == theirs.decode(ids, skip_special_tokens=False)
        ours.save(tmp_path / "saved.json")
        again = type(ours).load(tmp_path / "saved.json")
        assert again == ours and again.encode_marked(lines[0]) == ours.encode_marked(lines[0])
    assert n_read > 50


def test_white_space_stripped_by_one_token_is_not_used_by_the_next(tmp_path):
    theirs = word_pieces()
    theirs.add_tokens(
        [
            tokenizers.AddedToken("12", rstrip=True),
            tokenizers.AddedToken("  ", normalized=False),
            tokenizers.AddedToken("\t", lstrip=True, rstrip=True, normalized=False),
        ]
    )
    lines = ["12\t\te", "e\t\t12\t e", "\t12 \t", "\t\t", "12    e", "12   \t  e"]
    assert_same_ids(read(tmp_path, theirs), theirs, lines)


def test_typed_text_gives_no_special_token_and_other_added_tokens_are_decoded(tmp_path):
    theirs = byte_pairs()
    theirs.add_special_tokens(["<|end|>"])
    theirs.add_tokens(["<tool>", "año "])
    ours = read(tmp_path, theirs)
    mark, tool, year = (ours.vocabulary.index(token) for token in ("<|end|>", "<tool>", "año "))
    assert mark not in ours.encode("a<|end|>") and ours.decode(ours.encode("<|end|>")) == "<|end|>"
    assert ours.encode_marked("a<|end|><tool>")[-2:] == [mark, tool]
    assert tool in ours.encode("a<tool>") and year in ours.encode("un año x")
    assert ours.decode(ours.encode_marked("un año <tool> x<|end|>")) == "un año <tool> x"
    assert ours.unknown("a<tool>") == []


def test_words_that_are_tokens_can_be_left_whole(tmp_path):
    """In Llama 3, the merges do not lead to some tokens of the vocabulary."""
    vocabulary = [*LETTERS, "th", "he", "the", "hé"[:1] + "Ã", "Ġab", "ab"]
    merges = [("h", "e"), ("t", "h"), ("th", "e"), ("h", "Ã"), ("a", "b"), ("Ġ", "ab")]
    theirs = tokenizers.Tokenizer(
        models.BPE({t: i for i, t in enumerate(vocabulary)}, merges, ignore_merges=True)
    )
    theirs.pre_tokenizer = pre_tokenizers.Sequence(
        [
            pre_tokenizers.Split(Regex(LLAMA_WORDS), "isolated"),
            pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False),
        ]
    )
    theirs.add_tokens(["cd", "<x>"])
    ours = read(tmp_path, theirs)
    assert_same_ids(
        ours, theirs, ["the", "there the", "ab ab cd", "thé", "I'LL 12345\r\n\n x", *HARD]
    )
    assert len(ours.encode("the")) == 1 < len(ours.encode("them"))


def test_two_merges_may_make_the_same_token(tmp_path):
    vocabulary = [*LETTERS, "ab", "bc", "abc"]
    merges = [("b", "c"), ("a", "b"), ("a", "bc"), ("ab", "c")]
    theirs = tokenizers.Tokenizer(models.BPE({t: i for i, t in enumerate(vocabulary)}, merges))
    theirs.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    rng = random.Random(0)
    lines = ["".join(rng.choices("abc ", k=rng.randint(1, 12))) for _ in range(200)]
    assert_same_ids(read(tmp_path, theirs), theirs, lines)


def test_the_best_ranked_pair_is_merged_first(tmp_path):
    """Merges are in any order: an early one may join tokens that a later one makes."""
    rng = random.Random(0)
    for _ in range(40):
        parts = ["a", "b", "c"]
        merges = []
        for _ in range(8):
            pair = (rng.choice(parts), rng.choice(parts))
            if "".join(pair) not in parts:
                merges.append(pair)
                parts.append("".join(pair))
        rng.shuffle(merges)
        vocabulary = list(dict.fromkeys([*LETTERS, *parts]))
        theirs = tokenizers.Tokenizer(models.BPE({t: i for i, t in enumerate(vocabulary)}, merges))
        theirs.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
        lines = ["".join(rng.choices("abc", k=rng.randint(1, 30))) for _ in range(20)]
        assert_same_ids(read(tmp_path, theirs), theirs, lines)


PIECES_ALONE, PAIRS_ALONE = json.loads(word_pieces().to_str()), json.loads(byte_pairs().to_str())
SPLIT = {"type": "Split", "pattern": {"Regex": "a"}, "behavior": "Isolated", "invert": False}
TOKEN = {"id": len(PIECES), "content": "<x>", **dict.fromkeys(FLAGS, False)}


def split_by(**change):
    by_bytes = {"type": "ByteLevel", "add_prefix_space": False, "use_regex": False}
    return {"type": "Sequence", "pretokenizers": [SPLIT | change, by_bytes]}


REFUSED_REGEXES = ("^a", r"\w+", r"\bx", "(a)", "[[:alpha:]]", "[a&&b]", "(?i:i)", "(", "a{2}+", "")


@pytest.mark.parametrize(
    "kind, change, message",
    [
        ("pieces", {"model.unk_token": "[X]"}, ": expected '[UNK]', got '[X]'"),
        ("pieces", {"model.continuing_subword_prefix": "@@"}, ": expected "),
        ("pieces", {"model.max_input_chars_per_word": 9}, ": expected "),
        ("pieces", {"model.type": "Unigram"}, ": expected 'WordPiece' or 'BPE', got 'Unigram'"),
        ("pieces", {"model.new": 1}, ": expected no entry of this name, got 1"),
        ("pieces", {"model.vocab": {"a": 0, "b": 0}}, ": expected the ids 0, 1, 2, ..."),
        ("pieces", {"model.vocab": {"a": "0"}}, ": expected integers as ids, got others"),
        ("pieces", {"normalizer.strip_accents": False}, ": expected None or"),
        ("pieces", {"normalizer.clean_text": False}, ": expected True, got False"),
        ("pieces", {"normalizer.type": "NFC"}, ": expected 'BertNormalizer', got"),
        ("pieces", {"decoder.prefix": "@@"}, ": expected '##', got '@@'"),
        ("pieces", {"added_tokens": [TOKEN | {"id": 5}]}, ": expected the id 31 for '"),
        ("pieces", {"added_tokens": [TOKEN | {"x": 1}]}, ".x: expected no entry of this name"),
        ("pieces", {"added_tokens": [{"id": 0}]}, ".content: expected a text, got None"),
        ("pieces", {"post_processor": {"type": "New"}}, ".type: expected one of B"),
        ("pairs", {"model.dropout": 0.1}, ": expected None or 0.0 or 0, got 0.1"),
        ("pairs", {"model.end_of_word_suffix": "</w>"}, ": expected None or"),
        ("pairs", {"model.continuing_subword_prefix": "#"}, ": expected "),
        ("pairs", {"model.merges": ["a b c"]}, ": expected pairs of tokens that make a token"),
        ("pairs", {"model.merges": ["a b"]}, ": expected pairs of tokens that make a token"),
        ("pairs", {"normalizer": {"type": "NFC"}}, ": expected none for byte pairs, got"),
        ("pairs", {"pre_tokenizer.add_prefix_space": True}, ": expected "),
        ("pairs", {"pre_tokenizer": split_by(behavior="Removed")}, ".behavior: expected "),
        ("pairs", {"pre_tokenizer": split_by(invert=True)}, ".invert: expected False"),
        ("pairs", {"pre_tokenizer": split_by(pattern={"String": "a"})}, ".pattern.String: expecte"),
        *(
            ("pairs", {"pre_tokenizer": split_by(pattern={"Regex": regex})}, ".pattern")
            for regex in REFUSED_REGEXES
        ),
        # The error names another part than the one that was changed.
        ("pieces", {"added_tokens": [TOKEN, TOKEN]}, "added: expected each token once"),
        (
            "pieces",
            {"added_tokens": [TOKEN | {"content": "\u0301", "normalized": True}]},
            "added: expected tokens of which something is left once normalised",
        ),
        ("pieces", {"version": "2.0"}, "tokenizer.version: expected None or '1.0', got '2.0'"),
        ("pieces", {"new": 1}, "tokenizer.new: expected no entry of this name, got 1"),
        ("pairs", {"model.merges": ["t h", "t h"]}, "merges: expected distinct pairs, got ['t', '"),
        ("pairs", {"model.unk_token": "a"}, ": expected nothing, since bytes lack a token, got 'a"),
        ("pairs", {"model.byte_fallback": True}, ": expected nothing, since bytes lack"),
        ("pairs", {"pre_tokenizer.use_regex": False}, "pre_tokenizer: expected something that cut"),
        ("pairs", {"pre_tokenizer.type": "Metaspace"}, "pre_tokenizer: expected a ByteLevel as th"),
        ("pairs", {"pre_tokenizer": split_by(pattern={"Regex": "a**"})}, "patterns: expected regu"),
    ],
)
def test_an_unsupported_entry_that_affects_ids_is_named(tmp_path, kind, change, message):
    content = copy.deepcopy(PIECES_ALONE if kind == "pieces" else PAIRS_ALONE)
    ((path, value),) = change.items()
    part, _, name = path.rpartition(".")
    (content[part] if part else content)[name] = value
    if name in ("unk_token", "byte_fallback") and kind == "pairs":
        content["model"] |= {"vocab": {"a": 0}, "merges": []}
    named = path + message if message[0] in ":." else message
    with pytest.raises(ValueError, match=f"^{re.escape(f'{tmp_path}/tokenizer.json: {named}')}"):
        read(tmp_path, content)


CONFIG = {"do_lower_case": True, "pad_token": "[PAD]", "cls_token": {"content": "[CLS]"}}


def test_contradicting_files_of_a_tokenizer_are_refused(tmp_path):
    theirs = word_pieces()
    theirs.add_special_tokens(["[PAD]", "[CLS]", "[E1]"])
    path = tmp_path / "tokenizer_config.json"
    entry = {key: value for key, value in TOKEN.items() if key != "id"}
    entry |= {"content": "[E1]", "special": True}
    right = CONFIG | {"added_tokens_decoder": {str(len(PIECES)): entry}, "model_max_length": 512}
    path.write_text(json.dumps(right))
    assert read(tmp_path, theirs).encode_marked("[E1]") == [len(PIECES)]
    for change, message in (
        ({"do_lower_case": False}, "do_lower_case: expected True, as in tokenizer.json, got False"),
        ({"strip_accents": False}, "strip_accents: expected True, as in tokenizer.json, got False"),
        ({"tokenize_chinese_chars": False}, "tokenizer_config.tokenize_chinese_chars: expected No"),
        ({"add_prefix_space": True}, "tokenizer_config.add_prefix_space: expected None or False"),
        ({"mask_token": "[M]"}, "mask_token: expected added tokens of tokenizer.json, got '[M]'"),
        ({"additional_special_tokens": ["[M]"]}, "additional_special_tokens: expected added toke"),
        ({"added_tokens_decoder": {"3": entry}}, "added_tokens_decoder: expected the tokens of to"),
        (
            {"added_tokens_decoder": {str(len(PIECES)): entry | {"lstrip": True}}},
            "added_tokens_decoder: expected the tokens of tokenizer.json, got '[E1]'",
        ),
        ({"new": 1}, "tokenizer_config.new: expected no entry of this name, got 1"),
    ):
        path.write_text(json.dumps(right | change))
        with pytest.raises(ValueError, match=f"^{re.escape(f'{path}: {message}')}"):
            read(tmp_path, theirs)
    path.write_text("[1")
    with pytest.raises(ValueError, match=f"^{re.escape(str(path))}: expected JSON"):
        read(tmp_path, theirs)


def test_end_tokens_are_read_from_the_configuration_files(tmp_path):
    theirs = byte_pairs()
    ours = read(tmp_path, theirs, {"eos_token_id": [7, 5], "bos_token_id": 3})
    assert (ours.end_ids, ours.eos_id, ours.sos_id, ours.pad_id) == ([7, 5], 7, 3, 7)
    assert ours.encode("h", sos=True, eos=True)[::2] == [3, 7]
    ours.save(tmp_path / "saved.json")
    assert ByteLevelTokenizer.load(tmp_path / "saved.json").end_ids == [7, 5]
    assert read(tmp_path, theirs, {"eos_token_id": 6}).end_ids == [6]
    assert read(tmp_path, theirs, {"eos_token_id": []}).end_ids == [0]
    path = tmp_path / "generation_config.json"
    path.write_text(json.dumps({"eos_token_id": [9, 8], "temperature": 0.5}))
    assert read(tmp_path, theirs, {"eos_token_id": 6, "bos_token_id": 3}).end_ids == [9, 8]
    for given in (True, 1.5, "7", [7, None, "x"], 9999, -1, {}):
        path.write_text(json.dumps({"eos_token_id": given}))
        with pytest.raises(
            ValueError, match=f"^{re.escape(str(path))}: eos_token_id: expected an id"
        ):
            read(tmp_path, theirs)
    path.unlink()
    with pytest.raises(ValueError, match=r"/config\.json: bos_token_id: expected an id below voca"):
        read(tmp_path, theirs, {"bos_token_id": [3]})


JUNK = [
    *(None, True, -1, 1, 1.5, float("inf"), 2**70, [], [1], [["a", "b"]], {}, {"a": 1}),
    *("", "x", "(", "[", "a b", "##", "\ud800", {"type": "Sequence"}, "x" * 5000),
]


def damaged(rng, content):
    """Return the text of a file with one or two parts retyped, removed, copied or truncated."""
    for _ in range(rng.randint(1, 2)):
        ways = [way for way in places(content) if way]
        outside = [way for way in ways if "vocab" not in way[:-1] and "merges" not in way[:-1]]
        *above, last = rng.choice(outside if rng.random() < 0.8 else ways)
        part = content
        for key in above:
            part = part[key]
        choice = rng.randrange(4)
        if choice == 0:
            del part[last]
        elif choice == 1 and isinstance(part, dict):
            part[rng.choice(["new", "dropout", "x" * 200, "a\nb"])] = copy.deepcopy(
                rng.choice(JUNK)
            )
        else:
            part[last] = copy.deepcopy(rng.choice(JUNK))
    text = json.dumps(content)
    if rng.random() < 0.1:
        cut = rng.randrange(len(text))
        text = text[:cut] + rng.choice(["", "]", "}", '"', ",", "[" * 3000, "\\"]) + text[cut + 1 :]
    return text


def test_a_damaged_file_is_read_as_by_tokenizers_or_refused(tmp_path):
    pieces, pairs = word_pieces(), byte_pairs()
    pieces.add_tokens(["[E1]", tokenizers.AddedToken("<x>", single_word=True)])
    pairs.add_tokens([tokenizers.AddedToken("<x>", lstrip=True)])
    pairs.post_processor = processors.ByteLevel()
    pairs.pre_tokenizer = pre_tokenizers.Sequence(
        [
            pre_tokenizers.Digits(True),
            pre_tokenizers.Split(Regex(LLAMA_WORDS), "isolated"),
            pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False),
        ]
    )
    bases = [json.loads(theirs.to_str()) for theirs in (pieces, pairs)]
    path, rng, n_read = tmp_path / "tokenizer.json", random.Random(0), 0
    for _ in range(400):
        path.write_text(damaged(rng, copy.deepcopy(rng.choice(bases))))
        try:
            ours = of_folder(tmp_path, {})
        except ValueError as error:
            message = str(error)
            assert message.startswith(f"{path}: ") and "\n" not in message and len(message) < 500
            continue
        theirs = None
        # The other library also reads entries that affect no id.
        with suppress(Exception):
            theirs = tokenizers.Tokenizer.from_file(str(path))
        if theirs is None:
            continue
        n_read += 1
        theirs.no_truncation()
        theirs.no_padding()
        assert_same_ids(ours, theirs, [*TEXTS, *HARD[:12], "[E1] a<x> <x>b"])
    assert n_read > 10


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('{"model": {}, "model": {}}', "something else (the name 'model' twice in one object)"),
        (
            '{"model": {"dropout": Infinity}}',
            "something else (Infinity, which is no number of JSON)",
        ),
    ],
)
def test_ambiguous_or_invalid_json_is_refused(tmp_path, text, message):
    (tmp_path / "tokenizer.json").write_text(text)
    expected = f"{tmp_path}/tokenizer.json: expected JSON in UTF-8, got {message}"
    with pytest.raises(ValueError, match=f"^{re.escape(expected)}$"):
        of_folder(tmp_path, {})


# GGUF

METADATA = {
    "tokenizer.ggml.model": "gpt2",
    "tokenizer.ggml.pre": "gpt-2",
    "tokenizer.ggml.tokens": [
        *(*LETTERS, "th", "<|end|>", "<tool>", "    ", "<unk>", "[PAD1]", "<0x0A>")
    ],
    "tokenizer.ggml.token_type": [1] * 257 + [3, 4, 4, 2, 5, 6],
    "tokenizer.ggml.merges": ["t h"],
    "tokenizer.ggml.eos_token_id": 257,
    "tokenizer.ggml.add_bos_token": False,
    "tokenizer.chat_template": "...",
}


def test_each_type_of_gguf_tokens(tmp_path):
    ours = of_gguf(tmp_path, METADATA)
    end, tool, spaces, unknown, unused, byte = range(257, 263)
    for text in ("a<|end|>", "<unk>", "[PAD1]", "<0x0A>"):
        assert max(ours.encode(text)) < 257 and ours.decode(ours.encode(text)) == text
    assert ours.encode("th<tool>x    th") == [256, tool, *ours.encode("x"), spaces, 256]
    assert ours.decode([256, tool, spaces, end, unused, byte]) == "th<tool>    "
    assert ours.encode_marked("<|end|><unk>[PAD1]")[:2] == [end, unknown]
    assert max(ours.encode_marked("[PAD1]<0x0A>")) < 257
    ends = {"tokenizer.ggml.eot_token_id": 3, "tokenizer.ggml.eom_token_id": 257}
    assert of_gguf(tmp_path, METADATA | ends).end_ids == [257, 3]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"model": "llama"}, "tokenizer.ggml.model: expected 'gpt2', a byte-level BPE, got 'llama"),
        ({"pre": "qwen2"}, "tokenizer.ggml.pre: expected 'gpt-2' or 'smollm', got 'qwen2'"),
        ({"pre": ["gpt-2"]}, "tokenizer.ggml.pre: expected 'gpt-2' or 'smollm', got ['gpt-2']"),
        ({"add_space_prefix": True}, "tokenizer.ggml.add_space_prefix: expected None or False, go"),
        ({"precompiled_charsmap": "x"}, "tokenizer.ggml.precompiled_charsmap: expected no entry o"),
        ({"token_type": [1] * 262 + [7]}, "tokenizer.ggml.token_type: expected 1 to 6, got 7 for "),
        ({"token_type": [1]}, "tokenizer.ggml.token_type: expected 263 types, got 1"),
        ({"token_type": None}, "tokenizer.ggml.token_type: expected a list, got None"),
        ({"tokens": [5]}, "tokenizer.ggml.tokens: expected values of the type str, got others"),
        ({"merges": ["t h x"]}, "merges: expected pairs of tokens that make a token, got ['t', 'h"),
        ({"tokens": ["a"] * 263}, "merges: expected pairs of tokens that make a token"),
        ({"tokens": ["a"] * 263, "merges": []}, "tokens: expected distinct tokens, got 'a' twice"),
        ({"eot_token_id": 263}, "tokenizer.ggml.eot_token_id: expected an id below 263, got 263"),
        ({"bos_token_id": "x"}, "tokenizer.ggml.bos_token_id: expected an id below 263, got 'x'"),
    ],
)
def test_other_gguf_tokenizers_are_refused(tmp_path, change, message):
    change = {f"tokenizer.ggml.{name}": value for name, value in change.items()}
    with pytest.raises(ValueError, match=f"^{re.escape(f'{tmp_path}: {message}')}"):
        of_gguf(tmp_path, METADATA | change)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"content": ""}, "content: expected at least one character, got ''"),
        ({"content": 5}, "content: expected a string, got int"),
        ({"content": "a", "lstrip": 1}, "lstrip: expected True or False, got 1"),
    ],
)
def test_invalid_added_tokens_are_refused(arguments, message):
    with refuses(message):
        AddedToken(**arguments)


def test_n_pieces_counts_the_tokens_that_are_word_pieces():
    ours = WordPieceTokenizer([*MARKS, "a", "ab"], added=["ab"], n_pieces=5)
    assert ours.encode("ab") == [1] and ours.encode_marked("ab a") == [5, 4]
    with pytest.raises(ValueError, match="^n_pieces: expected at most 5, the number of tokens, go"):
        WordPieceTokenizer([*MARKS, "a"], n_pieces=6)
    with pytest.raises(ValueError, match="^unused: expected tokens of the vocabulary, got "):
        ByteLevelTokenizer(LETTERS, [], unused=["<x>"])
