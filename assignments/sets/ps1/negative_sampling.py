"""Problem set 1, `negative_sampling`: how two vectors learn that their words stand together."""

import numpy as np

from attn_course.exercises.spec import Exercise


def negative_sampling(center, context, negatives):
    """Return the loss of one word beside another, and its three gradients."""
    return _loss_and_gradients(center, context, negatives)


def _sigmoid(x):
    return np.exp(-np.logaddexp(0, -x))


def _scores(center, context, negatives):
    return (center * context).sum(axis=-1), (negatives @ center[..., None])[..., 0]


def _gradients(center, context, negatives, of_context, of_negatives):
    """Return the gradients that follow from those with respect to the scores."""
    d_center = of_context[..., None] * context + (of_negatives[..., None, :] @ negatives)[..., 0, :]
    d_negatives = of_negatives[..., None] * center[..., None, :]
    return d_center, of_context[..., None] * center, d_negatives


def _loss_and_gradients(center, context, negatives):
    right, wrong = _scores(center, context, negatives)
    loss = np.logaddexp(0, -right) + np.logaddexp(0, wrong).sum(axis=-1)
    return loss, *_gradients(center, context, negatives, _sigmoid(right) - 1, _sigmoid(wrong))


def cases(seed):
    """Return vectors of a word, of its neighbour and of words drawn at random.

    Parameters
    ----------
    seed : int
        Seed of the random numbers, and of the sizes of some inputs.

    Returns
    -------
    list of dict
        With the keys ``center``, ``context`` and ``negatives``: single words, batches, and
        products so large that an exponential overflows.
    """
    rng = np.random.default_rng(seed)

    def draw(k, d, *batch):
        return {
            "center": rng.normal(size=(*batch, d)),
            "context": rng.normal(size=(*batch, d)),
            "negatives": rng.normal(size=(*batch, k, d)),
        }

    def large(k, d):
        case = draw(k, d)
        direction = case["center"] / np.linalg.norm(case["center"])
        case["center"] = direction * 40
        case["context"] = -direction * 40 + case["context"]
        case["negatives"][0] = direction * 40
        case["negatives"][1] = -direction * 40
        return case

    return [
        draw(2, 3),
        draw(3, 4),
        draw(4, 2),
        draw(5, 3),
        large(3, 4),
        large(2, 3),
        draw(3, 4, 2),
        draw(2, 3, 4),
        draw(4, 3, 2, 3),
        draw(*rng.integers(2, 7, 2)),
    ]


def _with_losses(loss):
    """Return a function whose gradients are right and whose loss is another."""

    def wrong(center, context, negatives):
        _, *gradients = negative_sampling(center, context, negatives)
        return loss(*_scores(center, context, negatives)), *gradients

    return wrong


def _with_scores(change):
    """Return a function that changes the gradients with respect to the scores."""

    def wrong(center, context, negatives):
        loss, *_ = negative_sampling(center, context, negatives)
        of = change(*_scores(center, context, negatives))
        return loss, *_gradients(center, context, negatives, *of)

    return wrong


def _with_gradients(change):
    def wrong(center, context, negatives):
        return change(*negative_sampling(center, context, negatives), center, context, negatives)

    return wrong


def _all_neighbours(center, context, negatives):
    right, wrong = _scores(center, context, negatives)
    loss = np.logaddexp(0, -right) + np.logaddexp(0, -wrong).sum(axis=-1)
    of = _sigmoid(right) - 1, _sigmoid(wrong) - 1
    return loss, *_gradients(center, context, negatives, *of)


def _swapped(center, context, negatives):
    right, wrong = _scores(center, context, negatives)
    loss = np.logaddexp(0, right) + np.logaddexp(0, -wrong).sum(axis=-1)
    of = _sigmoid(right), _sigmoid(wrong) - 1
    return loss, *_gradients(center, context, negatives, *of)


def _mean(center, context, negatives):
    right, wrong = _scores(center, context, negatives)
    loss = np.logaddexp(0, -right) + np.logaddexp(0, wrong).mean(axis=-1)
    of = _sigmoid(right) - 1, _sigmoid(wrong) / wrong.shape[-1]
    return loss, *_gradients(center, context, negatives, *of)


def _softmax(center, context, negatives):
    right, wrong = _scores(center, context, negatives)
    scores = np.concatenate([right[..., None], wrong], axis=-1)
    total = np.logaddexp.reduce(scores, axis=-1)
    weights = np.exp(scores - total[..., None])
    of = weights[..., 0] - 1, weights[..., 1:]
    return total - right, *_gradients(center, context, negatives, *of)


def _overflows(center, context, negatives):
    with np.errstate(all="ignore"):
        right, wrong = _scores(center, context, negatives)
        sigmoids = 1 / (1 + np.exp(-right)), 1 / (1 + np.exp(-wrong))
        loss = -np.log(sigmoids[0]) - np.log(1 - sigmoids[1]).sum(axis=-1)
    of = sigmoids[0] - 1, sigmoids[1]
    return loss, *_gradients(center, context, negatives, *of)


def _overflows_otherwise(center, context, negatives):
    with np.errstate(all="ignore"):
        right, wrong = _scores(center, context, negatives)
        loss = np.log(1 + np.exp(-right)) + np.log(1 + np.exp(wrong)).sum(axis=-1)
        of = 1 / (1 + np.exp(-right)) - 1, 1 / (1 + np.exp(-wrong))
    return loss, *_gradients(center, context, negatives, *of)


def _one_word(center, context, negatives):
    if center.ndim != 1:
        raise ValueError("matmul: Input operand 1 has a mismatch in its core dimension")
    return negative_sampling(center, context, negatives)


MISTAKES = {
    "all_neighbours": (_all_neighbours,),
    "swapped": (_swapped,),
    "ascent": (_with_gradients(lambda loss, a, b, c, *_: (loss, -a, -b, -c)),),
    "loss_negated": (
        _with_losses(lambda r, w: -np.logaddexp(0, -r) - np.logaddexp(0, w).sum(axis=-1)),
    ),
    "no_logarithm": (_with_losses(lambda r, w: 1 - _sigmoid(r) + _sigmoid(w).sum(axis=-1)),),
    "mean_of_negatives": (
        _mean,
        _with_losses(lambda r, w: np.logaddexp(0, -r) + np.logaddexp(0, w).mean(axis=-1)),
    ),
    "one_not_subtracted": (_with_scores(lambda r, w: (_sigmoid(r), _sigmoid(w))),),
    "negatives_forgotten": (
        _with_gradients(
            lambda loss, a, b, n, center, context, negatives: (
                loss,
                (b * center).sum(-1, keepdims=True)
                / (center * center).sum(-1, keepdims=True)
                * context,
                b,
                n,
            )
        ),
    ),
    "own_vector": (
        _with_gradients(
            lambda loss, a, b, n, center, context, negatives: (
                loss,
                a,
                (b * center).sum(-1, keepdims=True)
                / (center * center).sum(-1, keepdims=True)
                * context,
                n,
            )
        ),
    ),
    "gradients_swapped": (_with_gradients(lambda loss, a, b, n, *_: (loss, b, a, n)),),
    "negatives_summed": (_with_gradients(lambda loss, a, b, n, *_: (loss, a, b, n.sum(axis=-2))),),
    "softmax": (_softmax,),
    "overflow": (_overflows, _overflows_otherwise),
    "one_word_only": (_one_word,),
}

EXERCISE = Exercise.from_file(
    __file__, ("loss", "d_center", "d_context", "d_negatives"), negative_sampling, cases, MISTAKES
)
