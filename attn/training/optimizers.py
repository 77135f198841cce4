"""Optimisers: AdamW alone, or with Muon for the weight matrices of linear layers."""

from functools import partial

import torch
from torch import nn
from torch.optim import Optimizer

from attn._checks import argument_error
from attn.positions import PositionScheme
from attn.training.config import TrainingConfig


def make_optimizers(model: nn.Module, config: TrainingConfig) -> list[Optimizer]:
    """Return the optimisers of the parameters of a model, whose learning rates the training sets.

    AdamW alone; or Muon for the weight matrices of linear layers, and AdamW for all else.

    References
    ----------
    Loshchilov and Hutter (2019), for AdamW. Jordan et al. (2024), Muon: an optimizer for hidden
    layers in neural networks; Liu et al. (2025), Muon is Scalable for LLM Training, section 2.2,
    for the factor with which it takes the learning rate of AdamW.
    """
    matrices, others = _split(model)
    decay = {"weight_decay": config.weight_decay}
    rest = {"params": others, "weight_decay": 0.0}
    if config.optimizer == "muon":
        if not hasattr(torch.optim, "Muon"):
            raise argument_error(
                "optimizer", "'adamw', since Muon comes with PyTorch 2.9", "'muon'"
            )
        # Muon takes two-dimensional parameters. AdamW takes those with more axes, such as kernels
        # of convolutions.
        flat = [p for p in matrices if p.ndim == 2]
        stacks = {"params": [p for p in matrices if p.ndim > 2], **decay}
        make = partial(torch.optim.Muon, adjust_lr_fn="match_rms_adamw")
        muon = [make(flat, weight_decay=config.weight_decay)] if flat else []
        rest = rest if config.decayed == "matrices" else rest | decay
        return [*muon, *_adamw([stacks, rest], config)]
    if config.decayed == "all":
        return _adamw([{"params": list(model.parameters()), **decay}], config)
    return _adamw([{"params": matrices, **decay}, rest], config)


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
