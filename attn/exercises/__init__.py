"""The exercises of the course and their checker, which names the mistake.

Examples
--------
>>> import attn
>>> from attn.exercises import check, exercises
>>> from attn.reference import softmax
>>> exercises()[3]
('softmax', 'scaled_dot_product_attention', 'self_attention')
>>> attn.set_language("en")
>>> check("softmax", softmax)
Correct. `softmax` agrees with the reference on all 8 inputs.
>>> check("softmax", lambda scores: softmax(scores, axis=0)).misconception
'columns'
>>> attn.set_language("es")
"""

from attn.exercises.check import Result, check, exercises

__all__ = ["Result", "check", "exercises"]
