"""The chapter on positions: its explorer driven by hand and keyboard, its numbers against NumPy."""

import numpy as np
import pytest
from playwright.sync_api import expect

from attn import reference
from tests.test_site.conftest import each_edition

PAGE = "07_positional_encoding.html"

chapter = each_edition(PAGE)


@pytest.fixture
def explorer(chapter):
    """The widget as it is when the page is opened."""
    chapter.reload()
    found = chapter.locator("[data-attn=positions]")
    found.wait_for()
    assert found.count() == 1
    return found


def drag(explorer, name, value):
    """Set a slider as a hand would: to a place, with an event."""
    explorer.locator(f"input[data-attn={name}]").evaluate(
        "(input, value) => { input.value = value; input.dispatchEvent(new Event('input')); }", value
    )


def numbers(locator, attribute):
    return np.array([float(x) for x in locator.get_attribute(attribute).split()])


def angles(explorer):
    found = explorer.locator("[data-attn=clock]").evaluate_all("ns => ns.map(n => n.dataset.angle)")
    return np.array(found, dtype=float)


def curve(explorer):
    return numbers(explorer.locator("[data-attn=curve]"), "data-values")


def expected(position, d_model=16, base=10_000):
    table = reference.sinusoidal_positions(100, d_model, base)
    return table @ table[position] / (d_model / 2)


def test_it_opens_at_position_three(explorer):
    np.testing.assert_allclose(angles(explorer), 3 / 10_000 ** (np.arange(0, 16, 2) / 16))
    np.testing.assert_allclose(curve(explorer), expected(3), atol=1e-12)
    likeness = f"{expected(3)[8]:.2f}"
    assert likeness in explorer.locator("[data-attn=summary]").inner_text()


def test_position_and_shift_by_keyboard(explorer, chapter):
    explorer.locator("input[data-attn=position]").focus()
    for _ in range(4):
        chapter.keyboard.press("ArrowRight")
    explorer.locator("input[data-attn=shift]").focus()
    chapter.keyboard.press("ArrowLeft")
    np.testing.assert_allclose(curve(explorer), expected(7), atol=1e-12)
    words = explorer.locator("[data-attn=summary]").inner_text()
    assert f"{expected(7)[11]:.2f}" in words and "11" in words
    slider = explorer.locator("input[data-attn=shift]")
    assert slider.get_attribute("aria-valuetext") == "+4"


def test_with_base_one_position_44_looks_like_0(explorer):
    drag(explorer, "position", 0)
    drag(explorer, "base", 0)
    np.testing.assert_allclose(curve(explorer), expected(0, base=1), atol=1e-12)
    words = explorer.locator("[data-attn=summary]").inner_text()
    assert "44" in words and "1.00" in words
    assert np.ptp(angles(explorer)) == 0


def test_the_width_sets_the_clocks_and_the_table(explorer):
    heat = explorer.locator("[data-attn=heat]")
    for power, clocks in ((1, 1), (3, 4), (5, 8), (7, 8)):
        drag(explorer, "d_model", power)
        assert explorer.locator("[data-attn=clock]").count() == clocks
        assert heat.evaluate("c => [c.width, c.height]") == [2**power, 100]
        np.testing.assert_allclose(curve(explorer), expected(3, d_model=2**power), atol=1e-12)
    pairs = explorer.locator("[data-attn=clock]").evaluate_all("ns => ns.map(n => n.dataset.pair)")
    assert (pairs[0], pairs[-1]) == ("0", "63")


def test_the_table_is_blue_where_positive_and_orange_where_negative(explorer):
    script = "(c, [x, y]) => [...c.getContext('2d').getImageData(x, y, 1, 1).data]"
    pixel = lambda x, y: explorer.locator("[data-attn=heat]").evaluate(script, [x, y])
    table = reference.sinusoidal_positions(100, 16)
    for x, y in ((0, 0), (1, 0), (1, 3), (0, 2), (5, 60)):
        red, _, blue, opacity = pixel(x, y)
        assert opacity == 255
        if abs(table[y, x]) > 0.3:
            assert (blue > red) == (table[y, x] > 0)
    assert pixel(0, 0)[:3] == [255, 255, 255]  # a sine of zero is the ground


def test_the_table_changes_with_the_scheme(explorer, chapter):
    read = "c => [...c.getContext('2d').getImageData(0, 0, 1, 1).data]"
    heat = explorer.locator("[data-attn=heat]")
    light = heat.evaluate(read)
    chapter.evaluate("document.documentElement.dataset.theme = 'dark'")
    chapter.wait_for_function(
        f"([canvas, most]) => ({read})(canvas).slice(0, 3).reduce((a, b) => a + b) < most",
        arg=[heat.element_handle(), sum(light[:3]) / 3],
    )
    chapter.evaluate("document.documentElement.dataset.theme = 'light'")


