"""The switch of the checks that read values, which is `attn.checks`."""

import threading

from attn._checks import wrong


class _Switch(threading.local):
    on = True  # at first, in every thread


switch = _Switch()


class checks:
    """Switch the checks that read values on or off: for good, or in a ``with`` block.

    Shapes, dtypes and sizes are always checked, which costs next to nothing. Whether numbers
    are finite, ids in the vocabulary, lengths within range and a memory is the one that filled
    a cache has to be read from the tensors: on a GPU every such look waits for all that was
    asked of it before, and on a CPU a step of attention over 2,000 keys in a cache takes about
    a fifth longer. Without these checks a NaN goes through or counts as masked, a cache answers
    for the memory that filled it, and what PyTorch says of an id out of range names no
    argument. A query that may attend to nothing gets zeros all the same. Each thread has a
    switch of its own, as it has for gradients in PyTorch. `attn.training.train`, which checks
    its losses itself, switches the checks off.

    Parameters
    ----------
    on : bool

    Examples
    --------
    >>> import torch
    >>> from attn.attention import scaled_dot_product_attention
    >>> broken = torch.tensor([[float("nan")]])
    >>> with checks(False):
    ...     scaled_dot_product_attention(broken, broken, broken)[0]
    tensor([[nan]])
    >>> scaled_dot_product_attention(broken, broken, broken)
    Traceback (most recent call last):
    ValueError: query: expected finite numbers, got 1 NaN or infinite
    """

    def __init__(self, on: bool) -> None:
        if not isinstance(on, bool):
            raise wrong("on", "True or False", repr(on))
        self._on, self._before = on, switch.on
        switch.on = on

    def __enter__(self) -> None:
        """Set the switch, which may have been set otherwise since."""
        switch.on = self._on

    def __exit__(self, *error: object) -> None:
        """Set the switch back to what it was."""
        switch.on = self._before
