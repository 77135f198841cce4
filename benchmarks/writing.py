"""(j) A published model reads a prompt and continues it: own time over `transformers`'s.

Both models have the sizes of SmolLM2-135M and run on one thread: the peer in float32, ours in
float32 and with its weights packed by `attn.transformer.quantised`. The share of memory bandwidth
is the time to read the weights alone, as fast as a sum over a large tensor, over the time taken.
"""

import math

import torch
from torch import nn
from torch.nn import functional as F

from attn.pretrained import fetched, load
from attn.transformer.quantised import packed
from benchmarks.report import ROOT, Target
from benchmarks.timing import interleave, ratio, spread

PROMPT, N_JUDGED = 128, 1024
# The number of values whose sum measures the speed of memory.
LARGE = 64 * 2**20
TARGETS = (
    Target("writing", at_most=1, where={"weights": "`float32`"}),
    Target("writing", at_most=0.4, where={"weights": "4 bits"}),
)


def peer(config):
    """Return the model of `transformers` with these sizes and random weights."""
    from transformers import LlamaConfig, LlamaForCausalLM

    sizes = LlamaConfig(
        vocab_size=config.vocab_size,
        hidden_size=config.d_model,
        intermediate_size=config.d_ff,
        num_hidden_layers=config.n_layers,
        num_attention_heads=config.n_heads,
        num_key_value_heads=config.n_kv_heads,
        tie_word_embeddings=config.tie_embeddings,
        rope_theta=config.rotary_base,
    )
    return LlamaForCausalLM(sizes).eval()


def own_calls(model, prompt):
    """Return a call that reads the prompt, and a call that writes the next token."""
    cache = model.new_cache()
    model(prompt, cache=cache)

    def write():
        logits, _ = model(prompt[:, :1], cache=cache)
        cache.truncate(prompt.shape[1])
        return logits

    return lambda: model(prompt)[0], write


def peer_calls(model, prompt):
    """Return the same calls of the peer."""
    from transformers import DynamicCache

    cache = DynamicCache()
    model(prompt, past_key_values=cache, use_cache=True)

    def write():
        logits = model(prompt[:, :1], past_key_values=cache, use_cache=True).logits
        cache.crop(-1)
        return logits

    return lambda: model(prompt, use_cache=False).logits, write


def read_bytes(model, small):
    """Return the number of bytes of weights that a packed model reads per token."""
    total = 0
    for (_, linear), (_, part) in zip(model.named_modules(), small.named_modules(), strict=True):
        if isinstance(linear, nn.Linear):
            groups = getattr(part, "_groups", None)
            if part is linear or isinstance(part, nn.Linear):
                total += 4 * linear.weight.numel()
            elif groups is None:
                total += 2 * linear.weight.numel()
            else:
                total += linear.weight.numel() // 2 + groups.nbytes
    return total


def perplexity(model, ids):
    """Return the perplexity of a text, shape (1, length), read in one pass."""
    logits, _ = model(ids)
    return math.exp(F.cross_entropy(logits[0, :-1], ids[0, 1:]))


def smollm2_and_text():
    """Return the model and the first ids of this project's README."""
    model, tokenizer = load(fetched("smollm2", download=False))
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    return model, torch.tensor([tokenizer.encode(text)[:N_JUDGED]])


@torch.inference_mode()
def measure(model=None, text=None, large=LARGE, **options):
    """Return one row per packing: of SmolLM2 on the README, unless a model and ids are given."""
    if model is None:
        model, text = smollm2_and_text()
    torch.manual_seed(0)
    prompt, numbers = text[:, :PROMPT], torch.ones(large)
    models = {"`float32`": model, "16 bits": packed(model), "4 bits": packed(model, bits=4)}
    contenders = {"sum": numbers.sum}
    calls = {name: own_calls(each, prompt) for name, each in models.items()}
    calls["peer"] = peer_calls(peer(model.config), prompt)
    for name, (read, write) in calls.items():
        contenders[name, "reading"], contenders[name, "writing"] = read, write
    seconds = interleave(contenders, **options)
    rows = []
    for name, each in models.items():
        ratios = {
            what: ratio(seconds[name, what], seconds["peer", what])
            for what in ("reading", "writing")
        }
        least = [read_bytes(model, each) / numbers.nbytes * s for s in seconds["sum"]]
        rows.append(
            {"weights": name}
            | ratios
            | {
                "tokens per second": spread(1 / s for s in seconds[name, "writing"]),
                "share of memory": ratio(least, seconds[name, "writing"]),
                "MB per token": f"{read_bytes(model, each) / 1e6:.0f}",
                "perplexity": f"{perplexity(each, text):.2f}",
            }
        )
    return rows
