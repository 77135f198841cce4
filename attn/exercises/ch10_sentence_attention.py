"""Chapter 10, `sentence_attention`: sentences by what they receive, and the ways to miscount."""

import numpy as np

from attn.exercises.spec import Exercise, Misconception
from attn.reference import sentence_attention, softmax


def cases(seed):
    """Return inputs: weights of self-attention and the sentence of each token.

    Parameters
    ----------
    seed : int
        Seed of the random numbers; the shapes are always the same.

    Returns
    -------
    list of dict
        With the keys ``weights`` and ``sentence``.
    """
    rng = np.random.default_rng(seed)

    def draw(n_layers, n_heads, lengths):
        n = sum(lengths)
        # Some tokens are looked at by everyone, as in a trained model.
        scores = rng.normal(size=(n_layers, n_heads, n, n)) + 1.5 * rng.normal(size=n)
        return {"weights": softmax(scores), "sentence": np.repeat(range(len(lengths)), lengths)}

    sizes = [
        (1, 1, (2, 3)), (1, 2, (4, 2, 3)), (2, 1, (1, 5, 2)), (2, 4, (5, 7, 3, 6)),
        (3, 2, (2, 8, 4)), (2, 3, (6, 1, 4, 3, 2)),
    ]  # fmt: skip
    return [draw(*size) for size in sizes]


def _mean_by_sentence(received, sentence):
    return np.bincount(sentence, weights=received) / np.bincount(sentence)


def _of(receive, gather=_mean_by_sentence):
    """Compute the score of sentences from what each token receives."""

    def scores(weights, sentence):
        return gather(receive(weights), sentence)

    return scores


def _received(weights):
    return weights.mean(axis=(0, 1, 2))


def _given(weights):
    return weights.mean(axis=(0, 1, 3))


def _per_sentence(reduce):
    def gather(received, sentence):
        return np.array([reduce(received[sentence == s]) for s in range(sentence.max() + 1)])

    return gather


def _without_diagonal(weights):
    n = weights.shape[-1]
    return (weights * ~np.eye(n, dtype=bool)).sum(axis=-2).mean(axis=(0, 1)) / n


def _others_only(weights, sentence):
    other = sentence[:, None] != sentence
    return _mean_by_sentence(_received(weights * other), sentence)


def _own_only(weights, sentence):
    own = sentence[:, None] == sentence
    return _mean_by_sentence(_received(weights * own), sentence)


def _by_all_tokens(received, sentence):
    return np.bincount(sentence, weights=received) / len(sentence)


def _per_token(weights, sentence):
    return _received(weights)


def _of_result(change):
    def scores(weights, sentence):
        return change(sentence_attention(weights, sentence))

    return scores


def _each_head(weights, sentence):
    return np.array([[_mean_by_sentence(h.mean(axis=0), sentence) for h in w] for w in weights])


