"""The mixers of chapter 14: tasks, counts of operations, and a part of each kind of row again."""

import dataclasses
import itertools
import json
import random

import numpy as np
import pytest
import torch
from torch.nn import functional as F

from benchmarks import mixer_steps
from experiments import mixers, mixers_larger
from experiments.runner import read

STORED = read(mixers.RESULTS)


def drawn(task, size):
    ids, answers = mixers.task_of(task).draw(20, size, torch.Generator().manual_seed(5))
    asked = answers != mixers.HIDDEN
    assert int(ids.max()) < mixers.task_of(task).vocab_size
    for row, wanted, where in zip(ids.tolist(), answers.tolist(), asked.tolist(), strict=True):
        yield row, [(i, wanted[i]) for i in range(len(row)) if where[i]]


@pytest.mark.parametrize("n_pairs", (2, 8, 32))
def test_each_queried_key_has_its_own_value(n_pairs):
    for row, answers in drawn("recall", n_pairs):
        held = dict(zip(row[0 : 2 * n_pairs : 2], row[1 : 2 * n_pairs : 2], strict=True))
        assert len(held) == n_pairs and len(answers) == min(n_pairs, 8)
        assert [(i, held[row[i]]) for i in range(2 * n_pairs, len(row))] == answers


@pytest.mark.parametrize("length", (16, 256))
def test_needles_lie_among_fillers_and_each_is_asked_for(length):
    first = mixers.N_KEYS + mixers.N_VALUES
    for row, answers in drawn("wide needle", length):
        pairs = zip(row[0:length:2], row[1:length:2], strict=True)
        held = {key: value for key, value in pairs if key < mixers.N_KEYS}
        assert [(i, held[row[i]]) for i in range(length, len(row))] == answers
        assert len(held) == len(answers) == 4 and sum(token < first for token in row[:length]) == 8


@pytest.mark.parametrize("length", (4, 64))
def test_a_copy_repeats_the_tokens_after_the_mark(length):
    for row, answers in drawn("copy", length):
        told = row[1 : length + 1]
        assert len({*told}) == length and row[length + 2 :] == told[:-1]
        assert answers == list(enumerate(told, start=length + 1))


@pytest.mark.parametrize("length", (1, 9))
def test_parity_counts_the_ones_so_far(length):
    for row, answers in drawn("parity", length):
        assert answers == [(i, sum(row[1 : i + 1]) % 2) for i in range(1, length + 1)]


def test_the_order_of_things_is_the_product_of_the_swaps():
    seen = set()
    for row, answers in drawn("swaps", 30):
        things = ["a", "b", "c"]
        for i, answer in answers:
            order = mixers.ORDERS[row[i]].tolist()
            things = [things[place] for place in order]
            seen.add(row[i])
            assert things == ["abc"[place] for place in mixers.ORDERS[answer].tolist()]
    for one in seen:
        assert sum(i != place for i, place in enumerate(mixers.ORDERS[one].tolist())) == 2
    assert len(seen) == 3


def test_operations_are_those_of_the_matrix_products():
    """Softmax attention by hand: backward costs twice the forward pass, for attention 2.5 times."""
    task, d, layers = mixers.TASKS["recall"], mixers.D_MODEL, 2
    found = 0
    for n_pairs in task.trained:
        length = 3 * n_pairs
        linear = layers * (4 * d * d + 2 * d * 2 * d) + d * task.vocab_size
        found += mixers.BATCH * length * (6 * linear + 14 * layers * length * d)
    config = mixers.SEQUENCES["softmax"].config("recall")
    n_tokens = mixers.BATCH * 3 * np.mean(task.trained)
    assert mixers.operations(config, "recall") == (found / len(task.trained), n_tokens)


def cases():
    """Yield some rows of each task, one with a smaller state, and one of larger models for each task."""
    rng = random.Random(0)
    for task in ("recall", "copy"):
        for name in rng.sample(list(STORED[task]), 2):
            yield task, mixers.VARIANTS[name], STORED[task][name]
    for task in mixers.TRACKING:
        name = rng.choice(list(mixers.TRACKING[task]))
        depth = mixers.TRACKING[task][name][0]
        mixer, positions = mixers.TRACKERS[name]
        yield task, mixers.Variant((mixer,), positions, depth), STORED[task][name][str(depth)]
    yield "recall", mixers.STATES["delta rule", 4], STORED["state"]["delta rule"]["4"]
    size, stored = (of["0.3 million"] for of in (mixers_larger.SIZES, read(mixers_larger.RESULTS)))
    for task, rows in stored.items():
        name = rng.choice(list(rows))
        yield task, size.of(mixers_larger.variants(task)[name]), rows[name]


