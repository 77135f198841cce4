"""Training and test parts, with four kinds of unseen sentences."""

import itertools
import random
from collections import Counter, defaultdict
from dataclasses import dataclass

from attn._checks import check_size
from attn_course.grammar.documents import document_pairs
from attn_course.grammar.generating import generate

# The most source tokens of all parts but `longer`.
MAX_LEN = 12
# The most combinations of each kind that are held out.
N_COMBINATIONS = 60
# The number of pairs from which frequencies are estimated.
SAMPLE = 6_000
# A combination is held out only if these pairs have it at least this often.
COMMON = 3
# The largest share of the partners of a word that training never combines with it.
SHARE = 0.2
# The second word of a combination must combine with at least this many words in any way, so that
# training shows what it means.
LEAST = 8


@dataclass(frozen=True)
class Splits:
    """The parts of the corpus. No source sentence is in two parts or in the documents.

    The other parts do not depend on the size of `train`.

    Attributes
    ----------
    train, validation, test : tuple of Pair
        Three parts drawn from the same distribution.
    adjective_noun : tuple of Pair
        Pairs with an adjective and a noun that never occur together in the three parts above.
    verb_object : tuple of Pair
        Pairs with a verb and an object that never occur together there.
    polysemes : tuple of Pair
        Pairs with a polyseme and a word that decides its meaning, which never occur together
        there.
    longer : tuple of Pair
        Pairs with longer sources than any there.
    held_out : dict of str to frozenset
        The combinations held out, by the name of the part that tests them.

    Each word of a held-out combination occurs in training in other combinations.
    """

    train: tuple
    validation: tuple
    test: tuple
    adjective_noun: tuple
    verb_object: tuple
    polysemes: tuple
    longer: tuple
    held_out: dict


KINDS = {"adjective_noun": "adjective", "verb_object": "object", "polysemes": "polyseme"}


def splits(seed=0, n_train=20_000, n_validation=500, n_test=500, n_held_out=300):
    """Return the corpus in its parts.

    Parameters
    ----------
    seed : int, default 0
        The same seed, the same splits.
    n_train, n_validation, n_test : int
        The numbers of pairs of these parts.
    n_held_out : int
        The number of pairs of each of the four other parts.

    Returns
    -------
    Splits

    Raises
    ------
    ValueError
        If a number is not an integer of at least 0.

    References
    ----------
    *NLP con Transformadores*, section 4.2.1, asks what a word means in its context; the
    compositional parts ask it in new contexts.

    Examples
    --------
    >>> parts = splits(n_train=100, n_validation=10, n_test=10, n_held_out=10)
    >>> len(parts.train), len(parts.longer)
    (100, 10)
    >>> max(len(pair.source.split()) for pair in parts.train) <= 12
    True
    """
    sizes = {"train": n_train, "validation": n_validation, "test": n_test}
    sizes |= dict.fromkeys((*KINDS, "longer"), n_held_out)
    for name in ("train", "validation", "test"):
        check_size(f"n_{name}", sizes[name])
    check_size("n_held_out", n_held_out)
    held_out = choose_held_out(check_size("seed", seed))
    parts = {name: [] for name in sizes}
    # The tests are drawn first, so that they do not depend on the number of training pairs.
    tests = [name for name in ("validation", "test") for _ in range(sizes[name])]
    random.Random(seed).shuffle(tests)
    drawn = ["train"] * n_train + tests
    seen = {pair.source for pair in document_pairs()}
    open_parts = {name for name, size in sizes.items() if size}
    for pair in generate(seed + 1):
        if not open_parts:
            break
        part = _part_of(pair, held_out)
        if part == "any":
            part = drawn.pop() if drawn and pair.source not in seen else None
        if part not in open_parts or pair.source in seen:
            continue
        seen.add(pair.source)
        parts[part].append(pair)
        if len(parts[part]) == sizes[part]:
            open_parts.remove(part)
    return Splits(**{name: tuple(pairs) for name, pairs in parts.items()}, held_out=held_out)


def choose_held_out(seed):
    """Choose the combinations to hold out: common ones, of words with many other partners.

    Parameters
    ----------
    seed : int

    Returns
    -------
    dict of str to frozenset of (str, str, str)
        By the name of the part that tests them.
    """
    counts = Counter()
    for pair in itertools.islice(generate(seed), SAMPLE):
        counts.update(pair.combinations)
    partners, company = defaultdict(set), defaultdict(set)
    for kind, one, other in counts:
        partners[kind, one].add(other)
        partners[kind, other].add(one)
        company[other].add(one)
    # The lessons show these sentences, so their combinations are not held out.
    for pair in document_pairs():
        for combination in pair.combinations:
            counts.pop(combination, None)
    polysemes = {word.partition(":")[0] for kind, word, _ in counts if kind == "polyseme"}
    order = sorted(combination for combination, count in counts.items() if count >= COMMON)
    random.Random(seed).shuffle(order)
    chosen, held = {name: set() for name in KINDS}, Counter()
    for kind, one, other in order:
        name = next((name for name, its_kind in KINDS.items() if its_kind == kind), None)
        if name is None or len(chosen[name]) == N_COMBINATIONS:
            continue
        if name != "polysemes" and polysemes & {one, other}:
            continue
        # The share limits the words whose meaning training must show: noun, verb and polyseme. The
        # word that decides a polyseme has enough other partners.
        spared = [word for word in (one, other) if name != "polysemes" or word == one]
        if any((held[word] + 1) > SHARE * len(partners[kind, word]) for word in spared):
            continue
        if len(company[other]) < LEAST:
            continue
        held.update(spared)
        chosen[name].add((kind, one, other))
    return {name: frozenset(combinations) for name, combinations in chosen.items()}


def _part_of(pair, held_out):
    """Return the part that a pair can be in, "any" for the first three, or None."""
    parts = [name for name, kept in held_out.items() if pair.combinations & kept]
    is_long = len(pair.source.split()) > MAX_LEN
    if is_long:
        return None if parts else "longer"
    return None if len(parts) > 1 else parts[0] if parts else "any"


def parts(n_train=100_000):
    """Return the parts of `splits` by name, and the examples of the documents as one more test.

    This is the corpus *grammar* of `attn.corpus.named`.

    Parameters
    ----------
    n_train : int, default 100,000
        As in `splits`.

    Returns
    -------
    dict of str to sequence of attn.corpus.Pair
    """
    found = vars(splits(n_train=n_train)) | {"documents": document_pairs()}
    # The held-out combinations are not pairs.
    del found["held_out"]
    return found
