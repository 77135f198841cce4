"""What chapter 12 tells of language models of today and does not measure while it is read.

``python -m experiments modern`` measures what is missing of these questions, and writes
``notebooks/data/modern.json`` after each result: it can be stopped and started again. Each question
has a module, named here.

===============  ============================================================================
`changes`        from the decoder of 2017 to a Llama, one change at a time
`context`        a text longer than those read in training
`needle`         a number to be found at positions that were not read in training
`sinks`          what a pretrained model's heads do with the first token, and without it
`few_shot`       examples in the prompt
`lora`           a task learnt by a few weights beside those of a pretrained model
`speed`          reading a prompt and writing, against the memory's bandwidth
`speculative`    a quick model proposes and a slow one decides
`rounding`       the weights of the file, and the same rounded once more
`writing`        how SmolLM2 writes on, and where its other tokens would have led
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
    """Return what measures a question; its module is imported when it is asked."""

    def measure(told, keep):
        importlib.import_module(f"experiments.modern_{question}").measure(told, keep)

    return measure


EXPERIMENT = Experiment(
    "Language models of today: changes, context, sinks, examples, LoRA, speed, drafts",
    RESULTS,
    lambda: {name: Row(asked(name), (name,), resumes=True) for name in QUESTIONS},
    minutes=900,
)
