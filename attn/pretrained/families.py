"""The names of settings and tensors of a Llama, a GPT-2 and a BERT, in published files and here.

Some tensors also differ in layout: GPT-2 stores its matrices transposed, and those of queries,
keys and values as one. Of a Llama, Hugging Face turns component i of a head together with component
``i + d_k / 2``, and GGUF and we with its neighbour; the rows of the two matrices move accordingly.
"""

import re
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field
from typing import Any, TypeAlias

import torch
from torch import Tensor

from attn._checks import argument_error, check_number, shown
from attn.tokenizer import ByteLevelTokenizer, WordPieceTokenizer
from attn.transformer import DecoderOnly, EncoderOnly, TransformerConfig

Model: TypeAlias = DecoderOnly | EncoderOnly

LARGEST_SIZE = 2**31 - 1
UNTIED = "a tensor of this name, unless tie_word_embeddings is true"
FLOATS = (torch.float16, torch.bfloat16, torch.float32, torch.float64)


def as_it_is(name: str, tensor: Tensor, config: TransformerConfig) -> Tensor:
    """Return the tensor of a file that stores it as we do."""
    return tensor


def halves_interleaved(name: str, tensor: Tensor, config: TransformerConfig) -> Tensor:
    """Return a Llama's tensor, the rows of queries and keys that turn together being neighbours."""
    if not name.endswith(("q_proj.weight", "k_proj.weight")):
        return tensor
    halves: Tensor = tensor.unflatten(0, (-1, 2, config.d_model // config.n_heads // 2))
    return halves.transpose(1, 2).reshape(tensor.shape)


def from_one_matrix(name: str, tensor: Tensor, config: TransformerConfig) -> Tensor:
    """Return a tensor of GPT-2: its matrices are transposed, those of q, k and v joined."""
    if "layers" in name and tensor.ndim == 2:
        tensor = tensor.T
    part = re.search(r"\.([qkv])_proj\.", name)
    if part is None:
        return tensor
    third: Tensor = tensor.chunk(3)["qkv".index(part[1])]
    return third


@dataclass(frozen=True)
class Names:
    """The names of the tensors in a kind of file."""

    # Most names begin with the prefix, which a file may leave out of all of them.
    prefix: str
    without_prefix: tuple[str, ...]
    # The matrix of the embeddings and the last matrix may be the same.
    tokens: str
    head: str
    # The names in layer ``{}`` begin with this.
    layer: str
    # Our names of the parts of a layer and of the model, without ``.weight`` or ``.bias``, and theirs.
    parts: Mapping[str, str]
    # No score depends on the tensors whose names match this pattern.
    harmless: str
    taken: Callable[[str, Tensor, TransformerConfig], Tensor] = as_it_is
    # The endings of names in older files, and the endings that replaced them.
    older: Mapping[str, str] = field(default_factory=dict)
    # Whether matrices of layers are transposed, and queries, keys and values in one.
    is_fused: bool = False

    def now(self, name: str) -> str:
        """Return a name in a file as it is written today, with its prefix."""
        for old, new in self.older.items():
            if name.endswith(old):
                name = name.removesuffix(old) + new
        return name if name.startswith((self.prefix, *self.without_prefix)) else self.prefix + name

    def stored(self, ours: str, shape: tuple[int, ...]) -> tuple[str, tuple[int, ...]]:
        """Return the name and the shape in a file of one of our tensors."""
        in_layer = re.fullmatch(r"(?:stack|encoder)\.layers\.(\d+)\.(.*)", ours)
        before, name = (self.layer.format(in_layer[1]), in_layer[2]) if in_layer else ("", ours)
        part, _, kind = name.rpartition(".")
        if self.is_fused and in_layer:
            shape = (3 * shape[0], *shape[1:]) if re.search(r"[qkv]_proj", part) else shape
            shape = shape[::-1]
        if ours == "output.weight":
            return self.head, shape
        return f"{before}{self.parts[part]}.{kind}", shape


LLAMA_NAMES = Names(
    prefix="model.",
    without_prefix=("lm_head.", "score."),
    tokens="model.embed_tokens.weight",
    head="lm_head.weight",
    layer="model.layers.{}.",
    parts={
        "embedding.tokens": "model.embed_tokens",
        "stack.norm": "model.norm",
        "norm_1": "input_layernorm",
        "norm_2": "post_attention_layernorm",
        "self_attention.q_proj": "self_attn.q_proj",
        "self_attention.k_proj": "self_attn.k_proj",
        "self_attention.v_proj": "self_attn.v_proj",
        "self_attention.out_proj": "self_attn.o_proj",
        "feed_forward.linear_1": "mlp.gate_proj",
        "feed_forward.linear_2": "mlp.down_proj",
        "feed_forward.linear_3": "mlp.up_proj",
    },
    # The speeds of rotary positions, which the configuration determines too.
    harmless=r"model\.(layers\.\d+\.self_attn\.)?rotary_emb\.inv_freq",
    taken=halves_interleaved,
)
GGUF_NAMES = Names(
    prefix="",
    without_prefix=(),
    tokens="token_embd.weight",
    head="output.weight",
    layer="blk.{}.",
    parts={
        "embedding.tokens": "token_embd",
        "stack.norm": "output_norm",
        "norm_1": "attn_norm",
        "norm_2": "ffn_norm",
        "self_attention.q_proj": "attn_q",
        "self_attention.k_proj": "attn_k",
        "self_attention.v_proj": "attn_v",
        "self_attention.out_proj": "attn_output",
        "feed_forward.linear_1": "ffn_gate",
        "feed_forward.linear_2": "ffn_down",
        "feed_forward.linear_3": "ffn_up",
    },
    harmless=r"blk\.\d+\.attn_rot_embd\.weight",
)
GPT2_NAMES = Names(
    prefix="transformer.",
    without_prefix=("lm_head.", "score."),
    tokens="transformer.wte.weight",
    head="lm_head.weight",
    layer="transformer.h.{}.",
    parts={
        "embedding.tokens": "transformer.wte",
        "embedding.positions": "transformer.wpe",
        "stack.norm": "transformer.ln_f",
        "norm_1": "ln_1",
        "norm_2": "ln_2",
        "self_attention.q_proj": "attn.c_attn",
        "self_attention.k_proj": "attn.c_attn",
        "self_attention.v_proj": "attn.c_attn",
        "self_attention.out_proj": "attn.c_proj",
        "feed_forward.linear_1": "mlp.c_fc",
        "feed_forward.linear_2": "mlp.c_proj",
    },
    # The causal mask, and the score of what it forbids.
    harmless=r"transformer\.h\.\d+\.attn\.(masked_)?bias",
    taken=from_one_matrix,
    is_fused=True,
)
BERT_NAMES = Names(
    prefix="bert.",
    without_prefix=("cls.", "classifier.", "qa_outputs."),
    tokens="bert.embeddings.word_embeddings.weight",
    head="cls.predictions.decoder.weight",
    layer="bert.encoder.layer.{}.",
    parts={
        "embedding.tokens": "bert.embeddings.word_embeddings",
        "embedding.positions": "bert.embeddings.position_embeddings",
        "embedding.types": "bert.embeddings.token_type_embeddings",
        "embedding.norm": "bert.embeddings.LayerNorm",
        "norm_1": "attention.output.LayerNorm",
        "norm_2": "output.LayerNorm",
        "self_attention.q_proj": "attention.self.query",
        "self_attention.k_proj": "attention.self.key",
        "self_attention.v_proj": "attention.self.value",
        "self_attention.out_proj": "attention.output.dense",
        "feed_forward.linear_1": "intermediate.dense",
        "feed_forward.linear_2": "output.dense",
        "head.0": "cls.predictions.transform.dense",
        "head.2": "cls.predictions.transform.LayerNorm",
        "output": "cls.predictions",
    },
    # Position counters, and heads that score whole texts.
    harmless=r"bert\.embeddings\.(position|token_type)_ids"
    r"|(bert\.pooler\.dense|cls\.seq_relationship)\.(weight|bias)",
    older={"LayerNorm.gamma": "LayerNorm.weight", "LayerNorm.beta": "LayerNorm.bias"},
)


@dataclass(frozen=True)
class Family:
    """A kind of model: which of ours it is, and how its configuration is read.

    An entry of ``config.json`` is either read (`sizes`, and those that
    `attn.pretrained.hugging_face` reads for every family), or must have a value that we support
    (`must`), or changes no score and no id (`free`). Anything else is refused.
    """

    model: type[DecoderOnly] | type[EncoderOnly]
    names: Names
    # What the sizes of `TransformerConfig` are called in the family's ``config.json``.
    sizes: Mapping[str, str]
    # The sizes, by our names, that a file may leave out. None follows from the others.
    defaults: Mapping[str, int | None]
    # The options that all models of the family have in common.
    always: Mapping[str, Any]
    must: Mapping[str, tuple[Any, ...]]
    # A pattern for the names of entries.
    free: str
    # Whether the last matrix is that of the embeddings by default.
    tied: bool


# The entries that `transformers` writes for any model. The values for dropout and training have no
# effect in evaluation; those for sampling are for the caller of `attn.decoding`; the ids of special
# tokens are read with the tokenizer.
ANY_MODEL = (
    r"_?attn_implementation|_attn_implementation_autoset|_commit_hash|_flash_attn_2_enabled"
    r"|_name_or_path|architectures|chunk_size_feed_forward|dtype|finetuning_task"
    r"|gradient_checkpointing|id2label|initializer_range|keys_to_ignore_at_inference|label2id"
    r"|model_type|neftune_noise_alpha|_?num_labels|output_(attentions|hidden_states|scores)|prefix"
    r"|problem_type|return_dict|task_specific_params|tf_legacy_loss|tokenizer_class|torch_dtype"
    r"|torchscript|transformers\.js_config|transformers_version|unsloth_(fixed|version)"
    r"|use_bfloat16|use_cache|xla_device"
    r"|(bos|cls|decoder_start|eos|forced_bos|forced_eos|mask|pad|sep|unk)_token_id"
    r"|bad_words_ids|(begin_)?suppress_tokens|diversity_penalty|do_sample|early_stopping"
    r"|(encoder_)?no_repeat_ngram_size|exponential_decay_length_penalty|length_penalty"
    r"|(max|min)_length|num_(beam_groups|beams|return_sequences)|remove_invalid_values"
    r"|repetition_penalty|return_dict_in_generate|temperature|top_k|top_p|typical_p"
)
NEVER = {
    "add_cross_attention": (False,),
    "is_encoder_decoder": (False,),
    "pruned_heads": ({},),
    "tie_encoder_decoder": (False,),
}
FAMILIES = {
    "llama": Family(
        DecoderOnly,
        LLAMA_NAMES,
        sizes={
            "vocab_size": "vocab_size",
            "d_model": "hidden_size",
            "n_heads": "num_attention_heads",
            "n_layers": "num_hidden_layers",
            "d_ff": "intermediate_size",
            "n_kv_heads": "num_key_value_heads",
            "norm_eps": "rms_norm_eps",
            "max_len": "max_position_embeddings",
        },
        defaults={"n_kv_heads": None, "max_len": 2048},
        always={
            "norm": "pre",
            "normalization": "rms",
            "activation": "swiglu",
            "bias": False,
            "positions": "rotary",
            "scale_embeddings": False,
        },
        must=NEVER
        | {
            "attention_bias": (False,),
            "hidden_act": ("silu", "swish"),
            "is_llama_config": (True,),
            "mlp_bias": (False,),
            "rope_interleaved": (False,),
        },
        # The tensors give the same products, whatever the number `pretraining_tp` of their slices.
        free=ANY_MODEL + r"|attention_dropout|is_decoder|max_sequence_length|pretraining_tp",
        tied=False,
    ),
    "gpt2": Family(
        DecoderOnly,
        GPT2_NAMES,
        sizes={
            "vocab_size": "vocab_size",
            "d_model": "n_embd",
            "n_heads": "n_head",
            "n_layers": "n_layer",
            "d_ff": "n_inner",
            "norm_eps": "layer_norm_epsilon",
            "max_len": "n_positions",
        },
        defaults={"d_ff": None, "max_len": 1024},
        always={
            "norm": "pre",
            "activation": "gelu_tanh",
            "positions": "learned",
            "scale_embeddings": False,
        },
        must=NEVER
        | {
            "activation_function": ("gelu_new", "gelu_pytorch_tanh"),
            "scale_attn_by_inverse_layer_idx": (False,),
            "scale_attn_weights": (True,),
        },
        free=ANY_MODEL + r"|(attn|embd|resid)_pdrop|is_decoder|n_ctx|reorder_and_upcast_attn"
        r"|summary_(activation|first_dropout|proj_to_labels|type|use_proj)",
        tied=True,
    ),
    "bert": Family(
        EncoderOnly,
        BERT_NAMES,
        sizes={
            "vocab_size": "vocab_size",
            "d_model": "hidden_size",
            "n_heads": "num_attention_heads",
            "n_layers": "num_hidden_layers",
            "d_ff": "intermediate_size",
            "norm_eps": "layer_norm_eps",
            "max_len": "max_position_embeddings",
            "n_token_types": "type_vocab_size",
        },
        defaults={"max_len": 512, "n_token_types": 2},
        always={
            "norm": "post",
            "activation": "gelu",
            "positions": "learned",
            "scale_embeddings": False,
            "embedding_norm": True,
        },
        must=NEVER
        | {
            "directionality": ("bidi",),
            "hidden_act": ("gelu", "gelu_python"),
            "is_decoder": (False,),
            "position_embedding_type": ("absolute",),
        },
        free=ANY_MODEL + r"|attention_probs_dropout_prob|classifier_dropout|hidden_dropout_prob"
        r"|pooler_(fc_size|num_attention_heads|num_fc_layers|size_per_head|type)",
        tied=True,
    ),
}


def check_entries(
    said: Mapping[str, Any],
    read: Collection[str],
    must: Mapping[str, tuple[Any, ...]],
    free: str,
) -> None:
    """Raise ``ValueError`` for an unknown entry, or one with a value that we do not support.

    An entry whose value is null is ignored.
    """
    for name, value in said.items():
        if value is None or name in read or re.fullmatch(free, name):
            continue
        if name not in must:
            raise argument_error(
                name[:80], "no entry of this name, whose effect is not known", shown(value)
            )
        if value not in must[name]:
            raise argument_error(name, " or ".join(map(repr, must[name])), shown(value))


def read_sizes(
    said: Mapping[str, Any],
    names: Mapping[str, str],
    defaults: Mapping[str, int | None],
    n_tensors: int,
) -> dict[str, Any]:
    """Return, by our names, the sizes in a file, if they fit each other.

    `names` maps our names to those of the file, which errors use; `defaults` are those of `Family`.
    A file has more tensors than layers, so `n_tensors` bounds their number.
    """
    sizes: dict[str, Any] = dict(defaults)
    for ours, theirs in names.items():
        value = said.get(theirs)
        if value is None and ours in defaults:
            continue
        if ours == "norm_eps":
            sizes[ours] = check_number(theirs, value)
            continue
        least = 0 if ours == "n_token_types" else 1
        most = n_tensors if ours == "n_layers" else LARGEST_SIZE
        if type(value) is not int or not least <= value <= most:
            got = "none" if value is None else shown(value)
            raise argument_error(theirs, f"an integer from {least} to {most}", got)
        sizes[ours] = value
    if sizes["d_ff"] is None:
        sizes["d_ff"] = 4 * sizes["d_model"]
    for size, divisor in (("d_model", "n_heads"), ("n_heads", "n_kv_heads")):
        if sizes.get(divisor) and sizes[size] % sizes[divisor]:
            wanted = f"a multiple of {names[divisor]} = {sizes[divisor]}"
            raise argument_error(names[size], wanted, sizes[size])
    return sizes


def head_size(sizes: Mapping[str, Any], names: Mapping[str, str]) -> int:
    """Return the size of a Llama's heads; raise ``ValueError`` if nothing can turn in pairs."""
    size: int = sizes["d_model"] // sizes["n_heads"]
    if size % 2:
        raise argument_error(names["n_heads"], "heads of an even size", f"heads of {size} numbers")
    return size


@dataclass(frozen=True)
class Found:
    """The contents of a file or a folder."""

    family: Family
    names: Names
    # The options of `TransformerConfig`, except those for tied embeddings and a head.
    options: Mapping[str, Any]
    # Whether the file says that embeddings are tied. A last matrix of other numbers overrules it.
    tied: bool
    # The tensors by the file's own names.
    state: Mapping[str, Tensor]
    tokenizer: ByteLevelTokenizer | WordPieceTokenizer


def filled(found: Found) -> Model:
    """Return the model with these weights, in evaluation mode; no weights are drawn, few copied."""
    family, names, tied = found.family, found.names, found.tied
    own_names: dict[str, str] = {}
    tensors: dict[str, Tensor] = {}
    for name, tensor in found.state.items():
        now = names.now(name)
        if now in tensors:
            raise argument_error(name, "one tensor for each place", f"{own_names[now]} as well")
        own_names[now], tensors[now] = name, tensor
    predicts = any(name.startswith("cls.predictions.") for name in tensors)
    if predicts:
        _name_last_bias(tensors, own_names, tied)
    elif family.model is EncoderOnly:
        # A BERT without a prediction head has no last matrix of its own.
        tied = True
    if tied and names.tokens not in tensors and names.head in tensors:
        tensors[names.tokens] = tensors.pop(names.head)
        own_names[names.tokens] = own_names[names.head]
    tied = tied and _is_same(tensors.get(names.head), tensors.get(names.tokens))
    try:
        config = TransformerConfig(
            **found.options, dropout=0.0, tie_embeddings=tied, prediction_head=predicts
        )
        with torch.device("meta"):
            model = family.model(config)
    except (RuntimeError, OverflowError):
        # The bytes of a tensor cannot be counted in 64 bits.
        raise argument_error(
            "sizes", "those of a model that fits in memory", shown(found.options)
        ) from None
    wanted = {name: tuple(tensor.shape) for name, tensor in model.state_dict().items()}
    if tied:
        tensors.pop(names.head, None)
        del wanted["output.weight"]
    weights = _weights(names, config, wanted, tensors, own_names)
    if tied:
        weights["output.weight"] = weights["embedding.tokens.weight"]
    model.load_state_dict(weights, assign=True)
    if tied:
        model.output.weight = model.embedding.tokens.weight
    return model.eval()


def _is_same(head: Tensor | None, tokens: Tensor | None) -> bool:
    """Return whether the last matrix, if a file has one, is that of the embeddings."""
    if head is None or tokens is None:
        return True
    return head.dtype == tokens.dtype and torch.equal(head, tokens)


def _name_last_bias(tensors: dict[str, Tensor], own_names: dict[str, str], tied: bool) -> None:
    """Store the last bias of a BERT, which files have under one or two names, under the first name.

    Like the last matrix, the bias of `decoder` is used if it is there. Otherwise the other bias is
    used, but only where the file says that the two are tied.
    """
    bias, other = "cls.predictions.bias", "cls.predictions.decoder.bias"
    if other in tensors:
        tensors[bias], own_names[bias] = tensors.pop(other), own_names[other]
    elif not tied:
        raise argument_error(other, UNTIED, "none")


def _weights(
    names: Names,
    config: TransformerConfig,
    wanted: Mapping[str, tuple[int, ...]],
    tensors: Mapping[str, Tensor],
    own_names: Mapping[str, str],
) -> dict[str, Tensor]:
    """Return, by our names, the tensors of a file, if exactly the wanted ones are there."""
    stored = {ours: names.stored(ours, shape) for ours, shape in wanted.items()}
    has_prefix = any(name.startswith(names.prefix) for name in own_names.values())
    for theirs, _ in stored.values():
        if theirs not in tensors:
            name = theirs if has_prefix else theirs.removeprefix(names.prefix)
            raise argument_error(
                name, UNTIED if theirs == names.head else "a tensor of this name", "none"
            )
    unused = tensors.keys() - {theirs for theirs, _ in stored.values()}
    for theirs in sorted(unused):
        if not re.fullmatch(names.harmless, theirs):
            raise argument_error(
                own_names[theirs], "no tensor of this name, whose use is not known", "one"
            )
    weights = {}
    for ours, (theirs, shape) in stored.items():
        tensor = tensors[theirs]
        if tensor.dtype not in FLOATS:
            raise argument_error(own_names[theirs], "floating-point numbers", tensor.dtype)
        if tensor.shape != shape:
            raise argument_error(own_names[theirs], f"shape {shape}", tuple(tensor.shape))
        weights[ours] = names.taken(ours, tensor.float(), config).contiguous()
    return weights
