"""The list of exercises, from the names of their files; an exercise is loaded on request alone."""

import functools
import importlib
import pkgutil
import re

from attn_course.exercises import chapters
from attn_course.exercises.spec import id_of


@functools.cache
def modules():
    """Return the name of the module of each exercise, by id, in the order of the course."""
    names = [found.name for found in pkgutil.iter_modules(chapters.__path__)]
    names.sort(key=lambda name: (name.startswith("a"), name))  # appendices last
    return {id_of(name): name for name in names}


def exercises():
    """Return the ids of the exercises of each chapter, without those of problem sets.

    Returns
    -------
    dict of int or str to tuple of str
        Ids by chapter, in the order of the course; "A1" is the appendix.

    Examples
    --------
    >>> exercises()["A1"]
    ('most_attended', 'written', 'epoch_loss')
    """
    found = {}
    for exercise_id, name in modules().items():
        kind, number = re.match(r"(ch|a)(\d+)", name).groups()
        chapter = int(number) if kind == "ch" else f"A{number}"
        found[chapter] = (*found.get(chapter, ()), exercise_id)
    return found


def load(exercise_id):
    """Return an exercise of a chapter, one of `exercises`; no other is imported."""
    name = modules()[exercise_id]
    return importlib.import_module(f"{chapters.__name__}.{name}").EXERCISE
