"""The translator that learns in the page: its gradients against PyTorch's, and what is stored of one training."""

import json
import re

import numpy as np
import pytest
import torch
from torch.nn import functional as F

from attn.transformer import Transformer, TransformerConfig
from attn_course.grammar import translate
from attn_course.widgets import Learner
from experiments import learner

SIZES = {"dModel": 8, "dFf": 12, "nLayers": 2, "nHeads": 2, "sourceSize": 7, "targetSize": 9}
PAIRS = [[[0, 3, 2], [2, 5]], [[6], [8, 3, 3, 4]], [[1, 5, 5, 4, 0], []]]
SCRIPT = """
import * as pass from "./learner_worker.mjs";
const { named, newModel, dice, lossOf, backward, forget, encode, decode, pack, translate, SOS } = pass;
const print = (x) => console.log(JSON.stringify(x));
const plain = (x) => Array.from(x);
const model = newModel(input.sizes, dice(input.seed ?? 3));
// Norms and biases start at 1 and 0, where a gradient of theirs that is wrong could hide.
const random = dice(4);
for (const [, { values }] of named(model.parameters)) for (let i = 0; i < values.length; i++) values[i] += 0.4 * random() - 0.2;
"""


def torch_model(parameters, sizes, **options):
    """Return the model in our layers, with the weights of the page's."""
    model = Transformer(
        TransformerConfig(
            vocab_size=sizes["sourceSize"],
            tgt_vocab_size=sizes["targetSize"],
            d_model=sizes["dModel"],
            n_heads=sizes["nHeads"],
            n_layers=sizes["nLayers"],
            d_ff=sizes["dFf"],
            norm="pre",
            dropout=0.0,
            tie_embeddings=False,
            **options,
        )
    ).double()
    own = dict(model.named_parameters())
    weights = {}
    for name, values in parameters.items():
        name = re.sub(r"([A-Z]|(?<=norm|near)\d)", lambda found: f"_{found[0].lower()}", name)
        weights[name] = torch.tensor(values, dtype=torch.float64).reshape(own[name].shape)
    assert weights.keys() == own.keys()
    model.load_state_dict(weights)
    return model


def padded(sequences):
    length = max(map(len, sequences))
    ids = torch.tensor([ids + [0] * (length - len(ids)) for ids in sequences])
    return ids, torch.arange(length) < torch.tensor([[len(ids)] for ids in sequences])


def torch_logits(model, sources, targets):
    """Return the logits of a batch, padded, one row below the other as in the page."""
    (src, real), (tgt, written) = padded(sources), padded(targets)
    memory, _ = model.encode(src, real[:, None, None, :])
    logits, _ = model.decode(tgt, memory, real[:, None, None, :])
    return logits[written]


def test_gradients_are_pytorchs(node):
    script = """
    const loss = lossOf(model, input.pairs);
    backward();
    const all = named(model.parameters).map(([name, { values, gradient }]) => [name, plain(values), plain(gradient)]);
    print({ loss, all });"""
    got = node(SCRIPT + script, {"sizes": SIZES, "pairs": PAIRS})
    model = torch_model({name: values for name, values, _ in got["all"]}, SIZES)
    logits = torch_logits(model, [s for s, _ in PAIRS], [[0, *t] for _, t in PAIRS])
    loss = F.cross_entropy(logits, torch.tensor([id for _, t in PAIRS for id in (*t, 1)]))
    loss.backward()
    assert got["loss"] == pytest.approx(loss.item(), rel=1e-12)
    theirs = [parameter.grad for parameter in model.parameters()]
    by_name = {name: gradient for name, _, gradient in got["all"]}
    moved = torch_model(by_name, SIZES)
    for ours, gradient in zip(moved.parameters(), theirs, strict=True):
        torch.testing.assert_close(ours.data, gradient, rtol=1e-8, atol=1e-10)


def test_gradients_are_finite_differences(node):
    """The broken passes have gradients too, and PyTorch knows nothing of them."""
    script = """
    const breaks = { isCausal: false, isOrdered: false, factor: 0.7, cut: { "encoder.1.self": [0], "decoder.0.cross": [1] } };
    lossOf(model, input.pairs, breaks);
    backward();
    const lossAt = (values, i, x) => { values[i] = x; const loss = lossOf(model, input.pairs, breaks); forget(); return loss; };
    print(named(model.parameters).map(([name, { values, gradient }]) => {
      const i = gradient.reduce((best, g, at) => (Math.abs(g) > Math.abs(gradient[best]) ? at : best), 0);
      const [x, h] = [values[i], 1e-5];
      const slope = (lossAt(values, i, x + h) - lossAt(values, i, x - h)) / (2 * h);
      values[i] = x;
      return [name, gradient[i], slope];
    }));"""
    for name, gradient, slope in node(SCRIPT + script, {"sizes": SIZES, "pairs": PAIRS}):
        # The bias of the keys adds the same to all scores of a query, which changes no weight.
        if not name.endswith("kProj.bias"):
            assert abs(gradient) > 1e-5, name
        assert gradient == pytest.approx(slope, rel=1e-5, abs=1e-8), name


