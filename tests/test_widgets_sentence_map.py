"""MiniLM in the page against the layers and the tokenizer of `attn`, and the map that it draws.

A small BERT is drawn and packed as the build packs MiniLM. MiniLM itself is read where it is on the machine.
"""

import json
import re
import shutil
import sys
from pathlib import Path

import gguf as their_gguf
import numpy as np
import pytest
import torch
import transformers
from safetensors.torch import load_file, save_file

from attn.pretrained import gguf, load
from attn_course import everyday, minilm
from attn_course.widgets import SentenceMap
from experiments import interpret_contexts, interpret_sentences
from tests.core.test_pretrained import SIZES, draw, word_pieces
from tests.core.test_tokenizer_pretrained import HARD, TEXTS
from tests.refusals import refusals
from tests.test_widgets_llama import AWKWARD, SERVED

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "book" / "_ext"))

import attn_minilm
import attn_model

STORED = json.loads((ROOT / "notebooks" / "data" / "interpret.json").read_text(encoding="utf-8"))
SCRIPT = """
import { loadMinilm, meanOf } from "./minilm.mjs";
import { roomFor } from "./packed.mjs";
import { WordPieceTokenizer } from "./word_piece.mjs";
const file = readFileSync(input.path);
const room = roomFor(file.length, input.kernel && new WebAssembly.Module(readFileSync(input.kernel)));
room.bytes.set(file);
const model = loadMinilm(room);
const tokenizer = new WordPieceTokenizer(model.tokens);
const plain = (x) => (x?.map ? Array.from(x, plain) : x);
const print = (x) => console.log(JSON.stringify(x));
"""


@pytest.fixture(scope="module")
def tiny(tmp_path_factory):
    """Return the path of a packed BERT, the model in our layers with the same numbers, and its tokenizer."""
    folder, same = tmp_path_factory.mktemp("bert"), tmp_path_factory.mktemp("unpacked")
    config = transformers.BertConfig(**SIZES | {"intermediate_size": 64})
    draw(transformers.BertModel(config)).save_pretrained(folder)
    word_pieces().save(str(folder / "tokenizer.json"))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(attn_minilm, "VENDOR", tmp_path_factory.mktemp("vendor"))
        path = attn_minilm.packed(folder)
    _, tensors = gguf.read(path)
    weights = load_file(folder / "model.safetensors")
    for name, numbers in tensors.items():
        # A step is the largest number of a block divided by 127, and its scale has 11 bits.
        np.testing.assert_allclose(
            numbers, weights[name], atol=0.6 * float(weights[name].abs().max()) / 127
        )
        weights[name] = torch.tensor(np.array(numbers))
    save_file(weights, same / "model.safetensors")
    for name in ("config.json", "tokenizer.json"):
        shutil.copyfile(folder / name, same / name)
    return path, *load(same)


def test_another_reader_finds_the_same_numbers_in_the_packed_file(tiny):
    theirs = their_gguf.GGUFReader(tiny[0])
    _, ours = gguf.read(tiny[0])
    assert {one.name for one in theirs.tensors} == set(ours)
    for one in theirs.tensors:
        found = their_gguf.dequantize(one.data, one.tensor_type)
        np.testing.assert_array_equal(found.reshape(ours[one.name].shape), ours[one.name])


@pytest.mark.parametrize("way", ["plain", "kernel"])
@torch.no_grad()
def test_every_vector_is_that_of_our_layers(tiny, node, needed, way):
    path, model, tokenizer = tiny
    kernel = str(needed("packed_kernel")) if way == "kernel" else None
    texts = [text for text in TEXTS if tokenizer.encode(text)][:6]
    ids = [tokenizer.encode(text, sos=True, eos=True)[:40] for text in texts]
    script = "print(input.ids.map((ids) => plain(model.read(ids))));"
    found = node(SCRIPT + script, {"path": str(path), "kernel": kernel, "ids": ids})
    for some, streams in zip(ids, found, strict=True):
        x = model.embedding(torch.tensor([some]))
        expected = [x]
        for layer in model.encoder.layers:
            x, _ = layer(x)
            expected.append(x)
        np.testing.assert_allclose(streams, torch.cat(expected), rtol=1e-4, atol=1e-4)
        np.testing.assert_allclose(streams[-1], model.encode(torch.tensor([some]))[0][0], atol=1e-4)
    assert torch.cat(expected).std() > 0.3


