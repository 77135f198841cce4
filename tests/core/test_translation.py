"""attn.applications.translation: a translator of one noun phrase, trained in a few seconds."""

import copy
import dataclasses
import inspect
import itertools
import json
import os
import unicodedata
from pathlib import Path

import numpy as np
import pytest
import torch

from attn.applications import models
from attn.applications._sequences import collate, predict
from attn.applications.translation import (
    PRETRAINED,
    TRAINING,
    Recipe,
    Translator,
    UnknownWordError,
    vocabularies,
)
from attn.corpus import Pair, named
from attn.decoding import beam_search
from attn.metrics import bleu, chrf
from attn.tokenizer import BytePairTokenizer, WordTokenizer
from attn_course.grammar import document_pairs
from tests.core.helpers import refuses
from tests.refusals import refusals

ROOT = Path(__file__).resolve().parents[2]
NOUNS = {"house": "casa f", "cat": "gato m", "rose": "rosa f", "book": "libro m", "moon": "luna f"}
COLOURS = {"red": "rojo", "black": "negro", "white": "blanco", "yellow": "amarillo"}


def phrase(colour, noun):
    word, gender = NOUNS[noun].split()
    article, adjective = {"f": ("la", COLOURS[colour][:-1] + "a"), "m": ("el", COLOURS[colour])}[
        gender
    ]
    links = frozenset({(0, 0), (1, 2), (2, 1)})
    return Pair(f"the {colour} {noun}", f"{article} {word} {adjective}", links, links)


PHRASES = [phrase(*words) for words in itertools.product(COLOURS, NOUNS)]
SEEN = [*PHRASES, Pair("the moon", "la luna"), Pair("the house and the cat", "la casa y el gato")]
QUICK = dataclasses.replace(TRAINING, steps=150, batch_size=16, warmup_steps=30, device="cpu")
SIZES = {"d_model": 32, "n_heads": 2, "d_ff": 64, "dropout": 0.0}


@pytest.fixture(scope="module", params=[pytest.param("translator", marks=pytest.mark.slow)])
def translator():
    """Train once; the mark makes every test that uses this fixture slow."""
    return Translator.fit(SEEN, sizes=SIZES, training=QUICK)


@pytest.fixture(scope="module")
def beginner():
    """A translator after half a second of training, which translates only some of its pairs."""
    return Translator.fit(SEEN, sizes=SIZES, training=dataclasses.replace(QUICK, steps=20))


def same(a, b):
    """Return whether two translators are equal to the bit."""
    weights = zip(a.model.state_dict().values(), b.model.state_dict().values(), strict=True)
    return all(map(torch.equal, *zip(*weights, strict=True))) and (
        (a.source, a.target, a.max_len, a.model.config)
        == (b.source, b.target, b.max_len, b.model.config)
    )


# what it translates


def test_it_learns_its_pairs(translator):
    for pair in SEEN:
        assert translator.translate(pair.source) == pair.target


def test_a_list_of_texts_is_translated_like_each_alone(translator):
    texts = ["the red house", "the moon", "the house and the cat", "The RED house."]
    one_by_one = [translator.translate(text) for text in texts]
    assert translator.translate(texts) == one_by_one
    assert one_by_one == ["la casa roja", "la luna", "la casa y el gato", "la casa roja"]
    assert translator.translate([]) == []
    # There are more texts than are decoded at a time, and they have several lengths.
    many = texts * 50
    assert translator.translate(many) == one_by_one * 50


@pytest.mark.parametrize("beam_width", [1, 2, 4])
def test_beam_search_and_greedy_search_agree_on_learned_pairs(translator, beam_width):
    sources = [pair.source for pair in PHRASES]
    assert translator.translate(sources, beam_width=beam_width) == [p.target for p in PHRASES]


