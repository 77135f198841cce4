"""Chapter 2, `rating_gradients`: one step of a recommender, and the ways to get it wrong."""

import numpy as np

from attn.exercises.spec import Exercise, Misconception


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
            # Everybody rated something, not everybody as much: else two mistakes look alike.
            uneven = missing is None or len(set(known.sum(axis=1))) > 1
            full = known.any(axis=0).all() and known.any(axis=1).all()
            gradients = rating_gradients(ratings, known, users, films)
            if some and uneven and full and max(np.abs(g).max() for g in gradients) < 0.9:
                return {"ratings": ratings, "known": known, "users": users, "films": films}

    return [
        case(3, 2, 2), case(3, 3, 2), case(2, 4, 3),
        case(4, 3, 2, missing=0), case(3, 5, 2, missing=0),
        case(4, 4, 3, missing=np.nan), case(5, 4, 2, missing=np.nan),
    ]  # fmt: skip


# The wrong functions. Each takes the errors from somewhere and does something with them.


def of(error):
    """Return the function that uses these errors in the right way."""

    def gradients(ratings, known, users, films):
        e = error(ratings, known, users, films)
        return e @ films, e.T @ users

    return gradients


def times(factor):
    """Return the function that multiplies both gradients by a number."""

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


def one_after_the_other(ratings, known, users, films):
    by_users, _ = rating_gradients(ratings, known, users, films)
    return by_users, rating_gradients(ratings, known, users - by_users, films)[1]


def one_after_the_other_anew(ratings, known, users, films):
    by_users, _ = rating_gradients(ratings, known, users, films)
    return by_users, errors(ratings, known, users, films).T @ (users - by_users)


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


