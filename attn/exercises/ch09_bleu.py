"""Chapter 9, `bleu`: shared n-grams and a penalty, and the ways to get them wrong."""

from collections import Counter

import numpy as np

from attn.exercises.spec import Exercise, Misconception
from attn.reference import bleu


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
        # repeats to clip, shorter and longer candidates, words in another place, no bigram left
        ("abcd", "abce", 1), ("abaab", "abcde", 2), ("abcde", "abcdefg", 2), ("abcabd", "abce", 2),
        ("xabcd", "abcdye", 3), ("abcdefz", "abcdef", 3), ("aab", "cabcab", 1),
        ("abab", "abzab", 2), ("abxcd", "bazdc", 2), ("ababcabd", "ababcdabe", 3),
    ]  # fmt: skip
    found = []
    for candidate, reference, max_n in patterns:
        words = dict(zip("abcdefgxyz", rng.permutation(40)[:10] + 3, strict=True))
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


def _only_longest(candidate, reference, max_n):
    precisions, penalty, _ = bleu(candidate, reference, max_n)
    return precisions, penalty, penalty * precisions[-1]


def _without_penalty(candidate, reference, max_n):
    precisions, penalty, _ = bleu(candidate, reference, max_n)
    return precisions, penalty, _geometric(precisions)


