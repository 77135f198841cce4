"""attn.decoding against plain Python, which decodes one sentence and token at a time.

The model is an automaton: a token moves it from state to state, and each state has its row of
logits. So the logits depend on the whole prefix, and, being looked up, are exact to the bit.
"""

import math
from contextlib import nullcontext
from functools import partial
from unittest.mock import Mock

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch.utils._python_dispatch import TorchDispatchMode

from attn import checks, decoding
from attn.decoding import beam_search, greedy, next_token_probabilities, sample
from tests.core.other_device import DEVICE, OtherDevice

INF = math.inf


class Automaton:
    def __init__(self, vocab_size=5, seed=0, *, scale=1.5, forbidden=0.0, dtype=torch.float32):
        rng = np.random.default_rng(seed)
        logits = scale * rng.standard_normal((40, vocab_size))
        hidden = rng.random(logits.shape) < forbidden
        hidden[np.arange(40), rng.integers(vocab_size, size=40)] = False
        logits[hidden] = -INF
        self.logits = torch.from_numpy(logits).to(dtype)
        self.moves = torch.from_numpy(rng.integers(40, size=(40, vocab_size)))
        self.rows = []

    def state(self, ids, state=0):
        """Return the state of each row after its `ids`, from the start state or a given state."""
        state = torch.zeros(len(ids), dtype=torch.int64) + state
        for token in ids.T:
            state = self.moves[state, token]
        return state

    def __call__(self, ids, cache=None):
        assert cache is None and ids.dtype == torch.int64
        assert not torch.is_grad_enabled()
        self.rows.append(len(ids))
        return self.logits[self.state(ids)]

    def log_probs(self, ids):
        """Return the log-probabilities that follow one prefix, as a list."""
        row = self.logits[self.state(torch.tensor([ids]))[0]].tolist()
        total = math.log(sum(math.exp(logit) for logit in row))
        return [logit - total for logit in row]


class Cache:
    """The state of each row, the tokens it has read, and the sentence it belongs to."""

    def __init__(self, prompt):
        self.read, self.state = prompt[:, :0], torch.zeros(len(prompt), dtype=torch.int64)
        self.sentence, self.n_sentences = torch.arange(len(prompt)), len(prompt)
        self.reordered = 0

    def reorder(self, rows):
        assert rows.dtype == torch.int64 and rows.ndim == 1
        self.read, self.state = self.read[rows], self.state[rows]
        self.sentence = self.sentence[rows]
        self.reordered += 1


