"""(g) One token over a full cache, against the same products without the module.

The peer projects the token, writes its key after the cached ones and calls PyTorch's kernel: it has
no class, no checks and no growing cache. There is a row for each kind of position, with the checks
that read values on and off.
"""

import torch
from torch.nn import functional as F

from attn import checks
from attn.attention import MultiHeadAttention
from attn.cache import KVCache
from attn.positions import ALiBiPositions, RotaryPositions
from benchmarks.report import Target
from benchmarks.timing import interleave, ratio, spread

D_MODEL, N_HEADS, N_KEYS = 512, 8, 2000
TARGETS = (Target("checks off", at_most=1.4),)
KINDS = {
    "none": lambda: None,
    "rotary": RotaryPositions,
    "alibi": lambda: ALiBiPositions(N_HEADS),
}


def bare(n_keys):
    """Return a call that takes the step without the module."""
    layer, x = MultiHeadAttention(D_MODEL, N_HEADS), torch.randn(1, 1, D_MODEL)
    key, value = torch.randn(2, 1, N_HEADS, n_keys, D_MODEL // N_HEADS)

    def split(x):
        return x.unflatten(-1, (N_HEADS, -1)).transpose(1, 2)

    def step():
        key[:, :, -1:], value[:, :, -1:] = split(layer.k_proj(x)), split(layer.v_proj(x))
        output = F.scaled_dot_product_attention(split(layer.q_proj(x)), key, value)
        return layer.out_proj(output.transpose(1, 2).flatten(-2))

    return step


def own(relative, n_keys, on):
    """Return a call that takes the step from ``n_keys - 1`` keys to `n_keys`, each time."""
    layer, cache = MultiHeadAttention(D_MODEL, N_HEADS, relative=relative).eval(), KVCache()
    x = torch.randn(1, n_keys, D_MODEL)
    # The second call allocates room for more keys.
    for part in x.split((n_keys - 2, 1, 1), dim=1):
        layer(part, cache=cache)
    token = x[:, -1:]

    def step():
        cache.truncate(n_keys - 1)
        with checks(on):
            return layer(token, is_causal=True, cache=cache)[0]

    return step


@torch.no_grad()
def measure(n_keys=N_KEYS, **options):
    """Return one row per kind of position."""
    torch.manual_seed(0)
    rows = []
    for kind, make in KINDS.items():
        contenders = {"bare": bare(n_keys)}
        for name, on in (("checks off", False), ("checks on", True)):
            contenders[name] = own(make(), n_keys, on)
        seconds = interleave(contenders, **options)
        ratios = {name: ratio(seconds[name], seconds["bare"]) for name in list(contenders)[1:]}
        ms = {"ms, checks off": spread(1e3 * s for s in seconds["checks off"])}
        rows.append({"positions": kind, "keys": n_keys} | ratios | ms)
    return rows
