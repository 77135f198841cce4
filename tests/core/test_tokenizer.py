"""attn.tokenizer against a naive byte-pair encoder that recounts all pairs, and against files."""

import copy
import json
import os
import pickle
import re
import subprocess
import sys
import unicodedata
from collections import Counter
from itertools import groupby, pairwise

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from attn.tokenizer import BytePairTokenizer, WordTokenizer, byte_pair
from attn.tokenizer.byte_pair import learn_merges
from attn.tokenizer.words import join, normalise, split

ROSES = "Roses are red and violets are blue"
CORPORA = {
    "English": [ROSES, "The red house, the blue sky.", "He said: don't go -- the sky is red!"],
    "Spanish": ["¿Qué es el cielo? ¡El cielo es azul!", "El gato que perseguía al ratón", "él"],
    "one letter": ["a" * n for n in range(9)],
    "spaces": ["  a  b\n\n\tc ", "a\r\nb\r\n\r\n a", "   ", "\n", ""],
    "emoji": ["👩‍🚀👩‍🚀 🇲🇽🇲🇽 🙂🙂🙂", "e\u0301e\u0301 éé", "數學 數學"],
    "code": ["x_1 = f(x_0) + 1.5e-3  # 100%\n    return x_1", "for i in range(10): x[i] += 1"],
    "a pair left over": ["abc"] * 5 + ["ab"] * 6 + ["bc"] * 3,
    "nothing": [],
}


@pytest.fixture(params=["words", "bytes"])
def tokenizer(request):
    texts = CORPORA["English"] + CORPORA["Spanish"]
    return {"words": WordTokenizer.train(texts), "bytes": BytePairTokenizer.train(texts, 280)}[
        request.param
    ]


# the interface of both


def test_special_tokens_have_the_same_ids_everywhere(tokenizer):
    assert tokenizer.tokens[:4] == ["<pad>", "<unk>", "<sos>", "<eos>"]
    ids = (tokenizer.pad_id, tokenizer.unk_id, tokenizer.sos_id, tokenizer.eos_id)
    assert ids == (0, 1, 2, 3)
    assert tokenizer.vocab_size == len(tokenizer.tokens)


def test_unknown_words_are_listed_once_in_order(tokenizer):
    has_all = type(tokenizer) is BytePairTokenizer
    text = "El Sol, y el GATO y el sol ☂"
    assert tokenizer.unknown(text) == ([] if has_all else ["sol", "y", "☂"])
    assert (tokenizer.unk_id in tokenizer.encode(text)) is not has_all
    assert tokenizer.unknown("") == []
    with pytest.raises(ValueError, match="text: expected a string, got int"):
        tokenizer.unknown(5)


def test_start_and_end_tokens_are_added_only_on_request(tokenizer):
    plain = tokenizer.encode("el cielo")
    assert plain and min(plain) > 3 and all(type(i) is int for i in plain)
    assert tokenizer.encode("el cielo", sos=True) == [2, *plain]
    assert tokenizer.encode("el cielo", eos=True) == [*plain, 3]
    assert tokenizer.encode("el cielo", sos=True, eos=True) == [2, *plain, 3]
    assert tokenizer.encode("") == [] and tokenizer.encode("", sos=True, eos=True) == [2, 3]


def test_changing_encoded_ids_does_not_affect_later_calls(tokenizer):
    first = tokenizer.encode("cielo")
    first.clear()
    assert tokenizer.decode(tokenizer.encode("cielo")) == "cielo"


def test_special_tokens_spelled_in_text_stay_text(tokenizer):
    for text in ("<pad>", "<sos>", "<eos>", "el <eos> cielo", "<eos><pad>", "a<sos>b"):
        assert not {0, 2, 3} & set(tokenizer.encode(text))
    trained = type(tokenizer).train(["<pad> <unk> <sos> <eos>"] * 3, vocab_size=300)
    assert not {0, 1, 2, 3} & set(trained.encode("<pad> <unk> <sos> <eos>"))
    assert trained.tokens[:4] == ["<pad>", "<unk>", "<sos>", "<eos>"]


def test_decode_leaves_out_padding_start_and_end_only(tokenizer):
    el, cielo = tokenizer.encode("el"), tokenizer.encode(" cielo")
    assert tokenizer.decode([2, *el, 0, *cielo, 3, 0, 0]) == "el cielo"
    assert tokenizer.decode([0, 2, 3]) == tokenizer.decode([]) == ""
    assert tokenizer.decode([1]) == "<unk>"


