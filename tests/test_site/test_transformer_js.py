"""The Transformer in the page: every number it computes, and every sentence, as in PyTorch.

The scripts run in a page opened from ``file://`` with the network cut off. Both sides read the
same quantised file, so that they differ by the rounding of float32 alone.
"""

import base64
import gzip
import json
import math
import sys
import unicodedata
from functools import partial
from itertools import islice

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from attn import decoding
from attn.applications import models
from attn.applications._sequences import write
from attn.applications.translation import Translator
from attn.attention import VARIANTS, ScaledDotProduct
from attn.corpus.tatoeba import tatoeba
from attn.positions import rotary
from attn.tokenizer import BytePairTokenizer, WordTokenizer, byte_pair
from attn.tokenizer.words import join, normalise, split
from attn.transformer import EncoderOnly, Transformer, TransformerConfig
from attn_course.grammar import generate
from attn_course.widgets import _source

MODULES = ("transformer", "decoding", "tokenizer", "trained")
NAMES = """{ loadTransformer, greedy, beamSearch, WordTokenizer, normalise, split, join,
  BytePairTokenizer, textOf, wordsOf, encodeSource }"""
SOS, EOS = 2, 3
SIZES = {"vocab_size": 21, "d_model": 24, "n_heads": 4, "n_layers": 2, "d_ff": 40}
CONFIGS = {
    "pre": {"norm": "pre", "tgt_vocab_size": 17},
    "post": {"norm": "post", "n_heads": 1, "n_layers": 1},
    "untied": {"norm": "pre", "tie_embeddings": False, "n_heads": 6, "n_layers": 3},
    "learned": {"positions": "learned", "max_len": 9, "n_kv_heads": 2, "scale_embeddings": False},
    "rotary": {"positions": "rotary", "norm": "pre", "n_heads": 2, "n_kv_heads": 1},
    "no positions": {"positions": "none", "d_ff": 7, "n_kv_heads": 1, "tgt_vocab_size": 5},
}


def engine():
    """Return every module of the engine in one classic script, as the site has its scripts."""
    stems = dict.fromkeys(name for stem in MODULES for name in _source._needed(stem))
    body = "\n".join(_source._classic(_source._body(stem)) for stem in stems)
    return f"(() => {{\n'use strict';\n{body}\nglobalThis.attn = {NAMES};\n}})();"


@pytest.fixture(scope="module")
def page(browser, tmp_path_factory):
    path = tmp_path_factory.mktemp("page") / "page.html"
    path.write_text(f"<!doctype html><meta charset=utf-8><script>{engine()}</script>", "utf-8")
    context = browser.new_context(offline=True)
    page = context.new_page()
    requests, errors = [], []
    page.on("request", lambda request: requests.append(request.url))
    page.on("pageerror", lambda error: errors.append(error))
    page.goto(path.as_uri())
    yield page
    context.close()
    assert requests == [path.as_uri()] and not errors


@pytest.fixture(scope="module")
def run(page):
    """Run ``(input) => ...`` in the page; what it returns comes back with lists for arrays."""

    def run(script, input=None):
        return page.evaluate(
            """([script, input]) => {
              const plain = (x) => (x === null || typeof x !== "object" ? x
                : Array.isArray(x) || ArrayBuffer.isView(x) ? Array.from(x, plain)
                : Object.fromEntries(Object.entries(x).map(([name, y]) => [name, plain(y)])));
              return plain(eval(script)(input));
            }""",
            [script, input],
        )

    return run


@pytest.fixture(scope="module")
def put(run, tmp_path_factory):
    """Save a model quantised and load the file on both sides: in the page as ``models[name]``."""
    path = tmp_path_factory.mktemp("models") / "model"

    def put(name, model):
        model.save(path, quantised=True)
        text = base64.b64encode(path.read_bytes()).decode()
        run(
            """([name, text]) => {
              globalThis.models ??= {};
              models[name] = attn.loadTransformer(Uint8Array.from(atob(text), (c) => c.charCodeAt(0)));
            }""",
            [name, text],
        )
        return type(model).load(path)

    return put


def make(**changes):
    """Return a model whose every parameter is random: biases of zero would hide mistakes."""
    torch.manual_seed(0)
    model = Transformer(TransformerConfig(**SIZES | changes)).eval()
    for name, parameter in model.named_parameters():
        torch.nn.init.normal_(parameter, std=0.3)
        if "norm" in name and name.endswith("weight"):
            torch.nn.init.uniform_(parameter, 0.5, 1.5)
    return model


def random_ids(rng, length, vocab_size):
    return rng.integers(0, vocab_size, length).tolist()


# Every number ----------------------------------------------------------------------------------


