"""Rows of unequal length in one batch: padded prompts that continue, and packed texts."""

from functools import partial

import pytest
import torch

import attn
from attn.decoding import beam_search, greedy
from attn.masks import padding_mask
from attn.transformer import DecoderOnly, EncoderOnly, Transformer, TransformerConfig
from attn.transformer.stacks import new_tokens
from tests.core.helpers import all_positions, assert_close, random_ids
from tests.core.other_device import DEVICE, OtherDevice

LENGTHS = (4, 1, 3)
SIZES = {"vocab_size": 20, "d_model": 16, "n_heads": 4, "n_layers": 2, "d_ff": 32, "dropout": 0.0}


def make(model_class, positions, **changes):
    torch.manual_seed(0)
    config = TransformerConfig(**SIZES | changes, positions=positions, max_len=12, n_kv_heads=2)
    model = model_class(config).double().eval()
    for parameter in model.parameters():
        torch.nn.init.normal_(parameter, std=0.4)
    return model


def prompts_and_mask():
    """Three prompts, padded on the left with a token that would change outputs if visible."""
    ids, mask = random_ids(3, 4), padding_mask(LENGTHS, 4).flip(-1)
    return ids.where(mask[:, 0], 19), mask


@all_positions
@pytest.mark.parametrize("with_cache", [False, True])
@pytest.mark.parametrize("model_class", [DecoderOnly, Transformer])
def test_prompts_of_unequal_length_continue_in_a_batch_as_alone(model_class, with_cache, positions):
    model, (prompts, mask) = make(model_class, positions), prompts_and_mask()
    written = torch.cat((prompts, random_ids(3, 4, seed=1)), dim=1)
    options, rows = {}, [{}] * 3
    name = "mask"
    if model_class is Transformer:
        memory, name = model.encode(random_ids(3, 5, seed=2))[0], "tgt_mask"
        options, rows = {"memory": memory}, [{"memory": memory[i : i + 1]} for i in range(3)]
    cache = model.new_cache() if with_cache else None
    for length in (4, 5, 7, 8):
        together = model.step(written[:, :length], cache, **options, **{name: mask})
        for i, n_real in enumerate(LENGTHS):
            alone = model.step(written[i : i + 1, 4 - n_real : length], None, **rows[i])
            assert_close(together[i : i + 1], alone)


@all_positions
def test_positions_of_prompts_can_be_given(positions):
    """New tokens follow the last position; positions counted from the mask are the same."""
    model, (prompts, mask) = make(DecoderOnly, positions), prompts_and_mask()
    places = torch.tensor([[0, 1, 2, 3], [0, 0, 0, 0], [0, 0, 1, 2]])
    ids = torch.cat((prompts, random_ids(3, 2, seed=1)), dim=1)
    expected = model.step(ids, None, mask)
    assert_close(model.step(ids, None, mask, places), expected)
    if positions in ("sinusoidal", "learned"):
        assert (model.step(ids, None, mask, places + 3) - expected).abs().max() > 1e-3
    cache = model.new_cache()
    model(prompts, mask, positions=places, cache=cache)
    # Without positions, a forward pass with a cache continues behind the cached ones.
    seen = torch.cat((mask, mask.new_ones(3, 1, 2)), dim=-1)
    assert_close(model(ids[:, 4:], seen, cache=cache)[0][:, -1], expected)


@pytest.mark.parametrize("positions", ["sinusoidal", "learned"])
def test_positions_of_a_target_can_be_given(positions):
    model, (prompts, mask) = make(Transformer, positions), prompts_and_mask()
    memory, _ = model.encode(random_ids(3, 5, seed=2))
    step = partial(model.step, prompts, None, memory, tgt_mask=mask)
    places = torch.tensor([[0, 1, 2, 3], [0, 0, 0, 0], [0, 0, 1, 2]])
    assert_close(step(tgt_positions=places), step())
    assert (step(tgt_positions=places + 3) - step()).abs().max() > 1e-3


def test_rows_of_one_prompt_share_its_mask_and_positions():
    model, ids = make(DecoderOnly, "rotary"), random_ids(2, 5)
    ids[:, :3] = ids[0, :3]
    mask, places = torch.tensor([[[False, True, True]]]), torch.tensor([[0, 0, 2]])
    alone = [model.step(row[None], None, mask, places) for row in ids]
    assert_close(model.step(ids, None, mask, places), torch.cat(alone))
    # Compared with the prompt without its hidden token.
    shown = [model(row[None, 1:], positions=torch.tensor([0, 2, 3, 4]))[0][:, -1] for row in ids]
    assert_close(torch.cat(alone), torch.cat(shown))


def test_searches_continue_prompts_of_unequal_length():
    model, (prompts, mask) = make(DecoderOnly, "rotary"), prompts_and_mask()
    limits = {"end_id": None, "max_new_tokens": 4}
    step = partial(model.step, mask=mask)
    together = greedy(step, prompts, cache=model.new_cache(), **limits)
    beams, scores = beam_search(step, prompts, width=3, cache=model.new_cache(), **limits)
    for i, n_real in enumerate(LENGTHS):
        prompt = prompts[i : i + 1, 4 - n_real :]
        assert torch.equal(
            together[i : i + 1, 4:], greedy(model.step, prompt, **limits)[:, n_real:]
        )
        alone, score = beam_search(model.step, prompt, width=3, **limits)
        assert torch.equal(beams[i : i + 1, ..., 4:], alone[..., n_real:])
        assert_close(scores[i : i + 1], score)


