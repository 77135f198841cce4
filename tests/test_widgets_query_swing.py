"""`QuerySwing` without a page: its numbers, its arguments, its fallback and its JavaScript."""

import json
import re

import numpy as np
import pytest

from attn import reference
from attn_course.widgets import QuerySwing
from tests.refusals import refusals

KEY, VALUE = [[2, 0], [-1, 2], [1, -1]], [[4, 0], [1, 4], [1, 0]]


def swing(**options):
    return QuerySwing(
        **{"labels": ["a", "b", "c"], "key": KEY, "query": [2, 1], "word": "c"} | options
    )


def test_weights_and_output_are_those_of_the_reference_and_follow_the_query():
    widget = swing(value=VALUE)
    for query in ([2.0, 1.0], [0.0, 0.0], [-3.0, 0.5]):
        widget.query = query
        output, weights = reference.scaled_dot_product_attention(
            np.array([query]), np.array(KEY), np.array(VALUE)
        )
        np.testing.assert_allclose(widget.weights, weights[0])
        np.testing.assert_allclose(widget.output, output[0])
    assert swing().output == []


def test_an_arrow_turns_the_query_and_keeps_its_length(javascript):
    around = [2.0, 1.0]
    for _ in range(3):
        around = javascript(f"swing({around}, 5, 0, 4)")
        assert np.hypot(*around) == pytest.approx(np.sqrt(5), abs=0.002)
    assert np.degrees(np.arctan2(*around[::-1])) == pytest.approx(26.565 + 15, abs=0.1)
    assert javascript("swing([3, 0], 0, 5, 4)") == [4, 0]
    assert javascript("swing([0, 1], 0, -0.5, 4)") == [0, 0.5]


def test_the_plane_has_room_for_every_vector(javascript):
    assert javascript("[reachOf([[0, 2], [-1, 1]]), reachOf([[0.5, -3.6]])]") == [3, 4]
    assert javascript("arrow([2, 0], 4)").startswith("M50 50L75.00 50.00")
    assert javascript("arrow([0, 0], 4)") == ""


@pytest.mark.parametrize("language", ["es", "en"])
def test_the_fallback_is_enough_by_itself(language):
    shown = swing(value=VALUE, language=language)._fallback()
    assert re.findall(r'scope="row">(.*?)<', shown) == ["a", "b", "c"]
    cells = re.findall(r"<td>(.*?)</td>", shown)
    assert cells[:3] == ["(2.00, 0.00)", "4.00", "0.85"] and cells[4] == "0.00"
    assert "(2.00, 1.00)" in shown and "(3.54, 0.20)" in shown
    assert "3.54" not in swing(language=language)._fallback()


def test_its_name_and_state():
    widget = swing(language="en")
    assert repr(widget) == "QuerySwing(['a', 'b', 'c'], word='c', language='en')"
    state = json.loads(re.search(r'json">(.*?)</script>', widget._html())[1])
    assert state == {"labels": ["a", "b", "c"], "key": KEY, "value": [], "query": [2, 1]} | {
        "word": "c",
        "language": "en",
    }


test_invalid_constructor_arguments_are_refused = refusals(
    ({"labels": []}, "labels: expected a list of one or more"),
    ({"key": [[1, 2]]}, r"key: expected shape \(3, 2\), got \(1, 2\)"),
    ({"value": [1, 2]}, r"value: expected shape \(3, 2\), got \(2,\)"),
    ({"query": [1]}, r"query: expected shape \(2,\), got \(1,\)"),
    ({"query": [1, np.inf]}, "query: expected a finite number, got inf"),
    ({"key": [[1, 2], [3], [4, 5]]}, r"key: expected shape \(3, 2\), got \(3,\)"),
    ({"key": [["x", 2], [3, 4], [5, 6]]}, "key: expected a finite number, got 'x'"),
    ({"word": ""}, "word: expected"),
    of=lambda options: swing(**options),
)


def test_a_query_of_another_shape_cannot_be_set():
    widget = swing()
    with pytest.raises(ValueError, match="query: expected shape"):
        widget.query = [1.0, 2.0, 3.0]
