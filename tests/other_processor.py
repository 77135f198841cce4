"""Run a command as an older processor would: ``python tests/other_processor.py COMMAND ...``.

Processors and numbers of threads add the same numbers in another order, or with another
approximation of exp or tanh, so the last digits of a result differ. What a chapter prints must not.
The command runs with two threads, and without the instructions on wide vectors.
"""

import os
import sys

import numpy as np

ENVIRONMENT = {
    # This is for PyTorch's own loops: element-wise functions, sums, softmax, normal random numbers.
    "ATEN_CPU_CAPABILITY": "default",
    # This is for PyTorch's matrix products. MKL_ENABLE_INSTRUCTIONS works only on Intel's
    # processors.
    "MKL_CBWR": "COMPATIBLE",
    # This is for PyTorch's convolutions and GELU.
    "ONEDNN_MAX_CPU_ISA": "SSE41",
    # This is for NumPy's matrix products and decompositions.
    "OPENBLAS_CORETYPE": "Nehalem",
    # This is for NumPy's element-wise functions. A feature that this version of NumPy does not know
    # would have no effect, so NumPy is asked for the names.
    "NPY_DISABLE_CPU_FEATURES": " ".join(
        np.show_config(mode="dicts")["SIMD Extensions"].get("found", [])
    ),
    # Two threads each add half of a sum. PASSIVE: a waiting thread leaves its processor to others.
    "OMP_NUM_THREADS": "2",
    "OMP_WAIT_POLICY": "PASSIVE",
}

if __name__ == "__main__":
    if len(sys.argv) == 1:
        sys.exit("Say which command to run: python tests/other_processor.py COMMAND ...")
    os.execvpe(sys.argv[1], sys.argv[1:], os.environ | ENVIRONMENT)
