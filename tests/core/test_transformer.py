"""attn.transformer against nn.Transformer, parameter counts, and the properties of a model."""

import copy
import dataclasses
import math
import re
from functools import partial
from unittest.mock import patch

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import nn
from torch.nn import functional as F

from attn import checks, reference
from attn.attention import MultiHeadAttention
from attn.cache import DecoderCache, KVCache
from attn.decoding import beam_search, greedy, sample
from attn.layers import DecoderLayer, EncoderLayer, FeedForward
from attn.masks import causal_mask, padding_mask
from attn.positions import (
    SCHEMES,
    ALiBiPositions,
    LearnedPositions,
    RotaryPositions,
    SinusoidalPositions,
)
from attn.recurrent import RecurrentCache
from attn.transformer import (
    Decoder,
    DecoderOnly,
    Encoder,
    EncoderOnly,
    Transformer,
    TransformerConfig,
    to_torch,
)
from attn.transformer.stacks import TokenEmbedding
from tests.core import helpers
from tests.core.helpers import POSITIONS, all_positions, assert_close, random, randomise, refuses

VOCAB_SIZE, TGT_VOCAB_SIZE, TGT_LEN, SRC_LEN = 11, 13, 5, 7
# The schemes that other tests register are left out.
OWN_SCHEMES = {n: c for n, c in SCHEMES.items() if c.__module__.startswith("attn.positions")}
TRUE, ONES = torch.tensor(True), torch.ones(2, 5, 12)
SMALL = TransformerConfig(
    vocab_size=VOCAB_SIZE, d_model=12, n_heads=3, n_layers=2, d_ff=20, dropout=0.0, max_len=16
)

# PyTorch warns that its fast path is off for some of the models used in comparisons.
pytestmark = pytest.mark.filterwarnings("ignore:enable_nested_tensor")
pre_and_post = pytest.mark.parametrize("norm", ["pre", "post"])
all_models = pytest.mark.parametrize("model_class", [Transformer, EncoderOnly, DecoderOnly])
both_precisions = pytest.mark.parametrize(
    "dtype, tolerance", [(torch.float64, 1e-10), (torch.float32, 1e-5)], ids=["double", "single"]
)


random_ids = partial(helpers.random_ids, vocab_size=VOCAB_SIZE)


def make(model_class, dtype=torch.float64, seed=1, **changes):
    model = model_class(dataclasses.replace(SMALL, **changes)).to(dtype)
    return randomise(model, seed).eval()


def logits_of(model, ids, source=None, **options):
    """Return the logits of a model of any of the three classes for `ids`."""
    if isinstance(model, Transformer):
        return model(random_ids(*ids.shape[:-1], SRC_LEN) if source is None else source, ids)[0]
    return model(ids, **options)[0]


@pre_and_post
@pytest.mark.parametrize(
    "tie, tgt_vocab_size, n_matrices", [(True, None, 1), (True, 13, 2), (False, 13, 3)]
)
def test_the_whole_model_equals_torch(tie, tgt_vocab_size, n_matrices, norm):
    """Figure 1 of the paper around nn.Transformer, from ids to logits."""
    ours = make(Transformer, norm=norm, tie_embeddings=tie, tgt_vocab_size=tgt_vocab_size)
    src, tgt = random_ids(3, SRC_LEN), random_ids(3, TGT_LEN, seed=1)
    src_mask, tgt_mask = padding_mask([2, 7, 4], SRC_LEN), padding_mask([5, 3, 1], TGT_LEN)
    vectors = []
    for embedding, ids in ((ours.src_embedding, src), (ours.tgt_embedding, tgt)):
        table = torch.from_numpy(reference.sinusoidal_positions(ids.shape[-1], 12))
        vectors.append(F.embedding(ids, embedding.tokens.weight) * math.sqrt(12) + table)
    output = to_torch(ours)(
        *vectors,
        tgt_mask=torch.ones(TGT_LEN, TGT_LEN).triu(1).bool(),
        src_key_padding_mask=~src_mask[:, 0],
        memory_key_padding_mask=~src_mask[:, 0],
        tgt_key_padding_mask=~tgt_mask[:, 0],
    )
    expected = output @ ours.output.weight.T
    logits, weights = ours(src, tgt, src_mask, tgt_mask)
    assert weights is None
    assert_close(logits, expected)

    upstream = random(*logits.shape, seed=9) / logits.numel() ** 0.5
    own = [p for name, p in ours.named_parameters() if not re.match("(en|de)coder", name)]
    assert len(own) == n_matrices
    actual, wanted = (torch.autograd.grad(x, own, upstream) for x in (logits, expected))
    assert_close(actual, wanted)


def test_only_a_causal_decoder_ignores_later_tokens():
    decoder, memory = make(Transformer).decoder, random(2, SRC_LEN, 12, seed=1)
    x = random(2, TGT_LEN, 12)
    changed = x.clone()
    changed[:, 3:] += 1
    for is_causal in (True, False):
        before, after = (decoder(y, memory, is_causal=is_causal)[0] for y in (x, changed))
        assert torch.equal(before[:, :3], after[:, :3]) == is_causal
    assert torch.equal(decoder(x, memory)[0], decoder(x, memory, is_causal=True)[0])
    encoder = make(Transformer).encoder
    assert torch.equal(encoder(x)[0], encoder(x, is_causal=False)[0])


def test_causal_attention_uses_the_flag_of_the_kernel_and_makes_no_mask(monkeypatch):
    """A mask would give the same result with more time, and memory quadratic in the length."""
    kernel, calls = F.scaled_dot_product_attention, []

    def watched(query, key, value, mask, **options):
        calls.append((mask is None, options["is_causal"]))
        return kernel(query, key, value, mask, **options)

    monkeypatch.setattr(F, "scaled_dot_product_attention", watched)
    make(DecoderOnly)(random_ids(2, TGT_LEN))
    assert calls == [(True, True)] * 2
    calls.clear()
    make(Transformer)(random_ids(2, SRC_LEN), random_ids(2, TGT_LEN))
    assert calls == [(True, False)] * 2 + [(True, True), (True, False)] * 2


# what a model is made of


def n_parameters(config):
    """Count by formula: projections and biases of each attention, two linear layers, norms."""
    d_model, d_ff, n_layers = config.d_model, config.d_ff, config.n_layers
    d_kv = d_model // config.n_heads * (config.n_kv_heads or config.n_heads)
    attention = 2 * (d_model**2 + d_model) + 2 * (d_model * d_kv + d_kv)
    feed_forward = 2 * d_model * d_ff + d_ff + d_model
    norm, last = 2 * d_model, 2 * d_model if config.norm == "pre" else 0
    encoder = n_layers * (attention + feed_forward + 2 * norm) + last
    decoder = n_layers * (2 * attention + feed_forward + 3 * norm) + last
    learned = config.max_len * d_model if config.positions == "learned" else 0
    src = config.vocab_size * d_model
    tgt = (config.tgt_vocab_size or config.vocab_size) * d_model
    if not config.tie_embeddings:
        embeddings = src + 2 * tgt
    else:
        embeddings = tgt if config.tgt_vocab_size is None else src + tgt
    single = (src if config.tie_embeddings else 2 * src) + encoder + learned
    return {
        Transformer: embeddings + encoder + decoder + 2 * learned,
        EncoderOnly: single,
        DecoderOnly: single,
    }