@torch.no_grad()
def expected_trace(model, src, tgt):
    """Return what ``encode`` and ``decode`` must return, from hooks on PyTorch's modules."""
    given, made, hooks = {}, {}, []
    for name, module in model.named_modules():

        def keep(module, args, kwargs, output, name=name):
            given[name], made[name] = args, output

        hooks.append(module.register_forward_hook(keep, with_kwargs=True))
    _, weights = model(torch.tensor([src]), torch.tensor([tgt]), need_weights=True)
    for hook in hooks:
        hook.remove()
    config = model.config

    def attention(name, attention_weights, is_causal=False):
        d_k = config.d_model // config.n_heads
        group = config.n_heads // (config.n_kv_heads or config.n_heads)
        rows = {part: made[f"{name}.{part}"][0] for part in ("q_proj", "k_proj", "v_proj")}
        query, key, value = (x.unflatten(-1, (-1, d_k)).transpose(0, 1) for x in rows.values())
        if config.positions == "rotary" and "self" in name:
            query, key = (rotary(x, torch.arange(x.shape[-2])) for x in (query, key))
        cache = {"key": key, "value": value}
        key, value = (x.repeat_interleave(group, dim=0) for x in (key, value))
        scores = query @ key.mT
        masked = scores / math.sqrt(d_k)
        if is_causal:
            n = masked.shape[-1]
            masked = masked.masked_fill(torch.ones(n, n).triu(1).bool(), -math.inf)
        heads = given[f"{name}.out_proj"][0][0].unflatten(-1, (-1, d_k)).transpose(0, 1)
        return {
            "query": query,
            "key": key,
            "value": value,
            "scores": scores,
            "maskedScores": masked,
            "weights": attention_weights[0],
            "heads": heads,
            "output": made[f"{name}.out_proj"][0],
            "cache": cache,
        }

    def sub_layer(norm, x, computed):
        total = x + computed["output"]
        is_pre = config.norm == "pre"
        return {
            "input": made[norm][0] if is_pre else x,
            **computed,
            "sum": total,
            "x": total if is_pre else made[norm][0],
        }

    def feed_forward(name):
        return {"hidden": given[f"{name}.linear_2"][0][0], "output": made[f"{name}.linear_2"][0]}

    def embedding(name, ids):
        tokens = made[f"{name}.tokens"][0]
        embeddings = tokens * (math.sqrt(config.d_model) if config.scale_embeddings else 1.0)
        return {"embeddings": embeddings, "positions": made[name][0] - embeddings}

    def layers(stack, x, own_weights, cross_weights):
        for i, own in enumerate(own_weights):
            layer = f"{stack}.layers.{i}"
            is_decoder = stack == "decoder"
            computed = attention(f"{layer}.self_attention", own, is_decoder)
            traced = {"selfAttention": sub_layer(f"{layer}.norm_1", x, computed)}
            x = traced["selfAttention"]["x"]
            if is_decoder:
                computed = attention(f"{layer}.cross_attention", cross_weights[i])
                traced["crossAttention"] = sub_layer(f"{layer}.norm_2", x, computed)
                x = traced["crossAttention"]["x"]
            norm = f"{layer}.norm_{3 if is_decoder else 2}"
            traced["feedForward"] = sub_layer(norm, x, feed_forward(f"{layer}.feed_forward"))
            output = made[layer][0][0]
            torch.testing.assert_close(traced["feedForward"]["x"], output)
            yield traced
            x = output

    encoder = layers("encoder", made["src_embedding"][0], weights.encoder, None)
    decoder = layers("decoder", made["tgt_embedding"][0], weights.decoder, weights.cross)
    return (
        {
            **embedding("src_embedding", src),
            "layers": list(encoder),
            "memory": made["encoder"][0][0],
        },
        {
            **embedding("tgt_embedding", tgt),
            "layers": list(decoder),
            "x": made["decoder"][0][0],
            "logits": made["output"][0],
        },
    )


def assert_same(got, expected, where="", tolerance=2e-5):
    """Compare trees of numbers: the same names everywhere, and no number far from its twin."""
    if isinstance(expected, dict):
        assert got.keys() == expected.keys(), where
        for name in expected:
            assert_same(got[name], expected[name], f"{where}.{name}", tolerance)
    elif isinstance(expected, list):
        assert len(got) == len(expected), where
        for i, (a, b) in enumerate(zip(got, expected, strict=True)):
            assert_same(a, b, f"{where}[{i}]", tolerance)
    else:
        assert np.shape(got) == expected.shape, where
        np.testing.assert_allclose(got, expected, atol=tolerance, rtol=tolerance, err_msg=where)


@pytest.mark.parametrize("name", CONFIGS)
def test_every_number_on_the_way_to_the_logits(name, put, run):
    model, rng = put(name, make(**CONFIGS[name])), np.random.default_rng(1)
    config = model.config
    for src_len, tgt_len in [(1, 1), (5, 3), (2, 8), (9, 9), (8, 1), (6, 4)]:
        src = random_ids(rng, src_len, config.vocab_size)
        tgt = random_ids(rng, tgt_len, config.tgt_vocab_size or config.vocab_size)
        got = run(
            """([name, src, tgt]) => {
              const encoded = models[name].encode(src);
              return [encoded, models[name].decode(tgt, encoded.memory)];
            }""",
            [name, src, tgt],
        )
        expected = expected_trace(model, src, tgt)
        assert_same(got[0], expected[0], "encode")
        assert_same(got[1], expected[1], "decode")
        assert np.std(got[1]["logits"]) > 0.5


