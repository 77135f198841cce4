"""torch.compile gives right numbers, with one graph for every length and few for decoding."""

import warnings

import pytest
import torch
from torch import nn
from torch._dynamo.testing import CompileCounter

from attn.attention import scaled_dot_product_attention
from attn.positions import ALiBiPositions, RotaryPositions, SinusoidalPositions
from attn.training import TrainingConfig, cross_entropy, train
from attn.transformer import DecoderOnly, Transformer, TransformerConfig

SIZES = {"vocab_size": 20, "d_model": 16, "n_heads": 4, "n_layers": 1, "d_ff": 32, "max_len": 32}


def make(model_class, positions):
    torch.manual_seed(0)
    config = TransformerConfig(**SIZES, positions=positions, n_kv_heads=2)
    return model_class(config).double().eval()


class EveryScheme(nn.Module):
    """A module that applies every position scheme to vectors of several sizes."""

    def __init__(self, sizes):
        super().__init__()
        self.sinusoidal = nn.ModuleList(SinusoidalPositions(size) for size in sizes)
        self.rotary, self.alibi = RotaryPositions(), ALiBiPositions(2)

    def forward(self, start, *xs):
        positions = torch.arange(start, start + xs[0].shape[-2])
        bias = self.alibi.bias(positions, positions, torch.float32)
        outputs = []
        for sinusoidal, x in zip(self.sinusoidal, xs, strict=True):
            attended, _ = scaled_dot_product_attention(x, x, x, bias=bias, is_causal=True)
            outputs += [sinusoidal(x, start), self.rotary.rotate(x, x, start)[0], attended]
        return outputs


def test_the_compiler_of_pytorch_computes_what_eager_code_does(needed):
    """Compared for any length and near and far positions, with gradients and without a warning."""
    needed("compiler")
    torch.compiler.reset()
    sizes = (4, 64)
    plain = EveryScheme(sizes)
    compiled = torch.compile(plain, dynamic=True, fullgraph=True)
    for length, start in ((7, 3), (9, 100_000), (33, 0)):
        generator = torch.Generator().manual_seed(length)
        xs = [torch.randn(2, 2, length, size, generator=generator) for size in sizes]
        for x in xs:
            x.requires_grad_()
        expected = plain(start, *xs)
        upstream = [torch.randn(y.shape, generator=generator) for y in expected]
        with warnings.catch_warnings():
            warnings.filterwarnings("error", message=".*lru_cache")
            actual = compiled(start, *xs)
        torch.testing.assert_close(actual, expected, rtol=1e-5, atol=1e-5)
        gradients = (torch.autograd.grad(outputs, xs, upstream) for outputs in (actual, expected))
        torch.testing.assert_close(*gradients, rtol=1e-5, atol=1e-5)


def test_compiled_training_takes_the_same_steps_as_uncompiled(needed):
    needed("compiler")
    torch.compiler.reset()
    generator = torch.Generator().manual_seed(0)
    examples = [torch.randint(20, (length,), generator=generator) for length in (6, 7, 9)]

    def loss(model, batch):
        (ids,) = batch
        return cross_entropy(model(ids[:, :-1])[0], ids[:, 1:], pad_id=None)

    histories = []
    for compile_ in (True, False):
        torch.manual_seed(0)
        model = DecoderOnly(TransformerConfig(**SIZES, positions="rotary", dropout=0.0))
        config = TrainingConfig(
            steps=3, batch_size=1, warmup_steps=1, device="cpu", compile=compile_
        )
        history = train(model, loss, examples, lambda rows: (torch.stack(rows),), config)
        histories.append(history.losses)
    assert histories[0] == pytest.approx(histories[1], rel=1e-5) and len(histories[0]) == 3


@pytest.mark.slow
@pytest.mark.parametrize("positions", ["sinusoidal", "learned", "rotary", "alibi"])
@torch.no_grad()
def test_one_graph_serves_every_length(positions):
    torch.compiler.reset()
    model, graphs = make(Transformer, positions), CompileCounter()
    compiled = torch.compile(model, backend=graphs, dynamic=True, fullgraph=True)
    for length in (5, 6, 7, 9, 12, 17):
        src, tgt = torch.randint(20, (2, 2, length))
        results = (run(src, tgt, need_weights=True) for run in (compiled, model))
        torch.testing.assert_close(*results)
    assert graphs.frame_count == 1


@pytest.mark.slow
@pytest.mark.parametrize(
    "model_class, positions", [(DecoderOnly, "rotary"), (Transformer, "sinusoidal")]
)
@torch.no_grad()
def test_few_graphs_serve_every_step(model_class, positions):
    """There are three: for the prompt, the first new token, and any other."""
    torch.compiler.reset()
    model, graphs, ids = make(model_class, positions), CompileCounter(), torch.randint(20, (2, 14))
    options = {"memory": model.encode(ids)[0]} if model_class is Transformer else {}
    step, cache = torch.compile(model.step, backend=graphs, fullgraph=True), model.new_cache()
    for length in range(3, 15):
        logits = step(ids[:, :length], cache, **options)
        torch.testing.assert_close(logits, model.step(ids[:, :length], None, **options))
    assert graphs.frame_count <= 3
