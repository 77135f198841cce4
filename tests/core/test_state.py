"""attn.reference.linear and attn.mixers.state: all forms of the recurrence agree."""

from functools import partial

import numpy as np
import pytest
import torch
from torch.nn import functional as F

from attn import reference
from attn.mixers.state import chunked, recurrent, state_weights
from tests.core.helpers import assert_close, random

RULES = ["added", "fading", "delta", "gated"]


def inputs(rule, length, batch=(2, 3), d_k=8, d_v=5):
    """Return queries, keys and values, and the additional numbers per token that a rule takes."""
    query, key = (
        random(*batch, length, d_k),
        F.normalize(random(*batch, length, d_k, seed=1), dim=-1),
    )
    numbers = {
        "log_decay": -random(*batch, length, seed=2).abs() / 4,
        "beta": 2 * random(*batch, length, seed=3).sigmoid(),
    }
    has = {"added": [], "fading": ["log_decay"], "delta": ["beta"], "gated": ["log_decay", "beta"]}
    return (query, key, random(*batch, length, d_v, seed=4)), {n: numbers[n] for n in has[rule]}


def by_reference(query, key, value, log_decay=None, beta=None):
    decay = 1.0 if log_decay is None else log_decay.exp().numpy()
    query, key, value = (x.numpy() for x in (query, key, value))
    if beta is None:
        return torch.tensor(reference.retention(query, key, value, decay))
    return torch.tensor(reference.delta_rule(query, key, value, beta.numpy(), decay))


close = partial(assert_close, tolerance=1e-11)


def test_retention_is_a_decaying_sum():
    query, key, value = random(2, 6, 4), random(2, 6, 4, seed=1), random(2, 6, 3, seed=2)
    decay = torch.tensor([0.9, 0.5], dtype=torch.float64)
    expected = torch.zeros(2, 6, 3, dtype=torch.float64)
    for head in range(2):
        for n in range(6):
            for m in range(n + 1):
                weight = decay[head] ** (n - m) * (query[head, n] @ key[head, m])
                expected[head, n] += weight * value[head, m]
    close(torch.tensor(reference.retention(query, key, value, decay[:, None])), expected)


def test_the_delta_rule_is_a_step_of_gradient_descent():
    query, key, value = random(7, 4), random(7, 4, seed=1), random(7, 3, seed=2)
    beta, decay = random(7, seed=3).sigmoid(), random(7, seed=4).sigmoid()
    state, expected = torch.zeros(4, 3, dtype=torch.float64), []
    for n in range(7):
        state = (decay[n] * state).requires_grad_()
        error = 0.5 * (key[n] @ state - value[n]).square().sum()
        state = (state - beta[n] * torch.autograd.grad(error, state)[0]).detach()
        expected.append(query[n] @ state)
    found = reference.delta_rule(query, key, value, beta, decay)
    close(torch.tensor(found), torch.stack(expected))


def test_a_state_stores_as_many_orthogonal_keys_as_it_has_rows():
    key, value = np.linalg.qr(random(6, 6))[0], random(6, 3).numpy()
    query = np.concatenate([np.zeros((6, 6)), key])
    asked = [np.concatenate([x, np.zeros_like(x)]) for x in (key, value)]
    found = reference.delta_rule(query, *asked, beta=1.0)[6:]
    np.testing.assert_allclose(found, value, atol=1e-12)


@pytest.mark.parametrize("rule", RULES)
def test_the_weights_times_the_values_are_the_output(rule):
    tokens, numbers = inputs(rule, 9)
    expected = by_reference(*tokens, **numbers)
    for weights in (
        state_weights(*tokens[:2], **numbers),
        torch.tensor(
            reference.state_weights(
                *tokens[:2], numbers.get("beta"), numbers.get("log_decay", torch.zeros(1)).exp()
            )
        ),
    ):
        assert weights.shape == (2, 3, 9, 9) and not weights.triu(1).any()
        close(weights @ tokens[2], expected)


