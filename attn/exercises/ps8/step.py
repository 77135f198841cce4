"""Problem set 8, `cached_step`: one word more with a cache, and the ways to get it wrong."""

import numpy as np

from attn.exercises.spec import Exercise, Misconception
from attn.reference import scaled_dot_product_attention, softmax


def cached_step(x, w_q, w_k, w_v, keys, values, lengths):
    """Return the output of one new token per sentence, and both caches with it written in."""
    return _step(x, w_q, w_k, w_v, keys, values, lengths)


def cases(seed):
    """Return caches: equally full, unequally full, empty, and of large numbers.

    Parameters
    ----------
    seed : int
        Seed of the random numbers; the shapes are always the same.

    Returns
    -------
    list of dict
        With the keys ``x``, ``w_q``, ``w_k``, ``w_v``, ``keys``, ``values`` and ``lengths``.
    """
    rng = np.random.default_rng(seed)

    def draw(d_model, d_k, d_v, capacity, lengths, size=1):
        batch_size = len(lengths)
        sizes = {"w_q": d_k, "w_k": d_k, "w_v": d_v}
        case = {"x": rng.normal(size=(batch_size, d_model))}
        case |= {name: rng.normal(size=(d_model, d)) / 2 for name, d in sizes.items()}
        # Places not yet in use hold what an earlier sentence left there.
        case["keys"] = rng.normal(size=(batch_size, capacity, d_k))
        case["values"] = rng.normal(size=(batch_size, capacity, d_v))
        case["x"] *= size
        return case | {"lengths": np.array(lengths)}

    return [
        draw(3, 2, 4, 5, [2]), draw(4, 3, 2, 6, [3, 3]), draw(5, 2, 3, 7, [1, 1]),
        draw(4, 3, 2, 5, [2, 4]), draw(3, 4, 2, 6, [5, 1, 3]), draw(5, 3, 4, 7, [2, 3, 6, 1]),
        draw(4, 2, 3, 5, [0]), draw(3, 4, 2, 6, [2, 0, 4]),
        draw(4, 3, 2, 5, [2, 4], size=9000), draw(3, 2, 4, 6, [3, 2, 1], size=9000),
    ]  # fmt: skip


# The wrong functions.


def _attend(query, keys, values, allowed):
    return scaled_dot_product_attention(query[:, None], keys, values, allowed[:, None])[0][:, 0]


def _step(
    x, w_q, w_k, w_v, keys, values, lengths, *, seen=1, place=0, attend=_attend, halves="kv",
    late=False, everything=False,
):  # fmt: skip
    """Take one step, wrong in what is asked for."""
    rows, capacity = np.arange(len(x)), keys.shape[1]
    before = keys, values
    keys, values = keys.copy(), values.copy()
    if "k" in halves:
        keys[rows, lengths + place] = x @ w_k
    if "v" in halves:
        values[rows, lengths + place] = x @ w_v
    allowed = np.arange(capacity) < (lengths + seen)[:, None]
    used = before if late else (keys, values)
    output = attend(x @ w_q, *used, allowed | everything)
    return output, keys, values


def _wrong(**how):
    return lambda *arguments: _step(*arguments, **how)


def _returns_old(x, w_q, w_k, w_v, keys, values, lengths):
    return cached_step(x, w_q, w_k, w_v, keys, values, lengths)[0], keys, values


def _without_new(x, w_q, w_k, w_v, keys, values, lengths):
    return _step(x, w_q, w_k, w_v, keys, values, lengths, seen=0)[0], keys, values


def _same_place(which):
    def wrong(x, w_q, w_k, w_v, keys, values, lengths):
        keys, values, place = keys.copy(), values.copy(), which(lengths)
        keys[:, place], values[:, place] = x @ w_k, x @ w_v
        allowed = np.arange(keys.shape[1]) <= lengths[:, None]
        return _attend(x @ w_q, keys, values, allowed), keys, values

    return wrong


