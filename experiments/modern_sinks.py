"""Attention of a pretrained model's heads to the first token, and the loss without that token.

The text is the English prose of a chapter of this course, which is not in the model's training.
`shares` gives, layer by layer, how much attention goes to the first token, and to the second: from
three starting points in the text, so that the first token is a different one each time.
`perplexity` is that of a model that attends to only the last tokens, with and without the first
ones.
"""

import numpy as np
import torch

from experiments.modern_context import HELD_OUT, perplexities_of, prose, windowed
from experiments.modern_tasks import smollm2

# The first tokens of the texts, their length, and the first query that counts.
STARTS, WATCHED, FROM = (0, 1000, 2000), 192, 64
LENGTH, WINDOW, EDGES = 768, 192, (0, 192, 384, 576, 768)
N_SINKS = (0, 1, 4)


def text():
    """Return the ids of the text."""
    return torch.tensor(smollm2()[1].encode(prose(HELD_OUT)))


@torch.inference_mode()
def shares(model, ids):
    """Return the attention to the first two tokens, and the length of the first value, by layer.

    Returns
    -------
    dict
        ``first``, ``second``: the weight that later tokens give them, a mean over queries and heads;
        ``value``: the length of the first token's value, divided by the mean length of the others'.
    """
    lengths = []
    hooks = [
        layer.self_attention.v_proj.register_forward_hook(
            lambda _, __, output: lengths.append(output[0].norm(dim=-1))
        )
        for layer in model.stack.layers
    ]
    x = model.embedding(ids[None])
    _, weights = model.stack(x, is_causal=True, need_weights=True)
    for hook in hooks:
        hook.remove()
    means = [w[0, :, FROM:].mean(dim=(0, 1)) for w in weights]
    return {
        "first": [float(mean[0]) for mean in means],
        "second": [float(mean[1]) for mean in means],
        "value": [float(length[0] / length[1:].mean()) for length in lengths],
    }


def measure(told, keep):
    """Measure the shares from each start, and the perplexity of each kind of window."""
    model, ids = smollm2()[0], text()
    told.setdefault(
        "setting",
        {
            "starts": STARTS,
            "watched": WATCHED,
            "from": FROM,
            "length": LENGTH,
            "window": WINDOW,
            "edges": EDGES,
            # The weight of the first token if a query attended to all tokens equally.
            "uniform": round(float(np.mean([1 / (t + 1) for t in range(FROM, WATCHED)])), 4),
        },
    )
    if "shares" not in told:
        found = [shares(model, ids[start : start + WATCHED]) for start in STARTS]
        told["shares"] = {
            name: [[round(x, 3) for x in one[name]] for one in found] for name in found[0]
        }
        told["first_tokens"] = [
            smollm2()[1].decode(ids[start : start + 1].tolist()) for start in STARTS
        ]
        keep(told)
    rows = told.setdefault("perplexity", [])
    for kept in ("all", *N_SINKS)[len(rows) :]:
        way = model if kept == "all" else windowed(model, kept, WINDOW)
        rows.append({"sinks": kept, "perplexity": perplexities_of(way, ids, EDGES, 2)})
        keep(told)
