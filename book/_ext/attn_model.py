"""The language model in the page: its file in parts, and the code that runs it.

The file is the one that `python -m attn fetch smollm2` fetches, pinned and checksummed. A page
loads its parts when its reader asks for them. `attn_course/widgets/packed.ts`, the product of
packed matrices, is AssemblyScript: its compiler comes from npm, and the compiled kernel is kept
until the source or the compiler changes. Without the kernel the model runs in plain JavaScript, and
without the model the figures show stored results.
"""

import hashlib
import importlib.util
import json
import os
import shutil
import sys
from pathlib import Path

from vendor import VendorError, made

ROOT = Path(__file__).resolve().parents[2]
COMPILER = ROOT / "book" / "kernel"
WIDGETS = ROOT / "attn_course" / "widgets"
SOURCE = WIDGETS / "packed.ts"
# The most bytes of a part. Some web hosts refuse files above 25 MB.
PART = 20_000_000


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
    """Collect the files that the pages need to run the language model.

    Parameters
    ----------
    folder : Path
        The target folder, which must not exist.

    Returns
    -------
    str or None
        Why the model is not available: then there is no folder.
    """
    if os.environ.get("MODELS") == "no":
        return "MODELS=no leaves it out."
    try:
        path = _loaded("published", ROOT / "attn" / "pretrained" / "published.py").fetched(
            "smollm2"
        )
    except ValueError as error:
        return str(error)
    folder.mkdir(parents=True)
    manifest = {"bytes": path.stat().st_size, "kernel": None, "parts": pack(path, folder)}
    try:
        shutil.copyfile(kernel(), folder / "packed.wasm")
        manifest["kernel"] = "packed.wasm"
    except VendorError as error:
        print(f"The language model will run in plain JavaScript: {error}", flush=True)
    script = _loaded("widget_source", WIDGETS / "_source.py").worker("llama_worker")
    (folder / "llama_worker.js").write_text(script, encoding="utf-8")
    (folder / "manifest.json").write_text(json.dumps(manifest) + "\n", encoding="utf-8")
    return None


def pack(path, folder, most=PART):
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
            name = f"part-{len(parts) + 1}-{sha256[:8]}.bin"
            (folder / name).write_bytes(content)
            parts.append({"file": name, "bytes": len(content), "sha256": sha256})
    return parts


def page_settings(body, depth):
    """Return the settings of a page with a live model as JSON, or None for any other page."""
    figures = ("continuation", "head_explorer")
    if "ATTN_MODEL" not in os.environ or not any(
        f'data-anywidget="{name}"' in body for name in figures
    ):
        return None
    manifest = json.loads(Path(os.environ["ATTN_MODEL"]).read_text(encoding="utf-8"))
    return json.dumps({"base": "../" * depth + "model/", "manifest": manifest})


def _loaded(name, path):
    """Load one module of a package alone, because the package needs PyTorch or anywidget."""
    spec = importlib.util.spec_from_file_location(f"attn_{name}", path)
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module  # dataclasses look up their module here
    spec.loader.exec_module(module)
    return module
