"""Chapter 9, `beam_step`: every hypothesis by every token, and the ways to get it wrong."""

import numpy as np

from attn.exercises.spec import Exercise, Misconception
from attn.reference import beam_step, softmax


def cases(seed):
    """Return inputs: one hypothesis and several, beams narrower and wider than their number.

    Parameters
    ----------
    seed : int
        Seed of the random numbers; the shapes are always the same.

    Returns
    -------
    list of dict
        With the keys ``log_probabilities``, ``scores`` and ``beam_width``.
    """
    rng = np.random.default_rng(seed)

    def draw(n_hypotheses, vocab_size, beam_width):
        rows = np.log(softmax(rng.uniform(-1, 1, (n_hypotheses, vocab_size))))
        # One row knows what it wants, so that it has more than one child among the best.
        peaked = [1.5, 1.2] + (vocab_size - 2) * [-1.0]
        rows[-1] = np.log(softmax(rng.permutation(peaked) + rng.uniform(-0.1, 0.1, vocab_size)))
        scores = rng.uniform(-1.6, -1.0, n_hypotheses)
        return {
            "log_probabilities": rows,
            "scores": scores,
            "beam_width": np.array(beam_width),
        }

    shapes = ((1, 4, 2), (2, 5, 2), (3, 6, 3), (3, 7, 5), (4, 6, 2), (2, 9, 4), (4, 5, 3))
    return [draw(*shape) for shape in shapes]


def _best_of(combine, report=lambda totals, log_probabilities, scores: totals):
    """Return a beam step that ranks by one number and returns another."""

    def step(log_probabilities, scores, beam_width):
        totals = combine(log_probabilities, scores)
        best = np.argsort(-totals, axis=None)[:beam_width]
        parents, tokens = np.divmod(best, totals.shape[1])
        return parents, tokens, report(totals, log_probabilities, scores)[parents, tokens]

    return step


def _sum(log_probabilities, scores):
    return scores[:, None] + log_probabilities


def _from_flat(places, returns):
    """Return a beam step with other places, or with the right ones made into other answers."""

    def step(log_probabilities, scores, beam_width):
        totals = _sum(log_probabilities, scores)
        best = places(totals, int(beam_width))
        return returns(best, totals, log_probabilities.shape)

    return step


def _largest(totals, beam_width):
    return np.argsort(-totals, axis=None)[:beam_width]


def _usual(best, totals, shape):
    parents, tokens = np.divmod(best, shape[1])
    return parents, tokens, totals[parents, tokens]


def _by_rows(best, totals, shape):
    parents, tokens = np.divmod(best, shape[0])
    return parents, tokens, totals.ravel()[best]


def _one_child_each(log_probabilities, scores, beam_width):
    totals = _sum(log_probabilities, scores)
    tokens = totals.argmax(axis=1)
    parents = np.argsort(-totals.max(axis=1))[:beam_width]
    return parents, tokens[parents], totals[parents, tokens[parents]]


def _only_the_leader(log_probabilities, scores, beam_width):
    parent = scores.argmax()
    tokens = np.argsort(-log_probabilities[parent])[:beam_width]
    return np.full_like(tokens, parent), tokens, scores[parent] + log_probabilities[parent][tokens]


def _triples(order):
    """Return a beam step that gives a list of triples, in this order, in place of three arrays."""

    def step(log_probabilities, scores, beam_width):
        arrays = beam_step(log_probabilities, scores, beam_width)
        return [tuple(triple[i] for i in order) for triple in zip(*arrays, strict=True)]

    return step


def _share_alike(totals, log_probabilities, scores):
    return totals - np.log(np.exp(totals).sum())


