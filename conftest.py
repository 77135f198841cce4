"""For every test, notebooks included: one thread, fixed hashing, and a list of what went untested."""

import gc
import os
import re
import sys
from collections import Counter

import pytest

# Read by NumPy and PyTorch when they are first imported, and inherited by notebook kernels.
os.environ.setdefault("OMP_NUM_THREADS", "1")
os.environ["PYTHONHASHSEED"] = "0"
# What whoever runs the tests has solved is neither read nor written, not even from JupyterLab.
for name in ("JPY_SESSION_NAME", "ATTN_SOLVED"):
    os.environ.pop(name, None)

# An optional part of jsonschema, and so of nbformat. It takes three seconds to import, in order to
# check a kind of address that no notebook has.
sys.modules.setdefault("rfc3987_syntax", None)

# The models of others that a notebook may ask for.
PRETRAINED = ("smollm2", "minilm")


def pytest_configure(config):
    # Notebooks run on this environment's Python, whatever kernels the machine has. As an option in
    # pyproject.toml this would need the plugin nbval in every run, and `make test-fast` goes without.
    config.option.nbval_current_env = True


def pytest_collectstart(collector):
    # Drawings show what cells print, in coordinates whose last digits hang on the processor.
    if hasattr(collector, "skip_compare"):
        collector.skip_compare += ("image/svg+xml",)


def pytest_collection_modifyitems(items):
    """Leave out the notebooks of a pretrained model where it is missing; in CI none may be."""
    asking = {}
    for item in items:
        if item.path.suffix == ".ipynb":
            if item.path not in asking:
                imported = re.findall(r"attn_course import ([\w, ]+)", item.path.read_text("utf-8"))
                asked = [name for name in PRETRAINED if name in ", ".join(imported).split(", ")]
                missing = [] if os.environ.get("CI") else map(_missing, asked)
                asking[item.path] = next(filter(None, missing), None)
            if asking[item.path]:
                item.add_marker(pytest.mark.skip(reason=asking[item.path]))


def _missing(part):
    from tests import machine  # which imports a browser's driver

    try:
        machine.PARTS[part]()
    except machine.Missing as missing:
        return str(missing)
    return None


def pytest_collection_finish():
    # What was imported stays: looking for garbage among it would take a third of a second each time.
    gc.freeze()


def pytest_terminal_summary(terminalreporter, config):
    """Say in the last lines what was not tested, why, and what would change that."""
    reasons = Counter()
    for report in terminalreporter.stats.get("skipped", []):
        _, _, reason = report.longrepr  # path, line, "Skipped: " and the reason
        reasons[reason.removeprefix("Skipped: ")] += 1
    if reasons:
        terminalreporter.section("Not tested on this machine", sep="!")
        for reason, number in reasons.most_common():
            terminalreporter.line(f"{number} {'tests' if number > 1 else 'test'}: {reason}")
    if "not grader" in config.option.markexpr:
        terminalreporter.line(
            "Not run: the heavy proofs of problem sets and grader (make test-grader)."
        )
    if "not engines" in config.option.markexpr:
        terminalreporter.line("Not run: the site in Firefox and WebKit (make test-engines).")
    if config.args == config.getini("testpaths"):
        terminalreporter.line(
            f"Not run: the Spanish notebooks, and {len(config.option.ignore or ())} English ones, which take "
            "long (make test-notebooks test-laboratories)."
        )
    if "not slow" in config.option.markexpr:
        terminalreporter.line("Not run: what takes seconds, notebooks and the site (make test).")
