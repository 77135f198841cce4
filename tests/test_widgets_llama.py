"""The language model in the page against the layers and the tokenizer of `attn`: in Node, number by number.

Small Llamas are drawn and written as GGUF files, packed in every way that the page reads. SmolLM2 is
read where it is on the machine: it goes on with the awkward texts, two questions in the chat template and six
sentences for ten tokens, or with as many sentences as `ATTN_SENTENCES` says for forty; 200 take ten minutes.
"""

import os
import re
import sys
from pathlib import Path

import gguf as their_gguf
import numpy as np
import pytest
import torch

from attn.decoding import next_token_probabilities
from attn.pretrained import load
from attn_course import everyday, interpret
from tests.core.test_pretrained import MAKE, draw, write_gguf
from tests.core.test_tokenizer_pretrained import HARD, TEXTS, byte_pairs

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "book" / "_ext"))

import attn_model

N_SENTENCES = int(os.environ.get("ATTN_SENTENCES", "6"))
N_WRITTEN = 40 if "ATTN_SENTENCES" in os.environ else 10
AWKWARD = [
    "👩‍👩‍👧‍👦 and 🇪🇸 are\u00a0emoji:",
    "El camio\u0301n y la sen\u0303ora van a",
    "   three spaces before,\tand a tab",
    "uno\n\ndos\n  tres\n\n\n",
]
CHAT = "<|im_start|>user\n{}<|im_end|>\n<|im_start|>assistant\n"
Kind = their_gguf.GGMLQuantizationType
LAYER = "model.layers.{}.{}.weight"
PARTS = [f"self_attn.{name}_proj" for name in "qkvo"] + ["mlp.gate_proj", "mlp.up_proj"]
PACKED = {
    "float32": {},
    "as SmolLM2": {
        "model.embed_tokens.weight": Kind.Q8_0,
        "lm_head.weight": Kind.Q8_0,
        **{LAYER.format(i, part): Kind.Q4_1 for i in range(2) for part in PARTS},
    },
    "the other way": {
        "model.embed_tokens.weight": Kind.Q4_1,
        **{LAYER.format(i, part): Kind.Q8_0 for i in range(2) for part in PARTS},
    },
}
SCRIPT = """
import { writeFileSync } from "node:fs";
import { drawn, finished, greedyChoice, loadLlama, nextTokenProbabilities, withStream, withoutHeads } from "./llama.mjs";
import { roomFor } from "./packed.mjs";
import { ByteLevelTokenizer } from "./byte_level.mjs";
const file = readFileSync(input.path);
const room = roomFor(file.length, input.kernel && new WebAssembly.Module(readFileSync(input.kernel)));
room.bytes.set(file);
const model = loadLlama(room);
const plain = (x) => (x?.map ? Array.from(x, plain) : x);
const print = (x) => console.log(JSON.stringify(x));
"""


@pytest.fixture(scope="module")
def tiny(tmp_path_factory):
    """Return, for each packing, the path of a file, the model in our layers, and its tokenizer."""
    folder = tmp_path_factory.mktemp("llama")
    draw(MAKE["llama"]()).save_pretrained(folder)
    byte_pairs().save(str(folder / "tokenizer.json"))
    found = {}
    for name, kinds in PACKED.items():
        path = folder / f"{len(found)}.gguf"
        write_gguf(path, folder, kinds=kinds.items())
        found[name] = path, *load(path)
    return found


@pytest.fixture(params=["plain", "kernel"])
def kernel(request, needed):
    """Both ways to multiply: in plain JavaScript and in the compiled kernel."""
    return str(needed("packed_kernel")) if request.param == "kernel" else None


every_packing = pytest.mark.parametrize("packing", PACKED)


def random_ids(n, seed=0):
    return np.random.default_rng(seed).integers(0, 300, n).tolist()


def assert_close(found, expected):
    np.testing.assert_allclose(np.array(found), expected.numpy(), rtol=1e-4, atol=1e-4)


