"""Test submissions for problem set 2: right answers in many ways, and wrong ones.

Each is the text of a cell. A wrong answer is a right one with a slip, so that it is wrong in
one way only, and has nothing in common with the code of the known mistakes.
`tests.test_assignments.proofs.Answers` says what each table holds.
"""

SOFTMAX = "softmax_with_temperature"
ONCE = "attend_once"
MASK = "causal_padding_mask"
PACKED = "packed_self_attention"
MENDED = "mended_self_attention"

CORRECT = {
    SOFTMAX: {
        "vectorised": """
def softmax_with_temperature(scores, temperature):
    scaled = scores / temperature[..., None]
    peak = scaled.max(axis=-1, keepdims=True)
    peak = np.where(peak == -np.inf, 0, peak)
    exponentials = np.exp(scaled - peak)
    total = exponentials.sum(axis=-1, keepdims=True)
    return np.where(total == 0, 0, exponentials / total)
""",
        "loops": """
def softmax_with_temperature(scores, temperature):
    weights = np.zeros(scores.shape)
    for row in np.ndindex(temperature.shape):
        scaled = [score / temperature[row] for score in scores[row]]
        largest = max(scaled)
        if largest > -np.inf:
            exponentials = [np.exp(score - largest) for score in scaled]
            weights[row] = [e / sum(exponentials) for e in exponentials]
    return weights
""",
        "logarithms": """
def softmax_with_temperature(scores, temperature):
    scaled = np.einsum("...n,...->...n", scores, 1 / temperature)
    log_total = np.logaddexp.reduce(scaled, axis=-1)
    return np.nan_to_num(np.exp(scaled - log_total[..., None]))
""",
        "flattened": """
def softmax_with_temperature(scores, temperature):
    rows = scores.reshape(temperature.size, scores.shape[-1]) / temperature.ravel()[:, None]
    powers = np.array([np.exp(row - max(row.max(), -1e300)) for row in rows])
    weights = np.nan_to_num(powers / powers.sum(axis=1)[:, None])
    return weights.reshape(scores.shape)
""",
    },
    ONCE: {
        "vectorised": """
def attend_once(query, key, value, mask=None):
    scores = (key @ query[..., None])[..., 0] / np.sqrt(query.shape[-1])
    if mask is not None:
        scores = np.where(mask, scores, -np.inf)
    peak = scores.max(axis=-1, keepdims=True)
    exponentials = np.exp(scores - np.where(peak == -np.inf, 0, peak))
    total = exponentials.sum(axis=-1, keepdims=True)
    weights = np.where(total == 0, 0, exponentials / total)
    output = (weights[..., None, :] @ value)[..., 0, :]
    return output, weights
""",
        "einsum": """
def attend_once(query, key, value, mask=None):
    scores = np.einsum("...d,...nd->...n", query, key) * query.shape[-1] ** -0.5
    exponentials = np.exp(scores - scores.max(axis=-1)[..., None])
    if mask is not None:
        scores = np.where(mask, scores, -np.inf)
        exponentials = np.nan_to_num(np.exp(scores - scores.max(axis=-1)[..., None]))
    total = np.einsum("...n->...", exponentials)[..., None]
    weights = np.nan_to_num(exponentials / total)
    return np.einsum("...n,...nd->...d", weights, value), weights
""",
        "sums": """
def attend_once(query, key, value, mask=None):
    allowed = np.ones(key.shape[:-1], dtype=bool) if mask is None else mask
    scores = (query[..., np.newaxis, :] * key).sum(axis=-1) / key.shape[-1] ** 0.5
    scores = scores - scores.max(axis=-1, keepdims=True, where=allowed, initial=-1e300)
    exponentials = np.exp(np.where(allowed, scores, -np.inf))
    total = exponentials.sum(axis=-1, keepdims=True)
    weights = np.nan_to_num(exponentials / total)
    return (weights[..., np.newaxis] * value).sum(axis=-2), weights
""",
        "loops": """
def attend_once(query, key, value, mask=None):
    output = np.zeros((*query.shape[:-1], value.shape[-1]))
    weights = np.zeros(key.shape[:-1])
    for place in np.ndindex(query.shape[:-1]):
        allowed = [j for j in range(key.shape[-2]) if mask is None or mask[place][j]]
        scores = [key[place][j].dot(query[place]) / np.sqrt(query.shape[-1]) for j in allowed]
        exponentials = [np.exp(score - max(scores)) for score in scores]
        for j, e in zip(allowed, exponentials):
            weights[place][j] = e / sum(exponentials)
            output[place] += weights[place][j] * value[place][j]
    return output, weights
""",
    },
    MASK: {
        "triangle": """
def causal_padding_mask(ids):
    length = ids.shape[-1]
    order = np.tril(np.ones((length, length), dtype=bool))
    return order & (ids != 0)[:, None, :]
""",
        "positions": """
def causal_padding_mask(ids):
    place = np.arange(ids.shape[1])
    return np.logical_and(place[:, None] >= place, np.expand_dims(ids, 1) > 0)
""",
        "loops": """
def causal_padding_mask(ids):
    batch, n = ids.shape
    mask = np.zeros((batch, n, n), dtype=bool)
    for b in range(batch):
        for i in range(n):
            for j in range(i + 1):
                mask[b, i, j] = ids[b, j] != 0
    return mask
""",
        "lists": """
def causal_padding_mask(ids):
    return [
        [[j <= i and token > 0 for j, token in enumerate(row)] for i in range(len(row))]
        for row in ids.tolist()
    ]
""",
    },
    PACKED: {
        "vectorised": """
def packed_self_attention(x, w_qkv, mask=None):
    query, key, value = np.split(x @ w_qkv, 3, axis=-1)
    scores = query @ key.mT / np.sqrt(query.shape[-1])
    if mask is not None:
        scores = np.where(mask, scores, -np.inf)
    peak = scores.max(axis=-1, keepdims=True)
    exponentials = np.exp(scores - np.where(peak == -np.inf, 0, peak))
    total = exponentials.sum(axis=-1, keepdims=True)
    weights = np.where(total == 0, 0, exponentials / total)
    return weights @ value, weights
""",
        "einsum": """
def packed_self_attention(x, w_qkv, mask=None):
    w = w_qkv.reshape(w_qkv.shape[0], 3, -1)
    query, key, value = np.einsum("...nm,mpd->p...nd", x, w)
    scores = np.einsum("...id,...jd->...ij", query, key) * query.shape[-1] ** -0.5
    if mask is not None:
        scores = scores + np.where(mask, 0, -np.inf)
    weights = np.nan_to_num(np.exp(scores - np.logaddexp.reduce(scores, axis=-1)[..., None]))
    return np.einsum("...ij,...jd->...id", weights, value), weights
""",
        "bilinear": """
def packed_self_attention(x, w_qkv, mask=None):
    d_k = len(w_qkv.T) // 3
    product = w_qkv[:, :d_k] @ w_qkv[:, d_k : 2 * d_k].T
    scores = x @ product @ x.swapaxes(-1, -2) / d_k**0.5
    allowed = np.broadcast_to(True if mask is None else mask, scores.shape)
    peak = scores.max(axis=-1, keepdims=True, where=allowed, initial=-1e300)
    exponentials = np.exp(np.where(allowed, scores - peak, -np.inf))
    total = exponentials.sum(axis=-1, keepdims=True)
    weights = np.nan_to_num(exponentials / total)
    return weights @ x @ w_qkv[:, 2 * d_k :], weights
""",
        "loops": """
def packed_self_attention(x, w_qkv, mask=None):
    if x.ndim > 2:
        masks = [None] * len(x)
        if mask is not None:
            masks = np.broadcast_to(mask, (*x.shape[:-1], x.shape[-2]))
        pairs = [packed_self_attention(*pair, m) for *pair, m in zip(x, [w_qkv] * len(x), masks)]
        return np.stack([o for o, _ in pairs]), np.stack([w for _, w in pairs])
    query, key, value = np.hsplit(x @ w_qkv, 3)
    weights = np.zeros((len(x), len(x)))
    for i, q in enumerate(query):
        allowed = np.full(len(x), True) if mask is None else np.broadcast_to(mask, weights.shape)[i]
        scores = key[allowed] @ q / np.sqrt(len(q))
        if scores.size:
            exponentials = np.exp(scores - scores.max())
            weights[i, allowed] = exponentials / exponentials.sum()
    return weights @ value, weights
""",
    },
    MENDED: {
        "mended": """
def mended_self_attention(x, w_q, w_k, w_v):
    query, key, value = x @ w_q, x @ w_k, x @ w_v
    scores = query @ key.mT / np.sqrt(query.shape[-1])
    exponentials = np.exp(scores - scores.max(axis=-1, keepdims=True))
    weights = exponentials / exponentials.sum(axis=-1, keepdims=True)
    return weights @ value, weights
""",
        "names exchanged": """
def mended_self_attention(x, w_q, w_k, w_v):
    query, key, value = x @ w_k, x @ w_q, x @ w_v
    scores = key @ query.mT / np.sqrt(query.shape[-1])
    exponentials = np.exp(scores - scores.max(axis=-1, keepdims=True))
    weights = exponentials / exponentials.sum(axis=-1, keepdims=True)
    return weights @ value, weights
""",
        "scores transposed": """
def mended_self_attention(x, w_q, w_k, w_v):
    query, key, value = x @ w_q, x @ w_k, x @ w_v
    scores = (key @ query.mT / np.sqrt(query.shape[-1])).mT
    exponentials = np.exp(scores - scores.max(axis=-1, keepdims=True))
    weights = exponentials / exponentials.sum(axis=-1, keepdims=True)
    return weights @ value, weights
""",
        "einsum": """
def mended_self_attention(x, w_q, w_k, w_v):
    scores = np.einsum("...im,md,nd,...jn->...ij", x, w_q, w_k, x) * w_q.shape[1] ** -0.5
    weights = np.exp(scores - np.logaddexp.reduce(scores, axis=-1)[..., None])
    return np.einsum("...ij,...jm,md->...id", weights, x, w_v), weights
""",
        "loops": """
def mended_self_attention(x, w_q, w_k, w_v):
    if x.ndim > 2:
        pairs = [mended_self_attention(sentence, w_q, w_k, w_v) for sentence in x]
        return np.array([o for o, _ in pairs]), np.array([w for _, w in pairs])
    weights = []
    for asks in x @ w_q:
        scores = np.array([asks.dot(answers) for answers in x @ w_k]) / np.sqrt(len(asks))
        exponentials = np.exp(scores - max(scores))
        weights.append(exponentials / sum(exponentials))
    return np.array(weights) @ x @ w_v, np.array(weights)
""",
    },
}

