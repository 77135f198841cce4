"""(c) The time of writing token by token without the KV cache, over that with it."""

from functools import partial

import torch

from attn.decoding import greedy
from attn.transformer import Transformer, TransformerConfig
from benchmarks.peers import TorchCore, Translator
from benchmarks.report import Target
from benchmarks.timing import interleave, ratio, spread

LENGTHS = (16, 64, 128, 256, 512)
SRC_LEN = 16
CONFIG = TransformerConfig(
    vocab_size=400, d_model=256, n_heads=4, n_layers=2, d_ff=1024, dropout=0.0, norm="pre"
)
PEERS = ("without cache", "`nn.Transformer`")
TARGETS = (Target("without cache", at_least=15, where={"tokens": 512}),)


def contenders(n_tokens, config=CONFIG):
    """Return, for every way to decode, a call that writes `n_tokens` tokens and returns them.

    Decoding is greedy, for one source encoded before. PyTorch's own decoder has no cache.
    """
    torch.manual_seed(0)
    own, peer = Transformer(config).eval(), Translator(TorchCore, config).eval()
    with torch.no_grad():
        memory, _ = own.encode(torch.randint(config.vocab_size, (1, SRC_LEN)))
    real = torch.ones(1, 1, SRC_LEN, dtype=torch.bool)

    def peer_step(ids, cache):
        return peer.output(peer.core.decode(peer.embedding(ids), memory, real)[:, -1])

    own_step = partial(own.step, memory=memory)
    write = partial(greedy, prompt=torch.tensor([[1]]), end_id=None, max_new_tokens=n_tokens)
    return {
        "own": lambda: write(own_step, cache=own.new_cache()),
        PEERS[0]: lambda: write(own_step),
        PEERS[1]: lambda: write(peer_step),
    }


def measure(lengths=LENGTHS, config=CONFIG, **options):
    """Return one row per length."""
    rows = []
    for n_tokens in lengths:
        seconds = interleave(contenders(n_tokens, config), **options)
        ratios = {peer: ratio(seconds[peer], seconds["own"]) for peer in PEERS}
        ms = {"ms per token": spread(1e3 * s / n_tokens for s in seconds["own"])}
        rows.append({"tokens": n_tokens} | ratios | ms)
    return rows
