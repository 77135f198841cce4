"""Draws the subjects, objects and places of a sentence so that it makes sense."""

from dataclasses import replace

from attn_course.grammar.lexicon import lexicon
from attn_course.grammar.noun_phrases import name, noun_phrase, subject_pronoun, together
from attn_course.grammar.phrases import refer, unit

ADJECTIVE, SECOND_ADJECTIVE, OF, PLURAL = 0.2, 0.15, 0.08, 0.4

# Determiners, grouped by what the hearer knows.
OWNED = {"my", "our", "his", "her", "their"}
KNOWN = {"the", "this", "my", "our"}
FEW = {"a", "two", "three", "several", "many"}
DETERMINERS = KNOWN | OWNED | FEW


def draw_noun(pick, nouns, determiners=None, may_be_plural=True, plain=False, adjective=None):
    """Draw a noun phrase with one of `nouns` as its head.

    Parameters
    ----------
    pick : Dice or Search
    nouns : sequence of Noun
    determiners : set of str, optional
        The only determiners allowed.
    may_be_plural : bool, default True
    plain : bool, default False
        Without adjectives, and without "of", unless the noun is part of something.
    adjective : Adjective, optional
        The one it has.
    """
    noun = pick.one(nouns)
    several = noun.english[1] is not None
    plural = may_be_plural and several and pick.chance(PLURAL)
    of = None
    if noun.part or (noun.of and not plain and pick.chance(OF, says="of")):
        of = draw_owner(pick, noun)
    adjectives = [] if plain else draw_adjectives(pick, noun, adjective)
    allowed = set(DETERMINERS) if determiners is None else set(determiners)
    if of and not of.nouns[0].mass:
        allowed &= {"the"}
    elif "kin" in noun.kinds:
        allowed &= OWNED
    elif not several and not noun.mass:
        allowed &= {"the"}
    determiner = draw_determiner(pick, noun, plural, allowed)
    return noun_phrase(noun, determiner, plural, adjectives, of)


def draw_owner(pick, noun):
    """Draw the owner that follows "of": a name, "the table", or a substance without article."""
    lex = lexicon()
    kinds = set(noun.of)
    if not noun.part and lex.names_of(kinds) and pick.chance(0.5):
        return name(pick.one(lex.names))
    owners = lex.nouns_of(kinds)
    owner = pick.one([o for o in owners if not o.polyseme and "kin" not in o.kinds])
    if owner.mass:
        return noun_phrase(owner)
    the = draw_determiner(pick, owner, False, {"the"})
    return noun_phrase(owner, the)


def draw_adjectives(pick, noun, first=None):
    """Draw no adjective, one, or two of which one comes first in Spanish too."""
    options = lexicon().adjectives_of(noun)
    if first is None:
        if not pick.chance(ADJECTIVE):
            return []
        first = pick.one(options)
    if not first.before or not pick.chance(SECOND_ADJECTIVE):
        return [first]
    return [first, pick.one([other for other in options if not other.before])]


def draw_determiner(pick, noun, plural, allowed):
    """Draw one of the `allowed` determiners that has a form for the noun."""
    form = 2 * plural + noun.feminine
    weights = {
        determiner: determiner.weight
        for determiner in lexicon().determiners
        if determiner.en in allowed
        and determiner.spanish[form]
        and not (noun.mass and determiner.en == "a")
        and not (determiner.owner and not noun.kinds & lexicon().ownable)
    }
    return pick.weighted(weights)


def draw_subject(pick, kinds, tense="present", first=False, plain=False):
    """Draw the subject of a sentence: a name, two names, a pronoun or a noun.

    Parameters
    ----------
    pick : Dice or Search
    kinds : sequence of str
        What the subject may be.
    tense : str
        The Spanish tense of the verb; it tells whether I can be left out.
    first : bool, default False
        Whether I and we are allowed.
    plain : bool, default False
        Without pronouns and adjectives.
    """
    lex = lexicon()
    names = lex.names_of(kinds)
    options = {"noun": 50}
    if names:
        options |= {"name": 26, "names": 5}
        if not plain:
            options |= {"he": 4, "she": 4} | ({"i": 9, "we": 9} if first else {})
    choice = pick.weighted(options)
    if choice == "name":
        return name(pick.one(names))
    if choice == "names":
        one = pick.one(names)
        other = pick.one([other for other in names if other is not one])
        return together(name(one), name(other))
    if choice != "noun":
        return subject_pronoun(choice, tense)
    return draw_noun(pick, lex.nouns_of(kinds), plain=plain)


