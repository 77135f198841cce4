"""Chapter 9, `bleu`: shared n-grams and a penalty, and the ways to get them wrong."""

from collections import Counter

import numpy as np

from attn.reference import sentence_bleu
from attn_course.exercises.spec import Exercise

# Tokens whose digits, written side by side, are those of other tokens.
IDS = (1, 2, 3, 11, 12, 13, 21, 22, 112, 121)


def cases(seed):
    """Return inputs: candidates shorter, longer and as long as the reference, with repeats.

    Parameters
    ----------
    seed : int
        Seed of the random numbers; the patterns are always the same.

    Returns
    -------
    list of dict
        With the keys ``candidate``, ``reference`` and ``max_n``.
    """
    rng = np.random.default_rng(seed)
    patterns = [
        # repeats to clip, shorter and longer candidates, words in another place, no common bigram
        ("abcd", "abce", 1),
        ("abaab", "abcde", 2),
        ("abcde", "abcdefg", 2),
        ("abcabd", "abce", 2),
        ("xabcd", "abcdye", 3),
        ("abcdefz", "abcdef", 3),
        ("aab", "cabcab", 1),
        ("abab", "abzab", 2),
        ("abxcd", "bazdc", 2),
        ("ababcabd", "ababcdabe", 3),
    ]
    found = []
    for candidate, reference, max_n in patterns:
        words = dict(zip("abcdefgxyz", rng.permutation(IDS), strict=True))
        ids = (np.array([words[letter] for letter in text]) for text in (candidate, reference))
        found.append(
            dict(zip(("candidate", "reference"), ids, strict=True)) | {"max_n": np.array(max_n)}
        )
    return found


def _grams(tokens, n, step=1, end=1):
    return [tuple(tokens[i : i + n]) for i in range(0, len(tokens) - n + end, step)]


def _clipped(candidate, reference, n, grams=_grams):
    found, there = Counter(grams(candidate, n)), Counter(grams(reference, n))
    return sum((found & there).values()), sum(found.values()), sum(there.values())


def _precision(candidate, reference, n):
    shared, own, _ = _clipped(candidate, reference, n)
    return shared / max(own, 1)


def _brevity(candidate, reference):
    return min(1.0, np.exp(1 - len(reference) / len(candidate)))


def _geometric(precisions):
    return np.exp(np.log(precisions).mean()) if precisions.all() else 0.0


def _scoring(precision=_precision, brevity=_brevity, mean=_geometric):
    def score(candidate, reference, max_n):
        candidate, reference = candidate.tolist(), reference.tolist()
        precisions = np.array([precision(candidate, reference, n + 1) for n in range(max_n)])
        penalty = brevity(candidate, reference)
        return precisions, penalty, penalty * mean(precisions)

    return score


def _unclipped(candidate, reference, n):
    grams = _grams(candidate, n)
    return sum(gram in set(_grams(reference, n)) for gram in grams) / max(len(grams), 1)


def _recall(candidate, reference, n):
    shared, _, there = _clipped(candidate, reference, n)
    return shared / max(there, 1)


def _kinds(candidate, reference, n):
    own = set(_grams(candidate, n))
    return len(own & set(_grams(reference, n))) / max(len(own), 1)


def _in_place(candidate, reference, n):
    own, there = _grams(candidate, n), _grams(reference, n)
    return sum(a == b for a, b in zip(own, there, strict=False)) / max(len(own), 1)


def _with_grams(grams):
    def precision(candidate, reference, n):
        shared, own, _ = _clipped(candidate, reference, n, grams)
        return shared / max(own, 1)

    return precision


def _by_length(candidate, reference, n):
    shared, _, _ = _clipped(candidate, reference, n)
    return shared / len(candidate)


def _one_more(candidate, reference, n):
    shared, own, _ = _clipped(candidate, reference, n)
    return (shared + (n > 1)) / max(own + (n > 1), 1)


