"""Problem set 4, `layer_norm_gradient`: the way back through a norm, and its lost paths."""

import numpy as np

from attn.exercises.spec import Exercise, Misconception

EPS = 1e-5


def _parts(x, axis=-1, ddof=0, eps=EPS):
    """Return the normalised vectors and what they were divided by."""
    root = np.sqrt(x.var(axis=axis, ddof=ddof, keepdims=True) + eps)
    return (x - x.mean(axis=axis, keepdims=True)) / root, root


def _summed(gradients):
    """Add up what each vector says of a parameter that all of them share."""
    return gradients.reshape(-1, gradients.shape[-1]).sum(axis=0)


def layer_norm_gradient(x, gain, upstream):
    """Return the gradients of a loss, by what goes into a layer norm and by its parameters.

    Parameters
    ----------
    x : ndarray, shape (..., d_model)
        What went in.
    gain : ndarray, shape (d_model,)
    upstream : ndarray, shape (..., d_model)
        The gradient by what came out.

    Returns
    -------
    grad_x : ndarray, shape (..., d_model)
    grad_gain, grad_bias : ndarray, shape (d_model,)

    References
    ----------
    Ba, Kiros and Hinton (2016), section 3, for the function that is differentiated.
    """
    z, root = _parts(x)
    stretched = gain * upstream
    through_mean = stretched.mean(axis=-1, keepdims=True)
    through_root = z * (stretched * z).mean(axis=-1, keepdims=True)
    grad_x = (stretched - through_mean - through_root) / root
    return grad_x, _summed(upstream * z), _summed(upstream)


def cases(seed):
    """Return sentences, vectors that are nearly constant, lone vectors and batches.

    Parameters
    ----------
    seed : int
        Seed of the random numbers; the shapes are always the same.

    Returns
    -------
    list of dict
        With the keys ``x``, ``gain`` and ``upstream``.
    """
    rng = np.random.default_rng(seed)

    # Ordinary vectors are so long that ε does not show in them: it has inputs of its own.
    def draw(*shape, scale=40.0):
        steps = rng.permuted(np.broadcast_to(np.linspace(-1, 1, shape[-1]), shape), axis=-1)
        sizes = rng.uniform(0.6, 1.8, (*shape[:-1], 1))  # never two components nearly equal
        return {
            "x": scale * (sizes * (steps + rng.uniform(-0.2, 0.2, shape)) + 0.7),
            "gain": rng.uniform(0.5, 1.5, shape[-1]),
            "upstream": rng.uniform(-1, 1, shape) + 0.3,
        }

    constant = draw(3, 4)
    constant["x"][1] = 2.0
    return [
        draw(2, 4),
        draw(3, 5),
        draw(4, 4),
        draw(5, 3),
        draw(2, 5, scale=0.004),
        constant,
        draw(5),
        draw(2, 3, 4),
        draw(2, 3, 2, 5),
    ]


def _with(
    mean=1.0, root=1.0, divide=lambda r: r, stretch=lambda gain, upstream: gain * upstream,
    final=lambda gain: 1.0, parts=_parts, axis=-1,
    by_gain=lambda x, z, gain, upstream: _summed(upstream * z),
    by_bias=lambda x, z, gain, upstream: _summed(upstream),
):  # fmt: skip
    """Return the gradients with one part replaced: `mean` and `root` scale two of the paths."""

    def layer_norm_gradient(x, gain, upstream):
        z, r = parts(x)
        g = stretch(gain, upstream)
        through_mean = mean * g.mean(axis=axis, keepdims=True)
        through_root = root * z * (g * z).mean(axis=axis, keepdims=True)
        grad_x = final(gain) * (g - through_mean - through_root) / divide(r)
        extra = x, z, gain, upstream
        return grad_x, by_gain(*extra), by_bias(*extra)

    return layer_norm_gradient


def _not_standardised(x):
    z, root = _parts(x)
    return z * root, root


def _first_axis(gradients):
    return gradients.sum(axis=0)


def _on_both(combine):
    """Return the gradients with the sums over the vectors done in another way."""
    return _with(
        by_gain=lambda x, z, gain, upstream: combine(upstream * z),
        by_bias=lambda x, z, gain, upstream: combine(upstream),
    )


def _mean_over_vectors(gradients):
    return gradients.reshape(-1, gradients.shape[-1]).mean(axis=0)


def _matrix_only(x, gain, upstream):
    _seq_len, _d_model = x.shape
    return layer_norm_gradient(x, gain, upstream)


def _reordered(*order):
    def gradients(x, gain, upstream):
        found = layer_norm_gradient(x, gain, upstream)
        return tuple(found[i] for i in order)

    return gradients


