"""Problem set 13, `tile_traffic`: what attention computes and moves, counted, and ways to miscount."""

import numpy as np

from attn_course.exercises.spec import Exercise


def tile_traffic(n, d, rows, columns, causal):
    """Return the work of attention in tiles, and the numbers that it and plain attention move.

    Plain attention reads queries and keys and writes the scores; reads them and writes the weights;
    reads weights and values and writes the output. In tiles, each tile of queries is read once and
    its output written once; for each, the tiles of keys and values are read that it needs.

    Parameters
    ----------
    n : int
        Number of tokens.
    d : int
        Width of queries, keys and values.
    rows, columns : int
        Queries, and keys, in a tile; the last of each may be smaller.
    causal : bool
        Whether a query sees only keys up to its own place. A tile in which it is so for no pair is
        not visited; one in which it is so for some is computed as a whole.

    Returns
    -------
    flops : int
        Multiplications and additions of both products, in tiles.
    plain, tiled : int
        Numbers read from and written to slow memory.

    References
    ----------
    Dao et al. (2022), FlashAttention, theorem 2 and algorithm 1.
    """
    return _count(n, d, rows, columns, causal)


def _sizes(n, size):
    return [min(size, n - start) for start in range(0, n, size)]


def _needed(start, height, columns, n):
    """Return how many keys the tiles hold that some query of a tile of rows may see."""
    return min(n, -(-(start + height) // columns) * columns)


def _count(
    n,
    d,
    rows,
    columns,
    causal,
    *,
    sizes=_sizes,
    across=None,
    needed=_needed,
    operations=4,
    matrices=4,
    vectors=4,
    queries=lambda height, d, seen, columns: height * d,
    keys=2,
    output=lambda height, d, seen, columns: height * d,
    reread=True,
):
    """Count, with the given parts replaced."""
    n, d, rows, columns = (int(x) for x in (n, d, rows, columns))
    flops, moved, start = 0, 0, 0
    for height in sizes(n, rows):
        seen = needed(start, height, columns, n) if causal else sum((across or sizes)(n, columns))
        flops += operations * height * seen * d
        moved += queries(height, d, seen, columns) + output(height, d, seen, columns)
        moved += keys * d * (seen if reread else n * (start == 0))
        start += height
    return np.array(flops), np.array(vectors * n * d + matrices * n * n), np.array(moved)


def cases(seed):
    """Return shapes that tiles fill and shapes that they do not, with and without a causal mask.

    Parameters
    ----------
    seed : int
        Seed of the sizes.

    Returns
    -------
    list of dict
        With the keys ``n``, ``d``, ``rows``, ``columns`` and ``causal``.
    """
    rng = np.random.default_rng(seed)

    def case(causal, *, full=False):
        rows, columns = rng.permutation(np.arange(3, 12))[:2]
        d = rng.integers(4, 40)
        n = rows * columns * rng.integers(2, 6)
        if not full:
            while n % rows == 0 or n % columns == 0:
                n += 1
        sizes = (np.array(int(x)) for x in (n, d, rows, columns))
        return dict(zip(("n", "d", "rows", "columns"), sizes, strict=True)) | {
            "causal": np.array(causal)
        }

    return [
        *(case(False, full=True) for _ in range(3)),
        *(case(False) for _ in range(2)),
        *(case(True, full=True) for _ in range(2)),
        *(case(True) for _ in range(2)),
    ]


def _wrong(**how):
    return lambda *arguments: _count(*arguments, **how)


def _visits(seen, columns):
    return -(-seen // columns)


def _whole(n, size):
    return [size] * -(-n // size)


MISTAKES = {
    "multiplications_alone": (_wrong(operations=2),),
    "weights_not_written": (_wrong(matrices=2), _wrong(matrices=3)),
    "scores_alone": (_wrong(matrices=1),),
    "output_forgotten_in_plain": (_wrong(vectors=3),),
    "queries_read_again": (
        _wrong(queries=lambda height, d, seen, columns: height * d * _visits(seen, columns)),
    ),
    "output_written_again": (
        _wrong(output=lambda height, d, seen, columns: 2 * height * d * _visits(seen, columns)),
    ),
    "output_forgotten": (_wrong(output=lambda height, d, seen, columns: 0),),
    "keys_read_once": (_wrong(reread=False),),
    "values_forgotten": (_wrong(keys=1),),
    "last_tile_left_out": (
        _wrong(sizes=lambda n, size: [size] * (n // size)),
        _wrong(sizes=lambda n, size: [size] * (n // size), across=_sizes),
    ),
    "causal_not_used": (_wrong(needed=lambda start, height, columns, n: n),),
    "half_for_causal": (_wrong(needed=lambda start, height, columns, n: n // 2),),
    "allowed_pairs_alone": (_wrong(needed=lambda start, height, columns, n: start + height),),
    "last_tile_as_large": (
        _wrong(needed=lambda start, height, columns, n: -(-(start + height) // columns) * columns),
        _wrong(sizes=_whole),
    ),
    "tile_of_the_first_row": (
        _wrong(needed=lambda start, height, columns, n: min(n, (start // columns + 1) * columns)),
    ),
    "exchanged": (lambda *arguments: tuple(tile_traffic(*arguments)[i] for i in (0, 2, 1)),),
}

EXERCISE = Exercise.from_file(__file__, ("flops", "plain", "tiled"), tile_traffic, cases, MISTAKES)
