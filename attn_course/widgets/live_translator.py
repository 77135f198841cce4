"""`LiveTranslator`: the trained translator at work, and where each word of it looked."""

import numpy as np
import traitlets

from attn._checks import argument_error
from attn.applications.models import TRANSLATOR
from attn_course.widgets._base import TranslatorWidget, check_labels, decimals, escape, table
from attn_course.widgets._source import module, stylesheet
from attn_course.widgets._translation import text_of

TEXT = {
    "es": {
        "caption": "Pesos de la atención cruzada, en promedio sobre capas y cabezas. Cada fila "
        "es la query que predice su token y suma 1; cada columna, un token de la oración.",
    },
    "en": {
        "caption": "Cross-attention weights, averaged over layers and heads. Each row is the "
        "query that predicts its token and sums to 1; each column is a token of the sentence.",
    },
}


class LiveTranslator(TranslatorWidget):
    """Translate a sentence with a trained model, and see what each token attended to.

    The reader types or picks a sentence; the Spanish tokens appear one by one, and each shows
    its weights by layer, head or on average, against the gold alignment where that is known.
    Parts of words can be joined to words. A beam search shows its tree. The model of real
    sentences takes any; that of the grammar names words it does not know.

    Parameters
    ----------
    example : attn.applications.translation.TranslationAttention
        What is shown before anything loads: anything with `source`, `target` and `cross`, of
        shape (n_layers, n_heads, tgt_len, src_len).
    gold : attn.corpus.Pair, optional
        The alignment of the example: anything with `sure` and `possible`, sets of
        (source position, target position).
    sentences : sequence of str or attn.corpus.Pair
        To pick from: texts, or anything with `source`, `target`, `sure` and `possible`. The
        alignments of the latter are shown where the model translates as they do.
    pretrained : {"tatoeba", "grammar"}
        The model that translates, as in `Translator.pretrained`: the one of the example.
    language : {"es", "en"}, optional
        By default, the language in use.

    Raises
    ------
    ValueError
        If the arguments do not fit together.

    Examples
    --------
    >>> from types import SimpleNamespace
    >>> example = SimpleNamespace(source=["hello"], target=["hola", "<eos>"], cross=[[[[1], [1]]]])
    >>> LiveTranslator(example, pretrained="grammar", language="en")
    LiveTranslator('hello', 'hola <eos>', language='en')
    """

    _stem = "live_translator"
    _state = ("example", "gold", "sentences", "pretrained")
    _esm = module(_stem)
    _css = stylesheet()

    example = traitlets.Dict().tag(sync=True)
    gold = traitlets.Dict(allow_none=True, default_value=None).tag(sync=True)
    sentences = traitlets.List(traitlets.Dict()).tag(sync=True)

    def __init__(self, example, *, gold=None, sentences=(), pretrained=TRANSLATOR, language=None):
        if missing := [n for n in ("source", "target", "cross") if not hasattr(example, n)]:
            expected = "what `Translator.attention` returns"
            raise argument_error(
                "example", expected, f"{type(example).__name__} without `{missing[0]}`"
            )
        source = check_labels("example.source", example.source)
        target = check_labels("example.target", example.target)
        cross = np.asarray(example.cross)
        shape = (len(target), len(source))
        if cross.ndim != 4 or 0 in cross.shape or cross.shape[2:] != shape:
            expected = f"shape (n_layers, n_heads, {shape[0]}, {shape[1]})"
            raise argument_error("example.cross", expected, cross.shape)
        if cross.dtype.kind not in "fiu" or not np.isfinite(cross).all():
            raise argument_error(
                "example.cross", "finite numbers", f"some others, of dtype {cross.dtype}"
            )
        cross = cross.astype(float).round(4).tolist()
        if isinstance(sentences, str):
            raise argument_error("sentences", "a sequence of sentences", repr(sentences))
        if gold is not None:
            gold = _links("gold", gold, len(source), len(target))
        super().__init__(
            language,
            pretrained,
            example={"source": source, "target": target, "cross": cross},
            gold=gold,
            sentences=[_sentence(f"sentences[{i}]", pair) for i, pair in enumerate(sentences)],
        )

    def _fallback(self):
        source, target = self.example["source"], self.example["target"]
        mean = np.mean(self.example["cross"], axis=(0, 1))
        rows = [[word, *map(decimals, weights)] for word, weights in zip(target, mean, strict=True)]
        return (
            f'<p><span lang="en">{escape(self._text(source))}</span> → '
            f'<span lang="es">{escape(self._text(target))}</span></p>'
            f"{table(TEXT[self.language]['caption'], ['', *source], rows)}"
        )

    def _text(self, tokens):
        return text_of(tokens, self.pretrained["tokenizer"])

    def __repr__(self):
        source, target = (self._text(self.example[name]) for name in ("source", "target"))
        return f"LiveTranslator({source!r}, {target!r}, language={self.language!r})"


def _sentence(name, pair):
    if isinstance(pair, str):
        if not pair.strip():
            raise argument_error(name, "a sentence", repr(pair))
        return {"source": pair}
    texts = {side: getattr(pair, side) for side in ("source", "target")}
    for side, text in texts.items():
        if not isinstance(text, str) or not text.strip():
            raise argument_error(f"{name}.{side}", "a sentence", repr(text))
    return texts | _links(name, pair, *(len(text.split()) for text in texts.values()))


def _links(name, gold, n_source, n_target):
    """Return the links of an alignment as sorted lists of [source, target], if they are inside."""
    found = {}
    for kind in ("sure", "possible"):
        links = found[kind] = sorted([int(i), int(j)] for i, j in getattr(gold, kind))
        outside = [
            link for link in links if not (0 <= link[0] < n_source and 0 <= link[1] < n_target)
        ]
        if outside:
            expected = f"(source, target) within {n_source} and {n_target} words"
            raise argument_error(f"{name}.{kind}", expected, tuple(outside[0]))
    return found
