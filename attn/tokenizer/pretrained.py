"""What the tokenizers have in common whose vocabulary came with somebody else's model."""

import re
from collections.abc import Iterable, Sequence

from attn._checks import wrong
from attn.tokenizer.base import Tokenizer
from attn.tokenizer.text import check_text


class PretrainedTokenizer(Tokenizer):
    """A vocabulary with special tokens of its own, in places of its own.

    Parameters
    ----------
    tokens : list of str
        The text of each id.
    special : list of str
        Those of the tokens that mark the parts of a text, as ``<|im_end|>`` or ``[SEP]`` do.
    pad_id, unk_id, sos_id, eos_id : int, optional
        As in `Tokenizer`. An id that is not given is `eos_id`; without that, the smallest id
        of a special token, or 0, and then `decode` shows that token as any other.

    Raises
    ------
    ValueError
        If a special token is none of the tokens, or an id none of theirs.
    """

    def __init__(
        self, tokens: Iterable[str], special: Sequence[str], *, pad_id: int | None = None,
        unk_id: int | None = None, sos_id: int | None = None, eos_id: int | None = None,
    ) -> None:  # fmt: skip
        self.tokens = list(tokens)
        ids = {token: i for i, token in enumerate(self.tokens)}
        for token in special:
            if token not in ids:
                raise wrong("special", "tokens of the vocabulary", repr(token))
        self.special = {token: ids[token] for token in special}
        last = min(self.special.values(), default=0) if eos_id is None else eos_id
        given = [last if i is None else i for i in (pad_id, unk_id, sos_id)]
        self.pad_id, self.unk_id, self.sos_id, self.eos_id = map(self._check_id, (*given, last))

    def encode_marked(self, text: str) -> list[int]:
        """Turn a text into ids in which special tokens may be spelled, such as a conversation's.

        For `encode` they are text like any other, so that nobody's text can end a conversation.

        Parameters
        ----------
        text : str

        Returns
        -------
        list of int

        Raises
        ------
        ValueError
            As `encode` does.
        """
        marks = "|".join(map(re.escape, sorted(self.special, key=len, reverse=True)))
        text = check_text("text", text)
        pieces = re.split(f"({marks})", text) if marks else [text]
        return [i for piece in pieces for i in self._piece(piece)]

    def _piece(self, text: str) -> list[int]:
        return [self.special[text]] if text in self.special else self._to_ids(text)

    def _silent(self) -> set[int]:
        # Where nothing is special, neither is the token whose id is 0.
        ends = {self.eos_id} if self.special or self.eos_id else set()
        return set(self.special.values()) - {self.unk_id} | ends
