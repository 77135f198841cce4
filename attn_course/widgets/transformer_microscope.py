"""`TransformerMicroscope`: one sentence through the whole trained model, number by number."""

import numpy as np
import traitlets

from attn.applications.models import TRANSLATOR
from attn_course.widgets._base import TranslatorWidget, check_labels, decimals, escape, table
from attn_course.widgets._source import module, stylesheet
from attn_course.widgets._translation import plain_translation, text_of

TEXT = {
    "es": {
        "said": "«{}» se traduce como «{}».",
        "stages": "Por dónde pasa la oración:",
        "steps": [
            "Tokens: la oración se parte en palabras o partes de palabra, y cada una es un número.",
            "Embeddings: cada número busca su vector en una tabla, multiplicado por la raíz de d_model.",
            "Posiciones: se suman a los vectores, o giran las queries y las keys.",
            "Query, key y value: tres proyecciones lineales de cada vector, en cada cabeza.",
            "Puntajes: el producto punto de cada query con cada key, entre la raíz de d_k.",
            "Pesos: la softmax de cada fila de puntajes; cada fila suma 1.",
            "Salida de la atención: la media de los values con esos pesos; las cabezas se unen y pasan por W_O.",
            "Conexión residual: lo calculado se suma al vector que había.",
            "Red prealimentada: max(0, x W_1 + b_1) W_2 + b_2, token por token, y otra suma.",
            "Logits: el producto del último vector con el de cada token del vocabulario.",
            "Softmax: los logits, hechos probabilidades; el token más probable es el siguiente.",
        ],
        "caption": (
            "Pesos de la atención cruzada, media de capas y cabezas. Cada fila es el token que se "
            "escribe y suma 1; cada columna, un token que se lee."
        ),
    },
    "en": {
        "said": "“{}” becomes “{}”",
        "stages": "What the sentence passes through:",
        "steps": [
            "Tokens: the sentence is split into words or parts of words, and each is a number.",
            "Embeddings: each number looks up its vector in a table, times the root of d_model.",
            "Positions: they are added to the vectors, or turn the queries and keys.",
            "Query, key and value: three linear projections of each vector, in each head.",
            "Scores: the dot product of each query with each key, over the root of d_k.",
            "Weights: the softmax of each row of scores; each row sums to 1.",
            "Output of attention: the mean of the values with those weights; heads are joined and pass W_O.",
            "Residual connection: what was computed is added to the vector that was there.",
            "Feed-forward network: max(0, x W_1 + b_1) W_2 + b_2, token by token, and another sum.",
            "Logits: the product of the last vector with that of each token of the vocabulary.",
            "Softmax: the logits made into probabilities; the most probable token is the next.",
        ],
        "caption": (
            "Weights of cross-attention, the mean of layers and heads. Each row is the token that "
            "is written and sums to 1; each column, a token that is read."
        ),
    },
}


class TransformerMicroscope(TranslatorWidget):
    """Look at every number on the way of one sentence through the trained translator.

    The reader chooses or types a sentence, walks through the stages of the model, and takes
    any number apart: the terms of its sum, its equation, its line in `attn`.

    Parameters
    ----------
    example : attn.applications.translation.TranslationAttention
        What is shown before the model is loaded, and without JavaScript. Anything with its
        five attributes will do.
    sentences : sequence of str
        Sentences to choose from besides the example's, in its language.
    source_language : {"en", "es"}, default "en"
        The language of the example, which the model reads.
    pretrained : {"tatoeba", "grammar"}
        The model that is opened, as in `Translator.pretrained`: the one of the example.
    language : {"es", "en"}, optional
        By default, the language in use.

    Raises
    ------
    ValueError
        If the example's arrays do not fit its tokens, or a sentence is empty.

    Examples
    --------
    >>> from types import SimpleNamespace
    >>> even = [[[[0.5, 0.5], [0.5, 0.5]]]]  # one layer, one head, two by two tokens
    >>> example = SimpleNamespace(
    ...     source=["blue", "sky"], target=["cielo", "<eos>"], encoder=even, decoder=even, cross=even
    ... )
    >>> TransformerMicroscope(example, sentences=["The red house"], language="en")
    TransformerMicroscope(['blue', 'sky'], language='en')
    """

    _stem = "transformer_microscope"
    _state = ("example", "sentences", "pretrained")
    _esm = module(_stem)
    _css = stylesheet()

    example = traitlets.Dict().tag(sync=True)
    sentences = traitlets.List(traitlets.Unicode()).tag(sync=True)

    def __init__(
        self,
        example,
        *,
        sentences=(),
        source_language="en",
        pretrained=TRANSLATOR,
        language=None,
    ):
        sentences = check_labels("sentences", sentences) if len(sentences) else []
        example = plain_translation(example)
        super().__init__(
            language,
            pretrained,
            source_language=source_language,
            example=example,
            sentences=sentences,
        )

    def _fallback(self):
        text, example = TEXT[self.language], self.example
        source, target = example["source"], example["target"]
        written = [token for token in target if token != "<eos>"]
        texts = (text_of(tokens, self.pretrained["tokenizer"]) for tokens in (source, written))
        # In Spanish the full stop comes after the closing quotation mark.
        said = escape(text["said"].format(*texts).replace(".».", "»."))
        steps = "".join(f"<li>{escape(step)}</li>" for step in text["steps"])
        mean = np.array(example["cross"]).mean(axis=(0, 1))
        rows = [
            [token, *map(decimals, weights)] for token, weights in zip(target, mean, strict=True)
        ]
        return f"<p>{said}</p><p>{escape(text['stages'])}</p><ol>{steps}</ol>" + table(
            text["caption"], ["", *source], rows
        )

    def __repr__(self):
        return f"TransformerMicroscope({self.example['source']!r}, language={self.language!r})"
