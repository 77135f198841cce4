"""(b) One training step (forward, backward, optimiser): own time over a peer's."""

import torch
from torch.nn import functional as F

from attn.masks import padding_mask
from attn.transformer import Transformer, TransformerConfig
from benchmarks.peers import TorchCore, Translator, XCore
from benchmarks.report import Target
from benchmarks.timing import interleave, ratio, spread

# The sizes of the translator of the course, and the width of the base model of the paper.
SIZES = {
    "translator": {
        "batch_size": 64,
        "seq_len": 16,
        "vocab_size": 400,
        "d_model": 128,
        "n_heads": 4,
    },
    "base model": {
        "batch_size": 16,
        "seq_len": 32,
        "vocab_size": 4000,
        "d_model": 512,
        "n_heads": 8,
    },
}
CORES = {"`nn.Transformer`": TorchCore, "`x-transformers`": XCore}
TARGETS = tuple(Target(peer, at_most=1) for peer in CORES)


def contenders(batch_size, seq_len, vocab_size, d_model, n_heads):
    """Return, for every model, a call that takes one step of training and returns the loss.

    Two layers in the encoder and two in the decoder, pre-norm, no dropout, one matrix for
    embeddings and output, a causal mask in the decoder, padding in the source.
    """
    torch.manual_seed(0)
    config = TransformerConfig(
        vocab_size=vocab_size,
        d_model=d_model,
        n_heads=n_heads,
        n_layers=2,
        d_ff=4 * d_model,
        dropout=0.0,
        norm="pre",
    )
    src = torch.randint(vocab_size, (batch_size, seq_len))
    tgt = torch.randint(vocab_size, (batch_size, seq_len + 1))
    real = padding_mask(torch.linspace(seq_len // 2, seq_len, batch_size).long(), seq_len)

    def stepper(model, predict):
        optimizer = torch.optim.AdamW(model.parameters(), fused=True)

        def step():
            optimizer.zero_grad()
            logits = predict(src, tgt[:, :-1], real)
            loss = F.cross_entropy(logits.flatten(0, 1), tgt[:, 1:].flatten())
            loss.backward()
            optimizer.step()
            return loss.item()

        return step

    own = Transformer(config)
    steps = {"own": stepper(own, lambda *arguments: own(*arguments)[0])}
    for peer, core in CORES.items():
        model = Translator(core, config)
        steps[peer] = stepper(model, model)
    return steps


def measure(sizes=SIZES, **options):
    """Return one row per size."""
    rows = []
    for name, size in sizes.items():
        seconds = interleave(contenders(**size), **options)
        ratios = {peer: ratio(seconds["own"], seconds[peer]) for peer in CORES}
        rows.append({"size": name} | ratios | {"ms": spread(1e3 * s for s in seconds["own"])})
    return rows
