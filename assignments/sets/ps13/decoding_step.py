"""Problem set 13, `decoding_step`: where a step stands on the roofline, and ways to misplace it."""

import numpy as np

from attn_course.exercises.spec import Exercise


def decoding_step(weights, bits, cache, batch, tokens, peak, bandwidth):
    """Return the intensity of a step, its time at best, and the batch that would fill the machine.

    A step computes ``tokens`` tokens of each of ``batch`` texts: 2 operations a weight and token.
    It reads each weight once, and the cache of each text once.

    Parameters
    ----------
    weights : float
        Number of weights.
    bits : int
        Of a weight as it is stored.
    cache : float
        Bytes of the cache of one text.
    batch, tokens : int
    peak, bandwidth : float
        Operations, and bytes, a second.

    Returns
    -------
    intensity : float
        Operations a byte.
    seconds : float
    full : int
        The smallest batch at which a step of one token a text is bound by arithmetic; 0 if there
        is none.

    References
    ----------
    Williams, Waterman and Patterson (2009), Roofline, figure 1; Pope et al. (2023), Efficiently
    Scaling Transformer Inference, section 2.
    """
    return _step(weights, bits, cache, batch, tokens, peak, bandwidth)


def _together(one, other):
    return max(one, other)


def _in_turn(one, other):
    return one + other


def _at_least(weights, size, cache, ridge):
    room = 2 * weights - ridge * cache
    return int(np.ceil(ridge * size / room)) if room > 0 else 0


def _step(
    weights,
    bits,
    cache,
    batch,
    tokens,
    peak,
    bandwidth,
    *,
    operations=2,
    size=lambda weights, bits: weights * bits / 8,
    read=lambda size, cache, batch, tokens: size + batch * cache,
    time=_together,
    full=_at_least,
    share=lambda batch, tokens: batch * tokens,
):
    """Place the step, with the given parts replaced."""
    flops = operations * weights * share(batch, tokens)
    stored = size(weights, bits)
    moved = read(stored, cache, batch, tokens)
    seconds = time(flops / peak, moved / bandwidth)
    return flops / moved, seconds, np.array(full(weights, stored, cache, peak / bandwidth))


def cases(seed):
    """Return steps bound by memory and by arithmetic, and machines that no batch would fill.

    Parameters
    ----------
    seed : int
        Seed of the sizes.

    Returns
    -------
    list of dict
        With the keys ``weights``, ``bits``, ``cache``, ``batch``, ``tokens``, ``peak`` and
        ``bandwidth``.
    """
    rng = np.random.default_rng(seed)

    def case(bits, *, prefill=False, never=False):
        weights, bandwidth = rng.uniform(1e8, 1e9), rng.uniform(5e10, 5e11)
        ridge = rng.uniform(40, 90)
        most = 2 * weights / ridge
        case = {
            "weights": weights,
            "bits": int(bits),
            "cache": most * (rng.uniform(1.2, 2) if never else rng.uniform(0.3, 0.7)),
            "batch": int(rng.integers(2, 6)),
            "tokens": int(rng.integers(200, 400)) if prefill else int(rng.integers(1, 3)),
            "peak": ridge * bandwidth,
            "bandwidth": bandwidth,
        }
        return {name: np.array(value) for name, value in case.items()}

    return [
        *(case(bits) for bits in rng.permutation([4, 8, 16])),
        *(case(bits, prefill=True) for bits in rng.permutation([4, 8, 16])),
        *(case(bits, never=True) for bits in rng.permutation([4, 8, 16])[:2]),
    ]


def _wrong(**how):
    return lambda *arguments: _step(*arguments, **how)


MISTAKES = {
    "one_operation_a_weight": (_wrong(operations=1),),
    "one_token_a_text": (_wrong(share=lambda batch, tokens: batch),),
    "one_text": (_wrong(share=lambda batch, tokens: tokens),),
    "weights_counted_in_bits": (_wrong(size=lambda weights, bits: weights * bits),),
    "weights_of_two_bytes": (_wrong(size=lambda weights, bits: 2 * weights),),
    "weights_read_for_each_text": (
        _wrong(read=lambda size, cache, batch, tokens: batch * (size + cache)),
    ),
    "cache_forgotten": (_wrong(read=lambda size, cache, batch, tokens: size),),
    "one_cache_for_all": (_wrong(read=lambda size, cache, batch, tokens: size + cache),),
    "cache_for_each_token": (
        _wrong(read=lambda size, cache, batch, tokens: size + batch * tokens * cache),
    ),
    "times_put_together_otherwise": (_wrong(time=_in_turn),),
    "arithmetic_alone": (_wrong(time=lambda one, other: one),),
    "memory_alone": (_wrong(time=lambda one, other: other),),
    "faster_of_the_two": (_wrong(time=min),),
    "batch_without_cache": (
        _wrong(full=lambda weights, size, cache, ridge: int(np.ceil(ridge * size / (2 * weights)))),
    ),
    "batch_rounded_down": (_wrong(full=lambda *args: max(_at_least(*args) - 1, 0)),),
}

EXERCISE = Exercise.from_file(
    __file__, ("intensity", "seconds", "full"), decoding_step, cases, MISTAKES
)
