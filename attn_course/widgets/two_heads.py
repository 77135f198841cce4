"""`TwoHeads`: one token, one head or two, and their outputs when two people change places."""

import traitlets

from attn._checks import argument_error
from attn_course.widgets._base import (
    Widget,
    check_array,
    check_labels,
    check_whole,
    decimals,
    table,
)
from attn_course.widgets._source import module, stylesheet

TEXT = {
    "es": {
        "caption": "Vector que recibe «{}». Peso de cada cabeza en quien da: {}.",
        "sentence": "oración",
        "head": "cabeza {}: {}",
        "and": " y ",
    },
    "en": {
        "caption": "What “{}” receives, by the weight that each head gives to the giver: {}.",
        "sentence": "sentence",
        "head": "head {}: {}",
        "and": " and ",
    },
}


class TwoHeads(Widget):
    """Move what one head or two attend to, in a sentence and in the one with its people exchanged.

    Each head hands the verb a mean of the giver and the receiver. The figure shows how much of
    each name is in it, in both sentences, and says who could tell them apart.

    Parameters
    ----------
    words : sequence of str
        A sentence such as "Ruth gives books to Omar".
    giver, verb, thing, receiver : int
        Where each stands in it.
    n_heads : {1, 2}
    looks : sequence of float
        The weight of each of the two heads on the giver; the receiver has the rest.
    language : {"es", "en"}, optional
        By default, the language in use.

    Attributes
    ----------
    n_heads, looks
        They follow the reader's hand in JupyterLab.

    Raises
    ------
    ValueError
        If there are no such places in the sentence, or the weights are none.

    Examples
    --------
    >>> figure = TwoHeads("Ruth gives books to Omar".split(), language="en")
    >>> figure.handed(0.7)
    [[0.7, 0.3, 0.0], [0.3, 0.7, 0.0]]
    """

    _stem = "two_heads"
    _state = ("words", "places", "n_heads", "looks")
    _esm = module(_stem)
    _css = stylesheet()

    words = traitlets.List(traitlets.Unicode()).tag(sync=True)
    places = traitlets.List(traitlets.Int()).tag(sync=True)
    n_heads = traitlets.Int(1).tag(sync=True)
    looks = traitlets.List(traitlets.Float()).tag(sync=True)

    def __init__(
        self,
        words,
        *,
        giver=0,
        verb=1,
        thing=2,
        receiver=4,
        n_heads=1,
        looks=(0.5, 0.0),
        language=None,
    ):
        words = check_labels("words", words)
        places = {"giver": giver, "verb": verb, "thing": thing, "receiver": receiver}
        places = [check_whole(name, at, 0, len(words) - 1) for name, at in places.items()]
        if len(set(places)) < len(places):
            raise argument_error("giver, verb, thing, receiver", "four different places", places)
        super().__init__(
            language,
            words=words,
            places=places,
            n_heads=n_heads,
            looks=_check_looks("looks", looks),
        )

    @traitlets.validate("n_heads", "looks")
    def _validate(self, proposal):
        name, value = proposal["trait"].name, proposal["value"]
        if name == "n_heads":
            return check_whole(name, value, 1, 2)
        return _check_looks(name, value)

    def handed(self, look):
        """Return how much of giver, receiver and thing a head's output holds, here and exchanged.

        Parameters
        ----------
        look : float
            Its weight on the giver, from 0 to 1.

        Returns
        -------
        list of list of float
            Each in the order of the names in the sentence as it was given.

        Raises
        ------
        ValueError
            If the weight is none.
        """
        look, _ = _check_looks("look", [look, 0])
        rest = round(1 - look, 6)
        return [[look, rest, 0.0], [rest, look, 0.0]]

    def _fallback(self):
        text, (giver, verb, thing, receiver) = TEXT[self.language], self.places
        swapped = list(self.words)
        swapped[giver], swapped[receiver] = swapped[receiver], swapped[giver]
        looks = self.looks[: self.n_heads]
        names = [self.words[i] for i in (giver, receiver, thing)]
        head = [
            text["sentence"],
            *(text["head"].format(i + 1, n) for i in range(len(looks)) for n in names),
        ]
        rows = [
            [" ".join(sentence), *(decimals(x) for look in looks for x in self.handed(look)[row])]
            for row, sentence in enumerate((self.words, swapped))
        ]
        said = text["and"].join(map(decimals, looks))
        return table(text["caption"].format(self.words[verb], said), head, rows)

    def __repr__(self):
        return f"TwoHeads({self.words!r}, n_heads={self.n_heads}, language={self.language!r})"


def _check_looks(name, looks):
    looks = check_array(name, looks, 2).tolist()
    if not all(0 <= look <= 1 for look in looks):
        raise argument_error(name, "weights from 0 to 1", looks)
    return looks
