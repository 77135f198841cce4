"""Test submissions for problem set 11: right answers in many ways, and wrong ones.

Each is the text of a cell. A wrong answer is a right one with a slip, so that it is wrong in
one way only, and has nothing in common with the code of the known mistakes.
`tests.test_assignments.proofs.Answers` says what each table holds.
"""

SCAN = "forget_by_use"
MATRIX = "use_matrix"
CHUNKS = "use_in_chunks"
MATCHED = "matched_differences"
MENDED = "mended_mixer"

CORRECT = {
    SCAN: {
        "loop": """
def forget_by_use(query, key, value, beta, state):
    outputs = []
    for q, k, v, b in zip(query, key, value, beta):
        lost = b * k**2
        state = state - lost[:, None] * state
        state = state + b * np.outer(k, v)
        outputs.append(state.T @ q)
    return np.stack(outputs), state
""",
        "rows": """
def forget_by_use(query, key, value, beta, state):
    n, d_k = key.shape
    output, rows = np.zeros(value.shape), [row for row in state]
    for t in range(n):
        for i in range(d_k):
            k = key[t, i]
            rows[i] = (1 - beta[t] * k**2) * rows[i] + beta[t] * k * value[t]
            output[t] += query[t, i] * rows[i]
    return output, np.array(rows)
""",
        "all at once": """
def forget_by_use(query, key, value, beta, state):
    keep, written = 1 - beta[:, None] * key**2, beta[:, None, None] * key[:, :, None] * value[:, None]
    states = [state]
    for kept, new in zip(keep, written):
        states.append(np.diag(kept) @ states[-1] + new)
    return np.einsum("td,tdv->tv", query, np.array(states[1:])), states[-1]
""",
    },
    MATRIX: {
        "products": """
def use_matrix(query, key, beta):
    n, keep = len(key), 1 - beta[:, None] * key**2
    matrix = np.zeros((n, n))
    for t in range(n):
        for s in range(t + 1):
            left = keep[s + 1 : t + 1].prod(axis=0)
            matrix[t, s] = beta[s] * (query[t] * key[s] * left).sum()
    return matrix
""",
        "backwards": """
def use_matrix(query, key, beta):
    n, keep = len(key), 1 - beta[:, None] * key**2
    matrix = np.zeros((n, n))
    for t in range(n):
        asks = query[t].copy()
        for s in range(t, -1, -1):
            matrix[t, s] = (asks * key[s]).sum() * beta[s]
            asks = asks * keep[s]
    return matrix
""",
        "forwards": """
def use_matrix(query, key, beta):
    written = np.zeros((len(key), *key.shape)[1:])
    rows = []
    for t, k in enumerate(key):
        written = written * (1 - beta[t] * k**2)
        written[t] = beta[t] * k
        rows.append(written @ query[t])
    return np.array(rows)
""",
    },
    CHUNKS: {
        "matrices": """
def use_in_chunks(query, key, value, beta, size):
    state, outputs, states = np.zeros((key.shape[1], value.shape[1])), [], []
    for start in range(0, len(key), size):
        q, k, v, b = (x[start : start + size] for x in (query, key, value, beta))
        keep, n = 1 - b[:, None] * k**2, len(k)
        later = np.ones((n, *k.shape))
        for t in range(n):
            for s in range(t):
                later[t, s] = keep[s + 1 : t + 1].prod(axis=0)
        scores = np.tril(np.einsum("td,sd,tsd->ts", q, k, later)) * b
        since = np.cumprod(keep, axis=0)
        outputs.append(scores @ v + (q * since) @ state)
        state = since[-1][:, None] * state + (later[-1] * b[:, None] * k).T @ v
        states.append(state)
    return np.concatenate(outputs), np.array(states)
""",
        "steps": """
def use_in_chunks(query, key, value, beta, size):
    state, outputs, states = np.zeros((key.shape[1], value.shape[1])), [], []
    for t, (q, k, v, b) in enumerate(zip(query, key, value, beta)):
        state = (1 - b * k**2)[:, None] * state + b * np.outer(k, v)
        outputs.append(q @ state)
        if (t + 1) % size == 0 or t + 1 == len(key):
            states.append(state)
    return np.array(outputs), np.array(states)
""",
        "backwards": """
def use_in_chunks(query, key, value, beta, size):
    keep = 1 - beta[:, None] * key**2
    output, states = np.zeros(value.shape), []
    state = np.zeros((key.shape[1], value.shape[1]))
    for start in range(0, len(key), size):
        stop = min(start + size, len(key))
        for t in range(start, stop):
            asks = query[t].copy()
            for s in range(t, start - 1, -1):
                output[t] += (asks * key[s]).sum() * beta[s] * value[s]
                asks = asks * keep[s]
            output[t] += asks @ state
        for s in range(start, stop):
            state = keep[s][:, None] * state + beta[s] * np.outer(key[s], value[s])
        states.append(state)
    return output, np.array(states)
""",
    },
    MATCHED: {
        "means": """
def matched_differences(validation, test):
    rate = validation.mean(axis=2).argmax(axis=1)
    scores = np.array([test[i, r] for i, r in enumerate(rate)])
    gained = scores[0] - scores[1:]
    n = test.shape[-1]
    return rate, gained.mean(axis=1), gained.std(axis=1, ddof=1) / np.sqrt(n)
""",
        "loops": """
def matched_differences(validation, test):
    rate = []
    for rule in validation:
        best = 0
        for number, scores in enumerate(rule):
            if scores.mean() > rule[best].mean():
                best = number
        rate.append(best)
    difference, error = [], []
    for other in range(1, len(test)):
        gained = [a - b for a, b in zip(test[0][rate[0]], test[other][rate[other]])]
        mean = sum(gained) / len(gained)
        squares = sum((one - mean) ** 2 for one in gained)
        difference.append(mean)
        error.append((squares / (len(gained) - 1) / len(gained)) ** 0.5)
    return np.array(rate), np.array(difference), np.array(error)
""",
        "covariance": """
def matched_differences(validation, test):
    rate = np.argmax(validation.sum(axis=2), axis=1)
    scores = test[range(len(rate)), rate]
    together = np.cov(scores)
    variance = together[0, 0] + np.diag(together)[1:] - 2 * together[0, 1:]
    means = scores.mean(axis=1)
    return rate, means[0] - means[1:], np.sqrt(variance / scores.shape[1])
""",
    },
    MENDED: {
        "mended": """
def mended_mixer(x, w_q, w_k, w_v, w_b, w_g):
    query, key, value = x @ w_q, x @ w_k, x @ w_v
    query = query / np.sqrt((query * query).sum(axis=1, keepdims=True))
    key = key / np.sqrt((key * key).sum(axis=1, keepdims=True))
    beta, gate = (1 / (1 + np.exp(-x @ w)) for w in (w_b, w_g))
    keep = 1 - beta[:, None] * key**2
    state, output = np.zeros((key.shape[1], value.shape[1])), []
    for q, k, v, b, kept in zip(query, key, value, beta, keep):
        state = kept[:, None] * state + b * np.outer(k, v)
        output.append(q @ state)
    return gate * np.array(output)
""",
        "one loop": """
def mended_mixer(x, w_q, w_k, w_v, w_b, w_g):
    state, output = np.zeros((w_k.shape[1], w_v.shape[1])), []
    for token in x:
        q, k = (y / np.linalg.norm(y) for y in (token @ w_q, token @ w_k))
        b = 1 / (1 + np.exp(-(token * w_b).sum()))
        state = state - b * (k**2)[:, None] * state
        state = state + b * k[:, None] * (token @ w_v)
        z = token @ w_g
        gate = 1 / (1 + np.exp(-z))
        output.append(gate * (q @ state))
    return np.array(output)
""",
        "backwards": """
def mended_mixer(x, w_q, w_k, w_v, w_b, w_g):
    def unit(y):
        return y / np.sqrt(np.einsum("td,td->t", y, y))[:, None]

    query, key, value = unit(x @ w_q), unit(x @ w_k), x @ w_v
    beta, opened = (0.5 + 0.5 * np.tanh(x @ w / 2) for w in (w_b, w_g))
    output = np.zeros(value.shape)
    for t in range(len(x)):
        asks = query[t].copy()
        for s in range(t, -1, -1):
            output[t] += beta[s] * (asks * key[s]).sum() * value[s]
            asks = asks - beta[s] * key[s]**2 * asks
    return opened * output
""",
    },
}

