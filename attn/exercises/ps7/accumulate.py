"""Problem set 7, `mended_accumulation`: one large batch in parts, and what becomes of its mean."""

import numpy as np

from attn.exercises.spec import Exercise, Misconception
from attn.reference import smoothed_cross_entropy, softmax


def mended_accumulation(x, targets, counts, w):
    """Return the mean loss of all the tokens that count, and its gradient."""
    rows, asked = x[counts], targets[counts]
    loss = smoothed_cross_entropy(rows @ w, asked, pad_id=-1)
    slopes = softmax(rows @ w) - np.eye(w.shape[1])[asked]
    return loss, rows.T @ slopes / len(rows)


def cases(seed):
    """Return batches in parts: uneven ones, empty ones, and one with large logits.

    Parameters
    ----------
    seed : int
        Seed of the random numbers; the shapes are always the same.

    Returns
    -------
    list of dict
        With the keys ``x``, ``targets``, ``counts`` and ``w``.
    """
    rng = np.random.default_rng(seed)

    def draw(n_tokens, d_model, vocab_size, lengths):
        n_parts = len(lengths)
        targets = rng.integers(vocab_size, size=(n_parts, n_tokens))
        # The first part asks for one token alone, so that parts differ whatever the seed.
        targets[0] = 0
        return {
            "x": rng.uniform(0.3, 1.2, (n_parts, n_tokens, d_model)),
            "targets": targets,
            "counts": np.arange(n_tokens) < np.array(lengths)[:, None],
            "w": rng.uniform(-1, 1, (d_model, vocab_size)),
        }

    large = draw(4, 3, 5, [4, 2])
    large["w"][0] += 3000  # the same for every token: large logits, ordinary probabilities
    gaps = draw(5, 2, 4, [5, 2, 3])
    gaps["counts"] = gaps["counts"][:, ::-1].copy()
    return [
        draw(4, 2, 3, [4, 1]),
        draw(5, 3, 4, [2, 5, 3]),
        gaps,
        draw(3, 2, 4, [3, 0]),
        draw(6, 4, 3, [0, 5, 2, 0]),
        large,
    ]


def _log_softmax(z):
    shifted = z - z.max(axis=-1, keepdims=True)
    return shifted - np.log(np.exp(shifted).sum(axis=-1, keepdims=True))


def _unshifted(z):
    return z - np.log(np.exp(z).sum(axis=-1, keepdims=True))


def _unshifted_share(z):
    return np.log(np.exp(z) / np.exp(z).sum(axis=-1, keepdims=True))


def _by_weights(share, share_of_slope=None, log_softmax=_log_softmax, change=None, exact=True):
    """Return an accumulation in which token n of part k has the weight ``share(counts)[k, n]``."""

    def wrong(x, targets, counts, w):
        y = np.eye(w.shape[1])[targets]
        log_p = log_softmax(x @ w)
        losses = -(np.where(y > 0, log_p, 0) if exact else y * log_p).sum(axis=-1)
        of_loss, of_slope = share(counts), (share_of_slope or share)(counts)
        # What does not count is left out, for infinity times 0 is NaN.
        loss = (of_loss * np.where(of_loss == 0, 0, losses)).sum()
        slopes = np.where(of_slope[..., None] == 0, 0, np.exp(log_p) - y)
        gradient = np.einsum("kn,knd,knv->dv", of_slope, x, slopes)
        return (loss, gradient) if change is None else change(loss, gradient)

    return wrong


def _all_together(counts):
    return counts / counts.sum()


def _mean_of_means(counts):
    return counts / counts.sum(axis=1, keepdims=True) / len(counts)


def _mean_of_filled(counts):
    sizes = counts.sum(axis=1, keepdims=True)
    return counts / np.maximum(sizes, 1) / (sizes > 0).sum()


def _forgiving(counts):
    return counts / np.maximum(counts.sum(axis=1, keepdims=True), 1) / len(counts)


def _sum_of_means(counts):
    return counts / np.maximum(counts.sum(axis=1, keepdims=True), 1)


def _everything(counts):
    return np.full(counts.shape, 1 / counts.size)


def _over_size(counts):
    return counts / counts.size


def _over_parts(counts):
    return counts / len(counts)


def _summed(counts):
    return counts.astype(float)


def _last_only(counts):
    weights = counts / counts.sum()
    weights[:-1] = 0
    return weights


def _last_alone(counts):
    weights = counts / np.maximum(counts[-1].sum(), 1)
    weights[:-1] = 0
    return weights


def _twice(counts):
    return counts * counts.sum(axis=1, keepdims=True) / counts.sum()


def _undone(counts):
    sizes = counts.sum(axis=1, keepdims=True)
    return counts / sizes * (sizes / counts.sum())


