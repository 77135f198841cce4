"""``python -m attn``: commands that a user types, and the messages when a command fails."""

import io
import os
import re
import shlex
import signal
import subprocess
import sys
import time
from functools import partial
from pathlib import Path

import pytest
import torch

from attn.__main__ import main
from attn.applications import models
from attn.applications.translation import RECIPES, Translator
from attn.corpus import Pair, hold_out, read_pairs
from attn.tokenizer import BytePairTokenizer

ROOT = Path(__file__).resolve().parents[2]
NOUNS = {"house": "casa", "rose": "rosa", "moon": "luna", "table": "mesa", "street": "calle"}
COLOURS = {"red": "roja", "black": "negra", "white": "blanca", "yellow": "amarilla"}
LINES = [f"the {c} {n}\tla {es} {color}" for c, color in COLOURS.items() for n, es in NOUNS.items()]


# The translator of the grammar reads any case, with or without a full stop.
GRAMMAR = ["--model", str(models.folder("grammar_translator"))]
GRAMMAR_FROM_SPANISH = ["translate", *GRAMMAR, "--from", "es"]


@pytest.fixture
def pairs(tmp_path):
    path = tmp_path / "pairs.tsv"
    path.write_text("\n".join(LINES) + "\n", encoding="utf-8")
    return path


def test_texts_in_the_arguments_are_translated(capsys):
    assert main(["translate", *GRAMMAR, "the red house", "The cat chased the mouse."]) == 0
    assert capsys.readouterr().out == "la casa roja\nel gato persiguió al ratón\n"
    for options in (["--beam", "3"], ["--beam", "3", "--length-penalty", "0.6"]):
        assert main(["translate", *GRAMMAR, *options, "the red house"]) == 0
        assert capsys.readouterr().out == "la casa roja\n"


def test_without_pytorch_the_error_says_what_is_missing():
    code = (
        "import sys; sys.modules['torch'] = None; from attn.__main__ import main; sys.exit(main())"
    )
    command = [sys.executable, "-c", code, "translate", "The sky is blue."]
    done = subprocess.run(command, check=False, cwd=ROOT, capture_output=True, text=True)
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr == 'torch is missing: pip install ".[torch]" brings it\n'


def test_standard_input_is_translated(capsys, monkeypatch):
    monkeypatch.setattr(sys, "stdin", io.StringIO("the sky is blue\n\n  the red house \n"))
    assert main(["translate", *GRAMMAR]) == 0
    assert capsys.readouterr().out == "el cielo es azul\nla casa roja\n"
    monkeypatch.setattr(sys, "stdin", io.StringIO("the ornithopter\nthe red house\n"))
    assert main(["translate", *GRAMMAR]) == 0
    out, err = capsys.readouterr()
    assert out == "la casa roja\n" and err.startswith("line 1: text: ") and "'ornithopter'" in err
    # A byte that is not UTF-8 spoils only its own line.
    typed = io.BytesIO(b"The caf\xe9 is open.\nThe house is red.\n")
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(typed, encoding="utf-8"))
    assert main(["translate"]) == 0
    out, err = capsys.readouterr()
    assert (out, err) == ("La casa es roja.\n", "line 1: no UTF-8 at byte 7: save it as UTF-8\n")


def test_a_text_of_another_language_gives_a_warning_and_is_translated(
    tmp_path, capsys, monkeypatch
):
    said = "expected English, got what seems to be {}; translated all the same\n"
    spanish, neither = said.format("Spanish"), said.format("neither English nor Spanish")
    path = tmp_path / "lines.txt"
    path.write_text("Where is it?\nLa casa es roja.\n")
    assert main(["translate", "La casa es roja.", "Where is it?", "🙂"]) == 0
    out, err = capsys.readouterr()
    assert out.count("\n") == 3 and err == f"text: {spanish}text: {neither}"
    assert main(["translate", "--file", str(path)]) == 0
    assert capsys.readouterr().err.startswith(f"{path}, line 2: {spanish}2 lines, ")
    monkeypatch.setattr(sys, "stdin", io.StringIO("Where is it?\nxqzt wvk\n"))
    assert main(["translate"]) == 0
    assert capsys.readouterr().err == f"line 2: {neither}"
    # The other translator of the course expects the other language.
    assert main(["translate", "--from", "es", "¿Dónde está la biblioteca?", "Where is it?"]) == 0
    out, err = capsys.readouterr()
    assert "library" in out.splitlines()[0]
    assert err == "text: expected Spanish, got what seems to be English; translated all the same\n"
    # A user's own translator may read any language.
    own = ["translate", "--model", str(models.folder("tatoeba_translator")), "La casa es roja."]
    assert main(own) == 0
    assert capsys.readouterr().err == ""


