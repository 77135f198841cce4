"""`SamplingExplorer`: the next word of a real translation, and what sampling leaves of it."""

import numpy as np
import traitlets

from attn import reference
from attn._checks import argument_error
from attn_course.widgets._base import Widget, check_labels, check_real, check_whole, decimals, table
from attn_course.widgets._source import module, stylesheet

# The number of words with a row of their own. The others share one.
SHOWN = 9
TEXT = {
    "es": {
        "caption": "«{source}», después de «{written}». Probabilidad de cada palabra según el "
        "modelo, y la de muestrearla con temperatura {temperature}, top-k {k} y top-p {p}.",
        "start": "el principio",
        "all": "entero",
        "head": ["palabra", "modelo", "muestreo"],
        "rest": "las otras {count}",
    },
    "en": {
        "caption": "“{source}”, after “{written}”. Probability of each word in the model, and of "
        "sampling it at temperature {temperature}, top-k {k} and top-p {p}.",
        "start": "the start",
        "all": "whole",
        "head": ["word", "model", "sampling"],
        "rest": "the other {count}",
    },
}


class SamplingExplorer(Widget):
    """Move temperature, top-k and top-p; watch which words remain; draw some.

    Parameters
    ----------
    tokens : list of str
        The vocabulary.
    contexts : sequence of (str, str, sequence of float)
        Beginnings of translations: the source, what is written so far (it may be empty), and
        the logit of each token to come next.
    context : int, default 0
        The one to begin with.
    temperature : float, default 1.0
        Above 0.
    top_k : int, optional
        How many tokens to keep; by default all of them.
    top_p : float, default 1.0
        How much probability to keep, above 0 and at most 1.
    language : {"es", "en"}, optional
        By default, the language in use.

    Attributes
    ----------
    probabilities : list of float
        Of drawing each token. They, and the settings, follow the reader's hand in JupyterLab.

    Raises
    ------
    ValueError
        If the arguments do not fit together.

    Examples
    --------
    >>> explorer = SamplingExplorer(["a", "b", "c"], [("x", "", [0.0, 0.0, -9.0])], top_k=2)
    >>> explorer.probabilities
    [0.5, 0.5, 0.0]
    """

    _stem = "sampling_explorer"
    _state = ("tokens", "contexts", "context", "temperature", "top_k", "top_p")
    _esm = module(_stem)
    _css = stylesheet()

    tokens = traitlets.List(traitlets.Unicode()).tag(sync=True)
    contexts = traitlets.List(traitlets.Dict()).tag(sync=True)
    context = traitlets.Int(0).tag(sync=True)
    temperature = traitlets.Float(1.0).tag(sync=True)
    top_k = traitlets.Int().tag(sync=True)
    top_p = traitlets.Float(1.0).tag(sync=True)
    probabilities = traitlets.List().tag(sync=True)

    def __init__(
        self, tokens, contexts, *, context=0, temperature=1.0, top_k=None, top_p=1.0, language=None
    ):
        tokens = check_labels("tokens", tokens)
        contexts = [_context(f"contexts[{i}]", len(tokens), *c) for i, c in enumerate(contexts)]
        if not contexts:
            raise argument_error("contexts", "at least one", "none")
        top_k = len(tokens) if top_k is None else top_k
        super().__init__(
            language,
            tokens=tokens,
            contexts=contexts,
            context=check_whole("context", context, 0, len(contexts) - 1),
            temperature=check_real("temperature", temperature, above=0),
            top_k=check_whole("top_k", top_k, 1, len(tokens)),
            top_p=_check_share(top_p),
        )
        self._share()

    @traitlets.validate("context", "temperature", "top_k", "top_p")
    def _validate(self, proposal):
        name, value = proposal["trait"].name, proposal["value"]
        if name == "temperature":
            return check_real(name, value, above=0)
        if name == "top_p":
            return _check_share(value)
        most = len(self.tokens) if name == "top_k" else len(self.contexts) - 1
        return check_whole(name, value, int(name == "top_k"), most)

    @traitlets.observe("context", "temperature", "top_k", "top_p")
    def _share(self, change=None):
        logits = np.array(self.contexts[self.context]["logits"]) / self.temperature
        logits[np.argsort(-logits, kind="stable")[self.top_k :]] = -np.inf
        self.probabilities = reference.top_p_filter(logits, self.top_p).tolist()

    def _fallback(self):
        text, context = TEXT[self.language], self.contexts[self.context]
        model = reference.softmax(context["logits"])
        draw = np.array(self.probabilities)
        order = np.argsort(-model, kind="stable")
        rows = [
            [self.tokens[i], decimals(model[i], 3), decimals(draw[i], 3)] for i in order[:SHOWN]
        ]
        if rest := order[SHOWN:].tolist():
            shares = (decimals(p[rest].sum(), 3) for p in (model, draw))
            rows.append([text["rest"].format(count=len(rest)), *shares])
        caption = text["caption"].format(
            source=context["source"],
            written=context["written"] or text["start"],
            temperature=f"{self.temperature:.3g}",
            k=text["all"] if self.top_k == len(self.tokens) else self.top_k,
            p=f"{self.top_p:.3g}",
        )
        return table(caption, text["head"], rows)

    def __repr__(self):
        sources = [context["source"] for context in self.contexts]
        return f"SamplingExplorer({sources!r}, language={self.language!r})"


def _context(name, n_tokens, source, written, logits):
    for side, words in (("source", source), ("written", written)):
        if not isinstance(words, str) or (side == "source" and not words.strip()):
            raise argument_error(f"{name}.{side}", "a sentence", repr(words))
    logits = [check_real(f"{name}.logits", x) for x in np.asarray(logits, dtype=object).ravel()]
    if len(logits) != n_tokens:
        raise argument_error(f"{name}.logits", f"{n_tokens}, one per token", len(logits))
    return {"source": source, "written": written, "logits": logits}


def _check_share(p):
    if check_real("top_p", p, above=0) > 1:
        raise argument_error("top_p", "a number above 0 and at most 1", p)
    return float(p)