def cut_head(model, name):
    """Silence a head: the last projection of its attention ignores what it found."""
    side, layer, kind, head = name.split(".")
    part = getattr(model, side).layers[int(layer)]
    attention = part.cross_attention if kind == "cross" else part.self_attention
    attention.out_proj.weight.data[:, 4 * int(head) : 4 * int(head) + 4] = 0


def scale_scores(model, factor):
    for name, parameter in model.named_parameters():
        if "q_proj" in name:
            parameter.data *= factor


def drop_layer(model, side):
    del getattr(model, side).layers[1]


@pytest.mark.parametrize(
    "breaks, damage",
    [
        ({}, lambda model: None),
        ({"cut": {"encoder.0.self": [1]}}, lambda model: cut_head(model, "encoder.0.self.1")),
        ({"cut": {"decoder.1.self": [0]}}, lambda model: cut_head(model, "decoder.1.self.0")),
        ({"cut": {"decoder.0.cross": [1]}}, lambda model: cut_head(model, "decoder.0.cross.1")),
        ({"without": ["encoder.1"]}, lambda model: drop_layer(model, "encoder")),
        ({"without": ["decoder.1"]}, lambda model: drop_layer(model, "decoder")),
        ({"factor": 2.5}, lambda model: scale_scores(model, 2.5)),
        ({"isOrdered": False}, {"positions": "none"}),
    ],
)
@torch.no_grad()
def test_a_broken_pass_equals_that_of_modified_layers(node, breaks, damage):
    script = """
    const [source, target] = [pack(input.pairs.map(([s]) => s)), pack(input.pairs.map(([, t]) => [SOS, ...t]))];
    const logits = decode(model, target, encode(model, source, input.breaks), source, input.breaks);
    print({ logits: plain(logits.values), all: named(model.parameters).map(([name, { values }]) => [name, plain(values)]) });"""
    got = node(SCRIPT + script, {"sizes": SIZES, "pairs": PAIRS, "breaks": breaks})
    options = damage if isinstance(damage, dict) else {}
    model = torch_model(dict(got["all"]), SIZES, **options)
    if not options:
        damage(model)
    wanted = torch_logits(model, [s for s, _ in PAIRS], [[0, *t] for _, t in PAIRS])
    np.testing.assert_allclose(got["logits"], wanted.numpy().ravel(), rtol=1e-8, atol=1e-9)


def test_without_the_causal_mask_a_token_attends_to_later_tokens(node):
    script = """
    const first = (end, breaks) => {
      const [source, target] = [pack([[1, 2]]), pack([[SOS, 3, end]])];
      return plain(decode(model, target, encode(model, source, breaks), source, breaks).values.slice(0, 9));
    };
    print([{}, { isCausal: false }].map((breaks) => [first(4, breaks), first(5, breaks)]));"""
    (one, same), (seen, changed) = node(SCRIPT + script, {"sizes": SIZES})
    assert one == same
    assert np.abs(np.subtract(seen, changed)).max() > 1e-3


def test_the_sentences_are_the_grammars():
    stored = learner.read("world")
    lines = [*stored["held"], *stored["train"]]
    assert learner.pairs(150) == [tuple(line.split("|")) for line in lines[:150]]
    for source, target in learner.pairs(12):
        assert translate(source).target == target
    sources = [line.split("|")[0] for line in lines]
    assert len(set(sources)) == len(sources) == learner.N_TRAIN + learner.N_HELD_OUT
    assert set(learner.SHOWN) <= set(sources[: learner.N_HELD_OUT])
    for side, words in enumerate((stored["source"], stored["target"][2:])):
        assert words == sorted({word for line in lines for word in line.split("|")[side].split()})
        assert 60 <= len(words) <= 120


def test_the_first_steps_of_the_stored_training_repeat():
    stored = learner.read("stored")
    again = learner.trained(moments=(0, 20), is_broken=False)
    assert [again["seed"], again["shown"]] == [stored["seed"], stored["shown"]]
    for now, then in zip(again["film"], stored["film"][:2], strict=True):
        # The exponential is not the same to the last bit in every version of Node.
        assert now["loss"] == pytest.approx(then["loss"], rel=1e-6)
        assert [now["step"], now["right"], now["texts"]] == [
            then["step"],
            then["right"],
            then["texts"],
        ]


