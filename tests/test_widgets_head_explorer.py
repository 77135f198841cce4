"""HeadExplorer in Python: what is stored, what the page gets of it, and the model's own weights."""

import json
import re

import numpy as np
import pytest
import torch

from attn_course.widgets import HeadExplorer, _source
from attn_course.widgets.head_explorer import triangle
from experiments import head_weights

STORED = _source.attended()


def state(widget):
    text = re.search(r'<script type="application/json">(.*?)</script>', widget._html())[1]
    return json.loads(text)


@pytest.mark.parametrize("name", head_weights.SENTENCES)
def test_what_is_stored_are_causal_weights_of_the_sentences_of_the_benchmark(name):
    language, sentence, exchanged, *ends = head_weights.SENTENCES[name]
    about = STORED[name]
    assert (about["language"], about["next"]) == (language, ends)
    assert ["".join(tokens) for tokens in about["tokens"]] == [sentence, exchanged]
    n = len(about["tokens"][0])
    differ = [i for i in range(n) if about["tokens"][0][i] != about["tokens"][1][i]]
    assert about["changed"] == differ
    for version, first in enumerate(about["from"]):
        weights = triangle(about, version)
        assert weights.shape == (30 - first, 9, n, n)
        np.testing.assert_allclose(weights.sum(axis=-1), 1, atol=n / 2 / 255 + 1e-9)
        assert np.triu(weights, 1).max() == 0
        # Attention is causal, so tokens before the exchanged word have the same weights.
        before = slice(0, min(differ))
        same = triangle(about)[first:, :, before]
        np.testing.assert_array_equal(weights[:, :, before], same)


def test_all_that_is_stored_is_small():
    files = list(head_weights.FOLDER.glob("*.json"))
    assert {path.stem for path in files} == set(head_weights.SENTENCES) == set(STORED)
    assert sum(path.stat().st_size for path in files) < 1_500_000


def test_the_model_itself_has_these_weights(needed):
    from attn.pretrained import load

    model, tokenizer = load(needed("smollm2"))
    # This sentence is the shortest.
    name = "queen"
    measured = head_weights.measured(model, tokenizer, *head_weights.SENTENCES[name])
    stored = STORED[name]
    for version in range(len(stored["from"])):
        np.testing.assert_allclose(
            triangle(measured, version), triangle(stored, version), atol=1.1 / 255
        )
    np.testing.assert_allclose(measured["probabilities"], stored["probabilities"], atol=2e-3)


def test_a_patch_before_the_first_layer_is_the_other_sentence(monkeypatch):
    from attn.transformer import DecoderOnly, TransformerConfig

    class Letters:
        encode = staticmethod(lambda text: [ord(letter) - ord("a") for letter in text])
        decode = staticmethod(lambda ids: "".join(chr(i + ord("a")) for i in ids))

    torch.manual_seed(0)
    sizes = {"vocab_size": 26, "d_model": 16, "n_heads": 2, "n_layers": 3, "d_ff": 32}
    model = DecoderOnly(TransformerConfig(**sizes, dropout=0.0, norm="pre")).eval()
    monkeypatch.setattr(head_weights, "LAYERS", (0, 2))
    found = head_weights.measured(model, Letters, "en", "abcde", "axcye", "b", "c")
    assert (found["changed"], found["from"]) == ([1, 3], [0, 0, 0, 2])
    clean, exchanged, all_patched, last = (triangle(found, version) for version in range(4))
    np.testing.assert_array_equal(all_patched, clean)
    assert found["probabilities"][2] == found["probabilities"][0] != found["probabilities"][1]
    assert not np.allclose(exchanged, clean, atol=2 / 255)
    # The last layer reads vectors some of which the exchanged words have already changed.
    assert not np.allclose(last, clean[2:], atol=2 / 255)
    with torch.no_grad():
        _, weights = model(torch.tensor([Letters.encode("axcye")]), need_weights=True)
    np.testing.assert_allclose(exchanged, torch.cat(weights), atol=0.51 / 255)
    with pytest.raises(ValueError, match="exchanged: expected others, as many tokens"):
        head_weights.measured(model, Letters, "en", "abcde", "abcd", "b", "c")


def test_the_page_gets_one_head_and_loads_the_rest():
    widget = HeadExplorer("cats", layer=4, head=2, language="en")
    found = state(widget)
    assert found.keys() == {"sentences", "sentence", "layer", "head", "example", "language"}
    assert found["example"]["tokens"] == STORED["cats"]["tokens"][0]
    weights = triangle(STORED["cats"])[3, 1]
    np.testing.assert_allclose(found["example"]["weights"], weights, atol=1e-4)
    assert [one["name"] for one in found["sentences"]] == HeadExplorer.names()
    assert widget.trained["cats"] == STORED["cats"]
    script = _source.model_scripts()["attended_cats.js"]
    assert json.loads(script.split(" = ", 1)[1].rstrip(";\n"))["tokens"] == STORED["cats"]["tokens"]


@pytest.mark.parametrize("language", ["es", "en"])
def test_the_fallback_is_the_table_of_one_head(language):
    fallback = HeadExplorer("cats", layer=4, head=2, language=language)._fallback()
    weights = triangle(STORED["cats"])[3, 1]
    expected = [f"{x:.2f}" for i, row in enumerate(weights) for x in row[: i + 1]]
    assert re.findall(r"<td>(\d\.\d\d)</td>", fallback) == expected
    assert {"es": "capa 4, cabeza 2", "en": "layer 4, head 2"}[language] in fallback
    assert "The cat that chased the mouse" in fallback


@pytest.mark.parametrize(
    "arguments, message",
    [
        ({"sentence": "dog"}, "sentence: expected 'door' or"),
        ({"sentence": "cats", "layer": 31}, "layer: expected a whole number from 1 to 30, got 31"),
        ({"sentence": "cats", "head": 0}, "head: expected a whole number from 1 to 9, got 0"),
        ({"sentence": "cats", "language": "fr"}, "language: expected one of"),
    ],
)
def test_what_it_refuses(arguments, message):
    with pytest.raises(ValueError, match=re.escape(message)):
        HeadExplorer(**arguments)
