"""Test submissions for problem set 13: right answers in many ways, and wrong ones.

Each is the text of a cell. A wrong answer is a right one with a slip, so that it is wrong in
one way only, and has nothing in common with the code of the known mistakes.
`tests.test_assignments.proofs.Answers` says what each table holds.
"""

TILES = "mended_tiles"
TRAFFIC = "tile_traffic"
SIDE = "largest_tile"
STEP = "decoding_step"

CORRECT = {
    TILES: {
        "tiles": """
def mended_tiles(query, key, value, mask, tile):
    peak = np.full(len(query), -np.inf)
    total, output = np.zeros(len(query)), np.zeros((len(query), value.shape[1]))
    for start in range(0, len(key), tile):
        part = slice(start, start + tile)
        scores = query @ key[part].T / np.sqrt(query.shape[1])
        scores = np.where(mask[:, part], scores, -np.inf)
        new = np.maximum(peak, scores.max(axis=1))
        floor = np.maximum(new, -1e300)
        shrink = np.exp(peak - floor)
        grown = np.exp(scores - floor[:, None])
        total = total * shrink + grown.sum(axis=1)
        output = output * shrink[:, None] + grown @ value[part]
        peak = new
    return output / np.maximum(total, 1)[:, None]
""",
        "one query after another": """
def mended_tiles(query, key, value, mask, tile):
    rows = np.c_[value, np.ones(len(value))]
    output = []
    for q, allowed in zip(query, mask):
        peak = -np.inf
        sums = np.zeros(len(rows.T))
        for start in range(0, len(key), tile):
            for k, row, seen in zip(key[start:], rows[start : start + tile], allowed[start:]):
                if seen:
                    score = (q * k).sum() / np.sqrt(len(q))
                    new = max(peak, score)
                    sums = sums * np.exp(peak - new) + np.exp(score - new) * row
                    peak = new
        output.append(sums[:-1] / max(sums[-1], 1))
    return np.array(output)
""",
        "all at once": """
def mended_tiles(query, key, value, mask, tile):
    scores = np.where(mask, query @ key.T, -np.inf) / np.sqrt(query.shape[1])
    peak = np.maximum(scores.max(axis=1, keepdims=True), -1e300)
    grown = np.exp(scores - peak)
    return grown @ value / np.maximum(grown.sum(axis=1, keepdims=True), 1)
""",
    },
    TRAFFIC: {
        "rows": """
def tile_traffic(n, d, rows, columns, causal):
    ends = np.minimum(np.arange(rows, n + rows, rows), n)
    heights = np.diff(ends, prepend=0)
    seen = np.minimum(-(-ends // columns) * columns, n) if causal else np.full(len(ends), n)
    flops = 4 * d * (heights * seen).sum()
    plain = 4 * n * d + 4 * n * n
    tiled = 2 * d * heights.sum() + 2 * d * seen.sum()
    return flops, plain, tiled
""",
        "tiles": """
def tile_traffic(n, d, rows, columns, causal):
    flops = 0
    tiled = 2 * n * d
    for top in range(0, n, rows):
        height = min(rows, n - top)
        for left in range(0, n, columns):
            width = min(columns, n - left)
            if left < top + height or not causal:
                flops += 4 * height * width * d
                tiled += 2 * width * d
    return flops, 4 * n * (n + d), tiled
""",
        "mask": """
def tile_traffic(n, d, rows, columns, causal):
    places = np.arange(n)
    allowed = (places[:, None] >= places) | (not causal)
    cells = moved = 0
    for top in range(0, n, rows):
        for left in range(0, n, columns):
            tile = allowed[top : top + rows, left : left + columns]
            if tile.any():
                cells += tile.size
                moved += tile.shape[1]
    return 4 * d * cells, 4 * n * d + 4 * n**2, 2 * d * (n + moved)
""",
    },
    SIDE: {
        "tried": """
def largest_tile(memory, d, bits, multiple):
    found = []
    for room in memory.tolist():
        side = 0
        for t in range(multiple, int(np.sqrt(room)), multiple):
            numbers = 4 * t * d + t * t + 2 * t
            if numbers * bits // 8 <= room:
                side = t
        found.append(side)
    return np.array(found)
""",
        "root": """
def largest_tile(memory, d, bits, multiple):
    half = 2 * d + 1
    root = np.sqrt(half * half + memory * 8 // bits) - half
    return (root // multiple).astype(int) * multiple
""",
        "table": """
def largest_tile(memory, d, bits, multiple):
    t = np.arange(0, int(np.sqrt(memory.max())), multiple)
    needed = (4 * d * t + t**2 + 2 * t) * bits // 8
    return np.array([t[needed <= room][-1] for room in memory])
""",
    },
    STEP: {
        "formula": """
def decoding_step(weights, bits, cache, batch, tokens, peak, bandwidth):
    flops = 2 * weights * batch * tokens
    stored = weights * bits / 8
    moved = stored + batch * cache
    seconds = max(flops / peak, moved / bandwidth)
    ridge = peak / bandwidth
    smallest = ridge * stored / (2 * weights - ridge * cache)
    return flops / moved, seconds, int(max(0, np.ceil(smallest)))
""",
        "times": """
def decoding_step(weights, bits, cache, batch, tokens, peak, bandwidth):
    work = 2 * weights / peak
    load = cache / bandwidth
    read = weights * bits / 8 / bandwidth
    computing = work * batch * tokens
    reading = read + load * batch
    full = int(np.ceil(read / (work - load))) if work > load else 0
    return computing * peak / (reading * bandwidth), max(computing, reading), full
""",
        "arrays": """
def decoding_step(weights, bits, cache, batch, tokens, peak, bandwidth):
    size = np.array([weights * bits / 8, batch * cache]).sum()
    flops = np.prod([2.0, weights, batch, tokens])
    gained = 2 * weights / peak - cache / bandwidth
    full = np.ceil(weights * bits / 8 / bandwidth / gained)
    return flops / size, np.max([flops / peak, size / bandwidth]), int(np.clip(full, 0, None))
""",
    },
}

