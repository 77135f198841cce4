"""attn.training against PyTorch and closed forms: schedule, loss, batches, devices, arguments."""

import atexit
import dataclasses
import math
from contextlib import contextmanager
from fractions import Fraction
from types import SimpleNamespace

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch import distributed
from torch.nn import functional as F
from torch.optim.lr_scheduler import CosineAnnealingLR, LinearLR

from attn import checks, training
from attn.training import TrainingConfig, choose_device, cross_entropy, learning_rate, pad, shift
from attn.training.batches import Batches
from attn.training.devices import keep_randomness, set_seed
from attn.training.processes import join
from tests.core.helpers import refuses

# configuration


def test_the_default_configuration():
    assert dataclasses.asdict(TrainingConfig(steps=7)) == {
        "steps": 7,
        "batch_size": 64,
        "batch_tokens": None,
        "learning_rate": 1e-3,
        "warmup_steps": 200,
        "schedule": "cosine",
        "optimizer": "adamw",
        "betas": (0.9, 0.98),
        "weight_decay": 0.01,
        "decayed": "all",
        "label_smoothing": 0.1,
        "clip_norm": 1.0,
        "seed": 0,
        "validate_every": None,
        "patience": None,
        "checkpoint_every": None,
        "precision": "float32",
        "compile": False,
        "device": "auto",
    }


def test_values_at_the_limits_are_allowed():
    config = TrainingConfig(
        steps=1,
        batch_size=1,
        warmup_steps=1,
        betas=[0, 0],
        weight_decay=0,
        label_smoothing=0,
        clip_norm=math.inf,
        validate_every=1,
        patience=1,
        checkpoint_every=1,
        compile=True,
    )
    assert config.betas == (0.0, 0.0) and config.clip_norm == math.inf


def test_numbers_are_converted_to_python_numbers():
    config = TrainingConfig(steps=np.int64(3), learning_rate=np.float64(1), seed=np.int64(2))
    assert TrainingConfig(steps=1, seed=2**63 - 1).seed == 2**63 - 1
    for name in ("steps", "seed"):
        assert type(getattr(config, name)) is int
    for number in (config.learning_rate, config.weight_decay, *config.betas):
        assert type(number) is float
    with pytest.raises(dataclasses.FrozenInstanceError):
        config.steps = 4


@pytest.mark.parametrize("kind", [np.float32, np.float16, Fraction])
@pytest.mark.parametrize("name", ["learning_rate", "weight_decay", "clip_norm", "label_smoothing"])
def test_real_numbers_of_every_type_are_accepted(name, kind):
    number = getattr(TrainingConfig(steps=1, **{name: kind(0.25)}), name)
    assert type(number) is float and number == 0.25


