"""Problem set 3, `pack_heads`: from one matrix per head to two in all, and how to get it wrong."""

import numpy as np

from attn.exercises.spec import Exercise, Misconception


def pack_heads(w_q, w_k, w_v, w_o):
    """Return the matrices of all heads as PyTorch stores them.

    Parameters
    ----------
    w_q, w_k, w_v : ndarray, shape (n_heads, d_model, d_k)
        Those of each head, as the paper writes them: ``x @ w_q[i]``.
    w_o : ndarray, shape (n_heads, d_k, d_model)
        The rows of the output projection that belong to each head.

    Returns
    -------
    in_proj : ndarray, shape (3 * n_heads * d_k, d_model)
        A row for each number that is computed: queries, then keys, then values.
    out_proj : ndarray, shape (d_model, n_heads * d_k)

    References
    ----------
    Vaswani et al. (2017), section 3.2.2, for the matrices of each head.
    """
    rows = [w.swapaxes(1, 2).reshape(-1, w.shape[1]) for w in (w_q, w_k, w_v)]
    return np.concatenate(rows), w_o.reshape(-1, w_o.shape[2]).T


def cases(seed):
    """Return the matrices of a few heads, which together are as wide as the model or are not.

    Parameters
    ----------
    seed : int
        Seed of the random numbers; the shapes are always the same.

    Returns
    -------
    list of dict
        With the keys ``w_q``, ``w_k``, ``w_v`` and ``w_o``.
    """
    rng = np.random.default_rng(seed)

    def draw(n_heads, d_model, d_k):
        shapes = dict.fromkeys(("w_q", "w_k", "w_v"), (n_heads, d_model, d_k))
        shapes["w_o"] = (n_heads, d_k, d_model)
        return {name: rng.uniform(-1, 1, shape) for name, shape in shapes.items()}

    sizes = ((2, 4, 2), (2, 6, 3), (3, 6, 2), (4, 8, 2), (2, 5, 3), (3, 4, 5), (1, 3, 2))
    return [draw(*size) for size in sizes]


def _rows(w):
    return w.swapaxes(1, 2).reshape(-1, w.shape[1])


def _out(w_o):
    return w_o.reshape(-1, w_o.shape[2]).T


def _packed(rows=_rows, order=(0, 1, 2), join=np.concatenate, out=_out):
    def pack(*matrices):
        return join([rows(matrices[i]) for i in order]), out(matrices[3])

    return pack


def _by_head(w_q, w_k, w_v, w_o):
    rows = [w[i].T for i in range(len(w_q)) for w in (w_q, w_k, w_v)]
    return np.concatenate(rows), _out(w_o)


def _scaled(w_q, w_k, w_v, w_o):
    return pack_heads(w_q / np.sqrt(w_q.shape[2]), w_k, w_v, w_o)


