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
`roster`         who takes the course
`lms`            what Moodle and Canvas give and take
`inbox`          the files of a folder or a zip, none of which is believed
`intake`         from there into the course
`submitted`      what was handed in, by whom, when, in which language
`times`          a time as people write it, read or refused
`lateness`       extensions and slip days
`batch`          each submission of a class once, beside other workers
`class_run`      workers on every core, progress, a summary
`autograded`     the notebook that formgrader shows
`feedback`       the page that the student gets back, in the words of `words`
`regrade`        what a student asks to have looked at again, and the answer
`requests`       what a class asks, for whoever answers
`similar`        submissions that resemble each other, for a person to look at
`export`         a table for the LMS
`tables`         CSV that no program takes for formulas
===============  ==========================================================================

``python -m assignments.grader --help`` lists the commands.
"""

import sys

if sys.platform == "win32":
    sys.exit("The grader needs Linux. On Windows, use it within WSL 2.")