def test_a_row_beyond_the_table_has_no_mark_and_is_said_to_be_outside(explorer, chapter):
    mark = explorer.locator("[data-attn=mark-there]")
    assert mark.is_visible()
    drag(explorer, "position", 99)
    assert not mark.is_visible()
    assert explorer.locator("[data-attn=mark-here]").is_visible()
    summary = explorer.locator("[data-attn=summary]")
    assert {"es": "La 104 queda fuera", "en": "104 is outside"}[chapter.language] in (
        summary.inner_text()
    )
    drag(explorer, "position", 94)
    assert mark.is_visible()
    assert {"es": "fuera", "en": "outside"}[chapter.language] not in summary.inner_text()


def test_the_shift_turns_each_clock_alike_wherever_the_position_is(explorer):
    """Between the two hands there is the same angle at every position."""
    script = """ns => ns.map(n => {
      const tip = name => n.querySelector(`[data-attn=hand-${name}]`).getAttribute('d').match(/-?[\\d.]+/g).slice(2);
      const [here, there] = ['here', 'there'].map(tip).map(([x, y]) => Math.atan2(x, -y));
      return (there - here + 4 * Math.PI) % (2 * Math.PI);
    })"""
    turns = []
    for position in (3, 40, 77):
        drag(explorer, "position", position)
        turns.append(explorer.locator("[data-attn=clock]").evaluate_all(script))
    np.testing.assert_allclose(turns[0], turns[1], atol=2e-3)
    np.testing.assert_allclose(turns[0], turns[2], atol=2e-3)
    first = 5 / 10_000 ** (np.arange(0, 16, 2) / 16)
    np.testing.assert_allclose(turns[0], first, atol=2e-3)


def test_what_is_announced_waits_for_the_hand_to_rest(explorer, chapter):
    drag(explorer, "position", 20)
    summary = explorer.locator("[data-attn=summary]").text_content()
    expect(explorer.locator("[data-attn=status]")).to_have_text(summary)
    assert "20" in summary


def test_it_works_from_a_file(browser, site):
    context = browser.new_context(viewport={"width": 390, "height": 844})
    page = context.new_page()
    errors = []
    page.on("pageerror", lambda error: errors.append(str(error)))
    page.goto((site / "es" / PAGE).as_uri())
    explorer = page.locator("[data-attn=positions]")
    explorer.wait_for()
    np.testing.assert_allclose(curve(explorer), expected(3), atol=1e-12)
    assert page.evaluate("document.documentElement.scrollWidth - innerWidth") <= 0
    assert errors == []
    context.close()


def test_two_words_move_and_each_score_follows(chapter):
    chapter.reload()
    pair = chapter.locator("[data-attn=pair]")
    asks, answers, together = (
        pair.locator(f"[data-attn={name}]") for name in ("asks", "answers", "together")
    )

    def seen():
        cells = pair.locator("[data-attn=score]").evaluate_all("ns => ns.map(n => n.dataset.value)")
        kept = {"es": "igual", "en": "same"}[chapter.language]
        changes = pair.locator("[data-attn=change]").all_inner_texts()
        return np.array(cells, dtype=float), [text == kept for text in changes]

    def turned(d):
        """The score of the key (1, 1), `d` places of 30° from the query (2, 0)."""
        return 2 * (np.cos(np.pi * d / 6) - np.sin(np.pi * d / 6))

    (none, _, _, rotary, alibi, _), same = seen()
    np.testing.assert_allclose([none, rotary, alibi], [2, turned(-1), 1.5], atol=1e-5)
    assert all(same)
    # Together the words keep their distance, so only where a place counts by itself does it change.
    asks.focus()
    chapter.keyboard.press("ArrowRight")
    assert [asks.input_value(), answers.input_value()] == ["2", "1"]
    assert seen()[1] == [True, False, False, True, True, True]
    # Alone, the noun passes the verb: ALiBi does not notice, rotary positions do.
    together.focus()
    chapter.keyboard.press("Space")
    answers.focus()
    for _ in range(2):
        chapter.keyboard.press("ArrowRight")
    assert [asks.input_value(), answers.input_value()] == ["2", "3"]
    (none, _, _, rotary, alibi, _), same = seen()
    np.testing.assert_allclose([none, rotary, alibi], [2, turned(1), 1.5], atol=1e-5)
    assert same[0] and not same[3] and same[4]
    assert "+1" in pair.locator("[data-attn=summary]").inner_text()
