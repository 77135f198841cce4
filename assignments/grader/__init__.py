"""The grader: student code runs in a sandbox, and nobody believes what comes out of it.

===============  ==========================================================================
`sandbox`        run a submission where it can do no harm
`syscalls`       which system calls may be made in there
`nobody`         what runs in there first, and gives up all rights
`inside`         what runs in there: the cells, and the functions on their inputs
`wire`           frames of arrays between inside and outside
`submission`     read a notebook that may be anything
`judge`          answers to points, and to the name of the mistake
`grade`          one submission, from file to marks
`course`         where a course keeps its things
`gradebook`      marks into nbgrader's database
`submitted`      what was handed in, by whom, when, in which language
`batch`          each submission of a class once, beside other workers
`class_run`      workers on every core, progress, a summary
`autograded`     the notebook that formgrader shows
`feedback`       the page that the student gets back, in the words of `words`
`similar`        submissions that resemble each other, for a person to look at
`export`         a table for the LMS
===============  ==========================================================================

``python -m assignments.grader --help`` lists the commands.
"""

import sys

if sys.platform == "win32":
    sys.exit("The grader needs Linux. On Windows, use it within WSL 2.")
