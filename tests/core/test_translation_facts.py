"""attn.applications.translation.facts on given weights and predictions."""

import numpy as np
import pytest
import torch

from attn.applications.translation import TranslationAttention, Translator, facts
from attn.corpus import Agreement, Coreference, Pair, Polyseme
from attn.layers import DecoderLayer
from attn.metrics import diagonal_alignment, ibm_model_1, uniform_alignment
from attn.tokenizer import WordTokenizer
from attn.training import TrainingConfig
from attn.transformer import Transformer, TransformerConfig

SOURCE = "the red house is blue"
TARGET = "la casa roja es azul"
SURE = frozenset({(0, 0), (2, 1), (1, 2), (3, 3), (4, 4)})
PAIR = Pair(
    SOURCE,
    TARGET,
    SURE,
    SURE | {(0, 1)},
    agreements=(Agreement(0, (1,), 1), Agreement(2, (1,), 1), Agreement(4, (1,), 3)),
    coreferences=(Coreference(3, (1, 2), 4),),
    polysemes=(Polyseme(4, "blue", "azul", 2),),
)
PLAIN = Pair("the house", "la casa", frozenset({(0, 0), (1, 1)}), frozenset({(0, 0), (1, 1)}))


@pytest.fixture
def translator():
    """An untrained translator with two layers and two heads."""
    torch.manual_seed(0)
    source, target = WordTokenizer.train([SOURCE]), WordTokenizer.train([TARGET])
    config = TransformerConfig(
        source.vocab_size, target.vocab_size, d_model=16, n_heads=2, n_layers=2, d_ff=16
    )
    return Translator(Transformer(config), source, target, max_len=9)


def rows(*places, n):
    """Return rows of weights with 0.9 added at one place and 0.1 spread evenly."""
    weights = np.full((len(places), n), 0.1 / n)
    weights[range(len(places)), places] += 0.9
    return weights


@pytest.fixture
def looking(translator, monkeypatch):
    """Let the translator return given attention: only head 0 of layer 0 aligns correctly."""
    right = rows(0, 2, 1, 3, 4, 0, n=5)
    # In `one_off`, the weights of a token are in the next row, where the token is the query.
    one_off = rows(0, 0, 2, 1, 3, 4, n=5)
    half = rows(0, 2, 2, 3, 3, 0, n=5)
    cross = np.array([[right, one_off], [half, one_off]])
    encoder = np.stack([np.stack([np.eye(5)] * 2)] * 2)
    encoder[0, 1, 3] = [0.0, 0.7, 0.2, 0.1, 0.0]
    encoder[1, 0, 3] = [0.5, 0.2, 0.3, 0.0, 0.0]
    decoder = np.zeros((2, 2, 6, 6))

    def attention(text, translation):
        assert (text, translation) == (SOURCE, TARGET)
        return TranslationAttention(
            SOURCE.split(), [*TARGET.split(), "<eos>"], encoder, decoder, cross, np.ones(6)
        )

    monkeypatch.setattr(translator, "attention", attention)
    return translator


@pytest.fixture
def saying(translator, monkeypatch):
    """Return a function that sets which tokens of PAIR are predicted right; in others all are."""

    def say(*right):
        def predictions(asked, pair):
            assert asked is translator
            return np.array(right) if pair.target == TARGET else np.ones(9, dtype=bool)

        monkeypatch.setattr(facts, "predictions", predictions)
        return translator

    return say


# alignments


def test_alignments_are_read_where_a_token_is_predicted(looking):
    found = facts.alignment_errors(looking, [PAIR])
    # Of the five links of one_off, (0, 0) and (0, 1) are possible and the first is sure.
    one_off = 1 - (1 + 2) / (5 + 5)
    half = 1 - (3 + 3) / (5 + 5)
    np.testing.assert_allclose(found["heads"], [[0, one_off], [half, one_off]])
    assert found["layers"].shape == (2,)
    assert found["diagonal"] == pytest.approx(1 - (3 + 3) / 10)


def test_layers_align_the_mean_of_the_head_weights_not_the_mean_of_error_rates(looking):
    """Two heads, each right about what the other is not."""
    a = looking.attention(SOURCE, TARGET)
    a.cross[:] = [[rows(0, 2, 4, 3, 0, 0, n=5), rows(1, 3, 1, 0, 4, 0, n=5)]] * 2
    # Equal weights express no preference.
    a.cross[:, 0, [2, 4]] = a.cross[:, 1, [0, 1, 3]] = 0.2
    found = facts.alignment_errors(looking, [PAIR])
    assert found["heads"].min() > 0.2
    np.testing.assert_allclose(found["layers"], 0)
    assert found["average"] == 0


