"""Problem set 7, `next_token_loss`: what each position is asked for, and the slope of its cost."""

import numpy as np

from attn.exercises.spec import Exercise, Misconception
from attn.reference import smoothed_cross_entropy, softmax


def next_token_loss(logits, ids, pad_id, smoothing):
    """Return the smoothed loss of predicting each next token, and its gradient."""
    targets = ids[:, 1:]
    loss = smoothed_cross_entropy(logits[:, :-1], targets, pad_id, smoothing)
    vocab_size = logits.shape[-1]
    wanted = (1 - smoothing) * np.eye(vocab_size)[targets] + smoothing / vocab_size
    counts = (targets != pad_id)[..., None]
    gradient = np.zeros(logits.shape)
    gradient[:, :-1] = counts * (softmax(logits[:, :-1]) - wanted) / counts.sum()
    return loss, gradient


def cases(seed):
    """Return logits and ids: with and without smoothing and padding, and large logits.

    Parameters
    ----------
    seed : int
        Seed of the random numbers; the shapes are always the same.

    Returns
    -------
    list of dict
        With the keys ``logits``, ``ids``, ``pad_id`` and ``smoothing``.
    """
    rng = np.random.default_rng(seed)

    def draw(batch, seq_len, vocab_size, smoothing=0.0, pad_id=0, lengths=None):
        # No token follows itself, so that asking for the one just read is always wrong.
        ids = np.empty((batch, seq_len), dtype=int)
        ids[:, 0] = 1
        for i in range(1, seq_len):
            choices = [np.setdiff1d(np.arange(1, vocab_size), [last]) for last in ids[:, i - 1]]
            ids[:, i] = [rng.choice(some) for some in choices]
        ids[ids == pad_id] = 0  # no padding yet
        if lengths is not None:
            ids[np.arange(seq_len) >= np.array(lengths)[:, None]] = pad_id
        return {
            "logits": rng.uniform(-1.5, 1.5, (batch, seq_len, vocab_size)),
            "ids": ids,
            "pad_id": np.array(pad_id),
            "smoothing": np.array(smoothing),
        }

    large = draw(2, 5, 4, 0.1, lengths=[5, 3])
    large["logits"][0, 0] += 1000
    large["logits"][1, 0] -= 1000
    gap = draw(2, 4, 3)
    gap["logits"][0, 0, gap["ids"][0, 1]] -= 1000
    return [
        draw(2, 3, 4),
        draw(3, 4, 5),
        draw(1, 5, 6),
        draw(2, 3, 4, 0.2),
        draw(3, 5, 6, 0.1),
        draw(2, 4, 3, lengths=[4, 2]),
        draw(3, 6, 5, 0.1, lengths=[2, 6, 4]),
        draw(2, 5, 7, 0.3, pad_id=4, lengths=[5, 3]),
        large,
        gap,
    ]


def _next(ids, pad_id):
    return np.concatenate([ids[:, 1:], np.full_like(ids[:, :1], pad_id)], axis=1)


def _same(ids, pad_id):
    return ids


def _previous(ids, pad_id):
    return np.concatenate([np.full_like(ids[:, :1], pad_id), ids[:, :-1]], axis=1)


def _real(targets, ids, pad_id):
    return targets != pad_id


def _all_but_last(targets, ids, pad_id):
    return np.broadcast_to(np.arange(ids.shape[1]) < ids.shape[1] - 1, ids.shape)


def _by_what_is_read(targets, ids, pad_id):
    return _all_but_last(targets, ids, pad_id) & (ids != pad_id)


def _smoothed(y, smoothing):
    return (1 - smoothing) * y + smoothing / y.shape[-1]


def _shared_in_full(y, smoothing):
    return (1 - smoothing) * y + smoothing


def _added_on_top(y, smoothing):
    return y + smoothing / y.shape[-1]


def _among_others(y, smoothing):
    return (1 - smoothing) * y + smoothing * (1 - y) / (y.shape[-1] - 1)


def _unsmoothed(y, smoothing):
    return y


def _log_softmax(logits):
    shifted = logits - logits.max(axis=-1, keepdims=True)
    return shifted - np.log(np.exp(shifted).sum(axis=-1, keepdims=True))


