"""Chapter 6, `causal_mask`: as many queries as keys or fewer, and the ways to get it wrong."""

import numpy as np

from attn.exercises.spec import Exercise, Misconception
from attn.reference import causal_mask


def cases(seed):
    """Return numbers of queries and of keys: equal, and with more keys than queries.

    Parameters
    ----------
    seed : int
        Seed of the random numbers, which are the sizes.

    Returns
    -------
    list of dict
        With the keys ``tgt_len`` and ``src_len``, arrays without axes.
    """
    rng = np.random.default_rng(seed)

    def draw(tgt_len, more):
        return {"tgt_len": np.array(tgt_len), "src_len": np.array(tgt_len + more)}

    small, large = rng.integers(3, 6), rng.integers(6, 9)
    return [
        draw(small, 0),
        draw(large, 0),
        draw(small, 2),
        draw(large, rng.integers(3, 6)),
        draw(2, rng.integers(4, 7)),
        draw(1, rng.integers(2, 5)),
    ]


def _triangle(shift):
    """Return a mask whose query i sees the keys up to i + shift(queries, keys)."""
    return lambda n, m: np.arange(m) <= np.arange(n)[:, None] + shift(n, m)


def _from(condition):
    """Return a mask from a condition on the key and on where its query stands."""
    return lambda n, m: condition(np.arange(m), np.arange(n)[:, None] + m - n)


