"""The VisualAsker of chapter 10, driven by mouse and keyboard, against the model in Python."""

import re
import unicodedata

import pytest

from attn.applications.visual_question import VisualQuestionAnswerer
from attn_course.images import Question, Thing, draw
from attn_course.images.scenes import SHAPES
from attn_course.images.words import WORDS
from tests.test_site.conftest import each_edition

THINGS = [
    Thing("ball", "red", 1, 4),
    Thing("box", "green", 4, 1),
    Thing("star", "yellow", 2, 2),
    Thing("tree", "purple", 4, 3),
]


@pytest.fixture(scope="module")
def looker():
    return VisualQuestionAnswerer.pretrained()


chapter = each_edition("10_applications.html")


@pytest.fixture
def page(chapter):
    chapter.set_viewport_size({"width": 1280, "height": 900})
    chapter.reload()
    chapter.locator("[data-attn=visual-asker]").wait_for()
    return chapter


def answered(page):
    """Wait until the model has answered, and return its answers with their probabilities."""
    page.wait_for_function("() => document.querySelectorAll('[data-attn=answer]').length === 3")
    rows = page.locator("[data-attn=answer]")
    return [
        (
            rows.nth(i).locator("span").first.inner_text(),
            float(rows.nth(i).get_attribute("data-value")),
        )
        for i in range(rows.count())
    ]


def ask(page, question):
    page.locator("[data-attn=pick]").select_option(question.words(page.language))


def test_it_opens_with_an_answer_and_loads_no_model(page):
    assert page.locator("[data-attn=answer]").count() == 1
    assert page.evaluate("globalThis.attnModels === undefined")
    weights = page.locator("[data-attn=cell]").evaluate_all(
        "(cells) => cells.map((cell) => Number(cell.dataset.value))"
    )
    assert sum(weights) == pytest.approx(1, abs=0.01) and max(weights) == weights[10]


def test_it_answers_as_python_does(page, looker):
    image = draw(THINGS)
    for question in (
        Question("where", "star"),
        Question("exists", "box", "green"),
        Question("left", "box", "", "tree"),
        Question("count", "tree"),
    ):
        ask(page, question)
        text, probability = answered(page)[0]
        right = looker.answer(image, question.words(page.language))
        assert text == right.text == question.answer(THINGS, page.language)
        assert probability == pytest.approx(right.probability, abs=2e-3)


def test_the_scene_is_painted_by_keyboard(page, looker):
    ask(page, Question("count", "ball"))
    answered(page)
    page.locator("[data-attn=cell]").first.focus()
    for _ in range(2):
        page.keyboard.press("ArrowDown")
        page.keyboard.press("Enter")
    page.wait_for_timeout(300)
    things = [*THINGS, Thing("ball", "red", 1, 0), Thing("ball", "red", 2, 0)]
    asked = Question("count", "ball").words(page.language)
    assert answered(page)[0][0] == looker.answer(draw(things), asked).text
    label = page.locator("[data-attn=cell]").nth(6).get_attribute("aria-label")
    assert {"es": "balón, rojo", "en": "red ball"}[page.language] in label
    page.locator("[data-attn=cell]").nth(6).press("Enter")
    assert page.locator("[data-attn=cell]").nth(6).locator("path").count() == 0


def test_without_a_part_it_fails_and_says_so(page):
    ask(page, Question("where", "star"))
    answered(page)
    for part in ("places", "choice"):
        page.locator(f"[data-attn=without][value={part}]").check()
        page.wait_for_selector("[data-attn=note][data-bad]")
        page.locator("[data-attn=without][value='']").check()
        page.wait_for_selector("[data-attn=note]:not([data-bad])")


def test_the_other_language_and_bare_letters_are_judged_too(page, looker):
    other = {"es": "en", "en": "es"}[page.language]
    image = draw(THINGS)
    for asked in (Question("where", "star"), Question("left", "box", "", "tree")):
        words = asked.words(other)
        bare = unicodedata.normalize("NFD", words).encode("ascii", "ignore").decode().lower()
        page.locator("input[data-attn=question]").fill(bare)
        page.locator("[data-attn=ask]").click()
        page.wait_for_function(
            "(text) => document.querySelector('[data-attn=answer] span')?.innerText === text",
            arg=looker.answer(image, words).text,
        )
        note = page.locator("[data-attn=visual-asker] [data-attn=note]").inner_text()
        assert note == {"es": "Correcto.", "en": "Right."}[page.language]


def test_a_question_that_fits_no_image_is_answered_in_its_language(page):
    """The model has the words of both, and mixes them where it never learned an answer."""
    page.locator("[data-attn=clear]").click()
    numbers = WORDS[{"es": "en", "en": "es"}[page.language]]["numbers"]
    for shape in SHAPES:
        before = page.locator("[data-attn=answers]").inner_html()
        ask(page, Question("where", shape))
        page.wait_for_function(
            "(before) => document.querySelector('[data-attn=answers]').innerHTML !== before",
            arg=before,
        )
        assert not {text for text, _ in answered(page)}.intersection("/".join(numbers).split("/"))


def test_on_a_dark_page_the_cells_are_dark(page):
    page.evaluate("document.documentElement.dataset.theme = 'dark'")
    ground = page.locator("[data-attn=cell] > svg").first.evaluate(
        "node => getComputedStyle(node).backgroundColor"
    )
    assert max(map(int, re.findall(r"\d+", ground))) < 80


def test_words_it_does_not_know_are_named(page):
    page.locator("input[data-attn=question]").fill("¿De qué color es el dragón?")
    page.locator("[data-attn=ask]").click()
    page.wait_for_selector("[data-attn=note][data-bad]")
    assert "dragón" in page.locator("[data-attn=visual-asker] [data-attn=note]").inner_text()
    assert page.locator("[data-attn=answer]").count() == 0


def test_nothing_is_wider_than_a_phone(page):
    page.set_viewport_size({"width": 390, "height": 900})
    ask(page, Question("left", "box", "", "tree"))
    answered(page)
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")


def test_the_board_shows_right_and_wrong_and_any_case_beside_its_question(page):
    board = page.locator("[data-attn=answer-board]")
    marks = board.locator("[data-attn=case]")
    right, wrong = (board.locator(f"[data-verdict={it}][data-attn=case]") for it in ("hit", "miss"))
    assert (marks.count(), right.count(), wrong.count()) == (26, 17, 9)
    assert board.locator("[data-attn=score]").first.inner_text().startswith("3 ")
    assert board.locator("[aria-pressed=true]").count() == 1
    right.first.click()
    shown = board.locator("[data-attn=text]").inner_text()
    assert shown == "My sister works in a small hospital."
    assert board.locator("[data-attn=right]").is_hidden()
    marks.last.click()
    assert board.locator(".attn-board-picture").is_visible()
    assert board.locator(".attn-board-picture > svg").count() == 3
    assert board.locator("[data-attn=right]").is_visible()


def test_the_board_is_walked_by_keyboard(page):
    marks = page.locator("[data-attn=answer-board] [data-attn=case]")
    marks.first.click()
    for key, at in (("ArrowRight", 1), ("End", 25), ("ArrowRight", 0)):
        page.keyboard.press(key)
        assert marks.nth(at).get_attribute("aria-pressed") == "true"
        assert marks.nth(at).evaluate("node => node === document.activeElement")
