"""`Continuation`: a language model writes on, with the tokens that it could have written instead."""

import traitlets

from attn._checks import argument_error
from attn_course.widgets._base import Widget, check_list, check_real, check_whole, table
from attn_course.widgets._source import module, stylesheet

LANGUAGES = ("es", "en")
TEXT = {
    "es": {
        "caption": "Después de «{prompt}», el modelo escribe el más probable de sus tokens. "
        "En cada paso, los cinco mejores y su probabilidad.",
        "head": ["paso", "1.º", "2.º", "3.º", "4.º", "5.º"],
        "percent": "\N{NARROW NO-BREAK SPACE}%",
    },
    "en": {
        "caption": "After “{prompt}”, the model writes the most probable of its tokens. At each "
        "step, the best five and their probability.",
        "head": ["step", "1st", "2nd", "3rd", "4th", "5th"],
        "percent": "%",
    },
}


class Continuation(Widget):
    """Watch a text go on token by token, look at each step, and let another token be taken.

    Parameters
    ----------
    texts : sequence of dict
        Each has a ``prompt``, the ``language`` it is written in, and a ``tree``. A node of a
        tree is a dict of ``best``, a list of tokens and their probabilities, the most probable
        first, and ``next``, a list of as many nodes: what follows each token, or None.
    text : int, default 0
        The one to begin with.
    choices : sequence of int, optional
        Which of the best tokens is written at each step. By default always the first, to the
        end of the tree.
    step : int, default 0
        The step whose tokens are shown.
    language : {"es", "en"}, optional
        By default, the language in use.

    Raises
    ------
    ValueError
        If the arguments do not fit together.

    Examples
    --------
    >>> tree = {"best": [[" blue", 0.7], [" grey", 0.2]], "next": [None, None]}
    >>> Continuation([{"prompt": "The sky is", "language": "en", "tree": tree}]).choices
    [0]
    """

    _stem = "continuation"
    _state = ("texts", "text", "choices", "step")
    _esm = module(_stem)
    _css = stylesheet()

    texts = traitlets.List(traitlets.Dict()).tag(sync=True)
    text = traitlets.Int(0).tag(sync=True)
    choices = traitlets.List(traitlets.Int()).tag(sync=True)
    step = traitlets.Int(0).tag(sync=True)

    def __init__(self, texts, *, text=0, choices=None, step=0, language=None):
        texts = [
            _text(f"texts[{i}]", told)
            for i, told in enumerate(check_list("texts", texts, "a list"))
        ]
        if not texts:
            raise argument_error("texts", "at least one", "none")
        text = check_whole("text", text, 0, len(texts) - 1)
        tree = texts[text]["tree"]
        choices = _first(tree) if choices is None else _check_choices(tree, choices)
        super().__init__(
            language,
            texts=texts,
            text=text,
            choices=choices,
            step=check_whole("step", step, 0, len(choices)),
        )

    def _fallback(self):
        words, told = TEXT[self.language], self.texts[self.text]
        node, rows = told["tree"], []
        for i in _first(node):
            shares = [
                f"{_shown(token)} {100 * p:.0f}{words['percent']}" for token, p in node["best"]
            ]
            rows.append([str(len(rows) + 1), *shares])
            node = node["next"][i]
        head = words["head"][: len(rows[0])]
        return table(words["caption"].format(prompt=told["prompt"]), head, rows)

    def __repr__(self):
        shown = [told["prompt"] for told in self.texts]
        return f"Continuation({shown!r}, language={self.language!r})"


def _shown(token):
    """Return a token without its space; a line break and a lone space get a sign."""
    return token.replace("\n", "⏎").strip() or "␣"


def _first(node):
    """Return the choices that always take the most probable token."""
    return [0, *_first(node["next"][0])] if node else []


def _text(name, told):
    _check_entries(name, told, "prompt", "language", "tree")
    if not isinstance(told["prompt"], str) or not told["prompt"].strip():
        raise argument_error(f"{name}.prompt", "a text", repr(told["prompt"]))
    if told["language"] not in LANGUAGES:
        raise argument_error(f"{name}.language", " or ".join(LANGUAGES), repr(told["language"]))
    return {**told, "tree": _node(f"{name}.tree", told["tree"])}


def _check_entries(name, x, *wanted):
    if not isinstance(x, dict) or not set(wanted) <= set(x):
        raise argument_error(name, f"a dict of {', '.join(wanted)}", repr(x))


def _node(name, node):
    _check_entries(name, node, "best", "next")
    pairs = check_list(f"{name}.best", node["best"], "a list of tokens with their probabilities")
    pairs = [check_list(f"{name}.best", pair, "a token and its probability", 2) for pair in pairs]
    best = [[str(token), check_real(f"{name}.best", p)] for token, p in pairs]
    shares = [p for _, p in best]
    if not best or shares != sorted(shares, reverse=True) or shares[-1] < 0 or sum(shares) > 1.01:
        raise argument_error(f"{name}.best", "probabilities, the largest first", shares)
    following = check_list(f"{name}.next", node["next"], f"{len(best)}, one per token", len(best))
    following = [None if part is None else _node(f"{name}.next", part) for part in following]
    return {"best": best, "next": following}


def _check_choices(node, choices):
    choices = check_list("choices", choices, "a list of whole numbers")
    for choice in choices:
        if node is None:
            raise argument_error("choices", "a way through the tree", choices)
        node = node["next"][check_whole("choices", choice, 0, len(node["best"]) - 1)]
    return choices
