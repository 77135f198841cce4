"""The base of all drawings of ideas: one SVG for all widths, in some with steps."""

import json

from attn_course.drawings import _ink as ink
from attn_course.language import get_language

# The width of the column of a phone. A wide screen may show a drawing a third larger.
WIDTH = 356
# The rules have a class of their own, because the machine on the same page also uses `lit` and
# gives it letters.
_STYLE = ink.STYLE + (
    ".attn-d.attn-idea{{width:100%;max-width:30rem}}.attn-idea .strong{{font-weight:650}}"
    ".attn-idea .lit{{stroke:{accent};stroke-width:2.2}}.attn-idea .tip.lit{{fill:{accent};stroke:none}}"
    ".attn-idea .now{{fill:color-mix(in srgb,{accent} 14%,{surface});stroke:{accent};stroke-width:1.6}}"
    ".attn-idea .kept{{fill:{sunken};stroke:{muted};stroke-width:1}}"
    ".attn-idea .head{{fill:{extra};stroke:none}}"
).format(**ink.COLOURS)
# The labels of the buttons of a drawing in steps.
_BUTTONS = {
    "es": {"back": "Atrás", "play": "Reproducir", "pause": "Pausar", "next": "Siguiente"},
    "en": {"back": "Back", "play": "Play", "pause": "Pause", "next": "Next"},
}


def step(number, *markup):
    """Return a part that appears at a step and stays."""
    return ink.tag("g", "".join(markup), data_step=number)


def only(number, *markup):
    """Return a part that is seen at one step only, and not in the whole drawing."""
    return ink.tag("g", "".join(markup), data_only=number, display="none")


class Idea:
    """A drawing that JupyterLab, the site and paper show alike.

    A drawing in steps is shown whole until it is played. On the site ``steps.js`` adds the
    buttons.

    Parameters
    ----------
    name : str
        What the drawing is called in the code.
    height : int
    title, description : dict of str to str
        What it shows, for those who do not see it: in a few words, and in full.
    draw : callable
        Takes a language and returns what is drawn, 356 wide.
    steps : dict of str to tuple of str, optional
        One sentence for each step, which says what it shows; at the last, the drawing is whole.
    """

    def __init__(self, name, height, title, description, draw, steps=None):
        self.name, self.height, self._draw = name, height, draw
        self.title, self.description, self.steps = title, description, steps
        self.language = get_language()

    def __repr__(self):
        return f"drawings.{self.name}(language={self.language!r})"

    def _repr_html_(self):
        language = self.language
        told = {**_BUTTONS[language], "told": self.steps[language]} if self.steps else ""
        return ink.svg(
            WIDTH,
            self.height,
            self._draw(language),
            f"drawing-{self.name}",
            self.title[language],
            self.description[language],
            kind="attn-idea",
            style=_STYLE,
            steps=told and json.dumps(told, ensure_ascii=False),
        )
