"""Entries of published files: used as in transformers, or refused by name."""

import json
import re
import shutil

import gguf as their_gguf
import numpy as np
import pytest
import torch
import transformers
from safetensors.torch import load_file, save_file

from attn.pretrained import gguf, load
from attn.transformer import DecoderOnly
from tests.core.test_pretrained import (
    GPT2,
    LLAMA,
    MAKE,
    SIZES,
    assert_close,
    change_json,
    draw,
    published,
    random_ids,
    read_by_them,
    write_gguf,
)
from tests.core.test_pretrained_damage import shard
from tests.core.test_tokenizer_pretrained import byte_pairs

__all__ = ["published"]
CLASSES = {
    "llama": transformers.LlamaForCausalLM,
    "gpt2": transformers.GPT2LMHeadModel,
    "bert": transformers.BertForMaskedLM,
}
QUIET = pytest.mark.filterwarnings("ignore")


def assert_near(actual, expected):
    """Assert nearly equal: at late positions, transformers' float32 angles are less precise."""
    torch.testing.assert_close(actual, expected, rtol=1e-4, atol=5e-4)


def in_transformers(folder, kind):
    return read_by_them(CLASSES[kind], folder)


def ours_and_theirs(folder, kind, length=40):
    ids = random_ids(2, length)
    with torch.no_grad():
        return load(folder)[0](ids)[0], in_transformers(folder, kind)(ids).logits


# These entries of config.json occur in published models beside the sizes. The tables are kept on
# few lines, so that they can be compared.
COMMON = {
    "architectures": ["X"], "initializer_range": 0.04, "torch_dtype": "float32", "use_cache": True,
    "transformers_version": "4.40.0", "_name_or_path": "x",
}  # fmt: skip
PUBLISHED = {
    "SmolLM2": ("llama", COMMON | {
        "attention_bias": False, "attention_dropout": 0.0, "hidden_act": "silu", "mlp_bias": False,
        "is_llama_config": True, "pretraining_tp": 1, "rope_interleaved": False,
        "rope_scaling": None, "rope_theta": 100000, "rope_parameters": None, "pad_token_id": 2,
        "transformers.js_config": {"kv_cache_dtype": {"q4f16": "float16"}}, "head_dim": 8,
    }),
    "TinyLlama": ("llama", COMMON | {
        "attention_bias": False, "hidden_act": "silu", "pretraining_tp": 1, "rope_scaling": None,
        "rope_theta": 10000.0, "rope_parameters": None,
    }),
    "Llama 3.2": ("llama", COMMON | {
        "attention_bias": False, "attention_dropout": 0.0, "head_dim": 8, "hidden_act": "silu",
        "mlp_bias": False, "pretraining_tp": 1, "rope_theta": 500.0, "rope_parameters": None,
        "rope_scaling": {"factor": 32.0, "high_freq_factor": 4.0, "low_freq_factor": 1.0,
                         "original_max_position_embeddings": 16, "rope_type": "llama3"},
    }),
    "GPT-2": ("gpt2", COMMON | {
        "activation_function": "gelu_new", "attn_pdrop": 0.1, "embd_pdrop": 0.1, "n_ctx": 64,
        "resid_pdrop": 0.1, "summary_activation": None, "summary_first_dropout": 0.1,
        "summary_proj_to_labels": True, "summary_type": "cls_index", "summary_use_proj": True,
        "task_specific_params": {"text-generation": {"do_sample": True, "max_length": 50}},
    }),
    "BERT": ("bert", COMMON | {
        "attention_probs_dropout_prob": 0.1, "gradient_checkpointing": False, "hidden_act": "gelu",
        "hidden_dropout_prob": 0.1, "position_embedding_type": "absolute", "pad_token_id": 0,
        "directionality": "bidi", "pooler_fc_size": 768, "pooler_num_attention_heads": 12,
        "pooler_num_fc_layers": 3, "pooler_size_per_head": 128, "pooler_type": "first_token_transform",
    }),
}  # fmt: skip