@pytest.mark.parametrize(
    "changes, message",
    [
        ({"steps": 0}, "steps: expected at least 1, got 0"),
        ({"steps": 1.5}, "steps: expected an integer, got 1.5"),
        ({"batch_size": 0}, "batch_size: expected at least 1, got 0"),
        ({"batch_tokens": 0}, "batch_tokens: expected at least 1, got 0"),
        ({"warmup_steps": 0}, "warmup_steps: expected at least 1, got 0"),
        ({"seed": -1}, "seed: expected at least 0, got -1"),
        ({"seed": 2**63}, f"seed: expected below 2**63, got {2**63}"),
        ({"validate_every": 0}, "validate_every: expected at least 1, got 0"),
        ({"checkpoint_every": 0}, "checkpoint_every: expected at least 1, got 0"),
        ({"patience": 0, "validate_every": 1}, "patience: expected at least 1, got 0"),
        ({"patience": 2}, "patience: expected None without validate_every, got 2"),
        ({"learning_rate": 0}, "learning_rate: expected a finite number above 0, got 0"),
        ({"learning_rate": math.inf}, "learning_rate: expected a finite number above 0, got inf"),
        ({"learning_rate": math.nan}, "learning_rate: expected a finite number above 0, got nan"),
        ({"learning_rate": "1"}, "learning_rate: expected a finite number above 0, got '1'"),
        ({"learning_rate": True}, "learning_rate: expected a finite number above 0, got True"),
        ({"weight_decay": -1}, "weight_decay: expected a finite number from 0, got -1"),
        ({"weight_decay": math.inf}, "weight_decay: expected a finite number from 0, got inf"),
        ({"clip_norm": 0}, "clip_norm: expected a number above 0, got 0"),
        ({"clip_norm": math.nan}, "clip_norm: expected a number above 0, got nan"),
        ({"label_smoothing": 1}, "label_smoothing: expected a number in [0, 1), got 1"),
        ({"label_smoothing": -0.1}, "label_smoothing: expected a number in [0, 1), got -0.1"),
        ({"betas": 0.9}, "betas: expected two numbers, got 0.9"),
        ({"betas": (0.9,)}, "betas: expected two numbers, got (0.9,)"),
        ({"betas": (0.9, 1)}, "betas: expected a number in [0, 1), got 1"),
        ({"schedule": "linear"}, "schedule: expected 'cosine' or 'inverse_sqrt', got 'linear'"),
        ({"optimizer": "sgd"}, "optimizer: expected 'adamw' or 'muon', got 'sgd'"),
        ({"decayed": "none"}, "decayed: expected 'all' or 'matrices', got 'none'"),
        ({"precision": "half"}, "precision: expected 'float32' or 'bfloat16', got 'half'"),
        ({"device": "tpu"}, "device: expected 'auto' or 'cpu' or 'cuda' or 'mps', got 'tpu'"),
        ({"compile": 1}, "compile: expected True or False, got 1"),
    ],
)
def test_invalid_configurations_are_refused(changes, message):
    with refuses(message):
        TrainingConfig(**{"steps": 10} | changes)


# learning rate


@pytest.mark.parametrize("d_model, warmup", [(512, 4000), (64, 1), (7, 20)])
def test_the_schedule_of_the_paper(d_model, warmup):
    peak = (d_model * warmup) ** -0.5
    config = TrainingConfig(
        steps=10**6, learning_rate=peak, warmup_steps=warmup, schedule="inverse_sqrt"
    )
    for step in (1, 2, warmup - 1 or 1, warmup, warmup + 1, 3 * warmup, 10**6):
        equation_3 = d_model**-0.5 * min(step**-0.5, step * warmup**-1.5)
        assert learning_rate(step, config) == pytest.approx(equation_3, rel=1e-12)


@pytest.mark.parametrize("steps, warmup", [(50, 10), (12, 1), (8, 8), (3, 5)])
def test_warmup_and_cosine_are_those_of_torch(steps, warmup):
    config = TrainingConfig(steps=steps, learning_rate=0.3, warmup_steps=warmup)

    def rates(scheduler, **options):
        optimizer = torch.optim.SGD([torch.ones(1, requires_grad=True)], lr=0.3)
        schedule = scheduler(optimizer, **options)
        while True:
            yield optimizer.param_groups[0]["lr"]
            optimizer.step()
            schedule.step()

    if warmup > 1:
        warming = rates(LinearLR, start_factor=1 / warmup, total_iters=warmup - 1)
    else:
        warming = iter([0.3])
    expected = [next(warming) for _ in range(min(warmup, steps))]
    if steps > warmup:
        falling = rates(CosineAnnealingLR, T_max=steps + 1 - warmup)
        assert next(falling) == 0.3 == pytest.approx(expected[-1])
        expected += [next(falling) for _ in range(steps - warmup)]
    found = [learning_rate(step, config) for step in range(1, steps + 1)]
    assert found == pytest.approx(expected, rel=1e-9) and min(found) > 0


# loss


@st.composite
def predictions(draw):
    lead = draw(st.sampled_from([(), (4,), (2, 3)]))
    vocab_size = draw(st.integers(1, 6))
    rng = np.random.default_rng(draw(st.integers(0, 10**6)))
    logits = torch.tensor(rng.standard_normal((*lead, vocab_size)) * 2, requires_grad=True)
    return logits, torch.tensor(rng.integers(vocab_size, size=lead))


