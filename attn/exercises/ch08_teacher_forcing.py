"""Chapter 8, `teacher_forcing`: what the decoder reads and what it is asked for."""

import numpy as np

from attn.exercises.spec import Exercise, Misconception
from attn.reference import teacher_forcing


def cases(seed):
    """Return batches of translations: of one length, of several, with an empty one.

    Parameters
    ----------
    seed : int
        Seed of the random numbers; the shapes are always the same.

    Returns
    -------
    list of dict
        With the keys ``tokens``, ``sos_id``, ``eos_id`` and ``pad_id``.
    """
    rng = np.random.default_rng(seed)

    def draw(*lengths, marks=(2, 3, 0)):
        sos_id, eos_id, pad_id = marks
        tokens = np.full((len(lengths), max(lengths)), pad_id)
        for row, length in zip(tokens, lengths, strict=True):
            row[:length] = 10 + rng.permutation(20)[:length]
        ids = {"sos_id": sos_id, "eos_id": eos_id, "pad_id": pad_id}
        return {"tokens": tokens, **{name: np.array(i) for name, i in ids.items()}}

    return [
        draw(3),
        draw(4, 4),
        draw(4, 2, 3),
        draw(2, 5, 0),
        draw(5, 1, 3, 2, marks=(1, 4, 9)),
        draw(1, 6, 6, marks=(5, 6, 1)),
    ]


# A wrong answer is the right one with something done to it; `tokens` says where a row ends.


def _with(change):
    def wrong(tokens, sos_id, eos_id, pad_id):
        inputs, targets = teacher_forcing(tokens, sos_id, eos_id, pad_id)
        return change(inputs, targets, tokens, sos_id, eos_id, pad_id)

    return wrong


def _beside(column, tokens, before=False):
    column = np.full((len(tokens), 1), column)
    return np.concatenate([column, tokens] if before else [tokens, column], axis=1)


def _between(tokens, sos_id, eos_id, pad_id):
    """Return the tokens from sos to eos."""
    _, targets = teacher_forcing(tokens, sos_id, eos_id, pad_id)
    return _beside(sos_id, targets, before=True)


def _cut(select):
    def wrong(tokens, sos_id, eos_id, pad_id):
        whole = _between(tokens, sos_id, eos_id, pad_id)
        return select(whole)

    return wrong


def _eos_kept_in_inputs(inputs, targets, tokens, sos_id, eos_id, pad_id):
    inputs = inputs.copy()
    for row, asked in zip(inputs, targets, strict=True):
        end = int(np.flatnonzero(asked == eos_id)[0]) + 1
        if end < len(row):
            row[end] = eos_id
    return inputs, targets


def _padding_first(inputs, targets, tokens, sos_id, eos_id, pad_id):
    def pushed(rows):
        return np.stack([np.roll(row, (row == pad_id).sum()) for row in rows])

    return pushed(inputs), pushed(targets)