def _all_but_the_longest(root):
    """Return BLEU without the longest n-grams, whose mean has this root."""

    def score(candidate, reference, max_n):
        precisions, penalty, _ = sentence_bleu(candidate, reference, max_n)
        precisions = precisions[:-1]
        return precisions, penalty, penalty * precisions.prod() ** (1 / root(int(max_n)))

    return score


def _only_longest(candidate, reference, max_n):
    precisions, penalty, _ = sentence_bleu(candidate, reference, max_n)
    return precisions, penalty, penalty * precisions[-1]


def _without_penalty(candidate, reference, max_n):
    precisions, penalty, _ = sentence_bleu(candidate, reference, max_n)
    return precisions, penalty, _geometric(precisions)


def _past_the_end(tokens, n):
    return [tuple(tokens[i : i + n]) for i in range(len(tokens))]


def _geometric_of_the_rest(precisions):
    return np.exp(np.log(precisions[precisions > 0]).mean()) if precisions.any() else 0.0


def _lifted(least):
    return lambda precisions: np.exp(np.log(np.maximum(precisions, least)).mean())


def _joined(candidate, reference, n):
    """Count digits in a text, where token 1 followed by 2 looks like token 12."""
    text, found = "".join(map(str, reference)), Counter(map(_digits, _grams(candidate, n)))
    shared = sum(min(count, text.count(gram)) for gram, count in found.items())
    return shared / max(found.total(), 1)


def _digits(gram):
    return "".join(map(str, gram))


def _sides_exchanged(candidate, reference, max_n):
    return sentence_bleu(reference, candidate, max_n)


def _base_two(precisions):
    return np.exp(np.log2(precisions).mean()) if precisions.all() else 0.0


MISTAKES = {
    "unclipped": (_scoring(_unclipped),),
    "recall": (_scoring(_recall),),
    "kinds": (_scoring(_kinds),),
    "in_place": (_scoring(_in_place),),
    "last_gram_lost": (_scoring(_with_grams(lambda tokens, n: _grams(tokens, n, end=0))),),
    "separate_grams": (_scoring(_with_grams(lambda tokens, n: _grams(tokens, n, step=n))),),
    "divided_by_tokens": (_scoring(_by_length),),
    "penalty_not_applied": (_without_penalty, _scoring(brevity=lambda candidate, reference: 1.0)),
    "long_punished": (_scoring(brevity=lambda c, r: min(1.0, np.exp(1 - len(c) / len(r)))),),
    "long_rewarded": (_scoring(brevity=lambda c, r: np.exp(1 - len(r) / len(c))),),
    "linear_penalty": (_scoring(brevity=lambda c, r: min(1.0, len(c) / len(r))),),
    "arithmetic_mean": (_scoring(mean=lambda precisions: precisions.mean()),),
    "product": (_scoring(mean=lambda precisions: precisions.prod()),),
    "only_the_longest": (_only_longest,),
    "smoothed": (_scoring(_one_more),),
    "longest_missing": (
        _all_but_the_longest(lambda max_n: max_n),
        _all_but_the_longest(lambda max_n: max(1, max_n - 1)),
    ),
    "fourth_root": (_scoring(mean=lambda precisions: precisions.prod() ** 0.25),),
    "quotient_upside_down": (
        _scoring(brevity=lambda c, r: 1.0 if len(c) >= len(r) else np.exp(1 - len(c) / len(r))),
    ),
    "grams_past_the_end": (_scoring(_with_grams(_past_the_end)),),
    "zero_precision_forgiven": (
        _scoring(mean=_geometric_of_the_rest),
        *(_scoring(mean=_lifted(least)) for least in (1e-2, 1e-3, 1e-4)),
    ),
    "digits_joined": (_scoring(_joined),),
    "bases_mixed": (_scoring(mean=_base_two),),
    "sides_exchanged": (_sides_exchanged,),
}

EXERCISE = Exercise.from_file(
    __file__, ("precisions", "brevity_penalty", "score"), sentence_bleu, cases, MISTAKES
)
