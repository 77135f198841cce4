"""Noun phrases: names, nouns with their determiners and adjectives, and pronouns."""

from attn_course.grammar.inflection import PERSONS
from attn_course.grammar.phrases import NounPhrase, Phrase, Word, decide, unit


def name(entry):
    """Return a name, the same in both languages."""
    word = Word(entry.en)
    same = Word(entry.es, sure=(word,))
    return NounPhrase(
        (word,), (same,), frozenset(), (entry,), (word,), (same,), "he", entry.feminine
    )


def noun_phrase(noun, determiner=None, plural=False, adjectives=(), of=None, generic=False):
    """Return a noun with its determiner, its adjectives and what it belongs to.

    Parameters
    ----------
    noun : Noun
    determiner : Determiner, optional
    plural : bool, default False
    adjectives : sequence of Adjective
        In English order.
    of : NounPhrase, optional
        What follows "of".
    generic : bool, default False
        Whether all of its kind are meant: English then has no article, Spanish has.

    Returns
    -------
    NounPhrase
    """
    form = 2 * plural + noun.feminine
    words = unit(noun.english[plural], noun.spanish[plural], noun.links)
    source_head, target_head = words.source[-1], words.target[0]
    combinations = set()

    before, after, english = [], [], []
    for adjective in adjectives:
        word = unit(adjective.en, _adjective_form(adjective, form))
        word.target[0].agrees_with = (target_head,)
        decide(word.source[-1], adjective, source_head)
        english += word.source
        (before if adjective.before else after).append(word)
        combinations |= combine("adjective", adjective, noun)

    # "el agua" is feminine; the article *el* separates the two sounds *a*.
    article = form - 1 if noun.stressed_a and form == 1 and not before else form
    first = Phrase()
    if determiner:
        text = determiner.english[plural]
        follows = [word.text for word in (*english, *words.source)]
        if text == "a" and follows[0][0] in "aeiou":
            text = "an"
        is_article = determiner.en in ("the", "a")
        first = unit(text, determiner.spanish[article if is_article else form])
    elif generic:
        the = ("el", "la", "los", "las")[article]
        first = Phrase((), (Word(the, possible=(source_head,)),))
    for word in first.target:
        word.agrees_with = (target_head,)

    phrase = NounPhrase(
        (*first.source, *english, *words.source),
        (*first.target, *_words(before), *words.target, *_words(after)),
        frozenset(combinations),
        (noun,),
        (source_head,),
        (target_head,),
        "they" if plural else "he",
        noun.feminine,
        determiner is not None and (determiner.owner or determiner.en in ("the", "this")),
    )
    if of is None:
        return phrase
    decide(source_head, noun, of.source_heads[-1])
    met = combine("of", noun, of.nouns[0])
    return phrase.extended(unit("of", "de")).extended(of).extended(Phrase((), (), met))


def together(first, second):
    """Return two noun phrases as one: masculine unless both are feminine."""
    joined = first + unit("and", "y") + second
    return NounPhrase(
        joined.source,
        joined.target,
        joined.combinations,
        first.nouns + second.nouns,
        first.source_heads + second.source_heads,
        first.target_heads + second.target_heads,
        "they",
        first.feminine and second.feminine,
    )


def subject_pronoun(pronoun, tense):
    """Return a pronoun that begins a sentence, and that Spanish leaves out where it can.

    The ending of the verb shows that *I* or *we* is meant, except in the imperfect, where *I*
    and *he* have the same form. In the third person it does not show who is meant.
    """
    word = Word(pronoun)
    if pronoun == "we" or (pronoun == "i" and tense != "imperfect"):
        return NounPhrase((word,), (), person=pronoun, pronoun=word)
    said = Word({"i": "yo", "he": "él", "she": "ella"}[pronoun], sure=(word,))
    return NounPhrase(
        (word,),
        (said,),
        source_heads=(word,),
        target_heads=(said,),
        person="i" if pronoun == "i" else "he",
        feminine=pronoun == "she",
    )


def pronoun_for(antecedent):
    """Return the pronoun that stands for `antecedent` as a subject; Spanish says nothing."""
    if antecedent.plural:
        text = "they"
    elif "person" in antecedent.nouns[0].kinds:
        text = "she" if antecedent.feminine else "he"
    else:
        text = "it"
    word = Word(text)
    return NounPhrase(
        (word,),
        (),
        frozenset(),
        antecedent.nouns,
        antecedent.source_heads,
        antecedent.target_heads,
        antecedent.person,
        antecedent.feminine,
        pronoun=word,
    )


def object_pronoun(antecedent):
    """Return the pronoun that stands for `antecedent` as an object: it, and la."""
    if antecedent.plural:
        text = "them"
    elif "person" in antecedent.nouns[0].kinds:
        text = "her" if antecedent.feminine else "him"
    else:
        text = "it"
    word = Word(text)
    clitic = Word(("lo", "la", "los", "las")[antecedent.form], sure=(word,))
    word.refers_to = (antecedent.source_heads, clitic)
    return Phrase((word,), (clitic,))


def combine(kind, entry, noun):
    """Return the combination of two entries, and that of a polyseme with what decides it."""
    met = {(kind, entry.en, noun.en)}
    if entry.polyseme and kind != "subject":
        met.add(("polyseme", f"{entry.en}: {entry.meaning}", noun.en))
    elif noun.polyseme and not noun.part and kind != "of":
        met.add(("polyseme", f"{noun.en}: {noun.meaning}", entry.en))
    return frozenset(met)


def person_index(phrase):
    """Return the index in `PERSONS` of the person of a noun phrase."""
    return PERSONS.index(phrase.person)


def _adjective_form(adjective, form):
    if form == 0 and adjective.short:
        return adjective.short
    return adjective.spanish[form]


def _words(phrases):
    return tuple(word for phrase in phrases for word in phrase.target)
