"""`MaskPainter`: a mask to paint, and what it does to the weights, at once and through layers."""

import numpy as np
import traitlets

from attn import reference
from attn._checks import argument_error
from attn_course.widgets._base import Widget, check_labels, check_whole, decimals, table
from attn_course.widgets._source import module, stylesheet

MOST_LAYERS = 4

TEXT = {
    "es": {
        "caption": "Pesos bajo la máscara. Cada fila es una query y cada columna, una key.",
        "masked": "Una raya (—) marca lo enmascarado.",
        "dead": "Sin nada permitido: {}.",
        "leaks": "Pares en que una query ve una key posterior: {}.",
        "through": "A través de {} capas: {}.",
    },
    "en": {
        "caption": "Weights under the mask. Each row is a query and each column a key.",
        "masked": "A dash (—) stands for what is masked.",
        "dead": "With nothing allowed: {}.",
        "leaks": "Pairs in which a query sees a later key: {}.",
        "through": "Through {} layers: {}.",
    },
}


class MaskPainter(Widget):
    """Paint which query may attend to which key; weights, dead rows and leaks follow.

    A leak is a query that sees a key after it. It is followed through a stack of layers with
    residual connections, where the others can see what one position has received.

    Parameters
    ----------
    tokens : list of str, length seq_len
        The sentence, at most 10 tokens.
    scores : array_like, shape (seq_len, seq_len)
        What the softmax is given before the mask.
    mask : array_like of bool, shape (seq_len, seq_len), optional
        The mask at first, True = may attend; by default the causal one.
    padding : list of bool, length seq_len, optional
        True = a real token. Without it no padding masks are offered.
    n_layers : int
        Through how many layers leaks are followed at first, from 1 to 4.
    answers : list of str, length seq_len, optional
        The next token of each query. With them the figure shows which queries have their answer
        in sight, in place of the table of what passes through layers.
    language : {"es", "en"}, optional
        By default, the language in use.

    Attributes
    ----------
    weights : list of list of float, shape (seq_len, seq_len)
    reached : list of list of bool, shape (seq_len, seq_len)
        What each output depends on after `n_layers`. They, `mask` and `n_layers` follow the
        reader's hand in JupyterLab, where these two can also be set.

    Raises
    ------
    ValueError
        If the arguments do not fit together.

    References
    ----------
    Vaswani et al. (2017), section 3.2.3.

    Examples
    --------
    >>> painter = MaskPainter(["El", "cielo"], [[0.0, 0.0], [0.0, 0.0]])
    >>> painter.weights
    [[1.0, 0.0], [0.5, 0.5]]
    >>> painter.mask = [[False, True], [False, False]]
    >>> painter.weights, painter.reached
    ([[0.0, 1.0], [0.0, 0.0]], [[True, True], [False, True]])
    """

    _stem = "mask_painter"
    _state = ("tokens", "scores", "mask", "padding", "n_layers", "answers")
    _esm = module(_stem)
    _css = stylesheet()

    tokens = traitlets.List(traitlets.Unicode()).tag(sync=True)
    scores = traitlets.List(traitlets.List(traitlets.Float())).tag(sync=True)
    mask = traitlets.List(traitlets.List(traitlets.Bool())).tag(sync=True)
    padding = traitlets.List(traitlets.Bool(), allow_none=True, default_value=None).tag(sync=True)
    n_layers = traitlets.Int(1).tag(sync=True)
    answers = traitlets.List(traitlets.Unicode(), allow_none=True, default_value=None).tag(
        sync=True
    )
    weights = traitlets.List().tag(sync=True)
    reached = traitlets.List().tag(sync=True)

    def __init__(
        self, tokens, scores, mask=None, *, padding=None, n_layers=1, answers=None, language=None
    ):
        tokens = check_labels("tokens", tokens)
        seq_len = check_whole("number of tokens", len(tokens), 1, 10)
        scores = np.asarray(scores)
        if scores.dtype.kind not in "fiu" or scores.shape != (seq_len, seq_len):
            got = f"{scores.dtype} of shape {scores.shape}"
            raise argument_error("scores", f"numbers of shape ({seq_len}, {seq_len})", got)
        if not np.isfinite(scores).all():
            raise argument_error("scores", "finite numbers", "NaN or infinity")
        if padding is not None:
            padding = _check_booleans("padding", padding, (seq_len,))
        if answers is not None:
            answers = check_labels("answers", answers)
            if answers[:-1] != tokens[1:]:
                raise argument_error("answers", f"{tokens[1:]!r} and one token more", repr(answers))
        mask = reference.causal_mask(seq_len) if mask is None else mask
        super().__init__(
            language,
            tokens=tokens,
            scores=scores.astype(float).tolist(),
            mask=_check_booleans("mask", mask, (seq_len, seq_len)),
            padding=padding,
            n_layers=check_whole("n_layers", n_layers, 1, MOST_LAYERS),
            answers=answers,
        )
        self._attend()

    @traitlets.validate("mask", "n_layers")
    def _validate(self, proposal):
        if proposal["trait"].name == "n_layers":
            return check_whole("n_layers", proposal["value"], 1, MOST_LAYERS)
        return _check_booleans("mask", proposal["value"], 2 * (len(self.tokens),))

    @traitlets.observe("mask", "n_layers")
    def _attend(self, change=None):
        # The view computes the weights too, but a cell that sets `mask` must not wait for it.
        self.weights = reference.softmax(np.where(self.mask, self.scores, -np.inf)).tolist()
        self.reached = reference.reachable(self.mask, self.n_layers).tolist()

    def _fallback(self):
        text, mask = TEXT[self.language], np.array(self.mask)
        dead = [token for token, row in zip(self.tokens, mask, strict=True) if not row.any()]
        direct, through = (int(np.triu(seen, 1).sum()) for seen in (mask, self.reached))
        caption = [
            text["caption"],
            "" if mask.all() else text["masked"],
            text["dead"].format(", ".join(dead)) if dead else "",
            text["leaks"].format(direct),
            text["through"].format(self.n_layers, through) if self.n_layers > 1 else "",
        ]
        rows = [
            [token, *(decimals(w) if seen else "—" for w, seen in zip(weights, row, strict=True))]
            for token, weights, row in zip(self.tokens, self.weights, mask, strict=True)
        ]
        return table(" ".join(filter(None, caption)), ["", *self.tokens], rows)

    def __repr__(self):
        return f"MaskPainter({self.tokens!r}, language={self.language!r})"


def _check_booleans(name, given, shape):
    array = np.asarray(given)
    if array.dtype != bool or array.shape != shape:
        got = f"{array.dtype} of shape {array.shape}"
        raise argument_error(name, f"booleans of shape {shape} (True = may attend)", got)
    return array.tolist()