def test_the_worker_compares_texts_or_a_word_in_them(tiny, node, tmp_path):
    path, model, tokenizer = tiny
    texts = [text for text in TEXTS if len(tokenizer.encode(text)) > 3]
    word = tokenizer.decode(tokenizer.encode(texts[1])[1:2])
    having = [i for i, text in enumerate(texts) if minilm.holds(tokenizer, text, word)]
    assert 0 < len(having) < len(texts)
    script = """
    import { sentenceModel } from "./minilm_worker.mjs";
    let told = [];
    const hear = sentenceModel((message) => told.push(message), () => new Promise(setImmediate));
    const say = async (message) => { await hear(message); return plain(told.splice(0)); };
    const { texts, word } = input;
    const found = { loaded: await say({ kind: "load", base, manifest: { bytes: file.length, parts: input.parts } }) };
    found.whole = await say({ kind: "compare", texts, turn: 3 });
    found.word = await say({ kind: "compare", texts, word });
    found.none = await say({ kind: "compare", texts, word: texts.join(" ") });
    found.bad = await say({ kind: "compare", texts: ["a\\ud800"] });
    found.long = await say({ kind: "compare", texts: [texts[0].repeat(900)] });
    const first = hear({ kind: "compare", texts: texts.map((text) => text + text) });
    hear({ kind: "stop" });
    await first;
    found.stopped = told.filter(({ kind }) => kind === "compared");
    print(found);
    server.close();"""
    given = {"path": str(path), "folder": str(tmp_path), "bytes": path.stat().st_size}
    given |= {"parts": attn_model.pack(path, tmp_path), "texts": texts, "word": word}
    found = node(SCRIPT + SERVED + script, given)
    assert found["loaded"][-1] == {"kind": "loaded", "isFast": False}
    *reading, whole = found["whole"]
    shares = [(i + 1) / len(texts) for i in range(len(texts))]
    assert [one["share"] for one in reading] == shares and whole["turn"] == 3
    (one,) = found["word"]
    assert whole["found"] == [*range(len(texts))] and one["found"] == having
    for asked, some, cosines in (("", texts, whole), (word, [texts[i] for i in having], one)):
        vectors = minilm.at_every_layer(model, tokenizer, some, asked)
        expected = vectors @ vectors.swapaxes(1, 2)
        np.testing.assert_allclose(cosines["cosines"], expected, atol=1e-4)
    assert found["none"][0]["found"] == [] and found["stopped"] == []
    assert "lone surrogate" in found["bad"][0]["why"]
    assert re.match(r"text: expected at most \d+ tokens, got", found["long"][0]["why"])
    with pytest.raises(ValueError, match="texts: expected the word"):
        minilm.at_every_layer(model, tokenizer, texts, word)


# MiniLM


@pytest.fixture(scope="module")
def real(needed):
    folder = needed("minilm")
    return attn_minilm.packed(folder), *load(folder)


