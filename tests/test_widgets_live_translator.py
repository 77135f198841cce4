"""LiveTranslator in Python: what it takes, what it refuses, what it hands to the page."""

import html
import json
import re
from functools import partial
from types import SimpleNamespace

import numpy as np
import pytest

from attn.applications.models import TRANSLATOR
from attn.applications.translation import Translator, language_of
from attn.applications.translation.certainty import calibrated, fitted
from attn.corpus import Pair
from attn_course import widgets
from attn_course.everyday import everyday
from attn_course.widgets import _source, live_translator
from tests.refusals import refusals

LiveTranslator = partial(widgets.LiveTranslator, pretrained="grammar")

SOURCE, TARGET = ["red", "house"], ["casa", "roja", "<eos>"]


def attention(seed=0, n_layers=2, n_heads=3, source=SOURCE, target=TARGET, dtype=np.float32):
    rng = np.random.default_rng(seed)
    cross = rng.random((n_layers, n_heads, len(target), len(source)))
    cross /= cross.sum(axis=-1, keepdims=True)
    return SimpleNamespace(source=source, target=target, cross=cross.astype(dtype))


def gold(sure=((0, 1), (1, 0)), possible=((0, 1), (1, 0), (1, 1))):
    return SimpleNamespace(sure=frozenset(sure), possible=frozenset(possible))


PAIR = Pair("a house", "una casa", frozenset({(1, 1), (0, 0)}), frozenset({(0, 0), (1, 1), (0, 1)}))


def state(widget):
    text = re.search(r'<script type="application/json">(.*?)</script>', widget._html())[1]
    return json.loads(text)


def test_sentences_may_be_texts_alone():
    found = state(LiveTranslator(attention(), sentences=["a house", PAIR]))["sentences"]
    assert found[0] == {"source": "a house"} and found[1]["source"] == "a house"


def test_the_page_gets_what_it_draws_and_no_more():
    example = attention()
    found = state(LiveTranslator(example, gold=gold(), sentences=[PAIR], language="en"))
    assert found.keys() == {"example", "gold", "search", "sentences", "pretrained", "language"}
    assert found["search"] is None
    assert found["example"].keys() == {"source", "target", "cross"}
    assert (found["example"]["source"], found["example"]["target"]) == (SOURCE, TARGET)
    assert found["gold"] == {"sure": [[0, 1], [1, 0]], "possible": [[0, 1], [1, 0], [1, 1]]}
    assert found["sentences"] == [
        {
            "source": "a house",
            "target": "una casa",
            "sure": [[0, 0], [1, 1]],
            "possible": [[0, 0], [0, 1], [1, 1]],
        }
    ]
    assert found["pretrained"] == {"name": "grammar", "tokenizer": "words", "megabytes": 0.4}
    assert found["language"] == "en"


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_weights_are_rounded_to_four_decimals(dtype):
    example = attention(dtype=dtype)
    widget = LiveTranslator(example)
    cross = np.array(state(widget)["example"]["cross"])
    assert cross.shape == (2, 3, 3, 2)
    np.testing.assert_allclose(cross, example.cross, atol=5.1e-5)
    numbers = re.findall(r"0\.(\d+)", json.dumps(state(widget)["example"]["cross"]))
    assert max(map(len, numbers)) == 4


def test_without_gold_or_sentences():
    found = state(LiveTranslator(attention()))
    assert found["gold"] is None
    assert found["sentences"] == []


def test_the_kernel_sends_the_model():
    trained = LiveTranslator(attention()).trained
    assert trained == _source.translator("grammar")
    assert "trained" not in widgets.LiveTranslator._state


def test_a_direction_without_a_model_is_refused():
    for options, name in (
        ({"source_language": "es"}, "source_language"),
        ({"turned": ["a"]}, "turned"),
    ):
        with pytest.raises(
            ValueError, match=f"^{name}: expected a direction of 'grammar', got 'es'"
        ):
            LiveTranslator(attention(), **options)


