"""Problem set 5, `streaming_mask`: the last few keys, and the first ones for ever."""

import numpy as np

from attn.exercises.spec import Exercise, Misconception
from attn.reference import causal_mask


def streaming_mask(tgt_len, src_len, window, n_first):
    """Let each query attend to the last `window` keys up to its own, and to the first ones."""
    key = np.arange(src_len)
    position = key[src_len - tgt_len :, None]
    return causal_mask(tgt_len, src_len) & ((position - key < window) | (key < n_first))


def cases(seed):
    """Return sizes: a window alone, with first tokens always in view, and with stored keys.

    Parameters
    ----------
    seed : int
        Seed of the random numbers, which are some of the sizes.

    Returns
    -------
    list of dict
        With the keys ``tgt_len``, ``src_len``, ``window`` and ``n_first``, arrays without axes.
    """
    rng = np.random.default_rng(seed)

    def draw(tgt_len, more, window, n_first=0):
        sizes = tgt_len, tgt_len + more, window, n_first
        return {
            name: np.array(size)
            for name, size in zip(("tgt_len", "src_len", "window", "n_first"), sizes, strict=True)
        }

    return [
        draw(5, 0, 2),
        draw(rng.integers(6, 9), 0, 3),
        draw(rng.integers(8, 11), 0, rng.integers(2, 5)),
        draw(3, 0, rng.integers(4, 7)),
        draw(rng.integers(6, 9), 0, 3, 1),
        draw(rng.integers(8, 11), 0, 2, rng.integers(2, 4)),
        draw(7, 0, 3, 2),
        draw(3, 4, 2),
        draw(2, rng.integers(5, 8), 3, 1),
        draw(1, rng.integers(6, 9), 2, 2),
        draw(4, rng.integers(3, 6), 3),
    ]


def _when(rule, offset=True):
    """Return a mask from a rule on query position, key, window and first tokens."""

    def mask(tgt_len, src_len, window, n_first):
        position = np.arange(tgt_len)[:, None] + (src_len - tgt_len if offset else 0)
        return rule(position, np.arange(src_len), window, n_first)

    return mask


def _allowed(i, j, window, n_first):
    return (j <= i) & ((i - j < window) | (j < n_first))


def _with_window(change):
    return _when(lambda i, j, window, n: _allowed(i, j, change(window, n), n))


