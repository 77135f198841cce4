"""Every mixer in a model: training, decoding, saving, exporting and the reported costs."""

import copy
import dataclasses
import json
from pathlib import Path

import numpy as np
import onnxruntime
import pytest
import torch
from torch.nn import functional as F
from torch.utils.flop_counter import FlopCounterMode

from attn.decoding import greedy
from attn.experts import MixtureOfExperts
from attn.masks import padding_mask
from attn.mixers import (
    MIXERS,
    DeltaRule,
    GatedDeltaRule,
    LinearAttention,
    Mixer,
    MultiHead,
    MultiHeadLatent,
    Retention,
    StateMixer,
    described,
    mixer_from,
)
from attn.transformer import DecoderOnly, EncoderOnly, Transformer, TransformerConfig
from tests.core.helpers import Logits, check_one_graph_serves_every_step, random_ids
from tests.refusals import refusals

SIZES = {
    "vocab_size": 20,
    "d_model": 16,
    "n_heads": 4,
    "n_layers": 2,
    "d_ff": 24,
    "dropout": 0.0,
    "norm": "pre",
    "tie_embeddings": False,
}
ROTARY = {"positions": "rotary", "n_kv_heads": 2}
# The changes that each mixer makes to the configuration. Every registered mixer has an entry here.
CASES = {
    "multi_head": {"mixers": (MultiHead(),)},
    "multi_head, grouped and rotary": ROTARY | {"mixers": (MultiHead(),)},
    "sink": ROTARY | {"mixers": (MultiHead(sink=True),)},
    "gate": ROTARY | {"mixers": (MultiHead(gate=True),)},
    "soft cap": ROTARY | {"mixers": (MultiHead(soft_cap=1.5),)},
    "window": ROTARY | {"mixers": (MultiHead(window=3),)},
    "windows and a layer that sees all, with ALiBi": {
        "positions": "alibi",
        "n_layers": 3,
        "mixers": (MultiHead(window=3), MultiHead(window=1), MultiHead()),
    },
    "layers without positions": ROTARY | {"mixers": (MultiHead(), MultiHead(positions="none"))},
    "all of these": ROTARY
    | {
        "mixers": (
            MultiHead(True, True, True, 1.5, window=3),
            MultiHead(True, True, True, positions="none"),
        )
    },
    "multi_head_latent": {"mixers": (MultiHeadLatent(d_latent=6),)},
    "latent and rotary, and one without": {
        "positions": "rotary",
        "mixers": (MultiHeadLatent(d_latent=6, d_rotary=4), MultiHeadLatent(d_latent=5)),
    },
    "experts": {
        "mixers": (MultiHead(),),
        "experts": MixtureOfExperts(4, 2, 8, n_shared=1, balance="bias", bias_step=0.1),
    },
    "norm of queries and keys": ROTARY | {"mixers": (MultiHead(qk_norm=True),)},
    "linear_attention": {"mixers": (LinearAttention(d_k=3, convolution=2),)},
    "retention": {"positions": "rotary", "mixers": (Retention(d_v=5),)},
    "delta_rule": {"mixers": (DeltaRule(d_k=6, negative_eigenvalues=True),)},
    "gated_delta_rule": {"mixers": (GatedDeltaRule(convolution=3),)},
    "a state, then softmax": ROTARY | {"mixers": (GatedDeltaRule(convolution=3), MultiHead())},
}
EVERY = pytest.mark.parametrize("changes", CASES.values(), ids=CASES)


def config(changes):
    """Return a configuration of small sizes, with the experts' own size if there are experts."""
    sizes = {
        name: size for name, size in SIZES.items() if name != "d_ff" or "experts" not in changes
    }
    return TransformerConfig(**sizes | changes)


def make(changes, seed=0, **more):
    """Return a model in float64 with every weight changed, so that none is 0 or 1."""
    torch.manual_seed(seed)
    model = DecoderOnly(config(changes | more)).double()
    with torch.no_grad():
        for parameter in model.parameters():
            parameter += (0.3 if parameter.ndim > 1 else 0.1) * torch.randn_like(parameter)
    return model


def test_every_registered_mixer_is_tested():
    tried = {type(mixer) for changes in CASES.values() for mixer in changes["mixers"]}
    assert tried == {*MIXERS.values()}


