"""A tokenizer with one id per word."""

import unicodedata
from collections import Counter
from collections.abc import Iterable
from typing import Any, Self

import regex

from attn._checks import argument_error, check_size
from attn._letters import JOINERS, LETTERS, SPACE
from attn.tokenizer.base import SPECIAL_TOKENS, Tokenizer
from attn.tokenizer.text import check_text, check_texts

_OPENING = "¿¡([{«“‘$/"
_CLOSING = "?!)]}»”’.,;:…%/"
_QUOTES = "\"'"

# Any other character, with the variation selectors, skin tones and tags that change how it looks,
# and the characters that a joiner (U+200D) adds to it. Two regional letters form one flag. An
# opening, closing or quotation mark is a token alone: no modifier is joined to it.
_OTHER = (
    rf"(?:\p{{RI}}\p{{RI}}|[^{SPACE}{regex.escape(_OPENING + _CLOSING + _QUOTES)}])"
    rf"(?:[\p{{M}}\p{{Emoji_Modifier}}{JOINERS}\U000e0020-\U000e007f]"
    rf"|(?<=\u200d)\p{{Extended_Pictographic}})*|[^{SPACE}]"
)
# Letters and digits with their marks. An apostrophe or a hyphen may join them, and between digits
# also a point, a comma or a colon.
_WORD = regex.compile(rf"{LETTERS}(?:(?:['’-]|(?<=\p{{Nd}})[.,:](?=\p{{Nd}})){LETTERS})*|{_OTHER}")


class WordTokenizer(Tokenizer):
    """A vocabulary of words and punctuation marks; every other word is ``<unk>``.

    Parameters
    ----------
    words : list of str
        The vocabulary. Word i gets the id ``i + 4``, after the special tokens.
    lowercase : bool, default True
        Whether to lower-case text before looking its words up.

    Raises
    ------
    ValueError
        If a word is repeated, or can never be found because `normalise` or `split` would
        change it.

    References
    ----------
    *Transformadores: ¿cómo funcionan internamente?*, section 2.

    Examples
    --------
    >>> tokenizer = WordTokenizer.train(["Roses are red and violets are blue"])
    >>> tokenizer.tokens[4:]
    ['are', 'and', 'blue', 'red', 'roses', 'violets']
    >>> tokenizer.encode("Roses are red and violets are blue")
    [8, 4, 7, 5, 9, 4, 6]
    >>> tokenizer.decode(tokenizer.encode("Violets are purple!"))
    'violets are <unk> <unk>'
    """

    _format = "attn word tokenizer"
    _fields = (("lowercase", bool), ("tokens", list))

    def __init__(self, words: Iterable[str], lowercase: bool = True) -> None:
        super().__init__(words)
        self.lowercase = bool(lowercase)
        self._ids: dict[str, int] = {}
        for i, word in enumerate(self.tokens[len(SPECIAL_TOKENS) :], start=len(SPECIAL_TOKENS)):
            if split(normalise(check_text("words", word), self.lowercase)) != [word]:
                raise argument_error(
                    "words", "words that `normalise` and `split` leave alone", repr(word)
                )
            if word in self._ids:
                raise argument_error("words", "distinct words", f"{word!r} twice")
            self._ids[word] = i

    @classmethod
    def train(
        cls,
        texts: Iterable[str],
        vocab_size: int | None = None,
        min_count: int = 1,
        lowercase: bool = True,
    ) -> Self:
        """Make a vocabulary of the most frequent words, ordered by count and then by code points.

        Parameters
        ----------
        vocab_size : int, optional
            The maximum size of the vocabulary, special tokens included. None keeps every word.
        min_count : int, default 1
            The least number of occurrences of a word that is kept.
        lowercase : bool, default True
            Whether to write text in lower case, here and later.

        Raises
        ------
        ValueError
            If `texts` are not strings, `vocab_size` is not an integer of at least 4, or `min_count`
            is not an integer of at least 1.

        Examples
        --------
        >>> WordTokenizer.train(["¿Qué? ¡Nada!", "Nada, nada."], vocab_size=7).tokens[4:]
        ['nada', '!', ',']
        """
        min_count = check_size("min_count", min_count, least=1)
        n_words = None
        if vocab_size is not None:
            n_words = check_size("vocab_size", vocab_size, least=len(SPECIAL_TOKENS))
            n_words -= len(SPECIAL_TOKENS)
        counts = Counter(
            word for text in check_texts(texts) for word in split(normalise(text, lowercase))
        )
        kept = (word for word, count in counts.items() if count >= min_count)
        return cls(sorted(kept, key=lambda word: (-counts[word], word))[:n_words], lowercase)

    @classmethod
    def _from_fields(cls, fields: dict[str, Any]) -> Self:
        return cls(fields["tokens"][len(SPECIAL_TOKENS) :], fields["lowercase"])

    def _to_ids(self, text: str) -> list[int]:
        words = split(normalise(text, self.lowercase))
        return [self._ids.get(word, self.unk_id) for word in words]

    def _unknown(self, text: str) -> list[str]:
        return [w for w in split(normalise(text, self.lowercase)) if w not in self._ids]

    def _to_text(self, ids: list[int]) -> str:
        return join(self.tokens[i] for i in ids)


def normalise(text: str, lowercase: bool = True) -> str:
    """Bring text to one form: composed accented letters (NFC), in lower case unless told otherwise.

    References
    ----------
    *Transformadores: ¿cómo funcionan internamente?*, section 2.

    Examples
    --------
    >>> normalise("El CIELO")
    'el cielo'
    >>> len("a\\u0301"), len(normalise("a\\u0301"))
    (2, 1)
    """
    return unicodedata.normalize("NFC", text.lower() if lowercase else text)


def split(text: str) -> list[str]:
    """Split text into words and punctuation marks, without the spaces.

    Words keep the apostrophes and hyphens inside them, and numbers their points, commas and colons.
    Letters of any script keep their marks and joiners, and so do emoji. Every other character is a
    token of its own. So the text ``<eos>`` becomes three tokens and never the special token.

    References
    ----------
    *Transformadores: ¿cómo funcionan internamente?*, section 2.

    Examples
    --------
    >>> split("¿don't cost 3.50, right?")
    ['¿', "don't", 'cost', '3.50', ',', 'right', '?']
    >>> split("<eos>")
    ['<', 'eos', '>']
    """
    return [match[0] for match in _WORD.finditer(text)]


def join(words: Iterable[str]) -> str:
    """Join words with spaces, except next to punctuation that is attached to a word.

    Straight quotes open and close in turn.

    Examples
    --------
    >>> join(["¿", "qué", "?", "(", "nada", ")", ",", '"', "sí", '"', "."])
    '¿qué? (nada), "sí".'
    """
    pieces: list[str] = []
    open_quotes: set[str] = set()
    space = ""
    for word in words:
        closes, opens = word in _CLOSING, word in _OPENING
        if word in _QUOTES:
            closes = word in open_quotes
            opens = not closes
            open_quotes ^= {word}
        pieces += ["" if closes else space, word]
        space = "" if opens else " "
    return "".join(pieces)
