"""Split each chapter into its two editions, execute them and write them. See `make notebooks`.

A chapter is one file, ``notebooks/src/NN_name.md``, a MyST Markdown notebook, and so is its
laboratory page, ``LNN_name.md``, which measures the chapter's claims. A prose cell names its
language (``+++ {"lang": "es"}``), or none if both editions share it; a code cell is shared, and its
texts (alternative text, caption) are ``{es: ..., en: ...}`` in its metadata. The editions differ in
one line of code, which sets the language of labels.

The notebooks contain only Markdown and HTML (``readable.py``). The book is built from
`book_edition`: the cells of the source with the outputs of the notebook.
"""

import copy
import functools
import hashlib
import os
import sys
from pathlib import Path

import jupytext
import nbformat
from nbclient import NotebookClient
from nbclient.exceptions import CellExecutionError

ROOT = Path(__file__).resolve().parent
sys.path.insert(0, str(ROOT.parent))

from attn.io import write_whole
from notebooks.readable import SOLUTION, readable

LANGUAGES = ("es", "en")
LANGUAGE_LINE = 'attn_course.set_language("{}")'
# What few readers need is folded under one line, which names it.
FOLDED = {
    "imports": {"es": "Mostrar los imports", "en": "Show the imports"},
    "figure": {"es": "Mostrar el código de la figura", "en": "Show the code of the figure"},
    "table": {"es": "Mostrar el código de la tabla", "en": "Show the code of the table"},
    "measure": {"es": "Mostrar cómo se mide", "en": "Show how it is measured"},
    "stored": {"es": "Mostrar cómo se leen las medidas", "en": "Show how measurements are read"},
    "training": {"es": "Mostrar el entrenamiento", "en": "Show the training"},
    "data": {"es": "Mostrar cómo se preparan los datos", "en": "Show how the data are prepared"},
}
WIDGET_VIEW = "application/vnd.jupyter.widget-view+json"


def sources():
    """Return the chapter sources, in order."""
    return sorted((ROOT / "src").glob("*.md"))


def target(source, language):
    """Return the path of an edition of a chapter."""
    return ROOT / language / f"{source.stem}.ipynb"


@functools.lru_cache(maxsize=64)
def _parsed(text):
    """Return the cells of both editions. The result is cached: callers must not change it."""
    return jupytext.reads(text, fmt="md:myst")


def split(source, language):
    """Return one edition of a chapter, not yet executed.

    Parameters
    ----------
    source : Path
        A MyST Markdown notebook with tagged prose cells.
    language : {"es", "en"}

    Returns
    -------
    NotebookNode
        The cells of that language as MyST, with stable ids.

    Raises
    ------
    ValueError
        If a cell's language is neither "es" nor "en".
    """
    master = copy.deepcopy(_parsed(source.read_text(encoding="utf-8")))
    edition = nbformat.v4.new_notebook()
    edition.metadata = {
        # JupyterLab would write this name on opening the notebook, and mark the notebook as
        # changed.
        "kernelspec": {
            "display_name": "Python 3 (ipykernel)",
            "language": "python",
            "name": "python3",
        },
        "language_info": {"name": "python"},
        "attn": {"language": language},
    }
    seen = {}
    for cell in master.cells:
        spoken = cell.metadata.pop("lang", None)
        if spoken not in (None, *LANGUAGES):
            raise ValueError(f"{source.name}: lang: expected one of {LANGUAGES}, got {spoken!r}")
        if spoken not in (None, language):
            continue
        if cell.cell_type == "code":
            cell.metadata = _folded(cell)
            cell.source = cell.source.replace(
                LANGUAGE_LINE.format("es"), LANGUAGE_LINE.format(language)
            )
            cell.metadata = _in_language(cell.metadata, language)
        # The id depends on the text alone, so that an inserted cell does not change other ids.
        digest = hashlib.sha1(cell.source.encode()).hexdigest()[:8]
        seen[digest] = seen.get(digest, 0) + 1
        cell.id = digest if seen[digest] == 1 else f"{digest}-{seen[digest]}"
        edition.cells.append(cell)
    return edition


