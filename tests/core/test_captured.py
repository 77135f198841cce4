"""A cache of fixed room equals one that grows, and one graph serves all its steps."""

import copy

import pytest
import torch

from attn.cache import FixedCache
from attn.decoding import beam_search, greedy
from attn.transformer import Captured, DecoderOnly, TransformerConfig
from tests.core.helpers import (
    all_positions,
    assert_close,
    check_one_graph_serves_every_step,
    random_ids,
)

SIZES = {"vocab_size": 20, "d_model": 16, "n_heads": 4, "n_layers": 2, "d_ff": 32, "max_len": 14}


def make(positions="rotary", **changes):
    torch.manual_seed(0)
    config = TransformerConfig(**SIZES | {"n_kv_heads": 2} | changes, positions=positions)
    model = DecoderOnly(config).double().eval()
    for parameter in model.parameters():
        torch.nn.init.normal_(parameter, std=0.4)
    return model


@all_positions
@pytest.mark.parametrize("n_kv_heads", [4, 1])
def test_a_fixed_cache_equals_the_parallel_run(positions, n_kv_heads):
    model, ids = make(positions, n_kv_heads=n_kv_heads), random_ids(2, 14)
    full, weights = model(ids, need_weights=True)
    cache, start = model.new_cache(room=14, n_rows=2), 0
    places = set()
    for n_new in (3, 1, 0, 2, 1, 7):
        stop = start + n_new
        logits, own = model(ids[:, start:stop], need_weights=True, cache=cache)
        assert_close(logits, full[:, start:stop])
        assert_close(own[1][..., :stop], weights[1][..., start:stop, :stop])
        assert not own[1][..., stop:].any()
        places |= {part.key.data_ptr() for part in cache.self_attention}
        start = stop
    assert cache.length == 14 and len(places) == 2
    cache.truncate(5)
    assert_close(model(ids[:, 5:9], cache=cache)[0], full[:, 5:9])


@torch.no_grad()
def test_searches_with_a_captured_step_equal_those_without():
    model, prompt = make(), random_ids(3, 4)
    step, limits = Captured(model), {"end_id": 7, "max_new_tokens": 8}
    cache = model.new_cache(room=12, n_rows=3)
    assert torch.equal(
        greedy(step, prompt, cache=cache, **limits), greedy(model.step, prompt, **limits)
    )
    fixed = model.new_cache(room=12, n_rows=6)
    found = beam_search(step, prompt, width=2, cache=fixed, **limits)
    expected = beam_search(model.step, prompt, width=2, cache=model.new_cache(), **limits)
    assert torch.equal(found[0], expected[0])
    assert_close(found[1], expected[1])


def test_a_fixed_cache_works_after_a_failed_step_and_as_a_copy():
    model, ids = make(), random_ids(2, 6)
    full, _ = model(ids)
    cache = model.new_cache(room=6, n_rows=2)
    with torch.inference_mode():
        model(ids[:, :3], cache=cache)
    model.output.forward, usual = lambda x: 1 / 0, model.output.forward
    with pytest.raises(ZeroDivisionError):
        model(ids[:, 3:4], cache=cache)
    model.output.forward = usual
    # The vector of the last token is NaN in the second failure, and must not stay in its slot.
    vectors = model.embedding.tokens.weight.data
    before = vectors.clone()
    vectors[ids[0, 5]] = torch.nan
    with pytest.raises(ValueError, match="finite"):
        model(ids[:, 3:6], cache=cache)
    vectors.copy_(before)
    other = copy.deepcopy(cache)
    assert_close(model(ids[:, 3:5], cache=cache)[0], full[:, 3:5])
    assert other.length == 3
    assert_close(model(ids[:, 3:], cache=other)[0], full[:, 3:])


@pytest.mark.slow
@all_positions
@torch.no_grad()
def test_one_graph_serves_every_step(positions):
    check_one_graph_serves_every_step(make(positions), random_ids(2, 14))


def test_arguments_that_a_fixed_cache_does_not_support_are_refused():
    model, ids = make(), random_ids(2, 6)
    cache = model.new_cache(room=5, n_rows=2)
    with pytest.raises(
        ValueError, match="^ids: expected at most the 5 tokens that the cache has room"
    ):
        model(ids, cache=cache)
    fixed = "None, since the room of the cache is fixed, got a tensor$"
    with pytest.raises(ValueError, match=f"^mask: expected {fixed}"):
        model(ids[:, :2], torch.ones(2, 1, 2).bool(), cache=cache)
    with pytest.raises(ValueError, match=f"^positions: expected {fixed}"):
        model(ids[:, :2], positions=torch.arange(2), cache=cache)
    cache.place(cache.slots(2))
    with pytest.raises(ValueError, match=f"^mask: expected {fixed}"):
        attention = model.stack.layers[0].self_attention
        attention(
            torch.ones(2, 2, 16).double(),
            mask=torch.ones(2, 2).bool(),
            cache=cache.self_attention[0],
        )
    with pytest.raises(
        ValueError, match=r"^key: expected shape \(2, 2, length, 4\) to match the ca"
    ):
        model(ids[:1, :2], cache=cache)
    with pytest.raises(ValueError, match="^rows: expected 2 rows, since the room of the cache is"):
        cache.reorder(torch.tensor([0, 1, 1]))
    assert cache.length == 0
    with pytest.raises(ValueError, match="^room: expected at least 1, got 0"):
        model.new_cache(room=0)
    with pytest.raises(ValueError, match="^room: expected at most max_len = 14, got 15"):
        make("learned").new_cache(room=15)
    with pytest.raises(
        ValueError, match=r"^cache: expected a FixedCache, from model.new_cache\(room"
    ):
        Captured(model)(ids, model.new_cache())
    with pytest.raises(ValueError, match="^model: expected evaluation mode, as after model.eval"):
        Captured(make().train())(ids[:, :2], cache)


def test_tokens_that_differ_from_the_cached_ones_are_refused():
    model, ids = make(), random_ids(2, 6)
    cache, step = model.new_cache(room=6, n_rows=2), Captured(model)
    assert isinstance(cache, FixedCache)
    step(ids[:, :3], cache)
    with pytest.raises(
        ValueError, match="^ids: expected the tokens that filled the cache and then"
    ):
        step((ids + 1)[:, :4] % 20, cache)
    assert_close(step(ids[:, :4], cache), model.step(ids[:, :4], None))
