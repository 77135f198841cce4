"""The time to grade a large class. ``python -m benchmarks.grading [STUDENTS] [JOBS]``.

Every student submits the model answers, so that all functions run on all inputs; the seconds for
the class and for one submission are printed.
"""

import os
import resource
import shutil
import sys
import tempfile
import time
from pathlib import Path

from assignments.demo_class import Student, hand_in
from assignments.release import release
from grader.class_run import grade_class
from grader.course import Course


def main(n_students=500, jobs=2):
    """Grade a class of `n_students`, half of them in each language."""
    folder = Path(tempfile.mkdtemp(prefix="attn-grading-"))
    release(folder, ["ps2"])
    course = Course(folder)
    asked = course.problem_set("ps2")
    for n in range(n_students):
        hand_in(course, asked, Student(f"student{n:03}", "", "", ("es", "en")[n % 2], ""))
    start, before = time.perf_counter(), os.times()
    grade_class(course, "ps2", jobs=jobs)
    wall, after = time.perf_counter() - start, os.times()
    cpu = after.user - before.user + after.system - before.system
    cpu += after.children_user - before.children_user
    cpu += after.children_system - before.children_system
    memory = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1024
    print(
        f"{n_students} submissions, {jobs} workers: {wall:.0f} s, {cpu:.0f} s of processor "
        f"({cpu / n_students:.2f} s each), {memory:.0f} MB at most in a process"
    )
    shutil.rmtree(folder)


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