@pytest.mark.parametrize("rule", RULES)
@pytest.mark.parametrize("length", [1, 5, 37, 64])
def test_all_forms_agree_with_the_reference(rule, length):
    tokens, numbers = inputs(rule, length)
    expected = by_reference(*tokens, **numbers)
    found, last = recurrent(*tokens, **numbers)
    close(found, expected)
    for chunk_size in (1, 3, 16, 64):
        found, state = chunked(*tokens, **numbers, chunk_size=chunk_size)
        close(found, expected)
        close(state, last)


@pytest.mark.parametrize("rule", ["delta", "gated"])
def test_an_exported_graph_has_a_longest_text(rule, monkeypatch):
    monkeypatch.setattr("attn.mixers.state.exporting", lambda: True)
    monkeypatch.setattr("attn.mixers.state.LONGEST_EXPORTED", 8)
    tokens, numbers = inputs(rule, 8)
    close(chunked(*tokens, **numbers)[0], by_reference(*tokens, **numbers))
    tokens, numbers = inputs(rule, 9)
    with pytest.raises(RuntimeError, match="seq_len: expected at most 8 tokens"):
        chunked(*tokens, **numbers)
    monkeypatch.setattr("torch._check", lambda *_: None)  # as ONNX, which drops it
    assert chunked(*tokens, **numbers)[0].isnan().all()


@pytest.mark.parametrize("rule", RULES)
def test_a_text_may_be_read_in_parts(rule):
    tokens, numbers = inputs(rule, 20)
    whole, last = chunked(*tokens, **numbers, chunk_size=6)
    state, parts = None, []
    for way, part in (
        (chunked, slice(0, 13)),
        (recurrent, slice(13, 14)),
        (chunked, slice(14, 20)),
    ):
        rest = {name: x[..., part] for name, x in numbers.items()}
        found, state = way(*(x[..., part, :] for x in tokens), **rest, state=state)
        parts.append(found)
    close(torch.cat(parts, dim=-2), whole)
    close(state, last)
    empty, same = chunked(*(x[..., :0, :] for x in tokens), state=state)
    assert empty.shape == (2, 3, 0, 5) and torch.equal(same, state)


@pytest.mark.parametrize("rule", RULES)
def test_gradients_are_those_of_the_recurrence(rule):
    tokens, numbers = inputs(rule, 7, batch=(2,), d_k=3, d_v=2)
    given = [*tokens, *numbers.values(), random(2, 3, 2, seed=5)]
    given = [x.requires_grad_() for x in given]

    def run(way, query, key, value, *rest, **options):
        *rest, state = rest
        return way(
            query, key, value, **dict(zip(numbers, rest, strict=True)), state=state, **options
        )

    assert torch.autograd.gradcheck(lambda *x: run(chunked, *x, chunk_size=3), given)
    every = [
        torch.autograd.grad(sum((x * x.cos()).sum() for x in run(*way)), given)
        for way in ((chunked, *given), (recurrent, *given))
    ]
    for one, other in zip(*every, strict=True):
        close(one, other)


def test_it_is_the_gated_delta_rule_of_qwen3_next():
    from transformers.models.qwen3_next import modeling_qwen3_next as modelling

    (query, key, value), numbers = inputs("gated", 45)
    theirs = [x.float().transpose(1, 2) for x in (query, key, value, *numbers.values())]
    start = random(2, 3, 8, 5, seed=6).float()
    options = {"initial_state": start, "output_final_state": True}
    ours = chunked(query * 8**-0.5, key, value, **numbers, state=start)
    for output, state in (
        modelling.torch_chunk_gated_delta_rule(*theirs, chunk_size=16, **options),
        modelling.torch_recurrent_gated_delta_rule(*theirs, **options),
    ):
        close(output.transpose(1, 2).double(), ours[0], tolerance=2e-5)
        close(state.double(), ours[1], tolerance=2e-5)


