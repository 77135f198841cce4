"""attn.cache: reading token by token gives the same as reading everything at once."""

import copy
import math
from unittest.mock import patch

import pytest
import torch
from torch.nn import functional as F

from attn import checks
from attn.attention import MultiHeadAttention
from attn.cache import DecoderCache, KVCache, MemoryCache
from attn.masks import padding_mask
from attn.positions import ALiBiPositions, RotaryPositions
from tests.core.helpers import assert_close, random
from tests.core.other_device import DEVICE, OtherDevice

both_paths = pytest.mark.parametrize("need_weights", [False, True], ids=["fused", "explicit"])
RELATIVE = {"none": None, "rotary": RotaryPositions(), "alibi": ALiBiPositions(4)}


def heads(n_kv_heads=4, relative="none", dtype=torch.float64):
    torch.manual_seed(0)
    module = MultiHeadAttention(16, 4, n_kv_heads=n_kv_heads, relative=RELATIVE[relative])
    for projection in module.children():
        if isinstance(projection, torch.nn.Linear):
            torch.nn.init.normal_(projection.bias)
    return module.to(dtype)


# keys and values


def test_appended_keys_and_values_are_returned_in_order():
    cache = KVCache()
    key, value = random(2, 4, 6, 3), random(2, 4, 6, 5, seed=1)
    kept = 0
    for length in (2, 0, 1, 3):
        new = slice(kept, kept + length)
        kept += length
        returned = cache.append(key[:, :, new], value[:, :, new])
        assert torch.equal(returned[0], cache.key) and torch.equal(returned[1], cache.value)
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


NEW = torch.ones(2, 4, 1, 5)
TO_MATCH_KEY = r"value: expected shape \(2, 4, 1, d_v\) to match key, got "


@pytest.mark.parametrize(
    "change, message",
    [
        ({"value": NEW[:, :2]}, TO_MATCH_KEY + r"\(2, 2, 1, 5\)"),
        ({"value": NEW[..., :0, :]}, TO_MATCH_KEY + ".*"),
        ({"value": NEW[..., :3]}, r"value: .* \(2, 4, length, 5\) to match the cache, .*"),
        ({"key": NEW.double()}, "key: expected dtype torch.float32 to match the cache, got .*64"),
        ({"value": NEW.half()}, "value: expected dtype torch.float32 to match the cache, got .*16"),
        ({"value": NEW.to("meta")}, f"value: expected device {NEW.device} to match .*, got meta"),
        ({"key": [1.0]}, "key: expected a tensor, got list"),
        ({"positions": [[0], [1]]}, "positions: expected a tensor of int64, got list"),
        ({"positions": torch.ones(1, 1).long()}, r"positions: .* \(2, 1\) to match key, .*"),
    ],
)
def test_appended_tensors_of_wrong_shape_are_refused(change, message):
    cache = KVCache()
    cache.append(torch.ones(2, 4, 3, 5), torch.ones(2, 4, 3, 5))
    with pytest.raises(ValueError, match=f"^{message}$"):
        cache.append(**{"key": NEW, "value": NEW} | change)
    assert cache.length == 3 and cache.positions is None


def test_keys_and_values_belong_together_from_the_first_on():
    with pytest.raises(ValueError, match=r"^key: expected shape \(..., length, d_k\), got \(4,\)$"):
        KVCache().append(torch.ones(4), torch.ones(4))
    with pytest.raises(ValueError, match=r"^value: expected shape \(2, 4, 1, d_v\) to match key"):
        KVCache().append(NEW, torch.ones(2, 4, 2, 5))
    with pytest.raises(AttributeError):
        KVCache().length = 3


def test_a_cache_of_another_dtype_is_refused():
    module, cache = heads(dtype=torch.float32), KVCache()
    module(random(2, 3, 16, dtype=torch.float32), cache=cache)
    with pytest.raises(ValueError, match="^key: expected dtype torch.float32 to match the cache"):
        module.double()(random(2, 1, 16), cache=cache)
    assert cache.length == 3


