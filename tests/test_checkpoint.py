"""attn.transformer.checkpoint: what is saved comes back to the bit, and nothing else comes back."""

import pickle
import re
import zipfile
from unittest.mock import Mock

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from attn.transformer import DecoderOnly, EncoderOnly, Transformer, TransformerConfig

SIZES = {"vocab_size": 11, "d_model": 12, "n_heads": 3, "n_layers": 2, "d_ff": 20, "max_len": 9}
SMALL = TransformerConfig(**SIZES)

all_models = pytest.mark.parametrize("model_class", [Transformer, EncoderOnly, DecoderOnly])


def make(model_class, seed=0, **changes):
    torch.manual_seed(seed)
    return model_class(TransformerConfig(**SIZES | changes)).eval()


def logits_of(model):
    ids = torch.arange(8)[None]
    return (model(ids, ids) if isinstance(model, Transformer) else model(ids))[0]


def what_is_wrong(path, model_class=DecoderOnly):
    """Return why `path` cannot be loaded: what stands after "got" in its one-line message."""
    with pytest.raises(ValueError) as caught:
        model_class.load(path)
    expected = f"path: expected a checkpoint of {model_class.__name__}, got {path}"
    message = str(caught.value)
    assert message.startswith(expected) and "\n" not in message
    assert caught.value.__suppress_context__ or caught.value.__context__ is None
    return message.removeprefix(expected)


# what is saved comes back


@all_models
@pytest.mark.parametrize(
    "changes",
    [
        {},
        {"positions": "learned", "norm": "pre", "dropout": 0.5},
        {"positions": "rotary", "d_model": 18, "n_kv_heads": 1, "scale_embeddings": False},
        {"positions": "alibi", "tie_embeddings": False, "tgt_vocab_size": 13},
    ],
)
def test_a_model_comes_back_to_the_bit(model_class, changes, tmp_path):
    model, path = make(model_class, **changes), tmp_path / "model.pt"
    model.train().save(path)
    torch.manual_seed(1)
    loaded = model_class.load(path)
    assert type(loaded) is model_class and loaded.config == model.config and not loaded.training
    assert torch.equal(logits_of(loaded), logits_of(model.eval()))
    assert [p.shape for p in loaded.parameters()] == [p.shape for p in model.parameters()]
    assert all(parameter.requires_grad for parameter in loaded.parameters())


@pytest.mark.parametrize("dtype", [torch.float64, torch.bfloat16])
def test_numbers_of_any_precision_come_back(dtype, tmp_path):
    model = make(Transformer).to(dtype)
    model.save(tmp_path / "model.pt")
    logits = logits_of(Transformer.load(tmp_path / "model.pt"))
    assert logits.dtype == dtype and torch.equal(logits, logits_of(model))


def test_a_name_may_be_a_string_and_a_file_is_replaced(tmp_path):
    path = str(tmp_path / "model.pt")
    for seed in (0, 1):
        model = make(DecoderOnly, seed)
        model.save(path)
        assert torch.equal(logits_of(DecoderOnly.load(path)), logits_of(model))
    assert [file.name for file in tmp_path.iterdir()] == ["model.pt"]


def test_what_a_file_holds(tmp_path):
    model = make(EncoderOnly)
    model.save(tmp_path / "model.pt")
    checkpoint = torch.load(tmp_path / "model.pt", weights_only=True)
    assert checkpoint.pop("state_dict").keys() == model.state_dict().keys()
    assert checkpoint.pop("config")["d_model"] == 12
    assert checkpoint == {"format": "attn checkpoint 1", "model": "EncoderOnly"}


# written whole or not at all


