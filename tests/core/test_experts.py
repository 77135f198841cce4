"""Mixtures of experts against transformers with the same weights, and inside a model."""

import pytest
import torch
from torch.utils.flop_counter import FlopCounterMode
from transformers import DeepseekV3Config, MixtralConfig
from transformers.models.deepseek_v3 import modeling_deepseek_v3
from transformers.models.mixtral import modeling_mixtral

from attn.experts import Experts, MixtureOfExperts, balance_losses
from attn.transformer import DecoderOnly, EncoderOnly, Transformer, TransformerConfig
from tests.refusals import refusals

D_MODEL, D_EXPERT, N_EXPERTS = 16, 12, 6


def make(seed=1, activation="swiglu", bias=False, **options):
    """Return experts in float64 with random weights, in evaluation mode."""
    torch.manual_seed(seed)
    sizes = {"n_experts": N_EXPERTS, "n_active": 2, "d_expert": D_EXPERT} | options
    experts = Experts(D_MODEL, MixtureOfExperts(**sizes), activation, bias).double().eval()
    with torch.no_grad():
        for parameter in experts.parameters():
            parameter += 0.3 * torch.randn_like(parameter)
    return experts


@pytest.fixture
def x():
    generator = torch.Generator().manual_seed(2)
    return torch.randn(3, 7, D_MODEL, generator=generator, dtype=torch.float64)


def joined(experts):
    """Return the matrices of all experts, stacked as in transformers."""
    parts = experts.experts
    return {
        "experts.gate_up_proj": torch.stack(
            [torch.cat((e.linear_1.weight, e.linear_3.weight)) for e in parts]
        ),
        "experts.down_proj": torch.stack([e.linear_2.weight for e in parts]),
        "gate.weight": experts.router.weight,
    }


def test_the_outputs_equal_those_of_mixtral(x):
    experts = make()
    config = MixtralConfig(
        hidden_size=D_MODEL,
        intermediate_size=D_EXPERT,
        num_local_experts=N_EXPERTS,
        num_experts_per_tok=2,
        num_attention_heads=2,
        num_key_value_heads=2,
    )
    config._experts_implementation = "eager"
    theirs = modeling_mixtral.MixtralSparseMoeBlock(config).double().eval()
    theirs.load_state_dict(joined(experts))
    # transformers computes this softmax in float32.
    torch.testing.assert_close(experts(x), theirs(x), atol=1e-5, rtol=1e-5)


def test_with_a_bias_and_shared_experts_the_outputs_equal_those_of_deepseek_v3(x):
    experts = make(n_active=3, n_shared=2, balance="bias")
    experts.favour += torch.tensor([0.5, -0.5, 0.2, 0.0, -0.3, 0.4])
    config = DeepseekV3Config(
        hidden_size=D_MODEL,
        moe_intermediate_size=D_EXPERT,
        n_routed_experts=N_EXPERTS,
        num_experts_per_tok=3,
        n_shared_experts=2,
        n_group=1,
        topk_group=1,
        routed_scaling_factor=1.0,
        norm_topk_prob=True,
    )
    config._experts_implementation = "eager"
    theirs = modeling_deepseek_v3.DeepseekV3MoE(config).double().eval()
    shared = {"gate": "linear_1", "up": "linear_3", "down": "linear_2"}
    state = joined(experts) | {
        f"shared_experts.{name}_proj.weight": getattr(experts.shared, ours).weight
        for name, ours in shared.items()
    }
    theirs.load_state_dict(state | {"gate.e_score_correction_bias": experts.favour})
    torch.testing.assert_close(experts(x), theirs(x), atol=1e-5, rtol=1e-5)
    # The bias affects which experts are chosen, and not their weights.
    before = experts(x)
    experts.favour += 0.25
    torch.testing.assert_close(experts(x), before)


def test_the_balancing_loss_is_that_of_switch_transformers(x):
    experts = make(balance="loss")
    logits = experts.router(x).flatten(0, 1)
    expected = modeling_mixtral.load_balancing_loss_func((logits,), N_EXPERTS, top_k=2) / 2
    with balance_losses(experts) as losses:
        experts(x)
        experts(x[:1])
    assert len(losses) == 2 and losses[0] > 1.01
    torch.testing.assert_close(losses[0], expected, check_dtype=False, atol=1e-6, rtol=1e-6)
    experts(x)
    assert len(losses) == 2


