"""attn.mixers.recurrent: the layers around a state, and what they refuse."""

import pytest
import torch
from torch.nn import functional as F

from attn.masks import causal_mask, padding_mask
from attn.mixers import DeltaRule, GatedDeltaRule, LinearAttention, MultiHead, Retention, StateCache
from attn.transformer import DecoderOnly, TransformerConfig
from tests.refusals import refusals

SIZES = {"vocab_size": 20, "d_model": 16, "n_heads": 4, "n_layers": 1, "d_ff": 24, "dropout": 0.0}
MIXERS = [LinearAttention(), Retention(), DeltaRule(), GatedDeltaRule(convolution=3)]
EACH = pytest.mark.parametrize("mixer", MIXERS, ids=lambda mixer: type(mixer).__name__)


def layer(mixer, **changes):
    """Return the module of one layer with every weight changed, so that none is 0 or 1."""
    torch.manual_seed(0)
    config = TransformerConfig(**SIZES | changes, mixers=(mixer,))
    module = DecoderOnly(config).double().eval().stack.layers[0].self_attention
    with torch.no_grad():
        for parameter in module.parameters():
            parameter += 0.3 * torch.randn_like(parameter)
    return module


def tokens(*shape, seed=1):
    return torch.randn(
        *shape, 16, dtype=torch.float64, generator=torch.Generator().manual_seed(seed)
    )


def heads(module, name, x):
    return getattr(module, name)(x).unflatten(-1, (4, -1)).movedim(-2, -3)


def test_linear_attention_is_a_mean_by_positive_products():
    module, x = layer(LinearAttention()), tokens(2, 7)
    query, key = (F.elu(heads(module, f"{name}_proj", x)) + 1 for name in "qk")
    weights = (query @ key.mT).tril()
    weights = weights / weights.sum(dim=-1, keepdim=True)
    expected = (weights @ heads(module, "v_proj", x)).movedim(-3, -2).flatten(-2)
    output, found = module(x, is_causal=True, need_weights=True)
    torch.testing.assert_close(output, module.out_proj(expected))
    torch.testing.assert_close(found, weights)


def test_retention_decays_by_a_different_power_in_each_head():
    """Sections 2.1 and 2.2 of the paper, but with the norm of the authors' code."""
    module, x = layer(Retention(), positions="rotary"), tokens(2, 7)
    query, key, value = (heads(module, f"{name}_proj", x) for name in "qkv")
    angles = torch.arange(7)[:, None] * 10000.0 ** -(torch.arange(2, dtype=torch.float64) / 2)
    turns = torch.polar(torch.ones_like(angles), angles)
    query, key = (torch.view_as_complex(y.unflatten(-1, (2, 2))) * turns for y in (query, key))
    scores = (query @ key.mH).real / 2
    decay = 1 - 2.0 ** (-5 - torch.arange(4, dtype=torch.float64))
    distance = torch.arange(7)[:, None] - torch.arange(7)
    weights = scores * (decay[:, None, None] ** distance).tril()
    read = weights @ value
    read = read / (read.square().mean(dim=-1, keepdim=True) + 1e-5).sqrt() * module.norm.weight
    expected = read.movedim(-3, -2).flatten(-2) * F.silu(module.gate_proj(x))
    output, found = module(x, is_causal=True, need_weights=True)
    torch.testing.assert_close(output, module.out_proj(expected))
    torch.testing.assert_close(found, weights)


@pytest.mark.slow
def test_the_gated_delta_rule_is_the_layer_of_qwen3_next():
    from transformers import Qwen3NextConfig
    from transformers.models.qwen3_next.modeling_qwen3_next import Qwen3NextGatedDeltaNet

    torch.manual_seed(0)
    sizes = {"linear_num_value_heads": 4, "linear_num_key_heads": 4}
    sizes |= {"linear_key_head_dim": 8, "linear_value_head_dim": 6, "linear_conv_kernel_dim": 4}
    config = Qwen3NextConfig(hidden_size=16, num_hidden_layers=1, **sizes)
    theirs = Qwen3NextGatedDeltaNet(config, 0).eval()
    ours = layer(GatedDeltaRule(d_k=8, d_v=6, convolution=4), bias=False, norm_eps=1e-6).float()
    with torch.no_grad():
        for parameter in theirs.parameters():
            parameter.copy_(0.5 * torch.randn_like(parameter))
        # Its matrix has the rows of all four projections head by head, ours one after the other.
        rows = theirs.in_proj_qkvz.weight.unflatten(0, (4, -1)).split((8, 8, 6, 6), dim=1)
        names = ("q_proj", "k_proj", "v_proj", "gate_proj")
        state = {
            f"{name}.weight": part.flatten(0, 1) for name, part in zip(names, rows, strict=True)
        }
        rates = theirs.in_proj_ba.weight.unflatten(0, (4, 2))
        state |= {"beta_proj.weight": rates[:, 0], "decay_proj.weight": rates[:, 1]}
        state |= {"log_rate": theirs.A_log, "decay_bias": theirs.dt_bias}
        state |= {"convolution": theirs.conv1d.weight.squeeze(1), "norm.weight": theirs.norm.weight}
        ours.load_state_dict(state | {"out_proj.weight": theirs.out_proj.weight})
    x, lengths = tokens(3, 41).float(), [41, 30, 7]
    real = padding_mask(lengths, 41).flip(-1)
    expected = theirs(x, attention_mask=real[:, 0].long())
    found, _ = ours(x, real, is_causal=True)
    for i, length in enumerate(lengths):
        torch.testing.assert_close(found[i, -length:], expected[i, -length:], rtol=1e-4, atol=1e-5)


