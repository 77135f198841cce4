"""Texts that are too long for a translator: the same cases for Python and for the page."""

import pytest

from attn.applications.models import translator_folder
from attn.applications.translation import Translator
from attn.applications.translation.cutting import Piece, cut, put_together

# Each case: a text, the most characters of a piece, and the pieces, each with the blanks after it.
CUTS = [
    ("It rains.", 9, ["It rains.", ""]),
    ("", 9, ["", ""]),
    (" \n It rains.\n", 9, ["It rains.", ""]),
    # A text is cut at the end of each sentence and of each line, even where two sentences would
    # fit.
    ("Yes. No.", 8, ["Yes.", " ", "No.", ""]),
    ("Yes.\nNo.", 8, ["Yes.", "\n", "No.", ""]),
    ("Yes.\r\n\r\n  No. \u2028Why?", 8, ["Yes.", "\r\n\r\n  ", "No.", " \u2028", "Why?", ""]),
    # Text is cut into sentences, which keep their marks, and the blanks between them are kept.
    ("Yes.  No! Why?", 8, ["Yes.", "  ", "No!", " ", "Why?", ""]),
    (
        "“Is it?” he said. (No.) So be it…",
        20,
        ["“Is it?”", " ", "he said.", " ", "(No.)", " ", "So be it…", ""],
    ),
    (
        "Mr. Fox met J. S. Bach at 5 p.m. today. Bye.",
        39,
        ["Mr. Fox met J. S. Bach at 5 p.m. today.", " ", "Bye.", ""],
    ),
    # A long sentence is cut into clauses, as many as fit in a piece: at semicolons before commas,
    # and at commas and conjunctions before words.
    ("Red, blue and green; old, new.", 19, ["Red, blue and green", "; ", "old, new.", ""]),
    ("Red, blue and green or new.", 19, ["Red, blue and green", " ", "or new.", ""]),
    ("One, two, three, four.", 9, ["One, two", ", ", "three", ", ", "four.", ""]),
    (
        "I say:\t“go”—and you go – now.",
        10,
        ["I say", ":\t", "“go”", "—", "and you go", " – ", "now.", ""],
    ),
    ("He sold 3,500 (red), I think.", 16, ["He sold 3,500", " ", "(red)", ", ", "I think.", ""]),
    ("I ran and you slept.", 14, ["I ran", " ", "and you slept.", ""]),
    # Spanish conjunctions count as well.
    (
        "El Sr. Gil vio a la Dra. Paz. ¿Y tú?",
        30,
        ["El Sr. Gil vio a la Dra. Paz.", " ", "¿Y tú?", ""],
    ),
    ("Yo dormía y tú leías.", 12, ["Yo dormía", " ", "y tú leías.", ""]),
    ("No creo que venga hoy.", 14, ["No creo", " ", "que venga hoy.", ""]),
    # A clause without a place to cut is cut between words, as many as fit in a piece.
    ("one two three four", 7, ["one two", " ", "three", " ", "four", ""]),
    ("one  \t two", 7, ["one", "  \t ", "two", ""]),
    ("naïve 🙂🙂 café", 7, ["naïve", " ", "🙂🙂 café", ""]),
]
# Each case: pieces, the translation of each, and the expected whole.
JOINED = [
    ([Piece("No", "", True, True)], ["No."], "No."),
    ([Piece("A", ", ", True, False), Piece("b", "", False, True)], ["Á.", "Él."], "Á, él."),
    ([Piece("A?", "\n\n", True, True), Piece("b.", "", True, True)], ["¿Á?", "Él."], "¿Á?\n\nÉl."),
    ([Piece("if", ", ", True, False), Piece("Tom", "", False, True)], ["Si.", "Tom."], "Si, Tom."),
    (
        [Piece("so", " ", True, False), Piece("why", "", False, True)],
        ["Así.", "¿Por qué?"],
        "Así ¿por qué?",
    ),
    ([Piece("x", " ", True, False), Piece("y", "", False, True)], ["", "..."], " ..."),
    ([Piece("si", ", ", True, False), Piece("sé", "", False, True)], ["If.", "I'm."], "If, I'm."),
    ([Piece("y", " ", True, False), Piece("fui", "", False, True)], ["And.", "I."], "And I."),
]
PAGE = """
import { cutText, putTogether, cutSource, translate, loadTransformer, BytePairTokenizer, textOf } from "./live_translator.mjs";
"""


@pytest.mark.parametrize(("text", "most", "expected"), CUTS)
def test_where_a_text_is_cut(text, most, expected):
    pieces = cut(text, lambda part: len(part) <= most)
    assert [one for piece in pieces for one in (piece.text, piece.after)] == expected
    assert "".join(expected) == text.strip()


@pytest.mark.parametrize(("pieces", "said", "expected"), JOINED)
def test_how_translations_of_pieces_are_joined(pieces, said, expected):
    assert put_together(pieces, said) == expected


