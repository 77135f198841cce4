"""LiveTranslator in a real browser, from ``file://`` and offline, against Python's translator.

The model will be trained again: nothing here asks that a translation be right, only that it,
its weights and its search be those of Python.
"""

import base64
from dataclasses import replace
from functools import partial
from itertools import islice

import numpy as np
import pytest
import torch

from attn.applications._sequences import write
from attn.applications.translation.certainty import GUESSED, calibrated, fitted
from attn.decoding import beam_search
from attn.tokenizer import byte_pair
from attn_course.grammar import generate
from attn_course.widgets import LiveTranslator, _source
from tests.test_site.conftest import page_of, write_beside

LANGUAGES = ("es", "en")
UNKNOWN = "the quark saw a xylophone"


@pytest.fixture(scope="module")
def pairs(translator):
    """Sentences of the corpus of whose words the model knows all, of many lengths."""

    def is_known(pair):
        n_tokens = len(translator.source.encode(pair.source))
        return not translator.source.unknown(pair.source) and n_tokens <= translator.max_len

    return list(islice(filter(is_known, generate(5)), 12))


@pytest.fixture(scope="module")
def example(translator, pairs):
    return translator.attention(pairs[0].source)


@pytest.fixture(scope="module")
def folder(tmp_path_factory, example, pairs):
    """A page in each language, and beside them what the site has beside its pages."""
    folder = tmp_path_factory.mktemp("site")
    for language in LANGUAGES:
        widget = LiveTranslator(
            example, gold=pairs[0], sentences=pairs[1:], pretrained="grammar", language=language
        )
        (folder / f"{language}.html").write_text(page_of(widget, "translator_widgets.js"), "utf-8")
    write_beside(folder, "translator_widgets")
    return folder


@pytest.fixture
def visit(opened, folder):
    """Open the page of a language."""
    return lambda language="es", width=1280, motion="reduce", place=folder, **options: opened(
        place, language, "[data-attn=target-token]", width, motion, **options
    )


def translate(page, text, width=None):
    """Translate through the page; return what it then shows."""
    if width is not None:
        page.locator(f"[data-attn=width][value='{width}']").check()
    page.locator("[data-attn=note]").evaluate("node => { node.textContent = 'waiting'; }")
    page.locator("[data-attn=sentence]").fill(text)
    page.locator("[data-attn=sentence]").press("Enter")
    page.wait_for_function(
        """() => document.querySelector('[data-attn=note]').textContent !== 'waiting'
          && !document.querySelector('[data-attn=progress][data-shown]')"""
    )
    return page.locator("[data-attn=output]").inner_text()


def values(page, hook, attribute="data-weight"):
    script = "(nodes, name) => nodes.map((node) => Number(node.getAttribute(name)))"
    return page.locator(f"[data-attn={hook}]").evaluate_all(script, attribute)


def matrix(page):
    n_rows = page.locator("[data-attn=target-token]").count()
    return np.reshape(values(page, "heat-cell"), (n_rows, -1))


def summary(page):
    return page.locator("[data-attn=summary]").inner_text()


# What is there before anything loads ----------------------------------------------------------


@pytest.mark.parametrize("language", LANGUAGES)
def test_the_example_shows_before_anything_loads(language, visit, example, translator):
    page = visit(language)
    assert page.locator("[data-attn=target-token] > span:first-child").all_inner_texts() == (
        example.target
    )
    np.testing.assert_allclose(matrix(page), example.cross.mean(axis=(0, 1)), atol=1e-4)
    text = translator.target.decode(translator.target.encode(" ".join(example.target[:-1])))
    assert page.locator("[data-attn=output]").inner_text() == text
    assert page.locator("[data-attn=sentence]").input_value() == " ".join(example.source)
    page.locator("[data-attn=layer][value='1']").check()
    page.locator("[data-attn=head][value='2']").check()
    np.testing.assert_allclose(matrix(page), example.cross[1, 2], atol=1e-4)
    expected = [f"{language}.html", "translator_widgets.js", "widgets.css"]
    assert sorted(page.requests) == sorted(expected)


def test_the_model_comes_once_and_when_it_is_wanted(visit):
    page = visit()
    page.locator("[data-attn=sentence]").focus()
    assert not any(name.startswith("grammar_translator") for name in page.requests)
    page.keyboard.type("a")
    page.wait_for_function(
        "() => /cargado/.test(document.querySelector('[data-attn=note]').textContent)"
    )
    for text in ("the cat was black", "the cat was white"):
        translate(page, text)
    files = [name for name in page.requests if name.startswith("grammar_translator")]
    assert sorted(files) == [f"grammar_translator{part}.js" for part in ("", "_1", "_2")]