@every_packing
@torch.no_grad()
def test_every_number_is_that_of_our_layers(tiny, node, kernel, packing):
    path, model, _ = tiny[packing]
    script = """
    print(input.texts.map((ids) => {
      const seen = { stream: [], weights: [], heads: [] };
      const hooks = Object.fromEntries(Object.keys(seen).map((name) => [name, (l, x) => { seen[name][l] = plain(x); }]));
      return { logits: plain(finished(model.read(ids, { hooks, all: true })).logits), ...seen };
    }));"""
    texts = [random_ids(n, n) for n in (1, 2, 5, 12)]
    got = node(SCRIPT + script, {"path": str(path), "kernel": kernel, "texts": texts})
    for ids, found in zip(texts, got, strict=True):
        ids = torch.tensor([ids])
        logits, weights = model(ids, need_weights=True)
        assert_close(found["logits"], logits[0])
        assert_close(found["stream"], interpret.streams(model, ids)[:, 0])
        heads = interpret.gathered(model, ids)[:, 0]
        assert_close(found["heads"], heads.transpose(1, 2))
        for layer, rows in zip(found["weights"], weights, strict=True):
            for head, expected in zip(layer, rows[0], strict=True):
                full = [row + [0.0] * (len(head) - len(row)) for row in head]
                assert_close(full, expected)
        assert logits.std() > 0.5 and (ids.numel() == 1 or weights[0].std() > 0.01)


@every_packing
@torch.no_grad()
def test_with_a_cache_the_rest_is_the_same_also_after_a_stop_and_a_step_back(
    tiny, node, kernel, packing
):
    path, model, _ = tiny[packing]
    script = """
    const cache = model.newCache();
    const read = (ids) => plain(finished(model.read(ids, { cache, all: true })).logits);
    const ids = input.ids;
    const found = [...read(ids.slice(0, 3)), ...read(ids.slice(3, 4))];
    const stopped = model.read([7, 8, 9], { cache });
    const shares = [stopped.next().value];
    stopped.return();
    read([5, 5]);
    cache.truncate(4);
    found.push(...read(ids.slice(4)));
    print([found, shares, cache.ids, cache.bytes]);"""
    ids = random_ids(11)
    found, shares, kept, n_bytes = node(
        SCRIPT + script, {"path": str(path), "kernel": kernel, "ids": ids}
    )
    assert_close(found, model(torch.tensor([ids]))[0][0])
    assert shares == [1 / 2] and kept == ids
    # Keys and values of 2 layers with 2 shared heads of 8 numbers, each of 4 bytes.
    assert n_bytes == 11 * 2 * 2 * 2 * 8 * 4


@torch.no_grad()
def test_a_head_is_switched_off_and_a_stream_replaced_as_in_python(tiny, node):
    path, model, _ = tiny["as SmolLM2"]
    ids, other = random_ids(6, 1), random_ids(6, 2)
    script = """
    const last = (hooks) => plain(finished(model.read(input.ids, { hooks })).logits[0]);
    let there;
    finished(model.read(input.other, { hooks: { stream(l, x) { if (l === 1) there = x[4].slice(); } } }));
    print([last(withoutHeads([[0, 2], [1, 0], [1, 3]])), last(withStream(1, 4, there)), last({})]);"""
    off, patched, clean = node(SCRIPT + script, {"path": str(path), "ids": ids, "other": other})
    ids, other = torch.tensor([ids]), torch.tensor([other])

    def silent(*heads):
        def change(x):
            x[:, :, list(heads)] = 0
            return x

        return change

    with (
        interpret.heads_changed(model, 0, silent(2)),
        interpret.heads_changed(model, 1, silent(0, 3)),
    ):
        assert_close(off, model(ids)[0][0, -1])
    x = interpret.streams(model, ids)[1].clone()
    x[0, 4] = interpret.streams(model, other)[1, 0, 4]
    assert_close(patched, interpret.go_on(model, x, 1)[0])
    for changed in (off, patched):
        assert np.abs(np.subtract(changed, clean)).max() > 0.1


@pytest.mark.parametrize(
    "options", [{}, {"temperature": 0.5}, {"topP": 0.6}, {"temperature": 1.7, "topP": 0.9}]
)
def test_tokens_are_drawn_with_the_probabilities_of_python(tiny, node, options):
    logits = torch.randn(300, generator=torch.Generator().manual_seed(3)) * 3
    script = """
    const probabilities = nextTokenProbabilities(input.logits, input.options);
    let draws = 0;
    const counts = new Array(300).fill(0);
    for (; draws < 3000; draws++) counts[drawn(probabilities, () => (draws + 0.5) / 3000)]++;
    print([greedyChoice(input.logits), plain(probabilities), counts]);"""
    given = {"path": str(tiny["float32"][0]), "logits": logits.tolist(), "options": options}
    best, probabilities, counts = node(SCRIPT + script, given)
    names = {"temperature": "temperature", "topP": "top_p"}
    expected = next_token_probabilities(logits, **{names[k]: v for k, v in options.items()})
    assert best == logits.argmax()
    np.testing.assert_allclose(probabilities, expected, atol=1e-9)
    np.testing.assert_allclose(np.array(counts) / 3000, expected, atol=1.1 / 3000)


