"""Check the words of the hints: short, in both languages, in the terms of the course (`make lint`).

Prints each sentence that breaks a rule, with its file, its mistake and the rule; exits with 1 if
there is any. Reads the hints of the folders named, by default those of this repository, and what
the versions of tasks say in their place.
"""

import os
import re
import runpy
import sys
import tempfile
import tomllib
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))  # for these, and for what the tests of the prose import

from attn_course.exercises.altered import CHANGES, COMBINED, EXCHANGED, TWICE
from attn_course.exercises.errors import MEANINGS
from attn_course.exercises.relations import RELATIONS
from attn_course.exercises.shapes import SHAPES
from attn_course.exercises.spec import read_hints
from grader import variants
from grader.problem_sets import CourseError

FOLDERS = ("attn_course/exercises/chapters", "assignments/sets")
LANGUAGES = ("es", "en")
SHORTEST, LONGEST = 40, 320  # characters of a hint
LONGER = 1.6  # how many times longer a hint may be in one language than in the other

# Words that a hint may not use: there is one term per concept, and no calque.
AVOID = {
    "es": r"\b(un|el|los|del|algún|otro) quer|promedi|frase|secuencia|quién se atiende"
    r"|\bha[ns]? \w+do\b|[^e] desborda|dividir por|swapaxes|_len\b|aprend",
    "en": r"add(s|ed)? up|an average|no average|learn|swapaxes|_len\b|\bno batch|`exp` rounds?\b",
}


def broken(sentences, seen, prose):
    """Yield a sentence for each rule that a hint breaks.

    Parameters
    ----------
    sentences : dict of str to str
        The hint in each language.
    seen : dict of str to dict
        The hints so far, by text; exercises may share a hint, but not write it twice.
    prose : dict
        What `test_prose` defines: the terms of the whole course, and what is prose in a text.
    """
    if set(sentences) != set(LANGUAGES):
        yield f"languages: it is in {sorted(sentences)}, and should be in {sorted(LANGUAGES)}"
    for language, words in sentences.items():
        if not SHORTEST < len(words) < LONGEST:
            yield f"length: {len(words)} characters in {language}, not {SHORTEST} to {LONGEST}"
        if not words.endswith((".", "`")):
            yield f"full stop: in {language} it ends with {words[-1:]!r}"
        if words.count("`") % 2:
            yield f"code: in {language} a backtick is not closed"
        if "  " in words:
            yield f"spaces: two together in {language}"
        found = re.search(AVOID.get(language, "$^"), words)
        if found:
            yield f"terms: {found[0]!r} in {language}"
        if seen.setdefault(words, sentences) is not sentences:
            yield f"repetition: the same words in {language} as another hint"
    for language, terms in prose["AVOID"].items():
        words = prose["plain"](sentences.get(language, ""))
        for avoided, term in terms.items():
            found = re.search(rf"\b(?:{avoided})\b", words, re.IGNORECASE)
            if found:
                yield f"terms: «{found[0]}»; the course says «{term}»"
    lengths = sorted(map(len, sentences.values()))
    if lengths[-1] > LONGER * lengths[0]:
        yield f"proportion: {lengths[-1]} characters against {lengths[0]} in the other language"


def of_file(path, seen, prose):
    """Yield the rules that the hints of a file break."""
    written = tomllib.loads(path.read_text(encoding="utf-8"))
    for name, hint in read_hints(path).items():
        if "as_in" not in written[name]:
            for rule in broken(hint, seen, prose):
                yield f"{name}: {rule}"


def of_versions(folder, prose):
    """Yield the rules that hints break in the variants of a set's tasks that change them."""
    for task, named in variants.versions(folder).items():
        for version in named:
            with tempfile.TemporaryDirectory() as scratch:
                copy = variants.copy_of(folder, scratch, {task: version})
                for path in hint_files(copy):
                    if path.read_bytes() != (folder / path.name).read_bytes():
                        for rule in of_file(path, {}, prose):
                            yield f"{task}.{version}: {rule}"


def hint_files(folder):
    """Return the files of hints in a folder, in order."""
    no_hints = (variants.FILE, variants.CHOSEN)
    return sorted(path for path in folder.rglob("*.toml") if path.name not in no_hints)


# Sentences that `check` may say of any exercise, by file and beginning of the English sentence.
SAID = {
    **{f"errors.py: {pattern}": sentence for pattern, sentence in MEANINGS.items()},
    **{f"relations.py: {sentence['en'][:40]}": sentence for _, sentence in RELATIONS},
    **{f"shapes.py: {sentence['en'][:40]}": sentence for _, sentence in SHAPES},
    **{
        f"altered.py: {sentence['en'][:60]}": sentence
        for sentence in (EXCHANGED, TWICE, *(c[-1] for c in CHANGES), *(c[-1] for c in COMBINED))
    },
}


def faults(folders=FOLDERS, said=SAID):
    """Yield a line for each fault: file, mistake, rule."""
    seen = {}
    prose = runpy.run_path(str(ROOT / "tests" / "test_prose.py"))
    places = [ROOT / folder for folder in folders]
    for path in (path for place in places for path in hint_files(place)):
        for rule in of_file(path, seen, prose):
            yield f"{os.path.relpath(path, ROOT)}: {rule}"
    for path in (path for place in places for path in sorted(place.rglob(variants.FILE))):
        try:
            for rule in of_versions(path.parent, prose):
                yield f"{os.path.relpath(path, ROOT)}: {rule}"
        except CourseError as error:
            yield str(error)
    for where, sentences in said.items():
        for rule in broken(sentences, seen, prose):
            yield f"attn_course/exercises/{where}: {rule}"


if __name__ == "__main__":
    found = list(faults(sys.argv[1:] or FOLDERS))
    print("\n".join(found), end="\n" if found else "")
    sys.exit(bool(found))
