"""Problem set 7, `mended_accumulation`: one large batch in parts, and what becomes of its mean."""

import numpy as np

from attn.reference import smoothed_cross_entropy, softmax
from attn_course.exercises.spec import Exercise


def mended_accumulation(x, targets, counts, w):
    """Return the mean loss of all the tokens that count, and its gradient."""
    rows, asked = x[counts], targets[counts]
    loss = smoothed_cross_entropy(rows @ w, asked, pad_id=-1)
    slopes = softmax(rows @ w) - np.eye(w.shape[1])[asked]
    return loss, rows.T @ slopes / len(rows)


def cases(seed):
    """Return batches in parts: uneven ones, empty ones, and one with large logits.

    Parameters
    ----------
    seed : int
        Seed of the random numbers, and of the sizes of some inputs.

    Returns
    -------
    list of dict
        With the keys ``x``, ``targets``, ``counts`` and ``w``.
    """
    rng = np.random.default_rng(seed)

    def draw(n_tokens, d_model, vocab_size, lengths):
        n_parts = len(lengths)
        targets = rng.integers(vocab_size, size=(n_parts, n_tokens))
        # The first part asks for one token alone, so that parts differ whatever the seed.
        targets[0] = 0
        return {
            "x": rng.uniform(0.3, 1.2, (n_parts, n_tokens, d_model)),
            "targets": targets,
            "counts": np.arange(n_tokens) < np.array(lengths)[:, None],
            "w": rng.uniform(-1, 1, (d_model, vocab_size)),
        }

    large = draw(4, 3, 5, [4, 2])
    large["w"][0] += 3000  # the same for every token: large logits, ordinary probabilities
    gaps = draw(5, 2, 4, [5, 2, 3])
    gaps["counts"] = gaps["counts"][:, ::-1].copy()
    return [
        draw(4, 2, 3, [4, 1]),
        draw(5, 3, 4, [2, 5, 3]),
        gaps,
        draw(3, 2, 4, [3, 0]),
        draw(6, 4, 3, [0, 5, 2, 0]),
        large,
        draw(7, *rng.integers((2, 3), (5, 6)), rng.integers(1, 8, rng.integers(2, 5))),
    ]


def _log_softmax(z):
    shifted = z - z.max(axis=-1, keepdims=True)
    return shifted - np.log(np.exp(shifted).sum(axis=-1, keepdims=True))


def _unshifted(z):
    return z - np.log(np.exp(z).sum(axis=-1, keepdims=True))


def _unshifted_share(z):
    return np.log(np.exp(z) / np.exp(z).sum(axis=-1, keepdims=True))


def _by_weights(share, share_of_slope=None, log_softmax=_log_softmax, change=None, exact=True):
    """Return an accumulation in which token n of part k has the weight ``share(counts)[k, n]``."""

    def wrong(x, targets, counts, w):
        y = np.eye(w.shape[1])[targets]
        log_p = log_softmax(x @ w)
        losses = -(np.where(y > 0, log_p, 0) if exact else y * log_p).sum(axis=-1)
        of_loss, of_slope = share(counts), (share_of_slope or share)(counts)
        # What does not count is left out, for infinity times 0 is NaN.
        loss = (of_loss * np.where(of_loss == 0, 0, losses)).sum()
        slopes = np.where(of_slope[..., None] == 0, 0, np.exp(log_p) - y)
        gradient = np.einsum("kn,knd,knv->dv", of_slope, x, slopes)
        return (loss, gradient) if change is None else change(loss, gradient)

    return wrong


def _all_together(counts):
    return counts / counts.sum()


def _mean_of_means(counts):
    return counts / counts.sum(axis=1, keepdims=True) / len(counts)


def _mean_of_filled(counts):
    sizes = counts.sum(axis=1, keepdims=True)
    return counts / np.maximum(sizes, 1) / (sizes > 0).sum()


def _forgiving(counts):
    return counts / np.maximum(counts.sum(axis=1, keepdims=True), 1) / len(counts)


def _sum_of_means(counts):
    return counts / np.maximum(counts.sum(axis=1, keepdims=True), 1)


def _everything(counts):
    return np.full(counts.shape, 1 / counts.size)


def _over_size(counts):
    return counts / counts.size


def _over_parts(counts):
    return counts / len(counts)


def _summed(counts):
    return counts.astype(float)


def _last_only(counts):
    weights = counts / counts.sum()
    weights[:-1] = 0
    return weights


def _last_alone(counts):
    weights = counts / np.maximum(counts[-1].sum(), 1)
    weights[:-1] = 0
    return weights


def _twice(counts):
    return counts * counts.sum(axis=1, keepdims=True) / counts.sum()


def _undone(counts):
    sizes = counts.sum(axis=1, keepdims=True)
    return counts / sizes * (sizes / counts.sum())


MISTAKES = {
    "mean_of_means": (
        _by_weights(_mean_of_means),
        _by_weights(_forgiving),
        _by_weights(_mean_of_filled),
    ),
    "only_the_loss": (
        _by_weights(_all_together, _mean_of_means),
        _by_weights(_all_together, _forgiving),
    ),
    "only_the_gradient": (
        _by_weights(_mean_of_means, _all_together),
        _by_weights(_forgiving, _all_together),
    ),
    "never_divided": (_by_weights(_summed),),
    "sum_of_means": (
        _by_weights(_sum_of_means),
        _by_weights(lambda counts: counts / counts.sum(axis=1, keepdims=True)),
    ),
    "over_the_parts": (_by_weights(_over_parts),),
    "over_the_size": (_by_weights(_over_size),),
    "counts_ignored": (_by_weights(_everything),),
    "last_part_only": (_by_weights(_last_only), _by_weights(_last_alone)),
    "weighted_twice": (_by_weights(_twice),),
    "empty_part": (_by_weights(_undone),),
    "opposite_gradient": (
        _by_weights(_all_together, change=lambda loss, gradient: (loss, -gradient)),
    ),
    "gradient_transposed": (
        _by_weights(_all_together, change=lambda loss, gradient: (loss, gradient.T)),
    ),
    "maximum_dropped": (
        _by_weights(_all_together, log_softmax=_unshifted),
        _by_weights(_all_together, log_softmax=_unshifted, exact=False),
        _by_weights(_all_together, log_softmax=_unshifted_share),
        _by_weights(_all_together, log_softmax=_unshifted_share, exact=False),
    ),
}

EXERCISE = Exercise.from_file(__file__, ("loss", "gradient"), mended_accumulation, cases, MISTAKES)