@pytest.mark.parametrize("task, variant, stored", list(cases()))
def test_the_first_losses_of_each_training_are_as_stored(task, variant, stored):
    config = variant.config(task)
    n_steps = mixers.steps_of(config, task)
    assert (stored["steps"], stored["parameters"]) == (
        n_steps,
        sum(p.numel() for p in mixers.DecoderOnly(config).parameters()),
    )
    for seed, losses in enumerate(stored["first_losses"]):
        steps = mixers.training(config, task, stored["rate"], n_steps, seed)
        found = [loss for _, (_, loss) in zip(losses, steps, strict=False)]
        assert found == pytest.approx(losses, abs=2e-3)


def test_the_stored_rate_is_the_best_of_those_tried():
    tasks = ("recall", *mixers.COPIED, "language")
    rows = [row for task in tasks for row in STORED[task].values()]
    rows += [
        row for task in mixers.TRACKING for name in STORED[task].values() for row in name.values()
    ]
    for row in rows:
        assert [float(rate) for rate in row["rates"]] == list(mixers.RATES)
        assert row["rate"] in [
            float(rate) for rate, loss in row["rates"].items() if loss == min(row["rates"].values())
        ]


def test_losses_by_place_and_rank_of_a_model_with_fixed_probabilities():
    """The model gives each token a fixed probability, so every loss is known."""

    chances = torch.linspace(-1, 1, mixers.N_TOKENS).log_softmax(0)
    model = torch.nn.Linear(1, 1)
    model.forward = lambda ids: (chances.expand(*ids.shape, -1), None)
    ids = torch.randint(mixers.N_TOKENS, (513,), generator=torch.Generator().manual_seed(0))
    often = torch.arange(mixers.N_TOKENS).repeat_interleave(torch.arange(mixers.N_TOKENS, 0, -1))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(mixers, "language", lambda: ({"text": often}, None, None))
        whole, *parts = mixers.losses(model, ids)
    loss = -torch.linspace(-1, 1, mixers.N_TOKENS).log_softmax(0)[ids[1:]]
    place, expected = torch.arange(512) % 256, []
    for kind, edges in ((place, mixers.PLACES), (ids[1:], mixers.RANKS)):
        for low, high in itertools.pairwise(edges):
            expected.append(loss[(kind >= low) & (kind < high)].mean().item())
    assert whole == pytest.approx(loss.mean().item(), abs=1e-5)
    assert parts == pytest.approx(expected, abs=1e-5)


def test_the_control_with_a_convolution_differs_from_softmax_in_nothing_else():
    torch.manual_seed(0)
    x, convolution = torch.randn(2, 9, 6), mixers.Convolution(6, 4)
    padded = F.pad(x.transpose(1, 2), (3, 0))
    expected = F.conv1d(padded, convolution.taps[:, None], groups=6).transpose(1, 2)
    torch.testing.assert_close(convolution(x), expected)
    plain, control = (
        mixers.DecoderOnly(mixers.VARIANTS[name].config("recall"))
        for name in ("softmax", "softmax, convolution")
    )
    weights = {name.replace("_proj.0.", "_proj."): x for name, x in control.state_dict().items()}
    taps = [weights.pop(name) for name in list(weights) if name.endswith("taps")]
    for tap in taps:  # The last tap is the token itself.
        tap.copy_(torch.tensor([0.0, 0.0, 0.0, 1.0]))
    plain.load_state_dict(weights)
    ids = torch.randint(40, (2, 9))
    torch.testing.assert_close(control(ids)[0], plain(ids)[0])
    taps[0].copy_(torch.tensor([0.0, 0.0, 1.0, 0.0]))
    assert not torch.allclose(control(ids)[0], plain(ids)[0])