def test_ids_are_those_of_our_tokenizer(tiny, node):
    path, _, tokenizer = tiny["float32"]
    lines = [*HARD, *TEXTS, *AWKWARD, "a<|endoftext|>b", "<|endoftext|>"]
    check_ids(node, path, tokenizer, lines)


def check_ids(node, path, tokenizer, lines):
    script = """
    const tokenizer = new ByteLevelTokenizer(model.metadata);
    const found = input.lines.map((line) => {
      const [ids, marked] = [tokenizer.encode(line), tokenizer.encode(line, { marked: true })];
      return [ids, marked, tokenizer.decode(marked), tokenizer.decode(ids.slice(0, -1))];
    });
    print([found, tokenizer.endIds]);"""
    found, ends = node(SCRIPT + script, {"path": str(path), "lines": lines})
    for line, (ids, marked, text, cut) in zip(lines, found, strict=True):
        assert ids == tokenizer.encode(line), line
        assert marked == tokenizer.encode_marked(line), line
        assert text == tokenizer.decode(marked), line
        assert cut == tokenizer.decode(ids[:-1]), line
    assert ends == tokenizer.end_ids


@pytest.mark.parametrize(
    "script, message",
    [
        ("finished(model.read([]))", "ids: expected at least one token, got none"),
        ("finished(model.read([1, 300]))", "ids: expected values from 0 to 299, got 300"),
        ("loadLlama(roomFor(9))", "bytes: expected a file of the format GGUF, got something else"),
        ("nextTokenProbabilities([0], { temperature: 0 })", "temperature: expected a finite numb"),
        ("nextTokenProbabilities([0], { topP: 0 })", "topP: expected a number above 0"),
        (
            "new ByteLevelTokenizer(model.metadata).encode('a\\ud800')",
            "text: expected characters, got the lone surrogate '\\\\ud800' at index 1",
        ),
        (
            "const cut = roomFor(file.length - 5); cut.bytes.set(file.subarray(0, -5)); loadLlama(cut)",
            "bytes: expected .* bytes or more, got",
        ),
    ],
)
def test_invalid_files_and_calls_raise_a_readable_error(tiny, node, script, message):
    script = f"try {{ {script}; }} catch (error) {{ print(error.message); }}"
    found = node(SCRIPT + script, {"path": str(tiny["float32"][0])})
    assert re.match(message, found)


# In the page


SERVED = """
import { createServer } from "node:http";
import { existsSync } from "node:fs";
import { areKept, partsInto } from "./parts.mjs";
const asked = [];
const server = createServer((request, answer) => {
  asked.push(request.url.slice(1));
  const path = input.folder + request.url;
  answer.writeHead(existsSync(path) ? 200 : 404);
  answer.end(existsSync(path) ? readFileSync(path) : "");
}).listen(0);
const base = `http://localhost:${server.address().port}/`;
const kept = new Map();
globalThis.caches = { open: async () => ({
  match: async (name) => kept.get(name)?.clone(), put: async (name, answer) => { kept.set(name, answer); },
}) };
const load = async (parts) => {
  const [whole, shares] = [new Uint8Array(input.bytes), []];
  const error = await partsInto(whole, base, { parts }, (share) => shares.push(share)).catch(({ message }) => message);
  return [error ?? Buffer.from(whole).equals(file), asked.splice(0).length, shares.at(-1), shares.every((x, i) => !i || x >= shares[i - 1])];
};
"""