MISCONCEPTIONS = (
    Misconception(
        "ignores_known",
        (
            of(lambda ratings, known, users, films: users @ films.T - ratings),
            of(lambda ratings, known, users, films: np.nan_to_num(users @ films.T - ratings)),
            of(missing_as_zero),
        ),
        {
            "es": "Cuentas las valoraciones que faltan como si alguien las hubiera dado. Un hueco "
            "no es un cero: el error vale 0 donde `known` es falso, y así no mueve nada.",
            "en": "You count the missing ratings as if someone had given them. A gap is not a "
            "zero: the error is 0 where `known` is false, and so it moves nothing.",
        },
    ),
    Misconception(
        "nan_times_zero",
        (of(lambda ratings, known, users, films: known * (users @ films.T - ratings)),),
        {
            "es": "Multiplicas por `known` para borrar los huecos, pero 0 por NaN es NaN. Elige "
            "en vez de multiplicar: `np.where(known, predicted - ratings, 0)`.",
            "en": "You multiply by `known` to erase the gaps, but 0 times NaN is NaN. Choose "
            "instead of multiplying: `np.where(known, predicted - ratings, 0)`.",
        },
    ),
    Misconception(
        "sign",
        (times(lambda known: -1),),
        {
            "es": "El signo está al revés: el error es predicción menos valoración. El gradiente "
            "apunta hacia donde la pérdida sube; el signo menos lo pone después el paso de "
            "descenso.",
            "en": "The sign is reversed: the error is prediction minus rating. The gradient "
            "points where the loss goes up; the minus sign comes later, from the descent step.",
        },
    ),
    Misconception(
        "factor_two",
        (times(lambda known: 2),),
        {
            "es": "Te sobra un factor 2. La pérdida lleva un ½ delante, puesto ahí para que se "
            "cancele con el 2 que baja del cuadrado.",
            "en": "You have a factor of 2 too many. The loss has a ½ in front, put there to "
            "cancel the 2 that comes down from the square.",
        },
    ),
    Misconception(
        "half",
        (times(lambda known: 0.5),),
        {
            "es": "Te queda un ½ de más: es el de la pérdida, y se cancela con el 2 que aparece al "
            "derivar el cuadrado. La derivada de ½ e² respecto a e es e, sin factor.",
            "en": "A ½ is left over: it is the one in the loss, and it cancels with the 2 that "
            "differentiating the square brings. The derivative of ½ e² is e, with no factor.",
        },
    ),
    Misconception(
        "mean",
        tuple(
            times(lambda known, top=top, count=count: top / count(known))
            for top in (1, 2)
            for count in (np.sum, np.size)
        ),
        {
            "es": "Divides entre el número de valoraciones: eso es el gradiente de la media. La "
            "pérdida de este ejercicio es la suma, sin dividir entre nada.",
            "en": "You divide by the number of ratings: that is the gradient of the mean. The "
            "loss of this exercise is the sum, divided by nothing.",
        },
    ),
    Misconception(
        "mean_per_row",
        (per_row,),
        {
            "es": "Divides la fila de cada usuario, y la de cada película, entre cuántas "
            "valoraciones tiene. En la suma, quien valora más también empuja más.",
            "en": "You divide the row of each user, and of each film, by how many ratings it has. "
            "In the sum, whoever rates more also pushes more.",
        },
    ),
    Misconception(
        "swapped",
        (
            lambda ratings, known, users, films: rating_gradients(ratings, known, users, films)[
                ::-1
            ],
        ),
        {
            "es": "Devuelves los dos gradientes en el orden contrario. Primero va el de `users`, "
            "con su forma, y después el de `films`.",
            "en": "You return the two gradients in the opposite order. That of `users` comes "
            "first, with its shape, and then that of `films`.",
        },
    ),
    Misconception(
        "no_transpose",
        (untransposed,),
        {
            "es": "En el gradiente de las películas falta trasponer el error: cada película reúne "
            "su *columna* de errores, la de quienes la valoraron. Es `error.T @ users`.",
            "en": "The gradient of the films lacks a transpose: each film gathers its *column* of "
            "errors, that of those who rated it. It is `error.T @ users`.",
        },
    ),
    Misconception(
        "own_vectors",
        (own_vectors,),
        {
            "es": "Multiplicas el error de cada usuario por su propio vector. La derivada de u · f "
            "respecto a u es f: a cada usuario lo mueven las películas, y a cada película los "
            "usuarios.",
            "en": "You multiply the error of each user by their own vector. The derivative of u · "
            "f with respect to u is f: each user is moved by the films, and each film by the users.",
        },
    ),
    Misconception(
        "one_after_the_other",
        (one_after_the_other, one_after_the_other_anew),
        {
            "es": "El segundo gradiente usa los usuarios ya movidos. Los dos se calculan en el "
            "mismo punto, con los vectores que recibiste; mover es asunto de quien te llama.",
            "en": "The second gradient uses users already moved. Both are computed at one point, "
            "with the vectors you were given; moving them is up to whoever calls you.",
        },
    ),
    Misconception(
        "stepped",
        (stepped,),
        {
            "es": "Devuelves los vectores después de un paso de descenso. Se piden los "
            "gradientes: cuánto y hacia dónde crece la pérdida, sin mover nada todavía.",
            "en": "You return the vectors after a step of descent. The gradients are asked for: "
            "how much and which way the loss grows, with nothing moved yet.",
        },
    ),
    Misconception(
        "inverted",
        (
            of(
                lambda ratings, known, users, films: np.where(
                    known, 0, users @ films.T - np.nan_to_num(ratings)
                )
            ),
        ),
        {
            "es": "Usas `known` al revés: cuentas los huecos y borras las valoraciones. Es "
            "verdadero donde hay valoración: `np.where(known, error, 0)`.",
            "en": "You use `known` the wrong way round: you count the gaps and erase the ratings. "
            "It is true where there is a rating: `np.where(known, error, 0)`.",
        },
    ),
    Misconception(
        "no_prediction",
        (
            of(lambda ratings, known, users, films: np.where(known, -ratings, 0)),
            of(lambda ratings, known, users, films: np.where(known, users @ films.T, 0)),
        ),
        {
            "es": "Usas solo las valoraciones o solo las predicciones. El error es la diferencia "
            "entre ambas: si coinciden, nada debe moverse.",
            "en": "You use only the ratings or only the predictions. The error is the difference "
            "of the two: where they agree, nothing should move.",
        },
    ),
    Misconception(
        "wrong_power",
        (
            of(lambda *inputs: errors(*inputs) ** 2),
            of(lambda *inputs: np.sign(errors(*inputs))),
            of(lambda *inputs: np.abs(errors(*inputs))),
        ),
        {
            "es": "El error entra elevado al cuadrado, en valor absoluto o solo con su signo. La "
            "derivada de ½ e² es e: ni su cuadrado ni su signo.",
            "en": "The error comes in squared, as an absolute value or as its sign alone. The "
            "derivative of ½ e² is e: neither its square nor its sign.",
        },
    ),
    Misconception(
        "decay",
        (with_decay,),
        {
            "es": "Sumas los propios vectores al gradiente, como si la pérdida castigara su "
            "longitud. Es una buena idea contra el sobreajuste, pero esta pérdida no la lleva.",
            "en": "You add the vectors themselves to the gradient, as if the loss punished their "
            "length. That is a good idea against overfitting, but this loss does not have it.",
        },
    ),
)

EXERCISE = Exercise(
    id="rating_gradients",
    chapter=2,
    outputs=("user_gradients", "film_gradients"),
    oracle=rating_gradients,
    cases=cases,
    misconceptions=MISCONCEPTIONS,
)
