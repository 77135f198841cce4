"""Appendix A1, `epoch_loss`: the mean of every token, not the mean of the batches' means."""

import numpy as np

from attn.exercises.spec import Exercise, Misconception


def epoch_loss(losses, targets, pad_id):
    """Return the mean loss of all the tokens of an epoch that are not padding."""
    return losses[targets != pad_id].mean()


def cases(seed):
    """Return epochs: one batch, several, short ones, one with a batch of padding alone.

    Parameters
    ----------
    seed : int
        Seed of the random numbers; the shapes are always the same.

    Returns
    -------
    list of dict
        With the keys ``losses`` and ``targets``, of shape (n_batches, batch_size, tgt_len),
        and ``pad_id``. Positions of padding have losses too, as `cross_entropy` gives them.
    """
    rng = np.random.default_rng(seed)

    def epoch(batches, pad_id=0):
        lengths = np.array(batches)[..., None]
        places = np.arange(lengths.max() + 1)
        words = rng.choice([i for i in range(12) if i != pad_id], (*lengths.shape[:2], len(places)))
        targets = np.where(places < lengths, words, pad_id)
        losses = rng.uniform(0.3, 2.5, targets.shape)
        losses[0, 0, 0] = 0.0  # a model can be sure and right
        return {"losses": losses, "targets": targets, "pad_id": np.array(pad_id)}

    return [
        epoch([[3, 1]]),
        epoch([[4, 3], [1, 1]]),
        epoch([[5, 2, 4], [1, 2, 1]], pad_id=3),
        epoch([[2, 6], [1, 0], [3, 3]], pad_id=7),
        epoch([[6, 5, 6, 4], [1, 1, 0, 0], [2, 1, 1, 0]]),
        epoch([[4, 4], [2, 1], [0, 0]], pad_id=1),
    ]


# The wrong functions that need more than a line.


def _mean_of(parts):
    with np.errstate(all="ignore"):
        means = np.array([part.sum() / part.size for part in parts])
    return means


def _batch_means(losses, targets, pad_id):
    return _mean_of([row[asked != pad_id] for row, asked in zip(losses, targets, strict=True)])


def _sentence_means(losses, targets, pad_id):
    width = losses.shape[-1]
    return _batch_means(losses.reshape(-1, width), targets.reshape(-1, width), pad_id)


def _total(losses, targets, pad_id):
    return losses[targets != pad_id].sum()