_MASK = """    if mask is not None:
        scores = np.where(mask, scores, -np.inf)
"""
_MAXIMUM = "    peak = scores.max(axis=-1, keepdims=True)\n"
MAXIMUM_TOO_EARLY = (
    "maximum before the mask",
    "maximum_of_forbidden",
    _MASK + _MAXIMUM,
    _MAXIMUM + _MASK,
)

# One slip a line: a table that is read down its columns.
SLIPS = {
    SOFTMAX: (
        "vectorised",
        [
            ("no temperature", "temperature_ignored", " / temperature[..., None]", ""),
            ("times temperature", "temperature_multiplied", "scores / temp", "scores * temp"),
            ("aligned with columns", "temperature_per_column",
             "temperature[..., None]", "temperature"),
            ("mean temperature", "one_temperature",
             "temperature[..., None]", "np.mean(temperature)"),
            ("second axis", "matrix_only", "temperature[..., None]", "temperature[:, None]"),
            ("temperature at the end", "temperature_after_softmax",
             [("scores / temperature[..., None]", "scores"),
              ("/ total)", "/ total / temperature[..., None])")]),
            ("wrong axis", "columns", "axis=-1", "axis=0"),
            ("no axis", "whole_array", "sum(axis=-1, keepdims=True)", "sum()"),
            ("no maximum", "overflow", "scaled - peak", "scaled"),
            ("one maximum", "global_maximum", "scaled.max(axis=-1, keepdims=True)", "scaled.max()"),
            ("maximum too early", "unscaled_maximum", "scaled.max", "scores.max"),
            ("argmax", "argmax", "np.exp(scaled - peak)", "(scaled == peak) * 1.0"),
            ("sign", "sign_flipped", "temperature[..., None]\n", "-temperature[..., None]\n"),
            ("no exponential", "no_exponential", "np.exp(scaled - peak)", "scaled"),
            ("NaN on an empty row", "empty_row",
             [("np.where(peak == -np.inf, 0, peak)", "peak"),
              ("np.where(total == 0, 0, exponentials / total)", "exponentials / total")]),
            ("writes into scores", None,
             [("scaled = scores / temperature[..., None]",
               "scaled = scores\n    scaled /= temperature[..., None]")]),
            ("a slip of its own", None,
             "temperature[..., None]", "(temperature[..., None] + 0.25)"),
        ],
    ),
    ONCE: (
        "vectorised",
        [
            ("no scale", "unscaled", " / np.sqrt(query.shape[-1])", ""),
            ("scale without root", "scaled_by_d_k", "np.sqrt(query.shape[-1])", "query.shape[-1]"),
            ("scale by length", "scaled_by_length",
             "np.sqrt(query.shape[-1])", "np.sqrt(key.shape[-2])"),
            ("scale at the end", "scaled_after_softmax",
             [(" / np.sqrt(query.shape[-1])", ""),
              ("/ total)", "/ total) / np.sqrt(query.shape[-1])")]),
            ("wrong axis", "softmax_over_batch", [("axis=-1", "axis=0"),
                                                  ("-np.inf)\n", "-1e9)\n")]),
            ("no axis", "softmax_over_everything", "sum(axis=-1, keepdims=True)", "sum()"),
            ("no softmax", "no_softmax", "np.where(total == 0, 0, exponentials / total)", "scores"),
            ("argmax", "argmax",
             "np.exp(scores - np.where(peak == -np.inf, 0, peak))",
             "np.eye(scores.shape[-1])[scores.argmax(axis=-1)]"),
            ("mean of keys", "key_as_value", ":] @ value", ":] @ key"),
            ("query as a matrix", "batch_crossed",
             [("(key @ query[..., None])[..., 0]", "query @ key.mT"),
              ("(weights[..., None, :] @ value)[..., 0, :]", "weights @ value")]),
            ("axis left over", "axis_left_over",
             [("    return output, weights",
               "    return output[..., None, :], weights[..., None, :]")]),
            ("mask without if", "mask_without_if", "if mask is not None:", "if True:"),
            ("mask ignored", "mask_ignored", "np.where(mask, scores, -np.inf)", "scores"),
            ("inverted mask", "mask_inverted",
             "where(mask, scores, -np.inf)", "where(mask, -np.inf, scores)"),
            ("mask after softmax", "mask_after_softmax",
             [("np.where(mask, scores, -np.inf)", "scores"),
              ("exponentials / total)",
               "exponentials / total) * (True if mask is None else mask)")]),
            ("mask as a factor", "mask_as_factor",
             "np.where(mask, scores, -np.inf)", "scores * mask"),
            MAXIMUM_TOO_EARLY,
            ("finite fill", "finite_fill", "scores, -np.inf)\n", "scores, -1e9)\n"),
            *(
                (
                    f"{fill}, then zeros",
                    "finite_fill",
                    [
                        ("np.where(mask, scores, -np.inf)", f"np.where(mask, scores, {fill})"),
                        (
                            "exponentials / total)\n",
                            "exponentials / total) * (True if mask is None else mask)\n",
                        ),
                    ],
                )
                for fill in (-1000, -5000)
            ),
            ("NaN if nothing is allowed", "empty_row",
             "np.where(total == 0, 0, exponentials / total)", "exponentials / total"),
            ("no maximum", "overflow", "scores - np.where(peak == -np.inf, 0, peak)", "scores"),
            ("one maximum", "global_maximum", "scores.max(axis=-1, keepdims=True)", "scores.max()"),
            ("one batch axis only", "one_batch_axis",
             "(key @ query[..., None])[..., 0]", 'np.einsum("bd,bnd->bn", query, key)'),
            ("only the output", "only_output", "return output, weights", "return output"),
            ("writes into the mask", None,
             "    return output",
             "    if mask is not None:\n        mask[...] = True\n    return output"),
            ("a slip of its own", None, "exponentials / total)", "exponentials / total) ** 2"),
        ],
    ),
    MASK: (
        "triangle",
        [
            ("order only", "causal_only",
             "(ids != 0)[:, None, :]", "np.ones((len(ids), 1, 1), dtype=bool)"),
            ("padding only", "padding_only",
             "np.tril(np.ones((length, length), dtype=bool))",
             "np.ones((length, length), dtype=bool)"),
            ("upper triangle", "future", "np.tril", "np.triu"),
            ("not itself", "itself_excluded", "dtype=bool))", "dtype=bool), k=-1)"),
            ("inverted", "inverted",
             "return order & (ids != 0)[:, None, :]", "return ~(order & (ids != 0)[:, None, :])"),
            ("padding inverted", "padding_inverted", "ids != 0", "ids == 0"),
            ("or", "either_instead_of_both", "order &", "order |"),
            ("rows", "padding_on_the_rows", "[:, None, :]", "[:, :, None]"),
            ("rows and columns", "padding_both_ways",
             "order &", "order & (ids != 0)[:, :, None] &"),
            ("counted", "padding_at_the_end",
             "(ids != 0)", "(np.arange(length) < np.count_nonzero(ids, axis=1)[:, None])"),
            ("itself always", "padding_sees_itself",
             "return order &", "return np.eye(length, dtype=bool) | order &"),
            ("transposed", "transposed",
             "return order & (ids != 0)[:, None, :]",
             "return (order & (ids != 0)[:, None, :]).swapaxes(1, 2)"),
            ("first sentence only", "first_sentence_for_all",
             "(ids != 0)", "(ids[[0] * len(ids)] != 0)"),
            ("numbers to add", "numbers_to_add",
             "return order & (ids != 0)[:, None, :]",
             "return (1 - (order & (ids != 0)[:, None, :])) * -1e9"),
            ("writes into ids", None,
             "    return order & (ids != 0)[:, None, :]",
             "    mask = order & (ids != 0)[:, None, :]\n    ids[ids == 0] = -1\n    return mask"),
            ("a slip of its own", None, "ids != 0", "ids > 1"),
        ],
    ),
    PACKED: (
        "vectorised",
        [
            ("no scale", "unscaled", " / np.sqrt(query.shape[-1])", ""),
            ("scale by d_model", "scaled_by_d_model",
             "np.sqrt(query.shape[-1])", "np.sqrt(x.shape[-1])"),
            ("scale by the whole", "scaled_by_packed_width", "query.shape[-1]", "w_qkv.shape[-1]"),
            ("swapped query and key", "query_and_key_exchanged",
             "query @ key.mT", "key @ query.mT"),
            ("value first", "thirds_in_another_order",
             "query, key, value = np", "value, query, key = np"),
            ("every third column", "interleaved",
             "np.split(x @ w_qkv, 3, axis=-1)", "((x @ w_qkv)[..., i::3] for i in range(3))"),
            ("one projection", "one_projection_for_both", "query @ key.mT", "query @ query.mT"),
            ("mean of keys", "key_as_value", "weights @ value", "weights @ key"),
            ("mean of x", "values_not_projected", "weights @ value", "weights @ x"),
            ("wrong axis", "softmax_over_queries", [("max(axis=-1", "max(axis=-2"),
                                                    ("sum(axis=-1", "sum(axis=-2"),
                                                    ("scores, -np.inf)", "scores, -1e9)")]),
            ("mask without if", "mask_without_if", "if mask is not None:", "if True:"),
            ("mask ignored", "mask_dropped", "np.where(mask, scores, -np.inf)", "scores"),
            ("inverted mask", "mask_inverted",
             "where(mask, scores, -np.inf)", "where(mask, -np.inf, scores)"),
            ("mask after softmax", "mask_after_softmax",
             [("np.where(mask, scores, -np.inf)", "scores"),
              ("exponentials / total)",
               "exponentials / total) * (True if mask is None else mask)")]),
            ("unbatched only", "matrix_only", "key.mT", "key.T"),
            MAXIMUM_TOO_EARLY,
            ("finite fill", "finite_fill", "scores, -np.inf)\n", "scores, -1e9)\n"),
            *(
                (
                    f"{fill}, then zeros",
                    "finite_fill",
                    [
                        ("np.where(mask, scores, -np.inf)", f"np.where(mask, scores, {fill})"),
                        (
                            "exponentials / total)\n",
                            "exponentials / total) * (True if mask is None else mask)\n",
                        ),
                    ],
                )
                for fill in (-1000, -5000)
            ),
            ("NaN if nothing is allowed", "empty_row",
             "np.where(total == 0, 0, exponentials / total)", "exponentials / total"),
            ("no maximum", "overflow", "scores - np.where(peak == -np.inf, 0, peak)", "scores"),
            ("one maximum", "global_maximum", "scores.max(axis=-1, keepdims=True)", "scores.max()"),
            ("writes into x", None, "    query, key", "    np.round(x, 9, out=x)\n    query, key"),
            ("a slip of its own", None, "weights @ value,", "weights @ value + x.mean(),"),
        ],
    ),
    MENDED: (
        "mended",
        [
            ("as given", "key_asks", "query @ key.mT", "key @ query.mT"),
            ("weights transposed", "columns_normalised",
             [("query @ key.mT", "key @ query.mT"),
              ("    return", "    weights = weights.mT\n    return")]),
            ("softmax over the other axis", "softmax_changed",
             [("query @ key.mT", "key @ query.mT"),
              ("axis=-1, k", "axis=-2, k")]),
            ("scale lost", "unscaled", " / np.sqrt(query.shape[-1])", ""),
            ("root lost", "scaled_by_d_k", "np.sqrt(query.shape[-1])", "query.shape[-1]"),
            ("scale by d_model", "scaled_by_d_model", "query.shape", "x.shape"),
            ("keys with keys", "one_projection_for_both", "query @ key.mT", "key @ key.mT"),
            ("mean of keys", "values_changed", "weights @ value", "weights @ key"),
            ("unbatched only", "all_axes_transposed", "key.mT", "key.T"),
            ("batches only", "batch_only", "key.mT", "key.transpose(0, 2, 1)"),
            ("maximum lost", "overflow", " - scores.max(axis=-1, keepdims=True)", ""),
            ("one maximum", "global_maximum", "scores.max(axis=-1, keepdims=True)", "scores.max()"),
            ("only the output", "only_output", "weights @ value, weights", "weights @ value"),
            ("writes into w_k", None,
             "    query, key", "    np.round(w_k, 9, out=w_k)\n    query, key"),
            ("a slip of its own", None, "/ np.sqrt", "* 1.1 / np.sqrt"),
        ],
    ),
}  # fmt: skip # Each mistake stays beside its edit.

