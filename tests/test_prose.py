"""The words: correct spelling, one term per concept, and no sentence twice."""

import ast
import functools
import html
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

from assignments.problem_sets import folders
from grader import variants
from notebooks.build import split

LANGUAGES = ("es", "en")

# Words to avoid, with the term of the course: there is one term per concept.
AVOID = {
    "es": {
        r"auto-atenci[oó]n": "autoatención",
        r"reng(l[oó]n|lones)": "fila",
        r"frases?": "oración",
        r"puntuaci(ón|ones) de atenci[oó]n|(los|un|sus|cada) scores?": "puntajes",
        r"multicabezal|multi-cabeza|multi-?head": "multicabeza",
        r"enmascaramiento": "máscara",
        r"incrustaci(ón|ones)": "embedding",
        r"(?<!\()(consultas?|claves?)": "query, key",
        r"temperatura de la softmax": "temperatura",
        r"codificador-decodificador": "codificador y decodificador",
        r"capa feed-?forward": "red prealimentada",
        r"producto (escalar|interno)": "producto punto",
        r"(decodificaci(ón|ones)|decodificador) vora(z|ces)|greedy": "búsqueda voraz",
        r"sorte\w+ ((de|la|una|cada|otra|diez|\w+ mil) )*(palabras?|tokens?|traducci\w+)": "muestreo",
        r"oraciones exactas|aciertos? exactos?|exact match": "coincidencia exacta",
        r"label smoothing|(alisado|suavizado) de (las )?(marcas|labels)": "suavizado de etiquetas",
        r"desviaci(ón|ones) típicas?": "desviación estándar",
        r"descenso (por|del) gradiente|gradiente descendente": "descenso de gradiente",
        r"learning rate|ritmo de aprendizaje": "tasa de aprendizaje",
        r"layer norms?|normas? de capas?|normalización por capas?": "normalización de capa",
        r"oraci(ón|ones) (fuente|origen|destino|meta|objetivo)|lengua(je)? (fuente|meta)": "oración de origen, de destino",
        r"(el|los|un|unos|del|al|este|nuestros?) GRU": "la GRU",
        r"puntajes? (de )?(BLEU|chrF|ROUGE)": "valor de BLEU",
    },
    "en": {
        r"self attention": "self-attention",
        r"multi ?head": "multi-head",
        r"encoder-decoder attention": "cross-attention",
        r"(inner|scalar) products?": "dot product",
        r"greedy decoding": "greedy search",
        r"exact sentences?": "exact match",
        r"smoothing of labels|smoothed labels": "label smoothing",
        r"layer norms?|layer normalizations?": "layer normalisation",
        r"feed ?forward": "feed-forward",
        r"key-value cache": "KV cache",
    },
}
# A glossary entry may be a word to avoid, if it only refers to the right term.
SEE = r"(?m)^.+\n  (Véase|See) \{term\}`.*$"


# Every problem set says this in the same words, since the sandbox is the same for all.
WITHOUT = {
    "es": "Al calificar, tu código se ejecuta sin hilos, sin otros procesos, sin tus archivos y sin "
    "red.",
    "en": "When marked, your code runs without threads, other processes, your files or the "
    "network.",
}


def unmarked(answer):
    """Return an answer of a problem set without nbgrader's marks around it."""
    return re.sub(r"### (BEGIN|END) SOLUTION", "", answer)


@functools.cache
def texts(language):
    """Return every prose text of an edition, by its place."""
    found = {}
    for path in sorted((ROOT / "notebooks" / "src").glob("*.md")):
        for cell in split(path, language).cells:
            if cell.cell_type == "markdown":
                found[f"{path.stem} {cell.id}"] = cell.source
            for kind, key in (("image", "alt"), ("figure", "caption")):
                if kind in cell.metadata.get("mystnb", {}):
                    found[f"{path.stem} {cell.id} {key}"] = cell.metadata["mystnb"][kind][key]
    for path in sorted((ROOT / "assignments" / "sets").glob("*/master.md")):
        for cell in split(path, language).cells:
            if cell.cell_type == "markdown":
                found[f"{path.parent.name} {cell.id}"] = unmarked(cell.source)
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
    """Return the texts of the variants that differ from the practice sets, by variant and place."""
    found = {}
    for name, folder in folders().items():
        said = {cell.source for cell in split(folder / "master.md", language).cells}
        for task, named in variants.versions(folder).items():
            for version in named:
                with tempfile.TemporaryDirectory() as scratch:
                    copy = variants.copy_of(folder, scratch, {task: version})
                    for cell in split(copy / "master.md", language).cells:
                        if cell.cell_type == "markdown" and cell.source not in said:
                            found[f"{name} {task}.{version} {cell.id}"] = unmarked(cell.source)
    return found


def in_language(data, language):
    """Return the texts of one language in the data of a page."""
    for key, value in data.items() if isinstance(data, dict) else enumerate(data):
        if key == language:
            yield value
        elif isinstance(value, (dict, list)) and key != "heading":  # already in the chapter
            yield from in_language(value, language)


def plain(text):
    """Return the words that a reader reads: no code, formulas, quotations, URLs or markup."""
    text = re.sub(r"```.*?```|\$\$.*?\$\$", " ", text, flags=re.DOTALL)
    text = re.sub(r"\{[\w:]+\}`[^`]*`|`[^`\n]*`|\$[^$\n]+\$", " ", text)
    text = re.sub(r"^:::.*$|^:class:.*$|^\(\S+\)=$", " ", text, flags=re.MULTILINE)
    text = re.sub(r"\]\([^)]*\)|\{\.[\w-]+\}|https?://\S+|</?[a-z][^>\n]*>", " ", text)
    text = re.sub(r"\b\w+_\w+\b", " ", text)  # the shape in parentheses: (vocab_size, d_model)
    # Example sentences are in italics; examples and titles are in quotation marks.
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
        if len(word) > 1
        and word not in known
        and word.lower() not in known
        and not dictionary(language).lookup(word)
    }
    assert unknown == {}


