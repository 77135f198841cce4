"""The feed-forward network: each position by itself, through a wider layer and back."""

from collections.abc import Callable
from functools import partial

from torch import Tensor, nn
from torch.nn import functional as F

from attn._checks import check_choice, check_shape, check_size
from attn._linear import Linear

# What happens between the two linear layers. A gated kind multiplies by what a third one computes.
ACTIVATIONS: dict[str, Callable[[Tensor], Tensor]] = {
    "relu": F.relu,
    "gelu": F.gelu,
    "gelu_tanh": partial(F.gelu, approximate="tanh"),
    "swiglu": F.silu,
    "geglu": F.gelu,
}
GATED = ("swiglu", "geglu")


class FeedForward(nn.Module):
    """Transform each position by itself: ``max(0, x W1 + b1) W2 + b2``.

    Parameters
    ----------
    d_model : int
        Size of the token vectors.
    d_ff : int
        Size in between; four times `d_model` in the paper.
    activation : {"relu", "gelu", "gelu_tanh", "swiglu", "geglu"}, default "relu"
        The nonlinearity f in between. The paper's is relu; GELU comes exact, as in BERT, and
        with the tanh that GPT-2 approximates it by. The last two are gated, with a third matrix:
        ``(f(x W1 + b1) * (x W3 + b3)) W2 + b2``, where f is SiLU, ``z sigmoid(z)``, in SwiGLU
        and GELU in GEGLU.
    bias : bool, default True
        Whether the linear layers add a learned bias.

    References
    ----------
    Vaswani et al. (2017), Eq. 2. Hendrycks and Gimpel (2016), Gaussian Error Linear Units.
    Shazeer (2020), GLU Variants Improve Transformer, Eqs. 5 and 6. Document 003, on the
    feed-forward network.

    Examples
    --------
    >>> import torch
    >>> FeedForward(d_model=8, d_ff=32)(torch.ones(2, 5, 8)).shape
    torch.Size([2, 5, 8])
    >>> [name for name, _ in FeedForward(8, 32, "swiglu", bias=False).named_parameters()]
    ['linear_1.weight', 'linear_2.weight', 'linear_3.weight']
    """

    def __init__(
        self, d_model: int, d_ff: int, activation: str = "relu", bias: bool = True
    ) -> None:
        super().__init__()
        check_choice("activation", activation, ACTIVATIONS)
        self.d_model = check_size("d_model", d_model, least=1)
        self.activation = activation
        self.linear_1 = Linear(d_model, check_size("d_ff", d_ff, least=1), bias)
        self.linear_2 = Linear(d_ff, d_model, bias)
        self.linear_3 = Linear(d_model, d_ff, bias) if activation in GATED else None
        for linear in filter(None, (self.linear_1, self.linear_2, self.linear_3)):
            nn.init.xavier_uniform_(linear.weight)
            if bias:
                nn.init.zeros_(linear.bias)

    def forward(self, x: Tensor) -> Tensor:
        """Return a Tensor of the shape of `x`, (..., d_model)."""
        check_shape("x", x, (..., self.d_model))
        hidden = ACTIVATIONS[self.activation](self.linear_1(x))
        if self.linear_3 is not None:
            hidden = hidden * self.linear_3(x)
        x = self.linear_2(hidden)
        return x