def _unshifted(logits):
    return logits - np.log(np.exp(logits).sum(axis=-1, keepdims=True))


def _unshifted_share(logits):
    return np.log(np.exp(logits) / np.exp(logits).sum(axis=-1, keepdims=True))


def _rounded(least):
    return lambda logits: np.log(softmax(logits) + least)


def _of_batch(counts):
    return counts / counts.sum()


def _of_sentences(counts):
    return counts / counts.sum(axis=1, keepdims=True) / len(counts)


def _careful(wanted, log_p):
    return -np.where(wanted > 0, wanted * log_p, 0).sum(axis=-1)


def _plain(wanted, log_p):
    return -(wanted * log_p).sum(axis=-1)


def _difference(p, wanted):
    return p - wanted


def _variant(
    place=_next,
    count=_real,
    want=_smoothed,
    want_in_slope=None,
    log_softmax=_log_softmax,
    cost=_careful,
    share=_of_batch,
    share_of_slope=None,
    slope=_difference,
):
    """Return the loss and the gradient with one of their parts replaced."""

    def wrong(logits, ids, pad_id, smoothing):
        targets = place(ids, pad_id)
        counts = count(targets, ids, pad_id)
        y = np.eye(logits.shape[-1])[targets]
        log_p = log_softmax(logits)
        losses = np.where(counts, cost(want(y, smoothing), log_p), 0)
        loss = (losses * share(counts)).sum()
        slopes = slope(np.exp(log_p), (want_in_slope or want)(y, smoothing))
        return loss, slopes * (share_of_slope or share)(counts)[..., None]

    return wrong


def _with(change):
    def wrong(logits, ids, pad_id, smoothing):
        loss, gradient = next_token_loss(logits, ids, pad_id, smoothing)
        return change(loss, gradient, ids, pad_id)

    return wrong


def _mass_kept(p, wanted):
    """Return the slope of a loss whose target sums to something other than 1."""
    return wanted.sum(axis=-1, keepdims=True) * p - wanted


