"""Test submissions for problem set 7: right answers in many ways, and wrong ones.

Each is the text of a cell. A wrong answer is a right one with a slip, so that it is wrong in
one way only, and has nothing in common with the code of the known mistakes.
`tests.test_assignments.proofs.Answers` says what each table holds.
"""

NEXT = "next_token_loss"
CLIP = "clip_gradients"
ADAMW = "adamw_step"
COSINE = "cosine_schedule"
MENDED = "mended_accumulation"

CORRECT = {
    NEXT: {
        "vectorised": """
def next_token_loss(logits, ids, pad_id, smoothing):
    vocab_size = logits.shape[-1]
    asked = ids[:, 1:]
    read = logits[:, :-1]
    counts = asked != pad_id
    n_counts = counts.sum()
    z = read - read.max(axis=-1, keepdims=True)
    log_p = z - np.log(np.exp(z).sum(axis=-1, keepdims=True))
    p = np.exp(log_p)
    y = np.eye(vocab_size)[asked]
    q = (1 - smoothing) * y + smoothing / vocab_size
    losses = -(q * log_p).sum(axis=-1)
    loss = losses[counts].sum() / n_counts
    gradient = np.zeros(logits.shape)
    gradient[:, :-1] = (p - q) * counts[..., None] / n_counts
    return loss, gradient
""",
        "loops": """
def next_token_loss(logits, ids, pad_id, smoothing):
    places = [(b, i) for b, row in enumerate(ids) for i in range(len(row) - 1)
              if row[i + 1] != pad_id]
    loss, gradient = 0, np.zeros(logits.shape)
    for b, i in places:
        largest = max(logits[b, i])
        log_total = largest + np.log(sum(np.exp(logit - largest) for logit in logits[b, i]))
        for w, logit in enumerate(logits[b, i]):
            share = smoothing / len(logits[b, i])
            if w == ids[b, i + 1]:
                share = share + 1 - smoothing
            loss = loss - share * (logit - log_total) / len(places)
            gradient[b, i, w] = (np.exp(logit - log_total) - share) / len(places)
    return loss, gradient
""",
        "positions picked": """
def next_token_loss(logits, ids, pad_id, smoothing):
    rows, columns = np.nonzero(ids[:, 1:] != pad_id)
    picked = logits[rows, columns]
    log_p = picked - np.logaddexp.reduce(picked, axis=-1)[:, None]
    right = ids[rows, columns + 1]
    n = np.arange(rows.size)
    losses = -(1 - smoothing) * log_p[n, right] - smoothing * log_p.mean(axis=1)
    slopes = np.exp(log_p) - smoothing / logits.shape[2]
    slopes[n, right] -= 1 - smoothing
    gradient = np.zeros_like(logits)
    gradient[rows, columns] = slopes / rows.size
    return losses.mean(), gradient
""",
        "targets filled up": """
def next_token_loss(logits, ids, pad_id, smoothing):
    targets = np.roll(ids, -1, axis=1)
    counts = targets != pad_id
    counts[:, -1] = False
    log_p = logits - np.logaddexp.reduce(logits, axis=-1, keepdims=True)
    q = np.where(targets[..., None] == np.arange(logits.shape[-1]), 1 - smoothing, 0)
    q = (q + smoothing / logits.shape[-1]) * counts[..., None] / counts.sum()
    return -np.einsum("bnv,bnv->", q, log_p), q.sum(-1, keepdims=True) * np.exp(log_p) - q
""",
    },
    CLIP: {
        "condition": """
def clip_gradients(w_gradient, b_gradient, max_norm):
    norm = np.sqrt((w_gradient**2).sum() + (b_gradient**2).sum())
    scale = 1
    if norm > max_norm:
        scale = max_norm / norm
    return w_gradient * scale, b_gradient * scale, norm
""",
        "concatenated": """
def clip_gradients(w_gradient, b_gradient, max_norm):
    both = np.concatenate([w_gradient.ravel(), b_gradient])
    norm = np.linalg.norm(both)
    both = both * max_norm / max(norm, max_norm)
    return both[: w_gradient.size].reshape(w_gradient.shape), both[w_gradient.size :], norm
""",
        "stacked": """
def clip_gradients(w_gradient, b_gradient, max_norm):
    rows = np.vstack([w_gradient, b_gradient])
    norm = np.linalg.norm(rows)
    shorter = np.divide(max_norm, norm, where=norm > max_norm, out=np.ones(()))
    return shorter * rows[:-1], shorter * rows[-1], norm
""",
        "loops": """
def clip_gradients(w_gradient, b_gradient, max_norm):
    squares = 0
    for row in [*w_gradient, b_gradient]:
        for number in row:
            squares += number**2
    norm = squares**0.5
    while norm <= max_norm:
        return w_gradient.copy(), b_gradient.copy(), norm
    clipped = [[number / norm * max_norm for number in row] for row in [*w_gradient, b_gradient]]
    return np.array(clipped[:-1]), np.array(clipped[-1]), norm
""",
    },
    ADAMW: {
        "formula": """
def adamw_step(theta, gradient, m, v, t, learning_rate, weight_decay):
    m = 0.9 * m + 0.1 * gradient
    v = 0.98 * v + 0.02 * gradient**2
    m_hat = m / (1 - 0.9**t)
    v_hat = v / (1 - 0.98**t)
    step = m_hat / (np.sqrt(v_hat) + 1e-9)
    decay = weight_decay * theta if theta.ndim >= 2 else 0
    return theta - learning_rate * step - learning_rate * decay, m, v
""",
        "shrunk first": """
def adamw_step(theta, gradient, m, v, t, learning_rate, weight_decay):
    m, v = m + 0.1 * (gradient - m), v + 0.02 * (gradient * gradient - v)
    kept = 1 - 0.98**t
    rate = learning_rate * kept**0.5 / (1 - 0.9**t)
    if len(theta.shape) > 1:
        theta = theta * (1 - learning_rate * weight_decay)
    return theta - rate * m / (v**0.5 + 1e-9 * kept**0.5), m, v
""",
        "recursive": """
def adamw_step(theta, gradient, m, v, t, learning_rate, weight_decay):
    if theta.ndim == 1:
        first, second = 0.1 * gradient + 0.9 * m, 0.02 * gradient**2 + 0.98 * v
        root = np.sqrt(second / (1 - 0.98**t)) + 1e-9
        return theta - learning_rate * (first / (1 - 0.9**t)) / root, first, second
    arrays = [array.ravel() for array in (theta, gradient, m, v)]
    flat, m, v = adamw_step(*arrays, t, learning_rate, weight_decay)
    flat = flat - learning_rate * weight_decay * theta.ravel()
    return tuple(array.reshape(theta.shape) for array in (flat, m, v))
""",
        "loops": """
def adamw_step(theta, gradient, m, v, t, learning_rate, weight_decay):
    theta, m, v = theta.copy(), m.copy(), v.copy()
    for place in np.ndindex(theta.shape):
        m[place] = 0.9 * m[place] + 0.1 * gradient[place]
        v[place] = 0.98 * v[place] + 0.02 * gradient[place] ** 2
        move = m[place] / (1 - 0.9**t) / ((v[place] / (1 - 0.98**t)) ** 0.5 + 1e-9)
        if len(place) > 1:
            move += weight_decay * theta[place]
        theta[place] -= learning_rate * move
    return theta, m, v
""",
    },
    COSINE: {
        "where": """
def cosine_schedule(t, peak, floor, warmup, n_steps):
    climbing = peak * t / warmup
    fallen = np.minimum((t - warmup) / (n_steps - warmup), 1)
    falling = floor + (peak - floor) * (1 + np.cos(np.pi * fallen)) / 2
    return np.where(t <= warmup, climbing, falling)
""",
        "loops": """
def cosine_schedule(t, peak, floor, warmup, n_steps):
    sizes = []
    for step in t:
        if step > n_steps:
            sizes.append(floor)
        elif step > warmup:
            angle = np.pi * (step - warmup) / (n_steps - warmup)
            sizes.append(floor + (peak - floor) * (0.5 + 0.5 * np.cos(angle)))
        else:
            sizes.append(peak * step / warmup)
    return np.array(sizes)
""",
        "interpolated": """
def cosine_schedule(t, peak, floor, warmup, n_steps):
    angle = np.interp(t, [warmup, n_steps], [0, np.pi / 2])
    wave = floor * np.sin(angle) ** 2 + peak * np.cos(angle) ** 2
    return wave * np.minimum(t / warmup, 1)
""",
        "pieces": """
def cosine_schedule(t, peak, floor, warmup, n_steps):
    sizes = np.zeros(t.shape) + floor
    up, down = t <= warmup, (t > warmup) & (t < n_steps)
    sizes[up] = peak / warmup * t[up]
    share = np.cos(np.pi * (t[down] - warmup) / (n_steps - warmup)) / 2 + 1 / 2
    sizes[down] = share * peak + (1 - share) * floor
    return sizes
""",
    },
    MENDED: {
        "mended": """
def mended_accumulation(x, targets, counts, w):
    loss, gradient = 0, np.zeros(w.shape)
    for part, asked, real in zip(x, targets, counts):
        z = part[real] @ w
        z = z - z.max(axis=-1, keepdims=True)
        log_p = z - np.log(np.exp(z).sum(axis=-1, keepdims=True))
        y = np.eye(w.shape[1])[asked[real]]
        loss += -(y * log_p).sum() / counts.sum()
        gradient += part[real].T @ (np.exp(log_p) - y) / counts.sum()
    return loss, gradient
""",
        "divided at the end": """
def mended_accumulation(x, targets, counts, w):
    loss, gradient, n = 0, np.zeros(w.shape), 0
    for part, asked, real in zip(x, targets, counts):
        z = part[real] @ w
        z = z - z.max(axis=-1, keepdims=True)
        log_p = z - np.log(np.exp(z).sum(axis=-1, keepdims=True))
        y = np.eye(w.shape[1])[asked[real]]
        loss += -(y * log_p).sum()
        gradient += part[real].T @ (np.exp(log_p) - y)
        n += real.sum()
    return loss / n, gradient / n
""",
        "all at once": """
def mended_accumulation(x, targets, counts, w):
    rows, asked = x[counts], targets[counts]
    log_p = rows @ w - np.logaddexp.reduce(rows @ w, axis=1)[:, None]
    places = np.arange(len(asked)), asked
    slopes = np.exp(log_p)
    slopes[places] -= 1
    return -log_p[places].mean(), np.einsum("nd,nv->dv", rows, slopes) / len(rows)
""",
        "means weighted by size": """
def mended_accumulation(x, targets, counts, w):
    loss, gradient = 0, 0
    for part, asked, real in zip(x, targets, counts):
        if real.any():
            z = part[real] @ w
            log_p = z - np.logaddexp.reduce(z, axis=-1, keepdims=True)
            y = np.eye(w.shape[1])[asked[real]]
            share = real.sum() / counts.sum()
            loss = loss - share * (y * log_p).sum(axis=-1).mean()
            gradient = gradient + share * (part[real].T @ (np.exp(log_p) - y)) / real.sum()
    return loss, gradient
""",
    },
}

