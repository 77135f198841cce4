"""Chapter 2 in a browser: its maps, driven by mouse and keyboard; their numbers against NumPy."""

import json

import numpy as np
import pytest

from tests.test_site.conftest import each_edition

CHAPTER = "02_tokens_and_embeddings.html"

chapter = each_edition(CHAPTER)


@pytest.fixture
def maps(chapter):
    """The two maps of films as they are when the chapter is opened: with genres, and with gaps."""
    chapter.reload()
    chapter.locator("[data-attn=map]").nth(2).wait_for()
    found = [chapter.locator("[data-attn=map]").nth(i) for i in (1, 2)]
    yield found
    assert chapter.errors == []


def points(plane, kind):
    texts = plane.locator(f"[data-attn={kind}-point]").evaluate_all(
        "ns => ns.map(n => n.dataset.value)"
    )
    return np.array([[float(x) for x in text.split()] for text in texts])


def products(plane):
    texts = plane.locator("[data-attn=product]").evaluate_all("ns => ns.map(n => n.dataset.value)")
    return np.array([float(text) for text in texts]).reshape(5, 6)


def error(plane):
    return float(plane.locator("[data-attn=error]").get_attribute("data-value"))


def check_products(plane):
    np.testing.assert_allclose(
        products(plane), points(plane, "user") @ points(plane, "film").T, atol=1e-9
    )


def state(plane):
    script = "n => n.closest('[data-anywidget]').querySelector('script[type=\"application/json\"]').textContent"
    return json.loads(plane.evaluate(script))


def test_they_open_with_the_right_products_and_error(maps):
    for plane in maps:
        np.testing.assert_allclose(points(plane, "user"), state(plane)["user_vectors"])
        check_products(plane)
    ratings = np.array(state(maps[1])["ratings"], dtype=float)
    wanted = np.sqrt(np.nanmean((products(maps[1]) - ratings) ** 2))
    assert error(maps[1]) == pytest.approx(wanted)
    assert np.isnan(ratings).sum() == 6
    assert maps[0].locator("[data-attn=error], [data-attn=steps]").count() == 0


def test_a_point_is_moved_by_the_arrows(maps, chapter):
    point = maps[0].locator("[data-attn=film-point]").nth(1)
    before = points(maps[0], "film")[1]
    point.focus()
    for key in ("ArrowRight", "ArrowUp", "Shift+ArrowLeft", "ArrowDown", "ArrowDown"):
        chapter.keyboard.press(key)
    np.testing.assert_allclose(points(maps[0], "film")[1], before + [-0.4, -0.1], atol=1e-9)
    check_products(maps[0])
    assert "1.10, 0.40" in point.get_attribute("aria-label")
    assert "Titanic (1.10, 0.40)" in maps[0].locator("[data-attn=chosen]").inner_text()


def test_a_point_is_dragged_and_stays_in_the_plane(maps, chapter):
    plane = maps[1].locator("[data-attn=plane]")
    plane.scroll_into_view_if_needed()
    box = plane.bounding_box()
    point = maps[1].locator("[data-attn=user-point]").nth(3).bounding_box()
    chapter.mouse.move(point["x"] + point["width"] / 2, point["y"] + point["height"] / 2)
    chapter.mouse.down()
    chapter.mouse.move(box["x"] + 0.75 * box["width"], box["y"] + 0.25 * box["height"], steps=5)
    np.testing.assert_allclose(points(maps[1], "user")[3], [1, 1], atol=0.02)
    check_products(maps[1])
    chapter.mouse.move(box["x"] + 3 * box["width"], box["y"] + 0.5 * box["height"], steps=3)
    chapter.mouse.up()
    np.testing.assert_allclose(points(maps[1], "user")[3], [2, 0], atol=0.02)
    chapter.mouse.move(box["x"], box["y"])
    np.testing.assert_allclose(points(maps[1], "user")[3], [2, 0], atol=0.02)


