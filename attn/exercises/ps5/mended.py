"""Problem set 5, `mended_head_weights`: the fault of a given function, and other ones."""

import numpy as np

from attn.exercises.spec import Exercise, Misconception
from attn.reference import softmax


def mended_head_weights(query, key, real):
    """Return the weights of every head, which sees the real keys of its own sentence."""
    return softmax(np.where(real[:, None, None, :], _scores(query, key), -np.inf))


def cases(seed):
    """Return queries and keys of several sentences and heads, and which keys are real.

    Parameters
    ----------
    seed : int
        Seed of the random numbers; the shapes are always the same.

    Returns
    -------
    list of dict
        With the keys ``query``, ``key`` and ``real``, the last boolean.
    """
    rng = np.random.default_rng(seed)

    def draw(lengths, n_heads, tgt_len, src_len, d_k, left=(), height=0.0):
        query, key = (
            rng.uniform(-1, 1, (len(lengths), n_heads, n, d_k)) for n in (tgt_len, src_len)
        )
        query[..., 0] += np.resize([height, -height], tgt_len)  # rows far apart
        key[..., 0] = np.where(height, 1, key[..., 0])
        real = np.arange(src_len) < np.array(lengths)[:, None]
        for row in left:
            real[row] = real[row, ::-1]
        return {"query": query, "key": key, "real": real}

    return [
        draw([3, 4], 2, 2, 5, 3),
        draw([5, 3], 3, 4, 5, 2),
        draw([4, 6, 3], 2, 3, 6, 5, left=[2]),
        draw([3, 5, 4, 6], 3, 2, 7, 3),
        draw([5, 3], 2, 3, 6, 4, left=[0], height=3000.0),
    ]


def _scores(query, key):
    return query @ key.mT / np.sqrt(query.shape[-1])


def _mask(real, query):
    return np.broadcast_to(real[:, None, None, :], (*query.shape[:-1], real.shape[-1]))


def _with(mask=_mask, scores=_scores, weigh=None):
    """Return the weights with one of their ingredients exchanged for another."""

    def weights(query, key, real):
        allowed = mask(real, query)
        if weigh:
            return weigh(scores(query, key), allowed)
        return softmax(np.where(allowed, scores(query, key), -np.inf))

    return weights


def _tiled(real, query):
    batch_size, n_heads = query.shape[:2]
    return np.tile(real, (n_heads, 1)).reshape(batch_size, n_heads, 1, -1)


def _reordered(query, key, real):
    """Mend the order of the result and not that of the mask."""
    batch_size, n_heads, *rest = query.shape[:-1]
    weights = _with(_tiled)(query, key, real)
    return weights.reshape(n_heads, batch_size, *rest, -1).swapaxes(0, 1)


def _naive(scores, mask):
    exponentials = np.exp(np.where(mask, scores, -np.inf))
    return exponentials / exponentials.sum(axis=-1, keepdims=True)


MISCONCEPTIONS = (
    Misconception(
        "masks_of_other_sentences",
        (_with(_tiled),),
        {
            "es": "El fallo sigue ahí. Escribe en qué orden van los pares (oración, cabeza) tras "
            "el `reshape` de `query`, y en qué orden van las filas de `mask`.",
            "en": "The fault is still there. Write down in which order the pairs (sentence, head) "
            "go after the `reshape` of `query`, and in which order the rows of `mask` go.",
        },
    ),
    Misconception(
        "reordered_result",
        (_reordered,),
        {
            "es": "Cambias el orden del resultado, y el de las queries y las keys ya era el bueno. "
            "Lo que va desordenado es la máscara.",
            "en": "You change the order of the result, and that of queries and keys was right "
            "already. It is the mask that is out of order.",
        },
    ),
    Misconception(
        "no_mask",
        (_with(lambda real, query: np.ones_like(_mask(real, query))),),
        {
            "es": "La máscara se perdió en el arreglo: todas las oraciones miran a su relleno.",
            "en": "The mask was lost in the repair: every sentence looks at its padding.",
        },
    ),
    Misconception(
        "mask_inverted",
        (_with(lambda real, query: ~_mask(real, query)),),
        {
            "es": "Ahora solo se mira al relleno. `real` ya venía con True en lo permitido.",
            "en": "Now only the padding is looked at. `real` came with True at what is allowed.",
        },
    ),
    Misconception(
        "first_sentence_for_all",
        (_with(lambda real, query: _mask(real[:1].repeat(len(real), axis=0), query)),),
        {
            "es": "Todas las oraciones usan la máscara de la primera. Cada una tiene su relleno.",
            "en": "All sentences use the mask of the first. Each has padding of its own.",
        },
    ),
    Misconception(
        "common_to_all",
        (
            _with(lambda real, query: _mask(0 * real + real.all(axis=0) > 0, query)),
            _with(lambda real, query: _mask(0 * real + real.any(axis=0) > 0, query)),
        ),
        {
            "es": "Haces una sola máscara para el lote, con lo que es real en todas o en alguna. "
            "Con la primera, las largas pierden palabras; con la segunda, las cortas ven su "
            "relleno.",
            "en": "You make one mask for the batch, of what is real in all or in any. With the "
            "first, long sentences lose words; with the second, short ones see their padding.",
        },
    ),
    Misconception(
        "multiplied",
        (_with(weigh=lambda scores, mask: softmax(scores * mask)),),
        {
            "es": "Multiplicas los puntajes por la máscara: un puntaje de 0 pesa e⁰ = 1. El código "
            "dado ponía −∞.",
            "en": "You multiply the scores by the mask: a score of 0 weighs e⁰ = 1. The given code "
            "put −∞.",
        },
    ),
    Misconception(
        "after_the_softmax",
        (_with(weigh=lambda scores, mask: softmax(scores) * mask),),
        {
            "es": "La máscara llega tarde, con los pesos ya repartidos, y las filas no suman 1. "
            "En el código dado iba antes de la exponencial.",
            "en": "The mask comes late, with the weights already shared out, and rows do not sum "
            "to 1. In the given code it came before the exponential.",
        },
    ),
    Misconception(
        "unscaled",
        (_with(scores=lambda query, key: query @ key.mT),),
        {
            "es": "Falta la raíz de `d_k`, que estaba bien donde estaba.",
            "en": "The root of `d_k` is missing, which was right where it was.",
        },
    ),
    Misconception(
        "scaled_by_all_heads",
        (
            _with(
                scores=lambda query, key: query @ key.mT / np.sqrt(query.shape[1] * query.shape[-1])
            ),
        ),
        {
            "es": "Divides entre la raíz de la anchura de todas las cabezas juntas. Cada puntaje "
            "es de una sola, y suma `d_k` productos.",
            "en": "You divide by the root of the width of all heads together. Each score is of one "
            "head, and sums `d_k` products.",
        },
    ),
    Misconception(
        "overflow",
        (_with(weigh=_naive),),
        {
            "es": "Quitaste la resta del máximo, y con puntajes grandes `exp` se desborda. No era "
            "eso lo que fallaba.",
            "en": "You took out the subtraction of the maximum, and with large scores `exp` "
            "overflows. That was not the fault.",
        },
    ),
)

EXERCISE = Exercise(
    "mended_head_weights",
    6,
    ("weights",),
    mended_head_weights,
    cases,
    MISCONCEPTIONS,
    problem_set="ps5",
)
