"""Problem set 3, `multi_head_cross_attention`: one sentence asks another with several heads."""

import numpy as np

from attn.exercises import ch03_softmax as wrong
from attn.exercises.spec import Exercise, Misconception
from attn.reference import multi_head_attention as reference
from attn.reference import softmax, split_heads


def multi_head_cross_attention(x, memory, w_q, w_kv, w_o, n_heads, real=None):
    """Return the output and the weights of several heads that ask another sentence.

    Parameters
    ----------
    x : ndarray, shape (..., tgt_len, d_model)
        The sentence that asks.
    memory : ndarray, shape (..., src_len, d_memory)
        The one that answers.
    w_q : ndarray, shape (d_model, n_heads * d_k)
    w_kv : ndarray, shape (d_memory, n_heads * (d_k + d_v))
        The projections to keys, and beside them those to values.
    w_o : ndarray, shape (n_heads * d_v, d_model)
    n_heads : int
    real : ndarray of bool, shape (..., src_len), optional
        True = a token of `memory` that is no padding.

    Returns
    -------
    output : ndarray, shape (..., tgt_len, d_model)
    weights : ndarray, shape (..., n_heads, tgt_len, src_len)

    References
    ----------
    Vaswani et al. (2017), section 3.2.3.
    """
    w_k, w_v = np.split(w_kv, [w_q.shape[1]], axis=1)
    mask = None if real is None else real[..., None, :]
    return reference(x, memory, memory, w_q, w_k, w_v, w_o, int(n_heads), mask)


def cases(seed):
    """Return two sentences, alone and in batches, with padding, with none and with nothing else.

    Parameters
    ----------
    seed : int
        Seed of the random numbers; the shapes are always the same.

    Returns
    -------
    list of dict
        With the keys ``x``, ``memory``, ``w_q``, ``w_kv``, ``w_o``, ``n_heads`` and, in some,
        ``real``.
    """
    rng = np.random.default_rng(seed)

    def draw(lengths, widths, n_heads, d_k, d_v, batch=(), real=None):
        (tgt_len, src_len), (d_model, d_memory) = lengths, widths
        case = {
            "x": rng.uniform(-1, 1, (*batch, tgt_len, d_model)),
            "memory": rng.uniform(-1, 1, (*batch, src_len, d_memory)),
            "w_q": rng.uniform(-0.6, 0.6, (d_model, n_heads * d_k)),
            "w_kv": rng.uniform(-0.6, 0.6, (d_memory, n_heads * (d_k + d_v))),
            "w_o": rng.uniform(-0.6, 0.6, (n_heads * d_v, d_model)),
            "n_heads": np.array(n_heads),
        }
        return case if real is None else case | {"real": np.array(real, dtype=bool)}

    return [
        draw((3, 4), (4, 4), 2, 2, 2),
        draw((2, 3), (6, 5), 3, 2, 2),
        draw((4, 3), (4, 6), 2, 3, 2),
        draw((3, 2), (5, 4), 2, 2, 4),
        draw((2, 5), (4, 5), 2, 2, 3, real=[1, 1, 1, 0, 0]),
        draw((3, 5), (5, 4), 2, 3, 2, real=[0, 1, 0, 1, 1]),
        draw((3, 4), (4, 3), 2, 2, 3, real=[0, 0, 0, 0]),
        draw((3, 4), (4, 5), 2, 3, 2, batch=(3,)),
        draw((3, 4), (4, 5), 2, 2, 3, batch=(2, 3)),
        draw((4, 4), (5, 4), 2, 3, 2, batch=(2,), real=[[1, 1, 1, 0], [1, 1, 0, 0]]),
        draw((2, 4), (4, 5), 4, 2, 3, batch=(4,), real=rng.permuted([[1, 1, 0, 1]] * 4, axis=1)),
    ]


def _halves(w_q, w_kv):
    return np.split(w_kv, [w_q.shape[1]], axis=1)


def _allowed(real):
    return real[..., None, None, :]


def _joined(heads):
    """Put the heads side by side, NaN or not: `join_heads` takes only numbers."""
    *batch, n_heads, seq_len, width = heads.shape
    return heads.swapaxes(-3, -2).reshape(*batch, seq_len, n_heads * width)


