"""What students may hand in to the exercises of chapter 02, written from their statements alone."""

import numpy as np


class embed:
    def right_compare(tokens, vocabulary, table):
        hits = tokens[..., None] == vocabulary
        ids = np.where(hits.any(-1), hits.argmax(-1), 1)
        vectors = table[ids]
        return np.where((tokens == "<pad>")[..., None], 0.0, vectors)

    def right_vectorize(tokens, vocabulary, table):
        index = {word: i for i, word in enumerate(vocabulary.tolist())}
        ids = np.array([index.get(t, 1) for t in tokens.ravel().tolist()], dtype=int)
        table = table.copy()
        table[0] = 0
        return table[ids].reshape(*tokens.shape, -1)

    def right_plain(tokens, vocabulary, table):
        index = {word: i for i, word in enumerate(vocabulary)}
        ids = np.vectorize(lambda t: index.get(t, 1))(tokens)
        return table[ids] * (tokens != "<pad>")[..., None]

    right_plain.slips = r"""
    unknown_is_zero: index.get(t, 1) ==> index.get(t, 0)
    returns_ids: ids = ==> return && \n    return table[ids] * (tokens != "<pad>")[..., None] ==>
    unknown_zeroed_too: table[ids] * (tokens != "<pad>")[..., None] ==> np.where((ids >= 2)[..., None], table[ids], 0)
    transposed_rows: table[ids] * (tokens != "<pad>")[..., None] ==> np.where((tokens == "<pad>")[..., None], 0, table[:, ids])
    pad_without_an_axis: table[ids] * (tokens != "<pad>")[..., None] ==> np.where(tokens == "<pad>", 0, table[ids])
    """

    def pad_is_row_0(tokens, vocabulary, table):
        index = {word: i for i, word in enumerate(vocabulary)}
        ids = np.vectorize(lambda t: index.get(t, 1))(tokens)
        return table[ids]

    pad_is_row_0.slips = r"""
    writes_zeros_into_the_table: ids = ==> table[0] = 0\n    ids =
    """

    def unknown_gives_zeros(tokens, vocabulary, table):
        index = {word: i for i, word in enumerate(vocabulary)}
        ids = np.vectorize(lambda t: index.get(t, -1))(tokens)
        return np.where((ids > 0)[..., None], table[ids], 0)

    def key_error(tokens, vocabulary, table):
        index = {word: i for i, word in enumerate(vocabulary)}
        return np.array([table[index[t]] for t in tokens])

    def list_index(tokens, vocabulary, table):
        words = list(vocabulary)
        return np.array([table[words.index(t)] for t in tokens])

    def one_sentence_only(tokens, vocabulary, table):
        index = {word: i for i, word in enumerate(vocabulary)}
        rows = []
        for t in tokens:
            rows.append(np.zeros(table.shape[1]) if t == "<pad>" else table[index.get(t, 1)])
        return np.array(rows)

    def argmax_without_any(tokens, vocabulary, table):
        ids = (tokens[..., None] == vocabulary).argmax(-1)
        return np.where((tokens == "<pad>")[..., None], 0, table[ids])

    def one_hot_without_unknown(tokens, vocabulary, table):
        one_hot = (tokens[..., None] == vocabulary).astype(float)
        one_hot[..., 0] = 0
        return one_hot @ table

    def searchsorted(tokens, vocabulary, table):
        ids = np.searchsorted(vocabulary, tokens)
        ids = np.clip(ids, 0, len(vocabulary) - 1)
        return np.where((tokens == "<pad>")[..., None], 0, table[ids])

    def skips_unknown(tokens, vocabulary, table):
        index = {word: i for i, word in enumerate(vocabulary)}
        rows = [table[index[t]] for t in tokens.ravel() if t in index]
        return np.array(rows)

    def skips_padding(tokens, vocabulary, table):
        index = {word: i for i, word in enumerate(vocabulary)}
        return np.array([table[index.get(t, 1)] for t in tokens.ravel() if t != "<pad>"])

    def flat_batch(tokens, vocabulary, table):
        index = {word: i for i, word in enumerate(vocabulary)}
        table = table.copy()
        table[0] = 0
        return np.array([table[index.get(t, 1)] for t in tokens.ravel()])

    def compares_without_an_axis(tokens, vocabulary, table):
        ids = np.where(tokens == vocabulary, np.arange(len(vocabulary)), 1)
        return table[ids]

    def condition_on_an_array(tokens, vocabulary, table):
        if tokens in vocabulary:
            return table[np.where(vocabulary == tokens)]
        return table[1]

    def off_by_one(tokens, vocabulary, table):
        index = {word: i + 1 for i, word in enumerate(vocabulary)}
        ids = np.vectorize(lambda t: index.get(t, 2))(tokens) - 2
        return np.where((tokens == "<pad>")[..., None], 0, table[ids])

    def unknown_mean(tokens, vocabulary, table):
        index = {word: i for i, word in enumerate(vocabulary)}
        table = np.vstack([table, table.mean(0)])
        table[0] = 0
        return table[np.vectorize(lambda t: index.get(t, len(vocabulary)))(tokens)]

    def scales_by_root(tokens, vocabulary, table):
        index = {word: i for i, word in enumerate(vocabulary)}
        ids = np.vectorize(lambda t: index.get(t, 1))(tokens)
        vectors = table[ids] * np.sqrt(table.shape[1])
        return np.where((tokens == "<pad>")[..., None], 0, vectors)