MISCONCEPTIONS = (
    Misconception(
        "unclipped",
        (_scoring(_unclipped),),
        {
            "es": "Cuentas cada repetición como acierto: «el el el el» acertaría siempre. Un "
            "n-grama vale como mucho tantas veces como está en la referencia: "
            "`Counter(a) & Counter(b)` toma el menor de los dos conteos.",
            "en": "You count every repetition as a hit: “the the the the” would always be right. An "
            "n-gram counts at most as often as it is in the reference: "
            "`Counter(a) & Counter(b)` takes the smaller of the two counts.",
        },
    ),
    Misconception(
        "recall",
        (_scoring(_recall),),
        {
            "es": "Divides entre los n-gramas de la referencia, y eso es la cobertura. La precisión "
            "pregunta cuánto de lo que se escribió está bien: divide entre los n-gramas de "
            "`candidate`.",
            "en": "You divide by the n-grams of the reference, which is recall. Precision asks how "
            "much of what was written is right: divide by the n-grams of `candidate`.",
        },
    ),
    Misconception(
        "kinds",
        (_scoring(_kinds),),
        {
            "es": "Con `set` cuentas n-gramas distintos, y los repetidos desaparecen de arriba y de "
            "abajo. Cada aparición cuenta: usa `Counter` en lugar de `set`.",
            "en": "With `set` you count distinct n-grams, and repeated ones vanish from both top "
            "and bottom. Every occurrence counts: use `Counter` instead of `set`.",
        },
    ),
    Misconception(
        "in_place",
        (_scoring(_in_place),),
        {
            "es": "Comparas el n-grama que ocupa el mismo lugar en las dos oraciones. Si sobra una "
            "palabra al principio, nada coincide ya: BLEU busca cada n-grama en cualquier lugar "
            "de la referencia.",
            "en": "You compare the n-grams that stand in the same place of the two sentences. With "
            "one extra word at the start nothing matches any more: BLEU looks for each n-gram "
            "anywhere in the reference.",
        },
    ),
    Misconception(
        "last_gram_lost",
        (_scoring(_with_grams(lambda tokens, n: _grams(tokens, n, end=0))),),
        {
            "es": "Pierdes el último n-grama. En una oración de L tokens hay L − n + 1, así que el "
            "recorrido es `range(len(tokens) - n + 1)`; el final de un `range` no se incluye.",
            "en": "You lose the last n-gram. A sentence of L tokens has L − n + 1 of them, so the "
            "walk is `range(len(tokens) - n + 1)`; the end of a `range` is not included.",
        },
    ),
    Misconception(
        "separate_grams",
        (_scoring(_with_grams(lambda tokens, n: _grams(tokens, n, step=n))),),
        {
            "es": "Cortas la oración en trozos seguidos de n tokens. Los n-gramas se solapan: "
            "empieza uno en cada posición, no uno cada n.",
            "en": "You cut the sentence into pieces of n tokens, one after another. N-grams "
            "overlap: one starts at each position, not one every n.",
        },
    ),
    Misconception(
        "divided_by_tokens",
        (_scoring(_by_length),),
        {
            "es": "Divides siempre entre el número de tokens. Hay un bigrama menos que tokens, y "
            "dos trigramas menos: ni una copia perfecta llegaría a 1. Divide entre el número de "
            "n-gramas.",
            "en": "You always divide by the number of tokens. There is one bigram fewer than "
            "tokens, and two trigrams fewer: not even a perfect copy would reach 1. Divide by the "
            "number of n-grams.",
        },
    ),
    Misconception(
        "penalty_not_applied",
        (_without_penalty, _scoring(brevity=lambda candidate, reference: 1.0)),
        {
            "es": "El puntaje final no lleva la penalización por brevedad. Sin ella gana quien "
            "escribe solo las palabras de las que está seguro: multiplica la media por "
            "`brevity_penalty`.",
            "en": "The final score lacks the brevity penalty. Without it, whoever writes only the "
            "words they are sure of wins: multiply the mean by `brevity_penalty`.",
        },
    ),
    Misconception(
        "long_punished",
        (_scoring(brevity=lambda c, r: min(1.0, np.exp(1 - len(c) / len(r)))),),
        {
            "es": "Tu penalización castiga a las traducciones largas. A esas ya las castiga la "
            "precisión; lo que falta por vigilar son las cortas: el cociente es el largo de la "
            "referencia entre el del candidato.",
            "en": "Your penalty punishes long translations. Precision already does; what is left to "
            "watch is the short ones: the quotient is the length of the reference over that of "
            "the candidate.",
        },
    ),
    Misconception(
        "long_rewarded",
        (_scoring(brevity=lambda c, r: np.exp(1 - len(r) / len(c))),),
        {
            "es": "Con un candidato más largo que la referencia tu factor pasa de 1 y premia las "
            "palabras de más. La penalización nunca suma: tómala como "
            "`min(1.0, np.exp(1 - r / c))`.",
            "en": "With a candidate longer than the reference your factor exceeds 1 and rewards "
            "extra words. The penalty never adds anything: take it as "
            "`min(1.0, np.exp(1 - r / c))`.",
        },
    ),
    Misconception(
        "linear_penalty",
        (_scoring(brevity=lambda c, r: min(1.0, len(c) / len(r))),),
        {
            "es": "Penalizas con el cociente de las longitudes, sin la exponencial. Es más suave "
            "de lo que pide la definición: con la mitad de palabras, 0.5 en vez de 0.37. Usa "
            "`np.exp(1 - r / c)`.",
            "en": "You penalise by the quotient of the lengths, without the exponential. That is "
            "gentler than the definition asks for: with half the words, 0.5 instead of 0.37. Use "
            "`np.exp(1 - r / c)`.",
        },
    ),
    Misconception(
        "arithmetic_mean",
        (_scoring(mean=lambda precisions: precisions.mean()),),
        {
            "es": "Tomas la media aritmética de las precisiones. La geométrica no deja que muchas "
            "palabras sueltas compensen un orden equivocado: si no hay ningún bigrama común, vale "
            "0. Usa `np.exp(np.log(precisions).mean())`.",
            "en": "You take the arithmetic mean of the precisions. The geometric one does not let "
            "many single words make up for a wrong order: with no shared bigram it is 0. Use "
            "`np.exp(np.log(precisions).mean())`.",
        },
    ),
    Misconception(
        "product",
        (_scoring(mean=lambda precisions: precisions.prod()),),
        {
            "es": "Multiplicas las precisiones y te falta la raíz. Sin ella, el puntaje baja con "
            "solo pedir n-gramas más largos: eleva el producto a `1 / max_n`.",
            "en": "You multiply the precisions and leave out the root. Without it the score falls "
            "merely by asking for longer n-grams: raise the product to `1 / max_n`.",
        },
    ),
    Misconception(
        "only_the_longest",
        (_only_longest,),
        {
            "es": "El puntaje solo usa la precisión de los n-gramas más largos. Las demás también "
            "cuentan, con el mismo peso: es la media geométrica de todas.",
            "en": "The score uses only the precision of the longest n-grams. The others count too, "
            "with the same weight: it is the geometric mean of all of them.",
        },
    ),
)

EXERCISE = Exercise(
    "bleu", 9, ("precisions", "brevity_penalty", "score"), bleu, cases, MISCONCEPTIONS
)
