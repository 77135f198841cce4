"""The two figures of the opening page: the ribbons of a translation, and the machine."""

import math
import re
import tomllib

import pytest

from attn.applications.translation import Translator
from attn_course.drawings.parts import PAGES
from attn_course.journey import journey
from tests.test_site.every_page import WATCH_SHIFTS

LANGUAGES = ("es", "en")
# The sentence that each edition starts with, and below a sentence of the reader's own.
FIRST = {
    "es": ("Ayer compramos una mesa blanca.", "We bought a white table yesterday."),
    "en": ("The white house is very old.", "La casa blanca es muy vieja."),
}
# The tokens of two written words, and those of the source word that each attends to most.
READ = {
    "es": (([1], [1, 2]), ([3], [5, 6, 7])),  # compramos → bought, blanca → white
    "en": (([1], [2]), ([2, 3, 4], [1])),  # house → casa, white → blanca
}
OTHER = {"es": "Mi hermana compró una casa roja.", "en": "My sister bought a red car."}
SIZES = {"desk": (1280, 900), "hand": (390, 844)}
# The heights that must stay the same, and the elements whose text is cut off.
HEIGHTS = """() => [".attn-tour-controls", ".attn-tour-caption", ".attn-tour-panel", ".attn-tour-stage", ".attn-tour-said"].map(
  name => document.querySelector(name).getBoundingClientRect().height)"""
STICKS_OUT = """() => [...document.querySelectorAll(".attn-tour-panel, .attn-tour-panel li, .attn-tour-panel li > *")].filter(
  node => node.scrollWidth > node.clientWidth + 1 || node.scrollHeight > node.clientHeight + 1).map(node => node.textContent)"""


# How many of the lit boxes and names are completely in view.
IN_SIGHT = """() => {
  const stage = document.querySelector(".attn-tour-stage").getBoundingClientRect();
  return [...document.querySelectorAll(".attn-tour-stage :is(.box, .name, .cell, .line).lit")].filter(node => {
    const box = node.getBoundingClientRect();
    return box.height && box.top >= stage.top && box.bottom <= stage.bottom;
  }).length;
}"""


@pytest.fixture(scope="module")
def translators():
    return {name: Translator.pretrained(source_language=name) for name in LANGUAGES}


@pytest.fixture
def visit(tab, server):
    """Open the opening page; errors and requests to other servers fail the test."""
    pages = []

    def visit(language="en", size="desk", motion="reduce", **options):
        width, height = SIZES[size]
        page = tab(viewport={"width": width, "height": height}, reduced_motion=motion, **options)
        page.asked = []
        page.on("request", lambda request: page.asked.append(request.url))
        page.add_init_script(WATCH_SHIFTS)
        page.goto(f"{server}/{language}/index.html", wait_until="networkidle")
        pages.append(page)
        return page

    yield visit
    for page in pages:
        assert page.errors == []
        assert [url for url in page.asked if not url.startswith((server, "data:"))] == []


def hook(page, name):
    return page.locator(f"[data-attn=live-machine] [data-attn={name}]")


def go(page, step):
    slider = hook(page, "step")
    script = "(n, v) => { n.value = v; n.dispatchEvent(new Event('input', { bubbles: true })); }"
    slider.evaluate(script, step)


def rows(page):
    """What the panel says: the name of each row and its numbers, as they are read."""
    return [text.split() for text in hook(page, "rows").locator("li").all_text_contents()]


