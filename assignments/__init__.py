"""Problem sets: one master each, two nbgrader courses, and a grader that can be trusted.

====================  =====================================================================
`src/`                the masters, both languages in one file, as the chapters are
`problem_sets.py`     what a set is: tasks, points, the groups of inputs that earn them
`sets/`               the sets: each exercise with its oracle and known mistakes, and the points
`release.py`          masters to courses: what instructors keep and what students get
`grader/`             sandbox, judge, gradebook, feedback
`leaderboard/`        the translators of the project, measured in the sandbox
`demo_class.py`       a generated class, from release to feedback
====================  =====================================================================
"""
