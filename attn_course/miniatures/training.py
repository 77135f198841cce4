"""The training loop of the miniatures: random batches, AdamW, warm-up and cosine decay."""

import math

import torch


def fit(model, loss, data, steps, seed, rate=3e-3, batch_size=64):
    """Train a model in place.

    Parameters
    ----------
    model : torch.nn.Module
    loss : callable
        Takes the model and a batch of each of `data`.
    data : tuple of Tensor
        Of one length.
    steps, seed : int
    rate : float
        The highest rate, reached after a tenth of the steps; a half cosine leads from there to 0.
    batch_size : int

    Returns
    -------
    torch.nn.Module
        The same model, ready to be used.
    """
    draws = torch.Generator().manual_seed(seed)
    optimizer = torch.optim.AdamW(model.parameters(), lr=rate, weight_decay=0.01, fused=True)
    rising = max(steps // 10, 1)
    model.train()
    for step in range(steps):
        part = min((step + 1) / rising, (1 + math.cos(math.pi * step / steps)) / 2)
        for group in optimizer.param_groups:
            group["lr"] = rate * part
        rows = torch.randint(len(data[0]), (batch_size,), generator=draws)
        optimizer.zero_grad()
        loss(model, *(each[rows] for each in data)).backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
    return model.eval()


def filled(model, weights, name):
    """Load the stored weights of a model into it, and return it.

    Parameters
    ----------
    model : torch.nn.Module
        A model with the sizes of the training.
    weights : dict of str to Tensor
        The weights of all models.
    name : str
        The prefix of the weights of this model.
    """
    own = {
        key.removeprefix(f"{name}/"): tensor.float()
        for key, tensor in weights.items()
        if key.startswith(f"{name}/")
    }
    model.load_state_dict(own)
    return model.eval().requires_grad_(requires_grad=False)