@pytest.mark.parametrize("name", CONFIGS)
def test_a_cache_gives_the_same_numbers(name, put, run):
    """Position by position, or in two parts: the numbers of the whole, to the bit."""
    model, rng = put(name, make(**CONFIGS[name])), np.random.default_rng(2)
    src = random_ids(rng, 7, model.config.vocab_size)
    tgt = random_ids(rng, 8, model.config.tgt_vocab_size or model.config.vocab_size)
    whole, *parts = run(
        """([name, src, tgt]) => {
          const model = models[name];
          const { memory } = model.encode(src);
          const inParts = (...cuts) => {
            let past = null;
            return cuts.map((cut, i) => (past = model.decode(tgt.slice(cuts[i - 1] ?? 0, cut), past ? null : memory, past)));
          };
          return [[8], [1, 2, 3, 4, 5, 6, 7, 8], [3, 8], [5, 7, 8]].map((cuts) => inParts(...cuts));
        }""",
        [name, src, tgt],
    )
    for steps in parts:
        done = 0
        for step in steps:
            new = slice(done, done + len(step["logits"]))
            assert step["logits"] == whole[0]["logits"][new]
            assert step["x"] == whole[0]["x"][new]
            for layer, whole_layer in zip(step["layers"], whole[0]["layers"], strict=True):
                for part, n_keys in (("selfAttention", new.stop), ("crossAttention", 7)):
                    for got, head in zip(
                        layer[part]["weights"], whole_layer[part]["weights"], strict=True
                    ):
                        assert got == [row[:n_keys] for row in head[new]]
            done = new.stop
        assert done == 8


# Sentences ---------------------------------------------------------------------------------------


@pytest.fixture(scope="module", params=["pre", "post"])
def translator(request, put):
    """A model that has begun to learn to reverse what it reads: it errs, but is not lost."""
    torch.manual_seed(0)
    model = Transformer(TransformerConfig(**SIZES | CONFIGS[request.param], dropout=0.0))
    optimizer = torch.optim.AdamW(model.parameters(), lr=4e-3)
    for step in range(120):
        length = 2 + step % 6
        src = torch.randint(4, 17, (64, length))
        tgt = torch.cat([torch.full((64, 1), SOS), src.flip(1), torch.full((64, 1), EOS)], dim=1)
        logits, _ = model(src, tgt[:, :-1])
        loss = torch.nn.functional.cross_entropy(logits.flatten(0, 1), tgt[:, 1:].flatten())
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    return request.param, put(request.param, model.eval())


N_SENTENCES = 504


@pytest.fixture(scope="module")
def sources():
    rng = np.random.default_rng(3)
    return [rng.integers(4, 17, 2 + i % 7).tolist() for i in range(N_SENTENCES)]


def until_the_end(row):
    """Return ids without what fills them up after their end."""
    return row[: row.index(EOS) + 1] if EOS in row else row


def decoded(model, sources, decoder):
    """Decode in batches of one length, so that nothing is padded; yield by sentence."""
    results = {}
    for length in {len(src) for src in sources}:
        places = [i for i, src in enumerate(sources) if len(src) == length]
        with torch.no_grad():
            memory, _ = model.encode(torch.tensor([sources[i] for i in places]))
        result = decoder(
            partial(model.step, memory=memory),
            torch.full((len(places), 1), SOS),
            end_id=EOS,
            max_new_tokens=10,
            cache=model.new_cache(),
        )
        results |= dict(zip(places, result, strict=True))
    return [results[i] for i in range(len(sources))]


def test_greedy_gives_the_sentences_of_python(translator, sources, run):
    name, model = translator
    got = run(
        "([name, sources]) => sources.map((src) => attn.greedy(models[name], src, { maxNewTokens: 10 }))",
        [name, sources],
    )
    expected = [until_the_end(row.tolist()) for row in decoded(model, sources, decoding.greedy)]
    assert got == expected
    # The comparison is worth something: many sentences, some right, some wrong, of any length.
    right = sum(ids[1:-1] == src[::-1] for ids, src in zip(got, sources, strict=True))
    assert 0.05 < right / N_SENTENCES < 0.995
    assert len({tuple(ids) for ids in got}) > 0.5 * N_SENTENCES
    assert len({len(ids) for ids in got}) > 5


@pytest.mark.parametrize("width", [1, 2, 3, 4])
def test_beams_give_the_sentences_and_scores_of_python(width, translator, sources, run):
    name, model = translator
    penalties = (0.0, 0.6, -1.5, 3.0)
    some_of_all = sources if name == "pre" else sources[::4]
    for i, penalty in enumerate(penalties):
        some = some_of_all[i :: len(penalties)]

        def search(*args, penalty=penalty, **kwargs):
            ids, scores = decoding.beam_search(*args, width=width, length_penalty=penalty, **kwargs)
            return zip(ids, scores, strict=True)

        got = run(
            """([name, sources, options]) => sources.map((src) =>
              attn.beamSearch(models[name], src, { maxNewTokens: 10, ...options }).hypotheses)""",
            [name, some, {"width": width, "lengthPenalty": penalty}],
        )
        for hypotheses, (ids, scores) in zip(got, decoded(model, some, search), strict=True):
            assert [h["ids"] for h in hypotheses] == [until_the_end(row.tolist()) for row in ids]
            scores_got = [h["score"] for h in hypotheses]
            np.testing.assert_allclose(scores_got, scores, rtol=1e-4, atol=1e-4)


