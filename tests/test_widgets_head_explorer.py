"""HeadExplorer in Python: what is stored, what the page gets of it, and the model's own weights."""

import json
import re

import numpy as np
import pytest
import torch

from attn_course.widgets import HeadExplorer, _source
from attn_course.widgets._own_sentence import address_of, state_in
from attn_course.widgets.head_explorer import triangle
from experiments import head_weights

STORED = _source.attended()


def state(widget):
    text = re.search(r'<script type="application/json">(.*?)</script>', widget._html())[1]
    return json.loads(text)


@pytest.mark.parametrize("name", head_weights.SENTENCES)
def test_the_stored_weights_are_causal_and_of_the_benchmarks_sentences(name):
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


def test_the_stored_files_are_small():
    files = list(head_weights.FOLDER.glob("*.json"))
    assert {path.stem for path in files} == set(head_weights.SENTENCES) == set(STORED)
    assert sum(path.stat().st_size for path in files) < 1_500_000


def test_the_model_itself_has_these_weights(smollm2):
    model, tokenizer = smollm2
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
def test_invalid_constructor_arguments_are_refused(arguments, message):
    with pytest.raises(ValueError, match=re.escape(message)):
        HeadExplorer(**arguments)


# A sentence that is not stored

STATES = [
    {"text": "The sky is", "other": "", "off": [], "keep": [], "patch": None, "head": None},
    {
        "text": "¿Qué & cómo? a+b",
        "other": "~*'(x)!=100%-_.",
        "off": [(1, 9), (30, 1)],
        "keep": [(24, 5), (2, 1)],
        "patch": (31, 3),
        "head": (26, 3),
    },
]


def test_python_and_the_page_write_and_read_the_same_urls(node):
    script = """import { addressOf, stateIn } from "./own_sentence.mjs";
    const there = (pair) => pair && pair.map((n) => n - 1);
    const others = ([layer, head]) => [1, 2, 3, 4, 5, 6, 7, 8, 9].filter((k) => k !== head).map((k) => [layer, k]);
    console.log(JSON.stringify(input.map(([state, address]) => [
      new URL(addressOf("https://a.b/c.html", { ...state, off: [...state.off, ...state.keep.flatMap(others)].map(there), head: there(state.head), view: "heads",
        patch: state.patch && { layer: state.patch[0] - 1, position: state.patch[1] - 1 } }, 9)).search,
      stateIn(address, { nLayers: 30, nHeads: 9 })])));"""
    addresses = [address_of(**state) for state in STATES]
    found = node(script, list(zip(STATES, addresses, strict=True)))
    for state, address, (theirs, read) in zip(STATES, addresses, found, strict=True):
        assert address == theirs
        assert state_in("https://a.b/c.html" + theirs + "#d") == state
        assert (read["text"], read["other"]) == (state["text"], state["other"])
        off = [(layer, k) for layer, head in state["keep"] for k in range(1, 10) if k != head]
        assert [(one + 1, two + 1) for one, two in read["off"]] == state["off"] + off
        if state["patch"]:
            assert (read["patch"]["layer"] + 1, read["patch"]["position"] + 1) == state["patch"]


@pytest.mark.parametrize(
    "address, message",
    [
        ("?a=b", "address: expected one with ?sentence=, got '?a=b'"),
        ("?sentence=a&off=2", "address, off: expected pairs such as 2.4, got '2'"),
        ("?sentence=a&off=2.４", "address, off: expected pairs such as 2.4, got '2.４'"),
        ("?sentence=a&beside=no", "address, beside: expected yes, got 'no'"),
        ("?sentence=a&view=x", "address, view: expected heads or carry or lens or dares, got 'x'"),
    ],
)
def test_invalid_urls_are_refused(address, message):
    with pytest.raises(ValueError, match=re.escape(message)):
        HeadExplorer.from_address(address)


def test_two_sentences_need_not_be_equally_long(node):
    """Python and the page find the weights of both in what is stored of them."""
    rng = np.random.default_rng(0)
    versions = [np.tril(rng.integers(1, 256, (2, 3, n, n))) for n in (2, 4, 4)]
    weights = [v[..., *np.tril_indices(v.shape[-1])].astype(np.uint8).tobytes() for v in versions]
    about = {"tokens": [["a", "b"], list("abcd")], "shape": [2, 3], "from": [0, 0, 0]}
    script = """import { unpack } from "./head_explorer.mjs";
    const found = unpack({ ...input, weights: Uint8Array.from(input.weights) });
    console.log(JSON.stringify([found.isEven, [0, 1, 2].map((version) =>
      [0, 1].map((layer) => [0, 1, 2].map((head) => found.at(version, layer, head))))]));"""
    is_even, found = node(script, about | {"weights": list(b"".join(weights))})
    assert not is_even
    for version, expected in enumerate(versions):
        np.testing.assert_allclose(found[version], expected / 255)
        got = triangle(about | {"weights": b"".join(weights)}, version)
        np.testing.assert_allclose(got, expected / 255)


