"""The chapters: one source, two editions that agree, and outputs of every cell.

Running the notebooks and comparing every output is nbval's part: of most English stories in
`make test`, of most of the Spanish edition, as another processor would, in `make test-notebooks`, and
of what takes minutes in `make test-laboratories`. Here the outputs of the two are compared.
"""

import ast
import base64
import copy
import doctest
import functools
import html
import importlib.util
import io
import itertools
import re
from pathlib import Path

import lxml.html
import matplotlib.image
import nbformat
import pytest
from ipykernel.kernelspec import get_kernel_dict
from nbconvert.filters import markdown2html

from attn_course import set_language
from attn_course.in_page.plan import asks
from attn_course.widgets import Quiz, load_quiz
from notebooks import readable

ROOT = Path(__file__).resolve().parents[1]
spec = importlib.util.spec_from_file_location("notebooks_build", ROOT / "notebooks" / "build.py")
build = importlib.util.module_from_spec(spec)
spec.loader.exec_module(build)

SOURCES = build.sources()
each_source = pytest.mark.parametrize("source", SOURCES, ids=lambda source: source.stem)
each_edition = pytest.mark.parametrize(
    ("source", "language"),
    list(itertools.product(SOURCES, build.LANGUAGES)),
    ids=lambda value: value if isinstance(value, str) else value.stem,
)
PICTURES = {"image/png", "image/svg+xml"}


def is_chapter(source):
    return re.match(r"\d\d|A1", source.stem)  # A2 has only tables and answers


def is_laboratory(source):
    return re.match(r"L\d\d_", source.stem)


@functools.cache
def committed(source, language):
    return nbformat.read(build.target(source, language), as_version=4)


@functools.cache
def book_edition(source, language):
    return build.book_edition(source, language)


def prose(notebook):
    return [cell.source for cell in notebook.cells if cell.cell_type == "markdown"]


def code(notebook):
    return [cell for cell in notebook.cells if cell.cell_type == "code"]


def outputs(notebook):
    return [output for cell in code(notebook) for output in cell.outputs]


def test_there_are_chapters_and_an_opening_page():
    assert any(map(is_chapter, SOURCES))
    assert any(source.stem == "index" for source in SOURCES)


@each_edition
def test_the_committed_notebook_is_built_from_its_source(source, language):
    expected = build.readable(build.split(source, language), source.stem)
    found = committed(source, language)
    assert [cell.source for cell in found.cells] == [cell.source for cell in expected.cells]
    for mine, theirs in zip(found.cells, expected.cells, strict=True):
        # A worked solution is not run again, so it keeps its stored output.
        assert mine.metadata | {"attn": None} == theirs.metadata | {"attn": None}
    assert [cell.id for cell in found.cells] == [cell.id for cell in expected.cells]
    # JupyterLab would mark a notebook as changed if its kernel had another name.
    assert found.metadata.kernelspec["display_name"] == get_kernel_dict()["display_name"]


@each_edition
def test_every_code_cell_was_executed_in_order(source, language):
    counts = [cell.execution_count for cell in code(committed(source, language))]
    assert counts == list(range(1, len(counts) + 1))


@each_edition
def test_outputs_hold_nothing_that_changes_between_runs_or_machines(source, language):
    notebook = committed(source, language)
    assert "widgets" not in notebook.metadata
    tags = [tag for cell in code(notebook) for tag in cell.metadata.get("tags", [])]
    assert "nbval-ignore-output" not in tags, "print what is the same on every processor"
    for output in outputs(book_edition(source, language)):
        assert output.output_type != "error"
        assert output.get("name") != "stderr", output.text
        assert build.WIDGET_VIEW not in output.get("data", {})
        # The base64 text of a picture may contain any word by chance, so it is left out.
        shown = {k: v for k, v in output.get("data", {}).items() if k not in PICTURES}
        texts = [output.get("text", ""), *shown.values()]
        for text in texts:
            assert not re.search(r"0x[0-9a-f]{6,}|/(home|root|tmp|Users)/|site-packages", str(text))


