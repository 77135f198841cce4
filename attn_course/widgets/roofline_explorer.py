"""`RooflineExplorer`: what a token costs, in arithmetic and in bytes, under the roof of a machine."""

import traitlets

from attn._checks import argument_error
from attn_course.widgets._base import (
    Widget,
    check_labels,
    check_list,
    check_real,
    check_whole,
    table,
)
from attn_course.widgets._source import module, stylesheet

TEXT = {
    "es": {
        "caption": "{model} en {card}, con pesos de {bits} bits y {context} tokens de contexto: lo que se calcula y "
        "se mueve, y lo que se tarda como mínimo.",
        "head": ["calcula", "mueve", "FLOP por byte", "tarda", "por token"],
        "prefill": "leer el texto",
        "decode": "escribir, con lote {batch}",
    },
    "en": {
        "caption": "{model} on {card}, with weights of {bits} bits and a context of {context} tokens: what is computed "
        "and moved, and the least time that it takes.",
        "head": ["computes", "moves", "FLOP per byte", "takes", "per token"],
        "prefill": "read the prompt",
        "decode": "write, batch of {batch}",
    },
}
BITS = (16, 8, 4)
BATCHES = tuple(2**i for i in range(9))
CONTEXTS = tuple(2**i for i in range(7, 18))
# Bytes of a number in the cache.
CACHE = 2
MODEL = "a name, parameters, layers, the width of the heads and that of the keys"
CARD = "a name, FLOP/s, bytes per second, bytes of memory and dollars per hour, or 0"


class RooflineExplorer(Widget):
    """Choose a model, a machine and a batch, and see what reading a prompt and writing a token cost.

    A token is multiplied by every parameter, and its query by all keys and values: these are the
    operations. The weights and the cache are the bytes moved. The time is the longer of both times,
    as if arithmetic and memory never waited for each other; what moves within the chip is not
    counted.

    Parameters
    ----------
    models : list of (str, float, int, int, int)
        One or more: a name, how many parameters multiply a token, layers, ``n_heads * d_k`` and
        ``n_kv_heads * d_k``.
    cards : list of (str, float, float, float, float)
        One or more: a name, the most FLOP/s and bytes per second, the bytes of memory, and dollars per hour or 0.
    model, card : int, default 0
        Which of them.
    batch : int, default 1
        How many texts are written at once: a power of two up to 256.
    context : int, default 1024
        Tokens of each text: a power of two from 128 to 131 072.
    bits : {16, 8, 4}, default 16
        Of each weight. The cache has 16.
    language : {"es", "en"}, optional
        By default, the language in use.

    Attributes
    ----------
    seconds : list of float
        Of reading one prompt, and of writing one token of each text. They and the settings follow the
        reader's hand in JupyterLab.

    Raises
    ------
    ValueError
        If an argument does not fit.

    References
    ----------
    Williams, Waterman and Patterson (2009), Roofline: an insightful visual performance model for multicore
    architectures.

    Examples
    --------
    >>> models = [("8B", 7.5e9, 32, 4096, 1024)]
    >>> cards = [("H100", 989e12, 3.35e12, 80e9, 2)]
    >>> prefill, step = RooflineExplorer(models, cards).seconds
    >>> f"{1000 * prefill:.1f} ms, {1000 * step:.1f} ms"
    '15.8 ms, 4.5 ms'
    """

    _stem = "roofline_explorer"
    _state = ("models", "cards", "model", "card", "batch", "context", "bits")
    _esm = module(_stem)
    _css = stylesheet()

    models = traitlets.List().tag(sync=True)
    cards = traitlets.List().tag(sync=True)
    model = traitlets.Int().tag(sync=True)
    card = traitlets.Int().tag(sync=True)
    batch = traitlets.Int(1).tag(sync=True)
    context = traitlets.Int(1024).tag(sync=True)
    bits = traitlets.Int(16).tag(sync=True)
    seconds = traitlets.List().tag(sync=True)

    def __init__(
        self, models, cards, model=0, card=0, *, batch=1, context=1024, bits=16, language=None
    ):
        super().__init__(
            language,
            models=_check_rows("models", models, MODEL, 4, whole=3),
            cards=_check_rows("cards", cards, CARD, 4, whole=0),
        )
        self.model, self.card, self.batch, self.context, self.bits = (
            model,
            card,
            batch,
            context,
            bits,
        )
        self._time()

    @traitlets.validate("model", "card")
    def _validate_place(self, proposal):
        name = proposal["trait"].name
        return check_whole(name, proposal["value"], 0, max(0, len(getattr(self, f"{name}s")) - 1))

    @traitlets.validate("batch", "context", "bits")
    def _validate_step(self, proposal):
        name, value = proposal["trait"].name, proposal["value"]
        steps = {"batch": BATCHES, "context": CONTEXTS, "bits": BITS}[name]
        if value not in steps:
            raise argument_error(name, "one of " + ", ".join(map(str, steps)), value)
        return value

    @traitlets.observe("model", "card", "batch", "context", "bits")
    def _time(self, change=None):
        # Nothing can be computed while the constructor sets the traits.
        if self.models and self.cards:
            counted = counts(self.models[self.model], self.batch, self.context, self.bits)
            self.seconds = [seconds(*one, self.cards[self.card]) for one in counted]

    def _fallback(self):
        text = TEXT[self.language]
        model, card = self.models[self.model], self.cards[self.card]
        rows = []
        for batch in (0, *dict.fromkeys((1, 16, 256, self.batch))):
            prefill, decode = counts(model, max(1, batch), self.context, self.bits)
            flops, moved = decode if batch else prefill
            time = seconds(flops, moved, card)
            name = text["decode"].format(batch=batch) if batch else text["prefill"]
            rows.append(
                [
                    name,
                    *(_measure(flops, "FLOP"), _measure(moved, "B"), _measure(flops / moved, "")),
                    *(_measure(time, "s"), _measure(time / (batch or self.context), "s")),
                ]
            )
        caption = text["caption"].format(
            model=model[0], card=card[0], bits=self.bits, context=self.context
        )
        return table(caption, ["", *text["head"]], rows)

    def __repr__(self):
        model, card = self.models[self.model][0], self.cards[self.card][0]
        return f"RooflineExplorer({model!r}, {card!r}, language={self.language!r})"


