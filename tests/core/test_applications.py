"""What every application does alike: train from a seed, keep the history, come back to the CPU."""

import dataclasses

import numpy as np
import pytest
import torch
from torch import nn

from attn.applications import (
    _application,
    _sequences,
    question_answering,
    summarization,
    translation,
    visual_question,
)
from attn.applications._application import Application
from attn.corpus import Pair
from attn.tokenizer import WordTokenizer
from attn.training import History, TrainingConfig
from tests.core.other_device import DEVICE, OtherDevice, OtherTensor

ONE_STEP = TrainingConfig(steps=1, device="cpu")


@dataclasses.dataclass
class Seen:
    image: np.ndarray
    question: str
    answer: str


def fit(name):
    """Train one application for one step, on one or two examples."""
    if name == "translation":
        pairs = [Pair("the red house", "la casa roja"), Pair("a cat", "un gato")]
        return translation.Translator.fit(pairs, training=ONE_STEP)
    if name == "question_answering":
        examples = [("The sky is blue.", "What is blue?", "sky", 1)] * 5
        return question_answering.QuestionAnswerer.fit(examples, training=ONE_STEP)
    if name == "summarization":
        examples = [("A storm hit Lima.", "Storm hits Lima"), ("Schools closed.", "Schools close")]
        return summarization.Summarizer.fit(examples, training=ONE_STEP)
    examples = [Seen(np.zeros((48, 48, 3), np.uint8), "Is there a ball?", "no")]
    return visual_question.VisualQuestionAnswerer.fit(examples, training=ONE_STEP)


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
    written = translator.translate(" ".join(["cat"] * n_words)).split()
    assert written == [translator.target.tokens[word]] * (2 * n_words + 10)