@pytest.mark.slow
@each_edition
def test_figures_are_not_blank_and_have_alternative_texts(source, language):
    figures = 0
    for cell in code(committed(source, language)):
        images = [
            output.data["image/png"]
            for output in cell.outputs
            if "image/png" in output.get("data", {})
        ]
        for image in images:
            whole = matplotlib.image.imread(io.BytesIO(base64.b64decode(image)))
            # A quarter of the pixels is enough to see that the picture is not blank.
            pixels = whole[::2, ::2, :3]
            drawn = (abs(pixels - pixels[0, 0]) > 0.1).any(axis=-1).mean()
            assert drawn > 0.005, "almost every pixel has the colour of the corner"
            assert len(cell.metadata["mystnb"]["image"]["alt"]) > 60
            figures += 1
        # An animated figure counts as well.
        figures += sum(
            "data-anywidget" in o.get("data", {}).get("text/html", "") for o in cell.outputs
        )
    assert figures >= 1 or not is_chapter(source)


@each_edition
def test_cells_have_few_short_lines(source, language):
    for n, cell in enumerate(code(book_edition(source, language))):
        lines = [line for line in cell.source.splitlines() if line.strip()]
        # The first cell imports, and is folded or hidden, so it may be longer.
        assert len(lines) <= (17 if n else 34), cell.source
        assert max(map(len, lines)) <= 98, cell.source


@each_edition
def test_drawing_importing_and_marked_cells_are_folded(source, language):
    says = [cell.metadata.get("fold") for cell in code(master_of(source))]
    for cell, kind in zip(code(book_edition(source, language)), says, strict=True):
        tags, shown = cell.metadata.get("tags", []), cell.metadata.get("mystnb", {})
        if set(tags) <= {"hide-input"}:
            if "image" in shown:
                kind = "figure"
            elif "attn_course.set_language(" in cell.source:
                kind = "imports"
        assert ("hide-input" in tags) == (kind is not None), cell.source
        if kind:
            assert shown["code_prompt_show"] == build.FOLDED[kind][language]


def numbers(text):
    """Return the decimals and large integers of a text, as written there."""
    # Spanish numbers such as 16 384 have a thin space.
    text = text.replace("−", "-").replace("\\,", "").replace("\u2009", "")
    return set(re.findall(r"(?<![\w.,])(\d{1,3}(?:,\d{3})+|\d+\.\d+|\d{3,})(?![\w]|[.,]\d)", text))


# The number of a document, a section or a year is a name and not a result.
NAMED = (
    r"\{cite:[tp]\}`\w+`|\((\w+-)*\w+\)="
    r"|Python [\d.]+|(docum\w+|secci\w+|sections?|chapters?) [\d.]+( \w+ [\d.]+)?"
    r"|\b(?<![,\u2009])00\d\b|\b20[12]\d\b"
)


@each_edition
def test_every_number_in_the_prose_is_in_a_cell_nearby(source, language):
    cells = book_edition(source, language).cells
    places = [i for i, cell in enumerate(cells) if cell.cell_type == "code"]
    for here, cell in enumerate(cells):
        if cell.cell_type != "markdown":
            continue
        near = [i for i in places if i < here][-5:] + [i for i in places if i > here][:2]
        values = [value for i in near for value in values_of(cells[i])]
        for number in numbers(re.sub(NAMED, "", cell.source)):
            value, decimals = float(number.replace(",", "")), len(number.partition(".")[2])
            assert any(round(v, decimals) == value for v in values), (number, cell.source)


