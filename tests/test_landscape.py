"""Chapter 11's formulas against PyTorch and against counts, and its measurements."""

import itertools
import json

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch.nn import functional as F

from attn import reference
from attn.recurrent import BidirectionalRecurrent
from experiments import contrast, landscape
from tests.refusals import refusals

# Masking --------------------------------------------------------------------------------------


def masking(seed, shape=(400, 50), vocab_size=1000):
    rng = np.random.default_rng(seed)
    tokens = rng.integers(0, vocab_size, size=shape)
    chance, dice = rng.random((2, *shape))
    others = rng.integers(4, vocab_size, size=shape)
    return tokens, chance, dice, others


def test_tokens_are_masked_replaced_and_kept_in_the_shares_of_bert():
    tokens, chance, dice, others = masking(0)
    inputs, labels = reference.mask_tokens(tokens, chance, dice, others, 1000, -100)
    asked, words = labels != -100, tokens >= 4
    assert not asked[~words].any() and (inputs[~asked] == tokens[~asked]).all()
    assert (labels[asked] == tokens[asked]).all()
    assert asked[words].mean() == pytest.approx(0.15, abs=0.01)
    hidden, kept = inputs[asked] == 1000, inputs[asked] == tokens[asked]
    assert hidden.mean() == pytest.approx(0.8, abs=0.03)
    assert kept.mean() == pytest.approx(0.1, abs=0.03)
    changed = ~hidden & ~kept
    assert (inputs[asked][changed] == others[asked][changed]).all()


@pytest.mark.parametrize(
    "name, value, message",
    [
        ("tokens", [4.0, 5.0], "tokens: expected integers"),
        ("others", [4.0, 5.0], "others: expected integers"),
        ("chance", [0.1], r"chance: expected shape \(2,\)"),
        ("dice", [[0.1, 0.2]], r"dice: expected shape \(2,\)"),
        ("dice", [0.1, np.nan], "dice"),
    ],
)
def test_masking_refuses_invalid_arguments(name, value, message):
    arguments = {"tokens": [4, 5], "chance": [0.1, 0.2], "dice": [0.1, 0.2], "others": [6, 7]}
    with pytest.raises(ValueError, match=message):
        reference.mask_tokens(**{**arguments, name: value}, mask_id=9, ignore_id=-1)


def test_the_ids_of_marks_may_exceed_the_type_of_the_tokens():
    tokens, others = np.array([5, 6], np.uint16), np.array([5, 5], np.uint16)
    found = reference.mask_tokens(tokens, [0.0, 0.5], [0.1, 0.1], others, 70_000, -100)
    assert [part.tolist() for part in found] == [[70_000, 6], [5, -100]]
    with pytest.raises(ValueError, match=r"mask_id: expected an integer, got 4\.5"):
        reference.mask_tokens(tokens, [0.0, 0.5], [0.1, 0.1], others, 4.5, -100)


# Spans ----------------------------------------------------------------------------------------


@given(st.lists(st.tuples(st.integers(4, 50), st.booleans()), max_size=12))
def test_inputs_and_targets_together_restore_the_text(pairs):
    tokens, hidden = (np.array([p[i] for p in pairs], dtype=(int, bool)[i]) for i in (0, 1))
    inputs, targets = reference.corrupt_spans(tokens, hidden, 100)
    spans, mark = {}, None
    for token in targets.tolist():
        if token >= 100:
            mark = token
            spans[mark] = []
        else:
            spans[mark].append(token)
    assert spans.pop(mark) == [] and list(spans) == list(range(100, mark))
    assert all(spans.values())
    filled = [w for token in inputs.tolist() for w in spans.get(token, [token])]
    assert filled == tokens.tolist()
    assert (inputs >= 100).sum() == len(spans)
    for a, b in itertools.pairwise(inputs):
        assert a < 100 or b < 100, "runs side by side are one run"


