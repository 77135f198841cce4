"""attn.pretrained against transformers, tokenizers and gguf: random models, and two real ones."""

import json
import os
import re
import shutil
from functools import partial

# This precedes the first import, so that nothing is read from the network.
os.environ["HF_HUB_OFFLINE"] = "1"

import gguf as their_gguf
import numpy as np
import pytest
import tokenizers
import torch
import transformers
from safetensors.torch import load_file, save_file
from tokenizers import normalizers, pre_tokenizers, trainers

from attn.decoding import greedy
from attn.masks import padding_mask
from attn.pretrained import gguf, gguf_model, load
from attn.pretrained.families import FAMILIES
from attn.transformer import DecoderOnly, EncoderOnly
from tests.core.test_tokenizer_pretrained import HARD, TEXTS, assert_same_ids, byte_pairs


def draw(model):
    """Change every parameter, so that no bias is zero and no gain is one."""
    torch.manual_seed(0)
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.add_(0.3 * torch.randn(parameter.shape))
    return model.eval()


def read_by_them(model_class, folder, **options):
    """Load a model with transformers on the CPU; another device would need one more package."""
    with torch.device("cpu"):
        model = model_class.from_pretrained(folder, **options)
    return model.to(torch.get_default_device()).eval()


def word_pieces():
    theirs = tokenizers.Tokenizer(tokenizers.models.WordPiece(unk_token="[UNK]"))
    theirs.normalizer = normalizers.BertNormalizer(lowercase=True)
    theirs.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    theirs.train_from_iterator(
        TEXTS * 2,
        trainers.WordPieceTrainer(
            vocab_size=80,
            special_tokens=["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"],
            show_progress=False,
        ),
    )
    return theirs


SIZES = {"vocab_size": 300, "hidden_size": 32, "intermediate_size": 48, "num_hidden_layers": 2}
SIZES |= {"num_attention_heads": 4, "max_position_embeddings": 64}
LLAMA = SIZES | {"num_key_value_heads": 2, "rms_norm_eps": 1e-4}
LLAMA |= {"bos_token_id": 0, "eos_token_id": 0}
LLAMA |= {"rope_parameters": {"rope_type": "default", "rope_theta": 500.0}}
GPT2 = {"vocab_size": 300, "n_embd": 32, "n_layer": 2, "n_head": 4, "n_positions": 64}
GPT2 |= {"bos_token_id": 0, "eos_token_id": 0, "layer_norm_epsilon": 1e-4}
MAKE = {
    "llama": lambda: transformers.LlamaForCausalLM(transformers.LlamaConfig(**LLAMA)),
    "tied llama": lambda: transformers.LlamaForCausalLM(
        transformers.LlamaConfig(**LLAMA, tie_word_embeddings=True)
    ),
    "gpt2": lambda: transformers.GPT2LMHeadModel(transformers.GPT2Config(**GPT2)),
    "bert": lambda: transformers.BertForMaskedLM(transformers.BertConfig(**SIZES)),
    "bert without a head": lambda: transformers.BertModel(transformers.BertConfig(**SIZES)),
}
every_kind = pytest.mark.parametrize("kind", MAKE)


@pytest.fixture(scope="module")
def published(tmp_path_factory):
    """For every kind, a model of transformers and the folder where it is saved with a tokenizer."""
    found = {}
    for kind, make in MAKE.items():
        folder = tmp_path_factory.mktemp(kind.replace(" ", "_"))
        model = draw(make())
        model.save_pretrained(folder)
        tokenizer = word_pieces() if kind.startswith("bert") else byte_pairs()
        tokenizer.save(str(folder / "tokenizer.json"))
        found[kind] = model, folder
    return found


def random_ids(*shape, vocab_size=300):
    return torch.randint(vocab_size, shape, generator=torch.Generator().manual_seed(0))


def assert_close(actual, expected):
    torch.testing.assert_close(actual, expected, rtol=1e-5, atol=1e-4)


# transformers


