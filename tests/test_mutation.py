"""The report of the mutation run, on mutants made up here; `make mutation` makes real ones."""

import importlib.util
import json
import os
import signal
import subprocess
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
FIRST, SECOND = (("attn.masks.f", "return a < b", changed) for changed in ("a <= b", "a > b"))

spec = importlib.util.spec_from_file_location("mutation", ROOT / "tests/mutation/__main__.py")
mutation = importlib.util.module_from_spec(spec)
spec.loader.exec_module(mutation)


def outcomes(killed, stopped, *survivors):
    of_file = [(("attn.masks.g", "", str(i)), "killed") for i in range(killed)]
    of_file += [(("attn.masks.h", "", str(i)), "stopped") for i in range(stopped)]
    return {"attn/masks.py": of_file + [(mutant, "survived") for mutant in survivors]}


def test_a_run_passes_when_every_survivor_has_a_reason(capsys):
    assert mutation.report(outcomes(37, 1, FIRST, SECOND), {FIRST, SECOND}) == 0
    of_file, of_all = capsys.readouterr().out.split("\n")[1:3]
    assert of_file.split() == ["attn/masks.py", "40", "37", "1", "2", "0", "95.0%"]
    assert of_all.split() == ["all", "40", "37", "1", "2", "0", "95.0%"]


def test_a_low_share_of_killed_mutants_fails_even_with_reasons():
    wrong = mutation.report(outcomes(37, 0, FIRST, SECOND), {FIRST, SECOND})
    assert wrong == "\n\n94.9% of the mutants were killed; at least 95% must be."


def test_a_survivor_without_a_reason_is_shown(capsys):
    wrong = mutation.report(outcomes(99, 0, FIRST, SECOND), {FIRST})
    assert wrong == ("\n\nA survivor without a reason, in attn.masks.f:\n- return a < b\n+ a > b")
    assert capsys.readouterr().out.split("\n")[1].split()[4:] == ["1", "1", "98.0%"]


def test_a_reason_for_a_killed_mutant_fails():
    wrong = mutation.report(outcomes(99, 0, FIRST), {FIRST, SECOND})
    assert wrong == "\n\nArgued, but no survivor, in attn.masks.f:\n- return a < b\n+ a > b"


@pytest.mark.slow
def test_the_outcome_of_each_mutant_is_read(tmp_path, monkeypatch):
    """mutmut makes the mutants, of a function and of a method whose call spans lines."""
    from mutmut.configuration import reset_config
    from mutmut.mutation.file_mutation import mutate_file_contents

    source = (
        "def f(a=1):\n    return a\n\n\n"
        "class Box:\n    def g(self):\n        return pair(\n            3,\n        )\n"
    )
    folder = tmp_path / "mutants" / "attn" / "masks"
    folder.mkdir(parents=True)
    (tmp_path / "pyproject.toml").write_text('[tool.mutmut]\nsource_paths = ["attn"]\n')
    monkeypatch.chdir(tmp_path)
    reset_config()
    mutated = mutate_file_contents("attn/masks/causal.py", source)
    reset_config()
    (folder / "causal.py").write_text(mutated.code)
    names = [f"attn.masks.causal.{name}" for name in mutated.mutant_names]
    keys = ("hash_by_function_name", "durations_by_key", "estimated_durations_by_key")
    codes = dict(zip(names, (1, -signal.SIGXCPU, 0), strict=True))
    meta = {"exit_code_by_key": codes, **{key: {} for key in keys}}
    (folder / "causal.py.meta").write_text(json.dumps(meta))
    file = "attn/masks/causal.py"
    (tmp_path / "attn" / "masks").mkdir(parents=True)
    (tmp_path / file).write_text(source)
    assert mutation.list_mutants(file) == names

    function, method = "attn.masks.causal.f", "attn.masks.causal.Box.g"
    assert list(mutation.read_outcomes(file, names)) == [
        ((function, "def f(a=1):", "def f(a=2):"), "killed"),
        ((method, "3,", "None,"), "stopped"),
        ((method, "3,", "4,"), "survived"),
    ]
    assert list(mutation.read_outcomes(file, names[1:2])) == [((method, "3,", "None,"), "stopped")]
    # 33: no test reaches the mutant; None: the mutant was not tried
    fate_of = dict.fromkeys((0, 33, None, 255, -9), "survived") | {-signal.SIGPROF: "stopped"}
    for code, fate in fate_of.items():
        meta["exit_code_by_key"] = dict.fromkeys(names, code)
        (folder / "causal.py.meta").write_text(json.dumps(meta))
        assert [found for _, found in mutation.read_outcomes(file, names)] == [fate] * 3