@EVERY
def test_it_learns_to_copy(changes):
    """Every parameter gets a gradient, and a few steps lower the loss."""
    torch.manual_seed(0)
    model, ids = DecoderOnly(config(changes)).double(), random_ids(4, 9)
    optimizer, losses = torch.optim.Adam(model.parameters(), lr=1e-2), []
    for _ in range(6):
        logits, _ = model(ids)
        losses.append(F.cross_entropy(logits[:, :-1].flatten(0, 1), ids[:, 1:].flatten()))
        optimizer.zero_grad()
        losses[-1].backward()
        for name, parameter in model.named_parameters():
            assert parameter.grad is not None and parameter.grad.abs().max() > 0, name
        optimizer.step()
    assert losses[-1] < losses[0] - 0.2


@EVERY
def test_no_output_depends_on_later_tokens(changes):
    model, ids = make(changes).eval(), random_ids(2, 9)
    other = torch.cat((ids[:, :5], (ids[:, 5:] + 1) % 20), dim=-1)
    torch.testing.assert_close(model(ids)[0][:, :5], model(other)[0][:, :5], rtol=1e-9, atol=1e-9)
    assert not torch.allclose(model(ids)[0][:, 5:], model(other)[0][:, 5:])


@EVERY
def test_decoding_with_a_cache_equals_the_parallel_form(changes):
    """Token by token, in pieces, after a reorder of rows, and after a refused step."""
    model, ids = make(changes).eval(), random_ids(3, 11)
    expected = model(ids)[0]
    for cuts in (range(1, 11), (4,), (2, 9), (7, 8)):
        cache, pieces = model.new_cache(), ids.tensor_split(tuple(cuts), dim=-1)
        logits = torch.cat([model(piece, cache=cache)[0] for piece in pieces], dim=-2)
        torch.testing.assert_close(logits, expected, rtol=1e-9, atol=1e-9)
        assert cache.length == 11
    cache, rows = model.new_cache(), torch.tensor([2, 0, 0])
    model(ids[:, :6], cache=cache)
    with pytest.raises(ValueError, match="ids"):
        model(torch.full((3, 1), 20), cache=cache)
    cache.reorder(rows)
    moved = model(ids[rows][:, 6:], cache=cache)[0]
    torch.testing.assert_close(moved, expected[rows][:, 6:], rtol=1e-9, atol=1e-9)


@EVERY
def test_a_fixed_cache_equals_a_growing_one(changes):
    """In pieces longer than a window or empty, after a failure, copied, and reordered."""
    model, ids = make(changes).eval(), random_ids(3, 12)
    growing, fixed, start = model.new_cache(), model.new_cache(room=12, n_rows=3), 0
    places = [kept.data_ptr() for part in fixed.self_attention for kept in part.replaced]
    for n_new in (2, 1, 0, 5, 1):
        new = ids[:, start : start + n_new]
        logits, _ = model(new, cache=fixed)
        torch.testing.assert_close(logits, model(new, cache=growing)[0], rtol=1e-9, atol=1e-9)
        start += n_new
        if start == 3:
            model.output.forward, usual = lambda x: 1 / 0, model.output.forward
            with pytest.raises(ZeroDivisionError):
                model(ids[:, 3:6], cache=fixed)
            model.output.forward = usual
    before = fixed.copied()
    model.in_room(ids[:, 9:10], fixed, fixed.slots(1))
    fixed.restore(before)
    rows, other = torch.tensor([2, 0, 0]), copy.deepcopy(fixed)
    fixed.reorder(rows)
    growing.reorder(rows)
    for _ in range(2):
        new = ids[rows][:, start : start + 1]
        logits, _ = model(new, cache=fixed)
        torch.testing.assert_close(logits, model(new, cache=growing)[0], rtol=1e-9, atol=1e-9)
        start += 1
    expected = model(ids)[0]
    torch.testing.assert_close(model(ids[:, 9:], cache=other)[0], expected[:, 9:])
    assert places == [kept.data_ptr() for part in fixed.self_attention for kept in part.replaced]
    assert fixed.nbytes == growing.nbytes
    fixed.truncate(0)
    torch.testing.assert_close(model(ids[:, :7], cache=fixed)[0], expected[:, :7])


@EVERY
def test_generated_tokens_are_the_same_with_and_without_a_cache(changes):
    model, limits = make(changes).eval(), {"end_id": None, "max_new_tokens": 9}
    prompts = random_ids(6, 3)
    cached = greedy(model.step, prompts, cache=model.new_cache(), **limits)
    assert torch.equal(cached, greedy(model.step, prompts, **limits))
    assert len({*cached[:, 3:].flatten().tolist()}) > 1


