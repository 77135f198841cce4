"""Release the problem sets of this course, those for practice unless ``--sets`` names others.

Beside each notebook lies ``SET_check.npz``, from which `attn_course.exercises.check` answers:
inputs, right answers and those of the known mistakes, but no function that computes them.
"""

import functools
import sys

import grader.release
from assignments.problem_sets import PUBLIC

release = functools.partial(grader.release.release, sets=PUBLIC)
main = functools.partial(grader.release.main, sets=PUBLIC)

if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