@settings(max_examples=30)
@given(data=st.data())
def test_the_number_of_parameters_equals_the_formula(data):
    draw = data.draw
    n_kv_heads, group, half = (draw(st.integers(1, 3)) for _ in range(3))
    config = TransformerConfig(
        vocab_size=draw(st.integers(1, 9)),
        tgt_vocab_size=draw(st.none() | st.integers(1, 9)),
        d_model=2 * half * n_kv_heads * group,
        n_heads=n_kv_heads * group,
        n_layers=draw(st.integers(1, 3)),
        d_ff=draw(st.integers(1, 9)),
        norm=draw(st.sampled_from(["pre", "post"])),
        positions=draw(st.sampled_from(POSITIONS)),
        max_len=draw(st.integers(1, 9)),
        n_kv_heads=draw(st.sampled_from([None, n_kv_heads])),
        tie_embeddings=draw(st.booleans()),
    )
    with torch.device("meta"):
        for model_class, expected in n_parameters(config).items():
            if model_class is not Transformer:
                config = dataclasses.replace(config, tgt_vocab_size=None)
            assert sum(p.numel() for p in model_class(config).parameters()) == expected


def test_the_base_model_of_the_paper_has_63_million_parameters():
    config = TransformerConfig(vocab_size=37_000)
    with torch.device("meta"):
        model = Transformer(config)
    assert sum(p.numel() for p in model.parameters()) == 63_082_496
    assert n_parameters(config)[Transformer] == 63_082_496


@pytest.mark.parametrize("tgt_vocab_size", [None, VOCAB_SIZE, 13])
@pytest.mark.parametrize("tie", [True, False])
def test_embeddings_and_output_matrix_are_tied_as_configured(tie, tgt_vocab_size):
    model = make(Transformer, tie_embeddings=tie, tgt_vocab_size=tgt_vocab_size)
    src, tgt = model.src_embedding.tokens.weight, model.tgt_embedding.tokens.weight
    assert (model.output.weight is tgt) == tie
    assert (src is tgt) == (tie and tgt_vocab_size is None)
    assert model.output.bias is None
    for model_class in (EncoderOnly, DecoderOnly):
        model = make(model_class, tie_embeddings=tie)
        assert (model.output.weight is model.embedding.tokens.weight) == tie
        assert model.output.bias is None


@all_models
def test_initial_logits_have_the_same_scale_for_every_size(model_class):
    """Scaled embeddings have variance 1; a separate output matrix has Xavier's initialisation."""
    torch.manual_seed(0)
    sizes = {"vocab_size": 500, "d_model": 96, "n_token_types": 500}
    config = dataclasses.replace(SMALL, **sizes, tie_embeddings=False)
    model = model_class(config)
    for name, parameter in model.named_parameters():
        if "tokens" in name or "types" in name:
            assert 0.98 < parameter.std() * 96**0.5 < 1.02
    bound = (6 / 596) ** 0.5
    assert 0.99 * bound < model.output.weight.abs().max() <= bound


@all_positions
def test_every_kind_of_positions_is_in_its_place(positions):
    model = make(Transformer, positions=positions, n_kv_heads=1)
    absolute = {"sinusoidal": SinusoidalPositions, "learned": LearnedPositions}
    relative = {"rotary": RotaryPositions, "alibi": ALiBiPositions}
    for embedding in (model.src_embedding, model.tgt_embedding):
        assert type(embedding.positions) is absolute.get(positions, type(None))
    if positions == "learned":
        assert model.src_embedding.positions.weight.shape == (16, 12)
    for layer in (*model.encoder.layers, *model.decoder.layers):
        assert type(layer.self_attention.relative) is relative.get(positions, type(None))
        assert layer.self_attention.n_kv_heads == 1
        if positions == "rotary":
            assert layer.self_attention.relative.base == 10_000.0
        if positions == "alibi":
            assert layer.self_attention.relative.n_heads == 3
    assert {layer.cross_attention.relative for layer in model.decoder.layers} == {None}


@pytest.mark.parametrize("scale", [True, False])
@all_positions
def test_embeddings_are_scaled_and_then_placed(positions, scale):
    config = dataclasses.replace(SMALL, positions=positions, scale_embeddings=scale)
    embedding = randomise(TokenEmbedding(VOCAB_SIZE, config).double())
    ids = random_ids(2, 4)
    expected = embedding.tokens.weight[ids] * (math.sqrt(12) if scale else 1)
    table = {
        "sinusoidal": lambda: torch.from_numpy(reference.sinusoidal_positions(16, 12)),
        "learned": lambda: embedding.positions.weight,
    }.get(positions, lambda: torch.zeros(16, 12))()
    assert_close(embedding(ids), expected + table[:4])
    assert_close(embedding(ids, 3), expected + table[3:7])


CHOICES = {"activation": "swiglu", "normalization": "rms", "norm_eps": 0.5, "bias": False}


@pytest.mark.parametrize("stack_class", [Encoder, Decoder])
def test_the_options_of_a_configuration_reach_every_layer(stack_class):
    config = dataclasses.replace(SMALL, norm="pre", n_kv_heads=1, **CHOICES)
    stack, x = randomise(stack_class(config).double()), random(2, TGT_LEN, 12)
    memory = [random(2, SRC_LEN, 12, seed=1)] * (stack_class is Decoder)
    expected = x
    for layer in stack.layers:
        heads, norm = (
            partial(MultiHeadAttention, 12, 3, bias=False, n_kv_heads=1),
            CHOICES["norm_eps"],
        )
        parts = {"mixer": heads(), "feed_forward": FeedForward(12, 20, "swiglu", bias=False)}
        parts["new_norm"] = partial(nn.RMSNorm, 12, norm)
        if stack_class is Decoder:
            parts["cross_attention"] = heads()
        own = (DecoderLayer if memory else EncoderLayer)(12, 3, 20, 0.0, "pre", **parts).double()
        own.load_state_dict(layer.state_dict())
        expected = own(expected, *memory)[0]
    root = (expected.square().mean(dim=-1, keepdim=True) + 0.5).sqrt()
    assert_close(stack(x, *memory)[0], expected / root * stack.norm.weight)


