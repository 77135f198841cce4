"""Problem set 8, `allowed_next`: no n-gram twice, and the ways to get that wrong."""

import numpy as np

from attn.exercises.spec import Exercise, Misconception


def allowed_next(ids, n, vocab_size):
    """Return which tokens would complete no n-gram that the sentence already has."""
    return _filter(ids, n, vocab_size)


def cases(seed):
    """Return sentences begun: with repeated bigrams, other n-grams, and too short for any.

    Parameters
    ----------
    seed : int
        Seed of the random numbers; the patterns are always the same.

    Returns
    -------
    list of dict
        With the keys ``ids``, ``n`` and ``vocab_size``.
    """
    rng = np.random.default_rng(seed)
    patterns = [
        (["abca"], 2, 5), (["aba", "cbb"], 2, 6), (["aa", "ba"], 2, 5), (["abcab", "abaca"], 2, 7),
        (["baacda", "cdcecb", "abcdef"], 2, 8), (["abcdbb", "bacabe"], 2, 9),
        (["abca", "bbdd"], 1, 6), (["abcabdab", "abaxabba"], 3, 9), (["aaaa", "abab"], 3, 5),
        (["abcdeabc", "bcaebbca"], 4, 8), (["abac", "dddd", "cbab"], 1, 7),
        (["a", "b"], 2, 4), (["ab", "bb", "ca"], 4, 6), (["", ""], 2, 5), (["ab", "aa"], 3, 7),
    ]  # fmt: skip
    found = []
    for sentences, n, vocab_size in patterns:
        letters = sorted(set("".join(sentences)))
        code = dict(zip(letters, rng.permutation(vocab_size)[: len(letters)], strict=True))
        ids = np.array([[code[letter] for letter in text] for text in sentences], dtype=int)
        found.append({"ids": ids, "n": np.array(n), "vocab_size": np.array(vocab_size)})
    return found


# The wrong functions.


def _filter(
    ids, n, vocab_size, *, size=0, step=1, first=None, same=list.__eq__, which=-1, end=1,
    zero=False, n_for=None,
):  # fmt: skip
    """Forbid what completes an n-gram, wrong in what is asked for."""
    allowed = np.ones((len(ids), int(vocab_size)), dtype=bool)
    n = int(n) + size
    for row, sentence in zip(allowed, ids.tolist(), strict=True):
        length = len(sentence)
        prefix = sentence[-(n - 1) :] if zero else sentence[length - (n - 1) :]
        grams = [sentence[i : i + n] for i in range(0, length - n + end, step)]
        found = [gram[which] for gram in grams if same(gram[: n - 1], prefix)]
        row[found[:first]] = False
    return allowed


def _wrong(**how):
    return lambda *arguments: _filter(*arguments, **how)


def _last_occurrence(ids, n, vocab_size):
    allowed, n = np.ones((len(ids), int(vocab_size)), dtype=bool), int(n)
    for row, sentence in zip(allowed, ids.tolist(), strict=True):
        follows = {tuple(sentence[i : i + n - 1]): sentence[i + n - 1]
                   for i in range(len(sentence) - n + 1)}  # fmt: skip
        prefix = tuple(sentence[len(sentence) - n + 1 :])
        if prefix in follows:
            row[follows[prefix]] = False
    return allowed


def _seen(ids, n, vocab_size):
    allowed = np.ones((len(ids), int(vocab_size)), dtype=bool)
    np.put_along_axis(allowed, ids, False, axis=1)
    return allowed


def _last_token(ids, n, vocab_size):
    allowed = np.ones((len(ids), int(vocab_size)), dtype=bool)
    np.put_along_axis(allowed, ids[:, -1:], False, axis=1)
    return allowed


def _pooled(ids, n, vocab_size):
    allowed, n = np.ones((len(ids), int(vocab_size)), dtype=bool), int(n)
    grams = [s[i : i + n] for s in ids.tolist() for i in range(len(s) - n + 1)]
    for row, sentence in zip(allowed, ids.tolist(), strict=True):
        prefix = sentence[len(sentence) - n + 1 :]
        row[[gram[-1] for gram in grams if gram[:-1] == prefix]] = False
    return allowed


def _one_for_all(combine):
    def wrong(ids, n, vocab_size):
        allowed = allowed_next(ids, n, vocab_size)
        return np.broadcast_to(combine(allowed), allowed.shape).copy()

    return wrong


def _windows(ids, n, vocab_size):
    np.lib.stride_tricks.sliding_window_view(ids, int(n), axis=1)  # raises on short sentences
    return allowed_next(ids, n, vocab_size)


def _indices(ids, n, vocab_size):
    _ = ids[:, -(int(n) - 1)] if n > 1 else 0
    return allowed_next(ids, n, vocab_size)


def _repeats_somewhere(ids, n, vocab_size):
    """Forbid the last token of every n-gram that stands twice already."""
    allowed, n = np.ones((len(ids), int(vocab_size)), dtype=bool), int(n)
    for row, sentence in zip(allowed, ids.tolist(), strict=True):
        grams = [sentence[i : i + n] for i in range(len(sentence) - n + 1)]
        row[[gram[-1] for gram in grams if grams.count(gram) > 1]] = False
    return allowed


