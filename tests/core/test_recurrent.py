"""attn.recurrent: by hand, one step at a time; who sees what; what is refused."""

import pytest
import torch
from torch.func import functional_call

from attn.recurrent import BidirectionalRecurrent, RecurrentEncoderDecoder

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
    """Of all that leads from the parameters to the logits, nothing may be cut off."""
    names, parameters = zip(*model.named_parameters(), strict=True)

    def logits(*values):
        output = functional_call(model, dict(zip(names, values, strict=True)), inputs)
        return output[0] if isinstance(output, tuple) else output

    assert torch.autograd.gradcheck(logits, parameters, fast_mode=True)


def test_gradients_reach_every_parameter_by_every_path(model, batch):
    assert_gradients_are_those_of_small_changes(model, *batch)


def test_gradients_reach_both_directions():
    torch.manual_seed(0)
    model = BidirectionalRecurrent(VOCAB, D_MODEL).double()
    ids, lengths = torch.tensor([[2, 5, 6, 7, 3], [2, 8, 3, 0, 0]]), torch.tensor([5, 3])
    assert_gradients_are_those_of_small_changes(model, ids, lengths)


def test_a_row_depends_on_the_target_so_far_and_on_nothing_later(model, batch):
    source, target = batch
    other = target.clone()
    other[:, 2:] = (other[:, 2:] + 1) % VOCAB
    with torch.no_grad():
        before, after = model(source, target)[0], model(source, other)[0]
    torch.testing.assert_close(after[:, :2], before[:, :2])
    assert (after[:, 2:] - before[:, 2:]).abs().amax(dim=(1, 2)).min() > 1e-6


def test_without_attention_the_last_state_is_all_there_is(batch):
    _, target = batch
    for attention in (True, False):
        torch.manual_seed(0)
        model = RecurrentEncoderDecoder(VOCAB, D_MODEL, attention=attention).double()
        memory = torch.randn(3, 5, D_MODEL).double()
        last = torch.randn(1, 3, D_MODEL).double()

        def logits(states, model=model, last=last):
            model.encoder.forward = lambda x: (states, last)
            with torch.no_grad():
                return model(source_of(states), target)[0]

        def source_of(states):
            return torch.zeros(states.shape[:2], dtype=torch.long)

        changed = logits(memory) - logits(memory + 1)
        assert bool(changed.abs().max() > 1e-6) is attention


def test_weights_are_given_only_when_asked_for(batch):
    source, target = batch
    model = RecurrentEncoderDecoder(VOCAB, D_MODEL)
    assert model(source, target)[1] is None
    weights = model(source, target, need_weights=True)[1]
    assert weights.shape == (3, 4, 5)
    torch.testing.assert_close(weights.sum(-1), torch.ones(3, 4))


@pytest.mark.parametrize(
    "source, target, message",
    [
        ((5,), (3, 4), r"source: expected shape \(batch_size, src_len\), got \(5,\)"),
        ((3, 0), (3, 4), r"source: expected shape \(batch_size, src_len\), got \(3, 0\)"),
        ((3, 5), (2, 4), r"target: expected shape \(3, tgt_len\), got \(2, 4\)"),
        ((3, 5), (3,), r"target: expected shape \(3, tgt_len\), got \(3,\)"),
        ((3, 5), (3, 0), r"target: expected shape \(3, tgt_len\), got \(3, 0\)"),
    ],
)
def test_shapes_that_do_not_fit_are_refused(source, target, message):
    model = RecurrentEncoderDecoder(VOCAB, D_MODEL)
    with pytest.raises(ValueError, match=f"^{message}$"):
        model(torch.zeros(source, dtype=torch.long), torch.zeros(target, dtype=torch.long))


def test_other_arguments_are_refused(batch):
    with pytest.raises(ValueError, match=r"^vocab_size: expected at least 1, got 0$"):
        RecurrentEncoderDecoder(0)
    with pytest.raises(ValueError, match=r"^d_model: expected at least 1, got 0$"):
        RecurrentEncoderDecoder(VOCAB, 0)
    model = RecurrentEncoderDecoder(VOCAB, D_MODEL, attention=False)
    with pytest.raises(ValueError, match=r"^need_weights: expected False without attention"):
        model(*batch, need_weights=True)
