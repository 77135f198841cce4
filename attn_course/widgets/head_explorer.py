"""`HeadExplorer`: every head of SmolLM2 on stored sentences, as they stand, changed and patched."""

import numpy as np
import traitlets

from attn._checks import check_choice
from attn_course.widgets._base import Widget, check_whole, decimals, escape, table
from attn_course.widgets._own_sentence import OWN, STEPS, address_of, read, state_in
from attn_course.widgets._source import attended, module, stylesheet

TEXT = {
    "es": {
        "said": "Oración: «{}». Cambiada: «{}».",
        "caption": "Pesos de atención de SmolLM2, capa {}, cabeza {}. Cada fila es una query y suma "
        "1; cada columna, una key.",
    },
    "en": {
        "said": "Sentence: “{}”. Changed: “{}”.",
        "caption": "Attention weights of SmolLM2, layer {}, head {}. Each row is a query and sums "
        "to 1; each column, a key.",
    },
}


class HeadExplorer(Widget):
    """Look at all 270 heads of SmolLM2 at once, enlarge one, and patch what they read.

    A sentence is shown as it stands, with a word exchanged, or patched: where the two differ, the
    exchanged one reads the residual stream of the other from some layer on. The weights and the
    probabilities of the next token were computed beforehand; a page loads those of a sentence
    when its reader comes to look. `of` and `from_address` show a sentence that is not stored, as
    the page does where the model is in it.

    Parameters
    ----------
    sentence : str
        Its name; `HeadExplorer.names()` returns all.
    layer, head : int
        Which head is enlarged at first, both from 1, as they are shown.
    language : {"es", "en"}, optional
        By default, the language in use.

    Attributes
    ----------
    address : str
        What the address of the chapter's page says of the same figure, from the question mark on;
        empty for a stored sentence.

    Raises
    ------
    ValueError
        If there is no such sentence, layer or head.

    References
    ----------
    Olsson et al. (2022), In-context Learning and Induction Heads. Meng et al. (2022), Locating and
    Editing Factual Associations in GPT, section 2.

    Examples
    --------
    >>> HeadExplorer("door", layer=2, head=3, language="en")
    HeadExplorer('door', layer=2, head=3, language='en')
    """

    _stem = "head_explorer"
    _state = ("sentences", "sentence", "layer", "head", "example")
    _esm = module(_stem)
    _css = stylesheet()

    sentences = traitlets.List(traitlets.Dict()).tag(sync=True)
    sentence = traitlets.Unicode().tag(sync=True)
    layer = traitlets.Int().tag(sync=True)
    head = traitlets.Int().tag(sync=True)
    example = traitlets.Dict().tag(sync=True)
    trained = traitlets.Dict().tag(sync=True)
    address = traitlets.Unicode("").tag(sync=True)

    def __init__(self, sentence, *, layer=1, head=1, language=None):
        self._begin(attended(), sentence, layer, head, language)

    def _begin(self, known, sentence, layer, head, language, address=""):
        check_choice("sentence", sentence, tuple(known))
        about = known[sentence]
        n_layers, n_heads = about["shape"]
        layer = check_whole("layer", layer, 1, n_layers)
        head = check_whole("head", head, 1, n_heads)
        sentences = [
            {"name": name, "language": one.get("language"), "text": "".join(one["tokens"][0])}
            for name, one in known.items()
        ]
        weights = triangle(about)[layer - 1, head - 1]
        example = {"tokens": about["tokens"][0], "weights": weights.round(4).tolist()}
        if address:
            # A page without a kernel reads from it what the model has to compute.
            self._state = (*self._state, "address")
        super().__init__(
            language,
            address=address,
            sentences=sentences,
            sentence=sentence,
            layer=layer,
            head=head,
            example=example,
            trained=known,
        )

    @classmethod
    def of(cls, text, other="", *, off=(), patch=None, keep=(), layer=1, head=1, language=None):
        """Let SmolLM2 read a sentence, and show it as the page shows a reader's own sentence.

        Parameters
        ----------
        text : str
            A sentence, left unfinished.
        other : str, optional
            Another, or the same with something changed.
        off : sequence of pairs of int, optional
            The heads that hand over zeros: layer and head of each, both from 1.
        patch : pair of int, optional
            A layer and the position of a token, both from 1: on entering that layer, `other`,
            which has as many tokens, takes the vector that `text` has there. The layer after the last is the output.
        keep : sequence of pairs of int, optional
            The heads that are alone on in their layer: the other heads of it hand over zeros.
        layer, head : int
            Which head is enlarged at first.
        language : {"es", "en"}, optional
            By default, the language in use.

        Raises
        ------
        ValueError
            If an argument does not fit the model or the sentence, or if the model is not on this
            machine.
        """
        from attn_course import smollm2

        found = read(*smollm2.model(), text, other, off, patch, keep)
        address = address_of(text, other, off, patch, (layer, head), keep)
        figure = cls.__new__(cls)
        figure._begin(attended() | {OWN: found}, OWN, layer, head, language, address)
        return figure

    @classmethod
    def from_address(cls, address, language=None):
        """Show the state in the page's URL, of which the query string alone is enough.

        Raises
        ------
        ValueError
            If the address holds no sentence or something strange, or as `of` does.
        """
        state = state_in(address)
        layer, head = state.pop("head") or (1, 1)
        return cls.of(**state, layer=layer, head=head, language=language)

    @staticmethod
    def names():
        """Return the names of the sentences."""
        return list(attended())

    def _fallback(self):
        text, tokens = TEXT[self.language], [token.strip() for token in self.example["tokens"]]
        about = self.trained[self.sentence]
        said = escape(text["said"].format(*("".join(some).strip() for some in about["tokens"])))
        rows = [
            [token, *(decimals(x) if j <= i else "" for j, x in enumerate(row))]
            for i, (token, row) in enumerate(zip(tokens, self.example["weights"], strict=True))
        ]
        caption = text["caption"].format(self.layer, self.head)
        return f"<p>{said}</p>{table(caption, ['', *tokens], rows)}"

    def __repr__(self):
        if self.address:
            return f"HeadExplorer.from_address({self.address!r}, language={self.language!r})"
        return (
            f"HeadExplorer({self.sentence!r}, layer={self.layer}, head={self.head}, "
            f"language={self.language!r})"
        )


def triangle(about, version=0):
    """Return the stored weights of one variant of a sentence.

    Parameters
    ----------
    about : dict
        What `attended` knows of it.
    version : int
        0 as it stands, 1 exchanged, then patched at one layer after another.

    Returns
    -------
    array, shape (n_layers, n_heads, seq_len, seq_len)
        From the layer on at which it is patched: ``about["from"][version]``.
    """
    n_layers, n_heads = about["shape"]
    lengths = [len(about["tokens"][min(each, 1)]) for each in range(len(about["from"]))]
    sizes = [
        (n_layers - first) * n_heads * n * (n + 1) // 2
        for first, n in zip(about["from"], lengths, strict=True)
    ]
    n = lengths[version]
    begin = sum(sizes[:version])
    found = np.frombuffer(about["weights"], np.uint8)[begin : begin + sizes[version]]
    weights = np.zeros((n_layers - about["from"][version], n_heads, n, n))
    rows, columns = np.tril_indices(n)
    weights[..., rows, columns] = found.reshape(*weights.shape[:2], -1) / STEPS
    return weights