WORTH = {
    (SOFTMAX, "no maximum"): (12, "partial"),
    (SOFTMAX, "maximum too early"): (12, "partial"),
    (SOFTMAX, "NaN on an empty row"): (12, "partial"),
    (SOFTMAX, "second axis"): (13, "partial"),
    (SOFTMAX, "writes into scores"): (14, "partial"),
    (SOFTMAX, "no temperature"): (0, "wrong"),
    (ONCE, "no scale"): (0, "wrong"),
    (ONCE, "mask ignored"): (8 + 1, "partial"),
    (ONCE, "mask without if"): (0, "wrong"),
    (ONCE, "finite fill"): (18, "partial"),
    (ONCE, "-5000, then zeros"): (18, "partial"),
    (ONCE, "maximum before the mask"): (18, "partial"),
    (ONCE, "one batch axis only"): (18, "partial"),
    (ONCE, "writes into the mask"): (19, "partial"),
    (MASK, "counted"): (12, "partial"),
    (MASK, "order only"): (6 + 1, "partial"),
    (MASK, "padding only"): (0, "wrong"),
    (MASK, "writes into ids"): (14, "partial"),
    (PACKED, "unbatched only"): (18, "partial"),
    (PACKED, "NaN if nothing is allowed"): (18, "partial"),
    (PACKED, "swapped query and key"): (0, "wrong"),
    (MENDED, "as given"): (0, "wrong"),
    (MENDED, "unbatched only"): (12, "partial"),
    (MENDED, "maximum lost"): (13, "partial"),
    (MENDED, "batches only"): (0, "wrong"),
    (MENDED, "writes into w_k"): (14, "partial"),
}

