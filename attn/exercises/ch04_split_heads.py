"""Chapter 4, `split_heads`: the same numbers with an axis more, and the ways to get it wrong."""

import numpy as np

from attn.exercises.spec import Exercise, Misconception
from attn.reference import split_heads


def cases(seed):
    """Return vectors to be cut into heads, alone and in batches.

    Parameters
    ----------
    seed : int
        Seed of the random numbers; the shapes are always the same.

    Returns
    -------
    list of dict
        With the keys ``x`` and ``n_heads``, an array without axes.
    """
    rng = np.random.default_rng(seed)
    shapes = [((2, 6), 2), ((3, 8), 2), ((4, 6), 2), ((3, 6), 3), ((2, 3, 8), 2), ((3, 4, 10), 2),
              ((2, 3, 4, 15), 5)]  # fmt: skip
    return [{"x": rng.uniform(-0.8, 0.8, shape), "n_heads": np.array(h)} for shape, h in shapes]


def _apart(x, n_heads):
    """Return x with its last axis in two: (..., seq_len, n_heads, d_k)."""
    return x.reshape(*x.shape[:-1], int(n_heads), -1)


def _reshaped(x, n_heads):
    *batch, seq_len, d_model = x.shape
    return x.reshape(*batch, int(n_heads), seq_len, d_model // n_heads)


def _interleaved(x, n_heads):
    return np.moveaxis(x.reshape(*x.shape[:-1], -1, int(n_heads)), -1, -3)


def _heads_of_size(x, n_heads):
    return x.reshape(*x.shape[:-1], -1, int(n_heads)).swapaxes(-3, -2)


def _tokens(x, n_heads):
    *batch, seq_len, d_model = x.shape
    return x.reshape(*batch, int(n_heads), seq_len // n_heads, d_model)


def _for_axes(axes):
    def split(x, n_heads):
        return _apart(x, n_heads).transpose(axes)

    return split


MISCONCEPTIONS = (
    Misconception(
        "reshaped",
        (_reshaped,),
        {
            "es": "La forma es correcta y los números están en otro sitio: `reshape` los reparte en "
            "el orden en que estaban, y cada cabeza recibe trozos de varios tokens. Parte primero "
            "el último eje y después intercambia dos ejes con `moveaxis` o `transpose`.",
            "en": "The shape is right and the numbers are elsewhere: `reshape` deals them out in "
            "their old order, and each head gets pieces of several tokens. Split the last axis "
            "first, and then exchange two axes with `moveaxis` or `transpose`.",
        },
    ),
    Misconception(
        "not_exchanged",
        (_apart,),
        {
            "es": "Partiste bien el último eje, pero las cabezas se quedan detrás de los tokens. El "
            "producto de matrices usa los dos últimos ejes, que deben ser tokens y d_k: "
            "intercambia el eje de tokens con el de cabezas.",
            "en": "You split the last axis well, but the heads stay behind the tokens. A matrix "
            "product uses the last two axes, which must be tokens and d_k: exchange the axis of "
            "tokens with that of heads.",
        },
    ),
    Misconception(
        "interleaved",
        (_interleaved,),
        {
            "es": "Tu primera cabeza toma una componente de cada n_heads, no las d_k primeras. Las "
            "columnas de cada cabeza van juntas: al partir el último eje, pon n_heads delante de "
            "d_k.",
            "en": "Your first head takes one component in every n_heads, not the first d_k. The "
            "columns of a head stand together: when you split the last axis, put n_heads before "
            "d_k.",
        },
    ),
    Misconception(
        "size_for_number",
        (_heads_of_size,),
        {
            "es": "Tomaste n_heads por el tamaño de cada cabeza. Es cuántas hay; el tamaño sale de "
            "dividir: d_k = `x.shape[-1] // n_heads`.",
            "en": "You took n_heads for the size of each head. It is how many there are; the size "
            "comes from a division: d_k = `x.shape[-1] // n_heads`.",
        },
    ),
    Misconception(
        "tokens_split",
        (_tokens,),
        {
            "es": "Repartes los tokens entre las cabezas, y así cada una ve un trozo de la oración. "
            "Toda cabeza ve todos los tokens: lo que se parte es el último eje, el de las "
            "componentes.",
            "en": "You share the tokens out among the heads, so that each sees a piece of the "
            "sentence. Every head sees every token: what is split is the last axis, that of the "
            "components.",
        },
    ),
    Misconception(
        "copied",
        (lambda x, n_heads: np.stack([x] * int(n_heads), axis=-3),),
        {
            "es": "Das a cada cabeza una copia de todo el vector. Esa es la forma cara, con "
            "n_heads veces más números; aquí cada una recibe solo sus d_k componentes.",
            "en": "You give each head a copy of the whole vector. That is the dear way, with "
            "n_heads times more numbers; here each one gets its own d_k components only.",
        },
    ),
    Misconception(
        "heads_first",
        (lambda x, n_heads: np.stack(np.split(x, int(n_heads), axis=-1)),),
        {
            "es": "Pusiste el eje de las cabezas delante de todo, también del lote. Con una sola "
            "oración no se nota. Debe quedar justo delante de los tokens: "
            "`np.stack(..., axis=-3)`.",
            "en": "You put the axis of the heads in front of everything, the batch included. With "
            "a single sentence it does not show. It must stand just before the tokens: "
            "`np.stack(..., axis=-3)`.",
        },
    ),
    Misconception(
        "heads_last",
        (lambda x, n_heads: _apart(x, n_heads).swapaxes(-1, -2),),
        {
            "es": "Intercambiaste los dos últimos ejes, d_k y cabezas, y los tokens siguen delante. "
            "Los que cambian de sitio son tokens y cabezas: `np.moveaxis(x, -2, -3)`.",
            "en": "You exchanged the last two axes, d_k and heads, and the tokens are still in "
            "front. Those to change places are tokens and heads: `np.moveaxis(x, -2, -3)`.",
        },
    ),
    Misconception(
        "heads_transposed",
        (lambda x, n_heads: split_heads(x, n_heads).swapaxes(-1, -2),),
        {
            "es": "Cada cabeza sale traspuesta, d_k por tokens. Eso le conviene a la key en el "
            "producto, y se hace allí con `.mT`; aquí las filas son tokens.",
            "en": "Each head comes out transposed, d_k by tokens. That suits the key in the "
            "product, and is done there with `.mT`; here the rows are tokens.",
        },
    ),
    Misconception(
        "all_axes_reversed",
        (lambda x, n_heads: _apart(x, n_heads).T,),
        {
            "es": "`.T` invierte todos los ejes, no dos. Lo que buscas es intercambiar el eje de "
            "tokens con el de cabezas y dejar los demás donde están: `np.moveaxis(x, -2, -3)`.",
            "en": "`.T` reverses all the axes, not two. What you want is to exchange the axis of "
            "tokens with that of heads and leave the rest where they are: `np.moveaxis(x, -2, -3)`.",
        },
    ),
    Misconception(
        "one_sentence",
        (_for_axes((1, 0, 2)),),
        {
            "es": "`transpose(1, 0, 2)` nombra tres ejes, y con un lote hay más. Cuenta los ejes "
            "desde el final, `np.moveaxis(x, -2, -3)`, y valdrá con cualquier número de ellos.",
            "en": "`transpose(1, 0, 2)` names three axes, and with a batch there are more. Count "
            "the axes from the end, `np.moveaxis(x, -2, -3)`, and it holds for any number of them.",
        },
    ),
    Misconception(
        "one_batch",
        (_for_axes((0, 2, 1, 3)),),
        {
            "es": "`transpose(0, 2, 1, 3)` cuenta con un lote: sin él hay un eje menos y falla. Con "
            "`np.moveaxis(x, -2, -3)` da igual cuántos ejes haya delante.",
            "en": "`transpose(0, 2, 1, 3)` counts on a batch: without one there is an axis less, "
            "and it fails. With `np.moveaxis(x, -2, -3)` it does not matter how many are in front.",
        },
    ),
    Misconception(
        "axes_from_the_front",
        (
            lambda x, n_heads: _apart(x, n_heads).swapaxes(1, 2),
            lambda x, n_heads: _apart(x, n_heads).swapaxes(0, 1),
        ),
        {
            "es": "Nombras los ejes que intercambias contando desde el principio: 1 y 2 valen con "
            "un lote, 0 y 1 sin él. Contados desde el final, −3 y −2, son siempre tokens y "
            "cabezas.",
            "en": "You name the axes you exchange by counting from the front: 1 and 2 hold with a "
            "batch, 0 and 1 without. Counted from the end, −3 and −2, they are always tokens and "
            "heads.",
        },
    ),
    Misconception(
        "scaled",
        (lambda x, n_heads: split_heads(x, n_heads) / np.sqrt(x.shape[-1] // n_heads),),
        {
            "es": "Divides entre √d_k al partir. La raíz pertenece a los puntajes, una sola vez; "
            "hecha aquí alcanzaría a query, key y value.",
            "en": "You divide by √d_k while splitting. The root belongs to the scores, once; done "
            "here it would reach query, key and value.",
        },
    ),
)

EXERCISE = Exercise("split_heads", 4, ("heads",), split_heads, cases, MISCONCEPTIONS)
