"""`LiveMachine`: the drawing of the machine at work on a sentence, part by part, with its numbers."""

import traitlets

from attn._checks import argument_error
from attn.applications.models import TRANSLATOR
from attn_course.drawings import MovingMachine
from attn_course.widgets._base import TranslatorWidget, check_labels, decimals, escape, table
from attn_course.widgets._source import module, stylesheet
from attn_course.widgets._translation import text_of

TEXT = {
    "es": {
        "said": "Ejemplo: «{}» se traduce como «{}».",
        "caption": "Cada token que el modelo escribe, su probabilidad, el que le sigue en probabilidad y el "
        "token en {from} al que la atención cruzada da más peso, en promedio sobre capas y cabezas.",
        "head": ["probabilidad", "el segundo", "token en {from}"],
    },
    "en": {
        "said": "Example: “{}” becomes “{}”",
        "caption": "Each token that the model writes, its probability, the second most probable one, and the "
        "{from} token to which cross-attention gives most weight, averaged over layers and heads.",
        "head": ["probability", "second", "{from} token"],
    },
}


class LiveMachine(TranslatorWidget):
    """Step through the translation of a sentence in the drawing of the machine.

    The active part is lit; beside it stand its numbers, and a link to the chapter about it.

    Parameters
    ----------
    journey : dict
        The numbers of the example, as `attn_course.journey.journey` returns them.
    sentences : sequence of str
        Sentences to choose from, in the language of the example.
    source_language : {"en", "es"}, default "en"
        The language of the example, which the model reads.
    turned : sequence of str
        Sentences to choose from in the other language. With them the reader may choose the direction.
    pretrained : {"tatoeba"}
        The model of the example, as in `Translator.pretrained`.
    language : {"es", "en"}, optional
        By default, the language in use.

    Raises
    ------
    ValueError
        If the journey lacks something, or a sentence is empty.

    Examples
    --------
    >>> from attn.applications.translation import Translator
    >>> from attn_course.journey import journey
    >>> example = journey(Translator.pretrained(), "We ate fish yesterday.")
    >>> LiveMachine(example, sentences=["Where is the library?"], language="en")
    LiveMachine('We ate fish yesterday.', 'Ayer comimos pescado.', language='en')
    """

    _stem = "live_machine"
    _state = ("journey", "sentences", "pretrained")
    _esm = module(_stem)
    _css = stylesheet()

    journey = traitlets.Dict().tag(sync=True)
    sentences = traitlets.List(traitlets.Unicode()).tag(sync=True)
    # The site puts the drawing into the page at build time. In JupyterLab the kernel sends it.
    drawing = traitlets.Unicode().tag(sync=True)

    _parts = (
        "source",
        "source_ids",
        "target",
        "target_ids",
        "sizes",
        "focus",
        "other",
        "head",
        "embeddings",
        "encoder",
        "inside",
        "memory",
        "own",
        "cross",
        "x",
        "best",
    )

    def __init__(
        self,
        journey,
        *,
        sentences=(),
        source_language="en",
        turned=(),
        pretrained=TRANSLATOR,
        language=None,
    ):
        sentences = [] if sentences in ((), []) else check_labels("sentences", sentences)
        missing = [part for part in self._parts if part not in journey]
        if missing:
            raise argument_error(
                "journey", "what attn_course.journey.journey returns", f"one without {missing}"
            )
        super().__init__(
            language,
            pretrained,
            source_language=source_language,
            turned=turned,
            journey=dict(journey),
            sentences=sentences,
        )
        self.drawing = MovingMachine(self.language)._repr_html_()

    def _fallback(self):
        text, journey = TEXT[self.language], self.journey
        rows = []
        for best, weights in zip(journey["best"], journey["cross"], strict=True):
            (token, _, probability), (second, *_) = best[:2]
            most = journey["source"][max(range(len(weights)), key=weights.__getitem__)]
            rows.append([token, decimals(probability), second, most])
        return (
            # In Spanish the full stop comes after the closing quotation mark.
            f"<p>{escape(text['said'].format(*self._texts()).replace('.».', '».'))}</p>"
            f"{table(self._told(text['caption']), ['', *map(self._told, text['head'])], rows)}"
        )

    def _texts(self):
        """Return the example and its translation."""
        source, target = self.journey["source"], self.journey["target"]
        written = [token for token in target if token != "<eos>"]
        return [text_of(tokens, self.pretrained["tokenizer"]) for tokens in (source, written)]

    def __repr__(self):
        source, target = self._texts()
        return f"LiveMachine({source!r}, {target!r}, language={self.language!r})"