def test_a_cache_with_another_number_of_heads_is_refused():
    """A single head would broadcast to all."""
    cache = MemoryCache()
    cache.store(*random(2, 2, 1, 6, 4))
    message = r"^cache: expected shape \(..., 4, src_len, 4\), got \(2, 1, 6, 4\)$"
    with pytest.raises(ValueError, match=message):
        heads()(random(2, 1, 16), cache=cache)


@pytest.mark.parametrize("grad", [True, False])
@pytest.mark.parametrize("with_positions", [False, True])
@pytest.mark.parametrize("relative", RELATIVE)
def test_a_truncated_cache_equals_one_that_read_only_its_tokens(relative, with_positions, grad):
    module, x, cache = heads(2, relative), random(2, 9, 16), KVCache()
    other = random(2, 9, 16, seed=1)
    places = torch.tensor([[0, 1, 2, 3, 4, 5, 6, 7, 8], [0, 0, 0, 1, 2, 3, 4, 5, 6]])
    places = places if with_positions else None
    expected, _ = module(x, positions=places, is_causal=True)

    def read(vectors, start, stop, where=places):
        where = None if where is None else where[:, start:stop]
        return module(vectors[:, start:stop], positions=where, is_causal=True, cache=cache)[0]

    with torch.set_grad_enabled(grad):
        read(x, 0, 4)
        read(other, 4, 7, None if places is None else places + 3)
        cache.truncate(5)
        cache.truncate(4)
        assert cache.length == cache.key.shape[-2] == cache.value.shape[-2] == 4
        assert places is None or torch.equal(cache.positions, places[:, :4])
        # Positions that are not given follow those in the cache.
        outputs = [read(x, 4, 5, None), read(x, 5, 6), read(x, 6, 9, None)]
    assert_close(torch.cat(outputs, dim=1), expected[:, 4:])
    cache.truncate(0)
    assert cache.key is cache.value is cache.positions is None
    rows = random(3, 2, 16, seed=2)
    assert_close(module(rows, is_causal=True, cache=cache)[0], module(rows, is_causal=True)[0])


@torch.no_grad()
def test_appending_after_a_truncation_changes_no_other_tensor():
    """Appending must not write into tensors of the caller, of a copy, or of a gradient's graph."""
    key, value = random(2, 1, 2, 4, 3)
    kept = key.clone()
    cache = KVCache()
    cache.append(key, value)
    cache.truncate(2)
    cache.append(-key[..., :1, :], value[..., :1, :])
    assert torch.equal(key, kept)
    other, before = copy.copy(cache), cache.key.clone()
    cache.truncate(1)
    cache.append(-key, value)
    assert torch.equal(other.key, before)
    with torch.enable_grad():
        cache = KVCache()
        cache.append(key, value)
        x = key.clone().requires_grad_()
        squares = cache.append(x, value)[0].square().sum()
    cache.truncate(1)
    cache.append(key, value)
    assert_close(torch.autograd.grad(squares, x)[0], 2 * key)


@pytest.mark.parametrize(
    "length, message",
    [
        (4, "at most the 3 tokens kept, got 4"),
        (-1, "at least 0, got -1"),
        (1.0, "an integer, got 1.0"),
    ],
)
def test_a_cache_cannot_be_truncated_to_more_than_it_holds(length, message):
    cache = DecoderCache(2)
    for part in cache.self_attention:
        part.append(*[torch.ones(1, 2, 3, 4)] * 2)
    for each in (cache, cache.self_attention[0]):
        with pytest.raises(ValueError, match=f"^length: expected {message}$"):
            each.truncate(length)
    assert [part.length for part in cache.self_attention] == [3, 3]


def test_the_cache_of_a_decoder_has_two_for_each_layer():
    cache = DecoderCache(3)
    each = [*cache.self_attention, *cache.cross_attention]
    assert len(cache.self_attention) == len(cache.cross_attention) == 3
    assert len({id(one) for one in each}) == 6
    assert {type(one) for one in cache.self_attention} == {KVCache}
    assert {type(one) for one in cache.cross_attention} == {MemoryCache}
    assert all(one.length == 0 for one in (*each, cache))


