"""Questions about small images, answered by words that attend to patches.

============  ===================================================================
`scenes`      ``draw``: coloured things, one to a patch, in NumPy
`words`       the words of questions and answers in two languages
`questions`   ``Question``: its words, the right answer, what it asks about
`examples`    ``make_examples``: images, questions and answers to learn from
`model`       ``VisualQuestionModel``: a decoder whose memory is the patches
`answerer`    ``VisualQuestionAnswerer``: fit, answer, look, measure, save, load
============  ===================================================================

Train for three steps, and the answer is a guess; a minute of the defaults makes it right:

>>> from attn.training import TrainingConfig
>>> examples = make_examples(50, "en")
>>> answerer = VisualQuestionAnswerer.fit(examples, training=TrainingConfig(steps=3))
>>> answer = answerer.answer(examples[0].image, "What colour is the tree?")
>>> attention = answerer.attention(examples[0].image, "What colour is the tree?")
>>> attention.tokens
['<sos>', 'what', 'colour', 'is', 'the', 'tree', '?']
>>> attention.weights.shape
(2, 4, 7, 6, 6)
"""

from attn.applications.visual_question.answerer import (
    Answer,
    VisualAttention,
    VisualQuestionAnswerer,
)
from attn.applications.visual_question.examples import Example, make_examples
from attn.applications.visual_question.questions import Question
from attn.applications.visual_question.scenes import Thing, draw

__all__ = [
    "Answer",
    "Example",
    "Question",
    "Thing",
    "VisualAttention",
    "VisualQuestionAnswerer",
    "draw",
    "make_examples",
]
