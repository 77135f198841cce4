"""HeadExplorer in a real browser, from ``file://`` and offline, against what is stored."""

import base64

import numpy as np
import pytest
import torch

from attn_course import interpret
from attn_course.widgets import HeadExplorer, _source
from attn_course.widgets.head_explorer import triangle
from tests.test_site.conftest import page_of, write_beside

LANGUAGES = ("es", "en")
STORED = _source.attended()


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("site")
    for language in LANGUAGES:
        widget = HeadExplorer("door", layer=18, head=5, language=language)
        for name, above in ((language, 0), (f"{language}_far", 3000)):
            (folder / f"{name}.html").write_text(
                page_of(widget, "explorer_widgets.js", above), "utf-8"
            )
    scripts = _source.model_scripts().items()
    needed = {n: text for n, text in scripts if not n.endswith(("translator.js", "question.js"))}
    write_beside(folder, "explorer_widgets", needed)
    return folder


@pytest.fixture
def visit(opened, folder):
    """Open the page of a language, or of a figure far below the beginning."""
    return lambda name="en", place=folder, wait="[data-attn=version]", **options: opened(
        place, name, wait, **options
    )


def weights_of(page):
    nodes = page.locator("[data-attn=weight]")
    found = nodes.evaluate_all("(nodes) => nodes.map((n) => Number(n.dataset.weight))")
    return np.reshape(found, (page.locator("[data-attn=row]").count(), -1))


def only(head):
    """Return a change of the heads of a layer that leaves one alone."""
    return lambda x: x * (torch.arange(9) == head)[None, None, :, None]


def head(page, layer, number):
    page.locator(f"[data-attn=head][data-layer='{layer}'][data-head='{number}']").click()


def test_each_variant_of_a_head_shows_the_stored_weights(visit):
    page = visit()
    door = STORED["door"]
    np.testing.assert_allclose(weights_of(page), triangle(door)[17, 4], atol=1e-6)
    head(page, 27, 8)
    for version, first in enumerate(door["from"]):
        page.locator("[data-attn=version]").nth(version).check()
        stored = triangle(door, version)[27 - first, 8]
        np.testing.assert_allclose(weights_of(page), stored, atol=1e-6)
    head(page, 3, 0)  # below the patch at layer 25 all is as in the exchanged sentence
    np.testing.assert_allclose(weights_of(page), triangle(door, 1)[3, 0], atol=1e-6)
    page.locator("[data-attn=change]").check()
    change = triangle(door, 1)[3, 0] - triangle(door)[3, 0]
    np.testing.assert_allclose(weights_of(page), change, atol=1e-6)
    shown = page.locator("[data-attn=next]").all_inner_texts()
    assert shown == [f"{p:.2f}" for row in door["probabilities"] for p in row]


def test_another_sentence_is_loaded_when_it_is_chosen(visit):
    page = visit("es")
    assert page.evaluate("Object.keys(attnModels)") == ["attended_door"]
    page.locator("[data-attn=pick]").select_option("sol")
    page.locator("th:has-text('␣n')").wait_for()
    assert page.evaluate("Object.keys(attnModels)") == ["attended_door", "attended_sol"]
    np.testing.assert_allclose(weights_of(page), triangle(STORED["sol"])[17, 4], atol=1e-6)
    page.locator("[data-attn=version]").nth(1).check()
    marked = page.locator("[data-attn=changed]").all_inner_texts()
    assert "".join(marked) == "noche"
    assert page.locator("[data-attn=text]").get_attribute("lang") == "es"


def test_weights_are_not_loaded_before_the_reader_is_near(visit):
    page = visit("en_far", wait="[data-attn=pick]")
    page.wait_for_timeout(300)
    assert page.evaluate("globalThis.attnModels === undefined")
    page.evaluate("scrollTo(0, 3000)")
    page.locator("[data-attn=version]").first.wait_for()


def test_without_its_files_it_keeps_one_head_and_says_so(visit, folder, tmp_path):
    for name in ("es.html", "widgets.css", "explorer_widgets.js"):
        (tmp_path / name).write_bytes((folder / name).read_bytes())
    page = visit("es", place=tmp_path, wait="[data-attn=note][data-bad]")
    assert "no llegaron" in page.locator("[data-attn=note]").inner_text()
    np.testing.assert_allclose(weights_of(page), triangle(STORED["door"])[17, 4], atol=1e-3)