# One slip a line: a table that is read down its columns.
SLIPS = {
    NEXT: (
        "vectorised",
        [
            ("no shift", "not_shifted", "ids[:, 1:]", "ids[:, :-1]"),
            (
                "no shift and no end",
                "not_shifted",
                [("ids[:, 1:]", "ids"), ("logits[:, :-1]", "logits"), ("[:, :-1] =", "[:] =")],
            ),
            (
                "shift backwards",
                "shifted_backwards",
                [("ids[:, 1:]", "ids[:, :-1]"), ("logits[:, :-1]", "logits[:, 1:]"),
                 ("gradient[:, :-1]", "gradient[:, 1:]")],
            ),
            ("padding counted", "padding_counted", "asked != pad_id", "asked == asked"),
            ("all positions", "divided_by_places", "counts.sum()", "counts.size"),
            ("all of ids", "divided_by_places", "counts.sum()", "ids.size"),
            ("mask of the input", "mask_of_inputs", "asked != pad_id", "ids[:, :-1] != pad_id"),
            (
                "sentence by sentence",
                "mean_over_sentences",
                [("counts.sum()", "counts.sum(axis=1)[:, None] * len(ids)"),
                 ("losses[counts].sum() / n_counts", "(losses * counts / n_counts).sum()"),
                 ("[..., None] / n_counts", "[..., None] / n_counts[..., None]")],
            ),
            (
                "mean of everything",
                "over_the_vocabulary",
                "-(q * log_p).sum(axis=-1)",
                "-(q * log_p).mean(axis=-1)",
            ),
            ("sums", "summed", "n_counts = counts.sum()", "n_counts = 1"),
            ("gradient of the sum", "gradient_of_the_sum", "[..., None] / n_counts", "[..., None]"),
            ("gradient of padding", "gradient_where_nothing_is_asked", " * counts[..., None]", ""),
            ("short gradient", "gradient_too_short", "loss, gradient\n", "loss, gradient[:, :-1]\n"),
            ("gradient downhill", "gradient_sign", "p - q", "q - p"),
            ("gradient as it was", "gradient_unsmoothed", "p - q", "p - y"),
            ("no smoothing", "unsmoothed", "(1 - smoothing) * y + smoothing / vocab_size", "y"),
            ("smoothing for each", "share_for_each", "smoothing / vocab_size", "smoothing"),
            ("smoothing on top", "nothing_taken", "(1 - smoothing) * y", "y"),
            (
                "smoothing of others",
                "shared_by_others",
                "smoothing / vocab_size",
                "smoothing * (1 - y) / (vocab_size - 1)",
            ),
            ("no chain rule", "gradient_of_probabilities", "p - q", "-q / p"),
            ("negative loss", "loss_sign", "-(q * log_p)", "(q * log_p)"),
            ("no maximum", "exponential_overflow", " - read.max(axis=-1, keepdims=True)", ""),
            (
                "share, then logarithm",
                "exponential_overflow",
                [(" - read.max(axis=-1, keepdims=True)", ""),
                 ("z - np.log(np.exp(z).sum(axis=-1, keepdims=True))",
                  "np.log(np.exp(z) / np.exp(z).sum(axis=-1, keepdims=True))")],
            ),
            (
                "logarithm of the share",
                "logarithm_of_zero",
                "z - np.log(np.exp(z).sum(axis=-1, keepdims=True))",
                "np.log(np.exp(z) / np.exp(z).sum(axis=-1, keepdims=True))",
            ),
            (
                "never zero",
                "logarithm_of_zero",
                "z - np.log(np.exp(z).sum(axis=-1, keepdims=True))",
                "np.log(np.exp(z) / np.exp(z).sum(axis=-1, keepdims=True) + 1e-9)",
            ),
            ("writes into logits", None, "z = read - read", "z = read\n    z -= read"),
            ("a slip of its own", None, "smoothing / vocab_size", "smoothing / (vocab_size + 1)"),
        ],
    ),
    CLIP: (
        "condition",
        [
            (
                "each alone",
                "each_alone",
                "return w_gradient * scale, b_gradient * scale, norm",
                ("w_norm, b_norm = np.linalg.norm(w_gradient), np.linalg.norm(b_gradient)\n"
                "    w_gradient = w_gradient * min(1, max_norm / w_norm)\n"
                "    return w_gradient, b_gradient * min(1, max_norm / b_norm), norm"),
            ),
            (
                "number by number",
                "by_value",
                "return w_gradient * scale, b_gradient * scale, norm",
                "return *(np.clip(g, -max_norm, max_norm) for g in (w_gradient, b_gradient)), norm",
            ),
            ("always", "always_scaled", "if norm > max_norm", "if True"),
            ("small ones only", "stretched_only", "norm > max_norm", "norm < max_norm"),
            ("upside down", "inverted", "max_norm / norm", "norm / max_norm"),
            ("thrown away", "dropped", "max_norm / norm", "0"),
            ("not clipped", "never_clipped", "max_norm / norm", "1"),
            (
                "no root",
                "no_square_root",
                "np.sqrt((w_gradient**2).sum() + (b_gradient**2).sum())",
                "(w_gradient**2).sum() + (b_gradient**2).sum()",
            ),
            (
                "sum of norms",
                "norms_summed",
                "np.sqrt((w_gradient**2).sum() + (b_gradient**2).sum())",
                "np.linalg.norm(w_gradient) + np.linalg.norm(b_gradient)",
            ),
            (
                "larger of the norms",
                "larger_norm",
                "np.sqrt((w_gradient**2).sum() + (b_gradient**2).sum())",
                "max(np.linalg.norm(w_gradient), np.linalg.norm(b_gradient))",
            ),
            (
                "absolute values",
                "absolute_values",
                "np.sqrt((w_gradient**2).sum() + (b_gradient**2).sum())",
                "abs(w_gradient).sum() + abs(b_gradient).sum()",
            ),
            (
                "largest",
                "largest_number",
                "np.sqrt((w_gradient**2).sum() + (b_gradient**2).sum())",
                "max(abs(w_gradient).max(), abs(b_gradient).max())",
            ),
            (
                "mean of squares",
                "mean_square",
                "(w_gradient**2).sum() + (b_gradient**2).sum()",
                "((w_gradient**2).sum() + (b_gradient**2).sum()) / (w_gradient.size + b_gradient.size)",
            ),
            ("norm of the matrix", "matrix_alone", " + (b_gradient**2).sum()", ""),
            ("bias as it came", "matrix_alone", "b_gradient * scale", "b_gradient * 1"),
            (
                "singular value",
                "spectral",
                "(w_gradient**2).sum() +",
                "np.linalg.norm(w_gradient, 2) ** 2 +",
            ),
            ("norm afterwards", "norm_afterwards", "* scale, norm", "* scale, norm * scale"),
            (
                "zero over zero",
                "zero_over_zero",
                "    scale = 1\n    if norm > max_norm:\n        scale = max_norm / norm",
                "    scale = np.minimum(norm, max_norm) / norm",
            ),
            (
                "writes into b_gradient",
                None,
                "return w_gradient * scale, b_gradient * scale",
                "b_gradient *= scale\n    return w_gradient * scale, b_gradient",
            ),
            ("a slip of its own", None, "max_norm / norm", "(max_norm / norm) ** 2"),
        ],
    ),
    ADAMW: (
        "formula",
        [
            (
                "decay in the gradient",
                "inside_the_gradient",
                [("    m = 0.9", ("    if theta.ndim >= 2:\n"
                  "        gradient = gradient + weight_decay * theta\n    m = 0.9")),
                 (" - learning_rate * decay", "")],
            ),
            (
                "decay in the mean",
                "inside_the_gradient",
                [("0.1 * gradient", "0.1 * (gradient + decay)"), (" - learning_rate * decay", ""),
                 ("    decay = weight_decay * theta if theta.ndim >= 2 else 0\n", ""),
                 ("    m = 0.9", ("    decay = weight_decay * theta if theta.ndim > 1 else 0\n"
                  "    m = 0.9"))],
            ),
            (
                "decay over the root",
                "divided_by_the_root",
                "- learning_rate * decay",
                "- learning_rate * decay / (np.sqrt(v_hat) + 1e-9)",
            ),
            ("decay without rate", "no_learning_rate", "learning_rate * decay", "decay"),
            ("rate without decay", "no_weight_decay", "= weight_decay * theta", "= theta"),
            (
                "decay of the moved",
                "after_the_step",
                [("theta - learning_rate * step - learning_rate * decay, m", "moved - decay, m"),
                 ("    decay = weight_decay * theta", ("    moved = theta - learning_rate * step\n"
                  "    decay = learning_rate * weight_decay * moved"))],
            ),
            ("decay of all", "decay_everywhere", " if theta.ndim >= 2 else 0", ""),
            ("two axes", "two_axes_only", "ndim >= 2", "ndim == 2"),
            ("decay of vectors", "decay_of_vectors", "ndim >= 2", "ndim < 2"),
            ("no decay", "no_decay", " - learning_rate * decay", ""),
            ("growth", "grows", "- learning_rate * decay", "+ learning_rate * decay"),
            ("constant", "constant_pull", "decay * theta", "decay * np.sign(theta)"),
            (
                "uncorrected",
                "not_corrected",
                [(" / (1 - 0.9**t)", ""), (" / (1 - 0.98**t)", "")],
            ),
            ("step before", "one_step_behind", "**t)", "**(t - 1))"),
            ("step after", "one_step_behind", "**t)", "**(t + 1))"),
            ("no root", "root_missing", "np.sqrt(v_hat)", "v_hat"),
            ("no epsilon", "no_epsilon", " + 1e-9", ""),
            (
                "epsilon inside",
                "epsilon_under_the_root",
                "np.sqrt(v_hat) + 1e-9",
                "np.sqrt(v_hat + 1e-9)",
            ),
            ("uphill", "adam_uphill", "theta - learning_rate * step", "theta + learning_rate * step"),
            (
                "old means",
                "stale_means",
                [("    m = 0.9", "    new_m = 0.9"), ("    v = 0.98", "    new_v = 0.98"),
                 ("decay, m, v", "decay, new_m, new_v")],
            ),
            ("corrected means", "returns_corrected", "decay, m, v", "decay, m_hat, v_hat"),
            (
                "exchanged constants",
                "rates_swapped",
                [("0.9 * m + 0.1", "0.98 * m + 0.02"), ("0.98 * v + 0.02", "0.9 * v + 0.1"),
                 ("0.98**t", "beta**t"), ("0.9**t", "0.98**t"), ("beta", "0.9")],
            ),
            (
                "lazy means",
                None,
                [("    m = 0.9 * m + 0.1 * gradient\n",
                  "    m = np.where(gradient == 0, m, 0.9 * m + 0.1 * gradient)\n"),
                 ("    v = 0.98 * v + 0.02 * gradient**2\n",
                  "    v = np.where(gradient == 0, v, 0.98 * v + 0.02 * gradient**2)\n")],
            ),
            ("rows are vectors", None, "theta.ndim >= 2", "min(theta.shape[:2]) > 1 < theta.ndim"),
            ("axes of one place", None, "theta.ndim >= 2", "theta.squeeze().ndim >= 2"),
            ("writes into m", None, "m = 0.9 * m + 0.1 * gradient", "m *= 0.9\n    m += 0.1 * gradient"),
            ("a slip of its own", None, "0.1 * gradient", "0.2 * gradient"),
        ],
    ),
    COSINE: (
        "where",
        [
            ("from zero", "from_zero", "    climbing", "    t = t - 1\n    climbing"),
            ("one ahead", "one_ahead", "    climbing", "    t = t + 1\n    climbing"),
            ("peak never reached", "late_peak", "t / warmup", "t / (warmup + 1)"),
            (
                "peak a step late",
                "late_peak",
                [("    climbing", "    warmup = warmup + 1\n    climbing")],
            ),
            ("end a step late", "late_end", "(n_steps - warmup)", "(n_steps + 1 - warmup)"),
            (
                "wave from the start",
                "falls_from_the_start",
                "(t - warmup) / (n_steps - warmup)",
                "t / n_steps",
            ),
            ("wave too long", "falls_too_slowly", "(n_steps - warmup)", "n_steps"),
            ("no floor", "floor_ignored", "floor + (peak - floor)", "peak"),
            ("floor on top", "floor_on_top", "(peak - floor)", "peak"),
            (
                "floor cuts",
                "floor_cuts",
                "floor + (peak - floor) * (1 + np.cos(np.pi * fallen)) / 2",
                "np.maximum(floor, peak * (1 + np.cos(np.pi * fallen)) / 2)",
            ),
            (
                "floor of all",
                "floor_everywhere",
                "return np.where(t <= warmup, climbing, falling)",
                "return np.maximum(np.where(t <= warmup, climbing, falling), floor)",
            ),
            (
                "climbs again",
                "climbs_again",
                "np.minimum((t - warmup) / (n_steps - warmup), 1)",
                "(t - warmup) / (n_steps - warmup)",
            ),
            (
                "nothing after the end",
                "nothing_after_the_end",
                "    return",
                "    falling[t > n_steps] = 0\n    return",
            ),
            (
                "from the floor",
                "climbs_from_the_floor",
                "peak * t / warmup",
                "floor + (peak - floor) * t / warmup",
            ),
            (
                "quarter of a wave",
                "quarter_of_a_wave",
                "(1 + np.cos(np.pi * fallen)) / 2",
                "np.cos(np.pi * fallen / 2)",
            ),
            ("whole wave", "whole_wave", "np.pi", "2 * np.pi"),
            ("line", "straight_fall", "(1 + np.cos(np.pi * fallen)) / 2", "(1 - fallen)"),
            ("upside down", "upside_down", "1 + np.cos", "1 - np.cos"),
            ("no half", "half_forgotten", "fallen)) / 2", "fallen))"),
            (
                "integers",
                "whole_numbers",
                "return np.where(t <= warmup, climbing, falling)",
                ("sizes = np.zeros_like(t)\n"
                "    sizes[:] = np.where(t <= warmup, climbing, falling)\n    return sizes"),
            ),
            ("no warm-up", "no_warmup", "peak * t / warmup", "peak"),
            (
                "sorted steps",
                None,
                "np.where(t <= warmup, climbing, falling)",
                "np.concatenate([climbing[t <= warmup], falling[t > warmup]])",
            ),
            ("no fall", "no_fall", "climbing, falling", "climbing, peak"),
            (
                "writes into t",
                None,
                "    fallen = np.minimum((t - warmup)",
                ("    t -= warmup\n    warmup, n_steps = 0 * warmup, n_steps - warmup\n"
                "    fallen = np.minimum((t - warmup)"),
            ),
            ("a slip of its own", None, "np.pi * fallen", "np.pi * fallen**2"),
        ],
    ),
    MENDED: (
        "mended",
        [
            ("as given", "mean_of_means", "counts.sum()", "real.sum() / len(x)"),
            (
                "empty parts forgiven",
                "mean_of_means",
                "counts.sum()",
                "max(real.sum(), 1) / len(x)",
            ),
            (
                "loss alone",
                "only_the_loss",
                "- y) / counts.sum()",
                "- y) / real.sum() / len(x)",
            ),
            (
                "gradient alone",
                "only_the_gradient",
                "log_p).sum() / counts.sum()",
                "log_p).sum() / real.sum() / len(x)",
            ),
            ("no division", "never_divided", " / counts.sum()", ""),
            ("no number of parts", "sum_of_means", "counts.sum()", "real.sum()"),
            ("number of parts", "over_the_parts", "counts.sum()", "len(x)"),
            ("number of places", "over_the_size", "counts.sum()", "counts.size"),
            ("padding too", "counts_ignored", [("[real]", ""), ("counts.sum()", "counts.size")]),
            ("replaced", "last_part_only", "+=", "="),
            ("weighted sums", "weighted_twice", "/ counts", "* real.sum() / counts"),
            ("uphill", "opposite_gradient", "np.exp(log_p) - y", "y - np.exp(log_p)"),
            ("transposed", "gradient_transposed", "loss, gradient\n", "loss, gradient.T\n"),
            (
                "mean, then size",
                "empty_part",
                "counts.sum()",
                "real.sum() * (real.sum() / counts.sum())",
            ),
            ("no maximum", "maximum_dropped", " - z.max(axis=-1, keepdims=True)", ""),
            ("writes into x", None, "        z = part", "        part[~real] = 0\n        z = part"),
            ("a slip of its own", None, "counts.sum()", "(counts.sum() + 1)"),
        ],
    ),
}  # fmt: skip # Each mistake stays beside its edit.

