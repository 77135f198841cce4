"""The regrade requests of a class, for the person who answers them."""

from grader.batch import Batch
from grader.feedback import verdict
from grader.gradebook import is_recorded, settle
from grader.judge import Mark
from grader.regrade import shown_requests


def requests(course, name):
    """Return the regrade requests of a set, each with its mark and verdict, the open ones first.

    Parameters
    ----------
    course : grader.course.Course
    name : str

    Returns
    -------
    str

    Raises
    ------
    CourseError
        If there is no such set, or nothing was handed in.
    """
    batch = Batch(course, name)
    asked = [
        (handed, task, request)
        for handed in batch.submissions
        for task, request in shown_requests(course, handed, batch.set).items()
    ]
    asked.sort(key=lambda one: one[2]["decision"] is not None)
    n_open = sum(request["decision"] is None for *_, request in asked)
    blocks = [_block(batch, *one) for one in asked]
    return "\n\n".join([*blocks, f"Requests: {len(asked)}. Open: {n_open}."])


def _block(batch, handed, task, request):
    config, points = batch.config[handed.language], ""
    if is_recorded(config, handed.student, batch.name):
        grades = settle(config, handed.student, batch.name, batch.lateness)["grades"]
        if task in grades:
            points = f": {grades[task]['score']:g} / {grades[task]['max_score']:g}"
    state = f"{request['decision']}: {request['answer']}" if request["decision"] else "open"
    marks = (batch.result(handed) or {}).get("graded", {}).get("marks", ())
    found = [verdict(Mark(**mark), batch.set) for mark in marks if mark["grade_id"] == task]
    return "\n".join(
        [
            f"{handed.student} ({handed.language}), {task or 'no task'}{points} [{state}]",
            *(f"  | {line}" for said in found for line in said.split("\n")),
            *(f"    {line}".rstrip() for line in request["text"].split("\n")),
        ]
    )
