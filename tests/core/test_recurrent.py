"""attn.recurrent: values by hand, steps, causality and padding, and refusals."""

import re
from functools import partial

import pytest
import torch
from torch.func import functional_call

from attn.decoding import beam_search
from attn.recurrent import (
    AdditiveAttention,
    BidirectionalRecurrent,
    RecurrentCache,
    RecurrentEncoderDecoder,
    _reverse,
)
from tests.core.other_device import DEVICE, OtherDevice
from tests.refusals import refusals

VOCAB, D_MODEL = 11, 6


@pytest.fixture(params=[True, False], ids=["attention", "bottleneck"])
def model(request):
    torch.manual_seed(0)
    return RecurrentEncoderDecoder(VOCAB, D_MODEL, attention=request.param).double()


@pytest.fixture
def batch():
    generator = torch.Generator().manual_seed(0)
    return (torch.randint(VOCAB, (3, n), generator=generator) for n in (5, 4))


def test_the_logits_are_those_of_single_steps(model, batch):
    source, target = batch
    with torch.no_grad():
        logits, weights = model(source, target, need_weights=model.attention)
        for b in range(len(source)):
            state, memory = torch.zeros(1, 1, D_MODEL).double(), []
            for token in source[b]:
                _, state = model.encoder(model.embedding(token)[None, None], state)
                memory.append(state[0, 0])
            for i, token in enumerate(target[b]):
                _, state = model.decoder(model.embedding(token)[None, None], state)
                read = state[0, 0]
                if model.attention:
                    exponentials = torch.stack([(read * h).sum().exp() for h in memory])
                    row = exponentials / exponentials.sum()
                    torch.testing.assert_close(weights[b, i], row)
                    read = torch.cat([read, sum(w * h for w, h in zip(row, memory, strict=True))])
                torch.testing.assert_close(logits[b, i], model.out_proj(read))


def assert_gradients_are_those_of_small_changes(model, *inputs):
    """Compare the gradients of all parameters with finite differences of the logits."""
    names, parameters = zip(*model.named_parameters(), strict=True)

    def logits(*values):
        output = functional_call(model, dict(zip(names, values, strict=True)), inputs)
        return output[0] if isinstance(output, tuple) else output

    assert torch.autograd.gradcheck(logits, parameters, fast_mode=True)


def test_weights_are_returned_only_on_request(batch):
    source, target = batch
    model = RecurrentEncoderDecoder(VOCAB, D_MODEL)
    assert model(source, target)[1] is None
    weights = model(source, target, need_weights=True)[1]
    assert weights.shape == (3, 4, 5)
    torch.testing.assert_close(weights.sum(-1), torch.ones(3, 4))


# padding, additive attention, and single steps

KINDS = {
    "bottleneck": {"attention": None},
    "dot": {"attention": "dot"},
    "additive": {"attention": "additive"},
    "bahdanau": {"attention": "additive", "bidirectional": True, "tie_embeddings": True},
    "both ends": {"attention": None, "bidirectional": True, "tie_embeddings": True},
}
LENGTHS = torch.tensor([2, 5, 3])


@pytest.fixture(params=KINDS.values(), ids=list(KINDS))
def kind(request):
    torch.manual_seed(0)
    return RecurrentEncoderDecoder(VOCAB, D_MODEL, **request.param).double()


@pytest.mark.parametrize("lengths", [[2, 5, 3], [1, 1, 1], [2, 2, 2]], ids=str)
def test_padding_of_the_source_changes_nothing(kind, batch, lengths):
    source, target = batch
    need_weights = kind.attention is not None
    with torch.no_grad():
        logits, weights = kind(source, target, torch.tensor(lengths), need_weights=need_weights)
        for b, length in enumerate(lengths):
            alone, row = kind(
                source[b : b + 1, :length], target[b : b + 1], need_weights=need_weights
            )
            torch.testing.assert_close(logits[b], alone[0])
            if need_weights:
                torch.testing.assert_close(weights[b, :, :length], row[0])
                assert (weights[b, :, length:] == 0).all()


def test_gradients_reach_every_parameter_through_padding(kind, batch):
    assert_gradients_are_those_of_small_changes(kind, *batch, LENGTHS)


@torch.no_grad()
def test_additive_attention_uses_the_previous_state_and_feeds_its_output_in_with_the_token(batch):
    torch.manual_seed(0)
    model = RecurrentEncoderDecoder(VOCAB, D_MODEL, attention="additive").double()
    source, target = batch
    logits, weights = model(source, target, need_weights=True)
    memory, last = model.encode(source)
    net = model.scores
    for b in range(len(source)):
        state = last[:, b : b + 1]
        for i, token in enumerate(target[b]):
            scores = torch.stack(
                [
                    net.score.weight[0]
                    @ torch.tanh(
                        net.q_proj.weight @ state[0, 0] + net.k_proj.weight @ h + net.k_proj.bias
                    )
                    for h in memory[b]
                ]
            )
            row = scores.exp() / scores.exp().sum()
            torch.testing.assert_close(weights[b, i], row)
            context = row @ memory[b]
            read = torch.cat([model.embedding.weight[token], context])
            _, state = model.decoder(read[None, None], state)
            torch.testing.assert_close(
                logits[b, i], model.out_proj(torch.cat([state[0, 0], context]))
            )


