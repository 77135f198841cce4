"""The Continuation of chapter 12, driven by mouse and keyboard, against the state in its page."""

import pytest

from tests.test_site.conftest import each_edition, state_of

chapter = each_edition("12_language_model.html", reduced_motion="reduce")


@pytest.fixture
def page(chapter):
    chapter.goto(chapter.url.split("?")[0])  # the address holds what the test before has done
    chapter.locator("[data-attn=continuation]").first.wait_for()
    return chapter


WHO = {"es": ("El modelo tomó", "Tomaste"), "en": ("The model took", "You took")}
PROBABILITIES = "ns => ns.filter((n) => !n.hidden).map((n) => Number(n.dataset.p))"


def part(page, name):
    return page.locator("[data-attn=continuation]").first.locator(f"[data-attn={name}]")


def is_focused(node):
    return node.evaluate("(node) => node === document.activeElement")


def in_window(node):
    box = node.evaluate("(n) => [n.getBoundingClientRect().top, n.getBoundingClientRect().bottom]")
    return 0 <= box[0] and box[1] <= node.page.viewport_size["height"]


def shown(token):
    return token.replace("\n", "⏎").strip() or "␣"


def written(page):
    return part(page, "token").locator("span").all_inner_texts()


def along(tree, choices):
    for choice in choices:
        yield tree["best"][choice][0]
        tree = tree["next"][choice]


def test_the_text_goes_on_by_the_most_probable_token_and_each_step_shows_its_five(page):
    tree = state_of(page, "continuation")["texts"][0]["tree"]
    node, steps = tree, []
    while node:
        steps.append(node)
        node = node["next"][0]
    assert written(page) == [shown(step["best"][0][0]) for step in steps]
    for i, step in enumerate(steps):
        part(page, "token").nth(i).click()
        found = part(page, "option").evaluate_all("ns => ns.map(n => Number(n.dataset.p))")
        assert found == [p for _, p in step["best"]]
        assert part(page, "word").all_inner_texts() == [shown(token) for token, _ in step["best"]]


def test_another_token_leads_to_another_text(page):
    tree = state_of(page, "continuation")["texts"][0]["tree"]
    part(page, "token").nth(1).click()
    assert part(page, "summary").inner_text().startswith(WHO[page.language][0])
    part(page, "option").nth(2).click()
    wanted, choices = [shown(token) for token in along(tree, [0, 2])], [0, 2]
    node = tree["next"][0]["next"][2]
    while node:
        wanted.append(shown(node["best"][0][0]))
        choices, node = [*choices, 0], node["next"][0]
    assert written(page) == wanted
    assert part(page, "token").nth(1).get_attribute("data-other") is not None
    part(page, "token").nth(1).click()
    assert part(page, "summary").inner_text().startswith(WHO[page.language][1])
    part(page, "token").nth(0).click()
    part(page, "option").nth(0).click()
    part(page, "token").nth(0).click()
    assert part(page, "summary").inner_text().startswith(WHO[page.language][1])
    part(page, "again").click()
    assert written(page) == ["…"]
    part(page, "one").click()
    assert written(page) == [shown(tree["best"][0][0]), "…"]


def test_steps_are_chosen_by_arrow_keys_and_a_token_by_enter(page):
    part(page, "token").first.focus()
    page.keyboard.press("ArrowRight")
    assert part(page, "token").nth(1).get_attribute("aria-checked") == "true"
    part(page, "option").nth(1).focus()
    page.keyboard.press("Enter")
    tree = state_of(page, "continuation")["texts"][0]["tree"]
    assert written(page)[:2] == [shown(token) for token in along(tree, [0, 1])]


def test_each_beginning_has_its_own_text(page):
    for i, told in enumerate(state_of(page, "continuation")["texts"]):
        part(page, "prompt").nth(i).check()
        assert part(page, "begun").inner_text().strip() == told["prompt"].strip()
        assert written(page)[0] == shown(told["tree"]["best"][0][0])


