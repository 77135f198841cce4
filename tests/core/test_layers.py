"""attn.layers against the NumPy reference and layers written by hand.

`test_torch_weights` compares them with PyTorch's own.
"""

import copy
import re
from functools import partial
from unittest.mock import patch

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch import nn
from torch.nn import functional as F

from attn import reference
from attn.attention import MultiHeadAttention
from attn.cache import KVCache, MemoryCache
from attn.layers import DecoderLayer, EncoderLayer, FeedForward, new_norm
from attn.masks import causal_mask, padding_mask
from attn.positions import RotaryPositions
from tests.core.helpers import assert_close, random, randomise, refuses
from tests.refusals import refusals

BATCH_SIZE, TGT_LEN, SRC_LEN, D_MODEL, N_HEADS, D_FF = 3, 5, 7, 12, 3, 20
SIZES = (D_MODEL, N_HEADS, D_FF)
TGT_LENGTHS, SRC_LENGTHS = [5, 3, 1], [2, 7, 4]

pre_and_post = pytest.mark.parametrize("norm", ["pre", "post"])
both_layers = pytest.mark.parametrize("layer_class", [EncoderLayer, DecoderLayer])


@pre_and_post
def test_a_layer_returns_the_weights_of_its_attentions(norm):
    x, memory = random(2, TGT_LEN, D_MODEL), random(2, SRC_LEN, D_MODEL, seed=2)
    encoder, decoder = (
        randomise(kind(*SIZES, norm=norm).double()) for kind in (EncoderLayer, DecoderLayer)
    )
    assert encoder(x)[1] is decoder(x, memory)[1] is None
    output, weights = encoder(x, need_weights=True)
    assert_close(output, encoder(x)[0])
    seen = encoder.norm_1(x) if norm == "pre" else x
    assert_close(weights, encoder.self_attention(seen, need_weights=True)[1])

    output, weights = decoder(x, memory, need_weights=True)
    assert_close(output, decoder(x, memory)[0])
    seen = decoder.norm_1(x) if norm == "pre" else x
    attended, own = decoder.self_attention(seen, is_causal=True, need_weights=True)
    x = x + attended if norm == "pre" else decoder.norm_1(x + attended)
    seen = decoder.norm_2(x) if norm == "pre" else x
    _, cross = decoder.cross_attention(seen, memory, need_weights=True)
    assert isinstance(weights, tuple)
    assert_close(weights, (own, cross))


@both_layers
def test_a_feed_forward_network_needs_no_attribute_d_model(layer_class):
    linear = nn.Linear(D_MODEL, D_MODEL)
    layer, x = layer_class(*SIZES, feed_forward=linear), torch.ones(2, TGT_LEN, D_MODEL)
    inputs = (x,) if layer_class is EncoderLayer else (x, x)
    assert layer(*inputs)[0].shape == x.shape


# the NumPy reference


def in_numpy(layer):
    """Return the parameters of a layer in the form that `attn.reference` takes."""

    def array(parameter, transpose=False):
        return (parameter.T if transpose else parameter).detach().numpy()

    def linears(module, names):
        return {
            f"{kind}_{short}": array(getattr(getattr(module, name), long), kind == "w")
            for short, name in names.items()
            for kind, long in (("w", "weight"), ("b", "bias"))
        }

    parameters = {}
    for name, module in layer.named_children():
        if isinstance(module, MultiHeadAttention):
            names = {"q": "q_proj", "k": "k_proj", "v": "v_proj", "o": "out_proj"}
            parameters[name] = linears(module, names)
        elif isinstance(module, FeedForward):
            parameters[name] = linears(module, {"1": "linear_1", "2": "linear_2"})
        elif isinstance(module, nn.LayerNorm):
            parameters[name] = {"gain": array(module.weight), "bias": array(module.bias)}
    return parameters


