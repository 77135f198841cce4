"""Chapter 5, `cross_attention`: two sentences in one attention, and who asks whom."""

import numpy as np

from attn.exercises.spec import Exercise, Misconception
from attn.reference import scaled_dot_product_attention, softmax


def cross_attention(x, memory, w_q, w_k, w_v, memory_mask=None):
    """Return output and weights of one head whose queries come from another sentence.

    Parameters
    ----------
    x : array_like, shape (..., tgt_len, d_model)
        The sentence that asks: what the decoder has so far.
    memory : array_like, shape (..., src_len, d_model)
        The sentence that answers: what the encoder made of the source.
    w_q, w_k : array_like, shape (d_model, d_k)
    w_v : array_like, shape (d_model, d_v)
    memory_mask : array_like of bool, shape (..., src_len), optional
        True = a token of the source that may be attended to.

    Returns
    -------
    output : ndarray, shape (..., tgt_len, d_v)
    weights : ndarray, shape (..., tgt_len, src_len)

    Raises
    ------
    ValueError
        As `attn.reference.scaled_dot_product_attention`.

    Examples
    --------
    >>> eye = np.eye(2)
    >>> _, weights = cross_attention(np.zeros((1, 2)), np.ones((4, 2)), eye, eye, eye)
    >>> weights
    array([[0.25, 0.25, 0.25, 0.25]])
    """
    mask = None if memory_mask is None else np.asarray(memory_mask)[..., None, :]
    return scaled_dot_product_attention(x @ w_q, memory @ w_k, memory @ w_v, mask)


def cases(seed):
    """Return pairs of sentences of different lengths, with padding and without.

    Parameters
    ----------
    seed : int
        Seed of the random numbers; the shapes are always the same.

    Returns
    -------
    list of dict
        With the keys ``x``, ``memory``, ``w_q``, ``w_k``, ``w_v`` and, in some,
        ``memory_mask``.
    """
    rng = np.random.default_rng(seed)

    def draw(tgt_len, src_len, d_model, d_k, d_v, batch=(), memory_mask=None):
        sizes = {"x": (*batch, tgt_len, d_model), "memory": (*batch, src_len, d_model)}
        case = {name: rng.uniform(-1, 1, size) for name, size in sizes.items()}
        for name, columns in (("w_q", d_k), ("w_k", d_k), ("w_v", d_v)):
            case[name] = rng.uniform(-0.8, 0.8, (d_model, columns))
        return case if memory_mask is None else case | {"memory_mask": memory_mask}

    padding = np.arange(5) < np.array([[3], [5]])
    return [
        draw(2, 3, 4, 3, 2),
        draw(3, 3, 3, 3, 3),
        draw(4, 2, 5, 3, 6),
        draw(1, 4, 3, 2, 5),
        draw(3, 4, 5, 2, 3, memory_mask=np.array([True, False, True, True])),
        draw(3, 5, 4, 3, 2, batch=(2,)),
        draw(3, 5, 4, 3, 2, batch=(2,), memory_mask=padding),
        draw(5, 5, 3, 2, 4, batch=(2,), memory_mask=padding),
    ]


def _from(project):
    def cross_attention(x, memory, w_q, w_k, w_v, memory_mask=None):
        mask = None if memory_mask is None else memory_mask[..., None, :]
        return scaled_dot_product_attention(*project(x, memory, w_q, w_k, w_v), mask)

    return cross_attention


def _masked(change):
    def attend(x, memory, w_q, w_k, w_v, memory_mask=None):
        mask = None if memory_mask is None else change(memory_mask)
        return scaled_dot_product_attention(x @ w_q, memory @ w_k, memory @ w_v, mask)

    return attend


def _weighed(weigh):
    def attend(x, memory, w_q, w_k, w_v, memory_mask=None):
        scores = (x @ w_q) @ (memory @ w_k).mT / np.sqrt(w_q.shape[1])
        if memory_mask is not None:
            scores = np.where(memory_mask[..., None, :], scores, -np.inf)
        weights = weigh(scores)
        return weights @ (memory @ w_v), weights

    return attend


def _rescaled(factor):
    return _from(lambda x, m, w_q, w_k, w_v: (x @ w_q * factor(x, w_q), m @ w_k, m @ w_v))


def _joined(x, memory, w_q, w_k, w_v, memory_mask=None):
    both = np.concatenate([memory, x], axis=-2)
    mask = None
    if memory_mask is not None:
        seen = np.ones((*memory_mask.shape[:-1], x.shape[-2]), dtype=bool)
        mask = np.concatenate([memory_mask, seen], axis=-1)[..., None, :]
    return scaled_dot_product_attention(x @ w_q, both @ w_k, both @ w_v, mask)


