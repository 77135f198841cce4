"""Test submissions for problem set 3: right answers in many ways, and wrong ones.

Each is the text of a cell. A wrong answer is a right one with a slip, so that it is wrong in
one way only, and has nothing in common with the code of the known mistakes.
`tests.test_assignments.proofs.Answers` says what each table holds.
"""

PACK = "pack_heads"
PRUNE = "prune_heads"
GROUPED = "grouped_attention"
ACROSS = "multi_head_cross_attention"
MENDED = "mended_heads"

CORRECT = {
    PACK: {
        "axes": """
def pack_heads(w_q, w_k, w_v, w_o):
    n_heads, d_model, d_k = w_q.shape
    stacked = np.array([w_q, w_k, w_v])
    in_proj = stacked.transpose(0, 1, 3, 2).reshape(3 * n_heads * d_k, d_model)
    out_proj = w_o.reshape(n_heads * d_k, d_model).T
    return in_proj, out_proj
""",
        "lists": """
def pack_heads(w_q, w_k, w_v, w_o):
    rows = [head.T for w in (w_q, w_k, w_v) for head in w]
    return np.vstack(rows), np.vstack(list(w_o)).T
""",
        "side by side, then turned": """
def pack_heads(w_q, w_k, w_v, w_o):
    wide = np.hstack([*w_q, *w_k, *w_v])
    return wide.T, np.hstack([rows.T for rows in w_o])
""",
        "einsum": """
def pack_heads(w_q, w_k, w_v, w_o):
    n_heads, d_model, d_k = w_q.shape
    in_proj = np.einsum("thmd->thdm", [w_q, w_k, w_v])
    out_proj = np.einsum("hdm->mhd", w_o)
    return in_proj.reshape(3 * n_heads * d_k, d_model), out_proj.reshape(d_model, n_heads * d_k)
""",
        "loops": """
def pack_heads(w_q, w_k, w_v, w_o):
    n_heads, d_model, d_k = w_q.shape
    width = n_heads * d_k
    in_proj, out_proj = np.zeros((3 * width, d_model)), np.zeros((d_model, width))
    for head in range(n_heads):
        for component in range(d_k):
            row = head * d_k + component
            in_proj[row] = w_q[head, :, component]
            in_proj[width + row] = w_k[head, :, component]
            in_proj[2 * width + row] = w_v[head, :, component]
            out_proj[:, row] = w_o[head, component]
    return in_proj, out_proj
""",
    },
    PRUNE: {
        "repeat": """
def prune_heads(w_q, w_k, w_v, w_o, kept):
    n_heads = len(kept)
    qk = np.repeat(kept, w_q.shape[1] // n_heads)
    v = np.repeat(kept, w_v.shape[1] // n_heads)
    return w_q[:, qk], w_k[:, qk], w_v[:, v], w_o[v, :]
""",
        "axes": """
def prune_heads(w_q, w_k, w_v, w_o, kept):
    n_heads, d_model = len(kept), len(w_q)
    shorter = []
    for w in (w_q, w_k, w_v, w_o.T):
        apart = w.reshape(d_model, n_heads, w.shape[1] // n_heads)[:, kept]
        shorter.append(apart.reshape(d_model, apart.shape[1] * apart.shape[2]))
    return shorter[0], shorter[1], shorter[2], shorter[3].T
""",
        "delete": """
def prune_heads(w_q, w_k, w_v, w_o, kept):
    def gone(width):
        size = width // len(kept)
        return [i for i in range(width) if not kept[i // size]]

    columns = [np.delete(w, gone(w.shape[1]), axis=1) for w in (w_q, w_k, w_v)]
    return *columns, np.delete(w_o, gone(len(w_o)), axis=0)
""",
        "slices": """
def prune_heads(w_q, w_k, w_v, w_o, kept):
    d_k, d_v = w_q.shape[1] // len(kept), w_v.shape[1] // len(kept)
    q, k, v, o = w_q[:, :0], w_k[:, :0], w_v[:, :0], w_o[:0]
    for i, stays in enumerate(kept):
        if stays:
            q = np.hstack([q, w_q[:, i * d_k : (i + 1) * d_k]])
            k = np.hstack([k, w_k[:, i * d_k : (i + 1) * d_k]])
            v = np.hstack([v, w_v[:, i * d_v : (i + 1) * d_v]])
            o = np.vstack([o, w_o[i * d_v : (i + 1) * d_v]])
    return q, k, v, o
""",
    },
    GROUPED: {
        "repeat": """
def grouped_attention(query, key, value, mask=None):
    times = query.shape[-3] // key.shape[-3]
    key = np.repeat(key, times, axis=-3)
    value = np.repeat(value, times, axis=-3)
    scores = query @ key.mT / np.sqrt(query.shape[-1])
    if mask is not None:
        scores = np.where(mask[..., None, :, :], scores, -np.inf)
    peak = scores.max(axis=-1, keepdims=True)
    exponentials = np.exp(scores - np.where(peak == -np.inf, 0, peak))
    total = exponentials.sum(axis=-1, keepdims=True)
    weights = np.where(total == 0, 0, exponentials / total)
    output = weights @ value
    return output, weights
""",
        "axis of groups": """
def grouped_attention(query, key, value, mask=None):
    *batch, n_heads, n, d_k = query.shape
    groups, m = key.shape[-3:-1]
    apart = query.reshape(*batch, groups, n_heads // groups, n, d_k)
    scores = np.einsum("...grid,...gjd->...grij", apart, key) * d_k**-0.5
    if mask is not None:
        scores = scores + np.where(mask, 0, -np.inf)[..., None, None, :, :]
    weights = np.nan_to_num(np.exp(scores - np.logaddexp.reduce(scores, axis=-1)[..., None]))
    output = np.einsum("...grij,...gjd->...grid", weights, value)
    return output.reshape(*batch, n_heads, n, value.shape[-1]), weights.reshape(*batch, n_heads, n, m)
""",
        "whose": """
def grouped_attention(query, key, value, mask=None):
    n_heads = query.shape[-3]
    whose = np.arange(n_heads) * key.shape[-3] // n_heads
    scores = np.matmul(query, np.swapaxes(key[..., whose, :, :], -1, -2)) / query.shape[-1] ** 0.5
    allowed = np.ones(scores.shape, dtype=bool)
    if mask is not None:
        allowed = allowed & np.expand_dims(mask, -3)
    scores = scores - scores.max(axis=-1, keepdims=True, where=allowed, initial=-1e300)
    exponentials = np.exp(np.where(allowed, scores, -np.inf))
    weights = np.nan_to_num(exponentials / exponentials.sum(axis=-1, keepdims=True))
    return weights @ value[..., whose, :, :], weights
""",
        "loops": """
def grouped_attention(query, key, value, mask=None):
    *batch, n_heads, n, d_k = query.shape
    m, size = key.shape[-2], n_heads // key.shape[-3]
    allowed = np.broadcast_to(True if mask is None else mask, (*batch, n, m))
    weights = np.zeros((*batch, n_heads, n, m))
    output = np.zeros((*batch, n_heads, n, value.shape[-1]))
    for place in np.ndindex(*batch):
        for head in range(n_heads):
            for i in range(n):
                seen = allowed[place][i]
                if seen.any():
                    scores = key[place][head // size][seen] @ query[place][head, i] / np.sqrt(d_k)
                    exponentials = np.exp(scores - max(scores))
                    weights[place][head, i, seen] = exponentials / sum(exponentials)
            output[place][head] = weights[place][head] @ value[place][head // size]
    return output, weights
""",
    },
    ACROSS: {
        "vectorised": """
def multi_head_cross_attention(x, memory, w_q, w_kv, w_o, n_heads, real=None):
    def split(array):
        d = array.shape[-1] // n_heads
        return array.reshape(*array.shape[:-1], n_heads, d).swapaxes(-3, -2)

    w_k, w_v = np.split(w_kv, [w_q.shape[1]], axis=1)
    query, key, value = split(x @ w_q), split(memory @ w_k), split(memory @ w_v)
    scores = query @ key.mT / np.sqrt(query.shape[-1])
    if real is not None:
        scores = np.where(real[..., None, None, :], scores, -np.inf)
    exponentials = np.exp(scores)
    total = exponentials.sum(axis=-1, keepdims=True)
    weights = np.where(total == 0, 0, exponentials / total)
    heads = weights @ value
    joined = heads.swapaxes(-3, -2).reshape(*x.shape[:-1], len(w_o))
    return joined @ w_o, weights
""",
        "sum over heads": """
def multi_head_cross_attention(x, memory, w_q, w_kv, w_o, n_heads, real=None):
    d_k, d_v = w_q.shape[1] // n_heads, len(w_o) // n_heads
    output, weights = 0, []
    for i in range(n_heads):
        key = memory @ w_kv[:, i * d_k : (i + 1) * d_k]
        start = w_q.shape[1] + i * d_v
        value = memory @ w_kv[:, start : start + d_v]
        scores = x @ w_q[:, i * d_k : (i + 1) * d_k] @ key.swapaxes(-1, -2) / np.sqrt(d_k)
        if real is not None:
            scores = scores + np.where(real, 0, -np.inf)[..., None, :]
        shares = np.nan_to_num(np.exp(scores - np.logaddexp.reduce(scores, axis=-1)[..., None]))
        output = output + shares @ value @ w_o[i * d_v : (i + 1) * d_v]
        weights.append(shares)
    return output, np.stack(weights, axis=-3)
""",
        "einsum": """
def multi_head_cross_attention(x, memory, w_q, w_kv, w_o, n_heads, real=None):
    width = w_q.shape[1]
    d_k, d_v = width // n_heads, len(w_o) // n_heads
    q = w_q.reshape(len(w_q), n_heads, d_k)
    k = w_kv[:, :width].reshape(len(w_kv), n_heads, d_k)
    v = w_kv[:, width:].reshape(len(w_kv), n_heads, d_v)
    o = w_o.reshape(n_heads, d_v, w_o.shape[1])
    scores = np.einsum("...im,mhd,nhd,...jn->...hij", x, q, k, memory) * q.shape[-1] ** -0.5
    exponentials = np.exp(scores)
    if real is not None:
        exponentials = exponentials * np.expand_dims(real, (-3, -2))
    total = exponentials.sum(axis=-1, keepdims=True)
    weights = np.nan_to_num(exponentials / total)
    return np.einsum("...hij,...jn,nhd,hdm->...im", weights, memory, v, o), weights
""",
        "one pair at a time": """
def multi_head_cross_attention(x, memory, w_q, w_kv, w_o, n_heads, real=None):
    if real is None:
        real = np.ones(memory.shape[:-1], dtype=bool)
    if x.ndim > 2:
        parts = [
            multi_head_cross_attention(a, b, w_q, w_kv, w_o, n_heads, c)
            for a, b, c in zip(x, memory, real)
        ]
        return np.array([o for o, _ in parts]), np.array([w for _, w in parts])
    queries = np.hsplit(x @ w_q, n_heads)
    keys = np.hsplit(memory @ w_kv[:, : w_q.shape[1]], n_heads)
    values = np.hsplit(memory @ w_kv[:, w_q.shape[1] :], n_heads)
    weights = np.zeros((n_heads, len(x), len(memory)))
    found = []
    for w, query, key, value in zip(weights, queries, keys, values):
        if real.any():
            powers = np.exp(query @ key[real].T / np.sqrt(key.shape[1]))
            w[:, real] = powers / powers.sum(axis=1)[:, None]
        found.append(w @ value)
    return np.hstack(found) @ w_o, weights
""",
    },
    MENDED: {
        "mended": """
def mended_heads(query, key, value, w_o):
    scores = query @ key.mT / np.sqrt(query.shape[-1])
    exponentials = np.exp(scores - scores.max(axis=-1, keepdims=True))
    weights = exponentials / exponentials.sum(axis=-1, keepdims=True)
    heads = weights @ value
    *batch, n_heads, n_tokens, d_v = heads.shape
    joined = heads.swapaxes(-3, -2).reshape(*batch, n_tokens, n_heads * d_v)
    return joined @ w_o, weights
""",
        "moveaxis": """
def mended_heads(query, key, value, w_o):
    scores = query @ key.mT / np.sqrt(query.shape[-1])
    exponentials = np.exp(scores - scores.max(axis=-1, keepdims=True))
    weights = exponentials / exponentials.sum(axis=-1, keepdims=True)
    heads = np.moveaxis(weights @ value, -3, -2)
    return heads.reshape(*heads.shape[:-2], len(w_o)) @ w_o, weights
""",
        "concatenate": """
def mended_heads(query, key, value, w_o):
    scores = query @ key.mT / np.sqrt(query.shape[-1])
    weights = np.exp(scores - np.logaddexp.reduce(scores, axis=-1)[..., None])
    heads = weights @ value
    joined = np.concatenate([heads[..., i, :, :] for i in range(heads.shape[-3])], axis=-1)
    return joined @ w_o, weights
""",
        "einsum": """
def mended_heads(query, key, value, w_o):
    scores = np.einsum("...hid,...hjd->...hij", query, key) * key.shape[-1] ** -0.5
    exponentials = np.exp(scores - scores.max(axis=-1)[..., None])
    weights = exponentials / exponentials.sum(axis=-1)[..., None]
    rows = w_o.reshape(query.shape[-3], value.shape[-1], w_o.shape[1])
    return np.einsum("...hij,...hjd,hdm->...im", weights, value, rows), weights
""",
    },
}

