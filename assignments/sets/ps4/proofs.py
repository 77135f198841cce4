"""Test submissions for problem set 4: right answers in many ways, and wrong ones.

Each is the text of a cell. A wrong answer is a right one with a slip, so that it is wrong in
one way only, and has nothing in common with the code of the known mistakes.
`tests.test_assignments.proofs.Answers` says what each table holds.
"""

RMS = "rms_norm"
GATED = "gated_feed_forward"
GRADIENT = "layer_norm_gradient"
STACK = "mended_stack"
DECODER = "pre_norm_decoder_layer"

CORRECT = {
    RMS: {
        "vectorised": """
def rms_norm(x, gain):
    mean_square = (x**2).mean(axis=-1, keepdims=True)
    size = np.sqrt(mean_square + 1e-5)
    return gain * x / size
""",
        "length": """
def rms_norm(x, gain):
    d_model = len(gain)
    length = np.linalg.norm(x, axis=-1)[..., None]
    return x / np.hypot(length / np.sqrt(d_model), 1e-5**0.5) * gain
""",
        "einsum": """
def rms_norm(x, gain):
    shrink = (np.einsum("...i,...i->...", x, x) / x.shape[-1] + 1e-5) ** -0.5
    return np.einsum("...i,...,i->...i", x, shrink, gain)
""",
        "loops": """
def rms_norm(x, gain):
    result = np.zeros(x.shape)
    for place in np.ndindex(x.shape[:-1]):
        squares = [component * component for component in x[place]]
        size = (sum(squares) / len(squares) + 1e-5) ** 0.5
        for i, component in enumerate(x[place]):
            result[place][i] = gain[i] * component / size
    return result
""",
    },
    GATED: {
        "vectorised": """
def gated_feed_forward(x, w_gate, w_up, w_down):
    gate = x @ w_gate
    content = x @ w_up
    opened = gate / (1 + np.exp(-gate))
    return (opened * content) @ w_down
""",
        "tanh": """
def gated_feed_forward(x, w_gate, w_up, w_down):
    half = x @ w_gate / 2
    opened = half * (1 + np.tanh(half))
    return np.einsum("...f,...f,fd->...d", opened, x @ w_up, w_down)
""",
        "both sides": """
def gated_feed_forward(x, w_gate, w_up, w_down):
    z = x @ w_gate
    small = np.exp(-abs(z))
    sigmoid = np.where(z >= 0, 1, small) / (1 + small)
    return z * sigmoid * (x @ w_up) @ w_down
""",
        "token by token": """
def gated_feed_forward(x, w_gate, w_up, w_down):
    if x.ndim > 1:
        return np.array([gated_feed_forward(part, w_gate, w_up, w_down) for part in x])
    result = np.zeros(len(x))
    for unit in range(w_gate.shape[1]):
        z = x @ w_gate[:, unit]
        silu = z * np.exp(-np.logaddexp(0, -z))
        result = result + silu * (x @ w_up[:, unit]) * w_down[unit]
    return result
""",
    },
    GRADIENT: {
        "vectorised": """
def layer_norm_gradient(x, gain, upstream):
    deviation = x - x.mean(axis=-1, keepdims=True)
    sigma = np.sqrt((deviation**2).mean(axis=-1, keepdims=True) + 1e-5)
    z = deviation / sigma
    by_z = gain * upstream
    by_mean = by_z.mean(axis=-1, keepdims=True)
    by_sigma = (by_z * z).mean(axis=-1, keepdims=True)
    grad_x = (by_z - by_mean - z * by_sigma) / sigma
    others = tuple(range(x.ndim - 1))
    return grad_x, (upstream * z).sum(axis=others), upstream.sum(axis=others)
""",
        "step by step": """
def layer_norm_gradient(x, gain, upstream):
    d_model = x.shape[-1]
    deviation = x - x.mean(axis=-1, keepdims=True)
    variance = (deviation**2).sum(axis=-1, keepdims=True) / d_model + 1e-5
    by_z = upstream * gain
    by_variance = -0.5 * (by_z * deviation).sum(axis=-1, keepdims=True) * variance**-1.5
    by_deviation = by_z / variance**0.5 + 2 / d_model * deviation * by_variance
    by_mean = -by_deviation.sum(axis=-1, keepdims=True)
    rows = (upstream * deviation / variance**0.5).reshape(-1, d_model)
    by_bias = upstream.reshape(-1, d_model).sum(axis=0)
    return by_deviation + by_mean / d_model, rows.sum(axis=0), by_bias
""",
        "jacobian": """
def layer_norm_gradient(x, gain, upstream):
    if x.ndim > 1:
        parts = [layer_norm_gradient(row, gain, up) for row, up in zip(x, upstream)]
        by_x, by_gain, by_bias = zip(*parts)
        return np.array(by_x), sum(by_gain), sum(by_bias)
    d_model = len(x)
    sigma = np.sqrt(x.var() + 1e-5)
    z = (x - x.mean()) / sigma
    centre = np.eye(d_model) - 1 / d_model
    jacobian = (centre - np.outer(z, z) / d_model) / sigma
    return jacobian @ (gain * upstream), upstream * z, upstream
""",
    },
    STACK: {
        "mended": """
def mended_stack(x, gain, w_1, w_2):
    for g, w_in, w_out in zip(gain, w_1, w_2):
        mean = x.mean(axis=-1, keepdims=True)
        variance = x.var(axis=-1, keepdims=True)
        normed = g * (x - mean) / np.sqrt(variance + 1e-5)
        x = x + np.maximum(0, normed @ w_in) @ w_out
    return x
""",
        "recursive": """
def mended_stack(x, gain, w_1, w_2):
    if len(gain) == 0:
        return x
    centred = x - x.mean(axis=-1)[..., None]
    normed = centred / np.sqrt(x.var(axis=-1) + 1e-5)[..., None]
    hidden = (normed * gain[0]) @ w_1[0]
    return mended_stack(x + (hidden * (hidden > 0)) @ w_2[0], gain[1:], w_1[1:], w_2[1:])
""",
        "einsum": """
def mended_stack(x, gain, w_1, w_2):
    for i in range(gain.shape[0]):
        before = x
        x = x - x.mean(axis=-1, keepdims=True)
        x = x / ((x * x).mean(axis=-1, keepdims=True) + 1e-5) ** 0.5
        hidden = np.einsum("...d,d,df->...f", x, gain[i], w_1[i])
        x = before + np.einsum("...f,fd->...d", hidden.clip(min=0), w_2[i])
    return x
""",
        "vector by vector": """
def mended_stack(x, gain, w_1, w_2):
    if x.ndim > 1:
        return np.stack([mended_stack(part, gain, w_1, w_2) for part in x])
    total = x.copy()
    for g, w_in, w_out in zip(gain, w_1, w_2):
        normed = (total - np.mean(total)) / np.sqrt(np.var(total) + 1e-5)
        hidden = [max(0, unit) for unit in (g * normed) @ w_in]
        total += hidden @ w_out
    return total
""",
    },
    DECODER: {
        "vectorised": """
def pre_norm_decoder_layer(x, memory, w_self, w_cross, w_1, w_2, real=None):
    def norm(y):
        deviation = y - y.mean(axis=-1, keepdims=True)
        return deviation / np.sqrt(y.var(axis=-1, keepdims=True) + 1e-5)

    def attend(asks, answers, weights, mask):
        w_q, w_k, w_v, w_o = weights
        scores = (asks @ w_q) @ (answers @ w_k).mT / np.sqrt(w_q.shape[1])
        scores = np.where(mask, scores, -np.inf)
        peak = scores.max(axis=-1, keepdims=True)
        exponentials = np.exp(scores - np.where(np.isfinite(peak), peak, 0))
        total = exponentials.sum(axis=-1, keepdims=True)
        return exponentials / np.where(total == 0, 1, total) @ (answers @ w_v) @ w_o

    causal = np.tri(x.shape[-2], dtype=bool)
    source = True if real is None else real[..., None, :]
    own = norm(x)
    x = x + attend(own, own, w_self, causal)
    x = x + attend(norm(x), memory, w_cross, source)
    return x + np.maximum(0, norm(x) @ w_1) @ w_2
""",
        "einsum": """
def pre_norm_decoder_layer(x, memory, w_self, w_cross, w_1, w_2, real=None):
    def normed(y):
        y = y - y.mean(axis=-1, keepdims=True)
        return y * (np.einsum("...d,...d->...", y, y) / y.shape[-1] + 1e-5)[..., None] ** -0.5

    def found(y, z, w, penalty):
        scores = np.einsum("...id,de,fe,...jf->...ij", y, w[0], w[1], z) / y.shape[-1] ** 0.5
        weights = np.nan_to_num(np.exp(scores + penalty - largest(scores + penalty)))
        weights = weights / np.maximum(weights.sum(axis=-1, keepdims=True), 0.1)
        return np.einsum("...ij,...jd->...id", weights, z @ w[2] @ w[3])

    def largest(scores):
        return scores.max(axis=-1, keepdims=True)

    n, m = x.shape[-2], memory.shape[-2]
    later = np.where(np.arange(n)[:, None] < np.arange(n), -np.inf, 0)
    absent = np.where([True] * m if real is None else real, 0, -np.inf)[..., None, :]
    x = x + found(normed(x), normed(x), w_self, later)
    x = x + found(normed(x), memory, w_cross, absent)
    return x + (normed(x) @ w_1).clip(min=0) @ w_2
""",
        "loops": """
def pre_norm_decoder_layer(x, memory, w_self, w_cross, w_1, w_2, real=None):
    if x.ndim > 2:
        reals = real if real is not None else [None] * len(x)
        return np.array([
            pre_norm_decoder_layer(one, source, w_self, w_cross, w_1, w_2, which)
            for one, source, which in zip(x, memory, reals)
        ])

    def norm(vector):
        return (vector - vector.mean()) / np.sqrt(vector.var() + 1e-5)

    def look(query, answers, w):
        if len(answers) == 0:
            return np.zeros(query.shape)
        scores = answers @ w[1] @ (query @ w[0]) / np.sqrt(len(query))
        powers = np.exp(scores - max(scores))
        return powers @ answers @ w[2] @ w[3] / sum(powers)

    present = memory if real is None else memory[real]
    before, rows = np.array([norm(row) for row in x]), []
    for i, row in enumerate(x):
        row = row + look(before[i], before[: i + 1], w_self)
        row = row + look(norm(row), present, w_cross)
        rows.append(row + np.maximum(norm(row) @ w_1, 0) @ w_2)
    return np.array(rows)
""",
    },
}

