"""Problem set 4, `gated_feed_forward`: a network with a gate, and the ways to get it wrong."""

import numpy as np

from attn.exercises.spec import Exercise, Misconception


def _sigmoid(z):
    return np.exp(-np.logaddexp(0, -z))  # no exponential of a large number


def _silu(z):
    return z * _sigmoid(z)


def gated_feed_forward(x, w_gate, w_up, w_down):
    """Return what a gated feed-forward network makes of each vector.

    Parameters
    ----------
    x : ndarray, shape (..., d_model)
    w_gate, w_up : ndarray, shape (d_model, d_ff)
    w_down : ndarray, shape (d_ff, d_model)

    Returns
    -------
    ndarray, shape (..., d_model)

    References
    ----------
    Shazeer (2020), GLU Variants Improve Transformer, FFN_SwiGLU.

    Examples
    --------
    >>> gated_feed_forward(np.ones(1), np.eye(1), 2 * np.eye(1), np.eye(1)).round(2)
    array([1.46])
    """
    return (_silu(x @ w_gate) * (x @ w_up)) @ w_down


def cases(seed):
    """Return sentences, some with gates far out on both sides, lone vectors and batches.

    Parameters
    ----------
    seed : int
        Seed of the random numbers; the shapes are always the same.

    Returns
    -------
    list of dict
        With the keys ``x``, ``w_gate``, ``w_up`` and ``w_down``.
    """
    rng = np.random.default_rng(seed)

    def draw(*shape, d_ff):
        d_model = shape[-1]
        return {
            "x": rng.uniform(-1, 1, shape),
            "w_gate": rng.uniform(-1.5, 1.5, (d_model, d_ff)),
            "w_up": rng.uniform(-1, 1, (d_model, d_ff)),
            "w_down": rng.uniform(-1, 1, (d_ff, d_model)),
        }

    # Two tokens, opposite and enormous: what opens a gate for one shuts it for the other.
    large = draw(2, 3, d_ff=4)
    large["x"] = np.array([[900.0], [-900.0]]) * rng.uniform(0.9, 1, 3)
    large["w_gate"] = np.abs(large["w_gate"]) + 0.5
    large["w_gate"][:, ::2] *= -1
    return [
        draw(2, 3, d_ff=4),
        draw(3, 4, d_ff=6),
        draw(4, 2, d_ff=5),
        draw(3, 5, d_ff=5),
        large,
        draw(4, d_ff=7),
        draw(2, 3, 4, d_ff=5),
        draw(2, 3, 2, 3, d_ff=4),
    ]


def _gelu(z):
    return 0.5 * z * (1 + np.tanh(np.sqrt(2 / np.pi) * (z + 0.044715 * z**3)))


def _with(gate=_silu, up=lambda z: z, join=np.multiply):
    """Return the network with one of its parts replaced."""

    def gated_feed_forward(x, w_gate, w_up, w_down):
        return join(gate(x @ w_gate), up(x @ w_up)) @ w_down

    return gated_feed_forward


def _quotient(z):
    return z * np.exp(z) / (1 + np.exp(z))


def _quotient_or_zero(z):
    return np.nan_to_num(_quotient(z))


def _matrix_only(x, w_gate, w_up, w_down):
    _seq_len, _d_model = x.shape
    return gated_feed_forward(x, w_gate, w_up, w_down)