def test_it_measures_every_head_and_finds_those_that_score_most(visit):
    page = visit()
    stored, tokens = triangle(STORED["door"]), STORED["door"]["tokens"][0]
    n = len(tokens)
    twice = [(i, j + 1) for i in range(n) for j in range(i) if tokens[i] == tokens[j]]
    measures = {
        "first": stored[..., 1:, 0].mean(axis=-1),
        "before": stored[..., range(2, n), range(1, n - 1)].mean(axis=-1),
        "induction": sum(stored[..., i, j] for i, j in twice) / len({i for i, _ in twice}),
    }
    for name, scores in measures.items():
        page.locator("[data-attn=measure]").select_option(name)
        told = page.locator("[data-attn=head]").evaluate_all(
            "(nodes) => nodes.map((n) => Number(n.getAttribute('aria-label').split(': ')[1]))"
        )
        np.testing.assert_allclose(np.reshape(told, (30, 9)), scores, atol=0.005 + 1e-9)
        best = page.locator("[data-attn=best]")
        sixth = np.sort(scores, axis=None)[-6]
        listed = best.evaluate_all("(nodes) => nodes.map((n) => n.innerText.split(' ')[0])")
        assert len(listed) == 6
        for place in listed:
            layer, number = (int(n) - 1 for n in place.split("·"))
            assert scores[layer, number] >= sixth
        best.first.click()
        layer, number = np.unravel_index(scores.argmax(), scores.shape)
        chosen = page.locator("[data-attn=head][aria-pressed=true]")
        assert chosen.get_attribute("aria-label").startswith(
            f"Layer {layer + 1}, head {number + 1}:"
        )


def test_the_small_maps_show_the_weights(visit):
    """On a screenshot, in which the corner of the sheet that a tile shows is that of its head."""
    page = visit()
    stored = STORED["door"]
    np.testing.assert_allclose(sheet_of(page, "head"), seen(triangle(stored)), atol=3e-3)


def seen(weights):
    return np.where(weights < 0.01, 0, weights)


def sheet_of(page, hook):
    """Return the weights that the small maps of a version are drawn with, shape (30, 9, n, n)."""
    sheet = page.evaluate(
        """async (hook) => {
          const grid = document.querySelector(`[data-attn=${hook}]`).parentElement.parentElement;
          const image = new Image();
          image.src = grid.style.getPropertyValue("--more").slice(4, -1).replaceAll('"', "");
          await image.decode();
          const canvas = Object.assign(document.createElement("canvas"), image);
          canvas.width = image.width; canvas.height = image.height;
          const pen = canvas.getContext("2d");
          pen.drawImage(image, 0, 0);
          const { data } = pen.getImageData(0, 0, image.width, image.height);
          const at = (x, y) => data[4 * (y * image.width + x) + 3] / 255;
          return Array.from({ length: image.height / 3 }, (_, y) =>
            Array.from({ length: image.width / 3 }, (_, x) => at(3 * x + 1, 3 * y + 1)));
        }""",
        hook,
    )
    n = len(sheet) // 30
    return np.reshape(sheet, (30, n, 9, n)).transpose(0, 2, 1, 3)


def test_two_sentences_stand_beside_each_other_and_on_a_phone_one_above_the_other(visit):
    page = visit()
    other = page.locator("[data-attn=head-beside]")
    assert other.first.is_hidden()
    page.locator("[data-attn=version]").nth(1).check()
    page.locator("[data-attn=beside]").check()
    door = STORED["door"]
    for hook, version in (("head", 0), ("head-beside", 1)):
        found = sheet_of(page, hook)
        np.testing.assert_allclose(found, seen(triangle(door, version)), atol=3e-3)
    names = [page.locator(f"[data-attn={hook}-version]") for hook in ("head", "head-beside")]
    labels = page.locator(".attn-all-versions tbody label").all_inner_texts()
    assert [name.inner_text() for name in names] == labels[:2]
    left, right = [name.bounding_box() for name in names]
    assert left["y"] == right["y"] and left["x"] + left["width"] < right["x"]
    other.nth(40).click()
    assert page.locator("[data-attn=head][aria-pressed=true]").get_attribute("data-layer") == "4"
    page.keyboard.press("ArrowDown")
    assert other.nth(49).evaluate("node => node === document.activeElement")
    assert other.nth(49).get_attribute("aria-label") == "Layer 6, head 5"
    page.set_viewport_size({"width": 390, "height": 844})
    left, right = [name.bounding_box() for name in names]
    assert left["x"] == right["x"] and left["y"] < right["y"]
    assert page.evaluate("document.documentElement.scrollWidth") <= 390


