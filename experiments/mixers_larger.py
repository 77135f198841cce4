"""The mixers of chapter 14 in larger models, from 0.3 to 46 million parameters.

Each row keeps the name of its processor or card and the day. On a CPU a row of 0.3 or 0.5 million
takes one to twelve minutes; one of the others, a day or more. Without a GPU, only the rows named in
the command are measured. The file lacks the rows of 13 and 40 million.
"""

from dataclasses import dataclass, replace
from datetime import date
from functools import partial

import torch

from attn.mixers import MultiHeadLatent
from benchmarks.timing import processor
from experiments import mixers
from experiments.runner import DATA, Experiment, Row

RESULTS = DATA / "mixers_larger.json"


@dataclass(frozen=True)
class Size:
    """The sizes of a model, the learning rates that are tried and the tasks.

    `language_budget` is the number of operations of a language model's training.
    """

    d_model: int
    n_heads: int
    n_layers: int
    rates: tuple[float, ...]
    tasks: tuple[str, ...]
    language_budget: float = 3e14

    def of(self, variant):
        """Return a variant in this size; the latent grows with the model."""
        latent = {"d_latent": self.d_model // 4, "d_rotary": self.d_model // self.n_heads // 2}
        some = (
            replace(mixer, **latent) if isinstance(mixer, MultiHeadLatent) else mixer
            for mixer in variant.mixers
        )
        sizes = {"d_model": self.d_model, "n_heads": self.n_heads, "n_layers": self.n_layers}
        return replace(variant, mixers=tuple(some), **sizes)


LONG, RATES = (*mixers.LONG, "language"), (1e-3, 3e-3, 1e-2)
# A task that shows how the differences hang on the rate, which is the same for all rows.
SAME_RATE = "language at 0.01"
SIZES = {
    "0.3 million": Size(128, 4, 2, RATES, (*mixers.WIDE,)),
    "0.5 million": Size(
        128,
        4,
        2,
        (3e-3, 1e-2, 2e-2, 3e-2),
        ("language", SAME_RATE),
        4 * mixers.LANGUAGE_BUDGET,
    ),
    "13 million": Size(512, 8, 6, (3e-4, 1e-3, 3e-3), LONG),
    "40 million": Size(896, 14, 6, (3e-4, 1e-3, 3e-3), LONG),
}


def variants(task):
    """Return the models of a task by name; those that keep count have no convolution."""
    if not task.endswith("swaps"):
        return mixers.VARIANTS
    return {name: mixers.Variant((mixer,), kind) for name, (mixer, kind) in mixers.TRACKERS.items()}


def measured(size, task, name):
    """Return the results of a variant at a size, with the processor and the day."""
    size, is_on_gpu = SIZES[size], torch.cuda.is_available()
    options = {"tried": size.rates, "device": "cuda" if is_on_gpu else "cpu"}
    torch.backends.cuda.matmul.allow_tf32 = True
    if task == SAME_RATE:
        options["tried"] = (1e-2,)
    if task in ("language", SAME_RATE):
        told = mixers.literate(
            size.of(variants(task)[name]), budget=size.language_budget, **options
        )
    else:
        told = mixers.measured(task, size.of(variants(task)[name]), **options)
    card = torch.cuda.get_device_name() if is_on_gpu else processor()
    return told | {"card": card, "date": date.today().isoformat()}


def rows():
    """Return one row for each size, task and variant."""
    return {
        f"{size}: {task}, {name}": Row(
            partial(measured, size, task, name), (size, task, name), is_large=True
        )
        for size in SIZES
        for task in SIZES[size].tasks
        for name in variants(task)
    }


def constants():
    """Return, for each task, the lengths and the operations with which its rows are measured."""
    return {
        "sizes": {
            name: {"trained": task.trained, "judged": task.judged, "budget": task.budget}
            for name, task in (mixers.WIDE | mixers.LONG).items()
        }
    }


EXPERIMENT = Experiment(
    "What do softmax attention and its successors recall, find and copy in larger models?",
    RESULTS,
    rows,
    minutes=0,
    constants=constants,
)
