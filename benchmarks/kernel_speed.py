"""Operations a second of the course's Triton kernel on a GPU, and of PyTorch's own attention.

Writes ``notebooks/data/kernel_speed.json``, with the name of the card and the day. Of a causal pass
half of the operations count, for either.
"""

import json
from datetime import date
from pathlib import Path

import torch
from torch.nn import functional as F

from attn.io import write_whole
from benchmarks.gpu import clock
from benchmarks.timing import interleave

NEEDS_GPU = True
# Heads and tokens: the same number of tokens in all.
SHAPES = ((64, 1024), (16, 4096), (4, 16384))
D_K, TILE = 64, 64
TYPES = {"float32": torch.float32, "float16": torch.float16}
RESULTS = Path(__file__).resolve().parents[1] / "notebooks" / "data" / "kernel_speed.json"


def flops(n_heads, length, is_causal):
    """Return the operations of both products."""
    return 4 * n_heads * length**2 * D_K / (1 + is_causal)


def measure(device="cuda", shapes=SHAPES, **options):
    """Return one row per dtype, mask and shape, with the TFLOP/s of both."""
    # The import is here because the module needs Triton.
    from experiments.kernels import attention

    rows = []
    for name, dtype in TYPES.items():
        for is_causal in (False, True):
            for n_heads, length in shapes:
                torch.manual_seed(0)
                q, k, v = torch.randn(3, 1, n_heads, length, D_K, device=device, dtype=dtype)
                calls = {
                    "kernel": lambda q=q, k=k, v=v, is_causal=is_causal: attention(
                        q, k, v, is_causal=is_causal, rows=TILE, columns=TILE
                    ),
                    "PyTorch": lambda q=q, k=k, v=v, is_causal=is_causal: (
                        F.scaled_dot_product_attention(q, k, v, is_causal=is_causal)
                    ),
                }
                difference = (calls["kernel"]() - calls["PyTorch"]()).abs().max().item()
                times = interleave(calls, **({"clock": clock} | options))
                work = flops(n_heads, length, is_causal) / 1e12
                rows.append(
                    {"numbers": name, "causal": is_causal, "heads": n_heads, "tokens": length}
                    | {called: round(work / min(times[called]), 1) for called in calls}
                    | {"difference": float(f"{difference:.1e}")}
                )
    return rows


def main():
    """Measure, print the table and write it."""
    rows = measure()
    told = {"card": torch.cuda.get_device_name(), "date": date.today().isoformat(), "rows": rows}
    print(told["card"], told["date"], "TFLOP/s")
    for row in rows:
        print(*row.values(), sep="\t")
    write_whole(RESULTS, json.dumps(told, indent=1) + "\n")
