"""`SoftmaxPlayground`: logits in, probabilities out, and the temperature between them."""

import numpy as np
import traitlets

from attn import reference
from attn._checks import wrong
from attn.widgets._base import Widget, check_labels, check_real, decimals, table
from attn.widgets._source import module, stylesheet

TEXT = {
    "es": {
        "caption": "Softmax de {count} logits. Temperatura: {temperature}. Entropía: {bits} bits de {most}.",
        "head": ["opción", "logit", "probabilidad"],
    },
    "en": {
        "caption": "Softmax of {count} logits. Temperature: {temperature}. Entropy: {bits} of {most} bits.",
        "head": ["option", "logit", "probability"],
    },
}


class SoftmaxPlayground(Widget):
    """Drag logits and temperature, and watch probabilities, entropy and gradient.

    Parameters
    ----------
    logits : list of float
    labels : list of str, optional
        What each logit stands for; by default z₁, z₂ and so on.
    temperature : float
        What the logits are divided by, above 0.
    language : {"es", "en"}, optional
        By default, the language in use.

    Attributes
    ----------
    probabilities : list of float
        ``softmax(logits / temperature)``. It, `logits` and `temperature` follow the
        reader's hand in JupyterLab.

    Raises
    ------
    ValueError
        If the arguments do not fit together.

    Examples
    --------
    >>> SoftmaxPlayground([1.0, 1.0]).probabilities
    [0.5, 0.5]
    """

    _stem = "softmax_playground"
    _state = ("logits", "labels", "temperature")
    _esm = module(_stem)
    _css = stylesheet()

    logits = traitlets.List(traitlets.Float()).tag(sync=True)
    labels = traitlets.List(traitlets.Unicode()).tag(sync=True)
    temperature = traitlets.Float(1.0).tag(sync=True)
    probabilities = traitlets.List().tag(sync=True)

    def __init__(self, logits, labels=None, temperature=1.0, language=None):
        logits = _check_logits(logits)
        if labels is None:
            labels = [f"z{str(i + 1).translate(_SUBSCRIPTS)}" for i in range(len(logits))]
        labels = check_labels("labels", labels)
        if len(labels) != len(logits):
            raise wrong("labels", f"{len(logits)}, one per logit", len(labels))
        temperature = check_real("temperature", temperature, above=0)
        super().__init__(language, logits=logits, labels=labels, temperature=temperature)
        self._share()

    @traitlets.validate("logits", "temperature")
    def _validate(self, proposal):
        name, value = proposal["trait"].name, proposal["value"]
        if name == "temperature":
            return check_real(name, value, above=0)
        if len(value) != len(self.labels):
            raise wrong("logits", f"{len(self.labels)}, one per label", len(value))
        return _check_logits(value)

    @traitlets.observe("logits", "temperature")
    def _share(self, change=None):
        scores = np.array(self.logits) / self.temperature
        self.probabilities = reference.softmax(scores).tolist()

    def _fallback(self):
        text = TEXT[self.language]
        positive = [p for p in self.probabilities if p > 0]
        caption = text["caption"].format(
            count=len(self.logits),
            temperature=f"{self.temperature:.3g}",
            bits=decimals(-sum(p * np.log2(p) for p in positive)),
            most=decimals(np.log2(len(self.logits))),
        )
        rows = [
            [label, decimals(logit, 1), decimals(p, 3)]
            for label, logit, p in zip(self.labels, self.logits, self.probabilities, strict=True)
        ]
        return table(caption, text["head"], rows)

    def __repr__(self):
        return f"SoftmaxPlayground({self.labels!r}, language={self.language!r})"


_SUBSCRIPTS = str.maketrans("0123456789", "₀₁₂₃₄₅₆₇₈₉")


def _check_logits(logits):
    logits = [check_real("logits", x) for x in np.asarray(logits, dtype=object).ravel()]
    if not logits:
        raise wrong("logits", "one or more numbers", "none")
    return logits
