"""Make the table of the projects: ``python -m assignments.leaderboard COURSE``."""

import argparse
import sys
from pathlib import Path

from assignments.leaderboard.score import score
from assignments.leaderboard.table import WHY, code, markdown, table
from grader.course import Course, CourseError, write
from grader.sandbox import NoSandbox
from grader.submitted import find


def main(arguments):
    """Score the submissions and write the table in two formats; return the exit status."""
    parser = argparse.ArgumentParser(prog="python -m assignments.leaderboard", description=__doc__)
    parser.add_argument("course", type=Path, help="the folder that `make release` made")
    parser.add_argument("--names", action="store_true", help="show names instead of codes")
    options = parser.parse_args(arguments)
    try:
        course = Course(options.course)
        course.problem_set("project")  # It raises if the course has none.
        submissions, skipped, _ = find(course, "project")
        print(*skipped, sep="\n", end="\n" * bool(skipped))
        if not submissions:
            raise CourseError(f"There are no submissions of project in {course.folder}.")
        scores, unfit = [], []
        for handed in submissions:
            name = handed.student if options.names else code(course.secret, handed.student)
            numbers, why = score(handed.path.parent)
            if numbers:
                scores.append((name, numbers))
            else:
                unfit.append((name, why))
            said = WHY.get(why, WHY["stopped"]) if why else "scored"
            print(f"{handed.student} ({name}): {said}", flush=True)
    except (CourseError, NoSandbox) as error:
        print(error, file=sys.stderr)
        return 1
    for suffix, text in (("md", markdown(scores, unfit)), ("csv", table(scores))):
        write(course.folder / f"leaderboard.{suffix}", text)
        print(course.folder / f"leaderboard.{suffix}")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
