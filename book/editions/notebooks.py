"""Pack the notebooks of an edition with what a class without a network needs to run them."""

import os
import subprocess
import sys
import tempfile
import zipfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]

READ = {
    "es": """# attn: los cuadernos

Aquí están los cuadernos del curso, el paquete que usan (`attn`, en la carpeta `wheels`) y las
versiones exactas de lo demás.

1. En una computadora con red, una sola vez, junta los paquetes de otros en la misma carpeta:

       pip download -r requirements.txt -d wheels

2. Lleva esta carpeta a la clase. En cada computadora, ya sin red:

       pip install --no-index --find-links wheels -r requirements.txt attn
       jupyter lab notebooks/es

Las computadoras de la clase tienen que usar el mismo sistema y la misma versión de Python que
aquella en que juntaste los paquetes.
""",
    "en": """# attn: the notebooks

These are the notebooks of the course, the package that they use (`attn`, in the folder `wheels`)
and the exact versions of everything else.

1. On a computer with a network, once, collect the packages of others in the same folder:

       pip download -r requirements.txt -d wheels

2. Take this folder to the class. On each computer, no longer with a network:

       pip install --no-index --find-links wheels -r requirements.txt attn
       jupyter lab notebooks/en

The computers of the class must have the system and the version of Python of the one on which you
collected the packages.
""",
}
# What the notebooks import and what opens them, of all that the project's own tests need.
NEEDED = ("torch", "numpy", "matplotlib", "matplotlib-inline", "anywidget", "traitlets", "ipywidgets", "tqdm",
          "safetensors", "regex", "sacrebleu", "rouge-score", "jupyterlab", "jupyterlab-myst")  # fmt: skip


def write(language, target):
    """Write the zip of an edition.

    Parameters
    ----------
    language : {"es", "en"}
    target : Path
    """
    pins = (ROOT / "requirements.txt").read_text(encoding="utf-8").splitlines()
    chosen = [pin for pin in pins if pin.partition("==")[0] in NEEDED]
    readme = "LEEME.md" if language == "es" else "README.md"
    files = {readme: READ[language].encode(), "requirements.txt": "\n".join([*chosen, ""]).encode()}
    for name in ("LICENSE", "LICENSE-content"):
        files[name] = (ROOT / name).read_bytes()
    chapters, measured = ROOT / "notebooks" / language, ROOT / "notebooks" / "data"
    for path in sorted([*chapters.glob("*.ipynb"), *measured.glob("*.json")]):
        files[str(path.relative_to(ROOT))] = path.read_bytes()
    wheel = wheel_of_the_package()
    files[f"wheels/{wheel[0]}"] = wheel[1]
    with zipfile.ZipFile(target, "w") as packed:
        for name, content in files.items():
            # An entry made from a name alone has the first date that the format knows, and would be
            # for its owner's eyes alone, on a computer that a class may share.
            entry = zipfile.ZipInfo(f"{target.stem}/{name}")
            entry.external_attr = 0o644 << 16
            packed.writestr(entry, content, zipfile.ZIP_DEFLATED, 9)


def wheel_of_the_package():
    """Build the wheel of the project; return its name and its bytes."""
    command = [sys.executable, "-m", "pip", "wheel", str(ROOT), "--no-deps", "--quiet"]
    undated = {**os.environ, "SOURCE_DATE_EPOCH": "315532800"}  # the first of January of 1980
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run([*command, "--wheel-dir", folder], check=True, env=undated)
        (wheel,) = Path(folder).glob("*.whl")
        return wheel.name, wheel.read_bytes()
