"""Problem set 1, `negative_sampling`: how two vectors learn that their words stand together."""

import numpy as np

from attn.exercises.spec import Exercise, Misconception


def negative_sampling(center, context, negatives):
    """Return the loss of one word beside another, and its three gradients."""
    return _loss_and_gradients(center, context, negatives)


def _sigmoid(x):
    return np.exp(-np.logaddexp(0, -x))


def _scores(center, context, negatives):
    return (center * context).sum(axis=-1), (negatives @ center[..., None])[..., 0]


def _gradients(center, context, negatives, of_context, of_negatives):
    """Return what follows from the gradients with respect to the scores."""
    d_center = of_context[..., None] * context + (of_negatives[..., None, :] @ negatives)[..., 0, :]
    d_negatives = of_negatives[..., None] * center[..., None, :]
    return d_center, of_context[..., None] * center, d_negatives


def _loss_and_gradients(center, context, negatives):
    right, wrong = _scores(center, context, negatives)
    loss = np.logaddexp(0, -right) + np.logaddexp(0, wrong).sum(axis=-1)
    return loss, *_gradients(center, context, negatives, _sigmoid(right) - 1, _sigmoid(wrong))


def cases(seed):
    """Return vectors of a word, of its neighbour and of words drawn at random.

    Parameters
    ----------
    seed : int
        Seed of the random numbers; the shapes are always the same.

    Returns
    -------
    list of dict
        With the keys ``center``, ``context`` and ``negatives``: single words, batches, and
        products so large that an exponential overflows.
    """
    rng = np.random.default_rng(seed)

    def draw(k, d, *batch):
        return {
            "center": rng.normal(size=(*batch, d)),
            "context": rng.normal(size=(*batch, d)),
            "negatives": rng.normal(size=(*batch, k, d)),
        }

    def large(k, d):
        case = draw(k, d)
        direction = case["center"] / np.linalg.norm(case["center"])
        case["center"] = direction * 40
        case["context"] = -direction * 40 + case["context"]
        case["negatives"][0] = direction * 40
        case["negatives"][1] = -direction * 40
        return case

    return [
        draw(2, 3), draw(3, 4), draw(4, 2), draw(5, 3), large(3, 4), large(2, 3),
        draw(3, 4, 2), draw(2, 3, 4), draw(4, 3, 2, 3),
    ]  # fmt: skip


# The wrong functions.


def _with_losses(loss):
    """Return a function whose gradients are right and whose loss is another."""

    def wrong(center, context, negatives):
        _, *gradients = negative_sampling(center, context, negatives)
        return loss(*_scores(center, context, negatives)), *gradients

    return wrong


def _with_scores(change):
    """Return a function that changes the gradients with respect to the scores."""

    def wrong(center, context, negatives):
        loss, *_ = negative_sampling(center, context, negatives)
        of = change(*_scores(center, context, negatives))
        return loss, *_gradients(center, context, negatives, *of)

    return wrong


def _with_gradients(change):
    def wrong(center, context, negatives):
        return change(*negative_sampling(center, context, negatives), center, context, negatives)

    return wrong


def _all_neighbours(center, context, negatives):
    right, wrong = _scores(center, context, negatives)
    loss = np.logaddexp(0, -right) + np.logaddexp(0, -wrong).sum(axis=-1)
    of = _sigmoid(right) - 1, _sigmoid(wrong) - 1
    return loss, *_gradients(center, context, negatives, *of)


def _swapped(center, context, negatives):
    right, wrong = _scores(center, context, negatives)
    loss = np.logaddexp(0, right) + np.logaddexp(0, -wrong).sum(axis=-1)
    of = _sigmoid(right), _sigmoid(wrong) - 1
    return loss, *_gradients(center, context, negatives, *of)


def _mean(center, context, negatives):
    right, wrong = _scores(center, context, negatives)
    loss = np.logaddexp(0, -right) + np.logaddexp(0, wrong).mean(axis=-1)
    of = _sigmoid(right) - 1, _sigmoid(wrong) / wrong.shape[-1]
    return loss, *_gradients(center, context, negatives, *of)


