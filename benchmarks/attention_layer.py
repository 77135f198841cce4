"""(a) The time of one attention layer, forward and backward, over that of a peer's.

Our layer runs as `attn.training.train` runs it, without the checks that read values; the peers have
no such checks.
"""

import torch
from torch import nn

from attn import checks
from attn.attention import MultiHeadAttention
from attn.masks import causal_mask, padding_mask
from benchmarks.peers import ExplicitAttention
from benchmarks.report import Target
from benchmarks.timing import interleave, ratio, spread

SHAPES = ((64, 16, 128), (8, 512, 256), (1, 2048, 256))
N_HEADS = 4
PEERS = ("`nn.MultiheadAttention`", "`x-transformers`", "explicit softmax")
# The control is the same code, so a ratio other than 1 is due to memory layout or noise.
CONTROL = "a copy of itself"
TARGETS = (
    *(Target(peer, at_most=1, control=CONTROL) for peer in PEERS),
    *(Target(PEERS[0], at_most=0.9, where={"shape": str(shape)}) for shape in SHAPES[:2]),
)


def contenders(shape, mask, need_weights):
    """Return, for every layer, a call that runs it forward and backward.

    No projection has a bias, because those of x-transformers have none. Each layer gets its mask
    ready-made in the form it handles best: x-transformers by `context_mask`, since `mask` would
    also set outputs to zero, which no other layer does.

    Parameters
    ----------
    shape : tuple of int
        The shape of the input: (batch_size, seq_len, d_model).
    mask : {"none", "causal", "padding"}
        With padding, sequences are from half to the whole of ``seq_len`` long.
    need_weights : bool
        Whether to return the weights. The explicit softmax computes them anyway.

    Returns
    -------
    dict of str to callable
        "own", the `PEERS` and the `CONTROL`; each call returns the output, then the gradients.
    """
    # The import is here because it loads the compiler of PyTorch.
    from x_transformers.x_transformers import Attention

    batch_size, seq_len, d_model = shape
    torch.manual_seed(0)
    x, upstream = torch.randn(shape, requires_grad=True), torch.randn(shape)
    is_causal, is_padded = mask == "causal", mask == "padding"
    past = causal_mask(seq_len) if is_causal else None
    lengths = torch.linspace(seq_len // 2, seq_len, batch_size).long()
    real = padding_mask(lengths, seq_len) if is_padded else None

    own, copy = (MultiHeadAttention(d_model, N_HEADS, bias=False) for _ in range(2))
    torchs = nn.MultiheadAttention(d_model, N_HEADS, bias=False, batch_first=True)
    xs = Attention(
        d_model,
        heads=N_HEADS,
        dim_head=d_model // N_HEADS,
        causal=is_causal,
        flash=not need_weights,
    )
    explicit = ExplicitAttention(d_model, N_HEADS, bias=False)

    options = {"is_causal": is_causal, "need_weights": need_weights}
    own_options = options | {"mask": real}
    torch_options = options | {
        "average_attn_weights": False,
        "attn_mask": ~past if is_causal else None,
        "key_padding_mask": ~real[:, 0] if is_padded else None,
    }
    x_options = {
        "context_mask": real[:, 0] if is_padded else None,
        "return_intermediates": need_weights,
    }
    explicit_mask = real[:, None] if is_padded else past

    def both_ways(layer, run):
        inputs = (x, *layer.parameters())

        def call():
            output = run()
            output = output[0] if isinstance(output, tuple) else output
            return output, *torch.autograd.grad(output, inputs, upstream)

        return call

    return {
        "own": both_ways(own, lambda: own(x, **own_options)),
        PEERS[0]: both_ways(torchs, lambda: torchs(x, x, x, **torch_options)),
        PEERS[1]: both_ways(xs, lambda: xs(x, **x_options)),
        PEERS[2]: both_ways(explicit, lambda: explicit(x, explicit_mask)),
        CONTROL: both_ways(copy, lambda: copy(x, **own_options)),
    }


def measure(shapes=SHAPES, **options):
    """Return one row per shape and mask, with and without weights."""
    rows = []
    for shape in shapes:
        for need_weights in (False, True):
            for mask in ("none", "causal", "padding"):
                with checks(False):
                    seconds = interleave(contenders(shape, mask, need_weights), **options)
                case = {
                    "shape": str(shape),
                    "weights": "yes" if need_weights else "no",
                    "mask": mask,
                }
                others = (*PEERS, CONTROL)
                ratios = {other: ratio(seconds["own"], seconds[other]) for other in others}
                rows.append(case | ratios | {"ms": spread(1e3 * s for s in seconds["own"])})
    return rows
