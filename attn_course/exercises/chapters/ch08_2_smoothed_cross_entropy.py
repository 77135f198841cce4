"""Chapter 8, `smoothed_cross_entropy`: the loss, and the ways to get it wrong."""

import numpy as np

from attn.reference import smoothed_cross_entropy, softmax
from attn_course.exercises.spec import Exercise


def cases(seed):
    """Return logits and targets: with and without padding and smoothing, and large logits.

    Parameters
    ----------
    seed : int
        Seed of the random numbers; the shapes are always the same.

    Returns
    -------
    list of dict
        With the keys ``logits``, ``targets``, ``pad_id`` and ``smoothing``.
    """
    rng = np.random.default_rng(seed)

    def draw(*shape, vocab_size, smoothing, pad_id=0, lengths=None):
        targets = rng.integers(1, vocab_size, shape)
        targets[targets == pad_id] = 0  # no padding yet
        if lengths is not None:
            targets[np.arange(shape[-1]) >= np.array(lengths)[:, None]] = pad_id
        logits = rng.uniform(-1.5, 1.5, (*shape, vocab_size))
        return {
            "logits": logits,
            "targets": targets,
            "pad_id": np.array(pad_id),
            "smoothing": np.array(smoothing),
        }

    large = draw(3, 4, vocab_size=5, smoothing=0.1, lengths=[4, 1, 2])
    large["logits"][0, 0] += 1000
    large["logits"][1, 0] -= 1000
    gap = draw(2, 3, vocab_size=4, smoothing=0.1, lengths=[3, 2])
    gap["logits"][0, 0, gap["targets"][0, 0]] -= 1000
    return [
        draw(2, vocab_size=3, smoothing=0.0),
        draw(3, vocab_size=4, smoothing=0.2),
        draw(2, 4, vocab_size=6, smoothing=0.0, lengths=[4, 1]),
        draw(3, 5, vocab_size=4, smoothing=0.3, lengths=[1, 5, 2]),
        draw(2, 6, vocab_size=5, smoothing=0.1, lengths=[6, 2], pad_id=3),
        large,
        gap,
    ]


def _log_softmax(logits):
    shifted = logits - logits.max(axis=-1, keepdims=True)
    return shifted - np.log(np.exp(shifted).sum(axis=-1, keepdims=True))


def _rounded(least):
    """Return the logarithm of a rounded probability."""

    def log_softmax(logits):
        with np.errstate(divide="ignore"):
            return np.log(softmax(logits) + least)

    return log_softmax


def _at(log_p, targets):
    return np.take_along_axis(log_p, targets[..., None], axis=-1)[..., 0]


def _mixed(log_p, targets, smoothing):
    return -(1 - smoothing) * _at(log_p, targets) - smoothing * log_p.mean(axis=-1)


def _loss(log_softmax=_log_softmax, mix=_mixed, reduce=None):
    """Return a loss with one of its three parts replaced."""

    def wrong(logits, targets, pad_id, smoothing):
        losses = mix(log_softmax(logits), targets, smoothing)
        counts = targets != pad_id
        return losses[counts].mean() if reduce is None else reduce(losses, counts)

    return wrong


def _others_only(log_p, targets, smoothing):
    right = _at(log_p, targets)
    others = (log_p.sum(axis=-1) - right) / (log_p.shape[-1] - 1)
    return -(1 - smoothing) * right - smoothing * others


def _without_padding_column(logits, targets, pad_id, smoothing):
    log_p = _log_softmax(logits)
    shared = np.delete(log_p, int(pad_id), axis=-1).mean(axis=-1)
    losses = -(1 - smoothing) * _at(log_p, targets) - smoothing * shared
    return losses[targets != pad_id].mean()


def _mean_of_rows(losses, counts):
    rows = np.atleast_2d(losses * counts).sum(axis=-1) / np.atleast_2d(counts).sum(axis=-1)
    return rows.mean()


