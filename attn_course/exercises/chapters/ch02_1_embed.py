"""Chapter 2, `embed`: from words to rows of a table, and the ways to get it wrong."""

import numpy as np

from attn_course.exercises.spec import Exercise

PAD, UNK = "<pad>", "<unk>"
WORDS = ("roses", "are", "red", "and", "violets", "blue", "sky", "the")


def embed(tokens, vocabulary, table):
    """Return the row of `table` of each token: that of `<unk>` if unknown, zeros for `<pad>`."""
    ids = look_up(tokens, vocabulary)
    return np.where((tokens == PAD)[..., None], 0, table[ids])


def cases(seed):
    """Return inputs for `embed`: sentences and batches, unknown words, padding.

    Parameters
    ----------
    seed : int
        Seed of the random numbers and of the order of the vocabulary.

    Returns
    -------
    list of dict
        With the keys ``tokens`` and ``vocabulary``, of strings, and ``table``.
    """
    rng = np.random.default_rng(seed)

    def case(sentences, d_model):
        # The order is not alphabetical, as a binary search would need.
        words = rng.permutation(WORDS)
        while list(words) == sorted(words):
            words = rng.permutation(WORDS)
        vocabulary = np.array([PAD, UNK, *words])
        table = rng.uniform(-0.85, 0.85, (len(vocabulary), d_model))
        return {"tokens": np.array(sentences), "vocabulary": vocabulary, "table": table}

    roses = ["roses", "are", "red", "and", "violets", "are", "blue"]
    return [
        case(["the", "sky", "the"], 2),
        case(roses, 3),
        case(["the", "sea", "are"], 4),
        case(["red", "sky", PAD, PAD], 5),
        case([["the", "sky"], ["blue", "roses"], ["and", "red"]], 4),
        case([["the", "green", "sky", "are", "red"], ["blue", "roses", PAD, PAD, PAD]], 6),
    ]


def look_up(tokens, vocabulary, unknown=1):
    """Return the id of each token, and `unknown` for one that is not in the vocabulary."""
    ids = {word: i for i, word in enumerate(vocabulary.tolist())}
    found = [ids.get(token, unknown) for token in tokens.ravel().tolist()]
    return np.array(found, dtype=int).reshape(tokens.shape)


def zero_padding(tokens, vectors):
    """Set the vectors of `<pad>` to zero."""
    return np.where((tokens == PAD)[..., None], 0, vectors)


def strict(tokens, vocabulary, table):
    ids = {word: i for i, word in enumerate(vocabulary.tolist())}
    found = [ids[token] for token in tokens.ravel().tolist()]
    return zero_padding(tokens, table[np.reshape(found, tokens.shape)])


def skipping(tokens, vocabulary, table):
    known = [token for token in tokens.ravel().tolist() if token in vocabulary.tolist()]
    kept = np.array(known)
    kept = kept.reshape(tokens.shape) if kept.size == tokens.size else kept
    return embed(kept, vocabulary, table)


def without_padding(tokens, vocabulary, table):
    kept = tokens[tokens != PAD]
    kept = kept.reshape(tokens.shape) if kept.size == tokens.size else kept
    return embed(kept, vocabulary, table)


def own_vocabulary(tokens, vocabulary, table):
    seen = {word: i for i, word in enumerate(dict.fromkeys(tokens.ravel().tolist()))}
    ids = np.reshape([seen[token] for token in tokens.ravel().tolist()], tokens.shape)
    return zero_padding(tokens, table[ids])


def alphabetical(tokens, vocabulary, table):
    return embed(tokens, np.sort(vocabulary), table)


def binary_search(tokens, vocabulary, table):
    ids = np.searchsorted(vocabulary, tokens).clip(max=len(vocabulary) - 1)
    return zero_padding(tokens, table[ids])


def binary_search_unclipped(tokens, vocabulary, table):
    ids = np.searchsorted(vocabulary, tokens)
    return zero_padding(tokens, table[np.where(ids < len(vocabulary), ids, 1)])