_MASK = """    if mask is not None:
        scores = np.where(mask[..., None, :, :], scores, -np.inf)
"""
_MAXIMUM = "    peak = scores.max(axis=-1, keepdims=True)\n"
_SPLIT = "array.reshape(*array.shape[:-1], n_heads, d).swapaxes(-3, -2)"
_PEAK = ("np.exp(scores)", "np.exp(scores - scores.max(axis=-1, keepdims=True))")
_NO_NAN = ("np.where(total == 0, 0, exponentials / total)", "exponentials / total")

# One slip a line: a table that is read down its columns.
SLIPS = {
    PACK: (
        "axes",
        [
            ("columns", "not_transposed", "d_k, d_model)\n", "d_k, d_model).T\n"),
            ("output as in the paper", "output_not_transposed", "d_model).T", "d_model)"),
            ("reshape alone", "reshaped_only", ".transpose(0, 1, 3, 2)", ""),
            ("reshape alone at the end", "output_reshaped_only",
             "w_o.reshape(n_heads * d_k, d_model).T", "w_o.reshape(d_model, -1)"),
            ("components first", "components_before_heads", "(0, 1, 3, 2)", "(0, 3, 1, 2)"),
            ("components first at the end", "output_components_before_heads",
             "w_o.reshape(n_heads * d_k, d_model).T", "w_o.T.reshape(d_model, -1)"),
            ("head by head", "head_by_head", "(0, 1, 3, 2)", "(1, 0, 3, 2)"),
            ("key first", "another_order", "[w_q, w_k, w_v]", "[w_k, w_q, w_v]"),
            ("side by side", "side_by_side",
             ".reshape(3 * n_heads * d_k, d_model)",
             ".reshape(3, -1, d_model).swapaxes(0, 1).reshape(-1, 3 * d_model)"),
            ("an axis of three", "axis_of_three",
             ".reshape(3 * n_heads * d_k, d_model)", ".reshape(3, -1, d_model)"),
            ("sums", "heads_summed",
             [(".transpose(0, 1, 3, 2).reshape(3 * n_heads * d_k,", ".sum(axis=1).mT.reshape(-1,"),
              ("w_o.reshape(n_heads * d_k, d_model)", "w_o.sum(axis=0)")]),
            ("scaled", "scale_included", "[w_q,", "[w_q / np.sqrt(w_q.shape[2]),"),
            ("only one matrix", "no_output_matrix", "return in_proj, out_proj", "return in_proj"),
            ("writes into w_o", None, "    return", "    w_o[...] = 0 * w_o\n    return"),
            ("a slip of its own", None, "return in_proj", "return in_proj[::-1]"),
        ],
    ),
    PRUNE: (
        "repeat",
        [
            ("the others", "kept_inverted", "    n_heads", "    kept = ~kept\n    n_heads"),
            ("zeros", "zeroed",
             [("w_q[:, qk], w_k[:, qk], w_v[:, v]", "w_q * qk, w_k * qk, w_v * v"),
              ("w_o[v, :]", "w_o * v[:, None]")]),
            ("output whole", "output_untouched", "w_o[v, :]", "w_o"),
            ("columns of the output", "output_columns",
             "w_o[v, :]", "w_o[:, [v[j % len(v)] for j in range(w_o.shape[1])]]"),
            ("projections whole", "only_the_output",
             "w_q[:, qk], w_k[:, qk], w_v[:, v]", "w_q, w_k, w_v"),
            ("values whole", "values_whole", "w_v[:, v]", "w_v"),
            ("rows of the projections", "rows_of_the_projections",
             [("w_q[:, qk]", "w_q[[qk[j % len(qk)] for j in range(len(w_q))]]"),
              ("w_k[:, qk]", "w_k[[qk[j % len(qk)] for j in range(len(w_k))]]"),
              ("w_v[:, v]", "w_v[[v[j % len(v)] for j in range(len(w_v))]]")]),
            ("in turn", "alternating", [("np.repeat(kept, w_q.shape[1] // n_heads)",
                                         "np.array([*kept] * (w_q.shape[1] // n_heads))"),
                                        ("np.repeat(kept, w_v.shape[1] // n_heads)",
                                         "np.array([*kept] * (w_v.shape[1] // n_heads))")]),
            ("one each", "one_component",
             [("np.repeat(kept, w_q.shape[1] // n_heads)", "np.where(kept)[0]"),
              ("np.repeat(kept, w_v.shape[1] // n_heads)", "np.where(kept)[0]")]),
            ("sorted", "first_heads", "    n_heads", "    kept = np.sort(kept)[::-1]\n    n_heads"),
            ("one width", "values_as_wide_as_keys",
             [("    v = np.repeat(kept, w_v.shape[1] // n_heads)",
               ("    n = w_q.shape[1] // n_heads\n"
                "    v = np.array([i * n + j for i in range(n_heads) if kept[i] for j in range(n)], dtype=int)")),
              ("w_v[:, v], w_o[v, :]", "w_v[:, v[v < w_v.shape[1]]], w_o[v[v < len(w_o)]]")]),
            ("three axes", "axis_left",
             [("w_q[:, qk]", "w_q[:, qk].reshape(len(w_q), sum(kept), -1)"),
              ("w_k[:, qk]", "w_k[:, qk].reshape(len(w_k), sum(kept), -1)"),
              ("w_v[:, v]", "w_v[:, v].reshape(len(w_v), sum(kept), -1)"),
              ("w_o[v, :]", "w_o[v, :].reshape(sum(kept), -1, w_o.shape[1])")]),
            ("made up for", "rescaled", "w_o[v, :]", "w_o[v, :] * n_heads / max(1, sum(kept))"),
            ("a list of nothing", "none_kept",
             "    n_heads", "    np.concatenate([w_q for stays in kept if stays])\n    n_heads"),
            ("writes into kept", None, "    return", "    kept[...] = True\n    return"),
            ("a slip of its own", None, "w_k[:, qk]", "w_k[:, qk][:, ::-1]"),
        ],
    ),
    GROUPED: (
        "repeat",
        [
            ("in turn", "tiled",
             [("np.repeat(key, times, axis=-3)", "np.concatenate([key] * times, axis=-3)"),
              ("np.repeat(value, times, axis=-3)", "np.concatenate([value] * times, axis=-3)")]),
            ("the first for all", "one_group",
             [("np.repeat(key, times, axis=-3)", "key[..., [0] * query.shape[-3], :, :]"),
              ("np.repeat(value, times, axis=-3)", "value[..., [0] * query.shape[-3], :, :]")]),
            ("as they come", "keys_not_shared", [("np.repeat(key, times, axis=-3)", "key"),
                                                 ("np.repeat(value, times, axis=-3)", "value")]),
            ("tokens", "tokens_repeated", "axis=-3", "axis=-2"),
            ("mean of the queries", "queries_merged",
             "    times = query.shape[-3] // key.shape[-3]\n",
             ("    size = query.shape[-3] // key.shape[-3]\n"
              "    query = sum(query[..., i::size, :, :] for i in range(size)) / size\n"
              "    times = 1\n")),
            ("groups left", "axis_of_groups_left",
             "    return output, weights",
             ("    groups = query.shape[-3] // times\n"
              "    lead = (*query.shape[:-3], groups, times)\n"
              "    return (output.reshape(*lead, *output.shape[-2:]), weights.reshape(*lead, *weights.shape[-2:]))")),
            ("one sentence", "three_axes",
             "    times", "    heads, n, d_k = query.shape\n    times"),
            ("no scale", "unscaled", " / np.sqrt(query.shape[-1])", ""),
            ("scale of all heads", "scaled_by_all_heads",
             "np.sqrt(query.shape[-1])", "np.sqrt(query.shape[-1] * query.shape[-3])"),
            ("mean of keys", "key_as_value",
             "np.repeat(value,", "np.repeat(key[..., ::times, :, :],"),
            ("over queries", "softmax_over_queries", [("axis=-1", "axis=-2"),
                                                      ("-np.inf)\n", "-1e9)\n")]),
            ("over heads", "softmax_over_heads", [("axis=-1, keep", "axis=-3, keep"),
                                                  ("-np.inf)\n", "-1e9)\n")]),
            ("mask without if", "mask_without_if", "if mask is not None:", "if True:"),
            ("mask ignored", "mask_ignored", "if mask is not None:", "if False:"),
            ("no room for heads", "mask_without_heads", "mask[..., None, :, :]", "mask"),
            ("inverted mask", "mask_inverted", "scores, -np.inf)", "-np.inf, scores)"),
            ("mask after softmax", "mask_after_softmax",
             [(_MASK, ""),
              ("    output",
               ("    if mask is not None:\n"
                "        weights = weights * mask[..., None, :, :]\n"
                "    output"))]),
            ("no maximum", "overflow", "scores - np.where(peak == -np.inf, 0, peak)", "scores"),
            ("one maximum", "global_maximum", "scores.max(axis=-1, keepdims=True)", "scores.max()"),
            ("maximum first", "maximum_of_forbidden", _MASK + _MAXIMUM, _MAXIMUM + _MASK),
            ("finite fill", "finite_fill", "scores, -np.inf)\n", "scores, -1e9)\n"),
            ("NaN if nothing is allowed", "empty_row", *_NO_NAN),
            ("writes into the mask", None,
             "    return", "    if mask is not None:\n        mask[...] = True\n    return"),
            ("a slip of its own", None, "weights @ value", "weights @ value / 2"),
        ],
    ),
    ACROSS: (
        "vectorised",
        [
            ("one head", "heads_not_split", "    def split", "    n_heads = 1\n\n    def split"),
            ("no w_o", "no_output_projection", "joined @ w_o", "joined"),
            ("reshape alone", "split_by_reshape",
             _SPLIT, "array.reshape(*array.shape[:-2], n_heads, array.shape[-2], d)"),
            ("joined as they are", "joined_by_reshape",
             "heads.swapaxes(-3, -2).reshape", "heads.reshape"),
            ("components in turn", "alternating_components",
             _SPLIT, "np.moveaxis(array.reshape(*array.shape[:-1], d, n_heads), -1, -3)"),
            ("sum of the heads", "heads_summed",
             [("heads.swapaxes(-3, -2).reshape(*x.shape[:-1], len(w_o))", "heads.sum(axis=-3)"),
              ("joined @ w_o", "joined @ w_o[: joined.shape[-1]]")]),
            ("halves", "cut_in_halves",
             "np.split(w_kv, [w_q.shape[1]], axis=1)",
             "w_kv[:, : w_kv.shape[1] // 2], w_kv[:, w_kv.shape[1] // 2 :]"),
            ("value first", "value_first",
             "w_k, w_v = np.split(w_kv, [w_q.shape[1]], axis=1)",
             "w_v, w_k = np.split(w_kv, [len(w_o)], axis=1)"),
            ("head by head", "packed_head_by_head",
             "w_k, w_v = np.split(w_kv, [w_q.shape[1]], axis=1)",
             ("apart = w_kv.reshape(len(w_kv), n_heads, -1)\n"
              "    d_k = w_q.shape[1] // n_heads\n"
              "    w_k = apart[..., :d_k].reshape(len(w_kv), -1)\n"
              "    w_v = apart[..., d_k:].reshape(len(w_kv), -1)")),
            ("asks itself", "asks_itself", [("split(x @ w_q)", "split(memory @ w_q)"),
                                            ("*x.shape[:-1]", "*memory.shape[:-1]")]),
            ("no scale", "unscaled", " / np.sqrt(query.shape[-1])", ""),
            ("scale of the whole", "scaled_before_splitting",
             "np.sqrt(query.shape[-1])", "np.sqrt(w_q.shape[1])"),
            ("mean weights", "weights_averaged", "@ w_o, weights", "@ w_o, weights.mean(axis=-3)"),
            ("over queries", "another_axis", [_PEAK,
                                              ("axis=-1, keep", "axis=-2, keep"),
                                              ("-np.inf)\n", "-1e9)\n")]),
            ("padding seen", "padding_ignored", "if real is not None:", "if False:"),
            ("only padding", "padding_only", "scores, -np.inf)\n", "-np.inf, scores)\n"),
            ("one axis less", "one_axis_missing", "real[..., None, None, :]", "real[..., None, :]"),
            ("padding removed late", "real_afterwards",
             [("np.where(real[..., None, None, :], scores, -np.inf)", "scores"),
              ("    heads",
               ("    if real is not None:\n"
                "        weights = weights * real[..., None, None, :]\n"
                "    heads"))]),
            ("padding required", "real_required", "if real is not None:", "if True:"),
            ("finite fill", "finite_fill", [("scores, -np.inf)\n", "scores, -1e9)\n"),
                                            _PEAK]),
            ("NaN if all is padding", "all_padding", *_NO_NAN),
            ("one pair only", "one_pair", "    w_k, w_v", "    n, d_model = x.shape\n    w_k, w_v"),
            ("writes into x", None, "    w_k, w_v", "    np.round(x, 9, out=x)\n    w_k, w_v"),
            ("a slip of its own", None, "@ w_o, weights", "@ w_o + x, weights"),
        ],
    ),
    MENDED: (
        "mended",
        [
            ("as given", "joined_by_reshape", ".swapaxes(-3, -2)", ""),
            ("the last two", "another_pair_of_axes", "swapaxes(-3, -2)", "swapaxes(-2, -1)"),
            ("components first", "components_before_heads",
             "heads.swapaxes(-3, -2)", "np.moveaxis(heads, -3, -1)"),
            ("sum of the heads", "heads_summed",
             [("heads.swapaxes(-3, -2).reshape(*batch, n_tokens, n_heads * d_v)",
               "heads.sum(axis=-3)"),
              ("joined @ w_o", "joined @ w_o[:d_v]")]),
            ("no w_o", "no_output_projection", "joined @ w_o", "joined"),
            ("from the front", "axes_from_the_front", "swapaxes(-3, -2)", "transpose(1, 0, 2)"),
            ("first two axes", "axes_from_the_front", "swapaxes(-3, -2)", "swapaxes(0, 1)"),
            ("batches only", "batch_only", "swapaxes(-3, -2)", "transpose(0, 2, 1, 3)"),
            ("over queries", "softmax_changed", "axis=-1, k", "axis=-2, k"),
            ("no scale", "unscaled", " / np.sqrt(query.shape[-1])", ""),
            ("scale of all heads", "scaled_by_all_heads",
             "np.sqrt(query.shape[-1])", "np.sqrt(query.shape[-1] * query.shape[-3])"),
            ("maximum lost", "overflow", " - scores.max(axis=-1, keepdims=True)", ""),
            ("one maximum", "global_maximum", "scores.max(axis=-1, keepdims=True)", "scores.max()"),
            ("only the output", "only_output", "joined @ w_o, weights", "joined @ w_o"),
            ("writes into w_o", None, "    scores", "    np.round(w_o, 9, out=w_o)\n    scores"),
            ("a slip of its own", None, "/ np.sqrt", "* 1.1 / np.sqrt"),
        ],
    ),
}  # fmt: skip # Each mistake stays beside its edit.

