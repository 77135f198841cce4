"""Which examples stand together in a batch, and how they fill one tensor."""

import numpy as np
import torch

from attn._checks import wrong


def pad(sequences, pad_id):
    """Fill sequences of ids up to the length of the longest.

    Parameters
    ----------
    sequences : list of list of int
    pad_id : int

    Returns
    -------
    ids : Tensor of int64, shape (batch_size, seq_len)
    lengths : Tensor of int64, shape (batch_size,)
        The lengths before, as `attn.masks.padding_mask` wants them.

    Raises
    ------
    ValueError
        If there are no sequences, or they do not hold integers.

    Examples
    --------
    >>> pad([[5, 6, 7], [8]], pad_id=0)
    (tensor([[5, 6, 7],
            [8, 0, 0]]), tensor([3, 1]))
    """
    try:
        lengths = [len(sequence) for sequence in sequences]
        seq_len = max(lengths)
        rows = [
            [*sequence, *[pad_id] * (seq_len - length)]
            for sequence, length in zip(sequences, lengths, strict=True)
        ]
        # Of no numbers at all PyTorch would make floats.
        return torch.tensor(rows, dtype=torch.int64), torch.tensor(lengths)
    except (TypeError, ValueError, RuntimeError):
        raise wrong("sequences", "a list of lists of integers, at least one", sequences) from None


class Batches:
    """The batches of a run: those of step n depend on the seed and on n, and on nothing else.

    An epoch goes through all examples once. So that little padding is needed, each batch
    holds examples of about one length.

    Parameters
    ----------
    examples : sequence
    collate : callable, (list of examples) -> batch
    length : callable, (example) -> int, or None
        The number of tokens, say. None mixes examples freely.
    batch_size : int
        The most examples of a batch. The batches of an epoch differ by one at most.
    seed : int

    Examples
    --------
    >>> batches = Batches(["a", "bb", "c", "dd"], "+".join, len, batch_size=2, seed=0)
    >>> [batches[step] for step in range(4)]
    ['c+a', 'dd+bb', 'bb+dd', 'c+a']
    """

    def __init__(self, examples, collate, length, batch_size, seed):
        self.examples, self.collate, self.seed = examples, collate, seed
        lengths = [0 if length is None else length(example) for example in examples]
        self.lengths = np.array(lengths, dtype=float)
        self.n_batches = -(-len(examples) // batch_size)
        self.smallest = len(examples) // max(self.n_batches, 1)
        self._epoch = self._order = None

    def __getitem__(self, step):
        return self.share(step, 0, 1)

    def __iter__(self):
        return (self[step] for step in range(self.n_batches))

    def share(self, step, rank, n_processes):
        """Return what process `rank` gets of the batch of `step`, counted from 0."""
        epoch, index = divmod(step, self.n_batches)
        if epoch != self._epoch:
            self._epoch, self._order = epoch, self._order_of(epoch)
        return self.collate([self.examples[i] for i in self._order[index][rank::n_processes]])

    def _order_of(self, epoch):
        rng = np.random.default_rng((self.seed, epoch))
        # Lengths up to a tenth too long bring together others each time.
        order = np.argsort((self.lengths + 1) * rng.uniform(1.0, 1.1, len(self.lengths)))
        batches = np.array_split(order, self.n_batches)
        return [batches[i].tolist() for i in rng.permutation(self.n_batches)]