def values_of(cell):
    """Return the numbers of a cell: of its code, printed output, drawings and data file."""
    text = cell.source
    for output in cell.outputs:
        text += " " + output.get("text", "") + str(output.get("data", {}).get("text/plain", ""))
        drawn = str(output.get("data", {}).get("text/html", ""))
        text += " ".join(re.findall(r">([^<]+)</text>", drawn))
    if "../data/" in text:
        text += (ROOT / "notebooks" / re.search(r"data/\w+\.json", text)[0]).read_text()
    text = text.replace("_", "").replace("−", "-")
    return [float(n) for n in re.findall(r"\d+\.?\d*(?:e[+-]?\d+)?", text)]


# The notebook as readers of Markdown show it -----------------------------------------------------

UNREAD = r":::|\{[\w:+-]+\}`|^\([^()\s]+\)=|[)\]]\{[.#]|\{(cite|ref|numref)|^:\w+:|\{code-cell"


@functools.cache
def seen(source, language):
    """Return the prose of a committed notebook as the page that nbconvert renders."""
    text = "\n".join(map(markdown2html, prose(committed(source, language))))
    return lxml.html.fromstring(f"<div>{text}</div>")


def solutions(source):
    return [
        cell
        for cell in code(build.split(source, "es"))
        if build.SOLUTION in cell.metadata.get("tags", ())
    ]


@each_edition
def test_no_markup_is_left_unrendered(source, language):
    page = copy.deepcopy(seen(source, language))
    for literal in page.xpath("//pre | //code"):
        literal.drop_tree()
    shown = re.sub(r"\$\$.*?\$\$|\$[^$]+\$", "", page.text_content(), flags=re.DOTALL)
    assert re.findall(UNREAD, shown, re.MULTILINE) == []
    # A browser drops every element that it does not know, such as a token in angle brackets.
    known = (
        "a blockquote code div em h1 h2 h3 h4 li ol p pre span strong table tbody td th thead tr ul"
    )
    known += " details summary"
    assert {element.tag for element in page.iter()} <= set(known.split())


@each_edition
def test_links_of_a_notebook_resolve(source, language):
    # A heading's link to itself was not written by the author.
    links = seen(source, language).xpath("//a[not(@class)]/@href")
    dead = []
    for link in links:
        page, _, anchor = link.partition("#")
        if re.match("https?://", link):
            continue
        target = build.ROOT / "src" / f"{page.removesuffix('.ipynb')}.md" if page else source
        if target not in SOURCES or anchor and anchor not in anchors(target, language):
            dead.append(link)
    assert dead == [] and (links or not is_chapter(source))


@functools.cache
def anchors(source, language):
    # nbconvert names a cell after the place at its beginning: see readable.py.
    named = {f"cell-id={cell.id}" for cell in committed(source, language).cells}
    return named & set(seen(source, language).xpath("//a/@id"))


@each_edition
def test_solutions_are_folded_and_are_not_code_cells(source, language):
    folds = seen(source, language).xpath("//details[not(@open)]")
    folded = [fold.find(".//pre").text_content().strip() for fold in folds]
    worked = [cell.source for cell in solutions(source)]
    assert folded == worked
    assert [fold.findtext("summary") for fold in folds] == [
        {"es": "Mostrar una solución", "en": "Show a solution"}[language]
    ] * len(worked)
    notebook = committed(source, language)
    assert not {cell.source for cell in code(notebook)} & set(worked)
    asked = [asks(cell.source) for cell in code(notebook) if asks(cell.source)]
    assert asked == [asks(each) for each in worked], "an exercise without a solution"


@each_edition
def test_a_figure_has_its_caption_under_it(source, language):
    cells, counted = committed(source, language).cells, 0
    for cell, after in itertools.pairwise(cells):
        caption = cell.metadata.get("mystnb", {}).get("figure", {}).get("caption")
        if caption and cell.cell_type == "code":
            shown = lxml.html.fromstring(markdown2html(after.source)).text_content()
            counted += 1
            chapter = readable.chapter_of(source.stem)
            number = f"{chapter}.{counted}." if chapter else f"{counted}."
            assert shown.split()[:2] == [{"es": "Figura", "en": "Figure"}[language], number]
            assert caption.replace("*", "").split()[-1][:3] in shown
    captions = sum(
        "caption" in c.metadata.get("mystnb", {}).get("figure", {})
        for c in code(committed(source, language))
    )
    assert captions == sum(cell.id.endswith("-caption") for cell in cells)