def translate(page, text):
    hook(page, "sentence").fill(text)
    hook(page, "sentence").press("Enter")
    page.wait_for_function(
        """() => /Computed|Calculado/.test(document.querySelector("[data-attn=live-machine] [data-attn=note]").textContent)"""
    )


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("language", LANGUAGES)
def test_every_step_lights_a_part_tells_its_numbers_and_moves_nothing(
    visit, language, size, violations
):
    page = visit(language, size)
    n_steps = int(hook(page, "step").get_attribute("max"))
    assert page.evaluate("window.shift") < 0.02
    heights = page.evaluate(HEIGHTS)
    chapters, titles = set(), []
    for step in range(1, n_steps + 1):
        go(page, step)
        lit = page.locator("[data-attn=stage] svg:visible .lit")
        assert lit.count() > 0, step
        assert page.evaluate(HEIGHTS) == heights, step
        assert page.evaluate(STICKS_OUT) == [], step
        assert rows(page)
        titles.append(hook(page, "step-title").text_content())
        chapters.add(hook(page, "chapter").get_attribute("href"))
        assert hook(page, "step").get_attribute("aria-valuetext").endswith(titles[-1])
        assert page.evaluate(IN_SIGHT) > 0, step  # on a phone too, where the drawing moves
    assert {f"{name}.html" for name in PAGES} >= chapters and len(chapters) >= 6
    assert hook(page, "output").text_content() == FIRST[language][1]
    assert violations(page) == []
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    assert not any("tatoeba" in url for url in page.asked)  # all this without the model


def test_buttons_and_keys_step_and_a_voice_tells_each_step(visit):
    page = visit("en")
    assert hook(page, "back").get_attribute("aria-disabled") == "true"
    hook(page, "forward").focus()
    page.keyboard.press("Enter")
    assert hook(page, "step-title").text_content() == "Embeddings."
    page.keyboard.press("Enter")
    hook(page, "back").click()
    assert hook(page, "count").text_content() == "2 of 70"
    hook(page, "step").focus()
    page.keyboard.press("ArrowRight")
    assert hook(page, "step-title").text_content() == "Positions."
    status = hook(page, "status")
    page.wait_for_function(
        "() => document.querySelector('[data-attn=live-machine] [data-attn=status]').textContent"
    )
    assert status.text_content().startswith("Positions. Attention alone")
    said = []
    for _ in range(11):
        hook(page, "skip").click()
        said.append(hook(page, "output").text_content())
    assert said[:4] == ["La", "La casa", "La casa bl", "La casa blan"]
    assert said[-1] == said[-2] == "La casa blanca es muy vieja."
    assert hook(page, "step-title").text_content() == "Stop."
    for name in ("forward", "skip"):
        assert hook(page, name).get_attribute("aria-disabled") == "true"


def test_it_plays_to_the_end_and_stops_when_asked(visit):
    page = visit("en", motion="no-preference")
    assert hook(page, "pace").input_value() == "normal"
    hook(page, "pace").select_option("fast")
    go(page, 68)
    hook(page, "play").click()
    assert hook(page, "play").text_content() == "Pause"
    page.wait_for_function(
        "() => document.querySelector('[data-attn=step-title]').textContent === 'Stop.'"
    )
    assert hook(page, "play").text_content() == "Play"
    hook(page, "play").click()  # from the beginning
    assert hook(page, "count").text_content() == "1 of 70"
    page.wait_for_function(
        "() => document.querySelector('[data-attn=count]').textContent === '2 of 70'"
    )
    hook(page, "play").click()
    assert page.locator("[data-playing]").count() == 0
    assert hook(page, "count").text_content() == "2 of 70"


@pytest.mark.parametrize("language", LANGUAGES)
def test_a_sentence_of_ones_own_shows_what_python_finds(visit, translators, language):
    translator = translators[language]
    expected = journey(translator, OTHER[language])
    page = visit(language, "hand" if language == "es" else "desk")
    heights = page.evaluate(HEIGHTS)
    translate(page, OTHER[language])
    assert page.evaluate(HEIGHTS) == heights
    assert hook(page, "count").text_content().startswith("1 ")  # motion is not wanted: it waits
    ids = [int(row[-1]) for row in rows(page)]
    start = expected["source_ids"].index(ids[0])
    assert ids == expected["source_ids"][start : start + 5]
    n_steps = int(hook(page, "step").get_attribute("max"))
    for word, best in enumerate(expected["best"]):
        hook(page, "skip").click()
        found = rows(page)
        # A piece that goes on with a word begins with dots.
        assert [row[0].lstrip("…") for row in found] == [token.strip() or "␣" for token, *_ in best]
        for row, (*_, share) in zip(found, best, strict=True):
            assert abs(float(row[-1]) - share) < 0.0101
        back = 2 if word else 4  # to the cross-attention
        go(page, int(hook(page, "step").input_value()) - back)
        weights = sorted(expected["cross"][word], reverse=True)[:5]
        assert [float(row[-1]) for row in rows(page)] == pytest.approx(weights, abs=0.0101)
        go(page, int(hook(page, "step").input_value()) + back)
    assert int(hook(page, "step").input_value()) == n_steps
    assert hook(page, "output").text_content() == translator.translate(OTHER[language])
    assert not {url for url in page.asked if "grammar" in url}


