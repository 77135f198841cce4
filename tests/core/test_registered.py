"""A position scheme and two attentions that only this file defines, registered by name."""

import math
from functools import partial
from unittest.mock import patch

import pytest
import torch
from torch import nn
from torch.nn import functional as F

from attn import attention, positions
from attn.attention import MultiHeadAttention, ScaledDotProduct
from attn.decoding import greedy
from attn.masks import causal_mask, combine_masks, padding_mask, window_mask
from attn.positions import RelativePositions
from attn.transformer import DecoderOnly, EncoderOnly, Transformer, TransformerConfig
from tests.core.helpers import random_ids

SIZES = {"vocab_size": 20, "d_model": 16, "n_heads": 4, "n_layers": 2, "d_ff": 32, "dropout": 0.0}
N_DISTANCES = 4


class LearnedBias(RelativePositions):
    """A learned number for each head and distance, as in T5; far distances share the last one."""

    def __init__(self, n_heads):
        super().__init__()
        self.weight = nn.Parameter(torch.randn(N_DISTANCES, n_heads))

    @classmethod
    def from_config(cls, config):
        return cls(config.n_heads)

    def bias(self, query_positions, key_positions, dtype):
        distances = (query_positions[..., :, None] - key_positions[..., None, :]).abs()
        return self.weight[distances.clamp(max=N_DISTANCES - 1)].movedim(-1, -3)


class Window(ScaledDotProduct):
    """Each token sees itself and preceding tokens, `n_heads - 1` in all."""

    def __init__(self, width):
        super().__init__()
        self.width = width

    @classmethod
    def from_config(cls, config):
        return cls(config.n_heads - 1)

    def forward(self, query, key, value, mask=None, **options):
        near = window_mask(query.shape[-2], self.width, key.shape[-2], device=query.device)
        return super().forward(query, key, value, combine_masks(mask, near), **options)


class Sigmoid(ScaledDotProduct):
    """Each weight is the sigmoid of its score, so keys do not compete."""

    def forward(
        self, query, key, value, mask=None, *, bias, is_causal, need_weights, dropout, enable_gqa
    ):
        assert not enable_gqa
        if is_causal:
            causal = causal_mask(query.shape[-2], key.shape[-2], device=query.device)
            mask = combine_masks(mask, causal)
        scores = query @ key.mT / math.sqrt(query.shape[-1])
        weights = (scores if bias is None else scores + bias).sigmoid()
        weights = weights if mask is None else weights.masked_fill(~mask, 0.0)
        return F.dropout(weights, dropout) @ value, weights if need_weights else None


@pytest.fixture(autouse=True)
def known():
    """Register the classes during a test."""
    with patch.dict(positions.SCHEMES), patch.dict(attention.VARIANTS):
        positions.register("learned_bias")(LearnedBias)
        attention.register("window")(Window)
        attention.register("sigmoid")(Sigmoid)
        yield


def make(model_class, **changes):
    torch.manual_seed(0)
    return model_class(TransformerConfig(**SIZES | changes)).double()


CHOICES = pytest.mark.parametrize(
    "changes",
    [{"positions": "learned_bias"}, {"attention": "window", "n_kv_heads": 2}]
    + [{"positions": "learned_bias", "attention": "sigmoid"}],
    ids=["learned bias", "window", "both"],
)


@CHOICES
@pytest.mark.parametrize("model_class", [DecoderOnly, Transformer])
def test_a_model_with_registered_parts_trains_decodes_and_is_saved(model_class, changes, tmp_path):
    model, ids = make(model_class, **changes), random_ids(3, 6)
    inputs = (ids, ids) if model_class is Transformer else (ids,)
    losses = []
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
    for _ in range(4):
        logits, _ = model(*inputs)
        losses.append(F.cross_entropy(logits[:, :-1].flatten(0, 1), ids[:, 1:].flatten()))
        optimizer.zero_grad()
        losses[-1].backward()
        assert all(parameter.grad.abs().max() > 0 for parameter in model.parameters())
        optimizer.step()
    assert losses[-1] < losses[0] - 0.05

    model.eval().save(tmp_path / "model")
    again = model_class.load(tmp_path / "model")
    assert again.config == model.config
    assert torch.equal(again(*inputs)[0], model(*inputs)[0])

    step, limits = model.step, {"end_id": None, "max_new_tokens": 5}
    if model_class is Transformer:
        step = partial(step, memory=model.encode(ids)[0])
    cached = greedy(step, ids[:, :2], cache=model.new_cache(), **limits)
    assert torch.equal(cached, greedy(step, ids[:, :2], **limits))


