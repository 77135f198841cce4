"""Difficult words in free translations, and the accuracy of simple rules.

`attn.applications.translation.facts` gives the decoder the right words before each predicted one,
which may reveal the next: *estaba* announces *triste*, and a feminine article a feminine adjective.
Here the translator decodes freely, and a word is right if the translation contains it.
"""

from collections import Counter, defaultdict

from attn.applications.translation import Translator

# The longest source; it may exceed the limit of the translator.
LONGEST = 64


def written(translator, sources):
    """Return translations, also of sentences that exceed the translator's limit."""
    patient = Translator(translator.model, translator.source, translator.target, LONGEST)
    return patient.translate(sources)


def says(translation, words):
    """Return whether a translation has these words in this order, others between them or not.

    Examples
    --------
    >>> says("tom no tenía mucho frío", ["tenía", "frío"]), says("tom estaba frío", ["tenía", "frío"])
    (True, False)
    """
    rest = iter(translation.split())
    return all(word in rest for word in words)


def meanings(translator, pairs):
    """Return for each word of several meanings whether its right translation is written.

    Returns
    -------
    list of bool
        In the order of the pairs; every word that stands for it in the reference is right.
    """
    some = [pair for pair in pairs if pair.polysemes]
    return [
        says(text, meant(pair, known))
        for pair, text in zip(some, written(translator, [p.source for p in some]), strict=True)
        for known in pair.polysemes
    ]


def meant(pair, known):
    """Return the words of the reference that translate a word of several meanings."""
    return [pair.target.split()[j] for i, j in sorted(pair.sure) if i == known.position]


def references(translator, pairs):
    """Return for each word whose form a pronoun decides whether it is written in that form."""
    some = [pair for pair in pairs if pair.coreferences]
    texts = written(translator, [pair.source for pair in some])
    return [
        says(text, [pair.target.split()[known.decides]])
        for pair, text in zip(some, texts, strict=True)
        for known in pair.coreferences
    ]


def commonest_forms(pairs):
    """Return how many words a rule without pronouns gets right, and the number of words.

    For each English word whose form a pronoun decides, the rule gives the form that is most
    frequent in these pairs: for *tired*, *cansado*.
    """
    forms = defaultdict(Counter)
    for pair in pairs:
        source, target = pair.source.split(), pair.target.split()
        for known in pair.coreferences:
            english = tuple(source[i] for i, j in sorted(pair.sure) if j == known.decides)
            forms[english][target[known.decides]] += 1
    return [sum(max(f.values()) for f in forms.values()), sum(f.total() for f in forms.values())]


def commonest_place(pairs):
    """Return how often the best fixed position is the noun that a pronoun stands for.

    The position is counted from the start of the sentence or back from the pronoun, whichever
    is right most often in these pairs.
    """
    places, n = Counter(), 0
    for pair in pairs:
        for known in pair.coreferences:
            n += 1
            for place in known.antecedents:
                places["from the start", place] += 1
                places["back", known.pronoun - place] += 1
    return [max(places.values()), n]
