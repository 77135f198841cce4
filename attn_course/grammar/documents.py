"""The example sentences of the course's documents, as the grammar says and translates them."""

from attn_course.grammar.generating import translate

SENTENCES = (
    "the sky is blue",  # documents 003 and 004
    "the red house",  # 003
    "the cat chased the mouse",  # 000
    "the cat sat on the mat",  # 000
    "the cat sits on the mat",  # 003
    "the hungry cat ate fish",  # 000
    "the cat that chased the mouse was black",  # 000, in Spanish
    "the cat that was chasing the mouse was black",  # 003, in Spanish
    "the cat that had a brown collar chased the mouse",  # 000, with "which"
    "roses are red and violets are blue",  # 004
    "tom was crying because he was blue",  # 004
    "john and paul wrote several songs when they were inspired",  # 004
    "marta gives roses to sara",  # 001, in Spanish
    "the cat walks in the street",  # 001, in Spanish
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
