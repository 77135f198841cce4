"""(l) One token over a full cache on a GPU, over the same products without the module.

As benchmark (g), with two dtypes and in wall-clock time.
"""

import torch

from benchmarks import cached_step, gpu

NEEDS_GPU = True
TARGETS = ()
TYPES = {"`float32`": torch.float32, "`bfloat16`": torch.bfloat16}


def measure(device="cuda", n_keys=cached_step.N_KEYS, **options):
    """Return one row per dtype and kind of position."""
    options = {"clock": gpu.clock} | options
    before = torch.get_default_dtype()
    rows = []
    try:
        for name, dtype in TYPES.items():
            torch.set_default_dtype(dtype)
            with torch.device(device):
                found = cached_step.measure(n_keys, **options)
            rows += [{"numbers": name} | row for row in found]
    finally:
        torch.set_default_dtype(before)
    return rows
