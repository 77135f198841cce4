"""The example sentences of the five documents behind the course, in the words of the grammar.

The page "Source map" of the book lists the documents. Sentences that are Spanish there stand here
in English, the language from which the grammar translates.
"""

from attn_course.grammar.generating import translate

SENTENCES = (
    "the sky is blue",
    "the red house",
    "the cat chased the mouse",
    "the cat sat on the mat",
    "the cat sits on the mat",
    "the hungry cat ate fish",
    "the cat that chased the mouse was black",
    "the cat that was chasing the mouse was black",
    "the cat that had a brown collar chased the mouse",
    "roses are red and violets are blue",
    "tom was crying because he was blue",
    "john and paul wrote several songs when they were inspired",
    "marta gives roses to sara",
    "the cat walks in the street",
    # The pronoun whose meaning one adjective decides, as every account of attention has it.
    "the animal did not cross the street because it was too tired",
    "the animal did not cross the street because it was too wide",
)


def document_pairs():
    """Return the sentences of the documents with translations, alignments and annotations.

    Returns
    -------
    list of Pair

    Examples
    --------
    >>> pairs = document_pairs()
    >>> pairs[1].source, pairs[1].target
    ('the red house', 'la casa roja')
    """
    return [translate(sentence) for sentence in SENTENCES]
