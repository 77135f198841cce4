"""The words: read from ``lexicon.toml``, inflected, and found by what they mean."""

import functools
import tomllib
from collections import defaultdict
from importlib.resources import files

from attn._checks import argument_error
from attn_course.grammar.entries import Adjective, Adverb, Determiner, Noun, Place, Verb
from attn_course.grammar.inflection import (
    english_plural,
    english_verb,
    spanish_adjective,
    spanish_plural,
    spanish_verb,
)


class Lexicon:
    """All words of the corpus.

    Parameters
    ----------
    content : dict
        The content of ``lexicon.toml``.

    Raises
    ------
    ValueError
        If a word of a list is no kind and no noun of the lexicon.
    """

    def __init__(self, content):
        polysemes = _polysemes(content)
        self.nouns = [_noun(row, polysemes) for row in content["nouns"]]
        self.names = [_name(row) for row in content["names"]]
        self.adjectives = [_adjective(row, polysemes) for row in content["adjectives"]]
        self.determiners = [_determiner(row) for row in content["determiners"]]
        self.ownable = frozenset(content["ownable"].split())
        self.static = {kind: row.split() for kind, row in content["static"].items()}
        self.places = [_entry(Place, row) for row in content["places"]]
        self.adverbs = [_entry(Adverb, row) for row in content["adverbs"]]
        self.verbs = [_verb(row, polysemes) for row in content["verbs"]]
        self.reports = [_verb(row, set()) for row in content["reports"]]
        self.copulas = {row["es"]: _verb(row, set()) for row in content["copulas"]}
        self._found = {}
        self._check()

    def nouns_of(self, kinds):
        """Return the nouns of any of `kinds` that are not ambiguous there.

        A polyseme is ambiguous if two of its meanings fit, unless the noun that it belongs to
        decides ("the leg of the table").
        """
        kinds = frozenset(kinds)
        if kinds not in self._found:
            fitting = [noun for noun in self.nouns if noun.kinds & kinds]
            meanings = defaultdict(set)
            for noun in fitting:
                if not noun.part:
                    meanings[noun.en].add(noun.es)
            self._found[kinds] = [n for n in fitting if n.part or len(meanings[n.en]) == 1]
        return self._found[kinds]

    def names_of(self, kinds):
        """Return the names, if people are among `kinds`."""
        return self.names if {"person", "adult"} & set(kinds) else []

    def adjectives_of(self, noun):
        """Return the adjectives that can describe `noun` without ambiguity."""
        if noun not in self._found:
            self._found[noun] = [
                adjective
                for adjective in self.adjectives
                if adjective.attribute
                and noun.kinds & set(adjective.nouns)
                and not (adjective.polyseme and noun.polyseme)
            ]
        return self._found[noun]

    def _check(self):
        known = set().union(*(noun.kinds for noun in self.nouns))
        lists = ("nouns", "compare", "of", "subject", "object", "to", "where")
        for entry in [*self.nouns, *self.adjectives, *self.places, *self.verbs]:
            for name in lists:
                for kind in getattr(entry, name, ()):
                    if kind not in known:
                        raise argument_error(f"{entry.en}: {name}", "kinds or nouns", repr(kind))
        for verb in self.verbs:
            for name, entries in (
                ("then", self.verbs),
                ("why", self.adjectives),
                ("why_not", self.adjectives),
                ("fault", self.adjectives),
                ("merit", self.adjectives),
            ):
                for word in getattr(verb, name):
                    if word not in {entry.en for entry in entries}:
                        raise argument_error(
                            f"{verb.en}: {name}", "words of the lexicon", repr(word)
                        )


@functools.cache
def lexicon():
    """Return the lexicon of the corpus, read once.

    Examples
    --------
    >>> mouse = next(noun for noun in lexicon().nouns if noun.en == "mouse")
    >>> mouse.english, mouse.spanish, mouse.feminine
    (('mouse', 'mice'), ('ratón', 'ratones'), False)
    """
    text = (files("attn_course.grammar") / "lexicon.toml").read_text(encoding="utf-8")
    return Lexicon(tomllib.loads(text))