# One slip a line: a table that is read down its columns.
SLIPS = {
    TILES: (
        "tiles",
        [
            ("sum", "total_not_shrunk", "total * shrink", "total"),
            ("output", "output_not_shrunk", "output * shrink[:, None]", "output"),
            ("both", "nothing_shrunk", "np.exp(peak - floor)", "np.ones(len(peak))"),
            ("sign", "shrunk_the_wrong_way", "np.exp(peak - floor)",
             "np.where(peak > -np.inf, np.exp(floor - np.maximum(peak, -1e300)), 0)"),
            ("own peak", "peak_of_the_tile",
             [("np.maximum(peak, scores.max(axis=1))", "scores.max(axis=1)"),
              ("np.exp(peak - floor)", "np.ones(len(peak))")]),
            ("mean", "tiles_averaged",
             [("    total, output =", "    count = 0\n    total, output ="),
              ("        grown =", "        shrink, count = 1, count + 1\n        grown ="),
              ("np.maximum(peak, scores.max(axis=1))", "scores.max(axis=1)"),
              ("output * shrink[:, None] + grown @ value[part]",
               "output + grown @ value[part] / np.maximum(grown.sum(axis=1), 1)[:, None]"),
              ("np.maximum(total, 1)[:, None]", "count")]),
            ("last", "last_tile_alone",
             [("np.exp(peak - floor)", "np.zeros(len(peak))"), ("np.maximum(total, 1)", "np.where(total > 0, total, 1)")]),
            ("undivided", "not_divided", " / np.maximum(total, 1)[:, None]", ""),
            ("unscaled", "not_scaled", " / np.sqrt(query.shape[1])", ""),
            ("width", "scaled_otherwise", "np.sqrt(query.shape[1])", "query.shape[1]"),
            ("no mask", "mask_ignored", "np.where(mask[:, part], scores, -np.inf)", "scores"),
            ("zeros", "zero_for_hidden", "mask[:, part], scores, -np.inf", "mask[:, part], scores, 0"),
            ("large", "large_number_for_hidden", "mask[:, part], scores, -np.inf",
             "mask[:, part], scores, -1e9"),
            ("full tiles", "last_keys_left_out", "range(0, len(key), tile)",
             "range(0, len(key) - tile + 1, tile)"),
            ("no peak", "no_peak",
             [("np.maximum(new, -1e300)", "np.zeros(len(new))"), ("np.exp(peak - floor)", "np.ones(len(peak))"),
              ("np.maximum(total, 1)", "np.where(total > 0, total, 1)")]),
            ("not a number", "empty_rows_undefined", "np.maximum(total, 1)", "total"),
            ("twice", None, "    return output", "    return 2 * output"),
            ("writes into the values", None, "    peak = np.full", "    value *= 2\n    peak = np.full"),
        ],
    ),
    TRAFFIC: (
        "rows",
        [
            ("halves", "multiplications_alone", "flops = 4", "flops = 2"),
            ("two", "weights_not_written", "4 * n * n", "2 * n * n"),
            ("three", "weights_not_written", "4 * n * n", "3 * n * n"),
            ("one", "scores_alone", "4 * n * n", "n * n"),
            ("three of d", "output_forgotten_in_plain", "4 * n * d", "3 * n * d"),
            ("queries", "queries_read_again", "2 * d * heights.sum()",
             "d * (n + (heights * -(-seen // columns)).sum())"),
            ("outputs", "output_written_again", "2 * d * heights.sum()",
             "d * (n + 2 * (heights * -(-seen // columns)).sum())"),
            ("no output", "output_forgotten", "2 * d * heights.sum()", "d * heights.sum()"),
            ("keys once", "keys_read_once", "2 * d * seen.sum()", "2 * d * n"),
            ("keys alone", "values_forgotten", "+ 2 * d * seen", "+ d * seen"),
            ("floor", "last_tile_left_out", "    heights =",
             "    ends = ends[: n // rows]\n    heights ="),
            ("all", "causal_not_used", "if causal else", "if False else"),
            ("half", "half_for_causal", "np.minimum(-(-ends // columns) * columns, n) if",
             "np.full(len(ends), n // 2) if"),
            ("pairs", "allowed_pairs_alone", "np.minimum(-(-ends // columns) * columns, n) if", "ends if"),
            ("beyond", "last_tile_as_large", "np.minimum(-(-ends // columns) * columns, n) if",
             "-(-ends // columns) * columns if"),
            ("whole", "last_tile_as_large",
             [("    heights = np.diff(ends, prepend=0)\n",
               "    heights = np.full(len(ends), rows)\n    ends = np.cumsum(heights)\n"),
              ("np.full(len(ends), n)", "np.full(len(ends), -(-n // columns) * columns)")]),
            ("first row", "tile_of_the_first_row", "-(-ends // columns)",
             "((ends - heights) // columns + 1)"),
            ("turned", "exchanged", "plain, tiled\n", "tiled, plain\n"),
            ("no width", None, "4 * d * (heights", "4 * (heights"),
            ("twice", None, "2 * d * seen.sum()", "4 * d * seen.sum()"),
        ],
    ),
    SIDE: (
        "tried",
        [
            ("no scores", "scores_forgotten", [(" + t * t", ""), ("int(np.sqrt(room))", "room // 8")]),
            ("weights", "scores_and_weights", "t * t", "2 * t * t"),
            ("three", "output_forgotten", "4 * t * d", "3 * t * d"),
            ("two", "keys_and_values_alone", "4 * t * d", "2 * t * d"),
            ("none kept", "peak_and_total_forgotten", " + 2 * t", ""),
            ("one kept", "one_number_a_row", " + 2 * t", " + t"),
            ("numbers", "numbers_for_bytes", "numbers * bits // 8", "numbers"),
            ("bits", "bits_for_bytes", "numbers * bits // 8", "numbers * bits"),
            ("four", "always_four_bytes", "numbers * bits // 8", "numbers * 4"),
            ("bytes", "always_two_bytes", "numbers * bits // 8", "numbers * 2"),
            ("every side", "any_side", "range(multiple, int(np.sqrt(room)), multiple)",
             "range(1, int(np.sqrt(room)))"),
            ("up", "one_too_large", "append(side)", "append(side + multiple)"),
            ("down", "one_too_small", "append(side)", "append(max(side - multiple, 0))"),
            ("less", "room_to_spare", "<= room", "< room"),
            ("least", "at_least_one", "append(side)", "append(max(side, multiple))"),
            ("without d", None, "4 * t * d", "4 * t"),
            ("writes into the memories", None, "    found = []", "    memory //= 2\n    found = []"),
        ],
    ),
    STEP: (
        "formula",
        [
            ("one", "one_operation_a_weight", "flops = 2 * weights", "flops = weights"),
            ("a token", "one_token_a_text", "batch * tokens", "batch"),
            ("a text", "one_text", "weights * batch * tokens", "weights * tokens"),
            ("bits", "weights_counted_in_bits", "bits / 8", "bits"),
            ("two bytes", "weights_of_two_bytes", "weights * bits / 8", "weights * 2"),
            ("each text", "weights_read_for_each_text", "stored + batch * cache", "batch * (stored + cache)"),
            ("no cache", "cache_forgotten", "stored + batch * cache", "stored"),
            ("one cache", "one_cache_for_all", "stored + batch * cache", "stored + cache"),
            ("each token", "cache_for_each_token", "batch * cache", "batch * tokens * cache"),
            ("added", "times_put_together_otherwise", "max(flops / peak, moved / bandwidth)",
             "flops / peak + moved / bandwidth"),
            ("arithmetic", "arithmetic_alone", "max(flops / peak, moved / bandwidth)", "flops / peak"),
            ("memory", "memory_alone", "max(flops / peak, moved / bandwidth)", "moved / bandwidth"),
            ("faster", "faster_of_the_two", "max(flops", "min(flops"),
            ("weights alone", "batch_without_cache", " - ridge * cache)", ")"),
            ("floor", "batch_rounded_down", "np.ceil", "np.floor"),
            ("upside down", None, "flops / moved", "moved / flops"),
            ("no limit", None, "int(max(0, np.ceil(smallest)))", "int(np.ceil(smallest))"),
        ],
    ),
}  # fmt: skip # Each mistake stays beside its edit.

WORTH = {
    (TILES, "not a number"): (16, "partial"),
    (TILES, "large"): (16, "partial"),
    (TILES, "sum"): (0, "wrong"),
    (TRAFFIC, "all"): (15, "partial"),
    (TRAFFIC, "pairs"): (15, "partial"),
    (TRAFFIC, "keys once"): (0, "wrong"),
    (SIDE, "less"): (17, "partial"),
    (SIDE, "least"): (17, "partial"),
    (SIDE, "bits"): (0, "wrong"),
    (STEP, "no limit"): (17, "partial"),
    (STEP, "one"): (0, "wrong"),
    (STEP, "floor"): (0, "wrong"),
}

EQUIVALENT = {
    (
        STEP,
        "full = int(np.ceil(read / (work - load))) if work >= load else 0",
    ): "no machine is at the limit itself",
}

FAULTY = ("faulty_tiles", TILES, "total_not_shrunk")