@EACH
def test_padding_changes_nothing(mixer):
    module, x = layer(mixer), tokens(2, 9)
    for real in (padding_mask([9, 5], 9), padding_mask([9, 5], 9).flip(-1)):
        cache, other = module.new_cache(), module.new_cache()
        output, _ = module(x, real, is_causal=True, cache=cache)
        changed = torch.where(real[:, 0, :, None], x, -3 * x)
        again, _ = module(changed, real, is_causal=True, cache=other)
        assert torch.equal(cache.state, other.state)
        assert torch.equal(again[real[:, 0]], output[real[:, 0]])
        alone = module.new_cache()
        module(x[1:, real[1, 0]], is_causal=True, cache=alone)
        torch.testing.assert_close(cache.state[1:], alone.state)
    empty = module.new_cache()
    module(x, torch.zeros(1, 9, dtype=torch.bool), is_causal=True, cache=empty)
    assert not empty.state.any()


@EACH
@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float32])
def test_the_state_is_in_float32(mixer, dtype):
    module = layer(mixer).to(dtype)
    cache = module.new_cache()
    output, _ = module(tokens(2, 5).to(dtype), is_causal=True, cache=cache)
    assert output.dtype == dtype and cache.state.dtype == torch.float32
    config = TransformerConfig(**SIZES, mixers=(mixer,))
    assert cache.nbytes == 2 * mixer.cache_bytes(config, 5, dtype)


def test_beta_is_at_most_one_or_two():
    for largest, mixer in ((1, DeltaRule()), (2, DeltaRule(negative_eigenvalues=True))):
        beta = layer(mixer).rates(100 * tokens(9))["beta"]
        assert beta.max() > 0.99 * largest and beta.min() >= 0 and beta.max() <= largest


@pytest.mark.parametrize(
    "given, message",
    [
        ({"is_causal": False}, "^is_causal: expected True, since a state reads from left to right"),
        (
            {"mask": causal_mask(5)},
            r"^mask: expected padding, a shape that broadcasts to \(2, 1, 5\), .*, got \(5, 5\)$",
        ),
        ({"mask": torch.ones(1, 5)}, "^mask: expected a boolean array"),
        (
            {"mask": torch.tensor([[True, False, True, True, True]])},
            "^mask: expected real tokens side by side, since the convolution",
        ),
        ({"positions": torch.zeros(3, dtype=torch.int64)}, "^positions: expected a shape that"),
        ({"cache": MultiHead()}, r"^cache: expected a StateCache, from new_cache\(\), got Multi"),
    ],
)
def test_masks_and_options_that_a_state_does_not_support_are_refused(given, message):
    module = layer(GatedDeltaRule(convolution=2))
    with pytest.raises(ValueError, match=message):
        module(tokens(2, 5), **{"is_causal": True} | given)


def test_a_cache_belongs_to_one_kind_of_layer_and_holds_no_keys():
    module, cache = layer(DeltaRule()), StateCache()
    module(tokens(2, 5), is_causal=True, need_weights=True, cache=cache)
    with pytest.raises(ValueError, match="^need_weights: expected False, since the tokens in the"):
        module(tokens(2, 1), is_causal=True, need_weights=True, cache=cache)
    with pytest.raises(
        ValueError, match=r"^cache: expected shape \(2, 4, 3, 4\), got \(2, 4, 4, 4"
    ):
        layer(DeltaRule(d_k=3))(tokens(2, 1), is_causal=True, cache=cache)
    with pytest.raises(ValueError, match="^cache: expected that of this layer"):
        layer(DeltaRule(convolution=2))(tokens(2, 1), is_causal=True, cache=cache)
    state = cache.state
    with pytest.raises(ValueError, match="^length: expected 0 or 5, since a state cannot forget"):
        cache.truncate(4)
    cache.truncate(5)
    assert cache.length == 5 and cache.state is state
    cache.truncate(0)
    assert cache.length == 0 == cache.nbytes and cache.state is None


test_an_invalid_description_of_a_layer_is_refused = refusals(
    (lambda: DeltaRule(d_k=0), "d_k: expected at least 1, got 0"),
    (lambda: Retention(d_v=2.5), "d_v: expected an integer, got 2.5"),
    (lambda: DeltaRule(convolution=1), "convolution: expected 0, or at least 2 tokens, got 1"),
    (lambda: Retention(gate=1), "gate: expected True or False, got 1"),
    (lambda: DeltaRule(negative_eigenvalues=0), "negative_eigenvalues: expected True or Fal"),
    (lambda: layer(Retention(), positions="alibi"), "positions: expected a kind that adds not"),
    (lambda: layer(DeltaRule(), positions="rotary"), "positions: expected a kind that is add"),
    (lambda: layer(Retention(d_k=6), positions="rotary"), "d_k: expected 4, as positions turn"),
)


def test_positions_continue_from_those_that_were_given():
    module, x = layer(Retention(), positions="rotary"), tokens(2, 9)
    stand = torch.tensor([[3], [0]]) + torch.arange(9)
    expected, _ = module(x, is_causal=True, positions=stand)
    cache = module.new_cache()
    first, _ = module(x[:, :5], is_causal=True, positions=stand[:, :5], cache=cache)
    pieces = [first, *(module(x[:, i : i + 2], is_causal=True, cache=cache)[0] for i in (5, 7))]
    torch.testing.assert_close(torch.cat(pieces, dim=-2), expected)
    assert torch.equal(cache.following(1), torch.tensor([[12], [9]]))
