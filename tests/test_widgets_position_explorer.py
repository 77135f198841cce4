"""`PositionExplorer` without a page: what it takes, refuses and shows on paper; its JavaScript."""

import json
import re

import numpy as np
import pytest

from attn import reference
from attn_course.widgets import PositionExplorer

LANGUAGES = ("es", "en")


SETTINGS = [(2, 10000.0), (4, 1.0), (16, 10000.0), (64, 37.5), (128, 100000.0)]


@pytest.mark.parametrize("d_model, base", SETTINGS)
def test_javascript_encodings_equal_the_reference(javascript, d_model, base):
    table = reference.sinusoidal_positions(120, d_model, base)
    got = javascript(
        "[...Array(120).keys()].map((p) => encode(p, input[0], input[1]))", [d_model, base]
    )
    np.testing.assert_allclose(got, table, rtol=0, atol=1e-12)
    cosines = javascript(
        "[...Array(120).keys()].map((k) => cosine(k, input[0], input[1]))", [d_model, base]
    )
    np.testing.assert_allclose(cosines, table @ table[0] / (d_model / 2), rtol=0, atol=1e-12)


@pytest.mark.parametrize("d_model, base", SETTINGS)
@pytest.mark.parametrize("position", [0, 7, 50, 99])
def test_the_twin_is_the_most_similar_of_the_distant_positions(javascript, d_model, base, position):
    table = reference.sinusoidal_positions(100, d_model, base)
    likeness = table @ table[position] / (d_model / 2)
    likeness[abs(np.arange(100) - position) <= 10] = -2
    got = javascript(f"twin({position}, 100, {d_model}, {base})")
    assert got["value"] == pytest.approx(likeness.max(), abs=1e-12)
    assert likeness[got["position"]] == pytest.approx(likeness.max(), abs=1e-12)


def test_there_may_be_no_twin_and_not_all_clocks_are_shown(javascript):
    assert javascript("twin(3, 11, 16, 10000)") is None
    assert javascript("shown(5)") == [0, 1, 2, 3, 4]
    some = javascript("shown(64)")
    assert len(some) == len(set(some)) == 8
    assert (some[0], some[-1]) == (0, 63) and some == sorted(some)


def test_its_numbers_are_those_of_the_reference_and_follow_its_settings():
    widget = PositionExplorer(50, d_model=8, base=100.0, position=4, shift=2)
    for d_model, base, position in ((8, 100.0, 4), (32, 1.0, 49)):
        widget.d_model, widget.base, widget.position = d_model, base, position
        table = reference.sinusoidal_positions(50, d_model, base)
        np.testing.assert_allclose(widget.encoding, table[position])
        lengths = np.linalg.norm(table, axis=1) * np.linalg.norm(table[position])
        np.testing.assert_allclose(widget.cosines, table @ table[position] / lengths)


@pytest.mark.parametrize("language", LANGUAGES)
def test_the_fallback_is_enough_by_itself(language):
    widget = PositionExplorer(50, d_model=4, position=3, shift=2, language=language)
    source = widget._fallback()
    table = reference.sinusoidal_positions(6, 4)
    assert f"{table[3] @ table[5] / 2:.2f}".replace("-", "−") in source
    cells = re.findall(r"<td>([−\d.]+)</td>", source)
    assert cells == ["6.3", "0.14", "−0.99", "628.3", "0.03", "1.00"]
    assert re.findall(r'scope="row">(.*?)<', source) == ["0", "1"]
    # The other position may lie beyond the table.
    widget.position = widget.shift = 49
    assert ("98" in widget._fallback()) and str(widget.n_positions) == "50"


def test_its_name_and_state():
    widget = PositionExplorer(language="en")
    assert repr(widget) == ("PositionExplorer(d_model=16, base=10000, position=3, language='en')")
    state = json.loads(re.search(r'json">(.*?)</script>', widget._html())[1])
    assert state == {
        "base": 10000.0,
        "d_model": 16,
        "language": "en",
        "n_positions": 100,
        "position": 3,
        "shift": 5,
    }


BAD = [
    ("n_positions", 1, "a whole number from 2 to 200, got 1"),
    ("n_positions", 201, "a whole number from 2 to 200"),
    ("d_model", 6, r"one of \(2, 4, 8, 16, 32, 64, 128\), got 6"),
    ("base", 0.5, "a number from 1 to 100000, got 0.5"),
    ("base", 2e5, "a number from 1 to 100000"),
    ("base", "10", "a finite number, got '10'"),
    ("position", 100, "a whole number from 0 to 99, got 100"),
    ("position", -1, "a whole number from 0 to 99"),
    ("shift", 100, "a whole number from 0 to 99"),
]


@pytest.mark.parametrize("name, value, message", BAD)
def test_invalid_constructor_arguments_are_refused(name, value, message):
    with pytest.raises(ValueError, match=f"{name}: expected {message}"):
        PositionExplorer(**{name: value})


@pytest.mark.parametrize(
    "name, value", [("d_model", 5), ("base", -1.0), ("position", 100), ("shift", -1)]
)
def test_invalid_settings_are_refused(name, value):
    widget = PositionExplorer()
    before = getattr(widget, name)
    with pytest.raises(ValueError, match=f"{name}: expected"):
        setattr(widget, name, value)
    assert getattr(widget, name) == before
