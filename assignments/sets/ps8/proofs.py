"""Test submissions for problem set 8: right answers in many ways, and wrong ones.

Each is the text of a cell. A wrong answer is a right one with a slip, so that it is wrong in
one way only, and has nothing in common with the code of the known mistakes.
`tests.test_assignments.proofs.Answers` says what each table holds.
"""

GREEDY = "greedy_decode"
STEP = "cached_step"
ALLOWED = "allowed_next"
BLEU = "corpus_bleu"
MENDED = "mended_beam"

CORRECT = {
    GREEDY: {
        "loops": """
def greedy_decode(logits, start, end, max_new_tokens):
    ids = np.zeros((len(start), max_new_tokens), dtype=int)
    scores = np.zeros(len(start))
    for b, last in enumerate(start):
        for t in range(max_new_tokens):
            row = logits[last] - logits[last].max()
            last = row.argmax()
            ids[b, t] = last
            scores[b] += row[last] - np.log(np.exp(row).sum())
            if last == end:
                break
    return ids, scores
""",
        "vectorised": """
def greedy_decode(logits, start, end, max_new_tokens):
    best = logits.argmax(axis=1)
    gain = logits.max(axis=1) - np.logaddexp.reduce(logits, axis=1)
    last, running = start, np.ones(len(start), dtype=bool)
    columns, scores = [], 0
    for _ in range(max_new_tokens):
        scores = scores + gain[last] * running
        last = best[last]
        columns.append(last * running)
        running = running & (last != end)
    return np.stack(columns, axis=1), scores
""",
        "afterwards": """
def greedy_decode(logits, start, end, max_new_tokens):
    path = [start]
    for _ in range(max_new_tokens):
        path.append(logits[path[-1]].argmax(axis=-1))
    path = np.array(path).T
    written = path[:, 1:]
    before = np.cumsum(written == end, axis=1) - (written == end)
    log_p = logits - np.logaddexp.reduce(logits, axis=-1, keepdims=True)
    gains = log_p[path[:, :-1], written]
    return np.where(before == 0, written, 0), np.where(before == 0, gains, 0).sum(axis=1)
""",
    },
    STEP: {
        "loops": """
def cached_step(x, w_q, w_k, w_v, keys, values, lengths):
    keys, values = keys.copy(), values.copy()
    output = np.zeros((len(x), w_v.shape[1]))
    for b, n in enumerate(lengths):
        keys[b, n] = x[b] @ w_k
        values[b, n] = x[b] @ w_v
        scores = keys[b, : n + 1] @ (x[b] @ w_q) / np.sqrt(w_k.shape[1])
        exponentials = np.exp(scores - scores.max())
        output[b] = exponentials / exponentials.sum() @ values[b, : n + 1]
    return output, keys, values
""",
        "vectorised": """
def cached_step(x, w_q, w_k, w_v, keys, values, lengths):
    place = np.arange(keys.shape[1])
    here = (place == lengths[:, None])[..., None]
    keys = np.where(here, (x @ w_k)[:, None], keys)
    values = np.where(here, (x @ w_v)[:, None], values)
    scores = (keys @ (x @ w_q)[..., None])[..., 0] / np.sqrt(keys.shape[-1])
    scores = np.where(place > lengths[:, None], -np.inf, scores)
    exponentials = np.exp(scores - scores.max(axis=1, keepdims=True))
    weights = exponentials / exponentials.sum(axis=1, keepdims=True)
    return (weights[..., None] * values).sum(axis=1), keys, values
""",
        "einsum": """
def cached_step(x, w_q, w_k, w_v, keys, values, lengths):
    new = np.eye(keys.shape[1])[lengths][..., None]
    keys = keys * (1 - new) + new * np.einsum("bm,md->bd", x, w_k)[:, None]
    values = values * (1 - new) + new * np.einsum("bm,md->bd", x, w_v)[:, None]
    scores = np.einsum("bm,md,bnd->bn", x, w_q, keys) * w_q.shape[1] ** -0.5
    scores = np.where(np.arange(keys.shape[1]) <= lengths[:, None], scores, -np.inf)
    weights = np.exp(scores - np.logaddexp.reduce(scores, axis=1)[:, None])
    return np.einsum("bn,bnd->bd", weights, values), keys, values
""",
    },
    ALLOWED: {
        "loops": """
def allowed_next(ids, n, vocab_size):
    allowed = np.ones((len(ids), vocab_size), dtype=bool)
    for b, sentence in enumerate(ids):
        length = len(sentence)
        for i in range(length - n + 1):
            if np.array_equal(sentence[i : i + n - 1], sentence[length - n + 1 :]):
                allowed[b, sentence[i + n - 1]] = False
    return allowed
""",
        "sets": """
def allowed_next(ids, n, vocab_size):
    rows = []
    for sentence in ids.tolist():
        grams = {tuple(sentence[i : i + n]) for i in range(len(sentence) - n + 1)}
        last = tuple(sentence[len(sentence) - n + 1 :])
        rows.append([(*last, token) not in grams for token in range(vocab_size)])
    return np.array(rows)
""",
        "windows": """
def allowed_next(ids, n, vocab_size):
    allowed = np.full((len(ids), vocab_size), True)
    if ids.shape[1] < n:
        return allowed
    grams = np.lib.stride_tricks.sliding_window_view(ids, n, axis=1)
    prefix = ids[:, None, ids.shape[1] - n + 1 :]
    rows, places = np.nonzero((grams[..., :-1] == prefix).all(axis=-1))
    allowed[rows, grams[rows, places, -1]] = False
    return allowed
""",
    },
    BLEU: {
        "counters": """
from collections import Counter

def corpus_bleu(candidates, references, max_n):
    hits, totals = np.zeros(max_n), np.zeros(max_n)
    c = r = 0
    for candidate, others in zip(candidates, references):
        words = [t for t in candidate.tolist() if t != 0]
        goals = [[t for t in other.tolist() if t != 0] for other in others]
        lengths = sorted(len(goal) for goal in goals)
        c += len(words)
        r += min(lengths, key=lambda length: abs(length - len(words)))
        for n in range(1, max_n + 1):
            found, *there = [
                Counter(tuple(s[i : i + n]) for i in range(len(s) - n + 1)) for s in (words, *goals)
            ]
            for gram, count in found.items():
                hits[n - 1] += min(count, max(goal[gram] for goal in there))
                totals[n - 1] += count
    precisions = hits / np.maximum(totals, 1)
    penalty = 1.0 if c >= r else np.exp(1 - r / c)
    mean = np.exp(np.log(precisions).mean()) if precisions.all() else 0.0
    return precisions, penalty, penalty * mean
""",
        "dictionaries": """
def tally(row, n):
    words, counts = row[row > 0], {}
    for gram in (tuple(words[i : i + n]) for i in range(len(words) - n + 1)):
        counts[gram] = counts.get(gram, 0) + 1
    return counts

def corpus_bleu(candidates, references, max_n):
    precisions = []
    for n in np.arange(max_n) + 1:
        hits = written = 0
        for candidate, others in zip(candidates, references):
            goals = [tally(other, n) for other in others]
            for gram, count in tally(candidate, n).items():
                hits += min(count, max(goal.get(gram, 0) for goal in goals))
                written += count
        precisions.append(hits / written if written else 0.0)
    own, wanted = (candidates > 0).sum(axis=-1), (references > 0).sum(axis=-1)
    closest = sum(min(row, key=lambda w: (abs(w - c), w)) for c, row in zip(own, wanted))
    penalty = np.exp(min(0, 1 - closest / own.sum()))
    return np.array(precisions), penalty, penalty * np.prod(precisions) ** (1 / max_n)
""",
        "lists": """
def corpus_bleu(candidates, references, max_n):
    def grams(row, n):
        words = np.trim_zeros(row, "b").tolist()
        return [words[i : i + n] for i in range(len(words) - n + 1)]

    def length(row):
        return np.count_nonzero(row)

    hits, written = [0] * int(max_n), [0] * int(max_n)
    for n in range(max_n):
        for candidate, others in zip(candidates, references):
            spare = [grams(other, n + 1) for other in others]
            seen = []
            for gram in grams(candidate, n + 1):
                seen.append(gram)
                written[n] += 1
                hits[n] += any(goal.count(gram) >= seen.count(gram) for goal in spare)
    r = c = 0
    for candidate, others in zip(candidates, references):
        c += length(candidate)
        near = sorted((abs(length(other) - length(candidate)), length(other)) for other in others)
        r += near[0][1]
    precisions = np.array([h / w if w else 0 for h, w in zip(hits, written)])
    penalty = np.exp(1 - max(1, r / c))
    return precisions, penalty, penalty * precisions.prod() ** (1 / max_n)
""",
    },
    MENDED: {
        "mended": """
def mended_beam(log_probabilities, start, end, width, max_new_tokens):
    beam = [(0.0, [])]
    for _ in range(max_new_tokens):
        grown = []
        for score, ids in beam:
            if ids and ids[-1] == end:
                grown.append((score, ids))
                continue
            row = log_probabilities[ids[-1] if ids else start]
            grown += [(score + log_p, [*ids, token]) for token, log_p in enumerate(row)]
        beam = sorted(grown, key=lambda hypothesis: hypothesis[0], reverse=True)[:width]
        if all(ids[-1] == end for _, ids in beam):
            break
    ended = [(score, ids) for score, ids in beam if ids[-1] == end]
    score, ids = max(ended or beam, key=lambda hypothesis: hypothesis[0])
    return np.array(ids + [0] * (max_new_tokens - len(ids))), score
""",
        "no early stop": """
def mended_beam(log_probabilities, start, end, width, max_new_tokens):
    beam = [(0.0, ())]
    for _ in range(max_new_tokens):
        grown = [h for h in beam if end in h[1]]
        for score, ids in beam:
            if end not in ids:
                row = log_probabilities[(start, *ids)[-1]]
                grown.extend((score + row[token], (*ids, token)) for token in range(len(row)))
        grown.sort()
        beam = grown[-width:]
    ended = [h for h in beam if end in h[1]]
    score, ids = max(ended or beam)
    return np.pad(ids, (0, max_new_tokens - len(ids))), score
""",
        "arrays": """
def mended_beam(log_probabilities, start, end, width, max_new_tokens):
    table = log_probabilities.copy()
    table[[0, end]] = -np.inf
    table[[0, end], 0] = 0
    scores, last, beam = np.zeros(1), np.array([start]), [[]]
    for _ in range(max_new_tokens):
        totals = scores[:, None] + table[last]
        parents, last = np.divmod(np.argsort(-totals, axis=None)[:width], len(table))
        scores = totals[parents, last]
        beam = [[*beam[parent], token] for parent, token in zip(parents, last)]
    ended = np.array([end in ids for ids in beam])
    best = np.argmax(np.where(ended | ~ended.any(), scores, -np.inf))
    return np.array(beam[best]), scores[best]
""",
    },
}

