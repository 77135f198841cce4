"""Questions before and after training with LoRA, which adds a few weights to a frozen model.

In two tasks the answer is a colour that stands for the opinion in an English line: the model can
read the line, but cannot know the convention. In one the convention is the one it would guess, in
the other the opposite. The third task is in Spanish, which the model hardly reads.
"""

import random
import time
from copy import deepcopy

import torch
from torch.nn import functional as F

from attn_course.low_rank import adapt
from attn_course.tasks import FORMS, LABELS, opinions, prompt
from experiments.modern_few_shot import DRAWS, drawn
from experiments.modern_tasks import asked, label_ids, last_logits, smollm2

RANK, NAMES = 4, ("q_proj", "v_proj")
BATCH = 8
# For each form of the questions its epochs, learning rate and seeds. "en" is tested too after each
# training.
TASKS = {
    "colours": (8, 6e-3, (0,)),
    "colours_exchanged": (8, 6e-3, (0,)),
    "es": (6, 2e-3, (0, 1, 2)),
}
# The number of examples in the prompt of the model that training is compared with.
SHOWN = 8
N_FIRST = 2


def begun(model, seed):
    """Return a copy of a model with LoRA matrices, and these matrices."""
    torch.manual_seed(seed)
    model = deepcopy(model)
    return model, adapt(model, RANK, names=NAMES)


def train(model, learns, tokenizer, form, seed, steps=None):
    """Train for all epochs, or so many steps; return the losses."""
    epochs, rate, _ = TASKS[form]
    given = opinions("to_learn_from", FORMS[form].language)
    words, rng, losses = label_ids(tokenizer, form), random.Random(seed), []
    optimizer = torch.optim.AdamW(learns, lr=rate, weight_decay=0.0)
    batches = [
        some[first : first + BATCH]
        for some in (rng.sample(given, len(given)) for _ in range(epochs))
        for first in range(0, len(given), BATCH)
    ]
    for step, batch in enumerate(batches[:steps]):
        for group in optimizer.param_groups:
            group["lr"] = rate * (1 - step / len(batches))
        rows = [tokenizer.encode(prompt([], o.text, form)) for o in batch]
        targets = torch.tensor([words[LABELS.index(o.label)] for o in batch])
        loss = F.cross_entropy(last_logits(model, rows), targets)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    return losses


def measure(told, keep):
    """Measure before the training, with examples in the prompt, and after the training."""
    base, tokenizer = smollm2()
    n_parameters = sum(p.numel() for p in base.parameters())
    for form, (epochs, rate, seeds) in TASKS.items():
        task = told.setdefault("tasks", {}).setdefault(form, {})
        if "before" not in task:
            task["before"] = asked(base, tokenizer, form)
            task["examples_in_prompt"] = [
                asked(base, tokenizer, form, drawn(SHOWN, draw, FORMS[form].language))
                for draw in DRAWS
            ]
            keep(told)
        rows = task.setdefault("seeds", [])
        for seed in seeds[len(rows) :]:
            began = time.process_time()
            model, learns = begun(base, seed)
            losses = train(model, learns, tokenizer, form, seed)
            seconds, n = time.process_time() - began, sum(p.numel() for p in learns)
            told["setting"] = {
                "rank": RANK,
                "matrices": NAMES,
                "trained": n,
                "parameters": n_parameters,
                "share": round(n / n_parameters, 5),
                "shown": SHOWN,
                "examples": len(opinions("to_learn_from", FORMS[form].language)),
            }
            rows.append(
                {
                    "seed": seed,
                    "epochs": epochs,
                    "learning_rate": rate,
                    "steps": len(losses),
                    "cpu_seconds": round(seconds),
                    "after": asked(model, tokenizer, form),
                    "after_in_english": asked(model, tokenizer, "en"),
                    "first_losses": [round(loss, 3) for loss in losses[:N_FIRST]],
                    "last_losses": [round(loss, 3) for loss in losses[-N_FIRST:]],
                }
            )
            keep(told)
