"""Test submissions for problem set 9: right answers in many ways, and wrong ones.

Each is the text of a cell. A wrong answer is a right one with a slip, so that it is wrong in
one way only, and has nothing in common with the code of the known mistakes.
`tests.test_assignments.proofs.Answers` says what each table holds.
"""

ROTATE = "rotate_halves"
STEP = "decode_step"
BYTES = "cache_bytes"
VERIFY = "verify_draft"
MENDED = "mended_block"

CORRECT = {
    ROTATE: {
        "halves": """
def rotate_halves(x, positions, base):
    half = x.shape[-1] // 2
    angles = positions[..., None] * base ** (-np.arange(half) / half)
    first, second = x[..., :half], x[..., half:]
    cos, sin = np.cos(angles), np.sin(angles)
    return np.concatenate([first * cos - second * sin, second * cos + first * sin], axis=-1)
""",
        "complex": """
def rotate_halves(x, positions, base):
    first, second = np.split(x, 2, axis=-1)
    speeds = 1 / base ** np.linspace(0, 1, first.shape[-1], endpoint=False)
    turned = (first + 1j * second) * np.exp(1j * positions[..., None] * speeds)
    return np.concatenate([turned.real, turned.imag], axis=-1)
""",
        "loops": """
def rotate_halves(x, positions, base):
    turned, d = x.astype(float), x.shape[-1]
    for place in np.ndindex(x.shape[:-1]):
        p = positions[place]
        for i in range(d // 2):
            angle = p * base ** (-2 * i / d)
            a, b = x[place][i], x[place][i + d // 2]
            turned[place][i] = a * np.cos(angle) - b * np.sin(angle)
            turned[place][i + d // 2] = a * np.sin(angle) + b * np.cos(angle)
    return turned
""",
        "doubled": """
def rotate_halves(x, positions, base):
    d = x.shape[-1]
    angles = positions[..., None] / base ** (np.arange(0, d, 2) / d)
    angles = np.concatenate([angles, angles], axis=-1)
    other = np.concatenate([-x[..., d // 2 :], x[..., : d // 2]], axis=-1)
    return x * np.cos(angles) + other * np.sin(angles)
""",
    },
    STEP: {
        "loops": """
def decode_step(x, w_q, w_k, w_v, base, keys, values):
    n, d_k = keys.shape[1], w_q.shape[2]
    angles = n * base ** (-np.arange(d_k // 2) / (d_k // 2))

    def turned(vector):
        a, b = np.split(vector, 2)
        return np.hstack([a * np.cos(angles) - b * np.sin(angles),
                          b * np.cos(angles) + a * np.sin(angles)])

    new_keys = np.array([np.vstack([old, turned(x @ w)]) for old, w in zip(keys, w_k)])
    new_values = np.array([np.vstack([old, x @ w]) for old, w in zip(values, w_v)])
    output = []
    for h in range(len(w_q)):
        g = h // (len(w_q) // len(w_k))
        scores = new_keys[g] @ turned(x @ w_q[h]) / np.sqrt(d_k)
        weights = np.exp(scores - scores.max())
        output.append(weights / weights.sum() @ new_values[g])
    return np.array(output), new_keys, new_values
""",
        "repeated": """
def decode_step(x, w_q, w_k, w_v, base, keys, values):
    n, half = keys.shape[1], keys.shape[2] // 2
    turn = np.exp(1j * n / base ** (np.arange(half) / half))

    def rotated(rows):
        z = (rows[:, :half] + 1j * rows[:, half:]) * turn
        return np.concatenate([z.real, z.imag], axis=1)

    keys = np.append(keys, rotated(x @ w_k)[:, None], axis=1)
    values = np.append(values, (x @ w_v)[:, None], axis=1)
    group = len(w_q) // len(w_k)
    k, v = keys.repeat(group, axis=0), values.repeat(group, axis=0)
    scores = np.einsum("hd,hnd->hn", rotated(x @ w_q), k) / np.sqrt(2 * half)
    weights = np.exp(scores - np.logaddexp.reduce(scores, axis=1)[:, None])
    return np.einsum("hn,hnd->hd", weights, v), keys, values
""",
        "grouped": """
def decode_step(x, w_q, w_k, w_v, base, keys, values):
    n_kv, n, d_k = keys.shape
    angle = n * base ** (-2 * np.arange(d_k // 2) / d_k)
    rotation = np.block([[np.diag(np.cos(angle)), np.diag(np.sin(angle))],
                         [-np.diag(np.sin(angle)), np.diag(np.cos(angle))]])
    query = (np.einsum("m,hmd->hd", x, w_q) @ rotation).reshape(n_kv, len(w_q) // n_kv, d_k)
    key, value = np.einsum("m,gmd->gd", x, w_k) @ rotation, np.einsum("m,gmd->gd", x, w_v)
    keys = np.concatenate([keys, key[:, None]], axis=1)
    values = np.concatenate([values, value[:, None]], axis=1)
    scores = query @ keys.mT * d_k**-0.5
    weights = np.exp(scores - scores.max(axis=-1, keepdims=True))
    output = weights @ values / weights.sum(axis=-1, keepdims=True)
    return output.reshape(len(w_q), d_k), keys, values
""",
    },
    BYTES: {
        "loops": """
def cache_bytes(lengths, windows, n_kv_heads, d_k, n_bytes, block_size):
    each, used, reserved = 2 * n_bytes * n_kv_heads * d_k, [], []
    for length in lengths.tolist():
        tokens = room = 0
        for window in windows.tolist():
            kept = min(length, window) if window else length
            tokens += kept
            blocks, rest = divmod(kept, block_size)
            room += (blocks + (rest > 0)) * block_size
        used.append(tokens * each)
        reserved.append(room * each)
    return np.array(used), np.array(reserved)
""",
        "where": """
def cache_bytes(lengths, windows, n_kv_heads, d_k, n_bytes, block_size):
    lengths = lengths[:, None]
    tokens = np.where((windows > 0) & (windows < lengths), windows, lengths)
    blocks = (tokens + block_size - 1) // block_size
    one_token = (n_bytes + n_bytes) * n_kv_heads * d_k
    return one_token * tokens.sum(axis=1), one_token * block_size * blocks.sum(axis=1)
""",
        "ceiling": """
def cache_bytes(lengths, windows, n_kv_heads, d_k, n_bytes, block_size):
    limits = [w if w > 0 else lengths.max() for w in windows]
    each = 2 * n_bytes * n_kv_heads * d_k
    used, reserved = np.zeros((2, len(lengths)), dtype=int)
    for limit in limits:
        tokens = lengths.clip(max=limit)
        used += tokens * each
        reserved += np.ceil(tokens / block_size).astype(int) * block_size * each
    return used, reserved
""",
    },
    VERIFY: {
        "loop": """
def verify_draft(target, draft, tokens, dice):
    for i, token in enumerate(tokens):
        if dice[i] >= target[i, token] / draft[i, token]:
            rest = np.maximum(target[i] - draft[i], 0)
            return i, rest / rest.sum()
    return len(tokens), target[len(tokens)]
""",
        "padded": """
def verify_draft(target, draft, tokens, dice):
    n = len(tokens)
    place = np.arange(n)
    passed = dice * draft[place, tokens] < target[place, tokens]
    kept = np.cumprod(passed).sum()
    said = np.zeros_like(target)
    said[:n] = draft
    rest = (target[kept] - said[kept]).clip(0)
    return kept, rest / rest.sum()
""",
        "two functions": """
def left_at(target, draft, i):
    left = [max(p - q, 0.0) for p, q in zip(target[i], draft[i])]
    return np.array(left) / sum(left)

def verify_draft(target, draft, tokens, dice):
    for i, token in enumerate(tokens):
        if dice[i] >= target[i, token] / draft[i, token]:
            return i, left_at(target, draft, i)
    return target.shape[0] - 1, target[target.shape[0] - 1]
""",
        "refused": """
def verify_draft(target, draft, tokens, dice):
    odds = [target[i, token] / draft[i, token] for i, token in enumerate(tokens)]
    refused = [i for i in range(len(odds)) if not dice[i] < odds[i]]
    if not refused:
        return len(odds), target[-1]
    first = min(refused)
    rest = (target[first] - draft[first]).clip(min=0)
    return first, rest / np.sum(rest)
""",
    },
    MENDED: {
        "mended": """
def mended_block(x, gain, w_gate, w_up, w_down):
    size = np.sqrt((x**2).mean(axis=-1, keepdims=True) + 1e-5)
    normed = gain * x / size
    gate = normed @ w_gate
    opened = gate / (1 + np.exp(-gate))
    return x + (opened * (normed @ w_up)) @ w_down
""",
        "tokens apart": """
def mended_block(x, gain, w_gate, w_up, w_down):
    output = np.zeros_like(x)
    for place in np.ndindex(x.shape[:-1]):
        vector = x[place]
        normed = vector * gain * (vector @ vector / len(vector) + 1e-5) ** -0.5
        gate, content = normed @ w_gate, normed @ w_up
        output[place] = vector + (gate * content / (1 + np.exp(-gate))) @ w_down
    return output
""",
        "einsum": """
def mended_block(x, gain, w_gate, w_up, w_down):
    squares = np.einsum("...i,...i->...", x, x) / x.shape[-1]
    normed = x / np.sqrt(squares + 1e-5)[..., None] * gain
    half = np.einsum("...i,if->...f", normed, w_gate) / 2
    gate = half * (1 + np.tanh(half))
    return x + np.einsum("...f,...f,fi->...i", gate, normed @ w_up, w_down)
""",
    },
}

