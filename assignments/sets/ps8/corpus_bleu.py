"""Problem set 8, `corpus_bleu`: many sentences, several references, and the ways to err."""

from collections import Counter

import numpy as np

from attn_course.exercises.spec import Exercise

PAD = 0


def corpus_bleu(candidates, references, max_n):
    """Return precisions, brevity penalty and score of a corpus: all is counted, then divided."""
    return _score(candidates, references, max_n)


def cases(seed):
    """Return corpora: one reference for each sentence, several, and orders that share nothing.

    Parameters
    ----------
    seed : int
        Seed of the random numbers, and of the sizes of some inputs.

    Returns
    -------
    list of dict
        With the keys ``candidates``, ``references`` and ``max_n``.
    """
    rng = np.random.default_rng(seed)
    corpora = [
        # candidate / reference / another reference
        (["ab/ac", "abbcd/bcdab", "c/ca"], 1),
        (["abcd/abce", "bcaab/abcab", "aa/abc"], 2),
        (["abcdef/abcde", "abc/abdcef"], 2),
        (["aabcd/abcdab", "bcda/cdabe", "eab/ab"], 3),
        (["abcdab/abcd", "cab/abcab", "bcd/abcd"], 2),
        (["abcab/abcac/bcabd", "acda/bbcda/acd"], 2),
        (["aabb/abcde/a", "bccd/bcd/abccd", "ab/abc/cab"], 1),
        (["abcde/abcdfg/deabc/bcdeab", "bcad/bca/eeeeeee/bcade"], 3),
        (["abcb/cbca/bcd", "dabc/abcd/dab"], 4),
        (["axddd/ybddd/dda", "by/axb/bax"], 2),
        (["abcd/badc", "dba/cdb"], 3),
        (["ab/abc", "c/cd"], 3),
        (["abce/abcd", "/bcd", "da/dab"], 4),
    ]

    def drawn(max_n, n_texts):
        """Return a corpus drawn from a few letters, each line a candidate and its references."""
        return [
            "/".join("".join(rng.choice(list("abcd"), rng.integers(3, 10))) for _ in range(n_texts))
            for _ in range(rng.integers(3, 6))
        ], max_n

    corpora += [drawn(2, 2), drawn(2, 2), drawn(1, 3)]
    found = []
    for number, (sentences, max_n) in enumerate(corpora):
        if number < 9:
            # One line more, as long as its references, in words that all of them share.
            words = "abcd"[: rng.integers(3, 5)]
            line = ["".join(rng.permutation(list(words))) for _ in sentences[0].split("/")]
            sentences = [*sentences, "/".join(line)]
        sentences = rng.permutation(sentences)
        code = dict(zip("abcdefg", rng.permutation(7) + 1, strict=True))
        # Joined, the digits of `ax` and of `yb` are the same.
        code |= {"x": 10 * code["c"] + code["b"], "y": 10 * code["a"] + code["c"]}
        rows = [[[code[c] for c in text] for text in row.split("/")] for row in sentences]
        found.append(
            {
                "candidates": _padded([row[0] for row in rows], (len(rows),)),
                "references": _padded(
                    [text for row in rows for text in row[1:]], (len(rows), len(rows[0]) - 1)
                ),
                "max_n": np.array(max_n),
            }
        )
    return found


def _padded(texts, shape):
    array = np.full((len(texts), max(map(len, texts))), PAD)
    for row, text in zip(array, texts, strict=True):
        row[: len(text)] = text
    return array.reshape(*shape, -1)


def _grams(tokens, n):
    return Counter(tuple(tokens[i : i + n]) for i in range(len(tokens) - n + 1))


def _most(found, there):
    """Count each n-gram as often as it is in the reference that has most of it."""
    most = Counter()
    for reference in there:
        most |= reference
    return (found & most).total()


def _closest(length, others):
    return min(others, key=lambda other: (abs(other - length), other))


def _brevity(length, wanted):
    return np.exp(min(0.0, 1 - wanted / length)) if length else 0.0


def _geometric(precisions):
    return np.exp(np.log(precisions).mean()) if precisions.all() else 0.0


def _score(
    candidates,
    references,
    max_n,
    *,
    shared=_most,
    total=lambda found, there: found.total(),
    length=_closest,
    brevity=_brevity,
    mean=_geometric,
    grams=_grams,
    padded=False,
    smooth=0,
):
    """Score a corpus, with the given parts replaced."""
    pairs = [
        (
            [t for t in row.tolist() if t != PAD or padded],
            [[t for t in other.tolist() if t != PAD or padded] for other in others],
        )
        for row, others in zip(candidates, references, strict=True)
    ]
    precisions = np.zeros(int(max_n))
    for n in range(1, len(precisions) + 1):
        counts = [(grams(row, n), [grams(other, n) for other in others]) for row, others in pairs]
        right = sum(shared(*count) for count in counts) + smooth * (n > 1)
        precisions[n - 1] = right / max(sum(total(*c) for c in counts) + smooth * (n > 1), 1)
    size = sum(len(row) for row, _ in pairs)
    penalty = brevity(size, sum(length(len(row), [*map(len, others)]) for row, others in pairs))
    return precisions, np.float64(penalty), np.float64(penalty * mean(precisions))


