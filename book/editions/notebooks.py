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

       pip wheel -r requirements.txt -w wheels

2. Los capítulos 12, A2 y A3 usan dos modelos que entrenaron otros. En la misma computadora,
   instala los paquetes, trae los modelos (190 MB) y cópialos junto a `wheels`:

       pip install --no-index --find-links wheels -r requirements.txt attn
       python -m attn fetch smollm2 minilm
       cp -r ~/.cache/attn/models .

   Sin los modelos, las celdas que los usan se detienen y dicen qué falta. Los demás capítulos
   no los necesitan.

3. Lleva esta carpeta a la clase. En cada computadora, ya sin red:

       pip install --no-index --find-links wheels -r requirements.txt attn
       export ATTN_MODELS="$PWD/models" OMP_NUM_THREADS=1 JUPYTER_CONFIG_PATH="$PWD"
       jupyter lab notebooks/es

   La segunda línea dice dónde están los modelos, pide un solo hilo, con el que salen los mismos
   números que en el texto, y dice dónde está `jupyter_server_config.py`, con el que las figuras
   guardadas se ven también al día siguiente. En Windows se escribe
   `$env:ATTN_MODELS = "$PWD\\models"`, `$env:OMP_NUM_THREADS = 1` y
   `$env:JUPYTER_CONFIG_PATH = $PWD`.

Las computadoras de la clase tienen que usar el mismo sistema y la misma versión de Python que
aquella en que juntaste los paquetes.
""",
    "en": """# attn: the notebooks

These are the notebooks of the course, the package that they use (`attn`, in the folder `wheels`)
and the exact versions of everything else.

1. On a computer with a network, once, collect the packages of others in the same folder:

       pip wheel -r requirements.txt -w wheels

2. Chapters 12, A2 and A3 use two models that others trained. On the same computer, install the
   packages, fetch the models (190 MB) and copy them beside `wheels`:

       pip install --no-index --find-links wheels -r requirements.txt attn
       python -m attn fetch smollm2 minilm
       cp -r ~/.cache/attn/models .

   Without the models, the cells that use them stop and say what is missing. The other chapters do
   not need them.

3. Take this folder to the class. On each computer, no longer with a network:

       pip install --no-index --find-links wheels -r requirements.txt attn
       export ATTN_MODELS="$PWD/models" OMP_NUM_THREADS=1 JUPYTER_CONFIG_PATH="$PWD"
       jupyter lab notebooks/en

   The second line says where the models are, asks for a single thread, which gives the numbers that
   the text has, and says where `jupyter_server_config.py` is, with which saved figures are still
   there on the next day. On Windows, write `$env:ATTN_MODELS = "$PWD\\models"`,
   `$env:OMP_NUM_THREADS = 1` and `$env:JUPYTER_CONFIG_PATH = $PWD` instead.

The computers of the class must have the system and the version of Python of the one on which you
collected the packages.
""",
}
# The packages that the notebooks import and that open them, of all that the tests need.
NEEDED = (
    "torch",
    "numpy",
    "matplotlib",
    "matplotlib-inline",
    "anywidget",
    "traitlets",
    "ipywidgets",
    "tqdm",
    "safetensors",
    "regex",
    "sacrebleu",
    "rouge-score",
    "jupyterlab",
)


def write(language, target, wheel):
    """Write the zip of an edition.

    Parameters
    ----------
    language : {"es", "en"}
    target : Path
    wheel : tuple of (str, bytes)
        What `wheel_of_the_package` returns.
    """
    pins = (ROOT / "requirements.txt").read_text(encoding="utf-8").splitlines()
    chosen = [pin for pin in pins if pin.partition("==")[0] in NEEDED]
    readme = "LEEME.md" if language == "es" else "README.md"
    files = {readme: READ[language].encode(), "requirements.txt": "\n".join([*chosen, ""]).encode()}
    for name in ("LICENSE", "LICENSE-content", "jupyter_server_config.py"):
        files[name] = (ROOT / name).read_bytes()
    chapters, measured = ROOT / "notebooks" / language, ROOT / "notebooks" / "data"
    for path in sorted([*chapters.glob("*.ipynb"), *measured.glob("*.json")]):
        files[str(path.relative_to(ROOT))] = path.read_bytes()
    files[f"wheels/{wheel[0]}"] = wheel[1]
    with zipfile.ZipFile(target, "w") as packed:
        for name, content in files.items():
            # An entry made from a name alone has the earliest date of the format, and permissions
            # for its owner alone, which fails on a shared computer.
            entry = zipfile.ZipInfo(f"{target.stem}/{name}")
            entry.external_attr = 0o644 << 16
            packed.writestr(entry, content, zipfile.ZIP_DEFLATED, 9)


def wheel_of_the_package():
    """Build the wheel of the project; return its name and its bytes."""
    command = [sys.executable, "-m", "pip", "wheel", str(ROOT), "--no-deps", "--quiet"]
    undated = {**os.environ, "SOURCE_DATE_EPOCH": "315532800"}  # 1 January 1980
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run([*command, "--wheel-dir", folder], check=True, env=undated)
        (wheel,) = Path(folder).glob("*.whl")
        return wheel.name, wheel.read_bytes()