MISCONCEPTIONS = (
    Misconception(
        "eos_after_padding",
        (_with(lambda i, t, tokens, sos, eos, pad: (i, _beside(eos, tokens))),),
        {
            "es": "Pones `<eos>` en la última columna, detrás del relleno. En una fila corta el "
            "modelo tendría que escribir relleno antes de terminar: `<eos>` va justo después de "
            "la última palabra, en la columna `(tokens != pad_id).sum(axis=1)`.",
            "en": "You put `<eos>` in the last column, behind the padding. In a short row the model "
            "would have to write padding before it ends: `<eos>` goes right after the last word, "
            "in column `(tokens != pad_id).sum(axis=1)`.",
        },
    ),
    Misconception(
        "not_shifted",
        (
            _with(lambda i, t, *rest: (t, t)),
            _with(lambda i, t, *rest: (i, i)),
            _cut(lambda whole: (whole, whole)),
        ),
        {
            "es": "Lo que se lee y lo que se pide son lo mismo: el modelo acertaría siempre con "
            "copiar su entrada. La entrada va un lugar por detrás: empieza con `<sos>` y en cada "
            "posición se pide la palabra siguiente.",
            "en": "What is read and what is asked for are the same: the model would always be right "
            "by copying its input. The input is one place behind: it begins with `<sos>`, and at "
            "each position the next word is asked for.",
        },
    ),
    Misconception(
        "swapped",
        (_with(lambda i, t, *rest: (t, i)),),
        {
            "es": "Las dos matrices están intercambiadas: el decodificador leería la palabra que "
            "debe predecir y se le pediría la anterior. Devuelve primero `inputs`, que empieza con "
            "`<sos>`, y después `targets`.",
            "en": "The two matrices are swapped: the decoder would read the word it must predict "
            "and be asked for the one before. Return `inputs` first, which begins with `<sos>`, "
            "and `targets` second.",
        },
    ),
    Misconception(
        "no_eos",
        (
            _with(lambda i, t, tokens, sos, eos, pad: (i, _beside(pad, tokens))),
            _with(lambda i, t, tokens, sos, eos, pad: (i[:, :-1], tokens)),
        ),
        {
            "es": "Nunca se pide `<eos>`. Un modelo entrenado así no sabe terminar, y al traducir "
            "escribiría palabras hasta el límite: detrás de la última de cada fila, `targets` "
            "lleva `eos_id`.",
            "en": "`<eos>` is never asked for. A model trained like this cannot end, and would go "
            "on writing words up to the limit: behind the last one of each row, `targets` holds "
            "`eos_id`.",
        },
    ),
    Misconception(
        "no_sos",
        (
            _with(lambda i, t, tokens, sos, eos, pad: (_beside(pad, tokens), t)),
            _with(lambda i, t, tokens, sos, eos, pad: (_beside(pad, tokens, before=True), t)),
        ),
        {
            "es": "La entrada no empieza con `<sos>`. Al traducir, el decodificador aún no tiene "
            "nada escrito: la primera palabra se predice leyendo solo esa marca. Pon una columna "
            "de `sos_id` delante de los tokens.",
            "en": "The input does not begin with `<sos>`. When it translates, the decoder has "
            "nothing written yet: the first word is predicted from that mark alone. Put a column "
            "of `sos_id` in front of the tokens.",
        },
    ),
    Misconception(
        "sos_asked_for",
        (_cut(lambda whole: (whole[:, :-1], whole[:, :-1])), _cut(lambda w: (w[:, 1:], w[:, :-1]))),
        {
            "es": "Pides `<sos>` como primera palabra, y nadie tiene que predecirla: siempre está. "
            "`targets` son los tokens desde el primero, sin esa marca, y terminan con `<eos>`.",
            "en": "You ask for `<sos>` as the first word, and nobody has to predict it: it is "
            "always there. `targets` are the tokens from the first on, without that mark, and "
            "they end with `<eos>`.",
        },
    ),
    Misconception(
        "eos_read",
        (_with(_eos_kept_in_inputs),),
        {
            "es": "Casi. En las filas cortas la entrada contiene `<eos>`, como en `collate`. No hace "
            "daño, porque a esa posición no se le pide nada, pero aquí se pide otra cosa: en "
            "`inputs`, detrás de la última palabra va relleno.",
            "en": "Nearly. In the short rows the input holds `<eos>`, as in `collate`. It does no "
            "harm, since nothing is asked of that position, but this is not what was asked: in "
            "`inputs`, padding follows the last word.",
        },
    ),
    Misconception(
        "two_places",
        (
            _with(lambda i, t, tokens, sos, eos, pad: (i, _beside(pad, t[:, 1:]))),
            _with(lambda i, t, tokens, sos, eos, pad: (_beside(sos, i[:, :-1], before=True), t)),
        ),
        {
            "es": "Hay dos lugares de diferencia entre lo que se lee y lo que se pide: en cada "
            "posición se salta una palabra. La columna `k` de `targets` es la palabra que sigue a "
            "la columna `k` de `inputs`.",
            "en": "There are two places between what is read and what is asked for: at each "
            "position a word is skipped. Column `k` of `targets` is the word that follows column "
            "`k` of `inputs`.",
        },
    ),
    Misconception(
        "padding_becomes_eos",
        (
            _with(
                lambda i, t, tokens, sos, eos, pad: (i, np.where(t == pad, eos, t)),
            ),
        ),
        {
            "es": "Pides `<eos>` en todas las posiciones de relleno. La pérdida deja fuera el "
            "relleno, pero contaría todos esos `<eos>`: pon uno solo por fila y deja `pad_id` en "
            "el resto.",
            "en": "You ask for `<eos>` at every position of padding. The loss leaves padding out, "
            "but it would count all those `<eos>`: put just one in each row and leave `pad_id` in "
            "the rest.",
        },
    ),
    Misconception(
        "last_word_lost",
        (
            _with(lambda i, t, tokens, sos, eos, pad: (i[:, :-1], _beside(eos, tokens[:, 1:]))),
            _with(lambda i, t, tokens, sos, eos, pad: (i[:, :-1], t[:, :-1])),
            _with(lambda i, t, tokens, sos, eos, pad: (tokens[:, :-1], tokens[:, 1:])),
        ),
        {
            "es": "Tu resultado tiene una columna de menos, y en las filas más largas se pierde una "
            "palabra o el final. Al añadir `<sos>` por un lado y `<eos>` por el otro, las dos "
            "matrices crecen: `tokens.shape[1] + 1` columnas.",
            "en": "Your result is a column short, and in the longest rows a word or the end is "
            "lost. With `<sos>` put on one side and `<eos>` on the other, both matrices grow: "
            "`tokens.shape[1] + 1` columns.",
        },
    ),
    Misconception(
        "padding_first",
        (_with(_padding_first),),
        {
            "es": "Mueves el relleno al principio de las filas cortas. Aquí va al final, como en "
            "`tokens`: la primera columna de `inputs` es `<sos>` en todas las filas.",
            "en": "You move the padding to the front of the short rows. Here it comes last, as in "
            "`tokens`: the first column of `inputs` is `<sos>` in every row.",
        },
    ),
    Misconception(
        "marks_of_other_course",
        (
            lambda tokens, sos_id, eos_id, pad_id: teacher_forcing(
                np.where(tokens == pad_id, 0, tokens), 2, 3, 0
            ),
        ),
        {
            "es": "Escribes las marcas con números fijos. Son los que usa este capítulo, pero otro "
            "vocabulario tendrá otros: usa `sos_id`, `eos_id` y `pad_id`, que llegan como "
            "argumentos.",
            "en": "You write the marks as fixed numbers. They are those of this chapter, but "
            "another vocabulary will have others: use `sos_id`, `eos_id` and `pad_id`, which come "
            "as arguments.",
        },
    ),
)

EXERCISE = Exercise(
    "teacher_forcing", 8, ("inputs", "targets"), teacher_forcing, cases, MISCONCEPTIONS
)
