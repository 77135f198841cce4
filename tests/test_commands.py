"""A command that lacks something reports it in one sentence and leaves nothing half done."""

import base64
import contextlib
import errno
import hashlib
import http.server
import os
import re
import runpy
import shutil
import socket
import subprocess
import sys
import tarfile
import time
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "book" / "_ext"))

import vendor

from attn.io import locked


def run(*command, **options):
    return subprocess.run(command, check=False, capture_output=True, text=True, **options)


def test_make_help_lists_every_command():
    told = run("make", "help", cwd=ROOT).stdout
    targets = re.findall(r"^\.PHONY: (\S+)", (ROOT / "Makefile").read_text(), flags=re.MULTILINE)
    assert len(targets) >= 9
    for target in targets:
        assert f"make {target} " in told


def folder_of_programs(folder, names):
    folder.mkdir()
    for name in names:
        (folder / name).symlink_to(shutil.which(name))
    return str(folder)


def test_make_without_python_names_what_is_missing(tmp_path):
    shutil.copy(ROOT / "Makefile", tmp_path)
    for name in ("requirements-book.txt", "constraints.txt"):
        shutil.copy(ROOT / name, tmp_path)
    path = folder_of_programs(tmp_path / "bin", ["bash", "make", "rm"])
    result = run(shutil.which("make"), "book", cwd=tmp_path, env={"PATH": path})
    assert result.returncode != 0
    assert "attn needs Python 3.11 to 3.14; python3 is missing" in result.stdout
    assert "Traceback" not in result.stderr
    assert not (tmp_path / ".venv").exists()


@pytest.mark.parametrize("version", ["3.10.9", "3.15.0"])
def test_an_unsupported_python_is_refused(tmp_path, version):
    shutil.copy(ROOT / "Makefile", tmp_path)
    for name in ("requirements-book.txt", "constraints.txt"):
        shutil.copy(ROOT / name, tmp_path)
    path = folder_of_programs(tmp_path / "bin", ["bash", "make", "rm"])
    other = tmp_path / "bin" / "python3"
    # This Python answers the check of its version, with `sys.version_info` replaced.
    pretends = f"import sys; sys.version_info = ({version.replace('.', ', ')}, 'final', 0);"
    other.write_text(
        f'#!/bin/bash\n[ "$1" = --version ] && echo Python {version} && exit\n'
        f'exec {sys.executable} -c "{pretends} $2"\n'
    )
    other.chmod(0o755)
    for given in ((), ("PYTHON=python3",)):
        result = run(shutil.which("make"), "book", *given, cwd=tmp_path, env={"PATH": path})
        assert result.returncode != 0
        assert f"attn needs Python 3.11 to 3.14; python3 is Python {version}." in result.stdout


@pytest.mark.slow
def test_an_installation_without_a_network_reports_it(tmp_path):
    for name in ("Makefile", "requirements-book.txt", "constraints.txt"):
        shutil.copy(ROOT / name, tmp_path)
    nowhere = {
        "PIP_INDEX_URL": "http://127.0.0.1:9/",
        "PIP_NO_CACHE_DIR": "1",
        "PIP_CONFIG_FILE": os.devnull,
        "PIP_FIND_LINKS": "",
        "PIP_EXTRA_INDEX_URL": "",
    }
    result = run(
        shutil.which("make"),
        "book",
        f"PYTHON={sys.executable}",
        cwd=tmp_path,
        env={**os.environ, **nowhere},
    )
    assert result.returncode != 0
    assert "the first run needs the network" in result.stdout
    assert not (tmp_path / ".venv" / "book.stamp").exists()


def make(target, *given, programs):
    """Run a target as if everything were installed, with the programs of a folder."""
    return run("make", "-s", "-o", ".venv/full.stamp", target, f"BIN={programs}", *given, cwd=ROOT)


def test_a_folder_with_a_blank_in_its_name_is_one_argument(tmp_path):
    python = tmp_path / "python"
    python.write_text("#!/bin/bash\nprintf '%s\\n' \"$@\"\n")
    python.chmod(0o755)
    for target in ("release", "roster", "collect", "grade", "stats", "similar", "leaderboard"):
        result = make(target, "COURSE=~/my course", programs=tmp_path)
        assert "~/my course" in result.stdout.splitlines(), target