def test_decode_takes_any_sequence_of_integers(tokenizer):
    ids = tokenizer.encode("el cielo", sos=True)
    many = [tuple(ids), iter(ids), np.array(ids), np.array(ids, dtype=np.uint16)]
    many += [torch.tensor(ids), torch.tensor(ids, dtype=torch.int32), (i for i in ids)]
    for these in many:
        assert tokenizer.decode(these) == "el cielo"
    assert tokenizer.decode(np.array([], dtype=int)) == ""


def test_decode_refuses_ids_outside_the_vocabulary(tokenizer):
    size = tokenizer.vocab_size
    tokenizer.decode([0, size - 1])
    for wrong in (-1, size, size + 7):
        message = f"ids: expected at least 0 and below vocab_size = {size}, got {wrong}"
        for ids in ([4, wrong], np.array([wrong]), torch.tensor([wrong])):
            with pytest.raises(ValueError, match=f"^{message}$"):
                tokenizer.decode(ids)


@pytest.mark.parametrize(
    "ids, message",
    [
        ([1.0], r"integers, got 1\.0"),
        (["a"], "integers, got 'a'"),
        ("ab", "integers, got 'a'"),
        ([None], "integers, got None"),
        (np.array([0.5]), "integers, got .*0.5.*"),
        (torch.tensor([0.5]), r"integers, got tensor\(0\.5.*"),
        ([[4, 5]], r"integers, got \[4, 5\]"),
        (np.array([[4]]), r"shape \(seq_len,\), got \(1, 1\)"),
        (torch.tensor([[4, 5]]), r"shape \(seq_len,\), got \(1, 2\)"),
        (torch.tensor(4), r"shape \(seq_len,\), got \(\)"),
    ],
)
def test_decode_refuses_invalid_ids(tokenizer, ids, message):
    with pytest.raises(ValueError, match=f"^ids: expected {message}$"):
        tokenizer.decode(ids)


@pytest.mark.parametrize("text, got", [(None, "NoneType"), (b"a", "bytes"), (["a"], "list")])
def test_values_that_are_no_strings_are_refused(tokenizer, text, got):
    with pytest.raises(ValueError, match=f"^text: expected a string, got {got}$"):
        tokenizer.encode(text)
    with pytest.raises(ValueError, match=f"^texts: expected a string, got {got}$"):
        type(tokenizer).train(["a", text], vocab_size=300)


def test_half_a_surrogate_pair_is_refused(tokenizer):
    message = r"expected characters, got the lone surrogate '\\udfff' at index 2"
    with pytest.raises(ValueError, match=f"^text: {message}$"):
        tokenizer.encode("ab\udfff\ud800")
    with pytest.raises(ValueError, match=f"^texts: {message}$"):
        type(tokenizer).train(["ab\udfff"], vocab_size=300)


def test_one_string_in_place_of_a_list_is_refused(tokenizer):
    with pytest.raises(ValueError, match="^texts: expected a list of strings, got one string$"):
        type(tokenizer).train("El cielo", vocab_size=300)


def test_texts_may_be_an_iterator(tokenizer):
    texts = CORPORA["Spanish"]
    train = type(tokenizer).train
    assert train(iter(texts), vocab_size=300) == train(texts, vocab_size=300)


def test_equality(tokenizer):
    again = copy.deepcopy(tokenizer)
    again.encode("a word it had not seen")
    assert again == tokenizer
    assert pickle.loads(pickle.dumps(tokenizer)) == tokenizer
    assert tokenizer != type(tokenizer).train(["Otro corpus, otro corpus"], vocab_size=300)
    assert tokenizer != tokenizer.tokens and tokenizer != 5
    assert WordTokenizer([]) != BytePairTokenizer([])
    assert WordTokenizer(["a"]) != WordTokenizer(["a"], lowercase=False)
    assert WordTokenizer(["a", "b"]) != WordTokenizer(["b", "a"])


def test_hashing_has_no_influence():
    code = (
        "from attn.tokenizer import BytePairTokenizer, WordTokenizer\n"
        f"texts = {CORPORA['English'] + CORPORA['Spanish']!r}\n"
        "words, pieces = WordTokenizer.train(texts, 20), BytePairTokenizer.train(texts, 300)\n"
        "print(ascii((words.tokens, pieces.merges, pieces.encode(' '.join(texts)))))"
    )
    printed = set()
    for seed in ("0", "1", "2"):
        environment = os.environ | {"PYTHONHASHSEED": seed}
        command = [sys.executable, "-c", code]
        printed.add(
            subprocess.run(command, env=environment, stdout=subprocess.PIPE, check=True).stdout
        )
    assert len(printed) == 1 and b"cielo" in printed.pop()


def test_neither_numpy_nor_torch_is_imported():
    code = "import sys, attn.tokenizer; sys.exit(bool({'numpy', 'torch'} & set(sys.modules)))"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


# words


