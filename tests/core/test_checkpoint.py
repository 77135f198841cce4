"""attn.transformer.checkpoint: models are loaded to the bit, and invalid files are refused."""

import dataclasses
import pickle

import pytest
import safetensors.torch
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch import nn

from attn.attention import VARIANTS, ScaledDotProduct
from attn.transformer import DecoderOnly, EncoderOnly, Transformer, TransformerConfig
from attn.transformer.checkpoint import pack, unpack
from attn.transformer.quantised import quantise
from tests.core.other_device import DEVICE, OtherDevice

SIZES = {"vocab_size": 11, "d_model": 12, "n_heads": 3, "n_layers": 2, "d_ff": 20, "max_len": 9}
SMALL = TransformerConfig(**SIZES)

both_kinds = pytest.mark.parametrize("quantised", [False, True], ids=["whole", "quantised"])
all_models = pytest.mark.parametrize("model_class", [Transformer, EncoderOnly, DecoderOnly])


def make(model_class, seed=0, **changes):
    torch.manual_seed(seed)
    return model_class(TransformerConfig(**SIZES | changes)).eval()


def logits_of(model):
    ids = torch.arange(8)[None]
    return (model(ids, ids) if isinstance(model, Transformer) else model(ids))[0]


def what_is_wrong(path, model_class=DecoderOnly):
    """Return why `path` cannot be loaded: the text after "got" in its one-line message."""
    with pytest.raises(ValueError) as caught:
        model_class.load(path)
    expected = f"path: expected a checkpoint of {model_class.__name__}, got {path}"
    message = str(caught.value)
    assert message.startswith(expected) and "\n" not in message
    assert caught.value.__suppress_context__ or caught.value.__context__ is None
    return message.removeprefix(expected)


# models are loaded as they were saved


@all_models
@pytest.mark.parametrize(
    "changes",
    [
        {},
        {"positions": "learned", "norm": "pre", "dropout": 0.5},
        {"positions": "rotary", "d_model": 18, "n_kv_heads": 1, "scale_embeddings": False},
        {"positions": "alibi", "tie_embeddings": False},
    ],
)
def test_a_loaded_model_equals_the_saved_one_to_the_bit(model_class, changes, tmp_path):
    model, path = make(model_class, **changes), tmp_path / "model"
    model.train().save(path)
    torch.manual_seed(1)
    loaded = model_class.load(path)
    assert type(loaded) is model_class and loaded.config == model.config and not loaded.training
    assert torch.equal(logits_of(loaded), logits_of(model.eval()))
    assert [p.shape for p in loaded.parameters()] == [p.shape for p in model.parameters()]
    assert all(parameter.requires_grad for parameter in loaded.parameters())


@pytest.mark.parametrize(
    "model_class, option, wanted",
    [
        (DecoderOnly, {"tgt_vocab_size": 13}, "None"),
        (EncoderOnly, {"tgt_vocab_size": 13}, "None"),
        (DecoderOnly, {"prediction_head": True}, "False"),
        (Transformer, {"prediction_head": True}, "False"),
    ],
)
def test_an_option_without_effect_is_refused_and_dropped_from_older_files(
    model_class, option, wanted, tmp_path
):
    ((name, value),) = option.items()
    reason = f"since {model_class.__name__} does nothing with it"
    with pytest.raises(ValueError, match=f"^{name}: expected {wanted}, {reason}, got {value}$"):
        make(model_class, **option)
    model, path = make(model_class), tmp_path / "model"
    model.save(path)
    tensors, about = unpack(path.read_bytes())
    about["config"] |= option | {"rotary_base": 50.0}
    path.write_bytes(pack(tensors, about))
    loaded = model_class.load(path)
    assert loaded.config == model.config and torch.equal(logits_of(loaded), logits_of(model))


@pytest.mark.parametrize("quantised", [False, True])
@pytest.mark.parametrize("ties", [True, False])
def test_matrices_tied_or_untied_by_hand_are_loaded_so(ties, quantised, tmp_path):
    model = make(DecoderOnly, tie_embeddings=not ties)
    first = model.embedding.tokens.weight
    model.output.weight = first if ties else nn.Parameter(2 * first.detach())
    expected = logits_of(model)
    model.save(tmp_path / "model", quantised=quantised)
    loaded = DecoderOnly.load(tmp_path / "model")
    assert (loaded.output.weight is loaded.embedding.tokens.weight) == ties
    if not quantised:
        assert torch.equal(logits_of(loaded), expected)


