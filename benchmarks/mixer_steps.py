"""The time of one more token, and the bytes of the cache, of each mixer at several lengths.

Writes ``notebooks/data/mixer_steps.json``, which laboratory 14 shows. All layers at all lengths
take turns, and times are ratios within a turn to softmax attention at the shortest length. Bytes
are counted, not measured.
"""

import json
from pathlib import Path

import torch

from attn import checks
from attn.io import write_whole
from attn.mixers import (
    DeltaRule,
    GatedDeltaRule,
    LinearAttention,
    MultiHead,
    MultiHeadLatent,
    Retention,
)
from attn.transformer import TransformerConfig
from benchmarks.timing import interleave, processor, ratio, spread

LENGTHS = (64, 256, 1024, 4096)
D_MODEL, N_HEADS, WINDOW = 512, 8, 256
MIXERS = {
    "softmax": MultiHead(),
    "window": MultiHead(window=WINDOW),
    "latent": MultiHeadLatent(d_latent=128),
    "linear": LinearAttention(convolution=4),
    "retention": Retention(convolution=4),
    "delta rule": DeltaRule(convolution=4),
    "gated delta rule": GatedDeltaRule(convolution=4),
}
RESULTS = Path(__file__).resolve().parents[1] / "notebooks" / "data" / "mixer_steps.json"


def config_of(mixer):
    """Return the configuration of one layer with this mixer, without positions."""
    sizes = {"vocab_size": 10, "d_model": D_MODEL, "n_heads": N_HEADS, "n_layers": 1}
    return TransformerConfig(**sizes, positions="none", mixers=(mixer,))


def step(mixer, length):
    """Return a call that reads token number `length` of a text, each time it is called."""
    torch.manual_seed(0)
    layer = mixer.new_module(config_of(mixer), None).eval()
    x, cache = torch.randn(1, length, D_MODEL), layer.new_cache()
    # The second call allocates room for more keys.
    for part in x[:, :-1].split((length - 2, 1), dim=1):
        layer(part, is_causal=True, cache=cache)
    before, token = vars(cache).copy(), x[:, -1:]

    def call():
        vars(cache).update(before)
        return layer(token, is_causal=True, cache=cache)[0]

    return call


@torch.no_grad()
def measure(lengths=LENGTHS, **options):
    """Return, by mixer and length, the time over softmax's at the first length, and the bytes."""
    with checks(False):
        calls = {(name, n): step(mixer, n) for name, mixer in MIXERS.items() for n in lengths}
        seconds = interleave(calls, **options)
    unit = seconds["softmax", lengths[0]]
    return {
        "unit_ms": spread(1e3 * s for s in unit),
        "time": {name: [ratio(seconds[name, n], unit) for n in lengths] for name in MIXERS},
        "bytes": {
            name: [mixer.cache_bytes(config_of(mixer), n) for n in lengths]
            for name, mixer in MIXERS.items()
        },
    }


def main():
    """Measure everything, print it and write it."""
    torch.set_num_threads(1)
    results = {
        "processor": processor(),
        "lengths": LENGTHS,
        "d_model": D_MODEL,
        "n_heads": N_HEADS,
        "window": WINDOW,
        **measure(least=0.02),
    }
    for name, row in results["time"].items():
        print(f"{name:18}", *(f"{r['median']} ({r['low']}-{r['high']})" for r in row))
    write_whole(RESULTS, json.dumps(results, indent=1) + "\n")


if __name__ == "__main__":
    main()
