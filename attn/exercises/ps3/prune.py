"""Problem set 3, `prune_heads`: a layer without some of its heads, and how to get it wrong."""

import numpy as np

from attn.exercises.spec import Exercise, Misconception


def prune_heads(w_q, w_k, w_v, w_o, kept):
    """Return the matrices of a layer that has only some of its heads.

    Parameters
    ----------
    w_q, w_k : ndarray, shape (d_model, n_heads * d_k)
    w_v : ndarray, shape (d_model, n_heads * d_v)
    w_o : ndarray, shape (n_heads * d_v, d_model)
    kept : ndarray of bool, shape (n_heads,)
        True = the head stays.

    Returns
    -------
    w_q, w_k, w_v, w_o : ndarray
        The same without the columns, and the rows of `w_o`, of the heads that go.

    References
    ----------
    Michel et al. (2019) prune whole heads of trained models.
    """
    return (*(w[:, _whose(kept, w.shape[1])] for w in (w_q, w_k, w_v)), w_o[_whose(kept, len(w_o))])


def _whose(kept, width):
    """Return for each component whether its head stays."""
    return np.repeat(kept, width // len(kept))


def cases(seed):
    """Return matrices of layers, and which heads stay: some, all or none.

    Parameters
    ----------
    seed : int
        Seed of the random numbers; the shapes are always the same.

    Returns
    -------
    list of dict
        With the keys ``w_q``, ``w_k``, ``w_v``, ``w_o`` and ``kept``.
    """
    rng = np.random.default_rng(seed)

    def draw(d_model, d_k, d_v, kept):
        width = {"w_q": d_k, "w_k": d_k, "w_v": d_v}
        found = {n: rng.uniform(-1, 1, (d_model, len(kept) * w)) for n, w in width.items()}
        found["w_o"] = rng.uniform(-1, 1, (len(kept) * d_v, d_model))
        return found | {"kept": np.array(kept, dtype=bool)}

    return [
        draw(6, 2, 2, [0, 1, 1]),
        draw(8, 2, 2, [1, 0, 0, 1]),
        draw(6, 3, 3, [0, 1]),
        draw(10, 2, 2, [0, 1, 0, 1, 1]),
        draw(5, 2, 2, [1, 1, 1]),
        draw(5, 2, 3, [1, 0, 1]),
        draw(7, 4, 2, [0, 1, 0, 1]),
        draw(6, 2, 2, [0, 0, 0]),
    ]


def _pruned(columns=None, rows=None, choose=lambda kept: kept, whose=_whose):
    """Return a pruning with one of its parts replaced."""

    def prune(w_q, w_k, w_v, w_o, kept):
        chosen = choose(kept)

        def cut(w):
            which = whose(chosen, w.shape[1])
            return columns(w, which) if columns else w[:, which]

        which = whose(chosen, len(w_o))
        return (*map(cut, (w_q, w_k, w_v)), rows(w_o, which) if rows else w_o[which])

    return prune


def _first_heads(kept):
    return np.arange(len(kept)) < kept.sum()


def _alternating(kept, width):
    return np.tile(kept, width // len(kept))


def _values_as_wide_as_keys(w_q, w_k, w_v, w_o, kept):
    """Take d_k for d_v: slices of the size of the keys, in the values and in w_o too."""
    d_k = w_q.shape[1] // len(kept)
    stay = [slice(i * d_k, (i + 1) * d_k) for i in np.flatnonzero(kept)]
    columns = [np.hstack([w[:, :0], *(w[:, s] for s in stay)]) for w in (w_q, w_k, w_v)]
    return (*columns, np.vstack([w_o[:0], *(w_o[s] for s in stay)]))


def _values_whole(w_q, w_k, w_v, w_o, kept):
    shorter = prune_heads(w_q, w_k, w_v, w_o, kept)
    return shorter[0], shorter[1], w_v, shorter[3]


def _one_component(w_q, w_k, w_v, w_o, kept):
    heads = np.flatnonzero(kept)
    return w_q[:, heads], w_k[:, heads], w_v[:, heads], w_o[heads]


def _axis_left(w_q, w_k, w_v, w_o, kept):
    apart = [w.reshape(len(w), len(kept), -1)[:, kept] for w in (w_q, w_k, w_v)]
    return *apart, w_o.reshape(len(kept), -1, w_o.shape[1])[kept]


def _rescaled(w_q, w_k, w_v, w_o, kept):
    *columns, rows = prune_heads(w_q, w_k, w_v, w_o, kept)
    return *columns, rows * (len(kept) / max(kept.sum(), 1))


def _stops_at_none(w_q, w_k, w_v, w_o, kept):
    if not kept.any():
        raise ValueError("need at least one array to concatenate")
    return prune_heads(w_q, w_k, w_v, w_o, kept)


def _nothing_to_do_at_none(w_q, w_k, w_v, w_o, kept):
    return prune_heads(w_q, w_k, w_v, w_o, kept if kept.any() else ~kept)


MISCONCEPTIONS = (
    Misconception(
        "kept_inverted",
        (_pruned(choose=lambda kept: ~kept),),
        {
            "es": "Quitas las cabezas que debían quedarse. `kept` dice cuáles siguen: True se "
            "queda, False se va.",
            "en": "You remove the heads that should stay. `kept` says which go on: True stays, "
            "False goes.",
        },
    ),
    Misconception(
        "zeroed",
        (
            _pruned(columns=lambda w, which: w * which, rows=lambda w, which: w * which[:, None]),
            _pruned(columns=lambda w, which: w, rows=lambda w, which: w * which[:, None]),
        ),
        {
            "es": "Pones ceros, como al cortar una cabeza en el capítulo: la salida es la buena, "
            "pero no ahorras ni una multiplicación. Aquí las columnas y las filas desaparecen.",
            "en": "You write zeros, as when the chapter cuts a head: the output is right, but not "
            "one multiplication is saved. Here the columns and the rows disappear.",
        },
    ),
    Misconception(
        "output_untouched",
        (_pruned(rows=lambda w, which: w),),
        {
            "es": "`w_o` sigue entera. La concatenación de las cabezas que quedan es más corta, y "
            "ya no encaja con ella: quítale las filas de las cabezas que se van.",
            "en": "`w_o` is still whole. The concatenation of the heads that remain is shorter and "
            "no longer fits it: take away the rows of the heads that go.",
        },
    ),
    Misconception(
        "output_columns",
        (_pruned(rows=lambda w, which: w[:, np.resize(which, w.shape[1])]),),
        {
            "es": "De `w_o` quitas columnas, que son las componentes de la salida y hacen falta "
            "todas. Lo que entra en `w_o` son las cabezas: cada una ocupa filas.",
            "en": "From `w_o` you remove columns, which are the components of the output, and all "
            "are needed. What goes into `w_o` is the heads: each takes up rows.",
        },
    ),
    Misconception(
        "only_the_output",
        (_pruned(columns=lambda w, which: w),),
        {
            "es": "Solo recortas `w_o`. Las proyecciones calculan todavía las cabezas que nadie "
            "va a leer, y el producto final no encaja: quita también sus columnas.",
            "en": "You trim only `w_o`. The projections still compute the heads that nobody will "
            "read, and the last product does not fit: remove their columns too.",
        },
    ),
    Misconception(
        "values_whole",
        (_values_whole,),
        {
            "es": "Recortas `w_q` y `w_k` y dejas `w_v` como estaba. También los values se "
            "reparten por cabezas: la que se va no entrega ninguno.",
            "en": "You trim `w_q` and `w_k` and leave `w_v` as it was. The values are shared out "
            "by heads too: one that goes hands over none.",
        },
    ),
    Misconception(
        "rows_of_the_projections",
        (_pruned(columns=lambda w, which: w[np.resize(which, len(w))]),),
        {
            "es": "De las proyecciones quitas filas, y las filas son las componentes de la "
            "entrada, que todas las cabezas leen. Las de cada cabeza son columnas.",
            "en": "From the projections you remove rows, and rows are components of the input, "
            "which every head reads. What belongs to each head is columns.",
        },
    ),
    Misconception(
        "alternating",
        (_pruned(whose=_alternating),),
        {
            "es": "Repartes las columnas por turnos: una para cada cabeza y vuelta a empezar. Las "
            "de la cabeza 1 son las d_k primeras, todas seguidas: `np.repeat`, no `np.tile`.",
            "en": "You deal out the columns in turn: one to each head and round again. Those of "
            "head 1 are the first d_k, all together: `np.repeat`, not `np.tile`.",
        },
    ),
    Misconception(
        "one_component",
        (_one_component,),
        {
            "es": "Tomas una sola columna por cabeza, la que tiene su número. La cabeza `i` ocupa "
            "d_k columnas, de la `i * d_k` a la `(i + 1) * d_k` sin incluirla.",
            "en": "You take a single column for each head, the one with its number. Head `i` takes "
            "up d_k columns, from `i * d_k` up to but not including `(i + 1) * d_k`.",
        },
    ),
    Misconception(
        "first_heads",
        (_pruned(choose=_first_heads),),
        {
            "es": "Dejas el número debido de cabezas, pero siempre las primeras. Importa cuáles: "
            "mira en qué lugares de `kept` está True.",
            "en": "You leave the right number of heads, but always the first ones. It matters "
            "which: look at the places where `kept` is True.",
        },
    ),
    Misconception(
        "values_as_wide_as_keys",
        (_values_as_wide_as_keys,),
        {
            "es": "Cortas los values y `w_o` con el ancho de las keys. d_v puede ser otro: "
            "calcúlalo aparte, de `w_v.shape[1]` y el número de cabezas.",
            "en": "You cut the values and `w_o` by the width of the keys. d_v may be another one: "
            "work it out apart, from `w_v.shape[1]` and the number of heads.",
        },
    ),
    Misconception(
        "axis_left",
        (_axis_left,),
        {
            "es": "Las cabezas son las buenas y conservan su propio eje. Devuelve matrices de dos "
            "ejes, con las cabezas que quedan una junto a otra.",
            "en": "The heads are the right ones and keep an axis of their own. Return matrices of "
            "two axes, with the heads that remain side by side.",
        },
    ),
    Misconception(
        "rescaled",
        (_rescaled,),
        {
            "es": "Agrandas `w_o` para compensar las cabezas que faltan, como haría dropout. "
            "Aquí la salida debe ser la de la capa con esas cabezas a cero.",
            "en": "You enlarge `w_o` to make up for the missing heads, as dropout would. Here "
            "the output must be that of the layer with those heads at zero.",
        },
    ),
    Misconception(
        "none_kept",
        (_stops_at_none, _nothing_to_do_at_none),
        {
            "es": "Si `kept` es toda False, tu función se detiene o no quita nada. Las matrices "
            "tienen entonces 0 columnas, y `w_o` 0 filas: NumPy sabe trabajar con ellas.",
            "en": "If `kept` is all False, your function stops or removes nothing. The matrices "
            "then have 0 columns, and `w_o` 0 rows: NumPy can work with them.",
        },
    ),
)

EXERCISE = Exercise(
    "prune_heads",
    4,
    ("w_q", "w_k", "w_v", "w_o"),
    prune_heads,
    cases,
    MISCONCEPTIONS,
    problem_set="ps3",
)