def _unshifted_log_softmax(logits):
    return np.log(np.exp(logits) / np.exp(logits).sum(axis=-1, keepdims=True))


def _pad_id_zero(logits, targets, pad_id, smoothing):
    return smoothed_cross_entropy(logits, targets, 0, smoothing)


def _every_target(log_p, targets, smoothing):
    """Take the columns of all targets from every row, instead of one target per row."""
    taken = log_p[..., targets].reshape(*targets.shape, -1).mean(axis=-1)
    return -(1 - smoothing) * taken - smoothing * log_p.mean(axis=-1)


def _every_target_then_rows(logits, targets, pad_id, smoothing):
    log_p = _log_softmax(logits)
    losses = -(1 - smoothing) * log_p[..., targets] - smoothing * log_p.mean(axis=-1)
    return losses[targets != pad_id].mean()


def _log_of_the_mean(log_p, targets, smoothing):
    return -(1 - smoothing) * _at(log_p, targets) - smoothing * np.log(np.exp(log_p).mean(axis=-1))


def _log_of_the_mixture(log_p, targets, smoothing):
    p = np.exp(log_p)
    return -np.log((1 - smoothing) * _at(p, targets) + smoothing * p.mean(axis=-1))


def _misses(log_p, targets, smoothing):
    p = np.exp(log_p)
    return (1 - smoothing) * (1 - _at(p, targets)) + smoothing * (1 - p.mean(axis=-1))


def _shared_by_all(logits):
    shifted = logits - logits.max()
    return shifted - np.log(np.exp(shifted).sum())


MISTAKES = {
    "padding_counted": (_loss(reduce=lambda losses, counts: losses.mean()),),
    "divided_by_everything": (_loss(reduce=lambda losses, counts: (losses * counts).mean()),),
    "mean_of_sentences": (_loss(reduce=_mean_of_rows),),
    "sum": (_loss(reduce=lambda losses, counts: losses[counts].sum()),),
    "shared_among_the_others": (_loss(mix=_others_only),),
    "padding_not_in_the_vocabulary": (_without_padding_column,),
    "shared_in_full": (_loss(mix=lambda l, t, e: -(1 - e) * _at(l, t) - e * l.sum(axis=-1)),),
    "nothing_taken_away": (_loss(mix=lambda l, t, e: -_at(l, t) - e * l.mean(axis=-1)),),
    "no_smoothing": (_loss(mix=lambda l, t, e: -_at(l, t)),),
    "shares_exchanged": (_loss(mix=lambda l, t, e: _mixed(l, t, 1 - e)),),
    "softmax_twice": (_loss(log_softmax=lambda z: _log_softmax(softmax(z))),),
    "no_softmax": (_loss(log_softmax=lambda z: z),),
    "no_logarithm": (_loss(log_softmax=softmax),),
    "sign": (lambda z, t, p, e: -smoothed_cross_entropy(z, t, p, e),),
    "bits": (lambda z, t, p, e: smoothed_cross_entropy(z, t, p, e) / np.log(2),),
    "loss_overflow": (_loss(log_softmax=_unshifted_log_softmax),),
    "log_of_a_probability": (
        _loss(log_softmax=_rounded(0.0)),
        _loss(log_softmax=_rounded(1e-9)),
    ),
    "padding_is_zero": (_pad_id_zero,),
    "every_target_from_every_row": (
        _loss(mix=_every_target),
        _every_target_then_rows,
    ),
    "log_of_the_mean": (_loss(mix=_log_of_the_mean),),
    "log_of_the_mixture": (_loss(mix=_log_of_the_mixture),),
    "one_minus_probability": (_loss(mix=_misses),),
    "one_softmax_for_all": (_loss(log_softmax=_shared_by_all),),
    "smoothing_fixed": (lambda z, t, p, e: smoothed_cross_entropy(z, t, p, 0.1),),
}

EXERCISE = Exercise.from_file(__file__, ("loss",), smoothed_cross_entropy, cases, MISTAKES)
