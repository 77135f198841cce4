"""Each kind of model exported to ONNX: another runtime computes the same logits."""

import numpy as np
import onnxruntime
import pytest
import torch

from attn.masks import padding_mask
from attn.transformer import DecoderOnly, EncoderOnly, Transformer, TransformerConfig
from tests.core.helpers import Logits

pytestmark = pytest.mark.slow

SIZES = {"vocab_size": 20, "d_model": 16, "n_heads": 2, "n_layers": 2, "d_ff": 32}
LONGEST = 64
POST_NORM = {"norm": "post", "n_kv_heads": 1, "tie_embeddings": False}
# Some sequences are empty, and with padding on the left the first queries see no key.
LENGTHS = ([3], 4), ([4, 6, 0, 1], 6), ([1, 1], 1), ([5, 0], 12), ([LONGEST, 7], LONGEST)


def inputs(model_class, lengths, seq_len):
    """Return ids and masks, padded on the left for a decoder."""

    def ids(seq_len):
        generator = torch.Generator().manual_seed(seq_len)
        return torch.randint(20, (len(lengths), seq_len), generator=generator)

    on_the_right = padding_mask(lengths, seq_len)
    if model_class is EncoderOnly:
        return ids(seq_len), on_the_right
    if model_class is DecoderOnly:
        return ids(seq_len), on_the_right.flip(-1)
    tgt_len = seq_len // 2 + 1
    on_the_left = padding_mask([min(n, tgt_len) for n in lengths], tgt_len).flip(-1)
    return ids(seq_len), ids(tgt_len), on_the_right, on_the_left


@pytest.mark.parametrize(
    "model_class, changes",
    [
        (DecoderOnly, {"positions": "rotary", "n_kv_heads": 1}),
        (EncoderOnly, {"positions": "alibi"}),
        (
            Transformer,
            POST_NORM | {"positions": "learned", "max_len": LONGEST, "tgt_vocab_size": 23},
        ),
    ],
)
def test_onnx_runtime_computes_the_same_logits(model_class, changes, tmp_path):
    """At every position, including padding, and in batches of any size and length."""
    torch.manual_seed(0)
    model = model_class(TransformerConfig(**SIZES | changes, dropout=0.5))
    for parameter in model.parameters():
        torch.nn.init.normal_(parameter, std=0.3)
    # The exporter restores the mode of the wrapper and not that of the model inside.
    wrapper = Logits(model).eval()

    n_rows = torch.export.Dim("n_rows")
    of_source, of_target = (torch.export.Dim(f"{name}_len", max=LONGEST) for name in ("src", "tgt"))
    axes = (
        [of_source, of_target, of_source, of_target]
        if model_class is Transformer
        else [of_source] * 2
    )
    example = inputs(model_class, [6, 4, 2], 6)
    path = tmp_path / "model.onnx"
    torch.onnx.export(
        wrapper,
        example,
        path,
        dynamic_shapes={
            "inputs": tuple(
                {0: n_rows, x.ndim - 1: axis} for x, axis in zip(example, axes, strict=True)
            )
        },
        dynamo=True,
        verbose=False,
    )
    session = onnxruntime.InferenceSession(path, providers=["CPUExecutionProvider"])
    names = [given.name for given in session.get_inputs()]
    for lengths, seq_len in LENGTHS:
        given = inputs(model_class, lengths, seq_len)
        (logits,) = session.run(
            None, {name: x.numpy() for name, x in zip(names, given, strict=True)}
        )
        expected = wrapper(*given).detach().numpy()
        assert logits.shape == expected.shape and expected.std() > 0.2
        np.testing.assert_allclose(logits, expected, atol=2e-5, rtol=2e-5)