def test_a_view_of_another_shape_is_saved_as_a_separate_matrix(tmp_path):
    model = make(DecoderOnly)
    first, second = (layer.feed_forward for layer in model.stack.layers)
    second.linear_2.weight = nn.Parameter(first.linear_1.weight.detach().view(12, 20))
    expected = logits_of(model)
    model.save(tmp_path / "model")
    assert torch.equal(logits_of(DecoderOnly.load(tmp_path / "model")), expected)


@pytest.mark.parametrize("quantised", [False, True])
def test_a_transposed_view_is_saved_as_a_separate_matrix(quantised, tmp_path):
    model = make(DecoderOnly)
    own = model.stack.layers[0].self_attention
    own.out_proj.weight = nn.Parameter(own.v_proj.weight.detach().T)
    model.save(tmp_path / "model", quantised=quantised)
    loaded = DecoderOnly.load(tmp_path / "model").stack.layers[0].self_attention
    torch.testing.assert_close(loaded.out_proj.weight, own.v_proj.weight.T, rtol=0, atol=3e-3)
    torch.testing.assert_close(loaded.v_proj.weight, own.v_proj.weight, rtol=0, atol=3e-3)


class Buffered(ScaledDotProduct):
    """An attention with a buffer, which is not trained."""

    def __init__(self):
        super().__init__()
        self.register_buffer("gain", torch.tensor([[1.5, 0.001]]))
        self.register_buffer("n_calls", torch.tensor(7))
        self.register_buffer("codes", torch.tensor([[1, -3]], dtype=torch.int8))
        self.register_buffer("not_saved", torch.ones(2), persistent=False)


@pytest.mark.parametrize("quantised", [False, True])
def test_buffers_are_loaded_as_they_were_saved(quantised, tmp_path, monkeypatch):
    monkeypatch.setitem(VARIANTS, "buffered", Buffered)
    model = make(DecoderOnly, attention="buffered")
    model.save(tmp_path / "model", quantised=quantised)
    loaded = DecoderOnly.load(tmp_path / "model")
    assert len([*loaded.parameters()]) == len([*model.parameters()])
    buffers = dict(loaded.named_buffers())
    assert len(buffers) == 8
    for name, tensor in model.named_buffers():
        assert buffers[name].dtype == tensor.dtype and torch.equal(buffers[name], tensor)


def test_buffers_that_are_not_saved_get_the_precision_of_the_model(tmp_path, monkeypatch):
    monkeypatch.setitem(VARIANTS, "buffered", Buffered)
    make(DecoderOnly, attention="buffered").double().save(tmp_path / "model")
    own = DecoderOnly.load(tmp_path / "model").stack.layers[0].self_attention
    assert own.attention.not_saved.dtype == own.q_proj.weight.dtype == torch.float64


def test_parts_keep_their_precisions(tmp_path):
    model = make(DecoderOnly)
    model.stack.layers[1].to(torch.float16)
    model.save(tmp_path / "model")
    loaded = DecoderOnly.load(tmp_path / "model")
    for name, tensor in model.state_dict().items():
        assert loaded.state_dict()[name].dtype == tensor.dtype
        assert torch.equal(loaded.state_dict()[name], tensor)


def test_the_bytes_do_not_depend_on_the_order_of_the_metadata():
    tensors = {"w": torch.ones(2)}
    assert pack(tensors, {"a": 1, "b": 2}) == pack(tensors, {"b": 2, "a": 1})


def test_tensors_on_another_device_are_saved_as_from_the_cpu():
    numbers = torch.randn(3, 4)
    expected = [pack({"w": numbers}, {}), pack(quantise({"w": numbers}), {})]
    with OtherDevice():
        there = numbers.to(DEVICE)
        rounded = quantise({"w": there})
        assert {tensor.device.type for tensor in rounded.values()} == {"cpu"}
        assert [pack({"w": there}, {}), pack(rounded, {})] == expected


def test_a_name_may_be_a_string_and_a_file_is_replaced(tmp_path):
    path = str(tmp_path / "model")
    for seed in (0, 1):
        model = make(DecoderOnly, seed)
        model.save(path)
        assert torch.equal(logits_of(DecoderOnly.load(path)), logits_of(model))
    assert [file.name for file in tmp_path.iterdir()] == ["model"]


def test_any_reader_of_safetensors_reads_it(tmp_path):
    model = make(EncoderOnly)
    model.save(tmp_path / "model")
    with safetensors.safe_open(tmp_path / "model", framework="np") as file:
        stored = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118 - no dict
    weights = model.state_dict()
    # The last matrix is tied to the embeddings, so it is stored only once.
    assert weights.keys() - stored.keys() == {"output.weight"}
    assert all((stored[name] == weights[name].numpy()).all() for name in stored)
    _, about = unpack((tmp_path / "model").read_bytes())
    assert about.pop("config")["d_model"] == 12
    assert about == {
        "format": "attn checkpoint 1",
        "model": "EncoderOnly",
        "tied": {"output.weight": "embedding.tokens.weight"},
    }


