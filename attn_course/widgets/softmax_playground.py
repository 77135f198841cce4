"""`SoftmaxPlayground`: scores in, weights out, and the temperature between them."""

import numpy as np
import traitlets

from attn import reference
from attn._checks import argument_error
from attn_course.widgets._base import Widget, check_labels, check_real, decimals, table
from attn_course.widgets._source import module, stylesheet

TEXT = {
    "es": {
        "caption": "Softmax de {count} puntajes. Temperatura: {temperature}. Entropía: {bits} bits de {most}.",
        "head": ["opción", "puntaje", "peso"],
    },
    "en": {
        "caption": "Softmax of {count} scores. Temperature: {temperature}. Entropy: {bits} of {most} bits.",
        "head": ["option", "score", "weight"],
    },
}


class SoftmaxPlayground(Widget):
    """Drag scores and temperature, and watch the weights, their entropy and a derivative.

    Parameters
    ----------
    scores : list of float
    labels : list of str, optional
        What each score stands for; by default s₁, s₂ and so on.
    temperature : float
        What the scores are divided by, above 0.
    language : {"es", "en"}, optional
        By default, the language in use.

    Attributes
    ----------
    weights : list of float
        ``softmax(scores / temperature)``. It, `scores` and `temperature` follow the
        reader's hand in JupyterLab.

    Raises
    ------
    ValueError
        If the arguments do not fit together.

    Examples
    --------
    >>> SoftmaxPlayground([1.0, 1.0]).weights
    [0.5, 0.5]
    """

    _stem = "softmax_playground"
    _state = ("scores", "labels", "temperature")
    _esm = module(_stem)
    _css = stylesheet()

    scores = traitlets.List(traitlets.Float()).tag(sync=True)
    labels = traitlets.List(traitlets.Unicode()).tag(sync=True)
    temperature = traitlets.Float(1.0).tag(sync=True)
    weights = traitlets.List().tag(sync=True)

    def __init__(self, scores, labels=None, temperature=1.0, language=None):
        scores = _check_scores(scores)
        if labels is None:
            labels = [f"s{str(i + 1).translate(_SUBSCRIPTS)}" for i in range(len(scores))]
        labels = check_labels("labels", labels)
        if len(labels) != len(scores):
            raise argument_error("labels", f"{len(scores)}, one per score", len(labels))
        temperature = check_real("temperature", temperature, above=0)
        super().__init__(language, scores=scores, labels=labels, temperature=temperature)
        self._share()

    @traitlets.validate("scores", "temperature")
    def _validate(self, proposal):
        name, value = proposal["trait"].name, proposal["value"]
        if name == "temperature":
            return check_real(name, value, above=0)
        if len(value) != len(self.labels):
            raise argument_error("scores", f"{len(self.labels)}, one per label", len(value))
        return _check_scores(value)

    @traitlets.observe("scores", "temperature")
    def _share(self, change=None):
        scores = np.array(self.scores) / self.temperature
        self.weights = reference.softmax(scores).tolist()

    def _fallback(self):
        text = TEXT[self.language]
        positive = [w for w in self.weights if w > 0]
        caption = text["caption"].format(
            count=len(self.scores),
            temperature=f"{self.temperature:.3g}",
            bits=decimals(-sum(w * np.log2(w) for w in positive)),
            most=decimals(np.log2(len(self.scores))),
        )
        rows = [
            [label, decimals(score), decimals(w, 3)]
            for label, score, w in zip(self.labels, self.scores, self.weights, strict=True)
        ]
        return table(caption, text["head"], rows)

    def __repr__(self):
        return f"SoftmaxPlayground({self.labels!r}, language={self.language!r})"


_SUBSCRIPTS = str.maketrans("0123456789", "₀₁₂₃₄₅₆₇₈₉")


def _check_scores(scores):
    scores = [check_real("scores", x) for x in np.asarray(scores, dtype=object).ravel()]
    if not scores:
        raise argument_error("scores", "one or more numbers", "none")
    return scores
