"""`attn.checks`: when off, no value is read, and shapes are still checked."""

from concurrent.futures import ThreadPoolExecutor
from threading import Barrier

import pytest
import torch
from torch.utils._python_dispatch import TorchDispatchMode

import attn
from attn._checks import argument_error, switch
from attn.attention import scaled_dot_product_attention
from attn.decoding import _next_logits
from attn.masks import padding_mask
from attn.training import TrainingConfig, cross_entropy, train
from attn.transformer import DecoderOnly, EncoderOnly, Transformer, TransformerConfig


class NoReading(TorchDispatchMode):
    """Refuse to read a number of a tensor, for which a program would have to wait for a GPU."""

    def __torch_dispatch__(self, function, types, args=(), kwargs=None):
        if function is torch.ops.aten._local_scalar_dense.default:
            raise TypeError("a value is read")
        return function(*args, **(kwargs or {}))


@pytest.mark.parametrize("positions", ["sinusoidal", "learned", "rotary", "alibi"])
@pytest.mark.parametrize("model_class", [Transformer, EncoderOnly, DecoderOnly])
def test_without_checks_no_value_is_read_on_a_gpu(model_class, positions, monkeypatch):
    monkeypatch.setattr(torch.Tensor, "is_cpu", property(lambda tensor: False))
    config = TransformerConfig(9, d_model=8, n_heads=2, n_layers=2, d_ff=16, positions=positions)
    model, ids = model_class(config), torch.randint(9, (2, 5))
    mask, lengths = padding_mask([5, 3], 5), torch.tensor([5, 3])
    inputs = (ids, ids) if model_class is Transformer else (ids,)

    def run():
        for need_weights in (False, True):
            model(*inputs, mask, need_weights=need_weights)
        padding_mask(lengths, 5)
        if model_class is not EncoderOnly:
            cache, options = model.new_cache(), {}
            if model_class is Transformer:
                options["memory"] = model.encode(ids)[0]
            name = "tgt_mask" if model_class is Transformer else "mask"
            options[name] = mask.flip(-1)
            with torch.no_grad():
                for length in (5, 6):
                    step_ids = torch.cat((ids, ids), dim=1)[:, :length]
                    model.step(step_ids, cache, **options)

    with attn.checks(False), NoReading():
        run()
    with NoReading(), pytest.raises(TypeError, match="a value is read"):
        run()


def test_without_checks_loss_and_decoding_steps_read_no_value_on_a_gpu(monkeypatch):
    monkeypatch.setattr(torch.Tensor, "is_cpu", property(lambda tensor: False))
    logits, target = torch.randn(2, 5), torch.tensor([1, 4])
    calls = [
        lambda: cross_entropy(logits, target, label_smoothing=0.1, pad_id=0),
        lambda: _next_logits(lambda *_: logits, target[:, None], None, target > 1, [3], 0),
    ]
    for call in calls:
        with attn.checks(False), NoReading():
            call()
        with NoReading(), pytest.raises(TypeError, match="a value is read"):
            call()


def test_on_the_cpu_training_checks_its_targets_all_the_same():
    with attn.checks(False), pytest.raises(ValueError, match="^target: .* from 0 to 4, got 5$"):
        cross_entropy(torch.randn(2, 5), torch.tensor([1, 5]))


def test_each_thread_has_a_switch_of_its_own():
    inside, outside = Barrier(2), Barrier(2)

    def look():
        with attn.checks(False):
            # Both blocks are entered before either is left.
            inside.wait(timeout=60)
            seen = switch.on
            outside.wait(timeout=60)
        return seen, switch.on

    with ThreadPoolExecutor(2) as pool:
        found = [future.result() for future in [pool.submit(look) for _ in range(2)]]
    assert found == [(False, True)] * 2 and switch.on


def test_without_checks_shapes_are_still_checked():
    x, nan = torch.ones(2, 3), torch.full((2, 3), torch.nan)
    with attn.checks(False):
        assert scaled_dot_product_attention(x, x, nan)[0].isnan().all()
        assert padding_mask([7], 3).all()
        output, weights = scaled_dot_product_attention(
            x, x, x, torch.zeros(2, 2).bool(), need_weights=True
        )
        assert not output.any() and not weights.any()
        with pytest.raises(ValueError, match="^key: expected shape"):
            scaled_dot_product_attention(x, x[:, :2], x)


def test_checks_work_as_a_call_and_as_a_context():
    nan = torch.full((2, 3), torch.nan)

    def is_checked():
        try:
            scaled_dot_product_attention(nan, nan, nan)
        except ValueError:
            return True
        return False

    assert is_checked()
    with attn.checks(False):
        assert not is_checked()
        with attn.checks(True):
            assert is_checked()
        assert not is_checked()
    assert is_checked()
    with pytest.raises(KeyError), attn.checks(False):
        raise KeyError
    assert is_checked()
    try:
        attn.checks(False)
        assert not is_checked()
    finally:
        attn.checks(True)
    assert is_checked()
    off = attn.checks(False)
    attn.checks(True)
    with off:
        assert not is_checked()
    assert is_checked()
    with pytest.raises(ValueError, match="^on: expected True or False, got 'no'$"):
        attn.checks("no")


def test_checks_are_off_during_training():
    seen = []

    class Line(torch.nn.Linear):
        def forward(self, x):
            seen.append(switch.on)
            return super().forward(x)

    def loss(model, batch):
        return model(batch[0][:, None]).square().sum(), len(batch[0])

    config = TrainingConfig(steps=2, batch_size=1, learning_rate=0.1)
    train(Line(1, 1), loss, [1.0, 2.0], lambda numbers: (torch.tensor(numbers),), config)
    assert seen == [False, False] and switch.on


def test_errors_quote_a_long_text_shortened():
    message = str(argument_error("text", "words", "x" * 10**6))
    assert message.startswith("text: expected words, got xxx") and len(message) < 400
