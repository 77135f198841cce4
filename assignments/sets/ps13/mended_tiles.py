"""Problem set 13, `mended_tiles`: attention tile by tile, and ways to lose what came before."""

import numpy as np

from attn.reference import scaled_dot_product_attention
from attn_course.exercises.spec import Exercise


def mended_tiles(query, key, value, mask, tile):
    """Return the output of attention, of which no more than a tile of scores is ever kept.

    Parameters
    ----------
    query : array, shape (tgt_len, d_k)
    key : array, shape (src_len, d_k)
    value : array, shape (src_len, d_v)
    mask : array of bool, shape (tgt_len, src_len)
        True where a query may attend to a key.
    tile : int
        Number of keys in a tile; the last one may be smaller.

    Returns
    -------
    array, shape (tgt_len, d_v)
        Zeros for a query that may attend to nothing.

    References
    ----------
    Milakov and Gimelshein (2018), Online normalizer calculation for softmax, algorithm 3.
    """
    unscaled = query * np.sqrt(query.shape[1])
    return scaled_dot_product_attention(unscaled / _scale(query), key, value, mask)[0]


def _scale(query):
    return np.sqrt(query.shape[1])


def _other_scale(query):
    return query.shape[1]


def _tiles(
    query,
    key,
    value,
    mask,
    tile,
    *,
    total_kept=lambda shrunk: shrunk,
    output_kept=lambda shrunk: shrunk,
    peak_of=np.maximum,
    shrink=lambda old, new: np.exp(old - new),
    divide=True,
    scale=_scale,
    hidden=-np.inf,
    empty=0.0,
    blocks=None,
    masked=True,
):
    """Run over the tiles, with the given parts replaced."""
    n = len(query)
    peak, total, output = np.full(n, -np.inf), np.zeros(n), np.zeros((n, value.shape[1]))
    for start in blocks(len(key), int(tile)) if blocks else range(0, len(key), int(tile)):
        part = slice(start, start + int(tile))
        scores = query @ key[part].T / scale(query)
        if masked:
            scores = np.where(mask[:, part], scores, hidden)
        new = peak_of(peak, scores.max(axis=1))
        safe = np.where(np.isfinite(new), new, 0.0)
        shrunk = np.where(
            np.isfinite(peak), shrink(np.where(np.isfinite(peak), peak, 0), safe), 0.0
        )
        grown = np.exp(scores - safe[:, None])
        total = total * total_kept(shrunk) + grown.sum(axis=1)
        output = output * output_kept(shrunk)[:, None] + grown @ value[part]
        peak = new
    with np.errstate(invalid="ignore", divide="ignore"):
        output = output / total[:, None] if divide else output
    return np.where(total[:, None] > 0, output, empty)


def cases(seed):
    """Return short texts in several tiles, some with rows that may see nothing, some with large scores.

    Parameters
    ----------
    seed : int
        Seed of the random numbers, and of the sizes of some inputs.

    Returns
    -------
    list of dict
        With the keys ``query``, ``key``, ``value``, ``mask`` and ``tile``.
    """
    rng = np.random.default_rng(seed)

    def case(tgt_len, src_len, d_k, d_v, tile, *, empty=False, size=1.0):
        query, key = size * rng.normal(size=(tgt_len, d_k)), rng.normal(size=(src_len, d_k))
        mask = rng.random((tgt_len, src_len)) < 0.7
        # Every row sees something of the first tile and of the last, and not all of it.
        mask[:, 0] = mask[:, -1] = True
        mask[:, 1] = False
        # The largest score comes late in one row and early in another.
        key[-1] = 1.5 * np.sqrt(d_k) * query[0] / np.linalg.norm(query[0])
        key[0] = 1.5 * np.sqrt(d_k) * query[1] / np.linalg.norm(query[1])
        if empty:
            mask[-1], mask[0, :tile] = False, False
        value = rng.normal(size=(src_len, d_v))
        return dict(zip(NAMES, (query, key, value, mask, np.array(tile)), strict=True))

    return [
        case(2, 4, 2, 2, 2),
        case(3, 5, 3, 2, 2),
        case(3, 7, 2, 4, 3),
        case(*rng.integers((3, 8, 2, 2, 2), (6, 12, 5, 5, 5))),
        case(3, 5, 3, 2, 2, empty=True),
        case(4, 8, 2, 3, 3, empty=True),
        case(3, 5, 3, 2, 2, size=1000.0),
        case(3, 8, 4, 3, 3, size=2000.0),
    ]


NAMES = ("query", "key", "value", "mask", "tile")


def _wrong(**how):
    return lambda *arguments: _tiles(*arguments, **how)


def _ones(shrunk):
    return np.ones_like(shrunk)


def _without_peak(query, key, value, mask, tile):
    scores = np.where(mask, query @ key.T / _scale(query), -np.inf)
    grown = np.exp(scores)
    total = grown.sum(axis=1, keepdims=True)
    return np.where(total > 0, grown @ value / np.where(total > 0, total, 1), 0)


def _each_alone(query, key, value, mask, tile):
    parts = [slice(s, s + int(tile)) for s in range(0, len(key), int(tile))]
    return sum(mended_tiles(query, key[p], value[p], mask[:, p], tile) for p in parts) / len(parts)


MISTAKES = {
    "total_not_shrunk": (_wrong(total_kept=_ones),),
    "output_not_shrunk": (_wrong(output_kept=_ones),),
    "nothing_shrunk": (_wrong(total_kept=_ones, output_kept=_ones),),
    "shrunk_the_wrong_way": (_wrong(shrink=lambda old, new: np.exp(new - old)),),
    "peak_of_the_tile": (
        _wrong(peak_of=lambda old, new: new, total_kept=_ones, output_kept=_ones),
    ),
    "tiles_averaged": (_each_alone,),
    "last_tile_alone": (
        _wrong(total_kept=lambda shrunk: 0 * shrunk, output_kept=lambda shrunk: 0 * shrunk),
    ),
    "not_divided": (_wrong(divide=False),),
    "not_scaled": (_wrong(scale=lambda query: 1.0),),
    "scaled_otherwise": (_wrong(scale=_other_scale),),
    "mask_ignored": (_wrong(masked=False),),
    "zero_for_hidden": (_wrong(hidden=0.0),),
    "large_number_for_hidden": (_wrong(hidden=-1e9),),
    "last_keys_left_out": (_wrong(blocks=lambda n, tile: range(0, n - tile + 1, tile)),),
    "no_peak": (_without_peak,),
    "empty_rows_undefined": (_wrong(empty=np.nan),),
}

EXERCISE = Exercise.from_file(__file__, ("output",), mended_tiles, cases, MISTAKES)