def test_the_model_in_the_page_writes_what_python_stored(needed, browser, server):
    """And it takes another branch, is kept by the browser, and is forgotten."""
    needed("model_in_the_page")
    context = browser.new_context(viewport={"width": 1280, "height": 900}, reduced_motion="reduce")
    page = context.new_page()
    page.set_default_timeout(120_000)
    errors = []
    page.on("pageerror", lambda error: errors.append(error))
    page.goto(f"{server}/en/12_language_model.html")
    told = state_of(page, "continuation")["texts"][0]
    part(page, "load").click()
    part(page, "own").wait_for(state="visible")
    assert is_focused(part(page, "own-prompt")) and in_window(part(page, "own-prompt"))
    part(page, "own-prompt").fill(" ")
    part(page, "begin").click()
    assert part(page, "costs").inner_text() == "Write a text first, if only a word."
    part(page, "own-prompt").fill("The")
    part(page, "begin").click()
    part(page, "token").nth(2).wait_for()
    assert part(page, "costs").inner_text().startswith("Your text has 1 token. ")
    place = part(page, "play").bounding_box()
    part(page, "own-prompt").fill(told["prompt"])
    # In the same moment, since the first token may come at any time after it.
    look = "node => { node.click(); return getComputedStyle(node.closest('[data-attn=continuation]').querySelector('[data-attn=options]')).visibility; }"
    assert part(page, "begin").evaluate(look) == "hidden"
    assert part(page, "begun").inner_text() == told["prompt"]
    node, steps = told["tree"], []
    while node:
        steps.append(node)
        node = node["next"][0]
    part(page, "token").nth(len(steps)).wait_for()
    assert part(page, "options").is_visible() and part(page, "play").bounding_box() == place
    part(page, "play").click()
    assert written(page)[: len(steps)] == [shown(step["best"][0][0]) for step in steps]
    for i, step in enumerate(steps):
        part(page, "token").nth(i).click()
        found = part(page, "option").evaluate_all("ns => ns.map(n => Number(n.dataset.p))")
        assert found == pytest.approx([p for _, p in step["best"]], abs=2e-3)
    part(page, "token").nth(1).click()
    part(page, "option").nth(1).click()
    part(page, "token").nth(4).wait_for()
    part(page, "play").click()
    assert written(page)[1] == shown(steps[1]["best"][1][0])
    part(page, "token").nth(1).click()
    assert part(page, "summary").inner_text().startswith("You took ")
    part(page, "own-temperature").fill("1.5")
    part(page, "own-top-p").fill("0.1")
    part(page, "begin").click()
    part(page, "token").nth(4).wait_for()
    for i in range(4):  # the first touch stops the model, if it has not come to an end
        part(page, "token").nth(i).click()
        assert part(page, "summary").inner_text().startswith("The model drew ")
        assert part(page, "token").nth(i).get_attribute("data-other") is None
        found = part(page, "option").evaluate_all(PROBABILITIES)
        assert min(found) > 0 and sum(found) <= 1 + 1e-6
    assert page.evaluate("async () => (await (await caches.open('attn-model')).keys()).length") > 3

    # The address says it all: what was drawn, where the reader took another token, and how probable all was.
    part(page, "token").nth(2).click()
    part(page, "own-temperature").fill("0.7")
    page.wait_for_function("() => location.search.includes('temperature=0.7')")
    part(page, "option").first.click()
    part(page, "token").nth(6).wait_for()  # six tokens at least, and perhaps "…"
    part(page, "token").nth(1).click()

    def state(page):
        found = part(page, "option").evaluate_all(PROBABILITIES)
        # Whether "…" stands at the end depends on how far the model was when it was stopped.
        tokens = [token for token in written(page) if token != "…"]
        return tokens, part(page, "summary").inner_text(), [round(p, 4) for p in found]

    # Playwright's `page.url` may lag behind what the page has just written into its address.
    sent, wanted = page.evaluate("location.href"), state(page)
    assert "top-p=0.1" in sent and sent.split("written=")[1].count("-r") == 1
    page.goto(sent)
    assert part(page, "address").inner_text().startswith("The address of this page holds a text.")
    page.get_by_role("button", name="Open the model, already kept").click()
    part(page, "own").wait_for(state="visible")
    part(page, "token").nth(5).wait_for()
    assert (
        state(page) == wanted
        and page.evaluate("location.href") == sent
        and part(page, "address").is_hidden()
    )
    for i, who in ((1, "The model drew "), (2, "You took "), (3, "The model drew ")):
        part(page, "token").nth(i).click()
        assert part(page, "summary").inner_text().startswith(who)
    # What the model cannot read is told, and the example stands.
    page.goto(f"{server}/en/12_language_model.html?prompt=The&written=99999")
    page.get_by_role("button", name="Open the model, already kept").click()
    strange = "The address asks for something that this figure does not have: this is the example."
    page.wait_for_function(
        "(s) => document.querySelector('[data-attn=address]').innerText === s", arg=strange
    )
    assert part(page, "begun").inner_text().strip() == told["prompt"]
    part(page, "own-prompt").fill("The")
    part(page, "begin").click()
    part(page, "token").nth(2).wait_for()
    part(page, "forget").click()
    assert is_focused(part(page, "load")) and not errors
    page.wait_for_function("async () => !(await caches.has('attn-model'))")
    assert part(page, "prompt").count() == len(state_of(page, "continuation")["texts"])
    assert part(page, "begun").inner_text().strip() == told["prompt"]
    context.close()


