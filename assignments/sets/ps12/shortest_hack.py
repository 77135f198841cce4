"""Problem set 12, `shortest_hack`: the shortest answer that is paid though wrong, and ways to miss it."""

import numpy as np

from attn_course.exercises.spec import Exercise


def shortest_hack(move, pays, true_move, right):
    """Return the shortest answer that one verifier pays and another, which is never wrong, does not.

    Both read an answer word by word and keep a state, which is 0 before the first word. Word 0
    ends the answer and is read by neither, so that column 0 of the moves means nothing.

    Parameters
    ----------
    move : array of int, shape (n_states, n_words)
        The next state of the verifier that pays.
    pays : array of bool, shape (n_states,)
    true_move : array of int, shape (n_true_states, n_words)
    right : array of bool, shape (n_true_states,)

    Returns
    -------
    array of int, shape (n,)
        The answer with its end; of several the first in the order of a dictionary, and -1 alone
        if nothing that is wrong is paid.

    References
    ----------
    Hopcroft and Karp (1971), A Linear Algorithm for Testing Equivalence of Finite Automata: a pair
    of states at which two automata differ, reached by the shortest word.
    """
    return _search(move, pays, true_move, right)


def _in_order(words):
    return words[::1]


def _turned(words):
    return words[::-1]


def _search(
    move,
    pays,
    true_move,
    right,
    *,
    hacked=lambda pays, right: pays and not right,
    words=_in_order,
    remember=lambda pair: pair,
    follow=lambda move, true_move, s, t, w: (move[s][w], true_move[t][w]),
    say=lambda path, states: [*path, 0],
    start=0,
    begun=((0, 0),),
    none=(-1,),
    longest=None,
):
    """Search breadth first, with the given parts replaced."""
    level, seen, n_words = [((0, 0), (), ())], {remember(pair) for pair in begun}, move.shape[1]
    move, true_move = (
        move.tolist(),
        true_move.tolist(),
    )  # Single numbers are read faster from lists.
    for length in range(len(pays) * len(right) + 1 if longest is None else longest + 1):
        after = []
        for (s, t), path, states in level:
            if length >= start and hacked(pays[s], right[t]):
                return np.array(say(path, states), dtype=int)
            for w in words(range(1, n_words)):
                pair = follow(move, true_move, s, t, w)
                if remember(pair) not in seen:
                    seen.add(remember(pair))
                    after.append((pair, (*path, w), (*states, pair[0])))
        level = after
    return np.array(none, dtype=int)


def _depth_first(move, pays, true_move, right):
    """Follow the first word as far as it leads."""
    stack, seen = [((0, 0), ())], set()
    while stack:
        (s, t), path = stack.pop()
        if pays[s] and not right[t]:
            return np.array([*path, 0])
        if (s, t) not in seen:
            seen.add((s, t))
            words = _in_order(range(1, move.shape[1]))[::-1]
            stack += [((move[s, w], true_move[t, w]), (*path, w)) for w in words]
    return np.array([-1])


def _wrong(**how):
    return lambda *arguments: _search(*arguments, **how)


def _one_table(move, pays, true_move, right):
    return _search(move, pays, move % len(right), right)


MISTAKES = {
    "paid_whether_right_or_not": (_wrong(hacked=lambda pays, right: pays),),
    "right_but_unpaid": (_wrong(hacked=lambda pays, right: right and not pays),),
    "neither_paid_nor_right": (_wrong(hacked=lambda pays, right: not pays and not right),),
    "any_difference": (_wrong(hacked=lambda pays, right: pays != right),),
    "not_the_shortest": (_depth_first,),
    "last_of_the_shortest": (_wrong(words=_turned),),
    "one_state_remembered": (
        _wrong(remember=lambda pair: pair[0]),
        _wrong(remember=lambda pair: pair[1]),
    ),
    "truth_left_behind": (_wrong(follow=lambda move, true_move, s, t, w: (move[s][w], t)),),
    "one_table_for_both": (_one_table,),
    "silence_not_tried": (_wrong(start=1), _wrong(start=1, begun=())),
    "gives_up_early": (_wrong(longest=2), _wrong(longest=3)),
    "says_silence_for_none": (_wrong(none=(0,)),),
    "end_missing": (_wrong(say=lambda path, states: path or (0,)),),
    "read_backwards": (_wrong(say=lambda path, states: [*path[::-1], 0]),),
    "states_for_words": (_wrong(say=lambda path, states: [*states, 0]),),
    "end_used_as_a_word": (_wrong(words=lambda words: _in_order([0, *words])),),
}

# Only a wrong right answer would need as many.
N_DRAWS = 10_000

TOLD = (
    "paid_whether_right_or_not",
    "not_the_shortest",
    "last_of_the_shortest",
    "end_used_as_a_word",
)


def cases(seed):
    """Return pairs of verifiers: with a short hack, with silence, with a long hack and with none.

    Parameters
    ----------
    seed : int
        Seed of the random numbers, and of the sizes of some inputs.

    Returns
    -------
    list of dict
        With the keys ``move``, ``pays``, ``true_move`` and ``right``.
    """
    rng = np.random.default_rng(seed)

    def case(length, n_true, n_words, *, told=TOLD):
        # Each state is left for the next by two words at least, so that a hack has rivals.
        n_states = length + 1
        for _ in range(N_DRAWS):
            move = (
                rng.integers(n_states, size=(n_states, n_words))
                % np.arange(1, n_states + 1)[:, None]
            )
            first, states = rng.integers(1, n_words - 1, size=length), np.arange(length)
            for column in (0, first, first + 1):
                move[states, column] = states + 1
            true_move = rng.integers(n_true, size=(n_true, n_words))
            right = rng.random(n_true) < 0.5
            case = move, np.arange(n_states) == length, true_move, right
            found = shortest_hack(*case)
            others = (way(*case) for name in told for way in MISTAKES[name])
            if len(found) == length + 1 and not any(np.array_equal(found, o) for o in others):
                return _named(*_renamed(*case[:2], rng), *case[2:])
        raise ValueError(
            f"shortest_hack: expected a hack of {length + 1} words in {N_DRAWS:,} draws"
        )

    def silent(n_states, n_words):
        move, true_move = rng.integers(n_states, size=(2, n_states, n_words))
        pays, right = rng.random((2, n_states)) < 0.5
        pays[0], right[0] = True, False
        return _named(move, pays, true_move, right)

    def sound(n_states, n_words):
        right = rng.permutation(np.arange(n_states) % 2 == 0)
        true_move = rng.integers(n_states, size=(n_states, n_words))
        return _named(*_renamed(true_move, right, rng), true_move, right)

    return [
        case(2, 3, 3),
        case(2, 4, 4),
        case(2, 3, 3, told=("truth_left_behind", "last_of_the_shortest")),
        case(3, 4, 3),
        case(3, *rng.integers((4, 4), (7, 6))),
        silent(3, 3),
        case(4, 3, 4),
        case(5, 4, 3),
        sound(4, 4),
        sound(5, 3),
    ]


def _named(*case):
    return dict(zip(("move", "pays", "true_move", "right"), case, strict=True))


def _renamed(move, marked, rng):
    """Return the same verifier with other numbers for its states but the first."""
    number = np.array([0, *rng.permutation(np.arange(1, len(move)))])
    back = np.argsort(number)
    return number[move[back]], marked[back]


EXERCISE = Exercise.from_file(__file__, ("answer",), shortest_hack, cases, MISTAKES)
