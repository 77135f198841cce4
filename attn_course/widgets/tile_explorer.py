"""`TileExplorer`: a softmax that reads its scores tile by tile, and keeps three numbers."""

import math

import traitlets

from attn._checks import argument_error, check_choice
from attn_course.widgets._base import Widget, check_list, check_real, check_whole, decimals, table
from attn_course.widgets._source import module, stylesheet

TEXT = {
    "es": {
        "caption": "Lo que se guarda tras cada loseta; al final, o / l = {result}, lo que da la softmax de la fila entera.",
        "head": ["loseta", "puntajes", "máximo m", "corrección", "suma l", "salida o"],
    },
    "en": {
        "caption": "What is kept after each tile; at the end o / l = {result}, what the softmax of the whole row gives.",
        "head": ["tile", "scores", "largest m", "correction", "sum l", "output o"],
    },
}
TILES = (1, 2, 4)
BASES = ("2", "e")
MOST, LARGEST = 8, 20


class TileExplorer(Widget):
    """Read scores tile by tile, with a running maximum, a running sum and a running output.

    Parameters
    ----------
    scores, values : list of float
        From two to eight of each, from -20 to 20.
    tile : {1, 2, 4}, default 2
        How many scores are read at once.
    base : {"2", "e"}, default "2"
        Of the powers. With 2 the numbers of an example may be fractions that a pencil can add.
    step : int, default 0
        How many tiles have been read.
    language : {"es", "en"}, optional
        By default, the language in use.

    Attributes
    ----------
    output : float
        The output over the sum after the step; 0 at first. It and the settings follow the reader's
        hand in JupyterLab.

    Raises
    ------
    ValueError
        If the arguments do not fit together.

    References
    ----------
    Milakov and Gimelshein (2018), Online normalizer calculation for softmax, algorithm 3.

    Examples
    --------
    >>> TileExplorer([1, 2, 4, 3], [4, 1, 2, 8], step=2).output
    3.6
    """

    _stem = "tile_explorer"
    _state = ("scores", "values", "tile", "base", "step")
    _esm = module(_stem)
    _css = stylesheet()

    scores = traitlets.List(traitlets.Float()).tag(sync=True)
    values = traitlets.List(traitlets.Float()).tag(sync=True)
    tile = traitlets.Int(2).tag(sync=True)
    base = traitlets.Unicode("2").tag(sync=True)
    step = traitlets.Int().tag(sync=True)
    output = traitlets.Float().tag(sync=True)

    def __init__(self, scores, values, *, tile=2, base="2", step=0, language=None):
        scores = _check_numbers("scores", scores)
        values = _check_numbers("values", values)
        if len(values) != len(scores):
            raise argument_error("values", f"as many as scores, {len(scores)}", len(values))
        tile, base = _checked("tile", tile), _checked("base", base)
        step = check_whole("step", step, 0, math.ceil(len(scores) / tile))
        super().__init__(language, scores=scores, values=values, tile=tile, base=base, step=step)
        self._read()

    @traitlets.validate("scores", "values")
    def _validate_numbers(self, proposal):
        return _check_numbers(proposal["trait"].name, proposal["value"])

    @traitlets.validate("tile", "base")
    def _validate(self, proposal):
        return _checked(proposal["trait"].name, proposal["value"])

    @traitlets.observe(*_state)
    def _read(self, change=None):
        # The page sets several traits one after the other; the result is computed once they fit.
        if self.scores and len(self.scores) == len(self.values):
            kept = walk(self.scores, self.values, self.tile, self.base)
            _, _, total, output = kept[min(self.step, len(kept) - 1)]
            self.output = output / total if total else 0.0

    def _fallback(self):
        text = TEXT[self.language]
        kept = walk(self.scores, self.values, self.tile, self.base)
        rows = []
        for i, (peak, factor, total, output) in enumerate(kept[1:]):
            own = self.scores[i * self.tile : (i + 1) * self.tile]
            shown = [_short(x) for x in (peak, factor, total, output)]
            rows.append([i + 1, ", ".join(map(_short, own)), *shown])
        result = kept[-1][3] / kept[-1][2]
        return table(text["caption"].format(result=_short(result)), text["head"], rows)

    def __repr__(self):
        return f"TileExplorer({self.scores!r}, tile={self.tile}, language={self.language!r})"


def walk(scores, values, tile, base):
    """Return the maximum, the correction, the sum and the output after each tile, the first after none.

    >>> walk([1, 2, 4, 3], [4, 1, 2, 8], 2, "2")[1:]
    [(2, 0.0, 1.5, 3.0), (4, 0.25, 1.875, 6.75)]
    """
    power = {"2": lambda x: 2.0**x, "e": math.exp}[base]
    kept = [(-math.inf, 0.0, 0.0, 0.0)]
    for start in range(0, len(scores), tile):
        old, _, total, output = kept[-1]
        own = scores[start : start + tile]
        peak = max(old, *own)
        factor = 0.0 if old == -math.inf else power(old - peak)
        powers = [power(s - peak) for s in own]
        added = math.fsum(p * v for p, v in zip(powers, values[start : start + tile], strict=True))
        kept.append((peak, factor, total * factor + math.fsum(powers), output * factor + added))
    return kept


def _short(x):
    return decimals(x, 3).rstrip("0").rstrip(".")


def _checked(name, value):
    """Return a setting; refuse it by its name."""
    if name == "base":
        check_choice(name, value, BASES)
    elif value not in TILES:
        raise argument_error(name, "1, 2 or 4", value)
    return value


def _check_numbers(name, numbers):
    numbers = check_list(name, numbers, f"from 2 to {MOST} numbers")
    if not 2 <= len(numbers) <= MOST:
        raise argument_error(name, f"from 2 to {MOST} numbers", repr(numbers))
    numbers = [check_real(name, x) for x in numbers]
    if max(map(abs, numbers)) > LARGEST:
        raise argument_error(name, f"numbers from -{LARGEST} to {LARGEST}", repr(numbers))
    return numbers