def test_by_keyboard(visit):
    page = visit("es")
    page.locator("[data-attn=head][aria-pressed=true]").focus()
    chosen = page.locator("[data-attn=head][aria-pressed=true]")
    moves = (
        ("ArrowRight", 17, 5),
        ("ArrowDown", 18, 5),
        ("ArrowUp", 17, 5),
        ("Home", 0, 0),
        ("End", 29, 8),
    )
    for key, layer, number in moves:
        page.keyboard.press(key)
        assert chosen.get_attribute("data-layer") == str(layer)
        assert chosen.get_attribute("data-head") == str(number)
        assert chosen.evaluate("node => node === document.activeElement")
    page.locator("[data-attn=row][aria-pressed=true]").focus()
    before = page.locator("[data-attn=summary]").inner_text()
    page.keyboard.press("Home")
    assert page.locator("[data-attn=summary]").inner_text() != before


@pytest.mark.parametrize(("width", "scheme"), [(390, "dark"), (1280, "light")])
def test_accessible_and_no_wider_than_the_page(width, scheme, visit, violations):
    page = visit(width=width, color_scheme=scheme)
    page.locator("[data-attn=version]").nth(1).check()
    page.locator("[data-attn=change]").check()
    page.locator("[data-attn=measure]").select_option("differs")
    page.locator("[data-attn=beside]").check()
    page.locator("[data-attn=head-beside]").first.wait_for()
    page.locator("[data-attn=exercise] > summary").click()
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    assert violations(page) == []


def test_as_a_module_with_what_is_stored_from_the_kernel(visit):
    """A data URL cannot load a neighbour: the weights can only come from the state."""
    page = visit("en_far", wait="[data-attn=pick]")
    page.locator("main").evaluate("node => { node.textContent = ''; }")
    page.add_script_tag(
        type="module",
        content=_source.module("head_explorer").replace("export default", "globalThis.widget ="),
    )
    page.wait_for_function("() => globalThis.widget")
    widget = HeadExplorer("queen", layer=2, head=3, language="en")
    state = {name: getattr(widget, name) for name in (*widget._state, "language")}
    weights = base64.b64encode(STORED["queen"]["weights"]).decode()
    page.evaluate(
        """([state, about, weights]) => {
          const bytes = Uint8Array.from(atob(weights), (c) => c.charCodeAt(0));
          state.trained = { queen: { ...about, weights: new DataView(bytes.buffer) } };
          globalThis.stop = widget.render({
            model: { get: (name) => state[name] }, el: document.querySelector("main"),
          });
        }""",
        [state, STORED["queen"] | {"weights": None}, weights],
    )
    page.locator("[data-attn=version]").nth(1).check()
    np.testing.assert_allclose(weights_of(page), triangle(STORED["queen"], 1)[1, 2], atol=1e-6)
    page.evaluate("stop()")


