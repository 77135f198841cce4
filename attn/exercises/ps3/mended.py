"""Problem set 3, `mended_heads`: the fault of a given function, and other ones."""

import numpy as np

from attn.exercises import ch03_softmax as wrong
from attn.exercises.ps3.grouped import with_large_scores
from attn.exercises.spec import Exercise, Misconception
from attn.reference import join_heads, scaled_dot_product_attention, softmax


def mended_heads(query, key, value, w_o):
    """Return the output of heads that come projected and split, and their weights.

    Parameters
    ----------
    query : ndarray, shape (..., n_heads, tgt_len, d_k)
    key : ndarray, shape (..., n_heads, src_len, d_k)
    value : ndarray, shape (..., n_heads, src_len, d_v)
    w_o : ndarray, shape (n_heads * d_v, d_model)

    Returns
    -------
    output : ndarray, shape (..., tgt_len, d_model)
    weights : ndarray, shape (..., n_heads, tgt_len, src_len)

    References
    ----------
    Vaswani et al. (2017), section 3.2.2.
    """
    heads, weights = scaled_dot_product_attention(query, key, value)
    return join_heads(heads) @ w_o, weights


def cases(seed):
    """Return heads without mask: of one sentence, of batches, with large numbers.

    Parameters
    ----------
    seed : int
        Seed of the random numbers; the shapes are always the same.

    Returns
    -------
    list of dict
        With the keys ``query``, ``key``, ``value`` and ``w_o``.
    """
    rng = np.random.default_rng(seed)

    def draw(n_heads, lengths, d_k, d_v, d_model, batch=()):
        tgt_len, src_len = lengths
        return {
            "query": rng.uniform(-1, 1, (*batch, n_heads, tgt_len, d_k)),
            "key": rng.uniform(-1, 1, (*batch, n_heads, src_len, d_k)),
            "value": rng.uniform(-1, 1, (*batch, n_heads, src_len, d_v)),
            "w_o": rng.uniform(-0.6, 0.6, (n_heads * d_v, d_model)),
        }

    large = draw(2, (3, 4), 3, 2, 4)
    with_large_scores(large)
    return [
        draw(2, (3, 3), 2, 2, 4),
        draw(2, (3, 4), 3, 2, 5),
        draw(3, (2, 4), 2, 2, 6),
        draw(2, (4, 3), 2, 3, 6),
        large,
        draw(2, (3, 4), 3, 2, 5, batch=(3,)),
        draw(3, (3, 4), 2, 2, 6, batch=(3,)),
        draw(2, (3, 4), 2, 3, 5, batch=(2, 3)),
    ]


def _joined(heads):
    """Put the heads side by side, NaN or not: `join_heads` takes only numbers."""
    *batch, n_heads, seq_len, width = heads.shape
    return heads.swapaxes(-3, -2).reshape(*batch, seq_len, n_heads * width)


def _with(
    join=_joined, weigh=softmax, scale=lambda query: query.shape[-1],
    project=lambda joined, w_o: joined @ w_o, result=lambda output, weights: (output, weights),
):  # fmt: skip
    """Return the function with one of its parts replaced."""

    def heads(query, key, value, w_o):
        weights = weigh(query @ key.mT / np.sqrt(scale(query)))
        return result(project(join(weights @ value), w_o), weights)

    return heads


def _as_they_are(heads):
    """Write the heads out in the order they are in, with the shape of tokens and components."""
    *batch, n_heads, seq_len, width = heads.shape
    return heads.reshape(*batch, seq_len, n_heads * width)


def _reordered(*axes):
    """Return a joining that puts head, token and component in another order first."""

    def join(heads):
        *batch, n_heads, seq_len, width = heads.shape
        front = range(len(batch))
        moved = heads.transpose(*front, *(len(batch) + axis for axis in axes))
        return moved.reshape(*batch, seq_len, n_heads * width)

    return join


def _first_two_exchanged(heads):
    *batch, n_heads, seq_len, width = heads.shape
    return heads.swapaxes(0, 1).reshape(*batch, seq_len, n_heads * width)


def _for_axes(number):
    def heads(query, key, value, w_o):
        if query.ndim != number:
            raise ValueError("axes don't match array")
        return mended_heads(query, key, value, w_o)

    return heads


