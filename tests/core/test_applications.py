"""What every application does alike: train from a seed, keep the history, come back to the CPU."""

import dataclasses
import json
import os
import re
import signal

import numpy as np
import pytest
import torch
from torch import nn

from attn.applications import (
    _application,
    _folder,
    _sequences,
    question_answering,
    summarization,
    translation,
    visual_question,
)
from attn.applications._application import Application
from attn.corpus import Pair
from attn.io import write_whole
from attn.tokenizer import WordTokenizer
from attn.training import History, TrainingConfig
from tests.core.other_device import DEVICE, OtherDevice, OtherTensor

ONE_STEP = TrainingConfig(steps=1, device="cpu")


@dataclasses.dataclass
class Seen:
    image: np.ndarray
    question: str
    answer: str


def fit(name, **options):
    """Train one application for one step, on one or two examples."""
    if name == "translation":
        pairs = [Pair("the red house", "la casa roja"), Pair("a cat", "un gato")]
        return translation.Translator.fit(pairs, training=ONE_STEP, **options)
    if name == "question_answering":
        examples = [("The sky is blue.", "What is blue?", "sky", 1)] * 5
        return question_answering.QuestionAnswerer.fit(examples, training=ONE_STEP, **options)
    if name == "summarization":
        examples = [("A storm hit Lima.", "Storm hits Lima"), ("Schools closed.", "Schools close")]
        return summarization.Summarizer.fit(examples, training=ONE_STEP, **options)
    examples = [Seen(np.zeros((48, 48, 3), np.uint8), "Is there a ball?", "no")]
    return visual_question.VisualQuestionAnswerer.fit(examples, training=ONE_STEP, **options)


every_application = pytest.mark.parametrize(
    "name", ["translation", "question_answering", "summarization", "visual_question"]
)


@every_application
def test_it_trains_from_its_seed_and_keeps_the_history(name):
    torch.manual_seed(7)
    expected = torch.rand(3)
    torch.manual_seed(7)
    first = fit(name)
    assert torch.equal(torch.rand(3), expected)
    second = fit(name)
    for ours, theirs in zip(first.model.parameters(), second.model.parameters(), strict=True):
        assert torch.equal(ours, theirs)
    assert len(first.history.losses) == 1 and first.history == second.history


@pytest.mark.parametrize(
    "name, got",
    [
        ("loop", "/loop(: Symlink loop from .*)?"),  # as Python's version has it
        ("x" * 300, "/x{300}: File name too long"),
        ("link to nowhere", "/no/where"),
    ],
)
def test_a_place_where_nothing_can_be_is_refused_in_a_sentence(name, got, tmp_path):
    (tmp_path / "loop").symlink_to("loop")
    (tmp_path / "link to nowhere").symlink_to(tmp_path / "no" / "where")
    fitted = fit("translation")
    message = f"^folder: expected a name in a folder that exists, got {re.escape(str(tmp_path))}"
    with pytest.raises(ValueError, match=message + got + "$"):
        fitted.save(tmp_path / name)
    with pytest.raises(ValueError, match="^folder: expected a folder of the format .* nothing$"):
        type(fitted).load(tmp_path / name)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["link to nowhere", "loop"]


def test_a_name_may_be_as_long_as_a_name_may_be(tmp_path):
    folder = tmp_path / ("x" * 255)
    for _ in range(2):
        fit("translation").save(folder)
    assert translation.Translator.load(folder).translate("a cat") is not None
    assert [*tmp_path.iterdir()] == [folder]


def saved(tmp_path, kind="words"):
    """Save two translators over each other in one folder, where a user has files too."""
    folder = tmp_path / "model"
    old, new = (fit("translation", tokenizer=tokenizer) for tokenizer in ("words", kind))
    old.save(folder)
    (folder / "notes").mkdir()
    (folder / "notes" / "diary.txt").write_text("mine")
    (folder / "link").symlink_to("nowhere")
    (folder / "zebra.json").write_text("{}")
    return folder, old, new


