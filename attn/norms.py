"""What keeps the numbers of a deep stack in bounds: the two norms that layers choose from."""

from typing import TypeAlias

from torch import nn

from attn._checks import check_choice

NORMS = ("layer", "rms")
Norm: TypeAlias = nn.LayerNorm | nn.RMSNorm


def new_norm(normalization: str, d_model: int, eps: float = 1e-5, bias: bool = True) -> Norm:
    """Return a norm of vectors: to mean 0 and variance 1, or only to a mean square of 1.

    Parameters
    ----------
    normalization : {"layer", "rms"}
        LayerNorm, or RMSNorm, which neither subtracts the mean nor adds a bias.
    d_model : int
        Size of the vectors.
    eps : float, default 1e-5
        What is added to the variance, or to the mean square.
    bias : bool, default True
        Whether LayerNorm adds a learned bias.

    References
    ----------
    Ba et al. (2016), Layer Normalization. Zhang and Sennrich (2019), Root Mean Square Layer
    Normalization.

    Examples
    --------
    >>> import torch
    >>> new_norm("rms", 2)(torch.tensor([1.0, 7.0])).detach()
    tensor([0.2000, 1.4000])
    """
    check_choice("normalization", normalization, NORMS)
    return (
        nn.RMSNorm(d_model, eps)
        if normalization == "rms"
        else nn.LayerNorm(d_model, eps, bias=bias)
    )
