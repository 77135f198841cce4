"""The base of both layouts of the machine: parts, arrows, shapes, and which are lit."""

from attn_course.drawings import _ink as ink
from attn_course.drawings.parts import PARTS, WORDS

_SCORES = ((0.55, 0.2, 0.35), (0.3, 0.75, 0.15), (0.2, 0.45, 0.6))
_MASK = ((0.4, None, None), (0.4, 0.4, None), (0.4, 0.4, 0.4))
_WEIGHTS = ((1.0, None, None), (0.3, 0.75, None), (0.15, 0.35, 0.65))


class Layout:
    """Collects the parts at their places; `body` makes the drawing.

    Parameters
    ----------
    language : {"es", "en"}
    lit : tuple of str
        The parts of the page. The first gets the label "you are here".
    shapes : dict of str to str
        What is written on the arrows, by place.
    alone : bool, optional
        Draw a decoder without an encoder.
    """

    width = height = 0
    top = 0
    # The width of a letter of a shape in the widest of the fonts.
    letter = 6.95

    def __init__(self, language, lit, shapes, alone=False):
        self.language, self.lit, self.shapes, self.alone = language, lit, shapes, alone
        self._back, self._arrows, self._front = [], [], []
        self._pinned = False
        self._parts = {name: [] for name in PARTS}
        self.draw()

    def draw(self):
        """Draw everything at its place."""
        raise NotImplementedError

    def label(self, part):
        return PARTS[part].label(self.language)

    def light(self, kind, part):
        """Return the class of something that belongs to a part."""
        return f"{kind} lit" if part in self.lit else kind

    def add(self, part, *markup):
        self._parts[part] += markup

    def behind(self, *markup):
        self._back += markup

    def flow(self, part, *points, kind="", bend=8):
        """Draw an arrow, which is lit with its part."""
        self._arrows.append(ink.arrow(points, self.light(kind, part).strip(), bend))

    def wire(self, part, *points, kind=""):
        """Draw a line without a tip."""
        self._arrows.append(ink.path(points, self.light(f"line {kind}".strip(), part)))

    def block(self, part, x, y, width, height, kind="", marks=False, leading=15, size=""):
        """Draw a box with the name of its part; `marks` are the colours of query, key and value."""
        box = ink.rect(x, y, width, height, self.light(f"box {kind}".strip(), part))
        middle = x + width / 2 + (9 if marks else 0)
        names = ink.lines(
            middle,
            y + height / 2,
            self.label(part),
            self.light(f"name {kind} {size}".strip(), part),
            leading=leading,
        )
        self.add(part, box, names)
        if marks:
            for i, hue in enumerate(("query", "key", "value")):
                self.add(
                    part,
                    ink.tag(
                        "circle",
                        cx=x + 12,
                        cy=y + height / 2 - 8 + 8 * i,
                        r=2.8,
                        class_=f"tip {hue}",
                    ),
                )
        self.pin(part, x + (8 if width > 110 else width / 2 - 52), y)

    def name(self, part, x, y, at="start"):
        """Write the name of a part beside its picture."""
        labels = self.label(part)
        for i, each in enumerate(labels):
            line = y - 14 * (len(labels) - 1 - i)
            self.add(part, ink.text(x, line, each, self.light("name small", part), at))

    def chip(self, part, x, y, word, width):
        """Draw a token."""
        self.add(
            part,
            ink.rect(x, y - 11, width, 22, self.light("box", part), 11),
            ink.text(x + width / 2, y + 4.5, word, self.light("name", part), "middle"),
        )

    def legend(self, x, y):
        """Draw the legend of the strands."""
        for strand in (-5, 0, 5):
            self.add(
                "stream",
                ink.path([(x, y + strand), (x + 24, y + strand)], self.light("line", "stream")),
            )
        for i, each in enumerate(self.label("stream")):
            self.add(
                "stream", ink.text(x + 32, y + 4 + 15 * i, each, self.light("name small", "stream"))
            )

    def vectors(self, part, x, y, gap=26, cells=7):
        """Draw three vectors, one a token."""
        for i, strengths in enumerate(
            ((3, 7, 4, 9, 2, 6, 5), (6, 2, 8, 3, 7, 4, 9), (9, 5, 3, 6, 4, 8, 2))
        ):
            row = [[strength / 10 for strength in strengths[:cells]]]
            drawn = ink.grid(
                x, y + (i - 1) * gap - 5, row, size=8, gap=0, kind=self.light("cell", part)
            )
            self.add(part, drawn)

    def icon(self, part, x, y):
        """Draw what a step does with the scores of three queries and three keys, 40 by 40."""
        rows = {"scores": _SCORES, "mask": _MASK, "weights": _WEIGHTS}[part]
        self.add(
            part, ink.rect(x - 4, y - 4, 48, 48, self.light("box", part)), ink.grid(x, y, rows)
        )

    def average(self, x, y):
        """Draw the weighted mean of three values, 40 by 40."""
        self.add("mean", ink.rect(x - 4, y - 4, 48, 48, self.light("box", "mean")))
        for i, strength in enumerate((0.25, 0.9, 0.5)):
            self.add(
                "mean",
                ink.tag(
                    "rect",
                    x=x + 2,
                    y=y + 1 + 9 * i,
                    width=36,
                    height=6,
                    class_="cell value",
                    opacity=strength,
                ),
            )
        self.add(
            "mean",
            ink.tag("path", d=f"M{ink.number(x + 2)} {ink.number(y + 28.5)}h36", class_="line"),
            ink.tag("rect", x=x + 2, y=y + 32, width=36, height=7, class_="cell value"),
        )

    def shape(self, place, x, y, at="start"):
        """Write the shape of a tensor, if the page has one for this place."""
        if place in self.shapes:
            words = self.shapes[place]
            width = self.letter * len(words) + 4
            left = x - {"start": 2, "middle": width / 2, "end": width - 2}[at]
            # A background keeps the arrow from crossing the text.
            ground = ink.tag("rect", x=left, y=y - 11, width=width, height=14, class_="ground")
            self._front.append(ground + ink.text(x, y, words, "shape", at))

    def pin(self, part, x, y):
        """Say "you are here" once, on the upper edge of the first part that is lit."""
        if self.lit and part == self.lit[0] and not self._pinned:
            self._pinned = True
            words = WORDS["here"][self.language]
            self._front.append(
                ink.rect(x, y - 15, 104, 18, "pin", 9)
                + ink.text(x + 52, y - 1.8, words, "pinned", "middle")
            )

    def body(self, link):
        """Return the drawing; `link` makes the parts of a page into a link to it.

        Arrows are above the frames and the stream, and below the boxes.
        """
        of_page = {}
        for name, part in PARTS.items():
            if name != "stream":
                of_page.setdefault(part.page, []).extend(self._parts[name])
        stream = link(PARTS["stream"].page, "".join(self._parts["stream"]))
        links = "".join(link(page, "".join(markup)) for page, markup in of_page.items())
        return "".join([*self._back, stream, *self._arrows, links, *self._front])
