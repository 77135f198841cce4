"""Which submissions resemble each other, or answers that are public: for a person to look at.

Names, order, comments and layout do not count, what was handed out does not either, and no mark
depends on any of it. The comparison is that of MOSS, by copydetect.
"""

import copy
import io
import itertools
from collections import Counter
from dataclasses import dataclass

from copydetect import CodeFingerprint, compare_files
from copydetect.utils import get_token_coverage, highlight_overlap
from markupsafe import Markup

from grader.autograded import visible
from grader.course import CourseError, write
from grader.feedback import page
from grader.submission import BadSubmission, read
from grader.submitted import find

LENGTH = 25  # characters of the shortest shared passage, where a name counts as one
SHARED = 0.5  # the least part of a student's code by which a pair is listed
LEAST = 100  # characters: a part of less code than this says nothing
USUAL = 10  # students: a passage that more of them wrote is what everyone writes
MOST_TEXT = 60_000  # characters that are compared
MOST_PAIRS = 200
# test_similar.py measures these on the right answers of thirteen sets.
INDEPENDENT, COPIED = 0.3, 0.78


@dataclass(frozen=True)
class Pair:
    """Two pieces of code, and how much of one is in the other.

    Attributes
    ----------
    names : tuple of str
        Whose they are.
    share : float
        The part of the one that is also in the other, of the two parts the larger.
    codes : tuple of Markup
        Both, escaped; what they share is marked.
    """

    names: tuple[str, str]
    share: float
    codes: tuple[Markup, Markup]


def similar(course, name, archives=()):
    """Write a page of the submissions of a set that resemble each other or public answers.

    Parameters
    ----------
    course : grader.course.Course
    name : str
        The set.
    archives : sequence of Path
        Folders of notebooks and Python files that students may have found.

    Returns
    -------
    str
        What there is to say in a terminal: the pairs, and where the page is.

    Raises
    ------
    CourseError
        If there is no such set or archive, or nothing was handed in.
    """
    asked = course.problem_set(name)
    handed, skipped, remarks = find(course, name)
    if not handed:
        raise CourseError(f"There are no submissions of {name} in {course.folder}.")
    given = [cell.source for lang in course.languages for cell in course.released(lang, name).cells]
    students, others = {}, {}
    for one in handed:
        code = _answers(one.path, given, asked.manual)
        if code is None:
            remarks.append(f"{one.student}: not compared, since it cannot be read.")
        else:
            students[one.student] = code
    for language in course.languages:
        models = course.models(language, name)
        answers = [models[task.grade_id] for task in asked.tasks if task.grade_id in models]
        others[f"model answers ({language})"] = "\n\n".join(answers)
    for place, path in _archived(archives):
        code = _answers(path, given, asked.manual)
        if code is None:
            remarks.append(f"{place}: not compared, since it cannot be read.")
        else:
            others[place] = code
    pairs = compare(students, others, given)
    path = course.folder / "grading" / f"{name}-similar.html"
    text = page(
        "similar.html.j2",
        asked.conventions.colours,
        name=name,
        pairs=pairs[:MOST_PAIRS],
        n_pairs=len(pairs),
        n_students=len(students),
        remarks=skipped + remarks,
        shared=SHARED,
        length=LENGTH,
        usual=USUAL,
        independent=INDEPENDENT,
        copied=COPIED,
    )
    write(path, text)
    lines = [
        f"{pair.share:4.0%}  {pair.names[0]:20} {pair.names[1]}" for pair in pairs[:MOST_PAIRS]
    ]
    return "\n".join(
        [
            *skipped,
            *remarks,
            *lines,
            f"Pairs: {len(pairs)}, among {len(students)} submissions. Similarity alone proves nothing.",
            f"Page: {path}",
        ]
    )


def compare(students, others, given):
    """Return the pairs that share much, the most similar first.

    Parameters
    ----------
    students, others : dict of str to str
        The code of each submission, compared with all that follow; that of what is public,
        compared with each submission.
    given : sequence of str
        What was handed out, cell by cell: it does not count.

    Returns
    -------
    list of Pair
    """
    handed_out = set().union(*(_fingerprint(code).hashes for code in given))
    mine = {name: _without(_fingerprint(code), handed_out) for name, code in students.items()}
    public = {name: _without(_fingerprint(code), handed_out) for name, code in others.items()}
    seen = Counter(itertools.chain.from_iterable(one.hashes for one in mine.values()))
    usual = {passage for passage, times in seen.items() if times > USUAL}
    own = {name: _without(one, usual) for name, one in mine.items()}
    found = [(a, b, own[a], own[b]) for a, b in itertools.combinations(own, 2)]
    found += [(a, b, mine[a], public[b]) for a in mine for b in public]
    pairs = [_pair(*each) for each in found]
    return sorted((pair for pair in pairs if pair), key=lambda pair: -pair.share)


def _pair(a, b, one, other):
    if min(one.token_coverage, other.token_coverage) < LEAST or not one.hashes & other.hashes:
        return None
    _, shares, places = compare_files(one, other)
    if max(shares) < SHARED:
        return None
    codes = (
        # `highlight_overlap` escapes the code, so that its marks are the only tags.
        Markup(highlight_overlap(each.raw_code, place, "<mark>", "</mark>", escape_html=True)[0])
        for each, place in zip((one, other), places, strict=True)
    )
    return Pair((a, b), min(1.0, float(max(shares))), tuple(codes))


def _fingerprint(code):
    """Return copydetect's fingerprint of a code: all passages of `LENGTH`, without sampling."""
    # Blank lines do not count, and the lexer takes a minute over thousands of them.
    lines = (line.rstrip() for line in visible(code)[:MOST_TEXT].split("\n"))
    text = io.StringIO("\n".join(filter(None, lines)))
    return CodeFingerprint("", LENGTH, 1, language="python", fp=text)


def _without(fingerprint, passages):
    """Return a fingerprint without some passages. copydetect's own way miscounts repeated ones."""
    less = copy.copy(fingerprint)
    less.hash_idx = {p: at for p, at in fingerprint.hash_idx.items() if p not in passages}
    less.hashes = set(less.hash_idx)
    less.token_coverage = get_token_coverage(less.hash_idx, LENGTH, len(less.filtered_code))
    return less


def _answers(path, given, manual):
    """Return the code of a file, without what was released; None if it is unreadable."""
    try:
        if path.suffix == ".py":
            return path.read_text(encoding="utf-8", errors="replace")
        cells = read(path).cells
    except (BadSubmission, OSError):
        return None
    kept = [c for c in cells if c.kind == "code" and c.grade_id not in manual]
    return "\n\n".join(cell.source for cell in kept if cell.source not in given)


def _archived(folders):
    for folder in folders:
        if not folder.is_dir():
            raise CourseError(f"There is no folder {folder}.")
        for path in sorted(folder.rglob("*")):
            if path.suffix in (".ipynb", ".py") and path.is_file():
                yield str(path.relative_to(folder.parent)), path
