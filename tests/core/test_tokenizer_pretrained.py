"""The tokenizers of published models, against the library `tokenizers`."""

import copy
import json
import re

import pytest
import tokenizers
from tokenizers import decoders, models, normalizers, pre_tokenizers, trainers

from attn.tokenizer import ByteLevelTokenizer, BytePairTokenizer, WordPieceTokenizer, WordTokenizer
from attn.tokenizer.byte_level import GPT2_WORDS, NUMBER, byte_letters
from attn.tokenizer.word_piece import MARKS, split

TEXTS = ["The sky is blue because of the way we see it.", "El cielo es azul.", "¿Qué dices, José?"]
# These texts have frequent sources of errors: spaces, digits, punctuation, scripts, composed
# letters.
HARD = [
    "",
    " ",
    "  a  b\n\n c\t",
    "I'll we've they'RE 'S '''s",
    "naïve café ÀÉÎ ñandú",
    "a\u0301e\u0308",
    "日本語 中文 한국어 ひらがな",
    "🙂👩‍👩‍👧‍👦 🇪🇸",
    "١٢٣ ½ ² Ⅷ 一二 2024",
    "x\x00\x01\ufffd\u200b\u00ady",
    "ΑΣΟΣ ς",
    "İstanbul ıI ǅ ß ẞ ﬁ",
    "\u1680\u2003x\u3000y\x85z\x1cw",
    "don't $5.00 + 3<4 ^~|`_",
    "\ue000 private",
    "नमस्ते ไทย",
    "a\u2028b\u2029c\u00a0d\ufeffe",
    "foo   123   bar",
    "x" * 100,
    "x" * 101,
    *("a" + chr(code) + "b" for code in range(0x600)),
]
END = "<|endoftext|>"


def byte_pairs(alphabet=None):
    """Train a byte-level BPE of `tokenizers` on TEXTS."""
    theirs = tokenizers.Tokenizer(models.BPE())
    theirs.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    theirs.decoder = decoders.ByteLevel()
    trainer = trainers.BpeTrainer(
        vocab_size=290,
        special_tokens=[END],
        show_progress=False,
        initial_alphabet=pre_tokenizers.ByteLevel.alphabet() if alphabet is None else alphabet,
    )
    theirs.train_from_iterator(TEXTS * 2, trainer)
    return theirs


def ours_of(theirs, *patterns):
    """Return our tokenizer with the same vocabulary and merges."""
    model = json.loads(theirs.to_str())["model"]
    vocabulary = sorted(model["vocab"], key=model["vocab"].get)
    return ByteLevelTokenizer(vocabulary, model["merges"], [END], patterns or [GPT2_WORDS])


def assert_same_ids(ours, theirs, lines):
    found = theirs.encode_batch(lines, add_special_tokens=False)
    for line, expected in zip(lines, found, strict=True):
        assert ours.encode(line) == expected.ids, line


def test_each_byte_has_a_different_letter():
    letters = byte_letters()
    assert sorted(letters) == list(range(256))
    assert set(letters.values()) == set(pre_tokenizers.ByteLevel.alphabet())


def test_byte_level_ids_are_those_of_tokenizers():
    theirs = byte_pairs()
    ours = ours_of(theirs)
    assert_same_ids(ours, theirs, HARD + TEXTS)
    for line in HARD + TEXTS:
        assert ours.decode(ours.encode(line)) == theirs.decode(ours.encode(line)) == line
    assert ours.vocab_size == theirs.get_vocab_size() and ours.unknown(HARD[6]) == []
    half = ours.encode("日")[:1]
    assert ours.decode(half) == theirs.decode(half) == "\ufffd"


@pytest.mark.parametrize(
    ("patterns", "steps"),
    [
        ([NUMBER, GPT2_WORDS], [pre_tokenizers.Digits(True), pre_tokenizers.ByteLevel(False)]),
        (
            [r"\p{L}{1,3}|\p{N}+"],
            [
                pre_tokenizers.Split(tokenizers.Regex(r"\p{L}{1,3}|\p{N}+"), "isolated"),
                pre_tokenizers.ByteLevel(False, use_regex=False),
            ],
        ),
    ],
)
def test_patterns_are_applied_one_after_the_other(patterns, steps):
    theirs = byte_pairs()
    theirs.pre_tokenizer = pre_tokenizers.Sequence(steps)
    assert_same_ids(ours_of(theirs, *patterns), theirs, HARD + TEXTS)


def test_bytes_without_a_token_are_left_out_before_anything_is_joined():
    theirs = byte_pairs(alphabet=[])
    ours = ours_of(theirs)
    lines = [*TEXTS, "the\x00re", "t\x04h\x04e sk\x00y", "日本 sky", "blue\x7f\x7f", "\x00"]
    assert_same_ids(ours, theirs, lines)
    assert ours.unknown("the s\x04ky is") == ["\x04"] and ours.encode("\x00") == []