def test_a_closed_or_full_output_ends_without_a_traceback():
    reader, closed = os.pipe()
    os.close(reader)
    outputs = {closed: (0, "")}
    # On Linux, /dev/full behaves as a disk that is always full.
    if os.path.exists("/dev/full"):
        outputs[os.open("/dev/full", os.O_WRONLY)] = (1, "output: No space left on device\n")
    for output, ends in outputs.items():
        done = subprocess.run(
            [sys.executable, "-m", "attn", "translate", *GRAMMAR, "the red house"],
            check=False,
            cwd=ROOT,
            stdout=output,
            stderr=subprocess.PIPE,
            text=True,
        )
        os.close(output)
        assert (done.returncode, done.stderr) == ends


@pytest.mark.parametrize(
    "encoding, written, said",
    [
        ("ascii", rb"la casa peque\xf1a es roja", r"ascii lacks letters, .* as \\xf1;"),
        ("cp1253", rb"la casa peque\xf1a es roja", r"cp1253 lacks letters, .* as \\xf1;"),
        ("latin-1", "la casa pequeña es roja".encode("latin-1"), None),
        ("utf-8", "la casa pequeña es roja".encode(), None),
    ],
)
def test_letters_that_an_encoding_lacks_are_escaped_with_a_warning(
    encoding, written, said, capsys, monkeypatch
):
    output = io.BytesIO()
    monkeypatch.setattr(sys, "stdout", io.TextIOWrapper(output, encoding=encoding))
    assert main(["translate", *GRAMMAR, "The little house is red."]) == 0
    assert output.getvalue() == written + b"\n"
    told = capsys.readouterr().err
    assert re.search(f"^output: the encoding {said}", told) if said else told == ""
    output.close()


@pytest.mark.parametrize("text", [(), ("the red house",)])
def test_closed_streams_end_without_a_traceback(text):
    command = shlex.join([sys.executable, "-m", "attn", "translate", *GRAMMAR, *text])
    command += " >&-" if text else " <&-"
    done = subprocess.run(
        command, check=False, cwd=ROOT, shell=True, stderr=subprocess.PIPE, text=True
    )
    assert (done.returncode, done.stderr) == (0, "")


def test_an_unwritable_folder_is_refused_before_the_training(tmp_path, pairs, capsys):
    (tmp_path / "link").symlink_to(tmp_path / "no" / "where")
    arguments = ["train", "--pairs", str(pairs), "--steps", "2", "--device", "cpu", "--out"]
    assert main([*arguments, str(tmp_path / "link")]) == 1
    out, err = capsys.readouterr()
    assert err.startswith("out: expected a name in a folder that exists, got ") and not out
    assert not (tmp_path / "link.checkpoint").exists()


def test_the_current_folder_can_be_replaced(tmp_path, pairs, monkeypatch):
    arguments = ["train", "--pairs", str(pairs), "--steps", "2", "--device", "cpu", "--out"]
    assert main([*arguments, str(tmp_path / "model")]) == 0
    monkeypatch.chdir(tmp_path / "model")
    assert main([*arguments, "."]) == 0
    assert sorted(path.name for path in tmp_path.iterdir() if path.is_dir()) == ["model"]


def test_each_line_of_a_file_gives_one_line(tmp_path, capsys, monkeypatch):
    # Fewer lines are read at a time than the file has, and they are not translated in order.
    monkeypatch.setattr("attn.applications.translation.lines.AT_ONCE", 3)
    path = tmp_path / "some.txt"
    lines = [
        "the cat that chased the mouse was black",
        "the red house",
        "",
        "the ornithopter",
        "the sky is blue.",
        "the red house",
    ]
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    assert main(["translate", *GRAMMAR, "--file", str(path)]) == 0
    out, err = capsys.readouterr()
    assert out == (
        "el gato que persiguió al ratón era negro\nla casa roja\n\n\nel cielo es azul\nla casa roja\n"
    )
    bad, rate = err.splitlines()
    assert bad.startswith(f"{path}, line 4: text: ") and "'ornithopter'" in bad
    assert re.fullmatch(r"6 lines, [\d,]+ tokens a second", rate)
    path.write_text("")
    assert main(["translate", *GRAMMAR, "--file", str(path)]) == 0
    assert capsys.readouterr().out == ""


