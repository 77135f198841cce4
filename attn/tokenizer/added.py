"""Added tokens: strings that are found in a text before it is split into words."""

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass

from attn._checks import argument_error
from attn.tokenizer.text import check_text

# The white space of Unicode. `str.isspace` accepts four separators of ASCII as well.
SPACES = (
    "\t\n\v\f\r \x85\xa0\u1680"
    + "".join(map(chr, range(0x2000, 0x200B)))
    + ("\u2028\u2029\u202f\u205f\u3000")
)
_OF_A_WORD = r"[\p{Alphabetic}\p{M}\p{Nd}\p{Pc}\p{Join_Control}]"


@dataclass(frozen=True)
class AddedToken:
    """A string that is one token wherever it occurs in a text.

    Parameters
    ----------
    content : str
        The string, with at least one character.
    special : bool, default True
        Whether the token structures a text, as ``<|im_end|>`` or ``[SEP]`` does. A special
        token is found by `encode_marked` only, and left out by `decode`.
    lstrip, rstrip : bool, default False
        Whether the token takes the white space before it, or after it.
    single_word : bool, default False
        Whether the token is found only where no letter, digit or underscore is next to it.
    normalized : bool, default False
        Whether the token is normalised (in lower case, for example) and looked for in the
        normalised text.
    """

    content: str
    special: bool = True
    lstrip: bool = False
    rstrip: bool = False
    single_word: bool = False
    normalized: bool = False

    def __post_init__(self) -> None:
        if not check_text("content", self.content):
            raise argument_error("content", "at least one character", "''")
        for name in ("special", "lstrip", "rstrip", "single_word", "normalized"):
            if type(getattr(self, name)) is not bool:
                raise argument_error(name, "True or False", repr(getattr(self, name)))


class AddedTokens:
    """Finds the added tokens of a vocabulary in a text, as it is and normalised.

    References
    ----------
    The rules are those of the library ``tokenizers`` (``added_vocabulary.rs``).
    """

    def __init__(self, tokens: Mapping[AddedToken, int], normalise: Callable[[str], str]) -> None:
        self._normalise = normalise
        as_they_are: dict[str, tuple[AddedToken, int]] = {}
        normalised: dict[str, tuple[AddedToken, int]] = {}
        for token, i in tokens.items():
            where, text = as_they_are, token.content
            if token.normalized:
                where, text = normalised, normalise(token.content)
            if not text:
                raise argument_error(
                    "added",
                    "tokens of which something is left once normalised",
                    repr(token.content),
                )
            if text in where:
                got = f"{where[text][0].content!r} and {token.content!r}"
                raise argument_error("added", "tokens that differ once normalised", got)
            where[text] = token, i
        self._finders = _Finder(as_they_are), _Finder(normalised)

    def cut(self, text: str, marked: bool) -> Iterator[int | str]:
        """Yield the ids of the tokens found and the normalised text between them.

        Special tokens are only found if `marked` is True.
        """
        as_they_are, normalised = self._finders
        for part in as_they_are.cut(text, marked):
            if isinstance(part, int):
                yield part
            else:
                yield from normalised.cut(self._normalise(part), marked)


class _Finder:
    """Finds the string that begins first and, among those, the longest."""

    def __init__(self, tokens: Mapping[str, tuple[AddedToken, int]]) -> None:
        self.tokens = tokens
        self.pattern = re.compile("|".join(map(re.escape, sorted(tokens, key=len, reverse=True))))
        if any(token.single_word for token, _ in tokens.values()):
            import regex

            self.of_a_word = regex.compile(_OF_A_WORD)

    def cut(self, text: str, marked: bool) -> Iterator[int | str]:
        done = 0
        for match in self.pattern.finditer(text) if self.tokens else ():
            token, i = self.tokens[match[0]]
            start, stop = match.span()
            if token.special and not marked:
                continue
            if token.single_word and self._touches_a_word(text, start, stop):
                continue
            while token.lstrip and start > done and text[start - 1] in SPACES:
                start -= 1
            if token.rstrip:
                # The white space before this token may already belong to the previous one.
                stop = max(stop, done)
            while token.rstrip and stop < len(text) and text[stop] in SPACES:
                stop += 1
            if token.lstrip and done >= stop:
                # This token is only white space, and the previous token has taken all of it.
                continue
            if done < start:
                yield text[done:start]
            yield i
            done = stop
        if done < len(text):
            yield text[done:]

    def _touches_a_word(self, text: str, start: int, stop: int) -> bool:
        neighbours = text[max(start - 1, 0) : start] + text[stop : stop + 1]
        return self.of_a_word.search(neighbours) is not None