@pytest.mark.parametrize("bias", [True, False])
def test_biases_and_dropout_of_a_configuration_are_in_every_part(bias):
    config = dataclasses.replace(SMALL, bias=bias, attention_dropout=0.3)
    model = Transformer(config)
    parts = [part for stack in (model.encoder, model.decoder) for part in stack.modules()]
    shares = [part.dropout for part in parts if isinstance(part, MultiHeadAttention)]
    assert shares == [0.3] * 6
    owners = [part for part in parts if isinstance(part, nn.Linear | nn.LayerNorm)]
    assert {part.bias is not None for part in owners} == {bias}
    assert (config.new_norm().bias is not None) == bias


def test_the_norm_of_embeddings_and_the_layer_before_the_output_of_bert():
    """The sum of embeddings is normalised, and a layer precedes the output matrix."""
    model = make(
        EncoderOnly,
        positions="learned",
        n_token_types=2,
        embedding_norm=True,
        prediction_head=True,
        norm_eps=0.5,
    )
    embed, (inner, _, norm), ids = model.embedding, model.head, random_ids(2, 4)
    x = embed.tokens.weight[ids] * math.sqrt(12) + embed.positions.weight[:4]
    x = F.layer_norm(x + embed.types.weight[0], (12,), embed.norm.weight, embed.norm.bias, 0.5)
    x, _ = model.encoder(x)
    x = F.gelu(x @ inner.weight.T + inner.bias)
    x = F.layer_norm(x, (12,), norm.weight, norm.bias, 0.5)
    assert_close(model(ids)[0], x @ embed.tokens.weight.T + model.output.bias)


@pre_and_post
def test_encoder_only_and_decoder_only_equal_their_parts(norm):
    ids, mask = random_ids(3, TGT_LEN), padding_mask([5, 3, 1], TGT_LEN)
    reader, writer = make(EncoderOnly, norm=norm), make(DecoderOnly, norm=norm)
    for model, own, blocks in (
        (reader, mask, reader.encoder.layers),
        (writer, mask & causal_mask(TGT_LEN), writer.stack.layers),
    ):
        x, expected = model.embedding(ids), []
        for layer in blocks:
            x, weights = layer(x, own, need_weights=True)
            expected.append(weights)
        last = (model.encoder if model is reader else model.stack).norm
        assert isinstance(last, nn.LayerNorm if norm == "pre" else nn.Identity)
        logits, weights = model(ids, mask, need_weights=True)
        assert_close(logits, last(x) @ model.output.weight.T)
        assert isinstance(weights, tuple)
        assert_close(weights, tuple(expected))
        assert model(ids, mask)[1] is None
        if model is reader:
            vectors, weights = model.encode(ids, mask, need_weights=True)
            assert_close((vectors, weights), (last(x), tuple(expected)))
            assert model.encode(ids)[1] is None


def test_weights_come_layer_by_layer():
    model, src, tgt = make(Transformer), random_ids(2, SRC_LEN), random_ids(2, TGT_LEN)
    src_mask, tgt_mask = padding_mask([7, 4], SRC_LEN), padding_mask([5, 2], TGT_LEN)
    logits, weights = model(src, tgt, src_mask, tgt_mask, need_weights=True)
    assert_close(logits, model(src, tgt, src_mask, tgt_mask)[0])
    assert model(src, tgt)[1] is None and weights._fields == ("encoder", "decoder", "cross")
    masks = (src_mask, tgt_mask & causal_mask(TGT_LEN), src_mask)
    for kind, mask, tgt_len in zip(weights, masks, (SRC_LEN, TGT_LEN, TGT_LEN), strict=True):
        assert isinstance(kind, tuple) and len(kind) == 2
        for layer_weights in kind:
            seen = mask[:, None].expand(2, 3, tgt_len, mask.shape[-1])
            assert torch.equal(layer_weights > 0, seen)
            assert_close(layer_weights.sum(dim=-1), torch.ones(2, 3, tgt_len).double())

    memory, encoder_weights = model.encode(src, src_mask, need_weights=True)
    half, others = model.decode(tgt, memory, src_mask, tgt_mask, need_weights=True)
    assert_close(half, logits)
    assert_close((encoder_weights, *others), tuple(weights))
    assert model.encode(src)[1] is None and model.decode(tgt, memory)[1] is None


# dropout


def by_hand(layers, x, p, memory=None):
    """Compute post-norm layers with dropout on the outputs of sub-layers."""
    for layer in layers:
        steps = [lambda x, f=layer.self_attention: f(x, is_causal=memory is not None)[0]]
        if memory is not None:
            steps.append(lambda x, f=layer.cross_attention: f(x, memory)[0])
        steps.append(layer.feed_forward)
        for i, step in enumerate(steps, start=1):
            x = getattr(layer, f"norm_{i}")(x + F.dropout(step(x), p))
    return x


@all_positions
def test_dropout_is_applied_to_embeddings_and_sub_layers(positions):
    model = make(Transformer, torch.float32, dropout=0.3, positions=positions)
    src, tgt = random_ids(2, SRC_LEN), random_ids(2, TGT_LEN)
    in_evaluation, _ = model(src, tgt)
    # In evaluation mode no part applies dropout.
    parts = copy.deepcopy(model)
    torch.manual_seed(0)
    in_training, _ = model.train()(src, tgt)
    for p, logits in ((0.3, in_training), (0.0, in_evaluation)):
        torch.manual_seed(0)
        memory = by_hand(parts.encoder.layers, F.dropout(parts.src_embedding(src), p), p)
        x = F.dropout(parts.tgt_embedding(tgt), p)
        assert torch.equal(logits, parts.output(by_hand(parts.decoder.layers, x, p, memory)))
    assert not torch.allclose(in_training, in_evaluation)


# causality and padding


def train(model, n_steps=5):
    """Take a few training steps with an arbitrary loss."""
    optimiser = torch.optim.Adam(model.parameters(), lr=1e-2)
    ids = random_ids(4, TGT_LEN, seed=3)
    for _ in range(n_steps):
        loss = F.cross_entropy(
            logits_of(model.train(), ids).flatten(0, 1), ids.roll(-1, 1).flatten()
        )
        optimiser.zero_grad()
        loss.backward()
        optimiser.step()
    return model.eval()


