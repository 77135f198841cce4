"""Chapter 5, `feed_forward`: two products with a maximum between, and the ways to miss it."""

import numpy as np

from attn.exercises.spec import Exercise, Misconception
from attn.reference import feed_forward


def cases(seed):
    """Return inputs for the feed-forward network: one vector, sentences, batches.

    Parameters
    ----------
    seed : int
        Seed of the random numbers; the shapes are always the same.

    Returns
    -------
    list of dict
        With the keys ``x``, ``w_1``, ``b_1``, ``w_2`` and ``b_2``.
    """
    rng = np.random.default_rng(seed)

    def draw(*shape, d_ff):
        d_model = shape[-1]
        return {
            "x": rng.uniform(-1, 1, shape),
            "w_1": rng.uniform(-1, 1, (d_model, d_ff)),
            "b_1": rng.uniform(-0.5, 0.5, d_ff),
            "w_2": rng.uniform(-1, 1, (d_ff, d_model)),
            "b_2": rng.uniform(0.1, 0.5, d_model) * rng.choice([-1, 1], d_model),
        }

    return [
        draw(3, d_ff=7),
        draw(4, d_ff=1),
        draw(4, 4, d_ff=4),
        draw(5, 3, d_ff=12),
        draw(2, 6, d_ff=5),
        draw(2, 4, 3, d_ff=8),
        draw(2, 3, 2, 4, d_ff=6),
    ]


def _activated(function):
    def feed_forward(x, w_1, b_1, w_2, b_2):
        return function(x @ w_1 + b_1) @ w_2 + b_2

    return feed_forward


def _python_max(x, w_1, b_1, w_2, b_2):
    return max(0, x @ w_1 + b_1) @ w_2 + b_2


def _gelu(z):
    return 0.5 * z * (1 + np.tanh(np.sqrt(2 / np.pi) * (z + 0.044715 * z**3)))


def _matrix_only(x, w_1, b_1, w_2, b_2):
    _seq_len, _d_model = x.shape
    return feed_forward(x, w_1, b_1, w_2, b_2)


def _on_everything(x, w_1, b_1, w_2, b_2):
    tokens = x.mean(axis=-2, keepdims=True) if x.ndim > 1 else x
    return np.broadcast_to(feed_forward(tokens, w_1, b_1, w_2, b_2), x.shape)


