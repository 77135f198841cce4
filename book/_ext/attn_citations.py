"""Citations in Spanish: the last two names are joined by "y", or by "e" before the sound i."""

import re
from dataclasses import dataclass, field

from pybtex.plugin import register_plugin as register_with_pybtex
from pybtex.style.formatting.plain import Style as Plain
from pybtex.style.template import names, node, sentence
from sphinxcontrib.bibtex.plugin import register_plugin
from sphinxcontrib.bibtex.style.referencing import PersonStyle
from sphinxcontrib.bibtex.style.referencing.author_year import AuthorYearReferenceStyle


@node
def spanish_names(children, context, role):
    """Return the names of an entry of the bibliography, given names first."""
    last = [" ".join(person.first_names) for person in context["entry"].persons.get(role, ())][-1:]
    joint = " e " if last and re.match(r"I[^aeo]", last[0]) else " y "
    return names(role, sep=", ", sep2=joint, last_sep=joint).format_data(context)


class SpanishPlain(Plain):
    """The style of the Spanish bibliography."""

    def format_names(self, role, as_sentence=True):
        return sentence[spanish_names(role)] if as_sentence else spanish_names(role)


@dataclass
class SpanishAuthorYear(AuthorYearReferenceStyle):
    """The style of citations in the text: "Jain y Wallace [2019]". No two authors need the "e"."""

    person: PersonStyle = field(default_factory=lambda: PersonStyle(sep2=" y ", last_sep=" y "))


def style_of(language):
    """Return the styles of the bibliography and of the citations in the text.

    >>> style_of("en"), style_of("es")
    (('plain', 'author_year'), ('plain_es', 'author_year_es'))
    """
    if language != "es":
        return "plain", "author_year"
    register_with_pybtex("pybtex.style.formatting", "plain_es", SpanishPlain)
    register_plugin("sphinxcontrib.bibtex.style.referencing", "author_year_es", SpanishAuthorYear)
    return "plain_es", "author_year_es"