def test_the_page_recognises_a_language_as_python(node):
    """Everyday sentences, and texts that are of no language or hard to tell."""
    texts = [text for pair in everyday()[::5] for text in (pair.source, pair.target)]
    texts += [
        "Tom",
        "Don’t go",
        "x’y",
        "e\u0301l",
        "İstanbul",
        "QUÉ ES",
        "½",
        "$3,500",
        "🙂",
        "12 🙂",
    ]
    texts += ["", "qwrtp zxcvb", "你好", "Привет", "La Ana y yo", "Él"]
    found = node(
        """import { languageOf } from "./live_translator.mjs";
        console.log(JSON.stringify(input.texts.map((text) =>
          ["en", "es"].map((expected) => languageOf(text, expected, input.tables)))));""",
        {"texts": texts, "tables": _source.languages()},
    )
    assert found == [[language_of(text, expected) for expected in ("en", "es")] for text in texts]


def test_the_page_is_as_sure_of_each_word_as_python(node):
    """A token counts for each word that it has a letter of, and marks count for none."""
    chances = {"¿": 0.5, "D": 0.9, "\\xc3": 0.8, "\\xb3": 1, "nde": 0.5, " está": 0.7, "?": 0.01}
    chances |= {
        " 3": 0.6,
        ",": 0.3,
        "500": 0.99,
        " l'a": 0.2,
        " -": 0.1,
        "mí e": 0.4,
        "<eos>": 0.05,
    }
    words = [0.9 * 0.8 * 0.5, 0.7, 0.6, 0.99, 0.2, 0.4, 0.4]  # ¿Dónde está? 3,500 l'a -mí e
    found = node(
        """import { calibrated, wordChances } from "./live_translator.mjs";
        const words = wordChances(input.tokens, input.chances);
        console.log(JSON.stringify([words, ...["tatoeba", "tatoeba_es"].map((name) => words.map((p) => calibrated(p, name)))]));""",
        {"tokens": list(chances), "chances": list(chances.values())},
    )
    expected = [words, *(calibrated(np.array(words), *fit) for fit in fitted().values())]
    assert found == [pytest.approx(row) for row in expected]


def test_the_model_is_the_one_named_or_the_course_s_first():
    assert widgets.LiveTranslator(attention()).pretrained["name"] == TRANSLATOR
    with pytest.raises(ValueError, match="^pretrained: expected 'tatoeba' or 'grammar', got 'x'"):
        widgets.LiveTranslator(attention(), pretrained="x")


@pytest.mark.parametrize("language", ["es", "en"])
def test_the_fallback_is_the_mean_over_layers_and_heads(language):
    example = attention()
    fallback = LiveTranslator(example, language=language)._fallback()
    cells = [float(cell) for cell in re.findall(r"<td>([\d.]+)</td>", fallback)]
    np.testing.assert_allclose(
        np.reshape(cells, (3, 2)), example.cross.mean(axis=(0, 1)), atol=0.00506
    )
    heads = re.findall(r'<th scope="(\w+)">(.*?)</th>', fallback)
    expected = [("col", word) for word in SOURCE] + [("row", html.escape(w)) for w in TARGET]
    assert heads == expected
    assert live_translator.TEXT[language]["caption"] in fallback
    assert '<span lang="en">red house</span>' in fallback
    assert '<span lang="es">casa roja &lt;eos&gt;</span>' in fallback


def test_no_token_breaks_out_of_the_html():
    evil = ["</script><b>x</b>", "<!--"]
    text = LiveTranslator(attention(source=evil, target=evil))._html()
    assert text.count("</script") == 1
    assert "<b>" not in text
    assert "<!--" not in text


def test_repr():
    widget = LiveTranslator(attention(), language="es")
    assert repr(widget) == "LiveTranslator('red house', 'casa roja <eos>', language='es')"


@pytest.mark.parametrize("width", [1, 2, 4])
def test_the_tree_to_begin_with_is_the_search_of_the_model(width):
    translator = Translator.pretrained("grammar")
    sentence = "mario thinks that the leg of the man is long"
    widget = LiveTranslator(translator.attention(sentence), beam_width=width)
    tree, place, ids = widget.search["tree"], widget.search["winner"], []
    score = tree[place]["total"]
    while place:
        assert tree[place]["kept"]
        ids, place = [tree[place]["token"], *ids], tree[place]["parent"]
    assert translator.target.decode(ids) == translator.translate(sentence, beam_width=width)
    text = " ".join(translator.target.tokens[i] for i in ids)
    assert f"{text} ({score:.2f})".replace("-", "−") in html.unescape(widget._fallback())


