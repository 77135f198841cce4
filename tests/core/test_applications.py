"""Behaviour shared by all applications: training from a seed, history, devices, refusals."""

import copy
import dataclasses
import functools
import json
import os
import re
import signal

import numpy as np
import pytest
import torch

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
from attn.applications.summarization import summarizer
from attn.applications.translation import facts
from attn.corpus import Pair
from attn.io import write_whole
from attn.tokenizer import WordTokenizer
from attn.training import History, TrainingConfig
from tests.core.other_device import DEVICE, OtherDevice

ONE_STEP = TrainingConfig(steps=1, device="cpu")


@dataclasses.dataclass
class Seen:
    image: np.ndarray
    question: str
    answer: str
    kind: str
    asked: np.ndarray


IMAGE = np.zeros((48, 48, 3), np.uint8)
APPLICATIONS = {
    "translation": translation.Translator,
    "question_answering": question_answering.QuestionAnswerer,
    "summarization": summarization.Summarizer,
    "visual_question": visual_question.VisualQuestionAnswerer,
}
EXAMPLES = {
    "translation": [Pair("the red house", "la casa roja"), Pair("a cat", "un gato")],
    "question_answering": [("The sky is blue.", "What is blue?", "sky", 1)] * 5,
    "summarization": [
        ("A storm hit Lima.", "Storm hits Lima"),
        ("Schools closed.", "Schools close"),
    ],
    "visual_question": [
        Seen(IMAGE, "Is there a ball?", answer, "exists", np.eye(6, dtype=bool))
        for answer in ("no", "no", "yes")
    ],
}


def fit(name, examples=None, **options):
    """Train one application for one step, on a few examples if none are given."""
    examples = EXAMPLES[name] if examples is None else examples
    return APPLICATIONS[name].fit(examples, **{"training": ONE_STEP, **options})


@functools.cache
def fitted(name):
    """Return one fitted application, shared by all tests that do not change it."""
    return fit(name)


every_application = pytest.mark.parametrize("name", APPLICATIONS)


@every_application
def test_training_depends_on_the_seed_and_keeps_the_history(name):
    torch.manual_seed(7)
    expected = torch.rand(3)
    torch.manual_seed(7)
    first = fit(name)
    assert torch.equal(torch.rand(3), expected)
    second = fit(name)
    assert weights(first) == weights(second)
    assert len(first.history.losses) == 1 and first.history == second.history
    assert weights(fit(name, training=dataclasses.replace(ONE_STEP, seed=1))) != weights(first)


@every_application
def test_sizes_and_label_smoothing_are_used_and_fit_returns_evaluation_mode(name):
    smoothed = dataclasses.replace(ONE_STEP, label_smoothing=0.5)
    losses = [fit(name, training=t).history.losses for t in (ONE_STEP, smoothed)]
    assert np.isfinite(losses).all() and losses[0] != losses[1]
    small = fit(name, sizes={"n_layers": 1, "dropout": 0.5})
    default = fitted(name).model.config
    assert small.model.config == dataclasses.replace(default, n_layers=1, dropout=0.5)
    assert sum(map(np.size, weights(small))) < sum(map(np.size, weights(fitted(name))))
    assert default.n_layers > 1 and default.d_model == 64 and not small.model.training


@pytest.mark.parametrize(
    "name, got",
    [
        ("loop", "/loop(: Symlink loop from .*)?"),  # the message depends on the version of Python
        ("x" * 300, "/x{300}: File name too long"),
        ("link to nowhere", "/no/where"),
    ],
)
def test_an_invalid_path_is_refused_with_a_readable_error(name, got, tmp_path):
    (tmp_path / "loop").symlink_to("loop")
    (tmp_path / "link to nowhere").symlink_to(tmp_path / "no" / "where")
    one = fitted("translation")
    message = f"^folder: expected a name in a folder that exists, got {re.escape(str(tmp_path))}"
    with pytest.raises(ValueError, match=message + got + "$"):
        one.save(tmp_path / name)
    with pytest.raises(ValueError, match="^folder: expected a folder of the format .* nothing$"):
        type(one).load(tmp_path / name)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["link to nowhere", "loop"]


def test_a_name_may_have_the_greatest_length_of_the_file_system(tmp_path):
    folder = tmp_path / ("x" * 255)
    for _ in range(2):
        fitted("translation").save(folder)
    assert translation.Translator.load(folder).translate("a cat") is not None
    assert [*tmp_path.iterdir()] == [folder]