def test_the_tree_of_a_beam_is_what_the_search_looked_at(translator, sources, run):
    name, model = translator
    width = 3
    for src in sources[:40]:
        result = run(
            """([name, src, width]) =>
              attn.beamSearch(models[name], src, { width, maxNewTokens: 6, lengthPenalty: 0.6 })""",
            [name, src, width],
        )
        tree, prefixes = result["tree"], []
        assert tree[0] == {
            "parent": None,
            "token": None,
            "logProbability": 0,
            "total": 0,
            "kept": True,
        }
        for place, node in enumerate(tree):
            assert node["parent"] is None or node["parent"] < place
            prefixes.append([*prefixes[node["parent"]], node["token"]] if place else [SOS])
        assert [prefixes[h["node"]] for h in result["hypotheses"]] == [
            h["ids"] for h in result["hypotheses"]
        ]

        with torch.no_grad():
            memory, _ = model.encode(torch.tensor([src]))
        for place, node in enumerate(tree):
            children = [i for i, child in enumerate(tree) if child["parent"] == place]
            if not children:
                continue
            with torch.no_grad():
                logits, _ = model.decode(torch.tensor([prefixes[place]]), memory)
            best, tokens = logits[0, -1].double().log_softmax(-1).topk(width)
            assert [tree[i]["token"] for i in children] == tokens.tolist()
            got = [tree[i]["logProbability"] for i in children]
            np.testing.assert_allclose(got, best, atol=1e-4)
            total = [tree[i]["total"] for i in children]
            np.testing.assert_allclose(total, node["total"] + best, atol=1e-4)

        # What Python's search hands to the model are the beginnings it kept that have not ended.
        seen = []

        def step(ids, cache, memory=memory, seen=seen):
            seen.append({tuple(row) for row in ids.tolist() if EOS not in row})
            return model.step(ids, cache, memory)

        decoding.beam_search(step, torch.tensor([[SOS]]), width=width, end_id=EOS, max_new_tokens=6)
        kept = [ids for ids, node in zip(prefixes, tree, strict=True) if node["kept"]]
        for n, rows in enumerate(seen):
            assert {tuple(ids) for ids in kept if len(ids) == n + 1 and EOS not in ids} == rows
        ended = [ids for ids in kept if EOS in ids or len(ids) == 7]
        assert sorted(ended) == sorted(h["ids"] for h in result["hypotheses"])


def tables():
    """Models that look at the last token only, with few different logits: ties everywhere.

    Times 50, a sure token costs nothing: a longer hypothesis ties with one that has ended.
    """
    rng = np.random.default_rng(4)
    for case in range(300):
        vocab_size = int(rng.integers(2, 6))
        yield {
            "logits": (
                rng.integers(0, 3, (vocab_size, vocab_size)) * rng.choice([1.0, 50.0])
            ).tolist(),
            "prompt": random_ids(rng, int(rng.integers(1, 4)), vocab_size),
            "endId": None if case % 7 == 0 else int(rng.integers(0, vocab_size)),
            "maxNewTokens": int(rng.integers(0, 6)),
            "width": int(rng.integers(1, 8)),
            "lengthPenalty": float(rng.choice([-10, -0.5, 0, 0, 0.7, 10])),
        }


def test_ties_are_broken_as_in_python(run):
    cases = list(tables())
    got = run(
        """(cases) => cases.map(({ logits, ...options }) => {
          const model = {
            encode: () => ({ memory: null }),
            decode: (ids) => ({ logits: ids.map((id) => Float32Array.from(logits[id])) }),
            decodeAll: (batch) => batch.map(({ ids }) => model.decode(ids)),
          };
          return [attn.greedy(model, [], options), attn.beamSearch(model, [], options).hypotheses];
        })""",
        cases,
    )
    for (ids, hypotheses), case in zip(got, cases, strict=True):
        logits, prompt = torch.tensor(case["logits"]), torch.tensor([case["prompt"]])
        options = {"end_id": case["endId"], "max_new_tokens": case["maxNewTokens"], "pad_id": 0}

        def step(ids, cache, logits=logits):
            return logits[ids[:, -1]]

        assert ids == decoding.greedy(step, prompt, **options)[0].tolist()
        wanted, scores = decoding.beam_search(
            step, prompt, width=case["width"], length_penalty=case["lengthPenalty"], **options
        )
        n_prompt = len(case["prompt"])
        expected = []
        for row, score in zip(wanted[0].tolist(), scores[0].tolist(), strict=True):
            if score > -math.inf:
                new = row[n_prompt:]
                end = new.index(case["endId"]) + 1 if case["endId"] in new else len(new)
                expected.append((row[: n_prompt + end], score))
        assert [h["ids"] for h in hypotheses] == [row for row, _ in expected], case
        scores_got = [h["score"] for h in hypotheses]
        np.testing.assert_allclose(
            scores_got, [score for _, score in expected], rtol=1e-12, atol=1e-12
        )


# Words -------------------------------------------------------------------------------------------

