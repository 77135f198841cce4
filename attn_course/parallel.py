"""A layer shared out among processes, as `torchrun` starts them: tensor parallel and expert parallel.

Under *data parallelism* each process has the whole model and a part of the batch, and the gradients
are summed once a step: `attn.training.processes.Processes.sum_gradients`. Here the model itself is in
parts. `TensorParallel` gives each process some heads of an attention, or some units of a feed-forward
network, and all the tokens; `ExpertParallel` gives it some of the experts, and tokens travel to theirs.
"""

import copy

import torch
from torch import Tensor, distributed, nn

from attn._checks import argument_error
from attn.attention import MultiHeadAttention
from attn.experts import Experts
from attn.layers import FeedForward
from attn.training.processes import Processes

# The matrices whose rows are shared out, those of PyTorch's (out_features, in_features), and the
# one whose columns are.
SHARED = {
    FeedForward: (("linear_1", "linear_3"), "linear_2"),
    MultiHeadAttention: (("q_proj", "k_proj", "v_proj"), "out_proj"),
}


class TensorParallel(nn.Module):
    """One process's part of an attention or a feed-forward network, with its place in a layer.

    The output is the sum of what the parts compute, the same in all processes. It takes one sum
    over the processes on the way forward, and one on the way back.

    Parameters
    ----------
    whole : FeedForward or MultiHeadAttention
        The same in all processes. It is not changed.
    processes : attn.training.processes.Processes
        From `attn.training.processes.join`.

    Attributes
    ----------
    part : FeedForward or MultiHeadAttention
        With ``1 / processes.count`` of the units or heads, and without the bias of the last matrix.
    bias : Parameter or None
        That bias, which is added once, after the sum.

    Raises
    ------
    ValueError
        If `whole` is another module or has other parameters than the projections, or if its units or
        its heads of keys and values cannot be shared out evenly.

    References
    ----------
    Shoeybi et al. (2019), Megatron-LM, section 3.

    Examples
    --------
    >>> from attn.training.processes import join
    >>> whole = FeedForward(d_model=8, d_ff=32)
    >>> shared, x = TensorParallel(whole, join("cpu")), torch.randn(5, 8)
    >>> torch.allclose(shared(x), whole(x))
    True
    """

    def __init__(self, whole: FeedForward | MultiHeadAttention, processes: Processes) -> None:
        super().__init__()
        rank, count = processes.rank, processes.count
        if type(whole) not in SHARED:
            wanted = "a FeedForward or a MultiHeadAttention"
            raise argument_error("whole", wanted, type(whole).__name__)
        names, last = SHARED[type(whole)]
        others = {name.split(".")[0] for name, _ in whole.named_parameters()} - {*names, last}
        if others or getattr(whole, "relative", None) is not None:
            wanted = "one without a norm, a sink, a gate or positions of its own"
            raise argument_error("whole", wanted, ", ".join(sorted(others)) or "relative")
        units = getattr(whole, "n_kv_heads", getattr(whole, last).in_features)
        if units % count:
            raise argument_error("whole", f"units or heads that {count} divides", units)

        self.d_model = whole.d_model
        self.part = copy.deepcopy(whole)
        for name in names:
            linear = getattr(self.part, name)
            if linear is not None:
                linear.weight = _own(linear.weight, 0, rank, count)
                linear.bias = None if linear.bias is None else _own(linear.bias, 0, rank, count)
        linear = getattr(self.part, last)
        linear.weight = _own(linear.weight, 1, rank, count)
        self.bias, linear.bias = linear.bias, None
        if isinstance(self.part, MultiHeadAttention):
            self.part.n_heads //= count
            self.part.n_kv_heads //= count

    def forward(self, x: Tensor, **options):
        """Return what the whole module would, and of attention weights those of the own heads.

        Parameters
        ----------
        x : Tensor, shape (..., d_model)
            The same in all processes.
        **options
            As `MultiHeadAttention` takes them.
        """
        y = self.part(_Enter.apply(x), **options)
        y, rest = (y[0], y[1:]) if isinstance(y, tuple) else (y, None)
        y = _Leave.apply(y)
        y = y if self.bias is None else y + self.bias
        return y if rest is None else (y, *rest)