@torch.no_grad()
def test_a_bidirectional_encoder_is_two_grus_of_half_the_size():
    torch.manual_seed(0)
    model = RecurrentEncoderDecoder(VOCAB, D_MODEL, bidirectional=True).double()
    source = torch.tensor([[4, 5, 6]])
    memory, last = model.encode(source)
    assert memory.shape == (1, 3, D_MODEL) and last.shape == (1, 1, D_MODEL)
    half = D_MODEL // 2
    torch.testing.assert_close(last[0, 0, :half], memory[0, -1, :half])
    torch.testing.assert_close(last[0, 0, half:], memory[0, 0, half:])


@torch.no_grad()
def test_tied_logits_are_products_with_the_embeddings():
    torch.manual_seed(0)
    model = RecurrentEncoderDecoder(VOCAB, D_MODEL, attention=None, tie_embeddings=True).double()
    assert model.out_proj.weight is model.embedding.weight
    source, target = torch.tensor([[4, 5, 6]]), torch.tensor([[2]])
    _, last = model.encode(source)
    _, state = model.decoder(model.embedding(target) * D_MODEL**0.5, last)
    read = torch.tanh(model.readout[0](state[0, 0]))
    logits = model(source, target)[0][0, 0]
    torch.testing.assert_close(logits, model.embedding.weight @ read)


@torch.no_grad()
@pytest.mark.parametrize("cached", [True, False])
def test_steps_have_the_logits_of_the_full_pass(kind, batch, cached):
    source, target = batch
    memory, last = kind.encode(source, LENGTHS)
    cache = RecurrentCache() if cached else None
    whole, _ = kind(source, target, LENGTHS)
    for n in range(1, target.shape[1] + 1):
        logits = kind.step(target[:, :n], cache, memory, last, LENGTHS)
        torch.testing.assert_close(logits, whole[:, n - 1])
    assert cache is None or cache.length == target.shape[1]


def test_beam_search_is_the_same_with_and_without_a_cache(kind, batch):
    source, _ = batch
    memory, last = kind.encode(source, LENGTHS)
    step = partial(kind.step, memory=memory, last=last, lengths=LENGTHS)
    prompt = torch.full((3, 1), 2)
    options = {"width": 3, "end_id": 3, "max_new_tokens": 6}
    cached = beam_search(step, prompt, cache=RecurrentCache(), **options)
    for one, other in zip(cached, beam_search(step, prompt, **options), strict=True):
        torch.testing.assert_close(one, other)


@torch.no_grad()
def test_padding_is_hidden_on_the_device_of_the_states(batch):
    """The lengths stay on the CPU, where PyTorch requires them; only the decoder is moved."""
    model = RecurrentEncoderDecoder(VOCAB, D_MODEL, attention="additive")
    source, target = batch
    memory, last = model.encode(source, LENGTHS)
    expected, _ = model(source, target, LENGTHS)
    with OtherDevice():
        there = model.to(DEVICE)
        found = there._decode(target.to(DEVICE), last.to(DEVICE), memory.to(DEVICE), LENGTHS)[0]
    torch.testing.assert_close(found.cpu(), expected)


@pytest.mark.parametrize("attention, name", [(True, "dot"), (False, None), ("dot", "dot")])
def test_attention_may_be_given_as_a_flag_or_a_name(attention, name):
    assert RecurrentEncoderDecoder(VOCAB, D_MODEL, attention=attention).attention == name


def test_tied_embeddings_have_small_initial_values():
    torch.manual_seed(0)
    model = RecurrentEncoderDecoder(1000, 64, tie_embeddings=True)
    assert model.embedding.weight.std().item() == pytest.approx(1 / 8, rel=0.02)


def test_additive_attention_by_hand():
    torch.manual_seed(0)
    attention, query = AdditiveAttention(D_MODEL), torch.randn(2, D_MODEL)
    memory, visible = torch.randn(2, 5, D_MODEL), torch.arange(5) < torch.tensor([[3], [5]])
    context, weights = attention(query, memory, attention.keys(memory), visible)
    w, u, bias, v = (p.detach() for p in attention.parameters())
    assert v.shape == (1, D_MODEL)
    for b, length in ((0, 3), (1, 5)):
        hidden = [torch.tanh(w @ query[b] + u @ memory[b, j] + bias) for j in range(length)]
        row = torch.stack([v[0] @ h for h in hidden]).softmax(0)
        torch.testing.assert_close(weights[b, :length], row)
        torch.testing.assert_close(context[b], row @ memory[b, :length])
    assert AdditiveAttention(1)(query[:, :1], memory[..., :1], memory[..., :1])[0].shape == (2, 1)