@pytest.mark.parametrize("error", [OSError("No space left on device"), KeyboardInterrupt()])
def test_what_interrupts_a_save_leaves_the_old_file(error, tmp_path, monkeypatch):
    old, path = make(DecoderOnly, 0), tmp_path / "model.pt"
    old.save(path)
    content = path.read_bytes()

    def write_half(checkpoint, file):
        assert file == tmp_path / "model.pt.part"
        file.write_bytes(content[: len(content) // 2])
        raise error

    monkeypatch.setattr(torch, "save", write_half)
    with pytest.raises(type(error)):
        make(DecoderOnly, 1).save(path)
    assert path.read_bytes() == content
    assert list(tmp_path.iterdir()) == [path]


def test_what_interrupts_the_first_save_leaves_nothing(tmp_path, monkeypatch):
    def fail(checkpoint, file):
        raise OSError

    monkeypatch.setattr(torch, "save", fail)
    with pytest.raises(OSError):
        make(DecoderOnly).save(tmp_path / "model.pt")
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("name", [".", "no such folder/model.pt", "file/model.pt"])
def test_a_file_needs_a_folder_and_a_name(name, tmp_path):
    (tmp_path / "file").write_text("")
    path = tmp_path / name
    message = f"path: expected the name of a file in a folder that exists, got {path}"
    with pytest.raises(ValueError, match="^" + re.escape(message) + "$"):
        make(DecoderOnly).save(path)


# what is no checkpoint


def test_files_that_cannot_be_read(tmp_path):
    assert what_is_wrong(tmp_path / "none.pt") == ": No such file or directory"
    assert what_is_wrong(tmp_path) == ": Is a directory"


DAMAGED = ", which is damaged or another kind of file"


@pytest.mark.parametrize("content", [b"", b"# Notes\n", bytes(range(256)), b"PK\x05\x06" * 9])
def test_files_of_another_kind(content, tmp_path):
    path = tmp_path / "model.pt"
    path.write_bytes(content)
    assert what_is_wrong(path) == DAMAGED


@given(content=st.binary(max_size=300), start=st.sampled_from([b"", b"\x80\x02", b"PK\x03\x04"]))
def test_random_bytes(tmp_path_factory, content, start):
    path = tmp_path_factory.mktemp("random", numbered=True) / "model.pt"
    path.write_bytes(start + content)
    assert what_is_wrong(path) == DAMAGED


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    """The bytes of a checkpoint, and a name under which to write others."""
    path = tmp_path_factory.mktemp("damaged") / "model.pt"
    make(DecoderOnly).save(path)
    return path.read_bytes(), path.with_name("other.pt")


@given(data=st.data())
def test_files_cut_short(whole, data):
    content, path = whole
    path.write_bytes(content[: data.draw(st.integers(0, len(content) - 1))])
    assert what_is_wrong(path) == DAMAGED


def test_one_wrong_bit_of_a_weight_is_noticed(whole):
    content, path = whole
    with zipfile.ZipFile(path.with_name("model.pt")) as archive:
        largest = max(archive.infolist(), key=lambda file: file.file_size)
        weights = archive.read(largest)
    place = content.index(weights) + len(weights) // 2
    path.write_bytes(content[:place] + bytes([content[place] ^ 1]) + content[place + 1 :])
    assert what_is_wrong(path) == DAMAGED


def test_broken_pickles_whose_checksum_is_right(whole):
    """PyTorch's reader leaves with errors of its own from each of these."""
    _, path = whole
    for broken in (
        b"\x80\x02.",
        b"\x80\x02h\x07.",
        b"\x80\x02M\x01",
        b"\x80\x02a.",
        b"\x80\x02}b.",
    ):
        with (
            zipfile.ZipFile(path.with_name("model.pt")) as old,
            zipfile.ZipFile(path, "w") as new,
        ):
            for name in old.namelist():
                new.writestr(name, broken if name.endswith("data.pkl") else old.read(name))
        assert what_is_wrong(path) == DAMAGED


def test_a_file_is_read_onto_the_cpu(whole, monkeypatch):
    """The machine of a test may have no other device, so this can only ask what was asked for."""
    load = Mock(side_effect=torch.load)
    monkeypatch.setattr(torch, "load", load)
    path = whole[1].with_name("model.pt")
    DecoderOnly.load(path)
    assert load.call_args.kwargs["map_location"] == "cpu"


@pytest.mark.parametrize("is_zip", [True, False])
def test_nothing_in_a_file_is_run(is_zip, tmp_path, monkeypatch):
    monkeypatch.setenv("TORCH_FORCE_NO_WEIGHTS_ONLY_LOAD", "1")  # changes PyTorch's default

    class Trap:
        def __reduce__(self):
            return (type(tmp_path).touch, (tmp_path / "it ran",))

    path = tmp_path / "model.pt"
    torch.save({"format": Trap()}, path, _use_new_zipfile_serialization=is_zip)
    assert what_is_wrong(path) == DAMAGED
    path.write_bytes(pickle.dumps(Trap()))
    assert what_is_wrong(path) == DAMAGED
    assert not (tmp_path / "it ran").exists()


OTHER = ", which holds something else"


@pytest.mark.parametrize(
    "content, reason",
    [
        ({}, OTHER),
        ([1, 2], OTHER),
        (torch.ones(2), OTHER),
        (make(DecoderOnly).state_dict(), OTHER),
        ({"format": "attn checkpoint 2", "model": "DecoderOnly"}, OTHER),
        ({"format": "attn checkpoint 1"}, ", which holds a None"),
    ],
)
def test_other_files_of_torch(content, reason, tmp_path):
    path = tmp_path / "model.pt"
    torch.save(content, path)
    assert what_is_wrong(path) == reason


@all_models
def test_checkpoints_of_other_models(model_class, tmp_path):
    path = tmp_path / "model.pt"
    make(model_class).save(path)
    for other in (Transformer, EncoderOnly, DecoderOnly):
        if other is not model_class:
            assert what_is_wrong(path, other) == f", which holds a {model_class.__name__}"


STATE_DICT = "Error(s) in loading state_dict for DecoderOnly: "


@pytest.mark.parametrize(
    "spoil, reason",
    [
        (lambda whole, config, state: whole.pop("config"), "'config'"),
        (lambda whole, config, state: whole.pop("state_dict"), "'state_dict'"),
        (
            lambda whole, config, state: whole.update(config=[4]),
            "argument after ** must be a mapping",
        ),
        (lambda whole, config, state: whole.update(state_dict=[]), "list indices must be integers"),
        (lambda whole, config, state: config.pop("vocab_size"), "argument: 'vocab_size'"),
        (lambda whole, config, state: config.update(d_modle=4), "argument 'd_modle'"),
        (
            lambda whole, config, state: config.update(n_heads=5),
            "expected a multiple of n_heads = 5",
        ),
        (lambda whole, config, state: config.update(n_layers=1), STATE_DICT + "Unexpected key(s)"),
        (lambda whole, config, state: config.update(d_ff=21), STATE_DICT + "size mismatch for"),
        (lambda whole, config, state: state.clear(), "'output.weight'"),
        (lambda whole, config, state: state.pop("stack.layers.0.norm_1.bias"), "Missing key(s) in"),
        (lambda whole, config, state: state.update(extra=torch.ones(1)), 'state_dict: "extra"'),
        (lambda whole, config, state: state.update({"output.weight": 1}), "'int' object has no"),
        (
            lambda whole, config, state: state.update({"output.weight": torch.ones(1).int()}),
            "dtype",
        ),
        (
            lambda whole, config, state: state.update({"embedding.tokens.weight": 1}),
            "While copying",
        ),
    ],
)
def test_parts_that_do_not_fit(spoil, reason, tmp_path):
    path = tmp_path / "model.pt"
    make(DecoderOnly).save(path)
    checkpoint = torch.load(path, weights_only=True)
    spoil(checkpoint, checkpoint["config"], checkpoint["state_dict"])
    torch.save(checkpoint, path)
    got = what_is_wrong(path)
    assert got.startswith(", whose parts do not fit: ") and reason in got and len(got) < 190


def test_a_long_reason_is_cut_short_between_two_words(tmp_path):
    lengths = []
    for name in ("a" + " b" * 100, "ab" + " b" * 100):
        path = tmp_path / "model.pt"
        make(DecoderOnly).save(path)
        checkpoint = torch.load(path, weights_only=True)
        checkpoint["config"][name] = 1
        torch.save(checkpoint, path)
        reason = what_is_wrong(path).removeprefix(", whose parts do not fit: ")
        assert reason.endswith(" b b ...")
        lengths.append(len(reason))
    assert sorted(lengths) == [159, 160]