def test_ibm_model_1_beats_uniform_and_uniform_is_reproducible(translator):
    pairs = [PAIR, PLAIN] * 5
    found = facts.alignment_errors(translator, pairs)
    assert found["ibm_model_1"] < found["uniform"]
    again = facts.alignment_errors(translator, pairs)
    assert found["uniform"] == again["uniform"]
    assert 0 < found["average"] <= 1


def test_baselines_are_those_of_the_metrics(translator):
    pairs = [PAIR, PLAIN]
    found = facts.alignment_errors(translator, pairs, rate=lambda *links: links)
    words = [(pair.source.split(), pair.target.split()) for pair in pairs]
    lengths, rng = [(len(a), len(b)) for a, b in words], np.random.default_rng(0)
    model = ibm_model_1(words)
    for name, expected in {
        "diagonal": [diagonal_alignment(*length) for length in lengths],
        "uniform": [uniform_alignment(*length, rng) for length in lengths],
        "ibm_model_1": [model.align(*pair) for pair in words],
    }.items():
        assert found[name] == (expected, [p.sure for p in pairs], [p.possible for p in pairs])


def test_ibm_model_1_is_trained_on_the_given_pairs(translator):
    """Trained on pairs that always reverse the word order, it aligns in reverse."""
    one, other = Pair("the", "casa"), Pair("house", "la")
    wrong = facts.alignment_errors(translator, [PLAIN], [one, other], rate=lambda links, *_: links)
    assert wrong["ibm_model_1"] == [{(1, 0), (0, 1)}]
    assert wrong["diagonal"] == [{(0, 0), (1, 1)}]


# pronouns


def test_coreference_on_given_weights(looking, saying):
    saying(True, True, True, True, False, True)
    found = facts.coreference(looking, [PLAIN, PAIR])
    np.testing.assert_allclose(found["weight"], [[0, 0.9], [0.5, 0]])
    np.testing.assert_array_equal(found["points"], [[0, 1], [0, 0]])
    # The token at 4 attends to 4 or 3, never to 1 or 2. The token at 2 would attend to 1 or 2.
    np.testing.assert_array_equal(found["word_points"], [[0, 0], [0, 0]])
    assert found["chance"] == 2 / 5
    assert (found["right"], found["n"]) == (0, 1)


def test_the_attention_of_a_dependent_word_is_read_where_it_is_predicted(looking, saying):
    saying(*[True] * 6)
    early = Coreference(3, (2,), 2)
    pair = Pair(SOURCE, TARGET, SURE, SURE, coreferences=(early,))
    found = facts.coreference(looking, [pair])
    # There the head that aligns correctly attends to 1, and all others to 2.
    np.testing.assert_array_equal(found["word_points"], [[0, 1], [1, 1]])
    assert found["right"] == 1


# meanings and agreement


def test_a_meaning_is_right_if_all_its_surely_linked_words_are(saying):
    linked = frozenset({(4, 4), (4, 3)})
    two = Pair(SOURCE, TARGET, linked, linked, polysemes=PAIR.polysemes)
    translator = saying(True, True, True, False, True, True)
    assert facts.polysemy(translator, [PAIR, PLAIN]) == {("blue", "azul"): (1.0, 1)}
    assert facts.polysemy(translator, [PAIR, two]) == {("blue", "azul"): (0.5, 2)}
    translator = saying(True, True, True, True, False, True)
    assert facts.polysemy(translator, [PAIR, two]) == {("blue", "azul"): (0.0, 2)}


def test_agreement_is_counted_by_distance(saying):
    translator = saying(True, False, False, False, True, False)
    assert facts.agreement(translator, [PAIR, PLAIN]) == {1: (0.5, 2), 3: (1.0, 1)}


def test_predictions_are_those_of_the_model_token_by_token(translator):
    found = facts.predictions(translator, PAIR)
    assert found.shape == (6,) and found.dtype == bool
    src = torch.tensor([translator.source.encode(PAIR.source)])
    tgt = translator.target.encode(PAIR.target, sos=True, eos=True)
    with torch.no_grad():
        for i, right in enumerate(found):
            logits, _ = translator.model(src, torch.tensor([tgt[: i + 1]]))
            assert right == (int(logits[0, -1].argmax()) == tgt[i + 1])


