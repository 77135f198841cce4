"""Data, tensor and expert parallel on two processes, against one process: bits, rounding and bytes.

``python -m experiments parallel`` starts two processes with ``torchrun``, which run this file. The
outputs and gradients of each process are compared with the expected ones, computed in two ways by a
single process: *in parts*, first the part of one process and then that of the other; and *in one
piece*.
"""

import subprocess
import sys
import tempfile
from pathlib import Path

import torch
from torch import distributed, nn

from attn.attention import MultiHeadAttention
from attn.experts import Experts, MixtureOfExperts
from attn.layers import EncoderLayer, FeedForward
from attn.training.processes import Processes, join
from attn_course import parallel
from attn_course.parallel import ExpertParallel, TensorParallel
from experiments.runner import DATA, Experiment, Row

COUNT = 2
# batch, length, d_model, heads, key-value heads, d_ff, experts, experts per token. A batch of 5
# gives the processes 3 texts and 2.
SHAPES = {
    "small": (2, 3, 8, 2, 2, 16, 4, 1),
    "uneven": (5, 9, 32, 8, 2, 48, 4, 2),
    "large": (6, 16, 64, 8, 4, 256, 8, 2),
}
DTYPES = {"float32": torch.float32, "float64": torch.float64}


def start(shape, dtype):
    """Return the input of a shape, a layer and a mixture of experts: the same in all processes."""
    batch, length, d_model, n_heads, n_kv_heads, d_ff, n_experts, n_active = SHAPES[shape]
    activation = "relu" if shape == "small" else "swiglu"
    torch.manual_seed(0)
    x = torch.randn(batch, length, d_model)
    attention = MultiHeadAttention(d_model, n_heads, n_kv_heads=n_kv_heads)
    network = FeedForward(d_model, d_ff, activation=activation)
    layer = EncoderLayer(d_model, n_heads, d_ff, norm="pre", mixer=attention, feed_forward=network)
    mixture = MixtureOfExperts(n_experts, n_active, d_ff // 2, n_shared=1)
    experts = Experts(d_model, mixture, activation)
    for parameter in (*layer.parameters(), *experts.parameters()):
        if parameter.dim() == 1:
            nn.init.normal_(parameter, std=0.1)
    return x.to(dtype), layer.to(dtype), experts.to(dtype)


def learn(module, x):
    """Return a module's output for x and the gradient of x, after one backward pass."""
    x = x.detach().clone().requires_grad_()
    y = module(x)
    y = y[0] if isinstance(y, tuple) else y
    y.square().sum().backward()
    return [y.detach(), x.grad]


def gradients(*modules):
    """Return the gradients of the parameters of some modules."""
    return [p.grad for module in modules for p in module.parameters()]


# What each of two processes does.


def data(processes, x, layer, _):
    """Run a part of the batch through the whole layer."""
    found = learn(layer, x.chunk(COUNT)[processes.rank])
    processes.sum_gradients([*layer.parameters()])
    return found + gradients(layer)


def tensor(processes, x, layer, _):
    """Run the whole batch through a part of the layer."""
    layer.self_attention = TensorParallel(layer.self_attention, processes)
    layer.feed_forward = TensorParallel(layer.feed_forward, processes)
    return learn(layer, x) + gradients(layer.self_attention, layer.feed_forward)


def experts(processes, x, _, whole):
    """Run a part of the batch through experts that are distributed over the processes."""
    module = ExpertParallel(whole, processes)
    found = learn(module, x.chunk(COUNT)[processes.rank])
    processes.sum_gradients([*module.common.parameters()])
    return found + gradients(module.experts, module.common)


KINDS = {"data": data, "tensor": tensor, "experts": experts}


# The same computed by one process, in parts: a list with the expected result of each of the two.


class InParts(nn.Module):
    """All parts of an attention or a feed-forward network, one after the other."""

    def __init__(self, whole):
        super().__init__()
        self.parts = nn.ModuleList(TensorParallel(whole, process) for process in two())
        self.d_model = whole.d_model

    def forward(self, x, **options):
        # Each part has its own view of x, so that the gradients within a part are summed before
        # those of all parts.
        found = [one.part(x.view_as(x), **options) for one in self.parts]
        is_attention = isinstance(found[0], tuple)
        y = sum(one[0] if is_attention else one for one in found) + self.parts[0].bias
        return (y, None) if is_attention else y

    def gradients(self, rank):
        """Return the gradients of one part, in the order of `TensorParallel`."""
        return [self.parts[0].bias.grad, *gradients(self.parts[rank].part)]


def two():
    """Return descriptions of both processes; neither is started."""
    return [Processes(rank, COUNT, torch.device("cpu")) for rank in range(COUNT)]


def data_in_parts(x, layer, _):
    """Run one half of the batch after the other; the gradients add up."""
    found = [learn(layer, half) for half in x.chunk(COUNT)]
    return [one + gradients(layer) for one in found]


def tensor_in_parts(x, layer, _):
    """Run the batch through one part after the other, and add the outputs."""
    modules = InParts(layer.self_attention), InParts(layer.feed_forward)
    layer.self_attention, layer.feed_forward = modules
    found = learn(layer, x)
    own = [[module.gradients(rank) for module in modules] for rank in range(COUNT)]
    return [found + attention + feed_forward for attention, feed_forward in own]


def experts_in_parts(x, _, whole):
    """Route one half after the other; each expert takes the rows of the first half first."""
    halves = [half.detach().clone().requires_grad_() for half in x.chunk(COUNT)]
    rows = [half.reshape(-1, whole.d_model) for half in halves]
    routed = [whole.route(one) for one in rows]
    orders = [chosen.flatten().argsort(stable=True) for chosen, _ in routed]
    gathered = [one[order // whole.n_active] for one, order in zip(rows, orders, strict=True)]
    pieces = [
        one.split(chosen.flatten().bincount(minlength=len(whole.experts)).tolist())
        for one, (chosen, _) in zip(gathered, routed, strict=True)
    ]
    computed = [
        expert(torch.cat(both)).split([len(one) for one in both])
        for expert, both in zip(whole.experts, zip(*pieces, strict=True), strict=True)
    ]
    outputs = []
    for rank, (one, order, (_, weights)) in enumerate(zip(rows, orders, routed, strict=True)):
        weighted = torch.cat([both[rank] for both in computed]) * weights.flatten()[order, None]
        y = torch.zeros_like(one).index_add(0, order // whole.n_active, weighted)
        outputs.append((y + whole.shared(one)).view(halves[rank].shape))
    sum(y.square().sum() for y in outputs).backward()
    return with_experts(outputs, [half.grad for half in halves], whole)


def with_experts(outputs, gradients_of_x, whole):
    """Return each process's expected result, with gradients of its experts and common part."""
    share, common = len(whole.experts) // COUNT, gradients(whole.router, whole.shared)
    own = [gradients(whole.experts[rank * share : (rank + 1) * share]) for rank in range(COUNT)]
    both = zip(outputs, gradients_of_x, own, strict=True)
    return [[y.detach(), gradient, *of_rank, *common] for y, gradient, of_rank in both]


# The same computed by one process, in one piece.


def data_in_one_piece(x, layer, _):
    found = zip(*(tensor.chunk(COUNT) for tensor in learn(layer, x)), strict=True)
    return [[*one, *gradients(layer)] for one in found]


def tensor_in_one_piece(x, layer, _):
    found, own = learn(layer, x), [[] for _ in range(COUNT)]
    for module in (layer.self_attention, layer.feed_forward):
        # The gradients are cut as the parameters are.
        for parameter in module.parameters():
            parameter.data = parameter.grad
        for rank, process in enumerate(two()):
            own[rank] += [p.detach() for p in TensorParallel(module, process).parameters()]
    return [found + one for one in own]


def experts_in_one_piece(x, _, whole):
    outputs, of_x = learn(whole, x)
    return with_experts(outputs.chunk(COUNT), of_x.chunk(COUNT), whole)


ALONE = {
    "data": (data_in_parts, data_in_one_piece),
    "tensor": (tensor_in_parts, tensor_in_one_piece),
    "experts": (experts_in_parts, experts_in_one_piece),
}


# The two processes, and the comparison.


def measured_bytes(found):
    """Count, in a dict, the bytes of floating-point tensors given to each operation from now on."""

    def counting(name, operation, place):
        def counted(*arguments, **options):
            given = arguments[place]
            if given.is_floating_point():
                found[name] = found.get(name, 0) + given.numel() * given.element_size()
            return operation(*arguments, **options)

        return counted

    for name, place in (("all_reduce", 0), ("all_to_all_single", 1)):
        setattr(distributed, name, counting(name, getattr(distributed, name), place))


def work(file):
    """Compute everything for all shapes, as one of two processes, and write it into a file."""
    torch.set_num_threads(1)
    processes, found, sent = join("cpu"), {}, {}
    measured_bytes(sent)
    for shape in SHAPES:
        for name, dtype in DTYPES.items():
            for kind, share in KINDS.items():
                sent.clear()
                found[shape, name, kind] = share(processes, *start(shape, dtype)), dict(sent)
    # The same mistake in all processes: the gradients of x are not summed.
    parallel._Enter.backward = staticmethod(lambda _, gradient: gradient)
    shape, name = "large", "float64"
    found["forgotten"] = tensor(processes, *start(shape, DTYPES[name])), {}
    torch.save(found, f"{file}.{processes.rank}")


def measure():
    """Start two processes, and return how their results differ from those of one process.

    Returns
    -------
    dict
        For each shape, dtype and kind: ``parts`` is the share of numbers that have the same bits as
        those of one process in parts, and ``piece`` of one process in one piece; ``error`` is the
        largest difference from one piece, as a share of the largest number; ``bytes`` is what a
        process gives to each operation, on average. ``forgotten`` is the error of the output and of
        the gradient of x when the backward pass omits the sum.
    """
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "found"
        torchrun = ["-m", "torch.distributed.run", "--standalone", f"--nproc-per-node={COUNT}"]
        job = [sys.executable, *torchrun, "-m", "experiments.parallel", file]
        done = subprocess.run(job, capture_output=True, text=True, check=False)
        if done.returncode:
            raise RuntimeError(
                f"torchrun: expected two processes that end well, got\n{done.stderr}"
            )
        both = [torch.load(f"{file}.{rank}") for rank in range(COUNT)]
    measured = {}
    for shape in SHAPES:
        for name, dtype in DTYPES.items():
            for kind, ways in ALONE.items():
                got, sent = zip(*(found[shape, name, kind] for found in both), strict=True)
                parts, piece = (way(*start(shape, dtype)) for way in ways)
                measured[f"{shape}, {name}, {kind}"] = {
                    "parts": same_bits(got, parts),
                    "piece": same_bits(got, piece),
                    "error": f"{error(got, piece):.1e}",
                    "bytes": {one: sum(each[one] for each in sent) // COUNT for one in sent[0]},
                }
    got = [found["forgotten"][0] for found in both]
    whole = tensor_in_one_piece(*start("large", torch.float64))
    measured["forgotten"] = [
        round(error([one[i : i + 1] for one in got], [one[i : i + 1] for one in whole]), 6)
        for i in range(2)
    ]
    return measured


def same_bits(got, wanted):
    """Return the share of numbers that are equal in all bits."""
    equal = [one == other for one, other in pairs(got, wanted)]
    return round(torch.cat([one.flatten() for one in equal]).double().mean().item(), 4)


def error(got, wanted):
    """Return the largest difference, as a share of the largest number.

    The largest number of all tensors is meant: the gradient of the keys' bias is zero.
    """
    difference = max((one - other).abs().max().item() for one, other in pairs(got, wanted))
    return difference / max(one.abs().max().item() for of_rank in wanted for one in of_rank)


def pairs(got, wanted):
    """Return each tensor of both processes with its expected value."""
    both = [zip(*each, strict=True) for each in zip(got, wanted, strict=True)]
    return [pair for of_rank in both for pair in of_rank]


def rows():
    """Return the one row: two processes take seconds to start, so they do everything at once."""
    return {"two processes": Row(measure, ("processes",))}


EXPERIMENT = Experiment(
    "Do two processes that share a layer compute what one does, to the bit, and what do they send?",
    DATA / "parallel.json",
    rows,
    minutes=0.3,
    constants=lambda: {"shapes": SHAPES},
)


if __name__ == "__main__":
    work(sys.argv[1])
