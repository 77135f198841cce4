"""A release consists of a wheel that works alone, and of the site in one archive.

And what `pip install -e` leaves: a package that editors find.
"""

import hashlib
import importlib.util
import os
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
spec = importlib.util.spec_from_file_location("archive", ROOT / "book" / "archive.py")
archive = importlib.util.module_from_spec(spec)
spec.loader.exec_module(archive)

# A wheel is made of these files only; other files of the working tree must not get into it.
SOURCES = ("attn", "attn_course", "pyproject.toml", "README.md", "LICENSE")


def build(folder):
    """Copy the sources into a folder, build the wheel of them, and return its path."""
    sources = folder / "sources"
    sources.mkdir()
    # The files are copied without their dates, as a fresh clone would have them.
    options = {"ignore": shutil.ignore_patterns("__pycache__"), "copy_function": shutil.copyfile}
    for name in SOURCES:
        if (ROOT / name).is_dir():
            shutil.copytree(ROOT / name, sources / name, **options)
        else:
            shutil.copyfile(ROOT / name, sources / name)
    command = [sys.executable, "-m", "pip", "wheel", sources, "-qq", "--wheel-dir", folder]
    command += ["--no-deps", "--no-build-isolation", "--disable-pip-version-check"]
    subprocess.run(command, check=True, env={**os.environ, "SOURCE_DATE_EPOCH": "1700000000"})
    (wheel,) = folder.glob("*.whl")
    return wheel


@pytest.fixture(scope="module")
def wheel(tmp_path_factory):
    return build(tmp_path_factory.mktemp("wheel"))


@pytest.mark.slow
def test_a_wheel_has_the_same_bytes_wherever_it_is_built(wheel, tmp_path):
    digests = [hashlib.sha256(path.read_bytes()).hexdigest() for path in (wheel, build(tmp_path))]
    assert digests[0] == digests[1]


@pytest.mark.slow
def test_every_file_of_both_packages_is_in_the_wheel(wheel, needed):
    listing = [needed("git"), "ls-files", "-z", "attn", "attn_course"]
    done = subprocess.run(listing, cwd=ROOT, capture_output=True, text=True, check=True)
    files = {name for name in done.stdout.split("\0")[:-1] if (ROOT / name).exists()}
    packed = set(zipfile.ZipFile(wheel).namelist())
    assert files - packed == set()
    assert {name.split("/")[0] for name in packed} == {
        "attn",
        "attn_course",
        "attn-1.0.0.dist-info",
    }


ALONE = """
import importlib, pkgutil, sys
from pathlib import Path

import attn, attn_course

installed = Path(sys.argv[1])
for package in (attn, attn_course):
    for module in pkgutil.walk_packages(package.__path__, package.__name__ + "."):
        if not module.name.endswith("__main__"):
            found = importlib.import_module(module.name)
            assert Path(found.__file__).is_relative_to(installed), found.__file__

import numpy as np
from attn.applications.translation import Translator
from attn.corpus import named
from attn_course.exercises import check
from attn_course.widgets import LiveTranslator, Quiz, load_quiz

def softmax(scores, axis=-1):
    exponentials = np.exp(scores - np.maximum(scores.max(axis, keepdims=True), -1e300))
    return exponentials / np.maximum(exponentials.sum(axis, keepdims=True), 1)

print(Translator.pretrained("grammar").translate("The cat that chased the mouse was black"))
translator = Translator.pretrained("tatoeba")
print(translator.translate("I am hungry."))
shown = [LiveTranslator(translator.attention("I am hungry.")), Quiz(load_quiz("03_self_attention"))]
for widget in shown:
    page = widget._repr_mimebundle_()[0]["text/html"]
    print("attn-fallback" in page, len(widget._esm) > 5_000)
columns = check("softmax", lambda scores: softmax(scores, 0))
print(bool(check("softmax", softmax)), columns.misconception)
print(len(named("grammar")(n_train=10)["train"]))
"""


@pytest.mark.slow
def test_an_installed_wheel_works_without_the_repository(wheel, tmp_path):
    installed, empty = tmp_path / "installed", tmp_path / "empty"
    empty.mkdir()
    command = [sys.executable, "-m", "pip", "install", wheel, "-qq", "--no-deps"]
    subprocess.run([*command, "--disable-pip-version-check", "--target", installed], check=True)
    environment = {**os.environ, "PYTHONPATH": str(installed), "OMP_NUM_THREADS": "1"}
    done = subprocess.run(
        [sys.executable, "-c", ALONE, installed],
        cwd=empty,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines() == [
        "el gato que persiguió al ratón era negro",
        "Tengo hambre.",
        *("True True", "True True"),
        "True columns",
        "10",
    ]
    assert list(empty.iterdir()) == []


def test_editors_and_type_checkers_find_the_package_in_the_clone(tmp_path):
    """They search folders, as this path finder of Python does, and run no finder of a package."""
    script = "from importlib.machinery import PathFinder as f; print(f.find_spec('attn').origin)"
    done = subprocess.run(
        [sys.executable, "-P", "-c", script],
        cwd=tmp_path,
        env={name: value for name, value in os.environ.items() if name != "PYTHONPATH"},
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout.strip() == str(ROOT / "attn" / "__init__.py")


def test_a_site_with_the_same_pages_has_the_same_archive(tmp_path):
    for name, date in (("one", 1_700_000_000), ("two", 1_600_000_000)):
        site = tmp_path / name / "site"
        (site / "es").mkdir(parents=True)
        for page in ("index.html", "es/índice.html"):
            (site / page).write_text(f"<p>{page}</p>", encoding="utf-8")
            os.utime(site / page, (date, date))
        # The parts of the language model are left out, since they are larger than all other files.
        (site / "model").mkdir()
        (site / "model" / "part-1-0.bin").write_bytes(b"0")
        archive.main(tmp_path / name / "attn-site.zip", site)
    first, second = (tmp_path / name / "attn-site.zip" for name in ("one", "two"))
    assert first.read_bytes() == second.read_bytes()
    shutil.unpack_archive(first, tmp_path)
    page = (tmp_path / "attn-site" / "es" / "índice.html").read_text(encoding="utf-8")
    assert page == "<p>es/índice.html</p>"
    assert len(zipfile.ZipFile(first).namelist()) == 2
