"""How the grader calls and judges a function in this course: by the code that `check` uses.

The names are those that `grader.checks` lists.
"""

from attn_course.exercises.compare import Answer, run
from attn_course.exercises.diagnose import misconception, wrong_on
from attn_course.exercises.record import record_of

__all__ = ["Answer", "misconception", "record_of", "run", "wrong_on"]
