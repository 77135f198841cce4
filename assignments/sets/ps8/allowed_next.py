"""Problem set 8, `allowed_next`: no n-gram twice, and the ways to get that wrong."""

import numpy as np

from attn_course.exercises.spec import Exercise


def allowed_next(ids, n, vocab_size):
    """Return which tokens would complete no n-gram that the sentence already has."""
    return _filter(ids, n, vocab_size)


def cases(seed):
    """Return sentences begun: with repeated bigrams, other n-grams, and too short for any.

    Parameters
    ----------
    seed : int
        Seed of the random numbers, and of the sizes of some inputs.

    Returns
    -------
    list of dict
        With the keys ``ids``, ``n`` and ``vocab_size``.
    """
    rng = np.random.default_rng(seed)
    patterns = [
        (["abca"], 2, 5),
        (["aba", "cbb"], 2, 6),
        (["aa", "ba"], 2, 5),
        (["abcab", "abaca"], 2, 7),
        (["baacda", "cdcecb", "abcdef"], 2, 8),
        (["abcdbb", "bacabe"], 2, 9),
        (["abca", "bbdd"], 1, 6),
        (["abcabdab", "abaxabba"], 3, 9),
        (["aaaa", "abab"], 3, 5),
        (["abcdeabc", "bcaebbca"], 4, 8),
        (["abac", "dddd", "cbab"], 1, 7),
        (["a", "b"], 2, 4),
        (["ab", "bb", "ca"], 4, 6),
        (["", ""], 2, 5),
        (["ab", "aa"], 3, 7),
    ]

    def drawn(n, letters, lengths, n_rows):
        """Return sentences drawn from a few letters, in each of which something is forbidden."""
        while True:
            ids = rng.integers(letters, size=(n_rows, rng.integers(*lengths)))
            if not allowed_next(ids, n, letters).all(axis=1).any():
                return ["".join("abcdef"[i] for i in row) for row in ids], n, letters + 3

    patterns += [drawn(2, 4, (6, 13), rng.integers(2, 5)) for _ in range(2)]
    patterns += [drawn(1, 6, (3, 7), 2), drawn(3, 3, (9, 15), 3)]
    found = []
    for sentences, n, vocab_size in patterns:
        sentences = rng.permutation(sentences)
        letters = sorted(set("".join(sentences)))
        code = dict(zip(letters, rng.permutation(vocab_size)[: len(letters)], strict=True))
        ids = np.array([[code[letter] for letter in text] for text in sentences], dtype=int)
        found.append({"ids": ids, "n": np.array(n), "vocab_size": np.array(vocab_size)})
    # Ids that read alike when their digits are joined: 1 and 23, 12 and 3.
    a, b, c, d = rng.permutation(np.arange(1, 10))[:4]
    ac, cb, dc = 10 * a + c, 10 * c + b, 10 * d + c
    digits = np.array([[a, cb, d, ac, b], [ac, b, d, c, b], [a, b, dc, a, b]])
    return [*found, {"ids": digits, "n": np.array(3), "vocab_size": np.array(100)}]


def _filter(
    ids,
    n,
    vocab_size,
    *,
    size=0,
    step=1,
    first=None,
    same=list.__eq__,
    which=-1,
    end=1,
    zero=False,
    n_for=None,
):
    """Forbid what completes an n-gram, with the given parts replaced."""
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
        follows = {
            tuple(sentence[i : i + n - 1]): sentence[i + n - 1]
            for i in range(len(sentence) - n + 1)
        }
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


MISTAKES = {
    "inverted": (lambda ids, n, vocab_size: ~allowed_next(ids, n, vocab_size),),
    "every_token_seen": (_seen,),
    "last_token": (_last_token,),
    "across_sentences": (_pooled,),
    "one_mask_for_all": (
        _one_for_all(lambda allowed: allowed[:1]),
        _one_for_all(lambda a: a.all(axis=0)),
    ),
    "one_occurrence": (_wrong(first=1), _last_occurrence),
    "any_order": (_wrong(same=lambda gram, prefix: sorted(gram) == sorted(prefix)),),
    "wrong_end_of_the_gram": (_wrong(which=0),),
    "wrong_length": (_wrong(size=1), _wrong(size=-1)),
    "separate_grams": (lambda ids, n, vocab_size: _filter(ids, n, vocab_size, step=int(n)),),
    "last_gram_lost": (_wrong(end=0),),
    "minus_zero": (_wrong(zero=True),),
    "already_repeated": (_repeats_somewhere,),
    "short_sentences": (_windows, _indices),
}

EXERCISE = Exercise.from_file(__file__, ("allowed",), allowed_next, cases, MISTAKES)
