"""Chapter 8, `smoothed_cross_entropy`: the loss, and the ways to get it wrong."""

import numpy as np

from attn.exercises.spec import Exercise, Misconception
from attn.reference import smoothed_cross_entropy, softmax


def cases(seed):
    """Return logits and targets: with and without padding and smoothing, and large logits.

    Parameters
    ----------
    seed : int
        Seed of the random numbers; the shapes are always the same.

    Returns
    -------
    list of dict
        With the keys ``logits``, ``targets``, ``pad_id`` and ``smoothing``.
    """
    rng = np.random.default_rng(seed)

    def draw(*shape, vocab_size, smoothing, pad_id=0, lengths=None):
        targets = rng.integers(1, vocab_size, shape)
        targets[targets == pad_id] = 0  # no padding yet
        if lengths is not None:
            targets[np.arange(shape[-1]) >= np.array(lengths)[:, None]] = pad_id
        logits = rng.uniform(-1.5, 1.5, (*shape, vocab_size))
        return {
            "logits": logits,
            "targets": targets,
            "pad_id": np.array(pad_id),
            "smoothing": np.array(smoothing),
        }

    large = draw(3, 4, vocab_size=5, smoothing=0.1, lengths=[4, 1, 2])
    large["logits"][0, 0] += 1000
    large["logits"][1, 0] -= 1000
    gap = draw(2, 3, vocab_size=4, smoothing=0.1, lengths=[3, 2])
    gap["logits"][0, 0, gap["targets"][0, 0]] -= 1000
    return [
        draw(2, vocab_size=3, smoothing=0.0),
        draw(3, vocab_size=4, smoothing=0.2),
        draw(2, 4, vocab_size=6, smoothing=0.0, lengths=[4, 1]),
        draw(3, 5, vocab_size=4, smoothing=0.3, lengths=[1, 5, 2]),
        draw(2, 6, vocab_size=5, smoothing=0.1, lengths=[6, 2], pad_id=3),
        large,
        gap,
    ]


def _log_softmax(logits):
    shifted = logits - logits.max(axis=-1, keepdims=True)
    return shifted - np.log(np.exp(shifted).sum(axis=-1, keepdims=True))


def _rounded(least):
    """Return the logarithm of a probability that is already rounded."""

    def log_softmax(logits):
        with np.errstate(divide="ignore"):
            return np.log(softmax(logits) + least)

    return log_softmax


def _at(log_p, targets):
    return np.take_along_axis(log_p, targets[..., None], axis=-1)[..., 0]


def _mixed(log_p, targets, smoothing):
    return -(1 - smoothing) * _at(log_p, targets) - smoothing * log_p.mean(axis=-1)


def _loss(log_softmax=_log_softmax, mix=_mixed, reduce=None):
    """Return a loss with one of its three parts replaced."""

    def wrong(logits, targets, pad_id, smoothing):
        losses = mix(log_softmax(logits), targets, smoothing)
        counts = targets != pad_id
        return losses[counts].mean() if reduce is None else reduce(losses, counts)

    return wrong


def _others_only(log_p, targets, smoothing):
    right = _at(log_p, targets)
    others = (log_p.sum(axis=-1) - right) / (log_p.shape[-1] - 1)
    return -(1 - smoothing) * right - smoothing * others


def _without_padding_column(logits, targets, pad_id, smoothing):
    log_p = _log_softmax(logits)
    shared = np.delete(log_p, int(pad_id), axis=-1).mean(axis=-1)
    losses = -(1 - smoothing) * _at(log_p, targets) - smoothing * shared
    return losses[targets != pad_id].mean()


def _mean_of_rows(losses, counts):
    rows = np.atleast_2d(losses * counts).sum(axis=-1) / np.atleast_2d(counts).sum(axis=-1)
    return rows.mean()


def _unshifted_log_softmax(logits):
    return np.log(np.exp(logits) / np.exp(logits).sum(axis=-1, keepdims=True))


def _pad_id_zero(logits, targets, pad_id, smoothing):
    return smoothed_cross_entropy(logits, targets, 0, smoothing)