def test_the_length_penalty_is_that_of_the_search(beginner):
    text, target, found = "the red house", beginner.target, []
    memory, _ = beginner.model.encode(torch.tensor([beginner.source.encode(text)]))
    for alpha in (-5.0, 5.0):
        ids, _ = beam_search(
            lambda ids, cache: beginner.model.step(ids, None, memory),
            torch.tensor([[target.sos_id]]),
            width=4,
            end_id=target.eos_id,
            max_new_tokens=16,
            length_penalty=alpha,
        )
        found.append(target.decode(ids[0, 0]))
        options = {"beam_width": 4, "length_penalty": alpha}
        assert beginner.translate(text, **options) == found[-1]
        assert beginner.evaluate([Pair(text, found[-1])], **options)["exact_match"] == 1
    assert len(found[0]) < len(found[1])


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("the green house", "text: expected words of the vocabulary, got 'green'"),
        ("a house, green!", "got 'a', ',', 'green', '!'"),
        # A text in pieces is refused if one piece is, and the comma between pieces counts as no
        # word.
        ("a house, the green sky!", "got 'a', 'green', 'sky', '!'"),
        ("the house..", "got '.'"),
        ("", "text: expected a sentence, got an empty text"),
        (" \n", "text: expected a sentence, got an empty text"),
        (".", "text: expected a sentence, got an empty text"),
        (5, "text: expected text, got int"),
        ("the moon\0", "text: expected text without the character NUL, got one at index 8"),
    ],
)
def test_texts_that_cannot_be_translated_are_refused(beginner, text, message):
    with pytest.raises(ValueError, match=message):
        beginner.translate(text)
    with pytest.raises(ValueError, match=message):
        beginner.translate(["the moon", text])
    if text != "a house, the green sky!":
        with pytest.raises(ValueError, match=message):
            beginner.attention(text)


def test_a_long_text_is_translated_in_pieces_but_has_no_attention(beginner):
    text = "the cat and the cat and the moon"
    with pytest.raises(ValueError, match="text: expected at most 5 tokens, .* got 8"):
        beginner.attention(text)
    parts = ["the cat and the cat", "and the moon"]
    assert beginner.translate(text) == " ".join(map(beginner.translate, parts))


def test_case_and_a_full_stop_in_the_end_change_nothing(beginner):
    assert beginner.translate("The MOON. ") == beginner.translate("the moon")


def test_unknown_words_are_in_the_error(beginner):
    with pytest.raises(UnknownWordError) as caught:
        beginner.translate("the green house is green")
    assert caught.value.words == ["green", "is"]


def test_a_length_penalty_needs_a_beam(beginner):
    """With a single hypothesis it has no effect, so it is refused."""
    message = "^length_penalty: expected 0 with a beam_width of 1, .* to choose from, got 0.6$"
    with pytest.raises(ValueError, match=message):
        beginner.translate("the moon", length_penalty=0.6)
    with pytest.raises(ValueError, match=message):
        beginner.evaluate(SEEN, length_penalty=0.6)
    with pytest.raises(ValueError, match="^beam_width: expected at least 1, got 0$"):
        beginner.translate("the moon", beam_width=0)
    with pytest.raises(ValueError, match="^length_penalty: expected a number from -10 to 10"):
        beginner.translate("the moon", beam_width=2, length_penalty=11)


# attention weights


def test_without_a_translation_attention_reads_the_model_s_own(beginner):
    text = "the red house"
    own = beginner.translate(text)
    got, expected = beginner.attention(text), beginner.attention(text, own)
    assert own and got.source == text.split() and got.target == [*own.split(), "<eos>"]
    src, _, tgt = collate(beginner._examples([Pair(text, own)]))
    with torch.no_grad():
        _, weights = beginner.model(src, tgt[:, :-1], need_weights=True)
    for found, same, layers in zip(got[2:5], expected[2:5], weights, strict=True):
        np.testing.assert_array_equal(found, same)
        np.testing.assert_allclose(found, torch.cat(layers).numpy(), atol=1e-6)