@pytest.mark.parametrize("part", ["", "_1", "_2"])
def test_missing_model_files_are_reported_and_requested_again(part, visit, folder, tmp_path):
    for path in folder.iterdir():
        if path.name != f"grammar_translator{part}.js":
            (tmp_path / path.name).write_bytes(path.read_bytes())
    page = visit("en", place=tmp_path)
    retry, note = page.locator("[data-attn=retry]"), page.locator("[data-attn=note]")
    assert not retry.is_visible()
    assert translate(page, "the cat was black") == ""
    assert note.inner_text().startswith("The model did not arrive whole: 0.")
    assert note.get_attribute("data-bad") is not None
    name = f"grammar_translator{part}.js"
    (tmp_path / name).write_bytes((folder / name).read_bytes())
    retry.click()
    page.wait_for_function(
        "() => /ms/.test(document.querySelector('[data-attn=note]').textContent)"
    )
    assert page.locator("[data-attn=output]").inner_text() == "el gato era negro"
    assert not retry.is_visible()
    assert page.evaluate("document.activeElement.dataset.attn") == "sentence"
    # What came is not asked for again.
    parts = ("", "_1", "_2")
    counts = {other: page.requests.count(f"grammar_translator{other}.js") for other in parts}
    assert counts.pop(part) >= 2 and list(counts.values()) == [1, 1]


# As in Python ----------------------------------------------------------------------------------


def test_translations_are_those_of_python(visit, pairs, translator):
    page = visit()
    texts = [pair.source for pair in pairs]
    texts[0] = texts[0].capitalize() + ". "
    for width in (1, 2, 3, 4):
        expected = translator.translate(texts, beam_width=width)
        assert [translate(page, text, width) for text in texts] == expected, width


def test_weights_by_layer_and_head_are_those_of_python(visit, pairs, translator):
    page = visit()
    config = translator.model.config
    layers, heads = ([None, *range(n)] for n in (config.n_layers, config.n_heads))
    for pair in pairs[:4]:
        translate(page, pair.source)
        attention = translator.attention(pair.source)
        shown = page.locator("[data-attn=target-token] > span:first-child").all_inner_texts()
        assert shown == attention.target
        for layer in layers:
            page.locator(f"[data-attn=layer][value='{'null' if layer is None else layer}']").check()
            for head in heads:
                name = "null" if head is None else head
                page.locator(f"[data-attn=head][value='{name}']").check()
                expected = attention.cross if layer is None else attention.cross[[layer]]
                expected = expected if head is None else expected[:, [head]]
                expected = expected.mean(axis=(0, 1))
                np.testing.assert_allclose(matrix(page), expected, atol=1e-5)
                row = values(page, "link-weight")
                chosen = page.locator("[data-attn=target-token][aria-checked=true]")
                np.testing.assert_allclose(
                    row, expected[int(chosen.get_attribute("data-row"))], atol=1e-5
                )
                assert values(page, "link") == row


@torch.no_grad()
def test_probabilities_are_those_of_python(visit, pairs, translator):
    page = visit()
    for pair in pairs[:4]:
        translate(page, pair.source)
        tgt = translator.target.encode(translator.translate(pair.source), sos=True, eos=True)
        src = torch.tensor(translator.source.encode(pair.source))
        logits, _ = translator.model(src, torch.tensor(tgt[:-1]))
        expected = logits.softmax(-1)[range(len(tgt) - 1), tgt[1:]]
        np.testing.assert_allclose(values(page, "probability", "data-value"), expected, atol=1e-5)


@torch.no_grad()
@pytest.mark.parametrize("width", [2, 4])
def test_the_tree_is_the_search_of_python(width, visit, pairs, translator):
    page = visit()
    model = translator.model
    for pair in pairs[:3]:
        translate(page, pair.source, width)
        src = translator.source.encode(pair.source)
        memory, _ = model.encode(torch.tensor([src]))
        ids, scores = beam_search(
            partial(model.step, memory=memory),
            torch.tensor([[translator.target.sos_id]]),
            width=width,
            end_id=translator.target.eos_id,
            max_new_tokens=2 * len(src) + 10,
            cache=model.new_cache(),
        )
        nodes = page.locator("[data-attn=node]").evaluate_all(
            """nodes => nodes.map(({ dataset, firstChild }) => ({ ...dataset, token: firstChild.textContent }))
              .sort((a, b) => a.place - b.place)"""
        )
        assert [int(node["place"]) for node in nodes] == list(range(len(nodes)))

        def words(node, nodes=nodes):
            here = [node["token"]]
            return [*words(nodes[int(node["parent"])]), *here] if "parent" in node else here

        parents = {node.get("parent") for node in nodes}
        ended = {
            " ".join(words(node)): float(node["total"])
            for node in nodes
            if "kept" in node and node["place"] not in parents
        }
        expected = [
            " ".join(translator.target.tokens[i] for i in row if i != translator.target.pad_id)
            for row in ids[0].tolist()
        ]
        assert ended.keys() == set(expected)
        np.testing.assert_allclose([ended[text] for text in expected], scores[0], atol=1e-4)
        won = [node for node in nodes if "won" in node]
        assert [node["token"] for node in won] == expected[0].split()
        totals = np.cumsum([float(node["logProbability"]) for node in won])
        np.testing.assert_allclose([float(node["total"]) for node in won], totals, atol=1e-9)
        columns = page.locator("[data-attn=tree] ol > li").evaluate_all(
            "steps => steps.map(step => [...step.querySelectorAll('li')].map(n => Number(n.dataset.total)))"
        )
        assert len(columns) == max(len(words(node)) for node in nodes)
        assert all(column == sorted(column, reverse=True) for column in columns)
        assert sum(map(len, columns)) == len(nodes)
    translate(page, pairs[0].source, 1)
    assert page.locator("[data-attn=tree]").count() == 0