WORTH = {
    (NEXT, "no shift"): (0, "wrong"),
    (NEXT, "no smoothing"): (10 + 1, "partial"),
    (NEXT, "padding counted"): (10 + 6 + 1, "partial"),
    (NEXT, "mask of the input"): (10 + 6 + 1, "partial"),
    (NEXT, "gradient of the sum"): (0, "wrong"),
    (NEXT, "no maximum"): (23, "partial"),
    (NEXT, "logarithm of the share"): (23, "partial"),
    (NEXT, "writes into logits"): (24, "partial"),
    (CLIP, "always"): (8 + 1, "partial"),
    (CLIP, "norm afterwards"): (0, "wrong"),
    (CLIP, "zero over zero"): (13, "partial"),
    (CLIP, "each alone"): (0, "wrong"),
    (CLIP, "writes into b_gradient"): (14, "partial"),
    (ADAMW, "decay in the gradient"): (0, "wrong"),
    (ADAMW, "decay of all"): (12, "partial"),
    (ADAMW, "two axes"): (14, "partial"),
    (ADAMW, "no epsilon"): (13, "partial"),
    (ADAMW, "lazy means"): (13, "partial"),
    (ADAMW, "axes of one place"): (14, "partial"),
    (ADAMW, "writes into m"): (14, "partial"),
    (COSINE, "from zero"): (0, "wrong"),
    (COSINE, "end a step late"): (0, "wrong"),
    (COSINE, "no floor"): (7 + 1, "partial"),
    (COSINE, "floor of all"): (12, "partial"),
    (COSINE, "sorted steps"): (12, "partial"),
    (COSINE, "climbs again"): (13, "partial"),
    (COSINE, "nothing after the end"): (13, "partial"),
    (COSINE, "writes into t"): (14, "partial"),
    (MENDED, "as given"): (0, "wrong"),
    (MENDED, "mean, then size"): (12, "partial"),
    (MENDED, "no maximum"): (13, "partial"),
    (MENDED, "writes into x"): (14, "partial"),
}

