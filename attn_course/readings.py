"""Short texts to summarise, to ask about and to translate, each with the right answer.

The programs in section 3.3.4 of *Atención y el auge de los Transformers* read texts about the
climate and about the first computers; these are on the same subjects and on others. They were
written for the course, so no model has read them, although a model may know facts of the
first two subjects from elsewhere.
"""

import tomllib
from pathlib import Path
from typing import NamedTuple

from attn.corpus import read_pairs

_FILE = Path(__file__).with_suffix(".toml")

SUBJECTS = ("climate", "computers", "news")


class Reading(NamedTuple):
    """A passage with its title, summaries, questions and answers.

    Attributes
    ----------
    subject : str
        One of `SUBJECTS`; news are invented.
    sentences : list of str
        Seven.
    matter : list of int
        The three sentences that whoever wrote the passage would keep, counted from 0.
    summary : str
        Written from those three.
    question, answer : str
        The answer stands in the passage.
    """

    subject: str
    sentences: list[str]
    matter: list[int]
    summary: str
    question: str
    answer: str

    @property
    def text(self):
        """The passage as one text."""
        return " ".join(self.sentences)


def readings():
    """Return the fifty passages.

    Returns
    -------
    list of Reading

    Examples
    --------
    >>> first = readings()[0]
    >>> first.question, first.answer
    ('How much would emissions have to fall?', 'about half')
    >>> first.sentences[first.matter[0]]
    'The last ten years were the ten warmest since measurements began.'
    """
    tables = tomllib.loads(_FILE.read_text(encoding="utf-8"))["passage"]
    return [Reading(**table) for table in tables]


def sentences_to_translate():
    """Return fifty English sentences and their Spanish translations by a person.

    Returns
    -------
    list of attn.corpus.Pair

    Examples
    --------
    >>> sentences_to_translate()[2].target
    'El mar sube un poco cada año.'
    """
    return list(read_pairs(_FILE.with_suffix(".tsv")))
