"""Settings of pytest for a mutation run, which `__main__.py` beside this file starts."""

import gc
import json
import os
import signal
from pathlib import Path
from unittest.mock import patch

import torch
import torch._dynamo
from hypothesis import Phase, settings


def pytest_configure():
    # pytest collects garbage when it ends. That takes 0.5 s a mutant unless PyTorch's objects are
    # left out.
    gc.freeze()
    # One failing example is enough: shrinking it takes longer than finding it. A mutant that
    # survives a quarter of the examples counts as a survivor and needs a test of its own.
    phases = (Phase.explicit, Phase.generate)
    settings.register_profile("mutation", settings.get_profile("quick"), phases=phases)
    settings.load_profile("mutation")
    if os.environ["MUTANT_UNDER_TEST"] == "stats":
        # The first run records which tests reach which function, which it cannot do in compiled
        # code.
        torch.compile = _pretend_to_compile


def _pretend_to_compile(function, **_):
    def compiled(*args, **kwargs):
        with patch("torch.compiler.is_compiling", return_value=True):
            return function(*args, **kwargs)

    return compiled


def pytest_runtest_setup():
    # A minute of processor time, ten times what the slowest test needs, means an endless loop.
    # mutmut's own limit depends on how long all the tests take.
    signal.setitimer(signal.ITIMER_PROF, 60)


def pytest_collection_modifyitems(items):
    """Sort the tests by duration: the first quick test kills most mutants."""
    # The first run has stored the duration of each test.
    measured = Path("mutmut-stats.json")
    took = json.loads(measured.read_text())["duration_by_test"] if measured.exists() else {}
    items.sort(key=lambda item: (_compiles(item), took.get(item.nodeid, 0), *item.location))


def _compiles(item):
    # The first run does not compile, so its durations do not hold for these tests; they run last.
    return "compil" in item.name
