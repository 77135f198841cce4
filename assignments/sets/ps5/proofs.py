"""Test submissions for problem set 5: right answers in many ways, and wrong ones.

Each is the text of a cell. A wrong answer is a right one with a slip, so that it is wrong in
one way only, and has nothing in common with the code of the known mistakes.
`tests.test_assignments.proofs.Answers` says what each table holds.
"""

STREAMING = "streaming_mask"
PACKED = "packed_mask"
PREFIX = "prefix_mask"
GRADIENT = "masked_softmax_gradient"
MENDED = "mended_head_weights"

CORRECT = {
    STREAMING: {
        "distances": """
def streaming_mask(tgt_len, src_len, window, n_first):
    key = np.arange(src_len)
    query = np.arange(tgt_len)[:, None] + src_len - tgt_len
    near = (query - key >= 0) & (query - key < window)
    first = (key < n_first) & (key <= query)
    return near | first
""",
        "loops": """
def streaming_mask(tgt_len, src_len, window, n_first):
    mask = np.zeros((tgt_len, src_len), bool)
    for i in range(tgt_len):
        here = src_len - tgt_len + i
        mask[i, max(0, here - window + 1) : here + 1] = True
        mask[i, : min(n_first, here + 1)] = True
    return mask
""",
        "triangles": """
def streaming_mask(tgt_len, src_len, window, n_first):
    offset = src_len - tgt_len
    written = np.tri(tgt_len, src_len, offset) > 0
    far = np.tri(tgt_len, src_len, offset - window) > 0
    far[:, :n_first] = False
    return written & ~far
""",
        "last rows of a square": """
def streaming_mask(tgt_len, src_len, window, n_first):
    square = np.zeros((src_len, src_len), dtype=bool)
    for back in range(min(window, src_len)):
        square |= np.eye(src_len, k=-back, dtype=bool)
    square[:, :n_first] |= np.tri(src_len, n_first, dtype=bool)[:, :src_len]
    return square[src_len - tgt_len :]
""",
    },
    PACKED: {
        "numbers": """
def packed_mask(ids, start_id):
    n = ids.shape[1]
    place = np.arange(n)
    starts = ids == start_id
    real = ids != 0
    text = np.cumsum(starts, axis=1)
    same = text[:, :, None] == text[:, None, :]
    pair = real[:, :, None] & real[:, None, :]
    mask = same & pair & (place <= place[:, None])
    last = np.maximum.accumulate(np.where(starts, place, 0), axis=1)
    return mask, np.where(real, place - last, 0)
""",
        "loops": """
def packed_mask(ids, start_id):
    batch_size, n = ids.shape
    mask = np.zeros((batch_size, n, n), bool)
    positions = np.zeros_like(ids)
    for b in range(batch_size):
        first = 0
        for i in range(n):
            if ids[b, i] == 0:
                break
            if ids[b, i] == start_id:
                first = i
            mask[b, i, first : i + 1] = True
            positions[b, i] = i - first
    return mask, positions
""",
        "pieces": """
def packed_mask(ids, start_id):
    mask = np.zeros((*ids.shape, ids.shape[1]), bool)
    positions = np.zeros_like(ids)
    for b, row in enumerate(ids):
        length = np.count_nonzero(row)
        cuts = [0, *np.flatnonzero(row == start_id), length]
        for begin, end in zip(cuts[:-1], cuts[1:]):
            mask[b, begin:end, begin:end] = np.tri(end - begin)
            positions[b, begin:end] = np.arange(end - begin)
    return mask, positions
""",
        "count by mask": """
def packed_mask(ids, start_id):
    text = (ids == start_id).cumsum(axis=1)
    mask = np.tril(text[..., None] == text[:, None, :]) & (ids > 0)[..., None]
    return mask, np.maximum(mask.sum(axis=-1) - 1, 0)
""",
    },
    PREFIX: {
        "counted": """
def prefix_mask(real, prefix):
    n = real.shape[1]
    question = real & (np.cumsum(real, axis=1) <= prefix[:, None])
    order = np.arange(n) <= np.arange(n)[:, None]
    allowed = order[None] | question[:, None, :]
    return allowed & real[:, None, :]
""",
        "loops": """
def prefix_mask(real, prefix):
    batch_size, n = real.shape
    mask = np.zeros((batch_size, n, n), bool)
    for b in range(batch_size):
        mask[b] = np.tri(n)
        words = np.flatnonzero(real[b])
        mask[b][:, words[: prefix[b]]] = True
        mask[b][:, real[b] == 0] = False
    return mask
""",
        "last word of the question": """
def prefix_mask(real, prefix):
    place = np.arange(real.shape[1])
    first = np.argmax(real, axis=1)
    end = (first + prefix)[:, None, None]
    seen_until = np.maximum(place[:, None] + 1, end)
    return (place < seen_until) & real[:, None, :]
""",
    },
    GRADIENT: {
        "infinities": """
def masked_softmax_gradient(scores, mask, gradient):
    hidden = np.where(mask, scores, -np.inf)
    peak = np.maximum(hidden.max(axis=-1, keepdims=True), -1e300)
    exponentials = np.exp(hidden - peak)
    total = exponentials.sum(axis=-1, keepdims=True)
    weights = exponentials / (total + (total == 0))
    shared = np.sum(weights * gradient, axis=-1, keepdims=True)
    return weights, weights * (gradient - shared)
""",
        "rows": """
def masked_softmax_gradient(scores, mask, gradient):
    weights = np.zeros(scores.shape)
    d_scores = np.zeros(scores.shape)
    for row in np.ndindex(scores.shape[:-1]):
        seen = np.flatnonzero(mask[row])
        if len(seen) > 0:
            e = np.exp(scores[row][seen] - scores[row][seen].max())
            a = e / e.sum()
            weights[row][seen] = a
            d_scores[row][seen] = a * (gradient[row][seen] - np.sum(a * gradient[row][seen]))
    return weights, d_scores
""",
        "jacobian": """
def masked_softmax_gradient(scores, mask, gradient):
    low = np.where(mask, scores, -1e30)
    e = np.exp(low - low.max(axis=-1, keepdims=True)) * mask
    total = e.sum(-1) + (1 - mask.any(-1))
    weights = e / total[..., None]
    identity = np.eye(scores.shape[-1])
    jacobian = weights[..., :, None] * (identity - weights[..., None, :])
    return weights, np.einsum("...ij,...i->...j", jacobian, gradient)
""",
        "a negative number, then zeros": """
def masked_softmax_gradient(scores, mask, gradient):
    low = np.where(mask, scores, -1e300)
    low = low - np.max(low, axis=-1)[..., None]
    logarithms = low - np.log(np.exp(low).sum(axis=-1))[..., None]
    weights = np.where(mask, np.exp(logarithms), 0)
    mean = np.einsum("...j,...j->...", weights, gradient)
    return weights, weights * gradient - weights * mean[..., None]
""",
    },
    MENDED: {
        "repeated": """
def mended_head_weights(query, key, real):
    batch_size, n_heads, tgt_len, d_k = query.shape
    src_len = key.shape[2]
    query = query.reshape(batch_size * n_heads, tgt_len, d_k)
    key = key.reshape(batch_size * n_heads, src_len, d_k)
    mask = np.repeat(real[:, None, :], n_heads, axis=0)
    scores = query @ key.mT / np.sqrt(d_k)
    scores = np.where(mask, scores, -np.inf)
    exponentials = np.exp(scores - scores.max(axis=-1, keepdims=True))
    weights = exponentials / exponentials.sum(axis=-1, keepdims=True)
    return weights.reshape(batch_size, n_heads, tgt_len, src_len)
""",
        "four axes": """
def mended_head_weights(query, key, real):
    scores = query @ key.swapaxes(2, 3) / query.shape[3] ** 0.5
    scores = np.where(real[:, None, None], scores, -np.inf)
    weights = np.exp(scores - np.max(scores, axis=3, keepdims=True))
    return weights / np.sum(weights, axis=3, keepdims=True)
""",
        "loops": """
def mended_head_weights(query, key, real):
    batch_size, n_heads, tgt_len, d_k = query.shape
    weights = np.zeros((batch_size, n_heads, tgt_len, key.shape[2]))
    for b in range(batch_size):
        for h in range(n_heads):
            seen = np.flatnonzero(real[b])
            scores = query[b, h] @ key[b, h, seen].T / np.sqrt(d_k)
            e = np.exp(scores - scores.max(axis=1)[:, None])
            weights[b, h][:, seen] = e / e.sum(axis=1)[:, None]
    return weights
""",
    },
}

