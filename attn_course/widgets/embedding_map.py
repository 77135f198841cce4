"""`EmbeddingMap`: words, or users and films, as points of a plane, and their dot products."""

import numpy as np
import traitlets

from attn._checks import argument_error
from attn.reference import cosine_similarity
from attn_course.widgets._base import Widget, check_array, check_labels, decimals, table
from attn_course.widgets._source import module, stylesheet

TEXT = {
    "es": {
        "caption": "Producto punto de cada usuario (fila) con cada película (columna); entre "
        "paréntesis, la valoración dada. Error: {}.",
        "bare": "Producto punto de cada usuario (fila) con cada película (columna).",
        "words": "Producto punto de cada dos palabras; entre paréntesis, su coseno.",
    },
    "en": {
        "caption": "Dot product of each user (row) with each film (column); in brackets, the "
        "rating given. Error: {}.",
        "bare": "Dot product of each user (row) with each film (column).",
        "words": "Dot product of every two words; in brackets, their cosine.",
    },
}


class EmbeddingMap(Widget):
    """Drag points over a plane, and watch their dot products and the error.

    Parameters
    ----------
    users : dict of str to (float, float)
        The vector of each, by name.
    films : dict of str to (float, float), optional
        Without them the points are words, and each is compared with all the others by its dot
        product and by its cosine.
    ratings : array_like, shape (n_users, n_films), optional
        What users said of films, NaN where they said nothing. Without it there is no error,
        and nothing to descend.
    axes : (str, str), optional
        What the two components stand for, if anything.
    language : {"es", "en"}, optional
        By default, the language in use.

    Attributes
    ----------
    user_vectors, film_vectors : list of list of float
        Where the points are. They follow the reader's hand in JupyterLab, and can be set.
    predictions : list of list of float, shape (n_users, n_films)
        The dot products; of words, those of every two.
    error : float or None
        The root of the mean squared difference from the ratings that there are.

    Raises
    ------
    ValueError
        If the arguments do not fit together.

    Examples
    --------
    >>> plane = EmbeddingMap({"Ana": [1, 0]}, {"Titanic": [2, 1]}, ratings=[[1.5]])
    >>> plane.predictions, plane.error
    ([[2.0]], 0.5)
    >>> EmbeddingMap({"red": [4, 3], "blue": [3, 0]}).predictions
    [[25.0, 12.0], [12.0, 9.0]]
    """

    _stem = "embedding_map"
    _state = ("user_names", "film_names", "user_vectors", "film_vectors", "ratings", "axes")
    _esm = module(_stem)
    _css = stylesheet()

    user_names = traitlets.List(traitlets.Unicode()).tag(sync=True)
    film_names = traitlets.List(traitlets.Unicode()).tag(sync=True)
    user_vectors = traitlets.List(traitlets.List(traitlets.Float())).tag(sync=True)
    film_vectors = traitlets.List(traitlets.List(traitlets.Float())).tag(sync=True)
    ratings = traitlets.List(traitlets.List(), allow_none=True, default_value=None).tag(sync=True)
    axes = traitlets.List(traitlets.Unicode()).tag(sync=True)
    predictions = traitlets.List().tag(sync=True)
    error = traitlets.Float(None, allow_none=True).tag(sync=True)

    def __init__(self, users, films=None, ratings=None, axes=(), language=None):
        names, vectors = [], []
        for name, group in (("users", users), ("films", films)):
            given = group is not None
            names.append(check_labels(name, group) if given else [])
            vectors.append(check_array(name, [*group.values()], None, 2).tolist() if given else [])
        if films is None and ratings is not None:
            raise argument_error("films", "a vector for each column of the ratings", "none")
        if ratings is not None:
            ratings = _check_ratings(ratings, (len(users), len(films)))
        if len(axes) not in (0, 2):
            raise argument_error("axes", "two names, or none", repr(axes))
        super().__init__(
            language,
            user_names=names[0],
            film_names=names[1],
            user_vectors=vectors[0],
            film_vectors=vectors[1],
            ratings=ratings,
            axes=list(axes),
        )
        self._predict()

    @traitlets.validate("user_vectors", "film_vectors")
    def _validate(self, proposal):
        name, value = proposal["trait"].name, proposal["value"]
        if name == "film_vectors" and not self.film_names and not value:
            return value
        points = check_array(name, value, None, 2).tolist()
        names = self.user_names if name == "user_vectors" else self.film_names
        if len(points) != len(names):
            raise argument_error(name, f"{len(names)} points, one per name", len(points))
        return points

    @traitlets.observe("user_vectors", "film_vectors")
    def _predict(self, change=None):
        others = self.film_vectors if self.film_names else self.user_vectors
        # There is nothing to multiply before the constructor has set both.
        if not (self.user_vectors and others):
            return
        predictions = np.array(self.user_vectors) @ np.array(others).T
        self.predictions = predictions.tolist()
        if self.ratings is not None:
            errors = predictions - np.array(self.ratings, dtype=float)
            self.error = float(np.sqrt(np.nanmean(errors**2)))

    def _fallback(self):
        text = TEXT[self.language]
        if not self.film_names:
            cosines = cosine_similarity(np.array(self.user_vectors), np.array(self.user_vectors))
            rows = [
                [name, *(f"{decimals(p)} ({decimals(c)})" for p, c in zip(line, own, strict=True))]
                for name, line, own in zip(self.user_names, self.predictions, cosines, strict=True)
            ]
            return table(text["words"], ["", *self.user_names], rows)
        given = self.ratings or [[None] * len(self.film_names)] * len(self.user_names)
        rows = [
            [name, *(_cell(p, r, self.ratings) for p, r in zip(line, said, strict=True))]
            for name, line, said in zip(self.user_names, self.predictions, given, strict=True)
        ]
        caption = text["bare"] if self.error is None else text["caption"]
        caption = caption.format("" if self.error is None else decimals(self.error))
        return table(caption, ["", *self.film_names], rows)

    def __repr__(self):
        names = [self.user_names, *([self.film_names] if self.film_names else [])]
        return f"EmbeddingMap({', '.join(map(str, names))}, language={self.language!r})"


def _cell(prediction, rating, ratings):
    if ratings is None:
        return decimals(prediction)
    return f"{decimals(prediction)} ({'?' if rating is None else decimals(rating, 1)})"


def _check_ratings(ratings, shape):
    ratings = np.asarray(ratings, dtype=float)
    if ratings.shape != shape:
        raise argument_error("ratings", f"shape {shape}, one row per user", ratings.shape)
    if not np.isfinite(ratings).any() or np.isinf(ratings).any():
        raise argument_error(
            "ratings", "finite numbers, NaN where there is none", "none or infinite ones"
        )
    return [[None if np.isnan(r) else r for r in row] for row in ratings.tolist()]