def test_the_length_of_a_decoder_cache_counts_target_positions():
    cache = DecoderCache(2)
    cache.cross_attention[0].store(torch.ones(1, 1, 9, 1), torch.ones(1, 1, 9, 1))
    assert cache.cross_attention[0].length == 9
    assert cache.length == 0
    for one in cache.self_attention:
        one.append(torch.ones(1, 1, 4, 1), torch.ones(1, 1, 4, 1))
    assert cache.length == 4


def test_a_decoder_cache_gives_the_positions_of_new_tokens():
    cache = DecoderCache(1)
    assert cache.following(2) == 0
    cache.self_attention[0].append(*[torch.ones(1, 1, 4, 1)] * 2)
    assert cache.following(2) == 4
    cache.self_attention[0].append(*[torch.ones(1, 1, 1, 1)] * 2, torch.tensor([[9]]))
    assert cache.following(2).tolist() == [[10, 11]]


def test_reorder_reaches_every_layer_and_skips_the_empty_ones():
    cache = DecoderCache(2)
    filled = [cache.self_attention[0], cache.self_attention[1], cache.cross_attention[1]]
    before = [random(2, 4, 3, 5, seed=seed) for seed in range(3)]
    for one, key in zip(filled, before, strict=True):
        (one.store if isinstance(one, MemoryCache) else one.append)(key, 2 * key)
    cache.reorder(torch.tensor([1, 1, 0]))
    for one, key in zip(filled, before, strict=True):
        assert torch.equal(one.key, key[[1, 1, 0]])
        assert torch.equal(one.value, 2 * key[[1, 1, 0]])
    assert cache.cross_attention[0].key is None


@pytest.mark.parametrize(
    "n_layers, message", [(0, "expected at least 1, got 0"), (2.0, "expected an integer, got 2.0")]
)
def test_a_decoder_cache_needs_at_least_one_layer(n_layers, message):
    with pytest.raises(ValueError, match=f"^n_layers: {message}$"):
        DecoderCache(n_layers)
    assert DecoderCache(1).length == 0


# self-attention


@pytest.mark.pairwise
@both_paths
@pytest.mark.parametrize(
    "dtype, tolerance", [(torch.float64, 1e-10), (torch.float32, 1e-5)], ids=["float64", "float32"]
)
@pytest.mark.parametrize("n_kv_heads", [4, 2, 1])
@pytest.mark.parametrize("relative", RELATIVE)
@pytest.mark.parametrize("with_mask", [False, True])
@pytest.mark.parametrize("steps", [[1] * 7, [3, 1, 0, 3], [7]], ids=str)
def test_growing_steps_equal_one_full_pass(
    steps, with_mask, relative, n_kv_heads, dtype, tolerance, need_weights
):
    module, x = heads(n_kv_heads, relative, dtype), random(3, 7, 16, dtype=dtype)
    # There is padding at the end of row 1 and at the start of row 2, whose first queries see
    # nothing.
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
def test_an_unbatched_sequence_can_grow(need_weights):
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
def test_reordered_rows_equal_rows_that_were_always_in_this_order(relative):
    module, cache = heads(2, relative), KVCache()
    past, new = random(3, 5, 16), random(4, 2, 16, seed=1)
    rows = torch.tensor([2, 0, 0, 1])
    module(past, is_causal=True, cache=cache)
    cache.reorder(rows)
    output, _ = module(new, is_causal=True, cache=cache)
    expected, _ = module(torch.cat((past[rows], new), dim=1), is_causal=True)
    assert_close(output, expected[:, 5:])