test_spans_refuse_invalid_arguments = refusals(
    ([[4, 5]], [True, False], r"tokens: expected integers of shape \(seq_len,\)"),
    ([4.0, 5.0], [True, False], "tokens: expected integers"),
    ([4, 5], [True], r"hidden: expected shape \(2,\) to match tokens, got \(1,\)"),
    of=lambda tokens, hidden: reference.corrupt_spans(tokens, hidden, 100),
)


# Contrast -------------------------------------------------------------------------------------


@pytest.mark.parametrize("shape", [(1, 3), (2, 2), (5, 7), (16, 4)])
@pytest.mark.parametrize("temperature", [0.01, 0.3, 2.0])
def test_the_contrastive_loss_is_pytorchs_cross_entropy_twice(shape, temperature):
    images, texts = np.random.default_rng(1).normal(size=(2, *shape))
    unit = [F.normalize(torch.tensor(x)) for x in (images, texts)]
    logits, partner = unit[0] @ unit[1].T / temperature, torch.arange(len(images))
    wanted = (F.cross_entropy(logits, partner) + F.cross_entropy(logits.T, partner)) / 2
    found = reference.contrastive_loss(images, texts, temperature)
    assert found == pytest.approx(wanted.item(), rel=1e-9, abs=1e-12)
    # A cosine does not depend on the length of the vectors, so theirs may be scaled.
    for factor in (1e200, 1e-200):
        scaled = reference.contrastive_loss(factor * images, texts, temperature)
        assert scaled == pytest.approx(found)


test_the_contrastive_loss_refuses_invalid_arguments = refusals(
    ([[1.0, 0.0]], [[0.0, 0.0]], 0.1, "texts: expected at least one vector, none of them zero"),
    ([[1.0, 0.0]], [[1.0]], 0.1, "texts: expected shape"),
    ([1.0, 0.0], [1.0, 0.0], 0.1, "images: expected shape"),
    ([[1.0]], [[1.0]], 0.0, "temperature: expected a number above 0"),
    of=lambda images, texts, temperature: reference.contrastive_loss(images, texts, temperature),
)


# The measurements -----------------------------------------------------------------------------

MEASURED = json.loads(landscape.RESULTS.read_text(encoding="utf-8"))


def test_each_model_was_measured_at_each_number_of_steps():
    assert [(row["model"], row["steps"], row["seed"]) for row in MEASURED] == landscape.RUNS
    assert {name for name, *_ in landscape.RUNS} == {n for n, *_ in landscape.make_models(20)}
    longest = [row["steps"] for row in MEASURED if "train_words" in row]
    assert longest == [landscape.STEPS[-1]] * 3


@pytest.mark.parametrize("name, share", [("recurrent", 1.0), ("recurrent_third", landscape.HIDDEN)])
def test_recurrent_models_predict_the_stated_share_of_words(name, share):
    model, loss = next((model, loss) for n, model, loss in landscape.make_models(20) if n == name)
    ids = torch.randint(4, 19, (64, 40))
    ids[:, 0], ids[:, -1] = 2, 3
    _, n_asked = loss(model, (ids, torch.full((64,), 40)))
    assert n_asked / (64 * 38) == pytest.approx(share, abs=0.05)


@pytest.mark.parametrize("name", ["masked", "causal", "recurrent"])
@torch.no_grad()
def test_no_model_sees_the_word_that_it_predicts(name):
    model = next(model for n, model, _ in landscape.make_models(20) if n == name).eval()
    ids = [2, 5, 6, 7, 8, 3]
    first = landscape.guesses(model, ids)
    for place in range(1, 5):
        other = list(ids)
        other[place] = 11
        again = landscape.guesses(model, other)
        torch.testing.assert_close(again[place - 1], first[place - 1])
        if name != "causal":
            assert (again - first).abs().amax(-1).gt(1e-6).sum() == 3
    assert landscape.accuracy(model, [[2, *first.argmax(-1)[:1].tolist(), 3]]) in (0.0, 1.0)


