"""Problem set 7, `next_token_loss`: what each position is asked for, and the slope of its cost."""

import numpy as np

from attn.reference import smoothed_cross_entropy, softmax
from attn_course.exercises.spec import Exercise


def next_token_loss(logits, ids, pad_id, smoothing):
    """Return the smoothed loss of predicting each next token, and its gradient."""
    targets = ids[:, 1:]
    loss = smoothed_cross_entropy(logits[:, :-1], targets, pad_id, smoothing)
    vocab_size = logits.shape[-1]
    wanted = (1 - smoothing) * np.eye(vocab_size)[targets] + smoothing / vocab_size
    counts = (targets != pad_id)[..., None]
    gradient = np.zeros(logits.shape)
    gradient[:, :-1] = counts * (softmax(logits[:, :-1]) - wanted) / counts.sum()
    return loss, gradient


def cases(seed):
    """Return logits and ids: with and without smoothing and padding, and large logits.

    Parameters
    ----------
    seed : int
        Seed of the random numbers, and of the sizes of some inputs.

    Returns
    -------
    list of dict
        With the keys ``logits``, ``ids``, ``pad_id`` and ``smoothing``.
    """
    rng = np.random.default_rng(seed)

    def draw(batch, seq_len, vocab_size, smoothing=0.0, pad_id=0, lengths=None):
        # No token follows itself, so that asking for the one just read is always wrong.
        ids = np.empty((batch, seq_len), dtype=int)
        ids[:, 0] = 1
        for i in range(1, seq_len):
            choices = [np.setdiff1d(np.arange(1, vocab_size), [last]) for last in ids[:, i - 1]]
            ids[:, i] = [rng.choice(some) for some in choices]
        ids[ids == pad_id] = 0  # no padding yet
        if lengths is not None:
            ids[np.arange(seq_len) >= np.array(lengths)[:, None]] = pad_id
        return {
            "logits": rng.uniform(-1.5, 1.5, (batch, seq_len, vocab_size)),
            "ids": ids,
            "pad_id": np.array(pad_id),
            "smoothing": np.array(smoothing),
        }

    large = draw(2, 5, 4, 0.1, lengths=[5, 3])
    large["logits"][0, 0] += 1000
    large["logits"][1, 0] -= 1000
    gap = draw(2, 4, 3)
    gap["logits"][0, 0, gap["ids"][0, 1]] -= 1000
    return [
        draw(2, 3, 4),
        draw(3, 4, 5),
        draw(1, 5, 6),
        draw(2, 3, 4, 0.2),
        draw(3, 5, 6, 0.1),
        draw(2, 4, 3, lengths=[4, 2]),
        draw(3, 6, 5, 0.1, lengths=[2, 6, 4]),
        draw(2, 5, 7, 0.3, pad_id=4, lengths=[5, 3]),
        large,
        gap,
        draw(*rng.integers((2, 4, 4), (5, 8, 9))),
    ]


def _next(ids, pad_id):
    return np.concatenate([ids[:, 1:], np.full_like(ids[:, :1], pad_id)], axis=1)


def _same(ids, pad_id):
    return ids


def _previous(ids, pad_id):
    return np.concatenate([np.full_like(ids[:, :1], pad_id), ids[:, :-1]], axis=1)


def _real(targets, ids, pad_id):
    return targets != pad_id


def _all_but_last(targets, ids, pad_id):
    return np.broadcast_to(np.arange(ids.shape[1]) < ids.shape[1] - 1, ids.shape)


def _by_what_is_read(targets, ids, pad_id):
    return _all_but_last(targets, ids, pad_id) & (ids != pad_id)


def _smoothed(y, smoothing):
    return (1 - smoothing) * y + smoothing / y.shape[-1]


def _shared_in_full(y, smoothing):
    return (1 - smoothing) * y + smoothing


def _added_on_top(y, smoothing):
    return y + smoothing / y.shape[-1]


def _among_others(y, smoothing):
    return (1 - smoothing) * y + smoothing * (1 - y) / (y.shape[-1] - 1)


def _unsmoothed(y, smoothing):
    return y


def _log_softmax(logits):
    shifted = logits - logits.max(axis=-1, keepdims=True)
    return shifted - np.log(np.exp(shifted).sum(axis=-1, keepdims=True))


def _unshifted(logits):
    return logits - np.log(np.exp(logits).sum(axis=-1, keepdims=True))


def _unshifted_share(logits):
    return np.log(np.exp(logits) / np.exp(logits).sum(axis=-1, keepdims=True))


def _rounded(least):
    return lambda logits: np.log(softmax(logits) + least)