def saved(tmp_path, kind="words"):
    """Save two translators one after the other in one folder, in which a user has files too."""
    folder = tmp_path / "model"
    old, new = (fit("translation", tokenizer=tokenizer) for tokenizer in ("words", kind))
    old.save(folder)
    (folder / "notes").mkdir()
    (folder / "notes" / "diary.txt").write_text("mine")
    (folder / "link").symlink_to("nowhere")
    (folder / "zebra.json").write_text("{}")
    return folder, old, new


@pytest.mark.parametrize("links", [True, False])
def test_other_files_in_a_folder_survive_a_save(links, tmp_path, monkeypatch):
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
def test_a_kill_while_saving_leaves_the_old_or_the_new_application(
    can_exchange, tmp_path, monkeypatch
):
    """The process is killed at each system call that changes a name."""
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


def test_an_old_folder_that_cannot_be_restored_is_named(tmp_path, monkeypatch):
    folder, *_ = saved(tmp_path)
    old = _folder._old(folder)
    folder.rename(old)
    monkeypatch.setattr(os, "rename", fail_with(13))
    with pytest.raises(ValueError, match=f"nothing; what it held is in {re.escape(str(old))}$"):
        translation.Translator.load(folder)


@pytest.mark.parametrize("kind", ["words", "bpe"])
def test_a_flipped_bit_in_any_file_is_refused(kind, tmp_path):
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


def test_a_folder_without_checksums_of_an_older_version_is_loaded(tmp_path):
    folder = tmp_path / "model"
    fitted = fit("translation")
    fitted.save(folder)
    about = json.loads((folder / "about.json").read_text())
    sums = {name: about.pop(name) for name in ("sha256", "sha256_of_this")}
    (folder / "about.json").write_text(json.dumps(about))
    assert weights(translation.Translator.load(folder)) == weights(fitted)
    for one in sums.items():  # a flipped bit in a key leaves one sum
        (folder / "about.json").write_text(json.dumps(about | dict([one])))
        with pytest.raises(ValueError, match="whose about.json is another$"):
            translation.Translator.load(folder)


def test_deeply_nested_json_is_refused(tmp_path):
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
def test_a_vocabulary_that_does_not_match_the_model_is_refused(name, tmp_path):
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
    """A text written anew from its words may have spaces that people do not write."""
    reader = fit("question_answering")
    found = question_answering.Answer("U. S.", 1, 5, 1.0)
    monkeypatch.setattr(reader, "_answer", lambda encoded: [found])
    scores = reader.evaluate([("The U.S. sold it", "Who sold it?", "U.S.", 1)])
    assert scores["exact_match"] == 1
    writer = fit("summarization")
    monkeypatch.setattr(writer, "_generate", lambda texts: ["U. S. storm"])
    scores = writer.evaluate([("A storm hit the U.S. coast.", "U.S. storm")])
    assert scores["exact_match"] == 1 and scores["generate"]["rouge1"] == 1


def test_the_target_of_a_link_is_replaced_and_not_the_link(tmp_path):
    fitted = fit("translation")
    fitted.save(tmp_path / "one")
    (tmp_path / "link").symlink_to("one", target_is_directory=True)
    fitted.save(tmp_path / "link", quantised=True)
    assert (tmp_path / "link").is_symlink()
    assert sorted(path.name for path in tmp_path.iterdir()) == ["link", "one"]
    assert type(fitted).load(tmp_path / "one").model is not None


@every_application
def test_weights_are_loaded_exactly_or_rounded(name, tmp_path):
    one = fitted(name)
    for folder, quantised in (("exact", True), ("exact", False), ("rounded", True)):
        one.save(tmp_path / folder, quantised=quantised)
    exact, rounded = (type(one).load(str(tmp_path / kind)) for kind in ("exact", "rounded"))
    assert exact.history is None and not exact.model.training
    assert_alike(ask(exact), ask(one), tolerance=0)
    assert exact._vocabularies() == one._vocabularies() and exact._about() == one._about()
    assert weights(exact) == weights(one)
    for ours, theirs in zip(one.model.parameters(), rounded.model.parameters(), strict=True):
        torch.testing.assert_close(ours, theirs, rtol=0, atol=0.05)
    sizes = [(tmp_path / kind / one._model_file).stat().st_size for kind in ("exact", "rounded")]
    assert sizes[1] < 0.5 * sizes[0]
    assert sorted(path.name for path in tmp_path.iterdir()) == ["exact", "rounded"]


