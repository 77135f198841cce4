"""LoRA: a frozen model learns a task with a few additional parameters."""

import copy

import torch
from torch import Tensor, nn

from attn._checks import argument_error, check_size


class LowRank(nn.Module):
    """A frozen linear layer plus the product of two narrow matrices.

    The second matrix starts at 0, so that the layer is unchanged at first.

    Parameters
    ----------
    linear : nn.Linear
        The layer, whose weights are frozen.
    rank : int
        The inner size of the two matrices.
    alpha : float, optional
        The product is multiplied by ``alpha / rank``; by 1 if not given.

    References
    ----------
    Hu et al. (2022), LoRA: Low-Rank Adaptation of Large Language Models, section 4.1.

    Examples
    --------
    >>> layer = LowRank(nn.Linear(512, 512), rank=4)
    >>> sum(p.numel() for p in layer.parameters() if p.requires_grad)
    4096
    """

    def __init__(self, linear: nn.Linear, rank: int, alpha: float | None = None) -> None:
        super().__init__()
        check_size("rank", rank, least=1)
        self.linear = linear.requires_grad_(False)
        self.scale = 1.0 if alpha is None else alpha / rank
        self.down = nn.Parameter(linear.weight.new_empty(rank, linear.in_features))
        self.up = nn.Parameter(linear.weight.new_zeros(linear.out_features, rank))
        nn.init.normal_(self.down, std=linear.in_features**-0.5)

    def forward(self, x: Tensor) -> Tensor:
        """Return a Tensor of shape (..., out_features) for one of shape (..., in_features)."""
        product: Tensor = self.linear(x) + self.scale * (x @ self.down.T @ self.up.T)
        return product

    @torch.no_grad()
    def merged(self) -> nn.Linear:
        """Return one linear layer that computes the same."""
        # The copy leaves the matrix unchanged for another layer that shares it, such as an
        # embedding.
        linear = copy.deepcopy(self.linear)
        linear.weight += self.scale * self.up @ self.down
        return linear


def adapt(
    model: nn.Module,
    rank: int,
    alpha: float | None = None,
    names: tuple[str, ...] = ("q_proj", "v_proj"),
) -> list[nn.Parameter]:
    """Freeze a model, replace some layers by `LowRank`, and return the trainable parameters.

    Parameters
    ----------
    model : Module
    rank, alpha
        As in `LowRank`.
    names : tuple of str
        The names of the linear layers in their modules.

    Raises
    ------
    ValueError
        If no linear layer has such a name.
    """
    model.requires_grad_(False)
    found = [
        (module, name)
        for module in model.modules()
        for name in names
        if isinstance(getattr(module, name, None), nn.Linear)
    ]
    if not found:
        raise argument_error("names", "those of linear layers of the model", names)
    for module, name in found:
        setattr(module, name, LowRank(getattr(module, name), rank, alpha))
    return [p for p in model.parameters() if p.requires_grad]


def merge(model: nn.Module) -> None:
    """Replace every `LowRank` of a model by a linear layer with the learned weights."""
    for module in list(model.modules()):
        for name, child in list(module.named_children()):
            if isinstance(child, LowRank):
                setattr(module, name, child.merged())