TWO_AXES = "there are two axes: the second is the last"
AT_THE_LIMIT = "a norm of just the limit is multiplied by 1"
MEET = "the line and the wave meet in the peak, and the wave ends in the floor"
EQUIVALENT = {
    (
        NEXT,
        "targets = np.roll(ids, -1)",
    ): "row after row, only what the last column gets is another, and that does not count",
    (NEXT, "log_p = picked - np.logaddexp.reduce(picked, axis=1)[:, None]"): TWO_AXES,
    (
        NEXT,
        "losses = -(1 - smoothing) * log_p[n, right] - smoothing * log_p.mean()",
    ): "the mean of rows of one length is the mean of all",
    (CLIP, "if norm >= max_norm:"): AT_THE_LIMIT,
    (CLIP, "while norm < max_norm:"): AT_THE_LIMIT,
    (
        CLIP,
        "shorter = np.divide(max_norm, norm, where=norm >= max_norm, out=np.ones(()))",
    ): AT_THE_LIMIT,
    (COSINE, "return np.where(t < warmup, climbing, falling)"): MEET,
    (COSINE, "elif step >= warmup:"): MEET,
    (COSINE, "if step >= n_steps:"): MEET,
    (COSINE, "up, down = (t <= warmup, (t >= warmup) & (t < n_steps))"): MEET,
    (COSINE, "up, down = (t <= warmup, (t > warmup) & (t <= n_steps))"): MEET,
    (MENDED, "z = z - z.max(axis=1, keepdims=True)"): TWO_AXES,
    (MENDED, "log_p = z - np.log(np.exp(z).sum(axis=1, keepdims=True))"): TWO_AXES,
    (MENDED, "log_p = z - np.logaddexp.reduce(z, axis=1, keepdims=True)"): TWO_AXES,
    (MENDED, "loss = loss - share * (y * log_p).sum(axis=1).mean()"): TWO_AXES,
}

FAULTY = ("faulty_accumulation", MENDED, "mean_of_means")