@pytest.mark.parametrize("way", [recurrent, chunked])
def test_the_state_is_not_rounded(way):
    tokens, numbers = inputs("gated", 40)
    rounded = [x.bfloat16() for x in tokens]
    rates = {name: x.float() for name, x in numbers.items()}
    expected, last = way(*(x.float() for x in rounded), **rates)
    output, state = way(*rounded, **rates)
    assert output.dtype == torch.bfloat16 and state.dtype == torch.float32
    close(output, expected.bfloat16(), tolerance=0.0)
    with torch.autocast(output.device.type, dtype=torch.bfloat16):
        assert torch.equal(way(*(x.float() for x in rounded), **rates)[1], last)


@pytest.mark.parametrize("rule", ["fading", "gated"])
def test_a_very_strong_decay_gives_finite_gradients(rule):
    tokens, numbers = inputs(rule, 50)
    numbers["log_decay"] = torch.full_like(numbers["log_decay"], -1000.0).requires_grad_()
    output, _ = chunked(*tokens, **numbers)
    output.sum().backward()
    assert numbers["log_decay"].grad.isfinite().all()
    close(output.detach(), recurrent(*tokens, **numbers)[0].detach())


def test_all_inputs_broadcast():
    (query, key, value), numbers = inputs("gated", 6)
    beta, log_decay = numbers["beta"][0, :, :1], numbers["log_decay"][0, 0]
    found, _ = chunked(query, key[:1], value[:, :1], beta=beta, log_decay=log_decay, chunk_size=4)
    close(
        found,
        by_reference(
            query,
            key[:1].expand(2, -1, -1, -1),
            value[:, :1].expand(-1, 3, -1, -1),
            log_decay.expand(2, 3, 6),
            beta.expand(2, 3, 6),
        ),
    )


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (
            {"key": (2, 3, 8)},
            r"^key: expected shape \(\.\.\., 4, 8\) to match query, got \(2, 3, 8\)$",
        ),
        ({"value": (2, 3, 5)}, r"^value: expected shape \(\.\.\., 4, d_v\) to match query"),
        ({"value": (3, 4, 5)}, r"^value: expected batch dimensions that broadcast with \(2,\)"),
        ({"beta": (2, 3)}, r"^beta: expected a shape that broadcasts to \(2, 4\), got \(2, 3\)$"),
        ({"log_decay": (4, 1)}, r"^log_decay: expected a shape that broadcasts to \(2, 4\)"),
        ({"state": (8, 5)}, r"^state: expected shape \(2, 8, 5\), got \(8, 5\)$"),
    ],
)
def test_wrong_shapes_are_named(change, message):
    shapes = {"query": (2, 4, 8), "key": (2, 4, 8), "value": (2, 4, 5)} | change
    with pytest.raises(ValueError, match=message):
        chunked(**{name: torch.zeros(shape) for name, shape in shapes.items()})


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"key": np.zeros((3, 8))}, r"^query: expected shape \(\.\.\., 3, 8\) to match key"),
        ({"beta": np.zeros(3)}, r"^beta: expected a shape that broadcasts to \(4,\), got \(3,\)$"),
        ({"beta": np.nan}, r"^beta: expected finite numbers, got 1 NaN or infinite$"),
        ({"decay": [1, 0.5, 0, 1]}, r"^decay: expected numbers above 0 and at most 1, got 0.0$"),
        ({"decay": 1.5}, r"^decay: expected numbers above 0 and at most 1, got 1\.5$"),
    ],
)
def test_the_reference_names_wrong_shapes(change, message):
    given = {"query": np.zeros((4, 8)), "key": np.zeros((4, 8)), "beta": 1.0} | change
    given["value"] = given["key"]
    with pytest.raises(ValueError, match=message):
        reference.delta_rule(**given)
