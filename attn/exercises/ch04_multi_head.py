"""Chapter 4, `multi_head_attention`: every head at once, and the ways to get it wrong."""

import numpy as np

from attn.exercises.spec import Exercise, Misconception
from attn.reference import join_heads, softmax, split_heads
from attn.reference import multi_head_attention as reference


def cases(seed):
    """Return inputs for multi-head self-attention, alone, in batches and with masks.

    Parameters
    ----------
    seed : int
        Seed of the random numbers; the shapes are always the same.

    Returns
    -------
    list of dict
        With the keys ``x``, ``w_q``, ``w_k``, ``w_v``, ``w_o``, ``n_heads`` and, in some, ``mask``.
    """
    rng = np.random.default_rng(seed)

    def draw(seq_len, d_model, n_heads, batch=(), mask=None):
        case = {"x": rng.uniform(-1, 1, (*batch, seq_len, d_model))}
        for name in ("w_q", "w_k", "w_v", "w_o"):
            case[name] = rng.uniform(-0.6, 0.6, (d_model, d_model))
        case["n_heads"] = np.array(n_heads)
        return case if mask is None else case | {"mask": mask}

    causal = np.tri(3, dtype=bool)
    one_empty_row = np.array([[True, True, False], [False, False, False], [True, False, True]])
    padding = np.arange(4) < np.array([2, 3])[:, None, None]
    return [
        draw(3, 4, 2),
        draw(2, 6, 2),
        draw(3, 6, 3),
        draw(3, 4, 2, mask=causal),
        draw(3, 6, 2, mask=one_empty_row),
        draw(4, 6, 3, batch=(2,)),
        draw(4, 6, 2, batch=(2,), mask=np.broadcast_to(padding, (2, 4, 4)).copy()),
        draw(4, 6, 3, batch=(2,), mask=np.tri(4, dtype=bool)),
    ]


def _oracle(x, w_q, w_k, w_v, w_o, n_heads, mask=None):
    return reference(x, x, x, w_q, w_k, w_v, w_o, int(n_heads), mask)


def _for_heads(mask):
    """Return a mask with an axis for the heads."""
    return mask[..., None, :, :]


def _with(
    split=split_heads, join=join_heads, size=None, scores=None, axis=-1, to_heads=_for_heads,
    project=lambda joined, w_o: joined @ w_o, fill=-np.inf,
):  # fmt: skip
    """Return multi-head attention with one of its parts replaced."""

    def attention(x, w_q, w_k, w_v, w_o, n_heads, mask=None):
        n_heads = int(n_heads)
        query, key, value = (split(x @ w, n_heads) for w in (w_q, w_k, w_v))
        d_k = size(x, n_heads) if size else query.shape[-1]
        found = query @ key.mT / np.sqrt(d_k)
        found = scores(found) if scores else found
        if mask is not None:
            found = np.where(to_heads(mask), found, fill if axis == -1 else -1e9)
        weights = softmax(found, axis=axis)
        return project(join(weights @ value), w_o), weights

    return attention