MISCONCEPTIONS = (
    Misconception(
        "mean_of_means",
        (
            lambda *case: _batch_means(*case).mean(),
            lambda *case: np.nanmean(_batch_means(*case)),
            lambda *case: np.nan_to_num(_batch_means(*case)).mean(),
        ),
        {
            "es": "Es la media de las medias: un lote de dos tokens pesa tanto como uno de veinte, "
            "y un lote de puro relleno no tiene media. Suma las pérdidas y los tokens de todos los "
            "lotes, y divide una sola vez, al final.",
            "en": "It is the mean of the means: a batch of two tokens weighs as much as one of "
            "twenty, and a batch of nothing but padding has no mean. Add the losses and the tokens "
            "of all batches, and divide only once, at the end.",
        },
    ),
    Misconception(
        "mean_of_sentences",
        (
            lambda *case: _sentence_means(*case).mean(),
            lambda *case: np.nanmean(_sentence_means(*case)),
            lambda *case: np.nan_to_num(_sentence_means(*case)).mean(),
        ),
        {
            "es": "Sacas la media de cada oración y después la de las oraciones. Así una palabra de "
            "una oración corta cuenta más que una de una larga: aquí todos los tokens cuentan igual.",
            "en": "You take the mean of each sentence and then that of the sentences. A word in a "
            "short sentence then counts more than one in a long sentence: here all tokens count the "
            "same.",
        },
    ),
    Misconception(
        "padding_counted",
        (lambda losses, targets, pad_id: losses.mean(),),
        {
            "es": "Cuentas también el relleno. Nadie tiene que predecirlo, y cuánto hay depende de "
            "cómo se formaron los lotes: quédate con las posiciones en que `targets != pad_id`.",
            "en": "You count the padding as well. Nobody has to predict it, and how much there is "
            "depends on how the batches were made: keep the positions where `targets != pad_id`.",
        },
    ),
    Misconception(
        "padding_in_the_divisor",
        (lambda *case: _total(*case) / case[1].size,),
        {
            "es": "Sumas solo las pérdidas de las palabras, pero divides entre todas las posiciones, "
            "relleno incluido. La pérdida baja con solo añadir relleno: divide entre las que sumaste.",
            "en": "You add only the losses of words, but divide by every position, padding "
            "included. The loss falls as soon as padding is added: divide by those you added.",
        },
    ),
    Misconception(
        "total",
        (_total,),
        {
            "es": "Es la suma, no la media: crece con el tamaño de los datos y no se puede comparar "
            "entre épocas ni entre conjuntos. Divide entre el número de tokens que no son relleno.",
            "en": "It is the sum, not the mean: it grows with the size of the data and cannot be "
            "compared between epochs or sets. Divide by the number of tokens that are not padding.",
        },
    ),
    Misconception(
        "per_batch",
        (lambda *case: _total(*case) / len(case[0]),),
        {
            "es": "Divides la suma entre el número de lotes. Lo que sale depende de cuántas palabras "
            "caben en un lote: divide entre el número de tokens.",
            "en": "You divide the sum by the number of batches. What comes out depends on how many "
            "words fit in a batch: divide by the number of tokens.",
        },
    ),
    Misconception(
        "per_sentence",
        (lambda *case: _total(*case) / np.prod(case[0].shape[:2]),),
        {
            "es": "Divides la suma entre el número de oraciones: eso es la pérdida por oración, y las "
            "largas la suben. Aquí se pide por token.",
            "en": "You divide the sum by the number of sentences: that is the loss per sentence, and "
            "long ones raise it. Here it is asked for per token.",
        },
    ),
    Misconception(
        "only_padding",
        (lambda losses, targets, pad_id: losses[targets == pad_id].mean(),),
        {
            "es": "La condición está al revés: tomas la media justo del relleno. Los tokens que cuentan son "
            "los que cumplen `targets != pad_id`.",
            "en": "The condition is the wrong way round: you average exactly the padding. The tokens "
            "that count are those with `targets != pad_id`.",
        },
    ),
    Misconception(
        "zero_is_padding",
        (lambda losses, targets, pad_id: losses[targets != 0].mean(),),
        {
            "es": "Tomas el 0 por relleno. Cada vocabulario elige su id de relleno, y en otro el 0 es "
            "una palabra: usa `pad_id`.",
            "en": "You take 0 for padding. Each vocabulary chooses its id of padding, and in another "
            "one 0 is a word: use `pad_id`.",
        },
    ),
    Misconception(
        "zeros_dropped",
        (
            lambda losses, targets, pad_id: losses[(targets != pad_id) & (losses > 0)].mean(),
            lambda losses, targets, pad_id: losses[losses > 0].mean(),
        ),
        {
            "es": "Reconoces el relleno por su pérdida cero. Una palabra acertada con toda seguridad "
            "también la tiene, y quitarla empeora la media del mejor modelo: mira `targets`.",
            "en": "You recognise padding by its loss of zero. A word got right with full certainty "
            "has that too, and dropping it makes the best model's mean worse: look at `targets`.",
        },
    ),
    Misconception(
        "one_per_batch",
        (_batch_means,),
        {
            "es": "Devuelves un número por lote. La época tiene una sola pérdida: la media de todos "
            "los tokens de todos los lotes.",
            "en": "You return one number per batch. The epoch has a single loss: the mean of all the "
            "tokens of all the batches.",
        },
    ),
    Misconception(
        "last_batch",
        (lambda *case: _batch_means(*case)[-1],),
        {
            "es": "Es la pérdida del último lote. Al imprimirla dentro del bucle pasa por la de la "
            "época, y salta según qué lote toque al final: acumula sobre todos.",
            "en": "It is the loss of the last batch. Printed inside the loop it passes for that of "
            "the epoch, and it jumps with whichever batch comes last: accumulate over all of them.",
        },
    ),
    Misconception(
        "perplexity",
        (lambda *case: np.exp(epoch_loss(*case)),),
        {
            "es": "Eso es la perplejidad, la exponencial de lo que se pide. Devuelve la media misma.",
            "en": "That is the perplexity, the exponential of what is asked. Return the mean itself.",
        },
    ),
)

EXERCISE = Exercise("epoch_loss", "A1", ("loss",), epoch_loss, cases, MISCONCEPTIONS)
