"""The exercises of the course and their checker, which names the mistake.

The exercises are in ``chapters``, each in a Python and a TOML file. `check` compares an attempt
with the answers that ``record`` holds; ``diagnose`` finds the known mistake, and ``explain``,
``patterns``, ``relations``, ``shapes`` and ``errors`` write the other messages.

Examples
--------
>>> import attn_course
>>> from attn_course.exercises import check, exercises
>>> from attn.reference import softmax
>>> exercises()[3]
('softmax', 'scaled_dot_product_attention', 'self_attention')
>>> attn_course.set_language("en")
>>> check("softmax", softmax)
Correct. `softmax` agrees with the reference on all 8 inputs.
>>> check("softmax", lambda scores: softmax(scores, axis=0)).misconception
'columns'
>>> attn_course.set_language("es")
"""

from attn_course.exercises.catalogue import exercises
from attn_course.exercises.check import check
from attn_course.exercises.result import Result

__all__ = ["Result", "check", "exercises"]
