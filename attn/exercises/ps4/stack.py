"""Problem set 4, `mended_stack`: the fault of a given stack of layers, and other ones."""

import numpy as np

from attn.exercises.spec import Exercise, Misconception
from attn.reference import feed_forward, layer_norm


def mended_stack(x, gain, w_1, w_2):
    """Return what comes out of a stack of feed-forward layers, each with its norm before.

    Parameters
    ----------
    x : ndarray, shape (..., d_model)
    gain : ndarray, shape (n_layers, d_model)
        Of the norms, which have no bias.
    w_1 : ndarray, shape (n_layers, d_model, d_ff)
    w_2 : ndarray, shape (n_layers, d_ff, d_model)

    Returns
    -------
    ndarray, shape (..., d_model)

    References
    ----------
    Xiong et al. (2020), On Layer Normalization in the Transformer Architecture.
    """
    for layer in range(len(gain)):
        normed = layer_norm(x, gain[layer])
        x = x + _fed(normed, w_1[layer], w_2[layer])
    return x


def cases(seed):
    """Return stacks of one to three layers, for sentences, lone vectors and batches.

    Parameters
    ----------
    seed : int
        Seed of the random numbers; the shapes are always the same.

    Returns
    -------
    list of dict
        With the keys ``x``, ``gain``, ``w_1`` and ``w_2``.
    """
    rng = np.random.default_rng(seed)

    def draw(*shape, n_layers, d_ff):
        d_model = shape[-1]
        return {
            "x": 2 * rng.uniform(-1, 1, shape) + rng.uniform(0.5, 1, (*shape[:-1], 1)),
            "gain": rng.uniform(0.5, 1.5, (n_layers, d_model)),
            "w_1": rng.uniform(-1, 1, (n_layers, d_model, d_ff)),
            "w_2": rng.uniform(-1, 1, (n_layers, d_ff, d_model)),
        }

    return [
        draw(2, 3, n_layers=2, d_ff=5),
        draw(3, 4, n_layers=2, d_ff=6),
        draw(4, 3, n_layers=3, d_ff=5),
        draw(3, 5, n_layers=1, d_ff=7),
        draw(4, n_layers=2, d_ff=5),
        draw(2, 3, 4, n_layers=2, d_ff=5),
        draw(2, 3, 2, 5, n_layers=3, d_ff=4),
    ]


def _fed(x, w_1, w_2):
    return feed_forward(x, w_1, np.zeros(w_1.shape[1]), w_2, np.zeros(w_2.shape[1]))


def _over(axis):
    def norm(x, gain):
        mean, variance = (f(axis=axis, keepdims=True) for f in (x.mean, x.var))
        return gain * (x - mean) / np.sqrt(variance + 1e-5)

    return norm


def _rms(x, gain):
    return gain * x / np.sqrt((x**2).mean(axis=-1, keepdims=True) + 1e-5)


def _with(layer=None, norm=layer_norm, feed=_fed, last=lambda x: x, number=lambda i, n: i):
    """Return a stack with one part replaced.

    `layer` makes the next vectors of five things: the vectors, the input of the stack, and
    functions that normalise, normalise without the gain, and feed.
    """
    layer = layer or (lambda x, first, norm, bare, feed: x + feed(norm(x)))

    def stack(x, gain, w_1, w_2):
        first = x
        for i in range(len(gain)):
            j = number(i, len(gain))

            def bound(y, j=j):
                return norm(y, gain[j])

            def fed(y, j=j):
                return feed(y, w_1[j], w_2[j])

            x = layer(x, first, bound, layer_norm, fed)
        return last(x)

    return stack


def _normed_path(x, first, norm, bare, feed):
    x = norm(x)
    return x + feed(x)


def _without_gain_on_the_path(x, first, norm, bare, feed):
    return bare(x) + feed(norm(x))


def _for_matrices(x, *rest):
    _seq_len, _d_model = x.shape
    return mended_stack(x, *rest)


