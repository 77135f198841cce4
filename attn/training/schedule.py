"""The learning rate schedule: warm-up, then decay."""

import math

from attn.training.config import TrainingConfig


def learning_rate(step: int, config: TrainingConfig) -> float:
    """Return the learning rate of a step, from 1 to ``config.steps``.

    Up to the step ``warmup_steps`` it grows linearly from 0 to its peak, ``config.learning_rate``.
    Then it falls with the inverse square root of the step, or along half a cosine wave that would
    reach 0 one step after the last.

    References
    ----------
    Vaswani et al. (2017), Eq. 3: "inverse_sqrt" with the peak ``(d_model * warmup_steps) ** -0.5``.
    Loshchilov and Hutter (2017), SGDR, Eq. 5, for the cosine.

    Examples
    --------
    >>> from attn.training import TrainingConfig
    >>> config = TrainingConfig(steps=9, warmup_steps=2, learning_rate=1.0)
    >>> [round(learning_rate(step, config), 2) for step in range(1, 10)]
    [0.5, 1.0, 0.96, 0.85, 0.69, 0.5, 0.31, 0.15, 0.04]
    """
    warmup = config.warmup_steps
    if step <= warmup:
        return config.learning_rate * step / warmup
    if config.schedule == "inverse_sqrt":
        return config.learning_rate * math.sqrt(warmup / step)
    fallen = (step - warmup) / (config.steps + 1 - warmup)
    return config.learning_rate * (1 + math.cos(math.pi * fallen)) / 2