# The alignment -----------------------------------------------------------------------------------


def frames(page):
    return {
        kind: set(
            map(
                tuple,
                page.locator(f"[data-attn=heat-cell][data-gold={kind}]").evaluate_all(
                    "cells => cells.map(({ dataset }) => [Number(dataset.col), Number(dataset.row)])"
                ),
            )
        )
        for kind in ("sure", "possible")
    }


def test_frames_mark_the_alignment_where_it_is_known(visit, pairs, translator):
    page = visit()
    n_known = 0
    for i, pair in enumerate(pairs):
        if i:
            page.locator("[data-attn=pick]").select_option(pair.source)
            page.wait_for_function(
                "text => document.querySelector('[data-attn=sentence]').value === text"
                " && !document.querySelector('[data-attn=note]').dataset.bad",
                arg=pair.source,
            )
            page.locator("[data-attn=output]").wait_for()
            translate(page, pair.source)
        is_known = i == 0 or translator.translate(pair.source) == pair.target
        n_known += is_known
        wanted = {"sure": set(pair.sure), "possible": set(pair.possible - pair.sure)}
        assert frames(page) == (wanted if is_known else {"sure": set(), "possible": set()})
        assert any(said in summary(page) for said in TEXTS["es"].values()) or not is_known
    assert n_known >= 2
    translate(page, UNKNOWN.replace("quark", "cat").replace("xylophone", "dog"))
    assert frames(page) == {"sure": set(), "possible": set()}


def test_an_alignment_is_that_of_one_translation_only(visit, pairs, example, folder, tmp_path):
    other = replace(pairs[1], target=f"{pairs[1].target} otra")
    widget = LiveTranslator(example, sentences=[other], pretrained="grammar")
    write_beside(tmp_path, "translator_widgets")
    (tmp_path / "es.html").write_text(page_of(widget, "translator_widgets.js"), "utf-8")
    page = visit(place=tmp_path)
    translate(page, pairs[1].source)
    assert frames(page) == {"sure": set(), "possible": set()}
    assert "no se sabe qué palabra traduce a cuál" in summary(page)


TEXTS = {
    "es": {
        "right": "Es, en efecto, la palabra que traduce.",
        "maybe": "Puede decirse que la traduce.",
        "elsewhere": "En realidad traduce ",
        "unlinked": "En realidad no traduce ninguna palabra.",
        "end": "<eos> termina la oración: no traduce ninguna palabra.",
    },
    "en": {
        "right": "That is indeed the word that it translates.",
        "maybe": "It can be said to translate that word.",
        "elsewhere": "It really translates ",
        "unlinked": "It really translates no word.",
        "end": "<eos> ends the sentence: it translates no word.",
    },
}


@pytest.mark.parametrize("language", LANGUAGES)
def test_a_sentence_says_whether_the_alignment_agrees(language, visit, tmp_path, folder):
    """Of a made-up example, each of whose words stands for one case."""
    source, target = ["a", "b", "c"], ["r", "m", "e", "u", "<eos>"]
    cross = np.array([[[[0.7, 0.2, 0.1]] * 3 + [[0.1, 0.2, 0.7], [0.2, 0.2, 0.6]]]])
    example = type("Example", (), {"source": source, "target": target, "cross": cross})
    links = {"sure": {(0, 0), (1, 2)}, "possible": {(0, 0), (1, 2), (0, 1), (2, 2)}}
    widget = LiveTranslator(
        example, gold=type("Gold", (), links), pretrained="grammar", language=language
    )
    (tmp_path / f"{language}.html").write_text(page_of(widget, "translator_widgets.js"), "utf-8")
    for name in ("translator_widgets.js", "widgets.css"):
        (tmp_path / name).write_bytes((folder / name).read_bytes())
    page = visit(language, place=tmp_path)
    said = []
    for i, (kind, text) in enumerate(TEXTS[language].items()):
        page.locator("[data-attn=target-token]").nth(i).click()
        said.append(summary(page))
        assert text in said[-1], kind
        assert repr(target[i])[1:-1] in said[-1] and (["<sos>", *target])[i] in said[-1]
    assert "0.70" in said[0] and "0.60" in said[4]
    assert said[2].count("b") > said[1].count("«b»")
    keys = page.locator(".attn-live-keys > li")
    page.locator("[data-attn=target-token]").nth(2).click()
    shown = keys.evaluate_all("nodes => nodes.map((node) => node.dataset.gold)")
    assert shown == ["none", "sure", "possible"]