@given(data=st.data())
def test_torch_equals_numpy(data):
    draw = data.draw
    n_kv_heads, group, half = (draw(st.integers(1, 3)) for _ in range(3))
    n_heads, norm = n_kv_heads * group, draw(st.sampled_from(["pre", "post"]))
    d_model, d_ff = 2 * half * n_heads, draw(st.integers(1, 9))
    batch = draw(st.sampled_from([(), (2,), (2, 3)]))
    tgt_len, src_len = draw(st.integers(0, 4)), draw(st.integers(0, 4))
    seed = draw(st.integers(0, 10**6))
    x, memory = random(*batch, tgt_len, d_model, seed=seed), random(*batch, src_len, d_model)
    density = draw(st.sampled_from([0.0, 0.5, 1.0]))
    rng = np.random.default_rng(seed)
    mask, memory_mask = (rng.random((*batch, tgt_len, n)) < density for n in (tgt_len, src_len))

    heads = partial(MultiHeadAttention, d_model, n_heads, n_kv_heads=n_kv_heads)
    layer = EncoderLayer(d_model, n_heads, d_ff, norm=norm, mixer=heads())
    layer = randomise(layer.double(), seed)
    output, _ = layer(x, torch.from_numpy(mask))
    expected = reference.encoder_layer(x.numpy(), in_numpy(layer), n_heads, mask, norm)
    assert_close(output, torch.from_numpy(expected))

    layer = DecoderLayer(d_model, n_heads, d_ff, norm=norm, mixer=heads(), cross_attention=heads())
    layer = randomise(layer.double(), seed)
    output, _ = layer(x, memory, torch.from_numpy(mask), torch.from_numpy(memory_mask))
    causal = mask & np.tri(tgt_len, dtype=bool)
    expected = reference.decoder_layer(
        x.numpy(), memory.numpy(), in_numpy(layer), n_heads, causal, memory_mask, norm
    )
    assert_close(output, torch.from_numpy(expected))


# the feed-forward network


@pytest.mark.parametrize("batch", [(), (4,), (2, 3), (0,)])
def test_feed_forward_transforms_each_position_by_itself(batch):
    network, x = randomise(FeedForward(6, 11).double()), random(*batch, 6)
    w_1, b_1, w_2, b_2 = network.parameters()
    assert_close(network(x), (x @ w_1.T + b_1).clamp(min=0) @ w_2.T + b_2)


def phi(z):
    """Return the probability that a standard normal number is below z."""
    return (1 + torch.erf(z / 2**0.5)) / 2


FORMULAS = {
    "gelu": lambda z, gate: z * phi(z),
    "gelu_tanh": lambda z, gate: (
        z * (1 + torch.tanh((2 / torch.pi) ** 0.5 * (z + 0.044715 * z**3))) / 2
    ),
    "swiglu": lambda z, gate: z / (1 + (-z).exp()) * gate,
    "geglu": lambda z, gate: z * phi(z) * gate,
}


@pytest.mark.parametrize("bias", [True, False])
@pytest.mark.parametrize("activation", FORMULAS)
def test_other_nonlinearities_by_their_formulas(activation, bias):
    layer = randomise(FeedForward(D_MODEL, D_FF, activation, bias).double())
    x, state = random(BATCH_SIZE, TGT_LEN, D_MODEL), layer.state_dict()
    assert len(state) == (1 + bias) * (3 if activation.endswith("glu") else 2)

    def linear(x, i):
        return x @ state.get(f"linear_{i}.weight", torch.zeros(D_FF, D_MODEL)).mT + state.get(
            f"linear_{i}.bias", 0.0
        )

    gate = linear(x, 3) if "linear_3.weight" in state else None
    assert_close(layer(x), linear(FORMULAS[activation](linear(x, 1), gate), 2))


def test_rms_norm_by_its_formula():
    norm, x = randomise(new_norm("rms", D_MODEL, eps=0.5).double()), random(3, D_MODEL)
    expected = x / (x.square().mean(dim=-1, keepdim=True) + 0.5).sqrt() * norm.weight
    assert_close(norm(x), expected)
    assert [name for name, _ in norm.named_parameters()] == ["weight"]


def test_the_defaults_of_a_norm_are_those_of_pytorch():
    norm = new_norm("layer", D_MODEL)
    assert norm.eps == 1e-5 and norm.bias is not None and norm.weight.shape == (D_MODEL,)
    assert new_norm("rms", D_MODEL).eps == 1e-5