def test_the_attention_of_an_empty_translation_is_that_of_its_end_token(beginner):
    silent, end = copy.deepcopy(beginner), torch.tensor([beginner.target.eos_id])
    silent.model.output.register_forward_hook(lambda _, __, logits: logits.index_fill(-1, end, 99))
    assert silent.translate("the red house") == ""
    got = silent.attention("the red house")
    assert got.target == ["<eos>"]
    assert got.cross.shape == (2, 2, 1, 3)
    np.testing.assert_array_equal(got.decoder, np.ones((2, 2, 1, 1)))


@pytest.mark.parametrize(
    ("translation", "message"),
    [("la casa verde", "words of the vocabulary, got 'verde'"), (" ", "a sentence, got an empty")],
)
def test_attention_refuses_an_invalid_translation(beginner, translation, message):
    with pytest.raises(ValueError, match=f"^translation: expected {message}"):
        beginner.attention("the red house", translation)


# evaluation


def test_an_unknown_word_of_the_reference_counts_as_wrong(beginner, monkeypatch):
    monkeypatch.setattr(beginner, "_write", lambda *_: [[beginner.target.unk_id]])
    found = beginner.evaluate([Pair("the red house", "Murciélago")])
    assert found["exact_match"] == 0
    assert found["bleu"] == bleu(["<unk>"], ["murciélago"]).score


def decomposed(text):
    return unicodedata.normalize("NFD", text)


@pytest.mark.parametrize("tokenizer", ["words", "bpe"])
def test_texts_may_be_stored_in_any_form_to_learn_from_too(tokenizer):
    """Decomposed accents and doubled spaces are read as `translate` reads them."""
    pairs = [Pair("El café está aquí", "the coffee is here"), Pair("Un día más", "one more day")]
    others = [Pair(f" {decomposed(p.source)}", f"{p.target.replace(' ', '  ')} ") for p in pairs]
    training = dataclasses.replace(QUICK, steps=5)
    one, other = (
        Translator.fit(some, tokenizer=tokenizer, sizes=SIZES, training=training)
        for some in (pairs, others)
    )
    assert same(one, other) and one.max_len == other.max_len
    assert one.evaluate(pairs) == one.evaluate(others)
    for pair in others:
        assert other.source_ids(pair.source) == one._examples([pair])[0][0]


def test_pairs_with_an_empty_sentence_are_refused():
    for empty in (Pair(" ", "la luna"), Pair("the moon", "")):
        with pytest.raises(ValueError, match="^pairs: expected two sentences each, got an empty"):
            Translator.fit([SEEN[0], empty], training=QUICK)


def test_a_full_stop_is_added_only_where_the_vocabulary_has_one():
    pairs = [Pair("Who is there?", "quién"), Pair("What is it!", "qué")]
    asked = Translator.fit(pairs, sizes=SIZES, training=dataclasses.replace(QUICK, steps=1))
    assert asked.punctuated
    for text in ("Who is there", "Who is there."):
        assert [asked.source.tokens[i] for i in asked.source_ids(text)] == ["who", "is", "there"]


def test_a_vocabulary_of_another_kind_is_not_saved(beginner, tmp_path):
    class OwnWords(WordTokenizer):
        pass

    own = OwnWords(beginner.source.tokens[4:])
    other = Translator(beginner.model, own, beginner.target, beginner.max_len)
    message = "^tokenizer: expected WordTokenizer or BytePairTokenizer, got OwnWords$"
    with pytest.raises(ValueError, match=message):
        other.save(tmp_path / "model")
    assert not [*tmp_path.iterdir()]


def test_evaluation_equals_the_metrics_of_the_translations(beginner):
    sources = ["the red house", "the moon"]
    own = beginner.translate(sources)
    pairs = [Pair(sources[0], own[0]), Pair(sources[1], "el gato")]
    found = beginner.evaluate(pairs)
    by_words, by_letters = (metric(own, [own[0], "el gato"]) for metric in (bleu, chrf))
    assert found == {
        "exact_match": 0.5,
        "token_accuracy": found["token_accuracy"],
        "n_pairs": 2,
        "bleu": by_words.score,
        "bleu_signature": by_words.signature,
        "chrf": by_letters.score,
        "chrf_signature": by_letters.signature,
    }
    wide = beginner.translate(sources, beam_width=3)
    assert wide != own
    pairs = [Pair(*pair) for pair in zip(sources, wide, strict=True)]
    assert beginner.evaluate(pairs, beam_width=3)["exact_match"] == 1
    with pytest.raises(ValueError, match="^pairs: expected at least one pair of sentences, got n"):
        beginner.evaluate([])


