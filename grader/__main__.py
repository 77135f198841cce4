"""Collect and grade problem sets. See ``python -m grader --help``."""

import argparse
import logging
import os
import signal
import sys
from pathlib import Path

from grader import sandbox
from grader.batch import Batch
from grader.class_run import end_with_parent, grade_class, line
from grader.course import Course, CourseError
from grader.export import export
from grader.gradebook import due_date, enter_names, overrule, set_due
from grader.intake import collect
from grader.lateness import extend, set_slip_days
from grader.lms import import_roster
from grader.regrade import DECISIONS, answer
from grader.requests import requests
from grader.roster import Roster
from grader.stats import stats
from grader.submitted import parse_time
from grader.times import told


def main(arguments):
    """Run one command; return its exit status."""
    options = _parser().parse_args(arguments)
    try:
        course = Course(options.course, options.db)
        return COMMANDS[options.command][1](course, options) or 0
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
    except BrokenPipeError:
        # The program that reads our output, such as head, has closed the pipe.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    except OSError as error:
        what = ascii(str(error.filename or options.course))[1:-1]
        print(
            f"{what}: {error.strerror or error}. What was done stays; put that right, and run the "
            "command again.",
            file=sys.stderr,
        )
    return 1


def _stopped(number, frame):
    logging.disable()  # SQLAlchemy logs a query that is interrupted as an error of the database.
    raise KeyboardInterrupt


def _not_heard(unraisable):
    """Raise the KeyboardInterrupt of a signal again in 50 ms if Python discarded it."""
    if unraisable.exc_type is KeyboardInterrupt:
        signal.setitimer(signal.ITIMER_REAL, 0.05)
    else:
        sys.__unraisablehook__(unraisable)


def _roster(course, options):
    if options.source:
        place, n_new, n_known, unread = import_roster(course, options.source)
        print(f"{place}: {n_new} new, {n_known} known.")
        if unread:
            print(f"Columns that were not read: {', '.join(unread)}.")
    roster = Roster.of(course)
    if roster is None:
        raise CourseError(
            f"There is no {course.folder}/roster.csv: say FROM=file.csv, or write it."
        )
    enter_names(course.config(), roster)
    print(f"{len(roster.people)} students are in the roster, and their names in the gradebook.")


def _collect(course, options):
    course.problem_set(options.set)
    with course.turn(options.set, "collect"):
        collected = collect(course, options.set, options.source, course.spoken(options.language))
    print(collected)
    return 1 if collected.left_out else 0


def _grade(course, options):
    _check_walls(options)
    return grade_class(
        course,
        options.set,
        jobs=options.jobs,
        unsafe=options.unsafe,
        again=options.again,
        student=options.student,
        agreed=(lambda n: True) if options.yes else _ask if sys.stdin.isatty() else None,
    )


def _worker(course, options):
    _check_walls(options)
    batch = Batch(course, options.set, options.unsafe, options.student, trial=options.trial)
    for handed, result in batch.work():
        print(line(handed, result), flush=True)


def _due(course, options):
    course.problem_set(options.set)
    print(set_due(course.config(), options.set, options.time))


def _extend(course, options):
    who = {"student": options.student, "group": options.group}
    course.problem_set(options.set)
    due = due_date(course.config(), options.set)
    until = options.until and parse_time(options.until)
    if due and until and until < due:
        raise CourseError(f"{options.set} is due {told(due)}, and {told(until)} is before that.")
    print(extend(course, options.set, **who, days=options.days, until=options.until))


def _slip_days(course, options):
    print(set_slip_days(course, options.days))


def _requests(course, options):
    print(requests(course, options.set))


def _answer(course, options):
    asked, task = course.problem_set(options.set), options.task
    if task not in asked.grade_ids:
        raise CourseError(f"{asked.name} has no {task}. It has {', '.join(asked.grade_ids)}.")
    Batch(course, asked.name, student=options.student)  # It raises if there is no such student.
    if options.points is not None:
        overrule(course.config(), options.student, asked.name, task, options.points)
    said = options.decision, options.sentence
    print(answer(course, asked.name, options.student, task, *said))


def _csv(course, options):
    print(export(course, options.set, options.format, options.column))


def _stats(course, options):
    print(stats(course, options.set, options.language))


def _similar(course, options):
    # copydetect imports matplotlib, which takes a second, and no other command needs it.
    from grader.similar import similar

    print(similar(course, options.set, options.archive))


def _check_walls(options):
    if options.unsafe and os.geteuid() == 0:
        raise CourseError("As root, --unsafe would give student code the machine: it is refused.")
    if not options.unsafe:
        sandbox.available()


def _ask(n_changes):
    return input(f"Take {n_changes} new marks? [y/N] ").strip().lower() in ("y", "yes")


