"""Sentences that people wrote, with other names and numbers, and sentences of the grammar.

A translator that has met one name eighteen thousand times learns that name; one that has met
thousands of names learns to copy. And every word of the five documents is in the grammar, while
people who collect sentences seldom write of violets. Both translators of real sentences that come
with the course have learnt from this; ``python -m experiments directions`` measures the effect.
"""

import hashlib
import random
import re
from functools import cache

from attn._checks import check_size
from attn.corpus import Pair, tatoeba
from attn_course.grammar.lexicon import lexicon
from attn_course.grammar.splits import splits


def _listed(text):
    """Return the words of a text: a list of many, without a line for each."""
    return tuple(text.split())


# The names that Tatoeba uses for anybody, and how often they are kept.
MAN, WOMAN, KEPT = "Tom", "Mary", 0.4
# A real name replaces them, or an invented one.
MEN = _listed(
    "Adam Adrián Alan Álex Andrés Ben Carlos Daniel David Diego Eduardo Emilio Felipe Fernando Frank "
    "George Hugo Iván Jack James Javier John Jorge José Juan Kevin Leo Luis Manuel Marco Mario Mark "
    "Martin Miguel Nico Óscar Pablo Paul Pedro Peter Rafael Ramón Raúl Ricardo Robert Samuel Sergio "
    "Simon Steve Teo Thomas Tim Víctor Will Yuri"
)
WOMEN = _listed(
    "Ada Alicia Amelia Ana Andrea Anna Beatriz Camila Carla Carmen Carolina Clara Claudia Diana Elena "
    "Elisa Emma Eva Grace Helen Inés Irene Isabel Jane Julia Karen Kate Laura Lena Linda Lucía Luna "
    "Marina Marta Meg Mia Mónica Nora Olga Olivia Paula Raquel Rosa Ruth Sara Silvia Sofía Susan "
    "Teresa Valeria Vera Zoe"
)
BEGINNINGS = _listed("b br c ch cl d dr f g gr h j k l ll m n p pr r s st t tr v w y z")
VOWELS = _listed("a e i o u a e o ai ie")
MANS_ENDINGS = _listed("o n s r l k d m x th os an in er")
WOMANS_ENDINGS = _listed("a ia ina ela ara issa eth ine")
NUMBER = re.compile(r"\d+")
# The sentences with a number are few, so that each is taken three times more with other digits.
AGAIN = 3


def mixture(n_train=None, n_grammar=8_000, *, other_names=True, other_digits=True):
    """Return the parts of `attn.corpus.tatoeba`, with more names, numbers and constructions to learn.

    This is the corpus *mixture* of `attn.corpus.named`. Only the pairs for training differ from
    those of ``"tatoeba"``: in six of ten sentences about *Tom* or *Mary* that name is another, in both
    languages alike; sentences with digits come again with other digits; and sentences of the
    grammar are added, written with a capital letter and a full stop. The examples of the documents
    and the combinations of words that the grammar holds out are not among them.

    Parameters
    ----------
    n_train : int, optional
        As in `attn.corpus.tatoeba`: the number of its pairs, before any is added.
    n_grammar : int, default 8,000
        The number of sentences of the grammar.
    other_names, other_digits : bool, default True
        Whether names are exchanged, and whether sentences with digits come again with others.

    Returns
    -------
    dict of str to sequence of attn.corpus.Pair
        ``"train"``, ``"validation"``, ``"clusters"`` and ``"plain"``.

    Raises
    ------
    ValueError
        As `attn.corpus.tatoeba`, and if `n_grammar` is not a size.
    """
    check_size("n_grammar", n_grammar)
    parts = dict(tatoeba(n_train))
    if n_train == 0:
        return parts
    train = list(parts["train"])
    if other_names:
        train = [with_another_name(pair) for pair in train]
    for time in range(AGAIN if other_digits else 0):
        train += [changed for pair in parts["train"] if (changed := with_other_digits(pair, time))]
    train += [written(pair) for pair in splits(n_train=n_grammar).train] if n_grammar else []
    return parts | {"train": train}


def with_another_name(pair):
    """Return a pair about Tom or Mary with another name, or unchanged.

    Examples
    --------
    >>> other = with_another_name(Pair("Tom saw Mary.", "Tom vio a Mary."))
    >>> other.source, other.target
    ('Grumir saw Julia.', 'Grumir vio a Julia.')
    """
    drawn = _dice(pair, "name")
    if drawn.random() < KEPT:
        return pair
    texts = pair.source, pair.target
    for name, people, endings in ((MAN, MEN, MANS_ENDINGS), (WOMAN, WOMEN, WOMANS_ENDINGS)):
        word = re.compile(rf"\b{name}\b")
        if len({len(word.findall(text)) for text in texts}) == 1 and word.search(texts[0]):
            other = drawn.choice(people) if drawn.random() < 0.5 else invented(drawn, endings)
            texts = tuple(word.sub(other, text) for text in texts)
    return Pair(*texts)


def invented(drawn, endings):
    """Return a name of one to three syllables, and an ending."""
    syllables = [
        drawn.choice(BEGINNINGS) + drawn.choice(VOWELS)
        for _ in range(drawn.choice((1, 1, 2, 2, 3)))
    ]
    name, ending = "".join(syllables), drawn.choice(endings)
    # A vowel before a vowel is left out: Bru + ina is Brina.
    return (name.rstrip("aeiou") + ending if ending[0] in "aeiou" else name + ending).capitalize()


def with_other_digits(pair, time=0):
    """Return a pair with other numbers of as many digits, or None if its sides have different
    numbers.

    Examples
    --------
    >>> other = with_other_digits(Pair("It is 2:30.", "Son las 2:30."))
    >>> other.source, other.target
    ('It is 4:27.', 'Son las 4:27.')
    >>> with_other_digits(Pair("I have 3 cats.", "Tengo tres gatos."))
    """
    numbers = [NUMBER.findall(text) for text in (pair.source, pair.target)]
    if not numbers[0] or sorted(numbers[0]) != sorted(numbers[1]):
        return None
    drawn, other = _dice(pair, f"digits {time}"), {}
    for number in sorted(set(numbers[0])):
        # After a 1 the noun would be singular, or the hour *la una*.
        first = "0" if number[0] == "0" else drawn.choice("23456789")
        other[number] = first + "".join(drawn.choice("0123456789") for _ in number[1:])
    source, target = (
        NUMBER.sub(lambda found: other[found.group()], text) for text in (pair.source, pair.target)
    )
    return Pair(source, target)


def written(pair):
    """Return a pair of the grammar as people write it, with capitals and full stops.

    Examples
    --------
    >>> said = written(Pair("the sky is blue , said tom", "el cielo es azul , dijo tom"))
    >>> said.source, said.target
    ('The sky is blue, said Tom.', 'El cielo es azul, dijo Tom.')
    """
    return Pair(*(_sentence(text) for text in (pair.source, pair.target)))


def _sentence(text):
    words = [word.capitalize() if word in _names() else word for word in text.split()]
    said = " ".join(words).replace(" ,", ",")
    return said[0].upper() + said[1:] + "."


@cache
def _names():
    return frozenset(name.en for name in lexicon().names) | {"i"}


def _dice(pair, purpose):
    """Return a random generator that depends only on the pair and the purpose."""
    seed = hashlib.sha256(f"{purpose}\n{pair.source}\n{pair.target}".encode()).digest()
    return random.Random(seed)
