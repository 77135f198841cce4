"""`TranslationRibbons`: a translation, and ribbons from its words to those that they attended to."""

import numpy as np
import traitlets

from attn._checks import argument_error
from attn.applications.models import TRANSLATOR
from attn_course.widgets._base import (
    TranslatorWidget,
    check_labels,
    check_list,
    check_real,
    decimals,
    escape,
    table,
)
from attn_course.widgets._source import module, stylesheet
from attn_course.widgets._translation import plain_cross, text_of

TEXT = {
    "es": {
        "caption": "Cuánta atención presta cada token que se escribe (fila) a cada token en {from}, en promedio sobre "
        "capas y cabezas.",
        "drawing": "Cintas entre cada palabra en {to} y las palabras en {from} a las que se atendió al escribirla.",
    },
    "en": {
        "caption": "How much attention each token that is written (row) pays to each {from} token, averaged over "
        "layers and heads.",
        "drawing": "Ribbons between each {to} word and the {from} words that were attended to while it was written.",
    },
}
WIDTH, HEIGHT, SIZE = 880, 240, 21


class TranslationRibbons(TranslatorWidget):
    """Show a translation with ribbons as wide as the attention between its words.

    A touched ribbon opens the heads that make it, a head its matrix, a cell of the matrix its dot
    product. The example is there from the start. For a sentence that the reader types, and for a
    dot product, the model is loaded.

    Parameters
    ----------
    example : attn.applications.translation.TranslationAttention
        From `Translator.attention`: anything with its `source`, `target` and `cross`.
    probabilities : sequence of float, optional
        The probability that the model gave each token of the target, `<eos>` included. Words with
        less than a half are marked as guessed.
    sentences : sequence of str
        Sentences to choose from, in the language of the example.
    source_language : {"en", "es"}, default "en"
        The language of the example, which the model reads.
    turned : sequence of str
        Sentences to choose from in the other language. With them the reader may choose the direction.
    language : {"es", "en"}, optional
        By default, the language in use.

    Raises
    ------
    ValueError
        If the weights do not fit the tokens, a probability is outside [0, 1], or a sentence is empty.

    Examples
    --------
    >>> from types import SimpleNamespace
    >>> example = SimpleNamespace(source=["no"], target=["no", "<eos>"], cross=[[[[1], [1]]]])
    >>> TranslationRibbons(example, language="en")
    TranslationRibbons('no', 'no', language='en')
    """

    _stem = "ribbons"
    _state = ("example", "sentences", "pretrained")
    _esm = module(_stem)
    _css = stylesheet()

    example = traitlets.Dict().tag(sync=True)
    sentences = traitlets.List(traitlets.Unicode()).tag(sync=True)

    def __init__(
        self,
        example,
        *,
        probabilities=None,
        sentences=(),
        source_language="en",
        turned=(),
        language=None,
    ):
        sentences = [] if sentences in ((), []) else check_labels("sentences", sentences)
        example = plain_cross(example)
        if probabilities is not None:
            n_tokens = len(example["target"])
            expected = f"{n_tokens} numbers from 0 to 1, one for each token of the target"
            probabilities = check_list("probabilities", probabilities, expected, n_tokens)
            probabilities = [
                check_real(f"probabilities[{i}]", p) for i, p in enumerate(probabilities)
            ]
            if not all(0 <= p <= 1 for p in probabilities):
                raise argument_error("probabilities", expected, probabilities)
        super().__init__(
            language,
            TRANSLATOR,
            source_language=source_language,
            turned=turned,
            example={**example, "probabilities": probabilities},
            sentences=sentences,
        )

    def _fallback(self):
        text = TEXT[self.language]
        source, target = self.example["source"], self.example["target"]
        mean = np.mean(self.example["cross"], axis=(0, 1))
        rows = [
            [token, *map(decimals, weights)] for token, weights in zip(target, mean, strict=True)
        ]
        return f"{self._drawing(mean)}{table(self._told(text['caption']), ['', *source], rows)}"

    def _drawing(self, weights):
        """Return the ribbons between tokens as SVG; the page has another drawing once its script runs."""
        source = self.example["source"]
        target = [token for token in self.example["target"] if token != "<eos>"]
        rows = [(source, 40, 54), (target, HEIGHT - 15, HEIGHT - 40)]
        places = []
        for tokens, _, _ in rows:
            widths = np.array([0.5 * SIZE * len(token) + 0.6 * SIZE for token in tokens])
            free = (WIDTH - widths.sum()) / len(tokens)
            places.append(np.cumsum(widths + free) - (widths + free) / 2)
        ribbons, middle = [], HEIGHT / 2
        for i, there in enumerate(places[1]):
            for j, here in enumerate(places[0]):
                if weights[i][j] >= 0.03:
                    ribbons.append(
                        f'<path d="M{here:.0f} 54C{here:.0f} {middle:.0f} {there:.0f} {middle:.0f} '
                        f'{there:.0f} {HEIGHT - 40}" stroke-width="{27 * weights[i][j]:.1f}"/>'
                    )
        words = [
            f'<text x="{x:.0f}" y="{y}" lang="{language}">{escape(token.strip())}</text>'
            for (tokens, y, _), xs, language in zip(rows, places, self._languages, strict=True)
            for token, x in zip(tokens, xs, strict=True)
        ]
        return (
            f'<svg class="attn-ribbons-still" viewBox="0 0 {WIDTH} {HEIGHT}" role="img" '
            f'aria-label="{escape(self._told(TEXT[self.language]["drawing"]))}">{"".join(ribbons + words)}</svg>'
        )

    def __repr__(self):
        source, target = (
            text_of(
                [token for token in self.example[name] if token != "<eos>"],
                self.pretrained["tokenizer"],
            )
            for name in ("source", "target")
        )
        return f"TranslationRibbons({source!r}, {target!r}, language={self.language!r})"
