"""WordPiece: words in pieces that a vocabulary holds, as BERT reads them."""

import re
import unicodedata
from collections.abc import Iterable
from typing import Any, Self

from attn._checks import wrong
from attn.tokenizer.pretrained import PretrainedTokenizer

MARKS = ("[PAD]", "[UNK]", "[CLS]", "[SEP]")
LONGEST = 100  # characters of a word; a longer one is unknown
# Characters of Chinese, each of which is a word; those of Korean and Japanese are not among them.
_HAN = re.compile(
    "([\u4e00-\u9fff\u3400-\u4dbf\U00020000-\U0002a6df\U0002a700-\U0002b73f\U0002b740-\U0002b81f"
    "\U0002b920-\U0002ceaf\uf900-\ufaff\U0002f800-\U0002fa1f])"
)


class WordPieceTokenizer(PretrainedTokenizer):
    """The longest piece that the vocabulary holds, then the longest of the rest, and so on.

    A piece that does not begin a word is written with ``##`` before it. A word of which some part
    is no piece becomes ``[UNK]`` as a whole. ``[CLS]`` is the start of a sequence and ``[SEP]``
    its end.

    Parameters
    ----------
    tokens : list of str
        The vocabulary in the order of its ids, with ``[PAD]``, ``[UNK]``, ``[CLS]``, ``[SEP]``.
    lowercase : bool, default True
        Whether text is first written in lower case and without accents.

    Raises
    ------
    ValueError
        If one of the four is missing, or a token stands there twice.

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
    _fields = (("lowercase", bool), ("tokens", list))

    def __init__(self, tokens: Iterable[str], lowercase: bool = True) -> None:
        self.lowercase = bool(lowercase)
        tokens = list(tokens)
        self._ids = {token: i for i, token in enumerate(tokens)}
        for token in (token for i, token in enumerate(tokens) if self._ids[token] != i):
            raise wrong("tokens", "distinct tokens", f"{token!r} twice")
        if not self._ids.keys() >= set(MARKS):
            raise wrong("tokens", f"{', '.join(MARKS)} among them", f"{len(self._ids)} others")
        pad_id, unk_id, sos_id, eos_id = (self._ids[mark] for mark in MARKS)
        special = [*MARKS, *({"[MASK]"} & self._ids.keys())]
        super().__init__(
            self._ids, special, pad_id=pad_id, unk_id=unk_id, sos_id=sos_id, eos_id=eos_id
        )

    def _to_ids(self, text: str) -> list[int]:
        return [i for word in split(text, self.lowercase) for i in self._pieces(word)]

    def _pieces(self, word: str) -> list[int]:
        ids, start = [], 0
        while start < len(word) <= LONGEST:
            prefix = "##" if start else ""
            for stop in range(len(word), start, -1):
                if (piece := self._ids.get(prefix + word[start:stop])) is not None:
                    break
            else:
                break
            ids.append(piece)
            start = stop
        return ids if start == len(word) else [self.unk_id]

    def _unknown(self, text: str) -> list[str]:
        return [w for w in split(text, self.lowercase) if self._pieces(w) == [self.unk_id]]

    def _to_text(self, ids: list[int]) -> str:
        return " ".join(self.tokens[i] for i in ids).replace(" ##", "")

    @classmethod
    def _from_fields(cls, fields: dict[str, Any]) -> Self:
        return cls(fields["tokens"], fields["lowercase"])


def split(text: str, lowercase: bool = True) -> list[str]:
    """Cut a text into words and marks, after what is no text was taken out.

    Parameters
    ----------
    text : str
    lowercase : bool, default True
        Whether to drop accents and capitals.

    Returns
    -------
    list of str

    Examples
    --------
    >>> split("¿Qué dices, José?")
    ['¿', 'que', 'dices', ',', 'jose', '?']
    """
    text = _HAN.sub(r" \1 ", "".join(c for c in text if not _is_no_text(c)))
    if lowercase:
        parts = unicodedata.normalize("NFD", text)
        # Letter by letter: the end of a word makes no difference, as it does to a Greek sigma.
        text = "".join(c.lower() for c in parts if unicodedata.category(c) != "Mn")
    return "".join(f" {c} " if _is_mark(c) else c for c in text).split()


def _is_no_text(character: str) -> bool:
    kind = unicodedata.category(character)
    return character == "\ufffd" or (kind in ("Cc", "Cf", "Co") and character not in "\t\n\r")


def _is_mark(character: str) -> bool:
    """Return whether it is punctuation, or one of the signs of ASCII that Unicode counts elsewhere."""
    return unicodedata.category(character)[0] == "P" or character in "$+<=>^`|~"
