"""Problem set 13, `largest_tile`: what fits into fast memory, and ways to fill it too far."""

import numpy as np

from attn_course.exercises.spec import Exercise


def largest_tile(memory, d, bits, multiple):
    """Return the largest square tile of attention that fits into fast memory.

    A tile of t queries and t keys keeps queries, keys, values and the output so far, each of t x d
    numbers, t x t scores, and for each query a peak and a total.

    Parameters
    ----------
    memory : array of int, shape (n,)
        Bytes of fast memory, of several machines.
    d : int
    bits : int
        Of a number: 16 or 32.
    multiple : int
        The side of a tile is a multiple of this.

    Returns
    -------
    array of int, shape (n,)
        0 where nothing fits.

    References
    ----------
    Dao et al. (2022), FlashAttention, algorithm 1, where the size of a block follows from that of
    fast memory.
    """
    return _fit(memory, d, bits, multiple)


def _fit(
    memory,
    d,
    bits,
    multiple,
    *,
    vectors=4,
    scores=1.0,
    kept=2,
    width=lambda bits: bits / 8,
    fits=np.less_equal,
    over=0,
    low=0,
    step=None,
):
    """Try every side, with the given parts replaced."""
    found = []
    step = int(multiple) if step is None else step
    for room in np.asarray(memory).tolist():
        t = step * np.arange(1, 20000 // step)
        needed = (vectors * t * int(d) + scores * t * t + kept * t) * width(int(bits))
        side = int(t[fits(needed, room)].max(initial=0))
        found.append(max(side + over * step, low * step))
    return np.array(found)


def cases(seed):
    """Return machines of several sizes, some too small for any tile, some that a tile fills to the last byte.

    Parameters
    ----------
    seed : int
        Seed of the sizes.

    Returns
    -------
    list of dict
        With the keys ``memory``, ``d``, ``bits`` and ``multiple``.
    """
    rng = np.random.default_rng(seed)

    def needed(t, d, bits):
        return (4 * t * d + t * t + 2 * t) * bits // 8

    def case(n, bits, *, exact=False, small=False):
        d, multiple = int(rng.integers(8, 65)), int(rng.choice([4, 8, 16]))
        sides = multiple * rng.permutation(np.arange(4, 40))[:n]
        memory = [needed(t, d, bits) for t in sides]
        if not exact:
            step = [needed(t + multiple, d, bits) - needed(t, d, bits) for t in sides]
            memory = [
                m + int(s * rng.uniform(0.2, 0.95)) for m, s in zip(memory, step, strict=True)
            ]
        if small:
            memory[0] = needed(multiple, d, bits) - int(rng.integers(1, 9))
        return {
            "memory": np.array(memory),
            "d": np.array(d),
            "bits": np.array(bits),
            "multiple": np.array(multiple),
        }

    return [
        case(4, 16),
        case(6, 32),
        case(8, 16),
        case(int(rng.integers(9, 14)), 32),
        case(4, 16, exact=True),
        case(6, 32, exact=True),
        case(5, 16, small=True),
        case(7, 32, small=True),
    ]


def _wrong(**how):
    return lambda *arguments: _fit(*arguments, **how)


MISTAKES = {
    "scores_forgotten": (_wrong(scores=0.0),),
    "scores_and_weights": (_wrong(scores=2.0),),
    "output_forgotten": (_wrong(vectors=3),),
    "keys_and_values_alone": (_wrong(vectors=2),),
    "peak_and_total_forgotten": (_wrong(kept=0),),
    "one_number_a_row": (_wrong(kept=1),),
    "numbers_for_bytes": (_wrong(width=lambda bits: 1),),
    "bits_for_bytes": (_wrong(width=lambda bits: bits),),
    "always_four_bytes": (_wrong(width=lambda bits: 4),),
    "always_two_bytes": (_wrong(width=lambda bits: 2),),
    "any_side": (_wrong(step=1),),
    "one_too_large": (_wrong(over=1),),
    "one_too_small": (_wrong(over=-1),),
    "room_to_spare": (_wrong(fits=np.less),),
    "at_least_one": (_wrong(low=1),),
}

EXERCISE = Exercise.from_file(__file__, ("tile",), largest_tile, cases, MISTAKES)
