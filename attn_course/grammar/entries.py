"""What an entry of the lexicon holds, one class for each part of speech."""

from dataclasses import dataclass


@dataclass(frozen=True, eq=False)
class Entry:
    """What every entry has: its English base form, its Spanish one, and how they correspond.

    Attributes
    ----------
    en, es : str
        The base forms, which may have several words.
    forms : tuple of str
        Every English form.
    links : str or None
        Which word of a form of several words translates which, ``"1-0 0-2"``; without it,
        word i translates word i, or the last English word the first Spanish one.
    polyseme : bool
        Whether the English word has another entry with another meaning.
    """

    en: str
    es: str
    forms: tuple
    links: str | None = None
    polyseme: bool = False

    @property
    def meaning(self):
        """The Spanish word that tells its meanings apart: "jugar" also for "jugar a"."""
        return self.es


@dataclass(frozen=True, eq=False)
class Noun(Entry):
    """A noun or a name. `english` and `spanish` are (singular, plural or None)."""

    english: tuple = ()
    spanish: tuple = ()
    feminine: bool = False
    kinds: frozenset = frozenset()  # what it is: "person", "food"; and its own name
    of: tuple = ()  # the kinds it may belong to
    part: bool = False  # it must belong to one of them
    mass: bool = False  # cannot be counted
    name: bool = False
    stressed_a: bool = False  # feminine, but "el agua"


@dataclass(frozen=True, eq=False)
class Adjective(Entry):
    """An adjective: `spanish` has four forms, or is empty if it never stands by a noun."""

    spanish: tuple = ()
    short: str | None = None  # before a masculine singular noun: "buen"
    be: str = "ser"
    predicate: str | None = None  # what says it after a subject: "tener hambre"
    attribute: bool = True  # can stand by its noun
    before: bool = False  # stands before its noun
    absolute: bool = False  # neither very nor too
    nouns: tuple = ()
    more: str | None = None  # "bigger"
    compare: tuple = ()  # what kinds it compares


@dataclass(frozen=True, eq=False)
class Verb(Entry):
    """A verb with one meaning: its forms, and what it goes with."""

    english: tuple = ()  # base, third person, past, -ing
    particle: str | None = None  # for in "look for"
    infinitive: str = ""
    conjugation: dict | None = None  # tense: one form for each of `PERSONS`
    preposition: str | None = None  # de in "salir de"
    reflexive: bool = False
    state: bool = False
    finished: bool = False
    lasting: bool = False
    first: bool = False
    wish: bool = False
    impersonal: bool = False
    inverse: bool = False
    new: bool = False
    single: bool = False
    known: bool = False
    anywhere: bool = False
    moment: bool = False
    subject: tuple = ()
    object: tuple = ()
    to: tuple = ()
    where: tuple = ()
    then: tuple = ()
    why: tuple = ()
    why_not: tuple = ()
    fault: tuple = ()
    merit: tuple = ()

    @property
    def meaning(self):
        return self.infinitive

    @property
    def goes_on(self):
        """Whether it is said of what was going on: "was crying", but not "was arriving".

        Who "was sitting" had sat down before; Spanish says so (estaba sentado).
        """
        without_end = not (self.object or self.state or self.moment or self.reflexive)
        return self.lasting or without_end


@dataclass(frozen=True, eq=False)
class Determiner(Entry):
    """An article or what stands in its place; `spanish` has four forms, some None."""

    english: tuple = ()
    spanish: tuple = ()
    weight: int = 1
    owner: str | None = None


@dataclass(frozen=True, eq=False)
class Place(Entry):
    """A preposition of place, and the kinds that can follow it."""

    nouns: tuple = ()
    inside: bool = False


@dataclass(frozen=True, eq=False)
class Adverb(Entry):
    """When something happens, and the tense that goes with it."""

    tense: str = "present"