def test_frequent_words_first_and_equal_ones_in_alphabetical_order():
    texts = ["b c a", "c B", "é z c"]
    assert WordTokenizer.train(texts).tokens[4:] == ["c", "b", "a", "z", "é"]
    assert WordTokenizer.train(texts, lowercase=False).tokens[4:] == list("cBabzé")
    for vocab_size in range(4, 9):
        some = WordTokenizer.train(texts, vocab_size=vocab_size)
        assert some.tokens[4:] == list("cbazé")[: vocab_size - 4]
        assert some.vocab_size == vocab_size
    assert WordTokenizer.train(texts, vocab_size=99).vocab_size == 9
    assert WordTokenizer.train(texts, 6).tokens[4:] == list("cb")


@pytest.mark.parametrize("min_count, kept", [(1, "cba"), (2, "cb"), (3, "c"), (4, "")])
def test_rare_words_are_left_out(min_count, kept):
    assert WordTokenizer.train(["c b a", "c b", "c"], None, min_count).tokens[4:] == list(kept)


def test_unknown_words():
    tokenizer = WordTokenizer.train(["the sky is blue"])
    the, sky = tokenizer.encode("the sky")
    assert tokenizer.encode("The sea, the sky <unk>") == [the, 1, 1, the, sky, 1, 1, 1]
    assert tokenizer.decode(tokenizer.encode("the sea is blue!")) == "the <unk> is blue <unk>"
    assert WordTokenizer.train([]).encode("the sky") == [1, 1]


def test_capitals_can_be_kept():
    tokenizer = WordTokenizer.train(["El CIELO es azul, el cielo"], lowercase=False)
    assert tokenizer.lowercase is False and WordTokenizer([]).lowercase is True
    assert tokenizer.decode(tokenizer.encode("El CIELO")) == "El CIELO"
    assert tokenizer.encode("CIELO") != tokenizer.encode("cielo") and 1 in tokenizer.encode("EL")
    assert WordTokenizer(["cielo"], lowercase=False).encode("Cielo cielo") == [1, 4]
    assert WordTokenizer(["cielo"], lowercase=False).unknown("Cielo cielo") == ["Cielo"]
    assert WordTokenizer(["cielo"]).encode("Cielo cielo") == [4, 4]


def test_normalise():
    assert normalise("A\u0301RBOL") == normalise("Árbol") == "árbol"
    assert normalise("A\u0301RBOL", lowercase=False) == "ÁRBOL"
    assert normalise("ﬁn ½") == "ﬁn ½"


@pytest.mark.parametrize(
    "text, expected",
    [
        ("", []),
        (" \t\n\u00a0", []),
        ("¿Qué dice? ¡Adiós!", ["¿", "Qué", "dice", "?", "¡", "Adiós", "!"]),
        ("(sí), «no»…", ["(", "sí", ")", ",", "«", "no", "»", "…"]),
        ("wait...", ["wait", ".", ".", "."]),
        ("don't l’eau rock'n'roll", ["don't", "l’eau", "rock'n'roll"]),
        ("'quoted' the dogs' bone", ["'", "quoted", "'", "the", "dogs", "'", "bone"]),
        ("word--word -x x- a-b-c", ["word", "-", "-", "word", "-", "x", "x", "-", "a-b-c"]),
        ("3.14 1,000,000.5 12:30", ["3.14", "1,000,000.5", "12:30"]),
        ("in 1999.", ["in", "1999", "."]),
        ("1..2 .5 5.", ["1", ".", ".", "2", ".", "5", "5", "."]),
        ("a.b c,d e:f x.1 1.x", [*"a.b", *"c,d", *"e:f", *"x.1", *"1.x"]),
        ("3rd x2 snake_case 50%", ["3rd", "x2", "snake_case", "50", "%"]),
        ("a\u0301b x\u036f", ["a\u0301b", "x\u036f"]),
        ("x\u0370 x\u0300\u02ffy", ["x\u0370", "x\u0300", "\u02ff", "y"]),
        ("e\u0301'e\u0301", ["e\u0301'e\u0301"]),
        ("¹½Ⅷ٣", ["¹½Ⅷ٣"]),
        ("<eos>", ["<", "eos", ">"]),
        ("🙂🙂", ["🙂", "🙂"]),
    ],
)
def test_split(text, expected):
    assert split(text) == expected


@pytest.mark.parametrize(
    "text",
    [
        "¿Qué es el cielo? ¡Nada!",
        "el cielo (azul), el «sol» [rojo] {verde}; la luna: blanca…",
        'he said "no", then "yes".',
        "'one' and \"two 'three' four\" (\"five\")",
        "“a” ‘b’ $5, 50% and/or 1/2",
        "a - b < c > d & e * f = g",
        "well-known don't 3.14 12:30 snake_case",
        "wait... what?!",
        "",
    ],
)
def test_decode_puts_spaces_where_they_were(text):
    tokenizer = WordTokenizer.train([text], lowercase=False)
    assert tokenizer.decode(tokenizer.encode(text)) == text
    assert join(split(text)) == text