def test_special_tokens_are_found_by_encode_marked_only():
    ours = ours_of(byte_pairs())
    ids = ours.encode(END)
    assert 0 not in ids and ours.decode(ids) == END
    assert ours.encode_marked(f"a{END}b") == [*ours.encode("a"), 0, *ours.encode("b")]
    assert ours.encode_marked("a b") == ours.encode("a b")
    assert ours.decode(ours.encode_marked(f"a{END}b")) == "ab"
    assert ours.encode("a", sos=True, eos=True) == [0, *ours.encode("a"), 0]
    without = ByteLevelTokenizer(list(byte_letters().values()), [])
    # "!" has the id 0.
    text = "!hi! what!"
    assert 0 in without.encode(text) and without.decode(without.encode(text)) == text
    assert without.eos_id == 0
    merging = ByteLevelTokenizer([*byte_letters().values(), "th"], [("t", "h")])
    assert merging.encode_marked("the") == merging.encode("the") and len(merging.encode("the")) == 2
    for tokenizer in (ours, without):
        with pytest.raises(ValueError, match="^text: expected a string, got int$"):
            tokenizer.encode_marked(5)
    assert without.encode_marked(END) == without.encode(END)
    longer = ["<a>", "<a>b", *byte_letters().values()]
    assert ByteLevelTokenizer(longer, [], ["<a>", "<a>b"]).encode_marked("<a>b") == [1]


def test_a_token_that_stands_for_no_bytes_is_its_own_text():
    """Elsewhere ñ stands for byte 241, which no text has alone; here it is a letter."""
    ours = ByteLevelTokenizer(["<ñ>", "日", *byte_letters().values()], [], ["<ñ>"])
    assert ours.tokens[:2] == ["<ñ>", "日"] and ours.decode([1]) == "日"


def test_a_byte_level_tokenizer_keeps_its_arguments(tmp_path):
    vocabulary = ["<s>", "</s>", "<pad>", *byte_letters().values(), "th"]
    ends = {"pad_id": 2, "sos_id": 0, "eos_id": 1}
    ours = ByteLevelTokenizer(vocabulary, [("t", "h")], vocabulary[:3], [r"\p{L}"], **ends)
    assert (ours.pad_id, ours.sos_id, ours.eos_id, ours.unk_id) == (2, 0, 1, 1)
    assert ours.special == {"<s>": 0, "</s>": 1, "<pad>": 2}
    assert ours.decode([0, *ours.encode("the"), 1, 2]) == "the"
    ours.save(tmp_path / "tokenizer.json")
    again = ByteLevelTokenizer.load(tmp_path / "tokenizer.json")
    assert again == ours and again.encode("the") == ours.encode("the")
    assert again.split("the") == ["t", "h", "e"]
    assert (again.pad_id, again.sos_id, again.eos_id) == (2, 0, 1) and again.special == ours.special


LETTERS = list(byte_letters().values())


@pytest.mark.parametrize(
    ("arguments", "options", "message"),
    [
        ((LETTERS, [("t", "h")]), {}, "merges: expected pairs of tokens that make a token, got ['"),
        (([*LETTERS, "th"], [("t", "h", "e")]), {}, "merges: expected pairs of tokens that make"),
        (([*LETTERS, "the"], [("th", "e")]), {}, "merges: expected pairs of tokens that make"),
        ((LETTERS, [], ["<s>"]), {}, "added: expected tokens of the vocabulary, got '<s>'"),
        ((LETTERS, [], [], ["(a)b"]), {}, "patterns: expected patterns without groups, got '(a)b'"),
        ((LETTERS, []), {"eos_id": 256}, "ids: expected at least 0 and below vocab_size = 256"),
    ],
)
def test_invalid_vocabularies_are_refused(arguments, options, message):
    with pytest.raises(ValueError, match=f"^{re.escape(message)}"):
        ByteLevelTokenizer(*copy.deepcopy(arguments), **options)


# WordPiece


@pytest.mark.parametrize("lowercase", [True, False])
def test_word_piece_ids_are_those_of_tokenizers(lowercase):
    theirs = tokenizers.Tokenizer(models.WordPiece(unk_token="[UNK]"))
    theirs.normalizer = normalizers.BertNormalizer(lowercase=lowercase)
    theirs.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    theirs.train_from_iterator(
        TEXTS * 2 + HARD * 2,
        trainers.WordPieceTrainer(
            vocab_size=2000, special_tokens=[*MARKS, "[MASK]"], show_progress=False
        ),
    )
    theirs.decoder = decoders.WordPiece(cleanup=False)
    vocabulary = theirs.get_vocab()
    ours = WordPieceTokenizer(sorted(vocabulary, key=vocabulary.get), lowercase)
    assert_same_ids(ours, theirs, HARD + TEXTS)
    for line in TEXTS:
        assert ours.decode(ours.encode(line)) == theirs.decode(ours.encode(line))
    assert ours.encode_marked("the [MASK]")[-1] == ours.special["[MASK]"]
    assert ours.special["[MASK]"] not in ours.encode("[MASK]")


