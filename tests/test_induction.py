"""The induction heads of chapter 13: the code, and a small part of each measurement again."""

import itertools

import numpy as np
import pytest
import torch

from attn.transformer import DecoderOnly, TransformerConfig
from experiments import induction
from experiments.runner import read

STORED = read(induction.RESULTS)


def test_rows_repeat_a_block_of_distinct_tokens():
    rows, periods = induction.repeated(50, torch.Generator().manual_seed(3))
    assert rows.shape == (50, induction.LENGTH)
    assert (int(periods.min()), int(periods.max())) == (8, 32)
    for row, period in zip(rows.tolist(), periods.tolist(), strict=True):
        assert len({*row[:period]}) == period
        assert row[period:] == row[:-period]


def test_the_score_is_the_weight_on_the_tokens_after_the_same_token():
    rows, periods = induction.repeated(3, torch.Generator().manual_seed(0))
    torch.manual_seed(1)
    weights = torch.rand(3, 2, induction.LENGTH, induction.LENGTH).tril()
    weights = weights / weights.sum(dim=-1, keepdim=True)
    for head in range(2):
        found = []
        for row, weight in zip(rows.tolist(), weights[:, head].tolist(), strict=True):
            for i, token in enumerate(row):
                earlier = [j for j in range(i) if row[j] == token]
                if earlier:
                    found.append(sum(weight[i][j + 1] for j in earlier))
        assert float(induction.shares(weights, periods)[head]) == pytest.approx(np.mean(found))


def test_the_token_before_is_one_place_before():
    weights = torch.zeros(1, 2, 4, 4)
    weights[0, 0, range(1, 4), range(3)] = 0.5
    assert induction.before(weights).tolist() == [0.5, 0.0]


def test_only_the_first_layer_is_masked_at_a_place():
    model, _, generator = induction.begun(2, 0)
    ids, _ = induction.repeated(2, generator)
    with torch.no_grad():
        logits, whole = induction.read(model, ids)
        _, cut = induction.read(model, ids, 2)
        torch.testing.assert_close(logits, model(ids)[0])
    assert cut[0].diagonal(offset=-2, dim1=2, dim2=3).abs().max() == 0
    assert cut[0].diagonal(offset=-1, dim1=2, dim2=3).min() > 0
    assert cut[1].diagonal(offset=-2, dim1=2, dim2=3).min() > 0
    assert whole[0].diagonal(offset=-2, dim1=2, dim2=3).min() > 0


@pytest.mark.parametrize(
    "depth, seed", list(itertools.product(map(str, induction.DEPTHS), induction.SEEDS))
)
def test_the_first_losses_of_each_training_are_as_stored(depth, seed):
    stored = STORED["toy"]["runs"][depth][seed]
    state = induction.begun(int(depth), seed)
    losses = [induction.step(*state, number) for number in range(induction.N_FIRST)]
    assert losses == pytest.approx(stored["first_losses"], abs=2e-3)


def test_two_layers_learn_to_repeat_and_one_does_not():
    """The chapter states these results for every seed."""
    runs = STORED["toy"]["runs"]
    assert min(run["again"][-1] for run in runs["1"]) > 3
    assert max(run["induction"][-1] for run in runs["1"]) < 0.2
    for run in runs["2"]:
        nothing, one, two = run["hidden"]
        assert max(nothing["again"], two["again"]) < 0.1
        assert one["again"] > 7
        assert min(nothing["induction"], two["induction"]) > 0.8
        assert one["induction"] < 0.2


def test_an_ablated_head_adds_nothing():
    torch.manual_seed(0)
    sizes = {"vocab_size": 20, "d_model": 12, "n_heads": 3, "n_layers": 2, "d_ff": 16}
    model = DecoderOnly(TransformerConfig(**sizes, dropout=0.0, norm="pre")).eval()
    ids, cut = torch.tensor([[1, 2, 3, 4]]), [(0, 2), (1, 0), (1, 1)]
    with torch.no_grad():
        whole = model(ids)[0]
        with induction.without(model, cut, torch.zeros(2, 3, 4)):
            found = model(ids)[0]
        torch.testing.assert_close(model(ids)[0], whole)
        for layer, head in cut:  # the columns that read the head's output
            model.stack.layers[layer].self_attention.out_proj.weight[:, 4 * head : 4 * head + 4] = 0
        torch.testing.assert_close(found, model(ids)[0])
    assert not torch.allclose(found, whole)


def test_random_heads_are_from_the_same_layers_and_not_among_the_top():
    ranked = [divmod(int(i), 9) for i in np.random.default_rng(0).permutation(270)]
    top, barred = ranked[:4], ranked[: max(induction.N_CUT)]
    for seed in range(3):
        others = induction.drawn(top, ranked, seed)
        assert len({*others}) == 4
        assert not {*others} & {*barred}
        assert [layer for layer, _ in others] == [layer for layer, _ in top]
    assert induction.drawn(top, ranked, 0) != induction.drawn(top, ranked, 1)


def test_the_scores_of_smollm2_are_as_stored(smollm2):
    model, _ = smollm2
    stored = STORED["smollm2"]
    scores = induction.scores_of(model, induction.random_texts(model.config.vocab_size))
    np.testing.assert_allclose(scores, stored["scores"], atol=5e-3)
    first = scores.flatten().argsort(descending=True)[:4].tolist()
    assert [[*divmod(i, 9)] for i in first] == stored["ranked"][:4]