@pytest.mark.parametrize("name", ["query", "key", "value"])
@pytest.mark.parametrize("relative", ["none", "alibi"])
def test_a_step_refused_for_nan_can_be_repeated(relative, name):
    module, x, cache = heads(4, relative), random(2, 5, 16), KVCache()
    expected, _ = module(x, is_causal=True)
    module(x[:, :3], is_causal=True, cache=cache)
    bad = copy.deepcopy(module)
    getattr(bad, f"{name[0]}_proj").bias.data[7] = math.nan
    # There are two rows with two new tokens each.
    with pytest.raises(ValueError, match=f"^{name}: expected finite numbers, got 4 NaN or infinit"):
        bad(x[:, 3:], is_causal=True, cache=cache)
    assert cache.length == 3
    assert_close(module(x[:, 3:], is_causal=True, cache=cache)[0], expected[:, 3:])


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
    module, cache = heads(n_kv_heads), MemoryCache()
    x, memory = random(2, 4, 16), random(2, 6, 16, seed=1)
    mask = padding_mask([6, 3], 6)
    expected, weights = module(x, memory, 2 * memory, mask, need_weights=True)
    calls = []
    module.k_proj.register_forward_hook(lambda *_: calls.append("key"))
    module.v_proj.register_forward_hook(lambda *_: calls.append("value"))
    # After the first call the source may be omitted, or be given again.
    value = 2 * memory
    sources = (memory, value), (None, None), (memory, value), (memory.clone(), value.clone())
    for i, (key, value) in enumerate(sources):
        output, new_weights = module(
            x[:, i : i + 1], key, value, mask, need_weights=need_weights, cache=cache
        )
        assert_close(output, expected[:, i : i + 1])
        if need_weights:
            assert_close(new_weights, weights[:, :, i : i + 1])
        assert calls == ["key", "value"]
        assert cache.length == 6


@pytest.mark.parametrize("name", ["query", "key", "value"])
def test_a_source_with_nan_or_infinity_is_not_stored(name):
    module, cache = heads(), MemoryCache()
    x, memory = random(2, 3, 16), random(2, 6, 16, seed=1)
    given = {"query": x, "key": memory, "value": memory}
    given[name] = given[name].clone()
    given[name][1, 0, 7] = math.inf
    with pytest.raises(ValueError, match=f"^{name}: expected finite numbers, got .* NaN or infin"):
        module(*given.values(), cache=cache)
    assert cache.key is None
    assert_close(module(x, memory, cache=cache)[0], module(x, memory)[0])


def test_a_value_without_a_key_is_refused():
    module, x, cache = heads(), random(2, 1, 16), MemoryCache()
    module(x, random(2, 6, 16), cache=cache)
    for given in (None, KVCache(), MemoryCache(), cache):
        with pytest.raises(ValueError, match="^key: expected a tensor, since value is given"):
            module(x, value=random(2, 6, 16), cache=given)


def test_a_source_without_tokens_is_stored():
    module, cache = heads(), MemoryCache()
    for memory in (torch.empty(2, 0, 16).double(), None):
        output, _ = module(random(2, 1, 16), memory, cache=cache)
        assert torch.equal(output, module.out_proj.bias.expand(2, 1, 16))
        assert cache.length == 0


@both_paths
def test_the_source_can_be_reordered(need_weights):
    module, cache = heads(), MemoryCache()
    x, memory, rows = random(2, 1, 16), random(2, 6, 16, seed=1), torch.tensor([1, 1, 0])
    module(x, memory, cache=cache)
    cache.reorder(rows)
    output, _ = module(x[rows], memory[rows], need_weights=need_weights, cache=cache)
    assert_close(output, module(x[rows], memory[rows])[0])


def test_the_rows_of_the_query_must_fit_the_stored_ones():
    module, cache = heads(), MemoryCache()
    module(random(2, 1, 16), random(2, 6, 16), cache=cache)
    message = r"^key: expected batch dimensions that broadcast with \(3, 4\), got \(2, 4\)$"
    with pytest.raises(ValueError, match=message):
        module(random(3, 1, 16), cache=cache)