@pytest.mark.parametrize("balance", ["loss", "bias"])
def test_balancing_repairs_a_collapsed_router(balance, x):
    """A few experts take nearly all tokens; after balancing, every expert takes its share."""

    def shares():
        chosen = experts.route(rows)[0].flatten()
        return chosen.bincount(minlength=N_EXPERTS) / len(chosen)

    experts = make(balance=balance, **({"bias_step": 0.02} if balance == "bias" else {}))
    generator = torch.Generator().manual_seed(3)
    rows = torch.randn(512, D_MODEL, generator=generator, dtype=torch.float64) + 0.5
    with torch.no_grad():
        experts.router.weight[:2] += 0.4
    collapsed = shares()
    assert collapsed[:2].sum() > 0.7
    optimizer = torch.optim.Adam(experts.parameters(), lr=0.01)
    experts.train()
    for _ in range(80):
        if balance == "bias":
            with torch.no_grad():
                experts(rows)
            continue
        with balance_losses(experts) as losses:
            experts(rows)
        optimizer.zero_grad()
        sum(losses).backward()
        optimizer.step()
    experts.eval()
    mended = shares()
    assert (mended - 1 / N_EXPERTS).abs().max() < 0.05
    assert torch.equal(shares(), mended)


def test_one_expert_is_weighted_by_its_score_and_the_router_learns(x):
    experts = make(n_active=1)
    chosen, weights = experts.route(x.flatten(0, 1))
    scores = experts.router(x.flatten(0, 1)).softmax(dim=-1)
    assert torch.equal(weights[:, 0], scores.amax(dim=-1))
    assert torch.equal(chosen[:, 0], scores.argmax(dim=-1))
    experts(x).square().sum().backward()
    assert experts.router.weight.grad.abs().max() > 0


@pytest.mark.parametrize("activation, bias", [("swiglu", False), ("gelu", True)])
def test_the_reported_costs_of_experts(activation, bias):
    mixture = MixtureOfExperts(N_EXPERTS, 2, D_EXPERT, n_shared=1)
    config = TransformerConfig(
        9, d_model=D_MODEL, n_heads=2, activation=activation, bias=bias, experts=mixture
    )
    experts = mixture.new_module(config).eval()
    with FlopCounterMode(display=False) as counter, torch.no_grad():
        experts(torch.randn(1, 1, D_MODEL))
    assert counter.get_total_flops() == mixture.step_flops(config)


@pytest.mark.parametrize("model_class", [EncoderOnly, Transformer])
def test_models_that_use_no_experts_refuse_them(model_class):
    config = TransformerConfig(9, experts=MixtureOfExperts(2, 1, 4))
    with pytest.raises(ValueError, match="^experts: expected None, since .* does nothing with it"):
        model_class(config)


test_invalid_arguments_are_refused = refusals(
    (lambda: MixtureOfExperts(1, 1, 4), "n_experts: expected at least 2, got 1$"),
    (lambda: MixtureOfExperts(4, 5, 4), "n_active: expected at most n_experts = 4, got 5$"),
    (lambda: MixtureOfExperts(4, 2, 4, balance="luck"), "balance: expected 'none' or 'loss'"),
    (
        lambda: MixtureOfExperts(4, 2, 4, bias_step=0.1),
        "bias_step: expected 0.001 unless balance is 'bias', got 0.1$",
    ),
    (lambda: TransformerConfig(9, experts=4), "experts: expected a MixtureOfExperts or None"),
    (
        lambda: TransformerConfig(9, d_ff=64, experts=MixtureOfExperts(4, 2, 4)),
        "d_ff: expected 2048, since experts have a size of their own, got 64$",
    ),
    (
        lambda: balance_losses(DecoderOnly(TransformerConfig(9, d_model=8))).__enter__(),
        "model: expected one with experts of balance = 'loss', got DecoderOnly$",
    ),
)
