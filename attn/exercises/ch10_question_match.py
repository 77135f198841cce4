"""Chapter 10, `question_match`: which words of a passage its question has, and the ways to miss."""

import numpy as np

from attn.exercises.spec import Exercise, Misconception
from attn.reference import question_match


def cases(seed):
    """Return inputs: padded batches whose questions and contexts share some tokens.

    Parameters
    ----------
    seed : int
        Seed of the random numbers; the shapes are always the same.

    Returns
    -------
    list of dict
        With the keys ``question`` and ``context``; 0 is padding.
    """
    rng = np.random.default_rng(seed)

    def draw(batch_size, question_len, context_len, vocab_size):
        def rows(length):
            ids = rng.integers(1, vocab_size, (batch_size, length))
            real = rng.integers(max(1, length // 2), length + 1, batch_size)
            real[rng.integers(batch_size)] = length - (length > 2)
            return np.where(np.arange(length) < real[:, None], ids, 0)

        return {"question": rows(question_len), "context": rows(context_len)}

    first = {
        "question": np.array([[5, 6, 7, 0], [8, 6, 9, 4]]),
        "context": np.array([[3, 6, 2, 5, 6, 0], [7, 9, 8, 3, 5, 9]]),
    }
    sizes = [
        (1, 3, 6, 9),
        (2, 4, 4, 7),
        (3, 5, 9, 15),
        (4, 3, 8, 9),
        (2, 7, 12, 20),
        (5, 6, 10, 16),
    ]
    return [first, *(draw(*size) for size in sizes)]


def _equal(question, context):
    return context[:, :, None] == question[:, None, :]


def _any(question, context):
    return _equal(question, context).any(axis=-1)


def _all(question, context):
    return _equal(question, context).all(axis=-1)


def _whole_batch(question, context):
    return np.isin(context, question) & (context != 0)


def _whole_batch_padded(question, context):
    return np.isin(context, question)


def _first_question(question, context):
    return np.isin(context, question[0]) & (context != 0)


def _inverted(question, context):
    return ~question_match(question, context)


def _inverted_real(question, context):
    return ~question_match(question, context) & (context != 0)


def _of_the_question(question, context):
    return question_match(context, question)


def _counts(question, context):
    return _equal(question, context).sum(axis=-1) * (context != 0)


def _ids(question, context):
    return np.where(question_match(question, context), context, 0)


def _same_place(question, context):
    length = min(question.shape[1], context.shape[1])
    marks = np.zeros(context.shape, dtype=bool)
    marks[:, :length] = question[:, :length] == context[:, :length]
    return marks & (context != 0)


def _first_occurrence(question, context):
    marks = question_match(question, context)
    earlier = np.tril(context[:, :, None] == context[:, None, :], k=-1).any(axis=-1)
    return marks & ~earlier


def _first_word(question, context):
    return context == question[:, :1]


def _last_word(question, context):
    real = (question != 0).sum(axis=1) - 1
    return context == np.take_along_axis(question, real[:, None], axis=1)


def _by_sentence(question, context):
    marks = question_match(question, context)
    return np.repeat(marks.any(axis=1, keepdims=True), context.shape[1], axis=1)


def _matrix(question, context):
    return _equal(question, context) & (context != 0)[:, :, None]


def _indices(question, context):
    return np.argwhere(question_match(question, context))


MISCONCEPTIONS = (
    Misconception(
        "padding_matches",
        (_any,),
        {
            "es": "El relleno de la pregunta (0) es igual al relleno del texto (0), y lo marcas. "
            "Nadie preguntó por él: exige además `context != 0`.",
            "en": "The padding of the question (0) equals the padding of the context (0), and you "
            "mark it. Nobody asked about it: also require `context != 0`.",
        },
    ),
    Misconception(
        "whole_batch",
        (_whole_batch, _whole_batch_padded),
        {
            "es": "Comparas cada texto con las preguntas de *todo* el lote. La marca de un ejemplo "
            "dependería de quién le tocó de vecino: compara la fila $b$ solo con la fila $b$.",
            "en": "You compare each context with the questions of the *whole* batch. The mark of an "
            "example would depend on its neighbours: compare row $b$ only with row $b$.",
        },
    ),
    Misconception(
        "first_question",
        (_first_question,),
        {
            "es": "Usas la primera pregunta para todos los textos. Cada fila tiene la suya.",
            "en": "You use the first question for every context. Each row has its own.",
        },
    ),
    Misconception(
        "all",
        (_all,),
        {
            "es": "Pides que el token sea igual a *todos* los de la pregunta. Basta con uno: "
            "`any`, no `all`.",
            "en": "You ask the token to equal *all* of the question's. One is enough: `any`, not "
            "`all`.",
        },
    ),
    Misconception(
        "inverted",
        (_inverted, _inverted_real),
        {
            "es": "Marcas los tokens que *no* están en la pregunta. `True` es «también está en la "
            "pregunta».",
            "en": "You mark the tokens that are *not* in the question. `True` means “the question "
            "has it too”.",
        },
    ),
    Misconception(
        "marks_the_question",
        (_of_the_question,),
        {
            "es": "Marcas los tokens de la pregunta. La respuesta se busca en el texto, y es ahí "
            "donde hace falta la señal: el resultado tiene la forma de `context`.",
            "en": "You mark the tokens of the question. The answer is looked for in the context, "
            "and that is where the mark is needed: the result has the shape of `context`.",
        },
    ),
    Misconception(
        "same_place",
        (_same_place,),
        {
            "es": "Comparas posición con posición. Una palabra cuenta esté donde esté: compara "
            "cada token del texto con todos los de la pregunta.",
            "en": "You compare place with place. A word counts wherever it stands: compare each "
            "token of the context with all of the question's.",
        },
    ),
    Misconception(
        "counts",
        (_counts,),
        {
            "es": "Devuelves cuántas veces sale el token en la pregunta. La señal es sí o no: un "
            "*the* repetido no vale por dos.",
            "en": "You return how many times the question has the token. The mark is yes or no: a "
            "repeated *the* is not worth two.",
        },
    ),
    Misconception(
        "ids",
        (_ids,),
        {
            "es": "Devuelves los tokens que coinciden. Se pide un booleano por posición: si "
            "coincide o no.",
            "en": "You return the tokens that match. A boolean for each position is wanted: "
            "whether it matches.",
        },
    ),
    Misconception(
        "first_occurrence",
        (_first_occurrence,),
        {
            "es": "Solo marcas la primera aparición de cada token. La repetida puede ser la que "
            "está junto a la respuesta: márcalas todas.",
            "en": "You mark only the first occurrence of each token. The repeated one may be the "
            "one beside the answer: mark them all.",
        },
    ),
    Misconception(
        "one_word",
        (_first_word, _last_word),
        {
            "es": "Buscas una sola palabra de la pregunta, la primera o la última. Cuentan todas.",
            "en": "You look for one word of the question only, the first or the last. All of them "
            "count.",
        },
    ),
    Misconception(
        "whole_context",
        (_by_sentence,),
        {
            "es": "Si coincide algún token, marcas el texto entero. Así la señal no distingue "
            "nada: es una por token.",
            "en": "If any token matches, you mark the whole context. Such a mark tells nothing "
            "apart: there is one for each token.",
        },
    ),
    Misconception(
        "not_reduced",
        (_matrix,),
        {
            "es": "Devuelves la tabla entera de comparaciones, texto por pregunta. Falta el último "
            "paso: ¿hay *algún* acierto en la fila? `any(axis=-1)`.",
            "en": "You return the whole table of comparisons, context by question. The last step is "
            "missing: is there *any* hit in the row? `any(axis=-1)`.",
        },
    ),
    Misconception(
        "indices",
        (_indices,),
        {
            "es": "Devuelves las posiciones de los aciertos. Se pide un arreglo booleano de la "
            "forma de `context`.",
            "en": "You return the positions of the hits. A boolean array of the shape of "
            "`context` is wanted.",
        },
    ),
)

EXERCISE = Exercise("question_match", 10, ("marks",), question_match, cases, MISCONCEPTIONS)
