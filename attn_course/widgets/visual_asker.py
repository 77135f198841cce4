"""`VisualAsker`: paint a scene, ask about it, and see what the trained model attends to."""

import numpy as np
import traitlets

from attn._checks import argument_error
from attn_course.widgets._base import (
    Widget,
    check_labels,
    check_list,
    check_real,
    check_whole,
    decimals,
    escape,
    table,
)
from attn_course.widgets._source import module, stylesheet, visual_question

N_ROWS, N_COLUMNS = 6, 6
SHAPES = ("ball", "box", "star", "tree")
COLOURS = ("red", "green", "blue", "yellow", "purple")
TEXT = {
    "es": {
        "caption": "Peso que la query `<sos>` da a cada celda de la imagen, en promedio sobre "
        "capas y cabezas.",
        "row": "fila {}",
        "column": "columna {}",
        "thing": "{weight} ({shape}, {colour})",
        "shapes": ["balón", "caja", "estrella", "árbol"],
        "colours": ["rojo", "verde", "azul", "amarillo", "morado"],
    },
    "en": {
        "caption": "Weight that the query `<sos>` gives to each cell of the image, averaged over "
        "layers and heads.",
        "row": "row {}",
        "column": "column {}",
        "thing": "{weight} ({colour} {shape})",
        "shapes": ["ball", "box", "star", "tree"],
        "colours": ["red", "green", "blue", "yellow", "purple"],
    },
}


class VisualAsker(Widget):
    """Paint a small image, ask about it, and take parts of the model away.

    The answer comes from the visual model of the course, with the probabilities of the nearest
    rivals and the cross-attention of each token by layer and head. Without the positions of the
    patches, without a choice among them or without its mask, it fails in front of the reader.

    Parameters
    ----------
    things : sequence of attn.applications.visual_question.Thing
        The image to begin with, each thing in a cell of its own: (shape, colour, row, column).
    question : str
        The question to begin with.
    answer : attn.applications.visual_question.Answer
        What the model answers to it: anything with `text` and `probability`.
    attention : attn.applications.visual_question.VisualAttention
        The model's attention: `tokens`, and `weights` of shape (n_layers, n_heads, n_tokens, 6, 6).
    language : {"es", "en"}, optional
        By default, the language in use.

    Raises
    ------
    ValueError
        If the arguments do not fit together.

    Examples
    --------
    >>> from types import SimpleNamespace
    >>> answer = SimpleNamespace(text="red", probability=0.9)
    >>> attention = SimpleNamespace(tokens=["<sos>"], weights=np.full((1, 1, 1, 6, 6), 1 / 36))
    >>> VisualAsker([("ball", "red", 0, 0)], "What colour?", answer, attention, language="en")
    VisualAsker('What colour?', 'red', language='en')
    """

    _stem = "visual_asker"
    _state = ("things", "question", "example")
    _esm = module(_stem)
    _css = stylesheet()

    things = traitlets.List(traitlets.Dict()).tag(sync=True)
    question = traitlets.Unicode().tag(sync=True)
    example = traitlets.Dict().tag(sync=True)
    trained = traitlets.Dict().tag(sync=True)

    def __init__(self, things, question, answer, attention, *, language=None):
        things = [check_thing(f"things[{i}]", thing) for i, thing in enumerate(things)]
        cells = {(thing["row"], thing["column"]) for thing in things}
        if len(cells) < len(things):
            raise argument_error(
                "things", "each in a cell of its own", f"{len(things)} in {len(cells)}"
            )
        (question,) = check_labels("question", question)
        tokens = check_labels("attention.tokens", attention.tokens)
        weights = np.asarray(attention.weights)
        shape = (len(tokens), N_ROWS, N_COLUMNS)
        if weights.ndim != 5 or 0 in weights.shape or weights.shape[2:] != shape:
            raise argument_error(
                "attention.weights", f"shape (n_layers, n_heads, {shape})", weights.shape
            )
        if weights.dtype.kind not in "fiu" or not np.isfinite(weights).all():
            raise argument_error(
                "attention.weights", "finite numbers", f"dtype {weights.dtype} or NaN"
            )
        (text,) = check_labels("answer.text", answer.text)
        probability = round(check_real("answer.probability", answer.probability), 4)
        flat = weights.astype(float).reshape(*weights.shape[:3], -1).round(4)
        example = {
            "tokens": tokens,
            "weights": flat.tolist(),
            "answers": [{"text": text, "probability": probability}],
        }
        super().__init__(
            language, things=things, question=question, example=example, trained=visual_question()
        )

    def _fallback(self):
        text = TEXT[self.language]
        shapes, colours = (
            dict(zip(names, text[key], strict=True))
            for names, key in ((SHAPES, "shapes"), (COLOURS, "colours"))
        )
        mean = np.mean(self.example["weights"], axis=(0, 1))[0].reshape(N_ROWS, N_COLUMNS)
        cells = [[decimals(weight) for weight in row] for row in mean]
        for thing in self.things:
            row, column = thing["row"], thing["column"]
            cells[row][column] = text["thing"].format(
                weight=cells[row][column],
                shape=shapes[thing["shape"]],
                colour=colours[thing["colour"]],
            )
        head = ["", *(text["column"].format(j + 1) for j in range(N_COLUMNS))]
        rows = [[text["row"].format(i + 1), *row] for i, row in enumerate(cells)]
        best = self.example["answers"][0]
        said = f"{best['text']} ({decimals(best['probability'])})"
        return f"<p>{escape(self.question)} {escape(said)}</p>" + table(text["caption"], head, rows)

    def __repr__(self):
        answer = self.example["answers"][0]["text"]
        return f"VisualAsker({self.question!r}, {answer!r}, language={self.language!r})"


def check_thing(name, thing):
    shape, colour, row, column = check_list(name, thing, "a shape, a colour, a row and a column", 4)
    for part, known in (("shape", SHAPES), ("colour", COLOURS)):
        value = {"shape": shape, "colour": colour}[part]
        if value not in known:
            raise argument_error(f"{name}.{part}", f"one of {', '.join(known)}", repr(value))
    return {
        "shape": shape,
        "colour": colour,
        "row": check_whole(f"{name}.row", row, 0, N_ROWS - 1),
        "column": check_whole(f"{name}.column", column, 0, N_COLUMNS - 1),
    }
