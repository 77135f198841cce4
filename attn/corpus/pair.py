"""A sentence in two languages, with its alignment and annotations."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Agreement:
    """A target word takes its form from another; all positions are in the target.

    Attributes
    ----------
    position : int
        That of the article, adjective or verb.
    controllers : tuple of int
        Those of the noun, or nouns, that it agrees with.
    distance : int
        The distance in tokens to the nearest of them.
    """

    position: int
    controllers: tuple[int, ...]
    distance: int


@dataclass(frozen=True)
class Coreference:
    """A source pronoun or possessive stands for a noun, which decides a target word's form.

    Attributes
    ----------
    pronoun : int
        The source position of *it*, *he*, *their* ...
    antecedents : tuple of int
        The source positions of the noun, or nouns, it stands for.
    decides : int
        The target position of the word whose gender or number follows from them.
    """

    pronoun: int
    antecedents: tuple[int, ...]
    decides: int


@dataclass(frozen=True)
class Polyseme:
    """A source word with several meanings, of which another word chooses one.

    Attributes
    ----------
    position : int
        The source position of the word.
    word, sense : str
        The base form of the word, and the Spanish base form of its meaning in this sentence.
    decided_by : int
        The source position of the word that decides.
    """

    position: int
    word: str
    sense: str
    decided_by: int


@dataclass(frozen=True)
class Pair:
    """A sentence and its translation.

    Attributes
    ----------
    source, target : str
        English and Spanish. In pairs of the grammar, lower case and one space between tokens.
    sure, possible : frozenset of (int, int)
        Links ``(source position, target position)``. Every sure link is possible too. A link
        that is only possible joins a word that one language needs and the other leaves out.
    agreements : tuple of Agreement
    coreferences : tuple of Coreference
    polysemes : tuple of Polyseme
    combinations : frozenset of (str, str, str)
        The combinations of words in the sentence, in base forms: ``("adjective", "red",
        "house")``, ``("object", "eat", "soup")``, ``("polyseme", "blue: triste", "tom")``.
        Held-out sets are defined by these.
    frame : str
        The name of the construction.

    A pair from a user's file has its two texts and nothing else.

    Examples
    --------
    >>> pair = Pair("the red house", "la casa roja", frozenset({(0, 0), (2, 1), (1, 2)}))
    >>> [(pair.source.split()[i], pair.target.split()[j]) for i, j in sorted(pair.sure)]
    [('the', 'la'), ('red', 'roja'), ('house', 'casa')]
    """

    source: str
    target: str
    sure: frozenset[tuple[int, int]] = frozenset()
    possible: frozenset[tuple[int, int]] = frozenset()
    agreements: tuple[Agreement, ...] = ()
    coreferences: tuple[Coreference, ...] = ()
    polysemes: tuple[Polyseme, ...] = ()
    combinations: frozenset[tuple[str, str, str]] = frozenset()
    frame: str = ""

    def turned(self) -> "Pair":
        """Return the pair in the other direction, with its links.

        The annotations are left out: they say how the target follows from the source.

        Examples
        --------
        >>> Pair("the red house", "la casa roja", frozenset({(2, 1)})).turned()  # doctest: +ELLIPSIS
        Pair(source='la casa roja', target='the red house', sure=frozenset({(1, 2)}), ...)
        """
        sure, possible = (
            frozenset((j, i) for i, j in links) for links in (self.sure, self.possible)
        )
        return Pair(self.target, self.source, sure, possible)
