"""`FamilyMap`: model families by year, what each changed in the machine, and what the course runs of it."""

import tomllib
from pathlib import Path

import traitlets

from attn._checks import check_choice
from attn_course.language import check_language
from attn_course.widgets._base import Widget, table
from attn_course.widgets._source import module, stylesheet

SOURCE = Path(__file__).parents[1] / "families.toml"
# The parts of the machine that a family may have changed, in the order in which they are shown.
PARTS = ("half", "question", "positions", "norm", "weights", "sight", "cache", "feed_forward")
TEXT = {
    "es": {
        "caption": "Familias de modelos por su fecha: qué cambió cada una y qué ejecuta el curso.",
        "head": ["modelo", "fecha", "qué cambió", "en el curso"],
    },
    "en": {
        "caption": "Model families by date: what each of them changed, and what the course runs.",
        "head": ["model", "date", "what it changed", "in the course"],
    },
}


def load_families(language):
    """Return the model families of the map, in order of date.

    Parameters
    ----------
    language : {"es", "en"}
        Of the sentences.

    Returns
    -------
    list of dict
        Each with ``name``, ``date`` (year and month), ``parts`` (some of the eight that the map
        shows), ``change`` and ``course``.

    Raises
    ------
    ValueError
        If the course does not speak `language`.

    Examples
    --------
    >>> family = load_families("en")[3]
    >>> family["name"], family["date"], family["parts"]
    ('BERT', '2018-10', ['half', 'question'])
    """
    check_language(language)
    families = tomllib.loads(SOURCE.read_text(encoding="utf-8"))["family"]
    return [
        family | {name: family[name][language] for name in ("change", "course")}
        for family in families
    ]


class FamilyMap(Widget):
    """Touch a model to see what it changed in the machine, or a part to see which models changed
    it.

    Parameters
    ----------
    model : str
        The model that is shown at first.
    part : str
        The part whose models are marked at first; none if empty.
    language : {"es", "en"}, optional
        By default, the language in use.

    Attributes
    ----------
    model, part
        They follow the reader's hand in JupyterLab, and can also be set.

    Raises
    ------
    ValueError
        If there is no such model or part.

    Examples
    --------
    >>> FamilyMap("BERT", language="en")
    FamilyMap('BERT', language='en')
    """

    _stem = "family_map"
    _state = ("families", "parts", "model", "part")
    _esm = module(_stem)
    _css = stylesheet()

    families = traitlets.List(traitlets.Dict()).tag(sync=True)
    parts = traitlets.List(traitlets.Unicode()).tag(sync=True)
    model = traitlets.Unicode().tag(sync=True)
    part = traitlets.Unicode("").tag(sync=True)

    def __init__(self, model, part="", language=None):
        super().__init__(language, parts=list(PARTS))
        self.families = load_families(self.language)
        self.model, self.part = model, part

    @traitlets.validate("model")
    def _validate_model(self, proposal):
        check_choice("model", proposal["value"], [family["name"] for family in self.families])
        return proposal["value"]

    @traitlets.validate("part")
    def _validate_part(self, proposal):
        check_choice("part", proposal["value"], ["", *PARTS])
        return proposal["value"]

    def _fallback(self):
        text = TEXT[self.language]
        rows = [
            [family["name"], family["date"], family["change"], family["course"]]
            for family in self.families
        ]
        return table(text["caption"], text["head"], rows)

    def __repr__(self):
        return f"FamilyMap({self.model!r}, language={self.language!r})"
