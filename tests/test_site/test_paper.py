"""A printed chapter: answers at its end, page numbers, and nothing torn apart."""

import io
import json
import re
import zlib

import pikepdf
import pytest

CHAPTER = "03_self_attention.html"


@pytest.fixture
def paper(tab, server):
    """Open a page as it is printed: the browser's own events included."""

    def open_page(language):
        page = tab(viewport={"width": 1280, "height": 900}, color_scheme="dark")
        page.goto(f"{server}/{language}/{CHAPTER}", wait_until="networkidle")
        # A busy machine may be idle on the network before the scripts of the page have run.
        page.wait_for_function("""document.documentElement.dataset.theme === 'dark'
            && document.querySelector(".attn-theme").ariaPressed && document.readyState === 'complete'""")
        page.evaluate("dispatchEvent(new Event('beforeprint'))")
        page.emulate_media(media="print")
        return page

    return open_page


@pytest.mark.parametrize("language", ("es", "en"))
def test_printed_questions_do_not_show_their_answers(paper, language):
    page = paper(language)
    assert page.evaluate("document.documentElement.dataset.theme") == "light"
    quizzes = page.locator("[data-anywidget=quiz]")
    assert quizzes.count() > 2
    for quiz in quizzes.all():
        state = quiz.locator("script").first.evaluate("script => JSON.parse(script.textContent)")
        printed = " ".join(quiz.inner_text().split())
        for question in state["questions"]:
            for option in question["options"]:
                assert not option["feedback"] or option["feedback"][:30] not in printed
        assert quiz.locator("li:visible").count() >= 2
    solutions = page.locator("main .tag_hide-cell details.hide")
    assert solutions.count() == 3
    assert not any(solution.is_visible() for solution in solutions.all())
    # Who has opened a solution wants it.
    solutions.first.evaluate("details => { details.open = true; }")
    assert solutions.first.is_visible()


@pytest.mark.parametrize("language", ("es", "en"))
def test_the_answers_are_on_pages_of_their_own_at_the_end(paper, language):
    """In the PDF that Chromium makes, by its bookmarks, and word for word in what it prints."""
    page = paper(language)
    states = page.locator("[data-anywidget=quiz] script").all_text_contents()
    questions = [question for state in states for question in json.loads(state)["questions"]]
    answers, question, exercise = {
        "es": ("Respuestas", "Pregunta", "Ejercicio"),
        "en": ("Answers", "Question", "Exercise"),
    }[language]
    labels = [f"{question} {n}" for n in range(1, len(questions) + 1)]
    printed = io.BytesIO(page.pdf(tagged=True, outline=True))
    with pikepdf.open(printed) as pdf, pdf.open_outline() as outline:
        (chapter,) = outline.root
        last = chapter.children[-1]
        leaves = [leaf.objgen for leaf in pdf.pages]
        assert last.title == answers
        titles = [entry.title for entry in last.children]
        # In the order of the page, in which exercises may stand between two questions.
        titles = [title.split(":")[0] for title in titles]
        assert [title for title in titles if title.startswith(question)] == labels
        others = [title for title in titles if not title.startswith(question)]
        assert others == [f"{exercise} {n}" for n in (1, 2, 3)]
        # On one of the last pages, at its top.
        leaf, _, _, top, _ = last.destination
        height = float(pdf.pages[leaves.index(leaf.objgen)].mediabox[3])
        assert leaves.index(leaf.objgen) > len(leaves) - 5
        assert float(top) > 0.85 * height, (float(top), height)

    # Printing has ended, and with it the answers are gone: once more, for the screen.
    page.evaluate("dispatchEvent(new Event('beforeprint'))")
    printed = page.locator(".attn-answers")
    for label, asked in zip(labels, questions, strict=True):
        there = printed.locator("section", has=page.get_by_role("heading", name=label, exact=True))
        for said, option in zip(there.locator("li").all(), asked["options"], strict=True):
            right = {"es": ("No es esa", "Correcto"), "en": ("Not that one", "Correct")}[language]
            assert said.inner_text().startswith(right[option["correct"]])
        # The same number stands where the question is asked, once.
        prompt = re.split(r"[`*_]|\b\w_", asked["prompt"])[0]
        assert page.locator("[data-anywidget=quiz] p", has_text=f"{label}. {prompt}").count() == 1
    assert printed.locator("pre:visible").count() >= 3

    page.emulate_media(media="screen")
    page.evaluate("dispatchEvent(new Event('afterprint'))")
    assert page.locator(".attn-answers, .attn-fallback .attn-label").count() == 0


def test_type_is_set_in_proportion_and_holds_together(paper):
    page = paper("en")
    sizes = page.evaluate("""() => Object.fromEntries(["article section section > p", "figcaption", "h2", ".attn-fallback caption"].map(
      what => [what, parseFloat(getComputedStyle(document.querySelector(what)).fontSize)]))""")
    assert sizes["figcaption"] < sizes["article section section > p"] < sizes["h2"]
    assert sizes[".attn-fallback caption"] < sizes["article section section > p"]
    style = "(node, name) => getComputedStyle(node)[name]"
    for heading in page.locator("main :is(h1, h2, h3)").all():
        assert heading.evaluate(style, "breakAfter") == "avoid"
    table = page.locator(".attn-fallback table").first
    assert table.evaluate(style, "breakInside") == "avoid"
    page.goto(page.url.replace(CHAPTER, "results.html"))
    page.evaluate("dispatchEvent(new Event('beforeprint'))")
    assert page.locator(".attn-fold[open]").count() == page.locator(".attn-fold").count() > 10
    for table in page.locator("table.docutils").all():
        assert table.evaluate(style, "display") == "table"
        assert table.locator("thead").evaluate(style, "display") == "table-header-group"
        assert table.locator("tr").first.evaluate(style, "breakInside") == "avoid"


def test_nothing_on_paper_is_to_be_pressed_or_cut_off(paper):
    page = paper("en")
    for chapter in (CHAPTER, "05_encoder_decoder.html"):
        page.goto(page.url.replace(CHAPTER, chapter), wait_until="networkidle")
        runs_python = page.locator("body[data-python]").count() > 0
        assert (page.locator(".attn-py-bar").count() > 0) == runs_python
        assert not page.locator("button:visible").count()
    page.goto(page.url.replace("/05_", "/L05_"), wait_until="networkidle")
    figures = page.locator(".attn-figure svg:visible").all()
    assert any("min-width" in (figure.get_attribute("style") or "") for figure in figures)
    room = page.locator("article").bounding_box()["width"]
    assert max(figure.bounding_box()["width"] for figure in figures) <= room


def test_pages_are_numbered(tab, server):
    """The number is the only text of the page's foot, so a page of it has one text more."""
    page = tab()
    page.goto(f"{server}/en/notation.html")

    def texts():
        streams = re.findall(rb"stream\r?\n(.*?)endstream", page.pdf(), re.DOTALL)
        pages = []
        for stream in streams:
            try:
                content = zlib.decompress(stream)
            except zlib.error:
                continue
            if b"BT" in content and b"Tf" in content:
                pages.append(len(re.findall(rb"\bBT\b", content)))
        return pages

    numbered = texts()
    page.add_style_tag(content="@page { @bottom-center { content: none } }")
    plain = texts()
    assert len(numbered) == len(plain) > 1
    assert [a - b for a, b in zip(numbered, plain, strict=True)] == [0] + [1] * (len(plain) - 1)