def test_the_model_in_the_page_reads_carries_a_vector_over_and_loses_a_head(
    needed, smollm2, browser, server
):
    """Against the layers of `attn`; each dare is done as its answer says, and the exercise names what is wrong."""
    needed("model_in_the_page")
    model, tokenizer = smollm2
    context = browser.new_context(viewport={"width": 390, "height": 844})
    page = context.new_page()
    page.set_default_timeout(120_000)
    errors = []
    page.on("pageerror", lambda error: errors.append(error))
    page.goto(f"{server}/en/13_what_attention_computes.html")
    figure = page.locator("[data-attn=head-explorer]").first

    def part(name):
        return figure.locator(f"[data-attn={name}]")

    def view(name):
        figure.locator(f"[data-view={name}]").click()

    def chances(row):
        """Return the probabilities of a row of the table, by token."""
        tokens = figure.locator(".attn-all-versions thead th").all_text_contents()
        cells = figure.locator(".attn-all-versions tbody tr").nth(row).locator("td")
        names = [token[1:-1].replace("␣", " ") for token in tokens]
        return dict(zip(names, map(float, cells.all_text_contents()), strict=True))

    def check(row, logits):
        expected = logits.softmax(dim=-1)
        for token, p in chances(row).items():
            assert p == pytest.approx(expected[tokenizer.encode(token)[0]].item(), abs=0.006)

    def read(sentence, other=""):
        part("sentence").fill(sentence)
        part("other").fill(other)
        part("read").click()
        page.wait_for_function(
            "(s) => new URLSearchParams(location.search).get('sentence') === s", arg=sentence
        )

    def dare(number):
        view("dares")
        part("dare").nth(number).click()

    def verdict():
        part("verdict").evaluate("node => { node.textContent = ''; }")
        part("check-figure").click()
        figure.locator("[data-attn=verdict]:not(:empty)").wait_for()
        return part("verdict").inner_text()

    part("exercise").locator("summary").click()
    part("load").click()
    part("own").wait_for(state="visible")
    part("read").click()
    assert part("own-note").inner_text() == "Write a sentence first, if only a word."
    italy, france = "The capital of Italy is", "The capital of France is"
    read(italy)
    dare(0)
    part("cell").first.wait_for()
    part("version").nth(1).wait_for()
    assert verdict() == "That is the pair of the dare. Write another one."
    ids = torch.tensor([tokenizer.encode(text) for text in (italy, france)])
    with torch.no_grad():
        logits, weights = model(ids, need_weights=True)
        clean, corrupted = interpret.streams(model, ids).unbind(dim=1)
        x = corrupted[9][None].clone()
        x[0, 3] = clean[9, 3]
        patched = interpret.go_on(model, x, 9)[0]
        lens = interpret.read_off(model, corrupted[:, -1])
    check(0, logits[0, -1])
    check(1, logits[1, -1])
    view("heads")
    assert "beside=yes" in page.url
    part("beside").uncheck()
    part("version").first.check()
    head(figure, 16, 0)
    np.testing.assert_allclose(weights_of(figure), weights[16][0, 0], atol=0.51 / 255)
    view("carry")
    # The touch, the answer and what there is to do stand on one screen of a phone.
    part("cell").first.scroll_into_view_if_needed()
    last = part("cell").last.bounding_box()
    assert last["y"] + last["height"] - part("dared").bounding_box()["y"] < 844
    part("answer").wait_for()
    cell = "[data-attn=cell][data-layer='9'][data-position='3']"
    figure.locator(cell).click()
    part("version").nth(2).wait_for()
    check(2, patched)
    assert part("dared").inner_text().endswith("Done.")
    assert "patch=10.4" in page.url
    part("fill").click()
    page.wait_for_function("() => !document.querySelector('[data-attn=cell]:not([data-share])')")
    share = "node => Number(node.dataset.share)"
    assert figure.locator(cell).evaluate(share) > 0.9
    assert figure.locator("[data-layer='27'][data-position='3']").evaluate(share) < 0.1

    # The lens of the sentence as it was changed, without the patch.
    view("lens")
    part("version").nth(1).check()
    rome, paris = (tokenizer.encode(word)[0] for word in (" Rome", " Paris"))
    ranks = [(lens > lens[:, [token]]).sum(-1) + 1 for token in (rome, paris)]
    part("rank").last.wait_for()
    page.wait_for_function(
        "(n) => document.querySelector('[data-layer=\"30\"] [data-attn=rank]:last-child')?.innerText === String(n)",
        arg=int(ranks[1][30]),
    )
    for row in part("seen").all():
        layer = int(row.get_attribute("data-layer"))
        shown = [int(text) for text in row.locator("[data-attn=rank]").all_inner_texts()]
        # Far down, where thousands of logits lie close, float32 may exchange neighbours.
        np.testing.assert_allclose(shown, [int(rank[layer]) for rank in ranks], rtol=2e-3, atol=1)

    spain, germany = "The capital of Spain is", "The capital of Germany is"
    view("carry")
    read(spain, germany)
    assert verdict().startswith("There is no patch yet")
    touches = (
        (18, 2, "You carried the vector"),
        (27, 3, "With that patch"),
        (3, 3, "That patch is"),
    )
    for layer, position, said in touches:
        page.locator(f"[data-attn=cell][data-layer='{layer}'][data-position='{position}']").click()
        page.wait_for_function(f"() => location.search.includes('patch={layer + 1}.')")
        part("version").nth(2).wait_for()
        assert verdict().startswith(said)
    for layer in range(6, 30, 3):
        page.locator(f"[data-attn=cell][data-layer='{layer}'][data-position='3']").click()
        page.wait_for_function(f"() => location.search.includes('patch={layer + 1}.4')")
        if (found := verdict()).startswith("Correct"):
            break
    assert found.startswith(f"Correct: on entering layer {layer + 1}")

    dare(1)
    page.wait_for_function("() => location.search.includes('dog')")
    head(figure, 1, 3)
    part("toggle-head").click()
    page.wait_for_function("() => location.search.includes('off=2.4')")
    assert part("dared").inner_text().endswith("Done.")
    assert part("answer").inner_text() == (
        "Now “␣cat” (64%) is next; untouched it was “␣dog” (94%), which now has 23%."
    )
    page.reload()
    figure.get_by_role("button", name="Open the model, already kept").click()
    figure.locator("[data-attn=answer]:not(:empty)").wait_for()
    assert part("answer").inner_text().startswith("Now “␣cat”")
    chosen = figure.locator("[data-attn=head][aria-pressed=true]")
    assert chosen.get_attribute("aria-label") == "Layer 2, head 4"

    # Of layer 24 head 5 alone holds Paris, and head 1 alone does not.
    dare(2)
    page.wait_for_function("() => location.search.includes('France')")
    paris = torch.tensor([tokenizer.encode("The capital of France is")])
    for number, done in ((0, False), (4, True)):
        view("heads")
        head(figure, 23, number)
        part("keep-head").click()
        page.wait_for_function(f"() => location.search.includes('keep=24.{number + 1}')")
        with torch.no_grad(), interpret.heads_changed(model, 23, only(number)):
            check(1, model(paris)[0][0, -1])
        assert figure.locator("[data-attn=head][data-off]").count() == 8
        assert part("dared").inner_text().endswith("Done.") == done
    assert part("keep-head").inner_text() == "Switch on the others of layer 24"
    part("keep-head").click()
    page.wait_for_function("() => !location.search.includes('keep')")
    assert figure.locator("[data-attn=head][data-off]").count() == 0
    dare(3)
    page.wait_for_function("() => location.search.includes('fork')")
    part("measure").select_option("induction")
    places = part("best").evaluate_all("(nodes) => nodes.map((n) => n.innerText.split(' ')[0])")
    assert sorted(places) == ["18·4", "18·5", "18·6", "19·7", "19·8", "24·8"]
    for i, place in enumerate(places):
        part("best").filter(has_text=place).click()
        part("toggle-head").click()
        page.wait_for_function(
            "(n) => new URLSearchParams(location.search).get('off')?.split('-').length === n",
            arg=i + 1,
        )
    page.wait_for_function(
        "() => document.querySelector('[data-attn=dared]').innerText.endsWith('Done.')"
    )
    assert "“␣window”" not in part("answer").inner_text().split("untouched")[0]
    dare(4)
    page.wait_for_function("() => location.search.includes('John')")
    assert not part("dared").inner_text().endswith("Done.")
    read("Mary and Anna wrote several songs when")
    page.wait_for_function(
        "() => document.querySelector('[data-attn=dared]').innerText.endsWith('Done.')"
    )
    # Two sentences that are not equally long stand beside each other all the same.
    view("heads")
    read("The sky is", "El cielo de la noche es")
    page.wait_for_function("() => location.search.includes('beside=yes')")
    assert part("own-note").inner_text().startswith("They have 3 and ")
    ids = tokenizer.encode("El cielo de la noche es")
    with torch.no_grad():
        logits, weights = model(torch.tensor([ids]), need_weights=True)
    check(1, logits[0, -1])
    found = sheet_of(page, "head-beside")
    assert sheet_of(page, "head").shape[-1] == 3 and found.shape[-1] == len(ids)
    np.testing.assert_allclose(found, seen(torch.cat(weights).numpy()), atol=0.012)
    view("carry")
    assert figure.locator("[data-attn=cell]").count() == 0
    view("lens")
    part("seen").first.wait_for()
    part("forget").click()
    assert part("own").is_hidden() and not errors
    context.close()