MISCONCEPTIONS = (
    Misconception(
        "given_instead_of_received",
        (_of(_given), _of(lambda w: w.mean(axis=(0, 1)).sum(axis=-1))),
        {
            "es": "Tomas la media sobre las keys: eso es lo que cada token *da*, y todas las filas suman "
            "1, así que todos dan lo mismo. Lo que un token *recibe* está en su columna: toma la "
            "media sobre las queries, el penúltimo eje.",
            "en": "You average over the keys: that is what each token *gives*, and every row sums to "
            "1, so all give the same. What a token *receives* is in its column: average over the "
            "queries, the second axis from the end.",
        },
    ),
    Misconception(
        "sum_over_words",
        (_of(_received, lambda r, s: np.bincount(s, weights=r)),),
        {
            "es": "Sumas lo que reciben las palabras de la oración. La suma crece con cada palabra, "
            "y gana la oración más larga, diga lo que diga: toma la media.",
            "en": "You sum what the words of the sentence receive. The sum grows with every word, "
            "and the longest sentence wins whatever it says: take the mean.",
        },
    ),
    Misconception(
        "divided_by_all",
        (_of(_received, _by_all_tokens),),
        {
            "es": "Divides entre todos los tokens del texto. Eso no cambia el orden de las sumas, y "
            "las largas siguen ganando: divide cada oración entre *sus* tokens.",
            "en": "You divide by all the tokens of the text. That leaves the order of the sums as it "
            "was, and long sentences still win: divide each by *its* tokens.",
        },
    ),
    Misconception(
        "best_word",
        (_of(_received, _per_sentence(np.max)),),
        {
            "es": "Tomas la palabra más atendida de cada oración. Un punto o un *the* muy mirados "
            "bastarían para elegirla: cuenta con todas, por su media.",
            "en": "You take the most attended word of each sentence. One much-watched full stop or "
            "*the* would be enough to choose it: count them all, by their mean.",
        },
    ),
    Misconception(
        "first_word",
        (
            _of(_received, _per_sentence(lambda part: part[0])),
            _of(_received, _per_sentence(lambda part: part[-1])),
        ),
        {
            "es": "Solo miras una palabra de cada oración, la primera o la última. Toma la media "
            "de todas.",
            "en": "You look at one word of each sentence only, the first or the last. Take the mean "
            "of all of them.",
        },
    ),
    Misconception(
        "one_layer",
        (_of(lambda w: w[-1].mean(axis=(0, 1))), _of(lambda w: w[0].mean(axis=(0, 1)))),
        {
            "es": "Solo usas una capa. Se pide la media sobre todas: el eje 0.",
            "en": "You use one layer only. The mean over all is wanted: axis 0.",
        },
    ),
    Misconception(
        "one_head",
        (_of(lambda w: w[:, 0].mean(axis=(0, 1))), _of(lambda w: w[:, -1].mean(axis=(0, 1)))),
        {
            "es": "Solo usas una cabeza. Se pide la media sobre todas: el eje 1.",
            "en": "You use one head only. The mean over all is wanted: axis 1.",
        },
    ),
    Misconception(
        "largest_head",
        (
            _of(lambda w: w.max(axis=(0, 1)).mean(axis=0)),
            _of(lambda w: w.max(axis=1).mean(axis=(0, 1))),
        ),
        {
            "es": "Tomas el máximo sobre cabezas o capas. Una sola cabeza muy concentrada lo "
            "decidiría todo: aquí se toma su media.",
            "en": "You take the maximum over heads or layers. A single sharp head would decide "
            "everything: here they are averaged.",
        },
    ),
    Misconception(
        "one_query",
        (
            _of(lambda w: w[..., 0, :].mean(axis=(0, 1))),
            _of(lambda w: w[..., -1, :].mean(axis=(0, 1))),
        ),
        {
            "es": "Miras a quién atiende un solo token, el primero o el último. Toma la media "
            "sobre todas las queries.",
            "en": "You look at whom a single token attends to, the first or the last. Average over "
            "all the queries.",
        },
    ),
    Misconception(
        "sum_over_queries",
        (_of(lambda w: w.sum(axis=-2).mean(axis=(0, 1))), _of(lambda w: w.sum(axis=(0, 1, 2)))),
        {
            "es": "Sumas donde se pide una media: tus números crecen con el largo del texto, o con "
            "las capas y las cabezas. El orden sale igual, pero no se pueden comparar dos textos.",
            "en": "You sum where a mean is wanted: your numbers grow with the length of the text, or "
            "with layers and heads. The order is the same, but two texts cannot be compared.",
        },
    ),
    Misconception(
        "own_word_left_out",
        (_of(_without_diagonal),),
        {
            "es": "Quitas la diagonal: lo que cada token se da a sí mismo. Tiene sentido como "
            "variante, pero aquí se pide lo que recibe de *todas* las queries.",
            "en": "You leave out the diagonal: what each token gives to itself. It makes sense as a "
            "variant, but here what it receives from *all* the queries is wanted.",
        },
    ),
    Misconception(
        "some_sentences_only",
        (_others_only, _own_only),
        {
            "es": "Solo cuentas el peso que viene de las otras oraciones, o de la propia. Cuentan "
            "todas las queries del texto.",
            "en": "You count only the weight that comes from other sentences, or from its own. All "
            "the queries of the text count.",
        },
    ),
    Misconception(
        "normalised",
        (
            _of_result(lambda x: x / x.sum()),
            _of_result(lambda x: softmax(x)),
            _of_result(lambda x: x / x.max()),
        ),
        {
            "es": "Normalizas el resultado al final. No hace falta: ya es una media de pesos, y "
            "así deja de decir cuánto recibe una palabra.",
            "en": "You normalise the result at the end. There is no need: it is a mean of weights "
            "already, and no longer says how much a word receives.",
        },
    ),
    Misconception(
        "order_instead_of_scores",
        (
            _of_result(lambda x: np.argsort(-x)),
            _of_result(np.argmax),
            _of_result(lambda x: np.sort(x)[::-1]),
        ),
        {
            "es": "Devuelves el orden, la ganadora o los puntajes ordenados. Se pide el puntaje de "
            "cada oración, en el lugar de esa oración.",
            "en": "You return the order, the winner or the sorted scores. The score of each sentence "
            "is wanted, in the place of that sentence.",
        },
    ),
    Misconception(
        "not_gathered",
        (_per_token, _each_head),
        {
            "es": "Falta reunir: devuelves un número por token, o una fila por cabeza. Debe quedar "
            "uno por oración.",
            "en": "Something is left to gather: you return a number for each token, or a row for "
            "each head. There should be one for each sentence.",
        },
    ),
)

EXERCISE = Exercise(
    "sentence_attention", 10, ("scores",), sentence_attention, cases, MISCONCEPTIONS
)
