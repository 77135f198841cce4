"""What the metadata of a GGUF file say of its model, a Llama, and of its tokenizer."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from attn._checks import wrong
from attn.pretrained import gguf
from attn.pretrained.families import FAMILIES, Family, llama_of_gguf, said_sizes
from attn.pretrained.tokenizers import of_gguf
from attn.tokenizer import ByteLevelTokenizer
from attn.transformer import TransformerConfig

SIZES = {
    "d_model": "embedding_length", "n_heads": "attention.head_count", "n_layers": "block_count",
    "d_ff": "feed_forward_length", "n_kv_heads": "attention.head_count_kv",
    "norm_eps": "attention.layer_norm_rms_epsilon", "max_len": "context_length",
}  # fmt: skip


def read(path: Path) -> tuple[Family, TransformerConfig, dict[str, Tensor], ByteLevelTokenizer]:
    """Return the family, the configuration, the weights and the tokenizer of a file.

    Raises
    ------
    ValueError
        If it holds another model than a Llama, or another tokenizer than a byte-level BPE.
    """
    metadata, arrays = gguf.read(path)
    weights = {name: torch.from_numpy(array) for name, array in arrays.items()}
    family = replace(FAMILIES["llama"], weights=llama_of_gguf)
    try:
        config = _config(path, metadata, family, tied="output.weight" not in weights)
        return family, config, weights, of_gguf(path, metadata)
    except (KeyError, TypeError) as error:
        raise wrong(str(path), "the metadata of a Llama", f"none named {error}") from None


def _config(path: Path, metadata: dict[str, Any], family: Family, tied: bool) -> TransformerConfig:
    kind = metadata["general.architecture"]
    if kind != "llama":
        raise wrong(str(path), "the architecture 'llama'", repr(kind))
    said = {name.partition(".")[2]: value for name, value in metadata.items()}
    sizes = said_sizes(said, SIZES)
    config = TransformerConfig(
        vocab_size=len(metadata["tokenizer.ggml.tokens"]), dropout=0.0, tie_embeddings=tied,
        rotary_base=said.get("rope.freq_base", 10000.0), **sizes, **family.always,
    )  # fmt: skip
    d_k = config.d_model // config.n_heads
    only = {
        "rope.dimension_count": d_k, "attention.key_length": d_k, "attention.value_length": d_k,
        "rope.scaling.type": "none", "expert_count": 0,
    }  # fmt: skip
    for name, wanted in only.items():
        if said.get(name, wanted) != wanted:
            raise wrong(str(path), f"{name} = {wanted!r}", repr(said[name]))
    return config
