"""Byte-pair encoding: frequent sequences of bytes become tokens, so no text is unknown."""

import heapq
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping
from itertools import pairwise
from typing import Any, Self

import regex

from attn._checks import argument_error, check_size, shown
from attn._letters import JOINERS, SPACE
from attn.tokenizer.base import SPECIAL_TOKENS, Tokenizer
from attn.tokenizer.text import check_texts

FIRST_BYTE = len(SPECIAL_TOKENS)
FIRST_MERGE = FIRST_BYTE + 256
# The ids of frequent words are kept. The number and the length of these words are bounded, so that
# they do not fill the memory.
MAX_WORDS_KEPT = 100_000
MAX_LENGTH_KEPT = 100
# Marks an id that was merged into the previous one.
MERGED = -1

# A run of letters with their marks, of digits or of punctuation, with at most one space before it;
# or a run of white space, whose last space goes to the next word.
_NO_DIGITS = r"\p{L}\p{Nl}\p{No}"
_WORD = regex.compile(
    rf" ?(?:[{_NO_DIGITS}][{_NO_DIGITS}\p{{M}}{JOINERS}]*|\p{{Nd}}+|[^\p{{L}}\p{{N}}{SPACE}]+)"
    rf"|[{SPACE}]+(?![^{SPACE}])|[{SPACE}]+"
)


class BytePairTokenizer(Tokenizer):
    """A vocabulary of all 256 bytes and of the merges learned from a corpus.

    Byte b has the id ``b + 4``, merge n the id ``n + 260``. ``<unk>`` keeps id 1 although no
    text needs it, so that the special tokens have the same ids as in `WordTokenizer`.

    Parameters
    ----------
    merges : list of (int, int)
        The two ids that each merge joins: bytes or earlier merges.

    Raises
    ------
    ValueError
        If a merge is not a pair of such ids, or makes an existing token.

    References
    ----------
    Sennrich et al. (2016), section 3.2, for merges; Radford et al. (2019), section 2.2, for
    bytes. Vaswani et al. (2017), section 5.1, for what the Transformer was trained on.

    Examples
    --------
    >>> tokenizer = BytePairTokenizer.train(["cantar cantando", "saltar saltando"], 1000)
    >>> tokenizer.tokens[260:]
    ['an', 'al', 'ar', 'can', 'do', 'sal', 'tan', 'tar', 'tando']
    >>> [tokenizer.tokens[i] for i in tokenizer.encode("bailando")]
    ['b', 'a', 'i', 'l', 'an', 'do']
    >>> tokenizer.decode(tokenizer.encode("¿Qué?  🙂"))
    '¿Qué?  🙂'
    """

    _format = "attn byte-pair tokenizer"
    _fields = (("tokens", list), ("merges", list))

    def __init__(self, merges: Iterable[tuple[int, int]]) -> None:
        self._bytes = [token.encode() for token in SPECIAL_TOKENS]
        self._bytes += [bytes([b]) for b in range(256)]
        made: dict[tuple[int, int], tuple[int, int]] = {}
        known = set(self._bytes)
        for pair in merges:
            left, right = _check_pair(pair, len(self._bytes))
            token = self._bytes[left] + self._bytes[right]
            if token in known:
                raise argument_error("merges", "distinct tokens", f"{token!r} twice")
            known.add(token)
            made[left, right] = (len(made), len(self._bytes))
            self._bytes.append(token)
        self.merges = list(made)
        self._words = MergedWords(made, {b: FIRST_BYTE + b for b in range(256)})
        # Bytes that are not a whole character are shown as \xNN.
        tokens = (token.decode(errors="backslashreplace") for token in self._bytes)
        super().__init__(list(tokens)[FIRST_BYTE:])

    @classmethod
    def train(cls, texts: Iterable[str], vocab_size: int) -> Self:
        """Learn merges from a corpus.

        The vocabulary has at most `vocab_size` tokens, special tokens and bytes included, and fewer
        if no more pairs of the corpus occur twice.

        Raises
        ------
        ValueError
            If `texts` are not strings, or `vocab_size` is not an integer of at least 260.

        Examples
        --------
        >>> BytePairTokenizer.train(["¡ja, ja, ja!"], vocab_size=1000).tokens[260:]
        ['ja', ' ja']
        """
        vocab_size = check_size("vocab_size", vocab_size, least=FIRST_MERGE)
        words = Counter(word for text in check_texts(texts) for word in split(text))
        return cls(learn_merges(words, vocab_size - FIRST_MERGE))

    @classmethod
    def _from_fields(cls, fields: dict[str, Any]) -> Self:
        return cls(fields["merges"])

    def _to_ids(self, text: str) -> list[int]:
        return [i for word in split(text) for i in self._words.ids(word)]

    def _unknown(self, text: str) -> list[str]:
        # Every byte has a token, so no text is unknown.
        return []

    def _to_text(self, ids: list[int]) -> str:
        # A model may predict bytes that do not form a character; they become U+FFFD.
        return b"".join(self._bytes[i] for i in ids).decode(errors="replace")


