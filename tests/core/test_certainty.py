"""The probabilities that a translator gives its words, and their stored calibration."""

import json

import numpy as np
import pytest
import torch

from attn.__main__ import main
from attn.applications import models
from attn.applications.translation import Translation, Translator
from attn.applications.translation.certainty import (
    FITTED,
    calibrated,
    logit,
    word_chances,
    words_of,
)

STORED = json.loads(FITTED.read_text(encoding="utf-8"))


@pytest.fixture(scope="module")
def translator():
    return Translator.pretrained("tatoeba")


@torch.no_grad()
def test_the_probability_of_a_word_is_the_product_over_its_tokens(translator):
    """Each token's probability is computed step by step, and its letters tell its word."""
    texts = ["The cat sat on the mat.", "Meg paid $3,500.", "I left it there."]
    sources = [translator.source_ids(text) for text in texts]
    written = translator._write(sources)
    for source, ids, found in zip(
        sources, written, word_chances(translator, sources, written), strict=True
    ):
        said, wanted, word = [translator.target.sos_id], [], ""
        for i in ids[:-1]:
            logits, _ = translator.model(torch.tensor([source]), torch.tensor([said]))
            p = logits[0, -1].double().softmax(0)[i].item()
            said.append(i)
            letters = translator.target.decode([i])
            if any(c.isalnum() for c in letters):
                if not word or not letters[0].isalnum():
                    wanted.append(1.0)
                wanted[-1] *= p
            word = letters[-1:] if letters[-1:].isalnum() else ""
        np.testing.assert_allclose(found, wanted, rtol=1e-4)
        assert len(found) == len(words_of(translator.target.decode(ids)))


@pytest.mark.parametrize(
    ("name", "language", "first", "last"),
    [
        ("tatoeba", "en", "The cat sat on the mat.", "Where is it?"),
        ("tatoeba_es", "es", "El gato se sentó en la silla.", "¿Dónde está?"),
    ],
)
def test_each_word_of_a_text_has_its_calibrated_probability(name, language, first, last):
    translator, text = Translator.pretrained(source_language=language), f"{first}\n{last}"
    found = translator.translation(text)
    assert found.text == translator.translate(text)
    assert len(found.word_probabilities) == len(found.words) > 7
    (source,) = [translator.source_ids(last)]
    (own,) = word_chances(translator, [source], translator._write([source]))
    expected = calibrated(own, *STORED["fitted"][name])
    np.testing.assert_allclose(found.word_probabilities[-len(own) :], expected, rtol=1e-4)
    folder = models.translator_folder("tatoeba", language)
    assert Translator.load(folder)._calibration == (1.0, 0.0)


def test_attention_marks_the_tokens_of_guessed_words(translator):
    text = "The owl is asleep."
    said, looked = translator.translation(text), translator.attention(text)
    assert looked.target == ["El", " a", "ce", "ite", " está", " dorm", "ido", ".", "<eos>"]
    el, aceite, is_, asleep = said.word_probabilities
    expected = [el, aceite, aceite, aceite, is_, asleep, asleep, 1, 1]
    np.testing.assert_allclose(looked.probabilities, expected, rtol=1e-4)
    assert looked.guessed == [p < 0.5 for p in expected] and sum(looked.guessed) == 3


def test_marks_are_put_directly_after_words():
    found = Translation("¿Qué? ¡3 días!", [0.2, 0.9, 0.49])
    assert found.marked() == "¿Qué[?]? ¡3 días[?]!"
    assert found.marked(below=0.0) == found.text and found.words == ["Qué", "3", "días"]


def test_the_command_marks_improbable_words(tmp_path, capsys):
    path = tmp_path / "lines.txt"
    path.write_text("The owl is asleep.\n\n")
    marked = "El aceite[?] está dormido.\n"
    assert main(["translate", "--mark-guessed", "The owl is asleep."]) == 0
    assert capsys.readouterr().out == marked
    assert main(["translate", "--mark-guessed", "--file", str(path)]) == 0
    assert capsys.readouterr().out == marked + "\n"


def test_a_calibration_is_linear_in_the_logit():
    chances = np.array([0.01, 0.3, 0.5, 0.99])
    np.testing.assert_allclose(logit(calibrated(chances, 0.7, 0.2)), 0.7 * logit(chances) + 0.2)
    assert np.isfinite(calibrated(np.array([0.0, 1.0]), 2.0, 0.0)).all()


def test_the_stored_calibration_error_is_small():
    """The calibration error is at most .05 on sentences on which nothing was fitted."""
    assert STORED["measured"].keys() == STORED["fitted"].keys() == {"tatoeba", "tatoeba_es"}
    for told in (one for tests in STORED["measured"].values() for one in tests.values()):
        assert told["error"] <= 0.05 and told["error"] <= told["error before"]
        assert told["words"] > 2000 and told["marked and right"] < 0.5 < told["unmarked and right"]