# One slip a line: a table that is read down its columns.
SLIPS = {
    SCAN: (
        "loop",
        [
            ("sum", "nothing_forgotten", "lost[:, None] * state", "0 * state"),
            ("delta", "delta_rule", "lost[:, None] * state", "b * np.outer(k, k @ state)"),
            ("of all", "one_decay_for_all_rows", "lost[:, None]", "lost.sum()"),
            ("mean", "one_decay_for_all_rows", "lost[:, None]", "lost.mean()"),
            ("rate alone", "one_decay_for_all_rows", "lost[:, None]", "b"),
            ("size", "other_measure_of_use", "k**2", "np.abs(k)"),
            ("signed", "plain_key", "k**2", "k"),
            ("query", "use_of_the_query", "        lost = b * k**2\n",
             "        k, kept = q, k\n        lost = b * k**2\n        k = kept\n"),
            ("lost for kept", "keeps_what_is_used", "state = state - lost", "state = lost"),
            ("no rate lost", "rate_missing_in_the_decay", "lost = b * ", "lost = "),
            ("no rate written", "rate_missing_in_the_write", "b * np.outer", "np.outer"),
            ("late", "decays_what_it_writes",
             [("        state = state - lost[:, None] * state\n", ""),
              ("b * np.outer(k, v)\n",
               "b * np.outer(k, v)\n        state = state - lost[:, None] * state\n")]),
            ("last alone", "state_replaced", "state = state + b", "state = b"),
            ("early", "read_too_early",
             [("        outputs.append(state.T @ q)\n", ""),
              ("        lost =", "        outputs.append(state.T @ q)\n        lost =")]),
            ("root", "scaled", "state.T @ q", "state.T @ q / len(q) ** 0.5"),
            ("from nothing", "state_not_given", "    outputs = []",
             "    outputs, state = [], np.zeros(state.shape)"),
            ("as given", "state_of_the_beginning",
             [("outputs = []", "outputs, given = [], state"), ("outputs), state", "outputs), given")]),
            ("turned", "exchanged", "np.stack(outputs), state", "state, np.stack(outputs)"),
            ("twice as fast", None, "lost[:, None] * state", "2 * lost[:, None] * state"),
            ("writes into the state", None, "    outputs = []",
             "    outputs = []\n    state += 1\n    state -= 0.5"),
        ],
    ),
    MATRIX: (
        "products",
        [
            ("divided", "divided_by_zero",
             [("    matrix = np", "    total = np.cumprod(keep, axis=0)\n    matrix = np"),
              ("keep[s + 1 : t + 1].prod(axis=0)", "total[t] / total[s]")]),
            ("floor", "divided_with_a_floor",
             [("    matrix = np", "    total = np.cumprod(keep, axis=0)\n    matrix = np"),
              ("keep[s + 1 : t + 1].prod(axis=0)", "total[t] / (total[s] + 1e-6)")]),
            ("from s", "own_decay_counted", "s + 1 :", "s :"),
            ("before t", "last_decay_missing", "s + 1 : t + 1", "s + 1 : t"),
            ("only t", "last_decay_alone", "keep[s + 1 : t + 1]", "keep[max(s + 1, t) : t + 1]"),
            ("from 0", "from_the_start", "s + 1 :", ":"),
            ("mean", "mean_of_the_rows", "1 - beta[:, None] * key**2",
             "1 - beta[:, None] * (key**2).mean(axis=1, keepdims=True)"),
            ("losses", "losses_summed", "keep[s + 1 : t + 1].prod(axis=0)",
             "1 - (1 - keep[s + 1 : t + 1]).sum(axis=0)"),
            ("kept whole", "undecayed", " * left)", ")"),
            ("mirrored", "not_causal", "    return matrix",
             ("    for t in range(n):\n        for s in range(t + 1, n):\n"
              "            left = keep[t + 1 : s + 1].prod(axis=0)\n"
              "            matrix[t, s] = beta[s] * (query[t] * key[s] * left).sum()\n"
              "    return matrix")),
            ("rate of t", "rate_of_the_query", "= beta[s]", "= beta[t]"),
            ("no rate written", "rate_missing_in_the_write", "beta[s] * ", ""),
            ("no rate lost", "rate_missing_in_the_decay", "1 - beta[:, None] * ", "1 - "),
            ("size", "other_measure_of_use", "key**2", "np.abs(key)"),
            ("no diagonal", "itself_left_out", "for s in range(t + 1):", "for s in range(t):"),
            ("turned", "rows_and_columns", "matrix[t, s]", "matrix[s, t]"),
            ("softmax", "softmax_taken", "    return matrix",
             ("    e = np.tril(np.exp(matrix))\n    return e / e.sum(axis=1, keepdims=True)")),
            ("root", "scaled", "    return matrix", "    return matrix / key.shape[1] ** 0.5"),
            ("absolute", None, "    return matrix", "    return abs(matrix)"),
            ("writes into the keys", None, "    matrix = np", "    key *= 2\n    matrix = np"),
        ],
    ),
    CHUNKS: (
        "matrices",
        [
            ("alone", "chunks_alone", " + (q * since) @ state", ""),
            ("one back", "one_chunk_remembered", "since[-1][:, None] * state + ", ""),
            ("whole state", "state_read_undecayed", "(q * since) @", "q @"),
            ("one late", "own_decay_missing_in_the_reading", "(q * since) @",
             "(q * np.concatenate([0 * since[:1] + 1, since[:-1]])) @"),
            ("divided back", "own_decay_missing_in_the_reading", "(q * since) @",
             "(q * since / keep) @"),
            ("to the end", "whole_chunk_in_the_reading", "(q * since) @", "(q * since[-1]) @"),
            ("own alone", "own_decay_in_the_reading", "(q * since) @", "(q * keep) @"),
            ("carried whole", "state_carried_undecayed", "since[-1][:, None] * state", "state"),
            ("once", "state_decayed_once", "since[-1][:, None]", "keep[-1][:, None]"),
            ("written whole", "written_undecayed", "(later[-1] * b", "(b"),
            ("written by all", "written_decayed_by_all", "(later[-1] * b", "(since[-1] * b"),
            ("own too", "own_decay_in_the_writing", "(later[-1] * b", "(keep * later[-1] * b"),
            ("inside", "matrix_undecayed", 'np.einsum("td,sd,tsd->ts", q, k, later)', "q @ k.T"),
            ("no decay", "nothing_forgotten", "1 - b[:, None] * k**2", "np.ones(k.shape)"),
            ("size", "other_measure_of_use", "k**2", "np.abs(k)"),
            ("before", "states_at_the_beginning", "np.array(states)",
             "np.array([0 * state, *states[:-1]])"),
            ("what it wrote", "states_of_the_chunks_alone", "states.append(state)",
             "states.append((later[-1] * b[:, None] * k).T @ v)"),
            ("not causal", None, "np.tril", ""),
            ("one too many", None, "start + size]", "start + size + 1]"),
            ("writes into the values", None, "        keep, n", "        v *= 2\n        keep, n"),
        ],
    ),
    MATCHED: (
        "means",
        [
            ("of the test", "chosen_on_the_test", "= validation.mean", "= test.mean"),
            ("in validation", "measured_in_validation",
             [("np.array([test[", "np.array([validation["), ("n = test", "n = validation")]),
            ("turned", "exchanged_inputs", "    rate =", "    validation, test = test, validation\n    rate ="),
            ("one rate", "one_rate_for_all", "    scores =",
             "    rate[:] = validation.mean(axis=(0, 2)).argmax()\n    scores ="),
            ("my rate", "one_rate_for_all", "    scores =", "    rate[:] = rate[0]\n    scores ="),
            ("worst", "worst_rate", "argmax", "argmin"),
            ("lucky", "luckiest_seed", "validation.mean", "validation.max"),
            ("last", "last_of_equals", "validation.mean(axis=2).argmax(axis=1)",
             "validation.shape[1] - 1 - validation.mean(axis=2)[:, ::-1].argmax(axis=1)"),
            ("apart", "unpaired", "gained.std(axis=1, ddof=1)",
             "np.sqrt(scores[0].var(ddof=1) + scores[1:].var(axis=1, ddof=1))"),
            ("spread", "deviation_for_error", " / np.sqrt(n)", ""),
            ("n", "divided_by_n", "ddof=1", "ddof=0"),
            ("squared", "variance", "gained.std(axis=1, ddof=1) / np.sqrt(n)",
             "gained.var(axis=1, ddof=1) / n"),
            ("other sign", "other_way_round", "scores[0] - scores[1:]", "scores[1:] - scores[0]"),
            ("last rule", "against_the_last", "scores[0] - scores[1:]", "scores[:-1] - scores[-1]"),
            ("all others", "over_the_mean_of_the_others", "scores[0] - scores[1:]",
             "scores[:1] - scores[1:].mean(axis=0)"),
            ("middle", "median", "gained.mean(axis=1)", "np.median(gained, axis=1)"),
            ("share", "ratio", "scores[0] - scores[1:]", "scores[0] / scores[1:]"),
            ("n for its root", None, "/ np.sqrt(n)", "/ n"),
            ("writes into the test", None, "    scores =", "    test *= 2\n    scores ="),
        ],
    ),
    MENDED: (
        "mended",
        [
            ("as given", "raw_key_in_the_decay", "key**2", "(x @ w_k)**2"),
            ("of the query", "query_in_the_decay", "key**2", "query**2"),
            ("keys as they are", "keys_not_normalised",
             "key = key / np.sqrt((key * key).sum(axis=1, keepdims=True))", "key = key"),
            ("queries as they are", "queries_not_normalised",
             "query = query / np.sqrt((query * query).sum(axis=1, keepdims=True))", "query = query"),
            ("keys along", "over_the_tokens", "(key * key).sum(axis=1", "(key * key).sum(axis=0"),
            ("both along", "over_the_tokens", ".sum(axis=1", ".sum(axis=0"),
            ("one for all", "one_length_for_all", ".sum(axis=1, keepdims=True)", ".sum()"),
            ("mean", "mean_of_squares", "(key * key).sum(", "(key * key).mean("),
            ("both means", "mean_of_squares", ".sum(", ".mean("),
            ("values too", "values_normalised", "    beta, gate",
             "    value = value / np.linalg.norm(value, axis=1)[:, None]\n    beta, gate"),
            ("sum", "nothing_forgotten", "kept[:, None] * state", "state"),
            ("delta", "delta_rule", "kept[:, None] * state", "(state - b * np.outer(k, k @ state))"),
            ("early", "read_too_early",
             [("        output.append(q @ state)\n", ""),
              ("        state = kept", "        output.append(q @ state)\n        state = kept")]),
            ("plain rate", "rate_not_squashed", "    keep =", "    beta = x @ w_b\n    keep ="),
            ("no gate", "gate_missing", "return gate * ", "return "),
            ("gated values", "gate_on_the_values",
             [("return gate * ", "return "), ("    keep =", "    value = gate * value\n    keep =")]),
            ("plain gate", "gate_not_squashed", "return gate *", "return (x @ w_g) *"),
            ("plus gate", "gate_added", "return gate * ", "return gate + "),
            ("gate squared", None, "return gate *", "return gate**2 *"),
            ("writes into x", None, "    query, key", "    x *= 2\n    query, key"),
        ],
    ),
}  # fmt: skip # Each mistake stays beside its edit.

WORTH = {
    (SCAN, "from nothing"): (15, "partial"),
    (SCAN, "writes into the state"): (0, "wrong"),
    (SCAN, "size"): (0, "wrong"),
    (MATRIX, "divided"): (13, "partial"),
    (MATRIX, "floor"): (0, "wrong"),
    (MATRIX, "from s"): (0, "wrong"),
    (CHUNKS, "alone"): (0, "wrong"),
    (CHUNKS, "divided back"): (0, "wrong"),
    (CHUNKS, "before"): (0, "wrong"),
    (MATCHED, "last"): (11, "partial"),
    (MATCHED, "n"): (0, "wrong"),
    (MATCHED, "apart"): (0, "wrong"),
    (MENDED, "as given"): (0, "wrong"),
    (MENDED, "no gate"): (0, "wrong"),
    (MENDED, "plain rate"): (0, "wrong"),
}

EQUIVALENT = {}

FAULTY = ("faulty_mixer", MENDED, "raw_key_in_the_decay")