@pytest.mark.slow
@each_source
def test_solutions_give_their_stored_output(source, monkeypatch):
    # Only this test runs the solutions of a notebook, which need the imports of the first cell.
    if not solutions(source):
        return
    edition = book_edition(source, "es")
    imports = next(c.source for c in code(edition) if "attn_course.set_language(" in c.source)
    monkeypatch.chdir(build.ROOT / "es")
    namespace = {}
    exec(imports, namespace)  # noqa: S102 - the course's own code
    for cell in code(edition):
        if build.SOLUTION in cell.metadata.get("tags", ()):
            *statements, asked = ast.parse(cell.source).body
            exec(compile(ast.Module(statements, []), "solution", "exec"), namespace)  # noqa: S102 - the course's own code
            said = eval(ast.unparse(asked), namespace)
            assert said, cell.source
            assert said._repr_html_() == cell.outputs[-1].data["text/html"]


# Parity ---------------------------------------------------------------------------------


@each_source
def test_code_is_the_same_in_both_editions_but_for_the_language_line(source):
    spanish, english = (code(book_edition(source, language)) for language in build.LANGUAGES)
    assert len(spanish) == len(english)
    differing = [
        (a, b)
        for one, other in zip(spanish, english, strict=True)
        for a, b in itertools.zip_longest(one.source.splitlines(), other.source.splitlines())
        if a != b
    ]
    assert differing == [tuple(build.LANGUAGE_LINE.format(lang) for lang in build.LANGUAGES)]


# Patterns of the results in an output, without the words around them: numbers, truth values,
# verdicts.
COMPUTED = (
    r"-?\d+(?:[.,]\d+)*(?:e[+-]?\d+)?|\b(?:True|False|None|nan|inf)\b|attn-check-(?:pass|fail|todo)"
)
QUIZ = r'Quiz\(load_quiz\("(\w+)"((?:, "\w+")+)\)\)'
# Each edition asks these models of chapter 10, and trains those of chapter 6, in its own language.
# Each edition of these pages asks the translator from its language; both are run on every change.
IN_THEIR_DIRECTION = ("index", "translator")
ASKED_IN_ITS_LANGUAGE = r"\b(looker|shipped|cheater|small_gpt)\b"


def kinds_and_texts(cell):
    """Return of every output what it consists of, and its texts."""
    shown = [{"text": output.get("text"), **output.get("data", {})} for output in cell.outputs]
    kinds = [
        (output.output_type, sorted(data)) for output, data in zip(cell.outputs, shown, strict=True)
    ]
    # Names in the drawing of the machine take more lines in one language than in the other.
    machine = r'<figure class="attn-machine">.*?</figure>'
    texts = [
        html.unescape(re.sub(machine, "", str(data[kind])))
        for data in shown
        for kind in sorted(data)
        if data[kind] and kind not in PICTURES
    ]
    return kinds, texts


@pytest.mark.parametrize(
    "source",
    [source for source in SOURCES if source.stem not in IN_THEIR_DIRECTION],
    ids=lambda source: source.stem,
)
def test_both_editions_show_the_same_results(source):
    """A change runs one edition of a page; this test notices an old output in the other."""
    editions = (code(book_edition(source, language)) for language in build.LANGUAGES)
    for spanish, english in zip(*editions, strict=True):
        if re.search(rf"{QUIZ}|{ASKED_IN_ITS_LANGUAGE}", spanish.source):
            continue
        (spanish_kinds, spanish_texts), (english_kinds, english_texts) = map(
            kinds_and_texts, (spanish, english)
        )
        assert spanish_kinds == english_kinds, spanish.source
        for one, other in zip(spanish_texts, english_texts, strict=True):
            if re.search(r"[^\W\d_]", one + other):  # the outputs contain words
                one, other = re.findall(COMPUTED, one), re.findall(COMPUTED, other)
            assert one == other, spanish.source


