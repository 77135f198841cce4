"""TrainingReplay in a real browser, from ``file://`` and offline."""

import json

import numpy as np
import pytest

from attn_course.widgets import TrainingReplay, _source
from experiments.training_curves import REPLAY
from tests.test_site.conftest import page_of

FILM = json.loads(REPLAY.read_text(encoding="utf-8"))
LANGUAGES = ("es", "en")
WORDS = {"sentence": 2, "attention": False}


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("site")
    for language in LANGUAGES:
        for name, options in ((language, {}), (f"{language}_words", WORDS)):
            widget = TrainingReplay(FILM, language=language, **options)
            (folder / f"{name}.html").write_text(page_of(widget, "widgets.js"), "utf-8")
    (folder / "widgets.js").write_text(_source.classic_bundle("training_widgets"), "utf-8")
    (folder / "widgets.css").write_text(_source.stylesheet(), "utf-8")
    return folder


@pytest.fixture
def visit(browser, folder):
    """Open the page of a language; errors on the way fail the test."""
    contexts, errors = [], []

    def visit(language="es", width=1280, motion="reduce", **options):
        context = browser.new_context(
            offline=True, viewport={"width": width, "height": 900}, reduced_motion=motion, **options
        )
        contexts.append(context)
        page = context.new_page()
        page.on("pageerror", lambda error: errors.append(str(error)))
        page.goto((folder / f"{language}.html").as_uri())
        page.locator("[data-attn=training-replay]").wait_for()
        return page

    yield visit
    for context in contexts:
        context.close()
    assert errors == []


def text(page, hook):
    return page.locator(f"[data-attn={hook}]").inner_text()


def weights(page):
    script = "nodes => nodes.map((node) => Number(node.dataset.weight))"
    return np.array(page.locator("[data-attn=heat-cell]").evaluate_all(script))


def frame(page):
    return int(page.locator("[data-attn=frame]").input_value())


@pytest.mark.parametrize("language", LANGUAGES)
def test_every_moment_shows_its_numbers_its_words_and_its_weights(visit, language):
    page = visit(language)
    slider = page.locator("[data-attn=frame]")
    slider.focus()
    for i, step in enumerate(FILM["steps"]):
        assert text(page, "step-value") == slider.get_attribute("aria-valuetext") == str(step)
        for name in ("train", "validation", "exact", "aer"):
            assert float(text(page, f"{name}-value")) == pytest.approx(FILM[name][i], abs=0.0051)
        sentence = FILM["sentences"][0]
        np.testing.assert_allclose(100 * weights(page), np.ravel(sentence["weights"][i]))
        words = sentence["texts"][i].split()
        assert text(page, "output").split()[:10] == words[:10] or not words
        page.keyboard.press("ArrowRight")


def test_every_sentence_can_be_chosen_and_its_links_are_framed(visit):
    page = visit("en")
    page.locator("[data-attn=frame]").press("End")
    for i, sentence in enumerate(FILM["sentences"]):
        page.locator("[data-attn=pick]").select_option(index=i)
        assert text(page, "output") == sentence["texts"][-1]
        np.testing.assert_allclose(100 * weights(page), np.ravel(sentence["weights"][-1]))
        n_sure = page.locator("[data-attn=heat-cell][data-gold=sure]").count()
        assert n_sure == len(sentence["sure"])


@pytest.mark.parametrize("language", LANGUAGES)
def test_without_attention_the_words_are_the_figure_and_the_right_ones_are_marked(visit, language):
    page = visit(f"{language}_words", width=390)
    assert page.locator("[data-attn=heat-cell], [data-attn=aer-curve]").count() == 0
    film = FILM["sentences"][2]
    target = [word for word in film["target"] if word != "<eos>"]
    assert text(page, "asked") == " ".join(target)
    slider = page.locator("[data-attn=frame]")
    slider.focus()
    for written in film["texts"]:
        marked = page.locator("[data-attn=output] [data-right]").all_inner_texts()
        pairs = zip(written.split()[:10], film["target"], strict=False)
        assert marked == [word for word, right in pairs if word == right]
        page.keyboard.press("ArrowRight")
    assert text(page, "output") == text(page, "asked")


def test_it_plays_to_the_end_and_stops_at_a_touch(visit):
    page = visit(motion="no-preference")
    button = page.locator("[data-attn=play]")
    button.click()
    assert button.inner_text() == "Pausa"
    page.wait_for_function("document.querySelector('[data-attn=frame]').value >= 3")
    page.locator("[data-attn=frame]").press("ArrowRight")
    assert button.inner_text() == "Reproducir"
    stopped = frame(page)
    page.wait_for_timeout(1200)
    assert frame(page) == stopped


def test_with_reduced_motion_each_press_is_one_moment(visit):
    page = visit("en", motion="reduce")
    button = page.locator("[data-attn=play]")
    assert button.inner_text() == "Next"
    for expected in (1, 2):
        button.click()
        assert frame(page) == expected
    page.wait_for_timeout(1200)
    assert frame(page) == 2
    page.locator("[data-attn=frame]").press("End")
    button.click()
    assert frame(page) == 0


def test_screen_readers_are_told_once_the_hand_rests(visit):
    page = visit("en")
    page.locator("[data-attn=frame]").press("End")
    page.wait_for_function(
        "document.querySelector('[data-attn=status]').textContent.includes('800')"
    )
    assert "la casa roja" in page.locator("[data-attn=status]").text_content()


@pytest.mark.parametrize("width", [390, 1280])
@pytest.mark.parametrize("page", ["es", "en", "es_words", "en_words"])
def test_nothing_is_wider_than_the_page_and_no_frame_moves_the_rest(visit, page, width):
    page = visit(page, width=width)
    for i in range(len(FILM["sentences"])):
        page.locator("[data-attn=pick]").select_option(index=i)
        widths, heights = page.locator("[data-attn=frame]").evaluate(
            """(node, steps) => [...Array(steps).keys()].map((step) => {
              node.value = step;
              node.dispatchEvent(new Event("input"));
              return [document.documentElement.scrollWidth, document.body.scrollHeight];
            }).reduce(([ws, hs], [w, h]) => [[...ws, w], [...hs, h]], [[], []])""",
            len(FILM["steps"]),
        )
        assert len(widths) == len(FILM["steps"]) and max(widths) <= width
        assert len({*heights}) == 1, FILM["sentences"][i]["source"]


@pytest.mark.parametrize("page", ["es", "es_words"])
@pytest.mark.parametrize(("width", "scheme"), [(390, "dark"), (1280, "light")])
def test_accessible_to_axe(visit, scheme, width, page, violations):
    page = visit(page, color_scheme=scheme, width=width)
    page.locator("[data-attn=frame]").press("End")
    assert violations(page) == []
