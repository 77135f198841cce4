"""Problem set 3, `grouped_attention`: heads that share keys and values, and how to get it wrong."""

import numpy as np

from attn.exercises import ch03_softmax as wrong
from attn.exercises.spec import Exercise, Misconception
from attn.reference import scaled_dot_product_attention, softmax


def grouped_attention(query, key, value, mask=None):
    """Return the outputs and the weights of heads that share keys and values by groups.

    Parameters
    ----------
    query : ndarray, shape (..., n_heads, tgt_len, d_k)
    key : ndarray, shape (..., n_kv_heads, src_len, d_k)
        ``n_kv_heads`` divides ``n_heads``; heads that stand together share one.
    value : ndarray, shape (..., n_kv_heads, src_len, d_v)
    mask : ndarray of bool, optional
        True = may attend. It broadcasts to (..., tgt_len, src_len), the same for every head.

    Returns
    -------
    output : ndarray, shape (..., n_heads, tgt_len, d_v)
    weights : ndarray, shape (..., n_heads, tgt_len, src_len)

    References
    ----------
    Ainslie et al. (2023), GQA.
    """
    key, value = _shared(query, key), _shared(query, value)
    mask = None if mask is None else mask[..., None, :, :]
    return scaled_dot_product_attention(query, key, value, mask)