# One slip a line: a table that is read down its columns.
SLIPS = {
    STREAMING: (
        "distances",
        [
            ("up to the window", "one_too_many", "< window", "<= window"),
            ("before its own", "one_too_few", "- key < window", "- key < window - 1"),
            (
                "both ways",
                "both_sides",
                "(query - key >= 0) & (query - key < window)",
                "abs(query - key) < window",
            ),
            (
                "plain causal",
                "no_window",
                "(query - key >= 0) & (query - key < window)",
                "query - key >= 0",
            ),
            ("chunks", "in_blocks", "(query - key < window)",
             "(query // window == key // window)"),
            (
                "key minus query",
                "looks_ahead",
                [
                    (
                        "(query - key >= 0) & (query - key < window)",
                        "(key - query >= 0) & (key - query < window)",
                    ),
                    (" & (key <= query)", ""),
                ],
            ),
            ("what is forgotten", "marked_as_forbidden", "near | first", "~(near | first)"),
            ("from key zero", "from_the_first_key", " + src_len - tgt_len", ""),
            ("no first", "first_forgotten", "near | first", "near"),
            ("first before time", "first_ahead_of_time", " & (key <= query)", ""),
            (
                "one budget",
                "first_taken_from_the_window",
                "- key < window",
                "- key < window - n_first",
            ),
            (
                "to be added",
                "numbers_for_the_scores",
                "near | first",
                "np.where(near | first, 0.0, -1e9)",
            ),
            ("a slip of its own", None, "near | first", "near | first | (key == 1)"),
        ],
    ),
    PACKED: (
        "numbers",
        [
            (
                "one text",
                "texts_ignored",
                "same & pair & (place <= place[:, None])",
                "pair & (place <= place[:, None])",
            ),
            ("both ways", "not_causal", " & (place <= place[:, None])", ""),
            ("strictly before", "not_itself", "place <= place", "place < place"),
            ("positions of the row", "positions_go_on", "place - last", "place + 0 * last"),
            ("counts from one", "positions_from_one", "place - last", "place - last + 1"),
            (
                "start ends",
                "start_with_the_text_before",
                "np.cumsum(starts, axis=1)",
                "np.cumsum(starts, axis=1) - starts",
            ),
            (
                "start hidden",
                "start_hidden",
                "    last =",
                "    mask &= ~starts[:, None, :]\n    last =",
            ),
            ("padding asks", "padding_asks", "real[:, :, None] & ", ""),
            (
                "positions of the padding",
                "padding_has_positions",
                "np.where(real, place - last, 0)",
                "place - last",
            ),
            (
                "cut text lost",
                "cut_text_dropped",
                "real = ids != 0",
                "real = (ids != 0) & (np.cumsum(starts, axis=1) > 0)",
            ),
            (
                "cut text joined",
                "cut_text_joined",
                "text = np.cumsum(starts, axis=1)",
                "text = np.maximum(1, np.cumsum(starts, axis=1))",
            ),
            (
                "from minus one",
                "cut_text_from_one",
                "np.where(starts, place, 0)",
                "np.where(starts, place, -1)",
            ),
            ("separates", "marked_as_forbidden", "return mask,", "return ~mask,"),
            (
                "writes into ids",
                None,
                "    last =",
                "    ids[~real] = -1\n    last =",
            ),
            ("a slip of its own", None, "place - last", "(place - last) // 2"),
        ],
    ),
    PREFIX: (
        "counted",
        [
            ("plain causal", "prefix_ignored", "order[None] | question[:, None, :]", "order"),
            (
                "all of it",
                "everything_allowed",
                "order[None] | question[:, None, :]",
                "order[None] | True",
            ),
            (
                "from the edge",
                "padding_counted",
                "np.cumsum(real, axis=1) <= prefix",
                "np.arange(n) < prefix",
            ),
            (
                "and one more",
                "one_too_many",
                "<= prefix[:, None]",
                "<= prefix[:, None] + 1",
            ),
            ("less than", "one_too_few", "<= prefix", "< prefix"),
            (
                "two blocks",
                "answer_blind",
                "order[None] | question[:, None, :]",
                ("(order[None] & ~question[:, :, None] & ~question[:, None, :]) | "
                "(question[:, :, None] & question[:, None, :])"),
            ),
            (
                "question only",
                "answer_forgets_itself",
                "order[None] | question[:, None, :]",
                "order[None] & False | question[:, None, :]",
            ),
            (
                "whoever asks",
                "asked_instead_of_seen",
                "order[None] | question[:, None, :]",
                "order[None] | question[:, :, None]",
            ),
            ("one at least", None, "<= prefix[:, None]", "<= np.maximum(prefix, 1)[:, None]"),
            (
                "up to the last asked",
                None,
                "real & (np.cumsum(real, axis=1) <= prefix[:, None])",
                ("np.array([np.arange(n) <= np.flatnonzero(row)[p - 1] "
                "for row, p in zip(real, prefix)])"),
            ),
            ("padding seen", "padding_visible", " & real[:, None, :]", " & (real | True)[:, None]"),
            (
                "rows emptied",
                "padding_on_the_queries",
                "real[:, None, :]",
                "real[:, None, :] & real[:, :, None]",
            ),
            ("first of the batch", "first_for_all", "prefix[:, None]", "prefix[0]"),
            (
                "upside down",
                "marked_as_forbidden",
                "return allowed & real[:, None, :]",
                "return ~(allowed & real[:, None, :])",
            ),
            (
                "writes into real",
                None,
                "    return allowed & real[:, None, :]",
                "    seen = allowed & real[:, None, :]\n    real[:] = True\n    return seen",
            ),
            ("a slip of its own", None, "order[None] |", "order[None] & (np.arange(n) != n - 2) |"),
        ],
    ),
    GRADIENT: (
        "infinities",
        [
            (
                "diagonal",
                "each_on_its_own",
                "weights * (gradient - shared)",
                "weights * (1 - weights) * gradient",
            ),
            (
                "no second term",
                "nothing_subtracted",
                "(gradient - shared)",
                "gradient",
            ),
            ("minus", "sign_reversed", "(gradient - shared)", "(shared - gradient)"),
            (
                "mean",
                "plain_mean",
                "np.sum(weights * gradient, axis=-1, keepdims=True)",
                "np.mean(gradient, axis=-1, keepdims=True)",
            ),
            (
                "columns",
                "summed_down_the_columns",
                "gradient, axis=-1",
                "gradient, axis=-2",
            ),
            (
                "cross-entropy",
                "as_in_cross_entropy",
                "weights * (gradient - shared)",
                "weights - gradient",
            ),
            (
                "masked late",
                "masked_afterwards",
                [
                    ("np.where(mask, scores, -np.inf)", "scores"),
                    ("weights * gradient,", "weights * gradient * mask,"),
                    (
                        "return weights, weights * (gradient - shared)",
                        "return weights * mask, weights * (gradient * mask - shared)",
                    ),
                ],
            ),
            ("mask forgotten", "no_mask", "np.where(mask, scores, -np.inf)", "scores"),
            ("upside down", "mask_inverted", "np.where(mask,", "np.where(~mask,"),
            ("no peak", "overflow", "hidden - peak", "hidden - 0 * peak"),
            (
                "peak of all",
                "peak_of_the_forbidden",
                "hidden.max",
                "scores.max",
            ),
            (
                "dead rows undefined",
                "nan_in_dead_rows",
                "np.maximum(hidden.max(axis=-1, keepdims=True), -1e300)",
                "hidden.max(axis=-1, keepdims=True)",
            ),
            ("a low number", "dead_rows_alive", "scores, -np.inf)", "scores, -1e9)"),
            (
                "one matrix",
                None,
                "    hidden =",
                "    n_queries, n_keys = scores.shape\n    hidden =",
            ),
            (
                "writes into scores",
                None,
                "    shared =",
                "    scores[~mask] = 0\n    shared =",
            ),
            ("a slip of its own", None, "(gradient - shared)", "(gradient - 0.9 * shared)"),
        ],
    ),
    MENDED: (
        "repeated",
        [
            (
                "as given",
                "masks_of_other_sentences",
                "np.repeat(real[:, None, :], n_heads, axis=0)",
                "np.tile(real[:, None, :], (n_heads, 1, 1))",
            ),
            (
                "order of the result",
                "reordered_result",
                [
                    (
                        "np.repeat(real[:, None, :], n_heads, axis=0)",
                        "np.tile(real[:, None, :], (n_heads, 1, 1))",
                    ),
                    (
                        "weights.reshape(batch_size, n_heads, tgt_len, src_len)",
                        "weights.reshape(n_heads, batch_size, tgt_len, src_len).swapaxes(0, 1)",
                    ),
                ],
            ),
            ("no mask", "no_mask", "np.where(mask, scores, -np.inf)", "scores"),
            ("inverted", "mask_inverted", "np.where(mask,", "np.where(~mask,"),
            (
                "first sentence",
                "first_sentence_for_all",
                "np.repeat(real[:, None, :], n_heads, axis=0)",
                "real[0]",
            ),
            (
                "real in all",
                "common_to_all",
                "np.repeat(real[:, None, :], n_heads, axis=0)",
                "real.all(axis=0)",
            ),
            (
                "times the mask",
                "multiplied",
                "np.where(mask, scores, -np.inf)",
                "scores * mask",
            ),
            (
                "masked late",
                "after_the_softmax",
                [
                    ("    scores = np.where(mask, scores, -np.inf)\n", ""),
                    ("    return weights", "    weights = weights * mask\n    return weights"),
                ],
            ),
            ("no root", "unscaled", " / np.sqrt(d_k)", ""),
            ("root of all", "scaled_by_all_heads", "np.sqrt(d_k)", "np.sqrt(n_heads * d_k)"),
            (
                "no peak",
                "overflow",
                "scores - scores.max(axis=-1, keepdims=True)",
                "scores",
            ),
            ("writes into key", None, "    mask =", "    key *= 1.0000001\n    mask ="),
            ("a slip of its own", None, "/ np.sqrt(d_k)", "* 1.1 / np.sqrt(d_k)"),
        ],
    ),
}  # fmt: skip # Each mistake stays beside its edit.