def test_without_the_causal_mask_the_loss_falls_but_no_translation_is_right(node):
    """Its loss on sentences that it has not read is lower, and not one of them comes out right."""
    script = """
    const world = pass.readWorld(input.world);
    print([{ isCausal: true }, { isCausal: false }].map((breaks) => {
      const training = pass.newTraining(world, 1, breaks);
      while (training.step < 100) training.advance();
      return pass.score(world, training.model, breaks);
    }));"""
    masked, unmasked = node(SCRIPT + script, {"sizes": SIZES, "world": learner.read("world")})
    assert unmasked["loss"] < masked["loss"] - 0.1
    assert unmasked["right"] == 0 and masked["right"] > 5


@torch.no_grad()
def test_the_stored_model_translates_in_attn_as_in_the_page(node):
    world, stored = learner.read("world"), learner.read("stored")
    script = """
    const world = pass.readWorld(input.world);
    const kept = pass.readModel(world.config, new Uint8Array(Buffer.from(input.weights, "base64")));
    const found = translate(kept, world.held.map(([ids]) => ids));
    print({ sizes: world.config, texts: found.map(({ ids }) => world.wordsOf(ids).join(" ")),
      all: named(kept.parameters).map(([name, { values }]) => [name, plain(values)]), cross: found[0].cross });"""
    got = node(SCRIPT + script, {"sizes": SIZES, "world": world, "weights": stored["weights"]})
    model = torch_model(dict(got["all"]), got["sizes"])
    right = 0
    for text, line in zip(got["texts"], world["held"], strict=True):
        source, target = line.split("|")
        memory, _ = model.encode(
            torch.tensor([[world["source"].index(word) for word in source.split()]])
        )
        ids = [0]
        while len(ids) < 13 and (len(ids) == 1 or ids[-1] != 1):
            logits, weights = model.decode(torch.tensor([ids]), memory, need_weights=True)
            ids.append(int(logits[0, -1].argmax()))
        assert text == " ".join(world["target"][id] for id in ids[1:] if id != 1)
        if line == world["held"][0]:
            rows = torch.tensor(got["cross"]).double()[:, 0]
            torch.testing.assert_close(rows.transpose(0, 1), weights[1][0][0], rtol=1e-6, atol=1e-8)
        right += text == target
    assert right == stored["breaks"]["nothing"] >= 48


def test_the_stored_results_of_broken_models_are_complete():
    stored = learner.read("stored")
    order = [(-right, loss) for _, _, right, loss in stored["pairs"]]
    assert order == sorted(order) and len(order) == 66
    assert {tuple(pair[:2]) for pair in stored["pairs"]} == {
        (a, b) for b in range(12) for a in range(b)
    }
    # In one layer the last token sees no more without a mask, so that nothing changes while it translates.
    assert stored["breaks"]["mask"] == stored["breaks"]["nothing"]
    worse = stored["breaks"].keys() - {"mask", "nothing"}
    assert all(stored["breaks"][name] < stored["breaks"]["nothing"] for name in worse)
    # The page says that the four worst pairs are of one attention: that over the source.
    assert all(a >= 8 for a, b, right, _ in stored["pairs"] if right < 10)
    assert len(stored["weights"]) < 60_000


def test_words_curves_and_ranks_of_the_figure(node):
    script = """
    import { pathOf, rankOf, wordsOf } from "./learner.mjs";
    const pairs = [[0, 5, 50, 0.1], [3, 11, 9, 2]];
    console.log(JSON.stringify([
      wordsOf(" The red  house. "), wordsOf(" "), pathOf([[0, 8], [5, 3], [10, 0]], 10, 6),
      rankOf(pairs, ["decoder.0.cross.3", "encoder.0.self.3"]), rankOf(pairs, ["encoder.0.self.0", "decoder.0.self.1"]),
    ]));"""
    words, nothing, path, last, first = node(script)
    assert words == ["the", "red", "house"] and nothing == []
    assert path == "M0.00 0.00L50.00 50.00L100.00 100.00"
    assert (first, last) == (1, 2)


@pytest.mark.parametrize("language", ["es", "en"])
def test_the_fallback_shows_the_stored_results(language):
    stored = learner.read("stored")
    watch, broken = (Learner(part, language=language)._fallback() for part in ("watch", "break"))
    assert learner.SHOWN[0] in watch
    assert re.findall(r'<th scope="row">(\d+)</th>', watch) == [
        str(m["step"]) for m in stored["film"]
    ]
    assert re.findall(r"<td>(\d+)</td>", broken) == [str(n) for n in stored["breaks"].values()]


def test_the_page_gets_no_model_before_it_is_wanted():
    html = {part: Learner(part)._html() for part in ("watch", "break")}
    state = json.loads(
        re.search(r'<script type="application/json">(.*?)</script>', html["watch"])[1]
    )
    assert state.keys() == {"part", "learned", "language"}
    assert len(html["watch"]) < 60_000 and len(html["break"]) < 12_000
    with pytest.raises(ValueError, match="part: expected 'watch' or 'break'"):
        Learner("mend")