def test_what_it_cannot_translate_it_says(visit):
    page = visit("en")
    translate(page, OTHER["en"])
    for text, answer in (("  ", "Type a sentence"), ("no " * 60, "tokens, and the model learnt")):
        hook(page, "sentence").fill(text)
        hook(page, "translate").click()
        page.wait_for_selector("[data-attn=live-machine] [data-attn=note][data-bad]")
        assert answer in hook(page, "note").text_content()
        hook(page, "note").evaluate("node => node.removeAttribute('data-bad')")
    assert hook(page, "step-title").text_content() == "Tokens."


def test_a_model_that_does_not_come_is_said_and_asked_for_again(visit):
    page = visit("en")
    page.route("**/tatoeba_translator_3.js", lambda route: route.abort())
    hook(page, "pick").select_option("Where is the library?")
    page.wait_for_selector("[data-attn=live-machine] [data-attn=note][data-bad]")
    assert "did not arrive whole" in hook(page, "note").text_content()
    page.unroute("**/tatoeba_translator_3.js")
    translate(page, "Where is the library?")
    go(page, int(hook(page, "step").get_attribute("max")))
    assert hook(page, "output").text_content() == "¿Dónde está la biblioteca?"
    page.errors[:] = [error for error in page.errors if "ERR_FAILED" not in error]  # as asked


# The ribbons -----------------------------------------------------------------------------------


def ribbon(page, name):
    return page.locator(f"[data-attn=ribbons] [data-attn={name}]")


def shares(page, name):
    return [int(text.split()[0]) / 100 for text in ribbon(page, name).all_text_contents()]


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("language", LANGUAGES)
def test_the_first_screen_shows_a_translation_word_by_word_and_then_what_is_inside_it(
    visit, language, size, violations, translators
):
    def wrong(page):
        page.evaluate(
            "scrollTo(0, 0)"
        )  # A control that is half under the head of the page counts as small.
        return violations(page)

    source, target = FIRST[language]
    translator = Translator.pretrained(source_language=language)
    translator.model.double()
    found = translator.attention(source)
    page = visit(language, size)
    box = ribbon(page, "stage").bounding_box()
    assert box["y"] + box["height"] < SIZES[size][1]
    words = ribbon(page, "target-word")
    assert words.all_text_contents() == [*target[:-1].split(), "."]
    assert page.evaluate("window.shift") < 0.02
    words.nth(1).click()
    second, (rows, columns) = READ[language]

    def share(cross, rows, columns):
        # What the tokens of a word get is added up, and what those of a written one give is averaged.
        return cross[..., rows, :].mean(axis=-2)[..., columns].sum(axis=-1)

    mean = share(found.cross.mean(axis=(0, 1)), *second)
    assert f"{100 * mean:.0f}\N{NO-BREAK SPACE}%" in ribbon(page, "caption").inner_text()
    assert wrong(page) == []
    chosen = 2 if language == "en" else 3
    words.nth(chosen).click()
    ribbon(page, "inside").click()
    heads = share(found.cross, rows, columns)
    assert shares(page, "tile") == pytest.approx(heads.ravel().tolist(), abs=0.0051)
    assert wrong(page) == []
    ribbon(page, "tile").nth(9).click()
    cells = ribbon(page, "cell")
    assert cells.count() == found.cross[2, 1].size
    said = [
        float(one.get_attribute("aria-label").split(": ")[-1].replace(",", "."))
        for one in cells.all()
    ]
    assert said == pytest.approx(found.cross[2, 1].ravel().tolist(), abs=0.0051)
    assert wrong(page) == []
    cells.nth(rows[0] * len(found.source) + columns[0]).click()
    page.wait_for_selector(".attn-ribbons-dot")
    weights = [
        float(x)
        for x in page.locator(".attn-ribbons-row li[data-key] > :last-child").all_text_contents()
    ]
    assert weights == pytest.approx(found.cross[2, 1, rows[0]].tolist(), abs=0.0051)
    scaled = [
        float(x.replace("−", "-"))
        for x in page.locator(".attn-ribbons-row li[data-key] > :nth-child(2)").all_text_contents()
    ]
    shown = [math.exp(x - max(scaled)) for x in scaled]
    assert [x / sum(shown) for x in shown] == pytest.approx(weights, abs=0.011)
    assert wrong(page) == []
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    for left in ("cell", "tile", "target-word"):
        page.keyboard.press("Escape")
        assert ribbon(page, left).count() > 0
    assert page.evaluate("document.activeElement.textContent") == target[:-1].split()[chosen]


