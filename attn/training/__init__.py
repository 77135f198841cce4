"""Training: one loop for every model and task.

The loop takes a model; ``loss(model, batch)``, which returns the *sum* of the losses of a
batch and the number of its terms; examples; and ``collate``, which makes a batch of some of
them, a dict or tuple of tensors. The loss returns a sum and a number instead of a mean, so
that the gradient is that of the mean over the whole batch, however many processes share it.

==============  ===================================================================
`config`        ``TrainingConfig``: every size and choice, checked
`schedule`      ``learning_rate``: warm-up, then the paper's decay or a cosine
`loss`          ``cross_entropy`` with label smoothing; ``shift`` for teacher forcing
`batches`       ``Batches``: which examples form a batch; ``pad``
`devices`       ``choose_device``, and randomness that depends on the step alone
`processes`     one process, or several under torchrun
`checkpoints`   a run on disk, to continue from
`optimizers`    AdamW, and Muon for the matrices that multiply
`run`           one step, one validation; ``History`` of the loss, ``Progress``
`loop`          ``train``: all of it together
==============  ===================================================================

On the CPU and with the same number of threads, the same seed gives bit-equal weights. The
examples and the dropout of a step depend on the seed and the number of the step alone, so a
run that was killed continues from its checkpoint as if nothing had happened.
"""

from attn.training.batches import pad
from attn.training.config import TrainingConfig
from attn.training.devices import choose_device
from attn.training.loop import train
from attn.training.loss import cross_entropy, shift
from attn.training.processes import is_main_process
from attn.training.run import History, Progress
from attn.training.schedule import learning_rate

__all__ = [
    "History",
    "Progress",
    "TrainingConfig",
    "choose_device",
    "cross_entropy",
    "is_main_process",
    "learning_rate",
    "pad",
    "shift",
    "train",
]