@every_kind
def test_logits_and_gradients_equal_those_of_transformers(published, kind):
    theirs, folder = published[kind]
    ours, _ = load(folder)
    assert type(ours) is (EncoderOnly if kind.startswith("bert") else DecoderOnly)
    assert not ours.training
    ids, options, ours_options = random_ids(3, 20), {}, {}
    if kind.startswith("bert"):
        real, types = padding_mask([20, 5, 11], 20), (torch.arange(20) > 7).long().expand(3, -1)
        options = {"attention_mask": real[:, 0].long(), "token_type_ids": types}
        ours_options = {"mask": real, "token_types": types}
    found = theirs(ids, **options)
    if kind == "bert without a head":
        expected, actual = found.last_hidden_state, ours.encode(ids, **ours_options)[0]
    else:
        expected, actual = found.logits, ours(ids, **ours_options)[0]
    assert_close(actual, expected)
    theirs.zero_grad()
    expected.square().mean().backward()
    actual.square().mean().backward()
    gradients = {n: p.grad for n, p in theirs.named_parameters() if p.grad is not None}
    names = FAMILIES[kind.split()[-1] if "tied" in kind else kind.split()[0]].names
    gradients = {names.now(name): gradient for name, gradient in gradients.items()}
    compared = set()
    for name, p in ours.named_parameters():
        if p.grad is not None:
            there, shape = names.stored(name, tuple(p.shape))
            assert gradients[there].shape == shape
            expected = names.taken(name, gradients[there], ours.config)
            torch.testing.assert_close(p.grad, expected, rtol=1e-4, atol=1e-5, msg=name)
            compared.add(there)
    assert compared == gradients.keys()


@pytest.mark.parametrize("kind", ["llama", "tied llama", "gpt2"])
def test_greedy_continuations_are_those_of_transformers_with_a_cache_and_without(published, kind):
    theirs, folder = published[kind]
    ours, _ = load(folder)
    ids = random_ids(1, 6)
    options = {"max_new_tokens": 20, "do_sample": False, "eos_token_id": None, "pad_token_id": 0}
    expected = theirs.generate(ids, attention_mask=torch.ones_like(ids), **options)
    write = partial(greedy, ours.step, ids, end_id=None, max_new_tokens=20)
    assert torch.equal(write(), expected)
    assert torch.equal(write(cache=ours.new_cache()), expected)


def test_a_converted_model_can_be_saved_and_loaded(published, tmp_path):
    for kind in ("tied llama", "bert"):
        ours, tokenizer = load(published[kind][1])
        ours.save(tmp_path / "model")
        again, ids = type(ours).load(tmp_path / "model"), random_ids(1, 9)
        assert torch.equal(again(ids)[0], ours(ids)[0])
        assert again.output.weight is again.embedding.tokens.weight
        tokenizer.save(tmp_path / "tokenizer")
        same = type(tokenizer).load(tmp_path / "tokenizer")
        assert same == tokenizer and same.encode(TEXTS[0]) == tokenizer.encode(TEXTS[0])
        assert (same.pad_id, same.sos_id, same.eos_id) == (
            tokenizer.pad_id,
            tokenizer.sos_id,
            tokenizer.eos_id,
        )


def change_json(path, change):
    content = json.loads(path.read_text())
    change(content)
    path.write_text(json.dumps(content))