@pytest.mark.parametrize("size", ((390, 664), (844, 390)))
def test_a_phone_shows_the_whole_translation_and_nothing_covers_it(visit, size):
    page = visit("es", "hand")
    page.set_viewport_size(dict(zip(("width", "height"), size, strict=True)))
    page.reload()
    words = ribbon(page, "target-word")
    words.last.wait_for()
    assert words.last.bounding_box()["y"] + words.last.bounding_box()["height"] <= size[1]
    for k in range(3):
        words.nth(k).click()
        bottom = [words.nth(n).bounding_box() for n in range(words.count())]
        told = ribbon(page, "caption").bounding_box()
        assert told["y"] >= max(box["y"] + box["height"] for box in bottom) - 1
    assert told["y"] + told["height"] <= size[1] + 8  # Below the words there is an empty margin.


def test_the_way_back_from_step_by_step_leads_to_the_ribbons(visit):
    page = visit("en")
    ribbon(page, "slow").click()
    page.wait_for_function("scrollY > 300 && document.activeElement.dataset.attn === 'play'")
    page.go_back()
    page.wait_for_function("scrollY < 300")


def test_it_is_told_at_once_and_again_and_by_keys(visit):
    page = visit("en", motion="no-preference")
    page.reload(wait_until="commit")
    written = "() => document.querySelectorAll('[data-attn=target-word]:not([data-later])').length"
    page.wait_for_function(f"({written})() > 0")
    page.wait_for_function(f"({written})() === 7")
    ribbon(page, "play").click()
    assert page.evaluate(written) == 0
    page.wait_for_function(f"({written})() === 2")
    page.keyboard.press("Tab")
    first = ribbon(page, "target-word").first
    first.focus()
    page.keyboard.press("ArrowRight")
    assert page.evaluate("document.activeElement.textContent") == "casa"
    page.keyboard.press("Enter")
    assert page.evaluate(written) == 7  # who chooses a word does not wait
    page.keyboard.press("Enter")
    assert "casa" in ribbon(page, "inside-title").text_content()


@pytest.mark.parametrize("language", LANGUAGES)
def test_a_sentence_of_ones_own_is_translated_drawn_and_in_the_address(
    visit, translators, language
):
    translator, own = translators[language], OTHER[language]
    page = visit(language, "hand" if language == "es" else "desk")
    sentence = ribbon(page, "sentence")
    sentence.fill(own)
    sentence.press("Enter")
    page.wait_for_url("**/index.html?say=*")
    assert ("from=es" in page.url) == (language == "es")
    words = "".join(ribbon(page, "target-word").all_text_contents())
    assert words == translator.translate(own).replace(" ", "")
    found = translator.attention(own)
    weights = found.cross.mean(axis=(0, 1))[0]
    ribbon(page, "target-word").first.click()
    first = max(weights)
    assert f"({100 * first:.0f}\N{NO-BREAK SPACE}%)" in ribbon(page, "caption").inner_text()
    page.reload(wait_until="networkidle")  # who gets the address sees the same
    page.wait_for_function(
        "text => [...document.querySelectorAll('[data-attn=target-word]')].map(one => one.textContent).join('') === text",
        arg=words,
    )
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    ribbon(page, "share").click()
    page.wait_for_function(
        "() => /clipboard|portapapeles/.test(document.querySelector('[data-attn=ribbons] [data-attn=caption]').textContent)"
    )
    assert page.evaluate("navigator.clipboard.readText()") == page.url
    with page.expect_download() as waiting:
        ribbon(page, "save").click()
    drawing = waiting.value.path().read_text("utf-8")
    red = {"es": ">roja</text>", "en": ">red</text>"}[language]
    assert drawing.startswith("<svg") and red in drawing and 'stop-color="rgb' in drawing
    # Further down, the same sentence goes through the machine, and waits there until it is asked for.
    hook(page, "stage").scroll_into_view_if_needed()
    page.wait_for_function(
        "text => document.querySelector('[data-attn=live-machine] [data-attn=sentence]').value === text",
        arg=own,
    )
    page.wait_for_function(
        "() => /Computed|Calculado/.test(document.querySelector('[data-attn=live-machine] [data-attn=note]').textContent)"
    )
    assert page.locator("[data-playing]").count() == 0
    go(page, int(hook(page, "step").get_attribute("max")))
    assert hook(page, "output").text_content() == translator.translate(own)