# What it does not translate ------------------------------------------------------------------------


@pytest.mark.parametrize("language", LANGUAGES)
def test_unknown_words_are_named_and_not_translated(language, visit):
    page = visit(language)
    shown = translate(page, UNKNOWN)
    assert shown == UNKNOWN
    assert page.locator("[data-attn=unknown]").all_inner_texts() == ["quark", "xylophone"]
    note = page.locator("[data-attn=note]").inner_text()
    assert ("«quark» y «xylophone»" if language == "es" else "“quark” and “xylophone”") in note
    assert page.locator("[data-attn=target-token]").count() == 0
    page.wait_for_function("() => document.querySelector('[role=status]').textContent")
    assert page.locator("[data-attn=status]").inner_text() == note


def test_empty_and_long(visit, translator):
    page = visit("en")
    note = page.locator("[data-attn=note]")
    for text in ("", "   ", ".", " . "):
        assert translate(page, text) == ""
        assert note.inner_text() == "Write a sentence in English."
    most = translator.max_len
    fits = " ".join(["the"] * most)
    assert translate(page, fits) == translator.translate(fits)
    assert note.get_attribute("data-bad") is None
    assert not page.locator("[data-attn=whole]").is_visible()
    # What does not fit is translated in pieces, and each of them has its figure.
    text = f"{fits} cat\n\nthe red house"
    translate(page, text)
    page.locator("[data-attn=piece]").wait_for()
    assert page.locator("[data-attn=output]").inner_text() == translator.translate(fits)
    assert page.locator("[data-attn=whole]").inner_text() == translator.translate(text)
    assert note.inner_text().startswith("The text was translated in 3 pieces, in ")
    page.locator("[data-attn=piece]").select_option(index=2)
    assert page.locator("[data-attn=output]").inner_text() == "la casa roja"
    assert translate(page, "the cat\0") == ""
    assert note.inner_text() == "The text has the character NUL, which no text has: take it out."
    assert not page.locator("[data-attn=whole]").is_visible()


# By hand -------------------------------------------------------------------------------------------


def test_everything_by_keyboard(visit, pairs, translator):
    page = visit("en", 600)
    keyboard, focused = page.keyboard, "document.activeElement.dataset.attn"
    keyboard.press("Tab")
    assert page.evaluate(focused) == "sentence"
    keyboard.press("Control+a")
    keyboard.type(pairs[2].source)
    keyboard.press("Tab")
    assert page.evaluate(focused) == "translate"
    keyboard.press("Enter")
    output = page.locator("[data-attn=output]")
    page.wait_for_function(
        "text => document.querySelector('[data-attn=output]').innerText === text",
        arg=translator.translate(pairs[2].source),
    )
    keyboard.press("Tab")
    assert page.evaluate(focused) == "pick"
    keyboard.press("ArrowDown")
    keyboard.press("ArrowDown")
    chosen = pairs[1].source
    page.wait_for_function(
        "text => document.querySelector('[data-attn=output]').innerText === text",
        arg=translator.translate(chosen),
    )
    assert page.locator("[data-attn=sentence]").input_value() == chosen
    keyboard.press("Tab")
    assert page.evaluate(focused) == "width"
    assert not page.locator("[data-attn=penalty]").first.is_visible()  # nothing to compare
    keyboard.press("ArrowRight")
    page.locator("[data-attn=tree]").wait_for()
    assert output.inner_text() == translator.translate(chosen, beam_width=2)
    keyboard.press("Tab")
    assert page.evaluate(focused) == "penalty"
    keyboard.press("Tab")
    assert page.evaluate(focused) == "layer"
    keyboard.press("ArrowRight")
    keyboard.press("Tab")
    assert page.evaluate(focused) == "head"
    keyboard.press("ArrowRight")
    attention = translator.attention(chosen, translator.translate(chosen, beam_width=2))
    np.testing.assert_allclose(matrix(page), attention.cross[0, 0], atol=1e-5)
    keyboard.press("Tab")
    assert page.evaluate(focused) == "target-token"
    for key, row in (("Home", 0), ("ArrowRight", 1), ("End", len(attention.target) - 1)):
        keyboard.press(key)
        assert page.evaluate("document.activeElement.dataset.row") == str(row)
        np.testing.assert_allclose(
            values(page, "link-weight"), attention.cross[0, 0, row], atol=1e-5
        )
    keyboard.press("Tab")
    # The tree is wider than the page: its box takes the focus, and scrolls.
    box = page.get_by_role("group", name="Search tree")
    assert box.evaluate("node => node === document.activeElement")
    keyboard.press("ArrowRight")
    page.wait_for_function(
        "() => document.querySelector('[data-attn=tree] > .attn-w-scroll').scrollLeft > 0"
    )


