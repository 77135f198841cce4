"""What chapter 12 reports of today's language models but does not measure when it runs.

``python -m experiments modern`` measures the questions that have no result yet, and writes
``notebooks/data/modern.json`` after each result, so it can be stopped and started again. Each
question has a module, named here.

===============  ============================================================================
`changes`        from the decoder of 2017 to a Llama, one change at a time
`context`        a text longer than those read in training
`needle`         a number to be found at positions that the training did not have
`sinks`          how a pretrained model's heads attend to the first token, and the loss without it
`few_shot`       examples in the prompt
`lora`           a task learnt by a few weights added to a frozen pretrained model
`speed`          reading a prompt and writing, against the memory's bandwidth
`speculative`    a fast model proposes tokens and a slow one accepts or rejects them
`rounding`       the weights of the file, and the same weights rounded once more
`writing`        how SmolLM2 continues texts, and how it would after its other likely tokens
===============  ============================================================================
"""

import importlib

from experiments.runner import DATA, Experiment, Row, read

RESULTS = DATA / "modern.json"
QUESTIONS = (
    "changes",
    "context",
    "sinks",
    "few_shot",
    "lora",
    "speed",
    "speculative",
    "rounding",
    "writing",
    "needle",
)


def stored(path=RESULTS):
    """Return what has been measured, by question."""
    return read(path) or {}


def asked(question):
    """Return the function that measures a question; only this call imports its module."""

    def measure(told, keep):
        importlib.import_module(f"experiments.modern_{question}").measure(told, keep)

    return measure


EXPERIMENT = Experiment(
    "Language models of today: changes, context, sinks, examples, LoRA, speed, drafts",
    RESULTS,
    lambda: {name: Row(asked(name), (name,), resumes=True) for name in QUESTIONS},
    minutes=900,
)