@each_source
def test_a_story_asks_at_least_four_questions(source):
    asked = re.findall(QUIZ, "".join(cell.source for cell in code(master_of(source))))
    questions = sum(names.count(",") for _, names in asked)
    assert questions >= (4 if source.stem[0].isdigit() else 0)


@each_edition
def test_every_quiz_is_that_of_its_file(source, language):
    try:
        set_language(language)
        for cell in code(committed(source, language)):
            for chapter, names in re.findall(QUIZ, cell.source):
                shown = Quiz(load_quiz(chapter, *re.findall(r"\w+", names)))._repr_mimebundle_()[0][
                    "text/html"
                ]
                assert cell.outputs[-1].data["text/html"] == shown
    finally:
        set_language("es")


STRUCTURE = {
    "headings": r"^(#+) ",
    "anchors": r"^\((\S+)\)=$",
    "notes": r"^:class: (\w+)$",
    "citations": r"\{cite:\w+\}`(\w+)`",
    "links": r"\]\(([^)]*)\)",
    "display formulas": r"\$\$([^$]+)\$\$",
    "bullets": r"^(- |\d\. )",
    "code": r"`([^`\n]+)`",
}


@each_source
def test_both_editions_have_the_same_parts(source):
    texts = ["\n".join(prose(book_edition(source, lang))) for lang in build.LANGUAGES]
    for kind, pattern in STRUCTURE.items():
        spanish, english = (sorted(re.findall(pattern, text, re.MULTILINE)) for text in texts)
        assert spanish == english, kind


@functools.cache
def master_of(source):
    return build.jupytext.read(source, fmt="md:myst")