def test_the_page_cuts_and_joins_as_python(node):
    cuts = [(text, most) for text, most, _ in CUTS]
    found = node(
        PAGE
        + """
        const fits = (most) => (part) => [...part].length <= most;
        console.log(JSON.stringify({
          cuts: input.cuts.map(([text, most]) => cutText(text, fits(most))),
          joined: input.joined.map(([pieces, said]) =>
            putTogether(pieces.map(([text, after, begins, ends]) => ({ text, after, begins, ends })), said)),
        }));
        """,
        {"cuts": cuts, "joined": [(pieces, said) for pieces, said, _ in JOINED]},
    )
    for (_, _, expected), pieces in zip(CUTS, found["cuts"], strict=True):
        assert [one for piece in pieces for one in (piece["text"], piece["after"])] == expected
    assert found["joined"] == [expected for _, _, expected in JOINED]


LONG = """When I was young, we went to the sea every summer; my uncle had a boat, and he told us stories \
because he could not sleep, and every one of them was about a storm and an island that nobody found. Do you know what he said?  "Come here tomorrow."

  I never knew why he wanted to see us – and now he is gone. """
SHORT = "Where is the library?"
LARGO = """Cuando yo era joven, íbamos al mar todos los veranos; mi tío tenía un barco, y nos contaba historias \
porque no podía dormir, y en cada una de ellas había una tormenta y una isla que nadie encontró. ¿Sabes qué dijo?  «Ven mañana».

  Nunca supe por qué quería vernos – y ahora ya no está. """
TEXTS = {"en": (LONG, SHORT), "es": (LARGO, "¿Dónde está la biblioteca?")}


@pytest.fixture(scope="module")
def translator():
    return precise("en")


def precise(language):
    translator = Translator.pretrained(source_language=language)
    # The page computes in float64 as well, so both choose the same tokens.
    translator.model.double()
    return translator


@pytest.mark.parametrize("language", TEXTS)
def test_the_page_translates_a_long_text_as_python(node, language):
    translator, (long, short) = precise(language), TEXTS[language]
    texts = [
        long,
        short,
        f"{short} {short}",
        "word " * 100,
        "x" * 10_000,
        "a\0b",
        " \n",
        "one\ntwo",
    ]
    found = node(
        PAGE
        + """
        const about = JSON.parse(readFileSync(`${input.folder}/about.json`, "utf8"));
        const vocabulary = new BytePairTokenizer(JSON.parse(readFileSync(`${input.folder}/vocabulary.json`, "utf8")));
        const transformer = loadTransformer(new Uint8Array(readFileSync(`${input.folder}/model.safetensors`)));
        const translator = { transformer, source: vocabulary, target: vocabulary, maxLen: about.max_len, punctuated: about.punctuated };
        console.log(JSON.stringify(input.texts.map((text) => {
          const { pieces, nul, longWord } = cutSource(translator, text);
          if (nul || longWord) return { nul, longWord: longWord.length };
          if (pieces.some(({ ids }) => !ids.length)) return { empty: true };
          const said = pieces.map(({ ids }) => textOf(translate(translator, ids, 1).target, "bpe"));
          return { lengths: pieces.map(({ ids }) => ids.length), whole: putTogether(pieces, said) };
        })));
        """,
        {"folder": str(translator_folder("tatoeba", language)), "texts": texts},
    )
    assert found[4:7] == [
        {"nul": False, "longWord": 10_000},
        {"nul": True, "longWord": 0},
        {"empty": True},
    ]
    for text, page in zip([*texts[:4], texts[-1]], [*found[:4], found[-1]], strict=True):
        assert page["whole"] == translator.translate(text)
        assert max(page["lengths"]) <= translator.max_len
    assert [len(page["lengths"]) for page in found[:4]] == [5, 1, 2, 3]


def test_a_piece_is_translated_as_it_would_be_alone(translator):
    lines = [SHORT, "It is late.", "I am here."]
    alone = [translator.translate(line) for line in lines]
    assert translator.translate("\n\n".join(lines)) == "\n\n".join(alone)
    many = 20 * (" ".join(lines) + "  ")
    assert translator.translate(many) == (20 * (" ".join(alone) + "  ")).strip()


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("a\0b", "^text: expected text without the character NUL, got one at index 1$"),
        (
            "a " + 1_000_000 * "x",
            "^text: expected words that are short enough to translate, got 'xxxxxxxxxxxxxxxxxxxx'… of 1000000 characters$",
        ),
        ("a\n\n" + 1_000_000 * " ", None),
    ],
)
def test_invalid_text_raises_a_readable_error(translator, text, said):
    if said is None:
        assert translator.translate(text) == translator.translate("a")
        return
    for read in (translator.translate, translator.attention):
        with pytest.raises(ValueError, match=said if read is translator.translate else "^text: "):
            read(text)


def test_cutting_a_long_text_reads_it_few_times(translator, monkeypatch):
    read, encode = [], translator.source.encode
    monkeypatch.setattr(translator.source, "encode", lambda t: read.append(len(t)) or encode(t))
    for n_times in (1, 400):
        read.clear()
        pieces = translator.pieces(n_times * LONG)
        assert len(pieces) == n_times * 5 and sum(read) < 12 * n_times * len(LONG)
