"""Test submissions for problem set 10: right answers in many ways, and wrong ones.

Each is the text of a cell. A wrong answer is a right one with a slip, so that it is wrong in
one way only, and has nothing in common with the code of the known mistakes.
`tests.test_assignments.proofs.Answers` says what each table holds.
"""

SCORES = "head_scores"
CIRCUIT = "induction_circuit"
PATCH = "patching_map"
PROBE = "probe_selectivity"
MENDED = "mended_lens"

CORRECT = {
    SCORES: {
        "loops": """
def head_scores(weights, ids):
    n_heads, n, _ = weights.shape
    previous, induction, rows = np.zeros(n_heads), np.zeros(n_heads), 0
    for i in range(1, n):
        previous += weights[:, i, i - 1] / (n - 1)
        copies = [j for j in range(i) if ids[j] == ids[i]]
        rows += len(copies) > 0
        for j in copies:
            induction += weights[:, i, j + 1]
    return previous, induction / max(rows, 1)
""",
        "shifted": """
def head_scores(weights, ids):
    n = len(ids)
    previous = weights[:, np.arange(1, n), np.arange(n - 1)].mean(axis=1)
    same = np.tril(ids[:, None] == ids[None, :], -1)
    after = np.zeros_like(same)
    after[:, 1:] = same[:, :-1]
    rows = same.any(axis=1).sum()
    if rows == 0:
        return previous, np.zeros(len(weights))
    return previous, (weights * after).sum(axis=(1, 2)) / rows
""",
        "einsum": """
def head_scores(weights, ids):
    n = len(ids)
    back = np.eye(n, k=-1)
    previous = np.einsum("hij,ij->h", weights, back) / (n - 1)
    earlier = (ids[:, None] == ids) & (np.arange(n)[:, None] > np.arange(n))
    found = np.einsum("hij,ik,jk->hi", weights, earlier.astype(float), back)
    return previous, found.sum(axis=1) / max(n - len(np.unique(ids)), 1)
""",
    },
    CIRCUIT: {
        "plain": """
def induction_circuit(ids, vocab_size, strength):
    n = ids.shape[-1]
    hidden = np.triu(np.full((n, n), -np.inf), 1)

    def weigh(scores):
        e = np.exp(scores - scores.max(axis=-1, keepdims=True))
        return e / e.sum(axis=-1, keepdims=True)

    token = np.eye(vocab_size)[ids]
    first = weigh(np.broadcast_to(strength * np.eye(n, k=-1) + hidden, (*ids.shape, n)))
    before = first @ token
    second = weigh(strength * (token @ before.mT) + hidden)
    return first, second, second @ token
""",
        "where": """
def induction_circuit(ids, vocab_size, strength):
    n, place = ids.shape[-1], np.arange(ids.shape[-1])
    seen = place[:, None] >= place
    token = (ids[..., None] == np.arange(vocab_size)).astype(float)

    def softmax(scores):
        scores = np.where(seen, scores, -np.inf)
        return np.exp(scores - np.logaddexp.reduce(scores, axis=-1)[..., None])

    back = (place[:, None] - place == 1) * strength
    first = softmax(np.broadcast_to(back, (*ids.shape, n)))
    match = np.einsum("...iv,...jk,...kv->...ij", token, first, token)
    second = softmax(strength * match)
    return first, second, np.einsum("...ij,...jv->...iv", second, token)
""",
        "loops": """
def induction_circuit(ids, vocab_size, strength):
    texts, n = ids.reshape(ids.size // ids.shape[-1], ids.shape[-1]), ids.shape[-1]
    first, second = np.zeros((len(texts), n, n)), np.zeros((len(texts), n, n))
    output = np.zeros((len(texts), n, vocab_size))
    for b, text in enumerate(texts):
        for i in range(n):
            scores = strength * np.array([float(j == i - 1) for j in range(i + 1)])
            e = np.exp(scores - max(scores))
            first[b, i, : i + 1] = e / e.sum()
        for i in range(n):
            match = np.array([first[b, j, text == text[i]].sum() for j in range(i + 1)])
            e = np.exp(strength * (match - match.max()))
            second[b, i, : i + 1] = e / e.sum()
            np.add.at(output[b, i], text, second[b, i])
    shape = (*ids.shape, n)
    return first.reshape(shape), second.reshape(shape), output.reshape(*ids.shape, vocab_size)
""",
    },
    PATCH: {
        "streams": """
def patching_map(clean, corrupted, mixing, matrices, direction):
    def run(x, start):
        streams = [x]
        for mix, matrix in zip(mixing[start:], matrices[start:]):
            streams.append(streams[-1] + np.tanh(mix @ streams[-1] @ matrix))
        return streams

    good, bad = run(clean, 0), run(corrupted, 0)
    high, low = good[-1][-1] @ direction, bad[-1][-1] @ direction
    effect = np.zeros((len(mixing), len(clean)))
    for layer in range(len(mixing)):
        for token in range(len(clean)):
            patched = bad[layer].copy()
            patched[token] = good[layer][token]
            effect[layer, token] = run(patched, layer)[-1][-1] @ direction - low
    return effect / (high - low)
""",
        "hooks": """
def answer(x, mixing, matrices, direction, layer=None, token=None, value=None):
    for n, (mix, matrix) in enumerate(zip(mixing, matrices)):
        if n == layer:
            x = np.where(np.arange(len(x))[:, None] == token, value, x)
        x = x + np.tanh(mix @ (x @ matrix))
    return (x @ direction)[-1]

def patching_map(clean, corrupted, mixing, matrices, direction):
    model = mixing, matrices, direction
    whole, nothing = answer(clean, *model), answer(corrupted, *model)
    rows, stream = [], clean
    for layer in range(len(mixing)):
        patched = [answer(corrupted, *model, layer, token, stream) for token in range(len(clean))]
        rows.append([(value - nothing) / (whole - nothing) for value in patched])
        stream = stream + np.tanh(mixing[layer] @ stream @ matrices[layer])
    return np.array(rows)
""",
        "all at once": """
def patching_map(clean, corrupted, mixing, matrices, direction):
    n = len(clean)
    both, rows = np.stack([clean, corrupted]), []
    for layer in range(len(mixing)):
        one = np.eye(n)[:, :, None]
        batch = np.concatenate([both, one * both[0] + (1 - one) * both[1]])
        for mix, matrix in zip(mixing[layer:], matrices[layer:]):
            batch = batch + np.tanh(np.einsum("ij,bjd,de->bie", mix, batch, matrix))
        whole, nothing, *patched = batch[:, -1] @ direction
        rows.append((np.array(patched) - nothing) / (whole - nothing))
        both = both + np.tanh(mixing[layer] @ both @ matrices[layer])
    return np.array(rows)
""",
    },
    PROBE: {
        "solve": """
def probe_selectivity(features, labels, ids, control, n_train, penalty):
    def probe(wanted):
        x, y = features[:n_train], 2 * wanted[:n_train] - 1
        w = np.linalg.solve(x.T @ x + penalty * np.eye(x.shape[1]), x.T @ y)
        guessed = features[n_train:] @ w > 0
        return w, (guessed == wanted[n_train:]).mean()

    weights, accuracy = probe(labels)
    _, controlled = probe(control[ids])
    return weights, accuracy, accuracy - controlled
""",
        "stacked": """
def probe_selectivity(features, labels, ids, control, n_train, penalty):
    d = features.shape[1]
    wanted = np.stack([labels, control[ids]], axis=1)
    signs = np.where(wanted == 1, 1.0, -1.0)
    x = np.concatenate([features[:n_train], np.sqrt(penalty) * np.eye(d)])
    y = np.concatenate([signs[:n_train], np.zeros((d, 2))])
    w = np.linalg.lstsq(x, y, rcond=None)[0]
    right = np.sign(features[n_train:] @ w) == signs[n_train:]
    accuracy, controlled = right.mean(axis=0)
    return w[:, 0], accuracy, accuracy - controlled
""",
        "inverse": """
def probe_selectivity(features, labels, ids, control, n_train, penalty):
    train, test = np.split(features, [n_train])
    gram = np.einsum("ti,tj->ij", train, train)
    gram = gram + np.diag(np.full(len(gram), penalty))
    reader = np.linalg.inv(gram) @ train.T
    of_words = np.array([control[word] for word in ids])
    weights, other = (reader @ (np.split(y, [n_train])[0] - 0.5) for y in (labels, of_words))
    hits = [0, 0]
    for x, label, word in zip(test, labels[n_train:], of_words[n_train:]):
        hits[0] += ((x * weights).sum() > 0) == label
        hits[1] += ((x * other).sum() > 0) == word
    return 2 * weights, hits[0] / len(test), (hits[0] - hits[1]) / len(test)
""",
    },
    MENDED: {
        "mended": """
def mended_lens(stream, gain, unembedding, target):
    size = np.sqrt((stream**2).mean(axis=-1, keepdims=True) + 1e-5)
    logits = gain * stream / size @ unembedding.T
    log_p = logits - np.logaddexp.reduce(logits, axis=-1, keepdims=True)
    return log_p[:, np.arange(len(target)), target], log_p.argmax(axis=-1)
""",
        "layer by layer": """
def mended_lens(stream, gain, unembedding, target):
    found, best = [], []
    for layer in stream:
        size = np.sqrt(np.square(layer).mean(axis=1) + 1e-5)
        logits = (layer / size[:, None] * gain) @ unembedding.T
        logits = logits - logits.max(axis=1)[:, None]
        total = np.log(np.exp(logits).sum(axis=1))
        found.append([row[word] for row, word in zip(logits, target)] - total)
        best.append(logits.argmax(axis=1))
    return np.array(found), np.array(best)
""",
        "einsum": """
def mended_lens(stream, gain, unembedding, target):
    d = stream.shape[-1]
    scale = (np.einsum("lnd,lnd->ln", stream, stream) / d + 1e-5) ** -0.5
    logits = np.einsum("lnd,d,vd,ln->lnv", stream, gain, unembedding, scale)
    wanted = np.take_along_axis(logits, target[None, :, None], axis=-1)
    over = logits - wanted
    return -np.logaddexp.reduce(over, axis=-1), np.argmax(logits, axis=-1)
""",
    },
}