@each_source
def test_both_editions_are_of_similar_length(source):
    master = [cell for cell in master_of(source).cells if cell.cell_type == "markdown"]
    tagged = [(cell.metadata.get("lang"), len(cell.source)) for cell in master]
    pairs = [pair for pair in tagged if pair[0]]
    assert [lang for lang, _ in pairs] == list(build.LANGUAGES) * (len(pairs) // 2)
    for (_, spanish), (_, english) in zip(pairs[::2], pairs[1::2], strict=True):
        assert 0.7 < spanish / english < 1.5


@each_source
def test_texts_of_code_cells_exist_in_both_languages(source):
    for cell in code(master_of(source)):
        alt = cell.metadata.get("mystnb", {}).get("image", {}).get("alt")
        if alt is not None:
            assert set(alt) == set(build.LANGUAGES) and alt["es"] != alt["en"]


@each_source
def test_widgets_and_answers_are_in_the_language_of_their_edition(source):
    for language in build.LANGUAGES:
        notebook = committed(source, language)
        widgets = [
            o.data["text/plain"]
            for o in outputs(notebook)
            if "data-anywidget" in o.get("data", {}).get("text/html", "")
        ]
        assert len(widgets) >= (2 if is_chapter(source) else not is_laboratory(source))
        assert all(f"language='{language}'" in widget for widget in widgets)


@each_source
def test_an_exercise_runs_without_the_cells_before_it(source):
    """The cell brings the names that a right answer needs; the answer is the worked solution."""
    functions = {}
    asked = [cell.source for cell in code(master_of(source)) if asks(cell.source)]
    for exercise, solution in zip(asked[::2], asked[1::2], strict=True):
        name, imports = asks(exercise), exercise.partition("def ")[0]
        # An answer may call the functions of earlier exercises, so those are defined first.
        names = dict(functions)
        exec(imports + solution, names)  # noqa: S102 - as Jupyter does with it
        assert names["check"](name, names[name]).status == "passed"
        functions[name] = names[name]


# The laboratory ---------------------------------------------------------------------------

FORM = {
    "es": ["Afirmación.", "Diseño.", "Resultado.", "Qué se sigue, y qué no.", "Para repetirlo."],
    "en": ["Claim.", "Design.", "Result.", "What follows, and what does not.", "Run it again."],
}
LABORATORIES = [source for source in SOURCES if is_laboratory(source)]


def experiments(laboratory, language):
    """Return ``{label: text}`` for the experiments of a page: all sections but the last notes."""
    text = "\n\n".join(prose(build.split(laboratory, language)))
    before, *sections = re.split(r"^(?=\(\S+\)=\n## |(?<!\)=\n)## )", text, flags=re.MULTILINE)
    assert sections and "\n## " not in before
    labelled = [re.match(r"\((l\d\d-[a-z0-9-]+)\)=\n## ", section) for section in sections]
    assert all(labelled), f"{laboratory.stem}: an experiment without a label"
    named = {it[1]: section for it, section in zip(labelled, sections, strict=True)}
    assert not {key for key in list(named)[:-1] if key.endswith("-notes")}
    return {key: section for key, section in named.items() if not key.endswith("-notes")}


@pytest.mark.parametrize("language", build.LANGUAGES)
@pytest.mark.parametrize("laboratory", LABORATORIES, ids=lambda source: source.stem)
def test_an_experiment_has_five_parts_and_links_in_both_directions(laboratory, language):
    chapter = laboratory.with_name(laboratory.name.removeprefix("L"))
    story = "\n\n".join(prose(build.split(chapter, language)))
    asked = re.findall(rf"\]\({laboratory.stem}\.ipynb#([\w-]+)\)", story)
    found = experiments(laboratory, language)
    assert set(asked) == set(found), "a link to no experiment, or an experiment without a link"
    labels = set(re.findall(r"^\((\S+)\)=$", story, re.MULTILINE))
    for label, experiment in found.items():
        assert label.startswith(laboratory.stem[:3].lower())
        parts = re.findall(r"^\*\*([^*]+)\*\*", experiment, re.MULTILINE)
        assert [part for part in parts if part in FORM[language]] == FORM[language], label
        claim = experiment.partition(f"**{FORM[language][0]}**")[2].partition("\n\n")[0]
        back = re.findall(rf"\]\({chapter.stem}\.ipynb#([\w-]+)\)", claim)
        assert back and set(back) <= labels, label


# The builder ----------------------------------------------------------------------------


def test_a_language_the_course_does_not_speak_is_refused(tmp_path):
    source = tmp_path / "x.md"
    source.write_text(
        '---\nkernelspec: {name: python3, display_name: Python 3}\n---\n\n+++ {"lang": "fr"}\n\nBonjour\n'
    )
    with pytest.raises(ValueError, match=r"x\.md: lang: expected one of .*got 'fr'"):
        build.split(source, "es")


TOLD = readable.Reader(
    "x",
    "es",
    {"x", "y"},
    readable.reader("x", "es").works,
    {"here": "x", "there": "y", "site": None},
    {"heat": "3.1"},
)


def test_text_about_the_site_is_not_in_a_notebook():
    assert doctest.testmod(readable).failed == 0
    text = "Uno. [Esta página recuerda.]{.attn-site} Dos ([medido](#site)), [aquí](../book/es/results.md#x)."
    said = "Uno. Dos (medido, en el sitio del curso), aquí (en el sitio del curso)."
    assert readable.markdown(text, TOLD) == said


def test_citations_read_as_on_the_page_and_link_to_the_work():
    text = "{cite:t}`jain2019attention` y {cite:p}`vaswani2017attention,radford2019language`"
    assert readable.markdown(text, TOLD) == (
        "[Jain y Wallace (2019)](https://doi.org/10.18653/v1/N19-1357) y ([Vaswani et al., "
        "2017](https://arxiv.org/abs/1706.03762); Radford et al., 2019, *Language Models are "
        "Unsupervised Multitask Learners*)"
    )


def test_a_figure_is_named_by_its_number():
    assert readable.markdown("{numref}`heat` dice", TOLD) == "Figura 3.1 dice"
    english = TOLD._replace(language="en")
    assert readable.markdown("In {numref}`heat`", english) == "In Figure 3.1"


def test_code_and_formulas_stay_as_they_are():
    text = "`{cite:t}` y $[a](b){.c}$:\n\n$$\na_{b} [c](d)\n$$\n\n```python\n(x)=\n:::\n```"
    assert readable.markdown(text, TOLD) == text
    quoted = readable.markdown(":::{admonition} Mira\n$$\na\n$$\n\n```python\n(x)=\n```\n:::", TOLD)
    assert quoted == "> **Mira**\n>\n> $$ a $$\n>\n> ```python\n> (x)=\n> ```"


@pytest.mark.parametrize(
    "text",
    [
        ":::{note}\nOjo\n:::",
        "```{figure} a.png\n```",
        "{numref}`fig`",
        "{ref}`here`",
        "{cite:t}`nobody`",
        "(a label)=\n# A",
        "(x.y)=\n# A",
        "# A {#x}",
        "*a*{.b}",
        "[a]{.b}",
        "{.b}\n# A",
        "a[^1]",
        "% note",
        "+++",
        "Term\n: meaning",
        "{{ a }}",
        "$$ a $$ (eq)",
        "\\begin{align}a\\end{align}",
        "[a](#nowhere)",
        "[a](y.ipynb#nowhere)",
        "[a](z.ipynb)",
        ":::{admonition} A\n{abbr}`b`\n:::",
    ],
)
def test_markup_that_only_the_book_can_show_is_refused(text):
    with pytest.raises(ValueError, match=r"^x: expected .*, got '"):
        readable.markdown(text, TOLD)


def test_an_unknown_kind_of_fold_is_refused(tmp_path):
    source = tmp_path / "x.md"
    source.write_text(
        "---\nkernelspec: {name: python3, display_name: Python 3}\n---\n\n"
        "```{code-cell} ipython3\n:fold: maybe\n\n1\n```\n"
    )
    with pytest.raises(ValueError, match=r"fold: expected one of .*'measure'.*got 'maybe'"):
        build.split(source, "es")


def test_an_unknown_chapter_is_named_and_the_known_ones_listed(capsys):
    assert build.main(["99_nothing"]) == 1
    assert "03_self_attention" in capsys.readouterr().out


def test_a_number_names_a_chapter_and_not_its_laboratory():
    stems = ("03_self_attention", "L03_self_attention")
    said = {
        name: tuple(build._named(stem)(name) for stem in stems) for name in ("03", "L03", "self")
    }
    assert said == {"03": (True, False), "L03": (False, True), "self": (True, True)}


@pytest.mark.slow
def test_a_failing_cell_leaves_the_old_notebook_as_it_was(tmp_path, monkeypatch, capsys):
    (tmp_path / "src").mkdir()
    (tmp_path / "es").mkdir()
    (tmp_path / "es" / "x.ipynb").write_text("the old one")
    (tmp_path / "src" / "x.md").write_text(
        "---\njupytext: {text_representation: {format_name: myst}}\nkernelspec: {name: python3, display_name: Python 3}\n"
        "---\n\n```{code-cell} ipython3\n1 / 0\n```\n"
    )
    monkeypatch.setattr(build, "ROOT", tmp_path)
    assert build.main([]) == 1
    assert "ZeroDivisionError" in capsys.readouterr().out
    assert (tmp_path / "es" / "x.ipynb").read_text() == "the old one"