def _every_place(x, w_q, w_k, w_v, keys, values, lengths):
    keys, values = keys.copy(), values.copy()
    keys[:, lengths], values[:, lengths] = (x @ w_k)[:, None], (x @ w_v)[:, None]
    allowed = np.arange(keys.shape[1]) <= lengths[:, None]
    return _attend(x @ w_q, keys, values, allowed), keys, values


def _cut(x, w_q, w_k, w_v, keys, values, lengths):
    output, keys, values = cached_step(x, w_q, w_k, w_v, keys, values, lengths)
    n = lengths.max() + 1
    return output, keys[:, :n], values[:, :n]


def _concatenated(x, w_q, w_k, w_v, keys, values, lengths):
    output = cached_step(x, w_q, w_k, w_v, keys, values, lengths)[0]
    new = ((x @ w)[:, None] for w in (w_k, w_v))
    return output, *(np.concatenate(pair, axis=1) for pair in zip((keys, values), new, strict=True))


def _first_length(x, w_q, w_k, w_v, keys, values, lengths):
    same = np.full_like(lengths, lengths[0])
    return cached_step(x, w_q, w_k, w_v, keys, values, same)


def _weighing(weigh, scale=None):
    """Return an attention over the allowed places with another softmax or scale."""

    def attend(query, keys, values, allowed):
        size = query.shape[-1] ** -0.5 if scale is None else scale(query, allowed)
        scores = (keys @ query[..., None])[..., 0] * size
        weights = weigh(np.where(allowed, scores, -np.inf))
        return (weights[:, None] @ values)[:, 0]

    return attend


def _unstable(scores):
    exponentials = np.exp(scores)
    return exponentials / exponentials.sum(axis=-1, keepdims=True)


def _one_peak(scores):
    exponentials = np.exp(scores - scores.max())
    return exponentials / exponentials.sum(axis=-1, keepdims=True)


def _zero_fill(query, keys, values, allowed):
    scores = (keys @ query[..., None])[..., 0] * query.shape[-1] ** -0.5
    return (softmax(np.where(allowed, scores, 0))[:, None] @ values)[:, 0]