def _reshaped(x, n_heads):
    *batch, seq_len, width = x.shape
    return x.reshape(*batch, n_heads, seq_len, width // n_heads)


def _joined_as_they_are(heads):
    *batch, n_heads, seq_len, width = heads.shape
    return heads.reshape(*batch, seq_len, n_heads * width)


def _summed(heads):
    return heads.sum(axis=-3)


def _mean(heads):
    return heads.mean(axis=-3)


def _first_rows(joined, w_o):
    return joined @ w_o[: joined.shape[-1]]


def _renamed(order):
    def attention(x, w_q, w_k, w_v, w_o, n_heads, mask=None):
        return _oracle(x, *order(w_q, w_k, w_v, w_o), n_heads, mask)

    return attention


def _returning(result):
    def attention(x, w_q, w_k, w_v, w_o, n_heads, mask=None):
        return result(*_oracle(x, w_q, w_k, w_v, w_o, n_heads, mask), x)

    return attention


def _one_head(x, w_q, w_k, w_v, w_o, n_heads, mask=None):
    return _oracle(x, w_q, w_k, w_v, w_o, 1, mask)


def _mask_dropped(x, w_q, w_k, w_v, w_o, n_heads, mask=None):
    return _oracle(x, w_q, w_k, w_v, w_o, n_heads)


def _one_sentence(x, w_q, w_k, w_v, w_o, n_heads, mask=None):
    _seq_len, _d_model = x.shape
    return _oracle(x, w_q, w_k, w_v, w_o, n_heads, mask)


def _input_split(x, w_q, w_k, w_v, w_o, n_heads, mask=None):
    """Give head i only its own piece of x, and of each matrix the block on the diagonal."""
    parts = np.split(np.arange(x.shape[-1]), int(n_heads))

    def project(w):
        return np.stack([x[..., part] @ w[np.ix_(part, part)] for part in parts], axis=-3)

    query, key, value = (project(w) for w in (w_q, w_k, w_v))
    scores = query @ key.mT / np.sqrt(query.shape[-1])
    if mask is not None:
        scores = np.where(mask[..., None, :, :], scores, -np.inf)
    weights = softmax(scores)
    return join_heads(weights @ value) @ w_o, weights


def _all_heads_mean(scores):
    return np.broadcast_to(scores.mean(axis=-3, keepdims=True), scores.shape)


MISCONCEPTIONS = (
    Misconception(
        "root_of_d_model",
        (_with(size=lambda x, n_heads: x.shape[-1]),),
        {
            "es": "Divides entre √d_model. Cada puntaje es ahora una suma de d_k = d_model / n_heads "
            "productos, así que la raíz es la de d_k; con la otra, los pesos quedan demasiado "
            "iguales. Toma el último eje después de partir: `query.shape[-1]`.",
            "en": "You divide by √d_model. Each score is now a sum of d_k = d_model / n_heads "
            "products, so the root is that of d_k; with the other the weights come out too even. "
            "Take the last axis after the split: `query.shape[-1]`.",
        },
    ),
    Misconception(
        "no_root",
        (_with(size=lambda x, n_heads: 1),),
        {
            "es": "Faltó la raíz de d_k. Cada cabeza es la atención del capítulo 3, con su escala: "
            "divide los puntajes de cada una entre `np.sqrt(query.shape[-1])`.",
            "en": "The root of d_k is missing. Each head is the attention of chapter 3, scale "
            "included: divide the scores of each by `np.sqrt(query.shape[-1])`.",
        },
    ),
    Misconception(
        "split_by_reshape",
        (_with(split=_reshaped), _with(split=_reshaped, join=_joined_as_they_are)),
        {
            "es": "Al partir usas solo `reshape`, y cada cabeza recibe trozos de varios tokens: "
            "deja de comparar un token con otro. Usa tu `split_heads`, que después de `reshape` "
            "intercambia ejes.",
            "en": "You split with `reshape` alone, and each head gets pieces of several tokens: it "
            "no longer compares one token with another. Use your `split_heads`, which exchanges "
            "axes after the `reshape`.",
        },
    ),
    Misconception(
        "joined_by_reshape",
        (_with(join=_joined_as_they_are),),
        {
            "es": "Las cabezas están bien y al unirlas se revuelven: hace falta deshacer el "
            "intercambio de ejes antes de `reshape`, o la fila de un token acaba con salidas de "
            "otros. Primero `np.moveaxis(heads, -3, -2)`.",
            "en": "The heads are right and get shuffled when joined: the exchange of axes must be "
            "undone before the `reshape`, or the row of one token ends up with outputs of others. "
            "First `np.moveaxis(heads, -3, -2)`.",
        },
    ),
    Misconception(
        "heads_added",
        (_with(join=_summed, project=_first_rows), _with(join=_mean, project=_first_rows)),
        {
            "es": "Sumas las cabezas, o haces su media, antes de `w_o`. Así vuelve a mezclarse lo "
            "que separaron, y no se usan todas las filas de `w_o`: pon sus salidas una junto a "
            "otra, n_heads · d_v números por token.",
            "en": "You add the heads, or take their mean, before `w_o`. That mixes again what they "
            "kept apart, and leaves rows of `w_o` unused: put their outputs side by side, "
            "n_heads · d_v numbers per token.",
        },
    ),
    Misconception(
        "no_output_projection",
        (_with(project=lambda joined, w_o: joined),),
        {
            "es": "Devuelves las cabezas una junto a otra sin pasarlas por `w_o`. Sin ella, cada "
            "componente de la salida viene de una sola cabeza y ninguna se combina con otra: "
            "multiplica al final por `w_o`.",
            "en": "You return the heads side by side without passing them through `w_o`. Without "
            "it each component of the output comes from a single head and none is combined with "
            "another: multiply by `w_o` at the end.",
        },
    ),
    Misconception(
        "output_projection_transposed",
        (_with(project=lambda joined, w_o: joined @ w_o.T),),
        {
            "es": "Multiplicas por la traspuesta de `w_o`. Las filas de `w_o` son las componentes de "
            "las cabezas, en su orden, y va a la derecha tal como está: `joined @ w_o`.",
            "en": "You multiply by the transpose of `w_o`. The rows of `w_o` are the components of "
            "the heads, in their order, and it goes on the right as it is: `joined @ w_o`.",
        },
    ),
    Misconception(
        "single_head",
        (_one_head,),
        {
            "es": "Calculas una única atención con todas las columnas: n_heads no interviene, y los "
            "pesos deben ser n_heads matrices. Parte query, key y value antes de los puntajes.",
            "en": "You compute a single attention with all the columns: n_heads plays no part, and "
            "the weights should be n_heads matrices. Split query, key and value before the scores.",
        },
    ),
    Misconception(
        "scores_shared",
        (_with(scores=_all_heads_mean),),
        {
            "es": "Combinas los puntajes de las cabezas antes de la softmax, y todas acaban con los "
            "mismos pesos. Cada cabeza tiene su propia softmax: no mezcles nada hasta `w_o`.",
            "en": "You combine the scores of the heads before the softmax, and all end up with the "
            "same weights. Each head has a softmax of its own: mix nothing until `w_o`.",
        },
    ),
    Misconception(
        "weights_averaged",
        (
            _returning(lambda output, weights, x: (output, weights.mean(axis=-3))),
            _returning(
                lambda o, w, x: (o, np.broadcast_to(w.mean(-3, keepdims=True), w.shape).copy())
            ),
        ),
        {
            "es": "La salida es correcta, pero devuelves la media de los pesos sobre las cabezas, "
            "como hace `nn.MultiheadAttention` si no se le dice otra cosa. Esa media no la usa "
            "nadie: devuelve la matriz de cada cabeza.",
            "en": "The output is right, but you return the mean of the weights over the heads, as "
            "`nn.MultiheadAttention` does unless told otherwise. Nobody uses that mean: return "
            "the matrix of each head.",
        },
    ),
    Misconception(
        "wrong_axis",
        (_with(axis=-2), _with(axis=-3)),
        {
            "es": "La softmax va sobre las keys de cada query y cada cabeza. Con un eje más es fácil "
            "equivocarse, y cuenta desde el final: los puntajes son (cabezas, queries, keys), y "
            "se normaliza sobre `axis=-1`.",
            "en": "The softmax runs over the keys of each query of each head. With one axis more it "
            "is easy to slip, so count from the end: scores are (heads, queries, keys), and "
            "`axis=-1` is normalised.",
        },
    ),
    Misconception(
        "mask_ignored",
        (_mask_dropped,),
        {
            "es": "`mask` llega y no se usa. La misma máscara vale para todas las cabezas: aplícala "
            "a los puntajes de cada una antes de su softmax.",
            "en": "`mask` arrives and is not used. The same mask holds for every head: apply it to "
            "the scores of each before its softmax.",
        },
    ),
    Misconception(
        "mask_without_heads",
        (_with(to_heads=lambda mask: mask),),
        {
            "es": "Una máscara con lote es (lote, queries, keys), y los puntajes tienen además el "
            "eje de las cabezas. Sin hacerle sitio, cada oración toma la máscara de otra cuando "
            "lote y n_heads coinciden: usa `mask[..., None, :, :]`.",
            "en": "A mask with a batch is (batch, queries, keys), and the scores have the axis of "
            "the heads besides. Without room for it, each sentence takes the mask of another when "
            "batch and n_heads are equal: use `mask[..., None, :, :]`.",
        },
    ),
    Misconception(
        "mask_opened_behind_the_first_axis",
        (_with(to_heads=lambda mask: mask[:, None]),),
        {
            "es": "`mask[:, None]` abre el sitio de las cabezas solo si la máscara tiene lote; sin "
            "él, lo abre entre queries y keys. `mask[..., None, :, :]` vale en los dos casos.",
            "en": "`mask[:, None]` makes room for the heads only if the mask has a batch; without "
            "one, the room is between queries and keys. `mask[..., None, :, :]` holds either way.",
        },
    ),
    Misconception(
        "mask_backwards",
        (_with(to_heads=lambda mask: ~mask[..., None, :, :]),),
        {
            "es": "Tu máscara prohíbe lo que debía permitir. True es «puede atender», también con "
            "varias cabezas: el −inf va donde `mask` es False.",
            "en": "Your mask forbids what it should allow. True means “may attend”, with several "
            "heads too: −inf goes where `mask` is False.",
        },
    ),
    Misconception(
        "large_number_for_infinity",
        (_with(fill=-1e9),),
        {
            "es": "Pones −1e9 en lo prohibido. Si una query no tiene nada permitido, todos sus "
            "puntajes valen igual y la softmax reparte el peso entre lo prohibido. Con −inf, "
            "`reference.softmax` le da pesos cero.",
            "en": "You put −1e9 in what is forbidden. If a query has nothing allowed, all its scores "
            "are equal and the softmax shares the weight among what is forbidden. With −inf, "
            "`reference.softmax` gives it zero weights.",
        },
    ),
    Misconception(
        "input_split",
        (_input_split,),
        {
            "es": "Partes la entrada: cada cabeza lee solo un trozo de cada vector. Proyecta el "
            "vector entero, `x @ w_q`, y parte el resultado.",
            "en": "You split the input: each head reads only a piece of each vector. Project the "
            "whole vector, `x @ w_q`, and split the result.",
        },
    ),
    Misconception(
        "query_key_exchanged",
        (_renamed(lambda w_q, w_k, w_v, w_o: (w_k, w_q, w_v, w_o)),),
        {
            "es": "Intercambiaste `w_q` y `w_k`: en cada cabeza los puntajes salen traspuestos. La "
            "query, quien pregunta, es `x @ w_q`.",
            "en": "You exchanged `w_q` and `w_k`: in every head the scores come out transposed. The "
            "query, the one who asks, is `x @ w_q`.",
        },
    ),
    Misconception(
        "input_added",
        (_returning(lambda output, weights, x: (x + output, weights)),),
        {
            "es": "Sumas `x` a la salida. Esa es la conexión residual, que pone la capa que rodea a "
            "la atención; aquí la salida es solo lo que las cabezas reunieron.",
            "en": "You add `x` to the output. That is the residual connection, which the layer "
            "around attention provides; here the output is only what the heads gathered.",
        },
    ),
    Misconception(
        "one_sentence_only",
        (_one_sentence,),
        {
            "es": "Con un lote tu función se detiene: cuenta con dos ejes en `x`. Toma las dos "
            "últimas dimensiones, `x.shape[-2:]`, e intercambia ejes contando desde el final.",
            "en": "With a batch your function stops: it counts on two axes in `x`. Take the last "
            "two dimensions, `x.shape[-2:]`, and exchange axes counting from the end.",
        },
    ),
)

EXERCISE = Exercise(
    "multi_head_attention", 4, ("output", "weights"), _oracle, cases, MISCONCEPTIONS
)