@pytest.mark.pairwise
@all_positions
@pre_and_post
@pytest.mark.parametrize("model_class", [Transformer, DecoderOnly])
@pytest.mark.parametrize("is_trained", [False, True])
def test_the_future_changes_nothing_to_the_bit(is_trained, model_class, norm, positions):
    model = make(model_class, torch.float32, norm=norm, positions=positions)
    model = train(model) if is_trained else model
    src, ids = random_ids(2, SRC_LEN), random_ids(2, TGT_LEN, seed=1)
    options = {"memory": model.encode(src)[0]} if model_class is Transformer else {}
    run = model.decode if model_class is Transformer else model
    for first in range(1, TGT_LEN):
        changed = ids.clone()
        changed[:, first:] = (changed[:, first:] + 1) % VOCAB_SIZE
        for need_weights in (False, True):
            before, after = (
                run(x, need_weights=need_weights, **options)[0] for x in (ids, changed)
            )
            assert torch.equal(before[:, :first], after[:, :first])
            assert (before[:, first:] != after[:, first:]).any(dim=-1).all()
        # With the first token in a cache, the remaining tokens are read at once.
        before, after = (run_cached(model, run, x, options) for x in (ids, changed))
        assert torch.equal(before[:, :first], after[:, :first])
        assert (before[:, first:] != after[:, first:]).any(dim=-1).all()


def run_cached(model, run, ids, options, chunks=(1, TGT_LEN - 1)):
    cache = model.new_cache()
    parts = ids.split(chunks, dim=1)
    return torch.cat([run(part, cache=cache, **options)[0] for part in parts], dim=1)


@all_models
@pytest.mark.parametrize("batch", [(), (1,), (2, 3)])
def test_any_batch_equals_its_rows(model_class, batch):
    model = make(model_class)
    ids, source = random_ids(*batch, TGT_LEN), random_ids(*batch, SRC_LEN, seed=1)
    logits = logits_of(model, ids, source)
    assert logits.shape == (*batch, TGT_LEN, VOCAB_SIZE)
    for index in np.ndindex(batch):
        assert_close(logits[index], logits_of(model, ids[index], source[index]))


# writing token by token


@pytest.mark.pairwise
@all_positions
@pre_and_post
@both_precisions
@pytest.mark.parametrize("n_kv_heads", [None, 1])
@pytest.mark.parametrize("chunks", [(1, 1, 1, 1, 1), (2, 1, 2), (5,)])
def test_steps_with_a_cache_equal_one_full_pass(
    chunks, n_kv_heads, dtype, tolerance, norm, positions
):
    changes = {"norm": norm, "positions": positions, "n_kv_heads": n_kv_heads}
    ids, src_mask = random_ids(2, TGT_LEN), padding_mask([7, 4], SRC_LEN)
    model = make(Transformer, dtype, **changes)
    memory, _ = model.encode(random_ids(2, SRC_LEN, seed=1), src_mask)
    decode = partial(model.decode, memory=memory, src_mask=src_mask)
    assert_close(run_cached(model, decode, ids, {}, chunks), decode(ids)[0], tolerance)
    model = make(DecoderOnly, dtype, **changes)
    assert_close(run_cached(model, model, ids, {}, chunks), model(ids)[0], tolerance)


def test_the_base_of_rotary_positions_matters_and_is_the_configurations():
    near, far = (make(DecoderOnly, positions="rotary", rotary_base=b) for b in (50.0, 1e5))
    ids = random_ids(1, TGT_LEN)
    assert near.stack.layers[0].self_attention.relative.base == 50.0
    assert (near(ids)[0] - far(ids)[0]).abs().max() > 1e-3


def test_a_token_type_adds_its_vector():
    model, ids = make(EncoderOnly, n_token_types=2), random_ids(2, 4)
    types = torch.tensor([[0, 0, 1, 1]])
    embed = model.embedding
    difference = embed(ids, types=types) - embed(ids)
    expected = embed.types.weight[1] - embed.types.weight[0]
    assert_close(difference, types[0, :, None] * expected.expand(2, 4, -1))
    assert_close(model(ids)[0], model(ids, token_types=torch.zeros(1, 4, dtype=torch.int64))[0])
    assert (model(ids, token_types=types)[0] - model(ids)[0]).abs().max() > 1e-3
    with pytest.raises(ValueError, match="^types: expected values from 0 to 1, got 2$"):
        model(ids, token_types=types * 2)
    with pytest.raises(
        ValueError, match="^types: expected None, since n_token_types = 0, got a tensor$"
    ):
        make(EncoderOnly)(ids, token_types=types)
    for shape in ((3, 1, 4), (2, 5), (3, 4)):
        message = f"types: expected a shape that broadcasts to (2, 4), got {shape}"
        with refuses(message):
            model(ids, token_types=torch.zeros(shape, dtype=torch.int64))


def test_a_model_runs_under_vmap():
    model, ids = make(EncoderOnly, n_token_types=2), random_ids(3, 2, 4)
    mapped = torch.vmap(lambda row: model(row)[0])(ids)
    assert_close(mapped, torch.stack([model(row)[0] for row in ids]))


def test_with_a_cache_masks_and_weights_cover_all_tokens_so_far():
    """The first token is masked everywhere; the mask of each step covers all keys so far."""
    ids, mask = random_ids(2, TGT_LEN), torch.tensor([False] + [True] * 4)
    translator, writer = make(Transformer), make(DecoderOnly)
    memory, _ = translator.encode(random_ids(2, SRC_LEN))
    full, (own, cross) = translator.decode(ids, memory, None, mask, need_weights=True)
    only, weights = writer(ids, mask, need_weights=True)
    caches = translator.new_cache(), writer.new_cache()
    for i in range(TGT_LEN):
        token, so_far = ids[:, i : i + 1], mask[: i + 1]
        options = {"need_weights": True, "cache": caches[0]}
        logits, (own_i, cross_i) = translator.decode(token, memory, None, so_far, **options)
        assert_close(logits[:, 0], full[:, i])
        for layer in range(2):
            assert_close(own_i[layer], own[layer][..., i : i + 1, : i + 1])
            assert_close(cross_i[layer], cross[layer][..., i : i + 1, :])
        logits, weights_i = writer(token, so_far, need_weights=True, cache=caches[1])
        assert_close(logits[:, 0], only[:, i])
        assert_close(weights_i[1], weights[1][..., i : i + 1, : i + 1])


def test_a_step_reads_the_new_tokens_and_returns_logits_of_the_next():
    ids, model = random_ids(2, TGT_LEN), make(Transformer)
    memory, _ = model.encode(random_ids(2, SRC_LEN))
    for step, run in (
        (partial(model.step, memory=memory), partial(model.decode, memory=memory)),
        (make(DecoderOnly).step, make(DecoderOnly)),
    ):
        cache = DecoderCache(2)
        for length in (2, 3, 5):
            expected = run(ids[:, :length])[0][:, -1]
            assert_close(step(ids[:, :length], None), expected)
            assert_close(step(ids[:, :length], cache), expected)
            assert cache.length == length