def _shared(query, x):
    """Return one head of `x` for each head of the query."""
    return np.repeat(x, query.shape[-3] // x.shape[-3], axis=-3)


def with_large_scores(case, largest=40):
    """Move the scores of each row far from 0 and from those of other rows, in place."""
    signs = np.where(np.arange(case["query"].shape[-2]) % 2 == 0, 1, -1)
    case["query"][..., 0], case["key"][..., 0] = largest * signs, largest


def cases(seed):
    """Return inputs: groups of every size, with and without mask, with large numbers, in batches.

    Parameters
    ----------
    seed : int
        Seed of the random numbers; the shapes are always the same.

    Returns
    -------
    list of dict
        With the keys ``query``, ``key``, ``value`` and, in some, ``mask``.
    """
    rng = np.random.default_rng(seed)

    def draw(heads, lengths, d_k, d_v, batch=(), mask=None):
        (n_heads, n_kv_heads), (tgt_len, src_len) = heads, lengths
        case = {
            "query": rng.uniform(-1, 1, (*batch, n_heads, tgt_len, d_k)),
            "key": rng.uniform(-1, 1, (*batch, n_kv_heads, src_len, d_k)),
            "value": rng.normal(size=(*batch, n_kv_heads, src_len, d_v)),
        }
        return case if mask is None else case | {"mask": mask}

    def chequered(*shape):
        """Return a mask with True and False in every row, at least two True."""
        return (np.arange(shape[-1]) + rng.integers(2, size=(*shape[:-1], 1))) % 2 == 0

    large = draw((4, 2), (2, 3), 3, 2)
    with_large_scores(large)
    # A forbidden key has by far the highest score in the rows whose query is positive.
    masked = draw((4, 2), (2, 3), 4, 2, mask=np.array([[True, True, False]] * 2))
    with_large_scores(masked, 60)
    masked["key"][..., 2, 0] = 120
    one_empty_row = chequered(3, 4)
    one_empty_row[1] = False
    return [
        draw((4, 2), (2, 3), 2, 3),
        draw((6, 2), (3, 2), 4, 2),
        draw((6, 3), (2, 4), 3, 5),
        draw((2, 1), (3, 2), 4, 3),
        draw((2, 2), (3, 4), 2, 3),
        draw((4, 2), (3, 5), 4, 2, mask=chequered(3, 5)),
        draw((4, 2), (2, 4), 3, 5, mask=chequered(1, 4)),
        large,
        masked,
        draw((4, 2), (3, 4), 2, 5, mask=one_empty_row),
        draw((4, 2), (3, 5), 2, 3, batch=(3,)),
        draw((4, 2), (2, 5), 3, 4, batch=(2, 3), mask=chequered(2, 5)),
        draw((4, 2), (3, 4), 2, 5, batch=(4,), mask=chequered(4, 3, 4)),
    ]


def _masked(scores, mask, fill=-np.inf):
    return scores if mask is None else np.where(mask[..., None, :, :], scores, fill)


def _attention(share=_shared, scale=lambda query, key: 1, mask=_masked, weigh=softmax):
    """Return grouped attention with one of its parts replaced."""

    def attention(query, key, value, allowed=None):
        key, value = share(query, key), share(query, value)
        scores = query @ key.mT * scale(query, key) / np.sqrt(query.shape[-1])
        weights = weigh(mask(scores, allowed))
        return weights @ value, weights

    return attention


def _tiled(query, x):
    return np.tile(x, (query.shape[-3] // x.shape[-3], 1, 1))


def _first_only(query, x):
    return np.repeat(x[..., :1, :, :], query.shape[-3], axis=-3)


def _mean_of_all(query, x):
    return np.repeat(x.mean(axis=-3, keepdims=True), query.shape[-3], axis=-3)


def _tokens_repeated(query, x):
    return np.repeat(x, query.shape[-3] // x.shape[-3], axis=-2)


def _by_groups(query, key):
    """Return the queries with the heads of each group on an axis of their own."""
    *batch, n_heads, tgt_len, d_k = query.shape
    return query.reshape(*batch, key.shape[-3], n_heads // key.shape[-3], tgt_len, d_k)


def _queries_merged(query, key, value, mask=None):
    return grouped_attention(_by_groups(query, key).mean(axis=-3), key, value, mask)


def _one_query_of_each_group(query, key, value, mask=None):
    return grouped_attention(_by_groups(query, key)[..., 0, :, :], key, value, mask)


def _axis_of_groups_left(query, key, value, mask=None):
    output, weights = grouped_attention(query, key, value, mask)
    return _by_groups(output, key), _by_groups(weights, key)


def _key_as_value(query, key, value, mask=None):
    return grouped_attention(query, key, key, mask)


def _three_axes(query, key, value, mask=None):
    if query.ndim != 3:
        raise ValueError("operands could not be broadcast together")
    return grouped_attention(query, key, value, mask)


def _mask_afterwards(query, key, value, mask=None):
    _, weights = grouped_attention(query, key, value)
    weights = weights if mask is None else weights * mask[..., None, :, :]
    return weights @ _shared(query, value), weights


def _maximum_before_mask(divide):
    return _attention(
        mask=lambda scores, mask: _masked(scores - wrong.peaks(scores), mask),
        weigh=lambda shifted: divide(np.exp(shifted)),
    )


MISCONCEPTIONS = (
    Misconception(
        "tiled",
        (_attention(share=_tiled),),
        {
            "es": "Repartes las cabezas de la key por turnos: 1, 2, 1, 2. Comparten las que van "
            "seguidas, 1, 1, 2, 2: repite cada una sobre el eje de las cabezas, `axis=-3`.",
            "en": "You deal out the heads of the key in turn: 1, 2, 1, 2. Those that stand "
            "together share, 1, 1, 2, 2: repeat each along the axis of the heads, `axis=-3`.",
        },
    ),
    Misconception(
        "one_group",
        (_attention(share=_first_only), _attention(share=_mean_of_all)),
        {
            "es": "Todas tus cabezas miran las mismas keys. Eso es una sola key para todas; aquí "
            "hay `key.shape[-3]`, y cada grupo de cabezas tiene la suya.",
            "en": "All your heads look at the same keys. That is a single key head for all; here "
            "there are `key.shape[-3]`, and each group of heads has its own.",
        },
    ),
    Misconception(
        "keys_not_shared",
        (_attention(share=lambda query, x: x),),
        {
            "es": "Multiplicas cabezas de dos números distintos. NumPy solo lo acepta si la key "
            "tiene 1 o tantas como la query: repite antes cada cabeza de keys y values.",
            "en": "You multiply two different numbers of heads. NumPy accepts that only if the key "
            "has 1 or as many as the query: repeat each head of keys and values first.",
        },
    ),
    Misconception(
        "tokens_repeated",
        (_attention(share=_tokens_repeated),),
        {
            "es": "Repites tokens, no cabezas: el eje -2 es el de los tokens. Las cabezas están "
            "en el -3.",
            "en": "You repeat tokens, not heads: axis -2 is that of the tokens. The heads are at "
            "-3.",
        },
    ),
    Misconception(
        "queries_merged",
        (_queries_merged, _one_query_of_each_group),
        {
            "es": "Te salen tantas cabezas como tiene la key: fundes las queries de un grupo en "
            "una, o solo usas la primera. Se comparten keys y values; cada query pregunta por su "
            "cuenta.",
            "en": "You get only as many heads as the key has: you merge the queries of a group "
            "into one, or use only the first. Keys and values are shared; each query asks for "
            "itself.",
        },
    ),
    Misconception(
        "axis_of_groups_left",
        (_axis_of_groups_left,),
        {
            "es": "Los números son los debidos, repartidos en dos ejes: grupo y lugar en el grupo. "
            "Júntalos al final en uno solo, el de las cabezas.",
            "en": "The numbers are right, spread over two axes: the group and the place in it. "
            "Join them at the end into one, that of the heads.",
        },
    ),
    Misconception(
        "three_axes",
        (_three_axes,),
        {
            "es": "Con lote, tu función falla: cuenta los ejes desde el principio. Las cabezas "
            "están siempre en el tercero desde el final.",
            "en": "With batches your function fails: it counts axes from the front. The heads are "
            "always on the third from the end.",
        },
    ),
    Misconception(
        "unscaled",
        (_attention(scale=lambda query, key: np.sqrt(query.shape[-1])),),
        {
            "es": "Compartir keys no cambia la escala: cada puntaje suma d_k productos y se divide "
            "entre la raíz de d_k. Te falta ese paso.",
            "en": "Sharing keys does not change the scale: each score sums d_k products and is "
            "divided by the root of d_k. That step is missing.",
        },
    ),
    Misconception(
        "scaled_by_all_heads",
        (_attention(scale=lambda query, key: 1 / np.sqrt(query.shape[-3])),),
        {
            "es": "Escalas con la raíz del ancho de todas las cabezas juntas. Un puntaje es de una "
            "sola cabeza: la raíz es la de `query.shape[-1]`.",
            "en": "You scale by the root of the width of all the heads together. A score belongs "
            "to a single head: the root is that of `query.shape[-1]`.",
        },
    ),
    Misconception(
        "key_as_value",
        (_key_as_value,),
        {
            "es": "La salida está hecha de keys. Cada grupo comparte dos cosas, y la que se "
            "entrega es su value, de d_v componentes.",
            "en": "The output is made of keys. Each group shares two things, and the one handed "
            "over is its value, of d_v components.",
        },
    ),
    Misconception(
        "softmax_over_queries",
        (_attention(mask=lambda s, m: _masked(s, m, -1e9), weigh=lambda s: softmax(s, axis=-2)),),
        {
            "es": "Tu softmax hace que compitan las queries entre sí. En cada cabeza reparte una "
            "query entre sus keys: el último eje.",
            "en": "Your softmax makes the queries compete with each other. In each head it is one "
            "query that shares its weight among its keys: the last axis.",
        },
    ),
    Misconception(
        "softmax_over_heads",
        (_attention(mask=lambda s, m: _masked(s, m, -1e9), weigh=lambda s: softmax(s, axis=-3)),),
        {
            "es": "Tu softmax recorre el eje de las cabezas: compiten unas con otras por cada par "
            "de tokens. Cada cabeza reparte por su cuenta: `axis=-1`.",
            "en": "Your softmax runs along the axis of the heads: they compete with one another "
            "for each pair of tokens. Each head shares by itself: `axis=-1`.",
        },
    ),
    Misconception(
        "mask_without_if",
        (
            _attention(mask=lambda s, m: np.where(m, s, -np.inf)),
            _attention(mask=lambda s, m: np.where(m[..., None, :, :], s, -np.inf)),
        ),
        {
            "es": "La máscara es opcional. Cuando no hay, `mask` vale `None` y no se puede indexar "
            "ni pasar a `np.where`: deja los puntajes como están.",
            "en": "The mask is optional. When there is none, `mask` is `None` and can neither be "
            "indexed nor given to `np.where`: leave the scores as they are.",
        },
    ),
    Misconception(
        "mask_ignored",
        (_attention(mask=lambda s, m: s),),
        {
            "es": "Tus cabezas miran donde la máscara no las deja: no la usas en ninguna parte. "
            "Entra antes de la softmax, en todas las cabezas por igual.",
            "en": "Your heads look where the mask does not let them: you use it nowhere. It comes "
            "in before the softmax, in every head alike.",
        },
    ),
    Misconception(
        "mask_without_heads",
        (_attention(mask=lambda s, m: s if m is None else np.where(m, s, -np.inf)),),
        {
            "es": "Cuando la máscara tiene lote, NumPy empareja su primer eje con el de las "
            "cabezas, y cada cabeza toma la de otra oración. Hazle sitio: "
            "`mask[..., None, :, :]`.",
            "en": "When the mask has a batch, NumPy pairs its first axis with that of the heads, "
            "and each head takes that of another sentence. Make room for it: "
            "`mask[..., None, :, :]`.",
        },
    ),
    Misconception(
        "mask_inverted",
        (_attention(mask=lambda s, m: _masked(s, None if m is None else ~m)),),
        {
            "es": "Dejas ver lo prohibido y tapas lo permitido. El −inf se pone donde `mask` es "
            "False.",
            "en": "You show what is forbidden and hide what is allowed. The −inf goes where `mask` "
            "is False.",
        },
    ),
    Misconception(
        "mask_after_softmax",
        (_mask_afterwards,),
        {
            "es": "Anulas pesos que la softmax ya contó en el reparto, y las filas con máscara no "
            "llegan a 1. Lo prohibido se quita de los puntajes.",
            "en": "You cancel weights that the softmax has counted in the sharing, and masked rows "
            "do not reach 1. What is forbidden is taken out of the scores.",
        },
    ),
    Misconception(
        "overflow",
        (_attention(weigh=wrong.unstable), _attention(weigh=wrong.unstable_or_zero)),
        {
            "es": "Con puntajes de cientos, `np.exp` da infinito y el cociente NaN. Resta antes el "
            "máximo de la fila, en cada query de cada cabeza.",
            "en": "With scores in the hundreds `np.exp` gives infinity and the quotient NaN. "
            "Subtract the maximum of the row first, for each query of each head.",
        },
    ),
    Misconception(
        "global_maximum",
        (_attention(weigh=wrong.global_peak), _attention(weigh=wrong.global_peak_or_zero)),
        {
            "es": "Restas un solo máximo, el de todas las cabezas y queries. Donde los puntajes "
            "son muy negativos no queda nada: hace falta uno por fila.",
            "en": "You subtract a single maximum, that of all heads and queries. Where scores are "
            "very negative nothing is left: each row needs its own.",
        },
    ),
    Misconception(
        "maximum_of_forbidden",
        (_maximum_before_mask(wrong.share_or_zero), _maximum_before_mask(wrong.share)),
        {
            "es": "Buscas el máximo antes de aplicar la máscara, y puede ser el de una key "
            "prohibida: las demás quedan en 0. Primero la máscara.",
            "en": "You look for the maximum before applying the mask, and it may be that of a "
            "forbidden key: the others end at 0. The mask comes first.",
        },
    ),
    Misconception(
        "finite_fill",
        (_attention(mask=lambda s, m: _masked(s, m, -1e9)),),
        {
            "es": "Con −1e9 en toda una fila, la softmax la reparte por igual entre lo prohibido. "
            "Con −inf puedes reconocerla y dejarla a cero.",
            "en": "With −1e9 in a whole row, the softmax shares it evenly among what is forbidden. "
            "With −inf you can tell such a row and leave it at zero.",
        },
    ),
    Misconception(
        "empty_row",
        (_attention(weigh=wrong.nan_if_empty),),
        {
            "es": "Hay NaN en la query que no puede mirar a nada: 0 entre 0. En todas las cabezas "
            "sus pesos y su salida son 0.",
            "en": "There is NaN at the query that may look at nothing: 0 over 0. In every head its "
            "weights and its output are 0.",
        },
    ),
)

EXERCISE = Exercise(
    "grouped_attention",
    4,
    ("output", "weights"),
    grouped_attention,
    cases,
    MISCONCEPTIONS,
    problem_set="ps3",
)
