"""The description of the machine: its parts, their names, and the page of each."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Part:
    """A part of the machine.

    Parameters
    ----------
    page : str
        The page about the part, to which the part links.
    es, en : tuple of str
        The name of the part, in lines.
    """

    page: str
    es: tuple[str, ...]
    en: tuple[str, ...]

    def label(self, language):
        """Return the name of the part in a language, in lines."""
        return self.es if language == "es" else self.en


# The titles of the pages that parts link to and of those that show the drawing.
PAGES = {
    "01_why_attention": {"es": "Por qué la atención", "en": "Why attention"},
    "02_tokens_and_embeddings": {"es": "Tokens y embeddings", "en": "Tokens and embeddings"},
    "03_self_attention": {"es": "Autoatención", "en": "Self-attention"},
    "04_multi_head": {"es": "Atención multicabeza", "en": "Multi-head attention"},
    "05_encoder_decoder": {"es": "Codificador y decodificador", "en": "Encoder and decoder"},
    "06_masking": {"es": "Máscaras", "en": "Masking"},
    "07_positional_encoding": {"es": "Codificación posicional", "en": "Positional encoding"},
    "08_training": {"es": "Entrenamiento", "en": "Training"},
    "09_decoding": {"es": "Decodificación", "en": "Decoding"},
    "10_applications": {"es": "Aplicaciones", "en": "Applications"},
    "11_landscape": {"es": "Panorama", "en": "Landscape"},
    "12_language_model": {
        "es": "Un modelo de lenguaje: SmolLM2, 2024",
        "en": "A language model: SmolLM2, 2024",
    },
    "13_what_attention_computes": {
        "es": "Qué calcula la atención",
        "en": "What attention computes",
    },
    "14_equation_changed": {"es": "La ecuación, cambiada", "en": "The equation, changed"},
    "15_from_predicting_to_answering": {
        "es": "De predecir a responder",
        "en": "From predicting to answering",
    },
    "16_size_and_speed": {"es": "Tamaño y velocidad", "en": "Size and speed"},
}

_TOKENS, _ATTENTION, _HEADS = "02_tokens_and_embeddings", "03_self_attention", "04_multi_head"
_LAYERS, _MASKS, _DECODING = "05_encoder_decoder", "06_masking", "09_decoding"

PARTS = {
    "source": Part(_TOKENS, ("tokens",), ("tokens",)),
    "target": Part(_TOKENS, ("tokens",), ("tokens",)),
    "embeddings": Part(_TOKENS, ("embeddings",), ("embeddings",)),
    "positions": Part("07_positional_encoding", ("posiciones",), ("positions",)),
    "encoder": Part(_LAYERS, ("codificador × N",), ("encoder × N",)),
    "decoder": Part(_LAYERS, ("decodificador × N",), ("decoder × N",)),
    "stream": Part(
        _LAYERS,
        ("flujo residual,", "una hebra", "por token"),
        ("residual stream,", "one strand", "per token"),
    ),
    "norm": Part(_LAYERS, ("LayerNorm",), ("LayerNorm",)),
    "self_attention": Part(_ATTENTION, ("autoatención",), ("self-attention",)),
    "feed_forward": Part(_LAYERS, ("red", "prealimentada"), ("feed-forward",)),
    "memory": Part(_LAYERS, ("memoria",), ("memory",)),
    "causal_attention": Part(_MASKS, ("autoatención", "causal"), ("causal", "self-attention")),
    "cross_attention": Part(_LAYERS, ("atención", "cruzada"), ("cross-", "attention")),
    "linear": Part(_LAYERS, ("lineal",), ("linear",)),
    "softmax": Part(_LAYERS, ("softmax",), ("softmax",)),
    "loss": Part("08_training", ("pérdida", "al entrenar"), ("loss, when", "training")),
    "next_word": Part(_DECODING, ("palabra siguiente",), ("next word",)),
    "loop": Part(_DECODING, ("la palabra nueva vuelve a entrar",), ("the new word goes back in",)),
    "stop": Part(_DECODING, ("<eos>:", "parar"), ("<eos>:", "stop")),
    "query": Part(_ATTENTION, ("query",), ("query",)),
    "key": Part(_ATTENTION, ("key",), ("key",)),
    "value": Part(_ATTENTION, ("value",), ("value",)),
    "heads": Part(_HEADS, ("cabezas",), ("heads",)),
    "scores": Part(_ATTENTION, ("puntajes",), ("scores",)),
    "mask": Part(_MASKS, ("máscara",), ("mask",)),
    "weights": Part(_ATTENTION, ("softmax",), ("softmax",)),
    "mean": Part(_ATTENTION, ("media", "ponderada"), ("weighted", "mean")),
    "output": Part(_HEADS, ("proyección", "de salida"), ("output", "projection")),
}

# The sentence that travels through the course along the machine.
SOURCE = ("the", "red", "house")
TARGET = ("<sos>", "la", "casa")
NEXT = "roja"
# The text that a decoder alone continues, and the word it writes, in the language of the page.
ALONE = {"es": (("el", "cielo", "es"), "azul"), "en": (("the", "sky", "is"), "blue")}

_SAYS = {
    "es": "Una capa lineal y una softmax dan la palabra siguiente, «{}», que vuelve a entrar como token hasta que sale "
    "<eos>. Al entrenar, la softmax se compara con la palabra correcta: es la pérdida. Dentro de cada atención, tres "
    "proyecciones dan query, key y value, repartidas en cabezas; query y key dan los puntajes, la máscara quita "
    "algunos, la softmax los convierte en pesos, la media ponderada de los values se proyecta a la salida y vuelve al flujo.",
    "en": "A linear layer and a softmax give the next word, “{}”, which goes back in as a token until <eos> comes "
    "out. In training the softmax is compared with the right word: that is the loss. Inside every attention three "
    "projections give query, key and value, split into heads; query and key give the scores, the mask takes some away, "
    "the softmax makes them weights, and the weighted mean of the values is projected and goes back to the stream.",
}

WORDS = {
    "title": {"es": "La máquina: un Transformer", "en": "The machine: a Transformer"},
    "alone_title": {
        "es": "La máquina sin codificador: un modelo de lenguaje",
        "en": "The machine without an encoder: a language model",
    },
    "here": {"es": "estás aquí", "en": "you are here"},
    "inside": {"es": "dentro de cada atención", "en": "inside every attention"},
    "page": {"es": "Capítulo {}: {}", "en": "Chapter {}: {}"},
    "lit": {"es": "En esta página está resaltado: {}.", "en": "On this page is lit: {}."},
    "back": {"es": ("al flujo", "residual"), "en": ("to the", "stream")},
    "description": {
        "es": "La oración inglesa «the red house» entra como tokens. Cada token se convierte en un embedding y se le suma "
        "su posición. El flujo residual atraviesa N capas del codificador; en cada una, la autoatención y la red "
        "prealimentada leen del flujo y le suman lo que calculan, con una normalización de capa tras cada suma. Lo que sale es la "
        "memoria. El decodificador hace lo mismo con lo ya escrito, «<sos> la casa», en tres pasos por capa: la "
        "autoatención causal, la atención cruzada, que toma keys y values de la memoria, y la red prealimentada. "
        + _SAYS["es"].format(NEXT),
        "en": "The English sentence “the red house” enters as tokens. Each token becomes an embedding, and its position is "
        "added. The residual stream runs through N encoder layers; in each of them self-attention and the feed-forward "
        "network read from the stream and add to it what they compute, with a layer normalisation after each sum. What comes out is "
        "the memory. The decoder does the same with what is already written, “<sos> la casa”, in three steps a layer: "
        "causal self-attention, cross-attention, which takes keys and values from the memory, and the feed-forward "
        "network. " + _SAYS["en"].format(NEXT),
    },
    "alone": {
        "es": "El texto «el cielo es» entra como tokens. Cada token se convierte en un embedding y se le suma su posición. "
        "El flujo residual atraviesa N capas; en cada una, la autoatención causal y la red prealimentada leen del flujo y le "
        "suman lo que calculan, con una normalización de capa tras cada suma. "
        + _SAYS["es"].format(ALONE["es"][1]),
        "en": "The text “the sky is” enters as tokens. Each token becomes an embedding, and its position is added. The "
        "residual stream runs through N layers; in each of them causal self-attention and the feed-forward network read "
        "from the stream and add to it what they compute, with a layer normalisation after each sum. "
        + _SAYS["en"].format(ALONE["en"][1]),
    },
}
