"""attn.cache: writing token by token equals reading everything at once."""

import pytest
import torch

from attn.attention import MultiHeadAttention
from attn.cache import DecoderCache, KVCache
from attn.masks import padding_mask
from attn.positions import ALiBiPositions, RotaryPositions

both_paths = pytest.mark.parametrize("need_weights", [False, True], ids=["fused", "explicit"])
RELATIVE = {"none": None, "rotary": RotaryPositions(), "alibi": ALiBiPositions(4)}


def random(*shape, dtype=torch.float64, seed=0):
    return torch.randn(shape, dtype=dtype, generator=torch.Generator().manual_seed(seed))


def heads(n_kv_heads=4, relative="none", dtype=torch.float64):
    torch.manual_seed(0)
    module = MultiHeadAttention(16, 4, n_kv_heads=n_kv_heads, relative=RELATIVE[relative])
    for projection in module.children():
        if isinstance(projection, torch.nn.Linear):
            torch.nn.init.normal_(projection.bias)
    return module.to(dtype)


def assert_close(actual, expected, tolerance=1e-10):
    torch.testing.assert_close(actual, expected, rtol=tolerance, atol=tolerance)


# what is kept


def test_an_empty_cache_keeps_nothing():
    cache = KVCache()
    assert cache.key is cache.value is None
    assert cache.length == 0


def test_what_is_appended_comes_back_in_order():
    cache = KVCache()
    key, value = random(2, 4, 6, 3), random(2, 4, 6, 5, seed=1)
    kept = 0
    for length in (2, 0, 1, 3):
        new = slice(kept, kept + length)
        kept += length
        returned = cache.append(key[:, :, new], value[:, :, new])
        assert returned[0] is cache.key and returned[1] is cache.value
        assert torch.equal(cache.key, key[:, :, :kept])
        assert torch.equal(cache.value, value[:, :, :kept])
        assert cache.length == kept


@pytest.mark.parametrize("rows", [[1, 0, 2], [2, 2, 0, 0, 1], [1], []], ids=str)
def test_reorder_moves_repeats_and_drops_rows(rows):
    cache, key, value = KVCache(), random(3, 4, 2, 5), random(3, 4, 2, 5, seed=1)
    cache.append(key, value)
    cache.reorder(torch.tensor(rows, dtype=torch.int64))
    assert cache.key.shape == cache.value.shape == (len(rows), 4, 2, 5)
    for new, old in enumerate(rows):
        assert torch.equal(cache.key[new], key[old])
        assert torch.equal(cache.value[new], value[old])


def test_reorder_leaves_an_empty_cache_empty():
    cache = KVCache()
    cache.reorder(torch.tensor([1, 0]))
    assert cache.key is cache.value is None and cache.length == 0


@pytest.mark.parametrize("shape", [(3, 4, 1, 5), (2, 2, 1, 5), (2, 4, 1, 6), (4, 1, 5)], ids=str)
def test_new_positions_must_fit_the_old_ones(shape):
    cache = KVCache()
    cache.append(torch.ones(2, 4, 3, 5), torch.ones(2, 4, 3, 5))
    got = ", ".join(map(str, shape))
    message = rf"^key: expected shape \(2, 4, length, 5\) to match the cache, got \({got}\)$"
    with pytest.raises(ValueError, match=message):
        cache.append(torch.ones(shape), torch.ones(shape))
    assert cache.length == 3


def test_the_cache_of_a_decoder_has_two_for_each_layer():
    cache = DecoderCache(3)
    each = [*cache.self_attention, *cache.cross_attention]
    assert len(cache.self_attention) == len(cache.cross_attention) == 3
    assert len({id(one) for one in each}) == 6
    assert all(isinstance(one, KVCache) and one.length == 0 for one in each)
    assert cache.length == 0


def test_the_length_of_a_decoder_cache_counts_target_positions():
    cache = DecoderCache(2)
    cache.cross_attention[0].append(torch.ones(1, 1, 9, 1), torch.ones(1, 1, 9, 1))
    assert cache.length == 0
    for one in cache.self_attention:
        one.append(torch.ones(1, 1, 4, 1), torch.ones(1, 1, 4, 1))
    assert cache.length == 4


def test_reorder_reaches_every_layer_and_skips_the_empty_ones():
    cache = DecoderCache(2)
    filled = [cache.self_attention[0], cache.self_attention[1], cache.cross_attention[1]]
    before = [random(2, 4, 3, 5, seed=seed) for seed in range(3)]
    for one, key in zip(filled, before, strict=True):
        one.append(key, 2 * key)
    cache.reorder(torch.tensor([1, 1, 0]))
    for one, key in zip(filled, before, strict=True):
        assert torch.equal(one.key, key[[1, 1, 0]])
        assert torch.equal(one.value, 2 * key[[1, 1, 0]])
    assert cache.cross_attention[0].key is None


@pytest.mark.parametrize(
    "n_layers, message",
    [(0, "expected at least 1, got 0"), (2.0, "expected an integer, got 2.0")],
)
def test_a_decoder_has_layers(n_layers, message):
    with pytest.raises(ValueError, match=f"^n_layers: {message}$"):
        DecoderCache(n_layers)
    assert DecoderCache(1).length == 0


# self-attention


