"""Figures inside a page: with the page's colours, their texts, and unique ids."""

import importlib.util
import re
from pathlib import Path
from xml.etree import ElementTree

import matplotlib.pyplot as plt
import numpy as np
import pytest

from attn_course import plots
from attn_course.palette import LIGHT
from attn_course.plots.vector import svg

ROOT = Path(__file__).resolve().parents[1]


def extension(name):
    spec = importlib.util.spec_from_file_location(name, ROOT / "book" / "_ext" / f"{name}.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="module")
def drawn():
    with plt.rc_context():
        plots.use_style()
        figure, (left, right) = plt.subplots(1, 2, figsize=(9, 3))
        plots.heatmap([[0.5, -np.inf]], ["q"], ["uno", "dos"], ax=left)
        plots.curves([1, 2], {"a": [1, 2]}, xlabel="x", ax=right)
        right.axhline(1, color="gray")
        right.axvline(1, color="#3a7ca5")
        yield svg(figure)
        plt.close("all")


@pytest.fixture(scope="module")
def inline():
    return extension("attn_figures").inline


def test_a_figure_has_the_pages_colours_and_no_background(drawn, inline):
    page = inline(drawn, "label", "f1")
    for name in ("query", "key", "muted", "ink", "page"):
        assert f"var(--attn-{name})" in page
    assert not any(
        re.search(f'(fill|stroke)[:=] ?"?{colour}', page) for colour in set(LIGHT.values())
    )
    assert "color-mix(in srgb, var(--attn-page) 50%, var(--attn-ink))" in page  # gray
    assert re.search(r"stroke: #3a7ca5; stroke: light-dark\(#3a7ca5, #[0-9a-f]{6}\)", page)
    first = re.search(r"<path [^>]*>", page)[0]
    assert "M0 " not in first  # the background of the whole figure


def test_the_dark_scheme_maps_an_image_of_cells_by_its_colour_ramp(drawn, inline):
    page = inline(drawn, "label", "f1")
    (filter_id,) = set(re.findall(r"filter: url\(#(f1wide[^)]*)\)", page))
    assert re.search(rf'<filter [^>]*id="{filter_id}"', page)


def test_a_grey_picture_is_unchanged_in_both_schemes(inline):
    figure, (picture, weights) = plt.subplots(1, 2, figsize=(3, 1.5))
    picture.imshow([[0.0, 0.4, 1.0]], cmap="gray")
    weights.imshow([[0.0, 0.4, 1.0]], cmap="Blues")
    page = ElementTree.fromstring(inline(svg(figure), "label", "f1"))
    plt.close(figure)
    images = [each.get("style", "") for each in page.iter() if each.tag.endswith("image")]
    assert ["filter" in style for style in images] == [False, True]


def test_a_figure_keeps_its_words_and_has_a_label_in_each_drawing(drawn, inline):
    page = inline(drawn, 'a "label"', "f1")
    wide, narrow = ElementTree.fromstring(page)
    for drawing in (wide, narrow):
        words = {"".join(text.itertext()) for text in drawing.iter() if text.tag.endswith("text")}
        assert {"uno", "dos", "q", "0.50", "−∞", "a", "x"} <= words
        assert (drawing.get("role"), drawing.get("aria-label")) == ("img", 'a "label"')
    assert [each.get("class") for each in (wide, narrow)] == ["attn-wide", "attn-narrow"]


def test_ids_are_unique_and_all_are_used(drawn, inline):
    page = inline(drawn, "label", "f1") + inline(drawn, "label", "f2")
    ids = re.findall(r' id="([^"]+)"', page)
    refers = re.findall(r'url\(#([^)]+)\)|href="#([^"]+)"', page)
    assert len(ids) == len(set(ids)) and set(ids) == {a or b for a, b in refers}


def test_a_figure_that_keeps_its_colours_keeps_its_background(drawn, inline):
    page = inline(drawn, "label", "f1", kept=True)
    assert "#ffffff" in page and "var(--attn" not in page and "filter" not in page


def test_a_wide_figure_drawn_once_has_a_minimum_width(inline):
    once = (
        '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {} 100"><g><g/>'
        '<text style="font-size: 9px">a</text></g></svg>'
    )
    page = inline(once.format(720), "label", "f1")
    assert "min-width: 880px" in page and 'tabindex="0"' in page  # 11 pixels for 9 points
    assert "min-width" not in inline(once.format(280), "label", "f1")


def test_many_round_marks_of_one_colour_become_one_path(inline):
    def drawn(marker, n):
        figure, ax = plt.subplots(figsize=(3, 3))
        ax.plot(np.arange(n), np.arange(n), marker, color=LIGHT["query"], markersize=3)
        page = inline(svg(figure), "label", "f1")
        plt.close(figure)
        inside = next(
            each for each in ElementTree.fromstring(page).iter() if "clip-path" in each.attrib
        )
        return page, list(inside)

    page, [dots] = drawn("o", 60)
    places = re.findall(r"M([\d.]+) ([\d.]+)h0", dots.get("d"))
    x, y = np.array(places, float).T
    assert len(places) == 60 and (np.diff(x) > 0).all() and (np.diff(y) < 0).all()
    # Half of the one-point edge lies outside the circle of three points, so the stroke is 4 wide.
    assert "stroke: var(--attn-query); stroke-width: 4; stroke-linecap: round" in dots.get("style")
    assert "M0 1.5C" not in page  # nothing is left of the mark
    assert len(drawn("s", 60)[1]) == 60 and len(drawn("o", 10)[1]) == 10


@pytest.mark.parametrize(
    "code, language, shown",
    [
        ('f(text(es="a, b", en="c"), 1)', "es", 'f("a, b", 1)'),
        ('f(text(es="a",\n       en="c"), 1)', "en", 'f("c", 1)'),
        ('text(es=["a", "b"], en=["c", "d"])[0]', "en", '["c", "d"][0]'),
        ("""f"{n} {text(es='uno', en='one')}: {x:.2f}\"""", "en", 'f"{n} one: {x:.2f}"'),
        ('{"a": text}', "es", '{"a": text}'),
    ],
)
def test_the_code_of_a_page_has_labels_only_in_its_language(code, language, shown):
    assert extension("attn_code").said(code, language) == shown
