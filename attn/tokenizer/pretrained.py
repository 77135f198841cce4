"""The base class of tokenizers with the vocabulary of a published model."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict
from typing import Any

from attn._checks import argument_error, shown
from attn.tokenizer.added import AddedToken, AddedTokens
from attn.tokenizer.base import Tokenizer
from attn.tokenizer.text import check_text


class PretrainedTokenizer(Tokenizer):
    """A vocabulary with its own ids and added tokens.

    Parameters
    ----------
    vocabulary : list of str
        The tokens in the order of their ids, as written in the file of the model.
    tokens : list of str
        The text of each id, to be shown to people.
    added : list of AddedToken or str
        Tokens of the vocabulary that are found as whole strings. A str becomes a special
        token. `encode` finds only those that are not special; `encode_marked` finds all.
    pad_id, unk_id, sos_id : int, optional
        As in `Tokenizer`. An id that is not given is `eos_id`. If `eos_id` is not given
        either, it is the smallest id of a special token. Without special tokens it is 0, and
        `decode` then shows token 0 like any other.
    eos_id : int or list of int, optional
        The token that ends a sequence, or several. The attribute `eos_id` is the first of
        them, and `end_ids` holds all.

    Raises
    ------
    ValueError
        If a token is repeated, or an added token or an id is not in the vocabulary.
    """

    def __init__(
        self,
        vocabulary: Sequence[str],
        tokens: Iterable[str],
        added: Iterable[AddedToken | str],
        *,
        pad_id: int | None = None,
        unk_id: int | None = None,
        sos_id: int | None = None,
        eos_id: int | Sequence[int] | None = None,
    ) -> None:
        self.tokens = list(tokens)
        self._ids: dict[str, int] = {}
        for i, token in enumerate(vocabulary):
            if self._ids.setdefault(check_text("tokens", token), i) != i:
                raise argument_error("tokens", "distinct tokens", f"{shown(token)} twice")
        self.added = [t if isinstance(t, AddedToken) else AddedToken(t) for t in added]
        ids_of_added: dict[AddedToken, int] = {}
        for one in self.added:
            if one.content not in self._ids:
                raise argument_error("added", "tokens of the vocabulary", shown(one.content))
            ids_of_added[one] = self._ids[one.content]
        if len(set(ids_of_added.values())) < len(self.added):
            raise argument_error("added", "each token once", "one of them twice")
        self._added = AddedTokens(ids_of_added, self._normalise)
        self.special = {token.content: i for token, i in ids_of_added.items() if token.special}
        ends = [] if eos_id is None else [eos_id] if not isinstance(eos_id, Sequence) else eos_id
        self.end_ids = [self._check_id(i) for i in ends]
        if not self.end_ids:
            self.end_ids = [min(self.special.values(), default=0)]
        given = [self.end_ids[0] if i is None else i for i in (pad_id, unk_id, sos_id)]
        self.pad_id, self.unk_id, self.sos_id = map(self._check_id, given)
        self.eos_id = self.end_ids[0]

    def encode_marked(self, text: str) -> list[int]:
        """Turn a text into ids, with special tokens that are spelled in it.

        Use it for texts with a structure of your own, such as a conversation. `encode` reads
        special tokens as plain text, so that the words of a user cannot end a conversation. Both
        find the added tokens that are not special.
        """
        return self._found(check_text("text", text), marked=True)

    def _to_ids(self, text: str) -> list[int]:
        return self._found(text, marked=False)

    def _found(self, text: str, marked: bool) -> list[int]:
        ids: list[int] = []
        for part in self._added.cut(text, marked):
            ids += [part] if isinstance(part, int) else self._pieces(part)
        return ids

    def _words(self, text: str) -> Iterator[str]:
        """Yield the text between the added tokens that `encode` finds."""
        return (part for part in self._added.cut(text, marked=False) if isinstance(part, str))

    def _normalise(self, text: str) -> str:
        return text

    def _pieces(self, text: str) -> list[int]:
        """Return the ids of a normalised text without added tokens."""
        raise NotImplementedError

    def _silent(self) -> set[int]:
        # A tokenizer without special tokens has end_ids of [0] by default, which then means no end.
        ends = set(self.end_ids) if self.special or any(self.end_ids) else set()
        return set(self.special.values()) - {self.unk_id} | ends

    def _content(self) -> dict[str, Any]:
        content = super()._content()
        return content | {"added": [asdict(token) for token in self.added]}