def _wrong(**how):
    return lambda *arguments: _score(*arguments, **how)


def _sentences(candidates, references, max_n):
    pairs = zip(candidates, references, strict=True)
    return [_score(c[None], r[None], max_n) for c, r in pairs]


def _mean_of_sentences(candidates, references, max_n):
    return tuple(
        np.mean(part, axis=0)
        for part in zip(*_sentences(candidates, references, max_n), strict=True)
    )


def _mean_of_scores(candidates, references, max_n):
    scores = [score for _, _, score in _sentences(candidates, references, max_n)]
    return *_score(candidates, references, max_n)[:2], np.mean(scores)


def _mean_of_precisions(candidates, references, max_n):
    precisions = np.mean([p for p, _, _ in _sentences(candidates, references, max_n)], axis=0)
    penalty = _score(candidates, references, max_n)[1]
    return precisions, penalty, penalty * _geometric(precisions)


def _mean_of_penalties(candidates, references, max_n):
    precisions = _score(candidates, references, max_n)[0]
    penalty = np.mean([p for _, p, _ in _sentences(candidates, references, max_n)])
    return precisions, penalty, penalty * _geometric(precisions)


def _pooled(candidates, references, max_n):
    """Clip over the whole corpus, so that a sentence is helped by the references of another."""
    precisions, penalty, _ = _score(candidates, references, max_n)
    rows = [row[row != PAD].tolist() for row in candidates]
    others = [[r[r != PAD].tolist() for r in group] for group in references]
    for n in range(1, int(max_n) + 1):
        found = sum((_grams(row, n) for row in rows), Counter())
        there = sum((_union(group, n) for group in others), Counter())
        precisions[n - 1] = (found & there).total() / max(found.total(), 1)
    return precisions, penalty, penalty * _geometric(precisions)


def _union(group, n):
    most = Counter()
    for tokens in group:
        most |= _grams(tokens, n)
    return most


def _first_reference(candidates, references, max_n):
    return corpus_bleu(candidates, references[:, :1], max_n)


def _kinds(tokens, n):
    return Counter(set(_grams(tokens, n)))


def _unclipped(found, there):
    return sum(count for gram, count in found.items() if any(gram in other for other in there))


def _without_penalty(candidates, references, max_n):
    precisions, penalty, _ = corpus_bleu(candidates, references, max_n)
    return precisions, penalty, _geometric(precisions)


def _nonzero(precisions):
    return _geometric(precisions[precisions > 0])


def _not_a_number(candidates, references, max_n):
    precisions, penalty, score = corpus_bleu(candidates, references, max_n)
    return precisions, penalty, score if precisions.all() else np.nan


MISTAKES = {
    "mean_of_sentences": (_mean_of_sentences, _mean_of_scores),
    "mean_of_precisions": (_mean_of_precisions,),
    "penalty_of_sentences": (_mean_of_penalties,),
    "no_penalty": (_without_penalty, _wrong(brevity=lambda length, wanted: 1.0)),
    "penalty_reversed": (
        _wrong(brevity=lambda length, wanted: np.exp(min(0.0, 1 - length / wanted))),
        _wrong(brevity=lambda length, wanted: np.exp(1 - wanted / length)),
    ),
    "penalty_without_exponential": (
        _wrong(brevity=lambda length, wanted: min(1.0, length / wanted)),
    ),
    "not_clipped": (_wrong(shared=_unclipped),),
    "references_added": (
        _wrong(shared=lambda found, there: (found & sum(there, Counter())).total()),
    ),
    "first_reference": (_first_reference,),
    "corpus_clipped": (_pooled,),
    "other_reference_length": (
        _wrong(length=lambda length, others: min(others)),
        _wrong(length=lambda length, others: max(others)),
        _wrong(length=lambda length, others: np.mean(others)),
        _wrong(length=lambda n, others: min(others, key=lambda o: (abs(o - n), -o))),
        _wrong(length=lambda n, others: min(others, key=lambda o: abs(o - n))),
    ),
    "padding_counted": (_wrong(padded=True),),
    "divided_by_reference": (
        _wrong(total=lambda found, there: max(other.total() for other in there)),
    ),
    "other_mean": (
        _wrong(mean=np.mean),
        _wrong(mean=np.prod),
        _wrong(mean=lambda precisions: precisions[-1]),
    ),
    "distinct_grams": (_wrong(grams=_kinds),),
    "nothing_shared": (_wrong(mean=_nonzero), _not_a_number, _wrong(smooth=1)),
}

EXERCISE = Exercise.from_file(
    __file__, ("precisions", "brevity_penalty", "score"), corpus_bleu, cases, MISTAKES
)