@pytest.mark.parametrize("reordered", [False, True])
def test_a_source_that_changed_is_refused(reordered):
    module, x, memory = heads(), random(2, 1, 16), random(2, 6, 16, seed=1)
    value, nearly = memory + 1, memory.clone()
    nearly[0, 0, 0] += 1e-3

    def filled():
        cache = MemoryCache()
        module(x, memory, value, cache=cache)
        if reordered:
            cache.reorder(torch.tensor([0, 1]))
        return cache

    order = ", its rows reordered like those of the cache" if reordered else ""
    message = f"^memory: expected the memory that filled the cache{order}: for another, take a new"
    others = (memory, memory), (value, value), (memory[:, :5], value[:, :5]), (nearly, value)
    for other in others:
        with pytest.raises(ValueError, match=message):
            module(x, *other, cache=filled())
    cache = filled()
    module(x, memory, value, cache=cache)
    memory[0, 0, 0] += 1e-3
    with pytest.raises(ValueError, match=message):
        module(x, memory, value, cache=cache)


# A cache can only be copied if its tensors need no gradient.
@torch.no_grad()
@pytest.mark.parametrize("changed", [None, "before", "after"])
def test_a_copy_of_a_cache_recognises_the_source(changed):
    """PyTorch counts the changes of a tensor, and the count of a copy starts at zero."""
    module, x, memory, cache = heads(), random(2, 1, 16), random(2, 6, 16, seed=1), MemoryCache()
    memory += 1
    expected, _ = module(x, memory, cache=cache)
    given = memory.clone()
    if changed == "before":
        memory[0, 0, 0] += 1
    other = copy.deepcopy(cache)
    if changed == "after":
        memory[0, 0, 0] += 1
        with pytest.raises(ValueError, match="^memory: "):
            module(x, given, cache=cache)
    if changed == "before":
        for each in (memory, given):
            with pytest.raises(ValueError, match="^memory: "):
                module(x, each, cache=other)
    else:
        assert_close(module(x, given, cache=other)[0], expected)


@pytest.mark.parametrize("length", [1, 2])
def test_a_source_without_a_batch_serves_reordered_rows(length):
    module, x, memory, cache = heads(), random(3, length, 16), random(6, 16, seed=1), MemoryCache()
    module(x, memory, cache=cache)
    cache.reorder(torch.tensor([2, 0]))
    assert_close(module(x[[2, 0]], memory, cache=cache)[0], module(x[[2, 0]], memory)[0])


@torch.inference_mode()
def test_a_source_of_inference_mode_is_recognised():
    """Tensors of inference mode do not count their changes."""
    module, x, cache = heads(), random(2, 1, 16), MemoryCache()
    memory = random(2, 6, 16, seed=1)
    expected, _ = module(x, memory, cache=cache)
    assert memory.is_inference()
    for given in (memory, memory.clone()):
        assert_close(module(x, given, cache=cache)[0], expected)
    with pytest.raises(ValueError, match="^memory: "):
        module(x, memory + 1, cache=cache)


def test_without_checks_the_source_is_not_compared():
    module, x, cache = heads(), random(2, 1, 16), MemoryCache()
    expected, _ = module(x, random(2, 6, 16), cache=cache)
    with checks(False):
        assert_close(module(x, random(2, 6, 16, seed=1), cache=cache)[0], expected)


@pytest.mark.parametrize("repeats", [1, 2])
def test_a_decoder_cache_recognises_its_memory_after_a_reorder(repeats):
    memory, cache = random(3, 6, 16), DecoderCache(1)
    cache.remember(memory, repeats)
    rows = torch.arange(3 * repeats).flip(0)
    cache.reorder(rows)
    assert cache.knows(memory.flip(0)) and cache.knows(memory.repeat_interleave(repeats, 0)[rows])
    message = (
        "^memory: expected the memory that filled the cache, its rows reordered like those of "
        r"the cache: for another, take a new cache, got other values, shape \(3, 6, 16\)$"
    )
    with pytest.raises(ValueError, match=message):
        cache.knows(memory)
    cache.reorder(rows)
    assert cache.knows(memory) and cache.knows(memory.clone())
    for other in (memory.flip(0), memory[:2], memory[:, :5], memory + 1):
        with pytest.raises(ValueError, match="^memory: "):
            cache.knows(other)
    cache.reorder(torch.arange(repeats))
    assert cache.knows(memory[:1])
    cache.reorder(torch.arange(0))
    assert cache.knows(memory[:0])