@pytest.mark.parametrize("name", PUBLISHED)
def test_entries_of_published_models_are_read(published, tmp_path, name):
    kind, entries = PUBLISHED[name]
    folder = shutil.copytree(published[kind][1], tmp_path / "model")
    change_json(folder / "config.json", lambda content: content.update(entries))
    assert_close(*ours_and_theirs(folder, kind))


ACTIVATIONS = {"silu": "gelu", "gelu": "relu", "gelu_new": "relu"}


def other(value):
    """Return another value of the same type, if it might change a score."""
    if isinstance(value, bool):
        return not value
    if isinstance(value, float):
        return 0.9 * value + 0.05
    return value + 1 if isinstance(value, int) else ACTIVATIONS.get(str(value))


UNKNOWN = {
    "quantization_config": {"quant_method": "gptq", "bits": 4}, "sliding_window": 4,
    "partial_rotary_factor": 0.5, "logits_soft_cap": 30.0, "final_logit_softcapping": 30.0,
    "auto_map": {"AutoModel": "m.M"}, "adapters": {"a": 1}, "layer_types": ["full_attention"],
    "head_dim": 16, "pruned_heads": {"0": [1]}, "position_embedding_type": "relative_key",
    "rope_interleaved": True, "directionality": "left", "an_entry_of_tomorrow": 0,
    "use_bidirectional_attention": False,
}  # fmt: skip
# Sizes are compared with the tensors, so these errors name the tensors.
OF_SIZE = set(SIZES) | set(GPT2) | {"num_key_value_heads", "n_inner", "type_vocab_size"}
OF_SIZE -= {"bos_token_id", "eos_token_id", "layer_norm_epsilon"}
NOT_MODELS = {"model_type", "return_dict", "rope_parameters"}
NOT_MODELS |= {"eos_token_id", "bos_token_id", "pad_token_id"}


@QUIET
@pytest.mark.parametrize("kind", CLASSES)
def test_each_entry_is_as_in_transformers_or_refused_by_its_name(published, tmp_path, kind):
    folder, ids = shutil.copytree(published[kind][1], tmp_path / "model"), random_ids(2, 40)
    path = folder / "config.json"
    whole = json.loads(path.read_text())
    known = type(published[kind][0].config)().to_dict()
    entries = {entry: other(known[entry]) for entry in known.keys() - OF_SIZE - NOT_MODELS}
    entries = {entry: value for entry, value in entries.items() if value is not None}
    n_refused = 0
    for entry, value in sorted((entries | UNKNOWN).items()):
        path.write_text(json.dumps(whole | {entry: value}))
        try:
            ours, _ = load(folder)
        except ValueError as error:
            # A matrix that is not tied is missing in the file, and the error names both.
            of_tensor = entry == "tie_word_embeddings" and f"unless {entry} is true" in str(error)
            assert str(error).startswith(f"{path}: {entry}: expected ") or of_tensor, error
            n_refused += 1
            continue
        assert entry not in UNKNOWN, entry
        with torch.no_grad():
            assert_close(ours(ids)[0], in_transformers(folder, kind)(ids).logits)
    # All unknown entries are refused, and the choices of each family that are not supported.
    assert n_refused >= len(UNKNOWN) + 3


# tensors


@QUIET
@pytest.mark.parametrize("is_tied", [True, False])
@pytest.mark.parametrize("kind", CLASSES)
def test_an_output_matrix_in_the_file_is_used_whatever_the_configuration_says(
    published, tmp_path, kind, is_tied
):
    folder = shutil.copytree(published[kind][1], tmp_path / "model")
    state = load_file(folder / "model.safetensors")
    rows = torch.randn(300, 32, generator=torch.Generator().manual_seed(0))
    if kind == "bert":
        state |= {
            "cls.predictions.decoder.weight": rows,
            "cls.predictions.decoder.bias": rows[:, 0].clone(),
        }
    else:
        state["lm_head.weight"] = rows
    save_file(state, folder / "model.safetensors", {"format": "pt"})
    change_json(folder / "config.json", lambda c: c.update(tie_word_embeddings=is_tied))
    assert_close(*ours_and_theirs(folder, kind))
    ours, _ = load(folder)
    assert torch.equal(ours.output.weight, rows)