def _of_batch(counts):
    return counts / counts.sum()


def _of_sentences(counts):
    return counts / counts.sum(axis=1, keepdims=True) / len(counts)


def _careful(wanted, log_p):
    return -np.where(wanted > 0, wanted * log_p, 0).sum(axis=-1)


def _plain(wanted, log_p):
    return -(wanted * log_p).sum(axis=-1)


def _difference(p, wanted):
    return p - wanted


def _variant(
    place=_next,
    count=_real,
    want=_smoothed,
    want_in_slope=None,
    log_softmax=_log_softmax,
    cost=_careful,
    share=_of_batch,
    share_of_slope=None,
    slope=_difference,
):
    """Return the loss and the gradient with one of their parts replaced."""

    def wrong(logits, ids, pad_id, smoothing):
        targets = place(ids, pad_id)
        counts = count(targets, ids, pad_id)
        y = np.eye(logits.shape[-1])[targets]
        log_p = log_softmax(logits)
        losses = np.where(counts, cost(want(y, smoothing), log_p), 0)
        loss = (losses * share(counts)).sum()
        slopes = slope(np.exp(log_p), (want_in_slope or want)(y, smoothing))
        return loss, slopes * (share_of_slope or share)(counts)[..., None]

    return wrong


def _with(change):
    def wrong(logits, ids, pad_id, smoothing):
        loss, gradient = next_token_loss(logits, ids, pad_id, smoothing)
        return change(loss, gradient, ids, pad_id)

    return wrong


def _mass_kept(p, wanted):
    """Return the slope of a loss whose target sums to something other than 1."""
    return wanted.sum(axis=-1, keepdims=True) * p - wanted


MISTAKES = {
    "not_shifted": (
        _variant(place=_same),
        _variant(place=_same, count=lambda t, i, p: _by_what_is_read(t, i, p)),
    ),
    "shifted_backwards": (_variant(place=_previous),),
    "padding_counted": (_variant(count=_all_but_last),),
    "divided_by_places": (
        _variant(share=lambda counts: counts / (counts.size - len(counts))),
        _variant(share=lambda counts: counts / counts.size),
    ),
    "mask_of_inputs": (_variant(count=_by_what_is_read),),
    "mean_over_sentences": (_variant(share=_of_sentences),),
    "summed": (_variant(share=lambda counts: counts.astype(float)),),
    "over_the_vocabulary": (
        _with(lambda loss, gradient, ids, pad: (loss / gradient.shape[-1], gradient)),
        _with(
            lambda loss, gradient, ids, pad: (
                loss / gradient.shape[-1],
                gradient / gradient.shape[-1],
            )
        ),
    ),
    "gradient_of_the_sum": (_variant(share_of_slope=lambda counts: counts.astype(float)),),
    "gradient_where_nothing_is_asked": (
        _variant(share_of_slope=lambda counts: np.full(counts.shape, 1 / counts.sum())),
        _variant(share_of_slope=lambda counts: _all_but_last(counts, counts, None) / counts.sum()),
    ),
    "gradient_too_short": (_with(lambda loss, gradient, ids, pad: (loss, gradient[:, :-1])),),
    "gradient_sign": (_with(lambda loss, gradient, ids, pad: (loss, -gradient)),),
    "gradient_unsmoothed": (_variant(want_in_slope=_unsmoothed),),
    "unsmoothed": (_variant(want=_unsmoothed),),
    "share_for_each": (
        _variant(want=_shared_in_full),
        _variant(want=_shared_in_full, slope=_mass_kept),
    ),
    "nothing_taken": (_variant(want=_added_on_top), _variant(want=_added_on_top, slope=_mass_kept)),
    "shared_by_others": (_variant(want=_among_others),),
    "gradient_of_probabilities": (_variant(slope=lambda p, wanted: -wanted / p),),
    "loss_sign": (_with(lambda loss, gradient, ids, pad: (-loss, gradient)),),
    "exponential_overflow": (
        _variant(log_softmax=_unshifted),
        _variant(log_softmax=_unshifted, cost=_plain),
        _variant(log_softmax=_unshifted_share),
        _variant(log_softmax=_unshifted_share, cost=_plain),
    ),
    "logarithm_of_zero": (
        _variant(log_softmax=_rounded(0.0)),
        _variant(log_softmax=_rounded(0.0), cost=_plain),
        _variant(log_softmax=_rounded(1e-12)),
        _variant(log_softmax=_rounded(1e-9)),
    ),
}

EXERCISE = Exercise.from_file(__file__, ("loss", "gradient"), next_token_loss, cases, MISTAKES)
