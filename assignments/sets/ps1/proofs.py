"""Test submissions for problem set 1: right answers in many ways, and wrong ones.

Each is the text of a cell. A wrong answer is a right one with a slip, so that it is wrong in
one way only, and has nothing in common with the code of the known mistakes.
`tests.test_assignments.proofs.Answers` says what each table holds.
"""

NEAREST = "nearest"
SENTENCES = "sentence_vectors"
ANALOGY = "analogy"
SAMPLING = "negative_sampling"
MENDED = "mended_similarities"

CORRECT = {
    NEAREST: {
        "vectorised": """
def nearest(vectors, query, k):
    lengths = np.linalg.norm(vectors, axis=1)
    asked = np.linalg.norm(query, axis=-1)[..., None]
    lengths = np.maximum(lengths, 1e-300)
    cosine = query @ vectors.T / np.maximum(asked, 1e-300) / lengths
    ids = np.argsort(-cosine, kind="stable")[..., :k]
    return ids, np.take_along_axis(cosine, ids)
""",
        "loops": """
def nearest(vectors, query, k):
    found = np.zeros((*query.shape[:-1], int(k)))
    ids = found.astype(int)
    for place in np.ndindex(query.shape[:-1]):
        cosines = []
        for word, vector in enumerate(vectors):
            length = np.linalg.norm(vector) * np.linalg.norm(query[place])
            cosines.append((-np.dot(vector, query[place]) / length if length else 0.0, word))
        for rank, (cosine, word) in enumerate(sorted(cosines)[: int(k)]):
            ids[place][rank], found[place][rank] = word, -cosine
    return ids, found
""",
        "one at a time": """
def nearest(vectors, query, k):
    unit = np.nan_to_num(vectors / np.sqrt(np.einsum("nd,nd->n", vectors, vectors))[:, None])
    asked = np.nan_to_num(query / np.sqrt(np.einsum("...d,...d->...", query, query))[..., None])
    cosine = np.einsum("...d,nd->...n", asked, unit)
    left, ids, found = cosine.copy(), [], []
    for _ in range(k):
        best = left.argmax(axis=-1)[..., None]
        ids.append(best)
        found.append(np.take_along_axis(cosine, best))
        np.put_along_axis(left, best, -np.inf, axis=-1)
    return np.concatenate(ids, axis=-1), np.concatenate(found, axis=-1)
""",
    },
    SENTENCES: {
        "vectorised": """
def sentence_vectors(table, ids):
    real = ids != 0
    count = real.sum(axis=-1)[..., None]
    total = np.where(real[..., None], table[ids], 0).sum(axis=-2)
    return total / np.maximum(count, 1)
""",
        "loops": """
def sentence_vectors(table, ids):
    vectors = np.zeros((*ids.shape[:-1], table.shape[1]))
    for place in np.ndindex(ids.shape[:-1]):
        found = [table[i] for i in ids[place] if i != 0]
        if found:
            vectors[place] = sum(found) / len(found)
    return vectors
""",
        "counts": """
def sentence_vectors(table, ids):
    flat = ids.reshape(-1, ids.shape[-1])
    counts = np.array([np.bincount(row, minlength=len(table)) for row in flat])
    counts[:, 0] = 0
    vectors = np.nan_to_num(counts @ table / counts.sum(axis=1)[:, None])
    return vectors.reshape(*ids.shape[:-1], table.shape[1])
""",
        "zeroed table": """
def sentence_vectors(table, ids):
    without = table.copy()
    without[0] = 0
    count = np.count_nonzero(ids, axis=-1)
    return without[ids].sum(axis=-2) / np.maximum(count, 1)[..., None]
""",
    },
    ANALOGY: {
        "vectorised": """
def analogy(vectors, a, b, c):
    unit = vectors / np.linalg.norm(vectors, axis=1)[:, None]
    score = (unit[b] - unit[a] + unit[c]) @ unit.T
    for given in (a, b, c):
        np.put_along_axis(score, given[..., None], -np.inf, axis=-1)
    return score.argmax(axis=-1)
""",
        "loops": """
def analogy(vectors, a, b, c):
    unit = [vector / np.sqrt(vector @ vector) for vector in vectors]
    answers = np.empty_like(a)
    for place in np.ndindex(a.shape):
        given = [a[place], b[place], c[place]]
        asked = unit[given[1]] - unit[given[0]] + unit[given[2]]
        left = [word for word in range(len(unit)) if word not in given]
        answers[place] = max(left, key=lambda word: np.dot(unit[word], asked))
    return answers
""",
        "cosines": """
def analogy(vectors, a, b, c):
    length = np.sqrt((vectors**2).sum(axis=1))
    cosine = vectors @ vectors.T / np.outer(length, length)
    score = cosine[b] - cosine[a] + cosine[c]
    words = np.arange(len(vectors))
    given = (words == a[..., None]) | (words == b[..., None]) | (words == c[..., None])
    return np.argmax(np.where(given, -np.inf, score), axis=-1)
""",
        "sorted": """
def analogy(vectors, a, b, c):
    unit = vectors / np.linalg.norm(vectors, axis=1, keepdims=True)
    ranked = np.argsort(-((unit[b] + unit[c] - unit[a]) @ unit.T))
    given = np.stack([a, b, c], axis=-1)
    allowed = (ranked[..., None] != given[..., None, :]).all(axis=-1)
    first = allowed.argmax(axis=-1)[..., None]
    return np.take_along_axis(ranked, first).squeeze(-1)
""",
    },
    SAMPLING: {
        "vectorised": """
def negative_sampling(center, context, negatives):
    right = (center * context).sum(axis=-1)
    wrong = (center[..., None, :] * negatives).sum(axis=-1)
    loss = np.logaddexp(0, -right) + np.logaddexp(0, wrong).sum(axis=-1)
    of_right = np.exp(-np.logaddexp(0, -right))[..., None] - 1
    of_wrong = np.exp(-np.logaddexp(0, -wrong))[..., None]
    d_center = of_right * context + (of_wrong * negatives).sum(axis=-2)
    return loss, d_center, of_right * center, of_wrong * center[..., None, :]
""",
        "one table": """
def negative_sampling(center, context, negatives):
    others = np.concatenate([context[..., None, :], negatives], axis=-2)
    sign = np.where(np.arange(others.shape[-2]) == 0, 1, -1)
    margin = sign * np.einsum("...kd,...d->...k", others, center)
    loss = np.logaddexp(0, -margin).sum(axis=-1)
    of_score = -sign * np.exp(-np.logaddexp(0, margin))
    d_center = np.einsum("...k,...kd->...d", of_score, others)
    d_others = np.einsum("...k,...d->...kd", of_score, center)
    return loss, d_center, d_others[..., 0, :], d_others[..., 1:, :]
""",
        "loops": """
def negative_sampling(center, context, negatives):
    def softplus(s):
        return max(s, 0) + np.log1p(np.exp(-abs(s)))

    def sigmoid(s):
        return np.exp(min(s, 0)) / (1 + np.exp(-abs(s)))

    loss = np.zeros(center.shape[:-1])
    d_center, d_context = np.zeros(center.shape), np.zeros(center.shape)
    d_negatives = np.zeros(negatives.shape)
    for place in np.ndindex(center.shape[:-1]):
        c, o = center[place], context[place]
        loss[place] = softplus(-np.dot(c, o))
        d_center[place] = (sigmoid(np.dot(c, o)) - 1) * o
        d_context[place] = (sigmoid(np.dot(c, o)) - 1) * c
        for i, n in enumerate(negatives[place]):
            loss[place] += softplus(np.dot(c, n))
            d_center[place] += sigmoid(np.dot(c, n)) * n
            d_negatives[place][i] = sigmoid(np.dot(c, n)) * c
    return loss, d_center, d_context, d_negatives
""",
    },
    MENDED: {
        "mended": """
def mended_similarities(x):
    lengths = np.sqrt((x * x).sum(axis=-1, keepdims=True))
    lengths = np.maximum(lengths, 1e-150)
    return x @ x.mT / (lengths * lengths.mT)
""",
        "divided first": """
def mended_similarities(x):
    lengths = np.linalg.norm(x, axis=-1)[..., None]
    unit = x / np.maximum(lengths, 1e-300)
    return unit @ np.swapaxes(unit, -1, -2)
""",
        "from the products": """
def mended_similarities(x):
    products = np.einsum("...id,...jd->...ij", x, x)
    squared = np.einsum("...ii->...i", products)
    lengths = np.sqrt(squared[..., :, None]) * np.sqrt(squared[..., None, :])
    return np.divide(products, lengths, out=np.zeros(products.shape), where=lengths > 0)
""",
        "loops": """
def mended_similarities(x):
    if x.ndim > 2:
        return np.array([mended_similarities(words) for words in x])
    cosines = np.zeros((len(x), len(x)))
    for i, one in enumerate(x):
        for j, other in enumerate(x):
            if one.any() and other.any():
                cosines[i, j] = np.dot(one, other) / np.linalg.norm(one) / np.linalg.norm(other)
    return cosines
""",
    },
}