def test_a_url_restores_the_written_text(page, server):
    """And one that asks for something else gets a sentence and the example."""
    example = written(page), part(page, "begun").inner_text()
    part(page, "prompt").nth(1).check()
    part(page, "token").nth(1).click()
    part(page, "option").nth(2).click()
    part(page, "token").nth(1).click()
    sent, wanted = page.evaluate("location.href"), written(page)
    assert "?text=2&written=1-r3-" in sent and sent.endswith("&step=2")
    said = part(page, "summary").inner_text()
    page.goto(sent)
    part(page, "begun").filter(
        has_text=state_of(page, "continuation")["texts"][1]["prompt"].strip()
    ).wait_for()
    assert written(page) == wanted and part(page, "summary").inner_text() == said
    assert part(page, "prompt").nth(1).is_checked()
    assert part(page, "token").nth(1).get_attribute("aria-checked") == "true"
    chapter = sent.split("?")[0]
    for strange in (
        "?text=9",
        "?text=1&written=1-1-8",
        "?prompt=a&temperature=9",
        "?text=1&step=x",
    ):
        page.goto(chapter + strange)
        part(page, "address").wait_for()
        assert part(page, "address").inner_text().count(".") == 1
        assert (written(page), part(page, "begun").inner_text()) == example
    page.goto(chapter)


def test_the_second_figure_has_an_address_of_its_own_beside_the_first(page):
    """Whoever opens it sees the chat, which stands far down the page."""
    part(page, "prompt").nth(1).check()
    chat = page.locator("[data-attn=continuation]").nth(1)
    chat.locator("[data-attn=prompt]").nth(1).check()
    chat.locator("[data-attn=token]").nth(1).click()
    said = chat.locator("[data-attn=summary]").inner_text()
    sent = page.evaluate("location.href")
    assert "?text=2&" in sent and "&text2=2&" in sent and "&step2=2#" in sent
    page.goto("about:blank")
    page.goto(sent)
    chat.locator("[data-attn=token][aria-checked=true]").nth(0).wait_for()
    assert chat.locator("[data-attn=prompt]").nth(1).is_checked()
    assert chat.locator("[data-attn=summary]").inner_text() == said
    assert part(page, "prompt").nth(1).is_checked()
    assert page.evaluate("scrollY") > 1000


