"""`SentenceMap`: sentences, or a word in several of them, on a map by the vectors of MiniLM."""

from urllib.parse import parse_qs, urlsplit

import numpy as np
import traitlets

from attn._checks import argument_error, check_choice
from attn_course.widgets._base import (
    Widget,
    check_array,
    check_labels,
    check_list,
    check_whole,
    decimals,
    table,
)
from attn_course.widgets._source import module, stylesheet

LANGUAGES = ("es", "en")
FEWEST = 3  # Two points always lie on a line.
MOST = 12  # The sentences of a reader.
LETTERS = 900  # All of them together.
TEXT = {
    "es": {
        "sentences": "Cada oración y la más parecida, por el coseno de sus vectores tras la capa {}.",
        "word": "Cada oración y la más parecida, por el coseno de los vectores de «{1}» tras la capa {0}.",
        "head": ["oración", "grupo", "la más parecida", "coseno"],
        "own": "tuyas",
    },
    "en": {
        "sentences": "Each sentence and the most similar one, by the cosine of their vectors after layer {}.",
        "word": "Each sentence and the most similar one, by the cosine of the vectors of “{1}” after layer {0}.",
        "head": ["sentence", "group", "the most similar", "cosine"],
        "own": "yours",
    },
}


class SentenceMap(Widget):
    """Look at sentences as points, layer by layer, and at the cosines between their vectors.

    The map shows the two principal components of the vectors shown. Its page can load MiniLM and put
    sentences of the reader's on the map; `from_address` shows the same in a cell.

    Parameters
    ----------
    sets : sequence of dict
        As `read` makes them, to choose from.
    set : int, default 0
        The one to begin with.
    layer : int, optional
        0 is the entrance of the model. By default the last.
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

    References
    ----------
    Reimers and Gurevych (2019), Sentence-BERT.

    Examples
    --------
    >>> sentences = [{"text": text, "group": 0} for text in ("A sea", "A lake", "A loan")]
    >>> one = {"sentences": sentences, "groups": ["nouns"], "cosines": [[0.9, 0.1, 0.2]]}
    >>> SentenceMap([one], language="en")
    SentenceMap(['3 sentences'], layer=0, language='en')
    """

    _stem = "sentence_map"
    _state = ("sets", "set", "layer")
    _esm = module(_stem)
    _css = stylesheet()

    sets = traitlets.List(traitlets.Dict()).tag(sync=True)
    set = traitlets.Int(0).tag(sync=True)
    layer = traitlets.Int(0).tag(sync=True)
    address = ""

    def __init__(self, sets, *, set=0, layer=None, language=None):
        sets = [_set(f"sets[{i}]", one) for i, one in enumerate(check_list("sets", sets, "a list"))]
        if not sets:
            raise argument_error("sets", "at least one", "none")
        n_layers = {len(one["cosines"]) for one in sets}
        if len(n_layers) > 1:
            raise argument_error("sets", "as many layers in each", sorted(n_layers))
        (last,) = (n - 1 for n in n_layers)
        super().__init__(
            language,
            sets=sets,
            set=check_whole("set", set, 0, len(sets) - 1),
            layer=last if layer is None else check_whole("layer", layer, 0, last),
        )

    @staticmethod
    def read(groups, word="", *, language="en"):
        """Let MiniLM read sentences, and return them as a set.

        Parameters
        ----------
        groups : dict of str to sequence of str
            The sentences of each group, by its name.
        word : str, optional
            One that all of them hold: its vectors are compared, and not those of the sentences.
        language : {"es", "en"}, default "en"
            That of the sentences.

        Returns
        -------
        dict
            ``"cosines"`` has a row for the entrance and each layer: what is below the diagonal of
            their matrix, row by row.

        Raises
        ------
        ValueError
            If there are fewer than three, a sentence lacks the word, or the model is not on this
            machine.
        """
        from attn_course import minilm  # It takes a second, which stored sets need not wait.

        texts = [(text, i) for i, group in enumerate(groups.values()) for text in group]
        vectors = minilm.at_every_layer(*minilm.model(), [text for text, _ in texts], word)
        rows, columns = np.tril_indices(len(texts), -1)
        cosines = (vectors @ vectors.swapaxes(-1, -2))[:, rows, columns]
        sentences = [{"text": text, "group": i} for text, i in texts]
        found = {"word": word, "language": language, "groups": list(groups)}
        return _set("groups", found | {"sentences": sentences, "cosines": cosines.round(3)})

    @classmethod
    def from_address(cls, address, sets=(), *, language=None):
        """Show the state in the page's URL, of which the query string alone is enough.

        MiniLM reads the sentences of a reader's again, beside those of the set that hold the word.

        Parameters
        ----------
        address : str
        sets : sequence of dict, optional
            Those of the page's figure.
        language : {"es", "en"}, optional
            By default, the language in use.

        Raises
        ------
        ValueError
            If the figure has no such state, or if the model is needed and not on this machine.
        """
        query = urlsplit(address).query
        said = {name: values[0] for name, values in parse_qs(query).items()}
        if not {"set", "layer", "point", "sentences"} & said.keys():
            raise argument_error("address", "one with ?sentences=, ?set= or ?layer=", repr(address))

        def number(name, least, most, otherwise):
            digits = said.get(name, str(otherwise))
            if not digits.isdecimal() or not least <= int(digits) <= most:
                raise argument_error(f"address, {name}", f"{least} to {most}", repr(digits))
            return int(digits)

        chosen = number("set", 1, max(1, len(sets)), 1) - 1
        text, word = said.get("sentences", ""), said.get("word", "")
        if text:
            lines = [line.strip() for line in text.split("\n") if line.strip()]
            if len(text) > LETTERS or not 0 < len(lines) <= MOST:
                expected = f"1 to {MOST} lines, of {LETTERS} characters together"
                got = f"{len(lines)} of {len(text)}"
                raise argument_error("address, sentences", expected, got)
            sets = [_with_own(sets[chosen] if sets else None, lines, word, language)]
            chosen = 0
        last = len(sets[0]["cosines"]) - 1 if sets else 0
        figure = cls(sets, set=chosen, layer=number("layer", 0, last, last), language=language)
        figure.address = f"?{query}"
        return figure

    def _fallback(self):
        words, told = TEXT[self.language], self.sets[self.set]
        cosines = _matrix(told["cosines"][self.layer], len(told["sentences"]))
        np.fill_diagonal(cosines, -np.inf)
        rows = []
        for sentence, near in zip(told["sentences"], cosines, strict=True):
            best = int(near.argmax())
            group = told["groups"][sentence["group"]]
            other = told["sentences"][best]["text"]
            rows.append([sentence["text"], group, other, decimals(near[best])])
        caption = words["word" if told["word"] else "sentences"]
        return table(caption.format(self.layer, told["word"]), words["head"], rows)

    def __repr__(self):
        shown = [one["word"] or f"{len(one['sentences'])} sentences" for one in self.sets]
        return f"SentenceMap({shown!r}, layer={self.layer}, language={self.language!r})"