def split(text: str) -> list[str]:
    """Split text into words whose concatenation is the text; merges do not cross their borders.

    A word is a run of letters, of digits or of punctuation with at most one space before it, or of
    white space.

    References
    ----------
    Radford et al. (2019), section 2.2: without borders, "dog.", "dog!" and "dog?" would each
    take a place in the vocabulary.

    Examples
    --------
    >>> split("¿Qué son  42 grados?\\n")
    ['¿', 'Qué', ' son', ' ', ' 42', ' grados', '?', '\\n']
    """
    return [match[0] for match in _WORD.finditer(text)]


class MergedWords:
    """Turns words into ids by applying merges, and caches the results.

    `merges` maps two ids to the rank of their merge and the id that it makes. Bytes that have no id
    among the `letters` are left out of a word.
    """

    def __init__(
        self, merges: Mapping[tuple[int, int], tuple[int, int]], letters: Mapping[int, int]
    ) -> None:
        self._merges, self._letters = merges, letters
        self._kept: dict[str, list[int]] = {}

    def ids(self, word: str) -> list[int]:
        """Return the ids of one word."""
        found = self._kept.get(word)
        if found is None:
            letters = [self._letters[b] for b in word.encode() if b in self._letters]
            found = merge_all(letters, self._merges)
            if len(word) <= MAX_LENGTH_KEPT:
                if len(self._kept) >= MAX_WORDS_KEPT:
                    self._kept.clear()
                self._kept[word] = found
        return found


def merge_all(ids: list[int], merges: Mapping[tuple[int, int], tuple[int, int]]) -> list[int]:
    """Apply merges, the lowest rank first and, among equal ranks, the leftmost first.

    A priority queue holds the pairs that can be merged, and each id knows its two neighbours,
    so a word of n letters takes n log n time.
    """
    ids, end = list(ids), len(ids)
    before, after = list(range(-1, end - 1)), list(range(1, end + 1))
    queue = [(merges[pair][0], i, pair) for i, pair in enumerate(pairwise(ids)) if pair in merges]
    heapq.heapify(queue)
    while queue:
        _, i, pair = heapq.heappop(queue)
        j = after[i]
        if j == end or (ids[i], ids[j]) != pair:
            # One of the two ids was merged with another neighbour after this entry was queued.
            continue
        ids[i], ids[j] = merges[pair][1], MERGED
        after[i] = after[j]
        if after[i] < end:
            before[after[i]] = i
        for left in (before[i], i):
            right = after[left]
            if left >= 0 and right < end and (pair := (ids[left], ids[right])) in merges:
                heapq.heappush(queue, (merges[pair][0], left, pair))
    return [i for i in ids if i != MERGED]


def to_bytes(word: str) -> list[int]:
    """Return the ids of the bytes of a word, before any merge."""
    return [FIRST_BYTE + b for b in word.encode()]


def merge_pair(ids: list[int], pair: tuple[int, int], new_id: int) -> list[int]:
    """Replace each `pair` of neighbours by one id, from left to right."""
    merged: list[int] = []
    for i in ids:
        if merged and (merged[-1], i) == pair:
            merged[-1] = new_id
        else:
            merged.append(i)
    return merged


def learn_merges(words: Mapping[str, int], n_merges: int) -> list[tuple[int, int]]:
    """Merge the most frequent pair of neighbouring tokens of counted words, again and again.

    Ties in frequency go to the pair with the smaller ids. Learning stops early if no pair occurs
    twice.

    References
    ----------
    Sennrich et al. (2016), algorithm 1. There each merge counts all pairs again; here only
    the words that hold the merged pair are counted again.
    """
    ids_of = {word: to_bytes(word) for word in words}
    counts: Counter[tuple[int, int]] = Counter()
    words_with: defaultdict[tuple[int, int], set[str]] = defaultdict(set)
    for word, ids in ids_of.items():
        for pair in pairwise(ids):
            counts[pair] += words[word]
            words_with[pair].add(word)
    queue = [(-count, pair) for pair, count in counts.items()]
    heapq.heapify(queue)

    merges: list[tuple[int, int]] = []
    while queue and len(merges) < n_merges:
        count, best = heapq.heappop(queue)
        if -count != counts[best]:
            # The entry is outdated, because the pair was counted and queued again.
            continue
        if counts[best] < 2:
            break
        changed: set[tuple[int, int]] = set()
        for word in words_with[best]:
            before = ids_of[word]
            after = ids_of[word] = merge_pair(before, best, FIRST_MERGE + len(merges))
            if len(after) == len(before):
                continue  # An earlier merge has taken the pair out of this word.
            for pair in pairwise(before):
                counts[pair] -= words[word]
            for pair in pairwise(after):
                counts[pair] += words[word]
                words_with[pair].add(word)
            changed.update(pairwise(before), pairwise(after))
        merges.append(best)
        for pair in changed:
            heapq.heappush(queue, (-counts[pair], pair))
    return merges


def _check_pair(pair: tuple[int, int], n_ids: int) -> tuple[int, int]:
    is_pair = isinstance(pair, list | tuple) and len(pair) == 2
    if not is_pair or not all(type(i) is int and FIRST_BYTE <= i < n_ids for i in pair):
        raise argument_error(
            "merges", f"pairs of ids from {FIRST_BYTE} to {n_ids - 1}", shown(pair)
        )
    return pair
