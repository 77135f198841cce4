"""Problem set 9, `cache_bytes`: the memory that a cache takes, and the ways to count it wrong."""

import numpy as np

from attn_course.exercises.spec import Exercise


def cache_bytes(lengths, windows, n_kv_heads, d_k, n_bytes, block_size):
    """Return the bytes that the caches of sentences use, and those set aside for them in blocks.

    Parameters
    ----------
    lengths : array of int, shape (n_sentences,)
        Tokens of each sentence.
    windows : array of int, shape (n_layers,)
        How many of the last tokens a layer attends to; 0 is all of them.
    n_kv_heads, d_k, n_bytes, block_size : int
        Heads that have keys, size of a key and of a value, bytes of a number, tokens of a block.

    Returns
    -------
    used, reserved : array of int, shape (n_sentences,)

    References
    ----------
    Kwon et al. (2023), Efficient Memory Management for Large Language Model Serving with
    PagedAttention, section 4.
    """
    return _count(lengths, windows, n_kv_heads, d_k, n_bytes, block_size)


def _up(tokens, block_size):
    return -(-tokens // block_size) * block_size


def _kept(lengths, windows):
    """Return the tokens that each layer keeps of each sentence, shape (n_sentences, n_layers)."""
    return np.minimum(lengths[:, None], np.where(windows == 0, lengths.max(), windows))


def _both(n_bytes):
    """Return what one component of a key takes, and one of a value."""
    return 2 * n_bytes


def _count(
    lengths,
    windows,
    n_kv_heads,
    d_k,
    n_bytes,
    block_size,
    *,
    kept=_kept,
    up=_up,
    both=_both,
    add=lambda tokens: tokens.sum(axis=1),
):
    """Count, with the given parts replaced."""
    tokens = kept(lengths, windows)
    each = both(n_bytes) * n_kv_heads * d_k
    return add(tokens) * each, add(up(tokens, block_size)) * each


def cases(seed):
    """Return sentences in models without windows and with them, some of them without a token.

    Parameters
    ----------
    seed : int
        Seed of the random numbers, and of the sizes of some inputs.

    Returns
    -------
    list of dict
        With the keys ``lengths``, ``windows``, ``n_kv_heads``, ``d_k``, ``n_bytes`` and
        ``block_size``.
    """
    rng = np.random.default_rng(seed)

    def draw(n_sentences, windows, n_bytes, *, empty=False, quarters=True, most=None):
        block_size = int(rng.choice([4, 8, 16]))
        # One fills its blocks, one begins a block with a single token, and none are alike.
        blocks = 3 + rng.permutation(most or n_sentences)[:n_sentences]
        spare = rng.permutation(np.resize([0, block_size - 1, 1, block_size // 2], n_sentences))
        lengths = blocks * block_size - spare
        if empty:
            lengths[rng.integers(n_sentences)] = 0
        sizes = {"n_kv_heads": rng.integers(3, 6), "d_k": rng.choice([6, 10, 20])}
        sizes |= {"n_bytes": n_bytes, "block_size": block_size}
        windows = np.array(windows) * (block_size // 4 if quarters else 1)  # of a block, or tokens
        return {"lengths": lengths, "windows": windows} | {
            name: np.array(size, dtype=int) for name, size in sizes.items()
        }

    return [
        draw(2, [0, 0, 0], 2, most=30),
        draw(3, [0, 0], 4, most=30),
        draw(4, [0] * rng.integers(3, 7), 1, most=30),
        draw(3, [0, 5, 5], 2),
        draw(4, [7, 0, 7, 0], 2),
        draw(3, [6, 40, 3], 4),
        draw(2, [0, 1, 9], 1, quarters=False),
        draw(3, [0, 0], 2, empty=True),
    ]


def _wrong(**how):
    return lambda *arguments: _count(*arguments, **how)


def _after(change):
    """Return the function with something done to what it returns."""

    def wrong(lengths, windows, n_kv_heads, d_k, n_bytes, block_size):
        sizes = n_kv_heads, d_k, n_bytes, block_size
        return change(*cache_bytes(lengths, windows, *sizes), *sizes)

    return wrong


def _all_tokens(lengths, windows):
    return np.repeat(lengths[:, None], len(windows), axis=1)


def _longest(lengths, windows):
    return np.broadcast_to(_kept(lengths, windows).max(axis=0), (len(lengths), len(windows)))


MISTAKES = {
    "keys_alone": (_wrong(both=lambda n_bytes: n_bytes),),
    "one_layer": (_wrong(add=lambda tokens: tokens[:, 0]),),
    "one_head": (lambda lengths, windows, _, *sizes: cache_bytes(lengths, windows, 1, *sizes),),
    "numbers_for_bytes": (_wrong(both=lambda n_bytes: 2),),
    "bits": (_wrong(both=lambda n_bytes: 8 * _both(n_bytes)),),
    "width_missing": (
        lambda lengths, windows, n_kv_heads, _, *sizes: cache_bytes(
            lengths, windows, n_kv_heads, 1, *sizes
        ),
    ),
    "rounded_down": (_wrong(up=lambda tokens, block: tokens // block * block),),
    "one_block_too_many": (_wrong(up=lambda tokens, block: (tokens // block + 1) * block),),
    "blocks_for_tokens": (_wrong(up=lambda tokens, block: -(-tokens // block)),),
    "bytes_rounded": (_after(lambda used, _, *sizes: (used, _up(used, sizes[-1]))),),
    "layers_rounded_together": (
        _after(
            lambda used, _, h, d, b, block: (
                used,
                _up(used // (_both(b) * h * d), block) * _both(b) * h * d,
            )
        ),
    ),
    "used_rounded": (_after(lambda used, reserved, *_: (reserved, reserved)),),
    "nothing_set_aside": (_after(lambda used, reserved, *_: (used, used)),),
    "exchanged": (_after(lambda used, reserved, *_: (reserved, used)),),
    "as_long_as_the_longest": (_wrong(kept=_longest),),
    "summed": (_after(lambda used, reserved, *_: (used.sum(), reserved.sum())),),
    "window_ignored": (_wrong(kept=_all_tokens),),
    "zero_keeps_nothing": (
        _wrong(kept=lambda lengths, windows: np.minimum(lengths[:, None], windows)),
    ),
    "window_as_a_floor": (
        _wrong(kept=lambda lengths, windows: np.maximum(lengths[:, None], windows)),
    ),
}

EXERCISE = Exercise.from_file(__file__, ("used", "reserved"), cache_bytes, cases, MISTAKES)
