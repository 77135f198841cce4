"""Generated news stories of shuffled sentences, and their headlines.

`stories.toml` holds *events*. What the headline says is told in two sentences of the story, in
other words; the others give details, or name people and places that are not its subject.
"""

import random
from pathlib import Path
from typing import NamedTuple
from zlib import crc32

from attn._checks import check_size
from attn_course.templates import Grammar, slots_of

_GRAMMAR = Grammar(Path(__file__).with_suffix(".toml"))
_EVENTS = _GRAMMAR.tables["events"]
_BACKGROUND = _GRAMMAR.tables["background"]["sentences"]


class Story(NamedTuple):
    """A text and its headline."""

    text: str
    headline: str


def stories(n, seed, *, unseen=False):
    """Generate stories.

    Parameters
    ----------
    n : int
        How many.
    seed : int
        The same seed gives the same stories.
    unseen : bool, default False
        Whether their headlines are held out. If not, none of them is.

    Returns
    -------
    list of Story
        Of four to six sentences.

    Raises
    ------
    ValueError
        If a number is not an integer of at least 0.

    Examples
    --------
    >>> stories(1, seed=1)[0].headline
    'Frida Haas elected mayor of Milan'
    """
    rng = random.Random(check_size("seed", seed))
    found = []
    while len(found) < check_size("n", n):
        story = _story(rng)
        # One headline in ten is held out.
        if (crc32(story.headline.encode()) % 10 == 0) == unseen:
            found.append(story)
    return found


def _story(rng):
    event = rng.choice(list(_EVENTS.values()))
    templates = [rng.choice(event["what"]), rng.choice(event["rest"])]
    templates += rng.sample(event["details"] + _BACKGROUND, rng.randint(2, 4))
    values = _GRAMMAR.draw(rng, slots_of(event["headline"], *templates))
    rng.shuffle(templates)
    sentences = [_GRAMMAR.fill(rng, template, values)[0] for template in templates]
    headline, _ = _GRAMMAR.fill(rng, event["headline"], values)
    return Story(" ".join(sentences), headline)