# One slip a line: a table that is read down its columns.
SLIPS = {
    ROTATE: (
        "halves",
        [
            ("neighbours", "pairs_of_neighbours",
             [("x[..., :half], x[..., half:]", "x[..., ::2], x[..., 1::2]"),
              ("np.concatenate([", "np.stack(["),
              ("axis=-1)", "axis=-1).reshape(x.shape)")]),
            ("halves of neighbours", "pairs_of_neighbours", "x[..., :half], x[..., half:]",
             "x[..., ::2], x[..., 1::2]"),
            ("numbers them", "positions_ignored", "positions[..., None]",
             "np.arange(x.shape[-2])[:, None]"),
            ("counts on", "first_position_only", "positions[..., None]",
             "(positions[..., :1] + np.arange(x.shape[-2]))[..., None]"),
            ("from one", "counted_from_one", "positions[..., None]", "(1 + positions[..., None])"),
            ("two i", "doubled_exponent", "-np.arange(half)", "-2 * np.arange(half)"),
            ("over d", "halved_exponent", "(half) / half", "(half) / x.shape[-1]"),
            ("no minus in the power", "exponent_positive", "-np.arange", "np.arange"),
            ("the base of the paper", "base_fixed", "base **", "10_000 **"),
            ("same speed", "one_speed", "(-np.arange(half) / half)", "(0 * np.arange(half))"),
            ("other way", "backwards", "np.sin(angles)", "np.sin(-angles)"),
            ("plus", "no_minus", "cos - second", "cos + second"),
            ("second as it was", "half_turned", "second * cos + first * sin]", "second]"),
            ("first as it was", "half_turned", "[first * cos - second * sin,", "[first,"),
            ("second first", "halves_swapped", "[first * cos - second * sin, second * cos + first * sin]",
             "[second * cos + first * sin, first * cos - second * sin]"),
            ("degrees", "degrees", "np.cos(angles), np.sin(angles)",
             "np.cos(np.radians(angles)), np.sin(np.radians(angles))"),
            ("first row", "first_sentence_for_all", "positions[..., None]",
             "positions[(0,) * (positions.ndim - 1)][:, None]"),
            ("two axes", "matrix_only", "    angles =", "    n, d = x.shape\n    angles ="),
            ("turned twice", None, "first, second = x[..., :half], x[..., half:]",
             "first, second, angles = x[..., :half], x[..., half:], 2 * angles"),
            ("writes into x", None, "    cos, sin", "    x *= 1 + 1e-15\n    cos, sin"),
        ],
    ),
    STEP: (
        "loops",
        [
            ("query as it is", "query_not_turned", "turned(x @ w_q[h])", "(x @ w_q[h])"),
            ("key as it is", "key_not_turned", "turned(x @ w)", "x @ w"),
            ("no turn", "nothing_turned", "angles = n *", "angles = 0 *"),
            ("one back", "position_off_by_one", "angles = n *", "angles = (n - 1) *"),
            ("one on", "position_off_by_one", "angles = n *", "angles = (n + 1) *"),
            ("again", "cache_turned_again",
             [("new_keys[g] @ turned", ("np.array([np.hstack([k[:h2] * np.cos(p * angles / max(n, 1)) - "
               "k[h2:] * np.sin(p * angles / max(n, 1)), k[h2:] * np.cos(p * angles / max(n, 1)) + "
               "k[:h2] * np.sin(p * angles / max(n, 1))]) for p, k in enumerate(new_keys[g])]) @ turned")),
              ("    output = []", "    h2, output = d_k // 2, []")]),
            ("value too", "value_turned", "np.vstack([old, x @ w])",
             "np.vstack([old, turned(x @ w)])"),
            ("neighbours", "pairs_of_neighbours",
             [("np.split(vector, 2)", "vector[::2], vector[1::2]"),
              ("np.hstack([", "np.ravel(np.column_stack(["),
              ("a * np.sin(angles)])", "a * np.sin(angles)]))")]),
            ("without itself", "not_itself",
             [("new_keys[g] @", "keys[g] @"), ("@ new_values[g]", "@ values[g]"),
              ("scores.max()", "scores.max(initial=-np.inf)")]),
            ("old", "old_cache_returned", "np.array(output), new_keys, new_values",
             "np.array(output), keys, values"),
            ("in front", "in_front",
             [("[old, turned(x @ w)]", "[turned(x @ w), old]"), ("[old, x @ w]", "[x @ w, old]")]),
            ("in turn", "groups_interleaved", "h // (len(w_q) // len(w_k))", "h % len(w_k)"),
            ("first group", "first_group_for_all", "h // (len(w_q) // len(w_k))", "0"),
            ("exchanged", "query_and_key_swapped",
             [("    n, d_k", "    w_q, w_k = w_k, w_q\n    n, d_k")]),
            ("no scale", "unscaled", " / np.sqrt(d_k)", ""),
            ("by d_model", "scaled_by_another", "np.sqrt(d_k)", "np.sqrt(len(x))"),
            ("no root", "scaled_by_another", "np.sqrt(d_k)", "d_k"),
            ("heads", "over_the_heads",
             [("        weights = np.exp(scores - scores.max())\n", ""),
              ("        output.append(weights / weights.sum() @ new_values[g])\n",
               "        output.append(scores)\n"),
              ("    return np.array(output)",
               ("    e = np.exp(np.array(output) - np.max(output, axis=0))\n"
               "    e = e / e.sum(axis=0)\n"
               "    output = [e[h] @ new_values[h // (len(w_q) // len(w_k))] for h in range(len(e))]\n"
               "    return np.array(output)"))]),
            ("no sum", "not_normalised", "weights / weights.sum() @", "weights @"),
            ("no maximum", "overflow", "scores - scores.max()", "scores"),
            ("scaled twice", None, "np.sqrt(d_k)", "(np.sqrt(d_k) + 0.3)"),
            ("value doubled", None, "np.vstack([old, x @ w])", "np.vstack([old, 2 * (x @ w)])"),
            ("writes into the cache", None, "    output = []", "    values[:1] = 0\n    output = []"),
        ],
    ),
    BYTES: (
        "loops",
        [
            ("keys", "keys_alone", "= 2 * n_bytes *", "= n_bytes *"),
            ("first layer", "one_layer", "windows.tolist()", "windows.tolist()[:1]"),
            ("one head", "one_head", " * n_kv_heads * d_k, [], []", " * d_k, [], []"),
            ("numbers", "numbers_for_bytes", "= 2 * n_bytes *", "= 2 *"),
            ("bits", "bits", " * d_k, []", " * d_k * 8, []"),
            ("no width", "width_missing", " * d_k, []", ", []"),
            ("down", "rounded_down", "(blocks + (rest > 0))", "blocks"),
            ("one more", "one_block_too_many", "(blocks + (rest > 0))", "(blocks + 1)"),
            ("blocks", "blocks_for_tokens", "(rest > 0)) * block_size", "(rest > 0))"),
            ("bytes in blocks", "bytes_rounded",
             "reserved.append(room * each)",
             "reserved.append(-(-used[-1] // block_size) * block_size)"),
            ("all layers at once", "layers_rounded_together",
             "reserved.append(room *", "reserved.append(-(-tokens // block_size) * block_size *"),
            ("both rounded", "used_rounded", "used.append(tokens", "used.append(room"),
            ("neither rounded", "nothing_set_aside", "reserved.append(room", "reserved.append(tokens"),
            ("other order", "exchanged", "np.array(used), np.array(reserved)",
             "np.array(reserved), np.array(used)"),
            ("longest", "as_long_as_the_longest", "lengths.tolist():",
             "[lengths.max()] * len(lengths):"),
            ("total", "summed", "np.array(used), np.array(reserved)", "sum(used), sum(reserved)"),
            ("every token", "window_ignored", "min(length, window) if window else length", "length"),
            ("zero is none", "zero_keeps_nothing", "min(length, window) if window else length",
             "min(length, window)"),
            ("at least", "window_as_a_floor", "min(length, window) if window else length",
             "max(length, window)"),
            ("three of them", None, "= 2 * n_bytes *", "= 3 * n_bytes *"),
            ("writes into lengths", None, "    for length",
             "    lengths[:] = lengths[::-1]\n    for length"),
        ],
    ),
    VERIFY: (
        "loop",
        [
            ("goes on", "counts_after_a_refusal",
             [("    for i, token", "    kept = []\n    for i, token"),
              ("            rest =", "            continue\n            rest ="),
              ("            return i, rest / rest.sum()\n", "            return i\n        kept.append(i)\n"),
              ("    return len(tokens), target[len(tokens)]",
               ("    n = len(kept)\n    rest = np.maximum(target[n] - draft[n], 0) if n < len(tokens)"
               " else target[n]\n    return n, rest / rest.sum()"))]),
            ("all or none", "all_or_nothing",
             [("            rest = np.maximum(target[i] - draft[i], 0)",
               "            rest = np.maximum(target[0] - draft[0], 0)"),
              ("return i, rest", "return 0, rest")]),
            ("keeps it", "refused_one_kept", "return i, rest", "return i + 1, rest"),
            ("first decides", "first_only", "enumerate(tokens)", "enumerate(tokens[:1])"),
            ("upside down", "ratio_upside_down", "target[i, token] / draft[i, token]",
             "draft[i, token] / target[i, token]"),
            ("target", "target_alone", "target[i, token] / draft[i, token]", "target[i, token]"),
            ("minus", "difference", "target[i, token] / draft", "target[i, token] - draft"),
            ("no dice", "without_dice", "dice[i] >= target", "1 > target"),
            ("above", "sign_of_the_dice", ">= target", "< target"),
            ("one dice", "one_dice_for_all", "dice[i]", "dice[0]"),
            ("target for the rest", "rest_is_the_target", "target[i] - draft[i]", "target[i]"),
            ("only not that", "rest_without_the_token", "np.maximum(target[i] - draft[i], 0)",
             "target[i] * (np.arange(target.shape[1]) != token)"),
            ("of the draft", "rest_of_the_draft", "target[i] - draft[i]", "draft[i] - target[i]"),
            ("not shared", "rest_not_shared", "rest / rest.sum()", "rest"),
            ("negative", "rest_negative",
             [("np.maximum(target[i] - draft[i], 0)", "target[i] - draft[i]"),
              ("rest / rest.sum()", "rest")]),
            ("without signs", "rest_negative", "np.maximum(target[i] - draft[i], 0)",
             "np.abs(target[i] - draft[i])"),
            ("first row", "rest_of_the_first", "target[i] - draft[i]", "target[0] - draft[0]"),
            ("no bonus", "last_before_the_draft", "target[len(tokens)]", "target[len(tokens) - 1]"),
            ("asks for one", "needs_a_token", "    for i, token",
             "    first = tokens[0]\n    for i, token"),
            ("softmax", None, "np.maximum(target[i] - draft[i], 0)", "np.exp(target[i] - draft[i])"),
            ("writes into target", None, "    for i, token",
             "    target += 1e-12\n    for i, token"),
        ],
    ),
    MENDED: (
        "mended",
        [
            ("as given", "one_size_for_all", ".mean(axis=-1, keepdims=True)", ".mean()"),
            ("one a sentence", "one_size_for_all", "axis=-1", "axis=(-2, -1)"),
            ("tokens", "over_the_tokens", "axis=-1", "axis=-2"),
            ("so far", "tokens_so_far", "(x**2).mean(axis=-1, keepdims=True)",
             ("(x**2).mean(axis=-1, keepdims=True).cumsum(axis=-2) / "
             "np.arange(1, x.shape[-2] + 1)[:, None]")),
            ("last", "size_of_the_last", "gain * x / size", "gain * x / size[..., -1:, :]"),
            ("no norm", "not_normalised", "gain * x / size", "gain * x"),
            ("length", "length_for_size", ".mean(axis", ".sum(axis"),
            ("mean of squares", "no_root", "np.sqrt(", "("),
            ("centred", "layer_norm",
             [("(x**2)", "((x - x.mean(axis=-1, keepdims=True))**2)"),
              ("gain * x", "gain * (x - x.mean(axis=-1, keepdims=True))")]),
            ("no gain", "gain_missing", "gain * x", "x"),
            ("no sum", "residual_missing", "x + (opened", "(opened"),
            ("normed sum", "residual_normalised", "x + (opened", "normed + (opened"),
            ("after", "normalised_after",
             [("normed = gain * x / size", "normed = x"),
              ("return x + (opened * (normed @ w_up)) @ w_down",
               ("y = x + (opened * (normed @ w_up)) @ w_down\n"
               "    return gain * y / np.sqrt((y**2).mean(axis=-1, keepdims=True) + 1e-5)"))]),
            ("sigmoid", "sigmoid_alone", "gate / (1", "1 / (1"),
            ("linear", "no_activation", "gate / (1 + np.exp(-gate))", "gate"),
            ("exchanged", "gate_exchanged",
             [("normed @ w_gate", "normed @ W"), ("normed @ w_up", "normed @ w_gate"),
              ("@ W", "@ w_up")]),
            ("two axes", "matrix_only", "    size", "    n, d = x.shape\n    size"),
            ("relu", None, "gate / (1 + np.exp(-gate))", "np.maximum(gate, 0)"),
            ("writes into x", None, "    normed", "    x += 1e-12\n    normed"),
        ],
    ),
}  # fmt: skip # Each mistake stays beside its edit.