@pytest.mark.parametrize(
    "kind, change, message",
    [
        ("llama", {"model_type": "mamba"}, "a model_type among llama, gpt2, bert, got 'ma"),
        ("llama", {"model_type": ["llama"]}, "a model_type among llama, gpt2, bert, got"),
        ("llama", {"head_dim": 16}, r".*head_dim: expected 8, got 16"),
        ("llama", {"num_hidden_layers": 3}, "model.layers.2.self_attn.q_proj.weight: .*, got none"),
        ("llama", {"num_hidden_layers": 10**9}, "num_hidden_layers: expected an integer from"),
        ("llama", {"num_hidden_layers": 1}, "model.layers.1.input_layernorm.weight: expected no"),
        ("llama", {"intermediate_size": 47}, r".*mlp.gate_proj.weight: .* \(47, 32\), got \(48, 3"),
        ("llama", {"hidden_size": None}, "hidden_size: expected an integer from 1 to .* none"),
        ("llama", {"hidden_size": True}, "hidden_size: expected an integer from 1 to .* True"),
        ("llama", {"num_attention_heads": 3}, "hidden_size: .*num_attention_heads = 3, got 32"),
        ("llama", {"num_attention_heads": 32}, "num_attention_heads: expected heads of an even"),
        ("llama", {"rms_norm_eps": "1"}, "rms_norm_eps: expected a number above 0, got '1'"),
        ("llama", {"tie_word_embeddings": 1}, "tie_word_embeddings: expected true or false"),
        ("gpt2", {"n_head": None}, "n_head: expected an integer"),
        ("bert", {"layer_norm_eps": None}, "layer_norm_eps: expected a number above 0"),
        ("bert", {"vocab_size": 20}, "a tokenizer of at most vocab_size = 20 tokens, got "),
    ],
)
def test_unsupported_configurations_are_refused_with_a_readable_error(
    published, tmp_path, kind, change, message
):
    folder = shutil.copytree(published[kind][1], tmp_path / "model")
    change_json(folder / "config.json", lambda content: content.update(change))
    with pytest.raises(ValueError, match=f"^{re.escape(str(folder))}.*: (expected )?{message}"):
        load(folder)


def test_missing_and_damaged_files_are_named(published, tmp_path):
    with pytest.raises(ValueError, match=r"none: expected a GGUF file or a folder of Hugging Face"):
        load(tmp_path / "none")
    folder = shutil.copytree(published["gpt2"][1], tmp_path / "model")
    for name, message in (
        ("model.safetensors", "weights in a safetensors file, got no such file"),
        ("config.json", "a file that can be read, got No such file"),
    ):
        (folder / name).rename(tmp_path / name)
        with pytest.raises(ValueError, match=f"{name}: expected {message}"):
            load(folder)
        (tmp_path / name).rename(folder / name)
    for name in ("model.safetensors", "config.json", "tokenizer.json"):
        content = (folder / name).read_bytes()
        (folder / name).write_bytes(content[:-9])
        with pytest.raises(
            ValueError, match=f"{name}: expected (a whole safetensors|JSON in UTF-8)"
        ):
            load(folder)
        (folder / name).write_bytes(content)


def test_names_of_older_files_are_read(published, tmp_path):
    """GPT-2 and BERT as first published: no prefixes, masks and counts among the weights."""
    for kind, prefix in (("gpt2", "transformer."), ("bert", "bert.")):
        folder = shutil.copytree(published[kind][1], tmp_path / kind)
        weights = load_file(folder / "model.safetensors")
        weights = {name.removeprefix(prefix): tensor for name, tensor in weights.items()}
        extra = {
            "gpt2": ("h.0.attn.bias", "h.1.attn.masked_bias"),
            "bert": ("embeddings.position_ids",),
        }
        weights |= {name: torch.ones(1, 4) for name in extra[kind]}
        save_file(weights, folder / "model.safetensors", {"format": "pt"})
        ids = random_ids(1, 9)
        assert torch.equal(load(folder)[0](ids)[0], load(published[kind][1])[0](ids)[0])


# tokenizers


@pytest.mark.parametrize("kind", ["gpt2", "bert"])
def test_ids_are_those_of_tokenizers(published, kind):
    folder = published[kind][1]
    _, ours = load(folder)
    theirs = tokenizers.Tokenizer.from_file(str(folder / "tokenizer.json"))
    assert ours.vocab_size == theirs.get_vocab_size()
    assert_same_ids(ours, theirs, HARD + TEXTS)


def test_other_pre_tokenisers_are_read(published, tmp_path):
    folder = shutil.copytree(published["gpt2"][1], tmp_path / "model")
    digits = {"type": "Digits", "individual_digits": True}
    cut = {
        "type": "Split",
        "pattern": {"Regex": r"\p{L}{1,3}|\p{N}+"},
        "behavior": "Isolated",
        "invert": False,
    }
    by_bytes = {"type": "ByteLevel", "add_prefix_space": False, "trim_offsets": True}
    for steps in (
        [digits, by_bytes | {"use_regex": True}],
        [cut, by_bytes | {"use_regex": False}],
        [digits, cut, by_bytes | {"use_regex": True}],
    ):
        sequence = {"type": "Sequence", "pretokenizers": steps}
        change_json(folder / "tokenizer.json", lambda c, s=sequence: c.update(pre_tokenizer=s))
        theirs = tokenizers.Tokenizer.from_file(str(folder / "tokenizer.json"))
        assert_same_ids(load(folder)[1], theirs, HARD)