def _softmax(center, context, negatives):
    right, wrong = _scores(center, context, negatives)
    scores = np.concatenate([right[..., None], wrong], axis=-1)
    total = np.logaddexp.reduce(scores, axis=-1)
    weights = np.exp(scores - total[..., None])
    of = weights[..., 0] - 1, weights[..., 1:]
    return total - right, *_gradients(center, context, negatives, *of)


def _overflows(center, context, negatives):
    with np.errstate(all="ignore"):
        right, wrong = _scores(center, context, negatives)
        sigmoids = 1 / (1 + np.exp(-right)), 1 / (1 + np.exp(-wrong))
        loss = -np.log(sigmoids[0]) - np.log(1 - sigmoids[1]).sum(axis=-1)
    of = sigmoids[0] - 1, sigmoids[1]
    return loss, *_gradients(center, context, negatives, *of)


def _overflows_otherwise(center, context, negatives):
    with np.errstate(all="ignore"):
        right, wrong = _scores(center, context, negatives)
        loss = np.log(1 + np.exp(-right)) + np.log(1 + np.exp(wrong)).sum(axis=-1)
        of = 1 / (1 + np.exp(-right)) - 1, 1 / (1 + np.exp(-wrong))
    return loss, *_gradients(center, context, negatives, *of)


def _one_word(center, context, negatives):
    if center.ndim != 1:
        raise ValueError("matmul: Input operand 1 has a mismatch in its core dimension")
    return negative_sampling(center, context, negatives)