def test_a_url_holds_the_readers_changes(node):
    script = """import { addressOf, stateIn } from "./own_sentence.mjs";
    console.log(JSON.stringify(input.map((state) => {
      const href = addressOf("https://a.b/c.html?q=1#d", state, 9);
      return [href, stateIn(new URL(href).search, { nLayers: 30, nHeads: 9 })];
    }).concat([[null, stateIn("?off=x.2-3-31.1-2.10-4.5&keep=30&patch=32.1&head=0.1&view=x&beside=no&sentence=" + "y".repeat(999), { nLayers: 30, nHeads: 9 })],
      [null, stateIn("?sentence=a&keep=2.1-2.2", { nLayers: 30, nHeads: 9 })]])));"""
    full = {
        "text": "¿Qué & cómo?",
        "other": "a=b",
        "off": [[0, 8], [29, 0], *([23, head] for head in range(9) if head != 4)],
        "patch": {"layer": 30, "position": 2},
        "head": [29, 0],
        "view": "lens",
        "beside": True,
        "isWhole": True,
    }
    plain = {"text": "The", "other": "", "off": [], "patch": None, "head": None, "view": "heads"}
    plain |= {"beside": False, "isWhole": True}
    (href, found), (short, again), (_, nonsense), (_, two) = node(script, [full, plain])
    assert two["off"] == [[1, head] for head in range(1, 9)] and not two["isWhole"]
    assert found == full and href.startswith("https://a.b/c.html?q=1&") and href.endswith("#d")
    assert "&off=1.9-30.1&keep=24.5&" in href
    assert (
        again == plain
        and "&beside=yes" in href
        and short == "https://a.b/c.html?q=1&sentence=The#d"
    )
    assert nonsense["off"] == [[3, 4]] and nonsense["patch"] is None and nonsense["head"] is None
    assert nonsense["view"] == "heads" and not nonsense["isWhole"]
    assert len(nonsense["text"]) == 200


