"""What a decoder-only model has inside while it reads, and what becomes of its answer when a part is exchanged.

`streams` and `gathered` look; `go_on` and `heads_changed` intervene. They serve chapter 13, work with
every pre-norm `attn.transformer.DecoderOnly`, and add nothing to it: its layers are called one by
one, and what the heads hand over is caught where it enters the output projection.

Layers count from 0. The stream *at* layer 3 is what enters layer 3; that at ``n_layers`` is what
leaves the last.
"""

from contextlib import contextmanager

import torch


@torch.no_grad()
def streams(model, ids):
    """Return the residual stream at every layer.

    Parameters
    ----------
    model : DecoderOnly
    ids : Tensor of int64, shape (n_texts, seq_len)

    Returns
    -------
    Tensor, shape (n_layers + 1, n_texts, seq_len, d_model)
    """
    found = [model.embedding(ids)]
    for layer in model.stack.layers:
        found.append(layer(found[-1], is_causal=True)[0])
    return torch.stack(found)


@torch.no_grad()
def gathered(model, ids):
    """Return what every head hands over: its weighted mean of values, before the output projection.

    Returns
    -------
    Tensor, shape (n_layers, n_texts, seq_len, n_heads, d_v)
    """
    found = []
    hooks = [
        layer.self_attention.out_proj.register_forward_pre_hook(lambda _, x: found.append(x[0]))
        for layer in model.stack.layers
    ]
    try:
        model.stack(model.embedding(ids), is_causal=True)
    finally:
        for hook in hooks:
            hook.remove()
    return torch.stack(found).unflatten(-1, (model.config.n_heads, -1))


@torch.no_grad()
def read_off(model, x):
    """Return the logits that the model's last norm and output matrix make of a stream: the logit lens.

    Examples
    --------
    What leaves the last layer is read as the model itself reads it.

    >>> from attn.transformer import DecoderOnly, TransformerConfig
    >>> config = TransformerConfig(vocab_size=9, d_model=8, n_heads=2, n_layers=3, norm="pre")
    >>> model, ids = DecoderOnly(config).eval(), torch.tensor([[1, 2, 3]])
    >>> lens = read_off(model, streams(model, ids))
    >>> lens.shape, torch.allclose(lens[-1], model(ids)[0], atol=1e-6)
    (torch.Size([4, 1, 3, 9]), True)
    """
    return model.output(model.stack.norm(x))


@torch.no_grad()
def go_on(model, x, layer, mask=None):
    """Return the logits of what follows each text, when the stream at a layer is `x`.

    Parameters
    ----------
    model : DecoderOnly
    x : Tensor, shape (n_texts, seq_len, d_model)
    layer : int
        From 0 to n_layers, of which the last runs no layer at all.
    mask : Tensor of bool, broadcastable to (n_texts, seq_len, seq_len), optional
        Which tokens may be attended to, besides the causal mask, from this layer on.

    Returns
    -------
    Tensor, shape (n_texts, vocab_size)
    """
    for each in model.stack.layers[layer:]:
        x = each(x, mask, is_causal=True)[0]
    return read_off(model, x[:, -1])


@contextmanager
def heads_changed(model, layer, change):
    """Let the heads of a layer hand over something else for a while.

    Parameters
    ----------
    model : DecoderOnly
    layer : int
    change : callable
        Takes what they hand over, shape (n_texts, seq_len, n_heads, d_v), and returns what takes
        its place. It gets a copy of its own.

    Examples
    --------
    A layer whose heads hand over nothing adds nothing by attention.

    >>> from attn.transformer import DecoderOnly, TransformerConfig
    >>> config = TransformerConfig(vocab_size=9, d_model=8, n_heads=2, n_layers=1, norm="pre")
    >>> model, ids = DecoderOnly(config).eval(), torch.tensor([[1, 2, 3], [1, 1, 3]])
    >>> with torch.no_grad(), heads_changed(model, 0, torch.zeros_like):
    ...     one, other = model(ids)[0][:, -1]
    >>> torch.equal(one, other)
    True
    """
    attention = model.stack.layers[layer].self_attention

    def exchanged(_, given):
        heads = given[0].unflatten(-1, (attention.n_heads, -1)).clone()
        return (change(heads).flatten(-2), *given[1:])

    hook = attention.out_proj.register_forward_pre_hook(exchanged)
    try:
        yield
    finally:
        hook.remove()


def patch_streams(model, clean, corrupted, score, layers=None):
    """Return the score of a corrupted text with one vector of its stream taken from a clean one.

    Parameters
    ----------
    model : DecoderOnly
    clean, corrupted : Tensor, shape (n_layers + 1, seq_len, d_model)
        Their `streams`; of texts of as many tokens.
    score : callable
        Takes logits, shape (n, vocab_size), and returns n numbers.
    layers : iterable of int, optional
        All if not given.

    Returns
    -------
    Tensor, shape (n_of_layers, seq_len)
        In row l and column i, that of the corrupted text with the clean vector at layer l and
        position i.
    """
    here = torch.arange(clean.shape[1], device=clean.device)
    rows = []
    for layer in range(len(clean)) if layers is None else layers:
        x = corrupted[layer].expand(len(here), -1, -1).clone()
        x[here, here] = clean[layer]
        rows.append(score(go_on(model, x, layer)))
    return torch.stack(rows)


def patch_heads(model, corrupted, clean_heads, score, at=-1):
    """Return the score of a corrupted text with what one head hands over taken from a clean one.

    Parameters
    ----------
    model : DecoderOnly
    corrupted : Tensor, shape (n_layers + 1, seq_len, d_model)
        Its `streams`.
    clean_heads : Tensor, shape (n_layers, seq_len, n_heads, d_v)
        What the heads `gathered` in the clean one.
    score : callable
        As in `patch_streams`.
    at : int or slice, default -1
        The positions where it is exchanged.

    Returns
    -------
    Tensor, shape (n_layers, n_heads)
    """
    n_layers, _, n_heads, _ = clean_heads.shape
    rows = []
    for layer in range(n_layers):

        def exchanged(heads, clean=clean_heads[layer]):
            # Text i of the batch has head i exchanged.
            for head in range(n_heads):
                heads[head, at, head] = clean[at, head]
            return heads

        x = corrupted[layer].expand(n_heads, -1, -1)
        with heads_changed(model, layer, exchanged):
            rows.append(score(go_on(model, x, layer)))
    return torch.stack(rows)