MISCONCEPTIONS = (
    Misconception(
        "mean_of_means",
        (
            _by_weights(_mean_of_means),
            _by_weights(_forgiving),
            _by_weights(_mean_of_filled),
        ),
        {
            "es": "Cada parte pesa lo mismo, tenga los tokens que tenga: es la media de las medias. "
            "Acumula sumas, y divide una vez entre los tokens de todas las partes.",
            "en": "Every part weighs the same, however many tokens it has: this is the mean of the "
            "means. Accumulate sums, and divide once by the tokens of all the parts.",
        },
    ),
    Misconception(
        "only_the_loss",
        (
            _by_weights(_all_together, _mean_of_means),
            _by_weights(_all_together, _forgiving),
        ),
        {
            "es": "La pérdida ya es la de todo el lote, y el gradiente sigue siendo una media de "
            "medias. La pérdida solo se mira; el gradiente es el que mueve los pesos.",
            "en": "The loss is that of the whole batch now, and the gradient is still a mean of "
            "means. The loss is only looked at; it is the gradient that moves the weights.",
        },
    ),
    Misconception(
        "only_the_gradient",
        (
            _by_weights(_mean_of_means, _all_together),
            _by_weights(_forgiving, _all_together),
        ),
        {
            "es": "El gradiente está arreglado y la pérdida no: ya no es la función cuya derivada "
            "devuelves. Divide las dos entre el mismo número.",
            "en": "The gradient is mended and the loss is not: it is no longer the function whose "
            "derivative you return. Divide both by the same number.",
        },
    ),
    Misconception(
        "never_divided",
        (_by_weights(_summed),),
        {
            "es": "Acumulas las sumas y no divides. El paso crecería con el tamaño del lote: al "
            "terminar el bucle, divide entre cuántos tokens cuentan.",
            "en": "You accumulate the sums and do not divide. The step would grow with the size of "
            "the batch: when the loop is over, divide by how many tokens count.",
        },
    ),
    Misconception(
        "sum_of_means",
        (
            _by_weights(_sum_of_means),
            _by_weights(lambda counts: counts / counts.sum(axis=1, keepdims=True)),
        ),
        {
            "es": "Sumas las medias de las partes: partir el mismo lote en el doble daría un "
            "gradiente el doble de grande. Lo que se suma son pérdidas de tokens.",
            "en": "You sum the means of the parts: to cut the same batch into twice as many would "
            "give a gradient twice as large. What is summed is losses of tokens.",
        },
    ),
    Misconception(
        "over_the_parts",
        (_by_weights(_over_parts),),
        {
            "es": "Divides entre cuántas partes hay, y lo sumado son tokens. El divisor cuenta lo "
            "mismo que se suma.",
            "en": "You divide by how many parts there are, and what was summed is tokens. The "
            "divisor counts what is summed.",
        },
    ),
    Misconception(
        "over_the_size",
        (_by_weights(_over_size),),
        {
            "es": "Divides entre el tamaño de `counts`, que incluye los lugares donde es False. "
            "Cuántos tokens cuentan es su suma.",
            "en": "You divide by the size of `counts`, which includes the places where it is False. "
            "How many tokens count is its sum.",
        },
    ),
    Misconception(
        "counts_ignored",
        (_by_weights(_everything),),
        {
            "es": "Entra todo, también donde `counts` es False. Esos lugares son relleno: fuera de "
            "la pérdida, del gradiente y de la cuenta.",
            "en": "Everything enters, also where `counts` is False. Those places are padding: out "
            "of the loss, of the gradient and of the count.",
        },
    ),
    Misconception(
        "last_part_only",
        (_by_weights(_last_only), _by_weights(_last_alone)),
        {
            "es": "Solo queda la última parte: el bucle borra o sustituye lo que había. Acumular es "
            "sumar a lo de antes.",
            "en": "Only the last part is left: the loop clears or replaces what was there. To "
            "accumulate is to add to what came before.",
        },
    ),
    Misconception(
        "weighted_twice",
        (_by_weights(_twice),),
        {
            "es": "Pesas dos veces: cada parte lleva la suma de sus tokens y, encima, se multiplica "
            "por cuántos son. O suma, o media por tamaño; no las dos.",
            "en": "You weight twice: each part has the sum of its tokens and is then multiplied by "
            "how many they are. Either the sum or the mean times the size; not both.",
        },
    ),
    Misconception(
        "empty_part",
        (_by_weights(_undone),),
        {
            "es": "La media de una parte vacía es 0 entre 0, y un NaN sumado lo vuelve todo NaN, "
            "aunque después se multiplique por 0 tokens. Con sumas no hay nada que proteger.",
            "en": "The mean of an empty part is 0 over 0, and one NaN in a sum makes all of it NaN, "
            "even if it is then multiplied by 0 tokens. With sums there is nothing to protect.",
        },
    ),
    Misconception(
        "opposite_gradient",
        (_by_weights(_all_together, change=lambda loss, gradient: (loss, -gradient)),),
        {
            "es": "Cambiaste el signo del gradiente, que estaba bien: son las probabilidades menos "
            "lo pedido.",
            "en": "You changed the sign of the gradient, which was right: it is the probabilities "
            "minus what is asked for.",
        },
    ),
    Misconception(
        "gradient_transposed",
        (_by_weights(_all_together, change=lambda loss, gradient: (loss, gradient.T)),),
        {
            "es": "El gradiente sale traspuesto. Debe tener la forma de `w`, para poder restarlo de "
            "ella.",
            "en": "The gradient comes out transposed. It must have the shape of `w`, so that it can "
            "be subtracted from it.",
        },
    ),
    Misconception(
        "maximum_dropped",
        (
            _by_weights(_all_together, log_softmax=_unshifted),
            _by_weights(_all_together, log_softmax=_unshifted, exact=False),
            _by_weights(_all_together, log_softmax=_unshifted_share),
            _by_weights(_all_together, log_softmax=_unshifted_share, exact=False),
        ),
        {
            "es": "Quitaste la resta del máximo, y con logits de cientos la exponencial no cabe. "
            "Esa línea estaba bien: devuélvela a su sitio.",
            "en": "You removed the subtraction of the maximum, and with logits in the hundreds the "
            "exponential does not fit. That line was right: put it back.",
        },
    ),
)

EXERCISE = Exercise(
    "mended_accumulation",
    8,
    ("loss", "gradient"),
    mended_accumulation,
    cases,
    MISCONCEPTIONS,
    problem_set="ps7",
)
