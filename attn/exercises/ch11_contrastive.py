"""Chapter 11, `contrastive_loss`: which caption belongs to which image; and slips."""

import numpy as np

from attn.exercises.spec import Exercise, Misconception
from attn.reference import contrastive_loss


def cases(seed):
    """Return inputs: batches of pairs, vectors of other lengths, a very low temperature.

    Parameters
    ----------
    seed : int
        Seed of the random numbers; the shapes are always the same.

    Returns
    -------
    list of dict
        With the keys ``images``, ``texts`` and ``temperature``.
    """
    rng = np.random.default_rng(seed)

    def draw(batch_size, d_model, temperature):
        lengths = rng.uniform(0.5, 2.0, size=(2, batch_size, 1))
        images, noise = rng.normal(size=(2, batch_size, d_model))
        # One vector is the longest by far: who forgets to normalise cannot be near.
        lengths[:, 0] = 3.0
        texts = 0.5 * images + noise
        return {
            "images": images * lengths[0],
            "texts": texts * lengths[1],
            "temperature": np.array(temperature),
        }

    shapes = ((2, 3, 0.5), (3, 2, 0.7), (4, 5, 0.2), (5, 8, 1.5), (6, 4, 0.07), (7, 16, 0.3))
    # Each image is nearest to another's text, and the temperature makes logits of 1000 of that.
    images = 2 * np.eye(4) + rng.uniform(-0.1, 0.1, size=(4, 4))
    cold = {
        "images": images,
        "texts": np.roll(images, 1, axis=0) * 0.7,
        "temperature": np.array(0.001),
    }
    return [*(draw(*shape) for shape in shapes), cold]


def _unit(x, axis=-1):
    return x / np.linalg.norm(x, axis=axis, keepdims=True)


def _log_softmax(z, axis=-1):
    z = z - z.max(axis=axis, keepdims=True)
    return z - np.log(np.exp(z).sum(axis=axis, keepdims=True))


def _both(logits, log_softmax=_log_softmax, reduce=np.mean):
    rows, columns = (reduce(-np.diagonal(log_softmax(z))) for z in (logits, logits.T))
    return (rows + columns) / 2


def _logits(images, texts, temperature):
    return _unit(images) @ _unit(texts).T / temperature


def _loss(logits=_logits, loss=_both):
    """Return the right function, but for the parts that are given."""
    return lambda images, texts, temperature: loss(logits(images, texts, temperature))


def _cosines(images, texts):
    return _unit(images) @ _unit(texts).T


def _without_partner(z):
    kept = np.where(np.eye(len(z), dtype=bool), -np.inf, z)
    top = kept.max(axis=-1, keepdims=True)
    return z - top - np.log(np.exp(kept - top).sum(axis=-1, keepdims=True))


def _unshifted(z):
    return z - np.log(np.exp(z).sum(axis=-1, keepdims=True))


def _log_of_softmax(z):
    powers = np.exp(z - z.max(axis=-1, keepdims=True))
    return np.log(powers / powers.sum(axis=-1, keepdims=True))


def _flat(z):
    return -np.diagonal(_log_softmax(z.ravel()).reshape(z.shape)).mean()


def _log_of_mean(z):
    chances = [np.diagonal(np.exp(_log_softmax(m))).mean() for m in (z, z.T)]
    return -np.log(chances).mean()


