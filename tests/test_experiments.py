"""The runner of the experiments; every stored number is the result of a row."""

import json

import pytest

from experiments import __main__ as command
from experiments.runner import Experiment, Row, lines, read


@pytest.fixture
def toy(tmp_path):
    """An experiment that counts how often each row is measured."""
    asked = []

    def measure(name, value):
        asked.append(name)
        return value

    def resume(told, keep):
        for step in range(len(told.setdefault("steps", [])), 3):
            asked.append(f"step {step}")
            told["steps"].append(step)
            keep(told)
            if step == 1 and asked.count("step 1") == 1:
                raise KeyboardInterrupt

    def rows():
        return {
            "rate": Row(lambda: measure("rate", 0.5), ("rates", "a")),
            "both": Row(lambda: measure("both", ([1], 2)), ("loss", "a", 0), ("right", "a", 0)),
            "run": Row(
                lambda told: measure("run", {"seed": 1, "rate": told["rates"]["a"]}),
                ("runs", {"seed": 1}),
                reads=True,
            ),
            "long": Row(resume, ("long",), resumes=True),
        }

    told = []
    experiment = Experiment(
        "?", tmp_path / "toy.json", rows, 1, lambda: {"n": 3}, lambda: told.append("published")
    )
    return experiment, asked, told


def test_an_interrupted_run_continues_where_it_stopped(toy):
    experiment, asked, told = toy
    experiment.run(only=2)
    assert read(experiment.file) == {
        "n": 3,
        "rates": {"a": 0.5},
        "loss": {"a": [[1]]},
        "right": {"a": [2]},
    }
    with pytest.raises(KeyboardInterrupt):
        experiment.run()
    assert read(experiment.file)["long"] == {"steps": [0, 1]}
    experiment.run()
    stored = read(experiment.file)
    assert stored["runs"] == [{"seed": 1, "rate": 0.5}] and stored["long"] == {"steps": [0, 1, 2]}
    assert asked == ["rate", "both", "run", "step 0", "step 1", "step 2"]
    assert list(stored) == ["n", "rates", "loss", "right", "runs", "long"] and told


def test_a_named_row_is_measured_again_and_compared(toy, capsys):
    experiment, asked, _ = toy
    experiment.run(only=2)
    assert experiment.run(["both"]) and asked.count("both") == 2
    text = experiment.file.read_text().replace("[2]", "[7]")
    experiment.file.write_text(text)
    assert not experiment.run(["both"]) and experiment.file.read_text() == text
    assert "stored: [[1], 7]; now: [[1], 2]" in capsys.readouterr().out
    assert experiment.run(["both"], replace=True) and read(experiment.file)["right"] == {"a": [2]}


def test_unknown_rows_and_stored_settings_that_differ_are_refused(toy):
    experiment, asked, _ = toy
    with pytest.raises(ValueError, match=r"^row: expected one of rate, both, run, long, got ran$"):
        experiment.run(["ran"])
    for stored, message in (
        ({"n": 4}, r"toy\.json: expected n 3, got 4$"),
        ({"runes": []}, r"expected entries long, loss, n, rates, right, runs, got runes$"),
    ):
        experiment.file.write_text(json.dumps(stored))
        with pytest.raises(ValueError, match=message):
            experiment.run()
    for text, message in (("{", r"toy\.json: expected JSON in UTF-8"), (b"\xff", r"in UTF-8")):
        experiment.file.write_bytes(text if isinstance(text, bytes) else text.encode())
        with pytest.raises(ValueError, match=message):
            experiment.run()
    with pytest.raises(ValueError, match=r"^only: expected at least 1, got 0$"):
        experiment.run(only=0)
    with pytest.raises(ValueError, match=r"^replace: expected the names"):
        experiment.run(replace=True)
    assert asked == []


def test_a_row_that_reads_missing_results_is_refused(toy):
    experiment, _, told = toy
    experiment.file.write_text('{"n": 3}')
    with pytest.raises(ValueError, match=r"^run: expected the rows that it reads .* 'rates'$"):
        experiment.run(["run"])
    assert told == []


def test_rows_that_cannot_be_measured_are_left_out(tmp_path, capsys):
    rows = {"none": Row(lambda: None, ("none",)), "one": Row(lambda: 1, ("one",))}
    experiment = Experiment("?", tmp_path / "toy.json", lambda: rows, 1)
    experiment.run()
    assert read(experiment.file) == {"one": 1}
    assert capsys.readouterr().out.startswith("none: left out")


def test_without_a_gpu_large_rows_are_measured_only_by_name(tmp_path, monkeypatch, capsys):
    rows = {"large": Row(lambda: 2, ("large",), is_large=True), "one": Row(lambda: 1, ("one",))}
    experiment = Experiment("?", tmp_path / "toy.json", lambda: rows, 1)
    monkeypatch.setattr("torch.cuda.is_available", lambda: False)
    experiment.run()
    assert read(experiment.file) == {"one": 1}
    assert "large: left out, since PyTorch finds no GPU" in capsys.readouterr().out
    experiment.run(["large"])
    assert read(experiment.file) == {"large": 2, "one": 1}
    experiment.file.unlink()
    monkeypatch.setattr("torch.cuda.is_available", lambda: True)
    experiment.run()
    assert read(experiment.file) == {"large": 2, "one": 1}


def test_stored_results_are_read_back_unchanged():
    told = {"short": [1, 2], "long": [{"name": "ñ", "losses": [n / 7]} for n in range(40)]}
    assert json.loads(lines(told)) == told and '"short": [1, 2],' in lines(told)


# `positions` counts its constants in its corpus, which takes half a minute.
LONG = pytest.param("positions", marks=pytest.mark.slow)


@pytest.mark.parametrize(
    "name", [LONG if name == "positions" else name for name in command.names()]
)
def test_every_stored_number_belongs_to_a_row(name):
    experiment = command.experiment(name)
    stored, rows = read(experiment.file), experiment.rows()
    missing = [name for name, row in rows.items() if experiment._values(row, stored) is None]
    assert [name for name in missing if not rows[name].is_large] == []
    assert experiment._ordered(rows, stored) == (stored or {})


def test_the_command_lists_rows_and_refuses_unknown_names(capsys):
    assert command.main(["depth", "--list"]) == 0
    assert "post, seed 0" in capsys.readouterr().out.splitlines()
    for arguments in (["death"], ["depth", "post"]):
        with pytest.raises(SystemExit):
            command.main(arguments)
        assert "expected one of" in capsys.readouterr().err
