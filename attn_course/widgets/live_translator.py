"""`LiveTranslator`: the trained translator at work, and what each of its words attended to."""

import numpy as np
import traitlets

from attn._checks import argument_error, check_size
from attn.applications.models import TRANSLATOR
from attn_course.widgets._base import TranslatorWidget, decimals, escape, table
from attn_course.widgets._source import module, stylesheet
from attn_course.widgets._translation import plain_cross, text_of

TEXT = {
    "es": {
        "caption": "Pesos de la atención cruzada, en promedio sobre capas y cabezas. Cada fila "
        "es la query que predice su token y suma 1; cada columna, un token de la oración.",
        "beam": "Las hipótesis que conserva un haz de {}, paso a paso, cada una con el logaritmo "
        "de su probabilidad.",
        "step": "paso {}",
    },
    "en": {
        "caption": "Cross-attention weights, averaged over layers and heads. Each row is the "
        "query that predicts its token and sums to 1; each column is a token of the sentence.",
        "beam": "The hypotheses that a beam of {} keeps, step by step, each with the logarithm "
        "of its probability.",
        "step": "step {}",
    },
}
# The widest beam that the page offers.
MOST_HYPOTHESES = 4


class LiveTranslator(TranslatorWidget):
    """Translate a sentence with a trained model, and see what each token attended to.

    The reader types or picks a sentence; its translation appears token by token, and each shows its
    weights by layer, head or on average, against the gold alignment where that is known. Parts of
    words can be joined to words. A beam search shows its tree. The model of real sentences takes
    any sentence; that of the grammar names unknown words.

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
    source_language : {"en", "es"}, default "en"
        The language of the example, which the model reads.
    turned : sequence of str
        Sentences to pick from in the other language. With them the reader may choose the direction.
    pretrained : {"tatoeba", "grammar"}
        The model that translates, as in `Translator.pretrained`: the one of the example.
    beam_width : int, default 0
        From 1 to 4: the figure is about search alone. It begins with the tree of a beam of this
        width on the example, which grows step by step, and shows no attention.
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
    _state = ("example", "gold", "search", "sentences", "pretrained")
    _esm = module(_stem)
    _css = stylesheet()

    example = traitlets.Dict().tag(sync=True)
    gold = traitlets.Dict(allow_none=True, default_value=None).tag(sync=True)
    search = traitlets.Dict(allow_none=True, default_value=None).tag(sync=True)
    sentences = traitlets.List(traitlets.Dict()).tag(sync=True)

    def __init__(
        self,
        example,
        *,
        gold=None,
        sentences=(),
        source_language="en",
        turned=(),
        pretrained=TRANSLATOR,
        beam_width=0,
        language=None,
    ):
        example = plain_cross(example)
        if isinstance(sentences, str):
            raise argument_error("sentences", "a sequence of sentences", repr(sentences))
        if check_size("beam_width", beam_width, least=0) > MOST_HYPOTHESES:
            raise argument_error("beam_width", f"at most {MOST_HYPOTHESES}", beam_width)
        if gold is not None:
            gold = _links("gold", gold, len(example["source"]), len(example["target"]))
        super().__init__(
            language,
            pretrained,
            source_language=source_language,
            turned=turned,
            example=example,
            gold=gold,
            search=grow(pretrained, source_language, example["source"], beam_width)
            if beam_width
            else None,
            sentences=[_sentence(f"sentences[{i}]", pair) for i, pair in enumerate(sentences)],
        )

    def _fallback(self):
        if self.search:
            return self._steps()
        source, target = self.example["source"], self.example["target"]
        read, written = self._languages
        mean = np.mean(self.example["cross"], axis=(0, 1))
        rows = [[word, *map(decimals, weights)] for word, weights in zip(target, mean, strict=True)]
        return (
            f'<p><span lang="{read}">{escape(self._text(source))}</span> → '
            f'<span lang="{written}">{escape(self._text(target))}</span></p>'
            f"{table(TEXT[self.language]['caption'], ['', *source], rows)}"
        )

    def _steps(self):
        text, rows = TEXT[self.language], []
        tree, tokens = self.search["tree"], self.search["tokens"]
        paths = [[]]
        for node in tree[1:]:
            paths.append([*paths[node["parent"]], tokens[str(node["token"])]])
        for step in range(1, max(map(len, paths)) + 1):
            kept = [i for i, path in enumerate(paths) if len(path) == step and tree[i]["kept"]]
            kept.sort(key=lambda i: -tree[i]["total"])
            cells = [f"{self._text(paths[i])} ({decimals(tree[i]['total'])})" for i in kept]
            cells += [""] * (self.search["width"] - len(kept))
            rows.append([text["step"].format(step), *cells])
        source = escape(self._text(self.example["source"]))
        places = [str(i + 1) for i in range(self.search["width"])]
        return (
            f'<p lang="{self._languages[0]}">{source}</p>'
            f"{table(text['beam'].format(self.search['width']), ['', *places], rows)}"
        )

    def _text(self, tokens):
        return text_of(tokens, self.pretrained["tokenizer"])

    def __repr__(self):
        source, target = (self._text(self.example[name]) for name in ("source", "target"))
        return f"LiveTranslator({source!r}, {target!r}, language={self.language!r})"


def grow(pretrained, source_language, source, width):
    """Return the tree of a beam search, as ``beamSearch`` of ``decoding.js`` does.

    Each node has the index of its parent, its token, the log-probability of the token and of the
    sequence so far, and whether it was kept. Float64, so that every processor keeps the same
    hypotheses.
    """
    # Only this figure computes in Python, and lessons in NumPy do not load torch.
    import torch

    from attn.applications.translation import Translator

    translator = Translator.pretrained(pretrained, source_language=source_language)
    model, target = translator.model.double(), translator.target
    known = {token: i for i, token in enumerate(translator.source.tokens)}
    if unknown := [token for token in source if token not in known]:
        raise argument_error("example.source", f"tokens of {pretrained!r}", unknown[0])
    with torch.no_grad():
        memory, _ = model.encode(torch.tensor([[known[token] for token in source]]))
    tree = [{"parent": None, "token": None, "logProbability": 0.0, "total": 0.0, "kept": True}]
    beam = [(0, [target.sos_id])]
    for _ in range(2 * len(source) + 10):
        ended = [one for one in beam if one[1][-1] == target.eos_id]
        grown = []
        for parent, ids in beam:
            if ids[-1] == target.eos_id:
                continue
            with torch.no_grad():
                logits = model.step(torch.tensor([ids]), None, memory=memory)[0]
            best = logits.log_softmax(dim=-1).topk(width)
            for log_p, token in zip(best.values.tolist(), best.indices.tolist(), strict=True):
                total = tree[parent]["total"] + log_p
                node = {"parent": parent, "token": token, "logProbability": log_p}
                tree.append({**node, "total": total, "kept": False})
                grown.append((len(tree) - 1, [*ids, token]))
        grown.sort(key=lambda one: -tree[one[0]]["total"])
        beam = [*ended, *grown[: width - len(ended)]]
        for place, _ in beam:
            tree[place]["kept"] = True
        if all(ids[-1] == target.eos_id for _, ids in beam):
            break
    return {
        "tree": tree,
        "winner": max((place for place, _ in beam), key=lambda place: tree[place]["total"]),
        "width": width,
        "tokens": {str(node["token"]): target.tokens[node["token"]] for node in tree[1:]},
    }


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