def test_bytes_that_are_not_utf_8_lose_only_their_line(tmp_path, capsys):
    path = tmp_path / "some.txt"
    path.write_bytes(b"the red house\rthe caf\xe9\nthe red house\n")
    assert main(["translate", *GRAMMAR, "--file", str(path)]) == 0
    out, err = capsys.readouterr()
    assert out == "la casa roja\n\nla casa roja\n"
    assert err.splitlines()[0] == f"{path}, line 2: no UTF-8 at byte 7: save it as UTF-8"
    path.write_text("the red house\n", encoding="utf-16")
    assert main(["translate", *GRAMMAR, "--file", str(path)]) == 1
    assert capsys.readouterr().err == f"{path}: expected text that is saved as UTF-8, got UTF-16\n"


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["translate", "--file", "/no/such.txt"], "/no/such.txt: expected a text file that can be"),
        (["translate", "--file", "PAIRS", "the"], "file: expected no sentences beside it, got"),
        (["translate", *GRAMMAR, "the ornithopter is red"], "got 'ornithopter'"),
        (["translate", ""], "text: expected a sentence, got an empty text"),
        (["translate", "x" * 1000], "text: expected words that are short enough to translate"),
        (["translate", "--beam", "0", "the red house"], "beam_width: expected at least 1"),
        (["translate", "--length-penalty", "1", "the red house"], "length_penalty: expected 0 wit"),
        (["translate", "--length-penalty", "1", "--file", "LINES"], "length_penalty: expected 0"),
        (["evaluate", "--length-penalty", "1", "--pairs", "PAIRS"], "length_penalty: expected 0"),
        (["translate", "--model", "/no/such", "the red house"], "/no/such, which holds nothing"),
        (["evaluate", "--from", "es"], "source_language: expected 'en', which the translator 'gra"),
        ([*GRAMMAR_FROM_SPANISH, "la casa"], "from: expected 'en', which"),
        (["evaluate", "--pairs", "/no/such.tsv"], "/no/such.tsv: expected a text file that can"),
        (["train", "--pairs", "/no/such.tsv", "--out", "x"], "/no/such.tsv: expected a text file "),
        (["train", "--pairs", "PAIRS", "--out", "/no/such"], "out: expected a name in a folder"),
        (["train", "--pairs", "PAIRS", "--out", "OTHER"], "out: expected a new folder or a transl"),
        (["train", "--pairs", "PAIRS", "--steps", "0", "--out", "NEW"], "steps: expected at least"),
    ],
)
def test_invalid_commands_give_an_error_of_one_line(pairs, tmp_path, capsys, arguments, said):
    (tmp_path / "other").mkdir()
    (tmp_path / "other" / "work.txt").write_text("mine")
    (tmp_path / "other" / "lines.txt").write_text("the red house")
    places = {
        "PAIRS": str(pairs),
        "OTHER": str(tmp_path / "other"),
        "NEW": str(tmp_path / "new"),
        "LINES": str(tmp_path / "other" / "lines.txt"),
    }
    assert main([places.get(argument, argument) for argument in arguments]) == 1
    printed = capsys.readouterr()
    assert printed.out == ""
    assert said in printed.err and printed.err.count("\n") == 1
    assert sorted(path.name for path in tmp_path.iterdir()) == ["other", "pairs.tsv"]


def test_a_file_without_pairs_is_refused_and_bad_lines_are_reported(tmp_path, pairs, capsys):
    empty = tmp_path / "empty.tsv"
    empty.write_text("no tab here\n" * 8)
    assert main(["train", "--pairs", str(empty), "--out", str(tmp_path / "model")]) == 1
    lines = capsys.readouterr().err.splitlines()
    assert lines[0] == f"{empty}, line 1: 1 column between tabs"
    assert lines[-2] == f"{empty}: 8 such lines in all"
    assert (
        lines[-1]
        == f"pairs: expected lines with a text, a tab and its translation, got none in {empty}"
    )
    assert len(lines) == 5 + 2
    pairs.write_text("bad\n" + pairs.read_text())
    arguments = ["train", "--pairs", str(pairs), "--steps", "2", "--out", str(tmp_path / "model")]
    assert main(arguments) == 0
    assert "line 1: 1 column between tabs\n" in capsys.readouterr().err