def test_a_batch_may_be_empty(kind, batch):
    source, target = (ids[:0] for ids in batch)
    for lengths in (None, LENGTHS[:0]):
        assert kind(source, target, lengths)[0].shape == (0, target.shape[1], VOCAB)
        memory, last = kind.encode(source, lengths)
        assert kind.step(target, RecurrentCache(), memory, last, lengths).shape == (0, VOCAB)


def test_steps_of_wrong_shape_are_refused_and_can_be_repeated(kind, batch):
    source, target = batch
    memory, last = kind.encode(source)
    cache = RecurrentCache()
    kind.step(target[:, :1], cache, memory, last)
    for ids, message in (
        (target[:, :1], "more than the 1 tokens read before, got 1"),
        (target[:2], "a multiple of 3 rows to match memory, got 2"),
        (target.repeat(2, 1), "3 rows, as the cache has, got 6"),
        (target[0], r"shape \(n_rows, length\), got .*"),
        (target + VOCAB, "values from 0 to .*"),
        ([[1]], "a tensor of int64 or int32, got list"),
    ):
        with pytest.raises(ValueError, match=f"^ids: expected {message}$"):
            kind.step(ids, cache, memory, last)
    found = kind.step(target[:, :2], cache, memory, last)
    torch.testing.assert_close(found, kind.step(target[:, :2], None, memory, last))


def test_dropout_is_applied_in_training_only(batch):
    torch.manual_seed(0)
    model = RecurrentEncoderDecoder(VOCAB, D_MODEL, dropout=0.5)
    source, target = batch
    assert not torch.equal(model(source, target)[0], model(source, target)[0])
    model.eval()
    assert torch.equal(model(source, target)[0], model(source, target)[0])


# bidirectional recurrent models


@pytest.fixture
def both_ways():
    torch.manual_seed(0)
    return BidirectionalRecurrent(VOCAB, D_MODEL).double()


@torch.no_grad()
def test_each_direction_is_a_gru_over_the_words_before_the_predicted_one(both_ways):
    model, ids = both_ways, torch.tensor([[2, 5, 6, 7, 8, 3]])
    found = model(ids, torch.tensor([6]))[0]
    assert len(found) == 4
    x = model.embedding(ids)
    for i in range(1, 5):
        _, before = model.forwards(x[:, :i])
        _, after = model.backwards(x[:, i + 1 :].flip(1))
        wanted = model.out_proj(torch.cat([before[0], after[0]], dim=-1))[0]
        torch.testing.assert_close(found[i - 1], wanted)


@torch.no_grad()
def test_padding_changes_nothing(both_ways):
    ids = torch.tensor([[2, 5, 6, 3, 0, 0], [2, 5, 3, 0, 0, 0], [2, 5, 6, 7, 8, 3]])
    padded = both_ways(ids, torch.tensor([4, 3, 6]))
    for row, length in ((0, 4), (1, 3)):
        alone = both_ways(ids[row : row + 1, :length], torch.tensor([length]))
        torch.testing.assert_close(padded[row, : length - 2], alone[0])


def test_texts_are_reversed_on_their_own_device():
    """The GRUs are PyTorch's; the reversal between them makes a tensor."""
    x, lengths = torch.arange(8.0).reshape(2, 4, 1), torch.tensor([4, 2])
    with OtherDevice():
        found = _reverse(x.to(DEVICE), lengths.to(DEVICE)).cpu()
    assert found[0, :, 0].tolist() == [3, 2, 1, 0] and found[1, :2, 0].tolist() == [5, 4]


def test_gradients_reach_both_directions(both_ways):
    ids, lengths = torch.tensor([[2, 5, 6, 7, 3], [2, 8, 3, 0, 0]]), torch.tensor([5, 3])
    assert_gradients_are_those_of_small_changes(both_ways, ids, lengths)


@pytest.mark.parametrize("model_class", [RecurrentEncoderDecoder, BidirectionalRecurrent])
def test_vectors_have_64_components_by_default(model_class):
    assert model_class(VOCAB).embedding.weight.shape == (VOCAB, 64)


# refusals


def reads(source, target=(3, 4), lengths=None, **options):
    """Run an encoder-decoder on ids, given as they are or by their shapes."""
    model = RecurrentEncoderDecoder(VOCAB, D_MODEL, **options)
    source, target = (
        torch.zeros(x).long() if isinstance(x, tuple) else x for x in (source, target)
    )
    return model(source, target, lengths)