def test_larger_models_have_the_sizes_that_their_rows_name():
    bounds = {
        "0.3 million": (0.25e6, 0.35e6),
        "0.5 million": (0.45e6, 0.57e6),
        "13 million": (11e6, 16e6),
        "40 million": (34e6, 50e6),
    }
    for name, size in mixers_larger.SIZES.items():
        for task in size.tasks:
            for variant in map(size.of, mixers_larger.variants(task).values()):
                config = (
                    mixers.reader(variant) if task.startswith("language") else variant.config(task)
                )
                with torch.device("meta"):
                    n = sum(p.numel() for p in mixers.DecoderOnly(config).parameters())
                assert bounds[name][0] < n < bounds[name][1], (name, task, n)


@pytest.mark.parametrize("name", ("latent", "delta rule and softmax"))
def test_a_row_of_larger_models_is_measured(monkeypatch, name, tmp_path):
    """In a small size, with a step for each training, and named, so that it needs no GPU."""
    size = mixers_larger.SIZES["13 million"]
    small = dataclasses.replace(size, d_model=32, n_heads=2, n_layers=2, tasks=("long needle",))
    monkeypatch.setitem(mixers_larger.SIZES, "13 million", small)
    task = dataclasses.replace(mixers.LONG["long needle"], trained=(64,), judged=(64,))
    monkeypatch.setitem(mixers.LONG, "long needle", task)
    monkeypatch.setattr(mixers, "steps_of", lambda *_: 1)
    file = tmp_path / "larger.json"
    mixers_larger.EXPERIMENT.run([f"13 million: long needle, {name}"], results=file)
    told = read(file)["13 million"]["long needle"][name]
    assert told["card"] and told["date"] and len(told["right"]) == len(mixers.SEEDS)
    assert [*told["rates"]] == [str(rate) for rate in small.rates]


@pytest.mark.slow
@pytest.mark.parametrize("size, name", ((None, "sink"), ("0.5 million", "window and global")))
def test_the_first_losses_on_texts_are_as_stored(needed, size, name):
    needed("tatoeba")
    torch.set_num_threads(1)
    stored, variant = STORED["language"][name], mixers.LANGUAGE[name]
    if size:
        stored = read(mixers_larger.RESULTS)[size]["language"][name]
        variant = mixers_larger.SIZES[size].of(variant)
    config = mixers.reader(variant)
    steps = mixers.taught(config, mixers.next_loss, stored["rate"], stored["steps"], 1)
    found = [loss for _, (_, loss) in zip(range(mixers.N_FIRST), steps, strict=False)]
    # If the prose was edited, the text that is read and the losses differ a little.
    same = mixers.language()[2] == stored["texts"]
    assert found == pytest.approx(stored["first_losses"][1], abs=0.002 if same else 0.2)


@pytest.mark.parametrize("name", mixer_steps.MIXERS)
@torch.no_grad()
def test_every_timed_step_reads_the_same_token(name):
    call = mixer_steps.step(mixer_steps.MIXERS[name], 9)
    assert torch.equal(call(), call()) and call().shape == (1, 1, mixer_steps.D_MODEL)


def test_times_and_bytes_are_stored_for_every_mixer():
    stored = json.loads(mixer_steps.RESULTS.read_text("utf-8"))
    assert stored["lengths"] == list(mixer_steps.LENGTHS) and stored["processor"]
    found = mixer_steps.measure((4, 8), repeats=2, least=0)
    assert list(found["time"]) == list(stored["time"]) == list(stored["bytes"])
    for name, mixer in mixer_steps.MIXERS.items():
        config = mixer_steps.config_of(mixer)
        counted = [mixer.cache_bytes(config, n) for n in mixer_steps.LENGTHS]
        assert stored["bytes"][name] == counted and len(stored["time"][name]) == len(counted)


@pytest.mark.slow
def test_one_row_measured_again_is_as_stored():
    """A state with negative eigenvalues counts to 2 in texts eight times as long as in training."""
    stored = STORED["parity"]["delta rule, to 2"]["1"]
    mixer, positions = mixers.TRACKERS["delta rule, to 2"]
    variant = mixers.Variant((mixer,), positions, 1)
    found = mixers.measured("parity", variant, mixers.SEEDS[:1], stored["rate"])
    for name in ("steps", "per_token", "bytes", "parameters"):
        assert found[name] == stored[name]
    assert found["right"][0] == pytest.approx(stored["right"][0], abs=0.02)
