"""Optimisers: AdamW alone, or with Muon for the weight matrices of linear layers."""

from collections.abc import Callable, Iterable
from typing import Any

import torch
from torch import Tensor, nn
from torch.optim import Optimizer

from attn._checks import argument_error
from attn.positions import PositionScheme
from attn.training.config import TrainingConfig

# The odd polynomial a x + b x^3 + c x^5 that Jordan et al. found: steep at 0, and in five rounds it
# brings every value that is not tiny to between 0.68 and 1.14.
COEFFICIENTS = (3.4445, -4.7750, 2.0315)
ROUNDS = 5
MOMENTUM = 0.95


def make_optimizers(model: nn.Module, config: TrainingConfig) -> list[Optimizer]:
    """Return the optimisers of the parameters of a model, whose learning rates the training sets.

    AdamW alone; or Muon for the weight matrices of linear layers, and AdamW for all else.

    References
    ----------
    Loshchilov and Hutter (2019), for AdamW. `Muon` names its own.
    """
    matrices, others = _split(model)
    decay = {"weight_decay": config.weight_decay}
    rest = {"params": others, "weight_decay": 0.0}
    if config.optimizer == "muon":
        # Muon takes two-dimensional parameters. AdamW takes those with more axes, such as kernels
        # of convolutions.
        flat = [p for p in matrices if p.ndim == 2]
        stacks = {"params": [p for p in matrices if p.ndim > 2], **decay}
        muon = [Muon(flat, weight_decay=config.weight_decay)] if flat else []
        rest = rest if config.decayed == "matrices" else rest | decay
        return [*muon, *_adamw([stacks, rest], config)]
    if config.decayed == "all":
        return _adamw([{"params": list(model.parameters()), **decay}], config)
    return _adamw([{"params": matrices, **decay}, rest], config)


class Muon(Optimizer):
    """Momentum whose matrix is made orthogonal before each step, in the precision of the weights.

    With the gradient ``G``, the learning rate ``eta`` and ``mu = 0.95``, a step is ::

        M <- mu M + (1 - mu) G
        W <- (1 - eta weight_decay) W - 0.2 eta sqrt(max(n, m)) O(mu M + (1 - mu) G)

    for a matrix of n rows and m columns; `orthogonalised` is O. ``torch.optim.Muon`` with
    ``adjust_lr_fn="match_rms_adamw"`` takes the same step, except that it computes O in bfloat16:
    faster than this class where the processor has instructions for bfloat16, and many times slower
    where it has none. A parameter that does not have two dimensions is refused.

    References
    ----------
    Jordan et al. (2024), Muon: an optimizer for hidden layers in neural networks; Liu et al.
    (2025), Muon is Scalable for LLM Training, section 2.2, for the factor with which it takes the
    learning rate of AdamW.

    Examples
    --------
    >>> weight = nn.Parameter(torch.zeros(2, 2))
    >>> weight.grad = torch.tensor([[3.0, 0.0], [0.0, 1.0]])
    >>> Muon([weight], lr=1.0).step()
    >>> (weight.detach() / (0.2 * 2**0.5)).round(decimals=1)
    tensor([[-0.8000,  0.0000],
            [ 0.0000, -1.1000]])
    """

    def __init__(
        self, parameters: Iterable[nn.Parameter], lr: float = 1e-3, weight_decay: float = 0.0
    ) -> None:
        parameters = list(parameters)
        other = next((tuple(p.shape) for p in parameters if p.ndim != 2), None)
        if other is not None:
            raise argument_error("parameters", "matrices, of two dimensions", f"shape {other}")
        super().__init__(parameters, {"lr": lr, "weight_decay": weight_decay})

    @torch.no_grad()
    def step(self, closure: Callable[[], Any] | None = None) -> Any:
        """Take a step with the gradients that the parameters have."""
        loss = None
        if closure is not None:
            with torch.enable_grad():
                loss = closure()
        for group in self.param_groups:
            lr, decay = group["lr"], group["weight_decay"]
            for weight in group["params"]:
                if weight.grad is None:
                    continue
                state = self.state[weight]
                if not state:
                    state["momentum"] = torch.zeros_like(weight)
                momentum = state["momentum"].lerp_(weight.grad, 1 - MOMENTUM)
                # Nesterov: the step uses the updated momentum, mixed once more with the gradient.
                ahead = weight.grad.lerp(momentum, MOMENTUM)
                scale = 0.2 * max(weight.shape) ** 0.5
                weight.mul_(1 - lr * decay).add_(orthogonalised(ahead), alpha=-lr * scale)
        return loss


def orthogonalised(matrix: Tensor) -> Tensor:
    """Return nearly the orthogonal matrix that is nearest to one of shape (n, m).

    Five rounds of Newton and Schulz, ``X <- a X + b (X X^T) X + c (X X^T)^2 X``, turn each singular
    value x into a x + b x^3 + c x^5 and leave the singular vectors as they are. The rounds start
    with values of at most 1, and values above 0.01 end between 0.68 and 1.14.

    References
    ----------
    Jordan et al. (2024), with the coefficients.

    Examples
    --------
    >>> torch.linalg.svdvals(orthogonalised(torch.tensor([[3.0, 1.0], [0.0, 0.2]]))).round(decimals=1)
    tensor([1.0000, 0.7000])
    """
    a, b, c = COEFFICIENTS
    # The product with the transpose is smaller if the matrix is wide.
    is_tall = matrix.shape[0] > matrix.shape[1]
    x = matrix.T if is_tall else matrix
    x = x / x.norm().clamp(min=1e-7)
    for _ in range(ROUNDS):
        square = x @ x.T
        x = torch.addmm(x, torch.addmm(square, square, square, beta=b, alpha=c), x, beta=a)
    return x.T if is_tall else x


def _adamw(groups: list[dict[str, object]], config: TrainingConfig) -> list[Optimizer]:
    """Return a list with AdamW for the groups that have parameters, or an empty list."""
    groups = [group for group in groups if group["params"]]
    return [torch.optim.AdamW(groups, betas=config.betas, eps=1e-9, fused=True)] if groups else []


def _split(model: nn.Module) -> tuple[list[nn.Parameter], list[nn.Parameter]]:
    """Return the weight matrices, and the other parameters: embeddings, norms, biases."""
    # A matrix that the embedding shares with the output layer counts as an embedding.
    tables = {
        p
        for module in model.modules()
        if isinstance(module, (nn.Embedding, PositionScheme))
        for p in module.parameters(recurse=False)
    }
    matrices = [p for p in model.parameters() if p.ndim > 1 and p not in tables]
    others = [p for p in model.parameters() if p.ndim <= 1 or p in tables]
    return matrices, others
