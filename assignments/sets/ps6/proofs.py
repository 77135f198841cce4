"""Test submissions for problem set 6: right answers in many ways, and wrong ones.

Each is the text of a cell. A wrong answer is a right one with a slip, so that it is wrong in
one way only, and has nothing in common with the code of the known mistakes.
`tests.test_assignments.proofs.Answers` says what each table holds.
"""

ENCODE = "encode_positions"
SHIFT = "shift_encoding"
RELATIVE = "relative_scores"
GRADIENT = "position_gradient"
MENDED = "mended_rotary_scores"

CORRECT = {
    ENCODE: {
        "slices": """
def encode_positions(positions, d_model, base):
    exponents = np.arange(0, d_model, 2) / d_model
    angles = positions[..., None] / base**exponents
    encoding = np.empty((*positions.shape, d_model))
    encoding[..., 0::2] = np.sin(angles)
    encoding[..., 1::2] = np.cos(angles)[..., : d_model // 2]
    return encoding
""",
        "columns": """
def encode_positions(positions, d_model, base):
    columns = []
    for column in range(d_model):
        angle = positions / base ** ((column - column % 2) / d_model)
        columns.append(np.cos(angle) if column % 2 else np.sin(angle))
    return np.stack(columns, axis=-1)
""",
        "complex": """
def encode_positions(positions, d_model, base):
    twice = np.arange(0, d_model, 2)
    speeds = np.exp(-np.log(base) * twice / d_model)
    hands = np.exp(1j * np.multiply.outer(positions, speeds))
    both = np.stack([hands.imag, hands.real], axis=-1)
    return both.reshape(*positions.shape, 2 * len(twice))[..., :d_model]
""",
        "shifted sines": """
def encode_positions(positions, d_model, base):
    clock, odd = np.divmod(np.arange(d_model), 2)
    return np.sin(positions[..., None] * base ** (-2 * clock / d_model) + odd * np.pi / 2)
""",
    },
    SHIFT: {
        "slices": """
def shift_encoding(encoding, steps, base):
    d_model = encoding.shape[-1]
    angles = steps[..., None] / base ** (np.arange(0, d_model, 2) / d_model)
    sine, cosine = encoding[..., 0::2], encoding[..., 1::2]
    c, s = np.cos(angles), np.sin(angles)
    shifted = np.zeros(encoding.shape)
    shifted[..., 0::2] = sine * c + cosine * s
    shifted[..., 1::2] = cosine * c - sine * s
    return shifted
""",
        "complex": """
def shift_encoding(encoding, steps, base):
    d_model = encoding.shape[-1]
    hands = encoding[..., 1::2] + 1j * encoding[..., 0::2]
    speeds = base ** -(np.arange(0, d_model, 2) / d_model)
    hands = hands * np.exp(1j * np.multiply.outer(steps, speeds))
    return np.stack([hands.imag, hands.real], axis=-1).reshape(encoding.shape)
""",
        "matrices": """
def shift_encoding(encoding, steps, base):
    d_model = encoding.shape[-1]
    shifted = np.zeros(encoding.shape)
    for place in np.ndindex(steps.shape):
        matrix = np.zeros((d_model, d_model))
        for i in range(0, d_model, 2):
            angle = steps[place] / base ** (i / d_model)
            matrix[i, i] = matrix[i + 1, i + 1] = np.cos(angle)
            matrix[i, i + 1] = np.sin(angle)
            matrix[i + 1, i] = -np.sin(angle)
        shifted[place] = matrix @ encoding[place]
    return shifted
""",
        "angles": """
def shift_encoding(encoding, steps, base):
    n_clocks = encoding.shape[-1] // 2
    pairs = encoding.reshape(*steps.shape, n_clocks, 2)
    length = np.hypot(pairs[..., 0], pairs[..., 1])
    angle = np.arctan2(pairs[..., 0], pairs[..., 1])
    angle = angle + steps[..., None] / base ** (np.arange(n_clocks) / n_clocks)
    moved = np.stack([length * np.sin(angle), length * np.cos(angle)], axis=-1)
    return moved.reshape(encoding.shape)
""",
    },
    RELATIVE: {
        "gathered": """
def relative_scores(query, key, table):
    farthest = len(table) // 2
    place = np.arange(query.shape[-2])
    offset = np.clip(place - place[:, None], -farthest, farthest)
    position = np.einsum("...id,ijd->...ij", query, table[offset + farthest])
    return (query @ key.mT + position) / np.sqrt(query.shape[-1])
""",
        "loops": """
def relative_scores(query, key, table):
    n, d_k = query.shape[-2:]
    farthest = (len(table) - 1) / 2
    scores = np.zeros((*query.shape[:-1], n))
    for i in range(n):
        for j in range(n):
            row = int(farthest + min(max(j - i, -farthest), farthest))
            summed = key[..., j, :] + table[row]
            scores[..., i, j] = (query[..., i, :] * summed).sum(axis=-1) / d_k**0.5
    return scores
""",
        "table first": """
def relative_scores(query, key, table):
    n = query.shape[-2]
    by_row = query @ table.T
    offset = np.subtract.outer(-np.arange(n), -np.arange(n))
    rows = np.minimum(np.maximum(offset + len(table) // 2, 0), len(table) - 1)
    position = np.stack([by_row[..., i, rows[i]] for i in range(n)], axis=-2)
    return np.einsum("...id,...jd->...ij", query, key) * query.shape[-1] ** -0.5 + (
        position / np.sqrt(query.shape[-1])
    )
""",
    },
    GRADIENT: {
        "scatter": """
def position_gradient(gradient, positions, n_positions):
    table = np.zeros((n_positions, gradient.shape[-1]))
    real = positions >= 0
    np.add.at(table, positions[real], gradient[real])
    return table
""",
        "loops": """
def position_gradient(gradient, positions, n_positions):
    table = np.zeros((n_positions, gradient.shape[-1]))
    for b in range(positions.shape[0]):
        for i in range(positions.shape[1]):
            if positions[b, i] != -1:
                table[positions[b, i]] += gradient[b, i]
    return table
""",
        "rows": """
def position_gradient(gradient, positions, n_positions):
    return np.array([gradient[positions == p].sum(axis=0) for p in range(n_positions)])
""",
        "matrix": """
def position_gradient(gradient, positions, n_positions):
    chosen = positions.ravel()[:, None] == np.arange(n_positions)
    return chosen.T.astype(float) @ gradient.reshape(positions.size, gradient.shape[-1])
""",
        "counts": """
def position_gradient(gradient, positions, n_positions):
    real, columns = positions != -1, []
    for part in np.moveaxis(gradient, 2, 0):
        columns.append(np.bincount(positions[real], part[real], minlength=n_positions))
    return np.stack(columns, axis=1)
""",
    },
    MENDED: {
        "mended": """
def mended_rotary_scores(query, key, base):
    n, d_k = query.shape[-2:]
    speeds = np.exp(-np.log(base) * np.arange(0, d_k, 2) / d_k)
    angles = np.arange(n)[:, None] * speeds
    cos, sin = np.cos(angles), np.sin(angles)

    def turn(x):
        even, odd = x[..., 0::2], x[..., 1::2]
        return np.concatenate([even * cos - odd * sin, even * sin + odd * cos], axis=-1)

    return turn(query) @ turn(key).mT / np.sqrt(d_k)
""",
        "complex": """
def mended_rotary_scores(query, key, base):
    n, d_k = query.shape[-2:]
    turns = np.exp(1j * np.outer(np.arange(n), base ** -(np.arange(0, d_k, 2) / d_k)))
    q = (query[..., 0::2] + 1j * query[..., 1::2]) * turns
    k = (key[..., 0::2] + 1j * key[..., 1::2]) * turns
    return (q @ k.conj().mT).real / d_k**0.5
""",
        "by distance": """
def mended_rotary_scores(query, key, base):
    n, d_k = query.shape[-2:]
    scores = np.zeros((*query.shape[:-1], n))
    for i in range(n):
        for j in range(n):
            for c in range(0, d_k, 2):
                angle = (i - j) / base ** (c / d_k)
                q0, q1 = query[..., i, c], query[..., i, c + 1]
                k0, k1 = key[..., j, c], key[..., j, c + 1]
                scores[..., i, j] += np.cos(angle) * (q0 * k0 + q1 * k1)
                scores[..., i, j] += np.sin(angle) * (q0 * k1 - q1 * k0)
    return scores / np.sqrt(d_k)
""",
    },
}

