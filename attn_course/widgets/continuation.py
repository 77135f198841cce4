"""`Continuation`: a language model writes on, with the tokens that it could have written instead."""

import re
from urllib.parse import parse_qs, urlsplit

import traitlets

from attn._checks import argument_error
from attn_course.language import get_language
from attn_course.widgets._base import Widget, check_list, check_real, check_whole, table
from attn_course.widgets._source import module, stylesheet

LANGUAGES = ("es", "en")
TAKERS = {"r": "reader", "d": "drawn", "": ""}
BEST = 5  # The number of tokens shown at each step.
MOST_READ = 300  # The model in the page reads at most this many tokens.
LETTERS = 800  # A text of the reader has at most this many characters.
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
    took : sequence of str, optional
        Who took each token: "reader", "drawn" by the model with a temperature, or "" for the model
        without.
    language : {"es", "en"}, optional
        By default, the language in use.

    Attributes
    ----------
    address : str
        For a figure that was made from an address, what it says from the question mark on.

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
    took = traitlets.List(traitlets.Unicode()).tag(sync=True)
    address = ""

    def __init__(self, texts, *, text=0, choices=None, step=0, took=(), language=None):
        texts = [
            _text(f"texts[{i}]", told)
            for i, told in enumerate(check_list("texts", texts, "a list"))
        ]
        if not texts:
            raise argument_error("texts", "at least one", "none")
        text = check_whole("text", text, 0, len(texts) - 1)
        tree = texts[text]["tree"]
        choices = _first(tree) if choices is None else _check_choices(tree, choices)
        took = check_list("took", took, "a list of who took each token")
        if len(took) > len(choices) or not set(took) <= set(TAKERS.values()):
            raise argument_error("took", f"at most {len(choices)} of reader, drawn and ''", took)
        if any(took):
            self._state = (*self._state, "took")
        super().__init__(
            language,
            texts=texts,
            text=text,
            choices=choices,
            step=check_whole("step", step, 0, len(choices)),
            took=took,
        )

    @classmethod
    def from_address(cls, address, texts=(), *, language=None):
        """Show the state in the page's URL, of which the query string alone is enough.

        SmolLM2 reads a text of the reader's again, and writes no more than the URL holds. Where the
        URL holds the state of the page's second figure alone (``?text2=``), that one is shown.

        Parameters
        ----------
        address : str
        texts : sequence of dict, optional
            The stored texts of the page's figure, of which the address may name one.
        language : {"es", "en"}, optional
            By default, the language in use.

        Raises
        ------
        ValueError
            If the figure has no such state, or if the model is needed and not on this machine.
        """
        query = urlsplit(address).query
        said = {name: values[0] for name, values in parse_qs(query, keep_blank_values=True).items()}
        if not {"text", "prompt"} & set(said):
            said = {name[:-1]: x for name, x in said.items() if name.endswith("2")}
        if not {"text", "prompt"} & set(said):
            raise argument_error("address", "one with ?text= or ?prompt=", repr(address))
        parts = [part for part in said.get("written", "").split("-") if part]
        found = [re.fullmatch(r"([rd]?)([0-9]{1,7})", part) for part in parts]
        if None in found:
            expected = "numbers such as 1-r338"
            raise argument_error("address, written", expected, repr(said["written"][:40]))
        took, numbers = [TAKERS[one[1]] for one in found], [int(one[2]) for one in found]

        def number(name, least, most, otherwise, kind=float):
            try:
                x = kind(said.get(name, otherwise))
            except ValueError:
                x = None
            if x is None or not least <= x <= most:
                expected = f"a number from {least} to {most}"
                raise argument_error(f"address, {name}", expected, repr(said.get(name)))
            return x

        step = number("step", 1, len(numbers) + 1, len(numbers) + 1, int) - 1
        if "prompt" in said:
            heat = number("temperature", 0, 1.5, 0), number("top-p", 0.1, 1, 1)
            prompt = said["prompt"]
            if not prompt.strip() or len(prompt) > LETTERS:
                expected = f"a text of at most {LETTERS} characters"
                raise argument_error("address, prompt", expected, repr(prompt[:20]))
            tree, choices = _read(prompt, numbers, *heat)
            # The language of the text is not known, so the figure takes that of its reader.
            language = language or get_language()
            texts, text = [{"prompt": prompt, "language": language, "tree": tree}], 0
        else:
            text = number("text", 1, len(texts), 0, int) - 1
            choices = [n - 1 for n in numbers]
            _check_choices(texts[text]["tree"], choices)
            step = min(step, len(choices))
        figure = cls(texts, text=text, choices=choices, step=step, took=took, language=language)
        figure.address = f"?{query}"
        return figure

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


def _read(prompt, ids, temperature, top_p):
    """Return the tree of the alternatives of SmolLM2 to some ids, and the choices in it."""
    import torch  # It takes a second, which stored texts need not wait.

    from attn.decoding import next_token_probabilities
    from attn_course import smollm2

    model, tokenizer = smollm2.model()
    start = tokenizer.encode_marked(prompt)
    n_tokens, vocab_size = len(start) + len(ids), model.config.vocab_size
    if not 0 < n_tokens <= MOST_READ:
        raise argument_error("address", f"1 to {MOST_READ} tokens", n_tokens)
    if max(ids, default=0) >= vocab_size:
        raise argument_error("address, written", f"ids below {vocab_size}", max(ids))
    with torch.no_grad():
        logits = model(torch.tensor([[*start, *ids]]))[0][0, len(start) - 1 :]
    # Greedily written, a text has the probabilities of the model itself.
    heat = {"temperature": temperature, "top_p": top_p} if temperature else {}
    shares = next_token_probabilities(logits, **heat)
    tree, choices = None, []
    for p, taken in reversed(list(zip(shares, [*ids, None], strict=True))):
        best = [i for i in p.topk(BEST).indices.tolist() if p[i] > 0]
        if taken is not None and taken not in best:
            best.append(taken)
        pairs = [[tokenizer.decode([i]), float(p[i])] for i in best]
        tree = {"best": pairs, "next": [tree if i == taken else None for i in best]}
        choices = [best.index(taken), *choices] if taken is not None else []
    return tree, choices


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