@both_paths
@pytest.mark.parametrize(
    "dtype, tolerance", [(torch.float64, 1e-10), (torch.float32, 1e-5)], ids=["float64", "float32"]
)
@pytest.mark.parametrize("n_kv_heads", [4, 2, 1])
@pytest.mark.parametrize("relative", RELATIVE)
@pytest.mark.parametrize("with_mask", [False, True])
@pytest.mark.parametrize("steps", [[1] * 7, [3, 1, 0, 3], [7]], ids=str)
def test_growing_equals_the_full_run(
    steps, with_mask, relative, n_kv_heads, dtype, tolerance, need_weights
):
    module, x = heads(n_kv_heads, relative, dtype), random(3, 7, 16, dtype=dtype)
    # Padding at the end of row 1 and at the start of row 2, whose first queries see nothing.
    mask = padding_mask([7, 4, 7], 7)
    mask[2, :, :2] = False
    mask = mask if with_mask else None
    full, weights = module(x, mask=mask, is_causal=True, need_weights=True)

    cache, start = KVCache(), 0
    for step in steps:
        stop = start + step
        output, new_weights = module(
            x[:, start:stop],
            mask=None if mask is None else mask[..., :stop],
            is_causal=True,
            need_weights=need_weights,
            cache=cache,
        )
        assert cache.length == stop
        assert cache.key.shape == cache.value.shape == (3, n_kv_heads, stop, 4)
        assert_close(output, full[:, start:stop], tolerance)
        if need_weights:
            assert_close(new_weights, weights[:, :, start:stop, :stop], tolerance)
        start = stop


@both_paths
def test_one_unbatched_sequence_grows_too(need_weights):
    module, x = heads(), random(5, 16)
    full, _ = module(x, is_causal=True)
    cache = KVCache()
    for i in range(5):
        output, _ = module(x[i : i + 1], is_causal=True, need_weights=need_weights, cache=cache)
        assert_close(output, full[i : i + 1])


def test_only_new_tokens_are_projected():
    module, x, cache = heads(), random(2, 7, 16), KVCache()
    lengths = []
    module.k_proj.register_forward_hook(lambda _, args, __: lengths.append(args[0].shape[-2]))
    module.v_proj.register_forward_hook(lambda _, args, __: lengths.append(args[0].shape[-2]))
    for token in x.split((4, 1, 2), dim=1):
        module(token, is_causal=True, cache=cache)
    assert lengths == [4, 4, 1, 1, 2, 2]


@pytest.mark.parametrize("relative", RELATIVE)
def test_reordered_rows_go_on_as_if_they_had_always_stood_there(relative):
    module, cache = heads(2, relative), KVCache()
    past, new = random(3, 5, 16), random(4, 2, 16, seed=1)
    rows = torch.tensor([2, 0, 0, 1])
    module(past, is_causal=True, cache=cache)
    cache.reorder(rows)
    output, _ = module(new, is_causal=True, cache=cache)
    expected, _ = module(torch.cat((past[rows], new), dim=1), is_causal=True)
    assert_close(output, expected[:, 5:])


def test_gradients_reach_the_old_tokens():
    module, x, cache = heads(), random(2, 4, 16).requires_grad_(), KVCache()
    for token in x.split(1, dim=1):
        output, _ = module(token, is_causal=True, cache=cache)
    full, _ = module(x, is_causal=True)
    actual, expected = (torch.autograd.grad(y[:, -1].sum(), x)[0] for y in (output, full))
    assert actual[:, 0].any()
    assert_close(actual, expected)


def test_rows_may_not_change_without_reorder():
    module, cache = heads(), KVCache()
    module(random(3, 2, 16), cache=cache)
    message = r"^key: expected shape \(3, 4, length, 4\) to match the cache, got \(2, 4, 1, 4\)$"
    with pytest.raises(ValueError, match=message):
        module(random(2, 1, 16), cache=cache)


# cross-attention


@both_paths
@pytest.mark.parametrize("n_kv_heads", [4, 2])
def test_the_source_is_projected_once(n_kv_heads, need_weights):
    module, cache = heads(n_kv_heads), KVCache()
    x, memory, other = random(2, 5, 16), random(2, 6, 16, seed=1), random(2, 9, 16, seed=2)
    mask = padding_mask([6, 3], 6)
    expected, weights = module(x, memory, 2 * memory, mask, need_weights=True)
    calls = []
    module.k_proj.register_forward_hook(lambda *_: calls.append("key"))
    module.v_proj.register_forward_hook(lambda *_: calls.append("value"))
    # Whatever comes after the first call, of whatever length, is not looked at.
    sources = (memory, 2 * memory), (memory, 2 * memory), (other, other), (other, None), (x, x)
    for i, (key, value) in enumerate(sources):
        output, new_weights = module(
            x[:, i : i + 1], key, value, mask, need_weights=need_weights, cache=cache
        )
        assert_close(output, expected[:, i : i + 1])
        if need_weights:
            assert_close(new_weights, weights[:, :, i : i + 1])
        assert calls == ["key", "value"]
        assert cache.length == 6


def test_a_source_without_tokens_is_a_source_too():
    module, cache = heads(), KVCache()
    for memory in (torch.empty(2, 0, 16).double(), random(2, 3, 16)):
        output, _ = module(random(2, 1, 16), memory, cache=cache)
        assert torch.equal(output, module.out_proj.bias.expand(2, 1, 16))
        assert cache.length == 0


@both_paths
def test_the_source_can_be_reordered(need_weights):
    module, cache = heads(), KVCache()
    x, memory, rows = random(2, 1, 16), random(2, 6, 16, seed=1), torch.tensor([1, 1, 0])
    module(x, memory, cache=cache)
    cache.reorder(rows)
    output, _ = module(x[rows], memory[rows], need_weights=need_weights, cache=cache)
    assert_close(output, module(x[rows], memory[rows])[0])


def test_the_rows_of_the_query_must_fit_the_stored_ones():
    module, cache = heads(), KVCache()
    module(random(2, 1, 16), random(2, 6, 16), cache=cache)
    message = r"^key: expected batch dimensions that broadcast with \(3, 4\), got \(2, 4\)$"
    with pytest.raises(ValueError, match=message):
        module(random(3, 1, 16), random(3, 6, 16), cache=cache)