class cosine_similarity:
    def right_unit(a, b):
        na = np.linalg.norm(a, axis=-1, keepdims=True)
        nb = np.linalg.norm(b, axis=-1, keepdims=True)
        return (a / np.where(na == 0, 1, na)) @ (b / np.where(nb == 0, 1, nb)).mT

    def right_einsum(a, b):
        dots = np.einsum("...nd,...md->...nm", a, b)
        sizes = np.sqrt(np.einsum("...nd,...nd->...n", a, a))[..., :, None]
        sizes = sizes * np.sqrt(np.einsum("...md,...md->...m", b, b))[..., None, :]
        return np.divide(dots, sizes, out=np.zeros_like(dots), where=sizes > 0)

    def dot_product(a, b):
        return a @ b.mT

    dot_product.slips = r"""
    whole_norm: a @ b.mT ==> (a @ b.mT) / (np.linalg.norm(a) * np.linalg.norm(b))
    forgets_b: return a @ b.mT ==> na = np.linalg.norm(a, axis=-1, keepdims=True)\n    return np.nan_to_num((a @ b.mT) / na)
    """

    def nan_for_zero(a, b):
        na = np.linalg.norm(a, axis=-1, keepdims=True)
        nb = np.linalg.norm(b, axis=-1, keepdims=True)
        return (a @ b.mT) / (na * nb.mT)

    nan_for_zero.slips = r"""
    small_constant: na * nb.mT ==> na * nb.mT + 1e-8
    capital_t: (a @ b.mT) / (na * nb.mT) ==> np.nan_to_num((a @ b.T) / (na * nb.T))
    angle: (a @ b.mT) / (na * nb.mT) ==> np.arccos(np.clip(np.nan_to_num((a @ b.mT) / (na * nb.mT)), -1, 1))
    cosine_distance: (a @ b.mT) / (na * nb.mT) ==> 1 - np.nan_to_num((a @ b.mT) / (na * nb.mT))
    transposed_result: (a @ b.mT) / (na * nb.mT) ==> np.nan_to_num((b @ a.mT) / (nb * na.mT))
    absolute: (a @ b.mT) / (na * nb.mT) ==> np.abs(np.nan_to_num((a @ b.mT) / (na * nb.mT)))
    one_for_zero: (a @ b.mT) / (na * nb.mT) ==> np.nan_to_num((a @ b.mT) / (na * nb.mT), nan=1.0)
    sum_of_norms: (a @ b.mT) / (na * nb.mT) ==> np.nan_to_num((a @ b.mT) / (na + nb.mT))
    condition_on_norms: return ==> if na == 0 or nb == 0:\n        return 0\n    return
    """

    def larger_constant(a, b):
        na = np.linalg.norm(a, axis=-1, keepdims=True) + 1e-3
        nb = np.linalg.norm(b, axis=-1, keepdims=True) + 1e-3
        return (a / na) @ (b / nb).mT

    def squares_not_rooted(a, b):
        na = (a**2).sum(-1, keepdims=True)
        nb = (b**2).sum(-1, keepdims=True)
        return np.nan_to_num((a @ b.mT) / (na * nb.mT))

    def manhattan(a, b):
        na = np.abs(a).sum(-1, keepdims=True)
        nb = np.abs(b).sum(-1, keepdims=True)
        return np.nan_to_num((a @ b.mT) / (na * nb.mT))

    def no_keepdims(a, b):
        na = np.linalg.norm(a, axis=-1)
        nb = np.linalg.norm(b, axis=-1)
        return np.nan_to_num((a @ b.mT) / (na * nb))

    no_keepdims.slips = """
    pairs_in_order: np.nan_to_num((a @ b.mT) / (na * nb)) ==> (a * b).sum(-1) / (na * nb)
    """

    def axis_minus_2(a, b):
        na = np.linalg.norm(a, axis=-2, keepdims=True)
        nb = np.linalg.norm(b, axis=-2, keepdims=True)
        return np.nan_to_num((a / na) @ (b / nb).mT)

    axis_minus_2.slips = """
    wrong_axis: -2, keepdims=True ==> 0
    """

    def forgets_a(a, b):
        nb = np.linalg.norm(b, axis=-1, keepdims=True)
        return np.nan_to_num((a @ b.mT) / nb.mT)

    def two_loops(a, b):
        out = np.zeros((len(a), len(b)))
        for i in range(len(a)):
            for j in range(len(b)):
                n = np.linalg.norm(a[i]) * np.linalg.norm(b[j])
                out[i, j] = a[i] @ b[j] / n if n > 0 else 0
        return out

    def centred(a, b):
        a = a - a.mean(-1, keepdims=True)
        b = b - b.mean(-1, keepdims=True)
        na = np.linalg.norm(a, axis=-1, keepdims=True)
        nb = np.linalg.norm(b, axis=-1, keepdims=True)
        return np.nan_to_num((a @ b.mT) / (na * nb.mT))

    def divides_in_place(a, b):
        a /= np.linalg.norm(a, axis=-1, keepdims=True)
        b /= np.linalg.norm(b, axis=-1, keepdims=True)
        return np.nan_to_num(a @ b.mT)


