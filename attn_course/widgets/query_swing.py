"""`QuerySwing`: a query that turns among the keys, and the weights that follow it."""

import numpy as np
import traitlets

from attn import reference
from attn_course.widgets._base import Widget, check_array, check_labels, decimals, table
from attn_course.widgets._source import module, stylesheet

TEXT = {
    "es": {
        "caption": "La query de «{word}» es ({query}). Pesos con la escala √2.",
        "output": "La query de «{word}» es ({query}). Pesos con la escala √2; salida ({output}).",
        "head": ["key", "vector", "q · k", "peso"],
    },
    "en": {
        "caption": "The query of “{word}” is ({query}). Weights with the scale √2.",
        "output": "The query of “{word}” is ({query}). Weights with the scale √2; output ({output}).",
        "head": ["key", "vector", "q · k", "weight"],
    },
}


class QuerySwing(Widget):
    """Turn a query among keys of two components, and watch where its weight goes.

    Parameters
    ----------
    labels : list of str
        The words that may answer.
    key : array_like, shape (n, 2)
    query : array_like, shape (2,)
        Where the query points at first.
    word : str
        The word that asks.
    value : array_like, shape (n, 2), optional
        What the words hand over. With values there is a second plane, in which the output moves.
    language : {"es", "en"}, optional
        By default, the language in use.

    Attributes
    ----------
    weights : list of float
        ``softmax(key @ query / sqrt(2))``. They and `query` follow the reader's hand in
        JupyterLab, and `query` can also be set.
    output : list of float
        The weighted mean of the values; empty without values.

    Raises
    ------
    ValueError
        If the arguments do not fit together.

    Examples
    --------
    >>> swing = QuerySwing(["a", "b"], [[1, 0], [0, 1]], [1, 1], "c", value=[[2, 0], [0, 4]])
    >>> swing.weights, swing.output
    ([0.5, 0.5], [1.0, 2.0])
    """

    _stem = "query_swing"
    _state = ("labels", "key", "value", "query", "word")
    _esm = module(_stem)
    _css = stylesheet()

    labels = traitlets.List(traitlets.Unicode()).tag(sync=True)
    key = traitlets.List(traitlets.List(traitlets.Float())).tag(sync=True)
    value = traitlets.List(traitlets.List(traitlets.Float())).tag(sync=True)
    query = traitlets.List(traitlets.Float()).tag(sync=True)
    word = traitlets.Unicode().tag(sync=True)
    weights = traitlets.List().tag(sync=True)
    output = traitlets.List().tag(sync=True)

    def __init__(self, labels, key, query, word, value=None, language=None):
        labels = check_labels("labels", labels)
        key = check_array("key", key, len(labels), 2).tolist()
        value = [] if value is None else check_array("value", value, len(labels), 2).tolist()
        query = check_array("query", query, 2).tolist()
        (word,) = check_labels("word", word)
        super().__init__(language, labels=labels, key=key, value=value, query=query, word=word)
        self._attend()

    @traitlets.validate("query")
    def _validate(self, proposal):
        return check_array("query", proposal["value"], 2).tolist()

    @traitlets.observe("query")
    def _attend(self, change=None):
        # The keys are not there yet while the constructor sets the traits.
        if not self.key:
            return
        weights = reference.softmax(np.array(self.key) @ np.array(self.query) / np.sqrt(2))
        self.weights = weights.tolist()
        self.output = (weights @ np.array(self.value)).tolist() if self.value else []

    def _fallback(self):
        text = TEXT[self.language]
        caption = text["output" if self.value else "caption"].format(
            word=self.word, query=_pair(self.query), output=_pair(self.output)
        )
        products = np.array(self.key) @ np.array(self.query)
        rows = [
            [label, f"({_pair(key)})", decimals(product), decimals(weight)]
            for label, key, product, weight in zip(
                self.labels, self.key, products, self.weights, strict=True
            )
        ]
        return table(caption, text["head"], rows)

    def __repr__(self):
        return f"QuerySwing({self.labels!r}, word={self.word!r}, language={self.language!r})"


def _pair(vector):
    return ", ".join(map(decimals, vector))