@torch.no_grad()
@pytest.mark.slow
def test_the_answers_of_the_dares_are_true(smollm2):
    """One vector at either word is enough, where the answer says; and one head of the 270 alone turns a dog to a cat."""
    model, tokenizer = smollm2
    ids = torch.tensor([tokenizer.encode(f"The capital of {x} is") for x in ("Italy", "France")])
    clean, corrupted = interpret.streams(model, ids).unbind(dim=1)
    rows = range(0, 31, 3)
    best = interpret.patch_streams(model, clean, corrupted, lambda x: x.argmax(dim=-1), rows)
    rome = best == tokenizer.encode(" Rome")[0]
    assert rome[:8, 3].all() and not rome[8:, 3].any()  # up to layer 22
    assert rome[8:, 4].all() and not rome[:8, 4].any()  # from layer 25
    ids = torch.tensor([tokenizer.encode("The dog chased the cat. The cat chased the")] * 9)
    dog = tokenizer.encode(" dog")[0]

    def without_one_each(x):
        x[range(9), :, range(9)] = 0
        return x

    others = []
    for layer, x in enumerate(interpret.streams(model, ids)[:30]):
        with interpret.heads_changed(model, layer, without_one_each):
            found = interpret.go_on(model, x, layer).argmax(dim=-1)
        others += [(layer + 1, head + 1, int(i)) for head, i in enumerate(found) if i != dog]
    assert others == [(2, 4, tokenizer.encode(" cat")[0])]
    ids = tokenizer.encode("fork nine chair green horse window fork nine chair green horse")
    weights = torch.cat(model(torch.tensor([ids]), need_weights=True)[1])
    again = [(i, ids.index(ids[i]) + 1) for i in range(len(ids)) if ids.index(ids[i]) < i]
    scores = sum(weights[..., i, j] for i, j in again) / len(again)
    six = scores.flatten().topk(7)
    # Of layer 24 head 5 alone is enough for Paris.
    ids = torch.tensor([tokenizer.encode("The capital of France is")])
    paris = tokenizer.encode(" Paris")[0]

    def chance():
        return float(model(ids)[0][0, -1].softmax(dim=-1)[paris])

    left = []
    for head in range(9):
        with interpret.heads_changed(model, 23, only(head)):
            left.append(chance())
    assert round(chance(), 2) == 0.77 and round(left.pop(4), 2) == 0.80 and max(left) < 0.18
    heads = sorted((i // 9 + 1, i % 9 + 1) for i in six.indices[:6].tolist())
    assert heads == [(18, 4), (18, 5), (18, 6), (19, 7), (19, 8), (24, 8)]
    assert six.values[5] - six.values[6] > 0.05
    they, he, she = (tokenizer.encode(word)[0] for word in (" they", " he", " she"))
    for names, wanted in (("John and Paul", they), ("Mary and Anna", she)):
        ids = torch.tensor([tokenizer.encode(f"{names} wrote several songs when")])
        logits = model(ids)[0][0, -1]
        assert max((they, he, she), key=lambda token: logits[token]) == wanted