# One slip a line: a table that is read down its columns.
SLIPS = {
    SCORES: (
        "loops",
        [
            ("the copy", "repeated_token_itself", "i, j + 1]", "i, j]"),
            ("in front", "before_the_copy",
             "            induction += weights[:, i, j + 1]",
             "            induction += weights[:, i, j - 1] * (j > 0)"),
            ("two after", "two_after_the_copy",
             "            induction += weights[:, i, j + 1]",
             "            if j + 2 <= i:\n                induction += weights[:, i, j + 2]"),
            ("nearest", "last_copy_only", "for j in copies:", "for j in copies[-1:]:"),
            ("first", "first_copy_only", "for j in copies:", "for j in copies[:1]:"),
            ("each a share", "mean_of_the_copies", "i, j + 1]", "i, j + 1] / len(copies)"),
            ("all rows", "over_all_rows", "max(rows, 1)", "n"),
            ("sum", "summed", "induction / max(rows, 1)", "induction"),
            ("later too", "later_copies_too",
             [("range(1, n)", "range(n)"), ("i - 1] / (n - 1)", "i - 1] / (n - 1) * (i > 0)"),
              ("for j in range(i) if ids[j] == ids[i]]",
               "for j in range(n) if ids[j] == ids[i] and j != i]"),
              ("            induction +=", "            if j + 1 < n:\n                induction +=")]),
            ("turned", "rows_and_columns",
             [("[:, i, i - 1]", "[:, i - 1, i]"), ("[:, i, j + 1]", "[:, j + 1, i]")]),
            ("by n", "first_row_counted", "/ (n - 1)", "/ n"),
            ("diagonal", "itself_for_previous", "i, i - 1]", "i, i]"),
            ("mean of heads", "heads_together", "    return previous, induction / max(rows, 1)",
             ("    induction = induction / max(rows, 1)\n    one = np.ones(n_heads)\n"
             "    return one * previous.mean(), one * induction.mean()")),
            ("other order", "exchanged", "return previous, induction / max(rows, 1)",
             "return induction / max(rows, 1), previous"),
            ("zero over zero", "nothing_repeated", "max(rows, 1)", "rows"),
            ("largest", None, "        previous += weights[:, i, i - 1] / (n - 1)",
             "        previous = np.maximum(previous, weights[:, i, i - 1])"),
            ("writes into weights", None, "    for i in", "    weights[:, 0, 0] = 0.5\n    for i in"),
        ],
    ),
    CIRCUIT: (
        "plain",
        [
            ("tokens with tokens", "keys_of_the_token", "token @ before.mT", "token @ token.mT"),
            ("asks for the previous", "query_of_the_previous", "token @ before.mT",
             "before @ before.mT"),
            ("other way", "query_of_the_previous", "token @ before.mT", "before @ token.mT"),
            ("both", "keys_of_both", "before.mT", "(token + before).mT"),
            ("value", "value_of_the_previous", "second @ token", "second @ before"),
            ("itself", "looks_at_itself", "k=-1", "k=0"),
            ("ahead", "looks_ahead", "k=-1", "k=1"),
            ("two back", "two_back", "k=-1", "k=-2"),
            ("open first", "first_not_causal", "k=-1) + hidden, ", "k=-1), "),
            ("open second", "second_not_causal", "before.mT) + hidden", "before.mT)"),
            ("open", "never_causal", "hidden = np.triu(np.full((n, n), -np.inf), 1)", "hidden = 0"),
            ("strict", "not_itself",
             [("first = weigh(", "first = np.nan_to_num(weigh("),
              ("+ hidden, (*ids.shape, n)))", "+ np.triu(np.full((n, n), -np.inf)), (*ids.shape, n))))")]),
            ("weak first", "one_head_weak", "strength * np.eye", "np.eye"),
            ("weak second", "one_head_weak", "strength * (token", "(token"),
            ("scaled", "scaled", "before.mT)", "before.mT) / np.sqrt(vocab_size)"),
            ("columns", "over_the_rows",
             [("scores.max(axis=-1, keepdims=True)", "scores.max()"),
              ("e.sum(axis=-1", "e.sum(axis=-2")]),
            ("no maximum", "overflow", "scores - scores.max(axis=-1, keepdims=True)", "scores"),
            ("one text", "one_text_only", "    n = ids.shape[-1]", "    (n,) = ids.shape"),
            ("squared", None, "second @ token", "second**2 @ token"),
            ("doubled", None, "strength * (token", "2 * strength * (token"),
            ("writes into ids", None, "    token = np.eye(vocab_size)[ids]",
             "    token = np.eye(vocab_size)[ids]\n    ids[..., 0] += 1"),
        ],
    ),
    PATCH: (
        "streams",
        [
            ("never restored", "patches_pile_up", "bad[layer].copy()", "bad[layer]"),
            ("all tokens", "whole_layer", "patched[token] = good[layer][token]",
             "patched[:] = good[layer]"),
            ("all the others", "all_but_one",
             [("bad[layer].copy()", "good[layer].copy()"), ("= good[layer][token]", "= bad[layer][token]")]),
            ("added", "added_to_the_stream", "patched[token] =", "patched[token] +="),
            ("spoils", "clean_and_corrupted_exchanged", "run(clean, 0), run(corrupted, 0)",
             "run(corrupted, 0), run(clean, 0)"),
            ("as it comes", "not_normalised", "effect / (high - low)", "effect"),
            ("of the clean", "share_of_the_clean", "/ (high - low)", "/ high"),
            ("missing", "what_is_missing", "effect / (high - low)", "1 - effect / (high - low)"),
            ("no sign", "sign_lost", "effect / (high - low)", "effect / abs(high - low)"),
            ("no sign at all", "sign_lost", "effect / (high - low)", "abs(effect / (high - low))"),
            ("one late", "after_the_layer",
             [("bad[layer].copy()", "bad[layer + 1].copy()"), ("= good[layer][", "= good[layer + 1]["),
              ("run(patched, layer)", "run(patched, layer + 1)")]),
            ("held", "held_to_the_end",
             [("    def run(x, start):", "    def run(x, start, hold=None):"),
              ("            streams.append(streams[-1] + np.tanh(mix @ streams[-1] @ matrix))",
               ("            streams.append(streams[-1] + np.tanh(mix @ streams[-1] @ matrix))\n"
               "            if hold is not None:\n"
               "                streams[-1][hold] = good[start + len(streams) - 1][hold]")),
              ("run(patched, layer)", "run(patched, layer, token)")]),
            ("mean of tokens", "every_token_read",
             [("good[-1][-1] @ direction", "(good[-1] @ direction).mean()"),
              ("bad[-1][-1] @ direction", "(bad[-1] @ direction).mean()"),
              ("run(patched, layer)[-1][-1] @ direction", "(run(patched, layer)[-1] @ direction).mean()")]),
            ("first token", "first_token_read", "[-1][-1] @", "[-1][0] @"),
            ("replaced", "stream_not_added", "streams[-1] + np.tanh", "np.tanh"),
            ("not mixed", "tokens_not_mixed", "(mix @ streams", "(streams"),
            ("linear", "no_tanh", "np.tanh", ""),
            ("turned", "tokens_by_layers", "effect / (high - low)", "effect.T / (high - low)"),
            ("sine", None, "np.tanh", "np.sin"),
            ("writes into the clean run", None, "    effect =", "    clean *= 1.5\n    effect ="),
        ],
    ),
    PROBE: (
        "solve",
        [
            ("same tokens", "measured_on_the_training_tokens",
             [("features[n_train:]", "features[:n_train]"), ("wanted[n_train:]", "wanted[:n_train]")]),
            ("fit on all", "fitted_on_everything",
             [("features[:n_train]", "features"), ("wanted[:n_train]", "wanted")]),
            ("all measured", "measured_on_everything",
             [("features[n_train:]", "features"), ("wanted[n_train:]", "wanted")]),
            ("turned", "parts_exchanged",
             [("[:n_train]", "[N]"), ("[n_train:]", "[:n_train]"), ("[N]", "[n_train:]")]),
            ("by place", "control_by_place", "control[ids]",
             "control[np.arange(len(ids)) % len(control)]"),
            ("one probe", "control_with_the_same_probe",
             "    _, controlled = probe(control[ids])",
             "    controlled = ((features[n_train:] @ weights > 0) == control[ids][n_train:]).mean()"),
            ("weights of the other", "weights_of_the_control",
             [("_, controlled", "other, controlled"), ("return weights", "return other")]),
            ("control", "control_accuracy", "accuracy - controlled", "controlled"),
            ("reversed", "difference_reversed", "accuracy - controlled", "controlled - accuracy"),
            ("ratio", "ratio", "accuracy - controlled", "accuracy / controlled"),
            ("chance", "above_chance", "accuracy - controlled", "accuracy - 0.5"),
            ("zeros", "zero_and_one", "2 * wanted[:n_train] - 1", "wanted[:n_train]"),
            ("half", "limit_at_a_half", "w > 0", "w > 0.5"),
            ("misses", "errors_counted", "(guessed == wanted", "(guessed != wanted"),
            ("no inverse", "not_solved",
             "np.linalg.solve(x.T @ x + penalty * np.eye(x.shape[1]), x.T @ y)", "x.T @ y"),
            ("centred", "mean_taken_away", "        w =", "        x = x - x.mean(axis=0)\n        w ="),
            ("no penalty", "penalty_forgotten",
             "np.linalg.solve(x.T @ x + penalty * np.eye(x.shape[1]), x.T @ y)",
             "np.linalg.pinv(x) @ y"),
            ("penalty of each", "penalty_per_token", "penalty *", "n_train * penalty *"),
            ("known words", "unseen_words", "    _, controlled = probe(control[ids])",
             ("    label = {word: control[word] for word in ids[:n_train]}\n"
             "    _, controlled = probe(np.array([label[word] for word in ids]))")),
            ("squared penalty", None, "penalty *", "penalty**2 *"),
            ("writes into labels", None, "    weights, accuracy",
             ("    labels[0] = 1 - labels[0]\n    labels[0] = 1 - labels[0]\n"
             "    features *= 2\n    weights, accuracy")),
        ],
    ),
    MENDED: (
        "mended",
        [
            ("as given", "size_of_the_last_layer", "(stream**2)", "(stream[-1:]**2)"),
            ("of the first", "size_of_the_first_layer", "(stream**2)", "(stream[:1]**2)"),
            ("one a layer", "one_size_a_layer", "axis=-1, keepdims=True) + 1e-5",
             "axis=(1, 2), keepdims=True) + 1e-5"),
            ("one for all", "one_size_for_all", ".mean(axis=-1, keepdims=True)", ".mean()"),
            ("layers", "over_the_layers", "mean(axis=-1", "mean(axis=0"),
            ("no norm", "not_normalised", "gain * stream / size", "gain * stream"),
            ("length", "length_for_size", ".mean(", ".sum("),
            ("centred", "mean_subtracted", "    size =",
             "    stream = stream - stream.mean(axis=-1, keepdims=True)\n    size ="),
            ("no gain", "gain_missing", "gain * stream", "stream"),
            ("logits", "logits", " - np.logaddexp.reduce(logits, axis=-1, keepdims=True)", ""),
            ("exponential", "probability", "return log_p[:, np.arange(len(target)), target]",
             "return np.exp(log_p[:, np.arange(len(target)), target])"),
            ("tokens", "over_the_tokens", "logits, axis=-1", "logits, axis=1"),
            ("next", "target_of_the_next", ", target]", ", np.append(target[1:], target[0])]"),
            ("its own best", "best_for_target", "log_p[:, np.arange(len(target)), target]",
             "log_p.max(axis=-1)"),
            ("worst", "least_probable", "argmax", "argmin"),
            ("last best", "best_of_the_last", "log_p.argmax(axis=-1)",
             "np.tile(log_p[-1].argmax(axis=-1), (len(log_p), 1))"),
            ("through the probability", "overflow",
             "logits - np.logaddexp.reduce(logits, axis=-1, keepdims=True)",
             "np.log(np.exp(logits) / np.exp(logits).sum(axis=-1, keepdims=True))"),
            ("floor", "logarithm_with_a_floor",
             "logits - np.logaddexp.reduce(logits, axis=-1, keepdims=True)",
             "np.log(np.exp(logits - np.logaddexp.reduce(logits, axis=-1, keepdims=True)) + 1e-12)"),
            ("base two", None, "logits - np.logaddexp.reduce(logits, axis=-1, keepdims=True)",
             "(logits - np.logaddexp.reduce(logits, axis=-1, keepdims=True)) / np.log(2)"),
            ("writes into the stream", None, "    logits =", "    stream += 1e-12\n    logits ="),
        ],
    ),
}  # fmt: skip # Each mistake stays beside its edit.