MISCONCEPTIONS = (
    Misconception(
        "not_transposed",
        (
            _packed(join=lambda rows: np.concatenate(rows).T),
            _packed(
                join=lambda rows: np.concatenate(rows).T,
                out=lambda w_o: w_o.reshape(-1, w_o.shape[2]),
            ),
        ),
        {
            "es": "Tu `in_proj` tiene las proyecciones por columnas, como para `x @ w`. PyTorch "
            "calcula `x @ w.T`: en la matriz que guarda, cada proyección es una fila.",
            "en": "Your `in_proj` has the projections as columns, as for `x @ w`. PyTorch computes "
            "`x @ w.T`: in the matrix it stores, each projection is a row.",
        },
    ),
    Misconception(
        "output_not_transposed",
        (_packed(out=lambda w_o: w_o.reshape(-1, w_o.shape[2])),),
        {
            "es": "`in_proj` está bien; `out_proj` quedó como en el artículo. PyTorch también la "
            "guarda traspuesta: una fila por cada componente de la salida.",
            "en": "`in_proj` is right; `out_proj` stayed as in the paper. PyTorch stores it "
            "transposed as well: one row for each component of the output.",
        },
    ),
    Misconception(
        "reshaped_only",
        (
            _packed(rows=lambda w: w.reshape(-1, w.shape[1])),
            _packed(rows=lambda w: w.reshape(w.shape[1], -1).T),
            _packed(
                rows=lambda w: w.reshape(-1, w.shape[1]),
                out=lambda w_o: w_o.reshape(w_o.shape[2], -1),
            ),
        ),
        {
            "es": "La forma es la pedida, pero `reshape` no mueve ningún eje: reparte los números "
            "en el orden en que están. Lleva antes `d_model` al final, y la fila siguiente a la "
            "última de una cabeza será la primera de la otra.",
            "en": "The shape is the one asked for, but `reshape` moves no axis: it deals out the "
            "numbers in the order they are in. Bring `d_model` to the end first, and after the "
            "last row of one head comes the first of the next.",
        },
    ),
    Misconception(
        "output_reshaped_only",
        (_packed(out=lambda w_o: w_o.reshape(w_o.shape[2], -1)),),
        {
            "es": "Las filas de `in_proj` están en su sitio. En `out_proj` pides la forma final "
            "con un solo `reshape`, que mezcla componentes: junta primero cabezas y d_v, en ese "
            "orden, y traspón después.",
            "en": "The rows of `in_proj` are in place. For `out_proj` you ask for the final shape "
            "with a single `reshape`, which mixes components: join heads and d_v first, in that "
            "order, and transpose afterwards.",
        },
    ),
    Misconception(
        "components_before_heads",
        (
            _packed(
                rows=lambda w: w.transpose(2, 0, 1).reshape(-1, w.shape[1]),
                out=lambda w_o: w_o.transpose(2, 1, 0).reshape(w_o.shape[2], -1),
            ),
            _packed(rows=lambda w: w.transpose(2, 0, 1).reshape(-1, w.shape[1])),
        ),
        {
            "es": "Pones la primera componente de todas las cabezas, luego la segunda. Quien parta "
            "tu matriz dará a la cabeza 1 componentes de varias: las de una misma cabeza van "
            "seguidas.",
            "en": "You put the first component of every head, then the second. Whoever splits your "
            "matrix will give head 1 components of several: those of one head go together.",
        },
    ),
    Misconception(
        "output_components_before_heads",
        (_packed(out=lambda w_o: w_o.transpose(2, 1, 0).reshape(w_o.shape[2], -1)),),
        {
            "es": "En `out_proj` las cabezas se alternan, una columna de cada una. El orden es el "
            "de la concatenación: todas las columnas de la cabeza 1 y después las de la 2.",
            "en": "In `out_proj` the heads take turns, one column each. The order is that of the "
            "concatenation: every column of head 1, and then those of head 2.",
        },
    ),
    Misconception(
        "head_by_head",
        (_by_head,),
        {
            "es": "Apilas query, key y value de la cabeza 1, luego los de la 2. Algunas "
            "bibliotecas lo hacen; PyTorch quiere las queries de todas las cabezas, después todas "
            "las keys y al final los values.",
            "en": "You stack query, key and value of head 1, then those of head 2. Some libraries "
            "do; PyTorch wants the queries of every head, then all the keys and at the end the "
            "values.",
        },
    ),
    Misconception(
        "another_order",
        (
            _packed(order=(1, 0, 2)),
            _packed(order=(2, 1, 0)),
            _packed(order=(0, 2, 1)),
            _packed(order=(2, 0, 1)),
        ),
        {
            "es": "Los tres bloques de `in_proj` están, en otro orden. Nadie lo nota por la forma: "
            "es query, key, value, de arriba abajo.",
            "en": "The three blocks of `in_proj` are there, in another order. The shape gives "
            "nothing away: it is query, key, value, from top to bottom.",
        },
    ),
    Misconception(
        "side_by_side",
        (_packed(join=np.hstack),),
        {
            "es": "Los bloques quedaron uno junto a otro, y `in_proj` tiene 3 · d_model columnas. "
            "Van uno debajo de otro: se unen sobre el primer eje.",
            "en": "The blocks ended up side by side, and `in_proj` has 3 · d_model columns. They "
            "go one below the other: join them along the first axis.",
        },
    ),
    Misconception(
        "axis_of_three",
        (_packed(join=np.stack),),
        {
            "es": "`in_proj` te sale con tres ejes: `np.stack` abre uno nuevo de tamaño 3. Query, "
            "key y value comparten el eje de las filas: `np.concatenate`.",
            "en": "Your `in_proj` has three axes: `np.stack` opens a new one of size 3. Query, key "
            "and value share the axis of the rows: `np.concatenate`.",
        },
    ),
    Misconception(
        "heads_summed",
        (
            _packed(rows=lambda w: w.sum(axis=0).T, out=lambda w_o: w_o.sum(axis=0).T),
            _packed(rows=lambda w: w.mean(axis=0).T, out=lambda w_o: w_o.mean(axis=0).T),
        ),
        {
            "es": "Sumas las matrices de las cabezas, o haces su media, y queda una sola. Cada una "
            "conserva sus filas: `in_proj` tiene 3 · cabezas · d_k.",
            "en": "You sum the matrices of the heads, or take their mean, and a single one is "
            "left. Each keeps its own rows: `in_proj` has 3 · heads · d_k of them.",
        },
    ),
    Misconception(
        "scale_included",
        (_scaled,),
        {
            "es": "Tus queries ya vienen divididas entre √d_k. La capa que use estas matrices lo "
            "hará otra vez: aquí solo cambian de sitio, ningún número cambia.",
            "en": "Your queries come divided by √d_k already. The layer that uses these matrices "
            "will do so again: here numbers only move, none of them changes.",
        },
    ),
    Misconception(
        "no_output_matrix",
        (lambda *matrices: pack_heads(*matrices)[0],),
        {
            "es": "Devuelves solo `in_proj`. Sin `out_proj` las cabezas se quedan sin mezclar: "
            "devuelve las dos matrices, en ese orden.",
            "en": "You return only `in_proj`. Without `out_proj` the heads stay unmixed: return "
            "both matrices, in that order.",
        },
    ),
)

EXERCISE = Exercise(
    "pack_heads",
    4,
    ("in_proj", "out_proj"),
    pack_heads,
    cases,
    MISCONCEPTIONS,
    problem_set="ps3",
)