@both_kinds
def test_the_same_model_gives_the_same_file(tmp_path, quantised):
    model = make(Transformer)
    for name in ("1", "2"):
        model.save(tmp_path / name, quantised=quantised)
    assert (tmp_path / "1").read_bytes() == (tmp_path / "2").read_bytes()


# models that could not be loaded are not saved


class Wider(DecoderOnly):
    def __init__(self, config, n_more):
        super().__init__(config)
        self.more = nn.Linear(n_more, 1, bias=False)


def with_parts(change):
    def make_changed():
        model = make(DecoderOnly, positions="rotary")
        change(model)
        return model

    return make_changed


def replaced(**changes):
    return with_parts(
        lambda model: setattr(model, "config", dataclasses.replace(model.config, **changes))
    )


def first_layer(name, value):
    return with_parts(lambda model: setattr(model.stack.layers[0].self_attention, name, value))


@pytest.mark.parametrize(
    "make_model, got",
    [
        (lambda: Wider(SMALL, 3), "missing 1 required positional argument"),
        (with_parts(lambda m: setattr(m, "more", nn.Linear(2, 2))), 'Unexpected .*"more.weight"'),
        (with_parts(lambda m: m.register_buffer("more", torch.ones(2))), 'Unexpected .*"more"'),
        (first_layer("q_proj", nn.Identity()), r"Missing .*q_proj\.weight"),
        (first_layer("q_proj", nn.Linear(12, 8)), r"size mismatch for .*q_proj\.weight"),
        (first_layer("n_heads", 4), r"self_attention\.n_heads 4, which by config is 3"),
        (first_layer("relative", None), "self_attention.relative None"),
        (replaced(n_heads=2), r"n_heads 3, which by config is 2"),
        (replaced(norm_eps=1e-3), r"norm_1\.eps 1e-05, which by config is 0\.001"),
        (replaced(rotary_base=50.0), r"relative\.base 10000\.0, which by config is 50\.0"),
        (replaced(activation="gelu"), r"activation 'relu', which by config is 'gelu'"),
        (replaced(n_layers=1), "Unexpected"),
        (with_parts(lambda m: setattr(m, "config", None)), "NoneType"),
        (replaced(vocab_size=12), "size mismatch"),
        (with_parts(lambda m: m.to("meta")), "on the meta device"),
        (with_parts(lambda m: m.register_buffer("x", torch.eye(2).to_sparse())), "sparse_coo in x"),
    ],
)
@both_kinds
def test_a_model_that_could_not_be_loaded_is_not_saved(make_model, got, quantised, tmp_path):
    with pytest.raises(ValueError, match=f"^model: expected .* got .*{got}"):
        make_model().save(tmp_path / "model", quantised=quantised)
    assert not list(tmp_path.iterdir())


def test_a_dtype_that_the_format_lacks_is_refused_with_a_readable_error(tmp_path):
    model = make(DecoderOnly)
    model.stack.layers[0].norm_1.weight = nn.Parameter(torch.ones(12, dtype=torch.complex32))
    with pytest.raises(ValueError, match="^model: expected tensors that safetensors can hold"):
        model.save(tmp_path / "model")


def test_saving_draws_no_random_numbers(tmp_path):
    model = make(DecoderOnly)
    torch.manual_seed(3)
    expected = torch.rand(3)
    torch.manual_seed(3)
    model.save(tmp_path / "model")
    assert torch.equal(torch.rand(3), expected)


# files that are no checkpoint


def test_unreadable_files_are_refused(tmp_path):
    assert what_is_wrong(tmp_path / "none") == ": No such file or directory"
    assert what_is_wrong(tmp_path) == ": Is a directory"


DAMAGED = ", which is damaged or another kind of file"


@pytest.mark.parametrize("content", [b"", b"# Notes\n", bytes(range(256)), b"PK\x05\x06" * 9])
def test_files_of_another_kind_are_refused(content, tmp_path):
    path = tmp_path / "model"
    path.write_bytes(content)
    assert what_is_wrong(path) == DAMAGED


@pytest.fixture(scope="module", params=[False, True], ids=["whole", "quantised"])
def whole(request, tmp_path_factory):
    """The bytes of a checkpoint, and a name under which to write others."""
    path = tmp_path_factory.mktemp("damaged") / "model"
    make(DecoderOnly, n_layers=1).save(path, quantised=request.param)
    return path.read_bytes(), path