@pytest.mark.parametrize("links", [True, False])
def test_files_of_a_user_stay_in_a_folder_that_is_replaced(links, tmp_path, monkeypatch):
    folder, _, new = saved(tmp_path, "bpe")
    if not links:
        monkeypatch.setattr(os, "link", fail_with(1))
    for _ in range(2):
        new.save(folder)
    assert (folder / "notes" / "diary.txt").read_text() == "mine"
    assert os.readlink(folder / "link") == "nowhere" and (folder / "zebra.json").exists()
    assert type(new.source).__name__ == type(translation.Translator.load(folder).source).__name__
    ours = {"about.json", "model.safetensors", "source.json", "target.json"}
    assert {path.name for path in folder.iterdir()} == ours | {"notes", "link", "zebra.json"}
    assert [*tmp_path.iterdir()] == [folder]


def fail_with(number):
    def fail(*_, **__):
        raise OSError(number, os.strerror(number))

    return fail


def weights(application):
    return [parameter.tolist() for parameter in application.model.parameters()]


@pytest.mark.parametrize("can_exchange", [True, False])
def test_a_kill_while_saving_leaves_the_old_one_or_the_new_one(can_exchange, tmp_path, monkeypatch):
    """At each step of the system that changes a name."""
    folder = tmp_path / "model"

    def save(text):
        with _folder.whole_folder(folder, {"format": "f", "is": text}) as unfinished:
            write_whole(unfinished / text, text)

    def load():
        about = _folder.read_folder(folder, "f")
        _folder.check_sums(folder, about)
        assert {about["is"], "mine"} == {path.read_text() for path in folder.glob("*.txt")}
        return about["is"]

    if not can_exchange:
        monkeypatch.setattr(_folder, "_exchange", lambda one, other: False)
    save("old.txt")
    (folder / "notes.txt").write_text("mine")
    found, code = [], None
    while code != 0:
        if not (pid := os.fork()):
            left = iter(range(len(found)))
            for name in ("rename", "replace", "unlink", "link", "rmdir"):
                setattr(os, name, killing(getattr(os, name), left))
            _folder._exchange = killing(_folder._exchange, left)
            save("new.txt")
            os._exit(0)
        code = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
        assert code in (0, -signal.SIGKILL)
        found.append(load())
        save("old.txt")
        assert load() == "old.txt" and [*tmp_path.iterdir()] == [folder]
    assert len(found) > 8 and {*found} == {"old.txt", "new.txt"} and found == sorted(found)[::-1]


def killing(function, left):
    def step(*arguments, **options):
        if next(left, None) is None:
            os.kill(os.getpid(), signal.SIGKILL)
        return function(*arguments, **options)

    return step


def test_a_save_after_a_kill_between_two_steps_keeps_files_of_a_user(tmp_path):
    folder, _, new = saved(tmp_path)
    folder.rename(_folder._old(folder))
    new.save(folder)
    assert (folder / "notes" / "diary.txt").read_text() == "mine"
    assert [*tmp_path.iterdir()] == [folder]


def test_an_old_one_that_cannot_be_put_back_is_named(tmp_path, monkeypatch):
    folder, *_ = saved(tmp_path)
    old = _folder._old(folder)
    folder.rename(old)
    monkeypatch.setattr(os, "rename", fail_with(13))
    with pytest.raises(ValueError, match=f"nothing; what it held is in {re.escape(str(old))}$"):
        translation.Translator.load(folder)