@pytest.mark.parametrize("width", [390, 1280])
def test_a_box_that_goes_on_fades_until_its_end_is_reached(width, visit, pairs):
    page = visit(width=width)
    translate(page, pairs[0].source, 4)
    box = page.locator("[data-attn=tree] > .attn-w-scroll.attn-goes-on")
    box.wait_for()
    assert box.evaluate("node => getComputedStyle(node).maskImage").startswith("linear-gradient")
    box.evaluate("node => { node.scrollLeft = node.scrollWidth; }")
    page.locator("[data-attn=tree] > .attn-w-scroll:not(.attn-goes-on)").wait_for()


def test_the_mouse_peeks_and_a_click_stays(visit, example):
    page = visit()
    mean = example.cross.mean(axis=(0, 1))
    tokens = page.locator("[data-attn=target-token]")
    tokens.nth(0).click()
    tokens.nth(2).hover()
    np.testing.assert_allclose(values(page, "link-weight"), mean[2], atol=1e-4)
    page.locator("h1").hover()
    np.testing.assert_allclose(values(page, "link-weight"), mean[0], atol=1e-4)
    page.locator("[data-attn=heat-cell][data-row='3']").first.hover()
    np.testing.assert_allclose(values(page, "link-weight"), mean[3], atol=1e-4)
    page.locator("h1").hover()
    np.testing.assert_allclose(values(page, "link-weight"), mean[0], atol=1e-4)
    page.locator("[data-attn=heat-cell][data-row='1']").first.click()
    page.locator("h1").hover()
    np.testing.assert_allclose(values(page, "link-weight"), mean[1], atol=1e-4)


def test_a_finger_on_a_phone(visit, pairs, translator):
    longest = max((pair.source for pair in pairs), key=len)
    page = visit("es", 390, has_touch=True, is_mobile=True)
    for width in (1, 4):
        translate(page, longest, width)
        page.locator("[data-attn=target-token]").nth(1).tap()
        attention = translator.attention(longest, translator.translate(longest, beam_width=width))
        mean = attention.cross.mean(axis=(0, 1))
        np.testing.assert_allclose(values(page, "link-weight"), mean[1], atol=1e-5)
        assert page.evaluate("document.documentElement.scrollWidth") <= 390
    translate(page, UNKNOWN)
    # What is said aloud is hidden, but must not make the page wider either.
    page.wait_for_function("() => document.querySelector('[role=status]').textContent")
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    targets = page.locator(
        ".attn-w :is(button, select, input[type=text], label:has(input)):visible"
    )
    heights = targets.evaluate_all("ns => ns.map(n => n.getBoundingClientRect().height)")
    assert min(heights) >= 43.9


def test_a_picked_sentence_is_translated(visit, pairs, translator):
    page = visit()
    page.locator("[data-attn=pick]").select_option(pairs[3].source)
    page.wait_for_function(
        "text => document.querySelector('[data-attn=output]').innerText === text",
        arg=translator.translate(pairs[3].source),
    )
    assert page.locator("[data-attn=sentence]").input_value() == pairs[3].source


# Motion, and ears ------------------------------------------------------------------------------------

WATCH = """() => {
  globalThis.seen = [];
  const look = () => {
    const later = document.querySelectorAll("[data-attn=target-token]:not([data-later])").length;
    const top = document.querySelector(".attn-live-heat")?.getBoundingClientRect().top;
    const output = document.querySelector("[data-attn=output]").innerText;
    if (seen.at(-1)?.later !== later) seen.push({ later, top, output });
    requestAnimationFrame(look);
  };
  look();
}"""


def test_words_appear_one_by_one_and_nothing_moves(visit, pairs, translator):
    page = visit(motion="no-preference")
    text = pairs[1].source
    page.locator("[data-attn=sentence]").focus()
    page.keyboard.type("a")
    page.wait_for_function(
        "() => /cargado/.test(document.querySelector('[data-attn=note]').textContent)"
    )
    page.evaluate(WATCH)
    translate(page, text)
    n = len(translator.attention(text).target)
    page.wait_for_function("n => seen.at(-1)?.later === n && seen.length > 2", arg=n)
    seen = page.evaluate("seen.slice(1)")  # the first is the example
    counts = [frame["later"] for frame in seen]
    assert counts[-1] == n and counts == sorted(set(counts))
    assert len(counts) > n / 2  # a busy machine may skip some
    assert len({frame["top"] for frame in seen}) == 1
    whole = translator.translate(text)
    assert all(whole.startswith(frame["output"].strip()) for frame in seen)
    assert seen[-1]["output"] == whole


