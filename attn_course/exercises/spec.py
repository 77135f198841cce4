"""Specification of an exercise: random inputs, the right function, and common wrong functions.

A specification holds data and functions and runs nothing. `attn_course.exercises.record` runs it
on inputs; whoever has inputs and answers as arrays can do without it.
"""

import functools
import re
import tomllib
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from attn._checks import argument_error


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
    outputs : tuple of str
        Names of what it returns: one name, an array; several, a tuple of arrays.
    oracle : callable
        The right answer, from `attn.reference` where it has one.
    cases : callable
        From an integer seed to a list of inputs. Each is a dict from argument name to
        array, in the order of the signature; an optional argument may be absent.
    misconceptions : tuple of Misconception
        The known mistakes. Where several fit an attempt equally, the first is named.
    slips : str
        A right answer and the edits that make known mistakes of it, as `slips_of` reads them.
    """

    id: str
    outputs: tuple[str, ...]
    oracle: Callable
    cases: Callable[[int], list[dict]]
    misconceptions: tuple[Misconception, ...]
    slips: str = ""

    @classmethod
    def from_file(cls, file, outputs, oracle, cases, mistakes):
        """Join the functions of an exercise with its hints, which lie beside them in TOML.

        Parameters
        ----------
        file : str
            The ``__file__`` of the module. Its name, without chapter and place, is the id.
        outputs, oracle, cases
            As above.
        mistakes : dict of str to tuple of callable
            The wrong functions by mistake.

        Returns
        -------
        Exercise
            With its mistakes in the order of the hints.

        Raises
        ------
        ValueError
            If a mistake has no hint, or a hint no mistake.
        """
        path = Path(file).with_suffix(".toml")
        hints = read_hints(path)
        missing = sorted(mistakes.keys() - hints.keys())
        surplus = sorted(hints.keys() - mistakes.keys())
        if missing or surplus:
            got = f"none for {missing} and some for {surplus}, which are no mistakes"
            raise argument_error(path.name, "a hint for each mistake", got)
        known = tuple(Misconception(name, mistakes[name], hint) for name, hint in hints.items())
        slips = _tables(path).get("slips", "").strip("\n")
        return cls(id_of(path.stem), outputs, oracle, cases, known, slips)


def id_of(stem):
    """Return the id of an exercise from the name of its file.

    Examples
    --------
    >>> id_of("ch03_1_softmax"), id_of("a1_2_written"), id_of("attend_once")
    ('softmax', 'written', 'attend_once')
    """
    return re.sub(r"^(ch|a)\d+_\d_", "", stem)


def read_hints(path):
    """Return the hints of an exercise, by mistake.

    The lines of a hint are joined; ``as_in`` names another file, whose hint for the same mistake is
    used.

    Parameters
    ----------
    path : Path

    Returns
    -------
    dict of str to dict of str to str
    """
    hints = {}
    for name, table in _tables(path).items():
        if name == "slips":
            continue
        if "as_in" in table:
            hints[name] = read_hints(path.with_stem(table["as_in"]))[name]
        else:
            hints[name] = {lang: " ".join(said.split()) for lang, said in table.items()}
    return hints


@functools.cache
def _tables(path):
    return tomllib.loads(path.read_text(encoding="utf-8"))
