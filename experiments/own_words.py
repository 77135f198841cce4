"""Difficult words in a translation that the translator wrote by itself, and what rules get.

`attn.applications.translation.facts` gives the decoder the right words before each one, which may
betray what comes next: *estaba* announces *triste*, and a feminine article a feminine adjective.
Here nothing is given, and a word is right if the translation holds it.
"""

from collections import Counter, defaultdict

from attn.applications.translation import Translator

LONGEST = 64  # tokens of a source that is asked for all the same


def written(translator, sources):
    """Return translations, also of sentences longer than the translator accepts by itself."""
    patient = Translator(translator.model, translator.source, translator.target, LONGEST)
    return patient.translate(sources)


def says(translation, words):
    """Tell whether a translation holds these words in this order, with others between them or not.

    Examples
    --------
    >>> says("tom no tenía mucho frío", ["tenía", "frío"]), says("tom estaba frío", ["tenía", "frío"])
    (True, False)
    """
    rest = iter(translation.split())
    return all(word in rest for word in words)


def meanings(translator, pairs):
    """Tell of each word of several meanings whether its right translation is written.

    Returns
    -------
    list of bool
        In the order of the pairs; right is every word that stands for it in the reference.
    """
    some = [pair for pair in pairs if pair.polysemes]
    return [
        says(text, meant(pair, known))
        for pair, text in zip(some, written(translator, [p.source for p in some]), strict=True)
        for known in pair.polysemes
    ]


def meant(pair, known):
    """Return the words of the reference that stand for a word of several meanings."""
    return [pair.target.split()[j] for i, j in sorted(pair.sure) if i == known.position]


def references(translator, pairs):
    """Tell of each word whose form a pronoun decides whether it is written in that form."""
    some = [pair for pair in pairs if pair.coreferences]
    texts = written(translator, [pair.source for pair in some])
    return [
        says(text, [pair.target.split()[known.decides]])
        for pair, text in zip(some, texts, strict=True)
        for known in pair.coreferences
    ]


def commonest_forms(pairs):
    """Return how many words a rule gets right that knows no pronouns, and of how many.

    For each English word it says the form that is the most frequent in these very pairs, among the
    words whose form a pronoun decides: for *tired*, *cansado*.
    """
    forms = defaultdict(Counter)
    for pair in pairs:
        source, target = pair.source.split(), pair.target.split()
        for known in pair.coreferences:
            english = tuple(source[i] for i, j in sorted(pair.sure) if j == known.decides)
            forms[english][target[known.decides]] += 1
    return [sum(max(f.values()) for f in forms.values()), sum(f.total() for f in forms.values())]


def commonest_place(pairs):
    """Return how often a head would look at what a pronoun stands for that always looks alike.

    It always looks at the same place of the sentence, or always as many words back from the
    pronoun: at whichever is right the most often in these very pairs.
    """
    places, n = Counter(), 0
    for pair in pairs:
        for known in pair.coreferences:
            n += 1
            for place in known.antecedents:
                places["from the start", place] += 1
                places["back", known.pronoun - place] += 1
    return [max(places.values()), n]
