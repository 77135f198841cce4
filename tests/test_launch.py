"""Notebooks that open on other services, up to the commands that need a network."""

import re
import subprocess
import sys
from pathlib import Path

import nbformat
import pytest
import yaml
from IPython.core.inputtransformer2 import TransformerManager

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "book" / "_ext"))

import attn_launch

VERSION = attn_launch.tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"][
    "version"
]
NOTEBOOK = ROOT / "notebooks" / "en" / "03_self_attention.ipynb"


@pytest.fixture()
def somewhere(monkeypatch):
    monkeypatch.setenv("ATTN_REPOSITORY", "https://github.com/someone/attn.git/")
    monkeypatch.delenv("GITHUB_SHA", raising=False)


def test_without_a_repository_no_launch_links_are_made(monkeypatch):
    monkeypatch.delenv("ATTN_REPOSITORY", raising=False)
    assert attn_launch.addresses("en", "03_self_attention") == {}
    assert attn_launch.prepared(NOTEBOOK.read_text("utf-8"), "en") == NOTEBOOK.read_text("utf-8")


@pytest.mark.parametrize(
    "address", ["github.com/a/b", "https://github.com/a", "https://example.org/a/b"]
)
def test_invalid_repository_urls_are_refused(monkeypatch, address):
    monkeypatch.setenv("ATTN_REPOSITORY", address)
    with pytest.raises(ValueError, match="ATTN_REPOSITORY: expected https://github.com/ and"):
        attn_launch.repository()


def test_the_urls_name_existing_notebooks(somewhere, tmp_path):
    attn_launch.write(tmp_path)
    for language in ("es", "en"):
        for path in (ROOT / "notebooks" / language).glob("*.ipynb"):
            places = attn_launch.addresses(language, path.stem)
            colab, binder = places["Colab"], places["Binder"]
            assert colab.endswith(f"/someone/attn/blob/launch/{language}/{path.name}")
            assert (tmp_path / language / path.name).exists()
            assert binder.endswith(
                f"/someone/attn/HEAD?labpath=notebooks%2F{language}%2F{path.name}"
            )


@pytest.mark.parametrize("level", ["h1", "h2", "h3"])
def test_the_report_link_names_the_section(somewhere, level):
    heading = f'<{level}>Why?<a class="headerlink" href="#why" title="Link">#</a></{level}>'
    linked = attn_launch.reports(heading, "03_self_attention", "Report")
    (address,) = re.findall(r'href="(https[^"]+)"', linked)
    assert (
        address == "https://github.com/someone/attn/issues/new?title=03_self_attention%23why%3A%20"
    )
    assert linked.count("<a") == linked.count("</a>") == 2


def test_a_notebook_elsewhere_installs_this_version_before_it_imports(somewhere):
    there = nbformat.reads(attn_launch.prepared(NOTEBOOK.read_text("utf-8"), "en"), 4)
    nbformat.validate(there)
    here = nbformat.read(NOTEBOOK, 4)
    codes = [cell for cell in there.cells if cell.cell_type == "code"]
    assert [cell.source for cell in codes[1:]] == [
        c.source for c in here.cells if c.cell_type == "code"
    ]
    assert f"git fetch -q --depth 1 https://github.com/someone/attn v{VERSION} " in codes[0].source
    # In a clone the cell has no effect.
    code = TransformerManager().transform_cell(codes[0].source)
    done = subprocess.run(
        [sys.executable, "-c", code],
        check=False,
        cwd=NOTEBOOK.parent,
        capture_output=True,
        text=True,
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


def test_the_first_cell_fetches_the_pages_commit_only_once(tmp_path, monkeypatch):
    commit = subprocess.run(
        ["git", "rev-parse", "HEAD"], check=True, cwd=ROOT, capture_output=True, text=True
    ).stdout.strip()
    monkeypatch.setattr(attn_launch, "repository", lambda: f'"{ROOT}"')
    monkeypatch.setenv("GITHUB_SHA", commit)
    there = nbformat.reads(attn_launch.prepared(NOTEBOOK.read_text("utf-8"), "en"), 4)
    cell = next(cell for cell in there.cells if cell.cell_type == "code").source
    # The dependencies are installed already, but the cell asks pip for them the first time anyway.
    cell = cell.replace('%pip install --quiet "', 'print("').replace('[course]"', '[course]")')
    code = f"""
import importlib.util, os
from IPython.testing.globalipapp import start_ipython
shell = start_ipython()
missing, find_spec = True, importlib.util.find_spec
importlib.util.find_spec = lambda name: None if missing else find_spec(name)
for restarted in (False, True):
    assert shell.run_cell({cell!r}).success
    assert shell.run_cell({cell!r}).success  # run twice, it stays where it is
    print(os.getcwd(), os.path.isfile("../data/applications.json"))
    missing = False
    os.chdir({str(tmp_path)!r})
"""
    done = subprocess.run(
        [sys.executable, "-c", code], check=False, cwd=tmp_path, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    place = f"{tmp_path / 'attn' / 'notebooks' / 'en'} True"
    assert done.stdout.splitlines() == ["./attn[course]", place, place]


def test_binder_installs_the_imports_of_the_notebooks():
    """Binder's files are checked as far as possible without a network."""
    lines = (ROOT / "binder" / "requirements.txt").read_text("utf-8").splitlines()
    asked = [line for line in lines if line and line[0] not in "#-"]
    assert "-e .[course]" in lines and "-c ../constraints.txt" in lines
    assert 'JUPYTER_CONFIG_PATH="$PWD"' in (ROOT / "binder" / "start").read_text("utf-8")
    assert (ROOT / "jupyter_server_config.py").exists()
    pinned = {
        line.partition("==")[0].replace("_", "-")
        for line in (ROOT / "constraints.txt").read_text("utf-8").splitlines()
    }
    assert {*asked} <= pinned
    python = (ROOT / "binder" / "runtime.txt").read_text("utf-8").strip().removeprefix("python-")
    tested = yaml.safe_load((ROOT / ".github" / "workflows" / "test.yml").read_text("utf-8"))
    assert python in tested["jobs"]["test"]["strategy"]["matrix"]["python"]