# One slip a line: a table that is read down its columns.
SLIPS = {
    GREEDY: (
        "loops",
        [
            ("never stops", "end_ignored", "if last == end:", "if False:"),
            (
                "pays on",
                "paid_after_the_end",
                [
                    ("            ids[b, t] = last", ("            done = end in ids[b]\n"
                     "            ids[b, t] = 0 if done else last")),
                    ("if last == end:", "if False:"),
                ],
            ),
            ("no end", "end_left_out", "    return ids", "    ids[ids == end] = 0\n    return ids"),
            (
                "end for free",
                "end_not_paid",
                "row[last] - np.log(np.exp(row).sum())",
                "(row[last] - np.log(np.exp(row).sum())) * (last != end)",
            ),
            (
                "start kept",
                "start_left_in",
                "    return ids",
                "    ids = np.concatenate([start[:, None], ids], axis=1)\n    return ids",
            ),
            (
                "logits",
                "raw_logits",
                "row[last] - np.log(np.exp(row).sum())",
                "row[last] + logits[ids[b, t - 1] if t else start[b]].max()",
            ),
            ("exponential", "probability", "return ids, scores", "return ids, np.exp(scores)"),
            (
                "sum of p",
                "sum_of_probabilities",
                "row[last] - np.log(np.exp(row).sum())",
                "np.exp(row[last]) / np.exp(row).sum()",
            ),
            (
                "mean",
                "mean_per_token",
                "return ids, scores",
                "return ids, scores / (ids > 0).sum(axis=1)",
            ),
            ("columns", "columns", "logits[last]", "logits[:, last]"),
            ("never moves", "always_the_start", "logits[last]", "logits[start[b]]"),
            ("argmin", "least_probable", "argmax", "argmin"),
            (
                "all together",
                "stops_together",
                [
                    ("range(max_new_tokens):", "range(limit):"),
                    ("    for b", ("    limit = min(greedy_length(logits, s, end, max_new_tokens)"
                     " for s in start)\n    for b")),
                    ("def greedy_decode", """def greedy_length(logits, last, end, limit):
    for t in range(limit):
        last = logits[last].argmax()
        if last == end:
            return t + 1
    return limit

def greedy_decode"""),
                ],
            ),
            (
                "filled with end",
                "filled_with_end",
                "np.zeros((len(start), max_new_tokens), dtype=int)",
                "np.full((len(start), max_new_tokens), end)",
            ),
            ("short", "one_step_short", "in range(max_new_tokens)", "in range(max_new_tokens - 1)"),
            ("overflow", "overflow", " - logits[last].max()", ""),
            (
                "one sentence",
                "one_sentence_only",
                "    scores = np.zeros(len(start))",
                "    scores = np.zeros(len(start))\n    if start == end:\n        return ids, scores",
            ),
            (
                "the start ends",
                None,
                [
                    ("            if last == end:\n                break\n", ""),
                    ("            row =", ("            if last == end:\n"
                     "                break\n            row =")),
                ],
            ),
            ("base two", None, "np.log(", "np.log2("),
            ("writes into logits", None, "    scores =", "    logits[0] = 0\n    scores ="),
        ],
    ),
    STEP: (
        "loops",
        [
            ("old cache", "not_appended",
             [("    keys, values =", "    old = keys, values\n    keys, values ="),
              ("return output, keys, values", "return output, *old")]),
            ("not itself", "written_too_late", ": n + 1]", ": n]"),
            ("leftovers", "attends_to_leftovers", ": n + 1]", ":]"),
            ("one too many", "one_place_too_many", ": n + 1]", ": n + 2]"),
            ("on the last", "overwrites_the_last", "[b, n] =", "[b, n - 1] ="),
            ("at the back", "written_further_on", "[b, n] =", "[b, -1] ="),
            ("same place", "same_place_for_all", "[b, n] =", "[b, lengths[0]] ="),
            ("every place", "every_place", "[b, n] =", "[b, lengths] ="),
            ("cut", "concatenated", "output, keys, values\n",
             "output, keys[:, : max(lengths) + 1], values[:, : max(lengths) + 1]\n"),
            ("no value", "half_written", "values[b, n] =", "_ ="),
            ("swapped", "query_and_key_swapped",
             [("x[b] @ w_k", "x[b] @ W"), ("x[b] @ w_q", "x[b] @ w_k"), ("@ W", "@ w_q")]),
            ("no scale", "unscaled", " / np.sqrt(w_k.shape[1])", ""),
            ("zeros", "zero_instead_of_infinity",
             [("        scores = keys[b, : n + 1]", "        scores = keys[b]"),
              ("        exponentials", "        scores[n + 1 :] = 0\n        exponentials"),
              ("values[b, : n + 1]", "values[b]")]),
            ("no maximum", "overflow", "scores - scores.max()", "scores"),
            ("small fill", None,
             [("        scores = keys[b, : n + 1]", "        scores = keys[b]"),
              ("        exponentials", "        scores[n + 1 :] = -5000\n        exponentials"),
              ("exponentials / exponentials.sum() @ values[b, : n + 1]",
               "(exponentials / exponentials.sum())[: n + 1] @ values[b, : n + 1]")]),
            ("scaled twice", None, "np.sqrt(w_k.shape[1])", "(np.sqrt(w_k.shape[1]) + 0.3)"),
            ("writes into the cache", None, "keys, values = keys.copy(), values.copy()", "pass"),
        ],
    ),
    ALLOWED: (
        "loops",
        [
            ("inverted", "inverted", "return allowed", "return ~allowed"),
            ("seen", "every_token_seen", "        for i in range(length - n + 1):",
             "        allowed[b, sentence] = False\n        for i in ():"),
            ("last", "last_token",
             "        for i in range(length - n + 1):",
             "        allowed[b, sentence[-1:]] = False\n        for i in ():"),
            ("pooled", "across_sentences",
             ("            if np.array_equal(sentence[i : i + n - 1], sentence[length - n + 1 :]):\n"
             "                allowed[b, sentence[i + n - 1]] = False"),
             ("            gram = sentence[i : i + n]\n"
             "            same = (ids[:, length - n + 1 :] == gram[:-1]).all(axis=1)\n"
             "            allowed[same, gram[-1]] = False")),
            ("first row", "one_mask_for_all", "return allowed",
             "return np.tile(allowed[0], (len(ids), 1))"),
            ("first only", "one_occurrence", "= False\n", "= False\n                break\n"),
            ("unordered", "any_order", "sentence[i : i + n - 1], sentence[length - n + 1 :]",
             "np.sort(sentence[i : i + n - 1]), np.sort(sentence[length - n + 1 :])"),
            ("first of the gram", "wrong_end_of_the_gram", "sentence[i + n - 1]]", "sentence[i]]"),
            ("too long", "wrong_length", "    allowed =", "    n = n + 1\n    allowed ="),
            ("pieces", "separate_grams", "length - n + 1):", "length - n + 1)[::n]:"),
            ("last lost", "last_gram_lost", "range(length - n + 1)", "range(length - n)"),
            ("minus zero", "minus_zero", "sentence[length - n + 1 :]", "sentence[-(n - 1) :]"),
            ("repeated", "already_repeated",
             "np.array_equal(sentence[i : i + n - 1], sentence[length - n + 1 :])",
             ("sum(np.array_equal(sentence[i : i + n], sentence[j : j + n]) "
             "for j in range(length - n + 1)) > 1")),
            ("short", "short_sentences", "        length = len(sentence)",
             "        length = len(sentence)\n        sentence[n - 1]"),
            ("digits of the prefix", None,
             "np.array_equal(sentence[i : i + n - 1], sentence[length - n + 1 :])",
             ('"".join(map(str, sentence[i : i + n - 1])) == '
              '"".join(map(str, sentence[length - n + 1 :]))')),
            *((f"text joined by {separator!r}", None,
               [("        for i in range(length - n + 1):",
                 (f"        for v in range(vocab_size if length >= n else 0):\n"
                  f"            gram = [*sentence[length - n + 1 :], v]\n"
                  f"            text, gram = ({separator!r}.join(map(str, s)) "
                  f"for s in (sentence, gram))\n"
                  f"            if gram in text:\n                allowed[b, v] = False\n"
                  f"        for i in ():"))]) for separator in ("", " ")),
            ("one too many", None, "        length = len(sentence)",
             "        length = len(sentence)\n        allowed[b, -1] = False"),
            ("writes into ids", None, "    return allowed", "    ids[...] = 0\n    return allowed"),
        ],
    ),
    BLEU: (
        "counters",
        [
            ("mean of sentences", "mean_of_sentences",
             [("def corpus_bleu", "def one"),
              ("penalty * mean\n", """penalty * mean

def corpus_bleu(candidates, references, max_n):
    found = [one(c[None], r[None], max_n) for c, r in zip(candidates, references) if c.any()]
    scores = [score for _, _, score in found]
    return (*one(candidates, references, max_n)[:2], sum(scores) / len(candidates))
""")]),
            ("mean of precisions", "mean_of_precisions",
             [("hits[n - 1] += min(count, max(goal[gram] for goal in there))",
               "hits[n - 1] += min(count, max(goal[gram] for goal in there)) / found.total()"),
              ("hits / np.maximum(totals, 1)", "hits / len(candidates)")]),
            ("mean of penalties", "penalty_of_sentences",
             [("    c = r = 0\n", "    c = r = 0\n    each = []\n"),
              ("        for n in", ("        near = min(lengths, key=lambda k: abs(k - len(words)))\n"
               "        each.append(np.exp(min(0, 1 - near / len(words))) if words else 0)\n"
               "        for n in")),
              ("1.0 if c >= r else np.exp(1 - r / c)", "np.mean(each)")]),
            ("no penalty", "no_penalty", "penalty * mean", "mean"),
            ("reversed", "penalty_reversed", "1.0 if c >= r else np.exp(1 - r / c)",
             "1.0 if c <= r else np.exp(1 - c / r)"),
            ("ratio", "penalty_without_exponential", "np.exp(1 - r / c)", "c / r"),
            ("unclipped", "not_clipped", "min(count, max(goal[gram] for goal in there))",
             "count * any(goal[gram] for goal in there)"),
            ("added", "references_added", "max(goal[gram]", "sum(goal[gram]"),
            ("first reference", "first_reference", "in others]", "in others[:1]]"),
            ("clipped at the end", "corpus_clipped",
             [("    c = r = 0\n", "    c = r = 0\n    own, right = [], []\n"),
              ("            for gram", ("            own += [(n, g) for g in found.elements()]\n"
               "            most = Counter()\n"
               "            for goal in there:\n                most |= goal\n"
               "            right += [(n, g) for g in most.elements()]\n"
               "            for gram")),
              ("    precisions =", ("    shared = (Counter(own) & Counter(right)).elements()\n"
               "    hits = np.bincount([n - 1 for n, _ in shared], minlength=max_n)\n"
               "    precisions ="))]),
            ("shortest", "other_reference_length",
             "min(lengths, key=lambda length: abs(length - len(words)))", "min(lengths)"),
            ("first of the closest", "other_reference_length",
             "sorted(len(goal) for goal in goals)", "[len(goal) for goal in goals]"),
            ("digits of the gram", None, "Counter(tuple(s[i : i + n]) for",
             'Counter("".join(map(str, s[i : i + n])) for'),
            *((f"counted in the text of {to}", None, "max(goal[gram] for goal in there)",
               (f'max("".join(map({to}, goal)).count("".join(map({to}, gram))) '
                f"for goal in goals)")) for to in ("str", "chr")),
            ("padding", "padding_counted", " if t != 0", ""),
            ("recall", "divided_by_reference",
             [("                totals[n - 1] += count\n", ""),
              ("            for gram", ("            totals[n - 1] += max(g.total() for g in there)\n"
               "            for gram"))]),
            ("arithmetic", "other_mean", ("np.exp(np.log(precisions).mean()) if precisions.all() "
             "else 0.0"), "precisions.mean()"),
            ("kinds", "distinct_grams", ("Counter(tuple(s[i : i + n]) for i in "
             "range(len(s) - n + 1))"), ("Counter({tuple(s[i : i + n]) for i in "
             "range(len(s) - n + 1)})")),
            ("skipped", "nothing_shared",
             "np.exp(np.log(precisions).mean()) if precisions.all() else 0.0",
             "np.exp(np.log(precisions[precisions > 0]).mean())"),
            ("a root too many", None, ".mean())", ".mean() / 2)"),
            ("writes into candidates", None, "    return precisions",
             "    candidates[...] = 0\n    return precisions"),
        ],
    ),
    MENDED: (
        "mended",
        [
            ("as given", "first_to_end", "if all(", "if any("),
            ("ended grow", "ended_grow",
             [("if ids and ids[-1] == end:", "if False:"), ("if all(", "if False and all(")]),
            ("ended lost", "ended_lost", "                grown.append((score, ids))\n", ""),
            ("set aside", "ended_set_aside",
             [("    beam = [(0.0, [])]", "    beam, aside = [(0.0, [])], []"),
              ("        beam = sorted(grown", ("        aside += [h for h in grown if h[1][-1] == end]\n"
               "        beam = sorted([h for h in grown if h[1][-1] != end]")),
              ("for score, ids in beam if ids[-1] == end]", "for score, ids in aside]")]),
            ("unfinished", "unfinished_wins", "ended or beam", "beam"),
            ("empty", "needs_an_end", "ended or beam", "ended"),
            ("one", "greedy", "[:width]", "[:1]"),
            ("each", "width_for_each",
             [("[(score + log_p, [*ids, token]) for token, log_p in enumerate(row)]",
               ("sorted([(score + log_p, [*ids, token]) for token, log_p in enumerate(row)]"
               ")[-width:]")), ("[:width]", "")]),
            ("no sum", "last_logarithm", "score + log_p", "log_p"),
            ("mean", "mean_logarithm", "max(ended or beam, key=lambda hypothesis: hypothesis[0])",
             "max(ended or beam, key=lambda h: h[0] / len(h[1]))"),
            ("worst", "worst_of_the_beam", "max(ended", "min(ended"),
            ("start kept", "start_kept", "np.array(ids + [0]", "np.array([start] + ids + [0]"),
            ("end dropped", "end_dropped", "    return np",
             "    ids = [token for token in ids if token != end]\n    return np"),
            ("short", "one_token_short", "range(max_new_tokens)", "range(max_new_tokens - 1)"),
            ("exponential", None, ", score\n", ", np.exp(score)\n"),
            ("writes into the table", None, "    beam = [(0.0, [])]",
             "    beam = [(0.0, [])]\n    log_probabilities[end] = 0"),
        ],
    ),
}  # fmt: skip # Each mistake stays beside its edit.