@pytest.mark.parametrize(
    "marks, text",
    [("¿¡([{«“‘$/", "a {}b c"), ("?!)]}»”’.,;:…%", "a{} b c"), ("<>&*=+-—|~@#^", "a {} b c")],
)
def test_punctuation_is_joined_to_the_right_side(marks, text):
    for mark in marks:
        expected = "a/b c" if mark == "/" else text.replace("{}", mark)
        assert join(["a", mark, "b", "c"]) == expected
    assert join(['"', '"', "'", "a", "'", '"']) == '"" \'a\' "'


@given(st.text())
def test_splitting_joined_words_gives_the_same_words(text):
    for lowercase in (True, False):
        tokenizer = WordTokenizer.train([text], lowercase=lowercase)
        ids = tokenizer.encode(text)
        assert 1 not in ids
        assert [tokenizer.tokens[i] for i in ids] == split(normalise(text, lowercase))
        assert tokenizer.encode(tokenizer.decode(ids)) == ids
        assert "".join(split(text)) == "".join(text.split())


@given(
    st.lists(
        st.sampled_from(
            [
                *"ab13.,:'’-\"¿?(/)$%_",
                "\u0301",
                "ñ",
                "don't",
                "2.5",
                "🙂",
                "\u200d",
                "\ufe0f",
                "👍🏽",
                "🇲",
                "कि",
            ]
        )
    )
)
def test_splitting_joined_words_and_many_marks_gives_the_same_words(pieces):
    for text in ("".join(pieces), " ".join(pieces)):
        found = split(normalise(text))
        assert split(normalise(join(found))) == found


def test_words_that_splitting_never_gives_are_refused():
    left_alone = "words: expected words that `normalise` and `split` leave alone, got "
    for word in ("Blue", "two words", "a.b", "", " ", "a\u0301", "<eos>"):
        with pytest.raises(ValueError, match=f"^{re.escape(left_alone + repr(word))}$"):
            WordTokenizer(["red", word])
    WordTokenizer(["Blue"], lowercase=False)
    with pytest.raises(ValueError, match="^words: expected distinct words, got 'red' twice$"):
        WordTokenizer(["red", "blue", "red"])
    with pytest.raises(ValueError, match="^words: expected a string, got int$"):
        WordTokenizer([4])
    with pytest.raises(ValueError, match="^words: expected characters, got the lone surr"):
        WordTokenizer(["\ud800"])


@pytest.mark.parametrize(
    "options, message",
    [
        ({"vocab_size": 3}, "vocab_size: expected at least 4, got 3"),
        ({"vocab_size": 8.0}, r"vocab_size: expected an integer, got 8\.0"),
        ({"min_count": 0}, "min_count: expected at least 1, got 0"),
        ({"min_count": "2"}, "min_count: expected an integer, got '2'"),
    ],
)
def test_sizes_of_word_vocabularies(options, message):
    assert WordTokenizer.train(["a"], vocab_size=4).vocab_size == 4
    with pytest.raises(ValueError, match=f"^{message}$"):
        WordTokenizer.train(["a"], **options)


# byte pairs, against an encoder without ids, counts or queues, which merges lists of bytes


def naive_split(text):
    def kind(character):
        if character.isspace():
            return "space"
        if character.isdecimal():
            return "digit"
        return "letter" if character.isalnum() else "mark"

    kinds = []
    # A combining mark belongs to its letter.
    for character in text:
        is_sign = unicodedata.category(character)[0] == "M" or character in "\u200c\u200d"
        signs = is_sign and kinds[-1:] == ["letter"]
        kinds.append("letter" if signs else kind(character))
    numbered = groupby(enumerate(kinds), key=lambda item: item[1])
    runs = ["".join(text[i] for i, _ in run) for _, run in numbered]
    pieces, before = [], ""
    for i, run in enumerate(runs):
        if not run.isspace():
            pieces.append(before + run)
            before = ""
        elif i == len(runs) - 1:
            pieces.append(run)
        else:
            before = " " if run[-1] == " " else ""
            pieces += [run[:-1]] if before else [run[:-1], run[-1]]
    return [piece for piece in pieces if piece]


def naive_merge(word, left, right):
    i, merged = 0, []
    while i < len(word):
        if word[i : i + 2] == [left, right]:
            merged.append(left + right)
            i += 2
        else:
            merged.append(word[i])
            i += 1
    return merged


