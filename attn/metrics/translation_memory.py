"""What a translation must beat: the one that stands beside the most similar sentence seen."""

from collections import Counter, defaultdict

from attn._checks import wrong


def translation_memory(pairs, sources):
    """Translate each sentence by looking up the most similar one among pairs that are known.

    It translates nothing: it shows how far a test set can be answered from the training set. Two
    sentences are as similar as the share of their different words that they have in common.

    Parameters
    ----------
    pairs : sequence of attn.corpus.Pair
        Those that were trained on. Of equally similar ones the first is taken.
    sources : sequence of str
        Words separated by spaces.

    Returns
    -------
    targets : list of str
        The translation that stands beside the most similar source.
    similarity : list of float
        From 0, no word in common, to 1, the same words.

    Raises
    ------
    ValueError
        If there are no pairs.

    References
    ----------
    Jaccard (1912), The Distribution of the Flora in the Alpine Zone, for the measure.

    Examples
    --------
    >>> from attn.corpus import Pair
    >>> known = [Pair("the red house", "la casa roja"), Pair("a cat", "un gato")]
    >>> translation_memory(known, ["the red door", "a cat"])
    (['la casa roja', 'un gato'], [0.5, 1.0])
    """
    if not len(pairs):
        raise wrong("pairs", "at least one pair of sentences", "none")
    words = [set(pair.source.split()) for pair in pairs]
    where = defaultdict(list)
    for number, known in enumerate(words):
        for word in known:
            where[word].append(number)
    targets, similarity = [], []
    for source in sources:
        asked = set(source.split())
        shared = Counter(number for word in asked for number in where.get(word, ()))
        ratio = {n: k / (len(asked) + len(words[n]) - k) for n, k in shared.items()}
        best = min(ratio, key=lambda n: (-ratio[n], n), default=0)
        targets.append(pairs[best].target)
        similarity.append(ratio.get(best, 0.0))
    return targets, similarity