def test_parts_are_joined_and_only_a_lost_part_is_fetched_again(tiny, node, tmp_path):
    path = tiny["as SmolLM2"][0]
    parts = attn_model.pack(path, tmp_path, most=20_000)
    assert len(parts) >= 3 and all(part["bytes"] <= 20_000 for part in parts)
    script = """
    const parts = input.parts;
    const found = [await load(parts), await load(parts)];
    kept.set(base + parts[1].file, new Response(new Uint8Array(parts[1].bytes)));
    kept.delete(base + parts[2].file);
    found.push(await load(parts));
    found.push(await load([...parts.slice(0, 2), { ...parts[2], sha256: "0" }]));
    found.push(await load([{ ...parts[0], file: "none" }]));
    globalThis.caches.match = async (name) => kept.get(name);
    const areAll = [await areKept(base, { parts }), await areKept(base, { parts: [...parts, { file: "none" }] })];
    delete globalThis.caches;
    found.push(await load(parts), [...areAll, await areKept(base, { parts })]);
    print(found);
    server.close();"""
    given = {
        "path": str(path),
        "folder": str(tmp_path),
        "bytes": path.stat().st_size,
        "parts": parts,
    }
    n = len(parts)
    first, again, mended, other, missing, unkept, are_kept = node(SCRIPT + SERVED + script, given)
    assert first == [True, n, 1, True] and again == [True, 0, 1, True]
    assert mended == [True, 2, 1, True] and unkept == [True, n, 1, True]
    assert are_kept == [True, False, False]
    assert re.match(r"part-3-\w+\.bin: expected the sha256 0, got another", other[0])
    assert re.match(r"http.*/none: expected a part of the model, got the answer 404", missing[0])


@torch.no_grad()
def test_the_worker_writes_on_branches_and_stops(tiny, node, tmp_path):
    path, model, tokenizer = tiny["as SmolLM2"]
    parts = attn_model.pack(path, tmp_path)
    script = """
    import { languageModel } from "./llama_worker.mjs";
    let told = [];
    const hear = languageModel((message) => told.push(message), () => new Promise(setImmediate));
    const say = async (message) => { await hear(message); return told.splice(0); };
    const write = (more) => say({ kind: "write", prompt: input.prompt, ids: [], most: 4, ...more });
    const found = { loaded: await say({ kind: "load", base, manifest: { bytes: file.length, parts: input.parts } }) };
    found.greedy = await write({});
    found.branch = await write({ ids: [found.greedy[0].best[2].id], most: 0 });
    const taken = [found.greedy[0].best[0].id, found.greedy[1].best[3].id, 7];
    found.again = await write({ ids: taken, from: 1, most: 1 });
    const first = hear({ kind: "write", prompt: input.prompt, ids: [], most: 9 });
    hear({ kind: "stop" });
    await first;
    found.stopped = told.splice(0);
    found.drawn = await write({ temperature: 2, topP: 0.9 });
    found.few = await write({ temperature: 1, topP: 1e-6, turn: 7 });
    found.empty = await write({ prompt: "" });
    found.full = await write({ ids: Array(291).fill(found.greedy[0].best[0].id), most: 20 });
    found.long = await write({ ids: Array(300).fill(0) });
    print(found);
    server.close();"""
    prompt = "El cielo es"
    given = {
        "path": str(path),
        "folder": str(tmp_path),
        "bytes": path.stat().st_size,
        "parts": parts,
        "prompt": prompt,
    }
    found = node(SCRIPT + SERVED + script, given)
    assert found["loaded"][-1] == {"kind": "loaded", "isFast": False}
    ids = tokenizer.encode(prompt)
    *steps, done = found["greedy"]
    assert done == {"kind": "done"} and len(steps) == 5 and steps[-1]["taken"] is None

    def check(step, ids, temperature=1.0, top_p=1.0):
        logits = model(torch.tensor([ids]))[0][0, -1]
        expected = next_token_probabilities(logits, temperature=temperature, top_p=top_p)
        values, best = expected.topk(5)
        assert [option["id"] for option in step["best"][:5]] == best.tolist()
        shares = [option["p"] for option in step["best"][:5]]
        np.testing.assert_allclose(shares, values, rtol=1e-4, atol=1e-6)

    so_far = list(ids)
    for step in steps:
        check(step, so_far)
        assert step["nPrompt"] == len(ids) and step["bytes"] == len(so_far) * 256
        so_far.append(step["best"][0]["id"])
        assert step["taken"] in (0, None)
    (looked, _) = found["branch"]
    check(looked, [*ids, steps[0]["best"][2]["id"]])
    *given, after, _, done = found["again"]
    taken = [steps[0]["best"][0]["id"], steps[1]["best"][3]["id"], 7]
    assert [step["isGiven"] for step in (*given, after)] == [True, True, False]
    for i, step in enumerate([*given, after], 1):
        check(step, [*ids, *taken[:i]])
    assert [step["best"][step["taken"]]["id"] for step in given] == taken[1:]
    assert given[0]["taken"] == 3 and after["taken"] == 0 and done == {"kind": "done"}
    assert found["stopped"] == []
    so_far = list(ids)
    for step in found["drawn"][:-2]:
        check(step, so_far, 2.0, 0.9)
        so_far.append(step["best"][step["taken"]]["id"])
    *steps, done = found["few"]
    assert [len(step["best"]) for step in steps[:-1]] == [1] * 4 and done["turn"] == 7
    *steps, full = found["full"]
    assert full == {"kind": "full", "tokens": 300, "most": 300} and steps[-1]["taken"] is None
    assert sum(step["kind"] == "step" for step in steps) == 300 - len(ids) - 291 + 1
    assert found["long"] == [full | {"tokens": 300 + len(ids)}]
    assert found["empty"][0]["why"] == "prompt: expected at least one token, got none"


