"""Small images and questions about them, in two languages: data for the visual answerer.

============  ===================================================================
`scenes`      ``draw``: coloured things, one to a patch, in NumPy
`words`       the words of questions and answers in two languages
`questions`   ``Question``: its words, the right answer, what it asks about
`examples`    ``make_examples``: images, questions and answers to learn from
============  ===================================================================

An image is drawn on the patches of `attn.applications.visual_question.patches`.
"""

from attn_course.images.examples import Example, make_examples
from attn_course.images.questions import Question
from attn_course.images.scenes import Thing, draw

__all__ = ["Example", "Question", "Thing", "draw", "make_examples"]
