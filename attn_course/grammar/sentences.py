"""Simple sentences, one function for each construction: from choices to a phrase."""

import functools

from attn_course.grammar.choice import Impossible
from attn_course.grammar.clauses import (
    be,
    decide_noun,
    finite,
    intransitive,
    main_word,
    object_of,
    predicate,
    spanish_tense,
    transitive,
)
from attn_course.grammar.drawing import (
    FEW,
    KNOWN,
    draw_adverb,
    draw_generic,
    draw_noun,
    draw_object,
    draw_place,
    draw_static_place,
    draw_subject,
)
from attn_course.grammar.lexicon import lexicon
from attn_course.grammar.noun_phrases import combine
from attn_course.grammar.phrases import Phrase, Word, unit
from attn_course.grammar.qualities import described_nouns, draw_described

NEGATED, ADVERB, PLACE = 0.15, 0.15, 0.6
TIMES = ("present", "past")
FREQUENCIES = (("always", "siempre"), ("never", "nunca"), ("often", "a menudo", "0-1"))


def verbs(test):
    """Return the verbs that pass a test."""
    return [verb for verb in lexicon().verbs if test(verb)]


def takes_object(verb):
    return bool(verb.object) and not verb.to and not verb.inverse


@functools.cache
def transitive_verbs():
    """Return the verbs that take an object, and how often each is drawn."""
    return {verb: 4 if verb.first else 1 for verb in verbs(takes_object)}


def draw_tense(pick, verb):
    """Draw a tense; "the boys read" could be either, and is always past."""
    if verb.finished or verb.english[0] == verb.english[2]:
        return "past"
    return pick.one(TIMES)


def say(subject, adjective, tense, degree=None, negated=False):
    """Return a sentence that says what something is like."""
    return subject + predicate(subject, adjective, tense, degree, negated)


# what is -----------------------------------------------------------------------------------


def thing(pick):
    """the red house: la casa roja"""
    adjective = pick.one([a for a in lexicon().adjectives if a.attribute])
    noun = pick.one([noun for noun in described_nouns(adjective) if not noun.polyseme])
    return draw_noun(pick, [noun], adjective=adjective)


def quality(pick):
    """the sky is blue: el cielo es azul"""
    adjective = pick.one([a for a in lexicon().adjectives if not a.before])
    lasting = adjective.be == "ser" and not adjective.predicate
    if lasting and pick.chance(0.1):
        return say(draw_described(pick, adjective, generic=True), adjective, "present")
    subject = draw_described(pick, adjective)
    negated = pick.chance(NEGATED, says="not")
    degree = None
    if (
        not adjective.predicate
        and not adjective.absolute
        and not negated
        and pick.chance(0.2, says="very")
    ):
        degree = "very"
    return say(subject, adjective, pick.one(TIMES), degree, negated)


def comparison(pick):
    """the tower is bigger than the church: la torre es más grande que la iglesia"""
    lex = lexicon()
    adjective = pick.one([a for a in lex.adjectives if a.more])
    nouns = [n for n in lex.nouns_of([pick.one(adjective.compare)]) if not n.polyseme]
    first = draw_noun(pick, nouns, KNOWN, plain=True)
    others = [noun for noun in nouns if noun.es != first.nouns[0].es]
    second = draw_noun(pick, others, KNOWN, may_be_plural=False, plain=True)
    links = "0-0 1-1" if " " in adjective.more else "0-1"
    more = unit(adjective.more, f"más {adjective.spanish[first.form]}", links)
    more.target[-1].agrees_with = first.target_heads
    met = Phrase((), (), combine("adjective", adjective, first.nouns[0]))
    copula = be(first, pick.one(TIMES), "ser")
    return first + copula + more + unit("than", "que") + second + met


def location(pick):
    """the cat is under the table: el gato está debajo de la mesa"""
    kind = pick.one(tuple(lexicon().static))
    subject = draw_subject(pick, (kind,), plain=True)
    if any(noun.polyseme and not noun.part for noun in subject.nouns):
        # The meaning would stay ambiguous, because anything can be somewhere.
        raise Impossible
    copula = be(subject, pick.one(TIMES), "estar", pick.chance(NEGATED, says="not"))
    return subject + copula + draw_static_place(pick, kind, subject)


def existence(pick):
    """there are three apples on the table: hay tres manzanas en la mesa"""
    kind = pick.one(tuple(lexicon().static))
    kinds = (kind, "fruit") if kind == "thing" else (kind,)
    nouns = [n for n in lexicon().nouns_of(kinds) if n.english[1] and not n.polyseme]
    what = draw_noun(pick, nouns, FEW)
    english, spanish = pick.one(
        (("are", "hay"), ("were", "había")) if what.plural else (("is", "hay"), ("was", "había"))
    )
    there, is_ = Word("there"), Word(english)
    start = Phrase((there, is_), (Word(spanish, sure=(is_,), possible=(there,)),))
    return start + what + draw_static_place(pick, kind, what)


