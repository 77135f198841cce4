"""The same questions after a training that leaves all weights as they are and adds a few."""

import random
import time
from copy import deepcopy

import torch
from torch.nn import functional as F

from attn_course.low_rank import adapt
from attn_course.tasks import LABELS, opinions, prompt
from benchmarks.modern_tasks import asked, label_ids, last_logits, smollm2

LANGUAGE = "es"  # of what is learnt; the other language is asked too
RANK, NAMES = 4, ("q_proj", "v_proj")
EPOCHS, BATCH, RATE = 6, 8, 2e-3
SEEDS = (0, 1, 2)
N_FIRST = 2


def begun(model, seed):
    """Return a copy of a model that can learn, and what learns in it."""
    torch.manual_seed(seed)
    model = deepcopy(model)
    return model, adapt(model, RANK, names=NAMES)


def train(model, learns, tokenizer, seed, steps=None):
    """Train for all epochs, or so many steps; return the losses."""
    given = opinions("to_learn_from", LANGUAGE)
    words, rng, losses = label_ids(tokenizer, LANGUAGE), random.Random(seed), []
    optimizer = torch.optim.AdamW(learns, lr=RATE, weight_decay=0.0)
    batches = [
        some[first : first + BATCH]
        for some in (rng.sample(given, len(given)) for _ in range(EPOCHS))
        for first in range(0, len(given), BATCH)
    ]
    for step, batch in enumerate(batches[:steps]):
        for group in optimizer.param_groups:
            group["lr"] = RATE * (1 - step / len(batches))
        rows = [tokenizer.encode(prompt([], o.text, LANGUAGE)) for o in batch]
        targets = torch.tensor([words[LABELS.index(o.label)] for o in batch])
        loss = F.cross_entropy(last_logits(model, rows), targets)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    return losses


def measure(told, keep):
    """Ask before; train and ask after, for each seed that has not learnt yet."""
    base, tokenizer = smollm2()
    if "before" not in told:
        told["before"] = {language: asked(base, tokenizer, language) for language in ("es", "en")}
        keep(told)
    rows = told.setdefault("seeds", [])
    for seed in SEEDS[len(rows) :]:
        began = time.process_time()
        model, learns = begun(base, seed)
        losses = train(model, learns, tokenizer, seed)
        seconds, n = time.process_time() - began, sum(p.numel() for p in learns)
        told["setting"] = {
            "language": LANGUAGE, "rank": RANK, "matrices": NAMES, "trained": n,
            "parameters": sum(p.numel() for p in base.parameters()),
            "share": round(n / sum(p.numel() for p in base.parameters()), 5),
            "examples": len(opinions("to_learn_from", LANGUAGE)), "epochs": EPOCHS,
            "steps": len(losses),
        }  # fmt: skip
        after = {language: asked(model, tokenizer, language) for language in ("es", "en")}
        rows.append({
            "seed": seed, "cpu_seconds": round(seconds), "after": after,
            "first_losses": [round(loss, 3) for loss in losses[:N_FIRST]],
            "last_losses": [round(loss, 3) for loss in losses[-N_FIRST:]],
        })  # fmt: skip
        keep(told)