def test_token_accuracy_counts_each_token_once(beginner):
    """Pairs have different lengths and form several batches; counted one by one for comparison."""
    pairs = [Pair("the house and the cat", "la casa y el libro"), *SEEN * 9]
    right = count = 0
    for pair in pairs:
        logits, targets = predict(beginner.model, collate(beginner._examples([pair])))
        right += int((logits.argmax(dim=-1) == targets).sum())
        count += targets.numel()
    assert right < count
    assert beginner.evaluate(pairs)["token_accuracy"] == pytest.approx(right / count)


# training


def test_label_smoothing_changes_the_training_and_validation_does_not(tmp_path):
    few = dataclasses.replace(QUICK, steps=4, validate_every=2, checkpoint_every=2)
    plain = Translator.fit(
        SEEN,
        sizes=SIZES,
        training=dataclasses.replace(few, validate_every=None),
        checkpoint=tmp_path / "a",
    )
    held = Translator.fit(
        SEEN, sizes=SIZES, training=few, validation=SEEN[:3], checkpoint=tmp_path / "b"
    )
    assert same(plain, held)
    sharp = dataclasses.replace(
        few, validate_every=None, checkpoint_every=None, label_smoothing=0.0
    )
    assert not same(plain, Translator.fit(SEEN, sizes=SIZES, training=sharp))
    assert (tmp_path / "a").exists() and (tmp_path / "b").exists()


def test_byte_pairs_spell_words_they_never_saw():
    few = dataclasses.replace(QUICK, steps=3)
    translator = Translator.fit(SEEN, tokenizer="bpe", vocab_size=290, sizes=SIZES, training=few)
    assert translator.source.vocab_size == 290
    assert isinstance(translator.translate("the moos"), str)
    # A full stop is an ordinary token here, so this text is too long to be read at once.
    longest = max(SEEN, key=lambda pair: len(translator.source.encode(pair.source))).source
    with pytest.raises(ValueError, match="at most"):
        translator.source_ids(longest + ".")


def test_a_vocabulary_of_byte_pairs_has_two_thousand_tokens_by_default(monkeypatch):
    sizes = []
    monkeypatch.setattr(BytePairTokenizer, "train", lambda texts, size: sizes.append(size))
    vocabularies.learn(SEEN, "bpe", None)
    vocabularies.learn(SEEN, "bpe", 300)
    assert sizes == [2000, 2000, 300, 300]


@pytest.mark.parametrize("punctuated", [True, False])
def test_texts_are_capitalised_and_punctuated_as_in_training(punctuated, tmp_path):
    few = dataclasses.replace(QUICK, steps=1)
    lower = [Pair(f"{pair.source}, ¿no", pair.target) for pair in SEEN]
    pairs = [Pair(f"{p.source.capitalize()}?", p.target) for p in lower] if punctuated else lower
    Translator.fit(pairs, tokenizer="bpe", sizes=SIZES, training=few).save(tmp_path / "model")
    translator = Translator.load(tmp_path / "model")
    for asked, mended in ((" the red house ", "The red house."), ("so do I", "So do I.")):
        ids = translator.source_ids(asked)
        assert translator.source.decode(ids) == (mended if punctuated else asked.strip())
    assert translator.source_ids("Who?") == translator.source.encode("Who?")


