"""`MovingPair`: two words that move, and their score under each method of telling positions."""

import numpy as np
import traitlets

from attn._checks import argument_error
from attn_course.widgets._base import (
    Widget,
    check_array,
    check_flag,
    check_labels,
    check_whole,
    decimals,
    table,
)
from attn_course.widgets._source import module, stylesheet

TEXT = {
    "es": {
        "caption": "«{}» en {} pregunta, «{}» en {} responde: distancia {}.",
        "head": ["método", "puntaje"],
    },
    "en": {
        "caption": "“{}” at {} asks, “{}” at {} answers: distance {}.",
        "head": ["method", "score"],
    },
}


class MovingPair(Widget):
    """Move a query's word and a key's word, apart or together, and watch their scores.

    Parameters
    ----------
    words : sequence of str, length 2
        The word that asks and the word that answers.
    scores : dict of str to array_like, shape (n_positions, n_positions)
        For each method, the score of a query at the position of the row with a key at that of
        the column.
    places : sequence of int, length 2
        Where the two words stand at first. Scores are compared with those of these places.
    together : bool
        Whether the two words move together at first.
    language : {"es", "en"}, optional
        By default, the language in use.

    Attributes
    ----------
    places, together
        They follow the reader's hand in JupyterLab, and can also be set.

    Raises
    ------
    ValueError
        If the arguments do not fit together.

    Examples
    --------
    >>> pair = MovingPair(["b", "a"], {"none": [[2, 2], [2, 2]]}, (1, 0), language="en")
    >>> pair.places
    [1, 0]
    """

    _stem = "moving_pair"
    _state = ("words", "methods", "scores", "start", "places", "together")
    _esm = module(_stem)
    _css = stylesheet()

    words = traitlets.List(traitlets.Unicode()).tag(sync=True)
    methods = traitlets.List(traitlets.Unicode()).tag(sync=True)
    scores = traitlets.List().tag(sync=True)
    start = traitlets.List(traitlets.Int()).tag(sync=True)
    places = traitlets.List(traitlets.Int()).tag(sync=True)
    together = traitlets.Bool(True).tag(sync=True)

    def __init__(self, words, scores, places, together=True, language=None):
        words = check_labels("words", words)
        if len(words) != 2:
            raise argument_error("words", "two words", words)
        methods = check_labels("scores", scores)
        n_positions = len(np.asarray(scores[methods[0]], dtype=object))
        tables = [
            check_array(f"scores[{name!r}]", scores[name], n_positions, n_positions).tolist()
            for name in methods
        ]
        places = _check_places(places, n_positions)
        super().__init__(
            language,
            words=words,
            methods=methods,
            scores=tables,
            start=places,
            places=places,
            together=check_flag("together", together),
        )

    @traitlets.validate("places")
    def _validate(self, proposal):
        # The scores are not there yet while the constructor sets the traits.
        if not self.scores:
            return proposal["value"]
        return _check_places(proposal["value"], len(self.scores[0]))

    def _fallback(self):
        text, (asks, answers) = TEXT[self.language], self.places
        distance = f"{answers - asks:+d}".replace("-", "−") if answers != asks else "0"
        caption = text["caption"].format(self.words[0], asks, self.words[1], answers, distance)
        rows = [
            [name, decimals(scores[asks][answers])]
            for name, scores in zip(self.methods, self.scores, strict=True)
        ]
        return table(caption, text["head"], rows)

    def __repr__(self):
        return f"MovingPair({self.words!r}, places={self.places}, language={self.language!r})"


def _check_places(places, n_positions):
    if np.shape(places) != (2,):
        raise argument_error("places", "two positions", places)
    return [check_whole("places", place, 0, n_positions - 1) for place in places]
