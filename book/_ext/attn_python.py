"""Python in the page: which cells can run there, and the files that run them.

Nothing third-party is in the repository. Python itself (Pyodide) and the editor (CodeMirror) come
from npm, pinned and checksummed. NumPy for the browser is on no registry yet: it comes from a
folder named by ``ATTN_WASM``, else from where Pyodide publishes it, with the checksum that Pyodide
records. Without it the site is built as well, and nothing in it runs. Where that folder holds
matplotlib too, with all that Pyodide's lock file says it needs, cells that draw run as well; it is
not fetched, since a page without it loses its figures' buttons alone.
"""

import hashlib
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import zipfile
from http.client import HTTPException
from pathlib import Path
from urllib.request import urlopen

from docutils import nodes
from vendor import VENDOR, VendorError, fetch, install, node

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))

from attn_course.in_page.plan import EXERCISE, asks, plan

EDITOR = ROOT / "book" / "editor"
CORE = (
    "pyodide.js",
    "pyodide.asm.js",
    "pyodide.asm.wasm",
    "python_stdlib.zip",
    "pyodide-lock.json",
)
PATIENCE = 20  # seconds without an answer
# Of the two packages, what needs NumPy alone.
SOURCES = (
    "attn/__init__.py", "attn/_checks.py", "attn/_switch.py", "attn/applications/__init__.py", "attn/applications/models/__init__.py",
    "attn/reference/*.py", "attn_course/__init__.py",
    "attn_course/language.py", "attn_course/palette.py", "attn_course/tables.py", "attn_course/in_page/*.py",
    "attn_course/drawings/*.py", "attn_course/own_machine/*.py",
    "attn_course/exercises/*.py",
    "attn_course/exercises/chapters/*.py", "attn_course/exercises/chapters/*.toml",
)  # fmt: skip
# What the learner's own code translates with; a page asks for it when it is wanted.
TRANSLATOR = ("attn/applications/models/grammar_translator/*.*",)
# What its figures are drawn with, where there is matplotlib.
PLOTS = ("attn_course/plots/*.py",)
UI = {
    "es": {
        "exercises": "Ejercicios",
        "quizzes": "Preguntas acertadas",
        "none": "Aquí no hay nada guardado todavía.",
        "erase": "Borrar todo lo guardado",
        "sure": "¿Borrar tus respuestas y tu progreso de este navegador?",
        "write": "Resolver aquí",
        "solved": "Resuelto",
        "tried": "Empezado",
        "run": "Ejecutar",
        "runThis": "Ejecutar esta celda y cambiarla",
        "check": "Comprobar",
        "stop": "Detener",
        "reset": "Empezar de nuevo",
        "code": "Tu código",
        "keys": "Ctrl + Intro ejecuta. Tab sangra; para salir del editor con el teclado, Esc y después Tab.",
        "loading": "Se carga Python: {size} MB la primera vez, que el navegador guarda después.",
        "drawing": "Se carga matplotlib: {size} MB la primera vez.",
        "running": "Se ejecuta…",
        "stopped": "Detenido. La siguiente ejecución empieza con un Python nuevo.",
        "late": "Se cortó a los {seconds} segundos. ¿Hay un bucle que no termina?",
        "cut": "… la salida sigue; aquí se corta.",
        "failed": "No se pudo cargar Python: {why}",
        "file": "Python no puede ejecutarse en una página abierta como archivo: el navegador lo impide. "
        "Ábrela con `make serve` o en la dirección donde está publicado el curso.",
        "before": {"one": "Antes se ejecutó una celda anterior.", "many": "Antes se ejecutaron {n} celdas anteriores."},
        "lent": "Del curso, mientras no las resuelvas: {names}.",
        "yours": "Con funciones tuyas: {names}.",
        "nothing": "Terminó sin imprimir nada.",
        "local": "make lab",
        "localLong": "Esta celda necesita PyTorch o matplotlib, que no caben en la página: ejecútala en tu máquina con make lab",
        "export": "Descargar con tus respuestas",
        "machine": "Traducir con mi código",
        "sentence": "Una oración en inglés, con palabras que la gramática conozca",
    },
    "en": {
        "exercises": "Exercises",
        "quizzes": "Questions answered right",
        "none": "Nothing is stored here yet.",
        "erase": "Erase all that is stored",
        "sure": "Erase your answers and your progress from this browser?",
        "write": "Solve it here",
        "solved": "Solved",
        "tried": "Begun",
        "run": "Run",
        "runThis": "Run this cell and change it",
        "check": "Check",
        "stop": "Stop",
        "reset": "Start over",
        "code": "Your code",
        "keys": "Ctrl + Enter runs. Tab indents; to leave the editor by keyboard, press Esc and then Tab.",
        "loading": "Loading Python: {size} MB the first time, kept by the browser afterwards.",
        "drawing": "Loading matplotlib: {size} MB the first time.",
        "running": "Running…",
        "stopped": "Stopped. The next run begins with a new Python.",
        "late": "Cut off after {seconds} seconds. Is there a loop that does not end?",
        "cut": "… there is more; it is cut here.",
        "failed": "Python could not be loaded: {why}",
        "file": "Python cannot run in a page that was opened as a file: the browser does not allow it. "
        "Open it with `make serve`, or at the address where the course is published.",
        "before": {"one": "One earlier cell ran first.", "many": "{n} earlier cells ran first."},
        "lent": "The course's, until you solve them: {names}.",
        "yours": "With functions of yours: {names}.",
        "nothing": "It ended without printing anything.",
        "local": "make lab",
        "localLong": "This cell needs PyTorch or matplotlib, which do not fit into the page: run it on your machine with make lab",
        "export": "Download with your answers",
        "machine": "Translate with my code",
        "sentence": "An English sentence, in words that the grammar knows",
    },
}  # fmt: skip