@pytest.mark.parametrize("kind", ["words", "bpe"])
def test_a_wrong_bit_in_any_file_is_noticed(kind, tmp_path):
    folder = tmp_path / "model"
    fit("translation", tokenizer=kind).save(folder)
    rng = np.random.default_rng(0)
    for path in sorted(folder.iterdir()):
        content = path.read_bytes()
        for place in rng.integers(8 * len(content), size=25):
            flipped = bytearray(content)
            flipped[place // 8] ^= 1 << place % 8
            path.write_bytes(flipped)
            with pytest.raises(ValueError, match="expected"):
                translation.Translator.load(folder)
        path.write_bytes(content)
    translation.Translator.load(folder)


def test_a_folder_of_an_older_version_has_no_sums(tmp_path):
    folder = tmp_path / "model"
    fitted = fit("translation")
    fitted.save(folder)
    about = json.loads((folder / "about.json").read_text())
    sums = {name: about.pop(name) for name in ("sha256", "sha256_of_this")}
    (folder / "about.json").write_text(json.dumps(about))
    assert weights(translation.Translator.load(folder)) == weights(fitted)
    for one in sums.items():  # With one of the two, a bit is wrong in the name of the other.
        (folder / "about.json").write_text(json.dumps(about | dict([one])))
        with pytest.raises(ValueError, match="whose about.json is another$"):
            translation.Translator.load(folder)


def test_brackets_without_end_are_no_application(tmp_path):
    (tmp_path / "about.json").write_text("[" * 100_000)
    for application in (translation.Translator, summarization.Summarizer):
        with pytest.raises(ValueError, match="^folder: .* which holds something else$"):
            application.load(tmp_path)


@every_application
@pytest.mark.parametrize("sizes", [{"depth": 3}, {"vocab_size": 3}, {"tgt_vocab_size": 3}])
def test_sizes_that_a_model_does_not_have_are_refused(name, sizes):
    wanted = "fields of TransformerConfig, but no vocab_size"
    message = f"^sizes: expected {wanted}, got '{next(iter(sizes))}'$"
    with pytest.raises(ValueError, match=message):
        fit(name, sizes=sizes)


@pytest.mark.parametrize("name", ["question_answering", "summarization"])
def test_a_vocabulary_that_is_not_of_the_model_is_refused(name, tmp_path):
    fitted = fit(name)
    fitted.save(tmp_path / "one")
    known = fitted.tokenizer
    words = WordTokenizer([*known.tokens[4:], "zebra"], known.lowercase)
    words.save(tmp_path / "one" / "words.json")
    n = words.vocab_size
    wanted = f"folder: expected {n - 1} words, as its model has, got {tmp_path / 'one'}, with {n}"
    with pytest.raises(ValueError, match=f"^{re.escape(wanted)}$"):
        type(fitted).load(tmp_path / "one")


def test_marks_within_a_word_do_not_make_right_answers_wrong(monkeypatch):
    """What is written anew from its words may have spaces that people do not write."""
    reader = fit("question_answering")
    found = question_answering.Answer("U. S.", 1, 5, 1.0)
    monkeypatch.setattr(reader, "_answer", lambda encoded: [found])
    scores = reader.evaluate([("The U.S. sold it", "Who sold it?", "U.S.", 1)])
    assert scores["exact_match"] == 1
    writer = fit("summarization")
    monkeypatch.setattr(writer, "_generate", lambda texts: ["U. S. storm"])
    scores = writer.evaluate([("A storm hit the U.S. coast.", "U.S. storm")])
    assert scores["exact_match"] == 1 and scores["generate"]["rouge1"] == 1


def test_what_a_link_leads_to_is_replaced_and_not_the_link(tmp_path):
    fitted = fit("translation")
    fitted.save(tmp_path / "one")
    (tmp_path / "link").symlink_to("one", target_is_directory=True)
    fitted.save(tmp_path / "link", quantised=True)
    assert (tmp_path / "link").is_symlink()
    assert sorted(path.name for path in tmp_path.iterdir()) == ["link", "one"]
    assert type(fitted).load(tmp_path / "one").model is not None


@every_application
def test_what_is_saved_is_loaded_exactly_or_rounded(name, tmp_path):
    fitted = fit(name)
    fitted.save(tmp_path / "exact")
    fitted.save(tmp_path / "rounded", quantised=True)
    exact, rounded = (type(fitted).load(tmp_path / kind) for kind in ("exact", "rounded"))
    assert exact.history is None and not exact.model.training
    for parameter, ours, theirs in zip(
        *(application.model.parameters() for application in (fitted, exact, rounded)), strict=True
    ):
        assert torch.equal(parameter, ours)
        torch.testing.assert_close(parameter, theirs, rtol=0, atol=0.05)
    sizes = [(tmp_path / kind / fitted._model_file).stat().st_size for kind in ("exact", "rounded")]
    assert sizes[1] < 0.5 * sizes[0]


def told_to_train(monkeypatch, fit, *arguments, **options):
    """Return the examples and the options that `attn.training.train` gets."""
    told = []

    def train(model, loss, examples, collate, training, **options):
        told.append((examples, options))
        return History()

    monkeypatch.setattr(_application, "train", train)
    fit(*arguments, **options)
    return told.pop()


@pytest.mark.parametrize(
    ("name", "lengths"),
    [
        ("translation", [6, 4]),  # the words of both sentences
        ("question_answering", [11] * 5),  # <sos>, the question, <eos>, the passage
        ("summarization", [5, 3]),  # the words of the text
    ],
)
def test_training_is_told_how_long_an_example_is(name, lengths, monkeypatch):
    examples, options = told_to_train(monkeypatch, fit, name)
    assert [options["length"](example) for example in examples] == lengths
    assert options["validation"] is options["checkpoint"] is None


def test_a_question_about_an_image_begins_with_sos(monkeypatch):
    [(image, ids, answer)], _ = told_to_train(monkeypatch, fit, "visual_question")
    assert image.shape == (48, 48, 3) and answer == 0
    assert len(ids) == 6 and ids[0] == WordTokenizer.sos_id


def test_training_is_told_what_to_validate_on_where_to_write_and_whom_to_tell(
    monkeypatch, tmp_path
):
    pairs, said = [Pair("the red house", "la casa roja"), Pair("a cat", "un gato")], []
    examples, options = told_to_train(
        monkeypatch, translation.Translator.fit, pairs,
        validation=pairs[1:], checkpoint=tmp_path, report=said.append, training=ONE_STEP,
    )  # fmt: skip
    assert options["validation"] == examples[1:] and options["checkpoint"] == tmp_path
    assert options["report"] == said.append


def test_a_batch_is_of_about_one_length_and_of_many(monkeypatch):
    assert len(list(_sequences.by_length(["a"] * 100))) == 1
    monkeypatch.setattr(_sequences, "AT_A_TIME", 2)
    batches = []

    def compute(some):
        batches.append(some)
        return [text.upper() for text in some]

    texts = ["ccc", "a", "dddd", "bb", ""]
    assert Application._in_batches(texts, compute) == [text.upper() for text in texts]
    assert batches == [["", "a"], ["bb", "ccc"], ["dddd"]]
    batches.clear()
    Application._in_batches(texts, compute, length=lambda text: -len(text))
    assert batches == [["dddd", "ccc"], ["bb", "a"], [""]]
    with pytest.raises(ValueError, match="shorter"):
        Application._in_batches(texts, lambda some: some[1:])


def test_models_come_back_from_the_device():
    with OtherDevice():
        model = nn.Linear(2, 3)
        for name, parameter in model.named_parameters():
            setattr(model, name, nn.Parameter(OtherTensor(parameter.detach())))
        assert model.weight.device == DEVICE
        application = Application(model)
    assert {parameter.device.type for parameter in application.model.parameters()} == {"cpu"}


@pytest.mark.parametrize("n_words", [1, 3])
def test_a_translation_has_at_most_twice_its_words_and_ten(n_words, monkeypatch):
    translator = fit("translation")
    word = translator.target.vocab_size - 1

    def never_end(ids, cache, **options):
        logits = torch.zeros(len(ids), translator.target.vocab_size)
        logits[:, word] = 1.0
        return logits

    monkeypatch.setattr(translator.model, "step", never_end)
    text = " ".join(["cat"] * n_words)
    for beam_width in (1, 2):
        written = translator.translate([text, "the red cat"], beam_width=beam_width)[0].split()
        assert written == [translator.target.tokens[word]] * (2 * n_words + 10)