def test_a_training_reports_steps_and_scores_on_held_out_pairs(tmp_path, capsys):
    path, out = tmp_path / "many.tsv", tmp_path / "model"
    many = [f"{adverb} {line}" for adverb in "abcdefghijkl" for line in LINES]
    path.write_text("\n".join(many), encoding="utf-8")
    arguments = ["train", "--pairs", str(path), "--steps", "150", "--device", "cpu"]
    sizes = ["--width", "8", "--layers", "1", "--heads", "2"]
    assert main([*arguments, *sizes, "--out", str(out)]) == 0
    said = capsys.readouterr()
    steps = [line for line in said.err.splitlines() if line.startswith("step ")]
    assert len(steps) == 100 and steps[-1].startswith("step 150 of 150: loss ")
    assert all(re.search(r": loss \d+\.\d{3}, [\d,]+ tokens a second$", line) for line in steps)
    # A twentieth of the sources is held out.
    found = re.match(r"On 12 pairs held out: BLEU (\d+\.\d), chrF (\d+\.\d)\n", said.out)
    translator, (_, held_out) = Translator.load(out), hold_out(list(read_pairs(path)), 12)
    scores = translator.evaluate(held_out)
    assert found.groups() == (f"{scores['bleu']:.1f}", f"{scores['chrf']:.1f}")
    config = translator.model.config
    assert (config.d_model, config.n_layers, config.n_heads, config.d_ff) == (8, 1, 2, 32)


@pytest.mark.slow
@pytest.mark.parametrize("tokenizer", ["words", "bpe"])
def test_training_on_a_users_own_pairs(pairs, tmp_path, capsys, tokenizer):
    out = tmp_path / "model"
    arguments = ["train", "--pairs", str(pairs), "--out", str(out), "--device", "cpu"]
    options = ["--tokenizer", tokenizer, "--vocab-size", "290", "--steps", "60"]
    assert main([*arguments, *options]) == 0
    assert capsys.readouterr().out == f"Saved: {out}\n"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["model", "pairs.tsv"]
    translator = Translator.load(out)
    assert translator.translate("the red house") == "la casa roja"
    assert main(["translate", "--model", str(out), "the red moon"]) == 0
    assert capsys.readouterr().out == "la luna roja\n"
    assert main(["evaluate", "--model", str(out), "--pairs", str(pairs)]) == 0
    head, row, *signatures = capsys.readouterr().out.splitlines()
    assert head.split() == ["pairs", "exact", "match", "tokens", "BLEU", "chrF"]
    assert row.split()[:3] == ["pairs.tsv", str(len(LINES)), "100.0%"]
    # Three words have no 4-grams, but their letters have.
    assert row.split()[-2:] == ["0.0", "100.0"]
    assert [line.split()[0] for line in signatures] == ["BLEU", "chrF"]
    assert "tok:13a" in signatures[0] and "nc:6" in signatures[1]


def test_a_corpus_with_a_recipe_is_trained_by_it(tmp_path, monkeypatch):
    some = [Pair(*line.split("\t")) for line in LINES]
    corpus = {"train": some, "validation": some[:2]}
    monkeypatch.setattr("attn.corpus.named", lambda name: {"tatoeba": lambda: corpus}[name])
    arguments = ["train", "--corpus", "tatoeba", "--steps", "2", "--width", "8", "--device", "cpu"]
    assert main([*arguments, "--out", str(tmp_path / "model")]) == 0
    translator = Translator.load(tmp_path / "model")
    recipe = RECIPES["tatoeba"]
    assert translator.source is translator.target
    texts = [text for pair in some for text in (pair.source, pair.target)]
    assert translator.source == BytePairTokenizer.train(texts, recipe.vocab_size)
    config = translator.model.config
    assert (config.d_model, config.d_ff, config.n_layers) == (8, 32, recipe.sizes["n_layers"])


def test_training_translating_and_evaluating_from_spanish(tmp_path, capsys, monkeypatch):
    """The pairs of a corpus are reversed, and the folder stores the direction."""
    some = [Pair(*line.split("\t")) for line in LINES]
    parts = {"train": some, "validation": some[:2], "test": some}
    monkeypatch.setattr("attn.corpus.named", lambda name: lambda n_train=None: dict(parts))
    out = str(tmp_path / "model")
    corpus, sizes = ["--corpus", "own"], ["--steps", "200", "--seed", "0", "--device", "cpu"]
    assert main(["train", *corpus, *sizes, "--from", "es", "--out", out]) == 0
    assert Translator.load(out).source_language == "es"
    capsys.readouterr()
    for options in ([], ["--from", "es"]):
        assert main(["translate", "--model", out, *options, "la luna roja"]) == 0
        assert capsys.readouterr().out == "the red moon\n"
    assert main(["evaluate", "--model", out, *corpus]) == 0
    assert "test                20       100.0%" in capsys.readouterr().out
    assert main(["translate", "--model", out, "--from", "en", "the red moon"]) == 1
    assert capsys.readouterr().err == f"from: expected 'es', which {out} reads, got 'en'\n"