def naive_train(texts, n_merges):
    tokens = [bytes([b]) for b in range(256)]
    found = [[bytes([b]) for b in w.encode()] for text in texts for w in naive_split(text)]
    merges = []
    while len(merges) < n_merges:
        counts = Counter(pair for word in found for pair in pairwise(word))
        if not counts or max(counts.values()) < 2:
            break
        most = max(counts.values())
        ties = [pair for pair in counts if counts[pair] == most]
        best = min(ties, key=lambda pair: [tokens.index(token) for token in pair])
        merges.append(best)
        tokens.append(best[0] + best[1])
        found = [naive_merge(word, *best) for word in found]
    return merges


def naive_encode(text, merges):
    encoded = []
    for piece in naive_split(text):
        word = [bytes([b]) for b in piece.encode()]
        for left, right in merges:
            word = naive_merge(word, left, right)
        encoded += word
    return encoded


def as_bytes(merges):
    """Return the bytes of every id, computed from the merges alone."""
    tokens = [b"", b"<unk>", b"", b"", *(bytes([b]) for b in range(256))]
    for left, right in merges:
        tokens.append(tokens[left] + tokens[right])
    return tokens


def assert_equal_to_naive(texts, vocab_size, others=()):
    tokenizer = BytePairTokenizer.train(texts, vocab_size)
    merges = naive_train(texts, vocab_size - 260)
    tokens = as_bytes(tokenizer.merges)
    assert [(tokens[left], tokens[right]) for left, right in tokenizer.merges] == merges
    for text in [*texts, *others, *texts]:
        encoded = [tokens[i] for i in tokenizer.encode(text)]
        assert encoded == naive_encode(text, merges)
        assert tokenizer.decode(tokenizer.encode(text)) == text


@pytest.mark.parametrize("corpus", CORPORA)
@pytest.mark.parametrize("vocab_size", [260, 261, 275, 1000])
def test_merges_and_encodings_equal_the_naive_ones(corpus, vocab_size):
    others = [text for texts in CORPORA.values() for text in texts]
    assert_equal_to_naive(CORPORA[corpus], vocab_size, others)


@given(st.lists(st.text("ab é", max_size=30), max_size=4), st.text("ab é"))
def test_few_letters_with_many_ties_equal_the_naive_encoder(texts, other):
    assert_equal_to_naive(texts, 270, [other])


@given(st.text("ab1½٣_.'é\u0301 \n\r\t\u00a0\x1c🙂क\u093f\u094d\u200d\u200c\ufe0f"))
def test_word_boundaries_equal_the_naive_ones(text):
    assert byte_pair.split(text) == naive_split(text)


def test_low_lower_newest_widest_by_hand():
    """The example of Sennrich et al. (2016), without their mark for the end of a word.

    es and st stand 9 times each, and so does est then; lo and ow 7 times, low 5 + 2 times.
    Next come ew, new, newest (6 times), dest, idest, widest (3), er and lower (2); then every
    word is one token and no pair is left.
    """
    words = {"low": 5, "lower": 2, "newest": 6, "widest": 3}
    merges = learn_merges(words, 100)
    tokenizer = BytePairTokenizer(merges)
    expected = "es est lo low ew new newest dest idest widest er lower"
    assert tokenizer.tokens[260:] == expected.split()
    assert merges[:4] == [(105, 119), (260, 120), (112, 115), (262, 123)]
    assert learn_merges(words, 4) == merges[:4] and learn_merges(words, 0) == []
    texts = [word for word, count in words.items() for _ in range(count)]
    assert BytePairTokenizer.train(texts, 1000) == tokenizer
    assert BytePairTokenizer.train(texts, 264).merges == tokenizer.merges[:4] == merges[:4]
    assert [tokenizer.tokens[i] for i in tokenizer.encode("lowest")] == ["low", "est"]


@given(st.text(), st.binary())
def test_every_text_is_decoded_unchanged(text, data):
    tokenizer = BytePairTokenizer.train(CORPORA["English"] + CORPORA["emoji"] * 2, 320)
    for this in (text, data.decode("latin-1"), data.decode(errors="replace")):
        ids = tokenizer.encode(this, sos=True, eos=True)
        assert tokenizer.decode(ids) == this and 1 not in ids
        assert len(ids) <= len(this.encode()) + 2
        assert "".join(byte_pair.split(this)) == this


def test_every_byte_has_its_own_token():
    tokenizer = BytePairTokenizer([])
    assert tokenizer.vocab_size == 260 and tokenizer.merges == []
    assert tokenizer.encode("A\x00ÿ") == [4 + 65, 4, 4 + 0xC3, 4 + 0xBF]
    assert tokenizer.tokens[4 + 65] == "A" and tokenizer.tokens[4 + 32] == " "
    assert tokenizer.tokens[4 + 0xC3] == r"\xc3" and len(set(tokenizer.tokens)) == 260