_MEAN = "(x**2).mean(axis=-1, keepdims=True)"
_ROOT = "np.sqrt(mean_square + 1e-5)"
_SILU = "gate / (1 + np.exp(-gate))"
_FED = "x = x + np.maximum(0, normed @ w_in) @ w_out"
_OWN = "own = norm(x)\n    x = x + attend(own, own, w_self, causal)"
_CROSS = "x = x + attend(norm(x), memory, w_cross, source)"
_LAST = "return x + np.maximum(0, norm(x) @ w_1) @ w_2"
_CAUSAL = "np.tri(x.shape[-2], dtype=bool)"
_SOURCE = "True if real is None else real[..., None, :]"

# One slip a line: a table that is read down its columns.
SLIPS = {
    RMS: (
        "vectorised",
        [
            ("mean subtracted", "layer_norm",
             "    mean_square =", "    x = x - x.mean(axis=-1, keepdims=True)\n    mean_square ="),
            ("variance", "deviation_as_size", _MEAN, "x.var(axis=-1, keepdims=True)"),
            ("centred at the end", "centred_afterwards",
             "gain * x", "gain * (x - x.mean(axis=-1, keepdims=True))"),
            ("sum of squares", "unit_length", ".mean(", ".sum("),
            ("no root", "no_root", _ROOT, "mean_square + 1e-5"),
            ("absolute values", "mean_of_sizes", [("(x**2)", "abs(x)"),
                                                  (_ROOT, "mean_square + 1e-5")]),
            ("square of the mean", "root_of_the_mean", _MEAN, "x.mean(axis=-1, keepdims=True)**2"),
            ("no axis", "whole_array", "axis=-1, keepdims=True", ""),
            ("wrong axis", "over_tokens", "axis=-1", "axis=0"),
            ("axis lost", "axis_lost", ", keepdims=True", ""),
            ("no eps", "no_eps", " + 1e-5", ""),
            ("eps after the root", "eps_outside", _ROOT, "np.sqrt(mean_square) + 1e-5"),
            ("another eps", "other_eps", "1e-5", "1e-6"),
            ("no gain", "gain_missing", "gain * x", "x"),
            ("gain first", "gain_before",
             [("gain * x", "x"),
              ("    mean_square =", "    x = x * gain\n    mean_square =")]),
            ("gain added", "gain_added", "gain * x / size", "x / size + gain"),
            ("second axis", "matrix_only", "axis=-1", "axis=1"),
            ("writes into x", None, "return gain * x / size", "x *= gain / size\n    return x"),
            ("a slip of its own", None, _ROOT, "(mean_square + 1e-5) ** 0.4"),
        ],
    ),
    GATED: (
        "vectorised",
        [
            ("swapped", "gate_and_content_exchanged",
             "x @ w_gate\n    content = x @ w_up", "x @ w_up\n    content = x @ w_gate"),
            ("sigmoid", "sigmoid_gate", "gate / (1", "1 / (1"),
            ("relu", "relu_gate", _SILU, "np.maximum(gate, 0)"),
            ("gelu", "gelu_gate",
             _SILU, "gate / 2 * (1 + np.tanh((2 / np.pi) ** 0.5 * (gate + 0.044715 * gate**3)))"),
            ("tanh", "tanh_gate", _SILU, "np.tanh(gate)"),
            ("no activation", "no_activation", _SILU, "gate"),
            ("both activated", "both_activated",
             "content = x @ w_up",
             "content = x @ w_up\n    content = content / (1 + np.exp(-content))"),
            ("activated at the end", "product_activated",
             [(_SILU, "gate * content"),
              ("(opened * content)", "(opened / (1 + np.exp(-opened)))")]),
            ("sum", "summed", "opened * content", "opened + content"),
            ("no content", "content_missing", "(opened * content)", "opened"),
            ("no gate", "gate_missing", "(opened * content)", "content"),
            ("sign", "sign_flipped", "np.exp(-gate)", "np.exp(gate)"),
            ("not brought back", "left_wide", " @ w_down", ""),
            ("residual", "residual_added", "return (", "return x + ("),
            ("quotient", "overflow", _SILU, "gate * np.exp(gate) / (1 + np.exp(gate))"),
            ("two axes", "matrix_only", "x @ w_gate", 'np.einsum("nd,df->nf", x, w_gate)'),
            ("writes into x", None, "    gate =", "    np.round(x, 9, out=x)\n    gate ="),
            ("a slip of its own", None, "(1 + np", "(1.2 + np"),
        ],
    ),
    GRADIENT: (
        "vectorised",
        [
            ("direct path", "direct_path_only", " - by_mean - z * by_sigma", ""),
            ("mean constant", "mean_held", " - by_mean", ""),
            ("deviation constant", "deviation_held", " - z * by_sigma", ""),
            ("sign", "sign_of_a_path", "- by_mean", "+ by_mean"),
            ("sums", "sums_for_means", [("by_z.mean(", "by_z.sum("),
                                        ("(by_z * z).mean(", "(by_z * z).sum(")]),
            ("gain last", "gain_at_the_end", [("by_z = gain * upstream", "by_z = upstream"),
                                              ("grad_x = (", "grad_x = gain * (")]),
            ("no gain", "gain_forgotten", "by_z = gain * upstream", "by_z = upstream"),
            ("no sigma", "not_divided", "z * by_sigma) / sigma", "z * by_sigma)"),
            ("sigma squared", "divided_by_variance", "by_sigma) / sigma", "by_sigma) / sigma**2"),
            ("z not divided", "raw_deviations", "z = deviation / sigma", "z = deviation"),
            ("gain by x", "gain_meets_x", "(upstream * z)", "(upstream * x)"),
            ("gain twice", "gain_in_its_own_gradient", "(upstream * z)", "(by_z * z)"),
            ("no sum", "one_gradient_per_vector", ".sum(axis=others)", ""),
            ("mean of vectors", "averaged_over_vectors", ".sum(axis=others)", ".mean(axis=others)"),
            ("sum of components", "summed_over_components", "axis=others", "axis=-1"),
            ("one axis", "first_axis_only", "axis=others", "axis=0"),
            ("sample variance", "sample_variance",
             "(deviation**2).mean(axis=-1, keepdims=True)",
             "x.var(axis=-1, ddof=1, keepdims=True)"),
            ("no eps", "no_eps", " + 1e-5", ""),
            ("means of everything", "means_over_everything",
             [("by_z.mean(axis=-1, keepdims=True)", "by_z.mean()"),
              ("(by_z * z).mean(axis=-1, keepdims=True)", "(by_z * z).mean()")]),
            ("bias before gain", "another_order",
             "(upstream * z).sum(axis=others), upstream.sum(axis=others)",
             "upstream.sum(axis=others), (upstream * z).sum(axis=others)"),
            ("only x", "only_x",
             "return grad_x, (upstream * z).sum(axis=others), upstream.sum(axis=others)",
             "return grad_x"),
            ("two axes", "matrix_only", "    by_z =", "    n, d_model = x.shape\n    by_z ="),
            ("writes into upstream", None,
             "    by_z =", "    np.round(upstream, 9, out=upstream)\n    by_z ="),
            ("a slip of its own", None, "z * by_sigma", "z * by_sigma / 2"),
        ],
    ),
    STACK: (
        "mended",
        [
            ("as given", "residual_normalised", "x = x + np", "x = normed + np"),
            ("norm after", "post_norm",
             [(_FED, "x = normed"),
              ("        mean =",
               "        x = x + np.maximum(0, x @ w_in) @ w_out\n        mean =")]),
            ("no sum", "residual_missing", "x = x + np", "x = np"),
            ("no norm", "norm_missing", "normed @ w_in", "x @ w_in"),
            ("norm of the network", "norm_of_the_answer",
             [(_FED, "x = x + normed"),
              ("x.var(", "fed.var("),
              ("(x - mean)", "(fed - mean)"),
              ("        mean = x",
               "        fed = np.maximum(0, x @ w_in) @ w_out\n        mean = fed")]),
            ("first input", "first_input_added", [("    for g", "    first = x\n    for g"),
                                                  ("x = x + np", "x = first + np")]),
            ("twice", "added_twice", "x = x + np", "x = x + normed + np"),
            ("norm at the end", "norm_at_the_end",
             "    return x",
             ("    centred = x - x.mean(axis=-1, keepdims=True)\n"
              "    return centred / np.sqrt(x.var(axis=-1, keepdims=True) + 1e-5)")),
            ("no gain", "gain_lost", "normed = g * (", "normed = ("),
            ("first layer only", "one_layer_for_all",
             "zip(gain, w_1, w_2)", "[(gain[0], w_1[0], w_2[0])] * len(gain)"),
            ("backwards", "layers_backwards",
             "zip(gain, w_1, w_2)", "reversed(list(zip(gain, w_1, w_2)))"),
            ("linear", "activation_lost", "np.maximum(0, normed @ w_in)", "normed @ w_in"),
            ("no axis", "another_axis", "axis=-1, keepdims=True", ""),
            ("mean kept", "another_norm", [("(x - mean)", "x"),
                                           ("x.var(", "(x**2).mean(")]),
            ("two axes", "sentence_only", "    for g", "    n, d_model = x.shape\n    for g"),
            ("writes into x", None, "x = x + np", "x += np"),
            ("a slip of its own", None, "1e-5", "0.3"),
        ],
    ),
    DECODER: (
        "vectorised",
        [
            ("norm after", "post_norm",
             [(_OWN, "x = norm(x + attend(x, x, w_self, causal))"),
              (_CROSS, "x = norm(x + attend(x, memory, w_cross, source))"),
              (_LAST, "return norm(x + np.maximum(0, x @ w_1) @ w_2)")]),
            ("no sum", "residual_missing", "x = x + attend(norm(x)", "x = attend(norm(x)"),
            ("norm summed", "residual_normalised", "x = x + attend(own", "x = own + attend(own"),
            ("no second norm", "norm_missing", "attend(norm(x), mem", "attend(x, mem"),
            ("norm of the answer", "norm_of_the_answer",
             [(_OWN, "x = x + norm(attend(x, x, w_self, causal))"),
              (_CROSS, "x = x + norm(attend(x, memory, w_cross, source))"),
              (_LAST, "return x + norm(np.maximum(0, x @ w_1) @ w_2)")]),
            ("one norm", "one_norm_for_all", [("attend(norm(x),", "attend(own,"),
                                              ("norm(x) @ w_1", "own @ w_1")]),
            ("norm of the memory", "memory_normalised", "norm(x), memory", "norm(x), norm(memory)"),
            ("wrong axis", "norm_over_tokens", [("y.mean(axis=-1", "y.mean(axis=-2"),
                                                ("y.var(axis=-1", "y.var(axis=-2")]),
            ("no eps", "other_eps", " + 1e-5", ""),
            ("no triangle", "future_seen", _CAUSAL, "True"),
            ("upper triangle", "triangle", _CAUSAL, f"{_CAUSAL}.T"),
            ("triangle on the source", "causal_source",
             _SOURCE, f"np.tri(x.shape[-2], memory.shape[-2], dtype=bool) & ({_SOURCE})"),
            ("itself again", "source_ignored",
             "attend(norm(x), memory, w_cross, source)",
             "attend(norm(x), norm(x), w_cross, True)"),
            ("swapped matrices", "weights_exchanged",
             "(x, memory, w_self, w_cross,", "(x, memory, w_cross, w_self,"),
            ("source first", "another_order", [(f"    {_CROSS}\n", ""),
                                               ("    own =", f"    {_CROSS}\n    own =")]),
            ("no source", "step_missing", f"    {_CROSS}\n", ""),
            ("no output matrix", "output_matrix_missing", " @ w_o", ""),
            ("no scale", "unscaled", " / np.sqrt(w_q.shape[1])", ""),
            ("linear", "no_activation", "np.maximum(0, norm(x) @ w_1)", "norm(x) @ w_1"),
            ("padding ignored", "padding_seen", _SOURCE, "True"),
            ("padding inverted", "padding_only", "else real[", "else ~real["),
            ("one axis less", "padding_on_another_axis", "real[..., None, :]", "real"),
            ("mask after softmax", "mask_after_softmax",
             [("        scores = np.where(mask, scores, -np.inf)\n", ""),
              ("np.where(total == 0, 1, total) @", "total * mask @")]),
            ("no if", "without_if", _SOURCE, "real[..., None, :]"),
            ("finite fill", "finite_fill", "scores, -np.inf)", "scores, -1e9)"),
            ("NaN if all is padding", "empty_source", "np.where(total == 0, 1, total)", "total"),
            ("no maximum", "overflow", "scores - np.where(np.isfinite(peak), peak, 0)", "scores"),
            ("one maximum", "global_maximum", "scores.max(axis=-1, keepdims=True)", "scores.max()"),
            ("unbatched only", "one_pair_only", ".mT", ".T"),
            ("writes into memory", None,
             "    causal =", "    np.round(memory, 9, out=memory)\n    causal ="),
            ("a slip of its own", None, "w_1) @ w_2", "w_1) @ w_2 / 2"),
        ],
    ),
}  # fmt: skip # Each mistake stays beside its edit.