@pytest.mark.parametrize(
    ("given", "said"),
    [
        (["SETS=/nowhere"], "There is no problem set in /nowhere: no folder there has a "),
        (["SETS=assignments/sets", "SET=nope"], "There is no set 'nope'. There are: project, "),
    ],
)
def test_missing_sets_are_named_before_any_test_runs(given, said):
    # The path is relative, since make would split the path of a clone at its blanks.
    result = make("prove", *given, programs=os.path.relpath(Path(sys.executable).parent, ROOT))
    assert result.returncode != 0
    assert result.stdout.startswith(said) and result.stdout.count("\n") == 1


def test_a_port_in_use_is_named_and_another_suggested():
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        result = run(sys.executable, str(ROOT / "book" / "serve.py"), str(port))
    assert result.returncode == 1
    assert f"Port {port} is taken. Choose another: make serve PORT={port + 1}" in result.stdout
    assert result.stderr == ""


@pytest.mark.parametrize("port", ["abc", "0", "65536", "-1", "8000.0", "", "9" * 5000])
def test_an_invalid_port_is_refused(port):
    result = run(sys.executable, str(ROOT / "book" / "serve.py"), port, timeout=60)
    said = f"PORT: expected a number from 1 to 65535, got {port!r}\n"
    assert (result.returncode, result.stdout, result.stderr) == (1, said, "")


def test_a_forbidden_port_is_not_reported_as_in_use(monkeypatch, capsys):
    def server(*_):
        raise PermissionError(errno.EACCES, "Permission denied")

    monkeypatch.setattr(http.server, "ThreadingHTTPServer", server)
    assert runpy.run_path(str(ROOT / "book" / "serve.py"))["main"]("80") == 1
    assert "Port 80 cannot be used (Permission denied)." in capsys.readouterr().out


def test_a_package_with_a_wrong_checksum_is_refused(tmp_path, monkeypatch):
    forged = tmp_path / "katex.tgz"
    forged.write_bytes(b"not what was pinned")
    monkeypatch.setattr(vendor, "VENDOR", tmp_path / "vendor")
    monkeypatch.setattr(vendor, "_download", lambda *_: forged)
    with pytest.raises(vendor.VendorError, match=r"katex .*: expected sha512 XCHR.*, got "):
        vendor.fetch("katex")
    assert list((tmp_path / "vendor").iterdir()) == []


def test_an_unreachable_registry_raises_a_readable_error(tmp_path, monkeypatch):
    monkeypatch.setattr(vendor, "VENDOR", tmp_path / "vendor")
    monkeypatch.setenv("npm_config_registry", "http://127.0.0.1:9/")
    monkeypatch.setenv("npm_config_cache", str(tmp_path / "cache"))
    monkeypatch.setenv("npm_config_fetch_retry_mintimeout", "1")
    with pytest.raises(vendor.VendorError, match="could not be fetched .* needs the network"):
        vendor.fetch("katex")
    assert list((tmp_path / "vendor").iterdir()) == []


@pytest.fixture
def package(tmp_path, monkeypatch):
    """Fetch a package of our own in place of a pinned one; return its folder."""
    archive = tmp_path / "a.tgz"
    (tmp_path / "package" / "dist").mkdir(parents=True)
    (tmp_path / "package" / "dist" / "a.css").write_text("whole")
    with tarfile.open(archive, "w:gz") as tar:
        tar.add(tmp_path / "package", "package")
    digest = base64.b64encode(hashlib.sha512(archive.read_bytes()).digest()).decode()
    monkeypatch.setattr(vendor, "PACKAGES", {"a": ("1.0", digest)})
    monkeypatch.setattr(vendor, "VENDOR", tmp_path / "vendor")
    monkeypatch.setattr(vendor, "_compared", set())
    monkeypatch.setattr(vendor, "_download", lambda *_: archive)
    return vendor.fetch("a")


def offline(*_):
    raise vendor.VendorError("a 1.0 could not be fetched")


