"""The problem sets of the course: one master each, from which two courses of nbgrader are made.

====================  =====================================================================
`sets/`               the sets: masters in both languages, tasks, hints, points, proofs
`problem_sets.py`     what the grader knows of this course
`checks.py`           how the grader calls and judges a function: with the code of `check`
`release.py`          sets to courses: what instructors keep and what students get
`new_set.py`          a set of one's own, to start from
`leaderboard/`        the translators of the project, measured in the sandbox
`hub/`                a JupyterHub for the class, to start from
`demo_class.py`       a generated class, from release to feedback
====================  =====================================================================
"""
