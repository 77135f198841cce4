"""`PatchAsker`: ask for something in a picture, and the weights go to the patches that hold it."""

from collections.abc import Mapping

import numpy as np
import traitlets

from attn import reference
from attn._checks import argument_error
from attn_course.widgets._base import (
    Widget,
    check_array,
    check_labels,
    check_real,
    check_whole,
    decimals,
    table,
)
from attn_course.widgets._source import module, stylesheet

TEXT = {
    "es": {
        "caption": "Lo que se pide: {asked}. Puntaje y peso de cada parche.",
        "head": ["parche", "puntaje", "peso"],
    },
    "en": {
        "caption": "What is asked for: {asked}. Score and weight of each patch.",
        "head": ["patch", "score", "weight"],
    },
}


class PatchAsker(Widget):
    """Choose a query and see which patches of a picture it weighs, and what their mean looks like.

    Parameters
    ----------
    patches : array_like, shape (n, size * size)
        The patches of a square picture, row by row, so n is a square. Each is key and value.
    queries : dict of str to array_like, shape (size * size,)
        What may be asked for, by the name that the reader sees.
    asked : int
        The position of the query to begin with.
    strength : float
        What the query is multiplied by, from 0 to 2.
    language : {"es", "en"}, optional
        By default, the language in use.

    Raises
    ------
    ValueError
        If the arguments do not fit together.

    Examples
    --------
    >>> asker = PatchAsker([[0.0], [1.0], [0.0], [0.0]], {"dark": [4.0]}, language="en")
    >>> [round(weight, 2) for weight in asker.weights]
    [0.02, 0.95, 0.02, 0.02]
    """

    _stem = "patch_asker"
    _state = ("patches", "labels", "queries", "asked", "strength")
    _esm = module(_stem)
    _css = stylesheet()

    patches = traitlets.List().tag(sync=True)
    labels = traitlets.List(traitlets.Unicode()).tag(sync=True)
    queries = traitlets.List().tag(sync=True)
    asked = traitlets.Int(0).tag(sync=True)
    strength = traitlets.Float(1.0).tag(sync=True)

    def __init__(self, patches, queries, asked=0, strength=1.0, *, language=None):
        patches = check_array("patches", patches, None, None).round(3)
        n, pixels = patches.shape
        if not all(round(size**0.5) ** 2 == size for size in (n, pixels)):
            raise argument_error("patches", "a square number of squares", f"shape {patches.shape}")
        if not isinstance(queries, Mapping):
            raise argument_error(
                "queries", "a dict of vectors by their names", type(queries).__name__
            )
        labels = check_labels("queries", queries)
        vectors = check_array("queries", [*queries.values()], len(labels), pixels).round(3)
        super().__init__(
            language,
            patches=patches.tolist(),
            labels=labels,
            queries=vectors.tolist(),
            asked=check_whole("asked", asked, 0, len(labels) - 1),
            strength=_check_strength(strength),
        )

    @traitlets.validate("asked", "strength")
    def _validate(self, proposal):
        name, value = proposal["trait"].name, proposal["value"]
        if name == "strength":
            return _check_strength(value)
        return check_whole(name, value, 0, len(self.labels) - 1)

    @property
    def scores(self):
        """The score of each patch for the current query."""
        return (self.strength * np.array(self.patches) @ self.queries[self.asked]).tolist()

    @property
    def weights(self):
        """The weight of each patch for the current query."""
        return reference.softmax(np.array(self.scores)).tolist()

    def _fallback(self):
        text = TEXT[self.language]
        rows = [
            [i + 1, decimals(score), decimals(weight)]
            for i, (score, weight) in enumerate(zip(self.scores, self.weights, strict=True))
        ]
        return table(text["caption"].format(asked=self.labels[self.asked]), text["head"], rows)

    def __repr__(self):
        return f"PatchAsker({self.labels!r}, language={self.language!r})"


def _check_strength(strength):
    strength = check_real("strength", strength)
    if not 0 <= strength <= 2:
        raise argument_error("strength", "a number from 0 to 2", strength)
    return strength
