"""Sentences with slots and the values for them: the rules behind the generated data."""

import re
import tomllib
from itertools import product

_FIELD = re.compile(r"(\{\w+\}|<\w+>)")


class Grammar:
    """A file of values, synonyms and templates.

    In a template, ``{city}`` is a slot, which has one value wherever it stands, and ``<went>``
    is any of some words that mean the same.

    Parameters
    ----------
    path : Path
        A TOML file. Its table ``values`` holds the values of each slot: a list; a list of
        lists, for every way to join one of each; or the name of another slot with the same
        values. Its table ``synonyms``, if any, holds a list for each ``<word>``.

    Attributes
    ----------
    tables : dict
        The other tables of the file.
    """

    def __init__(self, path):
        self.tables = tomllib.loads(path.read_text(encoding="utf-8"))
        listed = self.tables.pop("values")
        self._synonyms = self.tables.pop("synonyms", {})
        self._values = {slot: _spell_out(listed, slot) for slot in listed}

    def draw(self, rng, slots, taken=frozenset()):
        """Draw a value for each slot, until they differ from each other and from those taken.

        Parameters
        ----------
        rng : random.Random
        slots : list of str
        taken : set of str, optional

        Returns
        -------
        dict of str to str
        """
        while True:
            values = {slot: rng.choice(self._values[slot]) for slot in slots}
            if len(taken.union(values.values())) == len(taken) + len(values):
                return values

    def fill(self, rng, template, values):
        """Fill the slots of a template.

        Parameters
        ----------
        rng : random.Random
        template : str
        values : dict of str to str

        Returns
        -------
        text : str
            With a capital letter first.
        starts : dict of str to int
            The index of the character with which each slot begins.
        """
        text, starts = "", {}
        for piece in _FIELD.split(template):
            name = piece[1:-1]
            if piece.startswith("{"):
                starts[name] = len(text)
                text += values[name]
            elif piece.startswith("<"):
                text += rng.choice(self._synonyms[name])
            else:
                text += piece
        return text[0].upper() + text[1:], starts


def slots_of(*templates):
    """Return the names of the slots of templates, each once, in alphabetical order.

    Examples
    --------
    >>> slots_of("{person} <went> to {city}.", "why did {person} go?")
    ['city', 'person']
    """
    pieces = (piece for template in templates for piece in _FIELD.findall(template))
    return sorted({piece[1:-1] for piece in pieces if piece[0] == "{"})


def _spell_out(listed, slot):
    values = listed[slot]
    if isinstance(values, str):
        return _spell_out(listed, values)
    if isinstance(values[0], list):
        return ["".join(parts) for parts in product(*values)]
    return values