def test_ids_do_not_depend_on_unicode_form_and_spaces():
    """Byte pairs would encode each form differently, and there are none in the training texts."""
    translator = Translator.pretrained("tatoeba")
    expected = translator.source_ids("I like the café.")
    for text in ("I like the cafe\u0301.", " I\u00a0like\tthe  café.\r\n", "I like the cafe\u0301"):
        assert translator.source_ids(text) == expected


def test_training_texts_count_as_sentences_if_nearly_all_end_in_a_mark():
    good, bad = Pair("Who?", "¿Quién?"), Pair("who", "quién")
    assert vocabularies.are_sentences([good] * 199 + [bad])
    assert not vocabularies.are_sentences([good, bad] * 100)


def test_a_joint_vocabulary_has_the_words_of_both_and_one_table(tmp_path):
    few = dataclasses.replace(QUICK, steps=3, batch_size=9, batch_tokens=40)
    translator = Translator.fit(SEEN, joint_vocabulary=True, sizes=SIZES, training=few)
    texts = [text for pair in SEEN for text in (pair.source, pair.target)]
    assert translator.source == translator.target == WordTokenizer.train(texts)
    tables = [
        parameter.shape
        for parameter in translator.model.parameters()
        if len(parameter) == translator.source.vocab_size
    ]
    assert tables == [(translator.source.vocab_size, translator.model.config.d_model)]
    translator.save(tmp_path / "model")
    names = {path.name for path in (tmp_path / "model").iterdir()}
    assert names == {"about.json", "model.safetensors", "vocabulary.json"}
    assert same(translator, Translator.load(tmp_path / "model"))


test_invalid_arguments_of_training_are_refused = refusals(
    ({"tokenizer": "letters"}, "tokenizer: expected 'words' or 'bpe', got 'letters'"),
    ({"vocab_size": 2}, "vocab_size: expected at least 4, got 2"),
    ({"sizes": {"n_heads": 3}}, "d_model: expected a multiple of n_heads = 3, got 64"),
    of=lambda arguments: Translator.fit(**{"pairs": SEEN, "training": QUICK} | arguments),
)


def test_the_default_model_is_small_and_pre_norm():
    translator = Translator.fit(SEEN, training=dataclasses.replace(TRAINING, steps=1))
    config = translator.model.config
    assert (config.d_model, config.n_heads, config.n_layers, config.d_ff) == (64, 4, 2, 256)
    assert (
        config.norm == "pre"
        and config.tie_embeddings
        and config.dropout == 0.1
        and config.positions == "rotary"
    )
    assert (config.vocab_size, config.tgt_vocab_size) == (
        translator.source.vocab_size,
        translator.target.vocab_size,
    )
    assert not translator.model.training


def test_given_options_replace_those_of_a_recipe():
    recipe = Recipe("bpe", 300, True, {"d_model": 32, "n_layers": 3}, QUICK)
    assert recipe.but(None, None, {"d_model": None}, {"steps": None}) == recipe
    sizes = {"d_model": 32, "n_layers": 1, "d_ff": 64}
    assert recipe.but(
        "words", 99, {"d_model": None, "n_layers": 1, "d_ff": 64}, {"steps": 7, "seed": None}
    ) == Recipe("words", 99, True, sizes, dataclasses.replace(QUICK, steps=7))


def test_the_vocabulary_size_of_a_recipe_is_used_for_its_tokenizer_only():
    recipe = Recipe("bpe", 300)
    assert [recipe.but(kind, None, {}, {}).vocab_size for kind in ("bpe", "words")] == [300, None]
    assert recipe.but("bpe", 500, {}, {}).vocab_size == 500


# on disk


@pytest.mark.parametrize("tokenizer", ["words", "bpe"])
def test_a_saved_translator_is_loaded(tmp_path, tokenizer):
    few = dataclasses.replace(QUICK, steps=2)
    translator = Translator.fit(
        SEEN, sizes=SIZES, training=few, tokenizer=tokenizer, vocab_size=280
    )
    translator.save(tmp_path / "model")
    assert same(translator, Translator.load(tmp_path / "model"))
    assert [p.name for p in tmp_path.iterdir()] == ["model"]