@all_positions
@pytest.mark.parametrize("model_class", [DecoderOnly, EncoderOnly, Transformer])
def test_packed_texts_do_not_attend_to_each_other(model_class, positions):
    model, ids = make(model_class, positions), random_ids(2, 7)
    text = torch.tensor([0, 0, 0, 0, 1, 1, 1])
    mask = text[:, None] == text
    places = torch.tensor([0, 1, 2, 3, 0, 1, 2])
    if model_class is Transformer:
        src = random_ids(2, 7, seed=1)
        packed = model.decode(
            ids, model.encode(src, mask, src_positions=places)[0], mask, mask, tgt_positions=places
        )[0]
        whole = model(src, ids, mask, mask, src_positions=places, tgt_positions=places)[0]
        alone = [model(src[:, part], ids[:, part])[0] for part in (text == 0, text == 1)]
        assert_close(whole, packed)
    else:
        packed = model(ids, mask, positions=places)[0]
        alone = [model(ids[:, part])[0] for part in (text == 0, text == 1)]
    assert_close(packed, torch.cat(alone, dim=1))


@pytest.mark.parametrize("positions", ["rotary", "alibi"])
@pytest.mark.parametrize(
    "model_class, name",
    [
        (DecoderOnly, "positions"),
        (EncoderOnly, "positions"),
        (Transformer, "src_positions"),
        (Transformer, "tgt_positions"),
    ],
)
def test_relative_positions_are_differences_of_the_given_positions(model_class, name, positions):
    """Shifting all positions changes nothing, but doubling the distances does."""
    model, places = make(model_class, positions), torch.arange(7)
    ids = [random_ids(2, 7, seed=i) for i in range(2 if model_class is Transformer else 1)]
    expected = model(*ids)[0]
    assert_close(model(*ids, **{name: places + 3})[0], expected)
    assert (model(*ids, **{name: 2 * places})[0] - expected).abs().max() > 1e-3


@all_positions
@pytest.mark.parametrize("model_class", [DecoderOnly, Transformer])
@pytest.mark.parametrize("masked", [False, True])
def test_a_batch_may_be_empty(model_class, positions, masked):
    model, ids = make(model_class, positions), random_ids(0, 3)
    options = {"memory": model.encode(random_ids(0, 5))[0]} if model_class is Transformer else {}
    name = "tgt_mask" if model_class is Transformer else "mask"
    options |= {name: torch.ones(0, 1, 2, dtype=torch.bool)} if masked else {}
    cache = model.new_cache()
    for length in (2, 3):
        assert model.step(ids[:, :length], cache, **options).shape == (0, 20)


SHARE, ONES = "expected prompts that share 2 rows evenly, got", torch.ones(3, 1, 5).bool()


@pytest.mark.parametrize(
    "given, message",
    [
        ({"mask": torch.ones(2, 3)}, "mask: expected a boolean array (True = may attend), got "),
        ({"mask": ONES[:2, 0]}, "mask: expected shape (n_prompts, 1, prompt_len), got "),
        ({"mask": ONES[..., :3]}, f"mask: {SHARE} 3"),
        ({"mask": ONES[:0, :, :3]}, f"mask: {SHARE} 0"),
        ({"mask": ONES[:2]}, "mask: expected prompts of at most 4 tokens, as ids, got 5"),
        (
            {"mask": torch.tensor([[[True, False]]])},
            "mask: expected prompts padded on the left, True at the end, got False there",
        ),
        (
            {"positions": torch.arange(3)},
            "positions: expected shape (n_prompts, prompt_len), got (3,)",
        ),
        ({"positions": torch.zeros(3, 2).long()}, f"positions: {SHARE} 3"),
        ({"positions": torch.ones(1, 3)}, "positions: expected integers, got dtype torch.float32"),
        (
            {"positions": torch.tensor([[0, 11]])},
            "positions: expected positions below n_positions = 12, all that were learned, got 13",
        ),
        ({"positions": torch.tensor([[-5, -4]])}, "positions: expected at least 0, got -5"),
    ],
)
def test_masks_and_positions_of_wrong_shape_are_refused(given, message):
    with pytest.raises(ValueError) as error:
        make(DecoderOnly, "learned").step(random_ids(2, 4), None, **given)
    assert str(error.value).startswith(message)


def test_masks_of_new_tokens_are_the_same_without_checks_and_on_another_device():
    ids, mask = prompts_and_mask()
    written = torch.cat((ids, random_ids(3, 2, seed=1)), dim=1)
    wanted = new_tokens(written, None, mask)
    with attn.checks(False):
        there = new_tokens(written, None, mask)
    with OtherDevice():
        moved = new_tokens(written.to(DEVICE), None, mask.to(DEVICE))
        back = [each.to("cpu") for each in moved]
    for actual in (there, back):
        for one, other in zip(actual, wanted, strict=True):
            assert torch.equal(one, other)