WORTH = {
    (STREAMING, "up to the window"): (0, "wrong"),
    (STREAMING, "from key zero"): (11, "partial"),
    (STREAMING, "first before time"): (12, "partial"),
    (PACKED, "both ways"): (0, "wrong"),
    (PACKED, "cut text joined"): (15, "partial"),
    (PACKED, "writes into ids"): (19, "partial"),
    (PREFIX, "plain causal"): (0, "wrong"),
    (PREFIX, "from the edge"): (11, "partial"),
    (PREFIX, "one at least"): (11, "partial"),
    (PREFIX, "up to the last asked"): (8, "partial"),
    (PREFIX, "padding seen"): (8, "partial"),
    (PREFIX, "writes into real"): (14, "partial"),
    (GRADIENT, "diagonal"): (0, "wrong"),
    (GRADIENT, "peak of all"): (16, "partial"),
    (GRADIENT, "dead rows undefined"): (20 - 5 - 2, "partial"),
    (GRADIENT, "one matrix"): (18, "partial"),
    (MENDED, "as given"): (0, "wrong"),
    (MENDED, "no peak"): (12, "partial"),
    (MENDED, "writes into key"): (14, "partial"),
}

EQUIVALENT = {
    (STREAMING, "first = (key < n_first) & (key < query)"): "its own is in the window",
    (STREAMING, "mask[i, :min(n_first, here + 0)] = True"): "its own is in the window",
    (GRADIENT, "weights = exponentials / (total - (total == 0))"): "nothing over 1 or -1",
    (GRADIENT, "total = e.sum(-1) - (1 - mask.any(-1))"): "nothing over 1 or -1",
}

FAULTY = ("faulty_head_weights", MENDED, "masks_of_other_sentences")
