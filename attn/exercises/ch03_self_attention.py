"""Chapter 3, `self_attention`: the three projections, and the ways to get them wrong."""

import numpy as np

from attn.exercises.spec import Exercise, Misconception
from attn.reference import scaled_dot_product_attention, self_attention


def cases(seed):
    """Return inputs for self-attention: with and without mask, in batches, with large numbers.

    Parameters
    ----------
    seed : int
        Seed of the random numbers; the shapes are always the same.

    Returns
    -------
    list of dict
        With the keys ``x``, ``w_q``, ``w_k``, ``w_v`` and, in some, ``mask``.
    """
    rng = np.random.default_rng(seed)

    def draw(seq_len, d_model, d_k, d_v, batch=(), mask=None):
        case = {
            "x": rng.uniform(-1, 1, (*batch, seq_len, d_model)),
            "w_q": rng.uniform(-0.6, 0.6, (d_model, d_k)),
            "w_k": rng.uniform(-0.6, 0.6, (d_model, d_k)),
            "w_v": rng.uniform(-0.6, 0.6, (d_model, d_v)),
        }
        return case if mask is None else case | {"mask": mask}

    one_empty_row = np.array([[True, False, True], [False, False, False], [True, True, True]])
    every_other = (np.arange(3)[:, None] + np.arange(3)) % 2 == 0
    padding = np.arange(5) < np.array([2, 4])[:, None, None]
    large = draw(3, 4, 2, 3)
    large["x"][:, 0] = 40
    for w in (large["w_q"], large["w_k"]):
        w[0], w[:, 0] = 0, 0
        w[0, 0] = 1
    return [
        draw(2, 3, 4, 1),
        draw(3, 4, 2, 5),
        draw(3, 3, 3, 3),
        large,
        draw(3, 4, 5, 2, mask=every_other),
        draw(3, 4, 5, 6, mask=one_empty_row),
        draw(5, 4, 6, 3, batch=(2,)),
        draw(5, 4, 6, 3, batch=(2,), mask=padding),
    ]


def _attend(project):
    def self_attention(x, w_q, w_k, w_v, mask=None):
        return scaled_dot_product_attention(*project(x, w_q, w_k, w_v), mask)

    return self_attention


def _rescaled(factor):
    return _attend(lambda x, w_q, w_k, w_v: (x @ w_q * factor(x, w_q), x @ w_k, x @ w_v))


def _mask_dropped(x, w_q, w_k, w_v, mask=None):
    return self_attention(x, w_q, w_k, w_v)


def _matrix_only(x, w_q, w_k, w_v, mask=None):
    _seq_len, _d_model = x.shape
    return self_attention(x, w_q, w_k, w_v, mask)


def _batch_only(x, w_q, w_k, w_v, mask=None):
    _batch_size, _seq_len, _d_model = x.shape
    return self_attention(x, w_q, w_k, w_v, mask)