def draw_generic(pick, nouns):
    """Draw a noun without article that means all of its kind: "roses", "milk"."""
    noun = pick.one([n for n in nouns if (n.mass or n.english[1]) and not n.part])
    return noun_phrase(noun, plural=not noun.mass, generic=True)


def draw_object(pick, verb, subject, negated=False, kinds=None, plain=False):
    """Draw the object of a verb.

    Parameters
    ----------
    pick : Dice or Search
    verb : Verb
    subject : NounPhrase
        Whose possessive the object may have: "the king lost his ring".
    negated : bool, default False
        Whether the verb is; several things are then not talked about.
    kinds : sequence of str, optional
        What the object may be, if not all that the verb allows.
    plain : bool, default False
        Without adjectives.
    """
    lex = lexicon()
    kinds = kinds or verb.object
    names = [entry for entry in lex.names_of(kinds) if entry not in subject.nouns]
    if names and pick.chance(0.4):
        return name(pick.one(names))
    nouns = [
        noun
        for noun in lex.nouns_of(kinds)
        if noun not in subject.nouns and not (noun.polyseme and verb.polyseme)
    ]
    noun = pick.one(nouns)
    if "game" in noun.kinds:
        return draw_generic(pick, [noun])
    if _can_be_bare(verb, noun) and pick.chance(0.6 if noun.mass else 0.25):
        adjectives = [] if plain else draw_adjectives(pick, noun)
        return noun_phrase(noun, plural=not noun.mass, adjectives=adjectives)
    allowed = KNOWN if verb.known or negated else FEW if verb.new else KNOWN | FEW
    if verb.single:
        allowed = {"a"}
    can_own = _is_person(subject) and not (verb.new or verb.impersonal or noun.part)
    own = can_own and pick.chance(0.12)
    if own:
        allowed = {possessive_of(subject)}
    phrase = draw_noun(pick, [noun], allowed, plain=plain)
    if own and subject.nouns:
        refer(phrase.source[0], subject, phrase.target[0])
    return phrase


def possessive_of(owner):
    """Return the possessive of an owner: his, her, their."""
    if owner.person in ("i", "we"):
        return {"i": "my", "we": "our"}[owner.person]
    if owner.plural:
        return "their"
    return "her" if owner.feminine else "his"


def draw_place(pick, verb):
    """Draw where something happens: "in the kitchen", "next to the river"."""
    lex = lexicon()
    place = pick.one([place for place in lex.places if verb.anywhere or place.inside])
    kinds = verb.where if place.inside else place.nouns
    nouns = [
        noun
        for noun in lex.nouns_of(kinds)
        if noun.kinds & set(place.nouns)
        and not (noun.polyseme and (verb.polyseme or not place.inside))
    ]
    return place_phrase(pick, place, nouns)


def place_phrase(pick, place, nouns):
    """Return a preposition with one of `nouns`, always a definite one, as a noun phrase."""
    phrase = draw_noun(pick, nouns, KNOWN, may_be_plural=False, plain=True)
    together = unit(place.en, place.es, place.links) + phrase
    return replace(phrase, **vars(together))


def draw_static_place(pick, kind, subject):
    """Draw where something of a kind is: "on the table"."""
    lex = lexicon()
    place = pick.one(lex.places)
    nouns = [
        noun
        for noun in lex.nouns_of(lex.static[kind])
        if noun.kinds & set(place.nouns) and not noun.polyseme and noun not in subject.nouns
    ]
    return place_phrase(pick, place, nouns)


def draw_adverb(pick, tense):
    """Draw when something happens, in words that go with the tense."""
    adverb = pick.one([adverb for adverb in lexicon().adverbs if adverb.tense == tense])
    return unit(adverb.en, adverb.es, adverb.links)


def _is_person(phrase):
    return not phrase.nouns or all("person" in noun.kinds for noun in phrase.nouns)


def _can_be_bare(verb, noun):
    """Return whether both languages leave out the article: "gives roses", "ate fish"."""
    if verb.preposition or verb.state or noun.part or "person" in noun.kinds:
        return False
    return noun.mass or bool(verb.to and noun.english[1])
