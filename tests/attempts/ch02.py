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

    def pad_is_row_0(tokens, vocabulary, table):
        index = {word: i for i, word in enumerate(vocabulary)}
        ids = np.vectorize(lambda t: index.get(t, 1))(tokens)
        return table[ids]

    def writes_zeros_into_the_table(tokens, vocabulary, table):
        index = {word: i for i, word in enumerate(vocabulary)}
        table[0] = 0
        ids = np.vectorize(lambda t: index.get(t, 1))(tokens)
        return table[ids]

    def unknown_is_zero(tokens, vocabulary, table):
        index = {word: i for i, word in enumerate(vocabulary)}
        ids = np.vectorize(lambda t: index.get(t, 0))(tokens)
        return table[ids] * (tokens != "<pad>")[..., None]

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

    def returns_ids(tokens, vocabulary, table):
        index = {word: i for i, word in enumerate(vocabulary)}
        return np.vectorize(lambda t: index.get(t, 1))(tokens)

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

    def unknown_zeroed_too(tokens, vocabulary, table):
        index = {word: i for i, word in enumerate(vocabulary)}
        ids = np.vectorize(lambda t: index.get(t, 1))(tokens)
        return np.where((ids >= 2)[..., None], table[ids], 0)

    def unknown_mean(tokens, vocabulary, table):
        index = {word: i for i, word in enumerate(vocabulary)}
        table = np.vstack([table, table.mean(0)])
        table[0] = 0
        return table[np.vectorize(lambda t: index.get(t, len(vocabulary)))(tokens)]

    def transposed_rows(tokens, vocabulary, table):
        index = {word: i for i, word in enumerate(vocabulary)}
        ids = np.vectorize(lambda t: index.get(t, 1))(tokens)
        return np.where((tokens == "<pad>")[..., None], 0, table[:, ids])

    def pad_without_an_axis(tokens, vocabulary, table):
        index = {word: i for i, word in enumerate(vocabulary)}
        ids = np.vectorize(lambda t: index.get(t, 1))(tokens)
        return np.where(tokens == "<pad>", 0, table[ids])

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

    def nan_for_zero(a, b):
        na = np.linalg.norm(a, axis=-1, keepdims=True)
        nb = np.linalg.norm(b, axis=-1, keepdims=True)
        return (a @ b.mT) / (na * nb.mT)

    def small_constant(a, b):
        na = np.linalg.norm(a, axis=-1, keepdims=True)
        nb = np.linalg.norm(b, axis=-1, keepdims=True)
        return (a @ b.mT) / (na * nb.mT + 1e-8)

    def larger_constant(a, b):
        na = np.linalg.norm(a, axis=-1, keepdims=True) + 1e-3
        nb = np.linalg.norm(b, axis=-1, keepdims=True) + 1e-3
        return (a / na) @ (b / nb).mT

    def whole_norm(a, b):
        return (a @ b.mT) / (np.linalg.norm(a) * np.linalg.norm(b))

    def squares_not_rooted(a, b):
        na = (a**2).sum(-1, keepdims=True)
        nb = (b**2).sum(-1, keepdims=True)
        return np.nan_to_num((a @ b.mT) / (na * nb.mT))

    def capital_t(a, b):
        na = np.linalg.norm(a, axis=-1, keepdims=True)
        nb = np.linalg.norm(b, axis=-1, keepdims=True)
        return np.nan_to_num((a @ b.T) / (na * nb.T))

    def no_keepdims(a, b):
        na = np.linalg.norm(a, axis=-1)
        nb = np.linalg.norm(b, axis=-1)
        return np.nan_to_num((a @ b.mT) / (na * nb))

    def wrong_axis(a, b):
        na = np.linalg.norm(a, axis=0)
        nb = np.linalg.norm(b, axis=0)
        return np.nan_to_num((a / na) @ (b / nb).mT)

    def axis_minus_2(a, b):
        na = np.linalg.norm(a, axis=-2, keepdims=True)
        nb = np.linalg.norm(b, axis=-2, keepdims=True)
        return np.nan_to_num((a / na) @ (b / nb).mT)

    def forgets_a(a, b):
        nb = np.linalg.norm(b, axis=-1, keepdims=True)
        return np.nan_to_num((a @ b.mT) / nb.mT)

    def forgets_b(a, b):
        na = np.linalg.norm(a, axis=-1, keepdims=True)
        return np.nan_to_num((a @ b.mT) / na)

    def pairs_in_order(a, b):
        na = np.linalg.norm(a, axis=-1)
        nb = np.linalg.norm(b, axis=-1)
        return (a * b).sum(-1) / (na * nb)

    def angle(a, b):
        na = np.linalg.norm(a, axis=-1, keepdims=True)
        nb = np.linalg.norm(b, axis=-1, keepdims=True)
        return np.arccos(np.clip(np.nan_to_num((a @ b.mT) / (na * nb.mT)), -1, 1))

    def cosine_distance(a, b):
        na = np.linalg.norm(a, axis=-1, keepdims=True)
        nb = np.linalg.norm(b, axis=-1, keepdims=True)
        return 1 - np.nan_to_num((a @ b.mT) / (na * nb.mT))

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

    def transposed_result(a, b):
        na = np.linalg.norm(a, axis=-1, keepdims=True)
        nb = np.linalg.norm(b, axis=-1, keepdims=True)
        return np.nan_to_num((b @ a.mT) / (nb * na.mT))

    def absolute(a, b):
        na = np.linalg.norm(a, axis=-1, keepdims=True)
        nb = np.linalg.norm(b, axis=-1, keepdims=True)
        return np.abs(np.nan_to_num((a @ b.mT) / (na * nb.mT)))

    def divides_in_place(a, b):
        a /= np.linalg.norm(a, axis=-1, keepdims=True)
        b /= np.linalg.norm(b, axis=-1, keepdims=True)
        return np.nan_to_num(a @ b.mT)

    def one_for_zero(a, b):
        na = np.linalg.norm(a, axis=-1, keepdims=True)
        nb = np.linalg.norm(b, axis=-1, keepdims=True)
        return np.nan_to_num((a @ b.mT) / (na * nb.mT), nan=1.0)

    def sum_of_norms(a, b):
        na = np.linalg.norm(a, axis=-1, keepdims=True)
        nb = np.linalg.norm(b, axis=-1, keepdims=True)
        return np.nan_to_num((a @ b.mT) / (na + nb.mT))

    def manhattan(a, b):
        na = np.abs(a).sum(-1, keepdims=True)
        nb = np.abs(b).sum(-1, keepdims=True)
        return np.nan_to_num((a @ b.mT) / (na * nb.mT))

    def condition_on_norms(a, b):
        na = np.linalg.norm(a, axis=-1, keepdims=True)
        nb = np.linalg.norm(b, axis=-1, keepdims=True)
        if na == 0 or nb == 0:
            return 0
        return (a @ b.mT) / (na * nb.mT)


