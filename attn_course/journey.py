"""The numbers of one sentence on its way through a translator.

The opening page shows them in the drawing of the machine. The numbers of its example are computed
here; for a sentence that a reader types, the page computes them itself.
"""

import numpy as np
import torch

from attn._checks import argument_error

# The number of components of each vector that are kept, since the drawing has as many cells.
COMPONENTS = 7
CANDIDATES = 5


@torch.no_grad()
def journey(translator, text):
    """Translate a sentence, and return the first components of its vectors on the way.

    The drawing follows one token and opens one head: among the tokens that begin a word, the
    one that gives the largest weight to the beginning of another word in the last encoder
    layer.

    Parameters
    ----------
    translator : attn.applications.translation.Translator
        A translator with rotary positions and pre-norm, such as the one of real sentences.
    text : str

    Returns
    -------
    dict
        ``source`` and ``target``, the tokens, and ``source_ids`` and ``target_ids``, the ids
        that are read; ``sizes``; ``focus``, ``other`` and ``head``, the indices of the token
        that is followed, of the token it attends to most, and of the head. Vectors are cut to
        their first seven components: the ``embeddings`` of both sides; ``encoder``, for each
        layer the mean ``weights`` of its heads and the stream after ``attention`` and
        ``feed_forward``; the ``inside`` of the head; the ``memory``; ``own`` and ``cross``,
        the mean weights of the decoder; its output ``x``; and the five ``best`` tokens at each
        position, with logits and probabilities.

    Raises
    ------
    ValueError
        If the sentence cannot be translated, or the model is of another kind.

    Examples
    --------
    >>> from attn.applications.translation import Translator
    >>> found = journey(Translator.pretrained(), "We ate fish yesterday.")
    >>> found["source"], found["target"][0]
    (['We', ' ate', ' fish', ' yesterday', '.'], 'Ayer')
    """
    model, config = translator.model, translator.model.config
    if (config.positions, config.norm) != ("rotary", "pre"):
        wanted = "a model with rotary positions and pre-norm"
        raise argument_error("translator", wanted, f"{config.positions} and {config.norm}")
    src = translator.source_ids(text)
    target = translator.attention(text).target
    seen = _Seen(model)
    with seen:
        written = _written(translator, src)
        # Discard what was recorded while the translation was written token by token.
        seen.forget()
        logits, weights = model(torch.tensor(src), torch.tensor(written[:-1]), need_weights=True)
    source = [translator.source.tokens[i] for i in src]
    last = weights.encoder[-1].numpy()
    head, focus, other = word_in_question(last, source)
    inside = seen.inside(model.encoder.layers[-1], head, focus)
    return {
        "source": source,
        "source_ids": src,
        "target": target,
        "target_ids": written[:-1],
        "sizes": {
            "d_model": config.d_model,
            "n_heads": config.n_heads,
            "n_layers": config.n_layers,
            "vocab_size": config.tgt_vocab_size or config.vocab_size,
        },
        "focus": focus,
        "other": other,
        "head": head,
        "embeddings": {
            "source": _first(seen.outputs[model.src_embedding]),
            "target": _first(seen.outputs[model.tgt_embedding]),
        },
        "encoder": [
            {
                "weights": _plain(layer_weights.mean(dim=0)),
                "attention": _first(seen.inputs[layer.norm_2]),
                "feed_forward": _first(seen.outputs[layer]),
            }
            for layer, layer_weights in zip(model.encoder.layers, weights.encoder, strict=True)
        ],
        "inside": {**inside, "weights": _plain(last[head, focus])},
        "memory": _first(seen.outputs[model.encoder]),
        "own": _plain(torch.stack(weights.decoder).mean(dim=(0, 1))),
        "cross": _plain(torch.stack(weights.cross).mean(dim=(0, 1))),
        "x": _first(seen.outputs[model.decoder]),
        "best": [_best(row, translator.target.tokens) for row in logits],
    }


def word_in_question(weights, tokens):
    """Return head, query and key of the largest weight between the first tokens of two words.

    Parameters
    ----------
    weights : array, shape (n_heads, src_len, src_len)
    tokens : list of str
        A token begins a word if it is the first, or begins with a space, and goes on with a letter.

    Examples
    --------
    >>> weights = np.array([[[0.1, 0.9, 0.0], [0.5, 0.3, 0.2], [0.0, 0.0, 1.0]]])
    >>> word_in_question(weights, ["We", " ate", "."])
    (0, 0, 1)
    """
    begins = np.array(
        [
            (i == 0 or token[0] == " ") and token.strip()[:1].isalpha()
            for i, token in enumerate(tokens)
        ]
    )
    allowed = begins[:, None] & begins & ~np.eye(len(tokens), dtype=bool)
    if not allowed.any():
        allowed = np.ones_like(allowed)
    places = np.unravel_index(np.where(allowed, weights, -1).argmax(), weights.shape)
    return tuple(map(int, places))


class _Seen:
    """Records the inputs and outputs of modules within a ``with`` block."""

    def __init__(self, model):
        self.model, self.inputs, self.outputs, self.handles = model, {}, {}, []

    def __enter__(self):
        hooks = (module.register_forward_hook(self._see) for module in self.model.modules())
        self.handles = list(hooks)

    def __exit__(self, *error):
        for handle in self.handles:
            handle.remove()

    def _see(self, module, inputs, output):
        self.inputs[module] = inputs[0]
        self.outputs[module] = output[0] if isinstance(output, tuple) else output
        if module in {layer.self_attention.attention for layer in self.model.encoder.layers}:
            self.inputs[module] = inputs

    def forget(self):
        self.inputs.clear()
        self.outputs.clear()

    def inside(self, layer, head, focus):
        """Return the keys, values, scores and output of one query of one head."""
        attention = layer.self_attention
        query, key, value = (x[head] for x in self.inputs[attention.attention][:3])
        scores = key @ query[focus] / query.shape[-1] ** 0.5
        return {
            "query": _first(query[focus]),
            "key": _first(key),
            "value": _first(value),
            "scores": _plain(scores),
            "mean": _first(self.outputs[attention.attention][head, focus]),
            "output": _first(self.outputs[attention][focus]),
        }


def _written(translator, src):
    """Return the ids from ``<sos>`` to ``<eos>`` of greedy search, as in the page."""
    model, tokenizer = translator.model, translator.target
    memory, _ = model.encode(torch.tensor(src))
    ids = [tokenizer.sos_id]
    for _ in range(2 * len(src) + 10):
        logits, _ = model.decode(torch.tensor(ids), memory)
        ids.append(int(logits[-1].argmax()))
        if ids[-1] == tokenizer.eos_id:
            break
    return ids


def _best(logits, tokens):
    probabilities = logits.softmax(dim=-1)
    best = logits.topk(CANDIDATES).indices.tolist()
    return [[tokens[i], *_plain(torch.stack([logits[i], probabilities[i]]))] for i in best]


def _first(x):
    return _plain(x[..., :COMPONENTS])


def _plain(x):
    """Return numbers as lists with four decimals, which are the same on every processor."""
    return (np.asarray(x, dtype=float).round(4) + 0.0).tolist()
