"""`HeadViewer`: every head of the trained translator on one sentence, and what it is good for."""

import numpy as np
import traitlets

from attn._checks import check_choice
from attn_course.widgets._base import TranslatorWidget, check_labels, decimals, escape, table
from attn_course.widgets._source import module, stylesheet
from attn_course.widgets._translation import plain_translation

STACKS = ("encoder", "decoder", "cross")
TEXT = {
    "es": {
        "caption": "Adónde va el mayor peso de cada cabeza: {}. Cada fila es una query; cada "
        "columna, una cabeza.",
        "stacks": {
            "encoder": "autoatención del codificador",
            "decoder": "autoatención del decodificador",
            "cross": "atención cruzada",
        },
        "head": "capa {}, cabeza {}",
    },
    "en": {
        "caption": "Where the largest weight of each head goes: {}. Each row is a query; each "
        "column, a head.",
        "stacks": {
            "encoder": "self-attention of the encoder",
            "decoder": "self-attention of the decoder",
            "cross": "cross-attention",
        },
        "head": "layer {}, head {}",
    },
}


class HeadViewer(TranslatorWidget):
    """Look at every head of the grammar's translator at once, enlarge one, cut any of them.

    The model in the page translates the sentence again without the heads that the reader cuts.
    Each head shows how probable the whole translation remains when it alone is cut.

    Parameters
    ----------
    example : attn.applications.translation.TranslationAttention
        What is shown before the model is loaded, and without JavaScript. Anything with its
        five attributes will do.
    sentences : sequence of str
        English sentences to choose from, besides the example's.
    stack : {"encoder", "decoder", "cross"}
        The attention that is shown at first.
    language : {"es", "en"}, optional
        By default, the language in use.

    Raises
    ------
    ValueError
        If the example's arrays do not fit its tokens, a sentence is empty, or there is no such
        attention.

    References
    ----------
    Michel, Levy and Neubig (2019), Are Sixteen Heads Really Better than One?, section 3.2.

    Examples
    --------
    >>> from types import SimpleNamespace
    >>> even = [[[[0.5, 0.5], [0.5, 0.5]]]]  # one layer, one head, two by two tokens
    >>> example = SimpleNamespace(
    ...     source=["blue", "sky"], target=["cielo", "<eos>"], encoder=even, decoder=even, cross=even
    ... )
    >>> HeadViewer(example, sentences=["The red house"], language="en")
    HeadViewer(['blue', 'sky'], stack='cross', language='en')
    """

    _stem = "head_viewer"
    _state = ("example", "sentences", "stack", "pretrained")
    _esm = module(_stem)
    _css = stylesheet()

    example = traitlets.Dict().tag(sync=True)
    sentences = traitlets.List(traitlets.Unicode()).tag(sync=True)
    stack = traitlets.Unicode().tag(sync=True)

    def __init__(self, example, *, sentences=(), stack="cross", language=None):
        sentences = check_labels("sentences", sentences) if len(sentences) else []
        check_choice("stack", stack, STACKS)
        super().__init__(
            language,
            "grammar",
            example=plain_translation(example),
            sentences=sentences,
            stack=stack,
        )

    def _fallback(self):
        text, example = TEXT[self.language], self.example
        source, target = example["source"], example["target"]
        weights = np.array(example[self.stack])
        columns = source if self.stack != "decoder" else ["<sos>", *target[:-1]]
        rows = source if self.stack == "encoder" else target
        heads = list(np.ndindex(*weights.shape[:2]))
        head = ["", *(text["head"].format(i + 1, h + 1) for i, h in heads)]
        cells = [
            [token, *(_top(weights[where][i], columns) for where in heads)]
            for i, token in enumerate(rows)
        ]
        caption = text["caption"].format(text["stacks"][self.stack])
        return (
            f'<p><span lang="en">{escape(" ".join(source))}</span> → '
            f'<span lang="es">{escape(" ".join(target))}</span></p>{table(caption, head, cells)}'
        )

    def __repr__(self):
        source, stack = self.example["source"], self.stack
        return f"HeadViewer({source!r}, stack={stack!r}, language={self.language!r})"


def _top(row, tokens):
    return f"{tokens[row.argmax()]} {decimals(row.max())}"
