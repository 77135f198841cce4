"""(f) The time of an import, beyond the start of Python itself."""

import functools
import pkgutil
import resource
import subprocess
import sys

import attn
import attn_course
from benchmarks.report import ROOT, Target
from benchmarks.timing import interleave, spread

MODULES = [
    module.name
    for package in (attn, attn_course)
    for module in pkgutil.walk_packages(package.__path__, f"{package.__name__}.")
]
STATEMENTS = {
    "`attn.reference`": "import attn.reference",
    "all of `attn` and `attn_course`": "import "
    + ", ".join(name for name in MODULES if "._" not in name),
    "`numpy`": "import numpy",
    "`torch`": "import torch",
}
TARGETS = (Target("seconds", at_most=0.25, where={"import": "`attn.reference`"}),)


def children_seconds():
    """Return the CPU time of this process's child processes that have ended."""
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime


def measure(statements=STATEMENTS, **options):
    """Return one row per statement: seconds beyond those of an empty program."""
    runs = {
        name: functools.partial(
            subprocess.run, [sys.executable, "-c", statement], cwd=ROOT, check=True
        )
        for name, statement in ({"nothing": "pass"} | statements).items()
    }
    seconds = interleave(runs, clock=children_seconds, least=0, **options)
    rows = []
    for name in statements:
        beyond = (a - b for a, b in zip(seconds[name], seconds["nothing"], strict=True))
        rows.append({"import": name, "seconds": spread(beyond)})
    return rows
