"""Parts of a corpus that share no sentence, or no two sentences that differ in one word."""

from collections.abc import Callable, Iterable, Sequence
from hashlib import blake2b

import regex

from attn._checks import check_size
from attn._letters import LETTERS
from attn.corpus.pair import Pair

WORD = regex.compile(rf"{LETTERS}(?:'{LETTERS})*")


def near_duplicates(sentences: Iterable[str]) -> dict[str, str]:
    """Map each sentence to the representative of its near-duplicates, the first in alphabetical order.

    Two sentences are near-duplicates if they differ in one word, or if one lacks a word of the
    other. The relation is transitive, so sentences form clusters. Case and punctuation do not
    count.

    Examples
    --------
    >>> near_duplicates(["I see Tom.", "I saw Tom!", "I saw him", "I saw him run.", "Go on."])
    {'Go on.': 'Go on.', 'I saw Tom!': 'I saw Tom!', 'I saw him': 'I saw Tom!', \
'I saw him run.': 'I saw Tom!', 'I see Tom.': 'I saw Tom!'}
    """
    ordered = sorted(set(sentences))
    parent = list(range(len(ordered)))

    def root(place: int) -> int:
        while parent[place] != place:
            parent[place] = parent[parent[place]]
            place = parent[place]
        return place

    def join(one: int, other: int) -> None:
        first, second = sorted((root(one), root(other)))
        parent[second] = first

    whole: dict[tuple[str, ...], int] = {}
    for place, sentence in enumerate(ordered):
        words = tuple(WORD.findall(sentence.lower().replace("’", "'")))
        join(whole.setdefault(words, place), place)
    without: dict[tuple[int, tuple[str, ...]], int] = {}
    for words, place in whole.items():
        for gap in range(len(words)):
            rest = words[:gap] + words[gap + 1 :]
            join(without.setdefault((gap, rest), place), place)
            if rest in whole:
                join(whole[rest], place)
    return {sentence: ordered[root(place)] for place, sentence in enumerate(ordered)}


def hold_out(
    pairs: Sequence[Pair], n_sources: int, group: Callable[[Pair], str] | None = None
) -> tuple[list[Pair], list[Pair]]:
    """Hold out random pairs, so that no source and no group is on both sides: (rest, held out).

    The draw depends only on the names of the groups. The order of the pairs has no effect and is
    kept, and an additional pair changes little.

    Parameters
    ----------
    n_sources : int
        The number of different sources to hold out. A group with more sources than are still needed
        stays with the rest.
    group : callable, (Pair) -> str, optional
        Pairs of one group stay together; by default the group is the source.

    Examples
    --------
    >>> pairs = [Pair(source, target) for source in "abcd" for target in "xy"]
    >>> rest, held_out = hold_out(pairs, 1)
    >>> len(rest), len({pair.source for pair in held_out})
    (6, 1)
    """
    check_size("n_sources", n_sources, least=0)
    group = group or (lambda pair: pair.source)
    sources: dict[str, set[str]] = {}
    for pair in pairs:
        sources.setdefault(group(pair), set()).add(pair.source)
    chosen, missing = set(), n_sources
    for name in sorted(sources, key=_order):
        if len(sources[name]) <= missing:
            chosen.add(name)
            missing -= len(sources[name])
        if not missing:
            break
    sides: tuple[list[Pair], list[Pair]] = ([], [])
    for pair in pairs:
        sides[group(pair) in chosen].append(pair)
    return sides


def one_for_each_source(pairs: Sequence[Pair]) -> list[Pair]:
    """Return one pair for each source, drawn by chance among its translations."""
    found: dict[str, Pair] = {}
    for pair in sorted(pairs, key=drawn):
        found.setdefault(pair.source, pair)
    return [pair for pair in pairs if found[pair.source] is pair]


def drawn(pair: Pair) -> bytes:
    """Return a sort key that orders pairs at random, the same on every machine."""
    return _order(f"{pair.source}\t{pair.target}")


def _order(text: str) -> bytes:
    return blake2b(text.encode(), digest_size=8).digest()
