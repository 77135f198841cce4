"""(d) Memory of attention as the sequence grows, with the whole matrix and in blocks."""

import json
import tempfile
import tracemalloc
from pathlib import Path

import numpy as np
import torch

from attn.attention import scaled_dot_product_attention
from benchmarks.attention_length import D_K, METHODS
from benchmarks.report import Target
from benchmarks.timing import interleave, ratio

LENGTHS = (1024, 2048, 4096, 8192, 16384)
TARGETS = (
    Target("NumPy in blocks, MB", at_most=10, where={"tokens": LENGTHS[-1]}),
    Target("time in blocks / whole", at_most=0.5, where={"tokens": LENGTHS[-1]}),
)


def numpy_peak(run):
    """Return the peak memory of Python and NumPy during a call, in megabytes."""
    tracemalloc.start()
    try:
        run()
        return tracemalloc.get_traced_memory()[1] / 1e6
    finally:
        tracemalloc.stop()


def torch_peak(run):
    """Return the peak memory of PyTorch during a call, in megabytes.

    Its profiler records every allocation, and the running total, in its trace.
    """
    activities = [torch.profiler.ProfilerActivity.CPU]
    with torch.profiler.profile(activities=activities, profile_memory=True) as profiler:
        run()
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "trace.json"
        profiler.export_chrome_trace(str(path))
        events = json.loads(path.read_text(encoding="utf-8"))["traceEvents"]
    requests = [event["args"] for event in events if event["name"] == "[memory]"]
    before = requests[0]["Total Allocated"] - requests[0]["Bytes"]
    return (max(request["Total Allocated"] for request in requests) - before) / 1e6


def contenders(length):
    """Return calls of NumPy's two methods and PyTorch's two, for one head of 64 components."""
    rng = np.random.default_rng(length)
    arrays = [rng.normal(size=(length, D_K)).astype(np.float32) for _ in range(3)]
    tensors = [torch.from_numpy(array) for array in arrays]
    return {
        "NumPy whole": lambda: METHODS["at_once"](*arrays),
        "NumPy in blocks": lambda: METHODS["online"](*arrays),
        "PyTorch explicit": lambda: scaled_dot_product_attention(*tensors, need_weights=True),
        "PyTorch fused": lambda: scaled_dot_product_attention(*tensors),
    }


def measure(lengths=LENGTHS, **options):
    """Return one row per length: the megabytes of each method, and the relative time of NumPy's."""
    rows = []
    for length in lengths:
        runs = contenders(length)
        row = {"tokens": length}
        for name, run in runs.items():
            peak = numpy_peak if name.startswith("NumPy") else torch_peak
            row[f"{name}, MB"] = round(peak(run), 1)
        whole, blocks = "NumPy whole", "NumPy in blocks"
        seconds = interleave({name: runs[name] for name in (whole, blocks)}, **options)
        row["time in blocks / whole"] = ratio(seconds[blocks], seconds[whole])
        rows.append(row)
    return rows