ASSIGNED = [
    chr(c) for c in range(sys.maxunicode + 1) if unicodedata.category(chr(c)) not in ("Cn", "Cs")
]
TRICKY = "aeñÉİΣσßﬁǅ0٣५²½_'’-.,:%/\"¿¡!?()[]…«» \t\n\x1c\x85\xa0\u2028\ufeff\u0301\u0300\u0489🙂字"
TEXTS = st.text(st.sampled_from(TRICKY) | st.sampled_from(ASSIGNED), max_size=20)
WORDS = ["el", "cielo", "don't", "3.50", "¿", "?", "'", '"', "."]
BY_HAND = [
    "",
    " ",
    "El CIELO",
    "¿don't cost 3.50, right?",
    "<eos> <unk>",
    "a\u0301 á",
    "ΟΔΟΣ ΣΑΣ, ΑΣ.ΑΣ",
    "İstanbul",
    "rock-'n'-roll o’clock",
    "1.2.3 1,000:5 ٣.٣ a.1 1.a -1",
    "«“‘¡Qué!’”»",
    "e\u0301\u0301",
    "\x1funo\x85dos\ufefftres\u2028cuatro",
    "𝒜𝓑 ½ ² 🙂🙂 字字 __init__",
    "'' \"\" ' a ' \" b \"",
]


@pytest.fixture(scope="module")
def words(run, tmp_path_factory):
    """A tokenizer on both sides; the page's is made from the file of Python's."""
    tokenizer, path = WordTokenizer(WORDS), tmp_path_factory.mktemp("words") / "words.json"
    tokenizer.save(path)
    script = "(text) => { globalThis.words = new attn.WordTokenizer(JSON.parse(text)); }"
    run(script, path.read_text("utf-8"))
    return tokenizer


def assert_same_words(tokenizer, texts, run):
    got = run(
        """(texts) => texts.map((text) => ({
          lower: attn.normalise(text), kept: attn.normalise(text, false), split: attn.split(text),
          joined: attn.join(attn.split(text)), ids: words.encode(text),
          all: words.encode(text, { sos: true, eos: true }), unknown: words.unknown(text),
          back: words.decode(words.encode(text, { sos: true, eos: true })),
        }))""",
        texts,
    )
    for text, answer in zip(texts, got, strict=True):
        found = split(normalise(text))
        ids = tokenizer.encode(text)
        assert answer == {
            "lower": normalise(text),
            "kept": normalise(text, lowercase=False),
            "split": split(text),
            "joined": join(split(text)),
            "ids": ids,
            "all": [SOS, *ids, EOS],
            "unknown": [
                {"word": word, "position": i} for i, word in enumerate(found) if word not in WORDS
            ],
            "back": tokenizer.decode(ids),
        }


def test_words_by_hand(words, run):
    assert_same_words(words, BY_HAND + [f"el {mark} cielo{mark}" for mark in TRICKY], run)


@given(texts=st.lists(TEXTS, min_size=1, max_size=16))
def test_words_of_any_text(words, run, texts):
    assert_same_words(words, texts, run)


def test_every_character_counts_as_it_does_in_python(run):
    """Of all that this Python knows; a browser may know more."""
    script = "(text) => [...text].map((c) => attn.split(`1${c}1`).length).join('')"
    got = map(int, run(script, "".join(ASSIGNED)))
    different = [c for c, n in zip(ASSIGNED, got, strict=True) if n != len(split(f"1{c}1"))]
    assert not different


def test_capitals_can_be_kept(run):
    script = """() => {
      const words = new attn.WordTokenizer({ tokens: ["<pad>", "<unk>", "<sos>", "<eos>", "El", "el"], lowercase: false });
      return [words.encode("El el EL"), words.decode([2, 4, 0, 1, 5, 3]), words.unknown("el EL")];
    }"""
    assert run(script) == [[4, 5, 1], "El <unk> el", [{"word": "EL", "position": 1}]]


# Byte pairs --------------------------------------------------------------------------------------

LEARNED_FROM = [
    "Where is the library? The library is there.",
    "¿Dónde está la biblioteca? La biblioteca está allí.",
    "字字字 字字 🙂🙂🙂🙂 e\u0301e\u0301 ٣٣٣ ½½  \n\n  __ __ ...",
    "don't don't 1,234 1,234 1,234",
]
ODD = [
    *BY_HAND,
    *LEARNED_FROM,
    "\0",
    "a\0b \0\0",
    "  two  spaces   ",
    "\ufeffBOM \ufeff",
    "tab\t\ttab \t x",
    "👨‍👩‍👧‍👦 👍🏽 🇪🇸",
    "Z̷̢̛a̴͠l̶g̵o̴",
    "٠١٢ १२३ 𝟘𝟙 Ⅷ ⅷ ½ ²",
    "日本語 の テスト",
    "a_b __c d_",
    "\x85\u2028\u2029\u3000",
    "x" * 300,
]


@pytest.fixture(scope="module")
def pairs(run, tmp_path_factory):
    """A tokenizer on both sides; the page's is made from the file of Python's."""
    tokenizer = BytePairTokenizer.train(LEARNED_FROM * 2, 330)
    path = tmp_path_factory.mktemp("pairs") / "pairs.json"
    tokenizer.save(path)
    run(
        "(text) => { globalThis.pairs = new attn.BytePairTokenizer(JSON.parse(text)); }",
        path.read_text("utf-8"),
    )
    return tokenizer


