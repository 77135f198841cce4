"""What the last norm and output matrix predict from SmolLM2's stream at each layer."""

import torch

from attn_course.contrasts import agreement, ids_of, pronouns
from attn_course.interpret import read_off, streams
from experiments.interpret import interval, rounded
from experiments.modern_tasks import smollm2

FACTS = (
    "The capital of France is",
    "The capital of Italy is",
    "The capital of Japan is",
    "The capital of Spain is",
    "The capital of Germany is",
    "The capital of Russia is",
    "The opposite of hot is",
    "The opposite of black is",
    "The opposite of big is",
    "The day after Monday is",
    "The month after June is",
    "The color of the sky is",
    "Water is made of hydrogen and",
    "The Earth moves around the",
    "Two plus two is",
    "Romeo and",
    "The first president of the United States was George",
    "Bees make",
    "The largest ocean is the",
    "A triangle has three",
)


def ranks(model, ids):
    """Return, at every layer, the rank (from 1) of the token that the last layer ranks first."""
    logits = read_off(model, streams(model, torch.tensor([ids]))[:, 0, -1])
    final = logits[:, logits[-1].argmax(), None]
    return (1 + (logits > final).sum(dim=-1)).tolist()


def differences(model, tokenizer, contrasts):
    """Return, for both texts of each pair, the right word's logit minus the wrong one's, by layer.

    Returns
    -------
    Tensor, shape (2 * n_pairs, n_layers + 1)
    """
    clean, corrupted, due, other = ids_of(tokenizer, contrasts)
    found = []
    for texts, right, wrong in ((clean, due, other), (corrupted, other, due)):
        logits = read_off(model, streams(model, torch.tensor(texts))[:, :, -1])
        place = range(len(texts))
        found.append((logits[:, place, right] - logits[:, place, wrong]).T)
    return torch.cat(found)


def measure(told, keep):
    """Measure the ranks of the answers, and the logit difference of the right words."""
    model, tokenizer = smollm2()
    if "facts" not in told:
        told["facts"] = []
        for prompt in FACTS:
            ids = tokenizer.encode(prompt)
            answer = tokenizer.decode([int(model(torch.tensor([ids]))[0][0, -1].argmax())])
            told["facts"].append({"prompt": prompt, "answer": answer, "ranks": ranks(model, ids)})
        keep(told)
    for name, contrasts in (("agreement", agreement()), ("pronouns", pronouns())):
        if name not in told:
            found = differences(model, tokenizer, contrasts)
            told[name] = {
                "right": int((found[:, -1] > 0).sum()),
                "n": len(found),
                "right_by_layer": (found > 0).sum(dim=0).tolist(),
                "lead": rounded(interval(found), 2),
            }
            keep(told)