WITHOUT = {
    "little memory": (
        "Object.defineProperty(navigator, 'deviceMemory', { value: 1 })",
        "This device has little memory, and the browser might close the page.",
    ),
    "no Cache API": (
        "Object.defineProperty(globalThis, 'caches', { value: undefined })",
        "At this address the browser keeps nothing, so it will fetch them at each visit.",
    ),
}


@pytest.mark.parametrize("lack", WITHOUT)
def test_missing_features_of_a_device_are_named_beside_the_offer(needed, browser, server, lack):
    needed("model_in_the_page")
    script, sentence = WITHOUT[lack]
    page = browser.new_page()
    page.add_init_script(script)
    page.goto(f"{server}/en/12_language_model.html")
    said = part(page, "model-note").inner_text()
    assert said.endswith(f"while it runs it takes about 300 MB of memory. {sentence}")
    page.close()


def test_without_simd_it_is_slow_and_from_a_folder_it_is_not_offered(needed, browser, server, site):
    needed("model_in_the_page")
    page = browser.new_page()
    page.goto((site / "en" / "12_language_model.html").as_uri())
    said = part(page, "model-note").inner_text()
    assert said.startswith("The browser does not let a page that was opened as a file load the mod")
    assert part(page, "load").count() == 0
    # A browser without SIMD refuses the kernel as it would refuse any bytes that are none.
    page.route("**/packed.wasm", lambda route: route.fulfill(body="none"))
    page.goto(f"{server}/en/12_language_model.html")
    part(page, "load").click()
    part(page, "own").wait_for(state="visible", timeout=120_000)
    said = part(page, "model-note").inner_text()
    assert said.startswith("The model is in the page. This browser has no SIMD instructions")
    page.close()


def test_the_figure_recognises_a_solution_of_the_exercise(page):
    """One touch of the stored text of the sky leads to a text more probable than the greedy one."""

    def verdict():
        part(page, "check-figure").click()
        return part(page, "verdict").get_attribute("data-verdict")

    part(page, "exercise").locator("summary").click()
    part(page, "prompt").nth({"en": 0, "es": 2}[page.language]).check()
    assert verdict() == "wrong"
    step, option = {"en": (0, 1), "es": (4, 3)}[page.language]
    part(page, "token").nth(step).click()
    part(page, "option").nth(option).click()
    assert part(page, "solved").inner_text() == ""
    assert verdict() == "right"
    # The page of progress counts it, and forgets it with the rest.
    said = {"en": "Solved", "es": "Resuelto"}[page.language]
    assert part(page, "solved").inner_text().strip() == f"✓ {said}"
    chapter, item = page.url.split("?")[0], page.locator("[data-exercise=probable_text]")
    page.goto(chapter.replace("12_language_model", "progress"))
    assert item.inner_text().endswith(f": {said}")
    target = item.locator("a").get_attribute("href")
    assert target == "12_language_model.html#exercise-probable-text"
    page.once("dialog", lambda dialog: dialog.accept())
    with page.expect_navigation():
        page.locator(".attn-progress-erase button").click()
    assert said not in item.inner_text()
    page.goto(chapter.rsplit("/", 1)[0] + f"/{target}")
    assert page.locator("#exercise-probable-text").count() == 1
    assert part(page, "solved").inner_text() == ""


def test_nothing_is_clipped_on_a_phone(page):
    page.set_viewport_size({"width": 390, "height": 844})
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    inside = """(box) => [...box.querySelectorAll('button, label')].every((node) =>
        node.getBoundingClientRect().right <= box.getBoundingClientRect().right + 1)"""
    for box in page.locator("[data-attn=continuation]").all():
        assert box.evaluate(inside)
    page.set_viewport_size({"width": 1280, "height": 900})
