"""Sequences to sequences: a batch of pairs, what the Transformer says of it, and the loss."""

from attn.masks import padding_mask
from attn.tokenizer.base import Tokenizer
from attn.training import cross_entropy, pad, shift

AT_A_TIME = 128


def by_length(sequences):
    """Yield the places of sequences, a batch at a time, those of about one length together.

    Examples
    --------
    >>> list(by_length(["abc", "a", "ab"]))
    [[1, 2, 0]]
    """
    order = sorted(range(len(sequences)), key=lambda i: len(sequences[i]))
    for start in range(0, len(order), AT_A_TIME):
        yield order[start : start + AT_A_TIME]


def collate(pairs):
    """Make a batch of pairs of ids: sources, their lengths, targets from ``<sos>`` to ``<eos>``.

    Examples
    --------
    >>> src, lengths, tgt = collate([([7, 8], [9]), ([5], [6, 7])])
    >>> src.tolist(), lengths.tolist(), tgt.tolist()
    ([[7, 8], [5, 0]], [2, 1], [[2, 9, 3, 0], [2, 6, 7, 3]])
    """
    src, lengths = pad([source for source, _ in pairs], Tokenizer.pad_id)
    targets = [[Tokenizer.sos_id, *target, Tokenizer.eos_id] for _, target in pairs]
    tgt, _ = pad(targets, Tokenizer.pad_id)
    return src, lengths, tgt


def predict(model, batch):
    """Return the logits at every position of the targets, and the tokens that stand there."""
    src, lengths, tgt = batch
    inputs, targets = shift(tgt)
    logits, _ = model(src, inputs, src_mask=padding_mask(lengths, src.shape[1]))
    return logits, targets


def sequence_loss(model, batch, *, label_smoothing=0.0):
    """Return the sum of the losses of a batch, and of how many tokens it is the sum."""
    logits, targets = predict(model, batch)
    return cross_entropy(logits, targets, label_smoothing=label_smoothing, pad_id=Tokenizer.pad_id)
