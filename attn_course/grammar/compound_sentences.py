"""Sentences within sentences: relative clauses, reasons, what follows, what somebody says."""

from attn_course.grammar.choice import Impossible
from attn_course.grammar.clauses import finite, intransitive, main_word, transitive
from attn_course.grammar.drawing import (
    draw_noun,
    draw_object,
    draw_place,
    draw_subject,
)
from attn_course.grammar.lexicon import lexicon
from attn_course.grammar.noun_phrases import combine, object_pronoun, pronoun_for
from attn_course.grammar.phrases import Phrase, decide, unit
from attn_course.grammar.qualities import draw_described, draw_named, draw_quality, in_doubt
from attn_course.grammar.sentences import TIMES, draw_tense, say, takes_object, verbs, with_place


def relative_subject(pick):
    """the cat that chased the mouse was black: el gato que persiguió al ratón era negro"""
    verb = pick.one(verbs(lambda v: not (v.to or v.inverse or v.moment or (v.object and v.where))))
    tense = draw_tense(pick, verb)
    if verb.goes_on and pick.chance(0.2):
        tense = "progressive"
    nouns = [noun for noun in lexicon().nouns_of(verb.subject) if not noun.polyseme]
    who = draw_noun(pick, nouns, {"the"}, plain=True)
    silent = who.silent()
    if verb.object:
        done = transitive(silent, verb, draw_object(pick, verb, who, plain=not verb.new), tense)
    else:
        place = draw_place(pick, verb) if with_place(pick, verb) else None
        done = intransitive(silent, verb, tense, place=place)
    that = "who" if "person" in who.nouns[0].kinds else "that"
    clause = who.extended(unit(that, "que")).extended(done)
    if pick.chance(0.7):
        now = pick.one(TIMES) if tense == "past" else tense.replace("progressive", "past")
        return say(clause, draw_quality(pick, who), now)
    does = verbs(lambda v: takes_object(v) and not v.state and who.nouns[0].kinds & set(v.subject))
    other = pick.one([v for v in does if not v.where and v is not verb])
    return transitive(clause, other, draw_object(pick, other, who, plain=True), "past")


def relative_object(pick):
    """the songs that paul wrote were long: las canciones que paul escribió eran largas"""
    verb = pick.one(
        verbs(lambda v: takes_object(v) and not (v.particle or v.preposition or v.new or v.where))
    )
    nouns = [
        noun
        for noun in lexicon().nouns_of(verb.object)
        if not noun.kinds & {"person", "animal"}
        and not (noun.polyseme or noun.part or noun.mass or noun.of)
    ]
    what = draw_noun(pick, nouns, {"the"}, plain=True)
    who = draw_subject(pick, verb.subject, plain=True)
    done = finite(verb, who, "past")
    decide(main_word(verb, done), verb, what.source_heads[0])
    met = Phrase((), (), combine("object", verb, what.nouns[0]))
    clause = what.extended(unit("that", "que") + who + done + met)
    return say(clause, draw_quality(pick, what), pick.one(TIMES))


def sequel(pick):
    """john bought the house and sold it: john compró la casa y la vendió"""
    lex = lexicon()
    verb = pick.one(verbs(lambda verb: verb.then))
    following = pick.one(
        [v for v in lex.verbs if v.en in verb.then and v.object and not v.polyseme]
    )
    tense = "past" if "past" in (draw_tense(pick, verb), draw_tense(pick, following)) else "present"
    subject = draw_subject(pick, verb.subject)
    nouns = [
        noun
        for noun in lex.nouns_of(verb.object)
        if noun.kinds & set(following.object)
        and not (noun.polyseme or noun.part or noun in subject.nouns)
    ]
    what = draw_noun(pick, nouns, {"the", "a", "this", "two", "three", "several"})
    but = pick.chance(0.25, says="but")
    joint = unit("but", "pero") if but else unit("and", "y")
    done = transitive(subject, verb, what, tense)
    again = finite(following, subject, tense, but, clitic=object_pronoun(what))
    met = Phrase((), (), combine("object", following, what.nouns[0]))
    return done + joint + again + met


def reason(pick):
    """tom was crying because he was blue: tom lloraba porque estaba triste"""
    negated = pick.chance(0.4, says="not")
    verb = pick.one(verbs(lambda verb: verb.why_not if negated else verb.why))
    subject = draw_subject(pick, verb.subject, plain=True)
    adjective = draw_named(pick, verb.why_not if negated else verb.why, subject)
    if verb.object:
        what = draw_object(pick, verb, subject, negated, plain=True)
        if in_doubt(adjective, subject, what):
            raise Impossible
        clause = transitive(subject, verb, what, "past", negated)
    else:
        lasts = verb.goes_on and not negated and pick.chance(0.5)
        place = draw_place(pick, verb) if with_place(pick, verb, 0.3) else None
        tense = "progressive" if lasts else "past"
        clause = intransitive(subject, verb, tense, negated, place=place)
    joint = ("because", "porque")
    if not negated and pick.chance(0.3, says="when"):
        joint = ("when", "cuando")
    degree = draw_degree(pick, adjective, "too" if negated else "very")
    return clause + unit(*joint) + say(pronoun_for(subject), adjective, "past", degree)