MISCONCEPTIONS = (
    Misconception(
        "residual_normalised",
        (_with(_normed_path), _with(_without_gain_on_the_path)),
        {
            "es": "El fallo sigue: lo que se suma a la red es el vector normalizado, y el original "
            "se perdió. La norma es solo para lo que entra en la red; por el camino de la suma "
            "debe pasar `x` tal como llegó.",
            "en": "The fault is still there: what is added to the network is the normalised vector, "
            "and the original is lost. The norm is only for what goes into the network; along "
            "the path of the sum `x` must pass as it came.",
        },
    ),
    Misconception(
        "post_norm",
        (
            _with(lambda x, first, norm, bare, feed: norm(x + feed(x))),
            _with(lambda x, first, norm, bare, feed: norm(x + feed(norm(x)))),
        ),
        {
            "es": "Ahora normalizas después de sumar: la pila pasó a ser post-norm. Con pesos a "
            "cero tampoco devolvería lo que entró.",
            "en": "Now you normalise after the sum: the stack has become post-norm. With weights at "
            "zero it would not give back what went in either.",
        },
    ),
    Misconception(
        "residual_missing",
        (_with(lambda x, first, norm, bare, feed: feed(norm(x))),),
        {
            "es": "Quitaste la suma. Sin ella cada capa olvida lo que recibió, y con pesos a cero "
            "solo quedan ceros.",
            "en": "You took the sum away. Without it each layer forgets what it was given, and with "
            "weights at zero only zeros are left.",
        },
    ),
    Misconception(
        "norm_missing",
        (_with(lambda x, first, norm, bare, feed: x + feed(x)),),
        {
            "es": "Con la norma fuera, el ejemplo de la tarea sale bien por casualidad: los pesos "
            "son cero. La red debe recibir el vector normalizado.",
            "en": "With the norm gone, the example of the task comes out right by luck: its weights "
            "are zero. The network must be given the normalised vector.",
        },
    ),
    Misconception(
        "norm_of_the_answer",
        (
            _with(lambda x, first, norm, bare, feed: x + norm(feed(x))),
            _with(lambda x, first, norm, bare, feed: x + norm(feed(norm(x)))),
        ),
        {
            "es": "Normalizas lo que sale de la red. Va antes: es la entrada de la red la que hay "
            "que devolver a un tamaño fijo.",
            "en": "You normalise what comes out of the network. It goes before: it is the input of "
            "the network that must be brought back to a fixed size.",
        },
    ),
    Misconception(
        "first_input_added",
        (_with(lambda x, first, norm, bare, feed: first + feed(norm(x))),),
        {
            "es": "Guardaste la entrada de la pila y la sumas en todas las capas. Cada capa suma lo "
            "que ella recibió, que ya lleva lo de las anteriores.",
            "en": "You kept the input of the stack and add it in every layer. Each layer adds what "
            "it was given itself, which already carries what the earlier ones put there.",
        },
    ),
    Misconception(
        "added_twice",
        (_with(lambda x, first, norm, bare, feed: x + norm(x) + feed(norm(x))),),
        {
            "es": "Sumas el vector dos veces, tal cual y normalizado. Solo la red aporta algo "
            "nuevo: con pesos a cero no debería cambiar nada.",
            "en": "You add the vector twice, as it is and normalised. Only the network brings "
            "anything new: with weights at zero nothing should change.",
        },
    ),
    Misconception(
        "norm_at_the_end",
        (_with(last=layer_norm),),
        {
            "es": "Añadiste una norma al final. Los modelos pre-norm la llevan, pero esta función "
            "no la tenía ni es su fallo.",
            "en": "You added a norm at the end. Pre-norm models have one, but this function did "
            "not, and that is not its fault.",
        },
    ),
    Misconception(
        "gain_lost",
        (_with(norm=lambda x, gain: layer_norm(x)),),
        {
            "es": "Al reescribir la norma se cayó su ganancia: `gain` tiene una fila por capa, y "
            "ninguna se usa.",
            "en": "The norm lost its gain when you rewrote it: `gain` has one row for each layer, "
            "and none is used.",
        },
    ),
    Misconception(
        "one_layer_for_all",
        (_with(number=lambda i, n: 0), _with(number=lambda i, n: n - 1)),
        {
            "es": "Todas tus capas usan los mismos pesos. El bucle dado recorría los tres arreglos a "
            "la vez, una capa en cada vuelta.",
            "en": "All your layers use the same weights. The given loop went through the three "
            "arrays together, one layer at each turn.",
        },
    ),
    Misconception(
        "layers_backwards",
        (_with(number=lambda i, n: n - 1 - i),),
        {
            "es": "Recorres las capas de la última a la primera. El orden del código dado era el "
            "bueno.",
            "en": "You go through the layers from last to first. The order of the given code was "
            "right.",
        },
    ),
    Misconception(
        "activation_lost",
        (
            _with(feed=lambda x, w_1, w_2: x @ w_1 @ w_2),
            _with(feed=lambda x, w_1, w_2: np.maximum(0, x @ w_1 @ w_2)),
        ),
        {
            "es": "El camino de la suma está arreglado y la red ya no: el máximo con 0 va entre los "
            "dos productos, como en el código dado.",
            "en": "The path of the sum is mended and the network no longer is: the maximum with 0 "
            "goes between the two products, as in the given code.",
        },
    ),
    Misconception(
        "another_axis",
        (_with(norm=_over(-2)), _with(norm=_over(0)), _with(norm=_over(None))),
        {
            "es": "Cambiaste el eje de la norma, que estaba bien: la media y la varianza son las de "
            "cada vector.",
            "en": "You changed the axis of the norm, which was right: mean and variance are those "
            "of each vector.",
        },
    ),
    Misconception(
        "another_norm",
        (_with(norm=_rms),),
        {
            "es": "Pusiste la norma de la tarea 1, que no resta la media. Esta pila usa "
            "normalización de capa.",
            "en": "You put in the norm of task 1, which does not subtract the mean. This stack uses "
            "layer normalisation.",
        },
    ),
    Misconception(
        "sentence_only",
        (_for_matrices, _with(norm=_over(1))),
        {
            "es": "Tu versión ya solo admite una oración. La dada servía para cualquier número de "
            "ejes: no lo fijes al corregirla.",
            "en": "Your version only takes one sentence now. The given one worked for any number of "
            "axes: do not fix it as you mend.",
        },
    ),
)

EXERCISE = Exercise(
    "mended_stack", 5, ("output",), mended_stack, cases, MISCONCEPTIONS, problem_set="ps4"
)