@given(inputs=predictions(), smoothing=st.sampled_from([0.0, 0.1, 0.7]), data=st.data())
def test_cross_entropy_and_its_gradient_are_those_of_torch(inputs, smoothing, data):
    logits, target = inputs
    pad_id = data.draw(st.sampled_from([None, 0, 1]))
    total, count = cross_entropy(logits, target, label_smoothing=smoothing, pad_id=pad_id)
    expected = F.cross_entropy(
        logits.reshape(-1, logits.shape[-1]),
        target.flatten(),
        reduction="sum",
        label_smoothing=smoothing,
        ignore_index=-100 if pad_id is None else pad_id,
    )
    assert total.shape == count.shape == ()
    assert count == sum(i != pad_id for i in target.flatten().tolist())
    torch.testing.assert_close(total, expected)
    gradients = [torch.autograd.grad(loss, logits)[0] for loss in (total, expected)]
    torch.testing.assert_close(*gradients)


def test_forbidden_tokens_and_padding_leave_finite_gradients():
    logits = torch.tensor([[0.0, 1, -math.inf], [0, 1, -math.inf]], requires_grad=True)
    total, _ = cross_entropy(logits, torch.tensor([1, 2]), pad_id=2)
    total.backward()
    assert total.isfinite() and logits.grad.isfinite().all() and (logits.grad[1] == 0).all()


def test_label_smoothing_leaves_out_forbidden_tokens():
    """A row with a forbidden token has the loss and the gradient of the row without this token."""
    few = torch.tensor([[0.5, 2.0, -1.0]], requires_grad=True)
    more = torch.tensor([[0.5, -math.inf, 2.0, -1.0]], requires_grad=True)
    target = torch.tensor([2])
    expected, _ = cross_entropy(few, target, label_smoothing=0.3)
    total, _ = cross_entropy(more, target + 1, label_smoothing=0.3)
    assert total.item() == pytest.approx(expected.item(), rel=1e-6)
    total.backward()
    expected.backward()
    assert more.grad[0, 1] == 0
    torch.testing.assert_close(more.grad[:, [0, 2, 3]], few.grad)


def test_the_loss_without_targets_is_zero():
    for target in ([], [3, 3]):
        logits = torch.zeros(len(target), 5)
        total, count = cross_entropy(logits, torch.tensor(target).long(), pad_id=3)
        assert total == 0 and count == 0


def test_the_loss_compiles_without_a_look_at_the_targets():
    compiled = torch.compile(cross_entropy, fullgraph=True, backend="eager")
    logits, target = torch.arange(6.0).reshape(2, 3), torch.tensor([1, 0])
    for ours, theirs in zip(compiled(logits, target), cross_entropy(logits, target), strict=True):
        assert torch.equal(ours, theirs)


IDS = torch.zeros(2, 3).long()
WANTED_LOGITS = "logits: expected a floating-point tensor of shape (..., vocab_size), got "


@pytest.mark.parametrize(
    "change, message",
    [
        ({"logits": IDS[..., None]}, f"{WANTED_LOGITS}torch.int64 of shape (2, 3, 1)"),
        ({"logits": [1.0]}, f"{WANTED_LOGITS}list"),
        ({"logits": torch.tensor(1.0)}, f"{WANTED_LOGITS}torch.float32 of shape ()"),
        (
            {"logits": torch.ones(2, 4, 3)},
            "target: expected shape (2, 4) to match logits, got (2, 3)",
        ),
        ({"target": [1]}, "target: expected a tensor of int64, got list"),
        (
            {"target": IDS.float()},
            "target: expected a tensor of int64, got torch.float32 of shape (2, 3)",
        ),
        ({"target": IDS + 4}, "target: expected values from 0 to 3, got 4"),
        ({"target": IDS - 100}, "target: expected values from 0 to 3, got -100"),
        ({"target": IDS + torch.tensor([0, -1, 3])}, "target: expected values from 0 to 3, got -1"),
        ({"target": IDS + torch.tensor([0, 4, 3])}, "target: expected values from 0 to 3, got 4"),
        ({"label_smoothing": 1.0}, "label_smoothing: expected a number in [0, 1), got 1.0"),
        ({"label_smoothing": -0.1}, "label_smoothing: expected a number in [0, 1), got -0.1"),
    ],
)
def test_cross_entropy_refuses(change, message):
    with refuses(message):
        cross_entropy(**{"logits": torch.ones(2, 3, 4), "target": IDS} | change)


