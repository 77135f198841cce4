"""TrainingReplay and Learner in a real browser, from ``file://`` and offline."""

import json

import numpy as np
import pytest

from attn_course.widgets import Learner, TrainingReplay, _source
from experiments import learner
from experiments.training_curves import REPLAY
from tests.test_site.conftest import page_of, write_beside

FILM = json.loads(REPLAY.read_text(encoding="utf-8"))
LANGUAGES = ("es", "en")
WORDS = {"sentence": 2, "attention": False}


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("site")
    for language in LANGUAGES:
        for name, options in ((language, {}), (f"{language}_words", WORDS)):
            widget = TrainingReplay(FILM, language=language, **options)
            (folder / f"{name}.html").write_text(page_of(widget, "training_widgets.js"), "utf-8")
    write_beside(folder, "training_widgets", {})
    return folder


@pytest.fixture
def visit(opened, folder):
    """Open the page of a language."""
    return lambda language="es", motion="reduce", **options: opened(
        folder, language, "[data-attn=training-replay]", motion=motion, **options
    )


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


# Learner ------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def school(tmp_path_factory):
    """Both figures on one page, as they share a translator; in `alone` the scripts of the model are missing."""
    folder = tmp_path_factory.mktemp("school")
    scripts = {
        name: text for name, text in _source.model_scripts().items() if name.startswith("learner")
    }
    for place in ("whole", "alone"):
        (folder / place).mkdir()
        for language in LANGUAGES:
            page = page_of(Learner("watch", language=language), "learner_widgets.js")
            page = page.replace("</main>", Learner("break", language=language)._html() + "</main>")
            (folder / place / f"{language}.html").write_text(page, "utf-8")
        write_beside(folder / place, "learner_widgets", scripts if place == "whole" else {})
    return folder


@pytest.fixture
def learn(opened, school):
    """Open the page of the translator that learns."""
    return lambda language="en", place="whole", **options: opened(
        school / place, language, "[data-attn=learner-break]", **options
    )


STORED = learner.read("stored")
HELD = dict(line.split("|") for line in learner.read("world")["held"])


def written_in(page, figure):
    return page.locator(f"[data-attn=learner-{figure}] [data-attn=written] > li").evaluate_all(
        "nodes => nodes.map((node) => node.firstChild.textContent)"
    )


def test_it_learns_in_the_page_as_it_was_stored(learn):
    page = learn()
    assert written_in(page, "watch") == STORED["film"][0]["texts"][0]["words"]
    page.locator("[data-attn=step]").click()
    page.wait_for_function("document.querySelector('[data-attn=steps]').textContent === '1'")
    page.locator("[data-attn=own]").fill("The red blorf")
    page.locator("[data-attn=translate]").click()
    page.wait_for_selector("[data-attn=note][data-bad]")
    known = learner.read("world")["source"]
    told = text(page, "note").partition("such as ")[2].removesuffix(".").replace(" and ", ", ")
    assert text(page, "note").startswith(f"It does not know blorf. It knows {len(known)} ")
    assert len(text(page, "note")) < 100 and set(told.split(", ")) <= set(known)
    for step in range(2, 13):
        page.locator("[data-attn=step]").click()
        page.wait_for_function(
            f"document.querySelector('[data-attn=steps]').textContent === '{step}'"
        )
    assert float(text(page, "loss")) < STORED["film"][0]["loss"]
    # On a busy machine it says that it is slow, and does not go on by itself.
    page.locator("[data-attn=train]").click()
    page.wait_for_function("Number(document.querySelector('[data-attn=steps]').textContent) > 12")
    page.locator("[data-attn=train]").click()
    page.wait_for_timeout(500)
    steps = text(page, "steps")
    # The reader's translator is now among those to break.
    page.locator("[data-attn=model][value=trained]").check()
    page.wait_for_function(
        "document.querySelector('[data-attn=said]').textContent.startsWith('Whole: 0')"
    )
    assert written_in(page, "break") == written_in(page, "watch")
    assert text(page, "steps") == steps


@pytest.mark.parametrize("masked", (True, False))
def test_a_slow_device_plays_a_recording_only_of_the_same_training(learn, masked):
    page = learn()
    page.locator("[data-attn=mask]").first.set_checked(masked)
    page.evaluate("attnLearner.listeners.forEach((hear) => hear({ kind: 'slow', rate: 1.5 }))")
    assert ("none was stored" in text(page, "note")) is not masked
    page.wait_for_timeout(1200)
    assert (text(page, "steps") != "0") is masked
    assert page.locator("[data-attn=model][value=trained]").is_disabled()


def test_before_the_first_step_there_is_a_loss_too(learn):
    page = learn()
    page.locator("[data-attn=own]").fill("the red house")
    page.locator("[data-attn=translate]").click()
    page.wait_for_function("document.querySelector('[data-attn=seconds]').textContent === '0'")
    assert float(text(page, "loss")) == pytest.approx(STORED["film"][0]["loss"], abs=0.0051)


