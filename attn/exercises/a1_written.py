"""Appendix A1, `written`: what a decoding loop wrote, without its marks."""

import numpy as np

from attn.exercises.spec import Exercise, Misconception


def written(ids, sos_id, eos_id, pad_id):
    """Return the words of each row: no start token, and padding from the first end token on."""
    words = ids[:, 1:]
    return np.where(_ended(words, eos_id), pad_id, words)


def _ended(words, eos_id):
    """Return where an end token has been written, it and all after it included."""
    return np.logical_or.accumulate(words == eos_id, axis=1)


def cases(seed):
    """Return what loops left: with and without an end token, with all kinds of things after it.

    Parameters
    ----------
    seed : int
        Seed of the random numbers; the shapes are always the same.

    Returns
    -------
    list of dict
        With the keys ``ids``, of shape (batch_size, length), ``sos_id``, ``eos_id`` and ``pad_id``.
    """
    rng = np.random.default_rng(seed)

    def loop(length, *ends, marks=(2, 3, 0)):
        sos_id, eos_id, pad_id = marks
        others = [i for i in range(20) if i not in marks]
        ids = np.stack([rng.permutation(others)[: length + 1] for _ in ends])
        ids[:, 0] = sos_id
        for row, end in zip(ids, ends, strict=True):
            if end is not None:
                row[1 + end] = eos_id
                if end + 2 < length:
                    row[length] = eos_id  # a loop that goes on for the others writes it again
        names = {"sos_id": sos_id, "eos_id": eos_id, "pad_id": pad_id}
        return {"ids": ids, **{name: np.array(i) for name, i in names.items()}}

    return [
        loop(4, 2),
        loop(4, None),
        loop(5, 1, None, 3),
        loop(6, 0, 5, 2, marks=(1, 4, 9)),
        loop(6, None, 3, 1, marks=(5, 0, 2)),
        loop(7, 4, 2, None, 0, marks=(4, 5, 6)),
    ]


# The wrong functions that need more than a line.


def _whole(ids, sos_id, eos_id, pad_id):
    return np.where(_ended(ids, eos_id), pad_id, ids)


def _cut_at(first):
    """Return the words before column `first`, which is computed from where end tokens are."""

    def wrong(ids, sos_id, eos_id, pad_id):
        words = ids[:, 1:]
        column = first(words == eos_id)
        return np.where(np.arange(words.shape[1]) >= column[:, None], pad_id, words)

    return wrong


def _column(is_end):
    """Return the column of the first end token of each row, or the width if there is none."""
    return np.where(is_end.any(axis=1), is_end.argmax(axis=1), is_end.shape[1])


def _last(is_end):
    width = is_end.shape[1]
    return np.where(is_end.any(axis=1), width - 1 - is_end[:, ::-1].argmax(axis=1), width)


def _together(choose):
    return _cut_at(lambda is_end: np.full(len(is_end), choose(_column(is_end))))


def _pushed(ids, sos_id, eos_id, pad_id):
    words = written(ids, sos_id, eos_id, pad_id)
    return np.stack([np.roll(row, (row == pad_id).sum()) for row in words])


def _filled(value):
    def wrong(ids, sos_id, eos_id, pad_id):
        words = ids[:, 1:]
        return np.where(_ended(words, eos_id), value(eos_id), words)

    return wrong


