"""What the weights of a Llama, a GPT-2 and a BERT are called elsewhere, and here.

Where names are not all that differs: GPT-2 stores its matrices transposed, and those of queries,
keys and values as one. Of a Llama, Hugging Face turns component i of a head together with component
``i + d_k / 2``, and GGUF and we with its neighbour; the rows of the two matrices move accordingly.
"""

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias

import torch
from torch import Tensor

from attn._checks import wrong
from attn.transformer import DecoderOnly, EncoderOnly, TransformerConfig

Model: TypeAlias = DecoderOnly | EncoderOnly
State: TypeAlias = Mapping[str, Tensor]

GGUF = (
    ("token_embd.", "embedding.tokens."),
    ("output_norm.", "stack.norm."),
    ("blk.", "stack.layers."),
    ("attn_output.", "self_attention.out_proj."),
    ("attn_norm.", "norm_1."),
    ("ffn_norm.", "norm_2."),
    ("ffn_gate.", "feed_forward.linear_1."),
    ("ffn_up.", "feed_forward.linear_3."),
    ("ffn_down.", "feed_forward.linear_2."),
    ("attn_q.", "self_attention.q_proj."),
    ("attn_k.", "self_attention.k_proj."),
    ("attn_v.", "self_attention.v_proj."),
)
LLAMA = (
    ("model.embed_tokens.", "embedding.tokens."),
    ("model.norm.", "stack.norm."),
    ("model.", "stack."),
    ("self_attn.o_proj.", "self_attention.out_proj."),
    ("self_attn.", "self_attention."),
    ("post_attention_layernorm.", "norm_2."),
    ("input_layernorm.", "norm_1."),
    ("mlp.gate_proj.", "feed_forward.linear_1."),
    ("mlp.up_proj.", "feed_forward.linear_3."),
    ("mlp.down_proj.", "feed_forward.linear_2."),
    ("lm_head.", "output."),
)
GPT2 = (
    ("transformer.", ""),
    ("wte.", "embedding.tokens."),
    ("wpe.", "embedding.positions."),
    ("ln_f.", "stack.norm."),
    ("h.", "stack.layers."),
    ("attn.c_attn.", "self_attention.qkv."),
    ("attn.c_proj.", "self_attention.out_proj."),
    ("ln_", "norm_"),
    ("mlp.c_fc.", "feed_forward.linear_1."),
    ("mlp.c_proj.", "feed_forward.linear_2."),
    ("lm_head.", "output."),
)
BERT = (
    ("bert.", ""),
    ("embeddings.word_embeddings.", "embedding.tokens."),
    ("embeddings.position_embeddings.", "embedding.positions."),
    ("embeddings.token_type_embeddings.", "embedding.types."),
    ("embeddings.LayerNorm.", "embedding.norm."),
    ("encoder.layer.", "encoder.layers."),
    ("attention.self.query.", "self_attention.q_proj."),
    ("attention.self.key.", "self_attention.k_proj."),
    ("attention.self.value.", "self_attention.v_proj."),
    ("attention.output.dense.", "self_attention.out_proj."),
    ("attention.output.LayerNorm.", "norm_1."),
    ("intermediate.dense.", "feed_forward.linear_1."),
    ("output.dense.", "feed_forward.linear_2."),
    ("output.LayerNorm.", "norm_2."),
    ("cls.predictions.transform.dense.", "head.0."),
    ("cls.predictions.transform.LayerNorm.", "head.2."),
    ("cls.predictions.bias", "output.bias"),
)
# Not loaded: stored masks and counters, tied matrices, and heads that score whole texts.
UNUSED = re.compile(
    r"attn\.(masked_)?bias$|position_ids$|rotary_emb|^pooler|cls\.(predictions\.decoder|seq_rel)"
)


def renamed(state: State, names: tuple[tuple[str, str], ...]) -> Iterator[tuple[str, Tensor]]:
    """Yield the tensors under the names that they have here, in float32."""
    for name, tensor in state.items():
        for theirs, ours in names:
            name = re.sub(rf"(^|\.){re.escape(theirs)}", rf"\g<1>{ours}", name)
        if not UNUSED.search(name):
            yield name, tensor.float()


