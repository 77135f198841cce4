"""The machine on a wide screen: the encoder above the decoder, and the inside of attention below."""

from attn_course.drawings import _ink as ink
from attn_course.drawings._layout import Layout
from attn_course.drawings.parts import ALONE, NEXT, SOURCE, TARGET, WORDS

# The start of the layers, the distance of their blocks and the width of a block.
_START, _PITCH, _BLOCK = 224, 152, 134
# The heights of the two streams.
_ENCODER, _DECODER = 112, 312


class Wide(Layout):
    """900 by 570, or 900 by 374 for a decoder alone."""

    width, height = 900, 570

    def draw(self):
        if self.alone:
            self.top = 196
            words, word = ALONE[self.language]
            blocks = ("causal_attention", "feed_forward")
            self._lane(_DECODER, "target", words, "decoder", blocks)
            self._words(word)
            self._inside()
            self.legend(556, _DECODER - 48)
            return
        encoder = ("self_attention", "feed_forward")
        decoder = ("causal_attention", "cross_attention", "feed_forward")
        self._lane(_ENCODER, "source", SOURCE, "encoder", encoder)
        self._lane(_DECODER, "target", TARGET, "decoder", decoder)
        self._memory()
        self._words()
        self._inside()
        self.legend(742, _ENCODER - 48)

    def _lane(self, y, tokens, words, frame, blocks):
        side = "src" if tokens == "source" else "tgt"
        self.name(tokens, 1, y - 48)
        for i, word in enumerate(words):
            here = y + 26 * (i - 1)
            self.chip(tokens, 1, here, word, 60)
            self.flow("embeddings", (61, here), (81, here))
        self.pin(tokens, 1, y - 85)
        self.vectors("embeddings", 84, y)
        self.name("embeddings", 84, y - 48)
        self.shape(f"{side}_ids", 0, y - 68)
        self.shape(f"{side}_x", 84, y - 68)
        end = _START + _PITCH * len(blocks) + 32 if side == "src" else 688
        self.stream(140, end, y, fans_out=side == "src")
        self.add("positions", ink.plus(176, y), self._wave(156, y + 38))
        self.flow("positions", (176, y + 26), (176, y + 9))
        self.name("positions", 176, y + 62, "middle")
        self.pin("positions", 124, y + 84)
        self.behind(
            ink.rect(
                _START - 16, y - 96, _PITCH * len(blocks) + 14, 124, self.light("frame", frame), 10
            )
        )
        self.add(
            frame,
            ink.text(_START - 2, y - 79, self.label(frame)[0], self.light("name small", frame)),
        )
        self.pin(frame, _START + 160, y - 96)
        for i, block in enumerate(blocks):
            self._sublayer(block, _START + _PITCH * i, y)

    def stream(self, x, end, y, fans_out):
        """Three strands, one a token, from the vectors at `x` on; they may end in three vectors."""
        first, last = x + 22, end - (22 if fans_out else 0)
        self.add(
            "stream", ink.rect(first, y - 9, last - first, 18, self.light("sunk", "stream"), 4)
        )
        for strand in (-1, 0, 1):
            near, far = y + 5 * strand, y + 26 * strand
            curve = f"M{x + 2} {far}C{x + 14} {far} {x + 10} {near} {first} {near}H{last}"
            if fans_out:
                curve += f"C{last + 12} {near} {end - 14} {far} {end - 2} {far}"
            self.add("stream", ink.tag("path", d=curve, class_=self.light("line", "stream")))

    def _sublayer(self, block, x, y):
        """A block reads from the stream at its left; the sum and the norm stand at its right."""
        cross = block == "cross_attention"
        self.block(block, x, y - 60, _BLOCK, 38, marks=block.endswith("attention"))
        self.flow(block, (x + 16, y - 5), (x + 16, y - 22), kind="query" if cross else "")
        self.flow(block, (x + 84, y - 22), (x + 84, y - 11))
        self.add(
            "norm",
            ink.rect(x + 30, y - 11, 104, 22, self.light("box", "norm"), 11),
            ink.plus(x + 43, y, 7),
            ink.text(x + 55, y + 4, "LayerNorm", self.light("name small", "norm")),
        )

    def _wave(self, x, y):
        curve = f"M{x} {y}q5 -12 10 0t10 0t10 0t10 0"
        return ink.tag("path", d=curve, class_=self.light("line", "positions"))

    def _memory(self):
        y, x = _ENCODER, _START + _PITCH * 2 + 34
        self.vectors("memory", x, y)
        self.name("memory", x, y - 48)
        self.shape("memory", x, y - 68)
        cross = _START + _PITCH
        for hue, start, height, end in (("key", 20, 180, 116), ("value", 36, 194, 128)):
            self.flow(
                "cross_attention",
                (x + start, y + 32),
                (x + start, height),
                (cross + end, height),
                (cross + end, _DECODER - 60),
                kind=hue,
            )
        self._front.append(ink.text(cross + 162, 174, "key", "small key", "middle"))
        self._front.append(ink.text(cross + 162, 208, "value", "small value", "middle"))

    def _words(self, word=NEXT):
        y = _DECODER
        self.block("linear", 700, y - 19, 58, 38)
        self.block("softmax", 774, y - 19, 70, 38)
        self.wire("linear", (692, y), (700, y))
        self.flow("softmax", (758, y), (773, y))
        self.shape("logits", 766, y + 36, "middle")
        self.chip("next_word", 855, y, word, 44)
        self.flow("next_word", (844, y), (855, y))
        self.name("next_word", 868, y + 54, "end")
        self.pin("next_word", 764, y + 97)
        self.block("loss", 734, y - 92, 90, 40, "dashed")
        self.flow("loss", (809, y - 19), (809, y - 51), kind="dashed")
        self.block("stop", 841, y - 92, 58, 40)
        self.flow("stop", (878, y - 11), (878, y - 51))
        self.flow("loop", (878, y + 11), (878, y + 74), (30, y + 74), (30, y + 39))
        self.add(
            "loop",
            ink.text(
                430, y + 78, self.label("loop")[0], self.light("name small halo", "loop"), "middle"
            ),
        )

    def _inside(self):
        top, y = 424, 500
        self.behind(ink.rect(0.5, top, 899, 140, "frame", 10))
        self.behind(ink.text(14, top + 20, WORDS["inside"][self.language], "soft small"))
        for i, hue in enumerate(("query", "key", "value")):
            here = y + 29 * (i - 1)
            fork = [(14, y), (42, y)] if i == 1 else [(18, y), (26, y), (26, here), (42, here)]
            self.flow(hue, *fork, bend=6)
            self.block(hue, 42, here - 12, 62, 24, hue)
            self.shape(hue, 110, here - 5)
            self.wire(hue, (104, here), (206, here), kind=hue)
        for i in (2, 1, 0):
            self.add(
                "heads", ink.rect(206 + 6 * i, y - 38 - 4 * i, 50, 76, self.light("box", "heads"))
            )
        self.add(
            "heads",
            *(
                ink.text(231, y + 4.5 + 29 * i, "· · ·", self.light("name", "heads"), "middle")
                for i in (-1, 0, 1)
            ),
        )
        self.name("heads", 231, y + 57, "middle")
        self.pin("heads", 186, y - 46)
        columns = {"scores": 306, "mask": 404, "weights": 502}
        for part, x in columns.items():
            self.icon(part, x, y - 20)
            self.name(part, x + 20, y - 34, "middle")
            self.shape(part, x + 20, y + 57, "middle")
        self.average(600, y - 20)
        self.name("mean", 620, y - 34, "middle")
        self.shape("mean", 676, y + 57, "middle")
        self.flow("query", (256, y - 29), (278, y - 29), (278, y - 10), (302, y - 10), kind="query")
        self.flow("key", (256, y), (278, y), (278, y + 10), (302, y + 10), kind="key")
        self.flow(
            "value",
            (256, y + 29),
            (278, y + 29),
            (278, y + 38),
            (620, y + 38),
            (620, y + 25),
            kind="value",
        )
        for start, end, part in (
            (350, 400, "mask"),
            (448, 498, "weights"),
            (546, 596, "mean"),
            (644, 706, "output"),
        ):
            self.flow(part, (start, y), (end, y))
        self.block("output", 706, y - 22, 92, 44)
        self.flow("output", (798, y), (828, y))
        self.shape("output", 752, y + 40, "middle")
        self._front.append(ink.lines(834, y, WORDS["back"][self.language], "soft small", "start"))
