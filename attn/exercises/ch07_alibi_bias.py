"""Chapter 7, `alibi_bias`: a penalty for distance, and how to hand out another one."""

import numpy as np

from attn.exercises.spec import Exercise, Misconception


def alibi_bias(slopes, tgt_len, src_len):
    """Return minus each slope times each distance; the last query stands at the last key."""
    return -slopes[:, None, None] * _distances(tgt_len, src_len)


def cases(seed):
    """Return slopes and lengths: as many queries as keys, and fewer, as when generating.

    Parameters
    ----------
    seed : int
        Seed of the random slopes; the sizes are always the same.

    Returns
    -------
    list of dict
        With the keys ``slopes``, ``tgt_len`` and ``src_len``.
    """
    rng = np.random.default_rng(seed)
    sizes = [(1, 3, 3), (2, 3, 3), (2, 4, 4), (3, 2, 4), (3, 5, 5), (4, 1, 6), (5, 3, 7)]
    return [
        {
            "slopes": rng.uniform(0.05, 0.4, n_heads),
            "tgt_len": np.int64(tgt_len),
            "src_len": np.int64(src_len),
        }
        for n_heads, tgt_len, src_len in sizes
    ]


def _offsets(tgt_len, src_len, first=None):
    """Return how far behind its query each key stands; negative if it is ahead."""
    first = src_len - tgt_len if first is None else first
    return first + np.arange(tgt_len)[:, None] - np.arange(src_len)


def _distances(tgt_len, src_len, first=None):
    return abs(_offsets(tgt_len, src_len, first))


def _of(penalty):
    """Return the bias whose every head is this function of its slope and the offsets."""

    def bias(slopes, tgt_len, src_len):
        return penalty(slopes[:, None, None], _offsets(tgt_len, src_len).astype(float))

    return bias


def _from_the_start(slopes, tgt_len, src_len):
    return -slopes[:, None, None] * _distances(tgt_len, src_len, first=0)


def _reward_from_the_start(slopes, tgt_len, src_len):
    return -_from_the_start(slopes, tgt_len, src_len)


def _square_only(slopes, tgt_len, src_len):
    return alibi_bias(slopes, src_len, src_len)


def _own_slopes(slopes, tgt_len, src_len):
    n_heads = len(slopes)
    return alibi_bias(2.0 ** (-8 * np.arange(1, n_heads + 1) / n_heads), tgt_len, src_len)


def _without_future(slopes, tgt_len, src_len):
    bias = alibi_bias(slopes, tgt_len, src_len)
    return np.where(_offsets(tgt_len, src_len) < 0, -np.inf, bias)


def _changed(change):
    return lambda slopes, tgt_len, src_len: change(alibi_bias(slopes, tgt_len, src_len))


