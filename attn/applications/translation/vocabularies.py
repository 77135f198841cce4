"""The two vocabularies of a translator: learning, reading and checks."""

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from attn._checks import argument_error, check_choice
from attn.applications._sequences import Ids, are_texts, check_fits, listed
from attn.corpus import Pair
from attn.corpus.pairs_file import normalise
from attn.tokenizer import BytePairTokenizer, WordTokenizer
from attn.tokenizer.base import Tokenizer
from attn.transformer import TransformerConfig

TOKENIZERS: dict[str, type[Tokenizer]] = {"words": WordTokenizer, "bpe": BytePairTokenizer}


class UnknownWordError(ValueError):
    """Words that are not in the vocabulary of a translator.

    Attributes
    ----------
    words : list of str
    """

    def __init__(self, name: str, words: list[str]) -> None:
        self.words = words
        super().__init__(
            str(argument_error(name, "words of the vocabulary", ", ".join(map(repr, words))))
        )


def learn(
    pairs: Sequence[Pair], kind: str, vocab_size: int | None, *, joint: bool = False
) -> tuple[Tokenizer, Tokenizer]:
    """Learn the vocabularies of pairs: by default of all words, or of 2,000 byte pairs.

    A `joint` vocabulary is learned from both languages and returned twice.
    """
    check_choice("tokenizer", kind, tuple(TOKENIZERS))

    def learn_one(texts: Iterable[str]) -> Tokenizer:
        texts = map(normalise, texts)
        if kind == "bpe":
            return BytePairTokenizer.train(texts, 2000 if vocab_size is None else vocab_size)
        return WordTokenizer.train(texts, vocab_size)

    if joint:
        both = learn_one(text for pair in pairs for text in (pair.source, pair.target))
        return both, both
    return learn_one(pair.source for pair in pairs), learn_one(pair.target for pair in pairs)


def kind_of(tokenizer: Tokenizer) -> str:
    """Return the name of the kind of a vocabulary."""
    for name, kind in TOKENIZERS.items():
        if type(tokenizer) is kind:
            return name
    kinds = " or ".join(kind.__name__ for kind in TOKENIZERS.values())
    raise argument_error("tokenizer", kinds, type(tokenizer).__name__)


def named(source: Tokenizer, target: Tokenizer) -> dict[str, Tokenizer]:
    """Return the vocabularies by the names of their files; a joint one has one name."""
    return {"vocabulary": source} if source is target else {"source": source, "target": target}


def read(folder: Path, kind: Any, sizes: tuple[int, int | None]) -> tuple[Tokenizer, Tokenizer]:
    """Read the vocabularies in a folder, and check them against the sizes of the model.

    A folder with a single vocabulary has a joint one. The `kind` is not checked yet.
    """
    check_choice("tokenizer", kind, tuple(TOKENIZERS))
    names = ["vocabulary"] if sizes[1] is None else ["source", "target"]
    found = [TOKENIZERS[kind].load(folder / f"{name}.json") for name in names]
    got = tuple(tokenizer.vocab_size for tokenizer in found)
    if got != sizes[: len(found)]:
        raise argument_error("folder", "vocabularies of its model's sizes", f"{folder}, with {got}")
    return found[0], found[-1]


def checked_pairs(pairs: Iterable[Pair], name: str = "pairs") -> list[Pair]:
    """Return pairs as a list; refuse an empty list and items that are no pairs."""

    def is_pair(one: Any) -> bool:
        return are_texts(getattr(one, "source", None), getattr(one, "target", None))

    wanted = "a pair with the texts source and target, as attn.corpus.Pair"
    return listed(name, pairs, wanted, is_pair, "pair of sentences")


def encoded(
    source: Tokenizer,
    target: Tokenizer,
    pairs: Iterable[Pair],
    config: TransformerConfig | None = None,
    name: str = "pairs",
) -> list[tuple[Ids, Ids]]:
    """Return the ids of both sentences of each pair, normalised as by `normalise`.

    With the configuration of a model, refuse sentences longer than its learned positions.
    """
    normalised = ((normalise(pair.source), normalise(pair.target)) for pair in pairs)
    found = [(source.encode(text), target.encode(translation)) for text, translation in normalised]
    empty = next((i for i, both in enumerate(found) if not all(both)), None)
    if empty is not None:
        raise argument_error(name, "two sentences each", f"an empty one in pair {empty}")
    if config is None:
        return found
    for i, (src, tgt) in enumerate(found):
        check_fits(f"{name}[{i}].source", len(src), config)
        # The decoder also reads <sos>.
        check_fits(f"{name}[{i}].target", len(tgt), config, beside=1)
    return found


def checked(name: str, text: object, tokenizer: Tokenizer) -> str:
    """Return a normalised text; an error names the argument `name`.

    A text is refused if it is empty, has the character NUL or words outside the vocabulary. A final
    full stop is removed if the vocabulary has none.
    """
    text = without_stop(normalise(readable(name, text)), tokenizer)
    if not text:
        raise argument_error(name, "a sentence", "an empty text")
    unknown = tokenizer.unknown(text)
    if unknown:
        raise UnknownWordError(name, unknown)
    return text


def readable(name: str, text: object) -> str:
    """Return a text; refuse anything else, and a text with the character NUL, which no text has."""
    if not isinstance(text, str):
        raise argument_error(name, "text", type(text).__name__)
    if (place := text.find("\0")) >= 0:
        raise argument_error(name, "text without the character NUL", f"one at index {place}")
    return text


def without_stop(text: str, tokenizer: Tokenizer) -> str:
    """Return a text without its final full stop if the vocabulary has none."""
    return text if "." in tokenizer.tokens else text.removesuffix(".")


def as_sentence(text: str) -> str:
    """Return a text with a capital letter at the start and a punctuation mark at the end.

    Examples
    --------
    >>> as_sentence("where is the library"), as_sentence("Who knows?")
    ('Where is the library.', 'Who knows?')
    """
    text = text.strip()
    return text[:1].upper() + text[1:] + "." * text[-1:].isalnum()


def are_sentences(pairs: Sequence[Pair]) -> bool:
    """Return whether nearly all sources start with a capital letter and end with punctuation."""
    n_sentences = sum(as_sentence(pair.source) == pair.source for pair in pairs)
    return n_sentences > 0.99 * len(pairs)
