"""`AttentionExplorer`: a sentence, which token attends to which, and the arithmetic behind it."""

import numpy as np
import traitlets

from attn import reference
from attn._checks import argument_error
from attn_course.widgets._base import (
    Widget,
    check_array,
    check_flag,
    check_labels,
    check_real,
    check_whole,
    decimals,
    table,
)
from attn_course.widgets._source import module, stylesheet

MASKS = ("none", "causal", "padding")

TEXT = {
    "es": {
        "caption": "Pesos de atención. Cada fila es una query y suma 1; cada columna, una key.",
        "scaled": "Puntajes divididos entre √d_k.",
        "unscaled": "Puntajes sin dividir entre √d_k.",
        "temperature": "Temperatura: {}.",
        "none": "Sin máscara.",
        "causal": "Máscara causal.",
        "padding": "Máscara de relleno.",
        "masked": "Una raya (—) marca lo enmascarado.",
    },
    "en": {
        "caption": "Attention weights. Each row is a query and sums to 1; each column is a key.",
        "scaled": "Scores divided by √d_k.",
        "unscaled": "Scores not divided by √d_k.",
        "temperature": "Temperature: {}.",
        "none": "No mask.",
        "causal": "Causal mask.",
        "padding": "Padding mask.",
        "masked": "A dash (—) stands for what is masked.",
    },
}


class AttentionExplorer(Widget):
    """Follow the attention of one sentence from its queries, keys and values to its output.

    The reader picks a query, sees what it attends to and walks through the four steps with
    the numbers at hand; scaling, mask and temperature can be changed.

    Parameters
    ----------
    tokens : list of str, length seq_len
        The sentence.
    query, key : array_like, shape (seq_len, d_k)
    value : array_like, shape (seq_len, d_v)
    mask : {"none", "causal", "padding"}
        Which mask is on at first.
    padding : list of bool, length seq_len, optional
        True = a real token, which may be attended to. Without it no padding mask is offered.
    scaled : bool
        Whether scores are divided by the square root of d_k at first.
    temperature : float
        What scores are divided by besides, above 0.
    row : int
        The query chosen at first, from 0.
    step : int
        The step shown at first: 1 scores, 2 scale, 3 softmax, 4 weighted mean.
    language : {"es", "en"}, optional
        By default, the language in use.

    Attributes
    ----------
    weights : list of list of float, shape (seq_len, seq_len)
    output : list of list of float, shape (seq_len, d_v)
        The result under the current settings. They and `mask`, `scaled`, `temperature`,
        `row` and `step` follow the reader's hand in JupyterLab, and these five can also be
        set. The sentence and its vectors stay what they were.

    Raises
    ------
    ValueError
        If the arguments do not fit together.

    Examples
    --------
    >>> explorer = AttentionExplorer(["a", "b"], [[0.0], [0.0]], [[1.0], [2.0]], [[10.0], [20.0]])
    >>> explorer.weights
    [[0.5, 0.5], [0.5, 0.5]]
    >>> explorer.mask = "causal"
    >>> explorer.output
    [[10.0], [15.0]]
    """

    _stem = "attention_explorer"
    _state = (
        *("tokens", "query", "key", "value", "padding"),
        *("mask", "scaled", "temperature", "row", "step"),
    )
    _esm = module(_stem)
    _css = stylesheet()

    tokens = traitlets.List(traitlets.Unicode()).tag(sync=True)
    query = traitlets.List(traitlets.List(traitlets.Float())).tag(sync=True)
    key = traitlets.List(traitlets.List(traitlets.Float())).tag(sync=True)
    value = traitlets.List(traitlets.List(traitlets.Float())).tag(sync=True)
    padding = traitlets.List(traitlets.Bool(), allow_none=True, default_value=None).tag(sync=True)
    mask = traitlets.Unicode("none").tag(sync=True)
    scaled = traitlets.Bool(True).tag(sync=True)
    temperature = traitlets.Float(1.0).tag(sync=True)
    row = traitlets.Int(0).tag(sync=True)
    step = traitlets.Int(1).tag(sync=True)
    weights = traitlets.List().tag(sync=True)
    output = traitlets.List().tag(sync=True)

    def __init__(
        self,
        tokens,
        query,
        key,
        value,
        *,
        mask="none",
        padding=None,
        scaled=True,
        temperature=1.0,
        row=0,
        step=1,
        language=None,
    ):
        tokens = check_labels("tokens", tokens)
        query = check_array("query", query, len(tokens), None)
        key = check_array("key", key, *query.shape)
        value = check_array("value", value, len(tokens), None)
        if padding is not None:
            padding = np.asarray(padding)
            if padding.dtype != bool or padding.shape != (len(tokens),):
                got = f"{padding.dtype} of shape {padding.shape}"
                raise argument_error(
                    "padding", f"{len(tokens)} booleans (True = a real token)", got
                )
            padding = padding.tolist()
        _check_mask(mask, padding)
        temperature = check_real("temperature", temperature, above=0)
        row = check_whole("row", row, 0, len(tokens) - 1)
        step = check_whole("step", step, 1, 4)
        super().__init__(
            language,
            tokens=tokens,
            query=query.tolist(),
            key=key.tolist(),
            value=value.tolist(),
            padding=padding,
            mask=mask,
            scaled=check_flag("scaled", scaled),
            temperature=temperature,
            row=row,
            step=step,
        )
        self._attend()

    @traitlets.validate("mask", "temperature", "row", "step")
    def _validate(self, proposal):
        name, value = proposal["trait"].name, proposal["value"]
        if name == "mask":
            return _check_mask(value, self.padding)
        if name == "temperature":
            return check_real(name, value, above=0)
        low, high = (1, 4) if name == "step" else (0, len(self.tokens) - 1)
        return check_whole(name, value, low, high)

    @traitlets.observe("mask", "scaled", "temperature")
    def _attend(self, change=None):
        # The view computes the weights too. But a cell that sets `temperature` and then reads
        # `weights` must not wait for it, and there may be no view.
        factor = (1.0 if self.scaled else len(self.query[0]) ** 0.5) / self.temperature
        output, weights = reference.scaled_dot_product_attention(
            factor * np.array(self.query), self.key, self.value, self._may_attend()
        )
        self.weights, self.output = weights.tolist(), output.tolist()

    def _may_attend(self):
        seq_len = len(self.tokens)
        if self.mask == "causal":
            return reference.causal_mask(seq_len)
        may_attend = np.full((seq_len, seq_len), True)
        return may_attend & self.padding if self.mask == "padding" else may_attend

    def _fallback(self):
        text = TEXT[self.language]
        may_attend = self._may_attend()
        caption = [
            text["caption"],
            text["scaled" if self.scaled else "unscaled"],
            text["temperature"].format(f"{self.temperature:.3g}"),
            text[self.mask],
            "" if may_attend.all() else text["masked"],
        ]
        rows = [
            [
                token,
                *(decimals(w) if seen else "—" for w, seen in zip(weights, allowed, strict=True)),
            ]
            for token, weights, allowed in zip(self.tokens, self.weights, may_attend, strict=True)
        ]
        return table(" ".join(filter(None, caption)), ["", *self.tokens], rows)

    def __repr__(self):
        return f"AttentionExplorer({self.tokens!r}, mask={self.mask!r}, language={self.language!r})"


def _check_mask(mask, padding):
    if mask not in MASKS:
        raise argument_error("mask", f"one of {MASKS}", repr(mask))
    if mask == "padding" and padding is None:
        raise argument_error("padding", "a list of bool for mask='padding'", "None")
    return mask
