"""benchmarks.cached_step: every contender attends to the same number of keys on every call."""

from unittest.mock import patch

import pytest
import torch
from torch.nn import functional as F

from attn._checks import switch
from benchmarks import cached_step


@pytest.mark.parametrize("kind", ["bare", *cached_step.KINDS])
@torch.no_grad()
def test_a_step_attends_to_all_keys_every_time(kind):
    make = cached_step.KINDS.get(kind)
    step = cached_step.own(make(), 9, False) if make else cached_step.bare(9)
    with patch.object(F, "scaled_dot_product_attention", wraps=F.scaled_dot_product_attention) as f:
        outputs = [step() for _ in range(12)]
    assert [call.args[1].shape[-2] for call in f.call_args_list] == [9] * 12
    assert outputs[0].shape == (1, 1, cached_step.D_MODEL)
    assert all(torch.equal(output, outputs[0]) for output in outputs)
    assert switch.on


def test_there_is_a_row_for_each_kind_of_positions():
    rows = cached_step.measure(n_keys=5, repeats=2, least=0)
    assert [row["positions"] for row in rows] == ["none", "rotary", "alibi"]
    assert all({"checks on", "checks off", "ms, checks off"} < set(row) for row in rows)