def test_invalid_beam_widths_are_refused():
    for width, message in (
        (5, "beam_width: expected at most 4, got 5"),
        (-1, "beam_width: expected"),
    ):
        with pytest.raises(ValueError, match=message):
            LiveTranslator(attention(), beam_width=width)
    with pytest.raises(ValueError, match="example.source: expected tokens of 'grammar', got quark"):
        LiveTranslator(attention(source=["quark", "house"]), beam_width=2)


NAN = np.full((1, 1, 3, 2), np.nan)


@pytest.mark.parametrize(
    "changes, message",
    [
        ({"source": []}, "example.source: expected a list of one or more non-empty strings"),
        ({"target": ["a", ""]}, "example.target: expected a list of one or more non-empty strings"),
        (
            {"cross": np.ones((3, 2))},
            r"example.cross: expected shape \(n_layers, n_heads, 3, 2\), got \(3, 2\)",
        ),
        (
            {"cross": np.ones((1, 1, 2, 3))},
            r"example.cross: expected shape \(n_layers, n_heads, 3, 2\), got \(1, 1, 2, 3\)",
        ),
        (
            {"cross": np.ones((0, 1, 3, 2))},
            r"example.cross: expected shape \(n_layers, n_heads, 3, 2\), got \(0, 1, 3, 2\)",
        ),
        (
            {"cross": NAN},
            "example.cross: expected finite numbers, got some others, of dtype float64",
        ),
        (
            {"cross": np.full((1, 1, 3, 2), "a")},
            "example.cross: expected finite numbers, got some others, of dtype <U1",
        ),
    ],
)
def test_invalid_examples_are_refused(changes, message):
    example = attention()
    for name, value in changes.items():
        setattr(example, name, value)
    with pytest.raises(ValueError, match=message):
        LiveTranslator(example)


def test_a_sentence_without_attention_is_refused_as_example():
    message = "example: expected what `Translator.attention` returns, got str without `source`"
    with pytest.raises(ValueError, match=message):
        LiveTranslator("hello")


@pytest.mark.parametrize("link", [(2, 0), (0, 3), (-1, 0), (0, -1)])
@pytest.mark.parametrize("kind", ["sure", "possible"])
def test_links_outside_the_example_are_refused(kind, link):
    expected = rf"gold.{kind}: expected \(source, target\) within 2 and 3 words, got \({link[0]}, {link[1]}\)"
    with pytest.raises(ValueError, match=expected):
        LiveTranslator(attention(), gold=gold(**{kind: [(0, 0), link]}))
    LiveTranslator(attention(), gold=gold(**{kind: [(1, 2)]}))


test_invalid_sentences_are_refused = refusals(
    (" ", r"sentences\[1\]: expected a sentence, got ' '"),
    (Pair("", "una casa"), r"sentences\[1\].source: expected a sentence, got ''"),
    (Pair("a house", " "), r"sentences\[1\].target: expected a sentence, got ' '"),
    (Pair("a house", None), r"sentences\[1\].target: expected a sentence, got None"),
    (
        Pair("a house", "una casa", frozenset({(0, 2)})),
        r"sentences\[1\].sure: expected \(source, target\) within 2 and 2 words, got \(0, 2\)",
    ),
    (
        Pair("a house", "una casa", possible=frozenset({(2, 0)})),
        r"sentences\[1\].possible: expected .* got \(2, 0\)",
    ),
    of=lambda pair: LiveTranslator(attention(), sentences=[PAIR, pair]),
)


def test_a_single_string_is_refused_as_list_of_sentences():
    with pytest.raises(
        ValueError, match="sentences: expected a sequence of sentences, got 'hello'"
    ):
        LiveTranslator(attention(), sentences="hello")


def test_every_text_is_used():
    """Those of the page are used by the widget or by what it draws with."""
    stems = ("live_translator", "cross_attention", "search_tree", "shared", "trained", "loading")
    sources = "".join((_source.FOLDER / f"{stem}.js").read_text("utf-8") for stem in stems)
    block = re.search(r"STRINGS = \{\n  es: \{(.*?)\n  \},", sources, re.DOTALL)[1]
    names = set(
        re.findall(r"(?:^|, |    )(\w+): \"", re.sub(r'"[^"]*"', '""', block), re.MULTILINE)
    )
    assert len(names) > 30
    by_kind = {"sure", "possible"}
    assert names - by_kind == set(re.findall(r"\bt\.(\w+)", sources))
