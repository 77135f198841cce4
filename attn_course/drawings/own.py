"""The machine in which a learner's own parts are lit, wherever they stand in it."""

from attn_course.drawings import _ink as ink
from attn_course.drawings._upright import Upright
from attn_course.drawings._wide import Wide
from attn_course.drawings.machine import STYLE, Machine
from attn_course.drawings.parts import PARTS, WORDS
from attn_course.language import check_language, get_language

_TOLD = {
    "es": ("Está resaltado lo que corrió con tu código: {}.", "Todavía no hay nada resaltado."),
    "en": ("What ran with your code is lit: {}.", "Nothing is lit yet."),
}


class _Unpinned:
    """Nobody is anywhere in it."""

    def pin(self, part, x, y):
        pass


class OwnWide(_Unpinned, Wide):
    """As at the head of a chapter."""


class OwnUpright(_Unpinned, Upright):
    """The same on a phone."""


class OwnMachine(Machine):
    """The drawing of the machine with some parts lit.

    Parameters
    ----------
    lit : iterable of str
        Parts, as in ``parts.py``.
    language : {"es", "en"}, optional
        By default, the language in use.

    Raises
    ------
    ValueError
        If the course does not speak `language`.

    Examples
    --------
    >>> OwnMachine(["norm"], "en")
    OwnMachine(('norm',), language='en')
    """

    def __init__(self, lit, language=None):
        self.lit = tuple(lit)
        self.language = get_language() if language is None else check_language(language)

    def __repr__(self):
        return f"OwnMachine({self.lit!r}, language={self.language!r})"

    def _repr_html_(self):
        """Return both layouts and the caption; the width of the column decides which is seen."""
        wide, upright = self.drawing(OwnWide, STYLE), self.drawing(OwnUpright)
        return (
            f'<figure class="attn-machine"><div class="attn-machine-wide">{wide}</div>'
            f'<div class="attn-machine-upright">{upright}</div>'
            f"<figcaption><p>{self._told()}</p></figcaption></figure>"
        )

    def drawing(self, layout, style=""):
        """Return one layout as SVG."""
        drawn = layout(self.language, self.lit, {})
        name = f"machine-{layout.__name__.lower()}"
        description = f"{WORDS['description'][self.language]} {self._told()}"
        return ink.svg(
            drawn.width,
            drawn.height,
            drawn.body(self._link),
            name,
            WORDS["title"][self.language],
            description,
            kind="attn-m",
            style=style,
            top=drawn.top,
        )

    def _link(self, page, markup):
        """Return it without a link: in JupyterLab there are no pages."""
        return markup

    def _told(self):
        some, none = _TOLD[self.language]
        names = dict.fromkeys(" ".join(PARTS[part].label(self.language)) for part in self.lit)
        return some.format(", ".join(names)) if names else none
