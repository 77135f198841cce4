"""Every model works on a device without float64: forward, backward, update, cached step."""

import pytest
import torch
from torch.utils._pytree import tree_leaves

from attn.applications.visual_question.model import PatchEmbedding
from attn.positions import sinusoidal_positions
from attn.transformer import DecoderOnly, EncoderOnly, Transformer, TransformerConfig
from tests.core.helpers import all_positions
from tests.core.no_float64 import NoFloat64


def test_float64_is_refused():
    with NoFloat64():
        assert torch.ones(2).sum() == 2
        for use in (lambda: torch.ones(2).double(), lambda: sinusoidal_positions(2, 2)):
            with pytest.raises(TypeError, match="there is no float64 here"):
                use()


@all_positions
@pytest.mark.parametrize("model_class", [Transformer, EncoderOnly, DecoderOnly])
def test_no_model_needs_float64(model_class, positions):
    torch.manual_seed(0)
    sizes = {"vocab_size": 11, "d_model": 16, "n_heads": 4, "n_layers": 2, "d_ff": 32}
    model = model_class(TransformerConfig(**sizes, n_kv_heads=2, positions=positions))
    ids = torch.randint(11, (2, 5))
    optimizer = torch.optim.AdamW(model.parameters())
    with NoFloat64():
        for need_weights in (False, True):
            inputs = (ids, ids) if model_class is Transformer else (ids,)
            logits, _ = model(*inputs, need_weights=need_weights)
            logits.logsumexp(dim=-1).mean().backward()
        optimizer.step()
        if model_class is not EncoderOnly:
            cache, options = model.new_cache(), {}
            if model_class is Transformer:
                options["memory"] = model.encode(ids)[0]
            for length in (3, 4, 5):
                assert model.step(ids[:, :length], cache, **options).dtype == torch.float32


class OffTheCPU(NoFloat64):
    """Refuse float64 on every device but the CPU, which always has it."""

    @staticmethod
    def _refuse(function, tensors):
        leaves = tree_leaves(tensors)
        tensors = [t for t in leaves if isinstance(t, torch.Tensor) and not t.is_cpu]
        NoFloat64._refuse(function, tensors)


def test_positions_of_patches_need_no_float64_on_the_device_of_the_model():
    config = TransformerConfig(vocab_size=11, d_model=16, n_heads=4)
    with torch.device("meta"), OffTheCPU():
        assert PatchEmbedding(config).places.is_meta