WORTH = {
    (RMS, "mean subtracted"): (0, "wrong"),
    (RMS, "no eps"): (12, "partial"),
    (RMS, "eps after the root"): (12, "partial"),
    (RMS, "second axis"): (12, "partial"),
    (RMS, "writes into x"): (14, "partial"),
    (GATED, "sigmoid"): (0, "wrong"),
    (GATED, "quotient"): (12, "partial"),
    (GATED, "two axes"): (13, "partial"),
    (GATED, "writes into x"): (14, "partial"),
    (GRADIENT, "mean constant"): (0, "wrong"),
    (GRADIENT, "no eps"): (17, "partial"),
    (GRADIENT, "one axis"): (17, "partial"),
    (GRADIENT, "two axes"): (17, "partial"),
    (GRADIENT, "writes into upstream"): (19, "partial"),
    (STACK, "as given"): (0, "wrong"),
    (STACK, "two axes"): (12, "partial"),
    (STACK, "writes into x"): (14, "partial"),
    (DECODER, "no sum"): (0, "wrong"),
    (DECODER, "norm after"): (0, "wrong"),
    (DECODER, "padding ignored"): (9 + 2 + 1, "partial"),
    (DECODER, "NaN if all is padding"): (18, "partial"),
    (DECODER, "unbatched only"): (17, "partial"),
    (DECODER, "no maximum"): (18, "partial"),
    (DECODER, "one maximum"): (18, "partial"),
    (DECODER, "writes into memory"): (19, "partial"),
}

