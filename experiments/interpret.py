"""The stored measurements of chapter 13 and appendix A3 inside SmolLM2 and MiniLM.

``python -m experiments interpret`` measures the questions that have no result yet, and writes
``notebooks/data/interpret.json`` after each result, so it can be stopped and started again. Each
question has a module, named here. All together they take some ten minutes on one thread.

===============  ============================================================================
`lens`           what the last norm and the output matrix predict from the residual stream, by layer
`patching`       one vector, or the output of one head, taken from another text
`probes`         what a linear probe predicts, against control tasks, and whether the model uses it
`looking`        where heads attend, and what becomes of the answer without them
`first_token`    the attention sink: its weight removed, or its value replaced
`contexts`       the vector of one word in two contexts, with MiniLM
`sentences`      the vectors of sentences on four subjects, with MiniLM
===============  ============================================================================
"""

import importlib

import numpy as np
import torch

from experiments.runner import DATA, Experiment, Row

RESULTS = DATA / "interpret.json"
QUESTIONS = ("lens", "patching", "probes", "looking", "first_token", "contexts", "sentences")
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
    """Return numbers as rounded lists, for JSON."""
    return (np.round(np.asarray(numbers, dtype=float), digits) + 0.0).tolist()


def asked(question):
    """Return the function that measures a question; only this call imports its module."""

    @torch.no_grad()
    def measure(told, keep):
        importlib.import_module(f"experiments.interpret_{question}").measure(told, keep)

    return measure


EXPERIMENT = Experiment(
    "Inside SmolLM2 and MiniLM: lens, patches, probes, heads, the sink, words in context",
    RESULTS,
    lambda: {name: Row(asked(name), (name,), resumes=True) for name in QUESTIONS},
    minutes=10,
)