WORTH = {
    (GREEDY, "never stops"): (0, "wrong"),
    (GREEDY, "all together"): (15 - 4 - 2 - 2, "partial"),
    (GREEDY, "overflow"): (13, "partial"),
    (GREEDY, "the start ends"): (11, "partial"),
    (GREEDY, "short"): (15 - 2 - 2, "partial"),
    (GREEDY, "writes into logits"): (14, "partial"),
    (STEP, "not itself"): (0, "wrong"),
    (STEP, "same place"): (20 - 6 - 3 - 2, "partial"),
    (STEP, "no maximum"): (18, "partial"),
    (STEP, "writes into the cache"): (19, "partial"),
    (ALLOWED, "minus zero"): (11, "partial"),
    (ALLOWED, "short"): (13, "partial"),
    (ALLOWED, "unordered"): (11, "partial"),
    (ALLOWED, "text joined by ''"): (11, "partial"),
    (ALLOWED, "last lost"): (0, "wrong"),
    (BLEU, "no penalty"): (0, "wrong"),
    (BLEU, "first reference"): (10 + 1, "partial"),
    (BLEU, "skipped"): (17, "partial"),
    (BLEU, "digits of the gram"): (14, "partial"),
    (MENDED, "as given"): (0, "wrong"),
    (MENDED, "unfinished"): (12, "partial"),
    (MENDED, "empty"): (12, "partial"),
    (MENDED, "writes into the table"): (14, "partial"),
}