def assemble(folder):
    """Gather what the pages need to run Python.

    Parameters
    ----------
    folder : Path
        Where the files go; it must not exist.

    Returns
    -------
    str or None
        Why it cannot be had: then there is no folder.
    """
    try:
        core = fetch("pyodide")
        wheel = _numpy(core)
        editor = _editor()
    except VendorError as error:
        return str(error)
    folder.mkdir(parents=True)
    for name in CORE:
        shutil.copyfile(core / name, folder / name)
    shutil.copyfile(wheel, folder / wheel.name)
    shutil.copyfile(editor, folder / "editor.js")
    drawing = _matplotlib(core)
    for path in drawing:
        shutil.copyfile(path, folder / path.name)
    _zip(folder / "course.zip", SOURCES + PLOTS if drawing else SOURCES)
    _zip(folder / "translator.zip", TRANSLATOR)
    for file in (ROOT / "book" / "python").iterdir():
        shutil.copyfile(file, folder / file.name)
    sizes = {name: (folder / name).stat().st_size for name in (*CORE, wheel.name, "course.zip")}
    drawing = {path.name: path.stat().st_size for path in drawing}
    told = json.dumps({"numpy": wheel.name, "sizes": sizes, "drawing": drawing})
    (folder / "files.json").write_text(told + "\n", encoding="utf-8")
    return None


def _lock(core):
    return json.loads((core / "pyodide-lock.json").read_text(encoding="utf-8"))["packages"]


def _matplotlib(core):
    """Return the wheels of matplotlib and of all that it needs but NumPy; none if one is missing."""
    named, lock = os.environ.get("ATTN_WASM"), _lock(core)
    wanted, asked = set(), {"matplotlib"}
    while asked:
        name = asked.pop()
        wanted.add(name)
        asked |= {*lock[name]["depends"]} - wanted
    paths = [Path(named or "", lock[name]["file_name"]) for name in sorted(wanted - {"numpy"})]
    return paths if named and all(path.is_file() for path in paths) else []


def _numpy(core):
    """Return the wheel of NumPy that belongs to this Pyodide."""
    lock = _lock(core)["numpy"]
    named = os.environ.get("ATTN_WASM")
    if named and (Path(named) / lock["file_name"]).is_file():
        return Path(named) / lock["file_name"]
    kept = VENDOR / lock["file_name"]
    if not kept.exists():
        address = _published(core) + lock["file_name"]
        try:
            with urlopen(address, timeout=PATIENCE) as answer:
                content = answer.read()
        except (OSError, HTTPException) as error:
            wanted = f"a folder named by ATTN_WASM that holds it, or the network ({address})"
            raise VendorError(f"{lock['file_name']}: expected {wanted}, got {error}") from None
        found = hashlib.sha256(content).hexdigest()
        if found != lock["sha256"]:
            raise VendorError(f"{address}: expected sha256 {lock['sha256']}, got {found}")
        scratch = kept.with_suffix(f".{os.getpid()}")
        scratch.write_bytes(content)
        scratch.replace(kept)
    return kept


