"""The numbers of the opening page against PyTorch and NumPy, and those of the page's JavaScript."""

import json
import re
from pathlib import Path
from types import SimpleNamespace

import nbformat
import numpy as np
import pytest
import torch

from attn import reference
from attn.applications.models import TRANSLATOR, translator_folder
from attn.applications.translation import Translator
from attn.decoding import next_token_probabilities
from attn_course.journey import COMPONENTS, journey, word_in_question

ROOT = Path(__file__).resolve().parents[1]
SENTENCES = {
    "en": [
        "The white house is very old.",
        "John and Paul wrote several songs when they were inspired.",
        "No.",
        "Do you know the naïve café in Zürich?",
    ],
    "es": ["Ayer compramos una mesa blanca.", "¿Conoces el café de Zürich?"],
}


@pytest.fixture(scope="module", params=SENTENCES)
def translator(request):
    """A translator in each direction: each edition starts with a sentence in its own language."""
    translator = Translator.pretrained(source_language=request.param)
    translator.model.double()
    return translator


@pytest.fixture(scope="module")
def stored():
    """The state of the widget in each edition of the opening page."""
    found = {}
    for language in ("es", "en"):
        notebook = nbformat.read(ROOT / "notebooks" / language / "index.ipynb", as_version=4)
        (output,) = [
            o
            for cell in notebook.cells
            for o in cell.get("outputs", ())
            if "live_machine" in o.data["text/html"]
        ]
        script = re.search(
            r'<script type="application/json">(.*?)</script>', output.data["text/html"]
        )
        found[language] = json.loads(script[1])
    return found


@torch.no_grad()
def test_the_example_of_the_opening_page_has_the_models_numbers(stored, translator):
    """The layers of the model are run one by one, and attention is computed with NumPy."""
    language = translator.source_language
    example, text = stored[language]["journey"], stored[language]["sentences"][0]
    assert text == SENTENCES[language][0]
    model = translator.model
    src = translator.source_ids(text)
    tgt = [2, *translator.target.encode(translator.translate(text)), 3]
    assert (example["source_ids"], example["target_ids"]) == (src, tgt[:-1])
    assert example["source"] == [translator.source.tokens[i] for i in src]
    assert example["target"] == [translator.target.tokens[i] for i in tgt[1:]]

    def assert_first(numbers, x):
        np.testing.assert_allclose(numbers, x[..., :COMPONENTS], atol=6e-5)

    table = model.src_embedding.tokens.weight * model.config.d_model**0.5
    x = table[src]
    assert_first(example["embeddings"]["source"], x)
    assert_first(example["embeddings"]["target"], table[tgt[:-1]])
    head, focus, other = (example[name] for name in ("head", "focus", "other"))
    for layer, told in zip(model.encoder.layers, example["encoder"], strict=True):
        attention, normed = layer.self_attention, layer.norm_1(x)
        projections = (attention.q_proj, attention.k_proj, attention.v_proj)
        query, key, value = (
            projection(normed).reshape(len(src), attention.n_heads, -1).transpose(0, 1)
            for projection in projections
        )
        query, key = attention.relative.rotate(query, key, 0)
        heads, weights = reference.scaled_dot_product_attention(
            query.numpy(), key.numpy(), value.numpy()
        )
        np.testing.assert_allclose(told["weights"], weights.mean(axis=0), atol=6e-5)
        output = attention.out_proj(torch.tensor(heads).transpose(0, 1).reshape(len(src), -1))
        x = x + output
        assert_first(told["attention"], x)
        x = x + layer.feed_forward(layer.norm_2(x))
        assert_first(told["feed_forward"], x)
    inside = example["inside"]
    assert_first(inside["query"], query[head, focus])
    assert_first(inside["key"], key[head])
    assert_first(inside["value"], value[head])
    assert_first(inside["mean"], heads[head, focus])
    assert_first(inside["output"], output[focus])
    np.testing.assert_allclose(inside["weights"], weights[head, focus], atol=6e-5)
    np.testing.assert_allclose(reference.softmax(inside["scores"]), inside["weights"], atol=2e-4)
    assert inside["weights"][other] == max(inside["weights"])
    memory = model.encoder.norm(x)
    assert_first(example["memory"], memory)
    logits, (own, cross) = model.decode(torch.tensor(tgt[:-1]), memory, need_weights=True)
    for name, found in (("own", own), ("cross", cross)):
        np.testing.assert_allclose(example[name], torch.stack(found).mean(dim=(0, 1)), atol=6e-5)
    probabilities = next_token_probabilities(logits)
    for best, row, shares, said in zip(
        example["best"], logits, probabilities, tgt[1:], strict=True
    ):
        order = row.argsort(descending=True)[:5].tolist()
        assert order[0] == said
        assert [token for token, *_ in best] == [translator.target.tokens[i] for i in order]
        np.testing.assert_allclose([x for _, x, _ in best], row[order], atol=6e-5)
        np.testing.assert_allclose([p for *_, p in best], shares[order], atol=6e-5)