@pytest.mark.parametrize("language", LANGUAGES)
def test_the_other_direction_begins_with_the_translation_and_has_its_own_model(
    visit, translators, language, violations
):
    page, (first, written) = visit(language), FIRST[language]
    other = {"es": "en", "en": "es"}[language]
    assert not any("tatoeba" in url for url in page.asked)
    ribbon(page, "direction").nth(1).check()
    page.wait_for_url("**/index.html?say=*")
    assert ("from=es" in page.url) == (other == "es")
    assert ribbon(page, "sentence").input_value() == written
    assert ribbon(page, "sentence").get_attribute("lang") == other
    swapped = {"es": "la traducción de tu oración", "en": "the translation of your sentence"}
    page.wait_for_function(
        "text => document.querySelector('[data-attn=ribbons] [data-attn=note]').textContent.includes(text)",
        arg=swapped[language],
    )
    said = "".join(ribbon(page, "target-word").all_text_contents())
    assert said == translators[other].translate(written).replace(" ", "")
    # The model of the direction that was chosen came, and the other one did not.
    models = [url for url in page.asked if "_translator" in url]
    assert {"_translator_es" in url for url in models} == {other == "es"}
    options = ribbon(page, "pick").locator("option")
    assert first not in options.all_text_contents() and options.count() > 3
    page.evaluate("scrollTo(0, 0)")
    assert violations(page) == []
    # Who turns back has their own sentence again, and not the translation of its translation. What
    # then arrives of a model that nobody waits for takes no remark away.
    held, free = [], []
    page.route(
        "**/*_translator*.js",
        lambda route: route.continue_() if free else held.append(route),
    )
    for button, text in ((0, first), (1, written)):
        ribbon(page, "direction").nth(button).check()
        assert ribbon(page, "sentence").input_value() == text
    # A text of the language that is not expected is translated, and the other direction offered.
    ribbon(page, "sentence").fill(OTHER[language])
    ribbon(page, "translate").click()
    ribbon(page, "other-way").wait_for()
    assert held
    free.append(True)
    for one in held:
        one.continue_()
    page.wait_for_function(
        "() => Object.values(attnModels).every(one => one.pieces.every(part => part instanceof Uint8Array)) && Object.keys(attnModels).length === 2"
    )
    ribbon(page, "other-way").click()
    right = translators[language].translate(OTHER[language]).replace(" ", "")
    page.wait_for_function(
        "text => [...document.querySelectorAll('[data-attn=target-word]')].map(one => one.textContent).join('') === text",
        arg=right,
    )
    assert ribbon(page, "sentence").input_value() == OTHER[language]
    assert ribbon(page, "direction").first.is_checked()
    assert ribbon(page, "other-way").count() == 0
    # The tour follows in the same direction.
    ribbon(page, "slow").click()
    page.wait_for_function(
        "text => document.querySelector('[data-attn=live-machine] [data-attn=sentence]').value === text",
        arg=OTHER[language],
    )
    assert hook(page, "direction").first.is_checked()


