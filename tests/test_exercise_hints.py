"""The hints: matched with their mistakes, and checked by a linter."""

import re
import runpy
from pathlib import Path

import numpy as np
import pytest

from attn.reference import softmax
from attn_course.exercises import check
from attn_course.exercises.catalogue import load
from attn_course.exercises.spec import Exercise

ROOT = Path(__file__).parents[1]


def from_file(tmp_path, hints, mistakes):
    (tmp_path / "ch99_1_double.toml").write_text(hints, encoding="utf-8")
    file = str(tmp_path / "ch99_1_double.py")
    return Exercise.from_file(file, ("y",), lambda x: 2 * x, lambda seed: [], mistakes)


HINT = """
[halved]
es = \"\"\"
Divides
entre 2.
\"\"\"
en = "You divide by 2."

[squared]
as_in = "ch99_2_other"
"""


def test_hints_are_matched_with_their_mistakes_in_the_order_of_the_hints(tmp_path):
    (tmp_path / "ch99_2_other.toml").write_text('[squared]\nes = "a"\nen = "b"', encoding="utf-8")
    mistakes = {"squared": (np.square,), "halved": (lambda x: x / 2,)}
    exercise = from_file(tmp_path, HINT, mistakes)
    assert exercise.id == "double"
    assert [(m.id, m.hint["es"]) for m in exercise.misconceptions] == [
        ("halved", "Divides entre 2."),
        ("squared", "a"),
    ]
    assert exercise.misconceptions[1].functions == (np.square,)


@pytest.mark.parametrize(
    ("mistakes", "got"),
    [
        ({"halved": ()}, "none for [] and some for ['squared'], which are no mistakes"),
        (
            {"halved": (), "squared": (), "added": ()},
            "none for ['added'] and some for [], which are no mistakes",
        ),
    ],
)
def test_hints_and_mistakes_that_do_not_match_are_refused(tmp_path, mistakes, got):
    (tmp_path / "ch99_2_other.toml").write_text('[squared]\nes = "a"\nen = "b"', encoding="utf-8")
    message = f"ch99_1_double.toml: expected a hint for each mistake, got {got}"
    with pytest.raises(ValueError, match=f"^{re.escape(message)}$"):
        from_file(tmp_path, HINT, mistakes)


# tests/lint_hints.py checks the words of the hints.


def test_hints_are_shown_in_the_language_in_use(language):
    (hint,) = [known.hint for known in load("softmax").misconceptions if known.id == "columns"]
    assert hint[language] in check("softmax", lambda scores: softmax(scores, axis=0)).message


def test_a_hint_that_breaks_a_rule_is_found_by_the_linter():
    broken = runpy.run_path(str(ROOT / "tests" / "lint_hints.py"))["broken"]
    prose = runpy.run_path(str(ROOT / "tests" / "test_prose.py"))
    es, en = (
        "Divide cada fila entre su propia suma, y no otra.",
        "Divide each row by its own sum, not by another.",
    )
    assert not [*broken({"es": es, "en": en}, {}, prose)]
    for hint, rule in [
        ({"en": en}, "languages"),
        ({"es": "Está mal.", "en": en}, "length"),
        ({"es": es[:-1], "en": en}, "full stop"),
        ({"es": f"`{es}", "en": en}, "code"),
        ({"es": es.replace(" ", "  "), "en": en}, "spaces"),
        ({"es": es.replace("suma", "promedio"), "en": en}, "terms: 'promedi'"),
        ({"es": es.replace("fila", "renglón"), "en": en}, "says «fila»"),
        ({"es": es * 3, "en": en}, "proportion"),
    ]:
        assert any(rule in line for line in broken(hint, {}, prose)), rule
    assert any("repetition" in line for line in broken({"es": es, "en": en}, {es: {}}, prose))


def test_the_linter_reads_the_hints_of_a_variant(tmp_path):
    es, en = (
        "Divide cada fila entre su propia suma, y no otra.",
        "Divide each row by its own sum, not by another.",
    )
    (tmp_path / "double.toml").write_text(f'[halved]\nes = "{es}"\nen = "{en}"', encoding="utf-8")
    (tmp_path / "variants.toml").write_text(
        '[double.mean]\nedits = [["double.toml", "su propia suma", "su promedio"]]\n'
        '[double.gone]\nedits = [["double.toml", "otra suma", "nada"]]',
        encoding="utf-8",
    )
    faults = runpy.run_path(str(ROOT / "tests" / "lint_hints.py"))["faults"]
    one, other = faults([tmp_path], {})
    assert one.endswith("variants.toml: double.mean: halved: terms: 'promedi' in es")
    assert other.endswith("double.gone: double.toml does not say 'otra suma'.")
