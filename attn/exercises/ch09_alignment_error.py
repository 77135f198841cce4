"""Chapter 9, `alignment_error`: found, sure and possible links, and the ways to count wrong."""

import numpy as np

from attn.exercises.spec import Exercise, Misconception
from attn.reference import alignment_error_rate


def cases(seed):
    """Return inputs: alignments with and without possible links, one and several sentences.

    Parameters
    ----------
    seed : int
        Seed of the random numbers; the shapes are always the same.

    Returns
    -------
    list of dict
        With the keys ``predicted``, ``sure`` and ``possible``.
    """
    rng = np.random.default_rng(seed)

    def draw(n_sentences, tgt_len, src_len):
        # One link a row, of which some are wrong; S and the other possible links are disjoint.
        place = rng.integers(src_len, size=(n_sentences, tgt_len))
        gold = np.arange(src_len) == place[..., None]
        sure = gold & (np.arange(tgt_len) % 3 != 1)[:, None]
        possible = (gold & ~sure) | (np.arange(src_len) == (place[..., None] + 1) % src_len)
        moved = place.copy()
        moved[:, 0] = (place[:, 0] + src_len - 1) % src_len
        predicted = np.arange(src_len) == moved[..., None]
        predicted[:, -1] = possible[:, -1] & ~sure[:, -1]
        predicted[0, 1] |= sure[0].any(axis=0)
        predicted[0, 2] = False  # a sure link that nobody found
        return {"predicted": predicted, "sure": sure, "possible": possible & ~sure}

    return [draw(1, 3, 4), draw(1, 4, 5), draw(2, 5, 4), draw(3, 6, 5), draw(2, 7, 9)]


def _counting(rate):
    """Return an error rate from the five counts |A|, |S|, |P|, |A and S|, |A and P|."""

    def error(predicted, sure, possible):
        union = sure | possible
        counts = (predicted.sum(), sure.sum(), union.sum(), (predicted & sure).sum(),
                  (predicted & union).sum())  # fmt: skip
        return np.float64(rate(*(float(n) for n in counts)))

    return error


def _without_sure(predicted, sure, possible):
    shared = (predicted & sure).sum() + (predicted & possible).sum()
    return 1 - shared / (predicted.sum() + sure.sum())


def _mean_of_sentences(predicted, sure, possible):
    rates = [alignment_error_rate(*links) for links in zip(predicted, sure, possible, strict=True)]
    return np.mean(rates)


def _per_sentence(predicted, sure, possible):
    return np.array(
        [alignment_error_rate(*links) for links in zip(predicted, sure, possible, strict=True)]
    )


def _cells(predicted, sure, possible):
    return (predicted != (sure | possible)).mean()


