"""The attention sink of SmolLM2: the loss when a token is hidden, or when its value is replaced.

Chapter 12 measures how much attention the first token gets. Here a token is changed from one layer
on. If it is ``hidden``, later tokens may not attend to it, and the other tokens share its weight.
Otherwise they attend to it as before, but its value is replaced: by 0 if it is ``empty``, by the
``mean`` of the values at that position in the other texts, or by that of one ``other`` text. The
mean separates two things that emptying removes at once: a constant, and what the token says of its
text. The second token and one in the middle are controls. The intervals resample the texts.
"""

from contextlib import ExitStack, contextmanager

import torch
from torch.nn.functional import cross_entropy

from attn_course.interpret import read_off, streams
from experiments.interpret import interval, rounded
from experiments.modern_context import prose
from experiments.modern_tasks import smollm2

# One text of each of these chapters and laboratories, which starts at its token `START`.
PAGES = ("01", "02", "03", "04", "05", "06", "07", "08", "L01", "L02", "L03", "L04")
START, LENGTH, FROM = 60, 72, 24
# The layers from which a token is changed, and the positions of those tokens.
CHANGED = {0: (0, 1), 12: (0, 1, 16)}


def rows():
    """Return the ids of the texts, shape (n_texts, seq_len)."""
    encode = smollm2()[1].encode
    return torch.tensor([encode(prose(page))[START : START + LENGTH] for page in PAGES])


def losses(model, x, layer, ids, mask=None):
    """Return the mean loss of each text from token `FROM` on, when the stream at a layer is `x`."""
    for each in model.stack.layers[layer:]:
        x = each(x, mask, is_causal=True)[0]
    logits = read_off(model, x[:, FROM:-1])
    return cross_entropy(logits.mT, ids[:, FROM + 1 :], reduction="none").mean(dim=1)


def hidden(seq_len, token):
    """Return the mask that hides a token from all tokens but itself."""
    seen = torch.ones(seq_len, seq_len, dtype=torch.bool)
    seen[:, token] = False
    seen[token, token] = True
    return seen


def values_at(model, x, token):
    """Return the value of a token in every layer, shape (n_layers, n_texts, d_v of all heads)."""
    return torch.stack(
        [
            layer.self_attention.v_proj(layer.norm_1(x[i, :, token]))
            for i, layer in enumerate(model.stack.layers)
        ]
    )


@contextmanager
def exchanged(model, layer, token, values):
    """Replace the values of a token, (n_layers, n_texts, ...), from a layer on, in a context."""
    with ExitStack() as stack:
        for i, each in enumerate(model.stack.layers[layer:], layer):

            def changed(_, __, value, i=i):
                value = value.clone()
                value[:, token] = values[i]
                return value

            stack.callback(each.self_attention.v_proj.register_forward_hook(changed).remove)
        yield


def measure(told, keep):
    """Measure the loss with no change and with each change."""
    if "rows" in told:
        return
    model, ids = smollm2()[0], rows()
    x, n = streams(model, ids), len(ids)
    whole = losses(model, x[-1], len(x) - 1, ids)
    told["setting"] = {"texts": n, "tokens": n * (LENGTH - FROM - 1), "from": FROM}
    told["loss"], told["rows"] = rounded(interval(whole)), []
    told["first"] = len({int(i) for i in ids[:, 0]})
    for layer, tokens in CHANGED.items():
        for token in tokens:
            row = {"layer": layer, "token": token}
            found = losses(model, x[layer], layer, ids, hidden(LENGTH, token))
            row["hidden"] = rounded(interval(found - whole))
            own = values_at(model, x, token)
            others = (own.sum(dim=1, keepdim=True) - own) / (n - 1)
            given = {"empty": own * 0, "mean": others, "other": own.roll(1, dims=1)}
            for name, values in given.items():
                with exchanged(model, layer, token, values):
                    found = losses(model, x[layer], layer, ids)
                row[name] = rounded(interval(found - whole))
            told["rows"].append(row)
            keep(told)
