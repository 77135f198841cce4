"""(k) A language model on a GPU: own time over that of `transformers`.

Both models have the sizes of SmolLM2-135M and random weights. They read and write one sequence in
bfloat16, and train under autocast. Times are wall-clock times, measured after the GPU is idle.
"""

import time

import torch
from torch.nn import functional as F

from attn import checks
from attn.transformer import Captured, DecoderOnly, TransformerConfig
from benchmarks.report import Target
from benchmarks.timing import interleave, ratio, spread
from benchmarks.writing import own_calls, peer, peer_calls

PROMPT, ROOM, BATCH, SEQ_LEN = 512, 1024, 8, 1024
SMOLLM2 = TransformerConfig(
    vocab_size=49152,
    d_model=576,
    n_heads=9,
    n_kv_heads=3,
    n_layers=30,
    d_ff=1536,
    dropout=0.0,
    norm="pre",
    bias=False,
    normalization="rms",
    activation="swiglu",
    positions="rotary",
    rotary_base=100_000.0,
    scale_embeddings=False,
)
NEEDS_GPU = True
TARGETS = (
    Target("checks off", at_most=1, where={"task": "training step"}),
    # A third of the time of the peer's eager step.
    Target("captured", at_most=0.33, where={"task": "writing a token"}),
)


def clock():
    """Return the wall-clock time in seconds, once the GPU is idle."""
    if torch.cuda.is_available():
        torch.cuda.synchronize()
    return time.perf_counter()


def with_checks(on, call):
    """Return a call that runs with the checks that read values switched on or off."""

    def run():
        with checks(on):
            return call()

    return run


def captured_calls(model, prompt, room):
    """Return calls of a captured step: one reads the prompt, the other writes the next token."""
    step, cache = Captured(model), model.new_cache(room=room)
    longer = torch.cat((prompt, prompt[:, :1]), dim=1)

    def read():
        cache.truncate(0)
        return step(prompt, cache)

    def write():
        cache.truncate(prompt.shape[1])
        return step(longer, cache)

    read()
    return read, write


def training_call(model, logits_of, ids):
    """Return a call that takes one step with AdamW under autocast."""
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-5, fused=ids.is_cuda)

    def step():
        with torch.autocast(ids.device.type, dtype=torch.bfloat16):
            logits = logits_of(ids[:, :-1])
            loss = F.cross_entropy(logits.float().flatten(0, 1), ids[:, 1:].flatten())
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()

    return step


def measure(
    config=SMOLLM2, device="cuda", prompt_len=PROMPT, room=ROOM, batch=(BATCH, SEQ_LEN), **options
):
    """Return a row for reading, for writing and for a training step."""
    options = {"clock": clock} | options
    torch.manual_seed(0)
    ours, theirs = DecoderOnly(config).to(device).train(), peer(config).to(device).train()
    ids = torch.randint(config.vocab_size, (batch[0], batch[1] + 1), device=device)
    own = training_call(ours, lambda x: ours(x)[0], ids)
    contenders = {
        "checks on": with_checks(True, own),
        "checks off": with_checks(False, own),
        "transformers": training_call(theirs, lambda x: theirs(x, use_cache=False).logits, ids),
    }
    rows = [_row("training step", interleave(contenders, **options))]
    ours, theirs = ours.bfloat16().eval(), theirs.bfloat16().eval()
    prompt = torch.randint(config.vocab_size, (1, prompt_len), device=device)
    with torch.inference_mode(), checks(False):
        own, fixed = own_calls(ours, prompt), captured_calls(ours, prompt, room)
        others = peer_calls(theirs, prompt)
        for i, task in enumerate(("reading 512 tokens", "writing a token")):
            contenders = {
                "checks on": with_checks(True, own[i]),
                "checks off": own[i],
                "captured": fixed[i],
                "transformers": others[i],
            }
            rows.append(_row(task, interleave(contenders, **options)))
    return rows


def _row(task, seconds):
    ways = ("checks on", "checks off", "captured")
    ratios = {
        way: ratio(seconds[way], seconds["transformers"]) if way in seconds else "–" for way in ways
    }
    return (
        {"task": task}
        | ratios
        | {"`transformers`, ms": spread(1e3 * s for s in seconds["transformers"])}
    )