WORTH = {
    (SCORES, "nearest"): (11, "partial"),
    (SCORES, "zero over zero"): (13, "partial"),
    (SCORES, "the copy"): (0, "wrong"),
    (SCORES, "writes into weights"): (14, "partial"),
    (CIRCUIT, "no maximum"): (17, "partial"),
    (CIRCUIT, "one text"): (15, "partial"),
    (CIRCUIT, "tokens with tokens"): (0, "wrong"),
    (PATCH, "no sign"): (13, "partial"),
    (PATCH, "never restored"): (0, "wrong"),
    (PATCH, "as it comes"): (0, "wrong"),
    (PROBE, "no penalty"): (11, "partial"),
    (PROBE, "known words"): (13, "partial"),
    (PROBE, "same tokens"): (0, "wrong"),
    (MENDED, "as given"): (0, "wrong"),
    (MENDED, "through the probability"): (11, "partial"),
    (MENDED, "writes into the stream"): (14, "partial"),
}

EITHER_ORDER = "the product of two vectors is the same in either order"
NO_ZERO = "no score is 0"
EQUIVALENT = {
    (SCORES, "for i in range(0, n):"): "the first token sees no last one: that weight is 0",
    (
        SCORES,
        "rows = same.any(axis=0).sum()",
    ): "as many places have a copy later as have one earlier: each has one but the last, or the first",
    (
        SCORES,
        "earlier = (ids[:, None] == ids) & (np.arange(n)[:, None] >= np.arange(n))",
    ): "what follows a token taken for its own copy is still hidden from it: that weight is 0",
    (PATCH, "effect[layer, token] = direction @ run(patched, layer)[-1][-1] - low"): EITHER_ORDER,
    (PATCH, "high, low = (direction @ good[-1][-1], bad[-1][-1] @ direction)"): EITHER_ORDER,
    (PATCH, "high, low = (good[-1][-1] @ direction, direction @ bad[-1][-1])"): EITHER_ORDER,
    (PROBE, "guessed = features[n_train:] @ w >= 0"): NO_ZERO,
    (PROBE, "hits[0] += ((x * weights).sum() >= 0) == label"): NO_ZERO,
    (PROBE, "hits[1] += ((x * other).sum() >= 0) == word"): NO_ZERO,
    (PROBE, "w = np.linalg.lstsq(x, y)[0]"): "no system here is singular",
    (
        MENDED,
        "wanted = np.take_along_axis(logits, target[None, :, None])",
    ): "the last axis is the one it takes by itself",
}

FAULTY = ("faulty_lens", MENDED, "size_of_the_last_layer")
