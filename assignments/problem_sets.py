"""What each problem set asks, and what each right answer is worth."""

from collections.abc import Callable
from dataclasses import dataclass

from attn_course.exercises.spec import Exercise


@dataclass(frozen=True, eq=False)  # a task equals itself alone, so its draws can be kept
class Task:
    """A function to write, graded by what it computes.

    Attributes
    ----------
    grade_id : str
        Of the locked cell that holds its points, in every edition.
    exercise : Exercise
        The oracle, the inputs and the known mistakes; `attn_course.exercises.check` uses the same.
    points : dict of str to float
        What each group of inputs is worth. The first group is the task itself: an answer that
        fails it earns nothing for the others, which a constant might pass by accident.
        ``"arguments"`` has no inputs of its own: it is for leaving those of the caller alone.
    group : callable
        From an input to the name of its group.
    """

    grade_id: str
    exercise: Exercise
    points: dict[str, float]
    group: Callable[[dict], str]

    @property
    def max_points(self):
        """What the task is worth."""
        return sum(self.points.values())


@dataclass(frozen=True)
class Slip:
    """A mistake that a student of the demonstration class makes.

    Attributes
    ----------
    about : str
        What the student does, in the third person.
    grade_id : str
        Of the task.
    right, wrong : str
        What the model answer says, and what stands in its place.
    misconception : str
        Id of the known mistake that the feedback names.
    """

    about: str
    grade_id: str
    right: str
    wrong: str
    misconception: str


@dataclass(frozen=True)
class ProblemSet:
    """A problem set.

    Attributes
    ----------
    name : str
        As nbgrader knows it; also the stem of its master and of its notebook.
    tasks : tuple of Task
        What the grader marks.
    manual : tuple of str
        Grade ids of the cells that the instructor marks, with the rubric of the master.
    slips : tuple of Slip
        Five mistakes for `assignments.demo_class` to show.
    packages : tuple of str
        What submissions may import besides the standard library.
    """

    name: str
    tasks: tuple[Task, ...]
    manual: tuple[str, ...]
    slips: tuple[Slip, ...] = ()
    packages: tuple[str, ...] = ("numpy",)

    @property
    def grade_ids(self):
        """The grade ids of all its tasks, those of the instructor last."""
        return [*(task.grade_id for task in self.tasks), *self.manual]
