"""The problem sets of this course, and everything that the grader knows of it.

A set is a folder with all its files: ``__init__.py`` with `ProblemSet` as
``SET``; its tasks and their hints, two files each; ``master.md``, from which the notebooks of both
languages are made; ``proofs.py``, the right and wrong answers with which it is tested; and perhaps
``variants.toml``. The sets of `PUBLIC` are for practice and to start from; sets whose marks count
lie in a folder of the instructor's.
"""

import io
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType

import grader.problem_sets
from assignments import checks
from attn_course.exercises.catalogue import modules
from attn_course.exercises.record import record_of, write_records
from attn_course.palette import DARK, LIGHT
from grader.problem_sets import Conventions, CourseError

PUBLIC = Path(__file__).resolve().parent / "sets"

GROUPS = {
    "large numbers": {"es": "números grandes", "en": "large numbers"},
    "empty rows": {"es": "filas sin nada permitido", "en": "rows with nothing allowed"},
    "batches": {"es": "otros ejes de lote", "en": "other batch axes"},
    "masks": {"es": "con máscara", "en": "with a mask"},
    "padding at the end": {"es": "relleno al final", "en": "padding at the end"},
    "padding anywhere": {"es": "relleno en cualquier sitio", "en": "padding anywhere"},
    "ties": {"es": "empates", "en": "ties"},
    "zero vectors": {"es": "vectores de ceros", "en": "vectors of zeros"},
    "empty sentences": {"es": "oraciones vacías", "en": "empty sentences"},
    "few words": {"es": "pocas palabras", "en": "few words"},
    "other widths": {"es": "otros anchos", "en": "other widths"},
    "no head left": {"es": "ninguna cabeza", "en": "no head left"},
    "small gradients": {"es": "gradientes bajo el límite", "en": "gradients below the limit"},
    "zero gradients": {"es": "gradientes de ceros", "en": "gradients of zeros"},
    "tiny gradients": {"es": "gradientes diminutos", "en": "tiny gradients"},
    "smoothing": {"es": "con suavizado", "en": "with smoothing"},
    "vectors": {"es": "vectores", "en": "vectors"},
    "more axes": {"es": "más de dos ejes", "en": "more than two axes"},
    "floor": {"es": "con suelo", "en": "with a floor"},
    "after the end": {"es": "después del final", "en": "after the end"},
    "without warm-up": {"es": "sin calentamiento", "en": "without warm-up"},
    "empty parts": {"es": "partes vacías", "en": "empty parts"},
    "several sentences": {"es": "varias oraciones", "en": "several sentences"},
    "cut off": {"es": "sin terminar en el límite", "en": "unfinished at the limit"},
    "unequal lengths": {"es": "longitudes desiguales", "en": "unequal lengths"},
    "empty caches": {"es": "cachés vacías", "en": "empty caches"},
    "other sizes": {"es": "otros valores de n", "en": "other values of n"},
    "short sentences": {"es": "oraciones cortas", "en": "short sentences"},
    "several references": {"es": "varias referencias", "en": "several references"},
    "nothing shared": {"es": "órdenes sin aciertos", "en": "orders without hits"},
    "beam of one": {"es": "haz de uno", "en": "a beam of one"},
    "small vectors": {"es": "vectores pequeños", "en": "small vectors"},
    "nearly constant": {"es": "vectores casi constantes", "en": "nearly constant vectors"},
    "backwards": {"es": "pasos hacia atrás", "en": "steps backwards"},
    "beyond the table": {"es": "más allá de la tabla", "en": "beyond the table"},
    "fractions": {"es": "posiciones no enteras", "en": "positions between whole ones"},
    "mixtures": {"es": "mezclas de posiciones", "en": "mixtures of positions"},
    "odd widths": {"es": "anchura impar", "en": "odd widths"},
    "cut texts": {"es": "textos cortados", "en": "texts cut in two"},
    "first tokens": {"es": "primeros tokens a la vista", "en": "first tokens in view"},
    "padding in front": {"es": "relleno delante", "en": "padding in front"},
    "stored keys": {"es": "keys guardadas", "en": "stored keys"},
}
WORDS = {
    "es": {
        "unknown": "No es ninguno de los errores que reconocemos. Ejecuta `check` en tu cuaderno: "
        "te enseña una entrada pequeña y lo que se esperaba.",
        "footer": "Las entradas con que se califica no se publican. Con `check` puedes seguir "
        "probando tus funciones.",
    },
    "en": {
        "unknown": "It is none of the mistakes we recognise. Run `check` in your notebook: it "
        "shows you a small input and what was expected.",
        "footer": "The inputs used for marking are not published. With `check` you can go on "
        "testing your functions.",
    },
}


def edition(folder, language):
    """Return the notebook of a set in a language, made from its master."""
    from notebooks.build import split  # It imports what runs notebooks, which takes a second.

    return split(folder / "master.md", language)


def handout(problem_set):
    """Return the file from which `check` answers in the notebook of a set: there is no code in it."""
    if taken := [t.exercise.id for t in problem_set.tasks if t.exercise.id in modules()]:
        raise CourseError(
            f"{problem_set.name}: a chapter asks for a function called {taken[0]} too; `check` "
            "could not tell them apart. Give yours another name."
        )
    if not problem_set.tasks:
        return {}
    file = io.BytesIO()
    write_records(file, [record_of(task.exercise) for task in problem_set.tasks])
    return {f"{problem_set.name}_check.npz": file.getvalue()}


CONVENTIONS = Conventions(
    name="attn",
    languages=("es", "en"),
    sets=PUBLIC,
    edition=edition,
    handout=handout,
    stand_ins=("attn", "attn_course"),
    groups=GROUPS,
    words=WORDS,
    colours=(LIGHT, DARK),
)


@dataclass(frozen=True, eq=False)
class Task(grader.problem_sets.Task):
    """A task of this course: an `attn_course.exercises.spec.Exercise`, judged as `check` does."""

    checks: ModuleType = checks


@dataclass(frozen=True)
class Slip:
    """A mistake that a student of the demonstration class makes.

    Attributes
    ----------
    about : str
        What the student does, in the third person.
    grade_id : str
        The task of the slip.
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
class ProblemSet(grader.problem_sets.ProblemSet):
    """A problem set of this course; ``slips`` are five mistakes for `assignments.demo_class`."""

    conventions: Conventions = CONVENTIONS
    slips: tuple[Slip, ...] = ()


def folders(sets=PUBLIC):
    """Return the folders of the problem sets in a folder, by name."""
    return grader.problem_sets.folders(sets)


def problem_set(name, sets=PUBLIC):
    """Return a problem set by its name."""
    return grader.problem_sets.problem_set(name, sets)
