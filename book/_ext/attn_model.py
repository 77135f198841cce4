"""The pretrained models in the page: their files in parts, and the code that runs them.

The files are those that `python -m attn fetch smollm2 minilm` fetches, pinned and checksummed. A page
loads the parts of its model when its reader asks for them. `attn_course/widgets/packed.ts`, the
product of packed matrices, is AssemblyScript: its compiler comes from npm, and the compiled kernel is
kept until the source or the compiler changes. Without the kernel the models run in plain JavaScript,
and without a model its figures show stored results.
"""

import hashlib
import importlib.util
import json
import os
import shutil
import sys
from pathlib import Path

from attn_minilm import packed
from vendor import VendorError, made

ROOT = Path(__file__).resolve().parents[2]
COMPILER = ROOT / "book" / "kernel"
WIDGETS = ROOT / "attn_course" / "widgets"
SOURCE = WIDGETS / "packed.ts"
# The most bytes of a part. Some web hosts refuse files above 25 MB.
PART = 20_000_000
# The figures that each model is for, the script of its worker, and the name of the browser's storage.
MODELS = {
    "smollm2": (("continuation", "head_explorer"), "llama_worker", "attn-model"),
    "minilm": (("sentence_map",), "minilm_worker", "attn-minilm"),
}


def kernel(*, kept_only=False):
    """Return the path of the compiled kernel.

    Parameters
    ----------
    kept_only : bool, default False
        Whether an error is raised if the kernel is not compiled yet.

    Returns
    -------
    Path

    Raises
    ------
    VendorError
        If the compiler cannot be fetched.
    """
    inputs = [COMPILER / name for name in ("package.json", "package-lock.json")]
    options = ["-O3", "--runtime", "stub", "--noAssert", "--importMemory", "--enable", "simd"]
    command = ["assemblyscript/bin/asc.js", SOURCE.name, "-o", "out.wasm", *options]
    return made("packed", ".wasm", [*inputs, SOURCE], command, kept_only=kept_only)


def assemble(folder):
    """Collect the files that the pages need to run the models.

    Parameters
    ----------
    folder : Path
        The target folder, which must not exist.

    Returns
    -------
    dict of str to str
        Why a model is not available, by its name. Without any there is no folder.
    """
    if os.environ.get("MODELS") == "no":
        return dict.fromkeys(MODELS, "MODELS=no leaves it out.")
    missing = {}
    published = _loaded("published", ROOT / "attn" / "pretrained" / "published.py")
    for name, (_, worker, storage) in MODELS.items():
        try:
            path = published.fetched(name)
        except ValueError as error:
            missing[name] = str(error)
            continue
        if path.is_dir():
            path = packed(path)
        folder.mkdir(parents=True, exist_ok=True)
        manifest = {"bytes": path.stat().st_size, "kept": storage}
        manifest |= {"parts": pack(path, folder, name), "worker": f"{worker}.js", "kernel": None}
        try:
            shutil.copyfile(kernel(), folder / "packed.wasm")
            manifest["kernel"] = "packed.wasm"
        except VendorError as error:
            print(f"{name} will run in plain JavaScript: {error}", flush=True)
        script = _loaded("widget_source", WIDGETS / "_source.py").worker(worker)
        (folder / f"{worker}.js").write_text(script, encoding="utf-8")
        (folder / f"{name}.json").write_text(json.dumps(manifest) + "\n", encoding="utf-8")
    return missing


def pack(path, folder, stem="part", most=PART):
    """Cut a file into parts of at most `most` bytes; return their names, sizes and SHA-256.

    Returns
    -------
    list of dict
    """
    parts = []
    with open(path, "rb") as file:
        while content := file.read(most):
            sha256 = hashlib.sha256(content).hexdigest()
            # The name changes with the content, so that a browser never uses an old part for a new
            # one.
            name = f"{stem}-{len(parts) + 1}-{sha256[:8]}.bin"
            (folder / name).write_bytes(content)
            parts.append({"file": name, "bytes": len(content), "sha256": sha256})
    return parts


def page_settings(body, depth):
    """Return the settings of a page with live models as JSON, or None for any other page."""
    found = {
        name: Path(os.environ.get("ATTN_MODEL", ""), f"{name}.json")
        for name, (figures, _, _) in MODELS.items()
        if any(f'data-anywidget="{one}"' in body for one in figures)
    }
    said = {
        name: json.loads(path.read_text(encoding="utf-8"))
        for name, path in found.items()
        if path.exists()
    }
    return json.dumps({"base": "../" * depth + "model/", **said}) if said else None


def _loaded(name, path):
    """Load one module of a package alone, because the package needs PyTorch or anywidget."""
    spec = importlib.util.spec_from_file_location(f"attn_{name}", path)
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module  # dataclasses look up their module here
    spec.loader.exec_module(module)
    return module