def both_languages(n):
    pairs = everyday.everyday()
    pairs = pairs[:: len(pairs) // n][:n]
    return [text for pair in pairs for text in (pair.source, pair.target)]


@pytest.mark.slow
def test_ids_of_minilm_are_those_of_our_tokenizer(real, node):
    path, _, tokenizer = real
    lines = [*HARD, *TEXTS, *AWKWARD, *both_languages(100), "[CLS] a [SEP] [MASK]"]
    found = node(
        SCRIPT + "print(input.lines.map((line) => tokenizer.encode(line)));",
        {"path": str(path), "lines": lines},
    )
    for line, ids in zip(lines, found, strict=True):
        assert ids == tokenizer.encode(line), line


@pytest.mark.slow
def test_packed_minilm_gives_nearly_the_same_vectors(real, node, needed, record_property):
    """In eight bits: the cosine with the vector in full precision, at every layer, and those between texts."""
    path, model, tokenizer = real
    texts = [*both_languages(8), *AWKWARD, *TEXTS[:4]]
    script = """print(input.texts.map((text) => {
      const ids = [tokenizer.sosId, ...tokenizer.encode(text), tokenizer.eosId];
      return model.read(ids).map((rows) => plain(meanOf(rows)));
    }));"""
    given = {"path": str(path), "kernel": str(needed("packed_kernel")), "texts": texts}
    found = np.array(node(SCRIPT + script, given)).swapaxes(0, 1)
    expected = minilm.at_every_layer(model, tokenizer, texts)
    np.testing.assert_allclose(expected[-1], minilm.vectors(model, tokenizer, texts), atol=1e-6)
    cosines = (found * expected).sum(axis=-1)
    difference = np.abs(found @ found.swapaxes(1, 2) - expected @ expected.swapaxes(1, 2)).max()
    record_property("least cosine", float(cosines.min()))
    record_property("largest difference of cosines", float(difference))
    assert cosines.min() > 0.9995 and difference < 0.01


@pytest.mark.slow
def test_the_maps_are_as_stored(needed):
    needed("minilm")
    told = {}
    interpret_sentences.measure(told, lambda told: None)
    np.testing.assert_allclose(told["cosines"], STORED["sentences"]["cosines"], atol=2e-3)
    for word, (one, two) in interpret_contexts.SENTENCES.items():
        stored = STORED["contexts"][word]["map"]
        shown = {
            str(i): [text.split("|")[0] for text in side[:6]] for i, side in enumerate((one, two))
        }
        found = SentenceMap.read(shown, word, language=stored["language"])
        assert found["sentences"] == stored["sentences"]
        np.testing.assert_allclose(found["cosines"], stored["cosines"], atol=2e-3)


# The map


def test_the_plane_holds_the_two_principal_components(node):
    rng = np.random.default_rng(0)
    x = rng.normal(size=(9, 5)) * [3, 2, 1, 0.5, 0.1]
    script = """import { aligned, projected } from "./sentence_map.mjs";
    const { points, share } = projected(input.products);
    console.log(JSON.stringify([points, share, aligned(points, input.others), projected([[1, 1], [1, 1]]).share]));"""
    centred = x - x.mean(axis=0)
    _, sizes, axes = np.linalg.svd(centred)
    wanted = centred @ axes[:2].T
    turn = np.array([[0.6, 0.8], [0.8, -0.6]])  # A reflection.
    others = wanted @ turn
    points, share, near, none = node(
        script, {"products": (x @ x.T).tolist(), "others": others.tolist()}
    )
    assert share == pytest.approx((sizes[:2] ** 2).sum() / (sizes**2).sum()) and none == 1
    np.testing.assert_allclose(np.abs(points), np.abs(wanted), atol=1e-9)
    np.testing.assert_allclose(near, others, atol=1e-9)


def small(n=4, layers=3, **more):
    texts = [{"text": f"text {i}", "group": i % 2} for i in range(n)]
    cosines = np.random.default_rng(1).uniform(size=(layers, n * (n - 1) // 2)).round(3).tolist()
    return {"word": "", "groups": ["a", "b"], "sentences": texts, "cosines": cosines, **more}


GOOD = {
    "?set=2&layer=0&point=3": (1, 0),
    "?layer=1": (0, 1),
    "?set=2": (1, 2),
}
STRANGE = {
    "?set=3": "address, set: expected 1 to 2, got '3'",
    "?set=0": "address, set",
    "?layer=3": "address, layer: expected 0 to 2, got '3'",
    "?layer=x": "address, layer",
    "?sentences="
    + "a"
    * 901: "address, sentences: expected 1 to 12 lines, of 900 characters together, got 1 of 901",
    "?sentences="
    + "a%0A"
    * 13: "address, sentences: expected 1 to 12 lines, of 900 characters together, got 13 of 26",
}


def test_a_url_holds_the_map(node):
    sets = [small(), small(word="text")]
    script = """import { addressOf, stateIn } from "./sentence_map.mjs";
    const state = { set: 1, layer: 0, point: 4, text: "¿Qué & cómo?\\nb", word: "qué" };
    const href = addressOf("https://a.b/c.html?q=1&layer=9#d", state, 2);
    const read = (one) => stateIn(one, input.sets);
    console.log(JSON.stringify([state, href, read(new URL(href).search), input.good.map((one) => [read(one), addressOf("https://a.b/", read(one), 2)]),
      input.strange.map(read), read("?q=1"), addressOf(href, null, 2)]));"""
    given = {"sets": sets, "good": list(GOOD), "strange": list(STRANGE)}
    state, href, again, good, strange, nothing, none = node(script, given)
    assert again == state and nothing is None and none == "https://a.b/c.html?q=1#d"
    assert "&sentences=%C2%BFQu%C3%A9+%26+c%C3%B3mo%3F%0Ab" in href
    for (address, (number, layer)), (read, written) in zip(GOOD.items(), good, strict=True):
        assert (read["set"], read["layer"]) == (number, layer)
        assert written == f"https://a.b/{address}"
        figure = SentenceMap.from_address(address, sets)
        assert (figure.set, figure.layer, figure.address) == (number, layer, address)
    assert strange == ["strange"] * len(STRANGE)
    for address, message in STRANGE.items():
        with pytest.raises(ValueError, match=re.escape(message)):
            SentenceMap.from_address(address, sets)
    with pytest.raises(ValueError, match="address: expected one with .sentences="):
        SentenceMap.from_address("?text=1", sets)


@pytest.mark.slow
def test_a_map_of_the_page_is_made_in_a_cell(needed):
    needed("minilm")
    stored = STORED["contexts"]["bank"]["map"]
    address = "?sentences=I+sat+on+the+bank%0ANothing+here&word=bank&layer=3"
    figure = SentenceMap.from_address(address, [stored], language="en")
    (told,) = figure.sets
    assert told["groups"][-1] == "yours" and told["sentences"][-1]["text"] == "I sat on the bank"
    assert len(told["sentences"]) == 13 and figure.layer == 3
    np.testing.assert_allclose(np.array(told["cosines"])[:, :66], stored["cosines"], atol=2e-3)


test_invalid_sets_are_refused = refusals(
    ([], "sets: expected at least one, got none"),
    ([{}], r"sets\[0\]: expected a dict of cosines, groups, sentences"),
    ([small(2)], r"sets\[0\].sentences: expected at least 3, got 2"),
    ([small(cosines=[[1, 2]])], r"sets\[0\].cosines: expected shape \(any, 6\)"),
    ([small(groups=["a"])], r"sets\[0\].sentences: expected a whole number from 0 to 0, got 1"),
    ([small(), small(layers=2)], "sets: expected as many layers in each"),
    ([small(language="fr")], r"sets\[0\].language: expected"),
    ([small() | {"layers": 2}], r"sets\[0\]: expected nothing but .* got \['layers'\]"),
    ([small() | {"word": 2}], r"sets\[0\].word: expected a text, got 2"),
    ([small() | {"sentences": ["a", "b", "c"]}], r"sets\[0\].sentences: expected a text and"),
    of=SentenceMap,
)


def test_without_javascript_each_sentence_is_told_with_the_most_similar_one():
    one = small()
    one["cosines"][-1] = [0.9, 0.1, 0.2, 0.3, 0.4, 0.5]
    shown = re.findall(
        r"<tr><th[^>]*>([^<]*)</th><td>(.)</td><td>([^<]*)</td><td>([^<]*)",
        SentenceMap([one])._fallback(),
    )
    assert shown == [
        ("text 0", "a", "text 1", "0.90"),
        ("text 1", "b", "text 0", "0.90"),
        ("text 2", "a", "text 3", "0.50"),
        ("text 3", "b", "text 2", "0.50"),
    ]