MISCONCEPTIONS = (
    Misconception(
        "reward",
        (_of(lambda m, offset: m * abs(offset)), _reward_from_the_start),
        {
            "es": "Falta el signo menos: sumas un premio que crece con la distancia, y lo lejano "
            "acapara el peso. El sesgo resta: vale 0 para la propia palabra y es negativo para "
            "todas las demás.",
            "en": "The minus sign is missing: you add a reward that grows with distance, and what "
            "is far takes all the weight. The bias subtracts: 0 for the word itself and negative "
            "for all the others.",
        },
    ),
    Misconception(
        "signed_distance",
        (_of(lambda m, offset: -m * offset), _of(lambda m, offset: m * offset)),
        {
            "es": "Usas la diferencia de posiciones con su signo, así que un lado de la oración "
            "recibe un castigo y el otro un premio. Aquí la distancia no tiene signo: toma el "
            "valor absoluto, `np.abs`.",
            "en": "You use the difference of positions with its sign, so one side of the sentence "
            "is punished and the other rewarded. Distance has no sign here: take the absolute "
            "value, `np.abs`.",
        },
    ),
    Misconception(
        "free_future",
        (_of(lambda m, offset: -m * np.maximum(offset, 0)),),
        {
            "es": "Las keys que están después de la query salen gratis. Con máscara causal nadie "
            "las ve y daría igual; en un codificador sí se ven, y deben pagar la distancia como "
            "las de antes.",
            "en": "The keys after the query come free. Under a causal mask nobody sees them and it "
            "would not matter; in an encoder they are seen, and must pay for their distance like "
            "those before.",
        },
    ),
    Misconception(
        "future_masked",
        (_without_future,),
        {
            "es": "Prohíbes con −inf las keys de después. Prohibir es asunto de la máscara; el "
            "sesgo solo cobra la distancia, y en un codificador se usa sin máscara causal: deja "
            "ahí `-slope * distance`.",
            "en": "You forbid the keys that come later with −inf. Forbidding is the business of "
            "the mask; the bias only charges for distance, and an encoder uses it without a "
            "causal mask: leave `-slope * distance` there.",
        },
    ),
    Misconception(
        "queries_from_the_start",
        (_from_the_start,),
        {
            "es": "Colocas la primera query sobre la primera key. Si hay menos queries que keys, "
            "como al generar con caché, la última query está sobre la última key: suma a sus "
            "posiciones la diferencia entre las dos longitudes.",
            "en": "You place the first query on the first key. If there are fewer queries than "
            "keys, as when generating with a cache, the last query stands on the last key: add "
            "the difference between the two lengths to their positions.",
        },
    ),
    Misconception(
        "square_only",
        (_square_only,),
        {
            "es": "Devuelves siempre tantas filas como columnas. Las queries pueden ser menos que las "
            "keys, y son las últimas de la oración: quédate con sus filas, las de abajo.",
            "en": "You always return as many rows as columns. There may be fewer queries than keys, "
            "and they are the last of the sentence: keep their rows, those at the bottom.",
        },
    ),
    Misconception(
        "keys_by_queries",
        (_changed(lambda bias: bias.swapaxes(1, 2).copy()),),
        {
            "es": "Tu matriz tiene las keys en las filas y las queries en las columnas. El sesgo "
            "se suma a los puntajes, y tiene su forma: cada fila es una query.",
            "en": "Your matrix has the keys in its rows and the queries in its columns. The bias "
            "is added to the scores, and has their shape: each row is a query.",
        },
    ),
    Misconception(
        "heads_last",
        (_changed(lambda bias: np.moveaxis(bias, 0, -1).copy()),),
        {
            "es": "Las cabezas están en el último eje. En los puntajes van delante de queries y "
            "keys: da a las pendientes dos ejes más por detrás, con `slopes[:, None, None]`.",
            "en": "The heads are on the last axis. In the scores they come before queries and "
            "keys: give the slopes two more axes behind, with `slopes[:, None, None]`.",
        },
    ),
    Misconception(
        "heads_merged",
        (
            _changed(lambda bias: bias.sum(axis=0)),
            _changed(lambda bias: bias.mean(axis=0)),
            _changed(lambda bias: bias[0].copy()),
        ),
        {
            "es": "Devuelves una sola matriz para todas las cabezas. Cada una tiene su pendiente, "
            "y por eso unas miran cerca y otras lejos: hace falta una matriz por cabeza.",
            "en": "You return a single matrix for all the heads. Each has its slope, which is why "
            "some look near and others far: it takes one matrix per head.",
        },
    ),
    Misconception(
        "own_slopes",
        (_own_slopes,),
        {
            "es": "Calculas las pendientes con la fórmula en lugar de usar las que te dan. "
            "`slopes` ya trae una por cabeza; así la misma función sirve para cualquier receta.",
            "en": "You compute the slopes from the formula instead of using those you are given. "
            "`slopes` already holds one per head; that way the same function serves any recipe.",
        },
    ),
    Misconception(
        "divided",
        (_of(lambda m, offset: -abs(offset) / m),),
        {
            "es": "Divides la distancia entre la pendiente. Es al revés: una pendiente grande es "
            "una cabeza a la que la distancia le cuesta mucho, así que se multiplica.",
            "en": "You divide the distance by the slope. It is the reverse: a large slope is a "
            "head to which distance costs a lot, so you multiply.",
        },
    ),
    Misconception(
        "squared",
        (_of(lambda m, offset: -m * offset**2),),
        {
            "es": "Elevas la distancia al cuadrado. En ALiBi el castigo es lineal: cada paso más "
            "cuesta lo mismo que el anterior, y los pesos bajan como una exponencial.",
            "en": "You square the distance. In ALiBi the penalty is linear: each further step "
            "costs as much as the one before, and the weights fall like an exponential.",
        },
    ),
    Misconception(
        "logarithm",
        (_of(lambda m, offset: -m * np.log1p(abs(offset))),),
        {
            "es": "Tomas el logaritmo de la distancia. Otros métodos lo hacen; en ALiBi el castigo "
            "es la pendiente por la distancia, sin más.",
            "en": "You take the logarithm of the distance. Other methods do; in ALiBi the penalty "
            "is the slope times the distance and nothing else.",
        },
    ),
    Misconception(
        "one_step_too_many",
        (_of(lambda m, offset: -m * (abs(offset) + 1)),),
        {
            "es": "La propia palabra paga como si estuviera a un paso. Sumar lo mismo a toda la "
            "fila no cambiaría los pesos, pero la distancia de una palabra a sí misma es 0: "
            "quita el `+ 1`.",
            "en": "The word itself pays as if it were a step away. Adding the same to a whole row "
            "would not change the weights, but the distance from a word to itself is 0: drop "
            "the `+ 1`.",
        },
    ),
    Misconception(
        "exponential",
        (_of(lambda m, offset: np.exp(-m * abs(offset))),),
        {
            "es": "Calculas la exponencial del sesgo. De eso ya se encarga la softmax: el sesgo se "
            "suma a los puntajes, antes de ella, y es `-slope * distance`.",
            "en": "You take the exponential of the bias. The softmax already sees to that: the "
            "bias is added to the scores, before it, and is `-slope * distance`.",
        },
    ),
    Misconception(
        "share_of_length",
        (_of(lambda m, offset: -m * abs(offset) / offset.shape[-1]),),
        {
            "es": "Divides la distancia entre el número de keys, y así un paso cuesta menos cuanto "
            "más larga es la oración. Lo que permite pasar a oraciones más largas es que cueste "
            "siempre igual.",
            "en": "You divide the distance by the number of keys, so a step costs less the longer "
            "the sentence. What lets a model go on to longer sentences is that it always costs "
            "the same.",
        },
    ),
)

EXERCISE = Exercise("alibi_bias", 7, ("bias",), alibi_bias, cases, MISCONCEPTIONS)