def _matrix(below, n):
    """Return the whole matrix of which a set stores what is below the diagonal."""
    whole = np.zeros((n, n))
    whole[np.tril_indices(n, -1)] = below
    return whole + whole.T + np.eye(n)


def _with_own(known, lines, word, language):
    """Return a set with the sentences of a reader's in a group of their own."""
    from attn_course.language import get_language

    groups = {} if known is None else {name: [] for name in known["groups"]}
    for one in () if known is None else known["sentences"]:
        groups[known["groups"][one["group"]]].append(one["text"])
    if word:
        from attn_course import minilm

        _, tokenizer = minilm.model()
        groups = {
            name: [text for text in texts if minilm.holds(tokenizer, text, word)]
            for name, texts in groups.items()
        }
        lines = [text for text in lines if minilm.holds(tokenizer, text, word)]
    own = TEXT[language or get_language()]["own"]
    return SentenceMap.read({**groups, own: lines}, word)


def _set(name, one):
    wanted = {"sentences", "groups", "cosines"}
    if not isinstance(one, dict) or not wanted <= one.keys():
        raise argument_error(name, f"a dict of {', '.join(sorted(wanted))}", repr(one))
    if strange := sorted(one.keys() - wanted - {"word", "language"}):
        raise argument_error(name, "nothing but what `read` gives", strange)
    groups = check_labels(f"{name}.groups", one["groups"])
    sentences = check_list(
        f"{name}.sentences", one["sentences"], "a list of texts with their group"
    )
    if len(sentences) < FEWEST:
        raise argument_error(f"{name}.sentences", f"at least {FEWEST}", len(sentences))
    if not all(isinstance(each, dict) and {"text", "group"} <= each.keys() for each in sentences):
        raise argument_error(f"{name}.sentences", "a text and a group in each", repr(sentences))
    sentences = [
        {
            "text": check_labels(f"{name}.sentences", [each["text"]])[0],
            "group": check_whole(f"{name}.sentences", each["group"], 0, len(groups) - 1),
        }
        for each in sentences
    ]
    n_pairs = len(sentences) * (len(sentences) - 1) // 2
    cosines = check_array(f"{name}.cosines", one["cosines"], None, n_pairs).tolist()
    language = one.get("language", "en")
    check_choice(f"{name}.language", language, LANGUAGES)
    word = one.get("word", "")
    if not isinstance(word, str):
        raise argument_error(f"{name}.word", "a text", repr(word))
    found = {"word": word, "language": language, "groups": groups}
    return found | {"sentences": sentences, "cosines": cosines}