# gguf


def permuted(weight, n_heads):
    """Return the rows of queries and keys in the order of GGUF: neighbours are rotated together."""
    return weight.reshape(n_heads, 2, -1, weight.shape[-1]).swapaxes(1, 2).reshape(weight.shape)


def write_gguf(path, folder, metadata=(), kinds=(), tensors=None):
    """Write the Llama of a folder to a GGUF file, with the package of llama.cpp."""
    state = load_file(folder / "model.safetensors")
    vocabulary = json.loads((folder / "tokenizer.json").read_text())["model"]
    tokens = sorted(vocabulary["vocab"], key=vocabulary["vocab"].get)
    tokens += [f"<{i}>" for i in range(len(tokens), 300)]
    writer = their_gguf.GGUFWriter(path, "llama")
    sizes = {"block_count": 2, "context_length": 64, "embedding_length": 32}
    sizes |= {"feed_forward_length": 48, "attention.head_count": 4, "attention.head_count_kv": 2}
    sizes |= {"attention.layer_norm_rms_epsilon": 1e-4, "rope.freq_base": 500.0}
    values = {f"llama.{name}": size for name, size in sizes.items()}
    values |= {"tokenizer.ggml.bos_token_id": 0, "tokenizer.ggml.eos_token_id": 0} | dict(metadata)
    add = {bool: writer.add_bool, int: writer.add_uint32, float: writer.add_float32}
    add |= {str: writer.add_string, list: writer.add_array}
    for name, value in values.items():
        add[type(value)](name, value)
    writer.add_tokenizer_model("gpt2")
    writer.add_tokenizer_pre("gpt-2")
    writer.add_token_list(tokens)
    writer.add_token_types(
        [3] + [1] * (len(vocabulary["vocab"]) - 1) + [3] * (300 - len(vocabulary["vocab"]))
    )
    writer.add_token_merges([" ".join(merge) for merge in vocabulary["merges"]])
    for name, tensor in (tensors or {}).items():
        writer.add_tensor(name, tensor)
    names = their_gguf.get_tensor_name_map(their_gguf.MODEL_ARCH.LLAMA, 2)
    expected = {}
    for name, tensor in state.items():
        array, kind = tensor.numpy(), dict(kinds).get(name)
        if "q_proj" in name or "k_proj" in name:
            array = permuted(array, 4 if "q_proj" in name else 2)
        name = names.get_name(name, try_suffixes=(".weight",))
        if kind is None:
            writer.add_tensor(name, array)
        else:
            packed = their_gguf.quants.quantize(array, kind)
            writer.add_tensor(name, packed, raw_dtype=kind)
            array = their_gguf.quants.dequantize(packed, kind)
        expected[name] = array
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    return expected


def test_a_gguf_file_holds_the_same_llama_as_a_folder(published, tmp_path):
    theirs, folder = published["llama"]
    write_gguf(tmp_path / "model.gguf", folder)
    (ours, tokenizer), (_, same) = load(tmp_path / "model.gguf"), load(folder)
    ids = random_ids(2, 20)
    assert_close(ours(ids)[0], theirs(ids).logits)
    for line in HARD:
        assert tokenizer.encode(line) == same.encode(line)


def test_quantised_tensors_are_read_as_the_package_of_llama_cpp_does(published, tmp_path):
    Kind, layer = their_gguf.GGMLQuantizationType, "model.layers.0.self_attn"
    kinds = {
        f"{layer}.q_proj.weight": Kind.Q4_1,
        f"{layer}.k_proj.weight": Kind.Q8_0,
        f"{layer}.v_proj.weight": Kind.F16,
        f"{layer}.o_proj.weight": Kind.Q5_0,
        "model.embed_tokens.weight": Kind.Q4_0,
        "lm_head.weight": Kind.BF16,
    }
    expected = write_gguf(tmp_path / "model.gguf", published["llama"][1], kinds=kinds.items())
    _, tensors = gguf.read(tmp_path / "model.gguf")
    assert tensors.keys() == expected.keys()
    for name, tensor in tensors.items():
        wanted = expected[name].view(np.float32)
        assert tensor.dtype == np.float32 and np.array_equal(tensor, wanted), name


