"""Time and memory of attention as the sentence grows: with the whole matrix, and online.

Writes ``notebooks/data/attention_length.json``, which chapter 03 draws. Times are relative to the
shortest sentence with the whole matrix, so that machines can be compared.
"""

import json
import statistics
import time
import tracemalloc
from pathlib import Path

import numpy as np

from attn import reference
from attn.io import write_whole

LENGTHS = (512, 1024, 2048, 4096, 8192, 16384)
D_K = 64
REPEATS = 5
METHODS = {
    "at_once": reference.scaled_dot_product_attention,
    "online": reference.online_attention,
}
RESULTS = Path(__file__).resolve().parents[1] / "notebooks" / "data" / "attention_length.json"


def measure(length):
    """Return the median seconds and the peak MiB of each method at one sentence length."""
    rng = np.random.default_rng(length)
    arrays = [rng.normal(size=(length, D_K)).astype(np.float32) for _ in range(3)]
    seconds = {name: [] for name in METHODS}
    for _ in range(REPEATS):
        for name, method in METHODS.items():
            began = time.perf_counter()
            method(*arrays)
            seconds[name].append(time.perf_counter() - began)
    peaks = {}
    for name, method in METHODS.items():
        tracemalloc.start()
        method(*arrays)
        peaks[name] = tracemalloc.get_traced_memory()[1] / 2**20
        tracemalloc.stop()
    return {name: statistics.median(times) for name, times in seconds.items()}, peaks


def main():
    """Measure every length, print the table and write it."""
    rows = [(length, *measure(length)) for length in LENGTHS]
    unit = rows[0][1]["at_once"]
    results = {
        "lengths": LENGTHS,
        "d_k": D_K,
        "relative_time": {
            name: [round(row[1][name] / unit, 2) for row in rows] for name in METHODS
        },
        "peak_mib": {name: [round(row[2][name], 1) for row in rows] for name in METHODS},
    }
    print(
        f"{'tokens':>8}{'time, at once':>16}{'time, online':>16}{'MiB, at once':>16}{'MiB, online':>16}"
    )
    for i, length in enumerate(LENGTHS):
        cells = [
            results[kind][name][i] for kind in ("relative_time", "peak_mib") for name in METHODS
        ]
        print(f"{length:>8}" + "".join(f"{cell:>16}" for cell in cells))
    write_whole(RESULTS, json.dumps(results, indent=1) + "\n")


if __name__ == "__main__":
    main()
