"""The drawing of the machine at the head of a chapter, with the parts of the chapter lit."""

import html
import re

from attn._checks import check_choice
from attn_course.drawings import _ink as ink
from attn_course.drawings._upright import Upright
from attn_course.drawings._wide import Wide
from attn_course.drawings.chapters import CHAPTERS, DECODER_ALONE
from attn_course.drawings.parts import PAGES, PARTS, WORDS
from attn_course.language import check_language, get_language

# Parts that are not lit stay legible. A lit part has a strong line, a background and dark letters.
# The colours of query, key and value always mean these three.
_RULES = """
.attn-machine{{container-type:inline-size;margin:1.6rem 0 2rem}}
.attn-machine-upright{{display:none;max-width:27rem;margin:auto}}
@media not print{{@container (max-width:820px){{
.attn-machine-wide{{display:none}}.attn-machine-upright{{display:block}}}}}}
.attn-m .name{{fill:{muted}}}.attn-m .ground{{fill:{page}}}
.attn-m .cell{{fill:{muted}}}.attn-m .cell.lit{{fill:{accent}}}.attn-m .cell.value{{fill:{value}}}
.attn-m .box.lit{{stroke:{accent};stroke-width:2.2;fill:color-mix(in srgb,{accent} 9%,{surface})}}
.attn-m .name.lit{{fill:{ink};font-weight:650}}
.attn-m :is(.line,.frame).lit{{stroke:{accent};stroke-width:2.2}}.attn-m .tip.lit{{fill:{accent}}}
.attn-m .sunk.lit{{fill:color-mix(in srgb,{accent} 12%,{surface})}}
.attn-m :is(.line,.box).query{{stroke:{query}}}.attn-m :is(.tip,.name).query{{fill:{query}}}
.attn-m :is(.line,.box).key{{stroke:{key}}}.attn-m :is(.tip,.name).key{{fill:{key}}}
.attn-m :is(.line,.box).value{{stroke:{value}}}.attn-m :is(.tip,.name).value{{fill:{value}}}
.attn-m .pin{{fill:{accent}}}.attn-m .pinned{{fill:{page};font-size:12px;font-weight:650}}
.attn-m .halo{{paint-order:stroke;stroke:{page};stroke-width:14px;stroke-linejoin:round}}
.attn-machine-upright .shape{{font-size:11px}}
.attn-m a:hover .box{{stroke:{accent}}}.attn-m a:hover .name{{fill:{accent}}}
"""
STYLE = ink.STYLE + _RULES.replace("\n", "").format(**ink.COLOURS)

# The strip, from the input to the output. Layers that repeat stand together.
_ENDS = (("linear",), ("softmax",), ("next_word",))
_STARTS = (("source",), ("embeddings",), ("positions",))
_STRIP = (
    *_STARTS,
    ("encoder", "self_attention", "feed_forward"),
    ("memory",),
    ("decoder", "causal_attention", "cross_attention", "feed_forward"),
    *_ENDS,
)
_ALONE = (*_STARTS, ("decoder", "causal_attention", "feed_forward"), *_ENDS)
_ATTENTIONS = ("self_attention", "causal_attention", "cross_attention")
# The parts inside a part of the strip, or so near that the strip has one name for both.
_IN_STRIP = {
    "target": "source",
    "loop": "next_word",
    "stop": "next_word",
    **dict.fromkeys(
        ("query", "key", "value", "heads", "scores", "mask", "weights", "mean", "output"),
        "attention",
    ),
}