@given(data=st.data())
def test_truncated_files_are_refused(whole, data):
    content, path = whole
    path.write_bytes(content[: data.draw(st.integers(0, len(content) - 1))])
    assert what_is_wrong(path) == DAMAGED


@given(data=st.data())
def test_one_flipped_bit_anywhere_is_refused(whole, data):
    content, path = whole
    place, bit = data.draw(st.integers(0, len(content) - 1)), data.draw(st.integers(0, 7))
    path.write_bytes(content[:place] + bytes([content[place] ^ (1 << bit)]) + content[place + 1 :])
    assert what_is_wrong(path) == DAMAGED


def test_extra_bytes_are_refused(whole):
    content, path = whole
    path.write_bytes(content + b"\0")
    assert what_is_wrong(path) == DAMAGED


@pytest.mark.parametrize("is_zip", [True, False])
def test_no_code_in_a_file_is_executed(is_zip, tmp_path):
    class Trap:
        def __reduce__(self):
            return (type(tmp_path).touch, (tmp_path / "it ran",))

    path = tmp_path / "model"
    torch.save({"format": Trap()}, path, _use_new_zipfile_serialization=is_zip)
    assert what_is_wrong(path) == DAMAGED
    path.write_bytes(pickle.dumps(Trap()))
    assert what_is_wrong(path) == DAMAGED
    assert not (tmp_path / "it ran").exists()


@pytest.mark.parametrize(
    "about, reason",
    [
        ({}, ", which holds something else"),
        ({"format": "attn checkpoint 2", "model": "DecoderOnly"}, ", which holds something else"),
        ({"format": "attn checkpoint 1"}, ", which holds a None"),
    ],
)
def test_other_safetensors_files_are_refused(about, reason, tmp_path):
    path = tmp_path / "model"
    path.write_bytes(pack({"w": torch.ones(2)}, about))
    assert what_is_wrong(path) == reason
    safetensors.torch.save_file({"w": torch.ones(2)}, path)
    assert what_is_wrong(path) == DAMAGED


@all_models
def test_checkpoints_of_other_models_are_refused(model_class, tmp_path):
    path = tmp_path / "model"
    make(model_class).save(path)
    for other in (Transformer, EncoderOnly, DecoderOnly):
        if other is not model_class:
            assert what_is_wrong(path, other) == f", which holds a {model_class.__name__}"


TOKENS = "embedding.tokens.weight"
STATE_DICT = "Error(s) in loading state_dict for DecoderOnly: "


@pytest.mark.parametrize(
    "spoil, reason",
    [
        (lambda about, config, state: about.pop("config"), "'config'"),
        (lambda about, config, state: about.pop("tied"), "'tied'"),
        (lambda about, config, state: about.update(config=[4]), "argument after ** must be a map"),
        (lambda about, config, state: about.update(tied=[]), "'list' object has no"),
        (lambda about, config, state: config.pop("vocab_size"), "argument: 'vocab_size'"),
        (lambda about, config, state: config.update(d_modle=4), "argument 'd_modle'"),
        (lambda about, config, state: config.update(n_heads=5), "a multiple of n_heads = 5"),
        (lambda about, config, state: config.update(n_layers=1), STATE_DICT + "Unexpected key(s)"),
        (lambda about, config, state: config.update(d_ff=21), STATE_DICT + "size mismatch for"),
        (lambda about, config, state: state.clear(), "'embedding.tokens.weight'"),
        (lambda about, config, state: state.pop("stack.layers.0.norm_1.bias"), "Missing key(s) in"),
        (lambda about, config, state: state.update(extra=torch.ones(1)), 'state_dict: "extra"'),
        (lambda about, config, state: state.update({TOKENS: torch.ones(1).int()}), "dtype"),
    ],
)
def test_tensors_that_do_not_match_the_configuration_are_refused(spoil, reason, tmp_path):
    path = tmp_path / "model"
    make(DecoderOnly).save(path)
    tensors, about = unpack(path.read_bytes())
    spoil(about, about["config"], tensors)
    path.write_bytes(pack(tensors, about))
    got = what_is_wrong(path)
    assert got.startswith(", whose parts do not fit: ") and reason in got and len(got) < 190


def test_a_long_reason_is_cut_short_between_two_words(tmp_path):
    lengths = []
    for name in ("a" + " b" * 100, "ab" + " b" * 100):
        path = tmp_path / "model"
        make(DecoderOnly).save(path)
        tensors, about = unpack(path.read_bytes())
        about["config"][name] = 1
        path.write_bytes(pack(tensors, about))
        reason = what_is_wrong(path).removeprefix(", whose parts do not fit: ")
        assert reason.endswith(" b b ...")
        lengths.append(len(reason))
    assert sorted(lengths) == [159, 160]