MISCONCEPTIONS = (
    Misconception(
        "not_normalised",
        (
            _loss(lambda i, t, s: i @ t.T / s),
            _loss(lambda i, t, s: _unit(i) @ t.T / s),
            _loss(lambda i, t, s: i @ _unit(t).T / s),
        ),
        {
            "es": "Los productos punto no son cosenos: falta dividir los vectores entre su norma, "
            "los de imágenes y los de textos. Si no, un vector largo gana todas las "
            "comparaciones.",
            "en": "The dot products are no cosines: the vectors, of images and of texts, are still "
            "to be divided by their norms. Otherwise a long vector wins every comparison.",
        },
    ),
    Misconception(
        "normalised_over_the_batch",
        (_loss(lambda i, t, s: _unit(i, 0) @ _unit(t, 0).T / s),),
        {
            "es": "Normalizas las columnas: cada componente a través del lote. La norma es la de "
            "cada fila, `axis=-1`, que es el vector de un ejemplo.",
            "en": "You normalise the columns: each component across the batch. The norm is that of "
            "each row, `axis=-1`, which is the vector of one example.",
        },
    ),
    Misconception(
        "images_only",
        (_loss(loss=lambda z: -np.diagonal(_log_softmax(z)).mean()),),
        {
            "es": "Solo buscas el texto de cada imagen. La otra mitad de la pérdida busca la imagen "
            "de cada texto: la misma matriz, traspuesta.",
            "en": "You only look for the text of each image. The other half of the loss looks for "
            "the image of each text: the same matrix, transposed.",
        },
    ),
    Misconception(
        "texts_only",
        (_loss(loss=lambda z: -np.diagonal(_log_softmax(z.T)).mean()),),
        {
            "es": "Solo buscas la imagen de cada texto: tu softmax va por columnas. Calcula también "
            "la de las filas y toma la media de las dos.",
            "en": "You only look for the image of each text: your softmax runs down the columns. "
            "Compute that of the rows too and take the mean of the two.",
        },
    ),
    Misconception(
        "not_halved",
        (_loss(loss=lambda z: 2 * _both(z)),),
        {
            "es": "Sumas las dos direcciones. Se pide su media: divide entre 2.",
            "en": "You sum the two directions. Their mean is asked for: divide by 2.",
        },
    ),
    Misconception(
        "summed_over_the_batch",
        (_loss(loss=lambda z: _both(z, reduce=np.sum)),),
        {
            "es": "Sumas los ejemplos, así que un lote mayor parece peor. Toma la media de las "
            "filas.",
            "en": "You sum over the examples, so that a larger batch looks worse. Take the mean of "
            "the rows.",
        },
    ),
    Misconception(
        "temperature_multiplied",
        (_loss(lambda i, t, s: _cosines(i, t) * s),),
        {
            "es": "Multiplicas por la temperatura. Los cosenos se dividen entre ella: con 0.07, la "
            "diferencia entre 1 y −1 pasa a ser de casi 29.",
            "en": "You multiply by the temperature. The cosines are divided by it: at 0.07 the "
            "difference between 1 and −1 becomes nearly 29.",
        },
    ),
    Misconception(
        "temperature_forgotten",
        (_loss(lambda i, t, s: _cosines(i, t)),),
        {
            "es": "No usas `temperature`. Los cosenos van de −1 a 1, y la softmax de números tan "
            "juntos es casi plana: divídelos antes.",
            "en": "You do not use `temperature`. Cosines lie from −1 to 1, and the softmax of "
            "numbers so close together is almost flat: divide them first.",
        },
    ),
    Misconception(
        "temperature_rooted",
        (_loss(lambda i, t, s: _cosines(i, t) / np.sqrt(s)),),
        {
            "es": "Divides entre la raíz de la temperatura. Aquí no hay raíz, la de $d_k$ tampoco: "
            "los vectores ya tienen norma 1.",
            "en": "You divide by the root of the temperature. There is no root here, nor that of "
            "$d_k$: the vectors already have norm 1.",
        },
    ),
    Misconception(
        "one_softmax_for_the_matrix",
        (_loss(loss=_flat),),
        {
            "es": "Tu softmax reparte 1 entre toda la matriz. Cada fila es una pregunta por sí "
            "sola, y cada columna otra: normaliza en el último eje de `logits` y de `logits.T`.",
            "en": "Your softmax shares 1 over the whole matrix. Each row is a question of its own, "
            "and so is each column: normalise along the last axis of `logits` and of `logits.T`.",
        },
    ),
    Misconception(
        "partner_left_out",
        (_loss(loss=lambda z: _both(z, _without_partner)),),
        {
            "es": "El denominador suma solo los ajenos. En una softmax el término correcto también "
            "está abajo; sin él, el cociente no es una probabilidad y pasa de 1.",
            "en": "The denominator sums only the others. In a softmax the right term is below as "
            "well; without it the quotient is no probability and exceeds 1.",
        },
    ),
    Misconception(
        "only_pulled",
        (
            _loss(loss=lambda z: -np.diagonal(z).mean()),
            lambda i, t, s: 1 - np.diagonal(_cosines(i, t)).mean(),
            lambda i, t, s: -np.diagonal(_cosines(i, t)).mean(),
        ),
        {
            "es": "Solo acercas cada imagen a su texto. El mínimo es darles a todas el mismo "
            "vector, que no distingue nada: hace falta la softmax, que aleja de los demás.",
            "en": "You only pull each image towards its text. The minimum is to give all of them "
            "the same vector, which tells nothing apart: it takes the softmax, which pushes away "
            "from the others.",
        },
    ),
    Misconception(
        "sign",
        (_loss(loss=lambda z: -_both(z)),),
        {
            "es": "El signo está al revés: el logaritmo de una probabilidad es negativo, y la "
            "pérdida lleva un menos delante.",
            "en": "The sign is the wrong way round: the logarithm of a probability is negative, and "
            "the loss has a minus in front.",
        },
    ),
    Misconception(
        "bits",
        (_loss(loss=lambda z: _both(z) / np.log(2)),),
        {
            "es": "Mides en bits. Usa el logaritmo natural, como en el capítulo 8.",
            "en": "You measure in bits. Use the natural logarithm, as in chapter 8.",
        },
    ),
    Misconception(
        "log_of_the_mean",
        (_loss(loss=_log_of_mean),),
        {
            "es": "Tomas la media de las probabilidades y luego su logaritmo. Es al revés: un "
            "logaritmo por ejemplo, y la media de ellos.",
            "en": "You take the mean of the probabilities and then its logarithm. It is the other "
            "way round: one logarithm for each example, and the mean of those.",
        },
    ),
    Misconception(
        "overflow",
        (
            _loss(loss=lambda z: _both(z, _unshifted)),
            _loss(loss=lambda z: _both(z, _log_of_softmax)),
        ),
        {
            "es": "Con temperatura 0.001 los logits llegan a 1000: la exponencial se desborda, o "
            "una probabilidad se redondea a 0 y su logaritmo no existe. Resta el máximo de cada "
            "fila y después el logaritmo de la suma.",
            "en": "At temperature 0.001 the logits reach 1000: the exponential overflows, or a "
            "probability rounds to 0 and its logarithm does not exist. Subtract each row's maximum "
            "and then the logarithm of the sum.",
        },
    ),
)

EXERCISE = Exercise("contrastive_loss", 11, ("loss",), contrastive_loss, cases, MISCONCEPTIONS)