@pytest.mark.parametrize(
    "text",
    [
        "हिन्दी भाषा में लिखा",
        "العَرَبِيَّةُ لُغَةٌ",
        "שָׁלוֹם עוֹלָם",
        "می\u200cخواهم بروم",
        "ภาษาไทย นี้",
        "தமிழ் மொழி",
        "क्\u200dष है",
        "a\u0301rbol e\u0308",
        "বাংলা ভাষা",
        "မြန်မာ စာ",
        "ខ្មែរ ភាសា",
    ],
)
def test_words_of_every_script_are_not_split(text):
    assert split(text) == text.split() == [piece.strip() for piece in byte_pair.split(text)]
    tokenizer = WordTokenizer.train([text])
    assert tokenizer.decode(tokenizer.encode(text)) == normalise(text)


@pytest.mark.parametrize(
    "whole",
    [
        "👩\u200d🚀",
        "👨\u200d👩\u200d👧\u200d👦",
        "👍🏽",
        "❤\ufe0f",
        "🇲🇽",
        "1\ufe0f\u20e3",
        "🏳\ufe0f\u200d🌈",
        "🏴\U000e0067\U000e0062\U000e0065\U000e006e\U000e0067\U000e007f",
    ],
)
def test_an_emoji_sequence_is_one_word(whole):
    assert split(f"{whole} a{whole}, {whole}!")[0] == whole
    assert split(f"({whole}) {whole}{'' if whole[0] == '1' else whole}.").count(whole) >= 2
    assert split("🇲🇽🇪🇸🙂🙂?!") == ["🇲🇽", "🇪🇸", "🙂", "🙂", "?", "!"]


def test_merged_words_are_cached_and_the_cache_is_bounded(monkeypatch):
    tokenizer = BytePairTokenizer.train(["cantar saltar"], vocab_size=262)
    merged = []

    def merge_all(ids, merges, original=byte_pair.merge_all):
        merged.append(ids)
        return original(ids, merges)

    monkeypatch.setattr(byte_pair, "merge_all", merge_all)
    ids = tokenizer.encode("cantar")
    assert tokenizer.encode("cantar") == ids and len(merged) == 1
    monkeypatch.setattr(byte_pair, "MAX_WORDS_KEPT", 2)
    for word in (" one", " two", " three", " four", "x" * 101):
        tokenizer.encode(word)
        assert len(tokenizer._words._kept) <= 2 and "x" * 101 not in tokenizer._words._kept
    assert tokenizer.encode("cantar") == ids and len(merged) == 7


@pytest.mark.parametrize("letters", ["a", "ab", "".join(map(chr, range(0x4E00, 0x9E00)))])
def test_work_is_linear_in_the_length_of_a_word(letters):
    class Counted(dict):
        looked_up = 0

        def __contains__(self, key):
            Counted.looked_up += 1
            return super().__contains__(key)

    tokenizer = BytePairTokenizer.train(["aab", "aab ababab"] * 2, 280)
    merges = Counted({pair: (n, 260 + n) for n, pair in enumerate(tokenizer.merges)})
    work = []
    for n in (2_000, 8_000):
        Counted.looked_up = 0
        byte_pair.merge_all(byte_pair.to_bytes((letters * n)[:n]), merges)
        work.append(Counted.looked_up)
    assert work[0] >= 2_000 - 1 and work[1] < 5 * work[0]


def test_tokens_may_be_parts_of_characters():
    tokenizer = BytePairTokenizer.train(["ññ"], 261)
    assert tokenizer.tokens[260] == "ñ" and tokenizer.encode("ñó") == [260, 4 + 0xC3, 4 + 0xB3]
    assert tokenizer.decode([4 + 0xC3]) == "\ufffd"
    assert tokenizer.decode([4 + 0xC3, 0, 2, 4 + 0xB1]) == "ñ"
    assert tokenizer.decode([4 + 65, 4 + 0xFF, 1]) == "A\ufffd<unk>"


@pytest.mark.parametrize(
    "merge, got",
    [
        (5, "5"),
        ("ab", "'ab'"),
        ([4], r"\[4\]"),
        ((4, 5, 6), r"\(4, 5, 6\)"),
        ((3, 4), r"\(3, 4\)"),
        ((4, 3), r"\(4, 3\)"),
        ((4, 261), r"\(4, 261\)"),
        ((261, 4), r"\(261, 4\)"),
        ((4.0, 5), r"\(4\.0, 5\)"),
        ((True, 5), r"\(True, 5\)"),
        ((5, "a"), r"\(5, 'a'\)"),
    ],
)
def test_merges_are_pairs_of_earlier_ids(merge, got):
    with pytest.raises(
        ValueError, match=f"^merges: expected pairs of ids from 4 to 260, got {got}$"
    ):
        BytePairTokenizer([(4, 5), merge])