@pytest.mark.parametrize(
    ("metadata", "message"),
    [
        ({"general.architecture": "mamba"}, "expected the architecture 'llama', got 'mamba'"),
        ({"llama.rope.dimension_count": 4}, r"llama\.rope\.dimension_count: expected 8, got 4"),
        ({"llama.block_count": 3}, r"blk\.2\.attn_q\.weight: expected a tensor .*, got none"),
        ({"llama.attention.head_count": None}, r"llama\.attention\.head_count: expected an intege"),
        ({"llama.vocab_size": 301}, r"llama\.vocab_size: expected 300, got 301"),
        ({"split.count": 2, "general.architecture": None}, r"split\.count: expected 0 or 1, got 2"),
    ],
)
def test_other_gguf_files_are_refused(published, tmp_path, monkeypatch, metadata, message):
    path = tmp_path / "model.gguf"
    write_gguf(path, published["llama"][1])
    read = gguf.read

    def changed(path):
        said, arrays = read(path)
        return {k: v for k, v in (said | metadata).items() if v is not None}, arrays

    monkeypatch.setattr(gguf, "read", changed)
    with pytest.raises(ValueError, match=f"^{re.escape(str(path))}: {message}"):
        load(path)


def test_a_later_part_of_a_split_gguf_model_is_refused_as_a_part(tmp_path):
    writer = their_gguf.GGUFWriter(tmp_path / "part.gguf", "")
    writer.kv_data = [{}]
    writer.add_uint16("split.no", 1)
    writer.add_uint16("split.count", 2)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.close()
    with pytest.raises(ValueError, match=r"part\.gguf: split\.count: expected 0 or 1, got 2$"):
        load(tmp_path / "part.gguf")


def test_our_own_mistake_is_not_blamed_on_a_gguf_file(published, tmp_path, monkeypatch):
    write_gguf(tmp_path / "model.gguf", published["llama"][1])
    monkeypatch.setattr(gguf_model, "of_gguf", lambda path: None)
    with pytest.raises(TypeError, match="takes 1 positional argument but 2 were given"):
        load(tmp_path / "model.gguf")


def test_tensors_of_other_types_and_damaged_files_are_refused(published, tmp_path):
    path, embed = tmp_path / "model.gguf", "model.embed_tokens.weight"
    write_gguf(path, published["llama"][1], kinds=[(embed, their_gguf.GGMLQuantizationType.MXFP4)])
    with pytest.raises(ValueError, match=r"token_embd\.weight: expected one of the types F32, F16"):
        load(path)
    write_gguf(path, published["llama"][1])
    content = path.read_bytes()
    for length in (5, 100, 2000, 9000, len(content) - 40_000, len(content) - 1):
        path.write_bytes(content[:length])
        with pytest.raises(ValueError, match=f"^{re.escape(str(path))}: .*damaged$"):
            load(path)
    for start in (b"", b"PK\3\4"):
        path.write_bytes(start)
        with pytest.raises(ValueError, match="expected a file of the format GGUF, got another kin"):
            load(path)


# two real models


@pytest.fixture(scope="module")
def smollm2_read(needed):
    """The metadata and the tensors of the file of SmolLM2."""
    return gguf.read(needed("smollm2"))