@both_layers
def test_a_layer_uses_the_parts_it_is_given(layer_class):
    own, other = MultiHeadAttention(D_MODEL, 2), MultiHeadAttention(D_MODEL, 4)
    network, norms = FeedForward(D_MODEL, 4), [new_norm("rms", D_MODEL) for _ in range(3)]
    parts = {"mixer": own, "feed_forward": network, "new_norm": iter(norms).__next__}
    if layer_class is DecoderLayer:
        parts["cross_attention"] = other
    layer = layer_class(*SIZES, **parts)
    assert layer.self_attention is own and layer.feed_forward is network
    assert layer.norm_1 is norms[0] and layer.norm_2 is norms[1]
    if layer_class is DecoderLayer:
        assert layer.cross_attention is other and layer.norm_3 is norms[2]
    else:
        with refuses("cross_attention: expected None in a layer without a memory, got one"):
            layer_class(*SIZES, cross_attention=other)


def test_feed_forward_begins_with_xavier_weights_and_no_bias():
    torch.manual_seed(0)
    network = FeedForward(d_model=100, d_ff=300)
    for linear in (network.linear_1, network.linear_2):
        assert not linear.bias.any()
        assert 0.99 * (6 / 400) ** 0.5 < linear.weight.abs().max() <= (6 / 400) ** 0.5


# properties of every layer


def run(layer, x, memory, **options):
    arguments = (x, memory) if isinstance(layer, DecoderLayer) else (x,)
    return layer(*arguments, **options)[0]


def by_hand(layer, x, memory, dropout):
    """Compute a post-norm layer that applies dropout to the outputs of sub-layers only."""
    layer = copy.deepcopy(layer).eval()
    w_1, b_1, w_2, b_2 = layer.feed_forward.parameters()
    steps = [lambda x: layer.self_attention(x, is_causal=True)[0]]
    if isinstance(layer, DecoderLayer):
        steps.append(lambda x: layer.cross_attention(x, memory)[0])
    steps.append(lambda x: F.linear(F.linear(x, w_1, b_1).relu(), w_2, b_2))
    for i, step in enumerate(steps, start=1):
        added = x + F.dropout(step(x), dropout)
        x = getattr(layer, f"norm_{i}")(added)
    return x


@both_layers
def test_dropout_is_applied_to_the_outputs_of_sub_layers_only(layer_class):
    layer = randomise(layer_class(*SIZES, dropout=0.3))
    x, memory = random(2, 5, D_MODEL).float(), random(2, 7, D_MODEL, seed=2).float()
    torch.manual_seed(0)
    output = run(layer, x, memory, is_causal=True)
    torch.manual_seed(0)
    assert torch.equal(output, by_hand(layer, x, memory, 0.3))
    layer.eval()
    assert torch.equal(run(layer, x, memory, is_causal=True), by_hand(layer, x, memory, 0.0))
    assert not torch.allclose(run(layer, x, memory, is_causal=True), output)


@both_layers
def test_the_defaults_are_the_paper_s(layer_class):
    """Post-norm, as many key heads as query heads, the decoder causal and the encoder not."""
    layer, x, memory = layer_class(*SIZES), random(2, 5, D_MODEL).float(), random(2, 7, D_MODEL)
    memory = memory.float()
    assert torch.equal(
        run(layer, x, memory), run(layer, x, memory, is_causal=layer_class is DecoderLayer)
    )
    assert_close(run(layer, x, memory).mean(dim=-1), torch.zeros(2, 5), 1e-6)
    assert layer.self_attention.n_kv_heads == N_HEADS and layer.self_attention.relative is None
    changed = x.clone()
    changed[:, 3:] += 1
    before, after = run(layer, x, memory), run(layer, changed, memory)
    assert torch.equal(before[:, :3], after[:, :3]) == (layer_class is DecoderLayer)