class rating_gradients:
    def right_where(ratings, known, users, films):
        error = np.where(known, users @ films.T - ratings, 0)
        return error @ films, error.T @ users

    def right_loop(ratings, known, users, films):
        du, df = np.zeros(users.shape), np.zeros(films.shape)
        for i, j in np.argwhere(known):
            e = np.dot(users[i], films[j]) - ratings[i, j]
            du[i] += e * films[j]
            df[j] += e * users[i]
        return du, df

    def wrong_sign(ratings, known, users, films):
        error = np.where(known, ratings - users @ films.T, 0)
        return error @ films, error.T @ users

    def factor_two(ratings, known, users, films):
        error = np.where(known, users @ films.T - ratings, 0)
        return 2 * error @ films, 2 * error.T @ users

    def mean_of_known(ratings, known, users, films):
        error = np.where(known, users @ films.T - ratings, 0) / known.sum()
        return error @ films, error.T @ users

    def every_rating(ratings, known, users, films):
        error = users @ films.T - np.nan_to_num(ratings)
        return error @ films, error.T @ users

    def multiplies_nan(ratings, known, users, films):
        error = (users @ films.T - ratings) * known
        return error @ films, error.T @ users

    def swapped(ratings, known, users, films):
        error = np.where(known, users @ films.T - ratings, 0)
        return error.T @ users, error @ films

    def no_transpose(ratings, known, users, films):
        error = np.where(known, users @ films.T - ratings, 0)
        return error @ films, error @ users

    def half(ratings, known, users, films):
        error = 0.5 * np.where(known, users @ films.T - ratings, 0)
        return error @ films, error.T @ users

    def rows_and_columns_confused(ratings, known, users, films):
        error = np.where(known, users @ films.T - ratings, 0)
        return error @ users, error.T @ films

    def returns_stepped_vectors(ratings, known, users, films):
        error = np.where(known, users @ films.T - ratings, 0)
        return users - 0.1 * error @ films, films - 0.1 * error.T @ users

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

    def squared_error(ratings, known, users, films):
        error = np.where(known, (users @ films.T - ratings) ** 2, 0)
        return error @ films, error.T @ users

    def prediction_only(ratings, known, users, films):
        error = np.where(known, users @ films.T, 0)
        return error @ films, error.T @ users

    def masks_the_prediction_not_the_rating(ratings, known, users, films):
        error = np.where(known, users @ films.T, 0) - ratings
        return error @ films, error.T @ users

    def unknown_mask_inverted(ratings, known, users, films):
        error = np.where(~known, users @ films.T - np.nan_to_num(ratings), 0)
        return error @ films, error.T @ users

    def only_users(ratings, known, users, films):
        error = np.where(known, users @ films.T - ratings, 0)
        return error @ films

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

    def forgets_to_transpose_films(ratings, known, users, films):
        error = np.where(known, users @ films - ratings, 0)
        return error @ films, error.T @ users

    def keeps_only_known_as_vector(ratings, known, users, films):
        error = (users @ films.T - ratings)[known]
        return error @ films, error.T @ users

    def mean_of_all(ratings, known, users, films):
        error = np.where(known, users @ films.T - ratings, 0) / ratings.size
        return error @ films, error.T @ users

    def zero_means_unknown(ratings, known, users, films):
        error = np.where(ratings != 0, users @ films.T - ratings, 0)
        return error @ films, error.T @ users

    def regularised(ratings, known, users, films):
        error = np.where(known, users @ films.T - ratings, 0)
        return error @ films + users, error.T @ users + films

    def returns_loss_too(ratings, known, users, films):
        error = np.where(known, users @ films.T - ratings, 0)
        return (error**2).sum() / 2, error @ films, error.T @ users