MISCONCEPTIONS = (
    Misconception(
        "unscaled",
        (_rescaled(lambda x, w_q: np.sqrt(w_q.shape[1])),),
        {
            "es": "Falta el factor 1/√d_k. Las proyecciones no lo incluyen: divide "
            "`query @ key.mT` entre `np.sqrt(w_q.shape[1])`, o llama a tu función de atención, "
            "que ya lo hace.",
            "en": "The factor 1/√d_k is missing. The projections do not include it: divide "
            "`query @ key.mT` by `np.sqrt(w_q.shape[1])`, or call your attention function, which "
            "already does so.",
        },
    ),
    Misconception(
        "scaled_by_d_model",
        (_rescaled(lambda x, w_q: np.sqrt(w_q.shape[1] / x.shape[-1])),),
        {
            "es": "Divides entre √d_model, el tamaño de `x`. El puntaje se calcula después de "
            "proyectar, y es una suma de d_k productos: la raíz es la de `query.shape[-1]`, no la "
            "de `x.shape[-1]`.",
            "en": "You divide by √d_model, the size of `x`. The score is computed after the "
            "projection and is a sum of d_k products: the root is that of `query.shape[-1]`, not "
            "of `x.shape[-1]`.",
        },
    ),
    Misconception(
        "projections_swapped",
        (_attend(lambda x, w_q, w_k, w_v: (x @ w_k, x @ w_q, x @ w_v)),),
        {
            "es": "Intercambiaste `w_q` y `w_k`: la matriz de puntajes sale traspuesta, y cada "
            "token pregunta con lo que debía ser su key y responde con su query. La query es "
            "`x @ w_q`; la key, `x @ w_k`.",
            "en": "You swapped `w_q` and `w_k`: the matrix of scores comes out transposed, and "
            "each token asks with what should be its key and answers with its query. The query is "
            "`x @ w_q`; the key, `x @ w_k`.",
        },
    ),
    Misconception(
        "one_projection_for_both",
        (
            _attend(lambda x, w_q, w_k, w_v: (x @ w_q, x @ w_q, x @ w_v)),
            _attend(lambda x, w_q, w_k, w_v: (x @ w_k, x @ w_k, x @ w_v)),
        ),
        {
            "es": "Usas la misma matriz para la query y la key. Entonces los puntajes son "
            "simétricos: el de A con B es siempre el de B con A, aunque A necesite a B y B no "
            "necesite a A. Proyecta con `w_q` y con `w_k`.",
            "en": "You use the same matrix for the query and the key. The scores are then "
            "symmetric: the score of A with B is always that of B with A, even if A needs B and "
            "B does not need A. Project with `w_q` and with `w_k`.",
        },
    ),
    Misconception(
        "matrices_transposed",
        (_attend(lambda x, w_q, w_k, w_v: (x @ w_q.T, x @ w_k.T, x @ w_v.T)),),
        {
            "es": "Multiplicas por las matrices traspuestas, como guarda sus pesos `nn.Linear`. "
            "Aquí cada matriz es d_model × d_k (o d_v) y multiplica por la derecha sin trasponer: "
            "`x @ w_q`.",
            "en": "You multiply by the transposed matrices, the way `nn.Linear` stores its "
            "weights. Here each matrix is d_model × d_k (or d_v) and multiplies from the right as "
            "it is: `x @ w_q`.",
        },
    ),
    Misconception(
        "matrices_on_the_left",
        (_attend(lambda x, w_q, w_k, w_v: (w_q @ x, w_k @ x, w_v @ x)),),
        {
            "es": "Multiplicas en el orden contrario: `w_q @ x` mezcla unos tokens con otros, y "
            "solo es posible si las formas coinciden por azar. Cada token es una fila de `x`, y "
            "la matriz va a su derecha: `x @ w_q`.",
            "en": "You multiply in the wrong order: `w_q @ x` mixes the tokens with each other, "
            "and is possible only if the shapes happen to fit. Each token is a row of `x`, and "
            "the matrix goes to its right: `x @ w_q`.",
        },
    ),
    Misconception(
        "values_not_projected",
        (_attend(lambda x, w_q, w_k, w_v: (x @ w_q, x @ w_k, x)),),
        {
            "es": "Tu salida es una media de `x` sin proyectar. Lo que un token entrega es su "
            "value, `x @ w_v`, y la salida debe tener d_v columnas, no d_model.",
            "en": "Your output is a mean of `x` itself, not projected. What a token hands over is "
            "its value, `x @ w_v`, and the output must have d_v columns, not d_model.",
        },
    ),
    Misconception(
        "key_as_value",
        (_attend(lambda x, w_q, w_k, w_v: (x @ w_q, x @ w_k, x @ w_k)),),
        {
            "es": "Tu salida es una media de `x @ w_k`, las keys. La key solo decide quién recibe "
            "peso; lo que se entrega es el value, que tiene su propia matriz: `x @ w_v`.",
            "en": "Your output is a mean of `x @ w_k`, the keys. The key only decides who gets "
            "weight; what is handed over is the value, which has a matrix of its own: `x @ w_v`.",
        },
    ),
    Misconception(
        "nothing_projected",
        (_attend(lambda x, w_q, w_k, w_v: (x, x, x)),),
        {
            "es": "Usas `x` tres veces, sin proyectarlo. Así no hay nada que entrenar: calcula "
            "antes `x @ w_q`, `x @ w_k` y `x @ w_v`.",
            "en": "You use `x` three times, without projecting it. That leaves nothing to train: "
            "first compute `x @ w_q`, `x @ w_k` and `x @ w_v`.",
        },
    ),
    Misconception(
        "mask_dropped",
        (_mask_dropped,),
        {
            "es": "Recibes `mask` y no la usas, así que cada token atiende también a lo "
            "prohibido. Pásala a tu función de atención como cuarto argumento.",
            "en": "You take `mask` and do not use it, so each token also attends to what is "
            "forbidden. Pass it to your attention function as the fourth argument.",
        },
    ),
    Misconception(
        "matrix_only",
        (_matrix_only,),
        {
            "es": "Tu función sirve para una sola oración, no para un lote de ellas. El producto "
            "`x @ w_q` ya admite ejes delante; al trasponer la key intercambia solo los dos "
            "últimos: `key.mT`.",
            "en": "Your function handles a single sentence, not a batch of them. The product "
            "`x @ w_q` already allows axes in front; when you transpose the key, swap only the "
            "last two: `key.mT`.",
        },
    ),
    Misconception(
        "batch_only",
        (_batch_only,),
        {
            "es": "Tu función sirve para un lote, no para una sola oración: cuenta con tres ejes, "
            "como `key.transpose(0, 2, 1)`. Con `key.mT` intercambias los dos últimos, haya los "
            "que haya.",
            "en": "Your function handles a batch, not a single sentence: it counts on three axes, "
            "as `key.transpose(0, 2, 1)` does. With `key.mT` you swap the last two, however many "
            "there are.",
        },
    ),
)

EXERCISE = Exercise(
    "self_attention", 3, ("output", "weights"), self_attention, cases, MISCONCEPTIONS
)