MISCONCEPTIONS = (
    Misconception(
        "gate_and_content_exchanged",
        (lambda x, w_gate, w_up, w_down: gated_feed_forward(x, w_up, w_gate, w_down),),
        {
            "es": "Las dos matrices están cambiadas de papel: SiLU se aplica a lo que sale de "
            "`w_gate`, y `w_up` da el contenido, sin activación.",
            "en": "The two matrices have swapped roles: SiLU is applied to what comes out of "
            "`w_gate`, and `w_up` gives the content, with no activation.",
        },
    ),
    Misconception(
        "sigmoid_gate",
        (_with(gate=_sigmoid),),
        {
            "es": "Tu puerta es la sigmoide sola. En SiLU la sigmoide multiplica a su propia "
            "entrada, de modo que una puerta muy abierta puede valer más que 1.",
            "en": "Your gate is the sigmoid alone. In SiLU the sigmoid multiplies its own input, "
            "so that a gate wide open may be worth more than 1.",
        },
    ),
    Misconception(
        "relu_gate",
        (_with(gate=lambda z: np.maximum(0, z)),),
        {
            "es": "La puerta lleva ReLU. Mira la tabla de la tarea: en −1 SiLU no vale 0.",
            "en": "The gate has ReLU. Look at the table of the task: at −1 SiLU is not 0.",
        },
    ),
    Misconception(
        "gelu_gate",
        (_with(gate=_gelu), _with(gate=lambda z: z * _sigmoid(1.702 * z))),
        {
            "es": "La curva de tu puerta es GELU, parecida a la que se pide pero más abrupta. SiLU "
            "es el número por su sigmoide, sin más constantes.",
            "en": "The curve of your gate is GELU, like the one asked for but steeper. SiLU is the "
            "number times its sigmoid, with no further constants.",
        },
    ),
    Misconception(
        "tanh_gate",
        (_with(gate=np.tanh), _with(gate=lambda z: z * np.tanh(z))),
        {
            "es": "Usas la tangente hiperbólica donde va la sigmoide. Una va de −1 a 1; la otra, "
            "de 0 a 1, y por eso puede cerrar.",
            "en": "You use the hyperbolic tangent where the sigmoid belongs. One runs from −1 to "
            "1; the other from 0 to 1, and that is why it can shut.",
        },
    ),
    Misconception(
        "no_activation",
        (_with(gate=lambda z: z),),
        {
            "es": "Multiplicas las dos proyecciones sin activar ninguna. Así nada se cierra: si "
            "cambias el signo de `x`, el producto no se entera.",
            "en": "You multiply the two projections without activating either. Nothing ever shuts: "
            "change the sign of `x` and the product does not notice.",
        },
    ),
    Misconception(
        "both_activated",
        (_with(up=_silu),),
        {
            "es": "Activas las dos proyecciones. La del contenido pasa tal cual; quien decide "
            "cuánto pasa es la otra.",
            "en": "You activate both projections. That of the content goes through as it is; the "
            "other decides how much goes through.",
        },
    ),
    Misconception(
        "product_activated",
        (_with(gate=lambda z: z, join=lambda a, b: _silu(a * b)),),
        {
            "es": "Primero multiplicas y luego activas. Una puerta negativa con un contenido "
            "negativo queda entonces abierta.",
            "en": "You multiply first and activate afterwards. A negative gate with a negative "
            "content is then left open.",
        },
    ),
    Misconception(
        "summed",
        (_with(join=np.add),),
        {
            "es": "Sumas puerta y contenido: cerrada, la puerta ya no quita nada. Debe multiplicar "
            "al contenido, componente a componente.",
            "en": "You add gate and content: shut, the gate takes nothing away any more. It should "
            "multiply the content, component by component.",
        },
    ),
    Misconception(
        "content_missing",
        (_with(join=lambda gate, up: gate),),
        {
            "es": "Solo usas la puerta, y `w_up` no interviene: es una red prealimentada corriente "
            "con otra activación.",
            "en": "You use the gate alone, and `w_up` takes no part: that is an ordinary "
            "feed-forward network with another activation.",
        },
    ),
    Misconception(
        "gate_missing",
        (_with(join=lambda gate, up: up), _with(join=lambda gate, up: _silu(up))),
        {
            "es": "`w_gate` no interviene en tu resultado, así que no hay quien abra ni cierre.",
            "en": "`w_gate` takes no part in your result, so there is nobody to open or shut.",
        },
    ),
    Misconception(
        "sign_flipped",
        (_with(gate=lambda z: z * _sigmoid(-z)),),
        {
            "es": "Tu sigmoide tiene el signo al revés: cierra lo positivo y deja pasar lo "
            "negativo. Es 1 / (1 + e elevado a −z).",
            "en": "Your sigmoid has its sign the wrong way round: it shuts the positive and lets "
            "the negative through. It is 1 / (1 + e to the −z).",
        },
    ),
    Misconception(
        "left_wide",
        (lambda x, w_gate, w_up, w_down: _silu(x @ w_gate) * (x @ w_up),),
        {
            "es": "Te quedas en la capa ancha, con d_ff componentes. Falta volver a d_model, con "
            "`w_down`.",
            "en": "You stop at the wide layer, with d_ff components. You still have to come back "
            "to d_model, with `w_down`.",
        },
    ),
    Misconception(
        "residual_added",
        (lambda x, *matrices: x + gated_feed_forward(x, *matrices),),
        {
            "es": "Sumas la entrada. De la conexión residual se encarga la capa, no la red.",
            "en": "You add the input. The residual connection is the layer's business, not the "
            "network's.",
        },
    ),
    Misconception(
        "overflow",
        (_with(gate=_quotient), _with(gate=_quotient_or_zero)),
        {
            "es": "Con números de cientos tu puerta calcula infinito entre infinito, o confunde "
            "eso con 0. Escribe la sigmoide de modo que, si la exponencial se desborda, quede "
            "solo en el denominador.",
            "en": "With numbers in the hundreds your gate computes infinity over infinity, or takes "
            "that for 0. Write the sigmoid so that, if the exponential overflows, it stands in "
            "the denominator only.",
        },
    ),
    Misconception(
        "matrix_only",
        (_matrix_only,),
        {
            "es": "Das por hecho que `x` tiene dos ejes. `@` ya se ocupa de los que haya delante: "
            "no los desempaquetes.",
            "en": "You take it for granted that `x` has two axes. `@` already deals with any in "
            "front: do not unpack them.",
        },
    ),
)

EXERCISE = Exercise(
    "gated_feed_forward",
    5,
    ("output",),
    gated_feed_forward,
    cases,
    MISCONCEPTIONS,
    problem_set="ps4",
)