PEAK = "stands for the maximum of an empty row: any finite number will do"
ONE_AXIS = "the axis has size 1: its first place is its last"
EQUIVALENT = {
    (SOFTMAX, "peak = np.where(peak == -np.inf, 1, peak)"): PEAK,
    (SOFTMAX, "peak = np.where(peak == -np.inf, -1, peak)"): PEAK,
    (ONCE, "exponentials = np.exp(scores - np.where(peak == -np.inf, 1, peak))"): PEAK,
    (ONCE, "exponentials = np.exp(scores - np.where(peak == -np.inf, -1, peak))"): PEAK,
    (ONCE, "output = (weights[..., None, :] @ value)[..., -1, :]"): ONE_AXIS,
    (
        ONCE,
        "scores = (key @ query[..., None])[..., -1] / np.sqrt(query.shape[-1])",
    ): ONE_AXIS,
    (
        ONCE,
        "allowed = np.ones(key.shape[:-0], dtype=bool) if mask is None else mask",
    ): "key.shape[:-0] is (): a single True broadcasts to the same mask",
    (MASK, "length = ids.shape[1]"): "ids have two axes: the second is the last",
    (PACKED, "exponentials = np.exp(scores - np.where(peak == -np.inf, 1, peak))"): PEAK,
    (PACKED, "exponentials = np.exp(scores - np.where(peak == -np.inf, -1, peak))"): PEAK,
    (
        PACKED,
        "w = w_qkv.reshape(w_qkv.shape[0], 3, -2)",
    ): "NumPy takes any negative size for the one to work out",
    (
        PACKED,
        "scores = scores + np.where(mask, 1, -np.inf)",
    ): "adding the same to every allowed score changes no weight",
    (
        PACKED,
        "scores = scores + np.where(mask, -1, -np.inf)",
    ): "adding the same to every allowed score changes no weight",
}

FAULTY = ("faulty_self_attention", MENDED, "key_asks")