def test_words_are_lowercased_unless_capitals_are_kept():
    assert split("José\tsí.") == ["jose", "si", "."]
    assert split("José\tsí.", lowercase=False) == ["José", "sí", "."]


JUNK = [None, True, -1, 1.5, "", "x", "(", [], [1], ["x"], {}, {"a": 1}]


def places(content, path=()):
    """Yield the path to each part of a JSON value."""
    yield path
    parts = enumerate(content) if isinstance(content, list) else ()
    parts = content.items() if isinstance(content, dict) else parts
    for key, part in parts:
        yield from places(part, (*path, key))


@pytest.mark.parametrize(
    "tokenizer",
    [
        ByteLevelTokenizer(
            [*byte_letters().values(), "th", "the", "<x>"], [["t", "h"], ["th", "e"]], ["<x>"]
        ),
        WordPieceTokenizer([*MARKS, "un", "##aff"]),
        WordTokenizer(["el", "sol"]),
        BytePairTokenizer.train(["ja ja la la"], 270),
    ],
    ids=lambda tokenizer: type(tokenizer).__name__,
)
def test_a_changed_file_is_read_as_it_is_or_refused(tokenizer, tmp_path):
    path = tmp_path / "tokenizer.json"
    tokenizer.save(path)
    content = json.loads(path.read_text("utf-8"))
    ways = sorted(places(content), key=str)
    for way in ways[:: len(ways) // 60 + 1]:
        for junk in JUNK:
            damaged = {"whole": copy.deepcopy(content)}
            part = damaged
            for key in ("whole", *way)[:-1]:
                part = part[key]
            last = ("whole", *way)[-1]
            if json.dumps(part[last]) == json.dumps(junk):
                continue
            part[last] = junk
            path.write_text(json.dumps(damaged["whole"]), "utf-8")
            try:
                type(tokenizer).load(path).save(path)
            except ValueError as error:
                message = str(error)
                assert message.startswith(f"{path}: expected") and "\n" not in message
            else:
                # The damage may make another token, but what was read must equal the file.
                assert json.loads(path.read_text("utf-8")) == damaged["whole"]


def test_an_invalid_field_is_named(tmp_path):
    path = tmp_path / "tokenizer.json"
    ByteLevelTokenizer([*byte_letters().values(), "<x>"], [], ["<x>"]).save(path)
    content = json.loads(path.read_text("utf-8"))
    for change, message in (
        ({"ends": [256, 256, True]}, "'ends' to be [256, 256, 1], got [256, 256, True]"),
        ({"vocabulary": [[]]}, "a string, got list"),
        ({"merges": [5]}, "the parts of 'attn byte-level tokenizer', got others"),
    ):
        path.write_text(json.dumps(content | change), "utf-8")
        with pytest.raises(ValueError, match=f"^{re.escape(f'{path}: expected {message}')}$"):
            ByteLevelTokenizer.load(path)


def test_word_piece_by_hand(tmp_path):
    tokens = ["[UNK]", "[PAD]", "[SEP]", "[CLS]", "un", "##aff", "##able", "##a", "!", "unaff"]
    ours = WordPieceTokenizer(tokens)
    assert ours.encode("Unaffable!", sos=True, eos=True) == [3, 9, 6, 8, 2]
    assert ours.encode("unaffx") == ours.encode("x" * 101) == [0]
    assert ours.encode("un" + "a" * 98) == [4, *[7] * 98] and ours.encode("un" + "a" * 99) == [0]
    assert ours.unknown("un sky! Sky") == ["sky"]
    assert ours.decode([3, 9, 6, 8, 0, 2, 1]) == "unaffable ! [UNK]"
    assert (ours.pad_id, ours.unk_id, ours.sos_id, ours.eos_id) == (1, 0, 3, 2)
    ours.save(tmp_path / "tokenizer.json")
    assert WordPieceTokenizer.load(tmp_path / "tokenizer.json") == ours
    assert WordPieceTokenizer(MARKS).encode("un") == [MARKS.index("[UNK]")]
    expected = "tokens: expected [PAD], [UNK], [CLS], [SEP] among them, got 9 others"
    with pytest.raises(ValueError, match=f"^{re.escape(expected)}$"):
        WordPieceTokenizer(tokens[1:])
    with pytest.raises(ValueError, match="^tokens: expected distinct tokens, got 'un' twice$"):
        WordPieceTokenizer([*tokens, "un"])


def test_a_loaded_word_piece_tokenizer_keeps_capitals(tmp_path):
    ours = WordPieceTokenizer([*MARKS, "Sky"], lowercase=False)
    ours.save(tmp_path / "tokenizer.json")
    again = WordPieceTokenizer.load(tmp_path / "tokenizer.json")
    for tokenizer in (ours, again):
        assert tokenizer.encode("Sky sky") == [4, 1] and tokenizer.unknown("Sky sky Blue") == [
            "sky",
            "Blue",
        ]
