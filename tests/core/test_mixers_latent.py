"""Multi-head latent attention against transformers, in its expanded and its absorbed form."""

import pytest
import torch
from transformers import DeepseekV2Config, DeepseekV3Config
from transformers.models.deepseek_v2 import modeling_deepseek_v2
from transformers.models.deepseek_v3 import modeling_deepseek_v3

from attn.cache import WindowCache
from attn.mixers import LatentAttention, MultiHeadLatent
from attn.positions import RotaryPositions
from attn.transformer import TransformerConfig
from tests.refusals import refusals

D_MODEL, N_HEADS, D_LATENT, D_ROTARY = 32, 4, 12, 6
THEIRS = {
    "vocab_size": 9,
    "hidden_size": D_MODEL,
    "num_attention_heads": N_HEADS,
    "num_key_value_heads": N_HEADS,
    "num_hidden_layers": 1,
    "q_lora_rank": None,
    "kv_lora_rank": D_LATENT,
    "qk_rope_head_dim": D_ROTARY,
    "qk_nope_head_dim": 8,
    "v_head_dim": 8,
    "attn_implementation": "eager",
    "rope_parameters": {"rope_type": "default", "rope_theta": 10000.0},
}


@pytest.fixture
def ours():
    torch.manual_seed(1)
    sizes = D_MODEL, N_HEADS, D_LATENT, D_ROTARY
    options = {"bias": False, "norm_eps": 1e-6, "relative": RotaryPositions()}
    module = LatentAttention(*sizes, **options).double().eval()
    with torch.no_grad():
        for parameter in module.parameters():
            parameter += 0.3 * torch.randn_like(parameter)
    return module


@pytest.fixture
def x():
    return torch.randn(2, 7, 32, generator=torch.Generator().manual_seed(2), dtype=torch.float64)


def theirs(version, module, x):
    """Return output and weights of DeepSeek's attention; its last matrix makes keys and values."""
    if version == 2:
        modeling, config = modeling_deepseek_v2, DeepseekV2Config(**THEIRS, head_dim=D_ROTARY)
        attention = modeling.DeepseekV2Attention(config, layer_idx=0)
        rotary = modeling.DeepseekV2RotaryEmbedding(config)
    else:
        modeling, config = modeling_deepseek_v3, DeepseekV3Config(**THEIRS)
        attention = modeling.DeepseekV3Attention(config, layer_idx=0)
        rotary = modeling.DeepseekV3RotaryEmbedding(config)
    both = (part.weight.unflatten(0, (N_HEADS, -1)) for part in (module.k_proj, module.v_proj))
    state = {
        "q_proj.weight": module.q_proj.weight,
        "kv_a_proj_with_mqa.weight": module.latent_proj.weight,
        "kv_a_layernorm.weight": module.latent_norm.weight,
        "kv_b_proj.weight": torch.cat(tuple(both), dim=1).flatten(0, 1),
        "o_proj.weight": module.out_proj.weight,
    }
    attention = attention.double().eval()
    attention.load_state_dict(state)
    visible = torch.ones(7, 7, dtype=torch.bool).tril()
    mask = torch.zeros(7, 7, dtype=x.dtype).masked_fill(~visible, -torch.inf)[None, None]
    places = rotary(x, torch.arange(7)[None])
    with torch.no_grad():
        return attention(x, attention_mask=mask, position_embeddings=places)[:2]


@pytest.mark.parametrize("version", [2, 3])
def test_it_equals_the_attention_of_deepseek(version, ours, x):
    output, weights = ours(x, is_causal=True, need_weights=True)
    expected = theirs(version, ours, x)
    torch.testing.assert_close(output, expected[0], atol=3e-6, rtol=3e-6)
    torch.testing.assert_close(weights, expected[1], atol=3e-6, rtol=3e-6)
    assert 0.01 < weights[weights > 0].median() < 0.99


def test_a_step_attends_to_latents_without_computing_keys(ours, x, monkeypatch):
    """The absorbed form of a step has the output and weights of the expanded form."""
    output, weights = ours(x, is_causal=True, need_weights=True)
    cache = ours.new_cache()
    ours(x[:, :-1], is_causal=True, cache=cache)
    for part in (ours.k_proj, ours.v_proj):
        monkeypatch.setattr(part, "forward", None)
    step = ours(x[:, -1:], is_causal=True, need_weights=True, cache=cache)
    torch.testing.assert_close(step[0], output[:, -1:])
    torch.testing.assert_close(step[1], weights[..., -1:, :])
    assert cache.nbytes == 2 * 7 * (D_LATENT + D_ROTARY) * 8


test_invalid_arguments_are_refused = refusals(
    (lambda: MultiHeadLatent(0), "d_latent: expected at least 1, got 0$"),
    (lambda: MultiHeadLatent(4, 3), "d_rotary: expected an even number"),
    (
        lambda: TransformerConfig(9, mixers=(MultiHeadLatent(4, 2),)),
        "d_rotary: expected 0, since the positions of the model are not rotary, got 2$",
    ),
    (
        lambda: TransformerConfig(9, positions="rotary", mixers=(MultiHeadLatent(4),)),
        "positions: expected a kind that is added to the tokens, since no mixer",
    ),
    (
        lambda: TransformerConfig(9, n_kv_heads=2, mixers=(MultiHeadLatent(4),)),
        "n_kv_heads: expected None, since no mixer uses it, got 2$",
    ),
    (
        lambda: LatentAttention(8, 2, 4)(torch.zeros(1, 1, 8), cache=WindowCache(3)),
        "cache: expected a KVCache, got WindowCache$",
    ),
)
