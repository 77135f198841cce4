"""Run the benchmarks of the course, print their tables, and write them into the book.

``python -m benchmarks`` runs all; ``python -m benchmarks decoding gemm_share`` runs those, and
leaves the other tables as they were. See `make bench`.
"""

import importlib.metadata
import platform
import sys

import torch

from benchmarks import (
    attention_at_length,
    attention_layer,
    attention_length,
    attention_memory,
    audit,
    cached_step,
    decoding,
    first_run,
    gemm_share,
    gpu,
    gpu_step,
    import_time,
    kernel_speed,
    mixer_steps,
    page_model,
    training_step,
    translate_file,
    translator_latency,
    widget_latency,
    writing,
)
from benchmarks.report import RESULTS, publish, read, table
from benchmarks.timing import processor

TABLES = {
    "attention_layer": attention_layer,
    "training_step": training_step,
    "decoding": decoding,
    "attention_memory": attention_memory,
    "gemm_share": gemm_share,
    "import_time": import_time,
    "cached_step": cached_step,
    "translate_file": translate_file,
    "audit": audit,
    "writing": writing,
    "gpu": gpu,
    "gpu_step": gpu_step,
    "first_run": first_run,
}
# Benchmarks whose results are in chapters or elsewhere in the site, and not on the benchmark page.
OTHERS = {
    "attention_length": attention_length,
    "attention_at_length": attention_at_length,
    "mixer_steps": mixer_steps,
    "kernel_speed": kernel_speed,
    "widget_latency": widget_latency,
    "translator_latency": translator_latency,
    "page_model": page_model,
}


def machine(name):
    """Return the row that describes the machine and the versions behind a table."""
    is_on_gpu = getattr(TABLES[name], "NEEDS_GPU", False)
    return {
        "benchmark": letter(name),
        "processor": f"`{torch.cuda.get_device_name() if is_on_gpu else processor()}`",
        "Python": platform.python_version(),
        "PyTorch": importlib.metadata.version("torch").partition("+")[0],
        "NumPy": importlib.metadata.version("numpy"),
        "`x-transformers`": importlib.metadata.version("x-transformers"),
    }


def letter(name):
    """Return the letter that the page gives to a table."""
    return TABLES[name].__doc__.split()[0]


def verdicts(results):
    """Return one row per target, in the order of the letters of the benchmarks."""
    return [
        {"benchmark": letter(name)} | target.judge(results[name])
        for name, module in TABLES.items()
        for target in module.TARGETS
    ]


def main(names):
    """Run the named benchmarks, or all if none is named; write and publish the results."""
    known = TABLES | OTHERS
    for name in names:
        if name not in known:
            sys.exit(f"names: expected some of {', '.join(known)}, got {name}")
    results = read(RESULTS)
    machines = {row["benchmark"]: row for row in results.get("machine", ())}
    for name in names or known:
        if getattr(known[name], "NEEDS_GPU", False) and not torch.cuda.is_available():
            if names:
                sys.exit(f"{name}: expected a GPU that PyTorch can use, got none")
            continue
        if name in OTHERS:
            OTHERS[name].main()
        else:
            results[name] = TABLES[name].measure()
            machines[letter(name)] = machine(name)
            print(TABLES[name].__doc__.splitlines()[0], table(results[name]), sep="\n\n")
        print(flush=True)
    ordered = {name: results[name] for name in TABLES}
    machines = [machines[letter(name)] for name in TABLES]
    ordered = {"targets": verdicts(results), "machine": machines} | ordered
    print(table(ordered["targets"]))
    publish(ordered, RESULTS)


if __name__ == "__main__":
    main(sys.argv[1:])
