"""Chapter 10, `question_match`: which words of a passage its question has, and how to get it wrong."""

import numpy as np

from attn.reference import question_match
from attn_course.exercises.spec import Exercise


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
        "question": np.array([[5, 6, 7, 2, 6], [8, 1, 9, 0, 0]]),
        "context": np.array([[9, 6, 7, 5, 6, 0], [9, 0, 0, 0, 0, 0]]),
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


def _last_place_only(question, context):
    return (context == question[:, -1:]) & (context != 0)


MISTAKES = {
    "padding_matches": (_any,),
    "whole_batch": (_whole_batch, _whole_batch_padded),
    "first_question": (_first_question,),
    "all": (_all,),
    "inverted": (_inverted, _inverted_real),
    "marks_the_question": (_of_the_question,),
    "same_place": (_same_place,),
    "counts": (_counts,),
    "ids": (_ids,),
    "first_occurrence": (_first_occurrence,),
    "one_word": (_first_word, _last_word),
    "whole_context": (_by_sentence,),
    "not_reduced": (_matrix,),
    "indices": (_indices,),
    "overwritten": (_last_place_only,),
}

EXERCISE = Exercise.from_file(__file__, ("marks",), question_match, cases, MISTAKES)