def assert_same_pairs(tokenizer, texts, run):
    got = run(
        """(texts) => texts.map((text) => ({
          split: pairs.split(text), ids: pairs.encode(text), all: pairs.encode(text, { sos: true, eos: true }),
          back: pairs.decode(pairs.encode(text, { sos: true, eos: true })),
          shown: attn.textOf(pairs.encode(text, { eos: true }).map((id) => pairs.tokens[id]), "bpe"),
        }))""",
        texts,
    )
    for text, answer in zip(texts, got, strict=True):
        ids = tokenizer.encode(text)
        assert answer == {
            "split": byte_pair.split(text),
            "ids": ids,
            "all": [SOS, *ids, EOS],
            "back": text,
            "shown": text,
        }


def test_byte_pairs_by_hand(pairs, run):
    assert_same_pairs(pairs, ODD, run)


@given(texts=st.lists(TEXTS, min_size=1, max_size=16))
def test_byte_pairs_of_any_text(pairs, run, texts):
    assert_same_pairs(pairs, texts, run)


def test_every_character_is_cut_as_in_python(pairs, run):
    """Of all that this Python knows; a browser may know more."""
    script = """(text) => [...text].map((c) =>
      pairs.split(`1${c}a ${c} ${c}${c}_`).map((piece) => piece.length).join(" "))"""
    got = run(script, "".join(ASSIGNED))

    def lengths(c):
        pieces = byte_pair.split(f"1{c}a {c} {c}{c}_")
        return " ".join(str(len(piece.encode("utf-16-le")) // 2) for piece in pieces)

    assert not [c for c, found in zip(ASSIGNED, got, strict=True) if found != lengths(c)]


def test_bytes_that_are_no_character_become_the_same_marks(pairs, run):
    rng = np.random.default_rng(5)
    ids = [random_ids(rng, int(rng.integers(1, 12)), pairs.vocab_size) for _ in range(2000)]
    broken = [random_ids(rng, 6, 260 - 132) for _ in range(2000)]  # of bytes from 128 on
    ids += [[i + 132 for i in row] for row in broken]
    got = run("(rows) => rows.map((ids) => pairs.decode(ids))", ids)
    assert got == [pairs.decode(row) for row in ids]
    assert sum("\ufffd" in text for text in got) > 1000


def test_half_a_character_is_refused_as_in_python(pairs, run):
    for text in ("a\ud83d", "\udc00b", "🙂\ud800 x", "\udc00\ud800"):
        with pytest.raises(ValueError) as refused:
            pairs.encode(text)
        units = np.frombuffer(text.encode("utf-16-le", "surrogatepass"), "<u2").tolist()
        assert refusal(run, "(units) => pairs.encode(String.fromCharCode(...units))", units) == str(
            refused.value
        )


@pytest.mark.parametrize(
    "text, words",
    [
        ("Where is the library?", ["Where", "is", "the", "library", "?"]),
        ("¿Dónde está, Tom?", ["¿", "Dónde", "está", ",", "Tom", "?"]),
        ("I don't know: 1,234 字字!", ["I", "don't", "know", ":", "1,234", "字字", "!"]),
        ("", []),
    ],
)
def test_byte_pairs_are_joined_to_words(text, words, pairs, run):
    places = run(
        "(ids) => attn.wordsOf(ids.map((id) => pairs.tokens[id]))", pairs.encode(text, eos=True)
    )
    ids = pairs.encode(text, eos=True)
    assert [i for some in places for i in some] == list(range(len(ids)))
    *found, end = [[ids[i] for i in some] for some in places]
    assert end == [EOS]
    assert [pairs.decode(some).strip() for some in found] == words


# The model that comes with the course ------------------------------------------------------------

OWN = [
    "Where is the library?",
    "I don't know what you're talking about.",
    "Tom's 3 cats cost $1,234.50!",
    "🙂 naïve café — “Zürich”, 東京?",
    "no",
    "  Two  spaces\tand a tab. ",
    "THE END",
    "the red house",
]


OWN_SPANISH = [
    "¿Dónde está la biblioteca?",
    "¡Los 3 gatos de Tom cuestan $1,234.50!",
    "FIN",
    "sí",
    "ñandú",
]


@pytest.mark.parametrize(
    ("language", "n_held_out"), [("en", 0), ("en", 500), ("es", 0), ("es", 500)]
)
def test_every_sentence_becomes_the_tokens_of_python(
    language, n_held_out, put, run, needed, tmp_path
):
    """Of our own, and of the corpus where it is; with the model of real sentences if it is here."""
    real = language == "es" or models.folder("tatoeba_translator").exists()
    shipped = Translator.pretrained("tatoeba" if real else "grammar", source_language=language)
    own = OWN if language == "en" else OWN_SPANISH
    texts = [text for text in own if not shipped.source.unknown(text)]
    if n_held_out and real:
        needed("tatoeba")
        side = "source" if language == "en" else "target"
        texts = [getattr(pair, side) for pair in tatoeba()["clusters"]][:n_held_out]
    elif n_held_out:
        known = (pair.source for pair in generate(5) if not shipped.source.unknown(pair.source))
        texts = [text for text in islice(known, 600) if len(text.split()) <= shipped.max_len]
    assert len(texts) >= n_held_out
    model = put("shipped", shipped.model)
    shipped.source.save(tmp_path / "words.json")
    got = run(
        """([words, texts]) => {
          const source = words.merges ? new attn.BytePairTokenizer(words) : new attn.WordTokenizer(words);
          return texts.map((text) => {
            const src = source.encode(text);
            return [src, attn.greedy(models.shipped, src, { maxNewTokens: 2 * src.length + 10 }).slice(1)];
          });
        }""",
        [json.loads((tmp_path / "words.json").read_text("utf-8")), texts],
    )
    sources = [shipped.source.encode(text) for text in texts]
    assert [src for src, _ in got] == sources
    for length in {len(src) for src in sources}:
        places = [i for i, src in enumerate(sources) if len(src) == length]
        expected = write(model, [sources[i] for i in places], 2 * length + 10)
        assert [got[i][1] for i in places] == expected


# What is refused, and what it weighs ---------------------------------------------------------------


@pytest.fixture(scope="module")
def small(put):
    return put("learned", make(**CONFIGS["learned"]))


def refusal(run, script, input=None):
    """Return the message of the error that a script ends with."""
    return run(
        f"(input) => {{ try {{ ({script})(input); return null; }} catch (error) {{ return error.message; }} }}",
        input,
    )


@pytest.mark.parametrize(
    "script, message",
    [
        ("() => models.learned.encode([1, 21])", "ids: expected values from 0 to 20, got 21"),
        ("() => models.learned.encode([-1])", "ids: expected values from 0 to 20, got -1"),
        ("() => models.learned.encode([1.5])", "ids: expected values from 0 to 20, got 1.5"),
        ("() => models.learned.encode([])", "ids: expected at least one token, got none"),
        (
            "() => models.learned.encode([1, 1, 1, 1, 1, 1, 1, 1, 1, 1])",
            "ids: expected positions below maxLen = 9, all that were learned, got 9",
        ),
        (
            "() => attn.greedy(models.learned, [1], { maxNewTokens: 10, endId: null })",
            "ids: expected positions below maxLen = 9, all that were learned, got 9",
        ),
        (
            "() => attn.greedy(models.learned, [1], {})",
            "maxNewTokens: expected an integer, got undefined",
        ),
        (
            "() => attn.greedy(models.learned, [1], { maxNewTokens: -1 })",
            "maxNewTokens: expected at least 0, got -1",
        ),
        (
            "() => attn.beamSearch(models.learned, [1], { width: 0, maxNewTokens: 5 })",
            "width: expected at least 1, got 0",
        ),
        (
            "() => attn.beamSearch(models.learned, [1], { width: 2, maxNewTokens: 1.5 })",
            "maxNewTokens: expected an integer, got 1.5",
        ),
        (
            "() => attn.beamSearch(models.learned, [1], { width: 2, maxNewTokens: 5, lengthPenalty: 10.5 })",
            "lengthPenalty: expected a number from -10 to 10, got 10.5",
        ),
        (
            "() => attn.beamSearch(models.learned, [1], { width: 2, maxNewTokens: 5, lengthPenalty: -11 })",
            "lengthPenalty: expected a number from -10 to 10, got -11",
        ),
    ],
)
def test_invalid_arguments_are_refused(script, message, small, run):
    assert refusal(run, script) == message


def test_files_that_are_no_model_for_the_page(run, tmp_path, monkeypatch):
    def load(content):
        text = base64.b64encode(content).decode()
        script = (
            "(text) => attn.loadTransformer(Uint8Array.from(atob(text), (c) => c.charCodeAt(0)))"
        )
        return refusal(run, script, text)

    path, wanted = tmp_path / "model", "bytes: expected a checkpoint of Transformer, got "
    for content in (b"", b"\x05", b"\x02\0\0\0\0\0\0\0{}", b"\xff" * 50):
        assert load(content) == wanted + "something else"
    EncoderOnly(TransformerConfig(**SIZES)).save(path, quantised=True)
    assert load(path.read_bytes()) == wanted + "a EncoderOnly"
    make().save(path, quantised=True)
    content = path.read_bytes()
    for end in (len(content) - 1, len(content) // 2):
        assert load(content[:end]).startswith("bytes: expected ")
        assert load(content[:end]).endswith(f" bytes or more, got {end}")
    assert load(content) is None
    for kind in ("alibi",):
        make(positions=kind).save(path, quantised=True)
        message = f"positions: expected 'sinusoidal', 'learned', 'rotary' or 'none', got '{kind}'"
        assert load(path.read_bytes()) == message
    monkeypatch.setitem(VARIANTS, "another", ScaledDotProduct)
    make(attention="another").save(path, quantised=True)
    message = "attention: expected 'scaled_dot_product', got 'another'"
    assert load(path.read_bytes()) == message
    for change, message in (
        ({"activation": "swiglu"}, "activation: expected 'relu', got 'swiglu'"),
        ({"normalization": "rms"}, "normalization: expected 'layer', got 'rms'"),
        ({"norm_eps": 1e-6}, "normEps: expected 0.00001, got 0.000001"),
        ({"bias": False}, "bias: expected true, got false"),
    ):
        make(**change).save(path, quantised=True)
        assert load(path.read_bytes()) == message


def test_a_whole_checkpoint_is_read_as_well(run, tmp_path):
    model, path = make(), tmp_path / "model"
    model.save(path)
    logits = run(
        """(text) => {
          const model = attn.loadTransformer(Uint8Array.from(atob(text), (c) => c.charCodeAt(0)));
          return [...model.decode([1], model.encode([1, 2]).memory).logits[0]];
        }""",
        base64.b64encode(path.read_bytes()).decode(),
    )
    with torch.no_grad():
        expected, _ = model(torch.tensor([1, 2]), torch.tensor([1]))
    np.testing.assert_allclose(logits, expected[0].numpy(), rtol=0, atol=2e-5)


def test_an_array_buffer_will_do_and_so_will_a_part_of_one(run, tmp_path):
    path = tmp_path / "model"
    make().save(path, quantised=True)
    text = base64.b64encode(path.read_bytes()).decode()
    assert (
        run(
            """(text) => {
          const bytes = Uint8Array.from(atob(text), (c) => c.charCodeAt(0));
          const longer = new Uint8Array(bytes.length + 3);
          longer.set(bytes, 3);
          const logits = [bytes, bytes.buffer, longer.subarray(3)].map((given) => {
            const model = attn.loadTransformer(given);
            return model.decode([1], model.encode([1, 2]).memory).logits[0].join();
          });
          return new Set(logits).size;
        }""",
            text,
        )
        == 1
    )


def test_the_config_has_the_names_of_python(small, run):
    expected = {
        "vocabSize": 21,
        "tgtVocabSize": None,
        "dModel": 24,
        "nHeads": 4,
        "nLayers": 2,
        "dFf": 40,
        "dropout": 0.1,
        "norm": "post",
        "positions": "learned",
        "maxLen": 9,
        "nKvHeads": 2,
        "tieEmbeddings": True,
        "scaleEmbeddings": False,
        "attention": "scaled_dot_product",
        "attentionDropout": 0,
        "activation": "relu",
        "normalization": "layer",
        "normEps": 1e-5,
        "bias": True,
        "rotaryBase": 10000,
        "nTokenTypes": 0,
        "embeddingNorm": False,
        "predictionHead": False,
        "rotaryScaling": None,
    }
    assert run("() => models.learned.config") == expected


@pytest.mark.parametrize("stem, name", [("transformer", "loadTransformer"), ("decoding", "greedy")])
def test_as_a_module_it_works_too(stem, name, page):
    page.add_script_tag(
        content=_source.module(stem) + f"\nglobalThis.via_{stem} = {name};", type="module"
    )
    page.wait_for_function(f"() => typeof via_{stem} === 'function'")


def test_the_code_is_small():
    assert len(gzip.compress(engine().encode())) < 17_000


def test_without_webassembly_the_numbers_are_the_same(put, run, tmp_path):
    model, path = make(**CONFIGS["rotary"]), tmp_path / "model"
    put("fast", model)
    model.save(path, quantised=True)
    fast, slow = run(
        """(text) => {
          const bytes = Uint8Array.from(atob(text), (c) => c.charCodeAt(0));
          const { Instance } = WebAssembly;
          WebAssembly.Instance = () => { throw new Error("no such instructions"); };
          const slowly = attn.loadTransformer(bytes);
          WebAssembly.Instance = Instance;
          const logits = (model) => model.decode([1, 2, 3], model.encode([4, 5]).memory).logits;
          return [logits(models.fast), logits(slowly)];
        }""",
        base64.b64encode(path.read_bytes()).decode(),
    )
    np.testing.assert_allclose(fast, slow, rtol=2e-5, atol=2e-5)
    assert fast != slow  # so the kernel was at work in one of them


@pytest.mark.parametrize("punctuated", [True, False])
def test_what_is_typed_is_read_as_in_python(run, punctuated):
    """A model of punctuated sentences is given one, in the page too."""
    texts = [
        "the red house",
        "  who knows?  ",
        "Where is it",
        "ñandú",
        "ßa",
        "I have 3",
        "No.",
        '"so"',
        "éa, 🙂",
        "a\tb ",
        "1",
        "the  red\u00a0house\x1f",
        "cafe\u0301",
        "\ufeffNo\u2003.",
    ]
    vocabulary = BytePairTokenizer.train([*texts, "The red house. The red house."], 280)
    translator = Translator(
        Transformer(TransformerConfig(280, **{n: SIZES[n] for n in ("d_model", "n_heads")})),
        vocabulary,
        vocabulary,
        40,
        punctuated=punctuated,
    )
    found = run(
        """({ words, punctuated, texts }) => {
          const source = new attn.BytePairTokenizer(words);
          return texts.map((text) => attn.encodeSource({ source, maxLen: 40, punctuated }, text).ids);
        }""",
        {"words": vocabulary._content(), "punctuated": punctuated, "texts": texts},
    )
    assert found == [translator.source_ids(text) for text in texts]
