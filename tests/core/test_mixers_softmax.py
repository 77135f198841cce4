"""The options of softmax attention against the modules of transformers, with the same weights."""

import numpy as np
import pytest
import torch
from torch import nn
from transformers import Gemma2Config, Gemma3TextConfig, GptOssConfig, Qwen3Config, Qwen3NextConfig
from transformers.models.gemma2 import modeling_gemma2
from transformers.models.gemma3 import modeling_gemma3
from transformers.models.gpt_oss import modeling_gpt_oss
from transformers.models.qwen3 import modeling_qwen3
from transformers.models.qwen3_next import modeling_qwen3_next

from attn.attention import MultiHeadAttention, scaled_dot_product_attention
from attn.cache import WindowCache
from attn.masks import window_mask
from attn.mixers import MultiHead
from attn.positions import RotaryPositions
from attn.reference import soft_capped, softmax, softmax_with_sink
from attn.transformer import TransformerConfig, to_torch
from tests.refusals import refusals

SIZES = {"vocab_size": 9, "d_model": 32, "n_heads": 4, "n_layers": 2, "bias": False}
THEIR_SIZES = {
    "vocab_size": 9,
    "hidden_size": 32,
    "num_attention_heads": 4,
    "num_key_value_heads": 2,
    "head_dim": 8,
    "num_hidden_layers": 2,
    "rms_norm_eps": 1e-5,
    "attn_implementation": "eager",
}
D_K = 8
LOCAL = {
    kind: {"rope_type": "default", "rope_theta": 10000.0}
    for kind in ("sliding_attention", "full_attention")
}


def ours(mixer, **changes):
    """Return the module of a mixer with rotary positions and random weights, in float64."""
    options = {"positions": "rotary", "n_kv_heads": 2} | changes
    config = TransformerConfig(**SIZES | options, mixers=(mixer,))
    relative = RotaryPositions.from_config(config) if config.positions == "rotary" else None
    torch.manual_seed(1)
    module = mixer.new_module(config, relative).double().eval()
    with torch.no_grad():
        for parameter in module.parameters():
            parameter += 0.3 * torch.randn_like(parameter)
    return module