@EVERY
def test_prompts_of_unequal_length_continue_in_one_batch(changes):
    model, ids = make(changes).eval(), random_ids(2, 9)
    cache, mask = model.new_cache(), padding_mask([6, 2], 6).flip(-1)
    for length in (6, 7, 8, 9):
        together = model.step(ids[:, :length], cache, mask)
        for i, first in enumerate((0, 4)):
            alone = model.step(ids[i : i + 1, first:length], None)
            torch.testing.assert_close(together[i : i + 1], alone, rtol=1e-9, atol=1e-9)


@EVERY
def test_returning_weights_does_not_change_the_output(changes):
    model, ids = make(changes).eval(), random_ids(2, 7)
    expected, none = model(ids)
    logits, weights = model(ids, need_weights=True)
    assert none is None and len(weights) == model.config.n_layers
    torch.testing.assert_close(logits, expected, rtol=1e-9, atol=1e-9)
    for one in weights:
        assert one.shape == (2, 4, 7, 7)
        assert not one.triu(1).any() and one.any(dim=-1).all()


@EVERY
def test_a_saved_model_is_loaded(changes, tmp_path: Path):
    model, ids = make(changes).eval(), random_ids(2, 7)
    for quantised, tolerance in ((False, 1e-12), (True, 0.2)):
        model.save(tmp_path / "model", quantised=quantised)
        again = DecoderOnly.load(tmp_path / "model")
        assert again.config == model.config and again.config.mixers == changes["mixers"]
        expected = model(ids)[0]
        difference = again(ids)[0].double() - expected
        assert difference.abs().max() <= tolerance * expected.abs().max()


@EVERY
@pytest.mark.parametrize("length", [1, 5, 12])
def test_the_reported_costs_are_right(changes, length):
    """Compared with the bytes of the real cache, and the products that PyTorch counts."""
    model, ids = make(changes).float().eval(), random_ids(1, length)
    cache, options = model.new_cache(), model.config
    if length > 1:
        model(ids[:, :-1], cache=cache)
    # PyTorch does not count fused attention on every processor, so weights are requested, except of
    # a state, which has no weights of earlier tokens.
    x = torch.randn(1, 1, options.d_model)
    layers = zip(options.layer_mixers, model.stack.layers, cache.self_attention, strict=True)
    for mixer, layer, kept in layers:
        weights = not isinstance(mixer, StateMixer)
        with FlopCounterMode(display=False) as counter, torch.no_grad():
            layer.self_attention(x, is_causal=True, need_weights=weights, cache=kept)
        assert counter.get_total_flops() == mixer.step_flops(options, length)
        assert kept.nbytes == mixer.cache_bytes(options, length, torch.float32)
    assert cache.nbytes == sum(m.cache_bytes(options, length) for m in options.layer_mixers)


def every_mixer(without=None):
    """Return one model with a layer of each mixer, so that it is exported and compiled once."""
    everything = MultiHead(True, True, True, 1.5, window=3)
    mixers = (everything, MultiHead(positions="none"), MultiHeadLatent(d_latent=6, d_rotary=4))
    mixers += LinearAttention(), Retention(), DeltaRule(), GatedDeltaRule(convolution=2)
    assert {*map(type, mixers)} == {*MIXERS.values()}
    mixers = tuple(mixer for mixer in mixers if type(mixer) is not without)
    experts = CASES["experts"]["experts"]
    return make(ROTARY | {"mixers": mixers, "n_layers": len(mixers), "experts": experts}).eval()


def test_each_mixer_compiles(needed):
    """There is one graph, forward and backward, and it computes the same as eager code."""
    needed("compiler")
    torch.compiler.reset()
    model, ids = every_mixer(), random_ids(2, 8)
    logits, _ = torch.compile(model, fullgraph=True, backend="aot_eager")(ids)
    torch.testing.assert_close(logits, model(ids)[0], rtol=1e-9, atol=1e-9)
    logits.square().sum().backward()
    assert all(parameter.grad is not None for parameter in model.parameters())


@pytest.mark.slow
@torch.no_grad()
def test_one_graph_serves_every_step_of_a_fixed_cache():
    check_one_graph_serves_every_step(every_mixer(), random_ids(2, 9))


