"""The byte-pair encoding of GPT-2 and of models after it, with the vocabulary that they came with."""

from collections.abc import Iterable, Sequence
from typing import Any, Self

from attn._checks import wrong
from attn.tokenizer.byte_pair import FIRST_BYTE, FIRST_MERGE, BytePairTokenizer, to_bytes
from attn.tokenizer.pretrained import PretrainedTokenizer

# A run of letters, of digits or of other marks, with one space before it; English endings apart.
GPT2_WORDS = r"'s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+"
NUMBER = r"\p{N}"  # each digit by itself


def byte_letters() -> dict[int, str]:
    """Return the letter by which such vocabularies write each byte: no space, nothing invisible.

    Bytes that are visible characters stand for themselves, the others for those from 256 on.
    """
    visible = [*range(33, 127), *range(161, 173), *range(174, 256)]
    others = [b for b in range(256) if b not in visible]
    return {b: chr(b) for b in visible} | {b: chr(256 + i) for i, b in enumerate(others)}


class ByteLevelTokenizer(PretrainedTokenizer):
    """Byte pairs as in `BytePairTokenizer`, under the ids of somebody else's vocabulary.

    Parameters
    ----------
    vocabulary : list of str
        The tokens in the order of their ids, each byte written as `byte_letters` says.
    merges : list of (str, str)
        What each merge joins, the most frequent first.
    special : list of str, default ()
        Tokens that no text becomes, but for `encode_marked`.
    patterns : list of str, default (GPT2_WORDS,)
        Patterns of `regex` that cut a text into words, one after the other: what a pattern
        matches is cut out of the pieces that the one before has left.
    pad_id, sos_id, eos_id : int, optional
        As in `PretrainedTokenizer`.

    Raises
    ------
    ValueError
        If a merge joins what is no token, or makes none.

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
        ("tokens", list), ("vocabulary", list), ("merges", list), ("marks", list),
        ("patterns", list), ("ends", list),
    )  # fmt: skip

    def __init__(
        self, vocabulary: Sequence[str], merges: Iterable[Sequence[str]], special: Sequence[str] = (),
        patterns: Sequence[str] = (GPT2_WORDS,), *, pad_id: int | None = None,
        sos_id: int | None = None, eos_id: int | None = None,
    ) -> None:  # fmt: skip
        self.vocabulary, self.patterns, self.marks = list(vocabulary), list(patterns), list(special)
        self.merges = [list(merge) for merge in merges]
        letters = byte_letters()
        bytes_of = {letter: b for b, letter in letters.items()}
        # The id that `BytePairTokenizer` gives to each token, which has ids of its own here.
        counted = {letter: FIRST_BYTE + b for b, letter in letters.items()}
        for n, merge in enumerate(self.merges):
            counted.setdefault("".join(merge), FIRST_MERGE + n)
        ids = {token: i for i, token in enumerate(self.vocabulary)}
        for merge in self.merges:
            if len(merge) != 2 or "".join(merge) not in ids or set(merge).difference(counted):
                raise wrong("merges", "pairs of tokens that make a token", merge)
        self._pairs = BytePairTokenizer([(counted[a], counted[b]) for a, b in self.merges])
        self._id_of = {counted[token]: ids[token] for token in counted if token in ids}
        # A vocabulary may lack bytes that its corpus never held. In a text they are left out.
        self._lacking = {counted[letter] for letter in bytes_of if letter not in ids}
        self._bytes = [
            token.encode() if token in self.marks or set(token).difference(bytes_of)
            else bytes(bytes_of[letter] for letter in token)
            for token in self.vocabulary
        ]  # fmt: skip
        tokens = (token.decode(errors="backslashreplace") for token in self._bytes)
        super().__init__(tokens, self.marks, pad_id=pad_id, sos_id=sos_id, eos_id=eos_id)
        self.ends = [self.pad_id, self.sos_id, self.eos_id]
        import regex  # the patterns speak of Unicode's kinds of characters, which `re` does not know

        # `split` returns what stands between two matches, and what a group in a match holds: with
        # one group around the whole pattern, the words themselves are kept.
        self._compiled = [regex.compile(f"({pattern})") for pattern in self.patterns]
        if any(pattern.groups > 1 for pattern in self._compiled):
            raise wrong("patterns", "patterns without groups", self.patterns)

    def split(self, text: str) -> list[str]:
        """Cut a text into words; joined, they are the text again.

        Parameters
        ----------
        text : str

        Returns
        -------
        list of str
        """
        pieces = [text]
        for pattern in self._compiled:
            pieces = [part for piece in pieces for part in pattern.split(piece) if part]
        return pieces

    def _to_ids(self, text: str) -> list[int]:
        found = (self._pairs.word_ids(word, self._lacking) for word in self.split(text))
        return [self._id_of[i] for word_ids in found for i in word_ids]

    def _unknown(self, text: str) -> list[str]:
        return [w for w in self.split(text) if not self._lacking.isdisjoint(to_bytes(w))]

    def _to_text(self, ids: list[int]) -> str:
        return b"".join(self._bytes[i] for i in ids).decode(errors="replace")

    @classmethod
    def _from_fields(cls, fields: dict[str, Any]) -> Self:
        pad_id, sos_id, eos_id = fields["ends"]
        return cls(
            fields["vocabulary"], fields["merges"], fields["marks"], fields["patterns"],
            pad_id=pad_id, sos_id=sos_id, eos_id=eos_id,
        )  # fmt: skip
