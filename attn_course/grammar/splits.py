"""What a model is trained on, and what it has never seen: four kinds of the unseen."""

import itertools
import random
from collections import Counter, defaultdict
from dataclasses import dataclass

from attn._checks import check_size
from attn_course.grammar.documents import document_pairs
from attn_course.grammar.generating import generate

MAX_LEN = 12  # tokens of a source that is not "longer"
N_COMBINATIONS = 60  # of each kind that is held out, at most
SAMPLE = 6_000  # pairs to know frequencies by
COMMON = 3  # how often a combination is among them, to be worth a test
SHARE = 0.2  # of the partners of a word, how many it never meets in training
LEAST = 8  # words that the second one meets in any way, so that training tells what it is


@dataclass(frozen=True)
class Splits:
    """The parts of the corpus; no source sentence is in two of them, or in the documents.

    All but `train` are the same whatever the size of `train`.

    Attributes
    ----------
    train, validation, test : tuple of Pair
        Drawn alike.
    adjective_noun : tuple of Pair
        With an adjective and a noun that never meet in the three above.
    verb_object : tuple of Pair
        With a verb and an object that never meet there.
    polysemes : tuple of Pair
        With a polyseme, and a word that decides its meaning, that never meet there.
    longer : tuple of Pair
        Sources of more tokens than any there.
    held_out : dict of str to frozenset
        The combinations kept out, by the name of the part that tests them.

    Each word of a combination held out occurs in training, in other combinations.
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
        How many pairs are drawn alike.
    n_held_out : int
        How many pairs each of the four other parts has.

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
    # The tests come first, so that they are the same however many pairs there are to train on.
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
    """Choose the combinations to hold out: common ones, of words that have many others.

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
    for pair in document_pairs():  # lessons show these: their words have met
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
        # What decides a polyseme says what it is by other company; so do noun and verb.
        spared = [word for word in (one, other) if name != "polysemes" or word == one]
        if any((held[word] + 1) > SHARE * len(partners[kind, word]) for word in spared):
            continue
        if len(company[other]) < LEAST:
            continue
        held.update(spared)
        chosen[name].add((kind, one, other))
    return {name: frozenset(combinations) for name, combinations in chosen.items()}


def _part_of(pair, held_out):
    """Return the part that a pair can be in: "any" of the first three, or None."""
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
    del found["held_out"]  # what was kept from training, not pairs
    return found
