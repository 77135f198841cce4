"""The messages of cells when a pretrained model is missing."""

import pytest

from attn_course import minilm, set_language, smollm2


@pytest.fixture
def without_models(monkeypatch, tmp_path):
    monkeypatch.setenv("ATTN_MODELS", str(tmp_path))
    monkeypatch.setattr("attn.pretrained.published.cache_folder", lambda: tmp_path)


USES = (
    lambda tensors: len(tensors),
    lambda model: model.config,
    lambda model: model(1, cache=2),
    lambda tensors: tensors["token_embd.weight"],
    lambda tensors: list(tensors),
)


@pytest.mark.parametrize("use", USES)
def test_every_use_of_a_missing_model_names_the_command_to_fetch_it(without_models, use):
    for part in (*smollm2.read(), *smollm2.model()):
        with pytest.raises(smollm2.NotFetched, match=r"`python -m attn fetch smollm2`"):
            use(part)


def test_a_missing_minilm_is_named_in_its_message(without_models):
    for part in minilm.model():
        with pytest.raises(smollm2.NotFetched, match=r"MiniLM.*`python -m attn fetch minilm`"):
            part.encode("text")


def test_a_notebook_shows_the_message_in_its_language_without_a_traceback(without_models, language):
    set_language(language)
    with pytest.raises(smollm2.NotFetched) as raised:
        smollm2.path()
    (shown,) = raised.value._render_traceback_()
    assert shown == str(raised.value)
    assert shown.startswith({"es": "Esta celda necesita", "en": "This cell needs"}[language])


def test_a_file_with_a_wrong_checksum_is_not_reported_as_missing(monkeypatch, tmp_path):
    """A damaged file raises the error of the checksum, not `NotFetched`."""
    (tmp_path / "SmolLM2-135M-Instruct.Q4_1.gguf").write_bytes(b"GGUF")
    monkeypatch.setenv("ATTN_MODELS", str(tmp_path))
    with pytest.raises(ValueError, match="sha256") as raised:
        smollm2.path()
    assert not isinstance(raised.value, smollm2.NotFetched)