def test_with_reduced_motion_all_words_come_at_once(visit, pairs, translator):
    page = visit()
    page.evaluate(WATCH)
    translate(page, pairs[1].source)
    page.wait_for_timeout(100)
    assert set(page.evaluate("seen.map((frame) => frame.later)")) <= {
        len(translator.attention(pair.source).target) for pair in pairs[:2]
    }


def test_a_word_that_was_picked_stays_while_others_come(visit, pairs, translator):
    page = visit(motion="no-preference")
    translate(page, pairs[1].source)
    first = page.locator("[data-attn=target-token]").first
    first.click()
    n = len(translator.attention(pairs[1].source).target)
    page.wait_for_function(
        "n => document.querySelectorAll('[data-attn=target-token]:not([data-later])').length === n",
        arg=n,
    )
    assert first.get_attribute("aria-checked") == "true"


def test_the_last_request_wins(visit, pairs, translator):
    page = visit(motion="no-preference")
    field = page.locator("[data-attn=sentence]")
    for pair in pairs[:3]:
        field.fill(pair.source)
        field.press("Enter")
    whole = translator.translate(pairs[2].source)
    page.wait_for_function(
        "text => document.querySelector('[data-attn=output]').innerText === text", arg=whole
    )
    page.wait_for_timeout(300)
    assert page.locator("[data-attn=output]").inner_text() == whole


def test_the_translation_is_announced(visit, pairs, translator):
    page = visit("en")
    assert page.locator("[data-attn=status]").inner_text() == ""
    whole = translate(page, pairs[1].source)
    page.wait_for_function("() => document.querySelector('[data-attn=status]').textContent")
    said = page.locator("[data-attn=status]").inner_text()
    assert said.startswith(f"{whole}. ") and said.endswith(summary(page))


@pytest.mark.parametrize(("language", "scheme"), [("es", "dark"), ("en", "light")])
def test_no_accessibility_violation(language, scheme, visit, pairs, violations):
    page = visit(language, color_scheme=scheme)
    assert violations(page) == []
    translate(page, pairs[1].source, 3)
    assert violations(page) == []
    translate(page, UNKNOWN)
    assert violations(page) == []


# Parts of words --------------------------------------------------------------------------------------

ANY = ["the red house", "The quark's 3 xylophones, 🙂!", "¿東京?", "  two  spaces ", "."]


@pytest.fixture(scope="module")
def parts_folder(tmp_path_factory, byte_pairs):
    """A page whose model reads any text."""
    folder = tmp_path_factory.mktemp("parts")
    for language in LANGUAGES:
        widget = LiveTranslator(
            byte_pairs.attention("the red house"),
            sentences=ANY[1:],
            pretrained="tatoeba",
            language=language,
        )
        (folder / f"{language}.html").write_text(page_of(widget, "translator_widgets.js"), "utf-8")
    write_beside(folder, "translator_widgets")
    return folder


def shown(page):
    """Return the translation as it is, white space included."""
    return page.locator("[data-attn=output]").evaluate("node => node.textContent")


@pytest.mark.parametrize("width", [1, 4])
def test_any_text_is_translated_as_in_python_and_what_is_guessed_is_marked(
    width, visit, parts_folder, byte_pairs
):
    page = visit(place=parts_folder)
    n_marked = 0
    for text in ANY:
        translate(page, text, width)
        found = byte_pairs.translation(text, beam_width=width)
        assert shown(page) == found.text
        assert page.locator("[data-attn=note][data-bad]").count() == 0
        sure = calibrated(np.array(found.word_probabilities), *fitted()["tatoeba"])
        guessed = [word for word, p in zip(found.words, sure, strict=True) if p < GUESSED]
        assert page.locator("[data-attn=guessed]").all_inner_texts() == guessed
        assert page.locator("[data-attn=legend]").is_visible() == bool(guessed)
        n_marked += len(guessed)
    assert n_marked > 5
    assert "alineación" not in summary(page)  # nobody knows one


@torch.no_grad()
def test_a_length_penalty_counts_as_in_python(visit, parts_folder, byte_pairs):
    page = visit(place=parts_folder)
    translate(page, ANY[1], 4)
    found = set()
    for penalty in (0, 0.6, 1):
        page.locator(f"[data-attn=penalty][value='{penalty}']").check()
        memory, _ = byte_pairs.model.encode(torch.tensor([byte_pairs.source_ids(ANY[1])]))
        ids, _ = beam_search(
            partial(byte_pairs.model.step, memory=memory),
            torch.tensor([[byte_pairs.target.sos_id]]),
            width=4,
            length_penalty=penalty,
            end_id=byte_pairs.target.eos_id,
            cache=byte_pairs.model.new_cache(),
            max_new_tokens=2 * len(byte_pairs.source_ids(ANY[1])) + 10,
        )
        assert shown(page) == byte_pairs.target.decode(ids[0, 0].tolist())
        found.add(shown(page))
    assert found


