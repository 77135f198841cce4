"""The machine of the opening page: no chapter lights it, and a script may light any part of it."""

from attn_course.drawings import _ink as ink
from attn_course.drawings._layout import Layout
from attn_course.drawings._upright import Upright
from attn_course.drawings._wide import Wide
from attn_course.drawings.machine import STYLE, Machine
from attn_course.drawings.parts import WORDS
from attn_course.language import check_language, get_language

# Three tokens stand for any sentence. On a phone they have one width, because the tokens are not
# known beforehand.
_CHIPS = (46, 47, 47)
# Active parts fade in and out, and during play something flows along the lines.
_MOTION = """
.attn-machine-upright :is(.at-encoder-source,.at-decoder-target):not(.small){font-size:11.5px}
@media (prefers-reduced-motion:no-preference){
.attn-m :is(.box,.line,.cell,.frame,.tip){transition:opacity .25s,stroke .25s,fill .25s}
[data-playing] .attn-m path.line.lit{stroke-dasharray:5 4;animation:attn-flow .7s linear infinite}
@keyframes attn-flow{to{stroke-dashoffset:-18}}}
"""
_STYLE = STYLE + _MOTION.replace("\n", "")


class _Handles(Layout):
    """A layout whose elements have a class for their part and side: ``at-decoder-norm``."""

    side = "inside"

    def light(self, kind, part):
        return f"{kind} at-{self.side}-{part}"

    def icon(self, part, x, y):
        """Draw a step of attention, 40 by 40; each of its nine cells may get another strength."""
        cells = ink.grid(x, y, ((0.4,) * 3,) * 3, kind=self.light("cell icon", part))
        self.add(part, ink.rect(x - 4, y - 4, 48, 48, self.light("box", part)), cells)

    def _memory(self):
        self.side = "encoder"
        super()._memory()

    def _words(self, *where):
        self.side = "decoder"
        super()._words(*where)
        self.side = "inside"


class MovingWide(_Handles, Wide):
    """The wide layout without the legend, since the numbers take its corner."""

    def legend(self, x, y):
        pass

    def _lane(self, y, tokens, words, frame, blocks):
        self.side = frame
        super()._lane(y, tokens, words, frame, blocks)


class MovingUpright(_Handles, Upright):
    """The layout for phones."""

    def legend(self, x, y):
        self.side = "encoder"
        super().legend(x, y)

    def _column(self, tokens, words, widths, left, stream, frame, blocks):
        self.side = frame
        super()._column(tokens, words, _CHIPS, left, stream, frame, blocks)


class MovingMachine(Machine):
    """The drawing of the machine that `attn_course.widgets.LiveMachine` sets in motion.

    Parameters
    ----------
    language : {"es", "en"}, optional
        By default, the language in use.

    Raises
    ------
    ValueError
        If the course does not speak `language`.

    Examples
    --------
    >>> MovingMachine("en")
    MovingMachine(language='en')
    """

    def __init__(self, language=None):
        self.page = "index"
        self.language = get_language() if language is None else check_language(language)

    def __repr__(self):
        return f"MovingMachine(language={self.language!r})"

    def _repr_html_(self):
        """Return both layouts; the width of the column decides which is seen."""
        wide, upright = self.drawing(MovingWide, _STYLE), self.drawing(MovingUpright)
        return (
            f'<figure class="attn-machine"><div class="attn-machine-wide">{wide}</div>'
            f'<div class="attn-machine-upright">{upright}</div></figure>'
        )

    def drawing(self, layout, style=""):
        """Return one layout as SVG. Its role is group and not image, because it has links."""
        drawn = layout(self.language, (), {})
        name = f"machine-{layout.__name__.lower()}"
        title, description = (WORDS[text][self.language] for text in ("title", "description"))
        return ink.svg(
            drawn.width,
            drawn.height,
            drawn.body(self._link),
            name,
            title,
            description,
            role="group",
            kind="attn-m",
            style=style,
            top=drawn.top,
        )