def _with(
    parts=_halves, split=split_heads, join=_joined, scale=lambda d_k, n_heads: d_k,
    project=lambda joined, w_o: joined @ w_o, allowed=_allowed, fill=-np.inf, axis=-1,
    weigh=softmax, result=lambda output, weights: (output, weights), asks=lambda x, memory: x,
):  # fmt: skip
    """Return multi-head cross-attention with one of its parts replaced."""

    def attention(x, memory, w_q, w_kv, w_o, n_heads, real=None):
        n_heads = int(n_heads)
        w_k, w_v = parts(w_q, w_kv)
        query = split(asks(x, memory) @ w_q, n_heads)
        key, value = split(memory @ w_k, n_heads), split(memory @ w_v, n_heads)
        scores = query @ key.mT / np.sqrt(scale(query.shape[-1], n_heads))
        if real is not None:
            scores = np.where(allowed(real), scores, fill if axis == -1 else -1e9)
        weights = weigh(scores) if axis == -1 else softmax(scores, axis=axis)
        return result(project(join(weights @ value), w_o), weights)

    return attention


def _reshaped(x, n_heads):
    *batch, seq_len, width = x.shape
    return x.reshape(*batch, n_heads, seq_len, width // n_heads)


def _reshaped_back(heads):
    *batch, n_heads, seq_len, width = heads.shape
    return heads.reshape(*batch, seq_len, n_heads * width)


def _alternating(x, n_heads):
    return np.stack([x[..., i::n_heads] for i in range(n_heads)], axis=-3)


def _one_head(x, memory, w_q, w_kv, w_o, n_heads, real=None):
    return multi_head_cross_attention(x, memory, w_q, w_kv, w_o, 1, real)


def _head_by_head(w_q, w_kv, n_heads):
    """Read w_kv as key and value of head 1, then those of head 2."""
    d_k = w_q.shape[1] // n_heads
    heads = np.split(w_kv, n_heads, axis=1)
    return np.hstack([w[:, :d_k] for w in heads]), np.hstack([w[:, d_k:] for w in heads])


def _packed_by_head(x, memory, w_q, w_kv, w_o, n_heads, real=None):
    packed = np.hstack(_head_by_head(w_q, w_kv, int(n_heads)))
    return multi_head_cross_attention(x, memory, w_q, packed, w_o, n_heads, real)


def _without_real(x, memory, w_q, w_kv, w_o, n_heads, real=None):
    return multi_head_cross_attention(x, memory, w_q, w_kv, w_o, n_heads)


def _always_real(x, memory, w_q, w_kv, w_o, n_heads, real=None):
    if real is None:
        raise TypeError("not subscriptable")
    return multi_head_cross_attention(x, memory, w_q, w_kv, w_o, n_heads, real)


def _one_pair(x, memory, w_q, w_kv, w_o, n_heads, real=None):
    if x.ndim != 2:
        raise ValueError("cannot reshape array")
    return multi_head_cross_attention(x, memory, w_q, w_kv, w_o, n_heads, real)


def _real_afterwards(x, memory, w_q, w_kv, w_o, n_heads, real=None):
    _, weights = multi_head_cross_attention(x, memory, w_q, w_kv, w_o, n_heads)
    weights = weights if real is None else weights * _allowed(real)
    value = split_heads(memory @ _halves(w_q, w_kv)[1], int(n_heads))
    return _joined(weights @ value) @ w_o, weights


MISCONCEPTIONS = (
    Misconception(
        "heads_not_split",
        (_one_head,),
        {
            "es": "No partes en cabezas: sale una sola atención con todas las componentes. Cada "
            "cabeza compara solo sus d_k, y devuelves n_heads matrices de pesos.",
            "en": "You do not split into heads: a single attention over all components comes out. "
            "Each head compares only its own d_k, and you return n_heads matrices of weights.",
        },
    ),
    Misconception(
        "no_output_projection",
        (_with(project=lambda joined, w_o: joined),),
        {
            "es": "Entregas la concatenación de las cabezas, de n_heads · d_v componentes. Falta el "
            "último producto, con `w_o`, que la devuelve al ancho de `x`.",
            "en": "You hand over the concatenation of the heads, of n_heads · d_v components. The "
            "last product is missing, with `w_o`, which brings it back to the width of `x`.",
        },
    ),
    Misconception(
        "split_by_reshape",
        (_with(split=_reshaped), _with(split=_reshaped, join=_reshaped_back)),
        {
            "es": "Tus cabezas mezclan tokens: un `reshape` directo a (cabezas, tokens, d_k) no "
            "lleva ningún eje a otro sitio. Parte el último eje en dos, y después cambia el orden.",
            "en": "Your heads mix tokens: a `reshape` straight to (heads, tokens, d_k) takes no "
            "axis anywhere. Split the last axis in two, and then change the order.",
        },
    ),
    Misconception(
        "joined_by_reshape",
        (_with(join=_reshaped_back),),
        {
            "es": "Al unir, cada fila recibe trozos de otros tokens. Antes del `reshape` final, el "
            "eje de los tokens tiene que volver delante del de las cabezas.",
            "en": "On joining, each row is given pieces of other tokens. Before the last `reshape` "
            "the axis of the tokens must come back in front of that of the heads.",
        },
    ),
    Misconception(
        "alternating_components",
        (_with(split=_alternating),),
        {
            "es": "Das las componentes a las cabezas por turnos. La cabeza 1 son las d_k primeras "
            "columnas, seguidas; al partir el último eje, las cabezas van antes que d_k.",
            "en": "You deal out the components to the heads in turn. Head 1 is the first d_k "
            "columns, together; when the last axis is split, heads come before d_k.",
        },
    ),
    Misconception(
        "heads_summed",
        (
            _with(join=lambda h: h.sum(axis=-3), project=lambda j, w: j @ w[: j.shape[-1]]),
            _with(join=lambda h: h.mean(axis=-3), project=lambda j, w: j @ w[: j.shape[-1]]),
        ),
        {
            "es": "Juntas las cabezas sumando, y de `w_o` solo usas las filas de la primera. Ponlas "
            "una al lado de otra: cada una tiene sus filas en `w_o`.",
            "en": "You bring the heads together by summing, and use only the rows of the first in "
            "`w_o`. Put them side by side: each has rows of its own in `w_o`.",
        },
    ),
    Misconception(
        "cut_in_halves",
        (_with(parts=lambda w_q, w_kv: np.split(w_kv, [w_kv.shape[1] // 2], axis=1)),),
        {
            "es": "Cortas `w_kv` por la mitad. Las keys ocupan tanto como las queries, "
            "`w_q.shape[1]` columnas; los values, lo que quede, que puede ser más o menos.",
            "en": "You cut `w_kv` down the middle. The keys take as much as the queries, "
            "`w_q.shape[1]` columns; the values what is left, which may be more or less.",
        },
    ),
    Misconception(
        "value_first",
        (_with(parts=lambda w_q, w_kv: np.split(w_kv, [w_kv.shape[1] - w_q.shape[1]], 1)[::-1]),),
        {
            "es": "Tomas las primeras columnas de `w_kv` como values. Primero van las keys de todas "
            "las cabezas, y los values detrás.",
            "en": "You take the first columns of `w_kv` as values. The keys of every head come "
            "first, and the values after them.",
        },
    ),
    Misconception(
        "packed_head_by_head",
        (_packed_by_head,),
        {
            "es": "Lees en `w_kv` la key y el value de una cabeza, luego los de otra. Separa primero "
            "todas las keys de todos los values, y parte cada mitad en cabezas.",
            "en": "You read key and value of one head in `w_kv`, then those of another. Separate "
            "all the keys from all the values first, and split each part into heads.",
        },
    ),
    Misconception(
        "asks_itself",
        (_with(asks=lambda x, memory: memory),),
        {
            "es": "La query sale de `memory`: se pregunta a sí misma, y `x` no interviene. Pregunta "
            "`x`; `memory` pone keys y values.",
            "en": "The query comes from `memory`: it asks itself, and `x` plays no part. It is `x` "
            "that asks; `memory` provides keys and values.",
        },
    ),
    Misconception(
        "unscaled",
        (_with(scale=lambda d_k, n_heads: 1),),
        {
            "es": "Los puntajes de tus cabezas no están escalados. Que la otra oración responda no "
            "cambia nada: divídelos entre la raíz de d_k.",
            "en": "The scores of your heads are not scaled. That another sentence answers changes "
            "nothing: divide them by the root of d_k.",
        },
    ),
    Misconception(
        "scaled_before_splitting",
        (_with(scale=lambda d_k, n_heads: d_k * n_heads),),
        {
            "es": "Tu raíz es la de `w_q.shape[1]`, el ancho antes de partir. Cada puntaje suma "
            "d_k = `w_q.shape[1]` / n_heads productos: con esa escala los pesos se igualan de más.",
            "en": "Your root is that of `w_q.shape[1]`, the width before the split. Each score sums "
            "d_k = `w_q.shape[1]` / n_heads products: with that scale the weights come out too even.",
        },
    ),
    Misconception(
        "weights_averaged",
        (_with(result=lambda output, weights: (output, weights.mean(axis=-3))),),
        {
            "es": "De los pesos devuelves la media sobre las cabezas, y se pide una matriz por "
            "cabeza. Esa media no dice qué miró ninguna.",
            "en": "You return the mean of the weights over the heads, and one matrix for each head "
            "is asked for. That mean does not say what any of them looked at.",
        },
    ),
    Misconception(
        "another_axis",
        (_with(axis=-2), _with(axis=-3)),
        {
            "es": "En tus pesos no suman 1 las filas: la softmax recorre otro eje. El último es el "
            "de los tokens de `memory`, que son quienes compiten.",
            "en": "In your weights it is not the rows that sum to 1: the softmax runs along "
            "another axis. The last is that of the tokens of `memory`, which are what competes.",
        },
    ),
    Misconception(
        "padding_ignored",
        (_without_real,),
        {
            "es": "`real` no cambia tus pesos: el relleno de `memory` recibe atención. Pon −inf en "
            "los puntajes de los tokens que no son reales.",
            "en": "`real` does not change your weights: the padding of `memory` gets attention. "
            "Put −inf in the scores of the tokens that are not real.",
        },
    ),
    Misconception(
        "padding_only",
        (_with(allowed=lambda real: ~_allowed(real)),),
        {
            "es": "Solo atiendes al relleno. En `real`, True es un token de verdad, el que sí puede "
            "recibir peso.",
            "en": "You attend only to the padding. In `real`, True is a real token, the one that "
            "may get weight.",
        },
    ),
    Misconception(
        "one_axis_missing",
        (
            _with(allowed=lambda real: real[..., None, :]),
            _with(allowed=lambda real: real),
        ),
        {
            "es": "A `real` le faltan ejes: los puntajes tienen dos más, cabezas y queries. Sin "
            "ellos, su lote se empareja con uno de esos dos: `real[..., None, None, :]`.",
            "en": "`real` is short of axes: the scores have two more, heads and queries. Without "
            "them its batch is paired with one of those two: `real[..., None, None, :]`.",
        },
    ),
    Misconception(
        "real_afterwards",
        (_real_afterwards,),
        {
            "es": "Quitas el relleno después de la softmax, cuando ya se llevó su parte: los pesos "
            "de los tokens reales suman menos de 1. Hazlo antes.",
            "en": "You remove the padding after the softmax, when it has already taken its share: "
            "the weights of the real tokens sum to less than 1. Do it before.",
        },
    ),
    Misconception(
        "real_required",
        (_always_real,),
        {
            "es": "Tu función exige `real`, y puede faltar: entonces todos los tokens cuentan. "
            "Comprueba si es `None`.",
            "en": "Your function insists on `real`, which may be absent: then every token counts. "
            "Check whether it is `None`.",
        },
    ),
    Misconception(
        "finite_fill",
        (_with(fill=-1e9),),
        {
            "es": "Si `memory` es todo relleno, tus −1e9 son iguales entre sí y la softmax reparte "
            "el peso. Usa −inf: sin tokens reales, pesos y salida son 0.",
            "en": "If `memory` is all padding, your −1e9 are equal to each other and the softmax "
            "shares out the weight. Use −inf: with no real tokens, weights and output are 0.",
        },
    ),
    Misconception(
        "all_padding",
        (_with(weigh=wrong.nan_if_empty),),
        {
            "es": "Una `memory` toda de relleno te da NaN. No hay a quién atender: los pesos de "
            "todas las cabezas y la salida son ceros.",
            "en": "A `memory` that is all padding gives you NaN. There is nobody to attend to: the "
            "weights of every head and the output are zeros.",
        },
    ),
    Misconception(
        "one_pair",
        (_one_pair,),
        {
            "es": "Va bien con una pareja de oraciones y no con un lote de ellas. Al partir y al "
            "unir, conserva los ejes de delante: `*x.shape[:-2]`.",
            "en": "It works on one pair of sentences and not on a batch of them. When you split "
            "and join, keep the axes in front: `*x.shape[:-2]`.",
        },
    ),
)

EXERCISE = Exercise(
    "multi_head_cross_attention",
    4,
    ("output", "weights"),
    multi_head_cross_attention,
    cases,
    MISCONCEPTIONS,
    problem_set="ps3",
)