@torch.no_grad()
def test_the_worker_ablates_heads_patches_streams_and_fills_the_grid(tiny, node, tmp_path):
    path, model, tokenizer = tiny["as SmolLM2"]
    parts = attn_model.pack(path, tmp_path)
    script = """
    import { languageModel } from "./llama_worker.mjs";
    let told = [];
    const hear = languageModel((message) => told.push(message), () => new Promise(setImmediate));
    const say = async (message) => { await hear(message); return told.splice(0).map((one) => ({ ...one, weights: plain(one.weights), probabilities: plain(one.probabilities) })); };
    await say({ kind: "load", base, manifest: { bytes: file.length, parts: input.parts } });
    const [text, other] = input.texts;
    const patch = { text, layer: 1, position: 2 };
    const found = {
      clean: await say({ kind: "look", text }), off: await say({ kind: "look", text, off: [[0, 1], [1, 3]] }),
      patched: await say({ kind: "look", text: other, patch }), both: await say({ kind: "look", text: other, patch, off: [[1, 0]] }),
      grid: await say({ kind: "grid", text: other, other: text, layers: [0, 1, 2], ids: [5, 9] }),
      lens: await say({ kind: "lens", text: other, patch, off: [[1, 0]], layers: [0, 1, 2], position: 3, ids: [5, 9] }),
      words: await say({ kind: "look", text, words: [" es", "a"] }),
      empty: await say({ kind: "look", text: "" }), long: await say({ kind: "look", text: "x".repeat(400) }),
    };
    const first = hear({ kind: "grid", text: other, other: text, layers: [0, 1, 2], ids: [5, 9] });
    await hear({ kind: "look", text });
    await first;
    found.ended = told.filter(({ kind }) => kind !== "cell").map(({ kind }) => kind);
    print(found);
    server.close();"""
    texts = ["El 7 es azul", "El 4 es azul"]
    ids = torch.tensor([tokenizer.encode(text) for text in texts])
    given = {
        "path": str(path),
        "folder": str(tmp_path),
        "bytes": path.stat().st_size,
        "parts": parts,
        "texts": texts,
    }
    found = node(SCRIPT + SERVED + script, given)

    def without(layer, *heads):
        def change(x):
            x[:, :, list(heads)] = 0
            return x

        return interpret.heads_changed(model, layer, change)

    def check(messages, logits, weights=None):
        (looked,) = messages
        expected = logits.softmax(dim=-1)
        np.testing.assert_allclose(looked["probabilities"], expected, rtol=1e-3, atol=1e-6)
        assert [one["id"] for one in looked["best"]] == expected.topk(5).indices.tolist()
        if weights is not None:
            rows, columns = np.tril_indices(ids.shape[1])
            stored = torch.stack([layer[0] for layer in weights])[..., rows, columns].flatten()
            np.testing.assert_allclose(np.array(looked["weights"]) / 255, stored, atol=0.51 / 255)

    logits, weights = model(ids[:1], need_weights=True)
    check(found["clean"], logits[0, -1], weights)
    assert found["clean"][0]["ids"] == ids[0].tolist() and weights[0].std() > 0.01
    with without(0, 1), without(1, 3):
        check(found["off"], model(ids[:1])[0][0, -1])
    clean, corrupted = interpret.streams(model, ids).unbind(dim=1)
    x = corrupted[1][None].clone()
    x[0, 2] = clean[1, 2]
    check(found["patched"], interpret.go_on(model, x, 1)[0])
    with without(1, 0):
        check(found["both"], interpret.go_on(model, x, 1)[0])

        last = model.stack.layers[1](x, is_causal=True)[0]
    stream = torch.cat([corrupted[:1], x, last])
    seen = interpret.read_off(model, stream[:, 3])
    (looked,) = found["lens"]
    for one, logits in zip(looked["seen"], seen, strict=True):
        assert one["ranks"] == [1 + int((logits > logits[i]).sum()) for i in (5, 9)]
    expected = model(ids[:1])[0][0, -1].softmax(dim=-1)
    chances = [expected[tokenizer.encode(word)[0]] for word in (" es", "a")]
    np.testing.assert_allclose(found["words"][0]["chances"], chances, rtol=1e-3)

    def lead(logits):
        return logits[..., 5] - logits[..., 9]

    *cells, done = found["grid"]
    one, two = (lead(model(row[None])[0][0, -1]) for row in ids)
    expected = (interpret.patch_streams(model, clean, corrupted, lead) - two) / (one - two)
    shares = np.reshape([cell["share"] for cell in cells], expected.shape)
    np.testing.assert_allclose(shares, expected, rtol=1e-3, atol=2e-3)
    assert done == {"kind": "done"} and abs(one - two) > 0.01
    assert found["empty"][0]["why"] == "text: expected at least one token, got none"
    assert found["long"][0]["kind"] == "full"
    assert found["ended"] == ["looked"]