def counts(model, batch, context, bits):
    """Return the FLOPs and the bytes of one prompt's prefill and of a batch's decoding step.

    >>> model = ("", 1000, 2, 8, 4)
    >>> counts(model, batch=3, context=10, bits=16)
    ((23520, 2320.0), (7920, 2960.0))
    """
    _, parameters, layers, width, kv_width = model
    weights = parameters * bits / 8
    cache = 2 * layers * kv_width * CACHE * context
    prefill = 2 * parameters * context + 2 * layers * context * (context + 1) * width
    decode = batch * (2 * parameters + 4 * layers * context * width)
    return (prefill, weights + cache), (decode, weights + batch * cache)


def seconds(flops, moved, card):
    """Return the longer of the time to compute and the time to move.

    >>> seconds(100, 10, ("", 50, 1, 0, 0))
    10.0
    """
    _, peak, bandwidth, *_ = card
    return max(flops / peak, moved / bandwidth)


def _measure(x, unit):
    """Return three digits and a unit: 16.1 GB."""
    steps = [(1e15, "P"), (1e12, "T"), (1e9, "G"), (1e6, "M"), (1e3, "k"), (1, "")]
    small = [(1e-3, "m"), (1e-6, "µ")] if unit == "s" else []
    if unit == "s":
        steps = steps[-1:]
    size, prefix = next(((s, p) for s, p in [*steps, *small] if x >= 0.9995 * s), (1, ""))
    return f"{float(f'{x / size:.3g}'):g} {prefix}{unit}".strip()


def _check_rows(name, rows, expected, n_numbers, whole):
    """Return rows of a name and numbers, of which as many as `whole` from the second on are integers."""
    rows = check_list(name, rows, f"a list of rows, each {expected}")
    if not rows or any(len(row) != n_numbers + 1 for row in rows):
        raise argument_error(name, f"one or more rows, each {expected}", repr(rows))
    checked = []
    for label, first, *rest in rows:
        numbers = [check_real(name, first, above=0)]
        for i, x in enumerate(rest):
            if i < whole:
                numbers.append(check_whole(name, x, 1, 10**6))
            else:
                # Only a price may be zero.
                numbers.append(check_real(name, x, above=0 if i < len(rest) - 1 else -1e-9))
        checked.append([check_labels(name, label)[0], *numbers])
    return checked