def joined(weights, rows, columns):
    """Add up the columns of each word and average its rows."""
    starts = [np.cumsum([0, *map(len, words)])[:-1] for words in (rows, columns)]
    sums = np.add.reduceat(weights, starts[1], axis=-1)
    return np.add.reduceat(sums, starts[0], axis=-2) / np.array([[len(word)] for word in rows])


@torch.no_grad()
def test_parts_are_joined_to_words_on_request(visit, parts_folder, byte_pairs):
    page = visit("en", place=parts_folder)
    # Of which the model writes what its vocabulary would make of it, to the end.
    text = next(
        pair.source
        for pair in generate(5)
        if write(byte_pairs.model, [byte_pairs.source_ids(pair.source)], 40)[0]
        == byte_pairs.target.encode(byte_pairs.translate(pair.source), eos=True)
    )
    translate(page, text)
    attention = byte_pairs.attention(text)
    np.testing.assert_allclose(matrix(page), attention.cross.mean(axis=(0, 1)), atol=1e-5)
    names = page.locator(".attn-live-keys > li > span:first-child")
    tokens = names.all_inner_texts()
    assert tokens == [token.replace(" ", "␣") for token in attention.source]
    assert len(tokens) > len(text.split())
    apart = values(page, "probability", "data-value")
    page.locator("[data-attn=joined][value=true]").check()
    assert page.evaluate("document.activeElement.value") == "true"
    assert names.all_inner_texts() == text.split()
    said = byte_pairs.translate(text)
    written = [byte_pairs.target.encode(piece) for piece in byte_pair.split(said)]
    read = [byte_pairs.source.encode(piece) for piece in byte_pair.split(text)]
    assert [token for word in read for token in word] == byte_pairs.source.encode(text)
    cross = joined(attention.cross[1, 2], [*written, ["<eos>"]], read)
    page.locator("[data-attn=layer][value='1']").check()
    page.locator("[data-attn=head][value='2']").check()
    np.testing.assert_allclose(matrix(page), cross, atol=1e-5)
    np.testing.assert_allclose(matrix(page).sum(axis=1), 1, atol=1e-5)
    lengths = [*map(len, written), 1]
    expected = np.multiply.reduceat(apart, np.cumsum([0, *lengths])[:-1])
    np.testing.assert_allclose(values(page, "probability", "data-value"), expected, rtol=1e-6)
    assert shown(page) == said
    page.locator("[data-attn=joined][value=false]").check()
    assert names.all_inner_texts() == tokens


@pytest.mark.parametrize("language", LANGUAGES)
def test_loading_is_shown_and_said(language, visit, parts_folder, byte_pairs):
    page = visit(language, place=parts_folder)
    size = f"{len(_source.translator('tatoeba')['weights']) / 1e6:.1f} MB"
    assert size in page.locator("[data-attn=note]").inner_text()
    bar = page.get_by_role("progressbar", include_hidden=True)
    assert not bar.is_visible()
    page.evaluate(
        """() => {
          globalThis.seen = [];
          const [bar, note] = ["progress", "note"].map((name) => document.querySelector(`[data-attn=${name}]`));
          new MutationObserver(() => {
            if (bar.hasAttribute("data-shown")) seen.push([bar.getAttribute("aria-valuenow"), bar.getAttribute("aria-valuetext"), note.textContent]);
          }).observe(bar, { attributes: true });
        }"""
    )
    translate(page, ANY[0])
    seen = page.evaluate("seen")
    shares = [int(share) for share, _, _ in seen]
    assert len(set(shares)) > 3 and shares == sorted(shares) and shares[-1] == 100
    assert all(text == note and size in note for _, text, note in seen)
    assert not bar.is_visible()


def test_a_word_of_too_many_parts_is_not_translated(visit, parts_folder):
    page = visit("en", place=parts_folder)
    translate(page, "yes " + "x" * 100_000)
    note = page.locator("[data-attn=note]").inner_text()
    assert note.startswith("A word of 100000 letters is more than the model can read")
    translate(page, "   ")
    assert page.locator("[data-attn=note]").inner_text() == "Write a sentence in English."


@pytest.mark.parametrize("language, scheme, width", [("es", "light", 1280), ("en", "dark", 390)])
def test_parts_of_words_are_accessible(language, scheme, width, visit, parts_folder, violations):
    page = visit(language, width, place=parts_folder, color_scheme=scheme)
    translate(page, ANY[1], 3)
    assert violations(page) == []
    page.locator("[data-attn=joined][value=true]").check()
    assert violations(page) == []
    assert page.evaluate("document.documentElement.scrollWidth") <= width


# About search alone -----------------------------------------------------------------------------------

RANKS = "[data-attn=hypothesis] > span:first-child"


def drawn(page):
    """Return the total of each node of the tree, and whether it is in sight."""
    return page.locator("[data-attn=node]").evaluate_all(
        "all => all.map(node => [Number(node.dataset.total), node.checkVisibility({ visibilityProperty: true })])"
    )


