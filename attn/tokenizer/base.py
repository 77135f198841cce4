"""The base class of all tokenizers, with four special tokens."""

import json
import operator
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any, ClassVar, Self

from attn._checks import argument_error, shown
from attn.io import write_whole
from attn.tokenizer._json import read_json, to_json
from attn.tokenizer.text import check_text

SPECIAL_TOKENS = ("<pad>", "<unk>", "<sos>", "<eos>")
VERSION = 1


class Tokenizer:
    """The interface of all tokenizers; subclasses define how text becomes ids and back.

    Attributes
    ----------
    tokens : list of str
        The text of each id, to be shown to people.
    vocab_size : int
        The number of ids, special tokens included.
    pad_id, unk_id, sos_id, eos_id : int
        0, 1, 2 and 3: padding, an unknown word, the start and the end of a sequence.
    end_ids : sequence of int
        All ids that end a sequence, `eos_id` first. Most models have no other.
    """

    pad_id, unk_id, sos_id, eos_id = range(len(SPECIAL_TOKENS))
    end_ids: Sequence[int] = (eos_id,)
    # The name of the file format, and the fields of a file with their types.
    _format: ClassVar[str]
    _fields: ClassVar[tuple[tuple[str, type], ...]]

    def __init__(self, tokens: Iterable[str]) -> None:
        self.tokens = [*SPECIAL_TOKENS, *tokens]

    @property
    def vocab_size(self) -> int:
        return len(self.tokens)

    def __eq__(self, other: object) -> bool:
        # The content includes the class, so tokenizers of two kinds are never equal.
        return isinstance(other, Tokenizer) and self._content() == other._content()

    def encode(self, text: str, *, sos: bool = False, eos: bool = False) -> list[int]:
        """Turn text into ids.

        Parameters
        ----------
        text : str
            Any text. Text that spells a special token, such as ``"<eos>"``, does not become that
            token.
        sos, eos : bool, default False
            Whether to put ``<sos>`` before the text, and ``<eos>`` after it.

        Raises
        ------
        ValueError
            If `text` is not a string, or holds half a surrogate pair, which is no character.

        Examples
        --------
        >>> from attn.tokenizer import WordTokenizer
        >>> WordTokenizer(["cielo", "el"]).encode("El cielo", sos=True, eos=True)
        [2, 5, 4, 3]
        """
        ids = self._to_ids(check_text("text", text))
        return [self.sos_id] * bool(sos) + ids + [self.eos_id] * bool(eos)

    def unknown(self, text: str) -> list[str]:
        """Return the words of a text that would become ``<unk>``, each once, in normalised form.

        With byte pairs there are none. Errors are those of `encode`.

        Examples
        --------
        >>> from attn.tokenizer import WordTokenizer
        >>> WordTokenizer(["cielo", "el"]).unknown("El Sol y el cielo, el sol")
        ['sol', 'y', ',']
        """
        return list(dict.fromkeys(self._unknown(check_text("text", text))))

    def decode(self, ids: Iterable[Any]) -> str:
        """Turn ids into text, without ``<pad>``, ``<sos>`` and ``<eos>``.

        Parameters
        ----------
        ids : iterable of int
            A list, or a NumPy array or PyTorch tensor of shape (seq_len,).

        Raises
        ------
        ValueError
            If `ids` has another number of dimensions than one, or an id is not an integer of the
            vocabulary.

        Examples
        --------
        >>> from attn.tokenizer import WordTokenizer
        >>> WordTokenizer(["cielo", "el"]).decode([2, 5, 4, 1, 3, 0, 0])
        'el cielo <unk>'
        """
        # A list counts as one-dimensional.
        shape = tuple(getattr(ids, "shape", (None,)))
        if len(shape) != 1:
            raise argument_error("ids", "shape (seq_len,)", shape)
        silent = self._silent()
        checked = [self._check_id(i) for i in ids]
        return self._to_text([i for i in checked if i not in silent])

    def _silent(self) -> set[int]:
        """Return the ids that `decode` leaves out."""
        return {self.pad_id, self.sos_id, self.eos_id}

    def _check_id(self, given: Any) -> int:
        try:
            i = operator.index(given)
        except TypeError:
            raise argument_error("ids", "integers", shown(given)) from None
        if not 0 <= i < self.vocab_size:
            raise argument_error("ids", f"at least 0 and below vocab_size = {self.vocab_size}", i)
        return i

    def save(self, path: str | Path) -> None:
        """Write a file of JSON in UTF-8, one token on each line, whole or not at all.

        Raises
        ------
        ValueError
            If the file cannot be written.
        """
        write_whole(path, to_json(self._content()))

    @classmethod
    def load(cls, path: str | Path) -> Self:
        """Read a tokenizer of this class, equal to the one that `save` wrote.

        Raises
        ------
        ValueError
            If the file cannot be read or does not hold a tokenizer of this class. The message
            begins with the path.

        Examples
        --------
        >>> import tempfile
        >>> from attn.tokenizer import WordTokenizer
        >>> tokenizer = WordTokenizer(["cielo", "el"])
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     tokenizer.save(f"{folder}/words.json")
        ...     WordTokenizer.load(f"{folder}/words.json") == tokenizer
        True
        """
        content = read_json(path)
        kind = content.get("format") if isinstance(content, dict) else None
        if kind != cls._format:
            raise argument_error(str(path), f"the format {cls._format!r}", shown(kind))
        version = shown(content.get("version"))
        if version != str(VERSION):
            raise argument_error(str(path), f"version {VERSION}", version)
        for name, wanted in cls._fields:
            if type(content.get(name)) is not wanted:
                got = shown(content.get(name))
                raise argument_error(str(path), f"{name!r} to be a {wanted.__name__}", got)
        try:
            tokenizer = cls._from_fields(content)
        except ValueError as error:
            # The message begins with the name of an argument, which the path replaces.
            raise ValueError(f"{path}: {str(error).partition(': ')[2]}") from None
        except Exception:  # noqa: BLE001 - what is nested in a field can be of any type
            raise argument_error(str(path), f"the parts of {cls._format!r}", "others") from None
        if tokenizer.vocab_size != len(content["tokens"]):
            raise argument_error(
                str(path), f"{tokenizer.vocab_size} tokens", len(content["tokens"])
            )
        for i, token in enumerate(content["tokens"]):
            if token != tokenizer.tokens[i]:
                raise argument_error(
                    str(path), f"token {i} to be {tokenizer.tokens[i]!r}", shown(token)
                )
        kept = tokenizer._content()
        for name, _ in cls._fields:
            expected = f"{name!r} to be {shown(kept[name])}"
            if json.dumps(kept[name]) != json.dumps(content[name]):
                raise argument_error(str(path), expected, shown(content[name]))
        return tokenizer

    def _to_ids(self, text: str) -> list[int]:
        raise NotImplementedError

    def _to_text(self, ids: list[int]) -> str:
        raise NotImplementedError

    def _unknown(self, text: str) -> list[str]:
        raise NotImplementedError

    @classmethod
    def _from_fields(cls, fields: dict[str, Any]) -> Self:
        raise NotImplementedError

    def _content(self) -> dict[str, Any]:
        fields = {name: getattr(self, name) for name, _ in self._fields}
        return {"format": self._format, "version": VERSION, **fields}
