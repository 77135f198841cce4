"""Question answering: find the words of a passage that answer a question, or that none does.

============  ======================================================================
`encoding`    question and context in one sequence, and the span to find
`spans`       ``SpanReader``: the encoder, with a score for every start and end
`answers`     ``Answer``: the words that a span quotes
`answerer`    ``QuestionAnswerer``: fit, answer, look inside, measure, save, load
============  ======================================================================
"""

from attn.applications.question_answering.answerer import QuestionAnswerer
from attn.applications.question_answering.answers import Answer

__all__ = ["Answer", "QuestionAnswerer"]