@pytest.mark.parametrize(
    ("measure", "what"),
    [("coreference", "a pronoun"), ("polysemy", "a word of several"), ("agreement", "a word that")],
)
def test_pairs_without_the_measured_phenomenon_are_refused(translator, measure, what):
    with pytest.raises(ValueError, match=f"pairs: expected at least one with {what}.*, got none"):
        getattr(facts, measure)(translator, [PLAIN])


# heads


@pytest.mark.parametrize("stack", facts.STACKS)
def test_uniform_attention_stays_uniform_during_training(stack):
    quick = TrainingConfig(steps=3, batch_size=2, warmup_steps=1, learning_rate=0.1)
    learned = Translator.fit(
        [PAIR, PLAIN],
        sizes={"d_model": 16, "n_heads": 2, "d_ff": 16},
        training=quick,
        prepare=lambda model: facts.make_uniform(model, [stack]),
    )
    src = torch.tensor([learned.source.encode(SOURCE)])
    tgt = torch.tensor([learned.target.encode(TARGET, sos=True)])
    _, weights = learned.model(src, tgt, need_weights=True)
    for name in facts.STACKS:
        for found in getattr(weights, name):
            even = torch.ones(found.shape[-2:])
            even = even.tril() if name == "decoder" else even
            even = (even / even.sum(dim=-1, keepdim=True)).expand_as(found)
            assert torch.allclose(found, even) is (name == stack)


def test_an_unknown_stack_is_refused(translator):
    with pytest.raises(ValueError, match="^stacks: expected"):
        facts.make_uniform(translator.model, ["middle"])


@pytest.mark.parametrize("stack", facts.STACKS)
def test_a_removed_head_equals_one_whose_keys_are_all_masked(translator, stack):
    """Compared with a mask that hides all keys from this head, whose output is then zero."""
    model, layer, head = translator.model, 1, 1
    layers = model.encoder.layers if stack == "encoder" else model.decoder.layers
    attention = layers[layer].cross_attention if stack == "cross" else layers[layer].self_attention
    x = torch.randn(1, 4, 16)
    blind = torch.ones(1, 2, 4, 4, dtype=torch.bool)
    blind[:, head] = False
    before = {name: tensor.clone() for name, tensor in model.state_dict().items()}
    with torch.no_grad():
        expected, _ = attention(x, x, x, blind)
        whole, _ = attention(x, x, x)
        with facts.without_head(model, stack, layer, head):
            cut, _ = attention(x, x, x)
        mended, _ = attention(x, x, x)
    torch.testing.assert_close(cut, expected)
    assert not torch.allclose(cut, whole)
    assert torch.equal(mended, whole)
    assert all(torch.equal(before[name], t) for name, t in model.state_dict().items())


def test_a_head_is_restored_after_an_error(translator):
    before = translator.model.encoder.layers[0].self_attention.out_proj.weight.clone()
    with pytest.raises(KeyError), facts.without_head(translator.model, "encoder", 0, 0):
        raise KeyError
    after = translator.model.encoder.layers[0].self_attention.out_proj.weight
    assert torch.equal(before, after)


def test_ablation_measures_with_each_head_removed_in_turn(translator):
    seen = []

    def measure(translator, pairs):
        weights = [
            attention.out_proj.weight.detach()
            for stack in (translator.model.encoder, translator.model.decoder)
            for layer in stack.layers
            for attention in (layer.self_attention, getattr(layer, "cross_attention", None))
            if attention is not None
        ]
        zero = [bool((w[:, 8 * h : 8 * h + 8] == 0).all()) for w in weights for h in (0, 1)]
        assert sum(zero) == 1
        seen.append(zero.index(True))
        return len(seen) + pairs

    found = facts.ablation(translator, 100, measure)
    assert list(found) == ["encoder", "decoder", "cross"]
    assert [found[name].tolist() for name in found] == [
        [[101, 102], [103, 104]],
        [[105, 106], [107, 108]],
        [[109, 110], [111, 112]],
    ]
    # An encoder layer has one attention; a decoder layer has self-attention, then cross-attention.
    assert seen == [0, 1, 2, 3, 4, 5, 8, 9, 6, 7, 10, 11]
    assert isinstance(translator.model.decoder.layers[0], DecoderLayer)
