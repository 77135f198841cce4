"""Question answering: find the words of a passage that answer a question, or that none does.

============  ======================================================================
`facts`       ``questions``: passages and questions of 41 kinds, made by a grammar
`encoding`    question and context in one sequence, and the span to find
`spans`       ``SpanReader``: the encoder, with a score for every start and end
`answerer`    ``QuestionAnswerer``: fit, answer, look inside, measure, save, load
============  ======================================================================
"""

from attn.applications.question_answering.answerer import Answer, QuestionAnswerer
from attn.applications.question_answering.facts import KINDS, Question, questions

__all__ = ["KINDS", "Answer", "Question", "QuestionAnswerer", "questions"]