@pytest.mark.slow
def test_every_word_of_the_project_dictionary_is_used():
    used = " ".join(
        " ".join([*texts(language).values(), *texts_of_versions(language).values()])
        for language in LANGUAGES
    )
    assert {word for word in allowed() if word.lower() not in used.lower()} == set()


@functools.cache
def labels(language):
    """Return what a reader sees outside the prose: hints, widgets, labels, printed output."""
    found = {}
    for folder in ("attn_course", "assignments/sets"):
        for path in sorted((ROOT / folder).rglob("*.toml")):
            for i, words in enumerate(
                in_language(tomllib.loads(path.read_text("utf-8")), language)
            ):
                found[f"{path.name} {i}"] = " ".join(strings(words))
    for path in sorted((ROOT / "attn_course").rglob("*.py")):
        for line, words in spoken(ast.parse(path.read_text(encoding="utf-8")), language):
            found[f"{path.name}:{line}"] = words
    for path in sorted((ROOT / "attn_course" / "widgets").glob("*.js")):
        # `  es: {` opens the texts of a language; the brace in the same column ends them.
        for said in re.findall(
            rf"^( *){language}: \{{\n(.*?)^\1\}}", path.read_text("utf-8"), re.DOTALL | re.MULTILINE
        ):
            for words in re.findall(r'"((?:[^"\\]|\\.)*)"', said[1]):
                found[f"{path.name} {len(found)}"] = words
    for path in sorted((ROOT / "notebooks" / language).glob("*.ipynb")):
        for cell in nbformat.read(path, as_version=4).cells:
            if cell.cell_type == "code":
                found[f"{path.stem} {cell.id} printed"] = printed(cell.outputs)
    return found


def strings(data):
    """Return the texts in the data of one language."""
    if isinstance(data, str):
        return [data]
    return [
        text
        for value in (data.values() if isinstance(data, dict) else data)
        for text in strings(value)
    ]


def spoken(tree, language):
    """Yield line and text of what a module says in a language: ``es=...`` and ``{"es": ...}``."""
    for node in ast.walk(tree):
        said = []
        if isinstance(node, ast.Dict):
            keys = [getattr(key, "value", None) for key in node.keys]
            said = [value for key, value in zip(keys, node.values, strict=True) if key == language]
        elif isinstance(node, ast.Call):
            said = [keyword.value for keyword in node.keywords if keyword.arg == language]
        for value in said:
            texts = [
                n.value
                for n in ast.walk(value)
                if isinstance(n, ast.Constant) and isinstance(n.value, str)
            ]
            yield value.lineno, " ".join(texts)


def printed(outputs):
    """Return the words that a cell's outputs print or show in HTML."""
    said = []
    for output in outputs:
        said.append(output.get("text", ""))
        page = output.get("data", {}).get("text/html", "")
        said.append(
            re.sub(r"<style.*?</style>|<script.*?</script>|<[^>]+>", " ", page, flags=re.DOTALL)
        )
    return html.unescape(" ".join(said))


@pytest.mark.parametrize("language", LANGUAGES)
def test_one_term_per_concept(language):
    """In prose, quizzes, hints, widgets, figures, glossary and printed output."""
    everything = texts(language) | texts_of_versions(language) | labels(language)
    everything["glossary.md"] = re.sub(SEE, "", everything["glossary.md"])
    read = {place: plain(text) for place, text in everything.items()}
    found = [
        f"{place}: “{said[0]}”; the course says “{instead}”"
        for term, instead in AVOID[language].items()
        for place, text in read.items()
        if (said := re.search(rf"\b(?:{term})\b", text, flags=re.IGNORECASE))
    ]
    assert found == []


def test_spanish_separates_thousands_with_a_thin_space():
    """Tables and code are left out, since they print the same in both editions."""
    for place, text in texts("es").items():
        prose = "\n".join(line for line in text.split("\n") if not line.lstrip().startswith("|"))
        found = re.search(r".{0,30}\d,\d{3}\b", plain(prose))
        assert not found, f"{place}: {found and found[0]}"


@pytest.mark.parametrize("language", LANGUAGES)
def test_no_sentence_occurs_twice(language):
    seen = {}
    for place, text in texts(language).items():
        # Rubrics, and the steps to repeat an experiment, use the same words on purpose.
        text = re.split(r"\*\*R[uú]bri(?:ca|c)\.\*\*", text)[0].replace(WITHOUT[language], "")
        text = re.sub(r"\*\*(Para repetirlo|Run it again)\.\*\*.*", "", text)
        for sentence in re.split(r"(?<=[.?!:])\s+|\n\n", plain(text)):
            words = " ".join(re.findall(r"\w+", sentence.lower()))
            if len(words) > 40:
                assert words not in seen, f"{place} and {seen.get(words)}: {sentence}"
                seen[words] = place


@pytest.mark.parametrize("language", LANGUAGES)
def test_every_problem_set_states_the_limits_of_the_sandbox(language):
    saying = [place for place, text in texts(language).items() if WITHOUT[language] in text]
    assert [place.split()[0] for place in saying] == sorted(
        f"ps{number}" for number in range(1, 14)
    )