def test_an_interrupted_training_continues(pairs, tmp_path, monkeypatch):
    """The checkpoint stays beside the folder until the model is saved."""
    arguments = ["train", "--pairs", str(pairs), "--steps", "4", "--device", "cpu", "--out"]

    def full(*args, **kwargs):
        raise ValueError("folder: expected a place that can be written")

    with monkeypatch.context() as patch:
        patch.setattr(Translator, "save", full)
        assert main([*arguments, str(tmp_path / "a")]) == 1
    assert (tmp_path / "a.checkpoint").exists()
    # The second run takes no further steps.
    assert main([*arguments, str(tmp_path / "a")]) == 0
    assert main([*arguments, str(tmp_path / "b")]) == 0
    a, b = (Translator.load(tmp_path / name).model.state_dict() for name in "ab")
    assert all(torch.equal(a[name], b[name]) for name in a)
    assert not (tmp_path / "a.checkpoint").exists()


@pytest.mark.slow
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_ends_a_training_quietly_and_keeps_its_checkpoint(number, pairs, tmp_path, capsys):
    """A second training into the same folder is refused while the first one runs."""
    path = tmp_path / "model.checkpoint"
    arguments = ["train", "--pairs", str(pairs), "--steps", "100000", "--width", "8"]
    arguments += ["--layers", "1", "--heads", "1", "--device", "cpu"]
    arguments += ["--out", str(tmp_path / "model")]
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    # A process in the background ignores SIGINT, and its children would inherit this.
    noticed = partial(signal.signal, number, signal.SIG_DFL)
    command = [sys.executable, "-m", "attn", *arguments]
    run = partial(subprocess.Popen, command, cwd=ROOT, text=True, **pipes)
    with run(preexec_fn=noticed) as first:
        try:
            while not path.exists():
                assert first.poll() is None
                time.sleep(0.1)
            assert main(arguments) == 1
            out, err = capsys.readouterr()
            message = f"no other process is using, got {path}, which process {first.pid} is using\n"
            assert out == "" and err.endswith(message) and err.count("\n") == 1
            first.send_signal(number)
            out, err = first.communicate(timeout=100)
        finally:
            first.kill()
    assert (first.returncode, out) == (128 + number, "") and err.endswith("\nInterrupted.\n")
    assert "Traceback" not in err
    assert sorted(p.name for p in tmp_path.iterdir()) == ["model.checkpoint", "pairs.tsv"]


@pytest.mark.slow
def test_two_processes_train_one_model(pairs, tmp_path):
    """Runs under torchrun, as the help says; only one process writes and prints."""
    out = tmp_path / "model"
    options = "-m torch.distributed.run --standalone --nproc-per-node 2 -m attn train --steps 3"
    command = [sys.executable, *shlex.split(f"{options} --device cpu"), "--pairs", pairs, "--out"]
    done = subprocess.run(
        [*command, out], cwd=ROOT, capture_output=True, text=True, check=False, timeout=300
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout == f"Saved: {out}\n"
    assert Translator.load(out).source.vocab_size == 4 + 1 + len(NOUNS) + len(COLOURS)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["model", "pairs.tsv"]


def test_the_help_lists_the_commands(capsys):
    with pytest.raises(SystemExit) as caught:
        main(["--help"])
    assert caught.value.code == 0
    printed = capsys.readouterr().out
    assert all(name in printed for name in ("translate", "train", "evaluate"))


@pytest.mark.parametrize("command", ["translate", "evaluate"])
def test_a_missing_device_is_refused_with_a_readable_error(command, tmp_path, capsys):
    device = "mps" if torch.cuda.is_available() else "cuda"
    arguments = ["--device", device]
    (tmp_path / "pairs.tsv").write_text("the cat\tel gato\n")
    rest = ["the cat"] if command == "translate" else ["--pairs", str(tmp_path / "pairs.tsv")]
    assert main([command, *arguments, *rest]) == 1
    message = f"device: expected one that this machine has, got '{device}'\n"
    assert capsys.readouterr().err == message