def cached(automaton):
    """Continue the automaton from its cache, which must hold the earlier tokens of `ids`."""

    def step(ids, cache):
        width = len(ids) // cache.n_sentences
        assert cache.sentence.tolist() == [row // width for row in range(len(ids))]
        seen = cache.read.shape[1]
        assert seen in (0, ids.shape[1] - 1) and torch.equal(cache.read, ids[:, :seen])
        cache.read, cache.state = ids, automaton.state(ids[:, seen:], cache.state)
        return automaton.logits[cache.state]

    return step


def prompts(batch_size=3, prompt_len=2, vocab_size=5, seed=0):
    rng = np.random.default_rng(seed)
    return torch.from_numpy(rng.integers(vocab_size, size=(batch_size, prompt_len)))


def generator(seed=0):
    return torch.Generator(torch.get_default_device()).manual_seed(seed)


def bigram(*rows):
    """Return a step that looks up the probabilities of the next token by the last one."""
    logits = torch.tensor(rows, dtype=torch.float64).log()
    return lambda ids, cache: logits[ids[:, -1]]


def penalised(total, n_new, alpha):
    return total / ((5 + n_new) / 6) ** alpha


def ends_of(end_id):
    return [end_id] if end_id is None or isinstance(end_id, int) else end_id


def slow_beam_search(automaton, prompt, width, end_id, max_new_tokens, alpha):
    """Search for one sentence; return hypotheses (score, new tokens) and the steps."""
    running, ended, steps = [(0.0, [])], [], 0
    while running and steps < max_new_tokens:
        candidates = [
            (total + log_prob, [*new, token])
            for total, new in running
            for token, log_prob in enumerate(automaton.log_probs(prompt + new))
            if log_prob > -INF
        ]
        candidates.sort(key=lambda candidate: -candidate[0])
        best = candidates[: width - len(ended)]
        ended += [candidate for candidate in best if candidate[1][-1] in ends_of(end_id)]
        running = [candidate for candidate in best if candidate[1][-1] not in ends_of(end_id)]
        steps += 1
    scored = [(penalised(total, len(new), alpha), new) for total, new in ended + running]
    return sorted(scored, key=lambda hypothesis: -hypothesis[0]), steps


def slow_greedy(automaton, prompt, end_id, max_new_tokens):
    new = []
    while len(new) < max_new_tokens and not set(ends_of(end_id)).intersection(new):
        row = automaton.log_probs(prompt + new)
        new.append(row.index(max(row)))
    return new


@st.composite
def problems(draw):
    """Draw an automaton, some prompts, and the end and padding tokens."""
    vocab_size = draw(st.integers(2, 6))
    automaton = Automaton(
        vocab_size,
        draw(st.integers(0, 10**6)),
        scale=draw(st.sampled_from([0.5, 2.0])),
        forbidden=draw(st.sampled_from([0.0, 0.5])),
    )
    prompt = prompts(draw(st.integers(1, 3)), draw(st.integers(1, 3)), vocab_size)
    token = st.integers(0, vocab_size - 1)
    options = {
        "end_id": draw(st.none() | token),
        "pad_id": draw(token),
        "max_new_tokens": draw(st.integers(0, 6)),
    }
    return automaton, prompt, options


WIDTHS = st.integers(1, 9)
ALPHAS = st.sampled_from([-1.0, 0.0, 0.6, 2.0])


# greedy


@given(problem=problems())
def test_greedy_takes_the_most_probable_token_at_each_step(problem):
    automaton, prompt, options = problem
    ids = greedy(automaton, prompt, **options)
    limits = options["end_id"], options["max_new_tokens"]
    new = [slow_greedy(automaton, row, *limits) for row in prompt.tolist()]
    longest = max(map(len, new))
    assert len(automaton.rows) == longest
    assert ids.dtype == torch.int64
    assert ids.tolist() == [
        start + tokens + [options["pad_id"]] * (longest - len(tokens))
        for start, tokens in zip(prompt.tolist(), new, strict=True)
    ]


def test_of_equal_logits_the_first_token_wins():
    def step(ids, cache):
        return torch.tensor([[0.0, 1.0, 1.0, 0.5, 1.0]]).expand(len(ids), -1)

    prompt, options = torch.zeros(2, 1).long(), {"end_id": None, "max_new_tokens": 3}
    expected = [[0, 1, 1, 1]] * 2
    assert greedy(step, prompt, **options).tolist() == expected
    assert sample(step, prompt, top_k=1, **options).tolist() == expected
    ids, _ = beam_search(step, prompt, width=3, **options)
    # The same holds for equal sums: the earlier hypothesis and its earlier tokens win.
    assert ids[0].tolist() == [[0, 1, 1, 1], [0, 1, 1, 2], [0, 1, 1, 4]]


def test_ties_are_ordered_among_many_tokens_too():
    """Beyond sixteen elements, PyTorch's sort reorders equal ones unless it is stable."""

    def step(ids, cache):
        return torch.zeros(len(ids), 40)

    chosen = next_token_probabilities(torch.zeros(40), top_k=25).nonzero().flatten()
    assert chosen.tolist() == list(range(25))
    ids, _ = beam_search(step, torch.zeros(1, 1).long(), width=30, end_id=7, max_new_tokens=2)
    assert ids[0, :, 1:].tolist() == [[7, 0], *([0, token] for token in range(29))]


# beam search


@given(problem=problems(), width=WIDTHS, alpha=ALPHAS)
def test_beam_search_equals_the_plain_search_for_one_sentence(problem, width, alpha):
    automaton, prompt, options = problem
    ids, scores = beam_search(automaton, prompt, width=width, length_penalty=alpha, **options)
    n_calls, n_new = len(automaton.rows), ids.shape[-1] - prompt.shape[1]
    assert set(automaton.rows) <= {len(prompt) * width}
    assert ids.dtype == torch.int64 and scores.dtype == torch.float64
    longest = 0
    for i, start in enumerate(prompt.tolist()):
        limits = options["end_id"], options["max_new_tokens"]
        expected, steps = slow_beam_search(automaton, start, width, *limits, alpha)
        longest = max(longest, steps)
        expected += [(-INF, [])] * (width - len(expected))
        assert ids[i].tolist() == [
            start + new + [options["pad_id"]] * (n_new - len(new)) for _, new in expected
        ]
        np.testing.assert_allclose(scores[i], [score for score, _ in expected], 1e-12, 1e-12)
    assert n_calls == n_new == longest


@pytest.mark.parametrize("ends", [[], [2], [4, 1], (5, 0, 2), {3, 4}, torch.tensor([1, 4])])
def test_each_of_several_tokens_ends_a_row(ends):
    prompt, options = (
        prompts(4, 2, vocab_size=6),
        {"end_id": ends, "pad_id": 5, "max_new_tokens": 7},
    )
    listed = [int(end) for end in ends]
    ended = 0
    for seed in range(4):
        automaton = Automaton(6, seed, scale=2.0, dtype=torch.float64)
        new = [slow_greedy(automaton, row, listed, 7) for row in prompt.tolist()]
        found = greedy(automaton, prompt, **options)[:, 2:].tolist()
        assert [row[: len(tokens)] for row, tokens in zip(found, new, strict=True)] == new
        assert {
            token for row, tokens in zip(found, new, strict=True) for token in row[len(tokens) :]
        } <= {5}
        ids, scores = beam_search(automaton, prompt, width=3, **options)
        for i, start in enumerate(prompt.tolist()):
            (score, best), *_ = slow_beam_search(automaton, start, 3, listed, 7, 0.0)[0]
            assert ids[i, 0, 2 : 2 + len(best)].tolist() == best
            assert float(scores[i, 0]) == pytest.approx(score, rel=1e-12)
            ended += best[-1] in listed
        free = sample(automaton, prompt, end_id=None, max_new_tokens=7, generator=generator())
        drawn = sample(automaton, prompt, **options, generator=generator())
        for row, whole in zip(drawn[:, 2:].tolist(), free[:, 2:].tolist(), strict=True):
            stop = next((n + 1 for n, token in enumerate(whole) if token in listed), 7)
            assert row == (whole[:stop] + [5] * 7)[: len(row)]
    assert bool(ended) == bool(listed)


@given(problem=problems(), alpha=ALPHAS, coarse=st.booleans())
def test_a_beam_of_one_is_greedy_to_the_bit(problem, alpha, coarse):
    automaton, prompt, options = problem
    if coarse:
        automaton.logits = automaton.logits.round()
    ids, _ = beam_search(automaton, prompt, width=1, length_penalty=alpha, **options)
    assert torch.equal(ids[:, 0], greedy(automaton, prompt, **options))


def test_a_beam_of_one_is_greedy_where_log_probabilities_round_to_the_same():
    def step(ids, cache):
        return torch.tensor([[1e-30, 2e-30, 0.0]])

    options = {"end_id": None, "max_new_tokens": 3}
    prompt = torch.zeros(1, 1).long()
    ids, _ = beam_search(step, prompt, width=1, **options)
    assert ids[0].tolist() == greedy(step, prompt, **options).tolist() == [[0, 1, 1, 1]]


@given(problem=problems(), width=WIDTHS)
def test_a_cache_gets_the_rows_it_needs_and_changes_nothing(problem, width):
    automaton, prompt, options = problem
    step = cached(automaton)
    plain = beam_search(automaton, prompt, width=width, **options)
    cache = Cache(prompt)
    remembered = beam_search(step, prompt, width=width, cache=cache, **options)
    assert torch.equal(plain[0], remembered[0]) and torch.equal(plain[1], remembered[1])
    assert cache.reordered == 1 + plain[0].shape[-1] - prompt.shape[1]

    for decode, choice in ((greedy, {}), (sample, {"temperature": 0.7})):
        cache = Cache(prompt)
        torch.manual_seed(0)
        expected = decode(automaton, prompt, **choice, **options)
        torch.manual_seed(0)
        assert torch.equal(decode(step, prompt, cache=cache, **choice, **options), expected)
        assert cache.reordered == 0


@pytest.mark.parametrize("rubbish", [math.nan, INF, -INF, 1e9])
@pytest.mark.parametrize("seed", range(5))
def test_logits_of_finished_rows_are_ignored(rubbish, seed):
    """Padding is forbidden here, so a row that holds padding or an end token has finished."""
    automaton, prompt = Automaton(6, seed, forbidden=0.4), prompts(4, 2, 6)
    automaton.logits[:, 0] = -INF
    automaton.logits[:, 5] = 0.0
    spoilt = []

    def step(ids, cache):
        logits = automaton(ids)
        new = ids[:, 2:]
        silent = ((new == 0) | (new == 1)).any(dim=1)
        if not new.numel():
            silent = torch.arange(len(ids)) % (len(ids) // 4) > 0
        spoilt.append(int(silent.sum()))
        logits[silent] = rubbish
        return logits

    options = {"end_id": 1, "max_new_tokens": 8}
    expected = beam_search(automaton, prompt, width=7, **options)
    actual = beam_search(step, prompt, width=7, **options)
    assert torch.equal(actual[0], expected[0]) and torch.equal(actual[1], expected[1])
    assert torch.equal(greedy(step, prompt, **options), greedy(automaton, prompt, **options))
    drawn = [sample(s, prompt, generator=generator(), **options) for s in (step, automaton)]
    assert torch.equal(*drawn)
    assert spoilt[0] == 24 and any(spoilt[1:])


# sampling


def slow_probabilities(logits, temperature=1.0, top_k=None, top_p=None):
    order = sorted(range(len(logits)), key=lambda token: (-logits[token], token))
    odds = [math.exp((logits[token] - max(logits)) / temperature) for token in order][:top_k]
    kept, reached = [], 0.0
    for odd in odds:
        if top_p is not None and reached >= top_p * sum(odds):
            break
        kept.append(odd)
        reached += odd
    probabilities = [0.0] * len(logits)
    for token, odd in zip(order, kept, strict=False):
        probabilities[token] = odd / sum(kept)
    return probabilities


@given(
    values=st.lists(
        st.lists(st.sampled_from([-INF, -2.5, -1.0, 0.0, 0.3, 1.0, 2.2]), min_size=4, max_size=4),
        min_size=1,
        max_size=3,
    ),
    temperature=st.sampled_from([0.3, 1.0, 4.0]),
    top_k=st.none() | st.integers(1, 6),
    top_p=st.none() | st.sampled_from([0.01, 0.17, 0.43, 0.71, 0.97, 1.0]),
)
def test_probabilities_equal_those_of_plain_python(values, temperature, top_k, top_p):
    values = [[0.1, *row] for row in values]
    logits = torch.tensor(values)
    actual = next_token_probabilities(
        logits[:, None], temperature=temperature, top_k=top_k, top_p=top_p
    )
    assert actual.shape == (len(values), 1, 5) and actual.dtype == torch.float64
    rows = logits.tolist()
    expected = [slow_probabilities(row, temperature, top_k, top_p) for row in rows]
    np.testing.assert_allclose(actual[:, 0], expected, rtol=1e-12, atol=1e-300)


def test_probabilities_are_the_softmax_by_default():
    logits = torch.randn(4, 7, dtype=torch.float64, generator=generator())
    expected = logits.softmax(dim=-1)
    options = [{}, {"top_k": 7}, {"top_k": 100}, {"top_p": 1.0}, {"temperature": 1}]
    for option in options:
        actual = next_token_probabilities(logits, **option)
        torch.testing.assert_close(actual, expected, rtol=1e-13, atol=0)


@pytest.mark.parametrize(
    "option, kept",
    [
        ({"top_p": 0.25}, 1),
        ({"top_p": 0.2500001}, 2),
        ({"top_p": 0.5}, 2),
        ({"top_p": 0.75}, 3),
        ({"top_p": 0.7500001}, 4),
        ({"top_p": 1e-300}, 1),
        ({"top_k": 1}, 1),
        ({"top_k": 3}, 3),
        ({"top_k": 2, "top_p": 0.5}, 1),
        ({"top_k": 2, "top_p": 0.5000001}, 2),
    ],
)
def test_the_nucleus_is_the_smallest_that_reaches_top_p(option, kept):
    """Four equal tokens have 0.25 each; if top-k leaves two, each has 0.5."""
    probabilities = next_token_probabilities(torch.zeros(4), **option)
    assert probabilities.tolist() == [1 / kept] * kept + [0.0] * (4 - kept)


class AsOnGPUs(TorchDispatchMode):
    """Divide by a number as GPUs do: multiply by its reciprocal."""

    def __torch_dispatch__(self, function, types, args=(), kwargs=None):
        if function is torch.ops.aten.div.Tensor and isinstance(args[1], float):
            return args[0] * (1 / args[1])
        return function(*args, **(kwargs or {}))


@pytest.mark.parametrize("device", [nullcontext, AsOnGPUs])
@pytest.mark.parametrize("scale", [1.0, 1e300])
def test_extreme_temperatures_reach_their_limits(scale, device):
    logits = scale * torch.tensor([0.5, -1.0, 1.0, -INF], dtype=torch.float64)
    for temperature in (1e-4, 1e-300, 5e-324):
        with device():
            coldest = next_token_probabilities(logits, temperature=temperature)
        assert coldest.tolist() == [0.0, 0.0, 1.0, 0.0]
    hottest = next_token_probabilities(logits / scale, temperature=1e308)
    assert hottest.tolist() == [1 / 3, 1 / 3, 1 / 3, 0.0]


def test_hot_and_cold_keep_the_same_best_tokens():
    """Dividing by a high temperature first would round different logits to equal ones."""
    logits = torch.tensor([0.0, 1.0, 2.0])
    assert next_token_probabilities(logits, temperature=1e308, top_k=1).tolist() == [0, 0, 1]


def test_probabilities_leave_their_logits_alone():
    logits = torch.tensor([1.0, 3.0, 2.0], dtype=torch.float64)
    next_token_probabilities(logits, temperature=0.5, top_k=1, top_p=0.5)
    assert logits.tolist() == [1.0, 3.0, 2.0]


@pytest.mark.parametrize(
    "option",
    [
        {},
        {"temperature": 0.6},
        {"top_k": 3},
        {"top_p": 0.8},
        {"temperature": 2.0, "top_k": 4, "top_p": 0.9},
    ],
    ids=str,
)
def test_tokens_are_sampled_with_their_probabilities(option):
    """Pearson's chi-square over two tokens exceeds the bound by chance once in 10,000 runs."""
    automaton, n = Automaton(5, seed=3), 40_000
    prompt = torch.tensor([[2]]).expand(n, -1)
    ids = sample(automaton, prompt, end_id=0, max_new_tokens=2, generator=generator(7), **option)
    assert torch.equal(ids[:, 0], prompt[:, 0])
    expected = {}
    first = slow_probabilities(automaton.log_probs([2]), **option)
    for token, p in enumerate(first):
        # An end token is followed by padding, which is also 0.
        second = slow_probabilities(automaton.log_probs([2, token]), **option)
        for following, q in enumerate(second if token else [1.0]):
            if p * q > 0:
                expected[token, following] = n * p * q
    counts = dict.fromkeys(expected, 0)
    for pair in map(tuple, ids[:, 1:].tolist()):
        counts[pair] += 1
    chi_square = sum((counts[pair] - e) ** 2 / e for pair, e in expected.items())
    degrees = len(expected) - 1
    assert chi_square < degrees + 3.72 * math.sqrt(2 * degrees) + 8


def test_a_generator_makes_samples_repeatable_and_is_the_only_one_used():
    automaton, prompt, options = Automaton(), prompts(), {"end_id": None, "max_new_tokens": 20}
    before = torch.get_rng_state()
    one, same, other = (
        sample(automaton, prompt, generator=generator(seed), **options) for seed in (1, 1, 2)
    )
    assert torch.equal(one, same) and not torch.equal(one, other)
    assert torch.equal(torch.get_rng_state(), before)
    torch.manual_seed(1)
    assert torch.equal(sample(automaton, prompt, **options), one)


# arguments and results


def decoders(**options):
    """Return the three decoders with one signature; each returns ids (rows, length)."""

    def beams(step, prompt, **kwargs):
        return beam_search(step, prompt, width=2, **options, **kwargs)[0].flatten(0, 1)

    return {"greedy": greedy, "sample": sample, "beam_search": beams}


each_decoder = pytest.mark.parametrize("decode", decoders().values(), ids=decoders())


@each_decoder
def test_padding_is_zero_by_default(decode):
    step = bigram([0, 1, 0], [0, 1, 0], [0, 0, 1])
    ids = decode(step, torch.tensor([[0], [2]]), end_id=1, max_new_tokens=2)
    assert ids[0].tolist() == [0, 1, 0] and [2, 2, 2] in ids.tolist()


@each_decoder
def test_no_new_tokens_give_a_copy_of_the_prompt_and_no_step(decode):
    prompt = prompts()
    ids = decode(None, prompt, end_id=1, max_new_tokens=0)
    assert torch.equal(ids.unique_consecutive(dim=0), prompt.unique_consecutive(dim=0))
    ids += 1
    assert torch.equal(prompt, prompts())


@each_decoder
def test_an_empty_batch_gives_an_empty_batch(decode):
    ids = decode(None, prompts(0, 3), end_id=1, max_new_tokens=5)
    assert ids.shape == (0, 3) and ids.dtype == torch.int64


def test_an_empty_batch_of_beams():
    cache = Cache(prompts(0, 3))
    ids, scores = beam_search(None, prompts(0, 3), width=4, end_id=1, max_new_tokens=5, cache=cache)
    assert ids.shape == (0, 4, 3) and scores.shape == (0, 4)


@each_decoder
def test_the_prompt_is_not_changed_and_nothing_asks_for_gradients(decode):
    automaton, prompt = Automaton(), prompts()
    automaton.logits.requires_grad_()
    ids = decode(automaton, prompt, end_id=1, max_new_tokens=4)
    assert torch.equal(prompt, prompts()) and torch.is_grad_enabled()
    # A tensor of inference mode could not be an index in later training.
    assert not ids.is_inference()
    _, scores = beam_search(automaton, prompt, width=2, end_id=1, max_new_tokens=4)
    assert not scores.requires_grad and not scores.is_inference()


@each_decoder
def test_all_tensors_stay_on_the_device_of_the_prompt(decode):
    automaton, prompt, options = Automaton(), prompts(), {"end_id": 1, "max_new_tokens": 4}
    torch.manual_seed(0)
    expected = decode(lambda ids, cache: automaton.logits[ids[:, -1]], prompt, **options)
    torch.manual_seed(0)
    with torch.device("meta"):
        ids = decode(lambda ids, cache: automaton.logits[ids[:, -1]], prompt, **options)
    assert torch.equal(ids, expected)


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float32])
def test_a_device_without_float64_gives_the_same_tokens_and_scores(dtype, monkeypatch):
    monkeypatch.setattr(decoding, "WITHOUT_FLOAT64", {DEVICE.type})
    automaton, options = Automaton(seed=3, dtype=dtype), {"end_id": 1, "max_new_tokens": 8}
    devices = []

    def step(ids, cache):
        assert cache is None or cache.device == ids.device
        devices.append(ids.device)
        return automaton.logits.to(ids.device)[ids.sum(dim=1) % 40]

    class Rows:
        def reorder(self, rows):
            self.device = rows.device

    def decode_all(prompt):
        torch.manual_seed(0)
        ids, scores = beam_search(step, prompt, width=3, cache=Rows(), **options)
        one_each = [decode(step, prompt, **options) for decode in (greedy, sample)]
        return [ids, *one_each], scores

    expected, expected_scores = decode_all(prompts())
    with OtherDevice():
        found, scores = decode_all(prompts().to(DEVICE))
        assert {ids.device for ids in found} == {DEVICE}
        assert torch.equal(scores, expected_scores)
        for ours, theirs in zip(found, expected, strict=True):
            assert torch.equal(ours.cpu(), theirs)
    assert set(devices) == {torch.device("cpu"), DEVICE}