# One slip a line: a table that is read down its columns.
SLIPS = {
    NEAREST: (
        "vectorised",
        [
            ("no lengths of words", "dot_product", " / lengths\n", "\n"),
            ("no length of the query", "query_not_divided", "np.maximum(asked, 1e-300)", "1"),
            (
                "distance",
                "distance",
                [("ids = np.argsort(-cosine",
                  ("far = np.linalg.norm(query[..., None, :] - vectors, axis=-1)\n"
                  "    ids = np.argsort(far"))],
            ),
            (
                "lengths of features",
                "columns_divided",
                [("np.linalg.norm(vectors, axis=1)", "np.linalg.norm(vectors, axis=0)"),
                 ("query @ vectors.T", "query @ (vectors / lengths).T"),
                 (" / lengths\n", "\n")],
            ),
            ("one length", "one_length_for_all", "norm(vectors, axis=1)", "norm(vectors)"),
            ("no minus", "farthest", "np.argsort(-cosine", "np.argsort(cosine"),
            ("last k", "ascending", [("np.argsort(-cosine", "np.argsort(cosine"),
                                     ("[..., :k]", "[..., len(vectors) - k :]")]),
            ("partition", "by_id", "[..., :k]\n", "[..., :k]\n    ids = np.sort(ids, axis=-1)\n"),
            ("turned round", "ties_reversed", [("-cosine, ", "cosine, "),
                                               ("[..., :k]", "[..., ::-1][..., :k]")]),
            ("any sort", None, 'argsort(-cosine, kind="stable")', "argsort(-cosine)"),
            ("absolute", "absolute_value", "np.argsort(-cosine", "np.argsort(-abs(cosine)"),
            ("from the second", "first_skipped", "[..., :k]", "[..., 1 : k + 1]"),
            ("first columns", "similarities_unsorted",
             "np.take_along_axis(cosine, ids)", "cosine[..., :k]"),
            ("NaN", "zero_vector", "np.maximum(lengths, 1e-300)", "lengths"),
            ("one query", "one_query_only", "    lengths = np.linalg",
             "    (_,) = query.shape\n    lengths = np.linalg"),
            ("writes into query", None, "    lengths = np.linalg",
             "    np.round(query, 9, out=query)\n    lengths = np.linalg"),
            ("a slip of its own", None, " / lengths\n", " / (lengths + 0.3)\n"),
        ],
    ),
    SENTENCES: (
        "vectorised",
        [
            ("everything", "padding_counted", "ids != 0", "ids >= 0"),
            ("width", "divided_by_length", "np.maximum(count, 1)", "ids.shape[-1]"),
            ("sums all", "padding_summed", "np.where(real[..., None], table[ids], 0)",
             "table[ids]"),
            ("no division", "sum", " / np.maximum(count, 1)", ""),
            ("largest", "maximum",
             [("np.where(real[..., None], table[ids], 0).sum(axis=-2)",
               "np.where(real[..., None], table[ids], -np.inf).max(axis=-2)"),
              ("total / np.maximum(count, 1)", "np.where(count == 0, 0, total)")]),
            ("set", "distinct_words",
             [("    real = ids != 0\n",
               ("    ids = ids.copy()\n"
               "    for place in np.ndindex(ids.shape):\n"
               "        if ids[place] in ids[place[:-1]][: place[-1]]:\n"
               "            ids[place] = 0\n"
               "    real = ids != 0\n"))]),
            ("mean id", "mean_of_ids",
             [("    total = np.where(real[..., None], table[ids], 0).sum(axis=-2)\n",
               ("    mean = ids.sum(axis=-1) / np.maximum(count, 1)[..., 0]\n"
               "    total = table[np.rint(mean).astype(int)] * (count > 0)\n")),
              ("total / np.maximum(count, 1)", "total")]),
            ("first ones", "padding_at_the_end", "    count",
             "    real = np.arange(ids.shape[-1]) < real.sum(axis=-1)[..., None]\n    count"),
            ("over sentences", "over_sentences",
             [("real.sum(axis=-1)[..., None]", "real.sum(axis=0)[..., None]"),
              (".sum(axis=-2)", ".sum(axis=0)")]),
            ("mean count", "one_count_for_all", "real.sum(axis=-1)[..., None]",
             "real.sum() / real[..., 0].size"),
            ("NaN", "empty_sentence", "np.maximum(count, 1)", "count"),
            ("unit", "unit_length", "    return total / np.maximum(count, 1)",
             ("    size = np.linalg.norm(total, axis=-1)[..., None]\n"
             "    return total / np.where(size == 0, 1, size)")),
            ("two axes", "matrix_only", "    real = ids",
             "    batch, n = ids.shape\n    real = ids"),
            ("writes into table", None, "    real = ids",
             "    np.round(table, 9, out=table)\n    real = ids"),
            ("a slip of its own", None, "np.maximum(count, 1)", "np.maximum(count + 1, 1)"),
        ],
    ),
    ANALOGY: (
        "vectorised",
        [
            ("nothing left out", "nothing_excluded", "(a, b, c):\n", "():\n"),
            ("only c", "only_c_excluded", "(a, b, c):\n", "(c,):\n"),
            ("not a", "only_b_and_c_excluded", "(a, b, c):\n", "(b, c):\n"),
            ("other way", "difference_reversed", "unit[b] - unit[a]", "unit[a] - unit[b]"),
            ("minus c", "c_subtracted", "unit[b] - unit[a] + unit[c]",
             "unit[b] + unit[a] - unit[c]"),
            ("sum", "all_added", "unit[b] - unit[a]", "unit[b] + unit[a]"),
            ("like c", "only_c", "unit[b] - unit[a] + unit[c]", "unit[c]"),
            ("long vectors", "not_unit_vectors", "(unit[b] - unit[a] + unit[c])",
             "(vectors[b] - vectors[a] + vectors[c])"),
            ("long words", "product_with_long_vectors", "@ unit.T", "@ vectors.T"),
            ("smallest", "least_similar", [("-np.inf", "np.inf"), ("argmax", "argmin")]),
            ("zeros", "hidden_with_zero", "-np.inf", "0"),
            ("minus one", "hidden_with_zero", "-np.inf", "-1"),
            ("how much", "similarity_returned",
             [("    score = (unit[b] - unit[a] + unit[c])",
               ("    asked = unit[b] - unit[a] + unit[c]\n"
               "    score = asked / np.linalg.norm(asked, axis=-1)[..., None]")),
              ("argmax", "max")]),
            ("one list", "one_axis_only", "    unit =", "    (m,) = a.shape\n    unit ="),
            ("writes into a", None, "    unit =", "    a += 0\n    a[...] = a[::-1]\n    unit ="),
            ("a slip of its own", None, "unit[b] - unit[a]", "unit[b] - 2 * unit[a]"),
        ],
    ),
    SAMPLING: (
        "vectorised",
        [
            ("all together", "all_neighbours",
             [("np.logaddexp(0, wrong)", "np.logaddexp(0, -wrong)"),
              ("np.exp(-np.logaddexp(0, -wrong))[..., None]",
               "np.exp(-np.logaddexp(0, -wrong))[..., None] - 1")]),
            ("other way", "swapped",
             [("(0, -right) + np.logaddexp(0, wrong)", "(0, right) + np.logaddexp(0, -wrong)"),
              ("[..., None] - 1", "[..., None]"),
              ("np.exp(-np.logaddexp(0, -wrong))[..., None]",
               "np.exp(-np.logaddexp(0, -wrong))[..., None] - 1")]),
            ("uphill", "ascent", "return loss, d_center, of_right * center, of_wrong",
             "return loss, -d_center, -of_right * center, -of_wrong"),
            ("likelihood", "loss_negated", "return loss", "return -loss"),
            ("probabilities", "no_logarithm",
             "return loss", "loss = -of_right[..., 0] + of_wrong.sum(axis=(-1, -2))\n    return loss"),
            ("mean", "mean_of_negatives",
             [("np.logaddexp(0, wrong).sum(", "np.logaddexp(0, wrong).mean("),
              ("np.exp(-np.logaddexp(0, -wrong))[..., None]",
               "np.exp(-np.logaddexp(0, -wrong))[..., None] / wrong.shape[-1]")]),
            ("no minus one", "one_not_subtracted", "[..., None] - 1", "[..., None]"),
            ("half a gradient", "negatives_forgotten",
             " + (of_wrong * negatives).sum(axis=-2)", ""),
            ("itself", "own_vector", "of_right * center, of", "of_right * context, of"),
            ("order", "gradients_swapped", "d_center, of_right * center,",
             "of_right * center, d_center,"),
            ("one for all", "negatives_summed", "of_wrong * center[..., None, :]",
             "(of_wrong * center[..., None, :]).sum(axis=-2)"),
            ("competition", "softmax",
             [("    loss = np.logaddexp(0, -right) + np.logaddexp(0, wrong).sum(axis=-1)\n",
               ("    total = np.logaddexp(right, np.logaddexp.reduce(wrong, axis=-1))\n"
               "    loss = total - right\n")),
              ("np.exp(-np.logaddexp(0, -right))", "np.exp(right - total)"),
              ("np.exp(-np.logaddexp(0, -wrong))", "np.exp(wrong - total[..., None])")]),
            ("plain", "overflow",
             [("np.logaddexp(0, -right) +", "-np.log(1 / (1 + np.exp(-right))) -"),
              ("np.logaddexp(0, wrong).sum", "np.log(1 - 1 / (1 + np.exp(-wrong))).sum")]),
            ("one word", "one_word_only", "    right =", "    (d,) = center.shape\n    right ="),
            ("writes into center", None, "    right =",
             "    np.round(center, 9, out=center)\n    right ="),
            ("a slip of its own", None, "of_right * context +", "0.9 * of_right * context +"),
        ],
    ),
    MENDED: (
        "mended",
        [
            ("as given", "own_length_twice", "lengths.mT)", "lengths)"),
            ("columns twice", "other_length_twice", "(lengths * l", "(lengths.mT * l"),
            ("made symmetric", "symmetric_mean",
             [("x @ x.mT / (lengths * lengths.mT)", "(found + found.mT) / 2"),
              ("    return", "    found = x @ x.mT / lengths**2\n    return")]),
            ("once", "once", "(lengths * lengths.mT)", "lengths"),
            ("nothing", "not_divided", " / (lengths * lengths.mT)", ""),
            ("root too many", "root_of_lengths", "(lengths * lengths.mT)",
             "np.sqrt(lengths * lengths.mT)"),
            ("root missing", "squared_lengths", "np.sqrt((x * x).sum(axis=-1, keepdims=True))",
             "(x * x).sum(axis=-1, keepdims=True)"),
            ("features", "columns",
             [("axis=-1", "axis=-2"),
              ("x @ x.mT / (lengths * lengths.mT)", "(x / lengths) @ (x / lengths).mT")]),
            ("distance", "distance", "return x", "return 1 - x"),
            ("NaN", "zero_row", "np.maximum(lengths, 1e-150)", "lengths"),
            ("one list", "matrix_only", "    lengths = np.sqrt",
             "    n, d = x.shape\n    lengths = np.sqrt"),
            ("writes into x", None, "    lengths = np.sqrt",
             "    np.round(x, 9, out=x)\n    lengths = np.sqrt"),
            ("a slip of its own", None, "return x", "return 1.1 * x"),
        ],
    ),
}  # fmt: skip # Each mistake stays beside its edit.