def _folded(cell):
    """Return the metadata of a code cell, which fold it if its code is not the subject taught.

    Imports and figures are recognised; another cell needs a line: ``:fold: measure``.
    """
    metadata, drawn = cell.metadata, cell.metadata.get("mystnb", {})
    if "remove-input" in metadata.get("tags", ()):
        metadata = metadata | {"jupyter": {"source_hidden": True}}
    kind = metadata.pop("fold", None)
    if kind not in (None, *FOLDED):
        raise ValueError(f"fold: expected one of {tuple(FOLDED)}, got {kind!r}")
    if kind is None and "tags" not in metadata:
        if "image" in drawn:
            kind = "figure"
        elif LANGUAGE_LINE.format("es") in cell.source:
            kind = "imports"
    if kind is None:
        return metadata
    return metadata | {
        "tags": ["hide-input"],
        "jupyter": {"source_hidden": True},
        "mystnb": drawn | {"code_prompt_show": FOLDED[kind]},
    }


def _in_language(value, language):
    """Replace every ``{"es": ..., "en": ...}`` inside `value` by the one in `language`."""
    if isinstance(value, dict):
        if set(value) == set(LANGUAGES):
            return value[language]
        return {key: _in_language(item, language) for key, item in value.items()}
    return value


def execute(edition, folder):
    """Run a notebook in place, keeping only outputs that are the same on every run."""
    os.environ.update(OMP_NUM_THREADS="1", PYTHONHASHSEED="0")
    # The environment of the build must have no solved exercises: see attn_course/exercises/kept.py.
    for name in ("JPY_SESSION_NAME", "ATTN_SOLVED"):
        os.environ.pop(name, None)
    client = NotebookClient(
        edition,
        timeout=300,
        kernel_name="python3",
        coalesce_streams=True,  # the division of prints into messages depends on timing
        resources={"metadata": {"path": str(folder)}},
    )
    client.execute()
    edition.metadata.pop("widgets", None)
    for cell in edition.cells:
        cell.metadata.pop("execution", None)
        for output in cell.get("outputs", []):
            # The live view refers to a model of this run; the page mounts its own.
            output.get("data", {}).pop(WIDGET_VIEW, None)
    return edition


def book_edition(source, language):
    """Return the edition of a chapter that the book is built from: `split`, with stored outputs.

    Raises
    ------
    ValueError
        If the notebook was made from another source.
    """
    edition, path = split(source, language), target(source, language)
    notebook = nbformat.read(path, as_version=4)
    edition.metadata, stored = notebook.metadata, {cell.id: cell for cell in notebook.cells}
    for cell in edition.cells:
        if cell.cell_type != "code":
            continue
        ran = stored.get(cell.id)
        if ran is None:
            wanted = f"the cells of {source.name}; run make notebooks CHAPTER={source.stem}"
            raise ValueError(f"{path}: expected {wanted}, got a notebook without {cell.source!r}")
        is_solution = SOLUTION in cell.metadata.get("tags", ())
        cell.outputs = ran.metadata["attn"]["outputs"] if is_solution else ran.outputs
        cell.execution_count = ran.get("execution_count")
    return edition


def write(edition, path):
    """Write a notebook atomically: whole or not at all."""
    write_whole(path, nbformat.writes(edition, indent=1) + "\n")


def _named(stem):
    return lambda name: stem.startswith(name) or (name in stem and not name[:1].isdigit())


def main(names, prose=False):
    """Build the chapters whose names match one of `names` (all, if none is given).

    A number selects a chapter but not its laboratory page: ``03`` and ``L03``. A word selects both.

    With `prose` nothing is executed: the stored outputs are kept, for chapters with unchanged code.
    """
    chosen = [source for source in sources() if not names or any(map(_named(source.stem), names))]
    if not chosen:
        print(
            f"No chapter matches {', '.join(names)}. There are: "
            f"{', '.join(source.stem for source in sources())}."
        )
        return 1
    for source in chosen:
        for language in LANGUAGES:
            path = target(source, language)
            path.parent.mkdir(exist_ok=True)
            print(f"{path.relative_to(ROOT.parent)} ...", flush=True)
            try:
                edition = (book_edition if prose else split)(source, language)
                notebook = readable(
                    edition, source.stem
                )  # raises before the cells run, which may take minutes
                if not prose:
                    notebook = readable(execute(edition, path.parent), source.stem)
                write(notebook, path)
            except CellExecutionError as error:
                print(
                    f"A cell of {source.name} ({language}) failed; the old notebook stays.\n{error}"
                )
                return 1
            except ValueError as error:
                print(error)
                return 1
    return 0


if __name__ == "__main__":
    arguments = sys.argv[1:]
    prose = "--prose" in arguments
    sys.exit(main([name for name in arguments if name != "--prose"], prose))