def test_shifted_targets_are_the_next_tokens():
    ids = torch.tensor([[2, 8, 9, 3, 0], [2, 7, 6, 5, 3]])
    inputs, targets = shift(ids)
    assert inputs.tolist() == [[2, 8, 9, 3], [2, 7, 6, 5]]
    assert targets.tolist() == [[8, 9, 3, 0], [7, 6, 5, 3]]
    assert [part.tolist() for part in shift(ids[0, :2])] == [[2], [8]]


@pytest.mark.parametrize(
    "ids, got", [(torch.ones(4, 1), "(4, 1)"), (torch.tensor(3), "()"), ([2, 3], "list")]
)
def test_shift_refuses_invalid_ids(ids, got):
    with refuses(f"ids: expected a tensor of shape (..., tgt_len), tgt_len at least 2, got {got}"):
        shift(ids)


# batches


@pytest.mark.parametrize("options", [{}, {"pad_id": 0}, {"pad_id": 0, "label_smoothing": 0.1}])
@pytest.mark.parametrize("checked", [True, False])
def test_the_loss_of_each_row_under_vmap(checked, options):
    logits = torch.randn(3, 4, 5, generator=torch.Generator().manual_seed(0))
    target = torch.tensor([[0, 1, 2, 3], [4, 4, 0, 0], [1, 0, 2, 1]])

    def total(logits, target):
        return cross_entropy(logits, target, **options)[0]

    with checks(checked):
        found = torch.func.vmap(total)(logits, target)
    torch.testing.assert_close(found, torch.stack([*map(total, logits, target)]))


def test_pad_fills_sequences_up_to_the_longest():
    ids, lengths = pad([[5], [6, 7, 8], []], pad_id=9)
    assert ids.tolist() == [[5, 9, 9], [6, 7, 8], [9, 9, 9]] and lengths.tolist() == [1, 3, 0]
    assert ids.dtype == lengths.dtype == torch.int64
    ids, lengths = pad([[]], pad_id=0)
    assert ids.shape == (1, 0) and ids.dtype == torch.int64


@pytest.mark.parametrize("sequences", [[], [1, 2], [["a"]], [[1.5, 2], [3]], [[1j]], [[[1]]]])
def test_pad_refuses_invalid_sequences(sequences):
    with refuses(f"sequences: expected a list of lists of integers, at least one, got {sequences}"):
        pad(sequences, 0)


@given(
    lengths=st.lists(st.integers(0, 50), min_size=1, max_size=40),
    batch_size=st.integers(1, 12),
    n_processes=st.integers(1, 3),
)
def test_an_epoch_has_every_example_once(lengths, batch_size, n_processes):
    examples = list(enumerate(lengths))
    batches = Batches(examples, list, lambda example: example[1], batch_size, seed=3)
    n_batches = math.ceil(len(examples) / batch_size)
    for epoch in range(2):
        found, sizes = [], []
        for index in range(n_batches):
            step = epoch * n_batches + index
            shares = [batches.share(step, rank, n_processes) for rank in range(n_processes)]
            sizes.append(sum(map(len, shares)))
            together = [example for share in shares for example in share]
            found += together
            assert sorted(together) == sorted(batches[step])
            assert max(map(len, shares)) - min(map(len, shares)) <= 1
        assert sorted(found) == examples
        assert max(sizes) <= batch_size and max(sizes) - min(sizes) <= 1
        assert min(sizes) == batches.smallest
    assert [sorted(batch) for batch in batches] == [sorted(batches[i]) for i in range(n_batches)]


