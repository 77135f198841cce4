"""`EmbeddingMap` without a page: its mathematics against NumPy, its HTML, what it refuses."""

import json
import re

import numpy as np
import pytest

from attn_course.exercises.chapters.ch02_3_rating_gradients import rating_gradients
from attn_course.widgets import EmbeddingMap
from tests.refusals import refusals

USERS = {"Ana": (1.0, -0.5), "Luis": (-0.5, 1.5)}
FILMS = {"Titanic": (1.5, 0.5), "Rocky": (0.5, 1.0), "Alien": (-1.0, 1.0)}
RATINGS = np.array([[1.0, np.nan, -1.5], [0.0, 1.0, np.nan]])


def vectors(points):
    return np.array(list(points.values()))


def plane(**options):
    return EmbeddingMap(USERS, FILMS, **{"ratings": RATINGS, **options})


def test_predictions_and_error_follow_the_points():
    widget = plane()
    wanted = vectors(USERS) @ vectors(FILMS).T
    np.testing.assert_allclose(widget.predictions, wanted)
    assert widget.error == pytest.approx(np.sqrt(np.nanmean((wanted - RATINGS) ** 2)))
    widget.user_vectors = [[0.0, 0.0], [2.0, 0.0]]
    np.testing.assert_allclose(widget.predictions, [[0, 0, 0], [3, 1, -2]])
    assert widget.error == pytest.approx(np.sqrt((1 + 1.5**2 + 3**2 + 0) / 4))


def test_without_ratings_there_is_no_error():
    widget = EmbeddingMap(USERS, FILMS)
    assert widget.error is None and widget.ratings is None
    assert "Error" not in widget._fallback() and "(" not in re.sub(
        "<caption.*caption>|usuario", "", widget._fallback()
    )


def test_words_are_compared_with_one_another():
    words = {"red": (4.0, 3.0), "blue": (3.0, 0.0), "none": (0.0, 0.0)}
    widget = EmbeddingMap(words, language="en")
    np.testing.assert_allclose(widget.predictions, vectors(words) @ vectors(words).T)
    cells = re.findall(r"<td>([^<]+)</td>", widget._fallback())
    assert cells[:3] == ["25.00 (1.00)", "12.00 (0.80)", "0.00 (0.00)"] and len(cells) == 9
    assert repr(widget) == "EmbeddingMap(['red', 'blue', 'none'], language='en')"
    widget.user_vectors = [[1.0, 0.0], [0.0, 2.0], [1.0, 1.0]]
    np.testing.assert_allclose(widget.predictions[1], [0, 4, 2])


def test_the_state_holds_what_the_page_needs():
    state = json.loads(re.search(r">({.*?})</script>", plane(axes=("a", "b"))._html())[1])
    assert state.keys() == {
        "user_names",
        "film_names",
        "user_vectors",
        "film_vectors",
        "ratings",
        "axes",
        "language",
    }
    assert state["ratings"] == [[1.0, None, -1.5], [0.0, 1.0, None]]
    assert state["user_vectors"] == vectors(USERS).tolist()


@pytest.mark.parametrize("language", ["es", "en"])
def test_the_fallback_is_a_table_with_products_and_ratings(language):
    source = plane(language=language)._fallback()
    cells = re.findall(r"<td>([^<]+)</td>", source)
    assert cells == [
        "1.25 (1.0)",
        "0.00 (?)",
        "−1.50 (−1.5)",
        "0.00 (0.0)",
        "1.25 (1.0)",
        "2.00 (?)",
    ]
    assert re.findall(r'scope="col">(.*?)<', source) == list(FILMS)
    assert re.findall(r'scope="row">(.*?)<', source) == list(USERS)
    assert "Error: 0.18" in source


def test_its_name():
    said = "EmbeddingMap(['Ana', 'Luis'], ['Titanic', 'Rocky', 'Alien'], language='en')"
    assert repr(plane(language="en")) == said


def test_no_name_breaks_out():
    source = EmbeddingMap({"</script><b>": (0, 0)}, {"</table>": (0, 0)})._html()
    assert source.count("</script>") == source.count("</table>") == 1 and "<b>" not in source


