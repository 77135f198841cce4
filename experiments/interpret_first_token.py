"""The attention sink of SmolLM2: the loss when a token is hidden, or when its value is 0.

Chapter 12 measures how much attention the first token gets. Here a token is changed from one
layer on. If it is ``hidden``, later tokens may not attend to it, and the others share its
weight. If it is ``empty``, they attend to it as before, but its value is 0, so that its weight
has no effect. The second token and one in the middle are controls.
"""

import torch
from torch.nn.functional import cross_entropy

from attn_course.interpret import read_off, streams
from experiments.interpret import interval, rounded
from experiments.modern_sinks import FROM, STARTS, WATCHED, text
from experiments.modern_tasks import smollm2

# The layers from which on the token is changed.
LAYERS = (0, 12)
TOKENS = (0, 1, 32)


def rows():
    """Return the ids of the texts, shape (n_texts, seq_len)."""
    ids = text()
    return torch.stack([ids[start : start + WATCHED] for start in STARTS])


def losses(model, x, layer, ids, mask=None):
    """Return the loss of each token from `FROM` on, when the stream at a layer is `x`."""
    for each in model.stack.layers[layer:]:
        x = each(x, mask, is_causal=True)[0]
    logits = read_off(model, x[:, FROM:-1])
    return cross_entropy(logits.flatten(0, 1), ids[:, FROM + 1 :].flatten(), reduction="none")


def hidden(seq_len, token):
    """Return the mask that hides a token from all others."""
    seen = torch.ones(seq_len, seq_len, dtype=torch.bool)
    seen[:, token] = False
    seen[token, token] = True
    return seen


def emptied(model, layer, token):
    """Set the value of a token to 0 from a layer on; return the hooks, for the caller to remove."""

    def changed(_, __, value):
        value = value.clone()
        value[:, token] = 0
        return value

    return [
        each.self_attention.v_proj.register_forward_hook(changed)
        for each in model.stack.layers[layer:]
    ]


def measure(told, keep):
    """Measure the loss without and with every change."""
    if "rows" in told:
        return
    model, ids = smollm2()[0], rows()
    x = streams(model, ids)
    whole = losses(model, x[-1], len(x) - 1, ids)
    told["setting"] = {"texts": len(ids), "tokens": len(whole), "from": FROM}
    told["loss"] = round(float(whole.mean()), 3)
    told["rows"] = []
    for layer in LAYERS:
        for token in TOKENS:
            row = {"layer": layer, "token": token}
            found = losses(model, x[layer], layer, ids, hidden(ids.shape[1], token))
            row["hidden"] = rounded(interval(found - whole))
            hooks = emptied(model, layer, token)
            found = losses(model, x[layer], layer, ids)
            for hook in hooks:
                hook.remove()
            row["empty"] = rounded(interval(found - whole))
            told["rows"].append(row)
            keep(told)
