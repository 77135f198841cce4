"""Two processes of chapter 16 against one process, and the bytes they send against the formulas."""

import copy

import pytest
import torch

from attn.attention import MultiHeadAttention
from attn.experts import Experts, MixtureOfExperts
from attn.layers import FeedForward
from attn.positions import RotaryPositions
from attn.training.processes import Processes
from attn.transformer import DecoderOnly, TransformerConfig
from attn_course.parallel import ExpertParallel, TensorParallel
from experiments import parallel as bench
from experiments.runner import DATA, read
from tests.core.helpers import refuses

STORED = read(DATA / "parallel.json")["processes"]
CPU = torch.device("cpu")
ONE, SECOND = Processes(0, 1, CPU), Processes(1, 2, CPU)


def sent(shape, dtype, kind):
    """Return the bytes that each process sends in a step, on average."""
    batch, length, d_model, _, _, _, n_experts, n_active = bench.SHAPES[shape]
    x, layer, experts = bench.start(shape, dtype)
    n_bytes = x.element_size()
    numbers = {
        "data": {"all_reduce": sum(p.numel() for p in layer.parameters())},
        # All tokens are sent forward and backward, for the attention and for the feed-forward
        # network.
        "tensor": {"all_reduce": 4 * batch * length * d_model},
        # Each token is sent there and back, and so is its gradient, as often as it has experts.
        "experts": {
            "all_to_all_single": 4 * batch * length * n_active * d_model // 2,
            "all_reduce": n_experts * d_model + sum(p.numel() for p in experts.shared.parameters()),
        },
    }
    return {name: number * n_bytes for name, number in numbers[kind].items()}


@pytest.mark.slow
def test_two_processes_agree_with_one_and_send_the_predicted_bytes():
    measured = bench.measure()
    output, gradient = measured.pop("forgotten")
    assert output < 1e-12 and gradient == pytest.approx(STORED["forgotten"][1], abs=1e-5)
    assert measured.keys() == STORED.keys() - {"forgotten"}
    for row, found in measured.items():
        shape, name, kind = row.split(", ")
        assert found["parts"] == STORED[row]["parts"] == 1, row
        assert found["piece"] < 1, row
        for one in (found, STORED[row]):
            assert float(one["error"]) < (1e-6 if name == "float32" else 2e-15), row
            assert one["bytes"] == sent(shape, bench.DTYPES[name], kind), row


def test_a_parallel_model_in_one_process_takes_masks_and_caches():
    torch.manual_seed(1)
    config = TransformerConfig(20, d_model=16, n_heads=4, n_kv_heads=2, n_layers=2, d_ff=24)
    whole = DecoderOnly(config).eval()
    parts = copy.deepcopy(whole)
    for layer in parts.stack.layers:
        layer.self_attention = TensorParallel(layer.self_attention, ONE)
        layer.feed_forward = TensorParallel(layer.feed_forward, ONE)
    ids = torch.tensor([[5, 6, 7, 3], [8, 9, 0, 0]])
    mask = (ids != 0)[:, None, :]
    for options in ({"mask": mask}, {"need_weights": True}, {"cache": whole.new_cache()}):
        wanted = whole(ids, **copy.deepcopy(options))
        got = parts(ids, **options)
        assert torch.equal(got[0], wanted[0])
        torch.testing.assert_close(got[1], wanted[1])


PLAIN = "one without a norm, a sink, a gate or positions of its own"


@pytest.mark.parametrize(
    "make, whole, message",
    [
        (
            TensorParallel,
            torch.nn.Linear(2, 2),
            "a FeedForward or a MultiHeadAttention, got Linear",
        ),
        (TensorParallel, FeedForward(4, 7), "units or heads that 2 divides, got 7"),
        (
            TensorParallel,
            MultiHeadAttention(8, 4, n_kv_heads=1),
            "units or heads that 2 divides, got 1",
        ),
        (
            TensorParallel,
            MultiHeadAttention(8, 2, sink=True, gate=True),
            f"{PLAIN}, got gate_proj, sink",
        ),
        (
            TensorParallel,
            MultiHeadAttention(8, 2, relative=RotaryPositions(4)),
            f"{PLAIN}, got relative",
        ),
        (ExpertParallel, Experts(4, MixtureOfExperts(3, 1, 8)), "experts that 2 divides, got 3"),
        (ExpertParallel, FeedForward(4, 8), "an Experts, got FeedForward"),
        (
            ExpertParallel,
            Experts(4, MixtureOfExperts(4, 1, 8, balance="bias")),
            "experts of balance = 'none', got bias",
        ),
    ],
)
def test_layers_that_cannot_be_parallelised_are_refused(make, whole, message):
    with refuses(f"whole: expected {message}"):
        make(whole, SECOND)
