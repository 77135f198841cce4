"""`Learner`: a small translator that learns in the reader's browser, or one that the reader breaks.

Its forward and backward pass is our own JavaScript (``backward.js``), not the NumPy machine in
Pyodide: the script is 5 KB packed instead of 8 MB, starts at once, works from ``file://``, and
makes some 50 steps of 32 sentences a second on one core: the 400 steps after which the stored
training gets every sentence kept aside right take ten seconds.
"""

import json

import traitlets

from attn._checks import check_choice
from attn_course.widgets._base import Widget, decimals, table
from attn_course.widgets._source import FOLDER, learner, module, stylesheet

PARTS = ("watch", "break")

TEXT = {
    "es": {
        "watch": "Un entrenamiento guardado: lo que el traductor escribe para «{}».",
        "moments": ["paso", "pérdida", "bien, de {}", "escribe"],
        "break": "Cuántas de {} oraciones nuevas traduce bien el traductor guardado cuando algo falta o cambia.",
        "lacks": ["lo que falta o cambia", "bien"],
        "nothing": "nada",
        "positions": "las posiciones",
        "mask": "la máscara causal",
        "encoder": "la capa del codificador",
        "decoder": "la capa del decodificador",
        "flat": "puntajes × 0",
        "sharp": "puntajes × 4",
        "encoder.0.self": "las cabezas del codificador",
        "decoder.0.self": "las cabezas del decodificador sobre lo escrito",
        "decoder.0.cross": "las cabezas de la atención cruzada",
    },
    "en": {
        "watch": "A stored training: what the translator writes for “{}”.",
        "moments": ["step", "loss", "right, of {}", "writes"],
        "break": "How many of {} new sentences the stored translator gets right when something is missing or changed.",
        "lacks": ["what is missing or changed", "right"],
        "nothing": "nothing",
        "positions": "the positions",
        "mask": "the causal mask",
        "encoder": "the encoder layer",
        "decoder": "the decoder layer",
        "flat": "scores × 0",
        "sharp": "scores × 4",
        "encoder.0.self": "the heads of the encoder",
        "decoder.0.self": "the heads of the decoder over what is written",
        "decoder.0.cross": "the heads of cross-attention",
    },
}


class Learner(Widget):
    """Watch a translator learn from noise, or break one.

    Both figures of a page share the translator that its reader trains. Where the device is too slow, or
    has no workers, a stored training is shown instead.

    Parameters
    ----------
    part : {"watch", "break"}
    language : {"es", "en"}, optional
        By default, the language in use.

    Attributes
    ----------
    learned : dict
        What is stored of a training: ``film``, its moments, each with ``step``, ``loss``, ``right`` and the
        ``texts`` for the sentences ``shown``; ``curve``, the loss; ``numbers``, how many are trained; ``held``, the sentences kept aside;
        ``breaks``, how many of them come out right without a part; ``pairs``, the same without two heads.

    Raises
    ------
    ValueError
        If there is no such part.

    Examples
    --------
    >>> Learner("watch", language="en")
    Learner('watch', language='en')
    """

    _stem = "learner"
    _state = ("part", "learned")
    _esm = module(_stem)
    _css = stylesheet()

    part = traitlets.Unicode().tag(sync=True)
    learned = traitlets.Dict().tag(sync=True)
    # A page loads it from a script. In JupyterLab the kernel sends it.
    trained = traitlets.Dict().tag(sync=True)

    def __init__(self, part, *, language=None):
        check_choice("part", part, PARTS)
        trained = learner()
        stored = json.loads((FOLDER / "learner" / "stored.json").read_text(encoding="utf-8"))
        names = {
            "watch": ("seed", "numbers", "film", "curve"),
            "break": ("film", "breaks", "pairs"),
        }[part]
        learned = {name: stored[name] for name in ("shown", *names)} | {"held": trained["held"]}
        if part == "break":
            learned["film"] = learned["film"][-1:]
        super().__init__(language, part=part, learned=learned, trained=trained)

    def _fallback(self):
        text, n_held = TEXT[self.language], len(self.learned["held"])
        if self.part == "break":
            rows = [[text[name], right] for name, right in self.learned["breaks"].items()]
            return table(text["break"].format(n_held), text["lacks"], rows)
        rows = [
            [
                moment["step"],
                decimals(moment["loss"]),
                moment["right"],
                " ".join(moment["texts"][0]["words"]) or text["nothing"],
            ]
            for moment in self.learned["film"]
        ]
        head = [name.format(n_held) for name in text["moments"]]
        return table(text["watch"].format(self.learned["shown"][0]), head, rows)

    def __repr__(self):
        return f"Learner({self.part!r}, language={self.language!r})"