MISCONCEPTIONS = (
    Misconception(
        "parent_forgotten",
        (_best_of(lambda rows, scores: rows),),
        {
            "es": "Comparas los tokens solo por su propia probabilidad y olvidas lo que ya llevaba "
            "cada hipótesis. Compiten principios enteros: suma a cada fila el puntaje de su "
            "hipótesis, `scores[:, None] + log_probabilities`.",
            "en": "You compare tokens by their own probability alone and forget what each "
            "hypothesis had so far. Whole beginnings compete: add to each row the score of its "
            "hypothesis, `scores[:, None] + log_probabilities`.",
        },
    ),
    Misconception(
        "multiplied",
        (
            _best_of(lambda rows, scores: scores[:, None] * rows),
            _best_of(lambda rows, scores: -scores[:, None] * rows),
        ),
        {
            "es": "Multiplicas logaritmos. Se multiplican las probabilidades; sus logaritmos se "
            "suman, y el producto de dos negativos sería positivo: usa "
            "`scores[:, None] + log_probabilities`.",
            "en": "You multiply logarithms. Probabilities are multiplied; their logarithms are "
            "added, and the product of two negative ones would be positive: use "
            "`scores[:, None] + log_probabilities`.",
        },
    ),
    Misconception(
        "mixed_scales",
        (
            _best_of(lambda rows, scores: scores[:, None] * np.exp(rows)),
            _best_of(lambda rows, scores: scores[:, None] + np.exp(rows)),
        ),
        {
            "es": "Mezclas dos escalas: las probabilidades de los tokens con los logaritmos de las "
            "hipótesis. `log_probabilities` ya viene en logaritmos, como `scores`: quita el "
            "`np.exp` y súmalos.",
            "en": "You mix two scales: the probabilities of the tokens with the logarithms of the "
            "hypotheses. `log_probabilities` already comes in logarithms, like `scores`: take "
            "the `np.exp` away and add them.",
        },
    ),
    Misconception(
        "triples_returned",
        (_triples((0, 1, 2)), _triples((2, 0, 1))),
        {
            "es": "Devuelves una lista de tríos, uno por hipótesis. Se piden tres arreglos, en este "
            "orden: los padres, los tokens y los puntajes. Con los tríos en ese orden, "
            "`zip(*best)` los separa.",
            "en": "You return a list of triples, one for each hypothesis. Three arrays are asked "
            "for, in this order: parents, tokens and scores. With the triples in that order, "
            "`zip(*best)` takes them apart.",
        },
    ),
    Misconception(
        "subtracted",
        (_best_of(lambda rows, scores: rows - scores[:, None]),),
        {
            "es": "Restas el puntaje de la hipótesis en vez de sumarlo, y la menos probable sale "
            "premiada. La probabilidad de un principio más largo es un producto, así que su "
            "logaritmo es una suma.",
            "en": "You subtract the score of the hypothesis instead of adding it, so that the least "
            "probable one is rewarded. The probability of a longer beginning is a product, and "
            "its logarithm therefore a sum.",
        },
    ),
    Misconception(
        "probabilities_returned",
        (_best_of(_sum, lambda totals, rows, scores: np.exp(totals)),),
        {
            "es": "El orden es correcto, pero devuelves probabilidades. El paso siguiente espera "
            "logaritmos: tras cientos de tokens el producto se redondearía a 0. Devuelve la suma "
            "sin aplicar `np.exp`.",
            "en": "The order is right, but you return probabilities. The next step expects "
            "logarithms: after hundreds of tokens the product would round to 0. Return the sum "
            "without applying `np.exp`.",
        },
    ),
    Misconception(
        "token_score_returned",
        (_best_of(_sum, lambda totals, rows, scores: rows),),
        {
            "es": "Eliges bien, pero devuelves solo el logaritmo del último token. En el paso "
            "siguiente todas las hipótesis olvidarían su pasado: devuelve el total, con el "
            "puntaje de la hipótesis de la que salen.",
            "en": "You choose rightly, but return only the logarithm of the last token. At the next "
            "step every hypothesis would have forgotten its past: return the total, with the "
            "score of the hypothesis it grew from.",
        },
    ),
    Misconception(
        "parent_score_returned",
        (_best_of(_sum, lambda totals, rows, scores: scores[:, None] + 0 * rows),),
        {
            "es": "Devuelves el puntaje que tenía la hipótesis antes de crecer. Cada token nuevo "
            "cuesta algo: el puntaje de una hipótesis que crece incluye el logaritmo de la "
            "probabilidad de ese token.",
            "en": "You return the score that the hypothesis had before it grew. Every new token "
            "costs something: the score of a hypothesis that has grown includes the logarithm of "
            "that token's probability.",
        },
    ),
    Misconception(
        "worst_kept",
        (_from_flat(lambda totals, k: np.argsort(totals, axis=None)[:k], _usual),),
        {
            "es": "Te quedas con las peores: `np.argsort` ordena de menor a mayor, y los "
            "logaritmos más negativos van delante. Ordena `-totals`, o toma las últimas y dales "
            "la vuelta.",
            "en": "You keep the worst: `np.argsort` sorts from small to large, and the most "
            "negative logarithms come first. Sort `-totals`, or take the last ones and reverse "
            "them.",
        },
    ),
    Misconception(
        "worst_first",
        (_from_flat(lambda totals, k: np.argsort(totals, axis=None)[-k:], _usual),),
        {
            "es": "Guardas las mejores, pero en orden creciente, así que la primera es la peor de "
            "ellas. Se pide la mejor primero: dale la vuelta con `[::-1]`, u ordena `-totals`.",
            "en": "You keep the best ones, but in increasing order, so that the first is the worst "
            "of them. The best is asked for first: reverse them with `[::-1]`, or sort "
            "`-totals`.",
        },
    ),
    Misconception(
        "unordered",
        (_from_flat(lambda totals, k: np.sort(_largest(totals, k)), _usual),),
        {
            "es": "Guardas las hipótesis correctas en el orden en que estaban en la matriz. "
            "`np.argpartition` no ordena lo que separa: ordena las elegidas por su puntaje, de "
            "mayor a menor.",
            "en": "You keep the right hypotheses in the order they had in the matrix. "
            "`np.argpartition` does not sort what it separates: sort the chosen ones by their "
            "score, from the largest down.",
        },
    ),
    Misconception(
        "one_child_each",
        (_one_child_each,),
        {
            "es": "Das a cada hipótesis su mejor token y luego las ordenas. Así ninguna puede "
            "tener dos descendientes, aunque los dos superen al mejor de otra: pon todos los "
            "candidatos en una sola lista antes de elegir.",
            "en": "You give each hypothesis its best token and then sort them. None can then have "
            "two descendants, even if both beat the best of another: put all the candidates into "
            "one list before you choose.",
        },
    ),
    Misconception(
        "only_the_leader",
        (_only_the_leader,),
        {
            "es": "Solo crece la hipótesis que iba delante. Las demás están en el haz por si ella "
            "fracasa: calcula los totales de todas las filas y elige entre todos.",
            "en": "Only the hypothesis in the lead grows. The others are in the beam in case it "
            "fails: compute the totals of all the rows and choose among all of them.",
        },
    ),
    Misconception(
        "flat_place_as_token",
        (
            _from_flat(
                _largest, lambda best, totals, shape: (best // shape[1], best, totals.ravel()[best])
            ),
        ),
        {
            "es": "Devuelves como token el lugar en la matriz aplanada, que pasa del tamaño del "
            "vocabulario. El token es el resto: `best % vocab_size`, o el segundo resultado de "
            "`np.divmod`.",
            "en": "You return as token the place in the flattened matrix, which exceeds the size of "
            "the vocabulary. The token is the remainder: `best % vocab_size`, or the second "
            "result of `np.divmod`.",
        },
    ),
    Misconception(
        "divided_by_the_beam",
        (_from_flat(_largest, _by_rows),),
        {
            "es": "Divides el lugar entre el número de hipótesis. Al aplanar por filas, cada "
            "hipótesis ocupa `vocab_size` lugares seguidos: divide entre el número de columnas, "
            "`log_probabilities.shape[1]`.",
            "en": "You divide the place by the number of hypotheses. Flattened row by row, each "
            "hypothesis takes `vocab_size` places in a row: divide by the number of columns, "
            "`log_probabilities.shape[1]`.",
        },
    ),
    Misconception(
        "swapped",
        (
            _from_flat(
                _largest,
                lambda best, totals, shape: (
                    best % shape[1],
                    best // shape[1],
                    totals.ravel()[best],
                ),
            ),
        ),
        {
            "es": "Intercambiaste los dos primeros resultados. Primero va la hipótesis de la que "
            "crece cada una, que es el cociente; después el token que se le añade, que es el "
            "resto.",
            "en": "You swapped the first two results. First comes the hypothesis that each one "
            "grows from, which is the quotient; then the token added to it, which is the "
            "remainder.",
        },
    ),
    Misconception(
        "width_ignored",
        (_from_flat(lambda totals, k: _largest(totals, len(totals)), _usual),),
        {
            "es": "Guardas tantas como hipótesis había, y `beam_width` puede ser otro número: en "
            "el primer paso hay una sola y deben quedar varias. Corta la lista en "
            "`[:beam_width]`.",
            "en": "You keep as many as there were hypotheses, and `beam_width` may be another "
            "number: at the first step there is one and several must remain. Cut the list at "
            "`[:beam_width]`.",
        },
    ),
    Misconception(
        "halved",
        (_best_of(_sum, lambda totals, rows, scores: totals / 2),),
        {
            "es": "Devuelves la media de los dos logaritmos en vez de la suma. La corrección por "
            "longitud, si la hay, se hace una vez y al final; dentro de la búsqueda, los puntajes "
            "solo se suman.",
            "en": "You return the mean of the two logarithms instead of the sum. A correction for "
            "length, if any, is made once and at the end; inside the search, scores are only "
            "added.",
        },
    ),
    Misconception(
        "renormalised",
        (_best_of(_sum, _share_alike),),
        {
            "es": "Vuelves a normalizar los totales para que sumen 1 entre los candidatos. Ese "
            "número cambia en cada paso y rompe la comparación con las hipótesis ya terminadas: "
            "deja la suma como está.",
            "en": "You normalise the totals again so that they sum to 1 over the candidates. That "
            "number changes at every step and spoils the comparison with hypotheses that have "
            "ended: leave the sum as it is.",
        },
    ),
)

EXERCISE = Exercise(
    "beam_step", 9, ("parents", "tokens", "scores"), beam_step, cases, MISCONCEPTIONS
)
