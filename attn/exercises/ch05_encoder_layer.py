"""Chapter 5, `encoder_layer`: six steps in order, and the ways to lose one.

One head, no biases and norms with gain 1 and bias 0: what is left is the order of the steps.
"""

import numpy as np

from attn import reference
from attn.exercises.spec import Exercise, Misconception
from attn.reference import layer_norm, self_attention


def encoder_layer(x, w_q, w_k, w_v, w_o, w_1, w_2):
    """Return one post-norm encoder layer of a single head: the oracle of the exercise.

    Parameters
    ----------
    x : array_like, shape (..., seq_len, d_model)
        One vector per token.
    w_q, w_k, w_v : array_like, shape (d_model, d_k)
    w_o : array_like, shape (d_k, d_model)
    w_1 : array_like, shape (d_model, d_ff)
    w_2 : array_like, shape (d_ff, d_model)

    Returns
    -------
    ndarray, shape (..., seq_len, d_model)

    Raises
    ------
    ValueError
        As `attn.reference.encoder_layer`.

    Examples
    --------
    >>> eye = np.eye(2)
    >>> encoder_layer([[3.0, 1.0], [0.0, 2.0]], eye, eye, eye, eye, eye, eye).round(3)
    array([[ 1., -1.],
           [-1.,  1.]])
    """
    d_model, d_ff = np.shape(w_1)
    norm = {"gain": np.ones(d_model), "bias": np.zeros(d_model)}
    parameters = {
        "self_attention": {"w_q": w_q, "w_k": w_k, "w_v": w_v, "w_o": w_o},
        "feed_forward": {"w_1": w_1, "b_1": np.zeros(d_ff), "w_2": w_2, "b_2": np.zeros(d_model)},
        "norm_1": norm,
        "norm_2": norm,
    }
    return reference.encoder_layer(x, parameters, n_heads=1)


def cases(seed):
    """Return inputs for an encoder layer: sentences alone and in batches.

    Parameters
    ----------
    seed : int
        Seed of the random numbers; the shapes are always the same.

    Returns
    -------
    list of dict
        With the keys ``x``, ``w_q``, ``w_k``, ``w_v``, ``w_o``, ``w_1`` and ``w_2``.
    """
    rng = np.random.default_rng(seed)

    def draw(*shape, d_k, d_ff):
        d_model = shape[-1]
        sizes = {"w_q": (d_model, d_k), "w_k": (d_model, d_k), "w_v": (d_model, d_k)}
        sizes |= {"w_o": (d_k, d_model), "w_1": (d_model, d_ff), "w_2": (d_ff, d_model)}
        x = rng.uniform(-1, 1, shape) + rng.uniform(-1, 1, shape[-1])
        return {"x": x} | {name: rng.uniform(-0.9, 0.9, size) for name, size in sizes.items()}

    return [
        draw(2, 4, d_k=3, d_ff=6),
        draw(3, 5, d_k=5, d_ff=8),
        draw(4, 4, d_k=4, d_ff=4),
        draw(3, 6, d_k=2, d_ff=5),
        draw(2, 3, 5, d_k=4, d_ff=7),
        draw(2, 3, 4, 6, d_k=3, d_ff=9),
    ]


def _attended(x, w_q, w_k, w_v, w_o):
    return self_attention(x, w_q, w_k, w_v)[0] @ w_o


def _fed(y, w_1, w_2):
    return np.maximum(0, y @ w_1) @ w_2


def _steps(layer):
    """Return a function with the signature of the exercise from one of x, attention and network."""

    def encoder_layer(x, w_q, w_k, w_v, w_o, w_1, w_2):
        return layer(x, lambda y: _attended(y, w_q, w_k, w_v, w_o), lambda y: _fed(y, w_1, w_2))

    return encoder_layer


def _post(first, second):
    """Return a layer whose two sums are made by functions of what goes in and what was computed."""

    def layer(x, attend, feed):
        y = first(x, attend(x))
        return second(y, feed(y))

    return _steps(layer)


def _right(x, computed):
    return layer_norm(x + computed)


def _no_sum(x, computed):
    return layer_norm(computed)


def _no_norm(x, computed):
    return x + computed


def _norm_of_output(x, computed):
    return x + layer_norm(computed)


def _pre(x, attend, feed):
    y = x + attend(layer_norm(x))
    return y + feed(layer_norm(y))


def _pre_and_last(x, attend, feed):
    return layer_norm(_pre(x, attend, feed))


def _sum_of_the_input(x, attend, feed):
    y = _right(x, attend(x))
    return layer_norm(x + feed(y))


def _network_reads_input(x, attend, feed):
    return layer_norm(_right(x, attend(x)) + feed(x))


def _network_reads_attention(x, attend, feed):
    attended = attend(x)
    return layer_norm(_right(x, attended) + feed(attended))


