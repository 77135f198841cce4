"""Pairs of English texts that differ in one word and have different right next words.

They are the questions that chapter 13 asks of SmolLM2: in each pair, the clean text is
followed by one of two words and the corrupted text by the other. All texts of a kind have the
same number of tokens and differ at the same position, so that activations of one text can
replace those of the other.
"""

from typing import NamedTuple

# Subject, verb and object of "The cat that chased the mouse", with the plural of both nouns.
_CHASES = """
cat cats chased mouse mice | boy boys followed girl girls | farmer farmers saw horse horses
doctor doctors liked teacher teachers | king kings met queen queens | student students helped nurse nurses
lawyer lawyers called driver drivers | sailor sailors watched bird birds | soldier soldiers knew singer singers
painter painters found writer writers | player players heard author authors | woman women fed dog dogs
friend friends hated guard guards | brother brothers loved sister sisters | man men feared bear bears
artist artists painted prince princes | guest guests visited nurse nurses | wolf wolves chased fox foxes
child children followed duck ducks | lion lions saw tiger tigers
"""
_PEOPLE = """
John and Paul wrote several songs when | Mary and Peter stayed at home because
Anna and David went to bed when | Tom and Sarah left the house when | Mark and Laura missed the train because
Jane and George bought some bread because | Robert and James painted the wall when
Sarah and Frank walked to school when | Henry and Simon sang every night when
Michael and Thomas closed the door because | Daniel and William wrote several songs when
David and Mark stayed at home because | Peter and Tom went to bed when | Paul and Robert left the house when
George and Henry missed the train because | James and Michael bought some bread because
Simon and Daniel painted the wall when | Thomas and Frank walked to school when
William and John sang every night when | Frank and Peter closed the door because
"""


class Contrast(NamedTuple):
    """Two texts, and the right next word of each.

    Attributes
    ----------
    clean, corrupted : str
    due, other : str
        The right next token of the clean text and of the corrupted text, with its space.
    """

    clean: str
    corrupted: str
    due: str
    other: str


def chases():
    """Return the subject, verb and object of each pair of `agreement`, with both numbers.

    Returns
    -------
    list of tuple of str
        Five words: subject, subjects, verb, object, objects.
    """
    return [tuple(each.split()) for line in _CHASES.split("\n") for each in line.split("|") if each]


def agreement():
    """Return twenty pairs in which the subject is singular in one text and plural in the other.

    The noun that stands nearer to the verb is the same in both; in half of the pairs it is plural,
    and in half of the pairs the clean text is the plural one.

    Examples
    --------
    >>> agreement()[0]  # doctest: +NORMALIZE_WHITESPACE
    Contrast(clean='The cat that chased the mouse', corrupted='The cats that chased the mouse',
             due=' was', other=' were')
    """
    found = []
    for i, (one, many, verb, near, nears) in enumerate(chases()):
        texts = [
            f"The {who} that {verb} the {nears if i // 2 % 2 else near}" for who in (one, many)
        ]
        words = [" was", " were"]
        found.append(Contrast(*texts[:: -1 if i % 2 else 1], *words[:: -1 if i % 2 else 1]))
    return found


def pronouns():
    """Return twenty pairs about two people who act together or one of them alone.

    Examples
    --------
    >>> pronouns()[0]  # doctest: +NORMALIZE_WHITESPACE
    Contrast(clean='John and Paul wrote several songs when',
             corrupted='John without Paul wrote several songs when', due=' they', other=' he')
    """
    found = []
    for line in _PEOPLE.split("\n"):
        for each in filter(None, line.split("|")):
            text = each.strip()
            other = " she" if text.split()[0] in ("Mary", "Anna", "Jane", "Sarah") else " he"
            found.append(Contrast(text, text.replace(" and ", " without ", 1), " they", other))
    return found


def ids_of(tokenizer, contrasts):
    """Return the ids of the texts of a kind, and of their right next words.

    Returns
    -------
    clean, corrupted : list of list of int
    due, other : list of int
    """
    clean, corrupted = ([tokenizer.encode(pair[side]) for pair in contrasts] for side in (0, 1))
    due, other = ([tokenizer.encode(pair[side])[0] for pair in contrasts] for side in (2, 3))
    return clean, corrupted, due, other