def halves(x, size=D_K):
    """Reorder dimensions rotated in neighbouring pairs into two halves, as in transformers."""
    return x.unflatten(0, (-1, size // 2, 2)).transpose(1, 2).flatten(0, 2)


def theirs(attention, module, rotary, x, window=None, **renamed):
    """Return output and weights of an attention of transformers with the weights of `ours`."""
    state = {
        "q_proj.weight": halves(module.q_proj.weight),
        "k_proj.weight": halves(module.k_proj.weight),
        "v_proj.weight": module.v_proj.weight,
        "o_proj.weight": module.out_proj.weight,
    } | renamed
    attention = attention.double().eval()
    attention.load_state_dict(state)
    length = x.shape[-2]
    visible = torch.ones(length, length, dtype=torch.bool).tril()
    if window is not None:
        visible = visible.triu(1 - window)
    mask = torch.zeros(length, length, dtype=x.dtype).masked_fill(~visible, -torch.inf)
    places = torch.arange(length)[None]
    with torch.no_grad():
        return attention(x, rotary(x, places), mask[None, None])[:2]


def check_equal(module, expected, x):
    output, weights = module(x, is_causal=True, need_weights=True)
    # transformers computes softmax, sines and cosines in float32.
    torch.testing.assert_close(output, expected[0], atol=3e-6, rtol=3e-6)
    torch.testing.assert_close(weights, expected[1], atol=3e-6, rtol=3e-6)
    torch.testing.assert_close(module(x, is_causal=True)[0], output)
    assert 0.01 < weights[weights > 0].median() < 0.99


@pytest.fixture
def x():
    return torch.randn(2, 7, 32, generator=torch.Generator().manual_seed(2), dtype=torch.float64)


def test_query_key_norm_equals_that_of_qwen3(x):
    config, module = Qwen3Config(**THEIR_SIZES), ours(MultiHead(qk_norm=True))
    norms = {f"{part}_norm.weight": halves(getattr(module, f"{part}_norm").weight) for part in "qk"}
    attention = modeling_qwen3.Qwen3Attention(config, layer_idx=0)
    rotary = modeling_qwen3.Qwen3RotaryEmbedding(config)
    check_equal(module, theirs(attention, module, rotary, x, **norms), x)


def test_query_key_norm_bounds_the_scores(x):
    """Tokens that are 30 times as large have the same weights."""
    module = ours(MultiHead(qk_norm=True))
    nn.init.ones_(module.q_norm.weight)
    module.q_norm.eps = module.k_norm.eps = 1e-12
    one, other = (module(scale * x, is_causal=True, need_weights=True)[1] for scale in (1.0, 30.0))
    torch.testing.assert_close(one, other)


def test_the_sink_equals_that_of_gpt_oss(x):
    module = ours(MultiHead(sink=True))
    plain = {"rope_type": "default", "rope_theta": 10000.0}
    config = GptOssConfig(**THEIR_SIZES, attention_bias=False, rope_parameters=plain)
    attention = modeling_gpt_oss.GptOssAttention(config, layer_idx=1)
    rotary = modeling_gpt_oss.GptOssRotaryEmbedding(config)
    check_equal(module, theirs(attention, module, rotary, x, sinks=module.sink), x)


def test_the_gate_equals_that_of_qwen3_next(x):
    """Its query matrix also holds the gate, head by head; its norm adds one to the weight."""
    module = ours(MultiHead(gate=True, qk_norm=True))
    plain = {"rope_type": "default", "rope_theta": 10000.0, "partial_rotary_factor": 1.0}
    config = Qwen3NextConfig(**THEIR_SIZES, rope_parameters=plain)
    attention = modeling_qwen3_next.Qwen3NextAttention(config, layer_idx=0)
    rotary = modeling_qwen3_next.Qwen3NextRotaryEmbedding(config)
    both = halves(module.q_proj.weight), module.gate_proj.weight
    both = torch.cat([part.unflatten(0, (-1, D_K)) for part in both], dim=1).flatten(0, 1)
    norms = {f"{p}_norm.weight": halves(getattr(module, f"{p}_norm").weight) - 1 for p in "qk"}
    renamed = {"q_proj.weight": both} | norms
    check_equal(module, theirs(attention, module, rotary, x, **renamed), x)


@pytest.mark.parametrize("shape", [(1, 3, 5), (2, 2, 4, 4), (3, 1, 6)])
def test_a_sink_reduces_the_weights(shape):
    """The weights equal the reference's, with a mask of which some rows allow no key."""
    rng = np.random.default_rng(len(shape))
    *batch, tgt_len, src_len = shape
    query, key = rng.normal(size=(*batch, tgt_len, 8)), rng.normal(size=(*batch, src_len, 8))
    sink, mask = rng.normal(size=(*batch, 1)), rng.random((tgt_len, src_len)) < 0.6
    mask[0] = False
    scores = np.where(mask, query @ key.mT / np.sqrt(8), -np.inf)
    expected = softmax_with_sink(scores, sink)
    tensors = [torch.from_numpy(array) for array in (query, key, key, mask)]
    options = {"sink": torch.from_numpy(sink)[..., None], "need_weights": True}
    output, weights = scaled_dot_product_attention(*tensors, **options)
    np.testing.assert_allclose(weights, expected, atol=1e-12)
    np.testing.assert_allclose(output, expected @ key, atol=1e-12)
    exponentials = np.exp(scores)
    total = np.exp(sink) + exponentials.sum(axis=-1)
    np.testing.assert_allclose(expected, exponentials / total[..., None], atol=1e-12)
    without = scaled_dot_product_attention(*tensors, sink=options["sink"])
    assert torch.equal(without[0], output) and without[1] is None


test_a_sink_of_wrong_shape_is_refused = refusals(
    (torch.zeros(3), r"sink: expected a shape that broadcasts to \(2, 4, 1\), got \(3,\)$"),
    (torch.zeros(1, dtype=torch.int64), "sink: expected a floating-point tensor"),
    of=lambda sink: scaled_dot_product_attention(*torch.zeros(3, 2, 4, 8), sink=sink),
)


@pytest.mark.parametrize("cap", [0.5, 2.0])
def test_the_soft_cap_equals_that_of_gemma_2(x, cap):
    module = ours(MultiHead(soft_cap=cap))
    config = Gemma2Config(**THEIR_SIZES, attn_logit_softcapping=cap, query_pre_attn_scalar=D_K)
    attention = modeling_gemma2.Gemma2Attention(config, layer_idx=1)
    rotary = modeling_gemma2.Gemma2RotaryEmbedding(config)
    check_equal(module, theirs(attention, module, rotary, x), x)


def test_capped_scores_equal_the_reference_and_a_bias_is_added_after_the_cap():
    rng = np.random.default_rng(0)
    query, key, bias = (rng.normal(size=shape) for shape in ((3, 4, 8), (3, 6, 8), (4, 6)))
    expected = softmax(soft_capped(query @ key.mT / np.sqrt(8), 1.2) + bias)
    tensors = [torch.from_numpy(array) for array in (query, key, key)]
    options = {"bias": torch.from_numpy(bias), "soft_cap": 1.2}
    output, weights = scaled_dot_product_attention(*tensors, need_weights=True, **options)
    np.testing.assert_allclose(weights, expected, atol=1e-12)
    assert torch.equal(scaled_dot_product_attention(*tensors, **options)[0], output)


@pytest.mark.parametrize(
    "make",
    [
        lambda: MultiHead(soft_cap=0),
        lambda: scaled_dot_product_attention(*torch.zeros(3, 4, 8), soft_cap=0),
    ],
)
def test_a_cap_that_is_not_positive_is_refused(make):
    with pytest.raises(ValueError, match="^soft_cap: expected a number above 0, got 0$"):
        make()


def test_the_reference_refuses_a_sink_of_wrong_shape():
    with pytest.raises(ValueError, match=r"^sink: expected a shape that broadcasts to \(2,\)"):
        softmax_with_sink(np.zeros((2, 3)), np.zeros(3))


@pytest.mark.parametrize(
    "option, part",
    [
        ("qk_norm", "q_norm"),
        ("sink", "sink"),
        ("gate", "gate_proj"),
        ("soft_cap", "soft_cap"),
        ("window", "window"),
    ],
)
def test_options_that_pytorch_lacks_are_refused_in_a_conversion(option, part):
    chosen = MultiHead(**{option: 2 if option in ("soft_cap", "window") else True})
    module = ours(chosen, positions="none", n_kv_heads=None)
    with pytest.raises(ValueError, match=f"^module: expected {part} = None for PyTorch, got one$"):
        to_torch(module)


@pytest.mark.parametrize("option", ["qk_norm", "sink", "gate"])
def test_options_are_checked(option):
    with pytest.raises(ValueError, match=f"^{option}: expected True or False, got 1$"):
        MultiHead(**{option: 1})


@pytest.mark.parametrize("window", [2, 3, 6, 9])
def test_the_window_equals_that_of_gemma_3(x, window):
    module = ours(MultiHead(window=window, qk_norm=True))
    config = Gemma3TextConfig(**THEIR_SIZES, query_pre_attn_scalar=D_K, rope_parameters=LOCAL)
    attention = modeling_gemma3.Gemma3Attention(config, layer_idx=0)
    norms = {f"{p}_norm.weight": halves(getattr(module, f"{p}_norm").weight) - 1 for p in "qk"}
    rotary = modeling_qwen3.Qwen3RotaryEmbedding(Qwen3Config(**THEIR_SIZES))
    expected = theirs(attention, module, rotary, x, window, **norms)
    check_equal(module, expected, x)
    assert torch.equal(expected[1] > 0, window_mask(7, window).expand(2, 4, 7, 7))


def test_a_window_removes_older_tokens_from_its_cache(x):
    """The cache does not grow, is not truncated past removed tokens, fits no wider window."""
    module, cache = ours(MultiHead(window=3)), WindowCache(3)
    module(x[:, :2], is_causal=True, cache=cache)
    cache.truncate(1)
    expected = module(x, is_causal=True)[0]
    sizes = []
    for i in range(1, 7):
        output, _ = module(x[:, i : i + 1], is_causal=True, cache=cache)
        torch.testing.assert_close(output[:, 0], expected[:, i])
        sizes.append(cache.key.shape[-2])
    assert sizes == [2] * 6 and cache.length == 7
    with pytest.raises(ValueError, match="^length: expected 0 or all 7 tokens, since others have"):
        cache.truncate(6)
    cache.truncate(7)
    wider = ours(MultiHead(window=4))
    with pytest.raises(ValueError, match="^cache: expected one of window = 4, got one that keeps"):
        wider(x[:, :1], is_causal=True, cache=cache)
    with pytest.raises(ValueError, match="^cache: expected a KVCache, got one that keeps a window"):
        ours(MultiHead())(x[:, :1], is_causal=True, cache=cache)
    cache.truncate(0)
    torch.testing.assert_close(module(x, is_causal=True, cache=cache)[0], expected)


test_windows_and_positions_are_checked = refusals(
    (lambda: MultiHead(window=0), "window: expected at least 1, got 0$"),
    (lambda: MultiHead(positions="rotary"), "positions: expected 'none' or None, got 'rotary'$"),
    (
        lambda: TransformerConfig(**SIZES, mixers=(MultiHead(positions="none"),)),
        "mixers.positions: expected None, since the model has no relative positions, got 'none'$",
    ),
    (
        lambda: ours(MultiHead(positions="none")),
        "positions: expected a kind that is added to the tokens, since no mixer uses another",
    ),
    (
        lambda: MultiHeadAttention(8, 2, window=2)(*torch.zeros(2, 3, 8)),
        "key: expected None, since window is for self-attention, got a memory$",
    ),
)