@every_application
def test_a_folder_of_another_kind_is_neither_loaded_nor_replaced(name, tmp_path):
    one, folder = fitted(name), tmp_path / "one"
    (tmp_path / "diary.txt").write_text("mine")
    wanted = f"^folder: expected a folder of the format '{one._format}', got "
    with pytest.raises(ValueError, match=f"{wanted}.*, which holds nothing$"):
        type(one).load(folder)
    for use in (type(one).load, one.save):
        with pytest.raises(ValueError, match=f"{wanted}.*, which holds something else$"):
            use(tmp_path)
    assert (tmp_path / "diary.txt").read_text() == "mine"
    with pytest.raises(ValueError, match="^folder: expected a name in a folder that exists"):
        one.save(folder / "inner")
    one.save(folder)
    for path in sorted(folder.iterdir()):
        content = path.read_bytes()
        for damage in (b"", content[: len(content) // 2], b"damaged", None):
            path.unlink()
            if damage is not None:
                path.write_bytes(damage)
            with pytest.raises(ValueError, match="expected") as caught:
                type(one).load(folder)
            if path.suffix == ".safetensors" and damage is not None:
                kind = type(one.model).__name__
                assert str(caught.value).startswith(f"path: expected a checkpoint of {kind}, got")
            path.write_bytes(content)
    about = json.loads((folder / "about.json").read_text())
    (folder / "about.json").write_text(json.dumps(about | {"format": "attn other 1"}))
    with pytest.raises(ValueError, match=wanted):
        type(one).load(folder)


@pytest.mark.parametrize(
    "name, field, wrong, message",
    [
        ("translation", "tokenizer", "letters", "tokenizer: expected 'words' or 'bpe', got 'let"),
        ("translation", "max_len", None, "max_len: expected an integer, got None"),
        ("question_answering", "marks_question_words", None, "folder: expected marks_question_wor"),
        ("visual_question", "answers", 17, "folder: expected a model with the words and answers"),
        ("visual_question", "answers", ["no"], "folder: expected a model with the words"),
        ("visual_question", "answers", None, "folder: expected a model with the words and answer"),
    ],
)
def test_the_entries_of_about_json_are_checked(name, field, wrong, message, tmp_path):
    one, about = fitted(name), tmp_path / "one" / "about.json"
    one.save(tmp_path / "one")
    about.write_text(json.dumps(json.loads(about.read_text()) | {field: wrong}))
    with pytest.raises(ValueError, match=f"^{re.escape(message)}"):
        type(one).load(tmp_path / "one")


def told_to_train(monkeypatch, fit, *arguments, **options):
    """Return the examples and the options that `attn.training.train` is called with."""
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
def test_training_gets_the_length_of_each_example(name, lengths, monkeypatch):
    examples, options = told_to_train(monkeypatch, fit, name)
    assert [options["length"](example) for example in examples] == lengths
    assert options["validation"] is options["checkpoint"] is None


def test_a_question_about_an_image_begins_with_sos(monkeypatch):
    [(image, ids, answer), *_], _ = told_to_train(monkeypatch, fit, "visual_question")
    assert image.shape == (48, 48, 3) and answer == 0
    assert len(ids) == 6 and ids[0] == WordTokenizer.sos_id


def test_training_gets_the_validation_the_checkpoint_and_the_report(monkeypatch, tmp_path):
    said = []
    examples, options = told_to_train(
        monkeypatch,
        fit,
        "translation",
        validation=EXAMPLES["translation"][1:],
        checkpoint=tmp_path,
        report=said.append,
    )
    assert options["validation"] == examples[1:] and options["checkpoint"] == tmp_path
    assert options["report"] == said.append


def test_batches_hold_texts_of_similar_length(monkeypatch):
    assert len(list(_sequences.by_length(["a"] * 100))) == 1
    monkeypatch.setattr(_sequences, "SEQUENCES_AT_A_TIME", 2)
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


def ask(application):
    """Yield the results of all public methods of an application, for one or two inputs each."""
    if isinstance(application, translation.Translator):
        pairs = [Pair("cat", "gato"), Pair("a", "la roja")]
        texts = [pair.source for pair in pairs]
        yield application.translate(texts)
        yield from application.attention(texts[0])
        yield application.attention(texts[0], "un gato").cross
        yield from application.evaluate(pairs, beam_width=2).values()
        yield facts.predictions(application, pairs[0])
        yield list(translation.translate_lines(application, texts))
    elif isinstance(application, question_answering.QuestionAnswerer):
        told = ("The sky is blue.", "What is blue?", "sky", 1)
        yield from application.answer(*told[:2])
        yield from application.attention(*told[:2])
        yield from application.evaluate([told, ("It is.", "Who?", "", None)]).values()
    elif isinstance(application, summarization.Summarizer):
        text = "A storm hit Lima. Schools closed."
        yield application.generate(text)
        yield application.extract(text)
        yield from application.sentence_scores(text)
        yield from application.attention(text)
        yield from application.evaluate([(text, "Storm hits Lima")])["generate"].values()
    else:
        yield from application.answer(IMAGE, "Is there a ball?")
        yield from application.attention(IMAGE, "Is there a ball?")
        yield from application.evaluate(EXAMPLES["visual_question"][:2]).values()


def assert_alike(found, expected, tolerance=1e-5):
    for ours, theirs in zip(found, expected, strict=True):
        if isinstance(theirs, (np.ndarray, float)):
            np.testing.assert_allclose(ours, theirs, atol=tolerance)
        else:
            assert ours == theirs


@pytest.fixture
def other_device(monkeypatch):
    """A second device without float64, which decoding is told."""
    monkeypatch.setattr("attn.decoding.WITHOUT_FLOAT64", {DEVICE.type})
    # Operations on the other device are slow.
    monkeypatch.setattr(summarizer, "MAX_TOKENS", 4)
    with OtherDevice():
        yield DEVICE


@every_application
def test_it_computes_on_the_device_of_its_model_and_is_saved_as_from_the_cpu(
    name, tmp_path, other_device
):
    fitted = fit(name, sizes={"n_layers": 1})
    expected, weights = list(ask(fitted)), copy.deepcopy(fitted.model.state_dict())
    assert fitted.to(other_device) is fitted
    assert {p.device for p in fitted.model.parameters()} == {other_device}
    assert_alike(ask(fitted), expected)
    fitted.save(tmp_path / "there")
    # The model is moved directly, without a call to the application.
    fitted.model.to("cpu")
    assert_alike(ask(fitted), expected)
    again = type(fitted).load(tmp_path / "there")
    assert all(map(torch.equal, again.model.state_dict().values(), weights.values()))
    again = type(fitted).load(tmp_path / "there", device=other_device)
    assert {p.device for p in again.model.parameters()} == {other_device}
    assert again.to("auto") is again


@every_application
def test_it_is_loaded_onto_the_cpu_whatever_the_default_device(name, tmp_path, other_device):
    fitted = fit(name, sizes={"n_layers": 1})
    expected = list(ask(fitted))
    fitted.save(tmp_path / "one")
    torch.set_default_device(other_device)
    try:
        assert_alike(ask(type(fitted).load(tmp_path / "one")), expected)
    finally:
        torch.set_default_device(None)


def test_a_reader_on_any_device_takes_lengths_in_a_list(other_device):
    reader = fit("question_answering", sizes={"n_layers": 1}).model
    ids, roles = torch.tensor([[2, 5, 3, 5, 0]]), torch.tensor([[0, 0, 0, 2, 0]])
    with torch.no_grad():
        expected, _, _ = reader(ids, roles, [4])
        found, _, _ = reader.to(other_device)(ids.to(other_device), roles.to(other_device), [4])
    torch.testing.assert_close(found.cpu(), expected)


@every_application
def test_it_stays_on_the_device_where_it_was_trained(name, monkeypatch, other_device):
    def train(model, *_, **__):
        model.to(other_device)
        return History()

    monkeypatch.setattr(_application, "train", train)
    fitted = fit(name)
    assert {p.device for p in fitted.model.parameters()} == {other_device}


@every_application
@pytest.mark.parametrize("dtype", [torch.float64, torch.bfloat16, torch.float16])
def test_it_computes_in_the_precision_of_its_model(name, dtype):
    fitted = fit(name)
    expected = [x for x in ask(fitted) if isinstance(x, np.ndarray) and x.dtype.kind == "f"]
    fitted.model.to(dtype)
    arrays = [x for x in ask(fitted) if isinstance(x, np.ndarray) and x.dtype.kind == "f"]
    # NumPy has no bfloat16.
    wanted = np.float64 if dtype == torch.float64 else np.float32
    assert {array.dtype.type for array in arrays} == {wanted}
    for ours, theirs in zip(arrays, expected, strict=True):
        # The shapes differ if the model writes other words.
        if ours.shape == theirs.shape:
            np.testing.assert_allclose(ours, theirs, atol=1e-6 if wanted is np.float64 else 0.02)


@every_application
@pytest.mark.parametrize("device", ["cuda:99", "meta", "tpu", "", None, 1.5, torch.device("meta")])
def test_a_missing_device_is_refused(name, device, tmp_path):
    one = fitted(name)
    before = one.model.output.weight.device
    one.save(tmp_path / "one")
    message = f"^device: expected one that this machine has, got {re.escape(repr(device))}$"
    for use in (one.to, lambda device: type(one).load(tmp_path / "one", device=device)):
        with pytest.raises(ValueError, match=message):
            use(device)
    assert one.model.output.weight.device == before


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


LEARNED = {"positions": "learned", "n_layers": 1}


@pytest.mark.parametrize("beam_width", [1, 2])
def test_a_translation_is_no_longer_than_the_learned_positions(beam_width, monkeypatch):
    translator = fit("translation", sizes=LEARNED | {"max_len": 5})
    # The translator is made to behave as if it was trained on longer texts.
    translator.max_len = 100
    output, word = translator.model.output, torch.tensor([translator.target.vocab_size - 1])
    output.register_forward_hook(lambda _, __, logits: logits.index_fill(-1, word, 99.0))
    assert len(translator.translate("the red house", beam_width=beam_width).split()) == 5
    # The target is four words and the end token.
    assert len(translator.attention("cat").target) == 5
    message = "^text: expected at most 5 tokens, for which the model learned positions, got 6$"
    with pytest.raises(ValueError, match=message):
        translator.attention("the red house the red house")
    pieces = translator.pieces("the red house the red house")
    assert [len(piece.text.split()) for piece in pieces] == [5, 1]
    message = "^translation: expected at most 4 tokens, for which .* positions, got 5$"
    with pytest.raises(ValueError, match=message):
        translator.attention("cat", "la casa roja la casa")


@pytest.mark.parametrize(
    "name, most, message",
    [
        ("translation", 3, r"pairs\[0\].target: expected at most 2 tokens"),
        ("translation", 2, r"pairs\[0\].source: expected at most 2 tokens"),
        ("question_answering", 10, r"examples\[0\]: expected at most 10 tokens"),
        ("summarization", 3, r"examples\[0\], text: expected at most 3 tokens"),
        ("visual_question", 5, r"examples\[0\].question: expected at most 4 tokens"),
    ],
)
def test_training_refuses_examples_longer_than_the_positions(name, most, message):
    wanted = f"^{message}, for which the model learned positions, got "
    with pytest.raises(ValueError, match=wanted):
        fit(name, sizes=LEARNED | {"max_len": most})
    longest = {"translation": 4, "question_answering": 11, "summarization": 8, "visual_question": 6}
    assert list(ask(fit(name, sizes=LEARNED | {"max_len": longest[name]})))


@pytest.mark.parametrize(
    "name, ask, message",
    [
        (
            "question_answering",
            ("The sky is blue.", "Which of them is it?"),
            "context and question",
        ),
        ("summarization", ("A storm hit Lima. Schools closed.",), "text"),
        ("visual_question", (IMAGE, "Is there a ball? a"), "question"),
    ],
)
def test_a_text_longer_than_the_positions_is_refused(name, ask, message):
    longest = {"question_answering": 11, "summarization": 5, "visual_question": 6}
    fitted = fit(name, sizes=LEARNED | {"max_len": longest[name]})
    methods = [getattr(fitted, x, None) for x in ("answer", "generate", "extract", "attention")]
    for use in filter(None, methods):
        with pytest.raises(ValueError, match=f"^{message}: expected at most .* positions, got "):
            use(*ask)


@every_application
def test_examples_may_be_an_iterator(name):
    fitted = fit(name, (EXAMPLES[name][0] for _ in range(5)))
    listed = fit(name, [EXAMPLES[name][0]] * 5)
    for ours, theirs in zip(fitted.model.parameters(), listed.model.parameters(), strict=True):
        assert torch.equal(ours, theirs)
    scores = listed.evaluate(EXAMPLES[name][0] for _ in range(2))
    assert scores == listed.evaluate([EXAMPLES[name][0]] * 2)


@every_application
@pytest.mark.parametrize(
    "kind", ["text", "one", "number", "none", "texts", "triples", "other type"]
)
def test_invalid_examples_are_refused_by_fit_and_evaluate(name, kind):
    good = EXAMPLES[name][0]
    given, got = {
        "text": ("the red house", "'the red house'"),
        "one": (5, "5"),
        "number": ([good, 5], "5"),
        "none": (iter([]), "none"),
        "texts": ([good, "ab"], "'ab'"),
        "triples": ([good, ("a", "b", "c")], r"\('a', 'b', 'c'\)"),
        "other type": ([good, Pair(b"a", "b")], "Pair"),
    }[kind]
    argument = "pairs" if name == "translation" else "examples"
    place = "" if kind in ("text", "one", "none") else r"\[1\]"
    message = rf"^{argument}{place}: expected .*, got {got}"
    for use in (fitted(name).evaluate, lambda some: fit(name, some)):
        with pytest.raises(ValueError, match=message):
            use(given)


@every_application
@pytest.mark.parametrize("wrong", [["a list"], ("a", "tuple"), b"bytes", None, 5])
def test_a_text_is_a_string(name, wrong):
    """`translate` also takes a list of texts."""
    one = fitted(name)
    if name == "translation":
        uses = [lambda x: one.translate([x]), one.attention, one.source_ids]
        uses += [lambda x: one.attention("cat", x)] if wrong is not None else []
        uses += [] if wrong == ["a list"] else [one.translate]
    elif name == "question_answering":
        uses = [lambda x: one.answer(x, "Who?"), lambda x: one.answer("It is.", x)]
    elif name == "summarization":
        uses = [one.generate, one.extract, one.sentence_scores, summarization.lead]
    else:
        uses = [lambda x: one.answer(IMAGE, x)]
    for use in uses:
        with pytest.raises(ValueError, match="^[a-z]+: expected (a string|text), got "):
            use(wrong)


@every_application
def test_options_of_a_wrong_type_are_refused(name):
    with pytest.raises(ValueError, match="^training: expected a TrainingConfig, got dict$"):
        fit(name, training={"steps": 1})
    with pytest.raises(ValueError, match="^sizes: expected a dict, got str$"):
        fit(name, sizes="small")


def test_validation_pairs_are_checked_like_training_pairs():
    good = EXAMPLES["translation"][0]
    with pytest.raises(ValueError, match=r"^validation\[0\]: expected a pair .*, got 5$"):
        fit("translation", [good], validation=[5])
    with pytest.raises(ValueError, match="^validation: expected at least one pair .*, got none$"):
        fit("translation", [good], validation=iter([]))
    training = dataclasses.replace(ONE_STEP, validate_every=1)
    fitted = translation.Translator.fit([good], validation=iter([good]), training=training)
    assert len(fitted.history.validation) == 1


def test_a_single_value_in_place_of_several_is_refused():
    fitted = fit("translation")
    with pytest.raises(ValueError, match="^lines: expected several texts, got one$"):
        list(translation.translate_lines(fitted, "the red house"))
    looker = fit("visual_question")
    with pytest.raises(ValueError, match="^answers: expected a list of texts, got one text$"):
        type(looker)(looker.model, looker.tokenizer, "no")
    one = dataclasses.replace(EXAMPLES["visual_question"][0], asked=np.eye(5, dtype=bool))
    message = r"^examples\[0\].asked: expected shape \(6, 6\), got \(5, 5\)$"
    with pytest.raises(ValueError, match=message):
        looker.evaluate([one])
    for measure in (facts.alignment_errors, facts.polysemy, facts.agreement, facts.coreference):
        with pytest.raises(ValueError, match="^pairs: expected several, each a pair .*, got 'the"):
            measure(fitted, "the red house")
