"""The entries of the lexicon, one class for each part of speech."""

from dataclasses import dataclass


@dataclass(frozen=True, eq=False)
class Entry:
    """The base of all entries: an English and a Spanish base form, and their links.

    Attributes
    ----------
    en, es : str
        The base forms, which may have several words.
    forms : tuple of str
        Every English form.
    links : str or None
        The links between the words of forms with several words, such as ``"1-0 0-2"``. Without
        it, word i translates word i, or the last English word translates the first Spanish
        one.
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
        """The Spanish word that identifies the meaning: "jugar" also for "jugar a"."""
        return self.es


@dataclass(frozen=True, eq=False)
class Noun(Entry):
    """A noun or a name.

    Attributes
    ----------
    english, spanish : tuple
        The singular, and the plural or None.
    feminine : bool
    kinds : frozenset of str
        Its kinds, such as "person" or "food", and its own name.
    of : tuple of str
        The kinds that it may belong to.
    part : bool
        Whether it must belong to one of them.
    mass : bool
        Whether it is uncountable.
    name : bool
    stressed_a : bool
        Whether it is feminine with the article *el*, as in "el agua".
    """

    english: tuple = ()
    spanish: tuple = ()
    feminine: bool = False
    kinds: frozenset = frozenset()
    of: tuple = ()
    part: bool = False
    mass: bool = False
    name: bool = False
    stressed_a: bool = False


@dataclass(frozen=True, eq=False)
class Adjective(Entry):
    """An adjective.

    Attributes
    ----------
    spanish : tuple of str
        Four forms, or none if it is never next to its noun.
    short : str or None
        The form before a masculine singular noun, such as "buen".
    be : str
        The Spanish copula that it takes.
    predicate : str or None
        What Spanish says after a subject instead, such as "hambre" with *tener*.
    attribute : bool
        Whether it can be next to its noun.
    before : bool
        Whether it comes before its noun in Spanish.
    absolute : bool
        Whether it takes neither *very* nor *too*.
    nouns : tuple of str
        The kinds of nouns that it describes.
    more : str or None
        The English comparative, such as "bigger".
    compare : tuple of str
        The kinds of things that it compares.
    """

    spanish: tuple = ()
    short: str | None = None
    be: str = "ser"
    predicate: str | None = None
    attribute: bool = True
    before: bool = False
    absolute: bool = False
    nouns: tuple = ()
    more: str | None = None
    compare: tuple = ()


@dataclass(frozen=True, eq=False)
class Verb(Entry):
    """A verb with one meaning: its forms, and the subjects and objects that it takes.

    Attributes
    ----------
    english : tuple of str
        The base form, third person, past and -ing form.
    particle : str or None
        The word "for" of "look for".
    conjugation : dict
        For each Spanish tense, a form for each of `PERSONS`.
    preposition : str or None
        The word "de" of "salir de".
    """

    english: tuple = ()
    particle: str | None = None
    infinitive: str = ""
    conjugation: dict | None = None
    preposition: str | None = None
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
        """Whether the verb has a progressive: "was crying", but not "was arriving".

        Verbs such as *sit* have none, because Spanish says "estaba sentado".
        """
        without_end = not (self.object or self.state or self.moment or self.reflexive)
        return self.lasting or without_end


@dataclass(frozen=True, eq=False)
class Determiner(Entry):
    """An article or another determiner; `spanish` has four forms, some of them None."""

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