@CHOICES
def test_prompts_of_unequal_length_continue_in_one_batch(changes):
    model, ids = make(DecoderOnly, **changes).eval(), random_ids(2, 6)
    cache, mask = model.new_cache(), padding_mask([4, 2], 4).flip(-1)
    for length in (4, 5, 6):
        together = model.step(ids[:, :length], cache, mask)
        for i, first in enumerate((0, 2)):
            alone = model.step(ids[i : i + 1, first:length], None)
            torch.testing.assert_close(together[i : i + 1], alone, rtol=1e-10, atol=1e-10)


def test_an_attention_with_learned_numbers_is_saved(tmp_path):
    """A rounded matrix has a scale in the file; a single number has no axis to round."""

    class Tempered(ScaledDotProduct):
        def __init__(self):
            super().__init__()
            self.scale = nn.Parameter(torch.tensor([1.5]))
            self.shift = nn.Parameter(torch.tensor(0.25))

        def forward(self, query, *rest, **options):
            return super().forward(query * self.scale + self.shift, *rest, **options)

    attention.register("tempered")(Tempered)
    model, ids = make(DecoderOnly, attention="tempered").eval(), random_ids(2, 5)
    for quantised, tolerance in ((False, 1e-12), (True, 0.1)):
        model.save(tmp_path / "model", quantised=quantised)
        again = DecoderOnly.load(tmp_path / "model")
        assert torch.equal(
            again.state_dict()["stack.layers.0.self_attention.attention.shift"],
            torch.tensor(0.25, dtype=again.output.weight.dtype),
        )
        difference = again(ids)[0].double() - model(ids)[0]
        assert difference.abs().max() <= tolerance * model(ids)[0].abs().max()


def test_layers_share_a_scheme_and_have_an_attention_each():
    model = make(Transformer, positions="learned_bias", attention="window")
    for stack in (model.encoder, model.decoder):
        own = [layer.self_attention for layer in stack.layers]
        assert len({each.relative for each in own}) == 1 and len({*map(id, own)}) == 2
        assert all(type(each.attention) is Window for each in own)
    assert all(type(x.cross_attention.attention) is ScaledDotProduct for x in model.decoder.layers)
    assert model.encoder.layers[0].self_attention.relative.weight.shape == (N_DISTANCES, 4)


def test_a_window_hides_far_tokens():
    _, weights = make(EncoderOnly, attention="window")(random_ids(1, 5), need_weights=True)
    for one in weights:
        assert torch.equal(one > 0, window_mask(5, 3).expand(1, 4, 5, 5))


def test_attention_dropout_is_applied_in_every_attention():
    model = make(Transformer, attention_dropout=0.25)
    dropped = [m.dropout for m in model.modules() if isinstance(m, MultiHeadAttention)]
    assert dropped == [0.25] * 6
    inputs = random_ids(2, 5), random_ids(2, 4)
    before = model.eval()(*inputs)[0]
    assert not torch.allclose(model.train()(*inputs)[0], before)
    assert torch.equal(model.eval()(*inputs)[0], before)


def test_a_checkpoint_with_an_unknown_name_is_refused(tmp_path):
    model = make(EncoderOnly, attention="window")
    model.save(tmp_path / "model")
    del attention.VARIANTS["window"]
    message = (
        "whose parts do not fit: attention: expected 'scaled_dot_product' or 'sigmoid', got 'w"
    )
    with pytest.raises(ValueError, match=message):
        EncoderOnly.load(tmp_path / "model")


@pytest.mark.parametrize("register", [positions.register, attention.register])
def test_a_name_belongs_to_one_class(register):
    base = RelativePositions if register == positions.register else ScaledDotProduct
    first = type("First", (base,), {})
    assert register("mine")(first) is first
    # A class of the same name that is defined again replaces the earlier one.
    register("mine")(type("First", (base,), {}))
    elsewhere = type("First", (base,), {"__module__": "elsewhere"})
    for name, other in (("mine", type("Second", (base,), {})), ("mine", elsewhere), (3, first)):
        with pytest.raises(ValueError, match=f"^name: expected a string .*, got {name!r}$"):
            register(name)(other)
    with pytest.raises(ValueError, match=f"^class: expected one .*{base.__name__}, got Linear$"):
        register("other")(nn.Linear)


def test_a_position_scheme_must_be_absolute_or_relative():
    nowhere = type("Nowhere", (positions.PositionScheme,), {})
    message = (
        "^class: expected one derived from AbsolutePositions or RelativePositions, got Nowhere$"
    )
    with pytest.raises(ValueError, match=message):
        positions.register("nowhere")(nowhere)