def test_rows_that_were_moved_are_compared_on_their_own_device():
    memory, cache = random(2, 6, 16, dtype=torch.float32), DecoderCache(1)
    with OtherDevice():
        there = memory.to(DEVICE)
        cache.remember(there)
        cache.reorder(torch.tensor([1, 0]).to(DEVICE))
        assert cache.knows(memory.flip(0).to(DEVICE))


@pytest.mark.parametrize("shared", ["key", "value"])
@pytest.mark.parametrize("has_axis", [True, False])
def test_a_key_or_a_value_shared_by_all_rows_is_not_reordered(shared, has_axis):
    module, x, cache, rows = heads(), random(3, 1, 16), MemoryCache(), [2, 0, 0, 1]
    source = {name: random(3, 6, 16, seed=i) for i, name in enumerate(("key", "value"))}
    source[shared] = source[shared][:1] if has_axis else source[shared][0]
    module(x, **source, cache=cache)
    cache.reorder(torch.tensor(rows))
    moved = {name: t if name == shared else t[rows] for name, t in source.items()}
    expected, _ = module(x[rows], **moved)
    assert_close(module(x[rows], cache=cache)[0], expected)
    assert_close(module(x[rows], **moved, cache=cache)[0], expected)
    if has_axis:
        moved[shared] = source[shared].expand(4, -1, -1)
        assert_close(module(x[rows], **moved, cache=cache)[0], expected)


@torch.no_grad()
def test_a_shallow_copy_grows_independently():
    """Both caches hold the first four tokens; then one reads the fifth, the other the sixth."""
    module, x, cache = heads(2, "rotary"), random(1, 7, 16), KVCache()
    for part in (x[:, :3], x[:, 3:4]):
        module(part, cache=cache, is_causal=True)
    other = copy.copy(cache)
    module(x[:, 4:5], cache=cache)
    module(x[:, 5:6], cache=other)
    for one, fifth in ((cache, 4), (other, 5)):
        output, _ = module(x[:, 6:], cache=one)
        expected, _ = module(x[:, [0, 1, 2, 3, fifth, 6]], is_causal=True)
        assert_close(output, expected[:, -1:])


def test_a_copy_of_an_empty_cache_is_empty():
    other = copy.deepcopy(KVCache())
    assert other.key is None and other.length == 0
    assert other.append(*[torch.ones(1, 1, 2, 1)] * 2)[0].shape == (1, 1, 2, 1)


def test_a_cache_without_a_batch_has_no_rows():
    module, cache = heads(), KVCache()
    module(random(3, 16), cache=cache)
    message = r"^rows: expected a cache of a batch, got keys of shape \(4, 3, 4\)$"
    with pytest.raises(ValueError, match=message):
        cache.reorder(torch.tensor([0]))


def test_a_source_that_changed_by_way_of_a_view_is_refused():
    module, x, buffer = heads(), random(2, 1, 16), random(2, 6, 16, seed=1)
    cache = MemoryCache()
    module(x, buffer[:, :5], cache=cache)
    assert_close(module(x, buffer[:, :5], cache=cache)[0], module(x, buffer[:, :5])[0])
    buffer.copy_(random(2, 6, 16, seed=2))
    with pytest.raises(ValueError, match="^memory: expected the memory that filled the cache"):
        module(x, buffer[:, :5], cache=cache)


# self-attention or cross-attention is told apart


