"""HeadViewer in a real browser, from ``file://`` and offline, against heads cut in PyTorch."""

from contextlib import ExitStack

import numpy as np
import pytest
import torch

from attn.applications.translation import facts
from attn_course.widgets import HeadViewer
from tests.test_site.conftest import page_of, write_beside

LANGUAGES = ("es", "en")
SENTENCES = ("the girls who chased the cat were tired", "the blue window")


@pytest.fixture(scope="module")
def folder(tmp_path_factory, translator):
    folder = tmp_path_factory.mktemp("site")
    example = translator.attention(SENTENCES[0])
    for language in LANGUAGES:
        widget = HeadViewer(example, sentences=SENTENCES[1:], language=language)
        (folder / f"{language}.html").write_text(page_of(widget, "head_widgets.js"), "utf-8")
    write_beside(folder, "head_widgets")
    return folder


@pytest.fixture
def visit(opened, folder):
    """Open the page of a language."""
    return lambda language="es", place=folder, **options: opened(
        place, language, "[data-attn=head]", **options
    )


def cut(page, stack, layer, head):
    page.locator(f"[data-attn=stack][value='{stack}']").check()
    before = page.locator("[data-attn=cut-list]").inner_text()
    page.locator("[data-attn=cut]").nth(4 * layer + head).check()
    page.wait_for_function(
        "(t) => document.querySelector('[data-attn=cut-list]').textContent !== t", arg=before
    )


def weights(page):
    nodes = page.locator("[data-attn=weight]")
    found = nodes.evaluate_all("(nodes) => nodes.map((n) => Number(n.dataset.weight))")
    return np.reshape(found, (page.locator("[data-attn=row]").count(), -1))


@torch.no_grad()
def probability(translator, source, target):
    src = torch.tensor([translator.source.encode(source)])
    tgt = translator.target.encode(target, sos=True, eos=True)
    logits, *_ = translator.model(src, torch.tensor([tgt[:-1]]))
    return logits[0].softmax(-1)[range(len(tgt) - 1), tgt[1:]].prod().item()


@pytest.mark.parametrize("language", LANGUAGES)
def test_the_example_shows_before_anything_loads(language, visit, translator):
    page = visit(language)
    example = translator.attention(SENTENCES[0])
    np.testing.assert_allclose(weights(page), example.cross[1, 0], atol=1e-5)
    page.locator("[data-attn=head][data-layer='0'][data-head='2']").click()
    np.testing.assert_allclose(weights(page), example.cross[0, 2], atol=1e-5)
    page.locator("[data-attn=stack][value=encoder]").check()
    np.testing.assert_allclose(weights(page), example.encoder[0, 2], atol=1e-5)
    assert page.evaluate("globalThis.attnModels === undefined")


@pytest.mark.parametrize(
    "cuts",
    [[("encoder", 1, 1)], [("cross", 1, 1), ("decoder", 0, 3)], [("cross", 0, 0), ("cross", 0, 1)]],
)
def test_cut_heads_are_cut_as_in_pytorch(cuts, visit, translator):
    page = visit("en")
    for one in cuts:
        cut(page, *one)
    whole = translator.translate(SENTENCES[0])
    with ExitStack() as stack:
        for one in cuts:
            stack.enter_context(facts.without_head(translator.model, *one))
        expected = translator.translate(SENTENCES[0])
        after = probability(translator, SENTENCES[0], whole)
        attention = translator.attention(SENTENCES[0], expected)
    assert page.locator("[data-attn=without]").inner_text() == expected
    assert page.locator("[data-attn=whole]").inner_text() == whole
    note = page.locator("[data-attn=note]").inner_text()
    assert float(note.rstrip(".").split(" to ")[-1]) == pytest.approx(after, abs=6e-4)
    name, layer, head = cuts[-1]
    np.testing.assert_allclose(weights(page), getattr(attention, name)[layer, head], atol=2e-4)
    assert (page.locator("[data-attn=changed]").count() > 0) == (expected != whole)
    page.locator("[data-attn=mend]").click()
    assert page.locator("[data-attn=cut]:checked").count() == 0
    assert page.locator("[data-attn=changed]").count() == 0


def test_each_head_says_what_is_left_without_it(visit, translator):
    page = visit("en")
    page.locator("[data-attn=pick]").select_option(SENTENCES[1])
    page.wait_for_function(
        "() => document.querySelector('[data-attn=alone]').textContent.includes('=')"
    )
    whole = translator.translate(SENTENCES[1])
    for stack in facts.STACKS:
        page.locator(f"[data-attn=stack][value={stack}]").check()
        shown = [t.split("= ")[1] for t in page.locator("[data-attn=alone]").all_inner_texts()]
        for place, text in zip(np.ndindex(2, 4), shown, strict=True):
            with facts.without_head(translator.model, stack, *place):
                expected = probability(translator, SENTENCES[1], whole)
            assert float(text.replace("<", "")) == pytest.approx(expected, abs=1e-3)


def test_unknown_and_no_words_are_refused(visit):
    page = visit("en")
    for sentence, said in (("the quark", "quark"), ("", "Write a sentence")):
        page.locator("[data-attn=sentence]").fill(sentence)
        page.locator("[data-attn=translate]").click()
        page.locator(f"[data-attn=note]:has-text('{said}')").wait_for()


def test_without_the_model_it_says_so_and_nothing_is_cut(visit, folder, tmp_path):
    for name in ("es.html", "widgets.css", "head_widgets.js"):
        (tmp_path / name).write_bytes((folder / name).read_bytes())
    page = visit(place=tmp_path)
    page.locator("[data-attn=cut]").first.click()
    page.locator("[data-attn=note][data-bad]").wait_for()
    page.wait_for_function("() => !document.querySelector('[data-attn=cut]').checked")


def test_by_keyboard(visit):
    page = visit()
    page.locator("[data-attn=head][aria-pressed=true]").focus()
    page.keyboard.press("ArrowRight")
    chosen = page.locator("[data-attn=head][aria-pressed=true]")
    assert chosen.get_attribute("data-head") == "1"
    assert chosen.evaluate("node => node === document.activeElement")
    for key, layer in (("ArrowUp", "0"), ("ArrowUp", "1"), ("ArrowDown", "0"), ("ArrowDown", "1")):
        page.keyboard.press(key)
        assert chosen.get_attribute("data-head") == "1"
        assert chosen.get_attribute("data-layer") == layer
    page.keyboard.press("Tab")
    page.keyboard.press("Space")
    page.locator("[data-attn=cut-list]:not(:empty)").wait_for()
    page.locator("[data-attn=row][aria-pressed=true]").focus()
    before = page.locator("[data-attn=summary]").inner_text()
    page.keyboard.press("Home")
    assert page.locator("[data-attn=summary]").inner_text() != before


@pytest.mark.parametrize(("width", "scheme"), [(390, "dark"), (1280, "light")])
def test_accessible_and_no_wider_than_the_page(width, scheme, visit, violations):
    page = visit(width=width, color_scheme=scheme)
    cut(page, "encoder", 1, 1)
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    assert violations(page) == []