MISCONCEPTIONS = (
    Misconception(
        "start_left",
        (_whole,),
        {
            "es": "El token inicial sigue ahí. Lo pusimos nosotros para que el bucle tuviera algo que "
            "leer; no es una palabra traducida. Quita la primera columna.",
            "en": "The start token is still there. We put it so that the loop had something to read; it "
            "is not a translated word. Take the first column away.",
        },
    ),
    Misconception(
        "nothing_cut",
        (lambda ids, *marks: ids[:, 1:], lambda ids, *marks: ids),
        {
            "es": "Dejas todo lo que hay detrás del token final, y él también. El bucle sigue mientras "
            "le falte terminar a alguna oración: en las demás, eso es basura. Desde el primer "
            "`eos_id` de cada fila, relleno.",
            "en": "You leave everything behind the end token, and the token too. The loop goes on while "
            "some sentence is not finished: in the others, that is rubbish. From the first `eos_id` "
            "of each row on, padding.",
        },
    ),
    Misconception(
        "end_left",
        (_cut_at(lambda is_end: _column(is_end) + 1),),
        {
            "es": "El token final sigue ahí. Es la señal de parar, no una palabra: la fila se corta en "
            "él, no detrás de él.",
            "en": "The end token is still there. It is the signal to stop, not a word: the row is cut at "
            "it, not behind it.",
        },
    ),
    Misconception(
        "only_the_mark",
        (lambda ids, sos_id, eos_id, pad_id: np.where(ids[:, 1:] == eos_id, pad_id, ids[:, 1:]),),
        {
            "es": "Borras los tokens finales, pero dejas lo que se escribió detrás. La oración terminó "
            "en el primero: lo que sigue no cuenta, aunque parezcan palabras.",
            "en": "You rub out the end tokens, but leave what was written behind them. The sentence "
            "ended at the first: what follows does not count, though it may look like words.",
        },
    ),
    Misconception(
        "last_end",
        (_cut_at(_last),),
        {
            "es": "Cortas en el último token final. El primero ya terminó la oración; los siguientes los "
            "escribió el bucle mientras esperaba a las demás.",
            "en": "You cut at the last end token. The first one ended the sentence; the loop wrote the "
            "others while it waited for the rest.",
        },
    ),
    Misconception(
        "none_is_first",
        (_cut_at(lambda is_end: is_end.argmax(axis=1)),),
        {
            "es": "Una fila sin token final queda vacía: `argmax` de una fila toda falsa es 0. Pregunta "
            "antes si hay alguno, con `any(axis=1)`; si no lo hay, se queda entera.",
            "en": "A row without an end token is left empty: the `argmax` of a row all false is 0. Ask "
            "first whether there is one, with `any(axis=1)`; if there is none, keep it whole.",
        },
    ),
    Misconception(
        "all_cut_alike",
        (_together(np.min), _together(np.max), _together(lambda columns: columns[0])),
        {
            "es": "Cortas todas las filas en la misma columna. Cada oración termina donde termina: la "
            "columna se busca fila por fila.",
            "en": "You cut every row at one and the same column. Each sentence ends where it ends: the "
            "column is looked for row by row.",
        },
    ),
    Misconception(
        "zeros",
        (_filled(lambda eos_id: 0),),
        {
            "es": "Rellenas con 0. En otro vocabulario el 0 es una palabra, y aparecería al final de las "
            "oraciones cortas: rellena con `pad_id`.",
            "en": "You fill with 0. In another vocabulary 0 is a word, and it would appear at the end of "
            "short sentences: fill with `pad_id`.",
        },
    ),
    Misconception(
        "filled_with_ends",
        (_filled(lambda eos_id: eos_id),),
        {
            "es": "Rellenas con el token final. Quien cuente o muestre las palabras lo verá como una "
            "más: rellena con `pad_id`.",
            "en": "You fill with the end token. Whoever counts or shows the words will see it as one "
            "more: fill with `pad_id`.",
        },
    ),
    Misconception(
        "wrong_side",
        (lambda ids, *marks: _whole(ids, *marks)[:, :-1],),
        {
            "es": "Quitas la última columna en vez de la primera: se va la última palabra de las "
            "oraciones largas y se queda el token inicial.",
            "en": "You take the last column away instead of the first: the last word of long sentences "
            "goes and the start token stays.",
        },
    ),
    Misconception(
        "last_column_lost",
        (
            lambda ids, *marks: written(ids, *marks)[:, :-1],
            lambda ids, *marks: ids[:, 1:-1],
        ),
        {
            "es": "Quitas siempre una columna al final, como si todas las filas terminaran con el token "
            "final. La que llegó al límite sin él pierde su última palabra.",
            "en": "You always take a column away at the end, as if every row ended with the end token. "
            "The one that reached the limit without it loses its last word.",
        },
    ),
    Misconception(
        "last_word_lost",
        (_cut_at(lambda is_end: np.where(is_end.any(axis=1), _column(is_end) - 1, 99)),),
        {
            "es": "Cortas un lugar antes del token final, y la última palabra se pierde. Tras quitar la "
            "primera columna, las posiciones corren una: busca el final en lo que queda.",
            "en": "You cut one place before the end token, and the last word is lost. Once the first "
            "column is gone positions move by one: look for the end in what is left.",
        },
    ),
    Misconception(
        "padding_first",
        (_pushed,),
        {
            "es": "El relleno va delante. Aquí las palabras empiezan en la primera columna, y el "
            "relleno las sigue.",
            "en": "The padding comes first. Here the words begin in the first column, and the padding "
            "follows them.",
        },
    ),
    Misconception(
        "fixed_marks",
        (lambda ids, sos_id, eos_id, pad_id: written(ids, 2, 3, 0),),
        {
            "es": "Las marcas están escritas con números fijos. Otro vocabulario tendrá otros: usa "
            "`eos_id` y `pad_id`.",
            "en": "The marks are written as fixed numbers. Another vocabulary will have others: use "
            "`eos_id` and `pad_id`.",
        },
    ),
)

EXERCISE = Exercise("written", "A1", ("words",), written, cases, MISCONCEPTIONS)