def test_the_workplace_holds_links_and_settings_only(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    files = mutation.prepare(["attention"])
    assert {"attn/attention/scaled_dot_product.py", "attn/attention/multi_head.py"} < set(files)
    assert files == sorted(files)
    copies = [p.name for p in tmp_path.rglob("*") if p.is_file() and not p.is_symlink()]
    assert copies == ["pyproject.toml"]
    settings = tomllib.loads(Path("pyproject.toml").read_text())["tool"]
    assert settings["mutmut"]["only_mutate"] == files
    tests = settings["mutmut"]["pytest_add_cli_args_test_selection"]
    assert tests == [f"tests/core/{name}.py" for name in mutation.TESTS["attention"]]
    assert settings["mutmut"]["pytest_add_cli_args"] == ["-p", "mutation_hooks"]
    assert settings["mutmut"]["process_isolation"] == "forkserver"
    copied = settings["mutmut"]["also_copy"]
    assert copied == ["conftest.py", "book", "Makefile"]  # and this file's own tests
    for name in (*tests, *files, "conftest.py", *mutation.SHARED):
        assert Path(name).read_text() == (ROOT / name).read_text()
    assert settings["pytest"]["ini_options"]["addopts"]


def test_slow_tests_of_modules_that_train_are_left_out(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    mutation.prepare(["applications"])
    settings = tomllib.loads(Path("pyproject.toml").read_text())["tool"]["mutmut"]
    assert settings["pytest_add_cli_args"] == ["-p", "mutation_hooks", "-m", "not slow"]


def test_a_module_may_be_one_file(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert mutation.prepare(["masks"]) == ["attn/masks.py"]


def test_a_part_of_a_module_has_the_tests_of_the_whole(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert mutation.prepare(["tokenizer.words"]) == ["attn/tokenizer/words.py"]
    assert Path("tests/core/test_tokenizer.py").exists()


def test_modules_with_the_same_tests_share_a_run(monkeypatch):
    tests = {"a": ["one", "two"], "b": ["one"], "c": ["one", "two"], "d": ["one", "two"]}
    monkeypatch.setattr(mutation, "TESTS", tests)
    monkeypatch.setattr(mutation, "QUICK", {"d"})
    groups = mutation.group(["a", "b", "c.part", "d"])
    assert groups == [["a", "c.part"], ["b"], ["d"]]


def test_a_run_leaves_no_files(tmp_path, monkeypatch, capsys):
    """Each run has a folder of its own, which is removed in the end, so two runs do not collide."""

    def try_mutants(modules, every, processes):
        assert Path.cwd().parent == tmp_path / "build" and every == 1
        assert processes == os.cpu_count()
        Path("left over").touch()
        return {f"attn/{m}.py": [((f"attn.{m}.f", "", ""), "killed")] for m in modules}

    monkeypatch.setattr(mutation, "BUILD", tmp_path / "build")
    monkeypatch.setattr(mutation, "try_mutants", try_mutants)
    monkeypatch.setattr(mutation, "read_argued", lambda: {FIRST, ("attn.cache.f", "a", "b")})
    before = Path.cwd()
    with pytest.raises(SystemExit) as stopped:
        mutation.main(["cache", "layers"])
    assert stopped.value.code.endswith("Argued, but no survivor, in attn.cache.f:\n- a\n+ b")
    assert "attn.masks" not in stopped.value.code  # the mutants of the other file were not tried
    assert "attn/cache.py" in capsys.readouterr().out
    assert list((tmp_path / "build").iterdir()) == [] and Path.cwd() == before


def test_a_sample_takes_every_nth_mutant_and_judges_only_those(tmp_path, monkeypatch):
    tried = []

    def mutmut(command, **_):
        assert command[1:4] == ["run", "--max-children", "2"]
        tried.append(command[4:])
        return subprocess.CompletedProcess(command, 0)

    def outcomes(file, names):
        return [(FIRST, "survived"), *(((name, "", ""), "killed") for name in names * 20)]

    monkeypatch.setattr(mutation, "BUILD", tmp_path)
    monkeypatch.setattr(mutation.subprocess, "run", mutmut)
    monkeypatch.setattr(mutation, "list_mutants", lambda file: [f"{file}.{i}" for i in range(5)])
    monkeypatch.setattr(mutation, "read_outcomes", outcomes)
    monkeypatch.setattr(mutation, "read_argued", lambda: {FIRST, SECOND})
    for options, code in ((["--sample", "3"], 0), ([], "Argued, but no survivor")):
        with pytest.raises(SystemExit) as stopped:
            mutation.main(["masks", "--processes", "2", *options])
        assert stopped.value.code == code or code in stopped.value.code
    assert tried == [["attn/masks.py.0", "attn/masks.py.3"], []]  # no names means all mutants


def test_unknown_modules_and_invalid_numbers_are_refused():
    expected = "modules: expected some of masks, .*, decoding, .*, got plots"
    with pytest.raises(SystemExit, match=f"^{expected}$"):
        mutation.main(["masks", "plots"])
    with pytest.raises(SystemExit, match="got masks.causal$"):
        mutation.main(["masks.causal"])
    for option in ("sample", "processes"):
        with pytest.raises(SystemExit, match=f"^{option}: expected at least 1, got 0$"):
            mutation.main(["masks", f"--{option}", "0"])


@pytest.mark.parametrize("module", mutation.TESTS)
def test_mutated_modules_and_their_tests_exist(module):
    attn = ROOT / "attn" / module
    assert attn.with_suffix(".py").is_file() or (attn / "__init__.py").is_file()
    for name in mutation.TESTS[module]:
        assert (ROOT / "tests" / "core" / f"{name}.py").is_file()


def test_one_reason_can_hold_for_several_mutants_of_a_line(tmp_path, monkeypatch):
    monkeypatch.setattr(mutation, "HERE", tmp_path)
    (tmp_path / "survivors.toml").write_text(
        '[[argued]]\nfunction = "attn.masks.f"\noriginal = "return a < b"\n'
        'mutants = ["a <= b", "a > b"]\nwhy = "Because."\n'
    )
    assert mutation.read_argued() == {FIRST, SECOND}
    (tmp_path / "survivors.toml").write_text("# none\n")
    assert mutation.read_argued() == set()


def test_argued_mutants_are_of_lines_in_the_code():
    for function, original, changed in mutation.read_argued():
        module = function.removeprefix("attn.").split(".")[0]
        assert module in mutation.TESTS
        files = [ROOT / "attn" / f"{module}.py", *(ROOT / "attn" / module).rglob("*.py")]
        code = " ".join(" ".join(f.read_text().split()) for f in files if f.exists())
        assert f"def {function.rpartition('.')[2]}(" in code
        assert " ".join(original.split()) in code and changed != original


def test_every_reason_is_a_sentence():
    text = (ROOT / "tests/mutation/survivors.toml").read_text(encoding="utf-8")
    for entry in tomllib.loads(text).get("argued", []):
        assert set(entry) == {"function", "original", "mutants", "why"}
        assert entry["mutants"] and len(entry["why"].split()) > 4 and entry["why"].endswith(".")