MISCONCEPTIONS = (
    Misconception(
        "not_appended",
        (_without_new, _returns_old),
        {
            "es": "La caché sale como entró: el token nuevo no queda escrito en ella. El paso "
            "siguiente no sabrá que existió.",
            "en": "The cache leaves as it came: the new token is not written into it. The next "
            "step will not know that it existed.",
        },
    ),
    Misconception(
        "written_too_late",
        (_wrong(seen=0), _wrong(late=True)),
        {
            "es": "El token nuevo no se ve a sí mismo. Escribe primero su key y su value, y "
            "atiende después: las posiciones de uso son `lengths + 1`.",
            "en": "The new token does not see itself. Write its key and its value first and attend "
            "afterwards: `lengths + 1` positions are in use.",
        },
    ),
    Misconception(
        "attends_to_leftovers",
        (_wrong(everything=True),),
        {
            "es": "Atiendes a toda la memoria, también a lo que dejó allí otra oración. Solo valen "
            "las posiciones hasta la que acabas de escribir.",
            "en": "You attend to the whole memory, what another sentence left there included. Only "
            "the positions up to the one just written count.",
        },
    ),
    Misconception(
        "one_place_too_many",
        (_wrong(seen=2),),
        {
            "es": "La máscara deja ver una posición de más: la que usará el paso siguiente, que "
            "todavía contiene restos.",
            "en": "The mask lets one position too many be seen: the one that the next step will "
            "use, which still holds leftovers.",
        },
    ),
    Misconception(
        "overwrites_the_last",
        (_wrong(place=-1),),
        {
            "es": "Escribes encima del último token guardado. Con n en la caché ocupan las "
            "posiciones de 0 a n − 1, y la primera libre es la n.",
            "en": "You write over the last token kept. With n in the cache, they take positions 0 "
            "to n − 1, and the first free one is n.",
        },
    ),
    Misconception(
        "written_further_on",
        (_wrong(place=1, seen=2, attend=_attend), _same_place(lambda lengths: -1)),
        {
            "es": "Dejas un hueco: el token nuevo no queda justo detrás de los guardados, sino más "
            "allá.",
            "en": "You leave a gap: the new token does not come right after those kept, but "
            "further on.",
        },
    ),
    Misconception(
        "same_place_for_all",
        (
            _same_place(lambda lengths: lengths[0]),
            _same_place(lambda lengths: lengths.max()),
            _first_length,
        ),
        {
            "es": "Usas la misma posición en todas las oraciones. Cada una lleva la suya: en la "
            "fila `b`, la primera libre es `lengths[b]`.",
            "en": "You use the same position in all sentences. Each has its own: in row `b` the "
            "first free one is `lengths[b]`.",
        },
    ),
    Misconception(
        "every_place",
        (_every_place,),
        {
            "es": "`keys[:, lengths]` toma en cada fila las posiciones de todas las oraciones. "
            "Empareja fila y posición: `keys[np.arange(batch_size), lengths]`.",
            "en": "`keys[:, lengths]` takes in each row the positions of all the sentences. Pair "
            "row and position: `keys[np.arange(batch_size), lengths]`.",
        },
    ),
    Misconception(
        "concatenated",
        (_concatenated, _cut),
        {
            "es": "La memoria que devuelves tiene otro tamaño. Está reservada de antemano: el "
            "token nuevo ocupa una posición que ya existe.",
            "en": "The memory you return has another size. It is set aside beforehand: the new "
            "token takes a position that already exists.",
        },
    ),
    Misconception(
        "half_written",
        (_wrong(halves="k"), _wrong(halves="v")),
        {
            "es": "Guardas una de las dos cosas. Cada token deja en la caché su key y su value, y "
            "sin una de ellas la otra no sirve.",
            "en": "You keep one of the two. Each token leaves its key and its value in the cache, "
            "and without the one the other is of no use.",
        },
    ),
    Misconception(
        "query_and_key_swapped",
        (lambda x, w_q, w_k, w_v, *cache: _step(x, w_k, w_q, w_v, *cache),),
        {
            "es": "Guardas la query y preguntas con la key. Con `w_q` se pregunta y con `w_k` se "
            "responde; la query no se guarda.",
            "en": "You keep the query and ask with the key. `w_q` is for asking and `w_k` for "
            "answering; the query is not kept.",
        },
    ),
    Misconception(
        "unscaled",
        (
            _wrong(attend=_weighing(softmax, lambda query, allowed: 1)),
            _wrong(attend=_weighing(softmax, lambda query, allowed: 1 / query.shape[-1])),
            _wrong(attend=_weighing(softmax, lambda query, allowed: allowed.shape[-1] ** -0.5)),
        ),
        {
            "es": "La caché es correcta y los pesos no: los puntajes se dividen entre "
            "`np.sqrt(d_k)`, con d_k el último tamaño de `keys`.",
            "en": "The cache is right and the weights are not: the scores are divided by "
            "`np.sqrt(d_k)`, where d_k is the last size of `keys`.",
        },
    ),
    Misconception(
        "zero_instead_of_infinity",
        (_wrong(attend=_zero_fill),),
        {
            "es": "A lo que no se ve le pones puntaje 0, y la softmax le da peso: la exponencial "
            "de 0 es 1. Lo que la anula es −inf.",
            "en": "What is not seen gets a score of 0, and the softmax gives it weight: the "
            "exponential of 0 is 1. It is −inf that makes it nothing.",
        },
    ),
    Misconception(
        "overflow",
        (_wrong(attend=_weighing(_unstable)), _wrong(attend=_weighing(_one_peak))),
        {
            "es": "Con puntajes de miles tu softmax da NaN. Resta a cada fila el mayor de sus "
            "puntajes permitidos, y solo después toma `np.exp`.",
            "en": "With scores in the thousands your softmax gives NaN. Subtract from each row the "
            "largest of its allowed scores, and only then take `np.exp`.",
        },
    ),
)

EXERCISE = Exercise(
    "cached_step",
    9,
    ("output", "keys", "values"),
    cached_step,
    cases,
    MISCONCEPTIONS,
    problem_set="ps8",
)