# One slip a line: a table that is read down its columns.
SLIPS = {
    ENCODE: (
        "slices",
        [
            (
                "exponent doubled",
                "doubled_exponent",
                "np.arange(0, d_model, 2)",
                "2 * np.arange(0, d_model, 2)",
            ),
            (
                "exponent halved",
                "halved_exponent",
                "np.arange(0, d_model, 2)",
                "np.arange((d_model + 1) // 2)",
            ),
            (
                "an exponent for each column",
                "exponent_of_each_column",
                [
                    ("np.arange(0, d_model, 2)", "np.arange(d_model)"),
                    ("np.sin(angles)", "np.sin(angles)[..., 0::2]"),
                    ("np.cos(angles)[..., : d_model // 2]", "np.cos(angles)[..., 1::2]"),
                ],
            ),
            ("multiplied", "exponent_positive", "/ base**", "* base**"),
            ("always 10000", "base_fixed", "base**exponents", "10000**exponents"),
            (
                "cosine first",
                "swapped",
                [("np.sin", "np.tmp"), ("np.cos", "np.sin"), ("np.tmp", "np.cos")],
            ),
            (
                "in blocks",
                "blocked",
                [
                    ("0::2] =", ": (d_model + 1) // 2] ="),
                    ("1::2] =", "(d_model + 1) // 2 :] ="),
                ],
            ),
            ("sines only", "only_sines", "np.cos", "np.sin"),
            ("degrees", "degrees", "positions[..., None]", "np.deg2rad(positions)[..., None]"),
            (
                "numbers the rows",
                "rows_instead_of_positions",
                "positions[..., None]",
                "np.arange(positions.shape[-1])[..., None]",
            ),
            (
                "whole positions",
                "whole_positions_only",
                "positions[..., None]",
                "positions.astype(int)[..., None]",
            ),
            (
                "a column too few",
                "last_column_lost",
                "return encoding",
                "return encoding[..., : d_model // 2 * 2]",
            ),
            (
                "made wider and cut",
                "another_width",
                [("/ d_model", "/ (d_model + d_model % 2)")],
            ),
            (
                "a cosine at the end",
                "last_column_changed",
                "return encoding",
                ("if d_model % 2:\n        encoding[..., -1] = np.cos(angles[..., -1])\n"
                "    return encoding"),
            ),
            ("one axis", "one_axis_only", "positions[..., None]", "positions[:, None]"),
            (
                "writes into positions",
                None,
                "    return encoding",
                "    positions *= 0\n    return encoding",
            ),
            ("a slip of its own", None, "np.sin(angles)", "np.sin(angles + 0.1)"),
        ],
    ),
    SHIFT: (
        "slices",
        [
            (
                "signs of rotary",
                "backwards",
                [("c + cosine", "c - cosine"), ("c - sine", "c + sine")],
            ),
            ("plus twice", "no_minus", "c - sine", "c + sine"),
            (
                "the new sine used",
                "overwritten",
                "cosine * c - sine * s",
                "cosine * c - shifted[..., 0::2] * s",
            ),
            (
                "adds",
                "added",
                [("sine * c + cosine * s", "sine + s"), ("cosine * c - sine * s", "cosine + c")],
            ),
            (
                "starts from zero",
                "restarted",
                [("sine * c + cosine * s", "s"), ("cosine * c - sine * s", "c")],
            ),
            (
                "exponent doubled",
                "doubled_exponent",
                "np.arange(0, d_model, 2)",
                "2 * np.arange(0, d_model, 2)",
            ),
            (
                "exponent halved",
                "halved_exponent",
                "np.arange(0, d_model, 2)",
                "np.arange(d_model // 2)",
            ),
            ("one speed", "one_speed", "np.arange(0, d_model, 2) /", "np.zeros(d_model // 2) /"),
            ("always 10000", "base_fixed", "/ base **", "/ 10000 **"),
            (
                "steps of the first",
                "one_step_count",
                "steps[..., None]",
                "steps.flat[0]",
            ),
            ("no way back", "only_forwards", "steps[..., None]", "abs(steps)[..., None]"),
            (
                "in halves",
                "in_blocks",
                [("0::2", ": d_model // 2"), ("1::2", "d_model // 2 :")],
            ),
            (
                "length lost",
                "back_on_the_circle",
                "    c, s =",
                ("    length = np.sqrt(sine**2 + cosine**2)\n"
                "    sine, cosine = sine / length, cosine / length\n    c, s ="),
            ),
            (
                "angle from the sine",
                "half_of_the_turn",
                [
                    ("sine * c + cosine * s", "np.sin(np.arcsin(sine) + angles)"),
                    ("cosine * c - sine * s", "np.cos(np.arcsin(sine) + angles)"),
                ],
            ),
            (
                "rows only",
                "matrix_only",
                "    d_model = encoding.shape[-1]",
                "    n, d_model = encoding.shape",
            ),
            (
                "writes into encoding",
                None,
                "    shifted = np.zeros(encoding.shape)\n",
                "    shifted, sine, cosine = encoding, sine.copy(), cosine.copy()\n",
            ),
            ("a slip of its own", None, "sine * c + cosine * s", "sine * c + cosine * s + 0.1"),
        ],
    ),
    RELATIVE: (
        "gathered",
        [
            (
                "query minus key",
                "direction_reversed",
                "place - place[:, None]",
                "place[:, None] - place",
            ),
            (
                "no sign",
                "no_direction",
                "place - place[:, None]",
                "abs(place - place[:, None])",
            ),
            ("no middle", "middle_forgotten", "offset + farthest", "offset"),
            (
                "middle of the sentence",
                "middle_of_the_sentence",
                [
                    (
                        "np.clip(place - place[:, None], -farthest, farthest)",
                        "place - place[:, None] + len(place) - 1",
                    ),
                    ("table[offset + farthest]", "table[np.minimum(offset, len(table) - 1)]"),
                ],
            ),
            (
                "not clipped",
                "unclipped",
                "np.clip(place - place[:, None], -farthest, farthest)",
                "place - place[:, None]",
            ),
            (
                "zero beyond",
                "nothing_beyond",
                "np.einsum(",
                "(abs(place - place[:, None]) <= farthest) * np.einsum(",
            ),
            (
                "a window",
                "forbidden_beyond",
                "    return (query @ key.mT + position)",
                ("    position[..., abs(place - place[:, None]) > farthest] = -np.inf\n"
                "    return (query @ key.mT + position)"),
            ),
            (
                "one row short",
                "one_row_short",
                "-farthest, farthest)",
                "1 - farthest, farthest - 1)",
            ),
            ("no positions", "content_only", " + position", ""),
            ("no keys", "position_only", "query @ key.mT + position", "position"),
            (
                "added to the query",
                "added_to_the_query",
                '"...id,ijd->...ij", query',
                '"...jd,ijd->...ij", key',
            ),
            (
                "components summed",
                "vector_summed",
                'np.einsum("...id,ijd->...ij", query, table[offset + farthest])',
                "table[offset + farthest].sum(axis=-1)",
            ),
            (
                "half of it scaled",
                "unscaled",
                "(query @ key.mT + position) / np.sqrt(query.shape[-1])",
                "query @ key.mT / np.sqrt(query.shape[-1]) + position",
            ),
            ("no root", "scaled_by_d_k", "np.sqrt(query.shape[-1])", "query.shape[-1]"),
            (
                "lying down",
                "transposed",
                "(query @ key.mT + position)",
                "(query @ key.mT + position).mT",
            ),
            (
                "weights",
                "weights_instead",
                "    return (query @ key.mT + position) / np.sqrt(query.shape[-1])",
                ("    e = np.exp((query @ key.mT + position) / np.sqrt(query.shape[-1]))\n"
                "    return e / e.sum(axis=-1, keepdims=True)"),
            ),
            ("one sentence", "matrix_only", '"...id,ijd->...ij"', '"id,ijd->ij"'),
            (
                "writes into table",
                None,
                "    return",
                "    table -= table.mean()\n    return",
            ),
            ("a slip of its own", None, "/ np.sqrt", "* 1.1 / np.sqrt"),
        ],
    ),
    GRADIENT: (
        "scatter",
        [
            (
                "plus and write",
                "repeats_lost",
                "np.add.at(table, positions[real], gradient[real])",
                "table[positions[real]] += gradient[real]",
            ),
            (
                "the first one",
                "first_kept",
                "np.add.at(table, positions[real], gradient[real])",
                "table[positions[real][::-1]] = gradient[real][::-1]",
            ),
            (
                "mean of each row",
                "mean",
                "return table",
                ("counts = np.bincount(positions[real], minlength=n_positions)\n"
                "    return table / np.maximum(counts, 1)[:, None]"),
            ),
            (
                "mean over sentences",
                "mean_over_the_batch",
                "return table",
                "return table / len(gradient)",
            ),
            (
                "padding counts",
                "padding_in_the_last_row",
                "positions >= 0",
                "positions >= -1",
            ),
            (
                "padding at zero",
                "padding_in_the_first_row",
                [("positions >= 0", "positions >= -1"),
                 ("positions[real]", "np.where(positions < 0, 0, positions)[real]")],
            ),
            (
                "only whole sentences",
                "sentence_dropped",
                "positions >= 0",
                "np.all(positions >= 0, axis=1)",
            ),
            (
                "columns for positions",
                "place_instead_of_position",
                "positions[real]",
                "np.nonzero(real)[1]",
            ),
            (
                "columns summed",
                "sum_over_sentences",
                "    return table",
                "    return gradient.sum(axis=0)[:n_positions]",
            ),
            (
                "shorter",
                "shorter_table",
                "return table",
                "return table[: positions.max() + 1]",
            ),
            ("minus", "sign_of_the_step", "return table", "return -table"),
            (
                "first sentence",
                "first_sentence_only",
                "    return table",
                ("    table[:] = 0\n"
                "    np.add.at(table, positions[0][real[0]], gradient[0][real[0]])\n"
                "    return table"),
            ),
            (
                "a table each",
                "one_table_each",
                "    return table",
                ("    tables = np.zeros((len(gradient), *table.shape))\n"
                "    for b in range(len(gradient)):\n"
                "        np.add.at(tables[b], positions[b][real[b]], gradient[b][real[b]])\n"
                "    return tables"),
            ),
            ("lying down", "transposed", "return table", "return table.T"),
            (
                "writes into positions",
                None,
                "    return table",
                "    positions[~real] = 0\n    return table",
            ),
            ("a slip of its own", None, "return table", "return table + 0.1"),
        ],
    ),
    MENDED: (
        "mended",
        [
            ("as given", "doubled_exponent", "np.exp(-np", "np.exp(-2 * np"),
            ("half now", "halved_exponent", "np.exp(-np.log", "np.exp(-0.5 * np.log"),
            ("no exponent", "one_speed", "np.exp(-np.log", "np.exp(-0 * np.log"),
            ("no sign", "exponent_positive", "np.exp(-np.log", "np.exp(np.log"),
            ("always 10000", "base_fixed", "np.log(base)", "np.log(10000)"),
            ("scale lost", "unscaled", " / np.sqrt(d_k)", ""),
            ("root lost", "scaled_by_d_k", "np.sqrt(d_k)", "d_k"),
            (
                "key not turned",
                "query_only",
                "turn(key)",
                "np.concatenate([key[..., 0::2], key[..., 1::2]], axis=-1)",
            ),
            (
                "key turned back",
                "turned_apart",
                "turn(query) @ turn(key).mT",
                ("turn(query) @ np.concatenate([key[..., 0::2] * cos + key[..., 1::2] * sin, "
                "key[..., 1::2] * cos - key[..., 0::2] * sin], axis=-1).mT"),
            ),
            (
                "sine for cosine",
                "both_backwards",
                "np.cos(angles), np.sin(angles)",
                "np.sin(angles), np.cos(angles)",
            ),
            ("minus lost", "no_minus", "even * cos - odd", "even * cos + odd"),
            (
                "halves",
                "in_halves",
                "x[..., 0::2], x[..., 1::2]",
                "x[..., : d_k // 2], x[..., d_k // 2 :]",
            ),
            ("degrees", "degrees", "np.cos(angles), np.sin(angles)",
             "np.cos(np.deg2rad(angles)), np.sin(np.deg2rad(angles))"),
            ("unbatched only", "matrix_only", "turn(key).mT", "turn(key).T"),
            (
                "sentences numbered",
                "sentences_numbered",
                "np.arange(n)[:, None]",
                "np.arange(len(query))[:, None]",
            ),
            (
                "writes into key",
                None,
                "    return turn(query)",
                "    np.round(key, 9, out=key)\n    return turn(query)",
            ),
            ("a slip of its own", None, "/ np.sqrt", "* 1.1 / np.sqrt"),
        ],
    ),
}  # fmt: skip # Each mistake stays beside its edit.