@pre_and_post
@pytest.mark.parametrize("chunks", [(1, 1, 1, 1, 1), (2, 1, 2), (5,)])
def test_steps_with_a_cache_equal_one_full_pass(chunks, norm):
    x, memory = random(2, 5, D_MODEL), random(2, 7, D_MODEL, seed=2)
    memory_mask = padding_mask([7, 4], 7)
    encoder = randomise(EncoderLayer(*SIZES, norm=norm).double())
    decoder = randomise(DecoderLayer(*SIZES, norm=norm).double())
    own, pair_of_caches = KVCache(), (KVCache(), MemoryCache())
    encoded, decoded = [], []
    for i, part in enumerate(x.split(chunks, dim=1)):
        encoded.append(encoder(part, is_causal=True, cache=own)[0])
        # The source was read at the first step, and need not be given again.
        source = memory if i == 0 else None
        decoded.append(decoder(part, source, None, memory_mask, cache=pair_of_caches)[0])
    assert_close(torch.cat(encoded, dim=1), encoder(x, is_causal=True)[0])
    assert_close(torch.cat(decoded, dim=1), decoder(x, memory, None, memory_mask)[0])
    assert own.length == pair_of_caches[0].length == 5 and pair_of_caches[1].length == 7
    for no_source in ((None, None), (None, MemoryCache())):
        with pytest.raises(ValueError, match="^memory: expected a tensor, which the cache does"):
            decoder(x, None, cache=no_source)


@pytest.mark.pairwise
@both_layers
@pytest.mark.parametrize("tgt_len, src_len", [(0, 3), (3, 0), (0, 0)])
@pytest.mark.parametrize("batch", [(), (0,), (2,)])
def test_empty_sequences_are_allowed(layer_class, tgt_len, src_len, batch):
    layer, memory = layer_class(*SIZES), random(*batch, src_len, D_MODEL).float()
    x = random(*batch, tgt_len, D_MODEL).float()
    output = run(layer, x, memory)
    assert output.shape == x.shape and output.isfinite().all()


@both_layers
def test_outputs_are_equivariant_if_tokens_keep_their_positions(layer_class):
    rotary = MultiHeadAttention(D_MODEL, N_HEADS, relative=RotaryPositions())
    layer = randomise(layer_class(*SIZES, mixer=rotary).double())
    x, memory = random(2, 5, D_MODEL), random(2, 7, D_MODEL, seed=2)
    order, positions = torch.tensor([3, 0, 4, 1, 2]), torch.tensor([0, 1, 4, 5, 9])
    output = run(layer, x, memory, positions=positions, is_causal=False)
    options = {"positions": positions[order], "is_causal": False}
    assert_close(run(layer, x[:, order], memory, **options), output[:, order])
    assert (run(layer, x, memory, is_causal=False) - output).abs().max() > 1e-2


def test_one_source_may_serve_a_batch_of_targets():
    layer = randomise(DecoderLayer(*SIZES).double())
    x, memory = random(3, 5, D_MODEL), random(7, D_MODEL, seed=2)
    assert_close(layer(x, memory)[0], layer(x, memory.expand(3, 7, D_MODEL))[0])


def test_a_mask_may_differ_between_heads():
    layer, x = randomise(EncoderLayer(*SIZES)), random(2, 5, D_MODEL).float()
    mask = causal_mask(5).expand(2, N_HEADS, 5, 5).clone()
    mask[:, 1] = False
    _, weights = layer(x, mask, need_weights=True)
    assert torch.equal(weights > 0, mask)


SEEN = torch.ones(2, 1, 7, dtype=torch.bool)


@pytest.mark.parametrize(
    "seen", [SEEN, torch.ones(2, N_HEADS, 1, 7, dtype=torch.bool)], ids=["all heads", "each head"]
)
def test_a_step_masks_the_memory_for_all_heads_or_for_each(seen):
    layer, caches = DecoderLayer(*SIZES).double(), (KVCache(), MemoryCache())
    x, memory = random(2, 3, D_MODEL), random(2, 7, D_MODEL, seed=1)
    seen = seen & (torch.arange(7) < 4)
    expected, _ = layer(x, memory[:, :4])
    for i in range(3):
        output, _ = layer(x[:, i : i + 1], memory, memory_mask=seen, cache=caches)
        assert_close(output, expected[:, i : i + 1])