def _filled_with_zero(x, memory, w_q, w_k, w_v, memory_mask=None):
    scores = (x @ w_q) @ (memory @ w_k).mT / np.sqrt(w_q.shape[1])
    if memory_mask is not None:
        scores = np.where(memory_mask[..., None, :], scores, 0)
    weights = softmax(scores)
    return weights @ (memory @ w_v), weights


def _causal(x, memory, w_q, w_k, w_v, memory_mask=None):
    mask = np.tri(x.shape[-2], memory.shape[-2], dtype=bool)
    if memory_mask is not None:
        mask = mask & memory_mask[..., None, :]
    return scaled_dot_product_attention(x @ w_q, memory @ w_k, memory @ w_v, mask)


MISCONCEPTIONS = (
    Misconception(
        "roles_swapped",
        (_from(lambda x, m, w_q, w_k, w_v: (m @ w_q, x @ w_k, x @ w_v)),),
        {
            "es": "Intercambiaste las dos oraciones: pregunta la fuente y responde lo escrito. "
            "Quien escribe es quien pregunta: la query sale de `x`; la key y el value, de "
            "`memory`.",
            "en": "You swapped the two sentences: the source asks and what is written answers. The "
            "one who writes is the one who asks: the query comes from `x`, key and value from "
            "`memory`.",
        },
    ),
    Misconception(
        "memory_ignored",
        (_from(lambda x, m, w_q, w_k, w_v: (x @ w_q, x @ w_k, x @ w_v)),),
        {
            "es": "No usas `memory`: tu función es autoatención sobre lo escrito, y el decodificador "
            "traduciría sin leer la fuente. La key y el value son `memory @ w_k` y "
            "`memory @ w_v`.",
            "en": "You do not use `memory`: your function is self-attention over what is written, "
            "and the decoder would translate without reading the source. Key and value are "
            "`memory @ w_k` and `memory @ w_v`.",
        },
    ),
    Misconception(
        "source_alone",
        (_from(lambda x, m, w_q, w_k, w_v: (m @ w_q, m @ w_k, m @ w_v)),),
        {
            "es": "Todo sale de `memory`: eso es la autoatención del codificador. Debe haber una "
            "fila por cada token de `x`, que es de donde sale la query.",
            "en": "Everything comes from `memory`: that is the encoder's self-attention. There must "
            "be one row for each token of `x`, which is where the query comes from.",
        },
    ),
    Misconception(
        "key_of_the_target",
        (_from(lambda x, m, w_q, w_k, w_v: (x @ w_q, x @ w_k, m @ w_v)),),
        {
            "es": "La key sale de `x` y el value de `memory`. Los pesos dirían a qué token de `x` "
            "mirar y se usarían para mezclar tokens de la fuente: las dos salen de `memory`.",
            "en": "The key comes from `x` and the value from `memory`. The weights would say which "
            "token of `x` to look at and be used to mix tokens of the source: both come from "
            "`memory`.",
        },
    ),
    Misconception(
        "value_of_the_target",
        (_from(lambda x, m, w_q, w_k, w_v: (x @ w_q, m @ w_k, x @ w_v)),),
        {
            "es": "El value sale de `x`: encuentras a quién mirar en la fuente y luego recoges otra "
            "cosa. Lo que se entrega es `memory @ w_v`.",
            "en": "The value comes from `x`: you find whom to look at in the source and then collect "
            "something else. What is handed over is `memory @ w_v`.",
        },
    ),
    Misconception(
        "joined",
        (_joined,),
        {
            "es": "Pones `memory` y `x` una detrás de otra y atiendes a las dos. Aquí las keys son "
            "solo las de la fuente: una columna de pesos por cada token de `memory`.",
            "en": "You put `memory` and `x` one behind the other and attend to both. Here the keys "
            "are those of the source only: one column of weights for each token of `memory`.",
        },
    ),
    Misconception(
        "projections_swapped",
        (_from(lambda x, m, w_q, w_k, w_v: (x @ w_k, m @ w_q, m @ w_v)),),
        {
            "es": "Cada oración pasa por la matriz de la otra. Lo que multiplica a `x` es `w_q`, "
            "porque `x` pregunta; `w_k` multiplica a `memory`.",
            "en": "Each sentence goes through the matrix of the other. What multiplies `x` is "
            "`w_q`, since `x` asks; `w_k` multiplies `memory`.",
        },
    ),
    Misconception(
        "not_projected",
        (_from(lambda x, m, w_q, w_k, w_v: (x @ w_q, m @ w_k, m)),),
        {
            "es": "Entregas `memory` tal cual en lugar de `memory @ w_v`: la salida tiene d_model "
            "columnas y debería tener las de `w_v`.",
            "en": "You hand over `memory` as it is in place of `memory @ w_v`: the output has "
            "d_model columns and should have those of `w_v`.",
        },
    ),
    Misconception(
        "unscaled",
        (_rescaled(lambda x, w_q: np.sqrt(w_q.shape[1])),),
        {
            "es": "Los puntajes entre las dos oraciones también se dividen entre √d_k, el número de "
            "columnas de `w_q`.",
            "en": "The scores between the two sentences are divided by √d_k as well, the number of "
            "columns of `w_q`.",
        },
    ),
    Misconception(
        "scaled_by_length",
        (
            _from(
                lambda x, m, w_q, w_k, w_v: (
                    x @ w_q * np.sqrt(w_q.shape[1] / m.shape[-2]),
                    m @ w_k,
                    m @ w_v,
                )
            ),
            _rescaled(lambda x, w_q: np.sqrt(w_q.shape[1] / x.shape[-1])),
        ),
        {
            "es": "Divides entre la raíz de otro tamaño, el de la oración o d_model. El puntaje es "
            "una suma de d_k productos: la raíz es la de `w_q.shape[1]`.",
            "en": "You divide by the root of another size, that of the sentence or d_model. The "
            "score is a sum of d_k products: the root is that of `w_q.shape[1]`.",
        },
    ),
    Misconception(
        "over_queries",
        (_weighed(lambda scores: softmax(scores, axis=-2)),),
        {
            "es": "Tu softmax reparte cada token de la fuente entre los que escriben. Es al revés: "
            "cada token escrito reparte su atención, 1 en total, entre los de la fuente "
            "(`axis=-1`).",
            "en": "Your softmax shares out each token of the source among those being written. It "
            "is the other way round: each written token shares its attention, 1 in all, among "
            "those of the source (`axis=-1`).",
        },
    ),
    Misconception(
        "mask_dropped",
        (_masked(lambda mask: None),),
        {
            "es": "No usas `memory_mask`. Las oraciones de un lote se completan con relleno, y sin "
            "la máscara el decodificador también lo lee.",
            "en": "You do not use `memory_mask`. The sentences of a batch are filled up with "
            "padding, and without the mask the decoder reads that too.",
        },
    ),
    Misconception(
        "mask_inverted",
        (_masked(lambda mask: ~mask[..., None, :]),),
        {
            "es": "Lees la máscara al revés: `True` marca los tokens de la fuente que sí se pueden "
            "mirar.",
            "en": "You read the mask the wrong way round: `True` marks the tokens of the source that "
            "may be looked at.",
        },
    ),
    Misconception(
        "zero_score",
        (_filled_with_zero,),
        {
            "es": "Pones a 0 los puntajes del relleno, y exp(0) = 1: sigue recibiendo peso. El que "
            "da peso nulo es −∞, `-np.inf`.",
            "en": "You set the scores of the padding to 0, and exp(0) = 1: it still gets weight. The "
            "one that gives none is −∞, `-np.inf`.",
        },
    ),
    Misconception(
        "causal",
        (_causal,),
        {
            "es": "Aplicas aquí la máscara causal. La fuente está entera desde el principio: para "
            "escribir la primera palabra se puede leer la última.",
            "en": "You apply the causal mask here. The source is there in full from the start: to "
            "write the first word you may read the last.",
        },
    ),
    Misconception(
        "mask_axis_last",
        (_masked(lambda mask: mask[..., None]),),
        {
            "es": "Pusiste el eje nuevo al final, y la máscara quita filas enteras, las de quienes "
            "preguntan. El eje de las queries va delante del de la fuente: `[..., None, :]`.",
            "en": "You put the new axis at the end, and the mask takes whole rows away, those of the "
            "ones who ask. The axis of the queries goes before that of the source: "
            "`[..., None, :]`.",
        },
    ),
    Misconception(
        "mask_of_a_batch",
        (_masked(lambda mask: mask[:, None, :]),),
        {
            "es": "Con `[:, None, :]` la máscara de un lote va bien, pero la de una oración suelta "
            "tiene un solo eje y se queda sin el segundo `:`. Usa `[..., None, :]`.",
            "en": "With `[:, None, :]` the mask of a batch is fine, but that of a lone sentence has "
            "one axis only and none for the second `:`. Use `[..., None, :]`.",
        },
    ),
    Misconception(
        "mask_without_axis",
        (_masked(lambda mask: mask),),
        {
            "es": "La máscara tiene forma `(lote, fuente)` y los puntajes un eje más, el de las "
            "queries. Sin ese eje se alinea con lo que no debe: usa `memory_mask[..., None, :]`.",
            "en": "The mask has shape `(batch, source)` and the scores one axis more, that of the "
            "queries. Without it they line up wrongly: use `memory_mask[..., None, :]`.",
        },
    ),
)

EXERCISE = Exercise(
    "cross_attention", 5, ("output", "weights"), cross_attention, cases, MISCONCEPTIONS
)