def test_the_smallest_and_largest_ids_of_merges():
    assert BytePairTokenizer([[4, 259], (260, 4)]).merges == [(4, 259), (260, 4)]
    with pytest.raises(ValueError, match="ids from 4 to 259, got "):
        BytePairTokenizer([(4, 260)])


def test_two_merges_may_not_make_one_token():
    message = "^merges: expected distinct tokens, got b'abc' twice$"
    a, b, c = (4 + byte for byte in b"abc")
    with pytest.raises(ValueError, match=message):
        BytePairTokenizer([(a, b), (b, c), (260, c), (a, 261)])
    with pytest.raises(ValueError, match="^merges: expected distinct tokens, got b'ab' twice$"):
        BytePairTokenizer([(a, b), (a, b)])


@pytest.mark.parametrize("size, got", [(259, "at least 260, got 259"), (1e3, "an integer, got 10")])
def test_sizes_of_byte_vocabularies(size, got):
    with pytest.raises(ValueError, match=f"^vocab_size: expected {got}"):
        BytePairTokenizer.train(["a"], size)


# files


def test_a_saved_tokenizer_is_loaded(tokenizer, tmp_path):
    path = tmp_path / "tokenizer.json"
    tokenizer.save(path)
    first = path.read_bytes()
    loaded = type(tokenizer).load(str(path))
    assert loaded == tokenizer and type(loaded) is type(tokenizer)
    assert loaded.encode("¿El cielo no es rojo? 🙂") == tokenizer.encode("¿El cielo no es rojo? 🙂")
    loaded.save(str(path))
    assert path.read_bytes() == first and b"\r" not in first
    assert os.listdir(tmp_path) == ["tokenizer.json"]
    assert "perseguía" in path.read_text(encoding="utf-8") or tokenizer.tokens[4] == "\x00"


def test_files_are_plain_json_with_one_token_per_line(tmp_path):
    path = tmp_path / "words.json"
    WordTokenizer(["cielo", "él"]).save(path)
    assert path.read_text(encoding="utf-8") == (
        '{\n "format": "attn word tokenizer",\n "version": 1,\n "lowercase": true,\n'
        ' "tokens": [\n  "<pad>",\n  "<unk>",\n  "<sos>",\n  "<eos>",\n  "cielo",\n  "él"\n ]\n}\n'
    )
    tokenizer = BytePairTokenizer([(4, 5), (260, 6)])
    tokenizer.save(path)
    content = json.loads(path.read_text(encoding="utf-8"))
    assert content == {
        "format": "attn byte-pair tokenizer",
        "version": 1,
        "tokens": tokenizer.tokens,
        "merges": [[4, 5], [260, 6]],
    }
    assert "\n  [4, 5],\n  [260, 6]\n ]\n}\n" in path.read_text(encoding="utf-8")


def test_encoding_needs_only_the_merges_in_a_file(tmp_path):
    """A program in another language needs nothing but the file to encode."""
    text = " ".join(CORPORA["Spanish"])
    BytePairTokenizer.train([text] * 2, 300).save(tmp_path / "pieces.json")
    merges = json.loads((tmp_path / "pieces.json").read_text(encoding="utf-8"))["merges"]
    assert len(merges) == 40
    tokens = as_bytes(merges)
    pairs = [(tokens[left], tokens[right]) for left, right in merges]
    ids = [tokens.index(token) for token in naive_encode(text, pairs)]
    assert ids == BytePairTokenizer.load(tmp_path / "pieces.json").encode(text)


WORDS = {
    "format": "attn word tokenizer",
    "version": 1,
    "lowercase": True,
    "tokens": ["<pad>", "<unk>", "<sos>", "<eos>", "blue", "red"],
}
PIECES = {
    "format": "attn byte-pair tokenizer",
    "version": 1,
    "tokens": BytePairTokenizer([(101, 102), (260, 103)]).tokens,
    "merges": [[101, 102], [260, 103]],
}