MISCONCEPTIONS = (
    Misconception(
        "no_activation",
        (_activated(lambda z: z),),
        {
            "es": "Falta el `max(0, ·)` entre los dos productos. Sin él, W₁ y W₂ se funden en una "
            "sola matriz, y toda la red se queda en un producto: no gana nada con su anchura.",
            "en": "The `max(0, ·)` between the two products is missing. Without it W₁ and W₂ merge "
            "into one matrix, and the whole network is a single product: its width gains "
            "nothing.",
        },
    ),
    Misconception(
        "activation_at_the_end",
        (lambda x, w_1, b_1, w_2, b_2: np.maximum(0, (x @ w_1 + b_1) @ w_2 + b_2),),
        {
            "es": "Aplicas el máximo a la salida, no a la capa de en medio. Los dos productos "
            "siguen fundidos en uno, y la red no puede devolver números negativos.",
            "en": "You apply the maximum to the output, not to the layer in between. The two "
            "products are still merged into one, and the network can give no negative number.",
        },
    ),
    Misconception(
        "activation_twice",
        (lambda *inputs: np.maximum(0, feed_forward(*inputs)),),
        {
            "es": "Aplicas el máximo también a la salida. Lo que esta red entrega se suma al "
            "vector de la palabra: si nunca es negativo, solo puede aumentarlo.",
            "en": "You apply the maximum to the output too. What this network hands over is added "
            "to the vector of the word: if it is never negative, it can only increase it.",
        },
    ),
    Misconception(
        "activation_before_bias",
        (lambda x, w_1, b_1, w_2, b_2: (np.maximum(0, x @ w_1) + b_1) @ w_2 + b_2,),
        {
            "es": "Sumas `b_1` después del máximo. El sesgo está para mover el umbral a partir del "
            "cual una unidad se enciende: `np.maximum(0, x @ w_1 + b_1)`.",
            "en": "You add `b_1` after the maximum. The bias is there to move the threshold at "
            "which a unit switches on: `np.maximum(0, x @ w_1 + b_1)`.",
        },
    ),
    Misconception(
        "activation_on_input",
        (lambda x, w_1, b_1, w_2, b_2: (np.maximum(0, x) @ w_1 + b_1) @ w_2 + b_2,),
        {
            "es": "Aplicas el máximo a `x`, antes de W₁: los negativos de la entrada se pierden y "
            "lo que queda es otra vez un solo producto. Va sobre `x @ w_1 + b_1`.",
            "en": "You apply the maximum to `x`, before W₁: the negatives of the input are lost and "
            "what remains is one product again. It goes on `x @ w_1 + b_1`.",
        },
    ),
    Misconception(
        "gelu",
        (_activated(_gelu),),
        {
            "es": "Usas GELU, la activación de BERT y de GPT. La red del artículo, y la de este "
            "ejercicio, lleva ReLU: `np.maximum(0, ...)`.",
            "en": "You use GELU, the activation of BERT and GPT. The network of the paper, and of "
            "this exercise, has ReLU: `np.maximum(0, ...)`.",
        },
    ),
    Misconception(
        "absolute_value",
        (_activated(np.abs),),
        {
            "es": "Tomas el valor absoluto: un −2 se convierte en 2. ReLU lo convierte en 0; lo "
            "negativo se apaga, no cambia de signo.",
            "en": "You take the absolute value: a −2 becomes 2. ReLU makes it 0; what is negative is "
            "switched off, its sign is not changed.",
        },
    ),
    Misconception(
        "minimum",
        (_activated(lambda z: np.minimum(0, z)),),
        {
            "es": "Te quedas con lo negativo y apagas lo positivo: `np.minimum` en lugar de "
            "`np.maximum`.",
            "en": "You keep what is negative and switch off what is positive: `np.minimum` in place "
            "of `np.maximum`.",
        },
    ),
    Misconception(
        "sigmoid",
        (_activated(lambda z: 1 / (1 + np.exp(-z))), _activated(np.tanh)),
        {
            "es": "Usas una función que se aplana en los dos extremos. ReLU no se aplana por "
            "arriba, y por eso deja pasar el gradiente de una unidad muy encendida: "
            "`np.maximum(0, ...)`.",
            "en": "You use a function that flattens at both ends. ReLU does not flatten at the top, "
            "and so lets through the gradient of a unit that is well on: `np.maximum(0, ...)`.",
        },
    ),
    Misconception(
        "first_bias_dropped",
        (lambda x, w_1, b_1, w_2, b_2: np.maximum(0, x @ w_1) @ w_2 + b_2,),
        {
            "es": "No sumas `b_1`. Sin él, todos los umbrales pasan por el origen, y el vector cero "
            "no enciende ninguna unidad.",
            "en": "You do not add `b_1`. Without it every threshold goes through the origin, and the "
            "zero vector switches no unit on.",
        },
    ),
    Misconception(
        "second_bias_dropped",
        (lambda x, w_1, b_1, w_2, b_2: np.maximum(0, x @ w_1 + b_1) @ w_2,),
        {
            "es": "No sumas `b_2`. Es lo que la red entrega cuando todas sus unidades están "
            "apagadas.",
            "en": "You do not add `b_2`. It is what the network hands over when all its units are "
            "off.",
        },
    ),
    Misconception(
        "biases_dropped",
        (lambda x, w_1, b_1, w_2, b_2: np.maximum(0, x @ w_1) @ w_2,),
        {
            "es": "No sumas ninguno de los dos sesgos. Una red sin ellos devuelve cero cuando "
            "recibe el vector cero: `b_1` va antes del máximo y `b_2`, al final.",
            "en": "You add neither of the two biases. A network without them gives zero whenever "
            "it is given the zero vector: `b_1` goes before the maximum and `b_2` at the end.",
        },
    ),
    Misconception(
        "python_max",
        (_python_max,),
        {
            "es": "`max` de Python elige entre dos cosas enteras, 0 o el arreglo. Aquí se elige "
            "número a número, y eso lo hace `np.maximum(0, ...)`.",
            "en": "Python's `max` chooses between two whole things, 0 or the array. Here the choice "
            "is number by number, and that is what `np.maximum(0, ...)` does.",
        },
    ),
    Misconception(
        "residual_added",
        (lambda x, *rest: x + feed_forward(x, *rest),),
        {
            "es": "Sumas `x` al resultado. Esa suma existe, pero es otro paso de la capa: aquí se "
            "pide solo la red prealimentada.",
            "en": "You add `x` to the result. That sum exists, but it is another step of the layer: "
            "only the feed-forward network is asked for here.",
        },
    ),
    Misconception(
        "tokens_mixed",
        (_on_everything,),
        {
            "es": "Mezclas los tokens antes de la red, y todos salen iguales. La red trata a cada "
            "token por separado; quien los mezcla es la atención.",
            "en": "You mix the tokens before the network, and all come out alike. The network "
            "treats each token apart; it is attention that mixes them.",
        },
    ),
    Misconception(
        "matrix_only",
        (_matrix_only,),
        {
            "es": "Tu función solo acepta una oración. Un vector suelto o un lote entero deben "
            "pasar también: el producto `@` ya trabaja sobre el último eje.",
            "en": "Your function takes one sentence only. A lone vector or a whole batch must pass "
            "too: the product `@` already works on the last axis.",
        },
    ),
)

EXERCISE = Exercise("feed_forward", 5, ("output",), feed_forward, cases, MISCONCEPTIONS)
