"""Problem set 5, `masked_softmax_gradient`: what is forbidden gets no gradient."""

import numpy as np

from attn.reference import softmax
from attn_course.exercises.spec import Exercise


def masked_softmax_gradient(scores, mask, gradient):
    """Return the weights, and the derivative of the loss by the scores from that by the weights."""
    weights = softmax(np.where(mask, scores, -np.inf))
    return weights, _back(weights, gradient)


def _back(weights, gradient):
    return weights * (gradient - (weights * gradient).sum(axis=-1, keepdims=True))


def cases(seed):
    """Return scores with masks: ordinary, of large numbers, with dead rows, in batches.

    Parameters
    ----------
    seed : int
        Seed of the random numbers, and of the sizes of some inputs.

    Returns
    -------
    list of dict
        With the keys ``scores``, ``mask``, boolean, and ``gradient``.
    """
    rng = np.random.default_rng(seed)

    def draw(tgt_len, src_len, batch=(), height=0.0, dead=(), alone=()):
        """Forbid one or two keys of each row; with a `height`, their scores are by far the highest."""
        scores = rng.uniform(-1, 1, (*batch, tgt_len, src_len))
        mask = np.ones((tgt_len, src_len), dtype=bool)
        for i in range(tgt_len):
            mask[i, [i % src_len, (2 * i + 1) % src_len]] = False
        # The rows lie far apart by whole numbers, and the forbidden scores above all others.
        scores += np.resize([height, -height], tgt_len)[:, None] + np.where(mask, 0, abs(height))
        scores[..., 0] += 0.5  # A softmax over the wrong axis gives other numbers.
        mask[list(dead)] = False
        mask[list(alone)] = np.arange(src_len) == 2
        gradient = rng.uniform(0.5, 2, scores.shape) * rng.choice([-1, 1], scores.shape)
        return {
            "scores": scores,
            "mask": np.broadcast_to(mask, scores.shape).copy(),
            "gradient": gradient,
        }

    return [
        draw(1, 4),
        draw(2, 4),
        draw(3, 5),
        draw(5, 4),
        draw(2, 5, height=900.0),
        draw(3, 4, height=-9000.0),
        draw(3, 5, dead=[1], alone=[2]),
        draw(2, 4, dead=[0, 1]),
        draw(3, 4, batch=(2,)),
        draw(2, 5, batch=(3, 2), dead=[0]),
        draw(*rng.integers((2, 4), (6, 8))),
    ]


def _fill(scores, mask):
    return softmax(np.where(mask, scores, -np.inf))


def _with(weigh=_fill, back=_back):
    """Return the function with other weights or another way back."""

    def both(scores, mask, gradient):
        weights = weigh(scores, mask)
        return weights, back(weights, gradient)

    return both


def _afterwards(scores, mask, gradient):
    before = softmax(scores)
    return before * mask, _back(before, gradient * mask)


def _exponentials(scores, mask, peak):
    exponentials = np.where(mask, np.exp(scores - peak), 0)
    total = exponentials.sum(axis=-1, keepdims=True)
    return exponentials / np.where(total == 0, 1, total)


def _undefined(scores, mask):
    scores = np.where(mask, scores, -np.inf)
    exponentials = np.exp(scores - scores.max(axis=-1, keepdims=True))
    return exponentials / exponentials.sum(axis=-1, keepdims=True)


def _mean(of):
    return lambda weights, gradient: weights * (gradient - of(weights, gradient))


MISTAKES = {
    "each_on_its_own": (_with(back=lambda w, g: w * (1 - w) * g),),
    "nothing_subtracted": (_with(back=lambda w, g: w * g),),
    "sign_reversed": (_with(back=lambda w, g: -_back(w, g)),),
    "plain_mean": (
        _with(back=_mean(lambda w, g: g.mean(axis=-1, keepdims=True))),
        _with(
            back=_mean(
                lambda w, g: (
                    (g * (w > 0)).sum(axis=-1, keepdims=True)
                    / np.maximum((w > 0).sum(axis=-1, keepdims=True), 1)
                )
            )
        ),
    ),
    "summed_down_the_columns": (
        _with(back=_mean(lambda w, g: (w * g).sum(axis=-2, keepdims=True))),
    ),
    "as_in_cross_entropy": (
        _with(back=lambda w, g: w - g),
        _with(back=lambda w, g: (w - g) * (w > 0)),
    ),
    "masked_afterwards": (_afterwards,),
    "no_mask": (_with(lambda scores, mask: softmax(scores)),),
    "mask_inverted": (_with(lambda scores, mask: _fill(scores, ~mask)),),
    "overflow": (_with(lambda scores, mask: _exponentials(scores, mask, 0)),),
    "peak_of_the_forbidden": (
        _with(lambda scores, mask: _exponentials(scores, mask, scores.max(axis=-1, keepdims=True))),
    ),
    "nan_in_dead_rows": (_with(_undefined),),
    "dead_rows_alive": (
        _with(lambda scores, mask: softmax(np.where(mask, scores, -1e9))),
        _with(lambda scores, mask: softmax(scores - 1e9 * ~mask)),
    ),
}

EXERCISE = Exercise.from_file(
    __file__, ("weights", "d_scores"), masked_softmax_gradient, cases, MISTAKES
)