MISCONCEPTIONS = (
    Misconception(
        "sure_not_possible",
        (_without_sure,),
        {
            "es": "Cuentas en P solo los enlaces que no son seguros. Todo enlace seguro es también "
            "posible: une los dos, `sure | possible`, antes de compararlos con los hallados.",
            "en": "You count in P only the links that are not sure. Every sure link is possible "
            "too: join the two, `sure | possible`, before you compare them with those found.",
        },
    ),
    Misconception(
        "accuracy",
        (_counting(lambda a, s, p, both, fine: (both + fine) / (a + s)),),
        {
            "es": "Devuelves cuánto acierta, no cuánto se equivoca. La tasa de error es 1 menos "
            "esa fracción: 0 para una alineación perfecta.",
            "en": "You return how much is right, not how much is wrong. The error rate is 1 minus "
            "that fraction: 0 for a perfect alignment.",
        },
    ),
    Misconception(
        "precision_only",
        (
            _counting(lambda a, s, p, both, fine: 1 - fine / a),
            _counting(lambda a, s, p, both, fine: 1 - both / a),
        ),
        {
            "es": "Solo miras si los enlaces hallados son buenos. Con un único enlace seguro de "
            "acertar, el error sería 0: hay que exigir además que los seguros se hallen, con "
            "`|A| + |S|` abajo.",
            "en": "You look only at whether the links found are good. With a single link sure to be "
            "right the error would be 0: the sure ones must be found as well, with `|A| + |S|` "
            "below.",
        },
    ),
    Misconception(
        "recall_only",
        (_counting(lambda a, s, p, both, fine: 1 - both / s),),
        {
            "es": "Solo miras cuántos enlaces seguros se hallaron. Enlazarlo todo con todo daría "
            "error 0: cuenta también qué parte de lo hallado es posible.",
            "en": "You look only at how many sure links were found. To link everything with "
            "everything would give an error of 0: count as well which part of what was found is "
            "possible.",
        },
    ),
    Misconception(
        "only_sure",
        (_counting(lambda a, s, p, both, fine: 1 - 2 * both / (a + s)),),
        {
            "es": "Tratas como error todo enlace que no sea seguro. Los posibles no restan: un "
            "enlace hallado que solo es posible cuenta como bueno, así que el segundo término es "
            "`|A ∩ P|`.",
            "en": "You treat every link that is not sure as an error. Possible ones do no harm: a "
            "link found that is only possible counts as good, so the second term is `|A ∩ P|`.",
        },
    ),
    Misconception(
        "only_possible",
        (_counting(lambda a, s, p, both, fine: 1 - 2 * fine / (a + s)),),
        {
            "es": "Usas P en los dos términos. Así un enlace que solo era posible cuenta como si "
            "hubiera hallado uno seguro: el primer término es `|A ∩ S|`.",
            "en": "You use P in both terms. A link that was only possible then counts as if it had "
            "found a sure one: the first term is `|A ∩ S|`.",
        },
    ),
    Misconception(
        "divided_by_possible",
        (
            _counting(lambda a, s, p, both, fine: 1 - (both + fine) / (a + p)),
            _counting(lambda a, s, p, both, fine: 1 - 2 * fine / (a + p)),
        ),
        {
            "es": "Divides entre |A| + |P|, así que pides hallar también los enlaces solo "
            "posibles. Nadie está obligado a ellos: abajo van los hallados y los seguros.",
            "en": "You divide by |A| + |P|, and so ask for the merely possible links to be found "
            "too. Nobody has to find them: those found and the sure ones go below.",
        },
    ),
    Misconception(
        "union",
        (
            _counting(lambda a, s, p, both, fine: 1 - fine / (a + p - fine)),
            _counting(lambda a, s, p, both, fine: 1 - both / (a + s - both)),
        ),
        {
            "es": "Divides la intersección entre la unión, que es el índice de Jaccard. Esta tasa "
            "suma los tamaños por separado: un enlace que está en los dos lados cuenta dos veces, "
            "arriba y abajo.",
            "en": "You divide the intersection by the union, which is the Jaccard index. This rate "
            "adds the sizes separately: a link on both sides counts twice, above and below.",
        },
    ),
    Misconception(
        "not_doubled",
        (_counting(lambda a, s, p, both, fine: 1 - both / (a + s)),),
        {
            "es": "Abajo sumas dos conjuntos y arriba pones una sola intersección: ni una "
            "alineación perfecta bajaría de 0.5. Suma las dos, la de los seguros y la de los "
            "posibles.",
            "en": "Below you add two sets and above you put a single intersection: not even a "
            "perfect alignment would get under 0.5. Add both, that with the sure links and that "
            "with the possible ones.",
        },
    ),
    Misconception(
        "mean_of_sentences",
        (_mean_of_sentences,),
        {
            "es": "Calculas la tasa de cada oración y tomas la media. Una oración de tres palabras "
            "pesaría como una de treinta: cuenta los enlaces de todo el lote y divide una sola "
            "vez.",
            "en": "You compute the rate of each sentence and take the mean. A sentence of three "
            "words would weigh as much as one of thirty: count the links of the whole batch and "
            "divide once.",
        },
    ),
    Misconception(
        "one_rate_each",
        (_per_sentence,),
        {
            "es": "Devuelves una tasa por oración. Se pide una sola para todo el lote: suma sobre "
            "todos los ejes antes de dividir.",
            "en": "You return one rate for each sentence. One for the whole batch is asked for: sum "
            "over all the axes before you divide.",
        },
    ),
    Misconception(
        "cells_compared",
        (_cells,),
        {
            "es": "Comparas la matriz casilla por casilla. Casi todas están vacías y coinciden en "
            "no tener enlace, así que el error parece pequeño siempre: cuenta solo enlaces.",
            "en": "You compare the matrix cell by cell. Almost all are empty and agree in having no "
            "link, so the error always looks small: count links only.",
        },
    ),
)

EXERCISE = Exercise("alignment_error", 9, ("rate",), alignment_error_rate, cases, MISCONCEPTIONS)