MISCONCEPTIONS = (
    Misconception(
        "one_too_many",
        (_with_window(lambda window, n: window + 1),),
        {
            "es": "Tu ventana tiene una key de más: la propia también cuenta. Con `window` = 2 "
            "caben ella y la anterior. Compara la distancia con < y no con ≤.",
            "en": "Your window has one key too many: its own counts as well. With `window` = 2 "
            "there is room for that one and the one before. Compare the distance by < and not ≤.",
        },
    ),
    Misconception(
        "one_too_few",
        (_with_window(lambda window, n: window - 1),),
        {
            "es": "A tu ventana le falta una key. Cuenta los unos de la última fila, sin primeros "
            "tokens: deben ser `window`, el suyo incluido.",
            "en": "Your window is one key short. Count the ones of the last row, with no first "
            "tokens: there must be `window` of them, its own included.",
        },
    ),
    Misconception(
        "both_sides",
        (_when(lambda i, j, w, n: (abs(i - j) < w) | ((j <= i) & (j < n))),),
        {
            "es": "La ventana se abre a los dos lados y deja ver lo que aún no se ha escrito. La "
            "distancia tiene signo: permite desde 0 hasta `window` − 1 hacia atrás, y nada hacia "
            "delante.",
            "en": "The window opens on both sides and shows what is not yet written. Distance has "
            "a sign: allow from 0 to `window` − 1 backwards, and nothing ahead.",
        },
    ),
    Misconception(
        "no_window",
        (_when(lambda i, j, w, n: j <= i),),
        {
            "es": "Es la máscara causal entera: lo lejano sigue a la vista. Falta olvidar las keys "
            "que están a `window` o más de la query.",
            "en": "It is the whole causal mask: what is far off is still in view. What is missing "
            "is to forget the keys that are `window` or more away from the query.",
        },
    ),
    Misconception(
        "in_blocks",
        (_when(lambda i, j, w, n: (j <= i) & ((i // w == j // w) | (j < n))),),
        {
            "es": "Partes la oración en bloques de `window`, y quien empieza bloque no ve nada "
            "anterior. La ventana se desliza: la de cada query termina en ella misma.",
            "en": "You cut the sentence into blocks of `window`, and whoever starts a block sees "
            "nothing before it. The window slides: that of each query ends at the query itself.",
        },
    ),
    Misconception(
        "looks_ahead",
        (
            _when(lambda i, j, w, n: (j >= i) & (j - i < w)),
            _when(lambda i, j, w, n: ((j >= i) & (j - i < w)) | (j < n)),
        ),
        {
            "es": "Tu ventana empieza en la query y sigue hacia delante. Tiene que terminar en "
            "ella: resta key de query, no query de key.",
            "en": "Your window starts at the query and goes on ahead. It must end there: subtract "
            "key from query, not query from key.",
        },
    ),
    Misconception(
        "marked_as_forbidden",
        (_when(lambda *given: ~_allowed(*given)),),
        {
            "es": "Marcas con True lo que se olvida. En esta máscara True es lo que se ve.",
            "en": "You mark with True what is forgotten. In this mask True is what is seen.",
        },
    ),
    Misconception(
        "from_the_first_key",
        (_when(_allowed, offset=False),),
        {
            "es": "Con keys guardadas, tu primera query se pone junto a la primera key. Las "
            "queries son los últimos tokens: numéralas a partir de las keys que sobran antes de "
            "medir distancias.",
            "en": "With stored keys, your first query stands beside the first key. The queries are "
            "the last tokens: number them on from the keys left over before you measure distances.",
        },
    ),
    Misconception(
        "first_forgotten",
        (_when(lambda i, j, w, n: _allowed(i, j, w, 0)),),
        {
            "es": "La ventana está bien, y los primeros tokens se pierden al salir de ella. Los "
            "`n_first` primeros se ven siempre: añádelos con un «o».",
            "en": "The window is right, and the first tokens are lost once out of it. The first "
            "`n_first` are always seen: add them with an “or”.",
        },
    ),
    Misconception(
        "first_ahead_of_time",
        (_when(lambda i, j, w, n: ((j <= i) & (i - j < w)) | (j < n)),),
        {
            "es": "Los primeros tokens se ven incluso antes de escribirse: con dos, la query 0 ve "
            "la key 1. «Siempre» es desde que existen; lo causal vale también para ellos.",
            "en": "The first tokens are seen even before they are written: with two, query 0 sees "
            "key 1. “Always” means once they exist; the causal rule holds for them too.",
        },
    ),
    Misconception(
        "first_taken_from_the_window",
        (_with_window(lambda window, n: window - n),),
        {
            "es": "Descuentas los primeros tokens del tamaño de la ventana. Van aparte: la ventana "
            "sigue teniendo `window` keys.",
            "en": "You take the first tokens out of the size of the window. They come on top: the "
            "window still has `window` keys.",
        },
    ),
    Misconception(
        "numbers_for_the_scores",
        (_when(lambda *given: np.where(_allowed(*given), 0.0, -1e9)),),
        {
            "es": "Esto es lo que se suma a los puntajes. Se pide de dónde sale: una matriz de "
            "True y False.",
            "en": "This is what gets added to the scores. The task asks for what it comes from: a "
            "matrix of True and False.",
        },
    ),
)

EXERCISE = Exercise(
    "streaming_mask", 6, ("mask",), streaming_mask, cases, MISCONCEPTIONS, problem_set="ps5"
)
