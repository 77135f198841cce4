"""Problem set 8, `greedy_decode`: several sentences at once, and the ways to get them wrong."""

from functools import lru_cache

import numpy as np

from attn.exercises.spec import Exercise, Misconception

PAD = 0


def log_softmax(logits, axis=-1):
    """Return the logarithm of the softmax, which no large number breaks."""
    shifted = logits - logits.max(axis=axis, keepdims=True)
    return shifted - np.log(np.exp(shifted).sum(axis=axis, keepdims=True))


def greedy_decode(logits, start, end, max_new_tokens):
    """Return the tokens that greedy search writes, end included, and their log-probabilities."""
    return _search(logits, start, end, max_new_tokens)


@lru_cache(maxsize=8)  # drawn by trial, and asked for twice when it is marked
def cases(seed):
    """Return tables of logits: one sentence, several, some that never end, large numbers.

    Parameters
    ----------
    seed : int
        Seed of the random numbers; the shapes are always the same.

    Returns
    -------
    list of dict
        With the keys ``logits``, ``start``, ``end`` and ``max_new_tokens``.
    """
    rng = np.random.default_rng(seed)

    def draw(vocab_size, lengths, limit, offset=0):
        """Draw until sentences have these lengths, end included; 0: they do not end in time."""
        while True:
            logits = rng.normal(size=(vocab_size, vocab_size))
            logits[:, PAD] -= 6
            logits += offset * (-1) ** np.arange(vocab_size)[:, None]
            end, *others = rng.permutation(np.arange(1, vocab_size))
            start = np.array(others[: len(lengths)])
            case = {
                "logits": logits,
                "start": start,
                "end": np.array(end),
                "max_new_tokens": np.array(limit),
            }
            ids, _ = greedy_decode(**case)
            found = [int((row == end).any() and row.tolist().index(end) + 1) for row in ids]
            # What follows the end must not be the end again, or nobody sees who goes on.
            if found == list(lengths) and logits[end].argmax() != end and (ids != start[0]).all():
                return case

    return [
        draw(5, [2], 4), draw(6, [3], 5), draw(7, [2], 3), draw(8, [3], 6),
        draw(7, [2, 3], 4), draw(8, [3, 1], 5), draw(9, [1, 3, 2], 4),
        draw(6, [0, 2], 4), draw(7, [0], 3), draw(8, [3, 2], 3, 900), draw(6, [3], 4, 900),
    ]  # fmt: skip


# The wrong functions.


def _search(
    logits, start, end, max_new_tokens, *, log=log_softmax, stops=True, pays=True,
    together=False, fill=PAD, follow=True, choose=np.argmax, steps=0,
):  # fmt: skip
    """Search greedily, wrong in what is asked for."""
    log_p, limit = log(logits), int(max_new_tokens)
    ids, scores = np.full((len(start), limit), fill), np.zeros(len(start))
    last, running = start.copy(), np.ones(len(start), dtype=bool)
    for step in range(limit + steps):
        token = np.array([choose(logits[row]) for row in last])
        gained = log_p[last, token]
        scores += gained * (running | (stops == "ids only")) * (pays | (token != end))
        ids[running, step] = token[running]
        last = token if follow else last
        running &= (token != end) | (not stops)
        if (not running.any() or (together and not running.all())) and stops != "ids only":
            break
    return ids, scores


def _wrong(**how):
    return lambda logits, start, end, limit: _search(logits, start, end, limit, **how)


def _after(change):
    """Return a function that spoils the right answer."""

    def wrong(logits, start, end, max_new_tokens):
        ids, scores = greedy_decode(logits, start, end, max_new_tokens)
        return change(ids, scores, start, end)

    return wrong


def _mean(ids, scores, start, end):
    return ids, scores / (ids != PAD).sum(axis=1)


def _with_start(ids, scores, start, end):
    return np.column_stack([start, ids[:, :-1]]), scores


