"""`PositionExplorer`: sinusoidal positions as clocks, as a table, and how alike they are."""

import numpy as np
import traitlets

from attn import reference
from attn._checks import argument_error
from attn_course.widgets._base import Widget, check_real, check_whole, decimals, table
from attn_course.widgets._source import module, stylesheet

SIZES = (2, 4, 8, 16, 32, 64, 128)
BASES = (1.0, 1e5)

TEXT = {
    "es": {
        "caption": "Posición {p} en una codificación de d_model = {d} y base {base}. Su coseno "
        "con la posición {q} es {cosine}.",
        "head": ["par", "posiciones por vuelta", "seno", "coseno"],
    },
    "en": {
        "caption": "Position {p} in an encoding with d_model = {d} and base {base}. Its cosine "
        "with position {q} is {cosine}.",
        "head": ["pair", "positions per turn", "sine", "cosine"],
    },
}


class PositionExplorer(Widget):
    """Turn the clocks of the sinusoidal encoding, and see which positions look alike.

    Parameters
    ----------
    n_positions : int
        How many rows the table has, from 2 to 200.
    d_model : {2, 4, 8, 16, 32, 64, 128}
        Size of the encoding; half as many clocks.
    base : float
        From 1 to 100,000. The last clock is slower than the first by nearly this factor.
    position : int
        The position shown at first.
    shift : int
        The distance to the other position.
    language : {"es", "en"}, optional
        By default, the language in use.

    Attributes
    ----------
    encoding : list of float, length d_model
        The row of `position`.
    cosines : list of float, length n_positions
        Of `position` with each one. They and `d_model`, `base`, `position` and `shift`
        follow the reader's hand in JupyterLab, and these four can also be set.

    Raises
    ------
    ValueError
        If an argument is not one of those described.

    References
    ----------
    Vaswani et al. (2017), section 3.5.

    Examples
    --------
    >>> explorer = PositionExplorer(4, d_model=2, position=0, shift=1)
    >>> explorer.encoding
    [0.0, 1.0]
    >>> [round(x, 2) for x in explorer.cosines]
    [1.0, 0.54, -0.42, -0.99]
    """

    _stem = "position_explorer"
    _state = ("n_positions", "d_model", "base", "position", "shift")
    _esm = module(_stem)
    _css = stylesheet()

    n_positions = traitlets.Int(100).tag(sync=True)
    d_model = traitlets.Int(16).tag(sync=True)
    base = traitlets.Float(10000.0).tag(sync=True)
    position = traitlets.Int(0).tag(sync=True)
    shift = traitlets.Int(0).tag(sync=True)
    encoding = traitlets.List().tag(sync=True)
    cosines = traitlets.List().tag(sync=True)

    def __init__(
        self, n_positions=100, d_model=16, base=10000.0, position=3, shift=5, language=None
    ):
        n_positions = check_whole("n_positions", n_positions, 2, 200)
        settings = {"d_model": d_model, "base": base, "position": position, "shift": shift}
        settings = {name: _check(name, x, n_positions) for name, x in settings.items()}
        super().__init__(language, n_positions=n_positions, **settings)
        self._encode()

    @traitlets.validate("d_model", "base", "position", "shift")
    def _validate(self, proposal):
        return _check(proposal["trait"].name, proposal["value"], self.n_positions)

    @traitlets.observe("d_model", "base", "position")
    def _encode(self, change=None):
        table = reference.sinusoidal_positions(self.n_positions, self.d_model, self.base)
        encoding = table[self.position]
        self.encoding = encoding.tolist()
        self.cosines = (table @ encoding / (self.d_model / 2)).tolist()

    def _fallback(self):
        text = TEXT[self.language]
        other = self.position + self.shift
        both = reference.sinusoidal_positions(other + 1, self.d_model, self.base)
        caption = text["caption"].format(
            p=self.position,
            q=other,
            d=self.d_model,
            base=f"{self.base:g}",
            cosine=decimals(both[self.position] @ both[other] / (self.d_model / 2)),
        )
        pairs = np.array(self.encoding).reshape(-1, 2)
        rows = [
            [i, decimals(2 * np.pi * self.base ** (2 * i / self.d_model), 1), *map(decimals, pair)]
            for i, pair in enumerate(pairs)
        ]
        return table(caption, text["head"], rows)

    def __repr__(self):
        return (
            f"PositionExplorer(d_model={self.d_model}, base={self.base:g}, "
            f"position={self.position}, language={self.language!r})"
        )


def _check(name, x, n_positions):
    if name == "d_model":
        if x not in SIZES:
            raise argument_error(name, f"one of {SIZES}", repr(x))
        return x
    if name == "base":
        x = check_real(name, x)
        if not BASES[0] <= x <= BASES[1]:
            raise argument_error(name, f"a number from {BASES[0]:g} to {BASES[1]:g}", x)
        return x
    return check_whole(name, x, 0, n_positions - 1)
