"""Problem set 5, `masked_softmax_gradient`: what is forbidden gets no gradient."""

import numpy as np

from attn.exercises.spec import Exercise, Misconception
from attn.reference import softmax


def masked_softmax_gradient(scores, mask, gradient):
    """Return the weights, and the derivative of the loss by the scores from that by the weights."""
    weights = softmax(np.where(mask, scores, -np.inf))
    return weights, _back(weights, gradient)


def _back(weights, gradient):
    return weights * (gradient - (weights * gradient).sum(axis=-1, keepdims=True))


def cases(seed):
    """Return scores with masks: ordinary, of large numbers, with dead rows, in batches.

    Parameters
    ----------
    seed : int
        Seed of the random numbers; the shapes are always the same.

    Returns
    -------
    list of dict
        With the keys ``scores``, ``mask``, boolean, and ``gradient``.
    """
    rng = np.random.default_rng(seed)

    def draw(tgt_len, src_len, batch=(), height=0.0, dead=(), alone=()):
        """Forbid one or two keys of each row, the last of them the highest by far if large."""
        scores = rng.uniform(-1, 1, (*batch, tgt_len, src_len))
        mask = np.ones((tgt_len, src_len), dtype=bool)
        for i in range(tgt_len):
            mask[i, [i % src_len, (2 * i + 1) % src_len]] = False
        # A whole number of units up or down: rows far apart, and what is forbidden above them.
        scores += np.resize([height, -height], tgt_len)[:, None] + np.where(mask, 0, abs(height))
        scores[..., 0] += 0.5  # one axis does not pass for another
        mask[list(dead)] = False
        mask[list(alone)] = np.arange(src_len) == 2
        gradient = rng.uniform(0.5, 2, scores.shape) * rng.choice([-1, 1], scores.shape)
        return {
            "scores": scores,
            "mask": np.broadcast_to(mask, scores.shape).copy(),
            "gradient": gradient,
        }

    return [
        draw(1, 4),
        draw(2, 4),
        draw(3, 5),
        draw(5, 4),
        draw(2, 5, height=900.0),
        draw(3, 4, height=-2000.0),
        draw(3, 5, dead=[1], alone=[2]),
        draw(2, 4, dead=[0, 1]),
        draw(3, 4, batch=(2,)),
        draw(2, 5, batch=(3, 2), dead=[0]),
    ]


def _fill(scores, mask):
    return softmax(np.where(mask, scores, -np.inf))


def _with(weigh=_fill, back=_back):
    """Return the function with other weights or another way back."""

    def both(scores, mask, gradient):
        weights = weigh(scores, mask)
        return weights, back(weights, gradient)

    return both


def _afterwards(scores, mask, gradient):
    before = softmax(scores)
    return before * mask, _back(before, gradient * mask)


def _exponentials(scores, mask, peak):
    exponentials = np.where(mask, np.exp(scores - peak), 0)
    total = exponentials.sum(axis=-1, keepdims=True)
    return exponentials / np.where(total == 0, 1, total)


def _undefined(scores, mask):
    scores = np.where(mask, scores, -np.inf)
    exponentials = np.exp(scores - scores.max(axis=-1, keepdims=True))
    return exponentials / exponentials.sum(axis=-1, keepdims=True)


def _mean(of):
    return lambda weights, gradient: weights * (gradient - of(weights, gradient))