def reads_both_ways(shape, lengths):
    model = BidirectionalRecurrent(VOCAB, D_MODEL)
    return model(torch.zeros(shape).long(), torch.tensor(lengths).long())


def compares(query, keys):
    return AdditiveAttention(6)(torch.ones(query), torch.ones(2, 5, 6), torch.ones(keys))


IDS = torch.zeros(3, 5).long()
LARGEST = f"values from 0 to {VOCAB - 1}, got"
FROM_3 = r"lengths: expected from 3 to seq_len = 5, got "
test_what_is_refused = refusals(
    (lambda: RecurrentEncoderDecoder(0), "vocab_size: expected at least 1, got 0$"),
    (lambda: RecurrentEncoderDecoder(VOCAB, 0), "d_model: expected at least 1, got 0$"),
    (
        lambda: RecurrentEncoderDecoder(VOCAB, attention="loud"),
        "attention: expected 'dot' or 'additive', got 'loud'$",
    ),
    (lambda: RecurrentEncoderDecoder(VOCAB, dropout=1.5), r"dropout: .* got 1\.5$"),
    (
        lambda: RecurrentEncoderDecoder(VOCAB, 5, bidirectional=True),
        "d_model: expected a multiple of the number of directions = 2, got 5$",
    ),
    (
        lambda: RecurrentEncoderDecoder(VOCAB, attention=False)(IDS, IDS, need_weights=True),
        "need_weights: expected False without attention, got True$",
    ),
    (lambda: reads((5,)), r"source: expected shape \(batch_size, src_len\), got \(5,\)$"),
    (lambda: reads((3, 0)), r"source: expected shape \(batch_size, src_len\), got \(3, 0\)$"),
    (lambda: reads((3, 5), (2, 4)), r"target: expected shape \(3, tgt_len\), got \(2, 4\)$"),
    (lambda: reads((3, 5), (3,)), r"target: expected shape \(3, tgt_len\), got \(3,\)$"),
    (lambda: reads((3, 5), (3, 0)), r"target: expected shape \(3, tgt_len\), got \(3, 0\)$"),
    (lambda: reads(IDS - 1), f"source: expected {LARGEST} -1$"),
    (lambda: reads(IDS, IDS + VOCAB), f"target: expected {LARGEST} {VOCAB}$"),
    *(
        (
            lambda lengths=lengths: reads(IDS, lengths=torch.tensor(lengths)),
            rf"lengths: expected from 1 to src_len = 5, got {re.escape(str(lengths))}$",
        )
        for lengths in ([0, 5, 3], [2, 6, 3])
    ),
    (lambda: reads(IDS, lengths=LENGTHS[:2]), r"lengths: expected shape \(3,\), got \(2,\)$"),
    (lambda: reads(IDS, lengths=[2, 5, 3]), "lengths: expected a tensor of int64, got list$"),
    (
        lambda: reads(IDS, lengths=LENGTHS.float()),
        "lengths: expected a tensor of int64, got torch.float32$",
    ),
    (
        lambda: RecurrentEncoderDecoder(VOCAB).encode(IDS[:, :0]),
        r"source: expected shape \(batch_size, src_len\), got \(3, 0\)$",
    ),
    (
        lambda: RecurrentEncoderDecoder(VOCAB).encode(IDS, [2]),
        "lengths: expected a tensor of int64, got list$",
    ),
    (lambda: AdditiveAttention(0), "d_model: expected at least 1, got 0$"),
    (lambda: compares((3, 6), (2, 5, 6)), r"query: expected shape \(2, 6\) to match memory, got"),
    (lambda: compares((2, 6), (2, 4, 6)), r"keys: expected shape \(2, 5, 6\) to match memory, got"),
    (lambda: BidirectionalRecurrent(0), "vocab_size: expected at least 1, got 0$"),
    (lambda: BidirectionalRecurrent(VOCAB, 0), "d_model: expected at least 1, got 0$"),
    (
        lambda: BidirectionalRecurrent(VOCAB)(torch.tensor([[2, VOCAB, 3]]), torch.tensor([3])),
        f"ids: expected {LARGEST} 11$",
    ),
    (
        lambda: reads_both_ways((5,), [5]),
        r"ids: expected shape \(batch_size, seq_len\), got \(5,\)$",
    ),
    (lambda: reads_both_ways((2, 5), [5]), r"lengths: expected shape \(2,\), got \(1,\)$"),
    (lambda: reads_both_ways((0, 5), []), FROM_3 + r"\[\]$"),
    (lambda: reads_both_ways((2, 5), [2, 5]), FROM_3 + r"\[2, 5\]$"),
    (lambda: reads_both_ways((2, 5), [3, 6]), FROM_3 + r"\[3, 6\]$"),
)
