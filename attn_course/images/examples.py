"""Examples for training and tests: an image, a question, the right answer."""

from dataclasses import dataclass

import numpy as np

from attn._checks import argument_error, check_choice, check_size
from attn_course.images.questions import KINDS, LANGUAGES, Question, patches
from attn_course.images.scenes import (
    COLOURS,
    N_COLUMNS,
    N_ROWS,
    SHAPES,
    Thing,
    draw,
)

# These combinations are never in a training image or question, although each shape and each colour
# is.
HELD_OUT = (("ball", "green"), ("box", "yellow"), ("star", "blue"), ("tree", "red"))
# The most things that a question counts, and the most distractors of a scene.
MOST = 4


@dataclass(frozen=True, eq=False)
class Example:
    """One image and one question about it.

    Attributes
    ----------
    image : array of uint8, shape (N_ROWS * PATCH_SIZE, N_COLUMNS * PATCH_SIZE, 3)
    question, answer : str
    kind : str
        One of ``questions.KINDS``.
    asked : array of bool, shape (N_ROWS, N_COLUMNS)
        The patches of the things that the question is about. They are for tests only; no model
        sees them.
    things : tuple of Thing
        All that the image shows.
    """

    image: np.ndarray
    question: str
    answer: str
    kind: str
    asked: np.ndarray
    things: tuple[Thing, ...]


def make_examples(n_examples, language, seed=0, *, kinds=KINDS, held_out=False):
    """Make images with a question each; kinds alternate, and the answers of a kind are balanced.

    Parameters
    ----------
    n_examples : int
    language : {"es", "en"}
        Of questions and answers. The images depend on the seed alone.
    seed : int, default 0
    kinds : sequence of str, optional
        Some of ``questions.KINDS``; by default all.
    held_out : bool, default False
        Whether to ask about the pairs of shape and colour in `HELD_OUT`, and only about
        them; otherwise no image shows one.

    Returns
    -------
    list of Example

    Raises
    ------
    ValueError
        If an argument is not as above.

    Examples
    --------
    >>> for example in make_examples(5, "en"):
    ...     print(example.question, example.answer)
    What colour is the tree? blue
    How many balls are there? two
    Where is the star? top right
    Is there a purple star? no
    Is the ball to the left of the box? yes
    """
    check_size("n_examples", n_examples)
    check_choice("language", language, LANGUAGES)
    if isinstance(kinds, str) or not len(kinds):
        raise argument_error("kinds", f"a sequence of {', '.join(KINDS)}", repr(kinds))
    for kind in kinds:
        check_choice("kinds", kind, KINDS)
    rng = np.random.default_rng(check_size("seed", seed))
    known = [(s, c) for s in SHAPES for c in COLOURS if (s, c) not in HELD_OUT]
    examples = []
    for i in range(n_examples):
        question, pairs = _compose(
            kinds[i % len(kinds)], HELD_OUT if held_out else known, known, rng
        )
        things = _place(question, pairs, rng)
        examples.append(
            Example(
                draw(things, rng),
                question.words(language),
                question.answer(things, language),
                question.kind,
                patches(question.asked(things)),
                things,
            )
        )
    return examples


def _compose(kind, askable, known, rng):
    """Choose a question, and the pairs of shape and colour that its scene shows."""
    shape, colour = askable[rng.integers(len(askable))]
    question, asked = Question(kind, shape), [(shape, colour)]
    others = [pair for pair in known if pair[0] != shape]
    if kind == "count":
        of_shape = [pair for pair in askable if pair[0] == shape]
        asked = _some(of_shape, rng.integers(0, MOST, endpoint=True), rng)
    elif kind == "exists":
        question = question._replace(colour=colour)
        asked = asked * rng.integers(2)
        # Things with the same shape or the same colour alone are added, so that neither proves the
        # answer.
        others = [pair for pair in known if pair != (shape, colour)]
        for half in (0, 1):
            near = [pair for pair in others if pair[half] == (shape, colour)[half]]
            asked += _some(near, rng.integers(2), rng)
    elif kind == "left":
        other = others[rng.integers(len(others))]
        question = question._replace(other=other[0])
        asked = [*asked, other]
        others = [pair for pair in others if pair[0] != other[0]]
    return question, asked + _some(others, rng.integers(1, MOST, endpoint=True), rng)


def _some(pairs, n, rng):
    return [pairs[i] for i in rng.integers(len(pairs), size=n)]


def _place(question, pairs, rng):
    """Put each pair into a patch of its own."""
    cells = rng.choice(N_ROWS * N_COLUMNS, size=len(pairs), replace=False).tolist()
    things = tuple(
        Thing(*pair, *divmod(cell, N_COLUMNS)) for pair, cell in zip(pairs, cells, strict=True)
    )
    columns = [thing.column for thing in question.asked(things)]
    if question.kind == "left" and columns[0] == columns[1]:
        return _place(question, pairs, rng)
    return things