MISCONCEPTIONS = (
    Misconception(
        "padding_counted",
        (_loss(reduce=lambda losses, counts: losses.mean()),),
        {
            "es": "Cuentas también el relleno: el modelo ganaría por decir `<pad>` donde no hay "
            "nada que traducir. Quédate con las posiciones en que `targets != pad_id` antes de "
            "hacer la media.",
            "en": "You count the padding too: the model would gain by saying `<pad>` where there is "
            "nothing to translate. Keep the positions where `targets != pad_id` before you take "
            "the mean.",
        },
    ),
    Misconception(
        "divided_by_everything",
        (_loss(reduce=lambda losses, counts: (losses * counts).mean()),),
        {
            "es": "Pones a cero la pérdida del relleno, pero divides entre todas las posiciones: "
            "cuanto más relleno, menor parece la pérdida. Divide entre cuántas cuentan, "
            "`(targets != pad_id).sum()`.",
            "en": "You set the loss of the padding to zero, but divide by all positions: the more "
            "padding, the smaller the loss looks. Divide by how many count, "
            "`(targets != pad_id).sum()`.",
        },
    ),
    Misconception(
        "mean_of_sentences",
        (_loss(reduce=_mean_of_rows),),
        {
            "es": "Haces la media de cada oración y luego la media de esas medias. Así una palabra "
            "de una oración corta pesa más que una de una larga: la media va sobre todos los "
            "tokens del lote a la vez.",
            "en": "You take the mean of each sentence and then the mean of those means. A word of a "
            "short sentence then weighs more than one of a long sentence: the mean is over all "
            "tokens of the batch at once.",
        },
    ),
    Misconception(
        "sum",
        (_loss(reduce=lambda losses, counts: losses[counts].sum()),),
        {
            "es": "Devuelves la suma. Crece con el tamaño del lote, y con ella el gradiente: divide "
            "entre el número de posiciones que cuentan.",
            "en": "You return the sum. It grows with the size of the batch, and the gradient with "
            "it: divide by the number of positions that count.",
        },
    ),
    Misconception(
        "shared_among_the_others",
        (_loss(mix=_others_only),),
        {
            "es": "Repartes ε solo entre las palabras equivocadas. En la fórmula de este capítulo, "
            "que es la de PyTorch, ε se reparte entre todo el vocabulario, la correcta incluida: "
            "usa la media de −log p sobre todo el último eje.",
            "en": "You share ε among the wrong words only. In the formula of this chapter, which is "
            "PyTorch's, ε is shared over the whole vocabulary, the right word included: use the "
            "mean of −log p over the whole last axis.",
        },
    ),
    Misconception(
        "padding_not_in_the_vocabulary",
        (_without_padding_column,),
        {
            "es": "Al repartir ε dejas fuera la columna de `<pad>`. Es una variante que existe, "
            "pero aquí el relleno es un token más del vocabulario: lo que no cuenta son las "
            "*posiciones* cuyo objetivo es relleno.",
            "en": "When you share out ε you leave out the column of `<pad>`. That variant exists, "
            "but here padding is one more token of the vocabulary: what does not count are the "
            "*positions* whose target is padding.",
        },
    ),
    Misconception(
        "shared_in_full",
        (_loss(mix=lambda l, t, e: -(1 - e) * _at(l, t) - e * l.sum(axis=-1)),),
        {
            "es": "Multiplicas ε por la suma de −log p y no por su media: das ε a cada palabra, y "
            "lo que pides suma mucho más que 1. Cada una recibe ε/V: cambia `sum` por `mean`.",
            "en": "You multiply ε by the sum of −log p and not by its mean: each word is given ε, "
            "and what you ask for sums to far more than 1. Each gets ε/V: change `sum` to `mean`.",
        },
    ),
    Misconception(
        "nothing_taken_away",
        (_loss(mix=lambda l, t, e: -_at(l, t) - e * l.mean(axis=-1)),),
        {
            "es": "Repartes ε, pero no se lo quitas a la palabra correcta: lo que pides suma 1 + ε. "
            "Multiplica −log p de la correcta por `1 - smoothing`.",
            "en": "You share out ε without taking it from the right word: what you ask for sums to "
            "1 + ε. Multiply −log p of the right word by `1 - smoothing`.",
        },
    ),
    Misconception(
        "no_smoothing",
        (_loss(mix=lambda l, t, e: -_at(l, t)),),
        {
            "es": "No usas `smoothing`: es la entropía cruzada corriente, y con ε = 0 sería "
            "correcta. Falta mezclar dos partes: `1 - smoothing` de −log p de la correcta y "
            "`smoothing` de la media de −log p.",
            "en": "You do not use `smoothing`: this is plain cross-entropy, and would be right with "
            "ε = 0. Two parts are to be mixed: `1 - smoothing` of −log p of the right word and "
            "`smoothing` of the mean of −log p.",
        },
    ),
    Misconception(
        "shares_exchanged",
        (_loss(mix=lambda l, t, e: _mixed(l, t, 1 - e)),),
        {
            "es": "Los dos pesos están cambiados: das ε a la palabra correcta y 1 − ε al reparto. "
            "ε es lo poco que se quita, así que la correcta lleva `1 - smoothing`.",
            "en": "The two shares are exchanged: you give ε to the right word and 1 − ε to all. ε "
            "is the little that is taken away, so the right word has `1 - smoothing`.",
        },
    ),
    Misconception(
        "softmax_twice",
        (_loss(log_softmax=lambda z: _log_softmax(softmax(z))),),
        {
            "es": "La softmax se aplica dos veces: `logits` aún no son probabilidades, y la segunda "
            "aplana todas las diferencias. Usa una sola, y su logaritmo.",
            "en": "The softmax is applied twice: the `logits` become probabilities once, and the "
            "second time flattens all differences. Use a single one, and its logarithm.",
        },
    ),
    Misconception(
        "no_softmax",
        (_loss(log_softmax=lambda z: z),),
        {
            "es": "Usas los logits como si ya fueran logaritmos de probabilidades. Les falta restar "
            "el logaritmo de la suma de sus exponenciales, sobre el último eje.",
            "en": "You use the logits as if they were logarithms of probabilities already. The "
            "logarithm of the sum of their exponentials, over the last axis, is to be subtracted "
            "first.",
        },
    ),
    Misconception(
        "no_logarithm",
        (_loss(log_softmax=softmax),),
        {
            "es": "Falta el logaritmo: mezclas probabilidades. Con −p, equivocarse con total "
            "seguridad costaría apenas 1 más que acertar; con −log p no tiene límite.",
            "en": "The logarithm is missing: you mix probabilities. With −p, being wrong with full "
            "certainty would cost just 1 more than being right; with −log p there is no limit.",
        },
    ),
    Misconception(
        "sign",
        (lambda z, t, p, e: -smoothed_cross_entropy(z, t, p, e),),
        {
            "es": "El signo está al revés. Los logaritmos de probabilidades son negativos; la "
            "pérdida lleva un menos delante, así que es positiva y baja cuando el modelo mejora.",
            "en": "The sign is the wrong way round. Logarithms of probabilities are negative; the "
            "loss has a minus in front, so that it is positive and falls as the model improves.",
        },
    ),
    Misconception(
        "bits",
        (lambda z, t, p, e: smoothed_cross_entropy(z, t, p, e) / np.log(2),),
        {
            "es": "Mides en bits, con el logaritmo en base 2. El curso y PyTorch usan el natural: "
            "`np.log` en vez de `np.log2`.",
            "en": "You measure in bits, with the logarithm in base 2. The course and PyTorch use "
            "the natural one: `np.log` instead of `np.log2`.",
        },
    ),
    Misconception(
        "loss_overflow",
        (_loss(log_softmax=_unshifted_log_softmax),),
        {
            "es": "Con logits de 1000, `np.exp` se desborda, y con −1000 el logaritmo recibe un 0. "
            "Resta antes a cada fila su máximo, y calcula el logaritmo de la suma, nunca el de una "
            "probabilidad ya redondeada.",
            "en": "With logits of 1000, `np.exp` overflows, and with −1000 the logarithm is handed "
            "a 0. Subtract each row's maximum first, and take the logarithm of the sum, never that "
            "of a probability already rounded.",
        },
    ),
    Misconception(
        "log_of_a_probability",
        (
            _loss(log_softmax=_rounded(0.0)),
            _loss(log_softmax=_rounded(1e-9)),
        ),
        {
            "es": "Calculas la probabilidad y después su logaritmo: con una ventaja de 1000 la "
            "probabilidad se redondea a 0. Resta el logaritmo de la suma: `z - log(sum(exp(z)))`.",
            "en": "You compute the probability and then its logarithm: with a gap of 1000 the "
            "probability rounds to 0. Subtract the logarithm of the sum: `z - log(sum(exp(z)))`.",
        },
    ),
    Misconception(
        "padding_is_zero",
        (_pad_id_zero,),
        {
            "es": "Das por hecho que el relleno es el token 0. Otro vocabulario puede ponerlo en "
            "otro sitio, y ahí el 0 es una palabra: compara con `pad_id`.",
            "en": "You take it that padding is token 0. Another vocabulary may put it elsewhere, "
            "and there 0 is a word: compare with `pad_id`.",
        },
    ),
)

EXERCISE = Exercise(
    "smoothed_cross_entropy", 8, ("loss",), smoothed_cross_entropy, cases, MISCONCEPTIONS
)