def test_descent_lowers_the_error_and_start_again_undoes_it(maps):
    first, start = error(maps[1]), points(maps[1], "film")
    maps[1].locator("[data-attn=step]").click()
    assert error(maps[1]) < first
    for _ in range(4):
        maps[1].locator("[data-attn=steps]").click()
    assert error(maps[1]) < 0.2
    check_products(maps[1])
    maps[1].locator("[data-attn=reset]").click()
    np.testing.assert_allclose(points(maps[1], "film"), start)
    assert error(maps[1]) == first


def test_turning_moves_every_point_and_no_product(maps):
    for plane in maps:
        before, where = products(plane), points(plane, "user")
        plane.locator("[data-attn=rotate]").click()
        np.testing.assert_allclose(products(plane), before, atol=1e-9)
        assert (np.abs(points(plane, "user") - where).max(axis=1) > 0.1).all()
    # The axes no longer mean what they did.
    assert maps[0].locator(".attn-map-axis:visible").count() == 0
    maps[0].locator("[data-attn=reset]").click()
    assert maps[0].locator(".attn-map-axis:visible").count() == 2


def test_the_border_separates_positive_from_negative(maps):
    maps[0].locator("[data-attn=user-point]").nth(0).focus()
    path = maps[0].locator("path.attn-map-border").get_attribute("d")
    x1, y1, x2, y2 = (float(x) for part in path[1:].split("L") for x in part.split())
    along = np.array([x2 - x1, y1 - y2])
    assert abs(along @ points(maps[0], "user")[0]) < 1e-6 * np.linalg.norm(along)


def test_the_keyboard_reaches_every_point_and_button(maps, chapter):
    maps[1].locator("[data-attn=user-point]").first.focus()
    reached = []
    for _ in range(15):
        reached.append(chapter.evaluate("document.activeElement.dataset.attn"))
        chapter.keyboard.press("Tab")
    assert reached == ["user-point"] * 5 + ["film-point"] * 6 + ["step", "steps", "rotate", "reset"]


def cells(words, kind):
    """Return the numbers of a column of the table of words, in the order of the rows that are shown."""
    shown = words.locator(f"tbody tr:not([hidden]) [data-attn={kind}]")
    return [float(cell.get_attribute("data-value")) for cell in shown.all()]


def test_words_are_compared_by_product_and_by_cosine_and_length_moves_only_the_product(chapter):
    chapter.reload()
    words = chapter.locator("[data-attn=map]").nth(0)
    words.wait_for()
    assert cells(words, "product") == [12, 15, 8]
    np.testing.assert_allclose(cells(words, "cosine"), [0.8, 0.6, 8 / 5 / 17**0.5])
    tops = words.locator("[data-top]").evaluate_all("ns => ns.map(n => n.dataset.attn)")
    assert tops == ["cosine", "product"]  # blue, by the angle; roses, by the product
    words.locator("[data-attn=user-point]").nth(1).focus()
    words.locator("[data-attn=double]").click()
    words.locator("[data-attn=user-point]").nth(0).focus()
    assert cells(words, "product") == [24, 15, 8]
    np.testing.assert_allclose(cells(words, "cosine")[0], 0.8)
    words.locator("[data-attn=rotate]").click()
    np.testing.assert_allclose(cells(words, "product"), [24, 15, 8])
    chapter.keyboard.press("Shift+Tab")
    words.locator("[data-attn=user-point]").nth(0).focus()
    chapter.keyboard.press("ArrowRight")
    assert cells(words, "product") != [24, 15, 8]
    assert "false" not in words.inner_text() and chapter.errors == []


def test_a_phone_shows_it_whole(browser, server):
    context = browser.new_context(viewport={"width": 390, "height": 844})
    page = context.new_page()
    page.goto(f"{server}/es/{CHAPTER}")
    page.locator("[data-attn=map]").nth(2).wait_for()
    for box in page.locator(".attn-map .attn-w-scroll").all():
        assert box.evaluate("b => b.scrollWidth - b.clientWidth") <= 1
    context.close()


def test_it_works_from_a_folder(browser, site):
    context = browser.new_context()
    page = context.new_page()
    page.goto((site / "en" / CHAPTER).as_uri())
    page.locator("[data-attn=map]").nth(2).wait_for()
    check_products(page.locator("[data-attn=map]").nth(1))
    context.close()
