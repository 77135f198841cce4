"""Question answering: find the words of a passage that answer a question, or that there is no
answer.

============  ======================================================================
`encoding`    question and context in one sequence; ``Answer``: the words of a span of it
`spans`       ``SpanReader``: the encoder, with a score for every start and end
`answerer`    ``QuestionAnswerer``: fit, answer, look inside, measure, save, load
============  ======================================================================
"""

from attn.applications.question_answering.answerer import QuestionAnswerer
from attn.applications.question_answering.encoding import Answer

__all__ = ["Answer", "QuestionAnswerer"]