# what happens ------------------------------------------------------------------------------


def action(pick):
    """the cat chased the mouse: el gato persiguió al ratón"""
    verb = pick.weighted(transitive_verbs())
    tense = draw_tense(pick, verb)
    subject = draw_subject(pick, verb.subject, spanish_tense(verb, tense), first=verb.first)
    if verb.english[0] == verb.english[2] and subject.person == "he" and pick.chance(0.4):
        tense = "present"
    negated = not verb.new and pick.chance(NEGATED, says="not")
    clause = transitive(subject, verb, draw_object(pick, verb, subject, negated), tense, negated)
    if verb.where:
        return clause + draw_place(pick, verb)
    if not verb.state and not negated and pick.chance(ADVERB):
        return clause + draw_adverb(pick, tense)
    return clause


def activity(pick):
    """the cat sat on the mat: el gato se sentó en la alfombra"""
    verb = pick.one(verbs(lambda verb: not verb.object))
    tense = draw_tense(pick, verb)
    subject = draw_subject(pick, verb.subject, spanish_tense(verb, tense), first=verb.first)
    negated, before = pick.chance(NEGATED, says="not"), None
    if tense == "present" and not negated and pick.chance(0.25):
        before = unit(*pick.one(FREQUENCIES))
    place = draw_place(pick, verb) if with_place(pick, verb) else None
    clause = intransitive(subject, verb, tense, negated, before, place)
    if not before and not verb.state and not negated and pick.chance(ADVERB):
        return clause + draw_adverb(pick, tense)
    return clause


def with_place(pick, verb, probability=PLACE):
    """Draw whether to say where; what lives, lives somewhere, and a polyseme needs it."""
    return bool(verb.where) and (verb.polyseme or verb.state or pick.chance(probability))


def gift(pick):
    """marta gives roses to sara, marta gives sara roses: marta da rosas a sara"""
    verb = pick.one(verbs(lambda verb: verb.to))
    tense = draw_tense(pick, verb)
    subject = draw_subject(pick, verb.subject)
    what = draw_object(pick, verb, subject, plain=True)
    who = draw_object(pick, verb, subject, kinds=verb.to, plain=True)
    done = finite(verb, subject, tense)
    given = object_of(verb, main_word(verb, done), what)
    if pick.chance(0.7, says="to"):
        return subject + done + given + unit("to", "a") + who
    a = Word("a", possible=who.source_heads)
    swapped = Phrase((*who.source, *given.source), (*given.target, a, *who.target))
    return subject + done + swapped + Phrase((), (), given.combinations)


def liking(pick):
    """marta likes apples: a marta le gustan las manzanas"""
    verb = pick.one(verbs(lambda verb: verb.inverse))
    who = draw_subject(pick, verb.subject, plain=True)
    nouns = [n for n in lexicon().nouns_of(verb.object) if not n.polyseme and not n.part]
    if pick.chance(0.4):
        what = draw_generic(pick, nouns)
    else:
        what = draw_noun(pick, [n for n in nouns if "game" not in n.kinds], KNOWN)
    tense, negated = pick.one(TIMES), pick.chance(NEGATED, says="not")
    english = finite(verb, who, tense, negated)
    likes = main_word(verb, english)
    pleases = finite(verb, what, tense).target[-1]
    pleases.sure = (likes,)
    pleases.possible = tuple(w for w in english.source if w.text in ("do", "does", "did"))
    a = Word("a", possible=(who.source_heads[0],))
    le = Word("les" if who.plural else "le", possible=(likes,), agrees_with=who.target_heads)
    source = (*who.source, *english.source, *what.source)
    target = (a, *who.target, *english.target[:-1], le, pleases, *what.target)
    met = combine("object", verb, what.nouns[0])
    return Phrase(source, target, who.combinations | what.combinations | met)


def wish(pick):
    """marta wants to buy a house: marta quiere comprar una casa"""
    verb = pick.one(verbs(lambda verb: verb.wish))
    modal, que = pick.one((("want", None), ("have", "que")))
    modal = next(verb for verb in lexicon().verbs if verb.en == modal)
    subject = draw_subject(pick, ("person", "adult"), first=True)
    to, base = Word("to"), Word(verb.english[0])
    done = Word(verb.infinitive, sure=(base,))
    if que:
        que = Word(que, sure=(to,))
    else:
        done.possible = (to,)
    start = subject + finite(modal, subject, "present")
    start += Phrase((to, base), (que, done) if que else (done,))
    if verb.particle:
        start += unit(verb.particle, verb.preposition)
    if verb.object:
        return start + object_of(verb, base, draw_object(pick, verb, subject, plain=True))
    place = draw_place(pick, verb)
    decide_noun(place, verb, base)
    return start + place