# How deep the reader is: 0 is the sentence, 1 a word or a ribbon, and then heads, matrix, product.
DEPTH = """() => {
  const has = (part) => document.querySelector(`[data-attn=ribbons] ${part}`) !== null;
  if (has(".attn-ribbons-dot")) return 4;
  return has("[data-attn=cell]") ? 3 : has("[data-attn=tile]") ? 2 : Number(has("svg[data-lit]"));
}"""


def wait_for_depth(page, wanted, at=None):
    if at is not None:
        page.wait_for_function("address => location.search === address", arg=at)
    page.wait_for_function(f"wanted => ({DEPTH})() === wanted", arg=wanted)


@pytest.mark.parametrize("width, height", [(390, 844), (1280, 800)])
def test_each_step_inwards_is_an_entry_of_the_history_and_answers_where_it_was_touched(
    tab, server, width, height
):
    page = tab(viewport={"width": width, "height": height}, reduced_motion="reduce")
    page.goto(f"{server}/en/how_to_use.html")
    page.goto(f"{server}/en/index.html", wait_until="networkidle")

    def in_sight(name):
        box = ribbon(page, name).bounding_box()
        return box["y"] >= 0 and box["y"] + box["height"] <= height

    # A word and a ribbon are told in the same way, and the same button leads inside.
    ribbon(page, "target-word").nth(1).click()
    assert "“house”" in ribbon(page, "caption").inner_text()
    assert page.evaluate("scrollY") == 0 and in_sight("inside")
    thick = page.locator(".attn-ribbons-ribbon[data-lit]").evaluate_all(
        "all => all.indexOf(all.reduce((a, b) => (b.getAttribute('stroke-width') > +a.getAttribute('stroke-width') ? b : a)))"
    )
    # A ribbon is touched a little beside it.
    x, y = (
        page.locator(".attn-ribbons-ribbon[data-lit]")
        .nth(thick)
        .evaluate("""path => {
      const { x, y } = path.getPointAtLength(path.getTotalLength() / 2).matrixTransform(path.getScreenCTM());
      return [x + path.getAttribute("stroke-width") / 2 + 4, y];
    }""")
    )
    page.mouse.click(x, y)
    assert page.locator(".attn-ribbons-ribbon[data-lit]").count() == 1
    assert "went to “house”" in ribbon(page, "caption").inner_text()
    wait_for_depth(page, 1)
    assert in_sight("inside")
    ribbon(page, "inside").click()
    ribbon(page, "tile").nth(9).click()
    assert in_sight("inside-title")
    ribbon(page, "cell").nth(9).click()
    page.wait_for_selector(".attn-ribbons-dot")
    assert in_sight("inside-title")
    steps = ["", "?word=2&of=3", *(f"?word=2&of=3&in={n}" for n in ("heads", "3.2", "3.2.2.3"))]
    for n in (3, 2, 1, 0):
        page.go_back()
        wait_for_depth(page, n, steps[n])
    for n in (1, 2, 3, 4):
        page.go_forward()
        wait_for_depth(page, n, steps[n])
    # Its own ways out go back in the history too, so that *Back* from the sentence leaves the page.
    page.keyboard.press("Escape")
    wait_for_depth(page, 3, steps[3])
    page.get_by_role("button", name="The sentence").press("Enter")
    wait_for_depth(page, 0, steps[0])
    page.go_back()
    assert page.url.endswith("how_to_use.html")
    # The address brings a friend to the same place. Without entries behind it, its buttons still lead out.
    page.goto(f"{server}/en/index.html{steps[3]}")
    page.wait_for_selector("[data-attn=ribbons] [data-attn=cell]")
    ribbon(page, "back").click()
    wait_for_depth(page, 2, steps[2])
    page.go_back()
    assert page.url.endswith("how_to_use.html")
    page.goto(f"{server}/en/index.html?word=99")
    page.wait_for_selector("[data-attn=ribbons] svg")
    assert "does not have" in ribbon(page, "note").inner_text() and page.evaluate(DEPTH) == 0
    assert page.errors == []


