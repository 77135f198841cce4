"""`StateExplorer`: facts written into a memory, and what it recalls under each rule."""

import numpy as np
import traitlets

from attn import reference
from attn._checks import argument_error, check_choice
from attn_course.widgets._base import (
    Widget,
    check_array,
    check_labels,
    check_real,
    check_whole,
    decimals,
    table,
)
from attn_course.widgets._source import module, stylesheet

TEXT = {
    "es": {
        "caption": "Tras los hechos {}, dónde recuerda cada regla cada cosa.",
        "head": ["cosa", "está en"],
        "rules": ["softmax", "suma", "decaimiento", "delta", "delta con decaimiento"],
        "bytes": "bytes",
    },
    "en": {
        "caption": "After the facts {}, where each rule recalls each thing.",
        "head": ["thing", "is at"],
        "rules": ["softmax", "sum", "decay", "delta", "delta with decay"],
        "bytes": "bytes",
    },
}
RULES = ("softmax", "linear", "retention", "delta", "gated")
REACH, MOST = 3, 9


class StateExplorer(Widget):
    """Place things in a room, and watch where a memory of fixed size, or a cache, recalls them.

    Each fact is a key, that of the thing, with a value, the place. The rules are those of
    `attn.reference`: softmax attention, `retention` with and without decay, and the `delta_rule`.

    Parameters
    ----------
    names : list of str
        At most four things.
    key : array_like, shape (n, 2)
        The key of each thing.
    facts : list of (int, int, int), optional
        What is written at first, at most nine: the number of a thing, and its place, from -3 to 3.
    rule : {"softmax", "linear", "retention", "delta", "gated"}, default "linear"
    decay : float, default 0.5
        What "retention" and "gated" leave of the state at each step.
    sharpness : float, default 40.0
        How many times as long as a key the queries of "softmax" are.
    language : {"es", "en"}, optional
        By default, the language in use.

    Attributes
    ----------
    recalled : list of list of float
        Where each thing is recalled. It, `facts`, `rule` and `thing`, the number of what is put
        down next, follow the reader's hand in JupyterLab.

    Raises
    ------
    ValueError
        If the arguments do not fit together.

    Examples
    --------
    >>> cup, book = [0.6, 0.8], [0.8, -0.6]
    >>> explorer = StateExplorer(["cup", "book"], [cup, book], [(0, 2, 1), (0, 1, -2)], "delta")
    >>> np.round(explorer.recalled[0], 2).tolist()
    [1.0, -2.0]
    """

    _stem = "state_explorer"
    _state = ("names", "key", "facts", "rule", "thing", "decay", "sharpness")
    _esm = module(_stem)
    _css = stylesheet()

    names = traitlets.List(traitlets.Unicode()).tag(sync=True)
    key = traitlets.List(traitlets.List(traitlets.Float())).tag(sync=True)
    facts = traitlets.List(traitlets.List(traitlets.Int())).tag(sync=True)
    rule = traitlets.Unicode().tag(sync=True)
    thing = traitlets.Int(0).tag(sync=True)
    decay = traitlets.Float().tag(sync=True)
    sharpness = traitlets.Float().tag(sync=True)
    recalled = traitlets.List().tag(sync=True)

    def __init__(
        self, names, key, facts=(), rule="linear", decay=0.5, sharpness=40.0, language=None
    ):
        names = check_labels("names", names)
        if len(names) > 4:
            raise argument_error("names", "at most four things", len(names))
        decay = check_real("decay", decay, above=0)
        if decay > 1:
            raise argument_error("decay", "at most 1", decay)
        check_choice("rule", rule, RULES)
        super().__init__(
            language,
            names=names,
            key=check_array("key", key, len(names), 2).tolist(),
            facts=_check_facts(facts, len(names)),
            rule=rule,
            decay=decay,
            sharpness=check_real("sharpness", sharpness, above=0),
        )
        self._recall()

    @traitlets.validate("facts")
    def _validate_facts(self, proposal):
        return _check_facts(proposal["value"], len(self.names) or 4)

    @traitlets.validate("rule")
    def _validate_rule(self, proposal):
        check_choice("rule", proposal["value"], RULES)
        return proposal["value"]

    @traitlets.validate("thing")
    def _validate_thing(self, proposal):
        return check_whole("thing", proposal["value"], 0, max(0, len(self.names) - 1))

    @traitlets.observe("facts", "rule")
    def _recall(self, change=None):
        # The keys are not there yet while the constructor sets the traits.
        if self.key and self.sharpness:
            self.recalled = self._recalled_by(self.rule)

    def _recalled_by(self, rule):
        """Return where a rule recalls each thing, or empty lists if nothing was written."""
        if not self.facts:
            return [[] for _ in self.names]
        things, value = [fact[0] for fact in self.facts], [fact[1:] for fact in self.facts]
        query, key = np.array(self.key), np.array(self.key)[things]
        if rule == "softmax":
            query = self.sharpness * query
            return _rounded(reference.scaled_dot_product_attention(query, key, value)[0])
        # Every step has the same query, and the last step has read all the facts.
        asked = np.broadcast_to(query[:, None], (len(query), *key.shape))
        decay = self.decay if rule in ("retention", "gated") else 1.0
        if rule in ("delta", "gated"):
            read = reference.delta_rule(asked, key, value, beta=1.0, decay=decay)
        else:
            read = reference.retention(asked, key, value, decay=decay)
        return _rounded(read[:, -1])

    def _fallback(self):
        text = TEXT[self.language]
        by_rule = [self._recalled_by(rule) for rule in RULES]
        where = {fact[0]: fact[1:] for fact in self.facts}
        facts = ", ".join(f"{self.names[i]} → {_pair(place)}" for i, *place in self.facts)
        rows = [
            [name, _pair(where[i]), *(_pair(recalled[i]) for recalled in by_rule)]
            for i, name in enumerate(self.names)
            if i in where
        ]
        sizes = ["16 × " + str(len(self.facts)), *["16"] * 4]
        rows.append([text["bytes"], "", *sizes])
        return table(text["caption"].format(facts), [*text["head"], *text["rules"]], rows)

    def __repr__(self):
        return f"StateExplorer({self.names!r}, rule={self.rule!r}, language={self.language!r})"


def _check_facts(facts, n_things):
    if len(facts) > MOST:
        raise argument_error("facts", f"at most {MOST}", len(facts))
    checked = []
    for fact in facts:
        if np.shape(fact) != (3,):
            raise argument_error("facts", "a thing and its place, three whole numbers", fact)
        thing = check_whole("facts", fact[0], 0, n_things - 1)
        checked.append([thing, *(check_whole("facts", c, -REACH, REACH) for c in fact[1:])])
    return checked


def _rounded(x):
    """Return numbers that are the same on every processor, as lists."""
    return (x.round(12) + 0.0).tolist()


def _pair(vector):
    whole = all(float(x).is_integer() for x in vector)
    return f"({', '.join(decimals(x, 0 if whole else 2) for x in vector)})"
