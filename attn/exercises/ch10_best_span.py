"""Chapter 10, `best_span`: one answer out of two rows of scores, and the ways to lose it."""

import numpy as np

from attn.exercises.spec import Exercise, Misconception
from attn.reference import best_span


def cases(seed):
    """Return inputs: scores whose best start and best end often do not belong together.

    Parameters
    ----------
    seed : int
        Seed of the random numbers; the shapes are always the same.

    Returns
    -------
    list of dict
        With the keys ``start``, ``end`` and ``max_words``.
    """
    rng = np.random.default_rng(seed)

    def draw(seq_len, max_words):
        # All different, so that no two spans tie.
        start, end = rng.permutation(2 * seq_len).reshape(2, -1) + rng.uniform(0, 0.4, (2, seq_len))
        return {"start": start - seq_len, "end": end - seq_len, "max_words": np.array(max_words)}

    # The best end comes before the best start; the longest allowed span wins; so does a long one
    # if nobody counts; one word.
    backwards = {"start": [1.0, 4.0, 2.5, 0.0], "end": [3.5, 0.5, 1.1, 2.0], "max_words": 3}
    far = {"start": [4.0, 1.0, 0.2, 2.2, 0.1], "end": [0.3, 1.5, 0.4, 1.1, 4.0], "max_words": 2}
    long = {"start": [3.0, 0.5, 1.0, 0.0], "end": [0.2, 1.0, 4.0, 0.1], "max_words": 2}
    fixed = [{name: np.array(x) for name, x in case.items()} for case in (backwards, far, long)]
    sizes = [(1, 1), (4, 1), (5, 3), (6, 2), (7, 4), (8, 8), (9, 3), (12, 5), (12, 2), (15, 4)]
    drawn = [draw(*size) for size in sizes]
    # Logits that are all negative, as those of an unsure reader are.
    low = {name: x - 20 * (name != "max_words") for name, x in drawn[2].items()}
    return [*fixed, low, *drawn]


def _table(start, end):
    return start[:, None] + end


def _best(totals):
    return np.array(np.unravel_index(np.argmax(totals), totals.shape))


def _shape(n):
    return np.indices((n, n))


def _within(lowest, highest):
    """Choose among the spans whose last minus first token lies between two numbers."""

    def span(start, end, max_words):
        first, last = _shape(len(start))
        low, high = lowest(max_words), highest(max_words)
        allowed = (last - first >= low) & (last - first <= high)
        return _best(np.where(allowed, _table(start, end), -np.inf))

    return span


def _apart(start, end, max_words):
    return np.array([start.argmax(), end.argmax()])


def _start_first(start, end, max_words):
    first = start.argmax()
    return np.array([first, first + end[first : first + max_words].argmax()])


def _start_first_far(start, end, max_words):
    first = start.argmax()
    return np.array([first, first + end[first:].argmax()])


def _end_first(start, end, max_words):
    last = end.argmax()
    low = max(0, last - max_words + 1)
    return np.array([low + start[low : last + 1].argmax(), last])


def _sorted_apart(start, end, max_words):
    return np.sort([start.argmax(), end.argmax()])


def _masked_with_zero(start, end, max_words):
    first, last = _shape(len(start))
    allowed = (last >= first) & (last - first < max_words)
    return _best(np.where(allowed, _table(start, end), 0.0))


def _product(start, end, max_words):
    first, last = _shape(len(start))
    allowed = (last >= first) & (last - first < max_words)
    return _best(np.where(allowed, start[:, None] * end, -np.inf))


def _of_result(change):
    def span(start, end, max_words):
        return change(best_span(start, end, max_words))

    return span


def _relative(start, end, max_words):
    first, last = best_span(start, end, max_words)
    return np.array([first, last - first])


def _transposed(start, end, max_words):
    first, last = _shape(len(start))
    allowed = (last >= first) & (last - first < max_words)
    return _best(np.where(allowed, end[:, None] + start, -np.inf))


def _worst(start, end, max_words):
    return best_span(-start, -end, max_words)


