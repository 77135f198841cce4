"""The configuration of a Llama from the metadata of a GGUF file."""

from pathlib import Path
from typing import Any

import torch

from attn._checks import argument_error, check_number, shown
from attn.positions import Scaling, checked_scaling
from attn.pretrained import gguf
from attn.pretrained.families import (
    FAMILIES,
    GGUF_NAMES,
    Found,
    check_entries,
    head_size,
    read_sizes,
)
from attn.pretrained.tokenizers import of_gguf

SIZES = {
    "d_model": "llama.embedding_length",
    "n_heads": "llama.attention.head_count",
    "n_layers": "llama.block_count",
    "d_ff": "llama.feed_forward_length",
    "n_kv_heads": "llama.attention.head_count_kv",
    "norm_eps": "llama.attention.layer_norm_rms_epsilon",
    "max_len": "llama.context_length",
}
DEFAULTS = {"n_kv_heads": None, "max_len": 2048}
ROTARY = {
    "base": "llama.rope.freq_base",
    "kind": "llama.rope.scaling.type",
    "factor": "llama.rope.scaling.factor",
    "older factor": "llama.rope.scale_linear",
    "original_max_position_embeddings": "llama.rope.scaling.original_context_length",
    "beta_fast": "llama.rope.scaling.yarn_beta_fast",
    "beta_slow": "llama.rope.scaling.yarn_beta_slow",
}
# Entries that are not read, and the values that they must have if present; 0 mostly means none.
MUST: dict[str, tuple[Any, ...]] = {
    "general.quantization_version": (2,),
    "general.type": ("model",),
    "llama.attention.causal": (True,),
    "llama.attention.clamp_kqv": (0,),
    "llama.attention.max_alibi_bias": (0,),
    "llama.attention.sliding_window": (0,),
    "llama.attn_logit_softcapping": (0,),
    "llama.embedding_scale": (0, 1),
    "llama.expert_count": (0,),
    "llama.expert_used_count": (0,),
    "llama.final_logit_softcapping": (0,),
    "llama.logit_scale": (0, 1),
    "llama.residual_scale": (0, 1),
    "llama.rope.scaling.attn_factor": (1,),
    "llama.rope.scaling.yarn_attn_factor": (1,),
    "llama.rope.scaling.yarn_ext_factor": (-1, 1),
    "llama.tensor_data_layout": ("Meta AI original pth",),
    "llama.use_parallel_residual": (False,),
    "split.no": (0,),
}
# Who made the file, from what and how; advice for sampling; and what `tokenizers` reads.
FREE = (
    r"general\.(alignment|architecture|author|basename|description|doi|file_type|finetune|languages"
    r"|name|organization|quantized_by|repo_url|size_label|tags|url|uuid|version|datasets"
    r"|(base_model|dataset|license|sampling|source)\..+|license)"
    r"|(quantize|mradermacher|tokenizer)\..+|split\.tensors\.count"
    r"|llama\.(pooling_type|rope\.scaling\.finetuned)"
)


def read(path: Path) -> Found:
    """Return the contents of a file with a Llama and a byte-level BPE; others are refused."""
    metadata, arrays = gguf.read(path)
    # All parts of a split model but the first lack the other metadata.
    n_files = metadata.pop("split.count", 1)
    if n_files not in (0, 1):
        raise argument_error("split.count", "0 or 1", shown(n_files))
    kind = metadata.get("general.architecture")
    if kind != "llama":
        raise argument_error(str(path), "the architecture 'llama'", shown(kind))
    state = {name: torch.from_numpy(array) for name, array in arrays.items()}
    factors = state.pop("rope_freqs.weight", None)
    options = _options(metadata, len(state), factors)
    tokenizer = of_gguf(path, metadata)
    return Found(FAMILIES["llama"], GGUF_NAMES, options, True, state, tokenizer)


def _options(said: dict[str, Any], n_tensors: int, factors: torch.Tensor | None) -> dict[str, Any]:
    """Return the options of `TransformerConfig`."""
    sizes = read_sizes(said, SIZES, DEFAULTS, n_tensors)
    tokens = said.get("tokenizer.ggml.tokens")
    if not isinstance(tokens, list) or not tokens:
        raise argument_error("tokenizer.ggml.tokens", "a list of tokens", shown(tokens))
    d_k = head_size(sizes, SIZES)
    must = MUST | {
        "llama.attention.key_length": (d_k,),
        "llama.attention.value_length": (d_k,),
        "llama.rope.dimension_count": (d_k,),
        "llama.vocab_size": (len(tokens),),
        "llama.attention.scale": (0, d_k**-0.5, float(torch.tensor(d_k**-0.5))),
    }
    check_entries(said, {*SIZES.values(), *ROTARY.values()}, must, FREE)
    base = check_number(ROTARY["base"], said.get(ROTARY["base"], 10000.0), least=1)
    scaling = _scaling(said, base, sizes["max_len"])
    if factors is not None and not torch.all(factors == 1):
        if scaling:
            raise argument_error("rope_freqs.weight", "none beside a scaling", "one")
        if factors.shape != (d_k // 2,):
            raise argument_error("rope_freqs.weight", f"shape ({d_k // 2},)", tuple(factors.shape))
        scaling = {"rope_type": "factors", "factors": factors.tolist()}
        scaling = checked_scaling("rope_freqs.weight", scaling)
    return {
        "vocab_size": len(tokens),
        "rotary_base": base,
        "rotary_scaling": scaling,
        **sizes,
        **FAMILIES["llama"].always,
    }


def _scaling(said: dict[str, Any], base: float, max_len: int) -> Scaling | None:
    """Return the scaling of rotary positions; without a type it is linear."""
    kind = said.get(ROTARY["kind"], "linear")
    if kind not in ("none", "linear", "yarn"):
        raise argument_error(ROTARY["kind"], "'none' or 'linear' or 'yarn'", shown(kind))
    name = ROTARY["factor"] if ROTARY["factor"] in said else ROTARY["older factor"]
    factor = said.get(name, 0)
    if factor != 0:
        factor = check_number(name, factor, least=1)
    if kind == "none" or factor in (0, 1):
        return None
    scaling = {"rope_type": kind, "factor": factor}
    if kind == "yarn":
        if base == 1:
            raise argument_error(ROTARY["base"], "more than 1 for 'yarn'", base)
        scaling["original_max_position_embeddings"] = max_len
        for ours in ("original_max_position_embeddings", "beta_fast", "beta_slow"):
            if ROTARY[ours] in said:
                scaling[ours] = check_number(ROTARY[ours], said[ROTARY[ours]])
    return checked_scaling("llama.rope.scaling", scaling)