@given(lengths=st.lists(st.integers(0, 50), min_size=1, max_size=60), more=st.integers(0, 150))
def test_batches_by_tokens_have_every_example_once_and_similar_numbers_of_tokens(lengths, more):
    longest, total = max(lengths), sum(lengths)
    budget = max(longest + more, 1)
    examples = list(enumerate(lengths))
    batches = Batches(examples, list, lambda example: example[1], 1, seed=3, batch_tokens=budget)
    assert batches.n_batches == max(total // budget, 1)
    for epoch in range(2):
        drawn = [batches[epoch * batches.n_batches + i] for i in range(batches.n_batches)]
        assert sorted(example for batch in drawn for example in batch) == examples
        assert min(map(len, drawn)) >= max(batches.smallest, 1)
        for batch in drawn:
            n_tokens = sum(length for _, length in batch)
            assert abs(n_tokens - total / batches.n_batches) <= longest + 1


def test_smallest_is_the_number_of_examples_in_the_smallest_batch():
    batches = Batches("abcdefg", list, len, 1, seed=0, batch_tokens=3)
    assert repr(batches.smallest) == "3" and sorted(map(len, batches)) == [3, 4]
    full = Batches(["aaaaa", "bbbbb"], list, len, 1, seed=0, batch_tokens=5)
    assert [len(batch) for batch in full] == [1, 1]


def test_batches_by_tokens_need_lengths_and_room_for_the_longest():
    with refuses("batch_tokens: expected at least 7, the longest example, got 6"):
        Batches(["a" * 7, "b"], list, len, 1, seed=0, batch_tokens=6)
    with refuses("batch_tokens: expected None without length, got 6"):
        Batches(["a" * 7, "b"], list, None, 1, seed=0, batch_tokens=6)


def test_a_batch_depends_on_the_seed_and_the_step_alone():
    def make(seed=0):
        return Batches(range(100), tuple, lambda i: i % 7, 9, seed)

    forwards = [make()[0]] + [batches[step] for batches in [make()] for step in range(1, 40)]
    batches = make()
    assert [batches[step] for step in reversed(range(40))][::-1] == forwards
    assert [make()[step] for step in range(40)] == forwards
    # Every epoch has a different order.
    assert len(set(forwards)) == 40
    assert make(1)[0] != forwards[0]


def test_examples_of_similar_length_form_a_batch():
    lengths = np.random.default_rng(0).integers(1, 200, size=640)

    def spread(length):
        batches = Batches(lengths, list, length, 32, seed=0)
        return np.mean([max(batch) - min(batch) for batch in batches])

    assert spread(int) < 30 and spread(None) > 150


def test_batches_are_not_ordered_by_length():
    batches = Batches(range(100), min, lambda i: i, 10, seed=0)
    smallest = list(batches)
    assert smallest != sorted(smallest) and smallest != sorted(smallest)[::-1]


def test_batches_of_similar_length_differ_between_epochs():
    """Otherwise lengths that all differ would form the same batches in every epoch."""
    batches = Batches(range(100, 200), frozenset, lambda i: i, 10, seed=0)
    assert not {batches[i] for i in range(10)} & {batches[i] for i in range(10, 20)}


# devices


def has(monkeypatch, cuda=0, mps=False):
    monkeypatch.setattr(torch.cuda, "is_available", lambda: cuda > 0)
    monkeypatch.setattr(torch.cuda, "device_count", lambda: cuda)
    monkeypatch.setattr(torch.backends.mps, "is_available", lambda: mps)


@pytest.mark.parametrize(
    "name, cuda, mps, expected",
    [
        ("auto", 0, False, "cpu"),
        ("auto", 0, True, "mps"),
        ("auto", 2, True, "cuda:0"),
        ("cpu", 2, True, "cpu"),
        ("mps", 2, True, "mps"),
        ("cuda", 1, True, "cuda:0"),
    ],
)
def test_the_fastest_or_the_named_device_is_chosen(name, cuda, mps, expected, monkeypatch):
    has(monkeypatch, cuda, mps)
    assert str(choose_device(name)) == expected
    if name == "auto":
        assert choose_device() == choose_device("auto")


def test_each_process_has_its_own_device(monkeypatch):
    has(monkeypatch, cuda=2)
    assert [str(choose_device("auto", rank)) for rank in range(2)] == ["cuda:0", "cuda:1"]
    with refuses("device: expected at most 2 processes, one a device, got 3"):
        choose_device("auto", 2)


@pytest.mark.parametrize("name", ["cuda", "mps"])
def test_a_missing_device_is_refused(name, monkeypatch):
    has(monkeypatch)
    with refuses(f"device: expected one that this machine has, got '{name}'"):
        choose_device(name)


def test_an_unknown_name_of_a_device_is_refused():
    with refuses("device: expected 'auto' or 'cpu' or 'cuda' or 'mps', got 'gpu'"):
        choose_device("gpu")


CPU = torch.device("cpu")


def test_randomness_depends_on_each_of_the_numbers():
    def drawn(*numbers):
        set_seed(CPU, *numbers)
        return tuple(torch.rand(3).tolist())

    assert drawn(1, 2, 3) == drawn(1, 2, 3)
    assert len({drawn(a, b, c) for a in range(4) for b in range(4) for c in range(4)}) == 64


def test_the_device_gets_the_seed_of_the_cpu(monkeypatch):
    """Without the device, the test can only check what PyTorch is asked to seed."""
    seeds = []

    def module_of(device):
        return SimpleNamespace(manual_seed=lambda seed: seeds.append((str(device), seed)))

    monkeypatch.setattr(torch, "get_device_module", module_of)
    for name in ("cuda:1", "mps", "cpu"):
        set_seed(torch.device(name), 1, 2)
    seed = torch.default_generator.initial_seed()
    assert seeds == [("cuda:1", seed), ("mps", seed)]


def test_the_state_of_random_generators_is_restored():
    torch.manual_seed(5)
    expected = torch.rand(3)
    torch.manual_seed(5)
    with keep_randomness(CPU):
        set_seed(CPU, 0)
    assert torch.equal(torch.rand(3), expected)


def test_the_state_of_the_generator_of_a_cuda_device_is_restored(monkeypatch):
    """Without the device, the test can only check what PyTorch is asked to keep."""
    kept = []

    @contextmanager
    def fork_rng(devices):
        kept.append(devices)
        yield

    monkeypatch.setattr(torch.random, "fork_rng", fork_rng)
    for name in ("cuda:1", "cpu", "mps"):
        with keep_randomness(torch.device(name)):
            pass
    assert kept == [[torch.device("cuda:1")], [], []]


def test_processes_on_cuda_have_one_device_each_and_initialise_nccl_once(monkeypatch):
    """Without two devices, the test can only check the calls of PyTorch."""
    has(monkeypatch, cuda=2)
    for name, value in (("RANK", "3"), ("WORLD_SIZE", "4"), ("LOCAL_RANK", "1")):
        monkeypatch.setenv(name, value)
    asked = []
    monkeypatch.setattr(torch.cuda, "set_device", lambda device: asked.append(str(device)))
    monkeypatch.setattr(distributed, "init_process_group", asked.append)
    monkeypatch.setattr(distributed, "is_initialized", lambda: bool(asked))
    monkeypatch.setattr(atexit, "register", asked.append)
    for _ in range(2):
        processes = join("auto")
        assert (processes.rank, processes.count, str(processes.device)) == (3, 4, "cuda:1")
    assert asked == ["cuda:1", "nccl", distributed.destroy_process_group]


def test_the_main_process_is_that_of_rank_zero(monkeypatch):
    monkeypatch.delenv("RANK", raising=False)
    assert training.is_main_process()
    for rank in (0, 1):
        monkeypatch.setenv("RANK", str(rank))
        assert training.is_main_process() == (rank == 0)


def test_label_smoothing_leaves_out_forbidden_tokens_in_any_shape_and_while_it_compiles(
    monkeypatch,
):
    logits = torch.randn(2, 3, 5, generator=torch.Generator().manual_seed(0))
    logits[..., 1] = -math.inf
    logits[1, :, 2] = -math.inf
    target = torch.zeros(2, 3, dtype=torch.int64)
    rows = zip(logits.flatten(0, 1), target.flatten(), strict=True)
    expected = sum(
        0.9 * -row.log_softmax(-1)[i] - 0.1 * row.log_softmax(-1)[row.isfinite()].mean()
        for row, i in rows
    )
    torch.testing.assert_close(cross_entropy(logits, target, label_smoothing=0.1)[0], expected)
    monkeypatch.setattr("torch.compiler.is_compiling", lambda: True)
    torch.testing.assert_close(cross_entropy(logits, target, label_smoothing=0.1)[0], expected)
