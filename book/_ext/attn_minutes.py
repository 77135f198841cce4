"""How long a chapter takes to read: ``python book/_ext/attn_minutes.py 03_self_attention``."""

import re
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))

from attn_course.widgets import load_quiz
from notebooks.build import LANGUAGES, split

WORDS_A_MINUTE, SECONDS_A_LINE, MINUTES_A_WIDGET = 120, 8, 2
EXERCISES = ("Ejercicios", "Exercises")


def minutes(cells):
    """Return the minutes that reading some cells takes.

    A minute for 120 words, 8 seconds for a line of code that is not folded, a minute for a question
    and two for another widget. The section of exercises is left out: it has minutes of its own.

    Parameters
    ----------
    cells : list of NotebookNode
        Of one edition, as `notebooks.build.split` returns them.

    Returns
    -------
    float
    """
    spent, counted, widgets = 0.0, True, set()
    for cell in cells:
        if cell.cell_type == "markdown":
            for line in re.sub(r"\$\$.*?\$\$", "", cell.source, flags=re.DOTALL).split("\n"):
                if headed := re.match(r"## (.+)", line):
                    counted = headed[1] not in EXERCISES
                spent += counted * len(line.split()) / WORDS_A_MINUTE
            continue
        imported = re.search(
            r"^from attn_course\.widgets import (\([^)]*\)|.*)", cell.source, re.MULTILINE
        )
        if imported:
            widgets |= {*re.findall(r"\w+", imported[1])} - {"Quiz", "load_quiz"}
        if not counted:
            continue
        if "tags" not in cell.metadata:
            lines = [line for line in cell.source.split("\n") if line.strip()]
            spent += len(lines) * SECONDS_A_LINE / 60
        for quiz in re.findall(r"Quiz\(load_quiz\((.*?)\)\)", cell.source, re.DOTALL):
            spent += len(load_quiz(*re.findall(r'"(\w+)"', quiz)))
        calls = re.findall(r"^(\w+)\(", cell.source, re.MULTILINE)
        spent += MINUTES_A_WIDGET * len(widgets.intersection(calls))
    return spent


if __name__ == "__main__":
    for name in sys.argv[1:]:
        for language in LANGUAGES:
            source = ROOT / "notebooks" / "src" / f"{name}.md"
            if not source.exists():
                sys.exit(f"chapter: expected the name of a file in notebooks/src, got {name!r}")
            print(f"{name} ({language}): {minutes(split(source, language).cells):.0f} min")