def llama(state: State, config: TransformerConfig) -> dict[str, Tensor]:
    """Return the weights of a Llama in a folder of Hugging Face as ours."""
    weights = {}
    for name, tensor in renamed(state, LLAMA):
        if name.endswith(("q_proj.weight", "k_proj.weight")):
            halves = tensor.unflatten(0, (-1, 2, config.d_model // config.n_heads // 2))
            tensor = halves.transpose(1, 2).reshape(tensor.shape)
        weights[name] = tensor
    return weights


def llama_of_gguf(state: State, config: TransformerConfig) -> dict[str, Tensor]:
    """Return the weights of a Llama in a GGUF file as ours."""
    return dict(renamed(state, GGUF))


def gpt2(state: State, config: TransformerConfig) -> dict[str, Tensor]:
    """Return the weights of a GPT-2 as ours."""
    weights = {}
    for name, tensor in renamed(state, GPT2):
        if name.endswith(("proj.weight", "qkv.weight", "linear_1.weight", "linear_2.weight")):
            tensor = tensor.T.contiguous()
        parts = "qkv" if ".qkv." in name else ""
        if not parts:
            weights[name] = tensor
        for part, piece in zip(parts, tensor.chunk(3) if parts else (), strict=True):
            weights[name.replace(".qkv.", f".{part}_proj.")] = piece.contiguous()
    return weights


def bert(state: State, config: TransformerConfig) -> dict[str, Tensor]:
    """Return the weights of a BERT as ours, without what scores whole texts."""
    return dict(renamed(state, BERT))


@dataclass(frozen=True)
class Family:
    """A kind of model: which of ours it is, and how its configuration and weights are read.

    Attributes
    ----------
    model : type
    sizes : dict of str to str
        What the sizes of `TransformerConfig` are called in the family's ``config.json``.
    always : dict
        The choices that all of the family have in common.
    required : dict
        Values that ``config.json`` must have where it names them: we have no others.
    tied : bool
        Whether the last matrix is that of the embeddings where nothing is said.
    weights : callable
    """

    model: type[DecoderOnly] | type[EncoderOnly]
    sizes: Mapping[str, str]
    always: Mapping[str, Any]
    required: Mapping[str, Any]
    tied: bool
    weights: Callable[[State, TransformerConfig], dict[str, Tensor]]


FAMILIES = {
    "llama": Family(
        DecoderOnly,
        sizes={
            "d_model": "hidden_size", "n_heads": "num_attention_heads",
            "n_layers": "num_hidden_layers", "d_ff": "intermediate_size",
            "n_kv_heads": "num_key_value_heads", "norm_eps": "rms_norm_eps",
            "max_len": "max_position_embeddings",
        },
        always={
            "norm": "pre", "normalization": "rms", "activation": "swiglu", "bias": False,
            "positions": "rotary", "scale_embeddings": False,
        },
        required={
            "hidden_act": "silu", "attention_bias": False, "mlp_bias": False, "rope_scaling": None,
        },
        tied=False,
        weights=llama,
    ),
    "gpt2": Family(
        DecoderOnly,
        sizes={
            "d_model": "n_embd", "n_heads": "n_head", "n_layers": "n_layer", "d_ff": "n_inner",
            "norm_eps": "layer_norm_epsilon", "max_len": "n_positions",
        },
        always={
            "norm": "pre", "activation": "gelu_tanh", "positions": "learned",
            "scale_embeddings": False,
        },
        required={
            "activation_function": "gelu_new", "scale_attn_weights": True,
            "scale_attn_by_inverse_layer_idx": False, "add_cross_attention": False,
        },
        tied=True,
        weights=gpt2,
    ),
    "bert": Family(
        EncoderOnly,
        sizes={
            "d_model": "hidden_size", "n_heads": "num_attention_heads",
            "n_layers": "num_hidden_layers", "d_ff": "intermediate_size",
            "norm_eps": "layer_norm_eps",
            "max_len": "max_position_embeddings", "n_token_types": "type_vocab_size",
        },
        always={
            "norm": "post", "activation": "gelu", "positions": "learned",
            "scale_embeddings": False, "embedding_norm": True,
        },
        required={
            "hidden_act": "gelu", "position_embedding_type": "absolute", "is_decoder": False,
            "add_cross_attention": False,
        },
        tied=True,
        weights=bert,
    ),
}  # fmt: skip


# What weights of these shapes do not show, so that a file has to say it: defaults differ by family.
UNSEEN = {"d_model", "n_heads", "n_layers", "norm_eps"}


def said_sizes(said: Mapping[str, Any], sizes: Mapping[str, str]) -> dict[str, Any]:
    """Return, by our names, the sizes that a file says; a KeyError names one that it must say."""
    return {
        ours: said[theirs] for ours, theirs in sizes.items() if theirs in said or ours in UNSEEN
    }


def filled(family: Family, config: TransformerConfig, state: State) -> Model:
    """Return the model with these weights, in evaluation mode; nothing is drawn, little copied."""
    with torch.device("meta"):
        model = family.model(config)
    weights = family.weights(state, config)
    if config.tie_embeddings and "embedding.tokens.weight" in weights:
        weights["output.weight"] = weights["embedding.tokens.weight"]
    try:
        model.load_state_dict(weights, assign=True)
    except RuntimeError as error:
        reason = " ".join(str(error).split())[:200]
        raise wrong("weights", f"those of a {family.model.__name__}", reason) from None
    if config.tie_embeddings:
        model.output.weight = model.embedding.tokens.weight
    return model.eval()