@pytest.mark.parametrize("damage", ["changed", "missing", "no sums"])
def test_a_damaged_unpacked_package_is_noticed_and_replaced(damage, package, monkeypatch, capsys):
    file, sums = package / "dist" / "a.css", vendor._kept_sums(package)
    assert {path.name for path in package.parent.iterdir()} == {package.name, sums.name}
    {
        "changed": lambda: file.write_text("wh\0le"),
        "missing": file.unlink,
        "no sums": lambda: sums.write_text(""),
    }[damage]()
    vendor._compared.clear()
    capsys.readouterr()
    with monkeypatch.context() as patch:
        patch.setattr(vendor, "_download", offline)
        message = rf"^{package} is damaged; delete it\. a 1\.0 could not be fetched$"
        with pytest.raises(vendor.VendorError, match=message):
            vendor.fetch("a")
    assert vendor.fetch("a") == package and file.read_text() == "whole"
    assert f"{package} is damaged" in capsys.readouterr().out
    monkeypatch.setattr(vendor, "_download", None)
    vendor._compared.clear()
    assert vendor.fetch("a") == package


def test_without_a_network_a_package_without_checksums_is_used(package, monkeypatch, capsys):
    vendor._kept_sums(package).unlink()
    vendor._compared.clear()
    monkeypatch.setattr(vendor, "_download", offline)
    assert vendor.fetch("a") == package
    assert f"{package} is used as it is, since it cannot be checked" in capsys.readouterr().out


def test_an_unwritable_vendor_folder_raises_a_readable_error(package, tmp_path, monkeypatch):
    monkeypatch.setattr(vendor, "VENDOR", tmp_path / "a.tgz")
    with pytest.raises(vendor.VendorError, match=r"^path: expected a place that can be written"):
        vendor.fetch("a")


def test_a_second_build_waits_for_the_first(monkeypatch, tmp_path, capsys):
    build = runpy.run_path(str(ROOT / "book" / "build.py"))["main"]
    names = build.__globals__
    names |= {"BUILD": tmp_path, "SITE": tmp_path / "site", "build": lambda _: 7}
    first = contextlib.ExitStack()
    first.enter_context(locked(tmp_path / "site"))
    monkeypatch.setattr(time, "sleep", lambda _: first.close())
    assert build() == 7
    assert f"{tmp_path / 'site'}: waiting for process {os.getpid()}" in capsys.readouterr().err
    assert not [*tmp_path.iterdir()]


@pytest.mark.parametrize("address", ["/", "attn.example/", "https://attn.example"])
def test_a_site_is_not_built_for_an_invalid_url(address, monkeypatch, capsys):
    """Publishing appends a slash to the URL of the site, so a missing URL becomes "/"."""
    build = runpy.run_path(str(ROOT / "book" / "build.py"))["build"]
    monkeypatch.setenv("ATTN_SITE_URL", address)
    assert build(sphinx_alone=False) == 1
    wanted = "ATTN_SITE_URL: expected an address such as https://attn.example/"
    assert capsys.readouterr().out == f"{wanted}, got {address!r}\n"


@pytest.mark.slow
def test_jupyter_book_build_alone_gives_a_working_spanish_edition(tmp_path):
    """`jupyter-book build .` gives only the Spanish edition, with its widgets and no dead link.

    Of three pages: the site, which `make book` builds with the same program, has them all.
    """
    program = Path(sys.executable).parent / "jupyter-book"
    pages = ["root: notebooks/es/index", "chapters:", "- file: notebooks/es/03_self_attention"]
    toc = tmp_path / "_toc.yml"
    toc.write_text("\n".join(["format: jb-book", *pages, "- file: book/es/bibliography"]))
    out = ["--path-output", str(tmp_path), "--quiet", "--toc", str(toc)]
    result = run(str(program), "build", str(ROOT), *out, cwd=ROOT)
    assert result.returncode == 0, result.stdout + result.stderr
    others = re.findall(r"file: \S+/(\w+)", (ROOT / "_toc.yml").read_text())
    page = tmp_path / "_build" / "html" / "03_self_attention.html"
    text = page.read_text(encoding="utf-8")
    assert 'lang="es"' in text and 'data-anywidget="softmax_playground"' in text
    assert "../en/" not in text and 'href="../index.html' not in text
    for address in re.findall(r'(?:href|src)="(?!https?:|data:|#)([^"#]+)', text):
        assert (page.parent / address).is_file() or Path(address).stem in others, address
