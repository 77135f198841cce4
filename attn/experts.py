"""A mixture of experts: many feed-forward networks, of which each token takes a few.

`MixtureOfExperts` describes it, in ``TransformerConfig(experts=...)``; `Experts` is the module that
stands in the place of `attn.layers.FeedForward`. A router that is only trained with the loss sends
ever more tokens to the experts that learnt first. Two methods prevent this: `balance_losses`, and a
bias, which needs no additional loss.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

import torch
from torch import Tensor, nn

from attn._checks import argument_error, check_choice, check_number, check_shape, check_size
from attn._registry import ModelConfig
from attn.attention.multi_head import Linear
from attn.layers import GATED, FeedForward

STEP = 0.001


@dataclass(frozen=True)
class MixtureOfExperts:
    """The description of a mixture of experts.

    Parameters
    ----------
    n_experts : int
        How many there are to choose from.
    n_active : int
        How many of them each token takes.
    d_expert : int
        Inner size of each.
    n_shared : int, default 0
        How many more every token takes.
    balance : {"none", "loss", "bias"}, default "none"
        Who sees to it that all are used: nobody; a loss, see `balance_losses`; or a number for each
        expert, added to its score when tokens choose, which grows while the expert has too few.
    bias_step : float, default 0.001
        How much that number changes with every pass in training; given only where there is one.

    References
    ----------
    Shazeer et al. (2017), Outrageously Large Neural Networks. DeepSeek-AI (2024), DeepSeek-V3, section
    2.1.2, for shared experts and the bias.

    Examples
    --------
    >>> from attn.transformer import DecoderOnly, TransformerConfig
    >>> experts = MixtureOfExperts(n_experts=8, n_active=2, d_expert=16, n_shared=1)
    >>> config = TransformerConfig(10, d_model=8, n_heads=2, n_layers=1, experts=experts)
    >>> DecoderOnly(config)(torch.tensor([[5, 6, 7]]))[0].shape
    torch.Size([1, 3, 10])
    """

    n_experts: int
    n_active: int
    d_expert: int
    n_shared: int = 0
    balance: str = "none"
    bias_step: float = STEP

    def __post_init__(self) -> None:
        least = {"n_experts": 2, "n_active": 1, "d_expert": 1, "n_shared": 0}
        for name, smallest in least.items():
            object.__setattr__(self, name, check_size(name, getattr(self, name), smallest))
        if self.n_active > self.n_experts:
            raise argument_error("n_active", f"at most n_experts = {self.n_experts}", self.n_active)
        check_choice("balance", self.balance, ("none", "loss", "bias"))
        object.__setattr__(self, "bias_step", check_number("bias_step", self.bias_step))
        if self.balance != "bias" and self.bias_step != STEP:
            raise argument_error("bias_step", f"{STEP} unless balance is 'bias'", self.bias_step)

    def new_module(self, config: ModelConfig) -> "Experts":
        """Return the experts of one layer."""
        return Experts(config.d_model, self, config.activation, config.bias)

    def step_flops(self, config: ModelConfig) -> int:
        """Return the operations for one token; see `attn.mixers.Mixer.step_flops`."""
        n_matrices = 3 if config.activation in GATED else 2
        inner = n_matrices * self.d_expert * (self.n_active + self.n_shared)
        return 2 * config.d_model * (self.n_experts + inner)


class Experts(nn.Module):
    """Transform each token by a few of many networks, as its router chooses.

    The outputs of the chosen experts are weighted by their scores, which sum to 1: a softmax of
    products with a vector for each expert, or with ``balance="bias"`` their sigmoids. If a token
    takes one expert only, its weight is its score, or the router would learn nothing. In a graph of
    ``torch.compile``, or an exported one, all experts compute all tokens.

    Parameters
    ----------
    d_model : int
    experts : MixtureOfExperts
    activation : str, default "relu"
    bias : bool, default True
        As in `attn.layers.FeedForward`.

    References
    ----------
    Jiang et al. (2024), Mixtral of Experts, section 2.1. Fedus et al. (2022), Switch Transformers,
    Eq. 2, for one. DeepSeek-AI (2024), DeepSeek-V3, Eqs. 12 to 16.

    Examples
    --------
    >>> experts = Experts(8, MixtureOfExperts(n_experts=4, n_active=2, d_expert=16))
    >>> experts(torch.ones(2, 5, 8)).shape
    torch.Size([2, 5, 8])
    """

    favour: Tensor | None

    def __init__(
        self,
        d_model: int,
        experts: MixtureOfExperts,
        activation: str = "relu",
        bias: bool = True,
    ) -> None:
        super().__init__()
        self.d_model, self.n_active, self.balance = d_model, experts.n_active, experts.balance
        self.bias_step, d_expert = experts.bias_step, experts.d_expert
        self.router = Linear(d_model, experts.n_experts, bias=False)
        nn.init.xavier_uniform_(self.router.weight)
        self.experts = nn.ModuleList(
            FeedForward(d_model, d_expert, activation, bias) for _ in range(experts.n_experts)
        )
        # All tokens take the shared experts, so they are one network of their joint size.
        d_shared = experts.n_shared * d_expert
        self.shared = FeedForward(d_model, d_shared, activation, bias) if d_shared else None
        is_biased = experts.balance == "bias"
        self.register_buffer("favour", torch.zeros(experts.n_experts) if is_biased else None)
        # A list while `balance_losses` collects them; otherwise None.
        self._losses: list[Tensor] | None = None

    def forward(self, x: Tensor) -> Tensor:
        """Return a Tensor of the shape of `x`, (..., d_model)."""
        check_shape("x", x, (..., self.d_model))
        rows = x.reshape(-1, self.d_model)
        chosen, weights = self.route(rows)
        if torch.compiler.is_compiling():
            everywhere = weights.new_zeros(rows.shape[0], len(self.experts))
            everywhere = everywhere.scatter(-1, chosen, weights)
            outputs = (
                expert(rows) * everywhere[:, i, None] for i, expert in enumerate(self.experts)
            )
            y = torch.stack([*outputs]).sum(dim=0)
        else:
            y = torch.zeros_like(rows)
            for i, expert in enumerate(self.experts):
                row, place = torch.where(chosen == i)
                y = y.index_add(0, row, expert(rows[row]) * weights[row, place, None])
        if self.shared is not None:
            y = y + self.shared(rows)
        return y.view(x.shape)

    def route(self, rows: Tensor) -> tuple[Tensor, Tensor]:
        """Return which experts each token of `rows`, shape (n_tokens, d_model), takes, and the
        weight of each: two tensors of shape (n_tokens, n_active).

        In training with a bias, the experts that were chosen too rarely gain favour.
        """
        scores = self.router(rows)
        scores = scores.sigmoid() if self.favour is not None else scores.softmax(dim=-1)
        wanted = scores if self.favour is None else scores + self.favour
        chosen = wanted.topk(self.n_active, dim=-1).indices
        weights = scores.gather(-1, chosen)
        if self.n_active > 1:
            weights = weights / weights.sum(dim=-1, keepdim=True)
        if self._losses is not None:
            # DeepSeek-V2, Eqs. 23 to 25: the share of tokens times the mean score, 1 if balanced.
            share = self._load(chosen) / chosen.numel()
            self._losses.append(len(self.experts) * (share * scores.mean(dim=0)).sum())
        if self.training and self.favour is not None:
            load = self._load(chosen)
            with torch.no_grad():
                self.favour += self.bias_step * (load.mean() - load).sign()
        return chosen, weights

    def _load(self, chosen: Tensor) -> Tensor:
        """Return how many times each expert was chosen."""
        numbers = torch.arange(len(self.experts), device=chosen.device)
        return (chosen.flatten()[:, None] == numbers).to(self.router.weight.dtype).sum(dim=0)


@contextmanager
def balance_losses(model: nn.Module) -> Iterator[list[Tensor]]:
    """Collect the terms to add to the loss so that all experts are used.

    Parameters
    ----------
    model : Module
        Its experts with ``balance="loss"`` each add a number for every pass within the block: 1 if
        all are used alike, up to ``n_experts / n_active`` if the same few take all tokens.

    Yields
    ------
    list of Tensor, shape ()
        Multiply their sum by a small number, such as 0.01.

    Raises
    ------
    ValueError
        If there are no such experts.

    References
    ----------
    Fedus et al. (2022), Switch Transformers, Eqs. 4 to 6. DeepSeek-AI (2024), DeepSeek-V2, Eqs. 23 to
    25, for several experts a token.

    Examples
    --------
    >>> experts = Experts(8, MixtureOfExperts(4, 2, 16, balance="loss"))
    >>> with balance_losses(experts) as losses:
    ...     loss = experts(torch.randn(3, 5, 8)).square().mean()
    >>> (loss + 0.01 * sum(losses)).backward()
    """
    modules = [m for m in model.modules() if isinstance(m, Experts) and m.balance == "loss"]
    if not modules:
        raise argument_error("model", "one with experts of balance = 'loss'", type(model).__name__)
    losses: list[Tensor] = []
    for module in modules:
        module._losses = losses
    try:
        yield losses
    finally:
        for module in modules:
            module._losses = None