MISCONCEPTIONS = (
    Misconception(
        "all_neighbours",
        (_all_neighbours,),
        {
            "es": "Tratas a las palabras al azar como vecinas: las acercas también. Para ellas "
            "la probabilidad que debe ser grande es σ(−c·n).",
            "en": "You treat the random words as neighbours: you pull them closer too. For them "
            "the probability that should be large is σ(−c·n).",
        },
    ),
    Misconception(
        "swapped",
        (_swapped,),
        {
            "es": "Has cambiado los papeles: alejas a la vecina y acercas a las palabras al azar.",
            "en": "You have swapped the roles: you push the neighbour away and pull the random "
            "words closer.",
        },
    ),
    Misconception(
        "ascent",
        (_with_gradients(lambda loss, a, b, c, *_: (loss, -a, -b, -c)),),
        {
            "es": "La pérdida es correcta y los gradientes tienen el signo contrario. El "
            "gradiente dice hacia dónde *crece* la pérdida; el signo menos es del paso.",
            "en": "The loss is right and the gradients have the opposite sign. The gradient says "
            "where the loss *grows*; the minus sign belongs to the step.",
        },
    ),
    Misconception(
        "loss_negated",
        (_with_losses(lambda r, w: -np.logaddexp(0, -r) - np.logaddexp(0, w).sum(axis=-1)),),
        {
            "es": "Devuelves el logaritmo de la probabilidad, que es negativo. La pérdida es ese "
            "número cambiado de signo.",
            "en": "You return the logarithm of the probability, which is negative. The loss is "
            "that number with its sign changed.",
        },
    ),
    Misconception(
        "no_logarithm",
        (_with_losses(lambda r, w: 1 - _sigmoid(r) + _sigmoid(w).sum(axis=-1)),),
        {
            "es": "Tu pérdida suma probabilidades, sin logaritmo. Los gradientes que se piden son "
            "los de −log σ.",
            "en": "Your loss adds probabilities, without the logarithm. The gradients asked for "
            "are those of −log σ.",
        },
    ),
    Misconception(
        "mean_of_negatives",
        (
            _mean,
            _with_losses(lambda r, w: np.logaddexp(0, -r) + np.logaddexp(0, w).mean(axis=-1)),
        ),
        {
            "es": "Tomas la media de las palabras al azar. Se suman: cada una pesa lo mismo que la vecina.",
            "en": "You average the random words. They are summed: each weighs as much as the "
            "neighbour.",
        },
    ),
    Misconception(
        "one_not_subtracted",
        (_with_scores(lambda r, w: (_sigmoid(r), _sigmoid(w))),),
        {
            "es": "En el gradiente de la vecina falta restar 1: la derivada de −log σ(s) es "
            "σ(s) − 1, y se anula cuando el modelo ya está seguro.",
            "en": "The gradient of the neighbour lacks the minus 1: the derivative of −log σ(s) "
            "is σ(s) − 1, and it vanishes once the model is sure.",
        },
    ),
    Misconception(
        "negatives_forgotten",
        (
            _with_gradients(
                lambda loss, a, b, n, center, context, negatives: (
                    loss,
                    (b * center).sum(-1, keepdims=True)
                    / (center * center).sum(-1, keepdims=True)
                    * context,
                    b,
                    n,
                )
            ),
        ),
        {
            "es": "El gradiente de `center` solo tiene la parte de la vecina. `center` está en "
            "todos los productos: suma también la de cada palabra al azar.",
            "en": "The gradient of `center` has only the part of the neighbour. `center` is in "
            "every product: add that of each random word too.",
        },
    ),
    Misconception(
        "own_vector",
        (
            _with_gradients(
                lambda loss, a, b, n, center, context, negatives: (
                    loss,
                    a,
                    (b * center).sum(-1, keepdims=True)
                    / (center * center).sum(-1, keepdims=True)
                    * context,
                    n,
                )
            ),
        ),
        {
            "es": "El gradiente de `context` lleva a `context` mismo. La derivada de c·o respecto "
            "a o es c: en el gradiente de un vector está el *otro*.",
            "en": "The gradient of `context` carries `context` itself. The derivative of c·o with "
            "respect to o is c: the gradient of one vector holds the *other*.",
        },
    ),
    Misconception(
        "gradients_swapped",
        (_with_gradients(lambda loss, a, b, n, *_: (loss, b, a, n)),),
        {
            "es": "Das el gradiente de `context` donde va el de `center`, y al revés. El orden es "
            "pérdida, `center`, `context`, `negatives`.",
            "en": "You give the gradient of `context` where that of `center` belongs, and the "
            "other way round. The order is loss, `center`, `context`, `negatives`.",
        },
    ),
    Misconception(
        "negatives_summed",
        (_with_gradients(lambda loss, a, b, n, *_: (loss, a, b, n.sum(axis=-2))),),
        {
            "es": "Sumas los gradientes de las palabras al azar en uno. Cada una es un vector y "
            "recibe el suyo: la forma es la de `negatives`.",
            "en": "You add the gradients of the random words into one. Each is a vector and gets "
            "its own: the shape is that of `negatives`.",
        },
    ),
    Misconception(
        "softmax",
        (_softmax,),
        {
            "es": "Haces competir a la vecina con las demás en una softmax. Aquí cada producto es "
            "una pregunta aparte, sí o no, con su propia σ.",
            "en": "You make the neighbour compete with the others in a softmax. Here each product "
            "is a question of its own, yes or no, with its own σ.",
        },
    ),
    Misconception(
        "overflow",
        (_overflows, _overflows_otherwise),
        {
            "es": "Con productos grandes σ se redondea a 0 o a 1, y el logaritmo de 0 es −∞. "
            "−log σ(s) es log(1 + e^−s), que `np.logaddexp(0, -s)` calcula y no se desborda.",
            "en": "On large products σ is rounded to 0 or to 1, and the logarithm of 0 is −∞. "
            "−log σ(s) is log(1 + e^−s), which `np.logaddexp(0, -s)` computes without overflow.",
        },
    ),
    Misconception(
        "one_word_only",
        (_one_word,),
        {
            "es": "Funciona con una palabra y no con un lote. Suma siempre sobre el último eje y "
            "añade ejes con `[..., None]`.",
            "en": "It works on one word and not on a batch. Always sum over the last axis, and add "
            "axes with `[..., None]`.",
        },
    ),
)

EXERCISE = Exercise(
    "negative_sampling",
    2,
    ("loss", "d_center", "d_context", "d_negatives"),
    negative_sampling,
    cases,
    MISCONCEPTIONS,
    problem_set="ps1",
)