def test_a_step_repeats_and_projects_the_source_once(monkeypatch):
    model, ids = make(Transformer), random_ids(6, TGT_LEN)
    memory, other = (model.encode(random_ids(2, SRC_LEN, seed=i))[0] for i in range(2))
    given, decode = [], model.decode
    monkeypatch.setattr(
        model,
        "decode",
        lambda ids, memory, *a, **k: given.append(memory) or decode(ids, memory, *a, **k),
    )
    cache = model.new_cache()
    for length in (1, 2, 3):
        expected = model.step(ids[:, :length], None, memory)
        assert_close(model.step(ids[:, :length], cache, memory), expected)
    assert [None if m is None else len(m) for m in given] == [6, 6, 6, None, 6, None]
    with pytest.raises(ValueError, match="^memory: expected the memory that filled the cache"):
        model.step(ids[:, :4], cache, other)
    assert_close(
        model.step(ids[:, :4], cache, memory.clone()), model.step(ids[:, :4], None, memory)
    )


@pytest.mark.parametrize("failure", [ValueError, KeyboardInterrupt])
@pytest.mark.parametrize("model_class", [Transformer, DecoderOnly])
def test_a_step_that_fails_in_a_deeper_layer_can_be_repeated(model_class, failure):
    model, ids, given = make(model_class, n_layers=3, norm="pre"), random_ids(2, TGT_LEN), {}
    if model_class is Transformer:
        given["memory"], _ = model.encode(random_ids(2, SRC_LEN))
    stack = model.decoder if model_class is Transformer else model.stack
    cache = model.new_cache()
    for length in (2, 3):
        kept = cache.length
        for part in (stack.layers[2].feed_forward, stack.norm, model.output):
            with patch.object(part, "forward", side_effect=failure), pytest.raises(failure):
                model.step(ids[:, :length], cache, **given)
        assert [own.length for own in cache.self_attention] == [kept] * 3
        logits = model.step(ids[:, :length], cache, **given)
        assert_close(logits, model.step(ids[:, :length], None, **given))


def steps_of(model_class):
    """Return a model, its step and its full pass, both with ids and a cache, for two rows."""
    model = make(model_class)
    if model_class is DecoderOnly:
        return model, model.step, lambda ids, cache: model(ids, cache=cache)
    memory, _ = model.encode(random_ids(2, SRC_LEN))
    step = partial(model.step, memory=memory)
    return model, step, lambda ids, cache: model.decode(ids, memory, cache=cache)


@pytest.mark.pairwise
@pytest.mark.parametrize("checked", [True, False])
@pytest.mark.parametrize("place", [0, 2])
@pytest.mark.parametrize("filled_by", ["step", "forward", "both"])
@pytest.mark.parametrize("model_class", [Transformer, DecoderOnly])
def test_tokens_that_differ_from_the_cached_ones_are_refused(
    model_class, filled_by, place, checked
):
    model, step, forward = steps_of(model_class)
    ids, cache = random_ids(2, TGT_LEN), model.new_cache()
    if filled_by != "step":
        forward(ids[:, :2], cache)
        forward(ids[:, 2:3], cache) if filled_by == "forward" else step(ids[:, :3], cache)
    else:
        step(ids[:, :3], cache)
    other = ids.clone()
    other[1, place] = (other[1, place] + 1) % SMALL.vocab_size
    message = (
        "ids: expected the tokens that filled the cache and then new ones: truncate it, or take a "
        f"new cache, got others from place {place} on"
    )
    # On a CPU the comparison costs nothing.
    with checks(checked or not ids.is_cpu), pytest.raises(ValueError, match=f"^{message}$"):
        step(other[:, :4], cache)
    with pytest.raises(
        ValueError, match=r"^ids: expected rows of shape \(2,\), as the cache has, got"
    ):
        step(ids[:1, :4] if model_class is DecoderOnly else ids[[0, 1, 0, 1], :4], cache)
    assert_close(step(ids[:, :4], cache), step(ids[:, :4], None))
    # The differing tokens are truncated, and the cache continues with the others.
    cache.truncate(place)
    assert_close(step(other, cache), step(other, None))


@torch.no_grad()
def test_cached_tokens_are_compared_in_the_order_of_the_rows():
    model, step, _ = steps_of(DecoderOnly)
    ids, cache = random_ids(3, TGT_LEN), model.new_cache()
    step(ids[:, :3], cache)
    rows = torch.tensor([2, 0, 0, 1])
    cache.reorder(rows)
    other = copy.deepcopy(cache)
    with pytest.raises(ValueError, match="^ids: expected the tokens that filled the cache and"):
        step(ids[[0, 1, 2, 0]], cache)
    assert_close(step(ids[rows], cache), step(ids[rows], None))
    with pytest.raises(ValueError, match="^ids: expected the tokens that filled the cache and"):
        step(ids[[0, 1, 2, 0]], other)


def test_ids_in_a_buffer_that_the_caller_extends_are_recognised():
    model, step, _ = steps_of(DecoderOnly)
    ids, cache = torch.zeros(2, TGT_LEN, dtype=torch.int64), model.new_cache()
    expected = random_ids(2, TGT_LEN)
    for length in range(1, TGT_LEN + 1):
        ids[:, length - 1] = expected[:, length - 1]
        assert_close(step(ids[:, :length], cache), step(expected[:, :length], None))
    ids[0, 0] += 1
    with pytest.raises(ValueError, match="^ids: expected the tokens that filled the cache and"):
        step(torch.cat((ids, ids), dim=1), cache)


def test_a_cache_filled_with_vectors_does_not_compare_tokens():
    model, ids = make(DecoderOnly), random_ids(2, TGT_LEN)
    cache = model.new_cache()
    model.stack(model.embedding(ids[:, :3]), is_causal=True, cache=cache)
    assert_close(model.step(ids, cache), model.step(ids, None))


@pytest.mark.parametrize(
    "given", [KVCache(), [KVCache()], RecurrentCache()], ids=lambda c: type(c).__name__
)
@pytest.mark.parametrize("model_class", [Transformer, DecoderOnly])
def test_the_cache_of_a_model_has_all_its_layers(model_class, given):
    _, step, forward = steps_of(model_class)
    for run in (step, forward):
        with pytest.raises(ValueError, match="^cache: expected a DecoderCache.*, got "):
            run(random_ids(2, 3), given)