def fault(pick):
    """the animal did not cross the street because it was too wide: ... era demasiado ancha"""
    negated = pick.chance(0.6, says="not")
    verb = pick.one(verbs(lambda verb: verb.fault if negated else verb.merit))
    subject = draw_subject(pick, verb.subject, plain=True)
    words = verb.fault if negated else verb.merit
    nouns = [noun for noun in lexicon().nouns_of(verb.object) if not noun.polyseme]
    what = draw_noun(pick, nouns, {"the", "this"}, plain=True)
    adjective = draw_named(pick, words, what)
    if in_doubt(adjective, what, subject):
        raise Impossible
    degree = draw_degree(pick, adjective, "too" if negated else "very")
    clause = transitive(subject, verb, what, "past", negated)
    said = say(pronoun_for(what), adjective, "past", degree)
    return clause + unit("because", "porque") + said


def draw_degree(pick, adjective, word):
    """Draw "very" or "too", where Spanish says it with an adverb."""
    can = not (adjective.predicate or adjective.absolute)
    return word if can and pick.chance(0.4, says=word) else None


def interruption(pick):
    """the boys were playing when tom arrived: los niños jugaban cuando tom llegó"""
    verb = pick.one(verbs(lambda v: v.goes_on and not v.object))
    first = draw_subject(pick, verb.subject, plain=True)
    place = draw_place(pick, verb) if with_place(pick, verb, 0.5) else None
    background = intransitive(first, verb, "progressive", place=place)
    event = pick.one(verbs(lambda verb: verb.moment))
    second = draw_subject(pick, ("person", "adult"), plain=True)
    if set(second.nouns) & set(first.nouns):
        raise Impossible
    return background + unit("when", "cuando") + second + finite(event, second, "past")


def report(pick):
    """marta says that the soup is cold: marta dice que la sopa está fría"""
    lex = lexicon()
    subject = draw_subject(pick, ("person", "adult"), plain=True)
    tense = pick.one(TIMES)
    adjective = pick.one([a for a in lex.adjectives if not a.before])
    what = draw_described(pick, adjective)
    if set(what.nouns) & set(subject.nouns):
        raise Impossible
    said = subject + finite(pick.one(lex.reports), subject, tense) + unit("that", "que")
    return said + say(what, adjective, tense)


def two_clauses(pick):
    """roses are red and violets are blue: las rosas son rojas y las violetas son azules"""
    lex = lexicon()
    adjectives = [a for a in lex.adjectives if not a.before and not a.predicate]
    generic = pick.chance(0.3)
    if generic:
        adjectives = [a for a in adjectives if a.be == "ser"]
        tense, joint = "present", ("and", "y")
    else:
        tense, joint = pick.one(TIMES), pick.one((("and", "y"), ("but", "pero")))
    one = pick.one(adjectives)
    first = draw_described(pick, one, generic)
    alike = [
        a
        for a in adjectives
        if a.be == one.be and a is not one and first.nouns[0].kinds & set(a.nouns)
    ]
    other = pick.one(alike)
    second = draw_described(pick, other, generic)
    shared = first.nouns[0].kinds & second.nouns[0].kinds
    if not shared or first.nouns[0] is second.nouns[0]:
        raise Impossible
    return say(first, one, tense) + unit(*joint) + say(second, other, tense)


def two_actions(pick):
    """tom read a book and his sister slept: tom leyó un libro y su hermana durmió"""
    verb = pick.one(verbs(lambda v: takes_object(v) and not v.where and not v.state))
    other = pick.one(verbs(lambda v: not v.object and not v.state))
    tense = "past" if "past" in (draw_tense(pick, verb), draw_tense(pick, other)) else "present"
    first = draw_subject(pick, verb.subject, plain=True)
    second = draw_subject(pick, other.subject, plain=True)
    if set(second.nouns) & set(first.nouns):
        raise Impossible
    done = transitive(first, verb, draw_object(pick, verb, first), tense)
    place = draw_place(pick, other) if with_place(pick, other) else None
    joint = unit(*pick.one((("and", "y"), ("but", "pero"))))
    return done + joint + intransitive(second, other, tense, place=place)