def _network_first(x, attend, feed):
    y = _right(x, feed(x))
    return layer_norm(y + attend(y))


def _side_by_side(x, attend, feed):
    return layer_norm(x + attend(x) + feed(x))


def _one_norm(x, attend, feed):
    y = x + attend(x)
    return layer_norm(y + feed(y))


def _norm_over_tokens(x, computed):
    return layer_norm((x + computed).mT).mT


def _linear(x, w_q, w_k, w_v, w_o, w_1, w_2):
    y = _right(x, _attended(x, w_q, w_k, w_v, w_o))
    return layer_norm(y + y @ w_1 @ w_2)


def _unscaled(x, w_q, w_k, w_v, w_o, w_1, w_2):
    return encoder_layer(x, w_q * np.sqrt(w_q.shape[1]), w_k, w_v, w_o, w_1, w_2)


def _without_w_o(x, w_q, w_k, w_v, w_o, w_1, w_2):
    y = _right(x, self_attention(x, w_q, w_k, w_v)[0])
    return _right(y, _fed(y, w_1, w_2))


def _not_unpacked(x, w_q, w_k, w_v, w_o, w_1, w_2):
    y = _right(x, self_attention(x, w_q, w_k, w_v) @ w_o)
    return _right(y, _fed(y, w_1, w_2))


def _network_only(x, w_q, w_k, w_v, w_o, w_1, w_2):
    return layer_norm(x + _fed(x, w_1, w_2))