def test_a_new_sentence_leaves_no_places_of_the_old_one_behind_it(visit):
    page = visit("en")
    assert "house" in ribbon(page, "reading").inner_text()
    ribbon(page, "target-word").nth(1).click()
    ribbon(page, "inside").click()
    ribbon(page, "pick").select_option("Where is the library?")
    page.wait_for_url("**/index.html?say=Where*")
    wait_for_depth(page, 0)
    assert "house" not in ribbon(page, "reading").inner_text()
    assert page.evaluate("history.state.ribbons.behind") == []
    page.go_forward()
    page.wait_for_url("**/index.html?word=2")
    page.wait_for_function(
        "() => document.querySelector('[data-attn=ribbons] [data-attn=sentence]').value.startsWith('The white')"
    )
    page.wait_for_selector("[data-attn=ribbons] svg[data-lit]")


def test_a_long_text_comes_in_pieces_and_what_is_none_is_refused(visit, translators):
    translator = translators["en"]
    page = visit("en")
    text = "We ate fish yesterday. " * 12
    sentence = ribbon(page, "sentence")
    sentence.fill(text)
    sentence.press("Enter")
    page.wait_for_selector("[data-attn=ribbons] [data-attn=piece]", timeout=60_000)
    assert page.locator(".attn-ribbons-whole").inner_text() == translator.translate(text)
    ribbon(page, "piece").select_option(index=11)
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    for wrong, answer in (
        ("  ", "Type a sentence in English"),
        ("a\0b", "NUL"),
        ("x" * 4000, "4000 letters"),
    ):
        sentence.evaluate("(node, text) => { node.value = text; }", wrong)
        ribbon(page, "translate").click()
        page.wait_for_function(
            "text => document.querySelector('[data-attn=ribbons] [data-attn=note][data-bad]')?.textContent.includes(text)",
            arg=answer,
        )


@pytest.mark.parametrize("language", LANGUAGES)
def test_without_a_script_the_drawing_and_its_words_stand_there(tab, server, language):
    page = tab(java_script_enabled=False, viewport={"width": 1280, "height": 900})
    page.goto(f"{server}/{language}/index.html")
    assert page.locator(".attn-fallback svg:visible").count() == 2
    ribbons, machine = page.locator(".attn-fallback").all()
    assert ribbons.locator("path").count() > 11  # each token attends to one other at least
    assert all(each.locator("table").is_visible() for each in (ribbons, machine))
    assert FIRST[language][1][:-1] in machine.inner_text()


@pytest.mark.parametrize("width", (360, 390, 1280))
def test_the_two_ways_in_stand_beside_each_other_or_begin_in_one_line(tab, server, width):
    page = tab(viewport={"width": width, "height": 800})
    page.goto(f"{server}/en/index.html")
    first, second = (button.bounding_box() for button in page.locator(".attn-button").all())
    assert first["y"] == second["y"] or width == 360
    if first["y"] == second["y"]:
        assert second["x"] - first["x"] - first["width"] > 8
    else:
        assert first["x"] == second["x"]


@pytest.mark.parametrize("language", LANGUAGES)
def test_each_chapter_of_the_way_says_its_times(site, language):
    from attn_pages import CHAPTERS, WORDS, duration

    text = (site / language / "index.html").read_text(encoding="utf-8")
    found = dict(
        re.findall(
            r'<li><p><a [^>]*href="(\w+)\.html".*?<p class="attn-way-time">(.*?)</p>',
            text,
            re.DOTALL,
        )
    )
    chapters = tomllib.loads(CHAPTERS.read_text("utf-8"))["chapter"]
    words = WORDS[language]["times"]
    numbered = [each for each in chapters if each["page"][0] in "01"]
    assert found == {
        each["page"]: words.format(duration(each["reading"]), duration(each["exercises"]))
        for each in numbered
    }
    reading, exercises = (
        round(sum(each[kind] for each in numbered) / 30) / 2 for kind in ("reading", "exercises")
    )
    # Hours to the half. A chapter that grows may ask for other words on the page.
    sentences = {
        "es": ("lleva algo menos de nueve horas", "ejercicios, algo más de nueve"),
        "en": ("takes a little less than nine hours", "exercises a little more"),
    }
    assert (reading, exercises) == (8.5, 9)
    assert all(said in " ".join(text.split()) for said in sentences[language])
