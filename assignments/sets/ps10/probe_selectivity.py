"""Problem set 10, `probe_selectivity`: a probe and its control task, and ways to be fooled by them."""

import numpy as np

from attn_course.exercises.spec import Exercise


def probe_selectivity(features, labels, ids, control, n_train, penalty):
    """Return a linear probe, how often it is right, and how much of that its control task has not.

    Parameters
    ----------
    features : array, shape (n, d)
    labels : array of int, shape (n,)
        0 or 1: what the probe is to read.
    ids : array of int, shape (n,)
        The word of each token.
    control : array of int, shape (vocab_size,)
        0 or 1 for each word, by chance.
    n_train : int
        The first tokens, on which probes are fitted; the rest measure them.
    penalty : float

    Returns
    -------
    weights : array, shape (d,)
    accuracy, selectivity : float

    References
    ----------
    Hewitt and Liang (2019), Designing and Interpreting Probes with Control Tasks.
    """
    return _probe(features, labels, ids, control, n_train, penalty)


def _split(features, n_train):
    return slice(n_train), slice(n_train, None)


def _signs(labels):
    return 2 * labels - 1


def _fit(x, y, penalty):
    return np.linalg.solve(x.T @ x + penalty * np.eye(x.shape[1]), x.T @ y)


def _right(scores, labels):
    return ((scores > 0) == labels).mean()


def _probe(
    features,
    labels,
    ids,
    control,
    n_train,
    penalty,
    *,
    split=_split,
    target=_signs,
    fit=_fit,
    right=_right,
    other=lambda labels, ids, control: control[ids],
    same_probe=False,
    compare=lambda accuracy, controlled: accuracy - controlled,
    give=0,
):
    """Fit both probes, with the given parts replaced."""
    train, test = split(features, n_train)
    fitted, rates = [], []
    for wanted in (labels, other(labels, ids, control)):
        w = fit(features[train], target(wanted[train]), penalty)
        fitted.append(fitted[0] if same_probe and fitted else w)
        rates.append(right(features[test] @ fitted[-1], wanted[test]))
    return fitted[give], rates[0], compare(*rates)


def cases(seed):
    """Return probes without a penalty and with one, and with words that training never showed.

    Parameters
    ----------
    seed : int
        Seed of the random numbers, and of the sizes of some inputs.

    Returns
    -------
    list of dict
        With the keys ``features``, ``labels``, ``ids``, ``control``, ``n_train`` and ``penalty``.
    """
    rng = np.random.default_rng(seed)

    def once(n_train, n_test, d, vocab_size, penalty, new):
        vectors, direction = rng.normal(size=(vocab_size, d)), rng.normal(size=d)
        n = n_train + n_test
        ids = rng.integers(vocab_size, size=n)
        if new:  # the second half of the words comes in the tokens that measure, and only there
            ids[:n_train] %= vocab_size // 2
        features = vectors[ids] + 0.7 * rng.normal(size=(n, d)) + 0.4
        labels = (features @ direction + rng.normal(size=n) > 0.8).astype(int)
        return {
            "features": features,
            "labels": labels,
            "ids": ids,
            "control": rng.permutation(np.arange(vocab_size) % 2),
            "n_train": np.array(n_train),
            "penalty": np.float64(penalty),
        }

    def draw(n_train, n_test, d, vocab_size, *, penalty=0.0, new=False):
        """Draw until nothing is perfect, both probes differ and no score is near the limit."""
        while True:
            case = once(n_train, n_test, d, vocab_size, penalty, new)
            weights, accuracy, selectivity = probe_selectivity(**case)
            scores = case["features"] @ weights
            seen = [len(set(part.tolist())) for part in np.split(case["labels"], [n_train])]
            if new == (set(case["ids"][n_train:]) <= set(case["ids"][:n_train])):
                continue
            imperfect = 0.55 < accuracy < 0.97 and abs(selectivity) > 0.05
            if imperfect and min(seen) > 1 and np.abs(scores).min() > 1e-3:
                return case

    return [
        draw(12, 9, 3, 5),
        draw(20, 13, 4, 6),
        draw(25, 21, 5, 8),
        draw(30, 31, 4, 7),
        draw(16, 17, 4, 6, penalty=6.0),
        draw(7, 15, 8, 4, penalty=2.0),
        draw(24, 23, 6, 9, penalty=20.0),
        draw(20, 19, 4, 8, new=True),
        draw(26, 25, 5, 10, new=True),
        draw(*rng.integers((20, 15, 3, 5), (31, 26, 6, 9))),
    ]


def _wrong(**how):
    return lambda *arguments: _probe(*arguments, **how)


def _zero_one(labels):
    return labels.astype(float)


def _above_half(scores, labels):
    return ((scores > 0.5) == labels).mean()


def _by_correlation(x, y, penalty):
    return x.T @ y


def _penalty_per_token(x, y, penalty):
    return _fit(x, y, penalty * len(x))


def _no_penalty(x, y, penalty):
    return np.linalg.lstsq(x, y)[0]


def _with_mean_taken_away(x, y, penalty):
    return _fit(x - x.mean(axis=0), y, penalty)


def _seen_words_only(features, labels, ids, control, n_train, penalty):
    known = {word: control[word] for word in ids[:n_train].tolist()}
    _ = [known[word] for word in ids.tolist()]  # raises for a word that is not in the training set
    return probe_selectivity(features, labels, ids, control, n_train, penalty)


MISTAKES = {
    "measured_on_the_training_tokens": (_wrong(split=lambda features, n: (slice(n), slice(n))),),
    "fitted_on_everything": (_wrong(split=lambda features, n: (slice(None), slice(n, None))),),
    "measured_on_everything": (_wrong(split=lambda features, n: (slice(n), slice(None))),),
    "parts_exchanged": (_wrong(split=lambda features, n: (slice(n, None), slice(n))),),
    "control_by_place": (_wrong(other=lambda labels, ids, control: np.resize(control, len(ids))),),
    "control_with_the_same_probe": (_wrong(same_probe=True),),
    "weights_of_the_control": (_wrong(give=1),),
    "control_accuracy": (_wrong(compare=lambda accuracy, controlled: controlled),),
    "difference_reversed": (_wrong(compare=lambda accuracy, controlled: controlled - accuracy),),
    "ratio": (_wrong(compare=lambda accuracy, controlled: accuracy / max(controlled, 1e-9)),),
    "above_chance": (_wrong(compare=lambda accuracy, controlled: accuracy - 0.5),),
    "zero_and_one": (
        _wrong(target=_zero_one),
        _wrong(target=_zero_one, right=_above_half),
    ),
    "limit_at_a_half": (_wrong(right=_above_half),),
    "errors_counted": (_wrong(right=lambda scores, labels: 1 - _right(scores, labels)),),
    "not_solved": (_wrong(fit=_by_correlation),),
    "mean_taken_away": (_wrong(fit=_with_mean_taken_away),),
    "penalty_forgotten": (_wrong(fit=_no_penalty),),
    "penalty_per_token": (_wrong(fit=_penalty_per_token),),
    "unseen_words": (_seen_words_only,),
}

EXERCISE = Exercise.from_file(
    __file__, ("weights", "accuracy", "selectivity"), probe_selectivity, cases, MISTAKES
)