def test_where_there_is_float64_it_is_used():
    devices = [
        decoding._device_for_float64(torch.device(name)) for name in ("cuda:1", "mps", "cpu")
    ]
    assert list(map(str, devices)) == ["cuda:1", "cpu", "cpu"]


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16, torch.float32, torch.float64])
def test_logits_of_every_precision_are_added_up_in_float64(dtype):
    automaton, start = Automaton(seed=2, dtype=dtype), [3, 1]
    ids, scores = beam_search(
        automaton, torch.tensor([start]), width=2, end_id=None, max_new_tokens=6
    )
    for hypothesis, score in zip(ids[0].tolist(), scores[0].tolist(), strict=True):
        total = sum(automaton.log_probs(hypothesis[:i])[hypothesis[i]] for i in range(2, 8))
        assert score == pytest.approx(total, rel=1e-12)
    assert torch.equal(
        greedy(automaton, torch.tensor([start]), end_id=None, max_new_tokens=6),
        greedy(
            lambda ids, cache: automaton(ids).double(),
            torch.tensor([start]),
            end_id=None,
            max_new_tokens=6,
        ),
    )


# errors

PROMPT = r"prompt: expected an int64 tensor of shape \(batch_size, prompt_len\), prompt_len at "


@each_decoder
@pytest.mark.parametrize(
    "change, message",
    [
        ({"prompt": [[1]]}, f"{PROMPT}least 1, got list"),
        ({"prompt": np.ones((1, 1), np.int64)}, f"{PROMPT}least 1, got ndarray"),
        ({"prompt": torch.ones(1, 2)}, rf"{PROMPT}.*, got torch.float32 of shape \(1, 2\)"),
        ({"prompt": torch.ones(1, 2).int()}, rf"{PROMPT}.*, got torch.int32 of shape \(1, 2\)"),
        ({"prompt": torch.ones(2).long()}, rf"{PROMPT}.*, got torch.int64 of shape \(2,\)"),
        ({"prompt": torch.ones(1, 2, 3).long()}, rf"{PROMPT}.* of shape \(1, 2, 3\)"),
        ({"prompt": torch.ones(2, 0).long()}, rf"{PROMPT}.* of shape \(2, 0\)"),
        ({"max_new_tokens": -1}, "max_new_tokens: expected at least 0, got -1"),
        ({"max_new_tokens": 1.0}, "max_new_tokens: expected an integer, got 1.0"),
        ({"end_id": -1}, "end_id: expected at least 0, got -1"),
        ({"end_id": "stop"}, "end_id: expected an integer, several, or None, got 'stop'"),
        ({"end_id": [1, 2.5]}, "end_id: expected an integer, got 2.5"),
        ({"end_id": [1, 99]}, "end_id: expected a token below vocab_size = 5, got 99"),
        ({"end_id": 5}, "end_id: expected a token below vocab_size = 5, got 5"),
        ({"pad_id": -1}, "pad_id: expected at least 0, got -1"),
        ({"pad_id": 5}, "pad_id: expected a token below vocab_size = 5, got 5"),
        ({"pad_id": None}, "pad_id: expected an integer, got None"),
    ],
)
def test_invalid_arguments_are_refused(decode, change, message):
    arguments = {"prompt": prompts(), "end_id": 1, "max_new_tokens": 3} | change
    with pytest.raises(ValueError, match=f"^{message}$"):
        decode(Automaton(), **arguments)


