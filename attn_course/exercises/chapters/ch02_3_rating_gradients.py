"""Chapter 2, `rating_gradients`: one step of a recommender, and the ways to get it wrong."""

import numpy as np

from attn_course.exercises.spec import Exercise


def errors(ratings, known, users, films):
    """Return how much each prediction exceeds its rating, and 0 where there is no rating."""
    return np.where(known, users @ films.T - ratings, 0)


def rating_gradients(ratings, known, users, films):
    """Return the derivatives of half the sum of squared errors by users and by films."""
    error = errors(ratings, known, users, films)
    return error @ films, error.T @ users


def cases(seed):
    """Return inputs for `rating_gradients`: all known, some missing as 0, some as NaN.

    Parameters
    ----------
    seed : int
        Seed of the random numbers; the shapes are always the same.

    Returns
    -------
    list of dict
        With the keys ``ratings``, ``known``, ``users`` and ``films``.
    """
    rng = np.random.default_rng(seed)

    def case(n_users, n_films, d, missing=None):
        while True:
            ratings = rng.uniform(-0.8, 0.8, (n_users, n_films))
            known = np.full((n_users, n_films), True)
            if missing is not None:
                known = rng.random((n_users, n_films)) < 0.6
                ratings = np.where(known, ratings, missing)
            users, films = (rng.uniform(-0.6, 0.6, (n, d)) for n in (n_users, n_films))
            some = 0 < known.sum() < known.size or missing is None
            # Everybody rated something, and users differ in their number of ratings, or `per_row`
            # would only multiply by one number, as other mistakes do.
            uneven = missing is None or len(set(known.sum(axis=1))) > 1
            full = known.any(axis=0).all() and known.any(axis=1).all()
            gradients = rating_gradients(ratings, known, users, films)
            if some and uneven and full and max(np.abs(g).max() for g in gradients) < 0.9:
                return {"ratings": ratings, "known": known, "users": users, "films": films}

    return [
        case(3, 2, 2),
        case(3, 3, 2),
        case(2, 4, 3),
        case(4, 3, 2, missing=0),
        case(3, 5, 2, missing=0),
        case(4, 4, 3, missing=np.nan),
        case(5, 4, 2, missing=np.nan),
    ]


# The wrong functions. Each has wrong errors, or computes wrong gradients from the right errors.


def of(error):
    """Return a function that computes the gradients correctly from the errors of `error`."""

    def gradients(ratings, known, users, films):
        e = error(ratings, known, users, films)
        return e @ films, e.T @ users

    return gradients


def times(factor):
    """Return a function that multiplies both gradients by `factor(known)`."""

    def gradients(ratings, known, users, films):
        by_users, by_films = rating_gradients(ratings, known, users, films)
        number = factor(known)
        return number * by_users, number * by_films

    return gradients


def missing_as_zero(ratings, known, users, films):
    return users @ films.T - np.where(known, ratings, 0)


def untransposed(ratings, known, users, films):
    error = errors(ratings, known, users, films)
    return error @ films, error @ users


def one_after_the_other(rate, *, same_errors):
    """Return a function that updates the users' vectors before it computes the films' gradient."""

    def gradients(ratings, known, users, films):
        by_users, _ = rating_gradients(ratings, known, users, films)
        moved = users - rate * by_users
        error = errors(ratings, known, users if same_errors else moved, films)
        return by_users, error.T @ moved

    return gradients


def own_vectors(ratings, known, users, films):
    error = errors(ratings, known, users, films)
    return users * error.sum(1, keepdims=True), films * error.sum(0)[:, None]


def per_row(ratings, known, users, films):
    by_users, by_films = rating_gradients(ratings, known, users, films)
    return by_users / known.sum(1, keepdims=True), by_films / known.sum(0)[:, None]


def stepped(ratings, known, users, films):
    by_users, by_films = rating_gradients(ratings, known, users, films)
    return users - by_users, films - by_films


def with_decay(ratings, known, users, films):
    by_users, by_films = rating_gradients(ratings, known, users, films)
    return by_users + users, by_films + films


def last_rating_kept(ratings, known, users, films):
    """Overwrite each row of the gradients with one rating's contribution, instead of adding it."""
    error = errors(ratings, known, users, films)
    by_users, by_films = np.zeros(users.shape), np.zeros(films.shape)
    for i, j in np.argwhere(known):
        by_users[i], by_films[j] = error[i, j] * films[j], error[i, j] * users[i]
    return by_users, by_films


def films_untransposed(ratings, known, users, films):
    error = np.where(known, users @ films - ratings, 0)
    return error @ films, error.T @ users


MISTAKES = {
    "ignores_known": (
        of(lambda ratings, known, users, films: users @ films.T - ratings),
        of(lambda ratings, known, users, films: np.nan_to_num(users @ films.T - ratings)),
        of(missing_as_zero),
    ),
    "nan_times_zero": (
        of(lambda ratings, known, users, films: known * (users @ films.T - ratings)),
    ),
    "sign": (times(lambda known: -1),),
    "factor_two": (times(lambda known: 2),),
    "half": (times(lambda known: 0.5),),
    "mean": tuple(
        times(lambda known, top=top, count=count: top / count(known))
        for top in (1, 2)
        for count in (np.sum, np.size)
    ),
    "mean_per_row": (per_row,),
    "swapped": (
        lambda ratings, known, users, films: rating_gradients(ratings, known, users, films)[::-1],
    ),
    "no_transpose": (untransposed,),
    "own_vectors": (own_vectors,),
    "one_after_the_other": tuple(
        one_after_the_other(rate, same_errors=same_errors)
        for rate in (1, 0.5, 0.1, 0.05, 0.02, 0.01, 0.005, 0.001)
        for same_errors in (False, True)
    ),
    "stepped": (
        *(
            lambda ratings, known, users, films, rate=rate: (
                users - rate * rating_gradients(ratings, known, users, films)[0],
                films - rate * rating_gradients(ratings, known, users, films)[1],
            )
            for rate in (0.5, 0.1, 0.01)
        ),
        stepped,
    ),
    "inverted": (
        of(
            lambda ratings, known, users, films: np.where(
                known, 0, users @ films.T - np.nan_to_num(ratings)
            )
        ),
    ),
    "no_prediction": (
        of(lambda ratings, known, users, films: np.where(known, -ratings, 0)),
        of(lambda ratings, known, users, films: np.where(known, users @ films.T, 0)),
    ),
    "wrong_power": (
        of(lambda *inputs: errors(*inputs) ** 2),
        of(lambda *inputs: np.sign(errors(*inputs))),
        of(lambda *inputs: np.abs(errors(*inputs))),
    ),
    "decay": (with_decay,),
    "last_rating_kept": (last_rating_kept,),
    "films_untransposed": (films_untransposed,),
}

EXERCISE = Exercise.from_file(
    __file__, ("user_gradients", "film_gradients"), rating_gradients, cases, MISTAKES
)