AT_ZERO = "at exactly 0 both branches give the same"
VECTORS = "both are vectors: their product is the same either way round"
ANY_SIZE = "NumPy takes any negative size for the one to work out"
PEAK = "stands for the maximum of an empty row: any finite number will do"
SHIFT = "adding the same to every allowed score changes no weight"
EQUIVALENT = {
    (GATED, "sigmoid = np.where(z > 0, 1, small) / (1 + small)"): AT_ZERO,
    (GATED, "z = w_gate[:, unit] @ x"): VECTORS,
    (GATED, "result = result + silu * (w_up[:, unit] @ x) * w_down[unit]"): VECTORS,
    (
        GRADIENT,
        "rows = (upstream * deviation / variance ** 0.5).reshape(-2, d_model)",
    ): ANY_SIZE,
    (GRADIENT, "by_bias = upstream.reshape(-2, d_model).sum(axis=0)"): ANY_SIZE,
    (
        GRADIENT,
        "return (gain * upstream @ jacobian, upstream * z, upstream)",
    ): "the Jacobian is symmetric",
    (
        STACK,
        "return mended_stack(x + hidden * (hidden >= 0) @ w_2[0], gain[1:], w_1[1:], w_2[1:])",
    ): AT_ZERO,
    (
        DECODER,
        "causal = np.tri(x.shape[-2])",
    ): "ones and zeros instead of True and False: np.where takes them alike",
    (
        DECODER,
        "scores = asks @ w_q @ (answers @ w_k).mT / np.sqrt(w_q.shape[0])",
    ): "the matrices are square",
    (DECODER, "exponentials = np.exp(scores - np.where(np.isfinite(peak), peak, 1))"): PEAK,
    (
        DECODER,
        "exponentials = np.exp(scores - np.where(np.isfinite(peak), peak, -1))",
    ): PEAK,
    (
        DECODER,
        "return exponentials / np.where(total == 0, 2, total) @ (answers @ w_v) @ w_o",
    ): "divides zeros: any number but 0 will do",
    (
        DECODER,
        "later = np.where(np.arange(n)[:, None] < np.arange(n), -np.inf, 1)",
    ): SHIFT,
    (
        DECODER,
        "later = np.where(np.arange(n)[:, None] < np.arange(n), -np.inf, -1)",
    ): SHIFT,
    (
        DECODER,
        "absent = np.where([True] * m if real is None else real, 1, -np.inf)[..., None, :]",
    ): SHIFT,
    (
        DECODER,
        "absent = np.where([True] * m if real is None else real, -1, -np.inf)[..., None, :]",
    ): SHIFT,
}

FAULTY = ("faulty_stack", STACK, "residual_normalised")
