"""Pairs of sentences drawn from a seed, and the translation of a sentence of the grammar."""

from attn._checks import argument_error, check_size
from attn_course.grammar import compound_sentences as compound
from attn_course.grammar import sentences as simple
from attn_course.grammar.choice import Dice, Impossible, Search
from attn_course.grammar.phrases import to_pair

# Each construction has a weight in the draw, and perhaps a word that all its sentences contain.
FRAMES = {
    simple.thing: (6, None),
    simple.quality: (14, None),
    simple.comparison: (4, "than"),
    simple.location: (5, None),
    simple.existence: (4, "there"),
    simple.action: (36, None),
    simple.activity: (14, None),
    simple.gift: (7, None),
    simple.liking: (5, None),
    simple.wish: (4, "to"),
    compound.relative_subject: (9, None),
    compound.relative_object: (5, "that"),
    compound.sequel: (7, None),
    compound.reason: (8, None),
    compound.fault: (6, "because"),
    compound.interruption: (4, "when"),
    compound.report: (4, "that"),
    compound.two_clauses: (6, None),
    compound.two_actions: (4, None),
}


def generate(seed=0):
    """Yield random pairs without end.

    Parameters
    ----------
    seed : int, default 0
        The same seed gives the same pairs.

    Yields
    ------
    Pair
        Sentences may be repeated.

    Raises
    ------
    ValueError
        If `seed` is not an integer of at least 0.

    Examples
    --------
    >>> pairs = generate(seed=0)
    >>> next(pairs).frame in {frame.__name__ for frame in FRAMES}
    True
    """
    dice = Dice(check_size("seed", seed))
    weights = {frame: weight for frame, (weight, _) in FRAMES.items()}
    while True:
        frame = dice.weighted(weights)
        try:
            phrase = frame(dice)
        except Impossible:
            continue
        yield to_pair(phrase, frame.__name__)


def translate(source):
    """Return the pair of an English sentence that the grammar can say.

    Parameters
    ----------
    source : str
        In lower case, one space between words, no full stop.

    Returns
    -------
    Pair

    Raises
    ------
    ValueError
        If `source` is no string, or no sentence of the grammar.

    Examples
    --------
    >>> pair = translate("the red house")
    >>> pair.target, sorted(pair.sure)
    ('la casa roja', [(0, 0), (1, 2), (2, 1)])
    """
    if not isinstance(source, str):
        raise argument_error("source", "a string", type(source).__name__)
    for frame, (_, word) in FRAMES.items():
        if word and word not in source.split():
            continue
        search, is_left = Search(source), True
        while is_left:
            try:
                phrase = frame(search)
            except Impossible:
                pass
            else:
                if " ".join(word.text for word in phrase.source) == source:
                    return to_pair(phrase, frame.__name__)
            is_left = search.advance()
    raise argument_error("source", "a sentence of the grammar", repr(source))
