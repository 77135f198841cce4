"""What an exercise is: random inputs, the right function, and the wrong ones learners write.

A specification holds data and functions and runs nothing. `attn.exercises.check` is one
reader of it; whoever has the inputs and the answers as arrays can be another.
"""

from collections.abc import Callable
from dataclasses import dataclass


@dataclass(frozen=True)
class Misconception:
    """A known mistake.

    Attributes
    ----------
    id : str
        Short name, unique within its exercise.
    functions : tuple of callable
        The mistake as code: one wrong function for each way of making it that gives
        other values. Each makes this mistake only.
    hint : dict of str to str
        What is wrong, why it matters and what to change, under ``"es"`` and ``"en"``.
    """

    id: str
    functions: tuple[Callable, ...]
    hint: dict[str, str]


@dataclass(frozen=True)
class Exercise:
    """A function that the learner writes.

    Attributes
    ----------
    id : str
        The name of the function, unique in the course.
    chapter : int or str
        The chapter it belongs to; "A1" is the appendix.
    outputs : tuple of str
        Names of what it returns: one name, an array; several, a tuple of arrays.
    oracle : callable
        The right answer, from `attn.reference`.
    cases : callable
        From an integer seed to a list of inputs. Each is a dict from argument name to
        array, in the order of the signature; an optional argument may be absent.
    misconceptions : tuple of Misconception
        The known mistakes. Where several fit an attempt equally, the first is named.
    problem_set : str, optional
        The problem set that asks for it, if the chapter itself does not.
    """

    id: str
    chapter: int | str
    outputs: tuple[str, ...]
    oracle: Callable
    cases: Callable[[int], list[dict]]
    misconceptions: tuple[Misconception, ...]
    problem_set: str | None = None