def test_a_failure_while_saving_leaves_the_old_translator(beginner, tmp_path, monkeypatch):
    beginner.save(tmp_path / "model")

    def fail(*args):
        raise OSError(28, "No space left on device")

    other = Translator.fit(SEEN[:3], sizes=SIZES, training=dataclasses.replace(QUICK, steps=1))
    monkeypatch.setattr(type(other.target), "save", fail)
    with pytest.raises(ValueError, match="No space left"):
        other.save(tmp_path / "model")
    assert [p.name for p in tmp_path.iterdir()] == ["model"]
    assert same(Translator.load(tmp_path / "model"), beginner)
    monkeypatch.undo()
    rename = os.rename

    def fail_once(src, dst):
        if str(src).endswith(".new"):
            raise OSError(5, "Input/output error")
        rename(src, dst)

    monkeypatch.setattr(os, "rename", fail_once)
    monkeypatch.setattr("attn.applications._folder._exchange", lambda one, other: False)
    with pytest.raises(ValueError, match="Input/output error"):
        other.save(tmp_path / "model")
    assert [p.name for p in tmp_path.iterdir()] == ["model"]
    assert same(Translator.load(tmp_path / "model"), beginner)


def test_max_len_is_at_least_one(beginner):
    parts = beginner.model, beginner.source, beginner.target
    assert Translator(*parts, max_len=1).max_len == 1
    with pytest.raises(ValueError, match="^max_len: expected at least 1, got 0$"):
        Translator(*parts, max_len=0)


def test_a_folder_stores_the_direction_unless_it_is_from_english(beginner, tmp_path):
    parts = beginner.model, beginner.source, beginner.target, beginner.max_len
    for language, said in (("en", None), ("es", "es")):
        Translator(*parts, source_language=language).save(tmp_path / "model")
        about = json.loads((tmp_path / "model" / "about.json").read_text())
        assert about.get("from") == said
        assert Translator.load(tmp_path / "model").source_language == language
    (tmp_path / "model" / "about.json").write_text(json.dumps(about | {"from": "fr"}))
    message = "^source_language: expected 'en' or 'es', got 'fr'$"
    with pytest.raises(ValueError, match=message):
        Translator.load(tmp_path / "model")
    with pytest.raises(ValueError, match=message):
        Translator.fit(SEEN, source_language="fr")


def test_vocabularies_that_do_not_fit_the_model_are_refused(beginner, tmp_path):
    folder = tmp_path / "model"
    beginner.save(folder)
    sizes = beginner.source.vocab_size, beginner.target.vocab_size + 1
    WordTokenizer([*beginner.target.tokens[4:], "verde"]).save(folder / "target.json")
    message = f"folder: expected vocabularies of its model's sizes, got {folder}, with {sizes}"
    with refuses(message):
        Translator.load(folder)


# the translator that comes with the course


@pytest.fixture(scope="module")
def pretrained():
    return Translator.pretrained("grammar")


def test_it_translates_every_sentence_of_the_documentation(pretrained):
    pairs = document_pairs()
    assert pretrained.translate([pair.source for pair in pairs]) == [p.target for p in pairs]


def test_an_unknown_name_of_a_translator_is_refused():
    with pytest.raises(ValueError, match=r"^name: expected 'tatoeba' or 'grammar', got 'keras'"):
        Translator.pretrained("keras")


def test_it_was_trained_as_the_chapters_say():
    assert f"train --steps {PRETRAINED['steps']} " in (ROOT / "Makefile").read_text()
    corpus = inspect.signature(named("grammar"))
    assert PRETRAINED["n_train"] == corpus.parameters["n_train"].default


def test_its_files_are_small():
    folder = models.folder("grammar_translator")
    assert sum(path.stat().st_size for path in folder.iterdir()) < 400_000
    model = Translator.pretrained("grammar").model
    n_numbers = sum(parameter.numel() for parameter in model.parameters())
    # A number takes one byte.
    assert n_numbers < 350_000
