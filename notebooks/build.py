"""Split each chapter into its two editions and execute them. See `make notebooks`.

A chapter is one file, ``notebooks/src/NN_name.md``, a MyST Markdown notebook. A prose
cell says its language (``+++ {"lang": "es"}``), or none if both editions share it; a
code cell is shared, and its texts (alternative text, caption) are ``{es: ..., en: ...}``
in its metadata. One line of code differs: the one that sets the language of labels.
"""

import hashlib
import os
import sys
from pathlib import Path

import jupytext
import nbformat
from nbclient import NotebookClient
from nbclient.exceptions import CellExecutionError

from attn.io import write_whole

ROOT = Path(__file__).resolve().parent
LANGUAGES = ("es", "en")
LANGUAGE_LINE = 'attn_course.set_language("{}")'
# What few readers ask for is folded under one line, which says what it is.
FOLDED = {
    "imports": {"es": "Mostrar lo que se importa", "en": "Show the imports"},
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
    """Return where the edition of a chapter is kept."""
    return ROOT / language / f"{source.stem}.ipynb"


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
        The cells of that language, with stable ids.

    Raises
    ------
    ValueError
        If a cell's language is neither "es" nor "en".
    """
    master = jupytext.read(source, fmt="md:myst")
    edition = nbformat.v4.new_notebook()
    edition.metadata = {
        "kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"},
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
        # An id that depends on the text alone: inserting a cell leaves the others as they are.
        digest = hashlib.sha1(cell.source.encode()).hexdigest()[:8]
        seen[digest] = seen.get(digest, 0) + 1
        cell.id = digest if seen[digest] == 1 else f"{digest}-{seen[digest]}"
        edition.cells.append(cell)
    return edition


def _folded(cell):
    """Return the metadata of a code cell, which fold its code where it is not what is taught.

    Imports and figures are known by themselves; another cell says it: ``:fold: measure``.
    """
    metadata, drawn = cell.metadata, cell.metadata.get("mystnb", {})
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
    # Who builds has solved nothing: see attn_course/exercises/kept.py.
    for name in ("JPY_SESSION_NAME", "ATTN_SOLVED"):
        os.environ.pop(name, None)
    client = NotebookClient(
        edition,
        timeout=300,
        kernel_name="python3",
        coalesce_streams=True,  # how prints are cut into messages depends on the clock
        resources={"metadata": {"path": str(folder)}},
    )
    client.execute()
    edition.metadata.pop("widgets", None)
    for cell in edition.cells:
        cell.metadata.pop("execution", None)
        for output in cell.get("outputs", []):
            # The live view names a model of this run; readers get the page's own mount.
            output.get("data", {}).pop(WIDGET_VIEW, None)
    return edition


def write(edition, path):
    """Write a notebook whole or not at all."""
    write_whole(path, nbformat.writes(edition, indent=1) + "\n")


def main(names):
    """Build the chapters whose stem contains one of `names` (all, if none is given)."""
    chosen = [source for source in sources() if not names or any(n in source.stem for n in names)]
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
                write(execute(split(source, language), path.parent), path)
            except CellExecutionError as error:
                print(
                    f"A cell of {source.name} ({language}) failed; the old notebook stays.\n{error}"
                )
                return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
