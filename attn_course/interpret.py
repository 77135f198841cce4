"""Read and change the activations of a decoder-only model.

`streams` and `gathered` read activations; `go_on` and `heads_changed` change them. They work
with every pre-norm `attn.transformer.DecoderOnly` without changing its code: the layers are
called one by one, and the outputs of the heads are read at the input of the output projection.

Layers count from 0. The stream *at* layer 3 is the input of layer 3, and the stream at
``n_layers`` is the output of the last layer.
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
    """Return the output of every head: its weighted mean of values, before the output projection.

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
    """Apply the last norm and the output matrix to a stream (the logit lens); return the logits.

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
    """Run the layers from `layer` on with the stream `x`; return the logits of the next tokens.

    Parameters
    ----------
    model : DecoderOnly
    x : Tensor, shape (n_texts, seq_len, d_model)
    layer : int
        From 0 to n_layers, where n_layers runs no layer.
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
    """Change the outputs of the heads of a layer within a ``with`` block.

    Parameters
    ----------
    model : DecoderOnly
    layer : int
    change : callable
        Takes a copy of the outputs, shape (n_texts, seq_len, n_heads, d_v), and returns the
        new ones.

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
    """Return the scores of a corrupted text with one vector of its stream from a clean text.

    Parameters
    ----------
    model : DecoderOnly
    clean, corrupted : Tensor, shape (n_layers + 1, seq_len, d_model)
        The `streams` of two texts of equal length.
    score : callable
        Takes logits, shape (n, vocab_size), and returns n numbers.
    layers : iterable of int, optional
        By default all.

    Returns
    -------
    Tensor, shape (n_of_layers, seq_len)
        Entry [l, i] is the score with the clean vector at layer l and position i.
    """
    here = torch.arange(clean.shape[1], device=clean.device)
    rows = []
    for layer in range(len(clean)) if layers is None else layers:
        x = corrupted[layer].expand(len(here), -1, -1).clone()
        x[here, here] = clean[layer]
        rows.append(score(go_on(model, x, layer)))
    return torch.stack(rows)


def patch_heads(model, corrupted, clean_heads, score, at=-1):
    """Return the scores of a corrupted text with the output of one head from a clean text.

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
        The positions at which the output is replaced.

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
