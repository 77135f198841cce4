"""Chapter 4, `head_contributions`: what each head adds, and the ways to get it wrong."""

import numpy as np

from attn.exercises.spec import Exercise, Misconception


def head_contributions(heads, w_o):
    """Return what each head adds to the output: the head times its own rows of `w_o`.

    Parameters
    ----------
    heads : ndarray, shape (..., n_heads, seq_len, d_v)
    w_o : ndarray, shape (n_heads * d_v, d_model)

    Returns
    -------
    ndarray, shape (..., n_heads, seq_len, d_model)
        Their sum over the heads is the output of multi-head attention.

    Examples
    --------
    >>> head_contributions(np.array([[[2.0]], [[3.0]]]), np.array([[1.0, 0.0], [1.0, 1.0]]))
    array([[[2., 0.]],
    <BLANKLINE>
           [[3., 3.]]])
    """
    return heads @ _blocks(heads, w_o)


def cases(seed):
    """Return heads and an output projection, alone and in batches.

    Parameters
    ----------
    seed : int
        Seed of the random numbers; the shapes are always the same.

    Returns
    -------
    list of dict
        With the keys ``heads`` and ``w_o``.
    """
    rng = np.random.default_rng(seed)
    shapes = [
        ((2, 3, 2), 5),
        ((2, 2, 3), 3),
        ((3, 2, 4), 5),
        ((2, 3, 2, 3), 7),
        ((2, 2, 2, 4, 3), 5),
    ]
    return [
        {
            "heads": rng.uniform(-0.5, 0.5, shape),
            "w_o": rng.uniform(-0.4, 0.4, (shape[-3] * shape[-1], d_model)),
        }
        for shape, d_model in shapes
    ]


def _blocks(heads, w_o):
    """Return the rows of `w_o` that belong to each head: (n_heads, d_v, d_model)."""
    return w_o.reshape(heads.shape[-3], heads.shape[-1], -1)


def _interleaved(heads, w_o):
    return heads @ w_o.reshape(heads.shape[-1], heads.shape[-3], -1).swapaxes(0, 1)


def _side_by_side(heads, w_o):
    n_heads, d_v = heads.shape[-3], heads.shape[-1]
    slots = np.zeros((*heads.shape[:-1], n_heads * d_v))
    for h in range(n_heads):
        slots[..., h, :, h * d_v : (h + 1) * d_v] = heads[..., h, :, :]
    return slots


def _shuffled(heads, w_o):
    *batch, n_heads, seq_len, d_v = heads.shape
    mixed = heads.reshape(*batch, seq_len, n_heads, d_v).swapaxes(-3, -2)
    return mixed @ _blocks(heads, w_o)


def _stacked_first(heads, w_o):
    blocks = _blocks(heads, w_o)
    return np.stack([heads[..., h, :, :] @ block for h, block in enumerate(blocks)])


def _one_by_one_from_the_front(heads, w_o):
    return np.stack([heads[h] @ block for h, block in enumerate(_blocks(heads, w_o))])


def _total(heads, w_o):
    return head_contributions(heads, w_o).sum(axis=-3)


def _changed(change):
    def contributions(heads, w_o):
        return change(head_contributions(heads, w_o))

    return contributions