@pytest.fixture(scope="module")
def beam_folder(tmp_path_factory, example, pairs):
    folder = tmp_path_factory.mktemp("beam")
    widget = LiveTranslator(
        example, sentences=pairs[1:], pretrained="grammar", beam_width=2, language="en"
    )
    (folder / "en.html").write_text(page_of(widget, "translator_widgets.js"), "utf-8")
    write_beside(folder, "translator_widgets")
    return folder


@pytest.mark.parametrize("width, scheme", [(1280, "light"), (390, "dark")])
def test_a_beam_grows_under_the_reader_s_hand(
    browser, beam_folder, width, scheme, pairs, translator, violations
):
    context = browser.new_context(
        offline=True,
        viewport={"width": width, "height": 900},
        color_scheme=scheme,
        reduced_motion="reduce",
    )
    page = context.new_page()
    page.goto((beam_folder / "en.html").as_uri())
    page.locator("[data-attn=grown]").focus()
    before = drawn(page)
    steps = int(page.locator("[data-attn=grown]").get_attribute("max"))
    assert [seen for _, seen in before] == [True] * 3 + [False] * (len(before) - 3)
    page.keyboard.press("ArrowRight")
    assert sum(seen for _, seen in drawn(page)) > 3
    assert page.locator("[data-won]").count() == 0, "the winner is known only at the end"
    page.keyboard.press("End")
    assert all(seen for _, seen in drawn(page))
    assert page.locator(RANKS).first.inner_text() == translator.translate(
        pairs[0].source, beam_width=2
    )
    last = page.locator("[data-attn=tree] ol > li").last.bounding_box()
    box = page.locator(".attn-live-tree .attn-w-scroll").bounding_box()
    assert last["x"] + last["width"] <= box["x"] + box["width"], "the newest step is in sight"
    page.locator("[data-attn=play]").click()  # from the end it begins again
    assert page.locator("[data-attn=grown]").input_value() == "0"
    # What was computed beforehand is what the page computes.
    page.locator("[data-attn=translate]").click()
    page.wait_for_function(
        "() => document.querySelector('[data-attn=note]').textContent.includes('ms')"
    )
    assert [total for total, _ in drawn(page)] == pytest.approx([t for t, _ in before], abs=1e-3)
    assert page.locator("[data-attn=grown]").get_attribute("max") == str(steps)
    for beam_width in (1, 3):
        page.locator(f"[data-attn=width][value='{beam_width}']").check()
        page.wait_for_function(
            f"() => document.querySelectorAll('[data-attn=hypothesis]').length === {beam_width}"
        )
        wanted = translator.translate(pairs[0].source, beam_width=beam_width)
        assert page.locator(RANKS).first.inner_text() == wanted
    page.locator("[data-attn=sentence]").fill(UNKNOWN)
    page.locator("[data-attn=sentence]").press("Enter")
    page.locator("[data-attn=unknown]").first.wait_for()
    assert page.locator("[data-attn=tree]").count() == 0
    page.locator("[data-attn=sentence]").fill(pairs[1].source)
    page.locator("[data-attn=sentence]").press("Enter")
    page.locator("[data-attn=tree]").wait_for()
    assert violations(page) == []
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    context.close()


# As a module, as in JupyterLab ------------------------------------------------------------------------


def test_as_a_module_with_the_model_from_the_kernel(visit, tmp_path, folder, pairs, translator):
    """A data URL cannot load a neighbour: the model can only come from the state."""
    page = visit()
    page.locator("main").evaluate("node => { node.textContent = ''; }")
    parts = _source.translator("grammar")
    parts["weights"] = base64.b64encode(parts["weights"]).decode()
    page.add_script_tag(
        type="module",
        content=_source.module("live_translator").replace("export default", "globalThis.widget ="),
    )
    page.wait_for_function("() => globalThis.widget")
    page.evaluate(
        """([example, fromTheKernel]) => {
          const bytes = Uint8Array.from(atob(fromTheKernel.weights), (c) => c.charCodeAt(0));
          const trained = { ...fromTheKernel, weights: new DataView(bytes.buffer) };
          const pretrained = { name: "grammar", tokenizer: "words", megabytes: 0.4 };
          const state = { example, gold: null, sentences: [], language: "en", trained, pretrained };
          globalThis.stop = widget.render({
            model: { get: (name) => state[name], set() {}, on() {}, off() {}, save_changes() {} },
            el: document.querySelector("main"),
          });
        }""",
        [{"source": ["a"], "target": ["una", "<eos>"], "cross": [[[[1], [1]]]]}, parts],
    )
    assert page.locator("[data-attn=pick]").count() == 0
    text = pairs[1].source
    assert translate(page, text, 2) == translator.translate(text, beam_width=2)
    assert not any(name.startswith("grammar_translator") for name in page.requests)
    page.evaluate("stop()")