MISCONCEPTIONS = (
    Misconception(
        "apart",
        (_apart,),
        {
            "es": "Eliges el mejor principio y el mejor final cada uno por su lado. Pueden ser de "
            "respuestas distintas, y el final puede caer antes que el principio: suma los dos "
            "puntajes de cada tramo permitido y elige el mejor total.",
            "en": "You choose the best start and the best end each on its own. They may belong to "
            "different answers, and the end may fall before the start: add the two scores of "
            "every allowed span and choose the best total.",
        },
    ),
    Misconception(
        "start_first",
        (_start_first, _start_first_far),
        {
            "es": "Fijas primero el mejor principio y buscas el final desde ahí. Si ese principio "
            "no tiene ningún final bueno detrás, ya es tarde: un principio algo peor con un final "
            "mucho mejor gana en la suma.",
            "en": "You fix the best start first and look for the end from there. If no good end "
            "follows that start, it is too late: a slightly worse start with a much better end "
            "wins in the sum.",
        },
    ),
    Misconception(
        "end_first",
        (_end_first,),
        {
            "es": "Fijas primero el mejor final y buscas el principio hacia atrás. Es la misma "
            "prisa en sentido contrario: deja que compitan todos los pares.",
            "en": "You fix the best end first and look back for the start. It is the same haste in "
            "the other direction: let all the pairs compete.",
        },
    ),
    Misconception(
        "sorted_apart",
        (_sorted_apart,),
        {
            "es": "Cuando el final cae antes que el principio, los intercambias. El token que "
            "puntuaba como final pasa a ser principio, y nadie ha dicho que sea bueno para eso: "
            "descarta esos pares en vez de darles la vuelta.",
            "en": "When the end falls before the start, you swap them. The token that scored as an "
            "end becomes a start, and nobody said that it is good at that: rule such pairs out "
            "instead of turning them round.",
        },
    ),
    Misconception(
        "no_limit",
        (_within(lambda m: 0, lambda m: np.inf),),
        {
            "es": "No limitas la longitud. Un buen principio en la primera oración y un buen final "
            "en la última hacen una «respuesta» de párrafo entero: exige que "
            "`last - first < max_words`.",
            "en": "You do not limit the length. A good start in the first sentence and a good end "
            "in the last make an “answer” of a whole paragraph: require "
            "`last - first < max_words`.",
        },
    ),
    Misconception(
        "one_too_many",
        (_within(lambda m: 0, lambda m: m),),
        {
            "es": "Dejas pasar tramos de `max_words + 1` tokens. De `first` a `last`, los dos "
            "incluidos, hay `last - first + 1`: la diferencia debe quedar por debajo de "
            "`max_words`.",
            "en": "You let through spans of `max_words + 1` tokens. From `first` to `last`, both "
            "included, there are `last - first + 1`: the difference must stay below `max_words`.",
        },
    ),
    Misconception(
        "one_too_few",
        (_within(lambda m: 0, lambda m: max(m - 2, 0)),),
        {
            "es": "Descartas los tramos de exactamente `max_words` tokens, que están permitidos. "
            "`last - first` puede llegar a `max_words - 1`.",
            "en": "You rule out the spans of exactly `max_words` tokens, which are allowed. "
            "`last - first` may reach `max_words - 1`.",
        },
    ),
    Misconception(
        "any_order",
        (_within(lambda m: 1 - m, lambda m: m - 1),),
        {
            "es": "Limitas la distancia, pero no el orden: aceptas finales anteriores al principio. "
            "Además de `last - first < max_words` hace falta `last >= first`.",
            "en": "You limit the distance but not the order: ends before the start are accepted. "
            "Besides `last - first < max_words` you need `last >= first`.",
        },
    ),
    Misconception(
        "no_single_words",
        (_within(lambda m: min(1, m - 1), lambda m: m - 1),),
        {
            "es": "Exiges que el final venga *después* del principio, así que ninguna respuesta "
            "puede ser de una sola palabra, y *1945* lo es: permite `last == first`.",
            "en": "You require the end to come *after* the start, so no answer can be a single "
            "word, and *1945* is one: allow `last == first`.",
        },
    ),
    Misconception(
        "zero_for_forbidden",
        (_masked_with_zero,),
        {
            "es": "A los tramos prohibidos les pones 0. Los puntajes son logits y pueden ser "
            "negativos: cuando todos los permitidos lo son, gana uno prohibido. Pon `-np.inf`.",
            "en": "You give 0 to the forbidden spans. The scores are logits and may be negative: "
            "when all the allowed ones are, a forbidden one wins. Put `-np.inf`.",
        },
    ),
    Misconception(
        "product",
        (_product,),
        {
            "es": "Multiplicas los puntajes. Los logits se suman, porque lo que se multiplica son "
            "las probabilidades: con dos logits muy negativos, tu producto es grande y positivo.",
            "en": "You multiply the scores. Logits are added, since what is multiplied are "
            "probabilities: with two very negative logits your product is large and positive.",
        },
    ),
    Misconception(
        "past_the_end",
        (_of_result(lambda span: span + np.array([0, 1])),),
        {
            "es": "Devuelves como final el token que sigue al último, como en un corte de Python. "
            "Aquí `last` está incluido: es el último token de la respuesta.",
            "en": "You return as the end the token after the last one, as in a Python slice. Here "
            "`last` is included: it is the last token of the answer.",
        },
    ),
    Misconception(
        "length_instead_of_end",
        (_relative, _of_result(lambda span: np.array([span[0], span[1] - span[0] + 1]))),
        {
            "es": "Tu segundo número cuenta desde el principio del tramo, no desde el del texto. "
            "Súmale `first` para que sea la posición del último token.",
            "en": "Your second number counts from the start of the span, not from that of the text. "
            "Add `first` to make it the position of the last token.",
        },
    ),
    Misconception(
        "reversed_pair",
        (_of_result(lambda span: span[::-1]), _transposed),
        {
            "es": "Has cruzado los papeles de `start` y `end`. En la tabla de totales la fila es el "
            "principio y la columna el final, y se devuelve `(first, last)` en ese orden.",
            "en": "You have crossed the roles of `start` and `end`. In the table of totals the row "
            "is the start and the column the end, and `(first, last)` is returned in that order.",
        },
    ),
    Misconception(
        "worst",
        (_worst,),
        {
            "es": "Eliges el tramo que menos puntúa. Un logit alto es mejor: busca el máximo.",
            "en": "You choose the span that scores least. A high logit is better: look for the "
            "maximum.",
        },
    ),
)

EXERCISE = Exercise("best_span", 10, ("span",), best_span, cases, MISCONCEPTIONS)