def _published(core):
    """Return the address of the folder with Pyodide's packages, as its own loader knows it."""
    loader = (core / "pyodide.js").read_text(encoding="utf-8")
    version = json.loads((core / "package.json").read_text(encoding="utf-8"))["version"]
    found = re.search(r"(https://[^`\"]+/pyodide/v)\$\{\w+\}(/full/)", loader)
    return found[1] + version + found[2]


def _editor():
    """Return the editor in one file, bundled the first time."""
    inputs = [EDITOR / name for name in ("package.json", "package-lock.json", "editor.js")]
    mark = hashlib.sha256(b"".join(path.read_bytes() for path in inputs)).hexdigest()[:12]
    bundle = VENDOR / f"editor-{mark}.js"
    if not bundle.exists():
        print("Bundling the editor ...", flush=True)
        VENDOR.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=VENDOR) as scratch:
            for path in inputs:
                shutil.copyfile(path, Path(scratch, path.name))
            install(Path(scratch))
            esbuild = Path(scratch, "node_modules", "esbuild-wasm", "bin", "esbuild")
            options = [
                "--bundle",
                "--minify",
                "--format=iife",
                "--target=es2022",
                "--outfile=out.js",
            ]
            subprocess.run(
                [node(), esbuild, "editor.js", "--log-level=error", *options],
                cwd=scratch,
                check=True,
            )
            Path(scratch, "out.js").replace(bundle)
    return bundle


def _zip(path, patterns=SOURCES):
    """Pack files, the same bytes each time."""
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for file in sorted(file for pattern in patterns for file in ROOT.glob(pattern)):
            entry = zipfile.ZipInfo(file.relative_to(ROOT).as_posix(), (1980, 1, 1, 0, 0, 0))
            entry.compress_type = zipfile.ZIP_DEFLATED
            archive.writestr(entry, file.read_bytes())


def mark_cells(app, doctree, docname):
    """Tell the page which of its cells run there, and give its exercises a button."""
    runs = "ATTN_PYTHON" in os.environ
    drawing = os.environ.get("ATTN_PYTHON") == "drawing"
    # Cells whose code is not on the page, and worked solutions, do not count.
    cells = [cell for cell in doctree.findall(nodes.container) if _source(cell)]
    cells = [cell for cell in cells if not _is_solution(cell)]
    ui = UI[app.config.language]
    for cell, kind in zip(cells, plan(map(_source, cells), drawing), strict=True):
        name = asks(_source(cell))
        if name:
            cell["ids"].append(anchor(name))
        if not runs:
            continue
        cell["classes"].append(f"attn-py-{kind}")
        if name:
            bar = f'<p class="attn-py-bar"><button type="button" data-exercise="{name}">{ui["write"]}</button></p>'
            cell.append(nodes.raw("", bar, format="html"))
        if kind == "machine":
            cell["ids"].append("own-machine")
            bar = f'<p class="attn-py-bar"><button type="button">{ui["machine"]}</button></p>'
            cell.append(nodes.raw("", bar, format="html"))


def anchor(exercise):
    """Return where on its page an exercise is.

    >>> anchor("layer_norm")
    'exercise-layer-norm'
    """
    return f"exercise-{exercise.replace('_', '-')}"


def _source(cell):
    """Return the code of a code cell, empty of any other container."""
    if cell.get("nb_element") == "cell_code":
        for part in cell.findall(nodes.container):
            if part.get("nb_element") == "cell_code_source":
                return part.astext()
    return ""


def _is_solution(cell):
    tags = cell.get("cell_metadata", {}).get("tags", ())
    return "hide-cell" in tags and EXERCISE.search(_source(cell)) is not None


def page_settings(body, language, depth):
    """Return what a page with cells that run must know, as JSON, or None for any other page."""
    if not any(
        f"attn-{part}" in body for part in ("py-exercise", "py-run", "py-draws", "progress")
    ):
        return None
    return json.dumps({"base": "../" * depth + "python/", "ui": UI[language]}, ensure_ascii=False)
