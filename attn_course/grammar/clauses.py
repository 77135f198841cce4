"""Verbs with their subjects and objects: the rules of the clause."""

from attn_course.grammar.lexicon import lexicon
from attn_course.grammar.noun_phrases import combine, person_index
from attn_course.grammar.phrases import Phrase, Word, decide, refer, unit

BE = {"present": ("am", "is", "are", "are"), "past": ("was", "was", "were", "were")}
DEGREES = {"very": "muy", "too": "demasiado"}


def spanish_tense(verb, tense):
    """Return the Spanish tense of an English one: states and what was going on, imperfect."""
    if tense == "present":
        return "present"
    return "imperfect" if verb.state or tense == "progressive" else "past"


def finite(verb, subject, tense, negated=False, clitic=None, before=None):
    """Return the words of a verb in its personal form, without subject and object.

    Parameters
    ----------
    verb : Verb
    subject : NounPhrase
        Decides person and number; its words are not part of the phrase.
    tense : {"present", "past", "progressive"}
    negated : bool, default False
    clitic : Phrase, optional
        An object pronoun: after the English verb, before the Spanish one.
    before : Phrase, optional
        An adverb between subject and verb: "always".
    """
    i = person_index(subject)
    base, third, past, ing = verb.english
    auxiliaries = []
    if tense == "progressive":
        auxiliaries, main = [Word(BE["past"][i])], Word(ing)
    elif negated:
        auxiliaries = [Word("did" if tense == "past" else "does" if i == 1 else "do")]
        main = Word(base)
    else:
        main = Word(past if tense == "past" else third if i == 1 else base)
    negation = unit("not", "no") if negated else Phrase()
    clitic, before = clitic or Phrase(), before or Phrase()
    particle, preposition, reflexive = (), (), ()

    text = verb.conjugation[spanish_tense(verb, tense)][i]
    silent = (subject.pronoun,) if subject.pronoun else ()
    said = Word(text, sure=(main,), possible=(*silent, *auxiliaries))
    said.agrees_with = subject.target_heads
    if verb.reflexive:
        reflexive = (Word(("me", "se", "nos", "se")[i], possible=(main,)),)
    if verb.particle:
        particle = (Word(verb.particle),)
    if verb.preposition:
        preposition = (Word(verb.preposition),)
        if particle:
            preposition[0].sure = particle
        else:
            preposition[0].possible = (main,)
    elif particle:
        said.possible += particle
    source = (*before.source, *auxiliaries, *negation.source, main, *particle, *clitic.source)
    target = (*negation.target, *before.target, *reflexive, *clitic.target, said, *preposition)
    return Phrase(source, target)


def main_word(verb, phrase):
    """Return the English verb itself among the words of `finite`."""
    return next(word for word in phrase.source if word.text in verb.english)


def transitive(subject, verb, object, tense, negated=False):
    """Return a clause with a direct object."""
    done = finite(verb, subject, tense, negated)
    return subject + done + object_of(verb, main_word(verb, done), object)


def intransitive(subject, verb, tense, negated=False, before=None, place=None):
    """Return a clause without an object, with a `place` if one is given.

    Where the verb has several meanings, the place decides; where the place has, the verb.
    """
    done = finite(verb, subject, tense, negated, before=before)
    word = main_word(verb, done)
    decide_noun(subject, verb, word)
    met = {pair for noun in subject.nouns for pair in combine("subject", verb, noun)}
    if place is None:
        return subject + done + Phrase((), (), frozenset(met))
    decide(word, verb, place.source_heads[0])
    decide_noun(place, verb, word)
    met |= combine("place", verb, place.nouns[0])
    return subject + done + place + Phrase((), (), frozenset(met))


def object_of(verb, word, object):
    """Return the object of a verb, whose English word is given, with a personal *a* if due."""
    decide(word, verb, object.source_heads[0])
    decide_noun(object, verb, word)
    met = [combine("object", verb, noun) for noun in object.nouns]
    return personal_a(verb, object) + object + Phrase((), (), frozenset().union(*met))


def decide_noun(phrase, entry, word):
    """Note that `word` decides the meaning of the noun, unless something before it has."""
    if not entry.polyseme and phrase.nouns and not phrase.source_heads[0].meaning:
        decide(phrase.source_heads[0], phrase.nouns[0], word)


def personal_a(verb, object):
    """Return the *a* before people, and before animals that are known, or nothing."""
    noun = object.nouns[0]
    known = noun.name or object.definite
    animate = "person" in noun.kinds or ("animal" in noun.kinds and known)
    if not animate or verb.impersonal or verb.preposition:
        return Phrase()
    return Phrase((), (Word("a", possible=(object.source_heads[0],)),))


def be(subject, tense, spanish, negated=False):
    """Return a form of *be*, as the Spanish copula `spanish`: ser, estar or tener."""
    i = person_index(subject)
    word = Word(BE[tense][i])
    silent = (subject.pronoun,) if subject.pronoun else ()
    text = lexicon().copulas[spanish].conjugation[{"past": "imperfect"}.get(tense, tense)][i]
    copula = Word(text, sure=(word,), possible=silent, agrees_with=subject.target_heads)
    negation = unit("not", "no") if negated else Phrase()
    return Phrase((word, *negation.source), (*negation.target, copula))


def predicate(subject, adjective, tense, degree=None, negated=False):
    """Return the predicate of a subject: *be* with an adjective, or *tener* with a noun."""
    described = Word(adjective.en)
    spanish, noun = adjective.be, None
    if adjective.predicate:
        spanish, _, noun = adjective.predicate.partition(" ")
    copula = be(subject, tense, spanish, negated)
    said = Word(noun or adjective.spanish[subject.form], sure=(described,))
    if not noun:
        said.agrees_with = subject.target_heads
    if subject.source_heads:
        decide(described, adjective, subject.source_heads[-1])
    decide_noun(subject, adjective, described)
    if subject.pronoun:
        refer(subject.pronoun, subject, copula.target[-1] if noun else said)
    much = unit(degree, DEGREES[degree]) if degree else Phrase()
    met = [combine("adjective", adjective, noun) for noun in subject.nouns]
    end = Phrase((described,), (said,), frozenset().union(*met))
    return copula + much + end