MISCONCEPTIONS = (
    Misconception(
        "joined_by_reshape",
        (_with(join=_as_they_are),),
        {
            "es": "El fallo sigue: la fila de un token se llena con números de otros. Antes de la "
            "última línea, los ejes están en el orden cabezas, tokens, componentes; mira qué "
            "dos tienen que acabar juntos.",
            "en": "The fault is still there: the row of a token is filled with numbers of others. "
            "Before the last line the axes are in the order heads, tokens, components; see which "
            "two must end up together.",
        },
    ),
    Misconception(
        "another_pair_of_axes",
        (
            _with(join=_reordered(0, 2, 1)),
            _with(join=_reordered(2, 1, 0)),
            _with(join=_reordered(2, 0, 1)),
        ),
        {
            "es": "Ahora cambias de sitio dos ejes, y no son esos. Las componentes ya estaban al "
            "final: los que se intercambian son el de las cabezas y el de los tokens.",
            "en": "Now you exchange two axes, and they are the wrong ones. The components were at "
            "the end already: those to exchange are that of the heads and that of the tokens.",
        },
    ),
    Misconception(
        "components_before_heads",
        (_with(join=_reordered(1, 2, 0)),),
        {
            "es": "Cada token recibe ya lo suyo, con las cabezas alternadas: una componente de "
            "cada una. `w_o` espera todas las de la cabeza 1 y después las de la 2.",
            "en": "Each token gets its own now, with the heads taking turns: one component of "
            "each. `w_o` expects all those of head 1 and then those of head 2.",
        },
    ),
    Misconception(
        "heads_summed",
        (
            _with(join=lambda h: h.sum(axis=-3), project=lambda j, w: j @ w[: j.shape[-1]]),
            _with(join=lambda h: h.mean(axis=-3), project=lambda j, w: j @ w[: j.shape[-1]]),
        ),
        {
            "es": "Evitas el fallo sumando las cabezas, y `w_o` ya no sabe de cuál viene cada "
            "número. La concatenación hace falta: arréglala.",
            "en": "You avoid the fault by summing the heads, and `w_o` can no longer tell which a "
            "number comes from. The concatenation is needed: mend it.",
        },
    ),
    Misconception(
        "no_output_projection",
        (_with(project=lambda joined, w_o: joined),),
        {
            "es": "Las cabezas quedan bien unidas, y por el camino se perdió `w_o`. El código dado "
            "terminaba con ese producto, que estaba bien.",
            "en": "The heads are joined well, and `w_o` got lost along the way. The given code "
            "ended with that product, which was right.",
        },
    ),
    Misconception(
        "axes_from_the_front",
        (_with(join=_first_two_exchanged), _for_axes(3)),
        {
            "es": "Una oración sale bien y un lote no: los ejes 0 y 1 son cabezas y tokens solo "
            "si no hay nada delante. Cuéntalos desde el final.",
            "en": "One sentence comes out right and a batch does not: axes 0 and 1 are heads and "
            "tokens only if nothing is in front. Count them from the end.",
        },
    ),
    Misconception(
        "batch_only",
        (_for_axes(4),),
        {
            "es": "Tu arreglo cuenta con un eje de lote, uno y solo uno. El código dado no contaba "
            "con ninguno: usa índices negativos.",
            "en": "Your mending counts on one batch axis, one and only one. The given code counted "
            "on none: use negative indices.",
        },
    ),
    Misconception(
        "softmax_changed",
        (
            _with(weigh=lambda scores: softmax(scores, axis=-2)),
            _with(weigh=lambda scores: softmax(scores, axis=-3)),
        ),
        {
            "es": "Cambiaste el eje de la softmax. Los pesos de la celda eran los debidos: el "
            "fallo viene después de ellos.",
            "en": "You changed the axis of the softmax. The weights in the cell were as they "
            "should be: the fault comes after them.",
        },
    ),
    Misconception(
        "unscaled",
        (_with(scale=lambda query: 1),),
        {
            "es": "Unes bien las cabezas y se te cayó la raíz: los puntajes del código dado "
            "estaban escalados. Vuelve a ponerla.",
            "en": "You join the heads well and dropped the root: the scores of the given code were "
            "scaled. Put it back.",
        },
    ),
    Misconception(
        "scaled_by_all_heads",
        (_with(scale=lambda query: query.shape[-1] * query.shape[-3]),),
        {
            "es": "La raíz es ahora la del ancho de todas las cabezas. No era ese el fallo: cada "
            "una escala con su d_k.",
            "en": "The root is now that of the width of all the heads. That was not the fault: "
            "each scales by its own d_k.",
        },
    ),
    Misconception(
        "overflow",
        (_with(weigh=wrong.unstable), _with(weigh=wrong.unstable_or_zero)),
        {
            "es": "Quitaste la resta del máximo, que no hacía daño, y los puntajes grandes acaban "
            "en NaN. Déjala donde estaba.",
            "en": "You took away the subtraction of the maximum, which did no harm, and large "
            "scores end in NaN. Leave it where it was.",
        },
    ),
    Misconception(
        "global_maximum",
        (_with(weigh=wrong.global_peak), _with(weigh=wrong.global_peak_or_zero)),
        {
            "es": "El máximo es ahora uno para todas las cabezas y filas, y las filas más bajas se "
            "quedan sin peso. Estaba bien con `axis=-1`.",
            "en": "The maximum is now one for all heads and rows, and the lowest rows are left "
            "without weight. It was right with `axis=-1`.",
        },
    ),
    Misconception(
        "only_output",
        (_with(result=lambda output, weights: output),),
        {
            "es": "La salida es correcta y falta lo segundo que devolvía el código dado: los pesos "
            "de cada cabeza.",
            "en": "The output is right, and the second thing the given code returned is missing: "
            "the weights of each head.",
        },
    ),
)

EXERCISE = Exercise(
    "mended_heads",
    4,
    ("output", "weights"),
    mended_heads,
    cases,
    MISCONCEPTIONS,
    problem_set="ps3",
)