def _with_start_longer(ids, scores, start, end):
    return np.column_stack([start, ids]), scores


def _plain_logarithm(logits):
    exponentials = np.exp(logits)
    return np.log(exponentials / exponentials.sum(axis=-1, keepdims=True))


def _columns(logits, start, end, max_new_tokens):
    return greedy_decode(logits.T, start, end, max_new_tokens)


def _one_sentence(logits, start, end, max_new_tokens):
    ids, score = greedy_decode(logits, start[:1], end, max_new_tokens)
    if len(start) > 1:
        raise ValueError("The truth value of an array with more than one element is ambiguous.")
    return ids, score


MISCONCEPTIONS = (
    Misconception(
        "end_ignored",
        (_wrong(stops=False),),
        {
            "es": "Escribes hasta el límite aunque salga el token final, y la fila de `end` sigue "
            "produciendo tokens. Después de `end` solo va relleno.",
            "en": "You write up to the limit even though the end token has come, and the row of "
            "`end` goes on producing tokens. After `end` there is only padding.",
        },
    ),
    Misconception(
        "paid_after_the_end",
        (_wrong(stops="ids only"),),
        {
            "es": "Los tokens son los debidos, pero el puntaje sigue bajando cuando la oración ya "
            "terminó. Suma solo lo que se escribe, hasta `end` inclusive.",
            "en": "The tokens are right, but the score goes on falling once the sentence has "
            "ended. Sum only what is written, up to and including `end`.",
        },
    ),
    Misconception(
        "end_left_out",
        (_after(lambda ids, scores, start, end: (np.where(ids == end, PAD, ids), scores)),),
        {
            "es": "En tu resultado no está el token final. Forma parte de lo que el modelo "
            "escribe: va en `ids`, y después de él, el relleno.",
            "en": "The end token is not in your result. It is part of what the model writes: it "
            "goes into `ids`, and the padding after it.",
        },
    ),
    Misconception(
        "end_not_paid",
        (_wrong(pays=False),),
        {
            "es": "Terminar también tiene una probabilidad, y en tu puntaje falta. Sin ella, la "
            "oración que acaba y la que sigue valdrían lo mismo.",
            "en": "Ending has a probability too, and your score lacks it. Without it a sentence "
            "that ends and one that goes on would be worth the same.",
        },
    ),
    Misconception(
        "start_left_in",
        (_after(_with_start), _after(_with_start_longer)),
        {
            "es": "El token de inicio se quedó en el resultado. Con él se pregunta por primera "
            "vez, pero nadie lo escribió: `ids` empieza con la primera respuesta.",
            "en": "The start token was left in the result. The first question is asked with it, "
            "but nobody wrote it: `ids` begins with the first answer.",
        },
    ),
    Misconception(
        "raw_logits",
        (_wrong(log=lambda logits: logits),),
        {
            "es": "Sumas logits. No son logaritmos de probabilidades: sumar 5 a toda una fila "
            "cambia tu puntaje y no cambia el modelo. Resta a cada fila el logaritmo de la suma "
            "de sus exponenciales.",
            "en": "You sum logits. They are no logarithms of probabilities: adding 5 to a whole "
            "row changes your score and not the model. Subtract from each row the logarithm of "
            "the sum of its exponentials.",
        },
    ),
    Misconception(
        "probability",
        (_after(lambda ids, scores, start, end: (ids, np.exp(scores))),),
        {
            "es": "Das la probabilidad y se pide su logaritmo. Con oraciones largas el producto "
            "se redondea a cero; la suma de logaritmos, no.",
            "en": "You give the probability, and its logarithm is asked for. For long sentences "
            "the product rounds to zero; the sum of the logarithms does not.",
        },
    ),
    Misconception(
        "sum_of_probabilities",
        (_wrong(log=lambda logits: np.exp(log_softmax(logits))),),
        {
            "es": "Sumas probabilidades, y eso no es la probabilidad de nada. Las de una oración "
            "se multiplican: suma sus logaritmos.",
            "en": "You sum probabilities, and that is the probability of nothing. Those of a "
            "sentence multiply: sum their logarithms.",
        },
    ),
    Misconception(
        "mean_per_token",
        (_after(_mean),),
        {
            "es": "Divides entre el número de tokens. Es una corrección posible, pero aquí se pide "
            "la suma.",
            "en": "You divide by the number of tokens. That is a possible correction, but here "
            "the sum is asked for.",
        },
    ),
    Misconception(
        "columns",
        (_columns, _wrong(log=lambda logits: log_softmax(logits, axis=0))),
        {
            "es": "La tabla va por filas: `logits[a]` son los logits de lo que sigue a `a`, y la "
            "softmax se toma sobre esa fila. Tú usas las columnas.",
            "en": "The table goes by rows: `logits[a]` are the logits of what follows `a`, and the "
            "softmax is taken over that row. You use the columns.",
        },
    ),
    Misconception(
        "always_the_start",
        (_wrong(follow=False),),
        {
            "es": "Preguntas siempre por lo que sigue al token de inicio. En cada paso, la fila "
            "que se lee es la del último token escrito.",
            "en": "You always ask what follows the start token. At each step the row to read is "
            "that of the last token written.",
        },
    ),
    Misconception(
        "least_probable",
        (_wrong(choose=np.argmin),),
        {
            "es": "Eliges el token con el logit más bajo. La búsqueda voraz toma el más alto: "
            "`argmax`.",
            "en": "You choose the token with the lowest logit. Greedy search takes the highest: "
            "`argmax`.",
        },
    ),
    Misconception(
        "stops_together",
        (_wrong(together=True),),
        {
            "es": "En cuanto termina una oración se detienen todas. Cada una lleva su cuenta: el "
            "bucle acaba cuando no queda ninguna sin terminar.",
            "en": "As soon as one sentence ends, all of them stop. Each keeps its own count: the "
            "loop is over when none is left unfinished.",
        },
    ),
    Misconception(
        "filled_with_end",
        (
            lambda logits, start, end, limit: _search(logits, start, end, limit, fill=int(end)),
            _wrong(fill=-1),
        ),
        {
            "es": "Lo que va detrás del final no es 0. El relleno es el id 0, y `end` se escribe "
            "una sola vez.",
            "en": "What comes after the end is not 0. Padding is id 0, and `end` is written only "
            "once.",
        },
    ),
    Misconception(
        "one_step_short",
        (_wrong(steps=-1),),
        {
            "es": "Te detienes un token antes del límite. El de inicio no cuenta: se pueden "
            "escribir `max_new_tokens` más.",
            "en": "You stop one token short of the limit. The start does not count: "
            "`max_new_tokens` more may be written.",
        },
    ),
    Misconception(
        "overflow",
        (
            _wrong(log=_plain_logarithm),
            _wrong(log=lambda x: x - np.log(np.exp(x).sum(axis=1)[:, None])),
        ),
        {
            "es": "Con logits de miles `np.exp` se desborda y el puntaje deja de ser un número. "
            "Resta antes a cada fila su máximo: el resultado es el mismo.",
            "en": "With logits in the thousands `np.exp` overflows and the score is no longer a "
            "number. Subtract its maximum from each row first: the result is the same.",
        },
    ),
    Misconception(
        "one_sentence_only",
        (_one_sentence,),
        {
            "es": "Aciertas con una oración y no con varias: `if token == end` no sabe qué hacer "
            "con un vector. Lleva un vector de las que siguen vivas, o recorre las oraciones.",
            "en": "You are right on one sentence and not on several: `if token == end` does not "
            "know what to do with a vector. Keep a vector of those still going, or loop over the "
            "sentences.",
        },
    ),
)

EXERCISE = Exercise(
    "greedy_decode",
    9,
    ("ids", "scores"),
    greedy_decode,
    cases,
    MISCONCEPTIONS,
    problem_set="ps8",
)
