"""A split without near neighbours: no training sentence is one word from a test sentence."""

import functools
import random
from collections import Counter
from dataclasses import dataclass, fields

from attn._checks import argument_error, check_size
from attn.metrics import one_word_apart
from attn_course.grammar.lexicon import lexicon
from attn_course.grammar.splits import COMMON, Splits

# The share of templates that training lacks.
SHARE = 0.1
# The most test sentences of one template, so that frequent templates do not dominate.
AT_MOST = 10
TESTS = ("test", "adjective_noun", "verb_object", "polysemes", "longer")
# The word class of each part of the lexicon.
CLASSES = {
    "determiners": "determiner",
    "adjectives": "adjective",
    "nouns": "noun",
    "names": "name",
    "verbs": "verb",
    "reports": "verb",
    "places": "place",
    "adverbs": "adverb",
}
# The words of the grammar rules, which are not in the lexicon.
FUNCTION_WORDS = {
    "be": "is are was were",
    "do": "do does did",
    "pronoun": "i he she it we they him them",
    "frequency": "always often never",
    "degree": "very too",
}


@dataclass(frozen=True)
class TemplateSplits(Splits):
    """The parts of the corpus without near neighbours.

    No sentence of a test differs from one of `train` in a single word at the same place.

    Attributes
    ----------
    templates : tuple of Pair
        Sentences whose `template` no sentence of `train` has.
    missing : frozenset of tuple of str
        The templates that `train` lacks for this test.
    """

    templates: tuple
    missing: frozenset


@functools.cache
def _classes():
    """Return the class of every word; several parts of speech make a class of their own."""
    found = {word: {name} for name, words in FUNCTION_WORDS.items() for word in words.split()}
    for part, name in CLASSES.items():
        for entry in getattr(lexicon(), part):
            for word in (word for form in entry.forms for word in form.split()):
                found.setdefault(word, set()).add(name)
    return {word: " or ".join(sorted(names)) for word, names in found.items()}


def template(source):
    """Return a sentence with its words replaced by their classes.

    A word that belongs to no class stands for itself: *because*, *than*, *not*.

    Parameters
    ----------
    source : str
        A sentence of the grammar.

    Returns
    -------
    tuple of str

    Examples
    --------
    >>> template("the red house is not very big")
    ('determiner', 'adjective', 'noun', 'be', 'not', 'degree', 'adjective')
    >>> template("the cat sleeps") == template("a dog slept")
    True
    """
    classes = _classes()
    return tuple(classes.get(word, word) for word in source.split())


def without_neighbours(parts, n_train=20_000, n_templates=300, seed=0):
    """Return the parts of the corpus with a training part without neighbours of the tests.

    Some templates are removed from training and form one more test. Then every training
    sentence is removed that is one word apart from a sentence of any test. The other tests do
    not change.

    Parameters
    ----------
    parts : Splits
        Parts with more training pairs than `n_train`, since about a sixth are removed.
    n_train, n_templates : int
        How many pairs `train` and `templates` have.
    seed : int, default 0
        Chooses the templates.

    Returns
    -------
    TemplateSplits

    Raises
    ------
    ValueError
        If a number is not an integer of at least 0, or `parts` have too few pairs.

    References
    ----------
    Finegan-Dollak et al. (2018), Improving Text-to-SQL Evaluation Methodology, section 4.3, split
    questions by the templates of their answers.

    Examples
    --------
    >>> from attn_course.grammar import splits
    >>> parts = splits(n_train=600, n_validation=10, n_test=10, n_held_out=10)
    >>> apart = without_neighbours(parts, n_train=400, n_templates=20)
    >>> len(apart.train), len(apart.templates), apart.test == parts.test
    (400, 20, True)
    >>> any(template(pair.source) in apart.missing for pair in apart.train)
    False
    """
    n_train, n_templates = check_size("n_train", n_train), check_size("n_templates", n_templates)
    templates = [template(pair.source) for pair in parts.train]
    common = sorted(key for key, count in Counter(templates).items() if count >= COMMON)
    random.Random(check_size("seed", seed)).shuffle(common)
    missing = frozenset(common[: round(SHARE * len(common))])
    chosen, others, asked_of = [], [], Counter()
    for pair, its_template in zip(parts.train, templates, strict=True):
        if its_template not in missing:
            others.append(pair)
        elif asked_of[its_template] < AT_MOST and len(chosen) < n_templates:
            chosen.append(pair)
            asked_of[its_template] += 1
    asked = [pair.source for name in TESTS for pair in getattr(parts, name)]
    asked += [pair.source for pair in chosen]
    near = one_word_apart([pair.source for pair in others], asked)
    kept = [pair for pair, is_near in zip(others, near, strict=True) if not is_near]
    for name, found, wanted in (("train", kept, n_train), ("templates", chosen, n_templates)):
        if len(found) < wanted:
            raise argument_error("parts", f"training for {wanted} pairs of {name}", len(found))
    same = {field.name: getattr(parts, field.name) for field in fields(Splits)}
    apart = same | {"train": tuple(kept[:n_train]), "templates": tuple(chosen)}
    return TemplateSplits(**apart, missing=missing)