def refuses(cls, path, message):
    with pytest.raises(ValueError, match=f"^{re.escape(str(path))}: expected {message}$") as caught:
        cls.load(path)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    "change, message",
    [
        ({"format": "attn byte-pair tokenizer"}, "the format .*, got 'attn byte-pair tokenizer'"),
        ({"format": None}, "the format 'attn word tokenizer', got None"),
        ({"format": ["a"] * 99}, r"the format .*, got \['a', .*\.\.\.\]"),
        ({"version": 2}, "version 1, got 2"),
        ({"version": 0}, "version 1, got 0"),
        ({"version": True}, "version 1, got True"),
        ({"version": "1"}, "version 1, got '1'"),
        ({"version": None}, "version 1, got None"),
        ({"lowercase": 1}, "'lowercase' to be a bool, got 1"),
        ({"lowercase": None}, "'lowercase' to be a bool, got None"),
        ({"tokens": "abcdef"}, "'tokens' to be a list, got 'abcdef'"),
        ({"tokens": {"a": 4}}, "'tokens' to be a list, got {'a': 4}"),
        ({"tokens": []}, "4 tokens, got 0"),
        ({"tokens": ["<pad>", "<unk>", "<sos>"]}, "4 tokens, got 3"),
        ({"tokens": ["<pad>", "<sos>", "<unk>", "<eos>"]}, "token 1 to be '<unk>', got '<sos>'"),
        ({"tokens": [0, "<unk>", "<sos>", "<eos>"]}, "token 0 to be '<pad>', got 0"),
        ({"tokens": [*WORDS["tokens"], "red"]}, "distinct words, got 'red' twice"),
        ({"tokens": [*WORDS["tokens"], "Red"]}, "words that .* leave alone, got 'Red'"),
        ({"tokens": [*WORDS["tokens"], "a: b"]}, "words that .* leave alone, got 'a: b'"),
        ({"tokens": [*WORDS["tokens"], "<eos>"]}, "words that .* leave alone, got '<eos>'"),
        ({"tokens": [*WORDS["tokens"], 7]}, "a string, got int"),
        ({"tokens": [*WORDS["tokens"], None]}, "a string, got NoneType"),
        ({"tokens": [*WORDS["tokens"], "\ud800"]}, "characters, got the lone surrogate .* 0"),
    ],
)
def test_files_that_are_no_word_tokenizer_are_refused(tmp_path, change, message):
    path = tmp_path / "words.json"
    path.write_text(json.dumps(WORDS))
    assert WordTokenizer.load(path) == WordTokenizer(["blue", "red"])
    path.write_text(json.dumps(WORDS | change))
    refuses(WordTokenizer, path, message)


@pytest.mark.parametrize(
    "change, message",
    [
        ({"format": "attn word tokenizer"}, "the format .*pair.*, got 'attn word tokenizer'"),
        ({"version": 1.5}, r"version 1, got 1\.5"),
        ({"merges": None}, "'merges' to be a list, got None"),
        ({"tokens": None}, "'tokens' to be a list, got None"),
        ({"merges": [[101, 102], [261, 103]]}, r"pairs of ids from 4 to 260, got \[261, 103\]"),
        ({"merges": [[101, 102], 260]}, "pairs of ids from 4 to 260, got 260"),
        ({"merges": [[101, 102], [101, 102]]}, "distinct tokens, got b'ab' twice"),
        ({"merges": [[101, 102], [260, 104]]}, "token 261 to be 'abd', got 'abc'"),
        ({"merges": [[101, 102]]}, "261 tokens, got 262"),
        ({"tokens": PIECES["tokens"][:-1]}, "262 tokens, got 261"),
        ({"tokens": [*PIECES["tokens"], None]}, "262 tokens, got 263"),
        ({"tokens": ["a", *PIECES["tokens"][1:]]}, "token 0 to be '<pad>', got 'a'"),
        ({"tokens": [*PIECES["tokens"][:-1], 5]}, "token 261 to be 'abc', got 5"),
    ],
)
def test_files_that_are_no_byte_pair_tokenizer_are_refused(tmp_path, change, message):
    path = tmp_path / "pieces.json"
    path.write_text(json.dumps(PIECES))
    assert BytePairTokenizer.load(path) == BytePairTokenizer([(101, 102), (260, 103)])
    path.write_text(json.dumps(PIECES | change))
    refuses(BytePairTokenizer, path, message)


@pytest.mark.parametrize("cls", [WordTokenizer, BytePairTokenizer])
def test_files_that_are_no_tokenizer_are_refused(cls, tmp_path):
    path = tmp_path / "file.json"
    refuses(cls, path, "a file that can be read, got No such file or directory")
    refuses(cls, tmp_path, "a file that can be read, got Is a directory")
    not_json = r"JSON in UTF-8, got something else \(.+\)"
    whole = json.dumps(WORDS).encode()
    for data in (b"", b"\xff\xfe\x00", whole[:-1], whole + b"}", b"[" * 100_000, "él".encode("l1")):
        path.write_bytes(data)
        refuses(cls, path, not_json)
    path.write_bytes(b"[")
    refuses(cls, path, r"JSON in UTF-8, got something else \(Expecting value: line 1 .*\)")
    for data in (b"[]", b"3", b"null", b'"attn word tokenizer"', b'["format"]', b"{}"):
        path.write_bytes(data)
        refuses(cls, path, f"the format '{cls._format}', got None")
