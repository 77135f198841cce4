"""`LayerExplorer`: a stack of encoder layers, its six steps, and what each of them is for."""

import numpy as np
import traitlets

from attn import reference
from attn._checks import argument_error
from attn_course.widgets._base import Widget, check_flag, check_labels, check_whole, decimals, table
from attn_course.widgets._source import module, stylesheet

NORMS = ("post", "pre", "none")
N_HEADS = 2
D_MODEL, D_FF = 4, 16

TEXT = {
    "es": {
        "caption": "Coseno medio entre los tokens, capa a capa: con 1.00 todos apuntan hacia "
        "el mismo lado.",
        "head": [
            "capa",
            "sumar y normalizar",
            "normalizar antes y sumar",
            "sumar sin normalizar",
            "normalizar sin sumar",
        ],
    },
    "en": {
        "caption": "Mean cosine between the tokens, layer by layer: at 1.00 they all point the "
        "same way.",
        "head": [
            "layer",
            "add, then normalise",
            "normalise, then add",
            "add, without normalising",
            "normalise, without adding",
        ],
    },
}


class LayerExplorer(Widget):
    """Walk through the six steps of any layer of a stack, and remove its parts.

    The stack is small enough to read every number: vectors of 4 components, two heads, 16 units
    between the two products of the feed-forward network, no biases. Its vectors and weights are
    drawn at random (Xavier's uniform) and rounded to two decimals. Above the steps, two curves by
    depth: how alike the tokens are, and how large the gradient is of a loss with another target for
    each token.

    Parameters
    ----------
    tokens : list of str, length seq_len
        Two or more.
    n_layers : int
        From 1 to 24.
    seed : int
        Of the vectors and the weights.
    residual : bool
        Whether what goes into a step is added to what comes out, at first.
    norm : {"post", "pre", "none"}
        Where to normalise at first.
    layer : int
        The layer opened at first, from 1.
    step : int
        The step shown at first, from 1 to 6.
    token : int
        The token whose arithmetic is spelt out at first, from 0.
    language : {"es", "en"}, optional
        By default, the language in use.

    Attributes
    ----------
    similarity : list of float, length n_layers + 1
        Mean cosine between different tokens, before the first layer and after each. It,
        `residual`, `norm`, `layer`, `step` and `token` follow the reader's hand in
        JupyterLab, and those five can also be set.

    Raises
    ------
    ValueError
        If an argument is not one of those described.

    Examples
    --------
    >>> explorer = LayerExplorer(["a", "b", "c"], residual=False)
    >>> round(explorer.similarity[-1], 3)
    1.0
    """

    _stem = "layer_explorer"
    _state = (
        *("tokens", "x", "layers", "readout"),
        *("residual", "norm", "layer", "step", "token"),
    )
    _esm = module(_stem)
    _css = stylesheet()

    tokens = traitlets.List(traitlets.Unicode()).tag(sync=True)
    x = traitlets.List().tag(sync=True)
    layers = traitlets.List().tag(sync=True)
    readout = traitlets.List().tag(sync=True)
    residual = traitlets.Bool(True).tag(sync=True)
    norm = traitlets.Unicode("post").tag(sync=True)
    layer = traitlets.Int(1).tag(sync=True)
    step = traitlets.Int(1).tag(sync=True)
    token = traitlets.Int(0).tag(sync=True)
    similarity = traitlets.List().tag(sync=True)

    def __init__(
        self,
        tokens,
        *,
        n_layers=12,
        seed=3,
        residual=True,
        norm="post",
        layer=1,
        step=1,
        token=0,
        language=None,
    ):
        tokens = check_labels("tokens", tokens)
        if len(tokens) < 2:
            raise argument_error("tokens", "two or more", len(tokens))
        n_layers = check_whole("n_layers", n_layers, 1, 24)
        rng = np.random.default_rng(check_whole("seed", seed, 0, 2**32 - 1))
        x, readout = rng.normal(size=(2, len(tokens), D_MODEL)).round(2)
        super().__init__(
            language,
            tokens=tokens,
            x=x.tolist(),
            readout=readout.tolist(),
            layers=[_weights(rng) for _ in range(n_layers)],
            residual=check_flag("residual", residual),
            norm=_check_norm(norm),
            layer=check_whole("layer", layer, 1, n_layers),
            step=check_whole("step", step, 1, 6),
            token=check_whole("token", token, 0, len(tokens) - 1),
        )
        self._measure()

    @traitlets.validate("norm", "layer", "step", "token")
    def _validate(self, proposal):
        name, value = proposal["trait"].name, proposal["value"]
        if name == "norm":
            return _check_norm(value)
        low, high = {"layer": (1, len(self.layers)), "step": (1, 6)}.get(
            name, (0, len(self.tokens) - 1)
        )
        return check_whole(name, value, low, high)

    @traitlets.observe("residual", "norm")
    def _measure(self, change=None):
        self.similarity = self._similarity(self.residual, self.norm)

    def _similarity(self, residual, norm):
        return [_mean_cosine(x) for x in stack(self.x, self.layers, residual, norm)]

    def _fallback(self):
        text = TEXT[self.language]
        settings = (True, "post"), (True, "pre"), (True, "none"), (False, "post")
        columns = [self._similarity(*setting) for setting in settings]
        rows = [
            [str(depth), *map(decimals, values)]
            for depth, values in enumerate(zip(*columns, strict=True))
        ]
        return table(text["caption"], text["head"], rows)

    def __repr__(self):
        return (
            f"LayerExplorer({self.tokens!r}, residual={self.residual}, norm={self.norm!r}, "
            f"language={self.language!r})"
        )