STEP = r"step: expected floating-point logits of shape \(2, vocab_size\), got "
LARGEST = "step: expected logits whose largest is finite in every row, got "


@pytest.mark.parametrize(
    "returned, message",
    [
        (torch.zeros(3, 5), rf"{STEP}torch.float32 of shape \(3, 5\)"),
        (torch.zeros(2), rf"{STEP}torch.float32 of shape \(2,\)"),
        (torch.tensor(0.0), rf"{STEP}torch.float32 of shape \(\)"),
        (torch.zeros(2, 1, 5), rf"{STEP}torch.float32 of shape \(2, 1, 5\)"),
        (torch.zeros(2, 5).long(), rf"{STEP}torch.int64 of shape \(2, 5\)"),
        (np.zeros((2, 5)), f"{STEP}ndarray"),
        (None, f"{STEP}NoneType"),
        (torch.zeros(2, 0), "end_id: expected a token below vocab_size = 0, got 1"),
        (torch.tensor([[0.0, 0.0], [0.0, math.nan]]), f"{LARGEST}nan"),
        (torch.tensor([[0.0, INF], [0.0, 0.0]]), f"{LARGEST}inf"),
        (torch.tensor([[0.0, 0.0], [-INF, -INF]]), f"{LARGEST}-inf"),
    ],
)
def test_steps_that_return_no_valid_logits_are_refused(returned, message):
    def step(ids, cache):
        return returned

    prompt = torch.zeros(2, 1).long()
    for decode in (greedy, sample):
        with pytest.raises(ValueError, match=f"^{message}$"):
            decode(step, prompt, end_id=1, max_new_tokens=3)
    with pytest.raises(ValueError, match=f"^{message}$"):
        beam_search(step, prompt, width=1, end_id=1, max_new_tokens=3)


