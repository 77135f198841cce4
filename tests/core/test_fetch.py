"""`attn._fetch` against a local server: which files are stored or refused, and the messages."""

import hashlib
import os
import threading
from dataclasses import replace
from http.server import BaseHTTPRequestHandler, HTTPServer

import pytest

from attn._fetch import Remote, fetched

DATA = bytes(range(256)) * 1000


class Handler(BaseHTTPRequestHandler):
    def do_GET(self):
        if self.path == "/missing":
            self.send_error(404)
            return
        self.send_response(200)
        self.end_headers()
        pages = {"/short": DATA[:1000], "/page": b"\n<!DOCTYPE html><title>Sorry</title>"}
        self.wfile.write(pages.get(self.path, DATA))

    def log_message(self, *_):
        pass


@pytest.fixture
def remote(tmp_path, monkeypatch):
    """A file on a local server; the cache is empty and `ATTN_DATA` is not set."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setenv("no_proxy", "*")
    monkeypatch.delenv("ATTN_DATA", raising=False)
    server = HTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    address = f"http://127.0.0.1:{server.server_port}"
    yield Remote("some/data.bin", f"{address}/data", hashlib.sha256(DATA).hexdigest(), len(DATA))
    server.shutdown()
    server.server_close()


def files(folder):
    return sorted(path for path in folder.rglob("*") if path.is_file())


def test_a_file_is_downloaded_once_with_progress(remote, tmp_path, capsys):
    path = fetched(remote)
    assert path == tmp_path / "cache" / "attn" / "some" / "data.bin"
    assert path.read_bytes() == DATA and files(tmp_path) == [path]
    said = capsys.readouterr().err.splitlines()
    assert said[0] == "some/data.bin: 0.1 of 0.3 MB"
    assert said[-1] == "some/data.bin: 0.3 of 0.3 MB"
    assert fetched(replace(remote, address="http://127.0.0.1:9/")) == path
    assert capsys.readouterr().err == ""


def test_the_folder_ATTN_DATA_takes_precedence_over_a_download(remote, tmp_path, monkeypatch):
    mine = tmp_path / "mine" / "some" / "data.bin"
    mine.parent.mkdir(parents=True)
    mine.write_bytes(DATA)
    monkeypatch.setenv("ATTN_DATA", str(tmp_path / "mine"))
    assert fetched(remote, download=False) == mine
    mine.write_bytes(DATA[1:])
    said = rf"^{mine}: expected the sha256 {remote.sha256}, got .*; delete it, or put there what "
    with pytest.raises(ValueError, match=said):
        fetched(remote)
    assert mine.read_bytes() == DATA[1:]


@pytest.mark.parametrize(
    ("path", "said"),
    [
        ("/short", "^some/data.bin from .*/short: expected .* got a file of 1,000 bytes with"),
        ("/page", "^some/data.bin from .*/page: expected .* got a web page, perhaps of an error"),
        ("/missing", "expected a network, or a folder named by ATTN_DATA .*, got .*404"),
        (":1/", "expected a network, or a folder named by ATTN_DATA"),
    ],
)
def test_a_failed_download_raises_a_readable_error_and_leaves_no_file(remote, tmp_path, path, said):
    address = (
        remote.address.removesuffix("/data") + path if path[0] == "/" else "http://127.0.0.1:1"
    )
    with pytest.raises(ValueError, match=said):
        fetched(replace(remote, address=address))
    assert files(tmp_path) == []


def test_a_file_larger_than_expected_is_refused(remote, tmp_path):
    with pytest.raises(ValueError, match="expected the sha256"):
        fetched(replace(remote, n_bytes=100_000))
    assert files(tmp_path) == []


def test_nothing_is_downloaded_unless_download_is_allowed(remote, tmp_path):
    with pytest.raises(ValueError, match=r"^some/data\.bin: expected a folder named by ATTN_DATA"):
        fetched(remote, download=False)
    assert not (tmp_path / "cache").exists()


def test_a_damaged_file_in_the_cache_is_fetched_again(remote, capsys):
    path = fetched(remote)
    path.write_bytes(DATA[1:])
    capsys.readouterr()
    with pytest.raises(ValueError, match=rf"^{path}: .*; delete it, and fetch it again$"):
        fetched(remote, download=False)
    offline = replace(remote, address="http://127.0.0.1:1")
    with pytest.raises(ValueError, match=rf"^{path}: .*; delete it, and fetch it again \(some/dat"):
        fetched(offline)
    assert path.read_bytes() == DATA[1:]
    assert fetched(remote).read_bytes() == DATA
    assert "; fetching it again\n" in capsys.readouterr().err


def test_an_unwritable_cache_raises_a_readable_error(remote, tmp_path, monkeypatch):
    (tmp_path / "file").write_text("")
    path = tmp_path / "file" / "attn" / "some" / "data.bin"
    message = f"path: expected a place that can be written, got {path}: Not a directory"
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "file"))
    with pytest.raises(ValueError, match=f"^{message}$"):
        fetched(remote)


def test_a_full_disk_raises_a_readable_error_and_leaves_no_file(remote, tmp_path, monkeypatch):
    def full(descriptor):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    message = r"^path: expected a place .*/some/data\.bin: No space left on device$"
    with pytest.raises(ValueError, match=message):
        fetched(remote)
    assert files(tmp_path) == []