@QUIET
@pytest.mark.parametrize(
    "change",
    [
        lambda n: n.replace("LayerNorm.weight", "LayerNorm.gamma"),
        lambda n: n.replace("LayerNorm.bias", "LayerNorm.beta"),
        lambda n: n.removeprefix("bert."),
        lambda n: n.removeprefix("bert.").replace("LayerNorm.weight", "LayerNorm.gamma"),
    ],
)
def test_older_names_of_a_bert_are_read(published, tmp_path, change):
    folder = shutil.copytree(published["bert"][1], tmp_path / "model")
    state = load_file(folder / "model.safetensors")
    state |= {
        "bert.embeddings.position_ids": torch.arange(64)[None],
        "bert.pooler.dense.weight": torch.ones(32, 32),
        "bert.pooler.dense.bias": torch.ones(32),
        "cls.seq_relationship.weight": torch.ones(2, 32),
        "cls.seq_relationship.bias": torch.ones(2),
        "cls.predictions.decoder.weight": state["bert.embeddings.word_embeddings.weight"].clone(),
    }
    state = {change(name): tensor for name, tensor in state.items()}
    save_file(state, folder / "model.safetensors", {"format": "pt"})
    assert_close(*ours_and_theirs(folder, "bert"))


@QUIET
@pytest.mark.parametrize("kind", ["llama", "gpt2"])
def test_a_file_with_only_the_output_matrix_uses_it_as_embeddings_too(published, tmp_path, kind):
    folder = shutil.copytree(published[kind][1], tmp_path / "model")
    state = load_file(folder / "model.safetensors")
    tokens = {"llama": "model.embed_tokens.weight", "gpt2": "transformer.wte.weight"}[kind]
    state["lm_head.weight"] = state.pop(tokens)
    save_file(state, folder / "model.safetensors", {"format": "pt"})
    change_json(folder / "config.json", lambda c: c.update(tie_word_embeddings=True))
    assert_close(*ours_and_theirs(folder, kind))


ONES = torch.ones
LAYER = "model.layers.0.self_attn"


@pytest.mark.parametrize(
    "kind, name, tensor, message",
    [
        ("llama", f"{LAYER}.q_norm.weight", ONES(8), "expected no tensor of this name, whose use"),
        ("llama", "model.layers.1.mlp.up_proj.weight", None, "expected a tensor .*, got none"),
        ("llama", "lm_head.weight", None, "expected a tensor of this name"),
        ("llama", f"{LAYER}.q_proj.weight", ONES(30, 32), r".* \(32, 32\), got \(30, 32\)"),
        ("llama", "model.norm.weight", ONES(32).to(torch.int8), r"expected floating-.*torch\.int8"),
        ("gpt2", "transformer.h.0.attn.c_attn.weight", ONES(32, 95), r".*\(32, 96\), got \(32, 95"),
        ("bert", "classifier.weight", ONES(2, 32), "expected no tensor"),
        ("bert", "cls.predictions.transform.dense.bias", None, "expected a tensor"),
        # The file has the tensor for this place under another name.
        ("llama", "norm.weight", ONES(32), "expected one tensor for each place, got .* as well"),
    ],
)
def test_extra_missing_and_wrongly_shaped_tensors_are_named(
    published, tmp_path, kind, name, tensor, message
):
    folder = shutil.copytree(published[kind][1], tmp_path / "model")
    state = load_file(folder / "model.safetensors") | {name: tensor}
    state = {name: tensor for name, tensor in state.items() if tensor is not None}
    save_file(state, folder / "model.safetensors", {"format": "pt"})
    named = f"{re.escape(name)}: {message}" if "each place" not in message else message
    with pytest.raises(ValueError, match=f"^{re.escape(str(folder))}.*{named}"):
        load(folder)


# shards


def test_a_model_in_several_files_is_loaded(published, tmp_path):
    theirs, folder = published["gpt2"]
    theirs.save_pretrained(tmp_path, max_shard_size="40KB")
    shutil.copy(folder / "tokenizer.json", tmp_path)
    assert len(list(tmp_path.glob("model-*.safetensors"))) > 2
    ids = random_ids(2, 20)
    assert torch.equal(load(tmp_path)[0](ids)[0], load(folder)[0](ids)[0])