@pytest.mark.slow
def test_onnx_runtime_computes_the_same_logits(tmp_path):
    # The exporter takes many seconds a layer, and the gated delta rule contains the delta rule.
    wrapper = Logits(every_mixer(without=DeltaRule).float()).eval()
    axes = {0: torch.export.Dim("n_rows"), 1: torch.export.Dim("seq_len", max=64)}
    example = random_ids(3, 6), padding_mask([6, 4, 2], 6).flip(-1)
    shapes, path = ((axes, {0: axes[0], 2: axes[1]}),), tmp_path / "model.onnx"
    torch.onnx.export(wrapper, example, path, dynamic_shapes=shapes, dynamo=True, verbose=False)
    session = onnxruntime.InferenceSession(path, providers=["CPUExecutionProvider"])
    names = [given.name for given in session.get_inputs()]
    for lengths, seq_len in (([1], 1), ([3], 4), ([4, 6, 1], 6), ([12, 50], 50)):
        given = random_ids(len(lengths), seq_len), padding_mask(lengths, seq_len).flip(-1)
        inputs = {name: x.numpy() for name, x in zip(names, given, strict=True)}
        expected = wrapper(*given).detach().numpy()
        (logits,) = session.run(None, inputs)
        np.testing.assert_allclose(logits, expected, atol=5e-5, rtol=5e-5)


# the configuration


def test_a_model_without_mixers_is_unchanged(tmp_path):
    """The initial weights and their names are unchanged, and a file does not mention mixers."""
    plain = DecoderOnly(TransformerConfig(**SIZES))
    plain.save(tmp_path / "plain")
    content = (tmp_path / "plain").read_bytes()
    assert b"mixers" not in content and b"experts" not in content
    torch.manual_seed(3)
    plain = DecoderOnly(TransformerConfig(**SIZES))
    torch.manual_seed(3)
    named = DecoderOnly(TransformerConfig(**SIZES, mixers=(MultiHead(),)))
    for one, other in zip(plain.state_dict().items(), named.state_dict().items(), strict=True):
        assert one[0] == other[0] and torch.equal(one[1], other[1])


@dataclasses.dataclass(frozen=True)
class Nothing(Mixer):
    """A mixer that reads no option and is not registered."""


test_options_that_no_mixer_uses_are_refused = refusals(
    ({"mixers": "multi_head"}, "mixers: expected a tuple of attn.mixers.Mixer, got 'multi"),
    ({"mixers": (MultiHead,)}, "mixers: expected a tuple of attn.mixers.Mixer, got "),
    ({"mixers": (MultiHead(),) * 3}, "mixers: expected at most n_layers = 2, got 3"),
    ({"mixers": (Nothing(),), "n_kv_heads": 2}, "n_kv_heads: expected None, since no mixer"),
    (
        {"mixers": (Nothing(),), "attention_dropout": 0.1},
        "attention_dropout: expected 0.0, since no mixer uses it, got 0.1",
    ),
    (
        {"mixers": (Nothing(),), "positions": "rotary"},
        "positions: expected a kind that is added to the tokens, .*, got 'rotary'",
    ),
    of=lambda changes: TransformerConfig(**SIZES | changes),
)


def test_options_that_one_layer_uses_are_allowed():
    config = TransformerConfig(**SIZES, mixers=[Nothing(), MultiHead()], positions="rotary")
    assert config.mixers == (Nothing(), MultiHead()) == config.layer_mixers


@pytest.mark.parametrize("model_class", [EncoderOnly, Transformer])
def test_models_that_use_no_mixers_refuse_them(model_class):
    with pytest.raises(ValueError, match=r"^mixers: expected \(\), since .* does nothing with it"):
        model_class(TransformerConfig(**SIZES, mixers=(MultiHead(),)))


def test_a_mixer_without_a_fixed_cache_is_named():
    class Memoryless(torch.nn.Module):
        """A mixer with all that a layer needs but a fixed cache."""

    model = make(CASES["delta_rule"])
    model.stack.layers[1].self_attention = Memoryless()
    with pytest.raises(ValueError, match="^room: expected None, since DeltaRule has no cache of f"):
        model.new_cache(room=8)


@pytest.mark.parametrize(
    "old, new, message",
    [
        ('"name": "multi_head"', '"name": "multi_hand"', "mixers: .*'multi_head'.*, got 'multi_h"),
        ('"name": "multi_head"', '"name": "multi_head", "odd": 1', "mixers: expected fields of m"),
    ],
)
def test_a_description_of_another_mixer_is_refused(old, new, message):
    text = json.dumps(described(MultiHead()))
    assert mixer_from(json.loads(text)) == MultiHead()
    with pytest.raises(ValueError, match=message):
        mixer_from(json.loads(text.replace(old, new)))