def test_the_text_of_the_spanish_page_describes_its_example(stored):
    """The text tells the reader where to look; the example must show what it says."""
    example = stored["es"]["journey"]
    read, written = ([t.strip() for t in example[side]] for side in ("source", "target"))
    assert read == ["Ayer", "compr", "amos", "una", "mesa", "bl", "an", "ca", "."]
    assert written[:6] == ["We", "bought", "a", "white", "table", "yesterday"]
    cross = {
        word: dict(zip(read, row, strict=True))
        for word, row in zip(written, example["cross"], strict=True)
    }
    most = {word: max(row, key=row.get) for word, row in cross.items()}
    assert most["bought"] == "compr" and cross["bought"]["compr"] > 0.5
    assert cross["We"]["Ayer"] == pytest.approx(cross["We"]["amos"], abs=0.02)
    assert cross["yesterday"]["."] > cross["yesterday"]["Ayer"] > 0.3
    assert (most["white"], most["table"]) == ("bl", "mesa")
    assert (read[example["focus"]], read[example["other"]]) == ("bl", "una")
    assert example["inside"]["weights"][example["other"]] > 0.9


def test_the_page_finds_the_same_numbers(node, translator):
    files = translator_folder(TRANSLATOR, translator.source_language)
    sentences = SENTENCES[translator.source_language]
    found = node(
        """
        import { journey, stepsOf, loadTransformer, BytePairTokenizer } from "./live_machine.mjs";
        const vocabulary = new BytePairTokenizer(JSON.parse(readFileSync(`${input.folder}/vocabulary.json`, "utf8")));
        const transformer = loadTransformer(new Uint8Array(readFileSync(`${input.folder}/model.safetensors`)));
        const all = input.sentences.map((text) =>
          journey({ transformer, source: vocabulary, target: vocabulary }, vocabulary.encode(text)));
        console.log(JSON.stringify(all.map((numbers) => ({ numbers, steps: stepsOf(numbers) }))));
        """,
        {"folder": str(files), "sentences": sentences},
    )
    for text, page in zip(sentences, found, strict=True):
        expected = journey(translator, text)
        assert page["numbers"].keys() == expected.keys()
        compare(page["numbers"], expected, text)
        kinds = [step["kind"] for step in page["steps"]]
        n_words = len(expected["target"])
        assert kinds[:3] == ["tokens", "embeddings", "positions"] and kinds[-1] == "stop"
        assert kinds.count("word") == n_words - 1 and kinds.count("causal") == n_words


def compare(page, python, place):
    """Compare two journeys, number by number; the page computes in float32."""
    if isinstance(python, dict):
        for name, part in python.items():
            compare(page[name], part, f"{place} {name}")
    elif isinstance(python, list):
        assert len(page) == len(python), place
        for i, part in enumerate(python):
            compare(page[i], part, f"{place} {i}")
    elif isinstance(python, float):
        assert page == pytest.approx(python, abs=3e-3), place
    else:
        assert page == python, place


def test_the_word_in_question_begins_a_word_and_attends_to_another():
    weights = np.zeros((2, 4, 4))
    weights[0, 0, 0] = weights[0, 1, 2] = weights[1, 3, 0] = 0.9  # itself; part of a word; a mark
    weights[1, 2, 0] = 0.5
    assert word_in_question(weights, ["The", "re", " cat", "."]) == (1, 2, 0)
    assert word_in_question(np.eye(2)[None, ::-1], ["¿", "?"]) == (0, 0, 1)


def test_a_model_of_another_kind_is_refused():
    config = SimpleNamespace(positions="sinusoidal", norm="post")
    other = SimpleNamespace(model=SimpleNamespace(config=config))
    with pytest.raises(ValueError, match=r"translator: expected .* got sinusoidal and post"):
        journey(other, "The red house")