# SmolLM2


@pytest.mark.slow
def test_ids_of_smollm2_are_those_of_our_tokenizer(smollm2, node, needed):
    path, tokenizer = needed("smollm2"), smollm2[1]
    lines = [*HARD, *TEXTS, *AWKWARD, CHAT.format("¿De qué color es el cielo?"), "<|im_end|>"]
    check_ids(node, path, tokenizer, lines)


def sentences():
    """Return awkward texts, questions in the chat template, and beginnings of both languages."""
    pairs = everyday.everyday()
    some = pairs[:: max(1, len(pairs) // N_SENTENCES)][:N_SENTENCES]
    beginnings = [pair.source if i % 2 else pair.target for i, pair in enumerate(some)]
    beginnings = [" ".join(text.split()[:-1]) or text for text in beginnings]
    chat = [CHAT.format(text) for text in ("What is the capital of France?", "¿Y la de Chile?")]
    assert len(set(beginnings)) == N_SENTENCES
    return [*AWKWARD, *chat, *beginnings]


@pytest.mark.slow
@torch.no_grad()
def test_smollm2_writes_in_node_what_it_writes_in_our_layers(
    smollm2, node, needed, tmp_path, record_property
):
    """The ids, the logits to a thousandth, and every token of greedy search."""
    path, (model, tokenizer) = needed("smollm2"), smollm2
    texts = sentences()
    script = """
    const tokenizer = new ByteLevelTokenizer(model.metadata);
    print(input.texts.map((text, i) => {
      const cache = model.newCache();
      const prompt = tokenizer.encode(text, { marked: true });
      let { logits: [logits] } = finished(model.read(prompt, { cache }));
      writeFileSync(`${input.folder}/${i}.prompt`, logits);
      const written = [greedyChoice(logits)];
      while (written.length < input.most) {
        ({ logits: [logits] } = finished(model.read(written.slice(-1), { cache })));
        written.push(greedyChoice(logits));
      }
      writeFileSync(`${input.folder}/${i}.last`, logits);
      return { prompt, written };
    }));"""
    given = {"path": str(path), "kernel": str(needed("packed_kernel")), "texts": texts}
    found = node(SCRIPT + script, given | {"folder": str(tmp_path), "most": N_WRITTEN})
    worst = 0
    for i, (text, one) in enumerate(zip(texts, found, strict=True)):
        prompt, written = one["prompt"], one["written"]
        assert prompt == tokenizer.encode_marked(text)
        # One pass judges all steps: greedy search takes the most probable token after each.
        logits, _ = model(torch.tensor([prompt + written[:-1]]))
        following = logits[0, len(prompt) - 1 :]
        assert following.argmax(-1).tolist() == written, text
        for name, expected in (("prompt", following[0]), ("last", following[-1])):
            theirs = np.fromfile(tmp_path / f"{i}.{name}", np.float32)
            worst = max(worst, np.abs(theirs - expected.numpy()).max())
    record_property("largest difference of logits", float(worst))
    assert worst < 1e-3