def binary_search_checked(tokens, vocabulary, table):
    ids = np.searchsorted(vocabulary, tokens).clip(max=len(vocabulary) - 1)
    return zero_padding(tokens, table[np.where(vocabulary[ids] == tokens, ids, 1)])


def from_one(tokens, vocabulary, table):
    ids = look_up(tokens, vocabulary) + 1
    return zero_padding(tokens, table[ids.clip(max=len(table) - 1)])


def from_one_strict(tokens, vocabulary, table):
    return zero_padding(tokens, table[look_up(tokens, vocabulary) + 1])


def one_hot(tokens, vocabulary, table):
    return zero_padding(tokens, np.eye(len(vocabulary))[look_up(tokens, vocabulary)])


def positions(tokens, vocabulary, table):
    places = np.broadcast_to(np.arange(tokens.shape[-1]), tokens.shape)
    return zero_padding(tokens, table[places])


def transposed(tokens, vocabulary, table):
    return table.T[:, look_up(tokens, vocabulary)]


def one_sentence(tokens, vocabulary, table):
    ids = {word: i for i, word in enumerate(vocabulary.tolist())}
    rows = [table[ids.get(token, 1)] * (token != PAD) for token in tokens.tolist()]
    return np.array(rows)


def sentence_in_a_loop(tokens, vocabulary, table):
    words = vocabulary.tolist()
    vectors = np.zeros((len(tokens), table.shape[1]))
    for i, token in enumerate(tokens):
        if token != PAD:
            vectors[i] = table[words.index(token) if token in words else 1]
    return vectors


def unit_length(tokens, vocabulary, table):
    rows = table / np.linalg.norm(table, axis=-1, keepdims=True)
    return embed(tokens, vocabulary, rows)


MISTAKES = {
    "padding_has_a_vector": (lambda tokens, vocabulary, table: table[look_up(tokens, vocabulary)],),
    "no_unknown": (strict,),
    "unknown_is_padding": (
        lambda tokens, vocabulary, table: zero_padding(
            tokens, table[look_up(tokens, vocabulary, unknown=0)]
        ),
    ),
    "unknown_is_zero": (
        lambda tokens, vocabulary, table: np.where(
            np.isin(tokens, vocabulary[1:])[..., None], embed(tokens, vocabulary, table), 0
        ),
    ),
    "unknown_is_last": (
        lambda tokens, vocabulary, table: zero_padding(
            tokens, table[look_up(tokens, vocabulary, unknown=-1)]
        ),
    ),
    "unknown_is_the_mean": (
        lambda tokens, vocabulary, table: np.where(
            (np.isin(tokens, vocabulary))[..., None],
            embed(tokens, vocabulary, table),
            table.mean(axis=0),
        ),
    ),
    "unknown_is_dropped": (skipping,),
    "padding_is_dropped": (without_padding,),
    "own_vocabulary": (own_vocabulary,),
    "alphabetical": (
        alphabetical,
        binary_search,
        binary_search_unclipped,
        binary_search_checked,
    ),
    "off_by_one": (
        lambda tokens, vocabulary, table: zero_padding(
            tokens, table[look_up(tokens, vocabulary) - 1]
        ),
        from_one,
        from_one_strict,
    ),
    "one_hot": (one_hot,),
    "positions": (positions,),
    "transposed": (transposed,),
    "sum_of_words": (
        lambda tokens, vocabulary, table: embed(tokens, vocabulary, table).sum(axis=-2),
        lambda tokens, vocabulary, table: embed(tokens, vocabulary, table).mean(axis=-2),
    ),
    "one_sentence": (one_sentence, sentence_in_a_loop),
    "rescaled": (
        unit_length,
        lambda tokens, vocabulary, table: (
            embed(tokens, vocabulary, table) * np.sqrt(table.shape[1])
        ),
    ),
    "ids_returned": (lambda tokens, vocabulary, table: look_up(tokens, vocabulary),),
}

EXERCISE = Exercise.from_file(__file__, ("vectors",), embed, cases, MISTAKES)
