"""Reading a prompt and writing token by token: the bounds on each, computed and then measured.

Everything is measured in turns within one run, on one thread, and the fastest turn counts, so that
the load of the machine matters little.
"""

import time

import torch

from experiments.modern_tasks import smollm2

PROMPT, BATCHES, ROUNDS = 128, (1, 2, 4, 8), 5
# The number of bytes that are copied to measure the memory bandwidth.
COPIED = 256 * 2**20
# The side of the square matrices whose product measures the speed of the processor.
SIDE = 1024


def timed(function):
    """Return the seconds of this thread that a call takes."""
    began = time.thread_time()
    function()
    return time.thread_time() - began


@torch.inference_mode()
def measure(told, keep):
    """Measure everything in one run, unless it is stored: times of two runs cannot be compared."""
    if told:
        return
    model, _ = smollm2()
    config, n = model.config, sum(p.numel() for p in model.parameters())
    torch.manual_seed(0)
    prompt = torch.randint(config.vocab_size, (1, PROMPT))
    caches = {}
    for batch in BATCHES:
        caches[batch] = model.new_cache()
        model(prompt.expand(batch, -1), cache=caches[batch])

    def write(batch):
        model(prompt[:, :1].expand(batch, -1), cache=caches[batch])
        caches[batch].truncate(PROMPT)

    source = torch.ones(COPIED // 4)
    goal, matrix = torch.empty_like(source), torch.ones(SIDE, SIDE)
    jobs = {
        "copy": lambda: goal.copy_(source),
        # A sum reads every weight once and writes none, as a step of decoding does.
        "sum": lambda: source.sum(),
        "product": lambda: matrix @ matrix,
        "prefill": lambda: model(prompt),
        **{f"step {batch}": (lambda batch=batch: write(batch)) for batch in BATCHES},
    }
    quickest = dict.fromkeys(jobs, float("inf"))
    for _ in range(ROUNDS):
        for name, job in jobs.items():
            quickest[name] = min(quickest[name], timed(job))
    step, read = quickest["step 1"], COPIED / quickest["sum"]
    told |= {
        "parameters": n,
        "weights_bytes": 4 * n,
        "cache_bytes_per_token": (
            2 * 4 * config.n_layers * config.n_kv_heads * config.d_model // config.n_heads
        ),
        "cache_bytes_per_token_of_all_heads": 2 * 4 * config.n_layers * config.d_model,
        "copy_gb_per_s": round(2 * COPIED / quickest["copy"] / 1e9, 1),
        "read_gb_per_s": round(read / 1e9, 1),
        "gflop_per_s": round(2 * SIDE**3 / quickest["product"] / 1e9),
        "prompt_len": PROMPT,
        "prefill_tokens_per_s": round(PROMPT / quickest["prefill"], 1),
        "decoding_tokens_per_s": round(1 / step, 1),
        "prefill_to_decoding": round(PROMPT / quickest["prefill"] * step, 1),
        "decoding_gb_per_s": round(4 * n / step / 1e9, 1),
        "decoding_to_bandwidth": round(4 * n / step / read, 2),
        "prefill_gflop_per_s": round(2 * n * PROMPT / quickest["prefill"] / 1e9),
        "prefill_to_product": round(
            2 * n * PROMPT / quickest["prefill"] / (2 * SIDE**3 / quickest["product"]), 2
        ),
        # The time of a step for a batch, divided by the time for a single text.
        "step_of_batch": {str(b): round(quickest[f"step {b}"] / step, 2) for b in BATCHES},
    }
    keep(told)