# A cache can only be copied if its tensors need no gradient.
@torch.no_grad()
@pytest.mark.parametrize(
    "n_sources, rows",
    [(1, [2, 0, 0, 1]), (2, [1, 0]), (2, [1]), (2, [5, 4, 3, 0, 1, 1]), (2, [3, 4]), (3, [])],
)
def test_a_step_after_a_reorder_takes_the_memory_in_the_new_order(n_sources, rows):
    """There are one to three rows for each source; `rows` selects some, in another order."""
    model, n_rows = make(Transformer), 6 if max(rows, default=0) > 1 else n_sources
    ids, src, seen = random_ids(n_rows, 3), random_ids(n_sources, SRC_LEN), [4, 7, 5][:n_sources]
    seen, cache = padding_mask(seen, SRC_LEN), model.new_cache()
    memory, _ = model.encode(src, seen)
    model.step(ids[:, :2], cache, memory, seen)
    cache.reorder(torch.tensor(rows, dtype=torch.int64))
    of_rows = [row * n_sources // n_rows for row in rows]
    expected = model.step(ids[rows], None, memory[of_rows], seen[of_rows])
    logits = model.step(ids[rows], copy.deepcopy(cache), memory[of_rows], seen[of_rows])
    assert_close(logits, expected)
    if n_sources == 1:
        assert_close(model.step(ids[rows], cache, memory, seen), expected)
    elif rows:
        message = "^memory: expected .* cache, its rows reordered like those of the cache"
        with pytest.raises(ValueError, match=message):
            model.step(ids[rows], cache, memory, seen)


@pytest.mark.parametrize("stack_class", [Encoder, Decoder])
def test_a_stack_whose_last_layer_fails_leaves_its_caches_unchanged(stack_class):
    stack, cache = stack_class(SMALL).double(), DecoderCache(SMALL.n_layers)
    x = random(2, 3, SMALL.d_model)
    arguments = (x,) if stack_class is Encoder else (x, x)
    failing = patch.object(stack.layers[1], "forward", side_effect=KeyboardInterrupt)
    with failing, pytest.raises(KeyboardInterrupt):
        stack(*arguments, cache=cache)
    assert [part.length for part in cache.parts] == [0] * 4


@pytest.mark.parametrize("base", [1, 1.5])
def test_waves_may_all_turn_alike(base):
    model = make(DecoderOnly, positions="rotary", rotary_base=base, n_heads=2)
    assert model.config.rotary_base == base and model(random_ids(1, 3))[0].isfinite().all()


def test_masks_and_positions_of_a_step_are_tensors():
    ids, mask = random_ids(2, 3), np.ones((2, 1, 3), bool)
    step = make(DecoderOnly).step
    with pytest.raises(ValueError, match="^mask: expected a tensor of bool, got ndarray$"):
        step(ids, None, mask=mask)
    with pytest.raises(ValueError, match="^positions: expected a tensor of int64, got list$"):
        step(ids, None, positions=[[0, 1, 2]] * 2)
    with pytest.raises(ValueError, match="^positions: expected a tensor of int64, got list$"):
        make(DecoderOnly, positions="rotary")(ids, positions=[[0, 1, 2]] * 2)
    model = make(Transformer)
    with pytest.raises(ValueError, match="^src_mask: expected a tensor of bool, got ndarray$"):
        model.step(ids, None, model.encode(ids)[0], src_mask=mask)


@pytest.mark.parametrize("positions", ["sinusoidal", "rotary"])
@pytest.mark.parametrize("transform", [torch.func.grad, torch.func.jacrev])
def test_a_model_that_was_differentiated_can_be_copied(transform, positions):
    """Differentiation puts placeholders in place of tensors, and none may be kept in the model."""
    model, ids = make(DecoderOnly, positions=positions), random_ids(1, 3)
    parameters = {name: p.detach() for name, p in model.named_parameters()}

    def total(parameters):
        return torch.func.functional_call(model, parameters, (ids,))[0].sum()

    transform(total)(parameters)
    assert_close(copy.deepcopy(model)(ids)[0], model(ids)[0])


def some_end(step, prompt):
    """Choose an end token that occurs: the fourth token written in the first row."""
    return int(greedy(step, prompt, end_id=None, max_new_tokens=4)[0, -1])


@pytest.mark.parametrize("model_class", [Transformer, DecoderOnly])
def test_decoding_is_the_same_with_a_cache(model_class):
    model = make(model_class, positions="rotary", vocab_size=60, tie_embeddings=False)
    step, prompt = model.step, random_ids(2, 2)
    if model_class is Transformer:
        src_mask = padding_mask([7, 4], SRC_LEN)
        memory, _ = model.encode(random_ids(2, SRC_LEN), src_mask)
        step = partial(step, memory=memory, src_mask=src_mask)
    for search, options in ((greedy, {}), (sample, {}), (beam_search, {"width": 3})):
        options = {"end_id": some_end(step, prompt), "max_new_tokens": 8} | options
        found = []
        for cache in (None, model.new_cache()):
            torch.manual_seed(0)
            ids = search(step, prompt, cache=cache, **options)
            found.append(ids[0] if search is beam_search else ids)
        assert torch.equal(*found)


def test_a_batch_generates_the_same_tokens_as_its_rows_alone():
    """Sources have three lengths, and no padding when they are alone."""
    model = make(Transformer, seed=1000, vocab_size=60, tie_embeddings=False)
    src, lengths, prompt = random_ids(3, SRC_LEN), [7, 2, 4], torch.full((3, 1), 2)
    src_mask = padding_mask(lengths, SRC_LEN)
    step = partial(model.step, memory=model.encode(src, src_mask)[0], src_mask=src_mask)
    options = {"width": 4, "end_id": some_end(step, prompt), "max_new_tokens": 8}
    beams, scores = beam_search(step, prompt, cache=model.new_cache(), **options)
    for i, length in enumerate(lengths):
        alone = partial(model.step, memory=model.encode(src[i : i + 1, :length])[0])
        texts, own_scores = beam_search(alone, prompt[:1], **options)
        n = texts.shape[-1]
        assert torch.equal(beams[i, :, :n], texts[0]) and not beams[i, :, n:].any()
        assert_close(scores[i], own_scores[0])


@pytest.mark.parametrize("shape", [(SRC_LEN,), (1, SRC_LEN), (1, 1, SRC_LEN), (2, 1, SRC_LEN)])
@pytest.mark.parametrize("width, has_cache", [(2, False), (3, True)])
def test_beam_search_takes_every_shape_of_source_mask(width, has_cache, shape):
    model, prompt = make(Transformer, vocab_size=60, tie_embeddings=False), random_ids(2, 1)
    mask = (torch.arange(SRC_LEN) < 4).expand(shape)
    memory, _ = model.encode(random_ids(2, SRC_LEN), mask)
    options = {"width": width, "end_id": 1, "max_new_tokens": 5}
    step = partial(model.step, memory=memory, src_mask=mask)
    cache = model.new_cache() if has_cache else None
    ids, _ = beam_search(step, prompt, cache=cache, **options)
    without_padding = partial(model.step, memory=memory[:, :4])
    assert torch.equal(ids, beam_search(without_padding, prompt, **options)[0])


# other numbers, other machines


def test_bfloat16_is_close():
    """A rounding to 8 bits of mantissa errs by 0.4%, and each number is rounded dozens of times."""
    model, src, tgt = make(Transformer), random_ids(2, SRC_LEN), random_ids(2, TGT_LEN)
    low, _ = copy.deepcopy(model).bfloat16()(src, tgt)
    exact, _ = model(src, tgt)
    assert low.dtype == torch.bfloat16
    assert (low.double() - exact).norm() < 0.03 * exact.norm()


@pytest.mark.slow
@pytest.mark.parametrize("need_weights", [False, True])
def test_it_compiles_into_one_graph(need_weights):
    model, src, tgt = make(Transformer, n_layers=1), random_ids(2, 7), random_ids(2, TGT_LEN)
    compiled = torch.compile(model, fullgraph=True, backend="eager")
    mask = padding_mask([7, 4], SRC_LEN)
    actual, expected = (m(src, tgt, mask, need_weights=need_weights) for m in (compiled, model))
    assert torch.equal(actual[0], expected[0])
    if need_weights:
        assert all(
            torch.equal(a, b) for a, b in zip(actual[1].cross, expected[1].cross, strict=True)
        )


def test_models_run_on_the_meta_device():
    with torch.device("meta"):
        model, ids = Transformer(SMALL), torch.empty(2, 5, dtype=torch.int64)
    assert model(ids, ids)[0].shape == (2, 5, VOCAB_SIZE)


@pytest.mark.parametrize("dtype", [torch.int32, torch.int64])
def test_ids_may_be_of_either_integer_type(dtype):
    model, ids = make(DecoderOnly), random_ids(2, TGT_LEN)
    assert torch.equal(model(ids.to(dtype))[0], model(ids)[0])


# empty sequences and errors


@pytest.mark.parametrize("batch, src_len, tgt_len", [(0, 7, 5), (2, 0, 5), (2, 7, 0), (0, 0, 0)])
@all_positions
def test_empty_batches_and_sequences_are_allowed(batch, src_len, tgt_len, positions):
    model = make(Transformer, positions=positions)
    src, tgt = random_ids(batch, src_len), random_ids(batch, tgt_len)
    logits, _ = model(src, tgt)
    assert logits.shape == (batch, tgt_len, VOCAB_SIZE) and logits.isfinite().all()
    for model_class in (EncoderOnly, DecoderOnly):
        single = make(model_class, positions=positions)
        assert single(tgt)[0].shape == (batch, tgt_len, VOCAB_SIZE)


@all_models
@pytest.mark.parametrize(
    "ids, message",
    [
        (torch.tensor([[1, VOCAB_SIZE]]), f"ids: expected values from 0 to 10, got {VOCAB_SIZE}"),
        (torch.tensor([[-1, 2]]), "ids: expected values from 0 to 10, got -1"),
        (torch.ones(1, 2), "ids: expected a tensor of int64 or int32, got torch.float32"),
        (torch.ones(1, 2).bool(), "ids: expected a tensor of int64 or int32, got torch.bool"),
        (torch.ones(1, 2, dtype=torch.int16), "ids: expected .* or int32, got torch.int16"),
        ([[1, 2]], "ids: expected a tensor of int64 or int32, got list"),
        (torch.tensor(1), r"ids: expected shape \(..., seq_len\), got \(\)"),
    ],
)
def test_invalid_ids_are_refused(model_class, ids, message):
    model, good = make(model_class), random_ids(1, 2)
    with pytest.raises(ValueError, match=f"^{message}$"):
        logits_of(model, ids, good)
    if model_class is Transformer:
        with pytest.raises(ValueError, match=f"^{message}$"):
            model(ids, good)


def test_ids_are_checked_against_their_own_vocabulary():
    model = make(Transformer, tgt_vocab_size=13)
    last, beyond = torch.tensor([[0, 12]]), torch.tensor([[0, 13]])
    assert model(torch.tensor([[0, 10]]), last)[0].shape == (1, 2, 13)
    with pytest.raises(ValueError, match="^ids: expected values from 0 to 10, got 12$"):
        model(last, last)
    with pytest.raises(ValueError, match="^ids: expected values from 0 to 12, got 13$"):
        model(last % 11, beyond)


@all_models
def test_ids_beyond_the_learned_positions_are_refused(model_class):
    model = make(model_class, positions="learned")
    logits_of(model, random_ids(1, 16))
    message = "^x: expected positions below n_positions = 16, all that were learned, got 16$"
    with pytest.raises(ValueError, match=message):
        logits_of(model, random_ids(1, 17))
    if model_class is DecoderOnly:
        cache = model.new_cache()
        model(random_ids(1, 16), cache=cache)
        with pytest.raises(ValueError, match=message):
            model(random_ids(1, 1), cache=cache)


NO_MASK = torch.ones(2, 1, 4).bool()
BROADCASTS = "a shape that broadcasts to (2, 5, 5), got (2, 1, 4)"


@pytest.mark.parametrize(
    "call, name, end",
    [
        (
            lambda m, ids: m.decode(ids, ONES[..., :6]),
            "memory",
            "(..., src_len, 12), got (2, 5, 6)",
        ),
        (lambda m, ids: m.encoder(ONES[..., :6]), "x", "(..., seq_len, 12), got (2, 5, 6)"),
        (lambda m, ids: m(ids, ids, NO_MASK), "mask", BROADCASTS),
        (lambda m, ids: m(ids, ids, None, NO_MASK), "mask", BROADCASTS),
        (
            lambda m, ids: m(ids, ids, ONES[:, :1]),
            "mask",
            "(True = may attend), got dtype torch.float32",
        ),
        (lambda m, ids: m.step(ids[:, 0], None, ONES), "ids", "(n_rows, length), got (2,)"),
        (lambda m, ids: m.step(ids[:1], None, ONES), "ids", "of 2 rows to match memory, got 1"),
        (lambda m, ids: m.step(ids, None, ONES[:0]), "ids", "of 0 rows to match memory, got 2"),
        (
            lambda m, ids: m.step(ids[:, :0], None, ONES),
            "ids",
            "more than the 0 tokens that were read before, got 0",
        ),
        (lambda m, ids: m.decode(ids, ONES, cache=DecoderCache(3)), "cache", "n_layers = 2, got 3"),
        (lambda m, ids: m.encoder(ONES, cache=DecoderCache(1)), "cache", "n_layers = 2, got 1"),
    ],
)
def test_invalid_arguments_are_refused(call, name, end):
    with pytest.raises(ValueError, match=f"^{name}: expected .*{re.escape(end)}$"):
        call(make(Transformer, torch.float32), random_ids(2, TGT_LEN))


@pytest.mark.parametrize("model_class", [Transformer, DecoderOnly])
def test_a_step_needs_all_tokens_so_far(model_class):
    """A step that gets only the last token raises an error instead of computing wrong numbers."""
    model, ids = make(model_class), random_ids(2, 3)
    step = model.step
    if model_class is Transformer:
        step = partial(step, memory=model.encode(ids)[0])
    cache = model.new_cache()
    step(ids, cache)
    for wrong in (ids[:, -1:], ids):
        message = (
            f"^ids: expected more than the 3 tokens that were read before, got {wrong.shape[1]}$"
        )
        with pytest.raises(ValueError, match=message):
            step(wrong, cache)


# the configuration


# On few lines, so that they can be compared with the docstring.
DEFAULTS = {
    "vocab_size": 9, "tgt_vocab_size": None, "d_model": 512, "n_heads": 8, "n_layers": 6,
    "d_ff": 2048, "dropout": 0.1, "norm": "post", "positions": "sinusoidal", "max_len": 512,
    "n_kv_heads": None, "tie_embeddings": True, "scale_embeddings": True,
    "attention": "scaled_dot_product", "attention_dropout": 0.0, "activation": "relu",
    "normalization": "layer", "norm_eps": 1e-5, "bias": True, "rotary_base": 10000.0,
    "n_token_types": 0, "embedding_norm": False, "prediction_head": False, "rotary_scaling": None,
    "mixers": (), "experts": None,
}  # fmt: skip
SIZES = ["vocab_size", "tgt_vocab_size", "d_model", "n_heads", "n_layers", "d_ff", "max_len"]
SIZES += ["n_kv_heads"]
FLAGS = ["tie_embeddings", "scale_embeddings", "bias", "embedding_norm", "prediction_head"]
SHARE, ABOVE, BASE = "a number in [0, 1)", "a number above 0", "a finite number of at least 1"
# For each name, values that are not allowed, and the description of allowed ones.
REFUSED = {
    "an integer": {name: [2.0, "8", True] for name in SIZES} | {"n_token_types": [False]},
    "at least 1": {name: [0] for name in SIZES},
    "at least 0": {"n_token_types": [-1]},
    "True or False": {name: [1, None] for name in FLAGS},
    SHARE: {"dropout": [1.0, -0.1, "0.1"], "attention_dropout": [False]},
    ABOVE: {"norm_eps": [0.0, "1e-5", True]},
    BASE: {"rotary_base": [0.5, math.inf, None]},
    "10000 unless positions are rotary": {"rotary_base": [50.0]},
    "'post' or 'pre'": {"norm": ["Pre", ["pre"]]},
    "'layer' or 'rms'": {"normalization": ["RMS", None]},
    "'relu' or 'gelu' or 'gelu_tanh' or 'swiglu' or 'geglu'": {"activation": ["tanh"]},
    " or ".join(map(repr, OWN_SCHEMES)): {"positions": ["relative"]},
    "a dictionary or None": {"rotary_scaling": [2.0]},
}


def test_the_defaults_are_the_paper_s_base_model():
    assert dataclasses.asdict(TransformerConfig(9)) == DEFAULTS


@pytest.mark.parametrize(
    "change, message",
    [
        *(
            ({name: value}, f"{name}: expected {wanted}, got {value!r}")
            for wanted, names in REFUSED.items()
            for name, values in names.items()
            for value in values
        ),
        ({"vocab_size": None}, "vocab_size: expected an integer, got None"),
        ({"vocab_size": TRUE}, f"vocab_size: expected an integer, got {TRUE!r}"),
        ({"n_heads": 5}, "d_model: expected a multiple of n_heads = 5, got 12"),
        ({"n_kv_heads": 2}, "n_heads: expected a multiple of n_kv_heads = 2, got 3"),
        ({"d_model": 9}, "positions: expected a kind for an odd size (9), got 'sinusoidal'"),
        (
            {"d_model": 18, "n_heads": 6, "positions": "rotary"},
            "positions: expected a kind for an odd size (3), got 'rotary'",
        ),
        (
            {"rotary_scaling": {"rope_type": "linear", "factor": 2}},
            "rotary_scaling: expected None unless positions are rotary, got 'linear'",
        ),
        (
            {
                "positions": "rotary",
                "rotary_scaling": {"rope_type": "factors", "factors": [1, 2, 3]},
            },
            "rotary_scaling.factors: expected 2 numbers, one for each wave, got 3",
        ),
    ],
)
def test_invalid_configurations_are_refused(change, message):
    refused = refuses(message)
    with patch.dict(SCHEMES, OWN_SCHEMES, clear=True), refused:
        dataclasses.replace(SMALL, **change)


def test_a_scaling_of_positions_is_copied_deeply():
    given = {"rope_type": "linear", "factor": 2}
    config = dataclasses.replace(SMALL, positions="rotary", rotary_scaling=given)
    given["factor"] = 3
    assert config.rotary_scaling == {"rope_type": "linear", "factor": 2.0}
    other = dataclasses.replace(config, rotary_scaling=given)
    assert config != other and len({config, other, dataclasses.replace(config)}) == 2


@pytest.mark.parametrize("positions", ["learned", "alibi", "none"])
def test_odd_sizes_are_allowed_for_other_positions(positions):
    model = make(Transformer, d_model=9, positions=positions)
    assert model(random_ids(1, 3), random_ids(1, 3))[0].shape == (1, 3, VOCAB_SIZE)


@all_models
def test_the_smallest_sizes_make_a_model(model_class):
    changes = dict.fromkeys(SIZES, 1) | {"positions": "learned", "dropout": 0}
    if model_class is not Transformer:
        del changes["tgt_vocab_size"]
    model, ids = make(model_class, **changes), torch.zeros(1, 1, dtype=torch.int64)
    assert logits_of(model, ids, ids).shape == (1, 1, 1)


def test_numbers_of_other_libraries_are_converted_to_python_numbers():
    """``ids.max() + 1`` is a natural size of a vocabulary."""
    sizes = {name: np.int64(getattr(SMALL, name) or 3) for name in SIZES}
    for number in (np.float64, np.float32, np.float16):
        numbers = {
            "dropout": 0.5,
            "attention_dropout": 0.25,
            "norm_eps": 0.125,
            "rotary_base": 64.0,
        }
        given = {name: number(value) for name, value in numbers.items()}
        config = TransformerConfig(**sizes, positions="rotary", n_token_types=np.int64(2), **given)
        for name in (*SIZES, "n_token_types"):
            assert type(getattr(config, name)) is int
        assert config.n_token_types == 2
        for name, value in numbers.items():
            assert type(getattr(config, name)) is float and getattr(config, name) == value
    assert TransformerConfig(torch.tensor(9)) == TransformerConfig(9)


def test_a_configuration_is_immutable():
    with pytest.raises(dataclasses.FrozenInstanceError):
        SMALL.d_model = 24
    assert make(Transformer).config == SMALL


def test_the_names_of_the_stacks_classes():
    assert type(make(Transformer).decoder) is Decoder
    assert {type(m) for m in (make(EncoderOnly).encoder, make(DecoderOnly).stack)} == {Encoder}
