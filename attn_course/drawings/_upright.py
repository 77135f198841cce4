"""The machine on a phone: encoder at the left, decoder at the right, both read downwards.

The inside of attention follows only if the page is about a part of it.
"""

from attn_course.drawings import _ink as ink
from attn_course.drawings._layout import Layout
from attn_course.drawings.parts import ALONE, NEXT, SOURCE, TARGET, WORDS

# The start of the blocks, their distance and their width.
_TOP, _PITCH, _BLOCK = 210, 86, 122
_INSIDE = ("query", "key", "value", "heads", "scores", "mask", "weights", "mean", "output")


class Upright(Layout):
    """356 wide; 640 high, or 990 with the inside of attention; 86 less for a decoder alone."""

    width, top = 356, -10
    letter = 6.65

    def draw(self):
        words, word, blocks = TARGET, NEXT, ("causal_attention", "cross_attention", "feed_forward")
        if self.alone:
            words, word = ALONE[self.language]
            blocks = ("causal_attention", "feed_forward")
        else:
            self._column(
                "source", SOURCE, (44, 44, 60), 1, 16, "encoder", ("self_attention", "feed_forward")
            )
        self._column("target", words, (52, 36, 52), 190, 332, "decoder", blocks)
        if not self.alone:
            self._memory()
        end = _TOP + _PITCH * len(blocks)
        self._words(end + 4, word)
        self.legend(4, end + 28)
        self.height = end + 174
        if set(self.lit) & set(_INSIDE):
            self._inside(end + 184)
            self.height = end + 510

    def _column(self, tokens, words, widths, left, stream, frame, blocks):
        side = "src" if tokens == "source" else "tgt"
        self.name(tokens, left, 24)
        self.shape(f"{side}_ids", left + 54, 24)
        x, strands = left, []
        for word, width in zip(words, widths, strict=True):
            self.chip(tokens, x, 46, word, width)
            middle = x + width / 2
            self.flow("embeddings", (middle, 57), (middle, 69))
            strands.append(middle)
            x += width + 6
        self.strips("embeddings", strands, 71)
        self.pin(tokens, left, 6)
        text = 54 if side == "src" else 190
        self.name("embeddings", text, 117)
        self.shape(f"{side}_x", text, 133)
        end = _TOP + _PITCH * len(blocks)
        self.stream(strands, stream, 80, end + 4)
        self._positions(stream, text, side)
        inner, outer = (38, 0) if side == "src" else (190, 182)
        self.behind(
            ink.rect(
                outer + 0.5,
                _TOP - 38,
                165,
                _PITCH * len(blocks) + 34,
                self.light("frame", frame),
                10,
            )
        )
        self.add(
            frame,
            ink.text(
                38 if side == "src" else 190,
                _TOP - 18,
                self.label(frame)[0],
                self.light("name small", frame),
            ),
        )
        self.pin(frame, outer + 56, _TOP - 38)
        for i, block in enumerate(blocks):
            self._sublayer(block, inner, stream, _TOP + _PITCH * i)

    def strips(self, part, middles, y):
        for i, middle in enumerate(middles):
            row = [
                [
                    strength / 10
                    for strength in ((3, 7, 4, 9, 2), (6, 2, 8, 3, 7), (9, 5, 3, 6, 4))[i]
                ]
            ]
            self.add(
                part, ink.grid(middle - 17.5, y, row, size=7, gap=0, kind=self.light("cell", part))
            )

    def stream(self, strands, x, y, end):
        """Three strands, one a token, from the vectors at the height `y` down."""
        self.add(
            "stream", ink.rect(x - 9, y + 44, 18, end - y - 44, self.light("sunk", "stream"), 4)
        )
        for i, start in enumerate(strands):
            here = x + 5 * (i - 1)
            curve = f"M{ink.number(start)} {y}C{ink.number(start)} {y + 24} {here} {y + 14} {here} {y + 44}V{end}"
            self.add("stream", ink.tag("path", d=curve, class_=self.light("line", "stream")))

    def _positions(self, stream, text, side):
        y, inward = 147, 1 if side == "src" else -1
        near = stream + 9 * inward
        wave = stream + 22 if inward == 1 else stream - 52
        curve = f"M{wave} {y}q3.75 -10 7.5 0t7.5 0t7.5 0t7.5 0"
        self.add(
            "positions",
            ink.plus(stream, y),
            ink.tag("path", d=curve, class_=self.light("line", "positions")),
        )
        self.flow("positions", (near + 12 * inward, y), (near, y))
        if inward == 1:
            self.name("positions", wave + 36, y + 4)
        else:
            self.name("positions", wave - 6, y + 4, "end")
        self.pin("positions", text, 173)

    def _sublayer(self, block, x, stream, y):
        """A block reads from the stream beside it; the sum and the norm stand below, on the stream."""
        cross = block == "cross_attention"
        left = stream < x
        self.block(
            block, x, y, _BLOCK, 36, marks=block.endswith("attention"), leading=14, size="small"
        )
        edge, away = (x, 5) if left else (x + _BLOCK, -5)
        self.flow(block, (stream + away, y + 18), (edge, y + 18), kind="query" if cross else "")
        down = 76 if left else 272
        self.flow(block, (down, y + 36), (down, y + 48))
        pill = 5 if left else 237
        self.add(
            "norm",
            ink.rect(pill, y + 48, 106, 22, self.light("box", "norm"), 11),
            ink.plus(stream, y + 59, 7),
            ink.text(28 if left else 248, y + 63, "LayerNorm", self.light("name small", "norm")),
        )

    def _memory(self):
        y = _TOP + 2 * _PITCH
        middles = (21.5, 66.5, 111.5)
        for i, end in enumerate(middles):
            here = 16 + 5 * (i - 1)
            curve = f"M{here} {y + 4}C{here} {y + 24} {end} {y + 12} {end} {y + 34}"
            self.add("stream", ink.tag("path", d=curve, class_=self.light("line", "stream")))
        self.strips("memory", middles, y + 36)
        self.name("memory", 4, y + 60)
        self.shape("memory", 4, y + 76)
        for hue, start, x, end in (("key", 38, 171, 14), ("value", 42, 177, 24)):
            self.flow(
                "cross_attention",
                (131, y + start),
                (x, y + start),
                (x, _TOP + _PITCH + end),
                (190, _TOP + _PITCH + end),
                kind=hue,
                bend=4,
            )
        self._front.append(ink.text(144, y + 32, "key", "small key"))
        self._front.append(ink.text(134, y + 58, "value", "small value"))

    def _words(self, y, word):
        self.block("linear", 268, y, 78, 26)
        self.flow("softmax", (332, y + 26), (332, y + 42))
        self.block("softmax", 268, y + 42, 78, 26)
        self.shape("logits", 260, y + 17, "end")
        self.flow("next_word", (324, y + 68), (324, y + 82))
        self.chip("next_word", 302, y + 93, word, 44)
        self.name("next_word", 346, y + 121, "end")
        self.pin("next_word", 242, y + 162)
        self.block("loss", 132, y + 46, 94, 36, "dashed", leading=14)
        self.flow("loss", (268, y + 58), (227, y + 58), kind="dashed")
        self.block("stop", 132, y + 90, 70, 36, leading=14)
        self.flow("stop", (302, y + 97), (203, y + 97))
        self.flow("loop", (346, y + 93), (352, y + 93), (352, 46), (341, 46), bend=5)
        self.add(
            "loop",
            ink.text(346, y + 139, self.label("loop")[0], self.light("name small", "loop"), "end"),
        )

    def _inside(self, top):
        centres = (50, 136, 222, 308)
        self.behind(ink.rect(0.5, top, 355, 324, "frame", 10))
        self.behind(ink.text(12, top + 20, WORDS["inside"][self.language], "soft small"))
        for hue, x in zip(("query", "key", "value"), centres, strict=False):
            self.block(hue, x - 37, top + 36, 74, 26, hue)
            self.flow("heads", (x, top + 62), (x, top + 92), kind=hue)
            self.shape(hue, x, top + 80, "middle")
        for i in (2, 1, 0):
            self.add(
                "heads", ink.rect(13 + 5 * i, top + 92 + 4 * i, 246, 28, self.light("box", "heads"))
            )
        self.add(
            "heads", ink.lines(136, top + 106, self.label("heads"), self.light("name", "heads"))
        )
        self.pin("heads", 244, top + 133)
        y, out = top + 168, top + 128
        self.flow("scores", (42, out), (42, y - 4), kind="query")
        self.flow("scores", (136, out), (136, out + 17), (58, out + 17), (58, y - 4), kind="key")
        self.flow("mean", (222, out), (222, out + 17), (308, out + 17), (308, y - 4), kind="value")
        for part, x in zip(("scores", "mask", "weights"), centres, strict=False):
            self.icon(part, x - 20, y)
            self.name(part, x, y + 64, "middle")
            self.shape(part, x, y + 80, "middle")
        self.average(288, y)
        self.name("mean", 308, y + 78, "middle")
        self.shape("mean", 341, y + 94, "end")
        for part, x in zip(("mask", "weights", "mean"), centres, strict=False):
            self.flow(part, (x + 24, y + 20), (x + 62, y + 20))
        self.flow("output", (332, y + 20), (346, y + 20), (346, y + 126), (252, y + 126))
        self.block("output", 148, y + 107, 104, 38, leading=14)
        self.flow("output", (148, y + 126), (112, y + 126))
        self.shape("output", 142, y + 112, "end")
        self._front.append(
            ink.lines(106, y + 130, WORDS["back"][self.language], "soft small", "end")
        )