@pytest.mark.parametrize(
    "change, message",
    [
        ({"width": 0}, "width: expected at least 1, got 0"),
        ({"width": 2.0}, "width: expected an integer, got 2.0"),
        ({"length_penalty": 10.5}, "length_penalty: expected a number from -10 to 10, got 10.5"),
        ({"length_penalty": -11}, "length_penalty: expected a number from -10 to 10, got -11"),
        ({"length_penalty": math.nan}, "length_penalty: expected a number from .*, got nan"),
        ({"length_penalty": "a"}, "length_penalty: expected a number from -10 to 10, got 'a'"),
    ],
)
def test_beam_search_refuses(change, message):
    arguments = {"width": 2, "end_id": 1, "max_new_tokens": 3} | change
    with pytest.raises(ValueError, match=f"^{message}$"):
        beam_search(Automaton(), prompts(), **arguments)


@pytest.mark.parametrize("alpha", [-10, 10])
def test_the_strongest_penalties_give_finite_scores(alpha):
    step = bigram([0.5, 0.5], [0.5, 0.5])
    _, scores = beam_search(
        step, prompts(1, 1, 2), width=1, end_id=None, max_new_tokens=100, length_penalty=alpha
    )
    assert scores.item() == pytest.approx(100 * math.log(0.5) / (105 / 6) ** alpha)