MISCONCEPTIONS = (
    Misconception(
        "no_residuals",
        (_post(_no_sum, _no_sum),),
        {
            "es": "No sumas la entrada en ninguno de los dos pasos. Apiladas, unas capas así hacen "
            "iguales a todos los tokens: normaliza `x + attended` y después `y + fed`.",
            "en": "You add the input in neither of the two steps. Stacked, such layers make all the "
            "tokens alike: normalise `x + attended`, and then `y + fed`.",
        },
    ),
    Misconception(
        "first_residual_missing",
        (_post(_no_sum, _right),),
        {
            "es": "Te falta la primera suma: normalizas lo que sale de la atención sin añadirle "
            "`x`. Cada token olvida así quién era y solo recuerda a quién miró.",
            "en": "The first sum is missing: you normalise what comes out of attention without "
            "adding `x`. Each token then forgets who it was and only remembers whom it looked at.",
        },
    ),
    Misconception(
        "second_residual_missing",
        (_post(_right, _no_sum),),
        {
            "es": "Te falta la segunda suma: normalizas lo que sale de la red prealimentada sin "
            "añadirle lo que entró en ella.",
            "en": "The second sum is missing: you normalise what comes out of the feed-forward "
            "network without adding what went into it.",
        },
    ),
    Misconception(
        "no_norms",
        (_post(_no_norm, _no_norm),),
        {
            "es": "Sumas, pero no normalizas. Con cada capa los vectores crecen, y con ellos los "
            "puntajes de la siguiente: aplica `layer_norm` a cada una de las dos sumas.",
            "en": "You add but do not normalise. With every layer the vectors grow, and with them "
            "the scores of the next: apply `layer_norm` to each of the two sums.",
        },
    ),
    Misconception(
        "first_norm_missing",
        (_post(_no_norm, _right), _steps(_one_norm)),
        {
            "es": "Solo normalizas al final. En el orden del artículo cada suma lleva su norma: "
            "también la de la atención, antes de entrar en la red prealimentada.",
            "en": "You normalise only at the end. In the paper's order each sum has its norm: that "
            "of attention too, before it enters the feed-forward network.",
        },
    ),
    Misconception(
        "last_norm_missing",
        (_post(_right, _no_norm),),
        {
            "es": "Falta el sexto paso: la segunda suma también se normaliza antes de salir de la "
            "capa.",
            "en": "The sixth step is missing: the second sum is normalised too before it leaves the "
            "layer.",
        },
    ),
    Misconception(
        "pre_norm",
        (_steps(_pre), _steps(_pre_and_last)),
        {
            "es": "Normalizas lo que entra en cada paso: eso es *pre-norm*, y entrena mejor, pero "
            "aquí se pide el orden del artículo, `layer_norm(x + f(x))`.",
            "en": "You normalise what goes into each step: that is *pre-norm*, and it trains better, "
            "but the order of the paper is asked for here, `layer_norm(x + f(x))`.",
        },
    ),
    Misconception(
        "norm_before_sum",
        (_post(_norm_of_output, _norm_of_output),),
        {
            "es": "Normalizas lo calculado y luego sumas. La norma abarca la suma entera: "
            "`layer_norm(x + attended)`, no `x + layer_norm(attended)`.",
            "en": "You normalise what was computed and then add. The norm goes around the whole sum: "
            "`layer_norm(x + attended)`, not `x + layer_norm(attended)`.",
        },
    ),
    Misconception(
        "sum_of_the_input",
        (_steps(_sum_of_the_input),),
        {
            "es": "En la segunda suma vuelves a añadir la `x` del principio. Cada residuo es el de "
            "su propio paso: a la red prealimentada se le suma lo que entró en ella, y no lo que "
            "entró en la capa.",
            "en": "In the second sum you add the `x` of the beginning again. Each residual belongs "
            "to its own step: to the feed-forward network you add what went into it, not what went "
            "into the layer.",
        },
    ),
    Misconception(
        "network_reads_input",
        (_steps(_network_reads_input),),
        {
            "es": "La red prealimentada lee `x`, así que nunca se entera de lo que la atención "
            "encontró. Debe leer la salida del tercer paso.",
            "en": "The feed-forward network reads `x`, so it never hears what attention found. It "
            "must read the output of the third step.",
        },
    ),
    Misconception(
        "network_reads_attention",
        (_steps(_network_reads_attention),),
        {
            "es": "La red prealimentada lee lo que encontró la atención, sin la suma ni la norma. "
            "Le falta saber quién era el token: dale la salida del tercer paso.",
            "en": "The feed-forward network reads what attention found, without the sum or the "
            "norm. It is not told who the token was: give it the output of the third step.",
        },
    ),
    Misconception(
        "without_w_o",
        (_without_w_o,),
        {
            "es": "No multiplicas por `w_o`. Lo que devuelve `reference.self_attention` mide lo que "
            "los values, d_k, y para sumarlo a `x` tiene que medir d_model.",
            "en": "You do not multiply by `w_o`. What `reference.self_attention` returns has the "
            "size of the values, d_k, and to be added to `x` it must have size d_model.",
        },
    ),
    Misconception(
        "not_unpacked",
        (_not_unpacked,),
        {
            "es": "`reference.self_attention` devuelve dos cosas, la salida y los pesos, y tú "
            "multiplicas las dos a la vez por `w_o`. Separa la primera: `attended, _ = ...`.",
            "en": "`reference.self_attention` returns two things, the output and the weights, and "
            "you multiply both at once by `w_o`. Take the first apart: `attended, _ = ...`.",
        },
    ),
    Misconception(
        "network_first",
        (_steps(_network_first),),
        {
            "es": "Pones la red prealimentada antes que la atención. Primero los tokens se miran, y "
            "luego cada uno trabaja con lo que encontró.",
            "en": "You put the feed-forward network before attention. First the tokens look at each "
            "other, then each works on what it found.",
        },
    ),
    Misconception(
        "side_by_side",
        (_steps(_side_by_side),),
        {
            "es": "Calculas la atención y la red en paralelo, las dos a partir de `x`, con una sola "
            "norma. Algunos modelos lo hacen; la capa del artículo las pone una detrás de la otra.",
            "en": "You compute attention and network in parallel, both from `x`, with a single norm. "
            "Some models do; the layer of the paper puts one after the other.",
        },
    ),
    Misconception(
        "norm_over_tokens",
        (_post(_norm_over_tokens, _norm_over_tokens),),
        {
            "es": "Tus normas toman la media a lo largo de la oración. La de un token no debe "
            "depender de los demás: `layer_norm` trabaja sobre el último eje.",
            "en": "Your norms take the mean along the sentence. That of a token must not depend on "
            "the others: `layer_norm` works on the last axis.",
        },
    ),
    Misconception(
        "linear_network",
        (_linear,),
        {
            "es": "A tu red prealimentada le falta `np.maximum(0, ...)`: los productos por `w_1` y "
            "por `w_2` quedan seguidos y equivalen a uno solo.",
            "en": "Your feed-forward network lacks `np.maximum(0, ...)`: the products with `w_1` and "
            "`w_2` follow each other and amount to a single one.",
        },
    ),
    Misconception(
        "unscaled",
        (_unscaled,),
        {
            "es": "A la atención de tu capa le falta dividir los puntajes entre "
            "`np.sqrt(w_q.shape[1])`. El resto de los pasos está en su sitio.",
            "en": "The attention in your layer does not divide the scores by "
            "`np.sqrt(w_q.shape[1])`. The rest of the steps are in place.",
        },
    ),
    Misconception(
        "network_only",
        (_network_only,),
        {
            "es": "Falta la atención entera: cada token sale de tu capa sin enterarse de que hay "
            "otros. Empieza por los pasos 1 a 3.",
            "en": "Attention is missing altogether: each token leaves your layer without knowing "
            "that there are others. Start with steps 1 to 3.",
        },
    ),
)

EXERCISE = Exercise("encoder_layer", 5, ("output",), encoder_layer, cases, MISCONCEPTIONS)