def _path(text):
    return Path(text).expanduser()  # Not every shell expands ~ after FROM=.


def _option(*names, **settings):
    return names, settings


SET = _option("set", help="the problem set")
SOURCE = "--from"
UNSAFE = _option("--unsafe", action="store_true", help="run without the sandbox")
STUDENT = _option("--student", metavar="ID", help="grade this student alone")
EDITION = _option("--language", choices=["en", "es"], help="of notebooks that do not tell")

# COMMANDS[name] is the help text, the function and the arguments that follow the course.
COMMANDS = {
    "roster": (
        "take the students from a table of Moodle, Canvas, Blackboard or your own",
        _roster,
        [
            _option(
                SOURCE, dest="source", type=_path, metavar="CSV", help="the table, if there is one"
            )
        ],
    ),
    "collect": (
        "take what was handed in into the course; of two notebooks, the later",
        _collect,
        [
            SET,
            _option(
                SOURCE,
                dest="source",
                type=_path,
                metavar="PATH",
                help="a folder or a zip (default: nbgrader's exchange)",
            ),
            EDITION,
        ],
    ),
    "due": (
        "say when a set is due",
        _due,
        [SET, _option("time", help='such as "2026-03-06 23:00 UTC", or none')],
    ),
    "extend": (
        "give a student or a group more time, before or after grading",
        _extend,
        [
            SET,
            [
                _option("student", nargs="?", help="who"),
                _option("--group", metavar="NAME", help="or all of a group of the roster"),
            ],
            [
                _option("--days", type=float, metavar="N", help="how many; 0 for none"),
                _option("--until", metavar="TIME", help="or the new due date"),
            ],
        ],
    ),
    "slip-days": (
        "say how many late days each student has for the whole course",
        _slip_days,
        [_option("days", type=int, help="how many")],
    ),
    "grade": (
        "grade a class, write feedback and marks; what is graded already stays",
        _grade,
        [
            SET,
            UNSAFE,
            STUDENT,
            _option(
                "--again", action="store_true", help="grade everything anew; show what changes, ask"
            ),
            _option("--yes", action="store_true", help="take new marks unasked"),
            _option(
                "--jobs", type=int, default=os.cpu_count(), help="workers (default: one per core)"
            ),
        ],
    ),
    "worker": (
        "grade beside other workers, on this host or others, what nobody has graded",
        _worker,
        [SET, UNSAFE, STUDENT, _option("--trial", action="store_true", help="change no mark")],
    ),
    "requests": ("show what students want to have looked at again", _requests, [SET]),
    "answer": (
        "answer a regrade request",
        _answer,
        [
            SET,
            _option("student", help="who asks"),
            _option("task", help="about which task"),
            _option("decision", choices=DECISIONS),
            _option("sentence", help="for the student's page"),
            _option("--points", type=float, metavar="N", help="the new mark of the task"),
        ],
    ),
    "csv": (
        "write the marks of a set, for yourself or for an LMS",
        _csv,
        [
            SET,
            _option("--format", choices=["moodle", "canvas"], help="of an LMS's import"),
            _option("--column", metavar="NAME", help="what the LMS calls the assignment"),
        ],
    ),
    "stats": (
        "show how many students made each mistake, the hardest task first",
        _stats,
        [SET, _option("--language", choices=["en", "es"], help="of hints")],
    ),
    "similar": (
        "list submissions that resemble each other or public answers; change no mark",
        _similar,
        [
            SET,
            _option(
                "--archive",
                action="append",
                type=_path,
                default=[],
                metavar="FOLDER",
                help="notebooks and Python files that students may have found; may be repeated",
            ),
        ],
    ),
}


def _parser():
    parser = argparse.ArgumentParser(prog="python -m grader", description=__doc__)
    commands = parser.add_subparsers(dest="command", required=True)
    for name, (text, _, arguments) in COMMANDS.items():
        command = commands.add_parser(name, help=text, description=text)
        command.add_argument("course", type=Path, help="the folder that `make release` made")
        command.add_argument("--db", metavar="URL", help="gradebook, if not the course's own")
        for argument in arguments:
            several = argument if isinstance(argument, list) else [argument]
            # A list holds alternatives, of which exactly one is required.
            group = (
                command.add_mutually_exclusive_group(required=True) if len(several) > 1 else command
            )
            for names, settings in several:
                group.add_argument(*names, **settings)
    return parser


if __name__ == "__main__":
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGALRM):
        signal.signal(number, _stopped)
    sys.unraisablehook = _not_heard
    is_quiet = end_with_parent()
    try:
        sys.exit(main(sys.argv[1:]))
    except KeyboardInterrupt:
        if not is_quiet:
            print("Stopped. What was done stays; the same command goes on.", file=sys.stderr)
        sys.exit(130)
