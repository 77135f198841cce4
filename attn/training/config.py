"""The configuration of a training run."""

import math
import numbers
from collections.abc import Callable
from dataclasses import dataclass

from attn._checks import argument_error, check_choice, check_fraction, check_size

SCHEDULES = ("cosine", "inverse_sqrt")
PRECISIONS = ("float32", "bfloat16")
OPTIMIZERS = ("adamw", "muon")
DECAYED = ("all", "matrices")
DEVICES = ("auto", "cpu", "cuda", "mps")


@dataclass(frozen=True)
class TrainingConfig:
    """Everything that determines a training run, except the model, the loss and the examples.

    Parameters
    ----------
    steps : int
        The number of updates of the weights.
    batch_size : int, default 64
        The most examples of a step, summed over all processes.
    batch_tokens : int, optional
        Replaces `batch_size`: the approximate number of tokens of a step, source and target
        together. A batch then holds many short sentences or few long ones.
    learning_rate : float, default 1e-3
        The peak of the learning rate, which is reached at step `warmup_steps`.
    schedule : {"cosine", "inverse_sqrt"}, default "cosine"
        How the learning rate falls after its peak. The paper uses "inverse_sqrt".
    optimizer : {"adamw", "muon"}, default "adamw"
        Muon updates the weight matrices of linear layers, and AdamW the other parameters. A step of
        Muon takes longer.
    betas : pair of float, default (0.9, 0.98)
        The decay rates of the running means that AdamW keeps of the gradient and of its square.
    weight_decay : float, default 0.01
        Each step subtracts this fraction of a weight, times the learning rate.
    decayed : {"all", "matrices"}, default "all"
        The parameters with weight decay: all of them, or only the weight matrices of linear layers.
        Biases, norms and embeddings have no reason to be small: a gain near 0 switches a norm off,
        and the vector of a rare word would shrink between its occurrences.
    label_smoothing : float, default 0.1
        The loss function applies it, not the loop. Every ``fit`` of `attn.applications` passes it
        to `attn.training.cross_entropy`; pass it to a loss of your own with
        ``functools.partial(loss, label_smoothing=config.label_smoothing)``.
    clip_norm : float, default 1.0
        A gradient with a larger norm is scaled down to it. ``math.inf`` turns clipping off.
    seed : int, default 0
        The seed of the order of the examples and of dropout.
    validate_every, checkpoint_every : int, optional
        The number of steps between validations, and between checkpoints. If a file is given, the
        end has a checkpoint too.
    patience : int, optional
        Training stops after this number of validations without a new best loss, and restores the
        best weights.
    precision : {"float32", "bfloat16"}, default "float32"
        bfloat16 computes matrix products with half the bits; weights and losses stay float32.
    compile : bool, default False
        Whether to compile model and loss with ``torch.compile``.
    device : {"auto", "cpu", "cuda", "mps"}, default "auto"
        As in `attn.training.choose_device`.

    Raises
    ------
    ValueError
        If a value is not one of those described.

    References
    ----------
    Vaswani et al. (2017), sections 5.3 and 5.4, for the betas and the smoothing. Loshchilov and
    Hutter (2019), for AdamW.

    Examples
    --------
    >>> TrainingConfig(steps=0)
    Traceback (most recent call last):
    ValueError: steps: expected at least 1, got 0
    """

    steps: int
    batch_size: int = 64
    batch_tokens: int | None = None
    learning_rate: float = 1e-3
    warmup_steps: int = 200
    schedule: str = "cosine"
    optimizer: str = "adamw"
    betas: tuple[float, float] = (0.9, 0.98)
    weight_decay: float = 0.01
    decayed: str = "all"
    label_smoothing: float = 0.1
    clip_norm: float = 1.0
    seed: int = 0
    validate_every: int | None = None
    patience: int | None = None
    checkpoint_every: int | None = None
    precision: str = "float32"
    compile: bool = False
    device: str = "auto"

    def __post_init__(self) -> None:
        sizes = ["steps", "batch_size", "warmup_steps"]
        optional = ["batch_tokens", "validate_every", "patience", "checkpoint_every"]
        for name in sizes + [name for name in optional if getattr(self, name) is not None]:
            # A checkpoint could not be read back with NumPy numbers in it.
            object.__setattr__(self, name, check_size(name, getattr(self, name), least=1))
        object.__setattr__(self, "seed", check_size("seed", self.seed))
        if self.seed >= 2**63:
            raise argument_error("seed", "below 2**63", self.seed)
        self._check_number("learning_rate", "a finite number above 0", lambda x: 0 < x < math.inf)
        self._check_number("weight_decay", "a finite number from 0", lambda x: 0 <= x < math.inf)
        self._check_number("clip_norm", "a number above 0", lambda x: x > 0)
        self._check_number("label_smoothing", "a number in [0, 1)", lambda x: 0 <= x < 1)
        if not isinstance(self.betas, (tuple, list)) or len(self.betas) != 2:
            raise argument_error("betas", "two numbers", repr(self.betas))
        for beta in self.betas:
            check_fraction("betas", beta)
        object.__setattr__(self, "betas", tuple(map(float, self.betas)))
        check_choice("schedule", self.schedule, SCHEDULES)
        check_choice("optimizer", self.optimizer, OPTIMIZERS)
        check_choice("decayed", self.decayed, DECAYED)
        check_choice("precision", self.precision, PRECISIONS)
        check_choice("device", self.device, DEVICES)
        if not isinstance(self.compile, bool):
            raise argument_error("compile", "True or False", repr(self.compile))
        if self.patience is not None and self.validate_every is None:
            raise argument_error("patience", "None without validate_every", self.patience)

    def _check_number(self, name: str, expected: str, holds: Callable[[float], bool]) -> None:
        number = getattr(self, name)
        is_real = isinstance(number, numbers.Real) and not isinstance(number, bool)
        if not is_real or not holds(number):
            raise argument_error(name, expected, repr(number))
        object.__setattr__(self, name, float(number))