@both_paths
def test_a_cache_of_the_other_kind_of_attention_is_refused(need_weights):
    module, x = heads(), random(2, 3, 16)
    options = {"need_weights": need_weights}
    message = "^cache: expected a MemoryCache for cross-attention; a KVCache is for .*, got KVCache"
    for memory in (x, random(2, 6, 16)):
        with pytest.raises(ValueError, match=message):
            module(x, memory, memory, cache=KVCache(), **options)
    with pytest.raises(ValueError, match="^key: expected the memory that is to fill the cache"):
        module(x, cache=MemoryCache(), **options)
    for other in (DecoderCache(1), 5):
        message = f"^cache: expected a KVCache or a MemoryCache, got {type(other).__name__}$"
        with pytest.raises(ValueError, match=message):
            module(x, cache=other, **options)
    assert_close(module(x, x, x, cache=MemoryCache(), **options)[0], module(x)[0])


@pytest.mark.parametrize("relative", ["rotary", "alibi"])
def test_relative_positions_are_refused_in_cross_attention(relative):
    module, x = heads(4, relative), random(2, 3, 16)
    message = "^key: expected None, since relative is for self-attention, got a memory$"
    for cache in (None, MemoryCache()):
        with pytest.raises(ValueError, match=message):
            module(x, random(2, 6, 16), cache=cache)
    with pytest.raises(ValueError, match="^key: expected None, since positions is for self-"):
        heads()(x, random(2, 6, 16), positions=torch.arange(3))


# work that must not be repeated


def test_no_key_is_rotated_twice(monkeypatch):
    module, x, cache = heads(2, "rotary"), random(2, 9, 16), KVCache()
    rotate, lengths = RotaryPositions.rotate, []

    def counted(self, query, key, positions):
        lengths.append((query.shape[-2], key.shape[-2], positions))
        return rotate(self, query, key, positions)

    monkeypatch.setattr(RotaryPositions, "rotate", counted)
    for new in x.split((5, 1, 3), dim=1):
        module(new, is_causal=True, cache=cache)
    assert lengths == [(5, 5, 0), (1, 1, 5), (3, 3, 6)]


def test_one_query_needs_no_causal_mask_and_no_copies_of_grouped_keys():
    module, x, cache = heads(2), random(2, 9, 16), KVCache()
    module(x, is_causal=True, cache=cache)
    with patch.object(F, "scaled_dot_product_attention", wraps=F.scaled_dot_product_attention) as f:
        module(x[:, :1], is_causal=True, cache=cache)
    (query, key, value, mask), options = f.call_args
    assert mask is None and not options["is_causal"]
    # The two query heads that share a key head are passed as two queries.
    assert query.shape == (2, 2, 2, 4) and key.shape == value.shape == (2, 2, 10, 4)


@pytest.mark.parametrize("lead", [(2, 4), (4,)], ids=["batch", "one sequence"])
@torch.no_grad()
def test_keys_are_copied_only_when_the_room_is_full(lead):
    """Five keys leave room for two more: appending two copies nothing, the eighth does."""
    cache, key, value = KVCache(), random(*lead, 8, 3), random(*lead, 8, 3, seed=1)
    places = []
    for new in (slice(0, 4), slice(4, 5), slice(5, 7), slice(7, 8)):
        cache.append(key[..., new, :], value[..., new, :])
        places.append(cache.key.data_ptr())
    assert places[1] == places[2] != places[3]
    assert torch.equal(cache.key, key) and torch.equal(cache.value, value)


@pytest.mark.parametrize("first, second", [(True, False), (False, True)])
def test_a_cache_filled_in_inference_mode_can_grow_outside_it(first, second):
    module, x, cache = heads(), random(2, 6, 16), KVCache()
    expected, _ = module(x, is_causal=True)
    for mode, part in (
        (first, x[:, :2]),
        (first, x[:, 2:4]),
        (second, x[:, 4:5]),
        (first, x[:, 5:]),
    ):
        with torch.inference_mode(mode), torch.no_grad():
            output, _ = module(part, is_causal=True, cache=cache)
    assert_close(output, expected[:, 5:])