MISCONCEPTIONS = (
    Misconception(
        "from_the_first_key",
        (_triangle(lambda n, m: 0),),
        {
            "es": "Pones la primera query junto a la primera key. Con más keys que queries, las "
            "que sobran son las ya leídas: es la última query la que está junto a la última key. "
            "Desplaza el triángulo lo que falte.",
            "en": "You put the first query beside the first key. With more keys than queries, the "
            "extra ones are those already read: it is the last query that stands at the last key. "
            "Shift the triangle by the difference.",
        },
    ),
    Misconception(
        "shifted_the_other_way",
        (_triangle(lambda n, m: n - m),),
        {
            "es": "Desplazas el triángulo hacia el lado contrario, y las primeras queries se quedan "
            "sin keys. Sobran keys, no queries: el desplazamiento es keys menos queries, y es "
            "positivo.",
            "en": "You shift the triangle the wrong way, and the first queries are left without "
            "keys. There are more keys than queries: the shift is keys minus queries, and it is "
            "positive.",
        },
    ),
    Misconception(
        "not_itself",
        (_triangle(lambda n, m: m - n - 1), _triangle(lambda n, m: -1)),
        {
            "es": "Cada query ve las keys anteriores y no la suya. Su propio token ya está escrito, "
            "así que mirarlo no es trampa, y sin él la primera fila se queda sin nada: la "
            "condición es ≤, no <.",
            "en": "Each query sees the keys before it and not its own. Its own token is already "
            "written, so looking at it is no cheating, and without it the first row is left with "
            "nothing: the condition is ≤, not <.",
        },
    ),
    Misconception(
        "one_too_far",
        (_triangle(lambda n, m: m - n + 1),),
        {
            "es": "Cada query ve una key de más, y esa key es justo el token que debe predecir. Es "
            "la fuga más difícil de ver: revisa el `k` de `np.tri` o el `diagonal` de `torch.triu`.",
            "en": "Each query sees one key too many, and that key is exactly the token it has to "
            "predict. It is the leak hardest to see: check the `k` of `np.tri` or the `diagonal` "
            "of `torch.triu`.",
        },
    ),
    Misconception(
        "future_instead",
        (_from(lambda j, i: j >= i), lambda n, m: np.arange(m) >= np.arange(n)[:, None]),
        {
            "es": "Te quedas con el triángulo de arriba: cada query ve lo que viene después y no lo "
            "anterior. Las filas son queries y las columnas keys; lo permitido está abajo a la "
            "izquierda, como en `np.tril`.",
            "en": "You keep the upper triangle: each query sees what comes after it and not what "
            "came before. Rows are queries and columns keys; what is allowed lies at the bottom "
            "left, as in `np.tril`.",
        },
    ),
    Misconception(
        "marked_as_forbidden",
        (_from(lambda j, i: j > i), lambda n, m: np.arange(m) > np.arange(n)[:, None]),
        {
            "es": "Tus True son lo prohibido, el convenio de `nn.MultiheadAttention`. En el curso "
            "True significa «puede atender»: niega tu matriz con `~`.",
            "en": "Your True is what is forbidden, the convention of `nn.MultiheadAttention`. In "
            "the course True means “may attend”: negate your matrix with `~`.",
        },
    ),
    Misconception(
        "everything_allowed",
        (_from(lambda j, i: (j >= 0) & (i >= 0)),),
        {
            "es": "Permites todo. Cada query ve entonces la oración entera, y al entrenar le "
            "bastaría copiar la respuesta: la query de la posición i solo ve las keys hasta i.",
            "en": "You allow everything. Each query then sees the whole sentence, and in training "
            "it would only have to copy the answer: the query at position i sees the keys up to i "
            "and no more.",
        },
    ),
    Misconception(
        "only_itself",
        (_from(lambda j, i: j == i),),
        {
            "es": "Cada query se ve solo a sí misma, y así la atención no lleva nada de un token a "
            "otro. Además de la diagonal está permitido todo lo que queda a su izquierda: usa ≤ "
            "en lugar de ==.",
            "en": "Each query sees only itself, so attention carries nothing from one token to "
            "another. Besides the diagonal, all that lies to its left is allowed: use ≤ instead "
            "of ==.",
        },
    ),
    Misconception(
        "rows_and_columns_swapped",
        (lambda n, m: causal_mask(int(n), int(m)).T,),
        {
            "es": "Tu matriz tiene una fila por key y una columna por query. Los puntajes son "
            "`query @ key.mT`, con una fila por query: la máscara debe tener su misma forma.",
            "en": "Your matrix has a row per key and a column per query. The scores are "
            "`query @ key.mT`, with a row per query: the mask must have the same shape as they "
            "do.",
        },
    ),
    Misconception(
        "numbers_for_the_scores",
        (
            lambda n, m: np.where(causal_mask(int(n), int(m)), 0.0, -np.inf),
            lambda n, m: np.where(causal_mask(int(n), int(m)), 0.0, -1e9),
        ),
        {
            "es": "Devuelves lo que se sumaría a los puntajes: 0 y un número muy negativo. Aquí se "
            "pide la máscara, que es booleana; de ella sale lo otro con "
            "`np.where(mask, 0, -np.inf)`.",
            "en": "You return what would be added to the scores: 0 and a very negative number. The "
            "task asks for the mask, which is boolean; the other comes from it by "
            "`np.where(mask, 0, -np.inf)`.",
        },
    ),
    Misconception(
        "square_of_keys",
        (lambda n, m: causal_mask(int(m)),),
        {
            "es": "Tienes una fila para cada key, y hay menos queries que keys. Las queries son los "
            "últimos tokens: de ese cuadrado quédate con las últimas filas.",
            "en": "You have a row for every key, and there are fewer queries than keys. The queries "
            "are the last tokens: of that square, keep the last rows.",
        },
    ),
    Misconception(
        "square_of_queries",
        (lambda n, m: causal_mask(int(n)),),
        {
            "es": "Tu matriz es cuadrada, con una columna por query. Hace falta una columna por "
            "key, también por las que se leyeron antes y están guardadas.",
            "en": "Your matrix is square, with a column per query. It needs a column per key, also "
            "for those read earlier and kept.",
        },
    ),
    Misconception(
        "forgets_the_cache",
        (lambda n, m: (np.arange(m) >= m - n) & causal_mask(int(n), int(m)),),
        {
            "es": "Las queries ven los tokens nuevos y ninguno de los que se leyeron antes. Lo ya "
            "leído es pasado para todas: sus columnas son True enteras.",
            "en": "The queries see the new tokens and none of those read before. What was read "
            "earlier is past for all of them: its columns are True throughout.",
        },
    ),
)

EXERCISE = Exercise("causal_mask", 6, ("mask",), causal_mask, cases, MISCONCEPTIONS)