WORTH = {
    (NEAREST, "no lengths of words"): (0, "wrong"),
    (NEAREST, "turned round"): (20 - 4 - 3, "partial"),
    (NEAREST, "NaN"): (17, "partial"),
    (NEAREST, "one query"): (17, "partial"),
    (NEAREST, "writes into query"): (19, "partial"),
    (SENTENCES, "sums all"): (15 - 3 - 2 - 2 - 1, "partial"),
    (SENTENCES, "first ones"): (15 - 2 - 1, "partial"),
    (SENTENCES, "NaN"): (13, "partial"),
    (SENTENCES, "no division"): (0, "wrong"),
    (ANALOGY, "nothing left out"): (0, "wrong"),
    (ANALOGY, "zeros"): (12, "partial"),
    (ANALOGY, "minus one"): (12, "partial"),
    (ANALOGY, "one list"): (13, "partial"),
    (SAMPLING, "plain"): (16, "partial"),
    (SAMPLING, "one word"): (17, "partial"),
    (SAMPLING, "uphill"): (0, "wrong"),
    (MENDED, "as given"): (0, "wrong"),
    (MENDED, "NaN"): (13, "partial"),
    (MENDED, "one list"): (12, "partial"),
    (MENDED, "writes into x"): (14, "partial"),
}

EQUIVALENT = {
    (
        SENTENCES,
        "flat = ids.reshape(-2, ids.shape[-1])",
    ): "NumPy takes any negative size for the one to work out",
}

FAULTY = ("faulty_similarities", MENDED, "own_length_twice")