SECOND = "model-00002-of-00003.safetensors"
NO_FILE = "expected the name of a safetensors file, got"


def add(path, **tensors):
    save_file(load_file(path) | tensors, path)


@pytest.mark.parametrize(
    "change, message",
    [
        (lambda d, at: (d / SECOND).unlink(), rf"/{SECOND}: expected weights in a safetensors fil"),
        (
            lambda d, at: shutil.copy(d / SECOND, d / "model-00004-of-00004.safetensors"),
            r"/model-00004-of-00004\.safetensors: expected a file that model\..* names, got one that",
        ),
        (lambda d, at: shutil.copy(d / SECOND, d / "model.safetensors"), ": .*, got both"),
        (
            lambda d, at: add(d / SECOND, **{"lm_head.weight": torch.ones(1)}),
            rf"/{SECOND}: expected tensors that model.* places here, got lm_head\.weight",
        ),
        (
            lambda d, at: at["weight_map"].update({"model.norm.bias": SECOND}),
            rf"/{SECOND}: model\.norm\.bias: expected a tensor of this name, got none",
        ),
        (
            lambda d, at: at["weight_map"].update({"model.norm.weight": "../" + SECOND}),
            rf"/model.*index\.json: model\.norm\.weight: {NO_FILE} '\.\./",
        ),
        (lambda d, at: at["weight_map"].update({"model.norm.weight": 3}), f"/model.*{NO_FILE} 3"),
        (lambda d, at: at.pop("weight_map"), r"/model.*index\.json: expected a weight_map, got No"),
    ],
)
def test_inconsistent_shards_are_refused(published, tmp_path, change, message):
    folder = shutil.copytree(published["llama"][1], tmp_path / "model")
    state = load_file(folder / "model.safetensors")
    (folder / "model.safetensors").unlink()
    index = shard(state, folder)
    load(folder)
    change(folder, index)
    (folder / "model.safetensors.index.json").write_text(json.dumps(index))
    with pytest.raises(ValueError, match=f"^{re.escape(str(folder))}{message}"):
        load(folder)


def test_adapters_are_refused(published, tmp_path):
    folder = shutil.copytree(published["llama"][1], tmp_path / "model")
    (folder / "adapter_config.json").write_text("{}")
    with pytest.raises(ValueError, match="expected a model without adapters, got adapter_config.j"):
        load(folder)


# rotary positions

SCALINGS = [
    {"rope_type": "default"},
    {"rope_type": "linear", "factor": 4},
    {"rope_type": "llama3", "factor": 8.0, "low_freq_factor": 1.0, "high_freq_factor": 4.0,
     "original_max_position_embeddings": 32},
    {"rope_type": "llama3", "factor": 3.0, "low_freq_factor": 2.0, "high_freq_factor": 9.0},
    {"rope_type": "yarn", "factor": 4.0, "original_max_position_embeddings": 16},
    {"rope_type": "yarn", "factor": 4.0, "original_max_position_embeddings": 16, "beta_fast": 6,
     "beta_slow": 0.3, "truncate": False},
    {"rope_type": "yarn", "factor": 4.0, "attention_factor": 1.3},
    {"rope_type": "yarn", "factor": 4.0, "mscale": 1.5, "mscale_all_dim": 0.7},
]  # fmt: skip


@pytest.mark.parametrize("scaling", SCALINGS, ids=str)
def test_scaled_rotary_positions_equal_those_of_transformers(tmp_path, scaling):
    """Compared within the original length, which is at most 64, and beyond."""
    parameters = scaling | {"rope_theta": 500.0}
    theirs = draw(MAKE["llama"]())
    config = transformers.LlamaConfig(**LLAMA | {"rope_parameters": dict(parameters)})
    scaled = transformers.LlamaForCausalLM(config).eval()
    scaled.load_state_dict(theirs.state_dict())
    scaled.save_pretrained(tmp_path)
    byte_pairs().save(str(tmp_path / "tokenizer.json"))
    ids = random_ids(2, 150)
    ours, _ = load(tmp_path)
    with torch.no_grad():
        found, expected, plain = ours(ids)[0], scaled(ids).logits, theirs(ids).logits
    assert_near(found, expected)
    assert (plain - expected).abs().max() < 1e-3 or scaling["rope_type"] != "default"
    # The same holds with the names of version 4, from our own checkpoint, and with a cache.
    older = {"type" if name == "rope_type" else name: value for name, value in scaling.items()}
    change = {"rope_parameters": None, "rope_theta": 500.0, "rope_scaling": older}
    change_json(tmp_path / "config.json", lambda content: content.update(change))
    assert torch.equal(load(tmp_path)[0](ids)[0], found)
    ours.save(tmp_path / "ours")
    assert torch.equal(DecoderOnly.load(tmp_path / "ours")(ids)[0], found)
    cache = ours.new_cache()
    parts = [ours(part, cache=cache)[0] for part in ids.split(90, dim=1)]
    assert_close(torch.cat(parts, dim=1), found)


