"""Adjectives and the subjects that they describe, without ambiguity."""

from attn_course.grammar.drawing import DETERMINERS, draw_generic, draw_noun
from attn_course.grammar.lexicon import lexicon
from attn_course.grammar.noun_phrases import name, pronoun_for, together


def draw_described(pick, adjective, generic=False):
    """Draw a subject of which `adjective` can be said."""
    lex = lexicon()
    nouns = described_nouns(adjective)
    if generic:
        return draw_generic(pick, [noun for noun in nouns if not noun.polyseme])
    names = lex.names_of(adjective.nouns)
    if names and pick.chance(0.35):
        one = pick.one(names)
        if pick.chance(0.8):
            return name(one)
        other = pick.one([other for other in names if other is not one])
        return together(name(one), name(other))
    return draw_noun(pick, nouns, DETERMINERS - {"a"}, plain=True)


def described_nouns(adjective):
    """Return the nouns that `adjective` can describe without ambiguity."""
    nouns = lexicon().nouns_of(adjective.nouns)
    return [noun for noun in nouns if not (noun.polyseme and adjective.polyseme)]


def draw_quality(pick, subject):
    """Draw an adjective that can be said of `subject`."""
    fitting = [
        adjective
        for adjective in lexicon().adjectives
        if not adjective.before
        and (adjective.attribute or adjective.predicate)
        and fits(adjective, subject)
    ]
    return pick.one(fitting)


def draw_named(pick, words, subject):
    """Draw one of the adjectives spelled as `words` that can be said of `subject`."""
    return pick.one([a for a in lexicon().adjectives if a.en in words and fits(a, subject)])


def fits(adjective, subject):
    """Return whether the adjective can be said of each of the nouns, and its meaning is clear."""
    return all(
        noun.kinds & set(adjective.nouns) and not (noun.polyseme and adjective.polyseme)
        for noun in subject.nouns
    )


def in_doubt(adjective, meant, other):
    """Return whether the pronoun for `meant`, with `adjective`, could be about `other` too."""
    if not other.nouns:
        return False
    pronouns = {pronoun_for(phrase).source[0].text for phrase in (meant, other)}
    return len(pronouns) == 1 and fits(adjective, other)
