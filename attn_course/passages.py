"""Generated passages of shuffled facts, and questions about them.

`passages.toml` holds *frames*. Each is a kind of fact: sentences that state some of its slots, and
questions that ask for one, often in other words (what was completed, when was it invented?). In
a passage no two facts of a frame share a value, so a question has one answer at most, and the
other facts are there to mislead.

Some pairs of values, as *computer* and *1945*, are held out: no passage to train on states a
fact with both. So a model that answers about such a pair has read the passage and cannot have
memorised it.
"""

import random
from itertools import combinations
from pathlib import Path
from typing import NamedTuple
from zlib import crc32

from attn._checks import check_choice, check_size
from attn.tokenizer.words import split
from attn_course.templates import Grammar, slots_of

_GRAMMAR = Grammar(Path(__file__).with_suffix(".toml"))
_FRAMES = _GRAMMAR.tables["frames"]

KINDS = tuple(f"{name}.{slot}" for name, frame in _FRAMES.items() for slot in frame["asks"])


class Question(NamedTuple):
    """A passage, a question and its answer.

    Attributes
    ----------
    context : str
    question : str
    answer : str
        Words of the context; empty if it does not tell.
    start : int or None
        Where the answer begins: the index of its first word among those that
        `attn.tokenizer.words.split` makes of the context. None without an answer.
    """

    context: str
    question: str
    answer: str
    start: int | None


def questions(n, seed, *, unseen=False, kind=None):
    """Generate questions.

    Parameters
    ----------
    n : int
        How many.
    seed : int
        The same seed gives the same questions.
    unseen : bool, default False
        Whether to ask for held-out pairs only. Otherwise no fact has a held-out pair.
    kind : str, optional
        One of `KINDS`: a frame and the slot asked for. By default all of them.

    Returns
    -------
    list of Question
        With one to five facts each. About one in five has no answer: the passage tells of
        another machine, or does not tell when.

    Raises
    ------
    ValueError
        If a number is not an integer of at least 0, or there is no such kind.

    References
    ----------
    Rajpurkar et al. (2018), SQuAD 2.0, for questions that only seem to have an answer.

    Examples
    --------
    >>> context, question, answer, start = questions(1, seed=4, kind="thing.colour")[0]
    >>> question, answer
    ('What colour is the curtain?', 'brown')
    >>> split(context)[start]
    'brown'
    """
    rng, n = random.Random(check_size("seed", seed)), check_size("n", n)
    if kind is not None:
        check_choice("kind", kind, KINDS)
    return [_question(rng, *(kind or rng.choice(KINDS)).split("."), unseen) for _ in range(n)]


def is_held_out(value, other):
    """Return whether no fact to train on has both of these values.

    Examples
    --------
    >>> is_held_out("computer", "1945"), is_held_out("1945", "computer")
    (True, True)
    >>> is_held_out("computer", "1946")
    False
    """
    # One pair in ten is held out; the remainder is the one that holds out the first example.
    return crc32("|".join(sorted((value, other))).encode()) % 10 == 7


def _question(rng, frame, slot, unseen):
    """Choose the fact that is asked about and those around it, shuffle them, and ask."""
    asking = rng.choice(_FRAMES[frame]["asks"][slot])
    given = slots_of(asking)
    about = [state for state in _FRAMES[frame]["states"] if {*given} <= {*slots_of(state)}]
    told = [state for state in about if slot in slots_of(state)]
    untold = [state for state in about if slot not in slots_of(state)]
    is_answered = rng.random() < 0.8
    # A question without an answer gets a sentence about the same fact that does not tell the
    # answer, or none.
    asked_states = told if is_answered else rng.choice([untold, []])

    def is_new(values):
        return all(is_held_out(values[name], values[slot]) for name in given)

    asked = _draw(rng, frame, [], is_new if unseen else _is_seen)
    facts = [(frame, asked)]
    others = [rng.choice([frame, rng.choice(list(_FRAMES))]) for _ in range(rng.randrange(5))]
    for name in others if asked_states else [frame, *others]:
        facts.append((name, _draw(rng, name, facts, None if unseen else _is_seen)))

    stated = [
        _GRAMMAR.fill(rng, rng.choice(_FRAMES[name]["states"]), values)
        for name, values in facts[1:]
    ]
    if asked_states:
        stated.append(_GRAMMAR.fill(rng, rng.choice(asked_states), asked))
    shuffled = rng.sample(stated, len(stated))
    context = " ".join(text for text, _ in shuffled)
    question, _ = _GRAMMAR.fill(rng, asking, asked)
    if not is_answered:
        return Question(context, question, "", None)
    sentence, starts = stated[-1]
    before = " ".join(text for text, _ in shuffled[: shuffled.index(stated[-1])])
    start = len(split(before)) + len(split(sentence[: starts[slot]]))
    return Question(context, question, asked[slot], start)


def _draw(rng, frame, facts, accept):
    """Draw the values of a fact, none of them in another fact of its frame."""
    slots = slots_of(*_FRAMES[frame]["states"])
    taken = {value for name, values in facts if name == frame for value in values.values()}
    while True:
        values = _GRAMMAR.draw(rng, slots, taken)
        if accept is None or accept(values):
            return values


def _is_seen(values):
    return not any(is_held_out(*pair) for pair in combinations(values.values(), 2))