class ExpertParallel(nn.Module):
    """One process's part of the experts of a layer, with the router and the shared expert.

    Each process brings tokens of its own. They travel to the processes that have their experts, and
    what these compute travels back: two exchanges forward, two on the way back. The gradients of
    the experts are then complete. The gradients of the router and of the shared expert, which all
    processes have, must still be summed, as in data parallelism.

    Parameters
    ----------
    whole : attn.experts.Experts
        The same in all processes, with ``balance="none"``. It is not changed.
    processes : attn.training.processes.Processes

    Attributes
    ----------
    experts : ModuleList of FeedForward
        Those of this process.
    common : Experts
        The router and the shared expert.

    Raises
    ------
    ValueError
        If `whole` balances its experts, or has a number of them that cannot be shared out evenly.

    References
    ----------
    Lepikhin et al. (2020), GShard. Fedus et al. (2022), Switch Transformers, Figure 9.

    Examples
    --------
    >>> from attn.experts import MixtureOfExperts
    >>> from attn.training.processes import join
    >>> whole = Experts(8, MixtureOfExperts(n_experts=4, n_active=2, d_expert=16))
    >>> shared, x = ExpertParallel(whole, join("cpu")), torch.randn(5, 8)
    >>> torch.equal(shared(x), whole(x))
    True
    """

    def __init__(self, whole: Experts, processes: Processes) -> None:
        super().__init__()
        if not isinstance(whole, Experts):
            raise argument_error("whole", "an Experts", type(whole).__name__)
        self.count, self.n_experts = processes.count, len(whole.experts)
        if whole.balance != "none":
            raise argument_error("whole", "experts of balance = 'none'", whole.balance)
        if self.n_experts % self.count:
            raise argument_error("whole", f"experts that {self.count} divides", self.n_experts)
        self.d_model, self.n_local = whole.d_model, self.n_experts // self.count
        self.common = copy.deepcopy(whole)
        first = processes.rank * self.n_local
        self.experts = self.common.experts[first : first + self.n_local]
        self.common.experts = nn.ModuleList()

    def forward(self, x: Tensor) -> Tensor:
        """Return a Tensor of the shape of `x`, (..., d_model): what the experts make of these tokens."""
        rows = x.reshape(-1, self.d_model)
        chosen, weights = self.common.route(rows)
        # A token occurs here once for each of its experts, sorted by expert, then by position.
        order = chosen.flatten().argsort(stable=True)
        token = order // self.common.n_active
        counts = chosen.flatten().bincount(minlength=self.n_experts).view(self.count, -1)
        arriving = _exchanged(counts, [1] * self.count, [1] * self.count)
        sent, received = counts.sum(1).tolist(), arriving.sum(1).tolist()

        arrived = _Exchange.apply(rows[token], sent, received)
        # The rows arrive from one process after another, sorted by expert within each.
        pieces = [*arrived.split(arriving.flatten().tolist())]
        for i, expert in enumerate(self.experts):
            of_all = slice(i, None, self.n_local)
            lengths = [len(piece) for piece in pieces[of_all]]
            pieces[of_all] = expert(torch.cat(pieces[of_all])).split(lengths)
        computed = _Exchange.apply(torch.cat(pieces), received, sent)

        weighted = computed * weights.flatten()[order, None]
        y = torch.zeros_like(rows).index_add(0, token, weighted)
        if self.common.shared is not None:
            y = y + self.common.shared(rows)
        return y.view(x.shape)


class _Enter(torch.autograd.Function):
    """The identity forward; the sum of all gradients backward. The f of Megatron-LM."""

    @staticmethod
    def forward(ctx, x):
        return x.view_as(x)

    @staticmethod
    def backward(ctx, gradient):
        return _summed(gradient)


class _Leave(torch.autograd.Function):
    """The sum over all processes forward; the identity backward. The g of Megatron-LM."""

    @staticmethod
    def forward(ctx, x):
        return _summed(x)

    @staticmethod
    def backward(ctx, gradient):
        return gradient


class _Exchange(torch.autograd.Function):
    """Rows that go to other processes; on the way back their gradients return to where they came from."""

    @staticmethod
    def forward(ctx, rows, sent, received):
        ctx.sent, ctx.received = sent, received
        return _exchanged(rows, sent, received)

    @staticmethod
    def backward(ctx, gradient):
        return _exchanged(gradient, ctx.received, ctx.sent), None, None


def _summed(x):
    """Return the sum of a tensor over the processes."""
    x = x.clone(memory_format=torch.contiguous_format)
    if distributed.is_initialized():
        distributed.all_reduce(x)
    return x


def _exchanged(rows, sent, received):
    """Return the rows that all processes have for this one; `sent[i]` of its own go to process i."""
    if not distributed.is_initialized():
        return rows.clone()
    arrived = rows.new_empty(sum(received), *rows.shape[1:])
    distributed.all_to_all_single(arrived, rows.contiguous(), received, sent)
    return arrived


def _own(parameter, axis, rank, count):
    """Return this process's piece of a parameter."""
    return nn.Parameter(parameter.detach().chunk(count, axis)[rank].clone())
