"""What pytest does differently in a mutation run; `__main__.py` beside this file starts it."""

import gc
import os
import signal
from unittest.mock import patch

import torch
import torch._dynamo
from hypothesis import Phase, settings


def pytest_configure():
    gc.freeze()  # pytest collects garbage at its end: 0.5 s a mutant, unless PyTorch is left out
    # That a test fails is enough; making its example small takes longer than finding it.
    phases = (Phase.explicit, Phase.generate)
    settings.register_profile("mutation", settings.get_profile("attn"), phases=phases)
    settings.load_profile("mutation")
    if os.environ["MUTANT_UNDER_TEST"] == "stats":
        # The first run notes which tests reach which function, in code that does not compile.
        torch.compile = _pretend_to_compile


def _pretend_to_compile(function, **_):
    def compiled(*args, **kwargs):
        with patch("torch.compiler.is_compiling", return_value=True):
            return function(*args, **kwargs)

    return compiled


def pytest_runtest_setup():
    # A minute of computing, ten times what the slowest test needs, is a loop without end. How long
    # mutmut would wait depends on how long all the tests take.
    signal.setitimer(signal.ITIMER_PROF, 60)


def pytest_collection_modifyitems(items):
    """Sort the tests: most mutants fall to the first quick one."""
    items.sort(key=lambda item: (_is_slow(item), *item.location))


def _is_slow(item):
    is_drawn = getattr(item.obj, "is_hypothesis_test", False)
    return is_drawn or "compil" in item.name or item.get_closest_marker("slow") is not None