WORTH = {
    (PACK, "reshape alone"): (0, "wrong"),
    (PACK, "head by head"): (0, "wrong"),
    (PACK, "writes into w_o"): (0, "wrong"),
    (PRUNE, "one width"): (9 + 2 + 1, "partial"),
    (PRUNE, "a list of nothing"): (13, "partial"),
    (PRUNE, "output whole"): (0, "wrong"),
    (PRUNE, "writes into kept"): (14, "partial"),
    (GROUPED, "in turn"): (0, "wrong"),
    (GROUPED, "one sentence"): (18, "partial"),
    (GROUPED, "mask ignored"): (20 - 5 - 2 - 2 - 2, "partial"),
    (GROUPED, "no room for heads"): (18, "partial"),
    (GROUPED, "no maximum"): (18, "partial"),
    (GROUPED, "finite fill"): (18, "partial"),
    (GROUPED, "writes into the mask"): (19, "partial"),
    (ACROSS, "one head"): (0, "wrong"),
    (ACROSS, "no w_o"): (0, "wrong"),
    (ACROSS, "one axis less"): (16, "partial"),
    (ACROSS, "padding seen"): (9 + 1, "partial"),
    (ACROSS, "NaN if all is padding"): (18, "partial"),
    (ACROSS, "one pair only"): (16, "partial"),
    (ACROSS, "writes into x"): (19, "partial"),
    (MENDED, "as given"): (0, "wrong"),
    (MENDED, "from the front"): (12, "partial"),
    (MENDED, "maximum lost"): (13, "partial"),
    (MENDED, "batches only"): (0, "wrong"),
    (MENDED, "writes into w_o"): (14, "partial"),
}

PEAK = "stands for the maximum of an empty row: any finite number will do"
SHIFT = "adding the same to every allowed score changes no weight"
EQUIVALENT = {
    (GROUPED, "exponentials = np.exp(scores - np.where(peak == -np.inf, 1, peak))"): PEAK,
    (GROUPED, "exponentials = np.exp(scores - np.where(peak == -np.inf, -1, peak))"): PEAK,
    (
        GROUPED,
        "scores = scores + np.where(mask, 1, -np.inf)[..., None, None, :, :]",
    ): SHIFT,
    (
        GROUPED,
        "scores = scores + np.where(mask, -1, -np.inf)[..., None, None, :, :]",
    ): SHIFT,
    (ACROSS, "scores = scores + np.where(real, 1, -np.inf)[..., None, :]"): SHIFT,
    (ACROSS, "scores = scores + np.where(real, -1, -np.inf)[..., None, :]"): SHIFT,
}

FAULTY = ("faulty_heads", MENDED, "joined_by_reshape")