MISCONCEPTIONS = (
    Misconception(
        "already_added",
        (_total,),
        {
            "es": "Eso es la salida completa, con las cabezas ya sumadas. Se pide cada sumando por "
            "separado: la cabeza h por sus filas de `w_o`, y un eje para las cabezas en el "
            "resultado.",
            "en": "That is the whole output, with the heads already added. What is asked for is "
            "each term by itself: head h times its rows of `w_o`, and an axis for the heads in "
            "the result.",
        },
    ),
    Misconception(
        "first_block_for_all",
        (lambda heads, w_o: heads @ w_o[: heads.shape[-1]],),
        {
            "es": "Todas tus cabezas pasan por las primeras d_v filas de `w_o`. Cada una tiene las "
            "suyas: la cabeza h, de la fila `h * d_v` a la `(h + 1) * d_v`.",
            "en": "All your heads go through the first d_v rows of `w_o`. Each has its own: head "
            "h, from row `h * d_v` to row `(h + 1) * d_v`.",
        },
    ),
    Misconception(
        "every_other_row",
        (_interleaved,),
        {
            "es": "Das a cada cabeza una fila de `w_o` de cada n_heads. Como las cabezas se unen "
            "una detrás de otra, sus filas son d_v seguidas: `w_o.reshape(n_heads, d_v, -1)`.",
            "en": "You give each head one row of `w_o` in every n_heads. As the heads are joined "
            "one after another, their rows are d_v in a run: `w_o.reshape(n_heads, d_v, -1)`.",
        },
    ),
    Misconception(
        "blocks_reversed",
        (lambda heads, w_o: heads @ _blocks(heads, w_o)[::-1],),
        {
            "es": "Los bloques van al revés: la primera cabeza usa las últimas filas de `w_o`. El "
            "orden es el de la unión, así que la primera cabeza toma las primeras filas.",
            "en": "The blocks are the wrong way round: the first head uses the last rows of `w_o`. "
            "The order is that of joining, so the first head takes the first rows.",
        },
    ),
    Misconception(
        "block_transposed",
        (lambda heads, w_o: heads @ _blocks(heads, w_o).mT,),
        {
            "es": "Trasponer el bloque solo es posible si d_v = d_model, y entonces da otra cosa. "
            "Un bloque es d_v × d_model y multiplica por la derecha tal como está.",
            "en": "Transposing the block is possible only if d_v = d_model, and then gives "
            "something else. A block is d_v × d_model and multiplies from the right as it is.",
        },
    ),
    Misconception(
        "not_projected",
        (_side_by_side,),
        {
            "es": "Pones cada cabeza en su sitio del vector unido y ahí te quedas. Lo que añade a "
            "la salida es eso multiplicado por `w_o`, y tiene d_model componentes.",
            "en": "You put each head in its place of the joined vector and stop there. What it adds "
            "to the output is that times `w_o`, and has d_model components.",
        },
    ),
    Misconception(
        "others_instead",
        (_changed(lambda each: each.sum(axis=-3, keepdims=True) - each),),
        {
            "es": "Eso es la salida sin la cabeza h, la suma de las demás. Es lo que queda al "
            "cortarla; se pide lo que ella aporta.",
            "en": "That is the output without head h, the sum of the others. It is what remains "
            "when it is cut; what is asked for is what it adds.",
        },
    ),
    Misconception(
        "divided_by_heads",
        (_changed(lambda each: each / each.shape[-3]),),
        {
            "es": "Divides entre el número de cabezas, como si la salida fuera su media. Es su suma: "
            "`w_o` decide cuánto cuenta cada una.",
            "en": "You divide by the number of heads, as if the output were their mean. It is their "
            "sum: `w_o` decides how much each one counts.",
        },
    ),
    Misconception(
        "as_shares",
        (_changed(lambda each: each / each.sum(axis=-3, keepdims=True)),),
        {
            "es": "Devuelves proporciones del total. Las aportaciones tienen signo y pueden "
            "anularse, y entonces una proporción no significa nada: deja los sumandos como están.",
            "en": "You return shares of the total. Contributions have a sign and may cancel, and "
            "then a share means nothing: leave the terms as they are.",
        },
    ),
    Misconception(
        "running_total",
        (_changed(lambda each: each.cumsum(axis=-3)),),
        {
            "es": "Acumulas: la segunda entrada lleva ya la primera cabeza, y la última es la "
            "salida completa. Cada cabeza por separado, sin sumar las anteriores.",
            "en": "You accumulate: the second entry already holds the first head, and the last is "
            "the whole output. Each head by itself, without adding those before.",
        },
    ),
    Misconception(
        "tokens_before_heads",
        (_changed(lambda each: each.swapaxes(-3, -2)),),
        {
            "es": "Los valores son correctos y los ejes no: las cabezas van delante de los tokens, "
            "como en `heads`. El resultado es (..., cabezas, tokens, d_model).",
            "en": "The values are right and the axes are not: the heads come before the tokens, as "
            "in `heads`. The result is (..., heads, tokens, d_model).",
        },
    ),
    Misconception(
        "tokens_shuffled",
        (_shuffled,),
        {
            "es": "Cambias la forma de `heads` con `reshape` antes de multiplicar, y las filas de "
            "una cabeza pasan a otra. El eje de las cabezas ya está donde hace falta: multiplica "
            "directamente por los bloques.",
            "en": "You change the shape of `heads` with `reshape` before multiplying, and rows of "
            "one head move to another. The axis of the heads is already where it should be: "
            "multiply by the blocks directly.",
        },
    ),
    Misconception(
        "heads_before_the_batch",
        (_stacked_first, _one_by_one_from_the_front),
        {
            "es": "Con un lote, el eje de las cabezas no es el primero: está justo delante de los "
            "tokens. La cabeza h es `heads[..., h, :, :]`, y al juntar, `np.stack(..., axis=-3)`.",
            "en": "With a batch the axis of the heads is not the first: it stands just before the "
            "tokens. Head h is `heads[..., h, :, :]`, and to join, `np.stack(..., axis=-3)`.",
        },
    ),
    Misconception(
        "without_batch",
        (lambda heads, w_o: np.einsum("hid,hdm->him", heads, _blocks(heads, w_o)),),
        {
            "es": "Con un lote delante tu función falla, porque cuenta con tres ejes. El operador "
            "`@` extiende los bloques a cualquier número de ejes; en `einsum`, escribe `...`.",
            "en": "With a batch in front your function fails, since it counts on three axes. The "
            "operator `@` broadcasts the blocks to any number of axes; in `einsum`, write `...`.",
        },
    ),
)

EXERCISE = Exercise(
    "head_contributions", 4, ("contributions",), head_contributions, cases, MISCONCEPTIONS
)