WORTH = {
    (ROTATE, "numbers them"): (9, "partial"),
    (ROTATE, "counts on"): (9, "partial"),
    (ROTATE, "first row"): (12, "partial"),
    (ROTATE, "from one"): (0, "wrong"),
    (ROTATE, "writes into x"): (14, "partial"),
    (STEP, "in turn"): (14, "partial"),
    (STEP, "without itself"): (0, "wrong"),
    (STEP, "no maximum"): (18, "partial"),
    (STEP, "writes into the cache"): (19, "partial"),
    (BYTES, "every token"): (11, "partial"),
    (BYTES, "keys"): (0, "wrong"),
    (BYTES, "one more"): (0, "wrong"),
    (BYTES, "writes into lengths"): (0, "wrong"),
    (VERIFY, "no bonus"): (14, "partial"),
    (VERIFY, "asks for one"): (18, "partial"),
    (VERIFY, "goes on"): (0, "wrong"),
    (VERIFY, "target for the rest"): (0, "wrong"),
    (MENDED, "as given"): (0, "wrong"),
    (MENDED, "two axes"): (12, "partial"),
    (MENDED, "writes into x"): (14, "partial"),
}

LIMIT = "no dice falls on the limit, where it would make a difference"
EQUIVALENT = {
    (
        ROTATE,
        "a, b = (x[place][i], x[place][i - d // 2])",
    ): "half a vector back and half a vector on are the same place",
    (
        ROTATE,
        "turned[place][i - d // 2] = a * np.sin(angle) + b * np.cos(angle)",
    ): "half a vector back and half a vector on are the same place",
    (
        BYTES,
        "tokens = np.where((windows > 0) & (windows <= lengths), windows, lengths)",
    ): "a window as long as the sentence is the sentence",
    (VERIFY, "if dice[i] > target[i, token] / draft[i, token]:"): LIMIT,
    (VERIFY, "passed = dice * draft[place, tokens] <= target[place, tokens]"): LIMIT,
    (VERIFY, "refused = [i for i in range(len(odds)) if not dice[i] <= odds[i]]"): LIMIT,
}

FAULTY = ("faulty_block", MENDED, "one_size_for_all")