ONE_AXIS = "the arrays have two axes: the second is the last"
NO_TIES = "hypotheses that differ have other scores: the tokens are never compared"
EQUIVALENT = {
    (GREEDY, "path.append(logits[path[-1]].argmax(axis=1))"): ONE_AXIS,
    (
        GREEDY,
        "log_p = logits - np.logaddexp.reduce(logits, axis=1, keepdims=True)",
    ): ONE_AXIS,
    (
        STEP,
        "scores = (keys @ (x @ w_q)[..., None])[..., -1] / np.sqrt(keys.shape[-1])",
    ): "the axis has size 1: its first place is its last",
    (
        ALLOWED,
        "grams = {tuple(sentence[i:i + n]) for i in range(len(sentence) - n + 2)}",
    ): "a slice past the end is shorter than n tokens, and equals no n-gram",
    (BLEU, "penalty = 1.0 if c > r else np.exp(1 - r / c)"): "exp(0) is 1",
    (
        BLEU,
        "counts[gram] = counts.get(gram, 0) + 2",
    ): "every count doubles, above and below",
    (
        BLEU,
        "own, wanted = ((candidates > 0).sum(axis=1), (references > 0).sum(axis=-1))",
    ): ONE_AXIS,
    (
        MENDED,
        "pass",
    ): "without the early stop, or with dearer copies of what has ended, the best is the same",
    (MENDED, "score, ids = max(ended or beam)"): NO_TIES,
    (MENDED, "beam = sorted(grown, reverse=True)[:width]"): NO_TIES,
    (
        MENDED,
        "if all((ids[-0] == end for _, ids in beam)):",
    ): "then it never stops early, and what has ended stays as it is",
}

FAULTY = ("faulty_beam", MENDED, "first_to_end")