class rating_gradients:
    def right_where(ratings, known, users, films):
        error = np.where(known, users @ films.T - ratings, 0)
        return error @ films, error.T @ users

    right_where.slips = """
    wrong_sign: users @ films.T - ratings ==> ratings - users @ films.T
    factor_two: error @ films ==> 2 * error @ films && error.T ==> 2 * error.T
    every_rating: np.where(known, users @ films.T - ratings, 0) ==> users @ films.T - np.nan_to_num(ratings)
    multiplies_nan: np.where(known, users @ films.T - ratings, 0) ==> (users @ films.T - ratings) * known
    swapped: error @ films, error.T @ users ==> error.T @ users, error @ films
    no_transpose: error.T ==> error
    half: np.where(known, users @ films.T - ratings, 0) ==> 0.5 * np.where(known, users @ films.T - ratings, 0)
    rows_and_columns_confused: error @ films, error.T @ users ==> error @ users, error.T @ films
    returns_stepped_vectors: error @ films, error.T @ users ==> users - 0.1 * error @ films, films - 0.1 * error.T @ users
    squared_error: users @ films.T - ratings ==> (users @ films.T - ratings) ** 2
    prediction_only: users @ films.T - ratings ==> users @ films.T
    only_users: error @ films, error.T @ users ==> error @ films
    forgets_to_transpose_films: films.T ==> films
    keeps_only_known_as_vector: np.where(known, users @ films.T - ratings, 0) ==> (users @ films.T - ratings)[known]
    regularised: error @ films, error.T @ users ==> error @ films + users, error.T @ users + films
    returns_loss_too: error @ films, error.T @ users ==> (error**2).sum() / 2, error @ films, error.T @ users
    """

    def right_loop(ratings, known, users, films):
        du, df = np.zeros(users.shape), np.zeros(films.shape)
        for i, j in np.argwhere(known):
            e = np.dot(users[i], films[j]) - ratings[i, j]
            du[i] += e * films[j]
            df[j] += e * users[i]
        return du, df

    def mean_of_known(ratings, known, users, films):
        error = np.where(known, users @ films.T - ratings, 0) / known.sum()
        return error @ films, error.T @ users

    mean_of_known.slips = """
    masks_the_prediction_not_the_rating: T - ratings ==> T && / known.sum() ==> - ratings
    mean_of_all: known.sum() ==> ratings.size
    """

    def users_updated_first(ratings, known, users, films):
        error = np.where(known, users @ films.T - ratings, 0)
        du = error @ films
        new = users - 0.1 * du
        error = np.where(known, new @ films.T - ratings, 0)
        return du, error.T @ new

    def updates_in_place(ratings, known, users, films):
        error = np.where(known, users @ films.T - ratings, 0)
        du, df = error @ films, error.T @ users
        users -= 0.1 * du
        films -= 0.1 * df
        return du, df

    def unknown_mask_inverted(ratings, known, users, films):
        error = np.where(~known, users @ films.T - np.nan_to_num(ratings), 0)
        return error @ films, error.T @ users

    def loop_overwrites(ratings, known, users, films):
        du, df = np.zeros(users.shape), np.zeros(films.shape)
        for i, j in np.argwhere(known):
            e = users[i] @ films[j] - ratings[i, j]
            du[i] = e * films[j]
            df[j] = e * users[i]
        return du, df

    def mean_per_user(ratings, known, users, films):
        error = np.where(known, users @ films.T - ratings, 0)
        du = error @ films / known.sum(1, keepdims=True)
        df = error.T @ users / known.sum(0)[:, None]
        return du, df

    def zero_means_unknown(ratings, known, users, films):
        error = np.where(ratings != 0, users @ films.T - ratings, 0)
        return error @ films, error.T @ users