@pytest.mark.slow
def test_a_figure_of_the_page_is_made_in_a_cell_and_goes_back(smollm2, node):
    """The same model with a hand in it, against hooks that are written here."""
    model, tokenizer = smollm2
    said = "?sentence=The+capital+of+Italy+is&other=The+capital+of+France+is&off=2.4-2.5&keep=24.5&patch=10.4&head=18.5"
    figure = HeadExplorer.from_address(f"https://a.b/en/13.html{said}&view=carry", language="en")
    assert figure.address == said
    assert state(figure)["address"] == said
    assert (figure.sentence, figure.layer, figure.head) == ("own", 18, 5)
    assert repr(HeadExplorer("door", language="en")).startswith("HeadExplorer('door'")
    about = figure.trained["own"]
    ids = torch.tensor(
        [tokenizer.encode(f"The capital of {place} is") for place in ("Italy", "France")]
    )
    kept = []

    def carry(layer, inputs):
        if len(kept) < 1:
            kept.append(inputs[0].clone())
            return None
        x = inputs[0].clone()
        x[0, 3] = kept[0][0, 3]
        return (x, *inputs[1:])

    def silence(_, inputs):
        x = inputs[0].clone()
        x[..., 3 * 64 : 5 * 64] = 0
        return (x, *inputs[1:])

    def leave_one(_, inputs):
        x = torch.zeros_like(inputs[0])
        x[..., 4 * 64 : 5 * 64] = inputs[0][..., 4 * 64 : 5 * 64]
        return (x, *inputs[1:])

    with torch.no_grad():
        untouched = [model(each[None], need_weights=True) for each in ids]
        hook = model.stack.layers[9].register_forward_pre_hook(carry)
        model(ids[:1])
        off = model.stack.layers[1].self_attention.out_proj.register_forward_pre_hook(silence)
        one = model.stack.layers[23].self_attention.out_proj.register_forward_pre_hook(leave_one)
        hand = model(ids[1:], need_weights=True)
        hook.remove()
        off.remove()
        one.remove()
    for version, (logits, weights) in enumerate([*untouched, hand]):
        expected = torch.cat(weights)
        np.testing.assert_allclose(triangle(about, version), expected, atol=0.51 / 255)
        p = logits[0, -1].softmax(dim=-1)
        chances = [p[tokenizer.encode(token)[0]] for token in about["next"]]
        np.testing.assert_allclose(about["probabilities"][version], chances, atol=1e-4)
    assert " Rome" in about["next"] and " Paris" in about["next"]
    script = """import { spoken } from "./own_sentence.mjs";
    console.log(JSON.stringify(spoken("en", input)));"""
    told = node(script, {name: x for name, x in about.items() if name != "weights"})
    assert told["labels"] == ["Your sentence", "The other one", "With your hand"]
    assert told["notes"][2].startswith(
        "Switched off: 2.4, 2.5. They hand over zeros. Of layer 24 head 5 alone is left: the "
        "others hand over zeros. On entering layer 10"
    )
    uneven = HeadExplorer.of("The sky", "The sky is", language="en").trained["own"]
    assert uneven["changed"] == []
    with torch.no_grad():
        weights = torch.cat(
            model(torch.tensor([tokenizer.encode("The sky is")]), need_weights=True)[1]
        )
    np.testing.assert_allclose(triangle(uneven, 1), weights, atol=0.51 / 255)
    for arguments, message in (
        ({"text": ""}, "text: expected at least one token, got none"),
        ({"text": "a", "other": "a"}, "other: expected another text, got 'a'"),
        (
            {"text": "a", "other": "a b c", "patch": (1, 1)},
            "patch: expected another text of 1 tokens to carry the vector to, got 3 tokens",
        ),
        ({"text": "a", "off": [(31, 1)]}, "off: expected a whole number from 1 to 30, got 31"),
        ({"text": "a", "keep": [(1, 10)]}, "keep: expected a whole number from 1 to 9, got 10"),
        (
            {"text": "a", "keep": [(2, 5), (2, 6)]},
            "keep: expected one head of a layer, got [(2, 5)",
        ),
        ({"text": "a", "patch": (1, 1)}, "patch: expected another text to carry the vector to"),
    ):
        with pytest.raises(ValueError, match=re.escape(message)):
            HeadExplorer.of(**arguments)
