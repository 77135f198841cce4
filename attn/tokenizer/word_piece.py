"""WordPiece, the tokenizer of BERT: words in pieces."""

import re
import unicodedata
from collections.abc import Iterable
from typing import Any, Self

from attn._checks import argument_error, check_size
from attn.tokenizer.added import SPACES, AddedToken
from attn.tokenizer.pretrained import PretrainedTokenizer

MARKS = ("[PAD]", "[UNK]", "[CLS]", "[SEP]")
# A word of more characters is unknown.
LONGEST = 100
# Chinese characters, each of which is a word. The range leaves out kana and hangul.
_HAN = re.compile(
    "([\u4e00-\u9fff\u3400-\u4dbf\U00020000-\U0002a6df\U0002a700-\U0002b73f\U0002b740-\U0002b81f"
    "\U0002b920-\U0002ceaf\uf900-\ufaff\U0002f800-\U0002fa1f])"
)


class WordPieceTokenizer(PretrainedTokenizer):
    """Splits each word greedily into the longest pieces that the vocabulary holds.

    A piece that does not begin a word is written with ``##`` before it. If some part of a word
    is not in the vocabulary, the whole word becomes ``[UNK]``. ``[CLS]`` is the start of a
    sequence and ``[SEP]`` its end.

    Parameters
    ----------
    tokens : list of str
        The vocabulary in the order of its ids, with ``[PAD]``, ``[UNK]``, ``[CLS]``, ``[SEP]``.
    lowercase : bool, default True
        Whether to lower-case text and remove its accents first.
    added : list of AddedToken or str, optional
        Added tokens, as in `PretrainedTokenizer`; by default the four above and ``[MASK]``.
    n_pieces : int, optional
        The number of tokens, from the first id on, that words are made of. Later tokens are
        only found as added tokens. By default all tokens are pieces.

    Raises
    ------
    ValueError
        If one of the four is missing, a token is repeated, or `n_pieces` is out of range.

    References
    ----------
    Schuster and Nakajima (2012), Japanese and Korean Voice Search. Wu et al. (2016), Google's
    Neural Machine Translation System, section 4.1. Devlin et al. (2019), BERT, section 3.

    Examples
    --------
    >>> tokenizer = WordPieceTokenizer([*MARKS, "el", "gato", "##s", "!"])
    >>> [tokenizer.tokens[i] for i in tokenizer.encode("¡El Gátos!", sos=True, eos=True)]
    ['[CLS]', '[UNK]', 'el', 'gato', '##s', '!', '[SEP]']
    >>> tokenizer.decode(tokenizer.encode("gatos"))
    'gatos'
    """

    _format = "attn word-piece tokenizer"
    _fields = (("lowercase", bool), ("added", list), ("n_pieces", int), ("tokens", list))

    def __init__(
        self,
        tokens: Iterable[str],
        lowercase: bool = True,
        added: Iterable[AddedToken | str] | None = None,
        n_pieces: int | None = None,
    ) -> None:
        self.lowercase = bool(lowercase)
        tokens = list(tokens)
        self.n_pieces = len(tokens) if n_pieces is None else check_size("n_pieces", n_pieces)
        if self.n_pieces > len(tokens):
            raise argument_error(
                "n_pieces", f"at most {len(tokens)}, the number of tokens", n_pieces
            )
        if not set(tokens) >= set(MARKS):
            raise argument_error(
                "tokens", f"{', '.join(MARKS)} among them", f"{len(tokens)} others"
            )
        pad_id, unk_id, sos_id, eos_id = map(tokens.index, MARKS)
        if added is None:
            added = [*MARKS, *({"[MASK]"} & set(tokens))]
        super().__init__(
            tokens, tokens, added, pad_id=pad_id, unk_id=unk_id, sos_id=sos_id, eos_id=eos_id
        )

    def _normalise(self, text: str) -> str:
        return normalise(text, self.lowercase)

    def _pieces(self, text: str) -> list[int]:
        return [i for word in _split(text) for i in self._pieces_of_word(word)]

    def _pieces_of_word(self, word: str) -> list[int]:
        ids, start = [], 0
        while start < len(word) <= LONGEST:
            prefix = "##" if start else ""
            for stop in range(len(word), start, -1):
                piece = self._ids.get(prefix + word[start:stop], self.n_pieces)
                if piece < self.n_pieces:
                    break
            else:
                break
            ids.append(piece)
            start = stop
        return ids if start == len(word) else [self.unk_id]

    def _unknown(self, text: str) -> list[str]:
        words = (word for part in self._words(text) for word in _split(part))
        return [w for w in words if self._pieces_of_word(w) == [self.unk_id]]

    def _to_text(self, ids: list[int]) -> str:
        tokens = [self.tokens[i] for i in ids]
        return "".join(tokens[:1]) + "".join(
            token[2:] if token.startswith("##") else f" {token}" for token in tokens[1:]
        )

    @classmethod
    def _from_fields(cls, fields: dict[str, Any]) -> Self:
        added = [AddedToken(**token) for token in fields["added"]]
        return cls(fields["tokens"], fields["lowercase"], added, fields["n_pieces"])


def split(text: str, lowercase: bool = True) -> list[str]:
    """Normalise a text and split it into words and punctuation marks.

    Examples
    --------
    >>> split("¿Qué dices, José?")
    ['¿', 'que', 'dices', ',', 'jose', '?']
    """
    return _split(normalise(text, lowercase))


def normalise(text: str, lowercase: bool = True) -> str:
    """Remove control characters, write white space as blanks, and separate Chinese characters.

    In lower case, accents are dropped too.
    """
    text = "".join(" " if c in SPACES else c for c in text if not _is_no_text(c))
    text = _HAN.sub(r" \1 ", text)
    if lowercase:
        parts = unicodedata.normalize("NFD", text)
        # Each letter is lower-cased alone, because `str.lower` treats a sigma at the end of a word
        # differently.
        text = "".join(c.lower() for c in parts if unicodedata.category(c) != "Mn")
    return text


def _split(text: str) -> list[str]:
    return "".join(f" {c} " if _is_mark(c) else c for c in text).split()


def _is_no_text(character: str) -> bool:
    kind = unicodedata.category(character)
    return character == "\ufffd" or (kind in ("Cc", "Cf", "Co") and character not in "\t\n\r")


def _is_mark(character: str) -> bool:
    """Return whether a character is punctuation or an ASCII symbol."""
    return unicodedata.category(character)[0] == "P" or character in "$+<=>^`|~"