@pytest.mark.parametrize(
    "kind, options, message",
    [
        ("dynamic", {"factor": 2.0}, "rope_type: expected 'default' or .*, got 'dynamic'"),
        ("longrope", {"short_factor": [1.0]}, "rope_type: .*, got 'longrope'"),
        (["yarn"], {}, r"rope_type: .*, got \['yarn'\]"),
        ("linear", {}, "factor: expected a finite number of at least 1, got None"),
        ("linear", {"factor": 0.5}, "factor: expected a finite .*, got 0.5"),
        ("linear", {"factor": "2"}, "factor: expected a finite .*, got '2'"),
        ("linear", {"factor": True}, "factor: expected a finite .*, got True"),
        ("linear", {"factor": 2, "mrope_section": [1]}, "mrope_section: expected no entry"),
        ("default", {"factor": 2}, "factor: expected no entry of this name beside"),
        (
            "llama3",
            {"factor": 2, "low_freq_factor": 4, "high_freq_factor": 1},
            "low_.*1.0, got 4.0",
        ),
        ("yarn", {"factor": 2, "beta_fast": 1, "beta_slow": 2}, "beta_fast: expected at least"),
        ("yarn", {"factor": 2, "truncate": 1}, "truncate: expected True or False, got 1"),
    ],
)
@pytest.mark.parametrize("entry", ["rope_scaling", "rope_parameters"])
def test_other_scalings_are_refused_by_name(published, tmp_path, entry, kind, options, message):
    folder = shutil.copytree(published["llama"][1], tmp_path / "model")
    change = {"rope_parameters": None, entry: {"rope_type": kind} | options}
    change_json(folder / "config.json", lambda content: content.update(change))
    with pytest.raises(ValueError, match=rf"config\.json: {entry}\.{message}"):
        load(folder)


# gguf


def scaled_llama(theirs, parameters):
    config = transformers.LlamaConfig(
        **LLAMA | {"rope_parameters": {"rope_theta": 500.0} | parameters}
    )
    scaled = transformers.LlamaForCausalLM(config).eval()
    scaled.load_state_dict(theirs.state_dict())
    return scaled


ROPE = "llama.rope.scaling."
LINEAR = {"rope_type": "linear", "factor": 4.0}
YARN = {"rope_type": "yarn", "factor": 4.0, "original_max_position_embeddings": 16}


@pytest.mark.parametrize(
    ("metadata", "parameters"),
    [
        ({"llama.rope.scale_linear": 4.0}, LINEAR),
        ({ROPE + "factor": 4.0}, LINEAR),
        ({ROPE + "type": "linear", ROPE + "factor": 4.0, "llama.rope.scale_linear": 2.0}, LINEAR),
        ({ROPE + "type": "none", ROPE + "factor": 4.0}, {"rope_type": "default"}),
        ({ROPE + "type": "yarn", ROPE + "factor": 4.0, ROPE + "original_context_length": 16}, YARN),
        (
            {
                ROPE + "type": "yarn",
                ROPE + "factor": 4.0,
                ROPE + "finetuned": True,
                ROPE + "yarn_beta_fast": 8.0,
            },
            YARN | {"original_max_position_embeddings": 64, "beta_fast": 8},
        ),
        (
            {
                "llama.attention.causal": True,
                "llama.logit_scale": 1.0,
                "llama.attention.scale": 0.0,
                "split.count": 1,
                "general.sampling.temp": 0.7,
                "quantize.imatrix.file": "x",
                "llama.attention.key_length": 8,
            },
            {"rope_type": "default"},
        ),
    ],
)
def test_position_entries_of_a_gguf_file_are_applied(published, tmp_path, metadata, parameters):
    theirs, folder = published["llama"]
    write_gguf(tmp_path / "model.gguf", folder, metadata.items())
    ids = random_ids(2, 150)
    with torch.no_grad():
        found, expected = (
            load(tmp_path / "model.gguf")[0](ids)[0],
            scaled_llama(theirs, parameters)(ids),
        )
    assert_near(found, expected.logits)


