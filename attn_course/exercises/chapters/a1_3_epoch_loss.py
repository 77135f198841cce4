"""Appendix A1, `epoch_loss`: the mean of every token, not the mean of the batches' means."""

import numpy as np

from attn_course.exercises.spec import Exercise


def epoch_loss(losses, targets, pad_id):
    """Return the mean loss of all the tokens of an epoch that are not padding."""
    return losses[targets != pad_id].mean()


def cases(seed):
    """Return epochs: one batch, several, short ones, one with a batch of padding alone.

    Parameters
    ----------
    seed : int
        Seed of the random numbers; the shapes are always the same.

    Returns
    -------
    list of dict
        With the keys ``losses`` and ``targets``, of shape (n_batches, batch_size, tgt_len),
        and ``pad_id``. Positions of padding have losses too, as `cross_entropy` gives them.
    """
    rng = np.random.default_rng(seed)

    def epoch(batches, pad_id=0):
        lengths = np.array(batches)[..., None]
        places = np.arange(lengths.max() + 1)
        words = rng.choice([i for i in range(12) if i != pad_id], (*lengths.shape[:2], len(places)))
        targets = np.where(places < lengths, words, pad_id)
        losses = rng.uniform(0.3, 2.5, targets.shape)
        # A loss of 0 belongs to a word as well, when the model is sure and right.
        losses[0, 0, 0] = 0.0
        return {"losses": losses, "targets": targets, "pad_id": np.array(pad_id)}

    return [
        epoch([[3, 1]]),
        epoch([[4, 3], [1, 1]]),
        epoch([[5, 2, 4], [1, 2, 1]], pad_id=3),
        epoch([[2, 6], [1, 0], [3, 3]], pad_id=7),
        epoch([[6, 5, 6, 4], [1, 1, 0, 0], [2, 1, 1, 0]]),
        epoch([[4, 4], [2, 1], [0, 0]], pad_id=1),
    ]


def _mean_of(parts):
    with np.errstate(all="ignore"):
        means = np.array([part.sum() / part.size for part in parts])
    return means


def _batch_means(losses, targets, pad_id):
    return _mean_of([row[asked != pad_id] for row, asked in zip(losses, targets, strict=True)])


def _sentence_means(losses, targets, pad_id):
    width = losses.shape[-1]
    return _batch_means(losses.reshape(-1, width), targets.reshape(-1, width), pad_id)


def _total(losses, targets, pad_id):
    return losses[targets != pad_id].sum()


MISTAKES = {
    "mean_of_means": (
        lambda *case: _batch_means(*case).mean(),
        lambda *case: np.nanmean(_batch_means(*case)),
        lambda *case: np.nan_to_num(_batch_means(*case)).mean(),
    ),
    "mean_of_sentences": (
        lambda *case: _sentence_means(*case).mean(),
        lambda *case: np.nanmean(_sentence_means(*case)),
        lambda *case: np.nan_to_num(_sentence_means(*case)).mean(),
    ),
    "padding_counted": (
        lambda losses, targets, pad_id: losses.mean(),
        lambda losses, targets, pad_id: losses.sum() / (targets != pad_id).sum(),
    ),
    "padding_in_the_divisor": (lambda *case: _total(*case) / case[1].size,),
    "total": (_total,),
    "per_batch": (lambda *case: _total(*case) / len(case[0]),),
    "per_sentence": (lambda *case: _total(*case) / np.prod(case[0].shape[:2]),),
    "only_padding": (lambda losses, targets, pad_id: losses[targets == pad_id].mean(),),
    "zero_is_padding": (lambda losses, targets, pad_id: losses[targets != 0].mean(),),
    "zeros_dropped": (
        lambda losses, targets, pad_id: losses[(targets != pad_id) & (losses > 0)].mean(),
        lambda losses, targets, pad_id: losses[losses > 0].mean(),
    ),
    "one_per_batch": (_batch_means,),
    "last_batch": (lambda *case: _batch_means(*case)[-1],),
    "perplexity": (lambda *case: np.exp(epoch_loss(*case)),),
}

EXERCISE = Exercise.from_file(__file__, ("loss",), epoch_loss, cases, MISTAKES)