MISCONCEPTIONS = (
    Misconception(
        "inverted",
        (lambda ids, n, vocab_size: ~allowed_next(ids, n, vocab_size),),
        {
            "es": "Tu máscara dice True donde está prohibido. En este curso True significa que "
            "se puede.",
            "en": "Your mask says True where it is forbidden. In this course True means that it "
            "is allowed.",
        },
    ),
    Misconception(
        "every_token_seen",
        (_seen,),
        {
            "es": "Prohíbes todo lo ya escrito, y así nadie puede usar dos veces un artículo. Solo "
            "se prohíbe lo que, puesto detrás de los últimos n − 1 tokens, repite un n-grama.",
            "en": "You forbid everything already written, and then nobody can use an article "
            "twice. Only what would repeat an n-gram, put after the last n − 1 tokens, is "
            "forbidden.",
        },
    ),
    Misconception(
        "last_token",
        (_last_token,),
        {
            "es": "Prohíbes repetir el último token. Eso evita «la la», y no los n-gramas: busca "
            "dónde aparecieron antes los últimos n − 1 y qué los seguía.",
            "en": "You forbid repeating the last token. That prevents “the the”, and not n-grams: "
            "look for where the last n − 1 stood before and what followed them.",
        },
    ),
    Misconception(
        "across_sentences",
        (_pooled,),
        {
            "es": "Juntas los n-gramas de todas las oraciones del lote. Lo que escribe una no debe "
            "prohibir nada a la de al lado.",
            "en": "You pool the n-grams of all the sentences of the batch. What one writes must "
            "forbid nothing to its neighbour.",
        },
    ),
    Misconception(
        "one_mask_for_all",
        (_one_for_all(lambda allowed: allowed[:1]), _one_for_all(lambda a: a.all(axis=0))),
        {
            "es": "Das la misma fila a todas las oraciones. Cada una tiene su historia y su "
            "máscara.",
            "en": "You give all sentences the same row. Each has its own history and its own mask.",
        },
    ),
    Misconception(
        "one_occurrence",
        (_wrong(first=1), _last_occurrence),
        {
            "es": "Los últimos tokens pueden haber aparecido varias veces, seguidos de cosas "
            "distintas, y solo prohíbes una de ellas.",
            "en": "The last tokens may have stood there several times, followed by different "
            "things, and you forbid only one of those.",
        },
    ),
    Misconception(
        "any_order",
        (_wrong(same=lambda gram, prefix: sorted(gram) == sorted(prefix)),),
        {
            "es": "Comparas sin mirar el orden: «a b» no es «b a». Dos listas son iguales si lo "
            "son elemento por elemento.",
            "en": "You compare without looking at the order: “a b” is not “b a”. Two lists are "
            "equal if they are so element by element.",
        },
    ),
    Misconception(
        "wrong_end_of_the_gram",
        (_wrong(which=0),),
        {
            "es": "Prohíbes el primer token del n-grama repetido. El que lo completaría es el "
            "último.",
            "en": "You forbid the first token of the repeated n-gram. The one that would complete "
            "it is the last.",
        },
    ),
    Misconception(
        "wrong_length",
        (_wrong(size=1), _wrong(size=-1)),
        {
            "es": "Comparas un tramo que no mide n − 1. Un n-grama son n − 1 tokens ya escritos "
            "más el que se va a elegir.",
            "en": "You compare a stretch that does not measure n − 1. An n-gram is n − 1 tokens "
            "already written plus the one about to be chosen.",
        },
    ),
    Misconception(
        "separate_grams",
        (lambda ids, n, vocab_size: _filter(ids, n, vocab_size, step=int(n)),),
        {
            "es": "Buscas solo en trozos contiguos de n tokens. También hay un n-grama que "
            "empieza en medio de cada trozo: prueba todas las posiciones.",
            "en": "You look only at adjoining pieces of n tokens. An n-gram begins in the middle "
            "of each piece too: try every position.",
        },
    ),
    Misconception(
        "last_gram_lost",
        (_wrong(end=0),),
        {
            "es": "No miras el último n-grama escrito. En una oración de L tokens empiezan "
            "L − n + 1, y después de «a a» el bigrama «a a» ya existe.",
            "en": "You do not look at the last n-gram written. A sentence of L tokens has "
            "L − n + 1 of them, and after “a a” the bigram “a a” already exists.",
        },
    ),
    Misconception(
        "minus_zero",
        (_wrong(zero=True),),
        {
            "es": "Con n = 1, `[-(n - 1):]` es `[-0:]`, que toma toda la oración y no nada. Cuenta "
            "desde delante: `[length - n + 1:]`.",
            "en": "At n = 1, `[-(n - 1):]` is `[-0:]`, which takes the whole sentence instead of "
            "nothing. Count from the front: `[length - n + 1:]`.",
        },
    ),
    Misconception(
        "already_repeated",
        (_repeats_somewhere,),
        {
            "es": "Miras qué se repitió ya, y se trata de lo que está por repetirse: el n-grama "
            "que formarían los últimos n − 1 tokens con el siguiente.",
            "en": "You look at what was repeated already, and the matter is what is about to be: "
            "the n-gram that the last n − 1 tokens would make with the next.",
        },
    ),
    Misconception(
        "short_sentences",
        (_windows, _indices),
        {
            "es": "Fallas con oraciones de menos de n tokens, incluso vacías. Todavía no tienen "
            "ningún n-grama: todo está permitido.",
            "en": "You fail on sentences of fewer than n tokens, even empty ones. They have no "
            "n-gram yet: everything is allowed.",
        },
    ),
)

EXERCISE = Exercise(
    "allowed_next",
    9,
    ("allowed",),
    allowed_next,
    cases,
    MISCONCEPTIONS,
    problem_set="ps8",
)