def test_the_factors_of_llama_3_may_be_a_tensor(published, tmp_path):
    theirs, folder = published["llama"]
    scaled = scaled_llama(theirs, SCALINGS[2])
    speeds = [rope.model.rotary_emb.inv_freq for rope in (theirs, scaled)]
    path = tmp_path / "model.gguf"
    write_gguf(path, folder, tensors={"rope_freqs.weight": (speeds[0] / speeds[1]).numpy()})
    ids = random_ids(2, 150)
    with torch.no_grad():
        assert_near(load(path)[0](ids)[0], scaled(ids).logits)
    for factors, message in (
        ([1.0, 2.0], r"shape \(4,\), got \(2,\)"),
        ([0.0] * 4, "finite number"),
    ):
        write_gguf(path, folder, tensors={"rope_freqs.weight": np.float32(factors)})
        with pytest.raises(ValueError, match=rf"model\.gguf: rope_freqs\.weight.*{message}"):
            load(path)


REFUSED_ENTRIES = {
    "llama.attention.causal": False, "llama.attention.scale": 0.2,
    "llama.attention.sliding_window": 16, "llama.attention.key_length": 16,
    "llama.attention.value_length": 16, "llama.attention.head_count_kv": [2, 2],
    "llama.rope.dimension_count": 4, "llama.rope.freq_base": "500",
    "llama.rope.scaling.attn_factor": 1.1, "llama.rope.scaling.type": "longrope",
    "llama.rope.scaling.factor": -2.0, "llama.logit_scale": 0.5, "llama.embedding_scale": 12.0,
    "llama.residual_scale": 0.22, "llama.final_logit_softcapping": 30.0, "llama.expert_count": 8,
    "llama.vocab_size": 299, "llama.use_parallel_residual": True,
    "llama.tensor_data_layout": "other", "llama.an_entry_of_tomorrow": 0, "another.entry": "x",
    "general.type": "adapter", "split.count": 3, "llama.block_count": True,
    "llama.context_length": "64",
}  # fmt: skip


@pytest.mark.parametrize("entry, value", REFUSED_ENTRIES.items())
def test_entries_of_a_gguf_file_are_refused_by_name(published, tmp_path, entry, value):
    path = tmp_path / "model.gguf"
    write_gguf(path, published["llama"][1], {entry: value}.items())
    with pytest.raises(ValueError, match=f"^{re.escape(f'{path}: {entry}: expected ')}"):
        load(path)


@pytest.mark.parametrize("number", gguf.KINDS)
def test_random_blocks_are_unpacked_as_the_package_of_llama_cpp_does(number):
    """Every byte is drawn, so scales may be huge, tiny, infinite or NaN."""
    kind, theirs = gguf.KINDS[number], their_gguf.GGMLQuantizationType(number)
    assert (kind.n_numbers, kind.n_bytes) == their_gguf.GGML_QUANT_SIZES[theirs]
    blocks = np.random.default_rng(number).integers(0, 256, (2000, kind.n_bytes), np.uint8)
    with np.errstate(all="ignore"):
        found = kind.unpack(blocks).reshape(-1)
        expected = their_gguf.quants.dequantize(blocks, theirs).reshape(-1)
    both_nan = np.isnan(found) & np.isnan(expected)
    assert found.dtype == np.float32 and not both_nan.all()
    assert np.array_equal(found.view(np.uint32)[~both_nan], expected.view(np.uint32)[~both_nan])