NO_MASK = "a boolean array .*"
OTHER = "the memory that filled the cache: for another, .*, shape "
FITS = r"a shape that broadcasts to \(2, {}\), got \(2, {}\)"


@pytest.mark.parametrize(
    "name, refused, message",
    [
        ("mask", SEEN, FITS.format("1, 3", "1, 7")),
        ("mask", SEEN[:, None], FITS.format("3, 1, 3", "1, 1, 7")),
        ("memory_mask", SEEN[..., :6], FITS.format("1, 7", "1, 6")),
        ("memory_mask", SEEN[:, None].expand(2, 2, 1, 7), FITS.format("3, 1, 7", "2, 1, 7")),
        ("memory_mask", [[True] * 7], NO_MASK),
        ("memory", random(2, 7, D_MODEL), OTHER + r"\(2, 7, 12\)"),
        ("memory", random(2, 6, D_MODEL), OTHER + r"\(2, 6, 12\)"),
    ],
)
def test_a_refused_step_leaves_the_caches_unchanged(name, refused, message):
    layer, caches = DecoderLayer(*SIZES).double(), (KVCache(), MemoryCache())
    x, memory = random(2, 3, D_MODEL), random(2, 7, D_MODEL, seed=1)
    layer(x[:, :2], memory, cache=caches)
    with pytest.raises(ValueError, match=f"^{name}: expected {message}$"):
        layer(x[:, 2:], **{"memory": memory, "cache": caches} | {name: refused})
    assert caches[0].length == 2
    assert_close(layer(x[:, 2:], memory, cache=caches)[0], layer(x, memory)[0][:, 2:])


@pytest.mark.parametrize("keeps_memory", [True, False])
@pytest.mark.parametrize("name", ["query", "key"])
def test_a_step_refused_for_nan_can_be_repeated(name, keeps_memory):
    layer = DecoderLayer(*SIZES).double()
    caches = (KVCache(), MemoryCache() if keeps_memory else None)
    x, memory = random(2, 3, D_MODEL), random(2, 7, D_MODEL, seed=1)
    bad = {"query": x.clone(), "key": memory.clone()}
    bad[name][1, 2, 3] = torch.nan
    with pytest.raises(ValueError, match=f"^{name}: expected finite numbers, got "):
        layer(*({"query": x, "key": memory} | {name: bad[name]}).values(), cache=caches)
    assert caches[0].length == 0 and (not keeps_memory or caches[1].key is None)
    assert_close(layer(x, memory, cache=caches)[0], layer(x, memory)[0])


@pytest.mark.parametrize("layer_class", [EncoderLayer, DecoderLayer])
def test_a_failing_last_part_leaves_the_caches_unchanged(layer_class):
    layer, own, cross = layer_class(*SIZES).double(), KVCache(), MemoryCache()
    x, memory = random(2, 3, D_MODEL), random(2, 7, D_MODEL, seed=1)
    if layer_class is EncoderLayer:
        call = partial(layer, x, is_causal=True, cache=own)
    else:
        call = partial(layer, x, memory, cache=(own, cross))
    failing = patch.object(layer.feed_forward, "forward", side_effect=KeyboardInterrupt)
    with failing, pytest.raises(KeyboardInterrupt):
        call()
    assert own.length == cross.length == 0


@pytest.mark.parametrize("x_batch, memory_batch", [((3,), (2,)), ((4, 3), (2,)), ((3,), (4, 2))])
def test_a_number_of_rows_that_differs_from_the_memory_is_refused(x_batch, memory_batch):
    layer, caches = DecoderLayer(*SIZES).double(), (KVCache(), MemoryCache())
    x, memory = random(*x_batch, 1, D_MODEL), random(*memory_batch, 7, D_MODEL, seed=1)
    message = f"memory: expected rows that broadcast with {x_batch}, got {memory_batch}"
    with refuses(message):
        layer(x, memory, cache=caches)
    assert caches[0].length == 0
    # The number of rows may follow from the cache alone.
    layer(random(*memory_batch, 2, D_MODEL), memory, cache=caches)
    with refuses(message):
        layer(x, None, cache=caches)
    assert caches[0].length == 2


# errors


