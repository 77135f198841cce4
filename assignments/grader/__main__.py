"""Grade problem sets. See ``python -m assignments.grader --help``."""

import argparse
import os
import sys
from pathlib import Path

from assignments.grader import sandbox
from assignments.grader.batch import Batch
from assignments.grader.class_run import grade_class, line
from assignments.grader.course import Course, CourseError
from assignments.grader.export import export
from assignments.grader.stats import stats


def main(arguments):
    """Run one command; return its exit status."""
    options = _parser().parse_args(arguments)
    if options.db:
        # The settings of both editions read it, and so do the workers.
        os.environ["ATTN_GRADEBOOK"] = options.db
    try:
        course = Course(options.course)
        if options.command == "csv":
            print(export(course, options.set))
            return 0
        if options.command == "stats":
            print(stats(course, options.set, options.language))
            return 0
        if options.command == "similar":
            # What draws figures comes with it, and no other command needs that.
            from assignments.grader.similar import similar

            print(similar(course, options.set, options.archive))
            return 0
        if options.unsafe and os.geteuid() == 0:
            raise CourseError(
                "As root, --unsafe would give student code the machine: it is refused."
            )
        if not options.unsafe:
            sandbox.available()
        if options.command == "worker":
            batch = Batch(course, options.set, options.unsafe, options.student, trial=options.trial)
            for handed, result in batch.work():
                print(line(handed, result), flush=True)
            return 0
        return grade_class(
            course,
            options.set,
            jobs=options.jobs,
            unsafe=options.unsafe,
            again=options.again,
            student=options.student,
            agreed=(lambda n: True) if options.yes else _ask if sys.stdin.isatty() else None,
        )
    except CourseError as error:
        print(error, file=sys.stderr)
    except sandbox.NoSandbox as reason:
        otherwise = (
            "Grade as another user."
            if os.geteuid() == 0
            else "Student code could read and delete your files; to run it all the same, add "
            "--unsafe."
        )
        print(f"No sandbox: {reason}. {otherwise}", file=sys.stderr)
    return 1


def _ask(n_changes):
    return input(f"Take {n_changes} new marks? [y/N] ").strip().lower() in ("y", "yes")


def _parser():
    parser = argparse.ArgumentParser(prog="python -m assignments.grader", description=__doc__)
    commands = parser.add_subparsers(dest="command", required=True)
    helps = {
        "grade": "grade a class, write feedback and marks; what is graded already stays",
        "worker": "grade beside other workers, on this host or others, what nobody has graded",
        "csv": "write the marks of a set for an LMS",
        "stats": "show how many students made each mistake, the hardest task first",
        "similar": "list submissions that resemble each other or public answers; change no mark",
    }
    for name, text in helps.items():
        command = commands.add_parser(name, help=text, description=text)
        command.add_argument("course", type=Path, help="the folder that `make release` made")
        command.add_argument("set", help="the problem set, such as ps2")
        command.add_argument("--db", metavar="URL", help="gradebook, if not the course's own")
        if name == "stats":
            command.add_argument("--language", choices=["en", "es"], default="en", help="of hints")
        if name == "similar":
            command.add_argument(
                "--archive", action="append", type=Path, default=[], metavar="FOLDER",
                help="notebooks and Python files that students may have found; may be repeated",
            )  # fmt: skip
        if name in ("grade", "worker"):
            command.add_argument("--unsafe", action="store_true", help="run without the sandbox")
            command.add_argument("--student", metavar="ID", help="grade this student alone")
        if name == "worker":
            command.add_argument("--trial", action="store_true", help="change no mark")
        if name == "grade":
            command.add_argument(
                "--again", action="store_true", help="grade everything anew; show what changes, ask"
            )
            command.add_argument("--yes", action="store_true", help="take new marks unasked")
            command.add_argument(
                "--jobs", type=int, default=os.cpu_count(), help="workers (default: one per core)"
            )
    return parser


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
