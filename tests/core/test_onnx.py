"""The Transformer leaves PyTorch: exported to ONNX, another runtime computes the same logits."""

import numpy as np
import onnxruntime
import pytest
import torch

from attn.transformer import Transformer, TransformerConfig

pytestmark = pytest.mark.slow

SIZES = {"vocab_size": 20, "d_model": 16, "n_heads": 2, "n_layers": 2, "d_ff": 32}
LONGEST = 64


class Logits(torch.nn.Module):
    """Encoder and decoder without what a graph cannot return: weights that may be None."""

    def __init__(self, model):
        super().__init__()
        self.model = model

    def forward(self, src, tgt):
        return self.model(src, tgt)[0]


@pytest.mark.parametrize(
    "changes",
    [
        {"norm": "pre", "tgt_vocab_size": 23},
        {
            "norm": "post",
            "positions": "learned",
            "max_len": LONGEST,
            "n_kv_heads": 1,
            "tie_embeddings": False,
        },
    ],
    ids=["pre", "post"],
)
def test_onnx_runtime_computes_the_same_logits(changes, tmp_path):
    torch.manual_seed(0)
    model = Transformer(TransformerConfig(**SIZES | changes, dropout=0.5))
    for parameter in model.parameters():
        torch.nn.init.normal_(parameter, std=0.3)
    wrapper = Logits(model).eval()  # the exporter gives a model back the mode of its wrapper
    rng = np.random.default_rng(0)

    def inputs(src_len, tgt_len):
        n_target = changes.get("tgt_vocab_size", 20)
        return {
            "src": rng.integers(0, 20, (1, src_len)),
            "tgt": rng.integers(0, n_target, (1, tgt_len)),
        }

    def tensors(arrays):
        return tuple(map(torch.from_numpy, arrays.values()))

    # Only learned positions have an end.
    longest = {"max": LONGEST} if "positions" in changes else {}
    lengths = {name: {1: torch.export.Dim(f"{name}_len", **longest)} for name in ("src", "tgt")}
    path = tmp_path / "transformer.onnx"
    torch.onnx.export(
        wrapper,
        tensors(inputs(6, 5)),
        path,
        input_names=["src", "tgt"],
        output_names=["logits"],
        dynamic_shapes=lengths,
        dynamo=True,
        verbose=False,
    )
    session = onnxruntime.InferenceSession(path, providers=["CPUExecutionProvider"])
    for src_len, tgt_len in [(6, 5), (1, 1), (3, 9), (12, 2), (LONGEST, LONGEST)]:
        given = inputs(src_len, tgt_len)
        (logits,) = session.run(["logits"], given)
        expected = wrapper(*tensors(given)).detach().numpy()
        assert logits.shape == (1, tgt_len, expected.shape[-1]) and expected.std() > 0.2
        np.testing.assert_allclose(logits, expected, atol=2e-5, rtol=2e-5)
