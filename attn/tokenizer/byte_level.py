"""The byte-pair encoding of GPT-2 and its successors, with a published vocabulary."""

from collections.abc import Iterable, Sequence
from functools import cache
from typing import TYPE_CHECKING, Any, Self

from attn._checks import argument_error, shown
from attn.tokenizer.added import AddedToken
from attn.tokenizer.byte_pair import MergedWords
from attn.tokenizer.pretrained import PretrainedTokenizer
from attn.tokenizer.text import check_text

if TYPE_CHECKING:
    import regex

# A run of letters, of digits or of punctuation, each with at most one space before it. English
# contractions are separate.
GPT2_WORDS = r"'s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+"
# Each digit is a word of its own.
NUMBER = r"\p{N}"


@cache
def byte_letters() -> dict[int, str]:
    """Return the visible character that stands for each byte in a byte-level vocabulary.

    Visible characters of Latin-1 stand for their own byte. The other bytes are written as the
    characters from U+0100 on.
    """
    visible = [*range(33, 127), *range(161, 173), *range(174, 256)]
    others = [b for b in range(256) if b not in visible]
    return {b: chr(b) for b in visible} | {b: chr(256 + i) for i, b in enumerate(others)}


class ByteLevelTokenizer(PretrainedTokenizer):
    """Byte pairs as in `BytePairTokenizer`, with the vocabulary and ids of a published model.

    Parameters
    ----------
    vocabulary : list of str
        The tokens in the order of their ids, with bytes written by `byte_letters`.
    merges : list of (str, str)
        The two tokens that each merge joins, in order of priority.
    added : list of AddedToken or str, default ()
        Added tokens, as in `PretrainedTokenizer`. They are written as plain text and not by
        `byte_letters`.
    patterns : list of str, default (GPT2_WORDS,)
        Patterns of `regex` that split a text into words. Each pattern splits the pieces that
        the previous one left.
    unused : list of str, default ()
        Placeholder tokens that only pad the vocabulary to its size. `decode` leaves them out.
    whole_words : bool, default False
        Whether a word that is a token becomes that token without applying merges.
    pad_id, sos_id, eos_id : optional
        As in `PretrainedTokenizer`.

    Raises
    ------
    ValueError
        If a merge is repeated, or its parts or its result are no tokens, or a pattern is
        invalid.

    References
    ----------
    Radford et al. (2019), Language Models are Unsupervised Multitask Learners, section 2.2.

    Examples
    --------
    >>> vocabulary = [*byte_letters().values(), "Ġt", "Ġth", "<|endoftext|>"]
    >>> tokenizer = ByteLevelTokenizer(vocabulary, [("Ġ", "t"), ("Ġt", "h")], ["<|endoftext|>"])
    >>> [tokenizer.tokens[i] for i in tokenizer.encode("on the", eos=True)]
    ['o', 'n', ' th', 'e', '<|endoftext|>']
    """

    _format = "attn byte-level tokenizer"
    _fields = (
        ("tokens", list),
        ("vocabulary", list),
        ("merges", list),
        ("added", list),
        ("patterns", list),
        ("unused", list),
        ("whole_words", bool),
        ("ends", list),
    )

    def __init__(
        self,
        vocabulary: Sequence[str],
        merges: Iterable[Sequence[str]],
        added: Iterable[AddedToken | str] = (),
        patterns: Sequence[str] = (GPT2_WORDS,),
        *,
        unused: Iterable[str] = (),
        whole_words: bool = False,
        pad_id: int | None = None,
        sos_id: int | None = None,
        eos_id: int | Sequence[int] | None = None,
    ) -> None:
        self.vocabulary, self.patterns = list(vocabulary), list(patterns)
        self.merges = [list(merge) for merge in merges]
        self.unused, self.whole_words, added = list(unused), bool(whole_words), list(added)
        letters = byte_letters()
        bytes_of = {letter: b for b, letter in letters.items()}
        ids = {check_text("tokens", token): i for i, token in enumerate(self.vocabulary)}
        made: dict[tuple[int, int], tuple[int, int]] = {}
        for rank, merge in enumerate(self.merges):
            if len(merge) != 2 or not ids.keys() >= {*merge, "".join(merge)}:
                raise argument_error("merges", "pairs of tokens that make a token", shown(merge))
            left, right = (ids[token] for token in merge)
            if made.setdefault((left, right), (rank, ids["".join(merge)]))[0] != rank:
                raise argument_error("merges", "distinct pairs", f"{shown(merge)} twice")
        # A vocabulary may lack bytes that did not occur in its corpus. Such bytes of a text are
        # left out.
        self._letters = {b: ids[letter] for b, letter in letters.items() if letter in ids}
        self._merged = MergedWords(made, self._letters)
        # An added token is plain text, not byte letters, unless it is a byte letter or the result
        # of a merge.
        common = set(self._letters.values()).union(i for _, i in made.values())
        added_ids = {ids.get(t.content if isinstance(t, AddedToken) else t) for t in added} - common
        self._bytes = [
            token.encode()
            if i in added_ids or set(token).difference(bytes_of)
            else bytes(bytes_of[letter] for letter in token)
            for i, token in enumerate(self.vocabulary)
        ]
        self._whole = {
            self._bytes[i]: i
            for i, token in enumerate(self.vocabulary)
            if self.whole_words and i not in added_ids and not set(token).difference(bytes_of)
        }
        tokens = (token.decode(errors="backslashreplace") for token in self._bytes)
        super().__init__(
            self.vocabulary, tokens, added, pad_id=pad_id, sos_id=sos_id, eos_id=eos_id
        )
        if not self._ids.keys() >= set(self.unused):
            raise argument_error("unused", "tokens of the vocabulary", shown(self.unused))
        self.ends = [self.pad_id, self.sos_id, *self.end_ids]
        self._compiled = [_compiled(pattern) for pattern in self.patterns]

    def split(self, text: str) -> list[str]:
        """Split a text into words whose concatenation is the text."""
        pieces = [text]
        for pattern in self._compiled:
            pieces = [part for piece in pieces for part in pattern.split(piece) if part]
        return pieces

    def _pieces(self, text: str) -> list[int]:
        return [i for word in self.split(text) for i in self._ids_of_word(word)]

    def _ids_of_word(self, word: str) -> list[int]:
        whole = self._whole.get(word.encode()) if self._whole else None
        return self._merged.ids(word) if whole is None else [whole]

    def _unknown(self, text: str) -> list[str]:
        words = [word for part in self._words(text) for word in self.split(part)]
        return [w for w in words if not self._letters.keys() >= set(w.encode())]

    def _to_text(self, ids: list[int]) -> str:
        return b"".join(self._bytes[i] for i in ids).decode(errors="replace")

    def _silent(self) -> set[int]:
        return super()._silent().union(self._ids[token] for token in self.unused)

    @classmethod
    def _from_fields(cls, fields: dict[str, Any]) -> Self:
        pad_id, sos_id, *end_ids = fields["ends"]
        return cls(
            fields["vocabulary"],
            fields["merges"],
            [AddedToken(**token) for token in fields["added"]],
            fields["patterns"],
            unused=fields["unused"],
            whole_words=fields["whole_words"],
            pad_id=pad_id,
            sos_id=sos_id,
            eos_id=end_ids,
        )


def _compiled(pattern: str) -> "regex.Pattern[str]":
    # The patterns name Unicode's kinds of characters, which `re` does not know.
    import regex

    try:
        # With one group around the whole pattern, `split` returns the words as well as the text
        # between them.
        compiled = regex.compile(f"({pattern})")
    except (regex.error, RecursionError, OverflowError) as error:
        raise argument_error(
            "patterns", "regular expressions", f"{shown(pattern)}: {error}"
        ) from None
    if compiled.groups > 1:
        raise argument_error("patterns", "patterns without groups", shown(pattern))
    return compiled