def _polysemes(content):
    found = set()
    for part in ("nouns", "adjectives", "verbs"):
        meanings = defaultdict(set)
        for row in content[part]:
            spanish = row["es"] if part == "verbs" else row.get("predicate", row["es"])
            meanings[row["en"]].add(spanish)
        found |= {(part, word) for word in meanings if len(meanings[word]) > 1}
    return found


def _entry(kind, row, **fields):
    """Make one entry; lists of kinds are written as text."""
    values = {"forms": (row["en"],), **row, **fields}
    lists = {"nouns", "compare", "of", "subject", "object", "to", "where", "then"}
    for name in lists | {"why", "why_not", "fault", "merit"}:
        if isinstance(values.get(name), str):
            values[name] = tuple(word.replace("-", " ") for word in values[name].split())
    return kind(**values)


def _noun(row, polysemes):
    row = dict(row)
    polyseme = ("nouns", row["en"]) in polysemes
    singular, _, plural = row.pop("en").partition("/")
    spanish, _, gender = row.pop("es").rpartition(" ")
    spanish, _, plurals = spanish.partition("/")
    kinds = frozenset(row.pop("kind").split()) | {singular}
    if not row.pop("plural", True) or row.get("mass"):
        english = (singular, None)
        forms = (spanish, None)
    else:
        english = (singular, plural or english_plural(singular))
        forms = (spanish, plurals or spanish_plural(spanish))
    row |= {"en": singular, "es": spanish}
    written = tuple(form for form in english if form)
    return _entry(
        Noun,
        row,
        polyseme=polyseme,
        forms=written,
        english=english,
        spanish=forms,
        feminine=gender == "f",
        kinds=kinds,
    )


def _name(row):
    name, gender = row.split()
    kinds = frozenset({"person", "adult", name})
    return Noun(
        name,
        name,
        (name,),
        english=(name, None),
        spanish=(name, None),
        feminine=gender == "f",
        kinds=kinds,
        name=True,
    )


def _adjective(row, polysemes):
    masculine, _, plural = row["es"].partition("/")
    spanish = spanish_adjective(masculine)
    if plural:
        spanish = (masculine, masculine, plural, plural)
    attribute = row.get("attribute", row["es"] != row.get("predicate"))
    forms = tuple(form for form in (row["en"], row.get("more")) if form)
    polyseme = ("adjectives", row["en"]) in polysemes
    row = dict(row) | {"es": masculine}
    return _entry(
        Adjective, row, polyseme=polyseme, spanish=spanish, attribute=attribute, forms=forms
    )


def _determiner(row):
    row = dict(row)
    singular, _, plural = row.pop("en").partition("/")
    spanish = tuple(None if form == "-" else form for form in row.pop("es").split())
    english = (singular if spanish[0] else None, (plural or singular) if spanish[2] else None)
    forms = ("a", "an") if singular == "a" else tuple(form for form in english if form)
    return _entry(
        Determiner,
        {**row, "en": singular, "es": spanish[0] or spanish[2]},
        forms=forms,
        english=english,
        spanish=spanish,
    )


def _verb(row, polysemes):
    row = dict(row)
    polyseme = ("verbs", row["en"]) in polysemes
    base, *irregular = row.pop("en").split("/")
    en = base
    base, _, particle = base.partition(" ")
    english = [base, *english_verb(base)]
    english[2 : 2 + len(irregular)] = irregular
    infinitive, _, preposition = row["es"].partition(" ")
    reflexive = infinitive.endswith("se")
    infinitive = infinitive.removesuffix("se")
    conjugation = {
        tense: tuple(row.pop(tense).split()) if tense in row else spanish_verb(infinitive, tense)
        for tense in ("present", "past", "imperfect")
    }
    forms = tuple(f"{form} {particle}".strip() for form in english)
    return _entry(
        Verb,
        {**row, "en": en},
        polyseme=polyseme,
        forms=forms,
        english=tuple(english),
        particle=particle or None,
        infinitive=infinitive,
        conjugation=conjugation,
        preposition=preposition or None,
        reflexive=reflexive,
    )
