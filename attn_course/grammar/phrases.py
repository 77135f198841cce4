"""Words with their links, and phrases in both languages.

Links, agreements and coreferences refer to *words* and not to positions, so phrases can be
joined in any order. `to_pair` counts the positions at the end.
"""

import functools
from dataclasses import dataclass, replace

from attn.corpus.pair import Agreement, Coreference, Pair, Polyseme

CONTRACTIONS = {("a", "el"): "al", ("de", "el"): "del"}


@dataclass(eq=False)
class Word:
    """A word of one language, and its relations to other words.

    Attributes
    ----------
    text : str
    sure, possible : tuple of Word
        For a target word, the source words with a sure link, and those with only a possible
        link.
    agrees_with : tuple of Word
        For a target word, the target nouns that decide its form.
    refers_to : tuple of (tuple of Word, Word), or None
        For a source pronoun, its antecedents and the target word whose form they decide.
    meaning : tuple of (Entry, Word), or None
        For a source word with several meanings, its meaning here and the word that decides it.
    """

    text: str
    sure: tuple = ()
    possible: tuple = ()
    agrees_with: tuple = ()
    refers_to: tuple | None = None
    meaning: tuple | None = None


@dataclass(frozen=True)
class Phrase:
    """Words in the order of each language, and the combinations of words in them."""

    source: tuple = ()
    target: tuple = ()
    combinations: frozenset = frozenset()

    def __add__(self, other):
        return Phrase(
            (*self.source, *other.source),
            (*self.target, *other.target),
            self.combinations | other.combinations,
        )


@dataclass(frozen=True)
class NounPhrase(Phrase):
    """A phrase that can be a subject or an object.

    Attributes
    ----------
    nouns : tuple of Noun
        Two if coordinated.
    source_heads, target_heads : tuple of Word
        The words of the nouns; for a pronoun, those of its antecedent.
    person : {"i", "he", "we", "they"}
        "he" is any third person singular.
    feminine : bool
    definite : bool
        Whether the hearer knows which one: "the", "my", a name.
    pronoun : Word, optional
        The source pronoun, when the phrase is one: Spanish says it with the verb.
    """

    nouns: tuple = ()
    source_heads: tuple = ()
    target_heads: tuple = ()
    person: str = "he"
    feminine: bool = False
    definite: bool = True
    pronoun: Word | None = None

    @property
    def plural(self):
        return self.person in ("we", "they")

    @property
    def form(self):
        """The index of the form among masculine, feminine, and their plurals."""
        return 2 * self.plural + self.feminine

    def extended(self, phrase):
        """Return the noun phrase with `phrase` after it."""
        longer = self + phrase
        return replace(self, **vars(longer))

    def silent(self):
        """Return the noun phrase without words: the subject of a relative clause."""
        return replace(self, **vars(Phrase()))


def unit(english, spanish, links=None):
    """Return a phrase of one entry of the lexicon, with the links of the entry.

    A word without a sure link has a possible link to every word of the other side.
    """
    texts, linked = _linked(english, spanish, links)
    source = tuple([Word(text) for text in texts])
    target = tuple(
        [
            Word(text, tuple([source[i] for i in sure]), tuple([source[i] for i in possible]))
            for text, sure, possible in linked
        ]
    )
    return Phrase(source, target)


@functools.cache
def _linked(english, spanish, links):
    """Return the source words, and of each target word its text, sure and possible positions."""
    source, target = english.split(), spanish.split()
    found = zip(target, _links(len(source), len(target), links), strict=True)
    return source, [(text, sure, possible) for text, (sure, possible) in found]


def _links(src_len, tgt_len, links):
    """Return for each target position the source positions of its sure and possible links."""
    if links is not None:
        sure = {tuple(map(int, link.split("-"))) for link in links.split()}
    elif src_len == tgt_len:
        sure = {(i, i) for i in range(src_len)}
    else:
        sure = {(src_len - 1, 0)}
    free = {i for i in range(src_len)} - {i for i, _ in sure}
    found = []
    for j in range(tgt_len):
        its = sorted(i for i, at in sure if at == j)
        found.append((its, sorted(free) if its else list(range(src_len))))
    return found


def decide(word, entry, by):
    """Note that the meaning of `word`, if it has several, is `entry`, decided `by` a word."""
    if entry.polyseme:
        word.meaning = (entry, by)


def refer(pronoun, antecedent, decided):
    """Note that `pronoun` stands for `antecedent`, which decides the target word `decided`."""
    pronoun.refers_to = (antecedent.source_heads, decided)


def to_pair(phrase, frame):
    """Contract the target, count positions, and make a `Pair`."""
    source = {id(word): i for i, word in enumerate(phrase.source)}
    texts, target = [], {}
    for word in phrase.target:
        contracted = texts and CONTRACTIONS.get((texts[-1], word.text))
        if contracted:
            texts[-1] = contracted
        else:
            texts.append(word.text)
        target[id(word)] = len(texts) - 1

    sure, possible, agreements, coreferences, polysemes = [], [], [], [], []
    for word in phrase.target:
        j = target[id(word)]
        sure += [(source[id(other)], j) for other in word.sure]
        possible += [(source[id(other)], j) for other in word.possible]
        if word.agrees_with:
            nouns = tuple(target[id(noun)] for noun in word.agrees_with)
            agreements.append(Agreement(j, nouns, min(abs(j - noun) for noun in nouns)))
    for i, word in enumerate(phrase.source):
        if word.refers_to:
            antecedents, decided = word.refers_to
            positions = tuple(source[id(other)] for other in antecedents)
            coreferences.append(Coreference(i, positions, target[id(decided)]))
        if word.meaning:
            entry, by = word.meaning
            polysemes.append(Polyseme(i, entry.en, entry.meaning, source[id(by)]))
    return Pair(
        source=" ".join(word.text for word in phrase.source),
        target=" ".join(texts),
        sure=frozenset(sure),
        possible=frozenset(sure + possible),
        agreements=tuple(agreements),
        coreferences=tuple(coreferences),
        polysemes=tuple(polysemes),
        combinations=phrase.combinations,
        frame=frame,
    )
