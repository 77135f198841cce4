"""The stored measurements of chapter 13 inside SmolLM2 and MiniLM.

``python -m benchmarks.interpret lens patching`` measures what is missing of these questions, or of
all if none is named, and writes ``notebooks/data/interpret.json`` after each result: it can be
stopped and started again. Each question has a module, named here. All together take some ten minutes
on one thread.

===============  ============================================================================
`lens`           what the last norm and matrix read in the stream, layer by layer
`patching`       one vector, or what one head hands over, taken from another text
`probes`         what a linear probe finds, against control tasks, and whether it is used
`looking`        where heads look, and what becomes of the answer without them
`first_token`    the sink: its weight taken away, or what it hands over
`contexts`       the vector of one word in two contexts, with MiniLM
===============  ============================================================================
"""

import argparse
import importlib
import sys
import time
from pathlib import Path

import numpy as np
import torch

from attn.io import write_whole
from benchmarks.modern import lines, stored

RESULTS = Path(__file__).resolve().parents[1] / "notebooks" / "data" / "interpret.json"
QUESTIONS = ("lens", "patching", "probes", "looking", "first_token", "contexts")
# The number of bootstrap resamples.
DRAWS = 2000


def interval(samples, seed=0):
    """Return the mean of samples and its 95% bootstrap interval.

    Parameters
    ----------
    samples : array_like, shape (n_samples, ...)
    seed : int, default 0

    Returns
    -------
    array, shape (3, ...)
        Mean, lower end, upper end: percentiles of the bootstrap over samples.
    """
    samples = np.asarray(samples, dtype=float)
    rng = np.random.default_rng(seed)
    shares = rng.multinomial(len(samples), np.full(len(samples), 1 / len(samples)), size=DRAWS)
    drawn = np.tensordot(shares / len(samples), samples, axes=1)
    return np.stack([samples.mean(axis=0), *np.percentile(drawn, [2.5, 97.5], axis=0)])


def rounded(numbers, digits=3):
    """Return numbers as lists that are stored."""
    return (np.round(np.asarray(numbers, dtype=float), digits) + 0.0).tolist()


def main(arguments=()):
    """Measure what is missing."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.interpret")
    parser.add_argument("questions", nargs="*", help=f"of {', '.join(QUESTIONS)}")
    parser.add_argument("--results", type=Path, default=RESULTS, help="the file of results")
    options = parser.parse_args(arguments)
    torch.set_num_threads(1)
    torch.set_grad_enabled(False)
    for question in options.questions or QUESTIONS:
        began = time.process_time()

        def keep(told, question=question, began=began):
            found = stored(options.results) | {question: told}
            found = {name: found[name] for name in QUESTIONS if name in found}
            write_whole(options.results, lines(found) + "\n")
            print(question, f"{time.process_time() - began:.0f} s", flush=True)

        module = importlib.import_module(f"benchmarks.interpret_{question}")
        module.measure(stored(options.results).get(question, {}), keep)


if __name__ == "__main__":
    main(sys.argv[1:])