def test_gradients_reach_every_step():
    module, x = heads(2, "rotary"), random(2, 6, 16).requires_grad_()
    (expected,) = torch.autograd.grad(module(x, is_causal=True)[0].square().sum(), x)
    cache = KVCache()
    outputs = [module(part, is_causal=True, cache=cache)[0] for part in x.split((3, 1, 2), dim=1)]
    (gradient,) = torch.autograd.grad(torch.cat(outputs, dim=1).square().sum(), x)
    assert_close(gradient, expected)


# positions


@pytest.mark.parametrize("relative", ["rotary", "alibi"])
def test_rows_with_their_own_positions_continue_from_them(relative):
    """Row 1 begins with two tokens of padding; the rest equals that row alone."""
    module, x = heads(2, relative), random(2, 7, 16)
    mask = torch.ones(2, 1, 7, dtype=torch.bool)
    mask[1, :, :2] = False
    positions = torch.stack((torch.arange(7), torch.arange(-2, 5).clamp(min=0)))
    alone = [module(x[:1], is_causal=True)[0], module(x[1:, 2:], is_causal=True)[0]]
    whole, _ = module(x, mask=mask, positions=positions, is_causal=True)
    cache = KVCache()
    given = [positions[:, :4], positions[:, 4:6], None]
    outputs = [
        module(part, mask=mask[..., :stop], positions=where, is_causal=True, cache=cache)[0]
        for part, stop, where in zip(x.split((4, 2, 1), dim=1), (4, 6, 7), given, strict=True)
    ]
    for output in (whole, torch.cat(outputs, dim=1)):
        assert_close(output[:1], alone[0])
        assert_close(output[1:, 2:], alone[1])
    assert torch.equal(cache.positions, positions)
    cache.reorder(torch.tensor([1]))
    assert torch.equal(cache.positions, positions[1:])


def test_positions_are_a_tensor():
    with pytest.raises(ValueError, match="^positions: expected a tensor of int64, got list$"):
        heads(2, "rotary")(random(2, 3, 16), positions=[[0, 1, 2]] * 2)


def test_a_step_without_tokens_may_have_positions():
    module, x, cache = heads(2, "alibi"), random(2, 3, 16), KVCache()
    module(x[:, :0], positions=torch.empty(2, 0, dtype=torch.int64), cache=cache)
    assert cache.positions is None
    outputs = [module(part, is_causal=True, cache=cache)[0] for part in x.split((2, 1), dim=1)]
    assert_close(torch.cat(outputs, dim=1), module(x, is_causal=True)[0])


@pytest.mark.parametrize("batch", [(2,), ()], ids=["batch", "one sequence"])
def test_positions_may_be_given_after_steps_without(batch):
    module, x, cache = heads(2, "alibi"), random(*batch, 6, 16), KVCache()
    expected, _ = module(x, is_causal=True)
    outputs = [
        module(part, positions=positions, is_causal=True, cache=cache)[0]
        for part, positions in zip(
            x.split((3, 2, 1), dim=-2), (None, torch.arange(3, 5), None), strict=True
        )
    ]
    assert_close(torch.cat(outputs, dim=-2), expected)
    assert torch.equal(cache.positions, torch.arange(6).expand(*batch, -1))


def test_positions_are_on_the_device_of_the_tokens():
    with OtherDevice():
        cache, key = KVCache(), torch.ones(1, 2, 3, 4).to(DEVICE)
        cache.append(key, key)
        cache.append(key, key, torch.tensor([[7, 8, 9]]).to(DEVICE))
        cache.append(key[:, :, :2], key[:, :, :2])
        assert cache.positions.device == DEVICE
        assert cache.positions.cpu().tolist() == [[0, 1, 2, 7, 8, 9, 10, 11]]


def test_positions_of_wrong_shape_are_refused():
    message = r"^positions: expected a shape that broadcasts to \(2, 3\), got \(4,\)$"
    with pytest.raises(ValueError, match=message):
        heads(4, "rotary")(random(2, 3, 16), positions=torch.arange(4))
