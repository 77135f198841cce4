"""Time and memory of five ways to compute attention, and the length from which linear is faster.

Writes ``notebooks/data/attention_at_length.json``, which chapter 11 draws. The first part
measures causal attention with the functions of `attn.reference` and with the kernel of
PyTorch. The second measures in PyTorch from which length on linear attention is faster. Times
are ratios within a turn, as `benchmarks.timing` explains; memory is the peak.
"""

import json
from pathlib import Path

import numpy as np
import torch
from torch.nn import functional as F

from attn import reference
from attn.attention import scaled_dot_product_attention
from attn.io import write_whole
from benchmarks.attention_memory import numpy_peak, torch_peak
from benchmarks.timing import interleave, ratio

LENGTHS = (256, 512, 1024, 2048, 4096, 8192)
D_K = 64
WINDOW = 128
SHORT = (16, 32, 64, 128, 256, 512, 1024)
SIZES = (32, 64, 128)
N_HEADS = 8
UNIT = "whole"
RESULTS = Path(__file__).resolve().parents[1] / "notebooks" / "data" / "attention_at_length.json"


def contenders(length):
    """Return a call of each causal method, for one head."""
    rng = np.random.default_rng(length)
    arrays = [rng.normal(size=(length, D_K)).astype(np.float32) for _ in range(3)]
    tensors = [torch.from_numpy(array) for array in arrays]
    causal, window = reference.causal_mask(length), reference.window_mask(length, WINDOW)
    return {
        UNIT: lambda: reference.scaled_dot_product_attention(*arrays, causal),
        "online": lambda: reference.online_attention(*arrays, causal),
        "window_mask": lambda: reference.scaled_dot_product_attention(*arrays, window),
        "windowed": lambda: reference.windowed_attention(*arrays, WINDOW, block_size=WINDOW),
        "linear": lambda: reference.linear_attention(*arrays, is_causal=True),
        "fused": lambda: scaled_dot_product_attention(*tensors, is_causal=True),
    }


def linear(query, key, value):
    """Return linear attention in PyTorch, without a mask."""
    query, key = F.elu(query) + 1, F.elu(key) + 1
    return query @ (key.mT @ value) / (query @ key.sum(dim=-2)[..., None])


def crossing(length, d_k):
    """Return calls of fused softmax attention and of linear attention, for eight heads."""
    torch.manual_seed(length)
    tensors = [torch.randn(1, N_HEADS, length, d_k) for _ in range(3)]
    return {
        "fused": lambda: F.scaled_dot_product_attention(*tensors),
        "linear": lambda: linear(*tensors),
    }


def measure(lengths=LENGTHS, **options):
    """Return each method's time relative to the full matrix, its growth, and its peak memory."""
    times, peaks, ratios = {}, {}, {}
    first = None
    for length in lengths:
        runs = contenders(length)
        seconds = interleave(runs, **options)
        first = np.median(seconds[UNIT]) if first is None else first
        for name, run in runs.items():
            peak = torch_peak if name == "fused" else numpy_peak
            times.setdefault(name, []).append(float(f"{np.median(seconds[name]) / first:.3g}"))
            ratios.setdefault(name, []).append(ratio(seconds[name], seconds[UNIT]))
            peaks.setdefault(name, []).append(round(peak(run), 2))
    return {"relative_time": times, "time_over_whole": ratios, "peak_mb": peaks}


def measure_crossing(lengths=SHORT, sizes=SIZES, **options):
    """Return, by head size, the ratio of linear to fused attention's time at each length."""
    found = {}
    for d_k in sizes:
        for length in lengths:
            seconds = interleave(crossing(length, d_k), **options)
            found.setdefault(str(d_k), []).append(ratio(seconds["linear"], seconds["fused"]))
    return found


def main():
    """Measure everything, print it and write it."""
    torch.set_num_threads(1)
    results = {
        "lengths": LENGTHS,
        "d_k": D_K,
        "window": WINDOW,
        **measure(),
        "short_lengths": SHORT,
        "n_heads": N_HEADS,
        "linear_over_fused": measure_crossing(),
    }
    for quantity in ("relative_time", "peak_mb"):
        print(quantity, *LENGTHS)
        for name, row in results[quantity].items():
            print(f"  {name:12}", *row)
    for name, rows in (results["time_over_whole"] | results["linear_over_fused"]).items():
        print(f"{name:12}", *(f"{r['median']} ({r['low']}-{r['high']})" for r in rows))
    write_whole(RESULTS, json.dumps(results, indent=1) + "\n")


if __name__ == "__main__":
    main()
