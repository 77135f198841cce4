"""The stored measurements of chapter 12 about language models of today.

``python -m benchmarks.modern changes context`` measures what is missing of these questions, or of
all if none is named, and writes ``notebooks/data/modern.json`` after each result: it can be stopped
and started again. Each question has a module, named here.

===============  ============================================================================
`changes`        from the decoder of 2017 to a Llama, one change at a time
`context`        a text longer than those read in training
`sinks`          what a pretrained model's heads do with the first token, and without it
`few_shot`       examples in the prompt
`lora`           a task learnt by a few weights beside those of a pretrained model
`speed`          reading a prompt and writing, against the memory's bandwidth
`speculative`    a quick model proposes and a slow one decides
===============  ============================================================================
"""

import argparse
import importlib
import json
import sys
import time
from pathlib import Path

import torch

from attn.io import write_whole

RESULTS = Path(__file__).resolve().parents[1] / "notebooks" / "data" / "modern.json"
QUESTIONS = ("changes", "context", "sinks", "few_shot", "lora", "speed", "speculative")
# A value whose text is at most this long is written on one line.
SHORT = 240


def stored(path=RESULTS):
    """Return what has been measured, by question."""
    return json.loads(path.read_text("utf-8")) if path.exists() else {}


def lines(value, depth=0):
    """Return JSON in which short values are on one line."""
    whole = json.dumps(value, ensure_ascii=False)
    if len(whole) <= SHORT or not isinstance(value, (dict, list)):
        return whole
    pad, (left, right) = " " * (depth + 1), "{}" if isinstance(value, dict) else "[]"
    if isinstance(value, dict):
        items = [f"{json.dumps(name)}: {lines(item, depth + 1)}" for name, item in value.items()]
    else:
        items = [lines(item, depth + 1) for item in value]
    return f"{left}\n{pad}" + f",\n{pad}".join(items) + f"\n{' ' * depth}{right}"


def main(arguments=()):
    """Measure what is missing."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.modern")
    parser.add_argument("questions", nargs="*", help=f"of {', '.join(QUESTIONS)}")
    parser.add_argument("--results", type=Path, default=RESULTS, help="the file of results")
    options = parser.parse_args(arguments)
    torch.set_num_threads(1)
    for question in options.questions or QUESTIONS:
        began = time.process_time()

        def keep(told, question=question, began=began):
            found = stored(options.results) | {question: told}
            found = {name: found[name] for name in QUESTIONS if name in found}
            write_whole(options.results, lines(found) + "\n")
            print(question, f"{time.process_time() - began:.0f} s", flush=True)

        module = importlib.import_module(f"benchmarks.modern_{question}")
        module.measure(stored(options.results).get(question, {}), keep)


if __name__ == "__main__":
    main(sys.argv[1:])