class Machine:
    """The drawing of the machine as a figure, for a page or for JupyterLab.

    Parameters
    ----------
    page : str
        The chapter, such as ``"05_encoder_decoder"``. Its parts are lit, and the arrows carry
        the shapes of its tensors.
    language : {"es", "en"}, optional
        By default, the language in use.

    Raises
    ------
    ValueError
        If `page` has no place in the machine, or the course does not speak `language`.

    Examples
    --------
    >>> Machine("05_encoder_decoder", "en")
    Machine('05_encoder_decoder', language='en')
    """

    def __init__(self, page, language=None):
        check_choice("page", page, tuple(CHAPTERS))
        self.page = page
        self.language = get_language() if language is None else check_language(language)

    def __repr__(self):
        return f"Machine({self.page!r}, language={self.language!r})"

    def _repr_html_(self):
        """Return both layouts and the caption; the width of the column decides which is seen."""
        return self._figure(self.drawing(Upright))

    def closing(self):
        """Return the figure that ends a story: in a narrow column the strip stands in its place."""
        return self._figure(self.strip())

    def _figure(self, narrow):
        return (
            f'<figure class="attn-machine"><div class="attn-machine-wide">{self.drawing(Wide, STYLE)}</div>'
            f'<div class="attn-machine-upright">{narrow}</div>'
            f"<figcaption>{self._caption()}</figcaption></figure>"
        )

    def strip(self):
        """Return the machine as a line of text that wraps, for the top of a page."""
        here = CHAPTERS[self.page]
        lit = {_IN_STRIP.get(part, part) for part in here.lit}
        if "attention" in lit and lit.isdisjoint(_ATTENTIONS):
            lit |= {*_ATTENTIONS}
        pin = f"<em>{WORDS['here'][self.language]}</em>"
        said = []
        for parts in _ALONE if self.page in DECODER_ALONE else _STRIP:
            names = []
            for part in parts:
                name = html.escape(" ".join(PARTS[part].label(self.language)).replace("- ", "-"))
                name = self._link(PARTS[part].page, name, titled=False)
                if part in lit:
                    name, pin = f"<strong>{name}</strong>{pin and ' '}{pin}", ""
                names.append(f"<span>{name}</span>")
            kind = ' class="attn-strip-layers"' if len(names) > 1 else ""
            said.append(f"<span{kind}>{' '.join(names)}</span>")
        title = WORDS["alone_title" if self.page in DECODER_ALONE else "title"][self.language]
        title = html.escape(title)
        arrow = ' <i aria-hidden="true">→</i> '
        return f'<div class="attn-strip" role="group" aria-label="{title}">{arrow.join(said)}</div>'

    def drawing(self, layout, style=""):
        """Return one layout as SVG. Its role is group and not image, because it has links."""
        here, alone = CHAPTERS[self.page], self.page in DECODER_ALONE
        drawn = layout(self.language, here.lit, here.written(), alone)
        name = f"machine-{layout.__name__.lower()}-{self.page}"
        title, description = ("alone_title", "alone") if alone else ("title", "description")
        description = f"{WORDS[description][self.language]} {self._told()}"
        return ink.svg(
            drawn.width,
            drawn.height,
            drawn.body(self._link),
            name,
            WORDS[title][self.language],
            description,
            role="group",
            kind="attn-m",
            style=style,
            top=drawn.top,
        )

    def _link(self, page, markup, titled=True):
        current = ' aria-current="page"' if page == self.page else ""
        number, title = int(page[:2]), PAGES[page][self.language]
        name = html.escape(WORDS["page"][self.language].format(number, title))
        named = f"<title>{name}</title>" if titled else ""
        return f'<a href="{page}.html"{current}>{named}{markup}</a>'

    def _told(self):
        """Return a sentence that names the lit parts."""
        names = dict.fromkeys(
            " ".join(PARTS[part].label(self.language)) for part in CHAPTERS[self.page].lit
        )
        return WORDS["lit"][self.language].format(", ".join(names))

    def _caption(self):
        here = CHAPTERS[self.page]
        told = html.escape(here.es if self.language == "es" else here.en, quote=False)
        told = re.sub(r"`(\w+)` = (\d+)", r"<span><code>\1</code> = \2</span>", told)
        return f"<p><strong>{WORDS['here'][self.language].capitalize()}.</strong> {told}</p>"