def test_the_accuracy_counts_words_and_chosen_words():
    class Fixed(BidirectionalRecurrent):
        def forward(self, ids, lengths):
            return F.one_hot(torch.full((1, ids.shape[1] - 2), 5), 12).float()

    model = Fixed(12, 4)
    sentences = [[2, 5, 6, 3], [2, 5, 5, 7, 3]]
    assert landscape.accuracy(model, sentences) == pytest.approx(3 / 5)
    assert landscape.accuracy(model, sentences, {6, 7}) == 0
    assert landscape.accuracy(model, sentences, {5, 6}) == pytest.approx(3 / 4)


# The effect of swaps in a batch ----------------------------------------------------------------

BOX_BALL = [("red", "box"), ("blue", "ball")]


@torch.no_grad()
def test_without_swaps_the_loss_ignores_swapped_pairs():
    model = contrast.make_model(0)
    pairs = [BOX_BALL, contrast.swap(BOX_BALL)[::-1], [("green", "tree"), ("purple", "star")]]
    rng = np.random.default_rng(0)
    images = [contrast.scene(rng)[0] for _ in pairs]
    batch = contrast.collate(list(zip(images, pairs, strict=True)))
    assert batch[2].tolist() == [[False, True, False], [True, False, False], [False] * 3]
    logits = model(*batch[:2])
    logits[0, 1] = logits[1, 0] = -torch.inf
    partner = torch.arange(3)
    wanted = sum(F.cross_entropy(z, partner, reduction="sum") for z in (logits, logits.T)) / 2
    found, n = contrast.loss(model, batch, with_swaps=False)
    torch.testing.assert_close(found, wanted)
    assert n == 3 and contrast.loss(model, batch, with_swaps=True)[0] > found


def test_a_swap_exchanges_colours_and_undoes_itself():
    assert contrast.swap(BOX_BALL) == [("blue", "box"), ("red", "ball")]
    assert contrast.swap(contrast.swap(BOX_BALL)) == BOX_BALL


def test_each_training_with_and_without_swaps_was_measured():
    rows = json.loads(contrast.RESULTS.read_text(encoding="utf-8"))
    assert [(row["seed"], row["with_swaps"], row["steps"]) for row in rows] == list(
        itertools.product(contrast.SEEDS, (True, False), (60, 300))
    )


# The attention weights of other models ----------------------------------------------------------


def test_each_row_of_the_table_has_the_weights_of_the_code_of_its_model():
    from transformers.models.gemma2.modeling_gemma2 import eager_attention_forward as gemma2
    from transformers.models.gpt_oss.modeling_gpt_oss import eager_attention_forward as gpt_oss
    from transformers.models.qwen3.modeling_qwen3 import Qwen3RMSNorm

    query = torch.tensor([[1.0, 0.0]]).double()
    key = 2**0.5 * torch.tensor([[np.log(12), 0], [np.log(3), 0], [0, 1]])
    value = torch.eye(3).double()
    one_head = [x[None, None] for x in (query, key, value)]
    scores = np.array([np.log(12), np.log(3), 0])

    def softmax(scores, extra=0.0):
        return np.exp(scores) / (np.exp(scores).sum() + extra)

    layer = torch.nn.Module()
    layer.num_key_value_groups, layer.sinks = 1, torch.tensor([np.log(4)])
    layer.eval()
    _, weights = gemma2(layer, *one_head, None, scaling=2**-0.5, softcap=2.0)
    np.testing.assert_allclose(weights.ravel(), softmax(2 * np.tanh(scores / 2)), rtol=1e-6)
    _, weights = gpt_oss(layer, *one_head, None, scaling=2**-0.5)
    np.testing.assert_allclose(weights.ravel(), softmax(scores, extra=4), rtol=1e-6)
    norm = Qwen3RMSNorm(2, eps=0).double()
    with torch.no_grad():
        weights = (norm(key) @ norm(query).T / 2**0.5).ravel().softmax(dim=0)
    x, y = (
        rows / np.sqrt((rows**2).mean(axis=-1, keepdims=True))
        for rows in (key.numpy(), query.numpy())
    )
    np.testing.assert_allclose(weights, softmax((x @ y.T).ravel() / np.sqrt(2)), rtol=1e-6)