MISCONCEPTIONS = (
    Misconception(
        "each_on_its_own",
        (_with(back=lambda w, g: w * (1 - w) * g),),
        {
            "es": "Derivas cada peso por su propio puntaje y nada más. Subir un puntaje baja los "
            "otros pesos de su fila, y esos también mueven la pérdida: falta restar su media "
            "ponderada.",
            "en": "You differentiate each weight by its own score and no more. Raising one "
            "score lowers the other weights of its row, and those move the loss too: subtract "
            "their weighted mean.",
        },
    ),
    Misconception(
        "nothing_subtracted",
        (_with(back=lambda w, g: w * g),),
        {
            "es": "Falta lo que se resta. Súmale lo mismo a todos los puntajes de una fila: los "
            "pesos no cambian, luego las derivadas de cada fila deben sumar 0.",
            "en": "Something has yet to be subtracted. Add the same to all the scores of a row: the "
            "weights do not change, so the derivatives of each row must sum to 0.",
        },
    ),
    Misconception(
        "sign_reversed",
        (_with(back=lambda w, g: -_back(w, g)),),
        {
            "es": "El signo está al revés: subir el puntaje de quien más gradiente trae debe subir "
            "la pérdida.",
            "en": "The sign is reversed: raising the score of the one with the largest gradient "
            "must raise the loss.",
        },
    ),
    Misconception(
        "plain_mean",
        (
            _with(back=_mean(lambda w, g: g.mean(axis=-1, keepdims=True))),
            _with(
                back=_mean(
                    lambda w, g: (
                        (g * (w > 0)).sum(axis=-1, keepdims=True)
                        / np.maximum((w > 0).sum(axis=-1, keepdims=True), 1)
                    )
                )
            ),
        ),
        {
            "es": "Restas una media en la que todos cuentan igual. Es la media *ponderada* por los "
            "pesos la que hay que restar.",
            "en": "You subtract a mean in which all count the same. It is the mean *weighted* by "
            "the weights that has to be subtracted.",
        },
    ),
    Misconception(
        "summed_down_the_columns",
        (_with(back=_mean(lambda w, g: (w * g).sum(axis=-2, keepdims=True))),),
        {
            "es": "Sumas por columnas, y mezclas queries. Cada fila es una softmax aparte: suma "
            "en el último eje.",
            "en": "You sum down the columns, and mix queries. Each row is a softmax of its own: "
            "sum along the last axis.",
        },
    ),
    Misconception(
        "as_in_cross_entropy",
        (_with(back=lambda w, g: w - g), _with(back=lambda w, g: (w - g) * (w > 0))),
        {
            "es": "Esa resta es la derivada de la entropía cruzada, donde ya va incluida la del "
            "logaritmo. Aquí `gradient` puede ser el de cualquier pérdida.",
            "en": "That difference is the derivative of the cross-entropy, in which that of the "
            "logarithm is already included. Here `gradient` may be that of any loss.",
        },
    ),
    Misconception(
        "masked_afterwards",
        (_afterwards,),
        {
            "es": "Pones a cero después de la softmax, y a lo prohibido le llega gradiente por el "
            "denominador. La máscara va en los puntajes.",
            "en": "You set to zero after the softmax, and gradient reaches what is forbidden "
            "through the denominator. The mask goes on the scores.",
        },
    ),
    Misconception(
        "no_mask",
        (_with(lambda scores, mask: softmax(scores)),),
        {
            "es": "No usas la máscara: lo prohibido pesa y recibe gradiente.",
            "en": "You do not use the mask: what is forbidden weighs, and gets gradient.",
        },
    ),
    Misconception(
        "mask_inverted",
        (_with(lambda scores, mask: _fill(scores, ~mask)),),
        {
            "es": "Dejas fuera lo que se podía mirar. `mask` trae True en lo permitido.",
            "en": "You leave out what could be looked at. `mask` holds True at what is allowed.",
        },
    ),
    Misconception(
        "overflow",
        (_with(lambda scores, mask: _exponentials(scores, mask, 0)),),
        {
            "es": "La exponencial de un puntaje de cientos no cabe en un número. Resta antes el "
            "mayor de la fila; los pesos no cambian.",
            "en": "The exponential of a score in the hundreds does not fit in a number. Subtract "
            "the largest of the row first; the weights stay as they are.",
        },
    ),
    Misconception(
        "peak_of_the_forbidden",
        (
            _with(
                lambda scores, mask: _exponentials(scores, mask, scores.max(axis=-1, keepdims=True))
            ),
        ),
        {
            "es": "El máximo que restas incluye lo prohibido. Si allí hay un puntaje enorme, las "
            "exponenciales permitidas se quedan todas en 0. Busca el mayor entre lo permitido.",
            "en": "The maximum you subtract takes in what is forbidden. If there is a huge score "
            "there, the allowed exponentials all come to 0. Look for the largest of the allowed.",
        },
    ),
    Misconception(
        "nan_in_dead_rows",
        (_with(_undefined),),
        {
            "es": "En las filas muertas sale NaN: el máximo es −∞, y −∞ menos −∞ no está definido. "
            "Esas filas dan ceros.",
            "en": "In dead rows NaN comes out: the maximum is −∞, and −∞ minus −∞ is undefined. "
            "Those rows give zeros.",
        },
    ),
    Misconception(
        "dead_rows_alive",
        (
            _with(lambda scores, mask: softmax(np.where(mask, scores, -1e9))),
            _with(lambda scores, mask: softmax(scores - 1e9 * ~mask)),
        ),
        {
            "es": "Donde todo está prohibido, tu −1e9 empata con los demás −1e9 y el peso se "
            "reparte. Una fila muerta da ceros.",
            "en": "Where everything is forbidden, your −1e9 ties with the other −1e9 and the "
            "weight is shared. A dead row gives zeros.",
        },
    ),
)

EXERCISE = Exercise(
    "masked_softmax_gradient",
    6,
    ("weights", "d_scores"),
    masked_softmax_gradient,
    cases,
    MISCONCEPTIONS,
    problem_set="ps5",
)
