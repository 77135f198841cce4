"""Regrade requests of students, and their answers.

A student hands in ``SET_regrade.md``, in which each task has a heading; the feedback page shows
what to copy. Answers are in ``COURSE/regrades.csv``, and on the page with the next `make grade`.
"""

import re

from grader.course import CourseError
from grader.submission import BadSubmission, plain_bytes
from grader.tables import read_table, write_table
from grader.words import WORDS

MOST_BYTES = 20 * 1024
COLUMNS = ("set", "student", "task", "decision", "answer")
DECISIONS = ("accepted", "declined")
ANY = ""  # the task of a request that names none


def place_of(notebook, name):
    """Return the path of the request of a submission, from the path of its notebook."""
    return notebook.with_name(f"{name}_regrade.md")


def form(name, tasks, language):
    """Return the form that a student fills in.

    Parameters
    ----------
    name : str
        The set.
    tasks : iterable of str
        The grade ids of its tasks.
    language : {"es", "en"}
    """
    words = WORDS[language]
    title = words["regrade_title"].format(name=name)
    parts = [f"# {title}", words["regrade_help"]]
    for task in tasks:
        parts += [f"## {task}", *words["regrade_prompts"]]
    return "\n\n".join(parts) + "\n"


def requests_of(notebook, name, tasks):
    """Return the text of a student's request about each task.

    Parameters
    ----------
    notebook : Path
        The notebook that was handed in.
    name : str
        The set.
    tasks : collection of str
        The grade ids of its tasks.

    Returns
    -------
    dict of str to str
        By grade id; under ``""`` what is under no heading that is one.
    """
    try:
        text = plain_bytes(place_of(notebook, name), MOST_BYTES).decode("utf-8-sig", "replace")
    except BadSubmission:
        return {}
    lines = re.sub(r"\r\n?", "\n", text).split("\n")
    printed = {line for lang in WORDS for line in form(name, (), lang).split("\n") if line}
    prompts = {prompt for words in WORDS.values() for prompt in words["regrade_prompts"]}
    asked, task = {}, ANY
    for line in lines:
        heading = re.fullmatch(r"#+\s*(\S+)\s*", line)
        if heading and heading[1] in tasks:
            task = heading[1]
        elif line.strip() not in printed:
            asked.setdefault(task, []).append("".join(c if _is_plain(c) else "�" for c in line))
    return {
        task: "\n".join(said).strip()
        for task, said in asked.items()
        if any(line.strip() not in prompts | {""} for line in said)
    }


def answers_of(course, name, student):
    """Return the rows of a student's answered requests, by grade id.

    Raises
    ------
    CourseError
        If ``regrades.csv`` has a decision that is none.
    """
    return {
        row["task"]: row for row in _rows(course) if (row["set"], row["student"]) == (name, student)
    }


def shown_requests(course, handed, asked):
    """Return the requests and answers that the page of a student shows.

    Parameters
    ----------
    course : grader.course.Course
    handed : grader.submitted.Handed
    asked : ProblemSet

    Returns
    -------
    dict of str to dict
        The ``text``, ``decision`` (None if there is no answer) and ``answer`` of each request, by
        grade id.
    """
    answers = answers_of(course, asked.name, handed.student)
    said = requests_of(handed.path, asked.name, asked.grade_ids)
    nothing = {"decision": None, "answer": ""}
    return {
        task: {"text": said.get(task, "")}
        | {column: answers.get(task, nothing)[column] for column in nothing}
        for task in dict.fromkeys([*said, *answers])
    }


def answer(course, name, student, task, decision, sentence):
    """Store the answer to a request, in place of an earlier one; return a sentence that says so.

    Raises
    ------
    CourseError
        If ``regrades.csv`` cannot be understood.
    """
    who = {"set": name, "student": student, "task": task}
    rows = [row for row in _rows(course) if any(row[key] != who[key] for key in who)]
    rows.append(who | {"decision": decision, "answer": sentence})
    write_table(course.folder / "regrades.csv", COLUMNS, rows)
    return f"{student}, {task or 'no task'}: {decision}. The next `make grade` puts it on the page."


def _rows(course):
    path = course.folder / "regrades.csv"
    rows = read_table(path) if path.exists() else []
    for row in rows:
        if row.get("decision") not in DECISIONS:
            raise CourseError(
                f"{path}, line {row['line']}: expected accepted or declined, "
                f"got {row.get('decision', '')!r}."
            )
    return [{column: row.get(column, "") for column in COLUMNS} for row in rows]


def _is_plain(character):
    return character.isprintable() or character == "\t"