def test_another_seed_starts_over_and_the_same_one_repeats(learn):
    page = learn("es")
    found = []
    for seed in ("7", "1", "7"):
        page.locator("[data-attn=step]").click()
        page.wait_for_function("document.querySelector('[data-attn=steps]').textContent === '1'")
        page.locator("[data-attn=seed]").fill(seed)
        page.locator("[data-attn=again]").click()
        page.wait_for_function("document.querySelector('[data-attn=steps]').textContent === '0'")
        assert text(page, "train") == "Entrenar"
        found.append(written_in(page, "watch"))
    assert found[0] == found[2] != found[1] == STORED["film"][0]["texts"][0]["words"]


@pytest.mark.parametrize("name", ["positions", "mask", "encoder", "decoder"])
def test_a_broken_model_shows_its_measured_result(learn, name):
    page = learn("en")
    page.locator(f"[data-attn=learner-break] [data-attn={name}]").press("Space")
    right = STORED["breaks"][name]
    page.wait_for_function(
        f"document.querySelector('[data-attn=said]').textContent.startsWith('Like this: {right} of 50')"
    )
    # Where the sentence that is shown has survived, one that has not is a touch away.
    wrong = page.locator("[data-attn=wrong]")
    words = HELD[STORED["shown"][0]].split()
    assert wrong.is_visible() == (right < 50 and written_in(page, "break") == words)
    page.locator("[data-attn=mend]").click()
    page.wait_for_function(
        "document.querySelector('[data-attn=said]').textContent.startsWith('Whole: 50')"
    )
    assert written_in(page, "break") == words and wrong.is_hidden()


def test_a_sentence_that_goes_wrong_is_a_touch_away(learn):
    """Of the pairs of heads that cost something, the one that costs least leaves the first sentence as it is."""
    page = learn("en")
    a, b, right, _ = next(pair for pair in STORED["pairs"] if pair[2] < 50)
    for i in (a, b):
        page.locator("[data-attn=head]").nth(i).press("Enter")
    page.wait_for_function(
        f"document.querySelector('[data-attn=said]').textContent.startsWith('Like this: {right} of 50')"
    )
    assert written_in(page, "break") == HELD[STORED["shown"][0]].split()
    page.locator("[data-attn=wrong]").click()
    page.locator("[data-attn=wrong]").wait_for(state="hidden")
    shown = page.locator("[data-attn=break-pick]").input_value()
    assert written_in(page, "break") != HELD[shown].split()


def test_the_dare_knows_the_rank_and_the_answer(learn):
    page = learn("en")
    page.locator("[data-attn=check]").click()
    assert text(page, "verdict").startswith("Cut two heads")
    heads = page.locator("[data-attn=head]")
    a, b, right, _ = STORED["pairs"][4]
    for i in (a, b):
        heads.nth(i).press("Enter")
    page.wait_for_function(
        f"document.querySelector('[data-attn=said]').textContent.startsWith('Like this: {right} of 50')"
    )
    page.locator("[data-attn=check]").click()
    assert f"{right} of 50" in text(page, "verdict") and "number 5." in text(page, "verdict")
    page.locator("[data-attn=answer]").click()
    page.get_by_text("Cut the last").click()
    pressed = heads.evaluate_all(
        "nodes => nodes.flatMap((node, i) => node.ariaPressed === 'true' ? [i] : [])"
    )
    assert pressed == STORED["pairs"][-1][:2]


@pytest.mark.parametrize("motion", ["reduce", "no-preference"])
def test_without_its_scripts_the_stored_training_is_shown_and_says_why(learn, motion):
    page = learn("en", place="alone", motion=motion)
    page.locator("[data-attn=train]").click()
    page.wait_for_function(
        "document.querySelector('[data-attn=note]').textContent.includes('not found')"
    )
    page.wait_for_function("document.querySelector('[data-attn=steps]').textContent === '20'")
    page.locator("[data-attn=learner-break] [data-attn=mask]").press("Space")
    page.locator("[data-attn=learner-break] .attn-fallback table").wait_for()


@pytest.mark.parametrize(("width", "scheme"), [(390, "dark"), (1280, "light")])
def test_the_school_is_accessible_and_fits(learn, scheme, width, violations):
    page = learn("es", color_scheme=scheme, width=width)
    height = page.evaluate("document.body.scrollHeight")
    page.locator("[data-attn=head]").first.click()
    page.wait_for_function(
        "document.querySelector('[data-attn=said]').textContent.startsWith('Así')"
    )
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    assert page.evaluate("document.body.scrollHeight") == height
    # What is switched and what it does are on one screen, below the head of the page.
    boxes = [
        page.locator(f"[data-attn={name}]").first.bounding_box()
        for name in ("said", "head", "factor")
    ]
    tops = [box["y"] for box in boxes]
    assert max(tops) + boxes[2]["height"] - min(tops) < 844 - 60
    assert violations(page) == []
