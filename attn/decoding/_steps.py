"""What every decoder does: check its arguments, take a step, and look at its logits."""

import torch

from attn._checks import check_size, wrong


@torch.no_grad()
def next_logits(step, ids, cache, running, end_id, pad_id):
    """Return the step's logits as float64, zero in the rows that are not running."""
    logits = step(ids, cache)
    if not is_float(logits) or logits.shape[:-1] != running.shape:
        shape = f"({len(ids)}, vocab_size)"
        raise wrong("step", f"floating-point logits of shape {shape}", describe(logits))
    for name, token in (("end_id", end_id), ("pad_id", pad_id)):
        if token >= logits.shape[1]:
            raise wrong(name, f"a token below vocab_size = {logits.shape[1]}", token)
    logits = logits.double().masked_fill(~running[:, None], 0.0)
    check_rows("step", logits)
    return logits


def check_arguments(prompt, end_id, max_new_tokens, pad_id):
    """Check what all decoders share; return `end_id`, -1 if None, and `max_new_tokens`."""
    fits = isinstance(prompt, torch.Tensor) and prompt.dtype == torch.int64
    if not fits or prompt.ndim != 2 or prompt.shape[1] == 0:
        shape = "(batch_size, prompt_len), prompt_len at least 1"
        raise wrong("prompt", f"an int64 tensor of shape {shape}", describe(prompt))
    check_size("pad_id", pad_id)
    end_id = -1 if end_id is None else check_size("end_id", end_id)
    return end_id, check_size("max_new_tokens", max_new_tokens)


def check_rows(name, logits):
    """Raise ``ValueError`` for NaN, +inf or only -inf in a row: its largest shows them all."""
    largest = logits.amax(dim=-1)
    if not largest.isfinite().all():
        got = largest[~largest.isfinite()][0]
        raise wrong(name, "logits whose largest is finite in every row", got)


def is_float(logits):
    return isinstance(logits, torch.Tensor) and logits.is_floating_point()


def describe(value):
    if isinstance(value, torch.Tensor):
        return f"{value.dtype} of shape {tuple(value.shape)}"
    return type(value).__name__