@pytest.mark.slow
def test_smollm2_generates_the_same_text_as_in_transformers(needed, smollm2):
    path = needed("smollm2")
    theirs = read_by_them(
        transformers.LlamaForCausalLM, path.parent, gguf_file=path.name, dtype=torch.float32
    )
    ours, tokenizer = smollm2
    ids = torch.tensor([tokenizer.encode("The sky is blue because")])
    prose = torch.tensor([tokenizer.encode("\n".join(TEXTS) + " Roses are red, 1 + 1 = 2. " * 5)])
    with torch.inference_mode():
        for text in (ids, prose):
            assert_close(ours(text)[0], theirs(text).logits)
        options = {"attention_mask": torch.ones_like(ids), "do_sample": False, "max_new_tokens": 24}
        expected = theirs.generate(ids, **options)
        limits = {"end_id": tokenizer.eos_id, "max_new_tokens": 24, "cache": ours.new_cache()}
        written = greedy(ours.step, ids, **limits)
    assert torch.equal(written, expected)
    assert tokenizer.decode(written[0, 5:13]) == " of the way the human eye perceives it"


@pytest.mark.slow
def test_tensors_of_a_real_file_equal_those_read_by_llama_cpp(needed, smollm2_read):
    _, tensors = smollm2_read
    theirs = their_gguf.GGUFReader(needed("smollm2")).tensors
    assert len(theirs) == len(tensors) == 272
    for tensor in theirs[:12] + theirs[-3:]:
        expected = their_gguf.quants.dequantize(tensor.data, tensor.tensor_type)
        assert np.array_equal(tensors[tensor.name], expected), tensor.name


@pytest.mark.slow
def test_similarities_of_minilm_equal_those_in_transformers(needed):
    ours, tokenizer = load(needed("minilm"))
    theirs = read_by_them(transformers.BertModel, needed("minilm"))
    texts = [
        "The bank of the river.",
        "The river's shore is green.",
        "He works at a bank, for money.",
    ]
    rows = [tokenizer.encode(text, sos=True, eos=True) for text in texts]
    lengths = torch.tensor([len(row) for row in rows])
    ids = torch.tensor([row + [tokenizer.pad_id] * (int(lengths.max()) - len(row)) for row in rows])
    real = padding_mask(lengths, ids.shape[-1])
    with torch.inference_mode():
        found, _ = ours.encode(ids, real)
        expected = theirs(ids, attention_mask=real[:, 0].long()).last_hidden_state
    assert_close(found, expected)
    means = [row[:length].mean(dim=0) for row, length in zip(found, lengths, strict=True)]
    shore, money = (torch.cosine_similarity(means[0], mean, dim=0) for mean in means[1:])
    assert shore > money + 0.05


@pytest.fixture(scope="module")
def real_lines(needed):
    needed("tatoeba")
    from attn.corpus.tatoeba import read

    pairs = read()[::20]
    return [line for pair in pairs for line in (pair.source, pair.target)][:10_000]


@pytest.mark.slow
def test_ids_of_real_text_are_those_of_tokenizers_for_smollm2(smollm2_read, smollm2, real_lines):
    # The file names the pre-tokeniser "smollm": digits are split one by one, then as in GPT-2.
    _, ours = smollm2
    metadata, _ = smollm2_read
    vocabulary = {token: i for i, token in enumerate(metadata["tokenizer.ggml.tokens"])}
    merges = [tuple(merge.split(" ")) for merge in metadata["tokenizer.ggml.merges"]]
    theirs = tokenizers.Tokenizer(tokenizers.models.BPE(vocabulary, merges))
    digits = pre_tokenizers.Digits(individual_digits=True)
    theirs.pre_tokenizer = pre_tokenizers.Sequence(
        [digits, pre_tokenizers.ByteLevel(add_prefix_space=False)]
    )
    assert len(real_lines) == 10_000
    assert_same_ids(ours, theirs, real_lines + HARD)
    for line in real_lines:
        assert ours.decode(ours.encode(line)) == line
    # These bytes do not occur in its training text, so it has no token for them.
    assert ours.unknown("a\x04 b") == ["\x04"]


@pytest.mark.slow
def test_ids_of_real_text_are_those_of_tokenizers_for_minilm(needed, real_lines):
    _, ours = load(needed("minilm"))
    theirs = tokenizers.Tokenizer.from_file(str(needed("minilm") / "tokenizer.json"))
    theirs.no_truncation()
    theirs.no_padding()
    assert_same_ids(ours, theirs, real_lines + HARD)
