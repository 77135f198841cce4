"""The words: spelled right, one term per concept, and no sentence twice."""

import functools
import re
import sys
import tempfile
import tomllib
from pathlib import Path

import nbformat
import pytest
from spylls.hunspell import Dictionary

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "book" / "_ext"))

from vendor import fetch

from assignments import variants
from assignments.problem_sets import folders
from notebooks.build import split

LANGUAGES = ("es", "en")

# One Spanish term per concept; these are the ways not to say it.
AVOID = {
    r"auto-atenci[oó]n": "autoatención",
    r"reng(l[oó]n|lones)": "fila",
    r"frases?": "oración",
    r"puntuaci(ón|ones) de atenci[oó]n|scores?": "puntajes",
    r"multicabezal|multi-cabeza|multi-?head": "multicabeza",
    r"enmascaramiento": "máscara",
    r"incrustaci(ón|ones)": "embedding",
    r"(?<!\()(consultas?|claves?)": "query, key",
    r"temperatura de la softmax": "temperatura",
    r"codificador-decodificador": "codificador y decodificador",
    r"capa feed-?forward": "red prealimentada",
}


# What every problem set says in the same words, since the sandbox is the same for all.
WITHOUT = {
    "es": "Al calificar, tu código se ejecuta sin hilos, sin otros procesos, sin tus archivos y sin "
    "red.",
    "en": "When marked, your code runs without threads, other processes, your files or the "
    "network.",
}


@functools.cache
def texts(language):
    """Return every prose text of an edition, by the place where it stands."""
    found = {}
    for path in sorted((ROOT / "notebooks" / language).glob("*.ipynb")):
        for cell in nbformat.read(path, as_version=4).cells:
            if cell.cell_type == "markdown":
                found[f"{path.stem} {cell.id}"] = cell.source
            for kind, key in (("image", "alt"), ("figure", "caption")):
                if kind in cell.metadata.get("mystnb", {}):
                    found[f"{path.stem} {cell.id} {key}"] = cell.metadata["mystnb"][kind][key]
    for path in sorted((ROOT / "assignments" / "sets").glob("*/master.md")):
        for cell in split(path, language).cells:
            if cell.cell_type == "markdown":
                found[f"{path.parent.name} {cell.id}"] = re.sub(
                    r"### (BEGIN|END) SOLUTION", "", cell.source
                )
    for path in sorted((ROOT / "book" / language).glob("*.md")):
        found[path.name] = path.read_text(encoding="utf-8")
    for path in sorted((ROOT / "book").glob("*.toml")):
        for i, words in enumerate(in_language(tomllib.loads(path.read_text("utf-8")), language)):
            found[f"{path.name} {i}"] = words
    for path in sorted((ROOT / "attn_course" / "widgets" / "quizzes").glob("*.toml")):
        for question in tomllib.loads(path.read_text(encoding="utf-8"))["question"]:
            found[f"{path.stem} {question['id']}"] = question["prompt"][language]
            for i, option in enumerate(question["option"]):
                found[f"{path.stem} {question['id']} {i}"] = (
                    f"{option['text'][language]} {option['feedback'][language]}"
                )
    return found


@functools.cache
def texts_of_versions(language):
    """Return what the versions of tasks say instead of the practice sets, by version and place."""
    found = {}
    for name, folder in folders().items():
        said = {cell.source for cell in split(folder / "master.md", language).cells}
        for task, named in variants.versions(folder).items():
            for version in named:
                with tempfile.TemporaryDirectory() as scratch:
                    copy = variants.copy_of(folder, scratch, {task: version})
                    for cell in split(copy / "master.md", language).cells:
                        if cell.cell_type == "markdown" and cell.source not in said:
                            found[f"{name} {task}.{version} {cell.id}"] = cell.source
    return found


def in_language(data, language):
    """Return the texts of one language in the data of a page."""
    for key, value in data.items() if isinstance(data, dict) else enumerate(data):
        if key == language:
            yield value
        elif isinstance(value, (dict, list)):
            yield from in_language(value, language)


def plain(text):
    """Return the words a reader reads: no code, formulas, quotations, addresses or markup."""
    text = re.sub(r"```.*?```|\$\$.*?\$\$", " ", text, flags=re.DOTALL)
    text = re.sub(r"\{[\w:]+\}`[^`]*`|`[^`\n]*`|\$[^$\n]+\$", " ", text)
    text = re.sub(r"^:::.*$|^:class:.*$|^\(\S+\)=$", " ", text, flags=re.MULTILINE)
    text = re.sub(r"\]\([^)]*\)|\{\.[\w-]+\}|https?://\S+", " ", text)
    text = re.sub(r"\b\w+_\w+\b", " ", text)  # the sizes of a shape: (vocab_size, d_model)
    # Words of an example sentence are set in italics, examples and titles in quotation marks.
    text = re.sub(r"(?<!\*)\*(?!\*)[^*\n]+\*|«[^»]*»|“[^”]*”", " ", text)
    return text.replace("**", " ")


@functools.cache
def dictionary(language):
    name = {"es": "dictionary-es", "en": "dictionary-en-gb"}[language]
    return Dictionary.from_files(str(fetch(name) / "index"))


def allowed():
    lines = (ROOT / "tests" / "dictionary.txt").read_text(encoding="utf-8").splitlines()
    return {line for line in lines if line and not line.startswith("#")}


@pytest.mark.slow
@pytest.mark.parametrize("language", LANGUAGES)
def test_every_word_is_spelled_right(language):
    words = {}
    for place, text in (texts(language) | texts_of_versions(language)).items():
        for word in re.findall(r"[^\W\d_]+(?:[-’'][^\W\d_]+)*", plain(text)):
            words.setdefault(word, place)
    known = allowed()
    unknown = {
        word: place
        for word, place in words.items()
        if len(word) > 1 and word not in known and word.lower() not in known
        and not dictionary(language).lookup(word)
    }  # fmt: skip
    assert unknown == {}


@pytest.mark.slow
def test_the_project_dictionary_holds_no_word_nobody_uses():
    used = " ".join(
        " ".join([*texts(language).values(), *texts_of_versions(language).values()])
        for language in LANGUAGES
    )
    assert {word for word in allowed() if word.lower() not in used.lower()} == set()


@pytest.mark.parametrize("term", AVOID)
def test_one_spanish_term_per_concept(term):
    for place, text in (texts("es") | texts_of_versions("es")).items():
        found = re.search(rf"\b(?:{term})\b", plain(text), flags=re.IGNORECASE)
        assert not found, f"{place}: «{found and found[0]}»; the course says «{AVOID[term]}»"


@pytest.mark.parametrize("language", LANGUAGES)
def test_no_sentence_stands_twice(language):
    seen = {}
    for place, text in texts(language).items():
        # Rubrics are to say the same thing in the same words.
        text = re.split(r"\*\*R[uú]bri(?:ca|c)\.\*\*", text)[0].replace(WITHOUT[language], "")
        for sentence in re.split(r"(?<=[.?!:])\s+|\n\n", plain(text)):
            words = " ".join(re.findall(r"\w+", sentence.lower()))
            if len(words) > 40:
                assert words not in seen, f"{place} and {seen.get(words)}: {sentence}"
                seen[words] = place


@pytest.mark.parametrize("language", LANGUAGES)
def test_every_problem_set_says_what_its_code_runs_without(language):
    saying = [place for place, text in texts(language).items() if WITHOUT[language] in text]
    assert [place.split()[0] for place in saying] == [f"ps{number}" for number in range(1, 9)]