test_invalid_maps_are_refused = refusals(
    ({"users": {}}, "users: expected a list of one or more non-empty strings"),
    ({"users": {"": (0, 0)}}, "users: expected a list of one or more non-empty strings"),
    ({"films": {"a": (0, 0, 0)}}, r"films: expected shape \(any, 2\), got \(1, 3\)"),
    ({"users": {"a": (0, np.nan)}}, "users: expected a finite number, got nan"),
    ({"ratings": [[1.0]]}, r"ratings: expected shape \(2, 3\), one row per user, got \(1, 1\)"),
    ({"ratings": np.full((2, 3), np.nan)}, "ratings: expected finite numbers, NaN where"),
    ({"ratings": np.full((2, 3), np.inf)}, "ratings: expected finite numbers, NaN where"),
    ({"axes": ("a",)}, "axes: expected two names, or none"),
    ({"films": None}, "films: expected a vector for each column of the ratings, got none"),
    of=lambda bad: EmbeddingMap(**{"users": USERS, "films": FILMS, "ratings": RATINGS, **bad}),
)


@pytest.mark.parametrize("points", [[[0.0, 0.0]], [[0.0, 0.0, 0.0]] * 2, [[0.0, float("nan")]] * 2])
def test_invalid_changes_are_refused(points):
    widget = plane()
    with pytest.raises(ValueError, match="user_vectors: expected"):
        widget.user_vectors = points
    assert widget.user_vectors == vectors(USERS).tolist()


def test_javascript_agrees_with_numpy(node):
    rng = np.random.default_rng(0)
    users, films = rng.normal(size=(4, 2)), rng.normal(size=(5, 2))
    known = rng.random((4, 5)) < 0.6
    ratings = np.where(known, rng.normal(size=(4, 5)), np.nan)
    given = [[None if np.isnan(r) else r for r in row] for row in ratings.tolist()]
    got = node(
        """
        import { predict, rootMeanSquare, descend, turn } from "./embedding_map.mjs";
        const { users, films, ratings } = input;
        const predictions = predict(users, films);
        console.log(JSON.stringify({ predictions, ...rootMeanSquare(predictions, ratings),
          step: descend(users, films, ratings, 0.1), turned: turn(users, 30) }));
        """,
        {"users": users.tolist(), "films": films.tolist(), "ratings": given},
    )
    np.testing.assert_allclose(got["predictions"], users @ films.T, rtol=1e-12)
    assert got["error"] == pytest.approx(np.sqrt(np.nanmean((users @ films.T - ratings) ** 2)))
    assert got["count"] == known.sum()
    by_users, by_films = rating_gradients(ratings, known, users, films)
    np.testing.assert_allclose(got["step"]["users"], users - 0.1 * by_users, rtol=1e-12)
    np.testing.assert_allclose(got["step"]["films"], films - 0.1 * by_films, rtol=1e-12)
    c, s = np.cos(np.pi / 6), np.sin(np.pi / 6)
    np.testing.assert_allclose(got["turned"], users @ np.array([[c, s], [-s, c]]), rtol=1e-12)


def test_javascript_compares_words_as_numpy_does(node):
    got = node(
        """
        import { cosine, brief } from "./embedding_map.mjs";
        console.log(JSON.stringify([cosine([4, 3], [3, 0]), cosine([4, 3], [0, 0]),
          ...[12, -0.5, 10, 0.004, 1.25, 100].map(brief)]));
        """,
        None,
    )
    assert got == [pytest.approx(0.8), 0, "12", "−0.5", "10", "0", "1.25", "100"]


def test_the_arrow_points_at_the_vector_and_stops_short_of_it(node):
    for vector in ([30, -10], [-5, 20]):
        path = node(
            'import { arrowTo } from "./embedding_map.mjs"; console.log(JSON.stringify(arrowTo(...input)));',
            vector,
        )
        corners = np.array([part.split() for part in re.split("[ML]", path)[1:]], dtype=float) - 50
        length = np.linalg.norm(vector)
        np.testing.assert_allclose(corners[1], np.array(vector) * (1 - 4 / length), atol=0.01)
        # Both sides of the head lie behind its tip, one on each side of the vector.
        behind, aside = (
            (corners[[2, 4]] - corners[1]) @ np.array([vector, [-vector[1], vector[0]]]).T / length
        )
        np.testing.assert_allclose([behind[0], aside[0]], [-3, -3], atol=0.01)
        np.testing.assert_allclose([behind[1], aside[1]], [2, -2], atol=0.01)
    # On the point's own mark there is no room for an arrow.
    assert (
        node(
            'import { arrowTo } from "./embedding_map.mjs"; console.log(JSON.stringify(arrowTo(...input)));',
            [0, 0],
        )
        == ""
    )