TEMPERATURE = r"temperature: expected a finite number above 0 \(for 0, use greedy\), got "
LOGITS = r"logits: expected floating-point logits of shape \(..., vocab_size\), got "


def test_probabilities_of_each_row_under_vmap():
    logits = torch.randn(3, 7, generator=torch.Generator().manual_seed(0))
    choose = partial(next_token_probabilities, temperature=0.7, top_k=5, top_p=0.9)
    torch.testing.assert_close(torch.func.vmap(choose)(logits), choose(logits))


def test_a_temperature_may_be_a_tensor_of_one_number():
    logits = torch.tensor([0.0, 1.0, 2.0])
    found = next_token_probabilities(logits, temperature=torch.tensor(0.5))
    torch.testing.assert_close(found, next_token_probabilities(logits, temperature=0.5))
    with pytest.raises(ValueError, match="^temperature: expected a finite number above 0"):
        next_token_probabilities(logits, temperature=torch.ones(1))


@pytest.mark.parametrize(
    "change, message",
    [
        ({"temperature": 0.0}, f"{TEMPERATURE}0.0"),
        ({"temperature": -1}, f"{TEMPERATURE}-1"),
        ({"temperature": INF}, f"{TEMPERATURE}inf"),
        ({"temperature": math.nan}, f"{TEMPERATURE}nan"),
        ({"temperature": "a"}, f"{TEMPERATURE}'a'"),
        ({"top_p": "a"}, "top_p: expected a number above 0 and at most 1, got 'a'"),
        ({"top_k": 0}, "top_k: expected at least 1, got 0"),
        ({"top_k": 1.5}, "top_k: expected an integer, got 1.5"),
        ({"top_p": 0.0}, "top_p: expected a number above 0 and at most 1, got 0.0"),
        ({"top_p": 1.01}, "top_p: expected a number above 0 and at most 1, got 1.01"),
        ({"top_p": math.nan}, "top_p: expected a number above 0 and at most 1, got nan"),
    ],
)
def test_sampling_refuses(change, message):
    with pytest.raises(ValueError, match=f"^{message}$"):
        next_token_probabilities(torch.zeros(3), **change)
    step = Mock()
    for max_new_tokens in (0, 3):
        with pytest.raises(ValueError, match=f"^{message}$"):
            sample(step, prompts(), end_id=1, max_new_tokens=max_new_tokens, **change)
    # A step would have consumed a cache.
    step.assert_not_called()


@pytest.mark.parametrize(
    "logits, message",
    [
        ([0.0, 1.0], f"{LOGITS}list"),
        (torch.tensor([1, 2]), rf"{LOGITS}torch.int64 of shape \(2,\)"),
        (torch.tensor(1.0), rf"{LOGITS}torch.float32 of shape \(\)"),
        (torch.ones(2, 0), rf"{LOGITS}torch.float32 of shape \(2, 0\)"),
        (torch.tensor([[1.0], [math.nan]]), "logits: .* largest is finite in every row, got nan"),
        (torch.tensor([-INF, -INF]), "logits: .* largest is finite in every row, got -inf"),
        (torch.tensor([0.0, INF]), "logits: .* largest is finite in every row, got inf"),
    ],
)
def test_probabilities_refuse_other_logits(logits, message):
    # Also without checks: a row has one largest number, which on the CPU costs nothing to read.
    for checked in (True, torch.get_default_device().type != "cpu"):
        with checks(checked), pytest.raises(ValueError, match=f"^{message}$"):
            next_token_probabilities(logits)


def test_probabilities_of_no_rows_are_no_rows():
    assert next_token_probabilities(torch.zeros(0, 3)).shape == (0, 3)
