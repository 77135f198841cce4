"""A small world in English and Spanish, where every translation is known word for word.

A grammar generates the sentences. So the alignment, the antecedent of each pronoun and the
noun that each adjective agrees with are known, and there are as many pairs as a lesson needs,
the same for the same seed. A pair is an `attn.corpus.Pair`.

==========================  ==============================================================
``lexicon.toml``            the words, as data
`entries`, `inflection`     what an entry holds; regular forms
`lexicon`                   the words read, inflected, and found by what they mean
`phrases`                   words that know what they translate; positions, counted at the end
`noun_phrases`, `clauses`   the rules of both languages
`choice`                    by dice, or so that a given sentence comes out
`drawing`, `qualities`      who and what a sentence talks about, so that it makes sense
`sentences`                 simple sentences, one function for each construction
`compound_sentences`        relative clauses, reasons, coordination
`generating`                ``generate`` pairs; ``translate`` a sentence of the grammar
`splits`                    ``splits``: training, tests, and four kinds of unseen sentences
`template_splits`           ``without_neighbours``: training that keeps away from the tests
`documents`                 ``document_pairs``: the examples of the course's documents
==========================  ==============================================================

Every English sentence has one Spanish translation, because another word of the sentence
decides whatever is ambiguous.

>>> pair = translate("the animal did not cross the street because it was too wide")
>>> pair.target
'el animal no cruzó la calle porque era demasiado ancha'
>>> pair.coreferences
(Coreference(pronoun=8, antecedents=(6,), decides=9),)
"""

from attn_course.grammar.documents import document_pairs
from attn_course.grammar.generating import generate, translate
from attn_course.grammar.splits import Splits, parts, splits
from attn_course.grammar.template_splits import TemplateSplits, template, without_neighbours

__all__ = [
    "Splits",
    "TemplateSplits",
    "document_pairs",
    "generate",
    "parts",
    "splits",
    "template",
    "translate",
    "without_neighbours",
]
