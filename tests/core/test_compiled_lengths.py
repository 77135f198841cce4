"""torch.compile: one graph serves every length, and few all the steps of decoding."""

import pytest
import torch
from torch._dynamo.testing import CompileCounter

from attn.transformer import DecoderOnly, Transformer, TransformerConfig

pytestmark = pytest.mark.slow
SIZES = {"vocab_size": 20, "d_model": 16, "n_heads": 4, "n_layers": 1, "d_ff": 32, "max_len": 32}


def make(model_class, positions):
    torch.manual_seed(0)
    config = TransformerConfig(**SIZES, positions=positions, n_kv_heads=2)
    return model_class(config).double().eval()


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


@pytest.mark.parametrize(
    "model_class, positions", [(DecoderOnly, "rotary"), (Transformer, "sinusoidal")]
)
@torch.no_grad()
def test_few_graphs_serve_every_step(model_class, positions):
    """The prompt, the first new token, and any other."""
    torch.compiler.reset()
    model, graphs, ids = make(model_class, positions), CompileCounter(), torch.randint(20, (2, 14))
    options = {"memory": model.encode(ids)[0]} if model_class is Transformer else {}
    step, cache = torch.compile(model.step, backend=graphs, fullgraph=True), model.new_cache()
    for length in range(3, 15):
        logits = step(ids[:, :length], cache, **options)
        torch.testing.assert_close(logits, model.step(ids[:, :length], None, **options))
    assert graphs.frame_count <= 3