def stack(x, layers, residual, norm):
    """Return the vectors before the first layer of a stack and after each.

    Parameters
    ----------
    x : array_like, shape (seq_len, d_model)
    layers : list of dict of array_like
        With the matrices w_q, w_k, w_v, w_o, w_1 and w_2 of each.
    residual : bool
        Whether to add what goes into a step to what it computed.
    norm : {"post", "pre", "none"}
        Where to normalise.

    Returns
    -------
    list of ndarray, length len(layers) + 1
    """
    x = np.array(x, dtype=float)
    vectors = [x]
    for weights in layers:
        for step in (_attend, _feed):
            computed = step(reference.layer_norm(x) if norm == "pre" else x, weights)
            x = x + computed if residual else computed
            x = reference.layer_norm(x) if norm == "post" else x
        vectors.append(x)
    return vectors


def _attend(x, weights):
    matrices = (weights[name] for name in ("w_q", "w_k", "w_v", "w_o"))
    return reference.multi_head_attention(x, x, x, *matrices, n_heads=N_HEADS)[0]


def _feed(x, weights):
    return reference.feed_forward(
        x, weights["w_1"], np.zeros(D_FF), weights["w_2"], np.zeros(D_MODEL)
    )


def _weights(rng):
    shapes = {name: (D_MODEL, D_MODEL) for name in ("w_q", "w_k", "w_v", "w_o")}
    shapes |= {"w_1": (D_MODEL, D_FF), "w_2": (D_FF, D_MODEL)}
    reach = {name: np.sqrt(6 / sum(shape)) for name, shape in shapes.items()}
    return {
        name: rng.uniform(-reach[name], reach[name], shape).round(2).tolist()
        for name, shape in shapes.items()
    }


def _mean_cosine(x):
    unit = x / np.linalg.norm(x, axis=-1, keepdims=True)
    cosines = unit @ unit.T
    return float(cosines[~np.eye(len(x), dtype=bool)].mean())


def _check_norm(norm):
    if norm not in NORMS:
        raise argument_error("norm", f"one of {NORMS}", repr(norm))
    return norm