MISCONCEPTIONS = (
    Misconception(
        "not_shifted",
        (
            _variant(place=_same),
            _variant(place=_same, count=lambda t, i, p: _by_what_is_read(t, i, p)),
        ),
        {
            "es": "Pides a cada posición el token que acaba de leer. Copiar bastaría para acertar: "
            "a la posición `i` se le pide `ids[:, i + 1]`.",
            "en": "You ask each position for the token it has just read. Copying would be enough "
            "to be right: position `i` is asked for `ids[:, i + 1]`.",
        },
    ),
    Misconception(
        "shifted_backwards",
        (_variant(place=_previous),),
        {
            "es": "El desplazamiento va hacia atrás: pides a cada posición el token anterior, que "
            "ya leyó. Los logits pierden la última posición; los ids, la primera.",
            "en": "The shift goes backwards: each position is asked for the token before, which it "
            "has read already. The logits lose their last position; the ids, their first.",
        },
    ),
    Misconception(
        "padding_counted",
        (_variant(count=_all_but_last),),
        {
            "es": "Las posiciones a las que se pide relleno entran en tu pérdida y tienen gradiente. "
            "Déjalas fuera de la suma, de la cuenta y del gradiente.",
            "en": "The positions asked for padding enter your loss and have a gradient. Leave them "
            "out of the sum, out of the count and out of the gradient.",
        },
    ),
    Misconception(
        "divided_by_places",
        (
            _variant(share=lambda counts: counts / (counts.size - len(counts))),
            _variant(share=lambda counts: counts / counts.size),
        ),
        {
            "es": "Divides entre todas las posiciones, también aquellas a las que nada se pide. La "
            "media es sobre las que cuentan: cuéntalas con la misma condición.",
            "en": "You divide by all the positions, those that are asked for nothing included. The "
            "mean is over those that count: count them with the same condition.",
        },
    ),
    Misconception(
        "mask_of_inputs",
        (_variant(count=_by_what_is_read),),
        {
            "es": "Decides qué cuenta por el token que se lee. La posición que lee el último token "
            "de una oración corta aún contaría, y se le pide relleno: mira el token *pedido*.",
            "en": "You decide what counts by the token that is read. The position that reads the "
            "last token of a short sentence would still count, and it is asked for padding: look "
            "at the token *asked for*.",
        },
    ),
    Misconception(
        "mean_over_sentences",
        (_variant(share=_of_sentences),),
        {
            "es": "Cada oración pesa lo mismo en tu pérdida, y una palabra de una oración corta "
            "pesa más que las otras. Junta las posiciones de todo el lote y divide una sola vez.",
            "en": "Every sentence weighs the same in your loss, and a word of a short sentence "
            "weighs more than the others. Put the positions of the whole batch together and divide "
            "just once.",
        },
    ),
    Misconception(
        "summed",
        (_variant(share=lambda counts: counts.astype(float)),),
        {
            "es": "Entregas sumas, la de las pérdidas y la de sus gradientes. Un lote el doble de "
            "grande daría un paso el doble de largo: divide las dos entre cuántas cuentan.",
            "en": "You hand over sums, of the losses and of their gradients. A batch twice as large "
            "would take a step twice as long: divide both by how many count.",
        },
    ),
    Misconception(
        "over_the_vocabulary",
        (
            _with(lambda loss, gradient, ids, pad: (loss / gradient.shape[-1], gradient)),
            _with(
                lambda loss, gradient, ids, pad: (
                    loss / gradient.shape[-1],
                    gradient / gradient.shape[-1],
                )
            ),
        ),
        {
            "es": "Tu media recorre también el vocabulario, y sale V veces menor. El costo de una "
            "posición es una *suma* sobre los tokens; la media es solo de posiciones.",
            "en": "Your mean runs over the vocabulary too, and comes out V times too small. The "
            "cost of a position is a *sum* over the tokens; the mean is over positions alone.",
        },
    ),
    Misconception(
        "gradient_of_the_sum",
        (_variant(share_of_slope=lambda counts: counts.astype(float)),),
        {
            "es": "Tu pérdida es una media y tu gradiente es el de la suma. Si la pérdida se divide "
            "entre un número, su derivada también.",
            "en": "Your loss is a mean and your gradient is that of the sum. If the loss is divided "
            "by a number, so is its derivative.",
        },
    ),
    Misconception(
        "gradient_where_nothing_is_asked",
        (
            _variant(share_of_slope=lambda counts: np.full(counts.shape, 1 / counts.sum())),
            _variant(
                share_of_slope=lambda counts: _all_but_last(counts, counts, None) / counts.sum()
            ),
        ),
        {
            "es": "La pérdida es correcta, pero hay gradiente en posiciones que no entran en ella. "
            "Mover un logit que no cuenta no cambia la pérdida: ahí la derivada es 0.",
            "en": "The loss is right, but there is a gradient at positions that do not enter it. "
            "Moving a logit that does not count leaves the loss as it is: the derivative there is "
            "0.",
        },
    ),
    Misconception(
        "gradient_too_short",
        (_with(lambda loss, gradient, ids, pad: (loss, gradient[:, :-1])),),
        {
            "es": "A tu gradiente le falta la última posición. Tiene la forma de `logits`: un "
            "número por cada logit que recibiste, y 0 en los que no influyen.",
            "en": "Your gradient lacks the last position. It has the shape of `logits`: a number "
            "for each logit you were given, and 0 at those that have no influence.",
        },
    ),
    Misconception(
        "gradient_sign",
        (_with(lambda loss, gradient, ids, pad: (loss, -gradient)),),
        {
            "es": "Tu gradiente tiene el signo contrario: apunta hacia donde la pérdida baja. Quien "
            "da el paso ya lo resta; el gradiente señala hacia donde crece.",
            "en": "Your gradient has the opposite sign: it points to where the loss falls. Whoever "
            "takes the step subtracts it already; the gradient points to where it grows.",
        },
    ),
    Misconception(
        "gradient_unsmoothed",
        (_variant(want_in_slope=_unsmoothed),),
        {
            "es": "La pérdida lleva suavizado y el gradiente no. Se deriva la misma pérdida que se "
            "calcula: la distribución pedida ocupa el lugar de y en los dos.",
            "en": "The loss is smoothed and the gradient is not. What is differentiated is the loss "
            "that is computed: the distribution asked for takes the place of y in both.",
        },
    ),
    Misconception(
        "unsmoothed",
        (_variant(want=_unsmoothed),),
        {
            "es": "`smoothing` no cambia tu resultado. La distribución pedida deja de ser 1 en la "
            "correcta y 0 en las otras: lo que se le quita a una se reparte entre todas.",
            "en": "`smoothing` does not change your result. The distribution asked for is no longer "
            "1 at the right token and 0 at the others: what is taken from one is shared by all.",
        },
    ),
    Misconception(
        "share_for_each",
        (_variant(want=_shared_in_full), _variant(want=_shared_in_full, slope=_mass_kept)),
        {
            "es": "Sumas ε entero a cada token, y lo que pides suma mucho más que 1. ε es lo que hay "
            "para repartir entre todos: a cada uno le toca una parte de `vocab_size`.",
            "en": "You add the whole of ε to each token, and what you ask for sums to far more than "
            "1. ε is what there is to share among them all: each gets one part of `vocab_size`.",
        },
    ),
    Misconception(
        "nothing_taken",
        (_variant(want=_added_on_top), _variant(want=_added_on_top, slope=_mass_kept)),
        {
            "es": "Lo repartido no sale de ningún sitio: la correcta conserva su 1 y lo pedido suma "
            "1 + ε. Réstale antes ε.",
            "en": "What is shared out comes from nowhere: the right token keeps its 1, and what is "
            "asked for sums to 1 + ε. Take ε from it first.",
        },
    ),
    Misconception(
        "shared_by_others",
        (_variant(want=_among_others),),
        {
            "es": "Repartes ε entre los tokens equivocados. Aquí lo reciben todos, también el "
            "correcto: son `vocab_size` partes iguales, no una menos.",
            "en": "You share ε among the wrong tokens. Here they all get some, the right one too: "
            "there are `vocab_size` equal parts, not one fewer.",
        },
    ),
    Misconception(
        "gradient_of_probabilities",
        (_variant(slope=lambda p, wanted: -wanted / p),),
        {
            "es": "Derivas respecto a las probabilidades. Los logits llegan a ellas por la softmax, "
            "y al mover uno cambian todas: la derivada completa es una resta sencilla.",
            "en": "You differentiate with respect to the probabilities. The logits reach them "
            "through the softmax, and moving one changes all: the full derivative is a simple "
            "difference.",
        },
    ),
    Misconception(
        "loss_sign",
        (_with(lambda loss, gradient, ids, pad: (-loss, gradient)),),
        {
            "es": "Tu pérdida es negativa. El logaritmo de una probabilidad lo es, y por eso se le "
            "cambia el signo: una sorpresa se mide con un número positivo.",
            "en": "Your loss is negative. So is the logarithm of a probability, which is why its "
            "sign is changed: a surprise is measured by a positive number.",
        },
    ),
    Misconception(
        "exponential_overflow",
        (
            _variant(log_softmax=_unshifted),
            _variant(log_softmax=_unshifted, cost=_plain),
            _variant(log_softmax=_unshifted_share),
            _variant(log_softmax=_unshifted_share, cost=_plain),
        ),
        {
            "es": "Un logit de 1000 es demasiado para `np.exp`, y uno de −1000 se queda en 0. Baja "
            "cada fila hasta que su mayor logit sea 0; las probabilidades son las mismas.",
            "en": "A logit of 1000 is too much for `np.exp`, and one of −1000 is left at 0. Lower "
            "each row until its largest logit is 0; the probabilities are the same.",
        },
    ),
    Misconception(
        "logarithm_of_zero",
        (
            _variant(log_softmax=_rounded(0.0)),
            _variant(log_softmax=_rounded(0.0), cost=_plain),
            _variant(log_softmax=_rounded(1e-12)),
            _variant(log_softmax=_rounded(1e-9)),
        ),
        {
            "es": "El token pedido puede tener una probabilidad que se redondea a 0, y su logaritmo "
            "se pierde. No pases por la probabilidad: el logit menos el logaritmo de la suma.",
            "en": "The token asked for may have a probability that rounds to 0, and its logarithm "
            "is lost. Do not go through the probability: the logit minus the logarithm of the sum.",
        },
    ),
)

EXERCISE = Exercise(
    "next_token_loss",
    8,
    ("loss", "gradient"),
    next_token_loss,
    cases,
    MISCONCEPTIONS,
    problem_set="ps7",
)