@both_layers
@pytest.mark.parametrize(
    "change, message",
    [
        ({"d_model": 0}, "d_model: expected at least 1, got 0"),
        ({"n_heads": 5}, "d_model: expected a multiple of n_heads = 5, got 12"),
        ({"d_ff": 0}, "d_ff: expected at least 1, got 0"),
        ({"dropout": 1.0}, "dropout: expected a number in [0, 1), got 1.0"),
        ({"dropout": -0.1}, "dropout: expected a number in [0, 1), got -0.1"),
        ({"norm": "Post"}, "norm: expected 'pre' or 'post', got 'Post'"),
    ],
)
def test_layers_refuse_invalid_sizes_and_choices(layer_class, change, message):
    with refuses(message):
        layer_class(**{"d_model": D_MODEL, "n_heads": N_HEADS, "d_ff": D_FF} | change)


OWN, SOURCE, MASK = torch.ones(2, 5, 12), torch.ones(2, 7, 12), torch.ones(2, 1, 6).bool()
OTHER_MASK = r"mask: expected a shape that broadcasts to \(2, 5, {}\), got \(2, 1, 6\)$"


def of_shape(shape):
    """Return the calls in which the first vectors, or those of the source, have this shape."""
    bad, got = torch.ones(shape), re.escape(str(shape)) + "$"
    return [
        (lambda: EncoderLayer(*SIZES)(bad), rf"x: expected shape \(..., seq_len, 12\), got {got}"),
        (lambda: DecoderLayer(*SIZES)(bad, OWN), rf"x: .* \(..., tgt_len, 12\), got {got}"),
        (lambda: DecoderLayer(*SIZES)(OWN, bad), rf"memory: .* \(..., src_len, 12\), got {got}"),
    ]


test_what_is_refused = refusals(
    *of_shape(()),
    *of_shape((12,)),
    *of_shape((2, 5, 11)),
    (lambda: EncoderLayer(*SIZES, mixer="rotary"), "mixer: expected a Module, got 'rotary'$"),
    (
        lambda: DecoderLayer(*SIZES, cross_attention=MultiHeadAttention(8, 2)),
        r"cross_attention\.d_model: expected 12 as in the layer, got 8$",
    ),
    (
        lambda: EncoderLayer(*SIZES, feed_forward=FeedForward(8, 16)),
        r"feed_forward\.d_model: expected 12 as in the layer, got 8$",
    ),
    (
        lambda: EncoderLayer(*SIZES, new_norm="rms"),
        "new_norm: expected a function without arguments that makes a norm, got 'rms'$",
    ),
    (lambda: FeedForward(0, 4), "d_model: expected at least 1, got 0$"),
    (lambda: FeedForward(4, 0), "d_ff: expected at least 1, got 0$"),
    (lambda: FeedForward(2.5, 4), "d_model: expected an integer, got 2.5$"),
    (lambda: FeedForward(4, "8"), "d_ff: expected an integer, got '8'$"),
    (
        lambda: FeedForward(12, 4, "tanh"),
        "activation: expected 'relu' or 'gelu' or .*, got 'tanh'$",
    ),
    (lambda: FeedForward(12, 4)(torch.ones(())), r"x: expected shape \(..., 12\), got \(\)$"),
    (lambda: FeedForward(12, 4)(torch.ones(5)), r"x: expected shape \(..., 12\), got \(5,\)$"),
    (lambda: FeedForward(12, 4)(OWN[..., 1:]), r"x: expected shape \(..., 12\), got \(2, 5, 11\)$"),
    (lambda: new_norm("batch", 12), "normalization: expected 'layer' or 'rms', got 'batch'$"),
    (lambda: EncoderLayer(*SIZES)(OWN, MASK), OTHER_MASK.format(5)),
    (lambda: DecoderLayer(*SIZES)(OWN, SOURCE, MASK), OTHER_MASK.format(5)),
    (lambda: DecoderLayer(*SIZES)(OWN, SOURCE, None, MASK), "memory_" + OTHER_MASK.format(7)),
    (
        lambda: EncoderLayer(*SIZES)(OWN, torch.ones(5, 5)),
        "mask: expected a boolean array .* dtype torch.float32$",
    ),
)