MISCONCEPTIONS = (
    Misconception(
        "direct_path_only",
        (_with(mean=0, root=0),),
        {
            "es": "Solo cuentas el camino directo, como si μ y σ fueran constantes. Dependen de "
            "todas las componentes: mover una mueve la media y la varianza, y con ellas todas "
            "las salidas.",
            "en": "You count only the direct path, as if μ and σ were constants. They depend on "
            "every component: moving one moves the mean and the variance, and with them all the "
            "outputs.",
        },
    ),
    Misconception(
        "mean_held",
        (_with(mean=0),),
        {
            "es": "Falta el camino que pasa por la media. Sumar lo mismo a todas las componentes "
            "de `x` no cambia la salida; por tanto, cada fila de `grad_x` debe sumar 0.",
            "en": "The path through the mean is missing. Adding the same to every component of `x` "
            "does not change the output; so each row of `grad_x` must sum to 0.",
        },
    ),
    Misconception(
        "deviation_held",
        (_with(root=0),),
        {
            "es": "Falta el camino que pasa por σ. Alargar las desviaciones de `x` apenas cambia la "
            "salida; por tanto, el producto punto de cada fila de `grad_x` con su `x` centrada "
            "debe ser casi 0.",
            "en": "The path through σ is missing. Stretching the deviations of `x` hardly changes "
            "the output; so the dot product of each row of `grad_x` with its centred `x` must be "
            "nearly 0.",
        },
    ),
    Misconception(
        "sign_of_a_path",
        (_with(mean=-1), _with(root=-1), _with(mean=-1, root=-1)),
        {
            "es": "Uno de los caminos indirectos lleva el signo cambiado. Si sube una componente, "
            "suben la media y, si está lejos de ella, σ; las dos hacen bajar a las otras salidas.",
            "en": "One of the indirect paths has the wrong sign. If a component rises, so does the "
            "mean and, if it is far from it, σ; both make the other outputs fall.",
        },
    ),
    Misconception(
        "sums_for_means",
        (
            lambda x, gain, upstream: _with(mean=x.shape[-1], root=x.shape[-1])(x, gain, upstream),
            lambda x, gain, upstream: _with(mean=x.shape[-1])(x, gain, upstream),
            lambda x, gain, upstream: _with(root=x.shape[-1])(x, gain, upstream),
        ),
        {
            "es": "En un camino indirecto sumas las componentes sin dividir entre d_model. μ y σ² "
            "son medias: cada componente pesa en ellas 1/d_model.",
            "en": "In an indirect path you sum the components without dividing by d_model. μ and "
            "σ² are means: each component has a weight of 1/d_model in them.",
        },
    ),
    Misconception(
        "gain_at_the_end",
        (_with(stretch=lambda gain, upstream: upstream, final=lambda gain: gain),),
        {
            "es": "Aplicas `gain` al final. De vuelta se recorren los pasos al revés: lo primero "
            "que se deshace es la ganancia, y después la norma, con sus medias ya ponderadas.",
            "en": "You apply `gain` at the end. On the way back the steps come in reverse: the gain "
            "is the first to be undone, and then the norm, whose means are already weighted.",
        },
    ),
    Misconception(
        "gain_forgotten",
        (_with(stretch=lambda gain, upstream: upstream),),
        {
            "es": "`gain` no aparece en `grad_x`. La salida es la ganancia por z: lo que llega a z "
            "es `gain * upstream`.",
            "en": "`gain` does not appear in `grad_x`. The output is the gain times z: what "
            "reaches z is `gain * upstream`.",
        },
    ),
    Misconception(
        "not_divided",
        (_with(divide=lambda root: 1.0),),
        {
            "es": "A `grad_x` le falta dividir entre σ. Cuanto más largo era el vector, menos mueve "
            "la salida un cambio del mismo tamaño.",
            "en": "`grad_x` is not divided by σ. The longer the vector was, the less a change of "
            "the same size moves the output.",
        },
    ),
    Misconception(
        "divided_by_variance",
        (_with(divide=lambda root: root**2),),
        {
            "es": "`grad_x` queda dividido entre la varianza, es decir, entre σ dos veces. Revisa el "
            "camino directo: z es la desviación entre σ, una vez.",
            "en": "`grad_x` ends up divided by the variance, that is, by σ twice. Look again at the "
            "direct path: z is the deviation over σ, once.",
        },
    ),
    Misconception(
        "raw_deviations",
        (_with(parts=_not_standardised),),
        {
            "es": "Usas la desviación `x − μ` donde va z, ya dividida entre σ. Con vectores de "
            "varianza 1 no lo notarías.",
            "en": "You use the deviation `x − μ` where z belongs, already divided by σ. With "
            "vectors of variance 1 you would not notice.",
        },
    ),
    Misconception(
        "gain_meets_x",
        (
            _with(by_gain=lambda x, z, gain, upstream: _summed(upstream * x)),
            _with(
                by_gain=lambda x, z, gain, upstream: _summed(
                    upstream * (x - x.mean(axis=-1, keepdims=True))
                )
            ),
        ),
        {
            "es": "`grad_gain` multiplica por la entrada sin normalizar. La ganancia se encuentra "
            "con z, no con `x`: la derivada de gz + b respecto de g es z.",
            "en": "`grad_gain` multiplies by the input before it is normalised. The gain meets z, "
            "not `x`: the derivative of gz + b by g is z.",
        },
    ),
    Misconception(
        "gain_in_its_own_gradient",
        (
            _with(by_gain=lambda x, z, gain, upstream: _summed(upstream * gain * z)),
            _with(by_bias=lambda x, z, gain, upstream: _summed(upstream * gain)),
            _with(
                by_gain=lambda x, z, gain, upstream: _summed(upstream * gain * z),
                by_bias=lambda x, z, gain, upstream: _summed(upstream * gain),
            ),
        ),
        {
            "es": "`gain` se cuela en el gradiente de los parámetros. Multiplica solo en el camino "
            "hacia `x`; los parámetros reciben `upstream` tal cual.",
            "en": "`gain` slips into the gradient of the parameters. It multiplies only on the way "
            "to `x`; the parameters are given `upstream` as it is.",
        },
    ),
    Misconception(
        "one_gradient_per_vector",
        (_on_both(lambda gradients: gradients),),
        {
            "es": "Devuelves un `grad_gain` y un `grad_bias` por vector. Todos comparten los mismos "
            "d_model parámetros: suma lo que dice cada uno.",
            "en": "You return a `grad_gain` and a `grad_bias` for each vector. They all share the "
            "same d_model parameters: sum what each says.",
        },
    ),
    Misconception(
        "averaged_over_vectors",
        (_on_both(_mean_over_vectors),),
        {
            "es": "Haces la media sobre los vectores de los gradientes de los parámetros. Si la pérdida es "
            "una media, ya lo dice `upstream`; aquí se suman.",
            "en": "You average the gradients of the parameters over the vectors. If the loss is a "
            "mean, `upstream` says so already; here they are summed.",
        },
    ),
    Misconception(
        "summed_over_components",
        (_on_both(lambda gradients: gradients.sum(axis=-1)),),
        {
            "es": "Sumas sobre las componentes y te queda un número por vector. Los parámetros son "
            "uno por componente: el eje que se queda es el último.",
            "en": "You sum over the components and are left with one number for each vector. There "
            "is one parameter for each component: the axis that stays is the last.",
        },
    ),
    Misconception(
        "first_axis_only",
        (_on_both(_first_axis), _on_both(lambda gradients: gradients.sum(axis=-2))),
        {
            "es": "Sumas sobre un solo eje. Puede haber varios delante del último, o ninguno: "
            "súmalos todos.",
            "en": "You sum over one axis only. There may be several before the last, or none: sum "
            "over all of them.",
        },
    ),
    Misconception(
        "sample_variance",
        (_with(parts=lambda x: _parts(x, ddof=1)),),
        {
            "es": "Tu varianza divide entre d_model − 1. La de esta norma divide entre d_model, y "
            "las medias del gradiente también.",
            "en": "Your variance divides by d_model − 1. That of this norm divides by d_model, and "
            "so do the means in the gradient.",
        },
    ),
    Misconception(
        "no_eps",
        (
            _with(parts=lambda x: _parts(x, eps=0.0)),
            *(_with(parts=lambda x, eps=eps: _parts(x, eps=eps)) for eps in (1e-6, 1e-8)),
        ),
        {
            "es": "La ε de tu varianza no es 1e-5. Con vectores corrientes da igual; con los de "
            "milésimas el gradiente cambia, y con uno constante es infinito si falta.",
            "en": "The ε in your variance is not 1e-5. With ordinary vectors it makes no "
            "difference; with those of thousandths the gradient changes, and with a constant one "
            "it is infinite if it is missing.",
        },
    ),
    Misconception(
        "means_over_everything",
        (_with(axis=None), _with(parts=lambda x: _parts(x, axis=None))),
        {
            "es": "Una de tus medias abarca todos los vectores. Cada uno tiene su μ, su σ y sus "
            "dos medias en el gradiente.",
            "en": "One of your means covers all the vectors. Each has its own μ, its own σ and its "
            "own two means in the gradient.",
        },
    ),
    Misconception(
        "another_order",
        (_reordered(0, 2, 1), _reordered(1, 2, 0)),
        {
            "es": "Los tres gradientes están bien y en otro orden: primero el de `x`, después el de "
            "la ganancia y al final el del sesgo.",
            "en": "The three gradients are right and in another order: first that of `x`, then that "
            "of the gain and last that of the bias.",
        },
    ),
    Misconception(
        "only_x",
        (_reordered(0), lambda *arguments: layer_norm_gradient(*arguments)[0]),
        {
            "es": "Devuelves solo `grad_x`. La norma tiene dos parámetros que también se entrenan: "
            "faltan sus gradientes.",
            "en": "You return `grad_x` alone. The norm has two parameters that are trained as well: "
            "their gradients are missing.",
        },
    ),
    Misconception(
        "matrix_only",
        (_matrix_only,),
        {
            "es": "Tu código espera dos ejes. Un vector suelto o un lote de oraciones también "
            "pasan por una norma.",
            "en": "Your code expects two axes. A lone vector or a batch of sentences goes through "
            "a norm too.",
        },
    ),
)

EXERCISE = Exercise(
    "layer_norm_gradient",
    5,
    ("grad_x", "grad_gain", "grad_bias"),
    layer_norm_gradient,
    cases,
    MISCONCEPTIONS,
    problem_set="ps4",
)