WORTH = {
    (ENCODE, "exponent doubled"): (0, "wrong"),
    (ENCODE, "whole positions"): (13, "partial"),
    (ENCODE, "a column too few"): (12, "partial"),
    (ENCODE, "made wider and cut"): (12, "partial"),
    (ENCODE, "one axis"): (13, "partial"),
    (ENCODE, "writes into positions"): (14, "partial"),
    (SHIFT, "signs of rotary"): (0, "wrong"),
    (SHIFT, "no way back"): (16, "partial"),
    (SHIFT, "length lost"): (16, "partial"),
    (SHIFT, "rows only"): (18, "partial"),
    (RELATIVE, "query minus key"): (0, "wrong"),
    (RELATIVE, "one sentence"): (16, "partial"),
    (RELATIVE, "writes into table"): (19, "partial"),
    (GRADIENT, "plus and write"): (0, "wrong"),
    (GRADIENT, "padding counts"): (10, "partial"),
    (GRADIENT, "only whole sentences"): (10, "partial"),
    (GRADIENT, "writes into positions"): (15 - 1, "partial"),
    (MENDED, "as given"): (0, "wrong"),
    (MENDED, "unbatched only"): (11, "partial"),
    (MENDED, "sentences numbered"): (11, "partial"),
    (MENDED, "writes into key"): (14, "partial"),
}

EQUIVALENT = {}

FAULTY = ("faulty_rotary_scores", MENDED, "doubled_exponent")
